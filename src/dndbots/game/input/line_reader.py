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
from dndbots.game.input.absent_names import find_absent_call, refuse_name
from dndbots.game.input.clauses import Clause, ClauseReader, find_verbs, split_clauses
from dndbots.game.input.deeds.deed_reader import read_deed, read_hidden_deed, read_unknown_deed
from dndbots.game.input.deeds.way_finder import read_way
from dndbots.game.input.game_questions import find_question
from dndbots.game.input.meanings import META, REFUSED, UNCLEAR, Understanding, refuse
from dndbots.game.input.offer_answers import read_answer
from dndbots.game.input.readings import list_readings
from dndbots.game.input.slots import DeedSlots
from dndbots.game.input.talk_reader import SPOKEN, TalkReader
from dndbots.game.input.vocabulary.lexicon import VerbSense, phrase_pattern, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, THING, WAY, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import ENDS, TypedWord, clean_line, read_words, text_of
from dndbots.game.state.table import Table

_QUOTED: Final = re.compile(
    r"[\"\u201c\u201d\u201e\u00ab\u00bb]++[^\"\u201c\u201d\u00ab\u00bb]*[\"\u201c\u201d\u00ab\u00bb]?"
)
_SPEECH_MARKS: Final = tuple("\"'\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb\u2014")
_SAY: Final = re.compile(r"(?:i )?says?\s*[:,]\s*(?P<words>\S.*)", re.IGNORECASE | re.DOTALL)
_SECRET: Final = re.compile(r"\b(?:whisper|quietly|secret|aside)", re.IGNORECASE)
_EMOTE: Final = re.compile(r"\*[^*]+\*")
_EMOTES: Final = re.compile(r"\*([^*]+)\*")
_PROMISES: Final = re.compile(
    r"(?:\w+ )?(?:i|we) (?:will|can|shall|would(?! like| love| rather)|could|swear|promise)\b"
)
_ASKS_OTHERS: Final = ("shall we", "should we", "should i", "how about", "what if", "why do")
_MOST_CLAUSES: Final = 3
_MOST_WORDS: Final = 120  # in which deeds are looked for; what stands behind them is still said
_TALK: Final = frozenset(("tell", "ask", "parley"))
_SAID: Final = frozenset(("tell", "ask", "say", "whisper", "parley", "accept", "refuse"))
_NOT_DONE: Final = frozenset((UNCLEAR, REFUSED, META))
# Deeds that may follow behind "and" after "tell him …".
_AFTER_TALK: Final = frozenset(("go", "flee", "attack", "give", "take", "buy", "use"))
_NEAR_ME: Final = frozenset(("with", "behind", "to", "after", "for", "from", "at", "by", "near"))
# Deeds that are no promise, whatever is on offer: "I will have the soup".
_OWN_DEEDS: Final = frozenset(
    ("buy", "sell", "attack", "cast", "flee", "rest", "give", "use", "go", "look", "open")
)
_OUT_OF_GAME: Final = frozenset(("irl", "ooc", "afk", "brb", "gtg", "g2g", "wifi"))
_BEING: Final = frozenset(("come", "came", "am", "are", "live", "lived", "hail", "serve", "mean"))
_SHORTEST_INTRODUCTION: Final = 3
_STEPS: Final = frozenset(("gesture", "approach", "handle", "defend"))  # attempts that lead up to something
_WAITING: Final = frozenset(("defend", "listen", "sense", "protect"))
_PRELUDES: Final = frozenset(("handle", "leap", "heave", "swim", "shake", "approach", "climb"))
_REQUESTED: Final = frozenset(("go", "stay", "try", "look", "flee", "use"))


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

    def read(self) -> Understanding:
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
        return _in_words(found, self._line)

    def _read_emotes(self) -> Understanding:
        """Read what is done between asterisks in a line; without a deed, what stands around them."""
        around = _EMOTES.sub(" ", self._line).strip(" ,.:;-")
        self._scene.mentioned_thing = self._scene.find(read_words(around), (THING,))
        for inner in _EMOTES.findall(self._line):
            found = _LineReader(self._scene, inner.strip()).read() if inner.strip() else None
            approach = "" if found is None or found.check is None else found.check.approach
            if (
                found is not None
                and found.act is not None
                and found.verb not in _SAID
                and approach != "gesture"
            ):
                return _in_words(found, self._line)
        found = _LineReader(self._scene, around or self._line.replace("*", " ")).read()
        return found if found.act is None else _in_words(found, self._line)

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
            absent = self._talk.refuse_absent(DeedSlots(self._scene, clause, matches[0], spoken), target)
            return absent or (speech if target is None else self._quoted_to(target, matches[0].sense))
        found = _LineReader(self._scene, outside).read_clauses(words)
        is_mostly_said = 2 * len(outside) < len(line) and found.verb in ("try", "look", "search")
        is_bare = found.verb == "try" and found.target is None and found.what is None  # "I laugh"
        if (
            found.act is None
            or found.verb in _NOT_DONE
            or is_bare
            or is_mostly_said
            or self._leads_to(found, speech)
        ):
            return speech
        return _in_words(found, line)

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

    # Several clauses.

    def _read_words(self, words: Sequence[TypedWord]) -> Understanding:
        """Read deeds; refuse a secret that stands too far behind to be told from what is said aloud."""
        if len(words) == _MOST_WORDS and _SECRET.search(self._line, words[-1].start):
            reason = f"a line of more than {_MOST_WORDS} words is too long to whisper in; whisper in another"
            return refuse(self._line, reason)
        return self.read_clauses(words)

    def read_clauses(self, words: Sequence[TypedWord]) -> Understanding:
        """Return the deeds of a line: the first, with the second behind it if there is one."""
        if not text_of(words):
            return self._unclear(words)
        whole = self._clauses.read(words)
        is_deed = self._begins(whole, "give", "buy", "sell", "use", "attack", "take")
        is_price = phrase_pattern("bargain").search(text_of(words)) is not None
        haggled = None if is_deed and not is_price else self._talk.haggle(whole)
        if haggled is not None:
            return haggled
        parts = [[*words]] if whole.addressed is not None and not whole.third else split_clauses(words)
        if len(parts) > 1 and self._is_one_speech(words, parts):
            parts = [[*words]]
        read: list[Understanding] = []
        for part in parts[:_MOST_CLAUSES]:
            read.append(self._read_clause(part))
            self._mention(read[-1])
        if len(read) > 1 and self._is_remark(parts[0], read):
            second = next(found for found in read[1:] if found.verb not in _NOT_DONE)
            return replace(second, then=read[0]) if read[0].verb == "ask" else _in_words(second, whole.text)
        found = read[0] if len(read) == 1 else self._join(read, words)
        if found.then is None or len(parts) <= _MOST_CLAUSES:
            return found
        return replace(found, left=f"{found.left} {self._line[parts[_MOST_CLAUSES][0].start :]}".strip())

    def _is_remark(self, words: Sequence[TypedWord], read: Sequence[Understanding]) -> bool:
        """Check for a remark or a question to nobody before a deed: "Are they fresh? I touch one."."""
        done = [found for found in read[1:] if found.verb not in _NOT_DONE]
        if read[0].verb not in ("tell", "ask") or not done or done[0].verb in _SAID:
            return False
        clause = self._clauses.read(words)
        matches, _ = find_verbs(clause)
        is_spoken = bool(matches) and matches[0].sense.name in SPOKEN
        is_addressed = clause.addressed is not None or clause.hailed or clause.to_party
        if done[0].verb == "try" and done[0].target is None and done[0].what is None:
            return False
        return not is_spoken and not is_addressed and not {"you", "your"} & {word.text for word in words}

    def _mention(self, found: Understanding) -> None:
        """Remember who was named, for the pronouns behind it."""
        key = None if found.act is None else found.act.target
        what = None if found.act is None else found.act.what
        named = next((name for name in self._scene.beings if name.key == key), None)
        if named is None and found.verb == "stay":
            named = self._scene.find(read_words(found.words), (PERSON, FOE))
        thing = next((name for name in self._scene.things if name.key == what), None)
        if thing is None and found.verb == "ask":
            thing = self._scene.find(read_words(found.words), (THING,))
        self._scene.mentioned = named or self._scene.mentioned
        self._scene.mentioned_thing = thing or self._scene.mentioned_thing

    def _is_one_speech(self, words: Sequence[TypedWord], parts: Sequence[Sequence[TypedWord]]) -> bool:
        """Check that what follows "say" or "tell him" belongs to what is said."""
        matches, _ = find_verbs(self._clauses.read(parts[0]))
        names = {match.sense.name for match in matches if match.weight == matches[0].weight}
        name = names.pop() if len(names) == 1 else ""
        if name != "whisper" and any(self._begins(self._clauses.read(part), "whisper") for part in parts[1:]):
            return False  # a secret is no part of what all hear
        first = text_of(parts[0]).split()
        if self._scene.persons and _introduces(first) and not self._clauses.read(parts[1]).intent:
            return True
        if name != "tell":
            return name in ("say", "whisper", "shout")
        second = self._clauses.read(parts[1])
        goes_on = bool({word.text for word in words} & {"then", ".", "!"}) or bool(second.intent)
        return not goes_on and not self._begins(second, *_AFTER_TALK)

    def _begins(self, clause: Clause, *verbs: str) -> bool:
        """Check that a clause may begin with one of these deeds."""
        matches, _ = find_verbs(clause)
        return any(match.sense.verb in verbs for match in matches)

    def _join(self, read: Sequence[Understanding], words: Sequence[TypedWord]) -> Understanding:
        """Return two deeds as one line. What is unclear beside a clear deed does not count."""
        done = [found for found in read if found.verb not in _NOT_DONE]
        is_apart = any(
            word.text in ENDS for word in words[:-1]
        )  # in a sentence of its own: "I could eat a horse."
        if not done or (read[0].verb == REFUSED and not is_apart):
            refused = next((found for found in read if found.verb == REFUSED), None)
            return refused or next((found for found in read if found.verb == META), self._unclear(words))
        first = self._answer_in(done) or done[0]
        done = done[done.index(first) :]
        second = next((found for found in done[1:] if found.act != first.act), None)
        if second is None:
            # What is for somebody's ears alone must not be told to all with the rest of the line.
            worded = self._clauses.read(words).worded
            return first if _SECRET.search(self._line) else _in_words(first, worded)
        third = next((found for found in done[done.index(second) + 1 :] if found.act != second.act), None)
        merged = self._merge(first, second, words)
        if third is None or (merged is not None and third.verb in _SAID):
            return merged or replace(first, then=second)
        if merged is second:
            return replace(second, then=third)
        return replace(merged or replace(first, then=second), left=third.words)

    @staticmethod
    def _answer_in(done: Sequence[Understanding]) -> Understanding | None:
        """Return the answer to an offer behind talk: "A letter? That is easy. I am on it."."""
        answer = None
        for found in done:
            if found.verb in ("accept", "refuse"):
                answer = found
            elif found.verb not in _TALK:
                break
        return answer

    def _merge(
        self, first: Understanding, second: Understanding, words: Sequence[TypedWord]
    ) -> Understanding | None:
        """Return two parts of a line as one deed; None if they are two."""
        if first.verb == second.verb and first.verb in ("accept", "refuse"):
            return _in_words(first, Clause(self._line, [*words]).text)
        answers = first.verb in ("tell", "ask") and second.verb in ("accept", "refuse")
        enters = first.verb == "open" and second.verb == "go"  # "push open the door and walk in"
        if answers or enters or self._leads_to(first, second):
            return second
        if _SECRET.search(self._line):
            return None
        if first.verb == "use" and second.verb == "attack" and first.act and second.act:
            armed = second.act.model_copy(update={"what": second.act.what or first.act.what})
            worded = self._clauses.read(words).worded
            return _in_words(replace(second, what=second.what or first.what, act=armed), worded)
        if first.verb in _TALK and second.verb in _TALK and first.target == second.target:
            whole = Clause(self._line, [*words]).text
            return _in_words(second if second.verb == "ask" else first, whole)
        return None

    def _leads_to(self, first: Understanding, second: Understanding) -> bool:
        """Check that the first deed only leads up to the second: "walk up to him and ask"."""
        approach = "" if first.check is None else first.check.approach
        if first.verb == "look" and first.target is not None:
            return second.target == first.target and second.verb in _SAID
        if first.verb == "look":
            is_thing = first.act is not None and first.act.what in self._scene.here.sights.things
            return not is_thing and second.verb in ("ask", "tell")
        if approach == "approach":
            return second.verb in (*_SAID, "look", "take")
        if approach in _PRELUDES:
            return second.verb in _SAID or (second.verb == "attack" and first.target is None)
        second_approach = "" if second.check is None else second.check.approach
        if first.verb == "stay" and (second_approach in _WAITING or second.verb in ("look", "search", META)):
            return False  # "wait and listen"
        return first.verb == "stay" or approach == "gesture"

    # One clause.

    def _read_clause(self, words: Sequence[TypedWord]) -> Understanding:
        clause = self._clauses.read(words)
        if clause.addressed is not None and not clause.third:
            return self._read_addressed(clause)
        found = find_question(self._scene, clause.words) or self._read_plain(clause)
        return self._read_purpose(clause, found) or found or self._unclear(words)

    def _read_purpose(self, clause: Clause, found: Understanding | None) -> Understanding | None:
        """Return the deed behind "to", if what stands before it only leads up to it: "lean in to see …"."""
        if found is None:
            return None
        is_step = found.verb == "stay" or (found.check is not None and found.check.approach in _STEPS)
        if not is_step and found.verb != "look":
            return None
        words = [word for word in clause.core if not word.is_mark]
        for number in range(2, len(words) - 1):
            if words[number].text == "to" and verb_lexicon().is_plain(words[number + 1].text):
                self._mention(found)
                done = read_deed(self._scene, replace(clause, core=words[number + 1 :]))
                return (
                    done if done is not None and done.act is not None and (done.target or done.what) else None
                )
        return None

    def _read_addressed(self, clause: Clause) -> Understanding:
        found = self._talk.question(clause) if clause.core and clause.is_question else None
        return found or self._talk.statement(clause) or self._unclear(clause.words)

    def _read_plain(self, clause: Clause) -> Understanding | None:
        """Read a clause that addresses nobody by name; None if it is unclear."""
        if self._is_noise(clause):
            return None
        if not clause.core:
            return self._talk.statement(clause, sure=True)
        matches, _ = find_verbs(clause)
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

    def _read_deed(self, clause: Clause, *, has_verb: bool) -> Understanding | None:
        scene, talk = self._scene, self._talk
        wondered = talk.wondered(clause)
        if wondered is not None:
            return wondered
        offers = clause.intent.startswith(("let me", "let us")) or _PROMISES.match(text_of(clause.words))
        if offers and {"you", "your"} & set(clause.said):
            return talk.statement(clause, sure=True)  # "we will help you", with nothing on offer
        if scene.persons and clause.intent in ("", "i", "we") and _introduces(text_of(clause.words).split()):
            return talk.statement(clause, sure=True)
        is_bare = len(clause.said) == 1 and clause.said[0] in word_group("stative") | {"help"}
        if is_bare and clause.intent.split()[:1] in (["i"], ["we"]) and scene.persons:
            return talk.statement(clause, sure=True)  # "I understand"
        if not has_verb and not clause.intent:
            found = talk.statement(clause) or read_deed(scene, clause)
            return found or read_hidden_deed(scene, clause) or read_unknown_deed(scene, clause)
        found = read_deed(scene, clause) or read_answer(scene, clause) or talk.statement(clause)
        return found or read_hidden_deed(scene, clause) or read_unknown_deed(scene, clause)

    def _may_answer(self, clause: Clause, sense: VerbSense) -> bool:
        """Check that a clause with a verb may still answer an offer: "I will find your proof"."""
        if any(_is_set_phrase(name, clause) for name in ("yes", "no")):
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
        to_others = {"you", "your"} & {word.text for word in clause.words[:4]}
        if has_verb and clause.intent and not to_others and not clause.intent.startswith(_ASKS_OTHERS):
            found = read_deed(self._scene, clause)
            if found is not None and found.verb not in _NOT_DONE:
                return found
        is_yes = phrase_pattern("yes").match(text_of(clause.core)) is not None
        asks = clause.said[0] in word_group("wh") and not is_yes
        return (None if asks else read_answer(self._scene, clause)) or self._talk.question(clause)

    def _is_request(self, clause: Clause) -> bool:
        """Check for a command to somebody else: "follow me", "give us the key", "do not move"."""
        said = clause.said
        if clause.intent:
            return False
        if said[:2] == ["do", "not"]:
            return True
        matches, words = find_verbs(clause)
        if matches[0].sense.verb in ("buy", "parley"):
            return False
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

    def _unclear(self, words: Sequence[TypedWord]) -> Understanding:
        return list_readings(self._scene, self._line, [word.text for word in words if not word.is_mark])


def _first_words(line: str) -> list[TypedWord]:
    """Return the words in which deeds are looked for. The last one reaches to the end of a longer line."""
    words = read_words(line)
    if len(words) <= _MOST_WORDS:
        return words
    return [*words[: _MOST_WORDS - 1], words[_MOST_WORDS - 1]._replace(end=len(line))]


def _introduces(texts: Sequence[str]) -> bool:
    """Check for words of somebody about themselves: "we come from the south and seek …"."""
    return len(texts) > _SHORTEST_INTRODUCTION and texts[0] in ("i", "we") and texts[1] in _BEING


def _is_set_phrase(name: str, clause: Clause) -> bool:
    """Check that a clause opens with a turn of phrase of several words: "say no more"."""
    match = phrase_pattern(name).match(text_of(clause.words))
    return match is not None and " " in match.group()


def _in_words(found: Understanding, words: str) -> Understanding:
    """Return a meaning in other words: those that were typed."""
    act = None if found.act is None else found.act.model_copy(update={"words": words[:LONGEST_WORDS]})
    return replace(found, words=words, act=act)
