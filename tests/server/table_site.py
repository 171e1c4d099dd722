"""A server with a game for tests: its application, its tokens, and clients that hold them."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import uvicorn
from starlette.testclient import TestClient
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.server.app import build_app, end_streams
from dndbots.server.security.seat_book import SeatBook
from dndbots.server.tables.game_host import Phase
from dndbots.server.tables.served_campaigns import CampaignShelf, ServedCampaign, ServedCampaigns

BASE = "http://127.0.0.1"
GAME = "orchard"
SEED = 3


def begin_game(folder: Path, *, rounds: int = 2, name: str = GAME) -> None:
    """Begin a game of the house, and play some rounds."""
    with Campaign.open(folder / name) as campaign:
        Game.begin(campaign, module="apples_in_january", seed=SEED).play(rounds, compact=False)


class Site:
    """An application over a folder of campaigns, and everything a test asks of it."""

    def __init__(self, folder: Path, *, book: SeatBook | None = None) -> None:
        self.folder = folder
        self.book = book or SeatBook()
        self.campaigns = ServedCampaigns(CampaignShelf(folder=folder), self.book, compact=False)
        self.app = build_app(self.campaigns)

    @property
    def served(self) -> ServedCampaign:
        return self.campaigns.get(GAME)

    def token(self, seat: str, name: str = GAME) -> str:
        return self.book.token_of(self.campaigns.get(name).key, seat)

    def client(self, *tokens: str) -> TestClient:
        """Return a browser that entered with some tokens."""
        client = TestClient(self.app, base_url=BASE, headers={"origin": BASE}, follow_redirects=False)
        for token in tokens:
            assert client.get(f"/enter/{token}").status_code == 303
        return client

    def player(self, seat: str) -> TestClient:
        return self.client(self.token(seat))

    def owner(self) -> TestClient:
        return self.client(self.book.owner)

    def seats(self) -> list[str]:
        return [*self.served.seats()]

    def wait_for(self, seat: str | None = None, *, phase: Phase = Phase.WAITING) -> None:
        """Wait until the game waits for a seat, or is in a phase."""
        host = self.served.host
        assert host is not None
        with host._state:
            assert host._state.wait_for(
                lambda: host.status.phase is phase and seat in (None, host.status.seat), HANG
            ), host.status

    def close(self) -> None:
        self.campaigns.close()


def form_of(client: TestClient, address: str) -> dict[str, str]:
    """Return the hidden token of a page's forms."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(address).text)
    assert found is not None, address
    return {"csrf": found.group(1)}


def page(seat: str, name: str = "play", game: str = GAME) -> str:
    """Return the address of a page of a seat."""
    return f"/c/{game}/{seat}/{name}"


@contextmanager
def served_on_loopback(site: Site) -> Iterator[str]:
    """Serve an application on a free port, and give its address."""
    server = uvicorn.Server(uvicorn.Config(site.app, port=0, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"{BASE}:{port}"
    finally:
        end_streams(site.app)
        server.should_exit = True
        thread.join(HANG)


@contextmanager
def streamed(
    base: str, token: str, seat: str, *, after: str = "0-0"
) -> Iterator[Iterator[tuple[str, str, str]]]:
    """Open the stream of a seat; give its frames as (event, id, data)."""
    headers = {"authorization": f"Bearer {token}"}
    address = f"{base}{page(seat, 'stream')}?after={after}"
    with httpx2.Client(timeout=HANG) as client, client.stream("GET", address, headers=headers) as answer:
        assert answer.status_code == 200, answer.status_code
        yield _frames(answer.iter_lines())


def _frames(lines: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    event = position = ""
    data: list[str] = []
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            event = value
        elif name == "id":
            position = value
        elif name == "data":
            data.append(value)
        elif not line and event:
            yield event, position, "\n".join(data)
            event, position, data = "", "", []


__all__ = ["BASE", "DM", "GAME", "Site", "begin_game", "form_of", "page", "served_on_loopback", "streamed"]
