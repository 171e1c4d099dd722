"""What compaction finds, whether the DM's context stays true by it, and what it costs a turn.

Everything is measured on campaigns told by `told.py`, of which it is known what each line says.

    python bench/compaction.py                     all three
    python bench/compaction.py --only extraction --turns 20000 --wrong 30 --missed 30
    python bench/compaction.py --show 40           the prose, for a person to judge

extraction
    precision: of the updates that were accepted, the share that some truth of the same line bears out, in
    name, field, value, speaker and sureness; `reading.py` says what counts as the same. recall, plain: of
    what a line says once in so many words, the share that was found. recall: the same of everything, hints
    included. structured/raw: tokens of what was found, as lines `name: field value`, over tokens of the turns
    that it was found in. The floor takes every "Name is something" for a fact.
    It would lie if the prose were written to suit the extractor, or the extractor to suit the prose: neither
    should be changed after a look at the other's mistakes. It would also lie if lines said more than their
    truths: then what was found rightly counts as wrong. `--wrong` prints those for a person to judge.
    structured/raw depends on how much is said: here, an eighth of the tokens.

context
    For every probe, a subject and field that the DM has plainly stated: does the current value stand in the
    text on a line with its subject (right), only an older one (stale: a contradiction), both, or neither
    (absent)? Beside the context stand as many tokens of the newest raw turns, and the last 10 turns.
    It would lie where an old value and a new one share their words, or where a text says the right thing in
    other words. What is absent is no contradiction, so a context that says nothing is never stale: read both
    columns. Turns are short here, 15 tokens; of longer ones, fewer fit. At turn 10 there are few probes.

cost
    The wall time to record a turn, in ms: without compaction, while one is running, and on turns that queue
    one. The peer is the same campaign on the same disk in the same run, before and after, so that a busy
    machine slows both alike. It would lie if compaction ended before the turns did: the share of the turns
    that it was still at work on is not known here, so take a `--backlog` that it cannot finish.
"""

import argparse
import itertools
import re
import shutil
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from dndbots.campaign import Campaign
from dndbots.compaction.values import CATEGORIES, Extractor, Known, Turn, Update
from dndbots.events import EventType, GameEvent
from dndbots.testing import memory_campaign
from dndbots.tokens import count_many, count_tokens
from reading import content, fairly, in_the_name, says_so, stands
from told import Told, Truth, check, told

MISSING = "not there yet"

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("extraction", "context", "cost"))
    parser.add_argument("--turns", type=int, default=4_000, help="turns to extract from, of each seed")
    parser.add_argument("--seeds", type=_numbers, default=[1, 2, 3])
    parser.add_argument("--campaigns", type=int, default=12, help="how many to look at the context of")
    parser.add_argument("--at", type=_numbers, default=[10, 50, 200], help="turns to look at the context")
    parser.add_argument("--every", type=_numbers, default=[3, 5, 10, 20], help="turns between compactions")
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--backlog", type=int, default=3_000, help="turns to be compacted while others go on")
    parser.add_argument("--wrong", type=int, default=0, help="print so many of the updates that were wrong")
    parser.add_argument("--missed", type=int, default=0, help="print so many of the plain truths not found")
    parser.add_argument("--show", type=int, default=0, help="print so many lines of prose, and nothing else")
    args = parser.parse_args()
    if args.show:
        show(args)
        return
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "extraction": measure_extraction,
        "context": measure_context,
        "cost": measure_cost,
    }
    for name, part in parts.items():
        if args.only in (None, name):
            part(args)
            print()


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def show(args: argparse.Namespace) -> None:
    """Lines from the middle of a campaign, and under each what it says."""
    campaign = told(args.seeds[0], args.turns)
    said = by_line(campaign.truths)
    start = min(500, max(len(campaign.lines) - args.show, 0))
    for line in campaign.lines[start : start + args.show]:
        print(f"{line['speaker']}: {line['text']}")
        for one in said[line["id"]]:
            marks = (
                [one.sure] * (one.sure != "fact") + ["over"] * one.ended + ["in passing"] * (not one.plain)
            )
            by = f", says {one.said_by}" if one.said_by else ""
            print(f"      {one.name}: {one.field} {min(one.values)}{by} {' '.join(marks)}".rstrip())


def by_line(truths: Iterable[Truth]) -> defaultdict[str, list[Truth]]:
    found: defaultdict[str, list[Truth]] = defaultdict(list)
    for truth in truths:
        found[truth.line].append(truth)
    return found


# What was found.


class Made(NamedTuple):
    """An update, who speaks, what is wrong with it, and the line."""

    update: Update
    speaker: str
    fault: str | None
    text: str


class Said(NamedTuple):
    """A truth, who speaks, whether it was found, and the line."""

    truth: Truth
    speaker: str
    found: bool
    text: str


@dataclass
class Marks:
    """How an extractor did."""

    made: list[Made] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    raw: int = 0
    structured: int = 0

    @property
    def precision(self) -> float:
        return _share(sum(one.fault is None for one in self.made), len(self.made))

    def recall(self, *, plain: bool) -> float:
        asked = [one.found for one in self.said if one.truth.plain or not plain]
        return _share(sum(asked), len(asked))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def measure_extraction(args: argparse.Namespace) -> None:
    campaigns = [told(seed, args.turns) for seed in args.seeds]
    for campaign in campaigns:
        check(campaign)
    lines = sum(len(campaign.lines) for campaign in campaigns)
    truths = [truth for campaign in campaigns for truth in campaign.truths]
    plain = sum(truth.plain for truth in truths)
    print(f"extraction from {lines} turns that say {len(truths)} things, {plain} of them plainly\n")
    print(f"{'':<14}{'updates':>8}{'precision':>11}{'recall, plain':>15}{'recall':>8}{'structured/raw':>16}")
    floor = marked(campaigns, NameIsSomething())
    _print_marks("floor", floor)
    extractor = default_extractor()
    if extractor is None:
        print(f"rules         {MISSING}")
        marks = floor
    else:
        marks = marked(campaigns, extractor)
        _print_marks("rules", marks)
        ratio = marks.precision / floor.precision, marks.recall(plain=True) / floor.recall(plain=True)
        print(f"{'rules/floor':<14}{'':>8}{ratio[0]:>11.2f}{ratio[1]:>15.2f}")
    _print_by(marks, "field", lambda one: one.truth.field, lambda one: one.update.field)
    _print_by(marks, "speaker", lambda one: one.speaker, lambda one: one.speaker)
    _print_mistakes(marks, args)


def default_extractor() -> Extractor | None:
    try:
        from dndbots.compaction.rules import RuleExtractor
    except ImportError:
        return None
    return RuleExtractor()


class NameIsSomething:
    """The floor: every "Name is (a, the) something" is a fact about Name, a role if it has an article."""

    waits = False
    _IS = re.compile(r"((?:[A-Z][\w-]+ ?)+) is (a |an |the )?([\w' -]+)")

    def extract(self, turns: Sequence[Turn], known: Known) -> Iterable[Update]:  # noqa: ARG002, the protocol's
        for turn in turns:
            for name, article, value in self._IS.findall(turn.text):
                kind, said = ("role" if article else "status"), value.strip()[:200]
                if said:
                    yield Update(kind="npc", name=name.strip(), field=kind, value=said, turn=turn.id)


def marked(campaigns: Iterable[Told], extractor: Extractor) -> Marks:
    marks = Marks()
    for campaign in campaigns:
        accepted = dict.fromkeys(one for one in extracted(campaign, extractor) if not in_the_name(one))
        mark(campaign, accepted, marks)
        marks.raw += sum(count_many(as_raw(line) for line in campaign.lines))
        marks.structured += sum(count_many(f"{rendered(update)}\n" for update in accepted))
    return marks


def mark(campaign: Told, accepted: Iterable[Update], marks: Marks) -> None:
    """Compares what was made of a campaign with what it says."""
    lines = {line["id"]: line for line in campaign.lines}
    said, found = by_line(campaign.truths), set[int]()
    for update in accepted:
        line = lines[update.turn]
        speaker = None if line["role"] == "dm" else line["speaker"]
        so = [truth for truth in said[update.turn] if says_so(update, truth)]
        fair = [truth for truth in so if fairly(update, truth, speaker)]
        found.update(id(truth) for truth in fair)
        fault = None if fair else "said by another, or not so surely" if so else "not said"
        marks.made.append(Made(update, speaking(line, update.said_by), fault, line["text"]))
    for truth in campaign.truths:
        line = lines[truth.line]
        marks.said.append(Said(truth, speaking(line, truth.said_by), id(truth) in found, line["text"]))


def speaking(line: dict[str, str], said_by: str | None) -> str:
    if line["role"] == "dm":
        return "the DM" if said_by is None else "quoted by DM"
    return "a player" if line["role"] == "pc" else "a person"


def extracted(campaign: Told, extractor: Extractor, every: int = 5) -> Iterator[Update]:
    """Read as a campaign would be: a few turns at a time, with the names that are known by then."""
    names = dict.fromkeys(campaign.heroes, "PC")
    for start in range(0, len(campaign.lines), every):
        lines = campaign.lines[start : start + every]
        for line in lines:
            if line["role"] == "npc":
                names.setdefault(line["speaker"], "NPC")
            names.setdefault(line["location"], "LOC")
        turns = [
            Turn(line["id"], line["speaker"], line["role"], line["text"], line["session"], line["location"])
            for line in lines
        ]
        for update in extractor.extract(turns, Known(names)):
            names.setdefault(update.name, CATEGORIES[update.kind][0])
            yield update


def as_raw(line: dict[str, str]) -> str:
    return f"{line['speaker']}: {line['text']}\n"


def rendered(update: Update) -> str:
    by = f" (says {update.said_by})" if update.said_by else ""
    return f"{update.name}: {update.field} {update.value}{by}"


def _print_marks(name: str, marks: Marks) -> None:
    print(
        f"{name:<14}{len(marks.made):>8}{marks.precision:>11.3f}{marks.recall(plain=True):>15.3f}"
        f"{marks.recall(plain=False):>8.3f}{marks.structured / marks.raw:>16.3f}"
    )


def _print_by(
    marks: Marks, title: str, of_said: Callable[[Said], str], of_made: Callable[[Made], str]
) -> None:
    said = Counter(of_said(one) for one in marks.said if one.truth.plain)
    found = Counter(of_said(one) for one in marks.said if one.truth.plain and one.found)
    made = Counter(of_made(one) for one in marks.made)
    right = Counter(of_made(one) for one in marks.made if one.fault is None)
    columns = ("said plainly", "found", "recall", "updates", "right", "precision")
    print(f"\n{title:<14}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
    for name in sorted(said | made, key=lambda name: (-said[name], name)):
        print(
            f"{name:<14}{said[name]:>14}{found[name]:>7}{_share(found[name], said[name]):>8.2f}"
            f"{made[name]:>9}{right[name]:>7}{_share(right[name], made[name]):>11.2f}"
        )


def _print_mistakes(marks: Marks, args: argparse.Namespace) -> None:
    wrong = [one for one in marks.made if one.fault]
    faults = Counter(one.fault for one in wrong)
    print(f"\nwrong: {', '.join(f'{fault} {number}' for fault, number in faults.most_common()) or 'none'}")
    for one in _spread(wrong, args.wrong):
        print(f"  {rendered(one.update)}  [{one.fault}]\n      {one.speaker}: {one.text}")
    missed = [one for one in marks.said if one.truth.plain and not one.found]
    print(f"said plainly, and missed: {len(missed)}")
    for said in _spread(missed, args.missed):
        truth = said.truth
        print(f"  {truth.name}: {truth.field} {min(truth.values)}\n      {said.speaker}: {said.text}")


def _spread(found: list[T], number: int) -> list[T]:
    """So many of them, from all over."""
    return found[:: max(len(found) // number, 1)][:number] if number else []


# Whether the context is true.

OUTCOMES = ("right", "stale", "both", "absent")


def measure_context(args: argparse.Namespace) -> None:
    print(
        f"the DM's context of {args.budget} tokens, over {args.campaigns} campaigns; shares of the probes\n"
        f"(a subject and a field that the DM has stated plainly), against raw turns of as many tokens\n"
    )
    heads = "".join(f"{name:>8}" for name in OUTCOMES)
    print(f"{'turn':>5}  {'probes':>6}  {'what is sent':<26}{'tokens':>7}{heads}  | raw turns:{heads}")
    with memory_campaign() as campaign:
        can = hasattr(campaign, "compact")
    intervals: list[int | None] = [None, *args.every] if can else [None]
    for upto in args.at:
        campaigns = [told(seed, upto) for seed in range(1, args.campaigns + 1)]
        for every in intervals:
            _print_context(upto, every, campaigns, args.budget)
        if not can:
            print(f"{upto:>5}  {'':>6}  compacted every N turns   {MISSING}")
        last = [(one, last_turns(one.lines, 10)) for one in campaigns]
        print(_row(upto, "the last 10 turns", last))


def _print_context(upto: int, every: int | None, campaigns: list[Told], budget: int) -> None:
    name = "never compacted" if every is None else f"compacted every {every} turns"
    sent = [(one, context_of(one, every, budget)) for one in campaigns]
    raw = [(one, newest_turns(one.lines, count_tokens(text))) for one, text in sent]
    shares, _ = outcomes(raw)
    peer = "".join(f"{shares[name]:>8.1%}" for name in OUTCOMES)
    print(f"{_row(upto, name, sent)}  |           {peer}")


def _row(upto: int, name: str, sent: list[tuple[Told, str]]) -> str:
    shares, probes = outcomes(sent)
    tokens = statistics.mean(count_tokens(text) for _, text in sent)
    figures = "".join(f"{shares[name]:>8.1%}" for name in OUTCOMES)
    return f"{upto:>5}  {probes:>6}  {name:<26}{tokens:>7.0f}{figures}"


def context_of(campaign: Told, every: int | None, budget: int) -> str:
    """What the DM is sent at the end of a campaign that was compacted every few turns."""
    step = every or len(campaign.lines)
    with memory_campaign() as played:
        for start in range(0, len(campaign.lines), step):
            batch = campaign.lines[start : start + step]
            played.import_transcript(batch)
            if every is not None and len(batch) == step:
                played.compact()
        return played.context("dm", budget=budget).text


def last_turns(lines: list[dict[str, str]], number: int) -> str:
    return "".join(as_raw(line) for line in lines[-number:])


def newest_turns(lines: list[dict[str, str]], budget: int) -> str:
    """The floor: the newest turns that fit."""
    costs = count_many(as_raw(line) for line in reversed(lines))
    fitting = sum(total <= budget for total in itertools.accumulate(costs))
    return last_turns(lines, fitting) if fitting else ""


def outcomes(sent: Iterable[tuple[Told, str]]) -> tuple[dict[str, float], int]:
    found: Counter[str] = Counter()
    for campaign, text in sent:
        lines = [content(line) for line in text.splitlines()]
        found.update(
            outcome(lines, name, current, old) for (name, _), (current, old) in probes(campaign).items()
        )
    total = sum(found.values())
    return {name: _share(found[name], total) for name in OUTCOMES}, total


def outcome(lines: list[frozenset[str]], name: str, current: set[str], old: set[str]) -> str:
    now, before = stands(lines, name, current), stands(lines, name, old)
    if now:
        return "both" if before else "right"
    return "stale" if before else "absent"


def probes(campaign: Told) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """What the DM stated plainly, by subject and field: the values that are so, and those that were."""
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for truth in campaign.truths:
        if truth.said_by is None and truth.sure == "fact" and truth.plain and not truth.ended:
            current, old = found.setdefault((truth.name, truth.field), (set(), set()))
            (current if truth.until is None else old).update(truth.values)
    return {key: (current, old - current) for key, (current, old) in found.items() if current}


# What it costs.


def measure_cost(args: argparse.Namespace) -> None:
    campaign = told(args.seeds[0], args.backlog + 900)
    backlog, rest = campaign.lines[: args.backlog], campaign.lines[args.backlog :]
    print(f"ms to record a turn, with {len(backlog)} turns before it that wait to be compacted\n")
    folder = Path(tempfile.mkdtemp(prefix="compaction-"))
    try:
        with Campaign.open(folder / "campaign") as played:
            played.import_transcript(backlog)
            events = map(as_event, rest)
            before = timed(played, itertools.islice(events, 300))
            print(f"{'':<32}{'turns':>6}{'p50':>8}{'p95':>8}{'p95 ratio':>11}")
            if not hasattr(played, "compacting"):
                _print_cost("without compaction", before, before)
                print(f"while compacting                {MISSING}")
                return
            with played.compacting(every=5) as compactor:
                during = timed(played, itertools.islice(events, 300))
                compactor.wait()
            quiet = before + timed(played, itertools.islice(events, 300))
    finally:
        shutil.rmtree(folder)
    _print_cost("without compaction", quiet, quiet)
    _print_cost("while one is running", during, quiet)
    queuing = during[4::5]
    others = [cost for number, cost in enumerate(during) if number % 5 != 4]
    _print_cost("turns that queue one", queuing, quiet)
    more = statistics.median(queuing) - statistics.median(others)
    print(f"\nqueuing adds {more * 1e3:.3f} ms to the median turn")


def as_event(line: dict[str, str]) -> GameEvent:
    kinds = {"dm": EventType.DM_NARRATION, "pc": EventType.PLAYER_ACTION, "npc": EventType.DIALOGUE}
    return GameEvent(
        event_id=line["id"],
        event_type=kinds[line["role"]],
        source="dm",
        content=line["text"],
        session_id=line["session"],
    )


def timed(campaign: Campaign, events: Iterable[GameEvent]) -> list[float]:
    costs = []
    for event in events:
        began = time.perf_counter()
        campaign.record(event)
        costs.append(time.perf_counter() - began)
    return costs


def _print_cost(name: str, costs: list[float], peer: list[float]) -> None:
    p50, p95 = statistics.median(costs) * 1e3, _p95(costs) * 1e3
    print(f"{name:<32}{len(costs):>6}{p50:>8.2f}{p95:>8.2f}{_p95(costs) / _p95(peer):>11.2f}")


def _p95(costs: list[float]) -> float:
    return statistics.quantiles(costs, n=20)[-1]


if __name__ == "__main__":
    main()
