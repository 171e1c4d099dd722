"""The story as a whole: how a chapter opens, what happens by itself, and what comes after it."""

from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.adventures.values import Happening, Place
from dndbots.game.house.atlas import Atlas
from dndbots.game.house.places import tell_place
from dndbots.game.house.searching import reveal
from dndbots.game.house.shared import known_at
from dndbots.game.house.telling import Telling, clause
from dndbots.game.house.world import World, beat
from dndbots.game.steps import Step
from dndbots.game.table import Table
from dndbots.ids import DM

OPENING: Final = "opening"
OVER: Final = "over"
_MARK: Final = "mark"
_MARK_EVERY: Final = 20
_MARKS: Final = 3  # without anything new between them, the story moves on
_NOT_NEW: Final = (_MARK, "dark:", "searched:", "lit:", "echo:", "heard:", "looked:")
_DAYS: Final = 3 * 24 * 60
_AGAIN: Final = 0.1  # how often something happens that happens more than once


def is_open(world: World) -> bool:
    return OPENING in world.table.beats


def open_story(telling: Telling) -> None:
    """The first words of an adventure, at the place where it begins."""
    scenes = telling.step.table.scenes()
    uid = telling.atlas.start if telling.atlas.start in scenes else next(iter(scenes), telling.atlas.start)
    module = telling.atlas.module
    opening = module.opening or telling.words("chapter", title=module.title)
    tell_place(
        telling,
        uid,
        came=(),
        before=opening,
        beats=(OPENING,),
        act_id=_act(telling.atlas.chapter),
        act_state="begun",
    )


def _act(chapter: int) -> str:
    return f"chapter_{chapter + 1}"


# What happens by itself.


def happen(telling: Telling) -> None:
    """Whatever is due happens: before the eyes of those who are there, or unseen."""
    for one in telling.atlas.module.happenings:
        gone = telling.world.happened(one.key)
        if gone and (one.once or telling.rng.random() >= _AGAIN):
            continue
        if telling.world.true(one.when):
            _happen(telling, one)


def _happen(telling: Telling, one: Happening) -> None:
    scenes = telling.step.table.scenes()
    at = None if one.at is None else telling.atlas.uid("loc", one.at)
    beats = [beat("happened", one.key)]
    if at is not None and at not in scenes:
        telling.secretly(one.text, beats=beats, **_moves(telling, one))
        return
    thread = one.thread
    known = [at] if at is not None else known_at(telling, one.when)
    if not known:
        return
    telling.tell(
        known[0] if len(known) == 1 else None,
        one.text,
        witnesses=[who for place in known for who in telling.step.present(place)],
        beats=beats,
        topics=one.topics,
        teaches=one.teaches,
        gist=clause(one.text),
        threads=[{"id": _thread(telling, one), "kind": thread.kind, "text": thread.text}] if thread else [],
    )
    if one.moves:
        telling.secretly(telling.words("offstage"), beats=(), **_moves(telling, one))


def _thread(telling: Telling, one: Happening) -> str:
    return f"happening_{one.key}_{telling.atlas.chapter + 1:03d}"


def _moves(telling: Telling, one: Happening) -> dict[str, Any]:
    """Who is elsewhere from now on. Only those who see them know it."""
    atlas, table = telling.atlas, telling.step.table
    facts: list[JsonValue] = []
    names: dict[str, str] = {}
    for person, place in one.moves.items():
        npc, there = atlas.uid("npc", person), atlas.uid("loc", place)
        if not table.alive(npc):
            continue
        facts.append({"subject": npc, "op": "@", "object": there})
        named = {npc: atlas.module.people[person].seen_as, there: atlas.module.places[place].name}
        names |= {uid: name for uid, name in named.items() if uid not in table.names}
    return {"facts": facts, "names": names}


# From chapter to chapter.


def is_done(world: World) -> bool:
    """Whether there is nothing left to do here, or nothing has come of anything for a long time."""
    quests = world.module.quests
    ended = bool(quests) and all(map(world.is_ended, quests))
    return ended or _is_stuck(world)


def _is_stuck(world: World, marks: int = _MARKS) -> bool:
    """Whether so many marks say the same."""
    newest = world.rounds() // _MARK_EVERY
    made = _marks(world.table) if newest >= marks else {}
    found = {made.get(number) for number in range(newest - marks, newest + 1)}
    return len(found) == 1 and None not in found


def help_along(telling: Telling, place: Place, uid: str) -> None:
    """Where the story has stood still for a while, chance shows what was not found."""
    if _is_stuck(telling.world, marks=1):
        reveal(telling, place, uid, telling.step.table.together(uid)[:1])


def _marks(table: Table) -> dict[int, str]:
    """How far the story had come at each mark."""
    start = f"{_MARK}:"
    marks = (one.removeprefix(start).split("/") for one in table.beats if one.startswith(start))
    return {int(number): came for number, came in marks}


def mark(telling: Telling) -> None:
    """Now and then the DM notes how far the story has come, to see later whether it still moves."""
    world = telling.world
    number, rest = divmod(world.rounds(), _MARK_EVERY)
    if rest == 0:
        came = sum(_is_new(world, one) for one in world.table.beats)
        telling.secretly(telling.words("offstage"), beats=[beat(_MARK, str(number), str(came))])


def _is_new(world: World, one: str) -> bool:
    """Whether a beat is of the story's own. Those who only came by are not."""
    what, _, slug = one.partition(":")
    if what in ("killed", "spared"):
        return any(world.atlas.is_written(kind, slug) for kind in ("mon", "npc"))
    return not one.startswith(_NOT_NEW)


def close(telling: Telling, following: Atlas | None) -> None:
    """The chapter is over. The road goes on to the next one, if there is one."""
    module = telling.atlas.module
    ended: dict[str, Any] = {"act_id": _act(telling.atlas.chapter), "act_state": "completed"}
    if following is None:
        text = telling.words("story_over", title=module.title)
        telling.tell(None, text, beats=[OVER], gist=f"{module.title} is over", **ended)
        return
    telling.tell(
        None, telling.words("chapter_over", title=module.title), gist=f"{module.title} is over", **ended
    )
    _travel(telling, following)


def _travel(telling: Telling, following: Atlas) -> None:
    """Days on the road, in which wounds heal; then the new place, and what is told first there."""
    table, module, there = telling.step.table, following.module, following.start
    party = table.living()
    opening = module.opening or telling.words("chapter", title=module.title)
    telling.step.add(
        EventType.LOCATION_CHANGE,
        f"{telling.words('journey')} {opening}",
        place=there,
        participants=party,
        play={
            "chapter": following.chapter,
            "minutes": _DAYS,
            "gist": f"a new story began: {clause(opening)}"[:240],
        },
        names={there: module.places[module.start].name, **following.mentions(opening)},
        act_id=_act(following.chapter),
        act_state="begun",
        **_healed(telling.step, party),
    )
    world = World(following, table, round_=telling.step.round)
    tell_place(Telling(telling.screen, world, telling.book), there, came=(), beats=(OPENING,))


def _healed(step: Step, party: list[str]) -> dict[str, Any]:
    """Everybody is well again, and everybody sees it: also those who had left them for dead."""
    table = step.table
    hp = {who: int(table.fact(who, "hp_max", 0)) - int(table.fact(who, "hp", 0)) for who in party}
    ailing = {
        who: list(dict.fromkeys(f"-{name}" for one in (DM, *party) for name in step.of(one).conditions(who)))
        for who in party
    }
    return {
        "hp_delta": {who: points for who, points in hp.items() if points > 0} or None,
        "conditions": {who: names for who, names in ailing.items() if names} or None,
    }
