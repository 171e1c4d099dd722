"""`import`, `import-log` and `export`: move files of other programs, logs and campaign data in and out."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dndbots.cli import console, failures
from dndbots.cli.maintain import exports as other_exports
from dndbots.cli.maintain.import_files import import_files
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.cli.viewers import open_for
from dndbots.ids import DM
from dndbots.storage.files import open_replacement
from dndbots.storage.ports import MAIN

Line = TypeVar("Line")
_LINES_PER_REPORT = 500

ExportedLog = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="The exported log."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("import")(import_files)
    app.command("import-log")(import_log)
    exports = typer.Typer(
        no_args_is_help=True, help="Export a campaign: its log, its data, or files for other programs."
    )
    exports.command("log")(export_log)
    exports.command("data")(export_data)
    other_exports.add_to(exports)
    app.add_typer(exports, name="export")


def _reported(lines: Iterable[Line], report: console.Report, total: int = 0) -> Iterator[Line]:
    """Report the number of lines while they pass. A file's total is known only at its end."""
    for number, line in enumerate(lines):
        if number % _LINES_PER_REPORT == 0:
            report(number, total)
        yield line


def import_log(
    file: ExportedLog, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False
) -> None:
    """Append a log written by `export log`: all of it or nothing."""
    from dndbots.interop.transcript_files import text_lines

    with (
        open_campaign(campaign, branch) as target,
        failures.in_file(file),
        console.progress(file.name) as report,
    ):
        added = target.import_log(text_lines(file), progress=lambda done: report(done, 0))
    if as_json:
        console.say_json({"file": str(file), "added": added})
    else:
        console.say(f"{console.inert(str(file))}: {added} added")


def export_log(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", dir_okay=False, help="The file to write. Standard output if omitted."
        ),
    ] = None,
    viewer: Annotated[
        str,
        typer.Option("--as", metavar="NAME", help="Only what this character perceived. Everything for dm."),
    ] = DM,
) -> None:
    """Export the log as JSON lines, for `import-log` or another program. Exports everything by default."""
    with open_for(viewer, campaign, branch) as (source, who):
        total = source.head if who == DM else 0
        crowded = out is None and sys.stdout.isatty()
        with console.progress("exporting", quiet=crowded) as report:
            lines = _reported(source.export(viewer=who), report, total)
            if out is None:
                console.say_json_lines(lines)
            else:
                console.note(f"{out}: {_write_file(lines, out)} events")


def export_data(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", file_okay=False, help="The folder to write to. Created if missing."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Export the campaign data as JSON files, including turns not yet compacted. They reveal every secret.

    Other files with the same names are kept under new names.
    """
    with open_campaign(campaign, branch) as source:
        saved = source.export_data(out)
    aside = {one.file: one.moved_to for one in saved.edited if one.moved_to}
    aside |= {one.file: one.moved_to for one in saved.damaged if one.moved_to}
    if as_json:
        kept = {file: str(where) for file, where in aside.items()}
        console.say_json({"folder": str(out), "written": saved.written, "set_aside": kept})
        return
    console.say(f"{console.inert(str(out))}: {', '.join(saved.written) or 'nothing new'}")
    for file, where in aside.items():
        console.note(f"note: kept another {file} that was there as {where}")


def _write_file(lines: Iterable[str], path: Path) -> int:
    """Write the lines and return their number; the file appears when it is complete, or not at all."""
    written = -1  # the first line is the header
    with open_replacement(path) as file:
        for line in lines:
            file.write(line + "\n")
            written += 1
    return written
