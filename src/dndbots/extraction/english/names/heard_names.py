"""Adds up what a hearer heard of each name, and says which names are of people and which of places.

The evidence for a turn is what was heard up to it, never what comes later: so it does not matter how many
turns are read together.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from dndbots.extraction.english.names.context import OTHER, PERSON, PLACE, NameContext, NameCue, nearest_kind
from dndbots.extraction.english.names.cues import cue_before, cues_of_shape, cues_of_the
from dndbots.extraction.english.names.cues_after import cue_after
from dndbots.extraction.english.names.spans import NameSpan, Token, find_spans, tokens_of
from dndbots.extraction.english.not_facts import is_fancied, is_sung
from dndbots.extraction.english.passages import passages
from dndbots.extraction.port import LONGEST_PASSAGE
from dndbots.extraction.turn_evidence import untitled
from dndbots.text.words import fold_word

_LONGEST_TEXT: Final = 20_000
_MOST_NAMES: Final = 200  # in a turn
_MOST_FORMS: Final = 40  # names that share a word
_CATEGORIES: Final[Mapping[str, str]] = {PERSON: "NPC", PLACE: "LOC"}
# What a name looks like counts once; every other cue counts less each time.
_SHAPES: Final = frozenset(["title", "place word", "thing word", "no name's shape", "two words", "shape"]) | {
    "everyday word",
    "one word",
    "real world",
    "no people",
}
_AGAIN: Final = 0.6
_ASKED: Final = 0.6
# The cues by which a word that only opens sentences is surely a name.
_SURE: Final = frozenset(
    [
        "title",
        "place word",
        "who",
        "where",
        "a",
        "is a",
        "called",
        "alone after",
        "noun before",
    ]
)
_DOING: Final = frozenset(["act", "helper", "is a", "is alive", "is acting", "who", "a"])
_ENOUGH: Final = 2.0
_AHEAD: Final = 1.0
_ONLY_OPENING: Final = 2.7
_IN_LOWER_CASE: Final = 1.2


class NameHint(NamedTuple):
    """A mention of a name in a turn, with its cues."""

    name: str
    opens: bool
    cues: tuple[NameCue, ...]
    acts: bool  # stands where the subject of a sentence does


class TurnHints(NamedTuple):
    """The names that a turn mentions, and its words in lower case."""

    names: tuple[NameHint, ...]
    lower: frozenset[str]


_PRONOUNS: Final = frozenset(["he", "she", "he's", "she's", "he'd", "she'd", "he'll", "she'll", "his", "her"])
_NEAR: Final = 6  # words
_BEFORE_SUBJECTS: Final = frozenset(
    [",", ":", ";", "and", "but", "is", "was", "that", "that's", "called", "named"]
)
NO_HINTS: Final = TurnHints((), frozenset())


class HeardNames:
    """The evidence for names in the last turns that somebody heard."""

    def __init__(self) -> None:
        self._turns: deque[TurnHints] = deque()
        self._cues: dict[str, Counter[NameCue]] = {}
        self._inside: Counter[str] = Counter()
        self._lower: Counter[str] = Counter()
        self._by_word: dict[str, Counter[str]] = {}

    def hear(self, text: str) -> dict[str, str]:
        """Add a turn; return the names in it that are surely of people or places, with their categories."""
        hints = read_hints(text[:_LONGEST_TEXT])
        self._turns.append(hints)
        self._count(hints, 1)
        if len(self._turns) > LONGEST_PASSAGE:
            self._count(self._turns.popleft(), -1)
        found: dict[str, str] = {}
        for name in dict.fromkeys(hint.name for hint in hints.names):
            kind = self.kind_of(name)
            if kind is not None and not (kind == PLACE and self._is_short(name)):
                found[name] = _CATEGORIES[kind]
        return found

    def kind_of(self, name: str) -> str | None:
        """Return whether a name is a person's or a place's; None if that is not sure."""
        weights = self.weights(name)
        kind = PERSON if weights[PERSON] > weights[PLACE] else PLACE
        ahead = weights[kind] - max(weight for other, weight in weights.items() if other != kind)
        if weights[kind] < _ENOUGH or ahead < _AHEAD:
            return None
        if self._inside[name] == 0:
            if self._lower[fold_word(name)]:
                return None
            sure = any(cue.cue in _SURE and cue.kind == kind for cue in self._cues[name])
            is_plural = name.isascii() and name.endswith("s") and not name.endswith(("ss", "us", "is"))
            if not sure and weights[kind] < _ONLY_OPENING + is_plural:
                return None
        return kind

    def weights(self, name: str) -> dict[str, float]:
        """Return the weight of the evidence that a name is a person's, a place's, or another's."""
        weights = {PERSON: 0.0, PLACE: 0.0, OTHER: 0.0}
        cues: Counter[NameCue] = Counter()
        for form in self._forms(name):
            for cue, times in self._cues[form].items():
                if form == name or cue.cue not in _SHAPES:
                    cues[cue] += times
        for cue, times in cues.items():
            again = 1 if cue.cue in _SHAPES else (1 - _AGAIN**times) / (1 - _AGAIN)
            weights[cue.kind] += cue.weight * again
        if " " not in name:
            weights[OTHER] += _IN_LOWER_CASE * min(3, self._lower[fold_word(name)])
        return weights

    def _forms(self, name: str) -> Iterator[str]:
        """Yield a name, and the longer and shorter names of the same person."""
        yield name
        words = untitled(name).split()
        if "of" in words:
            return
        for word in dict.fromkeys((words[0], words[-1])):
            for other in islice(self._by_word.get(word, ()), _MOST_FORMS):
                if (
                    other != name
                    and " of " not in other
                    and (len(words) == 1 or other == word or untitled(other) == " ".join(words))
                ):
                    yield other

    def _is_short(self, name: str) -> bool:
        """Return whether a longer name of a place ends with this one: the Eel is the Gutted Eel."""
        forms = islice(self._by_word.get(name, ()), _MOST_FORMS)
        return any(other != name and other.endswith(f" {name}") for other in forms)

    def _count(self, hints: TurnHints, sign: int) -> None:
        for hint in hints.names:
            cues = self._cues.setdefault(hint.name, Counter())
            for cue in hint.cues:
                cues[cue] += sign
                if not cues[cue]:
                    del cues[cue]
            self._inside[hint.name] += sign * (not hint.opens)
            words = untitled(hint.name).split()
            for word in {words[0], words[-1]}:
                of_word = self._by_word.setdefault(word, Counter())
                of_word[hint.name] += sign
                if not of_word[hint.name]:
                    del of_word[hint.name]
        for word in hints.lower:
            self._lower[word] += sign


def likely_names(texts: Iterable[str]) -> list[dict[str, str]]:
    """Return, for each turn in order, its names that the turns up to it show to be of people or places."""
    heard = HeardNames()
    return [heard.hear(text) for text in texts]


@lru_cache(maxsize=2_048)
def read_hints(text: str) -> TurnHints:
    """Return the names in a text with the cues for what bears them, cached."""
    if is_sung(text):
        return NO_HINTS
    hints: list[NameHint] = []
    lower: set[str] = set()
    subject: dict[int | None, int] = {}  # the hint that "he" may mean, in the narration and each quotation
    earlier: dict[int | None, Sequence[Token]] = {}
    for passage in passages(text):
        tokens = tokens_of(passage.text)
        lower.update(token.low for token in tokens if token.text[0].islower())
        if is_fancied(passage.text):
            continue
        if passage.quoted in subject and (meant := _meant(tokens)):
            hint = hints[subject[passage.quoted]]
            hints[subject[passage.quoted]] = hint._replace(cues=(*hint.cues, *meant))
        before = earlier.get(passage.quoted, ())
        found = list(_hints_of(passage.text, tokens, before, asks=passage.asks))
        subject.pop(passage.quoted, None)
        acting = [number for number, hint in enumerate(found) if hint.acts and _is_somebody(hint)]
        if len(acting) == 1:
            subject[passage.quoted] = len(hints) + acting[0]
        hints += found
        earlier[passage.quoted] = tokens
    return TurnHints(tuple(hints[:_MOST_NAMES]), frozenset(lower))


def _meant(tokens: Sequence[Token]) -> tuple[NameCue, ...]:
    """Return what the sentence after a name says of it: "he" is a person, and "it" is none."""
    if any(token.low in _PRONOUNS for token in tokens[:_NEAR]):
        return (NameCue("he", PERSON, 1.2),)
    if tokens and tokens[0].low in ("it", "it's"):
        return (NameCue("it", PERSON, -1.0), NameCue("it", PLACE, 0.8))
    return ()


def _hints_of(
    sentence: str, tokens: Sequence[Token], earlier: Sequence[Token], *, asks: bool
) -> Iterator[NameHint]:
    spans = find_spans(sentence, tokens)
    for number, span in enumerate(spans):
        context = NameContext(tokens, span, *_list_around(tokens, spans, number))
        around = [*cues_of_the(context), *filter(None, (cue_before(context), cue_after(context)))]
        if asks:
            around = [cue._replace(weight=cue.weight * _ASKED) for cue in around]
        if context.is_alone and not asks and (kind := nearest_kind(token.low for token in reversed(earlier))):
            around.append(NameCue("alone after", kind, 1.6))
        before = tokens[span.first - 1].low if span.first else ""
        acts = not before or before in _BEFORE_SUBJECTS
        yield NameHint(span.name, span.opens, (*cues_of_shape(context), *around), acts)


def _is_somebody(hint: NameHint) -> bool:
    """Return whether "he" may mean the name; a word that opens a sentence must do something first."""
    return not hint.opens or any(cue.cue in _DOING for cue in hint.cues)


def _list_around(tokens: Sequence[Token], spans: Sequence[NameSpan], number: int) -> tuple[int, int]:
    """Return the ends of the list that a name is one of: "with Ana, Bea and Carl"."""
    first = last = number
    while first and _is_listed(tokens, spans[first - 1], spans[first]):
        first -= 1
    while last + 1 < len(spans) and _is_listed(tokens, spans[last], spans[last + 1]):
        last += 1
    joined = any(
        tokens[at].low in ("and", "or") for at in range(spans[first].first, spans[last].first) if last > first
    )
    if not joined:
        return spans[number].first, spans[number].last
    return spans[first].first, spans[last].last


def _is_listed(tokens: Sequence[Token], before: NameSpan, after: NameSpan) -> bool:
    between = [token.low for token in tokens[before.last : after.first]]
    return between in ([","], ["and"], [",", "and"], ["or"]) and not tokens[before.last - 1].owns
