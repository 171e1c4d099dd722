"""The line that says who thinks: on a terminal alone, gone with the answer, and with words for none but those
who may hear all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dndbots.cli import console
from dndbots.cli.play.thinking_line import Watch, watched
from dndbots.errors import ModelUnavailable
from dndbots.llm.protocol import Answer, Hear, Question, Role

QUESTION = Question(role=Role.PLAYER, system="", text="Well?")


class Output:
    """A terminal, or none: the lines of status that were shown, and whether one is."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self.lines: list[str] = []
        self.showing = False

    @contextmanager
    def status(self, line: object) -> Iterator["Output"]:
        self.showing = True
        self.update(line)
        yield self
        self.showing = False

    def update(self, line: object) -> None:
        self.lines.append(str(line))


class Speaking:
    """A voice that says one word after the other, to whoever listens."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self.watch: Watch | None = None

    def ask(self, _: Question, *, hear: Hear | None = None) -> Answer:
        assert self.watch is None or self.watch.waits
        for word in self._words:
            if hear is not None:
                hear(word)
        return Answer(words="".join(self._words))


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    made = Output(is_terminal=True)
    monkeypatch.setattr(console, "output", lambda: made)
    monkeypatch.setattr("sys.stdin", type("Keys", (), {"isatty": lambda _: True})())
    return made


def asked(watch: Watch, *words: str) -> Answer:
    voice = Speaking(*words)
    voice.watch = watch
    found = watched(lambda _: voice, watch)(Role.PLAYER)
    assert found is not None
    return found.ask(QUESTION)


def test_whoever_sees_all_sees_words_as_they_come(output: Output) -> None:
    """Their end, as far as there is room, without anything that steers a terminal."""
    watch = Watch(sees_all=True)
    assert asked(watch, "I draw ", "my \x1b[31msword", " and go.").words.endswith("and go.")
    assert output.lines[0] == "a player is thinking …"
    assert output.lines[-1].endswith("sword and go.")
    assert "\x1b" not in "".join(output.lines)
    assert not output.showing
    assert not watch.waits
    asked(watch, *["word "] * 500)
    assert max(map(len, output.lines)) < 100


def test_a_seat_sees_that_somebody_thinks_and_not_what(output: Output) -> None:
    """Nobody knows yet who will hear it."""
    asked(Watch(sees_all=False), "Throk ", "must ", "never ", "know.")
    assert len(output.lines) == 5
    assert not any("never" in line for line in output.lines)


@pytest.mark.parametrize("role", Role)
def test_who_is_asked_has_a_name(output: Output, role: Role) -> None:
    with Watch().asking(role):
        assert output.lines[0].endswith("is thinking …")
        assert "Role" not in output.lines[0]


def test_elsewhere_nothing_is_shown_and_nothing_is_streamed(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a pipe the answer comes whole."""
    monkeypatch.setattr(output, "is_terminal", False)
    with Watch(sees_all=True).asking(Role.DM) as hear:
        assert hear is None
    assert output.lines == []


def test_nobody_waits_any_more_once_a_model_failed() -> None:
    class Silent:
        def ask(self, _: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002
            raise ModelUnavailable("m", reason="it is over its limit")

    watch = Watch()
    voice = watched(lambda _: Silent(), watch)(Role.DM)
    assert voice is not None
    with pytest.raises(ModelUnavailable):
        voice.ask(QUESTION)
    assert not watch.waits


def test_where_the_house_plays_nobody_is_watched() -> None:
    assert watched(lambda _: None, Watch())(Role.DM) is None
