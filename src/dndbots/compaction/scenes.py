"""Scenes and their narratives. A scene is a place and a set of characters, until either changes.

Several scenes are open at once while the party is split. Events come in batches; the size of a batch does
not change the scenes.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, get_args

from dndbots.compaction.checks import refuse_unfit_text
from dndbots.compaction.data.models import CampaignData, NarrativeInfo, SceneInfo
from dndbots.compaction.heard_turns import hearers_of, is_spoken
from dndbots.errors import SummaryFailed, UpdateRefused
from dndbots.events import EventType, GameEvent
from dndbots.extraction.port import Turn
from dndbots.extraction.turn_evidence import share_supported
from dndbots.ids import short
from dndbots.memory.entries import Line, SummaryTask
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import retell_events
from dndbots.memory.summaries.summarizer import SCOPED_TOKENS, Summarizer
from dndbots.storage.views.view import View
from dndbots.text.labels import write_label
from dndbots.text.vocabulary import Vocabulary

# A longer scene is split: a few sentences could not tell it.
LONGEST_SCENE: Final = 200
MOST_OUTCOMES: Final = 12
_LONGEST_OUTCOME: Final = 200
_MOST_PARTICIPANTS: Final = 40
_FEWEST_TURNS: Final = 3
_LONGEST_ID: Final = 150
_MOSTLY_TALK: Final = 0.6
NarrativeKind = Literal["combat", "dialogue", "exploration", "discovery", "quest", "travel", "rest", "other"]
NARRATIVE_KINDS: Final[tuple[NarrativeKind, ...]] = get_args(NarrativeKind)
LONGEST_NARRATIVE: Final = 400
MOST_SOURCES: Final = 20
_LEAST_SUPPORTED: Final = 0.5


class Narrative(NamedTuple):
    """The narrative of a closed scene, in lines that know their source events."""

    scene: str
    kind: str
    lines: tuple[Line, ...]


class Scenes:
    """The open scenes, and those that closed since this object was made."""

    def __init__(self, still_open: Iterable[SceneInfo] = ()) -> None:
        self._open: dict[str, SceneInfo] = {scene.scene_id: scene for scene in still_open}
        self.closed: list[SceneInfo] = []

    @property
    def open(self) -> list[SceneInfo]:
        """The open scenes, the latest last."""
        return list(self._open.values())

    def take(self, event: GameEvent, outcomes: Sequence[str]) -> None:
        """Add the next event of the log, with its outcomes in words, to its scene."""
        present = _characters(hearers_of(event))
        if not present:
            return
        scene = self._find(event, present)
        if scene is None or scene.turns >= LONGEST_SCENE:
            self._close_left(event, present)
            scene = _new_scene(event, present)
        else:
            self._close_left(event, present, but=scene.scene_id)
        # The scene of the latest event comes last.
        self._open.pop(scene.scene_id, None)
        self._open[scene.scene_id] = _with_event(scene, event, outcomes)

    def _find(self, event: GameEvent, present: frozenset[str]) -> SceneInfo | None:
        """Return the open scene of an event: same session and place, and all who are present belong to it."""
        place = event.known.location
        for scene in reversed(self.open):
            there = place is None or scene.location is None or scene.location == place
            if there and scene.session == event.session_id and present <= _characters(scene.participants):
                return scene
        return None

    def _close_left(self, event: GameEvent, present: frozenset[str], *, but: str | None = None) -> None:
        """Close the scenes of other sessions, and those that the characters present have left."""
        for name, scene in list(self._open.items()):
            gone = scene.session != event.session_id or not present.isdisjoint(scene.participants)
            if name != but and gone:
                self.closed.append(self._open.pop(name).model_copy(update={"open": False}))


def _characters(people: Iterable[str]) -> frozenset[str]:
    return frozenset(who for who in people if who.startswith("pc_"))


def _new_scene(event: GameEvent, present: frozenset[str]) -> SceneInfo:
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
    """Return the id of a scene: that of its first event, shortened if an index could not hold it."""
    if len(event.event_id) <= _LONGEST_ID:
        return event.event_id
    return f"{event.event_id[:_LONGEST_ID]}_{hashlib.sha256(event.event_id.encode()).hexdigest()[:10]}"


def _with_event(scene: SceneInfo, event: GameEvent, outcomes: Sequence[str]) -> SceneInfo:
    others = (event.source, *event.known.participants, *event.known.enemies)
    met = dict.fromkeys((*scene.participants, *(who for who in others if who.startswith(("npc_", "mon_")))))
    all_outcomes = dict.fromkeys((*scene.outcomes, *(text[:_LONGEST_OUTCOME] for text in outcomes)))
    return scene.model_copy(
        update={
            "location": scene.location or event.known.location,
            "participants": tuple(met)[:_MOST_PARTICIPANTS],
            "last": event.event_id,
            "turns": scene.turns + is_spoken(event),
            "seconds": _seconds_since(scene, event.timestamp),
            "outcomes": tuple(all_outcomes)[-MOST_OUTCOMES:],
        }
    )


def _seconds_since(scene: SceneInfo, now: datetime | None) -> float | None:
    began = datetime.fromisoformat(scene.began) if scene.began else None
    if began is None or now is None or (began.tzinfo is None) != (now.tzinfo is None):
        return scene.seconds
    return (now - began).total_seconds()


def narrative_of(view: View, scene: SceneInfo, gates: Gates) -> Narrative | None:
    """Return what came of a scene in a few sentences; None for a scene of hardly any turns."""
    if scene.turns < _FEWEST_TURNS:
        return None
    seqs = view.seqs_of([scene.first, scene.last])
    present = _characters(scene.participants)
    played = view.play(after=seqs[scene.first] - 1, upto=seqs[scene.last])
    in_session = (event for _, event in played if event.session_id == scene.session)
    events = [event for event in in_session if present <= hearers_of(event)]
    entries = retell_events(view, events, gates)
    place = view.called([scene.location])[scene.location].name if scene.location else ""
    task = SummaryTask(
        agent="", entries=tuple(entries), tokens=SCOPED_TOKENS, kind="location", name=write_label(place)
    )
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
    """Return the kind of a scene by its events; if none is typical, by its share of talk."""
    kinds = {event.event_type for event in events}
    for name, typical in _KINDS.items():
        if not typical.isdisjoint(kinds):
            return name
    spoken = [event for event in events if is_spoken(event)]
    talk = sum(event.event_type is not EventType.DM_NARRATION for event in spoken)
    return "dialogue" if talk >= _MOSTLY_TALK * len(spoken) else "exploration"


# Narratives that a tool proposes


def check_narrative(kind: str, text: str, cited: Sequence[Turn]) -> NarrativeInfo:
    """Return the narrative without an id; raise UpdateRefused if the turns do not support it."""
    if kind not in NARRATIVE_KINDS:
        raise _refused("field", f"{short(kind, 40)!r} is not a kind: use {', '.join(NARRATIVE_KINDS)}")
    if len(text) > LONGEST_NARRATIVE:
        raise _refused("text", f"the text has more than {LONGEST_NARRATIVE} characters")
    if not 0 < len(cited) <= MOST_SOURCES:
        raise _refused("unknown_turn", f"it cites {len(cited)} turns; cite 1 to {MOST_SOURCES}")
    refuse_unfit_text("text", text)
    sources = [part for turn in cited for part in (turn.speaker, turn.text)]
    strangers = list(Vocabulary(sources).unknown_names(text))
    if strangers:
        raise _refused("name", f"the cited turns do not contain {short(strangers[0], 40)!r}")
    if share_supported(text, sources) < _LEAST_SUPPORTED:
        raise _refused("unsupported", "most of its words are not in the cited turns")
    ids = tuple(dict.fromkeys(turn.id for turn in cited))
    return NarrativeInfo(narrative_id="", kind=kind, text=" ".join(text.split()), sources=ids)


def with_narrative_id(new: NarrativeInfo, data: CampaignData) -> NarrativeInfo:
    """Return the narrative with a free id, or the equal narrative that the data has already."""
    for known in data.narratives.values():
        if (known.kind, known.text, known.sources) == (new.kind, new.text, new.sources):
            return known
    number = len(data.narratives) + 1
    while f"narrative_{number:04d}" in data.narratives:
        number += 1
    return new.model_copy(update={"narrative_id": f"narrative_{number:04d}"})


def _refused(rule: str, reason: str) -> UpdateRefused:
    return UpdateRefused(reason=reason, rule=rule)
