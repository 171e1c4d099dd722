"""Scoped memories in a context: of the place, of the people present, and of the world.

They stand under the headings of the source documents, with their dates, the newest first in line for room. A
sentence that stands elsewhere in the context is not told again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots.canon.entities import Entity
from dndbots.ids import DM
from dndbots.memory.context.blocks import Block, as_dropped
from dndbots.memory.context.repetition import (
    find_fresh,
    key_of_words,
    keys_of_line,
    split_outside_quotes,
)
from dndbots.memory.context.scene import Scene, all_uids_of
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import ContextItem, item_of
from dndbots.memory.scoped.builders import (
    MAX_ENTRIES,
    LocationMemoryBuilder,
    NPCMemoryBuilder,
    WorldMemoryBuilder,
    date_of,
)
from dndbots.memory.scoped.shelves import WORLD, location_shelf, npc_shelf
from dndbots.memory.selection.scoped_memory import tells_nothing
from dndbots.models import MemoryEntry
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label, write_telling
from dndbots.tokens import count_many

LOCATION: Final = f"## {LocationMemoryBuilder.title}"
NPC: Final = f"## {NPCMemoryBuilder.title}"
OF_WORLD: Final = f"## {WorldMemoryBuilder.title}"
HEADS: Final = (LOCATION, NPC, OF_WORLD)
_LONGEST_MEMORY: Final = 600
_MOST_SUBJECTS: Final = 16


class MemoryOffer(NamedTuple):
    """A memory that may go into a context, sentence by sentence, under a heading."""

    head: str
    date: str
    name: str
    sentences: tuple[str, ...]
    reason: str
    sources: tuple[str, ...]
    rank: int

    def without(self, told: frozenset[str]) -> "MemoryOffer":
        """Return the memory without the sentences that stand elsewhere."""
        keys = [(sentence, key_of_words(sentence)) for sentence in self.sentences]
        kept = tuple(sentence for sentence, _ in find_fresh(keys, told))
        return self if len(kept) == len(self.sentences) else self._replace(sentences=kept)

    def text(self, sentences: int) -> str:
        """Return the memory as one line: its date, whom it is about, and its first sentences."""
        name = "" if not self.name or self.sentences[0].startswith(self.name) else f"{self.name}: "
        return f"- {self.date}: {name}{' '.join(self.sentences[:sentences])}"


def offer_memories(view: View, scene: Scene, cache: ViewerCache) -> list[MemoryOffer]:
    """Offer the viewer's memories of the place, of the people present, and of the world.

    The DM gets the memories that the NPCs present have themselves; an NPC gets its own.
    """

    def remembered(
        head: str, holder: str, shelf: str, about: Entity | None, reason: str
    ) -> Iterator[MemoryOffer]:
        entries = cache.memories(view, holder, shelf, limit=MAX_ENTRIES)
        return _offers(head, entries, about, reason)

    offers: list[MemoryOffer] = []
    for place in scene.places:
        for uid in all_uids_of(place):
            offers += remembered(LOCATION, view.viewer, location_shelf(uid), place, "a memory of this place")
    for npc in (entity for entity in scene.present if entity.category == "NPC"):
        for uid in all_uids_of(npc):
            holder = uid if view.viewer == DM else view.viewer
            whose = (
                f"{write_label(npc.name)} remembers it" if view.viewer == DM else "a memory of this person"
            )
            offers += remembered(NPC, holder, npc_shelf(uid), npc, whose)
    if scene.me is not None and scene.me.category == "NPC":
        for uid in all_uids_of(scene.me):
            offers += remembered(NPC, view.viewer, npc_shelf(uid), None, "your own memory of the party")
    offers += remembered(OF_WORLD, view.viewer, WORLD, None, "a step of the story")
    return _each_once(_in_turn(offers))


def _offers(
    head: str, entries: list[MemoryEntry], about: Entity | None, reason: str
) -> Iterator[MemoryOffer]:
    newest = len(entries) - 1
    for number, entry in enumerate(entries):
        if tells_nothing(entry.summary):
            continue
        words = one_line(entry.summary) if about else write_telling(entry.summary)
        text = words if len(words) <= _LONGEST_MEMORY else f"{words[:_LONGEST_MEMORY].rsplit(' ', 1)[0]}…"
        sources = entry.sources or ((entry.memory_id,) if entry.memory_id else ())
        yield MemoryOffer(
            head=head,
            date=date_of(entry),
            name=write_label(about.name) if about else "",
            sentences=tuple(split_outside_quotes(text)) or (text,),
            reason=reason,
            sources=sources,
            rank=newest - number,
        )


def fit_memories(offers: Iterable[MemoryOffer], room: int, *, encoding: str) -> Block:
    """Return the memories that fit, under their headings; a long one without its last sentences.

    The newest under each heading come first. The first memory under a heading pays for the heading, and its
    first sentence has room before another heading gets a second one.
    """
    listed = [offer for offer in offers if offer.sentences]
    unpaid = dict(zip(HEADS, count_many([f"{head}\n" for head in HEADS], encoding), strict=True))
    kept: dict[int, ContextItem] = {}
    dropped: list[ContextItem] = []
    ranked = sorted(range(len(listed)), key=lambda n: (listed[n].rank, n))
    reserved = _first_sentences([listed[number] for number in ranked], unpaid, encoding)
    for number in ranked:
        offer = listed[number]
        is_first = reserved.pop(offer.head, None) is not None
        left = room - sum(reserved.values())
        texts = [offer.text(sentences) for sentences in range(len(offer.sentences), 0, -1)]
        counts = count_many([f"{text}\n" for text in texts], encoding)
        for text, tokens in zip(texts, counts, strict=True):
            if tokens + unpaid[offer.head] <= (room if is_first and text == texts[-1] else left):
                kept[number] = item_of(text, tokens, "memories", offer.reason, offer.sources)
                room -= tokens + unpaid[offer.head]
                unpaid[offer.head] = 0
                break
        else:
            whole = item_of(texts[0], counts[0], "memories", offer.reason, offer.sources)
            dropped.append(as_dropped(whole))
    lines: list[str] = []
    items: list[ContextItem] = []
    for head in HEADS:
        under = [kept[number] for number in sorted(kept) if listed[number].head == head]
        lines += [head, *(item.text for item in under)] if under else []
        items += under
    return Block("\n".join(lines) + "\n" if lines else "", tuple(items), tuple(dropped))


def _first_sentences(
    ranked: Iterable[MemoryOffer], heads: Mapping[str, int], encoding: str
) -> dict[str, int]:
    """Return what each heading costs with one sentence of its first memory."""
    firsts: dict[str, str] = {}
    for offer in ranked:
        firsts.setdefault(offer.head, offer.text(1))
    counts = count_many([f"{text}\n" for text in firsts.values()], encoding)
    return {head: heads[head] + tokens for head, tokens in zip(firsts, counts, strict=True)}


def _in_turn(offers: Iterable[MemoryOffer]) -> Iterator[MemoryOffer]:
    """Rank memories so that the newest under each heading come first, then the next newest."""
    ahead: Counter[tuple[str, int]] = Counter()
    for offer in offers:
        yield offer._replace(rank=offer.rank * _MOST_SUBJECTS + ahead[offer.head, offer.rank])
        ahead[offer.head, offer.rank] += 1


def _each_once(offers: Iterable[MemoryOffer]) -> list[MemoryOffer]:
    """Return memories without the sentences that one before them in line for room has."""
    told: frozenset[str] = frozenset()
    listed = list(offers)
    kept: dict[int, MemoryOffer] = {}
    for number in sorted(range(len(listed)), key=lambda n: (listed[n].rank, n)):
        offer = listed[number].without(told)
        if offer.sentences:
            kept[number] = offer
            told |= keys_of_line(offer.text(len(offer.sentences)))
    return [kept[number] for number in sorted(kept)]
