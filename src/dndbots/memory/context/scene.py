"""The scene that a viewer is in: its place, who is there, whom the talk is about, and open quests."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from dndbots.canon.entities import Entity
from dndbots.canon.states import is_over
from dndbots.ids import DM
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.recall.question import read_question
from dndbots.storage.views.view import View

_MOST_PRESENT: Final = 16
_MOST_LATELY: Final = 16
_JUST_NOW: Final = 8
_MOST_BEFORE: Final = 32
# A long campaign has many fallen characters: only the ones met last are shown.
_MOST_FALLEN: Final = 8
_CREATURES: Final = ("PC", "NPC", "MON")


class Scene(NamedTuple):
    """The entities of a scene, as the viewer knows them.

    - `me`: the viewer. `party`: the other characters, with only a few of the fallen.
    - `places`: the viewer's place; for the DM, the places of the living characters. `present`: others there.
    - `just_now`, `lately`: further entities that the newest events mention.
    - `before`: subjects of extracted facts, newest first. `asked`: entities that the question names.
    - `quests`: open quests.

    Except for `before` and `asked`, the order is that of meeting, which stays the same whoever speaks next.
    """

    me: Entity | None
    party: tuple[Entity, ...]
    places: tuple[Entity, ...]
    present: tuple[Entity, ...]
    just_now: tuple[Entity, ...]
    lately: tuple[Entity, ...]
    before: tuple[Entity, ...]
    asked: tuple[Entity, ...]
    quests: tuple[Entity, ...]

    @property
    def at_hand(self) -> tuple[Entity, ...]:
        """Return the entities that are asked about, present or recently mentioned, most important first."""
        return (*self.asked, *self.present, *self.places, *self.just_now, *self.lately)


def find_scene(view: View, cache: ViewerCache, query: str | None) -> Scene:
    """Return the scene that the viewer is in; `query` is the question that is asked with it."""
    named = read_question(view, query).named if query else ()
    asked = list(cache.entities(view, [entity.uids[0] for entity in named]).values())
    party, still_open = cache.everybody(view, "pc_"), cache.everybody(view, "qst_")
    of_late, told_of = cache.lately(view)[: 2 * _MOST_LATELY], cache.told_of(view)[:_MOST_BEFORE]
    # Load all of them at once: each lookup has its cost.
    cache.entities(view, list(dict.fromkeys((*party, view.viewer, *of_late, *told_of, *still_open))))
    characters = _living_or_recent(view, cache, cache.entities(view, party))
    # A viewer that turned out to be another entity goes by that entity's uid.
    me = None if view.viewer == DM else next(iter(cache.entities(view, [view.viewer]).values()), None)
    own = me.uid if me is not None else view.viewer
    spoken_of = cache.entities(view, of_late)
    places = cache.entities(view, _places(view, me, characters.values(), spoken_of.values()))
    here = [uid for place in places.values() for uid in all_uids_of(place)]
    there = cache.entities(view, _last_there(view, cache, here))
    present = {
        uid: entity
        for uid, entity in (characters | spoken_of | there).items()
        if entity.category in _CREATURES and entity.location in here and uid != own
    }
    told = {own, *(entity.uid for entity in asked), *list(present)[:_MOST_PRESENT], *characters, *places}
    beside = [entity for entity in spoken_of.values() if entity.uid not in told and entity.category != "QST"]
    told |= {entity.uid for entity in beside}
    before = cache.entities(view, told_of)
    quests = cache.entities(view, still_open)

    def met(entities: Iterable[Entity]) -> tuple[Entity, ...]:
        return _as_met(view, cache, entities)

    return Scene(
        me=me,
        party=met(entity for uid, entity in characters.items() if uid != own),
        places=tuple(places.values()),
        present=met(list(present.values())[:_MOST_PRESENT]),
        just_now=met(beside[:_JUST_NOW]),
        lately=met(beside[_JUST_NOW:_MOST_LATELY]),
        before=tuple(
            entity for entity in before.values() if entity.uid not in told and entity.category != "QST"
        ),
        asked=tuple(asked),
        quests=met(entity for entity in quests.values() if not is_over(entity.properties.get("state"))),
    )


def _as_met(view: View, cache: ViewerCache, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return entities in the order in which the viewer met them."""
    by_uid = {entity.uid: entity for entity in entities}
    seen = cache.first_seen(view, list(by_uid))
    return tuple(sorted(by_uid.values(), key=lambda entity: (seen.get(entity.uid, 0), entity.uid)))


def _living_or_recent(view: View, cache: ViewerCache, characters: dict[str, Entity]) -> dict[str, Entity]:
    """Return the living characters and the fallen ones who were met last."""
    fallen = [entity for entity in characters.values() if not entity.alive]
    if len(fallen) <= _MOST_FALLEN:
        return characters
    gone = {entity.uid for entity in _as_met(view, cache, fallen)[:-_MOST_FALLEN]}
    return {uid: entity for uid, entity in characters.items() if entity.uid not in gone}


def all_uids_of(entity: Entity) -> tuple[str, ...]:
    """Return all uids of an entity, also those merged into it; the one that it goes by comes first."""
    return (entity.uid, *entity.merged)


def _places(
    view: View, me: Entity | None, characters: Collection[Entity], spoken_of: Collection[Entity]
) -> list[str]:
    if view.viewer != DM:
        return [me.location] if me is not None and me.location is not None else []
    # The places of recently mentioned characters come first, even if these are dead.
    active = [entity for entity in spoken_of if entity.category == "PC"]
    living = [entity for entity in characters if entity.alive] or characters
    return list(
        dict.fromkeys(entity.location for entity in (*active, *living) if entity.location is not None)
    )


def _last_there(view: View, cache: ViewerCache, places: Collection[str]) -> list[str]:
    """Return who last took part in events at some places: they may still be there, and silent."""
    uids: dict[str, None] = {}
    for place in places:
        uids |= dict.fromkeys(cache.seen_at(view, place))
    return list(uids)
