"""The search behind recall: lines and facts that answer a question, with their sources, or "no record".

Deterministic, and without a model. It reads one viewer's view and respects corrected and forgotten events.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots._garbage import NO_COLLECTION
from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.events import GameEvent
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.recall.aspects import is_aspect
from dndbots.memory.recall.chance import Spread, expect_places
from dndbots.memory.recall.citations import (
    CitedLine,
    Confidence,
    RecallItem,
    confidence_of,
    fit_citations,
    write_answer,
)
from dndbots.memory.recall.fact_answers import find_facts
from dndbots.memory.recall.line_scores import REACH, Clue, LineScores, PlacedLine, ScoredLine, idf
from dndbots.memory.recall.memory_answers import find_memories
from dndbots.memory.recall.question import (
    QuestionWord,
    RecallQuestion,
    find_words,
    read_question,
    stands_together,
)
from dndbots.memory.retold_events import retell_events
from dndbots.storage.ports import LogLine
from dndbots.storage.views.view import View
from dndbots.storage.views.word_index import WordHits, WordIndex
from dndbots.text.labels import write_label
from dndbots.text.terms import terms_of
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

LEAST_BUDGET: Final = 200
NO_RECORD: Final = "No record."
# The least evidence for an answer, and for a strong one; found by measurement. See `_evidence`.
ENOUGH: Final = 0.295
STRONG: Final = 0.435
_LENGTH: Final = 0.25
_FEW_LINES: Final = 1_000
_UNSAID: Final = 1.5
# So many places by chance are as good as one; fewer are rounded up from a single word in a single line.
_ONE_PLACE: Final = 0.999
_ENOUGH_OF_FACT: Final = 0.5
# A longer question is about more than one thing.
_BRIEF: Final = 7
_OTHER_NAMES: Final = 0.5
# An entity in more than this share of all lines says nothing about a single line.
_EVERYWHERE: Final = 0.5
# A word in so many lines, or in this share of all, is rare: a line with it is hardly there by chance.
_FEW_TIMES: Final = 4
_RARE: Final = 0.005
# One in more lines, and in more than this share, is common: chance lines have it.
_MANY_TIMES: Final = 8
_COMMON: Final = 0.015
# Lines below this share of the best score are about something else.
_WORTH: Final = 0.15
# The number of best lines that tell whether there is an answer, whatever the budget is.
_JUDGED: Final = 84
# Lines are seldom shorter, in tokens; this limits how many can fit into a budget.
_SHORTEST_LINE: Final = 12
# The number of best lines whose statements are looked up in canon.
_MOST_STATING: Final = 12


class Recall(BaseModel):
    """The answer to a question for one viewer: facts and memories, then lines; or no record.

    Lines that follow one another are shown as a run, in the order of play, and the run with the best line
    comes first. `confidence` is that of the best item: `weak` if chance may have found it, and then the text
    begins with a line that says so.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    query: str
    items: tuple[RecallItem, ...] = ()
    no_record: bool
    confidence: Confidence | None = None
    text: str
    tokens: int

    def __str__(self) -> str:
        return self.text


def answer_query(view: View, query: str, *, budget: int, encoding: str = DEFAULT_ENCODING) -> Recall:
    """Return the lines and facts of the viewer that answer a question, in at most `budget` tokens."""
    if not isinstance(query, str):
        raise InvalidSetting("query", query, reason="is no text; ask a question as a string")
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise BudgetTooSmall(budget=budget, least=LEAST_BUDGET)
    count_tokens("", encoding)
    with NO_COLLECTION:
        items = _find_items(view, read_question(view, query), budget, encoding)
    text = write_answer(items) or NO_RECORD
    return Recall(
        viewer=view.viewer,
        query=query,
        items=tuple(items),
        no_record=not items,
        confidence=confidence_of(items),
        text=text,
        tokens=count_tokens(text, encoding),
    )


def _find_items(view: View, question: RecallQuestion, budget: int, encoding: str) -> list[RecallItem]:
    """Return the facts, memories and lines that answer a question, as many as fit into the budget."""
    if not (question.words or question.named):
        return []
    gates = gates_of(view)
    best = _best_lines(view, question, gates, budget // _SHORTEST_LINE)
    events = view.events_by_seq([line.seq for line in best.lines])
    stating = [events[line.seq] for line in best.lines[:_MOST_STATING]]
    known = find_facts(view, question, gates, stating, enough=_ENOUGH_OF_FACT)
    known += find_memories(view, question, gates, stating, enough=_ENOUGH_OF_FACT)
    lines = _cited_lines(view, question, gates, best, events)
    return fit_citations(known, lines, budget, encoding)


class _BestLines(NamedTuple):
    """The lines that answer, best first, where each stands, and the weight of the whole question.

    `is_expected` tells that chance finds as much.
    """

    lines: list[ScoredLine]
    places: Mapping[int, PlacedLine]
    weight: float
    is_expected: bool


def _best_lines(view: View, question: RecallQuestion, gates: Gates, most: int) -> _BestLines:
    """Return the lines that answer, best first; none if no line stands out from chance."""
    index = view.index()
    if not index.heard.lines:
        return _BestLines([], {}, 0.0, is_expected=True)
    decided = view.seqs_of([*gates.corrected, *gates.forgotten])
    left_out = {seq for name, seq in decided.items() if name in gates.forgotten}
    # Corrected memories are no lines of play.
    lines = {event_id for event_id, event in view.by_id(list(gates.corrected)).items() if not event.is_note}
    instead = {
        decided[name]: terms_of(text)
        for name, text in sorted(gates.corrected.items())
        if name in decided and name in lines
    }
    search = _Search(index, question, instead)
    scores = LineScores(index, left_out)
    seeds = scores.find_seeds(search.clues(), search.looked_up())
    near = scores.lines_near(seeds)
    best = scores.score_lines(search.clues_at(near), near, question.speakers, max(most, _JUDGED))
    weight = search.length()
    strongest = _evidence(max((line.evidence for line in best), default=0.0), weight)
    is_expected = search.is_expected(best)
    is_weak = strongest < ENOUGH or (is_expected and (strongest < STRONG or search.lacks_word()))
    if (is_weak and not search.has_rare_name(best)) or search.is_chance(best) or search.lacks_name(best):
        return _BestLines([], {}, weight, is_expected)
    is_sure = strongest >= STRONG and not is_expected
    if _lacks_phrase(view, search.phrase(is_sure=is_sure), gates, best):
        return _BestLines([], {}, weight, is_expected)
    worthy = [line for line in best[:most] if line.score >= _WORTH * best[0].score]
    return _BestLines(worthy, near, weight, is_expected)


def _lacks_phrase(
    view: View, phrase: Sequence[QuestionWord], gates: Gates, best: Sequence[ScoredLine]
) -> bool:
    """Return whether no line has together what a brief question asks for.

    An Old Dunstan was never heard of if one line has an Old Sunniva and a Dunstan Saltridge. What an event
    states beside its text is not looked through.
    """
    events = view.events_by_seq([line.seq for line in best]) if phrase else {}
    texts = (gates.corrected.get(event.event_id, event.content) for event in events.values())
    return (
        bool(events)
        and not any(event.metadata.get("facts") or event.metadata.get("loot") for event in events.values())
        and not any(stands_together(text, phrase) for text in texts)
    )


def _evidence(score: float, weight: float) -> float:
    """Return how far a score stands out from chance.

    A score is a share of the question. Chance lines reach a smaller share of a longer question, and so do
    answers; the fourth root of the question's weight makes up for it, whatever the log.
    """
    return score * math.pow(weight, _LENGTH)


class _Search:
    """The clues of a question in the index: its words, then the entities that it names."""

    def __init__(
        self, index: WordIndex, question: RecallQuestion, instead: dict[int, dict[str, int]]
    ) -> None:
        self._index, self._question, self._instead = index, question, instead
        forms = [word.forms for word in question.words] + [one.other_words for one in question.named]
        self._forms = forms
        self._found = index.find(forms)
        self._about = [index.mentions(one.uids) for one in question.named]
        every = index.heard.lines
        words = len(question.words)
        self._lines = [found.lines for found in self._found[:words]]
        for said, about in zip(self._found[words:], self._about, strict=True):
            lines = max(said.lines, about.lines, len(said.times.keys() | about.times.keys()))
            self._lines.append(min(lines, every))
        self.weights = self._weigh(every)

    def _weigh(self, every: int) -> list[float]:
        """Weigh the words, then the entities, by how rare they are in a log of `every` lines.

        Words that were never said speak against an answer, but only as far as the others speak for one: a
        long question has many words of its own. A known name that was never said counts as its entity.
        """
        words = self._question.words
        weights = [idf(lines, every) for lines in self._lines]
        weights[len(words) :] = [_OTHER_NAMES * weight for weight in weights[len(words) :]]
        unsaid = [n for n in range(len(words)) if not self._corrected(self._found[n].times, self._forms[n])]
        for n in unsaid:
            weights[n] *= not words[n].is_known
        against = sum(weights[n] for n in unsaid)
        most = _UNSAID * (sum(weights) - against)
        if against > most:
            for n in unsaid:
                weights[n] *= most / against
        return weights

    def length(self) -> float:
        """Return the weight of the question, as it would be in a log that is not too short to tell."""
        return sum(self._weigh(max(self._index.heard.lines, _FEW_LINES)))

    def is_chance(self, best: Sequence[ScoredLine]) -> bool:
        """Return whether lines have only what stands in many lines, of a question that asks for more.

        That is common names, or a single common word beside words that were never said.
        """
        words = self._question.words
        asked = {n for n, word in enumerate(words) if not word.is_name}
        has_names_only = bool(asked) and all(asked.isdisjoint(line.near) for line in best)
        said = [n for n in range(len(words)) if self._lines[n]]
        has_one_word = len(said) == 1 and len(said) < len(words) and not self._question.named
        if has_names_only:
            return not self.has_rare_name(best)
        return has_one_word and self._lines[said[0]] > max(_MANY_TIMES, _COMMON * self._index.heard.lines)

    def is_expected(self, best: Sequence[ScoredLine]) -> bool:
        """Return whether chance finds a place with as much of the question as the best lines have.

        An aspect may be told in any words, so those that ask for it say nothing about chance; and if
        somebody who was heard of is all that is left, neither does chance.
        """
        if self._asks_aspect():
            return False
        words, every = self._question.words, max(self._index.heard.lines, _FEW_LINES)
        # A known name counts as its entity.
        asked = [n for n, word in enumerate(words) if not word.is_known and not self._is_aspect(word)]
        asked += range(len(words), len(self._lines))
        spread = {n: Spread(self._lines[n], idf(self._lines[n], every)) for n in asked}
        most = max((sum(spread[n].weight for n in line.near if n in spread) for line in best), default=0.0)
        if len(asked) == 1:
            return not most
        return expect_places(list(spread.values()), most, lines=every, window=2 * REACH + 1) >= _ONE_PLACE

    def lacks_word(self) -> bool:
        """Return whether a word of a question was never said, other than one that asks for an aspect."""
        words = self._question.words
        return any(
            not (self._lines[n] or word.is_known or self._is_aspect(word)) for n, word in enumerate(words)
        )

    def lacks_name(self, best: Sequence[ScoredLine]) -> bool:
        """Return whether a question asks for an aspect of somebody, and no line has the whole name.

        Another Brother Konrad may be known by "brother", and another one by "Konrad".
        """
        words = self._question.words
        names = {n for n, word in enumerate(words) if word.is_name}
        named = set(range(len(words), len(self._lines)))
        return self._asks_aspect() and not any(
            names <= set(line.near) or not named.isdisjoint(line.near) for line in best
        )

    def phrase(self, *, is_sure: bool) -> list[QuestionWord]:
        """Return the words for what a brief question asks for: words of one name that nobody known has.

        If the lines are sure to answer, only the name of somebody: things are called by many words.
        """
        words = self._question.words
        if self._question.named or any(word.is_known for word in words) or len(words) > _BRIEF:
            return []
        asked = {n for n, word in enumerate(words) if word.is_name or not self._is_aspect(word)}
        asks_aspect = len(asked) < len(words) and all(words[n].is_name for n in asked)
        asks_where = self._question.asks_where
        is_one = len(asked) > 1 and any(asked <= run for run in self._question.runs)
        return (
            [words[n] for n in sorted(asked)]
            if is_one and (asks_aspect or (asks_where and not is_sure))
            else []
        )

    def has_rare_name(self, best: Sequence[ScoredLine]) -> bool:
        """Return whether a question asks for an aspect of somebody whom few lines name, and lines do.

        "What is Brenna's trade?" is answered by the line in which she is met, whatever its words are.
        """
        names = [n for n, word in enumerate(self._question.words) if word.is_name]
        return self._asks_aspect() and self._has_rare(best, names)

    def _asks_aspect(self) -> bool:
        """Return whether a question only asks for an aspect of somebody who was heard of."""
        words = self._question.words
        names = [n for n, word in enumerate(words) if word.is_name]
        is_brief = all(word.is_name or self._is_aspect(word) for word in words)
        return bool(names) and is_brief and all(self._lines[n] or words[n].is_known for n in names)

    def _is_aspect(self, word: QuestionWord) -> bool:
        return is_aspect(word.forms, asks_where=self._question.asks_where)

    def _has_rare(self, best: Sequence[ScoredLine], words: Iterable[int]) -> bool:
        most = max(_FEW_TIMES, _RARE * self._index.heard.lines)
        rare = {n for n in words if 0 < self._lines[n] <= most}
        return any(not rare.isdisjoint(line.near) for line in best)

    def clues(self) -> list[Clue]:
        """Return the clues with the occurrences that were read so far."""
        about = [one.times.keys() for one in self._about]
        return self._clues([one.times for one in self._found], about)

    def clues_at(self, placed: Mapping[int, PlacedLine]) -> list[Clue]:
        """Return the clues with their occurrences in some lines."""
        lines = {seq: LogLine(line.audience, line.words) for seq, line in placed.items()}
        about = [
            () if self._is_everywhere(found) else self._index.mentioned_at(one.uids, found, lines)
            for one, found in zip(self._question.named, self._about, strict=True)
        ]
        clues = self._clues(self._index.times_at(self._found, lines), about)
        return [Clue({s: n for s, n in times.items() if s in lines}, weight) for times, weight in clues]

    def looked_up(self) -> int:
        """Return the number of terms that must be looked up line by line, because there are too many hits."""
        return sum(len(found.terms) for found in self._found if not found.whole)

    def _is_everywhere(self, about: WordHits) -> bool:
        return not about.whole and about.lines > _EVERYWHERE * self._index.heard.lines

    def _clues(self, times: list[dict[int, int]], about: Sequence[Collection[int]]) -> list[Clue]:
        said = [self._corrected(one, forms) for one, forms in zip(times, self._forms, strict=True)]
        words = len(self._question.words)
        named = [{**dict.fromkeys(places, 1), **one} for places, one in zip(about, said[words:], strict=True)]
        return list(map(Clue, [*said[:words], *named], self.weights))

    def _corrected(self, times: dict[int, int], forms: Sequence[str]) -> dict[int, int]:
        """Return the occurrences of a word, in corrected lines by their corrected text."""
        if not self._instead:
            return times
        times = {seq: number for seq, number in times.items() if seq not in self._instead}
        for seq, terms in self._instead.items():
            if number := sum(terms.get(form, 0) for form in forms):
                times[seq] = number
        return times


def _cited_lines(
    view: View,
    question: RecallQuestion,
    gates: Gates,
    best: _BestLines,
    events: Mapping[int, GameEvent],
) -> list[CitedLine]:
    """Return lines retold in the viewer's names, with the reason why each was found."""
    entries = {entry.event_id: entry for entry in retell_events(view, events.values(), gates)}
    lines = []
    for line in best.lines:
        entry = entries.get(events[line.seq].event_id)
        if entry is not None:
            text = " ".join((entry.text, *entry.outcomes)).strip()
            says = tuple(question.words[n].said for n in find_words(text, question.words))
            is_strong = not best.is_expected and _evidence(line.evidence, best.weight) >= STRONG
            lines.append(
                CitedLine(
                    line.seq,
                    best.places[line.seq].rank,
                    entry,
                    line.score,
                    "strong" if is_strong else "weak",
                    says,
                    _reason(question, says, line),
                    _parts(line),
                    text,
                )
            )
    return lines


def _parts(line: ScoredLine) -> dict[str, float]:
    parts = {
        "own words": line.own,
        "lines around": line.window,
        "section": line.section,
        "speaker": line.score - line.evidence,
    }
    return {name: round(part, 3) for name, part in parts.items() if part}


def _reason(question: RecallQuestion, said: Sequence[str], line: ScoredLine) -> str:
    """Return which words of the question stand in a line and near it, and the parts of its score."""
    words = [question.words[n].said for n in line.near if n < len(question.words)]
    near = [word for word in words if word not in said]
    named = [question.named[n - len(question.words)] for n in line.near if n >= len(question.words)]
    parts = [f"contains {', '.join(said)}"] if said else []
    parts += [f"close to {', '.join(near)}"] if near else []
    parts += [f"about {', '.join(write_label(entity.name) for entity in named)}"] if named else []
    parts += ["its speaker was asked for"] if line.spoken else []
    return "; ".join(parts)
