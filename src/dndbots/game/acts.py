"""Acts: the words and the one deed of a character in its turn.

An act changes nothing by itself. The referee carries out deeds that the rules decide; deeds that the world
answers wait for the DM.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.events import EventId, Label, Uid

LONGEST_WORDS: Final = 4_000

Words = Annotated[str, StringConstraints(max_length=LONGEST_WORDS)]


class Verb(StrEnum):
    """The deed of an act, beside its words."""

    SAY = "say"
    WHISPER = "whisper"
    TELL = "tell"
    GO = "go"
    STAY = "stay"
    SEARCH = "search"
    LOOK = "look"
    TAKE = "take"
    OPEN = "open"
    ASK = "ask"
    GIVE = "give"
    ACCEPT = "accept"
    REFUSE = "refuse"
    REST = "rest"
    ATTACK = "attack"
    CAST = "cast"
    BIND = "bind"
    FLEE = "flee"
    PARLEY = "parley"


# Deeds that the DM answers in its next turn.
FOR_THE_DM: Final = frozenset(
    (Verb.SEARCH, Verb.LOOK, Verb.TAKE, Verb.OPEN, Verb.ASK, Verb.ACCEPT, Verb.REFUSE, Verb.REST, Verb.PARLEY)
)
# Deeds that the referee's dice decide at once.
RULED: Final = frozenset((Verb.ATTACK, Verb.CAST, Verb.BIND, Verb.FLEE))
# Deeds that move characters together at the end of the round.
MOVES: Final = frozenset((Verb.GO, Verb.STAY))


class Act(BaseModel):
    """The turn of a player. `words` is all that the character says and how it acts, in the player's words.

    `target` is the uid of a person or foe. `what` is the label of a way (go, open), the key of a thing (look,
    take, open), a topic (ask), a spell (cast), an item (give) or a quest (accept, refuse). `tells` are the
    events that the words retell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    verb: Verb = Verb.SAY
    words: Words = ""
    target: Uid | None = None
    what: Label | None = None
    tells: tuple[EventId, ...] = Field(default=(), max_length=4)
