"""Compaction in the background: triggers, what goes wrong, and that play never waits for it."""

import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compaction.readers import INN, PARTY, THROK, Says, assert_tiled, facts, says, table, told
from tests.waiting import HANG, wait_until

from dndbots.campaign import Campaign
from dndbots.compaction import background
from dndbots.compaction.agent import PATIENCE
from dndbots.compaction.background import Compactor, Job, ReaderProcess
from dndbots.errors import InvalidSetting, WorkerFailed
from dndbots.events import EventType
from dndbots.ids import DM


@pytest.fixture
def reader() -> Iterator[ReaderProcess]:
    """The reader process of this program, stopped after the test."""
    one = background.shared_reader()
    yield one
    one.stop()


def turns(number: int, text: str = "Throk waits.") -> list[Any]:
    return [told(f"t{n}", text) for n in range(number)]


class Work:
    """Work that can be held up, fails if it is told to, and counts."""

    def __init__(self) -> None:
        self.begun = self.done = 0
        self.go = threading.Event()
        self.go.set()
        self.error: BaseException | None = None

    def __call__(self) -> int:
        self.begun += 1
        assert self.go.wait(HANG)
        if self.error is not None:
            raise self.error
        self.done += 1
        return 1

    def wait_for(self, begun: int) -> None:
        wait_until(lambda: self.begun >= begun, f"run {begun} begins")


# Triggers.


def test_every_so_many_turns_a_run_is_asked_for() -> None:
    """Unspoken events and notes do not count as turns."""
    work = Work()
    compactor = Compactor(work, every=3)
    compactor.notice(turns(2))
    compactor.notice([told("x", "  ")])
    assert work.begun == 0
    compactor.notice(turns(1))
    assert compactor.wait(HANG)
    assert work.done == 1
    compactor.close()
    assert work.done == 1


def test_much_text_or_the_end_of_a_scene_is_worth_a_run() -> None:
    work = Work()
    compactor = Compactor(work, every=100, words=50)
    compactor.notice(turns(1, "word " * 60))
    assert compactor.wait(HANG)
    assert work.done == 1
    moved = told("m", "On.", location=INN).model_copy(update={"event_type": EventType.LOCATION_CHANGE})
    compactor.notice([moved])
    assert compactor.wait(HANG)
    assert work.done == 1, "nothing was said since"
    compactor.notice([*turns(1), moved])
    assert compactor.wait(HANG)
    assert work.done == 2
    compactor.request()
    assert compactor.wait(HANG)
    assert work.done == 3
    compactor.close()


def test_triggers_while_a_run_is_under_way_are_folded_into_the_next() -> None:
    work = Work()
    work.go.clear()
    compactor = Compactor(work, every=1)
    compactor.notice(turns(1))
    work.wait_for(1)
    for _ in range(20):
        compactor.notice(turns(1))
    work.go.set()
    assert compactor.wait(HANG)
    assert work.done == 2
    compactor.close()
    assert work.done == 2


@pytest.mark.parametrize("bad", [{"every": 0}, {"every": 1.5}, {"words": 0}, {"every": True}])
def test_nonsense_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidSetting):
        Compactor(Work(), **bad)


def test_a_turn_never_waits_for_a_run() -> None:
    """While a run hangs, play goes on as if there were none."""
    campaign, hung = table(), threading.Event()
    with campaign.compacting(every=1, extractor=Says(then=lambda: hung.wait(HANG))) as compactor:
        for one in turns(20):
            campaign.record(one)
        assert (compactor.runs, hung.is_set()) == (0, False)
        hung.set()
    assert campaign.compaction().turns_waiting == 0
    assert_tiled(campaign)


# What goes wrong.


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(1), KeyboardInterrupt()])
def test_what_goes_wrong_never_reaches_play_and_the_next_run_works(error: BaseException) -> None:
    work = Work()
    work.error = error
    compactor = Compactor(work, every=1)
    compactor.notice(turns(1))
    assert compactor.wait(HANG)
    assert (compactor.failures, compactor.error) == (1, error)
    work.error = None
    compactor.notice(turns(1))
    assert compactor.wait(HANG)
    assert (compactor.runs, compactor.failures, compactor.error) == (1, 1, None)
    compactor.close()


def test_what_failed_last_is_tried_again_at_the_end() -> None:
    """Closing compacts what is left, also what a failed run left."""
    work = Work()
    work.error = RuntimeError("no")
    compactor = Compactor(work, every=1)
    compactor.notice(turns(1))
    assert compactor.wait(HANG)
    work.error = None
    compactor.close()
    assert work.done == 1


def test_turns_that_a_reader_fails_on_again_and_again_are_read_without_it() -> None:
    """A model that is gone for good does not keep the turns from being read at all."""
    campaign = table()

    class Gone:
        waits = True

        def extract(self, *_given: Any) -> Any:
            raise RuntimeError("no model today")

    with campaign.compacting(every=1, extractor=Gone()) as compactor:
        for one in turns(PATIENCE + 1, "Elena is a smith."):
            campaign.record(one)
            assert compactor.wait(HANG)
        assert compactor.failures == PATIENCE
    assert campaign.compaction().turns_waiting == 0


def test_a_run_that_takes_too_long_ends_by_itself_after_closing() -> None:
    """Closing does not wait for ever; what was opened for the run is closed when it is done."""
    work, ended = Work(), threading.Event()
    work.go.clear()
    compactor = Compactor(work, every=1).on_close(first=lambda: None, last=ended.set)
    compactor.notice(turns(1))
    work.wait_for(1)
    compactor.close(timeout=0.01)
    assert not ended.is_set()
    work.go.set()
    assert ended.wait(HANG)
    compactor.request()
    compactor.close()
    assert work.done == 1


def test_a_program_that_ends_does_not_speak_of_a_second_failure(caplog: pytest.LogCaptureFixture) -> None:
    """It says once that the newest events are not compacted yet; that its reader went with it is no news."""
    begun, gone = threading.Event(), threading.Event()

    def work() -> int:
        begun.set()
        assert gone.wait(HANG)
        raise RuntimeError("it ended in the middle of a run")

    ended = threading.Event()
    compactor = Compactor(work, every=1).on_close(first=lambda: None, last=ended.set)
    compactor.notice(turns(1))
    assert begun.wait(HANG)
    compactor.close(timeout=0.01)
    gone.set()
    assert ended.wait(HANG)
    assert [one.getMessage() for one in caplog.records] == [
        "the newest events are not compacted yet; the next game does it, or `dndbots compact`"
    ]


# Threads.


def test_a_campaign_in_memory_is_read_by_a_thread_and_nothing_is_left_of_it() -> None:
    campaign, before = table(), threading.active_count()
    reader = Says(says("t0", "Elena", "role", "smith"))
    with campaign.compacting(every=5, extractor=reader) as compactor:
        for one in turns(12, "Elena is a smith."):
            campaign.record(one)
        assert compactor.wait(HANG)
        campaign.record(told("last", "Elena fears wolves."))
        reader.updates.append(says("last", "Elena", "fears", "wolves"))
    assert campaign.compaction().turns_waiting == 0
    assert facts(campaign, "Elena") == {"role": ("smith", "fact"), "fears": ("wolves", "fact")}
    wait_until(lambda: threading.active_count() <= before, "its thread ends")
    campaign.record(told("after", "Elena sleeps."))
    assert campaign.compaction().turns_waiting == 1


def test_several_campaigns_are_read_at_once() -> None:
    campaigns = [table() for _ in range(4)]
    opened = [one.compacting(every=2, extractor=Says()) for one in campaigns]
    for n in range(10):
        for campaign in campaigns:
            campaign.record(told(f"t{n}", "Throk waits."))
    for compactor in opened:
        compactor.close()
    for campaign in campaigns:
        assert campaign.compaction().turns_waiting == 0
        assert_tiled(campaign)


# The process.


def opening(campaign: Campaign) -> None:
    campaign.record(told("e0", "You meet.", names={who: who.split("_")[1].title() for who in PARTY}))
    campaign.record(told("e1", "You meet Elena.", names={"npc_elena_001": "Elena"}))


def test_a_campaign_on_disk_is_read_by_another_process(tmp_path: Path, reader: ReaderProcess) -> None:
    """Two campaigns share it, and it opens each branch of its own."""
    with Campaign.open(tmp_path / "one") as one, Campaign.open(tmp_path / "two") as two:
        for campaign in (one, two):
            opening(campaign)
        fork = two.fork("aside")
        with one.compacting(every=3) as first, two.compacting(every=2), fork.compacting(every=4):
            for n in range(7):
                for campaign in (one, two, fork):
                    campaign.record(told(f"t{n}", "Elena is a smith."))
            assert first.wait(HANG)
            assert reader._process is not None
        for campaign in (one, two, fork):
            assert campaign.compaction().turns_waiting == 0
            assert facts(campaign, "Elena")["role"] == ("smith", "fact")
            assert_tiled(campaign)
        assert (tmp_path / "one" / "data").is_dir()
        fork.close()


def _is_asked() -> bool:
    """Return whether the reader was asked for something: then its time limit runs."""
    return any(isinstance(one, threading.Timer) for one in threading.enumerate())


def test_a_reader_that_is_killed_is_an_error_and_the_next_run_works(
    tmp_path: Path, reader: ReaderProcess
) -> None:
    with Campaign.open(tmp_path) as campaign:
        opening(campaign)
        with campaign.compacting(every=1) as compactor:
            campaign.record(told("t0", "Elena is a smith."))
            assert compactor.wait(HANG)
            assert reader._process is not None
            # Held up, so that it is in the middle of something when it is killed.
            reader._process.send_signal(signal.SIGSTOP)
            campaign.record(told("t1", "Elena fears wolves."))
            wait_until(_is_asked, "the reader is asked")
            reader._process.kill()
            assert compactor.wait(HANG)
            assert compactor.failures == 1
            assert isinstance(compactor.error, WorkerFailed)
        assert compactor.error is None
        assert campaign.compaction().turns_waiting == 0
        assert_tiled(campaign)


def test_a_campaign_that_is_gone_is_an_error_for_nobody_else(tmp_path: Path, reader: ReaderProcess) -> None:
    with pytest.raises(WorkerFailed):
        reader.compact(Job(str(tmp_path / "nowhere"), "main"))
    with Campaign.open(tmp_path / "here") as campaign:
        opening(campaign)
        assert reader.compact(Job(str(tmp_path / "here"), "main")) == 1
        with pytest.raises(WorkerFailed, match="aside"):
            reader.compact(Job(str(tmp_path / "here"), "aside"))


def test_a_campaign_that_was_made_in_the_place_of_another_is_the_one_that_is_read(
    tmp_path: Path, reader: ReaderProcess
) -> None:
    """The campaign that the reader has open may be gone, and another may be in its place."""
    for attempt in ("first", "second"):
        with Campaign.open(tmp_path / "it") as campaign:
            opening(campaign)
            assert reader.compact(Job(str(tmp_path / "it"), "main")) == 1, attempt
            assert campaign.compaction().turns_waiting == 0
        (tmp_path / "it").rename(tmp_path / attempt)


def test_a_reader_that_says_nonsense_or_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is never taken for that to another question."""
    started = subprocess.Popen
    programs = iter(
        ["input(); print('hello'); print('{\"runs\": 7}')", "input(); import time; time.sleep(60)"]
    )

    def fake(_command: Any, **how: Any) -> Any:
        return started([sys.executable, "-c", next(programs)], **how)

    monkeypatch.setattr(subprocess, "Popen", fake)
    one = ReaderProcess()
    with pytest.raises(WorkerFailed):
        one.compact(Job("x", "main"))
    assert one._process is None
    with pytest.raises(WorkerFailed, match="middle"):
        one.compact(Job("x", "main"), timeout=0.3)
    one.stop()


def test_nothing_is_left_open(tmp_path: Path, reader: ReaderProcess) -> None:
    """Neither threads, nor files, nor processes grow from one time to the next."""

    def once(number: int) -> None:
        with Campaign.open(tmp_path / str(number)) as campaign:
            opening(campaign)
            with campaign.compacting(every=1):
                campaign.record(told("t", "Elena is a smith."))
            with campaign.compacting(every=1, extractor=Says()):
                campaign.record(told("u", "Elena is a smith."))
        reader.stop()
        gc.collect()

    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    threads = threading.active_count()
    once(0)
    wait_until(lambda: threading.active_count() <= threads, "its threads end")
    first = files()
    once(1)
    wait_until(lambda: threading.active_count() <= threads, "its threads end again")
    wait_until(lambda: files() <= first, "its files are closed")


def test_who_listens_no_more_is_told_no_more() -> None:
    campaign = table()
    compactor = campaign.compacting(every=1, extractor=Says())
    compactor.close()
    campaign.record(told("t", "Throk waits.", participants=[THROK]))
    assert compactor.wait(HANG)
    assert [one.event_type for one in campaign.events(viewer=DM)][-1] is EventType.DM_NARRATION
