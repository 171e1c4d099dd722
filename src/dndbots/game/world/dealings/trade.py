"""Buying and selling: from people who speak of what they have, at the prices of the equipment list."""

import math
from collections.abc import Sequence
from typing import Final

from dndbots.events import EventType
from dndbots.game.adventures.module import Person, Place
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.narration import Narration, with_article
from dndbots.game.world.talk import speak
from dndbots.rules.characters.equipment import recognised
from dndbots.text.sentences import split_sentences
from dndbots.text.words import stem, words_of

# What an inn serves: one gold piece for each, which is dear, and nobody goes elsewhere.
_FARE: Final = "soup stew meal food supper dinner breakfast bread beer ale wine mead drink pint mug bed room"
_SERVED: Final = frozenset(map(stem, _FARE.split()))
_KEEPS: Final = frozenset(map(stem, ["room", "bed", "night", "lodging"]))
_PRICE: Final = 1
_DENIED: Final = frozenset(("not", "never", "nobody", "nothing", "none"))
_SHARE: Final = 0.5  # of its price that people pay for a used thing


def answer_purchases(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Let people sell what they speak of selling; whoever has nothing of the kind says so."""
    del place
    for pending in acts:
        person = _person(narration, uid, pending)
        if person is None:
            narration.tell(uid, narration.phrase("nothing_there"), participants=[pending.who])
            continue
        ware, wanted = pending.act.what or "", {stem(word) for word in words_of(pending.act.what or "")}
        served, offered = wanted & _SERVED, _offered(person)
        is_served = bool(served) and bool(offered & _SERVED)
        price = _price_of(ware, offered) if not is_served else _PRICE
        purse = int(narration.step.table.fact(pending.who, "gold", 0))
        slots = {"npc": person.name, "what": ware, "gold": str(price or 0)}
        if price is None:
            speak(narration, uid, person, narration.phrase("sells_none", **slots))
        elif purse < price:
            speak(narration, uid, person, narration.phrase("too_poor", **slots))
        else:
            _sell(narration, uid, person, pending, price, served=is_served)


def _sell(
    narration: Narration, uid: str, person: Person, pending: PendingAct, price: int, *, served: bool
) -> None:
    """Record the sale: the gold is gone; a thing is on the sheet, a meal is eaten."""
    ware, who = pending.act.what or "", pending.who
    name = narration.step.table.name(who)
    kind = (
        "sold.bed" if {stem(word) for word in words_of(ware)} & _KEEPS else "sold" if served else "sold.thing"
    )
    thing = recognised(ware)
    bought = [] if served or thing is None else [{"item": thing.name, "to": who}]
    npc = narration.atlas.uid("npc", person.key)
    text = narration.phrase(kind, npc=person.name, what=ware, who=name, gold=str(price))
    speak(
        narration,
        uid,
        person,
        text,
        kind=EventType.DIALOGUE,
        gist=f"{name} bought {with_article(ware)} from {person.name}",
        loot=[{"gold": price, "to": npc, "from": who}, *bought],
    )


def answer_sales(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Let people who sell things buy some, for half the price; others have no use for them."""
    del place
    for pending in acts:
        person = _person(narration, uid, pending)
        item = pending.act.what or ""
        thing = recognised(item)
        if person is None:
            narration.tell(uid, narration.phrase("nothing_there"), participants=[pending.who])
            continue
        price = math.floor(thing.price * _SHARE) if thing is not None else 0
        if not price or not _offered(person):
            speak(narration, uid, person, narration.phrase("buys_none", npc=person.name, what=item))
            continue
        who = narration.step.table.name(pending.who)
        text = narration.phrase("buys", npc=person.name, what=item, who=who, gold=str(price))
        loot = [{"item": item, "from": pending.who}, {"gold": price, "to": pending.who}]
        speak(
            narration, uid, person, text, loot=loot, gist=f"{who} sold {with_article(item)} to {person.name}"
        )


def _person(narration: Narration, uid: str, pending: PendingAct) -> Person | None:
    person = narration.world.person(pending.act.target)
    return person if person is not None and person in narration.world.people(uid) else None


def _offered(person: Person) -> set[str]:
    """Return the stems of the wares that a person speaks of in greetings."""
    offers = (one for greeting in person.greets for one in split_sentences(greeting))
    said = " ".join(one for one in offers if not _DENIED & {*words_of(one)})  # "do not drink anything"
    return {stem(word) for word in words_of(said) if stem(word) in _SERVED or recognised(word) is not None}


def _price_of(ware: str, offered: set[str]) -> int | None:
    """Return the price of a thing of the equipment list; None if the person does not have it."""
    thing = recognised(ware)
    if thing is None or not offered & {stem(word) for word in words_of(thing.name)}:
        return None
    return max(1, math.ceil(thing.price))
