"""What `MemoryBuilder` is called with, from any view: the campaign's own, or that of its copy in Neo4j."""

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, Protocol

from dndbots.canon.values import Entity
from dndbots.ids import is_uid
from dndbots.models import Character, Quest, Stats

_STATS: Final = tuple(Stats.model_fields)


class Knows(Protocol):
    """Whom a viewer knows of, and what of them: a `View`."""

    def everybody(self, prefix: str = "") -> list[str]: ...
    def entities(self, uids: Collection[str]) -> dict[str, Entity]: ...


class Feed(NamedTuple):
    """The people, places, quests and sheets that a viewer knows of, each kind by uid."""

    characters: list[Character]
    npcs: list[dict[str, str]]
    locations: list[dict[str, str]]
    quests: list[Quest]


def feed_of(view: Knows) -> Feed:
    """All that a viewer knows, as arguments for `build_memory_document`. Who has no sheet is left out."""
    known = list(view.entities(view.everybody()).values())
    sheets = (character_of(one.uid, one.name, one.properties, one.inventory) for one in _of(known, "PC"))
    return Feed(
        [sheet for sheet in sheets if sheet is not None],
        [{"uid": one.uid, "name": one.name} for one in _of(known, "NPC", "MON")],
        [{"uid": one.uid, "name": one.name} for one in _of(known, "LOC")],
        [_quest(one) for one in _of(known, "QST")],
    )


def _of(known: list[Entity], *categories: str) -> list[Entity]:
    return [one for one in known if one.category in categories]


def _quest(one: Entity) -> Quest:
    said = {key: one.properties.get(key) for key in ("state", "giver", "goal")}
    words = {key: value if isinstance(value, str) else None for key, value in said.items()}
    if words["giver"] is not None and not is_uid(words["giver"]):
        words["giver"] = None
    return Quest(uid=one.uid, name=one.name, **words)


def character_of(uid: str, name: str, facts: Mapping[str, Any], items: Mapping[str, int]) -> Character | None:
    """A sheet as it stands; None of somebody who has none."""
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
