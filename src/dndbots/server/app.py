"""The web application: one Starlette app for pages, and the place where other routes are mounted."""

import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from html import escape
from importlib.resources import files
from typing import Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from dndbots.errors import DndbotsError
from dndbots.server.pages import (
    bring_in,
    chat_requests,
    compare,
    doors,
    memory,
    people,
    play,
    recall,
    table_page,
    take_out,
    timeline,
    xray,
)
from dndbots.server.pages.site import render
from dndbots.server.security.access import access_of
from dndbots.server.security.guards import LOOPBACK, BodyTooLarge, Guard
from dndbots.server.tables.served_campaigns import ServedCampaigns
from dndbots.server.tables.uploads import UploadTray

log = logging.getLogger("dndbots.server")


class ProgramDoor(Protocol):
    """Routes for other programs, with what has to run beside them."""

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager that is open as long as the application runs."""
        ...


def build_app(
    campaigns: ServedCampaigns, *, hosts: Collection[str] = LOOPBACK, more: Sequence[ProgramDoor] = ()
) -> Starlette:
    """Build the application over some campaigns. It answers to the given host names only.

    `more` have routes for other programs, such as `/c/{campaign}/v1/…` and `/mcp`. They come before the pages
    and find the campaigns in `app.state.campaigns`; `access_of` reads the rights of a request.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(run_in_threadpool, campaigns.close)
            stack.callback(app.state.uploads.close)
            for door in more:
                await stack.enter_async_context(door.running())
            yield
            app.state.is_stopping = True

    app = Starlette(
        routes=[*(route for door in more for route in door.routes()), *_page_routes()],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            HTTPException: _show_refusal,
            DndbotsError: _show_error,
            BodyTooLarge: _show_too_large,
            Exception: _show_bug,
        },
        lifespan=lifespan,
    )
    app.state.campaigns, app.state.is_stopping, app.state.uploads = campaigns, False, UploadTray()
    app.state.doors = tuple(more)
    return app


def end_streams(app: Starlette) -> None:
    """End all open streams: the server is about to stop, and waits for them. Any thread may call this."""
    app.state.is_stopping = True
    app.state.campaigns.ring()


def _page_routes() -> list[BaseRoute]:
    of_players = (play, xray, memory, people, timeline, recall, take_out)
    of_the_dm = (compare, table_page, bring_in, chat_requests)
    seat_pages: list[BaseRoute] = [route for page in (*of_players, *of_the_dm) for route in page.routes()]
    return [
        *doors.routes(),
        *bring_in.routes(),  # for the owner, who has no campaign yet
        Mount("/c/{campaign}/{seat}", routes=seat_pages),
        Mount("/static", _StaticFiles(directory=str(files("dndbots.server").joinpath("static")))),
    ]


class _StaticFiles(StaticFiles):
    """Static files, which browsers may keep: their addresses change with their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if b"v=" in scope["query_string"]:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


async def _show_refusal(request: Request, exc: Exception) -> Response:
    status = exc.status_code if isinstance(exc, HTTPException) else 500
    detail = exc.detail if isinstance(exc, HTTPException) else ""
    return await _error_page(request, status, detail)


async def _show_error(request: Request, exc: Exception) -> Response:
    return await _error_page(request, 409, str(exc))


async def _show_too_large(_: Request, __: Exception) -> Response:
    return PlainTextResponse("This request is too large.\n", 413)


async def _show_bug(request: Request, exc: Exception) -> Response:
    log.error("a page failed: %s", request.url.path, exc_info=exc)
    return await _error_page(request, 500, "This page failed. Nothing was changed.")


_TITLES = {400: "Not understood", 403: "Closed", 404: "Not here", 405: "Not here", 409: "Not possible"}


async def _error_page(request: Request, status: int, detail: str) -> Response:
    if request.headers.get("hx-request"):
        return HTMLResponse(escape(detail), status, {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"})
    title = _TITLES.get(status, "Something failed")
    access = access_of(request, request.app.state.campaigns.book)
    return render("error.html", access=access, status=status, title=title, detail=detail)
