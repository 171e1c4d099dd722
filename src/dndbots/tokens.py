"""Token counts: a fast estimate, and the exact count that budgets use.

toktok includes the vocabularies, so exact counts need no network. It is fast in batches and has a fixed
cost for each call, so counts are cached and made in batches.
"""

import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.errors import InvalidSetting, UnknownEncoding

ENCODINGS: Final = ("cl100k_base", "o200k_base")
# The encoding of budgets, unless somebody names another.
DEFAULT_ENCODING: Final = "cl100k_base"
# A margin for models whose tokenizer is not included: smaller vocabularies need more tokens than o200k.
UNKNOWN_MODEL_MARGIN: Final = 1.25

_TOKENS_PER_WORD = 1.3
_LONGEST_WORD = 32  # longer ones are no words, but addresses, digests, text without spaces
_CHARS_PER_TOKEN = 4
# Scripts that are written without spaces, with their punctuation, Hangul, whose words are many tokens
# each, and emoji.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3000-\u30ff\u3130-\u318f\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uff9f"
    r"\U0001b000-\U0001b16f\U0001f000-\U0001faff\U00020000-\U000323af]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# A token may reach over the end of a line only into blanks, an empty line or a slash.
_REACHED_INTO = re.compile(r"[\s/]|$").match
_MANY_CHARACTERS: Final = 200_000


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: 1.3 a word, or one a character in scripts without spaces.

    >>> estimate_tokens("Throk opens the old door")
    6
    """
    words = 0
    tokens = 0.0
    for chunk in text.split():
        rest, characters = _UNSPACED.subn(" ", chunk) if not chunk.isascii() else (chunk, 0)
        tokens += characters
        for word in rest.split():
            if len(word) > _LONGEST_WORD:
                tokens += len(word) / _CHARS_PER_TOKEN
            else:
                words += 1
    return int(words * _TOKENS_PER_WORD + tokens)


class _Counts:
    """A cache of counts, bounded by the size of its texts. The least recently used are dropped first."""

    ENTRY = 100  # the cost of an entry beside its characters

    def __init__(self, limit: int) -> None:
        self._limit, self._held = limit, 0
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, encoding: str, texts: Iterable[str]) -> list[int | None]:
        found = []
        with self._lock:
            counts, used = self._counts, self._counts.move_to_end
            for text in texts:
                count = counts.get((encoding, text))
                if count is not None:
                    used((encoding, text))
                found.append(count)
        return found

    def get_one(self, encoding: str, text: str) -> int | None:
        with self._lock:
            count = self._counts.get((encoding, text))
            if count is not None:
                self._counts.move_to_end((encoding, text))
        return count

    def put(self, encoding: str, made: Mapping[str, int]) -> None:
        with self._lock:
            for text, count in made.items():
                cost = len(text) + self.ENTRY
                if cost <= self._limit and (encoding, text) not in self._counts:
                    self._counts[encoding, text] = count
                    self._held += cost
            while self._held > self._limit:
                (_, dropped), _ = self._counts.popitem(last=False)
                self._held -= len(dropped) + self.ENTRY


_counts = _Counts(limit=4_000_000)


def count_many(texts: Iterable[str], encoding: str = DEFAULT_ENCODING) -> list[int]:
    """Return the exact number of tokens of each text, counted in one batch."""
    if encoding not in ENCODINGS:
        raise UnknownEncoding(encoding, known=ENCODINGS)
    asked = list(texts)
    known = _counts.get(encoding, asked)
    missing = list(dict.fromkeys(text for text, count in zip(asked, known, strict=True) if count is None))
    if not missing:
        return [count for count in known if count is not None]
    made = dict(zip(missing, _count(missing, encoding), strict=True))
    _counts.put(encoding, made)
    return [made[text] if count is None else count for text, count in zip(asked, known, strict=True)]


def count_tokens(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Return the exact number of tokens of one text."""
    known = _counts.get_one(encoding, text)
    return count_many((text,), encoding)[0] if known is None else known


def count_lines(lines: Sequence[str], encoding: str = DEFAULT_ENCODING) -> int:
    """Return the exact number of tokens of lines as one text, with a newline after each."""
    if any(map(_REACHED_INTO, lines)):
        return count_tokens("".join([f"{line}\n" for line in lines]), encoding)
    return sum(count_many([f"{line}\n" for line in lines], encoding))


def count_parts(parts: Iterable[str], encoding: str = DEFAULT_ENCODING) -> int:
    """Return the exact number of tokens of parts as one text. Parts are counted apart where possible."""
    texts = [part for part in parts if part]
    if all(has_token_break(text, after) for text, after in pairwise(texts)):
        return sum(count_many(texts, encoding))
    return count_tokens("".join(texts), encoding)


def has_token_break(text: str, other: str) -> bool:
    """Return True if no token spans the end of a text and the beginning of the other."""
    return text.endswith("\n") and not _REACHED_INTO(other)


def _count(texts: Sequence[str], encoding: str) -> list[int]:
    import toktok  # 40 MB of vocabulary: loaded with the first count

    # A lone surrogate cannot be encoded; it reaches a model as the replacement character, if at all.
    written = [text if text.isascii() else _SURROGATE.sub("\ufffd", text) for text in texts]
    # Starting threads costs more than counting the parts of a prompt.
    threads = 1 if sum(map(len, written)) < _MANY_CHARACTERS else 0
    counts: list[int] = toktok.batch_count(written, encoding, threads)
    return counts


@dataclass(frozen=True, kw_only=True)
class TokenCounter:
    """Counts tokens for one model. `margin` is above 1 if its real tokenizer is not included.

    Vocabularies differ far more in other scripts than in English, so a margin counts up to four times as
    much there. No text has more tokens than bytes.
    """

    encoding: str = DEFAULT_ENCODING
    margin: float = 1.0

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise UnknownEncoding(self.encoding, known=ENCODINGS)
        if not (math.isfinite(self.margin) and self.margin >= 1):
            raise InvalidSetting("margin", self.margin, reason="is too low; give 1 or more")

    @property
    def exact(self) -> bool:
        """True if counts are those of the model's own tokenizer."""
        return self.margin == 1.0

    def count(self, text: str) -> int:
        """Return the tokens of one text, margin included."""
        return self.count_many((text,))[0]

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Return the tokens of each text, margin included."""
        asked = list(texts)
        counts = count_many(asked, self.encoding)
        if self.exact:
            return counts
        return [self._with_room(text, count) for text, count in zip(asked, counts, strict=True)]

    def _with_room(self, text: str, count: int) -> int:
        if not count:
            return 0
        other = sum(not char.isascii() for char in text) / len(text)
        room = (self.margin - 1) * (1 + 3 * other)
        size = len(text.encode("utf-8", "replace"))
        return max(count, min(math.ceil(count * (1 + room)), size))


_VARIANT = (
    r"(-(mini|nano|pro|turbo|preview|latest|instruct|chat|codex|audio|realtime|search|vision|small|large"
    r"|[0-9]+[bk]|[0-9]{2,4}))*"
)
_MODELS = (
    (
        re.compile(rf"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5(\.[0-9])?|gpt-oss|o[134]){_VARIANT}"),
        "o200k_base",
    ),
    (re.compile(rf"(gpt-4|gpt-3\.5|gpt-35|text-embedding-3){_VARIANT}"), "cl100k_base"),
)


def counter_for(model: str) -> TokenCounter:
    """Return the counter for a model, `provider:name` or the bare name: exact, or with a margin."""
    name = re.sub(r"^(openai|azure_openai)[:/]", "", model.lower())
    if name.startswith("ft:"):
        name = name.split(":")[1]
    for pattern, encoding in _MODELS:
        if pattern.fullmatch(name):
            return TokenCounter(encoding=encoding)
    return TokenCounter(encoding="o200k_base", margin=UNKNOWN_MODEL_MARGIN)


# Reports of providers


class Report(NamedTuple):
    """The tokens of a prompt: by our own count in the model's encoding, and by the provider's."""

    counted: int
    reported: int


REPORTS: Final = 20  # the newest; a model behind a name may change
_MOST_RATIO: Final = 8.0  # a provider that reports more counts something else
_LARGE_PROMPT: Final = 200  # in smaller ones, the chat format is a large part


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A provider's way of counting: `ratio` tokens for each of ours, and `overhead` for each prompt."""

    encoding: str = DEFAULT_ENCODING
    ratio: float = 1.0
    overhead: int = 0

    def expected(self, counted: int) -> int:
        """Return the most that the provider will count for a prompt of so many tokens by our count."""
        return math.ceil(counted * self.ratio) + self.overhead

    def scaled(self, budget: int) -> int:
        """Return how many tokens by our count fit into a budget by the provider's count."""
        fits = max(0, math.floor((budget - self.overhead) / self.ratio))
        return fits - 1 if fits and self.expected(fits) > budget else fits


def calibrated(model: str, reports: Sequence[Report]) -> Calibration:
    """Return how a model's provider counts, by its newest reports; before the first one, by the margin.

    The result underestimates none of these reports. A ratio below 1 is not believed: servers that cache the
    beginning of a prompt may not count it again.
    """
    counter = counter_for(model)
    usable = [report for report in reports[-REPORTS:] if report.counted > 0 and report.reported > 0]
    if not usable:
        return Calibration(encoding=counter.encoding, ratio=counter.margin)
    large = [report for report in usable if report.counted >= _LARGE_PROMPT] or usable
    ratio = min(_MOST_RATIO, max(1.0, *(report.reported / report.counted for report in large)))
    left = max(report.reported - math.floor(report.counted * ratio) for report in usable)
    return Calibration(encoding=counter.encoding, ratio=ratio, overhead=min(max(0, left), _LARGE_PROMPT * 8))
