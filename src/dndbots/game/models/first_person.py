"""Turn a player's third person into the first: "Throk draws his sword" becomes "I draw my sword".

Quoted speech stays as it is. A pronoun is turned only where it can mean the character: after the character
was named, and before anybody else is.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dndbots.text.sentences import split_sentences

_PARTS: Final = re.compile(r"(\"[^\"]*\"?|“[^”]*”?)")
_QUOTES: Final = ('"', "“", "”")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_PIECES: Final = re.compile(r"(\0?[^\W\d_]+(?:['\u2019][^\W\d_]+)?)")
_IRREGULAR: Final = {
    "is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "isn't": "am not",
    "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
_OWN: Final = {
    "his": "my", "her": "my", "their": "my", "hers": "mine", "theirs": "mine", "himself": "myself",
    "herself": "myself", "themselves": "myself", "themself": "myself", "him": "me", "them": "me",
}  # fmt: skip
# Verbs that a player uses of its character. Only these are turned after "and".
_DEED_WORDS: Final = """
    aim answer approach ask attack back begin bend block bow break bring call cast catch charge check
    choose circle climb close come continue crouch cut dash dodge draw drop duck edge enter examine eye
    feel fight find finish fire follow gesture get give glance go grab greet grin grip grunt guard hand
    hang head hear help hide hit hold hurry inspect investigate jump keep kneel knock laugh lead lean
    leap leave lift light listen look lower lunge make march motion move mutter nod nudge offer open pat
    pause pay peer pick place point pray prepare press pull push put raise reach read ready reply return
    run rush say scan search see set shake share sheathe shield shoot shout shrug sigh signal sit slash
    slip smell smile sneak speak stand stare start stay step stop stride strike study swing take talk
    tell thank think throw touch try turn wait walk want watch wave whisper wipe wonder work yell
"""
_DEEDS: Final = frozenset(_DEED_WORDS.split())
_SUBJECTS: Final = frozenset(("he", "she"))
_ADVERBS: Final = frozenset(("then", "now", "also", "still", "just", "always", "never", "again", "once"))
# Words that end in -s and are no verbs.
_NO_VERB: Final = frozenset(
    ("as", "is", "this", "his", "its", "us", "yes", "less", "always", "perhaps", "across")
)
_JOINS: Final = frozenset(("and", "then", "but", "or"))
_HER_BEFORE: Final = frozenset(
    ("to", "at", "for", "from", "with", "by", "behind", "beside", "around", "near")
)


def is_third_person(text: str, own: Sequence[str]) -> bool:
    """Check for a text in which a player tells of its own character by name, outside of quotations."""
    outside = " ".join(part for part in _PARTS.split(text) if not part.startswith(('"', "“")))
    return any(
        re.search(rf"(?<![\w'\u2019]){re.escape(name)}(?:['\u2019]s)? +[a-z]", outside) for name in own
    )


def turn_to_first_person(text: str, own: Sequence[str]) -> str:
    """Return a text with its speaker in the first person. `own` are the names of the speaker."""
    names = sorted((name for name in own if name != "I"), key=len, reverse=True)
    if not names or not is_third_person(text, names):
        return text
    lines = []
    for line in text.split("\n"):
        meant = False
        turned = []
        for sentence in split_units(line):
            told, meant = _turn_sentence(sentence, names, meant=meant)
            turned.append(told)
        lines.append(" ".join(turned))
    return "\n".join(lines)


def split_units(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph; those inside one quotation stay together."""
    unit: list[str] = []
    for sentence in split_sentences(paragraph):
        unit.append(sentence)
        if sum(part.count(mark) for part in unit for mark in _QUOTES) % 2 == 0:
            yield " ".join(unit)
            unit = []
    yield from unit  # a quotation without an end


def _turn_sentence(sentence: str, names: Sequence[str], *, meant: bool) -> tuple[str, bool]:
    """Return a sentence in the first person, and whether the next pronoun means the speaker."""
    pattern = "|".join(map(re.escape, names))
    parts = []
    for part in _PARTS.split(sentence):
        if part.startswith(('"', "“")) or not part:
            parts.append(part)
            continue
        marked = re.sub(rf"(?<![\w'\u2019])(?:{pattern})['\u2019]s(?!\w)", "\0my", part)
        marked = re.sub(rf"(?<![\w'\u2019])(?:{pattern})(?![\w'\u2019])", "\0I", marked)
        meant = meant or "\0" in marked
        parts.append("".join(_turned(marked)) if meant else part)
    told = "".join(parts)
    return f"{told[:1].upper()}{told[1:]}", meant


def _turned(text: str) -> Iterator[str]:
    """Yield the pieces of a text, with verbs and pronouns of the speaker in the first person."""
    verb_next, own_clause, joined = False, True, False
    before = ""
    for piece in _PIECES.split(text):
        if not _WORD.fullmatch(piece.lstrip("\0")):
            yield piece
            continue
        word, is_object = piece.casefold(), before in _HER_BEFORE
        told = piece
        if piece.startswith("\0"):
            told = "me" if word == "\0i" and is_object else piece[1:]
            verb_next = own_clause = told == "I"
        elif own_clause and word in _SUBJECTS:
            told, verb_next = "I", True
        elif (joined and first_form(word) in _DEEDS) or (verb_next and not _is_adverb(word)):
            told, verb_next = first_form(piece), False
        elif own_clause and word in _OWN:
            told = "me" if word == "her" and is_object else _OWN[word]
        elif piece[0].isupper() and before and before not in _JOINS:
            own_clause = False  # somebody else is named
        yield told
        joined = word in _JOINS or (joined and _is_adverb(word))
        before = told.casefold()


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (len(word) > len("ly") and word.endswith("ly"))


def first_form(verb: str) -> str:
    """Return a verb as it stands after "I": "draws" becomes "draw", "drew" stays."""
    word = verb.casefold()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.endswith("s") or word in _NO_VERB or word.endswith("ss"):
        return verb
    if word.endswith("ies") and len(word) > 4:
        return f"{verb[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]
