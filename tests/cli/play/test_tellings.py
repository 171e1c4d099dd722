"""At the terminal with a model as DM: told again, swiped, edited; played on from an import; models tried."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import Run
from tests.llm.server import Say, Server, fault, serving

from dndbots import Campaign
from dndbots.cli.play.table_setup import choose_game
from dndbots.ids import DM
from dndbots.llm.settings import Way
from dndbots.llm.settings_files import load_ways, remember_way

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
        yield found


def told_in(where: str) -> str:
    with Campaign.open(where, create=False) as campaign:
        return "\n".join(event.content for event in campaign.events(viewer=DM))


def test_a_person_has_the_dm_tell_it_again_swipes_and_edits(run: Run, server: Server) -> None:
    wish = "shorter, and let the guard be afraid"

    def answers(request: dict[str, Any]) -> Say:
        is_again = wish in str(request["messages"])
        return Say("A heron stands in the weir." if is_again else "A gull laughs at the mill.")

    server.answers = answers
    words = ("play", "--dm", MODEL, "--base-url", server.address, "--human", "Throk", "--no-compact")
    lines = (
        f'/retry "{wish}"',
        "/swipe",
        "/swipe back",
        "/edit The weir is silent tonight.",
        "/quit",
    )
    answer = run(*words, "--seed", 1, "--seats", 1, "-c", "c", typed="".join(f"{one}\n" for one in lines))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.index("A gull laughs") < answer.out.index("A heron stands")
    assert answer.out.count("A gull laughs at the mill.") == 2
    assert answer.out.count("A heron stands in the weir.") == 2
    told = told_in("c")
    assert "The weir is silent tonight." in told
    assert "gull" not in told
    assert "heron" not in told
    assert run("verify", "-c", "c").code == 0


def test_an_edit_without_text_shows_the_text_and_a_house_cannot_retry(run: Run) -> None:
    lines = "/edit\n/retry\n/swipe\n/quit\n"
    answer = run(
        "play", "--human", "Throk", "--seed", 1, "--seats", 1, "--no-compact", "-c", "c", typed=lines
    )
    assert "write the new one after the command" in answer.out
    assert "no model plays here" in answer.out
    assert "told only once" in answer.out


def test_an_imported_chat_is_played_on(run: Run, server: Server) -> None:
    lines = [
        {"session": "s01", "speaker": "DM", "role": "dm", "text": "Rain falls.", "location": "Gallow Ford"},
        {"session": "s01", "speaker": "Bram", "role": "pc", "text": "I owe the miller a bell.",
         "location": "Gallow Ford"},
    ]  # fmt: skip
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run("import", "chat.jsonl", "-c", "imported").code == 0
    refused = run("play", "-c", "imported", "--human", "Bram", "--auto", 1)
    assert refused.code == 1
    assert "--dm MODEL" in refused.err
    assert "Apples" not in told_in("imported")
    server.says = [Say("The ford is deep, and somebody waits on the far bank.")]
    words = ("play", "-c", "imported", "--dm", MODEL, "--base-url", server.address, "--no-compact")
    stranger = run(*words, "--human", "Zed", typed="/quit\n")
    assert stranger.code == 1
    assert "choose from Bram and dm" in stranger.err
    answer = run(*words, "--human", "Bram", typed="/sheet\n/quit\n")
    assert (answer.code, answer.err) == (0, "")
    assert "somebody waits on the far bank" in answer.out
    assert "Gallow Ford" in answer.out
    assert "miller a bell" in str(server.requests[-1]["messages"])
    assert run("verify", "-c", "imported").code == 0


def test_models_are_listed_and_tried(run: Run, server: Server) -> None:
    server.says = [Say("A cow.")]
    answer = run("models", "--model", MODEL, "--base-url", server.address)
    assert answer.code == 0
    assert "answers 'A cow.'" in answer.out
    rows = json.loads(run("models", "--model", MODEL, "--base-url", server.address, "--json").out)
    assert {row["role"] for row in rows} == {"dm", "player", "npc", "summarizer", "extractor"}
    server.says = [fault(401, "no such key")]
    assert run("models", "--model", MODEL, "--base-url", server.address).code == 1
    assert "no model is asked" in run("models").out


def test_the_way_a_model_answers_in_is_remembered_for_the_user() -> None:
    assert load_ways() == {}
    remember_way("openai:a", Way.SCHEMA)
    remember_way("openai:b@http://x", Way.WORDS)
    assert load_ways() == {"openai:a": Way.SCHEMA, "openai:b@http://x": Way.WORDS}
    (file,) = Path("config").rglob("ways.json")
    file.write_text("[1, 2")
    assert load_ways() == {}
    file.write_text('{"openai:a": "sorcery", "openai:b": "tools"}')
    assert load_ways() == {"openai:b": Way.TOOLS}
    assert load_ways({}) == {}


def test_a_guided_start_asks_for_a_story_and_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    def answers(*said: str) -> Any:
        left = list(said)
        return lambda _: left.pop(0)

    chosen = choose_game(seed=1, ask=answers("9999", "", ""))
    assert chosen.module is not None
    assert chosen.character is None
    listed = capsys.readouterr().out
    own = max(int(line.split()[0]) for line in listed.splitlines() if line.strip()[:1].isdigit())
    chosen = choose_game(
        # A class that the rules do not have is asked for again; the name stays.
        seed=1,
        ask=answers(str(own), "", "A drowned city.", "Bram", "wizard king", ""),
    )
    assert (chosen.module, chosen.scenario) == ("open", "A drowned city.")
    assert chosen.character is not None
    assert chosen.character.name == "Bram"


def test_what_guards_cut_is_shown_with_debug(run: Run, server: Server) -> None:
    server.says = [Say("A gull laughs at the mill. No record.")]
    words = ("play", "--dm", MODEL, "--base-url", server.address, "--no-compact", "--auto", 1, "-c", "c")
    answer = run(*words, "--seed", 1, "--seats", 1, "--debug")
    assert "cut (engine): No record." in answer.err
    assert "No record." not in answer.out
    assert "1 sentences of engine talk cut" in run("usage", "-c", "c").out
    seated = run(*words, "--human", "Throk", "--debug")
    assert seated.code == 1
    assert "--spectate" in seated.err
