"""What models took in a campaign: by role and model, as the log has it. It is read by index."""

from typing import Final

from pydantic import BaseModel, ConfigDict

from dndbots.canon import claims
from dndbots.storage.reader import View
from dndbots.tokens import REPORTS, Report

_MILLIONTHS: Final = 1_000_000


class ModelUsage(BaseModel):
    """What one model took in one role. `cost` is None where the price of any answer was not known.

    Tokens are as the provider counts them; `counted` is what we had counted. `faults` is how often anything
    of an answer was not used.
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
    cost: float | None = None


def usage_of(view: View) -> list[ModelUsage]:
    """What each model took in each role, by role and name."""
    found = []
    for name in view.subjects(claims.USAGE):
        role, _, model = name.partition(" ")
        sums = view.totals(claims.usage_subject(role, model))
        cost, priced = sums.pop("cost", 0), sums.pop("priced", 0)
        whole = priced == sums.get("answers", 0)
        found.append(ModelUsage(role=role, model=model, cost=cost / _MILLIONTHS if whole else None, **sums))
    return found


def reports_of(view: View, model: str) -> list[Report]:
    """How a model's provider counted lately beside our own count, oldest first."""
    noted = view.newest_in(claims.report_subject(model), claims.REPORT, limit=REPORTS)
    pairs = [pair for one in noted if isinstance(one, list) for pair in one if isinstance(pair, list)]
    return [Report(*map(int, pair)) for pair in pairs][-REPORTS:]  # type: ignore[arg-type]
