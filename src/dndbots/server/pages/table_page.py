"""Table: the seats and their links, what the models cost, and what can be taken out. For the DM alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dndbots.ids import DM
from dndbots.server.pages.site import SeatRequest, campaigns_of, only_dm, posted, text_field
from dndbots.server.pages.take_out import list_take_outs


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLink:
    """A seat with the link that opens it, and who plays it."""

    seat: str
    name: str
    link: str
    player: str


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/table", show_table),
        Route("/renew", posted(renew, enter=only_dm), methods=["POST"]),
        Route("/hand-over", posted(hand_over, enter=only_dm), methods=["POST"]),
        Route("/end-session", posted(end_session, enter=only_dm), methods=["POST"]),
    ]


def show_table(request: Request) -> Response:
    """Show the seats with their links, the models with their costs, and the downloads."""
    entered = only_dm(request)
    usage = entered.served.reader.usage()
    costs = [one.cost for one in usage]
    host = entered.served.host
    return entered.render(
        "table.html",
        page="table",
        links=_links(entered),
        usage=usage,
        total=sum(cost for cost in costs if cost is not None) if None not in costs else None,
        note=host.game.note if host is not None else None,
        take_outs=list_take_outs(DM),
        head=entered.served.reader.head,
    )


def _links(entered: SeatRequest) -> list[SeatLink]:
    book = campaigns_of(entered.request).book
    host = entered.served.host
    people = host.people if host is not None else frozenset()
    base = f"{entered.request.url.scheme}://{entered.request.url.netloc}"
    note = host.game.note if host is not None else None
    links = []
    for seat, name in {DM: "DM", **entered.served.seats()}.items():
        model = "" if note is None else (note.dm if seat == DM else note.players)
        links.append(
            SeatLink(
                seat=seat,
                name=name,
                link=f"{base}/enter/{book.token_of(entered.served.key, seat)}",
                player="a person" if seat in people else model,
            )
        )
    return links


def _known_seat(entered: SeatRequest, form: Mapping[str, Any]) -> str:
    seat = text_field(form, "seat")
    if seat != DM and seat not in entered.served.seats():
        raise HTTPException(404, "There is no such seat.")
    return seat


def renew(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Give a seat another link. The old one stops at once."""
    seat = _known_seat(entered, form)
    book = campaigns_of(entered.request).book
    if seat == DM and not entered.access.is_owner:
        raise HTTPException(403, "Only the owner of this server can renew the DM's link.")
    book.revoke(entered.served.key, seat)
    entered.served.bell.ring()
    return RedirectResponse(f"{entered.base}/table", 303)


def hand_over(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Let the house play a seat whose person is gone."""
    seat, host = _known_seat(entered, form), entered.served.host
    if host is not None:
        host.leave_seat(seat)
        entered.served.keep_people()
    return RedirectResponse(f"{entered.base}/table", 303)


def end_session(entered: SeatRequest, _: Mapping[str, Any]) -> Response:
    """End the session. The next round begins another one."""
    if entered.served.host is not None:
        entered.served.host.end_session()
    return RedirectResponse(f"{entered.base}/play", 303)
