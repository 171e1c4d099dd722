"""The loop that plays a round, and garbage collection while a game is played."""

import gc
from collections.abc import Iterator

import pytest

from dndbots.events import GameEvent
from dndbots.game.game import Game
from dndbots.game.rounds import MOST_STEPS, play_round
from dndbots.game.state.table import Due
from dndbots.ids import DM
from dndbots.testing import memory_campaign


@pytest.fixture(autouse=True)
def as_python_has_it() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def seen_in(game: Game) -> list[tuple[int, int, int]]:
    """Return the thresholds during each step of a round."""
    seen: list[tuple[int, int, int]] = []

    def look(_events: list[GameEvent]) -> None:
        seen.append(gc.get_threshold())

    game.play(1, watch=look)
    return seen


def test_cycles_are_looked_for_less_often_while_a_game_is_played_and_as_before_afterwards() -> None:
    with memory_campaign() as campaign:
        seen = seen_in(Game.begin(campaign, seed=1))
    assert {most for most, *_ in seen} == {50_000}
    assert gc.get_threshold() == (700, 10, 10)


def test_a_game_that_breaks_off_leaves_it_as_it_was() -> None:
    def broken(_events: list[GameEvent]) -> None:
        raise ZeroDivisionError

    with memory_campaign() as campaign, pytest.raises(ZeroDivisionError):
        Game.begin(campaign, seed=1).play(1, watch=broken)
    assert gc.get_threshold() == (700, 10, 10)


def test_whoever_has_set_it_is_left_alone() -> None:
    """A host that plays many games has reasons of its own."""
    gc.set_threshold(1_234, 5, 6)
    with memory_campaign() as campaign:
        assert set(seen_in(Game.begin(campaign, seed=1))) == {(1_234, 5, 6)}


class Script:
    """The steps of a round by a script; `due` takes the next one once a step was played."""

    def __init__(self, *due: Due | None) -> None:
        self._due = [*due, None]
        self.played: list[str] = []

    def due(self) -> Due | None:
        return self._due[0]

    def context_manager(self) -> None:
        self.played.append("context_manager")

    def dm(self) -> None:
        self._play("dm")

    def referee(self, who: str) -> None:
        self._play(f"referee {who}")

    def player(self, who: str) -> None:
        self._play(f"player {who}")

    def march(self) -> None:
        self._play("march")

    def _play(self, step: str) -> None:
        self.played.append(step)
        del self._due[0]


def test_a_round_plays_the_step_that_is_due_until_none_is() -> None:
    steps = Script(Due("dm", DM), Due("player", "pc_a"), Due("referee", "pc_a"), Due("march", DM))
    play_round(steps)
    assert steps.played == ["context_manager", "dm", "player pc_a", "referee pc_a", "march"]


def test_a_round_that_resumes_in_the_middle_leaves_memory_alone() -> None:
    """Memory is brought up to date before the DM's step, and not again after a restart."""
    steps = Script(Due("player", "pc_b"))
    play_round(steps)
    assert steps.played == ["player pc_b"]


def test_a_game_that_is_paused_plays_no_step() -> None:
    steps = Script()
    play_round(steps)
    assert steps.played == []


def test_a_round_without_an_end_is_an_error() -> None:
    steps = Script(*[Due("player", "pc_a")] * (MOST_STEPS + 1))
    with pytest.raises(RuntimeError, match=f"did not end after {MOST_STEPS} steps"):
        play_round(steps)
    steps = Script(*[Due("player", "pc_a")] * MOST_STEPS)
    play_round(steps)
    assert len(steps.played) == MOST_STEPS
