"""Scenes: a place and a set of characters, until either changes; and what each of them told.

Several are open at once where the party is split. Turns are taken in as they come, in batches of any
size, and give the same scenes.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from dndbots.compaction.data import SceneInfo
from dndbots.compaction.turns import is_spoken, perceivers
from dndbots.errors import SummaryFailed
from dndbots.events import EventType, GameEvent
from dndbots.memory.entries import Line, SummaryTask
from dndbots.memory.gates import Gates
from dndbots.memory.retelling import retold
from dndbots.memory.summarizer import SCOPED_TOKENS, Summarizer
from dndbots.storage.reader import View

# A scene that goes on for longer is told in parts, or it could not be told in a few sentences.
LONGEST_SCENE: Final = 200
MOST_OUTCOMES: Final = 12
_LONGEST_OUTCOME: Final = 200
_MOST_PARTICIPANTS: Final = 40
_FEWEST_TURNS: Final = 3
_LONGEST_ID: Final = 150
_MOSTLY_TALK: Final = 0.6


class Narrative(NamedTuple):
    """What a scene that is over comes to, in lines that each know where they come from."""

    scene: str
    kind: str
    lines: tuple[Line, ...]


class Scenes:
    """Those that are open, and those that were closed since this was made."""

    def __init__(self, still_open: Iterable[SceneInfo] = ()) -> None:
        self._open: dict[str, SceneInfo] = {one.scene_id: one for one in still_open}
        self.closed: list[SceneInfo] = []

    @property
    def open(self) -> list[SceneInfo]:
        return list(self._open.values())

    def take(self, event: GameEvent, outcomes: Sequence[str]) -> None:
        """One event of the log, with what came of it in words."""
        present = _characters(perceivers(event))
        if not present:
            return
        scene = self._of(event, present)
        if scene is None or scene.turns >= LONGEST_SCENE:
            self._leave(event, present)
            scene = _begun(event, present)
        else:
            self._leave(event, present, but=scene.scene_id)
        # The scene that was told of last is the last one.
        self._open.pop(scene.scene_id, None)
        self._open[scene.scene_id] = _gone_on(scene, event, outcomes)

    def _of(self, event: GameEvent, present: frozenset[str]) -> SceneInfo | None:
        """The open scene that an event belongs to: there, with these, or with some of those who are there."""
        place = event.known.location
        for scene in reversed(self.open):
            there = place is None or scene.location is None or scene.location == place
            if there and scene.session == event.session_id and present <= _characters(scene.participants):
                return scene
        return None

    def _leave(self, event: GameEvent, present: frozenset[str], *, but: str | None = None) -> None:
        """Who is somewhere else, or with others, has left; and a new session finds nothing open."""
        for name, scene in list(self._open.items()):
            gone = scene.session != event.session_id or not present.isdisjoint(scene.participants)
            if name != but and gone:
                self.closed.append(self._open.pop(name).model_copy(update={"open": False}))


def _characters(people: Iterable[str]) -> frozenset[str]:
    return frozenset(who for who in people if who.startswith("pc_"))


def _begun(event: GameEvent, present: frozenset[str]) -> SceneInfo:
    return SceneInfo(
        scene_id=_id_of(event),
        session=event.session_id,
        participants=tuple(sorted(present)),
        first=event.event_id,
        last=event.event_id,
        turns=0,
        began=event.timestamp.isoformat() if event.timestamp else None,
        open=True,
    )


def _id_of(event: GameEvent) -> str:
    """The id of its first event; of one that is too long to be kept in an index, the beginning."""
    if len(event.event_id) <= _LONGEST_ID:
        return event.event_id
    return f"{event.event_id[:_LONGEST_ID]}_{hashlib.sha256(event.event_id.encode()).hexdigest()[:10]}"


def _gone_on(scene: SceneInfo, event: GameEvent, outcomes: Sequence[str]) -> SceneInfo:
    others = (event.source, *event.known.participants, *event.known.enemies)
    met = dict.fromkeys((*scene.participants, *(who for who in others if who.startswith(("npc_", "mon_")))))
    told = dict.fromkeys((*scene.outcomes, *(one[:_LONGEST_OUTCOME] for one in outcomes)))
    return scene.model_copy(
        update={
            "location": scene.location or event.known.location,
            "participants": tuple(met)[:_MOST_PARTICIPANTS],
            "last": event.event_id,
            "turns": scene.turns + is_spoken(event),
            "seconds": _seconds_since(scene, event.timestamp),
            "outcomes": tuple(told)[-MOST_OUTCOMES:],
        }
    )


def _seconds_since(scene: SceneInfo, now: datetime | None) -> float | None:
    began = datetime.fromisoformat(scene.began) if scene.began else None
    if began is None or now is None or (began.tzinfo is None) != (now.tzinfo is None):
        return scene.seconds
    return (now - began).total_seconds()


def narrative_of(view: View, scene: SceneInfo, gates: Gates) -> Narrative | None:
    """A few sentences of a scene's own words. One that was hardly played has none."""
    if scene.turns < _FEWEST_TURNS:
        return None
    places = view.seqs_of([scene.first, scene.last])
    there = _characters(scene.participants)
    played = view.play(after=places[scene.first] - 1, upto=places[scene.last])
    in_session = (event for _, event in played if event.session_id == scene.session)
    events = [event for event in in_session if there <= perceivers(event)]
    entries = retold(view, events, gates)
    task = SummaryTask(agent="", entries=tuple(entries), tokens=SCOPED_TOKENS)
    try:
        lines = Summarizer().condense(task)
    except SummaryFailed:
        return None
    return Narrative(scene.scene_id, _kind(events), tuple(lines)) if lines else None


_KINDS: Final[Mapping[str, frozenset[EventType]]] = {
    "combat": frozenset(
        (
            EventType.COMBAT_START,
            EventType.COMBAT_ROUND,
            EventType.COMBAT_END,
            EventType.DAMAGE,
            EventType.DEATH,
        )
    ),
    "quest": frozenset((EventType.QUEST_UPDATE,)),
    "discovery": frozenset((EventType.DISCOVERY, EventType.LOOT)),
    "travel": frozenset((EventType.LOCATION_CHANGE,)),
}


def _kind(events: Sequence[GameEvent]) -> str:
    """What a scene was mostly about: what happened in it, or else whether it was talk."""
    kinds = {event.event_type for event in events}
    for name, typical in _KINDS.items():
        if not typical.isdisjoint(kinds):
            return name
    spoken = [event for event in events if is_spoken(event)]
    talk = sum(event.event_type is not EventType.DM_NARRATION for event in spoken)
    return "dialogue" if talk >= _MOSTLY_TALK * len(spoken) else "exploration"
