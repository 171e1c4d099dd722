"""SillyTavern chats: the play that a viewer perceived as JSON lines, to read it or go on there."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from dndbots.events import CHAT, CHAT_FIELDS, EventType, GameEvent
from dndbots.ids import DM, fold_name
from dndbots.interop.formats.neutral import ImportedChat
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.history.played_lines import PLAYED
from dndbots.interop.writers.knowledge import CampaignViews, ViewerKnowledge

# The first message of a story without dates; each later one is a minute after the one before.
_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
_NARRATOR: Final = "Narrator"


def chat_lines(
    campaign: CampaignViews,
    viewer: str = DM,
    *,
    user: str | None = None,
    chat: str | None = None,
    session: str | None = None,
) -> Iterator[str]:
    """Yield the lines of a chat file: all play that a viewer perceived, or that of one chat or session.

    `user` is the character whose lines are the user's; without it, the one whom an imported chat says, or
    the first of the party.
    """
    knowledge = ViewerKnowledge(campaign, viewer)
    events = [
        event
        for event in knowledge.played()
        if (session is None or event.session_id == session) and (chat is None or _chat_of(event) == chat)
    ]
    person = _user_of(events, knowledge, user)
    character = next((_name(event, knowledge) for event in events if event.source != person), _NARRATOR)
    name = knowledge.names.get(person, user or "User")
    header = _header(name, character, chat or session or "dndbots")
    header["chat_metadata"][PLAYED] = {"viewer": viewer}
    yield _line(header)
    last = _BEGINNING
    for event in events:
        last = event.timestamp or last + timedelta(minutes=1)
        yield _line(_message(event, knowledge, is_user=event.source == person, date=last))


def _header(user: str, character: str, title: str) -> dict[str, Any]:
    digest = hashlib.blake2b(title.encode("utf-8"), digest_size=16).hexdigest()
    integrity = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))
    return {"chat_metadata": {"integrity": integrity}, "user_name": user, "character_name": character}


def _message(
    event: GameEvent, knowledge: ViewerKnowledge, *, is_user: bool, date: datetime
) -> dict[str, Any]:
    fields = _fields_of(event)
    name = str(fields.pop("name", _name(event, knowledge)))
    stamp = date.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message: dict[str, Any] = {
        "name": name,
        "is_user": is_user,
        "is_system": False,
        "send_date": stamp,
        "mes": _text(event, knowledge),
        "extra": {},
    }
    kept = event.metadata.get(CHAT_FIELDS)
    swipes = kept.get("alternatives") if isinstance(kept, dict) else None
    if isinstance(swipes, list) and swipes:
        message["swipes"] = swipes
    if event.event_type is EventType.DM_NARRATION and not fields and name in ("DM", _NARRATOR):
        message["extra"] = {"type": "narrator"}
    if CHAT not in event.metadata:
        message["extra"][PLAYED] = event.event_id  # so that the line is known when the chat comes back
    return {**message, **fields}


def _text(event: GameEvent, knowledge: ViewerKnowledge) -> str:
    names = knowledge.hearers(event)
    return f"*whispers to {', '.join(names)}* {event.content}" if names else event.content


def _name(event: GameEvent, knowledge: ViewerKnowledge) -> str:
    chat = event.metadata.get(CHAT)
    if isinstance(chat, dict) and chat.get("by"):
        return str(chat["by"])
    name = knowledge.speaker(event)
    return _NARRATOR if name == "DM" else name


def _chat_of(event: GameEvent) -> str | None:
    chat = event.metadata.get(CHAT)
    return str(chat.get("id")) if isinstance(chat, dict) else None


def _user_of(events: Iterable[GameEvent], knowledge: ViewerKnowledge, user: str | None) -> str:
    if user is not None:
        folded = fold_name(user)
        return next((uid for uid, name in knowledge.names.items() if fold_name(name) == folded), user)
    sources = []
    for event in events:
        chat = event.metadata.get(CHAT)
        if isinstance(chat, dict) and chat.get("user") is True:
            return event.source
        sources.append(event.source)
    if knowledge.viewer != DM:
        return knowledge.viewer
    return next((uid for uid in sources if uid.startswith("pc_")), "")


def _fields_of(event: GameEvent) -> dict[str, Any]:
    """Return the fields that the chat's own program had; only the DM sees them."""
    kept = event.metadata.get(CHAT_FIELDS)
    text = kept.get("fields") if isinstance(kept, dict) else None
    fields = json.loads(text) if isinstance(text, str) and text else {}
    return fields if isinstance(fields, dict) else {}


def write_chat(chat: ImportedChat) -> Iterator[str]:
    """Yield the lines of a neutral chat. A chat that came from SillyTavern comes back as it was."""
    header = chat.fields.get("header")
    if not isinstance(header, dict) or not header:
        user = next((message.speaker for message in chat.messages if message.is_user), "User")
        header = _header(user, chat.name, chat.name)
    yield _line(header)
    for message in chat.messages:
        yield _line(_as_line(message))


def _as_line(message: ChatMessage) -> dict[str, Any]:
    fields = json.loads(message.fields) if message.fields else {}
    made: dict[str, Any] = {"name": message.speaker, "is_user": message.is_user, "mes": message.text}
    if message.time:
        made["send_date"] = message.time
    if message.alternatives:
        made["swipes"] = list(message.alternatives)
    return {**made, **fields}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
