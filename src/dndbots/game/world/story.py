"""The story as a whole: opening, happenings, progress, callbacks and the change of chapters."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.acts import Act
from dndbots.game.adventures.module import Happening, ModuleQuest, Person, Place
from dndbots.game.state.game_notes import LeadNote
from dndbots.game.state.pieces import TellableDeed
from dndbots.game.state.scene_tags import BEGINNING
from dndbots.game.state.step import Step
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.lore.leads import Lead, LeadFinder
from dndbots.game.world.narration import Narration, first_clause, to_the_party
from dndbots.game.world.places import tell_place
from dndbots.game.world.search import reveal_hidden
from dndbots.game.world.shared_knowledge import knowledge_at, scenes_that_know
from dndbots.game.world.talk import speak
from dndbots.game.world.world_state import STATE, World, beat
from dndbots.ids import DM

OPENING: Final = "opening"
OVER: Final = "over"
_MARK: Final = "mark"
_MARK_EVERY: Final = 6
_MARKS: Final = 10  # equal marks in a row end the chapter
_EPILOGUE: Final = 12  # rounds between the end of the main quest and that of the story
_LEADS_AFTER: Final = 40  # rounds without a hint, unless the story stands still
_LEADS_EVERY: Final = 5
_NOT_NEW: Final = (_MARK, "dark:", "searched:", "lit:", "echo:", "heard:", "looked:", "lead:")
_DAYS: Final = 3 * 24 * 60
_AGAIN: Final = 0.1  # chance per round that a repeatable happening repeats
_CALLBACK_ODDS: Final = 0.12
_GREETING_ODDS: Final = 0.3
_PROMISE_ODDS: Final = 0.4
_CALLBACK_AGE: Final = 10  # rounds


def is_story_open(world: World) -> bool:
    """Return whether the opening of this chapter was told."""
    return OPENING in world.table.beats


def open_story(narration: Narration) -> None:
    """Tell the opening of an adventure at its first place."""
    scenes = narration.step.table.scenes()
    uid = (
        narration.atlas.start
        if narration.atlas.start in scenes
        else next(iter(scenes), narration.atlas.start)
    )
    module = narration.atlas.module
    opening = module.opening or narration.phrase("chapter", title=module.title)
    tell_place(
        narration,
        uid,
        came=(),
        before=opening,
        beats=(OPENING,),
        minutes=_minutes_until(module.hour),
        act_id=_act(narration.atlas.chapter),
        act_state="begun",
    )


def _minutes_until(hour: str) -> int:
    """Return the minutes from the beginning of a game to the hour in which its adventure opens."""
    hours, _, minutes = hour.partition(":")
    opens = BEGINNING.replace(hour=int(hours), minute=int(minutes))
    return int((opens - BEGINNING).total_seconds() // 60) % (24 * 60)


def _act(chapter: int) -> str:
    """Return the id of a chapter as an act."""
    return f"chapter_{chapter + 1}"


# Happenings.


def run_happenings(narration: Narration) -> None:
    """Run every happening that is due, before the eyes of the party or unseen."""
    for happening in narration.atlas.module.happenings:
        gone = narration.world.happened(happening.key)
        if gone and (happening.once or narration.rng.random() >= _AGAIN):
            continue
        if narration.world.holds(happening.when):
            _happen(narration, happening)


def _happen(narration: Narration, happening: Happening) -> None:
    """Tell a happening where it is seen, and move people and foes."""
    scenes = narration.step.table.scenes()
    at = None if happening.at is None else narration.atlas.uid("loc", happening.at)
    beats = [beat("happened", happening.key)]
    if at is not None and at not in scenes:
        narration.tell_dm(happening.text, beats=beats, **_moves(narration, happening))
        return
    thread = happening.thread
    known = [at] if at is not None else scenes_that_know(narration, happening.when)
    if not known:
        return
    narration.tell(
        known[0] if len(known) == 1 else None,
        happening.text,
        witnesses=[who for place in known for who in narration.step.present(place)],
        beats=beats,
        topics=happening.topics,
        teaches=happening.teaches,
        gist=first_clause(happening.text),
        threads=[{"id": _thread(narration, happening), "kind": thread.kind, "text": thread.text}]
        if thread
        else [],
    )
    if happening.moves:
        narration.tell_dm(narration.phrase("offstage"), beats=(), **_moves(narration, happening))


def _thread(narration: Narration, happening: Happening) -> str:
    """Return the id of the thread that a happening leaves open."""
    return f"happening_{happening.key}_{narration.atlas.chapter + 1:03d}"


def _moves(narration: Narration, happening: Happening) -> dict[str, Any]:
    """Return facts and names for the people a happening moves. Only the DM learns them yet."""
    atlas, table = narration.atlas, narration.step.table
    facts: list[JsonValue] = []
    names: dict[str, str] = {}
    for person, place in happening.moves.items():
        npc, there = atlas.uid("npc", person), atlas.uid("loc", place)
        if not table.alive(npc):
            continue
        facts.append({"subject": npc, "op": "@", "object": there})
        named = {npc: atlas.module.people[person].seen_as, there: atlas.module.places[place].name}
        names |= {uid: name for uid, name in named.items() if uid not in table.names}
    return {"facts": facts, "names": names}


# Chapters.


def is_chapter_done(world: World) -> bool:
    """Return whether every quest has ended, the main quest a while ago, or nothing new happens."""
    quests = world.module.quests
    ended = bool(quests) and all(map(world.is_ended, quests))
    return ended or _is_epilogue_over(world) or _is_stuck(world)


def main_quests(world: World) -> list[ModuleQuest]:
    """Return the quests that the story is about."""
    return [quest for quest in world.module.quests.values() if quest.main]


def _is_epilogue_over(world: World) -> bool:
    """Return whether the main quests ended some rounds ago."""
    quests = main_quests(world)
    ended = [_ended_in(world.table, quest.key) for quest in quests]
    return bool(quests) and all(number is not None and world.round - number >= _EPILOGUE for number in ended)


def _ended_in(table: Table, quest: str) -> int | None:
    """Return the round in which a quest ended, if it did."""
    start = beat("ended_in", quest, "")
    return next((int(name.removeprefix(start)) for name in table.beats if name.startswith(start)), None)


def _is_stuck(world: World, marks: int = _MARKS) -> bool:
    """Return whether the last marks show the same progress."""
    newest = world.rounds() // _MARK_EVERY
    progress = _marks(world.table) if newest >= marks else {}
    recent = {progress.get(number) for number in range(newest - marks, newest + 1)}
    return len(recent) == 1 and None not in recent


def reveal_if_stuck(narration: Narration, place: Place, uid: str) -> None:
    """Reveal hidden things by chance if the story has stood still for a while."""
    if _is_stuck(narration.world, marks=1):
        reveal_hidden(narration, place, uid, narration.step.table.together(uid)[:1])


def tell_lead(narration: Narration, uid: str) -> bool:
    """Hint at what could be done next for the main quest, if the story stands still or takes long."""
    world = narration.world
    is_late = world.rounds() >= _LEADS_AFTER or _is_stuck(world, marks=1)
    if not is_late or world.rounds() % _LEADS_EVERY or uid in narration.step.table.fights:
        return False
    here = narration.atlas.key(uid) or ""
    for quest in main_quests(world):
        known = knowledge_at(narration, uid)
        lead = None if world.is_ended(quest.key) else LeadFinder(known, here, truth=world).for_quest(quest)
        if lead is not None:
            _hint(narration, uid, lead)
            return True
    return False


def _hint(narration: Narration, uid: str, lead: Lead) -> None:
    """Tell a lead to the characters at a place."""
    world, atlas = narration.world, narration.atlas
    place = world.module.places[lead.place]
    person, foes = world.module.people.get(lead.whom), world.module.foes.get(lead.whom)
    whom, target = "", None
    if person is not None:
        whom = narration.name_for(person, narration.step.table.together(uid))
        target = atlas.uid("npc", person.key)
    elif foes is not None:
        whom, target = foes.name or foes.monster, atlas.uid("mon", foes.key)
    thing = place.things.get(lead.what)
    text = narration.phrase(
        f"lead.{lead.verb.value}{'.here' if narration.atlas.uid('loc', lead.place) == uid else ''}",
        place=place.name,
        what=thing.looks if thing is not None else atlas.spelled(lead.what) or place.name,
        whom=whom or "somebody",
    )
    act = Act(verb=lead.verb, what=lead.what or None, target=target)
    there = atlas.uid("loc", place.key)
    narration.tell(
        uid,
        text,
        beats=[lead.beat],
        names={there: place.name, **({target: whom} if target else {})},
        play={"lead": LeadNote(place=there, act=act).model_dump(mode="json", exclude_defaults=True)},
    )


def _marks(table: Table) -> dict[int, str]:
    """Return the progress at each mark, by its number."""
    start = f"{_MARK}:"
    marks = (mark.removeprefix(start).split("/") for mark in table.beats if mark.startswith(start))
    return {int(number): came for number, came in marks}


def note_progress(narration: Narration) -> None:
    """Record a mark for the DM every few rounds: how many beats the story has."""
    world = narration.world
    number, rest = divmod(world.rounds(), _MARK_EVERY)
    if rest == 0:
        came = sum(_is_new(world, beat_name) for beat_name in world.table.beats)
        narration.tell_dm(narration.phrase("offstage"), beats=[beat(_MARK, str(number), str(came))])


def _is_new(world: World, beat_name: str) -> bool:
    """Return whether a beat counts as progress. Wandering monsters do not."""
    what, _, slug = beat_name.partition(":")
    if what in ("killed", "spared"):
        return any(world.atlas.is_written(kind, slug) for kind in ("mon", "npc"))
    return not beat_name.startswith(_NOT_NEW)


def close_chapter(narration: Narration, following: Atlas | None) -> None:
    """End the chapter and travel on to the next one, if there is one."""
    module = narration.atlas.module
    ended: dict[str, Any] = {"act_id": _act(narration.atlas.chapter), "act_state": "completed"}
    if following is None:
        text = narration.phrase("story_over", title=module.title)
        narration.tell(None, text, beats=[OVER], gist=f"{module.title} is over", **ended)
        return
    narration.tell(
        None, narration.phrase("chapter_over", title=module.title), gist=f"{module.title} is over", **ended
    )
    _travel(narration, following)


def _travel(narration: Narration, following: Atlas) -> None:
    """Travel for days, heal, and open the next chapter."""
    table, module, there = narration.step.table, following.module, following.start
    party = table.living()
    opening = module.opening or narration.phrase("chapter", title=module.title)
    narration.step.add(
        EventType.LOCATION_CHANGE,
        f"{narration.phrase('journey')} {opening}",
        place=there,
        participants=party,
        play={
            "chapter": following.chapter,
            "minutes": _DAYS,
            "gist": f"a new story began: {first_clause(opening)}"[:240],
        },
        names={there: module.places[module.start].name, **following.mentions(opening)},
        act_id=_act(following.chapter),
        act_state="begun",
        **_healed(narration.step, party),
    )
    world = World(following, table, round_=narration.step.round)
    tell_place(Narration(narration.screen, world, narration.book), there, came=(), beats=(OPENING,))


def _healed(step: Step, party: list[str]) -> dict[str, Any]:
    """Return the metadata that heals everybody.

    Everybody sees it: characters who believed a friend to be dying must learn otherwise.
    """
    table = step.table
    hp = {who: int(table.fact(who, "hp_max", 0)) - int(table.fact(who, "hp", 0)) for who in party}
    ailing = {
        who: list(
            dict.fromkeys(f"-{name}" for viewer in (DM, *party) for name in step.of(viewer).conditions(who))
        )
        for who in party
    }
    return {
        "hp_delta": {who: points for who, points in hp.items() if points > 0} or None,
        "conditions": {who: names for who, names in ailing.items() if names} or None,
    }


# Callbacks.


def tell_callback(narration: Narration, uid: str) -> bool:
    """Remind the characters at a place of something they all know. Return whether it did."""
    if narration.rng.random() >= _CALLBACK_ODDS:
        return False
    here = narration.step.table.together(uid)
    return _greeting(narration, uid, here) or _promise(narration, uid, here) or _memory(narration, uid, here)


def _promise(narration: Narration, uid: str, here: Sequence[str]) -> bool:
    """Remind of an open promise that everybody here knows."""
    if narration.rng.random() >= _PROMISE_ODDS:
        return False
    open_ones = [
        quest
        for quest in narration.atlas.module.quests.values()
        if narration.world.quest(quest.key) == "accepted"
        and all(narration.step.of(who).fact(narration.atlas.uid("qst", quest.key), STATE) for who in here)
    ]
    if not open_ones:
        return False
    quest = narration.rng.choice(open_ones)
    text = narration.phrase("still_to_do", quest=quest.name, goal=quest.goal or quest.name)
    narration.tell(uid, text, names={narration.atlas.uid("qst", quest.key): quest.name})
    return True


def _greeting(narration: Narration, uid: str, here: Sequence[str]) -> bool:
    """Bring greetings from an absent person whom everybody here knows by name."""
    place, world = narration.world.place(uid), narration.world
    if place is None or place.dark or place.foes or narration.rng.random() >= _GREETING_ODDS:
        return False
    absent = [
        person
        for person in narration.atlas.module.people.values()
        if world.met(person.key) and not world.killed(person.key) and world.where(person.key) != uid
    ]
    known = [person for person in absent if all(_by_name(narration, who, person) for who in here)]
    if not known:
        return False
    person = narration.rng.choice(known)
    npc = narration.atlas.uid("npc", person.key)
    narration.tell(uid, narration.phrase("greeting_from", npc=person.name), names={npc: person.name})
    return True


def _by_name(narration: Narration, who: str, person: Person) -> bool:
    """Return whether a character knows a person by name."""
    return narration.step.of(who).names.get(narration.atlas.uid("npc", person.key)) == person.name


def _memory(narration: Narration, uid: str, here: Sequence[str]) -> bool:
    """Retell an old deed that everybody here knows."""
    deeds = [deed for deed in narration.step.table.deeds if _is_known(narration, deed, here)]
    if not deeds:
        return False
    deed = narration.rng.choice(deeds)
    names = {who: narration.step.of(here[0]).names[who] for who in deed.about}
    beats = [beat("echo", deed.event_id)]
    gist = to_the_party(deed.gist)
    person = next(
        (
            person
            for person in narration.world.people(uid)
            if narration.atlas.uid("npc", person.key) in deed.present
        ),
        None,
    )
    if person is not None and narration.world.met(person.key):
        text = narration.phrase("remembered", npc=person.name, deed=gist)
        speak(narration, uid, person, text, beats=beats, names=names)
    else:
        narration.tell(uid, narration.phrase("thread", text=gist), beats=beats, names=names)
    return True


def _is_known(narration: Narration, deed: TellableDeed, here: Sequence[str]) -> bool:
    """Return whether a deed is old enough to retell and known to everybody here."""
    if (
        narration.step.round - deed.round < _CALLBACK_AGE
        or beat("echo", deed.event_id) in narration.step.table.beats
    ):
        return False
    if DM in deed.present and any(deed.is_news_to(who) for who in here):
        return False
    return all(narration.step.knows(who, uid) for who in here for uid in deed.about)
