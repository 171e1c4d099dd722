"""Chats and stories of RisuAI, Agnai, KoboldAI, text-generation-webui, CAI Tools and NovelAI."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dndbots.ids import DM
from dndbots.interop.formats.bounds import as_dict, as_list, clean_name, clean_text, cut_text, first_text
from dndbots.interop.formats.dates import Sessions, parse_date
from dndbots.interop.formats.html_text import has_html, html_to_text
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, LoreBook, ReadFile
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.readers.lorebooks import (
    read_kobold_world,
    read_novelai,
    read_risu,
    read_story_cards,
)

_PICTURES: Final = re.compile(r"\[<\|[ph]\|[^|]{0,10000000}\|[ph]\|>\] ?")
_INSTRUCT: Final = re.compile(r"(\{\{\[(?:INPUT|OUTPUT)(?:_END)?\]\}\})")
_ACTION: Final = re.compile(r"^\s*>\s*")
_ID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{10,40}|[0-9a-fA-F]{16,64}")
_NARRATOR: Final = "Narrator"


class ChatLines:
    """The messages of a chat that is read whole, collected one by one."""

    def __init__(self, chat: str, options: ImportOptions) -> None:
        self._roles, self._sessions = SpeakerRoles(options), Sessions(chat, options.session)
        self.messages: list[ChatMessage] = []

    def add(
        self,
        name: str,
        text: Any,
        role: str,
        *,
        is_user: bool = False,
        time: Any = None,
        alternatives: Iterable[Any] = (),
    ) -> None:
        """Add a message, unless it has no text."""
        plain = clean_text(text)
        plain = clean_text(html_to_text(plain)) if has_html(plain) else plain
        if not plain:
            return
        speaker, cast_as = self._roles.cast(clean_name(name, _NARRATOR), role, is_user=is_user)
        date = parse_date(time)
        self.messages.append(
            ChatMessage(
                speaker,
                cut_text(plain),
                role=cast_as,
                is_user=is_user,
                session=self._sessions.name_at(date),
                time=date.isoformat() if date else None,
                alternatives=tuple(filter(None, map(clean_text, alternatives))),
            )
        )


def read_risu_chat(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return a chat of RisuAI. Comments are no play; switched-off messages are, they only save tokens."""
    data = as_dict(value.get("data"))
    chat = clean_name(title) or "Risu chat"
    lines = ChatLines(chat, options)
    others: dict[str, str] = {}
    for message in as_list(data.get("message")):
        fields = as_dict(message)
        if fields.get("isComment"):
            continue
        is_user = fields.get("role") == "user"
        name = first_text(fields, "name") or ("User" if is_user else _risu_name(fields, others))
        lines.add(name, fields.get("data"), "pc" if is_user else "npc", is_user=is_user,
                  time=fields.get("time"))  # fmt: skip
    lore = as_list(data.get("localLore"))
    books = (read_risu({"data": lore}, f"{chat} lore"),) if lore else ()
    return ReadFile("RisuAI chat", chats=(ImportedChat(chat, lines.messages),), books=books)


def _risu_name(fields: Mapping[str, Any], others: dict[str, str]) -> str:
    """Return a name for a character that a group chat tells only by an id."""
    saying = clean_name(fields.get("saying"))
    if saying and not _ID.fullmatch(saying):
        return saying
    return others.setdefault(saying, "Character" if not others else f"Character {len(others) + 1}")


def read_agnai_chat(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return a chat of Agnai: a message with a user id is a person's."""
    chat = clean_name(title) or "Agnai chat"
    lines = ChatLines(chat, options)
    character = clean_name(value.get("name"), "Character")
    messages = as_list(value.get("messages"))
    if value.get("greeting") and value["greeting"] != as_dict(next(iter(messages), None)).get("msg"):
        lines.add(character, value["greeting"], "npc")
    for message in messages:
        fields = as_dict(message)
        is_user = bool(fields.get("userId")) and not fields.get("characterId")
        name = first_text(fields, "handle", "name") or ("User" if is_user else character)
        lines.add(name, fields.get("msg"), "pc" if is_user else "npc", is_user=is_user,
                  time=fields.get("createdAt"))  # fmt: skip
    return ReadFile("Agnai chat", chats=(ImportedChat(chat, lines.messages),))


def read_webui_chat(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return a chat of text-generation-webui: pairs of the user's words and the reply."""
    lines = ChatLines(title, options)
    other = clean_name(first_text(value, "character", "name2", "name"), "Character")
    for pair in as_list(value.get("visible") or value.get("data_visible")):
        own, reply = (*as_list(pair), "", "")[:2]
        lines.add(clean_name(value.get("name1"), "You"), own, "pc", is_user=True)
        lines.add(other, reply, "npc")
    return ReadFile("text-generation-webui chat", chats=(ImportedChat(title, lines.messages),))


def read_cai_chats(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return the chats of a CAI Tools export."""
    histories = as_dict(value.get("histories")).get("histories") or value.get("histories")
    chats = []
    for number, history in enumerate(as_list(histories), 1):
        name = title if number == 1 else f"{title} {number}"
        lines = ChatLines(name, options)
        for message in as_list(as_dict(history).get("msgs")):
            source = as_dict(as_dict(message).get("src"))
            is_user = source.get("is_human") is True
            lines.add(clean_name(source.get("name"), "User" if is_user else "Character"),
                      as_dict(message).get("text"), "pc" if is_user else "npc", is_user=is_user)  # fmt: skip
        chats.append(ImportedChat(name, lines.messages))
    return ReadFile("CAI Tools chats", chats=tuple(chats))


def read_kobold_save(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return a save of KoboldAI, KoboldAI Lite or United: a story, or a chat with names, and its lore."""
    settings = as_dict(value.get("savedsettings"))
    text = _PICTURES.sub("", "".join(_kobold_parts(value)))
    lines = ChatLines(title, options)
    user = clean_name(settings.get("chatname"), "User")
    others = str(settings.get("chatopponent") or "").split("||$||")
    if settings.get("opmode") == 3:
        _add_named_lines(lines, text, user, [name for name in map(clean_name, others) if name])
    elif settings.get("opmode") == 4 or "{{[INPUT]}}" in text:
        _add_instructions(lines, text, user, clean_name(others[0], _NARRATOR))
    else:
        for part in map(clean_text, _kobold_parts(value)):
            is_own = _ACTION.match(part) is not None
            lines.add(user if is_own else _NARRATOR, _ACTION.sub("", _PICTURES.sub("", part)),
                      "pc" if is_own else DM, is_user=is_own)  # fmt: skip
    world = value.get("worldinfo") or value.get("cwi")
    united = as_dict(value.get("worldinfo_v2")).get("entries")
    entries = [*as_list(world), *(list(united.values()) if isinstance(united, dict) else as_list(united))]
    memory = first_text(value, "memory", "cm")
    book = read_kobold_world(entries, f"{title} lore")
    if memory:
        kept = [*(entry.fields for entry in book.entries), {"comment": "Memory", "content": memory}]
        book = read_kobold_world([dict(entry) for entry in kept], f"{title} lore")
    books: tuple[LoreBook, ...] = (book,) if book.entries else ()
    chats = (ImportedChat(title, lines.messages),) if lines.messages else ()
    return ReadFile("KoboldAI save", chats=chats, books=books)


def _kobold_parts(value: Mapping[str, Any]) -> Iterator[str]:
    yield clean_text(value.get("prompt")) + "\n"
    actions = value.get("actions", value.get("ga"))
    if isinstance(actions, dict):  # United
        inner = actions.get("actions", actions)
        actions = [inner[key] for key in sorted(inner, key=_as_number)] if isinstance(inner, dict) else []
    for action in as_list(actions):
        text = as_dict(action).get("Selected Text") if isinstance(action, dict) else action
        yield text if isinstance(text, str) else ""


def _as_number(key: str) -> int:
    return int(key) if key.isdigit() and len(key) < 12 else 0


def _add_named_lines(lines: ChatLines, text: str, user: str, others: list[str]) -> None:
    """Split a text at lines that begin with one of the known names."""
    names = sorted({user, *others}, key=len, reverse=True)
    mark = re.compile(rf"^({'|'.join(map(re.escape, names))}):[ \t]*", re.MULTILINE)
    before, *rest = mark.split(text)
    lines.add(_NARRATOR, before, DM)
    for name, words in zip(rest[::2], rest[1::2], strict=False):
        lines.add(name, words, "pc" if name == user else "npc", is_user=name == user)


def _add_instructions(lines: ChatLines, text: str, user: str, other: str) -> None:
    is_own = False
    for part in _INSTRUCT.split(text):
        if _INSTRUCT.fullmatch(part):
            is_own = part == "{{[INPUT]}}"
        else:
            lines.add(user if is_own else other, part, "pc" if is_own else DM, is_user=is_own)


def is_scenario(value: Mapping[str, Any]) -> bool:
    """Return True for a scenario of AI Dungeon, of today or from before 2022."""
    return isinstance(value.get("storyCards"), list) or isinstance(value.get("worldInfo"), list)


def read_scenarios(values: Iterable[Any], title: str, options: ImportOptions) -> ReadFile:
    """Return scenarios of AI Dungeon: their lore, and the prompt with which play begins."""
    chats, books = [], []
    for fields in map(as_dict, values):
        name = clean_name(fields.get("title"), title)
        cards = as_list(fields.get("storyCards")) or as_list(fields.get("worldInfo"))
        memory = first_text(fields, "memory")
        if memory:
            cards = [*cards, {"title": "Memory", "value": memory}]
        if cards:
            books.append(read_story_cards(cards, f"{name} lore"))
        lines = ChatLines(name, options)
        lines.add(_NARRATOR, fields.get("prompt"), DM)
        if lines.messages:
            chats.append(ImportedChat(name, lines.messages))
    return ReadFile("AI Dungeon scenario", chats=tuple(chats), books=tuple(books))


def read_novelai_story(value: Mapping[str, Any], title: str, options: ImportOptions) -> ReadFile:
    """Return an older story of NovelAI, and its lore. Newer ones keep their text in a form of their own."""
    content = as_dict(value.get("content")) or dict(value)
    story = as_dict(content.get("story"))
    name = clean_name(as_dict(value.get("metadata")).get("title"), title)
    if "title" in value:  # a scenario
        name = clean_name(value["title"], title)
    lines = ChatLines(name, options)
    fragments = as_list(story.get("fragments"))
    for fragment in fragments:
        is_own = as_dict(fragment).get("origin") == "user"
        lines.add("User" if is_own else _NARRATOR, as_dict(fragment).get("data"), "pc" if is_own else DM,
                  is_user=is_own)  # fmt: skip
    if not fragments:
        for part in (clean_text(story.get("text")) or first_text(value, "prompt")).split("\n"):
            lines.add(_NARRATOR, part, DM)
    lore = as_dict(content.get("lorebook"))
    books = (read_novelai(lore, f"{name} lore"),) if as_list(lore.get("entries")) else ()
    remarks = () if lines.messages else ("the text of this story is in a form that only NovelAI reads",)
    chats = (ImportedChat(name, lines.messages),) if lines.messages else ()
    return ReadFile("NovelAI story", chats=chats, books=books, remarks=remarks)
