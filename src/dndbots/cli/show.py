"""How answers are shown: JSON for programs, text and tables for people, progress for the patient.

All that comes from a campaign is hostile. It reaches a terminal only through `inert` or as JSON in ASCII,
never as markup and never with a control character in it.
"""

import json
import logging
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich import box
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dndbots import ids
from dndbots.ids import is_hidden
from dndbots.text.labels import is_plain_id

Report = Callable[[int, int], None]
inert = ids.inert


def inert_id(given: str) -> str:
    """An id or a session where a line begins: as it is, or between quotes that show where it ends."""
    return given if is_plain_id(given) else f'"{inert(given)}"'


def inert_lines(text: str) -> str:
    """The same, but lines stay lines. Only where the page around them keeps them apart from its own."""
    return "\n".join(inert(line) for line in text.replace("\r\n", "\n").split("\n"))


class _Output(Console):
    """Standard output, on which words are never markup and steer nothing.

    A reader that has seen enough is told to `faults`, not to rich.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(_harmless, objects), **options)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output() -> Console:
    """Standard output for people. What goes there is text, never markup."""
    return _Output(markup=False, highlight=False, emoji=False)


def _harmless(one: object) -> object:
    if isinstance(one, str):
        return Text(inert_lines(one))
    if isinstance(one, Text) and (plain := inert_lines(one.plain)) != one.plain:
        return Text(plain, style=one.style)
    return one


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """A line that comes and goes on the terminal, and a function that changes it.

    Rich would read a plain string there as markup, whatever its console says.
    """
    with output().status(Text(inert(text))) as line:
        yield lambda changed: line.update(Text(inert(changed)))


def counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def say(text: str) -> None:
    """A line for people."""
    output().print(Text(inert(text)), soft_wrap=True)


def say_indented(text: str, depth: int = 2) -> None:
    """Words that wrap at the terminal's edge, and keep away from its left one: no text passes for a head."""
    console = output()
    for line in Text(inert(text)).wrap(console, max(console.width - depth, 1)):
        line.rstrip()
        console.print(Text(" " * depth + line.plain), soft_wrap=True)


def say_hanging(label: str, text: str) -> None:
    """Words behind a label, which stand under one another where the terminal is too narrow for a line."""
    console = output()
    for number, line in enumerate(Text(inert(text)).wrap(console, max(console.width - len(label), 20))):
        before = label if number == 0 else " " * len(label)
        console.print(Text(f"{before}{line.plain.rstrip()}"), soft_wrap=True)


def note(text: str) -> None:
    """A line beside the answer, on standard error."""
    typer.echo(inert(text), err=True)


def say_json(value: object) -> None:
    """One JSON document on a line. Values of the campaign become what they are in JSON."""
    typer.echo(json.dumps(value, default=_plain))


def _plain(value: object) -> object:
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON")


def json_for_terminal(line: str) -> str:
    """A line of JSON that says the same, with whatever would steer a terminal escaped."""
    return "".join(json.dumps(char)[1:-1] if is_hidden(char) else char for char in line)


def say_json_lines(lines: Iterable[str]) -> None:
    """Lines of JSON as they are, in UTF-8; on a terminal they steer nothing."""
    to_terminal = sys.stdout.isatty()
    for line in lines:
        text = json_for_terminal(line) if to_terminal else line
        sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def say_text(text: str) -> None:
    """Text for a program to read, as it is; on a terminal it steers nothing."""
    typer.echo(inert_lines(text) if sys.stdout.isatty() else text, nl=not text.endswith("\n"), color=True)


def say_table(
    columns: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    wide: str | Mapping[str, int] | None = None,
    numbers: Collection[str] = (),
    dimmed: Iterable[Iterable[object]] = (),
) -> None:
    """A table that fits the terminal. What is `dimmed` comes last, in grey where there are colours.

    The column named `wide` gets the room that the others leave, or several get their shares of it.
    """
    shares = {wide: 1} if isinstance(wide, str) else wide or {}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, expand=bool(shares))
    for name in columns:
        justify: JustifyMethod = "right" if name in numbers else "left"
        table.add_column(Text(inert(name)), overflow="fold", ratio=shares.get(name), justify=justify)
    for style, lines in ((None, rows), ("dim", dimmed)):
        for row in lines:
            cells = (Text(inert_lines("" if cell is None else str(cell))) for cell in row)
            table.add_row(*cells, style=style)
    output().print(table)


def bar(share: float, width: int) -> str:
    """So much of a width, in eighths of a letter where there are any; a little is never nothing."""
    if not output().encoding.startswith("utf"):
        return "#" * max(round(share * width), 1 if share else 0)
    eighths = max(round(share * width * 8), 1 if share else 0)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Iterator[Report]:
    """A bar on standard error while something takes its time; nothing, if that is no terminal."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, markup=False, highlight=False, emoji=False),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(inert(title), total=None)

        def report(done: int, total: int) -> None:
            # Through `update`, a total that was known could not become unknown again.
            bar.tasks[0].total = total or None
            bar.update(task, completed=done)

        yield report


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(f"warning: {record.getMessage()}")


@contextmanager
def warnings() -> Iterator[None]:
    """What the engine and its libraries warn of is noted, as harmlessly as errors are."""
    logger, handler = logging.getLogger(), _Notes(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def unheard() -> Iterator[None]:
    """Warnings are not told meanwhile: they are the engine's, and not for whoever sits in a seat."""
    handlers = [one for one in logging.getLogger().handlers if isinstance(one, _Notes)]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler in handlers:
            handler.setLevel(logging.WARNING)
