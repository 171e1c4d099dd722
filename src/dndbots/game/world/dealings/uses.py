"""Uses of the things of an adventure: what comes of them is told once, or felt by who swallows them."""

from collections.abc import Sequence
from typing import Any

from dndbots.events import GameEvent
from dndbots.game.adventures.module import Item
from dndbots.game.world.narration import Narration, as_sentence
from dndbots.game.world.world_state import beat

_SWALLOWED = ("eat", "drink")


def tell_uses(narration: Narration, events: Sequence[GameEvent]) -> None:
    """Tell what things of the adventure do that somebody used since the DM's last step."""
    items = {item.name: item for item in narration.atlas.module.items.values()}
    for event in events:
        used: Any = event.metadata.get("used")
        item = items.get(str(used.get("item"))) if isinstance(used, dict) else None
        who = next(iter(event.known.participants), None)
        place = event.known.location
        if item is None or who is None or place is None or narration.step.table.place(who) != place:
            continue
        if used.get("approach") in _SWALLOWED:
            _swallow(narration, place, who, item)
        elif item.use is not None and not item.causes and not narration.world.has_beat("used", item.key):
            text = as_sentence(item.use)
            narration.tell(place, text, participants=[who], beats=[beat("used", item.key)], gist=item.use)


def _swallow(narration: Narration, place: str, who: str, item: Item) -> None:
    """Let what was eaten or drunk do what it does; most things are not made for it, and stay."""
    name = narration.step.table.name(who)
    if item.causes is None:
        narration.tell(place, narration.phrase("no_food", who=name, what=item.name), participants=[who])
        return
    effect = as_sentence(item.use) if item.use else ""
    text = narration.phrase("swallowed", who=name, what=item.name, effect=item.causes)
    narration.tell(
        place,
        f"{text} {effect}".strip(),
        participants=[who],
        loot=[{"item": item.name, "from": who}],
        conditions={who: [item.causes]},
        gist=f"{name} swallowed {item.name} and was {item.causes}",
        play={"until": {who: {item.causes: narration.step.round + item.rounds}}},
    )
