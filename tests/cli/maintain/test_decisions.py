"""pin, lock, forget, correct: what people decide changes what is remembered, and nothing that happened."""

from pathlib import Path

import pytest
from tests.cli.calling import Answer, Run

from dndbots import Campaign

VIEWERS = ("dm", "Throk", "Zara", "Elena")


@pytest.fixture
def played(run: Run, split: Path) -> Path:
    """The split party, with its memories made."""
    run("remember", "-c", split)
    return split


def memory_of(campaign: Path, viewer: str, **wanted: str) -> str:
    with Campaign.open(campaign) as opened:
        return opened.memories(viewer, **wanted)[-1].memory_id


def everything_told(run: Run, campaign: Path, viewer: str) -> list[Answer]:
    """All that a viewer is told of what it remembers, in every form."""
    commands = (("recap", "--length", "long"), ("memories", "--summary"), ("threads", "--all"))
    return [
        run(*words, *form, "--as", viewer, "-c", campaign) for words in commands for form in ((), ("--json",))
    ]


def test_each_says_in_a_line_what_it_did(run: Run, played: Path) -> None:
    """The target, what was decided, for whom, and the event that says so."""
    for command, done in (("pin", "pinned"), ("lock", "locked"), ("forget", "forgotten")):
        for words, state in (((), f"is {done}"), (("--undo",), f"is no longer {done}")):
            answer = run(command, "evt_2", *words, "-c", played)
            assert (answer.code, answer.err) == (0, "")
            said, _, event_id = answer.out.rstrip("\n").rpartition(": ")
            assert said == f"evt_2 {state}"
            with Campaign.open(played) as campaign:
                assert next(one for one in campaign.events(viewer="dm") if one.event_id == event_id)
    one = run("pin", "evt_2", "--as", "Zara", "-c", played).out
    assert one.startswith("evt_2 is pinned for pc_zara_001: gate_")
    corrected = run("correct", "evt_2", "I bow.", "-c", played).out
    assert corrected.startswith("evt_2 is corrected: gate_")


def test_each_in_json(run: Run, played: Path) -> None:
    """The event, its target, what was decided and for whom."""
    told = run("lock", "evt_2", "--as", "Throk", "-c", played, "--json").json
    assert told.pop("event_id").startswith("gate_")
    assert told == {"target": "evt_2", "what": "locked", "on": True, "text": None, "holder": "pc_throk_001"}
    told = run("correct", "evt_1", "Help!", "-c", played, "--json").json
    assert (told["what"], told["text"], told["holder"]) == ("corrected", "Help!", None)
    told = run("correct", "npc_elena_001", "gold=7", "-c", played, "--json").json
    assert told.pop("event_id").startswith("corrected_")
    assert told == {"subject": "npc_elena_001", "key": "gold", "value": 7}


@pytest.mark.parametrize(
    "words",
    [("pin",), ("lock",), ("forget",), ("correct", "Something else happened.")],
    ids=lambda one: one[0],
)
@pytest.mark.parametrize("target", ["event", "memory"])
def test_undo_brings_everything_back(run: Run, played: Path, words: tuple[str, ...], target: str) -> None:
    """Each changes what Zara is told, nothing that she did not perceive, and --undo restores every byte."""
    name = "evt_4" if target == "event" else memory_of(played, "Zara", about="Cellar")
    before = {viewer: everything_told(run, played, viewer) for viewer in VIEWERS}
    command, *text = words
    assert run(command, name, *text, "-c", played).code == 0
    assert everything_told(run, played, "Zara") != before["Zara"]
    for viewer in ("Throk", "Elena"):
        assert everything_told(run, played, viewer) == before[viewer]
    assert run(command, name, "--undo", "-c", played).code == 0
    for viewer in VIEWERS:
        assert everything_told(run, played, viewer) == before[viewer]


def test_a_pinned_event_is_kept_in_mind(run: Run, played: Path) -> None:
    """It stands in the recap under a heading of its own, and in the summary."""
    run("pin", "evt_4", "-c", played)
    told = run("recap", "--as", "Zara", "-c", played).out
    assert "To keep in mind:\n  - Small shoes, and a letter: Elena sold them.\n" in told
    carried = run("memories", "--as", "Zara", "-c", played, "--json").json
    assert carried["summary"] == "Pinned: Small shoes, and a letter: Elena sold them."
    assert "  - pinned: evt_4\n" in run("memories", "--as", "Zara", "-c", played).out


def test_a_forgotten_event_is_told_to_nobody(run: Run, played: Path) -> None:
    """Neither in recaps nor in the buffer; the log keeps it, and its id can still be found."""
    run("forget", "evt_2", "-c", played)
    for viewer in VIEWERS:
        assert "shake her hand" not in run("recap", "--as", viewer, "-c", played).out
    shown = run("memories", "--as", "Zara", "--summary", "-c", played).out
    assert "  - forgotten: evt_2\n" in shown
    assert "I shake her hand." in run("log", "--as", "Zara", "-c", played).out


def test_a_forgotten_memory_leaves_its_shelf(run: Run, played: Path) -> None:
    """It is not among the memories any more, but among what was decided."""
    name = memory_of(played, "Zara", about="Elena")
    run("forget", name, "-c", played)
    told = run("memories", "--as", "Zara", "-c", played)
    assert f"  {name}" not in told.out.splitlines()
    assert f"  - forgotten: {name}" in told.out.splitlines()


def test_corrected_words_stand_for_the_old_ones(run: Run, played: Path) -> None:
    """In the recap and among the memories, with a mark; the log has both."""
    name = memory_of(played, "Zara", about="Cellar")
    run("correct", name, "She found shoes.", "-c", played)
    assert f"  {name}  s01  corrected\n    She found shoes.\n" in (
        run("memories", "--as", "Zara", "-c", played).out
    )
    run("correct", "evt_2", "I bow to her.", "-c", played)
    told = run("recap", "--as", "Throk", "-c", played).out
    assert "bow" in told
    assert "shake" not in told
    logged = run("log", "--as", "dm", "-c", played).out
    assert "I shake her hand." in logged
    assert "I bow to her." in logged


def test_a_decision_for_one_is_for_that_one(run: Run, played: Path) -> None:
    """--as: Throk forgets what Zara still remembers."""
    before = everything_told(run, played, "Zara")
    run("forget", "evt_2", "--as", "Throk", "-c", played)
    assert everything_told(run, played, "Zara") == before
    assert "shake her hand" not in run("recap", "--as", "Throk", "-c", played).out


def test_a_locked_memory_stays_as_it_is(run: Run, played: Path) -> None:
    """It is neither forgotten nor corrected until the lock is taken off; the error says how."""
    name = memory_of(played, "Zara", about="Cellar")
    assert run("lock", name, "--as", "Zara", "-c", played).code == 0
    assert f"  {name}  s01  locked\n" in run("memories", "--as", "Zara", "-c", played).out
    before = everything_told(run, played, "Zara")
    for words, what in ((("forget", name), "forgotten"), (("correct", name, "x"), "corrected")):
        for viewer in ((), ("--as", "Zara")):
            refused = run(*words, *viewer, "-c", played)
            said = f"{name!r} is locked, so it cannot be {what}; unlock it first: `dndbots lock ID --undo`"
            assert refused == (1, "", f"error: {said}\n")
    assert everything_told(run, played, "Zara") == before
    run("lock", name, "--undo", "--as", "Zara", "-c", played)
    assert run("forget", name, "-c", played).code == 0


def test_a_locked_summary_is_not_summarised_further(run: Run, played: Path) -> None:
    """The part of a summary that was locked stands word for word when its session becomes one."""
    with Campaign.open(played) as campaign:
        campaign.compress("Zara")
        (scene,) = campaign.summaries("Zara")
    run("lock", scene.id, "-c", played)
    run("session", "start", "s02", "-c", played)
    run("remember", "-c", played)
    with Campaign.open(played) as campaign:
        assert scene.text in [part.text for part in campaign.summaries("Zara") if part.locked]


def test_a_fact_is_corrected_for_those_who_held_it(run: Run, played: Path) -> None:
    """Zara held that Elena is a traitor, and holds the new value; Throk still knows nothing of it."""
    answer = run("correct", "npc_elena_001", "role=witness", "-c", played)
    assert answer.out.startswith("npc_elena_001: role is now witness: corrected_elena_")
    told = run("entity", "Elena", "--as", "Zara", "-c", played, "--json").json
    assert told["properties"] == {"role": "witness"}
    throks = run("entity", "Elena", "--as", "Throk", "-c", played, "--json").json
    assert throks["properties"] == {}
    past = run("entity", "Elena", "--as", "Zara", "--history", "-c", played, "--json").json["history"]
    assert [fact["value"] for fact in past if fact["key"] == "role"] == ["traitor", "witness"]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("7", 7),
        ("-2.5", -2.5),
        ("true", True),
        ("false", False),
        ("merry", "merry"),
        ("two words = three", "two words = three"),
        ("[1]", "[1]"),
        ("null", "null"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("1" + "0" * 400, "1" + "0" * 400),
    ],
)
def test_values_are_read_as_what_they_are(run: Run, played: Path, said: str, value: object) -> None:
    """Numbers, true and false; all else is text, as it was written."""
    assert run("correct", "npc_elena_001", f"mood={said}", "-c", played, "--json").json["value"] == value
    told = run("entity", "Elena", "--as", "dm", "-c", played, "--json").json
    assert told["properties"]["mood"] == value
    assert type(told["properties"]["mood"]) is type(value)


IDS = "`dndbots memories --as NAME --summary` and `dndbots log --as NAME` show the ids"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("pin", "evt_99"), f"there is no event or memory 'evt_99'; {IDS}"),
        (("lock", "evt_99"), f"there is no event or memory 'evt_99'; {IDS}"),
        (("forget", "evt_99"), f"there is no event or memory 'evt_99'; {IDS}"),
        (("correct", "evt_99", "x"), f"there is no event or memory 'evt_99'; {IDS}"),
        (("correct", "evt_99", "--undo"), f"there is no event or memory 'evt_99'; {IDS}"),
        (
            ("pin", "evt_4", "--as", "Throk"),
            f"there is no event or memory 'evt_4' that Throk perceived; {IDS}",
        ),
        (
            ("forget", "evt_1", "--as", "Nobody"),
            "no character has the name 'Nobody'; choose Throk, Zara or dm",
        ),
        (("correct", "evt_1", ""), "text: '' is empty; give the corrected text"),
        (("correct", "evt_1", " \t"), "text: ' \\t' is empty; give the corrected text"),
        (
            ("correct", "npc_elena_001", "role="),
            "value: '' is not a valid value for a fact; use text, a number, true or false",
        ),
        (
            ("correct", "npc_elena_001", "9=x"),
            "key: '9' is not a valid key for a fact; use a word such as mood",
        ),
        (
            ("correct", "npc_elena_001", "a traitor"),
            "write a fact of npc_elena_001 as KEY=VALUE, such as mood=merry; to undo, write the old value",
        ),
        (
            ("correct", "npc_elena_001", "--undo"),
            "write a fact of npc_elena_001 as KEY=VALUE, such as mood=merry; to undo, write the old value",
        ),
        (
            ("correct", "npc_nobody_001", "role=spy"),
            "the campaign knows nothing called 'npc_nobody_001'; `dndbots entity --as dm` lists all names",
        ),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_what_is_refused(run: Run, split: Path, words: tuple[str, ...], error: str) -> None:
    """Exit code 1, one line with the remedy, and nothing in the log."""
    assert run(*words, "-c", split) == (1, "", f"error: {error}\n")
    with Campaign.open(split) as campaign:
        assert campaign.head == 7


@pytest.mark.parametrize(
    "words",
    [
        ("correct", "evt_1"),
        ("correct", "evt_1", "x", "--undo"),
        ("correct", "npc_elena_001", "role=spy", "--as", "Zara"),
        ("pin",),
    ],
    ids=" ".join,
)
def test_wrong_calls(run: Run, split: Path, words: tuple[str, ...]) -> None:
    """Words that are missing, or that do not go together: exit code 2."""
    answer = run(*words, "-c", split)
    assert (answer.code, answer.out) == (2, "")


def test_a_decision_is_no_target(run: Run, split: Path) -> None:
    """What was decided is taken back with --undo, not forgotten."""
    made = run("pin", "evt_1", "-c", split, "--json").json["event_id"]
    assert run("forget", made, "-c", split).code == 1


def test_the_log_keeps_everything(run: Run, played: Path) -> None:
    """Every decision and its undoing are events; what was there before is there, byte for byte."""
    before = run("log", "--as", "dm", "-c", played, "--json").out
    for words in (("pin",), ("lock",), ("forget",), ("correct", "x")):
        command, *text = words
        run(command, "evt_2", *text, "-c", played)
        run(command, "evt_2", "--undo", "-c", played)
        if command == "lock":
            run("pin", "evt_2", "-c", played)
    after = run("log", "--as", "dm", "-c", played, "--json").out
    assert after.startswith(before)
    assert len(after.splitlines()) == len(before.splitlines()) + 9
    assert run("verify", "-c", played).code == 0
