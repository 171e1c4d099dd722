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
    table_of,
    wanted_in,
)

from dndbots.game.input import likely_deeds
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.meanings import Understanding

DEV = HERE / "understanding_dev.jsonl"
HELD_OUT = HERE / "understanding_held_out.jsonl"
STRANGERS = tuple(HERE / f"{name}_dev.jsonl" for name in ("strangers", "players", "chat", "voices"))
RIGHT, SWALLOWED, MILLISECONDS = 0.9, 0.03, 5.0
# 0.950 are reached. A change must not fall behind that by more than four lines.
RIGHT_HELD_OUT = 0.925
# Lines in many voices, by people who never saw the rules. 0.85 of those kept back are right; the aim is 0.9.
VOICES = HERE / "many_voices_dev.jsonl"
RIGHT_VOICES, RIGHT_VOICES_HELD_OUT = 0.79, 0.82
NEWCOMERS = tuple(HERE / f"newcomers_{name}_dev.jsonl" for name in "abcd")
RIGHT_NEWCOMERS = 0.73
KEPT_BACK = {"many_voices": RIGHT_VOICES_HELD_OUT, "newcomers": 0.815}


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


@pytest.mark.parametrize("path", NEWCOMERS, ids=lambda path: path.stem)
def test_lines_of_newcomers_are_understood(path: Path) -> None:
    """The odds of deeds were learned from these, too. Before, 0.61 to 0.78 of them were right."""
    score = score_of(path)
    assert score.right_share >= RIGHT_NEWCOMERS
    assert score.swallowed_share <= SWALLOWED


@pytest.mark.parametrize("name", [*KEPT_BACK])
def test_lines_in_many_voices_that_nobody_saw_are_understood(name: str) -> None:
    """Nothing was learned from these, and no rule was written for them."""
    path = HERE / f"{name}_held_out.jsonl"
    if not path.exists() and _is_taken_out(path):
        pytest.skip("the lines are kept back from this working tree on purpose")
    score = score_of(path)
    assert score.lines > 200
    assert score.right_share >= KEPT_BACK[name]
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


def meaning(scene: str, line: str) -> Understanding:
    return understand_line(*table_of(scene), line)


@pytest.mark.parametrize(
    "line",
    [
        "we do not want to fight",
        "I won't attack them",
        "don't attack",
        "do not shoot yet",
        "never hit a goblin",
        "I am not going to shoot",
        "let's not fight",
        "I would never steal the apples",
        "I refuse to fight",
        "hold your fire",
        "nobody attack",
        "no attacking yet",
        "stop fighting",
        "without attacking, I walk up",
        "I am not stabbing anyone",
        "I put my sword down",
        "I ready my sling but don't shoot yet",
    ],
)
def test_what_is_denied_is_not_done(line: str) -> None:
    """A word for a blow behind "not" strikes nobody, in whatever other words the line is read."""
    found = meaning("goblins", line)
    deeds = [one.verb for one in (found, found.then) if one is not None]
    assert not {"attack", "take", "cast"} & {*deeds}


@pytest.mark.parametrize(
    ("scene", "line", "way"),
    [
        ("green", "somewhere with a fire and a roof", "inn door"),
        ("green", "off to where they pray", "chapel path"),
        ("green", "Throk strides off toward the fruit trees", "orchard lane"),
        ("green", "I believe I shall repair to the hostelry", "inn door"),
        ("square", "the really big house over there, can we go in", "tall house"),
        ("square", "where do the builders work? let's go there", "masons' gate"),
        ("goblins", "Pim scampers for the long dark building", "cider house"),
        ("inn", "back into the snow", "out to the green"),
    ],
)
def test_a_place_is_found_by_what_it_is_for_or_like(scene: str, line: str, way: str) -> None:
    """Nobody has to know what the adventure calls a way."""
    found = meaning(scene, line)
    assert (found.verb, (found.what or "").partition(" (")[0]) == ("go", way)


def test_a_place_that_nothing_here_is_like_is_no_way() -> None:
    """A description that fits no way, or two alike, moves nobody."""
    for line in ("to the dragon's lair", "go to the lighthouse", "walk to the arena"):
        assert meaning("green", line).act is None


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("what's my AC", "me"),
        ("do I need to roll for that?", "rules"),
        ("how do I pick up stuff", "rules"),
        ("what do I have equipped", "items"),
        ("what was I supposed to bring her", "quests"),
        ("where did everyone go", "party"),
        ("who else is in the taproom", "who"),
    ],
)
def test_questions_to_the_game_have_answers_of_their_own(line: str, question: str) -> None:
    """Though somebody stands by who could be asked."""
    found = meaning("inn", line)
    assert (found.verb, found.question) == ("meta", question)


def test_speech_beside_a_deed_is_to_who_is_named_in_it() -> None:
    for line in (
        'Zara crouches beside the old knitter. "Cold night, grandmother."',
        "*plops down beside granny* cold, isn't it?",
    ):
        found = meaning("inn", line)
        assert found.verb in ("tell", "ask")
        assert found.target == "an old woman who knits"
        assert found.words == line


def test_a_line_takes_a_few_milliseconds() -> None:
    lines = read_lines(DEV)
    score_lines(lines[:20])  # the words are read on first use
    score = score_lines(lines)
    assert 1_000 * score.seconds / score.lines < MILLISECONDS


@pytest.mark.parametrize(
    ("line", "hearer"),
    [
        ("where does the cider come from", "Bettany Crewe"),
        ("how much for a bed", "Bettany Crewe"),
        ("who was Elowen", "Granny Isbel"),
    ],
)
def test_of_several_people_the_one_who_spoke_of_a_matter_is_asked(line: str, hearer: str) -> None:
    """Granny Isbel was the last to speak, but the house and its cider are not hers."""
    assert meaning("ladder", line).target == hearer


def test_who_is_called_in_quotes_is_spoken_to() -> None:
    found = meaning("stair", '"You first, Throk. Fighters go first."')
    assert (found.verb, found.target) == ("tell", "Throk")
    assert found.words == '"You first, Throk. Fighters go first."'


@pytest.mark.parametrize(("line", "ware"), [("a pint, please", "beer"), ("a mug of cider, please", "cider")])
def test_a_vessel_is_bought_with_what_is_in_it(line: str, ware: str) -> None:
    found = meaning("inn", line)
    assert found.verb == "buy"
    assert ware in (found.what or "")


def test_what_is_built_in_may_be_broken() -> None:
    """A blow at a lock is an attempt to force it, though the lock was not told of."""
    assert meaning("chapel", "hack at the grille with my sword").verb == "try"
    assert meaning("span", "knock on the iron door").what != "rations"


def test_the_iron_is_no_iron_spike() -> None:
    """A word for what something is made of names nothing that is carried."""
    assert meaning("span", "chop at the iron").what != "iron spikes"


def test_who_shoots_uses_what_shoots() -> None:
    assert meaning("stair", "shoot the fattest one").what == "short bow"


def test_a_likely_blow_in_a_fight_is_at_the_foes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fight a blow that names nobody is at who fights; in peace it is at nobody."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"attack": 1.0})
    found = meaning("wolves", "one good cut, then step back behind the trees")
    assert (found.verb, found.target) == ("attack", "thin gray wolves")
    assert meaning("square", "one good cut across the board").verb != "attack"


@pytest.mark.parametrize(
    ("scene", "line", "way"),
    [
        ("span", "off this thing before the wind takes me", "off the bridge"),
        ("stair", "further in, come on", "up out of the water"),
        ("chapel", "leave him to his digging and rejoin the others", "path to the green"),
    ],
)
def test_a_likely_way_is_found_by_where_it_leads(
    monkeypatch: pytest.MonkeyPatch, scene: str, line: str, way: str
) -> None:
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"go": 1.0})
    assert (meaning(scene, line).what or "").partition(" (")[0] == way
