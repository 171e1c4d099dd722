"""A real browser for tests: Chromium through playwright, watched for errors and foreign requests."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.waiting import HANG

CHROMIUM = os.environ.get("DNDBOTS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
DESKTOP = {"width": 1280, "height": 800}
PICTURE = {"width": 1080, "height": 660}  # small enough for a page of docs
PHONE = {"width": 390, "height": 844}
# A lost connection is part of a test; the browser notes it by itself.
LOST = ("net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_EMPTY_RESPONSE")


@contextmanager
def opened_browser() -> Iterator[Any]:
    """Open Chromium; skip where it cannot be had."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: make browser")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """Somebody at a browser: one context with its own cookies, and everything that went wrong in it."""

    def __init__(self, browser: Any, link: str, *, phone: bool = False, dark: bool = False) -> None:
        self.context = browser.new_context(
            viewport=PHONE if phone else DESKTOP,
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(HANG * 1_000)
        self.faults: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", self._see)
        self.page.goto(link)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(one in message.text for one in LOST):
            self.faults.append(message.text)

    def _see(self, request: Any) -> None:
        if urlsplit(request.url).hostname != "127.0.0.1" and not request.url.startswith("data:"):
            self.faults.append(f"a request left loopback: {request.url}")

    def wait_for_turn(self) -> None:
        self.page.wait_for_selector('.composer[data-due="yes"]')

    def send(self, line: str) -> None:
        """Type a line as the person does, and wait until the game has taken it."""
        self.wait_for_turn()
        self.page.fill("#words", line)
        self.page.press("#words", "Enter")
        self.page.wait_for_function("() => !document.querySelector('#words')?.value")

    def story(self) -> str:
        text: str = self.page.inner_text("#lines")
        return text

    def numbers(self) -> list[int]:
        """Return the numbers of the lines on the page, in order."""
        ids = self.page.eval_on_selector_all("#lines [id^=line-]", "all => all.map(one => one.id)")
        return [int(one.removeprefix("line-")) for one in ids]

    def check_access(self) -> None:
        """Check the page with axe (contrast, names, landmarks, order of headings), and note what it finds."""
        found = self.page.evaluate(
            f"async () => {{ {AXE.read_text('utf-8')}; return (await axe.run()).violations.map("
            "one => one.id + ': ' + one.nodes.map(node => node.html).slice(0, 3).join(' | ')); }"
        )
        self.faults += [f"{self.page.url}: {one}" for one in found]

    def picture(self, name: str) -> None:
        """Take a picture for the docs, where they are made anew (`make pictures`)."""
        if os.environ.get("DNDBOTS_PICTURES"):
            PICTURES.mkdir(exist_ok=True)
            before = self.page.viewport_size
            if before == DESKTOP:
                self.page.set_viewport_size(PICTURE)
            self.page.screenshot(path=PICTURES / f"{name}.png")
            self.page.set_viewport_size(before)
