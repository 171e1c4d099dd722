"""log, timeline, entity, who-knows: what each viewer may see, and in which shape."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import Run

from dndbots import Campaign, GameEvent


@pytest.mark.parametrize("command", ["log", "timeline", "entity", "recap", "memories", "threads"])
def test_a_viewer_must_be_named(run: Run, campaign: Path, command: str) -> None:
    """Nobody is the DM by default: without --as it is a wrong call, and nothing is shown."""
    answer = run(command, "-c", campaign)
    assert (answer.code, answer.out) == (2, "")
    assert "--as" in answer.err


@pytest.mark.parametrize("command", ["log", "timeline", "entity", "recap", "memories", "threads"])
def test_an_unknown_viewer_sees_nothing(run: Run, campaign: Path, command: str) -> None:
    """Somebody whom the campaign does not know is refused in one line that names those it knows."""
    answer = run(command, "--as", "Nobody", "-c", campaign)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: no character has the name 'Nobody'; choose Throk, Zara or dm")
    assert answer.err.count("\n") == 1


def test_an_ambiguous_viewer_is_told_the_candidates(run: Run, campaign: Path) -> None:
    """A name that two have is refused with the uids of both."""
    answer = run("timeline", "--as", "guard", "-c", campaign)
    assert answer.code == 1
    assert answer.err == "error: 'guard' may be npc_guard_001 or npc_guard_002; use the uid\n"


def test_log_shows_events_as_they_are_stored(run: Run, campaign: Path) -> None:
    """In JSON, a line for each event, and each line makes the stored event again."""
    answer = run("log", "--as", "dm", "-c", campaign, "--json")
    lines = [GameEvent.model_validate(json.loads(line)) for line in answer.out.splitlines()]
    with Campaign.open(campaign) as opened:
        assert lines == list(opened.events(viewer="dm"))


def test_log_shows_only_what_was_perceived(run: Run, campaign: Path) -> None:
    """Throk was not in the cave, so the cave is not in his log."""
    dms, throks = (run("log", "--as", who, "-c", campaign).out for who in ("dm", "throk"))
    assert "evt_2  player_action  by pc_zara_001  in s01\n    I creep into the cave.\n" in dms
    assert '"location": "loc_cave_001"' in dms
    assert "cave" not in throks
    assert "Two guards" in throks


def test_log_last_is_the_newest(run: Run, campaign: Path) -> None:
    """--last takes from the end, oldest first."""
    lines = run("log", "--as", "dm", "--last", "2", "-c", campaign, "--json").out.splitlines()
    assert [json.loads(line)["event_id"] for line in lines] == ["evt_3", "evt_4"]


@pytest.mark.parametrize("command", ["log", "timeline"])
@pytest.mark.parametrize("last", ["0", "-1", "many", "9" * 30])
def test_a_last_that_is_no_number_of_events(run: Run, campaign: Path, command: str, last: str) -> None:
    """Nothing, less than nothing, a word, or more than any log has: wrong calls."""
    assert run(command, "--as", "dm", "--last", last, "-c", campaign).code == 2


def test_timeline_shows_who_text_and_place(run: Run, campaign: Path) -> None:
    """A line has the speaker's name, what happened and where; sessions are headed."""
    out = run("timeline", "--as", "zara", "-c", campaign).out
    assert out.startswith("s01:\n")
    assert ["Zara", "I", "creep", "into", "the", "cave.", "Cold", "Cave"] in map(str.split, out.splitlines())
    assert "s02:\n" in out
    assert "guards" not in out


def test_timeline_fits_eighty_columns(run: Run, campaign: Path) -> None:
    """Long text wraps and is whole; no line is wider than the terminal."""
    words = [f"word{number}" for number in range(60)]
    path = campaign.parent / "long.jsonl"
    path.write_text(json.dumps({"speaker": "Zara", "text": " ".join(words), "location": "The Inn"}))
    run("import", path, "-c", campaign)
    out = run("timeline", "--as", "zara", "--last", "1", "-c", campaign).out
    assert max(map(len, out.splitlines())) <= 80
    assert [word for word in out.split() if word.startswith("word")] == words


def test_timeline_in_json(run: Run, campaign: Path) -> None:
    """A list of moments, in the names that the viewer knows."""
    (moment,) = run("timeline", "--as", "zara", "--last", "1", "-c", campaign, "--json").json
    assert moment == {
        "event_id": "evt_3",
        "kind": "dm_narration",
        "session": "s02",
        "turn": None,
        "time": None,
        "who": "DM",
        "where": None,
        "text": "He cheers up.",
        "to": [],
    }


def test_timeline_about_somebody_and_as_of(run: Run, campaign: Path) -> None:
    """--about takes what concerned somebody, --as-of ends the log earlier."""

    def ids(*words: str) -> list[str]:
        moments = run("timeline", "--as", "dm", *words, "-c", campaign, "--json").json
        return [moment["event_id"] for moment in moments]

    assert ids() == ["evt_1", "evt_2", "evt_3", "evt_4"]
    assert ids("--about", "Grimfang") == ["evt_2", "evt_3"]
    assert ids("--as-of", "evt_2") == ["evt_1", "evt_2"]
    assert ids("--about", "Grimfang", "--as-of", "evt_2") == ["evt_2"]


def test_an_event_that_is_not_there(run: Run, campaign: Path) -> None:
    """--as-of an unknown event is refused, not ignored."""
    answer = run("timeline", "--as", "dm", "--as-of", "evt_9", "-c", campaign)
    assert answer == (1, "", "error: there is no event 'evt_9' in this branch of the log\n")


def test_entity_as_the_viewer_knows_it(run: Run, campaign: Path) -> None:
    """Zara saw Grimfang, and is shown all she saw; to Throk there is no such person."""
    zaras = run("entity", "grimfang", "--as", "zara", "-c", campaign)
    assert zaras.out.startswith("Grimfang (npc_grimfang_001)\n  category: NPC\n  also called: Old Fang\n")
    assert ["mood", "merry", "fact", "evt_3"] in map(str.split, zaras.out.splitlines())
    throks = run("entity", "grimfang", "--as", "throk", "-c", campaign)
    assert throks == (
        1,
        "",
        "error: throk knows nothing called 'grimfang'; `dndbots entity --as throk` lists all names\n",
    )


def test_entity_history_has_what_ended(run: Run, campaign: Path) -> None:
    """With --history, an earlier fact is shown with the event that superseded it."""
    shown = run("entity", "grimfang", "--as", "zara", "--history", "-c", campaign).out
    assert ["mood", "sour", "fact", "evt_2", "evt_3"] in map(str.split, shown.splitlines())
    told = run("entity", "grimfang", "--as", "zara", "--history", "-c", campaign, "--json").json
    moods = [fact["value"] for fact in told["history"] if fact["key"] == "mood"]
    assert moods == ["sour", "merry"]


def test_entity_in_json(run: Run, campaign: Path) -> None:
    """One document with what the facade answers; as of an event, what was so then."""
    told = run("entity", "grimfang", "--as", "zara", "-c", campaign, "--json").json
    with Campaign.open(campaign) as opened:
        assert told == opened.entity("grimfang", viewer="zara").model_dump(mode="json")
    assert told["properties"] == {"gold": 7, "mood": "merry"}
    earlier = run("entity", "grimfang", "--as", "zara", "--as-of", "evt_2", "-c", campaign, "--json").json
    assert earlier["properties"] == {"mood": "sour"}


def test_entities_are_listed(run: Run, campaign: Path) -> None:
    """Without a name, all that the viewer knows of, or those of a category in any case."""

    def uids(viewer: str, *words: str) -> list[str]:
        found = run("entity", "--as", viewer, *words, "-c", campaign, "--json").json
        return [one["uid"] for one in found]

    assert uids("dm", "--category", "npc") == ["npc_grimfang_001", "npc_guard_001", "npc_guard_002"]
    assert uids("throk", "--category", "NPC") == ["npc_guard_001", "npc_guard_002"]
    assert "loc_cave_001" in uids("zara")
    assert uids("dm", "--category", "QST") == []
    table = run("entity", "--as", "zara", "-c", campaign).out
    assert ["npc_grimfang_001", "Grimfang", "loc_cave_001"] in map(str.split, table.splitlines())
    assert run("entity", "--as", "dm", "--category", "QST", "-c", campaign).out == "nothing is known yet\n"


@pytest.mark.parametrize(
    "words", [("--category", "DRAGON"), ("Zara", "--category", "PC"), ("--history",)], ids=" ".join
)
def test_options_of_entity_that_do_not_go_together(run: Run, campaign: Path, words: tuple[str, ...]) -> None:
    """A category that is none, a category of one, a history of nobody: wrong calls, exit code 2."""
    answer = run("entity", *words, "--as", "dm", "-c", campaign)
    assert (answer.code, answer.out) == (2, "")


def test_who_knows_a_place(run: Run, campaign: Path) -> None:
    """By uids or by names: who holds that Grimfang is in the cave."""
    for place in ("loc_cave_001", "cold cave"):
        found = run("who-knows", "npc_grimfang_001", "@", place, "-c", campaign, "--json").json
        assert [one["holder"] for one in found] == ["npc_grimfang_001", "pc_zara_001"]
    assert run("who-knows", "grimfang", "@", "The Inn", "-c", campaign, "--json").json == []


def test_who_knows_a_property(run: Run, campaign: Path) -> None:
    """Without a value, all who hold anything, with what they hold: Grimfang still thinks himself sour."""
    found = run("who-knows", "Grimfang", "mood", "-c", campaign, "--json").json
    assert {one["holder"]: one["fact"]["value"] for one in found} == {
        "npc_grimfang_001": "sour",
        "pc_zara_001": "merry",
    }
    (merry,) = run("who-knows", "Grimfang", "mood", "merry", "-c", campaign, "--json").json
    assert merry["holder"] == "pc_zara_001"
    shown = run("who-knows", "Grimfang", "mood", "merry", "-c", campaign).out
    assert ["Zara", "merry", "fact", "perceived", "evt_3"] in map(str.split, shown.splitlines())
    assert max(map(len, shown.splitlines())) <= 80


def test_who_knows_a_number_and_as_of(run: Run, campaign: Path) -> None:
    """A number is asked for as a number, and --as-of asks an earlier log."""
    assert len(run("who-knows", "Grimfang", "gold", "7", "-c", campaign, "--json").json) == 1
    assert run("who-knows", "Grimfang", "gold", "8", "-c", campaign, "--json").json == []
    answer = run("who-knows", "Grimfang", "gold", "7", "--as-of", "evt_2", "-c", campaign)
    assert answer == (0, "no character knows this\n", "")


def test_an_operator_is_no_option(run: Run, campaign: Path) -> None:
    """`->` begins like an option and is taken as what it is."""
    words = ("who-knows", "npc_guard_001", "->", "npc_guard_002")
    found = run(*words, "-c", campaign, "--json").json
    assert [one["holder"] for one in found] == ["npc_guard_001", "npc_guard_002", "pc_throk_001"]


def test_who_knows_of_nobody(run: Run, campaign: Path) -> None:
    """A subject or an object that is nobody, and half a question, are errors in one line."""
    for words in (("Nobody", "mood"), ("Grimfang", "@", "Nowhere"), ("Grimfang", "->")):
        answer = run("who-knows", *words, "-c", campaign)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error: ")
        assert answer.err.count("\n") == 1
