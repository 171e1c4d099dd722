"""Parts of a context: lines under a heading that fit into some room, and what did not.

The room is exact. What goes first into a part is what ranks lowest; what stands first is decided by
whoever offers the lines.
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
from dndbots.dcml.render_dense import dense_lexicon
from dndbots.dcml.tree import respelled
from dndbots.ids import DM, category_of
from dndbots.memory.context import values
from dndbots.memory.context.values import ContextItem, item_of
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_label
from dndbots.tokens import count_many, count_tokens

NO_ROOM: Final = "no room"
# What a heading begins with, or the guide.
_OPENING: Final = ("#", "`", " ")


class Offer(NamedTuple):
    """A sentence that may go into a context. The lower its rank, the sooner it does."""

    text: str
    section: values.Section
    reason: str
    sources: tuple[str, ...]
    rank: int = 0


class Statements(NamedTuple):
    """A line of DCML that may go into a context: statements with one subject and one certainty.

    `uids` are all whom it names.
    """

    statements: tuple[Statement, ...]
    uids: tuple[str, ...]
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
    """The sentences that fit under a heading, in the order given. None of them opens a section."""
    offers = [offer for offer in map(_opening_nothing, offers) if offer.text]
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


def _opening_nothing(offer: Offer) -> Offer:
    return (
        offer._replace(text=offer.text.lstrip("".join(_OPENING)))
        if offer.text.startswith(_OPENING)
        else offer
    )


def left_out(item: ContextItem) -> ContextItem:
    return item_of(item.text, item.tokens, item.section, f"{NO_ROOM}: {item.reason}", item.sources)


def _item(offer: Offer, tokens: int) -> ContextItem:
    return item_of(offer.text, tokens, offer.section, offer.reason, offer.sources)


class Writer(NamedTuple):
    """Writes statements as a document of DCML for one reader.

    `named` gives the names of some uids, in the order in which the reader met them, and `spelled` how the
    reader may see each uid. `titles` are the headings of sections, and `session` is what the DM's document is
    called after.
    """

    reader: str
    session: str
    named: Callable[[Sequence[str]], Mapping[str, str]]
    spelled: Callable[[Sequence[str]], Mapping[str, str]]
    titles: Mapping[values.Section, str]
    encoding: str

    def fitted(self, offers: Sequence[Statements], room: int, *, guide: str = "") -> Block:
        """What fits of the offers, the lowest ranks first, each with the names that it needs.

        One that is too long for the room leaves it to those after it.
        """
        lines = _merged(offers)
        text = self._text(lines, guide)
        written = _written(text)
        whole, *costs = count_many([text, *(f"{line}\n" for line in written)], self.encoding)
        if whole <= room:
            return self._block(text, lines)
        told, costs = written[-len(lines) :], costs[-len(lines) :]
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
            item_of(told[n], costs[n], line.section, f"{NO_ROOM}: {line.reason}", line.sources)
            for n, line in enumerate(lines)
            if n not in taken
        )
        return fitting._replace(dropped=tuple(dropped))

    def _likely(self, ranked: Sequence[tuple[Statements, int]], room: int) -> list[int]:
        """Which lines should fit, each counted with the names that nobody needed before it."""
        uids = [uid for line, _ in ranked for uid in line.uids]
        spelled = self.spelled(uids)
        entries = {
            entity.uid: _spelled(replace(entity, uid=spelled[entity.uid])) for entity in self._lexicon(uids)
        }
        costs = dict(zip(entries, count_many(entries.values(), self.encoding), strict=True))
        found = []
        for number, (line, tokens) in enumerate(ranked):
            cost = tokens + sum([costs.get(uid, 0) for uid in line.uids])
            if cost <= room:
                found.append(number)
                room -= cost
                costs |= dict.fromkeys(line.uids, 0)
        return found

    def _text(self, offers: Sequence[Statements], guide: str) -> str:
        """The document of some offers, each a line, with its newline; nothing of nothing."""
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
        text = render(respelled(document, opaque) if opaque else document, dense=True)
        return f"{guide}\n{text}\n" if guide else f"{text}\n"

    def _lexicon(self, uids: Iterable[str]) -> list[DCMLEntity]:
        named = self.named(list(dict.fromkeys(uids)))
        return [entity for uid, name in named.items() if (entity := _entity(uid, name)) is not None]

    def _block(self, text: str, offers: Sequence[Statements]) -> Block:
        """The manifest of a document: each line that is no heading is an item, the names among them."""
        lines = _written(text)
        names = len(lines) - len(offers)
        counts = count_many([f"{line}\n" for line in lines], self.encoding)
        said = tuple(dict.fromkeys(source for offer in offers for source in offer.sources))
        because: list[tuple[values.Section, str, tuple[str, ...]]]
        because = [("names", "names used below", said)] * names
        because += [(offer.section, offer.reason, offer.sources) for offer in offers]
        items = [
            item_of(line, tokens, section, reason, sources)
            for line, tokens, (section, reason, sources) in zip(lines, counts, because, strict=True)
        ]
        return Block(text, tuple(items))


def _written(text: str) -> list[str]:
    """The lines of a document that are no headings: first the names, then a line for each offer."""
    document = text[text.find("## ") :].rstrip("\n")
    return [line for line in document.split("\n") if line and not line.startswith("#")]


# The same few are in the documents of every turn.
@lru_cache(maxsize=4096)
def _entity(uid: str, name: str) -> DCMLEntity | None:
    category = category_of(uid)
    return None if category is None else DCMLEntity(uid, DCMLCategory(category), write_label(name))


@lru_cache(maxsize=4096)
def _spelled(entity: DCMLEntity) -> str:
    """An entry as it stands among others."""
    return f", {dense_lexicon((entity,))[0].partition(': ')[2]}"


def _merged(offers: Sequence[Statements]) -> list[Statements]:
    """Offers of one section on one subject as one, since they are one line."""
    found: dict[object, Statements] = {}
    for offer in offers:
        key = offer.section, offer.statements[0].subjects, offer.statements[0].certainty
        before = found.setdefault(key, offer)
        if before is not offer:
            found[key] = before._replace(
                statements=(*before.statements, *offer.statements),
                uids=tuple(dict.fromkeys((*before.uids, *offer.uids))),
                sources=tuple(dict.fromkeys((*before.sources, *offer.sources))),
            )
    return list(found.values())
