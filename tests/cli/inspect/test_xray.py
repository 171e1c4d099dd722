"""`dndbots context`: the text for a prompt, and its X-ray as a table that a person reads."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import HOSTILE, Run, program

from dndbots import Campaign
from dndbots.cli import console
from dndbots.memory.context.xray import Context, ContextItem


def context(**fields: Any) -> Context:
    """A context with two lines in it and one left out."""
    items = (
        ContextItem(text="You are Zara.", tokens=60, section="identity", reason="who you are"),
        ContextItem(
            text="Elena: role is traitor.",
            tokens=40,
            section="known",
            reason="a fact about somebody who is here",
            sources=("evt_4", "evt_6"),
        ),
        ContextItem(
            text="Elena: mood is cold.", tokens=9, section="known", reason="the same", sources=("e",)
        ),
    )
    left = ContextItem(
        text="It rained.", tokens=12, section="recent", reason="no room for it", sources=("evt_1",)
    )
    given = {"viewer": "pc_zara_001", "budget": 200, "encoding": "cl100k_base", "text": "You are Zara.\n…"}
    given |= {"tokens": 121, "prompt_tokens": 121, "items": items, "dropped": (left,)}
    return Context(**given | fields)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the facade was asked; it answers with the context above, or with what is put under `answer`."""
    asked: dict[str, Any] = {"answer": context()}

    def answering(_: Campaign, viewer: str, **options: Any) -> Context:
        asked.update(options, viewer=viewer)
        found: Context = asked["answer"]
        return found

    monkeypatch.setattr(Campaign, "context", answering)
    return asked


def test_the_text_alone_is_ready_for_a_prompt(run: Run, split: Path, told: dict[str, Any]) -> None:
    """Nothing but the text, and the facade is asked for what the options say."""
    assert run("context", "--as", "Zara", "-c", split) == (0, "You are Zara.\n…\n", "")
    assert told["viewer"] == "Zara"
    assert (told["budget"], told["query"], told["as_of"]) == (2000, None, None)
    options = ("--budget", "300", "--query", "Who?", "--as-of", "evt_4", "--encoding", "o200k_base")
    run("context", "--as", "dm", *options, "-c", split)
    assert {key: told[key] for key in ("viewer", "budget", "query", "as_of", "encoding")} == {
        "viewer": "dm",
        "budget": 300,
        "query": "Who?",
        "as_of": "evt_4",
        "encoding": "o200k_base",
    }


@pytest.mark.usefixtures("told")
def test_an_xray_is_a_table_and_a_meter(run: Run, split: Path) -> None:
    """Section, line, tokens, reason, sources in eighty columns; what was left out is marked in words."""
    shown = run("context", "--as", "Zara", "--xray", "-c", split).out
    lines = shown.splitlines()
    assert lines[0].split() == ["section", "line", "tokens", "reason", "sources"]
    assert any(line.split()[:4] == ["identity", "You", "are", "Zara."] for line in lines)
    assert sum(line.startswith("known") and "traitor" in line for line in lines) == 1
    assert sum(line.startswith("recent") for line in lines) == 1
    assert any(line.startswith("left out") for line in lines)
    assert "evt_4" in shown
    assert "evt_6" in shown
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in shown
    bars = {line.split()[0]: line.split()[1:] for line in lines if "█" in line}
    assert list(bars) == ["identity", "known", "headings", "total"]
    assert bars["identity"][1:] == ["60", "30"]
    assert bars["total"][1:] == ["121", "60"]
    assert lines[-1] == "121 of 200 tokens (cl100k_base), 1 line left out"


@pytest.mark.usefixtures("told")
def test_what_was_left_out_is_grey_where_there_are_colours(
    run: Run, split: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those rows are dim."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    dim = [
        line
        for line in run("context", "--as", "Zara", "--xray", "-c", split).out.splitlines()
        if "\x1b[2m" in line
    ]
    assert any("It rained." in line for line in dim)
    assert not any("traitor" in line for line in dim)


def test_many_sources_are_counted(run: Run, split: Path, told: dict[str, Any]) -> None:
    """The first few stand there, with how many more there are."""
    ids = tuple(f"evt_{n}" for n in range(9))
    item = ContextItem(text="x", tokens=5, section="story", reason="y", sources=ids)
    told["answer"] = context(items=(item,), dropped=())
    shown = run("context", "--as", "Zara", "--xray", "-c", split).out
    assert "and 5 more" in " ".join(shown.split())
    assert "evt_4" not in shown
    assert "left out" not in shown


@pytest.mark.usefixtures("told")
def test_in_json_there_is_all_of_it(run: Run, split: Path) -> None:
    """Text, items, what was left out, and the meter; with --xray or without."""
    whole = {**context().model_dump(mode="json"), "meter": {"identity": 60, "known": 49}}
    assert run("context", "--as", "Zara", "--json", "-c", split).json == whole
    assert run("context", "--as", "Zara", "--xray", "--json", "-c", split).json == whole


def test_a_line_cannot_forge_another(run: Run, split: Path, told: dict[str, Any]) -> None:
    """Text, reasons and sources steer no terminal, and stay inside their cells."""
    item = ContextItem(
        text=f"{HOSTILE}\ntotal", tokens=5, section="recent", reason=HOSTILE, sources=(f"e\n{HOSTILE}",)
    )
    told["answer"] = context(items=(item,), dropped=(item,))
    shown = run("context", "--as", "Zara", "--xray", "-c", split).out
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert sum(line.startswith("total") for line in shown.splitlines()) == 1


def test_the_context_of_a_character(run: Run, split: Path) -> None:
    """What the facade answers, and for Throk nothing of what Zara found."""
    with Campaign.open(split) as campaign:
        found = campaign.context("Zara", budget=500, query="Who sold the children?")
    options = ("--budget", "500", "--query", "Who sold the children?", "-c", split)
    assert run("context", "--as", "Zara", *options) == (0, f"{found.text}\n", "")
    assert run("context", "--as", "Zara", *options, "--json").json["items"] == [
        item.model_dump(mode="json") for item in found.items
    ]
    shown = run("context", "--as", "Zara", *options, "--xray").out
    assert all(item.section in shown for item in found.items)
    assert f"{found.tokens} of 500 tokens (cl100k_base)" in shown
    for form in ((), ("--xray",), ("--json",)):
        assert "letter" not in run("context", "--as", "Throk", *options, *form).out
    assert run("context", "--as", "Throk", *options, "--xray").out.endswith("no record answers the query\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("Nobody",), "no character has the name 'Nobody'; choose Throk, Zara or dm"),
        (("Zara", "--budget", "199"), "a budget of 199 tokens is too small; give at least 200"),
        (
            ("Zara", "--encoding", "morse"),
            "unknown encoding 'morse'; choose cl100k_base or o200k_base",
        ),
        (("Zara", "--query", " "), "query: ' ' is no question; leave the query out to ask nothing"),
        (("Throk", "--as-of", "evt_4"), "there is no event 'evt_4' in this branch of the log"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_what_is_refused(run: Run, split: Path, words: tuple[str, ...], error: str) -> None:
    """Exit code 1, and one line that says why."""
    for form in ((), ("--xray",), ("--json",)):
        assert run("context", *words, *form, "-c", split) == (1, "", f"error: {error}\n")


def test_before_anything_happened(run: Run, tmp_path: Path) -> None:
    """An empty text, and an X-ray that says so."""
    run("new", tmp_path / "empty")
    assert run("context", "--as", "dm", "-c", tmp_path / "empty") == (0, "\n", "")
    told = run("context", "--as", "dm", "--xray", "-c", tmp_path / "empty")
    assert told == (0, "nothing has happened yet\n", "")


def test_text_steers_no_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Into a pipe it goes as it is; on a terminal whatever would steer it is spelled out."""
    console.say_text("a\x1b[2J\nb\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.say_text("a\x1b[2J\nb\n")
    assert capsys.readouterr().out == "a\x1b[2J\nb\n" + "a\\x1b[2J\nb\n"


def test_a_meter_without_blocks(split: Path) -> None:
    """Where only ASCII can be shown, bars are made of it."""
    told = program("context", "--as", "Zara", "--xray", "-c", split, PYTHONIOENCODING="ascii")
    assert told.code == 0
    assert any(line.startswith("total") and "##" in line for line in told.out.splitlines())
    assert "\\u" not in told.out


def test_a_bar_is_as_long_as_its_share() -> None:
    """In eighths; a little is never nothing, and nothing is nothing."""
    assert [console.bar(share, 4) for share in (0, 0.001, 0.25, 0.375, 1)] == ["", "▏", "█", "█▌", "████"]
