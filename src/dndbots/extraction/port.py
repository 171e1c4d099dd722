"""The port between the log and extractors: turns and known names go in, proposed updates come out.

An extractor never sees a uid. `compaction.checks` tests every update against the turn that it cites.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dndbots.events import EventId

Kind = Literal["character", "npc", "environment", "quest", "ability", "item", "faction"]
Role = Literal["dm", "pc", "npc"]
Sure = Literal["fact", "rumor"]

# The categories of entities that each kind of update may be about.
CATEGORIES: Final[Mapping[Kind, tuple[str, ...]]] = {
    "character": ("PC",),
    "npc": ("NPC", "MON"),
    "environment": ("LOC",),
    "quest": ("QST",),
    "ability": ("PC", "NPC", "MON"),
    "item": ("ITEM",),
    "faction": ("FAC",),
}
PEOPLE: Final = ("PC", "NPC", "MON")
# The kinds of which the DM may quote somebody unknown: it is a rumor, and nobody's word.
HEARSAY: Final[frozenset[Kind]] = frozenset(("npc", "environment"))
LONGEST_VALUE: Final = 200
# Turns of one hearer over which names are weighed.
LONGEST_PASSAGE: Final = 80

# Ties between people.
KIN: Final = (
    "brother", "sister", "twin", "father", "mother", "son", "daughter", "husband", "wife", "uncle", "aunt",
    "nephew", "niece", "cousin", "grandfather", "grandmother", "friend", "rival", "enemy", "ally", "lover",
    "mentor", "apprentice", "serves", "employer",
)  # fmt: skip
# Another name for the same entity, or the name itself if a turn only introduces it.
ALIAS: Final = "alias"
_PERSON: Final[Mapping[str, tuple[str, ...]]] = {
    ALIAS: (),
    "role": (),
    "race": (),
    "description": (),
    "age": (),
    "wants": (),
    "fears": (),
    "promise": (),
    "attitude": (),
    "status": (),
    "item": (),
    "place": ("LOC",),
    "home": ("LOC",),
    "faction": ("FAC",),
    **dict.fromkeys(KIN, PEOPLE),
}
# Ties that somebody may have several of: a new one does not end the old one.
MANY: Final = frozenset(KIN) - {"twin", "father", "mother", "husband", "wife", "serves", "employer"}
# The fields of each kind. A field with categories is a link: its value is the name of such an entity.
FIELDS: Final[Mapping[Kind, Mapping[str, tuple[str, ...]]]] = {
    "character": _PERSON,
    "npc": _PERSON,
    "environment": {
        ALIAS: (),
        "kind": (),
        "description": (),
        "status": (),
        "known_for": (),
        "part_of": ("LOC",),
        "ruler": PEOPLE,
    },
    "quest": {
        "goal": (),
        "reward": (),
        "deadline": (),
        "giver": PEOPLE,
        "place": ("LOC",),
    },
    "ability": {"ability": ()},
    "item": {
        "description": (),
        "power": (),
        "status": (),
        "holder": PEOPLE,
        "maker": PEOPLE,
        "place": ("LOC",),
    },
    "faction": {"description": (), "wants": (), "leader": PEOPLE, "place": ("LOC",), "enemy": ("FAC",)},
}


class Turn(NamedTuple):
    """A spoken event as an extractor reads it. `speaker` is a name; the DM's is `DM`."""

    id: str
    speaker: str
    role: Role
    text: str
    session: str = ""
    place: str | None = None


class Update(BaseModel):
    """A proposed fact that a turn states about somebody or something it names.

    `name` is the name that the turn uses, or the speaker's own where the turn says "I". `value` is in the
    turn's own words; for a link it is a name from the turn. `said_by` names the person whom the turn quotes.
    `sure` is "rumor" if the turn itself calls it one. `ended` means that it is no longer so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    name: str = Field(min_length=1, max_length=LONGEST_VALUE)
    field: str = Field(min_length=1, max_length=40)
    value: str = Field(min_length=1, max_length=LONGEST_VALUE)
    turn: EventId
    said_by: str | None = None
    sure: Sure = "fact"
    ended: bool = False


class KnownNames(NamedTuple):
    """The known names, as they are written, with the category of each.

    `likely` are names of a turn that nobody introduced, but which all that was heard shows to be of people or
    places. They are new until an update names them.
    """

    names: Mapping[str, str]
    likely: Mapping[str, str] = MappingProxyType({})


class Extractor(Protocol):
    """Reads facts out of turns. `waits` is true if it waits for a server instead of using the processor.

    An extractor that reads each turn on its own may set `turn_by_turn = True`: it then gets one turn at a
    time, with all names that one hearer knows, instead of only the names that all hearers share. If it also
    has `likely_names(texts)`, it is asked for the likely names of each of a hearer's turns first; the answer
    for a turn may follow only from the turns up to it.
    """

    waits: bool

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> Iterable[Update]: ...
