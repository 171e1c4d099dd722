"""new, list, fork, branches, rebuild, verify."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.cli.calling import Run

from dndbots import Campaign, __version__


def test_the_version_is_the_packages(run: Run) -> None:
    """`--version` says which dndbots this is, and needs no campaign."""
    assert run("--version") == (0, f"dndbots {__version__}\n", "")


def test_new_makes_a_campaign_that_opens(run: Run, tmp_path: Path) -> None:
    """What `new` made can be opened without making it."""
    where = tmp_path / "deep" / "campaign"
    assert run("new", where) == (0, f"created {where}\n", "")
    with Campaign.open(where, create=False) as campaign:
        assert campaign.head == 0


def test_new_leaves_a_campaign_alone(run: Run, campaign: Path) -> None:
    """Where a campaign is already, `new` refuses, and says what to do."""
    answer = run("new", campaign)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"error: {campaign} already has a campaign; choose another path\n"
    with Campaign.open(campaign) as kept:
        assert kept.head == 4


def test_new_in_json(run: Run, tmp_path: Path) -> None:
    """A program that made a campaign is told where."""
    assert run("new", tmp_path / "one", "--json").json == {"campaign": str(tmp_path / "one")}


def test_new_where_a_file_is(run: Run, tmp_path: Path) -> None:
    """A place that cannot be a folder is an error with the place in it, and no traceback."""
    (tmp_path / "file").write_text("")
    answer = run("new", tmp_path / "file")
    assert answer.code == 1
    assert answer.err.startswith(f"error: {tmp_path / 'file'}")
    assert answer.err.count("\n") == 1


def test_list_counts_events_and_branches(run: Run, campaign: Path) -> None:
    """Every campaign in the folder is listed by name, with its events and branches."""
    run("fork", "other", "-c", campaign)
    run("new", campaign.parent / "another")
    listed = run("list", campaign.parent)
    rows = [line.split() for line in listed.out.splitlines()]
    assert ["another", "0", "1"] in rows
    assert ["campaign_001", "4", "2"] in rows
    assert run("list", campaign.parent, "--json").json == [
        {"name": "another", "campaign": str(campaign.parent / "another"), "events": 0, "branches": 1},
        {"name": "campaign_001", "campaign": str(campaign), "events": 4, "branches": 2},
    ]


def test_list_looks_into_campaigns_by_default(
    run: Run, campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder it is `campaigns/`, here."""
    monkeypatch.chdir(campaign.parent.parent)
    assert "campaign_001" in run("list").out
    monkeypatch.chdir(campaign)
    assert run("list") == (0, "no campaigns in campaigns; `dndbots new campaigns/NAME` creates one\n", "")
    assert run("list", "--json").json == []


def test_list_tells_a_damaged_campaign_and_lists_the_others(run: Run, campaign: Path) -> None:
    """One broken campaign does not hide the others; it is told, and the exit code is 1."""
    broken = Path(shutil.copytree(campaign, campaign.parent / "broken"))
    (broken / "campaign.db").write_bytes(b"no database at all" * 100)
    answer = run("list", campaign.parent)
    assert answer.code == 1
    assert "campaign_001" in answer.out
    assert "broken" not in answer.out
    assert str(broken) in answer.err


def test_fork_shares_the_past(run: Run, campaign: Path) -> None:
    """A fork at an event has what came before, and nothing after; main keeps everything."""
    made = run("fork", "what-if", "--at", "evt_2", "-c", campaign)
    assert made == (0, "created the branch what-if, from main at event evt_2\n", "")
    forked = run("log", "--as", "dm", "-c", campaign, "--branch", "what-if", "--json").out
    assert forked.count("\n") == 2
    assert run("log", "--as", "dm", "-c", campaign, "--json").out.count("\n") == 4


def test_fork_from_a_fork(run: Run, campaign: Path) -> None:
    """`--branch` says which branch is forked, and the answer in JSON is the new branch."""
    run("fork", "first", "-c", campaign)
    run("import-log", _more(campaign.parent), "-c", campaign, "--branch", "first")
    assert run("fork", "second", "-c", campaign, "--branch", "first", "--json").json == {
        "name": "second",
        "parent": "first",
        "forked_at": 5,
        "head": 5,
        "events": 0,
    }


def _more(folder: Path) -> Path:
    path = folder / "more.jsonl"
    path.write_text(
        '{"dndbots_log": 1}\n'
        '{"event_id": "evt_5", "kind": "dialogue", "source": "dm", "session_id": "s03", "content": "More."}\n'
    )
    return path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("main",), "branch 'main' already exists"),
        (("other", "--at", "evt_99"), "there is no event 'evt_99'"),
        ((" ",), "is not a name"),
    ],
)
def test_a_fork_that_cannot_be(run: Run, campaign: Path, words: tuple[str, ...], told: str) -> None:
    """A name that is taken, an event that is not there, a blank name: one line, exit code 1, no branch."""
    answer = run("fork", *words, "-c", campaign)
    assert answer.code == 1
    assert told in answer.err
    assert len(run("branches", "-c", campaign, "--json").json) == 1


def test_branches_are_shown_with_their_origin(run: Run, campaign: Path) -> None:
    """A branch is shown with the branch and the place that it was forked from."""
    run("fork", "what-if", "--at", "evt_2", "-c", campaign)
    assert run("branches", "-c", campaign, "--json").json == [
        {"name": "main", "parent": None, "forked_at": 0, "head": 4, "events": 4},
        {"name": "what-if", "parent": "main", "forked_at": 2, "head": 2, "events": 0},
    ]
    assert ["what-if", "main", "2", "0"] in [
        line.split() for line in run("branches", "-c", campaign).out.splitlines()
    ]


def test_verify_says_what_is_sound(run: Run, campaign: Path) -> None:
    """A campaign in order: one line, exit code 0."""
    run("fork", "what-if", "-c", campaign)
    assert run("verify", "-c", campaign) == (0, "sound: 4 events, 2 branches\n", "")
    assert run("verify", "-c", campaign, "--json").json == {
        "sound": True,
        "events": 4,
        "branches": 2,
        "problems": [],
    }


def test_verify_finds_a_changed_view_and_rebuild_mends_it(run: Run, campaign: Path) -> None:
    """A view that says other than the log is a problem: exit code 1. After a rebuild there is none."""
    _change(campaign, "UPDATE claims SET value = '\"sweet\"' WHERE value = '\"merry\"'")
    found = run("verify", "-c", campaign)
    assert found.code == 1
    assert "claims" in found.out
    told = run("verify", "-c", campaign, "--json")
    assert told.code == 1
    assert told.json["sound"] is False
    assert {*told.json["problems"][0]} == {"branch", "where", "what"}
    assert run("rebuild", "-c", campaign) == (0, "rebuilt from 4 events\n", "")
    assert run("verify", "-c", campaign).code == 0


def test_rebuild_in_json(run: Run, campaign: Path) -> None:
    """A program is told how many events were folded."""
    assert run("rebuild", "-c", campaign, "--json").json == {"events": 4}


def _change(campaign: Path, statement: str) -> None:
    connection = sqlite3.connect(campaign / "campaign.db")
    assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()
