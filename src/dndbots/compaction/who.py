"""Whom a turn means by a name, for one who heard it: by what that one knows, and nothing else.

What others know, the DM included, changes nothing: neither whom a name means, nor whether anybody is meant.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from dndbots.compaction.checking import Mention
from dndbots.compaction.grounds import grounds_of, untitled
from dndbots.compaction.values import PEOPLE, Turn
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, category_of, folded, is_uid
from dndbots.storage.reader import View

_NEW_PERSON = "NPC"


class Hearer:
    """Resolves names for one who perceived some events. Nothing is kept beyond a run."""

    def __init__(self, view: View, events: Mapping[str, GameEvent]) -> None:
        self.view, self._events = view, events
        self._given: dict[str, set[str]] = {}

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        wanted = fitting_in(categories)
        if turn.role != "dm" and folded(name) == folded(turn.speaker):
            return self._speaker(name, wanted, turn)
        return self.find(name, wanted) or self._new(name, categories)

    def find(self, name: str, wanted: Sequence[str]) -> Mention | str | None:
        """Who is known by a name, of some categories; why nobody can be meant; None if it was never heard."""
        found = self.bearers(name)
        for shorter in () if found else _shorter(name):
            bearers = self.bearers(shorter)
            if (
                bearers
                and not found
                and (shorter == untitled(name) or self._has_no_other_name(bearers, shorter))
            ):
                name, found = shorter, bearers
        if not found:
            return None
        if DM in found:
            return f"{name!r} is the DM"
        fitting = sorted(uid for uid in found if category_of(uid) in wanted)
        if not fitting:
            return f"{name!r} is something else: {', '.join(sorted(found))}"
        meant = self._meant(fitting)
        if meant is None:
            return f"{name!r} is the name of several: {', '.join(fitting)}"
        return Mention(name, str(category_of(meant)), meant)

    def knows(self, uid: str, name: str) -> bool:
        """Whether somebody is known by a name."""
        return uid in self.bearers(name)

    def bearers(self, name: str) -> set[str]:
        key = folded(name)
        if key not in self._given:
            self._given[key] = self.view.bearers(name)
        return self._given[key]

    def turned_out(self, name: str, wanted: Sequence[str]) -> dict[str, str]:
        """Those of a name who were only heard of, and as whom they were met since."""
        fitting = [uid for uid in self.bearers(name) if category_of(uid) in wanted]
        persons = self._persons(fitting)
        meant = self._one_of(persons) if len(persons) > 1 else None
        return {} if meant is None else dict.fromkeys(sorted(persons.keys() - {meant}), meant)

    def _meant(self, fitting: Sequence[str]) -> str | None:
        """The one of several uids who is meant: by the uid they go by, if that has the name."""
        persons = self._persons(fitting)
        first = next(iter(persons)) if len(persons) == 1 else self._one_of(persons)
        return None if first is None else first if first in fitting else persons[first][0]

    def _persons(self, uids: Collection[str]) -> dict[str, list[str]]:
        """Different people, by the uid that each goes by."""
        found: dict[str, list[str]] = {}
        for uid, same in sorted(self.view.persons_of(uids).items()):
            found.setdefault(same[0], []).append(uid)
        return found

    def _one_of(self, persons: Collection[str]) -> str | None:
        """Of several people with one name the one who was met, if the others were only heard of.

        If all were only heard of, they are taken for the first: names are mostly those of one person.
        """
        seen = self.view.first_seen(persons)
        places = {seq: event.event_type for seq, event in self.view.placed(sorted({*seen.values()})).items()}
        heard_of = {uid for uid, seq in seen.items() if places.get(seq) is EventType.EXTRACTION}
        met = sorted(set(persons) - heard_of)
        if not met:
            return min(heard_of, key=lambda uid: (seen[uid], uid))
        return met[0] if len(met) == 1 else None

    def _has_no_other_name(self, uids: Iterable[str], name: str) -> bool:
        """Whether somebody is known by one name only: a family name that is heard later may be theirs."""
        called = self.view.called(sorted(uids)).values()
        return all({folded(one.name), *map(folded, one.aliases)} == {folded(name)} for one in called)

    def _speaker(self, name: str, wanted: Sequence[str], turn: Turn) -> Mention | str:
        """Who speaks. That it is them whom they name is not for everybody to know who heard them."""
        uid = self._events[turn.id].source
        own = str(category_of(uid))
        if own not in wanted:
            return f"{name!r} is who speaks"
        if grounds_of(turn.text).names(name, exactly=False) and not self.knows(uid, name):
            return f"not everybody who heard it knows who {name!r} is"
        return Mention(name, own, uid)

    def _new(self, name: str, categories: Sequence[str]) -> Mention | str:
        if is_uid(name):
            return f"{name!r} is no name"
        if tuple(categories) == ("PC",):
            return f"there is no character called {name!r}"
        return Mention(name, _NEW_PERSON if categories[0] in PEOPLE else categories[0])


def fitting_in(categories: Sequence[str]) -> tuple[str, ...]:
    """The categories of those whom a name may mean: anybody, where some kind of people is asked for."""
    return PEOPLE if set(categories) <= set(PEOPLE) else tuple(categories)


def _shorter(name: str) -> list[str]:
    """What else somebody may be known by: the name without titles, and the first of several names."""
    plain = untitled(name)
    return [one for one in dict.fromkeys((plain, plain.split()[0])) if one != name]
