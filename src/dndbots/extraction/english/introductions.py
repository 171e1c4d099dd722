"""Introductions: new people and places that a sentence presents by name, with the word for what they are.

"A one-eyed dwarf called Harl", "the Gilded Eel, an inn on the docks", "I moved from Lisbon to Coimbra". A
name is introduced even where the sentence is reported, doubted or quoted from a stranger; then only the name
is kept. Names that are known already are left to the other rules.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.descriptions import read_description
from dndbots.extraction.english.grammar import rule, tidy
from dndbots.extraction.english.introduction_forms import FORMS, OWN, IntroductionForm
from dndbots.extraction.english.marked_names import Lexicon, Marked, Mention, is_plain
from dndbots.extraction.english.not_facts import clause_start, is_doubted
from dndbots.extraction.english.reader import is_punch_line
from dndbots.extraction.english.word_tables import (
    ANIMALS,
    FACTION_WORDS,
    ITEM_WORDS,
    KIN,
    LOOKS,
    NAMED_THINGS,
    NICKNAMES,
    PLACE_ENDINGS,
    PLACE_KINDS,
    PLACE_WORDS,
    TEMPERS,
    TITLES,
    either,
)
from dndbots.extraction.port import ALIAS, Kind
from dndbots.text.english_words import EVERYDAY_WORDS
from dndbots.text.words import fold_word

KIND: Final = "kind"
_THINGS: Final = PLACE_WORDS | PLACE_KINDS | FACTION_WORDS | ITEM_WORDS | NAMED_THINGS
_SHORTEST_STEM: Final = 3


class Introduction(NamedTuple):
    """A new name with a field and a value; the field is `alias` if only the name is certain."""

    name: str
    kind: Kind
    field: str
    value: str


_STRANGER: Final = rule(ALIAS, "an? <being>")
# "The youngest is named Pip" tells of somebody else than the sentence before.
_RELATED: Final = re.compile(
    rf"\b(?:{either(KIN)}|(?:young|old|eld)est|other|first|second|last)\b", re.IGNORECASE
)
_NAMES_BEFORE: Final = re.compile(r"name (?:is|was) $|(?:called|named) $", re.IGNORECASE)
_TAKEN_FOR_GRANTED: Final = re.compile(rf"(?:the|{OWN}) |@[A-Z]\d+@, ", re.IGNORECASE)
_LOOK: Final = re.compile(
    r"-(?:eyed|haired|bearded|legged|armed|faced|nosed|toothed|handed|skinned|shouldered)$"
)


class HowTold(NamedTuple):
    """How a sentence is told: in narration, in the words of a stranger, and whether it is firm.

    If it is not firm, only names are certain.
    """

    narrated: bool
    by_stranger: bool
    firm: bool


def find_introductions(
    marked: Marked, before: str, lexicon: Lexicon, told: HowTold
) -> Iterator[Introduction]:
    """Yield the new names that a sentence introduces; `before` is the marked sentence before it."""
    if "@" not in marked.text:
        return
    for form in FORMS:
        if (form.rule.narrated and not told.narrated) or (form.quoted and not told.by_stranger):
            continue
        for match in form.rule.pattern.finditer(marked.text):
            mention = marked.mentions[int(match["a"])]
            if _is_new(mention, lexicon) and _fits(form, mention, match, told):
                is_fact = told.firm and _is_stated(marked.text, match)
                yield from _introduced(form.rule.kind, mention, match, marked, before, is_fact=is_fact)
    if told.narrated:
        for mention in marked.mentions:
            if mention.letter == "P" and _is_new(mention, lexicon) and _has_title(mention.name):
                yield Introduction(mention.name, "npc", ALIAS, mention.name)


def _fits(form: IntroductionForm, mention: Mention, match: re.Match[str], told: HowTold) -> bool:
    """Return whether a name, and the word for what it names, are such as the form wants them."""
    parts = match.groupdict()
    if not told.narrated and is_punch_line(match):
        return False
    if form.rule.kind == "environment":
        return (
            _looks_like_place(mention.name) if form.shaped else not form.rule.narrated or " " in mention.name
        )
    if form.in_full and not _is_full(mention.name):
        return False
    if parts.get("worker"):
        return _is_worker(fold_word(parts["worker"]))
    return not (parts.get("someone") and fold_word(parts["someone"]) in _THINGS)


def _is_full(name: str) -> bool:
    """Return whether a name has a family name or a title, as the names of people do."""
    first, _, rest = name.partition(" ")
    nicknamed = fold_word(first) in NICKNAMES and not is_plain(rest)
    named = nicknamed or not any(map(is_plain, name.split()))
    return _has_title(name) or (bool(rest) and named)


def _is_worker(word: str) -> bool:
    """Return whether a word that ends like a word for a person is one: no dinner, river, or "the younger"."""
    is_compared = word.removesuffix("er") in LOOKS | TEMPERS or word.removesuffix("r") in LOOKS | TEMPERS
    return word not in EVERYDAY_WORDS and word not in _THINGS and not is_compared


def _looks_like_place(name: str) -> bool:
    """Return whether a name ends as names of places do: Millbrook."""
    low = fold_word(name)
    return " " not in name and any(
        low.endswith(ending) and len(low) - len(ending) >= _SHORTEST_STEM for ending in PLACE_ENDINGS
    )


def _is_new(mention: Mention, lexicon: Lexicon) -> bool:
    return not lexicon.category_of(mention.name) and fold_word(mention.name) not in TITLES


def _has_title(name: str) -> bool:
    words = name.split()
    return len(words) > 1 and fold_word(words[0]).strip(".") in TITLES


def _is_stated(text: str, match: re.Match[str]) -> bool:
    """Return whether nothing in an introduction, or before it in its clause, doubts it.

    Who asks for the reeve, Wymond, takes for granted that Wymond is the reeve.
    """
    start = match.start() if _TAKEN_FOR_GRANTED.match(match.group()) else clause_start(text, match.start())
    return not is_doubted(text[start : match.end()])


def _introduced(
    kind: Kind, mention: Mention, match: re.Match[str], marked: Marked, before: str, *, is_fact: bool
) -> Iterator[Introduction]:
    yield Introduction(mention.name, kind, ALIAS, mention.name)
    parts = match.groupdict()
    if not is_fact:
        return
    if parts.get("v"):
        yield Introduction(mention.name, kind, KIND, marked.plain(tidy(parts["v"], whole=True)))
    named = _before_name(match)
    is_stranger = _NAMES_BEFORE.search(named) and not _RELATED.search(named)
    being = match if "np" in parts else _stranger(before) if is_stranger else None
    if parts.get("worker"):
        yield Introduction(mention.name, kind, "role", parts["worker"])
    elif being is not None:
        yield from _description(mention.name, being["np"], being["tail"] or "", marked)


def _before_name(match: re.Match[str]) -> str:
    return match.string[match.start() : match.start("a") - 2]


def _stranger(before: str) -> re.Match[str] | None:
    """Return the one stranger in the sentence before "His name was Pip"."""
    strangers = list(_STRANGER.pattern.finditer(before))
    return strangers[0] if len(strangers) == 1 else None


def _description(name: str, np: str, tail: str, marked: Marked) -> Iterator[Introduction]:
    words = np.replace(",", "").split()
    if fold_word(words[-1]) in ANIMALS:
        yield Introduction(name, "npc", "race", words[-1])
        return
    parts = [part for part in read_description(np, tail) if part.number is None]
    for part in parts:
        yield Introduction(name, "npc", part.field, marked.plain(part.value))
    looks = [word for word in words[:-1] if _LOOK.search(word)]
    if looks and not any(part.field == "description" for part in parts):
        yield Introduction(name, "npc", "description", marked.plain(tidy(np, whole=True)))
