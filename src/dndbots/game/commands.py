"""Commands of a player or a DM, and the handlers that turn them into events and memories.

A command changes nothing by itself; its handler records the event or refuses. A handler refuses unknown ids
before it does anything else. A memory that fails is logged as a warning and never stops a command; it is made
up later.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, UnknownEntity
from dndbots.events import EventType, GameEvent, Label, Named, QuestUid, Uid
from dndbots.ids import DM, category_of, name_from_uid
from dndbots.memory.scoped.service import IMemoryService
from dndbots.memory.visits import (
    ACT_PROGRESSED,
    ENCOUNTER_COMPLETED,
    LOCATION_CLEARED,
    OBJECTIVE_COMPLETED,
    QUEST_COMPLETED,
)

log = logging.getLogger("dndbots.game")


class Command(BaseModel):
    """A command. The form of its ids is checked here; its handler checks that they are known."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    session_id: Label | None = None


class ChangeLocationCommand(Command):
    """A move of some characters to a place; without `characters`, of the whole party."""

    location_id: Uid
    location_name: str | None = None
    description: str | None = None
    characters: tuple[Uid, ...] = ()


class UpdateLocationStateCommand(Command):
    """A new danger level of a place, or the end of an encounter there."""

    location_id: Uid
    danger_level: Named | None = None
    complete_encounter: Label | None = None


class CompleteObjectiveCommand(Command):
    """The completion of one objective of a quest."""

    quest_id: QuestUid
    objective_id: Label


class CompleteQuestCommand(Command):
    """The completion of a quest."""

    quest_id: QuestUid


class ProgressActCommand(Command):
    """A new state of an act of the story; "begun" if none is given."""

    act_id: Label
    act_state: Named | None = None


class ILocationService(Protocol):
    """A service that moves characters from place to place."""

    def move_entity(self, game_state: Campaign, command: ChangeLocationCommand) -> GameEvent: ...


class LocationService:
    """A location service that records moves as events."""

    def move_entity(self, game_state: Campaign, command: ChangeLocationCommand) -> GameEvent:
        movers = list(command.characters) or _party(game_state)
        metadata: dict[str, JsonValue] = {"location": command.location_id, "participants": [*movers]}
        if command.location_name is not None:
            metadata["names"] = {command.location_id: command.location_name}
        name = command.location_name or _called_by_all(game_state, command.location_id, movers)
        content = command.description or f"The party goes to {name}."
        return _record(game_state, command, EventType.LOCATION_CHANGE, content, metadata)


class LocationHandler:
    """The handler of location commands. It makes memories of a place before anybody leaves it."""

    def __init__(self, location_service: ILocationService | None, memory_service: IMemoryService) -> None:
        self._locations = location_service or LocationService()
        self._memory = memory_service

    def handle(
        self, command: ChangeLocationCommand | UpdateLocationStateCommand, game_state: Campaign
    ) -> GameEvent:
        """Carry out a command and return its event. `game_state` is the campaign."""
        if isinstance(command, ChangeLocationCommand):
            return self._change(command, game_state)
        return self._update(command, game_state)

    def _change(self, command: ChangeLocationCommand, campaign: Campaign) -> GameEvent:
        if category_of(command.location_id) != "LOC":
            raise InvalidSetting(
                "location_id", command.location_id, reason="is not a place; give a uid that starts with loc_"
            )
        if command.location_name is None:
            _check_known(campaign, command.location_id)
        for who in command.characters:
            _check_known(campaign, who)
        with _unstopped("the place they leave"):
            if command.characters:
                self._memory.on_location_exit(campaign, characters=command.characters)
            else:
                self._memory.on_location_exit(campaign)
        return self._locations.move_entity(campaign, command)

    def _update(self, command: UpdateLocationStateCommand, campaign: Campaign) -> GameEvent:
        _check_known(campaign, command.location_id)
        metadata: dict[str, JsonValue] = {"location": command.location_id}
        sentences: list[str] = []
        if command.danger_level is not None:
            metadata["danger_level"] = command.danger_level
            name = _called_by_all(campaign, command.location_id, _present(campaign, command.location_id))
            sentences.append(f"{name} is {command.danger_level.lower()}.")
        if command.complete_encounter is not None:
            metadata |= {"encounter_id": command.complete_encounter, "encounter_state": "completed"}
            sentences.append("The encounter is over.")
        if not sentences:
            raise InvalidSetting(
                "command",
                command.location_id,
                reason="changes nothing; give danger_level or complete_encounter",
            )
        event = _record(campaign, command, EventType.SYSTEM, " ".join(sentences), metadata)
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
    """The handler of quest and act commands. It makes memories after the event is recorded."""

    def __init__(self, memory_service: IMemoryService) -> None:
        self._memory = memory_service

    def handle(
        self,
        command: CompleteObjectiveCommand | CompleteQuestCommand | ProgressActCommand,
        game_state: Campaign,
    ) -> GameEvent:
        """Carry out a command and return its event. `game_state` is the campaign."""
        if isinstance(command, ProgressActCommand):
            state = command.act_state or "begun"
            metadata: dict[str, JsonValue] = {"act_id": command.act_id, "act_state": state}
            event = _record(
                game_state, command, EventType.SYSTEM, f"Act {command.act_id}: {state}.", metadata
            )
            with _unstopped(ACT_PROGRESSED):
                self._memory.on_world_event(game_state, ACT_PROGRESSED, related={"act_id": command.act_id})
            return event
        _check_known(game_state, command.quest_id)
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
    """Log any failure of a memory service as a warning and go on."""
    try:
        yield
    except Exception as exc:  # noqa: BLE001 - no failure of a memory service may trap the party
        log.warning("no memory was made of %s: %s: %s", what, type(exc).__name__, exc)


def _check_known(campaign: Campaign, uid: str) -> None:
    with campaign.view(DM) as view:
        if not view.newest_seqs(limit=1, about=[uid]):
            raise UnknownEntity(uid)


def _called_by_all(campaign: Campaign, uid: str, people: Iterable[str]) -> str:
    """Return the name that all of these people use; else one made from the uid.

    A name that only some of them know must not reach the others.
    """
    names = set[str]()
    for who in people:
        with campaign.view(who) as view:
            names.add(view.called([uid])[uid].name)
    return names.pop() if len(names) == 1 else name_from_uid(uid)


def _party(campaign: Campaign) -> list[str]:
    with campaign.view(DM) as view:
        return view.party()


def _present(campaign: Campaign, location: str) -> list[str]:
    """Return all who are at a place, dead or alive, under every uid that they have."""
    with campaign.view(DM) as view:
        here = [entity for entity in view.known_people() if entity.location == location]
    return [uid for entity in here for uid in (entity.uid, *entity.merged)]


def _record(
    campaign: Campaign, command: Command, kind: EventType, content: str, metadata: dict[str, JsonValue]
) -> GameEvent:
    """Append the event of a command, in the current session, and return it."""
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
