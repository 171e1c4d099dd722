"""How many tokens a text is: a fast guess, and the exact count that budgets use.

toktok carries the vocabularies with it, so exact counts need no network. It is fast in batches
and has a fixed cost for each call, so counts are remembered and asked for in batches.
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
# What budgets are counted in, unless somebody says otherwise.
DEFAULT_ENCODING: Final = "cl100k_base"
# Room for models whose tokenizer is not on board: smaller vocabularies need more tokens than o200k.
UNKNOWN_MODEL_MARGIN: Final = 1.25

_TOKENS_PER_WORD = 1.3
_LONGEST_WORD = 32  # what is longer is no word: an address, a digest, text without spaces
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
    """About how many tokens: 1.3 a word; by characters for what is written without spaces.

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
    """Counts already made, the least recently used dropped first, bounded by what they hold."""

    ENTRY = 100  # what an entry costs beside its characters

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
    """The exact number of tokens of each text, in one batch."""
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
    """The exact number of tokens of one text."""
    return count_many((text,), encoding)[0]


def count_lines(lines: Sequence[str], encoding: str = DEFAULT_ENCODING) -> int:
    """The exact number of tokens of lines as one text, a newline after each."""
    if any(map(_REACHED_INTO, lines)):
        return count_tokens("".join([f"{line}\n" for line in lines]), encoding)
    return sum(count_many([f"{line}\n" for line in lines], encoding))


def count_parts(parts: Iterable[str], encoding: str = DEFAULT_ENCODING) -> int:
    """The exact number of tokens of texts as one: each by itself, where no token reaches over its end."""
    given = [part for part in parts if part]
    if all(goes_on_apart(one, other) for one, other in pairwise(given)):
        return sum(count_many(given, encoding))
    return count_tokens("".join(given), encoding)


def goes_on_apart(text: str, other: str) -> bool:
    """Whether a text that another goes on with has as many tokens as both by themselves."""
    return text.endswith("\n") and not _REACHED_INTO(other)


def _count(texts: Sequence[str], encoding: str) -> list[int]:
    import toktok  # 40 MB of vocabulary: only where something is counted

    # A lone surrogate cannot be encoded; it reaches a model as the replacement character, if at all.
    written = [text if text.isascii() else _SURROGATE.sub("\ufffd", text) for text in texts]
    # To start threads costs more than to count what a prompt is made of.
    threads = 1 if sum(map(len, written)) < _MANY_CHARACTERS else 0
    counts: list[int] = toktok.batch_count(written, encoding, threads)
    return counts


@dataclass(frozen=True, kw_only=True)
class TokenCounter:
    """Counts for one model. `margin` is above 1 where its real tokenizer is not on board.

    Vocabularies differ far more in other scripts than in English, so the room that a margin leaves is
    up to four times as large there. No text has more tokens than bytes.
    """

    encoding: str = DEFAULT_ENCODING
    margin: float = 1.0

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise UnknownEncoding(self.encoding, known=ENCODINGS)
        if not (math.isfinite(self.margin) and self.margin >= 1):
            raise InvalidSetting("margin", self.margin, reason="is not 1 or more: a count would be too low")

    @property
    def exact(self) -> bool:
        return self.margin == 1.0

    def count(self, text: str) -> int:
        return self.count_many((text,))[0]

    def count_many(self, texts: Iterable[str]) -> list[int]:
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
    """The counter for a model by name, `provider:name` or the bare name: exact, or with a margin."""
    name = re.sub(r"^(openai|azure_openai)[:/]", "", model.lower())
    if name.startswith("ft:"):
        name = name.split(":")[1]
    for pattern, encoding in _MODELS:
        if pattern.fullmatch(name):
            return TokenCounter(encoding=encoding)
    return TokenCounter(encoding="o200k_base", margin=UNKNOWN_MODEL_MARGIN)


# What providers report


class Report(NamedTuple):
    """How many tokens a prompt had: by our own count, in the model's encoding, and by the provider's."""

    counted: int
    reported: int


REPORTS: Final = 20  # the newest; a model behind a name may change
_MOST_RATIO: Final = 8.0  # what reports more than that counts something else
_LARGE_PROMPT: Final = 200  # in smaller ones, what a chat format adds is no small part


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How a provider counts: so many tokens for each of ours, and so many more for each prompt."""

    encoding: str = DEFAULT_ENCODING
    ratio: float = 1.0
    overhead: int = 0

    def expected(self, counted: int) -> int:
        """What the provider will count, at most, for a prompt of so many tokens by our count."""
        return math.ceil(counted * self.ratio) + self.overhead

    def scaled(self, budget: int) -> int:
        """How many tokens by our count fit into so many by the provider's."""
        fits = max(0, math.floor((budget - self.overhead) / self.ratio))
        return fits - 1 if fits and self.expected(fits) > budget else fits


def calibrated(model: str, reports: Sequence[Report]) -> Calibration:
    """How a model's provider counts, by its newest reports; before there are any, by the margin.

    None of these reports is underestimated. A ratio below 1 is not believed: servers that keep a prompt's
    beginning may not count it again.
    """
    counter = counter_for(model)
    seen = [one for one in reports[-REPORTS:] if one.counted > 0 and one.reported > 0]
    if not seen:
        return Calibration(encoding=counter.encoding, ratio=counter.margin)
    large = [one for one in seen if one.counted >= _LARGE_PROMPT] or seen
    ratio = min(_MOST_RATIO, max(1.0, *(one.reported / one.counted for one in large)))
    left = max(one.reported - math.floor(one.counted * ratio) for one in seen)
    return Calibration(encoding=counter.encoding, ratio=ratio, overhead=min(max(0, left), _LARGE_PROMPT * 8))
