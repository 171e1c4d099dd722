"""What a summary must be before anything is kept of it: text, of its length, about its source.

Nothing that comes back from an engine is trusted: a model repeats what players wrote. A check never
rewords; what it cannot accept it refuses with a reason that can be shown to people and to models.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from dndbots.ids import is_hidden, short
from dndbots.llm.waiting import Refused
from dndbots.memory.entries import Line, SummaryTask, as_text
from dndbots.memory.fitting import cut_end
from dndbots.memory.wording import Vocabulary, sentences, uids_of
from dndbots.tokens import count_tokens

# No prose has more characters to a token, so that what is far too long is never counted.
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
    """Where a summary comes from, which is how far it is trusted."""

    QUOTED = "our own engine, which quotes its source: what it quotes is made harmless, not refused"
    ENGINE = "an engine of somebody's"
    WRITTEN = "a chat model, which may invent"
    FOREIGN = "a summarizer of somebody's, whose words are its own"


def checked(answer: object, task: SummaryTask, origin: Origin) -> list[Line]:
    """The lines of an answer, each on one line and together within the task's tokens, or `Refused`."""
    lines = _plain_lines(_as_lines(answer, task.tokens), origin)
    if not lines:
        raise Refused("the answer is empty")
    _refuse_unknown_sources(lines, task)
    fitting = _within(lines, task.tokens)
    if origin is not Origin.QUOTED:
        _refuse_what_the_source_has_not(fitting, Vocabulary(_source(task)), origin)
    return fitting


def quoted(task: SummaryTask) -> list[Line]:
    """The entries themselves, as far as they fit: for an engine of ours that found nothing better.

    Never fails, since asking it again would change nothing. Of `SYSTEM:` alone, say, nothing is left.
    """
    lines: list[Line] = []
    for entry in task.entries:
        said = [text for text in map(tamed, (entry.text, *entry.outcomes)) if text]
        told = tamed(f"[{entry.who}]: {' '.join(said)}" if entry.who else " ".join(said))
        room = task.tokens - count_tokens(as_text([*lines, Line("")]))
        fitting = tamed(cut_end(told, room, "")) if said else ""
        longer = [*lines, Line(fitting, (entry.event_id,) if entry.event_id else ())]
        if room < 1 or count_tokens(as_text(longer)) > task.tokens:
            break
        lines = longer if fitting else lines
    return lines


def tamed(text: str) -> str:
    """What somebody said as one line of a prompt: it opens nothing there, and speaks for nobody else."""
    return " ".join(_tamed(text).split())


# Shape


def _as_lines(answer: object, tokens: int) -> list[Line]:
    if answer is None:
        raise Refused("nothing came back")
    if isinstance(answer, str | Line):
        answer = [answer]
    if not isinstance(answer, list | tuple):
        raise Refused(f"not text: {type(answer).__name__}")
    if len(answer) > _TOO_LONG * tokens:
        raise Refused(f"too long: {len(answer):,} lines where {tokens:,} tokens are asked for")
    lines = [_as_line(item) for item in answer]
    size = sum(len(line.text) for line in lines)
    if size > _TOO_LONG * _CHARS_PER_TOKEN * tokens:
        raise Refused(f"too long: {size:,} characters where {tokens:,} tokens are asked for")
    return lines


def _as_line(item: object) -> Line:
    text, sources = (item.text, item.sources) if isinstance(item, Line) else (item, ())
    if text is None:
        raise Refused("nothing came back")
    if not isinstance(text, str):
        raise Refused(f"not text: {type(text).__name__}")
    if not (isinstance(sources, list | tuple) and all(isinstance(source, str) for source in sources)):
        raise Refused(f"sources that are no event ids: {sources!r:.40}")
    return Line(text, tuple(source for source in sources if source))


# Lines


def _plain_lines(given: Iterable[Line], origin: Origin) -> list[Line]:
    lines: list[Line] = []
    for line in given:
        text = _tamed(line.text) if origin is Origin.QUOTED else line.text
        refuse_unfit(text)
        for plain in _joined_labels(_plain(raw) for raw in text.splitlines()):
            pieces = map(_plain, sentences(plain)) if origin is Origin.WRITTEN else [plain]
            lines += [Line(piece, line.sources) for piece in pieces if piece]
    for line in lines:
        # Taking a bullet or a sentence out of its line may have brought something to the front.
        _refuse_markup(line.text)
    return lines


def _plain(raw: str) -> str:
    """One line of prose: spaces collapsed, bullets and emphasis gone, nothing in front of the first word."""
    text = " ".join(raw.split())
    bullet = _BULLET.match(text)
    text = _EMPHASIS.sub("", text[bullet.end() :] if bullet else text)
    text = text[_end_of_openings(text, _IN_FRONT) :]
    if not any(char.isalnum() for char in text):
        return ""
    text = " ".join(text.split())
    return f"{text}." if bullet and not _ENDED.search(text) else text


def _joined_labels(lines: Iterable[str]) -> Iterator[str]:
    """A line that is only a label stands before what it labels."""
    label = ""
    for line in filter(None, lines):
        whole = f"{label} {line}" if label else line
        label = whole if whole.endswith(":") else ""
        if not label:
            yield whole
    if bare := label.rstrip(": "):
        yield f"{bare}."


def _tamed(text: str) -> str:
    """A quotation that no check refuses: a player who writes `SYSTEM:` must not stop the game's memory."""
    text = "".join(" " if is_hidden(char) and char not in "\r\n\t" else char for char in text)
    return "\n".join(map(_tamed_line, unicodedata.normalize("NFC", text).splitlines()))


def _tamed_line(line: str) -> str:
    """Taking one thing out may bring another to the front, or together: so until there is none left."""
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
    """Where the last of the openings at the front ends, with what may stand between them: all read once."""
    at = end = 0
    while found := next((match for one in (*openings, *between) if (match := one.match(text, at))), None):
        at = found.end()
        end = at if found.re in openings else end
    return end


# Refusals


def refuse_unfit(text: str) -> None:
    """Refuse what speaks to a model behind a person's back, or passes for a part of a prompt."""
    _refuse_hidden(text)
    _refuse_markup(text)


def _refuse_hidden(text: str) -> None:
    for char in text:
        if char not in "\r\n\t" and is_hidden(char):
            raise Refused(f"a control character: U+{ord(char):04X}")


def _refuse_markup(text: str) -> None:
    plain = unicodedata.normalize("NFKC", text)
    for what, pattern in _MARKS:
        if found := pattern.search(plain):
            raise Refused(f"{what}: {_fault(found.group())}")
    for line in plain.splitlines():
        for what, pattern in _OPENINGS:
            if pattern.match(line):
                raise Refused(f"{what}: {_fault(line)}")


def _refuse_unknown_sources(lines: Iterable[Line], task: SummaryTask) -> None:
    known = {entry.event_id for entry in task.entries}
    for line in lines:
        for source in line.sources:
            if source not in known:
                raise Refused(f"a source that was not given: {_fault(source)}")


def _refuse_what_the_source_has_not(lines: Sequence[Line], vocabulary: Vocabulary, origin: Origin) -> None:
    _refuse_invented_uids(lines, vocabulary)
    if origin is Origin.WRITTEN:
        _refuse_strangers(lines, vocabulary)
        _refuse_nonsense(lines, vocabulary)
    elif origin is Origin.FOREIGN:
        count, share = vocabulary.lenient_share(as_text(lines))
        if count >= _FEW_WORDS and share < _LEAST_KNOWN_OF_FOREIGN:
            raise Refused(_nonsense(lines[0].text))


def _refuse_invented_uids(lines: Iterable[Line], vocabulary: Vocabulary) -> None:
    for uid in (uid for line in lines for uid in uids_of(line.text)):
        if not vocabulary.has_uid(uid):
            raise Refused(f"an id that is not in the source: {_fault(uid)}")


def _refuse_strangers(lines: Iterable[Line], vocabulary: Vocabulary) -> None:
    strangers = dict.fromkeys(name for line in lines for name in vocabulary.strangers(line.text))
    if strangers:
        raise Refused(f"a name that is not in the source: {', '.join(map(_fault, list(strangers)[:3]))}")


def _refuse_nonsense(lines: Sequence[Line], vocabulary: Vocabulary) -> None:
    _, share = vocabulary.share(as_text(lines))
    if share < _LEAST_KNOWN:
        raise Refused(_nonsense(lines[0].text))
    for line in lines:
        count, share = vocabulary.share(line.text)
        if count >= _FEW_WORDS and share < _LEAST_KNOWN_OF_LINE:
            raise Refused(_nonsense(line.text))


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
    """The first whole sentences that fit: what is a little too long is cut, what is far too long refused."""
    count = count_tokens(as_text(lines))
    if count <= tokens:
        return lines
    if count > _TOO_LONG * tokens:
        raise Refused(f"too long: {count:,} tokens where {tokens:,} are asked for")
    pieces = [(number, piece) for number, line in enumerate(lines) for piece in sentences(line.text)]
    fits, over = 0, len(pieces)
    while over - fits > 1:
        middle = (fits + over) // 2
        if count_tokens(as_text(_rejoined(lines, pieces[:middle]))) <= tokens:
            fits = middle
        else:
            over = middle
    if not fits:
        raise Refused(f"too long: no sentence fits into {tokens:,} tokens")
    return _rejoined(lines, pieces[:fits])


def _rejoined(lines: Sequence[Line], pieces: Iterable[tuple[int, str]]) -> list[Line]:
    texts: dict[int, list[str]] = {}
    for number, piece in pieces:
        texts.setdefault(number, []).append(piece)
    return [Line(" ".join(kept), lines[number].sources) for number, kept in texts.items()]
