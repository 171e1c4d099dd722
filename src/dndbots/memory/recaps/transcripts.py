"""The recap of a session in which nothing was decided by rules: an imported transcript, a chat.

The words of the table tell it: the narration that says most, or the talk where nobody narrates.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from dndbots.memory.entries import Entry
from dndbots.memory.selection import Salience, choose_candidates, find_candidates, names_in
from dndbots.memory.selection.candidates import Candidate, join_candidate
from dndbots.memory.selection.cover import CoverWish, drop_repeats
from dndbots.memory.selection.weights import is_to_the_table
from dndbots.memory.tellings.prose import Sentence
from dndbots.memory.tellings.quotations import quoted_in, said_aloud
from dndbots.text.sentences import is_hanging

# Changes count more than descriptions, and the retelling of an earlier session is not this session.
_WISH: Final = CoverWish(change=3.0, retold=0.2)
_HANGS, _ASIDE = 0.5, 0.1
# What a narrator says for somebody else: without a name before it, nobody knows who speaks.
_OPENING_QUOTE: Final = re.compile(r"[\"\u201c]")
# A table with a narrator: talk is quoted, narration is told.
_LEAST_NARRATED: Final = 0.1


def retell_transcript(entries: Sequence[Entry], tokens: int, *, without: Collection[str]) -> list[Sentence]:
    """Return the sentences that say most in at most `tokens` tokens, in order; all of them if they fit.

    Events in `without` are told already.
    """
    words = [replace(entry, outcomes=()) for entry in entries]
    if any(entry.deeds for entry in entries):
        # A game is told by what the rules decided; of its talk, only words said aloud are worth telling.
        spoken = (entry for entry in words if not entry.acted or any(quoted_in(entry.text)))
        words = [entry if entry.narrated else said_aloud(entry) for entry in spoken]
    whole = find_candidates(words, shortened=False)
    pool = [candidate for candidate in whole if candidate.source not in without]
    # A game marks what matters little: the weather, the way somewhere, the first look of a place.
    little = {entry.event_id for entry in entries if entry.aside or entry.scenery}
    worth = list(_without(pool, little))
    pool = worth if worth or without else pool
    if sum(candidate.tokens for candidate in pool) <= tokens:
        return _sentences(drop_repeats(pool))
    narrated = [candidate for candidate in pool if candidate.told]
    if len(narrated) >= _LEAST_NARRATED * len(pool):
        pool = [_as_read_aloud(each) for each in narrated if not _OPENING_QUOTE.match(each.text)]
    salience = Salience.of(pool, names_in(entries))
    return _sentences(choose_candidates(pool, tokens, salience=salience, wish=_WISH))


def _without(pool: Iterable[Candidate], little: Collection[str]) -> Iterator[Candidate]:
    """Yield what is not of the events in `little`, and no narration that hangs on one of them."""
    is_cut = False
    for candidate in pool:
        hangs = is_cut and candidate.told and is_hanging(candidate.text)
        if candidate.told:
            is_cut = hangs or candidate.source in little
        if not hangs and candidate.source not in little:
            yield candidate


def _as_read_aloud(candidate: Candidate) -> Candidate:
    """Return narration with less weight if it hangs on the sentence before it, or talks to the table."""
    hangs, aside = is_hanging(candidate.text), is_to_the_table(candidate.text)
    return candidate._replace(weight=candidate.weight * (_HANGS if hangs else 1) * (_ASIDE if aside else 1))


def _sentences(chosen: Iterable[Candidate]) -> list[Sentence]:
    """Return one sentence or more for each entry; those with a speaker stand on a line of their own."""
    told = []
    for (at, who), together in groupby(chosen, key=lambda candidate: (candidate.entry, candidate.who)):
        group = list(together)
        text, last = _ended(group[0].line), group[0]
        for candidate in group[1:]:
            text, last = _ended(join_candidate(text, last, candidate)), candidate
        sources = (group[0].source,) if group[0].source else ()
        told.append(Sentence(text, sources, at, apart=bool(who)))
    return told


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", '"', "\u2026")) else f"{text}."
