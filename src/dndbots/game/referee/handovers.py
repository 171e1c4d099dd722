"""Things and gold that change hands: given, taken, paid, bought and sold, checked against the sheets."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from dndbots.errors import ActRefused
from dndbots.events import EventType
from dndbots.game.state.step import Step
from dndbots.game.state.table import Table
from dndbots.ids import DM, fold_name
from dndbots.rules.characters.equipment import recognised

MOST_THINGS: Final = 100
MOST_GOLD: Final = 100_000
# A trader pays half of what a thing costs.
_USED: Final = 0.5


def find_item(table: Table, who: str, name: str) -> str:
    """Return the name on somebody's sheet that a word means; raise `ActRefused` if they do not have it."""
    items = table.items(who)
    wanted = fold_name(name)
    exact = [item for item in items if fold_name(item) == wanted]
    near = [item for item in items if wanted in fold_name(item) or fold_name(item) in wanted]
    found = exact or near
    if len(found) == 1:
        return found[0]
    has = ", ".join(items) or "nothing"
    problem = "has several of that name" if found else f"has no {name!r}"
    raise ActRefused(DM, verb="give", reason=f"{table.name(who)} {problem}; on the sheet: {has}")


def check_items(table: Table, who: str, item: str, number: int) -> None:
    """Raise `ActRefused` if somebody has fewer of an item."""
    has = table.items(who).get(item, 0)
    if has < number:
        raise ActRefused(DM, verb="give", reason=f"{table.name(who)} has {has} {item}, not {number}")


def check_gold(table: Table, who: str, gold: int) -> None:
    """Raise `ActRefused` if a character has less gold."""
    has = int(table.fact(who, "gold", 0))
    if has < gold:
        raise ActRefused(DM, verb="pay", reason=f"{table.name(who)} has {has} gold, not {gold}")


def price_of(item: str, *, used: bool = False) -> int | None:
    """Return what the rules ask for a thing in whole gold, at least 1; None if they do not know it."""
    known = recognised(item)
    if known is None:
        return None
    return max(1, round(known.price * (_USED if used else 1.0)))


def hand_over(
    step: Step,
    entries: Sequence[dict[str, JsonValue]],
    *,
    text: str,
    place: str,
    participants: Sequence[str],
    source: str = DM,
    **metadata: Any,
) -> None:
    """Record that things or gold change hands in front of all who are there.

    Each entry has an `item` with its `quantity`, or `gold`; `to` gets it, `from` loses it.
    """
    step.add(
        EventType.LOOT,
        text,
        source=source,
        place=place,
        participants=participants,
        loot=[{key: value for key, value in entry.items() if value is not None} for entry in entries],
        **metadata,
    )
