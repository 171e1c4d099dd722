"""Transcript events: turns checked lines of play into events with people and places, and appends them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dndbots.canon.claims import SPEAKER, session_subject
from dndbots.errors import DuplicateEvent, SequenceConflict
from dndbots.events import LINE, LONGEST_CONTENT, EventId, EventType, GameEvent, Label
from dndbots.ids import DM
from dndbots.interop.transcript_cast import TranscriptCast
from dndbots.storage.ports import EventRow, Lineage, Store

EVERYBODY: Final = "ALL"


class TranscriptLine(BaseModel):
    """A transcript line. Only `speaker` and `text` are required; unknown fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True, allow_inf_nan=False)

    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    id: EventId | None = None
    session: Label = "transcript"
    speaker: Label | Annotated[list[Label], Field(min_length=1)]
    role: Label | list[Label] | None = None
    text: str = Field(max_length=LONGEST_CONTENT)
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


class Target(Protocol):
    """The part of a log that an import needs."""

    def replay(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]: ...
    def past(self) -> tuple[int, Lineage]: ...


class NewLine(NamedTuple):
    """A checked line that is not in the log yet. `aside` is metadata that only the DM sees."""

    number: int
    line: TranscriptLine
    id: str
    digest: str
    aside: Mapping[str, JsonValue] = {}


class TranscriptEvents:
    """Appends checked lines to a log: names become entities, and lines become events.

    Tell it of every speaker with `hear` before the first line is written: all of them perceive the lines of
    their session that name no witnesses.
    """

    def __init__(self, target: Target, store: Store) -> None:
        self._target, self._store = target, store
        self.cast = TranscriptCast(store)
        self._heard_here: dict[str, dict[tuple[str, str | None], None]] = {}  # by session: name and role
        self._forget()

    def _forget(self) -> None:
        """Drop all lookups: they hold only until another writer appends."""
        self.cast.forget()
        self._sessions: dict[str, list[str]] = {}
        self._announced: set[tuple[str, str]] = set()
        self._before: dict[str, set[str]] = {}

    def hear(self, name: str, role: str | None, session: str | None) -> None:
        """Note a speaker of a session, or with None somebody who only listens. `ALL` is nobody by name."""
        if name == EVERYBODY:
            return
        self.cast.hear(name, role)
        if session is not None:
            self._heard_here.setdefault(session, {})[name, role] = None

    def known_rows(self, names: list[str]) -> dict[str, EventRow]:
        """Return the stored rows of those event ids that the log has."""
        lineage = self._target.past()[1]
        places = self._store.seqs_of(lineage, names)
        rows = self._store.events_at(lineage, list(places.values()))
        return {row.event_id: row for row in rows.values()}

    def write(self, batch: list[NewLine]) -> list[GameEvent]:
        """Append a batch. If another writer comes first, look all names up again at the new head."""
        waiting = batch
        while waiting:
            head, lineage = self._target.past()
            try:
                return self._target.replay([self._event(line, lineage) for line in waiting], expected=head)
            except (SequenceConflict, DuplicateEvent):
                self._forget()
                known = self.known_rows([line.id for line in waiting])
                waiting = [line for line in waiting if line.id not in known]
        return []

    def _event(self, new: NewLine, lineage: Lineage) -> GameEvent:
        line = new.line
        speakers = self._speakers(line, lineage) or [DM]
        witnesses = sorted({*self._witnesses(line, lineage)} - {DM})
        metadata: dict[str, JsonValue] = {LINE: new.digest, **new.aside, "witnesses": [*witnesses]}
        if len(speakers) > 1:
            metadata["participants"] = metadata["together"] = [*speakers]
        shown = [*speakers]
        if line.location is not None:
            metadata["location"] = place = self.cast.place(line.location, lineage)
            shown.append(place)
        metadata |= _kept(line)
        metadata |= self._first_words(line.session, speakers, lineage)
        perceivers = frozenset((*speakers, *witnesses, DM))
        # A silent listener is introduced only to the DM and to themselves.
        learners = {who: frozenset((who, DM)) for who in witnesses} | dict.fromkeys(shown, perceivers)
        introduced = self.cast.introductions(learners, lineage)
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
                found[self.cast.person(name, line.role_of(position), lineage)] = None
        return list(found)

    def _witnesses(self, line: TranscriptLine, lineage: Lineage) -> Iterator[str]:
        for name in [EVERYBODY] if line.witnesses is None else line.witnesses:
            if name == EVERYBODY:
                yield from self._session(line.session, lineage)
            else:
                yield self.cast.person(name, None, lineage)

    def _session(self, session: str, lineage: Lineage) -> list[str]:
        """Return everybody who speaks in a session, in this import or in the log before it."""
        if session not in self._sessions:
            here = {self.cast.person(*speaker, lineage) for speaker in self._heard_here.get(session, ())}
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


def digest_of(row: EventRow) -> str:
    """Return the digest of the line that an event was made from."""
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
