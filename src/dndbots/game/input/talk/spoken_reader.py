"""Read verbs of speech: "ask him why …", "tell Zara to …", "whisper to Zara: …", "say …"."""

import re
from collections.abc import Sequence
from itertools import dropwhile
from typing import Final, NamedTuple

from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.grammar.slots import OTHERS, DeedSlots
from dndbots.game.input.meanings import Understanding, refuse
from dndbots.game.input.talk.absent_names import find_absent, refuse_name
from dndbots.game.input.talk.offer_answers import read_answer
from dndbots.game.input.talk.talk_reader import TalkReader, behind_about, called_friend, told_to
from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, PRONOUNS, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.game.input.vocabulary.word_roots import root_of
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.words import words_of

_WHISPER: Final = "whisper NAME: WORDS"
_QUOTES: Final = ('"', "\u201c", "\u201e", "\u00ab")
_HUSHED: Final = frozenset(("quietly", "secretly", "softly", "discreetly", "silently", "privately"))
_HUSHED_FIRST: Final = re.compile(
    rf"(?:{'|'.join(sorted(_HUSHED))}|in secret|in private|under (?:my|his|her) breath"
    r"|in a (?:whisper|(?:low|hushed|quiet) voice))\b\s*",
    re.IGNORECASE,
)
_WHISPERS_THEN: Final = re.compile(
    r"(?:aside )?and (?:whisper|murmur|say|tell (?:him|her|them))\b\s*", re.IGNORECASE
)
_MOST_NAME: Final = 8
_SHORT_NAME: Final = 4
_ABOUT: Final = frozenset(("about", "regarding", "concerning", "of", "for", "on", "after"))
_BEHIND_NAME: Final = frozenset(("about", "if", "whether", "that", "to", "for"))
_BEFORE_NAME: Final = frozenset(("to", "with", "at", "from", "over"))
# Verbs whose object is somebody: "tell Borra to stand guard".
_TO_SOMEBODY: Final = frozenset(
    ("whisper", "tell", "ask", "warn", "remind", "inform", "order", "command", "instruct", "thank", "greet")
)
_NOT_CALLED: Final = frozenset(("he", "she", "they", "his", "its", "their"))  # "whisper he lies"
_TO_ME: Final = frozenset(("me", "us", "our"))
_COMPANY: Final = frozenset(("friend", "friends", "party", "companions", "group", "others"))
_OTHERS_THAN_US: Final = frozenset(("they", "them", "their", "he", "she", "him", "his", "her"))
# "Find out who did it" asks nobody by name.
_ASKS_NOBODY: Final = frozenset(("find", "learn", "demand", "discuss", "wonder", "hear"))


class SpokenTo(NamedTuple):
    """Somebody who is spoken to, the words behind the name, and where the name ends in the line."""

    name: SceneName
    rest: list[TypedWord]
    end: int


class SpokenReader:
    """Reads clauses with a verb of speech in a scene."""

    def __init__(self, scene: SceneNames) -> None:
        self._scene = scene
        self._talk = TalkReader(scene)

    def read(self, slots: DeedSlots) -> Understanding | None:
        """Read "ask him why …", "tell Zara to …", "whisper to Zara: …", "say …"."""
        name = slots.sense.name
        if name in ("say", "shout"):
            return self._said(slots)
        absent = self._absent(slots)
        to = None if absent else self._spoken_to(slots)
        if name == "whisper" or (name == "tell" and to is not None and _is_hushed(slots, to)):
            return _whispered_to_nobody(slots, absent) if to is None else self._whispered(slots, to)
        if absent and name == "tell":
            return refuse_name(self._scene, slots.clause.text, absent, "tell")
        if to is None and slots.match.phrase == ("say", "to"):
            return self._verbatim(slots.clause)
        return self._asked(slots, to) if name == "ask" else self._told(slots, to)

    def refuse_absent(self, slots: DeedSlots, target: SceneName | None) -> Understanding | None:
        """Refuse words in quotation marks for somebody who is not here; None if they may be said."""
        absent = self._absent(slots)
        if slots.sense.name == "whisper" and target is None:
            return _whispered_to_nobody(slots, absent)
        return refuse_name(self._scene, slots.clause.text, absent, "tell") if absent else None

    def _absent(self, slots: DeedSlots) -> str:
        """Return the name of who is spoken to, if nobody here has it: it is never said to somebody else."""
        phrase, gap = slots.match.phrase, slots.match.gap
        if gap is None and phrase[-1] not in _BEFORE_NAME and phrase[0] not in _TO_SOMEBODY:
            return ""  # "answer Yes"
        words = slots.words[slots.match.end if gap is None else gap[0] :]
        named = [*dropwhile(lambda word: word.text in _BEFORE_NAME, words)]
        return find_absent(self._scene, slots.clause.line, named)

    def _spoken_to(self, slots: DeedSlots) -> SpokenTo | None:
        """Return who is spoken to; None if nobody here is named."""
        words = [*slots.words[slots.match.end :]]
        if slots.match.gap is not None:
            name = slots.words[slots.match.gap[0] : slots.match.gap[1]]
            found = self._scene.find(name, OTHERS)
            return None if found is None else SpokenTo(found, words, name[-1].end)
        while words and words[0].text in _BEFORE_NAME:
            words = words[1:]
        stops = word_group("wh") | _BEHIND_NAME
        end = next((n for n, word in enumerate(words) if n and word.text in stops), len(words))
        end = min(end, _name_length(slots, words))
        called = self._called_first(words)
        for length in range(min(end, _MOST_NAME), 0, -1):
            name = words[:length]
            found = self._scene.find(name, OTHERS) if self._can_end(name[-1].text) else None
            if found is not None and called in (None, found) and self._ends_name(found, name):
                return SpokenTo(found, words[length:], name[-1].end)
        return None

    def _called_first(self, words: Sequence[TypedWord]) -> SceneName | None:
        """Return who is called by name in the first word: nobody else can be meant by the words behind it."""
        first = words[0].text if words else ""
        named = (name for name in (*self._scene.friends, *self._scene.persons) if first in name.words)
        return next((name for name in named if self._scene.find([first], OTHERS) == name), None)

    @staticmethod
    def _can_end(word: str) -> bool:
        if word in word_group("finite"):
            return False
        return word not in word_group("article") or word in PRONOUNS or word == "one"

    def _ends_name(self, found: SceneName, name: Sequence[TypedWord]) -> bool:
        """Check that a name does not run on into what is said: its last word belongs to it."""
        last = name[-1].text
        if last in PRONOUNS:
            return len(name) == 1 and last not in _NOT_CALLED  # "Borra I do not trust him" is Borra
        if {word.text for word in name[:-1]} & (word_group("finite") | {"i", "we", "you"}):
            return False
        if last == "one":
            return len(name) <= _SHORT_NAME
        # In "Zara the reeve lies", the first word is a name, and not the reeve's.
        is_titled = len(name) > 2 and name[1].text in word_group("article")
        is_titled = is_titled and name[0].text not in word_group("article")
        telling = (name[0].text, last) if is_titled else (last,)
        if any((self._scene.worth(found, text) or 0) <= 0 for text in telling):
            return False
        if root_of(last) in found.roots and len(name) > 1:
            texts = [word.text for word in name if word.text not in ("the", "a", "an", "my")]
            return any(_is_run_of(texts, known) for known in self._scene.here.known_by(found.key))
        return root_of(last) in found.around or len(name) <= _SHORT_NAME

    def _asked(self, slots: DeedSlots, to: SpokenTo | None) -> Understanding | None:
        scene, clause = self._scene, slots.clause
        if to is not None:
            return self._talk.ask(to.name, behind_about(clause.line, to.rest), words=clause.worded)
        named = self._missing(slots)
        if named and scene.speaker is not None and _COMPANY & {*named.split()}:
            return self._talk.tell(clause, scene.speaker)
        if named and slots.match.phrase[0] not in _ASKS_NOBODY:
            return refuse(clause.text, f"there is no {named!r} here to ask")
        target = scene.listener or next(iter(scene.foes), None)
        if target is None and _OTHERS_THAN_US & {*clause.said} and not _COMPANY & {*clause.said}:
            return refuse(clause.text, "nobody is here to ask but your own party; ask NAME to ask a friend")
        if target is None:
            return self._talk.tell_party(clause, "ask")
        topic = behind_about(clause.line, slots.words[slots.match.end :])
        return self._talk.ask(target, topic, words=clause.worded)

    def _missing(self, slots: DeedSlots) -> str:
        """Return a name behind "ask" that is nobody here; nothing if it is a question or a topic."""
        words = [*slots.words[slots.match.end :]]
        while words and words[0].text in ("to", "with"):
            words = words[1:]
        stops = word_group("wh") | _ABOUT | {"if", "whether", "that", "around", "to", "why"}
        end = next((n for n, word in enumerate(words) if word.text in stops), len(words))
        if not end or any(word.text in word_lists().people["crowd"] for word in words[:end]):
            return ""
        name = [word.text for word in words[:end] if word.text not in word_group("article")]
        return " ".join(name[:_SHORT_NAME])

    def _told(self, slots: DeedSlots, to: SpokenTo | None) -> Understanding | None:
        scene, clause = self._scene, slots.clause
        behind = slots.words[slots.match.end :]
        if slots.match.gap is None and behind and behind[0].text in _TO_ME and not clause.intent:
            return self._asked_for(slots)
        target = to.name if to is not None else None if slots.crowd else scene.listener
        if target is None and not slots.crowd and called_friend(scene, clause.text) is None:
            target = scene.talking_foes
        if target is None:
            listener = scene.speaker or next(iter(scene.foes), None)
            party = self._talk.tell_party(clause, "tell")
            return party or (None if listener is None else told_to(listener, clause.worded))
        if target.kind == FRIEND:
            return self._told_friend(clause, target, to)
        rest = [*behind] if to is None else to.rest
        if target.kind == PERSON and rest:
            answer = read_answer(scene, Clause(clause.line, rest, rest), words=clause.worded)
            if answer is not None:
                return answer
        verb = Verb.PARLEY if target.kind == FOE else Verb.TELL
        act = Act(verb=verb, target=target.key, words=clause.worded)
        return Understanding(verb="tell", target=target.label, words=act.words, act=act)

    def _asked_for(self, slots: DeedSlots) -> Understanding | None:
        """Read "tell me about …", which is a question."""
        scene, clause = self._scene, slots.clause
        target = scene.listener or next(iter(scene.foes), None)
        if target is None:
            return self._talk.tell_party(clause, "ask")
        topic = behind_about(clause.line, slots.words[slots.match.end + 1 :])
        return self._talk.ask(target, topic, words=clause.text)

    def _told_friend(self, clause: Clause, friend: SceneName, to: SpokenTo | None) -> Understanding:
        """Return words to a friend; a retelling, if there is news and the words are about it."""
        news = self._scene.here.news()
        words = clause.worded
        is_about = to is not None and any(word.text in ("about", "of") for word in to.rest)
        if news and is_about:
            act = Act(verb=Verb.TELL, words=words, tells=(_best_news(news, clause.text),))
        else:
            act = Act(words=words, target=friend.key)
        return Understanding(verb="tell", target=friend.label, words=words, act=act)

    def _whispered(self, slots: DeedSlots, to: SpokenTo) -> Understanding | None:
        clause = slots.clause
        if to.name.kind == FOE:
            return self._told(slots, to)
        words = clause.line[to.end :].strip()
        words = _HUSHED_FIRST.sub("", words) if slots.sense.name == "tell" else words
        words = _WHISPERS_THEN.sub("", words) if slots.match.phrase[0] != "whisper" else words
        words = words[1:].lstrip() if words.startswith((":", ",")) else words
        if not words:
            return refuse(clause.text, f"say what to whisper: {_WHISPER}")
        if self._is_for_another(clause.line, to):
            return refuse(clause.text, f"a whisper is for one; name who hears it first: {_WHISPER}")
        act = Act(verb=Verb.WHISPER, target=to.name.key, words=words[:LONGEST_WORDS])
        return Understanding(verb="whisper", target=to.name.label, words=act.words, act=act)

    def _is_for_another(self, line: str, to: SpokenTo) -> bool:
        """Check for a second hearer: "Zara and Bram: …", "her name to Zara"; not "Zara: give it to Bram"."""
        texts = [word.text for word in to.rest]
        if len(texts) < 2 or not line[to.end : to.rest[0].start].isspace():
            return False
        second = texts[1] if texts[0] == "and" else ""
        is_her = line[: to.end].casefold().endswith(" her")
        last = texts[-1] if is_her and texts[-2] == "to" else ""
        others = [name for name in (*self._scene.friends, *self._scene.persons) if name != to.name]
        return any(word and word in name.words for name in others for word in (second, last))

    def _said(self, slots: DeedSlots) -> Understanding | None:
        clause = slots.clause
        rest = slots.words[slots.match.end :]
        if rest and rest[0].text in ("to", "at"):
            to = self._spoken_to(slots)
            if to is not None:
                return self._told(slots, to)
        if slots.match.phrase != ("say",):
            return Understanding(verb="say", words=clause.worded, act=Act(words=clause.worded))
        return self._verbatim(clause)

    def _verbatim(self, clause: Clause) -> Understanding:
        """Return all that stands behind "say", word for word."""
        words = clause.line[clause.core[0].end :].strip()
        words = words[1:].lstrip() if words.startswith((":", ",")) else words
        if not words:
            return refuse(clause.text, "say what to say")
        return Understanding(verb="say", words=words, act=Act(words=words[:LONGEST_WORDS]))


def _is_run_of(texts: Sequence[str], known: str) -> bool:
    """Check that words follow each other in a name, articles aside, or that there is only one."""
    whole = [word for word in words_of(known) if word not in ("the", "a", "an")]
    return len(texts) <= 1 or any(whole[n : n + len(texts)] == [*texts] for n in range(len(whole)))


def _is_hushed(slots: DeedSlots, to: SpokenTo) -> bool:
    """Check for "quietly tell Zara …", "tell Zara quietly …": it is for her ears alone."""
    line = slots.clause.line
    before = {word.text for word in slots.clause.words if word.end <= to.end}
    return bool(before & _HUSHED) or _HUSHED_FIRST.match(line[to.end :].lstrip()) is not None


def _whispered_to_nobody(slots: DeedSlots, absent: str) -> Understanding:
    """Refuse a whisper that names nobody who is here. It is never offered as something to say aloud."""
    if absent:
        return refuse_name(slots.scene, slots.clause.text, absent, f"whisper to; type {_WHISPER}")
    words = [word for word in slots.words[slots.match.end :] if word.text not in _BEFORE_NAME]
    is_said = bool(words) and slots.clause.line[: words[0].start].endswith(_QUOTES)
    if not words or is_said or words[0].text in _BEHIND_NAME or words[0].is_mark:
        return refuse(slots.clause.text, f"say to whom: {_WHISPER}")
    noun = next((word for word in words if word.text not in word_group("article")), words[-1])
    called = slots.clause.line[words[0].start : noun.end]
    return refuse(slots.clause.text, f"there is no {called!r} here to whisper to; type {_WHISPER}")


def _name_length(slots: DeedSlots, words: Sequence[TypedWord]) -> int:
    """Return how many words come before a mark in the line: a name does not reach over it."""
    for number, word in enumerate(words[:-1], start=1):
        between = slots.clause.line[word.end : words[number].start]
        if any(mark in between for mark in ':,;.!?"\u201c'):
            return number
    return len(words)


def _best_news(news: dict[str, str], said: str) -> str:
    words = {*words_of(said)} - STOP_WORDS
    return max(news, key=lambda event: len(words & {*words_of(news[event])}))
