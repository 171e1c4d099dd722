"""The seat book: an unguessable token for each seat, kept in a file that only its owner can read.

A token is the only way into a seat. The owner's token opens every campaign of the server, a DM's token one
campaign with all its seats, a player's token one seat.
"""

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Final

from dndbots.ids import DM
from dndbots.storage.files import hold_lock, make_folder, open_replacement, plain_errors, read_file

_BYTES: Final = 24
_OWNER: Final = "owner"
_CAMPAIGNS: Final = "campaigns"
_TOKENS: Final = "tokens"
_PEOPLE: Final = "people"
_WAIT: Final = 10.0  # seconds for another server that writes the book


@dataclass(frozen=True, slots=True)
class Grant:
    """The right that a token gives: one seat of a campaign. Without a campaign, it is the owner's."""

    campaign: str | None = None
    seat: str | None = None

    @property
    def is_owner(self) -> bool:
        return self.campaign is None

    def opens(self, campaign: str, seat: str) -> bool:
        """Tell whether this right opens a seat: the DM's opens all seats of its campaign."""
        return self.is_owner or (self.campaign == campaign and self.seat in (DM, seat))

    def is_dm_of(self, campaign: str) -> bool:
        return self.is_owner or (self.campaign == campaign and self.seat == DM)


class SeatBook:
    """The tokens of all seats, and the seats that people have taken. Without a file, it is kept in memory.

    Several servers can share the file: every change reads it again under a lock.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file, self._lock = file, RLock()
        self._data: dict[str, Any] = {}
        self._grants: dict[str, Grant] = {}
        self._change(lambda data: data.setdefault(_OWNER, _new_token()))

    @property
    def owner(self) -> str:
        """The token of the owner."""
        with self._lock:
            return str(self._data[_OWNER])

    def token_of(self, campaign: str, seat: str) -> str:
        """Return the token of a seat. It is made when it is first asked for."""
        with self._lock:
            known = self._tokens(self._data, campaign).get(seat)
            if known is not None:
                return str(known)
            return str(self._change(lambda data: self._tokens(data, campaign).setdefault(seat, _new_token())))

    def revoke(self, campaign: str, seat: str) -> str:
        """Give a seat another token, and return it. The old one opens nothing any more."""

        def renew(data: dict[str, Any]) -> str:
            token = self._tokens(data, campaign)[seat] = _new_token()
            return token

        return str(self._change(renew))

    def grant_of(self, token: str) -> Grant | None:
        """Return the right that a token gives; None for a token that is unknown or was revoked."""
        with self._lock:
            return self._grants.get(token)

    def people(self, campaign: str) -> frozenset[str]:
        """Return the seats of a campaign that people have taken."""
        with self._lock:
            return frozenset(self._campaign(self._data, campaign)[_PEOPLE])

    def keep_people(self, campaign: str, seats: Iterable[str]) -> None:
        """Keep which seats people have taken, for the next start of the server."""
        wanted = sorted(seats)

        def keep(data: dict[str, Any]) -> None:
            self._campaign(data, campaign)[_PEOPLE] = wanted

        self._change(keep)

    @staticmethod
    def _campaign(data: dict[str, Any], campaign: str) -> dict[str, Any]:
        known: dict[str, Any] = data.setdefault(_CAMPAIGNS, {}).setdefault(
            campaign, {_TOKENS: {}, _PEOPLE: []}
        )
        return known

    def _tokens(self, data: dict[str, Any], campaign: str) -> dict[str, str]:
        tokens: dict[str, str] = self._campaign(data, campaign)[_TOKENS]
        return tokens

    def _change(self, change: Any) -> Any:
        with self._lock:
            if self._file is None:
                result = change(self._data)
            else:
                with plain_errors(self._file.parent):
                    self._file.parent.parent.mkdir(parents=True, exist_ok=True)
                    make_folder(self._file.parent)
                    with hold_lock(self._file.with_suffix(".lock"), timeout=_WAIT):
                        self._data = _read_book(self._file)
                        result = change(self._data)
                        with open_replacement(self._file) as out:
                            json.dump(self._data, out, indent=1)
            self._grants = _grants_in(self._data)
            return result


def _new_token() -> str:
    return secrets.token_urlsafe(_BYTES)


def _read_book(file: Path) -> dict[str, Any]:
    """Read the book. A damaged one is replaced: its links stop working, and no campaign is touched."""
    found = read_file(file)
    try:
        data = json.loads(found.content or b"{}")
        sound = isinstance(data, dict) and isinstance(data.get(_OWNER, ""), str)
        if sound and all(
            isinstance(known[_TOKENS], dict) and isinstance(known[_PEOPLE], list)
            for known in data.get(_CAMPAIGNS, {}).values()
        ):
            return dict(data)
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return {}


def _grants_in(data: dict[str, Any]) -> dict[str, Grant]:
    grants = {
        token: Grant(campaign, seat)
        for campaign, known in data.get(_CAMPAIGNS, {}).items()
        for seat, token in known[_TOKENS].items()
    }
    return grants | {data[_OWNER]: Grant()}
