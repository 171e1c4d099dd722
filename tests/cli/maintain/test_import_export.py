"""import, import-log and export: what goes in, what comes out, and what is refused."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import Run, transcript

from dndbots import Campaign
from dndbots.cli.maintain.import_files import _told_chat
from dndbots.interop.imports import ChatPreview, SpeakerPreview
from dndbots.interop.transcript_files import TranscriptFile

LINES = [
    {"id": "D1:1", "session": "s01", "speaker": "Mia", "text": "You meet at the inn."},
    {"id": "D1:2", "session": "s01", "speaker": "Zara", "text": "Hello."},
    {"id": "D1:3", "session": "s01", "speaker": ["Zara", "Throk"], "text": "Ale!", "location": "The Inn"},
]
EPISODE = {
    "METADATA": {"episode": 1},
    "TURNS": [
        {"NAMES": ["MATT"], "UTTERANCES": ["Hello everyone.", "Welcome back."], "NUMBER": 0},
        {"NAMES": ["LAURA"], "UTTERANCES": ["Hi."], "NUMBER": 1},
        {"NAMES": ["LAURA", "LAURA", "MATT"], "UTTERANCES": ["Goblins?"], "NUMBER": 2},
    ],
}


def stored(campaign: Path) -> list[tuple[str, str, str, str]]:
    with Campaign.open(campaign, create=False) as opened:
        events = list(opened.events(viewer="dm"))
    return [(one.event_id, one.session_id, one.source, one.content) for one in events]


def test_import_makes_a_campaign_and_is_idempotent(run: Run, tmp_path: Path) -> None:
    """The same file twice: all lines are added, then none; each time a line says so."""
    path, where = transcript(tmp_path / "play.jsonl", *LINES), tmp_path / "new"
    assert run("import", path, "-c", where, "--dm", "mia") == (0, f"{path}: 3 added, 0 already there\n", "")
    once = stored(where)
    assert run("import", path, "-c", where, "--dm", "mia") == (0, f"{path}: 0 added, 3 already there\n", "")
    assert stored(where) == once
    assert [source for _, _, source, _ in once] == ["dm", "pc_zara_001", "pc_zara_001"]


def test_an_array_imports_as_its_lines_do(run: Run, tmp_path: Path) -> None:
    """A JSON array of lines, on one line or on many, is the same transcript as JSON lines."""
    run("import", transcript(tmp_path / "play.jsonl", *LINES), "-c", tmp_path / "lines")
    for indent in (None, 2):
        path = tmp_path / "array.txt"
        path.write_text(json.dumps(LINES, indent=indent))
        where = tmp_path / f"array{indent}"
        assert run("import", path, "-c", where).code == 0
        assert stored(where) == stored(tmp_path / "lines")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_critical_role_episode(run: Run, tmp_path: Path, indent: int | None) -> None:
    """Turns become lines of a session named like the file; Matt is the DM, also among others."""
    path = tmp_path / "C9E001.json"
    path.write_text(json.dumps(EPISODE, indent=indent))
    assert run("import", path, "-c", tmp_path / "cr").code == 0
    assert stored(tmp_path / "cr") == [
        ("C9E001:0", "C9E001", "dm", "Hello everyone. Welcome back."),
        ("C9E001:1", "C9E001", "pc_laura_001", "Hi."),
        ("C9E001:2", "C9E001", "pc_laura_001", "Goblins?"),
    ]
    (last,) = run("log", "--as", "dm", "--last", "1", "-c", tmp_path / "cr", "--json").out.splitlines()
    assert json.loads(last)["metadata"]["together"] == ["pc_laura_001", "dm"]


def test_somebody_else_is_the_dm(run: Run, tmp_path: Path) -> None:
    """--dm overrides Matt, and --session the file's name; ids stay the file's."""
    path = tmp_path / "C9E001.json"
    path.write_text(json.dumps(EPISODE))
    run("import", path, "-c", tmp_path / "cr", "--dm", "laura", "--session", "one-shot")
    assert [row[:3] for row in stored(tmp_path / "cr")] == [
        ("C9E001:0", "one-shot", "pc_matt_001"),
        ("C9E001:1", "one-shot", "dm"),
        ("C9E001:2", "one-shot", "dm"),
    ]


def test_lines_without_a_session_get_the_files_name(run: Run, tmp_path: Path) -> None:
    """A line's own session stays; --session or the file's stem fills in for the others."""
    path = transcript(
        tmp_path / "friday.jsonl",
        {"speaker": "A", "text": "x"},
        {"speaker": "A", "text": "y", "session": "s"},
    )
    run("import", path, "-c", tmp_path / "stem")
    run("import", path, "-c", tmp_path / "given", "--session", "monday")
    assert [row[1] for row in stored(tmp_path / "stem")] == ["friday", "s"]
    assert [row[1] for row in stored(tmp_path / "given")] == ["monday", "s"]


def test_several_files_go_in_as_they_are_given(run: Run, tmp_path: Path) -> None:
    """Each file has its own count, in the order of the call; in JSON it is one list."""
    second = transcript(tmp_path / "a.jsonl", LINES[2])
    first = transcript(tmp_path / "b.jsonl", *LINES[:2])
    answer = run("import", first, second, "-c", tmp_path / "new", "--json")
    assert answer.json == [
        {"file": str(first), "added": 2, "skipped": 0},
        {"file": str(second), "added": 1, "skipped": 0},
    ]
    assert [row[0] for row in stored(tmp_path / "new")] == ["D1:1", "D1:2", "D1:3"]


def test_a_dm_who_never_speaks_is_told(run: Run, tmp_path: Path) -> None:
    """A misspelled --dm would make the DM a player; it is told beside the answer."""
    path = transcript(tmp_path / "play.jsonl", *LINES)
    answer = run("import", path, "-c", tmp_path / "new", "--dm", "Mai")
    assert answer.code == 0
    assert answer.err == f"note: no line in {path} is by Mai\n"


GOOD = '{"speaker": "A", "text": "x", "id": "1"}\n'


@pytest.mark.parametrize(
    ("content", "place", "told"),
    [
        (GOOD + "\n\n" + '{"speaker": "A"}\n', "line 4", "text: Field required"),
        (GOOD + '{"speaker": "A", \n', "line 2", "json: "),
        ("\n \n" + GOOD + "7\n", "line 4", "line: is not an object"),
        ('{"speaker": "A", "text": }\n' + GOOD, "line 1", "json: "),
        (GOOD + "[1]\n", "line 2", "line: is not an object"),
        (GOOD + '{"speaker": "A", "text": "x", "n": NaN}\n', "line 2", "NaN"),
        (GOOD + '{"speaker": "A", "text": "x", "n": 1e999}\n', "line 2", "1e999"),
        (GOOD * 600 + '{"speaker": "A", "text": "\\u0000"}\n', "line 601", "NUL"),
        (
            GOOD + "\n" + '{"speaker": "A", "text": "other", "id": "1"}\n',
            "line 3",
            "id: '1' is the id of another line already",
        ),
        (GOOD + '{"speaker": "\\u001b[31m", "text": "x"}\n', "line 2", "is not a name"),
        (f"[{GOOD},{GOOD},\n 7]", "item 3", "is not an object"),
        ('{"TURNS": [{"NAMES": [], "UTTERANCES": ["x"]}]}', "TURNS[0]", "NAMES"),
        ('{"TURNS": [{"NAMES": ["A"], "UTTERANCES": "x"}]}', "TURNS[0]", "UTTERANCES"),
        ('{"TURNS": 7}', "line 1", "is not a transcript"),
    ],
)
def test_a_bad_line_is_told_with_its_place(
    run: Run, campaign: Path, content: str, place: str, told: str
) -> None:
    """File, line and reason in one line on standard error, exit code 2; the campaign is as it was."""
    path = campaign.parent / "bad.jsonl"
    path.write_text(content)
    before = stored(campaign)
    answer = run("import", path, "-c", campaign)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {path}, {place}: ")
    assert told in answer.err
    assert answer.err.count("\n") == 1
    assert stored(campaign) == before


def test_a_file_that_is_not_utf8(run: Run, campaign: Path) -> None:
    """Text in another encoding is refused with its line, not read as something else."""
    path = campaign.parent / "latin.jsonl"
    path.write_bytes(GOOD.encode() + '{"speaker": "A", "text": "é"}'.encode("latin-1"))
    answer = run("import", path, "-c", campaign)
    assert answer.code == 2
    assert f"{path}, line 2: text: is not UTF-8" in answer.err


def test_what_windows_writes_is_read(run: Run, tmp_path: Path) -> None:
    """A byte order mark and line ends of two characters are no part of the text."""
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert run("import", path, "-c", tmp_path / "new").out == f"{path}: 1 added, 0 already there\n"


def test_a_file_of_no_known_kind_is_told(run: Run, campaign: Path) -> None:
    """The reason says what was expected, and where; nothing is imported, not even the good files."""
    good = transcript(campaign.parent / "good.jsonl", *LINES)
    bad = campaign.parent / "bad.json"
    before = stored(campaign)
    for content, reason in (
        (f"[{GOOD},\n,]", "it is not JSON: Expecting value at line 3, column 1"),
        ("Zara: hello\n", "its text is of no known kind"),
        ('{"hello": 1}', "its JSON is of no known kind"),
        ("\x00\x01\x02", "neither text nor a card"),
    ):
        bad.write_text(content)
        answer = run("import", good, bad, "-c", campaign)
        assert (answer.code, answer.out) == (2, "")
        assert f"{bad}: " in answer.err
        assert reason in answer.err
        assert stored(campaign) == before


def test_a_bad_transcript_leaves_no_campaign_behind(run: Run, campaign: Path, tmp_path: Path) -> None:
    """A new campaign in which nothing was recorded goes again; one that was there stays."""
    bad = transcript(tmp_path / "bad.jsonl", LINES[0], {"speaker": "Zara"})
    answer = run("import", bad, "-c", tmp_path / "new")
    assert answer.code == 2
    assert "line 2: text" in answer.err
    assert not (tmp_path / "new").exists()
    before = stored(campaign)
    assert run("import", bad, "-c", campaign).code == 2
    assert stored(campaign) == before


def test_a_message_that_is_too_long_is_cut_with_a_word(run: Run, tmp_path: Path) -> None:
    """The preview and the import say that a message does not fit into an event whole."""
    path = tmp_path / "chat.txt"
    path.write_text(f"Zara: Hello.\nThrok: {'A long tale. ' * 9_000}\nZara: Well.\n")
    preview = run("import", "--preview", path)
    assert "1 message cut at 102,400 characters" in preview.out
    answer = run("import", path, "-c", tmp_path / "new")
    assert answer.code == 0
    assert "1 message cut at 102,400 characters" in answer.err
    assert len(stored(tmp_path / "new")[1][3]) == 102_400


def test_dice_are_no_hint_at_the_dm() -> None:
    """A program that rolls dice may have most of the messages; the hint names a person."""
    people = [("Dice", "dm", 9), ("Ann", "pc", 5), ("Bo", "pc", 3), ("Cy", "pc", 1), ("Di", "pc", 1)]
    speakers = tuple(SpeakerPreview(*who, "") for who in people)
    told = _told_chat(ChatPreview("chat", 19, ("s01",), speakers))
    assert "DM: nobody; name one with --dm NAME (Ann talks most)" in told


def test_files_before_a_bad_one_stay_imported(run: Run, tmp_path: Path) -> None:
    """With --json, what was imported before the error is told all the same."""
    good, bad = transcript(tmp_path / "good.jsonl", *LINES), transcript(tmp_path / "bad.jsonl", LINES[0], 7)
    answer = run("import", good, bad, "-c", tmp_path / "new", "--json")
    assert answer.code == 2
    assert answer.json == [{"file": str(good), "added": 3, "skipped": 0}]
    assert f"{bad}, line 2" in answer.err


def test_json_lines_are_read_as_they_are_needed(tmp_path: Path) -> None:
    """The first lines come out before the last ones are read: a bad end does not matter to them."""
    path = tmp_path / "long.jsonl"
    path.write_text(GOOD * 100 + "nonsense\n")
    lines = iter(TranscriptFile(path))
    assert [next(lines)["speaker"] for _ in range(100)] == ["A"] * 100


def test_export_goes_back_in(run: Run, campaign: Path, tmp_path: Path) -> None:
    """A log exported and imported elsewhere exports to the same bytes, by file and by output."""
    answer = run("export", "log", "-c", campaign, "--out", tmp_path / "log.jsonl")
    assert answer == (0, "", f"{tmp_path / 'log.jsonl'}: 4 events\n")
    run("new", tmp_path / "copy")
    back = run("import-log", tmp_path / "log.jsonl", "-c", tmp_path / "copy")
    assert back == (0, f"{tmp_path / 'log.jsonl'}: 4 added\n", "")
    exported = run("export", "log", "-c", tmp_path / "copy").out
    assert exported == (tmp_path / "log.jsonl").read_text("utf-8")


def test_export_of_a_viewer_has_no_secrets(run: Run, campaign: Path) -> None:
    """What Throk did not perceive is not in his export."""
    exported = run("export", "log", "-c", campaign, "--as", "throk").out
    assert "guards" in exported
    assert "cave" not in exported.lower()


def test_a_failed_export_leaves_the_old_one(run: Run, campaign: Path, tmp_path: Path) -> None:
    """A file is replaced by a whole export or not at all, and nothing is left beside it."""
    out = tmp_path / "out" / "log.jsonl"
    out.parent.mkdir()
    out.write_text("the old one")
    assert run("export", "log", "-c", campaign, "--as", "Nobody", "--out", out).code == 1
    assert out.read_text() == "the old one"
    assert [*out.parent.iterdir()] == [out]
    missing = run("export", "log", "-c", campaign, "--out", tmp_path / "no" / "log.jsonl")
    assert missing.code == 1
    assert "No such file or directory" in missing.err


def test_import_log_is_all_or_nothing(run: Run, campaign: Path, tmp_path: Path) -> None:
    """A bad line is told with its place, and the good ones before it are not kept."""
    path = tmp_path / "log.jsonl"
    line = '{"event_id": "e", "kind": "dialogue", "source": "dm", "session_id": "s", "content": "x"}'
    path.write_text(f'{{"dndbots_log": 1}}\n{line}\n{{"event_id": "f"}}\n')
    answer = run("import-log", path, "-c", campaign)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {path}, line 3: event: ")
    assert len(stored(campaign)) == 4
    path.write_text(f'{{"dndbots_log": 1}}\n{line}\n')
    assert run("import-log", path, "-c", campaign, "--json").json == {"file": str(path), "added": 1}
    again = run("import-log", path, "-c", campaign)
    assert again.code == 1
    assert "already has an event with this id" in again.err


@pytest.mark.parametrize(
    "field", ['"version": Infinity', f'"metadata": {"[" * 100_000}'], ids=["number", "depth"]
)
def test_import_log_names_the_line_that_no_reader_takes(
    run: Run, campaign: Path, tmp_path: Path, field: str
) -> None:
    """A number that is none and a nest without a bottom are faults of a line, and no traceback."""
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"dndbots_log": 1}}\n{{"event_id": "f", "kind": "dialogue", {field}}}\n')
    answer = run("import-log", path, "-c", campaign)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {path}, line 2: event: cannot be read: ")
    assert len(stored(campaign)) == 4


def test_import_log_makes_no_campaign(run: Run, campaign: Path, tmp_path: Path) -> None:
    """Only `new` and `import` make campaigns."""
    run("export", "log", "-c", campaign, "--out", tmp_path / "log.jsonl")
    assert run("import-log", tmp_path / "log.jsonl", "-c", tmp_path / "nowhere").code == 1
    assert not (tmp_path / "nowhere").exists()
