"""Files of other programs in and out again, and how fast a long chat is imported and followed.

python bench/interop.py --data DIR      what each file below DIR is and becomes
python bench/interop.py --megabytes 100 a chat of that size in, and an edit in the middle of 10,000 messages
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dndbots.campaign import Campaign
from dndbots.errors import UnreadableFile
from dndbots.interop.formats.neutral import ImportOptions, ReadFile
from dndbots.interop.recognition import find_files, read_path
from dndbots.interop.writers.card_writer import card_picture, write_card
from dndbots.interop.writers.chat_writer import write_chat
from dndbots.interop.writers.lore_writer import write_world_info
from dndbots.testing import memory_campaign

_COMMON = (
    "gate mill lantern bridge captain rain night door key bell crypt forest road silver priest wolf the a of "
    "and with under behind slowly opens waits listens walks says nothing Zara Throk Elena"
)
WORDS = [*_COMMON.split(" "), *(f"lorem{number}" for number in range(2_000))]


def came_back(found: ReadFile, folder: Path) -> str:
    """Write each part in the format we write, read it again, and compare; `-` if there is none."""
    told = []
    for chat in found.chats:
        path = folder / f"{chat.name[:40].replace('/', ' ')}.jsonl"
        path.write_text("\n".join(write_chat(chat)))
        again = list(read_path(path, ImportOptions()).chats[0].messages)
        told.append(
            [(one.speaker, one.text) for one in again] == [(one.speaker, one.text) for one in chat.messages]
        )
    for book in found.books:
        path = folder / "book.json"
        path.write_text(json.dumps(write_world_info(book)))
        [copy] = read_path(path, ImportOptions()).books
        told.append(
            [(one.title, one.text) for one in copy.entries] == [(one.title, one.text) for one in book.entries]
        )
    for card in found.cards:
        path = folder / "card.png"
        path.write_bytes(card_picture({**write_card(card), "spec": "chara_card_v2"}))
        [twin] = read_path(path, ImportOptions()).cards
        told.append((twin.name, twin.description, twin.book) == (card.name, card.description, card.book))
    return "-" if not told else "equal" if all(told) else "DIFFERS"


def measure_files(folder: Path) -> None:
    print(f"{'file':54} {'family':23} {'messages':>8} {'notes':>6} {'cards':>6}  out and in  again")
    with tempfile.TemporaryDirectory() as scratch:
        for path in find_files([folder]):
            name = str(path.relative_to(folder))[-54:]
            try:
                found = read_path(path, ImportOptions())
            except UnreadableFile as exc:
                print(f"{name:54} refused: {exc.reason[:70]}")
                continue
            campaign = memory_campaign()
            [result] = campaign.import_files([path])
            head = campaign.head
            campaign.import_files([path])
            messages = sum(followed.added for _, followed in result.chats)
            notes = sum(imported.added for _, imported in result.books)
            again = "unchanged" if campaign.head == head and not campaign.verify() else "CHANGED"
            back = came_back(found, Path(scratch))
            print(
                f"{name:54} {found.family:23} {messages:8} {notes:6} {len(result.cards):6} {back:10} {again}"
            )


def chat_file(path: Path, megabytes: float, words: int, *, most: int | None = None) -> int:
    rng, size, count = random.Random(1), 0, 0
    with path.open("w") as file:
        for line in _messages(rng, words):
            file.write(line + "\n")
            size, count = size + len(line), count + 1
            if size >= megabytes * 1_000_000 or count == most:
                return count
    return count


def _messages(rng: random.Random, words: int) -> Iterator[str]:
    yield json.dumps({"chat_metadata": {}, "user_name": "Zara", "character_name": "Narrator"})
    number = 0
    while True:
        number += 1
        text = " ".join(rng.choices(WORDS, k=words)).capitalize() + "."
        month, day = 1 + number // 40_000 % 12, 1 + number // 1_440 % 28
        message = {
            "name": ("Narrator", "Zara")[number % 2],
            "is_user": bool(number % 2),
            "send_date": f"2025-{month:02}-{day:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
            "mes": text,
            "swipes": [text],
            "swipe_id": 0,
            "extra": {"model": "m", "gen_id": number},
        }
        yield json.dumps(message)


def measure_speed(megabytes: float, words: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "chat.jsonl"
        count = chat_file(path, megabytes, words)
        with Campaign.open(Path(scratch) / "long") as campaign:
            before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            campaign.import_files([path])
            took, after = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{megabytes:g} MB, {count - 1} messages: {took:.1f} s CPU, {before >> 10} -> {after >> 10} MB")
        chat_file(path, 1e9, words, most=10_001)
        with Campaign.open(Path(scratch) / "edited") as campaign:
            campaign.import_files([path])
            lines = path.read_text().splitlines()
            lines[5_000] = json.dumps(
                {**json.loads(lines[5_000]), "mes": "Zara waits at the gate after all."}
            )
            path.write_text("\n".join(lines))
            began = time.process_time()
            [result] = campaign.import_files([path])
            print(f"an edit in 10,000: {time.process_time() - began:.2f} s CPU, {result.chats[0][1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with files of other programs")
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--words", type=int, default=60, help="words of a message")
    args = parser.parse_args()
    if args.data is not None:
        measure_files(args.data)
    measure_speed(args.megabytes, args.words)


if __name__ == "__main__":
    main()
