"""A seat on the terminal: what its character perceives, and nothing else; and what can be asked of it."""

import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.calling import COLOURING, Run, plain_environment
from tests.cli.terminal import Terminal
from tests.game.chair import Script
from tests.game.games import STORIES, story
from tests.waiting import HANG

from dndbots import Campaign
from dndbots.cli.play import slash_commands, table_setup, terminal_input
from dndbots.cli.play.slash_commands import Undo
from dndbots.cli.play.spectators import SeatView, find_round_start
from dndbots.events import EventType, GameEvent
from dndbots.game.agents import SeatTurn
from dndbots.game.game import Game
from dndbots.game.input.person_player import PersonPlayer
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.testing import memory_campaign, perceived_only

HOME = Path("campaigns") / table_setup.MODULE
QUICK = ("--seed", 1, "--seats", 2, "--no-compact")
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in COLOURING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def events_in(where: Path, branch: str = "main") -> list[GameEvent]:
    with Campaign.open(where, create=False, branch=branch) as campaign:
        return list(campaign.events(viewer=DM))


def typed(run: Run, *lines: str, words: tuple[object, ...] = ("--human", "Throk", *QUICK)) -> str:
    """What somebody is shown who types these lines and leaves."""
    answer = run("play", *words, typed="".join(f"{line}\n" for line in lines))
    assert (answer.code, answer.err) == (0, "")
    return answer.out


# What a seat is shown.


def shown_to(campaign: Campaign, who: str) -> str:
    """A whole game, as it was told to a seat."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        SeatView(campaign, who, after=0).tell()
    return printed.getvalue()


@pytest.mark.parametrize("name", STORIES, ids=str)
def test_a_seat_is_shown_only_what_its_character_perceived(name: tuple[str, int]) -> None:
    """Whole games: the screen of a seat is the same where nothing else ever happened."""
    campaign = story(*name)
    people = [one.uid for one in campaign.entities(viewer=DM, category="PC")]
    screens = {who: shown_to(campaign, who) for who in people}
    for who, shown in screens.items():
        assert shown == shown_to(perceived_only(campaign, who), who)
        assert shown
    assert len({*screens.values()}) > 1


@pytest.mark.parametrize("name", STORIES[:1], ids=str)
def test_a_seat_is_told_the_same_however_it_is_told(name: tuple[str, int]) -> None:
    """At once, or step by step: the screen is made of events, not of when they came."""
    campaign = story(*name)
    who = next(one.uid for one in campaign.entities(viewer=DM, category="PC"))
    whole = shown_to(campaign, who)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        view = SeatView(campaign, who, after=0)
        with campaign.view(who) as seen:
            for event in seen.events():
                view.table.heard(event)
                view.stage.tell([event])
    assert printed.getvalue() == whole


def test_whispers_of_others_are_not_shown(run: Run) -> None:
    """Nor that there were any, nor the seed, nor anybody's meter but one's own."""
    with Campaign.open(HOME) as campaign:
        game = Game.begin(campaign, module=table_setup.MODULE, seed=1, seats=4)
        game.play(1, compact=False)
        throk, *others = game.table.living()
        campaign.record(
            GameEvent(
                event_id="w",
                event_type=EventType.WHISPER,
                source=others[0],
                content="Throk must never know.",
                session_id="s01",
                turn=1,
                metadata={"told_to": [others[1]], "witnesses": []},
            )
        )
    shown = typed(run, words=("--human", "Throk", "--no-compact"))
    assert "never know" not in shown
    assert "seed" not in shown
    assert re.findall(r"(\w+) \S+ \d+/2000", shown) == ["Throk"]
    assert re.findall(r"(\w+) \S+ \d+/\d\b", shown) == ["Throk"]
    assert "diff" not in shown
    everything = typed(run, words=("--human", "Throk", "--no-compact", "--spectate"))
    assert "seed" in everything
    assert f"dndbots play --human Throk --spectate --campaign {HOME}\n" in everything
    assert throk


def test_a_seat_begins_with_the_round_that_it_is_in(run: Run) -> None:
    """Whoever sits down is told the round that is played, and not the whole story again."""
    run("play", *QUICK, "--auto", 3)
    shown = typed(run, words=("--human", "Throk", "--no-compact"))
    assert re.findall(r"^Round (\d)", shown, re.MULTILINE)[0] in ("3", "4")
    with Campaign.open(HOME) as campaign:
        assert 0 < find_round_start(campaign, "pc_throk_001") < campaign.head


# What can be typed.


def test_a_seat_is_played_by_lines(run: Run) -> None:
    """From a pipe, line by line; what is typed is shown, and the end of the input leaves the game."""
    shown = typed(run, "Good evening.", "look at the wreath")
    assert "Throk> Good evening.\n    Throk: Good evening.\n" in shown
    assert "    Throk: I look at the wreath." in shown
    assert "You can " in shown
    assert events_in(HOME)[-1].event_type is EventType.SESSION_END
    again = typed(run, "search", words=("--human", "throk", "--no-compact"))
    assert "you play Throk, after 3 rounds" in again
    assert "    Throk: I search" in again


def test_what_cannot_be_is_said_and_asked_again(run: Run) -> None:
    """Nothing is recorded of it."""
    shown = typed(run, "go to the moon", "attack the dragon", "")
    assert shown.count("Not possible: ") == 2
    assert "there is no dragon here to fight" in " ".join(shown.split())
    assert "the ways are inn door, chapel path" in " ".join(shown.split())
    assert not [event for event in events_in(HOME) if event.source == "pc_throk_001"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/help", "/whisper NAME TEXT"),
        ("/look", "You are here: Marrowby Green"),
        ("/sheet", "level 1 Fighter"),
        ("/memory", "recent event"),
        ("/recap", "Previously on Apples in January"),
        ("/recap short", "Previously on Apples in January"),
        ("/recap epic", "short, medium or long: /recap"),
        ("/recall the wreath", "wreath"),
        ("/recall", "the question is missing: /recall QUESTION"),
        ("/recall xyzzy plugh", "No record."),
        ("/whisper", "/whisper NAME TEXT"),
        ("/whisper Gandalf hello", "there is no 'Gandalf' here"),
        ("/xray", "of the budget"),
        ("/xray all", "of the budget"),
        ("/save", f"already saved in {HOME}"),
        ("/fork again", "created the branch again"),
        ("/fork", "/fork NAME"),
        ("/fork main", "main"),
        ("/fork before the inn", "--branch 'before the inn' plays it"),
        ("/undo", "Throk has not acted yet, so there is no round to undo"),
        ("/undo 3", "too many words: /undo"),
        ("/HELP", "/whisper NAME TEXT"),
        ("/help", "When the others leave, you go along unless you stay"),
        ("/help whisper", "Throk> /help whisper /whisper NAME TEXT say something that only one person hears"),
        ("/help dance", "there is no /dance: /help [COMMAND]"),
        ("/dance", "There is no /dance. There is /help /look"),
        ("/go inn door", "Type deeds without a slash."),
        ("help", "/whisper NAME TEXT"),
        ("?", "/whisper NAME TEXT"),
        ("Look", "You are here: Marrowby Green"),
        ("inventory", "level 1 Fighter"),
        ("undo", "no round to undo"),
        ("/\x1b[31m", "There is no /\\x1b[31m."),
        ("/", "There is no /."),
    ],
)
def test_commands_answer_for_the_seat(run: Run, line: str, answer: str) -> None:
    """Each says what it has to say, records nothing, and the turn goes on."""
    shown = typed(run, line, '"Good."')
    assert answer in " ".join(shown.split())
    assert '    Throk: "Good."' in shown
    acts = [event for event in events_in(HOME) if event.source == "pc_throk_001"]
    assert len(acts) == 1


def test_a_word_that_asks_for_more_is_no_command(run: Run) -> None:
    """One word that is a command is one. In quotation marks it is said; with more behind it, it is read."""
    shown = typed(run, "Help!", '"help"', "Save us.", "1", "quit", "Never said.")
    assert shown.count("/help lists commands.") == 1
    assert "already saved" not in shown
    said = [event.content for event in events_in(HOME) if event.source == "pc_throk_001"]
    assert said == ['"help"', "Save us."]


def test_undo_counts_rounds_as_the_game_does() -> None:
    """Also for somebody who has perceived nothing of the round yet in which it is asked."""
    with memory_campaign() as campaign:
        game = Game.begin(campaign, module=table_setup.MODULE, seed=1, seats=2)
        who = game.table.living()[0]
        game.cast = replace(game.cast, seats={who: PersonPlayer(Script(['"One."', '"Two."']))})
        game.play(compact=False)
        assert game.round == 3
        late = Table(who)
        for event in campaign.events(viewer=who):
            if (event.turn or 0) < game.round:
                late.heard(event)
        turn = SeatTurn(who=who, table=late, prompt=game.prompts[who], rng=random.Random(1), seed=1)
        wish = slash_commands.run(game, turn, "/undo", where="here")
        assert isinstance(wish, Undo)
        assert game.undo(wish.who, before=wish.before).round == 2


def test_the_foes_of_a_fight_are_in_sight(run: Run) -> None:
    shown = typed(
        run,
        "/fight 2 goblin | They come.",
        "",
        "/look",
        words=("--human", "dm", "--human", "Throk", "--seed", 7, "--no-compact"),
    )
    assert re.search(r"^  in a fight with (?:\d )?goblins$", shown, re.MULTILINE)


def test_whoever_goes_is_told_so_once(run: Run) -> None:
    """Those who are there see them come; they themselves know where they went."""
    lines = ("go inn door", "stay", "go out to the green")
    shown = typed(run, *lines)
    green = shown.split("Throk> go out to the green")[1]
    assert len(re.findall(r"\b(?:turn up|come|go|leave)\b.*Marrowby Green", green)) <= 1, green
    assert len(re.findall(r"^Round 3 ", green, re.MULTILINE)) == 0


def test_commands_tell_only_what_the_character_knows(run: Run) -> None:
    """Memory, recap, recall and X-ray of a seat: as if nothing else had ever been recorded."""
    lines = ("/memory", "/recap long", "/recall what is the secret", "/xray all", "/look", "/sheet")
    run("play", *QUICK, "--auto", 2, "-c", "told")
    with Campaign.open("told") as campaign:
        secret = GameEvent(
            event_id="secret",
            event_type=EventType.DM_NARRATION,
            source=DM,
            content="The secret is that the cider maker did it.",
            session_id="s01",
            turn=2,
            metadata={
                "witnesses": [],
                "facts": [{"subject": "pc_throk_001", "key": "doom", "value": "near"}],
            },
        )
        campaign.record(secret)
    shown = typed(run, *lines, words=("--human", "Throk", "--no-compact", "-c", "told"))
    assert "cider maker did it" not in shown
    assert "doom" not in shown


def test_a_whisper_reaches_one(run: Run) -> None:
    """It is the turn of whoever whispers; the others do not learn of it."""
    shown = typed(run, "/whisper Borra I do not trust him.", words=("--human", "Throk", "--seed", 1))
    assert "Throk (whispers to Borra Ironkettle): I do not trust him." in shown
    with Campaign.open(HOME) as campaign:
        heard = {
            who: any("trust him" in one.content for one in campaign.events(viewer=who))
            for who in ("Throk", "Borra Ironkettle", "Ilvane", "dm")
        }
    assert heard == {"Throk": True, "Borra Ironkettle": True, "Ilvane": False, "dm": True}


def test_undo_takes_the_last_round_back(run: Run) -> None:
    """The round is played again from its beginning; what was is kept in a branch."""
    shown = typed(run, "Good evening.", "I am a spy.", "/undo", "I am a fighter.")
    assert "Took back round 2; the branch main.undone-1 keeps it." in shown
    words = [event.content for event in events_in(HOME) if event.source == "pc_throk_001"]
    assert words == ["Good evening.", "I am a fighter."]
    kept = [event.content for event in events_in(HOME, "main.undone-1") if event.source == "pc_throk_001"]
    assert kept == ["Good evening.", "I am a spy."]
    assert run("verify", "-c", HOME).code == 0


def test_undo_outside_of_a_game(run: Run) -> None:
    """The last round of the campaign, until there is none."""
    run("play", *QUICK, "--auto", 2)
    assert "took back round 2" in run("undo", "-c", HOME).out
    assert run("undo", "-c", HOME, "--json").json == {"round": 1, "kept_as": "main.undone-2"}
    answer = run("undo", "-c", HOME)
    assert answer.code == 1
    assert "no round to undo" in answer.err


def test_quit_leaves_the_game_as_it_is(run: Run) -> None:
    """The round waits; lines behind it are not read."""
    typed(run, "Good evening.", "/quit", "Never said.")
    assert not any("Never" in event.content for event in events_in(HOME))
    assert events_in(HOME)[-1].event_type is EventType.SESSION_END


# Who sits where.


def test_a_seat_that_is_not_there_is_refused(run: Run) -> None:
    """With those that there are; no game is begun for it."""
    answer = run("play", "--human", "Gandalf", *QUICK)
    assert (answer.code, answer.out) == (1, "")
    assert "Throk" in answer.err
    run("play", *QUICK, "--auto", 1)
    answer = run("play", "--human", "Gandalf", "-c", HOME)
    assert answer.code == 1
    assert "and dm, or begin another game with --campaign" in answer.err


def test_whoever_is_asked_for_is_in_the_party(run: Run) -> None:
    """A ready-made character by its first name, whatever the seed would have chosen."""
    names = [one["name"] for one in run("character", "list", "--json").json]
    for name in names[:3]:
        shown = typed(run, words=("--human", name.split()[0], *QUICK, "-c", f"with-{name.split()[0]}"))
        assert f"you play {name}" in shown


def test_two_people_share_a_screen(run: Run) -> None:
    """Each is shown its own part, with a line between them; whispers to others are in none of it."""
    words = ("--human", "Throk", "--human", "Borra", "--seed", 1, "--no-compact")
    shown = typed(run, "whisper Ilvane: never tell Borra", "Hm.", "Good.", words=words)
    throk, borra, *_ = re.split(r"^--- .* ---$", shown, flags=re.MULTILINE)[1:]
    assert "never tell Borra" in throk
    assert "never tell" not in borra
    assert "Borra Ironkettle> Hm." in borra
    assert "Throk:" not in borra


def test_the_dead_are_not_asked_to_go_on(run: Run) -> None:
    """Whoever has the DM's seat plays on; how to go on names nobody who is dead."""
    lines = ["/fight 2 ogre | They come.", *(["", "attack ogres"] * 7), "", ""]
    words = ("--human", "dm", "--human", "Throk", "--seed", 7, "--seats", 2, "--no-compact")
    shown = typed(run, *lines, words=words)
    assert re.search(r"^  \[death\] .*Throk", shown, re.MULTILINE)
    assert "Your character is dead" not in shown
    assert f"dndbots play --human dm --campaign {HOME}\n" in shown
    assert shown.count("DM, Marrowby Green> \n") == 9


def test_of_a_seat_nothing_but_events_is_among_the_events(run: Run) -> None:
    """With --json, people are spoken to beside it, whatever they ask for."""
    lines = "/help\nGood evening.\n/undo\n/look\nGood night.\n"
    words = ("--human", "Throk", *QUICK, "--json", "--spectate")
    answer = run("play", *words, typed=lines)
    assert answer.code == 0
    told = [json.loads(line) for line in answer.out.splitlines()]
    assert [one["content"] for one in told[1:] if one["source"] == "pc_throk_001"] == [
        "Good evening.",
        "Good night.",
    ]
    for words_of in ("Throk> Good evening.", "/whisper NAME TEXT", "Took back round 1", "You are here"):
        assert words_of in answer.err


def test_everything_is_for_those_who_see_everything(run: Run) -> None:
    """JSON tells the whole log, and so it is not for a seat."""
    answer = run("play", "--human", "Throk", "--json", *QUICK)
    assert answer.code == 1
    assert "--spectate" in answer.err


def test_what_people_type_steers_nothing(run: Run) -> None:
    """Not what they say, and not what they are told of it."""
    shown = typed(run, "I \x1b[31m go\x00 \u202e[bold]home[/bold]", "go \x1b[2J", "/recall \x1b[2J")
    assert not STEERS.search(shown)
    assert "[bold]home[/bold]" in shown


def test_what_is_no_text_is_no_reason_to_leave(run: Run) -> None:
    """Bytes that are no UTF-8 are said as far as they can be."""
    answer = run("play", "--human", "Throk", *QUICK, typed=b"Good \xff\xfe evening\x00.\n")
    assert (answer.code, answer.err) == (0, "")
    assert "    Throk: Good \ufffd\ufffd evening." in answer.out


def test_as_many_rounds_as_were_asked_for(run: Run) -> None:
    """A round that was taken back is none of them."""
    lines = ('"One."', '"Two."', "/undo", '"Three."', '"Four."', '"Five."')
    shown = typed(run, *lines, words=("--human", "Throk", *QUICK, "--auto", 3))
    words = [event.content for event in events_in(HOME) if event.source == "pc_throk_001"]
    assert words == ['"One."', '"Three."', '"Four."']
    assert "after 3 rounds" in shown


# Behind the DM's screen.


def as_dm(run: Run, *lines: str) -> str:
    return typed(run, *lines, words=("--human", "DM", *QUICK))


def test_a_person_tells_more_than_the_house_does(run: Run) -> None:
    """The house runs the adventure; what the person tells is heard by those who are there."""
    shown = as_dm(run, "A raven circles above the well.", "", "")
    assert "DM, Marrowby Green> A raven circles above the well." in shown
    assert shown.count("It has snowed for a week") == 1
    told = [event for event in events_in(HOME) if "raven" in event.content]
    assert [event.event_type for event in told] == [EventType.DM_NARRATION]
    with Campaign.open(HOME) as campaign:
        assert any("raven" in one.content for one in campaign.events(viewer="Throk"))
    assert run("verify", "-c", HOME).code == 0


def test_a_dm_whispers_to_one(run: Run) -> None:
    shown = as_dm(
        run, "/whisper Throk You feel watched.", "/whisper nobody Hello there.", "/whisper Throk", ""
    )
    assert "DM (whispers to Throk): You feel watched." in shown
    assert shown.count("Not possible: ") == 2
    with Campaign.open(HOME) as campaign:
        heard = [who for who in ("Throk", "Borra Ironkettle") if _hears(campaign, who, "watched")]
    assert heard == ["Throk"]


def _hears(campaign: Campaign, who: str, word: str) -> bool:
    return any(word in one.content for one in campaign.events(viewer=who))


def test_a_dm_rolls_in_the_open(run: Run) -> None:
    """Dice that cannot be rolled are told, and nothing is recorded of them."""
    shown = as_dm(run, "/roll 2d6 the weather", "/roll 2x", "/roll", "")
    assert re.search(r"The DM rolls for the weather: \d+\.\n        2d6 .* = \d+", shown)
    assert "cannot be rolled" in shown
    assert sum("rolls for" in event.content for event in events_in(HOME)) == 1


def test_a_dm_takes_back_the_round_before(run: Run) -> None:
    """Asked in a round, the one that was told before is what one wants back."""
    shown = as_dm(run, "A raven.", "", "A crow.", "/undo", "A dove.", "")
    assert "Took back round 1" in shown
    words = [
        event.content for event in events_in(HOME) if event.content in ("A raven.", "A crow.", "A dove.")
    ]
    assert words == ["A dove."]


# On a terminal.


def complete(terminal: Terminal, text: str, more: str) -> None:
    """Types, presses Tab, and waits for what that adds. What is drawn has codes between its words."""
    before = terminal.shown.count(more)
    terminal.keys(f"{text}\t")
    terminal.until(more, times=before + 1)


def test_what_is_completed_begins_with_the_commands() -> None:
    """A slash and Tab show what there is, before whom and what it can be done with."""
    with memory_campaign() as campaign:
        game = Game.begin(campaign, module=table_setup.MODULE, seed=1, seats=2)
        who = game.table.living()[0]
        game.cast = replace(game.cast, seats={who: PersonPlayer(Script([]))})
        game.play(compact=False)
        for seat in (who, DM):
            turn = SeatTurn(
                who=seat, table=game.tables[seat], prompt=game.prompts[who], rng=random.Random(1), seed=1
            )
            words = [one for one in terminal_input._completions(turn) if one.startswith("/")]
            commands = [f"/{name}" for name in slash_commands.commands_of(seat)]
            assert words[: len(commands)] == commands
            assert len(words) > len(commands)


def test_a_seat_on_a_terminal(folder: Path, run: Run) -> None:
    """Turns, a whisper, undo, and Tab for what can be done; /quit leaves."""
    with Terminal("play", "--human", "Throk", "--seed", 1, "--no-compact", folder=folder) as terminal:
        terminal.until("Throk>")
        complete(terminal, "look at a st", "wreath on a door")
        terminal.keys("\r")
        terminal.until("I look at a straw wreath on a door.")
        terminal.until("turn 2")
        complete(terminal, "/whisper Bor", "ra Ironkettle")
        terminal.keys("I do not trust him.\r")
        terminal.until("(whispers to Borra Ironkettle): ")
        terminal.until("turn 3")
        terminal.keys("/undo\r")
        terminal.until("Took back round 2")
        terminal.until("turn 2", times=2)
        terminal.keys("/quit\r")
        assert terminal.ended() == 0
    assert "Traceback" not in terminal.shown
    acts = [event.content for event in events_in(folder / HOME) if event.source == "pc_throk_001"]
    assert acts == ["I look at a straw wreath on a door."]
    assert "look at a straw wreath" in (folder / HOME / "typed" / "pc_throk_001.txt").read_text("utf-8")
    assert run("verify", "-c", HOME).code == 0


@pytest.mark.parametrize("half", ["", "attack the", "/whisper "], ids=["empty", "deed", "command"])
def test_ctrl_c_at_the_prompt_loses_nothing(folder: Path, run: Run, half: str) -> None:
    """It ends with 130 and says how to go on; what is half typed was not said."""
    with Terminal("play", "--human", "Throk", *QUICK, folder=folder) as terminal:
        terminal.until("Throk>")
        terminal.keys("Good evening.\r")
        terminal.until("turn 2")
        terminal.keys(half)
        terminal.keys("\x03")
        assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown
    assert f"continue with: dndbots play --human Throk --campaign {HOME}" in terminal.shown
    assert run("verify", "-c", HOME).code == 0
    again = typed(run, "And good night.", words=("--human", "Throk", "--no-compact", "-c", HOME))
    assert re.findall(r"^Round (\d)", again, re.MULTILINE)[:2] == ["2", "3"]
    acts = [event.content for event in events_in(HOME) if event.source == "pc_throk_001"]
    assert acts == ["Good evening.", "And good night."]


def test_ctrl_d_leaves_as_quit_does(folder: Path) -> None:
    with Terminal("play", "--human", "Throk", *QUICK, folder=folder) as terminal:
        terminal.until("Throk>")
        terminal.keys("\x04")
        assert terminal.ended() == 0
    assert events_in(folder / HOME)[-1].event_type is EventType.SESSION_END


def test_the_screen_is_cleared_between_two_people(folder: Path) -> None:
    """The next one says when nobody else looks."""
    words = ("--human", "Throk", "--human", "Borra", "--seed", 1, "--no-compact")
    with Terminal("play", *words, folder=folder) as terminal:
        terminal.until("Throk has the turn.")
        assert "snowed" not in terminal.shown
        terminal.keys("\r")
        terminal.until("Throk>")
        terminal.keys("whisper Ilvane: never tell Borra\r")
        terminal.until("Throk, press Enter when you have read this; it clears the screen:")
        assert terminal.shown.count("\x1b[2J") == 1
        terminal.keys("my secret\r")
        terminal.until("Borra Ironkettle has the turn.")
        after = len(terminal.shown)
        assert terminal.shown.count("\x1b[2J") == 2
        terminal.keys("\r")
        terminal.until("Borra Ironkettle>")
        terminal.keys("\x03")
        assert terminal.ended() == 130
    assert "never tell" not in terminal.shown[after:]
    kept = {one.name: one.read_text("utf-8") for one in (folder / HOME / "typed").iterdir()}
    assert kept.keys() <= {"pc_throk_001.txt", "pc_borra_ironkettle_001.txt"}
    assert "my secret" not in "".join(kept.values())


def test_ctrl_c_behind_the_screen_keeps_what_was_told(folder: Path, run: Run) -> None:
    """What the DM has told is recorded; what is half typed was not told."""
    with Terminal("play", "--human", "dm", *QUICK, folder=folder) as terminal:
        terminal.until("DM, Marrowby Green>")
        terminal.keys("A raven lands.\r")
        terminal.until("DM, Marrowby Green>", times=2)
        terminal.keys("A crow\x03")
        assert terminal.ended() == 130
    assert f"continue with: dndbots play --human dm --campaign {HOME}" in terminal.shown
    told = [event.content for event in events_in(HOME)]
    assert "A raven lands." in told
    assert not any("crow" in one for one in told)
    assert events_in(HOME)[-1].event_type is not EventType.SESSION_END
    assert run("verify", "-c", HOME).code == 0


def test_ctrl_c_before_the_dm_told_anything_leaves_the_round_to_it(folder: Path, run: Run) -> None:
    """The DM is asked in the same round again."""
    with Terminal("play", "--human", "dm", *QUICK, folder=folder) as terminal:
        terminal.until("DM, Marrowby Green>")
        terminal.keys("\x03")
        assert terminal.ended() == 130
    shown = typed(run, "A raven lands.", words=("--human", "dm", "--no-compact", "-c", HOME))
    assert re.search(r"^Round 1 .*DM, Marrowby Green> A raven lands", shown, re.MULTILINE | re.DOTALL)


def test_who_types_into_a_program_that_is_piped_on_is_asked(folder: Path) -> None:
    """As with `| tee`: the prompt is there before anything is typed, and what is typed is not told twice."""
    master, slave = os.openpty()
    command = [sys.executable, "-m", "dndbots", "play", "--human", "Throk", *map(str, QUICK), "--quiet"]
    with subprocess.Popen(
        command, stdin=slave, stdout=subprocess.PIPE, cwd=folder, env=plain_environment(), text=True
    ) as process:
        os.close(slave)
        os.write(master, b"search\n\x04")
        shown, _ = process.communicate(timeout=HANG)
    os.close(master)
    assert process.returncode == 0
    assert shown.count("Throk> ") == 2
    assert "Throk> search" not in shown
    assert "    Throk: I search" in shown


def test_a_death_can_be_taken_back_on_the_spot(folder: Path, run: Run) -> None:
    """Whoever is down is asked whether the game goes on, and may have the round back that led to it."""
    words = ("--human", "dm", "--human", "Throk", "--seed", 2, "--seats", 2, "--no-compact")
    typed(run, "/fight 2 ogre | They come.", "", "/quit", words=words)
    with Terminal("play", "--human", "Throk", "--no-compact", "-c", HOME, folder=folder) as terminal:
        for turn in range(1, 4):
            terminal.until("Throk>", times=turn)
            terminal.keys("attack ogres\r")
            terminal.until("I attack ogres.", times=turn)
        for turn in range(1, 5):
            terminal.until("Enter continues, /undo takes back the last one in which you acted,", times=turn)
            terminal.keys("\r")
        terminal.until("Your character is dead.")
        terminal.until("Enter leaves, /undo takes back the last round in which you acted:")
        terminal.keys("/undo\r")
        terminal.until("Took back round 3")
        terminal.keys("flee inn\r")
        terminal.until("the Crooked Ladder")
        terminal.keys("/quit\r")
        assert terminal.ended() == 0
    with Campaign.open(HOME) as campaign:
        assert campaign.entity("Throk", viewer=DM).alive
        assert campaign.verify() == []
