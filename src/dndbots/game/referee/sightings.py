"""Facts that characters see when they meet: who is where, and in which condition."""

from collections.abc import Collection

from pydantic import JsonValue

from dndbots.canon.claims import AT, NUMBER
from dndbots.game.state.step import Step
from dndbots.rules.conditions import is_seen


def foes_at_facts(place: str, foe: str, number: int) -> list[dict[str, JsonValue]]:
    """Return the facts that foes stand at a place, and how many of them."""
    return [{"subject": foe, "key": NUMBER, "value": number}, at_fact(place, foe)]


def at_fact(place: str, who: str) -> dict[str, JsonValue]:
    """Return the fact that somebody is at a place."""
    return {"subject": who, "op": AT, "object": place}


def left_fact(place: str, who: str) -> dict[str, JsonValue]:
    """Return the fact that somebody left a place."""
    return {"subject": who, "op": AT, "object": place, "ended": True}


def visible_conditions(step: Step, people: Collection[str]) -> JsonValue:
    """Return visible conditions of characters who meet, where another one among them believes otherwise.

    They are stated as conditions that begin or end. Hit points cannot be seen.
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
