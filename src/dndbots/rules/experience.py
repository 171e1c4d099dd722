"""Experience: its worth for foes and gold, how it is shared, and levels."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from dndbots.errors import InvalidSetting
from dndbots.models import Character, Stats
from dndbots.rules.characters.abilities import modifier, score_of
from dndbots.rules.characters.classes import CharacterClass, char_class
from dndbots.rules.dice import roll
from dndbots.rules.fights.monsters import Monster
from dndbots.rules.outcomes import NOT_RECORDED, Outcome

# The first score of each step above the lowest, and what is added to each share, in percent.
_STEPS: Final = (6, 9, 13, 16)
_PERCENT: Final = (-20, -10, 0, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Experience by uid. The remainder of the division is lost."""

    total: int
    shares: tuple[tuple[str, int], ...]
    text: str

    def as_data(self) -> dict[str, Any]:
        return {"total": self.total, "shares": dict(self.shares), "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelUp(Outcome):
    """A level gained or lost. `character` is the sheet after it."""

    uid: str
    level_before: int
    level_after: int
    hp_change: int
    title: str
    character: Character = field(metadata=NOT_RECORDED)


def xp_for(monster: Monster, *, number: int = 1) -> int:
    """Return what foes are worth, whether killed, driven off or outwitted."""
    return monster.xp * max(0, number)


def xp_percent(kind: CharacterClass, stats: Stats) -> int:
    """Return the bonus of the weakest prime requisite to every share: -20 to +10 percent."""
    return _PERCENT[bisect_right(_STEPS, min(score_of(stats, one) for one in kind.prime))]


def share(total: int, party: Sequence[Character]) -> Share:
    """Share experience equally, then adjust by prime requisite. Gold counts as experience."""
    part = max(0, total) // len(party) if party else 0
    shares = tuple((one.uid, part + part * _percent_of(one) // 100) for one in party)
    told = ", ".join(f"{one.name} {xp}" for one, (_, xp) in zip(party, shares, strict=True))
    return Share(total=total, shares=shares, text=f"{total} experience: {told or 'nobody to share it'}")


def level_for(name: str, xp: int) -> int:
    """Return the level that so much experience makes in a class."""
    return max(1, bisect_right(char_class(name).xp, xp))


def xp_needed(name: str, level: int) -> int | None:
    """Return the experience that a level needs; None if the class goes no further."""
    table = char_class(name).xp
    return table[max(level, 1) - 1] if level <= len(table) else None


def level_up(character: Character, *, rng: Random) -> LevelUp:
    """Gain a level: roll a hit die, with constitution, at least 1."""
    kind = char_class(character.char_class)
    if character.level >= kind.top_level:
        reason = f"is the highest that a {kind.name} reaches ({kind.top_level})"
        raise InvalidSetting("level", character.level, reason=reason)
    made = roll(f"1d{kind.hit_die}", rng=rng)
    gained = max(1, made.total + modifier(character.stats.con))
    return _changed(character, kind, by=1, hp=gained, rolls=(made,))


def lose_level(character: Character, *, rng: Random) -> LevelUp:
    """Lose a level and a hit die, to things that drain life. Level 1 loses only hit points."""
    kind = char_class(character.char_class)
    made = roll(f"1d{kind.hit_die}", rng=rng)
    lost = min(max(1, made.total + modifier(character.stats.con)), character.hp_max - 1)
    return _changed(character, kind, by=-1 if character.level > 1 else 0, hp=-lost, rolls=(made,))


def _changed(
    character: Character, kind: CharacterClass, *, by: int, hp: int, rolls: tuple[Any, ...]
) -> LevelUp:
    level, hp_max = character.level + by, character.hp_max + hp
    now = character.hp + hp if hp > 0 else min(character.hp, hp_max)
    after = character.model_copy(update={"level": level, "hp_max": hp_max, "hp": now})
    title = kind.title(level)
    word = "rises to" if by > 0 else "falls to" if by < 0 else "stays at"
    return LevelUp(
        rolls=rolls,
        text=f"{character.name} {word} level {level} ({title}): {rolls[0].text}, {hp:+d} hp, {now}/{hp_max}",
        uid=character.uid,
        level_before=character.level,
        level_after=level,
        hp_change=hp,
        title=title,
        character=after,
    )


def _percent_of(character: Character) -> int:
    return xp_percent(char_class(character.char_class), character.stats)
