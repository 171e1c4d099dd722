"""compact, compaction, review, export data: from raw logs to campaign data, with people in between."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.calling import HOSTILE, Run, program, transcript
from tests.cli.test_hostile_text import STEERS
from tests.table import event

from dndbots import Campaign, EventType
from dndbots.compaction import KnownNames, Turn
from dndbots.compaction.data.files import FILES

if TYPE_CHECKING:
    from tests.postgres import PostgresServer

LINES = [
    ("e1", "DM", "You meet Father Aldwin, the old priest of Oakhurst."),
    ("e2", "Zara", "Throk is a coward."),
    ("e3", "DM", "Elena, a half-elf ranger, nods at you."),
    ("e4", "Throk", "I look around."),
]


def line(number: str, speaker: str, text: str) -> dict[str, str]:
    role = "dm" if speaker == "DM" else "pc"
    return {"id": number, "session": "s01", "speaker": speaker, "role": role, "text": text}


@pytest.fixture
def told(run: Run, tmp_path: Path) -> Path:
    """Four lines of play that nobody has compacted yet."""
    where = tmp_path / "told"
    assert (
        run("import", transcript(tmp_path / "play.jsonl", *(line(*one) for one in LINES)), "-c", where).code
        == 0
    )
    return where


@pytest.fixture
def held(run: Run, told: Path) -> Path:
    """The same, with all that was found waiting for a person."""
    assert run("compact", "--review", "-c", told).code == 0
    return told


class Proposes:
    """An extractor that proposes what it is told to, whatever the turns say."""

    waits = False

    def __init__(self, *updates: Any) -> None:
        self.updates = updates

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> Iterable[Any]:
        return self.updates if turns and known else ()


def waiting(run: Run, campaign: Path) -> dict[tuple[str, str], str]:
    """The ids of what waits, by whom and what it is about."""
    listed = run("review", "list", "-c", campaign, "--json").json
    return {(one["update"]["name"], one["update"]["field"]): one["id"] for one in listed if one["update"]}


def role_of(campaign: Path, name: str) -> str | None:
    with Campaign.open(campaign) as opened:
        known = {one.name: one for one in opened.data().entities().values()}
    role = known[name].facts.get("role") if name in known else None
    return None if role is None else str(role.value)


def uid_of(campaign: Path, name: str) -> str:
    with Campaign.open(campaign) as opened:
        return opened.entity(name, viewer="dm").uid


def edit_by_hand(campaign: Path, uid: str, value: object) -> None:
    path = campaign / "data" / "npcs.json"
    npcs = json.loads(path.read_text("utf-8"))
    npcs[uid]["facts"]["role"]["value"] = value
    path.write_text(json.dumps(npcs), encoding="utf-8")


class TestCompact:
    def test_says_what_was_done(self, run: Run, told: Path) -> None:
        """Turns, updates, what was known, what was rejected, tokens before and after, and the folder."""
        answer = run("compact", "-c", told)
        assert (answer.code, answer.err) == (0, "")
        did, where = answer.out.splitlines()
        (run_of,) = run("compaction", "-c", told, "--json").json["runs"]
        assert did == (
            f"4 turns read: {run_of['updates']} updates, {run_of['repeated']} already known, 0 rejected; "
            f"{run_of['tokens']} tokens of play, {run_of['kept_tokens']} of kept data"
        )
        assert run_of["updates"] >= 3
        assert where == f"the files are in {told / 'data'}"
        assert {*FILES} <= {path.name for path in (told / "data").iterdir()}
        assert role_of(told, "Father Aldwin") == "priest of Oakhurst"

    def test_the_second_time_there_is_nothing_new(self, run: Run, told: Path) -> None:
        """No turn is read twice, and the log stays as it was."""
        run("compact", "-c", told)
        with Campaign.open(told) as campaign:
            head = campaign.head
        assert run("compact", "-c", told).out.splitlines()[0] == "nothing new"
        assert run("compact", "-c", told, "--json").json == []
        with Campaign.open(told) as campaign:
            assert campaign.head == head

    def test_in_json_it_is_the_runs(self, run: Run, told: Path) -> None:
        """A list with the figures of each run, and nothing else."""
        (only,) = run("compact", "-c", told, "--json").json
        assert (only["turns"], only["upto"], only["by"]) == (4, "e4", "RuleExtractor")

    def test_what_is_held_changes_nothing_yet(self, run: Run, told: Path) -> None:
        """--review: it is told how much waits and where to look; no fact is kept."""
        answer = run("compact", "--review", "-c", told)
        found = len(run("review", "list", "-c", told, "--json").json)
        assert found >= 3
        assert f", {found} held for review; " in answer.out
        assert f"{found} proposals wait for review; see `dndbots review list`\n" in answer.out
        assert role_of(told, "Father Aldwin") is None

    def test_a_branch_has_files_of_its_own(self, run: Run, told: Path) -> None:
        """--branch: what is read there is neither in the main branch nor in its files."""
        run("fork", "what if", "-c", told)
        where = run("compact", "-c", told, "--branch", "what if").out.splitlines()[1]
        folder = Path(where.removeprefix("the files are in "))
        assert "priest of Oakhurst" in (folder / "npcs.json").read_text("utf-8")
        assert not (told / "data" / "npcs.json").exists()
        assert run("compaction", "-c", told, "--json").json["cursor"] is None

    def test_a_campaign_on_a_server_has_no_files(
        self, run: Run, postgres: "PostgresServer", tmp_path: Path
    ) -> None:
        """It is compacted all the same, names no folder, and its data can be exported."""
        where = postgres.url()
        play = transcript(tmp_path / "play.jsonl", *(line(*one) for one in LINES))
        assert run("import", play, "-c", where).code == 0
        (did,) = run("compact", "-c", where).out.splitlines()
        assert did.startswith("4 turns read: ")
        assert run("export", "data", "-c", where, "--out", tmp_path / "out").code == 0
        assert "priest of Oakhurst" in (tmp_path / "out" / "npcs.json").read_text("utf-8")

    def test_shows_no_progress_where_nobody_watches(self, told: Path) -> None:
        """A standard error that is no terminal stays empty."""
        assert program("compact", "-c", told).err == ""

    def test_makes_no_campaign(self, run: Run, tmp_path: Path) -> None:
        """A place without a campaign is an error, and stays as it is."""
        for words in (
            ("compact",),
            ("compaction",),
            ("review", "list"),
            ("export", "data", "--out", tmp_path / "o"),
        ):
            answer = run(*words, "-c", tmp_path / "nowhere")
            assert answer.code == 1
            assert answer.err.startswith("error: ")
        assert [*tmp_path.iterdir()] == []


class TestCompaction:
    def test_before_the_first_run(self, run: Run, told: Path) -> None:
        """Only how much waits to be read."""
        assert run("compaction", "-c", told).out == "nothing compacted yet; 4 turns to read\n"

    def test_shows_runs_and_what_waits(self, run: Run, told: Path, tmp_path: Path) -> None:
        """How far it came, what all runs did, a line for each of the last runs; turns since are counted."""
        run("compact", "-c", told)
        more = transcript(
            tmp_path / "more.jsonl", line("e5", "DM", "Mira is a bard."), line("e6", "Zara", "Hm.")
        )
        run("import", more, "-c", told)
        shown = run("compaction", "-c", told).out.splitlines()
        assert shown[0] == "compacted up to e4; 2 turns to read"
        run("compact", "-c", told)
        shown = run("compaction", "-c", told).out.splitlines()
        assert shown[0] == "compacted up to e6; 0 turns to read"
        assert shown[1].startswith("in 2 runs, 6 turns read: ")
        rows = [row.split() for row in shown if row.startswith("e")]
        assert [(row[0], row[1], row[-1]) for row in rows] == [
            ("e4", "4", "RuleExtractor"),
            ("e6", "2", "RuleExtractor"),
        ]
        first = run("compaction", "-c", told, "--json").json["runs"][0]
        assert rows[0][4:7] == [
            str(first["tokens"]),
            str(first["kept_tokens"]),
            f"{100 * first['kept_tokens'] / first['tokens']:.0f}",
        ]
        last = run("compaction", "--last", "1", "-c", told).out.splitlines()
        assert [row.split()[0] for row in last if row.startswith("e")] == ["e6"]

    def test_shows_what_was_rejected_and_why(self, run: Run, told: Path) -> None:
        """--rejected: the turn, the proposal, the rule and the reason."""
        assert run("compaction", "--rejected", "-c", told).out == "nothing was rejected\n"
        lie = {"kind": "npc", "name": "Elena", "field": "role", "value": "queen", "turn": "e3"}
        with Campaign.open(told) as campaign:
            campaign.compact(extractor=Proposes(lie, "nonsense"))
        told_json = run("compaction", "--rejected", "-c", told, "--json").json
        assert {one["rule"] for one in told_json} == {"unsupported", "shape"}
        shown = " ".join(run("compaction", "--rejected", "-c", told).out.split())
        assert "e3 Elena: role is queen unsupported the turn does not say 'queen'" in shown
        assert "given: nonsense" in shown


class TestReview:
    def test_lists_what_waits_with_the_words_that_say_it(self, run: Run, held: Path) -> None:
        """In the order of play: the id, what is proposed, and the sentence of the turn it rests on."""
        shown = run("review", "list", "-c", held).out
        ids = waiting(run, held)
        aldwin, throk = ids["Father Aldwin", "role"], ids["Throk", "role"]
        assert shown.index(aldwin) < shown.index(throk)
        assert (f"{throk}\n  character Throk: role is coward\n    [e2] Zara: Throk is a coward.\n") in shown

    def test_accepts_rejects_and_edits(self, run: Run, held: Path) -> None:
        """Each says what became of it; then it waits no more, and the files have what was accepted."""
        ids = waiting(run, held)
        elena = ids["Elena", "role"]
        assert run("review", "accept", elena, "-c", held).out == f"{elena} is accepted\n"
        assert role_of(held, "Elena") == "ranger"
        throk = ids["Throk", "role"]
        assert run("review", "reject", throk, "-c", held, "--json").json == [
            {"id": throk, "state": "rejected"}
        ]
        race = ids["Elena", "race"]
        answer = run("review", "edit", race, "--value", "wood elf", "-c", held)
        assert answer.out == f"{race} is edited\n"
        written = json.loads((held / "data" / "npcs.json").read_text("utf-8"))[uid_of(held, "Elena")]["facts"]
        assert (written["role"]["value"], written["race"]["value"]) == ("ranger", "wood elf")
        assert not {elena, throk, race} & {*waiting(run, held).values()}

    def test_several_at_once(self, run: Run, held: Path) -> None:
        """All that are named, each once, until nothing waits."""
        ids = [one["id"] for one in run("review", "list", "-c", held, "--json").json]
        answer = run("review", "reject", *ids, ids[0], "-c", held)
        assert answer.out.splitlines() == [f"{one} is rejected" for one in ids]
        assert run("review", "list", "-c", held).out == "no proposals\n"

    def test_an_unknown_id_changes_nothing(self, run: Run, held: Path) -> None:
        """The error names what waits, and nothing is decided of those named beside it."""
        ids = waiting(run, held)
        known = ids["Throk", "role"]
        for words in (("accept", known, "nope"), ("reject", known, "nope"), ("edit", "nope", "--value", "x")):
            answer = run("review", *words, "-c", held)
            assert (answer.code, answer.out) == (1, "")
            assert answer.err.startswith("error: no proposal 'nope' is waiting; waiting: ")
            assert known in answer.err
        assert waiting(run, held) == ids

    def test_what_cannot_be_so_any_more_is_refused(self, run: Run, held: Path) -> None:
        """Once nobody can tell which Elena is meant, it goes on waiting; what came before it is decided."""
        ids = waiting(run, held)
        throk, elena = ids["Throk", "role"], ids["Elena", "role"]
        with Campaign.open(held) as campaign:
            campaign.introduce("NPC", "Elena")
            campaign.introduce("NPC", "Elena")
        answer = run("review", "accept", throk, elena, "-c", held)
        assert (answer.code, answer.out) == (1, f"{throk} is accepted\n")
        assert answer.err.startswith("error: the update is refused: several entities are called 'Elena'")
        assert throk not in waiting(run, held).values()
        assert elena in waiting(run, held).values()

    def test_a_value_that_says_nothing_is_refused(self, run: Run, held: Path) -> None:
        """An empty value is an error in words, and the proposal goes on waiting."""
        ids = waiting(run, held)
        answer = run("review", "edit", ids["Throk", "role"], "--value", "  ", "-c", held)
        assert (answer.code, answer.out) == (1, "")
        assert "is blank" in answer.err
        assert waiting(run, held) == ids

    def test_a_file_edited_by_hand_is_offered(self, run: Run, told: Path) -> None:
        """It is set aside and listed with old and new value; accepted, it is so, in the file as well."""
        run("compact", "-c", told)
        edit_by_hand(told, uid_of(told, "Father Aldwin"), "bishop")
        assert "1 proposal waits for review" in run("compact", "-c", told).out
        (one,) = run("review", "list", "-c", told, "--json").json
        assert (one["correction"]["old"], one["correction"]["value"]) == ("priest of Oakhurst", "bishop")
        assert run("review", "list", "-c", told).out == (
            f"{one['id']}\n  Father Aldwin ({uid_of(told, 'Father Aldwin')}): role is bishop\n"
            "    [npcs.json] edited by hand, was priest of Oakhurst\n"
        )
        assert role_of(told, "Father Aldwin") == "priest of Oakhurst"
        run("review", "accept", one["id"], "-c", told)
        assert role_of(told, "Father Aldwin") == "bishop"
        assert '"bishop"' in (told / "data" / "npcs.json").read_text("utf-8")

    @pytest.mark.parametrize(
        "value", ["a\x00b", "\ud800", {"deep": [1]}, ["npc_elena_001"], 1e300, "z" * 9999]
    )
    def test_an_edit_that_can_be_no_fact_is_only_told(self, run: Run, told: Path, value: object) -> None:
        """It is set aside with a warning, offers nothing that nobody could accept, and stops no run."""
        run("compact", "-c", told)
        edit_by_hand(told, uid_of(told, "Father Aldwin"), value)
        answer = run("compact", "-c", told)
        assert answer.code == 0
        assert "facts.role was edited by hand, but cannot be offered as a correction" in answer.err
        assert run("review", "list", "-c", told).out == "no proposals\n"
        assert [*(told / "data" / "edited").iterdir()]
        assert role_of(told, "Father Aldwin") == "priest of Oakhurst"


class TestExportData:
    def test_writes_the_files_whether_compacted_or_not(self, run: Run, told: Path, tmp_path: Path) -> None:
        """Before a compaction they have what is structured, afterwards what was said."""
        out = tmp_path / "out"
        answer = run("export", "data", "-c", told, "--out", out)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out == f"{out}: {', '.join(FILES)}\n"
        assert "pc_zara_001" in json.loads((out / "characters.json").read_text("utf-8"))
        assert run("compaction", "-c", told, "--json").json["cursor"] is None
        assert run("export", "data", "-c", told, "--out", out).out == f"{out}: nothing new\n"
        run("compact", "-c", told)
        written = run("export", "data", "-c", told, "--out", out, "--json").json
        assert "npcs.json" in written["written"]
        for name in FILES:
            assert (out / name).read_bytes() == (told / "data" / name).read_bytes()

    def test_what_else_is_in_the_folder_is_left_alone(self, run: Run, told: Path, tmp_path: Path) -> None:
        """Files of other names stay as they are; one of a known name is set aside, and that is told."""
        out = tmp_path / "out"
        (out / "mine").mkdir(parents=True)
        (out / "notes.txt").write_text("mine")
        (out / "mine" / "npcs.json").write_text("mine")
        (out / "npcs.json").write_text('{"mine": {}}')
        answer = run("export", "data", "-c", told, "--out", out)
        assert answer.code == 0
        assert answer.err.startswith("note: kept another npcs.json that was there as ")
        aside = Path(
            answer.err.removeprefix("note: kept another npcs.json that was there as ").removesuffix("\n")
        )
        assert aside.read_text() == '{"mine": {}}'
        assert (out / "notes.txt").read_text() == (out / "mine" / "npcs.json").read_text() == "mine"

    def test_versions_of_something_else_are_not_taken_for_ours(
        self, run: Run, told: Path, tmp_path: Path
    ) -> None:
        """A folder with numbered versions of its own is refused, as old versions are taken away in time."""
        mine = [tmp_path / "out" / "versions" / str(number) / "mine.txt" for number in range(9)]
        for path in mine:
            path.parent.mkdir(parents=True)
            path.write_text("mine")
        answer = run("export", "data", "-c", told, "--out", tmp_path / "out")
        assert (answer.code, answer.out) == (1, "")
        assert "has versions of something else" in answer.err
        assert all(path.read_text() == "mine" for path in mine)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["versions"]

    def test_goes_nowhere_but_into_a_folder(self, run: Run, told: Path, tmp_path: Path) -> None:
        """A file in the place of the folder is a wrong call, and stays as it is."""
        (tmp_path / "file").write_text("mine")
        assert run("export", "data", "-c", told, "--out", tmp_path / "file").code == 2
        assert run("export", "data", "-c", told).code == 2
        assert (tmp_path / "file").read_text() == "mine"

    def test_export_import_export_is_the_same(self, run: Run, told: Path, tmp_path: Path) -> None:
        """The log carries all of it: imported elsewhere, it makes the same files, byte for byte."""
        run("compact", "-c", told)
        run("export", "log", "-c", told, "--out", tmp_path / "log.jsonl")
        run("new", tmp_path / "copy")
        run("import-log", tmp_path / "log.jsonl", "-c", tmp_path / "copy")
        for where, out in ((told, tmp_path / "a"), (tmp_path / "copy", tmp_path / "b")):
            run("export", "data", "-c", where, "--out", out)
        for name in FILES:
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.fixture
def cursed(hostile: Path) -> Path:
    """A hostile campaign with proposals that wait and others that were rejected, all of them hostile."""
    name = f"turn {HOSTILE}\nproposal_1"
    with Campaign.open(hostile) as campaign:
        campaign.compact(extractor=Proposes({HOSTILE: f"{HOSTILE}\nevt", "turn": name}, f"{HOSTILE}\n"))
        words = f"Elena is a priest {HOSTILE}\n\nproposal_2\r\n  forged"
        campaign.record(event(name, "dm", words, kind=EventType.DM_NARRATION, witnesses=["pc_zara_001"]))
        found = {"kind": "npc", "name": "Elena", "field": "role", "value": "priest", "turn": name}
        lies = {**found, "name": f"[red]{HOSTILE}\nx", "value": HOSTILE, "said_by": HOSTILE}
        campaign.compact(extractor=Proposes(found, lies), review=True)
        characters = hostile / "data" / "characters.json"
        written = json.loads(characters.read_text("utf-8"))
        written["pc_zara_001"]["facts"]["mood"]["value"] = f"{HOSTILE}\n[red]x"
        characters.write_text(json.dumps(written), encoding="utf-8")
        campaign.save_data()
    return hostile


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    "words",
    [("compact",), ("compaction",), ("compaction", "--rejected"), ("review", "list"), ("export", "data")],
    ids=" ".join,
)
def test_nothing_hostile_steers_the_terminal(
    run: Run, cursed: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    """Names, turns, proposals, reasons and edited files hold no control character when they are shown."""
    out = ("--out", cursed.parent / f"out {HOSTILE}") if words == ("export", "data") else ()
    answer = run(*words, *out, *form, "-c", cursed)
    assert answer.code == 0
    assert not STEERS.search(answer.out + answer.err)


def test_what_waits_cannot_forge_a_proposal(run: Run, cursed: Path) -> None:
    """At the edge of the list stand the ids and nothing else, with markup as it was written beneath."""
    shown = run("review", "list", "-c", cursed).out
    ids = [one["id"] for one in run("review", "list", "-c", cursed, "--json").json]
    assert len(ids) == 2
    assert [row for row in shown.splitlines() if not row.startswith("  ")] == ids
    assert "[bold]markup[/bold]" in shown
    assert "[red]x" in shown


def test_what_was_rejected_is_shown_as_it_was_written(run: Run, cursed: Path) -> None:
    """Markup is no markup, and a control character is spelled out or gone."""
    shown = run("compaction", "--rejected", "-c", cursed).out
    assert "[bold]" in shown
    assert "[red]" in shown


def test_hostile_ids_are_told_in_one_line(run: Run, cursed: Path) -> None:
    """An id that nobody has is quoted harmlessly, and so is a value that cannot be."""
    (first, *_) = [one["id"] for one in run("review", "list", "-c", cursed, "--json").json]
    for words in (
        ("accept", f"{HOSTILE}\n"),
        ("reject", HOSTILE),
        ("edit", HOSTILE, "--value", HOSTILE),
        ("edit", first, "--value", f"{HOSTILE}\n" * 99),
    ):
        answer = run("review", *words, "-c", cursed)
        assert answer.code == 1
        assert answer.err.count("\n") == 1
        assert not STEERS.search(answer.err)
