"""Quests as a character knows them: what is offered, what was taken on, and to whom one goes back."""

from functools import cached_property

from dndbots.canon import claims
from dndbots.canon.states import is_over
from dndbots.game.table import Table


class Quests:
    """The quests on one table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _states(self) -> dict[str, str]:
        table = self._table
        found = {uid: facts.get("state") for uid, facts in table.facts.items() if uid.startswith("qst_")}
        return {uid: state for uid, state in found.items() if isinstance(state, str)}

    @property
    def offered(self) -> list[str]:
        return [uid for uid, state in self._states.items() if state == "offered"]

    @property
    def accepted(self) -> list[str]:
        return [uid for uid, state in self._states.items() if state == "accepted"]

    def giver(self, quest: str) -> str | None:
        """Who offered it: as it was said, as it was seen, or whom one accepted it from."""
        for slot, value in self._table.facts.get(quest, {}).items():
            for said in (value, slot.rpartition(" ")[2]):
                if isinstance(said, str) and said.startswith("npc_"):
                    return said
        asked = [who for who, what in self._table.asked if what == quest]
        if asked:
            return min(asked)
        for event in reversed(self._table.lately):
            if event.metadata.get("quest_id") == quest:
                people = [uid for uid in (event.source, *event.known.participants) if uid.startswith("npc_")]
                if people:
                    return people[0]
        return None

    def seems_done(self, quest: str) -> bool:
        """Whether there were steps to it, and all that one knows of are behind."""
        starts = f"{claims.OBJECTIVE} "
        facts = self._table.facts.get(quest, {})
        steps = [state for slot, state in facts.items() if slot.startswith(starts)]
        return bool(steps) and all(map(is_over, steps))

    @cached_property
    def to_report(self) -> dict[str, str]:
        """Quests that seem to be done, and who waits to hear of it."""
        givers = {quest: self.giver(quest) for quest in self.accepted if self.seems_done(quest)}
        alive = self._table.alive
        return {quest: giver for quest, giver in givers.items() if giver is not None and alive(giver)}
