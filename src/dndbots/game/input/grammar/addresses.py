"""Find who is addressed in a clause: "Zara, …", "hey kid …", "you there, the small one, …", "…, my son"."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from dndbots.game.input.vocabulary.lexicon import verb_lexicon, word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord

_YOU_THERE: Final = re.compile(r"(?:you|hey you|oi you|you there|hey you there)$")
_MARKS: Final = (",", ":", "!", "\u2014")
_MOST_NAME: Final = 6
_LONGEST_CALL: Final = 3
_TAIL: Final = 5
_CALLED_OUT: Final = 4
# What stands beside a name that one calls: "my good man".
_BESIDE: Final = frozenset(
    (
        "my",
        "dear",
        "good",
        "the",
        "oh",
        "o",
        "old",
        "little",
        "you",
        "fine",
        "sweet",
        "there",
        "young",
        "mr",
        "master",
    )
)
_AFTER_AUXILIARY: Final = frozenset(("you", "not", "i", "we", "it", "they", "he", "she", "this", "that"))
_TALKS: Final = frozenset(("you", "please", "i", "we", "let", "do", "your", "thanks", "thank"))
_POLITE: Final = frozenset(("please", "thanks", "ok", "okay"))
_ASKED: Final = frozenset(("you", "your", "me", "us", "we", "i"))
_NOT_BEFORE: Final = frozenset(("and", "or", "old", "poor", "little", "big", "sister", "granny", "about"))
_PARTY: Final = frozenset(
    ("guys", "gang", "everybody", "everyone", "team", "friends", "folks", "people", "all")
)


class AddressedName(NamedTuple):
    """Somebody who is addressed, and how many words that takes."""

    name: SceneName
    length: int


def find_address(scene: SceneNames, words: Sequence[TypedWord], *, hailed: bool) -> AddressedName | None:
    """Return who is called at the beginning; None if nobody is."""
    return _called_before_mark(scene, words) or _called_bare(scene, words, hailed=hailed)


def find_last_address(scene: SceneNames, words: Sequence[TypedWord]) -> AddressedName | None:
    """Return who is called at the end behind a comma, and how many words come before."""
    comma = _last_comma(words)
    if comma is None:
        return None
    meant = _find_called(scene, words[comma + 1 :])
    is_list = any(words[comma - 1].text in friend.words for friend in scene.friends)
    return None if meant is None or is_list else AddressedName(meant, comma)


def find_bare_last(
    scene: SceneNames, words: Sequence[TypedWord], *, is_question: bool
) -> AddressedName | None:
    """Return who is called at the end without a comma: "can I have the torch please Throk"."""
    texts = [word.text for word in words]
    if len(texts) < _CALLED_OUT or any(word.is_mark for word in words):
        return None
    is_asked = texts[-2] in _POLITE or (is_question and {*texts} & _ASKED)
    before = word_group("preposition") | word_group("article") | word_group("auxiliary") | _NOT_BEFORE
    if not is_asked or texts[-2] in before or verb_lexicon().has(texts[-2]):
        return None
    called = next((name for name in (*scene.friends, *scene.persons) if texts[-1] in name.words), None)
    is_name = called is not None and texts[-1] in called.label.casefold().split()
    return AddressedName(called, len(words) - 1) if called is not None and is_name else None


def find_party_call(words: Sequence[TypedWord]) -> int | None:
    """Return how many words come before a call to all friends at the end: "…, gang"."""
    comma = _last_comma(words)
    if comma is None:
        return None
    tail = [word.text for word in words[comma + 1 :] if word.text != "my"]
    return comma if len(tail) == 1 and tail[0] in _PARTY else None


def _last_comma(words: Sequence[TypedWord]) -> int | None:
    places = range(len(words) - 1, max(len(words) - _TAIL, 0), -1)
    return next((place for place in places if words[place].text == ","), None)


def _called_before_mark(scene: SceneNames, words: Sequence[TypedWord]) -> AddressedName | None:
    """Read "Zara, …" and "you there, the small one, …"."""
    mark = next((n for n, word in enumerate(words[: _MOST_NAME + 1]) if word.text in _MARKS), None)
    if not mark:
        return None
    name = [word for word in words[:mark] if not word.is_adverb]
    if _YOU_THERE.match(" ".join(word.text for word in name)):
        following = _called_before_mark(scene, words[mark + 1 :])
        if following is not None:
            return AddressedName(following.name, mark + 1 + following.length)
        someone = scene.foes[0] if scene.foes and not scene.persons else scene.speaker
        return None if someone is None else AddressedName(someone, mark + 1)
    meant = _find_called(scene, name)
    return None if meant is None else AddressedName(meant, mark + 1)


def _find_called(scene: SceneNames, name: Sequence[TypedWord]) -> SceneName | None:
    """Return who is called by a name or a word for people: "granny", "kid", "my friend", "good man"."""
    texts = [word.text for word in name if word.text not in _BESIDE]
    if texts and any(word.text in word_group("preposition") for word in name[1:]) and _names_person(texts[0]):
        return scene.find(name, (PERSON, FRIEND, FOE))  # "madam by the fire"
    named = [text for text in texts if text not in word_group("address")]
    texts = named or texts  # "Ilvane my friend"
    if not texts or len(texts) > _LONGEST_CALL:
        return None
    if verb_lexicon().is_plain(texts[0]) and not any(texts[0] in friend.words for friend in scene.friends):
        return None
    for kinds in ((FRIEND,), (PERSON, FOE)):
        for found in scene.find_all([word.text for word in name], kinds):
            if all(_calls(scene, found, text) for text in texts):
                return found
    return None


def _names_person(text: str) -> bool:
    return text in word_lists().trades or any(text in words for words in word_lists().people.values())


def _calls(scene: SceneNames, name: SceneName, text: str) -> bool:
    """Check that a word can be a part of what somebody is called."""
    is_person = name.kind == PERSON and any(text in words for words in word_lists().people.values())
    return is_person or (scene.worth(name, text) or 0) > 0


def _called_bare(scene: SceneNames, words: Sequence[TypedWord], *, hailed: bool) -> AddressedName | None:
    """Read "zara what do you think", "hey kid are you ok": no comma."""
    if not words:
        return None
    for friend in scene.friends:
        length = next((n for n, word in enumerate(words) if word.text not in friend.words), len(words))
        if length and (_begins_talk(words[length:]) or (hailed and length == len(words))):
            return AddressedName(friend, length)
    for length in range(min(_LONGEST_CALL, len(words)), 0, -1) if hailed else ():
        meant = _find_called(scene, words[:length])
        if meant is not None and not any(word.is_mark for word in words[:length]):
            return AddressedName(meant, length)
    is_vocative = words[0].text in word_group("vocative") and _begins_talk(words[1:])
    vocative = scene.find(words[:1], (PERSON,)) if is_vocative else None
    if vocative is not None:
        return AddressedName(vocative, 1)  # "granny what do you think"
    for person in scene.persons:
        looks = scene.table.looks.get(person.key, "").casefold().split()
        if words[0].text in person.words.difference(looks) and _begins_talk(words[1:]):
            return AddressedName(person, 1)
    return None


def _begins_talk(words: Sequence[TypedWord]) -> bool:
    """Check that what follows a name is said to them: a question, a request, or a command."""
    texts = [word.text for word in words if not word.is_mark and not word.is_adverb]
    if not texts:
        return False
    if "you" in texts and len(texts) <= _CALLED_OUT:
        return True  # "Ilvane, behind you!"
    if texts[0] in word_group("auxiliary"):
        return len(texts) > 1 and texts[1] in _AFTER_AUXILIARY
    return texts[0] in word_group("wh") | _TALKS or verb_lexicon().is_plain(texts[0])
