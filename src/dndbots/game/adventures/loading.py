"""Modules from files: read, checked as a whole, and told what is wrong with them, all at once."""

import copy
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path as File
from typing import Any, Final

from pydantic import ValidationError

from dndbots.errors import InvalidModule, ModuleProblem, UnknownModule
from dndbots.game.adventures import checking, reading
from dndbots.game.adventures.faults import MISSING, told
from dndbots.game.adventures.possible import unreachable
from dndbots.game.adventures.reading import Path, Read, spelled
from dndbots.game.adventures.values import HEADER, Module
from dndbots.game.adventures.wording import meant

_PARTS: Final = frozenset(Module.model_fields) - set(HEADER)
_UNNAMED: Final = "module"
# How often what is wrong is taken out, to see what is wrong with the rest.
_MOST_TRIES: Final = 8


def load(source: File | str) -> Module:
    """A module from a file, or from its text: whatever has several lines is text."""
    if isinstance(source, str) and "\n" in source:
        return _loaded(source, _UNNAMED)
    return _loaded(_text_of(File(source)), str(source))


def shipped() -> dict[str, str]:
    """The modules on board: what they are called in commands, and their titles."""
    return {name: _title_of(name) for name in _names()}


def named(name: str) -> Module:
    """A module on board by its name, or one of yours by the path of its file."""
    if name in _names():
        return _loaded(_shipped_text(name), f"{name}.yaml")
    if not File(name).exists():
        raise UnknownModule(name, known=_names())
    return load(File(name))


def _folder() -> Traversable:
    return resources.files("dndbots.game.adventures").joinpath("modules")


def _names() -> list[str]:
    folder = _folder()
    return sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )


def _shipped_text(name: str) -> str:
    return _folder().joinpath(f"{name}.yaml").read_text("utf-8")


def _title_of(name: str) -> str:
    """Read and not checked: a list of titles need not wait for the checks, which the tests make."""
    return str(_entries(reading.read(_shipped_text(name)).data or {}, "module").get("title", name))


def _text_of(file: File) -> str:
    if not file.exists():
        raise UnknownModule(str(file), known=_names())
    if not file.is_file():
        raise _unreadable(file, "it is not a file")
    try:
        with file.open("rb") as opened:
            found = opened.read(reading.LARGEST_FILE + 1)
        return found.decode("utf-8-sig")
    except OSError as exc:
        raise _unreadable(file, exc.strerror or "it cannot be read") from exc
    except UnicodeDecodeError as exc:
        line = found.count(b"\n", 0, exc.start) + 1
        raise _unreadable(file, "it is not UTF-8; save it as UTF-8", line=line) from exc


def _unreadable(file: File, reason: str, *, line: int = 1) -> InvalidModule:
    return InvalidModule(str(file), problems=[ModuleProblem(line, "file", reason)])


def _loaded(text: str, file: str) -> Module:
    read = reading.read(text)
    problems = list(read.problems)
    module = None
    if read.data is not None:
        module, found = _built(read)
        problems += found
    if problems or module is None:
        raise InvalidModule(file, problems=sorted(set(problems)))
    return module


def _built(read: Read) -> tuple[Module | None, list[ModuleProblem]]:
    """A module, or what is wrong with it. What is wrong is taken out, and the rest is checked too."""
    problems = list(_misplaced(read))
    data = _flat(copy.deepcopy(read.data))
    for attempt in range(_MOST_TRIES):
        try:
            module = Module.model_validate(data)
        except ValidationError as exc:
            faults = list(told(exc))
            if not attempt:
                problems += [_placed(read, path, reason) for path, reason in faults]
            around = {_around(data, path) for path, _ in faults}
            if () in around:
                return None, problems
            for path in around:
                _take_out(data, path)
        else:
            return module, problems + _checked(module, read, broken=bool(problems))
    return None, problems


def _checked(module: Module, read: Read, *, broken: bool) -> list[ModuleProblem]:
    """What can be reached is only asked of a module with which nothing else is wrong."""
    found = list(checking.problems(module, also=_written(read.data) if broken else None))
    if not (broken or found):
        found = list(unreachable(module))
    return [_placed(read, path, reason) for path, reason in found]


def _misplaced(read: Read) -> Iterator[ModuleProblem]:
    """What stands at the top of a file, or under `module:`, without belonging there."""
    for key in read.data:
        if key in HEADER:
            yield ModuleProblem(read.line_of((key,)), key, "it stands under `module:`, indented")
        elif key not in {*_PARTS, "module"}:
            reason = f"there is no part {key!r} of a module{meant(key, {*_PARTS, 'module'})}"
            yield ModuleProblem(read.line_of((key,)), key, reason)
    header = read.data.get("module")
    for key in header if isinstance(header, dict) else ():
        if key not in HEADER:
            reason = f"there is no field {key!r} here{meant(key, HEADER)}"
            yield ModuleProblem(read.line_of(("module", key)), f"module.{key}", reason)


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """The header and the parts side by side, as a module has them."""
    header = data.get("module")
    header = header if isinstance(header, dict) else {}
    return {key: value for key, value in header.items() if key in HEADER} | {
        key: value for key, value in data.items() if key in _PARTS
    }


def _placed(read: Read, path: Path, reason: str) -> ModuleProblem:
    if path and path[0] in HEADER:
        path = ("module", *path)
    shown = path if reason == MISSING else read.nearest(path) or path
    return ModuleProblem(read.line_of(path), spelled(shown), reason)


def _around(data: Any, path: Path) -> tuple[str, ...]:
    """The least around a fault that can be left out; a list goes whole, so that its numbers stay."""
    found: tuple[str, ...] = ()
    for part in path:
        if not (isinstance(data, dict) and isinstance(part, str) and part in data):
            break
        found, data = (*found, part), data[part]
    return found


def _take_out(data: Any, path: tuple[str, ...]) -> None:
    *outer, last = path
    for part in outer:
        data = data.get(part, {})
    data.pop(last, None)


def _written(data: dict[str, Any]) -> dict[str, set[str]]:
    """The keys of a text by what they are of, whatever they stand for."""
    places = [place for place in _entries(data, "places").values() if isinstance(place, dict)]
    return {
        "place": set(_entries(data, "places")),
        "person": set(_entries(data, "people")),
        "item": set(_entries(data, "items")),
        "quest": set(_entries(data, "quests")),
        "thing": {key for place in places for key in _entries(place, "things")},
        "foes": {key for place in places for key in _entries(place, "foes")},
    }


def _entries(data: Mapping[str, Any], field: str) -> dict[str, Any]:
    entries = data.get(field)
    return entries if isinstance(entries, dict) else {}
