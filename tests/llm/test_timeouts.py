"""Time-outs: what hangs is left behind."""

import contextvars
import subprocess
import sys
import threading

import pytest
from tests.waiting import HANG, hang, only_what_hangs_times_out

from dndbots.llm.retry import ASK_ONCE, AnswerRefused, RetryPolicy
from dndbots.llm.timeouts import side_by_side, within


def test_an_answer_in_time_is_the_answer() -> None:
    """And an error is that error."""
    assert within(HANG, lambda: "yes") == "yes"
    with pytest.raises(ZeroDivisionError):
        within(HANG, lambda: 1 / 0)


def test_none_is_an_answer() -> None:
    """Whether it can be used is not decided here."""
    assert within(HANG, lambda: None) is None


def test_the_callers_context_goes_along() -> None:
    """Tracing of model libraries lives in context variables."""
    who = contextvars.ContextVar("who", default="nobody")
    who.set("throk")
    assert within(HANG, who.get) == "throk"


def test_without_a_time_out_there_is_no_thread() -> None:
    """The call runs where the caller is."""
    assert within(None, threading.current_thread) is threading.current_thread()
    assert within(HANG, threading.current_thread) is not threading.current_thread()


def test_side_by_side_keeps_order_and_everybodys_fate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers and errors stand where their calls stood; all share one time-out."""
    only_what_hangs_times_out(monkeypatch)
    stuck, meeting = threading.Event(), threading.Barrier(2)

    def hangs() -> None:
        meeting.wait(HANG)  # for which both have to be under way
        hang(stuck)

    answers = side_by_side([hangs, lambda: 1 / 0, lambda: "yes", hangs], 0.2)
    assert [type(answer) for answer in answers] == [TimeoutError, ZeroDivisionError, str, TimeoutError]
    stuck.set()
    assert side_by_side([]) == []


def test_side_by_side_lets_a_stop_through() -> None:
    """Ctrl-C in one of them stops the caller."""

    def stop() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        side_by_side([lambda: "yes", stop])


def test_what_hangs_does_not_keep_the_program_alive() -> None:
    """The interpreter ends while the abandoned call still hangs."""
    program = (
        "import time\n"
        "from dndbots.llm.timeouts import within\n"
        "try:\n"
        "    within(0.1, lambda: time.sleep(600))\n"
        "except TimeoutError as exc:\n"
        "    print(exc)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=HANG / 2
    )
    assert ended.stdout == "no answer within 0.1 seconds\n"


def test_patience_tells_each_attempt_why_the_last_failed() -> None:
    """The first is told nothing; what cannot be used is as bad as an error."""
    told: list[str] = []

    def ask(reason: str) -> str:
        told.append(reason)
        if len(told) == 1:
            raise ValueError("a\nlong " + "story " * 100)
        return "bad" if len(told) == 2 else "good"

    def accept(answer: str) -> str:
        if answer == "bad":
            raise AnswerRefused("it is bad")
        return answer

    assert RetryPolicy(attempts=3, first_pause=0.0).ask(ask, accept) == "good"
    assert told[0] == ""
    assert told[1].startswith("ValueError: a long story")
    assert len(told[1]) <= 175
    assert told[2] == "it is bad"


def test_an_error_of_its_own_kind_of_time_out_is_told() -> None:
    """A library's time-out has words of its own, or none."""
    for error, reason in (
        (TimeoutError("read timed out"), "read timed out"),
        (TimeoutError(), "no answer in time"),
    ):

        def ask(_: str, error: TimeoutError = error) -> None:
            raise error

        with pytest.raises(AnswerRefused) as caught:
            ASK_ONCE.ask(ask, lambda answer: answer)
        assert caught.value.reason == reason
