"""Recall: the lines and facts that answer a question, each with the events it comes from; or no record.

Deterministic, and without a model. It reads one viewer's view, and honours what people decided.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.events import GameEvent
from dndbots.memory.asking import Question, Word, question_of, words_in
from dndbots.memory.cited import CitedLine, RecallItem, fitted
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.known_facts import facts_asked_for
from dndbots.memory.retelling import retold
from dndbots.memory.scoring import Clue, Neighbourhood, Scored, idf, seeds_of
from dndbots.storage.finding import Found, Index
from dndbots.storage.ports import Line
from dndbots.storage.reader import View
from dndbots.storage.terms import terms_of
from dndbots.text.labels import write_label
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

LEAST_BUDGET: Final = 200
NO_RECORD: Final = "No record."
# How much of what a question asks for, by weight, must stand in a line and around it: chosen by measurement.
# A question with a word that the viewer never heard is likely to be about something else altogether.
ENOUGH: Final = 0.3
ENOUGH_OF_UNHEARD: Final = 0.52
_ENOUGH_OF_FACT: Final = 0.5
_NAMES: Final = 0.3
_OTHER_NAMES: Final = 0.5
# Who is part of so many of all lines is part of any, as far as a question goes.
_EVERYWHERE: Final = 0.5
# Lines that are this much worse than the best one are about something else.
_WORTH: Final = 0.3
# A line has seldom fewer tokens than this, so that no more are worth a look.
_SHORTEST_LINE: Final = 20
# At least so many of the best lines are looked at for what they have of the question.
_LEAST_COMPARED: Final = 64
# What so many of the best lines state is looked up in canon.
_MOST_STATING: Final = 12


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
        events = view.placed([one.seq for one in found])
        stating = [events[one.seq] for one in found[:_MOST_STATING]]
        facts = facts_asked_for(view, question, gates, stating, enough=_ENOUGH_OF_FACT)
        lines = _retold(view, question, gates, found, events)
        items = fitted(facts, lines, budget, encoding)
    text = "\n".join(item.text for item in items) or NO_RECORD
    return Recall(
        viewer=view.viewer,
        query=query,
        items=tuple(items),
        no_record=not items,
        text=text,
        tokens=count_tokens(text, encoding),
    )


def _lines(view: View, question: Question, gates: Gates, most: int) -> list[Scored]:
    """The lines that answer, best first; none, if none has enough of what is asked."""
    index = view.index()
    if not index.heard.lines:
        return []
    decided = view.seqs_of([*gates.corrected, *gates.forgotten])
    left_out = {seq for name, seq in decided.items() if name in gates.forgotten}
    # A corrected memory is no line of play, and stands at no place among them.
    lines = {one for one, event in view.by_id(list(gates.corrected)).items() if not event.is_note}
    instead = {
        decided[name]: terms_of(text)
        for name, text in sorted(gates.corrected.items())
        if name in decided and name in lines
    }
    search = _Search(index, question, instead)
    near = Neighbourhood(index, seeds_of(search.clues(), left_out), left_out)
    clues = search.clues_at(near.lines)
    scored = near.scored(clues, question.speakers, max(most, _LEAST_COMPARED))
    shares = _Shares(question.words, search)
    answered = [(shares.of(one), one) for one in scored]
    if max((share for share, _ in answered), default=0.0) < shares.enough:
        return []
    best = [one._replace(score=round(one.score * (1 + share) / 2, 6)) for share, one in answered]
    best.sort(key=lambda one: (-one.score, -one.seq))
    return [one for one in best if one.score >= _WORTH * best[0].score][:most]


class _Search:
    """What a question looks for: its words, then those whom it names, under all that tells of them."""

    def __init__(self, index: Index, question: Question, instead: dict[int, dict[str, int]]) -> None:
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
        """Where it stands, as far as it was read."""
        about = [one.times.keys() for one in self._about]
        return self._clues([one.times for one in self._found], about)

    def clues_at(self, lines: Mapping[int, Line]) -> list[Clue]:
        """Where it stands among some lines."""
        about = [
            () if self._is_everywhere(found) else self._index.mentioned_at(one.uids, found, lines)
            for one, found in zip(self._question.named, self._about, strict=True)
        ]
        found = self._clues(self._index.times_at(self._found, lines), about)
        return [Clue({s: n for s, n in times.items() if s in lines}, weight) for times, weight in found]

    def about_any(self) -> bool:
        """Whether somebody is named who is part of nearly everything."""
        return any(map(self._is_everywhere, self._about))

    def _is_everywhere(self, about: Found) -> bool:
        return not about.whole and about.lines > _EVERYWHERE * self._index.heard.lines

    def stands(self, n: int) -> bool:
        """Whether a word stands anywhere."""
        return bool(self._found[n].times)

    def _clues(self, times: list[dict[int, int]], about: Sequence[Collection[int]]) -> list[Clue]:
        said = [self._corrected(one, forms) for one, forms in zip(times, self._forms, strict=True)]
        words = len(self._question.words)
        named = [{**dict.fromkeys(places, 1), **one} for places, one in zip(about, said[words:], strict=True)]
        return list(map(Clue, [*said[:words], *named], self.weights))

    def _corrected(self, times: dict[int, int], forms: Sequence[str]) -> dict[int, int]:
        """Where a word stands, with corrected lines in the words that count."""
        if not self._instead:
            return times
        times = {seq: number for seq, number in times.items() if seq not in self._instead}
        for seq, terms in self._instead.items():
            if number := sum(terms.get(form, 0) for form in forms):
                times[seq] = number
        return times


class _Shares:
    """How much of what a question asks for is said in a line and around it, by weight.

    Names alone are no answer, unless nothing but names was asked for; without them, it may be about
    somebody else. A name that nobody has or ever said is asked for like any other word.
    """

    def __init__(self, words: Sequence[Word], search: _Search) -> None:
        numbers = range(len(words))
        self._weights = search.weights[: len(words)]
        self._names = [n for n in numbers if words[n].is_name and (words[n].is_known or search.stands(n))]
        self._words = [n for n in numbers if n not in self._names]
        if not self._words:
            self._words, self._names = self._names, []
        self._about_any = search.about_any()
        is_heard = all(search.stands(n) for n in self._words)
        self.enough = ENOUGH if is_heard else ENOUGH_OF_UNHEARD

    def of(self, line: Scored) -> float:
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


def _retold(
    view: View, question: Question, gates: Gates, kept: list[Scored], events: Mapping[int, GameEvent]
) -> list[CitedLine]:
    entries = {entry.event_id: entry for entry in retold(view, events.values(), gates)}
    lines = []
    for one in kept:
        entry = entries.get(events[one.seq].event_id)
        if entry is not None:
            text = " ".join((entry.text, *entry.outcomes)).strip()
            says = tuple(question.words[n].said for n in words_in(text, question.words))
            lines.append(CitedLine(one.seq, entry, one.score, says, _reason(question, says, one), text))
    return lines


def _reason(question: Question, said: Sequence[str], line: Scored) -> str:
    near = [word.said for n, word in enumerate(question.words) if line.says[n] and word.said not in said]
    parts = [f"says {', '.join(said)}"] if said else []
    parts += [f"near {', '.join(near)}"] if near else []
    return "; ".join(parts) or f"about {', '.join(write_label(one.name) for one in question.named)}"
