"""Everybody's memory at once, from a campaign: the `GameState` of a turn, and what is new in it."""

from collections import Counter
from typing import Any, NamedTuple

from dndbots.events import EventType
from dndbots.ids import DM, slug
from dndbots.memory.carrying import carried
from dndbots.memory.notes import Table
from dndbots.memory.reading import Reading
from dndbots.models import GameState
from dndbots.storage.reader import View


def agents_of(everything: View) -> dict[str, str]:
    """The DM and the characters, by the key of each in a state: a name's slug, the uid if two are alike."""
    characters = everything.everybody("pc_")
    persons = everything.persons_of(characters)
    characters = [uid for uid in characters if persons[uid][0] == uid]
    called = everything.called(characters)
    slugs = [slug(called[uid].name) for uid in characters]
    agents = {DM: DM}
    for uid, key in zip(characters, slugs, strict=True):
        agents[key if key not in ("", DM) and slugs.count(key) == 1 else uid] = uid
    return agents


def table_state(table: Table, everything: View, *, token_limit: int, summarizer: Any) -> GameState:
    agents, reading = agents_of(everything), Reading(everything)
    found = {
        key: carried(everything.of(uid), token_limit=token_limit, reading=reading)
        for key, uid in agents.items()
    }
    state: GameState = {
        "agent_memories": {key: one.memory for key, one in found.items()},
        "summarization_in_progress": False,
        "campaign": table,
        "agents": agents,
        "buffer_ids": {key: one.ids for key, one in found.items()},
    }
    if summarizer is not None:
        state["summarizer"] = summarizer
    return state


class Remembered(NamedTuple):
    """How much was noted down for somebody: summaries of its buffer, and scoped memories."""

    who: str
    name: str
    summaries: int
    memories: int


def remembered(everything: View, *, after: int) -> list[Remembered]:
    """What was noted down after a place in the log. Notes that only take others away do not count."""
    new: Counter[tuple[str, EventType]] = Counter()
    for event in everything.events(after=after):
        note = event.known.memory
        if note is not None and event.content:
            new[note.holder, event.event_type] += 1
    holders = dict.fromkeys([*agents_of(everything).values(), *sorted({holder for holder, _ in new})])
    called = everything.called([holder for holder in holders if holder != DM])
    names = {uid: one.name for uid, one in called.items()} | {DM: "DM"}
    return [
        Remembered(who, names[who], new[who, EventType.SUMMARY], new[who, EventType.MEMORY])
        for who in holders
    ]
