"""Weigh the senses of a verb against what is here: "get them" attacks foes, "get the shoe" takes it."""

from collections.abc import Callable
from typing import Final

from dndbots.game.input.grammar.slots import DeedSlots, find_recipient
from dndbots.game.input.vocabulary.lexicon import word_lists
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, ITEM, PERSON, SELF, THING, WAY
from dndbots.rules.characters.equipment import Weapon, recognised

_A_WORD: Final = 1.5  # the weight of each word of a phrase
# Verbs of movement that are tried rather than done, unless they name a way.
_OFTEN_TRIED: Final = frozenset(("climb", "swim", "slide", "jump", "hit", "press", "rock"))
_LAID: Final = frozenset(("down", "out", "off", "away", "up"))
_HURLING: Final = frozenset(("throw", "fling", "chuck", "toss", "flip", "hurl", "lob"))
_AT_BEINGS: Final = frozenset(("shove", "scare", "persuade", "deceive", "pickpocket", "tame"))
_FOR_FRIENDS: Final = frozenset(("protect", "help", "heave"))


def weigh_sense(slots: DeedSlots) -> float:
    """Return how well a sense fits: the words it has, and whether its object is of the right kind."""
    weigh = _WEIGHTS.get(slots.sense.name) or _WEIGHTS.get(slots.sense.verb)
    return _A_WORD * slots.match.weight + (0.0 if weigh is None else weigh(slots))


def _attack(slots: DeedSlots) -> float:
    means = slots.means if slots.behind("with", "using") and slots.being is not None else None
    armed = means is not None and isinstance(recognised(means.key), Weapon)
    return _attacked(slots) + (1.0 if armed else 0.0)


def _attacked(slots: DeedSlots) -> float:
    scene, target = slots.scene, slots.being
    is_laid = slots.match.gap is not None and slots.match.phrase[-1] in _LAID
    if is_laid and slots.find_object((ITEM,)) is not None:
        return -5.0  # "put my sword down"
    if target is not None and target.kind in (FOE, PERSON):
        is_aside = target is not slots.object_being and slots.object and slots.find_object((ITEM,)) is None
        return 0.5 if is_aside else 2.5 if target.kind == FOE else 1.8
    if slots.is_empty:
        return 2.0 if scene.foes else -1.0
    if target is not None:
        return -1.0
    is_nowhere = bool(slots.behind("at", "into")) and not (slots.thing or slots.scenery)
    if slots.find_object((ITEM,)) is not None and (scene.foes or is_nowhere):
        return 0.5
    return -3.0 if slots.thing or slots.scenery or not scene.foes else -0.5


def _take(slots: DeedSlots) -> float:
    if slots.is_empty or not slots.object:
        return -3.0  # "get to Zara"
    if slots.find_object((THING,)) is not None:
        return 2.0
    if slots.object_being is not None and slots.find_object((ITEM,)) is None:
        return -2.0
    if slots.find_object((WAY, ITEM)) is not None:
        return -1.0
    return 1.0 if slots.scenery else 0.0


def _go(slots: DeedSlots) -> float:
    if slots.way is not None:
        return 1.5
    if slots.match.phrase[0] in _OFTEN_TRIED:
        said = {*slots.clause.said} & {"up", "down", "out", "back"}
        led = any(way.label.split()[0] in said for way in slots.scene.ways)
        stairs = any(word.text in word_lists().alike["stairs"] for word in slots.all_words)
        upward = stairs and any(way.label.split()[0] == "up" for way in slots.scene.ways)
        return 2.5 if upward or (led and not (slots.thing or slots.scenery)) else -2.0
    if slots.thing is not None or slots.being is not None:
        return -1.0
    return -0.5 if slots.noun else 0.5


def _give(slots: DeedSlots) -> float:
    if slots.is_empty:
        return -3.0
    if slots.behind("at") and slots.match.phrase[0] in _HURLING and slots.scene.foes:
        return -2.5
    recipient = find_recipient(slots)
    if slots.match.phrase[0] in _HURLING and slots.gold is None and slots.item is None and not slots.thing:
        return -2.5 if recipient is not None and recipient.kind == FOE else 0.0  # "throw snow in their eyes"
    if find_recipient(slots) is None and slots.match.phrase[0] == "offer" and slots.item is not None:
        return 0.0
    if find_recipient(slots) is None:
        return 0.8 if slots.gold is not None else -2.5
    return 2.2 if slots.gold is not None or slots.item is not None else 0.0


def _use(slots: DeedSlots) -> float:
    approach = slots.sense.approach
    if approach in ("eat", "drink"):
        return 1.0 if slots.object_being is None else -2.0
    if approach == "light":
        return 2.0 if slots.item is not None or slots.is_empty else -1.5
    if slots.is_empty:
        return -2.0
    if slots.find_object((ITEM,)) is not None:
        return 1.8
    return 0.2 if slots.item is not None else -1.0


def _look(slots: DeedSlots) -> float:
    return 1.0 if slots.thing is not None or slots.being is not None else 0.3


def _open(slots: DeedSlots) -> float:
    return 2.0 if slots.find_object((THING, WAY)) is not None else -1.5


def _answer(slots: DeedSlots) -> float:
    return 1.5 if slots.scene.offers else -2.0


def _bind(slots: DeedSlots) -> float:
    return 2.0 if slots.find((FRIEND, SELF)) is not None else -0.5


def _buy(slots: DeedSlots) -> float:
    return 1.0 if slots.scene.persons else 0.0


def _parley(slots: DeedSlots) -> float:
    return 1.0 if slots.scene.foes or slots.scene.persons else -1.0


def _tell(slots: DeedSlots) -> float:
    return 0.5 if slots.being is not None or slots.crowd else -0.5


def _try(slots: DeedSlots) -> float:
    being, approach = slots.object_being, slots.sense.approach
    if approach == "scare" and slots.being is not None and slots.being.kind == FRIEND:
        return -1.0  # "yell at Zara"
    if approach in _AT_BEINGS:
        return 1.6 if slots.being is not None else 0.0
    if approach in _FOR_FRIENDS:
        return 1.8 if being is not None and being.kind == FRIEND else 0.3
    if approach == "force":
        return 2.0 if slots.thing is not None or (slots.scenery and being is None) else 0.4
    if approach == "climb" and slots.way is not None:
        return 0.0
    return 0.5


_WEIGHTS: Final[dict[str, Callable[[DeedSlots], float]]] = {
    "attack": _attack,
    "take": _take,
    "go": _go,
    "flee": _go,
    "give": _give,
    "use": _use,
    "look": _look,
    "open": _open,
    "accept": _answer,
    "refuse": _answer,
    "bind": _bind,
    "buy": _buy,
    "parley": _parley,
    "tell": _tell,
    "try": _try,
}
