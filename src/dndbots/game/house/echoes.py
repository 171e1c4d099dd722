"""Callbacks: now and then something old comes back, to those who can know what is meant."""

import re
from collections.abc import Sequence
from typing import Final

from dndbots.game.adventures.values import Person
from dndbots.game.house.talking import speak
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import STATE, beat
from dndbots.game.pieces import Deed
from dndbots.ids import DM

_HOW_OFTEN: Final = 0.12
_BY_OTHERS: Final = 0.3
_PROMISES: Final = 0.4
_OLD: Final = 10  # rounds
_YOURS: Final = {"we": "you", "us": "you", "our": "your"}
_OURS: Final = re.compile(rf"\b(?:{'|'.join(_YOURS)})\b")


def echo(telling: Telling, uid: str) -> bool:
    """Lets those at a place be reminded of something that they all know of. Whether it did."""
    if telling.rng.random() >= _HOW_OFTEN:
        return False
    here = telling.step.table.together(uid)
    return _greeting(telling, uid, here) or _promise(telling, uid, here) or _memory(telling, uid, here)


def _promise(telling: Telling, uid: str, here: Sequence[str]) -> bool:
    """What was promised and is not done, for those who all know of it."""
    if telling.rng.random() >= _PROMISES:
        return False
    open_ones = [
        quest
        for quest in telling.atlas.module.quests.values()
        if telling.world.quest(quest.key) == "accepted"
        and all(telling.step.of(who).fact(telling.atlas.uid("qst", quest.key), STATE) for who in here)
    ]
    if not open_ones:
        return False
    quest = telling.rng.choice(open_ones)
    told = telling.words("still_to_do", quest=quest.name, goal=quest.goal or quest.name)
    telling.tell(uid, told, names={telling.atlas.uid("qst", quest.key): quest.name})
    return True


def _greeting(telling: Telling, uid: str, here: Sequence[str]) -> bool:
    """Somebody comes by who has seen somebody whom all of these know."""
    place, world = telling.world.place(uid), telling.world
    if place is None or place.dark or place.foes or telling.rng.random() >= _BY_OTHERS:
        return False
    absent = [
        person
        for person in telling.atlas.module.people.values()
        if world.met(person.key) and not world.killed(person.key) and world.where(person.key) != uid
    ]
    known = [one for one in absent if all(_by_name(telling, who, one) for who in here)]
    if not known:
        return False
    person = telling.rng.choice(known)
    npc = telling.atlas.uid("npc", person.key)
    telling.tell(uid, telling.words("greeting_from", npc=person.name), names={npc: person.name})
    return True


def _by_name(telling: Telling, who: str, person: Person) -> bool:
    return telling.step.of(who).names.get(telling.atlas.uid("npc", person.key)) == person.name


def _memory(telling: Telling, uid: str, here: Sequence[str]) -> bool:
    deeds = [deed for deed in telling.step.table.deeds if _is_known(telling, deed, here)]
    if not deeds:
        return False
    deed = telling.rng.choice(deeds)
    names = {who: telling.step.of(here[0]).names[who] for who in deed.about}
    beats = [beat("echo", deed.event_id)]
    told = _to_the_party(deed.gist)
    person = next(
        (one for one in telling.world.people(uid) if telling.atlas.uid("npc", one.key) in deed.present), None
    )
    if person is not None and telling.world.met(person.key):
        text = telling.words("remembered", npc=person.name, deed=told)
        speak(telling, uid, person, text, beats=beats, names=names)
    else:
        telling.tell(uid, telling.words("thread", text=told), beats=beats, names=names)
    return True


def _is_known(telling: Telling, deed: Deed, here: Sequence[str]) -> bool:
    """Whether something is old enough to come back, and means something to each of these."""
    if telling.step.round - deed.round < _OLD or beat("echo", deed.event_id) in telling.step.table.beats:
        return False
    if DM in deed.present and any(deed.is_news_to(who) for who in here):
        return False
    return all(telling.step.knows(who, uid) for who in here for uid in deed.about)


def _to_the_party(gist: str) -> str:
    """What the party tells of itself, as it is told to the party."""
    return _OURS.sub(lambda found: _YOURS[found.group()], gist)
