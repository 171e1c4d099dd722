"""Which spell is worth casting now. What spells do is up to the rules; this only weighs them."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from dndbots.errors import UnknownSpell
from dndbots.game.house.bestiary import kind_of, level_of
from dndbots.game.house.minds import Mind
from dndbots.game.pieces import Fight, Group
from dndbots.rules.spells import Spell, spell

_LIGHTS: Final = ("light", "broad day")
# What helps a friend in a fight; flying and the like only help to be elsewhere.
_BOONS: Final = frozenset(("blessed", "blurred", "hasted", "mighty", "shielded", "warded"))
_ONLY: Final = {"person": ("humanoid",), "beasts": ("beast",)}


class Cast(NamedTuple):
    """A spell, whom it is cast on, and how much it is worth. Without a target it is for all friends here."""

    worth: float
    spell: str
    target: str | None


class Casting:
    """The spells that one character holds ready."""

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
        """A spell that closes wounds."""
        return next((name for name, one in self._ready if any(rule.healing for rule in one.effects)), None)

    def light(self) -> str | None:
        return next((name for name, one in self._ready if one.name.casefold() in _LIGHTS), None)

    def in_fight(self, fight: Fight, *, danger: float) -> Cast | None:
        """The best spell, if one is worth it: the worse it looks, the sooner."""
        if not self._mind.spells:
            return None
        found = max(
            [*self._attacks(fight, danger), *self._mercies(), *self._boons(fight, danger)], default=None
        )
        enough = self._mind.by_temper(0.95, brave=0.85, careful=1.0, greedy=1.1)
        return found if found is not None and found.worth >= enough else None

    def _attacks(self, fight: Fight, danger: float) -> Iterator[Cast]:
        for uid, group in fight.standing.items():
            for name, one in self._ready:
                if _works_on(one, group):
                    many = one.aim in ("area", "some")
                    wounds = any(rule.damage for rule in one.effects)
                    worth = 0.45 * min(group.able, 5) if many else 0.25 * min(level_of(group), 4)
                    worth += 0.45 * danger + (0.25 if wounds else 0.0)
                    yield Cast(worth, name, uid)

    def _mercies(self) -> Iterator[Cast]:
        """A friend who is about to fall."""
        mind, cure = self._mind, self.cure()
        for friend in (mind.who, *mind.friends) if cure is not None else ():
            if mind.health(friend) < mind.by_temper(0.35, kind=0.5):
                yield Cast(1.6 - mind.health(friend), str(cure), friend)

    def _boons(self, fight: Fight, danger: float) -> Iterator[Cast]:
        """At the beginning of a hard fight, what makes it less hard."""
        mind = self._mind
        if mind.round > fight.since + 1:
            return
        for name, one in self._ready:
            given = {rule.condition for rule in one.effects if rule.save is None}
            if given & _BOONS and not given & {*mind.table.conditions(mind.who)}:
                shared = one.aim == "some" and all(rule.kind == "blessing" for rule in one.effects)
                yield Cast(0.4 + 0.5 * danger, name, None if shared else mind.who)


def _works_on(what: Spell, group: Group) -> bool:
    """Whether a spell is meant for foes, and does anything to these."""
    harms = [rule for rule in what.effects if rule.damage or rule.save or rule.kind == "sleep"]
    kind = kind_of(group)
    if not harms or kind is None:
        return False
    if what.up_to is not None and kind.level > what.up_to:
        return False
    for word, kinds in _ONLY.items():
        if word in what.name.casefold() and kind.kind not in kinds:
            return False
    mind = any(rule.kind == "charm" for rule in harms)
    return all(rule.kind not in kind.immune for rule in harms) and not (mind and kind.undead)
