"""The setup of a game: the party, the cast that plays it, and its first events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dndbots.errors import InvalidSetting, NoSuchPlayer
from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.adventures.library import first_chapter
from dndbots.game.agents import Cast, DungeonMaster, Player
from dndbots.game.ledger import Cost, unpriced
from dndbots.game.state.game_notes import GOALS, HOUSE, MOST_SEATS, SETUP, TEMPERS, GameNote
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question, Role, Voice
from dndbots.models import Character
from dndbots.rules.characters.classes import find_class
from dndbots.rules.characters.creation import ready_made
from dndbots.text.labels import check_new_name

# Returns the voice for a role; None if the role has none.
Voices = Callable[[Role], Voice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedCharacter:
    """A character of the party, with the temper and the goal that the house plays it by."""

    character: Character
    temper: str
    goal: str


def seat_party(characters: Sequence[Character] | None, *, seats: int, seed: int) -> list[SeatedCharacter]:
    """Return the party: the given characters or ready-made ones, each with a temper and a goal.

    A class that the rules do not have raises `UnknownClass`.
    """
    if not 1 <= seats <= MOST_SEATS:
        raise InvalidSetting("seats", seats, reason=f"must be a number from 1 to {MOST_SEATS}")
    rng = seeded_rng(seed, "seats")
    if characters is None:
        ready = list(ready_made())
        if seats > len(ready):
            raise InvalidSetting(
                "seats",
                seats,
                reason=f"is more than the {len(ready)} ready-made characters; give your own or fewer seats",
            )
        characters = rng.sample(ready, seats)
    for sheet in characters:
        check_new_name(sheet.name)
        find_class(sheet.char_class)
    uids = [sheet.uid for sheet in characters]
    for uid in uids:
        if uids.count(uid) > 1:
            raise InvalidSetting(
                "characters", uid, reason="is used twice; give one of them another name or char_id"
            )
    tempers, goals = rng.sample(TEMPERS, len(TEMPERS)), rng.sample(GOALS, len(GOALS))
    return [
        SeatedCharacter(character=sheet, temper=tempers[n % len(tempers)], goal=goals[n % len(goals)])
        for n, sheet in enumerate(characters)
    ]


def cast_from_note(note: GameNote) -> Cast:
    """Return the cast that a game was begun with, for games without models."""
    return build_cast(note.dm, note.players)


def build_cast(
    dm: str, players: str, voices: Voices | None = None, *, npcs: bool = True, cost: Cost = unpriced
) -> Cast:
    """Return the cast by names: the house, or models whose voices are opened when they first speak.

    With a model as DM, NPCs speak through a model as well, unless `npcs` is False.
    """
    from dndbots.game.bots.house_player import HousePlayer
    from dndbots.game.models.model_dm import ModelDM
    from dndbots.game.models.model_player import ModelPlayer
    from dndbots.game.world.house_dm import HouseDM

    master: DungeonMaster = HouseDM()
    if dm != HOUSE:
        people = _LazyVoice(dm, Role.NPC, voices) if npcs else None
        master = ModelDM(_LazyVoice(dm, Role.DM, voices), npcs=people)
    player: Player = (
        HousePlayer() if players == HOUSE else ModelPlayer(_LazyVoice(players, Role.PLAYER, voices))
    )
    return Cast(dm=master, player=player, cost=cost)


class _LazyVoice:
    """A voice that is opened with its first question."""

    def __init__(self, model: str, role: Role, voices: Voices | None) -> None:
        if voices is None:
            reason = f"no voice was given for it; {HOUSE!r} needs no model"
            raise NoSuchPlayer(model, reason=reason)
        self._model, self._role, self._voices = model, role, voices

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        voice = self._voices(self._role)
        if voice is None:
            raise NoSuchPlayer(self._model, reason=f"there is no voice for the role {self._role.value!r}")
        return voice.ask(question, hear=hear)


def opening_events(note: GameNote, party: Sequence[SeatedCharacter]) -> list[GameEvent]:
    """Return the first events of a game: the session opens, and the party sits down at the first place.

    The game's settings go into an event for the DM alone.
    """
    first, tables = first_chapter(note.module, note.seed), {DM: Table()}
    rng = seeded_rng(note.seed, SETUP)
    step = Step(SETUP, seed=note.seed, round_=0, session="s01", tables=tables, rng=rng)
    people = [member.character.uid for member in party]
    start = Atlas(first, 0, uids=note.uids).start
    step.add(
        EventType.SESSION_START,
        first.title,
        witnesses=people,
        names={start: first.places[first.start].name},
    )
    step.add(EventType.SYSTEM, "A game begins.", witnesses=[], play={"game": note.model_dump()})
    for seat, member in enumerate(party, 1):
        text = (
            f"{member.character.name}, level {member.character.level} {member.character.char_class}, is here."
        )
        referee.seat_character(
            step,
            member.character,
            seat=seat,
            temper=member.temper,
            goal=member.goal,
            place=start,
            text=text,
            witnesses=people,
        )
    return step.events
