"""Questions of who has to do with whom, asked once, over whatever gives links: a database, or Neo4j.

Every answer is made breadth first from the viewer's own links, is bounded, and has one order.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice, pairwise
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict

from dndbots.canon.values import Entity
from dndbots.errors import InvalidSetting
from dndbots.ids import category_of
from dndbots.storage.linking import SURENESS, Link
from dndbots.storage.shown import Shown

MOST_STEPS: Final = 12
MOST_REACHED: Final = 5_000
MOST_PATHS: Final = 100
_PEOPLE: Final = ("PC", "NPC", "MON")
_MEMBER: Final = "in"

Links = Mapping[str, list[Link]]


class Linked(Protocol):
    """What questions are asked of: the campaign as one viewer knows it."""

    def find(self, who: str) -> list[str]: ...
    def links(self, uids: Collection[str]) -> list[Link]: ...
    def entities(self, uids: Collection[str]) -> dict[str, Entity]: ...
    def spelled(self, uids: Collection[str]) -> dict[str, str]: ...


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Step(_Answer):
    """From one to the next, by all links between the two."""

    start: str
    end: str
    links: tuple[Link, ...]


class Paths(_Answer):
    """The shortest ways from one to another; none, if there is none within so many steps.

    `complete` is false where the search was cut short: by the number of entities, or of ways.
    """

    start: str
    end: str
    paths: tuple[tuple[Step, ...], ...]
    complete: bool


class Reached(_Answer):
    """Somebody or something, how many steps away, and by which links from what is one step nearer."""

    uid: str
    steps: int
    links: tuple[Link, ...]


class Near(_Answer):
    start: str
    reached: tuple[Reached, ...]
    complete: bool


class Bridge(_Answer):
    """Somebody who links two sides: by which links to either; none, to a side of which it is itself."""

    uid: str
    first: tuple[Link, ...]
    second: tuple[Link, ...]


class Bridges(_Answer):
    first: str
    second: str
    bridges: tuple[Bridge, ...]


class Acquaintance(_Answer):
    uid: str
    first: tuple[Link, ...]
    second: tuple[Link, ...]


class Common(_Answer):
    first: str
    second: str
    common: tuple[Acquaintance, ...]


class Neighbourhood(_Answer):
    """Everything within some steps, as the viewer knows it, with all links among it."""

    start: str
    entities: tuple[Entity, ...]
    links: tuple[Link, ...]
    complete: bool


class Graph:
    """The questions. `opened` gives the viewer's knowledge, anew for each."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Linked]]) -> None:
        self._opened = opened

    def path(self, first: str, second: str, *, steps: int = 6, most: int = 1) -> Paths:
        """The shortest ways from one to another, at most so many of them."""
        _check("steps", steps, MOST_STEPS)
        _check("most", most, MOST_PATHS)
        with self._opened() as source:
            start, end = source.find(first)[0], source.find(second)[0]
            meeting = _Meeting(source, start, end, steps=steps)
            ways = list(islice(meeting.ways(), most + 1))
            shown = tuple(ways[:most])
            answer = Paths(start=start, end=end, paths=shown, complete=meeting.complete and len(ways) <= most)
            return Shown(source.spelled).answer(answer)

    def near(self, who: str, *, steps: int = 1) -> Near:
        """Everybody and everything within some steps, the nearest first."""
        _check("steps", steps, MOST_STEPS)
        with self._opened() as source:
            reach = _Reach(source, source.find(who)[0], steps=steps)
            answer = Near(start=reach.start, reached=tuple(reach.reached()), complete=reach.complete)
            return Shown(source.spelled).answer(answer)

    def about(self, who: str, *, steps: int = 1) -> Neighbourhood:
        """What the viewer knows of somebody's neighbourhood."""
        _check("steps", steps, MOST_STEPS)
        with self._opened() as source:
            reach = _Reach(source, source.find(who)[0], steps=steps)
            known = source.entities(sorted(reach.steps))
            among = [link for link in source.links(sorted(reach.steps)) if _within(link, reach.steps)]
            entities = sorted(known.values(), key=lambda one: (reach.steps[one.uid], one.uid))
            answer = Neighbourhood(
                start=reach.start, entities=tuple(entities), links=tuple(among), complete=reach.complete
            )
            return Shown(source.spelled).answer(answer)

    def common(self, first: str, second: str) -> Common:
        """The people whom two both have to do with."""
        with self._opened() as source:
            one, other = source.find(first)[0], source.find(second)[0]
            links = _by_end(source.links(sorted({one, other})))
            mine, theirs = (_others(links, uid) for uid in (one, other))
            shared = sorted(uid for uid in mine.keys() & theirs.keys() - {one, other} if _is_person(uid))
            found = [
                Acquaintance(uid=uid, first=tuple(mine[uid]), second=tuple(theirs[uid])) for uid in shared
            ]
            answer = Common(first=one, second=other, common=tuple(found))
            return Shown(source.spelled).answer(answer)

    def bridges(self, first: str, second: str) -> Bridges:
        """The people who link two sides: a side is a faction, or anything else, and whoever is in it.

        They are of one side and have to do with somebody of the other, or are of neither and have to do
        with both; those who are of both sides link them without more.
        """
        with self._opened() as source:
            one, other = source.find(first)[0], source.find(second)[0]
            heads = _by_end(source.links(sorted({one, other})))
            sides = [_Side(uid, heads) for uid in (one, other)]
            links = _by_end(source.links(sorted(sides[0].members | sides[1].members)))
            people = {uid for uid in links if _is_person(uid)} - {one, other}
            found = []
            for uid in sorted(people):
                ties = [side.ties(uid, links) for side in sides]
                if all(tie is not None for tie in ties):
                    found.append(Bridge(uid=uid, first=ties[0] or (), second=ties[1] or ()))
            found.sort(key=lambda bridge: (bool(bridge.first) + bool(bridge.second), bridge.uid))
            answer = Bridges(first=one, second=other, bridges=tuple(found))
            return Shown(source.spelled).answer(answer)


class _Side:
    """A faction and its members."""

    def __init__(self, uid: str, links: Links) -> None:
        members = {link.subject for link in links.get(uid, ()) if link.kind == _MEMBER and link.object == uid}
        self.members = {uid, *members}

    def ties(self, uid: str, links: Links) -> tuple[Link, ...] | None:
        """The links of somebody to this side; none where it is of it, and None where it has none."""
        if uid in self.members:
            return ()
        return tuple(link for link in links[uid] if link.other(uid) in self.members) or None


class _Reach:
    """What can be reached from somewhere, a step at a time, all that is a step away in one look."""

    def __init__(self, source: Linked, start: str, *, steps: int = 0) -> None:
        self._source, self.start = source, start
        self.steps = {start: 0}
        self.taken = 0
        self.frontier = {start}
        self.complete = True
        # Everybody's links to those who are a step nearer.
        self.nearer: dict[str, list[Link]] = {}
        while self.frontier and self.taken < steps:
            self.take_step()

    def take_step(self) -> None:
        links = self._source.links(sorted(self.frontier))
        self.taken += 1
        new: set[str] = set()
        for link in links:
            for near, far in ((link.subject, link.object), (link.object, link.subject)):
                if self.steps.get(near) != self.taken - 1:
                    continue
                if far not in self.steps:
                    if len(self.steps) >= MOST_REACHED:
                        self.complete = False
                        continue
                    self.steps[far] = self.taken
                    new.add(far)
                if self.steps[far] == self.taken:
                    self.nearer.setdefault(far, []).append(link)
        self.frontier = new

    def reached(self) -> Iterator[Reached]:
        for uid, steps in sorted(self.steps.items(), key=lambda one: (one[1], one[0])):
            if uid != self.start:
                yield Reached(uid=uid, steps=steps, links=tuple(self.nearer[uid]))


class _Meeting:
    """Two that look for each other from both ends, each step on the side where fewer have to be asked.

    Nearly everybody is two steps from everybody. Who looks from one end alone asks all whom the heroes ever
    met; from both ends, the first step of either meets.
    """

    def __init__(self, source: Linked, start: str, end: str, *, steps: int) -> None:
        self._start, self._end = start, end
        self._there, self._back = there, back = _Reach(source, start), _Reach(source, end)
        self._met = there.frontier & back.frontier
        while not self._met and there.taken + back.taken < steps and there.frontier and back.frontier:
            side = min(there, back, key=lambda one: len(one.frontier))
            side.take_step()
            self._met = there.frontier & back.frontier

    @property
    def complete(self) -> bool:
        return self._there.complete and self._back.complete

    def ways(self) -> Iterator[tuple[Step, ...]]:
        """Shortest ways, by the uids that they go over."""
        if not self._met:
            return
        onward = self._onward()
        waiting: list[tuple[str, ...]] = [(self._start,)]
        while waiting:
            way = waiting.pop()
            if way[-1] == self._end:
                steps = pairwise(way)
                yield tuple(Step(start=one, end=to, links=tuple(onward[one][to])) for one, to in steps)
            else:
                waiting += [(*way, uid) for uid in sorted(onward[way[-1]], reverse=True)]

    def _onward(self) -> dict[str, dict[str, list[Link]]]:
        """Where to go on from each that is on a shortest way, and by which links."""
        onward: dict[str, dict[str, list[Link]]] = {}
        for side, is_back in ((self._there, False), (self._back, True)):
            level = self._met
            while level:
                nearer: set[str] = set()
                for far in level:
                    for link in side.nearer.get(far, ()):
                        near = link.other(far)
                        nearer.add(near)
                        one, to = (far, near) if is_back else (near, far)
                        onward.setdefault(one, {}).setdefault(to, []).append(link)
                level = nearer
        return onward


def surest(links: Iterable[Link]) -> Link:
    """The link to tell of where only one is told."""
    return min(links, key=lambda link: (SURENESS[link.certainty], link.kind, link.subject))


def _by_end(links: Iterable[Link]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    for link in links:
        for uid in (link.subject, link.object):
            found.setdefault(uid, []).append(link)
    return found


def _others(links: Links, uid: str) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {}
    for link in links.get(uid, ()):
        found.setdefault(link.other(uid), []).append(link)
    return found


def _within(link: Link, uids: Collection[str]) -> bool:
    return link.subject in uids and link.object in uids


def _is_person(uid: str) -> bool:
    return category_of(uid) in _PEOPLE


def _check(name: str, value: object, most: int) -> None:
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidSetting(name, value, reason=f"is not a number from 1 to {most}")
