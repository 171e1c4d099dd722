"""What an agent carries, as a view of the log: its summaries, its buffer, and what it knows of itself."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.states import is_over
from dndbots.canon.values import Entity, Fact
from dndbots.errors import UnknownEntity
from dndbots.ids import DM
from dndbots.memory.compression import since, standing
from dndbots.memory.entries import Entry
from dndbots.memory.fitting import PINNED, cut_end, shares
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.layers import SUMMARY, Block
from dndbots.memory.reading import Reading
from dndbots.memory.retelling import retold
from dndbots.models import AgentMemory, CharacterFacts
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_id, write_label
from dndbots.tokens import count_many

# How much of an agent's limit may be taken by what people pinned.
_PINNED_SHARE: Final = 0.2
_MOST_LISTED: Final = 30
_CLASS_KEYS: Final = ("class", "char_class", "character_class")
_RELATIONS: Final = {
    "~": "linked with",
    "->": "leads to",
    "<-": "caused by",
    "in": "belongs to",
    "<": "part of",
}


class Carried(NamedTuple):
    """An agent's memory, and the ids of the events in its buffer."""

    memory: AgentMemory
    ids: tuple[str, ...]


def carried(
    view: View, *, token_limit: int, facts: CharacterFacts | None = None, reading: Reading | None = None
) -> Carried:
    """The viewer's memory of this moment; what it knows of itself may be at hand already.

    Where several are asked for, they share a `reading`.
    """
    gates = gates_of(view)
    events = since(view, view.shelf(view.viewer, SUMMARY), reading)
    entries = retold(view, events, gates) if reading is None else reading.retold(view, events, gates)
    memory = AgentMemory(
        long_term_summary=_summary(view, gates, token_limit),
        short_term_buffer=[_line(entry) for entry in entries],
        token_limit=token_limit,
        character_facts=None if view.viewer == DM else facts or facts_of(view),
    )
    return Carried(memory, tuple(entry.event_id for entry in entries))


def summaries(view: View, gates: Gates) -> list[Block]:
    """The viewer's summaries that count, oldest first, as people decided on them."""
    _, blocks = standing(view, gates)
    return [block for block in blocks if block.text and block.id not in gates.forgotten]


def _summary(view: View, gates: Gates, token_limit: int) -> str:
    """All that stands, oldest first, with what was pinned before everything else."""
    pinned = pinned_texts(view, gates, int(token_limit * _PINNED_SHARE))
    lines = [f"{PINNED}{text}" for text in pinned.values()]
    lines += [block.text for block in summaries(view, gates)]
    return "\n".join(line for line in lines if line)


def pinned_texts(view: View, gates: Gates, room: int) -> dict[str, str]:
    """What was pinned, by its id, oldest decision first. All together fits: what is too long is cut."""
    wanted = [one for one in gates.pinned if one not in gates.forgotten]
    events = view.by_id(wanted)
    entries = {entry.event_id: entry for entry in retold(view, events.values(), gates)}
    found = {
        one: _said_by(entries.get(one)) or one_line(gates.as_decided(events[one]).content)
        for one in wanted
        if one in events
    }
    found = {one: text for one, text in found.items() if text}
    given = shares(count_many(found.values()), room)
    cut = {
        one: cut_end(text, most, f"[cut: {write_id(one)}]")
        for (one, text), most in zip(found.items(), given, strict=True)
    }
    return {one: text for one, text in cut.items() if text}


def _said_by(entry: Entry | None) -> str:
    """An entry with whoever said it, unless the DM told it; nothing of what is a memory."""
    if entry is None or not entry.text:
        return ""
    return entry.text if entry.narrated else f"{entry.who}: {entry.text}"


def _line(entry: Entry) -> str:
    """An entry of a buffer, attributed. What the rules decided stands in for words where there are none."""
    return str(entry) if entry.text else f"[{entry.who}]: {' '.join(entry.outcomes)}"


def facts_of(view: View) -> CharacterFacts:
    """What a character knows of itself: from canon, so that no summary can lose it."""
    try:
        me = view.entity(view.viewer)
    except UnknownEntity:  # it perceived nothing yet, not even itself
        name = view.called([view.viewer])[view.viewer].name
        return CharacterFacts(name=write_label(name), character_class="")
    names = _names(view, me)
    properties = me.properties
    role = next((str(properties[key]) for key in _CLASS_KEYS if key in properties), "")
    traits = [f"{key}: {_said(value)}" for key, value in properties.items() if key not in _CLASS_KEYS]
    traits += [f"is {condition}" for condition in me.conditions]
    if me.inventory:
        carries = [f"{names(item)} x{n}" if n > 1 else names(item) for item, n in me.inventory.items()]
        traits.append(f"carries {', '.join(_most(carries))}")
    return CharacterFacts(
        name=write_label(me.name),
        character_class=one_line(role),
        key_traits=_most([one_line(trait) for trait in traits]),
        relationships=dict(list(_relationships(me, names).items())[:_MOST_LISTED]),
        notable_events=_most(list(quests_of(view))),
    )


def _most(listed: list[str]) -> list[str]:
    """A list that stays short enough to be carried. What is left out is still true, and can be looked up."""
    more = len(listed) - _MOST_LISTED
    return listed if more <= 0 else [*listed[:_MOST_LISTED], f"and {more} more"]


def _names(view: View, entity: Entity) -> Callable[[str], str]:
    """What others are called, as the viewer knows it."""
    called = view.called(
        sorted({fact.object for fact in entity.facts if fact.object} | set(entity.inventory))
    )
    return lambda uid: write_label(called[uid].name if uid in called else uid)


def _relationships(me: Entity, names: Callable[[str], str]) -> dict[str, str]:
    """What somebody is to whom, by name; those who share one are told apart by their uids."""
    related: dict[str, list[str]] = {}
    for fact in me.facts:
        word = _RELATIONS.get(str(fact.op))
        if word and fact.object and not fact.ended:
            related.setdefault(fact.object, []).append(f"{word}{_sureness(fact)}")
    found: dict[str, str] = {}
    for uid, words in related.items():
        name = names(uid)
        found[f"{name} ({uid})" if name in found else name] = ", ".join(dict.fromkeys(words))
    return found


def _sureness(fact: Fact) -> str:
    return "" if fact.certainty == "fact" else f" ({fact.certainty})"


def quests_of(view: View) -> Iterable[str]:
    """The quests that the viewer knows of and that are not over, with their objectives."""
    quests = view.everybody("qst_")
    for quest in view.entities(quests).values():
        state = quest.properties.get("state")
        if not is_over(state):
            steps = "; ".join(f"{name}: {_said(value)}" for name, value in quest.objectives.items())
            known = f" ({_said(state)})" if state is not None else ""
            yield one_line(f"Quest {write_label(quest.name)}{known}{f': {steps}' if steps else ''}")


def _said(value: JsonValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def format_character_facts(facts: CharacterFacts) -> str:
    """What a character knows of itself, as text for a prompt."""
    role = f" ({one_line(facts.character_class)})" if facts.character_class else ""
    lines = [f"{write_label(facts.name)}{role}"]
    lines += _list("Traits", facts.key_traits)
    lines += _list("Relationships", [f"{name}: {what}" for name, what in facts.relationships.items()])
    lines += _list("Notable events", facts.notable_events)
    return "\n".join(lines)


def _list(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {one_line(item)}" for item in items if item.strip()]
    return [f"{title}:", *listed] if listed else []
