"""Understand a line that a player typed: a deed, speech, a question to the game, or nothing that is clear.

The line is weighed against what is really here. Speech is what is in quotation marks or plainly addressed to
somebody. What is not understood is said to be so, with the likeliest readings; nothing is guessed silently.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dndbots.events import LONGEST_LABEL
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.game_questions import find_question
from dndbots.game.input.grammar.clauses import Clause, ClauseReader, find_verbs
from dndbots.game.input.grammar.other_wordings import own_deed, word_otherwise
from dndbots.game.input.grammar.slots import DeedSlots
from dndbots.game.input.likely_deeds import read_likely
from dndbots.game.input.line_deeds import SECRET, LineDeeds, leads_to
from dndbots.game.input.meanings import NOT_DONE, REFUSED, SAID, UNCLEAR, Understanding, refuse, reword
from dndbots.game.input.talk.absent_names import find_absent_call, refuse_name
from dndbots.game.input.talk.asides import find_aside, find_aside_behind
from dndbots.game.input.talk.offer_answers import read_answer
from dndbots.game.input.talk.spoken_reader import SpokenReader
from dndbots.game.input.talk.talk_reader import SPOKEN, TalkReader, called_friend
from dndbots.game.input.vocabulary.lexicon import phrase_pattern, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    THING,
    SceneName,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord, clean_line, read_words, text_of
from dndbots.game.state.table import Table

_QUOTED: Final = re.compile(
    r"[\"\u201c\u201d\u201e\u00ab\u00bb]++[^\"\u201c\u201d\u00ab\u00bb]*[\"\u201c\u201d\u00ab\u00bb]?"
)
_SPEECH_MARKS: Final = tuple("\"'\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb\u2014")
_SENTENCES: Final = re.compile(r"[.!?\u2026]+")
_MARKS_BEHIND: Final = ' "\u201c\u201d\u00ab\u00bb'
_SAY: Final = re.compile(r"(?:i )?says?\s*[:,]\s*(?P<words>\S.*)", re.IGNORECASE | re.DOTALL)
_SAY_BARE: Final = re.compile(r"(?:i )?say\s+(?P<words>\S.*)", re.IGNORECASE | re.DOTALL)
_EMOTE: Final = re.compile(r"\*[^*]+\*")
_EMOTES: Final = re.compile(r"\*([^*]+)\*")
_CALLED_AT: Final = re.compile(r"@(?P<name>[^\W\d]\w*)[,:]? (?P<words>\S.*)", re.DOTALL)  # "@Zara run"
_SAID_TO: Final = re.compile(
    r"\*(?:[^\W\d]+ )?(?:(?:says?|speaks?|replies|answers|calls?|shouts?|adds?|turns?) )?"
    r"to (?P<name>[^*]{1,60})\*[:,]?(?P<words>[^*]+)",
    re.IGNORECASE,
)
_LONGEST_TITLE: Final = 9
_LONGEST_NAME: Final = 5
_JOINED: Final = frozenset(("and", "then", "but", "as", "while"))
_TO_YOU: Final = frozenset(("you", "your", "yours", "yourself"))
_BESIDE_SPEECH: Final = frozenset(("gesture", "approach", "perform", "handle", "shake", "knock"))
_LONGEST_REWORDED: Final = 240
# "As quietly as I can" beside a deed is no secret, if nothing is said.
_HUSHED_DEED: Final = re.compile(
    r"(?:(?!\b(?:whisper|aside|say|tell|ask|murmur|mutter|speak|hiss|breathe|mention|confide)|[:\"\u201c*]).)*",
    re.IGNORECASE | re.DOTALL,
)
_VAGUE_ATTEMPTS: Final = frozenset(("approach", "handle", "recall"))
_MOST_WORDS: Final = 120  # in which deeds are looked for; what stands behind them is still said


def understand_line(table: Table, who: str, text: str) -> Understanding:
    """Return what a line means that the player of a character typed. Nothing is recorded.

    `table` is the character's own table, so only what the character knows is found.
    """
    line = clean_line(text)
    if not line or len(line) > LONGEST_WORDS:
        too_long = f"the line has {len(line)} characters; a turn takes at most {LONGEST_WORDS}"
        return refuse("", too_long if line else "the line is empty")
    if (called := _CALLED_AT.fullmatch(line)) is not None:
        found = _understand(table, who, f"hey {called['name']}, {called['words']}")
        return replace(found if found.act is None else reword(found, line), line=line)
    own = own_deed(line)
    if own is None:
        return _understand(table, who, line)
    found = _understand(table, who, own)
    if SECRET.search(line) or found.then is not None:
        return replace(found, line=line)  # the whole line is not for the ears of all who see its first deed
    if found.verb in (UNCLEAR, REFUSED):
        return _understand(table, who, line)
    return replace(reword(found, line), line=line)


def _understand(table: Table, who: str, line: str) -> Understanding:
    scene = SceneNames(table, who, line=line)
    found = _LineReader(scene, line).read()
    if _may_be_likely(line, found):
        scene.mentioned = scene.mentioned_thing = None  # the line is read from its beginning
        found = read_likely(scene, line, found) or found
    return replace(found, line=line)


def _may_be_likely(line: str, found: Understanding) -> bool:
    """Check that a line may be read as the deed that its words make likely: nothing in it is a secret."""
    if len(line) > _LONGEST_REWORDED or (found.then is not None and found.then.verb == "whisper"):
        return False
    is_done = found.act is not None and found.then is None and found.verb not in SAID
    return SECRET.search(line) is None or (is_done and _HUSHED_DEED.fullmatch(line) is not None)


def read_by_rules(table: Table, who: str, line: str) -> Understanding:
    """Return what the rules alone make of a line."""
    return _LineReader(SceneNames(table, who, line=line), line).read()


class _LineReader:
    """Reads one line in a scene."""

    def __init__(self, scene: SceneNames, line: str) -> None:
        self._scene, self._line = scene, line
        self._talk = TalkReader(scene)
        self._clauses = ClauseReader(scene, line)
        self._deeds = LineDeeds(scene, line)

    def read(self) -> Understanding:
        aside = find_aside(self._scene, self._line) or self._read_aside_behind()
        if aside is not None:
            return aside
        found = self.read_aloud()
        return self._read_otherwise() or found if _is_weak(found) else found

    def _read_aside_behind(self) -> Understanding | None:
        """Read a deed with words behind it that only one hears; refuse it if either cannot be done."""
        behind = find_aside_behind(self._scene, self._line)
        if behind is None:
            return None
        before, aside = behind
        if aside.act is None:
            return refuse(self._line, aside.reason)
        scene = SceneNames(self._scene.table, self._scene.who, line=before)
        first = _LineReader(scene, before).read_aloud()
        if first.act is None or first.then is not None:
            return refuse(self._line, "say the secret in a line of its own: whisper NAME: WORDS")
        return replace(first, then=aside)

    def _read_otherwise(self) -> Understanding | None:
        """Read a line that is not understood in other words; None if they make no deed that is clear."""
        if SECRET.search(self._line) or len(self._line) > _LONGEST_REWORDED:
            return None
        for wording in word_otherwise(self._line):
            scene = SceneNames(self._scene.table, self._scene.who, line=self._line)
            again = _LineReader(scene, wording.text).read_aloud()
            if again.act is not None and again.verb in wording.verbs:
                return reword(again, self._line)
        return None

    def read_aloud(self) -> Understanding:
        """Read a line that is no aside."""
        line = self._line
        if _EMOTE.fullmatch(line):
            return self._read_emote()
        if _EMOTES.search(line):
            typed = _first_words(line)
            is_spoken = not line.startswith("*") and self._is_spoken(typed)  # "whisper Zara: *winks*"
            return self._read_words(typed) if is_spoken else self._read_emotes()
        said = _SAY.fullmatch(line)
        if said is not None:
            return Understanding(verb="say", words=said["words"], act=Act(words=said["words"]))
        if line.startswith(_SPEECH_MARKS) or _QUOTED.search(line):
            return self._read_quoted()
        words = self._as_me(_first_words(line))
        if len(words) > 2 and words[0].text in {"me", "i", *self._scene.me.words} and words[1].text == ":":
            spoken = Clause(line, words[2:], words[2:])  # "Throk: hello there"
            return self._talk.statement(spoken, sure=True) or self._talk.say(spoken)
        absent = find_absent_call(self._scene, line, words)
        called = refuse_name(self._scene, line, absent, "tell") if absent else None
        return called or find_question(self._scene, words) or self._read_words(words)

    def _as_me(self, words: list[TypedWord]) -> list[TypedWord]:
        """Read "he" and "his hand drops" as the character itself in a line that begins with its name."""
        me = self._scene.me.words
        words = self._without_title(words)
        own = next((n for n, word in enumerate(words) if word.text not in me), 0)
        if not own or own + 1 >= len(words):
            return words
        lexicon = verb_lexicon()
        if words[own].text in word_group("body") and lexicon.has(words[own + 1].text):
            words = [*words[:own], *words[own + 1 :]]  # "Throk's hand drops to his sword"
        elif not lexicon.has(words[own].text):
            return words
        read = words[:own]
        for number, word in enumerate(words[own:], start=own):
            behind = words[number + 1].text if number + 1 < len(words) else ""
            begins = words[number - 1].is_mark or words[number - 1].text in _JOINED
            is_me = word.text in ("he", "she", "they") and begins and lexicon.has(behind)
            is_mine = word.text in ("his", "her", "their") and self._is_mine(words[number + 1 : number + 3])
            read.append(word._replace(text="i" if is_me else "my" if is_mine else word.text))
        return read

    def _is_mine(self, named: Sequence[TypedWord]) -> bool:
        """Check for a part of the body, or something that is worn or carried."""
        own = word_group("body") | word_group("clothes") | {"gaze", "eyes", "head", "way", "voice", "mind"}
        return any(word.text in own for word in named) or self._scene.find(named[:1], (ITEM,)) is not None

    def _without_title(self, words: list[TypedWord]) -> list[TypedWord]:
        """Return "with a sigh the old mage opens" with the name of the character, if no friend is a mage."""
        me, titles = self._scene.me.words, self._scene.my_titles
        titled = next((n for n, word in enumerate(words[:_LONGEST_TITLE]) if n and word.text in titles), 0)
        verb = words[titled + 1].text if titled and titled + 1 < len(words) else ""
        start = next((n for n in range(titled) if words[n].text in ("the", "our", "my")), None)
        if start is None or not me or not verb_lexicon().has(verb) or not verb.endswith(("s", "ed")):
            return words
        return [*words[:start], words[titled]._replace(text=min(me)), *words[titled + 1 :]]

    # Quotation marks.

    def _read_emote(self) -> Understanding:
        """Read what is done between asterisks; anything else there is shown as it was typed."""
        inner = self._line.strip("* ")
        found = _LineReader(self._scene, inner).read() if inner else None
        if found is None or found.act is None or found.verb in ("say", "tell"):
            return Understanding(verb="say", words=self._line, act=Act(words=self._line))
        return reword(found, self._line)

    def _read_emotes(self) -> Understanding:
        """Read what is done between asterisks in a line; without a deed, what stands around them."""
        if any(inner.strip().casefold().startswith("whisper") for inner in _EMOTES.findall(self._line)):
            return refuse(self._line, "say to whom: whisper NAME: WORDS")
        said = _SAID_TO.fullmatch(self._line)
        if said is not None and said["words"].strip():
            told = _LineReader(self._scene, f"I say to {said['name']}: {said['words'].strip()}").read()
            return told if told.act is None else reword(told, self._line)
        around = _EMOTES.sub(" ", self._line).strip(" ,.:;-")
        self._scene.mentioned_thing = self._scene.find(read_words(around), (THING,))
        emotes = [inner.strip() for inner in _EMOTES.findall(self._line)]
        self._scene.mentioned = self._named_in(*emotes) or self._scene.mentioned
        for inner in emotes:
            found = _LineReader(self._scene, inner).read() if inner else None
            approach = "" if found is None or found.check is None else found.check.approach
            if (
                found is not None
                and found.act is not None
                and found.verb not in (*SAID, "stay")
                and not (approach in _BESIDE_SPEECH or (found.verb == "look" and found.target and around))
            ):
                return reword(found, self._line)
        found = _LineReader(self._scene, around or self._line.replace("*", " ")).read()
        if found.verb == UNCLEAR and around:
            found = self._told_near(around) or found
        return found if found.act is None else reword(found, self._line)

    def _named_in(self, *texts: str) -> SceneName | None:
        """Return who is named in what is done beside speech: they are spoken to."""
        for text in texts:
            words = read_words(text)
            starts = [n + 1 for n, word in enumerate(words) if word.text in word_group("preposition")]
            for start in (*starts, 0, 1):
                found = self._scene.find(words[start : start + _LONGEST_NAME], (PERSON, FOE, FRIEND))
                if found is not None:
                    return found
        return None

    def _told_near(self, text: str) -> Understanding | None:
        """Return words beside a deed as said to who was named in it, or is near; None if nobody is."""
        words = read_words(text)
        target = self._scene.mentioned or self._scene.speaker
        if not words or target is None:
            return None
        return self._talk.tell(Clause(text, words, words), target)

    def _read_quoted(self) -> Understanding:
        """Read speech in quotation marks, and what is done beside it."""
        line = self._line
        speech = Understanding(verb="say", words=line, act=Act(words=line))
        if not _QUOTED.search(line):
            return speech
        typed = _first_words(line)
        if not line.startswith(_SPEECH_MARKS) and self._is_spoken(typed):
            return self._read_words(typed)
        outside = _QUOTED.sub(" ", line).strip(" ,.:;-")
        speech = self._quoted_to_called(outside) or self._quoted_near(outside) or speech
        words = _first_words(outside)
        clause = ClauseReader(self._scene, outside).read(words)
        matches, spoken = find_verbs(clause)
        if not matches:
            return speech
        if matches[0].sense.name in SPOKEN:
            target = self._scene.find(clause.core[1:], (PERSON, FOE, FRIEND))
            slots = DeedSlots(self._scene, clause, matches[0], spoken)
            absent = SpokenReader(self._scene).refuse_absent(slots, target)
            return absent or (speech if target is None else self._quoted_to(target, matches[0].sense.name))
        found = LineDeeds(self._scene, outside).read(words)
        is_mostly_said = 2 * len(outside) < len(line) and found.verb in ("try", "look", "search")
        is_bare = found.verb == "try" and found.target is None and found.what is None  # "I laugh"
        if (
            found.act is None
            or found.verb in NOT_DONE
            or is_bare
            or is_mostly_said
            or leads_to(self._scene, found, speech)
        ):
            return speech
        return reword(found, line)

    def _quoted_to_called(self, outside: str) -> Understanding | None:
        """Return speech with nothing beside it as said to who is called by name in one of its sentences."""
        quoted = " ".join(_QUOTED.findall(self._line)).strip(_MARKS_BEHIND)
        for sentence in () if outside else _SENTENCES.split(quoted):
            words = read_words(sentence)
            called = ClauseReader(self._scene, sentence).read(words).addressed if words else None
            is_bare = called is not None and not called.words & {word.text for word in words}
            if called is not None and not (is_bare and _TO_YOU & {*text_of(words).split()[:1]}):
                return self._quoted_to(called, "ask" if quoted.endswith("?") else "tell")
        friend = None if outside else called_friend(self._scene, quoted)
        return None if friend is None else self._quoted_to(friend, "tell")

    def _quoted_near(self, outside: str) -> Understanding | None:
        """Return speech beside a deed as said to who is named in the deed, or is plainly asked."""
        named = self._named_in(outside)
        quoted = " ".join(_QUOTED.findall(self._line)).strip(' "\u201c\u201d')
        words = read_words(quoted)
        clause = Clause(quoted, words, words)
        is_asked = quoted.endswith("?") or bool(_TO_YOU & {word.text for word in words})
        is_social = phrase_pattern("social").match(text_of(words)) is not None
        is_alone = len(self._scene.persons) == 1 and not self._scene.friends
        is_wanted = bool({"me", "us"} & {word.text for word in words[1:3]})  # "Tell me everything"
        heard = is_asked or is_social or is_alone or is_wanted
        target = named or (self._scene.speaker if heard else None)
        called = ClauseReader(self._scene, quoted).read(words).addressed if words else None
        target = called or target
        if target is None or not outside:
            return None
        answer = read_answer(self._scene, clause) if target.kind == PERSON else None
        if answer is not None:
            return reword(answer, self._line)
        return self._quoted_to(target, "ask" if quoted.endswith("?") else "tell")

    def _is_spoken(self, words: Sequence[TypedWord]) -> bool:
        """Check for "say" or "whisper to Zara": all that follows is said, word for word."""
        matches, said = find_verbs(self._clauses.read(words))
        if not matches or matches[0].sense.name != "whisper":
            return bool(matches) and matches[0].sense.name == "say"
        behind = said[matches[0].end :]  # in 'whisper "he lies" to Zara', the name comes last
        return not behind or not self._line[: behind[0].start].endswith(_SPEECH_MARKS)

    def _quoted_to(self, target: SceneName, sense: str) -> Understanding:
        line, quoted = self._line, " ".join(_QUOTED.findall(self._line))
        verb = {FOE: Verb.PARLEY, FRIEND: Verb.SAY}.get(target.kind, Verb.TELL)
        shown = "parley" if target.kind == FOE else "tell"
        words, what = line, None
        if sense == "whisper" and target.kind != FOE:
            verb, shown, words = Verb.WHISPER, "whisper", quoted
        elif sense == "ask" and target.kind == PERSON:
            verb, shown, what = Verb.ASK, "ask", quoted.strip(' "\u201c\u201d?')[:LONGEST_LABEL] or None
        act = Act(verb=verb, target=target.key, what=what, words=words)
        return Understanding(verb=shown, target=target.label, what=what, words=words, act=act)

    def _read_words(self, words: Sequence[TypedWord]) -> Understanding:
        """Read deeds; refuse a secret that stands too far behind to be told from what is said aloud."""
        if len(words) == _MOST_WORDS and SECRET.search(self._line, words[-1].start):
            reason = f"a line of more than {_MOST_WORDS} words is too long to whisper in; whisper in another"
            return refuse(self._line, reason)
        found = self._deeds.read(words)
        said = _SAY_BARE.fullmatch(self._line) if found.verb == UNCLEAR else None
        return (
            found
            if said is None
            else Understanding(verb="say", words=said["words"], act=Act(words=said["words"]))
        )  # "say &I:0" is no deed behind "say"


def _is_weak(found: Understanding) -> bool:
    """Check that a line was not understood, or only as some attempt at nothing that is here."""
    if found.verb == UNCLEAR:
        return True
    approach = "" if found.check is None else found.check.approach
    return found.verb == "try" and found.target is None and approach in _VAGUE_ATTEMPTS


def _first_words(line: str) -> list[TypedWord]:
    """Return the words in which deeds are looked for. The last one reaches to the end of a longer line."""
    words = read_words(line)
    if len(words) <= _MOST_WORDS:
        return words
    return [*words[: _MOST_WORDS - 1], words[_MOST_WORDS - 1]._replace(end=len(line))]
