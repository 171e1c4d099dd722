"""Belongings in use: eaten, drunk, lit, drawn, worn, dropped, shown. What is used up leaves the sheet."""

import re
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.event_text import tell
from dndbots.game.referee.harm import heal
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.step import Step
from dndbots.rules.characters.equipment import Gear, recognised
from dndbots.rules.dice import roll
from dndbots.text.word_forms import with_the

GOLD: Final = "gold"
_SEVERAL: Final = re.compile(r"(\d{1,3}) (.+)")
_LEFT: Final = re.compile(r"(.+) \((\d{1,3}) left\)")
# How often a thing serves that is one entry on a sheet.
_SERVES: Final = {"rations": 7, "bandages": 5}
_EATEN: Final = frozenset(("rations", "garlic"))
_GONE: Final = frozenset(("potion of healing", "holy water", "flask of oil"))
_HEALING: Final = "1d6+1"


def use_up(item: str, who: str) -> list[JsonValue]:
    """Return loot entries that use up one of an item: `6 torches` become `5 torches`."""
    gone: list[JsonValue] = [{"item": item, "from": who}]
    left = _rest_of(item)
    return gone if left is None else [*gone, {"item": left, "to": who}]


def _rest_of(item: str) -> str | None:
    """Return what an item is called once one of it is used up; None if nothing is left."""
    several = _SEVERAL.fullmatch(item)
    if several is not None:
        return f"{int(several[1]) - 1} {several[2]}" if int(several[1]) > 1 else None
    served = _LEFT.fullmatch(item)
    thing = recognised(item)
    name = served[1] if served is not None else item
    times = int(served[2]) if served is not None else _SERVES.get(thing.name if thing else "", 1)
    return f"{name} ({times - 1} left)" if times > 1 else None


def use_item(step: Step, declared: PendingAct) -> None:
    """Play the use of an item: tell what comes of it, and take off the sheet what is used up."""
    act, who, place = declared.act, declared.who, str(declared.place)
    approach = act.attempt.approach if act.attempt is not None else "use"
    item = str(act.what)
    thing = recognised(item)
    name = step.table.name(who)
    play: dict[str, Any] = {"resolves": declared.event_id}
    if item == GOLD:
        text = tell(step, "uses.coins", who=name, what=f"{act.gold} gold")
        _record(step, declared, text, loot=[{"gold": act.gold, "from": who}])
    elif (
        isinstance(thing, Gear) and thing.name == "potion of healing" and approach in ("drink", "use", "eat")
    ):
        made = roll(_HEALING, rng=step.rng)
        text = tell(step, "uses.drink", who=name, what=with_the(item))
        used = use_up(item, who)
        heal(step, who, made.total, text=text, place=place, rolls=[made.text], play=play, loot=used)
    elif isinstance(thing, Gear) and thing.turns and approach == "light":
        _light(step, declared, thing)
    else:
        is_odd = thing is None and approach in ("eat", "drink")  # the adventure says what comes of it
        key = "uses.taste" if is_odd else f"uses.{approach}" if approach in _TOLD else "uses"
        is_eaten = thing is not None and thing.name in _EATEN and approach in ("eat", "use")
        is_gone = approach == "drop" or (thing is not None and thing.name in _GONE) or is_eaten
        dropped: list[JsonValue] = [{"item": item, "from": who}]
        loot = dropped if approach == "drop" else use_up(item, who) if is_gone else None
        _record(step, declared, tell(step, key, who=name, what=with_the(item)), loot=loot)


_TOLD: Final = frozenset(("eat", "drink", "wear", "draw", "stow", "drop", "show", "light"))


def _light(step: Step, declared: PendingAct, light: Gear) -> None:
    """Light a torch or a lantern. It burns for its turns, a turn a round; a lantern takes oil."""
    who, item = declared.who, str(declared.act.what)
    fuel = item
    if light.name == "lantern":
        carried = step.table.items(who)
        fuel = next((one for one in carried if getattr(recognised(one), "name", "") == "flask of oil"), "")
    if not fuel:
        _record(step, declared, tell(step, "no_oil", who=step.table.name(who)))
        return
    text = tell(step, "uses.light", who=step.table.name(who), what=with_the(light.name))
    beats = [f"lit:{who}/{step.round + light.turns}"]
    _record(step, declared, text, loot=use_up(fuel, who), beats=beats)


def _record(
    step: Step, declared: PendingAct, text: str, *, loot: Any = None, beats: list[str] | None = None
) -> None:
    act = declared.act
    named: dict[str, JsonValue] = {
        "item": act.what,
        "approach": act.attempt.approach if act.attempt is not None else "use",
    }
    step.add(
        EventType.DM_NARRATION,
        text,
        place=declared.place,
        participants=[declared.who],
        play={"resolves": declared.event_id, "beats": beats or []},
        loot=loot,
        used=named,
    )
