"""Channels of Discord that were exported as a page or as a table, as the messages of the JSON export."""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import StringIO
from typing import Any, Final

_PAGE: Final = re.compile(r'class="?(?:[\w-]+ )*chatlog__(?:message|content|header)')
_TABLE: Final = re.compile(r'\ufeff?"?AuthorID"?[,;]"?Author"?[,;]"?Date"?[,;]"?Content"?')
_DISCRIMINATOR: Final = re.compile(r"#\d{1,4}$")
_VOID: Final = frozenset(("br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "embed"))
_LINES: Final = frozenset(("br", "p", "div", "li", "blockquote", "pre"))
_MOST_OPEN: Final = 1_000
_HEAD: Final = 2_000_000
# Classes at which another author, and another message, begins.
_HEADERS: Final = frozenset(("chatlog__header", "chatlog__message-group"))
_BEGINNINGS: Final = frozenset(("chatlog__message", "chatlog__message-container", "chatlog__message-group"))
# What a class of the page holds. Of a message that is answered, only the answer counts.
_PARTS: Final = (
    ("skip", re.compile(r"chatlog__(?:reference|reply|reaction|attachment|system-notification|edited)")),
    ("bot", re.compile(r"chatlog__(?:author-tag|bot-(?:tag|label))$")),
    ("author", re.compile(r"chatlog__author(?:-name)?$")),
    ("time", re.compile(r"chatlog__timestamp$")),
    ("embed", re.compile(r"chatlog__embed-(?:title|description|field|author)")),
    ("content", re.compile(r"chatlog__content$")),
)
_SAID: Final = ("content", "embed")


def is_page(text: str) -> bool:
    """Return True for a page of DiscordChatExporter."""
    return _PAGE.search(text[:_HEAD]) is not None


def page_messages(text: str) -> list[dict[str, Any]]:
    """Return the messages of a page. Those that follow one another under one name have it only once."""
    parser = _PageParser()
    parser.feed(text)
    parser.close()
    return [message.as_fields() for message in parser.messages]


@dataclass
class _Message:
    """A message as it is read. Its author is told before it, once for several."""

    author: list[str]
    time: str
    is_bot: bool
    said: list[str] = field(default_factory=list)

    def as_fields(self) -> dict[str, Any]:
        lines = "".join(self.said).splitlines()
        author = {"name": "".join(self.author).strip(), "isBot": self.is_bot}
        words = "\n".join(line.strip() for line in lines if line.strip())
        return {"timestamp": self.time, "author": author, "content": words}


class _PageParser(HTMLParser):
    """Collects messages: each has a content, or what a bot attached, under the author of the last header."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.messages: list[_Message] = []
        self._open: list[tuple[str, str]] = []
        self._author, self._time, self._is_bot = list[str](), "", False
        self._is_begun = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        classes = (told.get("class") or "").split()
        self._break_line(tag)
        if tag in _VOID or len(self._open) > _MOST_OPEN:
            return
        if not _HEADERS.isdisjoint(classes) and not self._inside("skip"):
            self._author, self._time, self._is_bot = [], "", False
        if not _BEGINNINGS.isdisjoint(classes):
            self._is_begun = False
        self._open.append((tag, part := _part_of(classes)))
        if part == "time" and not self._inside("skip"):
            self._time = told.get("title") or ""
        elif part in _SAID and not self._inside("skip") and not self._is_begun:
            self._is_begun = True
            self.messages.append(_Message(self._author, self._time, self._is_bot))

    def handle_endtag(self, tag: str) -> None:
        self._break_line(tag)
        if any(tag == name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._inside("skip"):
            return
        if self._inside("bot"):
            self._is_bot = self._is_bot or data.strip().casefold() in ("bot", "app")
        elif self._inside("author"):
            self._author.append(data)
        elif self._inside("time"):
            self._time = self._time or data.strip()
        elif self._inside(*_SAID):
            self.messages[-1].said.append(data)

    def _break_line(self, tag: str) -> None:
        if tag in _LINES and self._inside(*_SAID) and not self._inside("skip"):
            self.messages[-1].said.append("\n")

    def _inside(self, *parts: str) -> bool:
        return any(part in parts for _, part in self._open)


def _part_of(classes: list[str]) -> str:
    return next((part for part, is_part in _PARTS if any(map(is_part.match, classes))), "")


def is_table(text: str) -> bool:
    """Return True for a table of DiscordChatExporter."""
    return _TABLE.match(text) is not None


def table_messages(text: str, is_bot: Callable[[str], bool]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a table. It does not tell bots from people: some names do."""
    rows = csv.DictReader(StringIO(text.lstrip("\ufeff"), newline=""), strict=False)
    for row in rows:
        name = _DISCRIMINATOR.sub("", str(row.get("Author") or ""))
        author = {"name": name, "isBot": is_bot(name)}
        yield {"timestamp": row.get("Date"), "author": author, "content": str(row.get("Content") or "")}
