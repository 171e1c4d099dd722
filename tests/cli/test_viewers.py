"""One grammar: every command that answers for somebody takes that somebody from --as."""

from pathlib import Path

import pytest
from tests.cli.calling import Run

from dndbots.campaign import Campaign
from dndbots.cli import app as program

NEEDS_A_VIEWER = ("recall", "context", "recap", "memories", "threads", "timeline", "log", "entity")


def _words(command: str) -> tuple[str, ...]:
    return (command, "Who is Elena?") if command == "recall" else (command,)


@pytest.mark.parametrize("command", NEEDS_A_VIEWER)
def test_without_a_viewer_the_characters_are_named(run: Run, split: Path, command: str) -> None:
    """Nobody is the DM by default, and the message lists the names to choose from."""
    answer = run(*_words(command), "-c", split)
    assert answer == (2, "", "error: add --as NAME to choose whose view to show: Throk, Zara or dm\n")


def test_graphs_need_a_viewer_too(run: Run, split: Path) -> None:
    answer = run("graph", "near", "Elena", "-c", split)
    assert answer.code == 2
    assert "Throk, Zara or dm" in answer.err


@pytest.mark.parametrize("command", NEEDS_A_VIEWER)
def test_an_unknown_viewer_gets_the_closest_names_first(run: Run, split: Path, command: str) -> None:
    answer = run(*_words(command), "--as", "Zahra", "-c", split)
    assert answer == (1, "", "error: no character has the name 'Zahra'; choose Zara, Throk or dm\n")


def test_a_part_of_a_name_is_enough_where_one_character_has_it(run: Run, tmp_path: Path) -> None:
    """Not where two have it: then the whole names are listed."""
    where = tmp_path / "named"
    with Campaign.open(where) as campaign:
        campaign.import_transcript(
            {"speaker": name, "text": f"I am {name}."}
            for name in ("Quillon Ashby", "Pim Tanglefoot", "Pim Oldacre")
        )
    whole = run("timeline", "--as", "Quillon Ashby", "-c", where)
    assert whole.code == 0
    assert run("timeline", "--as", "quillon", "-c", where) == whole
    both = run("timeline", "--as", "Pim", "-c", where)
    assert both.code == 1
    assert "choose Pim Oldacre, Pim Tanglefoot, Quillon Ashby or dm" in both.err


@pytest.mark.parametrize("command", NEEDS_A_VIEWER)
def test_scripts_may_still_write_viewer(run: Run, split: Path, command: str) -> None:
    """`--viewer` means `--as`, and no help page shows it."""
    new = run(*_words(command), "--as", "Zara", "-c", split)
    assert new.code == 0
    assert run(*_words(command), "--viewer", "Zara", "-c", split) == new
    assert run(*_words(command), "--viewer=Zara", "-c", split) == new
    assert "--viewer" not in run(command, "--help").out


def test_the_older_spellings_still_work(run: Run, split: Path) -> None:
    """`recall NAME QUESTION` and `context NAME` cannot be taken for anything else."""
    question = "What role does Elena have?"
    assert run("recall", "Zara", question, "-c", split) == run(
        "recall", question, "--as", "Zara", "-c", split
    )
    assert run("context", "Zara", "-c", split) == run("context", "--as", "Zara", "-c", split)


def test_a_viewer_is_named_once(run: Run, split: Path) -> None:
    answer = run("context", "Throk", "--as", "Zara", "-c", split)
    assert (answer.code, answer.out) == (2, "")
    assert "dndbots context --as Zara" in answer.err


def test_a_question_needs_no_quotes(run: Run, split: Path) -> None:
    quoted = run("recall", "What role does Elena have?", "--as", "Zara", "-c", split)
    words = ("What", "role", "does", "Elena", "have?")
    assert run("recall", *words, "--as", "Zara", "-c", split) == quoted


@pytest.mark.parametrize(
    ("name", "viewer", "error"),
    [
        ("Elenna", "Throk", "Throk knows nothing called 'Elenna'; did you mean Elena?"),
        ("Mill", "Throk", "Throk knows nothing called 'Mill'; did you mean Old Mill?"),
        # The cellar is Zara's alone.
        (
            "Celar",
            "Throk",
            "Throk knows nothing called 'Celar'; `dndbots entity --as Throk` lists all names",
        ),
        ("Celar", "Zara", "Zara knows nothing called 'Celar'; did you mean Cellar?"),
        ("Celar", "dm", "the campaign knows nothing called 'Celar'; did you mean Cellar?"),
    ],
)
def test_suggestions_are_names_that_the_viewer_knows(
    run: Run, split: Path, name: str, viewer: str, error: str
) -> None:
    for words in (("entity", name), ("graph", "near", name), ("timeline", "--about", name)):
        assert run(*words, "--as", viewer, "-c", split) == (1, "", f"error: {error}\n")


def test_suggestions_respect_the_past(run: Run, split: Path) -> None:
    """What Zara learned later is not suggested for an earlier moment."""
    answer = run("entity", "Celar", "--as", "Zara", "--as-of", "evt_2", "-c", split)
    assert "Cellar" not in answer.err


def test_facts_are_corrected_by_name(run: Run, split: Path) -> None:
    answer = run("correct", "Elena", "mood=merry", "-c", split)
    assert answer.code == 0
    assert answer.out.startswith("Elena: mood is now merry: ")
    assert "merry" in run("entity", "Elena", "--as", "dm", "-c", split).out


def test_a_decision_on_a_name_says_what_it_takes(run: Run, split: Path) -> None:
    for words in (("pin", "Elena"), ("correct", "Elena", "She is merry.")):
        answer = run(*words, "-c", split)
        assert answer.code == 1
        assert "'Elena' is a name, and this takes the id of an event or a memory" in answer.err


def test_every_command_is_found_in_its_module() -> None:
    """The table of modules names exactly the commands that the modules add."""
    assert {*program.load_program().commands} == {*program._MODULE_OF}


def test_an_unknown_command_is_suggested_among_all(run: Run) -> None:
    answer = run("recal")
    assert answer.code == 2
    assert "recall" in answer.err
