"""What is made of lines that people type: figures on a set written before the rules, and single meanings."""

import subprocess
from pathlib import Path

import pytest
from tests.game.input.understanding_score import (
    HERE,
    Score,
    read_lines,
    scenes,
    score_lines,
    seen_in,
    wanted_in,
)

DEV = HERE / "understanding_dev.jsonl"
HELD_OUT = HERE / "understanding_held_out.jsonl"
STRANGERS = (HERE / "strangers_dev.jsonl", HERE / "players_dev.jsonl", HERE / "chat_dev.jsonl")
RIGHT, SWALLOWED, MILLISECONDS = 0.9, 0.03, 5.0
# 0.905 are reached. A change must not fall behind the aim by more than two lines.
RIGHT_HELD_OUT = 0.89
# Lines in many voices, by people who never saw the rules. 0.79 of those kept back are right; the aim is 0.9.
VOICES, VOICES_HELD_OUT = HERE / "many_voices_dev.jsonl", HERE / "many_voices_held_out.jsonl"
RIGHT_VOICES, RIGHT_VOICES_HELD_OUT = 0.82, 0.77


def score_of(path: Path) -> Score:
    return score_lines(read_lines(path))


@pytest.mark.parametrize("name", [*scenes()])
def test_the_house_still_plays_the_scenes(name: str) -> None:
    """The lines were written for these; look for another seed if the house plays differently."""
    seen, wanted = seen_in(name), wanted_in(name)
    assert {key: seen[key] for key in wanted} == wanted


@pytest.mark.parametrize("path", [DEV, *STRANGERS], ids=lambda path: path.stem)
def test_lines_are_understood(path: Path) -> None:
    score = score_of(path)
    assert score.right_share >= RIGHT, [line["line"] for line, _ in score.wrong]
    assert score.swallowed_share <= SWALLOWED
    assert score.two_kept >= 0.6 * score.two


def test_lines_that_no_rule_was_written_for_are_understood() -> None:
    """Half of the set is kept back from those who write rules."""
    if not HELD_OUT.exists() and _is_taken_out(HELD_OUT):
        pytest.skip("the lines are kept back from this working tree on purpose")
    score = score_of(HELD_OUT)
    assert score.lines > 200
    assert score.right_share >= RIGHT_HELD_OUT
    assert score.swallowed_share <= SWALLOWED


def test_lines_in_many_voices_are_understood() -> None:
    """The odds of deeds were learned from these, so they count for less than those kept back."""
    score = score_of(VOICES)
    assert score.lines > 1_400
    assert score.right_share >= RIGHT_VOICES
    assert score.swallowed_share <= SWALLOWED


def test_lines_in_many_voices_that_nobody_saw_are_understood() -> None:
    """Nothing was learned from these, and no rule was written for them. Five scenes are in no other set."""
    if not VOICES_HELD_OUT.exists() and _is_taken_out(VOICES_HELD_OUT):
        pytest.skip("the lines are kept back from this working tree on purpose")
    score = score_of(VOICES_HELD_OUT)
    assert score.lines > 200
    assert score.right_share >= RIGHT_VOICES_HELD_OUT
    assert score.swallowed_share <= SWALLOWED


def _is_taken_out(path: Path) -> bool:
    """Check that git was told to leave a file out of this working tree. A file that is only lost is not."""
    listed = subprocess.run(
        ["git", "ls-files", "-v", "--", path.name],  # noqa: S607
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.startswith("S ")


def test_a_line_takes_a_few_milliseconds() -> None:
    lines = read_lines(DEV)
    score_lines(lines[:20])  # the words are read on first use
    score = score_lines(lines)
    assert 1_000 * score.seconds / score.lines < MILLISECONDS
