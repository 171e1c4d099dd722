"""What each role is told. The parts that never change stand first, the memory of the moment last."""

from collections.abc import Iterable
from typing import Final

from dndbots.models import Character

RULES_SHORTHAND: Final = """\
- To try something risky: d20, at or under the ability. To hit: d20 plus bonuses against armor class.
- Damage comes off hit points. At 0 hit points you are dying; the dead do not act.
- Saves, morale and reactions are the referee's rolls. You never roll, and never state a result.
- One turn is one action and a few words. Say what you try, not whether it works."""

PLAYER_PRINCIPLES: Final = """\
- Speak and act as your character, in the first person, in a few sentences.
- You know what you perceived, were told or believe, and nothing else.
- Leave the other characters, the world and all outcomes to those who run them.
- Keep promises in mind, ask when unsure, and let others shine."""

DM_PRINCIPLES: Final = """\
- Describe what the characters perceive, play everyone they meet, and let the rules decide outcomes.
- What is written in your memory is true. Do not contradict it; the dead stay dead.
- Each character learns only what reaches its own senses. Hidden truth stays hidden until found.
- End on something to act upon, and give every player a part."""

DCML_GUIDE: Final = """\
## Your memory (DCML)
LEXICON: all you have heard of. MEMORY: what you remember, oldest first. `!` is a belief (may be \
wrong), `?` a rumor, the rest fact. `a::key->value` describes a; `->` leads to, `>` contains, `in` \
belongs to. An event: who|against whom "what happened"; no names: the same; `A+`: A and \
company; `@Place`: there from now on. Use only ids in LEXICON; never invent one."""


CONTEXT_GUIDE: Final = """\
`a::key->value` describes a; `in` belongs to, `>` has, `~` has to do with, `a -> KILLED:b`; `!` is a belief \
(may be wrong), `?` a rumor. LEXICON: the names in use; never invent one."""


def format_character_sheet(character: Character) -> str:
    """The sheet on a few lines."""
    stats = character.stats
    scores = ", ".join(f"{key.upper()} {getattr(stats, key)}" for key in type(stats).model_fields)
    return "\n".join(
        (
            "YOUR CHARACTER:",
            f"Name: {character.name}",
            f"Class: {character.char_class}, level {character.level}",
            f"HP: {character.hp}/{character.hp_max}, AC: {character.ac}, gold: {character.gold}",
            f"Abilities: {scores}",
            f"Equipment: {', '.join(character.equipment) or 'nothing'}",
        )
    )


def build_player_prompt(character: Character, memory: str | None = None) -> str:
    """The system prompt of a player; `memory` is that character's memory document."""
    parts = [
        f"You are {character.name}, a level {character.level} {character.char_class}, in a game of D&D.",
        f"BASIC RULES:\n{RULES_SHORTHAND}",
        f"HOW TO PLAY:\n{PLAYER_PRINCIPLES}",
        format_character_sheet(character),
    ]
    return _with_memory(parts, memory)


def build_dm_prompt(scenario: str, characters: Iterable[Character], memory: str | None = None) -> str:
    """The system prompt of the dungeon master; `memory` is the DM's own document."""
    party = "\n".join(
        f"- {character.name}, level {character.level} {character.char_class}" for character in characters
    )
    parts = [
        "You are the dungeon master of a game of D&D.",
        f"BASIC RULES:\n{RULES_SHORTHAND}",
        f"HOW TO RUN IT:\n{DM_PRINCIPLES}",
        f"SCENARIO:\n{scenario}",
        f"THE PARTY:\n{party}",
    ]
    return _with_memory(parts, memory)


def _with_memory(parts: list[str], memory: str | None) -> str:
    return "\n\n".join([*parts, DCML_GUIDE, memory] if memory else parts)
