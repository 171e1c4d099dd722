"""Recall: the lines and facts that answer a question, each with the events it comes from; or no record.

Deterministic, and without a model. It reads one viewer's view, and honours what people decided.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.memory.asking import Question, Word, question_of, words_in
from dndbots.memory.cited import CitedLine, RecallItem, fitted
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.known_facts import facts_asked_for
from dndbots.memory.retelling import one_line, retold
from dndbots.memory.scoring import MOST_LINES, Clue, Neighbourhood, Scored, compared, idf
from dndbots.storage.finding import Found, Index
from dndbots.storage.reader import View
from dndbots.storage.terms import terms_of
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

LEAST_BUDGET: Final = 200
NO_RECORD: Final = "No record."
# How much of what a question asks for, by weight, must stand in a line and around it: chosen by measurement.
ENOUGH: Final = 0.56
_ENOUGH_OF_FACT: Final = 0.5
_NAMES: Final = 0.3
_OTHER_NAMES: Final = 0.5
_MOST_MENTIONS: Final = 500
# Lines that are this much worse than the best one are about something else.
_WORTH: Final = 0.5
# A line has seldom fewer tokens than this, so that no more are worth a look.
_SHORTEST_LINE: Final = 20
# What the best lines have in common helps to tell them from the others.
_BEST, _IN_LINES, _COMMONEST, _MOST_FEEDBACK = 8, 2, 0.04, 8
_FEEDBACK_LINES: Final = 300


class Recall(BaseModel):
    """What a viewer can know of a question: facts, then lines in order of play; or no record.

    In order of play, because cause comes before effect and the newest word is the last; `score` says
    which is best, while the order of play could not be told from anything else here.
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


def recall_of(view: View, query: str, *, budget: int, encoding: str = DEFAULT_ENCODING) -> Recall:
    if not isinstance(query, str):
        raise InvalidSetting("query", query, reason="is no text")
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise BudgetTooSmall(budget=budget, least=LEAST_BUDGET)
    count_tokens("", encoding)
    question = question_of(view, query)
    items: list[RecallItem] = []
    if question.words or question.named:
        gates = gates_of(view)
        found = _lines(view, question, gates, budget // _SHORTEST_LINE)
        facts = facts_asked_for(view, question, gates, enough=_ENOUGH_OF_FACT)
        items = fitted(facts, found, budget, encoding)
    text = "\n".join(item.text for item in items) or NO_RECORD
    return Recall(
        viewer=view.viewer,
        query=query,
        items=tuple(items),
        no_record=not items,
        text=text,
        tokens=count_tokens(text, encoding),
    )


def _lines(view: View, question: Question, gates: Gates, most: int) -> list[CitedLine]:
    """The lines that answer, best first; none, if none has enough of what is asked."""
    index = view.index()
    if not index.heard.lines:
        return []
    decided = view.seqs_of([*gates.corrected, *gates.forgotten])
    left_out = {seq for name, seq in decided.items() if name in gates.forgotten}
    instead = {
        decided[name]: terms_of(text) for name, text in sorted(gates.corrected.items()) if name in decided
    }
    found = index.find([word.forms for word in question.words], limit=MOST_LINES)
    clues = [
        Clue(_corrected(one, word.forms, instead), idf(one.lines, index.heard.lines))
        for one, word in zip(found, question.words, strict=True)
    ]
    names = _name_clues(index, question, instead)
    near = Neighbourhood(index, [*clues, *names], left_out)
    scored = near.scored([*clues, *names], question.speakers)
    shares = _Shares(question.words, clues)
    answered = [(shares.of(one), one) for one in scored]
    if max((share for share, _ in answered), default=0.0) < ENOUGH:
        return []
    scored = [one._replace(score=round(one.score * (1 + share) / 2, 6)) for share, one in answered]
    scored.sort(key=lambda one: (-one.score, -one.seq))
    scored = compared(scored, _feedback(view, index, question, gates, [one.seq for one in scored[:_BEST]]))
    kept = [one for one in scored if one.score >= _WORTH * scored[0].score][:most]
    return _retold(view, question, gates, kept)


def _corrected(found: Found, forms: Sequence[str], instead: dict[int, dict[str, int]]) -> dict[int, int]:
    """Where a word stands, with corrected lines in the words that count."""
    if not instead:
        return found.times
    times = {seq: number for seq, number in found.times.items() if seq not in instead}
    for seq, terms in instead.items():
        if number := sum(terms.get(form, 0) for form in forms):
            times[seq] = number
    return times


def _name_clues(index: Index, question: Question, instead: dict[int, dict[str, int]]) -> list[Clue]:
    """Those whom a question names, under their other names and where the index of people has them."""
    clues: list[Clue] = []
    for one in question.named:
        (said,) = index.find([one.other_words], limit=MOST_LINES)
        about = index.mentions(one.uids, limit=_MOST_MENTIONS)
        times = {**about.times, **_corrected(said, one.other_words, instead)}
        lines = max(said.lines, about.lines, len(times))
        clues.append(Clue(times, _OTHER_NAMES * idf(min(lines, index.heard.lines), index.heard.lines)))
    return clues


class _Shares:
    """How much of what a question asks for is said in a line and around it, by weight.

    Names alone are no answer, unless nothing but names was asked for; without them, it may be about
    somebody else. A name that nobody has or ever said is asked for like any other word.
    """

    def __init__(self, words: Sequence[Word], clues: Sequence[Clue]) -> None:
        numbers = range(len(words))
        self._weights = [clue.weight for clue in clues]
        self._names = [n for n in numbers if words[n].is_name and (words[n].is_known or clues[n].times)]
        self._words = [n for n in numbers if n not in self._names]
        if not self._words:
            self._words, self._names = self._names, []

    def of(self, line: Scored) -> float:
        about = line.says[len(self._weights) :]
        if not self._words:
            return max(about, default=0.0)
        said = self._share(self._words, line.says)
        if not self._names:
            return said
        near = [max(share, *about) if about else share for share in line.says]
        return said * (1 - _NAMES + _NAMES * self._share(self._names, near))

    def _share(self, numbers: Sequence[int], says: Sequence[float]) -> float:
        asked = sum(self._weights[n] for n in numbers)
        return sum(self._weights[n] * says[n] for n in numbers) / asked if asked else 0.0


def _feedback(view: View, index: Index, question: Question, gates: Gates, best: list[int]) -> list[Clue]:
    """Words that the best lines share, and that few others have."""
    asked = {form for word in question.words for form in word.forms}
    shared: Counter[str] = Counter()
    for event in gates.shown(view.at(best)):
        shared.update(term for term in terms_of(event.content) if term not in asked and len(term) > 2)
    likely = sorted((-number, term) for term, number in shared.items() if number >= _IN_LINES)
    terms = [term for _, term in likely[:_MOST_FEEDBACK]]
    found = index.find([(term,) for term in terms], limit=_FEEDBACK_LINES)
    return [
        Clue(one.times, idf(one.lines, index.heard.lines))
        for one in found
        if one.lines <= max(_COMMONEST * index.heard.lines, _IN_LINES)
    ]


def _retold(view: View, question: Question, gates: Gates, kept: list[Scored]) -> list[CitedLine]:
    places = {seq: name for name, seq in view.ids_of([one.seq for one in kept]).items()}
    entries = {entry.event_id: entry for entry in retold(view, view.at(places), gates)}
    lines = []
    for one in kept:
        entry = entries.get(places[one.seq])
        if entry is not None:
            text = " ".join((entry.text, *entry.outcomes)).strip()
            lines.append(CitedLine(one.seq, entry, one.score, _reason(question, text, one), text))
    return lines


def _reason(question: Question, text: str, line: Scored) -> str:
    said = [question.words[n].said for n in words_in(text, question.words)]
    near = [word.said for n, word in enumerate(question.words) if line.says[n] and word.said not in said]
    parts = [f"says {', '.join(said)}"] if said else []
    parts += [f"near {', '.join(near)}"] if near else []
    return "; ".join(parts) or f"about {', '.join(one_line(one.name) for one in question.named)}"
