"""The dungeon master of the house: runs an adventure from its module and the table, and needs no model.

It keeps nothing of the game: all that happened is on the table. What it keeps is made from modules alone.
"""

from collections.abc import Callable, Sequence
from typing import Final

from dndbots.errors import InvalidSetting
from dndbots.events import GameEvent
from dndbots.game.acts import Verb
from dndbots.game.adventures.values import Module
from dndbots.game.agents import Screen
from dndbots.game.house.answers import answer
from dndbots.game.house.atlas import Atlas
from dndbots.game.house.company import fill_seats
from dndbots.game.house.echoes import echo
from dndbots.game.house.encounters import meet, spoils, wander
from dndbots.game.house.offers import advance
from dndbots.game.house.phrases import Phrasebook, house_phrases
from dndbots.game.house.places import (
    arrivals,
    asked_in,
    is_new_to_any,
    since_the_dm,
    tell_changes,
    tell_fight,
    tell_place,
    tell_something_small,
)
from dndbots.game.house.resting import see_to_the_light
from dndbots.game.house.story import OVER, close, happen, help_along, is_done, is_open, mark, open_story
from dndbots.game.house.talking import tend, thank
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import World
from dndbots.game.pieces import Waiting
from dndbots.game.referee import dying
from dndbots.game.table import Table
from dndbots.ids import name_from_uid

_MOST_ATLASES: Final = 4

Modules = Callable[[int], Module | None]


class HouseDM:
    """Runs any module. `phrases` are its words, those of the house if none are given."""

    has_tools = False  # it has hands

    def __init__(self, phrases: Phrasebook | None = None) -> None:
        self._book = phrases
        self._atlases: dict[int, Atlas] = {}

    def run(self, screen: Screen) -> None:
        """Drafts the DM's step: what the world answers, what it shows, and what comes about in it."""
        if is_made_up(screen):
            self.keep(screen)
            if not screen.step.events:
                self.telling(screen).secretly("Time passes.", beats=())
            return
        table, telling = screen.table, self.telling(screen)
        world = telling.world
        since = since_the_dm(table, screen.step.round)
        waiting = list(table.waiting) or asked_in(since)
        dying(screen.step)
        fill_seats(telling)
        if not is_open(world):
            open_story(telling)
        elif OVER not in table.beats and table.fights.keys().isdisjoint(table.scenes()) and is_done(world):
            close(telling, self._atlas(table, table.chapter + 1, screen.module))
            return
        self._play(telling, waiting, since)

    def telling(self, screen: Screen) -> Telling:
        """What a step is drafted with, as the world is at this moment."""
        table = screen.table
        atlas = self._atlas(table, table.chapter, screen.module)
        if atlas is None:
            raise InvalidSetting("chapter", table.chapter, reason="is in no module of this game")
        world = World(atlas, table, round_=screen.step.round)
        minutes = 0 if screen.step.events else None
        return Telling(screen, world, self._book or house_phrases(), minutes=minutes)

    def keep(self, screen: Screen) -> None:
        """Drafts only what the rules ask for: who dies, who joins, what those see who come, and sleep.

        For an open game, in which somebody else answers for the world.
        """
        telling = self.telling(screen)
        since = since_the_dm(screen.table, screen.step.round)
        waiting = list(screen.table.waiting) or asked_in(since)
        dying(screen.step)
        fill_seats(telling)
        if not is_open(telling.world):
            open_story(telling)
        came = arrivals(since)
        for uid in screen.table.scenes():
            if uid in came or is_new_to_any(telling, uid, screen.table.together(uid)):
                tell_place(telling, uid, came=came.get(uid, ()))
            answer(telling, uid, [one for one in waiting if one.act.verb is Verb.REST])

    def leads(self, table: Table, place: str, way: str) -> str | None:
        """Where a way leads, if it can be gone."""
        atlas = self._atlas(table, table.chapter, lambda number: _module_of(table, number))
        return None if atlas is None else World(atlas, table).leads(place, way)

    def called(self, table: Table, place: str) -> str:
        """What the adventure calls a place."""
        atlas = self._atlas(table, table.chapter, lambda number: _module_of(table, number))
        found = None if atlas is None else World(atlas, table).place(place)
        return found.name if found is not None else name_from_uid(place)

    def _play(self, telling: Telling, waiting: Sequence[Waiting], since: Sequence[GameEvent]) -> None:
        came = arrivals(since)
        thank(telling, since)
        for uid in telling.step.table.scenes():
            play_scene(telling, uid, waiting, came.get(uid, ()))
        happen(telling)
        for uid in telling.step.table.scenes():
            tell_changes(telling, uid)  # of those whom it took away
        advance(telling)
        mark(telling)
        for uid in telling.step.table.scenes():
            if not telling.told_at(uid) and uid not in telling.step.table.fights and not echo(telling, uid):
                tell_something_small(telling, uid)
        if not telling.step.events:
            tell_fight(telling)

    def _atlas(self, table: Table, chapter: int, modules: Modules) -> Atlas | None:
        if chapter not in self._atlases:
            module = modules(chapter)
            if module is None:
                return None
            while len(self._atlases) >= _MOST_ATLASES:
                del self._atlases[next(iter(self._atlases))]
            uids = "keys" if table.game is None else table.game.uids
            self._atlases[chapter] = Atlas(module, chapter, uids=uids)
        return self._atlases[chapter]


def play_scene(telling: Telling, uid: str, waiting: Sequence[Waiting], came: Sequence[str]) -> None:
    """One place: who came sees it, who asked is answered, and those who are there do what they want to."""
    table, place = telling.step.table, telling.world.place(uid)
    here = table.together(uid)
    if place is None or not any(map(table.can_act, here)):
        return
    if uid not in table.fights:
        see_to_the_light(telling, place, uid)
    if came or is_new_to_any(telling, uid, here):
        tell_place(telling, uid, came=came)
    asked = [one for one in waiting if one.place == uid]
    answer(telling, uid, asked)
    if uid in table.fights:
        return
    spoils(telling, place, uid)
    meet(telling, place, uid)
    if uid in table.fights:
        return
    tend(telling, uid, busy=telling.told_at(uid))
    tell_changes(telling, uid)
    help_along(telling, place, uid)
    wander(telling, place, uid)


def _module_of(table: Table, number: int) -> Module | None:
    from dndbots.game.seating import module_of  # who sits down knows the house, not the other way round

    return None if table.game is None else module_of(table.game, number)


def is_made_up(screen: Screen) -> bool:
    """Whether the game is an open one, whose story somebody else makes up."""
    from dndbots.game.seating import OPEN  # as above

    return getattr(screen.module(0), "key", "") == OPEN
