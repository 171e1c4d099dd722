"""Measure the web table: the first page, the way of an event to open seats, many seats at once, the X-ray.

    python -m bench.web [--games 10] [--seats 5] [--seconds 10]

The server runs in a process of its own, as `dndbots serve` does.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.server.security.seat_book import SeatBook
from dndbots.storage.address import name_of

PAGES = ("play", "xray", "memory", "people", "timeline", "recall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        games = prepare(root, options.games, options.rounds)
        home = root / "home"
        book = SeatBook(home / "dndbots" / "seats.json")
        tokens = {
            (name, seat): book.token_of(name_of(root / "campaigns" / name), seat)
            for name, seats in games.items()
            for seat in [DM, *seats][: options.seats]
        }
        server, base = start(root, home)
        try:
            found = asyncio.run(measure(base, root, tokens, options.seconds))
        finally:
            server.terminate()
            server.wait(20)
    print(json.dumps({"load": os.getloadavg()[0], **found}, indent=1))


def prepare(root: Path, number: int, rounds: int) -> dict[str, list[str]]:
    """Play some games of the house, and return their seats."""
    games = {}
    for index in range(number):
        with Campaign.open(root / "campaigns" / f"game_{index}") as campaign:
            game = Game.begin(campaign, module="apples_in_january", seed=index)
            game.play(rounds, compact=False)
            games[f"game_{index}"] = game.table.living()
    return games


def start(root: Path, home: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "dndbots", "serve", "--port", "0", "--no-compact"]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)
    assert server.stdout is not None
    address = re.search(r"(http://[\d.:]+)/", server.stdout.readline())
    assert address is not None
    return server, address.group(1)


async def measure(
    base: str, root: Path, tokens: dict[tuple[str, str], str], seconds: float
) -> dict[str, object]:
    limits = httpx2.Limits(max_connections=500)
    async with httpx2.AsyncClient(base_url=base, timeout=60, limits=limits) as client:
        found: dict[str, object] = {"seats": len(tokens), "first page": await first_page(client, tokens)}
        found["x-ray of a turn, ms (one seat after the other)"] = await xray(client, tokens)
        streams = {key: Stream(client, *key, token) for key, token in tokens.items()}
        followers = [asyncio.create_task(one.follow()) for one in streams.values()]
        await asyncio.gather(*(one.ready.wait() for one in streams.values()))
        found["event to all open seats of a game, ms"] = await delays(root, streams)
        found["pages, ms (all seats at once)"] = await pages(client, tokens, seconds)
        for one in followers:
            one.cancel()
    return found


def by(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def first_page(client: httpx2.AsyncClient, tokens: dict[tuple[str, str], str]) -> dict[str, object]:
    """Load a page and everything it needs, as a browser does the first time."""
    (name, seat), token = next((key, token) for key, token in tokens.items() if key[1] != DM)
    await client.get(f"/c/{name}/{seat}/play", headers=by(token))  # opens the campaign
    began = time.perf_counter()
    text = (await client.get(f"/c/{name}/{seat}/play", headers=by(token))).text
    parts = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)
    answers = await asyncio.gather(*(client.get(part) for part in parts))
    took = time.perf_counter() - began
    size = len(text.encode()) + sum(len(answer.content) for answer in answers)
    return {"KB": round(size / 1024, 1), "seconds": round(took, 3), "requests": 1 + len(parts)}


async def xray(client: httpx2.AsyncClient, tokens: dict[tuple[str, str], str]) -> dict[str, float]:
    times = []
    for (name, seat), token in [*tokens.items()][: 5 * 4]:
        await client.get(f"/c/{name}/{seat}/play", headers=by(token))  # opens the campaign
        for turn in ("", "?turn=6"):
            began = time.perf_counter()
            answer = await client.get(f"/c/{name}/{seat}/xray{turn}", headers=by(token))
            assert answer.status_code == 200
            times.append(1000 * (time.perf_counter() - began))
    return summary(times)


class Stream:
    """One open seat: notes when each line of the measurement arrives."""

    def __init__(self, client: httpx2.AsyncClient, name: str, seat: str, token: str) -> None:
        self.name, self._client, self._token = name, client, token
        self._address = f"/c/{name}/{seat}/stream?after=1-100000"
        self.ready, self.heard = asyncio.Event(), asyncio.Condition()
        self.arrived: dict[str, float] = {}

    async def follow(self) -> None:
        async with self._client.stream("GET", self._address, headers=by(self._token), timeout=None) as answer:
            async for line in answer.aiter_lines():
                if line == "event: composer":
                    self.ready.set()
                for mark in re.findall(r"measured-\d+", line):
                    async with self.heard:
                        self.arrived.setdefault(mark, time.perf_counter())
                        self.heard.notify_all()


async def delays(root: Path, streams: dict[tuple[str, str], Stream]) -> dict[str, float]:
    """Record events in another process than the server's, and measure when all seats have them."""
    times = []
    names = sorted({name for name, _ in streams})
    for number in range(30):
        name = names[number % len(names)]
        mark = f"measured-{number}"
        with Campaign.open(root / "campaigns" / name) as campaign:
            event = GameEvent(
                event_id=mark, event_type=EventType.DM_NARRATION, source=DM, content=mark, session_id="s01"
            )
            await asyncio.to_thread(campaign.record, event)
            recorded = time.perf_counter()
        for one in [one for one in streams.values() if one.name == name]:
            async with one.heard:
                await asyncio.wait_for(one.heard.wait_for(lambda one=one, mark=mark: mark in one.arrived), 20)
            times.append(1000 * (one.arrived[mark] - recorded))
    return summary(times)


async def pages(
    client: httpx2.AsyncClient, tokens: dict[tuple[str, str], str], seconds: float
) -> dict[str, float]:
    """Let every seat load a page, read for a few seconds, and load the next."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def browse(index: int, name: str, seat: str, token: str) -> None:
        await asyncio.sleep(4 * index / len(tokens))
        turn = index
        while time.perf_counter() < end:
            began = time.perf_counter()
            answer = await client.get(f"/c/{name}/{seat}/{PAGES[turn % len(PAGES)]}", headers=by(token))
            assert answer.status_code == 200, answer.status_code
            times.append(1000 * (time.perf_counter() - began))
            turn += 1
            await asyncio.sleep(4)

    await asyncio.gather(*(browse(index, *key, token) for index, (key, token) in enumerate(tokens.items())))
    return {**summary(times), "pages": len(times)}


def summary(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=20)
    return {
        "median": round(statistics.median(times), 1),
        "p95": round(cuts[18], 1),
        "most": round(max(times), 1),
    }


if __name__ == "__main__":
    main()
