"""Citations: the lines and facts that recall returns, as many of the best as fit into an exact budget."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots.memory.entries import Entry
from dndbots.memory.recall.line_scores import REACH
from dndbots.text.labels import write_id
from dndbots.text.terms import terms_of
from dndbots.tokens import count_many, count_tokens, estimate_tokens

_FACTS_SHARE: Final = 0.4
_HOPEFUL: Final = 1.5
# The longest line shown whole, in characters; shorter in a small budget, so that several lines fit.
_LONGEST_LINE: Final = 320
_SHORTEST_CUT: Final = 160
_OF_BUDGET: Final = 0.4
# Lines below this share of the best score are shown shorter, so that more of them fit.
_NEARLY_BEST: Final = 0.85
_LONGEST_OTHER: Final = 200
_LONGEST_LABEL: Final = 60
# The longest id that is shown whole. The head of a run only tells about where it is.
_LONGEST_REFERENCE: Final = 12
# The tokens of a line's number, and the rounds in which a budget is filled.
_MARKS: Final = 4
_ROUNDS: Final = 2
# What stands above an answer that chance may have found.
UNCERTAIN: Final = "Nothing certain. The nearest lines are:"
_WORDS: Final = re.compile(r"\S+")

Section = Literal["facts", "memories", "lines"]
Confidence = Literal["strong", "weak"]


class RecallItem(BaseModel):
    """A cited line, fact or memory. `reason` says why it was found, `sources` are the ids of its events.

    `says` are the words of the question that the line has itself; empty if it only stands near them. Lines
    with the same `run` follow one another in the log; `reference` tells where the run begins. `parts` are the
    parts of a line's score: its own words, its window, its section, and its speaker.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    section: Section
    reason: str
    sources: tuple[str, ...]
    score: float
    confidence: Confidence = "strong"
    says: tuple[str, ...] = ()
    session: str | None = None
    who: str | None = None
    reference: str = ""
    run: int = 0
    parts: Mapping[str, float] = {}


class CitedLine(NamedTuple):
    """A line that was found: its place in the log, its entry, its score, and why it was found."""

    seq: int
    rank: int
    entry: Entry
    score: float
    confidence: Confidence
    says: tuple[str, ...]
    reason: str
    parts: Mapping[str, float]
    text: str


def write_citations(items: Iterable[RecallItem]) -> list[str]:
    """Return the text of each item as it is read: numbered, and the first of each run with its head."""
    texts, last = list[str](), 0
    for number, item in enumerate(items, 1):
        head = f"[{item.reference}] " if item.reference and (item.run != last or not item.run) else ""
        texts.append(f"{number}. {head}{item.text}")
        last = item.run
    return texts


def confidence_of(items: Sequence[RecallItem]) -> Confidence | None:
    """Return the confidence of an answer, which is that of its best item."""
    if not items:
        return None
    return "strong" if any(item.confidence == "strong" for item in items) else "weak"


def write_answer(items: Sequence[RecallItem]) -> str:
    """Return an answer as it is read: its citations, below a line that says so if none is certain."""
    head = [UNCERTAIN] if confidence_of(items) == "weak" else []
    return "\n".join([*head, *write_citations(items)])


def fit_citations(
    known: list[RecallItem], lines: list[CitedLine], budget: int, encoding: str
) -> list[RecallItem]:
    """Return the facts and memories, up to their share, then the best lines that fit; counted as one text.

    What answers best comes first, with the lines of its run in the order of play.
    """
    heads = [_line_item(line, longest) for line, longest in _likely(lines, budget)]
    items = [*known, *heads]
    counts = count_many([item.text for item in items], encoding)
    items = [item.model_copy(update={"tokens": n}) for item, n in zip(items, counts, strict=True)]
    references = count_many([f"[{item.reference}] " for item in items], encoding)
    runs, taken, shown = _Runs(), set[int](), list[RecallItem]()
    left = budget - (count_tokens(f"{UNCERTAIN}\n", encoding) if confidence_of(items) == "weak" else 0)
    facts_room = int(budget * _FACTS_SHARE) if lines else left
    # What lines cost in their places is only known once they are written, so what that leaves is filled, too.
    for _ in range(_ROUNDS):
        for n, (item, reference) in enumerate(zip(items, references, strict=True)):
            line = lines[n - len(known)] if n >= len(known) else None
            cost = item.tokens + _MARKS + (0 if line is not None and runs.has_beside(line) else reference)
            if n in taken or cost > (min(left, facts_room) if line is None else left):
                continue
            taken.add(n)
            left -= cost
            if line is None:
                facts_room -= cost
            else:
                runs.add(line)
        order = runs.in_reading_order()
        places = {n: lines[n - len(known)].seq for n in taken if n >= len(known)}
        shown = [items[n] for n in sorted(taken) if n < len(known)]
        shown += [
            items[n].model_copy(update={"run": order[places[n]]})
            for n in sorted(places, key=lambda n: (order[places[n]], places[n]))
        ]
        left = budget - count_tokens(write_answer(shown), encoding)
    while shown and left < 0:
        shown.remove(min(shown, key=lambda item: item.score))
        left = budget - count_tokens(write_answer(shown), encoding)
    return shown or [_cut(item, budget, encoding) for item in items[:1]]


class _Runs:
    """The chosen lines, as runs: lines of one session with few others in between."""

    def __init__(self) -> None:
        self._chosen: list[CitedLine] = []
        self._places: dict[int, str] = {}

    def add(self, line: CitedLine) -> None:
        """Add a line. The first one is the best."""
        self._chosen.append(line)
        self._places[line.rank] = line.entry.session

    def has_beside(self, line: CitedLine) -> bool:
        """Return whether a line near this one was chosen, so that it needs no head of its own."""
        near = (self._places.get(line.rank + n) for n in range(-REACH, REACH + 1))
        return any(session == line.entry.session for session in near)

    def in_reading_order(self) -> dict[int, int]:
        """Return the number of each line's run, by seq; the run with the best line is number one."""
        by_place = sorted(self._chosen, key=lambda line: line.rank)
        first: dict[int, int] = {}
        for before, line in zip([None, *by_place], by_place, strict=False):
            joined = (
                before is not None
                and line.rank - before.rank <= REACH
                and before.entry.session == line.entry.session
            )
            first[line.seq] = first[before.seq] if before is not None and joined else line.seq
        numbers: dict[int, int] = {}
        for line in self._chosen:
            numbers.setdefault(first[line.seq], len(numbers) + 1)
        return {seq: numbers[start] for seq, start in first.items()}


def _likely(lines: list[CitedLine], budget: int) -> list[tuple[CitedLine, int]]:
    """Return only lines that may fit, each with its greatest length.

    By a rough estimate: exact counting costs more than all the rest.
    """
    longest = min(max(int(budget * _OF_BUDGET), _SHORTEST_CUT), _LONGEST_LINE)
    other, enough = min(longest, _LONGEST_OTHER), _NEARLY_BEST * lines[0].score if lines else 0.0
    lengths = [(line, longest if line.score >= enough else other) for line in lines]
    sizes = accumulate(estimate_tokens(line.text[:length]) for line, length in lengths)
    room = int(_HOPEFUL * budget)
    return [one for one, size in zip(lengths, sizes, strict=True) if size <= room] or lengths[:1]


def _line_item(line: CitedLine, longest: int) -> RecallItem:
    entry = line.entry
    return RecallItem(
        text=f"{_shorten_label(entry.who)}: {_shortened(line, longest)}",
        tokens=0,
        section="lines",
        reason=line.reason,
        sources=(entry.event_id,),
        score=round(line.score, 4),
        confidence=line.confidence,
        says=line.says,
        parts=line.parts,
        session=entry.session,
        who=entry.who,
        reference=write_reference(entry.event_id, entry.session),
    )


def write_reference(event_id: str, session: str | None = None) -> str:
    """Return where something stands: its session, and the beginning of its id.

    An id that begins with the session says both. Ids are escaped, so they cannot close a bracket.
    """
    parts = (event_id,) if session is None or event_id.startswith(session) else (session, event_id)
    return ", ".join(write_id(part, _LONGEST_REFERENCE) for part in parts if part)


def _shorten_label(who: str) -> str:
    return who if len(who) <= _LONGEST_LABEL else f"{who[: _LONGEST_LABEL - 1]}…"


def _shortened(line: CitedLine, longest: int) -> str:
    """Return a line of a readable length; of a longer one, the part with most words of the question."""
    text = line.text
    if len(text) <= longest:
        return text
    wanted = set(line.says)
    words = [(m.start(), m.group()) for m in _WORDS.finditer(text)]
    asked = {word for word in {word for _, word in words} if _begins_alike(word, wanted)}
    hits = [start for start, word in words if word in asked]
    starts = [max(hit - longest // 4, 0) for hit in hits] or [0]
    start = max(starts, key=lambda begin: (_within(hits, begin, longest), -begin))
    part = text[start : start + longest]
    if start:
        part = f"…{part.partition(' ')[2] or part}"
    return part if start + longest >= len(text) else f"{part.rpartition(' ')[0] or part}…"


def _within(hits: Sequence[int], begin: int, longest: int) -> int:
    """Return how many of the sorted positions lie in the `longest` characters from `begin`."""
    return bisect_left(hits, begin + longest) - bisect_left(hits, begin)


def _begins_alike(text: str, wanted: Iterable[str]) -> bool:
    terms = terms_of(text)
    return any(term[:4] == word[:4] for term in terms for word in wanted)


def _cut(item: RecallItem, budget: int, encoding: str) -> RecallItem:
    """Cut an item until it fits: where nothing fits whole, its beginning is better than nothing."""
    item = item.model_copy(update={"reference": ""})
    while count_tokens(write_answer([item]), encoding) > budget:
        item = item.model_copy(update={"text": f"{item.text[: len(item.text) // 2]}…"})
    return item.model_copy(update={"tokens": count_tokens(item.text, encoding)})
