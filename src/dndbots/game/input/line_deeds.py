"""Read the deeds of a typed line in order: where it is split, which belong together, which only lead on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dndbots.game.input.grammar.clause_splits import split_clauses
from dndbots.game.input.grammar.clauses import Clause, ClauseReader, find_verbs
from dndbots.game.input.meanings import META, NOT_DONE, REFUSED, SAID, Understanding, reword
from dndbots.game.input.point_reader import PointReader, introduces
from dndbots.game.input.talk.absent_names import GIVE_TO, find_absent_taker, refuse_name
from dndbots.game.input.talk.offer_answers import is_excuse, is_handshake, read_answer
from dndbots.game.input.talk.talk_reader import SPOKEN, TalkReader
from dndbots.game.input.vocabulary.lexicon import phrase_pattern, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import SceneNames
from dndbots.game.input.vocabulary.typed_words import ENDS, TypedWord, text_of

_EXCUSES: Final = re.compile(r"(?:i )?(?:sorry|wait|hold on|ok|okay|um|uh|pause|hang on|oops|well)\b")
SECRET: Final = re.compile(r"\b(?:whisper|quietly|secret|aside)", re.IGNORECASE)
_MOST_CLAUSES: Final = 3
_TALK: Final = frozenset(("tell", "ask", "parley"))
# Deeds that may follow behind "and" after "tell him …".
_AFTER_TALK: Final = frozenset(("go", "flee", "attack", "give", "take", "buy", "use"))
_WAITING: Final = frozenset(("defend", "listen", "sense", "protect"))
_BODILY: Final = frozenset(("heave", "handle", "gesture", "leap", "shake", "climb", "craft"))
_BEHIND_APPROACH: Final = frozenset(
    (*SAID, "look", "take", "bind", "try", "give", "use", "attack", "open", "cast", "search")
)
_SHOPS: Final = frozenset(("inn", "tavern", "bar", "taproom", "alehouse", "shop", "store", "market", "stall"))
_SHORTEST_SPEECH: Final = 3
_PRELUDES: Final = frozenset(("handle", "leap", "heave", "swim", "shake", "approach", "climb"))


class LineDeeds:
    """Reads all deeds of a line in a scene."""

    def __init__(self, scene: SceneNames, line: str) -> None:
        self._scene, self._line = scene, line
        self._talk = TalkReader(scene)
        self._clauses = ClauseReader(scene, line)
        self._points = PointReader(scene, line)

    def read(self, words: Sequence[TypedWord]) -> Understanding:
        """Return the deeds of a line: the first, with the second behind it if there is one."""
        if not text_of(words):
            return self._points.unclear(words)
        whole = self._clauses.read(words)
        is_deed = self._begins(whole, "give", "buy", "sell", "use", "attack", "take")
        is_price = phrase_pattern("bargain").search(text_of(words)) is not None
        is_secret = self._begins(whole, "whisper") or SECRET.search(self._line) is not None
        absent = find_absent_taker(self._scene, self._line, words) if words[0].text.isdigit() else ""
        if absent:
            return refuse_name(self._scene, self._line, absent, GIVE_TO)  # "5 gold to Wymond"
        haggled = None if is_secret or (is_deed and not is_price) else self._talk.haggle(whole)
        if haggled is not None:
            return haggled
        is_told = whole.addressed is not None and not whole.third
        parts = _split_behind_call(words) if is_told else split_clauses(words)
        if len(parts) > 1 and self._scene.offers and self._answers_at_length(whole, parts):
            answer = read_answer(self._scene, whole)
            if answer is not None:
                return answer
        if len(parts) > 1 and self._is_one_speech(words, parts):
            parts = [[*words]]
        read: list[Understanding] = []
        for part in parts[:_MOST_CLAUSES]:
            read.append(self._points.read(part))
            self._points.mention(read[-1], part)
        if len(read) > 1 and self._is_remark(parts[0], read):
            second = next(found for found in read[1:] if found.verb not in NOT_DONE)
            return replace(second, then=read[0]) if read[0].verb == "ask" else reword(second, whole.text)
        found = read[0] if len(read) == 1 else self._join(read, words)
        if found.then is not None and len(parts) > _MOST_CLAUSES:
            untold = self._line[parts[_MOST_CLAUSES][0].start :]
            found = replace(found, left=f"{found.left} {untold}".strip())
        return self._in_order(found)

    def _in_order(self, found: Understanding) -> Understanding:
        """Return the deeds of "let's get a drink, I head into the inn" in the order that is meant."""
        then = found.then
        if then is None or found.verb != "buy" or then.verb != "go" or self._scene.host is not None:
            return found
        is_shop = not _SHOPS.isdisjoint((then.what or "").split())
        return replace(then, left=f"{found.words} {found.left}".strip()) if is_shop else found

    def _answers_at_length(self, whole: Clause, parts: Sequence[Sequence[TypedWord]]) -> bool:
        """Check for an answer that only the whole of a line gives: "I take his hand and shake it"."""
        in_part = any(is_handshake(self._clauses.read(part)) for part in parts)
        return is_excuse(whole) or (is_handshake(whole) and not in_part)

    def _is_remark(self, words: Sequence[TypedWord], read: Sequence[Understanding]) -> bool:
        """Check for a remark or a question to nobody before a deed: "Are they fresh? I touch one."."""
        done = [found for found in read[1:] if found.verb not in NOT_DONE]
        if read[0].verb not in ("tell", "ask") or not done or done[0].verb in SAID:
            return False
        clause = self._clauses.read(words)
        matches, _ = find_verbs(clause)
        is_spoken = bool(matches) and matches[0].sense.name in SPOKEN
        is_addressed = clause.addressed is not None or clause.hailed or clause.to_party
        if done[0].verb == "try" and done[0].target is None and done[0].what is None:
            return False
        return not is_spoken and not is_addressed and not {"you", "your"} & {word.text for word in words}

    def _is_one_speech(self, words: Sequence[TypedWord], parts: Sequence[Sequence[TypedWord]]) -> bool:
        """Check that what follows "say" or "tell him" belongs to what is said."""
        matches, _ = find_verbs(self._clauses.read(parts[0]))
        names = {match.sense.name for match in matches if match.weight == matches[0].weight}
        name = names.pop() if len(names) == 1 else ""
        if name != "whisper" and any(self._begins(self._clauses.read(part), "whisper") for part in parts[1:]):
            return False  # a secret is no part of what all hear
        first = text_of(parts[0]).split()
        if self._scene.persons and introduces(first) and not self._clauses.read(parts[1]).intent:
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
        done = [found for found in read if found.verb not in NOT_DONE]
        is_apart = any(
            word.text in ENDS for word in words[:-1]
        )  # in a sentence of its own: "I could eat a horse."
        if not done or (read[0].verb == REFUSED and not is_apart):
            refused = next((found for found in read if found.verb == REFUSED), None)
            return refused or next(
                (found for found in read if found.verb == META), self._points.unclear(words)
            )
        asked = next((found for found in read if found.verb == META), None)
        if asked is not None and self._is_aside(done, asked, read):
            return asked  # "Pause. What time is it?"
        answer = self._answer_in(done)
        done = done if answer is None else done[done.index(answer) :]
        first = done[0] if answer is None else self._with_words_before(answer)
        second = next((found for found in done[1:] if found.act != first.act), None)
        if second is None:
            # What is for somebody's ears alone must not be told to all with the rest of the line.
            worded = self._clauses.read(words).worded
            return first if SECRET.search(self._line) else reword(first, worded)
        third = next((found for found in done[done.index(second) + 1 :] if found.act != second.act), None)
        return self._in_one(first, second, third, words)

    def _in_one(
        self,
        first: Understanding,
        second: Understanding,
        third: Understanding | None,
        words: Sequence[TypedWord],
    ) -> Understanding:
        """Return the deeds of a line as one: two that are done, and the words of a third."""
        merged = self._merge(first, second, words)
        if merged is second and second.verb in SAID and SECRET.search(self._line) is None:
            whole = Clause(self._line, [*words]).text  # nothing of what was typed before it is lost
            return replace(reword(second, whole), then=None if third is None or third.verb in SAID else third)
        if third is None or (merged is not None and third.verb in SAID):
            return merged or replace(first, then=second)
        if merged is second:
            return replace(second, then=third)
        return replace(merged or replace(first, then=second), left=third.words)

    def _with_words_before(self, answer: Understanding) -> Understanding:
        """Return an answer with all that was said before it: "sure, we'll wake your boss"."""
        before, said, _ = self._line.partition(answer.words)
        return answer if SECRET.search(self._line) else reword(answer, f"{before}{said}")

    @staticmethod
    def _is_aside(done: Sequence[Understanding], asked: Understanding, read: Sequence[Understanding]) -> bool:
        """Check that all that stands before a question to the game only leads up to it."""
        said = [found for found in read if found is not asked]
        is_last = read[-1] is asked
        is_small = all(found.verb == "stay" or _EXCUSES.match(found.words.casefold()) for found in said)
        return is_last and is_small and bool(done)

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

    def _with_means(
        self, first: Understanding, second: Understanding, words: Sequence[TypedWord]
    ) -> Understanding | None:
        """Return a deed that is done with what is taken in hand before it; None if they are two."""
        if second.verb == "try" and second.target is not None:
            return second  # "draw a dagger and put it to her throat"
        if second.verb != "attack" or first.act is None or second.act is None:
            return None
        armed = second.act.model_copy(update={"what": second.act.what or first.act.what})
        worded = self._clauses.read(words).worded
        return reword(replace(second, what=second.what or first.what, act=armed), worded)

    @staticmethod
    def _readies(found: Understanding) -> bool:
        """Check that something is only taken in hand: "draw my dagger"."""
        attempt = None if found.act is None else found.act.attempt
        return found.verb == "use" and attempt is not None and attempt.approach in ("draw", "use", "show")

    def _merge(
        self, first: Understanding, second: Understanding, words: Sequence[TypedWord]
    ) -> Understanding | None:
        """Return two parts of a line as one deed; None if they are two."""
        if first.verb == second.verb and first.verb in ("accept", "refuse"):
            return reword(first, Clause(self._line, [*words]).text)
        answers = first.verb in ("tell", "ask") and second.verb in ("accept", "refuse")
        enters = first.verb == "open" and second.verb == "go"  # "push open the door and walk in"
        if answers or enters or leads_to(self._scene, first, second):
            return second
        if SECRET.search(self._line):
            return None
        if self._readies(first) and second.act is not None:
            return self._with_means(first, second, words)
        if first.verb in _TALK and second.verb in _TALK and first.target == second.target:
            whole = Clause(self._line, [*words]).text
            return reword(second if second.verb == "ask" else first, whole)
        return None


def _split_behind_call(words: Sequence[TypedWord]) -> list[list[TypedWord]]:
    """Split what is said to somebody from a deed of one's own behind it: "Throk, go left. I shoot it."."""
    no_deed = word_group("stative") | word_group("auxiliary")
    for at in range(1, len(words) - 2):
        is_own = words[at].text in ENDS and words[at + 1].text == "i"
        verb = words[at + 2].text
        if is_own and verb_lexicon().is_plain(verb) and verb not in no_deed:
            return [[*words[: at + 1]], *split_clauses(words[at + 1 :])]
    return [[*words]]


def leads_to(scene: SceneNames, first: Understanding, second: Understanding) -> bool:
    """Check that the first deed only leads up to the second: "walk up to him and ask"."""
    if first.verb == "tell":
        is_friend = any(friend.label == first.target for friend in scene.friends)
        return is_friend and len(first.words.split()) < _SHORTEST_SPEECH  # "Come, Zara, let us go"
    if first.verb == "look":
        return _look_leads_to(scene, first, second)
    if first.verb == "stay":
        waits = "" if second.check is None else second.check.approach
        return waits not in _WAITING and second.verb not in ("look", "search", META)  # "wait and listen"
    return _motion_leads_to(first, second)


def _look_leads_to(scene: SceneNames, first: Understanding, second: Understanding) -> bool:
    if first.target is not None:
        return second.target == first.target and second.verb in SAID
    is_thing = first.act is not None and first.act.what in scene.here.sights.things
    return not is_thing and second.verb in ("ask", "tell")


def _motion_leads_to(first: Understanding, second: Understanding) -> bool:
    approach = "" if first.check is None else first.check.approach
    is_at_nobody = first.act is None or not first.act.what
    leads = approach == "gesture"
    if approach == "approach":
        leads = second.verb in _BEHIND_APPROACH
    elif approach in _BODILY and first.target is not None and second.verb in SAID:
        leads = second.target == first.target
    elif _is_bare_motion(first):
        leads = second.verb not in ("stay", *NOT_DONE)  # "Throk turns and trudges up the path"
    elif approach == "scare" and is_at_nobody and second.verb == "attack":
        leads = True  # "roar and swing"
    elif approach in _PRELUDES:
        leads = second.verb in SAID or (second.verb == "attack" and first.target is None)
    return leads


def _is_bare_motion(found: Understanding) -> bool:
    """Check for a motion of one's own body or clothes, done to nobody: "turn", "draw my cloak about me"."""
    approach = "" if found.check is None else found.check.approach
    if approach not in _BODILY or found.target is not None:
        return False
    own = word_group("clothes") | word_group("body")
    return not found.what or all(word in own or word in word_group("plain") for word in found.what.split())
