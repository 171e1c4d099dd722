"""What is looked up in a campaign for those who run its world: of somebody, of a question, of one's own."""

from collections.abc import Iterable
from typing import Final

from dndbots.campaign import Campaign
from dndbots.canon.values import Entity
from dndbots.errors import AmbiguousName, UnknownEntity, UnknownViewer
from dndbots.ids import DM, is_uid, name_from_uid
from dndbots.memory.recalling import LEAST_BUDGET
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_label
from dndbots.tokens import count_tokens

_RECALLED: Final = 300
_MOST_FACTS: Final = 14
_LEAST_MEMORY: Final = 400


class Looking:
    """Answers from what is recorded. What a step has come to so far is on the tables."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign

    def look_up(self, name: str) -> str:
        """Somebody or something by name, as the DM knows it; or what was told of it. Empty, if nothing is."""
        try:
            found = self._campaign.entity(name, viewer=DM)
        except AmbiguousName as exc:
            several = sorted(map(write_label, self.called(DM, exc.candidates).values()))
            return f"There are several: {', '.join(several)}."
        except UnknownEntity:
            return self.recall(name)
        return self._told(found)

    def recall(self, question: str) -> str:
        found = self._campaign.recall(DM, question, _RECALLED)
        return "" if found.no_record else found.text

    def called(self, viewer: str, uids: Iterable[str]) -> dict[str, str]:
        """What somebody calls some others."""
        wanted = [*uids]
        try:
            with self._campaign.view(viewer) as view:
                return {uid: one.name for uid, one in view.called(wanted).items()}
        except UnknownViewer:  # it has not perceived anything yet
            return {uid: name_from_uid(uid) for uid in wanted}

    def mind(self, who: str, beside: str, budget: int) -> str:
        """The prompt of somebody who has no seat: what is its own, and what it perceived."""
        room = count_tokens(f"{beside}\n\n") + LEAST_BUDGET
        try:
            return self._campaign.context(who, max(budget, room + _LEAST_MEMORY), beside=beside).prompt
        except UnknownViewer:  # it has not perceived anything yet
            return beside

    def _told(self, one: Entity) -> str:
        related = [uid for fact in one.facts for uid in (fact.object,) if uid and is_uid(uid)]
        names = self.called(DM, related) if related else {}
        lines = [f"{write_label(one.name)}{'' if one.alive else ' (dead)'}"]
        if one.location is not None:
            lines.append(f"at {names.get(one.location) or self.called(DM, [one.location])[one.location]}")
        lines += [f"{key}: {value}" for key, value in one.properties.items()][:_MOST_FACTS]
        if one.conditions:
            lines.append(f"is {', '.join(one.conditions)}")
        if one.inventory:
            lines.append(f"has {', '.join(list(one.inventory)[:_MOST_FACTS])}")
        return one_line("; ".join(lines))
