"""Sentences that a summary may be made of, each with what it costs and what it is about.

Made entry by entry: what is made of one never depends on another, so they can be kept and added to.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.canon.cues import cue_in
from dndbots.memory.entries import Entry
from dndbots.memory.extract.clean import as_telling, one_line, spoken_by
from dndbots.memory.extract.retelling import retellings
from dndbots.memory.extract.sentences import sentences
from dndbots.memory.extract.shorten import shorten
from dndbots.memory.extract.weighing import CUE, OUTCOME, is_change, weight_of
from dndbots.memory.extract.words import content, stems_of
from dndbots.storage.terms import terms_of
from dndbots.tokens import DEFAULT_ENCODING, count_many

# How a session ended is where the next one begins.
_ENDING: Final = 0.1
_ENDING_WEIGHT: Final = 2.5
_SHORT_SESSION: Final = 20


class Candidate(NamedTuple):
    """One sentence. `entry` and `place` are its place in the order of play, `tokens` its cost as a line.

    `who` is empty where no speaker is to be named, `told` says that it is telling and no talk.
    """

    text: str
    who: str = ""
    source: str = ""
    session: str = ""
    entry: int = 0
    place: int = 0
    tokens: int = 0
    words: tuple[str, ...] = ()
    weight: float = 1.0
    told: bool = True
    change: bool = False
    outcome: bool = False
    retold: bool = False

    @property
    def line(self) -> str:
        return f"{self.who}: {self.text}" if self.who else self.text

    @property
    def order(self) -> tuple[int, int]:
        return self.entry, self.place


def candidates(
    entries: Iterable[Entry], *, first: int = 0, shortened: bool = True, encoding: str = DEFAULT_ENCODING
) -> list[Candidate]:
    """All sentences of the entries, in the order of play; `first` is the number of the first entry.

    Each has its exact cost as a line of its own, its newline included. `shortened` says the same in fewer
    words, which are less pleasant to read.
    """
    given = list(entries)
    retold = retellings(given)
    made = [
        (candidate, first + place)
        for place, entry in enumerate(given)
        for candidate in of_entry(entry, place in retold, shortened)
    ]
    counts = count_many((candidate.line + "\n" for candidate, _ in made), encoding)
    return endings_raised(
        [
            candidate._replace(entry=number, tokens=count)
            for (candidate, number), count in zip(made, counts, strict=True)
        ]
    )


def endings_raised(made: Sequence[Candidate]) -> list[Candidate]:
    """What stands at the end of a session weighs more; to be asked once, when the session is whole."""
    bounds: dict[str, tuple[int, int]] = {}
    for candidate in made:
        first, _ = bounds.get(candidate.session, (candidate.entry, 0))
        bounds[candidate.session] = (first, candidate.entry)
    ending = {
        session: last - _ENDING * (last - first)
        for session, (first, last) in bounds.items()
        if last - first >= _SHORT_SESSION
    }
    return [
        candidate._replace(weight=candidate.weight * _ENDING_WEIGHT)
        if candidate.entry > ending.get(candidate.session, candidate.entry)
        else candidate
        for candidate in made
    ]


# What is summarised as a scene is summarised again as part of a session, and by others who were there.
@lru_cache(maxsize=1 << 13)
def of_entry(entry: Entry, retold: bool, shortened: bool) -> tuple[Candidate, ...]:  # noqa: FBT001
    """The sentences of one entry, not yet numbered or counted."""
    return tuple(_sentences_of(entry, retold=retold, shortened=shortened))


def _sentences_of(entry: Entry, *, retold: bool, shortened: bool) -> Iterator[Candidate]:
    place = 0
    for outcome in entry.outcomes:
        for sentence in sentences(outcome):
            if text := as_telling(one_line(sentence)):
                yield Candidate(
                    text=text,
                    source=entry.event_id,
                    session=entry.session,
                    place=place,
                    words=content(text),
                    weight=OUTCOME,
                    change=True,
                    outcome=True,
                )
                place += 1
    speaker = "" if entry.narrated else spoken_by(entry.who)
    for sentence in sentences(entry.text, clauses=shortened):
        text = one_line(shorten(sentence) if shortened else sentence)
        if not text:
            continue
        terms = terms_of(text)
        who = "" if speaker and text.startswith((f"{speaker} ", f"{speaker}'s ")) else speaker
        yield Candidate(
            text=text if who else as_telling(text),
            who=who,
            source=entry.event_id,
            session=entry.session,
            place=place,
            words=stems_of(terms),
            weight=weight_of(text, terms, narrated=entry.narrated) * (CUE if cue_in(sentence) else 1.0),
            told=not speaker,
            change=is_change(terms),
            retold=retold,
        )
        place += 1
