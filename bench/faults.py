"""A game whose every seat is a model that does everything wrong that models do, at random: what comes of it.

    python -m bench.faults --turns 1000

Half of the answers are at fault: nothing, garbage, 50 KB, another's voice, refusals, false memory, forms that
make no sense, providers that are down. The other half play with sense. At the end the log is verified, and
the laws of `bench/laws.py` are looked for in it.
"""

import argparse
import logging
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench.laws import acts_of_the_dead, overheard, unheard_names, unshown_uids

from dndbots.campaign import Campaign
from dndbots.errors import ModelUnavailable
from dndbots.events import GameEvent
from dndbots.game.agents import Cast
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.ids import DM, is_hidden
from dndbots.llm.protocol import Answer, Call, Question, Role, Usage
from dndbots.storage.in_memory import MemoryStore
from dndbots.testing import FaultyVoice

SHARE = 0.5
_MARKS = re.compile(
    r"MEMORY_|\[(?:PC|NPC|MON|LOC|EVT):|<\||\bSYSTEM:|(?<![^\W_])(?:pc|npc|loc|mon|qst)_\w|^#", re.MULTILINE
)
_FACES = (
    "Odo",
    "Brin",
    "Tessel",
    "Marl",
    "Quenby",
    "Ansel",
    "Hob",
    "Wim",
    "Corvin",
    "Lusa",
    "Petronel",
    "Gil",
)


class Sensible:
    """A model that plays with sense, by chance that can be replayed: it tries what it is shown."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __call__(self, question: Question) -> Answer:
        made = {Role.PLAYER: self._player, Role.DM: self._dm}.get(question.role)
        words, calls = ("Well met, I suppose.", ()) if made is None else made(question)
        usage = Usage(input=2_000, output=60, cached=1_200, counted=1_900)
        return Answer(words=words, calls=calls, model="sensible", usage=usage)

    def _player(self, question: Question) -> tuple[str, tuple[Call, ...]]:
        shown = _lines(question.text)
        kind = question.tools[0].form
        verb = self._rng.choice(shown.get("YOU CAN", ["say"]))
        people = shown.get("FOES", []) if verb in ("attack", "parley", "cast") else []
        people = people or [*shown.get("ALSO HERE", []), *shown.get("WITH YOU", [])]
        what = {
            "go": "WAYS",
            "flee": "WAYS",
            "cast": "SPELLS READY",
            "accept": "OFFERED",
            "refuse": "OFFERED",
        }
        things = shown.get(what.get(verb, "THINGS"), [])
        form = {
            "verb": verb,
            "target": re.sub(r" \(.*", "", self._rng.choice(people)) if people else "",
            "what": self._rng.choice(things) if things else "",
            "words": f"I {verb}, and say so.",
        }
        return "", (Call(tool="act", form=kind.model_validate(form)),)

    def _dm(self, question: Question) -> tuple[str, tuple[Call, ...]]:
        words = (
            f"The light changes. Somewhere a {self._rng.choice(('door', 'dog', 'bell', 'stone'))} is heard."
        )
        if self._rng.random() < 0.6:
            return words, ()
        tool = self._rng.choice(question.tools)
        here = question.text.partition("HERE:\n")[2].partition("\nWAYS")[0]
        people = re.findall(r"^- ([^:(]{1,80}?)(?: \(to them [^)]*\))?: ", here, re.MULTILINE)
        heroes = re.findall(r"^- ([^:]+): player's character", question.text, re.MULTILINE) or ["nobody"]
        others = [name for name in people if name not in heroes] or ["nobody"]
        face = f"{self._rng.choice(_FACES)} {self._rng.choice(_FACES)}"
        ways = _lines(question.text).get("WAYS", ["on"])
        forms: dict[str, dict[str, Any]] = {
            "look_up": {"name": self._rng.choice(people or ["x"])},
            "recall": {"question": "Who gave us the quest?"},
            "ask_roll": {
                "character": self._rng.choice(heroes),
                "kind": self._rng.choice(("str", "dex", "death")),
            },
            "introduce_npc": {
                "name": face,
                "looks": f"a stranger with {self._rng.choice(('a crate', 'a limp'))}",
            },
            "speak_as": {"npc": self._rng.choice(others), "gist": "I have seen better days."},
            "move_scene": self._rng.choice(
                (
                    {"way": self._rng.choice(ways)},
                    {
                        "way": "a narrow gap",
                        "place": f"{face}'s Rest",
                        "looks": "Stones, and moss.",
                        "back": "the gap",
                    },
                )
            ),
            "offer_quest": {"name": f"A Favour for {face}", "goal": "Find what was lost."},
            "resolve_quest": {"name": "favour", "outcome": "completed"},
            "start_fight": {"monster": self._rng.choice(("goblin", "giant rat")), "number": 2},
            "whisper": {"to": self._rng.choice(heroes), "words": "You alone hear it: a sigh."},
            "set_clock": {"threat": "The river rises.", "rounds": self._rng.randint(1, 9)},
            "give": {"item": "silver bell", "to": self._rng.choice(heroes)},
            "take_away": {"item": "silver bell", "character": self._rng.choice(heroes)},
            "pay": {"gold": self._rng.randint(1, 30), "payer": self._rng.choice((*heroes, *others))},
            "trade": {"character": self._rng.choice(heroes), "deal": "buy", "item": "torch"},
            "find_loot": {"character": self._rng.choice(heroes), "items": ["old coin"], "gold": 3},
            "hurt": {"character": self._rng.choice(heroes), "amount": "1d2", "why": "A stone falls"},
            "heal": {"character": self._rng.choice(heroes), "amount": "1d4"},
            "set_condition": {
                "character": self._rng.choice(heroes),
                "condition": self._rng.choice(("blinded", "cold")),
                "rounds": 2,
            },
            "spend_time": {"minutes": self._rng.randint(0, 60)},
            "change_attitude": {"npc": self._rng.choice(others), "attitude": "friendly"},
            "reveal_secret": {"secret": "The well has a second bottom."},
            "clear_place": {},
            "end_scene": {"summary": "They left in better spirits."},
            "plot_note": {"kind": "front", "name": f"The {face} Plot", "text": "It moves on."},
            "begin_act": {"title": f"The Debt of {face}", "question": "Who pays?"},
        }
        return words, (Call(tool=tool.name, form=tool.form.model_validate(forms[tool.name])),)


def _lines(text: str) -> dict[str, list[str]]:
    found = (line.partition(": ") for line in text.splitlines() if not line.startswith("-"))
    return {head: said.split("; ") for head, _, said in found if said}


def faulty_cast(
    seed: int, *, share: float = SHARE, names: tuple[str, ...] = ()
) -> tuple[Cast, list[FaultyVoice]]:
    """Models in all seats, each with its own chance to do wrong."""
    voices = [
        FaultyVoice(
            Sensible(random.Random(f"{seed}/{role}")),
            random.Random(f"{seed}/{role}/wrong"),
            share=share,
            **named,
        )
        for role, named in ((one, {"names": names} if names else {}) for one in ("dm", "npc", "player"))
    ]
    dm, npc, player = voices
    return Cast(dm=ModelDM(dm, npcs=npc), player=ModelPlayer(player)), voices


def play_on(game: Game, rounds: int) -> int:
    """Plays up to a round, whatever is down; says how often something was."""
    down = 0
    while not game.over and (game.round < rounds or game.due() is not None):
        try:
            game.play(1, compact=False)
        except ModelUnavailable:
            down += 1
    return down


def wrongs(log: list[GameEvent]) -> Iterator[str]:
    """All that must not be in the log of a game, whatever models did."""
    play = [event for event in log if not event.is_note]
    yield from (f"unheard name: {one}" for one in unheard_names(lambda: play))
    yield from (f"the dead act: {one.content}" for one in acts_of_the_dead(play))
    yield from (f"overheard: {one}" for one in overheard(play))
    yield from (f"unshown: {one}" for one in unshown_uids(play))
    for event in play:
        if _MARKS.search(event.content) or any(is_hidden(char) for char in event.content if char != "\n"):
            yield f"not clean: {event.content[:200]!r}"


def main() -> None:
    logging.disable(logging.WARNING)
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--turns", type=int, default=1_000)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--module", default="endless")
    given = args.parse_args()
    campaign = Campaign(MemoryStore())
    # Names of nobody: what a model says of somebody it cannot have heard of is not for the engine to know.
    cast, voices = faulty_cast(given.seed, names=("DM", "Gandalf", "system"))
    game = Game.begin(
        campaign, module=given.module, seed=given.seed, cast=cast, dm="faulty", players="faulty"
    )
    seats, began, down = game.note.seats, time.perf_counter(), 0
    log, turns = list[GameEvent](), 0
    while turns < given.turns and not game.over:
        down += play_on(game, game.round + max((given.turns - turns) // seats, 1))
        log = list(campaign.events(viewer=DM))
        turns = sum("act" in event.metadata.get("play", {}) for event in log)
        print(f"round {game.round}, {turns} turns, {time.perf_counter() - began:.0f} s", flush=True)
    faults = Counter(fault for voice in voices for fault in voice.done)
    print(f"{turns} turns in {game.round} rounds; {sum(faults.values())} answers, {faults['']} without fault")
    print("at fault:", ", ".join(f"{name} {count}" for name, count in faults.most_common() if name))
    print(f"a provider was down {down} times; the game went on with the same step")
    for one in campaign.usage():
        print(f"  {one.role} {one.model}: {one.answers} answers, {one.faults} faults noted")
    problems, found = campaign.verify(), list(wrongs(log))
    print(f"verify: {len(problems)} problems; laws: {len(found)} broken")
    for one in (*map(str, problems), *found[:20]):
        print(" ", one)


if __name__ == "__main__":
    main()
