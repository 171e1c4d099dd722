"""The system prompts of players, the DM and NPCs. Their fixed texts are Markdown files beside this module.

Fixed parts come first and the memory of the moment last, because a provider's cache keeps the beginning of a
prompt that stays the same from one question to the next.
"""

from collections.abc import Iterable
from importlib import resources
from typing import Final

from dndbots.models import Character
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label


def _text(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.md").read_text("utf-8").rstrip("\n")


RULES_SHORTHAND: Final = _text("rules")
PLAYER_PRINCIPLES: Final = _text("player")
DM_PRINCIPLES: Final = _text("dm")
DM_TOOLS: Final = _text("dm_tools")
NPC_PRINCIPLES: Final = _text("npc")
DCML_GUIDE: Final = _text("memory_guide")
CONTEXT_GUIDE: Final = _text("context_guide")


def format_character_sheet(character: Character, *, passing: bool = True) -> str:
    """Return a character's sheet on a few lines; without `passing`, less the hit points and things of now."""
    stats = character.stats
    scores = ", ".join(f"{key.upper()} {getattr(stats, key)}" for key in type(stats).model_fields)
    now = (
        f"HP: {character.hp}/{character.hp_max}, AC: {character.ac}, gold: {character.gold}"
        if passing
        else f"HP: {character.hp_max} unhurt, AC: {character.ac}"
    )
    carried = [f"Equipment: {', '.join(map(one_line, character.equipment)) or 'nothing'}"] if passing else []
    return "\n".join(
        (
            "YOUR CHARACTER:",
            f"Name: {write_label(character.name)}",
            f"Class: {one_line(character.char_class)}, level {character.level}",
            now,
            f"Abilities: {scores}",
            *carried,
        )
    )


def build_player_prompt(character: Character, memory: str | None = None, *, passing: bool = True) -> str:
    """Return the system prompt of a player; `memory` is that character's memory document.

    Without `passing`, the sheet has no hit points, gold and things of the moment: each question shows them,
    and the prompt stays the same.
    """
    kind = one_line(character.char_class)
    parts = [
        f"You are {write_label(character.name)}, a level {character.level} {kind}, in a game of D&D.",
        f"BASIC RULES:\n{RULES_SHORTHAND}",
        f"HOW TO PLAY:\n{PLAYER_PRINCIPLES}",
        format_character_sheet(character, passing=passing),
    ]
    return _with_memory(parts, memory)


def build_dm_prompt(
    scenario: str, characters: Iterable[Character], memory: str | None = None, *, tools: bool = False
) -> str:
    """Return the system prompt of the dungeon master; `memory` is the DM's own document.

    With `tools`, it explains the tools that make things happen.
    """
    party = "\n".join(
        f"- {write_label(character.name)}, level {character.level} {one_line(character.char_class)}"
        for character in characters
    )
    principles = f"{DM_PRINCIPLES}\n{DM_TOOLS}" if tools else DM_PRINCIPLES
    parts = [
        "You are the dungeon master of a game of D&D.",
        f"BASIC RULES:\n{RULES_SHORTHAND}",
        f"HOW TO RUN IT:\n{principles}",
        f"SCENARIO:\n{scenario}",
        f"THE PARTY:\n{party}",
    ]
    return _with_memory(parts, memory)


def build_npc_prompt(name: str, about: Iterable[str] = (), memory: str | None = None) -> str:
    """Return the system prompt of an NPC. `about` are lines on that person, one fact each."""
    parts = [
        f"You are {write_label(name)}, somebody whom the heroes of a game of D&D meet.",
        f"HOW TO SPEAK:\n{NPC_PRINCIPLES}",
    ]
    own = "\n".join(f"- {one_line(line)}" for line in about)
    if own:
        parts.append(f"WHO YOU ARE:\n{own}")
    return _with_memory(parts, memory)


def _with_memory(parts: list[str], memory: str | None) -> str:
    return "\n\n".join([*parts, DCML_GUIDE, memory] if memory else parts)
