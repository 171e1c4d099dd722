"""Spell choice: which spell is worth casting now. The rules decide what it does."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from dndbots.errors import UnknownSpell
from dndbots.game.bots.lore import level_of, monster_of
from dndbots.game.bots.mind import Mind
from dndbots.game.state.pieces import Fight, FoeGroup
from dndbots.rules.fights.spells import Spell, spell

_LIGHTS: Final = ("light", "broad day")
# Conditions that help in a fight; flying and the like only help to get away.
_BOONS: Final = frozenset(("blessed", "blurred", "hasted", "mighty", "shielded", "warded"))
_ONLY: Final = {"person": ("humanoid",), "beasts": ("beast",)}


class SpellChoice(NamedTuple):
    """A spell, its target and its worth. No target means all friends here."""

    worth: float
    spell: str
    target: str | None


class SpellChooser:
    """The spells that a character has ready."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind

    @cached_property
    def _ready(self) -> list[tuple[str, Spell]]:
        found = []
        for name in dict.fromkeys(self._mind.spells):
            try:
                found.append((name, spell(name)))
            except UnknownSpell:
                continue
        return found

    def cure(self) -> str | None:
        """Return a healing spell, if it has one."""
        return next(
            (name for name, spell_rules in self._ready if any(rule.healing for rule in spell_rules.effects)),
            None,
        )

    def light(self) -> str | None:
        """Return a light spell, if it has one."""
        return next(
            (name for name, spell_rules in self._ready if spell_rules.name.casefold() in _LIGHTS), None
        )

    def in_fight(self, fight: Fight, *, danger: float) -> SpellChoice | None:
        """Return the best spell if it is worth casting; danger makes it more so."""
        if not self._mind.spells:
            return None
        found = max(
            [*self._attacks(fight, danger), *self._mercies(), *self._boons(fight, danger)], default=None
        )
        enough = self._mind.by_temper(0.95, brave=0.85, careful=1.0, greedy=1.1)
        return found if found is not None and found.worth >= enough else None

    def _attacks(self, fight: Fight, danger: float) -> Iterator[SpellChoice]:
        """Yield spells against the foes."""
        for uid, group in fight.standing.items():
            for name, spell_rules in self._ready:
                if _works_on(spell_rules, group):
                    many = spell_rules.aim in ("area", "some")
                    wounds = any(rule.damage for rule in spell_rules.effects)
                    worth = 0.45 * min(group.able, 5) if many else 0.25 * min(level_of(group), 4)
                    worth += 0.45 * danger + (0.25 if wounds else 0.0)
                    yield SpellChoice(worth, name, uid)

    def _mercies(self) -> Iterator[SpellChoice]:
        """Yield cures for friends who are about to fall."""
        mind, cure = self._mind, self.cure()
        for friend in (mind.who, *mind.friends) if cure is not None else ():
            if mind.health(friend) < mind.by_temper(0.35, kind=0.5):
                yield SpellChoice(1.6 - mind.health(friend), str(cure), friend)

    def _boons(self, fight: Fight, danger: float) -> Iterator[SpellChoice]:
        """Yield blessings at the start of a hard fight."""
        mind = self._mind
        if mind.round > fight.since + 1:
            return
        for name, spell_rules in self._ready:
            given = {rule.condition for rule in spell_rules.effects if rule.save is None}
            if given & _BOONS and not given & {*mind.table.conditions(mind.who)}:
                shared = spell_rules.aim == "some" and all(
                    rule.kind == "blessing" for rule in spell_rules.effects
                )
                yield SpellChoice(0.4 + 0.5 * danger, name, None if shared else mind.who)


def _works_on(what: Spell, group: FoeGroup) -> bool:
    """Return whether a spell harms foes and works on this group."""
    harms = [rule for rule in what.effects if rule.damage or rule.save or rule.kind == "sleep"]
    kind = monster_of(group)
    if not harms or kind is None:
        return False
    if what.up_to is not None and kind.level > what.up_to:
        return False
    for word, kinds in _ONLY.items():
        if word in what.name.casefold() and kind.kind not in kinds:
            return False
    mind = any(rule.kind == "charm" for rule in harms)
    return all(rule.kind not in kind.immune for rule in harms) and not (mind and kind.undead)
