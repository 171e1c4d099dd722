"""Transcript import: each line of a chat log, an actual play or another system's export becomes an event.

All lines are checked before the first is written, so a bad line leaves the campaign unchanged. Lines are
written in batches; an interrupted import continues where it stopped when it is started again.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any, Final, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dndbots._jsontext import as_json, check_json
from dndbots.canon.claims import SPEAKER, session_subject
from dndbots.errors import (
    AmbiguousName,
    DuplicateEvent,
    InvalidName,
    InvalidTranscript,
    SequenceConflict,
)
from dndbots.events import LINE, EventId, EventType, GameEvent, Label
from dndbots.ids import DM, check_name
from dndbots.interop.transcript_cast import TranscriptCast
from dndbots.storage.ports import EventRow, Lineage, Store

BATCH: Final = 500
EVERYBODY: Final = "ALL"
_IN_MEMORY = 1 << 24

Progress = Callable[[int, int], None]


class TranscriptLine(BaseModel):
    """A transcript line. Only `speaker` and `text` are required; unknown fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True, allow_inf_nan=False)

    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    id: EventId | None = None
    session: Label = "transcript"
    speaker: Label | Annotated[list[Label], Field(min_length=1)]
    role: Label | list[Label] | None = None
    text: str = Field(max_length=102_400)
    witnesses: list[Label] | None = None
    location: Label | None = None
    time: Label | None = None

    @property
    def speakers(self) -> list[str]:
        return [self.speaker] if isinstance(self.speaker, str) else list(dict.fromkeys(self.speaker))

    def role_of(self, position: int) -> str | None:
        """Return the role of the speaker at a position.

        A single role counts for all speakers, except `dm`: only the first speaker is the DM.
        """
        if isinstance(self.role, list):
            return self.role[position].casefold() if position < len(self.role) else None
        if self.role is None or (position and self.role.casefold() == DM):
            return None
        return self.role.casefold()


class Imported(NamedTuple):
    """The result of an import: how many lines it added, and how many were in the log already."""

    added: int
    skipped: int


class Target(Protocol):
    """The part of a campaign that an import needs."""

    def replay(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]: ...
    def past(self) -> tuple[int, Lineage]: ...


class _NewLine(NamedTuple):
    """A checked line that is not in the log yet."""

    number: int
    line: TranscriptLine
    id: str
    digest: str


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
            importer.write(batch)
            done += len(batch)
            if progress is not None:
                progress(done, new)
    return Imported(added=new, skipped=skipped)


@contextmanager
def _spool() -> Iterator[IO[str]]:
    with SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="utf-8") as file:
        yield file


def _unspooled(spool: IO[str]) -> Iterator[_NewLine]:
    for text in spool:
        number, line, name, digest = json.loads(text)
        yield _NewLine(number, TranscriptLine.model_validate(line), name, digest)


class _Importer:
    """A single import: `read` checks all lines and sets the new ones aside, `write` appends them."""

    def __init__(self, target: Target, store: Store) -> None:
        self._target, self._store = target, store
        self._cast = TranscriptCast(store)
        self._heard_here: dict[str, dict[tuple[str, str | None], None]] = {}  # by session: name and role
        self._checked_names: set[tuple[str, str | None]] = set()
        self._forget()

    def _forget(self) -> None:
        """Drop all lookups: they hold only until another writer appends."""
        self._cast.forget()
        self._sessions: dict[str, list[str]] = {}
        self._announced: set[tuple[str, str]] = set()
        self._before: dict[str, set[str]] = {}

    # Reading: check every line, and set the new ones aside.

    def read(
        self, lines: Iterable[Mapping[str, JsonValue] | TranscriptLine], spool: IO[str]
    ) -> tuple[int, int]:
        seen: dict[str, str] = {}
        counted: dict[str, int] = {}
        found = skipped = 0
        numbered = enumerate(lines, 1)
        while batch := [self._checked(number, raw, counted) for number, raw in islice(numbered, BATCH)]:
            fresh = [line for line in batch if self._is_new(line, seen)]
            known = self._known([line.id for line in fresh])
            for line in fresh:
                if line.id in known:
                    self._refuse_other_content(line, _digest_of(known[line.id]))
                    skipped += 1
                else:
                    content = line.line.model_dump(mode="json")
                    spool.write(as_json([line.number, content, line.id, line.digest]) + "\n")
                    found += 1
            skipped += len(batch) - len(fresh)
        return found, skipped

    def _checked(
        self, number: int, line: Mapping[str, JsonValue] | TranscriptLine, counted: dict[str, int]
    ) -> _NewLine:
        try:
            checked = line if isinstance(line, TranscriptLine) else TranscriptLine.model_validate(line)
            for position, name in enumerate(checked.speakers):
                self._meet(name, checked.role_of(position), checked.session)
            for name in checked.witnesses or ():
                self._meet(name, None, None)
            check_name(checked.location or "nowhere")
            _check_storable(number, checked)
        except ValidationError as exc:
            first = exc.errors()[0]
            field = str(first["loc"][0]) if first["loc"] else "line"
            raise InvalidTranscript(line=number, field=field, reason=first["msg"]) from exc
        except (InvalidName, AmbiguousName) as exc:
            raise InvalidTranscript(line=number, field="name", reason=str(exc)) from exc
        counted[checked.session] = counted.get(checked.session, 0) + 1
        name = checked.id or f"{checked.session}:{counted[checked.session]}"
        return _NewLine(number, checked, name, _digest(checked))

    def _meet(self, name: str, role: str | None, session: str | None) -> None:
        if name == EVERYBODY:
            return
        check_name(name)
        self._cast.hear(name, role)
        if session is not None:
            self._heard_here.setdefault(session, {})[name, role] = None
        if (name, role) not in self._checked_names:
            self._checked_names.add((name, role))
            self._cast.check(name, role, self._target.past()[1])

    def _is_new(self, line: _NewLine, seen: dict[str, str]) -> bool:
        digest = seen.setdefault(line.id, line.digest)
        self._refuse_other_content(line, digest)
        return digest is line.digest

    def _refuse_other_content(self, line: _NewLine, digest: str) -> None:
        """Raise if a line has the id of another line with other content."""
        if digest != line.digest:
            raise InvalidTranscript(
                line=line.number,
                field="id",
                reason=f"{line.id!r} is the id of another line already; give each line an id of its own",
            )

    def _known(self, names: list[str]) -> dict[str, EventRow]:
        lineage = self._target.past()[1]
        places = self._store.seqs_of(lineage, names)
        rows = self._store.events_at(lineage, list(places.values()))
        return {row.event_id: row for row in rows.values()}

    # Writing: turn names into entities and lines into events.

    def write(self, batch: list[_NewLine]) -> None:
        """Append a batch. If another writer comes first, look all names up again at the new head."""
        waiting = batch
        while waiting:
            head, lineage = self._target.past()
            try:
                self._target.replay([self._event(line, lineage) for line in waiting], expected=head)
            except (SequenceConflict, DuplicateEvent):
                self._forget()
                known = self._known([line.id for line in waiting])
                waiting = [line for line in waiting if line.id not in known]
            else:
                return

    def _event(self, new: _NewLine, lineage: Lineage) -> GameEvent:
        line = new.line
        speakers = self._speakers(line, lineage) or [DM]
        witnesses = sorted({*self._witnesses(line, lineage)} - {DM})
        metadata: dict[str, JsonValue] = {LINE: new.digest, "witnesses": [*witnesses]}
        if len(speakers) > 1:
            metadata["participants"] = metadata["together"] = [*speakers]
        shown = [*speakers]
        if line.location is not None:
            metadata["location"] = place = self._cast.place(line.location, lineage)
            shown.append(place)
        metadata |= _kept(line)
        metadata |= self._first_words(line.session, speakers, lineage)
        perceivers = frozenset((*speakers, *witnesses, DM))
        # A silent listener is introduced only to the DM and to themselves.
        learners = {who: frozenset((who, DM)) for who in witnesses} | dict.fromkeys(shown, perceivers)
        introduced = self._cast.introductions(learners, lineage)
        if introduced:
            metadata["names"] = {uid: name for uid, (name, _) in introduced.items()}
        # Only the viewers who do not know a name yet learn it from this line.
        partly: dict[str, JsonValue] = {
            uid: [*sorted(viewers)] for uid, (_, viewers) in introduced.items() if viewers != perceivers
        }
        if partly:
            metadata["introduced_to"] = partly
        return GameEvent(
            event_id=new.id,
            event_type=EventType.DM_NARRATION if speakers[0] == DM else EventType.DIALOGUE,
            source=speakers[0],
            content=line.text,
            session_id=line.session,
            metadata=metadata,
            timestamp=_timestamp(line.time),
        )

    def _speakers(self, line: TranscriptLine, lineage: Lineage) -> list[str]:
        found: dict[str, None] = {}
        for position, name in enumerate(line.speakers):
            if name == EVERYBODY:
                found.update(dict.fromkeys(self._session(line.session, lineage)))
            else:
                found[self._cast.person(name, line.role_of(position), lineage)] = None
        return list(found)

    def _witnesses(self, line: TranscriptLine, lineage: Lineage) -> Iterator[str]:
        for name in [EVERYBODY] if line.witnesses is None else line.witnesses:
            if name == EVERYBODY:
                yield from self._session(line.session, lineage)
            else:
                yield self._cast.person(name, None, lineage)

    def _session(self, session: str, lineage: Lineage) -> list[str]:
        """Return everybody who speaks in a session, in this import or in the log before it."""
        if session not in self._sessions:
            here = {self._cast.person(*speaker, lineage) for speaker in self._heard_here.get(session, ())}
            self._sessions[session] = sorted(here | self._heard_before(session, lineage))
        return self._sessions[session]

    def _heard_before(self, session: str, lineage: Lineage) -> set[str]:
        if session not in self._before:
            rows = self._store.latest(lineage, subjects=[session_subject(session)], viewer=DM)
            self._before[session] = {row.slot.removeprefix(f"{SPEAKER} ") for row in rows}
        return self._before[session]

    def _first_words(self, session: str, speakers: list[str], lineage: Lineage) -> dict[str, JsonValue]:
        """Return metadata that names the speakers who speak in this session for the first time."""
        new = [who for who in speakers if (session, who) not in self._announced]
        if new:
            self._announced.update((session, who) for who in new)
            new = [who for who in new if who not in self._heard_before(session, lineage)]
        return {"speakers": [*new]} if new else {}


def _check_storable(number: int, line: TranscriptLine) -> None:
    for field, value in line:
        try:
            check_json({field: value}, where=field)
        except ValueError as exc:
            raise InvalidTranscript(line=number, field=field, reason=str(exc)) from exc


def _digest(line: TranscriptLine) -> str:
    text = json.dumps(line.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _digest_of(row: EventRow) -> str:
    return str(json.loads(row.metadata).get(LINE))


def _kept(line: TranscriptLine) -> dict[str, Any]:
    """Return the fields that are not understood, and a time that is not a date."""
    kept = {f"transcript_{key}": value for key, value in (line.model_extra or {}).items()}
    if line.time is not None and _timestamp(line.time) is None:
        kept["transcript_time"] = line.time
    return kept


def _timestamp(time: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(time) if time else None
    except ValueError:
        return None
