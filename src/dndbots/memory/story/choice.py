"""The choice of sentences for one part of a story, as lines with their cost, and the best left out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from dndbots.memory.selection.candidates import Candidate, lines_of
from dndbots.memory.selection.cover import CoveredText, CoverWish, Greedy
from dndbots.memory.selection.salience import Salience
from dndbots.memory.story.lines import StoryLine
from dndbots.tokens import count_many

LEFT: Final = 50
_REFILLS: Final = 3


class ChosenPart(NamedTuple):
    """A part of a story. `tokens` counts a newline after each line; `left` holds the best left out."""

    sentences: tuple[Candidate, ...] = ()
    lines: tuple[StoryLine, ...] = ()
    tokens: int = 0
    left: tuple[StoryLine, ...] = ()


class ToldBefore:
    """Sentences of other parts of the text, which must not be repeated. Made once and shared."""

    def __init__(self, *parts: ChosenPart) -> None:
        self.sentences = [sentence for part in parts for sentence in part.sentences]
        self.covered = CoveredText()
        for sentence in self.sentences:
            self.covered.add(sentence)


NOTHING_BEFORE: Final = ToldBefore()


def choose_part(
    pool: Sequence[Candidate],
    tokens: int,
    *,
    salience: Salience,
    wish: CoverWish,
    encoding: str,
    before: ToldBefore = NOTHING_BEFORE,
    beside: Iterable[Candidate] = (),
) -> ChosenPart:
    """Choose the sentences that add most in at most `tokens` tokens; return them in the order of play.

    Sentences `before` are not repeated. The words of sentences `beside`, which stand in the text in full,
    count as covered, but the sentences themselves may be chosen, as they will soon move out of the text.
    """
    if tokens <= 0 or not pool:
        return ChosenPart(left=tuple(map(_line_left_out, pool[:LEFT])))
    greedy = Greedy(pool, salience, wish, before=before.covered)
    for candidate in (*(before.sentences if wish.fragments else ()), *beside):
        greedy.cover(candidate)
    greedy.take(int(wish.outcomes * tokens), outcomes=True)
    retold = int(wish.retold * tokens)
    greedy.take(tokens - greedy.spent, retold=retold)
    # Sentences of one entry share a line and cost less than counted: spend what that saves.
    used = _cost(greedy.chosen, encoding)
    for _ in range(_REFILLS):
        if not greedy.take(tokens - used, retold=None if len(pool) < LEFT else retold):
            break
        used = _cost(greedy.chosen, encoding)
    while greedy.chosen and used > tokens:
        greedy.chosen.pop()
        used = _cost(greedy.chosen, encoding)
    kept = _in_order(greedy.chosen)
    left = tuple(map(_line_left_out, greedy.left(LEFT)))
    return ChosenPart(tuple(kept), tuple(_told_lines(kept)), used, left)


def _in_order(sentences: Iterable[Candidate]) -> list[Candidate]:
    return sorted(sentences, key=lambda sentence: sentence.order)


def _cost(sentences: Iterable[Candidate], encoding: str) -> int:
    return sum(count_many([line.text + "\n" for line in lines_of(_in_order(sentences))], encoding))


def _told_lines(kept: Iterable[Candidate]) -> Iterator[StoryLine]:
    for _, together in groupby(kept, key=lambda c: (c.entry, c.who, c.outcome)):
        group = list(together)
        (line,) = lines_of(group)
        yield StoryLine(line.text, line.sources, "story", _reason(group[0]))


def _line_left_out(sentence: Candidate) -> StoryLine:
    """Return the line of a sentence that did not fit, for the X-ray."""
    sources = (sentence.source,) if sentence.source else ()
    return StoryLine(sentence.line, sources, "story", f"over budget: {_reason(sentence)}")


def _reason(sentence: Candidate) -> str:
    if sentence.outcome:
        return "decided by the rules"
    if sentence.retold:
        return "from the DM's recap"
    if sentence.change:
        return "something changed"
    return "narration on a frequent topic" if sentence.told else "talk on a frequent topic"
