"""Summaries that a chat model writes: any object with `invoke(messages)`; no library is imported here.

The whole source is read: a long one is asked about in parts, and the summaries of the parts are merged.
Each answer is checked against the text of its own question, so that no part can spoil the whole.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, Final, Protocol, runtime_checkable

from dndbots.errors import InvalidSetting
from dndbots.llm.responses.shapes import content_of, said_in, without_thoughts
from dndbots.llm.retry import AnswerRefused, RetryPolicy
from dndbots.memory.entries import Entry, Line, SummaryTask
from dndbots.memory.summaries.checks import Origin, check_summary
from dndbots.memory.summaries.janitor import render_record, write_instruction, write_question
from dndbots.text.words import content_stems
from dndbots.tokens import count_many, count_tokens

CHUNK_TOKENS: Final = 6000
MOST_SOURCES: Final = 5
_SMALLEST_CHUNK: Final = 200
# The summary of a part takes at most 1/4 of a chunk, so that each round of merging leaves fewer of them.
_SHARE: Final = 4
_LINE_END: Final = 1
# An opening remark of the model.
_OPENING_REMARK = re.compile(
    r"\A\s*(?:sure|certainly|of course|okay|here(?:'s| is| are))\b[^\n]{0,120}:[ \t]*\n", re.IGNORECASE
)


@runtime_checkable
class ChatModel(Protocol):
    """A chat model of LangChain, or any object that answers a list of (role, text)."""

    def invoke(self, messages: Any, /) -> Any: ...


class ModelSummaries:
    """The summary engine that asks a chat model."""

    waits = True

    def __init__(
        self, model: ChatModel, *, chunk: int = CHUNK_TOKENS, patience: RetryPolicy | None = None
    ) -> None:
        if type(chunk) is not int or chunk < _SMALLEST_CHUNK:
            raise InvalidSetting(
                "chunk", chunk, reason=f"must be a number of tokens, at least {_SMALLEST_CHUNK}"
            )
        self._model, self._chunk = model, chunk
        self._patience = patience or RetryPolicy(timeout=60.0, attempts=2, first_pause=0.0)

    def summarize(self, task: SummaryTask) -> list[Line]:
        """Return the summary, one sentence per line, each with the entries it seems to come from."""
        chunks = list(split_chunks(task.entries, self._chunk))
        if len(chunks) == 1:
            return with_sources(self._ask(task, chunks[0]), task.entries)
        allowed = min(task.tokens, self._chunk // _SHARE)
        part = replace(task, tokens=allowed)
        partial = [
            self._ask(part, chunk, part=number, parts=len(chunks)) for number, chunk in enumerate(chunks, 1)
        ]
        return with_sources(self._merged(task, part, partial), task.entries)

    def _merged(self, task: SummaryTask, part: SummaryTask, partial: Sequence[list[Line]]) -> list[Line]:
        """Merge the summaries of the parts into one, in as many rounds as it takes."""
        while True:
            entries = [Entry(text=" ".join(line.text for line in lines)) for lines in partial]
            groups = list(split_chunks(entries, self._chunk))
            if len(groups) == 1:
                return self._ask(task, groups[0], merging=True)
            if len(groups) >= len(partial):
                raise AnswerRefused("merging does not reduce the number of partial summaries")
            partial = [self._ask(part, group, merging=True) for group in groups]

    def _ask(
        self,
        task: SummaryTask,
        entries: Sequence[Entry],
        *,
        part: int = 1,
        parts: int = 1,
        merging: bool = False,
    ) -> list[Line]:
        shown = replace(task, entries=tuple(entries))
        instructions = write_instruction(task, part=part, parts=parts, merging=merging)
        records = [render_record(entry) for entry in entries]

        def ask(refused: str) -> object:
            return self._model.invoke(write_question(instructions, records, refused))

        return self._patience.ask(ask, lambda answer: check_summary(text_of(answer), shown, Origin.WRITTEN))


# Reading


def split_chunks(entries: Sequence[Entry], tokens: int) -> Iterator[list[Entry]]:
    """Yield all entries in order, in chunks of at most so many tokens. Nothing is left out."""
    chunk: list[Entry] = []
    size = 0
    for entry, count in _pieces(entries, tokens):
        if chunk and size + count > tokens:
            yield chunk
            chunk, size = [], 0
        chunk.append(entry)
        size += count
    if chunk:
        yield chunk


def _pieces(entries: Sequence[Entry], tokens: int) -> Iterator[tuple[Entry, int]]:
    """Yield each entry with its tokens; an entry longer than a chunk comes in pieces."""
    for entry, count in zip(entries, count_many(map(render_record, entries)), strict=True):
        if count + _LINE_END <= tokens:
            yield entry, count + _LINE_END
        else:
            for piece in _split(entry, tokens):
                yield piece, count_tokens(render_record(piece)) + _LINE_END


def _split(entry: Entry, tokens: int) -> Iterator[Entry]:
    """Split an entry in halves, between words if possible, until each piece fits."""
    if entry.outcomes:
        yield from _split(replace(entry, outcomes=()), tokens)
        for outcome in entry.outcomes:
            yield from _split(replace(entry, text=outcome, outcomes=()), tokens)
    elif len(entry.text) < 2 or count_tokens(render_record(entry)) + _LINE_END <= tokens:
        yield entry
    else:
        middle = len(entry.text) // 2
        at = entry.text.rfind(" ", middle // 2, middle) + 1 or middle
        for half in (entry.text[:at], entry.text[at:]):
            if half.strip():
                yield from _split(replace(entry, text=half), tokens)


# Answers


def text_of(answer: object) -> str:
    """Return the text of a model's answer: a string, a message, parts, or parts in a message."""
    content = content_of(answer)
    if content is None:
        raise AnswerRefused("nothing came back")
    text = said_in(content)
    if text is None:
        raise AnswerRefused(f"not text: {type(content).__name__}")
    return _OPENING_REMARK.sub("", without_thoughts(text))


# Sources


def with_sources(lines: Sequence[Line], entries: Sequence[Entry]) -> list[Line]:
    """Return each line with the entries that share its rarest words and names, at most the best five."""
    words_by_entry = [
        _weighed_words(f"{entry.who} {entry.text} {' '.join(entry.outcomes)}") for entry in entries
    ]
    holding: dict[str, list[int]] = {}
    for number, words in enumerate(words_by_entry):
        for word in words:
            holding.setdefault(word, []).append(number)
    return [Line(line.text, _sources_of(line.text, entries, holding)) for line in lines]


def _sources_of(text: str, entries: Sequence[Entry], holding: Mapping[str, list[int]]) -> tuple[str, ...]:
    scores: defaultdict[int, float] = defaultdict(float)
    for word in _weighed_words(text):
        holders = holding.get(word, [])
        for number in holders:
            scores[number] += log(1 + len(entries) / len(holders))
    if not scores:
        return ()
    least = max(scores.values()) / 2
    best = sorted((number for number in scores if scores[number] >= least), key=lambda n: (-scores[n], n))
    ids = dict.fromkeys(entries[number].event_id for number in sorted(best[:MOST_SOURCES]))
    return tuple(event_id for event_id in ids if event_id)


def _weighed_words(text: str) -> set[str]:
    return set(content_stems(text))
