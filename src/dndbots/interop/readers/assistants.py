"""Games that people played with an assistant: lists of OpenAI messages, and exports of ChatGPT and Claude."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dndbots.interop.formats.bounds import as_dict, as_list, clean_name
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, ReadFile
from dndbots.interop.readers.other_chats import ChatLines

_USER: Final = "User"
_ASSISTANT: Final = "Assistant"
_MOST_NODES: Final = 100_000


def is_message_list(values: Sequence[Any]) -> bool:
    """Return True for messages with a role and a content."""
    first = as_dict(values[0]) if values else {}
    return first.get("role") in ("system", "developer", "user", "assistant") and "content" in first


def is_export(values: Sequence[Any]) -> bool:
    """Return True for the conversations that ChatGPT or Claude exported."""
    first = as_dict(values[0]) if values else {}
    return isinstance(first.get("mapping"), dict) or isinstance(first.get("chat_messages"), list)


def read_messages(values: Sequence[Any], title: str, options: ImportOptions) -> ReadFile:
    """Return a list of messages as a chat. Those of the system are instructions, and no play."""
    lines = ChatLines(title, options)
    for fields in map(as_dict, values):
        _add(lines, fields.get("role"), _text_of(fields.get("content")), name=fields.get("name"))
    return ReadFile("OpenAI messages", chats=(ImportedChat(title, lines.messages),) if lines.messages else ())


def read_export(values: Sequence[Any], options: ImportOptions) -> ReadFile:
    """Return each conversation of an export as a chat of its own; empty ones are left out."""
    chats: list[ImportedChat] = []
    taken: set[str] = set()
    for fields in map(as_dict, values):
        name = clean_name(fields.get("title")) or clean_name(fields.get("name"), "conversation")
        title = name if name not in taken else f"{name} {len(chats) + 1}"
        lines = ChatLines(title, options)
        for role, text, time in _branch(fields) if "mapping" in fields else _replies(fields):
            _add(lines, role, text, time=time)
        if lines.messages:
            chats.append(ImportedChat(title, lines.messages))
            taken.add(title)
    is_claude = any("chat_messages" in as_dict(value) for value in values[:1])
    remark = f"{len(chats)} conversations; import a file with only those that are play"
    return ReadFile(
        "Claude export" if is_claude else "ChatGPT export",
        chats=tuple(chats),
        remarks=(remark,) if len(chats) > 1 else (),
    )


def _add(lines: ChatLines, role: Any, text: str, *, name: Any = None, time: Any = None) -> None:
    if role in ("user", "human"):
        lines.add(clean_name(name, _USER), text, "pc", is_user=True, time=time)
    elif role == "assistant":
        lines.add(clean_name(name, _ASSISTANT), text, "npc", time=time)


def _branch(conversation: Mapping[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield the messages that are on the screen: from the current one back to the first."""
    nodes = as_dict(conversation.get("mapping"))
    found, node, seen = [], conversation.get("current_node"), set[str]()
    while isinstance(node, str) and node in nodes and node not in seen and len(seen) < _MOST_NODES:
        seen.add(node)
        fields = as_dict(nodes[node])
        message = as_dict(fields.get("message"))
        found.append((as_dict(message.get("author")).get("role"), _text_of(message.get("content")),
                      message.get("create_time")))  # fmt: skip
        node = fields.get("parent")
    yield from reversed(found)


def _replies(conversation: Mapping[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    for fields in map(as_dict, as_list(conversation.get("chat_messages"))):
        text = fields.get("text") or _text_of(fields.get("content"))
        yield fields.get("sender"), str(text or ""), fields.get("created_at")


def _text_of(content: Any) -> str:
    """Return the text of a content: a text, a list of parts, or an object with parts."""
    if isinstance(content, str):
        return content
    parts = as_list(as_dict(content).get("parts")) if isinstance(content, dict) else as_list(content)
    texts = [part if isinstance(part, str) else as_dict(part).get("text") for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)
