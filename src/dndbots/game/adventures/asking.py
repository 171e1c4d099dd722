"""Whether the conditions of a module can be answered: what they name is there, and is there once."""

from collections.abc import Iterator
from typing import Final

from dndbots.canon.states import ACCEPTED, REFUSED
from dndbots.game.adventures import when
from dndbots.game.adventures.known import Found, Known
from dndbots.game.adventures.reading import Path
from dndbots.game.adventures.wording import meant

_KINDS: Final = {
    "found": ("thing",),
    "has": ("item",),
    "visited": ("place",),
    "at": ("place",),
    "killed": ("foes", "person"),
    "spared": ("foes", "person"),
    "met": ("person",),
}


def unanswerable(path: Path, condition: str, known: Known) -> Iterator[Found]:
    for asked in when.keys(condition):
        if asked.question in _KINDS:
            yield from known.missing(path, asked.key, *_KINDS[asked.question])
        elif not known.partial:
            yield from _asked(path, asked, known)


def _asked(path: Path, asked: when.Asks, known: Known) -> Iterator[Found]:
    match asked.question:
        case "happened":
            yield from known.missing(path, asked.key, "happening")
        case "heard" if asked.key not in known.topics:
            yield path, f"nothing brings up {asked.key!r}{meant(asked.key, known.topics)}"
        case "quest":
            yield from _state(path, asked, known)
        case "step":
            yield from _step(path, asked, known)


def _state(path: Path, asked: when.Asks, known: Known) -> Iterator[Found]:
    yield from known.missing(path, asked.key, "quest")
    quest = known.module.quests.get(asked.key)
    if quest is None or asked.state is None:
        return
    states = {ACCEPTED, REFUSED, *(ending.state for ending in quest.endings.values())}
    if asked.state not in states:
        yield path, f"the quest {quest.key!r} is never {asked.state!r}{meant(asked.state, states)}"


def _step(path: Path, asked: when.Asks, known: Known) -> Iterator[Found]:
    if asked.quest is not None:
        yield from known.missing(path, asked.quest, "quest")
    quests = {key: quest.steps for key, quest in known.module.quests.items() if asked.quest in (None, key)}
    owners = [key for key, steps in quests.items() if asked.key in steps]
    if not owners and (quests or asked.quest is None):
        steps = {step for steps in quests.values() for step in steps}
        yield path, f"there is no step {asked.key!r}{meant(asked.key, steps)}"
    elif len(owners) > 1:
        ways = " or ".join(f"{owner}.{asked.key}" for owner in owners)
        yield path, f"several quests have a step {asked.key!r}; say which: {ways}"
