"""A limit on what a model's server may send: more than any answer needs, far less than the machine holds.

A small compressed answer can unpack to any size, so it is unpacked here, piece by piece. The provider chooses
the HTTP library: httpx, or one with the same clients.
"""

import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

MOST_BYTES: Final = 32 * 1024 * 1024
_PIECE: Final = 1 << 16
_PACKED: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
# Attributes in which chat models keep their HTTP clients.
_CLIENTS: Final = ("root_client", "root_async_client", "_client", "_async_client")


class AnswerTooLarge(Exception):
    """The server sent more than an answer can be, or used a compression that was not asked for."""


def limit_answers(model: Any) -> None:
    """Stop every answer to this chat model that is too large, as far as its library lets us see them."""
    for name in _CLIENTS:
        client = getattr(getattr(model, name, None), "_client", None)
        hooks = getattr(client, "event_hooks", None)
        if client is None or hooks is None:
            continue
        is_async = hasattr(client, "aclose")
        hook = _limit_async if is_async else _limit
        # Models may share a client.
        if hook not in hooks["response"]:
            client.event_hooks = {**hooks, "response": [*hooks["response"], hook]}
            client.headers["Accept-Encoding"] = "gzip, deflate"


def _limit(response: Any) -> None:
    library = sys.modules[type(response).__module__.partition(".")[0]]
    received, unpacked = response.stream, _Unpacked(_packing(response))

    class Limited(library.SyncByteStream):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Iterator[bytes]:
            for data in received:
                yield from unpacked.pieces(data)

        def close(self) -> None:
            received.close()

    response.stream = Limited()


async def _limit_async(response: Any) -> None:
    library = sys.modules[type(response).__module__.partition(".")[0]]
    received, unpacked = response.stream, _Unpacked(_packing(response))

    class Limited(library.AsyncByteStream):  # type: ignore[misc,name-defined]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in received:
                for piece in unpacked.pieces(data):
                    yield piece

        async def aclose(self) -> None:
            await received.aclose()

    response.stream = Limited()


def _packing(response: Any) -> str:
    """Return how an answer is compressed, and drop the header: the library gets the bytes unpacked."""
    packing = str(response.headers.pop("content-encoding", "")).strip().lower()
    return "" if packing == "identity" else packing


class _Unpacked:
    """The bytes of one answer, unpacked and counted."""

    def __init__(self, packing: str) -> None:
        if packing and packing not in _PACKED:
            raise AnswerTooLarge(f"the answer is packed as {packing[:40]!r}, which was not asked for")
        self._unpack: Any = zlib.decompressobj(_PACKED[packing]) if packing else None
        self._is_first = packing == "deflate"
        self._count = 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for piece in self._unpacked(data) if self._unpack else [data]:
            self._count += len(piece)
            if self._count > MOST_BYTES:
                raise AnswerTooLarge(f"the answer has more than {MOST_BYTES >> 20} MB")
            yield piece

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        while data:
            try:
                yield self._unpack.decompress(data, _PIECE)
            except zlib.error as exc:
                # Some servers leave out the header of this compression.
                if not self._is_first:
                    raise AnswerTooLarge(f"the answer cannot be unpacked: {exc}") from exc
                self._unpack, self._is_first = zlib.decompressobj(-zlib.MAX_WBITS), False
                continue
            self._is_first = False
            data = self._unpack.unconsumed_tail
