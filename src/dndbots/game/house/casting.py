"""Which spell is worth casting now. What spells do is up to the rules; here is what they are good for."""

from typing import Final

from dndbots.errors import DndbotsError
from dndbots.game.house.minds import Mind
from dndbots.game.table import Fight, Group
from dndbots.rules.monsters import Monster, monster

_CURES: Final = ("cure light wounds",)
_LIGHTS: Final = ("light", "continual light")
_BLASTS: Final = ("fireball", "fire ball", "lightning bolt")
_MISSILES: Final = ("magic missile",)
_MIND: Final = ("hold person", "charm person")
_SHIELDS: Final = ("shield", "mirror image", "protection from evil")
_BLESSINGS: Final = ("bless", "haste")
_STICKY: Final = ("web",)


class Casting:
    """The spells that one character holds ready."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        self._ready = {name.casefold(): name for name in mind.spells}

    def _first(self, names: tuple[str, ...]) -> str | None:
        return next((self._ready[name] for name in names if name in self._ready), None)

    def cure(self) -> str | None:
        return self._first(_CURES)

    def light(self) -> str | None:
        return self._first(_LIGHTS)

    def in_fight(self, fight: Fight, *, danger: float) -> tuple[str, str] | None:
        """A spell and its target, if one is worth it. The worse it looks, the sooner."""
        if not self._ready:
            return None
        mind = self._mind
        for uid, group in sorted(fight.standing.items(), key=lambda pair: -pair[1].able):
            spell = self._against(group, danger)
            if spell is not None:
                return spell, uid
        for friend in (mind.who, *mind.friends):
            cure = self.cure()
            if cure is not None and mind.health(friend) < 0.35 and mind.trade == "cleric":
                return cure, friend
        early = mind.round <= fight.since + 1
        blessing = self._first(_BLESSINGS) or self._first(_SHIELDS)
        if blessing is not None and early and danger > 0.8 and mind.chance(0.5):
            return blessing, mind.who
        return None

    def _against(self, group: Group, danger: float) -> str | None:
        mind, kind = self._mind, _known(group)
        level = kind.level if kind is not None else 1
        mindless = kind is None or kind.kind in ("undead", "ooze", "construct", "plant")
        if "sleep" in self._ready and not mindless and level <= 4 and group.able * max(level, 1) >= 3:
            return self._ready["sleep"]
        blast = self._first(_BLASTS) or self._first(_STICKY)
        if blast is not None and (group.able >= 3 or danger > 1.0):
            return blast
        held = self._first(_MIND)
        if held is not None and kind is not None and kind.kind == "humanoid" and danger > 0.5:
            return held if mind.chance(0.6) else None
        missile = self._first(_MISSILES)
        if missile is not None and (danger > 0.6 or level >= 2) and mind.chance(0.5 + danger / 4):
            return missile
        return None


def _known(group: Group) -> Monster | None:
    try:
        return monster(group.monster)
    except DndbotsError:
        return None
