"""The guard in front of all routes: known hosts, forms from our own pages, bounded bodies, strict headers."""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dndbots.server.security.access import COOKIE

LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
MOST_BYTES: Final = 256 * 1024
# Paths that take more: whole chats from other programs, and files that people bring in.
MOST_BYTES_OF_CHATS: Final = 16 * 1024 * 1024
MOST_BYTES_OF_FILES: Final = 32 * 1024 * 1024
_LARGER: Final = {"/v1/": MOST_BYTES_OF_CHATS, "/mcp": MOST_BYTES_OF_CHATS, "/bring-in": MOST_BYTES_OF_FILES}

_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # A stricter policy would hide the origin of our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuses requests that no page of ours can have sent, before any route sees them."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = LOOPBACK) -> None:
        self._app, self._hosts = app, frozenset(host.casefold() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self._app(scope, _bounded(receive, _limit_of(scope["path"])), _with_headers(send))

    def _refuse(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if _name_of(host) not in self._hosts:
            return PlainTextResponse("This server does not answer to that host name.\n", 421)
        if scope["method"] not in _SAFE and _is_by_cookie(headers) and not _is_from(headers, host):
            return PlainTextResponse("This request did not come from a page of this server.\n", 403)
        length = headers.get("content-length", "0")
        limit = _limit_of(scope["path"])
        if not length.isdecimal() or int(length) > limit:
            return PlainTextResponse(f"This request is larger than {limit} bytes.\n", 413)
        return None


def _limit_of(path: str) -> int:
    return next((limit for part, limit in _LARGER.items() if part in path), MOST_BYTES)


def _name_of(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").casefold()
    except ValueError:
        return ""


def _is_by_cookie(headers: Headers) -> bool:
    """Tell whether a request is known by its cookie: only a browser can be made to send one by others."""
    return f"{COOKIE}=" in headers.get("cookie", "") and not headers.get("authorization")


def _is_from(headers: Headers, host: str) -> bool:
    site = headers.get("sec-fetch-site", "same-origin")
    return site == "same-origin" and urlsplit(headers.get("origin", "")).netloc == host


class BodyTooLarge(Exception):
    """A body that goes on beyond its limit, without having said so."""


def _bounded(receive: Receive, limit: int) -> Receive:
    read = 0

    async def receive_bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            raise BodyTooLarge
        return message

    return receive_bounded


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers
