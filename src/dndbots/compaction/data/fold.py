"""Campaign data as the DM's view of the log: folded from the whole log, or updated by its newest events.

Both ways give the same data.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dndbots.canon import claims
from dndbots.canon.certainty import event_effects
from dndbots.canon.entities import Entity, Fact
from dndbots.canon.laws import uses_of
from dndbots.compaction.data.models import (
    INFOS,
    MOST_EARLIER,
    SHELVES,
    Believed,
    CampaignData,
    Earlier,
    Info,
    NarrativeInfo,
    Related,
    SceneInfo,
    StatedValue,
)
from dndbots.compaction.data.run_history import cursor_of
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM, SYSTEM, is_uid
from dndbots.memory.human_gates import Gates, drop_hidden_facts, gates_of
from dndbots.storage.views.knowledge import Belief
from dndbots.storage.views.view import View

_ABILITY: Final = "ability__"
# Facts that have a field of their own.
_OWN_FIELDS: Final = frozenset((claims.NUMBER, "state", "danger", "discovered"))


def campaign_data(view: View) -> CampaignData:
    """Return the campaign data, made from the whole log."""
    gates = gates_of(view)
    shelves = _shelved(_infos(view, view.everybody(), gates))
    return CampaignData(**shelves, **_story(view, gates))


def update_campaign_data(data: CampaignData, view: View, *, after: int) -> CampaignData:
    """Return the campaign data, updated by the events after a seq."""
    new = list(view.events(after=after))
    entities = data.entities()
    # A merge of entities that the data does not have changes nothing else.
    joined = any(not entities.keys().isdisjoint(event.known.same_as) for event in new)
    if joined or any(event.event_type is EventType.GATE for event in new):
        return campaign_data(view)
    gates = gates_of(view)
    known = set(view.everybody())
    touched = {uid for event in new for uid in _touched(event)} & {
        uid for same in view.persons_of(known).values() for uid in same
    }
    shelves = _shelved(_infos(view, sorted(touched), gates))
    merged = {name: {**getattr(data, name), **shelf} for name, shelf in shelves.items()}
    ordered = {name: dict(sorted(shelf.items())) for name, shelf in merged.items()}
    return CampaignData(**ordered, **_story(view, gates))


def _touched(event: GameEvent) -> Iterable[str]:
    """Yield every entity that an event may say something about, or introduce."""
    known, people = event.known, audience(event)
    uses, effects = uses_of(event, known), event_effects(event)
    yield from (uid for uid in (*uses.shown, *people) if uid not in (DM, SYSTEM) and is_uid(uid))
    yield from (use.uid for use in uses.referred)
    yield from (held.claim.subject for held in effects.holdings if is_uid(held.claim.subject))


# Entities


def _infos(view: View, uids: Collection[str], gates: Gates) -> dict[str, Info]:
    entities = view.entities(uids)
    own = {uid: (uid, *entity.merged) for uid, entity in entities.items()}
    past = view.histories(own)
    beliefs: dict[str, list[Belief]] = {}
    for belief in view.beliefs_of([other for same in own.values() for other in same]):
        beliefs.setdefault(belief.fact.subject, []).append(belief)
    found: dict[str, Info] = {}
    for uid, entity in sorted(entities.items()):
        believed = [one for other in own[uid] for one in beliefs.get(other, ())]
        if entity.category in SHELVES and not _is_forgotten(view, entity, believed, gates):
            found[uid] = _info(drop_hidden_facts(view, entity, gates), past[uid], believed, gates)
    return found


def _is_forgotten(view: View, entity: Entity, believed: Iterable[Belief], gates: Gates) -> bool:
    """Return whether everything known of an entity was extracted from words that are to be forgotten."""
    facts = [*entity.facts, *(belief.fact for belief in believed)]
    if not facts or not all(fact.extracted_in and gates.hides(fact) for fact in facts):
        return False
    return not view.newest_seqs(limit=1, about=[entity.uid, *entity.merged])


def _shelved(infos: Mapping[str, Info]) -> dict[str, dict[str, Info]]:
    found: dict[str, dict[str, Info]] = {shelf: {} for shelf in INFOS}
    for uid, info in infos.items():
        shelf = next(name for name, kind in INFOS.items() if type(info) is kind)
        found[shelf][uid] = info
    return found


def _info(entity: Entity, past: Iterable[Fact], beliefs: Iterable[Belief], gates: Gates) -> Info:
    before: dict[str, list[Fact]] = {}
    for one in past:
        if not gates.hides(one):
            before.setdefault(str(one.key), []).append(one)
    shown = [one for one in entity.facts if not one.ended and not gates.hides(one)]
    plain = [fact for fact in shown if fact.key is not None and fact.key.isidentifier()]
    facts: dict[str, StatedValue] = {}
    for fact in sorted(plain, key=lambda fact: str(fact.key)):
        key = str(fact.key)
        if key not in _OWN_FIELDS and not key.startswith(_ABILITY) and key not in facts:
            facts[key] = _stated(fact, before.get(key, ()))
    shelf = SHELVES[str(entity.category)]
    return INFOS[shelf](
        uid=entity.uid,
        name=entity.name,
        aliases=entity.aliases,
        facts=facts,
        relations=_relations(shown),
        believed=_believed(one for one in beliefs if not gates.hides(one.fact)),
        **_own_fields(shelf, entity, plain),
    )


def _own_fields(shelf: str, entity: Entity, plain: Iterable[Fact]) -> dict[str, Any]:
    if shelf in ("characters", "npcs"):
        able = sorted(str(fact.value) for fact in plain if str(fact.key).startswith(_ABILITY))
        return {
            "alive": entity.alive,
            "location": entity.location,
            "conditions": entity.conditions,
            "inventory": entity.inventory,
            "abilities": tuple(able),
        }
    if shelf == "quests":
        state = entity.properties.get("state")
        return {"state": None if state is None else str(state), "objectives": entity.objectives}
    if shelf == "environments":
        danger = entity.properties.get("danger")
        return {"danger": None if danger is None else str(danger)}
    return {}


def _stated(fact: Fact, past: Iterable[Fact]) -> StatedValue:
    same = [one for one in past if one.certainty == fact.certainty and not one.ended]
    before = [one for one in same if one.value != fact.value and one.superseded_by is not None]
    newest = [Earlier(value=one.value, since=one.valid_from) for one in reversed(before)]
    return StatedValue(
        value=fact.value,
        since=fact.valid_from,
        certainty=fact.certainty,
        earlier=tuple(newest[:MOST_EARLIER]),
    )


def _relations(facts: Iterable[Fact]) -> tuple[Related, ...]:
    """Return the relations to other entities, without the location, which has its own field."""
    found = [
        Related(op=fact.op, object=fact.object, since=fact.valid_from)
        for fact in facts
        if fact.op not in (None, claims.AT, claims.SAME) and fact.object is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.op, one.object)))


def _believed(beliefs: Iterable[Belief]) -> tuple[Believed, ...]:
    """Return the beliefs about an entity; holders of the same belief from one turn share an entry."""
    found: dict[str, Believed] = {}
    for fact, holders in beliefs:
        one = Believed(
            key=str(fact.key),
            value=fact.value,
            by=(),
            said_by=fact.said_by,
            since=fact.valid_from,
            certainty=fact.certainty,
        )
        same = found.get(one.model_dump_json(), one)
        found[one.model_dump_json()] = same.model_copy(update={"by": tuple(sorted({*same.by, *holders}))})
    return tuple(found.values())


# The story


def _story(view: View, gates: Gates) -> dict[str, Any]:
    shelf = cursor_of(view)
    scenes = view.decided(claims.SCENE)
    narratives = view.decided(claims.NARRATIVE)
    return {
        "scenes": {
            name: SceneInfo.model_validate(slots[claims.SCENE][0]) for name, slots in sorted(scenes.items())
        },
        "narratives": dict(_narratives(narratives, gates)),
        "sessions": tuple(view.sessions()),
        "cursor": shelf.cursor if shelf else None,
    }


def _narratives(narratives: Mapping[str, Any], gates: Gates) -> Iterable[tuple[str, NarrativeInfo]]:
    """Yield the narratives of scenes, without lines that were forgotten or corrected."""
    decided = gates.forgotten | gates.corrected.keys()
    for name, slots in sorted(narratives.items()):
        narrative = slots[claims.NARRATIVE][0]
        lines = [line for line in narrative["lines"] if decided.isdisjoint(line["sources"])]
        sources = dict.fromkeys(source for line in lines for source in line["sources"])
        if lines:
            yield (
                name,
                NarrativeInfo(
                    narrative_id=name,
                    kind=narrative["kind"],
                    text=" ".join(line["text"] for line in lines),
                    scene_id=narrative["scene"],
                    sources=tuple(sources),
                ),
            )
