"""What models in the seats read: which blocks a prompt has, how much of it stands twice, and whether it fits.

    python -m bench.prompts                         three seeds, 40 rounds, a budget of 2,000 tokens
    python -m bench.prompts --module the_unpaid_bridge --rounds 60
    python -m bench.prompts --show dm --seed 2      the last prompt of that seat, whole

A recorder sits behind every seat. The house plays: the DM's recorder says nothing, so that the adventure's
own words stand, and the players' recorder keeps the question and lets the house choose the act.

present: of the prompts for which the campaign had something to say under a heading, how many have it.
goals: DM prompts that hold the goal of every open quest.
verbatim: DM prompts with at least ten of the newest lines word for word, in the system prompt or the
    question; of those at a table where so many lines were said.
repeated: the share of the tokens of memories (of places, people, the world) whose sentence stands elsewhere
    in the same prompt; and the same for every line above the newest ones.
over: prompts above their budget, by exact count.
"""

import argparse
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from dndbots.campaign import Campaign
from dndbots.canon.states import is_over
from dndbots.game.acts import Act
from dndbots.game.agents import Cast, SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import question_of
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question
from dndbots.memory.context import Context
from dndbots.memory.context.repetition import is_told, keys_of_line
from dndbots.memory.scoped.shelves import WORLD, location_shelf, memories_on, npc_shelf
from dndbots.memory.selection.scoped_memory import tells_nothing
from dndbots.storage.in_memory import MemoryStore
from dndbots.text.sentences import split_sentences
from dndbots.tokens import count_tokens

LINES: Final = 10
LOOKS: Final = 2  # sentences that a prompt has of the look of a place
_WORD: Final = re.compile(r"\w+")
_LABEL: Final = re.compile(r"^(?:- )?(?:\d{4}-\d\d-\d\d: )?(?:[^.:!?\"]{1,80}: )?")
_SINCE: Final = re.compile(r"SINCE YOUR LAST WORD HERE:\n((?:- .*\n?)+)")
_MEMORY: Final = ("quests", "place", "people", "memories", "story", "known", "deeds", "open", "knowledge")


class Recorder:
    """A voice that keeps its questions and says nothing."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002
        self.questions.append(question)
        return Answer(model="recorder")


class RecordedPlayer:
    """A player that keeps the question a model would get, and plays as the house does."""

    attempts = 2

    def __init__(self, seen: list[tuple[SeatTurn, Question]]) -> None:
        self._house, self._seen = HousePlayer(), seen

    def act(self, turn: SeatTurn) -> Act | None:
        if not turn.refused:
            self._seen.append((turn, question_of(turn)))
        return self._house.act(turn)


class Tally:
    """Counts over all prompts of a run."""

    def __init__(self) -> None:
        self.has: Counter[str] = Counter()
        self.due: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.prompts: Counter[str] = Counter()
        self.verbatim: list[int] = []
        self.twice: Counter[str] = Counter()
        self.show_missing = False

    def expect(self, name: str, *, due: bool, has: bool) -> None:
        self.due[name] += due
        self.has[name] += due and has


def keys_in(text: str) -> list[str]:
    """Return the sentences of a line as words, without its date and speaker."""
    sentences = split_sentences(_LABEL.sub("", text))
    return [key for sentence in sentences if (key := " ".join(_WORD.findall(sentence.casefold())))]


def repeated(context: Context, sections: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each line of some sections, and how many of them stand elsewhere in the prompt."""
    lines = [(item, keys_in(item.text)) for item in context.items if item.section != "names"]
    counts = Counter(key for _, keys in lines for key in keys)
    for item, keys in lines:
        if item.section in sections and keys:
            again = sum(counts[key] > 1 for key in keys)
            yield item.tokens, item.tokens * again // len(keys)


def told_under(title: str, text: str) -> Iterator[str]:
    """Yield the sentences of a prompt under a heading, which may stand there twice."""
    for part in f"\n{text}".split(f"\n## {title}\n")[1:]:
        for line in part.partition("\n## ")[0].split("\n"):
            yield from (*keys_in(line), *keys_of_line(line))


def twice(context: Context) -> Iterator[str]:
    """Yield where the sentences stand that a prompt has more than once."""
    found: dict[str, list[str]] = {}
    for item in context.items:
        for key in keys_in(item.text) if item.section != "names" else ():
            found.setdefault(key, []).append(item.section)
    for key, sections in found.items():
        if len(sections) > 1 and set(sections) & set(_MEMORY):
            yield f"{' + '.join(sorted(sections))}: {key[:70]}"


def look_at(context: Context, campaign: Campaign, game: Game, tally: Tally, role: str) -> None:
    """Compare a prompt with what the campaign could have told under each heading."""
    tally.prompts[role] += 1
    tally.prompts[f"{role} over"] += count_tokens(context.prompt, context.encoding) > context.budget
    text = context.prompt
    with campaign.view(context.viewer) as view:
        quests = list(view.entities(view.everybody("qst_")).values())
        still_open = [one for one in quests if not is_over(one.properties.get("state"))]
        goals = [str(goal) for one in still_open if (goal := one.properties.get("goal"))]
        tally.expect(f"{role} goals", due=bool(goals), has=all(goal in text for goal in goals))
        table = game.tables[context.viewer]
        places = table.scenes() if role == DM else [table.place(context.viewer)]
        npcs = {
            uid
            for place in places
            for uid in table.facts
            if uid.startswith("npc_") and place and table.place(uid) == place and table.alive(uid)
        }
        # Somebody without a name is called by looks, and then the scene tells all that is known.
        seen = [uid for uid in npcs if table.fact(uid, "looks") not in (None, table.name(uid))]
        tally.expect(f"{role} people", due=bool(seen), has=any(i.section == "people" for i in context.items))
        newest = {
            key for i in context.items if i.section not in ("place", "names") for key in keys_in(i.text)
        }
        looks = [table.fact(place, "looks") for place in places if place]
        told_of = LOOKS if len(places) == 1 else 1
        untold = [one for one in looks if one and set(keys_in(str(one))[:told_of]) - newest]
        tally.expect(f"{role} place", due=bool(untold), has=any(i.section == "place" for i in context.items))
        besides = [i.text for i in context.items if i.section not in ("memories", "names")]
        told = {key for line in besides for key in (*keys_in(line), *keys_of_line(line))}
        told |= {key for sentence in context.beside.split("\n") for key in keys_in(sentence)}
        shelves: Mapping[str, list[tuple[str, str]]] = {
            "Recent Location Memory": [(view.viewer, location_shelf(place)) for place in places if place],
            "NPC Memory": [(npc if role == DM else view.viewer, npc_shelf(npc)) for npc in npcs],
            "World Memory": [(view.viewer, WORLD)],
        }
        for title, wanted in shelves.items():
            newest_of = (memories_on(view, holder, shelf, newest=3) for holder, shelf in wanted)
            entries = [one for shelf in newest_of for one in shelf if not tells_nothing(one.summary)]
            # The memory of a visit may tell what the memory of a person there would tell again.
            elsewhere = {key for other in shelves if other != title for key in told_under(other, text)}
            known = frozenset(told | elsewhere)
            # A memory of a person tells with the place what the memory of the place tells without it.
            fresh = any(not is_told(key, known) for one in entries for key in keys_in(one.summary))
            tally.expect(f"{role} {title}", due=fresh, has=f"## {title}\n" in text)
            if fresh and f"## {title}\n" not in text and tally.show_missing:
                missing = [key for one in entries for key in keys_in(one.summary) if not is_told(key, known)]
                print(f"  {role} has no {title}: {missing[:2]}")
    # In the first rounds, the newest lines may tell all that there was.
    older = any(item.section in ("story", "lately") for item in (*context.items, *context.dropped))
    has_story = "## Story So Far" in text or "## What You Rem" in text
    tally.expect(f"{role} story", due=game.round > 5 and older, has=has_story)
    if role == DM:
        split = any(deed.is_news_to(uid) for deed in game.table.deeds for uid in game.table.living())
        tally.expect("dm Player Knowledge", due=split, has="## Player Knowledge\n" in text)
        tally.expect("dm adventure", due=True, has="## Adventure\n" in text)
    for name, sections in (("memories", ("memories",)), ("all above the newest", _MEMORY)):
        for tokens, again in repeated(context, sections):
            tally.tokens[f"{role} {name}"] += tokens
            tally.tokens[f"{role} {name} again"] += again
    tally.twice.update(twice(context))


def verbatim_lines(context: Context, question: Question) -> int:
    """Count the newest lines that stand in full: those of the system prompt and those of the question."""
    kept = sum(
        item.section == "recent"
        and not item.text.endswith("…")
        and f"{item.text}\n" in f"{question.system}\n"
        for item in context.items
    )
    since = _SINCE.search(question.text)
    return kept + (len([line for line in since[1].splitlines() if not line.endswith("…")]) if since else 0)


class WatchedGame(Game):
    """A game that looks at each prompt in the moment in which it is built."""

    tally: Tally

    def _prompt(self, who: str) -> Context:
        context = super()._prompt(who)
        look_at(context, self.campaign, self, self.tally, DM if who == DM else "player")
        return context


def play(module: str, seed: int, rounds: int, budget: int, tally: Tally, shown: dict[str, str]) -> None:
    recorder, seen = Recorder(), list[tuple[SeatTurn, Question]]()
    cast = Cast(dm=ModelDM(recorder, npcs=None), player=RecordedPlayer(seen))
    campaign = Campaign(MemoryStore())
    game = WatchedGame.begin(campaign, module=module, seed=seed, budget=budget, cast=cast)
    game.tally = tally
    for _ in range(rounds):
        before, asked, lines = len(recorder.questions), len(seen), _lines_said(campaign)
        if not game.play(1, compact=False):
            break
        for question in recorder.questions[before:]:
            if lines >= LINES:
                tally.verbatim.append(verbatim_lines(game.prompts[DM], question))
            shown[DM] = f"{question.system}\n-----\n{question.text}"
        for turn, question in seen[asked:]:
            shown[turn.table.name(turn.who)] = f"{question.system}\n-----\n{question.text}"


def _lines_said(campaign: Campaign) -> int:
    with campaign.view(DM) as view:
        return sum(bool(event.content) and not event.is_note for event in view.newest(LINES * 3))


def main() -> None:
    logging.disable(logging.WARNING)
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rounds", type=int, default=40)
    args.add_argument("--seeds", default="1,2,3")
    args.add_argument("--modules", default="endless,apples_in_january,the_unpaid_bridge")
    args.add_argument("--budget", type=int, default=2_000)
    args.add_argument("--show", default="")
    args.add_argument("--twice", type=int, default=0, help="list so many sentences that stand twice")
    args.add_argument("--missing", action="store_true", help="print memories that a prompt lacks")
    given = args.parse_args()
    tally, shown = Tally(), dict[str, str]()
    tally.show_missing = given.missing
    modules = given.modules.split(",")
    for number, seed in enumerate(map(int, given.seeds.split(","))):
        play(modules[number % len(modules)], seed, given.rounds, given.budget, tally, shown)
    if given.show:
        print(shown.get(given.show) or f"no such seat; there are {', '.join(shown)}")
        return
    report(tally)
    for where, times in tally.twice.most_common(given.twice):
        print(f"{times:>4} {where}")


def report(tally: Tally) -> None:
    print(f"prompts: {tally.prompts[DM]} of the DM, {tally.prompts['player']} of players")
    print(f"{'present where it has content':<40}{'has':>6}{'of':>6}{'%':>8}")
    for name in sorted(tally.due):
        if tally.due[name]:
            share = 100 * tally.has[name] / tally.due[name]
            print(f"{name:<40}{tally.has[name]:>6}{tally.due[name]:>6}{share:>8.1f}")
    enough = sum(count >= LINES for count in tally.verbatim)
    print(
        f"at least {LINES} verbatim lines: {100 * enough / max(len(tally.verbatim), 1):.1f} % "
        f"of {len(tally.verbatim)} questions to the DM; fewest {min(tally.verbatim, default=0)}"
    )
    shares = defaultdict(str)
    for name in [name for name in tally.tokens if not name.endswith(" again")]:
        shares[name] = f"{100 * tally.tokens[f'{name} again'] / max(tally.tokens[name], 1):.1f} %"
    for name, share in shares.items():
        print(f"repeated, {name}: {share} of {tally.tokens[name]} tokens")
    print(f"over budget: {tally.prompts['dm over']} of the DM, {tally.prompts['player over']} of players")


if __name__ == "__main__":
    main()
