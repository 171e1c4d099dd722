"""`dndbots play`: a game at once, told on a terminal or for a program, gone on with from its log."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import Run, transcript
from tests.cli.terminal import Terminal

from dndbots import Campaign
from dndbots.cli.play import play, table_setup
from dndbots.events import EventType, GameEvent
from dndbots.game.game import Game

HOME = Path("campaigns") / table_setup.MODULE
STEERS = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COLOURS = re.compile("\x1b\\[[0-9;]*m")
# A party of two, and nobody who reads along, is quicker.
QUICK = ("--seats", 2, "--no-compact")
ASKED = "Enter continues, q stops: "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def events_in(where: Path) -> list[GameEvent]:
    with Campaign.open(where, create=False) as campaign:
        return list(campaign.events(viewer="dm"))


def rounds_in(shown: str) -> list[int]:
    """The rounds that have a head, in order."""
    numbers = [int(found) for found in re.findall(r"^Round (\d+)", shown, re.MULTILINE)]
    return list(dict.fromkeys(numbers))


def test_a_game_is_played_at_once(run: Run) -> None:
    """No campaign, no keys, nothing to set up: it says where it is kept, and what can be done with it."""
    answer = run("play", "--seed", 3, "--auto", 2)
    assert (answer.code, answer.err) == (0, "")
    assert rounds_in(answer.out) == [1, 2]
    assert re.search(r"^turn 2 · ", answer.out, re.MULTILINE)
    assert re.search(r"^tokens · DM \S+ \d+/2000", answer.out, re.MULTILINE)
    assert f"dndbots play --campaign {HOME}" in answer.out
    assert run("verify", "-c", HOME).code == 0


def test_an_imported_campaign_is_not_played_in_unasked(run: Run, tmp_path: Path) -> None:
    """It is named, with what can be done, and stays as it was; what is proposed runs as it stands."""
    lines = transcript(tmp_path / "play.jsonl", {"speaker": "Zara", "text": "Where is Elena?"})
    run("import", lines, "-c", "mine")
    before = run("export", "log", "-c", "mine").out
    answer = run("play", "-c", "mine", "--auto", 1, *QUICK)
    assert (answer.code, answer.out) == (1, "")
    assert "mine" in answer.err
    assert "--campaign" in answer.err
    assert "--human dm" in answer.err
    assert run("export", "log", "-c", "mine").out == before
    assert run("recap", "--as", "dm", "-c", "mine").code == 0
    assert [one["name"] for one in run("entity", "--as", "dm", "-c", "mine", "--json").json] == ["Zara"]


def test_commands_worth_trying_can_be_tried(run: Run) -> None:
    """What is said at the end to be worth trying runs as it stands."""
    told = run("play", "--seed", 3, *QUICK, "--auto", 2).out
    lines = [shlex.split(line)[1:] for line in told.splitlines() if line.startswith("  dndbots ")]
    assert {words[0] for words in lines} == {"play", "recap", "context", "diff"}
    for words in lines:
        more = ["--auto", "1"] if words[0] == "play" else []
        assert run(*words, *more).code == 0


def test_without_a_terminal_it_plays_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked; there is a most that is played, and the help says how much."""
    assert str(play._MOST_ROUNDS) in (play.play.__doc__ or "")
    monkeypatch.setattr(play, "_MOST_ROUNDS", 3)
    assert rounds_in(run("play", "--seed", 3, *QUICK).out) == [1, 2, 3]


def test_a_game_in_two_parts_is_the_same_game(run: Run) -> None:
    """It is gone on with from the log alone: what was played at once is what was played in parts."""
    words = ("play", "--quiet")
    run(*words, "--seed", 7, *QUICK, "--auto", 5, "-c", "whole")
    run(*words, "--seed", 7, *QUICK, "--auto", 2, "-c", "parts")
    second = run(*words, "--auto", 3, "--no-compact", "-c", "parts")
    assert rounds_in(second.out) == [3, 4, 5]
    played = [event for event in events_in(Path("whole")) if not event.is_note]
    again = [event for event in events_in(Path("parts")) if not event.is_note]
    assert [(one.event_id, one.content) for one in played] == [(one.event_id, one.content) for one in again]


def test_games_have_folders_of_their_own(run: Run) -> None:
    """Without --campaign, a game is gone on with where it agrees; another one gets the next free name."""
    assert f"{HOME}:" in run("play", "--seed", 3, *QUICK, "--auto", 1).out
    assert rounds_in(run("play", "--auto", 1).out) == [2]
    assert rounds_in(run("play", "--seed", 3, *QUICK, "--auto", 1).out) == [3]
    assert f"{HOME}_2:" in run("play", "--seed", 4, *QUICK, "--auto", 1).out
    assert f"{HOME}_2:" in run("play", "--seed", 4, *QUICK, "--auto", 1).out


def test_a_campaign_without_a_game_is_somebody_elses(run: Run) -> None:
    """Nothing is played into what was kept there, unless somebody says so."""
    run("new", HOME)
    with Campaign.open(HOME) as kept:
        kept.introduce("NPC", "Elena")
    assert f"{HOME}_2:" in run("play", "--seed", 3, *QUICK, "--auto", 1).out
    assert rounds_in(run("play", "--seed", 3, *QUICK, "--auto", 1, "-c", HOME).out) == [1]


@pytest.mark.parametrize(
    "words",
    [("--seed", 4), ("--module", "endless"), ("--seats", 3), ("--budget", 999)],
    ids=lambda words: words[0],
)
def test_what_does_not_agree_with_the_game_is_refused(run: Run, words: tuple[object, ...]) -> None:
    """A game is not changed by an option; the error says what is there, and what to do."""
    run("play", "--seed", 3, *QUICK, "--auto", 1)
    before = len(events_in(HOME))
    answer = run("play", "--auto", 1, *words, "-c", HOME)
    assert (answer.code, answer.out) == (1, "")
    assert str(words[0]) in answer.err
    assert str(words[1]) in answer.err
    assert len(events_in(HOME)) == before


def test_what_agrees_may_be_said_again(run: Run) -> None:
    """The same command can be run again and again."""
    words = ("play", "--module", table_setup.MODULE, "--seed", 3, "--seats", 3, "--auto", 1, "-c", "mine")
    assert rounds_in(run(*words).out) == [1]
    assert rounds_in(run(*words).out) == [2]


def test_a_quiet_game_is_only_the_story(run: Run) -> None:
    """No dice, no status lines; where it is kept stands beside it."""
    loud = run("play", "--seed", 3, *QUICK, "--auto", 4, "-c", "loud").out.splitlines()
    quiet = run("play", "--seed", 3, *QUICK, "--auto", 4, "--quiet", "-c", "quiet")
    assert not re.search(r"^(turn|tokens) |^ {8}\S", quiet.out, re.MULTILINE)
    assert {*quiet.out.splitlines()} <= {*loud}
    assert "saved in quiet" in quiet.err


# For programs.


def test_json_is_the_log_as_it_grows(run: Run) -> None:
    """What is printed can be imported, and is then the same campaign."""
    answer = run("play", "--seed", 3, *QUICK, "--auto", 3, "--json")
    Path("played.jsonl").write_text(answer.out, "utf-8")
    assert answer.out == run("export", "log", "-c", HOME).out
    run("new", "copy")
    assert run("import-log", "played.jsonl", "-c", "copy").code == 0
    assert rounds_in(run("play", "--auto", 1, "-c", "copy").out) == [4]


def test_json_of_a_game_that_goes_on_is_what_is_new(run: Run) -> None:
    """The lines of two runs, one after the other, are the log."""
    first = run("play", "--seed", 3, *QUICK, "--auto", 2, "--json").out
    second = run("play", "--auto", 2, "--json", "--no-compact").out
    header, *more = second.splitlines()
    assert json.loads(header) == {"dndbots_log": 1}
    assert first + "".join(f"{line}\n" for line in more) == run("export", "log", "-c", HOME).out


# What is brought along.


def test_a_character_is_brought_along(run: Run) -> None:
    """It plays, with ready-made company for the other seats."""
    run("character", "new", "--name", "Ysolde", "--seed", 5, "--out", "ysolde.json")
    answer = run("play", "--character", "ysolde.json", "--seats", 3, "--seed", 1, "--auto", 2)
    head = next(line for line in answer.out.splitlines() if line.startswith("Round 1"))
    assert "Ysolde" in head
    assert head.count(",") == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "Mira"}', "\x00", '{"name": "\\u001b"}'])
def test_a_file_that_is_no_character_is_refused(run: Run, text: str) -> None:
    """It is named, with what is wrong, and no game is begun."""
    Path("mira.json").write_text(text)
    answer = run("play", "--character", "mira.json", "--auto", 1)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: mira.json: ")
    assert not Path("campaigns").exists()


def test_a_character_of_a_class_that_the_rules_do_not_have_is_refused(run: Run) -> None:
    """Nobody else's class is taken for it, and no game is begun."""
    run("character", "new", "--name", "Mira", "--out", "mira.json")
    sheet = json.loads(Path("mira.json").read_text("utf-8"))
    Path("mira.json").write_text(json.dumps(sheet | {"char_class": "Bard"}))
    answer = run("play", "--character", "mira.json", "--auto", 1)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: mira.json: the rules have no class 'Bard'; they have Cleric, ")
    assert not Path("campaigns").exists()


def test_a_character_cannot_sit_down_twice(run: Run) -> None:
    """Two seats, one person: that is no party."""
    run("character", "new", "--name", "Mira", "--out", "mira.json")
    answer = run("play", "--character", "mira.json", "--character", "mira.json", "--auto", 1)
    assert answer.code == 1
    assert "twice" in answer.err


def test_there_are_no_fewer_seats_than_characters(run: Run) -> None:
    """Nobody who was brought along is left standing."""
    for name in ("Mira", "Throk"):
        run("character", "new", "--name", name, "--out", f"{name}.json")
    answer = run("play", "--character", "Mira.json", "--character", "Throk.json", "--seats", 1)
    assert answer.code == 1
    assert "--seats 1" in answer.err


def test_an_unknown_module_is_told_with_those_on_board(run: Run) -> None:
    """And no folder is made for it."""
    answer = run("play", "--module", "no_such_thing", "--auto", 1)
    assert (answer.code, answer.out) == (1, "")
    assert "no_such_thing" in answer.err
    assert table_setup.MODULE in answer.err
    assert not Path("campaigns").exists()


BROKEN = "module:\n  title: The Mill\n  start: nowhere\nplaces:\n  mill:\n    colour: red\n"


@pytest.mark.parametrize("command", ["play", "modules"])
def test_all_that_is_wrong_with_a_module_is_told(run: Run, command: str) -> None:
    """A line of words for each problem, with the line it stands in; nothing is played."""
    Path("mill.yaml").write_text(BROKEN)
    answer = run(*(["play", "--module"] if command == "play" else ["modules"]), "mill.yaml")
    assert (answer.code, answer.out) == (2, "")
    problems = answer.err.splitlines()
    assert len(problems) > 1
    assert all(re.match(r"error: mill\.yaml:\d+: ", line) for line in problems)
    assert not Path("campaigns").exists()


def test_modules_on_board_are_listed(run: Run) -> None:
    """Each can be played under the name that it is listed by."""
    found = run("modules", "--json").json
    assert table_setup.MODULE in {one["name"] for one in found}
    shown = run("modules").out
    assert all(one["title"] in shown and one["levels"] in shown for one in found)


def test_a_fork_is_played_on_its_own(run: Run) -> None:
    """What is undone in a branch stays done in the other."""
    run("play", "--seed", 3, *QUICK, "--auto", 3)
    last = next(event for event in reversed(events_in(HOME)) if event.turn == 2)
    assert run("fork", "again", "--at", last.event_id, "-c", HOME).code == 0
    again = run("play", "--branch", "again", "--auto", 2, "-c", HOME)
    assert rounds_in(again.out) == [3, 4]
    assert "--branch again" in again.out
    assert max(event.turn or 0 for event in events_in(HOME)) == 3


def test_a_branch_that_is_not_there_is_not_made(run: Run) -> None:
    """A misspelled branch begins no game."""
    run("play", "--seed", 3, *QUICK, "--auto", 1)
    answer = run("play", "--branch", "agian", "--auto", 1, "-c", HOME)
    assert answer.code == 1
    assert "agian" in answer.err


# On a terminal.


def test_a_round_at_a_time(folder: Path) -> None:
    """Enter goes on, q stops; the session is over then, and can be gone on with."""
    with Terminal("play", "--seed", "3", *QUICK, folder=folder) as terminal:
        terminal.until(ASKED)
        assert rounds_in(_plain(terminal.shown)) == [1]
        terminal.keys("\n")
        terminal.until(ASKED, times=2)
        terminal.keys("q\n")
        assert terminal.ended() == 0
    assert rounds_in(_plain(terminal.shown)) == [1, 2]
    assert "Saved in" in terminal.shown
    assert events_in(folder / HOME)[-1].event_type is EventType.SESSION_END


def test_the_end_of_the_input_is_an_answer(folder: Path) -> None:
    """Ctrl-D stops as q does."""
    with Terminal("play", "--seed", "3", *QUICK, folder=folder) as terminal:
        terminal.until(ASKED)
        terminal.keys("\x04")
        assert terminal.ended() == 0


def test_a_round_that_was_left_in_the_middle_is_finished(folder: Path) -> None:
    """The rest of it is played, and only then somebody is asked."""
    with Campaign.open(folder / HOME) as campaign:
        game = Game.begin(campaign, module=table_setup.MODULE, seed=3, seats=2)
        assert game.play(1, watch=lambda _: game.pause(), compact=False) == 0
    with Terminal("play", "--no-compact", folder=folder) as terminal:
        shown = _plain(terminal.until(ASKED))
    assert rounds_in(shown) == [1]
    assert "turn 1 · " in shown


def test_others_may_play_on_meanwhile(run: Run, folder: Path) -> None:
    """Whoever waits at the prompt is told what was played elsewhere, and goes on behind it."""
    with Terminal("play", "--seed", "3", *QUICK, folder=folder) as terminal:
        terminal.until(ASKED)
        assert rounds_in(run("play", "--auto", 1, "--no-compact", "-c", HOME).out) == [2]
        terminal.keys("\n")
        terminal.until(ASKED, times=2)
        terminal.keys("q\n")
        assert terminal.ended() == 0
    assert rounds_in(_plain(terminal.shown)) == [1, 2, 3]


def test_two_cannot_play_the_same_step(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later one stops with words for it, and nothing of its step is recorded."""
    run("play", "--seed", 3, *QUICK, "--auto", 1)
    played = Game.dm

    def meanwhile(game: Game) -> None:
        monkeypatch.setattr(Game, "dm", played)
        with Campaign.open(HOME) as other:
            Game.resume(other).play(1, compact=False)
        game.dm()

    monkeypatch.setattr(Game, "dm", meanwhile)
    answer = run("play", "--auto", 1, "--no-compact", "-c", HOME)
    assert answer.code == 1
    assert "somebody else is playing" in answer.err
    assert max(event.turn or 0 for event in events_in(HOME)) == 2
    assert run("verify", "-c", HOME).code == 0


@pytest.mark.parametrize("words", [(), ("--auto", "1000")], ids=["asked", "playing"])
def test_ctrl_c_leaves_a_game_that_goes_on(run: Run, folder: Path, words: tuple[str, ...]) -> None:
    """A step is there or it is not; the same command goes on from there."""
    with Terminal("play", "--seed", "3", *QUICK, *words, folder=folder) as terminal:
        terminal.until("turn 2" if words else ASKED)
        terminal.keys("\x03")
        assert terminal.ended() == 130
    assert "interrupted; everything acknowledged so far is saved" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert run("verify", "-c", HOME).code == 0
    played = max(event.turn or 0 for event in events_in(HOME))
    assert rounds_in(run("play", "--seed", 3, *QUICK, "--auto", 1).out)[-1] in (played, played + 1)


def test_everybody_has_a_colour_on_a_terminal(folder: Path) -> None:
    """And nothing else but colours is sent to it."""
    with Terminal("play", "--seed", "3", *QUICK, "--auto", "2", folder=folder) as terminal:
        assert terminal.ended() == 0
    assert len({*COLOURS.findall(terminal.shown)}) > 3
    assert not STEERS.search(_plain(terminal.shown))


def _plain(shown: str) -> str:
    return COLOURS.sub("", shown).replace("\r\n", "\n")


def test_texts_of_a_campaign_steer_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Markup is text, on a terminal and off it. No new game takes such a name; older ones may have it."""
    sheet: dict[str, Any] = run("character", "new", "--seed", 5, "--json").json
    sheet["name"] = "[bold red]Mira[/] :skull:"
    sheet["equipment"] = ["[link=file:///x]sword[/link]"]
    Path("mira.json").write_text(json.dumps(sheet))
    begin = ("play", "--character", "mira.json", "--seed", 3, *QUICK, "--auto", 2, "-c", "mira")
    assert "no colon or square bracket" in run(*begin).err
    monkeypatch.setattr("dndbots.game.setup.check_new_name", str)
    plain = run(*begin)
    assert "[bold red]Mira[/] :skull:" in plain.out
    with Terminal("play", "--auto", "1", "-c", "mira", folder=folder) as terminal:
        assert terminal.ended() == 0
    assert not STEERS.search(_plain(terminal.shown))
    assert "[bold red]Mira[/] :skull:" in _plain(terminal.shown)
