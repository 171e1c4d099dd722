"""The library of adventures: finds modules by name, loads and checks files, and writes modules as YAML.

A file with mistakes raises one error that lists all of them.
"""

import copy
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path as File
from typing import Any, Final

from pydantic import ValidationError

from dndbots.errors import InvalidModule, ModuleProblem, UnknownModule
from dndbots.game.adventures import module_checks, yaml_lines
from dndbots.game.adventures.endless.chapter import make_chapter
from dndbots.game.adventures.field_errors import MISSING, explain_errors
from dndbots.game.adventures.module import HEADER, Module
from dndbots.game.adventures.module_index import suggest
from dndbots.game.adventures.reachability import find_unreachable
from dndbots.game.adventures.yaml_lines import Path, YamlText, render_path

_PARTS: Final = frozenset(Module.model_fields) - set(HEADER)
_UNNAMED: Final = "module"
# How often faulty parts are removed to check the rest.
_MOST_TRIES: Final = 8
ENDLESS: Final = "endless"
OPEN: Final = "open"  # one place to start from; the DM makes up the rest during play


def load(source: File | str) -> Module:
    """Load a module from a file, or from its text if `source` has several lines."""
    if isinstance(source, str) and "\n" in source:
        return _loaded(source, _UNNAMED)
    return _loaded(_text_of(File(source)), str(source))


def list_shipped() -> dict[str, str]:
    """Return the titles of the included modules by name."""
    return {name: _title_of(name) for name in _names()}


def load_named(name: str) -> Module:
    """Load an included module by its name, or one of yours by the path of its file."""
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
    """Return a title without checking the module: the tests check the included ones."""
    return str(_entries(yaml_lines.read_yaml(_shipped_text(name)).data or {}, "module").get("title", name))


def _text_of(file: File) -> str:
    """Return the text of a file; raises InvalidModule if it cannot be read."""
    if not file.exists():
        raise UnknownModule(str(file), known=_names())
    if not file.is_file():
        raise _unreadable(file, "is not a file")
    try:
        with file.open("rb") as opened:
            found = opened.read(yaml_lines.LARGEST_FILE + 1)
        return found.decode("utf-8-sig")
    except OSError as exc:
        raise _unreadable(file, exc.strerror or "cannot be read") from exc
    except UnicodeDecodeError as exc:
        line = found.count(b"\n", 0, exc.start) + 1
        raise _unreadable(file, "is not UTF-8 text; save the file as UTF-8", line=line) from exc


def _unreadable(file: File, reason: str, *, line: int = 1) -> InvalidModule:
    return InvalidModule(str(file), problems=[ModuleProblem(line, "file", reason)])


def _loaded(text: str, file: str) -> Module:
    """Return the module of a text; raises InvalidModule with every problem."""
    read = yaml_lines.read_yaml(text)
    problems = list(read.problems)
    module = None
    if read.data is not None:
        module, found = _built(read)
        problems += found
    if problems or module is None:
        raise InvalidModule(file, problems=sorted(set(problems)))
    return module


def _built(read: YamlText) -> tuple[Module | None, list[ModuleProblem]]:
    """Return a module and its problems. Faulty parts are removed so that the rest is checked too."""
    problems = list(_misplaced(read))
    data = _flat(copy.deepcopy(read.data))
    for attempt in range(_MOST_TRIES):
        try:
            module = Module.model_validate(data)
        except ValidationError as exc:
            faults = list(explain_errors(exc))
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


def _checked(module: Module, read: YamlText, *, broken: bool) -> list[ModuleProblem]:
    """Return the problems of a module as a whole. Reachability is only checked if nothing else is wrong."""
    found = list(module_checks.find_problems(module, also=_written(read.data) if broken else None))
    if not (broken or found):
        found = list(find_unreachable(module))
    return [_placed(read, path, reason) for path, reason in found]


def _misplaced(read: YamlText) -> Iterator[ModuleProblem]:
    """Yield fields that do not belong at the top of a file or under `module:`."""
    for key in read.data:
        if key in HEADER:
            yield ModuleProblem(read.line_of((key,)), key, "belongs under `module:`, indented")
        elif key not in {*_PARTS, "module"}:
            reason = f"a module has no part {key!r}{suggest(key, {*_PARTS, 'module'})}"
            yield ModuleProblem(read.line_of((key,)), key, reason)
    header = read.data.get("module")
    for key in header if isinstance(header, dict) else ():
        if key not in HEADER:
            reason = f"there is no field {key!r} here{suggest(key, HEADER)}"
            yield ModuleProblem(read.line_of(("module", key)), f"module.{key}", reason)


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """Return the header fields and the parts side by side, as `Module` has them."""
    header = data.get("module")
    header = header if isinstance(header, dict) else {}
    return {key: value for key, value in header.items() if key in HEADER} | {
        key: value for key, value in data.items() if key in _PARTS
    }


def _placed(read: YamlText, path: Path, reason: str) -> ModuleProblem:
    """Return a problem with its line in the file."""
    if path and path[0] in HEADER:
        path = ("module", *path)
    shown = path if reason == MISSING else read.nearest(path) or path
    return ModuleProblem(read.line_of(path), render_path(shown), reason)


def _around(data: Any, path: Path) -> tuple[str, ...]:
    """Return the smallest part around a fault to remove; lists go whole so that numbers stay right."""
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
    """Return all keys in a text by kind, whether or not their entries are valid."""
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
    """Return a mapping inside the data; empty if there is none."""
    entries = data.get(field)
    return entries if isinstance(entries, dict) else {}


def find_chapter(name: str, seed: int, number: int) -> Module | None:
    """Return a chapter of an adventure, counted from 0; None after the last one."""
    if name == ENDLESS:
        return make_chapter(seed, number)
    return first_chapter(name, seed) if number == 0 else None


def first_chapter(name: str, seed: int) -> Module:
    """Return the chapter that an adventure begins with."""
    if name == OPEN:
        return open_module()
    return make_chapter(seed, 0) if name == ENDLESS else load_named(name)


def open_module() -> Module:
    """Return a module with one place and no plot, for a DM who makes up the rest."""
    start = {"name": "the Beginning", "looks": "This is where the story begins.", "safe": True}
    return Module.model_validate(
        {"key": OPEN, "title": "An Open Game", "start": "beginning", "places": {"beginning": start}}
    )


def render_module(module: Module) -> str:
    """Return a module as YAML for people to edit, without defaults. `load` reads it back the same."""
    import yaml

    data = module.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    header = {field: data.pop(field) for field in HEADER if field in data}
    return str(
        yaml.dump(
            _without_labels({"module": header, **data}),
            Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
            sort_keys=False,
            allow_unicode=True,
            width=110,
        )
    )


def _without_labels(data: Any) -> Any:
    """Remove keys and labels that repeat the entry's own key."""
    if isinstance(data, list):
        return [_without_labels(entry) for entry in data]
    if not isinstance(data, dict):
        return data
    return {
        key: _without_labels(
            {field: held for field, held in entry.items() if field not in ("key", "label") or held != key}
            if isinstance(entry, dict)
            else entry
        )
        for key, entry in data.items()
    }
