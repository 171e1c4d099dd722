"""What people read of games of the house: recaps and scoped memories, without a model.

    python -m bench.retellings --recaps 20              recaps of 20 games, in three lengths, for everybody
    python -m bench.retellings --memories --rounds 200  the memories of one game of each module

engine talk: recaps with an id, a state name, a chapter or another word of the engine.
quests, deaths: decisions on quests, and deaths of heroes, that a viewer perceived; and how many of them the
    recap of each length tells.
memories: how many have more than three sentences, and, where something was decided, how many tell it.
"""

import argparse
import itertools
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from dndbots.campaign import Campaign
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.memory.entries import Entry, Line, SummaryTask
from dndbots.memory.human_gates import gates_of
from dndbots.memory.recaps import LENGTHS
from dndbots.memory.retold_events import retell_events
from dndbots.memory.selection import extractive
from dndbots.memory.selection.scoped_memory import write_scoped_memory
from dndbots.storage.in_memory import MemoryStore
from dndbots.storage.views.view import View
from dndbots.text.sentences import split_sentences

MODULES: Final = ("apples_in_january", "the_unpaid_bridge", "endless")
MOST_SENTENCES: Final = 3
_ENGINE: Final = re.compile(
    r"\b(?:pc|npc|mon|loc|item|qst|fac|evt)_\w+|\b\w+_\d{3}\b|\b[A-Z]{5,}\b"
    r"|\b(?:was found|was killed by|is (?:begun|offered|accepted|completed)|objective|chapter_\w+|None)\b"
)
_TOLD: Final = ("taken", "refused", "ended")
# Deeds that a visit is remembered for. A walk is none, and small finds are many.
_DECIDED: Final = frozenset(
    ("died", "ended", "taken", "refused", "revived", "offered", "paid", "fight", "killed", "step")
)
_QUOTED: Final = re.compile(r'"([^"]+)"')


def play(module: str, seed: int, rounds: int) -> Campaign:
    campaign = Campaign(MemoryStore())
    Game.begin(campaign, module=module, seed=seed).play(rounds, compact=False)
    return campaign


def entries_of(view: View) -> list[Entry]:
    return retell_events(view, view.events(), gates_of(view))


def decisions_in(entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """Yield each decision on a quest and each hero's death once, with the words that a recap must have."""
    seen = set[tuple[str, str]]()
    for entry in entries:
        for deed in entry.deeds:
            key = (deed.kind, deed.what)
            if (deed.kind in _TOLD or deed.hero) and key not in seen:
                seen.add(key)
                yield deed.kind, deed.what.strip('"')


def is_told(kind: str, what: str, sentences: list[str]) -> bool:
    words = {
        "taken": "took on",
        "refused": "turned down",
        "ended": "came to",
        "died": "",
    }[kind]
    return any(what in text and words in text for text in sentences)


def measure_recaps(games: int, rounds: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(games):
        module, seed = MODULES[number % len(MODULES)], number // len(MODULES) + 1
        campaign = play(module, seed, rounds)
        with campaign.view(DM) as view:
            viewers = [DM, *(uid for uid in view.everybody("pc_"))]
        for viewer in viewers:
            with campaign.view(viewer) as view:
                entries = entries_of(view)
            sessions = dict.fromkeys(entry.session for entry in entries)
            for session, length in itertools.product(sessions, LENGTHS):
                due = decisions_in(entry for entry in entries if entry.session == session)
                recap = campaign.recap(viewer, session, length=length)
                counts[f"{length} recaps"] += 1
                for found in _ENGINE.findall(recap.text):
                    counts[f"{length} engine talk"] += 1
                    print(f"  engine talk: {found!r} in {module} {seed}, {viewer}, {length}")
                sentences = [line.text for line in recap.lines]
                for kind, what in due:
                    counts[f"{length} due"] += 1
                    if is_told(kind, what, sentences):
                        counts[f"{length} told"] += 1
                    else:
                        print(f"  not told: {kind} {what!r} in {module} {seed}, {viewer}, {length}")
    for length in LENGTHS:
        print(
            f"{length}: {counts[f'{length} recaps']} recaps, engine talk {counts[f'{length} engine talk']}, "
            f"told {counts[f'{length} told']} of {counts[f'{length} due']} decisions on quests and deaths"
        )


class Watch:
    """Looks at each scoped memory in the moment in which it is written."""

    def __init__(self, *, show: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._show = show

    def write(self, task: SummaryTask, encoding: str) -> list[Line]:
        lines = write_scoped_memory(task, encoding)
        sentences = [part for line in lines for part in split_sentences(_QUOTED.sub("Q", line.text))]
        told = {source for line in lines for source in line.sources}
        decided = {entry.event_id for entry in task.entries if {deed.kind for deed in entry.deeds} & _DECIDED}
        self.counts["memories"] += 1
        self.counts["long"] += len(sentences) > MOST_SENTENCES
        self.counts["decided"] += bool(decided)
        self.counts["told"] += bool(decided & told)
        self.counts["idle"] += not decided
        self.counts["one line"] += not decided and len(sentences) <= 1
        failed = len(sentences) > MOST_SENTENCES or (decided and not decided & told)
        if self._show or failed:
            print(f"{'FAILED ' if failed else ''}{task.kind} {task.name}, {task.agent}:")
            print("\n".join(f"    {line.text}" for line in lines))
        return lines


def measure_memories(rounds: int, seed: int, *, show: bool) -> None:
    watch = Watch(show=show)
    extractive.write_scoped_memory = watch.write
    for module in MODULES:
        play(module, seed, rounds)
    counts = watch.counts
    print(
        f"memories: {counts['memories']}, with more than {MOST_SENTENCES} sentences: {counts['long']}\n"
        f"something was decided in {counts['decided']}, and {counts['told']} tell it "
        f"({100 * counts['told'] / max(counts['decided'], 1):.1f} %)\n"
        f"nothing was decided in {counts['idle']}, of which {counts['one line']} are one sentence"
    )


def main() -> None:
    logging.disable(logging.WARNING)
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--recaps", type=int, default=0, help="games whose recaps are read")
    args.add_argument("--memories", action="store_true")
    args.add_argument("--rounds", type=int, default=80)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--show", action="store_true", help="print memories that fail")
    given = args.parse_args()
    if given.recaps:
        measure_recaps(given.recaps, given.rounds)
    if given.memories:
        measure_memories(given.rounds, given.seed, show=given.show)


if __name__ == "__main__":
    main()
