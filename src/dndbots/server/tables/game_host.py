"""The host of a game: plays its rounds in a thread of its own, and waits for the people in its seats.

Seats without a person are played by the game's own cast. A game in which nobody has to act waits after each
round until somebody lets it go on.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from dndbots.errors import DndbotsError, DuplicateEvent, NothingToRetell, NothingToUndo
from dndbots.events import GameEvent
from dndbots.game.agents import SeatTurn
from dndbots.game.dm.person_dm import PersonDM
from dndbots.game.game import Game
from dndbots.game.input.person_player import PersonPlayer, reason_of
from dndbots.game.live_words import LiveState, LiveWords
from dndbots.game.state.told_lines import told_line
from dndbots.game.world.narration import Screen
from dndbots.ids import DM
from dndbots.server.tables.story import PageLine, page_line

log = logging.getLogger("dndbots.server")

MOST_ROUNDS: Final = 50
_ELSEWHERE: Final = "Somebody else is playing this game. Continue after they stop."
_FAILED: Final = "Something went wrong in this step; nothing of it was recorded. Continue to try it again."


class Phase(StrEnum):
    """The state of a hosted game."""

    IDLE = "idle"  # waits until somebody lets it go on
    PLAYING = "playing"
    WAITING = "waiting"  # for the person in a seat
    HALTED = "halted"  # a step failed
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class GameStatus:
    """The state of a game: its phase, the seat it waits for, and what that person should know.

    `refused` is why the last line was not possible, `told` the result of a DM's command, `drafts` the lines
    of a DM's step that is not recorded yet, `place` the uid of the scene that a DM is asked about.
    """

    phase: Phase
    seat: str | None = None
    refused: str = ""
    told: str = ""
    place: str | None = None
    drafts: tuple[PageLine, ...] = ()
    error: str = ""


class NotYourTurn(DndbotsError):
    """A line for a seat that the game does not wait for."""


class _StepAbandoned(Exception):
    """The DM left before telling anything: the step is played again later."""


class GameHost:
    """Hosts one game. `changed` is called from any thread after every change.

    Implements `PlayerInput` and `DMInput` of `dndbots.game`.
    """

    def __init__(
        self, game: Game, *, people: Iterable[str], changed: Callable[[], None], compact: bool = True
    ) -> None:
        self._game, self._changed, self._compact = game, changed, compact
        self._cast = game.cast
        self._state = threading.Condition()
        self._people = {*people}
        self._lines: list[str] = []
        self._wish: Callable[[], object] | None = None
        self._wish_goes_on = False
        self.problem = ""  # why the last wish could not be met
        self._live: LiveWords | None = None
        self._live_text = ""
        self._stopped = self._was_asked = False
        self._rounds = 1 if self._people else 0
        self._ended = self._last_ended()
        self._told_in: object = None
        self.version = 0
        self.status = GameStatus(phase=Phase.OVER if game.over else Phase.IDLE)
        self._thread: threading.Thread | None = None
        self._seat_people()

    # What people ask for. Any thread may call these.

    @property
    def game(self) -> Game:
        return self._game

    @property
    def people(self) -> frozenset[str]:
        """The seats that people play."""
        return frozenset(self._people)

    def start(self) -> None:
        """Start the thread that plays."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="dndbots-game", daemon=True)
            self._thread.start()

    def stop(self, *, timeout: float = 5.0) -> None:
        """Stop after the current step, and wait for it."""
        with self._state:
            self._stopped = True
            self._state.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)

    def take_seat(self, who: str) -> None:
        """Give a seat to a person: from now on the game waits for them."""
        with self._state:
            self._people.add(who)
            self._rounds = max(self._rounds, 1)
            self._was_asked = True  # a round that is almost over leads to one in which they act
            self._seat_people()
            self._note()

    def leave_seat(self, who: str) -> None:
        """Give a seat back to the game's own cast."""
        with self._state:
            self._people.discard(who)
            self._seat_people()
            self._note()

    def say(self, who: str, line: str) -> None:
        """Hand in a line of the person in a seat. An empty one ends a DM's narration of a scene."""
        with self._state:
            if self.status.phase is not Phase.WAITING or self.status.seat != who or self._lines:
                raise NotYourTurn("It is not your turn. Your text stays in the box.")
            self._lines.append(line)
            self.problem = ""
            self._note()

    def go_on(self, rounds: int = 1) -> None:
        """Let the game play some rounds in which nobody may have to act, also after an error."""
        with self._state:
            self._rounds = max(min(rounds, MOST_ROUNDS), 1)
            if self.status.phase is Phase.HALTED:
                self.status = GameStatus(phase=Phase.IDLE)
            self._note()

    def pause(self) -> None:
        """Let the game wait after the current step."""
        with self._state:
            self._rounds = 0
            self._game.pause()
            self._note()

    def undo(self, who: str) -> None:
        """Take back the last round, or the last one in which a character acted."""
        self._between_steps(lambda: self._take_back(who))

    def retry(self, who: str, wish: str) -> None:
        """Have the last turn of a model that `who` perceived told again, perhaps with a wish."""
        game = self._game
        self._between_steps(
            lambda: game.retry(wish, seen_by=who, watch=self._after_step, hear=self._hear), goes_on=True
        )

    def swipe(self, who: str, by: int) -> None:
        """Put another telling of the last turn in its place."""
        self._between_steps(lambda: self._game.swipe(by, seen_by=who), goes_on=True)

    def edit(self, who: str, text: str) -> None:
        """Replace the text of the last turn."""
        self._between_steps(lambda: self._game.edit(text, seen_by=who), goes_on=True)

    def end_session(self) -> None:
        """End the session of play. The next round begins another one."""
        self._between_steps(self._close_session)

    def stop_answer(self) -> None:
        """Stop the answer of a model that is coming."""
        self._game.stop_answer()

    def live_words(self, viewer: str) -> tuple[str, str]:
        """Return who speaks now and the words that came so far, for those who will perceive them."""
        live = self._live
        if live is None or viewer not in live.viewers:
            return "", ""
        return live.speaker, self._live_text

    def _between_steps(self, wish: Callable[[], object], *, goes_on: bool = False) -> None:
        """Do something in the game's thread while no round is in play."""
        with self._state:
            self._wish, self._wish_goes_on, self.problem = wish, goes_on, ""
            self._game.pause()
            self._note()

    def wait_for_change(self, version: int, *, timeout: float) -> None:
        """Wait until the game waits for somebody again, or came to rest, after a version."""

        def is_settled() -> bool:
            return self.version > version + 1 and self.status.phase is not Phase.PLAYING

        with self._state:
            self._state.wait_for(is_settled, timeout)

    # The lines of people: called by the game, in its thread.

    def ask(self, turn: SeatTurn) -> str | None:
        """Return what the person in a seat types; None if they leave or somebody takes a round back."""
        refused = reason_of(turn) if turn.refused or turn.answer else ""
        return self._read_line(turn.who, GameStatus(phase=Phase.WAITING, seat=turn.who, refused=refused))

    def narrate(self, screen: Screen, place: str, *, refused: str, told: str) -> str | None:
        """Return the next line of a person who is the DM; None when they have no more to tell here."""
        drafts = [told_line(event, screen.table) for event in screen.step.events]
        status = GameStatus(
            phase=Phase.WAITING,
            seat=DM,
            refused=refused,
            told=told,
            place=place,
            drafts=tuple(page_line(line, screen.table) for line in drafts if line is not None),
        )
        line = self._read_line(DM, status)
        if line is None and self._stopped and self._told_in is not screen.step:
            raise _StepAbandoned
        if not line:
            return None
        self._told_in = screen.step
        return line

    def _read_line(self, who: str, status: GameStatus) -> str | None:
        with self._state:
            self._was_asked = True
            self.status, self._lines = status, []
            self._note()
            self._state.wait_for(lambda: self._lines or self._is_interrupted(who))
            line = self._lines.pop() if self._lines else None
            self.status = GameStatus(phase=Phase.PLAYING)
            self._note()
            return line

    def _is_interrupted(self, who: str) -> bool:
        return self._stopped or self._wish is not None or who not in self._people

    # The thread.

    def _run(self) -> None:
        while True:
            with self._state:
                self._rest()
                self._state.wait_for(self._has_work)
                if self._stopped:
                    return
                self.status = GameStatus(phase=Phase.PLAYING)
                self._note()
            try:
                self._work()
            except _StepAbandoned:
                continue
            except DuplicateEvent:
                self._halt(_ELSEWHERE)
            except DndbotsError as exc:
                self._halt(str(exc))
            except Exception:  # a bug in one game must not end the others
                log.exception("a step of %s failed", self._game.campaign.address)
                self._halt(_FAILED)

    def _has_work(self) -> bool:
        if self._stopped or self._wish is not None:
            return True
        return self._rounds > 0 and self.status.phase is Phase.IDLE

    def _rest(self) -> None:
        if self.status.phase is not Phase.HALTED:
            self.status = GameStatus(phase=Phase.OVER if self._game.over else Phase.IDLE)
            self._note()

    def _work(self) -> None:
        wish, self._wish = self._wish, None
        if wish is not None:
            try:
                wish()
            except (NothingToRetell, NothingToUndo) as exc:
                self.problem = f"{exc}."
            self._settle_rounds(goes_on=self._wish_goes_on)
        else:
            self._game.play(None, watch=self._after_step, hear=self._hear, compact=self._compact)

    def _take_back(self, who: str) -> None:
        game, is_open = self._game, self._game.table.due() is not None
        acted = who in game.table.steps
        game.undo(None if who == DM else who, before=game.round if is_open and not acted else None)

    def _close_session(self) -> None:
        if not self._game.table.ended:
            self._game.end_session()

    def _settle_rounds(self, *, goes_on: bool) -> None:
        """Count rounds anew after the log changed. A game with people goes on until one is asked."""
        self._ended = self._last_ended()
        self._rounds = 1 if self._people and (goes_on or not self._game.table.ended) else 0

    def _hear(self, words: LiveWords) -> None:
        """Take words of a model as they come. Called in the game's thread."""
        with self._state:
            is_over = words.state is LiveState.OVER
            is_same = self._live is not None and self._live.speaker == words.speaker
            self._live_text = "" if is_over or not is_same else self._live_text
            self._live_text += words.text
            self._live = None if is_over else words
            self._changed()

    def _after_step(self, _: list[GameEvent]) -> None:
        with self._state:
            table = self._game.table
            if table.round > self._ended and table.due() is None:
                self._ended = table.round
                self._rounds = max(self._rounds - 1, 1 if self._was_asked else 0)
                self._was_asked = False
            if self._rounds < 1 or self._stopped or self._wish is not None:
                self._game.pause()
            self._note()

    def _last_ended(self) -> int:
        table = self._game.table
        return table.round if table.due() is None else max(table.round - 1, 0)

    def _halt(self, error: str) -> None:
        with self._state:
            self._rounds = 0
            self.status = GameStatus(phase=Phase.HALTED, error=error)
            self._note()

    def _seat_people(self) -> None:
        people = {who: PersonPlayer(self) for who in self._people if who != DM}
        dm = PersonDM(self._cast.dm, self) if DM in self._people else self._cast.dm
        self._game.cast = replace(self._cast, dm=dm, seats={**self._cast.seats, **people})

    def _note(self) -> None:
        self.version += 1
        self._state.notify_all()
        self._changed()
