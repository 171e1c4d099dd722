"""Why a model gave no answer: what libraries and servers raise, each in its own way, as one of a few kinds.

No library is imported: errors are told apart by their status, their names and their words. The reason is
one line without keys in it, fit for a screen and a log.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

from dndbots.ids import short
from dndbots.llm.answer_size import AnswerTooLarge

# How libraries and servers say that they cannot do it.
_UNSUPPORTED = re.compile(
    r"unsupported|not?\s+support|doesn't\s+support|not\s+implemented|unexpected\s+keyword|unrecogni[sz]ed"
    r"|unknown\s+(?:argument|parameter|field)|response_format|json_schema|bind_tools"
    r"|tools\s+param|tool[_ ]choice|\bgrammar\b|--jinja|that\s+support\s+tool"
    # What a model wrote for a call, and its server could not read: it may do better without tools.
    r"|tool_use_failed|failed\s+to\s+(?:call\s+a\s+function|parse\s+(?:tool|function|input\s+at))",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodels?\b.{0,120}?(?:not\s+found|does\s+not\s+exist)|model_not_found|not\s+a\s+valid\s+model",
    re.IGNORECASE | re.DOTALL,
)
_BAD_KEY = re.compile(
    r"api[_ ]key[_ ](?:invalid|not[_ ]valid|expired|not[_ ]found)|(?:invalid|incorrect)[_ ]api[_ ]key",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:sk|gsk|xai|pplx)[-_][\w*.-]{4,}|\bAIza[\w-]{8,}|\b(bearer|api[_ -]?key:?)\s+\S+", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size|overflow)|maximum context|too many (?:input )?tokens"
    r"|prompt is too long|exceeds? the (?:available )?context|input token count|request_too_large",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|insufficient balance|billing|credit balance|payment required", re.IGNORECASE
)
# Where it is not in a header: "Please try again in 1m30.5s", "retryDelay': '17s'".
_AGAIN_IN = re.compile(
    r"(?:(?:re)?try(?: again)? in|retry_?delay\W{1,6})\s*"
    r"(?:(\d{1,3})m(?!s))?(?:(\d{1,6}(?:\.\d{1,9})?)(ms|s))?",
    re.IGNORECASE,
)
_SLOW = re.compile(r"time-?d? ?-?out", re.IGNORECASE)
_DOWN = re.compile(
    r"connect|connection|disconnected|remote ?protocol|incomplete|unreachable|refused", re.IGNORECASE
)
_AFTER_IN_MS: Final = "retry-after-ms"
_PASSING_STATUS: Final = (408, 409, 425)
_DEEPEST: Final = 6


class Kind(StrEnum):
    """What went wrong, as far as it matters for what to do."""

    UNSUPPORTED = "cannot do what was asked in this way"
    KEY = "the key is refused"
    MODEL = "there is no such model"
    TOO_LONG = "the prompt is longer than the model reads"
    QUESTION = "does not take the question"
    MONEY = "the account has nothing left"
    LIMIT = "asked too often"
    SLOW = "no answer in time"
    DOWN = "cannot be reached"
    BUSY = "has a fault of its own"
    TOO_MUCH = "sends no answer"
    OTHER = "failed"


_BY_STATUS: Final[Mapping[int, Kind]] = {401: Kind.KEY, 402: Kind.MONEY, 403: Kind.KEY}
_BY_WORDS: Final = (
    (Kind.TOO_LONG, _TOO_LONG),
    (Kind.KEY, _BAD_KEY),
    (Kind.MODEL, _NO_MODEL),
    (Kind.UNSUPPORTED, _UNSUPPORTED),
)
# What may be over when it is asked again.
_PASSING: Final = frozenset((Kind.LIMIT, Kind.SLOW, Kind.DOWN, Kind.BUSY, Kind.OTHER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """`after` is in how many seconds one may ask again, where the server says so."""

    kind: Kind
    reason: str
    after: float | None = None

    @property
    def passing(self) -> bool:
        return self.kind in _PASSING


def trouble_of(error: BaseException, *, hides: Sequence[str] = ()) -> Trouble:
    """What an error is about. Nothing of what it `hides` is in the reason, whoever repeated it."""
    chain = _chain(error)
    for one in chain:
        if isinstance(one, AnswerTooLarge):
            return Trouble(kind=Kind.TOO_MUCH, reason=_reason(Kind.TOO_MUCH, one, hides))
    status = next((found for one in chain if (found := _status(one)) is not None), None)
    words = " ".join(f"{type(one).__name__}: {str(one)[:2000]}" for one in chain)
    kind = _kind(error, status, words)
    after = _after(chain)
    if after is None and kind in (Kind.LIMIT, Kind.BUSY):
        after = _said_in(words)
    return Trouble(kind=kind, reason=_reason(kind, error, hides), after=after)


def hidden(text: str, hides: Sequence[str]) -> str:
    """A text without secrets: those that are known, and whatever looks like a key."""
    for secret in sorted(hides, key=len, reverse=True):
        text = text.replace(secret, "...")
    return _KEY.sub("...", text)


def is_unsupported(error: BaseException) -> bool:
    """Whether a library or a server says that it cannot do this at all."""
    return trouble_of(error).kind is Kind.UNSUPPORTED


def _kind(error: BaseException, status: int | None, words: str) -> Kind:
    if status is None:
        return _kind_by_words(error, words)
    if status == 429:
        # Some speak of billing to whoever asks too often; who says when to come back means that.
        return Kind.MONEY if _NO_MONEY.search(words) and _said_in(words) is None else Kind.LIMIT
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    for kind, pattern in _BY_WORDS:
        if pattern.search(words) and (kind is not Kind.MODEL or status == 404):
            return kind
    if status == 404:
        return Kind.MODEL
    return Kind.BUSY if status >= 500 or status in _PASSING_STATUS else Kind.QUESTION


def _kind_by_words(error: BaseException, words: str) -> Kind:
    if isinstance(error, NotImplementedError):
        return Kind.UNSUPPORTED
    for kind, pattern, type_ in (
        (Kind.SLOW, _SLOW, TimeoutError),
        (Kind.DOWN, _DOWN, ConnectionError),
        (Kind.TOO_LONG, _TOO_LONG, ()),
        (Kind.UNSUPPORTED, _UNSUPPORTED, ()),
    ):
        if isinstance(error, type_) or pattern.search(words):
            return kind
    return Kind.OTHER


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it came from: libraries wrap what servers said."""
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in found and len(found) < _DEEPEST:
        found.append(one)
        one = one.__cause__ or one.__context__
    return found


def _status(error: BaseException) -> int | None:
    for source in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "http_status", "status"):
            found = getattr(source, name, None)
            if type(found) is int and 400 <= found < 600:
                return found
    return None


def _reason(kind: Kind, error: BaseException, hides: Sequence[str]) -> str:
    """One line. What a server says of a key is not repeated: some repeat the key."""
    if kind in (Kind.KEY, Kind.LIMIT):
        return str(kind)
    told = short(hidden(str(error)[:2000], hides))
    said = told or type(error).__name__
    return said if kind is Kind.SLOW and isinstance(error, TimeoutError) and told else f"{kind}: {said}"


def _after(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers: Any = getattr(getattr(error, "response", None), "headers", None)
        if isinstance(headers, Mapping) or hasattr(headers, "get"):
            return _seconds(headers.get(_AFTER_IN_MS), 1000) or _seconds(headers.get("retry-after"), 1)
    return None


def _said_in(words: str) -> float | None:
    """How long to wait, as far as the words of an error say so."""
    found = _AGAIN_IN.search(words)
    if found is None or not (found[1] or found[2]):
        return None
    seconds = float(found[2] or 0) / (1000 if (found[3] or "").lower() == "ms" else 1)
    return 60.0 * int(found[1] or 0) + seconds


def _seconds(value: object, parts: int) -> float | None:
    """Seconds, as a number or as a date by the server's own clock, which must not be trusted for more."""
    if not isinstance(value, str):
        return None
    try:
        found = float(value) / parts
    except ValueError:
        return _until(value)
    return found if 0 <= found < 1_000_000 else None


def _until(value: str) -> float | None:
    """The seconds up to a date. Clocks differ, so that this is only as good as they agree."""
    from datetime import datetime

    try:
        until = parsedate_to_datetime(value)
        found = (until - datetime.now(until.tzinfo)).total_seconds()
    except (TypeError, ValueError):
        return None
    return max(0.0, found)
