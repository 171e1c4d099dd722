"""Answers to searching, looking, taking and opening, with traps."""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.adventures.module import Exit, Place, Thing
from dndbots.game.referee import hurt
from dndbots.game.referee.event_text import dice
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.lore.question_words import all_stems
from dndbots.game.world.narration import (
    Narration,
    as_sentence,
    first_clause,
    join_texts,
    with_article,
)
from dndbots.game.world.places import tell_place
from dndbots.game.world.shared_knowledge import knowledge_at
from dndbots.game.world.world_state import beat
from dndbots.ids import DM
from dndbots.models import Character
from dndbots.rules import checks
from dndbots.rules.characters.classes import char_class
from dndbots.rules.checks import skill_check
from dndbots.rules.dice import roll
from dndbots.rules.saves import save
from dndbots.text.word_forms import as_whereabouts, with_the, without_article

_JUST_NOW: Final = 6  # events
_OPEN_LOCKS: Final = "open locks"
_FIND_TRAPS: Final = "find traps"
_SEARCHED_BEFORE: Final = 2
_EYES: Final = 2  # bonus: a party searches longer than the rule for ten feet of wall assumes
_NO_LIGHT: Final = -2
_EVERYWHERE: Final = all_stems(
    "sky sun moon stars clouds weather ground floor earth grass wall walls ceiling roof corner people house"
    " houses tree trees road street door window stone stones shadow shadows air horizon room place"
)


def search_place(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Search a place together with one roll. Dice roll even if nothing is hidden."""
    who, world = askers_of(acts), narration.world
    before = world.has_beat("searched", place.key)
    bonus = _EYES + min(len(who) - 1, 2) + _SEARCHED_BEFORE * before
    blind = place.dark and not world.is_lit(uid)
    sheet = max(
        character_sheets(narration, who), key=lambda sheet: char_class(sheet.char_class).search, default=None
    )
    check = (
        None if sheet is None else checks.search(sheet, rng=narration.rng, bonus=bonus + _NO_LIGHT * blind)
    )
    lucky = check is not None and check.success
    rolls = dice(check) if check is not None else []
    if not (lucky and reveal_hidden(narration, place, uid, who, rolls)):
        rule = "search_sure" if lucky else "search_nothing"
        text = narration.phrase(rule, who=narration.step.table.name(who[0]))
        left = _left_to_do(narration, place, uid) if lucky else ""
        beats = [] if before else [beat("searched", place.key)]
        narration.tell(uid, f"{text} {left}".strip(), participants=who, beats=beats, play={"rolls": rolls})


def _left_to_do(narration: Narration, place: Place, uid: str) -> str:
    """Return what is still worth doing at a place where nothing is hidden: "" if nothing is."""
    world = narration.world
    for key, thing in world.things(place).items():
        if thing.text is not None and not world.has_beat("looked", key):
            return narration.phrase("search_left", thing=thing.looks)
    for way in world.ways(place).values():
        if world.is_shut(place, way):
            return narration.phrase("search_shut", way=way.label)
    known = knowledge_at(narration, uid)
    for person in world.people(uid):
        untold = (one for one in person.knows if not world.has_beat("said", person.key, one.key))
        if any(one.needs <= world.trust(person) and known.holds(one.when) for one in untold):
            called = narration.name_for(person, narration.step.table.together(uid))
            return narration.phrase("search_ask", npc=called)
    for way in world.ways(place).values():
        if not world.visited(way.to):
            return narration.phrase("search_way", way=way.label)
    return ""


def reveal_hidden(
    narration: Narration, place: Place, uid: str, who: Sequence[str], rolls: Sequence[JsonValue] = ()
) -> bool:
    """Show everything hidden at a place. Return whether there was anything."""
    things, ways = narration.world.hidden_things(place), narration.world.hidden_ways(place)
    if not things and not ways:
        return False
    listing = join_texts([*(thing.looks for thing in things), *(_way(way) for way in ways)])
    beats = [beat("found", thing.key) for thing in things]
    beats += [beat("found", place.key, way.label) for way in ways]
    narration.tell(
        uid,
        narration.phrase("search_found", who=narration.step.table.name(who[0]), thing=listing),
        kind=EventType.DISCOVERY,
        participants=who,
        beats=beats,
        gist=f"{as_whereabouts(place.name)} we found {listing}",
        names={uid: place.name},
        play={"rolls": [*rolls], **narration.sights_note(place, after=beats)},
    )
    return True


def look_at_things(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Show each thing once to everybody who looks at it."""
    for what, lookers in _by_what(acts).items():
        thing = _thing(narration, place, what)
        way = narration.world.ways(place).get(what)
        if thing is not None:
            is_typed = any(act.act.words and not act.act.phrases for act in acts if act.act.what == what)
            _look_at(narration, place, uid, thing, lookers, again=is_typed)
        elif way is not None:
            text = way.looks or narration.phrase("nothing_more", thing=way.label)
            narration.tell(uid, text, participants=lookers)
        else:
            _look_around(narration, uid, acts, lookers, what)


def _look_around(
    narration: Narration, uid: str, acts: Sequence[PendingAct], lookers: Sequence[str], what: str
) -> None:
    """Tell of a person who is looked at, of what is nothing but scenery, or of the whole place."""
    person = next((found for act in acts if (found := narration.world.person(act.act.target))), None)
    if person is not None and person in narration.world.people(uid):
        npc = narration.atlas.uid("npc", person.key)
        called = narration.name_for(person, narration.step.table.together(uid))
        narration.tell(
            uid, _closely(narration, lookers, called), participants=[*lookers, npc], names={npc: called}
        )
    elif what.replace(" ", "").isalpha():
        text = narration.phrase("looked_plain", what=what) if _is_shown(narration, uid, what) else ""
        narration.tell(uid, text or narration.phrase("nothing_there", what=what), participants=lookers)
    elif not narration.has_told_at(uid):
        tell_place(narration, uid, came=())


def _is_shown(narration: Narration, uid: str, what: str) -> bool:
    """Return whether words are of anything that the place was said to have, or that is everywhere."""
    table, key = narration.step.table, narration.atlas.key(uid)
    place = narration.atlas.module.places.get(key or "")
    told = [event.content for event in table.lately if event.known.location == uid and event.source == DM]
    own = () if place is None else (place.name, *place.looks, *place.again, *place.sounds)
    carried = [item for who in table.together(uid) for item in table.items(who)]
    return bool(all_stems(what) & (all_stems(" ".join((*told, *own, *carried))) | _EVERYWHERE))


def _look_at(
    narration: Narration,
    place: Place,
    uid: str,
    thing: Thing,
    lookers: Sequence[str],
    *,
    again: bool = False,
) -> None:
    """Show a thing, unless its trap stops the character; `again` also to those who saw it a while ago."""
    if not spring_trap(narration, uid, thing, lookers[0]):
        return
    beats = [beat("found", thing.key), beat("looked", thing.key)]
    old = all(beats[1] in narration.step.of(who).beats for who in lookers)
    if thing.text is None or old:
        held = _held(narration, thing)
        contents = narration.phrase("holds", thing=thing.looks, what=join_texts(held)) if held else ""
        lately = {event.content for event in [*narration.step.table.lately][-_JUST_NOW:]}
        seen = (thing.text or "") if again and old and thing.text not in lately else ""
        text = f"{seen} {contents}".strip() or narration.phrase("nothing_more", thing=thing.looks)
        narration.tell(uid, text, participants=lookers, beats=() if old else beats)
        return
    narration.tell(
        uid,
        thing.text,
        kind=EventType.DISCOVERY,
        participants=lookers,
        beats=beats,
        topics=thing.topics,
        teaches=thing.teaches,
        gist=f"we looked at {with_the(thing.looks)}: {first_clause(thing.text)}",
        play=narration.sights_note(place, after=beats),
    )


def take_things(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Give the contents of a thing to the first taker; gold is shared by all present."""
    for what, takers in _by_what(acts).items():
        thing = _thing(narration, place, what)
        if thing is None or narration.world.is_used_up(thing):
            narration.tell(uid, _nothing(narration, thing, what), participants=takers)
        elif not (thing.gold or thing.items):
            _leave_in_place(narration, place, uid, thing, takers)
        elif (guard := narration.world.guard(place, thing.key)) is not None:
            foes = guard.name or guard.monster
            narration.tell(
                uid,
                narration.phrase("guarded", thing=thing.looks, foes=foes),
                participants=takers,
                names={narration.atlas.uid("mon", guard.key): foes},
            )
        elif spring_trap(narration, uid, thing, takers[0]):
            _take(narration, place, uid, thing, takers[0])


def _leave_in_place(
    narration: Narration, place: Place, uid: str, thing: Thing, takers: Sequence[str]
) -> None:
    """Show a thing that holds nothing to somebody who reaches for it, and tell that it stays where it is."""
    shown = beat("looked", thing.key)
    if thing.text is not None and not all(shown in narration.step.of(who).beats for who in takers):
        _look_at(narration, place, uid, thing, takers)
        if not narration.world.has_beat("looked", thing.key):
            return  # its trap stopped them
    narration.tell(uid, narration.phrase("not_to_take", thing=thing.looks), participants=takers)


def _take(narration: Narration, place: Place, uid: str, thing: Thing, taker: str) -> None:
    """Hand over the contents of a thing."""
    items = [narration.atlas.module.items[key] for key in thing.items if key in narration.atlas.module.items]
    held = _held(narration, thing)
    beats = [beat("found", thing.key), beat("taken", thing.key)]
    name = narration.step.table.name(taker)
    looks = [as_sentence(item.looks) for item in items if item.looks]
    seen = narration.world.has_beat("looked", thing.key)
    text = narration.phrase("taken", who=name, what=join_texts(held))
    narration.tell(
        uid,
        " ".join([text, *looks]),
        kind=EventType.LOOT,
        participants=[taker],
        beats=beats,
        topics=() if seen else thing.topics,
        teaches=() if seen else thing.teaches,
        names={narration.atlas.uid("item", item.key): item.name for item in items},
        gist=f"{name} found {join_texts(held)} {as_whereabouts(place.name)}",
        play=narration.sights_note(place, after=beats),
        loot=[
            *({"item": item.name, "to": taker} for item in items),
            *share_gold(thing.gold, narration.step.table.together(uid)),
        ],
    )


def recover_belongings(narration: Narration, uid: str) -> None:
    """Let the party take over what dead characters at a place carried and the story may need."""
    table = narration.step.table
    here = table.together(uid)
    for dead in [who for who in table.facts if who.startswith("pc_") and not table.alive(who)]:
        held = [item for item in table.items(dead) if item in narration.atlas.item_names]
        if not here or not held or table.place(dead) != uid:
            continue
        known = all(narration.step.knows(who, dead) for who in here)
        called, taker = table.name(dead) if known else "a stranger who fell here", table.name(here[0])
        what = join_texts([*map(with_article, held)])
        narration.tell(
            uid,
            narration.phrase("inherits", dead=called, who=taker, what=what),
            kind=EventType.LOOT,
            participants=[here[0]],
            names={dead: called},
            gist=f"{taker} took over {what} from {called}",
            loot=[{"item": item, "to": here[0], "from": dead} for item in held],
        )


def _held(narration: Narration, thing: Thing) -> list[str]:
    """Return the contents of a thing as phrases."""
    items = narration.atlas.module.items
    named = [with_article(items[key].name) for key in thing.items if key in items]
    return [*named, *([f"{thing.gold} gold"] if thing.gold else [])]


def share_gold(gold: int, among: Sequence[str]) -> list[JsonValue]:
    """Return loot entries that divide gold evenly; the first characters get the remainder."""
    if not gold or not among:
        return []
    each, left = divmod(gold, len(among))
    parts = ((who, each + (number < left)) for number, who in enumerate(among))
    return [{"gold": part, "to": who} for who, part in parts if part]


def open_things(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Unlock, pick or force ways; opening a thing takes what it holds."""
    for what, openers in _by_what(acts).items():
        way = narration.world.ways(place).get(what)
        if way is not None:
            _open_way(narration, place, uid, way, openers)
        elif (thing := _thing(narration, place, what)) is not None and (thing.gold or thing.items):
            take_things(narration, place, uid, [act for act in acts if act.act.what == what])
        elif thing is not None:
            _look_at(narration, place, uid, thing, openers)
        else:
            narration.tell(uid, _nothing(narration, thing, what), participants=openers)


def _open_way(narration: Narration, place: Place, uid: str, way: Exit, openers: Sequence[str]) -> None:
    """Try to open a way: with a key, thieves' tools or strength."""
    who = narration.step.table.name(openers[0])
    guard = narration.world.guard(place, way.label)
    if guard is not None:
        foes = guard.name or guard.monster
        names = {narration.atlas.uid("mon", guard.key): foes}
        text = narration.phrase("guarded", thing=way.label, foes=foes)
        narration.tell(uid, text, participants=openers, names=names)
        return
    if not narration.world.is_shut(place, way):
        narration.tell(uid, narration.phrase("already_open", way=way.label), participants=openers)
        return
    rolls: list[JsonValue] = []
    lucky, sheets = True, character_sheets(narration, openers)
    key = None if way.locked is None else narration.atlas.module.items.get(way.locked)
    if key is not None and any(
        narration.world.carries(holder, key.name) for holder in narration.step.table.together(uid)
    ):
        text = narration.phrase("unlocked", who=who, way=way.label, item=key.name)
    elif way.locked is not None:
        rolls_made = [checks.skill_check(sheet, _OPEN_LOCKS, rng=narration.rng) for sheet in sheets]
        lucky, rolls = any(check.success for check in rolls_made), dice(*rolls_made)
        text = narration.phrase("picked" if lucky else "locked", who=who, way=way.label)
    else:
        rolls_made = [checks.open_door(sheet, rng=narration.rng, bonus=len(sheets) - 1) for sheet in sheets]
        lucky, rolls = any(check.success for check in rolls_made), dice(*rolls_made)
        text = narration.phrase("forced" if lucky else "stuck", who=who, way=way.label)
    if not lucky:
        narration.tell(uid, text, participants=openers, play={"rolls": rolls})
        return
    narration.tell(
        uid,
        text,
        participants=openers,
        beats=[beat("opened", place.key, way.label)],
        gist=f"{way.label} is open now {as_whereabouts(place.name)}",
        names={uid: place.name},
        play={"rolls": rolls},
    )


def _closely(narration: Narration, lookers: Sequence[str], thing: str) -> str:
    """Return a phrase for a close look."""
    return narration.phrase("close_look", who=narration.step.table.name(lookers[0]), thing=thing)


def _nothing(narration: Narration, thing: Thing | None, what: str) -> str:
    """Return a phrase for a thing with no more to find, or no thing at all."""
    return (
        narration.phrase("nothing_there", what=what)
        if thing is None
        else narration.phrase("nothing_more", thing=thing.looks)
    )


def askers_of(acts: Iterable[PendingAct]) -> list[str]:
    """Return the characters behind some acts, each once."""
    return list(dict.fromkeys(act.who for act in acts))


def character_sheets(narration: Narration, who: Iterable[str]) -> list[Character]:
    """Return the sheets of these characters, as far as they have one."""
    return [sheet for uid in who if (sheet := narration.step.table.character(uid))]


def _by_what(acts: Sequence[PendingAct]) -> dict[str, list[str]]:
    """Group the acts by their object: each with its characters, once."""
    groups: dict[str, list[str]] = {}
    for act in acts:
        wanting = groups.setdefault(act.act.what or "", [])
        if act.who not in wanting:
            wanting.append(act.who)
    return groups


def _thing(narration: Narration, place: Place, what: str) -> Thing | None:
    """Find the thing an act means, by its key or its looks."""
    things = narration.world.things(place)
    return things.get(what) or next(
        (thing for thing in things.values() if _bare(thing.looks) == _bare(what)), None
    )


def _bare(looks: str) -> str:
    """Return a description in lower case without its article."""
    return without_article(looks.casefold().strip())


def _way(way: Exit) -> str:
    """Return a description of a way."""
    return way.looks or f"a hidden way, {way.label}"


def spring_trap(narration: Narration, uid: str, thing: Thing, who: str) -> bool:
    """Spring the trap on a thing unless it is noticed. Return whether the character can go on."""
    trap = thing.trap
    if trap is None or narration.world.has_beat("sprung", thing.key):
        return True
    sheet = narration.step.table.character(who)
    name = narration.step.table.name(who)
    beats = [beat("sprung", thing.key)]
    if sheet is None:
        return True
    noticed = skill_check(sheet, _FIND_TRAPS, rng=narration.rng)
    rolls = dice(noticed)
    if noticed.success:
        text = narration.phrase("trap_noticed", who=name, trap=trap.looks)
        narration.tell(uid, text, participants=[who], beats=beats, play={"rolls": rolls})
        return True
    saved = save(char_class(sheet.char_class).saves_at(sheet.level), trap.save, rng=narration.rng)
    rolls += dice(saved)
    if saved.success:
        text = narration.phrase("trap_dodged", who=name, trap=trap.looks)
        narration.tell(uid, text, participants=[who], beats=beats, play={"rolls": rolls})
        return True
    harm = roll(trap.damage, rng=narration.rng)
    hurt(
        narration.step,
        {who: max(harm.total, 1)},
        text=narration.phrase("trap", who=name, trap=trap.looks),
        place=uid,
        rolls=[*rolls, harm.text],
        play={"beats": beats},
    )
    return narration.step.table.can_act(who)
