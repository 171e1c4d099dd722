"""What a seat may do in its turn: some words, and at most one deed.

An act changes nothing by itself. The referee carries out what the rules decide; what the world answers
to waits for the DM.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.events import EventId, Label, Uid

LONGEST_WORDS: Final = 4_000

Words = Annotated[str, StringConstraints(max_length=LONGEST_WORDS)]


class Verb(StrEnum):
    """What is done beside talking."""

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


# What the DM answers in its next turn, since only the world knows.
FOR_THE_DM: Final = frozenset(
    (Verb.SEARCH, Verb.LOOK, Verb.TAKE, Verb.OPEN, Verb.ASK, Verb.ACCEPT, Verb.REFUSE, Verb.REST, Verb.PARLEY)
)
# What the referee's dice decide, at once.
RULED: Final = frozenset((Verb.ATTACK, Verb.CAST, Verb.BIND, Verb.FLEE))
# What moves people, together, once everybody in the round has spoken.
MOVES: Final = frozenset((Verb.GO, Verb.STAY))


class Act(BaseModel):
    """One turn of a player. `words` is all that is said and described, in the player's own words.

    `target` is whom it concerns. `what` is the label of a way (go, open), the key of a thing (look, take,
    open), a topic (ask), a spell (cast), an item (give) or a quest (accept, refuse). `tells` are events
    that the words retell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    verb: Verb = Verb.SAY
    words: Words = ""
    target: Uid | None = None
    what: Label | None = None
    tells: tuple[EventId, ...] = Field(default=(), max_length=4)
