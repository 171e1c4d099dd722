"""Checks: abilities, doors, listening, searching, thieves' skills and surprise."""

from collections.abc import Iterable
from random import Random
from typing import Final

from dndbots.errors import UnknownThing
from dndbots.models import Character
from dndbots.rules.characters.abilities import Ability, modifier, score_of
from dndbots.rules.characters.classes import all_classes, char_class
from dndbots.rules.conditions import sum_of
from dndbots.rules.dice import roll
from dndbots.rules.outcomes import Check
from dndbots.rules.tables import key_of

# The chance of the untrained, in percent.
UNTRAINED: Final = 10
_NAMES: Final = {ability: ability.name.lower() for ability in Ability}


def ability_check(
    who: Character, ability: Ability | str, *, rng: Random, bonus: int = 0, conditions: Iterable[str] = ()
) -> Check:
    """Roll a d20 at the score or under it. A bonus makes it easier. A 1 always succeeds, a 20 never does."""
    tried = Ability(ability)
    target = score_of(who.stats, tried) + bonus + sum_of(conditions, "checks")
    made = roll("1d20", rng=rng)
    success = made.total == 1 or (made.total != 20 and made.total <= target)
    text = f"{who.name} tries {_NAMES[tried]}: d20 {made.total} against {target}: {_word(success)}"
    return Check(rolls=(made,), total=made.total, target=target, success=success, text=text)


def open_door(who: Character, *, rng: Random, bonus: int = 0) -> Check:
    """Force a stuck door: 1 or 2 on a d6, more or less with strength. There is always a chance."""
    chance = min(5, max(1, 2 + modifier(who.stats.str) + bonus))
    return _in_six(f"{who.name} forces the door", chance, rng=rng)


def listen(who: Character, *, rng: Random, bonus: int = 0) -> Check:
    """Hear what is behind a door, or coming: as good as the class is at it."""
    chance = min(5, max(0, char_class(who.char_class).listen + bonus))
    return _in_six(f"{who.name} listens", chance, rng=rng)


def search(who: Character, *, rng: Random, bonus: int = 0) -> Check:
    """Find a hidden door or a trap in ten feet of wall, in a turn."""
    chance = min(5, max(0, char_class(who.char_class).search + bonus))
    return _in_six(f"{who.name} searches", chance, rng=rng)


def skill_check(who: Character, skill: str, *, rng: Random, bonus: int = 0) -> Check:
    """Roll a skill that thieves, dwarves or halflings learn: d100 at the chance or under it."""
    known = sorted({name for kind in all_classes() for name in kind.skills})
    wanted = key_of(skill)
    if wanted not in known:
        raise UnknownThing(skill, known=known)
    trained = char_class(who.char_class).skill(wanted, who.level)
    target = min(99, max(1, (UNTRAINED if trained is None else trained) + bonus))
    made = roll("1d100", rng=rng)
    success = made.total <= target
    text = f"{who.name} tries to {_DEEDS.get(wanted, wanted)}: d100 {made.total} against {target}: "
    return Check(
        rolls=(made,), total=made.total, target=target, success=success, text=f"{text}{_word(success)}"
    )


def surprise(side: str, *, rng: Random, chance: int = 2) -> Check:
    """Roll whether a side is surprised. Success means that it is: it loses the first round."""
    made = roll("1d6", rng=rng)
    caught = made.total <= chance
    word = "surprised" if caught else "ready"
    text = f"surprise, {side}: d6 {made.total} against {chance}: {word}"
    return Check(rolls=(made,), total=made.total, target=chance, success=caught, text=text)


_DEEDS: Final = {"stonework": "read the stonework"}


def _in_six(deed: str, chance: int, *, rng: Random) -> Check:
    made = roll("1d6", rng=rng)
    success = made.total <= chance
    text = f"{deed}: d6 {made.total} against {chance}: {_word(success)}"
    return Check(rolls=(made,), total=made.total, target=chance, success=success, text=text)


def _word(success: bool) -> str:  # noqa: FBT001 - the word for it
    return "succeeds" if success else "fails"
