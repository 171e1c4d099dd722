"""How the referee's decisions are told, and what of their dice is written down."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from dndbots.game.house.phrases import Pick, house_phrases
from dndbots.game.steps import Step

if TYPE_CHECKING:
    from dndbots.rules.outcomes import Outcome


def tell(step: Step, key: str, **slots: str) -> str:
    """Words of the house for what happened; not the same ones twice in a row."""
    return house_phrases().say(key, pick=Pick(f"{step.seed}/table", step.table.count), **slots)


def dice(*outcomes: "Outcome") -> list[JsonValue]:
    """Outcomes as an event keeps them: a line that can be checked, and every die behind it."""
    return [
        {
            "text": one.text,
            "rolls": [
                {"roll": roll.expression, "total": roll.total, "dice": [[*die.rolled] for die in roll.dice]}
                for roll in one.rolls
            ],
        }
        for one in outcomes
    ]


def listed(names: Sequence[str]) -> str:
    """`Throk`, `Throk and Zara`, `Throk, Zara and Bram`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nobody"


def called(step: Step, uids: Iterable[str]) -> str:
    return listed([step.table.name(uid) for uid in uids])
