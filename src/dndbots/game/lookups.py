"""Lookups in a campaign for DMs and NPCs: entities, answers from memory, names and prompts."""

from collections.abc import Collection, Iterable
from typing import Final

from dndbots.campaign import Campaign
from dndbots.canon.entities import Entity
from dndbots.errors import AmbiguousName, UnknownEntity, UnknownViewer
from dndbots.ids import DM, is_uid, name_from_uid
from dndbots.memory.context import Briefing
from dndbots.memory.recall.search import LEAST_BUDGET
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.tokens import count_tokens

_RECALLED: Final = 300
_MOST_FACTS: Final = 14
_LEAST_MEMORY: Final = 400
# The prompt of an NPC says who they are.
_NPC: Final = Briefing(has_sheets=True, lines=6)


class CampaignLookup:
    """Lookups in the recorded log. The events of the current step are only on the tables."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign

    def look_up(self, name: str) -> str:
        """Return what the DM knows about a name, or what recall finds; "" if there is nothing."""
        try:
            found = self._campaign.entity(name, viewer=DM)
        except AmbiguousName as exc:
            several = sorted(map(write_label, self.called(DM, exc.candidates).values()))
            return f"Several have that name: {', '.join(several)}."
        except UnknownEntity:
            return self.recall(name)
        return self._describe(found)

    def recall(self, question: str) -> str:
        """Return the DM's memory on a question; "" if there is no record."""
        found = self._campaign.recall(DM, question, _RECALLED)
        return "" if found.no_record else found.text

    def called(self, viewer: str, uids: Iterable[str]) -> dict[str, str]:
        """Return the names that a viewer has for some uids."""
        wanted = [*uids]
        try:
            with self._campaign.view(viewer) as view:
                return {uid: one.name for uid, one in view.called(wanted).items()}
        except UnknownViewer:  # perceived nothing yet
            return {uid: name_from_uid(uid) for uid in wanted}

    def npc_prompt(self, who: str, beside: str, budget: int, *, told: Collection[str] = ()) -> str:
        """Return the prompt of a person without a seat: `beside` and the memory of what they perceived.

        The newest lines leave out the events in `told`, which the question shows.
        """
        room = count_tokens(f"{beside}\n\n") + LEAST_BUDGET
        try:
            whole = max(budget, room + _LEAST_MEMORY)
            context = self._campaign.context(who, whole, beside=beside, briefing=_NPC)
            return context.prompt_without(told)
        except UnknownViewer:  # perceived nothing yet
            return beside

    def _describe(self, entity: Entity) -> str:
        related = [uid for fact in entity.facts for uid in (fact.object,) if uid and is_uid(uid)]
        names = self.called(DM, related) if related else {}
        lines = [f"{write_label(entity.name)}{'' if entity.alive else ' (dead)'}"]
        if entity.location is not None:
            place = names.get(entity.location) or self.called(DM, [entity.location])[entity.location]
            lines.append(f"at {place}")
        lines += [f"{key}: {value}" for key, value in entity.properties.items()][:_MOST_FACTS]
        if entity.conditions:
            lines.append(f"is {', '.join(entity.conditions)}")
        if entity.inventory:
            lines.append(f"has {', '.join(list(entity.inventory)[:_MOST_FACTS])}")
        return one_line("; ".join(lines))
