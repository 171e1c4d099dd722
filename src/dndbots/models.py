"""Characters, quests, and the memory of agents: values that check themselves and round-trip as JSON.

`AgentMemory` and `GameState` are mutable on purpose: they are working state, not records.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired, Self, TypedDict

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from dndbots import ids
from dndbots.ids import check_name

Score = Annotated[int, Field(ge=1, le=30)]


class Stats(BaseModel):
    """The six abilities."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    str: Score
    dex: Score
    con: Score
    int: Score
    wis: Score
    cha: Score


class Character(BaseModel):
    """A player character's sheet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    char_class: str
    level: int = Field(ge=1, le=1_000)
    hp: int = Field(ge=-100_000)
    hp_max: int = Field(ge=1, le=100_000)
    ac: int = Field(ge=-1_000, le=1_000)
    stats: Stats
    equipment: list[Annotated[str, AfterValidator(check_name)]]
    gold: int = Field(ge=0, le=10**12)
    char_id: str | None = None

    _names = field_validator("name", "char_class")(check_name)

    @field_validator("char_id")
    @classmethod
    def _char_id_is_a_uid(cls, char_id: str | None) -> str | None:
        return None if char_id is None else ids.check_uid(char_id, where="char_id", category="PC")

    @model_validator(mode="after")
    def _hp_within_max(self) -> Self:
        if self.hp > self.hp_max:
            raise ValueError(f"hp: {self.hp} is above hp_max, {self.hp_max}")
        return self

    @property
    def uid(self) -> str:
        """The uid of the character: `char_id`, or else one made from the name."""
        return self.char_id or ids.mint("PC", self.name)


class CharacterFacts(BaseModel):
    """Facts that a character knows about itself from one session to the next."""

    model_config = ConfigDict(extra="forbid")

    name: str
    character_class: str
    key_traits: list[str] = Field(default_factory=list)
    relationships: dict[str, str] = Field(default_factory=dict)
    notable_events: list[str] = Field(default_factory=list)


class AgentMemory(BaseModel):
    """The memory of one agent: a summary of the past, and recent entries, the newest last."""

    model_config = ConfigDict(validate_assignment=True, extra="forbid")

    long_term_summary: str = ""
    short_term_buffer: list[str] = Field(default_factory=list)
    token_limit: int = Field(default=8000, ge=1)
    character_facts: CharacterFacts | None = None


class GameState(TypedDict):
    """The state that a turn works on: each agent's memory by its name, including `dm`.

    A state made by a campaign also has the campaign, each agent's uid, and the ids of the events in each
    buffer. `prompts` has the rest of an agent's prompt, beside its memory; `summarizer` makes summaries.
    """

    agent_memories: dict[str, AgentMemory]
    summarization_in_progress: NotRequired[bool]
    campaign: NotRequired[Any]
    agents: NotRequired[dict[str, str]]
    buffer_ids: NotRequired[dict[str, tuple[str, ...]]]
    prompts: NotRequired[dict[str, str]]
    summarizer: NotRequired[Any]


class MemorySource(StrEnum):
    """The subject of a scoped memory: a place, a person or the world."""

    LOCATION = "location"
    NPC = "npc"
    WORLD = "world"


class MemoryEntry(BaseModel):
    """A scoped memory: the outcome of a visit, of dealings with somebody, or of a step of the story.

    `created_at` is game time, that of the newest message in it; `since_timestamp` is that of the first.
    `since_message_index` is the highest index summarised; only the DM sees it. `memory_id` is the event of
    the memory itself, `sources` are the events that its lines were made from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    created_at: datetime | None = None
    source: MemorySource
    summary: str
    tags: list[str] = Field(default_factory=list)
    location_id: str | None = None
    npc_ids: list[str] = Field(default_factory=list)
    quest_id: str | None = None
    encounter_id: str | None = None
    since_timestamp: datetime | None = None
    since_message_index: int | None = None
    memory_id: str = ""
    session_id: str = ""
    sources: tuple[str, ...] = ()


class Quest(BaseModel):
    """A quest as somebody knows it. `known_by` lists who may read about it; None means everybody."""

    # `extra="forbid"`, because a misspelled `known_by` would tell everybody.
    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: str
    name: Annotated[str, AfterValidator(check_name)] | None = None
    state: str | None = None
    giver: str | None = None
    goal: str | None = None
    certainty: Literal["fact", "belief", "rumor"] | None = None
    known_by: tuple[str, ...] | None = None

    @field_validator("uid")
    @classmethod
    def _is_a_quest(cls, uid: str) -> str:
        return ids.check_uid(uid, where="uid of a quest", category="QST")

    @field_validator("giver")
    @classmethod
    def _is_somebody(cls, giver: str | None) -> str | None:
        return None if giver is None else ids.check_uid(giver, where="giver of a quest")

    @field_validator("known_by")
    @classmethod
    def _are_readers(cls, known_by: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for reader in known_by or ():
            ids.check_uid(reader, where="known_by of a quest")
        return known_by
