"""Compression: what is summarised, what stays, who is touched by it, and what happens when it fails."""

import logging
import threading
from contextlib import suppress
from typing import Any

import pytest
from tests.engines import Counting
from tests.table import event
from tests.waiting import HANG, hang, only_what_hangs_times_out

from dndbots.events import EventType, GameEvent
from dndbots.memory import (
    MAX_COMPRESSION_PASSES,
    RETAIN_AFTER_COMPRESSION,
    AgentMemory,
    CharacterFacts,
    GameState,
    MemoryManager,
    Summarizer,
    context_manager,
    estimate_tokens,
    format_character_facts,
)
from dndbots.memory.agents import manager as manager_module
from dndbots.testing import memory_campaign
from dndbots.tokens import count_tokens

THROK, ZARA = "pc_throk_001", "pc_zara_001"
BOTH = [THROK, ZARA]


class Writer:
    """Somebody else's summarizer, as the document has it."""

    waits = False

    def __init__(self, *answers: str) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.answers = list(answers)

    def generate_summary(self, agent_name: str, entries: list[str]) -> str:
        self.asked.append((agent_name, entries))
        return self.answers.pop(0) if self.answers else "Things were said about words."


def entries(count: int, words: int = 10) -> list[str]:
    return [f"[Throk]: I say number {n}" + " and words" * ((words - 5) // 2) for n in range(count)]


def bare(summarizer: Any = None, **memories: AgentMemory) -> GameState:
    return {"agent_memories": memories, "summarizer": summarizer or Counting()}


def full(limit: int = 100, summary: str = "") -> AgentMemory:
    """A buffer of 130 tokens."""
    return AgentMemory(short_term_buffer=entries(10), token_limit=limit, long_term_summary=summary)


def play(
    count: int, *, start: int = 0, session: str = "s01", words: int = 8, **metadata: Any
) -> list[GameEvent]:
    metadata = metadata or {"participants": BOTH}
    return [
        event(f"{session}_{n:04d}", THROK, f"Deed {n} " + "word " * words, session=session, **metadata)
        for n in range(start, start + count)
    ]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


# On a bare state.


def test_the_constants_are_at_hand() -> None:
    """Three entries stay, two passes at most, and both can be read from outside."""
    assert (RETAIN_AFTER_COMPRESSION, MAX_COMPRESSION_PASSES) == (3, 2)
    assert manager_module.MAX_COMPRESSION_PASSES == 2


def test_a_full_buffer_becomes_a_summary_before_the_turn() -> None:
    """All but the newest three entries are summarised and gone from the buffer; the new state fits."""
    engine = Counting()
    state = bare(engine, dm=AgentMemory(), throk=full())
    after = context_manager(state)["agent_memories"]["throk"]
    assert after.short_term_buffer == entries(10)[-3:]
    assert after.long_term_summary == "7 things, the last being I say number."
    assert [one.text for one in engine.tasks[0].entries] == [
        one.removeprefix("[Throk]: ") for one in entries(10)[:7]
    ]
    assert {one.who for one in engine.tasks[0].entries} == {"Throk"}
    assert not MemoryManager({"agent_memories": {"throk": after}}).is_total_context_over_limit("throk")


def test_an_older_summary_stays_before_the_newer_one() -> None:
    """A new summary is added to the old one and does not replace it."""
    after = context_manager(bare(throk=full(summary="I was born.")))["agent_memories"]["throk"]
    assert after.long_term_summary == "I was born.\n7 things, the last being I say number."


def test_a_buffer_below_the_threshold_is_left_alone() -> None:
    """Nothing is asked of the summarizer, and nothing changes."""
    engine = Counting()
    state = bare(engine, dm=AgentMemory(), throk=full(limit=1000), zara=AgentMemory(short_term_buffer=["x"]))
    assert context_manager(state)["agent_memories"] == state["agent_memories"]
    assert engine.tasks == []


def test_a_buffer_longer_than_a_prompt_shows_is_due() -> None:
    """Else what is older than the ten shown would be neither shown nor summarised."""
    state = bare(throk=AgentMemory(short_term_buffer=[f"e{n}" for n in range(11)]))
    after = context_manager(state)["agent_memories"]["throk"]
    assert after.short_term_buffer == ["e8", "e9", "e10"]
    assert after.long_term_summary.startswith("8 things")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_few_entries_are_not_summarised(count: int) -> None:
    """Nothing beyond what is retained: an empty answer, no question, no change."""
    engine = Counting()
    state = bare(engine, throk=AgentMemory(short_term_buffer=entries(count), token_limit=1))
    assert MemoryManager(state).compress_buffer("throk") == ""
    assert engine.tasks == []
    assert state["agent_memories"]["throk"].short_term_buffer == entries(count)


def test_how_many_are_retained_is_the_callers() -> None:
    """Down to none, and what is below none is none."""
    for retain, left in ((0, 0), (1, 1), (-1, 0), (9, 9), (20, 10)):
        state = bare(throk=full())
        MemoryManager(state).compress_buffer("throk", retain)
        assert len(state["agent_memories"]["throk"].short_term_buffer) == left


def test_compressing_gives_the_new_summary() -> None:
    """The returned summary covers this compression alone; the memory keeps the earlier one."""
    state = bare(throk=full(summary="I was born."))
    assert MemoryManager(state).compress_buffer("throk") == "7 things, the last being I say number."
    shorter = MemoryManager(bare(Writer("Born, and said words."), throk=full(summary="I was born. " * 30)))
    assert shorter.compress_long_term_summary("throk") == "Born, and said words."
    assert shorter.get_long_term_summary("throk") == "Born, and said words."
    assert shorter.compress_long_term_summary("nobody") == ""


def test_a_summarizer_of_somebody_elses_gets_name_and_texts() -> None:
    """As the document calls it: the agent's name, and the entries as they stand in the buffer."""
    writer = Writer()
    context_manager(bare(writer, throk=full()))
    assert writer.asked[0] == ("throk", entries(10)[:7])


def test_the_state_that_was_given_is_not_changed() -> None:
    """A new state comes back; memories, buffers and flags of the old one are as they were."""
    state = bare(dm=AgentMemory(), throk=full(), zara=full(summary="Old."))
    before = {key: memory.model_copy(deep=True) for key, memory in state["agent_memories"].items()}
    after = context_manager(state)
    assert state["agent_memories"] == before
    assert "summarization_in_progress" not in state
    assert after is not state
    assert after["summarization_in_progress"] is False
    after["agent_memories"]["dm"].short_term_buffer.append("x")
    assert state["agent_memories"]["dm"].short_term_buffer == []


def test_the_state_says_that_it_is_being_summarised(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it runs and only then, also if it breaks off."""
    seen: list[GameState] = []

    class Watched(MemoryManager):
        def __init__(self, state: GameState, summarizer: Any = None) -> None:
            seen.append(state)
            super().__init__(state, summarizer)

    def look(_task: Any) -> None:
        flags.append(seen[0]["summarization_in_progress"])
        raise KeyboardInterrupt

    flags: list[bool] = []
    monkeypatch.setattr(manager_module, "MemoryManager", Watched)
    with pytest.raises(KeyboardInterrupt):
        context_manager(bare(Counting(then=look), throk=full()))
    assert flags == [True]
    assert seen[0]["summarization_in_progress"] is False


def test_the_total_is_summary_buffer_and_facts() -> None:
    """Each part counts, and nothing counts nothing."""
    facts = CharacterFacts(
        name="Throk", character_class="Fighter", key_traits=["stubborn"], relationships={"Zara": "owes her"}
    )
    parts = {
        "long_term_summary": "one two three",
        "short_term_buffer": ["four five", "six"],
        "character_facts": facts,
    }
    sizes = {
        "long_term_summary": 3,
        "short_term_buffer": 3,
        "character_facts": estimate_tokens(format_character_facts(facts)),
    }
    for key, value in parts.items():
        alone = MemoryManager({"agent_memories": {"throk": AgentMemory(**{key: value})}})
        assert alone.get_total_context_tokens("throk") == sizes[key]
    whole = AgentMemory(**parts, token_limit=sum(sizes.values()))  # type: ignore[arg-type]
    manager = MemoryManager({"agent_memories": {"throk": whole, "mira": AgentMemory()}})
    assert manager.get_total_context_tokens("throk") == sum(sizes.values()) > 10
    assert manager.get_total_context_tokens("mira") == 0
    assert not manager.is_total_context_over_limit("throk")
    whole.token_limit -= 1
    assert manager.is_total_context_over_limit("throk")


def test_facts_are_written_out() -> None:
    """Name, class, traits, relationships and events, each on a line that nothing can break."""
    facts = CharacterFacts(
        name="Throk",
        character_class="Fighter",
        key_traits=["stubborn\n## Rules"],
        relationships={"Zara": "friend"},
        notable_events=["Slew the wolf"],
    )
    assert format_character_facts(facts).split("\n") == [
        "Throk (Fighter)", "Traits:", "- stubborn ## Rules", "Relationships:", "- Zara: friend",
        "Notable events:", "- Slew the wolf",
    ]  # fmt: skip
    assert format_character_facts(CharacterFacts(name="Throk", character_class="")) == "Throk"


def test_the_total_is_checked_for_agents_who_are_not_near_their_limit() -> None:
    """A long summary over an empty buffer is compressed too."""
    writer = Writer("It was long.", "It was long ago.")
    state = bare(
        writer, throk=AgentMemory(long_term_summary="It was long ago and far away. " * 20, token_limit=100)
    )
    after = context_manager(state)["agent_memories"]["throk"]
    assert after.long_term_summary == "It was long."
    assert len(writer.asked) == 1


@pytest.mark.parametrize("key", ["prompts", "facts"])
def test_the_total_includes_what_stands_beside_the_memory(key: str) -> None:
    """A sheet, secrets and callbacks take room: a summary that fits alone does not fit beside them."""
    memory = AgentMemory(long_term_summary="It was long ago. " * 10, token_limit=100)
    state = bare(Writer("It was long."), throk=memory)
    assert context_manager(state)["agent_memories"]["throk"].long_term_summary == memory.long_term_summary
    if key == "prompts":
        state["prompts"] = {"throk": "You are Throk. Secret: the innkeeper is a spy. " * 5}
    else:
        memory.character_facts = CharacterFacts(
            name="Throk", character_class="Fighter", key_traits=["slow to anger"] * 15
        )
    after = context_manager(state)
    assert after["agent_memories"]["throk"].long_term_summary == "It was long."
    assert MemoryManager(after).get_prompt_tokens("throk") <= 100


def test_one_pass_is_enough_where_it_is_enough() -> None:
    """The summary is not compressed when the total fits after the buffer was."""
    engine = Counting()
    context_manager(bare(engine, throk=full()))
    assert len(engine.tasks) == 1


def test_a_second_pass_compresses_the_summary() -> None:
    """If the total is still over the limit after the buffer was compressed."""
    writer = Writer("I said words.", "Then, and words.")
    after = context_manager(bare(writer, throk=full(summary="Then I said words. " * 40)))["agent_memories"][
        "throk"
    ]
    assert [len(texts) for _, texts in writer.asked] == [7, 2]
    assert after.long_term_summary == "Then, and words."


def test_passes_are_limited_and_then_the_oldest_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    """A summary that gets no shorter is asked for twice and no more; then the newest part of it stays."""
    engine = Counting(failing=["throk"])
    summary = "\n".join(f"Line {n} of it." for n in range(60))
    after = context_manager(bare(engine, throk=AgentMemory(long_term_summary=summary, token_limit=100)))
    kept = after["agent_memories"]["throk"].long_term_summary
    assert len(engine.tasks) == MAX_COMPRESSION_PASSES * 2  # each in two attempts
    assert kept.endswith("Line 59 of it.")
    assert summary.endswith(kept)
    assert 50 < count_tokens(kept) <= 100
    manager = MemoryManager(after)
    assert not manager.is_total_context_over_limit("throk")
    assert manager.get_prompt_tokens("throk") <= 100
    assert any("throk" in said and "100" in said and "oldest" in said for said in warnings(caplog))


def test_the_number_of_passes_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constant of the module is what counts."""
    monkeypatch.setattr(manager_module, "MAX_COMPRESSION_PASSES", 0)
    engine = Counting()
    context_manager(bare(engine, throk=AgentMemory(long_term_summary="word " * 500, token_limit=100)))
    assert engine.tasks == []


@pytest.mark.parametrize("answer", ["", "   ", None, 7])
def test_a_failure_is_warned_of_and_loses_nothing(caplog: pytest.LogCaptureFixture, answer: Any) -> None:
    """Empty or broken answers: a warning with the agent and the reason; buffer and summary as they were."""
    state = bare(Writer(answer, answer, answer, answer), throk=full(limit=150, summary="I was born."))
    manager = MemoryManager(state)
    assert manager.compress_buffer("throk") == ""
    assert manager.compress_long_term_summary("throk") == ""
    assert state["agent_memories"]["throk"] == full(limit=150, summary="I was born.")
    assert len(warnings(caplog)) == 2
    assert all("throk" in said and said.rpartition(": ")[2].strip() for said in warnings(caplog))


def test_the_reason_of_a_failure_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """The warning holds the error that the summarizer raised."""
    MemoryManager(bare(Counting(failing=["throk"]), throk=full())).compress_buffer("throk")
    assert warnings(caplog) == ["the memory of throk was not summarised: RuntimeError: no model today"]


def test_a_summary_that_gets_longer_is_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Compressing a summary makes it shorter or leaves it."""
    summary = "word " * 40
    state = bare(
        Writer("word " * 39 + "word and word and word and word"), throk=AgentMemory(long_term_summary=summary)
    )
    MemoryManager(state).compress_long_term_summary("throk")
    assert count_tokens(state["agent_memories"]["throk"].long_term_summary) <= count_tokens(summary)
    assert (
        "throk" in "".join(warnings(caplog))
        or count_tokens(state["agent_memories"]["throk"].long_term_summary) < 40
    )


def test_a_failing_summarizer_throws_no_entry_away() -> None:
    """However long it fails, every entry is still in the buffer, and is summarised once it works again."""
    engine = Counting(failing=["throk"])
    state = bare(engine, throk=AgentMemory(token_limit=200))
    said = entries(60)
    for one in said:
        MemoryManager(state).add_to_buffer("throk", one)
        state = context_manager(state)
        assert MemoryManager(state).get_prompt_tokens("throk") <= 200
    assert state["agent_memories"]["throk"].short_term_buffer == said
    engine.failing.clear()
    engine.tasks.clear()
    state = context_manager(state)
    assert len(engine.tasks[0].entries) == 57
    assert state["agent_memories"]["throk"].short_term_buffer == said[-3:]


def test_a_summary_is_not_lost_to_a_buffer_that_is_too_long(caplog: pytest.LogCaptureFixture) -> None:
    """If the buffer alone is over the limit, the summary stays: cutting it would not help."""
    memory = full(summary="I was born in the hills.")
    after = context_manager(bare(Counting(failing=["throk"]), throk=memory))
    assert after["agent_memories"]["throk"] == memory
    assert MemoryManager(after).get_prompt_tokens("throk") <= 100
    assert any("over its limit" in said for said in warnings(caplog))


def test_everything_reaches_the_summarizer_once() -> None:
    """Over two hundred turns no entry is skipped, cut or read twice on its way out of the buffer."""
    engine = Counting()
    state = bare(engine, dm=AgentMemory(), throk=AgentMemory(token_limit=120))
    said = [f"[Throk]: deed {n} " + "x" * 60 for n in range(200)]
    for one in said:
        MemoryManager(state).add_to_buffer("throk", one)
        state = context_manager(state)
        manager = MemoryManager(state)
        assert manager.get_prompt_tokens("throk") <= 120
        assert len(manager.get_buffer_entries("throk", limit=99)) <= 10
    read = [
        f"[Throk]: {entry.text}"
        for task in engine.tasks
        for entry in task.entries
        if entry.text.startswith("deed")
    ]
    left = state["agent_memories"]["throk"].short_term_buffer
    assert read + left == said
    assert estimate_tokens(state["agent_memories"]["throk"].long_term_summary) <= 120


def test_a_long_input_is_read_whole() -> None:
    """A thousand long entries, none shortened, none left out."""
    engine = Counting()
    said = [f"[Throk]: {n} " + "word " * 300 for n in range(1000)]
    MemoryManager(bare(engine, throk=AgentMemory(short_term_buffer=said))).compress_buffer("throk")
    assert [str(one) for one in engine.tasks[0].entries] == said[:-3]


# Isolation.


def hanging(agent: str) -> tuple[Any, threading.Event]:
    """A summarizer that never answers for one agent."""
    free = threading.Event()

    def wait(task: Any) -> None:
        if task.agent == agent:
            hang(free)

    engine = Counting(then=wait)
    engine.waits = True
    return Summarizer(engine, timeout=0.2, attempts=1), free


@pytest.mark.parametrize("how", ["fails", "hangs", "raises in the state"])
def test_one_agents_failure_changes_nothing_for_the_others(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their memories are the same, byte for byte, as in a run where the one has nothing to compress."""

    def others(state: GameState) -> dict[str, str]:
        after = context_manager(state)["agent_memories"]
        return {key: memory.model_dump_json() for key, memory in after.items() if key != "throk"}

    table = {
        "dm": full(),
        "throk": full(),
        "zara": full(summary="Hers."),
        "mira": AgentMemory(short_term_buffer=["x"]),
    }
    without = others(bare(Counting(), **{**table, "throk": AgentMemory(short_term_buffer=entries(10)[-3:])}))
    free = threading.Event()
    if how == "fails":
        summarizer: Any = Counting(failing=["throk"])
    elif how == "hangs":
        only_what_hangs_times_out(monkeypatch)
        summarizer, free = hanging("throk")
    else:
        summarizer = Counting()
        is_due = MemoryManager._is_due

        def refuse(self: MemoryManager, key: str) -> bool:
            if key == "throk":
                raise manager_module.SummaryFailed(agent=key, reason="broken")
            return is_due(self, key)

        monkeypatch.setattr(MemoryManager, "_is_due", refuse)
    try:
        assert others(bare(summarizer, **table)) == without
    finally:
        free.set()


def test_compressing_one_agent_leaves_the_others_alone() -> None:
    """By name, on a bare state and behind a campaign."""
    state = bare(throk=full(), zara=full())
    MemoryManager(state).compress_buffer("throk")
    assert state["agent_memories"]["zara"] == full()
    campaign = memory_campaign(play(20))
    before = {who: campaign.memory(who).model_dump_json() for who in ("dm", ZARA)}
    campaign.compress(THROK, retain=3)
    assert {who: campaign.memory(who).model_dump_json() for who in ("dm", ZARA)} == before


def test_agents_who_wait_wait_side_by_side() -> None:
    """Three agents behind a model that needs time take about as long as one."""
    meeting = threading.Barrier(3, timeout=HANG)
    engine = Counting(then=lambda _task: meeting.wait())
    engine.waits = True
    after = context_manager(bare(Summarizer(engine, attempts=1), a=full(), b=full(), c=full()))
    assert all(memory.long_term_summary for memory in after["agent_memories"].values())


# Behind a campaign.


def test_without_a_model_scenes_are_noted_together_and_with_one_each_at_once() -> None:
    """In the same order either way: who waits for a model loses none of what it made."""
    logs, transactions = [], []
    for waits in (True, False):
        engine = Counting()
        engine.waits = waits
        campaign = memory_campaign([one for n in range(4) for one in play(12, session=f"s{n}")])
        campaign.summarizer = engine
        heard: list[list[GameEvent]] = []
        campaign.listen(heard.append)
        context_manager(campaign.game_state(token_limit=200))
        logs.append([one.event_id for one in campaign.events(viewer="dm")])
        transactions.append(len(heard))
    assert logs[0] == logs[1]
    assert transactions[1] < transactions[0]


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()])
def test_what_was_made_before_a_summarizer_breaks_is_noted(error: BaseException) -> None:
    """After a failure or an interruption, the finished scenes stay summarised."""

    def breaks_at_last(task: Any) -> None:
        if task.entries[0].session == "s2":
            raise error

    campaign = memory_campaign([one for n in range(4) for one in play(12, session=f"s{n}")])
    campaign.summarizer = Counting(then=breaks_at_last)
    with suppress(KeyboardInterrupt):
        campaign.compress(THROK, retain=3)
    with campaign.view(THROK) as view:
        notes = [one for one in view.events() if one.is_note]
    assert [one.session_id for one in notes[:2]] == ["s0", "s1"]


def test_behind_a_campaign_the_same_holds_and_the_log_keeps_everything() -> None:
    """The newest three stay in each buffer, the rest is a summary, and every event is still there."""
    campaign = memory_campaign(play(20))
    state = campaign.game_state(token_limit=200)
    after = context_manager(state)
    for key in ("dm", "throk", "zara"):
        assert after["buffer_ids"][key] == ("s01_0017", "s01_0018", "s01_0019")
        assert len(state["agent_memories"][key].short_term_buffer) == 20
        assert after["agent_memories"][key].long_term_summary
        assert after["agent_memories"][key] == campaign.memory(after["agents"][key], token_limit=200)
    assert len([one for one in campaign.events(viewer=THROK) if not one.is_note]) == 20
    assert campaign.verify() == []


def test_a_small_buffer_behind_a_campaign_is_left_alone() -> None:
    """Also if something in it says nothing: such an event does not make it due."""
    silent = event("silent", "dm", "", participants=BOTH)
    campaign = memory_campaign([silent, *play(5)])
    head = campaign.head
    after = context_manager(campaign.game_state())
    assert len(after["agent_memories"]["throk"].short_term_buffer) == 5
    assert campaign.head == head


def test_what_each_agent_perceived_reaches_its_summary_once() -> None:
    """Over 180 turns in three sessions: nothing skipped, nothing twice, nothing of anybody else's."""
    engine = Counting()
    campaign = memory_campaign()
    campaign.summarizer = engine
    scenes: list[Any] = []
    engine.then = lambda task: scenes.append((task.agent, [one.event_id for one in task.entries]))
    for n in range(180):
        who = [BOTH, [THROK], [ZARA], []][n % 4]
        session = f"s{n // 60}"
        campaign.record(event(f"e{n:03d}", "dm", f"Thing {n} happens here.", witnesses=who, session=session))
        if n % 5 == 4:
            context_manager(campaign.game_state(token_limit=400))
    for agent, uid in (("dm", "dm"), ("throk", THROK), ("zara", ZARA)):
        notes = [
            one.known.memory for one in campaign.events(viewer=uid) if one.event_type is EventType.SUMMARY
        ]
        spans = [note for note in notes if note and note.holder == uid and note.layer == "scene"]
        told = [source for note in spans for line in note.line_sources for source in line]
        buffer = campaign.game_state()["buffer_ids"][agent]
        assert [*told, *buffer] == [one.event_id for one in campaign.events(viewer=uid) if not one.is_note]
        assert count_tokens(campaign.memory(uid).long_term_summary) <= 400
    assert campaign.verify() == []


def test_summaries_stay_bounded_over_hundreds_of_turns() -> None:
    """Their size and number do not grow with the campaign."""
    engine = Counting()
    campaign = memory_campaign(play(1, session="s000"))
    campaign.summarizer = engine
    sizes = []
    for session in range(40):
        campaign.record_many(play(12, session=f"s{session:03d}", start=1, words=2, participants=[THROK]))
        context_manager(campaign.game_state(token_limit=600))
        sizes.append(len(campaign.memory(THROK).long_term_summary.split("\n")))
        assert MemoryManager(campaign.game_state(token_limit=600)).get_prompt_tokens("throk") <= 600
    assert max(sizes) <= 20


def test_a_failing_summarizer_behind_a_campaign_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The cursor stays, a warning names agent and reason, prompts fit, and later all of it is summarised."""
    engine = Counting(failing=["dm", THROK, ZARA])
    campaign = memory_campaign(play(40))
    campaign.summarizer = engine
    state = context_manager(campaign.game_state(token_limit=200))
    for key, uid in (("dm", "dm"), ("throk", THROK), ("zara", ZARA)):
        assert any(uid in said and "no model today" in said for said in warnings(caplog))
        assert len(state["agent_memories"][key].short_term_buffer) == 40
        assert MemoryManager(state).get_prompt_tokens(key) <= 200
    assert campaign.head == 40
    engine.failing.clear()
    engine.tasks.clear()
    context_manager(campaign.game_state(token_limit=200))
    assert engine.read_by(THROK)[:37] == [f"s01_{n:04d}" for n in range(37)]


def test_the_oldest_layer_is_rebuilt_from_its_events() -> None:
    """Shortening behind a campaign reads what happened, not what was said about it; and gets shorter."""
    engine = Counting()
    campaign = memory_campaign(play(30, words=3))
    campaign.summarizer = engine
    for _ in range(3):
        campaign.record_many(play(10, start=campaign.head * 100, words=3))
        campaign.compress(THROK)
    engine.tasks.clear()
    state = campaign.game_state()
    before = state["agent_memories"]["throk"].long_term_summary
    made = MemoryManager(state).compress_long_term_summary("throk")
    played = [one.event_id for one in campaign.events(viewer=THROK) if not one.is_note]
    assert engine.read_by(THROK) == played
    assert state["agent_memories"]["throk"].long_term_summary == made
    assert len(made) < len(before)


def test_names_quests_relationships_and_belongings_survive_any_summary() -> None:
    """They are canon: a summarizer that forgets everything cannot lose them, nor can another session."""
    campaign = memory_campaign(
        [
            event("f1", "dm", "You meet.", participants=BOTH, names={THROK: "Throk", ZARA: "Zara"}, facts=[
                {"subject": THROK, "op": "~", "object": ZARA},
                {"subject": THROK, "key": "class", "value": "Fighter"},
                {"subject": THROK, "key": "sworn_to", "value": "the bell"},
            ]),
            event("f2", "dm", "A quest.", participants=BOTH, quest_id="qst_bell_001", quest_state="accepted",
                  names={"qst_bell_001": "The Silver Bell"}, kind=EventType.QUEST_UPDATE),
            event("f3", "dm", "A step.", participants=BOTH, quest_id="qst_bell_001",
                  objective_id="find the tower", objective_state="open", kind=EventType.QUEST_UPDATE),
            event("f4", "dm", "Loot.", participants=[THROK],
                  loot=[{"item": "rope", "quantity": 2, "to": THROK}]),
            *play(60),
        ]
    )  # fmt: skip
    campaign.summarizer = Writer(*["Nothing much."] * 99)
    for session in ("s02", "s03"):
        campaign.start_session(session)
        campaign.record_many(play(15, session=session))
    facts = campaign.memory(THROK).character_facts
    assert facts is not None
    assert (facts.name, facts.character_class) == ("Throk", "Fighter")
    assert facts.relationships == {"Zara": "linked with"}
    assert "carries rope x2" in facts.key_traits
    assert "sworn_to: the bell" in facts.key_traits
    assert facts.notable_events[0] == "Quest The Silver Bell (accepted): find the tower: open"
    assert facts.notable_events[1:] == ['Throk and Zara took on "The Silver Bell".']
    assert "Silver Bell" not in campaign.memory(THROK).long_term_summary
    assert MemoryManager(campaign.game_state()).get_total_context_tokens("throk") > 30


def test_no_relationship_hides_another() -> None:
    """Two of them with one, and one each with two of the same name, are all there."""
    goblins = {"npc_goblin_001": "Goblin", "npc_goblin_002": "Goblin", "fac_guild_001": "Guild"}
    facts = [{"subject": THROK, "op": "~", "object": other} for other in goblins]
    facts.append({"subject": THROK, "op": "in", "object": "fac_guild_001"})
    campaign = memory_campaign([event("f1", "dm", "x", participants=[THROK], names=goblins, facts=facts)])
    found = campaign.memory(THROK).character_facts
    assert found is not None
    assert found.relationships == {
        "Guild": "belongs to, linked with",
        "Goblin": "linked with",
        "Goblin (npc_goblin_002)": "linked with",
    }


def test_a_new_session_begins_with_summaries_and_facts_and_an_empty_buffer() -> None:
    """For the DM and for everybody, and all of the session before is in the summary."""
    engine = Counting()
    campaign = memory_campaign(play(5))
    campaign.summarizer = engine
    campaign.start_session("s02")
    for key, memory in campaign.game_state()["agent_memories"].items():
        assert memory.short_term_buffer == []
        assert memory.long_term_summary.startswith("5 things")
        assert key == "dm" or memory.character_facts is not None
    assert engine.read_by(THROK)[:5] == [f"s01_{n:04d}" for n in range(5)]
    campaign.record_many(play(2, session="s02"))
    after = context_manager(campaign.game_state())
    assert after["buffer_ids"]["throk"] == ("s02_0000", "s02_0001")


def test_a_session_that_begins_without_a_working_summarizer_loses_nothing() -> None:
    """The old entries stay in the buffers until they can be summarised, and then all are."""
    engine = Counting(failing=["dm", THROK, ZARA])
    campaign = memory_campaign(play(5))
    campaign.summarizer = engine
    campaign.start_session("s02", title="The crypt")
    assert campaign.game_state()["buffer_ids"]["throk"] == (
        *(f"s01_{n:04d}" for n in range(5)),
        "session_start_s02",
    )
    engine.failing.clear()
    engine.tasks.clear()
    after = context_manager(campaign.game_state())
    assert after["agent_memories"]["throk"].short_term_buffer == ["[DM]: The crypt"]
    assert engine.read_by(THROK)[:5] == [f"s01_{n:04d}" for n in range(5)]


def test_all_that_one_has_to_do_with_somebody_is_told() -> None:
    """Two relations to one person are two, and neither takes the place of the other."""
    related = [{"subject": "pc_throk_001", "op": op, "object": "pc_zara_001"} for op in ("~", "<-")]
    people = ["pc_throk_001", "pc_zara_001"]
    campaign = memory_campaign([event("e1", "dm", "Hm.", participants=people, facts=related)])
    facts = campaign.memory("pc_throk_001").character_facts
    assert facts is not None
    assert sorted(facts.relationships["Zara"].split(", ")) == ["caused by", "linked with"]
