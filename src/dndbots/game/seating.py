"""Who sits down at a game: the party, who plays it, and the adventure that it meets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.errors import InvalidSetting, NoSuchPlayer
from dndbots.game.adventures import Module, chapter, named
from dndbots.game.agents import DungeonMaster, Player
from dndbots.game.chance import chance
from dndbots.game.played import GameNote
from dndbots.models import Character
from dndbots.rules.creation import ready_made

ENDLESS: Final = "endless"
HOUSE: Final = "house"
TEMPERS: Final = ("brave", "careful", "curious", "greedy", "kind", "wry")
GOALS: Final = ("treasure", "glory", "knowledge", "justice", "company")
MOST_SEATS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    character: Character
    temper: str
    goal: str


def seated(characters: Sequence[Character] | None, *, seats: int, seed: int) -> list[Seated]:
    """The party: the characters that were given, or ready-made ones, each with a temper and a goal."""
    if not 1 <= seats <= MOST_SEATS:
        raise InvalidSetting("seats", seats, reason=f"is not a number from 1 to {MOST_SEATS}")
    rng = chance(seed, "seats")
    if characters is None:
        ready = list(ready_made())
        if seats > len(ready):
            raise InvalidSetting(
                "seats", seats, reason=f"is more than the {len(ready)} ready-made characters"
            )
        characters = rng.sample(ready, seats)
    uids = [one.uid for one in characters]
    for uid in uids:
        if uids.count(uid) > 1:
            raise InvalidSetting("characters", uid, reason="is there twice; give one another name or char_id")
    tempers, goals = rng.sample(TEMPERS, len(TEMPERS)), rng.sample(GOALS, len(GOALS))
    return [
        Seated(character=one, temper=tempers[n % len(tempers)], goal=goals[n % len(goals)])
        for n, one in enumerate(characters)
    ]


def agents_of(note: GameNote) -> tuple[DungeonMaster, Player]:
    """Who plays: the house needs no model."""
    for model in (note.dm, note.players):
        if model != HOUSE:
            raise NoSuchPlayer(model, reason=f"only {HOUSE!r} can be had; it needs no model")
    from dndbots.game.house.dm import HouseDM
    from dndbots.game.house.players import HousePlayer

    return HouseDM(), HousePlayer()


def first_of(note: GameNote) -> Module:
    """The adventure as it begins."""
    return chapter(note.seed, 0) if note.module == ENDLESS else named(note.module)


def module_of(note: GameNote, number: int) -> Module | None:
    """A part of the adventure, by its number; None where there is no more."""
    if number == 0:
        return first_of(note)
    return chapter(note.seed, number) if note.module == ENDLESS else None
