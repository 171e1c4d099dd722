"""Extractive summaries: choose the sentences that say most, shorten them, and stay inside an exact budget.

Deterministic, and without a model. Every line quotes an event and names it as its source.
"""

from dndbots.memory.selection.candidates import Candidate, find_candidates, lines_of
from dndbots.memory.selection.cover import CoverWish, best_candidates, choose_candidates
from dndbots.memory.selection.extractive import Extractive
from dndbots.memory.selection.salience import Salience
from dndbots.text.names import names_by_salience, names_in

__all__ = [
    "Candidate",
    "CoverWish",
    "Extractive",
    "Salience",
    "best_candidates",
    "choose_candidates",
    "find_candidates",
    "lines_of",
    "names_by_salience",
    "names_in",
]
