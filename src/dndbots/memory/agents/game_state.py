"""The `GameState` of a campaign: the memory of every agent, and a count of what is new in it."""

from collections import Counter
from typing import Any, NamedTuple

from dndbots.events import EventType
from dndbots.ids import DM, slug
from dndbots.memory.agents.agent_memory import read_agent_memory
from dndbots.memory.log_reader import LogReader
from dndbots.models import GameState
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View


def find_agents(everything: View) -> dict[str, str]:
    """Return the uids of the DM and the characters by their key in a state.

    A key is the slug of a name, or the uid where two slugs are equal.
    """
    characters = everything.everybody("pc_")
    persons = everything.persons_of(characters)
    characters = [uid for uid in characters if persons[uid][0] == uid]
    called = everything.called(characters)
    slugs = [slug(called[uid].name) for uid in characters]
    agents = {DM: DM}
    for uid, key in zip(characters, slugs, strict=True):
        agents[key if key not in ("", DM) and slugs.count(key) == 1 else uid] = uid
    return agents


def build_game_state(
    campaign: CampaignLog, everything: View, *, token_limit: int, summarizer: Any
) -> GameState:
    """Build the state of all agents from the DM's view."""
    agents, reader = find_agents(everything), LogReader(everything)
    carried = {
        key: read_agent_memory(everything.of(uid), token_limit=token_limit, reader=reader)
        for key, uid in agents.items()
    }
    state: GameState = {
        "agent_memories": {key: agent.memory for key, agent in carried.items()},
        "summarization_in_progress": False,
        "campaign": campaign,
        "agents": agents,
        "buffer_ids": {key: agent.ids for key, agent in carried.items()},
    }
    if summarizer is not None:
        state["summarizer"] = summarizer
    return state


class NewMemories(NamedTuple):
    """The number of new summaries and scoped memories of one agent."""

    who: str
    name: str
    summaries: int
    memories: int


def count_new_memories(everything: View, *, after: int) -> list[NewMemories]:
    """Count the memories that each agent got after a seq. Notes that only remove others do not count."""
    new: Counter[tuple[str, EventType]] = Counter()
    for event in everything.events(after=after):
        note = event.known.memory
        if note is not None and event.content:
            new[note.holder, event.event_type] += 1
    holders = dict.fromkeys([*find_agents(everything).values(), *sorted({holder for holder, _ in new})])
    called = everything.called([holder for holder in holders if holder != DM])
    names = {uid: known_as.name for uid, known_as in called.items()} | {DM: "DM"}
    return [
        NewMemories(who, names[who], new[who, EventType.SUMMARY], new[who, EventType.MEMORY])
        for who in holders
    ]
