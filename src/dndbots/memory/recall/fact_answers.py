"""Facts from canon that answer a question, as sentences with their sources."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.events import GameEvent
from dndbots.ids import is_uid
from dndbots.memory.human_gates import Gates, drop_hidden_facts
from dndbots.memory.recall.question import RecallQuestion, find_words
from dndbots.storage.stated_terms import statements_of
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.text.terms import terms_of
from dndbots.text.word_forms import forms_of

_MOST_CURRENT: Final = 6
_MOST_PAST: Final = 2
_MOST_SUBJECTS: Final = 8
_OPERATORS: Final = {
    claims.AT: "is at",
    claims.IN: "is in",
    claims.PART_OF: "is part of",
    "~": "has to do with",
    "->": "leads to",
    "<-": "is because of",
}
# Words of questions that a fact answers although its sentence does not have them.
_ANSWERS: Final = {
    claims.AT: "place location",
    claims.IN: "place location",
    claims.NUMBER: "dead alive killed",
}


class KnownFact(NamedTuple):
    """A fact as a sentence. `score` is the share of the question's words that it has."""

    text: str
    sources: tuple[str, ...]
    score: float
    reason: str


class _ScoredFact(NamedTuple):
    """A fact with its sentence, and the share of the question's words that it has."""

    fact: Fact
    text: str
    score: float


def find_facts(
    view: View, question: RecallQuestion, gates: Gates, lines: Iterable[GameEvent], *, enough: float
) -> list[KnownFact]:
    """Return facts that answer a question: for each entity current ones first, then superseded ones.

    The entities are those that the question names, and those on which one of the `lines` found for it states
    something that was asked. `enough` is the least share of the question's words that a fact must have.
    """
    stated = _stated(question, lines, enough)
    subjects = dict.fromkeys([one.uids[0] for one in question.named] + [uid for uid, _ in stated])
    answers: list[KnownFact] = []
    for entity in view.entities(list(subjects)[:_MOST_SUBJECTS]).values():
        sentences = FactSentences(view, {entity.uid: entity.name})
        about = {about for uid, about in stated if uid in (entity.uid, *entity.merged)}
        shown = [fact for fact in drop_hidden_facts(view, entity, gates).facts if not gates.hides(fact)]
        current = sentences.score_facts(question, shown, enough, about)[:_MOST_CURRENT]
        past = [
            fact
            for one in current[:_MOST_PAST]
            for fact in _past(view, entity, one.fact)
            if not gates.hides(fact)
        ]
        answers += [_known(one, entity) for one in current]
        answers += [_known(one, entity) for one in sentences.score_facts(question, past, 0.0)[:_MOST_PAST]]
    return answers


def _stated(question: RecallQuestion, lines: Iterable[GameEvent], enough: float) -> list[tuple[str, str]]:
    """Return the subjects on which the lines state something that was asked, each with its slot."""
    content = [word for word in question.words if not word.is_name]
    return [
        (statement.subject, statement.about)
        for event in lines
        for statement in statements_of(event, event.known)
        if content and len(find_words(statement.text, content)) >= enough * len(content)
    ]


def _past(view: View, entity: Entity, fact: Fact) -> Iterable[Fact]:
    """Return the superseded facts in the slot of a current fact, newest first."""
    slot = fact.key or (fact.op if fact.op in (claims.AT, claims.IN, claims.PART_OF) else None)
    if slot is None or slot in (claims.NUMBER, "hp", "gold"):
        return []
    past = [
        past_fact for uid in (entity.uid, *entity.merged) for past_fact in view.past_of(uid, slot, limit=8)
    ]
    return [
        past_fact
        for past_fact in past
        if past_fact.superseded_by is not None and past_fact.value != fact.value
    ][::-1]


class FactSentences:
    """A writer of facts as sentences, with the viewer's names; the given `names` need no lookup."""

    def __init__(self, view: View, names: Mapping[str, str]) -> None:
        self._view, self._called = view, dict(names)

    def score_facts(
        self, question: RecallQuestion, facts: Iterable[Fact], enough: float, about: Collection[str] = ()
    ) -> list[_ScoredFact]:
        """Return the facts with at least `enough` of the question, or in a slot of `about`, best first."""
        scored = []
        for fact in facts:
            text = self.sentence(fact)
            share = _share(question, fact, text)
            score = max(share, enough) if (fact.key or fact.op) in about else share
            scored.append(_ScoredFact(fact, text, score))
        return sorted((one for one in scored if one.score >= enough), key=lambda one: -one.score)

    def sentence(self, fact: Fact) -> str:
        """Return a fact as a sentence, with its certainty if it is no plain fact."""
        return f"{self._said(self._name(fact.subject), fact)}{_certainty(fact, self._name)}"

    def _said(self, name: str, fact: Fact) -> str:
        if fact.op is not None:
            relation = _OPERATORS.get(fact.op, fact.op)
            relation = relation.replace("is ", "is no longer ", 1) if fact.ended else relation
            where = f"{relation} {self._name(fact.object)}" if fact.object else "is no longer there"
            return f"{name} {where}."
        kind, _, rest = (fact.key or "").partition(" ")
        if fact.key == "killed_by" and not fact.ended:
            return f"{name} was killed by {self._value(fact.value)}."
        if fact.key == claims.NUMBER:
            left = isinstance(fact.value, int) and fact.value > 0
            return f"{name}: {fact.value} of them." if left else f"{name} is dead."
        if kind == claims.CONDITION and rest:
            return f"{name} is {'' if fact.value is True else 'no longer '}{one_line(rest)}."
        if kind == claims.ITEM and rest:
            return f"{name} has {self._value(rest)}: {self._value(fact.value)}."
        shown = one_line(claims.plain_key(fact.key or "")).replace("_", " ")
        return f"{name}: {shown} is {'no longer known' if fact.ended else self._value(fact.value)}."

    def _value(self, value: JsonValue) -> str:
        if isinstance(value, list):
            return ", ".join(map(self._value, value))
        if isinstance(value, bool):
            return "true" if value else "false"
        return self._name(str(value))

    def _name(self, who: str) -> str:
        if who not in self._called and is_uid(who):
            self._called |= {uid: called.name for uid, called in self._view.called([who]).items()}
        return write_label(self._called[who]) if who in self._called else one_line(who)


def _certainty(fact: Fact, name: object) -> str:
    said_by = f", from {name(fact.said_by)}" if fact.said_by and callable(name) else ""
    how = "" if fact.certainty == "fact" else f" ({fact.certainty}{said_by})"
    return f"{how} (no longer so)" if fact.superseded_by else how


def _share(question: RecallQuestion, fact: Fact, text: str) -> float:
    """Return the share of the question's words, names aside, that a fact has; 1 if there are only names."""
    content = [word for word in question.words if not word.is_name]
    if not content:
        return 1.0 if not question.asks_where or fact.op in (claims.AT, claims.IN) else 0.5
    extra = _ANSWERS.get(fact.op or claims.plain_key(fact.key or ""), "")
    terms = {form for term in (*terms_of(text), *extra.split()) for form in forms_of(term)}
    return sum(any(form in terms for form in word.forms) for word in content) / len(content)


def _known(scored: _ScoredFact, entity: Entity) -> KnownFact:
    fact = scored.fact
    sources = dict.fromkeys((fact.learned_from, fact.superseded_by or fact.learned_from))
    return KnownFact(scored.text, tuple(sources), scored.score, f"a fact about {write_label(entity.name)}")
