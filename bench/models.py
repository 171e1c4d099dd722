"""What models are asked, in tokens: by role, and how much of a prompt is the same as the time before.

    python -m bench.models --rounds 20

The cached share is what a provider's cache may keep: the tokens that a seat's prompt has in common with its
prompt of the turn before, from the beginning on. Tools stand before the prompt, and never change: the share
`of all` counts them and the question, as a provider does.
"""

import argparse
import json
import logging
import random
from collections import defaultdict
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


def main() -> None:
    logging.disable(logging.WARNING)
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--rounds", type=int, default=20)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--module", default="endless")
    given = args.parse_args()
    voices = {
        role: Watched(Sensible(random.Random(f"{given.seed}/{role}"))) for role in ("dm", "player", "npc")
    }
    cast = Cast(dm=ModelDM(voices["dm"], npcs=voices["npc"]), player=ModelPlayer(voices["player"]))
    game = Game.begin(Campaign(MemoryStore()), module=given.module, seed=given.seed, cast=cast)
    game.play(given.rounds, compact=False)
    print(f"{game.note.module}, {game.round} rounds, budget of a prompt {game.note.budget}")
    print(
        f"{'role':8}{'asked':>7}{'prompt':>9}{'most':>7}{'question':>10}{'most':>7}{'tools':>7}{'cached':>8}"
        f"{'of all':>8}"
    )
    for role, voice in voices.items():
        asked = voice.questions
        if not asked:
            continue
        seats: dict[str, list[str]] = defaultdict(list)
        sent: dict[str, list[str]] = defaultdict(list)
        for one in asked:
            if not one.so_far:
                seat = one.system.partition("\n")[0].partition(", a level")[0]
                seats[seat].append(one.system)
                schemas = json.dumps([as_function(tool) for tool in one.tools])
                sent[seat].append(f"{schemas}\n{one.system}\n{one.text}")
        system = [count_tokens(one.system) for one in asked]
        text = [count_tokens(one.text) for one in asked]
        tools = sum(count_tokens(json.dumps(as_function(tool))) for tool in asked[0].tools)
        kept = [share for prompts in seats.values() for share in shares(prompts)]
        of_all = [share for prompts in sent.values() for share in shares(prompts)]
        print(
            f"{role:8}{len(asked):7}{mean(system):9.0f}{max(system):7}{mean(text):10.0f}{max(text):7}{tools:7}"
            f"{mean(kept) if kept else 0:8.0%}{mean(of_all) if of_all else 0:8.0%}"
        )


if __name__ == "__main__":
    main()
