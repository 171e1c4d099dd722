"""Output: JSON for programs, text and tables for people, progress bars for long work.

Treat every text of a campaign as hostile. It reaches a terminal only through `inert` or as ASCII JSON, never
as markup and never with a control character in it. Rich is loaded when something is first laid out with it.
"""

import json
import logging
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

import typer

from dndbots import ids
from dndbots.ids import is_hidden
from dndbots.text.labels import is_plain_id

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod, RenderableType
    from rich.text import Text

Report = Callable[[int, int], None]
inert = ids.inert
# Words that come while one waits: their margin, and how wide and high they get.
_MARGIN: Final = 2
_WIDEST_WORDS: Final = 100
_MOST_LINES: Final = 16


def inert_id(text: str) -> str:
    """Return an id or a session for the start of a line, in quotes unless it shows where it ends."""
    return text if is_plain_id(text) else f'"{inert(text)}"'


def inert_lines(text: str) -> str:
    """Make a text inert but keep its lines. Use it only where lines cannot be taken for the page's own."""
    return "\n".join(inert(line) for line in text.replace("\r\n", "\n").split("\n"))


@cache
def _output_class() -> "type[Console]":
    from rich.console import Console

    class Output(Console):
        """Standard output on which text is never markup and controls nothing.

        When the reader of a pipe is gone, this raises BrokenPipeError for `failures` to handle.
        """

        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*map(_harmless, objects), **options)

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Output


def output() -> "Console":
    """Return standard output for people: plain text, no markup."""
    return _output_class()(markup=False, highlight=False, emoji=False)


def _text(plain: str, style: Any = "") -> "Text":
    """Return a text that is no markup. Rich reads plain strings as markup in some places."""
    from rich.text import Text

    return Text(plain, style=style)


def _harmless(renderable: object) -> object:
    from rich.text import Text

    if isinstance(renderable, str):
        return Text(inert_lines(renderable))
    if isinstance(renderable, Text) and (plain := inert_lines(renderable.plain)) != renderable.plain:
        return Text(plain, style=renderable.style)
    return renderable


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """Show a line on the terminal while the block runs; yield a function that changes the line."""
    with output().status(_text(inert(text))) as line:
        yield lambda changed: line.update(_text(inert(changed)))


@contextmanager
def live_words(line: str) -> Iterator[Callable[[str, str], None]]:
    """Show a line on the terminal while the block runs, with words above it that grow; all of it vanishes.

    Yield a function that changes the words and the line. Of many words, the last are shown.
    """
    from rich.live import Live

    console = output()
    with Live(_live_page(console, "", line), console=console, transient=True, refresh_per_second=8) as live:
        yield lambda words, changed: live.update(_live_page(console, words, changed))


def _live_page(console: "Console", words: str, line: str) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.spinner import Spinner

    spinner = Spinner("dots", _text(inert(line)))
    if not words:
        return spinner
    width = min(console.width, _WIDEST_WORDS) - _MARGIN
    lines = _text(inert_lines(words)).wrap(console, max(width, 1))
    return Group(Padding(_text("\n").join(lines[-_MOST_LINES:]), (0, 0, 0, _MARGIN)), spinner)


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 event`, `2 events`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def say(text: str) -> None:
    """Print a line for people."""
    output().print(_text(inert(text)), soft_wrap=True)


def say_indented(text: str, depth: int = 2) -> None:
    """Print text wrapped and indented, so that no text can pass for a heading at the left edge."""
    console = output()
    for line in _text(inert(text)).wrap(console, max(console.width - depth, 1)):
        line.rstrip()
        console.print(_text(" " * depth + line.plain), soft_wrap=True)


def say_hanging(label: str, text: str) -> None:
    """Print text after a label; lines that do not fit continue under the text."""
    console = output()
    for number, line in enumerate(_text(inert(text)).wrap(console, max(console.width - len(label), 20))):
        before = label if number == 0 else " " * len(label)
        console.print(_text(f"{before}{line.plain.rstrip()}"), soft_wrap=True)


def note(text: str) -> None:
    """Print a line on standard error, beside the answer."""
    typer.echo(inert(text), err=True)


def say_json(value: object) -> None:
    """Print one JSON document on one line. Models of the campaign become JSON objects."""
    typer.echo(json.dumps(value, default=_as_json))


def _as_json(value: object) -> object:
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON")


def json_for_terminal(line: str) -> str:
    """Return a line of JSON with the same meaning, with all characters escaped that control a terminal."""
    return "".join(json.dumps(char)[1:-1] if is_hidden(char) else char for char in line)


def say_json_lines(lines: Iterable[str]) -> None:
    """Print lines of JSON as they are, in UTF-8; on a terminal, escape what would control it."""
    to_terminal = sys.stdout.isatty()
    for line in lines:
        text = json_for_terminal(line) if to_terminal else line
        sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def say_text(text: str) -> None:
    """Print text as it is for another program; on a terminal, make it inert."""
    typer.echo(inert_lines(text) if sys.stdout.isatty() else text, nl=not text.endswith("\n"), color=True)


def say_table(
    columns: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    wide: str | Mapping[str, int] | None = None,
    numbers: Collection[str] = (),
    dimmed: Iterable[Iterable[object]] = (),
) -> None:
    """Print a table that fits the terminal. `dimmed` rows come last, in grey where there are colours.

    The column named by `wide` gets the room the others leave; several columns get shares of it.
    """
    from rich import box
    from rich.table import Table

    shares = {wide: 1} if isinstance(wide, str) else wide or {}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, expand=bool(shares))
    for name in columns:
        justify: JustifyMethod = "right" if name in numbers else "left"
        table.add_column(_text(inert(name)), overflow="fold", ratio=shares.get(name), justify=justify)
    for style, lines in ((None, rows), ("dim", dimmed)):
        for row in lines:
            cells = (_text(inert_lines("" if cell is None else str(cell))) for cell in row)
            table.add_row(*cells, style=style)
    output().print(table)


def bar(share: float, width: int) -> str:
    """Draw a share of a width, in eighths of a character where possible. A small share is never empty."""
    if not output().encoding.startswith("utf"):
        return "#" * max(round(share * width), 1 if share else 0)
    eighths = max(round(share * width * 8), 1 if share else 0)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Iterator[Report]:
    """Show a progress bar on standard error during long work; show nothing if that is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, markup=False, highlight=False, emoji=False),
        transient=True,
    )
    with bar:
        task = bar.add_task(inert(title), total=None)

        def report(done: int, total: int) -> None:
            # `update` could not make a known total unknown again.
            bar.tasks[0].total = total or None
            bar.update(task, completed=done)

        yield report


class _WarningNotes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(f"warning: {record.getMessage()}")


@contextmanager
def warnings_noted() -> Iterator[None]:
    """Print warnings of the engine and its libraries as inert notes."""
    logger, handler = logging.getLogger(), _WarningNotes(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def warnings_hidden() -> Iterator[None]:
    """Print no warnings: they may tell a player in a seat more than the character knows."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, _WarningNotes)]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler in handlers:
            handler.setLevel(logging.WARNING)
