"""What a player or the DM asks for. A command changes nothing by itself: its handler does, or refuses."""

from pydantic import BaseModel, ConfigDict

from dndbots.events import Label, Named, QuestUid, Uid


class Command(BaseModel):
    """Ids are checked when a command is made; whether they are known, when it is handled."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    session_id: Label | None = None


class ChangeLocationCommand(Command):
    """Moves some characters to a place; without any, all who are with the party."""

    location_id: Uid
    location_name: str | None = None
    description: str | None = None
    characters: tuple[Uid, ...] = ()


class UpdateLocationStateCommand(Command):
    """Says how dangerous a place is now, and which encounter there is over."""

    location_id: Uid
    danger_level: Named | None = None
    complete_encounter: Label | None = None


class CompleteObjectiveCommand(Command):
    quest_id: QuestUid
    objective_id: Label


class CompleteQuestCommand(Command):
    quest_id: QuestUid


class ProgressActCommand(Command):
    act_id: Label
    act_state: Named | None = None
