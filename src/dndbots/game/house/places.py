"""Telling of places: what those see who come, what has changed for those who stay."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import FOR_THE_DM
from dndbots.game.adventures.values import Place
from dndbots.game.house.telling import Telling, clause
from dndbots.game.house.world import beat
from dndbots.game.pieces import Waiting
from dndbots.game.played import DM_STEP, KEY, played_of
from dndbots.game.table import Table

_MOST_LISTED: Final = 5
_ARTICLES: Final = ("a ", "an ", "the ", "some ")


def since_the_dm(table: Table, round_: int) -> list[GameEvent]:
    """What was played since the DM's step of an earlier round, as far as it is at hand, the oldest first."""
    found: list[GameEvent] = []
    for event in reversed(table.lately):
        note = event.metadata.get(KEY)
        if isinstance(note, dict) and note.get("step") == DM_STEP and event.turn != round_:
            break
        found.append(event)
    return found[::-1]


def asked_in(events: Sequence[GameEvent]) -> list[Waiting]:
    """What waits for the DM, where the table no longer says so: time passes first, and is the DM's, too."""
    found: list[Waiting] = []
    for event in events:
        note = played_of(event)
        if note is not None and note.act is not None and note.act.verb in FOR_THE_DM:
            found.append(Waiting(event.event_id, event.source, note.act, event.known.location))
    return found


def arrivals(events: Sequence[GameEvent]) -> dict[str, list[str]]:
    """Who came where."""
    found: dict[str, list[str]] = {}
    for event in events:
        place = event.metadata.get("location")
        if event.event_type is EventType.LOCATION_CHANGE and isinstance(place, str):
            found.setdefault(place, []).extend(event.known.participants)
    return found


def a(name: str) -> str:
    """A thing's name as it stands in a sentence: `silver key` is `a silver key`."""
    if not name[:1].islower() or name.startswith(_ARTICLES) or name.endswith("s"):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def tell_place(
    telling: Telling,
    uid: str,
    *,
    came: Sequence[str],
    before: str = "",
    beats: tuple[str, ...] = (),
    **metadata: Any,
) -> None:
    """Tells a place to those who are there, in one piece: looks, people, things, ways."""
    world, table = telling.world, telling.step.table
    place = world.place(uid)
    here = table.together(uid)
    if place is None or not here:
        return
    first = is_new_to_any(telling, uid, here)
    looks = _looks(telling, place, first=first)
    waited = [who for who in here if who not in came and uid in telling.step.of(who).sights]
    parts = [before, looks, *_reunion(telling, came, waited), *_contents(telling, place, uid, first=first)]
    people = world.people(uid)
    names = {telling.atlas.uid("npc", person.key): telling.called(person, here) for person in people}
    news = first and not world.came("told", place.key)
    telling.tell(
        uid,
        " ".join(filter(None, parts)),
        participants=[*names],
        witnesses=telling.step.present(uid),
        beats=(*beats, beat("told", place.key)),
        names={uid: place.name, **names},
        gist=f"we came to {place.name}: {clause(looks)}" if news else None,
        play=telling.sights(place),
        discovered=[uid] if news else None,
        **metadata,
    )


def is_new_to_any(telling: Telling, uid: str, here: Sequence[str]) -> bool:
    return any(uid not in telling.step.of(who).sights for who in here)


def _looks(telling: Telling, place: Place, *, first: bool) -> str:
    if first and place.looks:
        return telling.rng.choice(place.looks)
    own_words = telling.rng.randint(0, len(place.again)) > 0  # the fewer there are, the less often
    if not first and own_words:
        return telling.one_of(place.again)
    return telling.words("return_to" if not first else "arrive", place=place.name)


def _reunion(telling: Telling, came: Sequence[str], waited: Sequence[str]) -> Iterator[str]:
    if came and waited:
        yield telling.words("meet_again", who=telling.party(came), others=telling.party(waited))


def _contents(telling: Telling, place: Place, uid: str, *, first: bool) -> Iterator[str]:
    world = telling.world
    sights = world.sights(place)
    if sights.dark:
        yield telling.words("darkness")
    yield people_line(telling, uid)
    if first and sights.things:
        yield telling.words("things", things=listed([*sights.things.values()][:_MOST_LISTED]))
    if first and sights.ways:
        yield telling.words("ways", ways=listed(sights.ways))
    if not first and place.sounds and telling.rng.random() < 1 / 3:
        yield telling.one_of(place.sounds)


def people_line(telling: Telling, uid: str) -> str:
    """Who is there, each by what they go by among those who see them, and the foes who only watch."""
    table, place = telling.step.table, telling.world.place(uid)
    here = table.together(uid)
    people = [telling.called(person, here) for person in telling.world.people(uid)]
    seen = telling.world.sights(place).people if place is not None else ()
    people += [table.name(foes) for foes in seen if foes.startswith("mon_")]
    return telling.words("here", people=listed(people)) if people else ""


def tell_something_small(telling: Telling, uid: str) -> None:
    """Weather, hours, small life: for a scene in which nothing else is told."""
    place = telling.world.place(uid)
    if place is None:
        return
    hour = None if place.dark else telling.strikes()
    if hour is not None:
        text = telling.words(hour, place=place.name)
    elif place.sounds and telling.rng.random() < 1 / 2:
        text = telling.one_of(place.sounds)
    else:
        text = telling.words(_quiet(place), place=place.name)
    telling.tell(uid, text, names={uid: place.name})


def tell_fight(telling: Telling) -> None:
    """Where everybody fights and nothing else is to be told: who still stands."""
    table = telling.step.table
    for uid, fight in table.fights.items():
        if table.together(uid):
            foes = listed([group.name for group in fight.standing.values()])
            names = {foe: group.name for foe, group in fight.foes.items()}
            text = telling.words("fight_on", foes=foes)
            telling.tell(uid, text, kind=EventType.COMBAT_ROUND, names=names)
            return
    telling.secretly(telling.words("offstage"), beats=())


def _quiet(place: Place) -> str:
    return "waits.dark" if place.dark else "waits.safe" if place.safe else "waits"


def tell_changes(telling: Telling, uid: str) -> None:
    """Tells those who stayed what is to be seen now and was not before."""
    world, table = telling.world, telling.step.table
    place = world.place(uid)
    old = table.sights.get(uid)
    if place is None or old is None or uid in table.fights:
        return
    new = world.sights(place)
    if new == old:
        return
    here = table.together(uid)
    come = [person for person in world.people(uid) if telling.atlas.uid("npc", person.key) not in old.people]
    gone = [person for who in old.people if who not in new.people and (person := world.person(who))]
    ways = [label for label in new.ways if label not in old.ways]
    things = [looks for key, looks in new.things.items() if key not in old.things]
    parts = [
        telling.words("here", people=listed([telling.called(one, here) for one in come])) if come else "",
        telling.words("goes", who=listed([telling.called(one, here) for one in gone])) if gone else "",
        telling.words("things", things=listed(things)) if things else "",
        telling.words("ways", ways=listed(ways)) if ways else "",
    ]
    text = " ".join(filter(None, parts)) or telling.words(_quiet(place), place=place.name)
    names = {telling.atlas.uid("npc", one.key): telling.called(one, here) for one in (*come, *gone)}
    telling.tell(
        uid,
        text,
        participants=[telling.atlas.uid("npc", one.key) for one in come],
        witnesses=telling.step.present(uid),
        names=names,
        play=telling.sights(place),
    )
