"""The messages of a chat that the log has: read oldest first, or only the newest."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from dndbots.canon.event_marks import session_mark
from dndbots.events import CHAT, LINE
from dndbots.ids import DM
from dndbots.storage.ports import EventRow, Lineage, Store

_PAGE: Final = 1_000
_NEAR: Final = f'"{CHAT}":'


class LoggedMessage(NamedTuple):
    """A message of a chat in the log. `introduces` are the names and first words that its event has."""

    seq: int
    event_id: str
    digest: str
    speaker: str
    text: str
    is_user: bool
    introduces: str


class _Kept(NamedTuple):
    """The newest messages of a chat as they were read last, and whether these are all of them."""

    lineage: Lineage
    messages: list[LoggedMessage]
    is_all: bool


class ChatLog:
    """Reads the messages of one chat from the log. The newest ones are kept for the next time."""

    def __init__(self, store: Store, chat: str) -> None:
        self._store, self._chat = store, chat
        self._kept = _Kept((), [], is_all=False)

    def messages(self, lineage: Lineage) -> Iterator[LoggedMessage]:
        """Yield all messages of the chat, oldest first, without their texts: there may be many."""
        first, found = self._first(lineage), False
        while True:
            for row in self._rows(lineage, first):
                message = self.read_row(row)
                if message is not None:
                    found = True
                    yield message._replace(text="")
            if found or not first:
                return
            first = 0  # the session of that name is another one's

    def newest(self, lineage: Lineage, count: int) -> tuple[list[LoggedMessage], bool]:
        """Return the newest messages of the chat, oldest first, and whether these are all of them."""
        since = _agree_upto(self._kept.lineage, lineage)
        known = [message for message in self._kept.messages if message.seq <= since] if since else []
        if known:
            known += filter(None, map(self.read_row, self._rows(lineage, since)))
        if len(known) < count and not (known and self._kept.is_all):
            self._kept = _Kept(lineage, *self._read_newest(lineage, count))
        else:
            self._kept = _Kept(lineage, known, self._kept.is_all)
        found, is_all = self._kept.messages, self._kept.is_all
        return found[-count:], is_all and len(found) <= count

    def _read_newest(self, lineage: Lineage, count: int) -> tuple[list[LoggedMessage], bool]:
        first, limit = self._first(lineage), count
        while True:
            seqs = self._store.newest_perceived(lineage, DM, limit=limit)
            rows = self._store.events_at(lineage, seqs)
            found = [message for seq in sorted(seqs) if (message := self.read_row(rows[seq])) is not None]
            is_all = len(seqs) < limit or not seqs or seqs[-1] <= first
            if len(found) >= count or is_all:
                return found, is_all
            limit *= 4

    def other_rows(self, lineage: Lineage, after: int) -> Iterator[EventRow]:
        """Yield the events after a seq that are no messages of this chat."""
        for row in self._rows(lineage, after):
            if self.read_row(row) is None:
                yield row

    def read_row(self, row: EventRow) -> LoggedMessage | None:
        """Return the message of the chat that an event is, if it is one."""
        if _NEAR not in row.metadata:
            return None
        metadata: dict[str, Any] = json.loads(row.metadata)
        chat = metadata.get(CHAT)
        if not isinstance(chat, dict) or chat.get("id") != self._chat:
            return None
        introduced = {key: metadata[key] for key in ("names", "introduced_to", "speakers") if key in metadata}
        return LoggedMessage(
            row.seq,
            row.event_id,
            str(metadata.get(LINE)),
            str(chat.get("by")),
            row.content,
            chat.get("user") is True,
            json.dumps(introduced, sort_keys=True) if introduced else "",
        )

    def _first(self, lineage: Lineage) -> int:
        """Return a seq before the first message: the first session of a chat has the chat's name."""
        mark = session_mark(self._chat)
        return max(self._store.first_sighted(lineage, [mark], DM).get(mark, 1) - 1, 0)

    def _rows(self, lineage: Lineage, after: int) -> Iterator[EventRow]:
        while rows := self._store.events(lineage, after=after, limit=_PAGE):
            yield from rows
            after = rows[-1].seq


def _agree_upto(one: Lineage, other: Lineage) -> int:
    """Return the seq up to which two pasts are the same."""
    common = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine.branch != theirs.branch:
            break
        common = min(mine.upto, theirs.upto)
        if mine.upto != theirs.upto:
            break
    return common
