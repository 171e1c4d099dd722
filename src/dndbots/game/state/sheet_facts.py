"""Character sheets as facts, so that canon keeps them like everything else."""

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from dndbots.models import Character, Stats

_STATS: Final = tuple(Stats.model_fields)
SPELLS: Final = "spells_ready"
XP: Final = "xp"


def public_facts(character: Character) -> list[dict[str, JsonValue]]:
    """Return the facts of a sheet that the whole party sees."""
    return _facts(character.uid, {"class": character.char_class, "level": character.level})


def own_facts(character: Character) -> list[dict[str, JsonValue]]:
    """Return the facts of a sheet that only the character itself knows."""
    stats = {name: getattr(character.stats, name) for name in _STATS}
    return _facts(
        character.uid,
        {
            "hp": character.hp,
            "hp_max": character.hp_max,
            "ac": character.ac,
            "gold": character.gold,
            XP: 0,
            **stats,
        },
    )


def nature_facts(character: Character, *, temper: str, goal: str) -> list[dict[str, JsonValue]]:
    """Return what a character is like and wants, which only it knows itself."""
    return _facts(character.uid, {"temper": temper, "wants": goal})


def _facts(uid: str, values: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    return [{"subject": uid, "key": key, "value": value} for key, value in values.items()]
