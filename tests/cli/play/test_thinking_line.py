"""Answers on the terminal as they come: gone when they are over, and only for those who may hear them."""

import io

import pytest
from rich.console import Console

from dndbots.cli import console
from dndbots.cli.play.thinking_line import Watch
from dndbots.game.live_words import LiveState, LiveWords
from dndbots.ids import DM

THROK, ZARA = "pc_throk_001", "pc_zara_001"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    made = Console(file=shown, force_terminal=True, width=60, color_system=None)
    monkeypatch.setattr(console, "output", lambda: made)
    monkeypatch.setattr("sys.stdin", type("Keys", (), {"isatty": lambda _: True})())
    return shown


def hear(watch: Watch, *texts: str, viewers: frozenset[str], speaker: str = DM) -> None:
    def words(state: LiveState, text: str = "") -> LiveWords:
        return LiveWords(state=state, speaker=speaker, place=None, viewers=viewers, text=text)

    watch.hear(words(LiveState.ASKED))
    assert watch.waits
    for text in texts:
        watch.hear(words(LiveState.COMES, text))
    watch.hear(words(LiveState.OVER))
    assert not watch.waits


def test_words_are_shown_as_they_come(page: io.StringIO) -> None:
    hear(Watch(), "The bell ", "rings.", viewers=frozenset((DM, THROK)))
    assert "the DM is thinking" in page.getvalue()
    assert "The bell rings." in page.getvalue()


def test_a_seat_sees_only_what_it_will_perceive(page: io.StringIO) -> None:
    watch = Watch(viewers=frozenset((ZARA,)))
    hear(watch, "A secret.", viewers=frozenset((DM, THROK)))
    assert "secret" not in page.getvalue()
    assert "the DM is thinking" in page.getvalue()
    hear(watch, "A greeting.", viewers=frozenset((DM, ZARA)))
    assert "A greeting." in page.getvalue()


def test_somebody_whose_name_is_not_known_stays_somebody(page: io.StringIO) -> None:
    hear(Watch(viewers=frozenset((ZARA,))), viewers=frozenset((DM, ZARA)), speaker="npc_odo_001")
    assert "somebody is thinking" in page.getvalue()
    assert "odo" not in page.getvalue().casefold()


def test_control_characters_of_a_model_do_nothing(page: io.StringIO) -> None:
    hear(Watch(), "\x1b[2Jgone [bold]text", viewers=frozenset((DM,)))
    assert "\x1b[2Jgone" not in page.getvalue()
    assert "[bold]text" in page.getvalue()


def test_nothing_is_shown_where_nobody_sits(page: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    hear(Watch(), "The bell rings.", viewers=frozenset((DM,)))
    assert page.getvalue() == ""
