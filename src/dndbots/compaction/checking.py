"""What a proposal must be before anything is kept of it: supported, word for word, by the turn it cites.

Whoever proposes is never trusted. A check rewords nothing; what it cannot accept it refuses with a reason
for people to read and a rule for counting.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from pydantic import ValidationError

from dndbots.compaction.grounds import (
    Grounds,
    grounds_of,
    is_like_a_name,
    is_phrase,
    same_name,
    says_something,
)
from dndbots.compaction.values import CATEGORIES, FIELDS, LONGEST_VALUE, PEOPLE, Turn, Update
from dndbots.errors import UpdateRefused
from dndbots.ids import folded, short, slug
from dndbots.llm.waiting import Refused
from dndbots.memory.checks import refuse_unfit
from dndbots.memory.wording import uids_of

MOST_PER_TURN: Final = 8
MOST: Final = 400
MOST_KEPT: Final = 50
# Nobody who means well proposes more than this for each that may be accepted.
_READ_FOR_EACH: Final = 10
_LONGEST_KEY: Final = 40
_LONGEST_SHOWN: Final = 80
_MOST_SHOWN: Final = 10
_MARKUP: Final = frozenset("`*<>{}[]|\\#~")


class Mention(NamedTuple):
    """Somebody or something that a turn names. Without a uid it is new, and the engine will mint one."""

    name: str
    category: str
    uid: str | None = None


class Who(Protocol):
    """Knows whom a name means. What is new it says in the category that a new one would have."""

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        """Whom a turn means by a name, or why nobody can be meant."""
        ...


class Accepted(NamedTuple):
    """A proposal that stands. `object` is of a link; `said_by` is whose word it is, unless it is the DM's."""

    update: Update
    subject: Mention
    object: Mention | None
    key: str
    certainty: Literal["fact", "belief", "rumor"]
    said_by: Mention | None


class Rejected(NamedTuple):
    """A proposal that does not, as it was made, cut short and printable; `rule` is a word for counting."""

    update: Update | Mapping[str, str]
    reason: str
    rule: str


@dataclass(frozen=True, kw_only=True)
class Rejections:
    """The first few of each rule, and how many there were of each."""

    kept: tuple[Rejected, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Tally:
    """Rejections as they come in: all are counted, and of each rule the first few kept."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._kept: dict[str, list[Rejected]] = {}

    def add(self, rejected: Rejected, *, times: int = 1) -> None:
        self._counts[rejected.rule] += times
        kept = self._kept.setdefault(rejected.rule, [])
        if len(kept) < MOST_KEPT:
            kept.append(rejected)

    def merge(self, other: Rejections) -> None:
        """Adds rejections of other proposals."""
        self._counts.update(other.counts)
        for one in other.kept:
            kept = self._kept.setdefault(one.rule, [])
            if len(kept) < MOST_KEPT:
                kept.append(one)

    def without(self, accepted: Container[object]) -> Rejections:
        """The same without those, of the ones that are kept, that were accepted elsewhere."""
        counts = Counter(self._counts)
        kept: list[Rejected] = []
        for one in (one for several in self._kept.values() for one in several):
            if isinstance(one.update, Update) and one.update in accepted:
                counts[one.rule] -= 1
            else:
                kept.append(one)
        return Rejections(kept=tuple(kept), counts=dict(+counts))

    def so_far(self) -> Rejections:
        kept = tuple(one for several in self._kept.values() for one in several)
        return Rejections(kept=kept, counts=dict(self._counts))


def check(update: Update, turns: Mapping[str, Turn], who: Who) -> Accepted | Rejected:
    """The update with all that it names resolved, or why it cannot stand."""
    try:
        return _accepted(update, turns, who)
    except UpdateRefused as no:
        return Rejected(_printable(update), no.reason, no.rule)


def check_all(
    proposed: Iterable[object],
    turns: Mapping[str, Turn],
    who: Who,
    *,
    most_per_turn: int = MOST_PER_TURN,
    most: int = MOST,
    checks: "Checks | None" = None,
) -> tuple[list[Accepted], Rejections]:
    """Everything that was proposed, in its order, however much it is and whatever it turns out to be.

    `checks` are those that were made for others already.
    """
    batch = _Batch(turns, who, most_per_turn, most, checks or Checks())
    for read, item in enumerate(_safely(proposed, batch)):
        if read >= _READ_FOR_EACH * most:
            left = len(proposed) - read if isinstance(proposed, Sized) else 1
            reason = f"nothing was read after {read:,} proposals"
            batch.rejected.add(Rejected({}, reason, "too_many"), times=left)
            break
        batch.take(item)
    return batch.accepted, batch.rejected.so_far()


def as_update(item: object) -> Update | Rejected:
    """Whatever was proposed as an update, or why it is none."""
    if not isinstance(item, Update | Mapping):
        return Rejected({"given": _text(item)}, short(f"not an update: {type(item).__name__}"), "shape")
    try:
        fields = dict(vars(item) if isinstance(item, Update) else item)
        shown = {_text(key): _text(value) for key, value in list(fields.items())[:_MOST_SHOWN]}
    except Exception as exc:  # noqa: BLE001 - a mapping of somebody's may raise anything
        return Rejected({}, short(f"it cannot be read: {type(exc).__name__}"), "shape")
    try:
        return Update.model_validate(fields)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:_LONGEST_KEY]
        return Rejected(shown, short(f"{place}: {first['msg']}"), "shape")


# One proposal


def _accepted(update: Update, turns: Mapping[str, Turn], who: Who) -> Accepted:
    turn = turns.get(update.turn)
    if turn is None:
        raise _no("unknown_turn", "it cites a turn that was not given")
    fields = FIELDS[update.kind]
    if update.field not in fields:
        raise _no("field", f"{update.kind} has no field {update.field!r}; it has {', '.join(fields)}")
    for what, text in (("name", update.name), ("value", update.value)):
        refuse_unfit_text(what, text)
    grounds = grounds_of(turn.text)
    subject = _mentioned(update.name, CATEGORIES[update.kind], turn, grounds, who)
    linked = fields[update.field]
    target = _linked(update, linked, subject, turn, grounds, who) if linked else None
    beyond = "" if update.kind == "quest" else update.name  # which often goes by its goal
    if not linked and not says_something(update.value, beyond=beyond):
        raise _no("unsupported", f"the value {update.value!r} says nothing")
    if not linked and not grounds.says(update.value):
        raise _no("unsupported", f"the turn does not say {update.value!r}")
    said_by = _said_by(update, turn, grounds, who)
    _refuse_doubtful(update, turn, grounds)
    certainty: Literal["fact", "belief", "rumor"] = "belief" if said_by else "fact"
    return Accepted(
        update, subject, target, _key(update), "rumor" if update.sure == "rumor" else certainty, said_by
    )


def _no(rule: str, reason: str) -> UpdateRefused:
    return UpdateRefused(reason=short(reason), rule=rule)


def _key(update: Update) -> str:
    return f"ability__{slug(update.value)[:_LONGEST_KEY]}" if update.field == "ability" else update.field


def refuse_unfit_text(what: str, text: str) -> None:
    """UpdateRefused for what is no plain line of text, or holds an id."""
    try:
        refuse_unfit(text)
    except Refused as exc:
        raise _no("text", f"the {what} holds {exc.reason}") from exc
    if "\n" in text or "\r" in text or "\t" in text or not any(char.isalnum() for char in text):
        raise _no("text", f"the {what} is no line of text")
    if found := sorted(_MARKUP & set(text)):
        raise _no("text", f"the {what} holds markup: {' '.join(found)}")
    if any(uids_of(text)):
        raise _no("text", f"the {what} holds an id; names are given as they are spoken")


def _mentioned(name: str, categories: Sequence[str], turn: Turn, grounds: Grounds, who: Who) -> Mention:
    """Whom a name means, which must stand in the turn, or be the speaker's who says "I"."""
    found = who.resolve(name, categories, turn)
    if isinstance(found, str):
        raise _no("name", found)
    if _is_of_speaker(name, turn, grounds):
        return found
    if found.category == "QST":
        if not (is_phrase(name) and says_something(name) and grounds.says(name)):
            raise _no("name", f"the turn does not have the words of {name!r}")
        return found
    if not grounds.names(name, exactly=found.uid is None, person=found.category in PEOPLE):
        raise _no("name", f"{name!r} does not stand in the turn")
    if found.uid is None and not is_like_a_name(name):
        raise _no("name", f"{name!r} is not written like a name")
    return found


def _is_of_speaker(name: str, turn: Turn, grounds: Grounds) -> bool:
    return turn.role != "dm" and same_name(name, turn.speaker) and grounds.in_first_person


def _linked(
    update: Update, linked: Sequence[str], subject: Mention, turn: Turn, grounds: Grounds, who: Who
) -> Mention:
    target = _mentioned(update.value, linked, turn, grounds, who)
    if not grounds.relates(update.field):
        raise _no("unsupported", f"the turn has no word for {update.field!r}")
    same = target.uid == subject.uid if target.uid else same_name(target.name, subject.name)
    if same and target.category == subject.category:
        raise _no("self", f"{subject.name!r} would be linked to itself")
    return target


def _said_by(update: Update, turn: Turn, grounds: Grounds, who: Who) -> Mention | None:
    """Whose word it is: the speaker's, unless that is the DM or quotes somebody; None in plain narration."""
    named = update.said_by
    if named is not None and not (turn.role == "dm" and same_name(named, turn.speaker)):
        return _witness(named, turn, grounds, who)
    if turn.role != "dm":
        return _witness(turn.speaker, turn, grounds, who)
    if not _is_narrated(update, grounds):
        raise _no("quoted", "it is somebody's speech, and whose is not said")
    return None


def _witness(name: str, turn: Turn, grounds: Grounds, who: Who) -> Mention:
    refuse_unfit_text("speaker", name)
    if turn.role == "dm" or not same_name(name, turn.speaker):
        return _mentioned(name, PEOPLE, turn, grounds, who)
    found = who.resolve(name, PEOPLE, turn)
    if isinstance(found, str):
        raise _no("name", found)
    return found


def _is_narrated(update: Update, grounds: Grounds) -> bool:
    """Whether the DM says it outside of quotation marks."""
    if update.kind == "quest":
        named = grounds.says(update.name, narrated=True)
    else:
        named = grounds.names(update.name, exactly=False, narrated=True)
    if FIELDS[update.kind][update.field]:
        said = grounds.names(update.value, exactly=False, narrated=True)
        said = said and grounds.relates(update.field, narrated=True)
    else:
        said = grounds.says(update.value, narrated=True)
    return named and said and grounds.narrates(update.name, update.value)


def _refuse_doubtful(update: Update, turn: Turn, grounds: Grounds) -> None:
    reported = turn.role != "dm" or update.said_by is not None or update.sure == "rumor"
    if doubt := grounds.doubt(update.value, ended=update.ended, reported=reported):
        raise _no("unsupported", f"the turn does not state {update.value!r}: {doubt}")


# Many of them


class _Asked:
    """Keeps what was asked of somebody who knows names, and the answers."""

    def __init__(self, who: Who) -> None:
        self._who = who
        self.answers: dict[tuple[str, tuple[str, ...], Turn], Mention | str] = {}

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        found = self._who.resolve(name, categories, turn)
        self.answers[name, tuple(categories), turn] = found
        return found


class Checks:
    """Checks of the same proposals for several hearers: those who mean the same by its names share one."""

    def __init__(self) -> None:
        self._done: dict[tuple[Update, Turn | None], list[tuple[_Asked, Accepted | Rejected]]] = {}

    def check(self, update: Update, turns: Mapping[str, Turn], who: Who) -> Accepted | Rejected:
        done = self._done.setdefault((update, turns.get(update.turn)), [])
        for asked, checked in done:
            if all(who.resolve(*question) == answer for question, answer in asked.answers.items()):
                return checked
        asked = _Asked(who)
        checked = check(update, turns, asked)
        done.append((asked, checked))
        return checked


class _Batch:
    def __init__(
        self, turns: Mapping[str, Turn], who: Who, most_per_turn: int, most: int, checks: "Checks"
    ) -> None:
        self.accepted: list[Accepted] = []
        self.rejected = Tally()
        self._turns, self._who, self._checks = turns, who, checks
        self._most_per_turn, self._most = most_per_turn, most
        self._per_turn: Counter[str] = Counter()
        self._proposed: set[Update] = set()
        self._facts: set[tuple[Any, ...]] = set()

    def take(self, item: object) -> None:
        update = as_update(item)
        if isinstance(update, Rejected):
            self.rejected.add(update)
            return
        if update in self._proposed:
            return
        self._proposed.add(update)
        if len(self.accepted) >= self._most or self._per_turn[update.turn] >= self._most_per_turn:
            reason = "more was accepted already than may be"
            self.rejected.add(Rejected(_printable(update), reason, "too_many"))
            return
        checked = self._checks.check(update, self._turns, self._who)
        if isinstance(checked, Rejected):
            self.rejected.add(checked)
        elif (fact := _fact(checked)) not in self._facts:
            self._facts.add(fact)
            self._per_turn[update.turn] += 1
            self.accepted.append(checked)


def _fact(accepted: Accepted) -> tuple[Any, ...]:
    """What two proposals have in common that are the same."""
    update = accepted.update
    said = _identity(accepted.object) if accepted.object else folded(update.value)
    said_by = _identity(accepted.said_by) if accepted.said_by else None
    about = (update.turn, _identity(accepted.subject), accepted.key)
    return (*about, said, accepted.certainty, said_by, update.ended)


def _identity(mention: Mention) -> tuple[str, str]:
    return mention.category, mention.uid or folded(mention.name)


def _safely(proposed: Iterable[object], batch: _Batch) -> Iterator[object]:
    """The items, until there are no more or getting them fails."""
    try:
        yield from proposed
    except Exception as exc:  # noqa: BLE001 - whatever proposes may raise anything
        reason = short(f"proposing failed: {type(exc).__name__}: {exc}")
        batch.rejected.add(Rejected({}, reason, "failed"))


def _printable(update: Update) -> Update:
    """The same, as it can be shown and kept: a model may have put anything into it."""
    said_by = update.said_by if update.said_by is None else short(update.said_by, LONGEST_VALUE)
    texts = {name: short(getattr(update, name), LONGEST_VALUE) for name in ("name", "field", "value")}
    return update.model_copy(update={**texts, "said_by": said_by, "turn": short(update.turn, LONGEST_VALUE)})


def _text(value: object) -> str:
    plain = value if isinstance(value, str) else repr(value) if _is_small(value) else type(value).__name__
    return short(plain, _LONGEST_SHOWN)


def _is_small(value: object) -> bool:
    return value is None or type(value) in (bool, float) or (type(value) is int and abs(value) < 10**20)
