"""Reducers: the claims of an event, by one small function for each thing that an event can change.

A reducer sees one event and nothing else. It never fails on an event that passed the laws.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Claim, change_slot
from dndbots.canon.cues import cue_in
from dndbots.canon.loot import holder_of, loot_of, sufferer_of
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, SYSTEM, is_uid

Reducer = Callable[[GameEvent, KnownMetadata], Iterable[Claim]]

# Increase it whenever the same events give other rows than before: campaigns then fold their log again.
FOLD_VERSION: Final = 7

OPEN: Final = "open"

_REDUCERS: dict[EventType, list[tuple[str, Reducer]]] = {kind: [] for kind in EventType}


def reduces(key: str, *kinds: EventType) -> Callable[[Reducer], Reducer]:
    """Register a reducer for events with a key in their metadata, of these kinds or of any."""

    def register(reducer: Reducer) -> Reducer:
        for kind in kinds or EventType:
            _REDUCERS[kind].append((key, reducer))
        return reducer

    return register


def claims_of(event: GameEvent, known: KnownMetadata) -> list[Claim]:
    """Return all claims that an event makes true, in order. `effects` handles its stated `facts`."""
    metadata, made = event.metadata, list[Claim]()
    for key, reducer in _REDUCERS[event.event_type]:
        if key in metadata:
            made += reducer(event, known)
    if event.event_type in _WORDS:
        made += _spoken_threads(event, known)
    return made


_WORDS = frozenset((EventType.DM_NARRATION, EventType.PLAYER_ACTION, EventType.DIALOGUE, EventType.WHISPER))
_MOST_ABOUT = 4


def _spoken_threads(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield a thread, under the event's own id, if the words contain a promise, threat, debt or mystery."""
    cue = cue_in(event.content)
    if cue is not None:
        people = dict.fromkeys((event.source, *known.participants, *known.told_to))
        about = [who for who in people if is_uid(who)][:_MOST_ABOUT]
        subject = f"{claims.THREAD} {event.event_id}"
        yield Claim(subject, claims.THREAD, {"kind": cue.kind, "text": cue.text, "about": [*about]})


_NOWHERE = (EventType.SYSTEM, EventType.SESSION_END)


def seen_in(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the entities that are at the place of an event, because they take part in it."""
    if known.location is None or event.event_type in _NOWHERE:
        return []
    present = dict.fromkeys((event.source, *known.participants, *known.enemies))
    return [who for who in present if who not in (DM, SYSTEM)]


def company_of(event: GameEvent, known: KnownMetadata) -> tuple[str, ...]:
    """Return the entities that take part in an event together, with or without a known place."""
    if event.event_type in _NOWHERE:
        return ()
    return _entities_among((event.source, *known.participants, *known.enemies))


# The same people act together in many events.
@lru_cache(maxsize=1 << 14)
def _entities_among(people: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(who for who in dict.fromkeys(people) if is_uid(who))


@reduces("enemy_count")
def _reduce_numbers(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield the number of the first enemy, which may be a group under one uid."""
    if known.enemies and known.enemy_count is not None:
        yield Claim(known.enemies[0], claims.NUMBER, known.enemy_count)


@reduces("revived")
def _reduce_revivals(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who in dict.fromkeys(known.revived):
        yield Claim(who, claims.NUMBER, 1)


@reduces("killed")
def _reduce_deaths(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by
    for who, times in Counter(known.killed).items():
        yield Claim(who, change_slot(claims.NUMBER), -times)
        if killers:
            yield Claim(who, "killed_by", list(dict.fromkeys(killers)))


@reduces("hp_delta")
def _reduce_wounds(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    delta = known.hp_delta
    by_person = delta if isinstance(delta, dict) else {sufferer_of(event, known): delta}
    for who, points in by_person.items():
        if who is not None and points:
            yield Claim(who, change_slot("hp"), points)


@reduces("conditions")
def _reduce_conditions(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield conditions that begin (`poisoned`) or end (`-poisoned`)."""
    stated = known.conditions
    by_person = stated if isinstance(stated, dict) else {sufferer_of(event, known): stated}
    for who, names in by_person.items():
        for name in names if who is not None else ():
            yield Claim(str(who), f"{claims.CONDITION} {name.removeprefix('-').strip()}", name[0] != "-")


@reduces("loot")
def _reduce_loot(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for entry in map(loot_of, known.loot):
        takers = [(entry.to, 1), (entry.giver, -1)] if entry.to or entry.giver else []
        for who, sign in takers or [(holder_of(event, known), 1)]:
            if who is not None and entry.item is not None and entry.quantity:
                yield Claim(who, change_slot(f"{claims.ITEM} {entry.item}"), sign * entry.quantity)
            if who is not None and entry.gold:
                yield Claim(who, change_slot("gold"), sign * entry.gold)


@reduces("quest_id")
def _reduce_quests(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.quest_id is not None and known.quest_state is not None:
        yield Claim(known.quest_id, "state", known.quest_state)
    if known.quest_id is not None and known.objective_id is not None:
        slot = f"{claims.OBJECTIVE} {known.objective_id}"
        yield Claim(known.quest_id, slot, known.objective_state or "completed")


@reduces("act_id")
def _reduce_acts(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.act_id is not None:
        yield Claim(f"{claims.ACT} {known.act_id}", "state", known.act_state or "begun")


@reduces("encounter_id")
def _reduce_encounters(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.encounter_id is not None:
        by_kind = {EventType.COMBAT_START: "begun", EventType.COMBAT_END: "completed"}
        state = known.encounter_state or by_kind.get(event.event_type)
        if state is not None:
            yield Claim(f"{claims.ENCOUNTER} {known.encounter_id}", "state", state)


@reduces("danger_level")
def _reduce_danger(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    if known.location is not None and known.danger_level is not None:
        yield Claim(known.location, "danger", known.danger_level)


@reduces("reputation")
def _reduce_reputation(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who, points in known.reputation.items():
        if points:
            yield Claim(who, change_slot("reputation"), points)


@reduces("discovered")
def _reduce_discoveries(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for what in dict.fromkeys(known.discovered):
        yield Claim(what, "discovered", value=True)


@reduces("same_as")
def _reduce_identities(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for uid, other in known.same_as.items():
        yield Claim(uid, claims.SAME, other)


@reduces("speakers")
def _reduce_speakers(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    for who in known.speakers:
        yield Claim(claims.session_subject(event.session_id), f"{claims.SPEAKER} {who}", value=True)


@reduces("threads")
def _reduce_threads(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
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
def _reduce_shelves(event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield the state of a shelf after a note. A note has the whole state, so the newest one is enough."""
    note = known.memory
    if note is not None:
        stands: JsonValue = {"last": event.event_id, "cursor": note.cursor, "standing": [*note.standing]}
        yield Claim(claims.shelf_subject(note.holder, note.shelf), claims.MEMORY, stands)


@reduces("compaction", EventType.COMPACTION)
def _reduce_compaction_runs(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield the figures of compaction runs, their scenes and narratives, and decisions on proposals."""
    note = known.compaction
    if note is None:
        return
    figures = {name: getattr(note, name) for name in _FIGURES}
    figures |= {"runs": int(note.turns > 0), "rejected": sum(note.rejected.values()), "held": len(note.held)}
    for name, figure in figures.items():
        if figure:
            yield Claim(claims.COMPACTION, change_slot(name), figure)
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
def _reduce_usage(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    """Yield a model's usage in a role, and the token counts of its provider."""
    note = known.usage
    if note is None:
        return
    subject = claims.usage_subject(note.role, note.model)
    figures = {name: getattr(note, name) for name in _TAKEN} | {"faults": len(note.faults)}
    figures |= {f"cut {kind}": number for kind, number in note.cuts.items()}
    if note.cost is not None:
        figures |= {"cost": note.cost, "priced": note.answers}
    for name, figure in figures.items():
        if figure:
            yield Claim(subject, change_slot(name), figure)
    if note.reports:
        pairs: JsonValue = [[*pair] for pair in note.reports]
        yield Claim(claims.report_subject(note.model), claims.REPORT, pairs)


_TAKEN: Final = ("answers", "input", "output", "cached", "counted", "milliseconds", "fallbacks")


@reduces("gate", EventType.GATE)
def _reduce_gates(_event: GameEvent, known: KnownMetadata) -> Iterable[Claim]:
    gate = known.gate
    if gate is not None:
        decided: JsonValue = gate.text if gate.what == "corrected" else gate.on
        yield Claim(f"{claims.GATE} {gate.target}", claims.gate_slot(gate.what, gate.holder), decided)
