"""SillyTavern chats: JSON lines, solo or of a group, with or without a header, and group files."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dndbots._jsontext import as_json
from dndbots.ids import DM, fold_name
from dndbots.interop.formats.bounds import (
    as_dict,
    clean_name,
    clean_text,
    cut_text,
    parse_json,
    read_bytes,
    text_lines,
)
from dndbots.interop.formats.dates import Sessions, parse_date
from dndbots.interop.formats.html_text import has_html, html_to_text
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, NotUnderstood, ReadFile
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.readers import cards

FAMILY: Final = "SillyTavern chat"
# Messages of the program itself.
_NOISE: Final = frozenset(
    ("help", "welcome", "empty", "generic", "slash_commands", "formatting", "hotkeys", "macros",
     "welcome_prompt", "assistant_note", "assistant_message", "comment")
)  # fmt: skip
_PROGRAM: Final = "sillytavern system"
_THOUGHTS: Final = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_COMMENT: Final = re.compile(r"\{\{//[^{}]*\}\}")
_NOBODY: Final = "You"
_MOST_PROBLEMS: Final = 1_000
_OPENING: Final = 50
# Fields that a message is made from. All others are kept as they are.
_READ: Final = ("name", "mes", "is_user", "swipes")


def is_chat_line(value: Any) -> bool:
    """Return True for the header or a message of a chat."""
    if not isinstance(value, dict):
        return False
    return "chat_metadata" in value or "user_name" in value or ("mes" in value and "is_user" in value)


def read_chat(path: Path, options: ImportOptions) -> ReadFile:
    """Return the chat of a file. Its lines are read one at a time."""
    problems: list[NotUnderstood] = []
    messages = _Messages(path, options, problems)
    header = messages.header
    metadata = as_dict(header.get("chat_metadata"))
    parent = clean_name(metadata.get("main_chat")) or None
    group = _group_beside(path)
    chat = ImportedChat(
        messages.chat,
        messages,
        people=_members(group, path.parent.parent),
        parent=parent,
        fields={"header": header},
    )
    return ReadFile(FAMILY, chats=(chat,), problems=problems)


def read_group(path: Path, value: Mapping[str, Any]) -> ReadFile:
    """Return a remark on a group file: it has no play, but is read when it stands beside its chats."""
    members = ", ".join(_members(value, path.parent.parent))
    remark = f"a group with {members or 'nobody'}; keep it beside its chats, and its members perceive them"
    return ReadFile("SillyTavern group", remarks=(remark,))


class _Messages:
    """The messages of one file, read again each time they are iterated."""

    def __init__(self, path: Path, options: ImportOptions, problems: list[NotUnderstood]) -> None:
        self._path, self._options, self._problems = path, options, problems
        self._roles = SpeakerRoles(options)
        self.header = self._read_header()
        self.chat = clean_name(path.stem, "chat")
        self._user = _real_name(self.header.get("user_name")) or self._first_user()
        self._character = _real_name(self.header.get("character_name"))

    def _read_header(self) -> dict[str, Any]:
        for _, text in text_lines(self._path):
            if text.strip():
                try:
                    value = parse_json(text)
                except ValueError:
                    return {}
                return value if isinstance(value, dict) and "mes" not in value else {}
        return {}

    def _first_user(self) -> str:
        """Return the name of the first message of the user, if it is near the beginning."""
        for number, text in text_lines(self._path):
            if number > _OPENING:
                break
            if '"is_user"' in text:
                try:
                    value = as_dict(json.loads(text))
                except (ValueError, RecursionError):
                    continue
                if value.get("is_user") is True:
                    return clean_name(value.get("name"))
        return ""

    def __iter__(self) -> Iterator[ChatMessage]:
        self._problems.clear()
        sessions = Sessions(self.chat, self._options.session)
        is_first = True
        for number, text in text_lines(self._path):
            if not text.strip():
                continue
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                self._complain(number, "the line is not JSON; SillyTavern skips it too")
                is_first = False
                continue
            if is_first and isinstance(value, dict) and "mes" not in value:
                is_first = False
                continue
            is_first = False
            message = self._message(number, value, text, sessions)
            if message is not None:
                yield message

    def _complain(self, number: int, reason: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(NotUnderstood(f"line {number}", reason))

    def _message(self, number: int, value: Any, raw: str, sessions: Sessions) -> ChatMessage | None:
        if not isinstance(value, dict) or "mes" not in value:
            self._complain(number, "the line has no message (mes)")
            return None
        if not isinstance(value["mes"], (str, dict, type(None))):
            self._complain(number, "its message (mes) is no text")
            return None
        extra = as_dict(value.get("extra"))
        name = clean_name(value.get("name"))
        kind = str(extra.get("type"))
        if kind in _NOISE or extra.get("uses_system_ui") or fold_name(name) == _PROGRAM:
            return None
        original = _text_of(value["mes"])
        text = self._text(original, name)
        if not text:
            return None  # an empty reply says nothing, and is kept by nobody
        is_user = value.get("is_user") is True
        time = parse_date(value.get("send_date"))
        speaker, role = self._speaker(name, is_user=is_user, is_narrator=kind == "narrator")
        swipes = value.get("swipes")
        is_swiped = isinstance(swipes, list) and len(swipes) > 1
        alternatives = tuple(clean_text(_text_of(swipe)) for swipe in swipes or ()) if is_swiped else ()
        fields = {key: inner for key, inner in value.items() if key not in _READ}
        if original != text:
            fields["mes"] = original
        if name != speaker:
            fields["name"] = name
        return ChatMessage(
            speaker,
            cut_text(text),
            role=role,
            is_user=is_user,
            session=sessions.name_at(time),
            time=time.isoformat() if time else None,
            alternatives=alternatives,
            fields=_fields_text(fields, raw),
        )

    def _text(self, original: str, name: str) -> str:
        text = original
        if "{{" in text:
            user = self._options.persona or self._user or "User"
            text = _COMMENT.sub("", text.replace("{{user}}", user))
            text = text.replace("{{char}}", self._character or name or "the narrator")
        if "<" in text or "&" in text:
            text = _THOUGHTS.sub("", text)
            text = html_to_text(text) if has_html(text) else text
        return clean_text(text)

    def _speaker(self, name: str, *, is_user: bool, is_narrator: bool) -> tuple[str, str | None]:
        if is_user:
            own = "" if name == _NOBODY else name  # old chats call every user so
            return self._roles.cast(own or self._user or name or "User", "pc", is_user=True)
        speaker = name or self._character or "Narrator"
        if is_narrator:
            return self._roles.cast(speaker, DM)[0], DM
        return self._roles.cast(speaker, "npc")


def _text_of(value: Any) -> str:
    """Return the text of a message. Chub has objects with a `message` instead."""
    if isinstance(value, dict):
        value = value.get("message")
    return value if isinstance(value, str) else ""


def _fields_text(fields: dict[str, Any], raw: str) -> str:
    """Return fields as JSON that can be stored. Escapes that cannot are rare, and told by the raw line."""
    if not fields:
        return ""
    try:
        text = as_json(fields)
    except (ValueError, RecursionError):
        return ""
    if "\\u" in raw or "\ufffd" in raw or "\x00" in raw:
        text = clean_text(text)
        try:
            json.loads(text)
        except ValueError:
            return ""
    return text


def _real_name(value: Any) -> str:
    name = clean_name(value)
    return "" if name == "unused" else name


def _group_beside(path: Path) -> dict[str, Any]:
    """Return the group file of a group chat: it stands in the folder `groups` or beside the chat."""
    folders = [path.parent, path.parent.parent / "groups"]
    for folder in folders:
        for file in sorted(folder.glob("*.json"))[:200] if folder.is_dir() else ():
            try:
                if file.stat().st_size > 1 << 20:
                    continue
                group = parse_json(file.read_text("utf-8", "replace"))
            except (OSError, ValueError):
                continue
            if isinstance(group, dict) and isinstance(group.get("members"), list):
                chats = group.get("chats")
                if group.get("chat_id") == path.stem or (isinstance(chats, list) and path.stem in chats):
                    return group
    return {}


def _members(group: Mapping[str, Any], home: Path) -> dict[str, str | None]:
    """Return the members of a group who are not muted; `home` is the folder that holds chats and cards."""
    disabled = group.get("disabled_members")
    gone = set(map(str, disabled)) if isinstance(disabled, list) else set()
    members = group.get("members")
    files = [str(file) for file in members] if isinstance(members, list) else []
    names = [_name_on_card(home / "characters" / Path(file).name) for file in files if file not in gone]
    return {name: "npc" for name in names if name}


def _name_on_card(picture: Path) -> str:
    """Return the name on the card of a member; without the card, that of its file."""
    try:
        return cards.read_picture(read_bytes(picture)).name
    except (OSError, ValueError):
        return clean_name(picture.stem)
