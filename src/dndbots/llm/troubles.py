"""Classify why a model gave no answer: errors of many libraries and servers become a few kinds.

No library is imported: errors are told apart by status, class name and words. The reason is one line without
keys, fit for a screen and a log.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

from dndbots.ids import short
from dndbots.llm.responses.answer_size import AnswerTooLarge

# Wordings for "cannot do this".
_UNSUPPORTED = re.compile(
    r"unsupported|not?\s+support|doesn't\s+support|not\s+implemented|unexpected\s+keyword|unrecogni[sz]ed"
    r"|unknown\s+(?:argument|parameter|field)|response_format|json_schema|bind_tools"
    r"|tools\s+param|tool[_ ]choice|\bgrammar\b|--jinja|that\s+support\s+tool"
    # A call that the server could not parse: the model may do better without tools.
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
# Pauses that are not in a header: "Please try again in 1m30.5s", "retryDelay': '17s'".
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


class TroubleKind(StrEnum):
    """Kinds of trouble, as far as they matter for what to do next."""

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


_BY_STATUS: Final[Mapping[int, TroubleKind]] = {
    401: TroubleKind.KEY,
    402: TroubleKind.MONEY,
    403: TroubleKind.KEY,
}
_BY_WORDS: Final = (
    (TroubleKind.TOO_LONG, _TOO_LONG),
    (TroubleKind.KEY, _BAD_KEY),
    (TroubleKind.MODEL, _NO_MODEL),
    (TroubleKind.UNSUPPORTED, _UNSUPPORTED),
)
# Troubles that may pass by themselves.
_PASSING: Final = frozenset(
    (TroubleKind.LIMIT, TroubleKind.SLOW, TroubleKind.DOWN, TroubleKind.BUSY, TroubleKind.OTHER)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why there is no answer. `after` is the number of seconds to wait, if the server says so."""

    kind: TroubleKind
    reason: str
    after: float | None = None

    @property
    def passing(self) -> bool:
        return self.kind in _PASSING


def trouble_of(error: BaseException, *, hides: Sequence[str] = ()) -> Trouble:
    """Classify an error. The reason never holds what is in `hides`, even if a server repeated it."""
    chain = _chain(error)
    for one in chain:
        if isinstance(one, AnswerTooLarge):
            return Trouble(kind=TroubleKind.TOO_MUCH, reason=_reason(TroubleKind.TOO_MUCH, one, hides))
    status = next((found for one in chain if (found := _status(one)) is not None), None)
    words = " ".join(f"{type(one).__name__}: {str(one)[:2000]}" for one in chain)
    kind = _kind(error, status, words)
    after = _after(chain)
    if after is None and kind in (TroubleKind.LIMIT, TroubleKind.BUSY):
        after = _said_in(words)
    return Trouble(kind=kind, reason=_reason(kind, error, hides), after=after)


def hidden(text: str, hides: Sequence[str]) -> str:
    """Return a text without secrets: known ones, and anything that looks like a key."""
    for secret in sorted(hides, key=len, reverse=True):
        text = text.replace(secret, "...")
    return _KEY.sub("...", text)


def is_unsupported(error: BaseException) -> bool:
    """Return whether a library or a server says that it cannot do this at all."""
    return trouble_of(error).kind is TroubleKind.UNSUPPORTED


def _kind(error: BaseException, status: int | None, words: str) -> TroubleKind:
    if status is None:
        return _kind_by_words(error, words)
    if status == 429:
        # Some mention billing when asked too often; a time to come back gives that away.
        return TroubleKind.MONEY if _NO_MONEY.search(words) and _said_in(words) is None else TroubleKind.LIMIT
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    for kind, pattern in _BY_WORDS:
        if pattern.search(words) and (kind is not TroubleKind.MODEL or status == 404):
            return kind
    if status == 404:
        return TroubleKind.MODEL
    return TroubleKind.BUSY if status >= 500 or status in _PASSING_STATUS else TroubleKind.QUESTION


def _kind_by_words(error: BaseException, words: str) -> TroubleKind:
    if isinstance(error, NotImplementedError):
        return TroubleKind.UNSUPPORTED
    for kind, pattern, type_ in (
        (TroubleKind.SLOW, _SLOW, TimeoutError),
        (TroubleKind.DOWN, _DOWN, ConnectionError),
        (TroubleKind.TOO_LONG, _TOO_LONG, ()),
        (TroubleKind.UNSUPPORTED, _UNSUPPORTED, ()),
    ):
        if isinstance(error, type_) or pattern.search(words):
            return kind
    return TroubleKind.OTHER


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and its causes: libraries wrap what servers say."""
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


def _reason(kind: TroubleKind, error: BaseException, hides: Sequence[str]) -> str:
    """Return the reason in one line. Never repeat what a server says of a key: some repeat the key."""
    if kind in (TroubleKind.KEY, TroubleKind.LIMIT):
        return str(kind)
    words = short(hidden(str(error)[:2000], hides))
    if not words.endswith(".."):
        words = words.removesuffix(".")  # it stands inside a sentence
    if kind is TroubleKind.SLOW and isinstance(error, TimeoutError):
        return words or str(kind)
    if kind is TroubleKind.OTHER:
        return f"{type(error).__name__}: {words}" if words else type(error).__name__
    return f"{kind}: {words or type(error).__name__}"


def _after(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers: Any = getattr(getattr(error, "response", None), "headers", None)
        if isinstance(headers, Mapping) or hasattr(headers, "get"):
            return _seconds(headers.get(_AFTER_IN_MS), 1000) or _seconds(headers.get("retry-after"), 1)
    return None


def _said_in(words: str) -> float | None:
    """Return how long to wait, if the words of an error say so."""
    found = _AGAIN_IN.search(words)
    if found is None or not (found[1] or found[2]):
        return None
    seconds = float(found[2] or 0) / (1000 if (found[3] or "").lower() == "ms" else 1)
    return 60.0 * int(found[1] or 0) + seconds


def _seconds(value: object, parts: int) -> float | None:
    """Return seconds, from a number or from a date by the server's clock."""
    if not isinstance(value, str):
        return None
    try:
        found = float(value) / parts
    except ValueError:
        return _until(value)
    return found if 0 <= found < 1_000_000 else None


def _until(value: str) -> float | None:
    """Return the seconds up to a date. This is only as good as the two clocks agree."""
    from datetime import datetime

    try:
        until = parsedate_to_datetime(value)
        found = (until - datetime.now(until.tzinfo)).total_seconds()
    except (TypeError, ValueError):
        return None
    return max(0.0, found)
