"""How games of the house go: whether they end, whether they loop, and how often a sentence repeats its form.

The house plays each adventure with several seeds, without prompts, which leave no trace in the log.

    python bench/house_games.py --seeds 20 --rounds 200

A game *ends* when its story is told to the end. A *loop* is a run of quiet rounds in which the party does in
the same places what it did one to four rounds before, talk aside. A sentence *repeats* if its form, with
names and numbers masked, was told or said earlier in the same game; a sentence with fewer than three words of
its own has no form. `--forms` lists the forms that repeat most.
"""

import argparse
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from dndbots.events import EventType, GameEvent, audience
from dndbots.game.acts import Verb
from dndbots.game.game import Game
from dndbots.game.state.game_notes import played_of
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.testing import memory_campaign
from dndbots.text.sentences import split_sentences

MODULES: Final = ("apples_in_january", "the_unpaid_bridge")
LONGEST_PERIOD: Final = 4
LEAST_WORDS: Final = 3
_BLOWS: Final = (EventType.COMBAT_START, EventType.COMBAT_ROUND, EventType.DAMAGE, EventType.COMBAT_END)
_UNSEEN: Final = (
    EventType.SYSTEM,
    EventType.DICE_ROLL,
    EventType.SESSION_START,
    EventType.SESSION_END,
)
_TALK: Final = (Verb.SAY, Verb.TELL, Verb.WHISPER, Verb.STAY)
_NUMBER: Final = re.compile(r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_MARKS: Final = re.compile(r"[^\w<>' ]+")
Signature = frozenset[tuple[str, ...]]


class QuietGame(Game):
    """A game without memory and prompts, which the house does not read."""

    def context_manager(self) -> None:
        """Leave everybody's memory alone."""

    def _prompt(self, who: str) -> Context:  # noqa: ARG002 - nobody reads it
        return None  # type: ignore[return-value]


@dataclass(kw_only=True)
class Played:
    """A game as it was played: its events by round, and the names in it."""

    module: str
    seed: int
    rounds: int
    over: bool
    quests: dict[str, str]
    events: list[GameEvent]
    names: list[str]
    seconds: float
    forms: Counter[str] = field(default_factory=Counter)

    def by_round(self) -> dict[int, list[GameEvent]]:
        """Return the events of each round."""
        found: dict[int, list[GameEvent]] = {}
        for event in self.events:
            found.setdefault(event.turn or 0, []).append(event)
        return found


def play_game(module: str, seed: int, rounds: int) -> Played:
    """Play one game of the house and return it."""
    began = time.process_time()
    campaign = memory_campaign()
    game = QuietGame.begin(campaign, module=module, seed=seed)
    done = game.play(rounds, compact=False)
    table = game.table
    with campaign.view(DM) as view:
        events = [event for event in view.events() if not event.is_note]
    labels = (label for sights in table.sights.values() for label in (*sights.ways, *sights.things.values()))
    names = {*table.names.values(), *table.looks.values(), *labels, *table.topics}
    quests = {
        table.name(uid): str(facts.get("state")) for uid, facts in table.facts.items() if uid[:4] == "qst_"
    }
    return Played(
        module=module,
        seed=seed,
        rounds=done,
        over=game.over,
        quests=quests,
        events=events,
        names=sorted(names, key=lambda name: (-len(name), name)),
        seconds=time.process_time() - began,
    )


# Loops.


def round_signatures(played: Played) -> list[Signature | None]:
    """Return what was done where in each round, talk aside; None for a round with a fight."""
    found: list[Signature | None] = []
    for number, events in sorted(played.by_round().items()):
        if number == 0:
            continue
        if any(event.event_type in _BLOWS for event in events):
            found.append(None)
            continue
        deeds = set()
        for event in events:
            note = played_of(event)
            if note is not None and note.act is not None:
                act, place = note.act, str(event.metadata.get("location"))
                if act.verb not in _TALK:
                    deeds.add((place, act.verb.value, act.what or "", act.target or ""))
        found.append(frozenset(deeds))
    return found


def longest_loop(signatures: Sequence[Signature | None]) -> int:
    """Return the length of the longest run of rounds that repeat those before them."""
    longest = 0
    for period in range(1, LONGEST_PERIOD + 1):
        run = 0
        for number in range(period, len(signatures)):
            same = signatures[number] is not None and signatures[number] == signatures[number - period]
            run = run + 1 if same else 0
            longest = max(longest, run)
    return longest


# Sentences.


def sentences_of(played: Played) -> Iterator[str]:
    """Yield every sentence that a character perceives."""
    for event in played.events:
        heard = any(who.startswith("pc_") for who in audience(event))
        if event.event_type not in _UNSEEN and event.content and heard:
            yield from split_sentences(event.content.replace("\n", " "))


def mask_names(played: Played) -> Iterator[str]:
    """Yield the form of each sentence: names and numbers masked, marks left out."""
    words = {word for name in played.names for word in name.split() if word[:1].isupper()}
    every = sorted({*played.names, *words}, key=lambda name: (-len(name), name))
    names = re.compile(rf"\b(?:(?:the|an?|some) )?(?:{'|'.join(map(re.escape, every))})\b", re.IGNORECASE)
    for sentence in sentences_of(played):
        form = _NUMBER.sub("<number>", names.sub("<name>", sentence))
        form = " ".join(_MARKS.sub(" ", form).casefold().split())
        if sum(word[0] != "<" for word in form.split()) >= LEAST_WORDS:
            yield form


def count_forms(played: Played) -> tuple[int, int]:
    """Return how many sentences there are, and how many have a form that came before."""
    played.forms = Counter(mask_names(played))
    total = played.forms.total()
    return total, total - len(played.forms)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--module", action="append", choices=MODULES)
    parser.add_argument("--forms", type=int, default=0, help="list so many repeated forms")
    options = parser.parse_args(argv)
    logging.getLogger("dndbots").setLevel(logging.ERROR)
    forms: Counter[str] = Counter()
    for module in options.module or MODULES:
        ended, loops, all_sentences, all_repeated = 0, 0, 0, 0
        for seed in range(options.first, options.first + options.seeds):
            played = play_game(module, seed, options.rounds)
            total, repeated = count_forms(played)
            loop = longest_loop(round_signatures(played))
            ended, loops = ended + played.over, max(loops, loop)
            all_sentences, all_repeated = all_sentences + total, all_repeated + repeated
            forms.update({form: count - 1 for form, count in played.forms.items() if count > 1})
            quests = ", ".join(f"{name}: {state}" for name, state in played.quests.items())
            print(
                f"{module} seed {seed}: {'over' if played.over else 'goes on'} after {played.rounds} rounds, "
                f"longest loop {loop}, repeated {repeated / max(total, 1):.1%} of {total} sentences, "
                f"{played.seconds:.0f} s; {quests}",
                flush=True,
            )
        print(
            f"{module}: {ended} of {options.seeds} end within {options.rounds} rounds; "
            f"longest loop {loops} rounds; "
            f"sentences in a repeated form {all_repeated / max(all_sentences, 1):.1%}",
            flush=True,
        )
    for form, count in forms.most_common(options.forms):
        print(f"{count:5d}  {form}")


if __name__ == "__main__":
    sys.exit(main())
