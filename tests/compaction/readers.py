"""Extractors that tests can steer, and a table to play at in few words."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.extraction.port import KnownNames, Turn, Update
from dndbots.ids import DM
from dndbots.testing import memory_campaign

THROK, ZARA, MIRA = "pc_throk_001", "pc_zara_001", "pc_mira_001"
ELENA, PRIEST = "npc_elena_001", "npc_old_priest_001"
MILL, INN = "loc_mill_001", "loc_inn_001"
PARTY = [THROK, ZARA, MIRA]


class Says:
    """Proposes what it was told to for each turn, and keeps the turns that it was given."""

    waits = False

    def __init__(self, *updates: Any, then: Callable[[], object] | None = None) -> None:
        self.updates, self.then = list(updates), then
        self.read: list[Turn] = []

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> Iterable[Any]:
        del known
        self.read += turns
        if self.then is not None:
            self.then()
        ids = {turn.id for turn in turns}
        return [one for one in self.updates if not isinstance(one, Update) or one.turn in ids]


def says(turn: str, name: str, field: str, value: str, kind: Any = "npc", **more: Any) -> Update:
    return Update(kind=kind, name=name, field=field, value=value, turn=turn, **more)


def told(name: str, text: str, **metadata: Any) -> GameEvent:
    """The DM tells something, to all three unless it says to whom."""
    session = metadata.pop("session", "s01")
    metadata.setdefault("witnesses", PARTY)
    return event(name, DM, text, kind=EventType.DM_NARRATION, session=session, **metadata)


def said(name: str, who: str, text: str, **metadata: Any) -> GameEvent:
    session = metadata.pop("session", "s01")
    metadata.setdefault("witnesses", PARTY)
    return event(name, who, text, kind=EventType.DIALOGUE, session=session, **metadata)


def table(*events: GameEvent) -> Campaign:
    """A campaign in which the three have met Elena at the mill."""
    names = {THROK: "Throk", ZARA: "Zara", MIRA: "Mira", ELENA: "Elena", MILL: "Old Mill"}
    begun = event(
        "evt_000",
        DM,
        "You meet.",
        kind=EventType.SESSION_START,
        location=MILL,
        participants=[*PARTY, ELENA],
        names=names,
    )
    return memory_campaign([begun, *events])


def facts(campaign: Campaign, who: str, viewer: str = DM) -> dict[str, Any]:
    """Return what a viewer knows of an entity, by key, with its certainty."""
    found = campaign.entity(who, viewer=viewer).facts
    return {one.key: (one.value, one.certainty) for one in found if one.key and not one.ended}


def spans(campaign: Campaign) -> list[tuple[str | None, str, int]]:
    """Return the span of each run: after which event, up to which, and how many turns."""
    notes = [one for one in campaign.events(viewer=DM) if one.event_type is EventType.COMPACTION]
    return [
        (one.known.memory.after, one.known.memory.upto, one.known.compaction.turns)
        for one in notes
        if one.known.memory and one.known.compaction and one.known.compaction.by != "a person"
    ]


def assert_tiled(campaign: Campaign) -> None:
    """Every event of play up to the cursor was gone over by exactly one run, and every turn counted."""
    played = [one for one in campaign.events(viewer=DM) if not one.is_note]
    places = {one.event_id: n for n, one in enumerate(played, 1)} | {None: 0}
    at = 0
    for after, upto, turns in spans(campaign):
        assert places[after] == at, f"a run begins after {after}, which is not where the last one ended"
        covered = played[at : places[upto]]
        spoken = [one for one in covered if one.event_type in SPOKEN and one.content.strip()]
        assert turns == len(spoken), f"{turns} turns were counted of {len(spoken)}"
        at = places[upto]


SPOKEN = (EventType.DM_NARRATION, EventType.PLAYER_ACTION, EventType.DIALOGUE, EventType.WHISPER)
