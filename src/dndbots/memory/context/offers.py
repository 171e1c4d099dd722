"""What may go into a context beside the story: small builders, each with a reason for every line.

A builder reads by index, never by going through the log, and only what the viewer's own view gives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from dndbots.canon import claims
from dndbots.canon.marks import LEFT_OPEN, left_open_with
from dndbots.canon.values import Entity, Fact
from dndbots.dcml import Deed, Properties
from dndbots.events import GameEvent
from dndbots.ids import DM, category_of
from dndbots.memory.carrying import pinned_texts, summaries
from dndbots.memory.context.blocks import Offer, Statements
from dndbots.memory.context.following import Following
from dndbots.memory.context.scene import Scene, uids_of
from dndbots.memory.context.stating import Stated, is_item, is_passing, lines_of, uids_in
from dndbots.memory.context.values import Section
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates
from dndbots.memory.happenings import Rollup
from dndbots.memory.scoped import WORLD, location_shelf, npc_shelf
from dndbots.memory.threads import left_open
from dndbots.models import MemoryEntry
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_label, write_telling

_MOST_QUESTS: Final = 12
_MOST_DEEDS: Final = 10
_MOST_MEMORIES: Final = 3
_MOST_LEFT_OPEN: Final = 6
_LOOKED_AT: Final = 12
_LONGEST_MEMORY: Final = 600
# What lasts of what is known of somebody.
Lasting = Callable[[Entity], Iterable[Stated]]


# Of the reader and the party: what seldom changes.


def identity(scene: Scene, lasting: Lasting) -> Iterator[Statements]:
    """Who the reader is, and who the others are."""
    if scene.me is not None:
        yield from _told(lasting(scene.me), "identity", "who you are", rank=0)
    for entity in scene.party:
        yield from _told(lasting(entity), "identity", "one of the party", rank=20)


def quests(scene: Scene, lasting: Lasting) -> Iterator[Statements]:
    """What is still to be done; of too many, what came up last."""
    newest = scene.quests[-_MOST_QUESTS:]
    for age, quest in zip(range(len(newest), 0, -1), newest, strict=True):
        yield from _told(lasting(quest), "quests", "a quest that is open", rank=10 + age)


# Of the moment: who is here, and what was lately spoken of.


def known(scene: Scene, lasting: Lasting, carried: Lasting, gates: Gates) -> Iterator[Statements]:
    """What is known of those who matter now, the most of those who were asked about; and what they have."""
    for entity in filter(None, (scene.me, *scene.party)):
        yield from _told(carried(entity), "known", "what they have on them", rank=3)
    told = {scene.me.uid} if scene.me else set[str]()
    told |= {one.uid for one in (*scene.party, *scene.quests)}
    reasons = (
        *((0, one, f"{write_label(one.name)} was asked about") for one in scene.asked),
        *((1, one, "is here") for one in scene.present),
        *((2, one, "you are there") for one in scene.places),
        *((3, one, "spoken of just now") for one in scene.just_now),
        *((4, one, "spoken of lately") for one in scene.lately),
        *((5 + age, one, "told of before") for age, one in enumerate(scene.before)),
    )
    asked = {one.uid for one in scene.asked}
    for rank, entity, reason in reasons:
        if entity.uid in asked:
            yield from _told(lines_of(entity, _shown(entity, gates)), "known", reason, rank=rank)
        elif entity.uid not in told:
            yield from _told(lasting(entity), "known", reason, rank=rank)
        told.add(entity.uid)
        asked.discard(entity.uid)


def deeds(viewer: str, outcomes: Iterable[GameEvent], scene: Scene, gates: Gates) -> list[Statements]:
    """Who killed whom, what was found, which quests are over: the newest of it."""
    rollup = Rollup(viewer)
    for event in gates.shown(outcomes):
        rollup.add(event)
    still_open = {quest.uid for quest in scene.quests}
    found = [
        Statements((line,), uids_in((line,)), "deeds", "what came of it", sources)
        for line, sources in rollup.sourced()
        if isinstance(line, Deed) or (isinstance(line, Properties) and _is_over(line, still_open))
    ]
    newest = found[-_MOST_DEEDS:]
    return [offer._replace(rank=100 + len(newest) - n) for n, offer in enumerate(newest)]


def _is_over(line: Properties, still_open: set[str]) -> bool:
    subject = line.subjects[0].uid
    return category_of(subject) == "QST" and subject not in still_open


def _told(lines: Iterable[Stated], section: Section, reason: str, *, rank: int) -> Iterator[Statements]:
    for line in lines:
        yield Statements(line.statements, line.uids, section, reason, line.sources, rank)


def _shown(entity: Entity, gates: Gates) -> list[Fact]:
    return [fact for fact in entity.facts if not gates.hides(fact)]


# Sentences.


def pinned(view: View, gates: Gates, room: int) -> list[Offer]:
    """What people decided to keep in every context."""
    found = pinned_texts(view, gates, room)
    return [Offer(f"Pinned: {text}", "pinned", "pinned", (one,)) for one, text in found.items()]


def memories(view: View, scene: Scene, following: Following) -> list[Offer]:
    """What is remembered of where one is, of who is there, and of how the story went."""

    def remembered(holder: str, shelf: str, about: Entity | None, reason: str) -> Iterator[Offer]:
        entries = following.memories(view, holder, shelf, limit=_MOST_MEMORIES)
        return _remembered(entries, about, reason)

    found: list[Offer] = []
    for place in scene.places:
        for uid in uids_of(place):
            found += remembered(view.viewer, location_shelf(uid), place, "what happened here before")
    if view.viewer == DM:
        for npc in scene.present:
            for uid in uids_of(npc) if npc.category == "NPC" else ():
                found += remembered(uid, npc_shelf(uid), npc, f"what {write_label(npc.name)} remembers")
    return [*found, *remembered(view.viewer, WORLD, None, "how far the story has come")]


def _remembered(entries: Sequence[MemoryEntry], about: Entity | None, reason: str) -> Iterator[Offer]:
    for age, entry in enumerate(reversed(entries)):
        said = one_line(entry.summary) if about else write_telling(entry.summary)
        text = said if len(said) <= _LONGEST_MEMORY else f"{said[:_LONGEST_MEMORY].rsplit(' ', 1)[0]}…"
        name = f"{write_label(about.name)}: " if about else ""
        sources = entry.sources or ((entry.memory_id,) if entry.memory_id else ())
        yield Offer(f"{name}{text}", "memories", reason, sources, rank=age)


def unfinished(view: View, scene: Scene, gates: Gates, following: Following) -> list[Offer]:
    """What was promised, threatened, owed or not explained: with those who are here, and lately."""
    marks = [left_open_with(one.uid) for one in scene.at_hand if one.category == "NPC"][:_LOOKED_AT]
    if view.viewer != DM:
        marks.append(left_open_with(view.viewer))
    events = {
        event.event_id: event
        for mark in (*marks, LEFT_OPEN)
        for event in reversed(following.marked(view, mark, limit=_LOOKED_AT))
    }
    found = left_open(view, list(events.values()), gates, following)
    return [
        Offer(thread.text, "open", f"a {thread.kind} that is open", (thread.opened,), rank=rank)
        for rank, thread in enumerate(found[:_MOST_LEFT_OPEN])
    ]


def now(scene: Scene, gates: Gates) -> Iterator[Offer]:
    """Where everybody is and how they fare, in sentences: it changes from turn to turn."""
    people = {one.uid: one for one in (scene.me, *scene.present, *scene.party) if one is not None}
    seen = {uid: _where(one, gates) for uid, one in people.items()}
    for place in scene.places:
        yield from _who_is_at(place, scene, seen)
    for entity in people.values():
        facts = [fact for fact in _shown(entity, gates) if is_passing(entity, fact) and not is_item(fact)]
        told = [(said, fact.learned_from) for fact in facts if (said := _fares(fact))]
        if told:
            text = f"{write_label(entity.name)}: {', '.join(said for said, _ in told)}."
            sources = tuple(dict.fromkeys(source for _, source in told))
            yield Offer(text, "scene", "how somebody fares", sources, rank=2)


def _who_is_at(place: Entity, scene: Scene, seen: Mapping[str, tuple[str, ...]]) -> Iterator[Offer]:
    """Who is at a place, as far as there is an event that shows them there."""
    everybody = (*filter(None, (scene.me,)), *scene.present)
    there = [one for one in everybody if one.location in uids_of(place) and seen[one.uid]]
    others = [one for one in there if one is not scene.me]
    name, where = write_label(place.name), "Here"
    if len(others) < len(there):
        yield Offer(f"You are at {name}.", "scene", "where you are", seen[there[0].uid])
    else:
        where = f"At {name}"
    if others:
        listed = ", ".join(f"{write_label(one.name)}{'' if one.alive else ' (dead)'}" for one in others)
        sources = tuple(dict.fromkeys(source for one in others for source in seen[one.uid]))
        yield Offer(f"{where}: {listed}.", "scene", "who is there", sources, rank=1)


def _where(entity: Entity, gates: Gates) -> tuple[str, ...]:
    """The events that show where somebody is; none, if that is to be forgotten."""
    placed = (fact for fact in _shown(entity, gates) if fact.object == entity.location and not fact.ended)
    return tuple(dict.fromkeys(fact.learned_from for fact in placed))


def _fares(fact: Fact) -> str:
    """What somebody has left of what the next turn may take."""
    if fact.op is not None or fact.ended or fact.value is False:
        return ""
    kind, _, rest = (fact.key or "").partition(" ")
    sure = "" if fact.certainty == "fact" else f" ({fact.certainty})"
    if kind == claims.CONDITION and rest:
        return f"{one_line(rest)}{sure}"
    if kind == "gold" and isinstance(fact.value, int) and fact.value < 0:
        # Spent by somebody of whom nobody knows how much there was.
        return ""
    said = {"hp_change": "hp changed by"}.get(kind, kind)
    return f"{said} {one_line(str(fact.value))}{sure}"


# What is left of sessions that the story no longer tells.


def long_ago(view: View, gates: Gates, before: int) -> list[Entry]:
    """The lines of the summaries that end before a place in the log, oldest first."""
    blocks = summaries(view, gates)
    ends = view.seqs_of({block.upto for block in blocks})
    notes = view.by_id([block.id for block in blocks if ends.get(block.upto, before) < before])
    found: list[Entry] = []
    for block in blocks:
        if block.id in notes:
            note = notes[block.id].known.memory
            sources = note.line_sources if note else []
            for n, line in enumerate(block.text.split("\n")):
                named = sources[n][0] if n < len(sources) and sources[n] else block.id
                found.append(Entry(text=line, event_id=named, session=block.session, narrated=True))
    return found
