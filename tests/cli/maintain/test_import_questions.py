"""What only a person can tell is asked on a terminal, and nowhere else."""

import json
from pathlib import Path

from tests.cli.calling import Run
from tests.cli.terminal import Terminal

from dndbots import Campaign

_RECORDING = {
    "segments": [
        {"start": 0, "end": 1, "text": " A gate.", "speaker": "SPEAKER_00"},
        {"start": 5, "end": 6, "text": " I open it.", "speaker": "SPEAKER_01"},
    ],
    "word_segments": [],
}
_LORE = {"entries": {"0": {"key": ["Elena"], "comment": "Elena", "content": "Elena is the smith."}}}


def files(folder: Path) -> list[Path]:
    recording, lore = folder / "session.json", folder / "lore.json"
    recording.write_text(json.dumps(_RECORDING))
    lore.write_text(json.dumps(_LORE))
    return [recording, lore]


def test_voices_the_dm_and_the_knowers_are_asked_for(tmp_path: Path) -> None:
    """The files are shown first. A name that nobody has is asked for again, and Enter means nobody."""
    with Terminal("import", *files(tmp_path), "-c", tmp_path / "new", folder=tmp_path) as terminal:
        terminal.until("A gate.")
        assert "whisperX transcript" in terminal.shown
        terminal.keys("Matt\r")
        terminal.until("I open it.")
        terminal.keys("Zara:pc\r")
        terminal.until("Who is the DM of session: Matt, Zara?")
        terminal.keys("Nobody\r")
        terminal.until("nobody in the chat is called Nobody")
        terminal.keys("matt\r")
        terminal.until("Who knows the lore")
        terminal.keys("\r")
        assert terminal.ended() == 0
    with Campaign.open(tmp_path / "new", create=False) as campaign:
        told = [(event.source, event.content) for event in campaign.events(viewer="Zara")]
    assert told == [("dm", "A gate."), ("pc_zara_001", "I open it.")]


def test_the_program_asks_nobody_in_a_script(tmp_path: Path, run: Run) -> None:
    answer = run("import", *files(tmp_path), "-c", tmp_path / "new")
    assert answer.code == 0, answer.err
    assert "Who" not in answer.out


def test_a_refused_import_makes_no_campaign(tmp_path: Path, run: Run) -> None:
    """Neither a file that is half understood nor a folder without files leaves a campaign behind."""
    chat, empty = tmp_path / "chat.jsonl", tmp_path / "empty"
    chat.write_text('{"name": "Mira", "is_user": false, "mes": "Hi"}\n{"name": "Mi')
    empty.mkdir()
    assert "Import the rest with --partial" in run("import", chat, "-c", tmp_path / "new").err
    assert "no file in it that can be imported" in run("import", empty, "-c", tmp_path / "new").err
    assert not (tmp_path / "new").exists()


def test_a_preview_says_which_line_will_be_refused(tmp_path: Path, run: Run) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"speaker": "Zara", "text": "Hi"}\n\n{"speaker": "Throk"}\n')
    assert "line 3: text: Field required" in run("import", "--preview", lines).out
