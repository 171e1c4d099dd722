"""`export lorebook`, `card`, `chat`, `vault` and `notes`: files for other programs, for one viewer."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, OnBranch
from dndbots.cli.viewers import open_for
from dndbots.ids import DM
from dndbots.storage.files import make_folder, open_binary_replacement, open_replacement
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", dir_okay=False, help="The file to write.")]
OutFolder = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FOLDER", file_okay=False, help="The folder to write to. Created if missing."
    ),
]
ForViewer = Annotated[
    str, typer.Option("--as", metavar="NAME", help="Only what this character knows. Everything for dm.")
]


def add_to(exports: typer.Typer) -> None:
    """Add the commands to `export`."""
    exports.command("lorebook")(export_lorebook)
    exports.command("card")(export_card)
    exports.command("chat")(export_chat)
    exports.command("vault")(export_vault)
    exports.command("notes")(export_notes)


def export_lorebook(
    *, campaign: Address, branch: OnBranch = MAIN, out: OutFile, viewer: ForViewer = DM
) -> None:
    """Export SillyTavern world info: for dm, each entry shows only to the characters who know it.

    Entries of others in the file are kept, those of an earlier export are replaced.
    """
    from dndbots.interop.formats.bounds import as_dict, as_text, parse_json, read_bytes
    from dndbots.interop.writers.lore_writer import merge_books, world_info_of

    with open_for(viewer, campaign, branch) as (source, who):
        book = world_info_of(source, who)
    if out.is_file():
        try:
            book = merge_books(as_dict(parse_json(as_text(read_bytes(out)))), book)
        except ValueError as exc:
            raise failures.Refusal(f"{out}: {exc}; it is kept as it is: choose another --out") from exc
    _write(out, [json.dumps(book, ensure_ascii=False, indent=4)])
    console.note(f"{out}: {console.counted(len(book['entries']), 'entry', 'entries')}")


def export_card(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: OutFile,
    viewer: Annotated[str, typer.Option("--as", metavar="NAME", help="The character whose card it is.")],
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", exists=True, dir_okay=False, help="A PNG to put it into."),
    ] = None,
) -> None:
    """Export a character card (V2 and V3) with what the character knows: a PNG, or JSON as FILE.json."""
    from dndbots.interop.formats.bounds import read_bytes
    from dndbots.interop.writers.card_writer import card_of, card_picture

    with open_for(viewer, campaign, branch) as (source, who):
        card = card_of(source, who)
    if out.suffix.casefold() == ".json":
        _write(out, [json.dumps(card, ensure_ascii=False, indent=4)])
    else:
        try:
            content = card_picture(card, None if picture is None else read_bytes(picture))
        except ValueError as exc:
            raise failures.Refusal(f"{picture}: {exc}", code=failures.UNUSABLE) from exc
        _write_bytes(out, content)
    entries = len(card["data"]["character_book"]["entries"])
    console.note(f"{out}: {card['data']['name']}, {console.counted(entries, 'entry', 'entries')}")


def export_chat(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: OutFile,
    viewer: ForViewer = DM,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The character whose lines are the user's.")
    ] = None,
    chat: Annotated[
        str | None,
        typer.Option("--chat", metavar="NAME", help="Only this imported chat. All play if omitted."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Only this session.")
    ] = None,
) -> None:
    """Export play as a SillyTavern chat: put the file into a character's chats folder, and go on there."""
    from dndbots.interop.writers.chat_writer import chat_lines

    with open_for(viewer, campaign, branch) as (source, who):
        lines = list(chat_lines(source, who, user=user, chat=chat, session=session))
    if len(lines) == 1:
        raise failures.Refusal("there is no play to export; look at the names of sessions with `dndbots log`")
    _write(out, lines)
    console.note(f"{out}: {console.counted(len(lines) - 1, 'message')}")


def export_vault(
    *, campaign: Address, branch: OnBranch = MAIN, out: OutFolder, viewer: ForViewer = DM
) -> None:
    """Export an Obsidian vault, for the DM or for one player. Your own text in its notes stays."""
    from dndbots.interop.writers.vault_writer import vault_notes, write_vault

    with open_for(viewer, campaign, branch) as (source, who):
        notes = vault_notes(source, who)
    make_folder(out)
    written = write_vault(out, notes)
    console.note(f"{out}: {console.counted(written.notes, 'note')}, {len(written.changed)} changed")


def export_notes(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: OutFile,
    viewer: ForViewer = DM,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="The session. The last one if omitted.")
    ] = None,
) -> None:
    """Export the notes of a session as Markdown: the recap, and every line with its event."""
    with open_for(viewer, campaign, branch) as (source, who):
        text = _notes(source, who, session)
    _write(out, [text])
    console.note(f"{out}: {console.counted(len(text.splitlines()), 'line')}")


def _notes(source: "Campaign", viewer: str, session: str | None) -> str:
    from dndbots.interop.writers.knowledge import ViewerKnowledge, sessions_of
    from dndbots.interop.writers.vault_writer import session_notes

    knowledge = ViewerKnowledge(source, viewer)
    sessions = sessions_of(knowledge.played())
    if not sessions or (session is not None and session not in sessions):
        known = ", ".join(sessions) or "none"
        raise failures.Refusal(f"no session {session or ''!r} was played; there are: {known}")
    return session_notes(knowledge, session or sessions[-1])


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines; the file appears when it is complete, or not at all."""
    with open_replacement(path) as file:
        file.writelines(line + "\n" for line in lines)


def _write_bytes(path: Path, content: bytes) -> None:
    """Write bytes; the file appears when it is complete, or not at all."""
    with open_binary_replacement(path) as file:
        file.write(content)
