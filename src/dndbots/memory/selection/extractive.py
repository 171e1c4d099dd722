"""The summarizer that needs no model: it quotes the sentences that say most, under an exact budget.

Deterministic. Every line comes from an event and names it, and nothing but the given entries is read.
"""

from dndbots.memory.entries import Line, SummaryTask
from dndbots.memory.selection.candidates import Candidate, find_candidates, lines_of
from dndbots.memory.selection.cover import choose_candidates, drop_repeats
from dndbots.memory.selection.salience import Salience
from dndbots.memory.selection.scoped_memory import write_scoped_memory
from dndbots.text.names import names_in
from dndbots.tokens import DEFAULT_ENCODING

# No text has more characters to a token than this: a longer text cannot fit and is not counted.
_MOST_CHARACTERS = 8


class Extractive:
    """A summarizer that works offline and answers at once.

    It shortens sentences when they do not all fit. `shortened=False` keeps fewer sentences, but whole, which
    people prefer to read. Memories of a place, a person or the world are a few whole sentences.
    """

    waits = False

    def __init__(self, *, shortened: bool = True, encoding: str = DEFAULT_ENCODING) -> None:
        self._shortened, self._encoding = shortened, encoding

    def summarize(self, task: SummaryTask) -> list[Line]:
        """Return the chosen lines in the order of play: at most `task.tokens` tokens, newlines included."""
        if task.kind != "buffer":
            return write_scoped_memory(task, self._encoding)
        whole = self._whole(task)
        if whole and sum(candidate.tokens for candidate in whole) <= task.tokens:
            return lines_of(drop_repeats(whole))
        pool = find_candidates(task.entries, encoding=self._encoding) if self._shortened else whole
        salience = Salience.of(pool, names_in(task.entries))
        return lines_of(choose_candidates(pool, task.tokens, salience=salience, encoding=self._encoding))

    def _whole(self, task: SummaryTask) -> list[Candidate]:
        """Return the sentences unshortened, or none where they cannot all fit and must be shortened."""
        characters = sum(len(entry.text) for entry in task.entries)
        too_many = characters > task.tokens * _MOST_CHARACTERS
        if self._shortened and too_many:
            return []
        return find_candidates(task.entries, shortened=False, encoding=self._encoding)
