"""Bounds of what is read from foreign files: sizes, depths, names and texts. Nothing in them is trusted."""

import base64
import binascii
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from dndbots._jsontext import is_storable
from dndbots.errors import UnreadableFile
from dndbots.events import LONGEST_CONTENT
from dndbots.ids import is_hidden
from dndbots.text.clean import drop_hidden

# A chat is read line by line and may be of any size. All else is read whole.
LARGEST_FILE: Final = 64 << 20
LARGEST_LINE: Final = 16 << 20
LARGEST_PART: Final = 64 << 20
MOST_PARTS: Final = 2_000
MOST_ITEMS: Final = 100_000
DEEPEST: Final = 64
_LONGEST_NAME: Final = 120
_SPACES: Final = re.compile(r"\s+")
_BOM: Final = "\ufeff"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class UnknownKind(ValueError):
    """Content that belongs to no family that can be imported: beside play, in a folder, it is left out."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file of bounded size."""
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise UnreadableFile(str(path), reason=f"it has more than {LARGEST_FILE >> 20} MB; split it")
    return content


def as_text(content: bytes) -> str:
    """Return bytes as text: UTF-8 with or without a mark, UTF-16 with one, or else Windows-1252."""
    if content.startswith(_UTF_16):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, one at a time; a line of absurd length is an error."""
    with path.open("rb") as file:
        if file.read(2) in _UTF_16:
            yield from enumerate(as_text(read_bytes(path)).splitlines(), 1)  # read whole
            return
        file.seek(0)
        number = 0
        while raw := file.readline(LARGEST_LINE + 1):
            number += 1
            if len(raw) > LARGEST_LINE:
                reason = f"line {number} has more than {LARGEST_LINE >> 20} MB; it is no chat"
                raise UnreadableFile(str(path), reason=reason)
            text = as_text(raw) if number == 1 else raw.decode("utf-8", "replace")
            yield number, text.strip("\r\n")


def parse_json(text: str) -> Any:
    """Return JSON as a value; raise `ValueError` with a plain reason. Depth and numbers are bounded."""
    try:
        value = json.loads(text.lstrip(_BOM), parse_constant=lambda _: None)
    except json.JSONDecodeError as exc:
        reason = exc.msg.removesuffix(" at")
        raise ValueError(f"it is not JSON: {reason} at line {exc.lineno}, column {exc.colno}") from exc
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise `ValueError` for a value that is nested too deeply."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]


def decode_base64(text: str | bytes) -> bytes:
    """Return base64 as bytes; missing padding and line breaks are forgiven."""
    raw = text.encode("ascii", "ignore") if isinstance(text, str) else text
    raw = b"".join(raw.split())
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except (binascii.Error, ValueError) as exc:
        raise ValueError("its base64 is damaged") from exc


def inflate(content: bytes) -> bytes:
    """Return decompressed bytes of bounded size."""
    unpacker = zlib.decompressobj()
    try:
        made = unpacker.decompress(content, LARGEST_PART)
    except zlib.error as exc:
        raise ValueError("its compressed text is damaged") from exc
    if unpacker.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {LARGEST_PART >> 20} MB")
    return made


def zip_part(content: bytes, name: str) -> bytes | None:
    """Return one file of a ZIP archive, also of one that stands behind a picture; None if it has none.

    Only this file is unpacked, and only up to a size; nothing is written to the disk.
    """
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if len(archive.infolist()) > MOST_PARTS:
                raise ValueError(f"its archive has more than {MOST_PARTS} files")
            if name not in archive.namelist():
                return None
            with archive.open(name) as part:
                made = part.read(LARGEST_PART + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as exc:
        raise ValueError(f"its archive is damaged: {exc}") from exc
    if len(made) > LARGEST_PART:
        raise ValueError(f"{name} unpacks to more than {LARGEST_PART >> 20} MB")
    return made


def clean_name(value: Any, fallback: str = "") -> str:
    """Return a value as a name: on one line, visible, bounded; the fallback if nothing is left."""
    return (_clean_name(value[: 4 * _LONGEST_NAME]) if isinstance(value, str) else "") or fallback


# A chat has few names, and many messages.
@lru_cache(maxsize=4096)
def _clean_name(text: str) -> str:
    visible = "".join(" " if is_hidden(char) else char for char in text)
    name = _SPACES.sub(" ", visible).strip()[:_LONGEST_NAME].strip()
    return name if is_storable(name) else ""


def clean_text(value: Any) -> str:
    """Return a value as text that can be stored: without NUL, lone surrogates and hidden characters."""
    if not isinstance(value, str):
        return ""
    if value.isascii() and "\x00" not in value and value.isprintable():
        return value.strip()
    text = value.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = text.encode("utf-8", "ignore").decode("utf-8")
    return "\n".join(map(drop_hidden, text.split("\n"))).strip()


def cut_text(text: str) -> str:
    """Return a text that fits into an event."""
    return text if len(text) <= LONGEST_CONTENT else text[: LONGEST_CONTENT - 1] + "…"


def is_cut(text: str) -> bool:
    """Check that a text was longer than what fits into an event."""
    return len(text) == LONGEST_CONTENT and text.endswith("…")


def texts_of(value: Any) -> tuple[str, ...]:
    """Return a list of texts; a single text is split at its commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    texts = (clean_text(inner) for inner in value[:MOST_ITEMS])
    return tuple(dict.fromkeys(text for text in texts if text))


def as_dict(value: Any) -> dict[str, Any]:
    """Return an object of JSON, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list of bounded length, or an empty one."""
    return value[:MOST_ITEMS] if isinstance(value, list) else []


def as_int(value: Any, fallback: int) -> int:
    """Return a whole number of sane size."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -(10**9) < value < 10**9:
        return fallback
    return int(value)


def first_text(fields: Mapping[str, Any], *keys: str) -> str:
    """Return the first of some fields that has a text."""
    return next((text for key in keys if (text := clean_text(fields.get(key)))), "")
