"""Read one clause of a typed line: a deed, a question, words to somebody, or an answer to an offer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.deed_reader import read_deed, read_hidden_deed, read_unknown_deed
from dndbots.game.input.deeds.way_finder import read_way
from dndbots.game.input.game_questions import find_question
from dndbots.game.input.grammar.clauses import Clause, ClauseReader, find_verbs
from dndbots.game.input.meanings import NOT_DONE, Understanding
from dndbots.game.input.readings import list_readings
from dndbots.game.input.talk.offer_answers import confirms_deal, is_handshake, read_answer
from dndbots.game.input.talk.talk_reader import SPOKEN, TalkReader, seeks
from dndbots.game.input.vocabulary.lexicon import VerbSense, phrase_pattern, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    SPELL,
    THING,
    WAY,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord, read_words, text_of

_PROMISES: Final = re.compile(
    r"(?:\w+ )?(?:i|we) (?:will|can|shall|would(?! like| love| rather)|could|swear|promise)\b"
)
_ASKS_OTHERS: Final = ("shall we", "should we", "should i", "how about", "what if", "why do")
_NEAR_ME: Final = frozenset(("with", "behind", "to", "after", "for", "from", "at", "by", "near"))
# Deeds that are no promise, whatever is on offer: "I will have the soup".
_OWN_DEEDS: Final = frozenset(
    ("buy", "sell", "attack", "cast", "flee", "rest", "give", "use", "go", "look", "open")
)
_OUT_OF_GAME: Final = frozenset(("irl", "ooc", "afk", "brb", "gtg", "g2g", "wifi"))
_FEELS: Final = re.compile(r"(?:\w+ )?(?:i|we) (?:am|are)(?: \w+)? \w+ing\b")
_BEING: Final = frozenset(("come", "came", "am", "are", "live", "lived", "hail", "serve", "mean"))
_SHORTEST_INTRODUCTION: Final = 3
_STEPS: Final = frozenset(("gesture", "approach", "handle", "defend"))  # attempts that lead up to something
_FINDING: Final = frozenset(("find", "save", "rescue", "bring", "wake", "seek", "free", "help"))
_OF_SOMEBODY: Final = frozenset(("her", "him", "them", "back", "up", "all", "soon", "for", "you", "promise"))
_SHARED: Final = frozenset(("go", "flee", "search", "look", "rest", "attack", "buy"))
_REQUESTED: Final = frozenset(("go", "stay", "try", "look", "flee", "use"))


class PointReader:
    """Reads clauses of a line in a scene, one by one."""

    def __init__(self, scene: SceneNames, line: str) -> None:
        self._scene, self._line = scene, line
        self._talk = TalkReader(scene)
        self._clauses = ClauseReader(scene, line)

    def read(self, words: Sequence[TypedWord]) -> Understanding:
        """Return what a clause means."""
        clause = self._clauses.read(words)
        if clause.addressed is not None and not clause.third:
            return self._read_addressed(clause)
        found = find_question(self._scene, clause.words) or self._read_plain(clause)
        return self._read_purpose(clause, found) or found or self.unclear(words)

    def _read_purpose(self, clause: Clause, found: Understanding | None) -> Understanding | None:
        """Return the deed behind "to", if what stands before it only leads up to it: "lean in to see …"."""
        if found is None or clause.said[:1] == ["not"]:
            return None
        is_step = found.verb == "stay" or (found.check is not None and found.check.approach in _STEPS)
        if not is_step and found.verb != "look":
            return None
        words = [word for word in clause.core if not word.is_mark]
        for number in range(2, len(words) - 1):
            if words[number].text == "to" and verb_lexicon().is_plain(words[number + 1].text):
                self.mention(found)
                done = read_deed(self._scene, replace(clause, core=words[number + 1 :]))
                return (
                    done if done is not None and done.act is not None and (done.target or done.what) else None
                )
        return None

    def _read_addressed(self, clause: Clause) -> Understanding:
        is_friend = clause.addressed is not None and clause.addressed.kind == FRIEND
        if is_friend and clause.intent.startswith("let us"):
            deed = read_deed(self._scene, clause)
            if deed is not None and deed.verb in _SHARED:
                return deed  # "Zara, let us go to the inn"
        found = self._talk.question(clause) if clause.core and clause.is_question else None
        return found or self._talk.statement(clause) or self.unclear(clause.words)

    def _read_plain(self, clause: Clause) -> Understanding | None:
        """Read a clause that addresses nobody by name; None if it is unclear."""
        if self._is_noise(clause) or not clause.core:
            return None if clause.core else self._talk.statement(clause, sure=True)
        matches, _ = find_verbs(clause)
        if clause.said[0] == "not" and verb_lexicon().is_plain("".join(clause.said[1:2])):
            return self._read_not_done(clause)
        sense = matches[0].sense if matches else None
        is_spoken = sense is not None and sense.name in SPOKEN and not clause.request
        if clause.is_question and not is_spoken:
            return self._read_question(clause, has_verb=sense is not None)
        if sense is None or self._may_answer(clause, sense):
            answer = read_answer(self._scene, clause)
            if answer is not None:
                return answer
        if sense is not None and self._is_request(clause):
            return self._read_request(clause, sense)
        return self._read_deed(clause, has_verb=sense is not None)

    def _is_truce(self, clause: Clause) -> bool:
        """Check for words to foes so that nobody strikes."""
        return bool(self._scene.foes) and phrase_pattern("peace").search(text_of(clause.words)) is not None

    def _read_not_done(self, clause: Clause) -> Understanding | None:
        """Read "I do not shoot" as waiting, and "do not shoot" as said to who may."""
        answer = self._talk.tell(clause, self._scene.foes[0]) if self._is_truce(clause) else None
        answer = answer or read_answer(self._scene, clause)
        is_felt = clause.said[1] in word_group("stative")  # "I do not believe a word of it"
        to_others = clause.intent.split()[:1] not in (["i"], ["we"]) or bool({"you", "your"} & {*clause.said})
        to_others = to_others or (is_felt and bool(self._scene.persons))
        if answer is not None or to_others:
            return answer or self._talk.statement(clause, sure=True) or self._talk.say(clause)
        act = Act(verb=Verb.STAY, words=clause.worded)
        return Understanding(verb="stay", words=act.words, act=act)

    def _read_deed(self, clause: Clause, *, has_verb: bool) -> Understanding | None:
        scene, talk = self._scene, self._talk
        wondered = talk.tell(clause, scene.foes[0]) if self._is_truce(clause) else talk.wondered(clause)
        if wondered is not None:
            return wondered
        offers = clause.intent.startswith(("let me", "let us")) or _PROMISES.match(text_of(clause.words))
        if offers and {"you", "your"} & set(clause.said):
            return talk.statement(clause, sure=True)  # "we will help you", with nothing on offer
        if self._speaks_of_oneself(clause):
            return read_answer(scene, clause) or talk.statement(clause, sure=True)
        if not has_verb and not clause.intent:
            found = talk.statement(clause) or read_deed(scene, clause)
            return found or read_hidden_deed(scene, clause) or read_unknown_deed(scene, clause)
        found = read_deed(scene, clause) or read_answer(scene, clause) or talk.statement(clause)
        return found or read_hidden_deed(scene, clause) or read_unknown_deed(scene, clause)

    def _speaks_of_oneself(self, clause: Clause) -> bool:
        """Check for words about oneself, to who is here: "I am freezing", "I will find her"."""
        scene, said = self._scene, clause.said
        if said[0] in word_group("feeling") and _FEELS.match(text_of(clause.words)) is not None:
            return True
        introduced = clause.intent in ("", "i", "we") and introduces(text_of(clause.words).split())
        if not scene.persons or introduced or confirms_deal(scene, clause):
            return bool(scene.persons)
        if clause.intent.split()[:1] not in (["i"], ["we"]):
            return False
        is_bare = len(said) == 1 and said[0] in word_group("stative") | {"help"}
        is_about_her = said[0] in _FINDING and len(said) > 1 and set(said[1:]) <= _OF_SOMEBODY
        knows = said[0] in word_group("stative") and bool({"you", "your"} & {*said})
        return is_bare or knows or (is_about_her and len(clause.intent.split()) > 1)

    def _may_answer(self, clause: Clause, sense: VerbSense) -> bool:
        """Check that a clause with a verb may still answer an offer: "I will find your proof"."""
        if any(_is_set_phrase(name, clause) for name in ("yes", "no")) or is_handshake(clause):
            return True
        if sense.name in SPOKEN and not phrase_pattern("silence").search(text_of(clause.words)):
            return False
        if (
            sense.verb in ("go", "flee")
            and self._scene.persons
            and phrase_pattern("disclosure").search(text_of(clause.words))
        ):
            return True
        if sense.verb in _OWN_DEEDS and not phrase_pattern("yes").match(text_of(clause.words)):
            return False
        return sense.verb in ("accept", "refuse") or _PROMISES.match(text_of(clause.words)) is not None

    def _read_question(self, clause: Clause, *, has_verb: bool) -> Understanding | None:
        """Read "can I …?" as a deed, and any other question as one to somebody."""
        if seeks(clause) and (sought := self._talk.wondered(clause)) is not None:
            return sought
        to_others = {"you", "your"} & {word.text for word in clause.words[:4]}
        if has_verb and clause.intent and not to_others and not clause.intent.startswith(_ASKS_OTHERS):
            found = read_deed(self._scene, clause)
            if found is not None and found.verb not in NOT_DONE:
                return found
        is_yes = phrase_pattern("yes").match(text_of(clause.core)) is not None
        asks = clause.said[0] in word_group("wh") and not is_yes
        return (None if asks else read_answer(self._scene, clause)) or self._talk.question(clause)

    def _is_request(self, clause: Clause) -> bool:
        """Check for a command to somebody else: "follow me", "give us the key", "do not move"."""
        said = clause.said
        if clause.intent:
            return False
        if said[:2] == ["do", "not"] or said[1:2] == ["not"]:
            return True  # "do not move", "weep not"
        matches, words = find_verbs(clause)
        if matches[0].sense.verb in ("buy", "parley") or (
            matches[0].sense.verb == "attack" and self._scene.is_fight and matches[0].weight > 1
        ):
            return False  # "die, you dogs" is a blow
        if {"you", "your", "yourself", "yourselves"} & {*said} and matches[0].sense.name not in SPOKEN:
            return True
        if matches[0].gap is not None:
            return False
        behind = [word.text for word in words[matches[0].end : matches[0].end + 2]]
        is_near_me = behind[:1] and behind[0] in _NEAR_ME and behind[1:] in (["me"], ["us"])
        return behind[:1] in (["me"], ["us"]) or bool(is_near_me and matches[0].sense.verb in _REQUESTED)

    def _read_request(self, clause: Clause, sense: VerbSense) -> Understanding | None:
        way = self._scene.find(clause.core[1:], (WAY,)) if sense.name == "show" else None
        if way is not None:
            return read_way(clause, self._scene, way)  # "show me the orchard"
        if sense.name in ("tell", "ask", "show"):
            found = read_deed(self._scene, clause)
            if found is not None:
                return found
        if sense.name in ("give", "use", "show", "look", "try.help") and self._scene.persons:
            return self._talk.question(clause)
        return self._talk.statement(clause, sure=True) or self._talk.say(clause)

    def _is_noise(self, clause: Clause) -> bool:
        """Check for sounds, and for talk of the people at the table."""
        texts = [word.text for word in clause.words if not word.is_mark]
        if all(text in word_group("nonsense") for text in texts):
            return True
        if _OUT_OF_GAME & {*texts}:
            return True
        if phrase_pattern("interjection").fullmatch(" ".join(texts)):
            return not find_verbs(clause)[0]
        return texts[0] in word_group("table_talk") and not find_verbs(clause)[0]

    def unclear(self, words: Sequence[TypedWord]) -> Understanding:
        """Return that words are not understood, with what they may mean."""
        return list_readings(self._scene, self._line, [word.text for word in words if not word.is_mark])

    def mention(self, found: Understanding, words: Sequence[TypedWord] = ()) -> None:
        """Remember who was named, for the pronouns behind it."""
        key = None if found.act is None else found.act.target
        what = None if found.act is None else found.act.what
        named = next((name for name in self._scene.beings if name.key == key), None)
        if named is None and found.verb == "stay":
            named = self._scene.find(read_words(found.words), (PERSON, FOE))
        things = (*self._scene.things, *self._scene.items)
        thing = next((name for name in things if name.key == what), None) if what is not None else None
        if thing is None and found.verb == "ask":
            thing = self._scene.find(read_words(found.words), (THING,))
        if found.act is None or found.act.verb is Verb.SAY:
            thing = (
                self._scene.find(words, (SPELL, THING, ITEM)) or thing
            )  # "I have Sleep ready, use it on her"
            named = named or self._scene.find(words, (PERSON, FOE, FRIEND))
        self._scene.mentioned = named or self._scene.mentioned
        self._scene.mentioned_thing = thing or self._scene.mentioned_thing


def introduces(texts: Sequence[str]) -> bool:
    """Check for words of somebody about themselves: "we come from the south and seek …"."""
    return len(texts) > _SHORTEST_INTRODUCTION and texts[0] in ("i", "we") and texts[1] in _BEING


def _is_set_phrase(name: str, clause: Clause) -> bool:
    """Check that a clause opens with a turn of phrase of several words: "say no more"."""
    match = phrase_pattern(name).match(text_of(clause.words))
    return match is not None and " " in match.group()
