"""What recall costs in a long campaign, in CPU time: for rare and common words, for the DM and a character.

Beside each cost stands what it is of SQLite's own full-text search (FTS5, the 25 best lines by bm25, with no
regard to who heard them), and of a plain scan of the newest 20,000 lines for the same words, in the same
run. A busy machine slows all of them down alike, so that the ratios hold where the figures do not. The first
time that a process asks a question, it also reads what it needs from disk; that has a column of its own.

python bench/recall.py --events 100000
python bench/recall.py --events 1000000 --keep DIR
"""

import argparse
import itertools
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dndbots.campaign import Campaign
from dndbots.text.terms import terms_of
from saga import WORDS, saga

QUESTIONS = {
    "the commonest word": WORDS[:1],
    "the four commonest": WORDS[:4],
    "four common words": WORDS[100:104],
    "four less common": WORDS[400:404],
    "three rarer words": WORDS[2000:2003],
    "three rare words": WORDS[15000:15003],
    "common and rare": [WORDS[0], WORDS[50], WORDS[3000], WORDS[15000]],
    "a name": ["Throk"],
    "a name and a word": ["Throk", WORDS[3000]],
    "names and words": ["Where did Zara", WORDS[30], WORDS[700], "Person 7", WORDS[5]],
    "25 words, mixed": [
        WORDS[n] for n in (3, 40, 90, 150, 260, 340, 410, 520, 610, 700, 830, 950, 1100, 1300)
    ]
    + [WORDS[n] for n in (1500, 1800, 2100, 2500, 3000, 3600, 4300, 5200, 6500, 9000, 15000)],
    "25 common words": WORDS[60:85],
    "what nobody said": ["xyzzy"],
}
VIEWERS = ("dm", "pc_zara_001")
BATCH = 5_000
SCANNED = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder to keep the campaign in, and to find it again")
    args = parser.parse_args()
    with _folder(args.keep) as folder, Campaign.open(folder / "campaign") as campaign:
        events = itertools.islice(saga(args.seed), campaign.head, args.events)
        while batch := list(itertools.islice(events, BATCH)):
            campaign.record_many(batch)
        lines = [one.content for one in itertools.islice(saga(args.seed), campaign.head)]
        peers = {"FTS5": _full_text(lines), "scan": _scan(lines[-SCANNED:])}
        measure(campaign, peers, args.times)


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="recall-") as name:
        yield Path(name)


def _full_text(lines: list[str]) -> Callable[[list[str]], object]:
    """The lines in SQLite's own index, in memory."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE lines USING fts5(text)")
    database.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines))
    best = "SELECT rowid FROM lines WHERE lines MATCH ? ORDER BY bm25(lines) LIMIT 25"

    def ask(words: list[str]) -> object:
        return database.execute(best, (" OR ".join(terms_of(" ".join(words))),)).fetchall()

    return ask


def _scan(lines: list[str]) -> Callable[[list[str]], object]:
    """The floor: whoever has no index looks at every line."""
    folded = [line.lower() for line in lines]

    def ask(words: list[str]) -> object:
        asked = list(terms_of(" ".join(words)))
        return [n for n, line in enumerate(folded) if any(word in line for word in asked)]

    return ask


def measure(campaign: Campaign, peers: dict[str, Callable[[list[str]], object]], times: int) -> None:
    campaign.recall("dm", "statements and vocabularies are loaded once")
    print(f"{campaign.head} events; CPU time: the first, the median of {times} and the least; ", end="")
    print(f"of FTS5, of a scan of {SCANNED} lines\n")
    for viewer in VIEWERS:
        for name, words in QUESTIONS.items():
            question = " ".join(words)
            (first,) = _costs(lambda asked=question, viewer=viewer: campaign.recall(viewer, asked), 1)
            found = campaign.recall(viewer, question)
            told = "no record" if found.no_record else f"{len(found.items)} items, {found.tokens} tokens"
            costs = _costs(lambda asked=question, viewer=viewer: campaign.recall(viewer, asked), times)
            ours = statistics.median(costs)
            others = [_costs(lambda words=words, ask=ask: ask(words), times) for ask in peers.values()]
            ratios = "".join(f"{ours / statistics.median(other):>8.2f}x" for other in others)
            shown = "".join(f"{cost * 1e3:>7.1f} ms" for cost in (first, ours, min(costs)))
            print(f"{viewer:<12}{name:<20}{shown} {ratios}   {told}")


def _costs(work: Callable[[], object], times: int) -> list[float]:
    costs = []
    for _ in range(times):
        began = time.process_time()
        work()
        costs.append(time.process_time() - began)
    return costs


if __name__ == "__main__":
    main()
