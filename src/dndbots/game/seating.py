"""Who sits down at a game: the party, who plays it, and the adventure that it meets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.errors import InvalidSetting, NoSuchPlayer
from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.adventures import Module, chapter, named
from dndbots.game.agents import Cast, DungeonMaster, Player
from dndbots.game.chance import chance
from dndbots.game.house.atlas import Atlas
from dndbots.game.ledger import Cost, unpriced
from dndbots.game.played import SETUP, GameNote
from dndbots.game.steps import Step
from dndbots.game.table import Table
from dndbots.ids import DM
from dndbots.llm.asking import Answer, Hear, Question, Role, Voice
from dndbots.models import Character
from dndbots.rules.classes import find_class
from dndbots.rules.creation import ready_made
from dndbots.text.labels import check_new_name

ENDLESS: Final = "endless"
OPEN: Final = "open"  # one place to start from; all else comes about in play
HOUSE: Final = "house"
TEMPERS: Final = ("brave", "careful", "curious", "greedy", "kind", "wry")
GOALS: Final = ("treasure", "glory", "knowledge", "justice", "company")
MOST_SEATS: Final = 12

# Who is asked in a role; None where nobody is.
Voices = Callable[[Role], Voice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    character: Character
    temper: str
    goal: str


def seated(characters: Sequence[Character] | None, *, seats: int, seed: int) -> list[Seated]:
    """The party: the characters that were given, or ready-made ones, each with a temper and a goal.

    `UnknownClass` refuses a character whose class the rules do not have.
    """
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
    for one in characters:
        check_new_name(one.name)
        find_class(one.char_class)
    uids = [one.uid for one in characters]
    for uid in uids:
        if uids.count(uid) > 1:
            raise InvalidSetting("characters", uid, reason="is there twice; give one another name or char_id")
    tempers, goals = rng.sample(TEMPERS, len(TEMPERS)), rng.sample(GOALS, len(GOALS))
    return [
        Seated(character=one, temper=tempers[n % len(tempers)], goal=goals[n % len(goals)])
        for n, one in enumerate(characters)
    ]


def cast_of(note: GameNote) -> Cast:
    """Who plays, by the names that were noted, where nobody gives voices to models."""
    return cast_by(note.dm, note.players)


def cast_by(
    dm: str, players: str, voices: Voices | None = None, *, npcs: bool = True, cost: Cost = unpriced
) -> Cast:
    """Who plays, by name: the house, or a model, whose voice is asked for when it first has to speak.

    With a model for the DM, people speak for themselves, unless `npcs` says otherwise.
    """
    from dndbots.game.house.dm import HouseDM
    from dndbots.game.house.players import HousePlayer
    from dndbots.game.models.dm import ModelDM
    from dndbots.game.models.players import ModelPlayer

    master: DungeonMaster = HouseDM()
    if dm != HOUSE:
        people = _Later(dm, Role.NPC, voices) if npcs else None
        master = ModelDM(_Later(dm, Role.DM, voices), npcs=people)
    player: Player = HousePlayer() if players == HOUSE else ModelPlayer(_Later(players, Role.PLAYER, voices))
    return Cast(dm=master, player=player, cost=cost)


class _Later:
    """A voice that is opened when it is first asked."""

    def __init__(self, model: str, role: Role, voices: Voices | None) -> None:
        if voices is None:
            reason = f"nobody gave it a voice; {HOUSE!r} needs no model"
            raise NoSuchPlayer(model, reason=reason)
        self._model, self._role, self._voices = model, role, voices

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        voice = self._voices(self._role)
        if voice is None:
            raise NoSuchPlayer(self._model, reason=f"there is no voice for the role {self._role.value!r}")
        return voice.ask(question, hear=hear)


def open_module() -> Module:
    """Nothing but a beginning: for a DM who makes up the rest."""
    start = {"name": "the Beginning", "looks": "This is where the story begins.", "safe": True}
    return Module.model_validate(
        {"key": OPEN, "title": "An Open Game", "start": "beginning", "places": {"beginning": start}}
    )


def first_of(note: GameNote) -> Module:
    """The adventure as it begins."""
    if note.module == OPEN:
        return open_module()
    return chapter(note.seed, 0) if note.module == ENDLESS else named(note.module)


def module_of(note: GameNote, number: int) -> Module | None:
    """A part of the adventure, by its number; None where there is no more."""
    if number == 0:
        return first_of(note)
    return chapter(note.seed, number) if note.module == ENDLESS else None


def sit_down(note: GameNote, party: Sequence[Seated]) -> list[GameEvent]:
    """How a game begins: the first session opens, and the party takes its seats where the adventure starts.

    How it is played is for the DM alone to know.
    """
    first, tables = first_of(note), {DM: Table()}
    rng = chance(note.seed, SETUP)
    step = Step(SETUP, seed=note.seed, round_=0, session="s01", tables=tables, rng=rng)
    people = [one.character.uid for one in party]
    start = Atlas(first, 0, uids=note.uids).start
    step.add(
        EventType.SESSION_START,
        first.title,
        witnesses=people,
        names={start: first.places[first.start].name},
    )
    step.add(EventType.SYSTEM, "A game begins.", witnesses=[], play={"game": note.model_dump()})
    for seat, one in enumerate(party, 1):
        text = f"{one.character.name}, level {one.character.level} {one.character.char_class}, is here."
        referee.join(
            step,
            one.character,
            seat=seat,
            temper=one.temper,
            goal=one.goal,
            place=start,
            text=text,
            witnesses=people,
        )
    return step.events
