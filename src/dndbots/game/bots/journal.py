"""A character's journal: the map it has learned so far, and the quests it knows."""

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from dndbots.canon import claims
from dndbots.canon.states import is_over
from dndbots.game.acts import Verb
from dndbots.game.state.table import Table

_OPPOSITES: Final = {
    "north": "south",
    "east": "west",
    "up": "down",
    "in": "out",
    "inside": "outside",
    "northeast": "southwest",
    "northwest": "southeast",
}
_BACK: Final = {**_OPPOSITES, **{there: here for here, there in _OPPOSITES.items()}}


def opened_way(beat: str) -> str:
    """Return the way that a beat records as opened; an empty text for any other beat."""
    what, _, where = beat.partition(":")
    return where.partition("/")[2] if what == "opened" else ""


class MapMemory:
    """The map as one table has it: ways taken, ways seen, and good guesses."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _named(self) -> dict[str, str]:
        """Map place names to places; a name of several places maps to an empty text."""
        found: dict[str, str] = {}
        for place in self._table.sights:
            name = self._table.names.get(place)
            if name is not None:
                key = name.casefold()
                found[key] = "" if key in found else place
        return found

    def untried(self, place: str) -> list[str]:
        """Return the ways out of a place that nobody was seen to take."""
        sights, known = self._table.sights.get(place), self._table.ways.get(place, {})
        return [label for label in sights.ways if label not in known] if sights is not None else []

    def guess(self, place: str, label: str) -> str | None:
        """Guess where an untried way leads: to the place it is named after, or back."""
        text = label.casefold()
        for name, other in self._named.items():
            if other and other != place and name in text:
                return other
        back = _BACK.get(text)
        if back is not None:
            for other, ways in self._table.ways.items():
                if ways.get(back) == place:
                    return other
        return None

    def new(self, place: str) -> list[str]:
        """Return the untried ways that seem to lead somewhere new."""
        return [label for label in self.untried(place) if self.guess(place, label) is None]

    def shut(self, place: str, label: str) -> bool:
        """Return whether somebody tried to open the way and nobody saw it open."""
        tried = (place, Verb.OPEN.value, label) in self._table.tried
        return tried and not any(opened_way(beat) == label for beat in self._table.beats)

    def ways(self, place: str) -> dict[str, str]:
        """Return the ways to plan with, and where they lead."""
        sights = self._table.sights.get(place)
        known = self._table.ways.get(place, {})
        found = {label: to for label, to in known.items() if sights is None or label in sights.ways}
        for label in self.untried(place):
            to = self.guess(place, label)
            if to is not None and not self.shut(place, label):
                found[label] = to
        return found

    def reach(self, start: str) -> Iterator[tuple[str, str | None]]:
        """Yield every reachable place, nearest first, each with the first way to take."""
        seen, queue = {start}, deque[tuple[str, str | None]]([(start, None)])
        while queue:
            place, first = queue.popleft()
            yield place, first
            for label, to in self.ways(place).items():
                if to not in seen:
                    seen.add(to)
                    queue.append((to, first or label))


class QuestLog:
    """The quests on one table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _states(self) -> dict[str, str]:
        table = self._table
        found = {uid: facts.get("state") for uid, facts in table.facts.items() if uid.startswith("qst_")}
        return {uid: state for uid, state in found.items() if isinstance(state, str)}

    @property
    def offered(self) -> list[str]:
        return [uid for uid, state in self._states.items() if state == "offered"]

    @property
    def accepted(self) -> list[str]:
        return [uid for uid, state in self._states.items() if state == "accepted"]

    def giver(self, quest: str) -> str | None:
        """Return who gave a quest, from its facts, from who was asked, or from recent events."""
        for slot, value in self._table.facts.get(quest, {}).items():
            for said in (value, slot.rpartition(" ")[2]):
                if isinstance(said, str) and said.startswith("npc_"):
                    return said
        asked = [who for who, what in self._table.asked if what == quest]
        if asked:
            return min(asked)
        for event in reversed(self._table.lately):
            if event.metadata.get("quest_id") == quest:
                people = [uid for uid in (event.source, *event.known.participants) if uid.startswith("npc_")]
                if people:
                    return people[0]
        return None

    def seems_done(self, quest: str) -> bool:
        """Return whether the quest has known steps and all of them are done."""
        starts = f"{claims.OBJECTIVE} "
        facts = self._table.facts.get(quest, {})
        steps = [state for slot, state in facts.items() if slot.startswith(starts)]
        return bool(steps) and all(map(is_over, steps))

    @cached_property
    def to_report(self) -> dict[str, str]:
        """Map quests that seem done to the living givers who wait for news."""
        givers = {quest: self.giver(quest) for quest in self.accepted if self.seems_done(quest)}
        alive = self._table.alive
        return {quest: giver for quest, giver in givers.items() if giver is not None and alive(giver)}
