"""The tokens, time and money that models took in a campaign, by role and model."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from dndbots.canon import claims
from dndbots.storage.views.view import View
from dndbots.tokens import REPORTS, Report

_MILLIONTHS: Final = 1_000_000
_CUT: Final = "cut "


class ModelUsage(BaseModel):
    """The usage of one model in one role. `cost` is None if the price of any answer is unknown.

    Tokens are as the provider counts them; `counted` is our own count. `faults` counts the answers that
    could not be used as they were, `fallbacks` the answers that the house
    gave instead, and `cuts` the sentences that guards cut, by kind.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    answers: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    counted: int = 0
    milliseconds: int = 0
    faults: int = 0
    fallbacks: int = 0
    cuts: dict[str, int] = Field(default_factory=dict)
    cost: float | None = None


def usage_of(view: View) -> list[ModelUsage]:
    """Return the usage of each model in each role, by role and name."""
    usages = []
    for name in view.subjects(claims.USAGE):
        role, _, model = name.partition(" ")
        sums = view.totals(claims.usage_subject(role, model))
        cost, priced = sums.pop("cost", 0), sums.pop("priced", 0)
        whole = priced == sums.get("answers", 0)
        cuts = {key.removeprefix(_CUT): sums.pop(key) for key in sorted(sums) if key.startswith(_CUT)}
        price = cost / _MILLIONTHS if whole else None
        usages.append(ModelUsage(role=role, model=model, cost=price, cuts=cuts, **sums))
    return usages


def reports_of(view: View, model: str) -> list[Report]:
    """Return the latest token counts of a model's provider beside our own, oldest first."""
    noted = view.newest_in(claims.report_subject(model), claims.REPORT, limit=REPORTS)
    pairs = [
        pair for report in noted if isinstance(report, list) for pair in report if isinstance(pair, list)
    ]
    return [Report(*map(int, pair)) for pair in pairs][-REPORTS:]  # type: ignore[arg-type]
