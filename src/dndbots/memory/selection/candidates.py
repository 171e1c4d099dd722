"""Candidate sentences for a summary, each with its cost, its weight and its content words.

The candidates of an entry never depend on other entries, so they can be cached and added to. Chosen
candidates become lines here, too: the sentences of one entry stand on one line, under its speaker's name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from dndbots.canon.cues import cue_in
from dndbots.memory.entries import Entry, Line
from dndbots.memory.selection.shortener import shorten
from dndbots.memory.selection.weights import (
    ASIDE,
    CUE,
    GESTURE,
    NARRATED,
    OUTCOME,
    TAUGHT,
    WHISPER,
    find_retellings,
    is_change,
    weight_of,
)
from dndbots.text.clean import prompt_line
from dndbots.text.labels import short_label, write_unlabelled
from dndbots.text.sentences import is_hanging, spoken_sentences
from dndbots.text.terms import terms_of
from dndbots.text.words import content_stems, stems_of
from dndbots.tokens import DEFAULT_ENCODING, count_many

# The end of a session weighs more, because the next session starts there.
_ENDING: Final = 0.1
_ENDING_WEIGHT: Final = 2.5
_SHORT_SESSION: Final = 20
# Beside what can be seen, a list has only a few words: "Your eyes stop at".
_FEW_WORDS: Final = 5
_FEWEST_TELLING: Final = 3  # words with a meaning of their own
_JOINTS: Final = frozenset(("a", "an", "and", "or", "the", "way", "ways"))
_WORD: Final = re.compile(r"\w+")
_SPOKEN: Final = re.compile(r'[^"]{1,60} said, "')


class Candidate(NamedTuple):
    """A sentence that a summary may use.

    `entry` and `place` (its number in the entry) give the order of play, `tokens` is its cost as a line.
    `who` is the speaker, or empty for narration. `told` marks narration, `change` a sentence in which
    something changes, `outcome` one that the rules decided, `retold` one of a DM's recap.
    """

    text: str
    who: str = ""
    source: str = ""
    session: str = ""
    entry: int = 0
    place: int = 0
    tokens: int = 0
    words: tuple[str, ...] = ()
    weight: float = 1.0
    told: bool = True
    change: bool = False
    outcome: bool = False
    retold: bool = False

    @property
    def line(self) -> str:
        return f"{self.who}: {self.text}" if self.who else self.text

    @property
    def order(self) -> tuple[int, int]:
        return self.entry, self.place


def find_candidates(
    entries: Iterable[Entry], *, first: int = 0, shortened: bool = True, encoding: str = DEFAULT_ENCODING
) -> list[Candidate]:
    """Return all sentences of the entries in the order of play; `first` is the number of the first entry.

    Each has its exact cost as a line of its own, newline included. `shortened` drops filler words.
    """
    listed = list(entries)
    retold = find_retellings(listed)
    made = [
        (candidate, first + number)
        for number, entry in enumerate(listed)
        for candidate in find_entry_candidates(entry, number in retold, shortened)
    ]
    counts = count_many((candidate.line + "\n" for candidate, _ in made), encoding)
    return raise_endings(
        [
            candidate._replace(entry=number, tokens=count)
            for (candidate, number), count in zip(made, counts, strict=True)
        ]
    )


def raise_endings(made: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with more weight at the end of each session.

    Call it once, when the session is complete: each call raises the weights again.
    """
    bounds: dict[str, tuple[int, int]] = {}
    for candidate in made:
        first, _ = bounds.get(candidate.session, (candidate.entry, 0))
        bounds[candidate.session] = (first, candidate.entry)
    ending = {
        session: last - _ENDING * (last - first)
        for session, (first, last) in bounds.items()
        if last - first >= _SHORT_SESSION
    }
    return [
        candidate._replace(weight=candidate.weight * _ENDING_WEIGHT)
        if candidate.entry > ending.get(candidate.session, candidate.entry)
        else candidate
        for candidate in made
    ]


# The same entry is summarised as part of a scene and of a session, and for everybody who was there.
@lru_cache(maxsize=1 << 13)
def find_entry_candidates(entry: Entry, retold: bool, shortened: bool) -> tuple[Candidate, ...]:  # noqa: FBT001
    """Return the sentences of one entry, without entry number and token count."""
    return tuple(_sentences_of(entry, retold=retold, shortened=shortened))


def _sentences_of(entry: Entry, *, retold: bool, shortened: bool) -> Iterator[Candidate]:
    place = 0
    # That somebody went somewhere, or drew a sword, matters less than what came of it.
    decided = any(deed.kind not in ("moved", "fight") and not deed.is_petty for deed in entry.deeds)
    for outcome in entry.outcomes:
        for sentence in spoken_sentences(outcome):
            if text := write_unlabelled(prompt_line(sentence)):
                yield Candidate(
                    text=text,
                    source=entry.event_id,
                    session=entry.session,
                    place=place,
                    words=content_stems(text),
                    weight=OUTCOME if decided else NARRATED,
                    change=True,
                    outcome=decided,
                )
                place += 1
    speaker = "" if entry.narrated else short_label(entry.who)
    for sentence in spoken_sentences(entry.text, clauses=shortened):
        text = prompt_line(shorten(sentence) if shortened else sentence)
        if not text or (entry.shown and _is_list(sentence, entry.shown)):
            continue
        terms = terms_of(text)
        who = "" if speaker and text.startswith((f"{speaker} ", f"{speaker}'s ")) else speaker
        yield Candidate(
            text=text if who else write_unlabelled(text),
            who=who,
            source=entry.event_id,
            session=entry.session,
            place=place,
            words=stems_of(terms),
            weight=weight_of(text, terms, narrated=entry.narrated) * _worth(entry, sentence),
            told=not speaker,
            change=is_change(terms),
            retold=retold,
        )
        place += 1


def _is_list(sentence: str, shown: Sequence[str]) -> bool:
    """Return whether a sentence only lists what can be seen: "Ways out: the cider house and the green."."""
    words = sentence.casefold()
    _, colon, listed = words.partition(": ")
    rest, after = words, listed
    for each in sorted(shown, key=len, reverse=True):
        rest, after = (text.replace(each.casefold(), " ") for text in (rest, after))
    said = [word for word in _WORD.findall(rest) if word not in _JOINTS]
    is_listed = bool(colon) and not set(_WORD.findall(after)) - _JOINTS
    return rest != words and (is_listed or len(said) <= _FEW_WORDS)


def _worth(entry: Entry, sentence: str) -> float:
    """Return a factor for what is left open or was whispered, for gestures and for asides."""
    if entry.aside:
        return ASIDE
    # What a gesture came to is told as an outcome; its speaker's words are what was said.
    if not entry.narrated and '"' in entry.text and '"' not in sentence:
        return GESTURE
    taught = any(deed.kind in ("told", "learned") for deed in entry.deeds)
    worth = (CUE if cue_in(sentence) else 1.0) * (WHISPER if entry.whispered else 1.0)
    return worth * (TAUGHT if taught else 1.0)


_ELLIPSIS = "\u2026"


def lines_of(chosen: Iterable[Candidate]) -> list[Line]:
    """Return one line for each entry and speaker, in the given order, with the event as its source."""
    lines = []
    for _, together in groupby(
        chosen, key=lambda candidate: (candidate.entry, candidate.who, candidate.outcome)
    ):
        group = list(together)
        text, last = group[0].line, group[0]
        for candidate in group[1:]:
            text = join_candidate(text, last, candidate)
            last = candidate
        lines.append(Line(text, (group[0].source,) if group[0].source else ()))
    return lines


def join_candidate(text: str, last: Candidate, candidate: Candidate) -> str:
    """Return a line that ends with one sentence with the next one: two of a quotation are one again."""
    if candidate.place == last.place + 1 and text.endswith('"') and candidate.text.startswith('"'):
        return f"{text[:-1]} {candidate.text[1:]}"
    opening = _SPOKEN.match(candidate.text)
    if opening and text.endswith('"') and _SPOKEN.match(text) and text.startswith(opening.group()):
        return f"{text[:-1]} {candidate.text[opening.end() :]}"
    return f"{text}; {candidate.text}" if text[-1].isalnum() else f"{text} {candidate.text}"


def hangs(candidate: Candidate) -> bool:
    """Return whether a sentence means little without the one before it: "Nine doors have one."."""
    if candidate.who and candidate.who in candidate.text:
        return True  # "I am Nub." says no more than the name before it
    few = len(candidate.words) < _FEWEST_TELLING and candidate.text.isascii()
    return few or (not candidate.who and is_hanging(candidate.text))


def cut_candidate(candidate: Candidate, tokens: int, encoding: str = DEFAULT_ENCODING) -> Candidate | None:
    """Return the candidate cut to fit into `tokens`, at a word end if possible; None if nothing fits."""
    whole = [candidate]
    if candidate.who:  # a long name may leave no room for the sentence itself
        whole.append(candidate._replace(who="", text='"' + candidate.text.replace('"', "'")))
    shorter = [each._replace(text=text) for each in whole for text in (each.text, *_beginnings(each.text))]
    counts = count_many((short.line for short in shorter), encoding)
    fitting = (s._replace(tokens=n) for s, n in zip(shorter, counts, strict=True) if n <= tokens)
    return next(fitting, None)


def _beginnings(text: str) -> Sequence[str]:
    """Return the beginnings of a text at word ends (at any character without spaces), longest first."""
    ends = [place for place, char in enumerate(text) if char == " "] or list(range(1, len(text)))
    return [text[:end].rstrip(" ,;:-") + _ELLIPSIS for end in reversed(ends)]
