"""Entries, prepared once: the lines that say them in full, and the sentences a story may be made of."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.memory.entries import Entry
from dndbots.memory.extract.candidates import Candidate, of_entry
from dndbots.memory.extract.clean import as_telling, one_line, spoken_by
from dndbots.memory.extract.retelling import EARLY, is_retelling
from dndbots.memory.story.values import Told
from dndbots.tokens import count_many, count_tokens

_READ: Final = 20_000  # of a longer entry only the beginning makes it into a story
_ELLIPSIS: Final = "\u2026"
_MOST_CHARACTERS: Final = 16  # to a token; what is longer is cut before it is counted
_TRIES: Final = 14
_A_FEW: Final = 64  # of a round or two; more than that is a story that is read anew


class Spoken(NamedTuple):
    """One entry: `lines` with their tokens, newlines included, and its sentences."""

    entry: Entry
    lines: tuple[tuple[str, int], ...]
    cost: int
    sentences: tuple[Candidate, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.entry.event_id,) if self.entry.event_id else ()

    def told(self) -> list[Told]:
        return [Told(text, self.sources, "recent", "among the newest") for text, _ in self.lines]


def spoken(entries: Sequence[Entry], first: int, encoding: str) -> list[Spoken]:
    """The entries of a run, prepared; `first` is the number of the first one in its run."""
    if len(entries) <= _A_FEW:
        return [_spoken(entry, number, encoding) for number, entry in enumerate(entries, first)]
    return _prepared(entries, first, encoding)


# Most of those who perceived it were there all the time, so that it has the same number for them.
@lru_cache(maxsize=1 << 9)
def _spoken(entry: Entry, number: int, encoding: str) -> Spoken:
    [said] = _prepared([entry], number, encoding)
    return said


def _prepared(entries: Sequence[Entry], first: int, encoding: str) -> list[Spoken]:
    lines = [_lines(entry) for entry in entries]
    sentences = [_sentences(entry, number) for number, entry in enumerate(entries, first)]
    texts = [line + "\n" for group in lines for line in group]
    texts += [candidate.line + "\n" for group in sentences for candidate in group]
    counts = iter(count_many(texts, encoding))
    counted = [tuple((line, next(counts)) for line in group) for group in lines]
    return [
        Spoken(
            entry,
            said,
            sum(tokens for _, tokens in said),
            tuple(candidate._replace(entry=number, tokens=next(counts)) for candidate in group),
        )
        for number, (entry, said, group) in enumerate(zip(entries, counted, sentences, strict=True), first)
    ]


def _sentences(entry: Entry, number: int) -> Iterable[Candidate]:
    if len(entry.text) > _READ:
        entry = replace(entry, text=entry.text[:_READ])
    return of_entry(entry, number < EARLY and is_retelling(entry), True)  # noqa: FBT003


# Most of those who perceived it know the same names.
@lru_cache(maxsize=1 << 9)
def _lines(entry: Entry) -> tuple[str, ...]:
    """What was said, under the name of who said it, and what the rules decided there."""
    who, text = spoken_by(entry.who), one_line(entry.text)
    said = (f"{who}: {text}" if who else as_telling(text)) if text else ""
    outcomes = " ".join(filter(None, map(one_line, entry.outcomes)))
    return tuple(line for line in (said, as_telling(outcomes)) if line)


def cut(line: str, tokens: int, encoding: str) -> str:
    """The beginning of a line, in at most so many tokens with its newline; empty where nothing fits."""
    line = line[: max(0, tokens) * _MOST_CHARACTERS]
    least, most = 0, len(line)
    for _ in range(_TRIES):
        middle = (least + most + 1) // 2
        if middle > least and _fits(line[:middle], tokens, encoding):
            least = middle
        else:
            most = max(least, middle - 1)
    while least > 0:
        short = line[:least].rstrip(" ,;:-")
        space = short.rfind(" ", least * 2 // 3)
        short = short[:space].rstrip(" ,;:-") if space > 0 else short
        if short and _fits(short, tokens, encoding):
            return short + _ELLIPSIS
        least = least * 3 // 4
    return ""


def _fits(text: str, tokens: int, encoding: str) -> bool:
    return count_tokens(f"{text}{_ELLIPSIS}\n", encoding) <= tokens
