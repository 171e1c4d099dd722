"""Graph questions, such as paths and neighbours, over links from the database or from Neo4j.

Every answer is a bounded breadth-first search over the viewer's own links, in a fixed order.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice, pairwise
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict

from dndbots.canon.entities import Entity
from dndbots.errors import InvalidSetting
from dndbots.ids import category_of
from dndbots.storage.views.links import SURENESS, Link
from dndbots.storage.views.opaque_uids import UidSpelling

MOST_STEPS: Final = 12
MOST_REACHED: Final = 5_000
MOST_PATHS: Final = 100
_PEOPLE: Final = ("PC", "NPC", "MON")
_MEMBER: Final = "in"

Links = Mapping[str, list[Link]]


class LinkSource(Protocol):
    """A source of links and entities: the campaign as one viewer knows it."""

    def find(self, who: str) -> list[str]: ...
    def links(self, uids: Collection[str]) -> list[Link]: ...
    def entities(self, uids: Collection[str]) -> dict[str, Entity]: ...
    def spell_uids(self, uids: Collection[str]) -> dict[str, str]: ...


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class PathStep(_Answer):
    """A step of a path, with all links between its two ends."""

    start: str
    end: str
    links: tuple[Link, ...]


class Paths(_Answer):
    """The shortest paths between two entities; empty if there is none within the allowed steps.

    `complete` is false if a limit cut the search short: too many entities, or too many paths.
    """

    start: str
    end: str
    paths: tuple[tuple[PathStep, ...], ...]
    complete: bool


class Reached(_Answer):
    """An entity that was reached: how many steps away, and its links to entities one step nearer."""

    uid: str
    steps: int
    links: tuple[Link, ...]


class NearEntities(_Answer):
    """Everything within some steps of an entity, nearest first."""

    start: str
    reached: tuple[Reached, ...]
    complete: bool


class Bridge(_Answer):
    """A person who links two sides, with the links to each side; empty for a side it belongs to."""

    uid: str
    first: tuple[Link, ...]
    second: tuple[Link, ...]


class Bridges(_Answer):
    """All people who link two sides."""

    first: str
    second: str
    bridges: tuple[Bridge, ...]


class Acquaintance(_Answer):
    """A person whom two entities both know, with its links to each."""

    uid: str
    first: tuple[Link, ...]
    second: tuple[Link, ...]


class CommonAcquaintances(_Answer):
    """All people whom two entities both know."""

    first: str
    second: str
    common: tuple[Acquaintance, ...]


class Neighbourhood(_Answer):
    """All entities within some steps, as the viewer knows them, with all links among them."""

    start: str
    entities: tuple[Entity, ...]
    links: tuple[Link, ...]
    complete: bool


class Graph:
    """The graph questions of one viewer. `opened` opens a fresh view for each question."""

    def __init__(self, opened: Callable[[], AbstractContextManager[LinkSource]]) -> None:
        self._opened = opened

    def path(self, first: str, second: str, *, steps: int = 6, most: int = 1) -> Paths:
        """Find the shortest paths between two entities, at most `most` of them."""
        _check("steps", steps, MOST_STEPS)
        _check("most", most, MOST_PATHS)
        with self._opened() as source:
            start, end = source.find(first)[0], source.find(second)[0]
            meeting = _Meeting(source, start, end, steps=steps)
            paths = list(islice(meeting.paths(), most + 1))
            complete = meeting.complete and len(paths) <= most
            answer = Paths(start=start, end=end, paths=tuple(paths[:most]), complete=complete)
            return UidSpelling(source.spell_uids).answer(answer)

    def near(self, who: str, *, steps: int = 1) -> NearEntities:
        """Find everything within some steps of an entity, nearest first."""
        _check("steps", steps, MOST_STEPS)
        with self._opened() as source:
            reach = _Reach(source, source.find(who)[0], steps=steps)
            answer = NearEntities(start=reach.start, reached=tuple(reach.reached()), complete=reach.complete)
            return UidSpelling(source.spell_uids).answer(answer)

    def about(self, who: str, *, steps: int = 1) -> Neighbourhood:
        """Return all entities within some steps, with their facts and the links among them."""
        _check("steps", steps, MOST_STEPS)
        with self._opened() as source:
            reach = _Reach(source, source.find(who)[0], steps=steps)
            known = source.entities(sorted(reach.steps))
            among = [link for link in source.links(sorted(reach.steps)) if _within(link, reach.steps)]
            entities = sorted(known.values(), key=lambda entity: (reach.steps[entity.uid], entity.uid))
            answer = Neighbourhood(
                start=reach.start, entities=tuple(entities), links=tuple(among), complete=reach.complete
            )
            return UidSpelling(source.spell_uids).answer(answer)

    def common(self, first: str, second: str) -> CommonAcquaintances:
        """Find the people whom two entities both know."""
        with self._opened() as source:
            one, other = source.find(first)[0], source.find(second)[0]
            links = _by_end(source.links(sorted({one, other})))
            mine, theirs = (_others(links, uid) for uid in (one, other))
            shared = sorted(uid for uid in mine.keys() & theirs.keys() - {one, other} if _is_person(uid))
            found = [
                Acquaintance(uid=uid, first=tuple(mine[uid]), second=tuple(theirs[uid])) for uid in shared
            ]
            answer = CommonAcquaintances(first=one, second=other, common=tuple(found))
            return UidSpelling(source.spell_uids).answer(answer)

    def bridges(self, first: str, second: str) -> Bridges:
        """Find the people who link two sides: a side is a faction, or any other entity, with its members.

        A bridge belongs to one side and knows somebody of the other; or belongs to neither and knows somebody
        of both; or belongs to both.
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
            return UidSpelling(source.spell_uids).answer(answer)


class _Side:
    """A faction, or any other entity, and its members."""

    def __init__(self, uid: str, links: Links) -> None:
        members = {link.subject for link in links.get(uid, ()) if link.kind == _MEMBER and link.object == uid}
        self.members = {uid, *members}

    def ties(self, uid: str, links: Links) -> tuple[Link, ...] | None:
        """Return a person's links to this side: empty for a member, None for somebody without links."""
        if uid in self.members:
            return ()
        return tuple(link for link in links[uid] if link.other(uid) in self.members) or None


class _Reach:
    """A breadth-first search from one entity, with one read for each step."""

    def __init__(self, source: LinkSource, start: str, *, steps: int = 0) -> None:
        self._source, self.start = source, start
        self.steps = {start: 0}
        self.taken = 0
        self.frontier = {start}
        self.complete = True
        # The links of each entity to those one step nearer.
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
        for uid, steps in sorted(self.steps.items(), key=lambda item: (item[1], item[0])):
            if uid != self.start:
                yield Reached(uid=uid, steps=steps, links=tuple(self.nearer[uid]))


class _Meeting:
    """A search from both ends of a path; each step goes on from the smaller frontier.

    Nearly everybody is two steps from everybody else, by way of the heroes. A search from one end would read
    everybody they ever met; from both ends, the first step of each side meets the other.
    """

    def __init__(self, source: LinkSource, start: str, end: str, *, steps: int) -> None:
        self._start, self._end = start, end
        self._there, self._back = there, back = _Reach(source, start), _Reach(source, end)
        self._met = there.frontier & back.frontier
        while not self._met and there.taken + back.taken < steps and there.frontier and back.frontier:
            side = min(there, back, key=lambda reach: len(reach.frontier))
            side.take_step()
            self._met = there.frontier & back.frontier

    @property
    def complete(self) -> bool:
        return self._there.complete and self._back.complete

    def paths(self) -> Iterator[tuple[PathStep, ...]]:
        """Yield the shortest paths, in the order of their uids."""
        if not self._met:
            return
        onward = self._onward()
        waiting: list[tuple[str, ...]] = [(self._start,)]
        while waiting:
            path = waiting.pop()
            if path[-1] == self._end:
                steps = pairwise(path)
                yield tuple(PathStep(start=one, end=to, links=tuple(onward[one][to])) for one, to in steps)
            else:
                waiting += [(*path, uid) for uid in sorted(onward[path[-1]], reverse=True)]

    def _onward(self) -> dict[str, dict[str, list[Link]]]:
        """Return, for each entity on a shortest path, the next ones with the links to them."""
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
    """Return the surest of some links, to show where only one is shown."""
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
        raise InvalidSetting(name, value, reason=f"is not a whole number from 1 to {most}")
