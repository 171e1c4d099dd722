"""Categories of lore: a person, a place, a group …, as the book says, or else by the words of an entry.

Only words that speak for a category give one; an entry that nothing speaks for is other lore.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from dndbots.extraction.english.word_tables import (
    FACTION_WORDS,
    FOLK,
    ITEM_WORDS,
    KIN,
    PLACE_OPENERS,
    PLACE_WORDS,
    RACES,
    ROLE_ENDINGS,
    ROLES,
    SURNAMES,
    TITLES,
)
from dndbots.interop.formats.neutral import LoreEntry
from dndbots.text.word_forms import numbers_of

OTHER_LORE: Final = "EVT"


def _split(words: str, *phrases: str) -> frozenset[str]:
    return frozenset((*words.split(), *phrases))


# Words by which books, folders, tags and fields call a category.
_KINDS: Final = {
    word: category
    for category, words in {
        "PC": "pc|player character|player-character|party member|hero",
        "NPC": "character|npc|person|people|villager|cast",
        "LOC": "location|place|city|region|settlement|town|village|geography|dungeon|building|landmark|area",
        "FAC": "faction|group|organization|organisation|guild|race|species|class|ancestry|culture|religion",
        "ITEM": "item|object|artifact|artefact|weapon|equipment|treasure|magic item|magicitem|vehicle",
        "MON": "monster|creature|beast|bestiary|enemy|statblock",
        "QST": "quest|mission|adventure hook|bounty",
        "EVT": "event|lore|history|timeline|session|recap|journal|world|setting|rule|rules|condition|spell|"
        "document|magic|concept|law|note|feat|background",
    }.items()
    for word in words.split("|")
}
# Words that end the title of a text about the world, or about the game, rather than of somebody in it.
_TELLING: Final = _split(
    "prompt readme memory note overview era age session recap timeline history rule system calendar summary "
    "setup lore magic spell condition law currency language festival war battle prophecy legend index "
    "template style instruction format guide glossary event document reference introduction "
    "background setting changelog license credit faq primer handout campaign world culture religion "
    "economy technology"
)
_RULES: Final = frozenset(("conditions", "spells", "rules", "feats", "laws"))
_TASKS: Final = frozenset(("quest", "mission", "bounty", "errand"))
_CREATURES: Final = _split(
    "beast monster creature undead wolf spider rat bear snake bat serpent hydra wyvern chimera golem "
    "zombie skeleton vampire werewolf spirit elemental fiend ooze slime swarm troll horror aberration"
)
# Titles that also stand before the names of places and things: the Old Mill, the High Road.
_WEAK_TITLES: Final = frozenset(("old", "high", "elder", "master", "general", "brother", "sister"))
_PEOPLES: Final = frozenset(("elves", "dwarves", "humans", "halflings", "gnomes", "folk"))
# In this order: a word of several tables is what the first of them says.
_NOUNS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("MON", _CREATURES),
    ("NPC", ROLES | FOLK | KIN.keys()),
    ("FAC", (FACTION_WORDS - {"house"}) | _PEOPLES),
    ("LOC", PLACE_WORDS | {"house"}),
    ("ITEM", ITEM_WORDS),
    ("QST", _TASKS),
    ("MON", RACES - {"human"}),
)
_LABELS: Final[tuple[tuple[str, int, frozenset[str]], ...]] = (
    (
        "NPC",
        2,
        _split(
            "age gender sex race species ancestry pronouns occupation personality appearance height hair "
            "eyes profession likes dislikes class level background",
            "full name",
        ),
    ),
    (
        "MON",
        2,
        _split(
            "challenge cr ac hp speed senses actions stats saves traits",
            "armor class",
            "hit points",
            "hit dice",
            "challenge rating",
        ),
    ),
    ("LOC", 1, _split("population climate terrain government", "points of interest")),
    ("FAC", 2, _split("members leader headquarters goals founded motto allies")),
    ("ITEM", 2, _split("rarity attunement weight damage price")),
)
_LABEL: Final = re.compile(r"(?:^|[\n;\[{+|])[\s*_#>\"'-]{0,8}([A-Za-z][A-Za-z ]{0,18})[*_\"' ]{0,4}[:(]")
_TOLD_KIND: Final = re.compile(
    r"(?:^|[\n;\[{|])[\s*_>\"'-]{0,8}(?:type|category|kind)[*_\"' ]{0,4}:[*_\"' ]{0,4}([A-Za-z -]{3,20})",
    re.IGNORECASE,
)
_IS_ONE: Final = re.compile(
    r"(?:\b(?:is|was|are|were|became)|,)\s(?:an?|the|one of (?:the|its|their|his|her)|another)\s",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(r"\A(?:an?|the|one of the)\s", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_][\w\u2019'-]*")
_PERSONAL: Final = re.compile(r"\b(?:he|she|his|her|him|herself|himself)\b", re.IGNORECASE)
# Words at which the head of a noun phrase lies behind us: a captain | of the guard.
_AFTER_HEAD: Final = _split(
    "of in on at from with without who that which where whose near by for to and or but is was are "
    "were has had located known named called between under than as lying hidden used when while whom"
)
# Words that stand before things and places, in some languages, and not before the names of people.
_ARTICLES: Final = frozenset(("the", "a", "an", "der", "die", "das", "den", "dem", "el", "la", "le", "les"))
_PARTICLES: Final = frozenset(("of", "the", "de", "von", "van", "der", "du", "la", "le", "al", "af", "zu"))
_OPENING: Final = 400
_LONGEST_SUBJECT: Final = 80
_LONGEST_PHRASE: Final = 8
_MOST_NAME_WORDS: Final = 4
_READ: Final = 4_000


def category_named(name: str) -> str | None:
    """Return the category that a word such as `location`, `Characters` or `Magic Items` stands for."""
    word = " ".join(name.casefold().replace("_", " ").split())
    found = _KINDS.get(word) or _KINDS.get(word.removesuffix("s"))
    return found or next((_KINDS[form] for form in numbers_of(word) if form in _KINDS), None)


def guess_category(entry: LoreEntry, book: str = "") -> str:
    """Return the category of what an entry is about: as the book says, or else by its words."""
    words = _words(entry.title)
    if _is_collection(words):
        return OTHER_LORE
    is_told = bool(_TELLING & _title_nouns(words))
    text = entry.text[:_READ]
    return (
        entry.category
        or _by_fields(entry.fields)
        or (OTHER_LORE if is_told else _by_definition(words, text))
        or _by_title(entry.title, words, text)
        or _by_labels(text)
        or (_by_book(book) if book != entry.title else None)
        or _by_opening(words, text)
        or ("NPC" if _is_person(entry.title, text) else OTHER_LORE)
    )


def _is_collection(words: list[str]) -> bool:
    """Return True for the title of a list: `Locations`, `Major groups`. It is not one of them."""
    last = words[-1] if words else ""
    is_many = last.endswith("s") and (last.removesuffix("s") in _KINDS or last in ("npcs", "cities"))
    return is_many and (len(words) == 1 or (len(words) == 2 and words[0] in ("major", "minor", "other")))


def _by_fields(fields: Mapping[str, Any]) -> str | None:
    for key in ("type", "category", "kind", "entry_type", "model"):
        value = fields.get(key)
        if isinstance(value, str) and (found := category_named(value.rpartition(".")[2])):
            return found
    tags = fields.get("tags")
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return _first(category_named(tag) for tag in listed if isinstance(tag, str))


def _title_nouns(words: list[str]) -> set[str]:
    """Return the nouns that say what a title is the title of: its last word, and the one before `of`."""
    return {form for word in (_head(words), *words[-1:]) for form in _singular(word)}


def _head(words: list[str]) -> str:
    return words[words.index("of") - 1] if "of" in words[1:] else "".join(words[-1:])


def _by_title(title: str, words: list[str], text: str) -> str | None:
    if not words:
        return None
    first, last = words[0], words[-1]
    opened = None
    if len(words) > 1:
        openers = (("LOC", PLACE_OPENERS), ("FAC", {"house"}), ("NPC", TITLES - _WEAK_TITLES))
        opened = _first(category for category, known in openers if first in known)
    found = opened or _by_noun(_head(words))
    if found == "NPC" and len(words) == 1 and title[:1].islower():
        return OTHER_LORE  # about wizards, not about one of them
    is_surname = found == "LOC" and len(words) == 2 and last in SURNAMES
    return "NPC" if is_surname and _PERSONAL.search(text) else found


def _by_labels(text: str) -> str | None:
    told = _TOLD_KIND.search(text)
    if told is not None and (found := category_named(told[1].split(",")[0].strip())):
        return found
    labels = {label.casefold().strip() for label in _LABEL.findall(text)}
    return _first(category for category, fewest, words in _LABELS if len(labels & words) >= fewest)


def _by_definition(words: list[str], text: str) -> str | None:
    """Return the category of the noun that an opening gives: `Elena is the captain of the guard.`"""
    opening = text[:_OPENING]
    found = _IS_ONE.search(opening)
    if found is None or found.start() > _LONGEST_SUBJECT:
        return None
    subject = opening[: found.start()].casefold()
    return _of_phrase(opening[found.end() :]) if any(word in subject for word in words) else None


def _by_opening(words: list[str], text: str) -> str | None:
    """Return the category of the noun that a text begins with: `A village by the river.`"""
    found = _BEGINS.match(text)
    phrase = text[found.end() : found.end() + _OPENING] if found else ""
    return None if any(word in phrase.casefold() for word in words) else _of_phrase(phrase)


def _of_phrase(text: str) -> str | None:
    found = None
    for count, word in enumerate(_WORD.finditer(text)):
        plain = word[0].casefold().replace("\u2019", "'").removesuffix("'s")
        if plain in _AFTER_HEAD or count >= _LONGEST_PHRASE:
            break
        found = _by_noun(plain) or found
        if text[word.end() : word.end() + 1] not in (" ", "-"):
            break
    return found


def _by_noun(word: str) -> str | None:
    """Return the category of what a common noun names."""
    forms = _singular(word)
    if word.endswith(tuple(ROLE_ENDINGS)):
        return "NPC"
    return _first(category for category, known in _NOUNS if forms & known)


def _by_book(title: str) -> str | None:
    """Return the category that the name of a book or a file gives: `5e-SRD-Conditions`."""
    words = _words(title)
    found = category_named(words[-1]) if words and words[-1].endswith("s") else None
    return found if found != OTHER_LORE or words[-1] in _RULES else None


def _is_person(title: str, text: str) -> bool:
    """Return True for a title that is written like the name of somebody, and that the text uses like one."""
    words = [word for word in title.split() if word.casefold() not in _PARTICLES]
    if not words or len(words) > _MOST_NAME_WORDS or title.casefold().startswith("the "):
        return False
    if not all(word[:1].isupper() and _WORD.fullmatch(word) for word in words):
        return False
    used = [found[0].removesuffix("'s").removesuffix("\u2019s") for found in _WORD.finditer(text)]
    if any(word.casefold() in used for word in words):
        return False  # a common word: a blinded creature, the charmed
    has_article = any(one.casefold() in _ARTICLES and two == words[0] for one, two in pairwise(used))
    return not has_article and (words[0] in used or _PERSONAL.search(text) is not None)


def _words(title: str) -> list[str]:
    plain = title.casefold().replace("\u2019", "'").replace("_", " ").replace("-", " ")
    words = [word.removesuffix("'s") for word in _WORD.findall(plain)]
    return words[1:] if words[:1] == ["the"] else words


def _singular(word: str) -> set[str]:
    return {word, *(form for form in numbers_of(word) if len(form) < len(word))}


def _first(found: Iterable[str | None]) -> str | None:
    kept: Iterator[str] = (category for category in found if category)
    return next(kept, None)
