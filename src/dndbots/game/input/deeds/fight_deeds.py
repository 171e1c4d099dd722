"""Deeds of a fight: attacks, spells, bound wounds, and talk with foes."""

from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.attempts import BRAWLING, DISTRACTING, FORCING, HELPING, read_attempt
from dndbots.game.input.grammar.slots import OTHERS, DeedSlots
from dndbots.game.input.meanings import Understanding, refuse
from dndbots.game.input.talk.absent_names import names_being
from dndbots.game.input.vocabulary.lexicon import word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    SELF,
    THING,
    SceneName,
    SceneNames,
)
from dndbots.rules.characters.equipment import Weapon, recognised

# Prepositions before whom a blow or a missile meets.
_AIMED: Final = ("at", "into", "on", "against", "in", "upon", "through", "from", "towards", "toward", "to")
_AIMED_AT: Final = ("at", "into", "against", "on", "through", "from", "to", "toward", "towards", "over")
_SOFT: Final = frozenset(("snow", "snowball", "snowballs", "mud", "dirt", "sand", "water", "ash", "leaves"))
_DYING: Final = "dying"


def read_attack(slots: DeedSlots) -> Understanding | None:
    """Return an attack with its target and means."""
    scene = slots.scene
    if _is_by_magic(slots):
        return read_cast(slots)
    if slots.sense.approach == "shoot" and slots.object and slots.object[-1].text in _SOFT:
        return read_attempt(slots, DISTRACTING)
    target = _attacked(slots)
    is_swung = bool(scene.foes) and slots.find_object((ITEM,)) is not None and not slots.behind(*_AIMED_AT)
    if target is None and is_swung:
        return _strike(slots, scene.foes[0])  # "swing the sword in a wide arc"
    if target is None and (slots.thing is not None or slots.scenery or not scene.foes):
        return _attack_nobody(slots)
    return _strike(slots, target or scene.foes[0])


def _strike(slots: DeedSlots, target: SceneName) -> Understanding:
    clause = slots.clause
    if target.kind == FRIEND:
        return refuse(clause.text, f"{target.label} is on your side")
    hurled = slots.find_object((THING,)) if slots.behind(*_AIMED_AT) else None
    means = slots.means or hurled
    if means is None and slots.sense.approach == "shoot":
        means = _missile_weapon(slots.scene)
    what = None if means is None else means.key
    act = Act(verb=Verb.ATTACK, target=target.key, what=what, words=clause.worded)
    return Understanding(verb="attack", target=target.label, what=what, words=act.words, act=act)


def _missile_weapon(scene: SceneNames) -> SceneName | None:
    """Return the bow or sling that is carried: "shoot" says that it is used."""
    weapons = ((item, recognised(item.key)) for item in scene.items)
    return next((item for item, gear in weapons if isinstance(gear, Weapon) and gear.missile), None)


def _attack_nobody(slots: DeedSlots) -> Understanding:
    """Return an attack on a thing as an attempt to break it, one on a crowd as a brawl, others refused."""
    is_being = names_being(slots.noun.rpartition(" ")[2].removesuffix("s"))
    is_fixed = any(word.text in word_group("fixture") for word in slots.all_words)
    if slots.thing is not None or ((slots.scenery or is_fixed) and not is_being):
        return read_attempt(slots, FORCING)
    if slots.crowd:
        return read_attempt(slots, BRAWLING)
    noun = slots.noun if slots.find_object((ITEM,)) is None else slots.noun_behind  # "swing my axe at him"
    noun = "foe" if noun in word_group("size") or not noun else noun
    here = ", ".join(name.label for name in (*slots.scene.foes, *slots.scene.persons))
    who = f"here you see {here}" if here else "nobody is here but your own party"
    return refuse(slots.clause.text, f"there is no {noun} here to fight; {who}")


def explain_lack(scene: SceneNames, noun: str) -> str:
    """Return that something is not carried, and what is, if it may be meant: other weapons for a weapon."""
    weapons = [item.label for item in scene.items if isinstance(recognised(item.key), Weapon)]
    is_weapon = isinstance(recognised(noun), Weapon) and weapons
    return f"you have no {noun!r}" + (f"; your weapons are {', '.join(weapons)}" if is_weapon else "")


def _is_by_magic(slots: DeedSlots) -> bool:
    """Check for "with my sleep spell", "with Sleep"."""
    behind = slots.behind("with", "using")
    texts = {word.text for word in behind}
    is_named = any(spell.words <= texts for spell in slots.scene.spells)
    return bool(behind) and (
        is_named or bool(texts & {"spell", "magic"} and slots.scene.find(behind, (ITEM,)) is None)
    )


def _attacked(slots: DeedSlots) -> SceneName | None:
    kinds = (FOE, PERSON, FRIEND)
    if slots.find_object((ITEM,)) is not None or slots.object_being is None:
        behind = slots.behind(*_AIMED)
        found = slots.scene.find(behind, kinds) if behind else None
        if found is not None:
            return found
    return slots.find(kinds)


def read_cast(slots: DeedSlots) -> Understanding | None:
    """Return a spell and its target; refused if it is not ready."""
    clause, scene = slots.clause, slots.scene
    phrase = {*slots.match.phrase}
    spell = slots.spell or next((name for name in scene.spells if name.words <= phrase), None)
    if spell is None and len(scene.spells) == 1 and _names_any_spell(slots.noun):
        spell = scene.spells[0]
    if spell is None:
        ready = ", ".join(name.label for name in scene.spells)
        rest = f"your spells are {ready}" if ready else "you have no spell ready"
        wanted = f"you cannot cast {slots.noun!r}" if slots.noun else "say which spell"
        return refuse(clause.text, f"{wanted}; {rest}")
    behind = slots.behind("at", "on", "upon", "against", "over", "for", "to")
    target = scene.find(behind, (FOE, FRIEND, PERSON, SELF)) if behind else slots.find(OTHERS)
    key, label = (None, None) if target is None else (target.key, target.label)
    act = Act(verb=Verb.CAST, what=spell.key, target=key, words=clause.worded)
    return Understanding(verb="cast", target=label, what=spell.label, words=act.words, act=act)


def _names_any_spell(noun: str) -> bool:
    """Check that a spell is meant which is not called by its name: "that heal thing"."""
    told = {*noun.split()}
    return not noun or bool(told & {"spell", "magic", "thing", "cantrip", "one"})


def read_bind(slots: DeedSlots) -> Understanding | None:
    """Return that wounds are bound, or healed by a spell; None if nobody is named or dying."""
    scene = slots.scene
    target = slots.find((FRIEND, PERSON)) or (scene.me if slots.is_self else None)
    if target is None:
        fallen = (name for name in scene.friends if _DYING in scene.table.conditions(name.key))
        target = next(fallen, None)
    if target is None:
        return None
    cures = [name for name in scene.spells if {"cure", "heal"} & name.words]
    if cures and slots.sense.approach == "heal":
        act = Act(verb=Verb.CAST, what=cures[0].key, target=target.key, words=slots.clause.worded)
        return Understanding(verb="cast", target=target.label, what=cures[0].label, words=act.words, act=act)
    if target.kind != FRIEND:
        return read_attempt(slots, HELPING)
    act = Act(verb=Verb.BIND, target=target.key, words=slots.clause.worded)
    return Understanding(verb="bind", target=target.label, words=act.words, act=act)


def read_parley(slots: DeedSlots) -> Understanding:
    """Return an attempt to come to terms with foes, or to bargain with a person."""
    scene = slots.scene
    target = slots.find((FOE, PERSON)) or (scene.foes[0] if scene.foes else scene.speaker)
    if target is None:
        return refuse(slots.clause.text, "there is nobody here to bargain with")
    return parley_with(slots, target)


def parley_with(slots: DeedSlots, target: SceneName) -> Understanding:
    """Return a parley with foes; with a person, words that ask for other terms."""
    verb = Verb.PARLEY if target.kind == FOE else Verb.TELL
    act = Act(verb=verb, target=target.key, words=slots.clause.worded)
    return Understanding(verb="parley", target=target.label, words=act.words, act=act)
