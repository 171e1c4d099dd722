"""Buying and selling: at the prices that a person's wares have in the adventure, or in the equipment list.

Sheets count whole gold pieces. What is left of a gold piece that was broken stays with the buyer as coppers.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from dndbots.game.acts import Verb
from dndbots.game.adventures.module import Person, Place
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.narration import Narration, with_article
from dndbots.game.world.talk import speak
from dndbots.game.world.world_state import CHEAPER
from dndbots.rules.characters.equipment import recognised
from dndbots.text.numbers import numbers_in
from dndbots.text.sentences import split_sentences
from dndbots.text.word_forms import number_word, singular_of
from dndbots.text.words import stem, words_of

COPPERS: Final = "coppers"
# What an inn serves, if its adventure names no prices: one gold piece for each.
_FARE: Final = "soup stew meal food supper dinner breakfast bread beer ale wine mead drink pint mug bed room"
_SERVED: Final = frozenset(map(stem, _FARE.split()))
_KEEPS: Final = frozenset(map(stem, ["room", "bed", "night", "lodging"]))
# What is asked for in other words than it is sold.
_ALIKE_TEXT: Final = """
    ale pint mug drink = beer / stew food meal supper dinner lunch = soup
    / soup food meal supper dinner lunch = stew / room lodging night = bed / loaf food = bread
"""
_ALIKE: Final = tuple(
    (frozenset(map(stem, words.split())), stem(sold.strip()))
    for words, _, sold in (pair.partition("=") for pair in _ALIKE_TEXT.split("/"))
)
_ORDER: Final = re.compile(
    r"\b(?:please|(?:i|we)(?:'d| would| will|'ll) (?:like|have|take|buy)|(?:i|we) (?:want|need)(?! to)"
    r"|(?:give|bring|pour|sell|get) (?:me|us)"
    r"|(?:one|two|a|some) (?:of your )?\w+ for (?:me|us|everybody|all of us))\b",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(r"\b(?:tell|say|about|know|who|what|where|why|how|when)\b", re.IGNORECASE)
_IN_COPPERS: Final = {"cp": 1, "sp": 10, "gp": 100}
_COINS: Final = {"cp": "copper", "sp": "silver piece", "gp": "gold piece"}
_A_GOLD: Final = 100
_LARGE: Final = 5  # gold pieces: what costs as much is no meal, and is carried away
_DENIED: Final = frozenset(("not", "never", "nobody", "nothing", "none"))
_MOST_SERVED: Final = 12  # at once
_ONE_MORE: Final = re.compile(r"\b(?:and|plus) (?:one|another)(?: more)?$")
_SHARE: Final = 0.5  # of its price that people pay for a used thing
_CHEAPER: Final = 0.75


@dataclass(frozen=True, slots=True)
class Ware:
    """Something for sale. `price` is in coppers; what is `served` is eaten, drunk or slept in at once."""

    name: str
    price: int
    served: bool

    @property
    def cost(self) -> str:
        """Return the price in words: "two coppers", "a silver piece", "12 gold pieces"."""
        unit = "gp" if self.price % _A_GOLD == 0 else "sp" if self.price % _IN_COPPERS["sp"] == 0 else "cp"
        number = self.price // _IN_COPPERS[unit]
        return f"{number_word(number)} {_COINS[unit]}{'' if number == 1 else 's'}"


def answer_purchases(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Let people sell what they have; whoever has nothing of the kind says so, and who might."""
    del place
    for pending in acts:
        person = _person(narration, uid, pending)
        if person is None:
            told = narration.not_here(
                pending.act.target, [pending.who], otherwise="anybody who sells such things"
            )
            narration.tell(uid, told, participants=[pending.who])
            continue
        wanted = pending.act.what or ""
        ware = find_ware(person, wanted, is_cheaper=narration.world.has_beat(CHEAPER, person.key))
        slots = {"npc": person.name, "what": wanted, "cost": ware.cost if ware is not None else ""}
        if ware is None:
            speak(narration, uid, person, narration.phrase("sells_none", **slots))
        elif _means(narration, pending.who) < ware.price:
            speak(narration, uid, person, narration.phrase("too_poor", **slots))
        else:
            _sell(narration, uid, person, pending, ware)


def find_ware(person: Person, wanted: str, *, is_cheaper: bool = False) -> Ware | None:
    """Return what somebody sells that words ask for; None if they have nothing of the kind."""
    words = {stem(one) for word in words_of(wanted) for one in (word, singular_of(word))}
    meant = words | {sold for other, sold in _ALIKE if other & words}
    if not person.wares:
        return _listed_ware(person, wanted)
    ware = _named_ware(person, words, meant, is_cheaper=is_cheaper)
    return None if ware is None else _several(ware, wanted)


def _several(ware: Ware, wanted: str) -> Ware:
    """Return so many meals or drinks as are asked for: "two ales, and one for yourself"."""
    number = sum(numbers_in(wanted)) + bool(_ONE_MORE.search(wanted))
    is_counted = ware.served and ware.name.isalpha() and stem(ware.name) not in _KEEPS
    if not is_counted or not 1 < number <= _MOST_SERVED:
        return ware
    return replace(ware, name=f"{number_word(number)} {ware.name}s", price=number * ware.price)


def take_orders(narration: Narration, uid: str, acts: Sequence[PendingAct]) -> list[PendingAct]:
    """Return the acts with words to a seller that order something as purchases."""
    return [_as_purchase(narration, uid, pending) for pending in acts]


def _as_purchase(narration: Narration, uid: str, pending: PendingAct) -> PendingAct:
    act, person = pending.act, _person(narration, uid, pending)
    is_spoken = act.verb in (Verb.TELL, Verb.ASK) and not act.phrases
    ware = read_order(person, act.words) if person is not None and is_spoken else None
    if ware is None:
        return pending
    return replace(pending, act=act.model_copy(update={"verb": Verb.BUY, "what": ware.name}))


def read_order(person: Person, words: str) -> Ware | None:
    """Return the ware that words to a seller ask for: "one beer please", "I would like a bed"."""
    is_order = _ORDER.search(words) is not None and _ASKED.search(words) is None
    return find_ware(person, words) if person.wares and is_order else None


def _named_ware(person: Person, words: set[str], meant: set[str], *, is_cheaper: bool) -> Ware | None:
    """Return the ware with a price of its own that has most of the words."""
    stems = {name: {stem(word) for word in words_of(name)} for name in person.wares}
    best = max(stems, key=lambda name: (len(stems[name] & words), len(stems[name] & meant)))
    if not stems[best] & meant:
        return None
    number, _, unit = person.wares[best].partition(" ")
    price = int(number) * _IN_COPPERS[unit]
    if is_cheaper and price >= _A_GOLD:
        price = math.ceil(price * _CHEAPER)
    is_served = recognised(best) is None and price < _LARGE * _A_GOLD
    return Ware(best, price, served=is_served)


def _listed_ware(person: Person, wanted: str) -> Ware | None:
    """Return a ware of which somebody speaks in greetings: a meal, or a thing of the equipment list."""
    offered, words = _offered(person), {stem(word) for word in words_of(wanted)}
    if words & _SERVED and offered & _SERVED:
        return Ware(wanted, _A_GOLD, served=True)
    thing = recognised(wanted)
    if thing is None or not offered & {stem(word) for word in words_of(thing.name)}:
        return None
    return Ware(thing.name, _A_GOLD * max(1, math.ceil(thing.price)), served=False)


def _means(narration: Narration, who: str) -> int:
    """Return what a character has, in coppers."""
    table = narration.step.table
    return _A_GOLD * int(table.fact(who, "gold", 0)) + int(table.fact(who, COPPERS, 0))


def _pay(narration: Narration, who: str, npc: str, price: int) -> tuple[list[JsonValue], list[JsonValue]]:
    """Return the gold that changes hands, and the coins that the buyer has left, as far as they change.

    Who breaks a gold piece gets most of it back, so that it is not told as paid.
    """
    purse = int(narration.step.table.fact(who, "gold", 0))
    coppers = int(narration.step.table.fact(who, COPPERS, 0))
    gold = max(0, math.ceil((price - coppers) / _A_GOLD))
    left = coppers + gold * _A_GOLD - price
    facts: list[JsonValue] = [{"subject": who, "key": COPPERS, "value": left}] if left != coppers else []
    if gold and price < _A_GOLD:
        return [], [*facts, {"subject": who, "key": "gold", "value": purse - gold}]
    return [{"gold": gold, "to": npc, "from": who}] if gold else [], facts


def _sell(narration: Narration, uid: str, person: Person, pending: PendingAct, ware: Ware) -> None:
    """Record the sale: the coins are gone; a thing is on the sheet, a meal is eaten."""
    who = pending.who
    name = narration.step.table.name(who)
    is_bed = {stem(word) for word in words_of(ware.name)} & _KEEPS
    kind = "sold.bed" if is_bed else "sold" if ware.served else "sold.thing"
    bought: list[JsonValue] = [] if ware.served else [{"item": ware.name, "to": who}]
    npc = narration.atlas.uid("npc", person.key)
    what = with_article(ware.name)
    loot, facts = _pay(narration, who, npc, ware.price)
    if not narration.world.met(person.key):
        speak(narration, uid, person, "")
    # Told by the DM: what a person says is only believed, and coins are counted.
    narration.tell(
        uid,
        narration.phrase(kind, npc=person.name, what=what, who=name, cost=ware.cost),
        participants=[who, npc],
        names={npc: person.name},
        gist=f"{name} bought {what} from {person.name}",
        loot=[*loot, *bought],
        facts=facts,
    )


def answer_sales(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Let people who sell things buy some, for half the price; others have no use for them."""
    del place
    for pending in acts:
        person = _person(narration, uid, pending)
        item = pending.act.what or ""
        thing = recognised(item)
        if person is None:
            told = narration.not_here(
                pending.act.target, [pending.who], otherwise="anybody who buys such things"
            )
            narration.tell(uid, told, participants=[pending.who])
            continue
        price = math.floor(thing.price * _SHARE) if thing is not None else 0
        if not price or not (person.wares or _offered(person)):
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
