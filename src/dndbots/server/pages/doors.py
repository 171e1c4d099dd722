"""Doors: the link into a seat, the list of campaigns, and the beginning of a new game."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dndbots.campaign import Campaign
from dndbots.game.adventures.library import ENDLESS, OPEN, list_shipped, load_named
from dndbots.game.game import Game
from dndbots.game.setup import seat_party
from dndbots.game.state.game_notes import HOUSE, GameNote
from dndbots.ids import DM, slug
from dndbots.rules.characters.creation import ready_made
from dndbots.server.pages.site import CLOSED, campaigns_of, only_owner, render, text_field
from dndbots.server.security.access import Access, access_of, let_in, read_form
from dndbots.server.security.seat_book import Grant
from dndbots.server.tables.served_campaigns import ServedCampaigns, title_of
from dndbots.text.sentences import split_sentences

_SEATS: Final = 4
_BUDGET: Final = 2_000
_SEEDS: Final = 1_000_000
_LONGEST_WORLD: Final = 2_000
_TEASER: Final = 3  # sentences of an adventure's opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Adventure:
    """An adventure to choose: its title, and what it is about."""

    title: str
    teaser: str


@lru_cache(maxsize=1)
def list_adventures() -> Mapping[str, Adventure]:
    """Return the adventures by name: the included ones, the endless one, and a world of one's own."""
    shipped = {
        name: Adventure(
            title=title, teaser=" ".join(split_sentences(load_named(name).opening or "")[:_TEASER])
        )
        for name, title in list_shipped().items()
    }
    return {
        **shipped,
        ENDLESS: Adventure(title="Endless", teaser="A new region in every chapter, as long as you like."),
        OPEN: Adventure(
            title="A world of your own", teaser="You describe it; places and people are made up in play."
        ),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDoor:
    """A seat that a visitor may enter."""

    title: str
    seat: str
    address: str


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/", show_home),
        Route("/enter/{token}", enter),
        Route("/begin", show_begin, methods=["GET"]),
        Route("/begin", begin, methods=["POST"]),
    ]


def enter(request: Request) -> Response:
    """Let a browser in by a link, and lead it to its seat."""
    campaigns, token = campaigns_of(request), request.path_params["token"]
    grant = campaigns.book.grant_of(token)
    if grant is None:
        raise HTTPException(403, "This link is not valid any more. Ask for a new one.")
    response = RedirectResponse(_address_for(campaigns, grant), 303)
    let_in(response, request, campaigns.book, token)
    return response


def _address_for(campaigns: ServedCampaigns, grant: Grant) -> str:
    if grant.is_owner:
        return "/"
    for name in campaigns.shelf.names():
        key = campaigns.key_of(name)
        if key is not None and grant.campaign is not None and grant.campaign.startswith(key):
            branch = grant.campaign.removeprefix(key)
            return f"/c/{name}{branch}/{grant.seat}/play"
    raise HTTPException(404, "The campaign of this link is not served here.")


def show_home(request: Request) -> Response:
    """Show the campaigns and seats that a visitor may enter."""
    campaigns = campaigns_of(request)
    access = access_of(request, campaigns.book)
    if not access.grants:
        raise HTTPException(403, CLOSED)
    doors = list(_doors(campaigns, access))
    if not access.is_owner and len(doors) == 1:
        return RedirectResponse(doors[0].address, 303)
    if access.is_owner and not doors:
        return RedirectResponse("/begin", 303)
    return render("home.html", access=access, doors=doors, is_owner=access.is_owner)


def _doors(campaigns: ServedCampaigns, access: Access) -> list[OpenDoor]:
    if access.is_owner:
        names = list(campaigns.shelf.names())
        return [OpenDoor(title=title_of(name), seat="DM", address=f"/c/{name}/{DM}/play") for name in names]
    doors = []
    for grant in access.grants:
        try:
            address = _address_for(campaigns, grant)
        except HTTPException:
            continue
        name = address.split("/")[2]
        seat = (
            "DM"
            if grant.seat == DM
            else campaigns.get(name).story(str(grant.seat)).table.name(str(grant.seat))
        )
        doors.append(OpenDoor(title=title_of(name), seat=seat, address=address))
    return doors


def show_begin(request: Request) -> Response:
    """Show the adventures, and after one is chosen, the characters."""
    campaigns = campaigns_of(request)
    access = only_owner(request)
    module = request.query_params.get("module")
    adventures = list_adventures()
    if module is None:
        return render(
            "begin.html",
            access=access,
            adventures=adventures,
            module=None,
            can_go_home=_has_any(campaigns),
        )
    if module not in adventures:
        raise HTTPException(404, "There is no such adventure.")
    seed = secrets.randbelow(_SEEDS)
    party = [member.character for member in seat_party(None, seats=_SEATS, seed=seed)]
    return render(
        "begin.html",
        access=access,
        adventures=adventures,
        module=module,
        seed=seed,
        party=party,
        others=[one for one in ready_made() if one.uid not in {member.uid for member in party}],
        is_open=module == OPEN,
        has_model_dm=campaigns.casting.dm != HOUSE,
        can_go_home=_has_any(campaigns),
    )


def _has_any(campaigns: ServedCampaigns) -> bool:
    return next(iter(campaigns.shelf.names()), None) is not None


async def begin(request: Request) -> Response:
    """Begin a game, and lead the owner to the seat that they chose."""
    access = only_owner(request)
    async with read_form(request, access) as form:
        return await run_in_threadpool(_begin, request, form)


def _begin(request: Request, form: Mapping[str, Any]) -> Response:
    campaigns = campaigns_of(request)
    module, seat, given = text_field(form, "module"), text_field(form, "seat"), text_field(form, "seed")
    if module not in list_adventures():
        raise HTTPException(400, "module: choose one of the adventures.")
    if module == OPEN and campaigns.casting.dm == HOUSE and seat != DM:
        raise HTTPException(409, "A world of your own needs a DM: be it yourself, or start with --model.")
    scenario = text_field(form, "scenario", longest=_LONGEST_WORLD) if module == OPEN else ""
    if campaigns.shelf.folder is None:
        raise HTTPException(409, "This server serves a single campaign. Start it without --campaign.")
    seed = int(given) % _SEEDS if given.isdecimal() and len(given) < 12 else secrets.randbelow(_SEEDS)
    party = [member.character for member in seat_party(None, seats=_SEATS, seed=seed)]
    wanted = next((one for one in ready_made() if one.uid == seat), None)
    if seat and seat != DM and wanted is None:
        raise HTTPException(400, "seat: choose one of the characters, or the DM.")
    if wanted is not None and wanted.uid not in {one.uid for one in party}:
        party = [wanted, *party[:-1]]
    name = campaigns.shelf.free_name(slug(module))
    dm, players = campaigns.casting.dm, campaigns.casting.players
    note = GameNote(
        seed=seed, module=module, dm=dm, players=players, seats=len(party), budget=_BUDGET, scenario=scenario
    )
    with Campaign.open(campaigns.shelf.folder / name) as campaign:
        Game.begin(
            campaign,
            module=module,
            seed=seed,
            characters=party,
            seats=len(party),
            dm=dm,
            players=players,
            scenario=scenario,
            cast=campaigns.casting.cast(note),
        )
    served = campaigns.get(name)
    if seat and served.host is not None:
        served.host.take_seat(seat)
        served.keep_people()
    return RedirectResponse(f"/c/{name}/{seat or DM}/play", 303)
