"""Sentences chosen for one part of a story, as lines, with what they cost and what was left out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.cover import Greedy, Said, Wish
from dndbots.memory.extract.lines import lines_of
from dndbots.memory.extract.salience import Salience
from dndbots.memory.story.values import Told
from dndbots.tokens import count_many

LEFT: Final = 50
_REFILLS: Final = 3


class Chosen(NamedTuple):
    """A part of a story. `tokens` counts a newline after each line."""

    sentences: tuple[Candidate, ...] = ()
    told: tuple[Told, ...] = ()
    tokens: int = 0
    left: tuple[Candidate, ...] = ()


class Before:
    """Sentences of other parts of the text, which are not told again. Made once for all who ask."""

    def __init__(self, *parts: Chosen) -> None:
        self.sentences = [sentence for part in parts for sentence in part.sentences]
        self.said = Said()
        for sentence in self.sentences:
            self.said.add(sentence)


NOTHING_BEFORE: Final = Before()


def chosen(
    pool: Sequence[Candidate],
    tokens: int,
    *,
    salience: Salience,
    wish: Wish,
    encoding: str,
    before: Before = NOTHING_BEFORE,
    beside: Iterable[Candidate] = (),
) -> Chosen:
    """What says most beside what was told before, in at most so many tokens; in the order of play.

    What stands `beside` it in full may be told again when it stands there no more.
    """
    if tokens <= 0 or not pool:
        return Chosen(left=tuple(pool[:LEFT]))
    greedy = Greedy(pool, salience, wish, before=before.said)
    for candidate in (*(before.sentences if wish.fragments else ()), *beside):
        greedy.cover(candidate)
    greedy.take(int(wish.outcomes * tokens), outcomes=True)
    retold = int(wish.retold * tokens)
    greedy.take(tokens - greedy.spent, retold=retold)
    # Lines of one speaker join, so they cost less than their parts: what is left is spent, too.
    used = _cost(greedy.chosen, encoding)
    for _ in range(_REFILLS):
        if not greedy.take(tokens - used, retold=None if len(pool) < LEFT else retold):
            break
        used = _cost(greedy.chosen, encoding)
    while greedy.chosen and used > tokens:
        greedy.chosen.pop()
        used = _cost(greedy.chosen, encoding)
    kept = _in_order(greedy.chosen)
    return Chosen(tuple(kept), tuple(_told(kept)), used, tuple(greedy.left(LEFT)))


def _in_order(sentences: Iterable[Candidate]) -> list[Candidate]:
    return sorted(sentences, key=lambda sentence: sentence.order)


def _cost(sentences: Iterable[Candidate], encoding: str) -> int:
    return sum(count_many([line.text + "\n" for line in lines_of(_in_order(sentences))], encoding))


def _told(kept: Iterable[Candidate]) -> Iterator[Told]:
    for _, together in groupby(kept, key=lambda c: (c.entry, c.who, c.outcome)):
        group = list(together)
        (line,) = lines_of(group)
        yield Told(line.text, line.sources, "story", _reason(group[0]))


def left_out(sentence: Candidate) -> Told:
    """A sentence for which there was no room."""
    sources = (sentence.source,) if sentence.source else ()
    return Told(sentence.line, sources, "story", f"no room: {_reason(sentence)}")


def _reason(sentence: Candidate) -> str:
    if sentence.outcome:
        return "the rules decided it"
    if sentence.retold:
        return "the DM retold it"
    if sentence.change:
        return "something came of it"
    return "told of what came up most" if sentence.told else "said of what came up most"
