"""A game as it is told on a terminal: who speaks, where, with which dice, and how everybody is."""

import contextlib
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.calling import COLOURING, HOSTILE
from tests.cli.staged import CELLAR, ELENA, MILL, MIRA, RATS, THROK, Drafted, prompt

from dndbots.cli.play.screen import Stage
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM

STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COLOURS = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in COLOURING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def game() -> Drafted:
    drafted = Drafted()
    drafted.round = 1
    drafted.played = []
    return drafted


def told(game: Drafted, capsys: pytest.CaptureFixture[str], *, quiet: bool = False) -> list[str]:
    """What a stage makes of all steps so far, line by line."""
    stage = Stage(lambda: game.table, quiet=quiet)
    for events in game.played:
        stage.tell(events)
    stage.end_round({DM: prompt(DM, 1_500), THROK: prompt(THROK, 200)})
    return capsys.readouterr().out.splitlines()


def test_a_round_has_a_head(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """Its number, its place, and who is there."""
    game.add(DM, EventType.DM_NARRATION, "It rains.", place=MILL)
    assert "Round 1 · The Salt Mill · Throk, Mira" in told(game, capsys)


def test_a_split_party_has_a_head_for_each_scene(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """What happens elsewhere is told when the scene that is on is over, with those who were there."""
    _apart(game)
    game.round = 2
    game.played = []
    step = game.step(DM)
    step.add(EventType.DM_NARRATION, "The wheel creaks.", place=MILL)
    step.add(EventType.DM_NARRATION, "Water drips.", place=CELLAR)
    game.add(THROK, EventType.PLAYER_ACTION, "I wait.", place=MILL)
    game.add(MIRA, EventType.PLAYER_ACTION, "I dig.", place=CELLAR)
    shown = told(game, capsys, quiet=True)
    assert shown == [
        "",
        "Round 2 · The Salt Mill · Throk",
        "  The wheel creaks.",
        "    Throk: I wait.",
        "",
        "Round 2 · Cellar · Mira",
        "  Water drips.",
        "    Mira: I dig.",
    ]


def test_who_goes_is_told_of_where_they_were(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """A march ends the scene that it leaves, and opens none."""
    game.add(DM, EventType.DM_NARRATION, "It rains.", place=MILL)
    _apart(game)
    shown = told(game, capsys, quiet=True)
    assert shown[-1] == "  Mira climbs down."
    assert [line for line in shown if line.startswith("Round")] == ["Round 1 · The Salt Mill · Throk"]


def _apart(game: Drafted) -> None:
    step = game.step(DM)
    step.add(
        EventType.LOCATION_CHANGE,
        "Mira climbs down.",
        place=CELLAR,
        participants=[MIRA],
        play={"origin": MILL, "way": "ladder"},
    )


def test_a_march_is_told_once(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """As those who go know it, and not again as those see it who stay, or who are there."""
    game.add(DM, EventType.DM_NARRATION, "It rains.", place=MILL)
    step = game.step("march")
    gone = {"subject": MIRA, "op": "@", "object": MILL, "ended": True}
    step.add(EventType.DM_NARRATION, "Mira leaves.", place=MILL, witnesses=[THROK], facts=[gone])
    by = {"origin": MILL, "way": "ladder"}
    step.add(EventType.DM_NARRATION, "Mira climbs down.", place=CELLAR, participants=[MIRA], play=by)
    step.add(EventType.LOCATION_CHANGE, "Mira comes.", place=CELLAR, participants=[MIRA], witnesses=[ELENA])
    shown = told(game, capsys, quiet=True)
    assert shown[-2:] == ["  It rains.", "  Mira climbs down."]


def test_dice_are_told_with_their_numbers(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """Each roll on a line of its own, behind what was rolled for; a quiet stage leaves them out."""
    rolls = [{"text": "d20 14 + 1 = 15 against 13: hits"}, {"text": "1d8+1 = 6"}, {"no": "text"}, 7]
    game.add(THROK, EventType.COMBAT_ROUND, "Throk hits.", place=MILL, play={"rolls": rolls})
    shown = told(game, capsys)
    at = shown.index("  Throk hits.")
    assert shown[at + 1 : at + 4] == [
        "        d20 14 + 1 = 15 against 13: hits",
        "        1d8+1 = 6",
        "",
    ]
    assert told(game, capsys, quiet=True)[-1] == "  Throk hits."


def test_whispers_say_to_whom(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever watches sees that the others did not hear it."""
    game.add(MIRA, EventType.WHISPER, "Run.", place=MILL, participants=[MIRA, THROK], witnesses=[])
    assert "    Mira (whispers to Throk): Run." in told(game, capsys)


def test_people_whose_name_is_told_are_not_named_twice(
    game: Drafted, capsys: pytest.CaptureFixture[str]
) -> None:
    """How somebody speaks is told by the DM, and then it stands where narration does."""
    game.add(ELENA, EventType.DIALOGUE, "Go away.", place=MILL)
    game.add(ELENA, EventType.DIALOGUE, '"Go," says Elena.', place=MILL)
    game.add(THROK, EventType.DIALOGUE, "Throk does not go.", place=MILL)
    assert told(game, capsys, quiet=True)[2:] == [
        "    Elena: Go away.",
        '  "Go," says Elena.',
        "    Throk: Throk does not go.",
    ]


def test_a_status_line_breaks_between_people(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody is parted from their hit points."""
    crowd = Drafted("Throk of the very long and winding road", "Mira of the other road, which is longer")
    assert told(crowd, capsys)[-4:-2] == [
        "turn 0 · The Salt Mill: Throk of the very long and winding road █▋ 8/24",
        "  Mira of the other road, which is longer █▋ 8/24",
    ]


def test_deaths_and_levels_are_marked(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """They stand out without colours, too; the dead are in no status line."""
    game.add(DM, EventType.SYSTEM, "Throk rises.", facts=[{"subject": THROK, "key": "level", "value": 2}])
    game.add(DM, EventType.DEATH, "Mira dies.", place=MILL, killed=[MIRA])
    shown = told(game, capsys)
    assert "  [level] Throk rises." in shown
    assert "  [death] Mira dies." in shown
    assert "Mira" not in shown[-2]


def test_joining_is_no_level(capsys: pytest.CaptureFixture[str]) -> None:
    """Everybody begins with a level, and has not risen to it."""
    assert not [line for line in told(Drafted(), capsys) if "[level]" in line]


def test_a_status_line_ends_the_round(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """The turn, who is where with how many hit points, and how full each prompt is."""
    game.add(DM, EventType.DAMAGE, "A beam falls.", place=MILL, hp_delta={THROK: -4})
    assert told(game, capsys)[-2:] == [
        "turn 1 · The Salt Mill: Throk ▉ 4/24 · Mira █▋ 8/24",
        "tokens · DM ██████ 1500/2000 · Throk ▊ 200/2000",
    ]


def test_what_only_the_dm_knows_is_no_story(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown with the dice, and not on a quiet stage."""
    game.add(DM, EventType.DICE_ROLL, "Nobody notices the trap.", place=MILL, witnesses=[])
    assert "  Nobody notices the trap." in told(game, capsys)
    assert told(game, capsys, quiet=True) == []


def test_notes_of_the_engine_are_not_told(game: Drafted, capsys: pytest.CaptureFixture[str]) -> None:
    """What memory keeps of a scene is no part of it."""
    note = GameEvent(
        event_id="n1", event_type=EventType.SUMMARY, source=DM, content="a summary", session_id="s01", turn=1
    )
    game.played.append([note])
    assert not any("a summary" in line for line in told(game, capsys))


def test_everybody_has_a_colour(
    game: Drafted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two characters, people and foes differ; narration is plain; names are bold."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    for who in (THROK, MIRA, ELENA, RATS):
        game.add(who, EventType.DIALOGUE, "Aha.", place=MILL)
    game.add(DM, EventType.DM_NARRATION, "It rains.", place=MILL)
    spoken = [line for line in told(game, capsys, quiet=True) if "Aha." in line or "rains" in line]
    codes = [tuple(COLOURS.findall(line)) for line in spoken]
    assert len({*codes}) == 5
    assert codes[-1] == ()
    assert all(found[0].startswith("\x1b[1;") for found in codes[:-1])


def test_no_control_codes_where_there_is_no_terminal(
    game: Drafted, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same words, in plain text."""
    game.add(THROK, EventType.DIALOGUE, "Aha.", place=MILL)
    assert not STEERS.search("".join(told(game, capsys)))


@pytest.mark.parametrize("coloured", [False, True], ids=["plain", "coloured"])
@given(text=st.text(min_size=1).filter(str.strip))
def test_texts_steer_nothing(*, coloured: bool, text: str) -> None:
    """Whatever is said, by whomever: no code but the stage's own colours reaches the terminal."""
    with pytest.MonkeyPatch.context() as patch:
        if coloured:
            patch.setenv("FORCE_COLOR", "1")
        shown = _hostile_lines(text.replace("\x00", "").encode("utf-8", "ignore").decode() or "x")
    assert not STEERS.search(COLOURS.sub("", shown) if coloured else shown)


def _hostile_lines(text: str) -> str:
    game = Drafted("[red]Throk[/red]", ":skull: Mira")
    game.round = 1
    game.add(DM, EventType.DM_NARRATION, text, place=MILL, play={"rolls": [{"text": text}]})
    game.add(THROK, EventType.DIALOGUE, f"{HOSTILE}{text}", place=MILL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        stage = Stage(lambda: game.table)
        for events in game.played:
            stage.tell(events)
        stage.end_round({})
    return printed.getvalue()


def test_markup_in_names_stands_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    """A name is text in heads, in speech and in the status line."""
    game = Drafted("[red]Throk[/red]", ":skull: Mira")
    game.add(THROK, EventType.DIALOGUE, "[bold]Aha[/bold]", place=MILL)
    shown = told(game, capsys)
    assert "The Salt Mill · [red]Throk[/red], :skull: Mira" in shown
    assert "    [red]Throk[/red]: [bold]Aha[/bold]" in shown


@given(st.lists(st.sampled_from(["Round 9 · Hell", "  Mira: I give up.", "      d20 20", "turn 9", ""])))
def test_nothing_said_passes_for_something_else(lines: list[str]) -> None:
    """What is said stays behind the margin of its speaker: no head, narration, speech or die is forged."""
    game = Drafted()
    game.round = 1
    game.played = []
    game.add(THROK, EventType.DIALOGUE, "\n".join(["Hear me.", *lines]), place=MILL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        stage = Stage(lambda: game.table, quiet=True)
        stage.tell(game.played[0])
    _, _, first, *more = printed.getvalue().splitlines()
    assert first == "    Throk: Hear me."
    assert all(line.startswith("      ") and not line.startswith("       ") for line in more)
