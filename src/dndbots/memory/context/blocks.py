"""Parts of a context: lines under a heading that fit into some room, and what did not.

The room is exact. What goes first into a part is what ranks lowest; what stands first is decided by
whoever offers the lines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from dndbots.dcml import (
    DCMLCategory,
    DCMLEntity,
    Document,
    Group,
    Section,
    SectionKind,
    Statement,
    refs_of,
    render,
)
from dndbots.ids import DM, category_of
from dndbots.memory.context import values
from dndbots.memory.context.values import ContextItem
from dndbots.tokens import count_many, count_tokens

NO_ROOM: Final = "no room"


class Offer(NamedTuple):
    """A sentence that may go into a context. The lower its rank, the sooner it does."""

    text: str
    section: values.Section
    reason: str
    sources: tuple[str, ...]
    rank: int = 0


class Statements(NamedTuple):
    """A line of DCML that may go into a context: statements with one subject and one certainty."""

    statements: tuple[Statement, ...]
    section: values.Section
    reason: str
    sources: tuple[str, ...]
    rank: int = 0


class Block(NamedTuple):
    """A part of a context: its text, whose last line ends in a newline, and its manifest."""

    text: str = ""
    items: tuple[ContextItem, ...] = ()
    dropped: tuple[ContextItem, ...] = ()


def sentences(offers: Sequence[Offer], room: int, *, head: str = "", encoding: str) -> Block:
    """The sentences that fit under a heading, in the order given."""
    counts = count_many([f"{offer.text}\n" for offer in offers], encoding)
    left = room - (count_tokens(f"{head}\n", encoding) if head else 0)
    taken: set[int] = set()
    for n in sorted(range(len(offers)), key=lambda n: (offers[n].rank, n)):
        if counts[n] <= left:
            taken.add(n)
            left -= counts[n]
    items = [_item(offer, tokens) for offer, tokens in zip(offers, counts, strict=True)]
    kept = tuple(item for n, item in enumerate(items) if n in taken)
    dropped = tuple(left_out(item) for n, item in enumerate(items) if n not in taken)
    if not kept:
        return Block(dropped=dropped)
    lines = [head, *(item.text for item in kept)] if head else [item.text for item in kept]
    return Block("\n".join(lines) + "\n", kept, dropped)


def left_out(item: ContextItem, why: str = NO_ROOM) -> ContextItem:
    return item.model_copy(update={"reason": f"{why}: {item.reason}"})


def _item(offer: Offer, tokens: int) -> ContextItem:
    return ContextItem(
        text=offer.text, tokens=tokens, section=offer.section, reason=offer.reason, sources=offer.sources
    )


class Writer(NamedTuple):
    """Writes statements as a document of DCML for one reader.

    `named` gives the names of some uids, in the order in which the reader met them. `titles` are the
    headings of sections, and `session` is what the DM's document is called after.
    """

    reader: str
    session: str
    named: Callable[[Sequence[str]], Mapping[str, str]]
    titles: Mapping[values.Section, str]
    encoding: str

    def fitted(self, offers: Sequence[Statements], room: int, *, guide: str = "") -> Block:
        """As many of the offers as fit, the lowest ranks first, each with the names that it needs."""
        ranked = sorted(range(len(offers)), key=lambda n: (offers[n].rank, n))
        low, high, best = 0, len(ranked), Block()
        # All of it fits most of the time, so that is tried first.
        middle = high
        while low < high:
            block = self._written([offers[n] for n in sorted(ranked[:middle])], guide)
            if count_tokens(block.text, self.encoding) <= room:
                low, best = middle, block
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        rest = [offers[n] for n in sorted(ranked[low:])]
        return best._replace(dropped=tuple(self._left_out(rest)))

    def _left_out(self, offers: Sequence[Statements]) -> list[ContextItem]:
        return [
            left_out(item)
            for offer in offers
            for item in self._written([offer], "").items
            if item.section == offer.section
        ]

    def _written(self, offers: Sequence[Statements], guide: str) -> Block:
        if not offers:
            return Block()
        by_title: dict[str, list[Statements]] = {}
        for offer in _merged(offers):
            by_title.setdefault(self.titles[offer.section], []).append(offer)
        groups = tuple(
            Group(title, tuple(one for offer in own for one in offer.statements))
            for title, own in by_title.items()
        )
        kind, owner = SectionKind.MEMORY, self.reader
        uids = {self.reader: None}
        if self.reader == DM:
            kind, owner, uids = SectionKind.SESSION, self.session, {}
        sections = (Section(kind, owner, groups),)
        uids |= dict.fromkeys(ref.uid for ref in refs_of(Document((), sections)))
        lexicon = [
            DCMLEntity(uid, DCMLCategory(category), name)
            for uid, name in self.named(list(uids)).items()
            if (category := category_of(uid)) is not None
        ]
        text = render(Document(tuple(lexicon), sections), dense=True)
        return self._block(text, [offer for own in by_title.values() for offer in own], guide)

    def _block(self, text: str, offers: Sequence[Statements], guide: str) -> Block:
        """The manifest of a document: each line that is no heading is an item, the names among them."""
        lines = [line for line in text.split("\n") if not line.startswith("#")]
        names = len(lines) - len(offers)
        counts = count_many([f"{line}\n" for line in lines], self.encoding)
        said = dict.fromkeys(source for offer in offers for source in offer.sources)
        items = [
            ContextItem(
                text=line, tokens=tokens, section="names", reason="names used below", sources=tuple(said)
            )
            for line, tokens in zip(lines[:names], counts[:names], strict=True)
        ]
        items += [
            ContextItem(
                text=line, tokens=tokens, section=offer.section, reason=offer.reason, sources=offer.sources
            )
            for line, tokens, offer in zip(lines[names:], counts[names:], offers, strict=True)
        ]
        whole = f"{guide}\n{text}\n" if guide else f"{text}\n"
        return Block(whole, tuple(items))


def _merged(offers: Sequence[Statements]) -> list[Statements]:
    """Offers of one section on one subject as one, since they are one line."""
    found: dict[object, Statements] = {}
    for offer in offers:
        key = offer.section, offer.statements[0].subjects, offer.statements[0].certainty
        before = found.setdefault(key, offer)
        if before is not offer:
            sources = tuple(dict.fromkeys((*before.sources, *offer.sources)))
            found[key] = before._replace(statements=(*before.statements, *offer.statements), sources=sources)
    return list(found.values())
