"""Builders of the sections of a context beside the story; each offers lines with a reason.

A builder reads by index, never by scanning the log, and only from the viewer's own view.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.canon.event_marks import LEFT_OPEN, left_open_with
from dndbots.dcml import Deed, Properties
from dndbots.events import GameEvent
from dndbots.ids import DM, PARTY_UID, category_of
from dndbots.memory.agents.agent_memory import pinned_texts, read_summaries
from dndbots.memory.context.blocks import SentenceOffer, StatementOffer
from dndbots.memory.context.brief import BriefLine
from dndbots.memory.context.known_lines import SHEET, KnownLine, is_item, is_passing, known_lines_of, uids_in
from dndbots.memory.context.portraits import NamesOf, describe_person, describe_place, describe_quest
from dndbots.memory.context.repetition import sentence_key
from dndbots.memory.context.scene import Scene, all_uids_of
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import Section
from dndbots.memory.documents.event_dcml import Rollup
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.memory.threads import find_left_open
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label, write_telling
from dndbots.text.sentences import split_sentences

_MOST_QUESTS: Final = 12
_CARRIED: Final = 4
# What a prompt shows of the reader or, to the DM, of the party.
_ON_SHEET: Final = SHEET | {"class", "level", "looks", "role", "secret"}
_MOST_DEEDS: Final = 10
_MOST_LEFT_OPEN: Final = 6
_LOOKED_AT: Final = 12
# Returns lines on an entity.
LinesOf = Callable[[Entity], Iterable[KnownLine]]


# The reader, the party and the quests: sections that seldom change.


def offer_briefing(lines: Iterable[BriefLine], section: Section) -> list[SentenceOffer]:
    """Offer the lines of a briefing. In brief, each is its first sentence, or the first thing it lists."""
    texts = [(f"- {one_line(line.text)}", line) for line in lines]
    return [
        SentenceOffer(text, section, *line[1:], brief=f"{text.partition('; ')[0].rstrip('.')}.")
        if "; " in text
        else SentenceOffer(text, section, *line[1:], brief=split_sentences(text)[0])
        for text, line in texts
    ]


def offer_identity(scene: Scene, lasting: LinesOf) -> Iterator[StatementOffer]:
    """Offer lines on the reader and on the other party members."""
    if scene.me is not None:
        yield from _offers(lasting(scene.me), "identity", "who you are", rank=0)
    for entity in scene.party:
        yield from _offers(lasting(entity), "identity", "a party member", rank=20)


def lines_beyond_sheet(entity: Entity, gates: Gates) -> list[KnownLine]:
    """Return the lasting facts on a character that its sheet in the prompt does not show."""
    return known_lines_of(entity, [fact for fact in _shown(entity, gates) if _is_beyond_sheet(entity, fact)])


def offer_party(scene: Scene, gates: Gates, named: NamesOf) -> Iterator[SentenceOffer]:
    """Offer a line on each party member: what the sheet in the prompt does not show."""
    for entity in scene.party:
        beyond = [fact for fact in _shown(entity, gates) if _is_beyond_sheet(entity, fact)]
        text, sources = describe_person(entity, beyond, named)
        if text:
            yield SentenceOffer(f"- {text}", "identity", "a party member", sources)


def _is_beyond_sheet(entity: Entity, fact: Fact) -> bool:
    return not is_passing(entity, fact) and fact.key not in _ON_SHEET and fact.object != PARTY_UID


def offer_quests(scene: Scene, gates: Gates, named: NamesOf) -> Iterator[SentenceOffer]:
    """Offer a line on each open quest; if there are too many, on the newest."""
    newest = scene.quests[-_MOST_QUESTS:]
    for age, quest in zip(range(len(newest) - 1, -1, -1), newest, strict=True):
        text, sources = describe_quest(quest, _shown(quest, gates), named)
        if sources:
            yield SentenceOffer(f"- {text}", "quests", "an open quest", sources, rank=age)


def offer_surroundings(scene: Scene, gates: Gates, named: NamesOf) -> Iterator[SentenceOffer]:
    """Offer a line on the place, and on each person there."""
    for place in scene.places:
        told = describe_place(place, _shown(place, gates), named, brief=len(scene.places) > 1)
        yield from _portrait(told, "place")
    for person in scene.present:
        if person.category == "NPC":
            told = describe_person(person, _shown(person, gates), named)
            yield from _portrait(told, "people")


def _portrait(told: tuple[str, tuple[str, ...]], section: Section) -> Iterator[SentenceOffer]:
    text, sources = told
    reason = "where you are" if section == "place" else "present here"
    if text:
        brief = split_sentences(text)[0] if section == "place" else text.partition(": ")[0].rstrip(".") + "."
        yield SentenceOffer(
            f"- {text}", section, reason, sources, rank=1 if section == "place" else 0, brief=f"- {brief}"
        )


# The scene: who is here, and who was mentioned recently.


def offer_known(scene: Scene, lasting: LinesOf, carried: LinesOf, gates: Gates) -> Iterator[StatementOffer]:
    """Offer facts on the entities that matter now (all facts on those asked about) and carried items."""
    for entity in filter(None, (scene.me, *scene.party)):
        yield from _offers(carried(entity), "known", "carried items", rank=_CARRIED)
    told = {scene.me.uid} if scene.me else set[str]()
    told |= {entity.uid for entity in (*scene.party, *scene.quests, *scene.places)}
    told |= {entity.uid for entity in scene.present if entity.category == "NPC"}
    reasons = (
        *((0, entity, f"the question names {write_label(entity.name)}") for entity in scene.asked),
        *((1, entity, "present here") for entity in scene.present),
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
    goals = [sentence_key(str(goal)) for quest in scene.quests if (goal := quest.properties.get("goal"))]
    told: dict[str, SentenceOffer] = {}
    for thread in find_left_open(view, list(events.values()), gates, cache):
        key = sentence_key(thread.text)
        # The promise behind a quest is told with the quest.
        if not any(goal and goal in key for goal in goals):
            reason = f"an open {thread.kind}"
            told.setdefault(key, SentenceOffer(thread.text, "open", reason, (thread.opened,), rank=len(told)))
    return list(told.values())[:_MOST_LEFT_OPEN]


def offer_scene(scene: Scene, gates: Gates, *, told: bool = False) -> Iterator[SentenceOffer]:
    """Offer sentences on everybody's place and condition, which change from turn to turn.

    With `told`, the reader's question shows its own place and condition, and who is there.
    """
    people = {entity.uid: entity for entity in (scene.me, *scene.present, *scene.party) if entity is not None}
    seen = {uid: _where(entity, gates) for uid, entity in people.items()}
    for place in scene.places if not told else ():
        yield from _who_is_at(place, scene, seen)
    here = {entity.uid for entity in (scene.me, *scene.present) if entity is not None and told}
    for entity in people.values():
        if entity.uid in here:
            continue
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
    if kind == "hp_change":
        # Nobody else knows how many hit points there were.
        return f"wounded{sure}" if isinstance(fact.value, int) and fact.value < 0 else ""
    return f"{kind} {one_line(str(fact.value))}{sure}"


# Summaries.


class WrittenStory(NamedTuple):
    """The story in a model's words, up to an event; `note` is the event that holds its last part."""

    lines: tuple[SentenceOffer, ...]
    upto: str
    note: str


def read_written_story(view: View, gates: Gates, session: str) -> WrittenStory | None:
    """Return the viewer's summaries if a model wrote them and they reach the current session; else None.

    Without them, a story is chosen from the log.
    """
    blocks = read_summaries(view, gates)
    if not any(block.written for block in blocks):
        return None
    last = blocks[-1].upto
    after = view.seq_of(last)
    following = next((event for _, event in view.play(after=after or 0)), None)
    if after is None or (following is not None and following.session_id not in (session, blocks[-1].session)):
        return None
    notes = view.by_id([block.id for block in blocks])
    lines: list[SentenceOffer] = []
    for block in blocks:
        note = notes[block.id].known.memory if block.id in notes else None
        sources = note.line_sources if note else []
        for n, line in enumerate(block.text.split("\n")):
            cited = tuple(sources[n]) if n < len(sources) and sources[n] else (block.id,)
            text = write_telling(line)
            if text:
                lines.append(SentenceOffer(text, "story", "from a summary", cited))
    newest = len(lines) - 1
    ranked = tuple(line._replace(rank=newest - n) for n, line in enumerate(lines))
    return WrittenStory(ranked, last, blocks[-1].id)


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
