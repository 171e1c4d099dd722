"""Take off what stands around the point of a clause, such as "I want to", and find who is addressed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from dndbots.game.acts import LONGEST_WORDS
from dndbots.game.input.grammar.addresses import (
    AddressedName,
    find_address,
    find_bare_last,
    find_last_address,
    find_party_call,
)
from dndbots.game.input.grammar.clause_splits import skip_condition
from dndbots.game.input.vocabulary.lexicon import (
    VerbMatch,
    frame_patterns,
    phrase_pattern,
    verb_lexicon,
    word_group,
    word_lists,
)
from dndbots.game.input.vocabulary.scene_names import FRIEND, ITEM, PERSON, THING, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord, text_of

_ASKS: Final = re.compile(r"(?:can|could|may|should|shall|is it|would it|am i)\b")
_NEED_DEED: Final = frozenset(
    ("proceed to", "start to", "do", "come", "come on", "everybody", "everyone", "guys", "gang")
)
_WORD: Final = re.compile(r"\w")
_ME_OR_WE: Final = re.compile(r"(?:i|we|my character)\b")
_LONGEST_PREAMBLE: Final = 14
_LONGEST_ENDING: Final = 6
_LONGEST_CALL: Final = 2
_LONGEST_LIGHT: Final = 6
_LONGEST_STUTTER: Final = 4
_LIGHT_WEIGHT: Final = 2  # "have a" of "have a beer" is no deed of its own
_LEADS_ON: Final = frozenset(
    ("if", "that", "what", "when", "where", "who", "how", "why", "as", "before", "after", "until")
)
_SEEN: Final = re.compile(
    r"what (?:is|are)(?: \w+)? (?:in|inside|on|under|behind|beneath|written on|carved (?:on|in|into))\b"
    r"|what does (?:the|this|that|it) .*\b(?:say|look|read|contain|hold)\b"
    r"|(?:are|is) the .*\b(?:wet|full|empty|locked|open|closed|sealed|heavy|warm|cold)$"
)
_LONGEST_NOUN: Final = 4
_THINKING: Final = frozenset(("think", "guess", "reckon", "suppose", "believe", "figure"))
_BEFORE_DEED: Final = frozenset(
    ("to", "shall", "will", "should", "would", "could", "might", "may", "can", "must", "rather", "sooner")
)
_WANTS: Final = frozenset(("want", "would", "will", "am", "are", "can", "could", "should", "decide"))
_IS: Final = frozenset(("is", "are", "was", "were", "will", "would", "can", "have", "has"))
_WAITS_ON: Final = frozenset(("here", "until", "till", "and", "there", "a"))
_YOU: Final = frozenset(("you", "yours"))
_SOMEBODY: Final = frozenset(("somebody", "someone", "anybody", "anyone"))


@dataclass
class Clause:
    """A part of a line with one point. `core` is what is left of `words` once the rest is taken off."""

    line: str
    words: list[TypedWord]
    core: list[TypedWord] = field(default_factory=list)
    addressed: SceneName | None = None
    hailed: bool = False
    intent: str = ""
    third: bool = False  # written of the character in the third person
    to_party: bool = False  # called out to all friends: "gang"
    request: bool = False  # asked for permission: "can I …"

    @property
    def text(self) -> str:
        """The clause as it was typed, with the marks around it."""
        if not self.words:
            return ""
        start, end = self.words[0].start, self.words[-1].end
        start = start if _WORD.search(self.line[:start]) else 0
        end = end if _WORD.search(self.line[end:]) else len(self.line)
        typed = self.line[start:end].strip()
        typed = typed.lstrip(" ,;") if start else typed
        return typed.rstrip(" ,;") if end < len(self.line) else typed

    @property
    def worded(self) -> str:
        """The clause as a sentence of its doer, word for word: with "I" in front if it begins with a deed."""
        text = self.text
        is_added = (
            bool(self.words) and self.words[0].start == self.words[0].end
        )  # "then (go) down the stairs"
        if self.intent or not text or is_added or not self._opens_with_verb:
            return text[:LONGEST_WORDS]
        ends = "" if text.endswith((".", "!", "?", "\u2026", '"', "\u201d")) else "."
        return f"I {text[:1].lower()}{text[1:]}{ends}"[:LONGEST_WORDS]

    @property
    def _opens_with_verb(self) -> bool:
        """Check that "I" fits in front: "slowly open the door", but not "sure, we will help you"."""
        opening = word_lists().groups["opening"]
        spoken = [word.text for word in self.words if not word.is_mark]
        if spoken and spoken[0] in word_lists().groups["agreeing"]:
            return False  # "ok deal, shake on it"
        said = [word for word in spoken if word not in opening]
        first = next((text for text in said if not text.endswith("ly")), "")
        groups = word_lists().groups
        lexicon = verb_lexicon()
        return (
            bool(lexicon.match(said[said.index(first) :] if first else []))  # "beer!" is no "beer me"
            and (lexicon.is_plain(first) or not first.endswith("s"))  # "thanks, we'll be back"
            and first not in groups["auxiliary"] | groups["subject"] | groups["heading"]
        )

    @property
    def said(self) -> list[str]:
        """The words of the core, without marks."""
        return [word.text for word in self.core if not word.is_mark]

    @property
    def is_question(self) -> bool:
        """Check for a question mark at the end, or for the form of a question."""
        ended = [word for word in self.words if not word.is_adverb]
        if ended and "?" in {word.text for word in ended[-2:]}:
            return True
        groups, said = word_lists().groups, self.said
        if not said or self.intent:
            return False
        if said[0] in groups["wh"]:
            return len(said) > 1 or said[0] not in ("which", "whose")
        if said[0] == "do" and len(said) > 1 and said[1] in groups["article"]:
            return False  # "do a little dance"
        return (
            said[0] in groups["auxiliary"]
            and len(said) > 1
            and said[0] not in ("may", "might", "have", "will")
        )


class ClauseReader:
    """Takes off what stands around the point of a clause."""

    def __init__(self, scene: SceneNames, line: str) -> None:
        self._scene, self._line = scene, line

    def read(self, words: Sequence[TypedWord]) -> Clause:
        clause = Clause(self._line, [*words], self._without_stutter(words))
        self._name_self(clause)
        self._take_condition(clause)
        self._take_opening(clause)
        self._take_address(clause)
        self._take_opening(clause)
        self._take_preamble(clause)
        self._take_ending(clause)
        self._read_frame(clause)
        self._take_intent(clause)
        self._take_ending(clause)
        return clause

    @staticmethod
    def _without_stutter(words: Sequence[TypedWord]) -> list[TypedWord]:
        """Return words without a verb that is typed again and again: "hit hit hit"."""
        lexicon = verb_lexicon()
        for size in range(_LONGEST_STUTTER, 1, -1):
            texts = [word.text for word in words if not word.is_mark]
            if len(texts) >= 2 * size and texts == (texts[:size] * len(texts))[: len(texts)]:
                words = [word for word in words if not word.is_mark][:size]  # "run away run away"
        return [
            word
            for number, word in enumerate(words)
            if not number or word.text != words[number - 1].text or not lexicon.is_plain(word.text)
        ]

    def _name_self(self, clause: Clause) -> None:
        """Read "can Throk lift it?" as "can I lift it?"."""
        core = clause.core
        if len(core) < 3 or core[0].text not in word_group("auxiliary"):
            return
        length = next((n for n, word in enumerate(core[1:]) if word.text not in self._scene.me.words), 0)
        if length:
            clause.core = [core[0], core[1]._replace(text="i"), *core[1 + length :]]

    def _take_condition(self, clause: Clause) -> None:
        texts = [word.text for word in clause.core if not word.is_mark]
        rest = skip_condition(texts)
        if len(rest) < len(texts):
            plain = [word for word in clause.core if not word.is_mark]
            clause.core = plain[len(texts) - len(rest) :]

    def _take_opening(self, clause: Clause) -> None:
        """Drop marks and opening words at the beginning; the last word stays."""
        opening = word_lists().groups["opening"]
        left = sum(not word.is_mark for word in clause.core)
        dropped = 0
        for word in clause.core:
            if not word.is_mark:
                if left <= 1 or not (word.text in opening or word.is_adverb):
                    break
                if self._is_waiting(clause.core, dropped):
                    break
                left -= 1
            dropped += 1
        clause.core = clause.core[dropped:]
        interjection = phrase_pattern("interjection").match(text_of(clause.core))
        size = 0 if interjection is None else len(interjection.group().split())
        if size and size < len(clause.said) and not verb_lexicon().match(clause.said[:size]):
            self._drop(clause, size)

    @staticmethod
    def _is_waiting(core: Sequence[TypedWord], at: int) -> bool:
        """Check that "wait" is a deed: "wait for the others", "wait here"."""
        following = core[at + 1].text if len(core) > at + 1 else ""
        return core[at].text == "wait" and following in word_group("preposition") | _WAITS_ON

    def _take_preamble(self, clause: Clause) -> None:
        """Take off a reason or a manner before "I go": "since nobody looks I …", "sword in hand we …"."""
        texts = [word.text for word in clause.core if not word.is_mark]
        if clause.addressed is not None or not texts or texts[0] not in word_group("preamble"):
            return
        if clause.words[-1].text == "?" or (texts[1:2] and texts[1] in word_group("auxiliary")):
            return
        lexicon = verb_lexicon()
        for number in range(2, min(len(texts) - 1, _LONGEST_PREAMBLE)):
            is_me = texts[number] in ("i", "we") or texts[number] in self._scene.me.words
            if is_me and texts[number - 1] not in _LEADS_ON:
                follows = [text for text in texts[number + 1 :] if not TypedWord(text, 0, 0).is_adverb]
                is_whole = len(follows) > 1 or follows[:1] not in (["go"], ["head"])  # "to the inn we go"
                if follows and is_whole and (lexicon.has(follows[0]) or follows[0] in _WANTS):
                    means = [word for word in clause.core if not word.is_mark][:number]
                    self._drop(clause, number)
                    if (
                        means[0].text in ("with", "using")
                        and self._scene.find(means[1:], (ITEM,)) is not None
                    ):
                        self._take_ending(clause)
                        clause.core = [*clause.core, *means]  # "with my sword I strike him"
                return

    def _read_frame(self, clause: Clause) -> None:
        """Read "do I see any …" as the deed that it asks for."""
        core = [word for word in clause.core if not word.is_mark]
        to_you = bool(_YOU & {word.text for word in core})
        if not core or (to_you and self._scene.host is None) or (clause.addressed is not None and not to_you):
            return
        company = "with_host" if self._scene.host else "" if self._scene.persons else "alone"
        company = "alone" if clause.addressed is None and self._asks_of_thing(core) else company
        text = text_of(core)
        against = frame_patterns()["with_foes"] if self._scene.foes else ()
        always = () if to_you else frame_patterns()["always"]
        for frame in (*always, *against, *frame_patterns().get(company, ())):
            match = frame.pattern.match(text)
            if match is not None and (match.group() or not verb_lexicon().is_plain(core[0].text)):
                replaced = len(match.group().split())
                start, end = core[0].start, core[replaced - 1].end if replaced else core[0].start
                deed = [TypedWord(word, start, end) for word in frame.becomes]
                clause.core = [*deed, *core[replaced:]]
                clause.intent = "frame"
                return

    def _asks_of_thing(self, core: Sequence[TypedWord]) -> bool:
        """Check for a question that a look answers: "what is written on the notice?"."""
        if not _SEEN.match(text_of(core)):
            return False
        texts = [word.text for word in core]
        behind = (
            2
            if texts[1] == "does"
            else next((n + 1 for n, text in enumerate(texts) if text in word_group("preposition")), 1)
        )
        if "about" in texts:
            return False  # "what does the healer say about this"
        return self._scene.find(core[behind : behind + _LONGEST_NOUN], (THING, ITEM)) is not None

    # Who is addressed.

    def _take_address(self, clause: Clause) -> None:
        core = clause.core
        polite = phrase_pattern("polite").match(text_of(core))
        if polite is not None:
            clause.hailed = True
            self._drop(clause, len(polite.group().split()))
            core = clause.core
        hailing = word_lists().groups["hailing"]
        start = 0
        if core and core[0].text in hailing and not self._is_deed_hail(core):
            start = 1
            clause.hailed = True
        rest = core[start:]
        while rest and rest[0].is_mark:
            rest = rest[1:]
        found = find_address(self._scene, rest, hailed=clause.hailed)
        if found is not None:
            clause.addressed, clause.core = found.name, [*rest[found.length :]]
        elif start:
            clause.core = [*rest]
        if clause.addressed is None:
            self._take_last_address(clause)
        is_among_us = bool(self._scene.friends) and clause.addressed is None and clause.is_question
        if is_among_us and phrase_pattern("party").search(text_of(clause.words)):
            clause.to_party = True

    def _is_deed_hail(self, core: Sequence[TypedWord]) -> bool:
        """Check that "say", "listen" or "look" at the beginning is a deed: no mark follows it."""
        if core[0].text == "excuse":
            return len(core) > 1 and core[1].text in ("myself", "ourselves")
        is_called = len(core) > 1 and core[1].text in (",", "!") and core[1].start == core[0].end
        return core[0].text in ("say", "listen", "look", "hail") and not is_called

    def _take_last_address(self, clause: Clause) -> None:
        """Take off a name at the end behind a comma: "bless you, my son"."""
        words = [*clause.core]
        while words and words[-1].is_mark:
            words.pop()
        spoken = verb_lexicon().match([word.text for word in words if not word.is_mark])
        if spoken and spoken[0].sense.name in ("say", "whisper", "tell", "ask"):
            return  # what is behind it is said
        found = find_last_address(self._scene, words) or self._called_behind(words)
        found = found or find_bare_last(self._scene, words, is_question=clause.is_question)
        party = find_party_call(words) if found is None else None
        if found is not None:
            clause.addressed, clause.core = found.name, words[: found.length]
        elif party is not None:
            clause.to_party, clause.core = True, words[:party]
        elif len(words) > 1 and words[0].text in _SOMEBODY and verb_lexicon().is_plain(words[1].text):
            clause.to_party = True  # "somebody help Quillon"

    def _called_behind(self, words: Sequence[TypedWord]) -> AddressedName | None:
        """Return who is called behind a few words, without a comma: "shut up Wymond"."""
        called = phrase_pattern("call").match(text_of(words))
        size = 0 if called is None else len(called.group().split())
        if not size or size >= len(words) or any(word.is_mark for word in words):
            return None
        name = words[size:]
        found = self._scene.find(name, (FRIEND, PERSON)) if len(name) <= _LONGEST_CALL else None
        return None if found is None or name[-1].text not in found.words else AddressedName(found, size)

    # Who does it.

    def _take_intent(self, clause: Clause) -> None:
        """Take off "I want to", "let us", "can I" before a deed."""
        if clause.to_party:
            return
        self._take_third_person(clause)
        while (intent := self._intent(clause)) is not None:
            clause.intent = clause.intent or intent
            clause.request = clause.request or _ASKS.match(intent) is not None
            self._drop(clause, len(intent.split()))
            self._take_opening(clause)

    def _intent(self, clause: Clause) -> str | None:
        """Return the words before a deed that say that it is wanted; None if there are none."""
        texts = clause.said
        match = phrase_pattern("intent").match(" ".join(texts))
        intent = "" if match is None else match.group()
        rest = texts[len(intent.split()) :]
        needs_deed = _ME_OR_WE.match(intent) is not None or intent in _NEED_DEED
        if not intent or not rest or (needs_deed and not self._is_deed(rest)):
            return self._attitude(texts)
        return intent

    def _attitude(self, texts: Sequence[str]) -> str | None:
        """Return the words of attitude before a deed: "I believe I shall"; None if there are none."""
        is_thought = texts[:1] and texts[0] in _THINKING and texts[1:2] in (["i"], ["we"])
        if (
            not is_thought
            and texts[:1] not in (["i"], ["we"])
            and texts[:2] not in (["allow", "me"], ["permit", "me"])
        ):
            return None
        plain = word_group("attitude")
        length = next((n for n, text in enumerate(texts) if text not in plain), len(texts))
        is_told = length > 2 and texts[length - 1] in _BEFORE_DEED and length < len(texts)
        if not is_told or "not" in texts[:length] or not verb_lexicon().is_plain(texts[length]):
            return None
        return " ".join(texts[:length])

    def _is_deed(self, rest: Sequence[str]) -> bool:
        opening = word_lists().groups["opening"]
        words = [word for word in rest if word not in opening and not TypedWord(word, 0, 0).is_adverb]
        words = words or [*rest[-1:]]
        lexicon = verb_lexicon()
        return (
            lexicon.has(words[0])
            or phrase_pattern("intent").match(" ".join(words)) is not None
            or (lexicon.correct(words[0]) is not None and not self._is_name(words[0]))
        )

    def _is_name(self, word: str) -> bool:
        return any(word in name.words for name in self._scene.beings)

    def _take_third_person(self, clause: Clause) -> None:
        """Read "Throk opens the chest" of the character itself."""
        me = self._scene.me
        words = clause.core
        length = 0
        while length < len(words) and words[length].text in me.words:
            length += 1
        if not length or length >= len(words) or clause.addressed is not None:
            return
        following = words[length].text
        if verb_lexicon().has(following) or following in ("will", "wants", "tries", "would", "is", "then"):
            clause.third = True
            clause.intent = "third"
            self._drop(clause, length)
            if clause.said and clause.said[0] in ("will", "wants", "tries", "would", "then"):
                self._drop(clause, 1)
                if clause.said and clause.said[0] == "to":
                    self._drop(clause, 1)

    def _drop(self, clause: Clause, count: int) -> None:
        """Drop a number of words, and the marks between them."""
        core = clause.core
        while count and core:
            if not core[0].is_mark:
                count -= 1
            core = core[1:]
        while core and core[0].is_mark:
            core = core[1:]
        clause.core = core

    def _take_ending(self, clause: Clause) -> None:
        """Drop polite words and marks at the end."""
        core = clause.core
        while core and (size := self._ending_size(core)):
            core = core[:-size]
        clause.core = core or clause.core

    @staticmethod
    def _ending_size(core: Sequence[TypedWord]) -> int:
        """Return how many words or marks at the end add nothing."""
        if core[-1].is_mark:
            return 1
        tail = [word.text for word in core[-_LONGEST_ENDING:]]
        ending = phrase_pattern("ending")
        sizes = (size for size in range(len(tail), 0, -1) if ending.fullmatch(" ".join(tail[-size:])))
        size = next(sizes, 0)
        return size if size < len(core) else 0


def _without_light_verb(words: Sequence[TypedWord]) -> list[TypedWord] | None:
    """Return "have a whiff of it" as "whiff of it", and "give him a shove" as "shove him"; else None."""
    groups = word_lists().groups
    if verb_lexicon().base_of(words[0].text) not in groups["light_verb"]:
        return None
    for article in range(1, min(len(words) - 1, _LONGEST_LIGHT)):
        if words[article].text in ("a", "an", "another", "one"):
            nouns = range(article + 1, min(article + 4, len(words)))
            noun = next((n for n in nouns if words[n].text in groups["deverbal"]), None)
            between = words[2:article] if words[1].text == "to" else words[1:article]
            return None if noun is None else [words[noun], *between, *words[noun + 1 :]]
    return None


def find_verbs(clause: Clause) -> tuple[list[VerbMatch], list[TypedWord]]:
    """Return the verb phrases that a clause begins with, and the words they were found in."""
    lexicon = verb_lexicon()
    words = [word for word in clause.core if not word.is_mark and not word.is_adverb]
    texts = [word.text for word in words]
    if not texts:
        return [], words
    if len(texts) > 1 and texts[0].endswith("s") and texts[1] in _IS and not clause.third:
        return [], words  # "drinks are on me"
    found = lexicon.match(texts)
    if not found or found[0].weight <= _LIGHT_WEIGHT:
        plain = _without_light_verb(words)
        is_whole = bool(found) and plain is not None and plain[0].text in found[0].phrase
        if plain is not None and not is_whole and (matches := lexicon.match([word.text for word in plain])):
            return matches, plain
    if not found and (corrected := lexicon.correct(texts[0])) is not None:
        found = lexicon.match([corrected, *texts[1:]])
    return found, words
