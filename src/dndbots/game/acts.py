"""Acts: the words and the one deed of a character in its turn.

An act changes nothing by itself. The referee carries out deeds that the rules decide; deeds that the world
answers wait for the DM.
"""

from enum import StrEnum
from typing import Annotated, Final, Literal

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
    USE = "use"
    BUY = "buy"
    SELL = "sell"
    TRY = "try"


# Deeds that the DM answers in its next turn.
FOR_THE_DM: Final = frozenset(
    (Verb.SEARCH, Verb.LOOK, Verb.TAKE, Verb.OPEN, Verb.ASK, Verb.ACCEPT, Verb.REFUSE, Verb.REST, Verb.PARLEY)
) | {Verb.BUY, Verb.SELL}
# Deeds that the referee's dice decide at once.
RULED: Final = frozenset((Verb.ATTACK, Verb.CAST, Verb.BIND, Verb.FLEE, Verb.TRY, Verb.USE))
# Deeds that move characters together at the end of the round.
MOVES: Final = frozenset((Verb.GO, Verb.STAY))


class Attempt(BaseModel):
    """A try against the odds: the ability tested, how hard it is, and what comes of success.

    `none` needs no dice. With `noise`, everybody near hears it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    approach: Label
    ability: Literal["str", "dex", "con", "int", "wis", "cha"]
    level: Literal["none", "easy", "fair", "hard", "heroic"] = "fair"
    effect: Label | None = None
    noise: bool = False


class Act(BaseModel):
    """The turn of a player. `words` is all that the character says and how it acts, in the player's words.

    `target` is the uid of a person or foe. `what` is the label of a way (go, open), the key of a thing (look,
    take, open), a topic (ask), a spell (cast), an item (give, use, sell, or the weapon of an attack), a ware
    (buy), what is tried (try) or a quest (accept, refuse). `gold` is how many pieces are given. `tells` are
    the events that the words retell, `phrases` the alternatives of the phrase book that made them. `then` is
    a second deed of the turn. An attempt without `attempt` is for the DM to judge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    verb: Verb = Verb.SAY
    words: Words = ""
    target: Uid | None = None
    what: Label | None = None
    tells: tuple[EventId, ...] = Field(default=(), max_length=4)
    gold: int = Field(default=0, ge=0, le=1_000_000)
    attempt: Attempt | None = None
    phrases: tuple[Label, ...] = Field(default=(), max_length=12)
    then: "Act | None" = None

    @property
    def awaits_dm(self) -> bool:
        """Check for a deed that the DM answers in its next turn; words to a person are one."""
        if self.verb is Verb.TRY:
            return self.attempt is None
        is_to_person = self.verb is Verb.TELL and (self.target or "").startswith("npc_")
        return is_to_person or self.verb in FOR_THE_DM

    @property
    def awaits_dice(self) -> bool:
        """Check for a deed that the referee decides at once."""
        return self.verb in RULED and not self.awaits_dm
