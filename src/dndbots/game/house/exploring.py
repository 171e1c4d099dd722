"""Where to go: what draws a character where, on the map that it has learnt so far."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.house.charts import Chart, opened
from dndbots.game.house.looks import DEEP, words_of
from dndbots.game.house.minds import Mind

# Two parts of a party look for each other in the same rounds, since both count from when they parted.
_SEEK_EVERY: Final = 24
_SEEK_FOR: Final = 12
_GIVE_UP: Final = 150
_WAIT: Final = 8
# So many rounds for doors that would not open, and so many for walking on.
_DOORS: Final = 10
# Who may still be waiting for news is seen again every so often, for so many rounds.
_REPORT_EVERY: Final = 20
_REPORT_FOR: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A way to take from here, and why: explore, lead, seek, home, back, unfinished or wander."""

    way: str
    why: str
    score: float = 0.0


class Explorer:
    """Chooses where one character would go next."""

    def __init__(self, mind: Mind) -> None:
        self.mind, self.chart = mind, Chart(mind.table)

    def course(self) -> Course | None:
        """Where to go from here; None if there is nowhere to go."""
        for choose in (
            self._home,
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
        """Ways that somebody here tried to go lately, in vain; unless they were opened since."""
        mind = self.mind
        known, us = mind.table.ways.get(mind.here, {}), (mind.who, *mind.friends)
        found: dict[str, None] = {}
        for one in mind.recent:
            if one.place != mind.here:
                continue
            for beat in one.play.get("beats", ()):
                found.pop(opened(beat), None)
            tried = one.verb == Verb.GO.value and one.round < mind.round and one.source in us
            if tried and one.what in mind.sights.ways:
                found[str(one.what)] = None
        return [label for label in found if label not in known]

    def open_ways(self) -> list[str]:
        """Ways from here that nobody failed to go just now."""
        return [label for label in self.mind.sights.ways if label not in self.balked]

    def _towards(self, goal: str, why: str) -> Course | None:
        first = next((way for place, way in self._reach if place == goal), None)
        return None if first is None else Course(way=first, why=why)

    def _home(self) -> Course | None:
        """Somewhere safe, for those who are in no state to go on."""
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
        """The round in which somebody was last seen, and where that was."""
        mind = self.mind
        for one in reversed(mind.recent):
            if uid in one.people and one.place is not None:
                return one.round, one.place
        for deed in reversed(mind.table.deeds):
            if uid in deed.present and deed.place is not None:
                return deed.round, deed.place
        return 0, mind.table.place(uid)

    @cached_property
    def seeks(self) -> str | None:
        """Where to look for those who went elsewhere, if it is time to: where they parted."""
        mind = self.mind
        for uid in mind.apart:
            seen, place = self.last_seen(uid)
            gone = mind.round - seen
            patience = int(mind.by_temper(5, kind=3, careful=3, brave=6, greedy=7))
            looking = patience <= gone % _SEEK_EVERY <= patience + _SEEK_FOR
            if place is not None and looking and gone < _GIVE_UP:
                return place
        return None

    def waits(self) -> bool:
        """Whether this is where the party parted, and the others may still come."""
        mind = self.mind
        return self.seeks == mind.here and mind.round - mind.arrived <= _WAIT

    def _seek(self) -> Course | None:
        place = self.seeks
        return None if place is None or place == self.mind.here else self._towards(place, "seek")

    def _report(self) -> Course | None:
        """To who waits to hear of it, as soon as a quest seems done."""
        mind = self.mind
        for quest, place in self._waiting.items():
            for one in reversed(mind.recent):
                if one.place == place:
                    break  # they have been there since
                if one.says("quest_id") == quest:
                    return self._towards(place, "back")
        return None

    def _back(self) -> Course | None:
        """Once more to who may be waiting, now and then: it may take more than one thinks."""
        if self.mind.round % _REPORT_EVERY >= _REPORT_FOR:
            return None
        courses = (self._towards(place, "back") for place in self._waiting.values())
        return next(filter(None, courses), None)

    @cached_property
    def _waiting(self) -> dict[str, str]:
        """Quests that seem to be done, and where those are who asked for it."""
        table, found = self.mind.table, {}
        for quest, giver in self.mind.quests.to_report.items():
            place = table.place(giver)
            if place is not None and place != self.mind.here:
                found[quest] = place
        return found

    def _explore(self) -> Course | None:
        fresh = self.fresh()
        if fresh:
            return max(map(self.weighed, fresh), key=lambda course: course.score)
        return self._beyond

    def fresh(self) -> list[str]:
        """Ways from here to somewhere new."""
        here = self.mind.here
        ways = [label for label in self.chart.new(here) if label not in self.balked]
        return [label for label in ways if not self.chart.shut(here, label)]

    @cached_property
    def _beyond(self) -> Course | None:
        """The way to the nearest place from which somewhere new can be reached."""
        for place, first in self._reach:
            if any(not self.chart.shut(place, label) for label in self.chart.new(place)):
                return Course(way=first, why="explore")
        return None

    @cached_property
    def _reach(self) -> list[tuple[str, str]]:
        """Other places that can be reached, the nearest first, each with the way to take from here."""
        found = self.chart.reach(self.mind.here)
        return [(place, first) for place, first in found if first is not None and first not in self.balked]

    @cached_property
    def seen_it_all(self) -> bool:
        """Whether there is nowhere new to go."""
        return not self.fresh() and self._beyond is None

    def _unfinished(self) -> Course | None:
        """Back to where something is left to do."""
        for place, first in self._reach:
            if self.mind.left_undone(place):
                return Course(way=first, why="unfinished")
        for place, first in self._reach if self.tries_doors else ():
            if any(self.chart.shut(place, label) for label in self.chart.untried(place)):
                return Course(way=first, why="unfinished")
        return None

    @property
    def tries_doors(self) -> bool:
        """Whether it is time for doors that would not open: with nowhere else to go, every now and then."""
        return self.seen_it_all and self.mind.round // _DOORS % 2 == 0

    def tries(self, label: str) -> int:
        """How often somebody tried of late to open a way here."""
        here = (one for one in self.mind.recent if one.place == self.mind.here)
        return sum(one.verb == Verb.OPEN.value and one.what == label for one in here)

    def weighed(self, label: str) -> Course:
        """An untried way, and how much it draws this character."""
        mind, words = self.mind, words_of(label)
        hints = len(words & self.hints)
        score = 1.0 + mind.rng.random() * 1.5 + 2.0 * min(hints, 2)
        if words & DEEP:
            score += mind.by_temper(0.0, brave=1.0, curious=0.7, greedy=0.5, careful=-1.2, kind=-0.3)
        if any(label in one.event.content for one in mind.recent if one.source in mind.friends):
            score += 0.8
        return Course(way=label, why="lead" if hints else "explore", score=score)

    @cached_property
    def hints(self) -> frozenset[str]:
        """Words that were spoken of: topics, what quests are about, places that one only heard of."""
        table, quests = self.mind.table, {*self.mind.quests.accepted}
        elsewhere = (uid for uid in table.names if uid.startswith("loc_") and uid not in table.sights)
        texts = [*table.topics, *(table.names[uid] for uid in (*elsewhere, *quests) if uid in table.names)]
        texts += [deed.gist for deed in table.deeds if not quests.isdisjoint(deed.about)]
        return frozenset().union(*map(words_of, texts))

    def _make_sure(self) -> Course | None:
        """Ways that one thought one knew where they lead, and never took."""
        mind = self.mind
        for place, first in ((mind.here, ""), *self._reach):
            untried = [label for label in self.chart.untried(place) if not self.chart.shut(place, label)]
            ways = [first] if first else [label for label in untried if label not in self.balked]
            if untried and ways:
                return Course(way=ways[0], why="explore")
        return None

    def _wander(self) -> Course | None:
        """To where one has been least, so that nothing is left out and nobody runs in circles."""
        mind, visits = self.mind, self.mind.table.visits
        untried = [label for label in self.chart.untried(mind.here) if label not in self.balked]
        if untried and (not self._reach or mind.chance(0.25)):
            return Course(way=mind.rng.choice(untried), why="wander")
        if not self._reach:
            return None
        _, way = min(self._reach, key=lambda found: visits.get(found[0], 0))
        return Course(way=way, why="wander")
