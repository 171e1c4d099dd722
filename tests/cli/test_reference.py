"""docs/cli.md is the program's own description of itself."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.calling import program

from dndbots.cli.maintain.reference import build_reference

PAGE = Path(__file__).parent.parent.parent / "docs" / "cli.md"
COMMANDS = [
    *("play", "character new", "character list", "modules", "roll", "trust"),
    *("new", "list", "import", "import-log", "export log", "log", "timeline", "entity", "who-knows"),
    *("fork", "branches", "rebuild", "verify", "diff", "context"),
    *("graph path", "graph near", "graph links", "graph common", "graph about"),
    *("graph sync", "graph follow", "graph verify", "graph rebuild", "graph query"),
    *("compact", "compaction", "review list", "review accept", "review reject", "review edit", "export data"),
    *("worker", "jobs", "usage", "undo"),
]


def test_the_reference_is_up_to_date() -> None:
    """The page is what the commands say of themselves."""
    assert PAGE.read_text("utf-8") == build_reference(), (
        "docs/cli.md is not up to date; run: python -m dndbots.cli.maintain.reference docs/cli.md"
    )


@pytest.mark.parametrize("columns", ["40", "200"])
def test_the_reference_does_not_depend_on_the_terminal(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow and a wide terminal make the same page."""
    before = build_reference()
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERMINAL_WIDTH", columns)
    assert build_reference() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_reference(command: str) -> None:
    """No command is missing from the page."""
    assert f"### dndbots {command}" in build_reference()


def test_everything_has_help() -> None:
    """Nothing is left without a word of help."""
    assert "None" not in build_reference()
    assert ": \n" not in build_reference()


def test_the_module_is_the_program() -> None:
    """`python -m dndbots` runs, and calls itself by its name."""
    answer = program("--help")
    assert answer.code == 0
    assert "dndbots [OPTIONS] COMMAND" in answer.out


def test_the_reference_can_be_written(tmp_path: Path) -> None:
    """The command that the failing test names does what it says."""
    page = tmp_path / "cli.md"
    subprocess.run([sys.executable, "-m", "dndbots.cli.maintain.reference", str(page)], check=True)
    assert page.read_bytes() == PAGE.read_bytes()


@pytest.mark.parametrize("command", ["", "import", "review accept", "serve"])
def test_help_shows_flags_without_a_type(command: str) -> None:
    """A flag takes no value, so `--help` names none; several values are shown by one set of dots."""
    shown = program(*command.split(), "--help").out
    assert "--help" in shown
    assert "<bool>" not in shown
    assert "...}" not in shown


def test_paragraphs_of_help_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of a help text break at the edge of the terminal, not where its source does."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")
    lines = [line.strip() for line in program("import", "--help").out.splitlines()]
    [paragraph] = [line for line in lines if line.startswith("Takes SillyTavern")]
    assert paragraph.endswith("if it does not exist.")
