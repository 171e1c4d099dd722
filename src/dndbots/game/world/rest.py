"""Light and rest: torches that burn down, and nights that may be disturbed."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from dndbots.game.adventures.module import Place
from dndbots.game.referee import rest_party
from dndbots.game.referee.belongings import use_up
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.encounters import send_wanderers
from dndbots.game.world.narration import Narration
from dndbots.game.world.search import askers_of, character_sheets
from dndbots.game.world.world_state import beat
from dndbots.rules.characters.equipment import Gear, recognised

_LANTERN: Final = "lantern"
_OIL: Final = "flask of oil"
_FIT: Final = 0.8  # health up to which one stays in bed
_HEALED_A_NIGHT: Final = 2  # hit points, on average
_MOST_NIGHTS: Final = 5


def light_scene(narration: Narration, place: Place, uid: str) -> None:
    """Light something in a dark place while anybody carries a light source. A round burns a turn."""
    table = narration.step.table
    if not place.dark or narration.world.is_lit(uid):
        return
    light = next((burning for who in table.together(uid) if (burning := _burns(narration, who))), None)
    if light is None:
        _grope(narration, place, uid)
        return
    who, name, turns, loot = light
    narration.tell(
        uid,
        " ".join((*_gone_out(narration, uid), narration.phrase("lights", who=table.name(who), light=name))),
        participants=[who],
        beats=[beat("lit", who, str(narration.step.round + turns))],
        loot=loot,
        aside=True,
    )


def _gone_out(narration: Narration, uid: str) -> Iterator[str]:
    """Tell of each light that has just burned out."""
    for who in narration.step.table.together(uid):
        if narration.world.has_beat("lit", who, str(narration.step.round - 1)):
            yield narration.phrase("light_out", who=narration.step.table.name(who))


def _burns(narration: Narration, who: str) -> tuple[str, str, int, list[JsonValue]] | None:
    """Return a light that a character can use: who, its name, its turns and what it uses up."""
    items = narration.step.table.items(who)
    oil = next((item for item in items if _gear(item) == _OIL), None)
    for item in items:
        gear = recognised(item)
        if not isinstance(gear, Gear) or not gear.turns:
            continue
        if gear.name != _LANTERN:
            return who, gear.name, gear.turns, use_up(item, who)
        if oil is not None:
            return who, gear.name, gear.turns, use_up(oil, who)
    return None


def _gear(item: str) -> str | None:
    """Return the name of an item in the equipment list; None if it is not gear."""
    gear = recognised(item)
    return gear.name if isinstance(gear, Gear) else None


def _grope(narration: Narration, place: Place, uid: str) -> None:
    """Tell once at each place that it is dark."""
    if not narration.world.has_beat("dark", place.key):
        narration.tell(uid, narration.phrase("darkness"), beats=[beat("dark", place.key)])


def take_rest(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Rest for a night if most of the party here want to. Outside safe places wanderers may come."""
    who, here = askers_of(acts), narration.step.table.together(uid)
    if 2 * len(who) < len(here):
        text = narration.phrase("no_rest_yet", who=narration.step.table.name(who[0]))
        narration.tell(uid, text, participants=who)
        return
    if not place.safe and (
        send_wanderers(narration, place, uid, surely_look=True) or uid in narration.step.table.fights
    ):
        return
    nights = _nights_needed(narration, here) if place.safe else 1
    rule = "rests" if nights == 1 else "rests.days"
    rest_party(narration.step, uid, text=narration.phrase(rule, place=place.name), nights=nights)


def _nights_needed(narration: Narration, here: Sequence[str]) -> int:
    """Return how many nights a party stays where it is safe, until nobody is badly hurt."""
    missing = [_FIT * sheet.hp_max - sheet.hp for sheet in character_sheets(narration, here) if sheet.hp > 0]
    return min(max(math.ceil(max(missing, default=0) / _HEALED_A_NIGHT), 1), _MOST_NIGHTS)
