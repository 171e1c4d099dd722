"""The rules: dice, characters, monsters, fights, spells. Pure functions; chance is an argument.

Names are loaded when they are first used. The text and the tables are CC-BY-4.0, see LICENSE here.
"""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.rules.abilities import Ability, modifier, modifiers, reaction_modifier
    from dndbots.rules.armor import armor_class, ascending, descending
    from dndbots.rules.classes import CharacterClass, all_classes, char_class
    from dndbots.rules.combat import (
        Attack,
        Breath,
        Damage,
        Initiative,
        attack,
        attack_all,
        breathe,
        damage,
        initiative,
        morale,
    )
    from dndbots.rules.combatants import Combatant
    from dndbots.rules.conditions import Condition, all_conditions, condition
    from dndbots.rules.creation import best_class, new_character, outfit, ready_made, unfit
    from dndbots.rules.dice import Die, Roll, bounds, roll
    from dndbots.rules.effects import Effect, applied, resolve
    from dndbots.rules.equipment import Armor, Gear, Weapon, all_things, recognised, thing
    from dndbots.rules.monsters import Monster, all_monsters, monster
    from dndbots.rules.outcomes import Check, Outcome
    from dndbots.rules.saves import SaveKind, Saves, save
    from dndbots.rules.strikes import EffectRule, Strike

_HOMES = {
    "dndbots.rules.abilities": ["Ability", "modifier", "modifiers", "reaction_modifier"],
    "dndbots.rules.armor": ["armor_class", "ascending", "descending"],
    "dndbots.rules.classes": ["CharacterClass", "all_classes", "char_class"],
    "dndbots.rules.combat": [
        "Attack",
        "Breath",
        "Damage",
        "Initiative",
        "attack",
        "attack_all",
        "breathe",
        "damage",
        "initiative",
        "morale",
    ],
    "dndbots.rules.combatants": ["Combatant"],
    "dndbots.rules.conditions": ["Condition", "all_conditions", "condition"],
    "dndbots.rules.creation": ["best_class", "new_character", "outfit", "ready_made", "unfit"],
    "dndbots.rules.dice": ["Die", "Roll", "bounds", "roll"],
    "dndbots.rules.effects": ["Effect", "applied", "resolve"],
    "dndbots.rules.equipment": ["Armor", "Gear", "Weapon", "all_things", "recognised", "thing"],
    "dndbots.rules.monsters": ["Monster", "all_monsters", "monster"],
    "dndbots.rules.outcomes": ["Check", "Outcome"],
    "dndbots.rules.saves": ["SaveKind", "Saves", "save"],
    "dndbots.rules.strikes": ["EffectRule", "Strike"],
}

__all__ = [
    "Ability",
    "Armor",
    "Attack",
    "Breath",
    "CharacterClass",
    "Check",
    "Combatant",
    "Condition",
    "Damage",
    "Die",
    "Effect",
    "EffectRule",
    "Gear",
    "Initiative",
    "Monster",
    "Outcome",
    "Roll",
    "SaveKind",
    "Saves",
    "Strike",
    "Weapon",
    "all_classes",
    "all_conditions",
    "all_monsters",
    "all_things",
    "applied",
    "armor_class",
    "ascending",
    "attack",
    "attack_all",
    "best_class",
    "bounds",
    "breathe",
    "char_class",
    "condition",
    "damage",
    "descending",
    "initiative",
    "modifier",
    "modifiers",
    "monster",
    "morale",
    "new_character",
    "outfit",
    "reaction_modifier",
    "ready_made",
    "recognised",
    "resolve",
    "roll",
    "save",
    "thing",
    "unfit",
]

__getattr__ = _lazy.exports(__name__, {name: home for home, names in _HOMES.items() for name in names})
