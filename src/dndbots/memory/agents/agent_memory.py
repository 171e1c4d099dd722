"""The memory of one agent as a view of the log: its summary, its buffer, and its character facts."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.entities import Entity, Fact
from dndbots.canon.event_marks import OUTCOME
from dndbots.canon.states import is_over
from dndbots.errors import UnknownEntity
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.fact_sentences import attitude_of
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.log_reader import LogReader
from dndbots.memory.retold_events import retell_events
from dndbots.memory.summaries.compression import events_since, standing_summaries
from dndbots.memory.summaries.fit import PINNED, cut_end, share_room
from dndbots.memory.summaries.layers import SUMMARY, SummaryBlock
from dndbots.models import AgentMemory, CharacterFacts
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_id, write_label
from dndbots.tokens import count_many

# The share of an agent's token limit that pinned texts may take.
_PINNED_SHARE: Final = 0.2
_MOST_LISTED: Final = 30
_CLASS_KEYS: Final = ("class", "char_class", "character_class")
# The sheet has these, and no story needs them.
_NUMBERS: Final = "str dex con int wis cha ac xp hp hp_max hp_change gold level spells_ready number"
_NO_TRAITS: Final = frozenset((*_CLASS_KEYS, *_NUMBERS.split()))
_LATELY_DECIDED: Final = 40
_MOST_DEEDS: Final = 8
_NOTABLE: Final = ("died", "revived", "ended", "taken", "refused", "cleared")
_RELATIONS: Final = {
    "~": "linked with",
    "->": "leads to",
    "<-": "caused by",
    "in": "belongs to",
    "<": "part of",
}


class CarriedMemory(NamedTuple):
    """An agent's memory, with the ids of the events in its buffer."""

    memory: AgentMemory
    ids: tuple[str, ...]


def read_agent_memory(
    view: View, *, token_limit: int, facts: CharacterFacts | None = None, reader: LogReader | None = None
) -> CarriedMemory:
    """Return the viewer's memory at this moment.

    `facts` are used if they are known already. Agents that are read together share a `reader`.
    """
    gates = gates_of(view)
    events = events_since(view, view.shelf(view.viewer, SUMMARY), reader)
    entries = retell_events(view, events, gates) if reader is None else reader.retold(view, events, gates)
    memory = AgentMemory(
        long_term_summary=_summary(view, gates, token_limit),
        short_term_buffer=[_line(entry) for entry in entries],
        token_limit=token_limit,
        character_facts=None if view.viewer == DM else facts or facts_of(view),
    )
    return CarriedMemory(memory, tuple(entry.event_id for entry in entries))


def read_summaries(view: View, gates: Gates) -> list[SummaryBlock]:
    """Return the viewer's current summaries, oldest first, with the decisions of people applied."""
    _, blocks = standing_summaries(view, gates)
    return [block for block in blocks if block.text and block.id not in gates.forgotten]


def _summary(view: View, gates: Gates, token_limit: int) -> str:
    """Return the whole summary as text: pinned texts first, then the summaries, oldest first."""
    pinned = pinned_texts(view, gates, int(token_limit * _PINNED_SHARE))
    lines = [f"{PINNED}{text}" for text in pinned.values()]
    lines += [block.text for block in read_summaries(view, gates)]
    return "\n".join(line for line in lines if line)


def pinned_texts(view: View, gates: Gates, room: int) -> dict[str, str]:
    """Return the pinned texts by id, oldest decision first, cut so that all fit into the room."""
    pinned = [event_id for event_id in gates.pinned if event_id not in gates.forgotten]
    events = view.by_id(pinned)
    entries = {entry.event_id: entry for entry in retell_events(view, events.values(), gates)}
    texts = {
        event_id: _attributed(entries.get(event_id)) or one_line(gates.as_decided(events[event_id]).content)
        for event_id in pinned
        if event_id in events
    }
    texts = {event_id: text for event_id, text in texts.items() if text}
    rooms = share_room(count_many(texts.values()), room)
    cut = {
        event_id: cut_end(text, most, f"[cut: {write_id(event_id)}]")
        for (event_id, text), most in zip(texts.items(), rooms, strict=True)
    }
    return {event_id: text for event_id, text in cut.items() if text}


def _attributed(entry: Entry | None) -> str:
    """Return an entry with its speaker, or without one if the DM narrates; "" for a memory."""
    if entry is None or not entry.text:
        return ""
    return entry.text if entry.narrated else f"{entry.who}: {entry.text}"


def _line(entry: Entry) -> str:
    """Return a buffer line with its speaker. Without words, the outcomes of the rules stand in."""
    return str(entry) if entry.text else f"[{entry.who}]: {' '.join(entry.outcomes)}"


def facts_of(view: View) -> CharacterFacts:
    """Return what a character knows of itself. It comes from canon, so no summary can lose it."""
    try:
        me = view.entity(view.viewer)
    except UnknownEntity:  # it has perceived nothing yet, not even itself
        name = view.called([view.viewer])[view.viewer].name
        return CharacterFacts(name=write_label(name), character_class="")
    names = _names(view, me)
    properties = me.properties
    role = next((str(properties[key]) for key in _CLASS_KEYS if key in properties), "")
    traits = [f"{key}: {_value_text(value)}" for key, value in properties.items() if key not in _NO_TRAITS]
    traits += [f"is {condition}" for condition in me.conditions]
    if me.inventory:
        carries = [f"{names(item)} x{n}" if n > 1 else names(item) for item, n in me.inventory.items()]
        traits.append(f"carries {', '.join(_shortened(carries))}")
    return CharacterFacts(
        name=write_label(me.name),
        character_class=one_line(role),
        key_traits=_shortened([one_line(trait) for trait in traits]),
        relationships=dict(list((_relationships(me, names) | _attitudes(view)).items())[:_MOST_LISTED]),
        notable_events=_shortened([*find_open_quests(view), *_notable_deeds(view)]),
    )


def _shortened(listed: list[str]) -> list[str]:
    """Return a list cut to its limit, with the number of items left out. Canon still has them."""
    more = len(listed) - _MOST_LISTED
    return listed if more <= 0 else [*listed[:_MOST_LISTED], f"and {more} more"]


def _names(view: View, entity: Entity) -> Callable[[str], str]:
    """Return a function that names the others in an entity's facts, as the viewer knows them."""
    called = view.called(
        sorted({fact.object for fact in entity.facts if fact.object} | set(entity.inventory))
    )
    return lambda uid: write_label(called[uid].name if uid in called else uid)


def _relationships(me: Entity, names: Callable[[str], str]) -> dict[str, str]:
    """Return an entity's relations by name; two of the same name get their uids added."""
    related: dict[str, list[str]] = {}
    for fact in me.facts:
        word = _RELATIONS.get(str(fact.op))
        if word and fact.object and not fact.ended:
            related.setdefault(fact.object, []).append(f"{word}{_sureness(fact)}")
    by_name: dict[str, str] = {}
    for uid, words in related.items():
        name = names(uid)
        by_name[f"{name} ({uid})" if name in by_name else name] = ", ".join(dict.fromkeys(words))
    return by_name


def _attitudes(view: View) -> dict[str, str]:
    """Return how the people whom the viewer met stand to the party, where it knows that."""
    met = view.entities(view.everybody("npc_")[-_MOST_LISTED:])
    known = {write_label(one.name): attitude_of(one.properties.get("reputation")) for one in met.values()}
    return {name: attitude for name, attitude in known.items() if attitude}


def _notable_deeds(view: View) -> list[str]:
    """Return what was decided lately before the viewer's eyes: deaths, quests, and what it did itself."""
    gates, marked = gates_of(view), view.marked(OUTCOME, limit=_LATELY_DECIDED)
    me = view.called([view.viewer])[view.viewer].name
    told = (
        deed.sentence
        for entry in retell_events(view, marked, gates)
        for deed in entry.deeds
        if deed.kind in _NOTABLE or (deed.kind == "killed" and me in deed.who)
    )
    return list(dict.fromkeys(filter(None, told)))[-_MOST_DEEDS:]


def _sureness(fact: Fact) -> str:
    return "" if fact.certainty == "fact" else f" ({fact.certainty})"


def find_open_quests(view: View) -> Iterable[str]:
    """Yield the open quests that the viewer knows of, with their objectives."""
    quests = view.everybody("qst_")
    for quest in view.entities(quests).values():
        state = quest.properties.get("state")
        if not is_over(state):
            steps = "; ".join(f"{name}: {_value_text(value)}" for name, value in quest.objectives.items())
            known = f" ({_value_text(state)})" if state is not None else ""
            yield one_line(f"Quest {write_label(quest.name)}{known}{f': {steps}' if steps else ''}")


def _value_text(value: JsonValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def format_character_facts(facts: CharacterFacts) -> str:
    """Return character facts as text for a prompt."""
    role = f" ({one_line(facts.character_class)})" if facts.character_class else ""
    lines = [f"{write_label(facts.name)}{role}"]
    lines += _list("Traits", facts.key_traits)
    lines += _list("Relationships", [f"{name}: {what}" for name, what in facts.relationships.items()])
    lines += _list("Notable events", facts.notable_events)
    return "\n".join(lines)


def _list(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {one_line(item)}" for item in items if item.strip()]
    return [f"{title}:", *listed] if listed else []
