"""A step of a round in the making: the events of one turn, recorded together or not at all."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pydantic import JsonValue

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.state.game_notes import KEY, PlayNote
from dndbots.game.state.scene_tags import BEGINNING
from dndbots.game.state.table import Table, deliver_event
from dndbots.ids import DM, name_from_uid

# The first moment of game time.

# Returns the place that a way leads to, if it can be taken: the DM decides.
Leads = Callable[[Table, str, str], str | None]


# Returns the name of a place for those who arrive there.
Called = Callable[[Table, str], str]


def seeded_rng(seed: int, *step: object) -> random.Random:
    """Return the random numbers of one step of a game.

    The same seed and step give the same numbers on every machine, so a restarted game rolls the same dice.
    """
    return random.Random("/".join(map(str, (seed, *step))))  # noqa: S311 - dice, which can be replayed


def _by_uid(_table: Table, place: str) -> str:
    return name_from_uid(place)


def _nowhere(_table: Table, _place: str, _way: str) -> str | None:
    return None


# Acts whose words matter whoever wrote them: a word given or kept back, and what only few hear.
_MEANT = (Verb.ACCEPT, Verb.REFUSE, Verb.WHISPER)
# Rules with which an NPC says that it has nothing to say.
_EVASIONS = frozenset(("told_just_now", "has_no_answer", "does_not_know", "wont_say"))
# What a text of the phrase book may state without being worth more than its phrase.
_SCENERY = frozenset(("aside", "enemies", "names"))
# Of a blow, a wound or a rest, the numbers are kept and the fight as a whole is told.
_BLOWS = (EventType.COMBAT_ROUND, EventType.DAMAGE, EventType.HEALING, EventType.DICE_ROLL)
_NUMBERS = frozenset(("conditions", "enemy_count", "facts", "hp_delta"))


def _is_stock(kind: EventType, source: str, note: PlayNote, metadata: Mapping[str, JsonValue]) -> bool:
    """Return whether an event is small talk, a hint or a blow in the words of the phrase book."""
    phrases = note.phrases or (note.act.phrases if note.act else ())
    if not phrases or (source.startswith("npc_") and not all(map(_evades, phrases))):
        return False
    if note.gist or note.tells or note.topics or note.sights:
        return False
    if note.act is not None and note.act.verb in _MEANT:
        return False
    scenery = _SCENERY | _NUMBERS if kind in _BLOWS else _SCENERY
    return not any(value for key, value in metadata.items() if key not in scenery)


def _evades(phrase: str) -> bool:
    return phrase.partition("#")[0].partition(".")[0] in _EVASIONS


class Step:
    """The drafted events of one step. The tables take in each event at once.

    So later drafts see the results of earlier ones. If the step cannot be recorded, the game folds the tables
    again from the log.
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
        self.used: Counter[str] = Counter()  # rules of the phrase book, for the next event
        self.seed, self.leads, self.called = seed, leads, called
        # Events whose texts are material: another telling will take their place.
        self.untold: set[str] = set()
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
        """Draft an event and return it.

        Without `witnesses`, all who are at its place perceive it, or the whole party if it has no place.
        `metadata` is for canon; `play` is the game's own note beside it.
        """
        if witnesses is None:
            witnesses = self.witnesses(place)
        used = {"phrases": [*self.used.elements()]} if self.used else {}
        note = PlayNote.model_validate({"step": self.name, **used, **(play or {})})
        self.used.clear()
        known: dict[str, JsonValue] = {
            "location": place,
            "participants": list(dict.fromkeys(participants)),
            "witnesses": [who for who in dict.fromkeys(witnesses) if who not in participants],
            **metadata,
            KEY: note.model_dump(mode="json", exclude_defaults=True),
        }
        if _is_stock(kind, source, note, metadata):
            known["aside"] = True
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
        deliver_event(event, self._tables)
        return event

    def retell(self, event: GameEvent, content: str, *, names: Mapping[str, str] | None = None) -> GameEvent:
        """Give a drafted event another text, and names that the text teaches. Return the event as it is now.

        What the event makes true stays as it is.
        """
        known = event.metadata.get("names")
        taught: dict[str, JsonValue] = {**(known if isinstance(known, dict) else {}), **(names or {})}
        metadata = {key: value for key, value in event.metadata.items() if key != "aside"}
        if names:
            metadata["names"] = taught
        told = GameEvent(**{**event.model_dump(), "content": content, "metadata": metadata})
        self.events[self.events.index(event)] = told
        for table in self._tables.values():
            table.hear_otherwise(told)
        return told

    def witnesses(self, place: str | None) -> list[str]:
        """Return who perceives an event at a place; the whole party if it has no place."""
        return self.present(place) if place is not None else self.table.living()

    def present(self, place: str) -> list[str]:
        """Return the living characters and NPCs at a place."""
        table = self.table
        people = (uid for uid in table.facts if uid.startswith("npc_") and table.place(uid) == place)
        return [*table.together(place), *filter(table.alive, people)]

    def of(self, who: str) -> Table:
        """Return the table of a character: what it knows."""
        return self._tables[who]

    def sits(self, who: str) -> bool:
        """Check for a table of one's own, which the DM and each character have."""
        return who in self._tables

    def knows(self, who: str, uid: str) -> bool:
        """Check that a character has heard a name for a uid."""
        return self.sits(who) and uid in self._tables[who].names

    def _id(self) -> str:
        """Return an event id that is the same after a restart and does not reveal missed events.

        It is long enough that a million ids do not collide.
        """
        parts = (self.seed, self.session, self.round, self.name, len(self.events))
        return f"evt_{hashlib.sha256('/'.join(map(str, parts)).encode()).hexdigest()[:16]}"
