"""A game on a terminal: headings, narration, speech, dice and a status line.

The margin shows what a line is: headings start at the edge, narration after two columns, speech after four,
dice after eight. Every text stays behind its margin, so no text can pass for another's or for a heading.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from dndbots.cli import console
from dndbots.events import EventType, GameEvent
from dndbots.game.state.told_lines import Manner, ToldLine, told_line
from dndbots.ids import DM
from dndbots.text.labels import write_name

if TYPE_CHECKING:
    from dndbots.game.state.table import Table
    from dndbots.memory.context import Context

_NARRATION: Final = 2
_SPEECH: Final = 4
_DICE: Final = 8
_HANGING: Final = 2
_WIDEST: Final = 100
_LIFE: Final = 5
_METER: Final = 8
_SEATS: Final = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_magenta",
)
_PEOPLE: Final = "bright_yellow"
_FOES: Final = "red"
_MARKS: Final = {EventType.DEATH: ("[death] ", "bold red")}
_LEVEL: Final = ("[level] ", "bold green")


class Stage:
    """Prints events as they are recorded: the current scene at once, other scenes at the end of the round.

    `table` returns the table of the viewer: the DM's or a character's. A character's events print at once,
    wherever it is.
    """

    def __init__(self, table: "Callable[[], Table]", *, quiet: bool = False) -> None:
        self._look, self._quiet = table, quiet
        self._output = console.output()
        self._round: int | None = None
        self._scene: str | None = None
        self._meanwhile: dict[str, list[Text]] = {}

    def tell(self, events: Iterable[GameEvent]) -> None:
        """Print the events of a step. The table must have heard them already."""
        for event in events:
            line = told_line(event, self._table)
            if line is None or (self._quiet and line.is_unseen):
                continue
            if event.turn != self._round:
                self._begin_round(event.turn)
            self._put(line.place, [*self._lines(line)])

    def end_round(self, prompts: "Mapping[str, Context]") -> None:
        """Print the rest of the round and the state of the party."""
        self.flush()
        if not self._quiet:
            for line in status(self._table, prompts, self._output, self._width):
                self._output.print(line, soft_wrap=True)

    def restart(self) -> None:
        """Start with a new heading, after a round was taken back."""
        self._round, self._scene, self._meanwhile = None, None, {}

    def flush(self) -> None:
        """Print what happened elsewhere meanwhile."""
        for lines in self._meanwhile.values():
            self._print(lines)
        self._meanwhile = {}

    @property
    def _table(self) -> "Table":
        return self._look()

    @property
    def _viewer(self) -> str:
        return self._table.viewer

    @property
    def _width(self) -> int:
        return min(self._output.width, _WIDEST)

    def _begin_round(self, number: int | None) -> None:
        self.flush()
        self._round, self._scene = number, None

    def _put(self, place: str | None, lines: list[Text]) -> None:
        if place is None or place == self._scene:
            self._print(lines)
        elif self._scene is None or self._viewer != DM:
            self._scene = place
            self._print([*self._head(place), *lines])
        else:
            # Make the heading now: by the end of the round they may have left.
            self._meanwhile.setdefault(place, [*self._head(place)]).extend(lines)

    def _print(self, lines: Iterable[Text]) -> None:
        for line in lines:
            self._output.print(line, soft_wrap=True)

    def _head(self, place: str) -> Iterator[Text]:
        here = ", ".join(map(self._name, self._table.together(place)))
        began = f"Round {self._round}" if self._round else ""
        parts = (began, self._name(place), here)
        yield Text("")
        yield Text(_dot(self._output).join(filter(None, parts)), style="bold underline")

    def _name(self, uid: str) -> str:
        return "DM" if uid == DM else console.inert(write_name(self._table.name(uid)))

    def _lines(self, line: ToldLine) -> Iterator[Text]:
        """Yield the lines of an event: speech or narration, then its dice."""
        style = self._style_of(line)
        if line.manner is Manner.NARRATION:
            yield from self._narration(line, style)
        else:
            yield from self._speech(line, style)
        for rolled in () if self._quiet else line.rolls:
            yield from _wrapped(self._output, Text(console.inert(rolled), style="dim"), _DICE, self._width)

    def _speech(self, line: ToldLine, style: str) -> Iterator[Text]:
        name = self._name(line.event.source)
        if line.manner is Manner.WHISPER:
            style = f"dim {style}"
            name = f"{name} (whispers to {', '.join(map(self._name, line.hearers)) or 'nobody'})"
        first, *more = _paragraphs(line.event.content) or [""]
        head = Text.assemble((f"{name}: ", f"bold {style}"), (first, style))
        for text in (head, *(Text(one, style=style) for one in more)):
            margin = _SPEECH if text is head else _SPEECH + _HANGING
            yield from _wrapped(self._output, text, margin, self._width, _SPEECH + _HANGING)

    def _narration(self, line: ToldLine, style: str) -> Iterator[Text]:
        mark = _MARKS.get(line.event.event_type) or (_LEVEL if line.is_level_up else None)
        for number, paragraph in enumerate(_paragraphs(line.event.content)):
            text = Text(paragraph, style=style)
            if mark is not None and number == 0:
                text = Text.assemble(mark, text)
            yield from _wrapped(self._output, text, _NARRATION, self._width)

    def _style_of(self, line: ToldLine) -> str:
        event = line.event
        if event.event_type is EventType.SESSION_START:
            return "bold"
        if line.is_unseen:
            return "dim"
        seated = self._table.seats.get(event.source)
        if seated is not None:
            return _SEATS[(seated.seat - 1) % len(_SEATS)]
        if event.source.startswith("mon_"):
            return _FOES
        return _PEOPLE if event.source.startswith("npc_") else ""


def status(
    table: "Table", prompts: "Mapping[str, Context]", output: Console, width: int = _WIDEST
) -> Iterator[Text]:
    """Yield the state of the party after a round, and how full each agent's prompt is.

    A character sees the names of those with it, and its own hit points.
    """
    parts = [f"turn {table.round}"]
    own = table.viewer != DM
    for place, here in table.scenes().items():
        if own and table.viewer not in here:
            continue
        first, *others = (_life(table, uid) for uid in here)
        parts += [f"{console.inert(table.name(place))}: {first}", *others]
    yield Text("")
    yield from _row(output, parts, width)
    agents = (table.viewer,) if own else (DM, *table.living())
    meters = [_meter(table, who, prompts[who]) for who in agents if who in prompts]
    if meters:
        yield from _row(output, ["tokens", *meters], width)


def _row(output: Console, parts: Sequence[str], width: int) -> Iterator[Text]:
    """Yield parts side by side, dim. A line breaks between two parts; the next line is indented."""
    line = parts[0]
    for part in parts[1:]:
        longer = f"{line}{_dot(output)}{part}"
        if Text(longer).cell_len > width:
            yield Text(line, style="dim")
            line = f"{' ' * _HANGING}{part}"
        else:
            line = longer
    yield Text(line, style="dim")


def _life(table: "Table", uid: str) -> str:
    hp, most = table.fact(uid, "hp"), table.fact(uid, "hp_max")
    text = console.inert(table.name(uid))
    # A character sees wounds of others, but cannot add them up to a number.
    is_known = table.viewer in (DM, uid) and isinstance(hp, int) and isinstance(most, int) and most > 0
    if is_known:
        text = " ".join((text, console.bar(min(max(hp, 0) / most, 1), _LIFE), f"{hp}/{most}"))
    ill = [console.inert(one) for one in table.conditions(uid)]
    return f"{text} ({', '.join(ill)})" if ill else text


def _meter(table: "Table", who: str, context: "Context") -> str:
    name = "DM" if who == DM else console.inert(write_name(table.name(who)))
    share = context.prompt_tokens / context.budget
    return f"{name} {console.bar(share, _METER)} {context.prompt_tokens}/{context.budget}"


def _paragraphs(text: str) -> list[str]:
    """Return the lines of a text without surrounding blanks, which would move them on the page."""
    lines = (line.strip() for line in console.inert_lines(text).split("\n"))
    return [line for line in lines if line]


def _wrapped(
    output: Console, text: Text, margin: int, width: int, hanging: int | None = None
) -> Iterator[Text]:
    """Yield the lines of a text behind a margin, and behind `hanging` from the second line on."""
    further = margin if hanging is None else hanging
    for number, line in enumerate(text.wrap(output, max(width - max(margin, further), 20))):
        line.rstrip()
        line.pad_left(margin if number == 0 else further)
        yield line


def _dot(output: Console) -> str:
    return " · " if output.encoding.startswith("utf") else " - "
