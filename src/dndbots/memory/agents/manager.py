"""`MemoryManager`: buffers, summaries and contexts in a `GameState`; `context_manager`: the turn's check.

A bare state is changed in place. Behind a state that a campaign made stands the log: summaries are
recorded there, and the state is read again.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dndbots.errors import SummaryFailed
from dndbots.events import LONGEST_CONTENT, EventType, GameEvent
from dndbots.ids import DM, slug
from dndbots.memory.agents.agent_memory import format_character_facts, read_agent_memory
from dndbots.memory.entries import SummaryTask, entry_of, join_lines
from dndbots.memory.log_reader import LogReader
from dndbots.memory.notes import note_id
from dndbots.memory.summaries.compression import (
    SummaryWork,
    compression_steps,
    find_backlog,
    shortening_steps,
)
from dndbots.memory.summaries.fit import cut_end, cut_summary, pinned_of, share_room
from dndbots.memory.summaries.parallel import run_compressions
from dndbots.memory.summaries.summarizer import Summarizer
from dndbots.models import AgentMemory, GameState
from dndbots.storage.upkeep import Progress
from dndbots.text.clean import one_line
from dndbots.text.labels import write_id, write_label
from dndbots.tokens import count_many, count_tokens, estimate_tokens

log = logging.getLogger("dndbots.memory")

RETAIN_AFTER_COMPRESSION: Final = 3
MAX_COMPRESSION_PASSES = 2
DM_CONTEXT_RECENT_EVENTS_LIMIT: Final = 10
DM_CONTEXT_PLAYER_ENTRIES_LIMIT: Final = 3
PC_CONTEXT_RECENT_EVENTS_LIMIT: Final = 10

NEAR: Final = 0.8
# The share of a limit that a bare summary may take: there is no log to make it from again.
_BARE_SHARE: Final = 0.25
_LEAST_ROOM: Final = 40
_NEXT_ENTRY: Final = re.compile(r";\s*\[")


class MemoryManager:
    """The memories of all agents of a state. A character sees only its own, the DM sees all.

    Agents are found by key, or by a name with that slug: "Sir Roland" is `sir_roland`.
    """

    def __init__(self, state: GameState, summarizer: Any = None) -> None:
        self._state = state
        self._given = summarizer
        # Shared by the agents that `context_manager` checks together.
        self._reader: LogReader | None = None

    # Context.

    def get_context(self, agent_name: str) -> str:
        """Return an agent's memory as text for its prompt, within its limit; "" for an unknown agent."""
        key = self._key(agent_name)
        if key is None:
            return ""
        memory = self._state["agent_memories"][key]
        room = max(memory.token_limit - self._beside(key), 0)
        shown = self._shown(key)
        text = _context(key, memory.long_term_summary, shown, self._others(key))
        return text if count_tokens(text) <= room else self._fitted(key, room)

    def _shown(self, key: str) -> list[str]:
        """Return the newest buffer entries, each on one line so that none can pass for another."""
        limit = DM_CONTEXT_RECENT_EVENTS_LIMIT if key == DM else PC_CONTEXT_RECENT_EVENTS_LIMIT
        return [one_line(entry) for entry in self._state["agent_memories"][key].short_term_buffer[-limit:]]

    def _others(self, key: str) -> list[str]:
        """Return a line on what each other agent knows; only the DM gets any."""
        if key != DM:
            return []
        lines = []
        for name, memory in self._state["agent_memories"].items():
            newest = memory.short_term_buffer[-DM_CONTEXT_PLAYER_ENTRIES_LIMIT:]
            if name != DM and newest:
                lines.append(f"[{write_label(name)} knows]: {'; '.join(map(_among_others, newest))}")
        return lines

    def _fitted(self, key: str, room: int) -> str:
        """Return a context cut to fit: first the summary (not its pins), then others, then entries."""
        memory = self._state["agent_memories"][key]
        entries, others = self._shown(key), self._others(key)
        ids = self._ids(key)[-len(entries) :] if entries else []
        sizes = count_many(entries)
        summary = memory.long_term_summary
        pinned = min(count_tokens(f"{pinned_of(summary)}\n"), room // 2) if pinned_of(summary) else 0
        share = room - pinned
        for _ in range(room.bit_length() + 4):
            rooms = share_room(sizes, share)
            cut = [
                cut_end(entry, most, f"[cut: {write_id(name)}]")
                for entry, most, name in zip(entries, rooms, ids, strict=True)
            ]
            kept = [line for line in cut if line]
            for knowledge in (others, []):
                left = room - count_tokens(_context(key, "-", kept, knowledge))
                if left >= pinned:
                    return _context(key, cut_summary(summary, left), kept, knowledge)
            share = share * 3 // 4
        return ""

    def _ids(self, key: str) -> list[str]:
        """Return a name for each buffer entry: the id of its event, or its number."""
        ids = self._state.get("buffer_ids", {}).get(key)
        count = len(self._state["agent_memories"][key].short_term_buffer)
        return (
            list(ids)
            if ids is not None and len(ids) == count
            else [f"entry {n}" for n in range(1, count + 1)]
        )

    def get_long_term_summary(self, agent_name: str) -> str:
        """Return an agent's summary; "" for an unknown agent."""
        memory = self._memory(agent_name)
        return memory.long_term_summary if memory else ""

    def get_buffer_entries(self, agent_name: str, limit: int = 10) -> list[str]:
        """Return the newest entries of an agent's buffer, the newest last."""
        memory = self._memory(agent_name)
        return memory.short_term_buffer[-limit:] if memory and limit else []

    # Sizes.

    def get_buffer_token_count(self, agent_name: str) -> int:
        """Return about how many tokens an agent's buffer has."""
        memory = self._memory(agent_name)
        return estimate_tokens("\n".join(memory.short_term_buffer)) if memory else 0

    def is_near_limit(self, agent_name: str, threshold: float = NEAR) -> bool:
        """Return True if the buffer has reached the given share of the agent's limit."""
        memory = self._memory(agent_name)
        return memory is not None and self.get_buffer_token_count(agent_name) >= int(
            memory.token_limit * threshold
        )

    def get_total_context_tokens(self, agent_name: str) -> int:
        """Return about how many tokens an agent's summary, buffer and character facts have together."""
        memory = self._memory(agent_name)
        if memory is None:
            return 0
        facts = format_character_facts(memory.character_facts) if memory.character_facts else ""
        texts = (memory.long_term_summary, "\n".join(memory.short_term_buffer), facts)
        return sum(map(estimate_tokens, texts))

    def is_total_context_over_limit(self, agent_name: str) -> bool:
        """Return True if the total is over the agent's limit."""
        memory = self._memory(agent_name)
        return memory is not None and self.get_total_context_tokens(agent_name) > memory.token_limit

    def get_prompt_tokens(self, agent_name: str) -> int:
        """Return the exact number of tokens of an agent's prompt: its context and all other text."""
        key = self._key(agent_name)
        return 0 if key is None else self._beside(key) + count_tokens(self.get_context(key))

    def _beside(self, key: str) -> int:
        """Return the tokens of a prompt beside the context: rules, sheet, secrets, callbacks, facts."""
        facts = self._state["agent_memories"][key].character_facts
        texts = [self._state.get("prompts", {}).get(key, ""), format_character_facts(facts) if facts else ""]
        # Plus 2: the break between two parts may be a token of its own.
        return sum(count + 2 for count in count_many(text for text in texts if text))

    # Changes.

    def add_to_buffer(self, agent_name: str, content: str | None) -> None:
        """Add an entry to an agent's buffer, in place; do nothing for an unknown agent.

        With a campaign it is recorded as narration that only this agent perceives.
        """
        if content is None:
            raise TypeError("content is None; a buffer entry must be text")
        if len(content) > LONGEST_CONTENT:
            raise ValueError(
                f"content has {len(content)} characters; an entry may have at most {LONGEST_CONTENT}"
            )
        key = self._key(agent_name)
        if key is None:
            return
        if self._campaign is None:
            self._state["agent_memories"][key].short_term_buffer.append(content)
        else:
            self._campaign.record(self._perceived(key, content))
            self._read_again(key)

    def _perceived(self, key: str, content: str) -> GameEvent:
        """Make the event of an added entry. Its id contains no seq: that would tell what was missed."""
        holder = self._state["agents"][key]
        newest = list(self._campaign.events(viewer=holder, last=1))
        before = newest[0].event_id if newest else None
        return GameEvent(
            event_id=note_id("told", holder, before),
            event_type=EventType.DM_NARRATION,
            source=DM,
            content=content,
            session_id=newest[0].session_id if newest else "s01",
            metadata={"witnesses": [] if holder == DM else [holder]},
        )

    def compress_buffer(self, agent_name: str, retain_count: int = RETAIN_AFTER_COMPRESSION) -> str:
        """Summarise all but the newest entries of a buffer. Returns the summary, or "" with a warning."""
        key = self._key(agent_name)
        return "" if key is None else self._run({key: self._compression(key, max(retain_count, 0))})[key]

    def compress_long_term_summary(self, agent_name: str) -> str:
        """Shorten an agent's summary, from its oldest events if there is a log. Returns the new part."""
        key = self._key(agent_name)
        return "" if key is None else self._run({key: self._shortened(key)})[key]

    def _compression(self, key: str, retain: int) -> SummaryWork:
        memory = self._state["agent_memories"][key]
        if self._campaign is not None:
            made = yield from compression_steps(
                self._campaign,
                self._state["agents"][key],
                retain=retain,
                token_limit=memory.token_limit,
                reader=self._reader,
                written=self._summarizer.writes,
            )
            self._read_again(key)
            return made
        old = memory.short_term_buffer[: max(len(memory.short_term_buffer) - retain, 0)]
        if not old:
            return ""
        lines = yield _bare_task(key, old, max(int(memory.token_limit * _BARE_SHARE), _LEAST_ROOM))
        if isinstance(lines, SummaryFailed):
            return _failed(lines)
        made = join_lines(lines)
        if not made:
            return ""
        memory.long_term_summary = "\n".join(filter(None, (memory.long_term_summary, made)))
        memory.short_term_buffer = memory.short_term_buffer[len(old) :]
        return made

    def _shortened(self, key: str) -> SummaryWork:
        memory = self._state["agent_memories"][key]
        if self._campaign is not None:
            made = yield from shortening_steps(
                self._campaign,
                self._state["agents"][key],
                token_limit=memory.token_limit,
                written=self._summarizer.writes,
            )
            self._read_again(key)
            return made
        summary = memory.long_term_summary
        if not summary:
            return ""
        size = count_tokens(summary)
        lines = yield _bare_task(key, summary.split("\n"), max(size // 2, 1))
        if isinstance(lines, SummaryFailed):
            return _failed(lines)
        made = join_lines(lines)
        if not made or count_tokens(made) >= size:
            return _failed(SummaryFailed(agent=key, reason="the answer is no shorter than the summary"))
        memory.long_term_summary = made
        return made

    def _check(self, key: str) -> SummaryWork:
        """Check one agent before the DM's turn: a few passes of compression, then a hard fit."""
        memories, passes = self._state["agent_memories"], 0
        if self._is_due(key):
            yield from self._compression(key, RETAIN_AFTER_COMPRESSION)
            passes += 1
        while passes < MAX_COMPRESSION_PASSES and self._is_over(key):
            yield from self._shortened(key)
            passes += 1
        if self._is_over(key):
            memory = memories[key]
            rest = memory.model_copy(update={"long_term_summary": ""})
            used = MemoryManager({**self._state, "agent_memories": {key: rest}}).get_total_context_tokens(key)
            room = max(memory.token_limit - max(used, self._beside(key)), 0)
            # Without room even for an empty summary, dropping it gains nothing: the prompt is cut anyway.
            kept = _shorter_by_estimate(memory.long_term_summary, room) if room else memory.long_term_summary
            # Pinned lines stay: they take only a share of the limit, and a context is cut to fit.
            kept = kept if pinned_of(kept) else pinned_of(memory.long_term_summary) or kept
            log.warning(
                "the memory of %s is over its limit of %d tokens after %d passes: "
                "the oldest part of its summary is left out",
                key,
                memory.token_limit,
                passes,
            )
            memories[key] = memory.model_copy(update={"long_term_summary": kept})
        return ""

    def _is_due(self, key: str) -> bool:
        """Return True if a buffer is near its limit, longer than prompts show, or of an earlier session."""
        limit = DM_CONTEXT_RECENT_EVENTS_LIMIT if key == DM else PC_CONTEXT_RECENT_EVENTS_LIMIT
        if self.is_near_limit(key) or len(self._state["agent_memories"][key].short_term_buffer) > limit:
            return True
        if self._campaign is None:
            return False
        with self._campaign.view(self._state["agents"][key]) as view:
            return bool(find_backlog(view, retain=None, reader=self._reader).due)

    def _is_over(self, key: str) -> bool:
        memory = self._state["agent_memories"][key]
        if self.is_total_context_over_limit(key):
            return True
        text = _context(key, memory.long_term_summary, self._shown(key), self._others(key))
        return self._beside(key) + count_tokens(text) > memory.token_limit

    # Helpers.

    @property
    def _campaign(self) -> Any:
        return self._state.get("campaign")

    @property
    def _summarizer(self) -> Summarizer:
        return Summarizer.of(self._state.get("summarizer") if self._given is None else self._given)

    def _key(self, agent_name: str) -> str | None:
        memories = self._state["agent_memories"]
        if agent_name in memories:
            return agent_name
        if not isinstance(agent_name, str) or not agent_name.strip():
            return None
        alike = [key for key in memories if key.strip() and slug(key) == slug(agent_name)]
        return alike[0] if len(alike) == 1 else None

    def _memory(self, agent_name: str) -> AgentMemory | None:
        key = self._key(agent_name)
        return None if key is None else self._state["agent_memories"][key]

    def _read_again(self, key: str) -> None:
        """Read an agent's memory from the log again. Its character facts did not change."""
        old = self._state["agent_memories"][key]
        with self._campaign.view(self._state["agents"][key]) as view:
            carried = read_agent_memory(view, token_limit=old.token_limit, facts=old.character_facts)
        self._state["agent_memories"][key] = carried.memory
        self._state.setdefault("buffer_ids", {})[key] = carried.ids

    def _run(self, work: Mapping[str, SummaryWork]) -> dict[str, str]:
        return run_compressions(work, self._summarizer)


def context_manager(state: GameState, *, progress: Progress | None = None) -> GameState:
    """Make every agent's memory fit its limit before the DM's turn, and return a new state.

    Each agent is checked on its own: a failure is logged as a warning and touches no other agent.
    `progress` gets the number of summaries made.
    """
    memories = {name: memory.model_copy(deep=True) for name, memory in state["agent_memories"].items()}
    new: GameState = {**state, "agent_memories": memories, "summarization_in_progress": True}
    if "buffer_ids" in state:
        new["buffer_ids"] = dict(state["buffer_ids"])
    manager = MemoryManager(new)
    if "campaign" in state:
        with state["campaign"].view(DM) as view:
            manager._reader = LogReader(view)  # noqa: SLF001 - part of this module
    try:
        work = {name: manager._check(name) for name in memories}  # noqa: SLF001 - the same
        run_compressions(work, manager._summarizer, progress)  # noqa: SLF001 - the same
    finally:
        new["summarization_in_progress"] = False
    return new


def _context(key: str, summary: str, entries: Iterable[str], others: Iterable[str]) -> str:
    remembered = map(one_line, summary.split("\n")) if summary else []
    sections = [
        ("## Story So Far" if key == DM else "## What You Remember", remembered),
        ("## Recent Events", entries),
        ("## Player Knowledge", others),
    ]
    texts = [(title, "\n".join(map(_plain, lines))) for title, lines in sections]
    return "\n\n".join(f"{title}\n{text}" for title, text in texts if text)


def _plain(line: str) -> str:
    """Return a line without leading #, so that it cannot pass for a heading."""
    return re.sub(r"^\s*#[#\s]*", "", line)


def _among_others(entry: str) -> str:
    """Return an entry for a line of several: no part of it can pass for the next, by another speaker."""
    return _NEXT_ENTRY.sub(", [", one_line(entry))


def _bare_task(agent: str, texts: Iterable[str], tokens: int) -> SummaryTask:
    return SummaryTask(agent=agent, entries=tuple(map(entry_of, texts)), tokens=tokens)


def _shorter_by_estimate(text: str, room: int) -> str:
    """Return the newest part of a text that fits, by estimate as well as by exact count."""
    kept = cut_summary(text, room)
    while kept and estimate_tokens(kept) > room:
        kept = cut_summary(kept, count_tokens(kept) * 3 // 4)
    return kept


def _failed(failure: SummaryFailed) -> str:
    log.warning("the memory of %s was not summarised: %s", failure.agent, failure.reason)
    return ""
