"""Commands that move play in and out: transcripts, the log itself, and what it has come to."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dndbots.cli import faults, show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.storage.disk import replacing
from dndbots.storage.ports import MAIN

Line = TypeVar("Line")
_LINES_PER_REPORT = 500
_MOST_NAMES = 10  # of those that are told

Transcripts = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", exists=True, dir_okay=False, readable=True, help="The transcripts."),
]
ExportedLog = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="The exported log."),
]


def add_to(app: typer.Typer) -> None:
    app.command("import")(import_files)
    app.command("import-log")(import_log)
    exports = typer.Typer(no_args_is_help=True, help="Writes a campaign out.")
    exports.command("log")(export_log)
    exports.command("data")(export_data)
    app.add_typer(exports, name="export")


def import_files(
    files: Transcripts,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    dm: Annotated[
        str | None,
        typer.Option(
            "--dm", metavar="NAME", help="The speaker who is the DM; in a Critical Role episode, MATT."
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="NAME", help="The session of lines that name none; else the file's name."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Imports transcripts: JSON lines, a JSON array of lines, or a Critical Role (CRD3) episode.

    Which of them a file is shows in its content. Lines that are in the log already are skipped, so an
    import that was interrupted can be run again. A campaign that is not there is made.
    """
    from dndbots.interop.formats import TranscriptFile

    done: list[dict[str, str | int]] = []
    try:
        with opened(campaign, branch, create=True) as target:
            for path in files:
                source = TranscriptFile(path, dm=dm, session=session)
                with show.progress(path.name) as report, faults.in_file(path, source.place):
                    imported = target.import_transcript(_reported(source, report), progress=report)
                done.append({"file": str(path), "added": imported.added, "skipped": imported.skipped})
                if dm is not None and not source.dm_speaks:
                    show.note(f"note: nobody called {dm} speaks in {path}")
                if source.quoted:
                    names = ", ".join(list(source.quoted)[:_MOST_NAMES])
                    show.note(f"note: shown in quotes, since they read like a part of a prompt: {names}")
                if not as_json:
                    shown = show.inert(str(path))
                    show.say(f"{shown}: {imported.added} added, {imported.skipped} there already")
    finally:
        # What was imported before an error stays imported, so it is told.
        if as_json:
            show.say_json(done)


def _reported(lines: Iterable[Line], report: show.Report, total: int = 0) -> Iterator[Line]:
    """Counts lines as they go by. How many a file has shows only at its end, so there may be no total."""
    for number, line in enumerate(lines):
        if number % _LINES_PER_REPORT == 0:
            report(number, total)
        yield line


def import_log(
    file: ExportedLog, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False
) -> None:
    """Appends a log that `export log` wrote: all of it, or nothing."""
    from dndbots.interop.formats import text_lines

    with opened(campaign, branch) as target, faults.in_file(file), show.progress(file.name) as report:
        added = target.import_log(text_lines(file), progress=lambda done: report(done, 0))
    if as_json:
        show.say_json({"file": str(file), "added": added})
    else:
        show.say(f"{show.inert(str(file))}: {added} added")


def export_log(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", dir_okay=False, help="Where to; else standard output."),
    ] = None,
    viewer: Annotated[
        str,
        typer.Option("--viewer", metavar="WHO", help="Only what somebody perceived; else the whole log."),
    ] = "dm",
) -> None:
    """Writes the log as JSON lines, for `import-log` or any other program."""
    with opened(campaign, branch) as source:
        total = source.head if viewer == "dm" else 0
        crowded = out is None and sys.stdout.isatty()
        with show.progress("exporting", quiet=crowded) as report:
            lines = _reported(source.export(viewer=viewer), report, total)
            if out is None:
                show.say_json_lines(lines)
            else:
                show.note(f"{out}: {_write_file(lines, out)} events")


def export_data(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER", file_okay=False, help="Where to; made if it is not there."),
    ],
    as_json: AsJson = False,
) -> None:
    """Writes the files of campaign data as they are at this moment, compacted or not. They tell every secret.

    Only these files are written; what was there under their names is kept beside them.
    """
    with opened(campaign, branch) as source:
        saved = source.export_data(out)
    aside = {one.file: one.moved_to for one in saved.edited if one.moved_to}
    aside |= {one.file: one.moved_to for one in saved.damaged if one.moved_to}
    if as_json:
        kept = {file: str(where) for file, where in aside.items()}
        show.say_json({"folder": str(out), "written": saved.written, "set_aside": kept})
        return
    show.say(f"{show.inert(str(out))}: {', '.join(saved.written) or 'nothing new'}")
    for file, where in aside.items():
        show.note(f"note: another {file} was there, and is {where} now")


def _write_file(lines: Iterable[str], path: Path) -> int:
    """Writes beside the file and then takes its place: an export is whole, or it is not there."""
    written = -1  # the first line is the header
    with replacing(path) as file:
        for line in lines:
            file.write(line + "\n")
            written += 1
    return written
