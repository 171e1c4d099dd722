"""YAML as plain data, with the line of each part.

Only what a module needs is read: mappings, lists and words. Every scalar stays text (a person may be called
`no`); the fields interpret it. Aliases and tags are refused, size and depth are limited, and no exception of
yaml leaves this module.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dndbots.errors import ModuleProblem

if TYPE_CHECKING:
    from yaml import Event

LARGEST_FILE: Final = 1_000_000
DEEPEST: Final = 20

Path = tuple[str | int, ...]
_BLANK: Final = frozenset({"", "~", "null"})


@dataclass(frozen=True, slots=True)
class YamlText:
    """The data of a text, the line of each part by its path, and its problems."""

    data: Any
    lines: Mapping[Path, int]
    problems: tuple[ModuleProblem, ...] = ()

    def line_of(self, path: Path) -> int:
        """Return the line of a part, or of the nearest part around it."""
        return self.lines.get(self.nearest(path), 1)

    def nearest(self, path: Path) -> Path:
        """Return the longest beginning of a path that is in the text."""
        while path and path not in self.lines:
            path = path[:-1]
        return path


class _Unreadable(Exception):
    """Stops the reading: the rest of the text would be guesswork."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.problem = ModuleProblem(line, "yaml", reason)


@dataclass(slots=True)
class _Open:
    """A mapping or a list being read. `key` waits for its value."""

    holds: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None
    twice: bool = False


@dataclass(slots=True)
class _Reading:
    """The state of the reading. A stack, not recursion: deep nesting must not exhaust ours."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[ModuleProblem] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)

    def start(self, holds: dict[str, Any] | list[Any], line: int) -> None:
        if self.stack and isinstance(self.stack[-1].holds, dict) and self.stack[-1].key is None:
            raise _Unreadable(line, "a key must be a word, not a list or a mapping")
        if len(self.stack) >= DEEPEST:
            raise _Unreadable(line, f"is nested deeper than {DEEPEST} levels")
        self.stack.append(_Open(holds, self._put(holds, line)))

    def end(self) -> None:
        self.stack.pop()

    def scalar(self, text: str, line: int, *, plain: bool) -> None:
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.holds, dict) and top.key is None:
            self._key(top, top.holds, text, line)
        else:
            self._put(None if plain and text in _BLANK else text, line)

    def _key(self, top: _Open, holds: dict[str, Any], key: str, line: int) -> None:
        top.key, top.twice = key, key in holds
        path = (*top.path, key)
        if top.twice:
            first = self.lines[path]
            self.problems.append(
                ModuleProblem(line, render_path(path), f"is already defined on line {first}")
            )
        else:
            self.lines[path] = line

    def _put(self, value: Any, line: int) -> Path:
        """Store a value and return its path; of two with the same key the first one stays."""
        if not self.stack:
            self.data = value
            return ()
        top = self.stack[-1]
        if isinstance(top.holds, list):
            path: Path = (*top.path, len(top.holds))
            top.holds.append(value)
            self.lines[path] = line
            return path
        key = top.key or ""
        path = (*top.path, f"{key} (again)" if top.twice else key)
        if not top.twice:
            top.holds[key] = value
        top.key = None
        return path


def read_yaml(text: str) -> YamlText:
    """Return the data of a text, as far as it can be read."""
    reading = _Reading()
    try:
        for event in _events(text):
            _take(event, reading)
    except _Unreadable as exc:
        return YamlText(None, reading.lines, (*reading.problems, exc.problem))
    if not isinstance(reading.data, dict):
        nothing = ModuleProblem(1, "yaml", "a module needs `module:` and `places:`")
        return YamlText(None, reading.lines, (*reading.problems, nothing))
    return YamlText(reading.data, reading.lines, tuple(reading.problems))


def render_path(path: Path) -> str:
    """Return a path as people write it, counting from one: `people.maren.knows[2].says`."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "module"


def _take(event: "Event", reading: _Reading) -> None:
    import yaml

    line = event.start_mark.line + 1 if event.start_mark else 1
    match event:
        case yaml.AliasEvent():
            raise _Unreadable(line, f"*{event.anchor}: aliases are not allowed; write the value out")
        case yaml.ScalarEvent() | yaml.MappingStartEvent() | yaml.SequenceStartEvent() if event.tag:
            raise _Unreadable(line, f"{event.tag}: tags are not allowed; remove it")
        case yaml.ScalarEvent():
            reading.scalar(event.value, line, plain=not event.style)
        case yaml.MappingStartEvent():
            reading.start({}, line)
        case yaml.SequenceStartEvent():
            reading.start([], line)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            reading.end()
        case yaml.DocumentStartEvent() if reading.data is not None:
            raise _Unreadable(line, "a second document begins here; a file holds one module")
        case _:
            pass


def _events(text: str) -> "Iterator[Event]":
    """Yield yaml's events, with its errors as ours. libyaml is ten times faster, if installed."""
    import yaml

    try:
        if len(text.encode()) > LARGEST_FILE:
            raise _Unreadable(1, f"the file has more than {LARGEST_FILE:,} bytes")
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except UnicodeEncodeError as exc:
        raise _Unreadable(_line_at(text, exc.start), "contains an invalid character; delete it") from None
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        reason = ", ".join(part for part in (exc.context, exc.problem) if part)
        raise _Unreadable(mark.line + 1 if mark else 1, reason) from None
    except yaml.reader.ReaderError as exc:
        line = _line_at(text, exc.position)
        raise _Unreadable(line, "contains a character that YAML forbids; delete it") from None


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
