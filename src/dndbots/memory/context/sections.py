"""Builders of the sections of a context beside the story; each offers lines with a reason.

A builder reads by index, never by scanning the log, and only from the viewer's own view.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.canon.event_marks import LEFT_OPEN, left_open_with
from dndbots.dcml import Deed, Properties
from dndbots.events import GameEvent
from dndbots.ids import DM, category_of
from dndbots.memory.agents.agent_memory import pinned_texts, read_summaries
from dndbots.memory.context.blocks import SentenceOffer, StatementOffer
from dndbots.memory.context.known_lines import KnownLine, is_item, is_passing, known_lines_of, uids_in
from dndbots.memory.context.scene import Scene, all_uids_of
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import Section
from dndbots.memory.documents.event_dcml import Rollup
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.memory.scoped.shelves import WORLD, location_shelf, npc_shelf
from dndbots.memory.threads import find_left_open
from dndbots.models import MemoryEntry
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label, write_telling

_MOST_QUESTS: Final = 12
_MOST_DEEDS: Final = 10
_MOST_MEMORIES: Final = 3
_MOST_LEFT_OPEN: Final = 6
_LOOKED_AT: Final = 12
_LONGEST_MEMORY: Final = 600
# Returns lines on an entity.
LinesOf = Callable[[Entity], Iterable[KnownLine]]


# The reader, the party and the quests: sections that seldom change.


def offer_identity(scene: Scene, lasting: LinesOf) -> Iterator[StatementOffer]:
    """Offer lines on the reader and on the other party members."""
    if scene.me is not None:
        yield from _offers(lasting(scene.me), "identity", "who you are", rank=0)
    for entity in scene.party:
        yield from _offers(lasting(entity), "identity", "a party member", rank=20)


def offer_quests(scene: Scene, lasting: LinesOf) -> Iterator[StatementOffer]:
    """Offer lines on the open quests; if there are too many, on the newest."""
    newest = scene.quests[-_MOST_QUESTS:]
    for age, quest in zip(range(len(newest), 0, -1), newest, strict=True):
        yield from _offers(lasting(quest), "quests", "an open quest", rank=10 + age)


# The scene: who is here, and who was mentioned recently.


def offer_known(scene: Scene, lasting: LinesOf, carried: LinesOf, gates: Gates) -> Iterator[StatementOffer]:
    """Offer facts on the entities that matter now (all facts on those asked about) and carried items."""
    for entity in filter(None, (scene.me, *scene.party)):
        yield from _offers(carried(entity), "known", "carried items", rank=3)
    told = {scene.me.uid} if scene.me else set[str]()
    told |= {entity.uid for entity in (*scene.party, *scene.quests)}
    reasons = (
        *((0, entity, f"the question names {write_label(entity.name)}") for entity in scene.asked),
        *((1, entity, "present here") for entity in scene.present),
        *((2, entity, "the current place") for entity in scene.places),
        *((3, entity, "mentioned just now") for entity in scene.just_now),
        *((4, entity, "mentioned recently") for entity in scene.lately),
        *((5 + age, entity, "mentioned earlier") for age, entity in enumerate(scene.before)),
    )
    asked = {entity.uid for entity in scene.asked}
    for rank, entity, reason in reasons:
        if entity.uid in asked:
            yield from _offers(known_lines_of(entity, _shown(entity, gates)), "known", reason, rank=rank)
        elif entity.uid not in told:
            yield from _offers(lasting(entity), "known", reason, rank=rank)
        told.add(entity.uid)
        asked.discard(entity.uid)


def offer_deeds(
    viewer: str, outcomes: Iterable[GameEvent], scene: Scene, gates: Gates
) -> list[StatementOffer]:
    """Offer the newest kills, discoveries and finished quests."""
    rollup = Rollup(viewer)
    for event in gates.shown(outcomes):
        rollup.add(event)
    still_open = {quest.uid for quest in scene.quests}
    deeds = [
        StatementOffer((line,), uids_in((line,)), "deeds", "a past deed", sources)
        for line, sources in rollup.sourced()
        if isinstance(line, Deed) or (isinstance(line, Properties) and _is_over(line, still_open))
    ]
    newest = deeds[-_MOST_DEEDS:]
    return [offer._replace(rank=100 + len(newest) - n) for n, offer in enumerate(newest)]


def _is_over(line: Properties, still_open: set[str]) -> bool:
    subject = line.subjects[0].uid
    return category_of(subject) == "QST" and subject not in still_open


def _offers(
    lines: Iterable[KnownLine], section: Section, reason: str, *, rank: int
) -> Iterator[StatementOffer]:
    for line in lines:
        yield StatementOffer(line.statements, line.uids, section, reason, line.sources, rank)


def _shown(entity: Entity, gates: Gates) -> list[Fact]:
    return [fact for fact in entity.facts if not gates.hides(fact)]


# Sentences.


def offer_pinned(view: View, gates: Gates, room: int) -> list[SentenceOffer]:
    """Offer the texts that people pinned to every context."""
    texts = pinned_texts(view, gates, room)
    return [SentenceOffer(f"Pinned: {text}", "pinned", "pinned", (source,)) for source, text in texts.items()]


def offer_memories(view: View, scene: Scene, cache: ViewerCache) -> list[SentenceOffer]:
    """Offer memories of the place, for the DM also of the NPCs present, and of the world."""

    def remembered(holder: str, shelf: str, about: Entity | None, reason: str) -> Iterator[SentenceOffer]:
        entries = cache.memories(view, holder, shelf, limit=_MOST_MEMORIES)
        return _remembered(entries, about, reason)

    offers: list[SentenceOffer] = []
    for place in scene.places:
        for uid in all_uids_of(place):
            offers += remembered(view.viewer, location_shelf(uid), place, "a memory of this place")
    if view.viewer == DM:
        for npc in scene.present:
            for uid in all_uids_of(npc) if npc.category == "NPC" else ():
                offers += remembered(uid, npc_shelf(uid), npc, f"{write_label(npc.name)} remembers it")
    return [*offers, *remembered(view.viewer, WORLD, None, "a step of the story")]


def _remembered(entries: Sequence[MemoryEntry], about: Entity | None, reason: str) -> Iterator[SentenceOffer]:
    for age, entry in enumerate(reversed(entries)):
        words = one_line(entry.summary) if about else write_telling(entry.summary)
        text = words if len(words) <= _LONGEST_MEMORY else f"{words[:_LONGEST_MEMORY].rsplit(' ', 1)[0]}…"
        name = f"{write_label(about.name)}: " if about else ""
        sources = entry.sources or ((entry.memory_id,) if entry.memory_id else ())
        yield SentenceOffer(f"{name}{text}", "memories", reason, sources, rank=age)


def offer_open_threads(view: View, scene: Scene, gates: Gates, cache: ViewerCache) -> list[SentenceOffer]:
    """Offer open promises, threats, debts and mysteries: recent ones, and those with NPCs at hand."""
    marks = [left_open_with(entity.uid) for entity in scene.at_hand if entity.category == "NPC"][:_LOOKED_AT]
    if view.viewer != DM:
        marks.append(left_open_with(view.viewer))
    events = {
        event.event_id: event
        for mark in (*marks, LEFT_OPEN)
        for event in reversed(cache.marked(view, mark, limit=_LOOKED_AT))
    }
    threads = find_left_open(view, list(events.values()), gates, cache)
    return [
        SentenceOffer(thread.text, "open", f"an open {thread.kind}", (thread.opened,), rank=rank)
        for rank, thread in enumerate(threads[:_MOST_LEFT_OPEN])
    ]


def offer_scene(scene: Scene, gates: Gates) -> Iterator[SentenceOffer]:
    """Offer sentences on everybody's place and condition, which change from turn to turn."""
    people = {entity.uid: entity for entity in (scene.me, *scene.present, *scene.party) if entity is not None}
    seen = {uid: _where(entity, gates) for uid, entity in people.items()}
    for place in scene.places:
        yield from _who_is_at(place, scene, seen)
    for entity in people.values():
        facts = [fact for fact in _shown(entity, gates) if is_passing(entity, fact) and not is_item(fact)]
        conditions = [(words, fact.learned_from) for fact in facts if (words := _condition(fact))]
        if conditions:
            text = f"{write_label(entity.name)}: {', '.join(words for words, _ in conditions)}."
            sources = tuple(dict.fromkeys(source for _, source in conditions))
            yield SentenceOffer(text, "scene", "current condition", sources, rank=2)


def _who_is_at(place: Entity, scene: Scene, seen: Mapping[str, tuple[str, ...]]) -> Iterator[SentenceOffer]:
    """Offer sentences on who is at a place, if an event shows them there."""
    everybody = (*filter(None, (scene.me,)), *scene.present)
    there = [entity for entity in everybody if entity.location in all_uids_of(place) and seen[entity.uid]]
    others = [entity for entity in there if entity is not scene.me]
    name, where = write_label(place.name), "Here"
    if len(others) < len(there):
        yield SentenceOffer(f"You are at {name}.", "scene", "where you are", seen[there[0].uid])
    else:
        where = f"At {name}"
    if others:
        listed = ", ".join(
            f"{write_label(entity.name)}{'' if entity.alive else ' (dead)'}" for entity in others
        )
        sources = tuple(dict.fromkeys(source for entity in others for source in seen[entity.uid]))
        yield SentenceOffer(f"{where}: {listed}.", "scene", "who is here", sources, rank=1)


def _where(entity: Entity, gates: Gates) -> tuple[str, ...]:
    """Return the events that show where somebody is, without forgotten ones."""
    placed = (fact for fact in _shown(entity, gates) if fact.object == entity.location and not fact.ended)
    return tuple(dict.fromkeys(fact.learned_from for fact in placed))


def _condition(fact: Fact) -> str:
    """Return a condition, hit points or gold in words; empty for other facts."""
    if fact.op is not None or fact.ended or fact.value is False:
        return ""
    kind, _, rest = (fact.key or "").partition(" ")
    sure = "" if fact.certainty == "fact" else f" ({fact.certainty})"
    if kind == claims.CONDITION and rest:
        return f"{one_line(rest)}{sure}"
    if kind == "gold" and isinstance(fact.value, int) and fact.value < 0:
        # Somebody spent gold, and nobody knows how much they had.
        return ""
    label = {"hp_change": "hp changed by"}.get(kind, kind)
    return f"{label} {one_line(str(fact.value))}{sure}"


# Sessions that the story no longer tells.


def read_old_summaries(view: View, gates: Gates, before: int) -> list[Entry]:
    """Return the lines of the summaries that end before seq `before`, oldest first."""
    blocks = read_summaries(view, gates)
    ends = view.seqs_of({block.upto for block in blocks})
    notes = view.by_id([block.id for block in blocks if ends.get(block.upto, before) < before])
    entries: list[Entry] = []
    for block in blocks:
        if block.id in notes:
            note = notes[block.id].known.memory
            sources = note.line_sources if note else []
            for n, line in enumerate(block.text.split("\n")):
                source = sources[n][0] if n < len(sources) and sources[n] else block.id
                entries.append(Entry(text=line, event_id=source, session=block.session, narrated=True))
    return entries
