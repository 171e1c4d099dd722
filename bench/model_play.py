"""A game with a real model in every seat: what it repeats, what slips into the story, what it gets done.

    make bench-model
    python -m bench.model_play --rounds 12 --seeds 1 2 3
    python -m bench.model_play --base-url http://127.0.0.1:8080/v1 --name qwen

Everything is measured on the recorded events, with other means than the guards use. `--story FILE` writes
what was told.
"""

import argparse
import json
import logging
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from bench.laws import overheard, unshown_uids
from bench.models import shares
from bench.small import served

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.agents import Cast
from dndbots.game.dm import tool_calls
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.ids import DM
from dndbots.llm.chat_voice import ChatVoice
from dndbots.llm.protocol import Answer, Hear, Question
from dndbots.llm.providers import open_model
from dndbots.llm.retry import RetryPolicy
from dndbots.llm.settings import ModelSettings
from dndbots.llm.tool_schemas import as_function
from dndbots.storage.in_memory import MemoryStore

MODEL = Path(".bench-model/model.gguf")
STORY = frozenset((EventType.DM_NARRATION, EventType.DIALOGUE, EventType.PLAYER_ACTION, EventType.WHISPER))
ROUNDS_BACK = 3
RUN = 4
SHORTEST = 5
ENGINE = re.compile(
    r"field required|no record\b|\bd20\b|\bd6\b|against \d+:|not possible:|input should be|\bjson\b|tool call"
    r"|introduce_npc|look_up|ask_roll|speak_as|move_scene|offer_quest|as an ai\b|language model|\bNPC\b"
    r"|^(?:SCENE|HERE|WAYS|THINGS|YOU CAN|AT|WITH YOU):|\b(?:pc|npc|loc|qst|mon)_\w+|hit points\b.*\d|\{|\}"
    r"|for you to tell\b|since your last word|not decided yet|\bsucceeds? in trying\b|\btell of \w+, \w+,",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass
class Figures:
    """What was counted in one game."""

    sentences: int = 0
    echoes: int = 0
    engine: int = 0
    lines: int = 0
    third: int = 0
    player_lines: int = 0
    rounds: int = 0
    done: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    answers: int = 0
    fallbacks: int = 0
    cuts: Counter[str] = field(default_factory=Counter)
    unsound: list[str] = field(default_factory=list)
    prefixes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cached: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: float = 0.0

    def add(self, other: "Figures") -> None:
        for name in ("sentences", "echoes", "engine", "lines", "third", "player_lines", "rounds", "refused"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.done += other.done
        self.cuts += other.cuts
        self.answers += other.answers
        self.fallbacks += other.fallbacks
        self.unsound += other.unsound
        self.seconds += other.seconds
        for role, found in other.prefixes.items():
            self.prefixes[role] += found
        for role, found in other.cached.items():
            self.cached[role] += found

    def told(self) -> Iterator[str]:
        def share(part: int, whole: int) -> str:
            return f"{part} of {whole} ({part / max(whole, 1):.1%})"

        yield f"sentences that echo      {share(self.echoes, self.sentences)}   wanted: 3 % at most"
        yield f"lines of engine talk     {share(self.engine, self.lines)}   wanted: 0"
        yield f"players in third person  {share(self.third, self.player_lines)}   wanted: 3 % at most"
        dm = sum(number for tool, number in self.done.items() if tool != "act")
        a_round = dm / max(self.rounds, 1)
        yield f"DM's tools carried out   {dm} in {self.rounds} rounds ({a_round:.2f} a round)"
        yield f"tools of all seats       {dm + self.done['act']} ({dict(self.done)}); refused {self.refused}"
        yield f"fallbacks to the house   {share(self.fallbacks, self.answers)}   wanted: 20 % at most"
        yield f"cut by guards            {dict(self.cuts)}"
        for role, found in self.prefixes.items():
            whole = mean(self.cached[role]) if self.cached[role] else 0
            yield (
                f"unchanged prefix, {role:6} {mean(found):.0%}   wanted: 70 %; "
                f"{whole:.0%} of all that is sent, tools and question included"
            )
        yield f"laws and verify          {'sound' if not self.unsound else self.unsound}"
        yield f"seconds                  {self.seconds:.0f}"


class Watched:
    """A voice that keeps the prompts it was asked with."""

    def __init__(self, voice: Any, asked: Any = None) -> None:
        self._voice, self._file = voice, asked
        self.systems: dict[str, list[str]] = defaultdict(list)
        self.asked: dict[str, list[str]] = defaultdict(list)  # as a provider reads it, the tools first

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        if not question.so_far:
            seat = question.system.partition("\n")[0].partition(", a level")[0]
            tools = json.dumps([as_function(tool) for tool in question.tools])
            self.systems[seat].append(question.system)
            self.asked[seat].append(f"{tools}\n{question.system}\n{question.text}")
        answer: Answer = self._voice.ask(question, hear=hear)
        if self._file is not None:
            calls = [f"{call.tool} {call.form.model_dump_json()}" for call in answer.calls]
            kept = {
                "role": question.role.value,
                "system": question.system,
                "text": question.text,
                "again": len(question.so_far),
                "words": answer.words,
                "calls": calls,
                "usage": [answer.usage.input, answer.usage.counted] if answer.usage else [],
            }
            self._file.write(json.dumps(kept) + "\n")
            self._file.flush()
        return answer


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def sentences_of(text: str) -> list[list[str]]:
    found = (words_of(one) for one in re.split(r"(?<=[.!?])[\"”]?\s+|\n+", text))
    return [one for one in found if len(one) >= SHORTEST]


def is_echo(words: list[str], told: list[list[str]]) -> bool:
    """Half of its runs of four words, or nearly all of its words, stand in one sentence told before."""
    runs = {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    for other in told:
        theirs = {tuple(other[at : at + RUN]) for at in range(len(other) - RUN + 1)}
        if runs and 2 * len(runs & theirs) >= len(runs):
            return True
        both = {*words} | {*other}
        if len({*words} & {*other}) >= 0.8 * len(both):
            return True
    return False


def measured(game: Game, events: list[GameEvent]) -> Figures:
    figures = Figures(rounds=game.round)
    told: deque[tuple[int, list[str]]] = deque()
    for event in events:
        if event.is_note or not event.content:
            continue
        if event.event_type is not EventType.SYSTEM and event.known.witnesses != []:  # the DM's own record
            figures.lines += 1
            figures.engine += bool(ENGINE.search(event.content))
        if event.event_type not in STORY:
            continue
        number = event.turn or 0
        while told and told[0][0] < number - ROUNDS_BACK:
            told.popleft()
        for words in sentences_of(event.content):
            figures.sentences += 1
            figures.echoes += is_echo(words, [one for _, one in told])
            told.append((number, words))
        if event.source.startswith("pc_"):
            figures.player_lines += 1
            outside = re.sub(r"\"[^\"]*\"?|“[^”]*”?", " ", event.content)
            names = [game.table.name(event.source), game.table.name(event.source).split()[0]]
            figures.third += any(
                re.search(rf"(?<!\w){re.escape(name)}(?:'s)? [a-z]", outside) for name in names
            )
    for usage in game.campaign.usage():
        figures.answers += usage.answers
        figures.fallbacks += usage.fallbacks
        figures.cuts.update(usage.cuts)
    played = [event for event in events if not event.is_note]
    figures.unsound += [str(one) for one in game.campaign.verify()]
    figures.unsound += [str(one) for one in (*overheard(played), *unshown_uids(played))]
    return figures


def play(
    voice: Any,
    name: str,
    *,
    seed: int,
    rounds: int,
    seats: int,
    module: str,
    budget: int,
    story: Any,
    asked: Any,
) -> Figures:
    watched = {role: Watched(voice, asked) for role in ("dm", "player", "npc")}
    done: Counter[str] = Counter()
    refused = 0
    carry_out = tool_calls.ToolCalls.do

    def counted(calls: Any, form: Any) -> str:
        nonlocal refused
        refused += 1
        result = carry_out(calls, form)
        refused -= 1
        done[type(form).__name__] += 1
        return result

    tool_calls.ToolCalls.do = counted  # type: ignore[method-assign]
    began = time.monotonic()
    cast = Cast(dm=ModelDM(watched["dm"], npcs=watched["npc"]), player=ModelPlayer(watched["player"]))
    try:
        game = Game.begin(
            Campaign(MemoryStore()),
            module=module,
            seed=seed,
            seats=seats,
            budget=budget,
            cast=cast,
            dm=name,
            players=name,
        )
        game.play(rounds, compact=False, watch=lambda events: tell(game, events, story))
    finally:
        tool_calls.ToolCalls.do = carry_out  # type: ignore[method-assign]
    events = list(game.campaign.events(viewer=DM))
    figures = measured(game, events)
    figures.done, figures.refused = done, refused
    acts = [event for event in events if (event.metadata.get("play") or {}).get("act")]  # type: ignore[union-attr]
    figures.done["act"] += sum(event.metadata["play"]["act"].get("verb", "say") != "say" for event in acts)  # type: ignore[index,call-overload,union-attr]
    figures.seconds = time.monotonic() - began
    for role, one in list(watched.items())[:2]:
        figures.prefixes[role] += [share for systems in one.systems.values() for share in shares(systems)]
        figures.cached[role] += [share for asked in one.asked.values() for share in shares(asked)]
    return figures


def tell(game: Game, events: list[GameEvent], story: Any) -> None:
    for event in events:
        if story is None or not event.content or (event.is_note and event.event_type is not EventType.USAGE):
            continue
        who = "DM" if event.source == DM else game.table.name(event.source)
        story.write(f"[{event.turn} {event.event_type.value}] {who}: {event.content}\n")
    if story is not None:
        for event in events:
            if event.known.usage is not None:
                note = event.known.usage
                seen = {"role": note.role, "calls": note.calls, "cuts": note.cuts, "faults": note.faults}
                story.write(f"    {json.dumps({key: value for key, value in seen.items() if value})}\n")
        story.flush()


class CutLines(logging.Handler):
    """Writes what guards cut, each sentence once."""

    def __init__(self, story: Any) -> None:
        super().__init__(logging.DEBUG)
        self._story, self._seen = story, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self._seen:
            self._seen.add(text)
            self._story.write(f"    {text}\n")


def main() -> None:
    logging.getLogger("dndbots").setLevel(logging.ERROR)
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rounds", type=int, default=12)
    args.add_argument("--seats", type=int, default=2)
    args.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    args.add_argument("--module", default="the_unpaid_bridge")
    args.add_argument("--budget", type=int, default=1200)
    args.add_argument("--max-tokens", type=int, default=160)
    args.add_argument("--model", type=Path, default=MODEL, help="a GGUF file to serve")
    args.add_argument("--base-url", help="a server that runs already, instead")
    args.add_argument("--name", default="qwen2.5-coder-1.5b-instruct")
    args.add_argument("--threads", type=int, default=1)
    args.add_argument("--story", type=Path, help="a file for what was told")
    args.add_argument("--cuts", action="store_true", help="write what guards cut into that file, too")
    args.add_argument("--asked", type=Path, help="a file for each question and its answer, as lines of JSON")
    given = args.parse_args()
    server = (
        None
        if given.base_url
        else served(file=given.model, threads=given.threads, context=4096, slots=given.seats + 2)
    )
    address = given.base_url or f"{server.listening_address}/v1"
    settings = ModelSettings(
        model=f"openai:{given.name}",
        base_url=address,
        max_tokens=given.max_tokens,
        timeout=900,
        temperature=0.7,
    )
    voice = ChatVoice(open_model(settings), name=settings.model, retry=RetryPolicy(timeout=900))
    story = None if given.story is None else given.story.open("w", encoding="utf-8")
    asked = None if given.asked is None else given.asked.open("w", encoding="utf-8")
    if given.cuts and story is not None:
        guards = logging.getLogger("dndbots.game.guards")
        guards.setLevel(logging.DEBUG)
        guards.addHandler(CutLines(story))
    whole = Figures()
    for seed in given.seeds:
        if story is not None:
            story.write(f"=== seed {seed}\n")
        figures = play(
            voice,
            given.name,
            seed=seed,
            rounds=given.rounds,
            seats=given.seats,
            module=given.module,
            budget=given.budget,
            story=story,
            asked=asked,
        )
        print(f"--- seed {seed}", *figures.told(), sep="\n", flush=True)
        whole.add(figures)
    print("=== all seeds", *whole.told(), sep="\n")
    print({key: value.value for key, value in voice.ways.items()})


if __name__ == "__main__":
    main()
