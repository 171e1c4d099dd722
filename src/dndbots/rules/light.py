"""Light sources: how far they shine, and how many turns are left."""

from dataclasses import dataclass, replace
from typing import Any

from dndbots.errors import UnknownThing
from dndbots.rules.characters.equipment import Gear, all_things, recognised


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """A burning light. A turn is ten minutes."""

    name: str
    radius: int
    turns: int

    @property
    def out(self) -> bool:
        return self.turns <= 0

    @property
    def text(self) -> str:
        if self.out:
            return f"the {self.name} is out"
        return f"the {self.name} shows {self.radius} feet, for {self.turns} more turn{'s' * (self.turns > 1)}"

    def as_data(self) -> dict[str, Any]:
        return {"name": self.name, "radius": self.radius, "turns": self.turns, "text": self.text}


def kindle(name: str) -> Light:
    """Light a torch, a lantern or a candle. Raises UnknownThing if it does not burn."""
    found = recognised(name)
    if not isinstance(found, Gear) or not found.turns:
        raise UnknownThing(
            name, known=[one.name for one in all_things() if isinstance(one, Gear) and one.turns]
        )
    return Light(name=found.name, radius=found.radius, turns=found.turns)


def burn(light: Light, *, turns: int = 1) -> Light:
    """Return the light some turns later."""
    return replace(light, turns=max(0, light.turns - turns))
