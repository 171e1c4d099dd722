"""Text of a campaign is shown, never obeyed: no escape sequence, no markup, no forged line."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.calling import HOSTILE, Run, transcript

from dndbots.cli import console

SHOWN = [
    ("log", "--as", "dm"),
    ("timeline", "--as", "dm"),
    ("entity", "--as", "dm"),
    ("entity", "pc_zara_001", "--as", "dm"),
    ("entity", "pc_zara_001", "--as", "dm", "--history"),
    ("who-knows", "pc_zara_001", "mood"),
    ("diff", "dm", "loc_inn_001"),
    ("diff", "pc_zara_001", "dm"),
    ("recap", "--as", "pc_zara_001"),
    ("recall", "red left markup skull", "--as", "pc_zara_001"),
    ("recap", "--as", "pc_zara_001", "--session", f"s {HOSTILE}"),
    ("context", "--as", "pc_zara_001"),
    ("context", "--as", "dm", "--query", "red left markup skull", "--xray"),
    ("memories", "--as", "pc_zara_001"),
    ("memories", "--as", "pc_zara_001", "--summary"),
    ("threads", "--as", "dm", "--all"),
    ("remember",),
    ("session", "start", HOSTILE, "--title", HOSTILE),
    ("pin", f"evt {HOSTILE}"),
    ("lock", f"evt {HOSTILE}", "--as", "pc_zara_001"),
    ("forget", f"evt {HOSTILE}"),
    ("correct", f"evt {HOSTILE}", f"{HOSTILE}\nevt_9"),
    ("correct", "pc_zara_001", f"mood={HOSTILE}\nevt_9"),
]
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_nothing_steers_the_terminal(
    run: Run, hostile: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    """Whatever is shown holds no control character but the line's end."""
    answer = run(*words, *form, "-c", hostile)
    assert answer.code == 0
    assert not STEERS.search(answer.out)


def test_the_text_is_still_there(run: Run, hostile: Path) -> None:
    """Escapes are spelled out and markup stands as it was written, in content and in names."""
    logged = run("log", "--as", "dm", "-c", hostile).out
    assert r"\x1b[31mred\x1b[0m \x9b2J \u202eleft [bold]markup[/bold] :skull:" in logged
    told = run("timeline", "--as", "dm", "-c", hostile).out
    assert "[red]Zara[/red]" in told
    assert "[link=file:///x]The" in told
    assert "[red]Zara[/red] (pc_zara_001)" in run("entity", "pc_zara_001", "--as", "dm", "-c", hostile).out


def test_json_gives_the_text_back(run: Run, hostile: Path) -> None:
    """In JSON the text is whole: read back, it is what was recorded."""
    moment, _ = run("timeline", "--as", "dm", "-c", hostile, "--json").json
    assert moment["text"] == f"{HOSTILE}\nevt_9  forged\r\nline"
    assert moment["session"] == f"s {HOSTILE}"


def test_content_cannot_forge_an_event(run: Run, hostile: Path) -> None:
    """Only the heads of events stand at the edge of the log, whatever lines the content has."""
    logged = run("log", "--as", "dm", "-c", hostile).out.splitlines()
    heads = [line for line in logged if not line.startswith("    ")]
    assert [line.split()[0] for line in heads if "evt" in line[:4]] == ['"evt', "evt_2"]
    assert "    evt_9  forged" in logged


def test_errors_are_one_inert_line(run: Run, hostile: Path, tmp_path: Path) -> None:
    """Errors quote what they were given, and what is in a file, as harmlessly as answers do."""
    path = transcript(tmp_path / "bad.jsonl", {"speaker": "A", "text": "x", "id": f"a{HOSTILE}\nb"})
    run("import", path, "-c", hostile)
    path = transcript(tmp_path / "bad.jsonl", {"speaker": "A", "text": "y", "id": f"a{HOSTILE}\nb"})
    for words in (
        ("timeline", "--as", HOSTILE),
        ("timeline", "--as", "dm", "--as-of", f"x\n{HOSTILE}"),
        ("log", "--as", "dm", "--branch", HOSTILE),
        ("import", path),
        ("recap", "--as", "dm", "--length", HOSTILE),
        ("recap", "--as", "dm", "--session", f"{HOSTILE}\n"),
        ("memories", "--as", "dm", "--source", HOSTILE),
        ("context", "--as", HOSTILE),
        ("context", "--as", "dm", "--encoding", f"{HOSTILE}\n"),
        ("pin", f"{HOSTILE}\n"),
        ("correct", "pc_zara_001", f"{HOSTILE}\n"),
    ):
        answer = run(*words, "-c", hostile)
        assert answer.code in (1, 2)
        assert not STEERS.search(answer.err)
        assert answer.err.count("\n") == 1


def test_what_is_remembered_cannot_forge_a_heading(run: Run, hostile: Path) -> None:
    """At the edge of a recap and of memories stands only what the program itself says."""
    told = [
        *run("recap", "--as", "pc_zara_001", "-c", hostile).out.splitlines(),
        *run("memories", "--as", "pc_zara_001", "--summary", "-c", hostile).out.splitlines(),
    ]
    heads = ("Previously on ", "To keep in mind:", "Still open:", "[link", "Also", "and ", "Decisions on")
    assert all(line.startswith(("  ", *heads)) for line in told)
    assert sum(line.startswith("Still open:") for line in told) == 1


def test_what_is_compared_cannot_forge_a_heading(run: Run, hostile: Path) -> None:
    """At the edge of a comparison stands only what the program itself says."""
    told = run("diff", "pc_zara_001", "loc_inn_001", "-c", hostile).out.splitlines()
    heads = [line for line in told if not line.startswith("  ")]
    assert all(" knows, and " in line and line.endswith(" does not:") for line in heads)
    assert len(heads) == 2
    assert any("forged" in line for line in told)


def test_a_warning_is_an_inert_line(run: Run, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine warns of is noted on standard error, one harmless line each; the command goes on."""

    def warn(*_: object, **__: object) -> None:
        logging.getLogger("dndbots.memory").warning("no summary for %s", f"{HOSTILE}\nline")

    monkeypatch.setattr("dndbots.campaign.Campaign.remember", warn)
    answer = run("remember", "-c", hostile)
    assert answer.code == 0
    assert answer.err.startswith("warning: no summary for ")
    assert answer.err.count("\n") == 1
    assert not STEERS.search(answer.err)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_an_export_to_a_terminal_is_escaped(hostile: Path) -> None:
    """To a file or a pipe the log goes as it is; to a terminal it goes as JSON that steers nothing."""
    import pty

    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "dndbots", "export", "log", "-c", str(hostile)]
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL) as running:
        os.close(terminal)
        shown = b""
        while chunk := _read(main):
            shown += chunk
        assert running.wait() == 0
    os.close(main)
    text = shown.decode("utf-8").replace("\r\n", "\n")
    assert not STEERS.search(text)
    piped = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8")
    assert "\x9b" in piped
    assert [*map(json.loads, text.splitlines())] == [*map(json.loads, piped.rstrip("\n").split("\n"))]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""


@given(st.text())
def test_inert_text_holds_nothing_that_steers(text: str) -> None:
    """For any text: one line, encodable, without controls; and plain text is left alone."""
    made = console.inert(text)
    assert not STEERS.search(made)
    assert "\n" not in made
    assert len(made.splitlines()) <= 1
    made.encode("utf-8")
    assert console.inert(made) == made
