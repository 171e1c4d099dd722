"""Lines of talk worth quoting: short, about what the story is about, and not said at every turn.

A line that made a promise or taught something comes first. Phrases that come back in the same words, as at
any table, say little about this story.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from dndbots.canon.cues import cue_in
from dndbots.memory.deeds import as_sentence
from dndbots.memory.entries import Entry
from dndbots.memory.tellings.passages import ToldPassage
from dndbots.text.clean import prompt_line
from dndbots.text.labels import short_label
from dndbots.text.sentences import split_sentences
from dndbots.text.words import content_stems

_FEWEST_WORDS: Final = 5
_MOST_WORDS: Final = 30
_SHINGLE: Final = 4
_MOST_STOCK: Final = 0.4
_MOST_TOLD: Final = 0.5
_OFTEN: Final = 12  # a word counts no more beyond this
_CUE: Final = 2.5
_TAUGHT: Final = 3.0
_OVERHEAD: Final = 6  # words added to each length, so that two words do not win by being short
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_QUOTES: Final = str.maketrans({"\u201c": '"', "\u201d": '"'})


class Quotation(NamedTuple):
    """Words that somebody said, with the number of the entry, its event, and the place if that is known."""

    text: str
    who: str
    at: int
    source: str
    place: str = ""

    @property
    def sentence(self) -> str:
        """The words with their speaker: `"Do not drink anything," said Wymond Pell.`"""
        words = self.text
        if words.endswith("."):
            words = f"{words[:-1]},"
        elif not words.endswith(("!", "?", "\u2026")):
            words = f"{words},"
        return f'"{words}" said {self.who}.'

    @property
    def passage(self) -> ToldPassage:
        """The quotation as a passage that a recap must have, and gives up before all others."""
        return ToldPassage(
            kind="told",
            who=(self.who,),
            did=f'said, "{as_sentence(self.text)}"',
            at=self.at,
            end=self.at,
            sources=(self.source,) if self.source else (),
            place=self.place,
            what=self.sentence,
            weight=0.0,
            must=True,
        )


def find_quotations(entries: Sequence[Entry], most: int) -> list[Quotation]:
    """Return at most `most` lines worth quoting, best first; each speaker is quoted once, if others spoke."""
    frequent = _frequencies(entries)
    stock = StockPhrases(entries)
    scored = [
        (-_score(quotation, entries[quotation.at], frequent), quotation)
        for quotation in _spoken(entries)
        if not stock.has(quotation.text)
    ]
    ranked = [quotation for _, quotation in sorted(scored, key=lambda pair: (pair[0], pair[1].at))]
    best = {quotation.who: quotation for quotation in reversed(ranked)}
    firsts = [quotation for quotation in ranked if best[quotation.who] == quotation]
    rest = [quotation for quotation in ranked if best[quotation.who] != quotation]
    return [*firsts, *rest][:most]


def _spoken(entries: Sequence[Entry]) -> Iterator[Quotation]:
    """Yield the sentences that people said.

    Where some lines have quotation marks, only what stands inside them was said aloud.
    """
    talk = [(at, entry) for at, entry in enumerate(entries) if not entry.narrated and entry.who]
    marked = any('"' in entry.text.translate(_QUOTES) for _, entry in talk)
    taught = any(deed.kind in ("told", "offered") for _, entry in talk for deed in entry.deeds)
    for at, entry in talk:
        if taught and not (entry.deeds or cue_in(entry.text)):
            continue
        for speech in quoted_in(entry.text) if marked else [entry.text]:
            for sentence in split_sentences(speech):
                words = len(_WORD.findall(sentence))
                fits = _FEWEST_WORDS <= words <= _MOST_WORDS and not sentence.endswith("?")
                # "Nub, at your service" says no more than the name behind it.
                if fits and entry.who not in sentence and not _is_told(sentence, entry):
                    text = prompt_line(sentence).replace('"', "'").rstrip(",")
                    place = next((deed.place for deed in entry.deeds if deed.place), "")
                    yield Quotation(text, short_label(entry.who), at, entry.event_id, place)


def _is_told(sentence: str, entry: Entry) -> bool:
    """Return whether a deed of the entry says the same: what somebody asks for is told as its goal."""
    stems = set(content_stems(sentence))
    told = {stem for deed in entry.deeds for stem in content_stems(deed.did)}
    return len(stems & told) > _MOST_TOLD * len(stems)


def quoted_in(text: str) -> list[str]:
    """Return all words in quotation marks."""
    return [part.strip() for part in text.translate(_QUOTES).split('"')[1::2] if part.strip()]


def said_aloud(entry: Entry) -> Entry:
    """Return the words that somebody says without those around them: "Wymond Pell takes a breath."."""
    spoken = [] if entry.narrated else [_whole(words) for words in quoted_in(entry.text)]
    return replace(entry, text=" ".join(filter(None, spoken))) if any(spoken) else entry


def _whole(words: str) -> str:
    """Return quoted words as sentences; "" for a few that are part of another sentence: "Nub," he says."""
    if words.endswith(","):
        return f"{words[:-1]}." if words.count(" ") + 1 >= _FEWEST_WORDS else ""
    *whole, last = split_sentences(words) or [""]
    return " ".join([*whole, last] if last.endswith((".", "!", "?", "\u2026")) else whole)


def _frequencies(entries: Iterable[Entry]) -> Counter[str]:
    return Counter(stem for entry in entries for stem in set(content_stems(entry.text)))


def _score(quotation: Quotation, entry: Entry, frequent: Counter[str]) -> float:
    """Return the worth of a quotation: words that the story comes back to, for each word of its length."""
    stems = set(content_stems(quotation.text))
    worth = sum(math.sqrt(min(frequent[stem], _OFTEN)) for stem in stems)
    worth /= len(quotation.text.split()) + _OVERHEAD
    if cue_in(quotation.text):
        worth *= _CUE
    return worth * (_TAUGHT if entry.deeds else 1.0)


class StockPhrases:
    """Word sequences that several entries share."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        counts: Counter[tuple[str, ...]] = Counter()
        for entry in entries:
            counts.update(set(_shingles(entry.text)))
        self._shared = {shingle for shingle, times in counts.items() if times > 1}

    def has(self, sentence: str) -> bool:
        """Return whether much of a sentence stands in other entries as well."""
        own = list(_shingles(sentence))
        shared = sum(shingle in self._shared for shingle in own)
        return bool(own) and shared >= _MOST_STOCK * len(own)


def _shingles(text: str) -> Iterator[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    for start in range(len(words) - _SHINGLE + 1):
        yield tuple(words[start : start + _SHINGLE])
