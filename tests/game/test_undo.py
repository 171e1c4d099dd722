"""Undo: the last round was never played, as far as anybody remembers; and nothing is lost."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.views import all_views
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.compaction.data.files import data_path
from dndbots.errors import NothingToUndo, UnknownEntity
from dndbots.events import EventType, GameEvent
from dndbots.game.game import Game
from dndbots.game.undo import take_back
from dndbots.ids import DM
from dndbots.testing import as_text, memory_campaign


@pytest.fixture
def campaign() -> Iterator[Campaign]:
    with memory_campaign() as made:
        yield made


def begun(campaign: Campaign, *, seats: int = 2, seed: int = 1) -> Game:
    return Game.begin(campaign, module="apples_in_january", seed=seed, seats=seats)


def all_of(campaign: Campaign) -> list[str]:
    """The log, and what everybody is given to read and remembers, as text."""
    people = [DM, *(one.uid for one in campaign.entities(viewer=DM, category="PC"))]
    found = [event.model_dump_json() for event in campaign.events(viewer=DM)]
    for who in people:
        found += [
            as_text(campaign.context(who)),
            as_text(campaign.memory(who)),
            as_text(campaign.recap(who)),
            *map(as_text, campaign.memories(who)),
            *map(as_text, campaign.threads(who)),
        ]
    return found


def test_after_undo_everything_is_as_before_the_round(campaign: Campaign) -> None:
    """The log, contexts and memories of everybody, byte for byte; and the round can be played again."""
    game = begun(campaign)
    game.play(4)
    before = all_of(campaign)
    game.play(1)
    played = [event.model_dump_json(exclude={"seq"}) for event in campaign.events(viewer=DM)]
    taken = game.undo()
    assert (taken.round, taken.kept_as) == (5, "main.undone-1")
    assert all_of(campaign) == before
    assert game.round == 4
    game.play(1)
    assert [event.model_dump_json(exclude={"seq"}) for event in campaign.events(viewer=DM)] == played
    assert campaign.verify() == []


def test_who_is_first_met_in_a_round_that_is_undone_is_known_to_nobody(campaign: Campaign) -> None:
    """Neither as an entity nor by any other view; met again, it is as if it were the first time."""
    game = begun(campaign, seed=2)
    seats = {one.uid for one in campaign.entities(viewer=DM)}
    before = all_views(campaign)
    game.play(1, compact=False)
    met = {one.uid: one.name for one in campaign.entities(viewer=DM) if one.uid not in seats}
    people = [uid for uid in met if uid.startswith("npc_")]
    assert people
    assert any(met[uid] in view for uid in people for view in all_views(campaign).values())
    game.undo()
    assert all_views(campaign) == before
    for uid in people:
        with pytest.raises(UnknownEntity):
            campaign.entity(uid, viewer=DM)
        with pytest.raises(UnknownEntity):
            campaign.entity(met[uid], viewer=DM)


def test_undo_twice_takes_two_rounds_back(campaign: Campaign) -> None:
    """A state for each round, back to the beginning; then there is nothing left, and it says so."""
    game = begun(campaign)
    states = [all_of(campaign)]
    for _ in range(3):
        game.play(1)
        states.append(all_of(campaign))
    for number in (2, 1, 0):
        assert game.undo().round == number + 1
        assert all_of(campaign) == states[number]
    with pytest.raises(NothingToUndo, match="no round was played yet"):
        game.undo()
    assert all_of(campaign) == states[0]


def test_undo_across_a_session_start(campaign: Campaign) -> None:
    """The first round of a session leaves the session begun; the one before it takes that back, too."""
    game = begun(campaign)
    game.play(2)
    second = all_of(campaign)
    game.end_session()
    game.play(1)
    assert game.table.session == "s02"
    game.undo()
    assert (game.table.session, game.round) == ("s02", 2)
    game.undo()
    assert (game.table.session, game.round) == ("s01", 1)
    game.play(1)
    assert all_of(campaign) == second


def test_a_round_that_is_not_over_is_taken_back_first(campaign: Campaign) -> None:
    """A round that was left in the middle is the last one."""
    game = begun(campaign)
    game.play(1)
    before = all_of(campaign)
    game.play(1, watch=lambda _: game.pause())
    assert game.table.due() is not None
    assert game.undo().round == 2
    assert all_of(campaign) == before


def test_somebody_takes_back_the_round_in_which_it_acted(campaign: Campaign) -> None:
    """At the table in the middle of a round, the last turn of one's own is what one wants back."""
    game = begun(campaign)
    who = game.table.living()[0]
    game.play(1)
    before = all_of(campaign)
    game.play(1)
    game.play(1, watch=lambda _: game.pause())
    assert game.round == 3
    assert game.undo(who).round == 2
    assert all_of(campaign) == before
    game.undo(who)
    with pytest.raises(NothingToUndo, match="Throk has not acted yet"):
        game.undo(who)


def test_what_people_noted_between_two_rounds_stays(campaign: Campaign) -> None:
    """A round is taken back, and not what was decided before it began."""
    game = begun(campaign)
    game.play(1)
    last = [event for event in campaign.events(viewer=DM) if not event.is_note][-1]
    campaign.pin(last.event_id)
    before = [event.event_id for event in campaign.events(viewer=DM)]
    game.play(1)
    game.undo()
    assert [event.event_id for event in campaign.events(viewer=DM)] == before


def test_a_campaign_without_a_game_has_nothing_to_undo(campaign: Campaign) -> None:
    campaign.introduce("NPC", "Elena")
    with pytest.raises(NothingToUndo):
        take_back(campaign)


def test_files_of_campaign_data_follow(tmp_path: Path) -> None:
    """Compacted files belong to the branch that goes on; the undone branch has its own."""
    with Campaign.open(tmp_path / "apples") as campaign:
        game = begun(campaign)
        game.play(2, compact=False)
        campaign.compact()
        folder = data_path(tmp_path / "apples")
        before = {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix == ".json"}
        game.play(2, compact=False)
        campaign.compact()
        after = {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix == ".json"}
        assert after != before
        game.undo()
        taken = game.undo()
        assert {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix == ".json"} == before
        kept = data_path(tmp_path / "apples", "main.undone-1")
        assert {one.name: one.read_bytes() for one in kept.iterdir() if one.suffix == ".json"} == after
        assert taken.kept_as == "main.undone-2"
        assert campaign.verify() == []


def test_a_branch_that_was_undone_writes_into_its_own_files(tmp_path: Path) -> None:
    """A compaction of the undone branch never overwrites the branch that goes on."""
    with Campaign.open(tmp_path / "apples") as campaign, Campaign.open(tmp_path / "apples") as other:
        game = begun(campaign)
        game.play(3, compact=False)
        other.compact()
        game.undo()
        campaign.compact()
        folder = data_path(tmp_path / "apples")
        before = {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix == ".json"}
        other.record(_said("e", "Elena is a smith."))
        other.compact()
        assert other.branch == "main.undone-1"
        assert {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix == ".json"} == before


def test_undo_while_compaction_runs(tmp_path: Path) -> None:
    """Facts read in the meantime are noted in the branch where they were said, never in the other one."""
    reads, goes_on = threading.Event(), threading.Event()

    class Slow:
        def extract(self, *_: object, **__: object) -> list[object]:
            reads.set()
            assert goes_on.wait(HANG)
            return []

    with Campaign.open(tmp_path / "apples") as campaign:
        game = begun(campaign)
        game.play(2, compact=False)
        with Campaign.open(tmp_path / "apples") as other:
            compacts = threading.Thread(target=lambda: other.compact(extractor=Slow()))
            compacts.start()
            assert reads.wait(HANG)
            before = game.undo()
            log = [event.event_id for event in campaign.events(viewer=DM)]
            goes_on.set()
            compacts.join(HANG)
            assert other.branch == before.kept_as
        assert [event.event_id for event in campaign.events(viewer=DM)] == log
        assert game.play(2) == 2
        assert campaign.verify() == []


def test_another_process_that_plays_on_plays_what_was_undone(tmp_path: Path) -> None:
    """Two games at one campaign: each goes on with its own story, and both are whole."""
    with Campaign.open(tmp_path / "apples") as campaign, Campaign.open(tmp_path / "apples") as elsewhere:
        game = begun(campaign)
        game.play(2, compact=False)
        other = Game.resume(elsewhere)
        game.undo()
        other.play(1, compact=False)
        game.play(1, compact=False)
        assert (other.round, game.round) == (3, 2)
        assert elsewhere.branch == "main.undone-1"
        assert campaign.verify() == []


def _said(name: str, text: str) -> GameEvent:
    return GameEvent(
        event_id=name, event_type=EventType.DIALOGUE, source=DM, content=text, session_id="s01", metadata={}
    )
