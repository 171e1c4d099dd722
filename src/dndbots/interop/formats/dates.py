"""Dates as chat programs write them, in many forms, often mixed in one file."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

# "2026-01-01@10h00m00s000ms" and "2023-6-19 @14h 20m 5s 123ms".
_STAMP: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_HALF_DAY: Final = re.compile(r"\b([aApP])\.\s?[mM]\.")  # "7:04:11 p.m."
_FORMS: Final = (
    "%B %d, %Y %I:%M%p",
    "%B %d, %Y %I:%M %p",
    "%b %d, %Y %I:%M%p",
    "%m/%d/%Y, %I:%M:%S %p",
    "%m/%d/%Y %I:%M:%S %p",
    # With a clock of 24 hours, the day comes first in most countries.
    "%d/%m/%Y, %H:%M:%S",
    "%m/%d/%Y, %H:%M:%S",
    "%d.%m.%Y, %H:%M:%S",
    "%m/%d/%y, %I:%M %p",
    "%m/%d/%Y, %I:%M %p",
    "%d/%m/%y, %H:%M",
    "%d/%m/%Y, %H:%M",
    "%m/%d/%y, %H:%M",
    "%d.%m.%y, %H:%M:%S",
    "%d.%m.%y, %H:%M",
    "%d.%m.%Y, %H:%M",
    "%Y-%m-%d, %I:%M:%S %p",
    "%Y-%m-%d, %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%d %B %Y %H:%M",
    "%d %b %Y %H:%M",
    "%d-%b-%y %I:%M %p",
    "%m/%d/%Y %I:%M %p",
    "%Y/%m/%d %H:%M:%S",
    "%A, %B %d, %Y %I:%M %p",
    "%A, %d %B %Y %H:%M",
)
# Games may be set in any year, but a number from before 1990 is no date.
_FIRST: Final = datetime(1000, 1, 1, tzinfo=UTC)
_FIRST_NUMBER: Final = 631_152_000
_LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
GAP: Final = timedelta(hours=6)


def parse_date(value: Any) -> datetime | None:
    """Return a date of any known form in UTC; a date without a zone counts as UTC. None if it is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _of_number(value)
    return _of_text(" ".join(value.split())) if isinstance(value, str) and len(value) <= 64 else None


def _of_number(value: float) -> datetime | None:
    seconds = value / 1000 if abs(value) > 10**11 else value
    if seconds < _FIRST_NUMBER:
        return None
    try:
        return _sane(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


@lru_cache(maxsize=4096)
def _of_text(text: str) -> datetime | None:
    try:
        return _sane(datetime.fromisoformat(text))
    except ValueError:
        pass
    if text.isdigit():
        return _of_number(int(text))
    stamp = _STAMP.fullmatch(text)
    try:
        if stamp is not None:
            *parts, thousandths = (int(part or 0) for part in stamp.groups())
            year, month, day, hour, minute, second = parts
            return _sane(datetime(year, month, day, hour, minute, second, thousandths * 1000, tzinfo=UTC))
    except ValueError:
        return None
    plain = _HALF_DAY.sub(r"\1M", text)
    for form in _FORMS:
        try:
            return _sane(datetime.strptime(plain, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


def _sane(date: datetime) -> datetime | None:
    aware = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    return aware if _FIRST <= aware <= _LAST else None


class Sessions:
    """Splits a chat into sessions where nobody wrote for hours. The first one has the chat's name."""

    def __init__(self, chat: str, only: str | None = None) -> None:
        self._chat, self._only = chat, only
        self._name = only or chat
        self._last: datetime | None = None
        self._taken = {self._name}

    def name_at(self, time: datetime | None) -> str:
        """Return the session of the next message."""
        if time is None or self._only is not None:
            return self._name
        if self._last is not None and time - self._last > GAP:
            day = f"{self._chat} {time:%Y-%m-%d}"
            self._name = day if day not in self._taken else f"{day} {time:%H:%M}"
            self._taken.add(self._name)
        self._last = time
        return self._name
