"""Bring in: a chat, lorebook, card or transcript of another program, with a preview of what it becomes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, UnreadableFile
from dndbots.ids import DM, slug
from dndbots.interop.formats.neutral import ImportOptions
from dndbots.interop.imports import preview_files
from dndbots.server.pages.site import SeatRequest, campaigns_of, only_dm, posted, text_field
from dndbots.server.security.access import read_form
from dndbots.server.security.guards import MOST_BYTES_OF_FILES
from dndbots.server.tables.uploads import UploadTray

_LONGEST_NAME: Final = 100


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/bring-in", show_form, methods=["GET"]),
        Route("/bring-in", look_at_file, methods=["POST"]),
        Route("/take-in", posted(take_in, enter=only_dm), methods=["POST"]),
    ]


def show_form(request: Request) -> Response:
    """Show where to drop a file."""
    return only_dm(request).render("bring_in.html", page="table", preview=None, problem="", key="", chosen={})


async def look_at_file(request: Request) -> Response:
    """Show what a file will become. Nothing is written."""
    entered = await run_in_threadpool(only_dm, request)
    async with read_form(request, entered.access) as form:
        file = form.get("file")
        name, content = "", b""
        if isinstance(file, UploadFile):
            name, content = file.filename or "file", await file.read(MOST_BYTES_OF_FILES)
        return await run_in_threadpool(_look_at, entered, form, name, content)


def _look_at(entered: SeatRequest, form: Mapping[str, Any], name: str, content: bytes) -> Response:
    tray, owner = _tray(entered), entered.access.form_token
    key = text_field(form, "key")
    if content:
        key = tray.put(owner, name, content)
    path = tray.get(owner, key)
    if path is None:
        return _show(entered, problem="Choose a file first.", status=400)
    options = _options(form)
    preview = preview_files([path], options)[0]
    chosen = {"dm": ", ".join(options.dm), "persona": text_field(form, "persona", longest=_LONGEST_NAME)}
    return entered.render(
        "bring_in.html", page="table", preview=preview, name=path.name, problem="", key=key, chosen=chosen
    )


def _show(entered: SeatRequest, *, problem: str, status: int) -> Response:
    return entered.render(
        "bring_in.html", page="table", preview=None, problem=problem, key="", chosen={}, status=status
    )


def _options(form: Mapping[str, Any]) -> ImportOptions:
    names = [name.strip() for name in text_field(form, "dm", longest=400).split(",")]
    persona = text_field(form, "persona", longest=_LONGEST_NAME)
    return ImportOptions(dm=tuple(name for name in names if name), persona=persona or None)


def take_in(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Bring a file in that was looked at: into this campaign, or into a new one."""
    tray, key = _tray(entered), text_field(form, "key")
    path = tray.get(entered.access.form_token, key)
    if path is None:
        return _show(entered, problem="The file is not here any more. Drop it again.", status=409)
    options = _options(form)
    try:
        address = _take_in(entered, path, options, into_new=text_field(form, "into") == "new")
    except (UnreadableFile, DndbotsError) as exc:
        return _show(entered, problem=str(exc).replace(str(path.parent), ""), status=409)
    tray.drop(key)
    return RedirectResponse(address, 303)


def _take_in(entered: SeatRequest, path: Path, options: ImportOptions, *, into_new: bool) -> str:
    campaigns = campaigns_of(entered.request)
    if not into_new:
        entered.served.reader.import_files([path], options)
        entered.served.refresh()
        entered.served.bell.ring()
        return f"{entered.base}/play"
    if not entered.access.is_owner or campaigns.shelf.folder is None:
        raise HTTPException(403, "Only the owner of this server can begin a campaign.")
    name = campaigns.shelf.free_name(slug(path.stem))
    with Campaign.open(campaigns.shelf.folder / name) as campaign:
        campaign.import_files([path], options)
    return f"/c/{name}/{DM}/play"


def _tray(entered: SeatRequest) -> UploadTray:
    tray: UploadTray = entered.request.app.state.uploads
    return tray
