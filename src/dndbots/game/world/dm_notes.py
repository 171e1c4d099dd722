"""The DM's notes: what the adventure's file says of quests, people and places, as facts in the log.

Quests and secrets go into events that only the DM perceives. Looks go into the event in which somebody
sees them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.adventures.module import ModuleQuest, Person, Place, QuestStep, Reward
from dndbots.game.world.narration import Narration, join_texts, with_article
from dndbots.game.world.world_state import LOOKS

GOAL: Final = "goal"
GIVER: Final = "giver"
REWARD: Final = "reward"
ROLE: Final = "role"
WANTS: Final = "wants"
HIDES: Final = "secret"
_LONGEST: Final = 1_000
_LONGEST_KEY: Final = 64
# "a brewer with flour to the elbows": the word for what somebody is, if a plain one stands first.
_TRADE: Final = re.compile(r"^(?:an?|the) ((?:[a-z]+[ -])?[a-z]+?)(?=,| with| who| whose| in| of| at|$)")
_NO_TRADES: Final = "man woman person boy girl child stranger figure somebody someone old young"


def note_quest(narration: Narration, quest: ModuleQuest) -> None:
    """Note the goal, the giver and the reward of a quest for the DM."""
    qst = narration.atlas.uid("qst", quest.key)
    giver = None if quest.giver is None else narration.atlas.uid("npc", quest.giver)
    stated = {GOAL: quest.goal or quest.name, GIVER: giver, REWARD: reward_text(narration, quest.reward)}
    _note(narration, qst, stated, {qst: quest.name})


def note_people(narration: Narration, people: Iterable[Person]) -> None:
    """Note what people are, want and hide for the DM, once for each."""
    for person in people:
        npc = narration.atlas.uid("npc", person.key)
        stated = {ROLE: trade_of(person.seen_as), WANTS: person.wants, HIDES: person.secret}
        if any(value and narration.step.table.fact(npc, key) is None for key, value in stated.items()):
            _note(narration, npc, stated, {npc: person.name})


def sight_facts(
    narration: Narration, place: Place, uid: str, looks: str, people: Sequence[Person]
) -> list[dict[str, Any]]:
    """Return the looks of a place and of the people there, where somebody present sees them first."""
    seen = {uid: looks if looks in place.looks else ""}
    seen |= {narration.atlas.uid("npc", person.key): person.seen_as for person in people}
    here = [narration.step.of(who) for who in narration.step.table.together(uid)]
    return [
        {"subject": subject, "key": LOOKS, "value": value[:_LONGEST]}
        for subject, value in seen.items()
        if value and any(table.fact(subject, LOOKS) is None for table in here)
    ]


def step_facts(quest: str, step: QuestStep) -> list[dict[str, Any]]:
    """Return what a step of a quest was, in words: its state stands under a key only."""
    key = f"step_{step.key}"
    return [{"subject": quest, "key": key, "value": step.text[:_LONGEST]}] if len(key) <= _LONGEST_KEY else []


def reward_text(narration: Narration, reward: Reward) -> str:
    """Return a reward in words: "50 gold and a silver key"."""
    items = narration.atlas.module.items
    held = [with_article(items[key].name) for key in reward.items if key in items]
    return join_texts([*([f"{reward.gold} gold"] if reward.gold else []), *held])


def trade_of(seen_as: str) -> str | None:
    """Return what somebody is by their looks: "brewer"; None if the looks do not say."""
    found = _TRADE.match(seen_as)
    if found is None or not set(_NO_TRADES.split()).isdisjoint(found[1].replace("-", " ").split()):
        return None
    return found[1]


def _note(
    narration: Narration, subject: str, stated: dict[str, str | None], names: dict[str, JsonValue]
) -> None:
    facts: list[JsonValue] = [
        {"subject": subject, "key": key, "value": value[:_LONGEST]} for key, value in stated.items() if value
    ]
    if facts:
        # Not `tell_dm`: a note takes no time.
        narration.step.add(EventType.SYSTEM, "", witnesses=[], names=names, facts=facts)
