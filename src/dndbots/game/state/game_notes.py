"""The game's own notes on events: enough to resume a game from the log alone.

A note stands under `play` in an event's metadata, and all who perceive the event can read it. So it holds
nothing that they did not learn; secrets of the DM go into events of their own.
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

HOUSE: Final = "house"  # the name of a seat that is played without a model
TEMPERS: Final = ("brave", "careful", "curious", "greedy", "kind", "wry")
GOALS: Final = ("treasure", "glory", "knowledge", "justice", "company")
MOST_SEATS: Final = 12


class Sights(BaseModel):
    """The sights of a place: ways by label, things by key with their looks, and the people there.

    `setting` says whether it is under a roof, and in what season and weather.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ways: tuple[Label, ...] = ()
    things: dict[Label, Named] = Field(default_factory=dict)
    people: tuple[Uid, ...] = ()
    safe: bool = False
    dark: bool = False
    setting: tuple[Label, ...] = ()


class FoesNote(BaseModel):
    """A group of foes as everybody sees them; `monster` is their name in the rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    monster: Label
    name: Label
    number: int = Field(ge=1, le=1_000)


class FightNote(BaseModel):
    """The beginning of a fight: the foes, and the order of turns."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    foes: dict[Uid, FoesNote]
    order: tuple[Uid, ...]
    id: Label


class GameNote(BaseModel):
    """The settings of a game: all that is needed to resume it.

    `uids` says what the uids of the adventure's people and things are made from. Older games use the keys of
    its file, which can reveal names that nobody has heard. `earlier_sessions` are those of a story that was
    told elsewhere and is played on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    module: Named
    dm: Label
    players: Label
    seats: int = Field(ge=1, le=MOST_SEATS)
    budget: int = Field(ge=200)
    scenario: str = ""
    uids: Literal["keys", "names"] = "keys"
    earlier_sessions: int = Field(default=0, ge=0)


class SeatNote(BaseModel):
    """A character that takes a seat, with the temper and goal that the house plays it by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: Uid
    seat: int = Field(ge=1, le=MOST_SEATS)
    temper: Label = "wry"
    goal: Label = "company"


class Clock(BaseModel):
    """A threat that comes true in a certain round."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Named
    due: int = Field(ge=0)


class PlotLine(BaseModel):
    """A line of the DM's plot sheet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["front", "secret", "wish", "clue", "act"]
    name: Label
    text: Named


class LeadNote(BaseModel):
    """A deed at a place that the DM hinted at."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: Uid
    act: Act


class PlayNote(BaseModel):
    """The note of one event.

    `step` is the step of the round that it belongs to: `dm`, a character, a group of foes, `referee`, or
    `march`. `resolves` is the act that the dice decided. `beats` mark the progress of the adventure. `gist`
    is the event in a few words, for a later retelling; `tells` are the events that were retold. `until` is
    the round in which conditions end by themselves; `helpless` is how many of a group of foes are out of the
    fight. `foe_hp` are the foes' hit points at the beginning, for the DM alone; `wounds` are the points they
    lose: the group, which foe of it (counted from the strongest), and how many. `laid` are invented ways by
    place, and where they lead. `clocks` run for the DM alone; None stops a clock. `plot` are lines of the
    DM's plot sheet; None settles one. `lead` is what the DM hints at. `phrases` are the alternatives of the
    phrase book that the text was made from, so that they take turns.
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
    joined: SeatNote | None = None
    left: Uid | None = None
    laid: dict[Uid, dict[Label, Uid]] = Field(default_factory=dict)
    clocks: dict[Label, Clock | None] = Field(default_factory=dict)
    plot: dict[Label, PlotLine | None] = Field(default_factory=dict)
    lead: LeadNote | None = None
    phrases: tuple[Label, ...] = ()


def played_of(event: GameEvent) -> PlayNote | None:
    """Return the note of an event; None if it has no valid one."""
    note: Any = event.metadata.get(KEY)
    if note is None:
        return None
    try:
        return PlayNote.model_validate(note)
    except ValidationError:
        return None
