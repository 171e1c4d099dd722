"""Transcripts: chat logs, actual plays and other systems' exports become events, a line each.

Everything is read and checked before anything is written, so a bad line leaves the campaign as it was.
What is written goes in batches: an import that was interrupted goes on where it stopped.
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

from dndbots._json import as_json
from dndbots.canon.claims import SPEAKER, session_subject
from dndbots.errors import DuplicateEvent, InvalidName, InvalidTranscript, SequenceConflict
from dndbots.events import EventId, EventType, GameEvent, Label, check_json
from dndbots.ids import DM, check_name, folded, is_uid, mint
from dndbots.storage.ports import EventRow, Lineage, Store

BATCH: Final = 500
EVERYBODY: Final = "ALL"
_IN_MEMORY = 1 << 24
_CATEGORY = {"pc": "PC", "player": "PC", "npc": "NPC", "monster": "MON", "mon": "MON"}

Progress = Callable[[int, int], None]


class TranscriptLine(BaseModel):
    """A line as it comes in. Only `speaker` and `text` are required; what is not known here is kept."""

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

    def role_of(self, place: int) -> str:
        if isinstance(self.role, list):
            return self.role[place].casefold() if place < len(self.role) else "pc"
        return (self.role or "pc").casefold()


class Imported(NamedTuple):
    """How many lines were added, and how many were there already."""

    added: int
    skipped: int


class Target(Protocol):
    """What an import needs of a campaign."""

    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]: ...
    def past(self) -> tuple[int, Lineage]: ...


class _Waiting(NamedTuple):
    """A line that is not in the log yet."""

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


def _unspooled(spool: IO[str]) -> Iterator[_Waiting]:
    for text in spool:
        number, line, name, digest = json.loads(text)
        yield _Waiting(number, TranscriptLine.model_construct(**line), name, digest)


class _Importer:
    def __init__(self, target: Target, store: Store) -> None:
        self._target, self._store = target, store
        self._cast: dict[str, dict[str, str]] = {}  # by session: folded name, and the name as it is said
        self._roles: dict[str, str] = {}
        self._forget()

    def _forget(self) -> None:
        """What was looked up holds only as long as nobody else writes."""
        self._people: dict[str, str] = {}  # folded name, uid
        self._names: dict[str, str] = {}  # uid, name
        self._sessions: dict[str, list[str]] = {}
        self._announced: set[tuple[str, str]] = set()
        self._told: dict[str, list[frozenset[str]]] = {}

    # Reading: every line is checked, and those that are new are laid aside.

    def read(
        self, lines: Iterable[Mapping[str, JsonValue] | TranscriptLine], spool: IO[str]
    ) -> tuple[int, int]:
        seen: dict[str, str] = {}
        counted: dict[str, int] = {}
        found = skipped = 0
        numbered = enumerate(lines, 1)
        while batch := [self._checked(number, line, counted) for number, line in islice(numbered, BATCH)]:
            new = [one for one in batch if self._is_new(one, seen)]
            known = self._known([one.id for one in new])
            for one in new:
                if one.id in known:
                    self._same_or_refused(one, _digest_of(known[one.id]))
                    skipped += 1
                else:
                    line = one.line.model_dump(mode="json")
                    spool.write(as_json([one.number, line, one.id, one.digest]) + "\n")
                    found += 1
            skipped += len(batch) - len(new)
        return found, skipped

    def _checked(
        self, number: int, line: Mapping[str, JsonValue] | TranscriptLine, counted: dict[str, int]
    ) -> _Waiting:
        try:
            checked = line if isinstance(line, TranscriptLine) else TranscriptLine.model_validate(line)
            for place, name in enumerate(checked.speakers):
                self._meet(checked, place, name)
            for name in [*(checked.witnesses or ()), *([checked.location] if checked.location else ())]:
                check_name(name)
            _check_storable(number, checked)
        except ValidationError as exc:
            first = exc.errors()[0]
            field = str(first["loc"][0]) if first["loc"] else "line"
            raise InvalidTranscript(line=number, field=field, reason=first["msg"]) from exc
        except InvalidName as exc:
            raise InvalidTranscript(line=number, field="name", reason=str(exc)) from exc
        counted[checked.session] = counted.get(checked.session, 0) + 1
        name = checked.id or f"{checked.session}:{counted[checked.session]}"
        return _Waiting(number, checked, name, _digest(checked))

    def _meet(self, line: TranscriptLine, place: int, name: str) -> None:
        if name != EVERYBODY:
            self._cast.setdefault(line.session, {}).setdefault(folded(check_name(name)), name)
            self._roles.setdefault(folded(name), line.role_of(place))

    def _is_new(self, one: _Waiting, seen: dict[str, str]) -> bool:
        digest = seen.setdefault(one.id, one.digest)
        self._same_or_refused(one, digest)
        return digest is one.digest

    def _same_or_refused(self, one: _Waiting, digest: str) -> None:
        if digest != one.digest:
            raise InvalidTranscript(
                line=one.number,
                field="id",
                reason=f"{one.id!r} is already the id of something else; give each line an id of its own",
            )

    def _known(self, names: list[str]) -> dict[str, EventRow]:
        lineage = self._target.past()[1]
        places = self._store.places_of(lineage, names)
        rows = self._store.events_at(lineage, list(places.values()))
        return {row.event_id: row for row in rows.values()}

    # Writing: names become entities, lines become events.

    def write(self, batch: list[_Waiting]) -> None:
        """Names are looked up at the head that the batch is appended to; another writer means once more."""
        waiting = batch
        while waiting:
            head, lineage = self._target.past()
            try:
                self._target.record_many([self._event(one, lineage) for one in waiting], expected=head)
            except (SequenceConflict, DuplicateEvent):
                self._forget()
                known = self._known([one.id for one in waiting])
                waiting = [one for one in waiting if one.id not in known]
            else:
                return

    def _event(self, one: _Waiting, lineage: Lineage) -> GameEvent:
        line = one.line
        speakers = self._resolved(line.speakers, line.session, lineage) or [DM]
        heard_by = [EVERYBODY] if line.witnesses is None else line.witnesses
        witnesses = sorted({*self._resolved(heard_by, line.session, lineage)} - {DM})
        metadata: dict[str, JsonValue] = {"line": one.digest, "witnesses": [*witnesses]}
        if len(speakers) > 1:
            metadata["participants"] = metadata["together"] = [*speakers]
        if line.location is not None:
            metadata["location"] = self._uid(line.location, "LOC", lineage)
        metadata |= _kept(line)
        metadata |= self._first_words(line.session, speakers, lineage)
        metadata |= self._introductions(metadata, frozenset((*speakers, *witnesses, DM)), lineage)
        return GameEvent(
            event_id=one.id,
            event_type=EventType.DM_NARRATION if speakers[0] == DM else EventType.DIALOGUE,
            source=speakers[0],
            content=line.text,
            session_id=line.session,
            metadata=metadata,
            timestamp=_timestamp(line.time),
        )

    def _resolved(self, names: list[str], session: str, lineage: Lineage) -> list[str]:
        found: dict[str, None] = {}
        for name in names:
            if name == EVERYBODY:
                found.update(dict.fromkeys(self._session(session, lineage)))
            else:
                found[self._person(name, lineage)] = None
        return list(found)

    def _session(self, session: str, lineage: Lineage) -> list[str]:
        """Everybody who speaks in a session, in this import or before it."""
        if session not in self._sessions:
            here = {self._person(name, lineage) for name in self._cast.get(session, {}).values()}
            self._sessions[session] = sorted(here | self._heard(session, lineage))
        return self._sessions[session]

    def _heard(self, session: str, lineage: Lineage) -> set[str]:
        rows = self._store.latest(lineage, subjects=[session_subject(session)], viewer=DM)
        return {row.slot.removeprefix(f"{SPEAKER} ") for row in rows}

    def _first_words(self, session: str, speakers: list[str], lineage: Lineage) -> dict[str, JsonValue]:
        """The first line of somebody in a session says that he speaks there."""
        new = [who for who in speakers if (session, who) not in self._announced]
        if new:
            self._announced.update((session, who) for who in new)
            new = [who for who in new if who not in self._heard(session, lineage)]
        return {"speakers": [*new]} if new else {}

    def _introductions(
        self, metadata: dict[str, JsonValue], people: frozenset[str], lineage: Lineage
    ) -> dict[str, JsonValue]:
        """Says what those in the line are called, unless all who perceive it have been told before."""
        shown = {*people, str(metadata["location"])} if "location" in metadata else people
        names: dict[str, JsonValue] = {}
        for uid in sorted(shown & self._names.keys()):
            told = self._told.setdefault(uid, [])
            if not any(people <= group for group in told):
                told += self._named_to(uid, lineage)
                if not any(people <= group for group in told):
                    names[uid] = self._names[uid]
                    told.append(people)
        return {"names": names} if names else {}

    def _named_to(self, uid: str, lineage: Lineage) -> list[frozenset[str]]:
        """Those who were told what somebody is called, by the event that told them."""
        rows = self._store.names_of(lineage, [uid], None)
        groups = self._store.members({row.audience for row in rows})
        told: dict[int, frozenset[str]] = {}
        for row in rows:
            told[row.seq] = told.get(row.seq, frozenset()) | groups[row.audience]
        return list(told.values())

    def _person(self, name: str, lineage: Lineage) -> str:
        role = self._roles.get(folded(name), "pc")
        return self._uid(name, DM if role == DM else _CATEGORY.get(role, "NPC"), lineage)

    def _uid(self, name: str, category: str, lineage: Lineage) -> str:
        """Whom a name belongs to; somebody new, if nobody."""
        if is_uid(name) or name == DM:
            return name
        key = folded(name)
        if key not in self._people:
            found = self._store.named(lineage, key, None)
            alike = sorted(uid for uid in found if category == DM or uid.startswith(f"{category.lower()}_"))
            uid = (alike or sorted(found) or [self._new(name, category)])[0]
            self._people[key], self._names[uid] = uid, self._names.get(uid, name)
        return self._people[key]

    def _new(self, name: str, category: str) -> str:
        if category == DM:
            return DM
        stem = mint(category, name).rpartition("_")[0]
        return mint(category, name, taken={*self._store.uids_like(stem), *self._people.values()})


def _check_storable(number: int, line: TranscriptLine) -> None:
    for field, value in line:
        try:
            check_json(value, where=field)
        except ValueError as exc:
            raise InvalidTranscript(line=number, field=field, reason=str(exc)) from exc


def _digest(line: TranscriptLine) -> str:
    text = json.dumps(line.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _digest_of(row: EventRow) -> str:
    return str(json.loads(row.metadata).get("line"))


def _kept(line: TranscriptLine) -> dict[str, Any]:
    """What a line says beyond what is understood, and a time that is no date."""
    kept = {f"transcript_{key}": value for key, value in (line.model_extra or {}).items()}
    if line.time is not None and _timestamp(line.time) is None:
        kept["transcript_time"] = line.time
    return kept


def _timestamp(time: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(time) if time else None
    except ValueError:
        return None
