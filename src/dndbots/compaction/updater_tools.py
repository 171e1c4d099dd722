"""The updater tools: typed functions on the shared state, for code and for models.

Each field of a call is one update that cites the turn. A call is accepted as a whole, or not at all.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, Field, create_model

from dndbots.compaction.checks import Accepted
from dndbots.compaction.data.models import NarrativeInfo
from dndbots.compaction.scenes import LONGEST_NARRATIVE, MOST_SOURCES, NarrativeKind
from dndbots.compaction.shared_state import SharedStateManager
from dndbots.errors import InvalidSetting, UpdateRefused
from dndbots.extraction.port import FIELDS, LONGEST_VALUE, Kind, Sure
from dndbots.ids import short

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class ToolClaim(TypedDict, total=False):
    """The source, the certainty, and whether the facts ended."""

    said_by: str | None
    sure: Sure
    ended: bool


class PersonFields(ToolClaim, total=False):
    """The fields of a person. `alias` is another name, `item` a thing. From `place` on, it is a name."""

    alias: str
    role: str
    race: str
    description: str
    age: str
    item: str
    wants: str
    fears: str
    promise: str
    attitude: str
    status: str
    place: str
    home: str
    faction: str
    brother: str
    sister: str
    twin: str
    father: str
    mother: str
    son: str
    daughter: str
    husband: str
    wife: str
    uncle: str
    aunt: str
    nephew: str
    niece: str
    cousin: str
    grandfather: str
    grandmother: str
    friend: str
    rival: str
    enemy: str
    ally: str
    lover: str
    mentor: str
    apprentice: str
    serves: str
    employer: str


class EnvironmentFields(ToolClaim, total=False):
    """The fields of a place. `alias` is another name; `part_of` and `ruler` are names of others."""

    alias: str
    kind: str
    description: str
    status: str
    known_for: str
    part_of: str
    ruler: str


class QuestFields(ToolClaim, total=False):
    """The fields of a quest. `giver` and `place` are names."""

    goal: str
    reward: str
    deadline: str
    giver: str
    place: str


class AbilityFields(ToolClaim, total=False):
    """The field of an ability."""

    ability: str


class ItemFields(ToolClaim, total=False):
    """The fields of a thing. `holder`, `maker` and `place` are names."""

    description: str
    power: str
    status: str
    holder: str
    maker: str
    place: str


def character_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[PersonFields]
) -> list[Accepted]:
    """Apply what a turn says of a player character; return the accepted updates."""
    return _update(state, "character", name, turn, fields)


def npc_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[PersonFields]
) -> list[Accepted]:
    """Apply what a turn says of a person who is no player character, or of a monster."""
    return _update(state, "npc", name, turn, fields)


def environment_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[EnvironmentFields]
) -> list[Accepted]:
    """Apply what a turn says of a place."""
    return _update(state, "environment", name, turn, fields)


def quest_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[QuestFields]
) -> list[Accepted]:
    """Apply what a turn says of a quest."""
    return _update(state, "quest", name, turn, fields)


def ability_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[AbilityFields]
) -> list[Accepted]:
    """Apply what a turn says that somebody can do."""
    return _update(state, "ability", name, turn, fields)


def item_updater_tool(
    state: SharedStateManager, *, name: str, turn: str, **fields: Unpack[ItemFields]
) -> list[Accepted]:
    """Apply what a turn says of a thing with a name."""
    return _update(state, "item", name, turn, fields)


def scene_narrative_updater_tool(
    state: SharedStateManager, *, kind: NarrativeKind, text: str, turns: Sequence[str]
) -> NarrativeInfo:
    """Add a narrative of a few turns, in a sentence or two with their words; return it with its id."""
    return state.tell(kind, text, turns)


def langchain_tools(state: SharedStateManager) -> "list[BaseTool]":
    """Return the seven tools as LangChain tools. A refused call answers with one line that says why."""
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as exc:
        raise InvalidSetting(
            "langchain_tools", "langchain-core", reason="is not installed; pip install langchain-core"
        ) from exc
    tools: list[BaseTool] = [
        StructuredTool.from_function(
            func=partial(_answer, state, call),
            name=call.__name__,
            description=f"{_DESCRIPTIONS[call.__name__]} {_ADVICE}",
            args_schema=schema,
            handle_validation_error=_refusal,
        )
        for call, schema in _schemas().items()
    ]
    return tools


# The texts that models read.
_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "character_updater_tool": "What a turn says of a player character.",
    "npc_updater_tool": "What a turn says of anybody who is no player character, monsters too.",
    "environment_updater_tool": "What a turn says of a place.",
    "quest_updater_tool": "What a turn says of a quest.",
    "ability_updater_tool": "What a turn says that somebody can do.",
    "item_updater_tool": "What a turn says of a thing that has a name.",
    "scene_narrative_updater_tool": (
        "What happened in a few turns, told in a sentence or two with their words."
    ),
}
_ADVICE: Final = "Give only what the turn says, in its own words, and the names that it uses; never an id."
_CLAIM: Final = ("said_by", "sure", "ended")
_Text = Annotated[str, Field(min_length=1, max_length=LONGEST_VALUE)]
_TurnId = Annotated[str, Field(min_length=1, max_length=500, description="the turn that says so")]


def _update(
    state: SharedStateManager, kind: Kind, name: str, turn: str, fields: Mapping[str, Any]
) -> list[Accepted]:
    given = {key: value for key, value in fields.items() if key not in _CLAIM and value is not None}
    claim = {key: fields[key] for key in _CLAIM if key in fields}
    if not given:
        raise UpdateRefused(reason="no field is given; give at least one", rule="shape")
    with state.batch():
        return [
            state.apply({"kind": kind, "name": name, "field": key, "value": value, "turn": turn, **claim})
            for key, value in given.items()
        ]


class _NarrativeArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: NarrativeKind
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NARRATIVE)]
    turns: Annotated[list[_TurnId], Field(min_length=1, max_length=MOST_SOURCES)]


def _schemas() -> dict[Any, type[BaseModel]]:
    updaters: dict[Kind, Any] = {
        "character": character_updater_tool,
        "npc": npc_updater_tool,
        "environment": environment_updater_tool,
        "quest": quest_updater_tool,
        "ability": ability_updater_tool,
        "item": item_updater_tool,
    }
    schemas = {call: _schema(kind) for kind, call in updaters.items()}
    return {**schemas, scene_narrative_updater_tool: _NarrativeArgs}


def _schema(kind: Kind) -> type[BaseModel]:
    fields: dict[str, Any] = {"name": (_Text, ...), "turn": (_TurnId, ...)}
    for key, categories in FIELDS[kind].items():
        about = "a name that the turn uses" if categories else "in the turn's words"
        fields[key] = (_Text | None, Field(default=None, description=about))
    fields["said_by"] = (_Text | None, Field(default=None, description="who says so, if the DM quotes them"))
    fields["sure"] = (Sure, "fact")
    fields["ended"] = (bool, Field(default=False, description="it is so no longer"))
    return create_model(f"{kind.capitalize()}Args", __config__=ConfigDict(extra="forbid"), **fields)


def _answer(state: SharedStateManager, call: Any, **given: Any) -> str:
    try:
        kept = call(state, **given)
    except UpdateRefused as exc:
        return f"refused: {exc.reason}"
    if isinstance(kept, NarrativeInfo):
        return "kept"
    return f"kept: {', '.join(accepted.update.field for accepted in kept)} of {kept[0].subject.name}"


def _refusal(exc: Any) -> str:
    """Return which argument is wrong and why, without its value, which may be anything."""
    first = exc.errors()[0]
    return f"refused: {short('.'.join(map(str, first['loc'])), 40)}: {short(first['msg'])}"
