"""Transcripts come in whole, once, with the right people perceiving each line."""

import multiprocessing
import random
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import AmbiguousName, InvalidTranscript, UnknownViewer
from dndbots.events import EventType, GameEvent
from dndbots.interop.transcripts import _Spool
from dndbots.testing import assert_perspective, memory_campaign


@pytest.fixture(params=["memory", "sqlite"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Campaign]:
    if request.param == "memory":
        yield memory_campaign()
    else:
        with Campaign.open(tmp_path / "campaign") as made:
            yield made


def line(speaker: Any, text: str = "Hello.", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, **more}


def seen(campaign: Campaign, viewer: str) -> list[str]:
    return [one.content for one in campaign.events(viewer=viewer)]


def test_only_speaker_and_text_are_required(campaign: Campaign) -> None:
    """People come to life on first mention, and are found by name in any case."""
    assert campaign.import_transcript([line("Zara"), line("Throk", "Hi.")]) == (2, 0)
    first, second = campaign.events(viewer="dm")
    assert (first.event_id, first.source, first.session_id) == ("transcript:1", "pc_zara_001", "transcript")
    assert (first.event_type, second.source) == (EventType.DIALOGUE, "pc_throk_001")
    assert campaign.entity("ZARA", viewer="throk").name == "Zara"
    assert campaign.verify() == []


def test_everything_in_a_line_is_kept(campaign: Campaign) -> None:
    """Its id, session, place, time and what is not known here."""
    campaign.import_transcript(
        [
            line("Matt", "A bell.", id="D1:3", session="s01", role="dm", location="Old Mill",
                 time="2026-05-01T10:00:00", mood="grim"),
            line("Hob", id="D1:4", session="s01", role="npc", time="dusk"),
        ]
    )  # fmt: skip
    bell, hob = campaign.events(viewer="dm")
    assert (bell.event_id, bell.source, bell.event_type) == ("D1:3", "dm", EventType.DM_NARRATION)
    assert (bell.metadata["location"], bell.metadata["transcript_mood"]) == ("loc_old_mill_001", "grim")
    assert bell.timestamp is not None
    assert bell.timestamp.hour == 10
    assert (hob.source, hob.metadata["transcript_time"], hob.timestamp) == ("npc_hob_001", "dusk", None)
    assert campaign.entity("old mill", viewer="Hob").uid == "loc_old_mill_001"


def test_the_dm_is_the_viewer_dm(campaign: Campaign) -> None:
    """A speaker with the role dm is the DM, also in a list and under that name as a viewer."""
    campaign.import_transcript(
        [line("MATT", role="dm", session="s"), line(["MATT", "LAURA"], "Together.", session="s")]
    )
    assert [one.source for one in campaign.events(viewer="matt")] == ["dm", "dm"]
    assert seen(campaign, "LAURA") == ["Hello.", "Together."]
    assert campaign.timeline(viewer="LAURA")[1].who == "DM and LAURA"


def test_who_speaks_in_a_session_perceives_it(campaign: Campaign) -> None:
    """Also what comes before their first line, in this call or an earlier one; other sessions not."""
    campaign.import_transcript([line("Zara", "one", session="s01"), line("Throk", "two", session="s01")])
    campaign.import_transcript(
        [line("Mira", "three", session="s01", id="x"), line("Hob", "four", session="s02")]
    )
    assert seen(campaign, "Zara") == seen(campaign, "Throk") == ["one", "two", "three"]
    assert seen(campaign, "Mira") == ["three"]
    assert seen(campaign, "Hob") == ["four"]


def test_witnesses_are_honoured(campaign: Campaign) -> None:
    """An aside reaches those it names; `ALL` is everybody of the session, as a speaker too."""
    campaign.import_transcript(
        [
            line("Zara", "open", session="s"),
            line("Zara", "aside", session="s", witnesses=["Throk"]),
            line("Throk", "to himself", session="s", witnesses=[]),
            line("Mira", "loud", session="s", witnesses=["ALL"]),
            line("ALL", "cheer", session="s"),
        ]
    )
    assert seen(campaign, "Mira") == ["open", "loud", "cheer"]
    assert seen(campaign, "Zara") == ["open", "aside", "loud", "cheer"]
    assert seen(campaign, "Throk") == ["open", "aside", "to himself", "loud", "cheer"]
    cheer = list(campaign.events(viewer="dm"))[-1]
    assert cheer.metadata["together"] == ["pc_mira_001", "pc_throk_001", "pc_zara_001"]
    assert_perspective(
        campaign, lambda table, viewer: [table.timeline(viewer=viewer), table.entities(viewer=viewer)]
    )


def test_a_name_is_told_to_all_who_hear_it(campaign: Campaign) -> None:
    """Somebody who was not there when a person first spoke still learns what the person is called."""
    campaign.import_transcript([line("李", "one", session="s", witnesses=["Zara"])])
    campaign.import_transcript([line("李", "two", session="s", id="2", witnesses=["Throk"])])
    assert campaign.timeline(viewer="Throk")[0].who == "李"
    for n in range(3, 30):
        campaign.import_transcript([line("李", "more", session="s", id=str(n), witnesses=["Throk"])])
    assert len(list(campaign._store.view_rows("names", 1))) == 4


def test_people_who_are_there_are_found(campaign: Campaign) -> None:
    """By a name, by what their uid says, by a name that was given to several; nobody is made twice."""
    campaign.record(
        GameEvent(
            event_id="e1",
            event_type=EventType.DM_NARRATION,
            source="dm",
            session_id="s",
            content="x",
            metadata={
                "participants": ["pc_throk_001", "npc_aldwin_001", "npc_a_001", "npc_b_001"],
                "names": {
                    "npc_aldwin_001": ["Aldwin", "the old priest"],
                    "npc_a_001": "Twin",
                    "npc_b_001": "Twin",
                },
            },
        )
    )
    campaign.import_transcript([line("Throk", id="a"), line("THE OLD PRIEST", id="b", witnesses=["New"])])
    assert [one.source for one in campaign.events(viewer="dm")][1:] == ["pc_throk_001", "npc_aldwin_001"]
    assert campaign.entity("npc_aldwin_001", viewer="New").name == "Aldwin"
    with pytest.raises(InvalidTranscript, match="may be npc_a_001 or npc_b_001"):
        campaign.import_transcript([line("Zara", id="c"), line("twin", id="d")])
    assert campaign.head == 3


def test_the_dead_may_speak_in_a_transcript(campaign: Campaign) -> None:
    """A transcript says what was said; it is not judged."""
    campaign.import_transcript([line("Zara", id="a")])
    campaign.record(
        GameEvent(event_id="e", event_type=EventType.DEATH, source="dm", session_id="s", content="x",
                  metadata={"killed": ["pc_zara_001"], "witnesses": []})
    )  # fmt: skip
    assert campaign.import_transcript([line("Zara", "Boo.", id="b")]).added == 1


def test_names_that_look_like_uids_are_names(campaign: Campaign) -> None:
    """Chat handles come in as they are."""
    campaign.import_transcript(
        [line("dark_lord_99", location="old_mill"), line("Matt", location="dark_lord_99")]
    )
    first, second = campaign.events(viewer="dm")
    assert (first.source, first.metadata["location"]) == ("pc_dark_lord_99_001", "loc_old_mill_001")
    assert second.metadata["location"] == "loc_dark_lord_99_001"
    assert len(list(campaign.events(viewer="dark_lord_99"))) == 2


def test_a_line_says_who_is_the_dm(campaign: Campaign) -> None:
    """A role counts for its line, and for lines that say nothing; a player of that name stays a player."""
    campaign.import_transcript(
        [
            line("Matt", "a", role="dm"),
            line("Matt", "b", role="pc"),
            line("Matt", "c"),
            line("DM", "d"),
            line("Sam", "e"),
        ]
    )
    sources = [one.source for one in campaign.events(viewer="dm")]
    assert sources == ["dm", "pc_matt_001", "dm", "dm", "pc_sam_001"]
    with pytest.raises(AmbiguousName, match="dm or pc_matt_001"):
        campaign.timeline(viewer="Matt")
    assert len(campaign.timeline(viewer="pc_matt_001")) == 5
    campaign.import_transcript([line("Sam", "f", role="dm", id="f")])
    assert [one.source for one in campaign.events(viewer="dm", last=1)] == ["dm"]


def test_many_audiences_are_no_trouble(campaign: Campaign) -> None:
    """Names are told to each person once, however the groups are mixed."""
    rng = random.Random(1)
    people = [f"P{n}" for n in range(30)]
    campaign.import_transcript(
        line(rng.choice(people), f"{n}", id=f"l{n}", witnesses=rng.sample(people, rng.randint(3, 15)))
        for n in range(1200)
    )
    names = Counter(row[1] for row in campaign._store.view_rows("names", 1))
    assert max(names.values()) <= 2 * len(people)


def test_the_same_line_comes_in_once(campaign: Campaign) -> None:
    """Again is skipped, in the same call and later; an id with other content is refused, and nothing kept."""
    lines = [line("Zara", f"line {n}", id=f"D1:{n}", session="s") for n in range(5)]
    assert campaign.import_transcript([*lines, lines[2]]) == (5, 1)
    assert campaign.import_transcript([*lines, line("Zara", "new", id="D1:9", session="s")]) == (1, 5)
    for other in (
        line("Zara", "other", id="D1:2", session="s"),
        line("Throk", "line 2", id="D1:2", session="s"),
    ):
        with pytest.raises(InvalidTranscript, match="line 2: id: 'D1:2'"):
            campaign.import_transcript([line("Zara", "newer", id="D1:10", session="s"), other])
    assert campaign.head == 6


def test_lines_without_ids_come_in_once_too(campaign: Campaign) -> None:
    """They are numbered in their session, so the same file again, grown, adds what is new."""
    lines = [line("Zara", f"line {n}", session="s") for n in range(5)]
    assert campaign.import_transcript(lines[:3]) == (3, 0)
    assert campaign.import_transcript(lines) == (2, 3)


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"text": "x"}, "speaker"),
        ({"speaker": "Zara"}, "text"),
        ({"speaker": [], "text": "x"}, "speaker"),
        ({"speaker": "\x1b[31m", "text": "x"}, "name"),
        ({"speaker": "Zara", "text": "x", "witnesses": ["a\nb"]}, "name"),
        ({"speaker": "Zara", "text": "x" * 102_401}, "text"),
        ({"speaker": "Zara", "text": "nul \x00"}, "text"),
        ({"speaker": "Zara", "text": "\ud800"}, "text"),
        ({"speaker": "Zara", "text": "x", "id": "\x00"}, "id"),
        ({"speaker": "Zara", "text": "x", "odd": {"deep": "\ud800"}}, "odd"),
        ({"speaker": "Zara", "text": "x", "witnesses": "Throk"}, "witnesses"),
        ({"speaker": "Zara", "text": "x", "odd": float("inf")}, "odd"),
        ({"speaker": "Zara", "text": "x", "a\x00b": 1}, "a"),
        (["Zara", "x"], "line"),
    ],
)
def test_a_bad_line_leaves_nothing(campaign: Campaign, bad: Any, field: str) -> None:
    """The error names line and field; what came before it is not written either."""
    good = [line("Zara", f"line {n}") for n in range(600)]
    with pytest.raises(InvalidTranscript, match=f"line 601: {field}"):
        campaign.import_transcript([*good, bad])
    assert campaign.head == 0


def test_a_speaker_may_be_a_uid(campaign: Campaign) -> None:
    """Somebody who is there already is not made again."""
    campaign.import_transcript([line("npc_elena_001"), line("dm", "Night falls.")])
    assert [one.source for one in campaign.events(viewer="dm")] == ["npc_elena_001", "dm"]
    with pytest.raises(UnknownViewer):
        campaign.events(viewer="Zara")


def test_an_interrupted_import_goes_on(campaign: Campaign) -> None:
    """An interrupted import keeps its lines; the same call again adds the rest, with progress."""
    lines = [line(f"P{n % 7}", f"line {n}", id=f"l{n}", session="s") for n in range(2500)]

    def stop(done: int, _total: int) -> None:
        if done >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign.import_transcript(iter(lines), progress=stop)
    assert 0 < campaign.head < 2500
    kept, seen_so_far = campaign.head, []
    told = campaign.import_transcript(
        iter(lines), progress=lambda done, total: seen_so_far.append((done, total))
    )
    assert told == (2500 - kept, kept)
    assert seen_so_far[-1] == (2500 - kept, 2500 - kept)
    assert seen(campaign, "P3") == [one["text"] for one in lines]
    assert campaign.verify() == []


def test_a_long_transcript_is_not_held_in_memory(tmp_path: Path) -> None:
    """A generator is read as it goes."""
    with Campaign.open(tmp_path / "campaign") as campaign:
        campaign.import_transcript([line("Zara", "warm up", id="w")])
        tracemalloc.start()
        campaign.import_transcript(line("Zara", f"{n} " + "x" * 5_000, id=f"l{n}") for n in range(6_000))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 25_000_000  # the text alone is 30 MB, and it is there twice


def _import(folder: str, first: int) -> None:
    with Campaign.open(folder) as campaign:
        for n in range(first, first + 40):
            campaign.import_transcript(
                [
                    line(f"Zára {n % 5}", f"line {n}", id=f"l{n}", session="s"),
                    line("Zara 1", id=f"m{n}", session="s"),
                ]
            )


def test_two_imports_at_once_share_their_people(tmp_path: Path) -> None:
    """The same name is the same person, whoever comes first; different names that look alike are two."""
    context = multiprocessing.get_context("spawn")
    jobs = [context.Process(target=_import, args=(str(tmp_path / "c"), first)) for first in (0, 40)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(HANG)
        assert job.exitcode == 0
    with Campaign.open(tmp_path / "c") as campaign:
        people = {one.name: one.uid for one in campaign.entities(viewer="dm")}
        assert sorted(people) == ["Zara 1", *(f"Zára {n}" for n in range(5))]
        assert len(set(people.values())) == 6
        assert campaign.verify() == []
        assert campaign.head == 160


def test_a_file_for_lines_can_go_before_it_has_its_parts() -> None:
    """Ctrl-C may come while it is made; what is left of it says nothing when it is thrown away."""
    half_made = _Spool.__new__(_Spool)
    half_made.close()
    assert half_made.closed
