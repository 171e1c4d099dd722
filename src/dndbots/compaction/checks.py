"""Checks of proposed updates: the turn that an update cites must support it, word for word.

No extractor is trusted. A check never rewords a proposal; it accepts it, or rejects it with a reason for
people to read and a rule for counting.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from pydantic import ValidationError

from dndbots.errors import UpdateRefused
from dndbots.extraction.port import ALIAS, CATEGORIES, FIELDS, HEARSAY, LONGEST_VALUE, PEOPLE, Turn, Update
from dndbots.extraction.turn_evidence import (
    TurnEvidence,
    evidence_of,
    is_like_a_name,
    is_phrase,
    is_same_name,
    says_something,
)
from dndbots.ids import fold_name, short, slug
from dndbots.llm.retry import AnswerRefused
from dndbots.memory.summaries.checks import refuse_unfit
from dndbots.text.words import uids_of

MOST_PER_TURN: Final = 8
MOST: Final = 400
MOST_KEPT: Final = 50
# Reading stops after this many proposals for each that may be accepted: no honest extractor makes more.
_READ_FOR_EACH: Final = 10
_LONGEST_KEY: Final = 40
_LONGEST_SHOWN: Final = 80
_MOST_SHOWN: Final = 10
_OFFICE: Final = "the "
_MARKUP: Final = frozenset("`*<>{}[]|\\#~")


class NameMention(NamedTuple):
    """An entity that a turn names. Without a uid it is new, and the engine will mint one."""

    name: str
    category: str
    uid: str | None = None


class NameResolver(Protocol):
    """Finds the entity that a name means. A new entity gets the category it would be created with."""

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
        """Return the entity that a turn means by a name, or the reason why it can mean none."""
        ...


class Accepted(NamedTuple):
    """A proposal that passed. `object` is the target of a link; `said_by` is None for the DM's own word."""

    update: Update
    subject: NameMention
    object: NameMention | None
    key: str
    certainty: Literal["fact", "belief", "rumor"]
    said_by: NameMention | None


class Rejected(NamedTuple):
    """A proposal that failed, shortened and printable; `rule` is a keyword for counting."""

    update: Update | Mapping[str, str]
    reason: str
    rule: str


@dataclass(frozen=True, kw_only=True)
class Rejections:
    """The number of rejections by rule, and the first few of each."""

    kept: tuple[Rejected, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of all rejections."""
        return sum(self.counts.values())


class UpdateTally:
    """Collects rejections: counts all, and keeps the first few of each rule."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._kept: dict[str, list[Rejected]] = {}

    def add(self, rejected: Rejected, *, times: int = 1) -> None:
        """Count a rejection, and keep it if it is among the first of its rule."""
        self._counts[rejected.rule] += times
        kept = self._kept.setdefault(rejected.rule, [])
        if len(kept) < MOST_KEPT:
            kept.append(rejected)

    def merge(self, other: Rejections) -> None:
        """Add the rejections of other proposals."""
        self._counts.update(other.counts)
        for rejected in other.kept:
            kept = self._kept.setdefault(rejected.rule, [])
            if len(kept) < MOST_KEPT:
                kept.append(rejected)

    def without(self, accepted: Container[object]) -> Rejections:
        """Return the rejections without kept ones whose update was accepted for another hearer."""
        counts = Counter(self._counts)
        kept: list[Rejected] = []
        for rejected in self.so_far().kept:
            if isinstance(rejected.update, Update) and rejected.update in accepted:
                counts[rejected.rule] -= 1
            else:
                kept.append(rejected)
        return Rejections(kept=tuple(kept), counts=dict(+counts))

    def so_far(self) -> Rejections:
        """Return what was collected so far."""
        kept = tuple(rejected for of_rule in self._kept.values() for rejected in of_rule)
        return Rejections(kept=kept, counts=dict(self._counts))


def check_update(update: Update, turns: Mapping[str, Turn], who: NameResolver) -> Accepted | Rejected:
    """Return the update with its names resolved, or the reason why it fails."""
    try:
        return _accepted(update, turns, who)
    except UpdateRefused as exc:
        return Rejected(_printable(update), exc.reason, exc.rule)


def check_all(
    proposed: Iterable[object],
    turns: Mapping[str, Turn],
    who: NameResolver,
    *,
    most_per_turn: int = MOST_PER_TURN,
    most: int = MOST,
    checks: "SharedChecks | None" = None,
) -> tuple[list[Accepted], Rejections]:
    """Check proposals in order; return the accepted ones and the rejections.

    The proposals may be of any number and any type, and reading them may raise. `checks` shares results with
    other hearers of the same turns.
    """
    batch = _CheckBatch(turns, who, most_per_turn, most, checks or SharedChecks())
    for read, item in enumerate(_safely(proposed, batch)):
        if read >= _READ_FOR_EACH * most:
            left = len(proposed) - read if isinstance(proposed, Sized) else 1
            reason = f"too many proposals: reading stopped after {read:,}"
            batch.rejected.add(Rejected({}, reason, "too_many"), times=left)
            break
        batch.take(item)
    return batch.accepted, batch.rejected.so_far()


def as_update(item: object) -> Update | Rejected:
    """Return any proposed object as an update, or the reason why it is none."""
    if not isinstance(item, Update | Mapping):
        return Rejected({"given": _text(item)}, short(f"not an update: {type(item).__name__}"), "shape")
    try:
        fields = dict(vars(item) if isinstance(item, Update) else item)
        shown = {_text(key): _text(value) for key, value in list(fields.items())[:_MOST_SHOWN]}
    except Exception as exc:  # noqa: BLE001 - a foreign mapping may raise anything
        return Rejected({}, short(f"the proposal cannot be read: {type(exc).__name__}"), "shape")
    try:
        return Update.model_validate(fields)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:_LONGEST_KEY]
        return Rejected(shown, short(f"{place}: {first['msg']}"), "shape")


# A single proposal


def _accepted(update: Update, turns: Mapping[str, Turn], who: NameResolver) -> Accepted:
    turn = turns.get(update.turn)
    if turn is None:
        raise _refusal(
            "unknown_turn", f"it cites the turn {update.turn!r}, which is not among the turns read"
        )
    fields = FIELDS[update.kind]
    if update.field not in fields:
        raise _refusal("field", f"{update.kind} has no field {update.field!r}; it has {', '.join(fields)}")
    for what, text in (("name", update.name), ("value", update.value)):
        refuse_unfit_text(what, text)
    evidence = evidence_of(turn.text)
    subject = _mentioned(update.name, CATEGORIES[update.kind], turn, evidence, who)
    linked = fields[update.field]
    target = _linked(update, linked, subject, turn, evidence, who) if linked else None
    beyond = "" if update.kind == "quest" else update.name  # a quest is often named by its goal
    if update.field == ALIAS:
        _refuse_unlike_a_name(update.value)
    elif not linked and not says_something(update.value, beyond=beyond):
        raise _refusal("unsupported", f"the value {update.value!r} states nothing")
    if not linked and not evidence.says(update.value):
        raise _refusal("unsupported", f"the turn does not say {update.value!r}")
    said_by = _said_by(update, turn, evidence, who)
    _refuse_doubtful(update, turn, evidence)
    certainty: Literal["fact", "belief", "rumor"] = "belief" if said_by else "fact"
    return Accepted(
        update, subject, target, _key(update), "rumor" if update.sure == "rumor" else certainty, said_by
    )


def _refuse_unlike_a_name(value: str) -> None:
    """Raise UpdateRefused for another name that is none: neither a name nor somebody's office."""
    if not is_like_a_name(value) and not (is_phrase(value) and value.startswith(_OFFICE)):
        raise _refusal("name", f"{value!r} is not written like a name")


def _refusal(rule: str, reason: str) -> UpdateRefused:
    return UpdateRefused(reason=short(reason), rule=rule)


def _key(update: Update) -> str:
    return f"ability__{slug(update.value)[:_LONGEST_KEY]}" if update.field == "ability" else update.field


def refuse_unfit_text(what: str, text: str) -> None:
    """Raise UpdateRefused unless the text is one plain line without markup and ids."""
    try:
        refuse_unfit(text)
    except AnswerRefused as exc:
        raise _refusal("text", f"the {what} contains {exc.reason}") from exc
    if "\n" in text or "\r" in text or "\t" in text or not any(char.isalnum() for char in text):
        raise _refusal("text", f"the {what} is not a line of text")
    if found := sorted(_MARKUP & set(text)):
        raise _refusal("text", f"the {what} contains markup: {' '.join(found)}")
    if any(uids_of(text)):
        raise _refusal("text", f"the {what} contains an id; use the name as it is spoken")


def _mentioned(
    name: str, categories: Sequence[str], turn: Turn, evidence: TurnEvidence, who: NameResolver
) -> NameMention:
    """Return the entity a name means. The turn must contain the name, or its speaker must say "I"."""
    found = who.resolve(name, categories, turn)
    if isinstance(found, str):
        raise _refusal("name", found)
    if _is_of_speaker(name, turn, evidence):
        return found
    if found.category == "QST":
        if not (is_phrase(name) and says_something(name) and evidence.says(name)):
            raise _refusal("name", f"the turn does not contain the words of {name!r}")
        return found
    if not evidence.names(name, exactly=found.uid is None, person=found.category in PEOPLE):
        raise _refusal("name", f"the turn does not contain the name {name!r}")
    if found.uid is None and not is_like_a_name(name):
        raise _refusal("name", f"{name!r} is not written like a name")
    return found


def _is_of_speaker(name: str, turn: Turn, evidence: TurnEvidence) -> bool:
    return turn.role != "dm" and is_same_name(name, turn.speaker) and evidence.in_first_person


def _linked(
    update: Update,
    linked: Sequence[str],
    subject: NameMention,
    turn: Turn,
    evidence: TurnEvidence,
    who: NameResolver,
) -> NameMention:
    target = _mentioned(update.value, linked, turn, evidence, who)
    if not evidence.relates(update.field):
        raise _refusal("unsupported", f"the turn has no word for {update.field!r}")
    same = target.uid == subject.uid if target.uid else is_same_name(target.name, subject.name)
    if same and target.category == subject.category:
        raise _refusal("self", f"{subject.name!r} would be linked to itself")
    return target


def _said_by(update: Update, turn: Turn, evidence: TurnEvidence, who: NameResolver) -> NameMention | None:
    """Return the person whose word it is: the one quoted, or a speaker other than the DM.

    None if the DM narrates it.
    """
    named = update.said_by
    if named is not None and not (turn.role == "dm" and is_same_name(named, turn.speaker)):
        return _witness(named, turn, evidence, who)
    if turn.role != "dm":
        return _witness(turn.speaker, turn, evidence, who)
    # What an unknown stranger says of people and places is a rumor of nobody's word.
    is_hearsay = update.sure == "rumor" and update.kind in HEARSAY
    if not is_hearsay and not _is_narrated(update, evidence):
        raise _refusal("quoted", "the DM quotes it, and the proposal does not say whom")
    return None


def _witness(name: str, turn: Turn, evidence: TurnEvidence, who: NameResolver) -> NameMention:
    refuse_unfit_text("speaker", name)
    if turn.role == "dm" or not is_same_name(name, turn.speaker):
        return _mentioned(name, PEOPLE, turn, evidence, who)
    found = who.resolve(name, PEOPLE, turn)
    if isinstance(found, str):
        raise _refusal("name", found)
    return found


def _is_narrated(update: Update, evidence: TurnEvidence) -> bool:
    """Return whether the DM states it outside of quotation marks."""
    if update.kind == "quest":
        named = evidence.says(update.name, narrated=True)
    else:
        named = evidence.names(update.name, exactly=False, narrated=True)
    if FIELDS[update.kind][update.field]:
        said = evidence.names(update.value, exactly=False, narrated=True)
        said = said and evidence.relates(update.field, narrated=True)
    else:
        said = evidence.says(update.value, narrated=True)
    return named and said and evidence.narrates(update.name, update.value)


def _refuse_doubtful(update: Update, turn: Turn, evidence: TurnEvidence) -> None:
    # Hearsay of somebody or something still introduces its name.
    reported = (
        turn.role != "dm" or update.said_by is not None or update.sure == "rumor" or update.field == ALIAS
    )
    if doubt := evidence.doubt(update.value, ended=update.ended, reported=reported):
        raise _refusal("unsupported", f"the turn does not state {update.value!r}: {doubt}")


# Many proposals


class _RecordingResolver:
    """Passes questions on to a resolver, and records them with the answers."""

    def __init__(self, who: NameResolver) -> None:
        self._who = who
        self.answers: dict[tuple[str, tuple[str, ...], Turn], NameMention | str] = {}

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
        found = self._who.resolve(name, categories, turn)
        self.answers[name, tuple(categories), turn] = found
        return found


class SharedChecks:
    """Checks proposals for several hearers. Hearers who mean the same by all names share a result."""

    def __init__(self) -> None:
        self._done: dict[
            tuple[Update, Turn | None], list[tuple[_RecordingResolver, Accepted | Rejected]]
        ] = {}

    def check(self, update: Update, turns: Mapping[str, Turn], who: NameResolver) -> Accepted | Rejected:
        """Return the result of `check_update` for one hearer, reusing another hearer's if the names agree."""
        done = self._done.setdefault((update, turns.get(update.turn)), [])
        for asked, checked in done:
            if all(who.resolve(*question) == answer for question, answer in asked.answers.items()):
                return checked
        asked = _RecordingResolver(who)
        checked = check_update(update, turns, asked)
        done.append((asked, checked))
        return checked


class _CheckBatch:
    """Takes proposals one by one, and drops repetitions and what exceeds the limits."""

    def __init__(
        self,
        turns: Mapping[str, Turn],
        who: NameResolver,
        most_per_turn: int,
        most: int,
        checks: "SharedChecks",
    ) -> None:
        self.accepted: list[Accepted] = []
        self.rejected = UpdateTally()
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
            reason = "too many updates were accepted already"
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
    """Return a key that equal facts share, however they are proposed."""
    update = accepted.update
    said = _identity(accepted.object) if accepted.object else fold_name(update.value)
    said_by = _identity(accepted.said_by) if accepted.said_by else None
    about = (update.turn, _identity(accepted.subject), accepted.key)
    return (*about, said, accepted.certainty, said_by, update.ended)


def _identity(mention: NameMention) -> tuple[str, str]:
    return mention.category, mention.uid or fold_name(mention.name)


def _safely(proposed: Iterable[object], batch: _CheckBatch) -> Iterator[object]:
    """Yield the proposals until they end or reading them raises."""
    try:
        yield from proposed
    except Exception as exc:  # noqa: BLE001 - an extractor may raise anything
        reason = short(f"the extractor failed: {type(exc).__name__}: {exc}")
        batch.rejected.add(Rejected({}, reason, "failed"))


def _printable(update: Update) -> Update:
    """Return the update shortened, fit to be shown and stored: a model may have put anything into it."""
    said_by = update.said_by if update.said_by is None else short(update.said_by, LONGEST_VALUE)
    texts = {name: short(getattr(update, name), LONGEST_VALUE) for name in ("name", "field", "value")}
    return update.model_copy(update={**texts, "said_by": said_by, "turn": short(update.turn, LONGEST_VALUE)})


def _text(value: object) -> str:
    plain = value if isinstance(value, str) else repr(value) if _is_small(value) else type(value).__name__
    return short(plain, _LONGEST_SHOWN)


def _is_small(value: object) -> bool:
    return value is None or type(value) in (bool, float) or (type(value) is int and abs(value) < 10**20)
