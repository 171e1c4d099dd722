"""Recall: ask what a seat knows, and get cited lines."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dndbots.server.pages.site import enter_seat

_LONGEST: Final = 500
_BUDGET: Final = 700


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [Route("/recall", show_recall)]


def show_recall(request: Request) -> Response:
    """Show the question box, and the answer to a question."""
    entered = enter_seat(request)
    query = request.query_params.get("q", "").strip()
    if len(query) > _LONGEST:
        raise HTTPException(400, f"q: ask in at most {_LONGEST} characters.")
    found = entered.served.reader.recall(entered.seat, query, _BUDGET) if query else None
    recap = entered.served.reader.recap(entered.seat) if found is None else None
    return entered.render("recall.html", page="recall", query=query, found=found, recap=recap)
