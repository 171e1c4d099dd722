"""Sheets as facts: what is written of a character is kept by canon, like all else."""

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from dndbots.models import Character, Stats

_STATS: Final = tuple(Stats.model_fields)
SPELLS: Final = "spells_ready"
XP: Final = "xp"


def public_facts(character: Character) -> list[dict[str, JsonValue]]:
    """What everybody in the party sees of somebody."""
    return _facts(character.uid, {"class": character.char_class, "level": character.level})


def own_facts(character: Character) -> list[dict[str, JsonValue]]:
    """What a character knows of itself."""
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


def _facts(uid: str, said: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    return [{"subject": uid, "key": key, "value": value} for key, value in said.items()]
