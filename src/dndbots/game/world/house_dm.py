"""The house DM: runs an adventure from its module and the table, without a model.

It holds no state of the game: everything that happened is on the table. It only caches what it builds from
modules.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dndbots.errors import InvalidSetting
from dndbots.events import GameEvent
from dndbots.game.acts import Verb
from dndbots.game.adventures.library import OPEN, find_chapter
from dndbots.game.adventures.module import Module, Place
from dndbots.game.phrases import Phrasebook, house_phrases
from dndbots.game.referee import roll_death_saves
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.dealings.bargains import settle_bargains
from dndbots.game.world.dealings.remarks import answer_remarks
from dndbots.game.world.dealings.trade import answer_purchases, answer_sales, take_orders
from dndbots.game.world.dealings.uses import tell_uses
from dndbots.game.world.encounters import (
    answer_attack,
    answer_parley,
    hand_out_spoils,
    meet_foes,
    note_cleared,
    send_wanderers,
)
from dndbots.game.world.narration import Narration, Screen
from dndbots.game.world.newcomers import fill_seats
from dndbots.game.world.places import (
    events_since_dm,
    find_arrivals,
    find_waiting_acts,
    is_new_to_any,
    tell_changes,
    tell_fight,
    tell_place,
    tell_small_thing,
)
from dndbots.game.world.quests import accept_quests, advance_quests, refuse_quests
from dndbots.game.world.rest import light_scene, take_rest
from dndbots.game.world.search import (
    look_at_things,
    open_things,
    recover_belongings,
    search_place,
    take_things,
)
from dndbots.game.world.story import (
    OVER,
    close_chapter,
    is_chapter_done,
    is_story_open,
    note_progress,
    open_story,
    reveal_if_stuck,
    run_happenings,
    tell_callback,
    tell_lead,
)
from dndbots.game.world.talk import answer_questions, run_people, thank_givers
from dndbots.game.world.world_state import World
from dndbots.ids import name_from_uid

_MOST_ATLASES: Final = 4

Modules = Callable[[int], Module | None]
ActAnswer = Callable[[Narration, Place, str, Sequence[PendingAct]], None]

# Answered in this order: words first, rest last.
_ANSWERS: Final[Mapping[Verb, ActAnswer]] = {
    Verb.ATTACK: answer_attack,
    Verb.PARLEY: answer_parley,
    Verb.ACCEPT: accept_quests,
    Verb.REFUSE: refuse_quests,
    Verb.ASK: answer_questions,
    Verb.TELL: answer_remarks,
    Verb.BUY: answer_purchases,
    Verb.SELL: answer_sales,
    Verb.LOOK: look_at_things,
    Verb.SEARCH: search_place,
    Verb.OPEN: open_things,
    Verb.TAKE: take_things,
    Verb.REST: take_rest,
}


class HouseDM:
    """A DM that runs any module. `phrases` are the words it uses; by default those of the house."""

    has_tools = False  # it acts directly

    def __init__(self, phrases: Phrasebook | None = None) -> None:
        self._book = phrases
        self._atlases: dict[int, Atlas] = {}

    def run(self, screen: Screen) -> None:
        """Draft the DM's step: answer acts, show places, and move the story on."""
        if is_open_game(screen):
            self.keep(screen)
            if not screen.step.events:
                self.narration_for(screen).tell_dm("Time passes.", beats=(), aside=True)
            return
        table, narration = screen.table, self.narration_for(screen)
        world = narration.world
        since = events_since_dm(table, screen.step.round)
        waiting = list(table.waiting) or find_waiting_acts(since)
        roll_death_saves(screen.step)
        fill_seats(narration)
        if not is_story_open(world):
            open_story(narration)
        elif (
            OVER not in table.beats
            and table.fights.keys().isdisjoint(table.scenes())
            and is_chapter_done(world)
        ):
            close_chapter(narration, self._atlas(table, table.chapter + 1, screen.module))
            return
        self._play(narration, waiting, since)

    def narration_for(self, screen: Screen) -> Narration:
        """Return a narration that drafts events into the step, as the world is now."""
        table = screen.table
        atlas = self._atlas(table, table.chapter, screen.module)
        if atlas is None:
            raise InvalidSetting("chapter", table.chapter, reason="does not exist in this game's adventure")
        world = World(atlas, table, round_=screen.step.round)
        minutes = 0 if screen.step.events else None
        return Narration(screen, world, self._book or house_phrases(), minutes=minutes)

    def keep(self, screen: Screen) -> None:
        """Draft only what the rules demand: deaths, newcomers, views of new places, and rest.

        Used in an open game, where somebody else answers for the world.
        """
        narration = self.narration_for(screen)
        since = events_since_dm(screen.table, screen.step.round)
        waiting = list(screen.table.waiting) or find_waiting_acts(since)
        roll_death_saves(screen.step)
        fill_seats(narration)
        if not is_story_open(narration.world):
            open_story(narration)
        came = find_arrivals(since)
        for uid in screen.table.scenes():
            if uid in came or is_new_to_any(narration, uid, screen.table.together(uid)):
                tell_place(narration, uid, came=came.get(uid, ()))
            answer_acts(narration, uid, [pending for pending in waiting if pending.act.verb is Verb.REST])

    def leads(self, table: Table, place: str, way: str) -> str | None:
        """Return where a way leads, if it can be taken."""
        atlas = self._atlas(table, table.chapter, lambda number: _module_of(table, number))
        return None if atlas is None else World(atlas, table).destination(place, way)

    def called(self, table: Table, place: str) -> str:
        """Return the name of a place."""
        atlas = self._atlas(table, table.chapter, lambda number: _module_of(table, number))
        scene = None if atlas is None else World(atlas, table).place(place)
        return scene.name if scene is not None else name_from_uid(place)

    def _play(self, narration: Narration, waiting: Sequence[PendingAct], since: Sequence[GameEvent]) -> None:
        """Play every scene, then happenings, quests and small talk of the place."""
        came = find_arrivals(since)
        thank_givers(narration, since)
        tell_uses(narration, since)
        for uid in narration.step.table.scenes():
            play_scene(narration, uid, waiting, came.get(uid, ()))
        run_happenings(narration)
        for uid in narration.step.table.scenes():
            narration.enter(uid)
            tell_changes(narration, uid)  # a happening may have moved people away
        advance_quests(narration)
        note_progress(narration)
        for uid in narration.step.table.scenes():
            narration.enter(uid)
            if tell_lead(narration, uid):
                continue
            if (
                not narration.has_told_at(uid)
                and uid not in narration.step.table.fights
                and not tell_callback(narration, uid)
            ):
                tell_small_thing(narration, uid)
        if not narration.step.events:
            tell_fight(narration)

    def _atlas(self, table: Table, chapter: int, modules: Modules) -> Atlas | None:
        """Return the atlas of a chapter, cached; None after the last chapter."""
        if chapter not in self._atlases:
            module = modules(chapter)
            if module is None:
                return None
            while len(self._atlases) >= _MOST_ATLASES:
                del self._atlases[next(iter(self._atlases))]
            uids = "keys" if table.game is None else table.game.uids
            self._atlases[chapter] = Atlas(module, chapter, uids=uids)
        return self._atlases[chapter]


def play_scene(narration: Narration, uid: str, waiting: Sequence[PendingAct], came: Sequence[str]) -> None:
    """Play one place: show it to arrivals, answer acts, then let foes and people act."""
    table, place = narration.step.table, narration.world.place(uid)
    here = table.together(uid)
    narration.enter(uid)
    if place is None or not any(map(table.can_act, here)):
        return
    if uid not in table.fights:
        light_scene(narration, place, uid)
    if came or is_new_to_any(narration, uid, here):
        tell_place(narration, uid, came=came)
    acts = [pending for pending in waiting if pending.place == uid]
    answer_acts(narration, uid, acts)
    if uid in table.fights:
        return
    hand_out_spoils(narration, place, uid)
    recover_belongings(narration, uid)
    note_cleared(narration, place, uid)
    meet_foes(narration, place, uid)
    if uid in table.fights:
        return
    run_people(narration, uid, busy=narration.has_told_at(uid))
    tell_changes(narration, uid)
    reveal_if_stuck(narration, place, uid)
    send_wanderers(narration, place, uid)


def _module_of(table: Table, number: int) -> Module | None:
    return None if table.game is None else find_chapter(table.game.module, table.game.seed, number)


def is_open_game(screen: Screen) -> bool:
    """Return whether the game is an open one, whose story somebody else makes up."""
    return getattr(screen.module(0), "key", "") == OPEN


def answer_acts(narration: Narration, uid: str, waiting: Sequence[PendingAct]) -> None:
    """ActAnswer all acts that wait at a place. In a fight only a parley is answered."""
    table = narration.step.table
    place = narration.world.place(uid)
    if place is None:
        return
    acts = [
        pending
        for pending in waiting
        if pending.place == uid == table.place(pending.who) and table.can_act(pending.who)
    ]
    if uid not in table.fights:
        acts = settle_bargains(narration, uid, take_orders(narration, uid, acts))
    for verb, answered in _ANSWERS.items():
        matching = [pending for pending in acts if pending.act.verb is verb]
        if matching and (verb is Verb.PARLEY or uid not in table.fights):
            answered(narration, place, uid, matching)
