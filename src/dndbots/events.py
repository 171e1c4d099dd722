"""What happened: the event, its kinds, and who perceived it.

`audience` is the one filter that every view of the campaign goes through.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    StringConstraints,
    field_validator,
    model_validator,
)

from dndbots.ids import DM, SYSTEM, check_uid

LONGEST_CONTENT: Final = 102_400
DEEPEST_METADATA: Final = 32
LARGEST_INTEGER: Final = 10**30


def _check_someone(who: str) -> str:
    """An entity, or one of those who sit at the table and are none."""
    return who if who in (DM, SYSTEM) else check_uid(who)


class EventType(StrEnum):
    """What kind of thing happened."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    DM_NARRATION = "dm_narration"
    PLAYER_ACTION = "player_action"
    DIALOGUE = "dialogue"
    WHISPER = "whisper"
    DICE_ROLL = "dice_roll"
    COMBAT_START = "combat_start"
    COMBAT_ROUND = "combat_round"
    COMBAT_END = "combat_end"
    DAMAGE = "damage"
    HEALING = "healing"
    CONDITION = "condition"
    DEATH = "death"
    LOCATION_CHANGE = "location_change"
    DISCOVERY = "discovery"
    LOOT = "loot"
    QUEST_UPDATE = "quest_update"
    REPUTATION_CHANGE = "reputation_change"
    SYSTEM = "system"


Named = Annotated[str, StringConstraints(pattern=r"\S", max_length=1_000)]
Uid = Annotated[Named, AfterValidator(check_uid)]
QuestUid = Annotated[Named, AfterValidator(partial(check_uid, category="QST"))]
Someone = Annotated[Named, AfterValidator(_check_someone)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Change = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
Number = Annotated[int, Field(ge=-(10**15), le=10**15)] | Annotated[float, Field(ge=-1e15, le=1e15)]


class StatedFact(BaseModel):
    """A fact that an event states: a relation (`op`, `object`) or a property (`key`, `value`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    subject: Uid
    op: Literal[">", "<", "@", "in", "->", "<-", "~"] | None = None
    object: Uid | None = None
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}\z")] | None = None
    value: bool | Number | Named | Annotated[list[Number | Named], Field(min_length=1)] | None = None
    certainty: Literal["fact", "belief", "rumor"] = "fact"

    @model_validator(mode="after")
    def _relates_or_describes(self) -> Self:
        pairs = ((self.op, self.object), (self.key, self.value))
        begun = [pair for pair in pairs if pair != (None, None)]
        if len(begun) != 1 or None in begun[0]:
            raise ValueError("a fact has either op and object, or key and value")
        return self


class KnownMetadata(BaseModel):
    """The metadata that the engine understands. Anything else is kept as it is."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    location: Uid | None = None
    participants: list[Someone] = Field(default_factory=list)
    witnesses: list[Someone] | None = None
    told_to: list[Someone] = Field(default_factory=list)
    enemies: list[Uid] = Field(default_factory=list)
    enemy_count: Count | None = None
    killed: list[Uid] = Field(default_factory=list)
    killed_by: Someone | list[Someone] | None = None
    discovered: list[Uid] = Field(default_factory=list)
    reputation: dict[Uid, Change] = Field(default_factory=dict)
    quest_id: QuestUid | None = None
    quest_state: Named | None = None
    objective_id: Named | None = None
    act_id: Named | None = None
    encounter_id: Named | None = None
    danger_level: Named | None = None
    loot: list[JsonValue] = Field(default_factory=list)
    hp_delta: Change | dict[Named, Change] | None = None
    conditions: list[Named] | dict[Named, list[Named]] = Field(default_factory=list)
    facts: list[StatedFact] = Field(default_factory=list)
    npcs_mentioned: list[Named] = Field(default_factory=list)
    sources: list[Named] = Field(default_factory=list)


class GameEvent(BaseModel):
    """One thing that happened. Time and order are given, never taken from a clock here."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    event_id: Named
    event_type: EventType
    source: Named
    content: str = Field(max_length=LONGEST_CONTENT)
    session_id: Named
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    timestamp: datetime | None = None
    turn: NonNegativeInt | None = None
    seq: NonNegativeInt | None = None

    @field_validator("event_id", "source", "content", "session_id")
    @classmethod
    def _can_be_stored(cls, text: str) -> str:
        return _check_storable(text)

    @field_validator("source")
    @classmethod
    def _a_character_goes_by_its_uid(cls, source: str) -> str:
        return check_uid(source, where="source") if source.startswith("pc_") else source

    @field_validator("metadata")
    @classmethod
    def _metadata_is_sound(cls, metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
        KnownMetadata.model_validate(metadata)
        for key, value in metadata.items():
            _check_value(value, where=_check_storable(key))
        return metadata

    @property
    def known(self) -> KnownMetadata:
        """The metadata that the engine understands, typed."""
        return KnownMetadata.model_validate(self.metadata)


def _check_storable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, which cannot be stored as text") from None
    return text


def _check_value(value: JsonValue, *, where: str, depth: int = 0) -> None:
    """Unknown metadata is kept as it is, so it must be what JSON can hold and give back."""
    if depth > DEEPEST_METADATA:
        raise ValueError(f"{where}: nested deeper than {DEEPEST_METADATA} levels")
    if isinstance(value, str):
        _check_storable(value)
    elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{where}: an integer of more than 30 digits")
    elif isinstance(value, list):
        for inner in value:
            _check_value(inner, where=where, depth=depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_value(inner, where=_check_storable(key), depth=depth + 1)


def audience(event: GameEvent) -> frozenset[str]:
    """Who perceived an event: its source, participants, witnesses, those told, and always the DM."""
    return frozenset((DM, event.source, *_named(event.metadata)))


def _named(metadata: Mapping[str, Any]) -> list[str]:
    return [who for key in ("participants", "witnesses", "told_to") for who in metadata.get(key) or ()]
