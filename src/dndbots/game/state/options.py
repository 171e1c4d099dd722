"""The options of a character in its turn, for its player to choose from.

They come from the character's own table alone. An option may still fail: a door may be locked, and the rules
may refuse.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.state.game_notes import Sights
from dndbots.game.state.pieces import Fight
from dndbots.game.state.table import Table
from dndbots.rules import conditions

_DYING: Final = "dying"
_OFFERED: Final = "offered"
_STATE: Final = "state"
NEWS: Final = "news"
_MOST_TOPICS: Final = 8
_MOST_NEWS: Final = 4


@dataclass(frozen=True, slots=True)
class Option:
    """A possible deed, and how a player says it."""

    verb: Verb
    said: str
    target: str | None = None
    what: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a character, as its own table shows them."""

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
        """Return this character's name for a uid: never a name that it did not hear."""
        fight = self.fight
        if fight is not None and uid in fight.foes:
            return fight.foes[uid].name
        return self.table.name(uid)

    def known_by(self, uid: str) -> list[str]:
        """Return this character's names for somebody: the name it heard, and their looks at first sight."""
        looks = self.table.looks.get(uid)
        return [self.called(uid)] if looks is None else [self.called(uid), looks]

    def friends(self) -> list[str]:
        """Return the other party members here."""
        return [uid for uid in self.table.together(self.uid) if uid != self.who] if self.uid else []

    def people(self) -> list[str]:
        """Return the people in sight who are not of the party, with foes who do not fight."""
        table = self.table
        known = (*self.sights.people, *(uid for uid in table.facts if uid.startswith("npc_")))
        at = {uid: table.place(uid) for uid in dict.fromkeys(known) if table.alive(uid)}
        return [uid for uid, place in at.items() if place == self.uid or (place is None and self._seen(uid))]

    def _seen(self, uid: str) -> bool:
        return uid in self.sights.people

    def foes(self) -> list[str]:
        """Return the foes who can be attacked: those in the fight, or those standing by."""
        fight = self.fight
        return [*fight.standing] if fight is not None else [uid for uid in self.people() if _is_foe(uid)]

    def quests(self) -> list[str]:
        """Return the offered quests that wait for an answer."""
        facts = self.table.facts
        return [uid for uid in facts if uid.startswith("qst_") and facts[uid].get(_STATE) == _OFFERED]

    def news(self) -> dict[str, str]:
        """Return events that somebody here has not heard of, newest first, with their gists."""
        here = self.friends()
        deeds = [deed for deed in reversed(self.table.deeds) if any(map(deed.is_news_to, here))]
        return {deed.event_id: deed.gist for deed in deeds[:_MOST_NEWS]}

    def topics(self) -> list[str]:
        """Return topics to ask about, newest first."""
        return [NEWS, *list(reversed(self.table.topics))[:_MOST_TOPICS]]


def list_options(table: Table, who: str) -> list[Option]:
    """Return all that a character can try now; in a fight, the deeds of a fight."""
    if not table.can_act(who):
        return []
    here = Surroundings(table, who)
    deeds = _fight_options(here) if here.fight is not None else _peace_options(here)
    return [*_help_options(here), *deeds, *_talk_options(here)]


def _help_options(here: Surroundings) -> Iterator[Option]:
    table, who = here.table, here.who
    for friend in here.friends():
        if _DYING in table.conditions(friend):
            yield Option(Verb.BIND, f"bind the wounds of {here.called(friend)}", target=friend)
    for spell in dict.fromkeys(table.spells(who)) if _can(table, who, "casts") else ():
        yield Option(Verb.CAST, f"cast {spell}", what=spell)
        for target in (*here.foes(), *here.friends()):
            yield Option(Verb.CAST, f"cast {spell} at {here.called(target)}", target=target, what=spell)


def _fight_options(here: Surroundings) -> Iterator[Option]:
    if _can(here.table, here.who, "attacks"):
        for foe in here.foes():
            yield Option(Verb.ATTACK, f"attack {here.called(foe)}", target=foe)
    for foe in here.foes():
        yield Option(Verb.PARLEY, f"parley with {here.called(foe)}", target=foe)
    if _can(here.table, here.who, "moves"):
        for way in here.sights.ways:
            yield Option(Verb.FLEE, f"flee by {way}", what=way)


def _peace_options(here: Surroundings) -> Iterator[Option]:
    yield from _people_options(here)
    for key, looks in here.sights.things.items():
        yield Option(Verb.LOOK, f"look at {looks}", what=key)
        yield Option(Verb.TAKE, f"take {looks}", what=key)
        yield Option(Verb.OPEN, f"open {looks}", what=key)
    yield Option(Verb.SEARCH, "search")
    if _can(here.table, here.who, "moves"):
        for way in here.sights.ways:
            yield Option(Verb.GO, f"go {way}", what=way)
    for way in here.sights.ways:
        yield Option(Verb.OPEN, f"open {way}", what=way)
    yield Option(Verb.STAY, "stay here")
    yield Option(Verb.REST, "rest")


def _people_options(here: Surroundings) -> Iterator[Option]:
    table = here.table
    for quest in here.quests():
        yield Option(Verb.ACCEPT, f"accept {here.called(quest)}", what=quest)
        yield Option(Verb.REFUSE, f"refuse {here.called(quest)}", what=quest)
    for uid in here.people():
        name = here.called(uid)
        if _is_foe(uid):
            yield Option(Verb.PARLEY, f"parley with {name}", target=uid)
            yield Option(Verb.ATTACK, f"attack {name}", target=uid)
        elif table.place(uid) is None:
            yield Option(Verb.LOOK, f"approach {name}", target=uid, what=uid)
        else:
            for topic in here.topics():
                yield Option(Verb.ASK, f"ask {name} about {topic}", target=uid, what=topic)
    for item in table.items(here.who):
        for friend in here.friends():
            yield Option(Verb.GIVE, f"give {item} to {here.called(friend)}", target=friend, what=item)


def _talk_options(here: Surroundings) -> Iterator[Option]:
    yield Option(Verb.SAY, "say")
    for event_id, gist in here.news().items():
        yield Option(Verb.TELL, f"tell of this: {gist}", what=event_id)
    for friend in (*here.friends(), *(uid for uid in here.people() if not _is_foe(uid))):
        if here.table.place(friend) == here.uid:
            yield Option(Verb.WHISPER, f"whisper to {here.called(friend)}", target=friend)


def _is_foe(uid: str) -> bool:
    return uid.startswith("mon_")


def _can(table: Table, who: str, deed: conditions.Deed) -> bool:
    return conditions.can(table.conditions(who), deed)
