"""Counts of words, word pairs and names in a part of a transcript, which add and subtract exactly."""

from collections.abc import Iterable
from typing import Final, TypeVar

from dndbots.memory.entries import Entry
from dndbots.memory.selection.candidates import Candidate
from dndbots.memory.selection.salience import REACH, TALK, Salience
from dndbots.text.names import Spelling
from dndbots.text.words import Pair, pair_near_words

# Whole numbers: narration counts `_UNIT`, talk a part of that.
_UNIT: Final = 20
_SAID: Final = round(TALK * _UNIT)
_TALK_GROWTH: Final = 0.3
_TALK_NAME: Final = 1.3
_Key = TypeVar("_Key", str, Pair)


class Tally:
    """Counts of words, pairs and spellings, of all entries, and of the narrated ones among them."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.pairs: dict[Pair, int] = {}
        self.repeated: set[Pair] = set()
        self.spelling = Spelling()
        self.entries = 0
        self.narrated = 0

    def count(self, entry: Entry, candidates: Iterable[Candidate]) -> None:
        """Add one entry and its sentences."""
        self.entries += 1
        self.narrated += entry.narrated
        self.spelling.count(entry)
        self.count_sentences(candidates)

    def count_sentences(self, candidates: Iterable[Candidate]) -> None:
        """Add the words and pairs of some sentences."""
        words, pairs = self.words, self.pairs
        for candidate in candidates:
            times = _UNIT if candidate.told else _SAID
            for word in candidate.words:
                words[word] = words.get(word, 0) + times
            for pair in pair_near_words(candidate.words, REACH).pairs:
                total = pairs[pair] = pairs.get(pair, 0) + times
                if total > _UNIT:
                    self.repeated.add(pair)

    def add(self, other: "Tally", sign: int = 1) -> None:
        """Add a later tally, or subtract an earlier one with a sign of -1."""
        self.entries += sign * other.entries
        self.narrated += sign * other.narrated
        self.spelling.add(other.spelling, sign)
        _add(self.words, other.words, sign)
        _add(self.pairs, other.pairs, sign)
        pairs = self.pairs
        if sign > 0:
            self.repeated.update([pair for pair in other.pairs if pairs[pair] > _UNIT])
        else:
            self.repeated -= {pair for pair in other.pairs if pairs.get(pair, 0) <= _UNIT}

    def salience(self, names: Iterable[str] = (), *, narrated: bool = True) -> Salience:
        """Return the worth of the counts. It reads this tally itself, not a copy.

        Without narration, pairs mean little, and a rare word is worth almost as much as a frequent word or
        a name.
        """
        if narrated:
            return Salience(
                words=self.words,
                pairs=self.pairs,
                names=frozenset(names),
                unit=_UNIT,
                repeated=self.repeated,
            )
        return Salience(
            words=self.words, names=frozenset(names), unit=_UNIT, growth=_TALK_GROWTH, name=_TALK_NAME
        )

    def beside(self, candidates: Iterable[Candidate]) -> "Tally":
        """Return new counts of the words in these uncounted sentences, added to the counts of this tally."""
        new = Tally()
        new.count_sentences(candidates)
        words, pairs = self.words, self.pairs
        new.words = {word: words.get(word, 0) + times for word, times in new.words.items()}
        new.pairs = {pair: pairs.get(pair, 0) + times for pair, times in new.pairs.items()}
        new.repeated = {pair for pair, times in new.pairs.items() if times > _UNIT}
        return new


def _add(counts: dict[_Key, int], more: dict[_Key, int], sign: int) -> None:
    for key, times in more.items():
        total = counts.get(key, 0) + sign * times
        if total:
            counts[key] = total
        else:
            del counts[key]
