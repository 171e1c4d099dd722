"""Games with models that answer on loopback, from the command line: what is asked, shown and kept."""

import json
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import Run, plain_environment
from tests.cli.terminal import Terminal
from tests.llm.server import Say, Server, fault, serving
from tests.waiting import HANG

from dndbots import Campaign
from dndbots.cli.play import table_setup
from dndbots.events import EventType, GameEvent
from dndbots.game.state.game_notes import played_of
from dndbots.ids import DM

HOME = Path("campaigns") / table_setup.MODULE
QUICK = ("--seed", 1, "--seats", 2, "--no-compact")
MODEL = "openai:double"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        found.says = [Say("I nod.")]
        yield found


def system_of(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"])


def events_in(where: Path) -> list[GameEvent]:
    with Campaign.open(where, create=False) as campaign:
        return list(campaign.events(viewer=DM))


def acts_in(where: Path) -> list[tuple[str, str]]:
    """What the characters did, in order."""
    found = [event for event in events_in(where) if not event.is_note]
    return [
        (event.source, event.content)
        for event in found
        if (note := played_of(event)) is not None and note.act is not None
    ]


# An open game.


def test_an_open_game_is_made_up_by_the_model_about_what_was_said(run: Run, server: Server) -> None:
    """The scenario is the DM's alone; the game goes on without saying it again."""
    server.says = [Say("You wake in a lighthouse.")]
    words = ("play", "--module", "open", "--dm", MODEL, "--base-url", server.address, "--no-compact")
    scenario = "The keeper of the lighthouse is a thief."
    answer = run(*words, "--scenario", scenario, "--seats", 2, "--seed", 1, "--auto", 1)
    assert (answer.code, answer.err) == (0, "")
    assert "You wake in a lighthouse." in answer.out
    assert scenario in system_of(server.requests[0])
    again = run(*words, "--auto", 1)
    assert again.code == 0
    assert scenario in system_of(server.requests[-1])
    where = Path("campaigns") / "open"
    with Campaign.open(where, create=False) as campaign:
        for who in ("Throk", "Borra Ironkettle"):
            assert not any("thief" in event.content for event in campaign.events(viewer=who))
    assert run("verify", "-c", where).code == 0


@pytest.mark.parametrize("more", [(), ("--dm", "house"), ("--players", MODEL)])
def test_an_open_game_takes_somebody_who_makes_it_up(run: Run, server: Server, more: tuple[str, ...]) -> None:
    """The house has no story to tell: that is said in one line, with what to do."""
    at = ("--base-url", server.address) if more else ()
    answer = run("play", "--module", "open", *more, *at, *QUICK, "--auto", 1)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert "--human dm" in answer.err
    assert server.requests == []
    with Campaign.open(Path("campaigns") / "open") as campaign:
        assert campaign.head == 0


def test_a_person_makes_an_open_game_up(run: Run) -> None:
    """With the tools of a DM, over a house that keeps the rules."""
    lines = (
        "You wake in a meadow.",
        "/npc Old Tam | a bent man with a lantern | ferryman",
        "/place the path | Hollow Hill | A hill with a door in it. | the meadow",
        "/whisper nobody Hello.",
        "/lookup Old Tam",
        "Moss and stone.",
        "",
        "/help",
        "/quit",
    )
    answer = run(
        "play", "--module", "open", "--human", "dm", *QUICK, typed="".join(f"{line}\n" for line in lines)
    )
    assert (answer.code, answer.err) == (0, "")
    assert "DM, Hollow Hill> Moss and stone." in answer.out
    assert "Old Tam is here, and is called 'a bent man with a lantern'" in answer.out
    assert "Not possible: nobody in this scene matches 'nobody'" in answer.out
    assert "/quest NAME | GOAL" in answer.out
    where = Path("campaigns") / "open"
    assert run("verify", "-c", where).code == 0
    (moss,) = [
        event for event in events_in(where) if event.content == "Moss and stone." and not event.is_note
    ]
    assert moss.known.location == "loc_hollow_hill_001"


# What it took.


def test_what_models_took_is_told_by_role(run: Run, server: Server) -> None:
    """Each role that was asked, with the provider's own numbers; the same as JSON."""
    Path("dndbots.toml").write_text('[prices."openai:double"]\ninput = 1.0\noutput = 2.0\n')
    run("play", "--dm", MODEL, "--players", MODEL, "--base-url", server.address, *QUICK, "--auto", 2)
    taken = {one["role"]: one for one in run("usage", "-c", HOME, "--json").json}
    assert {"dm", "player"} <= {*taken}
    asked = sum(one["answers"] for one in taken.values())
    assert asked == len(server.requests)
    for one in taken.values():
        assert (one["model"], one["input"]) == (MODEL, 100 * one["answers"])
        assert (one["output"], one["cached"]) == (8 * one["answers"], 60 * one["answers"])
        assert one["cost"] == pytest.approx((100 * 1.0 + 8 * 2.0) * one["answers"] / 1_000_000)
    head, columns, _, *rows = run("usage", "-c", HOME).out.splitlines()
    assert (head, columns.split()[:3]) == (MODEL, ["role", "answers", "input"])
    assert [line.split()[:3] for line in rows] == [
        [role, str(one["answers"]), str(one["input"])] for role, one in taken.items()
    ]


def spent(role: str, model: str, **figures: int) -> GameEvent:
    note = {"role": role, "model": model, "answers": 1, **figures}
    return GameEvent(
        event_id=f"use_{role}_{len(model)}",
        event_type=EventType.USAGE,
        source="system",
        content="",
        session_id="s01",
        metadata={"usage": note, "witnesses": []},
    )


def test_whatever_was_taken_fits_a_narrow_terminal(run: Run) -> None:
    """Each role on one line of at most 80 columns, under its model, however long that is called."""
    names = ["anthropic:claude-sonnet-4-5-20250929", "openai:" + "x" * 110]
    much = {"input": 987_654_321, "cached": 123_456_789_012, "output": 9_999_999, "milliseconds": 10**9}
    with Campaign.open(HOME) as campaign:
        campaign.record_many(
            spent(role, name, cost=10**11, **much) for name in names for role in ("dm", "summarizer")
        )
        campaign.record(spent("player", names[0], input=1))
    lines = run("usage", "-c", HOME).out.splitlines()
    tables = [line for line in lines if not line.startswith(("anthropic:", "openai:"))]
    assert max(map(len, tables)) <= 80
    rows = [line.split() for line in tables if line.startswith(("dm", "player", "summarizer"))]
    assert [row[0] for row in rows] == ["dm", "player", "summarizer", "dm", "summarizer"]
    assert rows[0][1:] == ["1", "987.6M", "123.4G", "10.00M", "1.00M", "100000.00", "0"]
    assert rows[1][1:] == ["1", "1", "0", "0", "0", "unknown", "0"]
    assert [line for line in lines if line not in tables] == names


def test_what_was_never_asked_took_nothing(run: Run) -> None:
    run("play", *QUICK, "--auto", 1)
    assert run("usage", "-c", HOME).out == "No model was asked.\n"
    assert run("usage", "-c", HOME, "--json").json == []


# People among models.


def whispers(request: dict[str, Any]) -> Say:
    """Borra whispers to Ilvane, who says something aloud."""
    if "You are Borra" in system_of(request):
        act = {"verb": "whisper", "target": "Ilvane", "words": "Throk must never know of the ruby."}
    else:
        act = {"verb": "say", "words": "What a cold evening."}
    return Say(json.dumps(act))


def test_a_person_among_models_is_shown_what_the_seat_perceives(run: Run, server: Server) -> None:
    """Neither the screen nor the X-ray has what a model whispered to another; and the person acts as ever."""
    server.answers = whispers
    words = ("--human", "Throk", "--players", MODEL, "--base-url", server.address)
    lines = ("Good evening.", "/xray all", "/memory", "/recall the ruby", "I wait.", "/quit")
    answer = run(
        "play", *words, "--seed", 1, "--seats", 4, "--no-compact", typed="".join(f"{one}\n" for one in lines)
    )
    assert (answer.code, answer.err) == (0, "")
    whispered = [event for event in events_in(HOME) if event.event_type is EventType.WHISPER]
    assert any("ruby" in event.content for event in whispered)
    assert "What a cold evening." in answer.out
    shown = [line for line in answer.out.splitlines() if not line.startswith("Throk> ")]
    assert not any("ruby" in line for line in shown)
    assert ("pc_throk_001", "Good evening.") in acts_in(HOME)
    assert not any("You are Throk" in system_of(request) for request in server.requests)
    assert run("verify", "-c", HOME).code == 0


# Ctrl-C while a model is asked.


def playing(server: Server, *more: object) -> "subprocess.Popen[str]":
    words = ("play", "--players", MODEL, "--base-url", server.address, *QUICK, "-c", HOME, *more)
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    begin += "import runpy; runpy.run_module('dndbots', run_name='__main__')"
    return subprocess.Popen(
        [sys.executable, "-c", begin, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=plain_environment(),
    )


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_while_a_model_is_asked_loses_nothing(run: Run, server: Server, presses: int) -> None:
    """The answer is stopped, and its turn is played when the game resumes. What was recorded goes on."""
    held, asked = threading.Event(), threading.Event()

    def answers(_: dict[str, Any]) -> Say:
        number = len(server.requests)
        if number == 2:
            asked.set()
        said = json.dumps({"verb": "say", "words": f"Word {number}."})
        return Say(said, hangs=held if number == 2 else None)

    server.answers = answers
    with playing(server, "--auto", 3) as game:
        assert asked.wait(HANG)
        assert game.stderr is not None
        game.send_signal(signal.SIGINT)
        assert "press Ctrl-C again to stop now" in game.stderr.readline()
        if presses == 1:
            held.set()
        else:
            game.send_signal(signal.SIGINT)
        _, errors = game.communicate(timeout=HANG)
        held.set()
    assert game.returncode == 130
    assert "continue with: dndbots play --campaign" in errors
    said = [words for _, words in acts_in(HOME)]
    assert said == ["Word 1."]
    assert run("verify", "-c", HOME).code == 0
    server.answers = None
    server.says = [Say(json.dumps({"verb": "say", "words": "Where were we?"}))]
    again = run("play", "--auto", 1, "--base-url", server.address, "--no-compact", "-c", HOME)
    assert again.code == 0
    after = [words for _, words in acts_in(HOME)]
    assert after[: len(said)] == said
    assert "Where were we?" in after
    assert run("verify", "-c", HOME).code == 0


def test_ctrl_c_on_a_terminal_stops_the_answer_and_keeps_the_game(server: Server, folder: Path) -> None:
    """Somebody who only watches is asked after the round, as ever."""
    held = threading.Event()
    server.says = [Say("A gull laughs at you.", hangs=held)]
    words = ("play", "--dm", MODEL, "--base-url", server.address, *QUICK)
    with Terminal(*words, folder=folder) as terminal:
        terminal.until("the DM is thinking")
        terminal.keys("\x03")
        terminal.until("stopped this answer")
        terminal.until("Enter continues")
        held.set()
        terminal.keys("q\n")
        terminal.until("The story goes on after 1 round.")
        assert terminal.ended() == 0


# While somebody thinks.


def test_a_terminal_says_who_thinks_until_there_is_an_answer(server: Server, folder: Path) -> None:
    """It is said while the answer is held back, and what is told comes once it is there."""
    held = threading.Event()
    server.says = [Say("A gull laughs at you.", hangs=held)]
    words = ("play", "--dm", MODEL, "--base-url", server.address, *QUICK, "--auto", 1)
    with Terminal(*words, folder=folder) as terminal:
        shown = terminal.until("the DM is thinking")
        assert "A gull laughs" not in shown
        held.set()
        terminal.until("A gull laughs at you.")
        assert terminal.ended() == 0


# An address alone.


def test_an_address_alone_plays_with_the_first_model_of_that_server(run: Run, server: Server) -> None:
    """It is said which; the game goes on with it, and the house plays nothing."""
    server.models = ["small", "large"]
    answer = run("play", "--base-url", server.address, *QUICK, "--auto", 1)
    assert answer.code == 0
    assert answer.err == f"small at {server.address} plays every role; --model chooses another\n"
    assert {request["model"] for request in server.requests} == {"small"}
    server.models = ["another"]
    assert run("play", "--base-url", server.address, "--auto", 1, "-c", HOME).code == 0
    assert {request["model"] for request in server.requests} == {"small"}


def test_a_game_of_the_house_goes_on_with_the_model_of_an_address(run: Run, server: Server) -> None:
    """An address is said for a reason; but whoever says house means it."""
    run("play", *QUICK, "--auto", 1)
    server.models = ["small"]
    assert run("play", "--base-url", server.address, "--model", "house", "--auto", 1, "-c", HOME).code == 0
    assert server.requests == []
    assert "small at " in run("play", "--base-url", server.address, "--auto", 1, "-c", HOME).err
    assert {request["model"] for request in server.requests} == {"small"}


@pytest.mark.parametrize("models", [[], ["\x1b[31m"]])
def test_a_server_without_a_model_is_told(run: Run, server: Server, models: list[str]) -> None:
    server.models = models
    answer = run("play", "--base-url", server.address, *QUICK, "--auto", 1)
    assert (answer.code, answer.out, server.requests) == (1, "", [])
    assert "model" in answer.err
    assert "\x1b" not in answer.err


def test_a_dead_server_is_told_with_what_to_do(run: Run) -> None:
    """Before anything is begun."""
    with serving() as gone:
        address = gone.address
    answer = run("play", "--base-url", address, *QUICK, "--auto", 1)
    assert (answer.code, answer.out) == (1, "")
    assert address in answer.err
    assert "cannot be reached" in answer.err
    assert "--model" in answer.err


def test_the_commands_after_a_server_that_failed_work(run: Run, server: Server) -> None:
    """As they stand, once it answers again; or without it."""
    server.says = [fault(401, "no")]
    words = ("play", "--players", MODEL, "--dm", "house", "--base-url", server.address)
    answer = run(*words, *QUICK, "--auto", 1)
    assert answer.code == 1
    again, house = (
        [*shlex.split(line), "--auto", "1", "--no-compact"]
        for line in re.findall(r"dndbots (play .*?)(?:; |$)", answer.err.strip())
    )
    asked = len(server.requests)
    assert run(*house).code == 0
    assert len(server.requests) == asked
    assert run(*again).code == 1
    server.says = [Say(json.dumps({"verb": "say", "words": "Where were we?"}))]
    assert run(*again).code == 0
    assert "Where were we?" in [words for _, words in acts_in(HOME)]
