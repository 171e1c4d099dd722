"""Characters, and the state that agents carry: values that check themselves and round-trip as JSON.

`AgentMemory` and `GameState` are mutable on purpose: they are working state, not records.
"""

import re
from typing import Annotated, Literal, NotRequired, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from dndbots import ids
from dndbots.errors import InvalidName

Score = Annotated[int, Field(ge=1, le=30)]
# Players choose names, and names stand in prompts: no control characters, no new lines.
_LONGEST_NAME = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def check_name(name: str) -> str:
    if not name.strip():
        raise InvalidName(name)
    if len(name) > _LONGEST_NAME:
        raise InvalidName(name, reason=f"it has more than {_LONGEST_NAME} characters")
    if _CONTROL.search(name):
        raise InvalidName(name, reason="it holds control characters")
    return name


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
    level: int = Field(ge=1)
    hp: int
    hp_max: int = Field(ge=1)
    ac: int
    stats: Stats
    equipment: list[str]
    gold: int = Field(ge=0)
    char_id: str | None = None

    _names = field_validator("name", "char_class")(check_name)

    @field_validator("char_id")
    @classmethod
    def _char_id_is_a_uid(cls, char_id: str | None) -> str | None:
        return None if char_id is None else ids.check_uid(char_id, where="char_id")

    @model_validator(mode="after")
    def _hp_within_max(self) -> Self:
        if self.hp > self.hp_max:
            raise ValueError(f"hp: {self.hp} is above hp_max, {self.hp_max}")
        return self

    @property
    def uid(self) -> str:
        """The id the character goes by everywhere: its own, or the one that its name mints."""
        return self.char_id or ids.mint("PC", self.name)


class CharacterFacts(BaseModel):
    """What a character knows about itself from one session to the next."""

    name: str
    character_class: str
    key_traits: list[str] = Field(default_factory=list)
    relationships: dict[str, str] = Field(default_factory=dict)
    notable_events: list[str] = Field(default_factory=list)


class AgentMemory(BaseModel):
    """What one agent carries: a summary of the past, and recent entries, the newest last."""

    model_config = ConfigDict(validate_assignment=True)

    long_term_summary: str = ""
    short_term_buffer: list[str] = Field(default_factory=list)
    token_limit: int = Field(default=8000, ge=1)
    character_facts: CharacterFacts | None = None


class GameState(TypedDict):
    """The state that a turn works on: each agent's memory by its name, `dm` among them."""

    agent_memories: dict[str, AgentMemory]
    summarization_in_progress: NotRequired[bool]


class Quest(BaseModel):
    """A quest as somebody knows it. `known_by` is who may read of it; None is everybody."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    uid: str
    name: str | None = None
    state: str | None = None
    giver: str | None = None
    goal: str | None = None
    certainty: Literal["fact", "belief", "rumor"] | None = None
    known_by: tuple[str, ...] | None = None

    @field_validator("uid", "giver")
    @classmethod
    def _is_a_uid(cls, uid: str | None, info: ValidationInfo) -> str | None:
        return None if uid is None else ids.check_uid(uid, where=f"quest {info.field_name}")
