"""What goes between the log and those who read facts out of it: turns, who is known, and proposals.

An extractor sees turns and names, never a uid, and proposes updates. The engine checks each of them
against the turn that it cites; nothing here does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dndbots.events import EventId

Kind = Literal["character", "npc", "environment", "quest", "ability", "item", "faction"]
Role = Literal["dm", "pc", "npc"]
Sure = Literal["fact", "rumor"]

# The kinds of entities that each kind of update may be about, by the category of their uids.
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
LONGEST_VALUE: Final = 200

# What ties people to each other; one may have several of each.
KIN: Final = (
    "brother", "sister", "twin", "father", "mother", "son", "daughter", "husband", "wife", "uncle", "aunt",
    "nephew", "niece", "cousin", "grandfather", "grandmother", "friend", "rival", "enemy", "ally", "lover",
    "mentor", "apprentice", "serves", "employer",
)  # fmt: skip
_PERSON: Final[Mapping[str, tuple[str, ...]]] = {
    "role": (),
    "race": (),
    "description": (),
    "age": (),
    "wants": (),
    "fears": (),
    "promise": (),
    "attitude": (),
    "status": (),
    "place": ("LOC",),
    "home": ("LOC",),
    "faction": ("FAC",),
    **dict.fromkeys(KIN, PEOPLE),
}
# Ties of which somebody may have several: another one does not end the first.
MANY: Final = frozenset(KIN) - {"twin", "father", "mother", "husband", "wife", "serves", "employer"}
# The fields of each kind. Those with categories are links: their value is the name of an entity.
FIELDS: Final[Mapping[Kind, Mapping[str, tuple[str, ...]]]] = {
    "character": _PERSON,
    "npc": _PERSON,
    "environment": {
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
    """One thing that was said at the table, as an extractor reads it. `speaker` is a name, `DM` the DM's."""

    id: str
    speaker: str
    role: Role
    text: str
    session: str = ""
    place: str | None = None


class Update(BaseModel):
    """One proposal: what a turn says of somebody or something that it names.

    `name` is what the turn calls them, or the speaker's name where the turn says "I". `value` is in the
    turn's own words; in a link it is a name from the turn. `said_by` is who says so, where the turn
    quotes somebody; `sure` is "rumor" where the turn itself passes it on as one. `ended` says that it is
    so no longer.
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


class Known(NamedTuple):
    """Who and what is known by which name: the category of each, by name as it is written."""

    names: Mapping[str, str]


class Extractor(Protocol):
    """Reads facts out of turns. `waits` says that it asks somebody else, and costs no time of ours.

    One that reads each turn on its own may have `turn_by_turn = True`: it then gets them one by one, with all
    names that somebody who heard it knows, instead of those that all who heard it know together.
    """

    waits: bool

    def extract(self, turns: Sequence[Turn], known: Known) -> Iterable[Update]: ...
