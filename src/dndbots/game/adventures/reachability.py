"""Reachability: everything that can happen in a module if every search and every lockpick succeeds.

Anything that cannot happen even then is a mistake of the author. Nothing is played here; a real game may miss
what is possible.
"""

from collections.abc import Callable, Iterator
from functools import cache

from dndbots.game.adventures import conditions
from dndbots.game.adventures.module import Foes, Happening, Module, ModuleQuest, Person
from dndbots.game.adventures.module_index import Problem

ASKED_BY_ANYBODY = "news"


class Reachability:
    """Everything possible in a module: conditions that may hold, endings that may be reached."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._yes: set[tuple[str, str]] = {("heard", ASKED_BY_ANYBODY)}
        self._told = cache(_words_of(module))
        self._grow()

    def visited(self, key: str) -> bool:
        return ("visited", key) in self._yes

    def met(self, key: str) -> bool:
        return ("met", key) in self._yes

    def happened(self, key: str) -> bool:
        return ("happened", key) in self._yes

    def begun(self, quest: str) -> bool:
        return ("quest", f"{quest} accepted") in self._yes

    def ended(self, quest: str, ending: str) -> bool:
        return ("ended", f"{quest} {ending}") in self._yes

    def heard(self, topic: str) -> bool:
        """Return whether a topic may be brought up, or stands in any text the party may be told."""
        return ("heard", topic) in self._yes or self._told(topic)

    def holds(self, condition: str | conditions.Condition | None) -> bool:
        """Return whether a condition may ever hold. A negation always may."""
        match conditions.parse_condition(condition) if isinstance(condition, str) else condition:
            case None | conditions.Not():
                return True
            case conditions.Both(of=parts):
                return all(map(self.holds, parts))
            case conditions.Either(of=parts):
                return any(map(self.holds, parts))
            case conditions.Asks() as asked:
                return self._may(asked)

    def _may(self, asked: conditions.Asks) -> bool:
        """Return whether a question may ever be answered with yes."""
        key = asked.key
        match asked.question:
            case "rounds":
                return True
            case "heard":
                return self.heard(key)
            case "killed" | "spared":
                ways = [("killed", key), ("met", key)]
            case "at":
                ways = [("visited", key)]
            case "quest":
                ways = [("quest", f"{key} {asked.state}")]
            case "step":
                owners = self._module.quests if asked.quest is None else (asked.quest,)
                ways = [("step", f"{owner}.{key}") for owner in owners]
            case question:
                ways = [(question, key)]
        return not self._yes.isdisjoint(ways)

    def _grow(self) -> None:
        """Add what has become possible until nothing is added."""
        before = -1
        while before < len(self._yes):
            before = len(self._yes)
            self._travel()
            for person in self._module.people.values():
                if self.met(person.key):
                    self._talk(person)
            for quest in self._module.quests.values():
                self._quest(quest)
            for happening in self._module.happenings:
                self._happen(happening)

    def _travel(self) -> None:
        """Visit every place that open ways lead to."""
        ahead, seen = [self._module.start], {self._module.start}
        while ahead:
            here = ahead.pop()
            self._visit(here)
            onward = {way.to for way in self._module.ways[here].values() if self.holds(way.when)} - seen
            seen |= onward
            ahead += sorted(onward)

    def _visit(self, key: str) -> None:
        """Add what a place makes possible."""
        place = self._module.places[key]
        self._yes.add(("visited", key))
        for thing in place.things.values():
            if self.holds(thing.when):
                self._yes.add(("found", thing.key))
                self._add("has", *thing.items)
                self._add("heard", *thing.topics)
        self._add("met", *place.people)
        for foes in place.foes.values():
            self._meet(foes)

    def _meet(self, foes: Foes) -> None:
        """Add what a meeting with foes makes possible."""
        if self.holds(foes.when):
            self._yes.add(("killed", foes.key))
            self._add("has", *foes.items)
            self._add("met", *filter(None, [foes.leader]))

    def _talk(self, person: Person) -> None:
        """Add the topics a person may bring up."""
        for saying in person.knows:
            if self.holds(saying.when) and any(map(self.heard, saying.about)):
                self._add("heard", *saying.about, *saying.topics)

    def _quest(self, quest: ModuleQuest) -> None:
        """Add the states and endings a quest may reach."""
        begun = self.holds(quest.begins) and (quest.giver is None or self.met(quest.giver))
        if not begun:
            return
        self._add("quest", f"{quest.key} accepted", f"{quest.key} refused")
        self._add(
            "step", *(f"{quest.key}.{step.key}" for step in quest.steps.values() if self.holds(step.when))
        )
        for ending in quest.endings.values():
            told = (ending.by is None or self.met(ending.by)) and (
                ending.at is None or self.visited(ending.at)
            )
            if told and self.holds(ending.when):
                self._add("quest", f"{quest.key} {ending.state}")
                self._add("ended", f"{quest.key} {ending.key}")
                self._add("has", *quest.reward_of(ending).items)

    def _happen(self, happening: Happening) -> None:
        """Add what a happening makes possible."""
        if not self.holds(happening.when) or (happening.at and not self.visited(happening.at)):
            return
        self._yes.add(("happened", happening.key))
        self._add("heard", *happening.topics)
        self._add("met", *(who for who, place in happening.moves.items() if self.visited(place)))
        for place, foes in happening.foes.items():
            if self.visited(place):
                self._meet(foes)

    def _add(self, name: str, *keys: str) -> None:
        self._yes.update((name, key) for key in keys)


def find_unreachable(module: Module) -> Iterator[Problem]:
    """Yield a problem for each written part that no game can reach."""
    possible = Reachability(module)
    for key in module.places:
        if not possible.visited(key):
            yield ("places", key), "cannot be reached from the start"
    for key in module.people:
        if not possible.met(key):
            yield ("people", key), "nobody can meet this person; put them in a place that can be reached"
    for number, happening in enumerate(module.happenings):
        if not possible.happened(happening.key):
            yield ("happenings", number), "can never happen: its condition can never hold"
    for quest in module.quests.values():
        yield from _no_end(quest, possible)
    yield from _unasked(module, possible)


def _unasked(module: Module, possible: Reachability) -> Iterator[Problem]:
    """Yield a problem for each saying nobody can ask for."""
    for key, person in module.people.items():
        for number, saying in enumerate(person.knows):
            if not any(map(possible.heard, saying.about)):
                asked = " or ".join(map(repr, saying.about))
                reason = f"nobody can ask about {asked}; name it under `topics` somewhere"
                yield ("people", key, "knows", number, "about"), reason


def _no_end(quest: ModuleQuest, possible: Reachability) -> Iterator[Problem]:
    """Yield a problem for a quest that cannot begin or end."""
    path = ("quests", quest.key)
    if not possible.begun(quest.key):
        yield path, "can never begin: nobody can meet its giver, or `begins` can never hold"
        return
    dead = [ending for ending in quest.endings if not possible.ended(quest.key, ending)]
    if len(dead) == len(quest.endings):
        yield path, "none of its endings can be reached"
        return
    for ending in dead:
        yield (*path, "endings", ending), "this ending can never be reached"


def _words_of(module: Module) -> Callable[[str], bool]:
    """Return a function that tells whether a topic stands in any text for the party."""
    everything = f" {conditions.normalize_topic(' '.join(filter(None, _told(module))))} "
    return lambda topic: topic in everything


def _told(module: Module) -> Iterator[str | None]:
    """Yield every text the party may be told."""
    yield module.opening
    yield from (happening.text for happening in module.happenings)
    for quest in module.quests.values():
        yield from (quest.name, quest.offer, quest.goal)
    for item in module.items.values():
        yield from (item.name, item.looks)
    for place in module.places.values():
        yield from (place.name, *place.looks, *place.again, *place.sounds, *place.exits)
        for thing in place.things.values():
            yield from (thing.looks, thing.text)
    for foes in module.foes.values():
        yield from (foes.monster, foes.name, *foes.says)
    for person in module.people.values():
        yield from (person.name, person.seen_as, *person.greets, *(saying.says for saying in person.knows))
