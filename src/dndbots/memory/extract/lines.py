"""Chosen sentences as lines: what one entry said stands on one line, under its speaker's name."""

from collections.abc import Iterable, Sequence
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
    whole = [candidate]
    if candidate.who:  # a long name may leave no room for what was said
        whole.append(candidate._replace(who="", text='"' + candidate.text.replace('"', "'")))
    shorter = [each._replace(text=text) for each in whole for text in (each.text, *_beginnings(each.text))]
    counts = count_many((short.line for short in shorter), encoding)
    fitting = (s._replace(tokens=n) for s, n in zip(shorter, counts, strict=True) if n <= tokens)
    return next(fitting, None)


def _beginnings(text: str) -> Sequence[str]:
    """What a text begins with, the longest first, each at least a few characters."""
    ends = [place for place, char in enumerate(text) if char == " "] or list(range(1, len(text)))
    return [text[:end].rstrip(" ,;:-") + _ELLIPSIS for end in reversed(ends)]
