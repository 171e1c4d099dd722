"""Citations: the lines and facts that recall returns, as many of the best as fit into an exact budget."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots.memory.entries import Entry
from dndbots.memory.recall.fact_answers import KnownFact
from dndbots.text.labels import write_id
from dndbots.text.terms import terms_of
from dndbots.tokens import count_many, count_tokens, estimate_tokens

_FACTS_SHARE: Final = 0.4
_HOPEFUL: Final = 1.5
# The longest line shown whole, in characters; shorter in a small budget, so that several lines fit.
_LONGEST_LINE: Final = 480
_SHORTEST_CUT: Final = 160
_OF_BUDGET: Final = 0.8
_LONGEST_LABEL: Final = 60
_WORDS: Final = re.compile(r"\S+")

Section = Literal["facts", "lines"]


class RecallItem(BaseModel):
    """A cited line or fact. `reason` says why it was found, `sources` are the ids of its events.

    `says` are the words of the question that the line has itself; empty if it only stands near them.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    section: Section
    reason: str
    sources: tuple[str, ...]
    score: float
    says: tuple[str, ...] = ()
    session: str | None = None
    who: str | None = None


class CitedLine(NamedTuple):
    """A line that was found: its seq, its entry, its score, and why it was found."""

    seq: int
    entry: Entry
    score: float
    says: tuple[str, ...]
    reason: str
    text: str


def fit_citations(
    facts: list[KnownFact], lines: list[CitedLine], budget: int, encoding: str
) -> list[RecallItem]:
    """Return the facts, up to their share, and the best lines that fit; counted as one text."""
    offered = [_fact_item(fact) for fact in facts]
    longest = min(max(int(budget * _OF_BUDGET), _SHORTEST_CUT), _LONGEST_LINE)
    heads = [_line_item(line, longest) for line in lines]
    items = _likely([*offered, *heads], budget)
    counts = count_many([item.text for item in items], encoding)
    items = [item.model_copy(update={"tokens": n}) for item, n in zip(items, counts, strict=True)]
    taken, left = list[int](), budget
    for n, item in enumerate(items):
        room = left - (budget - int(budget * _FACTS_SHARE) if item.section == "facts" and lines else 0)
        if item.tokens + 1 <= room:
            taken.append(n)
            left -= item.tokens + 1
    order = {n: (1, lines[n - len(offered)].seq) if n >= len(offered) else (0, n) for n in taken}
    kept = [items[n] for n in sorted(taken, key=order.__getitem__)]
    # A token may reach over the end of a line, so the whole text is counted as well.
    while kept and count_tokens("\n".join(item.text for item in kept), encoding) > budget:
        kept.remove(min(kept, key=lambda item: item.score))
    return kept or [_cut(item, budget, encoding) for item in items[:1]]


def _likely(items: list[RecallItem], budget: int) -> list[RecallItem]:
    """Return only items that may fit, by a rough estimate: exact counting costs more than all the rest."""
    sizes = accumulate(estimate_tokens(item.text) for item in items)
    return [item for item, size in zip(items, sizes, strict=True) if size <= _HOPEFUL * budget] or items[:1]


def _fact_item(fact: KnownFact) -> RecallItem:
    head = _head(fact.sources[0], None)
    return RecallItem(
        text=f"{head} {fact.text}",
        tokens=0,
        section="facts",
        reason=fact.reason,
        sources=fact.sources,
        score=round(fact.score, 4),
    )


def _line_item(line: CitedLine, longest: int) -> RecallItem:
    entry = line.entry
    words = f"{_shorten_label(entry.who)}: {_shortened(line, longest)}"
    return RecallItem(
        text=f"{_head(entry.event_id, entry.session)} {words}",
        tokens=0,
        section="lines",
        reason=line.reason,
        sources=(entry.event_id,),
        score=round(line.score, 4),
        says=line.says,
        session=entry.session,
        who=entry.who,
    )


def _head(event_id: str, session: str | None) -> str:
    """Return the source of a line in brackets. Ids are escaped, so they cannot close the bracket."""
    return f"[{', '.join(write_id(name) for name in (event_id, session) if name)}]"


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
    text = item.text
    while count_tokens(text, encoding) > budget:
        text = f"{text[: len(text) // 2]}…"
    return item.model_copy(update={"text": text, "tokens": count_tokens(text, encoding)})
