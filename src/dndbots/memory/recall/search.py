"""The search behind recall: lines and facts that answer a question, with their sources, or "no record".

Deterministic, and without a model. It reads one viewer's view and respects corrected and forgotten events.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.events import GameEvent
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.recall.citations import CitedLine, RecallItem, fit_citations
from dndbots.memory.recall.fact_answers import find_facts
from dndbots.memory.recall.line_scores import Clue, LineNeighbourhood, ScoredLine, find_seeds, idf
from dndbots.memory.recall.question import QuestionWord, RecallQuestion, find_words, read_question
from dndbots.memory.retold_events import retell_events
from dndbots.storage.ports import LogLine
from dndbots.storage.views.view import View
from dndbots.storage.views.word_index import WordHits, WordIndex
from dndbots.text.labels import write_label
from dndbots.text.terms import terms_of
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

LEAST_BUDGET: Final = 200
NO_RECORD: Final = "No record."
# The least share of a question, by weight, that must stand in a line and around it; found by measurement.
# A question with a word that the viewer never heard is likely about something unknown, so it needs more.
ENOUGH: Final = 0.3
ENOUGH_OF_UNHEARD: Final = 0.52
_ENOUGH_OF_FACT: Final = 0.5
_NAMES: Final = 0.3
_OTHER_NAMES: Final = 0.5
# An entity in more than this share of all lines says nothing about a single line.
_EVERYWHERE: Final = 0.5
# Lines below this share of the best score are about something else.
_WORTH: Final = 0.3
# Lines are seldom shorter, in tokens; this limits how many can fit into a budget.
_SHORTEST_LINE: Final = 20
# The least number of best lines that are compared with the question.
_LEAST_COMPARED: Final = 64
# The number of best lines whose statements are looked up in canon.
_MOST_STATING: Final = 12


class Recall(BaseModel):
    """The answer to a question for one viewer: facts, then lines in the order of play; or no record.

    The order of play puts cause before effect, and the newest word last. `score` says which item is best.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    query: str
    items: tuple[RecallItem, ...] = ()
    no_record: bool
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
    question = read_question(view, query)
    items: list[RecallItem] = []
    if question.words or question.named:
        gates = gates_of(view)
        best = _best_lines(view, question, gates, budget // _SHORTEST_LINE)
        events = view.events_by_seq([line.seq for line in best])
        stating = [events[line.seq] for line in best[:_MOST_STATING]]
        facts = find_facts(view, question, gates, stating, enough=_ENOUGH_OF_FACT)
        lines = _cited_lines(view, question, gates, best, events)
        items = fit_citations(facts, lines, budget, encoding)
    text = "\n".join(item.text for item in items) or NO_RECORD
    return Recall(
        viewer=view.viewer,
        query=query,
        items=tuple(items),
        no_record=not items,
        text=text,
        tokens=count_tokens(text, encoding),
    )


def _best_lines(view: View, question: RecallQuestion, gates: Gates, most: int) -> list[ScoredLine]:
    """Return the lines that answer, best first; none if no line has enough of the question."""
    index = view.index()
    if not index.heard.lines:
        return []
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
    near = LineNeighbourhood(index, find_seeds(search.clues(), left_out), left_out)
    clues = search.clues_at(near.lines)
    scored = near.scored(clues, question.speakers, max(most, _LEAST_COMPARED))
    shares = _Shares(question.words, search)
    answered = [(shares.of(line), line) for line in scored]
    if max((share for share, _ in answered), default=0.0) < shares.enough:
        return []
    best = [line._replace(score=round(line.score * (1 + share) / 2, 6)) for share, line in answered]
    best.sort(key=lambda line: (-line.score, -line.seq))
    return [line for line in best if line.score >= _WORTH * best[0].score][:most]


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
        self.weights = [idf(one.lines, every) for one in self._found[:words]]
        for said, about in zip(self._found[words:], self._about, strict=True):
            lines = max(said.lines, about.lines, len(said.times.keys() | about.times.keys()))
            self.weights.append(_OTHER_NAMES * idf(min(lines, every), every))

    def clues(self) -> list[Clue]:
        """Return the clues with the occurrences that were read so far."""
        about = [one.times.keys() for one in self._about]
        return self._clues([one.times for one in self._found], about)

    def clues_at(self, lines: Mapping[int, LogLine]) -> list[Clue]:
        """Return the clues with their occurrences in some lines."""
        about = [
            () if self._is_everywhere(found) else self._index.mentioned_at(one.uids, found, lines)
            for one, found in zip(self._question.named, self._about, strict=True)
        ]
        clues = self._clues(self._index.times_at(self._found, lines), about)
        return [Clue({s: n for s, n in times.items() if s in lines}, weight) for times, weight in clues]

    def about_any(self) -> bool:
        """Return whether the question names an entity that is part of nearly every line."""
        return any(map(self._is_everywhere, self._about))

    def _is_everywhere(self, about: WordHits) -> bool:
        return not about.whole and about.lines > _EVERYWHERE * self._index.heard.lines

    def stands(self, n: int) -> bool:
        """Return whether word number `n` occurs anywhere."""
        return bool(self._found[n].times)

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


class _Shares:
    """The share of a question, by weight, that a line and its neighbours have.

    Names alone are no answer, unless the question has nothing else; a line without the names may be about
    somebody else and counts less. An unknown name that occurs nowhere counts like any other word.
    """

    def __init__(self, words: Sequence[QuestionWord], search: _Search) -> None:
        numbers = range(len(words))
        self._weights = search.weights[: len(words)]
        self._names = [n for n in numbers if words[n].is_name and (words[n].is_known or search.stands(n))]
        self._words = [n for n in numbers if n not in self._names]
        if not self._words:
            self._words, self._names = self._names, []
        self._about_any = search.about_any()
        is_heard = all(search.stands(n) for n in self._words)
        self.enough = ENOUGH if is_heard else ENOUGH_OF_UNHEARD

    def of(self, line: ScoredLine) -> float:
        """Return the share of the question in a line and its neighbours, from 0 to 1."""
        about = line.says[len(self._weights) :]
        if not self._words:
            return 1.0 if self._about_any else max(about, default=0.0)
        said = self._share(self._words, line.says)
        if not self._names or self._about_any:
            return said
        near = [max(share, *about) if about else share for share in line.says]
        return said * (1 - _NAMES + _NAMES * self._share(self._names, near))

    def _share(self, numbers: Sequence[int], says: Sequence[float]) -> float:
        asked = sum(self._weights[n] for n in numbers)
        return sum(self._weights[n] * says[n] for n in numbers) / asked if asked else 0.0


def _cited_lines(
    view: View,
    question: RecallQuestion,
    gates: Gates,
    kept: list[ScoredLine],
    events: Mapping[int, GameEvent],
) -> list[CitedLine]:
    """Return lines retold in the viewer's names, with the reason why each was found."""
    entries = {entry.event_id: entry for entry in retell_events(view, events.values(), gates)}
    lines = []
    for line in kept:
        entry = entries.get(events[line.seq].event_id)
        if entry is not None:
            text = " ".join((entry.text, *entry.outcomes)).strip()
            says = tuple(question.words[n].said for n in find_words(text, question.words))
            lines.append(CitedLine(line.seq, entry, line.score, says, _reason(question, says, line), text))
    return lines


def _reason(question: RecallQuestion, said: Sequence[str], line: ScoredLine) -> str:
    near = [word.said for n, word in enumerate(question.words) if line.says[n] and word.said not in said]
    parts = [f"contains {', '.join(said)}"] if said else []
    parts += [f"close to {', '.join(near)}"] if near else []
    return "; ".join(parts) or f"about {', '.join(write_label(entity.name) for entity in question.named)}"
