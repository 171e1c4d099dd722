"""Facts from canon that answer a question, as sentences with their sources."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.events import GameEvent
from dndbots.memory.fact_sentences import FactSentences
from dndbots.memory.human_gates import Gates, drop_hidden_facts
from dndbots.memory.recall.aspects import WORDS_OF_ASPECTS
from dndbots.memory.recall.citations import RecallItem, write_reference
from dndbots.memory.recall.memory_answers import find_asked_quests, is_about_quest
from dndbots.memory.recall.question import RecallQuestion, find_words
from dndbots.storage.stated_terms import statements_of
from dndbots.storage.views.view import View
from dndbots.text.labels import write_label
from dndbots.text.terms import terms_of
from dndbots.text.word_forms import forms_of

_MOST_CURRENT: Final = 6
_MOST_PAST: Final = 2
_MOST_SUBJECTS: Final = 8
_MOST_TIED: Final = 6
_MOST_OF_QUEST: Final = 3
# Questions with these words ask what somebody is to others, or what somebody wants done: the facts about the
# others answer them, too.
_TIE_WORDS: Final = (
    "father mother parent son daughter child husband wife brother sister twin sibling uncle aunt nephew "
    "niece cousin grandfather grandmother relative family friend rival enemy ally lover mentor apprentice "
    "master servant employer leader ruler owner holder maker giver quest job task errand goal reward pay "
    "offer bounty deadline want hire"
)
_TIES: Final = frozenset(form for word in _TIE_WORDS.split() for form in forms_of(word))
_QUEST: Final = "QST"
# Words of questions that a fact answers although its sentence does not have them.
_ANSWERS: Final = {
    claims.AT: "place location",
    claims.IN: "place location",
    claims.NUMBER: "dead alive killed",
    **WORDS_OF_ASPECTS,
}


class _ScoredFact(NamedTuple):
    """A fact with its sentence, and the share of the question's words that it has."""

    fact: Fact
    text: str
    score: float


def find_facts(
    view: View, question: RecallQuestion, gates: Gates, lines: Iterable[GameEvent], *, enough: float
) -> list[RecallItem]:
    """Return facts that answer a question: for each entity current ones first, then superseded ones.

    The entities are those that the question names, and those on which one of the `lines` found for it states
    something that was asked. `enough` is the least share of the question's words that a fact must have.
    """
    stated = _stated(question, lines, enough)
    subjects = dict.fromkeys([one.uids[0] for one in question.named] + [uid for uid, _ in stated])
    chosen = list(subjects)[:_MOST_SUBJECTS]
    return [
        *_answers_about(view, question, gates, chosen, stated, enough),
        *(tied := _tied_answers(view, question, gates, chosen, enough)),
        *(_quest_answers(view, question, gates, chosen, enough) if not tied else ()),
    ]


def _quest_answers(
    view: View, question: RecallQuestion, gates: Gates, known: Collection[str], enough: float
) -> list[RecallItem]:
    """Return the facts of quests that a question asks for without naming them.

    What a quest is about counts with what is asked of it: the reward for the book is a fact of the quest with
    the goal to find the book.
    """
    answers: list[RecallItem] = []
    quests = [uid for uid in find_asked_quests(view, question) if uid not in known]
    for entity in view.entities(quests).values():
        facts = [fact for fact in drop_hidden_facts(view, entity, gates).facts if not gates.hides(fact)]
        sentences = FactSentences(view, {entity.uid: entity.name})
        told = " ".join(sentences.sentence(fact) for fact in facts)
        if is_about_quest(question, f"{entity.name} {told}", enough):
            best = _score_facts(sentences, question, facts, 0.0)
            asked = [one for one in best if one.score] or best[:_MOST_OF_QUEST]
            answers += [_known(one, entity, ", a quest that was asked for") for one in asked]
    return sorted(answers, key=lambda item: -item.score)[:_MOST_CURRENT]


def _tied_answers(
    view: View, question: RecallQuestion, gates: Gates, known: Collection[str], enough: float
) -> list[RecallItem]:
    """Return facts that tie others to the entities of a question, and those of quests that they give."""
    asked = {form for word in question.words if not word.is_name for form in word.forms}
    heads = {uid: one.name for one in question.named for uid in one.uids}
    if not heads or _TIES.isdisjoint(asked):
        return []
    tied: dict[str, str] = {}
    for link in view.links(sorted(heads)):
        if link.object in heads and link.subject not in known and link.kind.isidentifier():
            tied.setdefault(link.subject, heads[link.object])
    answers: list[RecallItem] = []
    for entity in view.entities(list(tied)[:_MOST_TIED]).values():
        facts = [fact for fact in drop_hidden_facts(view, entity, gates).facts if not gates.hides(fact)]
        if entity.category != _QUEST:
            facts = [
                fact
                for fact in facts
                if isinstance(fact.value, list) and not heads.keys().isdisjoint(map(str, fact.value))
            ]
        sentences = FactSentences(view, {entity.uid: entity.name})
        through = tied.get(entity.uid, "")
        answers += [
            _known(one, entity, f", tied to {write_label(through)}" if through else "")
            for one in _score_facts(sentences, question, facts, enough)[:_MOST_CURRENT]
        ]
    return answers


def _answers_about(
    view: View,
    question: RecallQuestion,
    gates: Gates,
    subjects: Collection[str],
    stated: Collection[tuple[str, str]],
    enough: float,
) -> list[RecallItem]:
    """Return facts about some entities that answer a question."""
    answers: list[RecallItem] = []
    for entity in view.entities(subjects).values():
        sentences = FactSentences(view, {entity.uid: entity.name})
        about = {about for uid, about in stated if uid in (entity.uid, *entity.merged)}
        shown = [fact for fact in drop_hidden_facts(view, entity, gates).facts if not gates.hides(fact)]
        current = _score_facts(sentences, question, shown, enough, about)[:_MOST_CURRENT]
        past = [
            fact
            for one in current[:_MOST_PAST]
            for fact in _past(view, entity, one.fact)
            if not gates.hides(fact)
        ]
        answers += [_known(one, entity) for one in current]
        answers += [_known(one, entity) for one in _score_facts(sentences, question, past, 0.0)[:_MOST_PAST]]
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


def _score_facts(
    sentences: FactSentences,
    question: RecallQuestion,
    facts: Iterable[Fact],
    enough: float,
    about: Collection[str] = (),
) -> list[_ScoredFact]:
    """Return the facts with at least `enough` of the question, or in a slot of `about`, best first."""
    scored = []
    for fact in facts:
        text = sentences.sentence(fact)
        share = _share(question, fact, text)
        score = max(share, enough) if (fact.key or fact.op) in about else share
        scored.append(_ScoredFact(fact, text, score))
    return sorted((one for one in scored if one.score >= enough), key=lambda one: -one.score)


def _share(question: RecallQuestion, fact: Fact, text: str) -> float:
    """Return the share of the question's words, names aside, that a fact has; 1 if there are only names."""
    content = [word for word in question.words if not word.is_name]
    if not content:
        return 1.0 if not question.asks_where or fact.op in (claims.AT, claims.IN) else 0.5
    slot = fact.op or claims.plain_key(fact.key or "")
    extra = f"{slot.replace('_', ' ')} {_ANSWERS.get(slot, '')}"
    terms = {form for term in (*terms_of(text), *terms_of(extra)) for form in forms_of(term)}
    return sum(any(form in terms for form in word.forms) for word in content) / len(content)


def _known(scored: _ScoredFact, entity: Entity, tie: str = "") -> RecallItem:
    fact = scored.fact
    sources = dict.fromkeys((fact.learned_from, fact.superseded_by or fact.learned_from))
    return RecallItem(
        text=scored.text,
        tokens=0,
        section="facts",
        reason=f"a fact about {write_label(entity.name)}{tie}",
        sources=tuple(sources),
        score=round(scored.score, 4),
        reference=write_reference(fact.learned_from),
    )
