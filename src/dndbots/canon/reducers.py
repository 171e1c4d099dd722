"""Events become claims: one small function for each thing that an event can change.

A reducer sees one event and nothing else. It never fails on an event that `laws` let through.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Claim, change
from dndbots.canon.cues import cue_in
from dndbots.canon.loot import holder_of, loot_of, sufferer_of
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, SYSTEM, is_uid

Reducer = Callable[[GameEvent, KnownMetadata], Iterable[Claim]]

# Raised whenever the same events give other rows than before: campaigns then fold their log again.
FOLD_VERSION: Final = 6

OPEN: Final = "open"

_REDUCERS: dict[EventType, list[tuple[str, Reducer]]] = {kind: [] for kind in EventType}


def reduces(key: str, *kinds: EventType) -> Callable[[Reducer], Reducer]:
    """Registers a reducer for events with a key in their metadata, of these kinds or of any."""

    def register(reducer: Reducer) -> Reducer:
        for kind in kinds or EventType:
            _REDUCERS[kind].append((key, reducer))
        return reducer

    return register


def claims_of(event: GameEvent, known: KnownMetadata) -> list[Claim]:
    """Everything that an event makes true by happening, in order. What it *states* is up to `holding`."""
    metadata, found = event.metadata, list[Claim]()
    for key, reducer in _REDUCERS[event.event_type]:
        if key in metadata:
            found += reducer(event, known)
    if event.event_type in _WORDS:
        found += spoken_threads(event, known)
    return found


_WORDS = frozenset((EventType.DM_NARRATION, EventType.PLAYER_ACTION, EventType.DIALOGUE, EventType.WHISPER))
_MOST_ABOUT = 4


def spoken_threads(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """What is worded like something that may come back is a thread under its event's own id."""
    cue = cue_in(event.content)
    if cue is not None:
        people = dict.fromkeys((event.source, *known.participants, *known.told_to))
        about = [who for who in people if is_uid(who)][:_MOST_ABOUT]
        subject = f"{claims.THREAD} {event.event_id}"
        yield Claim(subject, claims.THREAD, {"kind": cue.kind, "text": cue.text, "about": [*about]})


_NOWHERE = (EventType.SYSTEM, EventType.SESSION_END)


def seen_in(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Those who take part in something are where it happens."""
    if known.location is None or event.event_type in _NOWHERE:
        return []
    present = dict.fromkeys((event.source, *known.participants, *known.enemies))
    return [who for who in present if who not in (DM, SYSTEM)]


def company_of(event: GameEvent, known: KnownMetadata) -> tuple[str, ...]:
    """The entities that take part in something together, wherever that is."""
    if event.event_type in _NOWHERE:
        return ()
    present = dict.fromkeys((event.source, *known.participants, *known.enemies))
    return tuple(who for who in present if is_uid(who))


@reduces("enemy_count")
def numbers(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """`enemy_count` counts the first of the enemies, who may be a group under one uid."""
    if known.enemies and known.enemy_count is not None:
        yield Claim(known.enemies[0], claims.NUMBER, known.enemy_count)


@reduces("revived")
def revivals(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who in dict.fromkeys(known.revived):
        yield Claim(who, claims.NUMBER, 1)


@reduces("killed")
def deaths(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by
    for who, times in Counter(known.killed).items():
        yield Claim(who, change(claims.NUMBER), -times)
        if killers:
            yield Claim(who, "killed_by", list(dict.fromkeys(killers)))


@reduces("hp_delta")
def wounds(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    delta = known.hp_delta
    by_whom = delta if isinstance(delta, dict) else {sufferer_of(event, known): delta}
    for who, points in by_whom.items():
        if who is not None and points:
            yield Claim(who, change("hp"), points)


@reduces("conditions")
def conditions(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """`poisoned` begins, `-poisoned` ends."""
    stated = known.conditions
    by_whom = stated if isinstance(stated, dict) else {sufferer_of(event, known): stated}
    for who, names in by_whom.items():
        for name in names if who is not None else ():
            yield Claim(str(who), f"{claims.CONDITION} {name.removeprefix('-').strip()}", name[0] != "-")


@reduces("loot")
def spoils(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for entry in map(loot_of, known.loot):
        takers = [(entry.to, 1), (entry.giver, -1)] if entry.to or entry.giver else []
        for who, sign in takers or [(holder_of(event, known), 1)]:
            if who is not None and entry.item is not None and entry.quantity:
                yield Claim(who, change(f"{claims.ITEM} {entry.item}"), sign * entry.quantity)
            if who is not None and entry.gold:
                yield Claim(who, change("gold"), sign * entry.gold)


@reduces("quest_id")
def quests(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.quest_id is not None and known.quest_state is not None:
        yield Claim(known.quest_id, "state", known.quest_state)
    if known.quest_id is not None and known.objective_id is not None:
        slot = f"{claims.OBJECTIVE} {known.objective_id}"
        yield Claim(known.quest_id, slot, known.objective_state or "completed")


@reduces("act_id")
def acts(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.act_id is not None:
        yield Claim(f"{claims.ACT} {known.act_id}", "state", known.act_state or "begun")


@reduces("encounter_id")
def encounters(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.encounter_id is not None:
        by_kind = {EventType.COMBAT_START: "begun", EventType.COMBAT_END: "completed"}
        state = known.encounter_state or by_kind.get(event.event_type)
        if state is not None:
            yield Claim(f"{claims.ENCOUNTER} {known.encounter_id}", "state", state)


@reduces("danger_level")
def danger(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.location is not None and known.danger_level is not None:
        yield Claim(known.location, "danger", known.danger_level)


@reduces("reputation")
def standing(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who, points in known.reputation.items():
        if points:
            yield Claim(who, change("reputation"), points)


@reduces("discovered")
def discoveries(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for what in dict.fromkeys(known.discovered):
        yield Claim(what, "discovered", value=True)


@reduces("same_as")
def identities(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for uid, other in known.same_as.items():
        yield Claim(uid, claims.SAME, other)


@reduces("speakers")
def speakers(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who in known.speakers:
        yield Claim(claims.session_subject(event.session_id), f"{claims.SPEAKER} {who}", value=True)


@reduces("threads")
def threads(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for thread in known.threads:
        subject = f"{claims.THREAD} {thread.id}"
        if thread.text is not None:
            opened: JsonValue = {"kind": thread.kind, "text": thread.text, "about": [*thread.about]}
            yield Claim(subject, claims.THREAD, opened)
        if thread.text is not None or thread.state is not None:
            yield Claim(subject, claims.THREAD_STATE, thread.state or OPEN)
        else:
            yield Claim(subject, claims.THREAD_TOUCHED, value=True)


@reduces("memory", EventType.SUMMARY, EventType.MEMORY, EventType.COMPACTION)
def shelves(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """How a shelf stands after a note. The note says all of it, so the newest one is enough to know it."""
    note = known.memory
    if note is not None:
        stands: JsonValue = {"last": event.event_id, "cursor": note.cursor, "standing": [*note.standing]}
        yield Claim(claims.shelf_subject(note.holder, note.shelf), claims.MEMORY, stands)


@reduces("compaction", EventType.COMPACTION)
def runs(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """What runs did so far, what the turns told, and what became of proposals."""
    note = known.compaction
    if note is None:
        return
    figures = {name: getattr(note, name) for name in _FIGURES}
    figures |= {"runs": int(note.turns > 0), "rejected": sum(note.rejected.values()), "held": len(note.held)}
    for name, figure in figures.items():
        if figure:
            yield Claim(claims.COMPACTION, change(name), figure)
    for kind, told in (
        (claims.SCENE, note.scenes),
        (claims.NARRATIVE, note.narratives),
        (claims.PROPOSAL, note.held),
    ):
        for name, value in told.items():
            yield Claim(f"{kind} {name}", kind, value)
    for name, state in note.decided.items():
        yield Claim(f"{claims.PROPOSAL} {name}", claims.STATE, state)


_FIGURES: Final = ("turns", "tokens", "kept_tokens", "proposed", "updates", "repeated", "milliseconds")


@reduces("usage", EventType.USAGE)
def usage(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """What a model took so far in a role, and how its provider counted, the newest of a step last."""
    note = known.usage
    if note is None:
        return
    subject = claims.usage_subject(note.role, note.model)
    figures = {name: getattr(note, name) for name in _TAKEN} | {"faults": len(note.faults)}
    if note.cost is not None:
        figures |= {"cost": note.cost, "priced": note.answers}
    for name, figure in figures.items():
        if figure:
            yield Claim(subject, change(name), figure)
    if note.reports:
        pairs: JsonValue = [[*pair] for pair in note.reports]
        yield Claim(claims.report_subject(note.model), claims.REPORT, pairs)


_TAKEN: Final = ("answers", "input", "output", "cached", "counted", "milliseconds")


@reduces("gate", EventType.GATE)
def gates(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    gate = known.gate
    if gate is not None:
        decided: JsonValue = gate.text if gate.what == "corrected" else gate.on
        yield Claim(f"{claims.GATE} {gate.target}", claims.gate_slot(gate.what, gate.holder), decided)
