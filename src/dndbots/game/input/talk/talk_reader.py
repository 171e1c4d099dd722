"""Read what is said to somebody: questions, statements and greetings, to who is named or near."""

import re
from collections.abc import Sequence
from typing import Final

from dndbots.events import LONGEST_LABEL
from dndbots.game.acts import Act, Verb
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.meanings import Understanding
from dndbots.game.input.talk.offer_answers import is_haggle, read_answer
from dndbots.game.input.vocabulary.lexicon import phrase_pattern, word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    THING,
    WAY,
    SceneName,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord, read_words, text_of
from dndbots.game.state.options import NEWS
from dndbots.text.labels import write_telling
from dndbots.text.words import words_of

SPOKEN: Final = frozenset(("say", "shout", "tell", "ask", "whisper"))  # senses of verbs of speech
_SHORTEST_SENTENCE: Final = 3
_ABOUT: Final = frozenset(("about", "regarding", "concerning", "of", "for", "on", "after"))
_VAGUE: Final = _ABOUT | {"more", "something", "anything", "everything"}
_WANTING: Final = frozenset(("want", "like", "love", "need", "wish", "have"))
_TO_YOU: Final = frozenset(("you", "your", "yours", "yourself", "yourselves"))
_OF_THEM: Final = frozenset(("they", "them", "their", "theirs", "these", "those"))
_AMONG_US: Final = frozenset(("we", "us", "guys", "everyone", "everybody", "anyone", "anybody"))
_SEEKING: Final = re.compile(r"(?:looking|searching|asking) for (?!a way\b|tracks|traps|clues)")
_BEFORE_NAME: Final = frozenset(
    ("and", "with", "to", "of", "for", "is", "are", "about", "at", "the", "like", "or")
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|this|that|these|those|his|her|your|my) ")


class TalkReader:
    """Reads speech in a scene."""

    def __init__(self, scene: SceneNames) -> None:
        self._scene = scene

    # Questions.

    def question(self, clause: Clause) -> Understanding | None:
        """Return a question to who is addressed, or to who is near; None if nobody is."""
        target = clause.addressed or self._listener(clause)
        if target is None:
            return self.tell_party(clause, "ask")
        return self.ask(target, _topic_text(clause), words=clause.text)

    def wondered(self, clause: Clause) -> Understanding | None:
        """Return "I want to know …" as a question to who is near; None if it is none, or nobody is."""
        if (sought := self._sought(clause)) is not None:
            return sought
        is_asked = clause.said[:1] == ["know"] and clause.said[1:2] not in (["if"], ["whether"])
        wants = is_asked and bool(_WANTING & {*clause.intent.split()})
        target = self._listener(clause) if wants and self._scene.persons else None
        topic = behind_about(clause.line, clause.core[1:])
        return None if target is None else self.ask(target, topic, words=clause.text)

    def _sought(self, clause: Clause) -> Understanding | None:
        """Return "we are looking for Wren" as a question to who is near, unless it is in sight or carried."""
        wanted = [word for word in clause.core if not word.is_mark]
        target = self._listener(clause) if seeks(clause) and self._scene.persons else None
        if target is None or self._scene.find(wanted[2:6], (THING, ITEM, WAY)) is not None:
            return None
        return self.ask(target, behind_about(clause.line, clause.core[1:]), words=clause.text)

    def _listener(self, clause: Clause) -> SceneName | None:
        """Return who hears a line that names nobody. Foes only hear what is said to them."""
        scene = self._scene
        if clause.to_party:
            return None
        if scene.persons:
            return scene.listener
        if scene.friends and self._is_about_foes(clause):
            return None
        if scene.foes and (_TO_YOU & set(clause.said) or not scene.friends):
            return scene.foes[0]
        if scene.talking_foes is not None and not _AMONG_US & set(clause.said):
            return scene.talking_foes
        return None

    def _is_about_foes(self, clause: Clause) -> bool:
        """Check for words about foes that are not said to them: "are goblins always evil?"."""
        said = {*clause.said}
        if "any of you" in " ".join(clause.said) and self._scene.talking_foes is None:
            return True
        named = any(said & (foe.words | _OF_THEM) for foe in self._scene.foes)
        return named and not said & _TO_YOU and (clause.is_question or bool(said & _AMONG_US))

    def tell_party(self, clause: Clause, verb: str) -> Understanding | None:
        """Return words to the friends who are here; None if there are none."""
        friends = self._scene.friends
        if not friends:
            return None
        only = friends[0] if len(friends) == 1 else called_friend(self._scene, clause.text)
        act = Act(words=clause.text, target=None if only is None else only.key)
        label = None if only is None else only.label
        return Understanding(verb=verb, target=label, words=act.words, act=act)

    def ask(self, target: SceneName, topic: str, *, words: str) -> Understanding:
        """Return a question to somebody: friends and foes are spoken to, persons are asked."""
        if target.kind == FOE:
            act = Act(verb=Verb.PARLEY, target=target.key, words=words)
        elif target.kind == FRIEND:
            act = Act(words=words, target=target.key)  # a friend's player answers, not the DM
        elif self._scene.table.place(target.key) is None:
            # The character has to walk up to them first.
            act = Act(verb=Verb.LOOK, target=target.key, what=target.key, words=words)
        else:
            act = Act(verb=Verb.ASK, target=target.key, what=self._known_topic(topic), words=words)
        shown = act.what if act.verb is Verb.ASK else topic or None
        verb = "parley" if target.kind == FOE else "ask"
        return Understanding(verb=verb, target=target.label, what=shown, words=words, act=act)

    def _known_topic(self, topic: str) -> str:
        """Return the known topic of that name; else the words as they were said."""
        plain = topic.casefold().strip(" .?!")
        known = {name.casefold(): name for name in self._scene.table.topics}
        named = known.get(plain) or known.get(_ARTICLE.sub("", plain))
        return named or write_telling(topic.strip(" .?!")[:LONGEST_LABEL]) or NEWS

    # Statements.

    def statement(self, clause: Clause, *, sure: bool = False) -> Understanding | None:
        """Return a statement that is plainly said to somebody; None if it is not plain to whom."""
        scene, said = self._scene, clause.said
        if clause.addressed is not None:
            return self.tell(clause, clause.addressed)
        if clause.to_party:
            return self.tell_party(clause, "tell") or self.say(clause)
        is_social = clause.hailed or phrase_pattern("social").match(" ".join(said)) is not None
        is_remark = bool(scene.persons) and _is_sentence(said)
        if not (sure or is_social or is_remark or _TO_YOU & set(said)):
            return None
        target = self._listener(clause) or (scene.foes[0] if scene.foes and is_social else None)
        return self.tell_party(clause, "tell") if target is None else self.tell(clause, target)

    def tell(self, clause: Clause, target: SceneName) -> Understanding:
        """Return words that are said to somebody. A person who offered something may be answered by them."""
        answer = read_answer(self._scene, clause) if target.kind == PERSON else None
        return answer or told_to(target, clause.text)

    def haggle(self, clause: Clause) -> Understanding | None:
        """Return a line that asks for another price; None if it does not, or nobody is here to ask."""
        target = clause.addressed or self._scene.speaker or self._scene.talking_foes
        if target is None or target.kind == FRIEND or not is_haggle(self._scene, text_of(clause.words)):
            return None
        answer = read_answer(self._scene, clause) if target.kind == PERSON else None
        if answer is not None or clause.is_question:
            return answer
        verb = Verb.PARLEY if target.kind == FOE else Verb.TELL
        act = Act(verb=verb, target=target.key, words=clause.text)
        return Understanding(verb="parley", target=target.label, words=act.words, act=act)

    def say(self, clause: Clause) -> Understanding:
        """Return words that are said to nobody in particular."""
        return Understanding(verb="say", words=clause.text, act=Act(words=clause.text))


def seeks(clause: Clause) -> bool:
    """Check for words about who or what one is looking for: "we are looking for Wren"."""
    return clause.intent in ("i am", "we are") and _SEEKING.match(text_of(clause.core)) is not None


def told_to(target: SceneName, words: str) -> Understanding:
    """Return words to somebody: foes are parleyed with, persons answer, friends have players of their own."""
    if target.kind == FOE:
        act = Act(verb=Verb.PARLEY, target=target.key, words=words)
        return Understanding(verb="parley", target=target.label, words=words, act=act)
    act = Act(verb=Verb.TELL if target.kind == PERSON else Verb.SAY, words=words, target=target.key)
    return Understanding(verb="tell", target=target.label, words=words, act=act)


def called_friend(scene: SceneNames, text: str) -> SceneName | None:
    """Return the friend whose name stands by itself in some words, or beside "you": "you go first, Borra"."""
    words = [word for word in read_words(text) if word.text not in ('"', "\u201c", "\u201d")]
    texts = [word.text for word in words]
    found: dict[str, SceneName] = {}
    for number, word in enumerate(texts):
        named = next((name for name in scene.friends if word in words_of(name.label)), None)
        if named is None:
            continue
        before = texts[number - 1] if number else ","
        after = texts[number + 1] if number + 1 < len(texts) else ","
        is_apart = (words[number - 1].is_mark if number else True) and not after.isalpha()
        is_owner = text[words[number].start : words[number].end].casefold().endswith(("'s", "\u2019s"))
        is_you = bool(_TO_YOU & {*texts}) and before not in _BEFORE_NAME
        is_last = number + 1 == len(texts) and before not in _BEFORE_NAME
        if not is_owner and (is_apart or is_last or is_you):
            found[named.key] = named
    return next(iter(found.values())) if len(found) == 1 else None


def _is_sentence(said: Sequence[str]) -> bool:
    """Check for a subject and a verb."""
    if len(said) < _SHORTEST_SENTENCE or said[0] not in word_group("subject"):
        return False
    return any(word in word_group("finite") for word in said[1:5])


def _topic_text(clause: Clause) -> str:
    """Return a question as it was typed, without the address before it."""
    if not clause.core:
        return ""
    return clause.line[clause.core[0].start : clause.core[-1].end].strip(" ?!.,")[:LONGEST_LABEL]


def behind_about(line: str, rest: Sequence[TypedWord]) -> str:
    """Return the topic in "about the apples", "why he lies": as it was typed, without "about"."""
    words = [*rest]
    while words and (words[0].is_mark or words[0].text in _VAGUE):
        words = words[1:]
    return line[words[0].start : words[-1].end].strip(' ?!.,"')[:LONGEST_LABEL] if words else ""
