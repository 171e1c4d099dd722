"""The check that every proposal passes before it is made: its words stand in the turn that it cites."""

from collections.abc import Iterable
from typing import Final

from dndbots.compaction.rules.lists import OPENERS
from dndbots.compaction.values import FIELDS, Turn, Update
from dndbots.memory.wording import FUNCTION_WORDS, words_of

_MARKUP: Final = frozenset("@#[]{}<>|`*_\\=")


class Evidence:
    """The words of one turn, and the name of whoever speaks in it."""

    def __init__(self, turn: Turn) -> None:
        self._words = set(words_of(turn.text))
        if turn.role != "dm":
            self._words.update(words_of(turn.speaker))

    def supports(self, update: Update) -> bool:
        """The name stands in the turn, and so does every word of the value that says something."""
        named = set(words_of(update.name))
        value = {word for word in words_of(update.value) if word not in FUNCTION_WORDS}
        return (
            update.field in FIELDS[update.kind]
            and _is_clean((update.name, update.value, update.said_by or ""))
            and bool(named)
            and not value <= OPENERS
            and named | value <= self._words
        )


def _is_clean(texts: Iterable[str]) -> bool:
    return all(text.isprintable() and _MARKUP.isdisjoint(text) for text in texts)
