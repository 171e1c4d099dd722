"""Judges answers without a model: what must be in a text, what must not, and when to say "no record"."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from bench.rot.questions import AGES, Known

_RUN = 6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How an answer does. A figure is None where the question cannot show it."""

    kind: str
    age: int | None
    tokens: int
    cpu: float
    found: bool | None = None
    stale: bool | None = None
    both: bool | None = None  # the current value, and an older one beside it
    leaked: bool | None = None
    invented: bool | None = None  # answered though there is no record
    refused: bool | None = None  # refused though there is one


@dataclass(kw_only=True)
class Tally:
    """Verdicts of one system after one length."""

    verdicts: list[Verdict] = field(default_factory=list)

    def share(self, figure: str, kinds: Iterable[str] | None = None) -> float | None:
        """Share of the questions for which a figure is true; None if no question shows it."""
        values = self._values(figure, kinds)
        return mean(values) if values else None

    def _values(self, figure: str, kinds: Iterable[str] | None) -> list[bool]:
        wanted = None if kinds is None else set(kinds)
        return [
            getattr(verdict, figure)
            for verdict in self.verdicts
            if getattr(verdict, figure) is not None and (wanted is None or verdict.kind in wanted)
        ]

    def found_by_age(self) -> Mapping[int, float]:
        """Share of what was found, by the decade of its age."""
        ages: dict[int, list[bool]] = defaultdict(list)
        for verdict in self.verdicts:
            if verdict.found is not None and verdict.age is not None:
                ages[next(limit for limit in AGES if verdict.age <= limit)].append(verdict.found)
        return {age: mean(found) for age, found in sorted(ages.items())}

    def count(self, figure: str, kinds: Iterable[str] | None = None) -> int:
        """The number of questions that can show a figure."""
        return len(self._values(figure, kinds))

    def kinds(self, figure: str) -> list[str]:
        """The kinds of question that can show a figure."""
        return sorted({verdict.kind for verdict in self.verdicts if getattr(verdict, figure) is not None})


def judge(known: Known, text: str, *, refused: bool, tokens: int, cpu: float) -> Verdict:
    """Judge an answer to a question."""
    silent = refused or not text.strip()
    shown = "" if refused else text
    found = None
    if known.values:
        found = stands_together(shown, known.names, known.values)
    elif known.passages:
        found = quotes(shown, known.passages)
    has_answer = found is not None
    stale = both = None
    if known.older:
        older = stands_together(shown, known.names, known.older)
        stale, both = older and not found, older and bool(found)
    return Verdict(
        kind=known.kind,
        age=known.age,
        tokens=tokens,
        cpu=cpu,
        found=found,
        stale=stale,
        both=both,
        # A leak counts wherever the text is, refused or not.
        leaked=stands_together(text, known.names, known.hidden) if known.hidden else None,
        invented=None if has_answer else not silent,
        refused=silent if has_answer else None,
    )


def stands_together(text: str, names: Sequence[str], values: Sequence[str]) -> bool:
    """Whether one line of a text has one of the names and one of the values, in any case."""
    return any(says(line, names) and says(line, values) for line in text.splitlines())


def says(text: str, values: Sequence[str]) -> bool:
    """Whether a text has one of the values, in any case."""
    return any(next(iter(_find(value, text.casefold())), None) for value in values)


def quotes(text: str, passages: Sequence[str]) -> bool:
    """Whether a text has six words in a row of one of the passages. Shorter passages prove nothing."""
    shown = f" {' '.join(_WORD.findall(text.casefold()))} "
    for passage in passages:
        words = _WORD.findall(passage.casefold())
        runs = [words[at : at + _RUN] for at in range(len(words) - _RUN + 1)]
        if any(f" {' '.join(run)} " in shown for run in runs):
            return True
    return False


def _find(phrase: str, text: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<!\w){re.escape(phrase.casefold())}(?!\w)", text)
