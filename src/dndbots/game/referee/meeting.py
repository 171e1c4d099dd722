"""Who meets whom where, and how they look to each other: what became of somebody while one was away."""

from collections.abc import Collection

from pydantic import JsonValue

from dndbots.canon.claims import AT, NUMBER
from dndbots.game.steps import Step
from dndbots.rules.conditions import is_seen


def met_at(place: str, foe: str, number: int) -> list[dict[str, JsonValue]]:
    """States that foes stand at a place, and how many of them."""
    return [{"subject": foe, "key": NUMBER, "value": number}, is_at(place, foe)]


def is_at(place: str, who: str) -> dict[str, JsonValue]:
    """States that somebody is at a place."""
    return {"subject": who, "op": AT, "object": place}


def gone_from(place: str, who: str) -> dict[str, JsonValue]:
    """States that somebody left a place."""
    return {"subject": who, "op": AT, "object": place, "ended": True}


def as_they_look(step: Step, people: Collection[str]) -> JsonValue:
    """What eyes see of the states of characters who meet, where any of them takes another to be otherwise.

    Stated as conditions that begin or end. Wounds are not counted by looking at them.
    """
    found: dict[str, JsonValue] = {}
    for uid in people:
        is_so = {name for name in step.table.conditions(uid) if is_seen(name)}
        taken = [
            {name for name in step.of(who).conditions(uid) if is_seen(name)}
            for who in people
            if who != uid and step.sits(who)
        ]
        begun = [name for name in sorted(is_so) if any(name not in one for one in taken)]
        over = [f"-{name}" for name in sorted(set().union(*taken) - is_so)]
        if begun or over:
            found[uid] = [*begun, *over]
    return found or None
