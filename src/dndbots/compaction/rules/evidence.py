"""The check that every proposal passes before it is made: its words stand in the turn that it cites."""

from dndbots.compaction.rules.lists import OPENERS
from dndbots.compaction.values import FIELDS, LONGEST_VALUE, Turn, Update
from dndbots.memory.wording import FUNCTION_WORDS, folded, words_of


def is_supported(update: Update, turn: Turn) -> bool:
    """The name is in the turn or the speaker's, and so is every word of the value that says something."""
    if update.field not in FIELDS[update.kind] or not _is_clean(update.value) or not _is_clean(update.name):
        return False
    said = set(words_of(turn.text))
    theirs = set(words_of(turn.speaker)) if turn.role != "dm" else set()
    named = set(words_of(update.name))
    value = {word for word in words_of(update.value) if word not in FUNCTION_WORDS}
    return bool(named and value) and named <= said | theirs and value <= said | theirs and not _is_loose(value)


def _is_loose(words: set[str]) -> bool:
    return words <= OPENERS


def _is_clean(text: str) -> bool:
    return text.isprintable() and len(text) <= LONGEST_VALUE and not any(sign in text for sign in "@#[]{}<>|`*_\\=")


def same(one: str, other: str) -> bool:
    return folded(one) == folded(other)
