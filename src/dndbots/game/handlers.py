"""Commands become events, and the memories that come of them.

An id that is unknown is refused before anything else happens. Memory never stops a command: what fails
there is warned of, and made up for later.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from pydantic import JsonValue

from dndbots.campaign import Campaign
from dndbots.canon.values import Fact
from dndbots.errors import InvalidSetting, UnknownEntity
from dndbots.events import EventType, GameEvent
from dndbots.game.commands import (
    ChangeLocationCommand,
    Command,
    CompleteObjectiveCommand,
    CompleteQuestCommand,
    ProgressActCommand,
    UpdateLocationStateCommand,
)
from dndbots.ids import DM, PARTY_UID, category_of, name_from_uid
from dndbots.memory.service import IMemoryService
from dndbots.memory.visits import (
    ACT_PROGRESSED,
    ENCOUNTER_COMPLETED,
    LOCATION_CLEARED,
    OBJECTIVE_COMPLETED,
    QUEST_COMPLETED,
)

log = logging.getLogger("dndbots.game")

_PEOPLE: Final = ("pc_", "npc_", "mon_")


class ILocationService(Protocol):
    """Moves characters from place to place."""

    def move_entity(self, game_state: Campaign, command: ChangeLocationCommand) -> GameEvent: ...


class LocationService:
    """Moves characters by recording that they moved."""

    def move_entity(self, game_state: Campaign, command: ChangeLocationCommand) -> GameEvent:
        movers = list(command.characters) or _party(game_state)
        metadata: dict[str, JsonValue] = {"location": command.location_id, "participants": [*movers]}
        if command.location_name is not None:
            metadata["names"] = {command.location_id: command.location_name}
        name = command.location_name or _called_by_all(game_state, command.location_id, movers)
        content = command.description or f"The party goes to {name}."
        return _record(game_state, command, EventType.LOCATION_CHANGE, content, metadata)


class LocationHandler:
    """Leaving a place is remembered before anybody moves."""

    def __init__(self, location_service: ILocationService | None, memory_service: IMemoryService) -> None:
        self._locations = location_service or LocationService()
        self._memory = memory_service

    def handle(
        self, command: ChangeLocationCommand | UpdateLocationStateCommand, game_state: Campaign
    ) -> GameEvent:
        """Carries a command out. `game_state` is the campaign."""
        if isinstance(command, ChangeLocationCommand):
            return self._change(command, game_state)
        return self._update(command, game_state)

    def _change(self, command: ChangeLocationCommand, campaign: Campaign) -> GameEvent:
        if category_of(command.location_id) != "LOC":
            raise InvalidSetting("location_id", command.location_id, reason="is no place: a loc_ uid is")
        if command.location_name is None:
            _known(campaign, command.location_id)
        for who in command.characters:
            _known(campaign, who)
        with _unstopped("the place that is left"):
            if command.characters:
                self._memory.on_location_exit(campaign, characters=command.characters)
            else:
                self._memory.on_location_exit(campaign)
        return self._locations.move_entity(campaign, command)

    def _update(self, command: UpdateLocationStateCommand, campaign: Campaign) -> GameEvent:
        _known(campaign, command.location_id)
        metadata: dict[str, JsonValue] = {"location": command.location_id}
        said: list[str] = []
        if command.danger_level is not None:
            metadata["danger_level"] = command.danger_level
            name = _called_by_all(campaign, command.location_id, _present(campaign, command.location_id))
            said.append(f"{name} is {command.danger_level.lower()}.")
        if command.complete_encounter is not None:
            metadata |= {"encounter_id": command.complete_encounter, "encounter_state": "completed"}
            said.append("The encounter is over.")
        if not said:
            raise InvalidSetting(
                "command", command.location_id, reason="has neither danger_level nor complete_encounter"
            )
        event = _record(campaign, command, EventType.SYSTEM, " ".join(said), metadata)
        place: dict[str, Any] = {"location_id": command.location_id}
        if (command.danger_level or "").casefold() == "cleared":
            with _unstopped(LOCATION_CLEARED):
                self._memory.on_world_event(campaign, LOCATION_CLEARED, related=place)
        if command.complete_encounter is not None:
            related = {**place, "encounter_id": command.complete_encounter}
            with _unstopped(ENCOUNTER_COMPLETED):
                self._memory.on_world_event(campaign, ENCOUNTER_COMPLETED, related=related)
        return event


class QuestHandler:
    """Steps of the story are remembered once they are made."""

    def __init__(self, memory_service: IMemoryService) -> None:
        self._memory = memory_service

    def handle(
        self,
        command: CompleteObjectiveCommand | CompleteQuestCommand | ProgressActCommand,
        game_state: Campaign,
    ) -> GameEvent:
        """Carries a command out. `game_state` is the campaign."""
        if isinstance(command, ProgressActCommand):
            state = command.act_state or "begun"
            metadata: dict[str, JsonValue] = {"act_id": command.act_id, "act_state": state}
            event = _record(
                game_state, command, EventType.SYSTEM, f"Act {command.act_id}: {state}.", metadata
            )
            with _unstopped(ACT_PROGRESSED):
                self._memory.on_world_event(game_state, ACT_PROGRESSED, related={"act_id": command.act_id})
            return event
        _known(game_state, command.quest_id)
        quest: dict[str, JsonValue] = {"quest_id": command.quest_id}
        name = _called_by_all(game_state, command.quest_id, _party(game_state))
        if isinstance(command, CompleteObjectiveCommand):
            done: dict[str, JsonValue] = {**quest, "objective_id": command.objective_id}
            content = f"{name}: {command.objective_id} is done."
            event = _record(
                game_state, command, EventType.QUEST_UPDATE, content, {**done, "objective_state": "completed"}
            )
            with _unstopped(OBJECTIVE_COMPLETED):
                self._memory.on_world_event(game_state, OBJECTIVE_COMPLETED, related=done)
            return event
        event = _record(
            game_state,
            command,
            EventType.QUEST_UPDATE,
            f"{name} is completed.",
            {**quest, "quest_state": "completed"},
        )
        with _unstopped(QUEST_COMPLETED):
            self._memory.on_world_event(game_state, QUEST_COMPLETED, related=quest)
        return event


@contextmanager
def _unstopped(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as exc:  # noqa: BLE001 - whatever a memory service raises, the party is not trapped
        log.warning("there is no memory of %s: %s: %s", what, type(exc).__name__, exc)


def _known(campaign: Campaign, uid: str) -> None:
    with campaign.view(DM) as view:
        if not view.places(limit=1, about=[uid]):
            raise UnknownEntity(uid)


def _called_by_all(campaign: Campaign, uid: str, people: Iterable[str]) -> str:
    """What all who will hear of something call it. A name that only some know is not told to the others."""
    names = set[str]()
    for who in people:
        with campaign.view(who) as view:
            names.add(view.called([uid])[uid].name)
    return names.pop() if len(names) == 1 else name_from_uid(uid)


def _party(campaign: Campaign) -> list[str]:
    """The living of the party: who is stated to be in it, or else every character there is."""
    with campaign.view(DM) as view:
        found = view.entities([uid for kind in _PEOPLE for uid in view.everybody(kind)])
    living = [entity for entity in found.values() if entity.alive]
    members = [entity.uid for entity in living if any(map(_is_membership, entity.facts))]
    return members or [entity.uid for entity in living if entity.category == "PC"]


def _is_membership(fact: Fact) -> bool:
    return fact.op == "in" and fact.object == PARTY_UID and not fact.ended


def _present(campaign: Campaign, location: str) -> list[str]:
    """All who are at a place, dead or alive, under every uid that they go by."""
    with campaign.view(DM) as view:
        found = view.entities([uid for kind in _PEOPLE for uid in view.everybody(kind)])
    here = [entity for entity in found.values() if entity.location == location]
    return [uid for entity in here for uid in (entity.uid, *entity.merged)]


def _record(
    campaign: Campaign, command: Command, kind: EventType, content: str, metadata: dict[str, JsonValue]
) -> GameEvent:
    """Appends what a command asked for, in the session that is being played."""
    head = campaign.head
    newest = list(campaign.events(viewer=DM, last=1))
    session = command.session_id or (newest[-1].session_id if newest else "s01")
    digest = hashlib.sha256(f"{head}\x1f{content}".encode()).hexdigest()[:10]
    event = GameEvent(
        event_id=f"{kind.value}_{digest}",
        event_type=kind,
        source=DM,
        content=content,
        session_id=session,
        metadata=metadata,
    )
    return campaign.record(event)
