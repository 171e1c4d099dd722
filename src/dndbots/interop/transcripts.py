"""Transcript import: each line of a chat log, an actual play or another system's export becomes an event.

All lines are checked before the first is written, so a bad line leaves the campaign unchanged. Lines are
written in batches; an interrupted import continues where it stopped when it is started again.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple

from pydantic import JsonValue, ValidationError

from dndbots._jsontext import as_json, check_json
from dndbots.errors import AmbiguousName, InvalidName, InvalidTranscript
from dndbots.ids import check_name
from dndbots.interop.transcript_events import (
    EVERYBODY,
    NewLine,
    Target,
    TranscriptEvents,
    TranscriptLine,
    digest_of,
)
from dndbots.storage.ports import Store

BATCH: Final = 500
_IN_MEMORY = 1 << 24

Progress = Callable[[int, int], None]


class Imported(NamedTuple):
    """The result of an import: how many lines it added, and how many were in the log already."""

    added: int
    skipped: int


def import_lines(
    target: Target,
    store: Store,
    lines: Iterable[Mapping[str, JsonValue] | TranscriptLine],
    progress: Progress | None = None,
) -> Imported:
    """Import transcript lines into a campaign; `progress` gets the lines written so far and their total."""
    importer = _Importer(target, store)
    with _spool() as spool:
        new, skipped = importer.read(lines, spool)
        spool.seek(0)
        done = 0
        waiting = _unspooled(spool)
        while batch := list(islice(waiting, BATCH)):
            importer.events.write(batch)
            done += len(batch)
            if progress is not None:
                progress(done, new)
    return Imported(added=new, skipped=skipped)


def check_line(number: int, line: Mapping[str, JsonValue]) -> TranscriptLine:
    """Return a line with its fields checked; `number` is its place among the lines, for the error."""
    try:
        return TranscriptLine.model_validate(line)
    except ValidationError as exc:
        first = exc.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "line"
        raise InvalidTranscript(line=number, field=field, reason=first["msg"]) from exc


class _Spool(SpooledTemporaryFile[str]):
    """A spooled file that can be thrown away before it has its parts: Ctrl-C may come at any moment."""

    _file: IO[Any] = StringIO()


@contextmanager
def _spool() -> Iterator[IO[str]]:
    with _Spool(max_size=_IN_MEMORY, mode="w+", encoding="utf-8") as file:
        yield file


def _unspooled(spool: IO[str]) -> Iterator[NewLine]:
    for text in spool:
        number, line, name, digest = json.loads(text)
        yield NewLine(number, TranscriptLine.model_validate(line), name, digest)


class _Importer:
    """A single import: `read` checks all lines and sets the new ones aside, `events` appends them."""

    def __init__(self, target: Target, store: Store) -> None:
        self._target = target
        self.events = TranscriptEvents(target, store)
        self._checked_names: set[tuple[str, str | None]] = set()

    def read(
        self, lines: Iterable[Mapping[str, JsonValue] | TranscriptLine], spool: IO[str]
    ) -> tuple[int, int]:
        seen: dict[str, str] = {}
        counted: dict[str, int] = {}
        found = skipped = 0
        numbered = enumerate(lines, 1)
        while batch := [self._checked(number, raw, counted) for number, raw in islice(numbered, BATCH)]:
            fresh = [line for line in batch if self._is_new(line, seen)]
            known = self.events.known_rows([line.id for line in fresh])
            for line in fresh:
                if line.id in known:
                    self._refuse_other_content(line, digest_of(known[line.id]))
                    skipped += 1
                else:
                    content = line.line.model_dump(mode="json")
                    spool.write(as_json([line.number, content, line.id, line.digest]) + "\n")
                    found += 1
            skipped += len(batch) - len(fresh)
        return found, skipped

    def _checked(
        self, number: int, line: Mapping[str, JsonValue] | TranscriptLine, counted: dict[str, int]
    ) -> NewLine:
        checked = line if isinstance(line, TranscriptLine) else check_line(number, line)
        try:
            for position, name in enumerate(checked.speakers):
                self._meet(name, checked.role_of(position), checked.session)
            for name in checked.witnesses or ():
                self._meet(name, None, None)
            check_name(checked.location or "nowhere")
            _check_storable(number, checked)
        except (InvalidName, AmbiguousName) as exc:
            raise InvalidTranscript(line=number, field="name", reason=str(exc)) from exc
        counted[checked.session] = counted.get(checked.session, 0) + 1
        name = checked.id or f"{checked.session}:{counted[checked.session]}"
        return NewLine(number, checked, name, _digest(checked))

    def _meet(self, name: str, role: str | None, session: str | None) -> None:
        if name == EVERYBODY:
            return
        check_name(name)
        self.events.hear(name, role, session)
        if (name, role) not in self._checked_names:
            self._checked_names.add((name, role))
            self.events.cast.check(name, role, self._target.past()[1])

    def _is_new(self, line: NewLine, seen: dict[str, str]) -> bool:
        digest = seen.setdefault(line.id, line.digest)
        self._refuse_other_content(line, digest)
        return digest is line.digest

    def _refuse_other_content(self, line: NewLine, digest: str) -> None:
        """Raise if a line has the id of another line with other content."""
        if digest != line.digest:
            raise InvalidTranscript(
                line=line.number,
                field="id",
                reason=f"{line.id!r} is the id of another line already; give each line an id of its own",
            )


def _check_storable(number: int, line: TranscriptLine) -> None:
    for field, value in line:
        try:
            check_json({field: value}, where=field)
        except ValueError as exc:
            raise InvalidTranscript(line=number, field=field, reason=str(exc)) from exc


def _digest(line: TranscriptLine) -> str:
    text = json.dumps(line.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
