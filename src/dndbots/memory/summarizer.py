"""The front that every summary goes through: one engine behind it, and the same checks after each.

It decides how an engine is asked and what is accepted, never what is summarised or where it is kept.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final, Protocol

from dndbots.errors import InvalidSetting, SummaryFailed
from dndbots.ids import DM, is_uid, name_from_uid
from dndbots.llm.waiting import ONCE, Patience, Refused, side_by_side
from dndbots.memory.checks import Origin, checked, quoted
from dndbots.memory.entries import Entry, Line, SummaryKind, SummaryTask, as_text, entry_of
from dndbots.memory.foreign import Foreign, is_foreign
from dndbots.memory.written import Written
from dndbots.tokens import count_many

logger = logging.getLogger("dndbots.memory")

SCOPED_TOKENS: Final = 80  # two or three sentences
_SHARE: Final = 4
_FEWEST_TOKENS: Final = 40
_MOST_TOKENS: Final = 400
_WANTED: Final = (
    "is no summarizer: pass a chat model object with invoke(messages), such as a LangChain chat model, an "
    "engine with summarize(task), or nothing for summaries without a model"
)


class Engine(Protocol):
    """What makes summaries. `waits` says that asking takes real time, so that several are asked at once."""

    waits: bool

    def summarize(self, task: SummaryTask) -> Sequence[Line]: ...


class Summarizer:
    """Summaries by a chat model, by an engine, or without a model where none is given.

    An engine that waits has `timeout` seconds for each of its `attempts`. A chat model has them for each
    question, since a long source is asked about in several.
    """

    def __init__(self, model: Any = None, *, timeout: float = 60.0, attempts: int = 2) -> None:
        self._patience = Patience(timeout=timeout, attempts=attempts)
        self._engine: Engine
        self._engine, self._origin = _engine_for(model, self._patience)
        if isinstance(self._engine, Written):
            self._patience = ONCE

    @classmethod
    def of(cls, given: Any) -> "Summarizer":
        """A summarizer from whatever was given for one: nothing, one of ours, somebody else's, a model.

        One of ours with a `generate_summary` of its own is somebody else's: that is what is asked.
        """
        own = cls() if given is None else given
        if isinstance(own, Summarizer):
            return own if type(own).generate_summary is _GENERATED else cls(Foreign(own))
        if is_foreign(given) and not isinstance(given, type):
            return cls(Foreign(given))
        return cls(given)

    @property
    def waits(self) -> bool:
        return bool(getattr(self._engine, "waits", True))

    def condense(self, task: SummaryTask) -> list[Line]:
        """The lines of one summary, or SummaryFailed with the reason why the last attempt failed.

        Without a model there may be none, where nothing can be told; trying again would change nothing.
        """
        if not any(entry.text.strip() or entry.outcomes for entry in task.entries):
            raise SummaryFailed(agent=task.agent, reason="there is nothing to summarise")
        if task.tokens < 1:
            raise SummaryFailed(agent=task.agent, reason="there is no room for a summary")
        if self._origin is Origin.QUOTED:
            subject = ("", "") if task.kind == "buffer" else (task.about, task.name)
            return list(_extracted(_Asked(task.entries), task.tokens, task.kind, *subject))
        try:
            return self._patience.ask(
                lambda _: self._engine.summarize(task),
                lambda answer: checked(answer, task, self._origin),
                waits=self.waits,
            )
        except Refused as exc:
            raise SummaryFailed(agent=task.agent, reason=exc.reason) from exc

    def condense_all(self, tasks: Iterable[SummaryTask]) -> list[list[Line] | SummaryFailed]:
        """Each summary, or why there is none, in order; at once where the engine waits."""
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

    # By the names of the source documents

    def generate_summary(
        self, agent_name: str, entries: Iterable[str | Entry], *, tokens: int | None = None
    ) -> str:
        """A summary of what an agent perceived, a line for each thing; "" where there is none.

        A quarter of the source by default, from 40 to 400 tokens.
        """
        read = _entries(entries)
        if tokens is None:
            whole = sum(count_many(map(str, read)))
            tokens = min(max(whole // _SHARE, _FEWEST_TOKENS), _MOST_TOKENS)
        return as_text(self._or_nothing(SummaryTask(agent=agent_name, entries=read, tokens=tokens)))

    def summarize_location_session(
        self, game_state: Any, location_id: str, messages: Iterable[str | Entry]
    ) -> str:
        """What came of a visit to a place, in two or three sentences; "" where there is no summary."""
        return self._scoped("location", game_state, location_id, _name_of(location_id), messages)

    def summarize_npc_interactions(self, game_state: Any, npc: Any, messages: Iterable[str | Entry]) -> str:
        """What came of dealings with somebody, given by uid or as an object with `uid` and `name`."""
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
        """How the story moved on, in two or three sentences; "" where there is no summary."""
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
        return " ".join(line.text for line in self._or_nothing(task))

    def _or_nothing(self, task: SummaryTask) -> list[Line]:
        try:
            return self.condense(task)
        except SummaryFailed as failure:
            about = f" of {task.kind} {task.about}" if task.about else ""
            logger.warning("no summary%s for %s: %s", about, failure.agent, failure.reason)
            return []


_GENERATED: Final = Summarizer.generate_summary


class _Asked:
    """Entries to be summarised, known again by their digest; once that is done, they are let go."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        fields = [
            (one.text, one.who, one.event_id, one.session, one.narrated, one.outcomes) for one in entries
        ]
        self._digest = blake2b(repr(fields).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._entries = entries

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._digest == other._digest

    def let_go(self) -> tuple[Entry, ...]:
        entries, self._entries = self._entries, ()
        return entries


# Those who perceive the same are summarised one after the other, or a few scenes on: in the same words.
@lru_cache(maxsize=64)
def _extracted(asked: _Asked, tokens: int, kind: SummaryKind, about: str, name: str) -> tuple[Line, ...]:
    """A summary without a model. It never fails: asking again would change nothing."""
    from dndbots.memory.extract import Extractive

    entries = asked.let_go()
    task = SummaryTask(agent="", entries=entries, tokens=tokens, kind=kind, about=about, name=name)
    try:
        return tuple(checked(Extractive().summarize(task), task, Origin.QUOTED))
    except Refused:
        return tuple(quoted(task))


def _engine_for(model: Any, patience: Patience) -> tuple[Engine, Origin]:
    if model is None:
        from dndbots.memory.extract import Extractive

        return Extractive(), Origin.QUOTED
    if isinstance(model, str):
        reason = f"names a model; {_WANTED.partition(': ')[2]}"
        raise InvalidSetting("model", model, reason=reason)
    if isinstance(model, type):
        raise InvalidSetting("model", model, reason="is a class: pass an object of it")
    if isinstance(model, Written):
        return model, Origin.WRITTEN
    if isinstance(model, Foreign):
        return model, Origin.FOREIGN
    summarizes, answers = (callable(getattr(model, name, None)) for name in ("summarize", "invoke"))
    # Doubles have every attribute: what is meant as an engine says whether it waits.
    if summarizes and (isinstance(getattr(model, "waits", None), bool) or not answers):
        return model, Origin.ENGINE
    if answers:
        return Written(model, patience=patience), Origin.WRITTEN
    raise InvalidSetting("model", model, reason=_WANTED)


def _entries(given: Iterable[str | Entry]) -> tuple[Entry, ...]:
    items = [given] if isinstance(given, str | Entry) else given
    return tuple(entry_of(item) for item in items)


def _name_of(uid: str) -> str:
    return name_from_uid(uid) if is_uid(uid) else uid
