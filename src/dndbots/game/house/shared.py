"""The world as those in one scene know it together: what one of them learned, they can put together.

A split party may have a secret between them and neither half the whole of it. So what comes of knowing
something is told where it is known.
"""

from collections.abc import Iterable, Sequence

from dndbots.canon import claims
from dndbots.game.house.atlas import Atlas
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import World, beat
from dndbots.game.table import Table


class Shared(World):
    """Answers conditions from the tables of some characters. How quests stand is asked of the DM's."""

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

    def after(self, beats: Iterable[str]) -> "Shared":
        return Shared(
            self.atlas,
            self.table,
            round_=self.round,
            place=self._place,
            tables=self._tables,
            also=self._also.union(beats),
        )

    def came(self, what: str, *of: str) -> bool:
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
        return self.came("told", key) or any(place in table.visits for table in self._tables)

    def at(self, key: str) -> bool:
        return self._place == self.atlas.uid("loc", key)

    def killed(self, key: str) -> bool:
        if self.fell(key):
            return True
        npc = self.atlas.uid("npc", key)
        return key in self.module.people and any(not table.alive(npc) for table in self._tables)

    def heard(self, topic: str) -> bool:
        return any(topic in table.topics for table in self._tables) or self.came("heard", topic)

    def happened(self, key: str) -> bool:
        """What happens in the world happens, seen or unseen."""
        return beat("happened", key) in self.table.beats

    def quest(self, key: str) -> str | None:
        uid = self.atlas.uid("qst", key)
        return super().quest(key) if any(uid in table.facts for table in self._tables) else None


def known_at(telling: Telling, when: str | None, *, quest: str | None = None) -> list[str]:
    """The scenes in which a condition holds by what those who are there know, and the quest is known."""
    found = []
    for place in telling.step.table.scenes():
        shared = shared_at(telling, place)
        if shared.true(when) and (quest is None or shared.quest(quest) is not None):
            found.append(place)
    return found


def shared_at(telling: Telling, place: str) -> Shared:
    """What those at a place know together."""
    step = telling.step
    tables = [step.of(who) for who in step.table.together(place)]
    return Shared(telling.atlas, step.table, round_=step.round, place=place, tables=tables)
