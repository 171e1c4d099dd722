"""How those who meet look to each other: what became of somebody while one was away."""

from collections.abc import Collection

from pydantic import JsonValue

from dndbots.game.steps import Step
from dndbots.rules.conditions import is_seen


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
