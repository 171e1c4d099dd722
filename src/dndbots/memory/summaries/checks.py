"""Checks that every summary must pass: it is text, of the right length, and about its source.

No answer of an engine is trusted: a model repeats what players wrote. A check never rewords; it refuses
an answer with a reason that can be shown to people and to models.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from dndbots.ids import is_hidden, short
from dndbots.llm.retry import AnswerRefused
from dndbots.memory.entries import Line, SummaryTask, join_lines
from dndbots.memory.summaries.fit import cut_end
from dndbots.text.clean import drop_hidden
from dndbots.text.sentences import split_sentences
from dndbots.text.vocabulary import Vocabulary
from dndbots.text.words import uids_of
from dndbots.tokens import count_tokens

# No prose has more characters to a token, so text that is far too long need not be counted.
_CHARS_PER_TOKEN: Final = 16
_TOO_LONG: Final = 2
_LONGEST_FAULT: Final = 40

_LEAST_KNOWN: Final = 0.4  # people's own synopses of real play: 0.6 and up; another language: below 0.3
_LEAST_KNOWN_OF_LINE: Final = 0.2
_LEAST_KNOWN_OF_FOREIGN: Final = 0.15
_FEW_WORDS: Final = 5

_BULLET = re.compile(r"(?:[-*+\u2022\u2023\u25e6\u2043\u00b7\u2013\u2014]|\(?\d{1,2}[.)])\s+")
_LEADING = re.compile(r"""[^\w"'\u2018\u201c\u00ab(\[<\u300c\u300e\u00bf\u00a1]+""")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_++|(?<!_)_++(?!\w)|(?<!`)`(?!`)")
_IN_FRONT: Final = (_LEADING, _BULLET)
_ENDED = re.compile(r"""[.!?\u2026:;,\u3002\uff01\uff1f]["'\u2019\u201d)\]\u00bb\u300d\u300f]*$""")

_WRAPS = r"[\s>*_\[({<\"'\u201c\u2018|/-]*"
_HEADING = re.compile(r"[\s>*_-]*#")
_FENCE = re.compile(r"`{3,}|~{3,}|<{3,}|>{3,}")
_SPECIAL = re.compile(r"<\|[^|>]{0,40}\|?>?|\[/?INST\]|<</?SYS>>|</?s>", re.IGNORECASE)
_ROLE = re.compile(
    rf"{_WRAPS}(?:system|assistant|user|human|ai|tool|function|developer|instructions?|prompt)"
    rf"(?:\s+(?:prompt|message|note|instructions?))?[\])}}>\"'*_\s]*:",
    re.IGNORECASE,
)
_RECORD = re.compile(rf"{_WRAPS}(?:PC|NPC|MON|LOC|FAC|ITEM|QST|EVT):(?=\S)")
_SECTION = re.compile(r"[\W_]*[A-Z][A-Z '&()_-]{2,60}:[\W_]*$")
_MARKS: Final = (("a fence", _FENCE), ("a role marker", _SPECIAL))
_OPENINGS: Final = (
    ("a heading", _HEADING),
    ("a role marker", _ROLE),
    ("a record", _RECORD),
    ("a heading", _SECTION),
)
_OPENED: Final = tuple(pattern for _, pattern in _OPENINGS)


class Origin(Enum):
    """The origin of a summary, which decides how far it is trusted."""

    QUOTED = "our own engine, which quotes its source: what it quotes is made harmless, not refused"
    ENGINE = "an engine that a user brings"
    WRITTEN = "a chat model, which may invent"
    FOREIGN = "a summarizer that a user brings, in words of its own"


def check_summary(answer: object, task: SummaryTask, origin: Origin) -> list[Line]:
    """Return the lines of an answer, single lines within the task's tokens; or raise `Refused`."""
    lines = _plain_lines(_as_lines(answer, task.tokens), origin)
    if not lines:
        raise AnswerRefused("the answer is empty")
    _refuse_unknown_sources(lines, task)
    fitting = _within(lines, task.tokens)
    if origin is not Origin.QUOTED:
        _refuse_inventions(fitting, Vocabulary(_source(task)), origin)
    return fitting


def quote_entries(task: SummaryTask) -> list[Line]:
    """Return the entries themselves, as far as they fit, for when our own engine finds nothing better.

    It never fails. The result may be empty: nothing is left of the entry `SYSTEM:`, for example.
    """
    lines: list[Line] = []
    for entry in task.entries:
        texts = [text for text in map(tame_line, (entry.text, *entry.outcomes)) if text]
        quote = tame_line(f"[{entry.who}]: {' '.join(texts)}" if entry.who else " ".join(texts))
        room = task.tokens - count_tokens(join_lines([*lines, Line("")]))
        fitting = tame_line(cut_end(quote, room, "")) if texts else ""
        longer = [*lines, Line(fitting, (entry.event_id,) if entry.event_id else ())]
        if room < 1 or count_tokens(join_lines(longer)) > task.tokens:
            break
        lines = longer if fitting else lines
    return lines


def tame_line(text: str) -> str:
    """Return a quotation as one line of a prompt, without marks that a model could take for structure."""
    return " ".join(_tame(text).split())


# Shape


def _as_lines(answer: object, tokens: int) -> list[Line]:
    if answer is None:
        raise AnswerRefused("nothing came back")
    if isinstance(answer, str | Line):
        answer = [answer]
    if not isinstance(answer, list | tuple):
        raise AnswerRefused(f"not text: {type(answer).__name__}")
    if len(answer) > _TOO_LONG * tokens:
        raise AnswerRefused(f"too long: {len(answer):,} lines where {tokens:,} tokens are asked for")
    lines = [_as_line(item) for item in answer]
    size = sum(len(line.text) for line in lines)
    if size > _TOO_LONG * _CHARS_PER_TOKEN * tokens:
        raise AnswerRefused(f"too long: {size:,} characters where {tokens:,} tokens are asked for")
    return lines


def _as_line(item: object) -> Line:
    text, sources = (item.text, item.sources) if isinstance(item, Line) else (item, ())
    if text is None:
        raise AnswerRefused("nothing came back")
    if not isinstance(text, str):
        raise AnswerRefused(f"not text: {type(text).__name__}")
    if not (isinstance(sources, list | tuple) and all(isinstance(source, str) for source in sources)):
        raise AnswerRefused(f"sources that are no event ids: {sources!r:.40}")
    return Line(text, tuple(source for source in sources if source))


# Lines


def _plain_lines(answer_lines: Iterable[Line], origin: Origin) -> list[Line]:
    lines: list[Line] = []
    for line in answer_lines:
        text = _tame(line.text) if origin is Origin.QUOTED else line.text
        refuse_unfit(text)
        for plain in _joined_labels(_plain(raw) for raw in text.splitlines()):
            pieces = map(_plain, split_sentences(plain)) if origin is Origin.WRITTEN else [plain]
            lines += [Line(piece, line.sources) for piece in pieces if piece]
    for line in lines:
        # Removing a bullet or splitting a line may have brought markup to the front.
        _refuse_markup(line.text)
    return lines


def _plain(raw: str) -> str:
    """Return a line as plain prose: no bullet, no emphasis, nothing in front of the first word."""
    text = " ".join(raw.split())
    bullet = _BULLET.match(text)
    text = _EMPHASIS.sub("", text[bullet.end() :] if bullet else text)
    text = text[_end_of_openings(text, _IN_FRONT) :]
    if not any(char.isalnum() for char in text):
        return ""
    text = " ".join(text.split())
    return f"{text}." if bullet and not _ENDED.search(text) else text


def _joined_labels(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with a line that is only a label joined to the next one."""
    label = ""
    for line in filter(None, lines):
        whole = f"{label} {line}" if label else line
        label = whole if whole.endswith(":") else ""
        if not label:
            yield whole
    if bare := label.rstrip(": "):
        yield f"{bare}."


def _tame(text: str) -> str:
    """Return a quotation that no check refuses: a player's `SYSTEM:` must not stop the game's memory."""
    lines = unicodedata.normalize("NFC", drop_hidden(text)).splitlines()
    return "\n".join(map(_tame_line, lines))


def _tame_line(line: str) -> str:
    """Remove marks until none is left: removing one may bring another to the front."""
    while True:
        before, line = line, _plain(line)
        for _, pattern in _MARKS:
            plain = unicodedata.normalize("NFKC", line)
            if pattern.search(plain):
                line = pattern.sub(" ", plain)
        plain = unicodedata.normalize("NFKC", line)
        line = plain[end:] if (end := _end_of_openings(plain, _OPENED, between=_IN_FRONT)) else line
        if line == before:
            return line


def _end_of_openings(
    text: str, openings: Sequence[re.Pattern[str]], *, between: Sequence[re.Pattern[str]] = ()
) -> int:
    """Return the end of the last opening at the front of a text, reading the text only once."""
    at = end = 0
    while opening := next(
        (match for pattern in (*openings, *between) if (match := pattern.match(text, at))), None
    ):
        at = opening.end()
        end = at if opening.re in openings else end
    return end


# Refusals


def refuse_unfit(text: str) -> None:
    """Raise if a text has hidden characters, or marks that pass for a part of a prompt."""
    _refuse_hidden(text)
    _refuse_markup(text)


def _refuse_hidden(text: str) -> None:
    for char in text:
        if char not in "\r\n\t" and is_hidden(char):
            raise AnswerRefused(f"a control character: U+{ord(char):04X}")


def _refuse_markup(text: str) -> None:
    plain = unicodedata.normalize("NFKC", text)
    for what, pattern in _MARKS:
        if mark := pattern.search(plain):
            raise AnswerRefused(f"{what}: {_fault(mark.group())}")
    for line in plain.splitlines():
        for what, pattern in _OPENINGS:
            if pattern.match(line):
                raise AnswerRefused(f"{what}: {_fault(line)}")


def _refuse_unknown_sources(lines: Iterable[Line], task: SummaryTask) -> None:
    known = {entry.event_id for entry in task.entries}
    for line in lines:
        for source in line.sources:
            if source not in known:
                raise AnswerRefused(f"a source that was not given: {_fault(source)}")


def _refuse_inventions(lines: Sequence[Line], vocabulary: Vocabulary, origin: Origin) -> None:
    _refuse_invented_uids(lines, vocabulary)
    if origin is Origin.WRITTEN:
        _refuse_strangers(lines, vocabulary)
        _refuse_nonsense(lines, vocabulary)
    elif origin is Origin.FOREIGN:
        count, share = vocabulary.plausible_share(join_lines(lines))
        if count >= _FEW_WORDS and share < _LEAST_KNOWN_OF_FOREIGN:
            raise AnswerRefused(_nonsense(lines[0].text))


def _refuse_invented_uids(lines: Iterable[Line], vocabulary: Vocabulary) -> None:
    for uid in (uid for line in lines for uid in uids_of(line.text)):
        if not vocabulary.has_uid(uid):
            raise AnswerRefused(f"an id that is not in the source: {_fault(uid)}")


def _refuse_strangers(lines: Iterable[Line], vocabulary: Vocabulary) -> None:
    strangers = dict.fromkeys(name for line in lines for name in vocabulary.unknown_names(line.text))
    if strangers:
        raise AnswerRefused(
            f"a name that is not in the source: {', '.join(map(_fault, list(strangers)[:3]))}"
        )


def _refuse_nonsense(lines: Sequence[Line], vocabulary: Vocabulary) -> None:
    _, share = vocabulary.known_share(join_lines(lines))
    if share < _LEAST_KNOWN:
        raise AnswerRefused(_nonsense(lines[0].text))
    for line in lines:
        count, share = vocabulary.known_share(line.text)
        if count >= _FEW_WORDS and share < _LEAST_KNOWN_OF_LINE:
            raise AnswerRefused(_nonsense(line.text))


def _nonsense(text: str) -> str:
    return f"nonsense, or not the language of the source: {_fault(text)}"


def _fault(text: str) -> str:
    return repr(short(text, _LONGEST_FAULT))


def _source(task: SummaryTask) -> Iterator[str]:
    yield from (task.agent, task.name, task.about)
    yield from (value for value in task.related.values() if isinstance(value, str))
    for entry in task.entries:
        yield from (entry.text, entry.who, entry.event_id, *entry.outcomes)


# Length


def _within(lines: list[Line], tokens: int) -> list[Line]:
    """Return the first whole sentences that fit; raise if the summary is far too long."""
    count = count_tokens(join_lines(lines))
    if count <= tokens:
        return lines
    if count > _TOO_LONG * tokens:
        raise AnswerRefused(f"too long: {count:,} tokens where {tokens:,} are asked for")
    pieces = [(number, piece) for number, line in enumerate(lines) for piece in split_sentences(line.text)]
    fits, over = 0, len(pieces)
    while over - fits > 1:
        middle = (fits + over) // 2
        if count_tokens(join_lines(_rejoined(lines, pieces[:middle]))) <= tokens:
            fits = middle
        else:
            over = middle
    if not fits:
        raise AnswerRefused(f"too long: no sentence fits into {tokens:,} tokens")
    return _rejoined(lines, pieces[:fits])


def _rejoined(lines: Sequence[Line], pieces: Iterable[tuple[int, str]]) -> list[Line]:
    texts: dict[int, list[str]] = {}
    for number, piece in pieces:
        texts.setdefault(number, []).append(piece)
    return [Line(" ".join(kept), lines[number].sources) for number, kept in texts.items()]
