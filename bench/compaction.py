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
    that it was found in. The floor takes every "Name is something" for a fact; "all there is" is somebody
    who hears everything that is said, and must be right throughout.
    It would lie if the prose were written to suit the extractor, or the extractor to suit the prose: neither
    should be changed after a look at the other's mistakes. It would also lie if lines said more than their
    truths: then what was found rightly counts as wrong. `--wrong` prints those for a person to judge.
    structured/raw depends on how much is said: here, lines that say something are a seventh of the tokens.
    There are some 490 ways of saying things, and 160 of seeming to: more turns than it takes to use each of
    them a few times make the figures no surer.

context
    For every probe, a subject and field that the DM has plainly stated: does the current value stand in the
    text on a line with its subject (right), only an older one (stale: a contradiction), both, or neither
    (absent)? Beside the context stand as many tokens of the newest raw turns, and the last 10 turns.
    It would lie where an old value and a new one share their words, or where a text says the right thing in
    other words. What is absent is no contradiction, so a context that says nothing is never stale: read both
    columns. Turns are short here, 15 tokens; of longer ones, fewer fit. At turn 10 there are few probes.

cost
    The wall time to record a turn, in ms: without compaction, while one is running, and on turns that queue
    one. Rounds of each take turns in the same campaign on the same disk, so that a busy machine slows all of
    them alike. "the same again" is the peer's second half against its first: a ratio nearer to 1 than that
    is noise. What queuing adds is given in time of the clock, which is noisy too, and in CPU time of the
    thread that plays, which does not see it wait. It would lie if compaction ended before the turns
    did: take a `--backlog` that keeps it busy.
"""

import argparse
import itertools
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.extraction.port import Extractor
from dndbots.testing import memory_campaign
from dndbots.tokens import count_many, count_tokens
from phrases import HALVES
from reading import (
    Accepted,
    Made,
    Marks,
    NameIsSomething,
    Said,
    as_raw,
    by_line,
    content,
    marked,
    rendered,
    share,
    stands,
)
from told import Told, check, told

MISSING = "not there yet"
# Turns between two compactions, rounds, and turns of each kind in a round, where costs are measured.
EVERY, ROUNDS, EACH = 5, 6, 60

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("extraction", "context", "cost"))
    parser.add_argument("--turns", type=int, default=4_000, help="turns to extract from, of each seed")
    parser.add_argument("--seeds", type=_numbers, default=[1, 2, 3])
    parser.add_argument(
        "--phrasings", choices=HALVES, default="all", help="which ways to say a thing to extract from"
    )
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


# What was found.


def measure_extraction(args: argparse.Namespace) -> None:
    campaigns = [told(seed, args.turns, args.phrasings) for seed in args.seeds]
    for campaign in campaigns:
        check(campaign)
    lines = sum(len(campaign.lines) for campaign in campaigns)
    truths = [truth for campaign in campaigns for truth in campaign.truths]
    plain = sum(truth.plain for truth in truths)
    print(f"extraction from {lines} turns that say {len(truths)} things, {plain} of them plainly\n")
    print(f"{'':<14}{'updates':>8}{'precision':>11}{'recall, plain':>15}{'recall':>8}{'structured/raw':>16}")
    floor = marked(campaigns, NameIsSomething())
    _print_marks("floor", floor)
    _print_marks("all there is", marked(campaigns, None))
    extractor = default_extractor()
    if extractor is None:
        print(f"rules         {MISSING}")
        marks = floor
    else:
        _print_marks("rules", marked(campaigns, extractor))
        marks = marked(campaigns, Accepted(extractor))
        _print_marks("accepted", marks)
        ratio = marks.precision / floor.precision, marks.recall(plain=True) / floor.recall(plain=True)
        print(f"{'accepted/floor':<14}{'':>8}{ratio[0]:>11.2f}{ratio[1]:>15.2f}")
    _print_by(marks, "field", lambda one: one.truth.field, lambda one: one.update.field)
    _print_by(marks, "speaker", lambda one: one.speaker, lambda one: one.speaker)
    _print_mistakes(marks, args)


def default_extractor() -> Extractor | None:
    try:
        from dndbots.extraction.english import RuleExtractor
    except ImportError:
        return None
    return RuleExtractor()


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
            f"{name:<14}{said[name]:>14}{found[name]:>7}{share(found[name], said[name]):>8.2f}"
            f"{made[name]:>9}{right[name]:>7}{share(right[name], made[name]):>11.2f}"
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
    return {name: share(found[name], total) for name in OUTCOMES}, total


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


class Took(NamedTuple):
    """Seconds of the clock, and of this thread's CPU time."""

    clock: float
    cpu: float


@dataclass
class Costs:
    """What each turn took, by when it was recorded."""

    before: list[Took] = field(default_factory=list)
    during: list[Took] = field(default_factory=list)
    after: list[Took] = field(default_factory=list)


def measure_cost(args: argparse.Namespace) -> None:
    backlog = args.backlog // ROUNDS
    lines = iter(told(args.seeds[0], ROUNDS * (backlog + 3 * EACH)).lines)
    costs = Costs()
    folder = Path(tempfile.mkdtemp(prefix="compaction-"))
    try:
        with Campaign.open(folder / "campaign") as played:
            for _ in range(ROUNDS):
                played.import_transcript(itertools.islice(lines, backlog))
                play_round(played, lines, costs)
    finally:
        shutil.rmtree(folder)
    print(f"ms to record a turn, in {ROUNDS} rounds with {backlog} turns each that wait to be compacted\n")
    print(f"{'':<32}{'turns':>6}{'p50':>8}{'p95':>8}{'p95 ratio':>11}")
    _print_cost("without compaction", costs.before, costs.before)
    _print_cost("the same again", costs.after, costs.before)
    if not costs.during:
        print(f"while one is running            {MISSING}")
        return
    quiet = costs.before + costs.after
    queuing = costs.during[EVERY - 1 :: EVERY]
    _print_cost("while one is running", costs.during, quiet)
    _print_cost("turns that queue one", queuing, quiet)
    others = [cost for number, cost in enumerate(costs.during, 1) if number % EVERY]
    clock = statistics.median(one.clock for one in queuing) - statistics.median(one.clock for one in others)
    cpu = statistics.median(one.cpu for one in queuing) - statistics.median(one.cpu for one in others)
    print(f"\nqueuing adds {clock * 1e3:.3f} ms to the median turn, and {cpu * 1e3:.3f} ms of CPU time")


def play_round(played: Campaign, lines: Iterator[dict[str, str]], costs: Costs) -> None:
    """Turns without compaction, turns while one runs, and turns without again."""
    uids = {one.name: one.uid for one in played.entities(viewer="dm")}
    events = (as_event(line, uids) for line in lines)
    costs.before += timed(played, itertools.islice(events, EACH))
    if hasattr(played, "compacting"):
        with played.compacting(every=EVERY) as compactor:
            costs.during += timed(played, itertools.islice(events, EACH))
            compactor.wait()
    costs.after += timed(played, itertools.islice(events, EACH))


def as_event(line: dict[str, str], uids: Mapping[str, str]) -> GameEvent:
    kinds = {"dm": EventType.DM_NARRATION, "pc": EventType.PLAYER_ACTION, "npc": EventType.DIALOGUE}
    return GameEvent(
        event_id=line["id"],
        event_type=kinds[line["role"]],
        source=uids.get(line["speaker"], "dm"),
        content=line["text"],
        session_id=line["session"],
    )


def timed(campaign: Campaign, events: Iterable[GameEvent]) -> list[Took]:
    costs = []
    for event in events:
        clock, cpu = time.perf_counter(), time.thread_time()
        campaign.record(event)
        costs.append(Took(time.perf_counter() - clock, time.thread_time() - cpu))
    return costs


def _print_cost(name: str, costs: list[Took], peer: list[Took]) -> None:
    p50, p95 = statistics.median(one.clock for one in costs), _p95(costs)
    print(f"{name:<32}{len(costs):>6}{p50 * 1e3:>8.2f}{p95 * 1e3:>8.2f}{p95 / _p95(peer):>11.2f}")


def _p95(costs: list[Took]) -> float:
    return statistics.quantiles((one.clock for one in costs), n=20)[-1]


if __name__ == "__main__":
    main()
