"""Access: the seats that a request may see, by the tokens it brings, and protection against forged forms.

Browsers bring tokens in a cookie, programs in an `Authorization: Bearer` header.
"""

import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from dndbots.server.security.seat_book import Grant, SeatBook

COOKIE: Final = "dndbots"
FORM_FIELD: Final = "csrf"
_MOST_TOKENS: Final = 12
_LONGEST_TOKEN: Final = 100
_SEPARATOR: Final = "."
_MAX_AGE: Final = 60 * 60 * 24 * 90
# Proves that a form came from a page of this process.
_SECRET: Final = secrets.token_bytes(32)


class Access:
    """The rights of a request. A request without a valid token has none."""

    def __init__(self, book: SeatBook, tokens: tuple[str, ...]) -> None:
        known = {token: book.grant_of(token) for token in tokens}
        self.tokens = tuple(token for token, grant in known.items() if grant is not None)
        self.grants: tuple[Grant, ...] = tuple(grant for grant in known.values() if grant is not None)

    @property
    def is_owner(self) -> bool:
        return any(grant.is_owner for grant in self.grants)

    def opens(self, campaign: str, seat: str) -> bool:
        """Tell whether this request may see a seat and act for it."""
        return any(grant.opens(campaign, seat) for grant in self.grants)

    def is_dm_of(self, campaign: str) -> bool:
        return any(grant.is_dm_of(campaign) for grant in self.grants)

    @property
    def form_token(self) -> str:
        """The value that every form of this request's pages carries."""
        tokens = _SEPARATOR.join(sorted(self.tokens)).encode()
        return hmac.new(_SECRET, tokens, hashlib.sha256).hexdigest()


def access_of(connection: HTTPConnection, book: SeatBook) -> Access:
    """Return the rights of a request, by its header or else by its cookie."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        return Access(book, (token.strip()[:_LONGEST_TOKEN],))
    return Access(book, _cookie_tokens(connection))


def let_in(response: Response, connection: HTTPConnection, book: SeatBook, token: str) -> None:
    """Add a token to the cookie of a browser. The oldest tokens go when there are too many."""
    others = [one for one in access_of(connection, book).tokens if one != token]
    kept = [*others, token][-_MOST_TOKENS:]
    response.set_cookie(
        COOKIE,
        _SEPARATOR.join(kept),
        max_age=_MAX_AGE,
        httponly=True,
        samesite="lax",
        secure=connection.url.scheme == "https",
        path="/",
    )


@asynccontextmanager
async def read_form(request: Request, access: Access) -> AsyncIterator[Mapping[str, Any]]:
    """Read a form and check that it came from one of our pages. Raises 403 if it did not.

    Files in it are closed at the end of the block.
    """
    async with request.form(max_files=1, max_fields=40) as form:
        _check_form_token(request, access, form)
        yield form


def _check_form_token(request: Request, access: Access, form: Mapping[str, Any]) -> None:
    given = form.get(FORM_FIELD) or request.headers.get("x-csrf-token") or ""
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), access.form_token.encode()):
        raise HTTPException(403, "This page is too old. Load it again, then repeat what you did.")


def _cookie_tokens(connection: HTTPConnection) -> tuple[str, ...]:
    parts = connection.cookies.get(COOKIE, "").split(_SEPARATOR)[:_MOST_TOKENS]
    return tuple(part for part in parts if 0 < len(part) <= _LONGEST_TOKEN)
