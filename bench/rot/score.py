"""Judges answers without a model: what must be in a text, what must not, and when to say "no record"."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from bench.rot.questions import AGES, Known

# A name and a value belong together if they stand within so many characters.
NEAR = 260
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
    leaked: bool | None = None
    invented: bool | None = None  # answered though there is no record
    refused: bool | None = None  # refused though there is one


@dataclass(kw_only=True)
class Tally:
    """Verdicts of one system after one length."""

    verdicts: list[Verdict] = field(default_factory=list)

    def share(self, figure: str, kinds: Iterable[str] | None = None) -> float | None:
        """Share of the questions for which a figure is true; None if no question shows it."""
        wanted = None if kinds is None else set(kinds)
        values = [
            getattr(verdict, figure)
            for verdict in self.verdicts
            if getattr(verdict, figure) is not None and (wanted is None or verdict.kind in wanted)
        ]
        return mean(values) if values else None

    def found_by_age(self) -> Mapping[int, float]:
        """Share of what was found, by the decade of its age."""
        ages: dict[int, list[bool]] = defaultdict(list)
        for verdict in self.verdicts:
            if verdict.found is not None and verdict.age is not None:
                ages[next(limit for limit in AGES if verdict.age <= limit)].append(verdict.found)
        return {age: mean(found) for age, found in sorted(ages.items())}

    def found_by_kind(self) -> Mapping[str, float]:
        """Share of what was found, by kind of question."""
        kinds: dict[str, list[bool]] = defaultdict(list)
        for verdict in self.verdicts:
            if verdict.found is not None:
                kinds[verdict.kind].append(verdict.found)
        return {kind: mean(found) for kind, found in sorted(kinds.items())}


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
    stale = None
    if known.older:
        stale = not found and stands_together(shown, known.names, known.older)
    return Verdict(
        kind=known.kind,
        age=known.age,
        tokens=tokens,
        cpu=cpu,
        found=found,
        stale=stale,
        # A leak counts wherever the text is, refused or not.
        leaked=_stands_in_a_line(text, known.names, known.hidden) if known.hidden else None,
        invented=None if has_answer else not silent,
        refused=silent if has_answer else None,
    )


def stands_together(text: str, names: Sequence[str], values: Sequence[str]) -> bool:
    """Whether one of the names stands near one of the values, in any case."""
    text = text.casefold()
    places = [match.start() for name in names for match in _find(name, text)]
    return any(
        abs(match.start() - place) <= NEAR
        for value in values
        for match in _find(value, text)
        for place in places
    )


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


def _stands_in_a_line(text: str, names: Sequence[str], values: Sequence[str]) -> bool:
    """The same within one line: neighbours that have nothing to do with each other give nothing away."""
    return any(stands_together(line, names, values) for line in text.splitlines())


def _find(phrase: str, text: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<!\w){re.escape(phrase.casefold())}(?!\w)", text)
