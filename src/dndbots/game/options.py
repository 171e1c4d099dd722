"""What a character can do in its turn, as it knows things itself: for whoever plays it to choose from.

It reads the character's own table and nothing else. That something stands here does not mean that the rules
allow it, or that anything comes of it: a door may be locked, and a spell fail.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.pieces import Fight
from dndbots.game.played import Sights
from dndbots.game.table import Table
from dndbots.rules import conditions

_DYING: Final = "dying"
_OFFERED: Final = "offered"
_STATE: Final = "state"
NEWS: Final = "news"
_MOST_TOPICS: Final = 8
_MOST_NEWS: Final = 4


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to do: the act, and how one says it."""

    verb: Verb
    said: str
    target: str | None = None
    what: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """What a character has around it: by its own table, and by name."""

    table: Table
    who: str

    @property
    def uid(self) -> str:
        return self.table.place(self.who) or ""

    @property
    def sights(self) -> Sights:
        return self.table.sights.get(self.uid) or Sights()

    @property
    def fight(self) -> Fight | None:
        return self.table.fights.get(self.uid)

    def called(self, uid: str) -> str:
        """What somebody is called by this character: never a name that it did not hear."""
        fight = self.fight
        if fight is not None and uid in fight.foes:
            return fight.foes[uid].name
        return self.table.name(uid)

    def known_by(self, uid: str) -> list[str]:
        """What this character may say for somebody: what it calls them, and what they looked like first."""
        looks = self.table.looks.get(uid)
        return [self.called(uid)] if looks is None else [self.called(uid), looks]

    def friends(self) -> list[str]:
        return [uid for uid in self.table.together(self.uid) if uid != self.who] if self.uid else []

    def people(self) -> list[str]:
        """Those of the place who are in sight, foes who do not fight among them."""
        table = self.table
        known = (*self.sights.people, *(uid for uid in table.facts if uid.startswith("npc_")))
        at = {uid: table.place(uid) for uid in dict.fromkeys(known) if table.alive(uid)}
        return [uid for uid, place in at.items() if place == self.uid or (place is None and self._seen(uid))]

    def _seen(self, uid: str) -> bool:
        return uid in self.sights.people

    def foes(self) -> list[str]:
        """Those who can be struck: in a fight, or standing by."""
        fight = self.fight
        return [*fight.standing] if fight is not None else [one for one in self.people() if _is_foe(one)]

    def quests(self) -> list[str]:
        """Those that are offered, and wait for an answer."""
        facts = self.table.facts
        return [uid for uid in facts if uid.startswith("qst_") and facts[uid].get(_STATE) == _OFFERED]

    def news(self) -> dict[str, str]:
        """What somebody here has not heard of yet, the newest first: events, and what they were."""
        here = self.friends()
        deeds = [deed for deed in reversed(self.table.deeds) if any(map(deed.is_news_to, here))]
        return {deed.event_id: deed.gist for deed in deeds[:_MOST_NEWS]}

    def topics(self) -> list[str]:
        """What was heard of lately, the newest first."""
        return [NEWS, *list(reversed(self.table.topics))[:_MOST_TOPICS]]


def options(table: Table, who: str) -> list[Option]:
    """All that a character can try now, fighting first where there is a fight."""
    if not table.can_act(who):
        return []
    place = Place(table, who)
    found = [*_helping(place), *(_fighting(place) if place.fight is not None else _at_peace(place))]
    return [*found, *_talking(place)]


def _helping(place: Place) -> Iterator[Option]:
    table, who = place.table, place.who
    for friend in place.friends():
        if _DYING in table.conditions(friend):
            yield Option(Verb.BIND, f"bind the wounds of {place.called(friend)}", target=friend)
    for spell in dict.fromkeys(table.spells(who)) if _can(table, who, "casts") else ():
        yield Option(Verb.CAST, f"cast {spell}", what=spell)
        for target in (*place.foes(), *place.friends()):
            yield Option(Verb.CAST, f"cast {spell} at {place.called(target)}", target=target, what=spell)


def _fighting(place: Place) -> Iterator[Option]:
    if _can(place.table, place.who, "attacks"):
        for foe in place.foes():
            yield Option(Verb.ATTACK, f"attack {place.called(foe)}", target=foe)
    for foe in place.foes():
        yield Option(Verb.PARLEY, f"parley with {place.called(foe)}", target=foe)
    if _can(place.table, place.who, "moves"):
        for way in place.sights.ways:
            yield Option(Verb.FLEE, f"flee by {way}", what=way)


def _at_peace(place: Place) -> Iterator[Option]:
    yield from _people(place)
    for key, looks in place.sights.things.items():
        yield Option(Verb.LOOK, f"look at {looks}", what=key)
        yield Option(Verb.TAKE, f"take {looks}", what=key)
        yield Option(Verb.OPEN, f"open {looks}", what=key)
    yield Option(Verb.SEARCH, "search")
    if _can(place.table, place.who, "moves"):
        for way in place.sights.ways:
            yield Option(Verb.GO, f"go {way}", what=way)
    for way in place.sights.ways:
        yield Option(Verb.OPEN, f"open {way}", what=way)
    yield Option(Verb.STAY, "stay here")
    yield Option(Verb.REST, "rest")


def _people(place: Place) -> Iterator[Option]:
    table = place.table
    for quest in place.quests():
        yield Option(Verb.ACCEPT, f"accept {place.called(quest)}", what=quest)
        yield Option(Verb.REFUSE, f"refuse {place.called(quest)}", what=quest)
    for uid in place.people():
        name = place.called(uid)
        if _is_foe(uid):
            yield Option(Verb.PARLEY, f"parley with {name}", target=uid)
            yield Option(Verb.ATTACK, f"attack {name}", target=uid)
        elif table.place(uid) is None:
            yield Option(Verb.LOOK, f"approach {name}", target=uid, what=uid)
        else:
            for topic in place.topics():
                yield Option(Verb.ASK, f"ask {name} about {topic}", target=uid, what=topic)
    for item in table.items(place.who):
        for friend in place.friends():
            yield Option(Verb.GIVE, f"give {item} to {place.called(friend)}", target=friend, what=item)


def _talking(place: Place) -> Iterator[Option]:
    yield Option(Verb.SAY, "say")
    for event_id, gist in place.news().items():
        yield Option(Verb.TELL, f"tell of this: {gist}", what=event_id)
    for friend in (*place.friends(), *(one for one in place.people() if not _is_foe(one))):
        if place.table.place(friend) == place.uid:
            yield Option(Verb.WHISPER, f"whisper to {place.called(friend)}", target=friend)


def _is_foe(uid: str) -> bool:
    return uid.startswith("mon_")


def _can(table: Table, who: str, deed: conditions.Deed) -> bool:
    return conditions.can(table.conditions(who), deed)
