"""Text chunks of PNG pictures: read them with bounds, and write a picture with texts of its own."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from dndbots.interop.formats.bounds import inflate

PNG_MARK: Final = b"\x89PNG\r\n\x1a\n"
_MOST_CHUNKS: Final = 20_000
_LARGEST_CHUNK: Final = 64 << 20


def text_chunks(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the keyword, in lower case, and the value of each text chunk of a PNG."""
    for kind, data in _chunks(content):
        if kind not in (b"tEXt", b"zTXt", b"iTXt"):
            continue
        keyword, _, rest = data.partition(b"\0")
        if kind == b"zTXt":
            rest = inflate(rest[1:])
        elif kind == b"iTXt":
            is_packed, rest = rest[:1] == b"\x01", rest[2:].split(b"\0", 2)[-1]
            rest = inflate(rest) if is_packed else rest
        yield keyword.decode("latin-1").strip().casefold(), rest


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(PNG_MARK)
    for _ in range(_MOST_CHUNKS):
        if at + 8 > len(content):
            return
        size, kind = struct.unpack(">I4s", content[at : at + 8])
        if size > _LARGEST_CHUNK or at + 12 + size > len(content):
            raise ValueError("a chunk of the picture is longer than the picture")
        yield kind, content[at + 8 : at + 8 + size]
        if kind == b"IEND":
            return
        at += 12 + size
    raise ValueError("the picture has too many chunks")


def with_texts(picture: bytes | None, texts: Mapping[str, bytes]) -> bytes:
    """Return a picture with these text chunks before its end, in place of others of the same name.

    Without a picture, one plain square is drawn.
    """
    chunks = list(_chunks(picture)) if picture is not None else list(_plain_square())
    made = [PNG_MARK]
    for kind, data in chunks:
        named = data.partition(b"\0")[0].decode("latin-1").casefold()
        if kind in (b"tEXt", b"zTXt", b"iTXt") and named in texts:
            continue
        if kind == b"IEND":
            made += [_chunk(b"tEXt", name.encode("latin-1") + b"\0" + text) for name, text in texts.items()]
        made.append(_chunk(kind, data))
    return b"".join(made)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _plain_square(side: int = 64) -> Iterator[tuple[bytes, bytes]]:
    yield b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    row = b"\0" + bytes((68, 84, 106)) * side
    yield b"IDAT", zlib.compress(row * side, 9)
    yield b"IEND", b""
