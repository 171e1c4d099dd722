"""The laws of memory over random campaigns: no leaks, and the same bytes rebuilt, copied, and in the past."""

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines import Counting
from tests.logs import NPCS, PCS, PLACES, logs, played
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, EventRefused
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory import MemoryManager
from dndbots.testing import as_text, assert_perspective, memory_campaign, perceived_only, perceivers

VIEWERS = [*PCS[:2], "npc_old_priest_001"]
# What people and the engine do in between: which of them, for whom, on which of the events so far.
deeds = st.tuples(
    st.sampled_from(["compress", "catch up", "pin", "lock", "forget", "correct", "shorten", "turn", "exit"]),
    st.sampled_from([DM, DM, *PCS, NPCS[1]]),
    st.integers(0, 40),
    st.booleans(),
)
plays = st.tuples(logs(most=12), st.lists(deeds, min_size=3, max_size=8))
WORDS = [
    "I promise to return.",
    "Elena owes me a favour.",
    "Nobody knows who rang the bell.",
    "The door opens.",
]


def some(examples: int) -> int:
    """So many by default, and as many times more as the profile asks for."""
    return max(1, settings().max_examples * examples // 100)


def remembered(campaign: Campaign, play: tuple[list[GameEvent], list[Any]]) -> Campaign:
    """A campaign in which things happened, and were summarised and decided on in between."""
    log, between = play
    campaign.record(event("evt_cast", DM, "The cast.", witnesses=[], discovered=[*PCS, *NPCS, *PLACES]))
    for number, one in enumerate(log):
        said = one.model_copy(update={"content": WORDS[number % len(WORDS)]}) if number % 2 else one
        with suppress(EventRefused):
            campaign.record(said)
        _do(campaign, *between[number % len(between)])
    return campaign


def _do(campaign: Campaign, what: str, viewer: str, number: int, one: bool) -> None:  # noqa: FBT001
    """A deed, or nothing where it makes no sense for this viewer and event."""
    try:
        with campaign.view(viewer) as view:
            events = list(view.events())
        target = events[number % len(events)].event_id if events else ""
        match what:
            case "compress":
                campaign.compress(viewer, retain=number % 3)
            case "shorten":
                state = campaign.game_state()
                for key, uid in state["agents"].items():
                    if uid == viewer:
                        MemoryManager(state).compress_long_term_summary(key)
            case "turn":
                campaign.remember(token_limit=60 + number)
            case "catch up":
                campaign.memory_service.catch_up(campaign)
            case "exit":
                campaign.memory_service.on_location_exit(campaign, PLACES[number % len(PLACES)])
            case "correct":
                campaign.correct(
                    target, f"Correction {number}." if number % 5 else None, viewer=viewer if one else None
                )
            case gate:
                getattr(campaign, gate)(target, on=bool(number % 4), viewer=viewer if one else None)
    except DndbotsError:
        pass


def views(table: Campaign, viewer: str, as_of: str | None = None) -> dict[str, Any]:
    """All that memory answers for a viewer."""
    found: dict[str, Any] = {
        "memory": table.memory(viewer, as_of=as_of),
        "carried": table.carried(viewer, as_of=as_of),
        "memories": table.memories(viewer, as_of=as_of),
        "threads": table.threads(viewer, resolved=True, as_of=as_of),
        "recap": table.recap(viewer, as_of=as_of),
        "context": table.context(viewer, 300, as_of=as_of),
        "large context": table.context(viewer, 3000, as_of=as_of),
        "asked": table.context(viewer, 500, query="Who owes Elena a favour?", as_of=as_of),
    }
    if as_of is None:
        found["callbacks"] = table.callbacks(viewer, limit=50)
        found["long recap"] = table.recap(viewer, length="long")
    return found


def told(table: Campaign, viewer: str, as_of: str | None = None) -> str:
    try:
        return as_text(views(table, viewer, as_of))
    except DndbotsError as exc:
        return repr(exc)


def everybody(campaign: Campaign) -> list[str]:
    with campaign.view(DM) as view:
        return [DM, *(uid for uid in view.everybody() if uid.startswith(("pc_", "npc_")))]


@settings(max_examples=some(15))
@given(plays)
def test_memory_owes_nothing_to_what_was_not_perceived(play: Any) -> None:
    """Buffers, memories, threads, recaps, contexts: view(log, v) == view(v's part, v)."""
    assert_perspective(remembered(memory_campaign(), play), views, viewers=VIEWERS)


@settings(max_examples=some(60))
@given(plays)
def test_a_model_makes_no_difference_to_the_law(play: Any) -> None:
    """The same where summaries are written by somebody else."""
    campaign = memory_campaign()
    campaign.summarizer = Counting()
    assert_perspective(remembered(campaign, play), views, viewers=PCS[:2])


@settings(max_examples=some(15))
@given(plays)
def test_memory_is_the_same_after_a_rebuild_and_in_a_copy(play: Any) -> None:
    """Same log, same bytes, without asking a summarizer; and log and views agree."""
    campaign = memory_campaign()
    engine = campaign.summarizer = Counting()
    remembered(campaign, play)
    asked = len(engine.tasks)
    people = everybody(campaign)
    before = {viewer: told(campaign, viewer) for viewer in people}
    assert campaign.verify() == []
    campaign.rebuild()
    assert {viewer: told(campaign, viewer) for viewer in people} == before
    assert campaign.verify() == []
    copy = memory_campaign()
    copy.import_log(campaign.export())
    assert {viewer: told(copy, viewer) for viewer in people} == before
    assert copy.game_state()["agent_memories"] == campaign.game_state()["agent_memories"]
    assert len(engine.tasks) == asked


@settings(max_examples=some(12))
@given(plays, st.integers(0, 60))
def test_the_past_is_as_it_was(play: Any, number: int) -> None:
    """As of an event, a fork at it, and the campaign when it was there, remember the same."""
    campaign = memory_campaign()
    campaign.summarizer = Counting()
    remembered(campaign, play)
    log = list(campaign.events(viewer=DM))
    cut = number % len(log)
    then = log[cut].event_id
    shorter = memory_campaign()
    shorter.replay(log[: cut + 1])
    fork = campaign.fork("then", at=then)
    for viewer in (DM, *PCS[:2]):
        assert told(fork, viewer) == told(shorter, viewer)
        if viewer == DM or viewer in {who for one in log[cut : cut + 1] for who in _people(one)}:
            asked = {
                key: value
                for key, value in _parts(shorter, viewer).items()
                if key in _parts(campaign, viewer, then)
            }
            assert _parts(campaign, viewer, then) == asked
    assert fork.verify() == []


def _people(one: GameEvent) -> set[str]:
    known = one.known
    return {one.source, *known.participants, *known.told_to, *(known.witnesses or ())}


def _parts(table: Campaign, viewer: str, as_of: str | None = None) -> dict[str, str]:
    try:
        return {name: as_text(answer) for name, answer in views(table, viewer, as_of).items()}
    except DndbotsError as exc:
        return {"refused": repr(exc)}


@settings(max_examples=some(10))
@given(plays, deeds)
def test_what_is_done_with_a_fork_stays_in_it(play: Any, deed: Any) -> None:
    """Compressing, remembering and deciding on a branch change nothing on the other."""
    campaign = remembered(memory_campaign(), play)
    people = everybody(campaign)
    before = {viewer: told(campaign, viewer) for viewer in people}
    fork = campaign.fork("aside")
    _do(fork, *deed)
    for viewer in people:
        fork.compress(viewer)
    fork.memory_service.catch_up(fork)
    assert {viewer: told(campaign, viewer) for viewer in people} == before
    assert campaign.verify() == []
    assert fork.verify() == []


@settings(max_examples=some(60))
@given(log=logs(most=16))
def test_what_the_engine_remembers_for_somebody_is_the_same_in_a_world_without_the_rest(
    log: list[GameEvent],
) -> None:
    """Not only what a note says: that it was made, when, and how it is called tell nothing unperceived."""
    whole = played(memory_campaign(), log)
    for viewer in PCS:
        world = played(memory_campaign(), list(whole.events(viewer=DM)))
        part = perceived_only(whole, viewer)
        for campaign in (world, part):
            if viewer in perceivers(campaign):
                campaign.remember(token_limit=300)
                campaign.compress(viewer, token_limit=300)
        if viewer in perceivers(part):
            assert list(world.export(viewer=viewer)) == list(part.export(viewer=viewer))
