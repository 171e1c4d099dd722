"""The law of perspective over rendered pages and streams: a seat's page depends only on what it perceived."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from tests.server.table_site import GAME, Site, page

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.server.pages.play import _Follower
from dndbots.server.pages.site import SeatRequest
from dndbots.server.pages.take_out import list_take_outs
from dndbots.server.security.access import Access

# Every page of a player, with questions that reach for what others know.
QUERIES = {
    "/play": [""],
    "/earlier": ["?before=40"],
    "/xray": ["", "?turn=3", "?turn=6&with=2"],
    "/memory": [""],
    "/people": [""],
    "/people/{uid}": [],
    "/graph": [""],
    "/graph.json": [""],
    "/timeline": [""],
    "/recall": ["", "?q=Who is Viper?", "?q=What did they whisper about the vault?"],
    "/log.jsonl": [""],
    "/take-out/{kind}": [],
}
# Pages that are the DM's, and the stream, which has a test of its own.
NOT_A_PLAYERS = {
    *("/compare", "/who-knows", "/table", "/bring-in", "/requests", "/requests/{number:int}"),
    "/stream",
}
SECRETS = ("Viper", "vault", "Nightshade", "npc_viper", "loc_vault")


def reveal(campaign: Campaign, seat: str) -> None:
    """Record secrets that one seat alone perceives."""
    for number, text in enumerate(
        ("Viper waits below the vault.", "Nightshade, whispers Viper, is the word.")
    ):
        campaign.record(
            GameEvent(
                event_id=f"secret_{number}",
                event_type=EventType.WHISPER if number else EventType.DM_NARRATION,
                source="npc_viper_001" if number else DM,
                content=text,
                session_id="s01",
                turn=3,
                metadata={
                    "names": {"npc_viper_001": "Viper", "loc_vault_001": "the vault"},
                    "facts": [{"subject": "npc_viper_001", "op": "@", "object": "loc_vault_001"}],
                    **({"told_to": [seat]} if number else {"witnesses": [seat]}),
                },
            )
        )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of a party that splits, with secrets of one of them in the middle."""
    folder = tmp_path_factory.mktemp("played")
    with Campaign.open(folder / GAME) as campaign:
        game = Game.begin(campaign, module="apples_in_january", seed=11)
        game.play(3, compact=False)
        reveal(campaign, game.table.living()[0])
        game.play(5, compact=False)
    return folder


@pytest.fixture(scope="module")
def worlds(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Site, str]]:
    """The whole campaign, one with only what the second seat perceived, and that seat."""
    whole = Site(played)
    seat = whole.seats()[1]
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(played, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / GAME)
    with Campaign.open(folder / GAME) as own, whole.served.reader.view(seat) as view:
        own.replay(view.with_own_events().events())
    part = Site(folder)
    yield whole, part, seat
    whole.close()
    part.close()


def player_paths(site: Site) -> set[str]:
    """Return every path that a player can get."""
    mount = next(route for route in site.app.routes if isinstance(route, Mount) and "{seat}" in route.path)
    return {
        route.path for route in mount.routes if isinstance(route, Route) and "GET" in (route.methods or ())
    }


def shown(client: TestClient, site: Site, address: str) -> str:
    """Return a page without what belongs to this server: tokens of forms, and that a game can be played."""
    text = client.get(address).text
    assert site.served.key not in text
    text = re.sub(r'value="[0-9a-f]{64}"', "", text)
    return re.sub(r'<div class="composer".*?\n</div>\n', "", text, flags=re.DOTALL)


def test_every_page_of_a_player_is_asked(worlds: tuple[Site, Site, str]) -> None:
    """A new page is compared in both worlds, or named as one that is not a player's."""
    assert player_paths(worlds[0]) == {*QUERIES} | NOT_A_PLAYERS


def test_pages_of_a_seat_come_from_what_it_perceived(worlds: tuple[Site, Site, str]) -> None:
    """Byte for byte, a page is the same from a log that holds only what the seat perceived."""
    whole, part, seat = worlds
    # The game's settings are the DM's: without them, the one world cannot be played, and has no prompt.
    whole.served.host, whole.served.title = None, part.served.title
    with whole.player(seat) as client, part.player(seat) as own:
        for path, queries in QUERIES.items():
            for query in queries:
                address = page(seat, f"{path[1:]}{query}")
                text = shown(client, whole, address)
                if path != "/log.jsonl":
                    assert text == shown(own, part, address), address
                for secret in SECRETS:
                    searched = text.replace("Who is Viper?", "").replace("they whisper about the vault?", "")
                    assert secret not in searched, (address, secret)
        for profile in re.findall(r'people/(\w+)"', client.get(page(seat, "people")).text):
            address = page(seat, f"people/{profile}")
            assert shown(client, whole, address) == shown(own, part, address), address


@pytest.mark.parametrize("kind", [*list_take_outs("pc_any_001")])
def test_files_of_a_seat_come_from_what_it_perceived(worlds: tuple[Site, Site, str], kind: str) -> None:
    """Byte for byte, a file that a seat takes out is the same from a log of what the seat perceived."""
    whole, part, seat = worlds
    address = page(seat, f"take-out/{kind}")
    with whole.player(seat) as client, part.player(seat) as own:
        taken = client.get(address)
        assert taken.status_code == 200
        assert taken.headers["content-disposition"].startswith("attachment")
        assert len(taken.content) > 200
        assert taken.content == own.get(address).content


def test_the_secret_is_on_the_pages_of_its_seat(worlds: tuple[Site, Site, str]) -> None:
    """The law would hold for empty pages, too: the seat that knows the secret reads it."""
    whole = worlds[0]
    knower = whole.seats()[0]
    with whole.player(knower) as client:
        for path in (
            "play",
            "people",
            "timeline?at=secret_0",
            "recall?q=Viper",
            "log.jsonl",
            "take-out/notes",
        ):
            assert "Viper" in client.get(page(knower, path)).text, path


def frames_of(site: Site, seat: str) -> str:
    """Return everything that the stream of a seat sends from the beginning."""
    access = Access(site.book, (site.token(seat),))
    follower = _Follower(SeatRequest(None, site.served, seat, access), f"{site.served.branch_id}-0")  # type: ignore[arg-type]
    return re.sub(r"event: composer\n.*?\n\n", "", follower.collect(), flags=re.DOTALL)


def test_the_stream_of_a_seat_comes_from_what_it_perceived(worlds: tuple[Site, Site, str]) -> None:
    """Numbers included: no gap tells that something happened elsewhere."""
    whole, part, seat = worlds
    frames = frames_of(whole, seat)
    assert frames == frames_of(part, seat)
    assert frames.count("event: line") == whole.served.story(seat).told
    assert not any(secret in frames for secret in SECRETS)
    assert "Viper" in frames_of(whole, whole.seats()[0])
