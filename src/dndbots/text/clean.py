"""Cleaning of text from players, models and files, before it stands in a line, a chat or a prompt.

None of it is trusted. `drop_hidden` drops characters that nobody sees, `one_line` also whatever could open a
turn of a chat, and `prompt_line` also whatever could open a section of a prompt. Every pattern here looks at
each character once or a bounded number of times.
"""

import re
import unicodedata
from typing import Final

from dndbots.ids import is_hidden

_BREAKS: Final = frozenset("\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029")
# Joiners and variation selectors have an effect after these: scripts that join their letters, and emoji.
_JOINED: Final = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\u00a9\u00ae\u203c-\u2bff\u3030-\u3299"
_EMOJI: Final = "\U0001f000-\U0001faff\ufe0f"
_STRAY: Final = re.compile(f"(?<![{_JOINED}{_EMOJI}])[\u200c\u200d\ufe0e\ufe0f]+")
# Marks that chat templates put between their parts. Some are written with wide bars.
_CHAT_MARK: Final = re.compile(
    r"[<\uff1c][|\uff5c][^|<>\uff1c\uff1e\uff5c\n]{0,40}[|\uff5c][>\uff1e]|[<\uff1c][|\uff5c]|[|\uff5c][>\uff1e]"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]|<</?SYS>>"
    r"|</?(?:system|assistant|user|tool|tool_call|tool_response|think|s|bos|eos|pad|unk|start_of_turn|end_of_turn)>",
    re.IGNORECASE,
)
_CHAT_CHARS: Final = frozenset("<>[]\uff1c\uff1e")
_HEADING: Final = re.compile(r"[\s#\uff03\ufe5f]+")
# Openings of headings, lists, quotations, rules, tables and fields, also in their wide forms.
_OPENING_MARKUP: Final = re.compile(
    r"^[\s!#$%&*+,\-./:;<=>?@\[\\\]^_`{|}~\u00a6\u00b7\u2010-\u2027\u2043\uff01-\uff0f\uff1a-\uff20]+"
)
# *She nods.* and **never**, as chats write actions and stress.
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]{1,4000})(?<=\S)\1(?![\w*])")
_JOINERS: Final = frozenset("\u200c\u200d")
# Format, surrogate, private and unassigned characters: they look different everywhere, or like nothing.
_UNSEEN: Final = frozenset(("Cf", "Cs", "Co", "Cn"))
_FENCE: Final = re.compile(r"`{2,}|~{3,}|<[|/!]?|[|]?>|\[\[|\]\]")


def drop_hidden(text: str) -> str:
    """Return the text without characters that nobody sees. Line ends become `\\n`, control blanks a space."""
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
    return text if _CHAT_CHARS.isdisjoint(text) else _CHAT_MARK.sub(" ", text)


def one_line(text: str) -> str:
    """Return the text as one line without hidden characters or marks of a chat."""
    return " ".join(drop_chat_marks(drop_hidden(text)).split())


def drop_heading(line: str) -> str:
    """Return a line without the marks that make it a heading."""
    opening = _HEADING.match(line)
    return line[opening.end() :] if opening else line


def drop_emphasis(text: str) -> str:
    """Return the text without the asterisks around actions and stressed words."""
    return _EMPHASIS.sub(r"\2", text) if "*" in text else text


def prompt_line(text: str) -> str:
    """Return the text as one line that opens no heading, list, quotation or fence in a prompt."""
    if not text.isprintable():
        text = "".join(map(_printable, text))
    text = drop_hidden(text)
    text = _FENCE.sub(" ", text) if any(mark in text for mark in "`~<>|[]") else text
    return _OPENING_MARKUP.sub("", " ".join(drop_emphasis(text).split())).rstrip()


def _printable(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return "" if unicodedata.category(char) in _UNSEEN else " "
