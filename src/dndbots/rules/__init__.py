"""The rules: dice, characters, monsters, fights, spells. Pure functions; chance is an argument.

Names are loaded when they are first used. The text and the tables are CC-BY-4.0, see LICENSE here.
"""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.rules.characters.abilities import Ability, modifier, modifiers, reaction_modifier
    from dndbots.rules.characters.armor import armor_class, ascending, descending
    from dndbots.rules.characters.classes import CharacterClass, all_classes, char_class
    from dndbots.rules.characters.creation import best_class, new_character, outfit, ready_made, unfit
    from dndbots.rules.characters.equipment import Armor, Gear, Weapon, all_things, recognised, thing
    from dndbots.rules.checks import ability_check, listen, open_door, search, skill_check, surprise
    from dndbots.rules.conditions import Condition, all_conditions, condition
    from dndbots.rules.dice import Die, Roll, bounds, roll
    from dndbots.rules.experience import (
        LevelUp,
        Share,
        level_for,
        level_up,
        lose_level,
        share,
        xp_for,
        xp_needed,
    )
    from dndbots.rules.fights.attacks import (
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
    from dndbots.rules.fights.combatants import Combatant
    from dndbots.rules.fights.effects import Effect, applied, resolve
    from dndbots.rules.fights.healing import (
        DeathWatch,
        Healing,
        Life,
        bind_wounds,
        death_watch,
        life,
        regenerate,
        rest,
    )
    from dndbots.rules.fights.monsters import Monster, all_monsters, monster
    from dndbots.rules.fights.spells import Casting, Spell, all_spells, cast, spell, spells_for
    from dndbots.rules.fights.strikes import EffectRule, Strike
    from dndbots.rules.fights.turning import Turning, turn_undead
    from dndbots.rules.light import Light, burn, kindle
    from dndbots.rules.outcomes import Check, Outcome
    from dndbots.rules.reactions import Attitude, Reaction, reaction
    from dndbots.rules.saves import SaveKind, Saves, save
    from dndbots.rules.treasure import Hoard, Purse, hoard, purse

_HOMES = {
    "dndbots.rules.characters.abilities": ["Ability", "modifier", "modifiers", "reaction_modifier"],
    "dndbots.rules.characters.armor": ["armor_class", "ascending", "descending"],
    "dndbots.rules.checks": ["ability_check", "listen", "open_door", "search", "skill_check", "surprise"],
    "dndbots.rules.characters.classes": ["CharacterClass", "all_classes", "char_class"],
    "dndbots.rules.fights.attacks": [
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
    "dndbots.rules.fights.combatants": ["Combatant"],
    "dndbots.rules.conditions": ["Condition", "all_conditions", "condition"],
    "dndbots.rules.characters.creation": ["best_class", "new_character", "outfit", "ready_made", "unfit"],
    "dndbots.rules.dice": ["Die", "Roll", "bounds", "roll"],
    "dndbots.rules.fights.effects": ["Effect", "applied", "resolve"],
    "dndbots.rules.characters.equipment": ["Armor", "Gear", "Weapon", "all_things", "recognised", "thing"],
    "dndbots.rules.experience": [
        "LevelUp",
        "Share",
        "level_for",
        "level_up",
        "lose_level",
        "share",
        "xp_for",
        "xp_needed",
    ],
    "dndbots.rules.fights.healing": [
        "Healing",
        "Life",
        "DeathWatch",
        "bind_wounds",
        "death_watch",
        "life",
        "regenerate",
        "rest",
    ],
    "dndbots.rules.light": ["Light", "burn", "kindle"],
    "dndbots.rules.fights.monsters": ["Monster", "all_monsters", "monster"],
    "dndbots.rules.outcomes": ["Check", "Outcome"],
    "dndbots.rules.reactions": ["Attitude", "Reaction", "reaction"],
    "dndbots.rules.saves": ["SaveKind", "Saves", "save"],
    "dndbots.rules.fights.spells": ["Casting", "Spell", "all_spells", "cast", "spell", "spells_for"],
    "dndbots.rules.fights.strikes": ["EffectRule", "Strike"],
    "dndbots.rules.treasure": ["Hoard", "Purse", "hoard", "purse"],
    "dndbots.rules.fights.turning": ["Turning", "turn_undead"],
}

__all__ = [
    "Ability",
    "Armor",
    "Attack",
    "Attitude",
    "Breath",
    "Casting",
    "CharacterClass",
    "Check",
    "Combatant",
    "Condition",
    "Damage",
    "DeathWatch",
    "Die",
    "Effect",
    "EffectRule",
    "Gear",
    "Healing",
    "Hoard",
    "Initiative",
    "LevelUp",
    "Life",
    "Light",
    "Monster",
    "Outcome",
    "Purse",
    "Reaction",
    "Roll",
    "SaveKind",
    "Saves",
    "Share",
    "Spell",
    "Strike",
    "Turning",
    "Weapon",
    "ability_check",
    "all_classes",
    "all_conditions",
    "all_monsters",
    "all_spells",
    "all_things",
    "applied",
    "armor_class",
    "ascending",
    "attack",
    "attack_all",
    "best_class",
    "bind_wounds",
    "bounds",
    "breathe",
    "burn",
    "cast",
    "char_class",
    "condition",
    "damage",
    "death_watch",
    "descending",
    "hoard",
    "initiative",
    "kindle",
    "level_for",
    "level_up",
    "life",
    "listen",
    "lose_level",
    "modifier",
    "modifiers",
    "monster",
    "morale",
    "new_character",
    "open_door",
    "outfit",
    "purse",
    "reaction",
    "reaction_modifier",
    "ready_made",
    "recognised",
    "regenerate",
    "resolve",
    "rest",
    "roll",
    "save",
    "search",
    "share",
    "skill_check",
    "spell",
    "spells_for",
    "surprise",
    "thing",
    "turn_undead",
    "unfit",
    "xp_for",
    "xp_needed",
]

__getattr__ = _lazy.exports(__name__, {name: home for home, names in _HOMES.items() for name in names})
