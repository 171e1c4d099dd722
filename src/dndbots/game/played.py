"""What a game notes on an event beside what canon understands: enough to go on from the log alone.

It stands under `play` in the metadata, and whoever perceives the event perceives it. So nothing stands
here that those who were there did not learn; what only the DM may know goes into an event of its own.
"""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dndbots.events import EventId, GameEvent, Label, Named, Someone, Uid
from dndbots.game.acts import Act

KEY: Final = "play"
DM_STEP: Final = "dm"
REFEREE: Final = "referee"
MARCH: Final = "march"
SETUP: Final = "setup"


class Sights(BaseModel):
    """What one sees of a place: ways by their labels, things by key with their looks, and who is there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ways: tuple[Label, ...] = ()
    things: dict[Label, Named] = Field(default_factory=dict)
    people: tuple[Uid, ...] = ()
    safe: bool = False
    dark: bool = False


class Foes(BaseModel):
    """A group of foes as everybody sees them; `monster` is their name in the rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    monster: Label
    name: Label
    number: int = Field(ge=1, le=1_000)


class FightNote(BaseModel):
    """A fight that begins: against whom, and who acts in which order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    foes: dict[Uid, Foes]
    order: tuple[Uid, ...]
    id: Label


class GameNote(BaseModel):
    """How a game is played: all that is needed to go on with it.

    `uids` says what the uids of the adventure's people and things are made from. Games that were begun before
    there was a choice have them from the keys of its file, which tell names that nobody has heard.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    module: Named
    dm: Label
    players: Label
    seats: int = Field(ge=1, le=12)
    budget: int = Field(ge=200)
    scenario: str = ""
    uids: Literal["keys", "names"] = "keys"


class Joined(BaseModel):
    """Somebody who takes a seat: how it is played by the house."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: Uid
    seat: int = Field(ge=1, le=12)
    temper: Label = "wry"
    goal: Label = "company"


class Clock(BaseModel):
    """A threat that comes true in a round, unless somebody sees to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Named
    due: int = Field(ge=0)


class Played(BaseModel):
    """The note of one event.

    `step` is whose step of the round it belongs to: `dm`, a character, a group of foes, `referee`, or
    `march`. `resolves` is the act that the dice decided. `beats` are what the adventure has come to. `gist`
    is the event in a few words, for whoever tells of it later; `tells` are the events that were told of.
    `until` says when conditions end by themselves, as a round; `helpless` how many of a group of foes are
    out of the fight. `foe_hp` is what each foe has to begin with, for the DM alone, and `wounds` what each
    of them takes: the group, which of them, counted from the strongest, and how much. `laid` are ways that
    are in no adventure's file, by place, and where they lead; `clocks` run for the DM alone, until they are
    stopped by None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    step: Someone | Label
    act: Act | None = None
    resolves: EventId | None = None
    rolls: tuple[JsonValue, ...] = ()
    beats: tuple[Label, ...] = ()
    sights: Sights | None = None
    way: Label | None = None
    origin: Uid | None = None
    topics: tuple[Label, ...] = ()
    gist: Named | None = None
    tells: tuple[EventId, ...] = ()
    fight: FightNote | None = None
    foe_hp: dict[Uid, tuple[int, ...]] = Field(default_factory=dict)
    wounds: tuple[tuple[Uid, int, int], ...] = ()
    helpless: dict[Uid, int] = Field(default_factory=dict)
    until: dict[Uid, dict[Label, int]] = Field(default_factory=dict)
    ended: Label | None = None
    chapter: int | None = Field(default=None, ge=0)
    minutes: int = Field(default=0, ge=0, le=100_000)
    game: GameNote | None = None
    joined: Joined | None = None
    left: Uid | None = None
    laid: dict[Uid, dict[Label, Uid]] = Field(default_factory=dict)
    clocks: dict[Label, Clock | None] = Field(default_factory=dict)


def played_of(event: GameEvent) -> Played | None:
    """The note of an event; None where it has none, or one that is no such note."""
    note: Any = event.metadata.get(KEY)
    if note is None:
        return None
    try:
        return Played.model_validate(note)
    except ValidationError:
        return None
