"""What memory costs and how large it grows over a long campaign, and whether anything falls through.

Plays a seeded saga, seeing to everybody's memory every few turns. Then checks, for each agent, that the
spans of every layer join without a gap and without overlap, and that the summaries that stand cover all
that the agent perceived up to its cursor.

    python bench/memory.py --turns 5000

With `--rounds`, it plays rounds of a game instead, behind logs of two lengths: ten events a round, a
move every fourth, five agents. What `tend` and `remember` cost a round is printed side by side.

    python bench/memory.py --rounds 200 --lengths 2000 20000
"""

import argparse
import itertools
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.memory.notes import make_note
from dndbots.memory.scoped.service import TRIGGERS
from dndbots.memory.scoped.shelves import WORLD, location_shelf, npc_shelf
from dndbots.memory.summaries.compression import standing_summaries
from dndbots.memory.summaries.layers import LAYERS, SUMMARY
from dndbots.tokens import count_tokens
from saga import PARTY, PEOPLE, PLACES, QUESTS, saga, text

AGENTS = ["dm", *PARTY]
TABLE = PARTY[:4]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=10, help="how many turns between two looks at memory")
    parser.add_argument("--limit", type=int, default=8_000, help="tokens that an agent may carry")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=0, help="play so many rounds of a game instead")
    parser.add_argument("--lengths", type=int, nargs="+", default=[2_000, 20_000], help="events before them")
    args = parser.parse_args()
    if args.rounds:
        print(f"{'log':>9}  {'':<8}  {'ms a round':>10}  {'nothing due':>11}  {'most':>7}")
        for length in args.lengths:
            play_rounds(length, args)
        return
    folder = Path(tempfile.mkdtemp(prefix="memory-"))
    try:
        with Campaign.open(folder / "campaign") as campaign:
            play(campaign, args)
            check(campaign)
            problems = campaign.verify()
            print("verify:", "sound" if not problems else problems[:3])
    finally:
        shutil.rmtree(folder)


def play(campaign: Campaign, args: argparse.Namespace) -> None:
    events = saga(args.seed)
    costs: list[float] = []
    largest: Counter[str] = Counter()
    print(f"{'turn':>6}  {'ms a look':>9}  {'log':>7}  largest summary so far, in tokens, by agent")
    for turn in range(args.every, args.turns + 1, args.every):
        campaign.record_many(itertools.islice(events, args.every))
        began = time.process_time()
        state = campaign.remember(token_limit=args.limit)
        costs.append(time.process_time() - began)
        if turn % max(args.turns // 10, 1) == 0:
            for name, memory in state["agent_memories"].items():
                largest[name] = max(largest[name], count_tokens(memory.long_term_summary))
            recent = sum(costs[-20:]) / len(costs[-20:])
            sizes = "  ".join(f"{name} {size}" for name, size in sorted(largest.items()))
            print(f"{turn:>6}  {recent * 1e3:>9.1f}  {campaign.head:>7}  {sizes}")


def play_rounds(length: int, args: argparse.Namespace) -> None:
    """Rounds of a game behind a log of some length whose memory is in order."""
    folder = Path(tempfile.mkdtemp(prefix="rounds-"))
    try:
        with Campaign.open(folder / "before") as campaign:
            campaign.record_many(itertools.islice(saga(args.seed), length))
            put_in_order(campaign)
        for name in ("tend", "remember"):
            shutil.copytree(folder / "before", folder / name)
            with Campaign.open(folder / name) as campaign:
                tending = campaign.tending(["dm", *TABLE], token_limit=args.limit)
                tending.tend()
                see_to = tending.tend if name == "tend" else campaign.remember
                costs, idle = timed(campaign, see_to, itertools.islice(game(args.seed), args.rounds))
            spent = (
                f"{mean(costs) * 1e3:>10.2f}  {median(idle or [0]) * 1e3:>11.2f}  {max(costs) * 1e3:>7.1f}"
            )
            print(f"{length:>9}  {name:<8}  {spent}")
    finally:
        shutil.rmtree(folder)


def timed(
    campaign: Campaign, see_to: Callable[[], object], rounds: Iterator[list[GameEvent]]
) -> tuple[list[float], list[float]]:
    """What each round costs, and what those cost in which nothing was noted down."""
    costs, idle = [], []
    for events in rounds:
        before = campaign.record_many(events)[-1].seq
        began = time.process_time()
        see_to()
        costs.append(time.process_time() - began)
        if campaign.head == before:
            idle.append(costs[-1])
    return costs, idle


def put_in_order(campaign: Campaign) -> None:
    """Notes down, for everybody and every shelf, that all so far was seen to: as after long play."""
    notes = []
    for npc in sorted(one.uid for one in campaign.entities(viewer="dm", category="npc")):
        perceived = campaign.events(viewer=npc, last=1)
        notes += [make_note(npc, npc_shelf(npc), None, lines=[], upto=one, after=None) for one in perceived]
    for holder in AGENTS:
        newest = list(campaign.events(viewer=holder, last=1))[-1]
        shelves = [WORLD, *map(location_shelf, PLACES), *([TRIGGERS] if holder == "dm" else [])]
        notes += [make_note(holder, SUMMARY, None, lines=[], upto=newest, after=None, layer="scene")]
        notes += [make_note(holder, shelf, None, lines=[], upto=newest, after=None) for shelf in shelves]
    campaign.record_many(notes)


def game(seed: int) -> Iterator[list[GameEvent]]:
    """Rounds of a DM and four characters, who move every fourth and end an errand every tenth."""
    rng, numbers = random.Random(seed), itertools.count()
    for number in itertools.count():
        if number % 4 == 0:
            place, person = rng.choice(PLACES), rng.choice(PEOPLE)
        arrival = EventType.LOCATION_CHANGE if number % 4 == 0 else EventType.DM_NARRATION
        lines = [(arrival, "dm"), (EventType.DIALOGUE, person)]
        lines += [(EventType.PLAYER_ACTION, who) for who in TABLE + TABLE]
        made = [(kind, source, {}) for kind, source in lines[:9]]
        ended = {"quest_id": rng.choice(QUESTS), "quest_state": "completed"} if number % 10 == 9 else {}
        made.append((EventType.QUEST_UPDATE if ended else EventType.DM_NARRATION, "dm", ended))
        yield [
            GameEvent(
                event_id=f"round_{next(numbers):08d}",
                event_type=kind,
                source=source,
                content=text(rng),
                session_id=f"game{number // 50:04d}",
                metadata={"location": place, "participants": [*TABLE], **more},
            )
            for kind, source, more in made
        ]


def check(campaign: Campaign) -> None:
    """Every layer's spans, laid end to end, are what the agent perceived: no event missing, none twice."""
    print(
        f"\n{'agent':<16}{'perceived':>10}  {'in buffer':>9}  {'standing':>8}  summaries and events by layer"
    )
    for agent in AGENTS:
        with campaign.view(agent) as view:
            places = dict(view.play())
            order = {event.event_id: n for n, event in enumerate(places.values())}
            made = _summaries(campaign, agent)
            shelf, blocks = standing_summaries(view)
            cursor = order[shelf.cursor] + 1 if shelf else 0
            covered = {
                layer: _laid_out(agent, [note for note in made if note[0] == layer], order)
                for layer in LAYERS
            }
            assert covered["scene"][1] == cursor, (
                f"{agent}: scenes end at {covered['scene'][1]}, not {cursor}"
            )
            spans = [(block.layer, block.after, block.upto) for block in blocks]
            assert _laid_out(agent, spans, order)[1] == cursor, f"{agent}: what stands does not cover all"
        told = ", ".join(f"{layer} {n}/{upto}" for layer, (n, upto) in covered.items() if n)
        print(f"{agent:<16}{len(order):>10}  {len(order) - cursor:>9}  {len(blocks):>8}  {told}")


def _summaries(campaign: Campaign, agent: str) -> list[tuple[str, str | None, str]]:
    notes = (event.known.memory for event in campaign.events(viewer=agent) if event.is_note)
    return [
        (str(note.layer), note.after, note.upto)
        for note in notes
        if note is not None and note.shelf == SUMMARY and note.holder == agent
    ]


def _laid_out(agent: str, spans: list[tuple[str, str | None, str]], order: dict[str, int]) -> tuple[int, int]:
    """How many spans there are, and how far they reach, laid end to end.

    One that begins before the end of the last was made in place of those that it covers.
    """
    laid: list[tuple[int, int]] = []
    for layer, after, upto in spans:
        start, end = (0 if after is None else order[after] + 1), order[upto] + 1
        while laid and laid[-1][0] >= start:
            assert laid.pop()[1] <= end, f"{agent}: a {layer} covers only a part of another"
        assert start == (laid[-1][1] if laid else 0), f"{agent}: a {layer} begins at {start}: a gap, or twice"
        laid.append((start, end))
    return len(spans), laid[-1][1] if laid else 0


if __name__ == "__main__":
    main()
