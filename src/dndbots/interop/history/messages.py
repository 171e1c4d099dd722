"""Messages of a chat, and the digests by which the log recognises them."""

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from dndbots.events import CHAT, CHAT_FIELDS
from dndbots.ids import slug
from dndbots.interop.transcript_events import NewLine, TranscriptLine

_LONGEST_SLUG: Final = 24
_SEPARATOR: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a chat, as it stands now.

    `role` is `dm`, `pc` or `npc`. A message with `is_user` was written by the person at the keyboard. Without
    `witnesses`, everybody in the chat perceives it. `alternatives` are texts that were rerolled or swiped
    away, `fields` (JSON) those that only the chat's program understands: both are kept, neither is memory.
    """

    speaker: str
    text: str
    role: str | None = None
    is_user: bool = False
    session: str | None = None
    witnesses: tuple[str, ...] | None = None
    location: str | None = None
    time: str | None = None
    alternatives: tuple[str, ...] = ()
    fields: str = ""


class ChatDigests:
    """Gives each message of a chat its digest and its event id, in order.

    The same message gets the same id wherever it stands, so what people decided about it survives an edit
    before it. A second message with the same content counts as the second.
    """

    def __init__(self, chat: str) -> None:
        self._chat = chat
        self._prefix = slug(chat)[:_LONGEST_SLUG]
        self._times: dict[bytes, int] = {}

    def next_digest(self, message: ChatMessage) -> str:
        """Return the digest of the next message of the chat."""
        content = content_digest(message, self._chat)
        times = self._times.get(content, 0)
        self._times[content] = times + 1
        return counted_digest(content, times)

    def event_id(self, digest: str) -> str:
        """Return the id of the event that a message becomes."""
        return f"{self._prefix}:{digest}"


def content_digest(message: ChatMessage, chat: str) -> bytes:
    """Return a digest of everything in a message that memory is made from."""
    whose = "*" if message.witnesses is None else _SEPARATOR.join(message.witnesses)
    parts = (
        chat,
        message.session or "",
        message.speaker,
        message.role or "",
        message.text,
        message.location or "",
        message.time or "",
        whose,
    )
    text = "\x1e".join(parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def counted_digest(content: bytes, times: int) -> str:
    """Return the digest of a message whose content stood in the chat so many times before."""
    if not times:
        return content.hex()
    return hashlib.blake2b(content + times.to_bytes(8, "big"), digest_size=8).hexdigest()


def people_digest(people: Iterable[str]) -> str:
    """Return a digest of the people who perceive the messages that name no witnesses."""
    text = _SEPARATOR.join(sorted(people))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def new_line(
    message: ChatMessage, *, chat: str, number: int, event_id: str, digest: str, people: list[str] | None
) -> NewLine:
    """Return a message as a line for the log. Without `people`, all who speak in its session perceive it."""
    witnesses = people if message.witnesses is None else list(message.witnesses)
    # The event that it becomes is checked; names are, when they are heard.
    line = TranscriptLine.model_construct(
        id=event_id,
        session=message.session or chat,
        speaker=message.speaker,
        role=message.role,
        text=message.text,
        witnesses=witnesses,
        location=message.location,
        time=message.time,
    )
    by: dict[str, JsonValue] = {"id": chat, "by": message.speaker}
    if message.is_user:
        by["user"] = True
    aside: dict[str, JsonValue] = {CHAT: by}
    beside: dict[str, JsonValue] = {}
    if message.alternatives:
        beside["alternatives"] = [*message.alternatives]
    if message.fields:
        beside["fields"] = message.fields
    if beside:
        aside[CHAT_FIELDS] = beside
    return NewLine(number, line, event_id, digest, aside)


def plain_text(text: str) -> str:
    """Return a text with its letters composed and its line ends unified, without spaces around it."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
