"""One step of a round in the making: all that a seat's turn leads to, recorded together or not at all."""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType, GameEvent
from dndbots.game.played import KEY, Played
from dndbots.game.table import Table, told
from dndbots.ids import DM, name_from_uid

# Game time has to begin some day.
BEGINNING: Final = datetime(1312, 4, 2, 9, 0)  # noqa: DTZ001 - no clock of ours, and no zone

# Where a way leads from a place, if it can be gone: the DM says so.
Leads = Callable[[Table, str, str], str | None]


# What a place is called by whoever comes there.
Called = Callable[[Table, str], str]


def _by_uid(_table: Table, place: str) -> str:
    return name_from_uid(place)


def _nowhere(_table: Table, _place: str, _way: str) -> str | None:
    return None


class Step:
    """Drafts the events of one step, and lets the tables take in each at once.

    Whoever drafts sees what the step has come to so far. If it cannot be recorded after all, the tables
    are folded again from the log.
    """

    def __init__(
        self,
        name: str,
        *,
        seed: int,
        round_: int,
        session: str,
        tables: dict[str, Table],
        rng: random.Random,
        leads: Leads = _nowhere,
        called: Called = _by_uid,
    ) -> None:
        self.name, self.round, self.session, self.rng = name, round_, session, rng
        self.events: list[GameEvent] = []
        self.seed, self.leads, self.called = seed, leads, called
        self._tables = tables

    @property
    def table(self) -> Table:
        """The DM's table, with everything on it."""
        return self._tables[DM]

    def add(
        self,
        kind: EventType,
        content: str,
        *,
        source: str = DM,
        place: str | None = None,
        participants: Sequence[str] = (),
        witnesses: Iterable[str] | None = None,
        play: Mapping[str, Any] | None = None,
        **metadata: JsonValue,
    ) -> GameEvent:
        """Drafts an event. Without witnesses, all who are at its place perceive it, or the whole party.

        `metadata` is what canon understands; `play` is what the game notes beside it.
        """
        if witnesses is None:
            witnesses = self.witnesses(place)
        note = Played.model_validate({"step": self.name, **(play or {})})
        known: dict[str, JsonValue] = {
            "location": place,
            "participants": list(dict.fromkeys(participants)),
            "witnesses": [who for who in dict.fromkeys(witnesses) if who not in participants],
            **metadata,
            KEY: note.model_dump(mode="json", exclude_defaults=True),
        }
        event = GameEvent(
            event_id=self._id(),
            event_type=kind,
            source=source,
            content=content,
            session_id=self.session,
            metadata={key: value for key, value in known.items() if value or key == "witnesses"},
            timestamp=BEGINNING + timedelta(minutes=self.table.minutes + note.minutes),
            turn=self.round,
        )
        self.events.append(event)
        told(event, self._tables)
        return event

    def witnesses(self, place: str | None) -> list[str]:
        """Who perceives what happens at a place; what happens nowhere, the whole party does."""
        return self.present(place) if place is not None else self.table.living()

    def present(self, place: str) -> list[str]:
        """All who are at a place and can perceive anything: characters and people."""
        table = self.table
        people = (uid for uid in table.facts if uid.startswith("npc_") and table.place(uid) == place)
        return [*table.together(place), *filter(table.alive, people)]

    def of(self, who: str) -> Table:
        """What a character knows, for what is put into its mouth."""
        return self._tables[who]

    def sits(self, who: str) -> bool:
        """Whether somebody has a table of its own: the DM, and each character."""
        return who in self._tables

    def knows(self, who: str, uid: str) -> bool:
        """Whether a character ever heard what somebody or something is called."""
        return self.sits(who) and uid in self._tables[who].names

    def _id(self) -> str:
        """An id that tells nobody how much they missed, and is the same after a restart.

        Long enough that a million of them do not meet.
        """
        parts = (self.seed, self.session, self.round, self.name, len(self.events))
        return f"evt_{hashlib.sha256('/'.join(map(str, parts)).encode()).hexdigest()[:16]}"
