"""The summarizer that needs no model: it quotes the sentences that say most, under an exact budget.

Deterministic. Every line comes from an event and names it, and nothing but the given entries is read.
"""

from dndbots.memory.entries import Line, SummaryTask
from dndbots.memory.selection.candidates import Candidate, find_candidates, lines_of
from dndbots.memory.selection.cover import CoverWish, choose_candidates, drop_repeats
from dndbots.memory.selection.salience import Salience
from dndbots.text.names import names_in
from dndbots.text.words import content_stems
from dndbots.tokens import DEFAULT_ENCODING

# A memory of one person or place is a few sentences, and changes count more than descriptions.
_SCOPED_CHANGE = 4.0
_SCOPED_SENTENCES = 5
# No text has more characters to a token than this: a longer text cannot fit and is not counted.
_MOST_CHARACTERS = 8


class Extractive:
    """A summarizer that works offline and answers at once.

    It shortens sentences when they do not all fit. `shortened=False` keeps fewer sentences, but whole, which
    people prefer to read. Memories of a place or a person always keep a few whole sentences.
    """

    waits = False

    def __init__(self, *, shortened: bool = True, encoding: str = DEFAULT_ENCODING) -> None:
        self._shortened, self._encoding = shortened, encoding

    def summarize(self, task: SummaryTask) -> list[Line]:
        """Return the chosen lines in the order of play: at most `task.tokens` tokens, newlines included."""
        whole, scoped = self._whole(task), task.kind != "buffer"
        if whole and not scoped and sum(candidate.tokens for candidate in whole) <= task.tokens:
            return lines_of(drop_repeats(whole))
        pool = (
            whole if scoped or not self._shortened else find_candidates(task.entries, encoding=self._encoding)
        )
        salience = Salience.of(pool, names_in(task.entries))
        wish = _wish_of(task, salience.names)
        chosen = choose_candidates(pool, task.tokens, salience=salience, wish=wish, encoding=self._encoding)
        return lines_of(chosen)

    def _whole(self, task: SummaryTask) -> list[Candidate]:
        """Return the sentences unshortened, or none where they cannot all fit and must be shortened."""
        characters = sum(len(entry.text) for entry in task.entries)
        too_many = characters > task.tokens * _MOST_CHARACTERS
        if self._shortened and too_many and task.kind == "buffer":
            return []
        return find_candidates(task.entries, shortened=False, encoding=self._encoding)


def _wish_of(task: SummaryTask, names: frozenset[str]) -> CoverWish:
    if task.kind == "buffer":
        return CoverWish()
    about = frozenset(content_stems(task.name) or content_stems(task.about.replace("_", " ")))
    # In "Gull Rock" only "Gull" identifies the place: rocks are everywhere.
    return CoverWish(
        about=about & names or about, change=_SCOPED_CHANGE, outcomes=0.5, retold=1.0, most=_SCOPED_SENTENCES
    )
