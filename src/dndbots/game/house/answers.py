"""Answers to what the players did: act by act, scene by scene."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.adventures.values import Place
from dndbots.game.house.encounters import attacked, parley
from dndbots.game.house.offers import accept, refuse
from dndbots.game.house.resting import rest
from dndbots.game.house.searching import look, open_up, search, take
from dndbots.game.house.talking import ask
from dndbots.game.house.telling import Telling
from dndbots.game.pieces import Waiting

Answer = Callable[[Telling, Place, str, Sequence[Waiting]], None]

# In the order in which they are answered: words first, sleep last.
_ANSWERS: Final[Mapping[Verb, Answer]] = {
    Verb.ATTACK: attacked,
    Verb.PARLEY: parley,
    Verb.ACCEPT: accept,
    Verb.REFUSE: refuse,
    Verb.ASK: ask,
    Verb.LOOK: look,
    Verb.SEARCH: search,
    Verb.OPEN: open_up,
    Verb.TAKE: take,
    Verb.REST: rest,
}


def answer(telling: Telling, uid: str, waiting: Sequence[Waiting]) -> None:
    """Answers all that waits at a place. With foes at one's throat, only talk to them is answered."""
    table = telling.step.table
    place = telling.world.place(uid)
    if place is None:
        return
    asked = [one for one in waiting if one.place == uid == table.place(one.who) and table.can_act(one.who)]
    for verb, answered in _ANSWERS.items():
        of_this = [one for one in asked if one.act.verb is verb]
        if of_this and (verb is Verb.PARLEY or uid not in table.fights):
            answered(telling, place, uid, of_this)
