"""The word tables that patterns are built from, read from the text files beside this module.

`words/*.txt` are sets of words, `words/phrases/*.txt` are lists whose order counts. A word that is missing
from a table means a fact that goes unread, never a wrong fact.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Final

_TABLES: Final = resources.files(__package__) / "words"


def _lines(path: str) -> tuple[str, ...]:
    """Read a table: one word or phrase a line, without the comments."""
    text = _TABLES.joinpath(f"{path}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_lines(name))


def _kinship() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(_TABLES.joinpath("kinship.toml").read_text("utf-8"))


def _tenses() -> Mapping[str, str]:
    tables: Mapping[str, Mapping[str, str]] = tomllib.loads(
        _TABLES.joinpath("tenses.toml").read_text("utf-8")
    )
    return tables["present"]


@cache
def read_phrases(name: str) -> tuple[str, ...]:
    """Return the phrases of `words/phrases/<name>.txt`, in the order of the file."""
    return _lines(f"phrases/{name}")


def any_phrase(name: str) -> str:
    """Return a pattern for any phrase of `words/phrases/<name>.txt`, tried in the order of the file."""
    return f"(?:{'|'.join(read_phrases(name))})"


def either(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first."""
    patterns = sorted((word.replace(" ", "[ ]") for word in words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(patterns)})"


ROLES: Final = _words("roles")
DEVOTED: Final = _words("devoted_roles")
ROLE_ENDINGS: Final = _lines("role_endings")
RACES: Final = _words("races")
PLAYED: Final = _words("played_races")
FOLK: Final = _words("folk")
ANIMALS: Final = _words("animals")
BELONGINGS: Final = _words("belongings")
LOOKS: Final = _words("looks")
FEATURES: Final = _words("features")
TEMPERS: Final = _words("tempers")
ADJECTIVES: Final = _words("race_adjectives")
SURNAMES: Final = _words("surname_endings")
TRADES: Final = _words("trades")
RULERS: Final = _words("rulers")
LEADERS: Final = _words("leaders")
PLACE_WORDS: Final = _words("place_words")
PLACE_KINDS: Final = _words("place_kinds")
PLACE_OPENERS: Final = _words("place_openers")
PLACE_ENDINGS: Final = _lines("place_endings")
FACTION_WORDS: Final = _words("faction_words")
ITEM_WORDS: Final = _words("item_words")
ITEM_ENDINGS: Final = _lines("item_endings")
TITLES: Final = _words("titles")
OPENERS: Final = _words("openers")
ASKING: Final = _words("request_verbs")
NAMED_THINGS: Final = _words("named_things")
NICKNAMES: Final = _words("nicknames")
REAL_WORLD: Final = _words("real_world")
# Words for ties between people, with the field that keeps each; the plurals in `MUTUAL` hold both ways.
KIN: Final = _kinship()["kin"]
MUTUAL: Final = _kinship()["mutual"]
# What a story in the past says, and what is so by it.
TENSES: Final = _tenses()
# What people and places do in a sentence, by which their names are told apart.
PERSON_ACTS: Final = _words("person_acts")
ANIMATE_STATES: Final = _words("animate_states")
MOTION_WORDS: Final = _words("motion_words")
GIVEN_TO: Final = _words("given_to")
GAZE_WORDS: Final = _words("gaze_words")
TOLD_PEOPLE: Final = _words("told_people")
TOWN_PARTS: Final = _words("town_parts")
OWN_PARTS: Final = _words("own_parts")
GREETINGS: Final = _words("greetings")
PEOPLE_WORDS: Final = _words("people_words")
BRANDS: Final = _words("brands")
PLACE_HEADS: Final = _words("place_heads")
MIXED_HEADS: Final = _words("mixed_heads")
DIRECTIONS: Final = _words("directions")
MIXED_OPENERS: Final = _words("mixed_openers")
NOT_PEOPLE: Final = _words("not_people")
IRREGULAR_PASTS: Final = _words("irregular_pasts")
