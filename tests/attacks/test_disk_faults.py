"""Whichever open, write, sync or rename fails or is the last of its process, nothing promised is lost."""

import errno
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from tests.attacks.disk_faults import Case, Deed, FaultyDisk, Kind, NoCompiler
from tests.storage.writers import IS_LONG, check_sound, opening_scene

from dndbots.campaign import Campaign
from dndbots.errors import DuplicateEvent

CASES_OF_A_KIND = 10**6 if IS_LONG else 5
FIRST_SYNCS = range(12, 21)  # those around the first event
_number = count()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyDisk]:
    try:
        with FaultyDisk(tmp_path_factory.mktemp("disk")) as disk:
            yield disk
    except NoCompiler as exc:
        pytest.skip(str(exc))


@pytest.fixture(scope="module")
def calls(disk: FaultyDisk, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many calls of each kind the campaign takes when nothing fails."""
    whole = disk.play(tmp_path_factory.mktemp("whole") / "campaign", Case())
    assert (whole.code, whole.refused, whole.errors) == (0, [], "")
    assert whole.promised[0] == opening_scene().event_id
    return dict(whole.seen)


def cases(kind: Kind, calls: int) -> list[Case]:
    """Every call of a kind in the long profile, else some of them, from the first to the last."""
    step = max(1, calls // CASES_OF_A_KIND)
    errors = (errno.EIO, errno.ENOSPC) if kind is not Kind.OPEN else (errno.EIO, errno.EMFILE)
    chosen = []
    for turn, at in enumerate(range(1, calls + 1, step)):
        deeds = tuple(Deed) if IS_LONG else (tuple(Deed)[turn % len(Deed)],)
        chosen += [Case(kind, at, deed, errors[turn % 2]) for deed in deeds]
    return chosen


@pytest.mark.parametrize("kind", Kind)
def test_nothing_promised_is_lost_on_a_faulty_disk(
    kind: Kind, disk: FaultyDisk, calls: dict[str, int], tmp_path: Path
) -> None:
    """Each failure is one of our errors, and the campaign is whole and goes on once the disk is well."""
    assert calls[kind.name] > 0
    for case in cases(kind, calls[kind.name]):
        where = tmp_path / str(next(_number))
        outcome = disk.play(where, case)
        told = f"{case}: {outcome.refused}"
        assert outcome.errors == "", told
        assert outcome.code == (-9 if case.deed is Deed.KILL else 0), told
        with Campaign.open(where) as campaign:
            branches = {branch.name for branch in campaign.branches()}
            promised = {one for one in outcome.promised if not one.startswith("aside")}
            check_sound(campaign, sorted(promised), told=told)
            campaign.save_data()
            with suppress(DuplicateEvent):
                campaign.record(opening_scene())
        if "aside" in branches:
            with Campaign.open(where, branch="aside") as fork:
                check_sound(fork, [one for one in outcome.promised if one.startswith("aside")], told=told)


def test_a_disk_that_fails_before_the_first_event_loses_nothing(
    disk: FaultyDisk, calls: dict[str, int], tmp_path: Path
) -> None:
    """A new campaign on a disk that stops to sync is empty afterward, and nothing is said to be missing."""
    assert calls[Kind.SYNC.name] > max(FIRST_SYNCS)
    for at in FIRST_SYNCS:
        where = tmp_path / str(at)
        outcome = disk.play(where, Case(Kind.SYNC, at, Deed.FAIL_ALWAYS))
        with Campaign.open(where) as campaign:
            check_sound(campaign, sorted(outcome.promised), told=f"{at}: {outcome.refused}")
