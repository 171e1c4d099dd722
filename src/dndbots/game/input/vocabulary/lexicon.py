"""The words that people type: verbs with their senses, and lists of other words, read from `data/`."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from dndbots.text.english_words import EVERYDAY_WORDS
from dndbots.text.word_forms import forms_of

GAP: Final = "*"
# Forms that our list of English forms leaves out, because they are words of their own elsewhere.
_IRREGULAR: Final = {
    "get": "got", "leap": "leapt", "bend": "bent", "fling": "flung", "slide": "slid", "spit": "spat",
    "spin": "spun",
    "stride": "strode", "tread": "trod", "sneak": "snuck", "cling": "clung", "dive": "dove", "sling": "slung",
    "wring": "wrung", "string": "strung", "slink": "slunk", "grind": "ground", "weave": "wove", "sew": "sewn",
}  # fmt: skip
_LONGEST_GAP: Final = 9
_SHORTEST_MISTYPED: Final = 4
_OWN: Final = frozenset(("my", "the", "his", "her", "our", "their", "your", "this", "that", "a"))
_MINE: Final = frozenset(("my", "his", "her", "our", "their", "your"))
_ONE: Final = frozenset(("a", "an", "the", "some", "one", "another", "my"))
_MOST_ADJECTIVES: Final = 2
# How people say that they roll for a skill: what stands before its name, and what behind.
_SAID_FIRST: Final = (
    "roll", "roll for", "roll a", "roll my", "roll on", "make a", "do a", "use", "use my", "try a",
    "attempt a", "take a", "give me a", "get a", "have a", "test", "test my",
)  # fmt: skip
_LEADS: Final = tuple(tuple(words.split()) for words in _SAID_FIRST)
_TAILS: Final = ((), ("check",), ("roll",), ("test",), ("with",))
_ROLLS: Final = (
    *((lead, tail) for lead in _LEADS for tail in _TAILS if tail or lead[0] == "roll" or lead == ("use",)),
    ((), ("check",)),
    ((), ("roll",)),
)
_LIKE: Final[Mapping[str, frozenset[str]]] = {
    "my": _MINE,
    "the": _OWN,
    "a": _ONE,
    "an": _ONE,
    "myself": frozenset(("myself", "ourselves")),
    "me": frozenset(("me", "us")),
}


@dataclass(frozen=True, slots=True)
class VerbSense:
    """A sense of a verb: the deed it becomes, and for an attempt what is tested and what comes of it."""

    name: str
    verb: str
    approach: str = ""
    ability: str = ""
    level: str = ""
    effect: str = ""
    noise: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class VerbPhrase:
    """A phrase that means a sense. Its first word is a plain verb."""

    words: tuple[str, ...]
    sense: VerbSense


@dataclass(frozen=True, slots=True)
class VerbMatch:
    """A phrase found at the beginning of some words.

    The object begins at `end`; `gap` is where it stands if it is in the middle of the phrase.
    """

    sense: VerbSense
    phrase: tuple[str, ...]
    end: int
    gap: tuple[int, int] | None = None
    second: tuple[int, int] | None = None  # where the words of a second gap stand

    @property
    def weight(self) -> int:
        return sum(word != GAP for word in self.phrase)


class VerbLexicon:
    """All phrases by the first word, in any form of it."""

    def __init__(self, senses: Mapping[str, Any], skills: Mapping[str, str]) -> None:
        self._phrases: dict[str, list[VerbPhrase]] = {}
        named: dict[str, VerbSense] = {}
        for sense, said in _read_senses(senses):
            named[sense.name] = sense
            for phrase in said.split("|"):
                self._add(tuple(phrase.split()), sense)
        for skill, name in skills.items():
            for before, behind in _ROLLS:
                self._add((*before, *skill.split(), *behind), named[name])
        self._bases: dict[str, list[str]] = {}
        for verb in self._phrases:
            for form in {verb, *_forms(verb)}:
                self._bases.setdefault(form, []).append(verb)

    def _add(self, words: tuple[str, ...], sense: VerbSense) -> None:
        self._phrases.setdefault(words[0], []).append(VerbPhrase(words, sense))

    def has(self, word: str) -> bool:
        """Check that a word is a form of some verb."""
        return word in self._bases

    def base_of(self, word: str) -> str:
        """Return the plain form of a verb; nothing if the word is none."""
        return next(iter(self._bases.get(word, ())), "")

    def is_plain(self, word: str) -> bool:
        """Check that a word is a verb in its plain form."""
        return word in self._phrases

    def match(self, words: Sequence[str]) -> list[VerbMatch]:
        """Return the phrases at the beginning of some words, those with most words first."""
        return [*self._match(tuple(words))]

    @lru_cache(maxsize=256)  # noqa: B019 - the lexicon lives as long as the program
    def _match(self, words: tuple[str, ...]) -> list[VerbMatch]:
        if not words:
            return []
        found = [
            match
            for base in self._bases.get(words[0], ())
            for phrase in self._phrases[base]
            if (match := _fit(phrase, words)) is not None
        ]
        return sorted(found, key=lambda match: -match.weight)

    @lru_cache(maxsize=512)  # noqa: B019 - the lexicon lives as long as the program
    def correct(self, word: str) -> str | None:
        """Return the verb that a mistyped word most likely is; None for a word of its own."""
        if len(word) < _SHORTEST_MISTYPED or word in self._bases or word in EVERYDAY_WORDS:
            return None
        near = (verb for verb in self._phrases if verb[0] == word[0] and is_mistyped(word, verb))
        return next(near, None)


def _read_senses(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[VerbSense, str]]:
    for name, entry in data.items():
        if "phrases" not in entry:
            yield from _read_senses(entry, prefix=f"{prefix}{name}.")
            continue
        fields = {key: value for key, value in entry.items() if key != "phrases"}
        if prefix == "try.":
            fields = {"verb": "try", "approach": name, **fields}
        yield VerbSense(name=f"{prefix}{name}", **fields), entry["phrases"].replace("\n", " ")


def _forms(verb: str) -> Iterable[str]:
    forms = {verb, *forms_of(verb), f"{verb}s", f"{verb}ing", f"{verb}ed"}
    if verb.endswith("e"):
        forms |= {f"{verb[:-1]}ing", f"{verb}d"}
    if re.fullmatch(r".*[^aeiou][aeiou][^aeiouwxy]", verb):
        forms |= {f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"}
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        forms.add(f"{verb}es")
    # A doer is no form of a verb: a "hunter" does not hunt here.
    own = {verb, f"{verb}s"}
    forms |= {*_IRREGULAR.get(verb, "").split()}
    return (form for form in forms if not form.endswith(("er", "ers", "or", "ors")) or form in own)


def _fit(phrase: VerbPhrase, words: Sequence[str]) -> VerbMatch | None:
    at = 1
    gaps: list[tuple[int, int]] = []
    wanted = phrase.words[1:]
    for number, word in enumerate(wanted):
        if word == GAP:
            follows = wanted[number + 1] if number + 1 < len(wanted) else None
            if follows is None:
                continue
            last = min(at + _LONGEST_GAP, len(words))
            stop = next((n for n in range(at + 1, last) if _is_like(follows, words[n])), None)
            if stop is None:
                return None
            if all(word in word_group("preposition") for word in words[at:stop]):
                return None  # "carry on up": there is nothing that is carried
            gaps.append((at, stop))
            at = stop
            continue
        if phrase.words[number] in _ONE:  # "take a quick look"
            at = _skip_adjectives(word, words, at)
        if at >= len(words) or not _is_like(word, words[at]):
            return None
        at += 1
    if at >= len(words) and phrase.words[-1] in ("the", "my", "a"):
        return None  # "comfort her" names somebody: "her" is no article there
    gap, second = (*gaps, None, None)[:2]
    return VerbMatch(phrase.sense, phrase.words, at, gap, second)


def _skip_adjectives(noun: str, words: Sequence[str], at: int) -> int:
    """Return where the noun of a phrase stands behind its article: "a quick look" is "a look"."""
    for place in range(at, min(at + _MOST_ADJECTIVES + 1, len(words))):
        if _is_like(noun, words[place]):
            return place
        if words[place] in word_group("preposition") or words[place] in word_group("article"):
            break
    return at


def _is_like(wanted: str, word: str) -> bool:
    return word == wanted or word in _LIKE.get(wanted, ())


def is_mistyped(typed: str, meant: str) -> bool:
    """Check that a word is another one with a letter missing, too many, wrong, or two letters swapped."""
    if abs(len(typed) - len(meant)) > 1 or typed == meant:
        return typed == meant
    start = next((n for n, pair in enumerate(zip(typed, meant, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return True
    rest, other = typed[start:], meant[start:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )


@dataclass(frozen=True, slots=True)
class WordLists:
    """Lists of words that are no verbs."""

    spellings: Mapping[str, str]
    spellings_before: Mapping[str, tuple[str, frozenset[str]]]
    groups: Mapping[str, frozenset[str]]
    people: Mapping[str, frozenset[str]]
    trades: Mapping[str, frozenset[str]]
    kin: Mapping[str, frozenset[str]]
    classes: Mapping[str, frozenset[str]]
    alike: Mapping[str, frozenset[str]]
    places: Mapping[str, frozenset[str]]
    skills: Mapping[str, str]
    commands: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GamePattern:
    """A question to the game: its topic, and the pattern of its words."""

    topic: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class FramePattern:
    """A way to say a deed that does not begin with its verb, and the words to read in its place."""

    pattern: re.Pattern[str]
    becomes: tuple[str, ...]


def _read(name: str) -> dict[str, Any]:
    folder = resources.files("dndbots.game.input.vocabulary").joinpath("data")
    return tomllib.loads(folder.joinpath(name).read_text("utf-8"))


@cache
def verb_lexicon() -> VerbLexicon:
    """Return the verbs, read on first use."""
    return VerbLexicon(_read("verbs.toml"), word_lists().skills)


@cache
def word_lists() -> WordLists:
    """Return the lists of other words, read on first use."""
    data = _read("words.toml")
    split = {
        table: {name: frozenset(words.split()) for name, words in data[table].items()}
        for table in ("groups", "people", "trades", "kin", "classes", "alike", "places")
    }
    before = {
        word: (spelled, frozenset(after.split()))
        for word, (spelled, after) in data["spellings_before"].items()
    }
    return WordLists(
        spellings=data["spellings"],
        spellings_before=before,
        skills=data["skills"],
        commands=data["commands"],
        **split,
    )


def word_group(name: str) -> frozenset[str]:
    """Return a group of words."""
    return word_lists().groups[name]


@cache
def person_words() -> frozenset[str]:
    """Return the words for single persons that one also writes with an owner's "s"."""
    lists = word_lists()
    singular = ("male", "female", "old", "young")
    named = frozenset(word for kind in singular for word in lists.people[kind]) | frozenset(lists.trades)
    return frozenset(word for word in named if not word.endswith("s") and len(word) > _SHORTEST_MISTYPED)


def phrase_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a turn of phrase, as whole words."""
    return phrase_patterns()[name]


@cache
def phrase_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of all turns of phrase by name, read on first use."""
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(entry['patterns'])})(?!\w)")
        for name, entry in _read("phrases.toml").items()
    }


@cache
def frame_patterns() -> dict[str, tuple[FramePattern, ...]]:
    """Return the frames by the company in which they are read, such as `always` and `with_host`."""
    data = _read("frames.toml")
    ware = data.pop("words")["ware"]
    return {
        company: tuple(
            FramePattern(re.compile(rf"(?:{pattern.replace('{ware}', ware)})\b"), tuple(becomes.split()))
            for becomes, patterns in frames.items()
            for pattern in patterns
        )
        for company, frames in data.items()
    }


@cache
def game_patterns() -> tuple[GamePattern, ...]:
    """Return the patterns of questions to the game, in the order in which they are tried."""
    data = _read("questions.toml")
    return tuple(
        GamePattern(topic, re.compile(pattern))
        for topic, entry in data.items()
        for pattern in entry["patterns"]
    )
