"""HTML reduced to plain text. Scripts, styles and every attribute are dropped; secrets can be cut out."""

import re
from html.parser import HTMLParser
from typing import Final

_SILENT: Final = frozenset(("script", "style", "template", "head", "title", "noscript", "iframe", "object"))
_BLOCKS: Final = frozenset(
    ("p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "aside", "blockquote", "hr",
     "h1", "h2", "h3", "h4", "h5", "h6", "pre", "header", "footer", "dt", "dd", "figure")
)  # fmt: skip
_VOID: Final = frozenset(("br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "embed"))
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>|<!--|&#?\w{1,30};")
_MOST_OPEN: Final = 1_000
_SPACES: Final = re.compile(r"[ \t]{2,}")


class _TextParser(HTMLParser):
    """Collects the text of a page, apart from that of secret blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open_text: list[str] = []
        self.secret_text: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._silent = 0
        self._secret = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._add("\n")
        if tag in _VOID or len(self._open) > _MOST_OPEN:
            return
        is_secret = any(key == "class" and "secret" in (value or "").split() for key, value in attrs)
        self._open.append((tag, is_secret))
        self._silent += tag in _SILENT
        self._secret += is_secret

    def handle_endtag(self, tag: str) -> None:
        if all(tag != name for name, _ in self._open):
            return
        while self._open:
            name, was_secret = self._open.pop()
            self._silent -= name in _SILENT
            self._secret -= was_secret
            if name == tag:
                break
        if tag in _BLOCKS:
            self._add("\n")

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, text: str) -> None:
        if not self._silent:
            (self.secret_text if self._secret else self.open_text).append(text)


def has_html(text: str) -> bool:
    """Return True if a text has tags or entities of HTML."""
    return ("<" in text or "&" in text) and _TAG.search(text) is not None


def html_to_text(text: str) -> str:
    """Return the text of a piece of HTML, secrets included."""
    return "\n".join(part for part in split_secrets(text) if part)


def split_secrets(text: str) -> tuple[str, str]:
    """Return the open text of a piece of HTML, and that of its blocks of class `secret`."""
    parser = _TextParser()
    parser.feed(text)
    parser.close()
    return _tidy(parser.open_text), _tidy(parser.secret_text)


def _tidy(parts: list[str]) -> str:
    lines = (line.strip(" \t") for line in "".join(parts).replace("\xa0", " ").split("\n"))
    return _SPACES.sub(" ", "\n".join(filter(None, lines))).strip()
