"""Whom a turn means by a name, as far as everybody who heard it can know.

That somebody is known to the DM by another name is no news for those who heard only that one: a name
is never taken for an entity that one of them knows under other names alone, or for one that goes by
any other words than those that they heard.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from dndbots.compaction.checking import Mention
from dndbots.compaction.grounds import grounds_of, untitled
from dndbots.compaction.turns import perceivers
from dndbots.compaction.values import PEOPLE, Turn
from dndbots.events import GameEvent
from dndbots.ids import DM, category_of, folded, is_uid, name_from_uid, slug
from dndbots.storage.reader import View

_NEW_PERSON = "NPC"


class Hearers:
    """Resolves names for those who perceived each turn. `view` is the DM's; nothing is kept beyond a run."""

    def __init__(self, view: View, events: Mapping[str, GameEvent]) -> None:
        self._view = view
        self._events = events
        self._given: dict[tuple[str, str], set[str]] = {}
        self._sighted: dict[tuple[str, str], bool] = {}

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        event, asked = self._events[turn.id], name
        wanted = PEOPLE if set(categories) <= set(PEOPLE) else tuple(categories)
        if turn.role != "dm" and folded(name) == folded(turn.speaker):
            return self._speaker(name, wanted, turn)
        found = self._bearers(DM, name)
        for shorter in () if found else _shorter(name):
            bearers = self._bearers(DM, shorter)
            if (
                bearers
                and not found
                and (shorter == untitled(name) or self._has_no_other_name(bearers, shorter))
            ):
                name, found = shorter, bearers
        if DM in found:
            return f"{name!r} is the DM"
        fitting = sorted(uid for uid in found if category_of(uid) in wanted)
        if not found:
            return self._new(asked, categories)
        if not fitting:
            return f"{name!r} is something else: {', '.join(sorted(found))}"
        if len({same[0] for same in self._view.persons_of(fitting).values()}) > 1:
            return f"{name!r} is the name of several: {', '.join(fitting)}"
        return self._as_heard(name, fitting, perceivers(event))

    def _has_no_other_name(self, uids: Iterable[str], name: str) -> bool:
        """Whether somebody is known by one name only: a family name that is heard later may be theirs."""
        called = self._view.called(sorted(uids)).values()
        return all({folded(one.name), *map(folded, one.aliases)} == {folded(name)} for one in called)

    def _speaker(self, name: str, wanted: Sequence[str], turn: Turn) -> Mention | str:
        """Who speaks. That it is them whom they name is not for everybody to know who heard them."""
        uid = self._events[turn.id].source
        own = str(category_of(uid))
        if own not in wanted:
            return f"{name!r} is who speaks"
        if grounds_of(turn.text).names(name, exactly=False) and self.strangers_to(uid, name, turn.id):
            return f"not everybody who heard it knows who {name!r} is"
        return Mention(name, own, uid)

    def _new(self, name: str, categories: Sequence[str]) -> Mention | str:
        if is_uid(name):
            return f"{name!r} is no name"
        if tuple(categories) == ("PC",):
            return f"there is no character called {name!r}"
        return Mention(name, _NEW_PERSON if categories[0] in PEOPLE else categories[0])

    def _as_heard(self, name: str, fitting: Sequence[str], heard: Collection[str]) -> Mention | str:
        """One of several uids of one person: the one that all know by that name, or else the first."""
        uid = next((one for one in fitting if not any(self._strangers(one, name, heard))), fitting[0])
        strangers = list(self._strangers(uid, name, heard))
        if not strangers:
            return Mention(name, str(category_of(uid)), uid)
        called = self._view.called([uid])[uid]
        if (
            folded(called.name) != folded(name)
            or not _says_no_more(name, (*called.aliases, name_from_uid(uid)))
            or any(self._bearers(who, name) or self._knows_of(who, uid) for who in strangers)
        ):
            return f"not everybody who heard it knows who {name!r} is"
        return Mention(called.name, str(category_of(uid)), uid)

    def strangers_to(self, uid: str, name: str, turn: str) -> bool:
        """Whether somebody who heard a turn was never told who that is."""
        return any(self._strangers(uid, name, perceivers(self._events[turn])))

    def _strangers(self, uid: str, name: str, heard: Collection[str]) -> Iterable[str]:
        return (who for who in sorted(heard) if uid not in self._bearers(who, name))

    def _bearers(self, viewer: str, name: str) -> set[str]:
        key = viewer, folded(name)
        if key not in self._given:
            view = self._view if viewer == DM else self._view.of(viewer)
            self._given[key] = view.bearers(name)
        return self._given[key]

    def _knows_of(self, viewer: str, uid: str) -> bool:
        key = viewer, uid
        if key not in self._sighted:
            self._sighted[key] = bool(self._view.of(viewer).first_seen([uid]))
        return self._sighted[key]


def _shorter(name: str) -> list[str]:
    """What else somebody may be known by: the name without titles, and the first of several names."""
    plain = untitled(name)
    return [one for one in dict.fromkeys((plain, plain.split()[0])) if one != name]


def _says_no_more(name: str, others: Iterable[str]) -> bool:
    """Whether whoever hears a name has heard every word of some others. Numbers of uids tell nothing."""
    heard = set(slug(name).split("_"))
    return all(word in heard or word.isdigit() for other in others for word in slug(other).split("_"))
