"""Transcript files: JSON lines, a JSON array of such lines, or an episode of Critical Role (CRD3).

The content decides the format. All three yield transcript lines for `Campaign.import_transcript`. JSON lines
are read one at a time; the other two are loaded whole.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final, NoReturn

from pydantic import JsonValue

from dndbots._jsontext import read_json
from dndbots.errors import InvalidTranscript
from dndbots.ids import DM, fold_name
from dndbots.text.labels import write_label

CRD3_DM: Final = "MATT"
_BOM = b"\xef\xbb\xbf"
_ACCEPTED = "JSON lines, a JSON array of lines, or an object with TURNS"

Line = dict[str, JsonValue]


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without line ends; an error names the line that is not UTF-8."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield raw.removeprefix(_BOM if number == 1 else b"").decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as exc:
                _refuse(number, "text", f"is not UTF-8 ({exc.reason}); save the file in UTF-8", exc)


class TranscriptFile:
    """The lines of one file. `dm` names the speaker who is the DM, `session` is for lines that name none.

    Errors count the lines that were read; `place` translates that number into a position in the file.
    """

    def __init__(self, path: Path, *, dm: str | None = None, session: str | None = None) -> None:
        self._path, self._dm = path, dm
        self._session = session or path.stem
        self._unit = "line"
        self._skipped: list[int] = []  # for each blank line, the number of lines read before it
        self.dm_speaks = False
        self.quoted: dict[str, None] = {}  # names that prompts will put in quotes

    def place(self, number: int) -> str:
        """Return where in the file the n-th line that was read stands."""
        if self._unit == "turn":
            return f"TURNS[{number - 1}]"
        return f"{self._unit} {number + bisect_left(self._skipped, number)}"

    def __iter__(self) -> Iterator[Line]:
        lines = text_lines(self._path)
        first = ""
        for first in lines:
            if first.strip():
                break
            self._skipped.append(0)
        else:
            return iter(())
        if not first.lstrip().startswith(("{", "[")):
            _refuse(1, "file", f"is not a transcript: it should be {_ACCEPTED}")
        # An object on one line is parsed alone, so that a bad first line does not load a million others.
        is_whole = first.lstrip().startswith("{") and first.rstrip().endswith("}")
        alone = _parsed(first, 1) if is_whole else None
        if isinstance(alone, dict) and "TURNS" not in alone:
            return self._of_lines(chain([first], lines))
        return self._of_document("\n".join([*("" for _ in self._skipped), first, *lines]))

    def _of_lines(self, lines: Iterable[str]) -> Iterator[Line]:
        number = 0
        for text in lines:
            if text.strip():
                number += 1
                yield self._line(number, _parsed(text, number))
            else:
                self._skipped.append(number)

    def _of_document(self, text: str) -> Iterator[Line]:
        self._skipped.clear()
        value = _parsed(text, 1, is_document=True)
        if isinstance(value, dict) and isinstance(value.get("TURNS"), list):
            self._unit = "turn"
            return self._of_episode(value["TURNS"])
        if isinstance(value, list):
            self._unit = "item"
            return (self._line(number, item) for number, item in enumerate(value, 1))
        if isinstance(value, dict) and "TURNS" not in value:
            return iter([self._line(1, value)])
        return _refuse(1, "file", f"is not a transcript: it should be {_ACCEPTED}")

    def _of_episode(self, turns: list[Any]) -> Iterator[Line]:
        if self._dm is None and any(CRD3_DM in _names(turn) for turn in turns):
            self._dm = CRD3_DM
        for index, turn in enumerate(turns):
            names = list(dict.fromkeys(_names(turn)))
            utterances = turn.get("UTTERANCES") if isinstance(turn, dict) else None
            if not names:
                _refuse(index + 1, "NAMES", "should be a list of names, with at least one")
            if not (isinstance(utterances, list) and all(isinstance(text, str) for text in utterances)):
                _refuse(index + 1, "UTTERANCES", "should be a list of texts")
            speaker: JsonValue = [*names] if len(names) > 1 else names[0]
            text = " ".join(utterances)
            yield self._line(
                index + 1, {"id": f"{self._path.stem}:{index}", "speaker": speaker, "text": text}
            )

    def _line(self, number: int, value: Any) -> Line:
        if not isinstance(value, dict):
            _refuse(number, "line", 'is not an object, such as {"speaker": "Zara", "text": "…"}')
        line: Line = {**value}
        if line.get("session") is None:
            line["session"] = self._session
        if self._dm is not None:
            self._give_dm_role(line, fold_name(self._dm))
        self._note_quoted_names(line)
        return line

    def _note_quoted_names(self, line: Line) -> None:
        """Note the names that prompts will put in quotes. The DM has none: prompts say `DM`."""
        speaker, role = line.get("speaker"), line.get("role")
        for name in speaker if isinstance(speaker, list) else [speaker]:
            is_dm = role == DM or (role is None and fold_name(str(name)) == DM)
            if isinstance(name, str) and not is_dm and write_label(name) != name:
                self.quoted[name] = None

    def _give_dm_role(self, line: Line, dm: str) -> None:
        """Set the role `dm` for the speaker who is the DM; leave all other roles as they are."""
        speaker, role = line.get("speaker"), line.get("role")
        if isinstance(speaker, str) and fold_name(speaker) == dm:
            line["role"] = "dm"
            self.dm_speaks = True
        elif isinstance(speaker, list):
            speakers = dict.fromkeys(map(str, speaker))
            roles = role if isinstance(role, list) else [role or "pc"] * len(speakers)
            parts = zip_longest(speakers, roles[: len(speakers)], fillvalue="pc")
            if any(fold_name(name) == dm for name in speakers):
                line["role"] = ["dm" if fold_name(str(name)) == dm else part for name, part in parts]
                self.dm_speaks = True


def _names(turn: Any) -> list[str]:
    names = turn.get("NAMES") if isinstance(turn, dict) else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else []


def _parsed(text: str, number: int, *, is_document: bool = False) -> Any:
    try:
        return read_json(text)
    except json.JSONDecodeError as exc:
        line = exc.lineno if is_document else number
        _refuse(line, "json", f"{exc.msg} at column {exc.colno}; a file should be {_ACCEPTED}", exc)
    except ValueError as exc:
        _refuse(number, "json", f"cannot be read: {exc}", exc)


def _refuse(line: int, field: str, reason: str, cause: Exception | None = None) -> NoReturn:
    raise InvalidTranscript(line=line, field=field, reason=reason) from cause
