"""Games of the house, each played once and looked at by many laws."""

import logging
from functools import cache
from typing import NamedTuple

from tests.storage.writers import IS_LONG

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.testing import memory_campaign

BUDGET = 1_000
# Together they have all that the laws are about: a test says so.
STORIES = [("endless", 1), ("the_unpaid_bridge", 28), ("apples_in_january", 4)]
STORIES += [("endless", seed) for seed in range(3, 20)] if IS_LONG else []
ROUNDS = 90
ROUNDS_OF_THE_ENDLESS = 120  # which is more than a chapter
# Short enough to be played with memory and prompts.
REMEMBERED = [("endless", 1), ("the_unpaid_bridge", 1)]
FEW_ROUNDS = 12


class Unprompted(Game):
    """Without memory and prompts, which the house does not read: many rounds in little time."""

    def context_manager(self) -> None:
        """Nobody's memory is seen to."""

    def _prompt(self, who: str) -> Context:  # noqa: ARG002 - nobody is given one
        return None  # type: ignore[return-value]


# What was refused in any story, by what the game warned of.
REFUSED: dict[tuple[str, int], list[str]] = {}


class _Refusals(logging.Handler):
    def __init__(self, kept: list[str]) -> None:
        super().__init__()
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record.getMessage())


@cache
def story(module: str, seed: int, rounds: int | None = None) -> Campaign:
    """A long game, of which only the play is looked at."""
    if rounds is None:
        rounds = ROUNDS_OF_THE_ENDLESS if module == "endless" else ROUNDS
    campaign = memory_campaign()
    warned = _Refusals(REFUSED.setdefault((module, seed), []))
    log = logging.getLogger("dndbots.game")
    log.addHandler(warned)
    try:
        Unprompted.begin(campaign, module=module, seed=seed).play(rounds)
    finally:
        log.removeHandler(warned)
    return campaign


class Remembered(NamedTuple):
    """A short game with all that the engine does. `heads` is how long the log was after each step."""

    campaign: Campaign
    heads: list[int]
    nodes: list[str]
    prompts: list[Context]
    game: Game


@cache
def remembered(module: str, seed: int, rounds: int = FEW_ROUNDS) -> Remembered:
    campaign = memory_campaign()
    game = Game.begin(campaign, module=module, seed=seed, budget=BUDGET)
    heads, nodes, prompts = list[int](), list[str](), list[Context]()

    def watch(events: list[GameEvent]) -> None:
        heads.append(events[-1].seq or 0)
        nodes.append(str(step_of(events[-1])))
        prompts.extend(game.prompts.values())
        game.prompts.clear()

    game.play(rounds, watch=watch)
    return Remembered(campaign, heads, nodes, prompts, game)


def step_of(event: GameEvent) -> str:
    """Return the step that an event belongs to."""
    note = event.metadata["play"]
    assert isinstance(note, dict)
    return str(note["step"])


def log(campaign: Campaign) -> list[GameEvent]:
    return list(campaign.events(viewer=DM))


def played(campaign: Campaign) -> list[str]:
    """The play in a log, without the notes of memory and without places in the log, as text."""
    return [_text(event) for event in log(campaign) if not event.is_note]


def _text(event: GameEvent) -> str:
    return event.model_dump_json(exclude={"seq"})
