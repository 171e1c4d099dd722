"""Light and rest: what burns down, and whether a night is left in peace."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from dndbots.game.adventures.values import Place
from dndbots.game.house.encounters import wander
from dndbots.game.house.searching import people_of
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import beat
from dndbots.game.pieces import Waiting
from dndbots.game.referee import rest as night
from dndbots.rules.equipment import Gear, recognised

_LANTERN: Final = "lantern"
_OIL: Final = "flask of oil"
_SEVERAL: Final = re.compile(r"(\d{1,3}) (.+)")


def see_to_the_light(telling: Telling, place: Place, uid: str) -> None:
    """In the dark, somebody lights something, while anybody has anything that burns: a turn for a round."""
    table = telling.step.table
    if not place.dark or telling.world.lit(uid):
        return
    found = next((burning for who in table.together(uid) if (burning := _burns(telling, who))), None)
    if found is None:
        _grope(telling, place, uid)
        return
    who, name, turns, loot = found
    telling.tell(
        uid,
        " ".join((*_gone_out(telling, uid), telling.words("lights", who=table.name(who), light=name))),
        participants=[who],
        beats=[beat("lit", who, str(telling.step.round + turns))],
        loot=loot,
    )


def _gone_out(telling: Telling, uid: str) -> Iterator[str]:
    for who in telling.step.table.together(uid):
        if telling.world.came("lit", who, str(telling.step.round - 1)):
            yield telling.words("light_out", who=telling.step.table.name(who))


def _burns(telling: Telling, who: str) -> tuple[str, str, int, list[JsonValue]] | None:
    """What somebody can light: for how long, and what of it is used up."""
    items = telling.step.table.items(who)
    oil = next((item for item in items if _gear(item) == _OIL), None)
    for item in items:
        found = recognised(item)
        if not isinstance(found, Gear) or not found.turns:
            continue
        if found.name != _LANTERN:
            return who, found.name, found.turns, _used(item, who)
        if oil is not None:
            return who, found.name, found.turns, _used(oil, who)
    return None


def _gear(item: str) -> str | None:
    found = recognised(item)
    return found.name if isinstance(found, Gear) else None


def _used(item: str, who: str) -> list[JsonValue]:
    """One of it is gone. `6 torches` are five then."""
    gone: list[JsonValue] = [{"item": item, "from": who}]
    several = _SEVERAL.fullmatch(item)
    if several is not None and int(several[1]) > 1:
        gone.append({"item": f"{int(several[1]) - 1} {several[2]}", "to": who})
    return gone


def _grope(telling: Telling, place: Place, uid: str) -> None:
    """Without light: told once at each place."""
    if not telling.world.came("dark", place.key):
        telling.tell(uid, telling.words("darkness"), beats=[beat("dark", place.key)])


def rest(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """A night, if most of those who are there want one. Away from safe places, something may come."""
    who, here = people_of(asked), telling.step.table.together(uid)
    if 2 * len(who) < len(here):
        text = telling.words("no_rest_yet", who=telling.step.table.name(who[0]))
        telling.tell(uid, text, participants=who)
        return
    if not place.safe and (wander(telling, place, uid, surely_look=True) or uid in telling.step.table.fights):
        return
    night(telling.step, uid, text=telling.words("rests", place=place.name))
