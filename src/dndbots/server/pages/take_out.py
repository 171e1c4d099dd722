"""Take out: files of a campaign for other programs, each made from what the seat knows."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from dndbots.campaign import Campaign
from dndbots.ids import DM
from dndbots.interop.writers.card_writer import card_of, card_picture
from dndbots.interop.writers.chat_writer import chat_lines
from dndbots.interop.writers.knowledge import ViewerKnowledge, sessions_of
from dndbots.interop.writers.lore_writer import world_info_of
from dndbots.interop.writers.vault_writer import merged_note, session_notes, vault_notes
from dndbots.server.pages.site import SeatRequest, enter_seat

# The time of every file in a vault: the same campaign gives the same bytes.
_ANY_TIME: Final = (2000, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOut:
    """A kind of file: its title and purpose for people, its name and type, and the function that makes it."""

    title: str
    purpose: str
    ending: str
    media_type: str
    make: Callable[[Campaign, str], bytes]
    of_characters: bool = False


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [Route("/log.jsonl", take_out_log), Route("/take-out/{kind}", take_out)]


def list_take_outs(seat: str) -> dict[str, TakeOut]:
    """Return the kinds of files that a seat can take out, beside its log."""
    return {kind: one for kind, one in _KINDS.items() if not (one.of_characters and seat == DM)}


def take_out_log(request: Request) -> Response:
    """Return the log as JSON lines: all of it for the DM, what a seat perceived for a player."""
    entered = enter_seat(request)
    lines = (f"{line}\n" for line in entered.served.reader.export(viewer=entered.seat))
    return StreamingResponse(lines, media_type="application/jsonl", headers=_as_file(entered, "log.jsonl"))


def take_out(request: Request) -> Response:
    """Return a file for another program, from what the seat knows."""
    entered = enter_seat(request)
    kind = list_take_outs(entered.seat).get(request.path_params["kind"])
    if kind is None:
        raise HTTPException(404, "There is no such file to take out.")
    content = kind.make(entered.served.reader, entered.seat)
    return Response(content, media_type=kind.media_type, headers=_as_file(entered, kind.ending))


def _as_file(entered: SeatRequest, ending: str) -> dict[str, str]:
    name = f"{entered.served.name.replace('~', '-')}-{entered.seat}-{ending}"
    return {"content-disposition": f'attachment; filename="{name}"'}


def _lorebook(campaign: Campaign, seat: str) -> bytes:
    return json.dumps(world_info_of(campaign, seat), ensure_ascii=False, indent=4).encode()


def _card(campaign: Campaign, seat: str) -> bytes:
    return card_picture(card_of(campaign, seat))


def _chat(campaign: Campaign, seat: str) -> bytes:
    return "".join(f"{line}\n" for line in chat_lines(campaign, seat)).encode()


def _notes(campaign: Campaign, seat: str) -> bytes:
    knowledge = ViewerKnowledge(campaign, seat)
    sessions = sessions_of(knowledge.played())
    return "\n\n".join(session_notes(knowledge, session) for session in sessions).encode()


def _vault(campaign: Campaign, seat: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as vault:
        for path, text in _vault_files(campaign, seat):
            vault.writestr(zipfile.ZipInfo(path, _ANY_TIME), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _vault_files(campaign: Campaign, seat: str) -> Iterator[tuple[str, str]]:
    for note in vault_notes(campaign, seat):
        yield note.path, merged_note(None, note)


_KINDS: Final[Mapping[str, TakeOut]] = {
    "notes": TakeOut(
        title="Session notes",
        purpose="Markdown: the recap of each session, and every line.",
        ending="notes.md",
        media_type="text/markdown; charset=utf-8",
        make=_notes,
    ),
    "obsidian": TakeOut(
        title="Obsidian notes",
        purpose="A note for each person, place, quest and session, with links, as a ZIP file.",
        ending="obsidian.zip",
        media_type="application/zip",
        make=_vault,
    ),
    "lorebook": TakeOut(
        title="SillyTavern world info",
        purpose="An entry for each person, place and thing, shown to those who know it.",
        ending="world-info.json",
        media_type="application/json",
        make=_lorebook,
    ),
    "chat": TakeOut(
        title="SillyTavern chat",
        purpose="The story as a chat, to go on with there.",
        ending="chat.jsonl",
        media_type="application/jsonl",
        make=_chat,
    ),
    "card": TakeOut(
        title="Character card",
        purpose="A picture with the character and a book of what it knows, for SillyTavern and others.",
        ending="card.png",
        media_type="image/png",
        make=_card,
        of_characters=True,
    ),
}
