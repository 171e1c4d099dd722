"""`Summarizer`: the one way to ask for a summary, with any engine behind it and the same checks for all.

It decides how an engine is asked and which answers are accepted, not what is summarised or where it is kept.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final, Protocol

from dndbots.errors import InvalidSetting, SummaryFailed
from dndbots.ids import DM, is_uid, name_from_uid
from dndbots.llm.retry import ASK_ONCE, AnswerRefused, RetryPolicy
from dndbots.llm.timeouts import side_by_side
from dndbots.memory.entries import Entry, Line, SummaryKind, SummaryTask, entry_of, join_lines
from dndbots.memory.summaries.checks import Origin, check_summary, quote_entries
from dndbots.memory.summaries.model_summaries import ModelSummaries
from dndbots.tokens import count_many

logger = logging.getLogger("dndbots.memory")

SCOPED_TOKENS: Final = 80  # two or three sentences
_SHARE: Final = 4
_FEWEST_TOKENS: Final = 40
_MOST_TOKENS: Final = 400
_WANTED: Final = (
    "is not a summarizer: pass a chat model object with invoke(messages), such as a LangChain chat model, an "
    "engine with summarize(task), or nothing for summaries without a model"
)


_GENERAL: Final = "generate_summary"
_SPECIAL: Final = {
    "location": "summarize_location_session",
    "npc": "summarize_npc_interactions",
    "world": "summarize_world_update",
}


class SummaryEngine(Protocol):
    """An engine that makes summaries. `waits` says that it takes time, so that several are asked at once."""

    waits: bool

    def summarize(self, task: SummaryTask) -> Sequence[Line]: ...


class Summarizer:
    """Makes summaries with a chat model, with an engine, or without a model if none is given.

    An engine that waits has `timeout` seconds for each of its `attempts`. A chat model has them for each
    question: a long source takes several.
    """

    def __init__(self, model: Any = None, *, timeout: float = 60.0, attempts: int = 2) -> None:
        self._patience = RetryPolicy(timeout=timeout, attempts=attempts, first_pause=0.0)
        self._engine: SummaryEngine
        self._engine, self._origin = _engine_for(model, self._patience)
        if isinstance(self._engine, ModelSummaries):
            self._patience = ASK_ONCE

    @classmethod
    def of(cls, given: Any) -> "Summarizer":
        """Return a summarizer for None, a `Summarizer`, a user's summarizer, an engine, or a chat model.

        A subclass with its own `generate_summary` counts as a user's summarizer: that method is called.
        """
        own = cls() if given is None else given
        if isinstance(own, Summarizer):
            return own if type(own).generate_summary is _GENERATED else cls(ForeignSummarizer(own))
        if is_foreign(given) and not isinstance(given, type):
            return cls(ForeignSummarizer(given))
        return cls(given)

    @property
    def writes(self) -> bool:
        """True if summaries are written, by a model or by a user's summarizer; False if they are quoted."""
        return self._origin is not Origin.QUOTED

    @property
    def waits(self) -> bool:
        """True if asking takes time."""
        return bool(getattr(self._engine, "waits", True))

    def condense(self, task: SummaryTask) -> list[Line]:
        """Return the lines of one summary; raise `SummaryFailed` with the reason of the last attempt.

        Without a model there may be no lines, if there is nothing to tell.
        """
        if not any(entry.text.strip() or entry.outcomes for entry in task.entries):
            raise SummaryFailed(agent=task.agent, reason="there is nothing to summarise")
        if task.tokens < 1:
            raise SummaryFailed(agent=task.agent, reason="there is no room for a summary")
        if self._origin is Origin.QUOTED:
            subject = ("", "") if task.kind == "buffer" else (task.about, task.name)
            return list(_extracted(_CacheKey(task.entries), task.tokens, task.kind, *subject))
        try:
            return self._patience.ask(
                lambda _: self._engine.summarize(task),
                lambda answer: check_summary(answer, task, self._origin),
                waits=self.waits,
            )
        except AnswerRefused as exc:
            raise SummaryFailed(agent=task.agent, reason=exc.reason) from exc

    def condense_all(self, tasks: Iterable[SummaryTask]) -> list[list[Line] | SummaryFailed]:
        """Return each summary or its failure, in order; asked at once if the engine waits."""
        calls = [partial(self._condensed, task) for task in tasks]
        if not self.waits or len(calls) < 2:
            return [call() for call in calls]
        answers: list[list[Line] | SummaryFailed] = []
        for answer in side_by_side(calls):
            if isinstance(answer, Exception) and not isinstance(answer, SummaryFailed):
                raise answer
            answers.append(answer)
        return answers

    def _condensed(self, task: SummaryTask) -> list[Line] | SummaryFailed:
        try:
            return self.condense(task)
        except SummaryFailed as failure:
            return failure

    # Named after the methods of the source documents

    def generate_summary(
        self, agent_name: str, entries: Iterable[str | Entry], *, tokens: int | None = None
    ) -> str:
        """Return a summary of what an agent perceived, one thing per line; "" if there is none.

        By default it has a quarter of the source's tokens, from 40 to 400.
        """
        read = _entries(entries)
        if tokens is None:
            whole = sum(count_many(map(str, read)))
            tokens = min(max(whole // _SHARE, _FEWEST_TOKENS), _MOST_TOKENS)
        return join_lines(self._condense_or_warn(SummaryTask(agent=agent_name, entries=read, tokens=tokens)))

    def summarize_location_session(
        self, game_state: Any, location_id: str, messages: Iterable[str | Entry]
    ) -> str:
        """Return the outcome of a visit in two or three sentences; "" if there is no summary."""
        return self._scoped("location", game_state, location_id, _name_of(location_id), messages)

    def summarize_npc_interactions(self, game_state: Any, npc: Any, messages: Iterable[str | Entry]) -> str:
        """Return the outcome of dealings with an NPC: a uid, or an object with `uid` and `name`."""
        uid = npc if isinstance(npc, str) else str(getattr(npc, "uid", ""))
        name = str(getattr(npc, "name", "") or _name_of(uid))
        return self._scoped("npc", game_state, uid, name, messages, {"npc": npc})

    def summarize_world_update(
        self,
        game_state: Any,
        event_kind: str,
        messages: Iterable[str | Entry],
        related: Mapping[str, Any] | None = None,
    ) -> str:
        """Return how the story moved on, in two or three sentences; "" if there is no summary."""
        name = event_kind.replace("_", " ")
        return self._scoped("world", game_state, event_kind, name, messages, related or {})

    def _scoped(
        self,
        kind: SummaryKind,
        game_state: Any,
        about: str,
        name: str,
        messages: Iterable[str | Entry],
        related: Mapping[str, Any] | None = None,
    ) -> str:
        task = SummaryTask(
            agent=DM,
            entries=_entries(messages),
            tokens=SCOPED_TOKENS,
            kind=kind,
            about=about,
            name=name,
            game_state=game_state,
            related=related or {},
        )
        return " ".join(line.text for line in self._condense_or_warn(task))

    def _condense_or_warn(self, task: SummaryTask) -> list[Line]:
        try:
            return self.condense(task)
        except SummaryFailed as failure:
            about = f" of {task.kind} {task.about}" if task.about else ""
            logger.warning("no summary%s for %s: %s", about, failure.agent, failure.reason)
            return []


_GENERATED: Final = Summarizer.generate_summary


class _CacheKey:
    """Entries as a cache key: compared by their digest, and released once they are summarised."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        fields = [
            (
                entry.text,
                entry.who,
                entry.event_id,
                entry.session,
                entry.narrated,
                entry.outcomes,
                entry.deeds,
                entry.aside,
            )
            for entry in entries
        ]
        self._digest = blake2b(repr(fields).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._entries = entries

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CacheKey) and self._digest == other._digest

    def release(self) -> tuple[Entry, ...]:
        """Return the entries and forget them."""
        entries, self._entries = self._entries, ()
        return entries


# Agents that perceived the same get the same summary, one soon after the other.
@lru_cache(maxsize=64)
def _extracted(key: _CacheKey, tokens: int, kind: SummaryKind, about: str, name: str) -> tuple[Line, ...]:
    """Return a summary made without a model. It never fails: asking again would change nothing."""
    from dndbots.memory.selection import Extractive

    entries = key.release()
    task = SummaryTask(agent="", entries=entries, tokens=tokens, kind=kind, about=about, name=name)
    try:
        return tuple(check_summary(Extractive().summarize(task), task, Origin.QUOTED))
    except AnswerRefused:
        return tuple(quote_entries(task))


def _engine_for(model: Any, patience: RetryPolicy) -> tuple[SummaryEngine, Origin]:
    if model is None:
        from dndbots.memory.selection import Extractive

        return Extractive(), Origin.QUOTED
    if isinstance(model, str):
        reason = f"is the name of a model; {_WANTED.partition(': ')[2]}"
        raise InvalidSetting("model", model, reason=reason)
    if isinstance(model, type):
        raise InvalidSetting("model", model, reason="is a class; pass an object of it")
    if isinstance(model, ModelSummaries):
        return model, Origin.WRITTEN
    if isinstance(model, ForeignSummarizer):
        return model, Origin.FOREIGN
    summarizes, answers = (callable(getattr(model, name, None)) for name in ("summarize", "invoke"))
    # Mocks have every attribute: an engine is recognised by a `waits` that is a bool.
    if summarizes and (isinstance(getattr(model, "waits", None), bool) or not answers):
        return model, Origin.ENGINE
    if answers:
        return ModelSummaries(model, patience=patience), Origin.WRITTEN
    raise InvalidSetting("model", model, reason=_WANTED)


def _entries(texts: Iterable[str | Entry]) -> tuple[Entry, ...]:
    items = [texts] if isinstance(texts, str | Entry) else texts
    return tuple(entry_of(item) for item in items)


def _name_of(uid: str) -> str:
    return name_from_uid(uid) if is_uid(uid) else uid


# Summarizers that users bring.


def is_foreign(given: object) -> bool:
    """Return True if an object has one of the methods of a summarizer."""
    return any(callable(getattr(given, name, None)) for name in (_GENERAL, *_SPECIAL.values()))


class NamedUid(str):
    """A uid with a name: some summarizers look the NPC up, others only write about it."""

    uid: str
    name: str

    @classmethod
    def called(cls, uid: str, name: str) -> "NamedUid":
        """Return a uid with its name."""
        self = cls(uid)
        self.uid, self.name = uid, name
        return self


class ForeignSummarizer:
    """The engine around a summarizer that a user brings.

    Each kind of summary is asked for by its own method, with the arguments of the source documents only.
    """

    def __init__(self, given: Any) -> None:
        self._given = given
        waits = getattr(given, "waits", True)
        # Without `waits` it is asked as if it took time, so that one that hangs holds nobody up.
        self.waits: bool = waits if isinstance(waits, bool) else True

    def summarize(self, task: SummaryTask) -> list[Line]:
        """Return the answer as one line."""
        return [Line(self._asked(task))]

    def _asked(self, task: SummaryTask) -> Any:
        """Return the summarizer's answer, which the checks examine later."""
        messages = list(task.entries)
        special = getattr(self._given, _SPECIAL.get(task.kind, ""), None)
        if not callable(special):
            if not callable(getattr(self._given, _GENERAL, None)):
                raise AnswerRefused(f"the summarizer has no {_GENERAL}")
            return self._given.generate_summary(task.agent, [str(entry) for entry in messages])
        match task.kind:
            case "npc":
                npc = task.related.get("npc") or NamedUid.called(task.about, task.name)
                return special(task.game_state, npc, messages)
            case "world":
                return special(task.game_state, task.about, messages, dict(task.related))
            case _:
                return special(task.game_state, task.about, messages)
