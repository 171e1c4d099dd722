"""recap, memories, threads, remember, session: what each viewer is told of what it remembers."""

import sys
from pathlib import Path
from typing import Any

import pytest
from rich.progress import MofNCompleteColumn, Progress
from tests.cli.calling import Run, program, transcript

from dndbots import Campaign, EventType
from dndbots.cli import console

SECRET = ("letter", "shoes", "sold", "Cellar", "cellar", "search below", "Who bought")


def test_a_recap_is_for_people(run: Run, split: Path) -> None:
    """The session is named, each line stands by itself, and what is open comes last."""
    told = run("recap", "--as", "Zara", "-c", split).out.splitlines()
    assert told[0] == "Previously on s01:"
    assert any("shoes" in line for line in told)
    assert told[told.index("Still open:") + 1 :] == [
        "  - A promise: Throk gave his word.",
        "  - A riddle: Who bought the children?",
    ]


def test_a_recap_in_json(run: Run, split: Path) -> None:
    """One document with what the facade answers: lines with their sources, and threads with the reason."""
    told = run("recap", "--as", "Zara", "-c", split, "--json").json
    with Campaign.open(split) as campaign:
        found = campaign.recap("Zara")
    assert told["text"] == found.text
    assert [tuple(line["sources"]) for line in told["lines"]] == [line.sources for line in found.lines]
    assert all(line["sources"] for line in told["lines"])
    assert [thread["reason"] for thread in told["threads"]] == [thread.reason for thread in found.threads]
    assert (told["viewer"], told["session"], told["length"]) == ("pc_zara_001", "s01", "medium")


def test_a_recap_by_session_length_and_as_of(run: Run, split: Path) -> None:
    """--session, --length and --as-of are what the facade takes them for."""
    run("session", "start", "s02", "-c", split)
    path = transcript(split.parent / "s02.jsonl", {"speaker": "Zara", "text": "I wake.", "session": "s02"})
    run("import", path, "-c", split)
    last = run("recap", "--as", "Zara", "-c", split).out
    assert last.startswith("Previously on s02:\n")
    assert "I wake." in last
    earlier = run("recap", "--as", "Zara", "--session", "s01", "-c", split)
    assert earlier.out.startswith("Previously on s01:\n")
    assert run("recap", "--as", "Zara", "--as-of", "evt_7", "-c", split).out.startswith(
        "Previously on s01:\n"
    )
    for length in ("short", "medium", "long"):
        told = run("recap", "--as", "Zara", "--length", length, "-c", split, "--json").json
        assert told["length"] == length


def test_a_recap_of_nothing(run: Run, tmp_path: Path) -> None:
    """A campaign in which nothing happened has nothing to retell, and that is no error."""
    run("new", tmp_path / "empty")
    answer = run("recap", "--as", "dm", "-c", tmp_path / "empty")
    assert answer == (0, "Previously on …: nothing yet.\n", "")


def test_long_lines_wrap_inside_their_edge(run: Run, split: Path) -> None:
    """In eighty columns no line is wider, none ends in blanks, and every word is there, indented."""
    words = [f"word{number}" for number in range(60)]
    path = transcript(split.parent / "long.jsonl", {"speaker": "Zara", "text": " ".join(words)})
    run("import", path, "-c", split)
    told = run("memories", "--as", "Zara", "--summary", "-c", split).out
    assert max(map(len, told.splitlines())) <= 80
    assert all(line == line.rstrip() for line in told.splitlines())
    assert [word for word in told.split() if word.startswith("word")] == words


@pytest.mark.parametrize(
    "words",
    [
        ("recap",),
        ("recap", "--length", "long"),
        ("memories",),
        ("memories", "--summary"),
        ("threads", "--all"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_nobody_is_told_what_it_did_not_perceive(
    run: Run, split: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    """Zara was alone in the cellar. Nothing of it is in Throk's or Elena's memory, and it is in hers."""
    run("remember", "-c", split)
    run("session", "start", "s02", "-c", split)
    run("pin", "evt_4", "-c", split)
    for viewer in ("Throk", "Elena"):
        answer = run(*words, "--as", viewer, *form, "-c", split)
        assert answer.code == 0
        assert not [word for word in SECRET if word in answer.out]
        assert "evt_4" not in answer.out
    assert "shoes" in run("memories", "--as", "Zara", "--summary", *form, "-c", split).out


def test_memories_are_grouped_by_what_they_are_of(run: Run, split: Path) -> None:
    """Places, people and the world, in names that the viewer knows, each memory with id and session."""
    run("remember", "-c", split)
    with Campaign.open(split) as campaign:
        made = {entry.memory_id: entry for entry in campaign.memories("Zara")}
    told = run("memories", "--as", "Zara", "-c", split).out.splitlines()
    heads = [line for line in told if not line.startswith("  ")]
    assert heads[:3] == ["Cellar (loc_cellar_001):", "Old Mill (loc_mill_001):", "Elena (npc_elena_001):"]
    assert heads[3] == "Also: no summary, 6 recent events; --summary shows them"
    assert {line.split()[0] for line in told if line.startswith("  memory_")} == made.keys()
    assert all(line.split()[1] == "s01" for line in told if line.startswith("  memory_"))


def test_memories_of_somebody_and_of_a_kind(run: Run, split: Path) -> None:
    """--about and --source leave out all others."""
    run("remember", "-c", split)

    def subjects(*words: str) -> set[str]:
        found = run("memories", "--as", "Zara", *words, "-c", split, "--json").json
        return {one["about"]["name"] for one in found["memories"]}

    assert subjects() == {"Cellar", "Old Mill", "Elena"}
    assert subjects("--about", "old mill") == {"Old Mill"}
    assert subjects("--about", "npc_elena_001") == {"Elena"}
    assert subjects("--source", "location") == {"Cellar", "Old Mill"}
    assert subjects("--source", "npc") == {"Elena"}
    assert subjects("--source", "world") == set()
    assert subjects("--as-of", "evt_7") == set()


def test_memories_of_the_world(run: Run, split: Path) -> None:
    """A step of the story is remembered under the world."""
    with Campaign.open(split) as campaign:
        uid = campaign.introduce("QST", "The Children", metadata={"participants": ["pc_zara_001"]})
        step = {"quest_id": uid, "quest_state": "completed", "participants": ["pc_zara_001"]}
        event = next(campaign.events(viewer="dm", last=1)).model_copy(
            update={"event_id": "evt_9", "event_type": EventType.QUEST_UPDATE, "metadata": step, "seq": None}
        )
        campaign.record(type(event).model_validate(event.model_dump()))
    run("remember", "-c", split)
    told = run("memories", "--as", "Zara", "--source", "world", "-c", split).out
    assert told.startswith("The world:\n  memory_zara_")


def test_what_is_carried_besides(run: Run, split: Path) -> None:
    """--summary shows the parts of the summary, with layer and session, and the buffer with event ids."""
    before = run("memories", "--as", "Throk", "--summary", "-c", split).out
    assert before.startswith("no memories of places, people or the world yet; see `dndbots remember`\n")
    assert "Also no summary\nand 5 recent events:\n  evt_1\n    [Elena]: Find my" in before
    run("session", "start", "s02", "-c", split)
    after = run("memories", "--as", "Throk", "--summary", "-c", split).out
    assert "Also a summary in 1 part:\n  session_throk_" in after
    assert after.endswith("and 0 recent events\n")
    with Campaign.open(split) as campaign:
        (part,) = campaign.summaries("Throk")
        assert part.text == campaign.memory("Throk").long_term_summary
    assert f"  {part.id}  session  s01\n" in after


def test_memories_in_json(run: Run, split: Path) -> None:
    """Memories, the parts of the summary, the buffer with its events' ids, and what people decided."""
    run("remember", "-c", split)
    run("pin", "evt_4", "-c", split)
    told = run("memories", "--as", "Zara", "-c", split, "--json").json
    with Campaign.open(split) as campaign:
        memories, carried = campaign.memories("Zara"), campaign.carried("Zara")
    assert [{**one, "about": None} for one in told["memories"]] == [
        {**entry.model_dump(mode="json"), "about": None} for entry in memories
    ]
    assert told["memories"][0]["about"] == {"name": "Cellar", "uid": "loc_cellar_001"}
    assert [one["event_id"] for one in told["buffer"]] == [*carried.ids]
    assert [one["text"] for one in told["buffer"]] == carried.memory.short_term_buffer
    assert told["summary"] == carried.memory.long_term_summary
    assert told["gates"] == {"pinned": ["evt_4"], "locked": [], "forgotten": [], "corrected": {}}


def test_threads_as_a_table(run: Run, split: Path) -> None:
    """Kind, text, state, turns, times, score and the reason; it fits eighty columns."""
    told = run("threads", "--as", "Throk", "-c", split).out
    assert max(map(len, told.splitlines())) <= 80
    assert ["promise", "Throk", "gave", "his", "word."] in [line.split()[:5] for line in told.splitlines()]
    assert "(a promise, came up" in told
    assert "kind" in told.splitlines()[0]
    assert "score" in told.splitlines()[0]


def test_threads_that_are_over_or_asleep(run: Run, split: Path) -> None:
    """Resolved ones are shown with --all only; what nothing touched for twenty turns is dormant."""
    with Campaign.open(split) as campaign:
        told = [{"speaker": "Throk", "text": f"Mile {n}.", "witnesses": ["Zara"]} for n in range(25)]
        campaign.import_transcript(told)
    shown = run("threads", "--as", "Zara", "-c", split, "--json").json
    assert {one["id"]: one["state"] for one in shown}["letter"] == "dormant"
    assert all(one["reason"] for one in shown)
    with Campaign.open(split) as campaign:
        last = next(campaign.events(viewer="dm", last=1))
        over = {"threads": [{"id": "letter", "state": "resolved"}], "witnesses": ["pc_zara_001"]}
        fields = {**last.model_dump(), "event_id": "evt_99", "metadata": over, "seq": None}
        campaign.record(type(last).model_validate(fields))
    open_ones = run("threads", "--as", "Zara", "-c", split, "--json").json
    assert "letter" not in {one["id"] for one in open_ones}
    every = run("threads", "--as", "Zara", "--all", "-c", split, "--json").json
    assert {one["id"]: one["state"] for one in every}["letter"] == "resolved"
    assert "resolved" in run("threads", "--as", "Zara", "--all", "-c", split).out


def test_no_threads(run: Run, tmp_path: Path) -> None:
    """Where nothing may come back, that is said."""
    run("new", tmp_path / "empty")
    assert run("threads", "--as", "dm", "-c", tmp_path / "empty") == (0, "no threads\n", "")


def test_remember_says_what_came_of_it(run: Run, split: Path) -> None:
    """For each agent, and for NPCs who got memories; a second time there is nothing left to do."""
    first = {one["name"]: one for one in run("remember", "-c", split, "--json").json}
    assert list(first) == ["DM", "Throk", "Zara", "Elena"]
    with Campaign.open(split) as campaign:
        for name, one in first.items():
            assert one["memories"] == len(campaign.memories(one["who"])) > 0
            assert one["summaries"] == len(campaign.summaries(one["who"])) == 0, name
        head = campaign.head
    again = run("remember", "-c", split, "--json").json
    assert [(one["name"], one["summaries"], one["memories"]) for one in again] == [
        ("DM", 0, 0),
        ("Throk", 0, 0),
        ("Zara", 0, 0),
    ]
    shown = run("remember", "-c", split).out.splitlines()
    assert shown[0].split() == ["who", "new", "summaries", "new", "memories"]
    assert ["Zara", "pc_zara_001", "0", "0"] in map(str.split, shown)
    with Campaign.open(split) as campaign:
        assert campaign.head == head


def test_an_imported_campaign_is_summarised(run: Run, tmp_path: Path) -> None:
    """All that everybody perceived becomes scenes and sessions; only the newest entries stay as they are."""
    lines = [
        {"speaker": who, "text": f"{who} does thing {n} of {session}.", "session": session}
        for session in ("s01", "s02", "s03")
        for n in range(30)
        for who in ("Throk", "Zara")
    ]
    where = tmp_path / "imported"
    run("import", transcript(tmp_path / "play.jsonl", *lines), "-c", where)
    made = {one["name"]: one["summaries"] for one in run("remember", "-c", where, "--json").json}
    assert made.keys() == {"DM", "Throk", "Zara"}
    assert all(made.values())
    told = run("memories", "--as", "Throk", "-c", where, "--json").json
    assert [(one["layer"], one["session"]) for one in told["summaries"]] == [
        ("session", "s01"),
        ("session", "s02"),
        ("scene", "s03"),
    ]
    assert len(told["buffer"]) == 3
    assert run("verify", "-c", where).code == 0


def test_remember_reports_how_far_it_is(split: Path) -> None:
    """First events of so many, then summaries, of which nobody knows how many there will be."""
    told: list[tuple[int, int]] = []
    with Campaign.open(split) as campaign:
        campaign.import_transcript({"speaker": "Zara", "text": f"Step {n}."} for n in range(20))
        campaign.remember(progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 27)
    assert told[-1][0] > 0
    assert told[-1][1] == 0


def test_a_bar_may_lose_its_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report without a total shows no total, whatever an earlier one had."""
    bars: list[Progress] = []

    class Seen(Progress):
        def __init__(self, *columns: Any, **how: Any) -> None:
            super().__init__(*columns, **how)
            bars.append(self)

    def shown() -> str:
        return MofNCompleteColumn().render(bars[0].tasks[0]).plain.strip()

    monkeypatch.setattr("rich.progress.Progress", Seen)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with console.progress("remembering") as report:
        report(3, 9)
        assert shown() == "3/9"
        report(1, 0)
        assert shown() == "1/?"
        report(4, 12)
        assert shown() == "4/12"


def test_a_session_is_started(run: Run, split: Path) -> None:
    """It is an event of its own, everybody's buffer is summarised, and a recap is of what came before."""
    answer = run("session", "start", "s02", "--title", "Wolves", "-c", split)
    assert answer == (0, "started the session s02: session_start_s02\n", "")
    with Campaign.open(split) as campaign:
        started = {one.event_id: one for one in campaign.events(viewer="Zara")}["session_start_s02"]
        assert (started.event_type, started.content) == (EventType.SESSION_START, "Wolves")
        assert campaign.memory("Zara").short_term_buffer == ["[DM]: Wolves"]
    assert run("recap", "--as", "Zara", "-c", split).out.startswith("Previously on s01:\n")
    told = run("session", "start", "s03", "-c", split, "--json").json
    assert told == {"session": "s03", "event_id": "session_start_s03"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("recap", "--as", "Zara", "--length", "huge"),
            "length: 'huge' is no length; use one of short, medium, long",
        ),
        (
            ("recap", "--as", "Zara", "--session", "s99"),
            "session: 's99' is no session of Zara, who took part in: s01",
        ),
        (
            ("recap", "--as", "Zara", "--as-of", "evt_9"),
            "there is no event 'evt_9' in this branch of the log",
        ),
        (
            ("memories", "--as", "Zara", "--source", "weather"),
            "source: 'weather' must be one of location, npc, world",
        ),
        (
            ("memories", "--as", "Throk", "--about", "Cellar"),
            "Throk knows nothing called 'Cellar'; `dndbots entity --as Throk` lists all names",
        ),
        (("session", "start", " "), "session_id: ' ' is blank; give the session a name"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_what_is_refused(run: Run, split: Path, words: tuple[str, ...], error: str) -> None:
    """Exit code 1, one line that says what there is instead, and nothing in the log."""
    assert run(*words, "-c", split) == (1, "", f"error: {error}\n")
    with Campaign.open(split) as campaign:
        assert campaign.head == 7


def test_a_session_is_started_once(run: Run, split: Path) -> None:
    """A name that was used is refused, with the way out."""
    run("session", "start", "s02", "-c", split)
    answer = run("session", "start", "s02", "-c", split)
    assert answer == (1, "", "error: the session 's02' already exists; choose another name\n")


def test_nobody_reads_along_when_it_is_no_terminal(split: Path) -> None:
    """In a pipe there is no progress bar: standard error stays empty."""
    answer = program("remember", "-c", split)
    assert (answer.code, answer.err) == (0, "")


def test_recall_cites_lines(run: Run, split: Path) -> None:
    """Each line numbered, with its speaker; each run with its session and event; facts before lines."""
    told = run("recall", "Who sold a letter and shoes?", "--as", "Zara", "-c", split)
    assert told.code == 0
    assert "  4. DM: Small shoes, and a letter: Elena sold them." in told.out.splitlines()
    fact = run("recall", "What role does Elena have?", "--as", "Zara", "-c", split).out.splitlines()[0]
    assert fact == "  1. [evt_4] Elena is a traitor."


def test_recall_of_what_one_did_not_perceive_is_no_record(run: Run, split: Path) -> None:
    """One line says so, and that is no error; nor does the past know what came later."""
    for viewer in ("Throk", "Elena"):
        assert run("recall", "Who sold a letter and shoes?", "--as", viewer, "-c", split) == (
            0,
            "No record.\n",
            "",
        )
    early = run("recall", "Who sold a letter and shoes?", "--as", "Zara", "--as-of", "evt_3", "-c", split)
    assert early == (0, "No record.\n", "")


def test_recall_in_json(run: Run, split: Path) -> None:
    """One document with what the facade answers."""
    told = run(
        "recall", "Who sold a letter and shoes?", "--as", "Zara", "--budget", "300", "-c", split, "--json"
    ).json
    with Campaign.open(split) as campaign:
        found = campaign.recall("Zara", "Who sold a letter and shoes?", budget=300)
    assert told == found.model_dump(mode="json")


def test_recall_with_too_small_a_budget(run: Run, split: Path) -> None:
    """Refused in words."""
    answer = run("recall", "Who sold them?", "--as", "Zara", "--budget", "100", "-c", split)
    assert (answer.code, answer.out) == (1, "")
    assert "at least 200" in answer.err
