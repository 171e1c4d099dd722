"""People, places and quests: lists, a page for each, and the graph of who has to do with whom."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dndbots.errors import UnknownEntity
from dndbots.ids import DM
from dndbots.server.pages.site import SeatRequest, enter_seat
from dndbots.server.tables.profiles import KINDS, list_profiles, read_profile

_MOST_MOMENTS: Final = 30
_MOST_NODES: Final = 120
_STEPS: Final = 2
_RELATIONS: Final = {"@": "is at", "in": "belongs to", "<": "is part of", ">": "contains", "~": "knows"}


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/people", show_people),
        Route("/people/{uid}", show_one),
        Route("/graph", show_graph),
        Route("/graph.json", graph_data),
    ]


def show_people(request: Request) -> Response:
    """List everybody and everything that a seat knows of."""
    entered = enter_seat(request)
    return entered.render(
        "people.html", page="people", profiles=list_profiles(entered.served.reader, entered.seat), kinds=KINDS
    )


def show_one(request: Request) -> Response:
    """Show one person, place, thing or quest as a seat knows it."""
    entered = enter_seat(request)
    campaign, who = entered.served.reader, request.path_params["uid"]
    try:
        profile = read_profile(campaign, entered.seat, who)
        moments = campaign.timeline(viewer=entered.seat, about=who, last=_MOST_MOMENTS)
    except UnknownEntity as exc:
        raise HTTPException(404, "You know nobody and nothing of that name.") from exc
    return entered.render("person.html", page="people", profile=profile, moments=moments, kinds=KINDS)


def show_graph(request: Request) -> Response:
    """Show the graph around somebody."""
    entered = enter_seat(request)
    about = request.query_params.get("about") or _start(entered)
    return entered.render("graph.html", page="people", about=about)


def graph_data(request: Request) -> Response:
    """Return the neighbourhood of somebody, as a seat knows it, for the graph."""
    entered = enter_seat(request)
    about = request.query_params.get("about") or _start(entered)
    if not about:
        return JSONResponse({"nodes": [], "edges": []})
    try:
        found = entered.served.reader.graph(viewer=entered.seat).about(about, steps=_STEPS)
    except UnknownEntity as exc:
        raise HTTPException(404, "You know nobody and nothing of that name.") from exc
    nodes = found.entities[:_MOST_NODES]
    shown = {entity.uid for entity in nodes}
    edges = {
        (link.subject, link.object, link.kind): link
        for link in found.links
        if link.subject in shown and link.object in shown and link.subject != link.object
    }
    return JSONResponse(
        {
            "nodes": [
                {
                    "id": entity.uid,
                    "name": entity.name,
                    "kind": entity.category or "",
                    "start": entity.uid == found.start,
                }
                for entity in nodes
            ],
            "edges": [
                {
                    "source": subject,
                    "target": target,
                    "kind": _RELATIONS.get(kind, kind.replace("_", " ")),
                    "certainty": link.certainty,
                }
                for (subject, target, kind), link in edges.items()
            ],
        }
    )


def _start(entered: SeatRequest) -> str:
    if entered.seat != DM:
        return entered.seat
    return next(iter(entered.served.seats()), "")
