"""Scenes: views of places for arrivals, and changes for characters who stay."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dndbots.events import EventType, GameEvent
from dndbots.game.adventures.module import Person, Place
from dndbots.game.state.game_notes import DM_STEP, KEY, played_of
from dndbots.game.state.pieces import PendingAct, left_of
from dndbots.game.state.table import Table
from dndbots.game.world.dm_notes import note_people, sight_facts
from dndbots.game.world.lore.question_words import all_stems
from dndbots.game.world.narration import Narration, first_clause, join_texts
from dndbots.game.world.world_state import beat
from dndbots.text.word_forms import as_route

_MOST_LISTED: Final = 5
_REMARKED: Final = 0.4  # chance that people are mentioned again on a return
_SOUNDS_HEARD: Final = 2  # times that a place's own sound is told


def events_since_dm(table: Table, round_: int) -> list[GameEvent]:
    """Return the events since the DM's step of an earlier round, oldest first.

    Only recent events are available.
    """
    events: list[GameEvent] = []
    for event in reversed(table.lately):
        note = event.metadata.get(KEY)
        if isinstance(note, dict) and note.get("step") == DM_STEP and event.turn != round_:
            break
        events.append(event)
    return events[::-1]


def find_waiting_acts(events: Sequence[GameEvent]) -> list[PendingAct]:
    """Return the acts in these events that wait for the DM.

    The table clears its own list when time passes, and time passes in an event of the DM.
    """
    pending: list[PendingAct] = []
    for event in events:
        note = played_of(event)
        if note is not None and note.act is not None and note.act.awaits_dm:
            pending.append(PendingAct(event.event_id, event.source, note.act, event.known.location))
    return pending


def find_arrivals(events: Sequence[GameEvent]) -> dict[str, list[str]]:
    """Map each place to the characters who came there in these events."""
    arrivals: dict[str, list[str]] = {}
    for event in events:
        place = event.metadata.get("location")
        if event.event_type is EventType.LOCATION_CHANGE and isinstance(place, str):
            arrivals.setdefault(place, []).extend(event.known.participants)
    return arrivals


def tell_place(
    narration: Narration,
    uid: str,
    *,
    came: Sequence[str],
    before: str = "",
    beats: tuple[str, ...] = (),
    minutes: int = 0,
    **metadata: Any,
) -> None:
    """Describe a place to the characters there: looks, people, things and ways.

    If only some of them see it for the first time, the others are told of the arrival alone.
    """
    place = narration.world.place(uid)
    here = narration.step.table.together(uid)
    if place is None or not here:
        return
    narration.enter(uid)
    knowing = [who for who in here if not is_new_to_any(narration, uid, [who])]
    reunion = _reunion(narration, came, [who for who in knowing if who not in came])
    hearers: Sequence[str] = here
    if knowing and len(knowing) < len(here) and not before:
        if any(who in came for who in knowing):
            _describe_place(narration, place, uid, knowing, after=reunion)
        elif reunion:
            narration.tell(uid, reunion, witnesses=knowing, aside=True)
        hearers = [who for who in here if who not in knowing]
    _describe_place(
        narration, place, uid, hearers, before=before, after=reunion, beats=beats, minutes=minutes, **metadata
    )


def _describe_place(
    narration: Narration,
    place: Place,
    uid: str,
    hearers: Sequence[str],
    *,
    before: str = "",
    after: str = "",
    beats: tuple[str, ...] = (),
    minutes: int = 0,
    **metadata: Any,
) -> None:
    """Tell a place to these characters in one event: whole if it is new to any of them, else briefly."""
    world = narration.world
    first = is_new_to_any(narration, uid, hearers)
    looks = _looks(narration, place, first=first)
    parts = [before, looks, after, *_contents(narration, place, uid, hearers, first=first, looks=looks)]
    people = world.people(uid)
    names = {narration.atlas.uid("npc", person.key): narration.name_for(person, hearers) for person in people}
    news = first and not world.has_beat("told", place.key)
    note_people(narration, people)
    narration.tell(
        uid,
        " ".join(filter(None, parts)),
        participants=[*names],
        witnesses=[who for who in narration.step.present(uid) if who in hearers or not who.startswith("pc_")],
        beats=(*beats, beat("told", place.key)),
        names={uid: place.name, **names},
        gist=f"we came to {place.name}: {first_clause(looks)}" if news else None,
        play={**narration.sights_note(place), "minutes": minutes},
        discovered=[uid] if news else None,
        facts=[*metadata.pop("facts", ()), *sight_facts(narration, place, uid, looks, people)],
        aside=not before,
        **metadata,
    )


def is_new_to_any(narration: Narration, uid: str, here: Sequence[str]) -> bool:
    """Return whether any of these characters sees the place for the first time."""
    return any(uid not in narration.step.of(who).sights for who in here)


def _looks(narration: Narration, place: Place, *, first: bool) -> str:
    """Return the description of a place, for a first visit or a return."""
    if first and place.looks:
        return narration.rng.choice(place.looks)
    own_words = narration.rng.randint(0, len(place.again)) > 0  # fewer texts are used less often
    if not first and own_words and (text := narration.pick_text(place.again, most=2)):
        return text
    return narration.phrase("return_to" if not first else "arrive", place=place.name)


def _reunion(narration: Narration, came: Sequence[str], waited: Sequence[str]) -> str:
    """Tell that arrivals meet characters who waited here; "" if nobody came or waited."""
    if not came or not waited:
        return ""
    return narration.phrase(
        "meet_again", who=narration.party_names(came), others=narration.party_names(waited)
    )


def _contents(
    narration: Narration, place: Place, uid: str, hearers: Sequence[str], *, first: bool, looks: str
) -> Iterator[str]:
    """Tell what is at a place: people, things, ways or a sound."""
    world = narration.world
    sights = world.sights(place)
    if sights.dark:
        yield narration.phrase("darkness")
    if first or narration.rng.random() < _REMARKED:
        yield _people_line(narration, uid, hearers, looks=looks if first else "")
    if first and sights.things:
        yield narration.phrase("things", things=join_texts([*sights.things.values()][:_MOST_LISTED]))
    if first and sights.ways:
        yield narration.phrase("ways", ways=join_texts([*map(as_route, sights.ways)]))
    if not first and place.sounds and narration.rng.random() < 1 / 3:
        yield narration.pick_text(place.sounds, most=_SOUNDS_HEARD)


def _people_line(narration: Narration, uid: str, hearers: Sequence[str], *, looks: str) -> str:
    """Return a line with the people at a place, as the hearers call them, and the watching foes.

    Those whom the looks of the place show already are not listed.
    """
    table, place = narration.step.table, narration.world.place(uid)
    shown = all_stems(looks)
    people = [_as_seen(narration, person, hearers) for person in narration.world.people(uid)]
    people = [called for called in people if not all_stems(called) <= shown]
    seen = narration.world.sights(place).people if place is not None else ()
    people += [table.name(foes) for foes in seen if foes.startswith("mon_")]
    return narration.phrase("here", people=join_texts(people)) if people else ""


def _as_seen(narration: Narration, person: Person, hearers: Sequence[str]) -> str:
    """Return how to tell of a person: by name, by looks, or by both if they know only the name so far."""
    called = narration.name_for(person, hearers)
    if called == person.seen_as or narration.world.met(person.key):
        return called
    return f"{person.seen_as} who must be {person.name}"


def tell_small_thing(narration: Narration, uid: str) -> None:
    """Tell of weather, the hour or a sound, where nothing else is told in a scene."""
    place = narration.world.place(uid)
    if place is None:
        return
    hour = None if place.dark else narration.hour_struck()
    if hour is not None:
        text = narration.phrase(hour, place=place.name)
    else:
        sound = narration.rng.random() < 1 / 2
        text = narration.pick_text(place.sounds, most=_SOUNDS_HEARD) if place.sounds and sound else ""
        text = text or narration.phrase(_quiet(place), place=place.name)
    narration.tell(uid, text, names={uid: place.name}, aside=True)


def tell_fight(narration: Narration) -> None:
    """Tell who still stands, when everybody fights and nothing else is told."""
    table = narration.step.table
    for uid, fight in table.fights.items():
        if table.together(uid):
            foes = join_texts([left_of(group, fight.begun[foe]) for foe, group in fight.standing.items()])
            names = {foe: group.name for foe, group in fight.foes.items()}
            text = narration.phrase("fight_on", foes=foes)
            narration.tell(uid, text, kind=EventType.COMBAT_ROUND, names=names)
            return
    narration.tell_dm(narration.phrase("offstage"), beats=())


def _quiet(place: Place) -> str:
    """Return the phrase rule for a quiet moment at a place."""
    return "waits.dark" if place.dark else "waits.safe" if place.safe else "waits"


def tell_changes(narration: Narration, uid: str) -> None:
    """Tell characters who stayed what has changed in sight."""
    world, table = narration.world, narration.step.table
    place = world.place(uid)
    old = table.sights.get(uid)
    if place is None or old is None or uid in table.fights:
        return
    new = world.sights(place)
    if new == old:
        return
    here = table.together(uid)
    come = [
        person for person in world.people(uid) if narration.atlas.uid("npc", person.key) not in old.people
    ]
    gone = [person for who in old.people if who not in new.people and (person := world.person(who))]
    ways = [label for label in new.ways if label not in old.ways]
    things = [looks for key, looks in new.things.items() if key not in old.things]
    parts = [
        narration.phrase("here", people=join_texts([narration.name_for(person, here) for person in come]))
        if come
        else "",
        narration.phrase("goes", who=join_texts([narration.name_for(person, here) for person in gone]))
        if gone
        else "",
        narration.phrase("things", things=join_texts(things)) if things else "",
        narration.phrase("ways", ways=join_texts([*map(as_route, ways)])) if ways else "",
    ]
    text = " ".join(filter(None, parts)) or narration.phrase(_quiet(place), place=place.name)
    names = {
        narration.atlas.uid("npc", person.key): narration.name_for(person, here) for person in (*come, *gone)
    }
    narration.tell(
        uid,
        text,
        participants=[narration.atlas.uid("npc", person.key) for person in come],
        witnesses=narration.step.present(uid),
        names=names,
        play=narration.sights_note(place),
    )
