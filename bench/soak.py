"""A game that nobody looks after: many rounds of the endless adventure, and then everything that is to check.

Plays in a folder that can be kept, and goes on with the game that is there. Ctrl-C ends it after the step
under way, with its report. Whatever must not happen is counted, with the first examples.

    python bench/soak.py --turns 10000 --campaign soak
"""

import argparse
import logging
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dndbots.campaign import Campaign
from dndbots.errors import NoGame
from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.game import BUDGET, Game
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.tokens import count_tokens
from laws import acts_of_the_dead, is_turn, overheard, unheard_names, unshown_uids

TENTHS: Final = 10
EXAMPLES: Final = 5
_MIB: Final = 2**20


@dataclass(slots=True)
class Tenth:
    """A tenth of the rounds: how long it took, and how much memory the process had at its end."""

    upto: int
    rounds: int
    seconds: float
    cpu: float
    rss: float


class Prompts:
    """Every prompt that was built, counted again. That costs more than to build it, so the time is known."""

    def __init__(self) -> None:
        self.built, self.largest, self.over, self.spent = 0, 0, list[str](), 0.0
        self._newest: dict[str, Context] = {}

    def look(self, game: Game) -> None:
        began = time.process_time()
        for who, prompt in game.prompts.items():
            if self._newest.get(who) is prompt:
                continue
            self.built += 1
            tokens = count_tokens(prompt.prompt)
            self.largest = max(self.largest, tokens)
            if tokens > game.note.budget or tokens != prompt.prompt_tokens:
                self.over.append(f"round {game.round}: {who} {tokens}, said to be {prompt.prompt_tokens}")
        self._newest = {**game.prompts}  # of the dead, nothing is kept
        self.spent += time.process_time() - began


class Warnings(logging.Handler):
    """What the game warns of: acts that were refused."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@dataclass(slots=True)
class Run:
    tenths: list[Tenth] = field(default_factory=list)
    prompts: Prompts = field(default_factory=Prompts)
    refused: Warnings = field(default_factory=Warnings)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=300, help="the round up to which is played")
    parser.add_argument("--campaign", type=Path, help="a folder to play in and to keep")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", default="endless")
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--no-compact", action="store_true", help="without the reading in the background")
    args = parser.parse_args()
    kept = args.campaign is not None
    where = args.campaign or Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        with Campaign.open(where) as campaign:
            run = soak(opened(campaign, args), args)
            report(campaign, where, run)
    finally:
        if not kept:
            shutil.rmtree(where)


def opened(campaign: Campaign, args: argparse.Namespace) -> Game:
    try:
        return Game.resume(campaign)
    except NoGame:
        return Game.begin(campaign, module=args.module, seed=args.seed, budget=args.budget)


def soak(game: Game, args: argparse.Namespace) -> Run:
    """Plays up to the round, a tenth at a time."""
    run, start = Run(), game.round
    logging.getLogger("dndbots.game").addHandler(run.refused)
    signal.signal(signal.SIGINT, lambda *_: game.pause())
    for tenth in range(1, TENTHS + 1):
        until = start + (args.turns - start) * tenth // TENTHS
        before, began, cpu, spent = game.round, time.monotonic(), time.process_time(), run.prompts.spent
        rounds = game.play(until - before, watch=watching(game, run), compact=not args.no_compact)
        if rounds:
            cpu = time.process_time() - cpu - (run.prompts.spent - spent)
            run.tenths.append(Tenth(game.round, rounds, time.monotonic() - began, cpu, rss()))
            say(game, f"{cpu / rounds * 1e3:.0f} ms of CPU a round, {run.tenths[-1].rss:.0f} MiB")
        if game.round < until or game.over:
            break
    return run


def watching(game: Game, run: Run) -> Callable[[list[GameEvent]], None]:
    shown = time.monotonic()

    def watch(_events: list[GameEvent]) -> None:
        nonlocal shown
        run.prompts.look(game)
        if time.monotonic() > shown + 10:
            shown = time.monotonic()
            say(game, f"chapter {game.table.chapter + 1}, {len(run.refused.messages)} refused")

    return watch


def say(game: Game, what: str) -> None:
    print(f"round {game.round}, {game.campaign.head} events, {what}", file=sys.stderr, flush=True)


def rss() -> float:
    """What the process has in memory now, in MiB."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / _MIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# The report.


def report(campaign: Campaign, where: Path, run: Run) -> None:
    tell_costs(run)
    story(campaign)
    show("in memory, MiB", flatness(run.tenths))
    show("on disk, MiB", f"{sum(one.stat().st_size for one in where.rglob('*') if one.is_file()) / _MIB:.0f}")
    prompts = run.prompts
    show("prompts built", f"{prompts.built}, the largest {prompts.largest} tokens")
    found("prompts over their limit or miscounted", prompts.over)
    found("acts that were refused", run.refused.messages)
    found("acts of the dead", (f"round {one.turn}: {one.content}" for one in acts_of_the_dead(log(campaign))))
    found("names that were said and never heard", unheard_names(lambda: log(campaign)))
    found("perceived from elsewhere", overheard(log(campaign)))
    found("learned of without having been shown", unshown_uids(log(campaign)))
    found("what is wrong with the log and its views", campaign.verify())


def log(campaign: Campaign) -> Iterable[GameEvent]:
    return campaign.events(viewer=DM)


def tell_costs(run: Run) -> None:
    print(f"{'round':>7}{'s a round':>11}{'CPU ms':>8}{'MiB':>7}")
    for one in run.tenths:
        seconds, cpu = one.seconds / one.rounds, one.cpu / one.rounds * 1e3
        print(f"{one.upto:>7}{seconds:>11.3f}{cpu:>8.1f}{one.rss:>7.0f}")
    print()


def flatness(tenths: list[Tenth]) -> str:
    if len(tenths) < TENTHS:
        return "too short a run to say"
    early, half, end = (tenths[number].rss for number in (0, TENTHS // 2 - 1, TENTHS - 1))
    return (
        f"{early:.0f} at 10 %, {half:.0f} at 50 %, {end:.0f} at 100 %: {end / half - 1:+.1%} since half-time"
    )


def story(campaign: Campaign) -> None:
    """What came of it all, in numbers."""
    table, count = Table(), Counter[str]()
    quests: dict[str, str] = {}
    was_split = False
    for event in log(campaign):
        table.heard(event)
        count["notes" if event.is_note else "events"] += 1
        count[event.event_type.value] += 1
        count["characters killed"] += sum(uid.startswith("pc_") for uid in event.known.killed)
        note: Any = event.metadata.get("play") or {}
        count["told"] += is_turn(event) and note["act"].get("verb") == Verb.TELL.value
        known = event.known
        if known.quest_id is not None and known.quest_state is not None:
            quests[known.quest_id] = known.quest_state
        is_split = len(table.scenes()) > 1
        count["splits"] += is_split and not was_split
        was_split = is_split
    show("rounds", table.round)
    show("events", f"{count['events']} of play, {count['notes']} notes")
    show("chapters", table.chapter + 1)
    show("sessions", table.sessions)
    show("fights", count[EventType.COMBAT_START.value])
    show("characters killed", count["characters killed"])
    show("splits of the party", count["splits"])
    show("whispers", count[EventType.WHISPER.value])
    show("things told", count["told"])
    states = Counter(quests.values())
    show("quests", ", ".join(f"{state} {number}" for state, number in states.most_common()) or "none")


def show(what: str, value: object) -> None:
    print(f"{what:<40}{value}")


def found(what: str, problems: Iterable[object]) -> None:
    """How many of what there should be none of, and the first of them."""
    every = iter(problems)
    first = list(islice(every, EXAMPLES))
    show(what, len(first) + sum(1 for _ in every))
    for one in first:
        print(f"    {str(one)[:300]}")


if __name__ == "__main__":
    main()
