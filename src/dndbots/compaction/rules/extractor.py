"""The default extractor: it reads each turn on its own, and proposes only what the turn itself supports."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from dndbots.compaction.rules.cues import cues
from dndbots.compaction.rules.evidence import Evidence
from dndbots.compaction.rules.gates import after_rumor, is_closed, is_sung, is_written, takes_back
from dndbots.compaction.rules.naming import Lexicon, Marked, Mention, mark
from dndbots.compaction.rules.passages import QUOTE, Passage, passages
from dndbots.compaction.rules.plainly import plainly
from dndbots.compaction.rules.reading import Context, read
from dndbots.compaction.rules.voices import (
    antecedents,
    first_person,
    is_only_tag,
    third_person,
    voice,
)
from dndbots.compaction.values import Known, Turn, Update

LONGEST_TURN: Final = 200_000


class _Sentence(NamedTuple):
    marked: Marked
    passage: Passage
    said_by: str | None  # who is quoted
    unsaid: bool  # a quotation of nobody knows whom


class RuleExtractor:
    """Reads facts by rule. It asks nobody, keeps nothing between turns, and never raises on a text."""

    waits = False
    turn_by_turn = True

    def extract(self, turns: Sequence[Turn], known: Known) -> list[Update]:
        lexicon = Lexicon(known.names)
        return [update for turn in turns for update in _of_turn(turn, lexicon)]


def _of_turn(turn: Turn, lexicon: Lexicon) -> list[Update]:
    found: dict[Update, None] = {}
    text = plainly(turn.text[:LONGEST_TURN], told=turn.role == "dm")
    if is_sung(text):
        return []
    told = list(_sentences(text, lexicon))
    for sentence, after in zip_longest(told, told[1:]):
        own = sentence.said_by or (turn.speaker if turn.role != "dm" else None)
        marked = sentence.marked
        if sentence.unsaid or sentence.passage.asks or is_closed(sentence.passage.text):
            continue
        if after and takes_back(after.passage.text):
            continue
        if own:
            marked = first_person(marked, own)
        context = Context(
            turn=turn, lexicon=lexicon, said_by=sentence.said_by, rumor=after_rumor(marked.text)
        )
        found.update(dict.fromkeys(read(marked, context)))
    evidence = Evidence(turn) if found else None
    return [update for update in found if evidence and evidence.supports(update)]


def _sentences(text: str, lexicon: Lexicon) -> Iterator[_Sentence]:
    """The sentences of a turn with their names marked, and who says them."""
    told = list(passages(text))
    first = [mark(passage.text, lexicon) for passage in told]
    letters = _letters(first)
    speaker: str | None = None
    quoted_by: str | None = None
    # Whom a pronoun may mean, in the telling and in each quotation on its own.
    before: dict[int | None, list[Mention]] = {}
    for passage, plain in zip(told, first, strict=True):
        marked = mark(passage.text, lexicon, letters) if letters else plain
        marked = third_person(marked, before.get(passage.quoted, ()))
        before[passage.quoted] = antecedents(marked)
        if passage.quoted is None:
            if QUOTE in passage.text:
                said = None if is_written(passage.text) else voice(marked)
                quoted_by = said or (speaker if passage.text.strip(" .") == QUOTE else None)
                speaker = said if is_only_tag(marked) or passage.text.startswith(QUOTE) else None
            elif passage.text.strip():
                speaker = None
            yield _Sentence(marked, passage, None, unsaid=False)
        else:
            yield _Sentence(marked, passage, quoted_by, unsaid=quoted_by is None)


def _letters(marked: list[Marked]) -> dict[str, str]:
    """What the turn tells of names that nothing else explains. Where it contradicts itself, nothing."""
    told: dict[str, set[str]] = {}
    for sentence in marked:
        for name, letter in cues(sentence):
            told.setdefault(name, set()).add(letter)
    return {name: next(iter(letters)) for name, letters in told.items() if len(letters) == 1}
