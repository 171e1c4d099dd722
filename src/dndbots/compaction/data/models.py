"""Campaign data: the state of a campaign as values that people and other programs can read.

It is the DM's view of the log: folding the same log again gives the same bytes.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dndbots.canon.entities import CertaintyName

# The number of earlier values kept with a fact; the log has all of them.
MOST_EARLIER: Final = 5


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Earlier(_Value):
    """An earlier value of a fact, and the event since which it held."""

    value: JsonValue
    since: str


class StatedValue(_Value):
    """The value of a fact, the event since which it holds, and its earlier values, the newest first."""

    value: JsonValue
    since: str
    certainty: CertaintyName = "fact"
    earlier: tuple[Earlier, ...] = ()


class Believed(_Value):
    """A value that somebody was told and believes, true or not. `by` are uids."""

    key: str
    value: JsonValue
    by: tuple[str, ...]
    said_by: str | None = None
    since: str
    certainty: CertaintyName = "belief"


class Related(_Value):
    """A relation to another entity by a DCML operator, and the event since which it holds."""

    op: str
    object: str
    since: str


class Info(_Value):
    """All that is known of an entity. `facts` are by key; the value of a link is a list of uids."""

    uid: str
    name: str
    aliases: tuple[str, ...] = ()
    facts: Mapping[str, StatedValue] = Field(default_factory=dict)
    relations: tuple[Related, ...] = ()
    believed: tuple[Believed, ...] = ()


class _Creature(Info):
    alive: bool = True
    location: str | None = None
    conditions: tuple[str, ...] = ()
    inventory: Mapping[str, int] = Field(default_factory=dict)
    abilities: tuple[str, ...] = ()


class CharacterInfo(_Creature):
    """A player character."""


class NPCInfo(_Creature):
    """A person who is no player character, or a monster."""


class EnvironmentInfo(Info):
    """A place."""

    danger: str | None = None


class QuestInfo(Info):
    """A quest with its state and objectives."""

    state: str | None = None
    objectives: Mapping[str, JsonValue] = Field(default_factory=dict)


class ItemInfo(Info):
    """A thing with a name."""


class FactionInfo(Info):
    """A group of people with a name."""


class SceneInfo(_Value):
    """A place and a set of people, until either changes. `first` and `last` are event ids."""

    scene_id: str
    session: str
    location: str | None = None
    participants: tuple[str, ...] = ()
    first: str
    last: str
    turns: int
    began: str | None = None
    seconds: float | None = None
    outcomes: tuple[str, ...] = ()
    open: bool = False


class NarrativeInfo(_Value):
    """A piece of the story in prose, with its kind, its scene and its source events."""

    narrative_id: str
    kind: str
    text: str
    scene_id: str | None = None
    sources: tuple[str, ...] = ()


class CampaignData(_Value):
    """The whole campaign data, by uid or id. `cursor` is the last event that was compacted."""

    characters: Mapping[str, CharacterInfo] = Field(default_factory=dict)
    npcs: Mapping[str, NPCInfo] = Field(default_factory=dict)
    environments: Mapping[str, EnvironmentInfo] = Field(default_factory=dict)
    quests: Mapping[str, QuestInfo] = Field(default_factory=dict)
    items: Mapping[str, ItemInfo] = Field(default_factory=dict)
    factions: Mapping[str, FactionInfo] = Field(default_factory=dict)
    scenes: Mapping[str, SceneInfo] = Field(default_factory=dict)
    narratives: Mapping[str, NarrativeInfo] = Field(default_factory=dict)
    sessions: tuple[str, ...] = ()
    cursor: str | None = None

    def entities(self) -> Mapping[str, Info]:
        """Return all entities by uid."""
        found: dict[str, Info] = {}
        for shelf in SHELVES.values():
            found |= getattr(self, shelf)
        return found


# The shelf of each category, and the model of each shelf.
SHELVES: Final[Mapping[str, str]] = {
    "PC": "characters",
    "NPC": "npcs",
    "MON": "npcs",
    "LOC": "environments",
    "QST": "quests",
    "ITEM": "items",
    "FAC": "factions",
}
INFOS: Final[Mapping[str, type[Info]]] = {
    "characters": CharacterInfo,
    "npcs": NPCInfo,
    "environments": EnvironmentInfo,
    "quests": QuestInfo,
    "items": ItemInfo,
    "factions": FactionInfo,
}


def new_info(category: str, uid: str, name: str, **more: Any) -> Info:
    """Return the info of a new entity."""
    return INFOS[SHELVES[category]](uid=uid, name=name, **more)
