"""What comes of searching, looking, taking and opening."""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.adventures.values import Exit, Place, Thing
from dndbots.game.house.places import a, listed, tell_place
from dndbots.game.house.telling import Telling, clause, sentence
from dndbots.game.house.traps import spring
from dndbots.game.house.world import beat
from dndbots.game.pieces import Waiting
from dndbots.game.referee.telling import dice
from dndbots.models import Character
from dndbots.rules import checks
from dndbots.rules.classes import char_class

_OPEN_LOCKS: Final = "open locks"
_SEARCHED_BEFORE: Final = 2
_EYES: Final = 2  # a party looks longer than rules for ten feet of wall have it
_NO_LIGHT: Final = -2
_ARTICLES: Final = ("a ", "an ", "the ", "some ")


def search(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """All who search a place search it together. Dice are thrown whether there is anything or not."""
    who, world = people_of(asked), telling.world
    before = world.came("searched", place.key)
    bonus = _EYES + min(len(who) - 1, 2) + _SEARCHED_BEFORE * before
    blind = place.dark and not world.lit(uid)
    sheet = max(sheets_of(telling, who), key=lambda one: char_class(one.char_class).search, default=None)
    check = None if sheet is None else checks.search(sheet, rng=telling.rng, bonus=bonus + _NO_LIGHT * blind)
    lucky = check is not None and check.success
    rolls = dice(check) if check is not None else []
    if not (lucky and reveal(telling, place, uid, who, rolls)):
        text = telling.words("search_nothing", who=telling.step.table.name(who[0]))
        beats = [] if before else [beat("searched", place.key)]
        telling.tell(uid, text, participants=who, beats=beats, play={"rolls": rolls})


def reveal(
    telling: Telling, place: Place, uid: str, who: Sequence[str], rolls: Sequence[JsonValue] = ()
) -> bool:
    """Shows all that is hidden at a place to those who are there. Whether anything was."""
    things, ways = telling.world.hidden_things(place), telling.world.hidden_ways(place)
    if not things and not ways:
        return False
    found = listed([*(thing.looks for thing in things), *(_way(way) for way in ways)])
    beats = [beat("found", thing.key) for thing in things]
    beats += [beat("found", place.key, way.label) for way in ways]
    telling.tell(
        uid,
        telling.words("search_found", who=telling.step.table.name(who[0]), thing=found),
        kind=EventType.DISCOVERY,
        participants=who,
        beats=beats,
        gist=f"there is {found} at {place.name}",
        names={uid: place.name},
        play={"rolls": [*rolls], **telling.sights(place, after=beats)},
    )
    return True


def look(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Each thing is looked at once, by all who want to."""
    for what, lookers in _by_what(asked).items():
        thing = _thing(telling, place, what)
        way = telling.world.ways(place).get(what)
        if thing is not None:
            _look_at(telling, place, uid, thing, lookers)
        elif way is not None:
            text = way.looks or telling.words("nothing_more", thing=way.label)
            telling.tell(uid, text, participants=lookers)
        else:
            _look_around(telling, uid, asked, lookers)


def _look_around(telling: Telling, uid: str, asked: Sequence[Waiting], lookers: Sequence[str]) -> None:
    person = next((found for one in asked if (found := telling.world.person(one.act.target))), None)
    if person is not None and person in telling.world.people(uid):
        npc = telling.atlas.uid("npc", person.key)
        called = telling.called(person, telling.step.table.together(uid))
        telling.tell(
            uid, _closely(telling, lookers, called), participants=[*lookers, npc], names={npc: called}
        )
    elif not telling.told_at(uid):
        tell_place(telling, uid, came=())


def _look_at(telling: Telling, place: Place, uid: str, thing: Thing, lookers: Sequence[str]) -> None:
    if not spring(telling, uid, thing, lookers[0]):
        return
    beats = [beat("found", thing.key), beat("looked", thing.key)]
    old = all(beats[1] in telling.step.of(who).beats for who in lookers)
    if thing.text is None or old:
        held = _held(telling, thing)
        told = telling.words("holds", thing=thing.looks, what=listed(held)) if held else ""
        text = told or telling.words("nothing_more", thing=thing.looks)
        telling.tell(uid, text, participants=lookers, beats=() if old else beats)
        return
    telling.tell(
        uid,
        thing.text,
        kind=EventType.DISCOVERY,
        participants=lookers,
        beats=beats,
        topics=thing.topics,
        teaches=thing.teaches,
        gist=clause(thing.text),
        play=telling.sights(place, after=beats),
    )


def take(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """What a thing holds goes to the first who takes it; gold is shared by all who are there."""
    for what, takers in _by_what(asked).items():
        thing = _thing(telling, place, what)
        if thing is None or not (thing.gold or thing.items) or telling.world.used_up(thing):
            telling.tell(uid, _nothing(telling, thing), participants=takers)
        elif (guard := telling.world.guard(place, thing.key)) is not None:
            foes = guard.name or guard.monster
            telling.tell(
                uid,
                telling.words("guarded", thing=thing.looks, foes=foes),
                participants=takers,
                names={telling.atlas.uid("mon", guard.key): foes},
            )
        elif spring(telling, uid, thing, takers[0]):
            _take(telling, place, uid, thing, takers[0])


def _take(telling: Telling, place: Place, uid: str, thing: Thing, taker: str) -> None:
    items = [telling.atlas.module.items[key] for key in thing.items if key in telling.atlas.module.items]
    held = _held(telling, thing)
    beats = [beat("found", thing.key), beat("taken", thing.key)]
    name = telling.step.table.name(taker)
    looks = [sentence(item.looks) for item in items if item.looks]
    seen = telling.world.came("looked", thing.key)
    text = telling.words("taken", who=name, what=listed(held))
    telling.tell(
        uid,
        " ".join([text, *looks]),
        kind=EventType.LOOT,
        participants=[taker],
        beats=beats,
        topics=() if seen else thing.topics,
        teaches=() if seen else thing.teaches,
        names={telling.atlas.uid("item", item.key): item.name for item in items},
        gist=f"{name} found {listed(held)} in {place.name}",
        play=telling.sights(place, after=beats),
        loot=[
            *({"item": item.name, "to": taker} for item in items),
            *shares(thing.gold, telling.step.table.together(uid)),
        ],
    )


def _held(telling: Telling, thing: Thing) -> list[str]:
    """What a thing holds, as one says it."""
    items = telling.atlas.module.items
    named = [a(items[key].name) for key in thing.items if key in items]
    return [*named, *([f"{thing.gold} gold"] if thing.gold else [])]


def shares(gold: int, among: Sequence[str]) -> list[JsonValue]:
    """Gold, divided fairly; the first ones get what cannot be divided."""
    if not gold or not among:
        return []
    each, left = divmod(gold, len(among))
    parts = ((who, each + (number < left)) for number, who in enumerate(among))
    return [{"gold": part, "to": who} for who, part in parts if part]


def open_up(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Ways are unlocked, picked or forced; a thing that is opened gives what it holds."""
    for what, openers in _by_what(asked).items():
        way = telling.world.ways(place).get(what)
        if way is not None:
            _open_way(telling, place, uid, way, openers)
        elif (thing := _thing(telling, place, what)) is not None and (thing.gold or thing.items):
            take(telling, place, uid, [one for one in asked if one.act.what == what])
        elif thing is not None:
            _look_at(telling, place, uid, thing, openers)
        else:
            telling.tell(uid, _nothing(telling, thing), participants=openers)


def _open_way(telling: Telling, place: Place, uid: str, way: Exit, openers: Sequence[str]) -> None:
    who = telling.step.table.name(openers[0])
    guard = telling.world.guard(place, way.label)
    if guard is not None:
        foes = guard.name or guard.monster
        names = {telling.atlas.uid("mon", guard.key): foes}
        text = telling.words("guarded", thing=way.label, foes=foes)
        telling.tell(uid, text, participants=openers, names=names)
        return
    if not telling.world.shut(place, way):
        telling.tell(uid, telling.words("already_open", way=way.label), participants=openers)
        return
    rolls: list[JsonValue] = []
    lucky, sheets = True, sheets_of(telling, openers)
    key = None if way.locked is None else telling.atlas.module.items.get(way.locked)
    if key is not None and any(
        telling.world.carries(one, key.name) for one in telling.step.table.together(uid)
    ):
        text = telling.words("unlocked", who=who, way=way.label, item=key.name)
    elif way.locked is not None:
        tried = [checks.skill_check(one, _OPEN_LOCKS, rng=telling.rng) for one in sheets]
        lucky, rolls = any(one.success for one in tried), dice(*tried)
        text = telling.words("picked" if lucky else "locked", who=who, way=way.label)
    else:
        tried = [checks.open_door(one, rng=telling.rng, bonus=len(sheets) - 1) for one in sheets]
        lucky, rolls = any(one.success for one in tried), dice(*tried)
        text = telling.words("forced" if lucky else "stuck", who=who, way=way.label)
    if not lucky:
        telling.tell(uid, text, participants=openers, play={"rolls": rolls})
        return
    telling.tell(
        uid,
        text,
        participants=openers,
        beats=[beat("opened", place.key, way.label)],
        gist=f"{way.label} is open now at {place.name}",
        names={uid: place.name},
        play={"rolls": rolls},
    )


def _closely(telling: Telling, lookers: Sequence[str], thing: str) -> str:
    return telling.words("close_look", who=telling.step.table.name(lookers[0]), thing=thing)


def _nothing(telling: Telling, thing: Thing | None) -> str:
    return (
        telling.words("nothing_there") if thing is None else telling.words("nothing_more", thing=thing.looks)
    )


def people_of(asked: Iterable[Waiting]) -> list[str]:
    return list(dict.fromkeys(one.who for one in asked))


def sheets_of(telling: Telling, who: Iterable[str]) -> list[Character]:
    return [sheet for uid in who if (sheet := telling.step.table.character(uid))]


def _by_what(asked: Sequence[Waiting]) -> dict[str, list[str]]:
    """Who wants the same, each once."""
    found: dict[str, list[str]] = {}
    for one in asked:
        wanting = found.setdefault(one.act.what or "", [])
        if one.who not in wanting:
            wanting.append(one.who)
    return found


def _thing(telling: Telling, place: Place, what: str) -> Thing | None:
    """The thing that is meant: by its key, or by what it looks like."""
    things = telling.world.things(place)
    return things.get(what) or next((one for one in things.values() if _bare(one.looks) == _bare(what)), None)


def _bare(looks: str) -> str:
    text = looks.casefold().strip()
    return next((text.removeprefix(article) for article in _ARTICLES if text.startswith(article)), text)


def _way(way: Exit) -> str:
    return way.looks or f"a hidden way, {way.label}"
