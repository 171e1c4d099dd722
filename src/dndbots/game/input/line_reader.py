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
from dndbots.game.input.grammar.slots import DeedSlots
from dndbots.game.input.line_deeds import SECRET, LineDeeds, leads_to
from dndbots.game.input.meanings import NOT_DONE, SAID, Understanding, refuse, reword
from dndbots.game.input.talk.absent_names import find_absent_call, refuse_name
from dndbots.game.input.talk.asides import find_aside
from dndbots.game.input.talk.spoken_reader import SpokenReader
from dndbots.game.input.talk.talk_reader import SPOKEN, TalkReader
from dndbots.game.input.vocabulary.lexicon import VerbSense
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, THING, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord, clean_line, read_words
from dndbots.game.state.table import Table

_QUOTED: Final = re.compile(
    r"[\"\u201c\u201d\u201e\u00ab\u00bb]++[^\"\u201c\u201d\u00ab\u00bb]*[\"\u201c\u201d\u00ab\u00bb]?"
)
_SPEECH_MARKS: Final = tuple("\"'\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb\u2014")
_SAY: Final = re.compile(r"(?:i )?says?\s*[:,]\s*(?P<words>\S.*)", re.IGNORECASE | re.DOTALL)
_EMOTE: Final = re.compile(r"\*[^*]+\*")
_EMOTES: Final = re.compile(r"\*([^*]+)\*")
_SAID_TO: Final = re.compile(
    r"\*(?:[^\W\d]+ )?(?:(?:says?|speaks?|replies|answers|calls?|shouts?|adds?|turns?) )?"
    r"to (?P<name>[^*]{1,60})\*[:,]?(?P<words>[^*]+)",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 120  # in which deeds are looked for; what stands behind them is still said


def understand_line(table: Table, who: str, text: str) -> Understanding:
    """Return what a line means that the player of a character typed. Nothing is recorded.

    `table` is the character's own table, so only what the character knows is found.
    """
    line = clean_line(text)
    if not line:
        return refuse("", "the line is empty")
    if len(line) > LONGEST_WORDS:
        reason = f"the line has {len(line)} characters; a turn takes at most {LONGEST_WORDS}"
        return refuse("", reason)
    return replace(_LineReader(SceneNames(table, who), line).read(), line=line)


class _LineReader:
    """Reads one line in a scene."""

    def __init__(self, scene: SceneNames, line: str) -> None:
        self._scene, self._line = scene, line
        self._talk = TalkReader(scene)
        self._clauses = ClauseReader(scene, line)
        self._deeds = LineDeeds(scene, line)

    def read(self) -> Understanding:
        return find_aside(self._scene, self._line) or self._read_aloud()

    def _read_aloud(self) -> Understanding:
        """Read a line that is no aside."""
        line = self._line
        if _EMOTE.fullmatch(line):
            return self._read_emote()
        if _EMOTES.search(line):
            return self._read_emotes()
        said = _SAY.fullmatch(line)
        if said is not None:
            return Understanding(verb="say", words=said["words"], act=Act(words=said["words"]))
        if line.startswith(_SPEECH_MARKS) or _QUOTED.search(line):
            return self._read_quoted()
        words = _first_words(line)
        if len(words) > 2 and words[0].text in {"me", "i", *self._scene.me.words} and words[1].text == ":":
            spoken = Clause(line, words[2:], words[2:])  # "Throk: hello there"
            return self._talk.statement(spoken, sure=True) or self._talk.say(spoken)
        absent = find_absent_call(self._scene, line, words)
        called = refuse_name(self._scene, line, absent, "tell") if absent else None
        return called or find_question(self._scene, words) or self._read_words(words)

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
        for inner in _EMOTES.findall(self._line):
            found = _LineReader(self._scene, inner.strip()).read() if inner.strip() else None
            approach = "" if found is None or found.check is None else found.check.approach
            if (
                found is not None
                and found.act is not None
                and found.verb not in SAID
                and approach != "gesture"
            ):
                return reword(found, self._line)
        found = _LineReader(self._scene, around or self._line.replace("*", " ")).read()
        return found if found.act is None else reword(found, self._line)

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
        words = _first_words(outside)
        clause = ClauseReader(self._scene, outside).read(words)
        matches, spoken = find_verbs(clause)
        if not matches:
            return speech
        if matches[0].sense.name in SPOKEN:
            target = self._scene.find(clause.core[1:], (PERSON, FOE, FRIEND))
            slots = DeedSlots(self._scene, clause, matches[0], spoken)
            absent = SpokenReader(self._scene).refuse_absent(slots, target)
            return absent or (speech if target is None else self._quoted_to(target, matches[0].sense))
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

    def _is_spoken(self, words: Sequence[TypedWord]) -> bool:
        """Check for "say" or "whisper to Zara": all that follows is said, word for word."""
        matches, said = find_verbs(self._clauses.read(words))
        if not matches or matches[0].sense.name != "whisper":
            return bool(matches) and matches[0].sense.name == "say"
        behind = said[matches[0].end :]  # in 'whisper "he lies" to Zara', the name comes last
        return not behind or not self._line[: behind[0].start].endswith(_SPEECH_MARKS)

    def _quoted_to(self, target: SceneName, sense: VerbSense) -> Understanding:
        line, quoted = self._line, " ".join(_QUOTED.findall(self._line))
        verb = {FOE: Verb.PARLEY, FRIEND: Verb.SAY}.get(target.kind, Verb.TELL)
        shown = "parley" if target.kind == FOE else "tell"
        words, what = line, None
        if sense.name == "whisper" and target.kind != FOE:
            verb, shown, words = Verb.WHISPER, "whisper", quoted
        elif sense.name == "ask" and target.kind == PERSON:
            verb, shown, what = Verb.ASK, "ask", quoted.strip(' "\u201c\u201d?')[:LONGEST_LABEL] or None
        act = Act(verb=verb, target=target.key, what=what, words=words)
        return Understanding(verb=shown, target=target.label, what=what, words=words, act=act)

    def _read_words(self, words: Sequence[TypedWord]) -> Understanding:
        """Read deeds; refuse a secret that stands too far behind to be told from what is said aloud."""
        if len(words) == _MOST_WORDS and SECRET.search(self._line, words[-1].start):
            reason = f"a line of more than {_MOST_WORDS} words is too long to whisper in; whisper in another"
            return refuse(self._line, reason)
        return self._deeds.read(words)


def _first_words(line: str) -> list[TypedWord]:
    """Return the words in which deeds are looked for. The last one reaches to the end of a longer line."""
    words = read_words(line)
    if len(words) <= _MOST_WORDS:
        return words
    return [*words[: _MOST_WORDS - 1], words[_MOST_WORDS - 1]._replace(end=len(line))]
