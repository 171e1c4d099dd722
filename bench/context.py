"""What a context costs, and how much of a prompt stays as it was from turn to turn.

Plays a seeded saga to a few lengths and, at each, goes on for some turns: an event is recorded, and the
context is asked for. Prints the CPU time of the context alone, and its ratio to that of the shortest
campaign. Then a round of five, as a game has it: ten events, and in between everybody asks once. Then,
over the first 200 turns of a campaign, the share of each context's tokens that is an unchanged
beginning, beside the same share for the newest lines that fit.

    python bench/context.py --events 10000,1000000
"""

import argparse
import itertools
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.testing import memory_campaign
from dndbots.tokens import count_many, count_tokens
from saga import PARTY, saga

VIEWERS = ("dm", "pc_zara_001")
TABLE = ("dm", *PARTY[:4])
EVENTS_A_ROUND = 10
BESIDE = "word " * 500  # what the rules and a sheet take of a prompt
BATCH = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--events", type=lambda text: [int(part) for part in text.split(",")], default=[2_000, 20_000]
    )
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="context-"))
    try:
        with Campaign.open(folder / "campaign") as campaign:
            measure_costs(campaign, args)
        with Campaign.open(folder / "rounds") as campaign:
            measure_rounds(campaign, args)
    finally:
        shutil.rmtree(folder)
    measure_prefix(args)


def measure_costs(campaign: Campaign, args: argparse.Namespace) -> None:
    print(f"CPU time of a context of {args.budget} tokens, in ms: {args.turns} turns at each length\n")
    print(f"{'events':>9}  {'viewer':<12}{'cold':>8}{'same turn':>11}{'median':>8}{'mean':>7}{'ratio':>7}")
    events = saga(args.seed)
    floor: dict[str, float] = {}
    for length in args.events:
        fill(campaign, events, length)
        for viewer in VIEWERS:
            with Campaign(campaign._store.another()) as fresh:
                cold = cost(fresh, viewer, args.budget)
                new, same = [], []
                for event in itertools.islice(events, args.turns):
                    fresh.record(event)
                    new.append(cost(fresh, viewer, args.budget))
                    same.append(cost(fresh, viewer, args.budget))
            median = statistics.median(new)
            ratio = median / floor.setdefault(viewer, median)
            print(
                f"{length:>9}  {viewer:<12}{cold:>8.0f}{statistics.median(same):>11.2f}{median:>8.2f}"
                f"{statistics.mean(new):>7.2f}{ratio:>7.2f}"
            )


def measure_rounds(campaign: Campaign, args: argparse.Namespace) -> None:
    print(
        f"\na round of five: CPU time of all their contexts, in ms, {EVENTS_A_ROUND} events a round, "
        f"{args.rounds} rounds at each length\n"
    )
    print(f"{'events':>9}  {'budget':<12}{'median':>8}{'mean':>7}{'each':>7}{'ratio':>7}")
    events = saga(args.seed)
    floor: dict[str, float] = {}
    for length in args.events:
        fill(campaign, events, length)
        for name, budget, beside in (
            (f"{args.budget}", args.budget, ""),
            (f"{args.budget * 3 // 4} with 500", args.budget * 3 // 4, BESIDE),
        ):
            with Campaign(campaign._store.another()) as fresh:
                costs = [play_round(fresh, events, budget, beside) for _ in range(args.rounds + 2)][2:]
            median = statistics.median(costs)
            ratio = median / floor.setdefault(name, median)
            print(
                f"{length:>9}  {name:<12}{median:>8.1f}{statistics.mean(costs):>7.1f}"
                f"{statistics.mean(costs) / len(TABLE):>7.1f}{ratio:>7.2f}"
            )


def play_round(campaign: Campaign, events: Iterator[GameEvent], budget: int, beside: str) -> float:
    """What the contexts of everybody at the table cost, each after its part of the round's events."""
    spent = 0.0
    for viewer in TABLE:
        campaign.record_many(itertools.islice(events, EVENTS_A_ROUND // len(TABLE)))
        spent += cost(campaign, viewer, budget, beside)
    return spent


def fill(campaign: Campaign, events: Iterator[GameEvent], length: int) -> None:
    while campaign.head < length:
        campaign.record_many(itertools.islice(events, min(BATCH, length - campaign.head)))


def cost(campaign: Campaign, viewer: str, budget: int, beside: str = "") -> float:
    began = time.process_time()
    campaign.context(viewer, budget, beside=beside)
    return (time.process_time() - began) * 1e3


def measure_prefix(args: argparse.Namespace) -> None:
    print(f"\nunchanged beginning of a context of {args.budget} tokens, over {args.turns} turns\n")
    print(f"{'viewer':<12}{'events a turn':>14}{'context':>9}{'newest lines':>14}")
    for viewer in VIEWERS:
        for number in (1, 3):
            campaign, events = memory_campaign(), saga(args.seed)
            contexts, newest, lines = [], [], list[str]()
            for _ in range(args.turns):
                played = campaign.record_many(itertools.islice(events, number))
                lines += [f"{event.source}: {event.content}" for event in played]
                contexts.append(campaign.context(viewer, args.budget).text)
                newest.append(newest_lines(lines, args.budget))
            print(f"{viewer:<12}{number:>14}{kept(contexts):>9.1%}{kept(newest):>14.1%}")


def newest_lines(lines: list[str], budget: int) -> str:
    """The floor: the newest lines that fit, which a sliding window sends."""
    found: list[str] = []
    for line, tokens in zip(
        reversed(lines), count_many(f"{line}\n" for line in reversed(lines)), strict=True
    ):
        budget -= tokens
        if budget < 0:
            break
        found.append(line)
    return "\n".join(reversed(found))


def kept(texts: list[str]) -> float:
    shares = []
    for before, now in itertools.pairwise(texts):
        same = next((n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), len(before))
        shares.append(count_tokens(now[:same]) / max(count_tokens(now), 1))
    return statistics.mean(shares)


if __name__ == "__main__":
    main()
