"""What a viewer has to do with right now: where it is, who is there, whom the talk is about, what is open."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from dndbots.canon.states import is_over
from dndbots.canon.values import Entity
from dndbots.ids import DM
from dndbots.memory.asking import question_of
from dndbots.memory.context.following import Following
from dndbots.storage.reader import View

_MOST_PRESENT: Final = 16
_MOST_LATELY: Final = 16
_JUST_NOW: Final = 8
_MOST_BEFORE: Final = 32
# Of the fallen, those who were met last: in a long campaign there are many.
_MOST_FALLEN: Final = 8
_CREATURES: Final = ("PC", "NPC", "MON")


class Scene(NamedTuple):
    """All of it as the viewer knows it, in the order in which it met them.

    `party` has of the fallen only a few. `places` are where the viewer is, or for the DM where the living
    characters are. `present` are the others there, `just_now` and `lately` whom the newest events speak of
    beside, `before` of whom something was told before that, the newest first, and `asked` whom the question
    names. The order of the others is that of meeting because it stays, whoever speaks next.
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
        """Everybody who is here or was spoken of, in order of how much they matter."""
        return (*self.asked, *self.present, *self.places, *self.just_now, *self.lately)


def scene_of(view: View, following: Following, query: str | None) -> Scene:
    named = question_of(view, query).named if query else ()
    asked = list(following.entities(view, [one.uids[0] for one in named]).values())
    party, still_open = following.everybody(view, "pc_"), following.everybody(view, "qst_")
    of_late, told_of = following.lately(view)[: 2 * _MOST_LATELY], following.told_of(view)[:_MOST_BEFORE]
    # All in one look, since each look has its cost.
    following.entities(view, list(dict.fromkeys((*party, view.viewer, *of_late, *told_of, *still_open))))
    characters = _standing(view, following, following.entities(view, party))
    # Somebody who turned out to be another is met under that one's uid.
    me = None if view.viewer == DM else next(iter(following.entities(view, [view.viewer]).values()), None)
    own = me.uid if me is not None else view.viewer
    spoken_of = following.entities(view, of_late)
    places = following.entities(view, _places(view, me, characters.values(), spoken_of.values()))
    here = [uid for place in places.values() for uid in uids_of(place)]
    there = following.entities(view, _last_there(view, following, here))
    present = {
        uid: entity
        for uid, entity in (characters | spoken_of | there).items()
        if entity.category in _CREATURES and entity.location in here and uid != own
    }
    told = {own, *(one.uid for one in asked), *list(present)[:_MOST_PRESENT], *characters, *places}
    beside = [one for one in spoken_of.values() if one.uid not in told and one.category != "QST"]
    told |= {one.uid for one in beside}
    before = following.entities(view, told_of)
    quests = following.entities(view, still_open)

    def met(entities: Iterable[Entity]) -> tuple[Entity, ...]:
        return _as_met(view, following, entities)

    return Scene(
        me=me,
        party=met(one for uid, one in characters.items() if uid != own),
        places=tuple(places.values()),
        present=met(list(present.values())[:_MOST_PRESENT]),
        just_now=met(beside[:_JUST_NOW]),
        lately=met(beside[_JUST_NOW:_MOST_LATELY]),
        before=tuple(one for one in before.values() if one.uid not in told and one.category != "QST"),
        asked=tuple(asked),
        quests=met(one for one in quests.values() if not is_over(one.properties.get("state"))),
    )


def _as_met(view: View, following: Following, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """In the order in which the viewer met them."""
    found = {one.uid: one for one in entities}
    seen = following.first_seen(view, list(found))
    return tuple(sorted(found.values(), key=lambda one: (seen.get(one.uid, 0), one.uid)))


def _standing(view: View, following: Following, characters: dict[str, Entity]) -> dict[str, Entity]:
    """The characters who live, and those of the fallen who were met last."""
    fallen = [one for one in characters.values() if not one.alive]
    if len(fallen) <= _MOST_FALLEN:
        return characters
    gone = {one.uid for one in _as_met(view, following, fallen)[:-_MOST_FALLEN]}
    return {uid: one for uid, one in characters.items() if one.uid not in gone}


def uids_of(entity: Entity) -> tuple[str, ...]:
    """All uids that the viewer knows to be one; the one that it goes by comes first."""
    return (entity.uid, *entity.merged)


def _places(
    view: View, me: Entity | None, characters: Collection[Entity], spoken_of: Collection[Entity]
) -> list[str]:
    if view.viewer != DM:
        return [me.location] if me is not None and me.location is not None else []
    # Where the DM's attention was last comes first; among the dead, it is as long as they are spoken of.
    active = [one for one in spoken_of if one.category == "PC"]
    living = [one for one in characters if one.alive] or characters
    return list(dict.fromkeys(one.location for one in (*active, *living) if one.location is not None))


def _last_there(view: View, following: Following, places: Collection[str]) -> list[str]:
    """Who took part in anything there last; whoever of them is there still may have been silent since."""
    found: dict[str, None] = {}
    for place in places:
        found |= dict.fromkeys(following.seen_at(view, place))
    return list(found)
