"""Compare: what one character knows and another does not, and who knows a fact. For the DM alone."""

import json
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dndbots.ids import DM
from dndbots.server.pages.site import SeatRequest, only_dm
from dndbots.server.tables.profiles import is_of_sheet
from dndbots.server.tables.story import name_at

_LAST: Final = 12
_LONGEST: Final = 2_000


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [Route("/compare", show_compare), Route("/who-knows", show_who_knows)]


def show_compare(request: Request) -> Response:
    """Show two characters side by side."""
    entered = only_dm(request)
    seats = {**entered.served.seats(), DM: "DM"}
    names = [*seats]
    first = _seat(request, "a", seats) or names[0]
    second = _seat(request, "b", seats) or next((one for one in names if one != first), first)
    difference = entered.served.reader.diff(first, second, last=_LAST)
    return entered.render(
        "compare.html",
        page="compare",
        seats=seats,
        first=first,
        second=second,
        difference=difference,
        facts={
            side.viewer: [held for held in side.facts if not is_of_sheet(held.fact)]
            for side in (difference.a, difference.b)
        },
    )


def _seat(request: Request, name: str, seats: dict[str, str]) -> str | None:
    given = request.query_params.get(name)
    if given is not None and given not in seats:
        raise HTTPException(404, "No character has that name.")
    return given


def show_who_knows(request: Request) -> Response:
    """Show everybody who holds a fact, and how they learned it."""
    entered = only_dm(request)
    holders = entered.served.reader.who_knows(_question(request))
    table = entered.served.story(DM).table
    rows = [
        {
            "who": name_at(table, held.holder),
            "certainty": held.fact.certainty,
            "how": held.fact.how,
            "said_by": name_at(table, held.fact.said_by) if held.fact.said_by else "",
            "value": _value(entered, held.fact.value if held.fact.key else held.fact.object),
            "source": held.fact.learned_from,
        }
        for held in holders
    ]
    return entered.render(
        "who_knows.html", page="compare", rows=rows, text=request.query_params.get("text", "")[:400]
    )


def _value(entered: SeatRequest, value: Any) -> str:
    table = entered.served.story(DM).table
    return name_at(table, value) if isinstance(value, str) and value in table.names else str(value)


def _question(request: Request) -> dict[str, Any]:
    given = request.query_params.get("fact", "")
    try:
        question = json.loads(given) if len(given) <= _LONGEST else None
    except ValueError:
        question = None
    if not isinstance(question, dict) or not {*question} <= {"subject", "op", "object", "key", "value"}:
        raise HTTPException(400, "fact: give a subject with a key or a relation.")
    return question
