"""What canon has to say on a question, as sentences with their sources."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.values import Entity, Fact
from dndbots.events import GameEvent
from dndbots.ids import is_uid
from dndbots.memory.asking import Question, words_in
from dndbots.memory.gates import Gates, without_hidden
from dndbots.memory.inflection import forms_of
from dndbots.storage.reader import View
from dndbots.storage.stating import statements_of
from dndbots.storage.terms import terms_of
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_label

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
# What a fact answers beyond the words of its sentence.
_ANSWERS: Final = {
    claims.AT: "place location",
    claims.IN: "place location",
    claims.NUMBER: "dead alive killed",
}


class KnownFact(NamedTuple):
    """A fact as a sentence, how sure it is, and how much of the question it has."""

    text: str
    sources: tuple[str, ...]
    score: float
    reason: str


class _Told(NamedTuple):
    fact: Fact
    text: str
    score: float


def facts_asked_for(
    view: View, question: Question, gates: Gates, lines: Iterable[GameEvent], *, enough: float
) -> list[KnownFact]:
    """Facts that have to do with the question: current ones first, then what they superseded.

    They are of those whom it names, and of those of whom a line that was found states something like it.
    """
    stated = _stated(question, lines, enough)
    subjects = dict.fromkeys([one.uids[0] for one in question.named] + [uid for uid, _ in stated])
    found: list[KnownFact] = []
    for entity in view.entities(list(subjects)[:_MOST_SUBJECTS]).values():
        names = Sentences(view, {entity.uid: entity.name})
        about = {about for uid, about in stated if uid in (entity.uid, *entity.merged)}
        shown = [fact for fact in without_hidden(view, entity, gates).facts if not gates.hides(fact)]
        current = names.told(question, shown, enough, about)[:_MOST_CURRENT]
        past = [
            fact
            for one in current[:_MOST_PAST]
            for fact in _past(view, entity, one.fact)
            if not gates.hides(fact)
        ]
        found += [_known(one, entity) for one in current]
        found += [_known(one, entity) for one in names.told(question, past, 0.0)[:_MOST_PAST]]
    return found


def _stated(question: Question, lines: Iterable[GameEvent], enough: float) -> list[tuple[str, str]]:
    """Of whom the lines state something that the question asks for, and in what respect."""
    content = [word for word in question.words if not word.is_name]
    return [
        (one.subject, one.about)
        for event in lines
        for one in statements_of(event, event.known)
        if content and len(words_in(one.text, content)) >= enough * len(content)
    ]


def _past(view: View, entity: Entity, fact: Fact) -> Iterable[Fact]:
    """What was held true before, where the question is about it: the newest of it."""
    slot = fact.key or (fact.op if fact.op in (claims.AT, claims.IN, claims.PART_OF) else None)
    if slot is None or slot in (claims.NUMBER, "hp", "gold"):
        return []
    past = [one for uid in (entity.uid, *entity.merged) for one in view.past_of(uid, slot, limit=8)]
    return [one for one in past if one.superseded_by is not None and one.value != fact.value][::-1]


class Sentences:
    """Facts in words, under the names that the viewer knows; those that are given need no look."""

    def __init__(self, view: View, names: Mapping[str, str]) -> None:
        self._view, self._called = view, dict(names)

    def told(
        self, question: Question, facts: Iterable[Fact], enough: float, about: Collection[str] = ()
    ) -> list[_Told]:
        """Facts that have enough of what is asked, or are about something that was asked for."""
        told = []
        for fact in facts:
            text = self.sentence(fact)
            share = _share(question, fact, text)
            told.append(_Told(fact, text, max(share, enough) if (fact.key or fact.op) in about else share))
        return sorted((one for one in told if one.score >= enough), key=lambda one: -one.score)

    def sentence(self, fact: Fact) -> str:
        return f"{self._said(self._name(fact.subject), fact)}{_certainty(fact, self._name)}"

    def _said(self, name: str, fact: Fact) -> str:
        if fact.op is not None:
            said = _OPERATORS.get(fact.op, fact.op)
            said = said.replace("is ", "is no longer ", 1) if fact.ended else said
            where = f"{said} {self._name(fact.object)}" if fact.object else "is no longer there"
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


def _share(question: Question, fact: Fact, text: str) -> float:
    """How many of the words that are no names a fact has; all, if it is only asked who somebody is."""
    content = [word for word in question.words if not word.is_name]
    if not content:
        return 1.0 if not question.asks_where or fact.op in (claims.AT, claims.IN) else 0.5
    extra = _ANSWERS.get(fact.op or claims.plain_key(fact.key or ""), "")
    terms = {form for term in (*terms_of(text), *extra.split()) for form in forms_of(term)}
    return sum(any(form in terms for form in word.forms) for word in content) / len(content)


def _known(told: _Told, entity: Entity) -> KnownFact:
    sources = dict.fromkeys((told.fact.learned_from, told.fact.superseded_by or told.fact.learned_from))
    return KnownFact(told.text, tuple(sources), told.score, f"what is known of {write_label(entity.name)}")
