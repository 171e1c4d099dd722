"""A summary without a model: the sentences that say most, shortened, under an exact budget.

Extractive and deterministic: every line was said, and has the event that it came from. It never sees more
than the entries it is given.
"""

from dndbots.memory.entries import Line, SummaryTask
from dndbots.memory.extract.candidates import Candidate, candidates
from dndbots.memory.extract.cover import Wish, best, choose, unrepeated
from dndbots.memory.extract.lines import lines_of
from dndbots.memory.extract.names import names_by_salience, names_in
from dndbots.memory.extract.salience import Salience
from dndbots.memory.extract.words import content
from dndbots.tokens import DEFAULT_ENCODING

__all__ = [
    "Candidate",
    "Extractive",
    "Salience",
    "Wish",
    "best",
    "candidates",
    "choose",
    "lines_of",
    "names_by_salience",
    "names_in",
]

# A memory of one person or place is a few sentences: what became of it, not how it looked.
_SCOPED_CHANGE = 4.0
_SCOPED_SENTENCES = 5
# What has more characters to a token than any text does not fit, and need not be counted.
_MOST_CHARACTERS = 8


class Extractive:
    """The summarizer that is always there. It waits for nothing.

    Sentences are shortened where not all of them fit. For people to read, `shortened=False` keeps them
    whole, and fewer of them; a memory of a place or a person is a few whole sentences anyway.
    """

    waits = False

    def __init__(self, *, shortened: bool = True, encoding: str = DEFAULT_ENCODING) -> None:
        self._shortened, self._encoding = shortened, encoding

    def summarize(self, task: SummaryTask) -> list[Line]:
        """At most `task.tokens` tokens, newlines included, in the order of play."""
        whole, scoped = self._whole(task), task.kind != "buffer"
        if whole and not scoped and sum(candidate.tokens for candidate in whole) <= task.tokens:
            return lines_of(unrepeated(whole))
        found = whole if scoped or not self._shortened else candidates(task.entries, encoding=self._encoding)
        salience = Salience.of(found, names_in(task.entries))
        wish = _wish(task, salience.names)
        chosen = choose(found, task.tokens, salience=salience, wish=wish, encoding=self._encoding)
        return lines_of(chosen)

    def _whole(self, task: SummaryTask) -> list[Candidate]:
        """The sentences as they were said; none, if they are to be shortened in any case."""
        characters = sum(len(entry.text) for entry in task.entries)
        too_many = characters > task.tokens * _MOST_CHARACTERS
        if self._shortened and too_many and task.kind == "buffer":
            return []
        return candidates(task.entries, shortened=False, encoding=self._encoding)


def _wish(task: SummaryTask, names: frozenset[str]) -> Wish:
    if task.kind == "buffer":
        return Wish()
    about = frozenset(content(task.name) or content(task.about.replace("_", " ")))
    # Of "Gull Rock" only the one word is a name: rocks are everywhere.
    return Wish(
        about=about & names or about, change=_SCOPED_CHANGE, outcomes=0.5, retold=1.0, most=_SCOPED_SENTENCES
    )
