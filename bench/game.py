"""What a round of a game costs the engine, early and late in a campaign, and where that goes.

A DM and four characters of the house play the endless adventure, in a folder. Up to each length the game
is played without prompts, which leave no trace in the log; then, once everything is warm, some rounds are
measured with all that a round has. The floor is the same rounds recorded again, step by step, at a copy of
the folder, with prompts of the newest lines that fit. What reads the log in the background does so in a
process of its own and is not measured here.

    python bench/game.py --turns 100,10000

With `--campaign`, the folder is kept and gone on with; what it is past already is not measured.
"""

import argparse
import itertools
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from context import newest_lines
from dndbots.campaign import Campaign
from dndbots.errors import NoGame
from dndbots.events import GameEvent, audience
from dndbots.game.agents import Cast
from dndbots.game.game import BUDGET, Game
from dndbots.game.state.step import Step
from dndbots.ids import DM
from dndbots.memory.context import Context

WARM: Final = 3
PARTS: Final = ("contexts", "recording", "memory", "DM", "players", "other")
_LINES: Final = 400  # more than any prompt holds


class Clock:
    """CPU time by what it was spent on."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        began = time.process_time()
        try:
            yield
        finally:
            self.spent[part] += time.process_time() - began


class Clocked:
    """A player or a DM whose turns are timed."""

    def __init__(self, agent: Any, clock: Clock, part: str) -> None:
        self._agent, self._clock, self._part = agent, clock, part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def act(self, turn: Any) -> Any:
        with self._clock.on(self._part):
            return self._agent.act(turn)

    def run(self, screen: Any) -> None:
        with self._clock.on(self._part):
            self._agent.run(screen)


class TimedGame(Game):
    """A game whose parts are timed, and which can be played without prompts."""

    def set_up(self) -> None:
        self.clock, self.prompting = Clock(), True
        self.cast = Cast(
            dm=Clocked(self.cast.dm, self.clock, "DM"),
            player=Clocked(self.cast.player, self.clock, "players"),
        )

    def context_manager(self) -> None:
        with self.clock.on("memory"):
            super().context_manager()

    def _prompt(self, who: str) -> Context:
        if not self.prompting:
            return None  # type: ignore[return-value]
        with self.clock.on("contexts"):
            return super()._prompt(who)

    def _commit(self, step: Step) -> None:
        with self.clock.on("recording"):
            super()._commit(step)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--turns", type=lambda text: sorted(int(part) for part in text.split(",")), default=[100, 300]
    )
    parser.add_argument("--rounds", type=int, default=50, help="how many are measured at each length")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--campaign", type=Path, help="a folder to play in and to keep")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="game-"))
    where = args.campaign or folder / "campaign"
    try:
        with Campaign.open(where) as campaign:
            game = opened(campaign, args.seed)
            game.set_up()
            measure(game, where, folder, args)
    finally:
        shutil.rmtree(folder)


def opened(campaign: Campaign, seed: int) -> TimedGame:
    try:
        return TimedGame.resume(campaign)
    except NoGame:
        return TimedGame.begin(campaign, seed=seed)


def measure(game: TimedGame, where: Path, folder: Path, args: argparse.Namespace) -> None:
    print(f"CPU time of a round of five agents, prompts of {BUDGET} tokens: {args.rounds} rounds, in ms\n")
    print(f"{'turn':>6}{'events':>9}{'mean':>8}{'median':>8}{'most':>8}{'ratio':>7}   the mean is for")
    first: float | None = None
    floors: list[str] = []
    for length in (length for length in args.turns if length >= game.round):
        go_to(game, length)
        copy = folder / f"copy-{length}"
        shutil.copytree(where, copy)
        head, lines = game.campaign.head, newest_of(game.campaign)
        costs, parts = rounds_of(game, args.rounds)
        mean = statistics.mean(costs)
        first = first or mean
        split = ", ".join(f"{part} {parts[part] / len(costs):.1f}" for part in PARTS)
        print(
            f"{length:>6}{head:>9}{mean:>8.1f}{statistics.median(costs):>8.1f}{max(costs):>8.1f}"
            f"{mean / first:>7.2f}   {split}"
        )
        floors.append(f"{length:>6}{head:>9}" + floor(copy, steps_after(game.campaign, head), lines))
        shutil.rmtree(copy)
    print(f"\nthe floor: the same rounds, and no more than this\n{'turn':>6}{'events':>9}{'mean':>8}", end="")
    print("   the mean is for", *floors, sep="\n")


def go_to(game: TimedGame, length: int) -> None:
    """Plays up to a round, the last few of them with prompts."""
    game.prompting = False
    while game.round < length - WARM:
        number = min(100, length - WARM - game.round)
        game.play(number, compact=False)
        print(f"round {game.round} of {length}", file=sys.stderr)
    game.prompting = True
    game.play(length - game.round, compact=False)


def rounds_of(game: TimedGame, rounds: int) -> tuple[list[float], dict[str, float]]:
    """What each round costs, and what all of them cost by part, in ms."""
    costs: list[float] = []
    game.clock.spent.clear()
    for _ in range(rounds):
        began = time.process_time()
        game.play(1, compact=False)
        costs.append((time.process_time() - began) * 1e3)
    parts = {part: spent * 1e3 for part, spent in game.clock.spent.items()}
    parts["other"] = sum(costs) - sum(parts.values())
    return costs, parts


def newest_of(campaign: Campaign) -> list[GameEvent]:
    return [event for event in campaign.events(viewer=DM, last=_LINES) if not event.is_note]


def steps_after(campaign: Campaign, head: int) -> list[list[GameEvent]]:
    """The steps of the rounds after some place in the log: what was recorded together, as it was drafted."""
    with campaign.view(DM) as view:
        events = [event for event in view.events(after=head) if not event.is_note]
    return [[*step] for _, step in itertools.groupby(events, key=lambda event: (event.turn, step_of(event)))]


def step_of(event: GameEvent) -> str:
    note: Any = event.metadata["play"]
    return str(note["step"])


def floor(where: Path, steps: list[list[GameEvent]], before: list[GameEvent]) -> str:
    """What it costs to record the same steps, and to send the newest lines to whoever acts."""
    clock = Clock()
    seen = {who: deque[str](maxlen=_LINES) for event in before for who in audience(event)}

    def hear(event: GameEvent) -> None:
        for who in audience(event):
            seen.setdefault(who, deque(maxlen=_LINES)).append(f"{event.source}: {event.content}")

    for event in before:
        hear(event)
    with Campaign.open(where) as campaign:
        for step in steps:
            actor = step_of(step[0])
            if actor in seen:
                with clock.on("newest lines"):
                    newest_lines(list(seen[actor])[-80:], BUDGET)
            with clock.on("recording"):
                campaign.record_many(step)
            for event in step:
                hear(event)
    rounds = len({step[0].turn for step in steps})
    parts = {part: spent * 1e3 / rounds for part, spent in clock.spent.items()}
    split = ", ".join(f"{part} {spent:.1f}" for part, spent in sorted(parts.items()))
    return f"{sum(parts.values()):>8.1f}   {split}"


if __name__ == "__main__":
    main()
