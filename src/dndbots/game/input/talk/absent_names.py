"""Find the name of somebody who is not here, so that what is meant for them is told to nobody else."""

from collections.abc import Sequence
from itertools import dropwhile, takewhile
from typing import Final

from dndbots.game.input.meanings import Understanding, refuse
from dndbots.game.input.vocabulary.lexicon import verb_lexicon, word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, PRONOUNS, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.text.english_words import EVERYDAY_WORDS, FUNCTION_WORDS
from dndbots.text.words import words_of

GIVE_TO: Final = "give anything to"
_MOST_NAME: Final = 4
_BEHIND: Final = frozenset(("to", "that", "about", "if", "whether", "know", "aside"))
_BEINGS: Final = ("pc_", "npc_", "mon_")
_BESIDE: Final = frozenset(
    ("old", "young", "little", "dear", "good", "poor", "my", "friend", "master", "captain")
)
_PEOPLES: Final = frozenset(("dwarf", "elf", "halfling", "gnome", "ranger", "paladin", "cleric"))
_FORMED: Final = ("man", "woman", "keeper", "smith", "maid", "monger", "wright", "master")  # "ferryman"
_SHORTEST_FORMED: Final = 6
# What stands before a colon and is nobody: "Plan: we go north".
_HEADINGS: Final = frozenset(
    ("plan", "idea", "action", "note", "question", "thought", "dm", "gm", "ooc", "move")
)


def find_absent(scene: SceneNames, line: str, words: Sequence[TypedWord]) -> str:
    """Return the name that some words begin with, as it was typed, if nobody here has it; else nothing."""
    plain = [*dropwhile(lambda word: word.text in _BESIDE, words)]
    name = _capitalised(line, words) or _capitalised(line, plain)
    if name:
        return _if_absent(scene, line, name)
    if len(words) > 1 and words[0].text in ("the", "a", "that", "this") and names_being(words[1].text):
        is_here = scene.find(words[:2], (PERSON, FOE, FRIEND)) is not None
        return "" if is_here else words[1].text
    first = words[0] if words else None
    if first is None or not _is_unknown(first.text) or first.text.endswith("s"):
        return ""  # "tell stories about …"
    behind = line[first.end : words[1].start] if len(words) > 1 else ""
    is_named = ":" in behind or (len(words) > 1 and words[1].text in _BEHIND) or _is_known(scene, first.text)
    return _if_absent(scene, line, [first]) if is_named else ""


def find_absent_taker(scene: SceneNames, line: str, words: Sequence[TypedWord]) -> str:
    """Return who is to get something and is not here: "give 5 gold to Borra", "hand Wymond the letter"."""
    plain = [word for word in words if not word.is_mark]
    behind = next((plain[n + 1 :] for n, word in enumerate(plain) if word.text == "to"), None)
    taker = plain[1:] if behind is None else behind
    name = _capitalised(line, taker)
    is_named = behind is not None or all(_is_known(scene, word.text) for word in name)
    return _if_absent(scene, line, name) if name and is_named else ""


def names_being(word: str) -> bool:
    """Check that a word is for somebody, or for a kind of creature."""
    lists = word_lists()
    is_kind = any(word == kin or word in words for kin, words in lists.kin.items()) or word in lists.trades
    people = (lists.people[kind] for kind in ("male", "female", "young"))
    is_formed = word.endswith(_FORMED) and len(word) > _SHORTEST_FORMED and word not in EVERYDAY_WORDS
    return is_kind or is_formed or word in _PEOPLES or any(word in words for words in people)


def find_absent_call(scene: SceneNames, line: str, words: Sequence[TypedWord]) -> str:
    """Return who is called at the beginning of a line and is not here: "Borra: run", "hey Borra, run"."""
    hailed = [*takewhile(lambda word: word.is_mark or word.text in word_group("hailing"), words)]
    if [word.text for word in hailed if not word.is_mark] == ["say"]:
        return ""  # "say B: 0": all of it is said
    rest = words[len(hailed) :]
    name = _capitalised(line, rest)
    mark = rest[len(name)].text if name and len(rest) > len(name) + 1 else ""
    is_me = all(word.text in scene.me.words for word in name)
    if mark not in (":", ",") or is_me or any(word.text in _HEADINGS for word in name):
        return ""
    if mark == "," and not hailed and not all(_is_known(scene, word.text) for word in name):
        return ""
    return _if_absent(scene, line, name)


def refuse_name(scene: SceneNames, line: str, name: str, deed: str) -> Understanding:
    """Refuse a line that is meant for somebody who is not here, or for the character itself."""
    if all(word in scene.me.words for word in words_of(name)):
        return refuse(line, f"{name!r} is you; say whom to {deed}")
    return refuse(line, f"there is no {name!r} here to {deed}")


def _capitalised(line: str, words: Sequence[TypedWord]) -> list[TypedWord]:
    """Return the words at the beginning that are written like a name. In capitals throughout, none is."""
    if line.isupper():
        return []
    name: list[TypedWord] = []
    for word in words[:_MOST_NAME]:
        is_apart = name and not line[name[-1].end : word.start].isspace()
        is_small = word.is_mark or word.text in FUNCTION_WORDS or not line[word.start].isupper()
        if is_apart or is_small:
            break
        name.append(word)
    return name


def _if_absent(scene: SceneNames, line: str, name: Sequence[TypedWord]) -> str:
    """Return a name as it was typed; nothing if it may be somebody here, or is no name."""
    proper = [word.text for word in name if _is_unknown(word.text)]
    if proper and all(text in scene.me.words for text in proper):
        return line[name[0].start : name[-1].end]
    others = (*scene.persons, *scene.foes, *scene.friends)
    is_here = any((scene.worth(being, text) or 0) > 0 for text in proper for being in others)
    return "" if not proper or is_here else line[name[0].start : name[-1].end].removesuffix("'s")


def _is_unknown(word: str) -> bool:
    """Check that a word is in no list: it may be a name."""
    lists = word_lists()
    listed = word in EVERYDAY_WORDS or word in PRONOUNS or word in lists.trades or verb_lexicon().has(word)
    groups = ("article", "plain", "opening", "hailing", "wh", "preposition", "subject")
    listed = listed or any(word in word_group(group) for group in groups)
    return word.isalpha() and not listed and not any(word in words for words in lists.people.values())


def is_known_name(scene: SceneNames, line: str, words: Sequence[TypedWord]) -> bool:
    """Check for the name of somebody whom the character knows, as it is written: "Sister" of Sister Maren."""
    return all(line[word.start].isupper() and _is_known(scene, word.text) for word in words)


def _is_known(scene: SceneNames, word: str) -> bool:
    """Check that the character knows somebody of that name, here or elsewhere."""
    names = scene.table.names.items()
    return any(word in words_of(name) for uid, name in names if uid.startswith(_BEINGS))
