"""What cannot have happened: an event that breaks one of these is refused whole, before it is recorded.

`Standing` is what is true at the head of the log; the laws only ask it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from pydantic import JsonValue, ValidationError

from dndbots.canon import claims
from dndbots.canon.claims import AT, IN, PART_OF, Certainty, Claim, Shelf, claim_of, counts
from dndbots.canon.holding import is_speech
from dndbots.canon.loot import holder_of, loot_of, sufferer_of
from dndbots.canon.near_keys import find_meant_key
from dndbots.canon.reducers import claims_of, seen_in
from dndbots.errors import EventRefused, StaleNote
from dndbots.events import EventType, GameEvent, KnownMetadata, audience
from dndbots.ids import CATEGORIES, DM, PARTY_UID, SYSTEM, category_of, is_uid, short

AMOUNTS: Final = ("hp", "hp_max", "gold", "reputation", claims.NUMBER)


class Standing(Protocol):
    """What is true now, as far as the laws need it."""

    def knows(self, uid: str) -> bool: ...
    def is_dead(self, uid: str) -> bool: ...
    def container_of(self, uid: str, slot: str) -> str | None: ...
    def is_contained(self, uid: str) -> bool: ...
    def merged_into(self, uid: str) -> str | None: ...
    def persons(self, uid: str) -> Sequence[str]:
        """A uid with all others that are known to be the same."""
        ...

    def first_of(self, uid: str) -> str:
        """One uid that stands for all that are known to be the same."""
        ...

    def shelf(self, subject: str) -> Shelf | None:
        """How a shelf of memories stands."""
        ...


class Unquestioned:
    """A standing that questions nothing that the rest of a log may say: for events out of another log.

    Somebody's log speaks of people whom they never saw, and knows neither who came back to life nor what was
    carried away behind their back. Identities and memories are told with all they need, and are checked.
    """

    def __init__(self, standing: Standing) -> None:
        self.merged_into, self.persons = standing.merged_into, standing.persons
        self.first_of, self.shelf = standing.first_of, standing.shelf

    def knows(self, _uid: str) -> bool:
        return True

    def is_dead(self, _uid: str) -> bool:
        return False

    def container_of(self, _uid: str, _slot: str) -> str | None:
        return None

    def is_contained(self, _uid: str) -> bool:
        return False


class Use(NamedTuple):
    """A uid in an event, and the field that it stands in."""

    field: str
    uid: str


class Uses(NamedTuple):
    """The uids of an event: whom it shows, and whom it only speaks of."""

    shown: list[str]
    referred: list[Use]


def uses_of(event: GameEvent, known: KnownMetadata) -> Uses:
    """What an event shows comes to life with it; what it speaks of must be known, or be shown in it."""
    shown = [event.source, *known.participants, *known.told_to, *known.enemies, *known.killed]
    shown += [*known.discovered, *known.names]
    if known.location is not None:
        shown.append(known.location)
    if known.quest_id is not None:
        shown.append(known.quest_id)
    if known.loot and (holder := holder_of(event, known)) == PARTY_UID:
        shown.append(holder)
    referring = not _REFERRING.isdisjoint(event.metadata)
    return Uses(shown, _referred(event, known) if referring else [])


_SHOWING: Final = ("participants", "witnesses", "told_to", "enemies", "killed", "discovered", "names")


def _shown_in(event: GameEvent, known: KnownMetadata, uid: str) -> str:
    """The field that shows somebody, for an error to name."""
    if uid == event.source:
        return "source"
    return next((field for field in _SHOWING if uid in (getattr(known, field) or ())), "location")


_SPEAKING_OF: Final = ("killed_by", "revived", "reputation", "hp_delta", "conditions")
_REFERRING: Final = frozenset((*_SPEAKING_OF, "facts", "same_as", "loot"))


def _referred(event: GameEvent, known: KnownMetadata) -> list[Use]:
    found: list[Use] = []
    for number, fact in enumerate(known.facts):
        found.append(Use(f"facts[{number}].subject", fact.subject))
        if fact.object is not None:
            found.append(Use(f"facts[{number}].object", fact.object))
        if event.event_type is EventType.EXTRACTION and isinstance(fact.value, list):
            links = (uid for uid in fact.value if isinstance(uid, str) and is_uid(uid))
            found += [Use(f"facts[{number}].value", uid) for uid in links]
    for field in _SPEAKING_OF:
        if field in event.metadata:
            found += [Use(field, uid) for uid in _uids(field, getattr(known, field))]
    for pair in known.same_as.items():
        found += [Use("same_as", uid) for uid in pair]
    for number, entry in enumerate(known.loot):
        found += _holders(number, entry)
    return found


def _uids(field: str, value: object) -> Iterable[str]:
    """The uids in a field that may also hold a bare value, which is about somebody shown."""
    if field == "killed_by" and isinstance(value, str):
        return [value]
    if isinstance(value, dict) or field in ("killed_by", "revived"):
        return list(value) if isinstance(value, (dict, list)) else []
    return []


def _holders(number: int, entry: JsonValue) -> Iterator[Use]:
    try:
        loot = loot_of(entry)
    except ValidationError:
        return  # the law on loot says what is wrong with it
    for field, holder in (("to", loot.to), ("from", loot.giver)):
        if holder is not None:
            yield Use(f"loot[{number}].{field}", holder)


def check(event: GameEvent, known: KnownMetadata, uses: Uses, standing: Standing) -> None:
    """Refuses an event that cannot have happened, with the field and the reason."""
    for field, reason in _faults(event, known, uses, standing):
        raise EventRefused(event.event_id, field=field, reason=reason)


def _faults(
    event: GameEvent, known: KnownMetadata, uses: Uses, standing: Standing
) -> Iterator[tuple[str, str]]:
    yield from _slips_of_keys(event)
    yield from _unknown_entities(event, known, uses, standing)
    yield from _notes_are_notes(event, known)
    yield from _impossible_acts(event, known, standing)
    if not _LAWFUL.isdisjoint(event.metadata):
        for keys, law in _LAWS:
            if not keys.isdisjoint(event.metadata):
                yield from law(event, known, standing)


Fault = tuple[str, str]
Law = Callable[[GameEvent, KnownMetadata, Standing], Iterable[Fault]]
_LAWS: list[tuple[frozenset[str], Law]] = []
_LAWFUL: set[str] = set()


def _law(*keys: str) -> Callable[[Law], Law]:
    """Registers a law for events with one of these keys in their metadata."""

    def register(law: Law) -> Law:
        _LAWS.append((frozenset(keys), law))
        _LAWFUL.update(keys)
        return law

    return register


@_law("loot")
def _loot_is_something(_event: GameEvent, known: KnownMetadata, _standing: Standing) -> Iterable[Fault]:
    for number, entry in enumerate(known.loot):
        try:
            if loot_of(entry).is_empty:
                yield f"loot[{number}]", "names neither an item nor gold"
        except ValidationError as exc:
            first = exc.errors()[0]
            place = ".".join(map(str, first["loc"]))
            yield f"loot[{number}]", f"{place}: {first['msg']}" if place else first["msg"]


def _slips_of_keys(event: GameEvent) -> Iterable[Fault]:
    for key in event.metadata:
        if meant := find_meant_key(key):
            yield f"metadata: {short(key)!r}", f"is no key that is understood; write {meant}, or another word"


def _unknown_entities(
    event: GameEvent, known: KnownMetadata, uses: Uses, standing: Standing
) -> Iterable[Fault]:
    people = (*uses.shown, *(known.witnesses or ()))
    for uid in () if all(map(_FIT.__contains__, people)) else people:
        kind = _kind(uid)
        if kind is None:
            field = _shown_in(event, known, uid)
            yield field, f"{uid!r} is neither a uid nor {DM} nor {SYSTEM}"
        elif not kind:
            field = _shown_in(event, known, uid)
            yield field, f"{uid} is of none of the categories, so it cannot come to life"
        elif len(_FIT) < _MOST_AT_HAND:
            _FIT.add(uid)
    if uses.referred:
        here = {*uses.shown, *(known.witnesses or ()), PARTY_UID}
        for field, uid in uses.referred:
            if uid not in here and _kind(uid) in CATEGORIES and not standing.knows(uid):
                yield field, f"{uid} is not known to this campaign; show it first, or name it in `names`"


# Uids that were found fit to come to life. What is fit stays so.
_FIT: set[str] = set()
_MOST_AT_HAND: Final = 1 << 16


@lru_cache(maxsize=_MOST_AT_HAND)
def _kind(uid: str) -> str | None:
    """A uid's category, empty if it has none; the DM and the system count as themselves."""
    if uid in (DM, SYSTEM):
        return uid
    return (category_of(uid) or "") if is_uid(uid) else None


def _impossible_acts(event: GameEvent, known: KnownMetadata, standing: Standing) -> Iterable[Fault]:
    """The dead do not act, and a whisper needs an ear."""
    if known.despite_death is None and event.source not in (DM, SYSTEM) and standing.is_dead(event.source):
        yield "source", f"{event.source} is dead; `despite_death` may say why it acts all the same"
    if event.event_type is EventType.WHISPER and not {*known.told_to, *known.participants} - {event.source}:
        yield "told_to", "a whisper is told to somebody"


@_law("hp_delta", "conditions")
def _bare_changes_have_a_subject(
    event: GameEvent, known: KnownMetadata, _standing: Standing
) -> Iterable[Fault]:
    bare = {
        "hp_delta": isinstance(known.hp_delta, int),
        "conditions": bool(known.conditions) and isinstance(known.conditions, list),
    }
    for field, stated in bare.items():
        if stated and sufferer_of(event, known) is None:
            yield field, "it is not clear whose; write it by uid, such as {uid: value}"


@_law("objective_id", "objective_state", "quest_state")
def _objectives_have_a_quest(_event: GameEvent, known: KnownMetadata, _standing: Standing) -> Iterable[Fault]:
    if known.quest_id is None:
        for field in ("objective_id", "quest_state"):
            if getattr(known, field) is not None:
                yield field, "there is no quest_id that it belongs to"
    if known.objective_id is None and known.objective_state is not None:
        yield "objective_state", "there is no objective_id that it belongs to"


@_law("facts")
def _amounts_are_whole(_event: GameEvent, known: KnownMetadata, _standing: Standing) -> Iterable[Fault]:
    for number, fact in enumerate(known.facts):
        if fact.key in AMOUNTS and not (isinstance(fact.value, int) and not isinstance(fact.value, bool)):
            yield f"facts[{number}].value", f"{fact.key} is a whole number, not {fact.value!r}"
        if fact.key == claims.NUMBER and known.valid_from is not None:
            yield "valid_from", "how many there are is counted forward, and cannot be stated of the past"


@_law("facts", "killed", "conditions")
def _no_self_contradiction(event: GameEvent, known: KnownMetadata, _standing: Standing) -> Iterable[Fault]:
    for uid in set(known.killed) & set(known.revived):
        yield "revived", f"{uid} is killed and revived in the same event"
    by_whom = known.conditions if isinstance(known.conditions, dict) else {"it": known.conditions}
    for who, names in by_whom.items():
        for name in names:
            if f"-{name}" in names:
                yield "conditions", f"{name!r} of {who} both begins and ends"
    if known.facts:
        yield from _facts_agree(event, known)


def _facts_agree(event: GameEvent, known: KnownMetadata) -> Iterable[Fault]:
    stated: dict[tuple[str, str, Certainty], Claim] = {}
    for number, fact in enumerate(known.facts):
        claim = claim_of(fact)
        if fact.object is not None and fact.subject == fact.object:
            yield f"facts[{number}].object", f"{fact.subject} is related to itself"
        earlier = stated.setdefault((claim.subject, claim.slot, claim.certainty), claim)
        if earlier.value != claim.value:
            yield f"facts[{number}]", f"{claim.subject} has two values in {claim.slot!r}"
    if not is_speech(event):
        for claim in claims_of(event, known):
            amount = claim.slot.removeprefix("+")
            if counts(claim.slot) and (claim.subject, amount, Certainty.FACT) in stated:
                yield "facts", f"{claim.subject}: {amount!r} is both stated and changed"


@_law("facts", "location", "same_as")
def _nothing_contains_itself(event: GameEvent, known: KnownMetadata, standing: Standing) -> Iterable[Fault]:
    """Neither by what is stated, nor by who is seen where, nor by two turning out to be one."""
    placed = {
        (claim.subject, claim.slot): claim.value
        for claim in map(claim_of, () if is_speech(event) else known.facts)
        if claim.slot in _CONTAINMENT and claim.certainty is Certainty.FACT
    }
    if known.location is not None:
        seen = seen_in(event, known)
        # Most places are in nothing that could be somebody.
        if known.location in seen or placed or standing.is_contained(known.location):
            around = _around([known.location], placed, standing)
            for who in around.intersection(seen):
                yield "location", f"{who} would be inside itself"
    for (subject, slot), inside in placed.items():
        if isinstance(inside, str) and subject in _around([inside], placed, standing):
            yield "facts", f"{subject} would contain itself (by {slot!r})"
    for uid, other in () if event.is_note else known.same_as.items():
        for inner, outer in ((uid, other), (other, uid)):
            if outer in _around(_containers(inner, placed, standing), placed, standing):
                yield "same_as", f"{uid} and {other} cannot be one: one is inside the other"


_CONTAINMENT: Final = (AT, IN, PART_OF)
_Placed = dict[tuple[str, str], JsonValue]


def _containers(uid: str, placed: _Placed, standing: Standing) -> Iterator[str]:
    for slot in _CONTAINMENT:
        found = placed[uid, slot] if (uid, slot) in placed else standing.container_of(uid, slot)
        if isinstance(found, str):
            yield found


def _around(start: Iterable[str], placed: _Placed, standing: Standing) -> set[str]:
    """Some places, and all that they are somewhere inside of; those who are one count as one."""
    found, open_ends = set[str](), list(start)
    while open_ends:
        here = open_ends.pop()
        if here not in found:
            found.update(standing.persons(here))
            open_ends += _containers(here, placed, standing)
    return found


_ALIKE = ({"PC", "NPC", "MON"},)


@_law("same_as")
def _identities_make_sense(event: GameEvent, known: KnownMetadata, standing: Standing) -> Iterable[Fault]:
    joined: dict[str, str] = {}
    for uid, other in known.same_as.items():
        kinds = {str(category_of(uid)), str(category_of(other))}
        if len(kinds) > 1 and not any(kinds <= alike for alike in _ALIKE):
            yield "same_as", f"{uid} and {other} are of different categories"
        if event.is_note:
            continue  # whom some take for one makes nobody one
        earlier = standing.merged_into(uid)
        if earlier is not None:
            yield "same_as", f"{uid} is {earlier} already; say that {earlier} is {other}"
        # Nobody is two others, so whoever would be joined to their own is in a circle.
        one, another = _joined(standing.first_of(uid), joined), _joined(standing.first_of(other), joined)
        if one == another:
            if earlier is None:
                yield "same_as", f"{uid} would be itself"
        else:
            joined[one] = another


def _joined(uid: str, joined: Mapping[str, str]) -> str:
    while uid in joined:
        uid = joined[uid]
    return uid


# What each kind of note says, beside whom it is for and what it was made from.
_NOTED_IN: Final[dict[EventType, frozenset[str]]] = {
    EventType.SUMMARY: frozenset(("memory",)),
    EventType.MEMORY: frozenset(("memory",)),
    EventType.GATE: frozenset(("gate",)),
    EventType.COMPACTION: frozenset(("memory", "compaction")),
    EventType.USAGE: frozenset(("usage",)),
    EventType.EXTRACTION: frozenset(("facts", "valid_from", "sources")),
}
_NOTED: Final = ("memory", "gate", "compaction", "usage")
_SOURCED: Final = frozenset(("witnesses", "sources"))
_BESIDE_A_NOTE: Final = {EventType.EXTRACTION: _SOURCED | {"names", "said_by", "same_as"}}


def _notes_are_notes(event: GameEvent, known: KnownMetadata) -> Iterable[Fault]:
    """A note says what it is and nothing else: it neither plays nor tells anybody anything."""
    wanted = _NOTED_IN.get(event.event_type, frozenset())
    for key in _NOTED:
        if (getattr(known, key) is not None) != (key in wanted):
            yield key, f"a {event.event_type.value} event {'needs' if key in wanted else 'cannot have'} it"
    if wanted:
        if event.source != SYSTEM:
            yield "source", f"notes are made by {SYSTEM}"
        for key in wanted.difference(event.metadata, _NOTED):
            yield key, f"a {event.event_type.value} event needs it"
        for key in event.metadata.keys() - wanted - _BESIDE_A_NOTE.get(event.event_type, _SOURCED):
            yield key, "a note changes nothing but memory"
        if event.event_type is EventType.EXTRACTION:
            yield from _extracted_says_no_more(known)


# What the rules decide, and what they decide by: it is not for words to say.
RULED: Final = frozenset((*AMOUNTS, "state", "danger", "killed_by", "discovered", "hp_change"))


def _extracted_says_no_more(known: KnownMetadata) -> Iterable[Fault]:
    """What was read out of words describes people and things, and never changes what can happen."""
    if known.sources != [known.valid_from]:
        yield "sources", "what is extracted cites the one turn that says it, as `valid_from` does"
    for number, fact in enumerate(known.facts):
        if fact.key is None or fact.key in RULED:
            yield f"facts[{number}]", f"{fact.key or fact.op} is for the rules to say"
        if fact.certainty != "rumor" and (fact.certainty == "fact") == (known.said_by is not None):
            yield f"facts[{number}].certainty", "what somebody says is a belief, and has `said_by`"


_PLAYING: Final = "player"  # the role of a model in a seat


@_law("usage")
def _what_models_took_is_nobodys_business(
    event: GameEvent, known: KnownMetadata, _standing: Standing
) -> Iterable[Fault]:
    """But that of its own seat: a count of answers would tell a character how much goes on elsewhere."""
    seats = audience(event) - {DM, SYSTEM}
    if known.usage is not None and seats and (known.usage.role != _PLAYING or len(seats) > 1):
        yield "witnesses", "what a model took is known to the seat it plays, and to nobody else at the table"


@_law("memory")
def _memories_follow_each_other(
    event: GameEvent, known: KnownMetadata, standing: Standing
) -> Iterable[Fault]:
    """A memory is its holder's alone, and takes up where the one before it on its shelf ended."""
    note = known.memory
    if note is None:
        return
    if audience(event) != {DM, SYSTEM, note.holder}:
        yield "witnesses", f"a memory of {note.holder} is perceived by nobody else"
    shelf = standing.shelf(claims.shelf_subject(note.holder, note.shelf))
    if note.follows != (shelf.last if shelf else None):
        raise StaleNote(event.event_id, follows=note.follows, actual=shelf.last if shelf else None)
    cursor = shelf.cursor if shelf else None
    if note.cursor != cursor and (note.after, note.upto) != (cursor, note.cursor):
        yield "memory.after", f"the shelf has come to {cursor!r}: events would be skipped, or told twice"
    known_before = {*(shelf.standing if shelf else ()), event.event_id}
    for name in note.standing:
        if name not in known_before:
            yield "memory.standing", f"{name!r} is on no such shelf"
