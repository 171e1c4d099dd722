"""Who gets in: tokens, cookies, forged forms, foreign hosts, and requests that are too large."""

from pathlib import Path

import pytest
from starlette.routing import Mount, Route
from tests.server.table_site import BASE, GAME, Site, form_of, page

from dndbots.ids import DM
from dndbots.server.security.guards import MOST_BYTES
from dndbots.server.security.seat_book import SeatBook


def seat_paths(site: Site) -> dict[str, set[str]]:
    """Return every path below a seat, with its methods."""
    mount = next(
        route
        for route in site.app.routes
        if isinstance(route, Mount) and route.path.startswith("/c/{campaign}/{seat}")
    )
    return {
        route.path.replace("{uid}", "pc_x_001").replace("{number:int}", "1"): set(route.methods or ())
        for route in mount.routes
        if isinstance(route, Route)
    }


def test_nobody_gets_in_without_a_token(site: Site) -> None:
    """Every page of every seat is closed to a browser that has no link."""
    seat = site.seats()[0]
    with site.client() as client:
        assert client.get("/").status_code == 403
        assert client.get("/begin").status_code == 403
        for path, methods in seat_paths(site).items():
            for who in (seat, DM):
                for method in methods - {"HEAD"}:
                    assert client.request(method, f"/c/{GAME}/{who}{path}").status_code == 403, (path, who)


def test_a_players_token_opens_one_seat_and_no_other(site: Site) -> None:
    """On any path, a player sees and does nothing for the DM or for another character."""
    seat, other, *_ = site.seats()
    with site.player(seat) as client:
        assert client.get(page(seat)).status_code == 200
        form = form_of(client, page(seat))
        for path, methods in seat_paths(site).items():
            for who in (other, DM, "pc_nobody_001", "dm ", "DM"):
                for method in methods - {"HEAD"}:
                    answer = client.request(
                        method, f"/c/{GAME}/{who}{path}", data=form if method == "POST" else None
                    )
                    assert answer.status_code in (403, 404), (path, who, method)
                    assert "Marrowby" not in answer.text
        assert client.get("/begin").status_code == 403
        assert client.post("/begin", data=form).status_code == 403


def test_a_token_opens_no_other_campaign_and_does_not_tell_which_exist(site: Site) -> None:
    """A closed seat and one that does not exist look the same."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        answers = {
            client.get(address).text
            for address in ("/c/other/dm/play", f"/c/{GAME}/dm/play", f"/c/{GAME}~x/{seat}/play")
        }
    assert len(answers) == 1


def test_a_revoked_token_opens_nothing(site: Site) -> None:
    """A renewed link closes the old one at once, also for browsers that are in."""
    seat = site.seats()[0]
    old = site.token(seat)
    with site.player(seat) as client:
        assert client.get(page(seat)).status_code == 200
        new = site.book.revoke(site.served.key, seat)
        assert client.get(page(seat)).status_code == 403
        assert client.get(f"/enter/{old}").status_code == 403
        assert client.get(f"/enter/{new}").status_code == 303


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    """Scripts cannot read the token, and other sites cannot post with it."""
    with site.client() as client:
        cookie = client.get(f"/enter/{site.book.owner}").headers["set-cookie"].casefold()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": f"{BASE}:81"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
def test_a_form_of_another_site_is_refused(site: Site, headers: dict[str, str]) -> None:
    """A page elsewhere cannot act with the cookie of a player."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat)) | {"do": "take"}
        assert client.post(page(seat, "seat"), data=form, headers=headers).status_code == 403
        host = site.served.host
        assert host is not None
        assert host.people == frozenset()


def test_a_form_without_its_token_is_refused(site: Site) -> None:
    """Even from our own origin, a form must come from a page that this browser was shown."""
    seat = site.seats()[0]
    with site.player(seat) as client, site.player(site.seats()[1]) as other:
        theirs = form_of(other, page(site.seats()[1]))
        for form in ({}, {"csrf": "0" * 64}, {"csrf": "ü"}, theirs):
            assert client.post(page(seat, "seat"), data={**form, "do": "take"}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost.evil"])
def test_another_host_name_is_refused(site: Site, host: str) -> None:
    """A name that somebody else's DNS points here reaches nothing."""
    with site.owner() as client:
        answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "campaign" not in answer.text.casefold()


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000"])
def test_loopback_names_are_answered(site: Site, host: str) -> None:
    with site.owner() as client:
        assert client.get("/", headers={"host": host}).status_code == 200


def test_large_requests_are_refused(site: Site) -> None:
    """A body is bounded, whether it says its size or not."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat)) | {"line": "x" * MOST_BYTES}
        assert client.post(page(seat, "say"), data=form).status_code == 413
        chunks = (b"x" * 65_536 for _ in range(20))
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post(page(seat, "say"), content=chunks, headers=kind).status_code == 413


def test_every_answer_forbids_inline_scripts(site: Site) -> None:
    """Text that got past the escaping would still not run."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        for address in (page(seat), "/", "/nowhere", page(DM), "/static/table.js"):
            policy = client.get(address).headers["content-security-policy"]
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
        text = client.get(page(seat)).text
    assert " style=" not in text
    assert " onclick=" not in text


def test_the_book_survives_a_restart_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Links stay valid; nobody else on the machine can read them."""
    file = tmp_path / "home" / "config" / "seats.json"
    book = SeatBook(file)
    token = book.token_of("here", DM)
    book.keep_people("here", ["pc_zara_001"])
    assert file.stat().st_mode & 0o077 == 0
    again = SeatBook(file)
    assert again.owner == book.owner
    assert again.token_of("here", DM) == token
    assert again.people("here") == {"pc_zara_001"}


def test_a_damaged_book_is_replaced(tmp_path: Path) -> None:
    """A broken file costs the old links, and nothing else."""
    file = tmp_path / "seats.json"
    for text in ("{", "[]", '{"campaigns": {"x": 1}}', '{"owner": 3}'):
        file.write_text(text, "utf-8")
        book = SeatBook(file)
        assert len(book.owner) > 20
        assert book.grant_of("") is None
