"""`import`: bring chats, lorebooks, cards, transcripts and notes in, with a preview of what they become."""

import shutil
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console, failures
from dndbots.cli.maintain.import_questions import (
    ask_for_the_rest,
    ask_for_voices,
    has_questions,
    read_speaker,
)
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.events import LONGEST_CONTENT
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from dndbots.campaign import Campaign
    from dndbots.errors import UnreadableFile
    from dndbots.interop.formats.neutral import ImportOptions, ReadFile
    from dndbots.interop.imports import BookPreview, ChatPreview, FileImport, FileImporter, ImportPreview
    from dndbots.interop.transcript_files import TranscriptFile

_LINES_PER_REPORT = 500
_MOST_NAMES = 10
_MOST_PROBLEMS = 20
_A_TABLE = 3

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", exists=True, readable=True, help="Files, or folders with files."),
]


def import_files(
    files: Files,
    *,
    campaign: Address = "",
    branch: OnBranch = MAIN,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what the files will become, and write nothing.")
    ] = False,
    dm: Annotated[
        list[str] | None,
        typer.Option("--dm", metavar="NAME", help="A speaker who is the DM, such as MATT in Critical Role."),
    ] = None,
    persona: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="The character that the user of a chat plays."),
    ] = None,
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker",
            metavar="SPEAKER=NAME[:ROLE]",
            help="Give a speaker a name and a role (dm, pc, npc): SPEAKER_00=Matt:dm.",
        ),
    ] = None,
    known_to: Annotated[
        list[str] | None,
        typer.Option(
            "--known-to",
            metavar="NAME",
            help="Who knows imported lore beside the DM: a name, or `party`.",
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="NAME",
            help="One session for all lines. By file and by pauses if omitted.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Import a file without the parts that are not understood.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import chats, lorebooks, cards, transcripts and notes. Their content shows what they are.

    Takes SillyTavern chats, world info and cards; Chub, Risu, Agnai, NovelAI, KoboldAI and AI Dungeon files;
    plain logs; SRT, WebVTT and Whisper; Foundry, Roll20 and Discord; Obsidian notes; and dndbots' own
    transcripts and Critical Role (CRD3). Importing a chat again follows its edits; what was is kept in a
    branch. Creates the campaign if it does not exist.
    """
    from dndbots.interop.formats.neutral import ImportOptions
    from dndbots.interop.imports import preview_files, read_files

    options = ImportOptions(
        dm=tuple(dm or ()),
        persona=persona,
        speakers=dict(map(_mapped, speaker or ())),
        known_to=tuple(known_to or ()),
        session=session,
    )
    if preview:
        _show_previews(preview_files(files, options), as_json=as_json)
        return
    if not campaign:
        raise failures.Refusal("name a campaign to import into with --campaign PATH; it may be a new one")
    if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        options = _ask(files, options)
    # All files are read before the campaign is opened: a refused import leaves none behind.
    damaged: list[UnreadableFile] = []
    with failures.in_file_of_others():
        read = read_files(files, options, damaged=damaged if partial else None)
    for one in damaged:
        console.note(f"note: left out: {one}")
    if not read:
        raise failures.Refusal(f"{', '.join(map(str, files))}: no file in it that can be imported")
    for path, content in read:
        _agree(path, content, partial=partial)
    with _open_or_leave_none(campaign, branch) as target:
        _import(target, read, options, as_json=as_json)


@contextmanager
def _open_or_leave_none(where: str, branch: str) -> "Iterator[Campaign]":
    """Open a campaign; if it is new and an error comes before the first event, leave no folder behind.

    What was recorded stays: an import that was interrupted goes on from there.
    """
    is_new = "://" not in where and not Path(where).exists()
    is_empty = True
    try:
        with open_campaign(where, branch, create=True) as target:
            try:
                yield target
            finally:
                is_empty = not target.head
    except BaseException:  # also after Ctrl-C
        if is_new and is_empty:
            shutil.rmtree(where, ignore_errors=True)
        raise


def _mapped(text: str) -> tuple[str, tuple[str, str | None]]:
    given, _, named = text.partition("=")
    name, role = read_speaker(named)
    if not given.strip() or not name:
        reason = f"--speaker {text}: write SPEAKER=NAME or SPEAKER=NAME:ROLE, as SPEAKER_00=Matt:dm"
        raise failures.Refusal(reason)
    return given.strip(), (name, role)


def _ask(files: list[Path], options: "ImportOptions") -> "ImportOptions":
    """Show what the files will become, and ask what only a person can tell, if there is anything."""
    from dndbots.interop.imports import preview_files

    previews = preview_files(files, options)
    is_refused = any(preview.refused and not preview.is_left_out for preview in previews)
    if is_refused or not has_questions(previews, options):
        return options
    _show_previews(previews, as_json=False)
    named = ask_for_voices(previews, options)
    return ask_for_the_rest(preview_files(files, named) if named != options else previews, named)


def _import(
    target: "Campaign", read: "list[tuple[Path, ReadFile]]", options: "ImportOptions", *, as_json: bool
) -> None:
    importer = target.importer(options)
    done: list[dict[str, object]] = []
    try:
        for path, content in read:
            with console.progress(path.name) as report:
                result = _write(target, importer, path, content, options, report)
            done.append(_as_json(result))
            for text in result.notes:
                console.note(f"note: {text}")
            if not as_json:
                for line in _results(result):
                    console.say(f"{console.inert(str(path))}: {line}")
    finally:
        # Files imported before an error stay imported, so report them.
        if as_json:
            console.say_json(done)


def _write(
    target: "Campaign",
    importer: "FileImporter",
    path: Path,
    content: "ReadFile",
    options: "ImportOptions",
    report: console.Report,
) -> "FileImport":
    from dndbots.interop.imports import FileImport, notes_on, open_transcript
    from dndbots.interop.recognition import TRANSCRIPT

    if content.family != TRANSCRIPT:
        with failures.in_file(path):
            return importer.write(path, content, report)
    source = open_transcript(path, options)
    with failures.in_file(path, source.place):
        imported = target.import_transcript(_reported(source, report), progress=report)
    notes = tuple(notes_on(source, options, path))
    return FileImport(str(path), content.family, transcript=imported, notes=notes)


def _reported(lines: "TranscriptFile", report: console.Report) -> "Iterator[dict[str, JsonValue]]":
    """Report the number of lines while they pass. A file's total is known only at its end."""
    for number, line in enumerate(lines):
        if number % _LINES_PER_REPORT == 0:
            report(number, 0)
        yield line


def _agree(path: Path, content: "ReadFile", *, partial: bool) -> None:
    """Refuse a file that is only half understood, unless a person agrees to import that half."""
    from dndbots.interop.formats.bounds import is_cut

    cut = sum(is_cut(message.text) for chat in content.chats for message in chat.messages)
    if cut:
        console.note(f"note: {path}: {console.counted(cut, 'message')} cut at {LONGEST_CONTENT:,} characters")
    if not content.problems or partial:
        return
    for problem in content.problems[:_MOST_PROBLEMS]:
        console.note(f"{path}: {problem}")
    count = console.counted(len(content.problems), "part")
    if sys.stdin.isatty() and sys.stdout.isatty():
        if typer.confirm(f"{count} cannot be imported. Import the rest?", default=False):
            return
        raise failures.Refusal(f"{path}: nothing was imported")
    reason = f"{path}: {count} cannot be imported; nothing was. Import the rest with --partial"
    raise failures.Refusal(reason, code=failures.UNUSABLE)


def _as_json(result: "FileImport") -> dict[str, object]:
    if result.transcript is not None:
        added, skipped = result.transcript
        return {"file": result.file, "added": added, "skipped": skipped}
    told: dict[str, object] = {"file": result.file, "family": result.family}
    chats = [{"name": name, **followed._asdict()} for name, followed in result.chats]
    books = [{"title": title, **imported._asdict()} for title, imported in result.books]
    problems = [str(problem) for problem in result.problems]
    return told | {
        "added": sum(followed.added for _, followed in result.chats),
        "skipped": sum(followed.kept for _, followed in result.chats),
        "chats": chats,
        "books": books,
        "cards": list(result.cards),
        "problems": problems,
    }


def _results(result: "FileImport") -> list[str]:
    if result.transcript is not None:
        return [f"{result.transcript.added} added, {result.transcript.skipped} already there"]
    lines = []
    for name, followed in result.chats:
        line = f"{followed.added} added, {followed.kept} already there"
        if followed.replaced:
            line += f", {followed.replaced} replaced"
        if followed.branch is not None:
            line += f"; branch {followed.branch}"
        lines.append(line if len(result.chats) == 1 else f"{name}: {line}")
    for title, imported in result.books:
        line = f"{console.counted(imported.added, 'note')} added, {imported.kept} already there"
        lines.append(f"{title}: {line}" + (f", {imported.replaced} replaced" if imported.replaced else ""))
    lines += [f"a card of {uid}" for uid in result.cards]
    lines += [f"left out: {problem}" for problem in result.problems[:_MOST_PROBLEMS]]
    return lines + list(result.remarks) or ["nothing to import"]


def _show_previews(previews: "list[ImportPreview]", *, as_json: bool) -> None:
    if as_json:
        console.say_json([asdict(preview) for preview in previews])
        return
    for preview in (one for one in previews if not one.is_left_out):
        console.say(f"{preview.file}: {preview.family}")
        for line in _told(preview):
            console.say_hanging("  ", line)
    unknown = sum(preview.is_left_out for preview in previews)
    refused = sum(preview.refused is not None for preview in previews) - unknown
    if refused:
        console.note(f"note: {console.counted(refused, 'file')} cannot be imported")
    if unknown:
        console.note(f"note: {console.counted(unknown, 'file')} of no known kind: left out")
    if not previews:
        console.note("note: no file that can be imported")


def _told(preview: "ImportPreview") -> list[str]:
    if preview.refused is not None:
        return [f"cannot be imported: {preview.refused}"]
    lines = [line for chat in preview.chats for line in _told_chat(chat)]
    for card in preview.cards:
        kind = "the narrator's persona (for the DM)" if card.is_narrator else "a person with a persona"
        lines.append(f"card: {card.name}, {kind} of {card.persona} characters, beside the memory")
        if card.book is not None:
            knower = "the DM" if card.is_narrator else card.name
            lines += [f"its book is known to {knower}", *_told_book(card.book)]
    for book in preview.books:
        lines += _told_book(book)
    lines += list(preview.remarks)
    lines += [f"not understood: {problem}" for problem in preview.problems[:_MOST_PROBLEMS]]
    more = len(preview.problems) - _MOST_PROBLEMS
    return [*lines, f"and {more} more"] if more > 0 else lines or ["nothing to import"]


def _told_chat(chat: "ChatPreview") -> list[str]:
    if not chat.messages:
        return ["chat: no messages"]
    sessions = console.counted(len(chat.sessions), "session")
    when = f", {_moment(chat.first)} to {_moment(chat.last or chat.first)}" if chat.first else ""
    lines = [f"chat: {console.counted(chat.messages, 'message')} in {sessions}{when}"]
    people = [f"{who.name} ({who.role}, {who.messages})" for who in chat.speakers[:_MOST_NAMES]]
    more = len(chat.speakers) - _MOST_NAMES
    lines.append(f"speakers: {', '.join(people)}" + (f" and {more} more" if more > 0 else ""))
    if chat.listeners:
        lines.append(f"listeners: {', '.join(chat.listeners[:_MOST_NAMES])}")
    told = ", ".join(chat.dms) or f"nobody; name one with --dm NAME{_talker(chat)}"
    lines.append(f"DM: {told}")
    if chat.whispers:
        lines.append(f"{console.counted(chat.whispers, 'message')} not for everybody")
    if chat.alternatives:
        lines.append(f"{console.counted(chat.alternatives, 'message')} with swipes, kept and not remembered")
    if chat.cut:
        lines.append(f"{console.counted(chat.cut, 'message')} cut at {LONGEST_CONTENT:,} characters")
    if chat.branch_of:
        lines.append(f"a branch of {chat.branch_of}: becomes a fork where they part")
    return lines


def _moment(time: str) -> str:
    """Return a time without its seconds, zone and other noise; a time of a recording as it is."""
    return time[:16].replace("T", " ") if "T" in time else time


def _talker(chat: "ChatPreview") -> str:
    """Return a hint at who may be the DM: at a table of several, it is mostly the one who talks most."""
    from dndbots.interop.transcript_cast import DICE

    people = [who for who in chat.speakers if who.name != DICE]
    if len(people) < _A_TABLE or people[0].messages == people[1].messages:
        return ""
    return f" ({people[0].name} talks most)"


def _told_book(book: "BookPreview") -> list[str]:
    notes = console.counted(book.notes, "note")
    lines = [f"lore: {book.title}, {notes}" + (f" ({book.kinds})" if book.kinds else "")]
    if book.for_named:
        lines.append(f"{console.counted(book.for_named, 'note')} for the characters that the book names")
    if book.for_players:
        lines.append(f"{console.counted(book.for_players, 'note')} for the party")
    left_out = [(book.disabled, "switched off"), (book.empty, "without text")]
    if told := ", ".join(f"{count} {why}" for count, why in left_out if count):
        lines.append(f"left out: {told}")
    if book.patterns:
        lines.append(f"{console.counted(book.patterns, 'note')} with patterns as keys, kept and never run")
    return lines
