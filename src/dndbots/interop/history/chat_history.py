"""A chat and the log kept in step: append new messages, fork at an edit, go back after a cut.

    history = campaign.chat("Seraphina")
    followed = history.follow(messages)

Afterwards the campaign remembers the chat as it is now. The chat as it was is kept in another branch.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from itertools import islice
from typing import Final, Literal, NamedTuple

from dndbots._garbage import NO_COLLECTION
from dndbots.events import CHAT_FIELDS, EventType, GameEvent
from dndbots.ids import check_name
from dndbots.interop.history.alignment import (
    WindowMatch,
    common_prefix,
    common_suffix,
    loose_key,
    match_window,
)
from dndbots.interop.history.chat_log import ChatLog, LoggedMessage
from dndbots.interop.history.messages import (
    ChatDigests,
    ChatMessage,
    content_digest,
    counted_digest,
    new_line,
    people_digest,
)
from dndbots.interop.history.played_lines import UnplayedMessages
from dndbots.interop.transcript_events import NewLine, TranscriptEvents
from dndbots.storage import codec
from dndbots.storage.campaign_log import BranchLog, RewrittenLog
from dndbots.storage.ports import Lineage, Store

BATCH: Final = 500
# The newest messages of the log that a window is compared with, beside as many as the window has.
_LOOK_BACK: Final = 200
# A chat of up to this many characters is kept in memory between its two readings.
_KEPT_TEXT: Final = 32_000_000
_MESSAGE_SIZE: Final = 500
# Notes that people or bills need. All others are made again from the new past when they are due.
_CARRIED_NOTES: Final = (EventType.GATE, EventType.USAGE)

Progress = Callable[[int, int], None]
Change = Literal["started", "unchanged", "appended", "edited", "cut", "unrelated"]


class NearMessage(NamedTuple):
    """A message that counts as the one in the log, though its text differs a little."""

    event_id: str
    logged: str
    now: str


class Followed(NamedTuple):
    """The result of following a chat.

    `kept` messages were in the log already, `added` are new there, `replaced` are no longer in this branch:
    the branch `branch` has them. `carried` later events of others were taken along, `lost` could not be.
    `provisional` messages wait for the next one to confirm them. `near` differ a little from the log.
    """

    change: Change
    kept: int = 0
    added: int = 0
    replaced: int = 0
    branch: str | None = None
    provisional: int = 0
    carried: int = 0
    lost: int = 0
    near: tuple[NearMessage, ...] = ()


class ChatPlan(NamedTuple):
    """The changes that would make the log agree with a chat.

    The first `kept` messages stay. Everything of the chat after the event at `after` is replaced if
    `replaced` is not empty. Of the new messages, the last `again` are copies of the last replaced ones.
    """

    kept: int
    after: int
    replaced: list[LoggedMessage]
    again: int
    near: tuple[NearMessage, ...] = ()


class ChatHistory:
    """One chat of a campaign.

    `people` perceive every message that names no witnesses, beside those who speak in the chat; each has a
    role: `pc`, `npc` or None.
    `on_rewrite` is called with the branch that keeps what was replaced.
    """

    def __init__(
        self,
        log: BranchLog,
        store: Store,
        chat: str,
        *,
        people: Mapping[str, str | None] | None = None,
        on_rewrite: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._log, self._store, self.chat = log, store, chat
        self._people = dict(people or {})
        self._on_rewrite = on_rewrite
        self._chat_log = ChatLog(store, chat)

    def among(self, people: Mapping[str, str | None]) -> "ChatHistory":
        """Return the same chat with other people who perceive it. What was read of it is shared."""
        other = copy(self)
        vars(other)["_people"] = dict(people)
        return other

    # The chat as a whole.

    def follow(self, messages: Iterable[ChatMessage], *, progress: Progress | None = None) -> Followed:
        """Make the log agree with a whole chat, from its first message to its last.

        `messages` is read twice, so pass a list, or an object that starts again each time it is iterated.
        `progress` gets the messages written so far and their total.
        """
        whole = _WholeChat(self.chat, self._people, messages)
        plan = self._plan_whole(whole)
        if not plan.replaced and plan.kept == len(whole.digests):
            return Followed("unchanged" if plan.kept else "started", kept=plan.kept)
        return self._carry_out(plan, whole.lines, len(whole.digests), whole.hear_all, progress)

    def compare(self, messages: Iterable[ChatMessage]) -> Followed:
        """Return what `follow` would do with a whole chat. Nothing is written."""
        whole = _WholeChat(self.chat, self._people, messages)
        plan = self._plan_whole(whole)
        added = len(whole.digests) - plan.kept
        return Followed(_change(plan, added), kept=plan.kept, added=added, replaced=len(plan.replaced))

    def unplayed(self, messages: Iterable[ChatMessage]) -> UnplayedMessages:
        """Return the messages without those that were played in this campaign before an export wrote them."""
        return UnplayedMessages(messages, self.chat, self._store, self._log.past()[1])

    def newest(self, count: int) -> list[LoggedMessage]:
        """Return the newest messages of the chat that the log has, oldest first."""
        return self._chat_log.newest(self._log.past()[1], count)[0]

    def has_messages(self) -> bool:
        """Return True if the log has any message of this chat."""
        return next(self._chat_log.messages(self._log.past()[1]), None) is not None

    def speakers(self) -> dict[str, str | None]:
        """Return everybody who speaks in the chat, as the log has it, with None for the role."""
        return {message.speaker: None for message in self._chat_log.messages(self._log.past()[1])}

    def last_common(self, messages: Iterable[ChatMessage]) -> int:
        """Return the seq of the last event up to which the log has a chat; that before the chat if none."""
        plan = self._plan_whole(_WholeChat(self.chat, self._people, messages))
        return plan.after if plan.replaced else self._log.head

    def _plan_whole(self, whole: "_WholeChat") -> ChatPlan:
        logged = list(self._chat_log.messages(self._log.past()[1]))
        old, new = [message.digest for message in logged], whole.digests
        kept = common_prefix(old, new)
        again = common_suffix(old, new, after=kept)
        after = logged[kept].seq - 1 if kept < len(logged) else 0
        return ChatPlan(kept, after, logged[kept:], again)

    # A window: the newest messages, as a chat client sends them.

    def follow_window(self, messages: Sequence[ChatMessage], *, settled: bool = False) -> Followed:
        """Make the log agree with the newest messages of a chat, as a client sends them before a reply.

        Messages after the last one of the user are provisional, since they can still be rerolled: they are
        not recorded until a later call has a message of the user behind them, or says `settled`.
        If the messages have nothing in common with the chat in the log, nothing is written.
        """
        sure = list(messages) if settled else _without_provisional(messages)
        waiting = len(messages) - len(sure)
        lineage = self._log.past()[1]
        logged, is_all = self._chat_log.newest(lineage, len(sure) + _LOOK_BACK)
        found = self._match(logged, sure, is_all=is_all)
        if found is None:
            return Followed("unrelated", provisional=waiting)
        replaced = logged[found.old :]
        new = sure[found.new :]
        near = tuple(
            NearMessage(logged[at].event_id, logged[at].text, sure[position].text)
            for at, position in found.near
        )
        if not replaced and not new:
            return Followed("unchanged", kept=found.matched, provisional=waiting, near=near)
        again = 0
        plan = ChatPlan(found.new, replaced[0].seq - 1 if replaced else 0, replaced, again, near)

        def lines(lineage: Lineage, start: int, stop: int) -> Iterator[NewLine]:
            return self._window_lines(new[start - found.new : stop - found.new], lineage, start)

        def hear(events: TranscriptEvents) -> None:
            for message in sure:
                check_name(message.speaker)
                events.hear(message.speaker, message.role, message.session or self.chat)
            for name, role in self._people.items():
                events.hear(name, role, None)

        done = self._carry_out(plan, lines, len(sure), hear, None)
        return done._replace(provisional=waiting)

    def _match(
        self, logged: list[LoggedMessage], sure: list[ChatMessage], *, is_all: bool
    ) -> WindowMatch | None:
        if not logged:
            return WindowMatch(0, 0, 0, 0, [])
        if not sure:
            return None
        found = match_window(
            [message.text for message in logged],
            [message.text for message in sure],
            is_whole_log=is_all,
        )
        is_new = found is not None and is_all and _share_only_greetings(logged, sure, found)
        return None if is_new else found

    def _window_lines(
        self, messages: Sequence[ChatMessage], lineage: Lineage, number: int
    ) -> Iterator[NewLine]:
        """Yield new messages as lines; one whose content the chat has already gets the next free id."""
        digests, taken = ChatDigests(self.chat), set[str]()
        for position, message in enumerate(messages, number):
            content, times = content_digest(message, self.chat), 0
            while True:
                digest = counted_digest(content, times)
                name = digests.event_id(digest)
                if name not in taken and not self._store.seqs_of(lineage, [name]):
                    break
                times += 1
            taken.add(name)
            people = [*self._people, "ALL"] if self._people else None
            yield new_line(
                message, chat=self.chat, number=position, event_id=name, digest=digest, people=people
            )

    # Both.

    def _carry_out(
        self,
        plan: ChatPlan,
        lines: Callable[[Lineage, int, int], Iterator[NewLine]],
        total: int,
        hear: Callable[[TranscriptEvents], None],
        progress: Progress | None,
    ) -> Followed:
        added = total - plan.kept
        old = self._log.past()[1]
        rewrite = self._log.rewritten(plan.after) if plan.replaced else nullcontext(self._log)
        carried = lost = 0
        with rewrite as target:
            events = TranscriptEvents(target, self._store)
            hear(events)
            report = _Report(progress, added)
            middle = total - plan.again
            made = self._write(events, lines(target.past()[1], plan.kept, middle), report)
            if plan.again:
                tail = plan.replaced[-plan.again :]
                if _introduced(plan.replaced[: -plan.again]) == sorted(filter(None, made)):
                    self._copy(target, old, tail, report)
                else:
                    self._write(events, lines(target.past()[1], middle, total), report)
            if plan.replaced and old[-1].upto - plan.after > len(plan.replaced):
                carried, lost = self._carry(target, old, plan.after)
        branch = target.kept if isinstance(target, RewrittenLog) else None
        if branch is not None:
            self._on_rewrite(branch)
        return Followed(
            _change(plan, added),
            kept=plan.kept,
            added=added,
            replaced=len(plan.replaced) - plan.again,
            branch=branch,
            carried=carried,
            lost=lost,
            near=plan.near,
        )

    def _write(self, events: TranscriptEvents, lines: Iterator[NewLine], report: "_Report") -> list[str]:
        """Write lines, and return the names and first words that each of them introduces."""
        introduced: list[str] = []
        while batch := list(islice(lines, BATCH)):
            for event in events.write(batch):
                row = codec.to_row(event, 0, 0)
                message = self._chat_log.read_row(row)
                introduced.append(message.introduces if message is not None else "")
            report.advance(len(batch))
        return introduced

    def _copy(
        self, target: BranchLog, old: Lineage, tail: Sequence[LoggedMessage], report: "_Report"
    ) -> None:
        """Append messages again that stand in the old past, after an edit that introduced nobody."""
        for start in range(0, len(tail), 4 * BATCH):
            part = tail[start : start + 4 * BATCH]
            rows = self._store.events_at(old, [message.seq for message in part])
            target.replay(codec.from_row(rows[message.seq]).placed(None) for message in part)
            report.advance(len(part))

    def _carry(self, target: BranchLog, old: Lineage, after: int) -> tuple[int, int]:
        """Append the later events of others: other chats, play, decisions. Return how many, and how many not.

        Notes that the engine made of the old past stay behind.
        """
        carried = lost = 0
        rows = self._chat_log.other_rows(old, after)
        while page := list(islice(rows, 4 * BATCH)):
            events = [codec.from_row(row) for row in page]
            wanted = [event for event in events if not event.is_note or event.event_type in _CARRIED_NOTES]
            here = {event.event_id for event in wanted}
            needed = [name for event in wanted if (name := _needs(event)) is not None]
            known = here | self._store.seqs_of(target.past()[1], needed).keys()
            sound = [event for event in wanted if _needs(event) in (None, *known)]
            target.replay(event.placed(None) for event in sound)
            carried, lost = carried + len(sound), lost + len(wanted) - len(sound)
        return carried, lost

    def alternatives(self) -> dict[str, list[str]]:
        """Return the swiped texts beside each message of the chat, by event id. None of them is memory."""
        found: dict[str, list[str]] = {}
        lineage = self._log.past()[1]
        for message in self._chat_log.messages(lineage):
            row = self._store.events_at(lineage, [message.seq])[message.seq]
            texts = json.loads(row.metadata).get(CHAT_FIELDS, {}).get("alternatives")
            if texts:
                found[message.event_id] = list(texts)
        return found


class _WholeChat:
    """A chat that is read twice: once for its digests and people, once for the lines to write."""

    def __init__(self, chat: str, people: Mapping[str, str | None], messages: Iterable[ChatMessage]) -> None:
        self._chat, self._messages, self._listeners = chat, messages, people
        self._speakers: dict[tuple[str, str | None, str], None] = {}
        digests = ChatDigests(chat)
        own: list[str] = []
        kept, room = list[ChatMessage](), _KEPT_TEXT
        with NO_COLLECTION:
            for message in messages:
                room -= len(message.text) + len(message.fields) + _MESSAGE_SIZE
                if room > 0:
                    kept.append(message)
                self._speakers[message.speaker, message.role, message.session or chat] = None
                mark = "" if message.witnesses is None else "-"
                own.append(digests.next_digest(message) + mark)
        self.people = sorted({*people, *(check_name(name) for name, _, _ in self._speakers)})
        if room > 0:
            self._messages = kept  # a chat of this size need not be read again
        suffix = f"+{people_digest(self.people)}"
        self.digests = [digest if digest.endswith("-") else digest + suffix for digest in own]

    def hear_all(self, events: TranscriptEvents) -> None:
        """Tell the writer of everybody who speaks."""
        for name, role, session in self._speakers:
            events.hear(name, role, session)
        for name, role in self._listeners.items():
            events.hear(name, role, None)

    def lines(self, _lineage: Lineage, start: int, stop: int) -> Iterator[NewLine]:
        """Yield some of the messages as lines for the log."""
        names = ChatDigests(self._chat)
        for number, message in enumerate(islice(self._messages, start, stop), start):
            digest = self.digests[number]
            yield new_line(
                message,
                chat=self._chat,
                number=number,
                event_id=names.event_id(digest.rpartition("+")[0] or digest.rstrip("-")),
                digest=digest,
                people=self.people,
            )


class _Report:
    """Counts what is written, and tells it."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def advance(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self._total)


def _share_only_greetings(
    logged: Sequence[LoggedMessage], sure: Sequence[ChatMessage], found: WindowMatch
) -> bool:
    """Return True if two chats have nothing in common after their greetings: the second one is a new chat."""
    old = _first_true(message.is_user for message in logged)
    new = _first_true(message.is_user for message in sure)
    if not old or old > len(logged) or not new or found.old > old:
        return False
    texts = {message.text for message in logged[old:]}
    if any(message.text in texts for message in sure[new:]):
        return False
    keys = {loose_key(text) for text in texts}
    return not any(loose_key(message.text) in keys for message in sure[new:])


def _first_true(marks: Iterable[bool]) -> int:
    """Return the position of the first mark that is True, or a number beyond all of them."""
    return next((at for at, mark in enumerate(marks) if mark), sys.maxsize)


def _change(plan: ChatPlan, added: int) -> Change:
    if plan.replaced:
        return "edited" if added else "cut"
    if not plan.kept:
        return "started"
    return "appended" if added else "unchanged"


def _introduced(messages: Iterable[LoggedMessage]) -> list[str]:
    return sorted(message.introduces for message in messages if message.introduces)


def _needs(event: GameEvent) -> str | None:
    """Return the id of the event that another one is about, if it cannot stand without it."""
    return event.known.gate.target if event.known.gate is not None else event.known.valid_from


def _without_provisional(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages up to the last one of the user."""
    last = max((number for number, message in enumerate(messages) if message.is_user), default=-1)
    return list(messages[: last + 1])
