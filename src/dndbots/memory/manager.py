"""Buffers, summaries and contexts of the agents in a `GameState`, and the check before the DM's turn.

On a bare state it works on the state alone. On one that a campaign made, the log is the truth: what is
compressed is recorded there, and the state is read again.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dndbots.errors import SummaryFailed
from dndbots.events import LONGEST_CONTENT, EventType, GameEvent
from dndbots.ids import DM, slug
from dndbots.memory.carrying import carried, format_character_facts
from dndbots.memory.compression import Summarizing, backlog, compressing, shortening
from dndbots.memory.driving import drive
from dndbots.memory.entries import SummaryTask, as_text, entry_of
from dndbots.memory.fitting import cut_end, cut_summary, pinned_of, shares
from dndbots.memory.notes import note_id
from dndbots.memory.reading import Reading
from dndbots.memory.summarizer import Summarizer
from dndbots.models import AgentMemory, GameState
from dndbots.storage.upkeep import Progress
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_id, write_label
from dndbots.tokens import count_many, count_tokens, estimate_tokens

log = logging.getLogger("dndbots.memory")

RETAIN_AFTER_COMPRESSION: Final = 3
MAX_COMPRESSION_PASSES = 2
DM_CONTEXT_RECENT_EVENTS_LIMIT: Final = 10
DM_CONTEXT_PLAYER_ENTRIES_LIMIT: Final = 3
PC_CONTEXT_RECENT_EVENTS_LIMIT: Final = 10

NEAR: Final = 0.8
# A bare summary may take so much of a limit: there is no log that it could be made from again.
_BARE_SHARE: Final = 0.25
_LEAST_ROOM: Final = 40
_NEXT_ENTRY: Final = re.compile(r";\s*\[")


class MemoryManager:
    """What each agent of a state remembers. A character sees its own memory only, the DM everybody's.

    Agents are found by their key or by a name that is spelled like it: "Sir Roland" is `sir_roland`.
    """

    def __init__(self, state: GameState, summarizer: Any = None) -> None:
        self._state = state
        self._given = summarizer
        # What agents who are seen to together share.
        self._reading: Reading | None = None

    # What an agent reads.

    def get_context(self, agent_name: str) -> str:
        """The memory of an agent as text for its prompt, never beyond its limit. Empty for nobody."""
        key = self._key(agent_name)
        if key is None:
            return ""
        memory = self._state["agent_memories"][key]
        room = max(memory.token_limit - self._beside(key), 0)
        shown = self._shown(key)
        text = _context(key, memory.long_term_summary, shown, self._others(key))
        return text if count_tokens(text) <= room else self._fitted(key, room)

    def _shown(self, key: str) -> list[str]:
        """The newest entries of a buffer, each on one line: none can pass for another, or for a heading."""
        limit = DM_CONTEXT_RECENT_EVENTS_LIMIT if key == DM else PC_CONTEXT_RECENT_EVENTS_LIMIT
        return [one_line(entry) for entry in self._state["agent_memories"][key].short_term_buffer[-limit:]]

    def _others(self, key: str) -> list[str]:
        """What each other agent knows, for the DM."""
        if key != DM:
            return []
        found = []
        for name, memory in self._state["agent_memories"].items():
            newest = memory.short_term_buffer[-DM_CONTEXT_PLAYER_ENTRIES_LIMIT:]
            if name != DM and newest:
                found.append(f"[{write_label(name)} knows]: {'; '.join(map(_among_others, newest))}")
        return found

    def _fitted(self, key: str, room: int) -> str:
        """A context cut to fit: first the summary (not its pins), then what others know, then entries."""
        memory = self._state["agent_memories"][key]
        entries, others = self._shown(key), self._others(key)
        ids = self._ids(key)[-len(entries) :] if entries else []
        sizes = count_many(entries)
        summary = memory.long_term_summary
        pinned = min(count_tokens(f"{pinned_of(summary)}\n"), room // 2) if pinned_of(summary) else 0
        share = room - pinned
        for _ in range(room.bit_length() + 4):
            given = shares(sizes, share)
            cut = [
                cut_end(entry, most, f"[cut: {write_id(name)}]")
                for entry, most, name in zip(entries, given, ids, strict=True)
            ]
            kept = [line for line in cut if line]
            for knowledge in (others, []):
                left = room - count_tokens(_context(key, "-", kept, knowledge))
                if left >= pinned:
                    return _context(key, cut_summary(summary, left), kept, knowledge)
            share = share * 3 // 4
        return ""

    def _ids(self, key: str) -> list[str]:
        """What each entry of a buffer is called: the id of its event, or its number."""
        ids = self._state.get("buffer_ids", {}).get(key)
        count = len(self._state["agent_memories"][key].short_term_buffer)
        return (
            list(ids)
            if ids is not None and len(ids) == count
            else [f"entry {n}" for n in range(1, count + 1)]
        )

    def get_long_term_summary(self, agent_name: str) -> str:
        memory = self._memory(agent_name)
        return memory.long_term_summary if memory else ""

    def get_buffer_entries(self, agent_name: str, limit: int = 10) -> list[str]:
        """The newest entries of an agent's buffer, the newest last."""
        memory = self._memory(agent_name)
        return memory.short_term_buffer[-limit:] if memory and limit else []

    # How much it is.

    def get_buffer_token_count(self, agent_name: str) -> int:
        memory = self._memory(agent_name)
        return estimate_tokens("\n".join(memory.short_term_buffer)) if memory else 0

    def is_near_limit(self, agent_name: str, threshold: float = NEAR) -> bool:
        """Whether the buffer has come near the agent's limit."""
        memory = self._memory(agent_name)
        return memory is not None and self.get_buffer_token_count(agent_name) >= int(
            memory.token_limit * threshold
        )

    def get_total_context_tokens(self, agent_name: str) -> int:
        """About how many tokens an agent carries: its summary, its buffer, and what it knows of itself."""
        memory = self._memory(agent_name)
        if memory is None:
            return 0
        facts = format_character_facts(memory.character_facts) if memory.character_facts else ""
        texts = (memory.long_term_summary, "\n".join(memory.short_term_buffer), facts)
        return sum(map(estimate_tokens, texts))

    def is_total_context_over_limit(self, agent_name: str) -> bool:
        memory = self._memory(agent_name)
        return memory is not None and self.get_total_context_tokens(agent_name) > memory.token_limit

    def get_prompt_tokens(self, agent_name: str) -> int:
        """Exactly how many tokens an agent's prompt has: its context, and all that stands beside it."""
        key = self._key(agent_name)
        return 0 if key is None else self._beside(key) + count_tokens(self.get_context(key))

    def _beside(self, key: str) -> int:
        """The tokens of a prompt beside the context: rules, sheet, secrets, callbacks, and own facts."""
        facts = self._state["agent_memories"][key].character_facts
        texts = [self._state.get("prompts", {}).get(key, ""), format_character_facts(facts) if facts else ""]
        # Where parts are joined, a break may be a token of its own.
        return sum(count + 2 for count in count_many(text for text in texts if text))

    # What changes it.

    def add_to_buffer(self, agent_name: str, content: str | None) -> None:
        """Puts something into an agent's buffer. Changes the state in place; nothing for an unknown agent.

        Behind a campaign it is recorded, as something that the DM let this agent perceive.
        """
        if content is None:
            raise TypeError("content is None; an entry of a buffer is text")
        if len(content) > LONGEST_CONTENT:
            raise ValueError(
                f"content has {len(content)} characters, the longest entry has {LONGEST_CONTENT}"
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
        """An event of its own each time. Its id has no place of the log in it: that tells what was missed."""
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
        """Summarises all but the newest entries of a buffer. Returns the summary, or "" and a warning."""
        key = self._key(agent_name)
        return "" if key is None else self._driven({key: self._compressing(key, max(retain_count, 0))})[key]

    def compress_long_term_summary(self, agent_name: str) -> str:
        """Makes an agent's summary shorter; from its oldest events, where there is a log of them."""
        key = self._key(agent_name)
        return "" if key is None else self._driven({key: self._shortening(key)})[key]

    def _compressing(self, key: str, retain: int) -> Summarizing:
        memory = self._state["agent_memories"][key]
        if self._campaign is not None:
            made = yield from compressing(
                self._campaign,
                self._state["agents"][key],
                retain=retain,
                token_limit=memory.token_limit,
                reading=self._reading,
            )
            self._read_again(key)
            return made
        old = memory.short_term_buffer[: max(len(memory.short_term_buffer) - retain, 0)]
        if not old:
            return ""
        lines = yield _bare_task(key, old, max(int(memory.token_limit * _BARE_SHARE), _LEAST_ROOM))
        if isinstance(lines, SummaryFailed):
            return _failed(lines)
        made = as_text(lines)
        if not made:
            return ""
        memory.long_term_summary = "\n".join(filter(None, (memory.long_term_summary, made)))
        memory.short_term_buffer = memory.short_term_buffer[len(old) :]
        return made

    def _shortening(self, key: str) -> Summarizing:
        memory = self._state["agent_memories"][key]
        if self._campaign is not None:
            made = yield from shortening(
                self._campaign, self._state["agents"][key], token_limit=memory.token_limit
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
        made = as_text(lines)
        if not made or count_tokens(made) >= size:
            return _failed(SummaryFailed(agent=key, reason="what came back is no shorter than the summary"))
        memory.long_term_summary = made
        return made

    def _managed(self, key: str) -> Summarizing:
        """The check of one agent before the DM's turn: at most so many passes, then a hard fit."""
        memories, passes = self._state["agent_memories"], 0
        if self._is_due(key):
            yield from self._compressing(key, RETAIN_AFTER_COMPRESSION)
            passes += 1
        while passes < MAX_COMPRESSION_PASSES and self._is_over(key):
            yield from self._shortening(key)
            passes += 1
        if self._is_over(key):
            memory = memories[key]
            rest = memory.model_copy(update={"long_term_summary": ""})
            used = MemoryManager({**self._state, "agent_memories": {key: rest}}).get_total_context_tokens(key)
            room = max(memory.token_limit - max(used, self._beside(key)), 0)
            # Where not even no summary would fit, nothing is gained by losing it: a prompt is cut anyway.
            kept = _shorter_by_estimate(memory.long_term_summary, room) if room else memory.long_term_summary
            # What people pinned stays: it is no more than a part of the limit, and a context is fitted.
            kept = kept if pinned_of(kept) else pinned_of(memory.long_term_summary) or kept
            log.warning(
                "the memory of %s is over its limit of %d tokens after %d passes: "
                "the oldest part of its summary is not shown",
                key,
                memory.token_limit,
                passes,
            )
            memories[key] = memory.model_copy(update={"long_term_summary": kept})
        return ""

    def _is_due(self, key: str) -> bool:
        """Near the limit, longer than what a prompt shows of it, or left over from an earlier session."""
        limit = DM_CONTEXT_RECENT_EVENTS_LIMIT if key == DM else PC_CONTEXT_RECENT_EVENTS_LIMIT
        if self.is_near_limit(key) or len(self._state["agent_memories"][key].short_term_buffer) > limit:
            return True
        if self._campaign is None:
            return False
        with self._campaign.view(self._state["agents"][key]) as view:
            return bool(backlog(view, retain=None, reading=self._reading).due)

    def _is_over(self, key: str) -> bool:
        memory = self._state["agent_memories"][key]
        if self.is_total_context_over_limit(key):
            return True
        text = _context(key, memory.long_term_summary, self._shown(key), self._others(key))
        return self._beside(key) + count_tokens(text) > memory.token_limit

    # How it is done.

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
        """What was summarised is read back. It does not change what a character knows of itself."""
        old = self._state["agent_memories"][key]
        with self._campaign.view(self._state["agents"][key]) as view:
            found = carried(view, token_limit=old.token_limit, facts=old.character_facts)
        self._state["agent_memories"][key] = found.memory
        self._state.setdefault("buffer_ids", {})[key] = found.ids

    def _driven(self, work: Mapping[str, Summarizing]) -> dict[str, str]:
        return drive(work, self._summarizer)


def context_manager(state: GameState, *, progress: Progress | None = None) -> GameState:
    """Sees to it, before the DM's turn, that every agent's memory fits its limit. Gives back a new state.

    Each agent is seen to on its own: what fails for one is warned of, and touches no other. `progress`
    is told how many summaries were made.
    """
    memories = {name: memory.model_copy(deep=True) for name, memory in state["agent_memories"].items()}
    new: GameState = {**state, "agent_memories": memories, "summarization_in_progress": True}
    if "buffer_ids" in state:
        new["buffer_ids"] = dict(state["buffer_ids"])
    manager = MemoryManager(new)
    if "campaign" in state:
        with state["campaign"].view(DM) as view:
            manager._reading = Reading(view)  # noqa: SLF001 - its other half
    try:
        work = {name: manager._managed(name) for name in memories}  # noqa: SLF001 - the same
        drive(work, manager._summarizer, progress)  # noqa: SLF001 - the same
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
    """A line that cannot pass for a heading."""
    return re.sub(r"^\s*#[#\s]*", "", line)


def _among_others(entry: str) -> str:
    """An entry between others on one line: no part of it can pass for the next one, by somebody else."""
    return _NEXT_ENTRY.sub(", [", one_line(entry))


def _bare_task(agent: str, texts: Iterable[str], tokens: int) -> SummaryTask:
    return SummaryTask(agent=agent, entries=tuple(map(entry_of, texts)), tokens=tokens)


def _shorter_by_estimate(text: str, room: int) -> str:
    """The newest part of a text that fits, by the guess as well as by the count."""
    kept = cut_summary(text, room)
    while kept and estimate_tokens(kept) > room:
        kept = cut_summary(kept, count_tokens(kept) * 3 // 4)
    return kept


def _failed(failure: SummaryFailed) -> str:
    log.warning("the memory of %s was not summarised: %s", failure.agent, failure.reason)
    return ""
