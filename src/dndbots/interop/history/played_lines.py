"""Lines of a chat that were played here: a game was exported as a chat, went on there, and comes back."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dndbots.interop.history.alignment import loose_key
from dndbots.interop.history.chat_log import ChatLog
from dndbots.interop.history.messages import ChatMessage
from dndbots.storage.ports import Lineage, Store

# The key under which an export tells the event of a line, and its header that there are such lines.
PLAYED: Final = "dndbots"
_NEAR: Final = f'"{PLAYED}"'


def has_played_lines(fields: Mapping[str, Any]) -> bool:
    """Return True if the header of a chat says that an export of dndbots wrote its first lines."""
    header = fields.get("header")
    metadata = header.get("chat_metadata") if isinstance(header, dict) else None
    return isinstance(metadata, dict) and PLAYED in metadata


class UnplayedMessages:
    """The messages of a chat without those that the log has as play.

    `played` counts the lines that were left out. `changed` are the ids of those whose text is another one
    now: a game is not rewritten from outside.
    """

    def __init__(self, messages: Iterable[ChatMessage], chat: str, store: Store, lineage: Lineage) -> None:
        self._messages = messages
        texts = {name: message.text for message in messages if (name := _event_of(message))}
        rows = store.events_at(lineage, list(store.seqs_of(lineage, list(texts)).values()))
        chat_log = ChatLog(store, chat)
        known = {row.event_id: row.content for row in rows.values() if chat_log.read_row(row) is None}
        self._known = known.keys()
        self.played = len(known)
        self.changed = [name for name, text in known.items() if not _is_told(text, texts[name])]

    def __iter__(self) -> Iterator[ChatMessage]:
        for message in self._messages:
            if _event_of(message) not in self._known:
                yield message


def _event_of(message: ChatMessage) -> str | None:
    """Return the id of the event that an export wrote a line from."""
    if _NEAR not in message.fields:
        return None
    extra = json.loads(message.fields).get("extra")
    name = extra.get(PLAYED) if isinstance(extra, dict) else None
    return name if isinstance(name, str) else None


def _is_told(played: str, text: str) -> bool:
    """Return True if a line tells what was played; an export says before a whisper whom it is for."""
    return loose_key(text).endswith(loose_key(played))
