"""The pooled knowledge of the characters in one scene.

In a split party each half may know a part of a secret. What follows from knowing it all is told only in a
scene where the characters together know it.
"""

from collections.abc import Iterable, Sequence

from dndbots.canon import claims
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.narration import Narration
from dndbots.game.world.world_state import World, beat


class SharedKnowledge(World):
    """Answers conditions from the tables of some characters. Quest states come from the DM's table."""

    def __init__(
        self,
        atlas: Atlas,
        table: Table,
        *,
        round_: int,
        place: str,
        tables: Sequence[Table],
        also: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(atlas, table, round_=round_, also=also)
        self._place, self._tables = place, tables

    def after(self, beats: Iterable[str]) -> "SharedKnowledge":
        return SharedKnowledge(
            self.atlas,
            self.table,
            round_=self.round,
            place=self._place,
            tables=self._tables,
            also=self._also.union(beats),
        )

    def has_beat(self, what: str, *of: str) -> bool:
        named = beat(what, *of)
        return named in self._also or any(named in table.beats for table in self._tables)

    def has(self, key: str) -> bool:
        item = self.module.items.get(key)
        if item is None:
            return False
        slot = f"{claims.ITEM} {item.name}"
        return any(table.fact(who, slot, 0) > 0 for table in self._tables for who in table.living())

    def visited(self, key: str) -> bool:
        place = self.atlas.uid("loc", key)
        return self.has_beat("told", key) or any(place in table.visits for table in self._tables)

    def at(self, key: str) -> bool:
        return self._place == self.atlas.uid("loc", key)

    def killed(self, key: str) -> bool:
        if self.has_fallen(key):
            return True
        npc = self.atlas.uid("npc", key)
        return key in self.module.people and any(not table.alive(npc) for table in self._tables)

    def heard(self, topic: str) -> bool:
        return any(topic in table.topics for table in self._tables) or self.has_beat("heard", topic)

    def happened(self, key: str) -> bool:
        """Return whether a happening took place, seen or unseen."""
        return beat("happened", key) in self.table.beats

    def quest(self, key: str) -> str | None:
        uid = self.atlas.uid("qst", key)
        return super().quest(key) if any(uid in table.facts for table in self._tables) else None


def scenes_that_know(narration: Narration, when: str | None, *, quest: str | None = None) -> list[str]:
    """Return the scenes whose characters know that a condition holds, and know the quest."""
    scenes = []
    for place in narration.step.table.scenes():
        shared = knowledge_at(narration, place)
        if shared.holds(when) and (quest is None or shared.quest(quest) is not None):
            scenes.append(place)
    return scenes


def knowledge_at(narration: Narration, place: str) -> SharedKnowledge:
    """Return the pooled knowledge of the characters at a place."""
    step = narration.step
    tables = [step.of(who) for who in step.table.together(place)]
    return SharedKnowledge(narration.atlas, step.table, round_=step.round, place=place, tables=tables)
