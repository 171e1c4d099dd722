"""Laws: rules that every event must keep. An event that breaks one is refused whole, before it is recorded.

`TruthLookup` answers what is true at the head of the log; the laws only read it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from pydantic import JsonValue, ValidationError

from dndbots.canon import claims
from dndbots.canon.certainty import is_speech
from dndbots.canon.claims import AT, IN, PART_OF, CertaintyRank, Claim, Shelf, claim_of, is_counting
from dndbots.canon.loot import holder_of, loot_of, sufferer_of
from dndbots.canon.near_keys import find_meant_key
from dndbots.canon.reducers import claims_of, seen_in
from dndbots.errors import EventRefused, StaleNote
from dndbots.events import EventType, GameEvent, KnownMetadata, audience
from dndbots.ids import CATEGORIES, DM, PARTY_UID, SYSTEM, category_of, is_uid, short

AMOUNTS: Final = ("hp", "hp_max", "gold", "reputation", claims.NUMBER)


class TruthLookup(Protocol):
    """The truth at the head of the log, as far as the laws need it."""

    def knows(self, uid: str) -> bool:
        """Return True if the campaign has the entity."""
        ...

    def is_dead(self, uid: str) -> bool: ...
    def container_of(self, uid: str, slot: str) -> str | None:
        """Return where an entity is, by one of the slots of containment."""
        ...

    def is_contained(self, uid: str) -> bool:
        """Return True if an entity is in another one, by any slot."""
        ...

    def merged_into(self, uid: str) -> str | None:
        """Return the uid that this one was stated to be the same as."""
        ...

    def persons(self, uid: str) -> Sequence[str]:
        """Return a uid with all others that are known to be the same."""
        ...

    def first_of(self, uid: str) -> str:
        """Return the one uid that represents all that are known to be the same."""
        ...

    def shelf(self, subject: str) -> Shelf | None:
        """Return the state of a memory shelf."""
        ...


class LenientTruth:
    """A truth that objects to nothing which the rest of a log may explain: for events of one viewer's log.

    Such a log mentions people whom the viewer never saw, and lacks revivals and moves behind their back.
    Identities and memories are complete in it, so they are still checked.
    """

    def __init__(self, truth: TruthLookup) -> None:
        self.merged_into, self.persons = truth.merged_into, truth.persons
        self.first_of, self.shelf = truth.first_of, truth.shelf

    def knows(self, _uid: str) -> bool:
        """Return True: the rest of the log may have introduced the entity."""
        return True

    def is_dead(self, _uid: str) -> bool:
        return False

    def container_of(self, _uid: str, _slot: str) -> str | None:
        return None

    def is_contained(self, _uid: str) -> bool:
        return False


class UidUse(NamedTuple):
    """A uid in an event, and its field."""

    field: str
    uid: str


class EventUids(NamedTuple):
    """The uids of an event: those that it shows, and those that it only refers to."""

    shown: list[str]
    referred: list[UidUse]


def uses_of(event: GameEvent, known: KnownMetadata) -> EventUids:
    """Return the uids of an event.

    An entity that an event shows exists from then on. One that it refers to must exist, or be shown in it.
    """
    shown = [event.source, *known.participants, *known.told_to, *known.enemies, *known.killed]
    shown += [*known.discovered, *known.names]
    if known.location is not None:
        shown.append(known.location)
    if known.quest_id is not None:
        shown.append(known.quest_id)
    if known.loot and (holder := holder_of(event, known)) == PARTY_UID:
        shown.append(holder)
    referring = not _REFERRING.isdisjoint(event.metadata)
    return EventUids(shown, _referred(event, known) if referring else [])


_SHOWING: Final = ("participants", "witnesses", "told_to", "enemies", "killed", "discovered", "names")


def _shown_in(event: GameEvent, known: KnownMetadata, uid: str) -> str:
    """Return the field that shows a uid, for an error message."""
    if uid == event.source:
        return "source"
    return next((field for field in _SHOWING if uid in (getattr(known, field) or ())), "location")


_SPEAKING_OF: Final = ("killed_by", "revived", "reputation", "hp_delta", "conditions")
_REFERRING: Final = frozenset((*_SPEAKING_OF, "facts", "same_as", "loot"))


def _referred(event: GameEvent, known: KnownMetadata) -> list[UidUse]:
    uses: list[UidUse] = []
    for number, fact in enumerate(known.facts):
        uses.append(UidUse(f"facts[{number}].subject", fact.subject))
        if fact.object is not None:
            uses.append(UidUse(f"facts[{number}].object", fact.object))
        if event.event_type is EventType.EXTRACTION and isinstance(fact.value, list):
            links = (uid for uid in fact.value if isinstance(uid, str) and is_uid(uid))
            uses += [UidUse(f"facts[{number}].value", uid) for uid in links]
    for field in _SPEAKING_OF:
        if field in event.metadata:
            uses += [UidUse(field, uid) for uid in _uids(field, getattr(known, field))]
    for pair in known.same_as.items():
        uses += [UidUse("same_as", uid) for uid in pair]
    for number, entry in enumerate(known.loot):
        uses += _holders(number, entry)
    return uses


def _uids(field: str, value: object) -> Iterable[str]:
    """Return the uids in a field. A bare value has none: it is about somebody whom the event shows."""
    if field == "killed_by" and isinstance(value, str):
        return [value]
    if isinstance(value, dict) or field in ("killed_by", "revived"):
        return list(value) if isinstance(value, (dict, list)) else []
    return []


def _holders(number: int, entry: JsonValue) -> Iterator[UidUse]:
    try:
        loot = loot_of(entry)
    except ValidationError:
        return  # the law on loot reports it
    for field, holder in (("to", loot.to), ("from", loot.giver)):
        if holder is not None:
            yield UidUse(f"loot[{number}].{field}", holder)


def check_event(event: GameEvent, known: KnownMetadata, uses: EventUids, truth: TruthLookup) -> None:
    """Raise `EventRefused`, with the field and the reason, if an event breaks a law."""
    for field, reason in _faults(event, known, uses, truth):
        raise EventRefused(event.event_id, field=field, reason=reason)


def _faults(
    event: GameEvent, known: KnownMetadata, uses: EventUids, truth: TruthLookup
) -> Iterator[tuple[str, str]]:
    yield from _misspelled_keys(event)
    yield from _unknown_entities(event, known, uses, truth)
    yield from _notes_are_only_notes(event, known)
    yield from _impossible_acts(event, known, truth)
    if not _LAWFUL.isdisjoint(event.metadata):
        for keys, law in _LAWS:
            if not keys.isdisjoint(event.metadata):
                yield from law(event, known, truth)


Fault = tuple[str, str]
Law = Callable[[GameEvent, KnownMetadata, TruthLookup], Iterable[Fault]]
_LAWS: list[tuple[frozenset[str], Law]] = []
_LAWFUL: set[str] = set()


def _law(*keys: str) -> Callable[[Law], Law]:
    """Register a law for events with one of these keys in their metadata."""

    def register(law: Law) -> Law:
        _LAWS.append((frozenset(keys), law))
        _LAWFUL.update(keys)
        return law

    return register


@_law("loot")
def _loot_is_something(_event: GameEvent, known: KnownMetadata, _truth: TruthLookup) -> Iterable[Fault]:
    for number, entry in enumerate(known.loot):
        try:
            if loot_of(entry).is_empty:
                yield f"loot[{number}]", "names neither an item nor gold; add one of them"
        except ValidationError as exc:
            first = exc.errors()[0]
            path = ".".join(map(str, first["loc"]))
            yield f"loot[{number}]", f"{path}: {first['msg']}" if path else first["msg"]


def _misspelled_keys(event: GameEvent) -> Iterable[Fault]:
    return _misspelled(tuple(event.metadata))


# Most events have the same few keys.
@lru_cache(maxsize=256)
def _misspelled(keys: tuple[str, ...]) -> list[Fault]:
    return [
        (f"metadata: {short(key)!r}", f"is not a known key; write {meant}, or use a different word")
        for key in keys
        if (meant := find_meant_key(key))
    ]


def _unknown_entities(
    event: GameEvent, known: KnownMetadata, uses: EventUids, truth: TruthLookup
) -> Iterable[Fault]:
    people = (*uses.shown, *(known.witnesses or ()))
    for uid in () if _FIT.issuperset(people) else people:
        kind = _kind(uid)
        if kind is None:
            field = _shown_in(event, known, uid)
            yield field, f"{uid!r} is not a uid; write one such as npc_elena_001, or {DM} or {SYSTEM}"
        elif not kind:
            field = _shown_in(event, known, uid)
            yield field, f"{uid} has no known prefix; begin it with one of {_PREFIXES}"
        elif len(_FIT) < _MOST_CACHED:
            _FIT.add(uid)
    if uses.referred:
        here = {*uses.shown, *(known.witnesses or ()), PARTY_UID}
        for field, uid in uses.referred:
            if uid not in here and _kind(uid) in CATEGORIES and not truth.knows(uid):
                yield field, f"the campaign has no {uid}; show it in an event first, or name it in `names`"


_PREFIXES: Final = ", ".join(f"{category.lower()}_" for category in CATEGORIES)
# Uids that passed the check, which never changes.
_FIT: set[str] = set()
_MOST_CACHED: Final = 1 << 16


@lru_cache(maxsize=_MOST_CACHED)
def _kind(uid: str) -> str | None:
    """Return a uid's category, empty if it has none; the DM and the system are their own category."""
    if uid in (DM, SYSTEM):
        return uid
    return (category_of(uid) or "") if is_uid(uid) else None


def _impossible_acts(event: GameEvent, known: KnownMetadata, truth: TruthLookup) -> Iterable[Fault]:
    """Find acts of the dead, and whispers without a listener."""
    if known.despite_death is None and event.source not in (DM, SYSTEM) and truth.is_dead(event.source):
        yield "source", f"{event.source} is dead; if it acts all the same, say why in `despite_death`"
    if event.event_type is EventType.WHISPER and not {*known.told_to, *known.participants} - {event.source}:
        yield "told_to", "a whisper needs a listener; name one"


@_law("hp_delta", "conditions")
def _bare_changes_have_a_subject(
    event: GameEvent, known: KnownMetadata, _truth: TruthLookup
) -> Iterable[Fault]:
    bare = {
        "hp_delta": isinstance(known.hp_delta, int),
        "conditions": bool(known.conditions) and isinstance(known.conditions, list),
    }
    for field, stated in bare.items():
        if stated and sufferer_of(event, known) is None:
            yield field, "does not say who is affected; write it by uid, such as {uid: value}"


@_law("objective_id", "objective_state", "quest_state")
def _objectives_have_a_quest(_event: GameEvent, known: KnownMetadata, _truth: TruthLookup) -> Iterable[Fault]:
    if known.quest_id is None:
        for field in ("objective_id", "quest_state"):
            if getattr(known, field) is not None:
                yield field, "needs a quest_id; add one"
    if known.objective_id is None and known.objective_state is not None:
        yield "objective_state", "needs an objective_id; add one"


@_law("facts")
def _amounts_are_whole(_event: GameEvent, known: KnownMetadata, _truth: TruthLookup) -> Iterable[Fault]:
    for number, fact in enumerate(known.facts):
        if fact.key in AMOUNTS and not (isinstance(fact.value, int) and not isinstance(fact.value, bool)):
            yield f"facts[{number}].value", f"{fact.key} must be a whole number, not {fact.value!r}"
        if fact.key == claims.NUMBER and known.valid_from is not None:
            yield "valid_from", "a number cannot be stated for the past; state it as of now"


@_law("facts", "killed", "conditions")
def _no_self_contradiction(event: GameEvent, known: KnownMetadata, _truth: TruthLookup) -> Iterable[Fault]:
    for uid in set(known.killed) & set(known.revived):
        yield "revived", f"{uid} is killed and revived in the same event; use two events"
    by_person = known.conditions if isinstance(known.conditions, dict) else {"it": known.conditions}
    for who, names in by_person.items():
        for name in names:
            if f"-{name}" in names:
                yield "conditions", f"{name!r} of {who} both begins and ends; use two events"
    if known.facts:
        yield from _facts_agree(event, known)


def _facts_agree(event: GameEvent, known: KnownMetadata) -> Iterable[Fault]:
    stated: dict[tuple[str, str, CertaintyRank], Claim] = {}
    for number, fact in enumerate(known.facts):
        claim = claim_of(fact)
        if fact.object is not None and fact.subject == fact.object:
            yield (
                f"facts[{number}].object",
                f"{fact.subject} cannot be related to itself; name another object",
            )
        earlier = stated.setdefault((claim.subject, claim.slot, claim.certainty), claim)
        if earlier.value != claim.value:
            yield f"facts[{number}]", f"{claim.subject} gets two values for {claim.slot!r}; keep one"
    if not is_speech(event):
        for claim in claims_of(event, known):
            amount = claim.slot.removeprefix("+")
            if is_counting(claim.slot) and (claim.subject, amount, CertaintyRank.FACT) in stated:
                yield "facts", f"{claim.subject}: {amount!r} is both stated and changed; keep one"


@_law("facts", "location", "same_as")
def _nothing_contains_itself(event: GameEvent, known: KnownMetadata, truth: TruthLookup) -> Iterable[Fault]:
    """Find containers inside themselves: by stated facts, by who is seen where, or by a merge."""
    placed = {
        (claim.subject, claim.slot): claim.value
        for claim in map(claim_of, () if is_speech(event) else known.facts)
        if claim.slot in _CONTAINMENT and claim.certainty is CertaintyRank.FACT
    }
    if known.location is not None:
        present = (event.source, *known.participants, *known.enemies)
        # Most places are in nothing, and need no search.
        if known.location in present or placed or truth.is_contained(known.location):
            around = _around([known.location], placed, truth)
            for who in around.intersection(seen_in(event, known)):
                yield "location", f"{who} would be inside itself; name another location"
    for (subject, slot), inside in placed.items():
        if isinstance(inside, str) and subject in _around([inside], placed, truth):
            yield "facts", f"{subject} would contain itself (by {slot!r}); end its old place first"
    for uid, other in () if event.is_note else known.same_as.items():
        for inner, outer in ((uid, other), (other, uid)):
            if outer in _around(_containers(inner, placed, truth), placed, truth):
                yield "same_as", f"{uid} and {other} cannot be one: one is inside the other"


_CONTAINMENT: Final = (AT, IN, PART_OF)
_Placed = dict[tuple[str, str], JsonValue]


def _containers(uid: str, placed: _Placed, truth: TruthLookup) -> Iterator[str]:
    for slot in _CONTAINMENT:
        container = placed[uid, slot] if (uid, slot) in placed else truth.container_of(uid, slot)
        if isinstance(container, str):
            yield container


def _around(start: Iterable[str], placed: _Placed, truth: TruthLookup) -> set[str]:
    """Return some places and everything around them. Uids of one entity count as one."""
    around, open_ends = set[str](), list(start)
    while open_ends:
        here = open_ends.pop()
        if here not in around:
            around.update(truth.persons(here))
            open_ends += _containers(here, placed, truth)
    return around


_ALIKE = ({"PC", "NPC", "MON"},)


@_law("same_as")
def _identities_make_sense(event: GameEvent, known: KnownMetadata, truth: TruthLookup) -> Iterable[Fault]:
    joined: dict[str, str] = {}
    for uid, other in known.same_as.items():
        kinds = {str(category_of(uid)), str(category_of(other))}
        if len(kinds) > 1 and not any(kinds <= alike for alike in _ALIKE):
            yield "same_as", f"{uid} and {other} are of different categories"
        if event.is_note:
            continue  # an extraction only notes that some take them for one
        earlier = truth.merged_into(uid)
        if earlier is not None:
            yield "same_as", f"{uid} is {earlier} already; state that {earlier} is {other}"
        # A uid is merged into one other only, so two with the same head would close a circle.
        head, other_head = _joined(truth.first_of(uid), joined), _joined(truth.first_of(other), joined)
        if head == other_head:
            if earlier is None:
                yield "same_as", f"{uid} and {other} are the same already; leave it out"
        else:
            joined[head] = other_head


def _joined(uid: str, joined: Mapping[str, str]) -> str:
    while uid in joined:
        uid = joined[uid]
    return uid


# The metadata that each kind of note needs, beside its witnesses and sources.
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


def _notes_are_only_notes(event: GameEvent, known: KnownMetadata) -> Iterable[Fault]:
    """Find notes that lack their content or have any other: a note changes nothing but memory."""
    needed = _NOTED_IN.get(event.event_type, frozenset())
    for key in _NOTED:
        if (getattr(known, key) is not None) != (key in needed):
            yield key, f"a {event.event_type.value} event {'needs' if key in needed else 'cannot have'} it"
    if needed:
        if event.source != SYSTEM:
            yield "source", f"the source of a note must be {SYSTEM}"
        for key in needed.difference(event.metadata, _NOTED):
            yield key, f"a {event.event_type.value} event needs it"
        for key in event.metadata.keys() - needed - _BESIDE_A_NOTE.get(event.event_type, _SOURCED):
            yield key, "a note changes nothing but memory; leave it out"
        if event.event_type is EventType.EXTRACTION:
            yield from _extraction_faults(known)


# Keys that the rules decide, or decide by. An extraction from words cannot set them.
RULED: Final = frozenset((*AMOUNTS, "state", "danger", "killed_by", "discovered", "hp_change"))


def _extraction_faults(known: KnownMetadata) -> Iterable[Fault]:
    """Find extracted facts that do more than describe people and things."""
    if known.sources != [known.valid_from]:
        yield "sources", "an extraction must cite exactly one turn, the same as `valid_from`"
    for number, fact in enumerate(known.facts):
        if fact.key is None or fact.key in RULED:
            yield f"facts[{number}]", f"only the rules can set {fact.key or fact.op}; leave it out"
        if fact.certainty != "rumor" and (fact.certainty == "fact") == (known.said_by is not None):
            yield f"facts[{number}].certainty", "must be belief with `said_by`, and fact without it"


_PLAYING: Final = "player"  # the role of a model in a seat


@_law("usage")
def _usage_is_private(event: GameEvent, known: KnownMetadata, _truth: TruthLookup) -> Iterable[Fault]:
    """Find usage that others perceive: a count of answers would reveal how much goes on elsewhere."""
    seats = audience(event) - {DM, SYSTEM}
    if known.usage is not None and seats and (known.usage.role != _PLAYING or len(seats) > 1):
        yield "witnesses", "only the seat that a model plays may perceive its usage; leave out the others"


@_law("memory")
def _memories_follow_each_other(
    event: GameEvent, known: KnownMetadata, truth: TruthLookup
) -> Iterable[Fault]:
    """Find memories that others perceive, or that do not continue the note before them on the shelf."""
    note = known.memory
    if note is None:
        return
    if audience(event) != {DM, SYSTEM, note.holder}:
        yield "witnesses", f"only {note.holder} may perceive this memory; leave out the others"
    shelf = truth.shelf(claims.shelf_subject(note.holder, note.shelf))
    if note.follows != (shelf.last if shelf else None):
        raise StaleNote(event.event_id, follows=note.follows, actual=shelf.last if shelf else None)
    cursor = shelf.cursor if shelf else None
    if note.cursor != cursor and (note.after, note.upto) != (cursor, note.cursor):
        yield "memory.after", f"the shelf ends at {cursor!r}: start there, or events are skipped or repeated"
    known_before = {*(shelf.standing if shelf else ()), event.event_id}
    for name in note.standing:
        if name not in known_before:
            yield "memory.standing", f"{name!r} is not a note of this shelf"
