"""Blocks of a context: the lines under a heading that fit into an exact room, and the lines that do not.

Lines with the lowest rank are taken first. The order of the lines in the text is the order of the offers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.dcml import (
    DCMLCategory,
    DCMLEntity,
    Document,
    Group,
    Section,
    SectionKind,
    Statement,
    render,
)
from dndbots.dcml.dense_renderer import dense_lexicon
from dndbots.dcml.tree import replace_uids
from dndbots.ids import DM, category_of
from dndbots.memory.context import xray
from dndbots.memory.context.xray import ContextItem, item_of
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.text.sentences import split_sentences
from dndbots.tokens import count_many, count_tokens

OVER_BUDGET: Final = "over budget"
# Characters that open a heading or the guide.
_OPENING: Final = ("#", "`", " ")


class SentenceOffer(NamedTuple):
    """A sentence that may go into a context. Offers with a lower rank go in first.

    `brief` is the same in fewer words: it gets room before any other offer gets room for all its words. If
    the text begins with it, as many more of its sentences stand as there is room for.
    """

    text: str
    section: xray.Section
    reason: str
    sources: tuple[str, ...]
    rank: int = 0
    brief: str = ""


class StatementOffer(NamedTuple):
    """A line of DCML that may go into a context: statements with one subject and one certainty.

    `uids` are all uids in it. Offers with a lower rank go in first.
    """

    statements: tuple[Statement, ...]
    uids: tuple[str, ...]
    section: xray.Section
    reason: str
    sources: tuple[str, ...]
    rank: int = 0


class Block(NamedTuple):
    """A part of a context: its text, which ends in a newline, its items, and the items left out."""

    text: str = ""
    items: tuple[ContextItem, ...] = ()
    dropped: tuple[ContextItem, ...] = ()


def fit_sentences(offers: Sequence[SentenceOffer], room: int, *, head: str = "", encoding: str) -> Block:
    """Return a block of the sentences that fit under a heading, in the given order.

    Leading marks that would open a section are removed from each sentence.
    """
    offers = [offer for offer in map(_without_marks, offers) if offer.text]
    counts = count_many([f"{offer.text}\n" for offer in offers], encoding)
    left = room - (count_tokens(f"{head}\n", encoding) if head else 0)
    taken: set[int] = set()
    ranked = sorted(range(len(offers)), key=lambda n: (offers[n].rank, n))
    if sum(counts) > left:
        offers, counts = _in_brief(offers, counts, ranked, left, encoding)
    for n in ranked:
        if counts[n] <= left:
            taken.add(n)
            left -= counts[n]
    items = [_item(offer, tokens) for offer, tokens in zip(offers, counts, strict=True)]
    kept = tuple(item for n, item in enumerate(items) if n in taken)
    dropped = tuple(as_dropped(item) for n, item in enumerate(items) if n not in taken)
    if not kept:
        return Block(dropped=dropped)
    lines = [head, *(item.text for item in kept)] if head else [item.text for item in kept]
    return Block("\n".join(lines) + "\n", kept, dropped)


def _in_brief(
    offers: Sequence[SentenceOffer], counts: Sequence[int], ranked: Sequence[int], room: int, encoding: str
) -> tuple[list[SentenceOffer], list[int]]:
    """Return the offers, and their tokens, with some in brief so that more of them fit."""
    told, costs = list(offers), list(counts)
    short = dict(zip(ranked, count_many([f"{offers[n].brief}\n" for n in ranked], encoding), strict=True))
    room -= sum(short[n] for n in ranked if offers[n].brief)
    for n in (n for n in ranked if offers[n].brief):
        room += short[n]
        if costs[n] > room:
            told[n], costs[n] = _shortened(offers[n], short[n], room, encoding)
        room -= costs[n]
    return told, costs


def _shortened(offer: SentenceOffer, tokens: int, room: int, encoding: str) -> tuple[SentenceOffer, int]:
    """Return an offer in brief, of `tokens` tokens, or with as many sentences as fit into `room`."""
    brief = _without_marks(offer._replace(text=offer.brief))
    if not offer.text.startswith(brief.text):
        return brief, tokens
    rest = split_sentences(offer.text[len(brief.text) :])
    longer = [f"{brief.text} {' '.join(rest[:number])}" for number in range(len(rest) - 1, 0, -1)]
    counts = count_many([f"{text}\n" for text in longer], encoding)
    fitting = (pair for pair in zip(longer, counts, strict=True) if pair[1] <= room)
    text, cost = next(fitting, (brief.text, tokens))
    return brief._replace(text=text), cost


def _without_marks(offer: SentenceOffer) -> SentenceOffer:
    return (
        offer._replace(text=offer.text.lstrip("".join(_OPENING)))
        if offer.text.startswith(_OPENING)
        else offer
    )


def as_dropped(item: ContextItem) -> ContextItem:
    """Return an item as one that was left out because it is over budget."""
    return item_of(item.text, item.tokens, item.section, f"{OVER_BUDGET}: {item.reason}", item.sources)


def _item(offer: SentenceOffer, tokens: int) -> ContextItem:
    return item_of(offer.text, tokens, offer.section, offer.reason, offer.sources)


class StatementWriter(NamedTuple):
    """A writer of DCML documents for one reader.

    `named` returns the names of some uids, in the order in which the reader met them; `spelled` returns each
    uid as the reader may see it. `titles` are the headings of sections; the DM's document is named after
    `session`.
    """

    reader: str
    session: str
    named: Callable[[Sequence[str]], Mapping[str, str]]
    spelled: Callable[[Sequence[str]], Mapping[str, str]]
    titles: Mapping[xray.Section, str]
    encoding: str

    def fit(self, offers: Sequence[StatementOffer], room: int, *, guide: str = "") -> Block:
        """Return a block of the offers that fit, lowest ranks first, with the names that they need.

        An offer that is too long is skipped, and later ones may still fit.
        """
        lines = _merged(offers)
        text = self._text(lines, guide)
        written = _written(text)
        whole, *costs = count_many([text, *(f"{line}\n" for line in written)], self.encoding)
        if whole <= room:
            return self._block(text, lines)
        texts, costs = written[-len(lines) :], costs[-len(lines) :]
        ranked = sorted(range(len(lines)), key=lambda n: (lines[n].rank, n))
        frame = count_tokens(self._text(lines[:1], guide), self.encoding) - costs[0]
        likely = self._likely([(lines[n], costs[n]) for n in ranked], room - frame)
        taken = [ranked[place] for place in likely]
        fitting = Block()
        while taken:
            kept = [lines[n] for n in sorted(taken)]
            text = self._text(kept, guide)
            if count_tokens(text, self.encoding) <= room:
                fitting = self._block(text, kept)
                break
            taken.pop()
        dropped = (
            item_of(texts[n], costs[n], line.section, f"{OVER_BUDGET}: {line.reason}", line.sources)
            for n, line in enumerate(lines)
            if n not in taken
        )
        return fitting._replace(dropped=tuple(dropped))

    def _likely(self, ranked: Sequence[tuple[StatementOffer, int]], room: int) -> list[int]:
        """Return the numbers of the lines that should fit, each counted with the names that it adds."""
        uids = [uid for line, _ in ranked for uid in line.uids]
        spelled = self.spelled(uids)
        entries = {
            entity.uid: _spelled(replace(entity, uid=spelled[entity.uid])) for entity in self._lexicon(uids)
        }
        costs = dict(zip(entries, count_many(entries.values(), self.encoding), strict=True))
        fitting = []
        for number, (line, tokens) in enumerate(ranked):
            cost = tokens + sum([costs.get(uid, 0) for uid in line.uids])
            if cost <= room:
                fitting.append(number)
                room -= cost
                costs |= dict.fromkeys(line.uids, 0)
        return fitting

    def _text(self, offers: Sequence[StatementOffer], guide: str) -> str:
        """Return the document of some offers, a line each, newlines included; empty without offers."""
        if not offers:
            return ""
        by_title: dict[str, list[Statement]] = {}
        for offer in offers:
            by_title.setdefault(self.titles[offer.section], []).extend(offer.statements)
        groups = tuple(Group(title, tuple(statements)) for title, statements in by_title.items())
        kind, owner = SectionKind.MEMORY, self.reader
        uids = {self.reader: None}
        if self.reader == DM:
            kind, owner, uids = SectionKind.SESSION, one_line(self.session) or "?", {}
        sections = (Section(kind, owner, groups),)
        uids |= dict.fromkeys(uid for offer in offers for uid in offer.uids)
        document = Document(tuple(self._lexicon(uids)), sections)
        opaque = {uid: other for uid, other in self.spelled(list(uids)).items() if other != uid}
        text = render(replace_uids(document, opaque) if opaque else document, dense=True)
        return f"{guide}\n{text}\n" if guide else f"{text}\n"

    def _lexicon(self, uids: Iterable[str]) -> list[DCMLEntity]:
        named = self.named(list(dict.fromkeys(uids)))
        return [entity for uid, name in named.items() if (entity := _entity(uid, name)) is not None]

    def _block(self, text: str, offers: Sequence[StatementOffer]) -> Block:
        """Return a document as a block: each line is an item, also the names, but not the headings."""
        lines = _written(text)
        names = len(lines) - len(offers)
        counts = count_many([f"{line}\n" for line in lines], self.encoding)
        all_sources = tuple(dict.fromkeys(source for offer in offers for source in offer.sources))
        reasons: list[tuple[xray.Section, str, tuple[str, ...]]]
        reasons = [("names", "names used below", all_sources)] * names
        reasons += [(offer.section, offer.reason, offer.sources) for offer in offers]
        items = [
            item_of(line, tokens, section, reason, sources)
            for line, tokens, (section, reason, sources) in zip(lines, counts, reasons, strict=True)
        ]
        return Block(text, tuple(items))


def _written(text: str) -> list[str]:
    """Return the lines of a document without headings: first the names, then a line for each offer."""
    document = text[text.find("## ") :].rstrip("\n")
    return [line for line in document.split("\n") if line and not line.startswith("#")]


# The documents of most turns name the same few entities.
@lru_cache(maxsize=4096)
def _entity(uid: str, name: str) -> DCMLEntity | None:
    category = category_of(uid)
    return None if category is None else DCMLEntity(uid, DCMLCategory(category), write_label(name))


@lru_cache(maxsize=4096)
def _spelled(entity: DCMLEntity) -> str:
    """Return a lexicon entry as it is written after another one, to count its tokens."""
    return f", {dense_lexicon((entity,))[0].partition(': ')[2]}"


def _merged(offers: Sequence[StatementOffer]) -> list[StatementOffer]:
    """Merge offers with the same section, subject and certainty, since they are written as one line."""
    merged: dict[object, StatementOffer] = {}
    for offer in offers:
        key = offer.section, offer.statements[0].subjects, offer.statements[0].certainty
        before = merged.setdefault(key, offer)
        if before is not offer:
            merged[key] = before._replace(
                statements=(*before.statements, *offer.statements),
                uids=tuple(dict.fromkeys((*before.uids, *offer.uids))),
                sources=tuple(dict.fromkeys((*before.sources, *offer.sources))),
            )
    return list(merged.values())


def head_block(head: str, items: Sequence[ContextItem]) -> Block:
    """Return a block of items below its heading; an empty block without items."""
    if not items:
        return Block()
    return Block("\n".join([*filter(None, (head,)), *(item.text for item in items)]) + "\n", tuple(items))


def block_texts(blocks: Iterable[Block]) -> list[str]:
    """Return the texts of the blocks that have any, without the newline at the very end."""
    texts = [block.text for block in blocks if block.text]
    return [*texts[:-1], texts[-1].rstrip("\n")] if texts else []


def drop_last_line(blocks: Sequence[Block]) -> list[Block]:
    """Drop the last line of the longest block.

    Blocks are counted line by line, and a token may reach over the end of a line.
    """
    longest = max(range(len(blocks)), key=lambda n: len(blocks[n].items))
    block = blocks[longest]
    kept, gone = block.items[:-1], block.items[-1]
    text = block.text[: -len(gone.text) - 1] if kept else ""
    shorter = Block(text, kept, (*block.dropped, as_dropped(gone)))
    return [shorter if n == longest else other for n, other in enumerate(blocks)]
