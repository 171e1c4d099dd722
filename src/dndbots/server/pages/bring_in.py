"""Bring in: a chat, lorebook, card or transcript of another program, with a preview of what it becomes.

A DM brings files into the own campaign, the owner of the server into new ones as well.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
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
from dndbots.server.pages.site import SeatRequest, campaigns_of, only_dm, only_owner, render, text_field
from dndbots.server.security.access import Access, read_form
from dndbots.server.security.guards import MOST_BYTES_OF_FILES
from dndbots.server.tables.uploads import UploadTray

_LONGEST_NAME: Final = 100
_NO_FOLDER: Final = "This server serves a single campaign. Start it without --campaign."


@dataclass(frozen=True, slots=True)
class _ImportDesk:
    """The place where a file is brought in: a campaign's, or the owner's own, which has no campaign yet."""

    request: Request
    access: Access
    entered: SeatRequest | None = None

    @property
    def base(self) -> str:
        return "" if self.entered is None else self.entered.base

    @property
    def tray(self) -> UploadTray:
        tray: UploadTray = self.request.app.state.uploads
        return tray

    def show(self, *, problem: str = "", status: int = 200, **found: Any) -> Response:
        """Render the page, with what was found in a file."""
        context = {"preview": None, "name": "", "key": "", "chosen": {}, "problem": problem} | found
        if self.entered is not None:
            return self.entered.render(
                "bring_in.html", page="table", layout="seat.html", status=status, **context
            )
        return render(
            "bring_in.html", access=self.access, status=status, layout="plain.html", base="", **context
        )


def _dm_desk(request: Request) -> _ImportDesk:
    entered = only_dm(request)
    return _ImportDesk(request, entered.access, entered)


def _owner_desk(request: Request) -> _ImportDesk:
    return _ImportDesk(request, only_owner(request))


def routes() -> list[Route]:
    """Return the routes of this page for a campaign."""
    return [
        Route("/bring-in", show_form, methods=["GET"]),
        Route("/bring-in", look_at_file, methods=["POST"]),
        Route("/take-in", take_in, methods=["POST"]),
    ]


def _desk_of(request: Request) -> _ImportDesk:
    return _dm_desk(request) if "campaign" in request.path_params else _owner_desk(request)


def show_form(request: Request) -> Response:
    """Show where to drop a file."""
    return _desk_of(request).show()


async def look_at_file(request: Request) -> Response:
    """Show what a file will become. Nothing is written."""
    desk = await run_in_threadpool(_desk_of, request)
    async with read_form(request, desk.access) as form:
        file = form.get("file")
        name, content = "", b""
        if isinstance(file, UploadFile):
            name, content = file.filename or "file", await file.read(MOST_BYTES_OF_FILES)
        return await run_in_threadpool(_look_at, desk, form, name, content)


def _look_at(desk: _ImportDesk, form: Mapping[str, Any], name: str, content: bytes) -> Response:
    owner, key = desk.access.form_token, text_field(form, "key")
    if content:
        key = desk.tray.put(owner, name, content)
    path = desk.tray.get(owner, key)
    if path is None:
        return desk.show(problem="Choose a file first.", status=400)
    options = _options(form)
    preview = preview_files([path], options)[0]
    chosen = {"dm": ", ".join(options.dm), "persona": text_field(form, "persona", longest=_LONGEST_NAME)}
    return desk.show(preview=preview, name=path.name, key=key, chosen=chosen)


def _options(form: Mapping[str, Any]) -> ImportOptions:
    names = [name.strip() for name in text_field(form, "dm", longest=400).split(",")]
    persona = text_field(form, "persona", longest=_LONGEST_NAME)
    return ImportOptions(dm=tuple(name for name in names if name), persona=persona or None)


async def take_in(request: Request) -> Response:
    """Bring a file in that was looked at: into this campaign, or into a new one."""
    desk = await run_in_threadpool(_desk_of, request)
    async with read_form(request, desk.access) as form:
        return await run_in_threadpool(_take_in, desk, form)


def _take_in(desk: _ImportDesk, form: Mapping[str, Any]) -> Response:
    key = text_field(form, "key")
    path = desk.tray.get(desk.access.form_token, key)
    if path is None:
        return desk.show(problem="The file is not here any more. Drop it again.", status=409)
    options = _options(form)
    try:
        if desk.entered is not None and text_field(form, "into") != "new":
            address = _import_here(desk.entered, path, options)
        else:
            address = _import_as_new(desk, path, options)
    except (UnreadableFile, DndbotsError) as exc:
        return desk.show(problem=str(exc).replace(str(path.parent), ""), status=409)
    desk.tray.drop(key)
    return RedirectResponse(address, 303)


def _import_here(entered: SeatRequest, path: Path, options: ImportOptions) -> str:
    entered.served.reader.import_files([path], options)
    entered.served.refresh()
    entered.served.bell.ring()
    return f"{entered.base}/play"


def _import_as_new(desk: _ImportDesk, path: Path, options: ImportOptions) -> str:
    """Make a campaign of a file. Nothing stays if the file cannot be brought in."""
    campaigns = campaigns_of(desk.request)
    if not desk.access.is_owner:
        raise HTTPException(403, "Only the owner of this server can begin a campaign.")
    if campaigns.shelf.folder is None:
        raise HTTPException(409, _NO_FOLDER)
    name = campaigns.shelf.free_name(slug(path.stem))
    folder = campaigns.shelf.folder / name
    is_new = not folder.exists()
    try:
        with Campaign.open(folder) as campaign:
            campaign.import_files([path], options)
    except BaseException:  # an interruption leaves no half of a campaign either
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return f"/c/{name}/{DM}/play"
