"""Layers of summaries: bounded, without holes, and never of the same events twice, whatever dies when."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines import Counting, Dying, Killed
from tests.storage.writers import Child
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import StaleNote
from dndbots.events import EventType, GameEvent
from dndbots.memory import Line, MemoryManager, Summarizer, context_manager
from dndbots.memory.entries import SummaryTask
from dndbots.memory.notes import make_note
from dndbots.memory.summaries import compression
from dndbots.memory.summaries.compression import compression_steps, shortening_steps, split_scenes
from dndbots.memory.summaries.layers import (
    LAYERS,
    MOST_ARCS,
    MOST_SCENES,
    MOST_SESSIONS,
    SUMMARY_SHARE,
    Merge,
    SummaryBlock,
    find_full_layer,
    find_oldest_merge,
    room_for,
)
from dndbots.memory.summaries.parallel import run_compressions
from dndbots.testing import memory_campaign

THROK, ZARA = "pc_throk_001", "pc_zara_001"
VIEWERS = ("dm", THROK, ZARA)
MOST = MOST_SCENES + MOST_SESSIONS + MOST_ARCS + 2


# The pure part.


def scene_block(number: int, session: str, *, locked: bool = False) -> SummaryBlock:
    return SummaryBlock(
        f"b{number}", "scene", session, str(number), str(number + 1), f"Scene {number}.", locked
    )


def merged(blocks: list[SummaryBlock], merge: Merge, name: str) -> list[SummaryBlock]:
    """Return the summaries after a merge: the new one takes the position of its first part."""
    first, last = merge.blocks[0], merge.blocks[-1]
    made = SummaryBlock(name, merge.layer, last.session, first.after, last.upto, name)
    place = blocks.index(first)
    rest = [one for one in blocks if one not in merge.blocks]
    return [*rest[:place], made, *rest[place:]]


def settle(blocks: list[SummaryBlock], session: str, name: str) -> list[SummaryBlock]:
    """All merges that are due. They must come to an end."""
    for turn in range(100):
        merge = find_full_layer(blocks, session)
        if merge is None:
            return blocks
        blocks = merged(blocks, merge, f"{name}.{turn}")
    pytest.fail("the merges do not end")


def check_tiled(blocks: list[SummaryBlock]) -> None:
    """Free summaries follow each other without gap or overlap, locked ones aside."""
    free = [one for one in blocks if not one.locked]
    held = {n for one in blocks if one.locked for n in range(int(one.after or 0), int(one.upto))}
    for one, other in pairwise(free):
        assert int(one.upto) <= int(other.after or 0)
        assert set(range(int(one.upto), int(other.after or 0))) <= held
    assert all(int(one.after or 0) < int(one.upto) for one in free)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 19).map(lambda n: n == 0)), max_size=150))
def test_layers_stay_bounded_and_leave_no_holes(steps: list[tuple[int, bool]]) -> None:
    """Over any run of scenes, sessions and locks: few summaries stand, and they tile what was played."""
    blocks: list[SummaryBlock] = []
    session = 0
    for number, (skip, locked) in enumerate(steps):
        session += skip == 3
        blocks.append(scene_block(number, f"s{session}", locked=locked))
        blocks = settle(blocks, f"s{session}", f"m{number}")
        assert len([one for one in blocks if not one.locked]) <= MOST
        check_tiled(blocks)
    free = [one for one in blocks if not one.locked]
    played = [n for n, (_, locked) in enumerate(steps) if not locked]
    if free:
        covered = {n for one in free for n in range(int(one.after or 0), int(one.upto))}
        assert set(played) <= covered


@given(st.lists(st.tuples(st.sampled_from(LAYERS), st.integers(0, 2), st.booleans()), max_size=30))
def test_merges_come_to_an_end_however_the_layers_stand(given_blocks: list[tuple[Any, int, bool]]) -> None:
    """Also in an order that no campaign makes; what is locked is in none, and what merges is a run."""
    blocks = [
        scene_block(n, f"s{session}", locked=locked)._replace(layer=layer)
        for n, (layer, session, locked) in enumerate(given_blocks)
    ]
    free = [one for one in blocks if not one.locked]
    for merge in (find_full_layer(blocks, "s2"), find_oldest_merge(blocks)):
        if merge is not None:
            assert not any(one.locked for one in merge.blocks)
            places = [free.index(one) for one in merge.blocks]
            assert places == list(range(places[0], places[-1] + 1))
    left = settle(blocks, "s2", "m")
    assert [one for one in left if one.locked] == [one for one in blocks if one.locked]
    while (merge := find_oldest_merge(blocks)) and len(merge.blocks) > 1:
        blocks = merged(blocks, merge, f"{len(blocks)}")
    assert len([one for one in blocks if not one.locked]) <= 1


def test_a_session_that_is_over_becomes_one_summary() -> None:
    """Its scenes and whatever was made of it before; the session that is played stays in scenes."""
    first = [scene_block(n, "s1") for n in range(3)]
    merge = find_full_layer([*first, scene_block(3, "s2")], "s2")
    assert merge == Merge("session", tuple(first))
    assert find_full_layer([scene_block(n, "s1") for n in range(MOST_SCENES)], "s1") is None
    assert find_full_layer([], "s1") is None


def test_all_layers_together_have_their_share_of_the_limit() -> None:
    """As many as can stand at once, each as long as it may be, for small limits and large."""
    for limit in (4_000, 8_000, 100_000):
        most = (
            MOST_SCENES * room_for("scene", limit)
            + (MOST_SESSIONS + 1) * room_for("session", limit)
            + MOST_ARCS * room_for("arc", limit)
            + room_for("campaign", limit)
        )
        assert most <= limit * SUMMARY_SHARE
    assert all(room_for(layer, 10) > 0 for layer in LAYERS)


def test_scenes_end_with_the_session_the_place_and_when_they_are_long() -> None:
    """Every event is in one scene, in order."""
    log = [event(f"a{n}", THROK, "x", location="loc_inn_001") for n in range(7)]
    log += [event(f"b{n}", THROK, "x", location="loc_mill_001") for n in range(2)]
    log += [event(f"c{n}", THROK, "x", session="s02") for n in range(130)]
    made = list(split_scenes(log))
    assert [one.event_id for scene in made for one in scene] == [one.event_id for one in log]
    assert [len(scene) for scene in made] == [7, 2, 60, 60, 10]


# Behind a campaign.


def check_notes(campaign: Campaign, *, read_whole: bool = True) -> None:
    """For everybody: the standing summaries cover what was perceived up to the cursor, each event once.

    Where the summarizer names all that it read, each summary was also made from all of its span.
    """
    for viewer in VIEWERS:
        with campaign.view(viewer) as view:
            shelf = view.shelf(viewer, "summary")
            played = [one for _, one in view.play()]
            notes = {one.event_id: one for one in view.events() if one.event_type is EventType.SUMMARY}
        ids = [one.event_id for one in played]
        buffer = campaign.carried(viewer).ids
        if shelf is None:
            assert list(buffer) == ids
            continue
        done = ids.index(shelf.cursor) + 1
        assert list(buffer) == ids[done:]
        assert _covered([notes[name] for name in shelf.standing], ids) == ids[:done]
        for layer in LAYERS:
            made = [
                one for one in notes.values() if _note(one).layer == layer and _note(one).holder == viewer
            ]
            check_spans(made, ids, read_whole=read_whole)


def check_spans(made: list[GameEvent], ids: list[str], *, read_whole: bool) -> None:
    """Scenes of a layer follow each other, and no source lies outside of its span."""
    if made and _note(made[0]).layer == "scene":
        spans = [_covered([one], ids) for one in made if one.known.memory]
        told = [name for span in spans for name in span]
        assert told == ids[: len(told)]
    for one in made:
        sources = {name for line in _note(one).line_sources for name in line}
        assert sources <= set(_covered([one], ids))
        assert not read_whole or sources == set(_covered([one], ids))


def _note(one: GameEvent) -> Any:
    return one.known.memory


def _covered(notes: list[GameEvent], ids: list[str]) -> list[str]:
    found = []
    for one in notes:
        after = ids.index(_note(one).after) + 1 if _note(one).after else 0
        found += ids[after : ids.index(_note(one).upto) + 1]
    return found


def scene_of(number: int, session: int) -> list[GameEvent]:
    """Four events: for both, for Throk, for Zara, for the DM alone."""
    seen = ([THROK, ZARA], [THROK], [ZARA], [])
    return [
        event(f"e{number}_{n}", "dm", f"Deed {number} {n} is done.", session=f"s{session}", witnesses=who)
        for n, who in enumerate(seen)
    ]


def played(scenes_played: int = 40, *, in_a_session: int = 3, summarizer: Any = None) -> Campaign:
    campaign = memory_campaign()
    campaign.summarizer = summarizer or Counting()
    for number in range(scenes_played):
        campaign.record_many(scene_of(number, number // in_a_session))
        for viewer in VIEWERS:
            campaign.compress(viewer, retain=number % 3)
    return campaign


@pytest.mark.parametrize("in_a_session", [1, 3, 100])
def test_summaries_tile_what_each_agent_perceived(in_a_session: int) -> None:
    """No event is skipped or told twice, for the DM and for everybody, through all layers."""
    campaign = played(30, in_a_session=in_a_session)
    check_notes(campaign)
    with campaign.view(THROK) as view:
        shelf = view.shelf(THROK, "summary")
    assert shelf is not None
    assert len(shelf.standing) <= MOST
    layers = {
        _note(one).layer for one in campaign.events(viewer=THROK) if one.event_type is EventType.SUMMARY
    }
    assert {"scene", "session", "arc"} <= layers if in_a_session < 100 else {"scene", "session"} <= layers
    assert campaign.verify() == []


def test_every_layer_is_made_from_events_and_not_from_summaries() -> None:
    """A summarizer always reads the words of the log."""
    engine = Counting()
    campaign = played(20, summarizer=engine)
    said = {one.content for one in campaign.events(viewer="dm") if not one.is_note}
    assert all(entry.text in said for task in engine.tasks for entry in task.entries)
    assert all(entry.event_id for task in engine.tasks for entry in task.entries)


class Brief(Counting):
    """Tells of the first few things only, each with its source."""

    def summarize(self, task: SummaryTask) -> list[Line]:
        self.tasks.append(task)
        return [Line(one.text, (one.event_id,)) for one in task.entries[:3]]


def test_what_is_read_for_the_campaign_does_not_grow_with_it() -> None:
    """Its summary is made anew from what it was made of and from what came since, not from the whole log."""
    engine = Brief()
    campaign = played(130, in_a_session=1, summarizer=engine)
    check_notes(campaign, read_whole=False)
    notes = [one for one in campaign.events(viewer=THROK) if one.event_type is EventType.SUMMARY]
    made = [one for one in notes if _note(one).layer == "campaign"]
    assert len(made) > 5
    # The oldest of what was ever told is still told.
    assert all(one.content.startswith("Deed 0 0 is done.") for one in made)
    most = max(len(task.entries) for task in engine.tasks if task.agent == THROK)
    arcs = [len(_covered([one], _heard(campaign))) for one in notes if _note(one).layer == "arc"]
    assert most <= 3 * max(arcs) + 3


class Unsourced(Counting):
    """Tells of the last thing only, and not from which event it knows it."""

    def summarize(self, task: SummaryTask) -> list[Line]:
        self.tasks.append(task)
        return [Line(task.entries[-1].text, ())]


def test_a_summary_that_does_not_say_what_it_was_made_of_is_made_from_all_of_it() -> None:
    """Nothing that ever happened is out of reach because a summarizer named no sources."""
    engine = Unsourced()
    campaign = played(60, in_a_session=1, summarizer=engine)
    with campaign.view(THROK) as view:
        shelf = view.shelf(THROK, "summary")
        assert shelf is not None
        layers = [_note(view.by_id([one])[one]).layer for one in shelf.standing]
    assert layers.count("campaign") == 1
    largest = max((task for task in engine.tasks if task.agent == THROK), key=lambda task: len(task.entries))
    assert [one.event_id for one in largest.entries] == _heard(campaign)[: len(largest.entries)]
    assert len(largest.entries) > 60


def _heard(campaign: Campaign) -> list[str]:
    return [one.event_id for one in campaign.events(viewer=THROK) if not one.is_note]


def test_a_span_that_says_nothing_moves_the_cursor_and_leaves_no_summary() -> None:
    """Silence is not summarised, and does not stop what comes after it."""
    silent = [event(f"q{n}", "dm", "", witnesses=[THROK]) for n in range(5)]
    campaign = memory_campaign(silent)
    campaign.summarizer = Counting()
    assert campaign.compress(THROK) == ""
    campaign.record(event("e1", "dm", "A bell.", witnesses=[THROK], session="s02"))
    assert campaign.compress(THROK) == "1 things, the last being A bell.."
    assert campaign.carried(THROK).ids == ()
    assert campaign.verify() == []


@pytest.mark.parametrize("words", [2, 400])
def test_a_model_that_fails_at_layers_leaves_them_for_later(words: int) -> None:
    """Scenes are made, layers are not; when too many wait, they are made without it, and lose nothing."""
    engine = Counting()

    def fail_at_layers(task: Any) -> None:
        if len(task.entries) > 1:
            raise RuntimeError("too long for me")

    campaign = memory_campaign()
    campaign.summarizer = engine
    for number in range(50):
        engine.then = None
        text = f"Deed {number}. " + "It went on. " * words
        campaign.record(event(f"e{number}", "dm", text, witnesses=[THROK], session=f"s{number // 3}"))
        engine.then = fail_at_layers
        campaign.compress(THROK)
    with campaign.view(THROK) as view:
        shelf = view.shelf(THROK, "summary")
        assert shelf is not None
        notes = view.by_id(shelf.standing)
    assert words > 2 or len(shelf.standing) <= 41
    assert _covered([notes[name] for name in shelf.standing], [f"e{n}" for n in range(50)]) == [
        f"e{n}" for n in range(50)
    ]
    assert campaign.verify() == []


# Programs that die, and programs at the same time.


def _work(table: Any, engine: Any) -> None:
    for viewer in VIEWERS:
        run_compressions(
            {viewer: compression_steps(table, viewer, retain=1, token_limit=400)}, Summarizer.of(engine)
        )
    run_compressions({THROK: shortening_steps(table, THROK, token_limit=400)}, Summarizer.of(engine))


def _before() -> Campaign:
    campaign = memory_campaign()
    campaign.summarizer = Counting()
    for number in range(9):
        campaign.record_many(scene_of(number, number // 2))
        if number < 6:
            campaign.compress(THROK)
    return campaign


def test_dying_between_any_two_steps_skips_and_doubles_nothing() -> None:
    """However far a compression came, the next one goes on from there and ends where it would have."""
    whole = _before()
    _work(whole, Counting())
    deaths = 0
    for step in range(100):
        campaign = _before()
        try:
            _work(Dying(campaign, step), Counting())
        except Killed:
            deaths += 1
            check_notes(campaign)
            _work(campaign, Counting())
        check_notes(campaign)
        for viewer in ("dm", ZARA):
            assert campaign.carried(viewer) == whole.carried(viewer)
        assert campaign.verify() == []
        if deaths <= step:
            break
    assert deaths >= 8


def test_dying_while_a_model_is_asked_skips_and_doubles_nothing() -> None:
    """The same, at the n-th question."""
    for step in range(100):
        campaign = _before()
        engine = Counting()

        def die(_task: Any, engine: Counting = engine, step: int = step) -> None:
            if len(engine.tasks) > step:
                raise Killed

        engine.then = die
        try:
            _work(campaign, engine)
            break
        except Killed:
            check_notes(campaign)
            _work(campaign, Counting())
            check_notes(campaign)
    assert step >= 8


def test_two_who_compress_the_same_agent_double_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At every question of the one the other one goes ahead, and still each event is told once."""
    with Campaign.open(tmp_path / "c") as one, Campaign.open(tmp_path / "c") as other:
        for number in range(6):
            one.record_many(scene_of(number, number // 2))
        other.summarizer = Counting()
        one.summarizer = Counting(then=lambda _task: other.compress(THROK))
        one.compress(THROK)
        assert [said for said in caplog.messages if THROK in said and "another writer" in said]
        check_notes(one)
        check_notes(other)
        assert one.carried(THROK) == other.carried(THROK)
        assert one.verify() == []
        one.record_many(scene_of(6, 3))
        context_manager(one.game_state())
        check_notes(other)


def test_a_note_that_comes_too_late_is_refused() -> None:
    """A note made from an outdated shelf changes nothing on it."""
    campaign = _before()
    with campaign.view(THROK) as view:
        old = view.shelf(THROK, "summary")
        assert old is not None
        first, second, *_ = (view.by_id([name])[name] for name in old.standing)
        end = view.by_id([second.known.memory.upto])[second.known.memory.upto]  # type: ignore[union-attr]
    MemoryManager(campaign.game_state()).compress_long_term_summary("throk")
    with campaign.view(THROK) as view:
        now = view.shelf(THROK, "summary")
    assert now is not None
    assert now.cursor == old.cursor
    late = make_note(
        THROK, "summary", old, lines=[Line("Late.", ())], upto=end, after=None, layer="arc",
        replaces=[first.event_id, second.event_id],
    )  # fmt: skip
    with pytest.raises(StaleNote):
        campaign.record(late)
    with campaign.view(THROK) as view:
        assert view.shelf(THROK, "summary") == now


def test_a_killed_program_leaves_memory_that_goes_on(tmp_path: Path) -> None:
    """SIGKILL at any moment of play and compression: nothing skipped, nothing twice, views and log agree."""
    where = tmp_path / "c"
    for seed in range(2):
        with Child("compress", where, f"kill{seed}") as child:
            child.wait_until_ready()
            child.go()
            child.wait_for_lines(2 + seed)
            time.sleep(0.02 * seed)
            child.kill()
        with Campaign.open(where) as campaign:
            check_notes(campaign, read_whole=False)
            assert campaign.verify() == []
            for viewer in VIEWERS:
                campaign.compress(viewer)
                assert campaign.carried(viewer).ids == ()
            check_notes(campaign, read_whole=False)


def test_a_span_of_which_all_fits_is_not_read_again_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that keeps every entry of every part makes the span no shorter: then it is read once more."""

    class KeepsAll:
        waits = False
        asked = 0

        def summarize(self, task: SummaryTask) -> list[Line]:
            self.asked += 1
            if self.asked > 100:
                raise Killed  # it would go on like this
            return [Line(entry.text, (entry.event_id,)) for entry in task.entries]

    monkeypatch.setattr(compression, "_PART", 5)
    campaign = memory_campaign([event(f"e{n}", "dm", f"Door {n} opens.", witnesses=[]) for n in range(30)])
    campaign.summarizer = KeepsAll()
    campaign.start_session("s02")
    [block] = campaign.summaries("dm")
    assert (block.layer, block.text.count("opens")) == ("session", 30)
