"""The recap of a session in which nothing was decided by rules: an imported transcript, a chat.

The words of the table tell it: the narration that says most, or the talk where nobody narrates.
"""

from collections.abc import Collection, Sequence
from typing import Final

from dndbots.memory.entries import Entry
from dndbots.memory.selection import Salience, choose_candidates, find_candidates, names_in
from dndbots.memory.selection.candidates import Candidate
from dndbots.memory.selection.cover import CoverWish
from dndbots.memory.tellings.prose import Sentence

# Changes count more than descriptions, and the retelling of an earlier session is not this session.
_WISH: Final = CoverWish(change=3.0, retold=0.2)
# A table with a narrator: talk is quoted, narration is told.
_LEAST_NARRATED: Final = 0.1


def retell_transcript(entries: Sequence[Entry], tokens: int, *, without: Collection[str]) -> list[Sentence]:
    """Return the sentences that say most in at most `tokens` tokens, in order.

    Events in `without` are told already.
    """
    pool = [candidate for candidate in _pool(entries) if candidate.source not in without]
    salience = Salience.of(pool, names_in(entries))
    return [
        _sentence(candidate) for candidate in choose_candidates(pool, tokens, salience=salience, wish=_WISH)
    ]


def _pool(entries: Sequence[Entry]) -> list[Candidate]:
    """Return whole sentences of the narration; of all that was said, if hardly anything was narrated."""
    pool = [candidate for candidate in find_candidates(entries, shortened=False) if not candidate.outcome]
    narrated = [candidate for candidate in pool if candidate.told]
    return narrated if len(narrated) >= _LEAST_NARRATED * len(pool) else pool


def _sentence(candidate: Candidate) -> Sentence:
    text = candidate.line if candidate.text.endswith((".", "!", "?", '"', "\u2026")) else f"{candidate.line}."
    return Sentence(text, (candidate.source,) if candidate.source else (), candidate.entry)
