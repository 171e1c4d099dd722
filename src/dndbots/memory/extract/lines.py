"""Chosen sentences as lines: what one entry said stands on one line, under its speaker's name."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from dndbots.memory.entries import Line
from dndbots.memory.extract.candidates import Candidate
from dndbots.tokens import DEFAULT_ENCODING, count_many

_ELLIPSIS = "\u2026"


def lines_of(chosen: Iterable[Candidate]) -> list[Line]:
    """A line for each entry and speaker, in the order given, with the id of the event."""
    lines = []
    for _, together in groupby(
        chosen, key=lambda candidate: (candidate.entry, candidate.who, candidate.outcome)
    ):
        group = list(together)
        text = group[0].line
        for candidate in group[1:]:
            text += f"; {candidate.text}" if text[-1].isalnum() else f" {candidate.text}"
        lines.append(Line(text, (group[0].source,) if group[0].source else ()))
    return lines


def cut(candidate: Candidate, tokens: int, encoding: str = DEFAULT_ENCODING) -> Candidate | None:
    """The candidate shortened to so many tokens, at a word where there is one; none where nothing fits."""
    for speaker in dict.fromkeys((candidate.who, "")):
        shorter = [
            replace(candidate, who=speaker, text=text)
            for text in (candidate.text, *_beginnings(candidate.text))
        ]
        counts = count_many((short.line for short in shorter), encoding)
        for short, count in zip(shorter, counts, strict=True):
            if count <= tokens:
                return replace(short, tokens=count)
    return None


def _beginnings(text: str) -> Sequence[str]:
    """What a text begins with, the longest first, each at least a few characters."""
    ends = [place for place, char in enumerate(text) if char == " "] or list(range(1, len(text)))
    return [text[:end].rstrip(" ,;:-") + _ELLIPSIS for end in reversed(ends)]
