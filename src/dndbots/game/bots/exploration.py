"""Exploration: where a character wants to go, on the map it has learned so far."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.bots.journal import MapMemory, opened_way
from dndbots.game.bots.lore import DEEP, hint_words
from dndbots.game.bots.mind import Mind

# Both halves of a split party count from the round they parted, so they search in the same rounds.
_SEEK_EVERY: Final = 18
_SEEK_FOR: Final = 12
_GIVE_UP: Final = 150
_WAIT: Final = 4
# Rounds spent on closed doors, then as many on walking.
_DOORS: Final = 10
# Every so many rounds, spend some rounds on going back to quest givers.
_REPORT_EVERY: Final = 20
_REPORT_FOR: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A way to take from here and its reason: explore, lead, seek, home, back, unfinished or wander."""

    way: str
    why: str
    score: float = 0.0


class Explorer:
    """Chooses where a character goes next."""

    def __init__(self, mind: Mind) -> None:
        self.mind, self.chart = mind, MapMemory(mind.table)

    def course(self) -> Course | None:
        """Return the next way to take; None if there is none."""
        for choose in (
            self._home,
            self._lead,
            self._seek,
            self._report,
            self._explore,
            self._unfinished,
            self._back,
            self._make_sure,
            self._wander,
        ):
            found = choose()
            if found is not None:
                return found
        return None

    @cached_property
    def balked(self) -> list[str]:
        """Ways from here that somebody of the party recently failed to take and that are not open since."""
        mind = self.mind
        known, us = mind.table.ways.get(mind.here, {}), (mind.who, *mind.friends)
        found: dict[str, None] = {}
        for heard in mind.recent:
            if heard.place != mind.here:
                continue
            for beat in heard.play.get("beats", ()):
                found.pop(opened_way(beat), None)
            tried = heard.verb == Verb.GO.value and heard.round < mind.round and heard.source in us
            if tried and heard.what in mind.sights.ways:
                found[str(heard.what)] = None
        return [label for label in found if label not in known]

    def open_ways(self) -> list[str]:
        """Return the ways from here that nobody just failed to take."""
        return [label for label in self.mind.sights.ways if label not in self.balked]

    def _towards(self, goal: str, why: str) -> Course | None:
        """Return the first way towards a place."""
        first = next((way for place, way in self._reach if place == goal), None)
        return None if first is None else Course(way=first, why=why)

    def _home(self) -> Course | None:
        """Head for a safe place when somebody is badly hurt."""
        mind = self.mind
        everybody = [mind.who, *mind.friends]
        worst = min(map(mind.health, everybody))
        if worst > mind.by_temper(0.35, brave=0.2, careful=0.5, kind=0.45) or mind.sights.safe:
            return None
        for place, first in self._reach:
            sights = mind.table.sights.get(place)
            if sights is not None and sights.safe:
                return Course(way=first, why="home")
        return None

    def last_seen(self, uid: str) -> tuple[int, str | None]:
        """Return the round and the place in which somebody was last seen."""
        mind = self.mind
        for heard in reversed(mind.recent):
            if uid in heard.people and heard.place is not None:
                return heard.round, heard.place
        for deed in reversed(mind.table.deeds):
            if uid in deed.present and deed.place is not None:
                return deed.round, deed.place
        return 0, mind.table.place(uid)

    @cached_property
    def seeks(self) -> str | None:
        """The place where absent friends parted from us, while it is time to look for them."""
        mind = self.mind
        for uid in mind.apart:
            seen, place = self.last_seen(uid)
            gone = mind.round - seen
            patience = int(mind.by_temper(5, kind=3, careful=3, brave=6, greedy=7))
            looking = patience <= gone % _SEEK_EVERY <= patience + _SEEK_FOR
            if place is not None and looking and gone < _GIVE_UP:
                # Who was not found where the party parted is looked for where everybody's way began.
                return place if gone < _SEEK_EVERY else next(iter(mind.table.sights), place)
        return None

    def waits(self) -> bool:
        """Return whether the party parted here and the others may still come."""
        mind = self.mind
        return self.seeks == mind.here and mind.round - mind.arrived <= _WAIT and mind.lead is None

    def _seek(self) -> Course | None:
        """Head for where the party parted."""
        place = self.seeks
        return None if place is None or place == self.mind.here else self._towards(place, "seek")

    def _lead(self) -> Course | None:
        """Head for where the DM's hint points, and take the way it names."""
        lead = self.mind.lead
        if lead is None:
            return None
        if lead.place != self.mind.here:
            return self._towards(lead.place, "lead")
        way = lead.act.what if lead.act.verb is Verb.GO else None
        return Course(way=way, why="lead") if way in self.mind.sights.ways and way is not None else None

    def _report(self) -> Course | None:
        """Head for the giver of a quest as soon as it seems done."""
        mind = self.mind
        for quest, place in self._waiting.items():
            for heard in reversed(mind.recent):
                if heard.place == place:
                    break  # they have been there since
                if heard.says("quest_id") == quest:
                    return self._towards(place, "back")
        return None

    def _back(self) -> Course | None:
        """Revisit waiting givers from time to time: a quest may need more than it seems."""
        if self.mind.round % _REPORT_EVERY >= _REPORT_FOR:
            return None
        courses = (self._towards(place, "back") for place in self._waiting.values())
        return next(filter(None, courses), None)

    @cached_property
    def _waiting(self) -> dict[str, str]:
        """Map quests that seem done to the places of their givers."""
        table, found = self.mind.table, {}
        for quest, giver in self.mind.quests.to_report.items():
            place = table.place(giver)
            if place is not None and place != self.mind.here:
                found[quest] = place
        return found

    def _explore(self) -> Course | None:
        """Choose the most attractive new way from here, or head for the nearest one elsewhere."""
        fresh = self.fresh()
        if fresh:
            return max(map(self.weighed, fresh), key=lambda course: course.score)
        return self._beyond

    def fresh(self) -> list[str]:
        """Return the ways from here that lead somewhere new and are not shut."""
        here = self.mind.here
        ways = [label for label in self.chart.new(here) if label not in self.balked]
        return [label for label in ways if not self.chart.shut(here, label)]

    @cached_property
    def _beyond(self) -> Course | None:
        """The way to the nearest place with a new way."""
        for place, first in self._reach:
            if any(not self.chart.shut(place, label) for label in self.chart.new(place)):
                return Course(way=first, why="explore")
        return None

    @cached_property
    def _reach(self) -> list[tuple[str, str]]:
        """Reachable places, nearest first, each with the way to take from here."""
        found = self.chart.reach(self.mind.here)
        return [(place, first) for place, first in found if first is not None and first not in self.balked]

    @cached_property
    def seen_it_all(self) -> bool:
        """True if there is nowhere new to go."""
        return not self.fresh() and self._beyond is None

    def _unfinished(self) -> Course | None:
        """Head back to where something is left to do, or to a closed door."""
        for place, first in self._reach:
            if self.mind.left_undone(place):
                return Course(way=first, why="unfinished")
        for place, first in self._reach if self.tries_doors else ():
            if any(self.chart.shut(place, label) for label in self.chart.untried(place)):
                return Course(way=first, why="unfinished")
        return None

    @property
    def tries_doors(self) -> bool:
        """True if it is time to try closed doors: nothing new is left, every other few rounds."""
        return self.seen_it_all and self.mind.round // _DOORS % 2 == 0

    def tries(self, label: str) -> int:
        """Return how often somebody recently tried to open a way here."""
        here = (heard for heard in self.mind.recent if heard.place == self.mind.here)
        return sum(heard.verb == Verb.OPEN.value and heard.what == label for heard in here)

    def weighed(self, label: str) -> Course:
        """Return a course with a score of how much the way attracts this character."""
        mind, words = self.mind, hint_words(label)
        hints = len(words & self.hints)
        score = 1.0 + mind.rng.random() * 1.5 + 2.0 * min(hints, 2)
        if words & DEEP:
            score += mind.by_temper(0.0, brave=1.0, curious=0.7, greedy=0.5, careful=-1.2, kind=-0.3)
        if any(label in heard.event.content for heard in mind.recent if heard.source in mind.friends):
            score += 0.8
        return Course(way=label, why="lead" if hints else "explore", score=score)

    @cached_property
    def hints(self) -> frozenset[str]:
        """Words from topics, accepted quests and places it only heard of."""
        table, quests = self.mind.table, {*self.mind.quests.accepted}
        elsewhere = (uid for uid in table.names if uid.startswith("loc_") and uid not in table.sights)
        texts = [*table.topics, *(table.names[uid] for uid in (*elsewhere, *quests) if uid in table.names)]
        texts += [deed.gist for deed in table.deeds if not quests.isdisjoint(deed.about)]
        return frozenset().union(*map(hint_words, texts))

    def _make_sure(self) -> Course | None:
        """Take a way that was never taken because its end seemed known."""
        mind = self.mind
        for place, first in ((mind.here, ""), *self._reach):
            untried = [label for label in self.chart.untried(place) if not self.chart.shut(place, label)]
            ways = [first] if first else [label for label in untried if label not in self.balked]
            if untried and ways:
                return Course(way=ways[0], why="explore")
        return None

    def _wander(self) -> Course | None:
        """Head for the least visited place."""
        mind, visits = self.mind, self.mind.table.visits
        untried = [label for label in self.chart.untried(mind.here) if label not in self.balked]
        if untried and (not self._reach or mind.chance(0.25)):
            return Course(way=mind.rng.choice(untried), why="wander")
        if not self._reach:
            return None
        _, way = min(self._reach, key=lambda found: visits.get(found[0], 0))
        return Course(way=way, why="wander")
