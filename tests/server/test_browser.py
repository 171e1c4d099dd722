"""The table in a real browser: two people with a secret, a server that is killed, every page on a phone."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.browser import Person, opened_browser
from tests.server.table_site import GAME, Site, page, served_on_loopback
from tests.waiting import HANG

from dndbots.ids import DM

WHISPERED = "The key is under the third stone"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as browser:
        yield browser


def test_two_people_play_one_table_with_a_secret_between_them(site: Site, browser: Any) -> None:
    """Each page shows what its seat perceives, as it happens; a whisper reaches its two ends and the DM."""
    first, second, third, *_ = site.seats()
    names = site.served.seats()
    with served_on_loopback(site) as base:

        def enter(seat: str, **options: bool) -> Person:
            return Person(browser, f"{base}/enter/{site.token(seat)}", **options)

        one, two, other, dm = enter(first), enter(second, dark=True), enter(third), enter(DM)
        one.page.click(f"text=Play {names[first]}")
        two.page.click(f"text=Play {names[second]}")
        one.send(f"whisper to {names[second]}: {WHISPERED}.")
        two.page.wait_for_selector(f".whisper >> text={WHISPERED}")
        dm.page.wait_for_selector(f".whisper >> text={WHISPERED}")
        two.send('"I heard that," I say aloud.')
        for person in (one, other, dm):
            person.page.wait_for_selector("#lines >> text=I heard that")
        assert WHISPERED in one.story()
        assert WHISPERED not in other.page.content()
        one.wait_for_turn()
        one.picture("play")
        two.picture("play-dark")
        # What was understood stands beside the box, and a reload changes nothing.
        one.page.fill("#words", "look at the straw wreath")
        one.page.wait_for_function("() => document.querySelector('#understood').textContent.includes('look')")
        before = one.numbers()
        one.page.reload()
        assert one.numbers() == before == sorted(set(before))
        again = Person(browser, f"{base}/enter/{site.token(first)}")
        assert again.numbers() == before
        # The X-ray of the one has the secret, that of the other has not.
        one.page.goto(f"{base}{page(first, 'xray')}")
        assert "third stone" in one.page.content()
        one.picture("xray")
        other.page.goto(f"{base}{page(third, 'xray')}")
        assert "third stone" not in other.page.content()
        dm.page.goto(f"{base}{page(DM, f'compare?a={second}&b={third}')}")
        assert "third stone" in dm.page.content()
        dm.picture("compare")
        for person in (one, two, other, dm, again):
            assert person.faults == []
            person.context.close()


@contextmanager
def served_program(
    folder: Path, home: Path, port: int
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run `dndbots serve`, and give its links by name."""
    command = [
        sys.executable,
        "-m",
        "dndbots",
        "serve",
        "-c",
        str(folder / GAME),
        "--port",
        str(port),
        "--no-compact",
    ]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    program = subprocess.Popen([*command, "--no-compact"], stdout=subprocess.PIPE, text=True, env=environment)
    assert program.stdout is not None
    links: dict[str, str] = {}
    for line in program.stdout:
        found = re.fullmatch(r"(.+?)\s+(http://\S+)\n", line)
        if found is None:
            break
        links[found.group(1)] = found.group(2)
    try:
        yield program, links
    finally:
        program.kill()
        program.wait(HANG)
        program.stdout.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_killed_server_resumes_and_the_page_misses_nothing(
    site: Site, browser: Any, tmp_path: Path
) -> None:
    """The page reconnects by itself, gets each line once, and the game waits for the same person."""
    seat, name = next(iter(site.served.seats().items()))
    site.close()
    home, port = tmp_path / "home", free_port()
    with served_program(site.folder, home, port) as (program, links):
        person = Person(browser, links[name])
        person.page.click(f"text=Play {name}")
        person.send('"Wait for me."')
        person.wait_for_turn()
        before = person.numbers()
        program.send_signal(signal.SIGKILL)
        program.wait(HANG)
        person.page.wait_for_selector("body.lost")
    with served_program(site.folder, home, port):
        person.page.wait_for_selector("body:not(.lost)")
        person.send('"Here I am again."')
        person.page.wait_for_selector("#lines >> text=Here I am again")
        person.wait_for_turn()
        numbers = person.numbers()
    assert numbers == [*range(numbers[0], numbers[-1] + 1)]
    assert numbers[: len(before)] == before
    assert person.faults == []
    person.context.close()
    assert seat


def test_every_page_on_a_phone_by_keyboard_and_for_everybody(site: Site, browser: Any) -> None:
    """A first visit, then all pages: no errors, no request that leaves loopback, nothing that axe finds."""
    with served_on_loopback(site) as base:
        person = Person(browser, f"{base}/enter/{site.book.owner}", phone=True)
        person.page.goto(f"{base}/begin")
        person.check_access()
        # Three steps by keyboard alone: an adventure, a character, a line.
        person.page.focus('a[href*="apples_in_january"]')
        person.page.keyboard.press("Enter")
        person.page.wait_for_selector("button.card")
        person.check_access()
        person.picture("begin")
        person.page.focus("button.card")
        person.page.keyboard.press("Enter")
        person.wait_for_turn()
        person.page.keyboard.press("i")
        person.page.keyboard.type('"Good evening to you."')
        person.page.keyboard.press("Enter")
        person.page.wait_for_selector("#lines >> text=Good evening")
        person.wait_for_turn()
        person.picture("phone")
        seat = person.page.url.split("/")[5]
        game = person.page.url.split("/")[4]
        overflow = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        tour = (
            "play",
            "xray",
            "memory",
            "people",
            f"people/{seat}",
            "timeline",
            "recall?q=Marrowby",
            "graph",
        )
        for who, pages in ((seat, tour), (DM, ("play", "compare", "table", "bring-in", "timeline"))):
            for name in pages:
                person.page.goto(f"{base}/c/{game}/{who}/{name}")
                if name == "graph":
                    person.page.wait_for_function(
                        "() => document.querySelector('#graph').graph?.nodes().length > 1"
                    )
                person.check_access()
                if person.page.evaluate(overflow) > 0:
                    person.faults.append(f"{name} is wider than a phone")
        assert person.faults == []
        person.context.close()
        wide = Person(browser, f"{base}/enter/{site.book.owner}", dark=True)
        for name in ("play", "xray", "memory", "people", "timeline", "compare", "table"):
            wide.page.goto(f"{base}{page(DM, name)}")
            wide.check_access()
            if name in ("memory", "timeline"):
                wide.picture(name)
        assert wide.faults == []
        wide.context.close()
