"""`make demo`: a real game in which the party splits up, and two who remember it differently."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.cli.calling import plain_environment

import dndbots.demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All that it prints where there is no terminal, from a folder in which it leaves nothing."""
    folder, spare = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("spare")
    done = subprocess.run(
        [sys.executable, "-m", "dndbots.demo"],
        capture_output=True,
        check=True,
        cwd=folder,
        env=plain_environment() | {"TMPDIR": str(spare)},
    )
    assert done.stderr == b""
    assert [*folder.iterdir(), *spare.iterdir()] == []
    return done.stdout.decode("utf-8")


def test_the_party_of_the_demo_splits_up(shown: str) -> None:
    """Some round has two scenes. If the house plays otherwise now, choose another seed."""
    heads = Counter(re.findall(r"^Round (\d+) · ", shown, re.MULTILINE))
    assert 12 <= len(heads) <= 18
    assert max(heads.values()) > 1


def test_two_of_the_demo_remember_differently(shown: str) -> None:
    """Each of them perceived something that the other did not."""
    assert len(re.findall(r"knows, and .* does not:$", shown, re.MULTILINE)) == 2
    assert len(re.findall(r"^  perceived", shown, re.MULTILINE)) == 2
    assert "  nothing\n" not in shown


def test_the_demo_ends_with_an_xray(shown: str) -> None:
    """A prompt within its budget, line by line."""
    tokens, budget = re.findall(r"^(\d+) of (\d+) tokens", shown, re.MULTILINE)[-1]
    assert int(tokens) <= int(budget)
    assert re.search(r"^section +line +tokens +reason +sources", shown, re.MULTILINE)


def test_the_demo_is_plain_text_where_there_is_no_terminal(shown: str) -> None:
    """It can be piped into a file and read."""
    assert "\x1b" not in shown


def test_the_demo_runs_as_a_file(shown: str, tmp_path: Path) -> None:
    """From its own folder, in which no module passes for one of Python's, it plays the same."""
    done = subprocess.run(
        [sys.executable, dndbots.demo.__file__],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=plain_environment(),
    )
    assert done.stderr == b""
    assert done.stdout.decode("utf-8") == shown


def test_the_makefile_runs_the_demo() -> None:
    """`make demo` is this."""
    makefile = Path(__file__).parent.parent / "Makefile"
    assert "@$(RUN) -m dndbots.demo" in makefile.read_text("utf-8")
