"""The lines of a story, with their sources and reasons, and entries prepared to become such lines."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from dndbots.memory.entries import Entry
from dndbots.memory.selection.candidates import Candidate, find_entry_candidates
from dndbots.memory.selection.weights import EARLY, is_retelling
from dndbots.text.clean import prompt_line
from dndbots.text.labels import short_label, write_unlabelled
from dndbots.tokens import count_many, count_tokens

# Names, the story up to a boundary, the time since then in short, and the newest lines in full.
StoryPart = Literal["names", "story", "lately", "recent"]


class StoryLine(NamedTuple):
    """A line of a story. `reason` tells a person why it is there or why it was left out."""

    text: str
    sources: tuple[str, ...]
    part: StoryPart
    reason: str


class StoryTelling(NamedTuple):
    """A story as it is told: the kept lines in the order of play, and the best of those that did not fit."""

    kept: tuple[StoryLine, ...]
    dropped: tuple[StoryLine, ...]


_READ: Final = 20_000  # characters; a story uses only the beginning of a longer entry
_ELLIPSIS: Final = "\u2026"
_MOST_CHARACTERS: Final = 16  # to a token; a longer text is cut before it is counted
_TRIES: Final = 14
_A_FEW: Final = 64  # entries of a round or two, which are cached; more are a whole story read again


class PreparedEntry(NamedTuple):
    """An entry with its sentences and its `lines`, each with its tokens, newline included."""

    entry: Entry
    lines: tuple[tuple[str, int], ...]
    cost: int
    sentences: tuple[Candidate, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.entry.event_id,) if self.entry.event_id else ()

    def told_lines(self) -> list[StoryLine]:
        """Return the entry in full, as one of the newest."""
        return [StoryLine(text, self.sources, "recent", "one of the newest lines") for text, _ in self.lines]


def prepare_entries(entries: Sequence[Entry], first: int, encoding: str) -> list[PreparedEntry]:
    """Prepare entries of a run; `first` is the number of the first one in its run."""
    if len(entries) <= _A_FEW:
        return [_prepare_entry(entry, number, encoding) for number, entry in enumerate(entries, first)]
    return _prepare_all(entries, first, encoding)


# Viewers who were always together have the same entry under the same number, and share this cache.
@lru_cache(maxsize=1 << 9)
def _prepare_entry(entry: Entry, number: int, encoding: str) -> PreparedEntry:
    [prepared] = _prepare_all([entry], number, encoding)
    return prepared


def _prepare_all(entries: Sequence[Entry], first: int, encoding: str) -> list[PreparedEntry]:
    lines = [_lines(entry) for entry in entries]
    sentences = [_sentences(entry, number) for number, entry in enumerate(entries, first)]
    texts = [line + "\n" for group in lines for line in group]
    texts += [candidate.line + "\n" for group in sentences for candidate in group]
    counts = iter(count_many(texts, encoding))
    counted = [tuple((line, next(counts)) for line in group) for group in lines]
    return [
        PreparedEntry(
            entry,
            own,
            sum(tokens for _, tokens in own),
            tuple(candidate._replace(entry=number, tokens=next(counts)) for candidate in group),
        )
        for number, (entry, own, group) in enumerate(zip(entries, counted, sentences, strict=True), first)
    ]


def _sentences(entry: Entry, number: int) -> Iterable[Candidate]:
    if len(entry.text) > _READ:
        entry = replace(entry, text=entry.text[:_READ])
    return find_entry_candidates(entry, number < EARLY and is_retelling(entry), True)  # noqa: FBT003


# Most viewers of an event know the same names, and share this cache.
@lru_cache(maxsize=1 << 9)
def _lines(entry: Entry) -> tuple[str, ...]:
    """Return the text under its speaker's name, and the outcomes that it does not tell itself."""
    who, text = short_label(entry.who), prompt_line(entry.text)
    # "Wymond Pell looks past you." needs no name before it.
    named = not who or entry.played
    # Who comes in is told to those who are there; the others went there.
    is_arrival = entry.aside and bool(entry.outcomes) and all(deed.kind == "moved" for deed in entry.deeds)
    spoken = (write_unlabelled(text) if named else f"{who}: {text}") if text and not is_arrival else ""
    told = {deed.sentence for deed in entry.deeds if deed.is_told_in(text)}
    outcomes = " ".join(prompt_line(outcome) for outcome in entry.outcomes if outcome not in told)
    return tuple(line for line in (spoken, write_unlabelled(outcomes.strip())) if line)


def cut_line(line: str, tokens: int, encoding: str) -> str:
    """Return the beginning of a line in at most `tokens` tokens, newline included; empty if nothing fits."""
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
