"""Cleaning of foreign text. Whatever it holds, it opens no line of its own and no part of a chat's format.

Every pattern here looks at each character once or a bounded number of times.
"""

import re
from typing import Final

from dndbots.ids import is_hidden

_BREAKS: Final = frozenset("\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029")
# Joiners and variation selectors do something after these: scripts that join their letters, and emoji.
_JOINED: Final = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\u00a9\u00ae\u203c-\u2bff\u3030-\u3299"
_EMOJI: Final = "\U0001f000-\U0001faff\ufe0f"
_STRAY: Final = re.compile(f"(?<![{_JOINED}{_EMOJI}])[\u200c\u200d\ufe0e\ufe0f]+")
# What templates of chats put between their parts. Some are written with wide bars.
_CHAT_MARK: Final = re.compile(
    r"[<\uff1c][|\uff5c][^|<>\uff1c\uff1e\uff5c\n]{0,40}[|\uff5c][>\uff1e]|[<\uff1c][|\uff5c]|[|\uff5c][>\uff1e]"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]|<</?SYS>>"
    r"|</?(?:system|assistant|user|tool|tool_call|tool_response|think|s|bos|eos|pad|unk|start_of_turn|end_of_turn)>",
    re.IGNORECASE,
)
_MARKS: Final = frozenset("<>[]\uff1c\uff1e")
_HEADING: Final = re.compile(r"[\s#\uff03\ufe5f]+")


def drop_hidden(text: str) -> str:
    """Return the text without what nobody sees. Line ends become `\\n`, other control blanks a space."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if not text.isprintable() or any(map(is_hidden, set(text))):
        text = "".join(map(_seen, text))
    return _STRAY.sub("", text)


def _seen(char: str) -> str:
    if not is_hidden(char):
        return char
    return "\n" if char in _BREAKS else " " if char.isspace() else ""


def drop_chat_marks(text: str) -> str:
    """Return the text without the marks that begin or end a turn in a chat's own format."""
    return text if _MARKS.isdisjoint(text) else _CHAT_MARK.sub(" ", text)


def one_line(text: str) -> str:
    """Return the text as one line that a person sees as it is, and that opens no turn of a chat."""
    return " ".join(drop_chat_marks(drop_hidden(text)).split())


def drop_heading(line: str) -> str:
    """Return a line without what makes it a heading."""
    opening = _HEADING.match(line)
    return line[opening.end() :] if opening else line
