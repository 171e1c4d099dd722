"""How the program ends when something is wrong: one line, an exit code, and never a traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.calling import Run, plain_environment, program, transcript
from tests.waiting import HANG

ON_A_CAMPAIGN = [
    ("log", "--as", "dm"),
    ("timeline", "--as", "dm"),
    ("entity", "--as", "dm"),
    ("who-knows", "Zara", "mood"),
    ("export", "log"),
    ("fork", "other"),
    ("branches",),
    ("rebuild",),
    ("verify",),
    ("recap", "--as", "dm"),
    ("recall", "Who is there?", "--as", "dm"),
    ("memories", "--as", "dm"),
    ("threads", "--as", "dm"),
    ("remember",),
    ("session", "start", "s09"),
    ("pin", "evt_1"),
    ("lock", "evt_1"),
    ("forget", "evt_1"),
    ("correct", "evt_1", "The party rests."),
    ("correct", "pc_zara_001", "mood=merry"),
]


@pytest.mark.parametrize("words", ON_A_CAMPAIGN, ids=" ".join)
def test_no_campaign_there(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Where no campaign is, none is made, and the error says how to make one."""
    where = tmp_path / "nowhere"
    answer = run(*words, "-c", where)
    remedy = "`dndbots list` shows all, `dndbots new` makes one"
    assert answer == (1, "", f"error: no campaign at {where}; {remedy}\n")
    assert not where.exists()


@pytest.mark.parametrize("words", ON_A_CAMPAIGN, ids=" ".join)
def test_no_campaign_named(run: Run, words: tuple[str, ...]) -> None:
    """A command that does not know which campaign is a wrong call."""
    answer = run(*words)
    assert (answer.code, answer.out) == (2, "")
    assert "--campaign" in answer.err


@pytest.mark.parametrize("words", ON_A_CAMPAIGN, ids=" ".join)
def test_the_environment_names_the_campaign(run: Run, campaign: Path, words: tuple[str, ...]) -> None:
    """DNDBOTS_CAMPAIGN stands in for --campaign, and --campaign goes before it."""
    assert run(*words, DNDBOTS_CAMPAIGN=str(campaign)).code == 0
    elsewhere = run(*words, "-c", campaign.parent / "nowhere", DNDBOTS_CAMPAIGN=str(campaign))
    assert elsewhere.code == 1


@pytest.mark.parametrize("words", ON_A_CAMPAIGN, ids=" ".join)
def test_an_unknown_branch(run: Run, campaign: Path, words: tuple[str, ...]) -> None:
    """A branch that is not there is refused with those that are."""
    answer = run(*words, "-c", campaign, "--branch", "side")
    assert answer == (1, "", "error: there is no branch 'side'; the branches are main\n")


@pytest.mark.parametrize("words", ON_A_CAMPAIGN, ids=" ".join)
@pytest.mark.parametrize("damage", ["garbage", "truncated"])
def test_a_damaged_database(run: Run, campaign: Path, words: tuple[str, ...], damage: str) -> None:
    """A file that is no database, or half of one, is told in one line; exit code 1."""
    file = campaign / "campaign.db"
    whole = file.read_bytes()
    file.write_bytes(b"no database at all" * 1000 if damage == "garbage" else whole[: len(whole) // 2])
    answer = run(*words, "-c", campaign)
    assert answer.code == 1
    assert "Traceback" not in answer.err
    if damage == "garbage":
        assert answer.out == ""
        assert answer.err.startswith(f"error: {campaign}: ")
        assert answer.err.count("\n") == 1


def test_an_address_of_another_kind(run: Run) -> None:
    """An address that is neither a folder nor PostgreSQL is refused in words."""
    answer = run("verify", "-c", "mysql://somewhere/db")
    assert answer.code == 1
    assert "is not a folder or a postgresql:// address" in answer.err


def test_a_password_is_not_shown(run: Run) -> None:
    """Errors name the address that was given, without its password."""
    answer = run("verify", "-c", "postgresql://dm:swordf1sh@localhost:1/db")
    assert answer.code == 1
    assert "dm:***@localhost" in answer.err
    assert "swordf1sh" not in answer.err


def test_a_file_that_is_not_there(run: Run, campaign: Path) -> None:
    """A file that does not exist is a wrong call, and makes no campaign."""
    answer = run("import", campaign / "no.jsonl", "-c", campaign.parent / "nowhere")
    assert answer.code == 2
    assert not (campaign.parent / "nowhere").exists()


def test_a_word_that_is_no_text(campaign: Path) -> None:
    """Bytes that are not UTF-8 on the command line are an error in words."""
    done = subprocess.run(
        [sys.executable, "-m", "dndbots", "entity", b"\xff", "--as", "dm", "-c", str(campaign)],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough(campaign: Path) -> None:
    """`| head` ends the program quietly, whatever it was about to show."""
    many = ({"speaker": "Zara", "text": f"line {number} " * 50} for number in range(500))
    program("import", transcript(campaign.parent / "many.jsonl", *many), "-c", campaign)
    for words in (["log"], ["log", "--json"], ["timeline", "--last", "500"], ["export", "log"]):
        with subprocess.Popen(
            [sys.executable, "-m", "dndbots", *words, "--as", "dm", "-c", str(campaign)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=plain_environment(),
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.read(10)
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait() == 0


UNFLUSHED = """
import typer
from dndbots.cli.failures import explained
try:
    with explained():
        print("an answer")
except typer.Exit as exc:
    raise SystemExit(exc.exit_code)
"""


@pytest.mark.parametrize(
    "words", [["-m", "dndbots", "verify", "--json"], ["-c", UNFLUSHED]], ids=["-m", "-c"]
)
def test_a_small_answer_that_nobody_reads(campaign: Path, words: list[str]) -> None:
    """An answer that fits the buffer meets the closed pipe only at the end, and is as quiet."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=plain_environment() | {"DNDBOTS_CAMPAIGN": str(campaign)},
    ) as running:
        os.close(writing)
        assert running.stderr is not None
        assert running.stderr.read() == b""
        assert running.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interruption_loses_nothing(campaign: Path) -> None:
    """Ctrl-C: exit code 130 and a word; what was acknowledged before is there, and the campaign is sound."""
    path = transcript(campaign.parent / "one.jsonl", *({"speaker": "Zara", "text": "x"} for _ in range(9)))
    # All files are looked at first, then written one by one: the second takes long enough to be interrupted.
    many = ({"speaker": "Zara", "text": f"line {number}"} for number in range(60_000))
    long_file = transcript(campaign.parent / "long.jsonl", *many)
    command = [sys.executable, "-m", "dndbots", "import", str(path), str(long_file), "-c", str(campaign)]
    # Whoever runs the tests in the background ignores interruptions, and programs inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    signal.signal(signal.SIGINT, before)
    with running:
        assert running.stdout is not None
        assert running.stdout.readline().endswith(b": 9 added, 0 already there\n")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=HANG)
    assert (running.returncode, out) == (130, b"")
    assert err.startswith(b"error: interrupted; everything acknowledged so far is saved")
    assert err.count(b"\n") == 1
    assert program("verify", "-c", campaign).out.startswith("sound: ")
    kept = program("log", "--as", "dm", "--json", "-c", campaign).out
    assert kept.count('"x"') == 9


def test_a_terminal_without_our_letters(campaign: Path) -> None:
    """An output in ASCII spells letters out instead of failing, and JSON stays JSON."""
    path = transcript(campaign.parent / "play.jsonl", {"speaker": "Zoë", "text": "Ça va?"})
    program("import", path, "-c", campaign)
    words = ("timeline", "--as", "dm", "--last", "1", "-c", campaign)
    shown = program(*words, PYTHONIOENCODING="ascii")
    assert shown.code == 0
    assert "Zo\\xeb" in shown.out
    assert program(*words, "--json", PYTHONIOENCODING="ascii").json[0]["who"] == "Zoë"
