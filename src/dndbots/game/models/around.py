"""What a character has around it at this moment, in a few lines for a model: from its own table alone."""

from collections.abc import Iterable
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.models.fitting import cut, fitted
from dndbots.game.options import Place, options
from dndbots.game.table import Table

MOST_TOKENS: Final = 600
_MOST: Final = 8
# How long a name may be, where there is room; news have nearly twice as much.
_LENGTHS: Final = (80, 40, 20, 10)


def around(table: Table, who: str) -> str:
    """Where it is, who is there, and what it can try: each as the character knows it, by name."""
    return fitted(lambda longest: _around(table, who, longest), _LENGTHS, most=MOST_TOKENS)


def _around(table: Table, who: str, longest: int) -> str:
    place = Place(table, who)
    lines = [
        ("AT", [place.called(place.uid)] if place.uid else []),
        ("WITH YOU", [_state(table, place, uid) for uid in place.friends()]),
        ("ALSO HERE", [place.called(uid) for uid in place.people() if uid not in place.foes()]),
        ("FOES", list(_foes(place))),
        ("WAYS", place.sights.ways),
        ("THINGS", place.sights.things.values() if place.fight is None else ()),
        ("SPELLS READY", dict.fromkeys(table.spells(who))),
        ("OFFERED", [place.called(uid) for uid in place.quests()]),
    ]
    told = [f"{head}: {_listed(said, longest)}" for head, said in lines if said]
    news = [f'- "{cut(gist, longest * 7 // 4)}"' for gist in place.news().values()]
    if news:
        told.append("\n".join(("NEWS THAT OTHERS HERE HAVE NOT HEARD:", *news)))
    told.append(f"YOU CAN: {_listed(verbs(table, who), longest, most=len(Verb))}")
    return "\n".join(told)


def verbs(table: Table, who: str) -> list[str]:
    """What kinds of things it can try now."""
    return list(dict.fromkeys(one.verb.value for one in options(table, who)))


def _state(table: Table, place: Place, uid: str) -> str:
    ails = ", ".join(table.conditions(uid))
    return f"{place.called(uid)} ({ails})" if ails else place.called(uid)


def _foes(place: Place) -> Iterable[str]:
    fight = place.fight
    if fight is None:
        return [place.called(uid) for uid in place.foes()]
    return [f"{group.name} ({group.number})" for group in fight.standing.values()]


def _listed(said: Iterable[str], longest: int, *, most: int = _MOST) -> str:
    """As many as there is room for, and how many more there are."""
    names = [cut(name, longest) for name in said]
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return "; ".join((*names[:most], *more))
