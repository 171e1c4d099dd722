"""The arguments of `MemoryBuilder`, read from a view: the campaign's own, or that of its copy in Neo4j."""

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, Protocol

from dndbots.canon.entities import Entity
from dndbots.ids import is_uid
from dndbots.models import Character, Quest, Stats

_STATS: Final = tuple(Stats.model_fields)


class Knows(Protocol):
    """The part of a `View` that is read here: the entities that a viewer knows."""

    def everybody(self, prefix: str = "") -> list[str]: ...
    def entities(self, uids: Collection[str]) -> dict[str, Entity]: ...


class Feed(NamedTuple):
    """The characters, people, places and quests that a viewer knows, each kind sorted by uid."""

    characters: list[Character]
    npcs: list[dict[str, str]]
    locations: list[dict[str, str]]
    quests: list[Quest]


def feed_of(view: Knows) -> Feed:
    """Return all that a viewer knows as arguments for `build_memory_document`.

    Characters without a complete sheet are left out.
    """
    known = list(view.entities(view.everybody()).values())
    sheets = (
        character_of(entity.uid, entity.name, entity.properties, entity.inventory)
        for entity in _of(known, "PC")
    )
    return Feed(
        [sheet for sheet in sheets if sheet is not None],
        [{"uid": entity.uid, "name": entity.name} for entity in _of(known, "NPC", "MON")],
        [{"uid": entity.uid, "name": entity.name} for entity in _of(known, "LOC")],
        [_quest(entity) for entity in _of(known, "QST")],
    )


def _of(known: list[Entity], *categories: str) -> list[Entity]:
    return [entity for entity in known if entity.category in categories]


def _quest(entity: Entity) -> Quest:
    values = {key: entity.properties.get(key) for key in ("state", "giver", "goal")}
    words = {key: value if isinstance(value, str) else None for key, value in values.items()}
    if words["giver"] is not None and not is_uid(words["giver"]):
        words["giver"] = None
    return Quest(uid=entity.uid, name=entity.name, **words)


def character_of(uid: str, name: str, facts: Mapping[str, Any], items: Mapping[str, int]) -> Character | None:
    """Return the current character sheet; None if facts for it are missing or invalid."""
    try:
        hp_max = facts["hp_max"]
        return Character(
            name=name,
            char_class=facts["class"],
            level=facts["level"],
            hp=min(facts["hp"], hp_max),
            hp_max=hp_max,
            ac=facts["ac"],
            stats=Stats(**{name: facts[name] for name in _STATS}),
            equipment=[item for item, number in sorted(items.items()) for _ in range(min(number, 20))],
            gold=max(facts.get("gold", 0), 0),
            char_id=uid,
        )
    except (KeyError, ValueError, TypeError):
        return None
