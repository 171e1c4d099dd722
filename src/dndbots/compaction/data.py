"""Campaign data: what a campaign has come to, as values that people and other programs can read.

It is the DM's, and a view of the log: folded again from the same log, it is the same byte for byte.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dndbots.canon.values import CertaintyName

# How many earlier values of a fact are kept with it; the log has all of them.
MOST_EARLIER: Final = 5


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Earlier(_Value):
    """What was so before, and since which event."""

    value: JsonValue
    since: str


class Stated(_Value):
    """What is so, since which event, and what was so before, the newest first."""

    value: JsonValue
    since: str
    certainty: CertaintyName = "fact"
    earlier: tuple[Earlier, ...] = ()


class Believed(_Value):
    """What somebody was told and holds true, whether it is so or not. `by` are uids."""

    key: str
    value: JsonValue
    by: tuple[str, ...]
    said_by: str | None = None
    since: str
    certainty: CertaintyName = "belief"


class Related(_Value):
    """What something has to do with something else, in the operators of DCML, since which event."""

    op: str
    object: str
    since: str


class Info(_Value):
    """What is known of an entity. `facts` are what is so, by key; in links the value is a list of uids."""

    uid: str
    name: str
    aliases: tuple[str, ...] = ()
    facts: Mapping[str, Stated] = Field(default_factory=dict)
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
    """Somebody else: a person, or a monster."""


class EnvironmentInfo(Info):
    """A place."""

    danger: str | None = None


class QuestInfo(Info):
    """A quest, how it stands, and its objectives."""

    state: str | None = None
    objectives: Mapping[str, JsonValue] = Field(default_factory=dict)


class ItemInfo(Info):
    """A thing that has a name."""


class FactionInfo(Info):
    """A group of people that has a name."""


class SceneInfo(_Value):
    """A place and a set of people, until either changes. `first` and `last` are events."""

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
    """A piece of the story as it is told: of a scene, of what kind, and from which events."""

    narrative_id: str
    kind: str
    text: str
    scene_id: str | None = None
    sources: tuple[str, ...] = ()


class CampaignData(_Value):
    """All of it, by uid or id. `cursor` is the last event that was compacted."""

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
        """Everybody and everything, by uid."""
        found: dict[str, Info] = {}
        for shelf in SHELVES.values():
            found |= getattr(self, shelf)
        return found


# Where the entities of each category are kept, and as what.
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
    """The first that is known of an entity."""
    return INFOS[SHELVES[category]](uid=uid, name=name, **more)
