"""What time takes away: conditions that end by themselves."""

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.telling import listed
from dndbots.game.steps import Step


def time_passes(step: Step) -> None:
    """Ends the conditions of characters whose time is over."""
    table = step.table
    for place, here in table.scenes().items():
        over: dict[str, list[str]] = {}
        for uid in here:
            ends = table.until.get(uid, {})
            names = [name for name in table.conditions(uid) if ends.get(name, step.round) < step.round]
            if names:
                over[uid] = names
        if over:
            told = [f"{table.name(uid)} is no longer {listed(names)}." for uid, names in over.items()]
            ended: dict[str, JsonValue] = {uid: [f"-{name}" for name in names] for uid, names in over.items()}
            step.add(EventType.CONDITION, " ".join(told), place=place, conditions=ended)
