"""Questions to the game, which it answers at once from what the character knows. No round is spent."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import Final

from dndbots.game.input.meanings import META, Understanding
from dndbots.game.input.vocabulary.lexicon import (
    GamePattern,
    game_patterns,
    phrase_pattern,
    word_group,
    word_lists,
)
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, ITEM, PERSON, SELF, SceneNames
from dndbots.game.input.vocabulary.typed_words import ENDS, TypedWord

_EXPLETIVE: Final = re.compile(
    r"\b(what|where|who|why|how|when) (?:the actual|the|in the|on|in) (?:\w+ )?"
    r"(?:hell|heck|fuck|fucking|world|earth|shit|devil|blazes|deuce)\b"
)
_MOST_WORDS: Final = 24
_MOST_LINES: Final = 6
_ABOUT: Final = "about"
_TERMS: Final = frozenset(("reward", "rewards", "pay", "paid", "deal", "offer", "job", "task"))
_NOT_TO_THE_GAME: Final = frozenset(("you", "your"))
_MECHANICS: Final = "mechanics"
_RULES: Final = "rules"
_ROLLS: Final = frozenset(("roll", "dice", "rules", "raw", "dc", "rolls"))


def find_question(scene: SceneNames, words: Sequence[TypedWord]) -> Understanding | None:
    """Return a question to the game; None if a line is none. Several are answered if all are to the game."""
    parts = _split_questions(words)
    found = [_find_question(scene, part) for part in parts] if len(parts) > 1 else []
    asked = [one for one in found if one is not None]
    if asked and len(asked) == len(found):
        return reduce(lambda then, one: one if _is_same(one, then) else replace(one, then=then), asked[::-1])
    second = next((n for n in range(2, len(words) - 1) if _begins_question(words, n)), None)
    return _find_question(scene, words) or (None if second is None else _find_question(scene, words[:second]))


def _split_questions(words: Sequence[TypedWord]) -> list[Sequence[TypedWord]]:
    """Split a line behind its sentences, and where a question follows "and"."""
    parts: list[Sequence[TypedWord]] = []
    start = 0
    for at in range(1, len(words) - 1):
        if words[at].text in ENDS and not words[at + 1].is_mark:
            parts.append(words[start : at + 1])
            start = at + 1
        elif _begins_question(words, at):
            parts.append(words[start:at])
            start = at + 1
    return [part for part in (*parts, words[start:]) if part]


def _is_same(one: Understanding, other: Understanding) -> bool:
    return (one.question, one.what) == (other.question, other.what)


def _begins_question(words: Sequence[TypedWord], at: int) -> bool:
    return words[at].text in ("and", "or", ",") and words[at + 1].text in word_group("wh")


def _find_question(scene: SceneNames, words: Sequence[TypedWord]) -> Understanding | None:
    plain = [word for word in words if not word.is_mark]
    if not plain or len(plain) > _MOST_WORDS:
        return None
    whole = _in_first_person(scene, plain)
    text = _point_of(whole)
    is_asked = words[-1].text == "?" or plain[0].text in word_group("wh") | word_group("auxiliary")
    has_sentences = any(word.text in ENDS for word in words[:-1])  # each is read by itself
    # Talk of rules comes last: "what is my AC" has an answer of its own.
    to_you = bool(_NOT_TO_THE_GAME & {word.text for word in plain})
    for entry in _patterns_in_order():
        if entry.topic == _MECHANICS:
            to_somebody = to_you and not _ROLLS & {*whole.split()}
            is_tried = has_sentences or _rolled_on().search(whole) is not None
            if is_asked and not to_somebody and not is_tried and entry.pattern.search(whole):
                return Understanding(verb=META, question=_RULES)
            continue
        match = entry.pattern.match(text) or (entry.pattern.match(whole) if whole != text else None)
        if match is None or (entry.topic != "rules" and to_you) or _asks_of_absent(scene, entry.topic, plain):
            continue
        if entry.topic == "quests" and _asks_terms(scene, text.split()):
            return None
        topic = match.groupdict().get("topic")
        if topic is not None:
            return _about(scene, topic, text)
        return Understanding(verb=META, question=entry.topic)
    return None


@cache
def _patterns_in_order() -> tuple[GamePattern, ...]:
    return tuple(sorted(game_patterns(), key=lambda entry: entry.topic == _MECHANICS))


def _asks_of_absent(scene: SceneNames, topic: str, words: Sequence[TypedWord]) -> bool:
    """Check for creatures that are not here: who is here may have seen goblins that the character has not."""
    if topic != "foes" or not scene.persons or scene.foes:
        return False
    return any(word.text in kin for kin in word_lists().kin.values() for word in words)


@cache
def _rolled_on() -> re.Pattern[str]:
    """Return the pattern of a roll for a skill that is tried on something: "roll insight on the reeve"."""
    skills = "|".join(sorted(word_lists().skills))
    return re.compile(rf"\b(?:{skills}) (?:check |roll |test )?(?:on|at|to|against|with|if|whether)\b")


def _in_first_person(scene: SceneNames, words: Sequence[TypedWord]) -> str:
    """Return words with the character's own name as "my" or "I": "what is Zara's dex"."""
    names = scene.me.words
    texts = [word.text for word in words]
    for number, text in enumerate(texts):
        if text in names or text.removesuffix("s") in names:
            owns = number + 1 < len(texts) and texts[number + 1] not in word_group("finite")
            texts[number] = "my" if owns and number else "i"
    return " ".join(texts)


def _asks_terms(scene: SceneNames, texts: Sequence[str]) -> bool:
    """Check for "what is the reward" before anything was offered: who is here may know, the game does not."""
    return bool(scene.persons) and not scene.quests and bool(_TERMS & {*texts}) and "was" not in texts


def _point_of(text: str) -> str:
    """Return a question without what stands around it: "sorry, can you tell me … again"."""
    front = phrase_pattern("question_front")
    while (match := front.match(text)) is not None and match.end() < len(text):
        text = text[match.end() :].lstrip()
    words = [word for word in _EXPLETIVE.sub(r"\1", text).split() if word not in word_group("filler")]
    while len(words) > 1 and words[-1] in word_group("question_ending"):
        words.pop()
    return " ".join(words)


def _about(scene: SceneNames, topic: str, text: str) -> Understanding | None:
    """Return a question about somebody or something. How a stranger fares is asked of those who are here."""
    asks_state = text.startswith(("is ", "are ", "what happened", "what is ", "how is ", "what has "))
    found = scene.find(topic.split(), (FRIEND, FOE, PERSON, SELF, ITEM))
    asks_friend = asks_state and not text.startswith(("is ", "are "))
    if asks_state and (found is None or found.kind not in ((FRIEND,) if asks_friend else (FRIEND, FOE))):
        return None
    return Understanding(
        verb=META, question=_ABOUT, what=topic, target=found.label if found is not None else None
    )
