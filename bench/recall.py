"""What recall costs in a long campaign, in CPU time: for rare and common words, for the DM and a character.

python bench/recall.py --events 100000
"""

import argparse
import itertools
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from dndbots.campaign import Campaign
from saga import WORDS, saga

QUESTIONS = {
    "the commonest word": WORDS[:1],
    "the four commonest": WORDS[:4],
    "four common words": WORDS[100:104],
    "three rarer words": WORDS[2000:2003],
    "three rare words": WORDS[15000:15003],
    "common and rare": [WORDS[0], WORDS[50], WORDS[3000], WORDS[15000]],
    "a name and a word": ["Throk", WORDS[3000]],
    "what nobody said": ["xyzzy"],
}
BATCH = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="recall-"))
    try:
        with Campaign.open(folder / "campaign") as campaign:
            events = itertools.islice(saga(args.seed), args.events)
            while batch := list(itertools.islice(events, BATCH)):
                campaign.record_many(batch)
            measure(campaign, args.times)
    finally:
        shutil.rmtree(folder)


def measure(campaign: Campaign, times: int) -> None:
    campaign.recall("dm", "statements and vocabularies are loaded once")
    print(f"{campaign.head} events; median CPU time of {times}\n")
    for viewer in ("dm", "pc_zara_001"):
        for name, words in QUESTIONS.items():
            costs = []
            for _ in range(times):
                began = time.process_time()
                found = campaign.recall(viewer, " ".join(words))
                costs.append(time.process_time() - began)
            told = "no record" if found.no_record else f"{len(found.items)} items, {found.tokens} tokens"
            print(f"{viewer:<14}{name:<22}{statistics.median(costs) * 1e3:>7.1f} ms  {told}")


if __name__ == "__main__":
    main()
