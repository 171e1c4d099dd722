"""The phrase book of the house bots: rules of text, with alternatives chosen by a given seed.

The rules are plain text files in `words/`. A line that begins at the margin names a rule and its
slots; the indented lines under it are its alternatives. `#` starts a comment line.

    ask {npc} {topic}
      I lean on the counter. "What do you know about {the topic}?"
      "[Tell|Remind] me about {the topic}[, please|]."

    ask.wry +
      "<oath> What about {the topic}?"

Inside an alternative:

    [this|that|]       one of them; an empty one is nothing; brackets may nest
    <oath>             any alternative of another rule, whose slots this rule must have
    {topic} {Topic}    the value of a slot as it is; with a capital first letter
    {a thing}          with "a" or "an", unless the value is a name or has an article or a number
    {the thing}        with "the" instead of an article, unless the value is a name or somebody's
    {route way}        the same for a way out: "north" becomes "the way north"
    {path way}         how one goes there: "north", "through the inn door", "along the orchard lane"
    {who:runs|run}     the first if the value is one, the second if it is several: "Throk and Zara", "you",
                       "three goblins", "tin mugs"

`{A thing}`, `{The thing}`, `{Route way}` and `{Path way}` begin with a capital. A rule with a dot in its
name is a variant and has the slots of the plain rule; the plain rule stands in for missing variants.
With a `+` after its name, a variant also has the alternatives of the plain rule.

An alternative may end with what it needs of the setting: `@outdoors @rain`, `@night`, `@winter`, `@town`.
Of several tags of one kind, one is enough. Where nothing is known of the setting, it is left out.

Values are data and never expanded. A full stop is dropped after a value that already ends a
sentence, and so are the spaces that an empty choice leaves behind.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from dndbots.errors import DndbotsError
from dndbots.text.word_forms import as_path, as_route, is_plural, with_a, with_the

_MARK = re.compile(r"[\[|\]]|<[^<>]*>|\{[^{}]*\}|[^\[\]|<>{}]+|.")
_HEADER = re.compile(r"(?P<name>[a-z_]+(?:\.[a-z_]+)*)(?P<slots>(?: \{[a-z_]+\})*)(?P<more> \+)?")
_SLOT = re.compile(r"(?:(?P<form>a|the|route|path) )?(?P<name>[a-z_]+)")
_VERB = re.compile(r"(?P<name>[a-z_]+):(?P<one>[^|{}]*)\|(?P<many>[^|{}]*)")
_ENDS_A_SENTENCE = tuple(".!?…")


# A setting has to have one tag of every kind that an alternative names.
_KINDS = tuple(
    frozenset(kind.split())
    for kind in (
        "indoors outdoors below",
        "town wild",
        "spring summer autumn winter",
        "snow rain wind fog sun",
        "day night",
    )
)
TAGS = frozenset().union(*_KINDS)


class PhraseError(DndbotsError, ValueError):
    """A rule that cannot be read or used: a mistake in the words or in the call, never a player's."""

    def __init__(self, where: str, *, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where, self.reason = where, reason


@dataclass(frozen=True)
class Pick:
    """The choice between alternatives. Raise `count` by one to get another text."""

    seed: str
    count: int


@dataclass(frozen=True, kw_only=True)
class _Slot:
    name: str
    form: str = ""
    capital: bool = False

    def text(self, slots: Mapping[str, str]) -> str:
        value = _FORMS[self.form](slots[self.name])
        return value[:1].upper() + value[1:] if self.capital else value


@dataclass(frozen=True, kw_only=True)
class _Verb:
    name: str
    one: str
    many: str

    def text(self, slots: Mapping[str, str]) -> str:
        value = slots[self.name]
        # "down the stairs" is one way.
        plural = value[:1].islower() and is_plural(value) and not as_route(value).startswith("the way ")
        several = " and " in value or value == "you" or plural
        return self.many if several else self.one


@dataclass(frozen=True, kw_only=True)
class _Use:
    rule: str


@dataclass(frozen=True, kw_only=True)
class _Choice:
    options: "tuple[_Line, ...]"


_Part = str | _Slot | _Verb | _Use | _Choice
_Line = tuple[_Part, ...]
_NOWHERE: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class _Alternative:
    """A line of a rule, its id, and the tags of the setting that it needs."""

    id: str
    parts: _Line
    needs: frozenset[str] = _NOWHERE


@dataclass(kw_only=True)
class _Rule:
    """A rule, during and after reading."""

    name: str
    where: str
    slots: frozenset[str]
    adds: bool = False
    lines: list[_Alternative] = field(default_factory=list)

    def fitting(self, setting: frozenset[str]) -> list[_Alternative]:
        """Return the alternatives that fit a setting; all of them if none does."""
        return [line for line in self.lines if not line.needs or fits(line.needs, setting)] or self.lines


class Phrasebook:
    """Rules of text, checked when they are read so that none can fail during play."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        """Read rules from `sources`: texts of files by name."""
        self._rules: dict[str, _Rule] = {}
        for name, text in sources.items():
            for rule in _read(name, text):
                if rule.name in self._rules:
                    raise PhraseError(
                        rule.where, reason=f"the rule {rule.name!r} exists twice; merge the two"
                    )
                self._rules[rule.name] = rule
        for rule in self._rules.values():
            self._join_plain(rule)
        for rule in self._rules.values():
            self._check(rule)

    def has(self, key: str) -> bool:
        """Return whether a rule exists for a key, or for the plain key it varies."""
        return any(name in self._rules for name in _fallbacks(key))

    def slots(self, key: str) -> frozenset[str]:
        """Return the slots that a rule needs."""
        return self._find(key).slots

    def alternatives(self, key: str) -> int:
        """Return how many texts a rule has before they repeat."""
        return len(self._find(key).lines)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all rules in the order of the files."""
        return tuple(self._rules)

    def say(self, key: str, *, pick: Pick, setting: frozenset[str] = _NOWHERE, **slots: str) -> str:
        """Return a text of a rule: the same for the same pick, another one for the next count.

        The alternatives that fit the setting take turns in an order that the seed decides; chance only
        decides inside them.
        """
        rule = self._find(key)
        if missing := sorted(rule.slots - set(slots)):
            raise PhraseError(f"rule {rule.name!r}", reason=f"values are missing for {', '.join(missing)}")
        able = self._in_turn(rule, pick.seed, setting)
        line = able[pick.count % len(able)]
        chance = random.Random(f"{pick.seed}/{rule.name}/{pick.count}")  # noqa: S311 - to be repeatable is the point
        return _tidy(self._expand(line.parts, slots, chance, setting))

    def say_next(
        self,
        key: str,
        *,
        seed: str,
        used: Mapping[str, int],
        setting: frozenset[str] = _NOWHERE,
        **slots: str,
    ) -> tuple[str, str]:
        """Return a text of the alternative that was used least, and the id of that alternative.

        `used` counts ids. Variants of a rule share the alternatives of the plain rule, and their counts.
        """
        rule = self._find(key)
        if missing := sorted(rule.slots - set(slots)):
            raise PhraseError(f"rule {rule.name!r}", reason=f"values are missing for {', '.join(missing)}")
        line = min(self._in_turn(rule, seed, setting), key=lambda line: used.get(line.id, 0))
        chance = random.Random(f"{seed}/{line.id}/{used.get(line.id, 0)}")  # noqa: S311
        return _tidy(self._expand(line.parts, slots, chance, setting)), line.id

    def _in_turn(self, rule: _Rule, seed: str, setting: frozenset[str]) -> list[_Alternative]:
        """Return the alternatives that fit, in an order that the seed decides."""
        able = [*rule.fitting(setting)]
        random.Random(f"{seed}/{rule.name}").shuffle(able)  # noqa: S311
        return able

    def _expand(
        self, line: _Line, slots: Mapping[str, str], chance: random.Random, setting: frozenset[str]
    ) -> Iterator[tuple[str, bool]]:
        """Yield the pieces of a text, each with whether it is a slot value."""
        for part in line:
            match part:
                case str():
                    yield part, False
                case _Slot():
                    yield part.text(slots), True
                case _Verb():
                    yield part.text(slots), False
                case _Use():
                    used = chance.choice(self._find(part.rule).fitting(setting))
                    yield from self._expand(used.parts, slots, chance, setting)
                case _Choice():
                    yield from self._expand(chance.choice(part.options), slots, chance, setting)

    def _find(self, key: str) -> _Rule:
        """Return the rule for a key, or the plain rule it varies."""
        for name in _fallbacks(key):
            if name in self._rules:
                return self._rules[name]
        raise PhraseError(f"rule {key!r}", reason="does not exist; add it to a file in `words/`")

    def _join_plain(self, rule: _Rule) -> None:
        """Give a variant the slots of its plain rule, and its alternatives if it asks for them."""
        if "." not in rule.name:
            return
        plain = self._rules.get(rule.name.partition(".")[0])
        if plain is None:
            raise PhraseError(rule.where, reason=f"{rule.name!r} is a variant of a rule that does not exist")
        if rule.slots:
            raise PhraseError(
                rule.where, reason=f"{rule.name!r} takes its slots from {plain.name!r}; remove its own"
            )
        rule.slots = plain.slots
        if rule.adds:
            rule.lines += plain.lines

    def _check(self, rule: _Rule, above: tuple[str, ...] = ()) -> None:
        """Check a rule and the rules it uses."""
        if rule.name in above:
            raise PhraseError(rule.where, reason=f"{rule.name!r} uses itself")
        if not rule.lines:
            raise PhraseError(rule.where, reason=f"{rule.name!r} has no alternatives")
        for part in _parts(line.parts for line in rule.lines):
            if isinstance(part, _Slot | _Verb) and part.name not in rule.slots:
                raise PhraseError(rule.where, reason=f"{rule.name!r} has no slot {part.name!r}")
            if isinstance(part, _Use):
                used = self._find(part.rule)
                if not used.slots <= rule.slots:
                    raise PhraseError(
                        rule.where, reason=f"{used.name!r} needs slots that {rule.name!r} lacks"
                    )
                self._check(used, (*above, rule.name))


def fits(needs: frozenset[str], setting: frozenset[str]) -> bool:
    """Return whether a setting has what an alternative needs."""
    return all(not (kind & needs) or kind & needs & setting for kind in _KINDS)


@cache
def house_phrases() -> Phrasebook:
    """Return the words of the house; they are read on first use."""
    folder = resources.files("dndbots.game").joinpath("words")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda it: it.name)
    return Phrasebook({file.name: file.read_text("utf-8") for file in files})


def _fallbacks(key: str) -> Iterator[str]:
    """Yield a key and the plainer ones that stand in for it: `a.b`, then `a`."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def _read(name: str, text: str) -> Iterator[_Rule]:
    """Yield the rules of a file."""
    rule: _Rule | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        where, line = f"{name}, line {number}", raw.strip()
        if not line or line.startswith("#"):
            continue
        if raw.startswith(" "):
            if rule is None:
                raise PhraseError(where, reason="an alternative comes before the first rule")
            rule.lines.append(_read_alternative(line, where, f"{rule.name}#{len(rule.lines) + 1}"))
            continue
        if rule is not None:
            yield rule
        header = _HEADER.fullmatch(line)
        if header is None:
            raise PhraseError(where, reason=f"{line!r} does not name a rule; write `name {{slot}} {{slot}}`")
        slots = frozenset(re.findall(r"[a-z_]+", header["slots"]))
        rule = _Rule(name=header["name"], where=where, slots=slots, adds=bool(header["more"]))
    if rule is not None:
        yield rule


def _read_alternative(line: str, where: str, id_: str) -> _Alternative:
    """Return an alternative with the tags at its end."""
    words = line.split(" ")
    needs = []
    while words and words[-1].startswith("@"):
        needs.append(words.pop()[1:])
    if wrong := sorted({*needs} - TAGS):
        raise PhraseError(where, reason=f"there is no setting {wrong[0]!r}; use {', '.join(sorted(TAGS))}")
    return _Alternative(id=id_, parts=_parse(" ".join(words), where), needs=frozenset(needs))


def _parse(line: str, where: str) -> _Line:
    """Return the parts of an alternative. The stack holds the options of each open bracket."""
    stack: list[list[list[_Part]]] = [[[]]]
    for mark in _MARK.findall(line):
        if mark == "[":
            stack.append([[]])
        elif mark == "|" and len(stack) > 1:
            stack[-1].append([])
        elif mark == "]" and len(stack) > 1:
            options = tuple(tuple(option) for option in stack.pop())
            stack[-1][-1].append(_Choice(options=options))
        else:
            stack[-1][-1].append(_part(mark, where))
    if len(stack) > 1:
        raise PhraseError(where, reason="a `[` is never closed")
    return tuple(stack[0][0])


def _part(mark: str, where: str) -> _Part:
    """Return the part that a mark stands for."""
    inner = mark[1:-1]
    if mark[0] == "<" and re.fullmatch(r"[a-z_.]+", inner):
        return _Use(rule=inner)
    if mark[0] == "{" and (verb := _VERB.fullmatch(inner)):
        return _Verb(name=verb["name"], one=verb["one"], many=verb["many"])
    if mark[0] == "{" and (slot := _SLOT.fullmatch(inner[:1].lower() + inner[1:])):
        return _Slot(name=slot["name"], form=slot["form"] or "", capital=inner[0].isupper())
    if mark[0] in "[|]<>{}":
        raise PhraseError(where, reason=f"{mark!r} is not allowed there")
    return mark


def _parts(lines: Iterable[_Line]) -> Iterator[_Part]:
    """Yield all parts of some alternatives, nested ones too."""
    for line in lines:
        for part in line:
            yield part
            if isinstance(part, _Choice):
                yield from _parts(part.options)


def _as_it_is(value: str) -> str:
    return value


_FORMS = {"": _as_it_is, "a": with_a, "the": with_the, "route": as_route, "path": as_path}


def _tidy(pieces: Iterable[tuple[str, bool]]) -> str:
    """Join the pieces. Only our own text is tidied; slot values stay as they are."""
    said, after_value = "", False
    for text, is_value in pieces:
        if is_value:
            said, after_value = said + text, True
            continue
        ours = re.sub(r" +", " ", text)
        if not said or said.endswith(" "):
            ours = ours.lstrip(" ")
        if not ours:
            continue
        if after_value and ours[0] in ".!?" and said.rstrip("\"') ").endswith(_ENDS_A_SENTENCE):
            ours = ours[1:]
        elif not after_value and ours[0] in ".,!?;:":
            said = said.rstrip(" ")
        said, after_value = said + ours, False
    return said if after_value else said.rstrip(" ")
