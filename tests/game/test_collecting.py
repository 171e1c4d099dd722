"""How often cycles are looked for, while a game is played and afterwards."""

import gc
from collections.abc import Iterator

import pytest

from dndbots.events import GameEvent
from dndbots.game.playing import Game
from dndbots.testing import memory_campaign


@pytest.fixture(autouse=True)
def as_python_has_it() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def seen_in(game: Game) -> list[tuple[int, int, int]]:
    """What is set while each step of a round is told of."""
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
