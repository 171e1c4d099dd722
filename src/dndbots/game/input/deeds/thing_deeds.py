"""Deeds with things: look, take, open, give, use, buy and sell."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dndbots.events import LONGEST_LABEL
from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.attempts import (
    FORCING,
    HANDLING,
    STEALING,
    TAKING,
    rate_attempt,
    rate_use,
    read_attempt,
)
from dndbots.game.input.deeds.fight_deeds import parley_with, read_cast
from dndbots.game.input.deeds.way_finder import read_way
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.grammar.slots import OTHERS, DeedSlots, find_recipient, name_recipient
from dndbots.game.input.meanings import META, Understanding, refuse
from dndbots.game.input.talk.absent_names import GIVE_TO, find_absent_taker, refuse_name
from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    SELF,
    SPELL,
    THING,
    WAY,
    SceneName,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.game.input.vocabulary.word_roots import alike_groups
from dndbots.rules.characters.equipment import recognised

GOLD: Final = "gold"
# What is in a vessel that is bought, if nothing else is said.
_FILLED_WITH: Final = {
    **dict.fromkeys(("pint", "pints", "mug", "mugs", "tankard", "flagon", "round"), "beer"),
    **dict.fromkeys(("bowl", "bowls", "plate"), "soup"),
}
_SERVED: Final = ("drink", "food", "soup", "bed")
_FILLINGS: Final = frozenset(("drink", "food", "soup"))
_PAYING: Final = frozenset(("pay", "tip", "bribe", "repay"))
_OTHERS_ALL: Final = frozenset(
    ("others", "everyone", "everybody", "party", "group", "team", "friends", "companions", "gang", "us")
)
_BRIBING: Final = frozenset(("bribe", "offer", "pay", "surrender", "present"))
_LEAVING: Final = frozenset(("leave", "give", "pay", "tip", "toss", "throw", "flip", "slip", "drop"))
_VISITING: Final = frozenset(("check", "investigate", "see", "scope"))
_STROLLING: Final = frozenset(
    ("head", "wander", "stroll", "saunter", "sidle", "go", "move", "step", "walk", "draw")
)
_WALKING: Final = frozenset(("out", "go", "see", "walk", "step", "come", "approach", "move", "get"))
# What one eats, drinks or lights if nothing is named.
_HANDY: Final = {
    "eat": ("ration", "food"),
    "drink": ("waterskin", "wineskin"),
    "light": ("torch", "lantern", "candle"),
}
_GENERIC: Final = frozenset(("", "food", "something", "snack", "bite", "light", "fire", "water", "meal"))


def read_look(slots: DeedSlots) -> Understanding | None:
    """Return a look at a thing, a person or a way; at what was told of; or around, which the game answers."""
    clause = slots.clause
    if slots.is_empty or all(word.text in ("around", "here", "about") for word in slots.all_words):
        return _look_around(slots)
    found = slots.find_object((THING, *OTHERS)) or slots.find((THING, *OTHERS, WAY))
    if found is not None and found.kind in OTHERS and slots.thing is not None and not _is_named(slots, found):
        found = slots.thing  # "look her up in the register"
    if found is not None and found.kind == WAY and _goes_there(slots):
        return read_way(clause, slots.scene, found)
    if found is not None:
        return _look_at(slots, found)
    if slots.find((ITEM, SELF)) is not None:
        return Understanding(verb=META, question="items")
    if slots.scenery or slots.crowd or slots.is_commonplace:
        noun = (
            slots.noun_behind if slots.is_body and slots.noun_behind else slots.noun
        )  # "run a thumb along it"
        act = Act(verb=Verb.LOOK, what=noun, words=clause.worded)
        return Understanding(verb="look", what=noun, words=act.words, act=act)
    return _search(slots) if slots.sense.name == "look" else None


def _is_named(slots: DeedSlots, being: SceneName) -> bool:
    """Check that somebody is called by a word of their name or looks."""
    return any(word.text in being.words for word in slots.object)


def _look_around(slots: DeedSlots) -> Understanding:
    """Return a look at what was named last in the line: "odd apples, look closer"; else at the place."""
    before = slots.scene.mentioned_thing
    if slots.is_empty and before is not None and before.kind == THING:
        return _look_at(slots, before)
    return Understanding(verb=META, question="where")


def _goes_there(slots: DeedSlots) -> bool:
    """Check that a look at a way means to take it: "let us check out the house"."""
    intent = {*slots.clause.intent.split()}
    # In "squint at the orchard to see", nobody goes; nor in "gaze out at the gap".
    aside = set[str]() if slots.match.phrase[0] in _VISITING or "go" in slots.clause.said else {"out", "see"}
    said = {word.text for word in slots.clause.core} - aside
    walks = bool(said & _WALKING or intent & {"us", "we", "go"})
    walks = walks or slots.match.phrase[0] in _STROLLING
    visits = slots.match.phrase[0] in _VISITING and not slots.behind("for")
    return slots.sense.name == "look" and (walks or visits)


def _look_at(slots: DeedSlots, found: SceneName) -> Understanding:
    words = slots.clause.worded
    target = found.key if found.kind in OTHERS else None
    act = Act(verb=Verb.LOOK, what=found.key, target=target, words=words)
    if found.kind == FRIEND:
        act = Act(words=words, target=found.key)  # the DM has nothing to tell about a friend
    label = None if target is None else found.label
    return Understanding(verb="look", target=label, what=found.label, words=words, act=act)


def read_search(slots: DeedSlots) -> Understanding:
    """Return a look at the thing that is named; else a search of the whole place."""
    thing = slots.find_object((THING,)) or slots.thing
    if thing is not None:
        return _look_at(slots, thing)
    way = slots.way
    if way is not None and way.label.split()[0] not in word_lists().groups["preposition"]:
        return read_way(slots.clause, slots.scene, way)  # it is searched from inside
    return _search(slots)


def _search(slots: DeedSlots) -> Understanding:
    act = Act(verb=Verb.SEARCH, words=slots.clause.worded)
    return Understanding(verb="search", what=slots.noun or None, words=act.words, act=act)


def read_take(slots: DeedSlots) -> Understanding | None:
    """Return that a thing is taken; a way is gone, and what somebody holds is snatched."""
    clause, scene = slots.clause, slots.scene
    thing = slots.find_object((THING,))
    if thing is None and _is_ordered(slots):
        return read_buy(slots)
    if thing is None:
        if (slots.object_being is not None or slots.crowd) and slots.behind("from", "off", "of"):
            return read_attempt(slots, STEALING)
        way = slots.find_object((WAY,)) or (slots.way if slots.match.phrase[0] == "take" else None)
        if way is not None and not slots.find_object((ITEM,)):
            return read_way(clause, scene, way)
        if slots.find_object((ITEM,)) is not None:
            return read_use(slots)
        thing = slots.thing
    if thing is not None:
        act = Act(verb=Verb.TAKE, what=thing.key, words=clause.worded)
        return Understanding(verb="take", what=thing.label, words=act.words, act=act)
    return _take_scenery(slots)


def _is_ordered(slots: DeedSlots) -> bool:
    """Check for "get some soup" where somebody serves it."""
    served = word_lists().alike
    is_ware = any(
        word.text in served[kind] for word in slots.object for kind in ("drink", "food", "soup", "bed")
    )
    return is_ware and slots.match.phrase[0] in ("get", "grab", "fetch") and slots.scene.host is not None


def _take_scenery(slots: DeedSlots) -> Understanding | None:
    """Return an attempt to take what was told of; refused, if nothing of that name was."""
    clause = slots.clause
    if slots.scenery or slots.is_commonplace:
        attempt = rate_attempt(TAKING, clause)
        act = Act(verb=Verb.TRY, what=slots.noun, words=clause.worded, attempt=attempt)
        return Understanding(verb="take", what=slots.noun, words=act.words, check=attempt, act=act)
    if slots.being is not None or not slots.noun:
        return None
    things = ", ".join(name.label for name in slots.scene.things)
    choices = f"; there is {things}" if things else ""
    return refuse(clause.text, f"there is no {slots.noun!r} here to take{choices}")


def read_open(slots: DeedSlots) -> Understanding | None:
    """Return that a thing or a way is opened, or forced if it was only told of."""
    found = slots.find_object((THING, WAY)) or slots.find((THING, WAY))
    if found is not None:
        act = Act(verb=Verb.OPEN, what=found.key, words=slots.clause.worded)
        return Understanding(verb="open", what=found.label, words=act.words, act=act)
    if slots.scenery or slots.is_commonplace:
        return read_attempt(slots, FORCING)
    if slots.noun and slots.being is None and slots.item is None:
        if slots.object and slots.object[0].text == "my":
            return refuse(slots.clause.text, f"you have no {slots.noun!r}")
        return refuse(slots.clause.text, f"there is no {slots.noun!r} here to open")
    return None


def read_give(slots: DeedSlots) -> Understanding | None:
    """Return that an item or coins are given to somebody who is here."""
    absent = find_absent_taker(slots.scene, slots.clause.line, slots.words)
    return refuse_name(slots.scene, slots.clause.text, absent, GIVE_TO) if absent else _read_gift(slots)


def _read_gift(slots: DeedSlots) -> Understanding | None:
    """Return that an item or coins are given; coins for nobody are left, and foes are bribed."""
    scene, gold, phrase = slots.scene, slots.gold, slots.match.phrase[0]
    to = find_recipient(slots)
    shared = {word.text for word in slots.behind("with", "among", "between", "around", "to")}
    if shared & _OTHERS_ALL and slots.item is not None and scene.friends:
        return read_use(slots)  # "share some rations with the others"
    if to is None and gold is not None and phrase in _LEAVING:
        return _spend(slots, gold)
    is_paid = gold is not None and phrase not in _LEAVING
    if to is None and phrase != "leave" and (slots.item is not None or is_paid) and len(scene.persons) == 1:
        to = scene.persons[0]
    if to is None and phrase == "offer" and slots.item is not None and not scene.persons and scene.foes:
        to = scene.foes[0]
    if to is None:
        return None
    if gold is not None or (slots.item is None and to.kind != FOE and phrase in _PAYING):
        return _give_gold(slots, to, gold or 0)
    if slots.item is None and to.kind == FOE:
        given = " ".join(word.text for word in _given_words(slots, to))
        offered = parley_with(slots, to)
        return replace(offered, verb="give", what=given) if given and phrase not in _BRIBING else offered
    return _give_item(slots, to)


def _give_item(slots: DeedSlots, to: SceneName) -> Understanding | None:
    given = _given_words(slots, to)
    item = slots.scene.find(given, (ITEM,)) or slots.item
    if item is None:
        noun = " ".join(word.text for word in given if word.text != "my")
        return refuse(slots.clause.text, f"you have no {noun!r}") if slots.noun else None
    act = Act(verb=Verb.GIVE, target=to.key, what=item.key, words=slots.clause.worded)
    return Understanding(verb="give", target=to.label, what=item.label, words=act.words, act=act)


def _given_words(slots: DeedSlots, to: SceneName) -> Sequence[TypedWord]:
    first = name_recipient(slots)
    return first[1] if first is not None and first[0] == to and first[1] else slots.object


def _give_gold(slots: DeedSlots, to: SceneName, amount: int) -> Understanding:
    if not amount:
        return refuse(slots.clause.text, f"say how many gold pieces: give 1 gold to {to.label}")
    act = Act(verb=Verb.GIVE, target=to.key, what=GOLD, gold=amount, words=slots.clause.worded)
    return Understanding(verb="give", target=to.label, what=f"{amount} gold", words=act.words, act=act)


def _spend(slots: DeedSlots, amount: int) -> Understanding:
    act = Act(verb=Verb.USE, what=GOLD, gold=amount or 1, words=slots.clause.worded)
    return Understanding(verb="use", what=f"{act.gold} gold", words=act.words, act=act)


def read_use(slots: DeedSlots) -> Understanding | None:
    """Return that something carried is used; what stands here is handled; what is not there is refused."""
    approach, clause = slots.sense.approach, slots.clause
    if not approach and slots.gold is not None and slots.find_object((ITEM,)) is None:
        return _spend(slots, slots.gold)
    item = slots.find_object((ITEM,)) or slots.item or _find_handy(slots)
    if approach in _HANDY and item is not None and item.key == "backpack":
        item = _find_handy(slots, is_generic=True) or item  # "eat something from my pack"
    if _is_spell(slots, item) or slots.find_object((SPELL,)) is not None:
        return read_cast(slots)
    if item is not None:
        being = slots.being
        key, label = (None, None) if being is None else (being.key, being.label)
        how = rate_use(slots)
        act = Act(verb=Verb.USE, what=item.key, target=key, words=clause.worded, attempt=how)
        return Understanding(verb="use", target=label, what=item.label, words=act.words, act=act)
    return _read_use_of_thing(slots)


def _read_use_of_thing(slots: DeedSlots) -> Understanding | None:
    """Return that something is handled that is not carried; refused if it is said to be."""
    approach, clause = slots.sense.approach, slots.clause
    if approach in ("eat", "drink") and slots.find_object((THING,)) is not None:
        return replace(read_attempt(slots, HANDLING), verb="use")  # an apple from the bough
    if slots.thing is not None or slots.scenery or slots.is_empty:
        return read_attempt(slots, HANDLING)
    if slots.being is not None:
        return None
    is_worn = bool(slots.object) and slots.object[-1].text in word_group("clothes")
    if slots.object and slots.object[0].text == "my" and not slots.is_body and not is_worn:
        return refuse(clause.text, f"you have no {slots.noun!r}")
    if slots.noun and (approach in _HANDY or recognised(slots.noun) is not None):
        return refuse(clause.text, f"you have no {slots.noun!r}")
    return read_attempt(slots, HANDLING)


def _is_spell(slots: DeedSlots, item: SceneName | None) -> bool:
    """Check that a spell is named in full, and no item as well: "put up my shield of force"."""
    texts = {word.text for word in slots.all_words}
    longest = max((len(spell.words) for spell in slots.scene.spells if spell.words <= texts), default=0)
    return longest > (0 if item is None else len(item.words & texts))


def _find_handy(slots: DeedSlots, *, is_generic: bool = False) -> SceneName | None:
    is_generic = is_generic or slots.noun in _GENERIC
    names = _HANDY.get(slots.sense.approach, ()) if is_generic else ()
    found = (slots.scene.find([name], (ITEM,)) for name in names)
    return next((item for item in found if item is not None), None)


def read_buy(slots: DeedSlots) -> Understanding:
    """Return that something is bought from who is here, and looks like selling it."""
    scene = slots.scene
    if not scene.persons:
        return refuse(slots.clause.text, "there is nobody here who sells anything")
    seller = slots.find((PERSON,)) if slots.behind("from", "off") else None
    if seller is None and len(scene.persons) > 1:
        seller = scene.host or scene.find(["innkeeper"], (PERSON,))
    seller = seller or scene.speaker or scene.persons[0]
    ware = _ware(slots)
    act = Act(verb=Verb.BUY, target=seller.key, what=ware[:LONGEST_LABEL], words=slots.clause.worded)
    return Understanding(verb="buy", target=seller.label, what=ware, words=act.words, act=act)


def _ware(slots: DeedSlots) -> str:
    """Return what is bought, in the words that were typed; else what the verb says."""
    skipped = word_lists().groups["article"] | {"me", "us", "myself", "everybody", "everyone", "*"}
    texts = [word.text for word in slots.object] if slots.match.gap is None else []
    while texts and texts[0] in skipped:
        texts = texts[1:]
    phrase = " ".join(word for word in slots.match.phrase[1:] if word not in skipped)
    ware = " ".join(texts) or phrase or "something"
    if not _is_served(texts):
        ware = _served_in(slots.clause) or ware
        texts = ware.split()
    filled = next((text for text in texts if text in _FILLED_WITH), None)
    is_told = filled is None or any(alike_groups(text) & _FILLINGS for text in texts if text != filled)
    return ware if filled is None or is_told else f"{filled} of {_FILLED_WITH[filled]}"


def _is_served(texts: Sequence[str]) -> bool:
    """Check for a word for what is sold anywhere: food, drink, a bed, equipment."""
    served = word_lists().alike
    return any(text in served[kind] for text in texts for kind in _SERVED) or any(
        recognised(text) is not None for text in texts
    )


def _served_in(clause: Clause) -> str:
    """Return what is ordered elsewhere in the words: "beer. big.", "one soup for the boy, I pay"."""
    served = word_lists().alike
    return next((word.text for word in clause.words for kind in _SERVED if word.text in served[kind]), "")


def read_sell(slots: DeedSlots) -> Understanding | None:
    """Return that something is sold to who is here; foes are bargained with."""
    scene, clause = slots.scene, slots.clause
    item = slots.find_object((ITEM,)) or slots.item
    to = slots.find((PERSON, FOE)) or (scene.foes[0] if scene.foes else scene.speaker)
    if to is not None and to.kind == FOE:
        return parley_with(slots, to)
    if item is None:
        return refuse(clause.text, f"you have no {slots.noun!r} to sell") if slots.noun else None
    if to is None:
        return refuse(clause.text, "there is nobody here who buys anything")
    act = Act(verb=Verb.SELL, target=to.key, what=item.key, words=clause.worded)
    return Understanding(verb="sell", target=to.label, what=item.label, words=act.words, act=act)
