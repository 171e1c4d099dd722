"""Games of the house, each played once and looked at by many laws."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.game.playing import Game
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.testing import memory_campaign

BUDGET = 1_000
# Together they have all that the laws are about: a test says so.
STORIES = [("endless", 1), ("the_unpaid_bridge", 1), ("apples_in_january", 1)]
ROUNDS = 90
# Short enough to be played with memory and prompts.
REMEMBERED = [("endless", 1), ("apples_in_january", 1)]
FEW_ROUNDS = 12


class Unprompted(Game):
    """Without memory and prompts, which the house does not read: many rounds in little time."""

    def context_manager(self) -> None:
        """Nobody's memory is seen to."""

    def _prompt(self, who: str) -> Context:  # noqa: ARG002 - nobody is given one
        return None  # type: ignore[return-value]


@cache
def story(module: str, seed: int, rounds: int = ROUNDS) -> Campaign:
    """A long game, of which only the play is looked at."""
    campaign = memory_campaign()
    Unprompted.begin(campaign, module=module, seed=seed).play(rounds)
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
    """Whose step an event belongs to."""
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


def turns(campaign: Campaign, who: str) -> Iterator[GameEvent]:
    """What somebody did, turn by turn."""
    return (event for event in campaign.events(viewer=who) if event.source == who and not event.is_note)
