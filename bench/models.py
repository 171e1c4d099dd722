"""What models are asked, in tokens: by role, and how much of a prompt is the same as the time before.

    python -m bench.models --rounds 20
    python -m bench.models --rounds 12 --seeds 1 2 3 --module the_unpaid_bridge --seats 2 --breaks

The cached share is what a provider's cache may keep: the tokens that a seat's prompt has in common with its
prompt of the turn before, from the beginning on. Tools stand before the prompt, and never change: the share
`of all` counts them and the question, as a provider does.
"""

import argparse
import json
import logging
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

from bench.faults import Sensible

from dndbots.campaign import Campaign
from dndbots.game.agents import Cast
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.llm.protocol import Answer, Hear, Question
from dndbots.llm.tool_schemas import as_function
from dndbots.storage.in_memory import MemoryStore
from dndbots.tokens import count_tokens


class Watched:
    """A voice that keeps what it is asked."""

    def __init__(self, voice: Sensible) -> None:
        self._voice = voice
        self.questions: list[Question] = []

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002
        self.questions.append(question)
        return self._voice(question)


def shares(systems: list[str]) -> Iterator[float]:
    """Of each prompt but the first: how much of it stood at the beginning of the one before."""
    for before, after in pairwise(systems):
        same = 0
        for one, other in zip(before, after, strict=False):
            if one != other:
                break
            same += 1
        yield count_tokens(after[:same]) / count_tokens(after)


def breaks(systems: list[str]) -> Iterator[str]:
    """Of each prompt but the first: the heading under which it first differs from the one before."""
    for before, after in pairwise(systems):
        same = next(
            (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
            min(len(before), len(after)),
        )
        heads = [line for line in after[: after.find("\n", same)].split("\n") if line.startswith("## ")]
        yield heads[-1] if heads else "(rules and sheets)"


def played(module: str, seed: int, rounds: int, budget: int, seats: int) -> dict[str, list[Question]]:
    """Play a game whose models are scripted; return what each role was asked."""
    voices = {role: Watched(Sensible(random.Random(f"{seed}/{role}"))) for role in ("dm", "player", "npc")}
    cast = Cast(dm=ModelDM(voices["dm"], npcs=voices["npc"]), player=ModelPlayer(voices["player"]))
    game = Game.begin(
        Campaign(MemoryStore()), module=module, seed=seed, cast=cast, budget=budget, seats=seats
    )
    game.play(rounds, compact=False)
    print(f"{game.note.module}, seed {seed}, {game.round} rounds, budget of a prompt {game.note.budget}")
    return {role: voice.questions for role, voice in voices.items()}


def by_seat(asked: list[Question]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the prompts of each seat, and with tools and questions as a provider reads them."""
    seats: dict[str, list[str]] = defaultdict(list)
    sent: dict[str, list[str]] = defaultdict(list)
    for one in asked:
        if not one.so_far:
            seat = one.system.partition("\n")[0].partition(", a level")[0]
            seats[seat].append(one.system)
            schemas = json.dumps([as_function(tool) for tool in one.tools])
            sent[seat].append(f"{schemas}\n{one.system}\n{one.text}")
    return seats, sent


def main() -> None:
    logging.disable(logging.WARNING)
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rounds", type=int, default=20)
    args.add_argument("--seeds", type=int, nargs="+", default=[1])
    args.add_argument("--module", default="endless")
    args.add_argument("--budget", type=int, default=2_000)
    args.add_argument("--seats", type=int, default=4)
    args.add_argument("--breaks", action="store_true", help="count the headings under which prompts change")
    given = args.parse_args()
    asked: dict[str, list[Question]] = defaultdict(list)
    kept: dict[str, list[float]] = defaultdict(list)
    of_all: dict[str, list[float]] = defaultdict(list)
    where: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in given.seeds:
        for role, questions in played(given.module, seed, given.rounds, given.budget, given.seats).items():
            asked[role] += questions
            seats, sent = by_seat(questions)
            kept[role] += [share for prompts in seats.values() for share in shares(prompts)]
            of_all[role] += [share for prompts in sent.values() for share in shares(prompts)]
            where[role].update(head for prompts in seats.values() for head in breaks(prompts))
    print(
        f"{'role':8}{'asked':>7}{'prompt':>9}{'most':>7}{'question':>10}{'most':>7}{'tools':>7}{'cached':>8}"
        f"{'of all':>8}"
    )
    for role, questions in asked.items():
        if not questions:
            continue
        system = [count_tokens(one.system) for one in questions]
        text = [count_tokens(one.text) for one in questions]
        tools = sum(count_tokens(json.dumps(as_function(tool))) for tool in questions[0].tools)
        print(
            f"{role:8}{len(questions):7}{mean(system):9.0f}{max(system):7}{mean(text):10.0f}{max(text):7}"
            f"{tools:7}{mean(kept[role] or [0]):8.0%}{mean(of_all[role] or [0]):8.0%}"
        )
        if given.breaks:
            print("        ", ", ".join(f"{head} {times}" for head, times in where[role].most_common()))


if __name__ == "__main__":
    main()
