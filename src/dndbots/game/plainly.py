"""A deed in plain words, for whoever did it without saying any. The doer tells it, as others tell theirs."""

from collections.abc import Callable
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.articles import as_route, with_the
from dndbots.game.options import NEWS, Place
from dndbots.game.table import Table


def plainly(own: Table, who: str, act: Act) -> str:
    """A sentence of the doer, with no name in it that the doer never heard."""
    say = _SENTENCES.get(act.verb)
    return say(Place(own, who), act) if say is not None else "I wait."


def _whom(place: Place, act: Act) -> str:
    uid = act.target or ""
    fight = place.fight
    if fight is not None and uid in fight.foes:
        return with_the(fight.foes[uid].name)
    name = place.table.names.get(uid)
    return "somebody" if name is None else with_the(name)


def _thing(place: Place, act: Act) -> str:
    """What is seen under a key; the key itself is a name that only the adventure has."""
    key = act.what or ""
    looks = place.sights.things.get(key) or (key if key in place.sights.ways else None)
    return with_the(looks) if looks is not None else "it"


def _quest(place: Place, act: Act) -> str:
    name = place.table.names.get(act.what or "")
    return "that" if name is None else with_the(name)


def _ask(place: Place, act: Act) -> str:
    about = "what there is to tell" if act.what in (None, NEWS) else f"about {act.what}"
    return f"I ask {_whom(place, act)} {about}."


def _look(place: Place, act: Act) -> str:
    if act.target is not None and act.target == act.what:
        return f"I walk up to {_whom(place, act)}."
    return f"I look at {_thing(place, act)}."


def _cast(place: Place, act: Act) -> str:
    return f"I cast {act.what}." if act.target is None else f"I cast {act.what} at {_whom(place, act)}."


_SENTENCES: Final[dict[Verb, Callable[[Place, Act], str]]] = {
    Verb.GO: lambda _, act: f"I take {as_route(act.what or '')}.",
    Verb.STAY: lambda _place, _act: "I stay here.",
    Verb.SEARCH: lambda _place, _act: "I search the place.",
    Verb.LOOK: _look,
    Verb.TAKE: lambda place, act: f"I take {_thing(place, act)}.",
    Verb.OPEN: lambda place, act: f"I try to open {_thing(place, act)}.",
    Verb.ASK: _ask,
    Verb.GIVE: lambda place, act: f"I give {with_the(act.what or '')} to {_whom(place, act)}.",
    Verb.ACCEPT: lambda place, act: f"I take on {_quest(place, act)}.",
    Verb.REFUSE: lambda place, act: f"I do not take on {_quest(place, act)}.",
    Verb.REST: lambda _place, _act: "I lie down to rest.",
    Verb.ATTACK: lambda place, act: f"I attack {_whom(place, act)}.",
    Verb.CAST: _cast,
    Verb.BIND: lambda place, act: f"I bind the wounds of {_whom(place, act)}.",
    Verb.FLEE: lambda _, act: f"I flee by {as_route(act.what or '')}.",
    Verb.PARLEY: lambda place, act: f"I lower my weapon and talk to {_whom(place, act)}.",
}
