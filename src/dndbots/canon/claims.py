"""Claims: what an event makes true of a subject, each in a slot.

A slot holds one value at a time, so a newer claim in it supersedes the older one. A slot that begins with `+`
counts instead: its claims are changes, and add up. Claims come from one event alone, never from the rest of
the log, so a view can be made from part of it.
"""

from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.events import StatedFact
from dndbots.ids import category_of

AT: Final = "@"
IN: Final = "in"
PART_OF: Final = "<"
SAME: Final = "="
NUMBER: Final = "number"
CONDITION: Final = "condition"
OBJECTIVE: Final = "objective"
ITEM: Final = "item"
ACT: Final = "act"
ENCOUNTER: Final = "encounter"
SPEAKER: Final = "speaker"
# Slots of memory shelves, threads and decisions of people. Their subjects are no entities.
MEMORY: Final = "memory"
THREAD: Final = "thread"
THREAD_STATE: Final = "thread state"
THREAD_TOUCHED: Final = "thread touched"
GATE: Final = "gate"
# Slots of compaction. Their subjects are no entities either.
COMPACTION: Final = "compaction"
SCENE: Final = "scene"
NARRATIVE: Final = "narrative"
PROPOSAL: Final = "proposal"
STATE: Final = "state"
# Slots of model usage. Their subjects are no entities either.
USAGE: Final = "usage"
REPORT: Final = "report"

_ONE_AT_A_TIME = (AT, PART_OF)


class CertaintyRank(IntEnum):
    """The certainty of a claim, ranked. A less certain claim does not supersede a more certain one."""

    RUMOR = 0
    BELIEF = 1
    FACT = 2


class Claim(NamedTuple):
    """A claim that sets, adds or ends a value: something that an event makes true, or says."""

    subject: str
    slot: str
    value: JsonValue
    certainty: CertaintyRank = CertaintyRank.FACT


class HeldClaim(NamedTuple):
    """A stored claim: its holders, its time, and how they learned it.

    `holders` is the number of an interned set of people, `at` the seq of the event that the claim speaks of,
    `seq` that of the event that made it, `n` its index among the claims of that event, and `total` the sum of
    a counting slot up to here, over claims with the same holders and certainty.
    """

    subject: str
    slot: str
    holders: int
    certainty: int
    at: int
    seq: int
    n: int
    value: JsonValue
    total: int | None
    how: str
    said_by: str | None


def session_subject(session: str) -> str:
    """Return the subject of claims about a session, which is no entity."""
    return f"session {session}"


def shelf_subject(holder: str, shelf: str) -> str:
    """Return the subject of claims about a shelf of somebody's memories."""
    return f"{MEMORY} {holder} {shelf}"


def usage_subject(role: str, model: str) -> str:
    """Return the subject of claims about a model's usage in a role."""
    return f"{USAGE} {role} {model}"


def report_subject(model: str) -> str:
    """Return the subject of claims about the token counts that a model's provider reports."""
    return f"{REPORT} {model}"


class Shelf(NamedTuple):
    """The state of a memory shelf: its newest note, the last event it covers, and the notes that count."""

    last: str
    cursor: str
    standing: tuple[str, ...]

    @classmethod
    def of(cls, value: JsonValue) -> "Shelf | None":
        """Return the state in the value of a claim; None if it has none."""
        if not isinstance(value, dict) or not isinstance(standing := value.get("standing"), list):
            return None
        return cls(str(value.get("last")), str(value.get("cursor")), tuple(map(str, standing)))


def gate_slot(what: str, holder: str | None) -> str:
    """Return the slot of a person's decision: for one holder, or for all."""
    return f"{GATE} {what}" if holder is None else f"{GATE} {what} {holder}"


def plain_key(key: str) -> str:
    """Return a key without the part after two underscores, which numbers several of one kind."""
    return key.partition("__")[0] or key


def is_counting(slot: str) -> bool:
    """Return True if the claims of a slot add up."""
    return slot.startswith("+")


def change_slot(slot: str) -> str:
    """Return the slot in which changes of an amount add up."""
    return f"+{slot}"


def claim_of(fact: StatedFact) -> Claim:
    """Return a stated fact in its canonical form: `a > b` and `b in a` are the same claim."""
    certainty = CertaintyRank[fact.certainty.upper()]
    if fact.op is None or fact.object is None:
        value: JsonValue = [*fact.value] if isinstance(fact.value, list) else fact.value
        return Claim(fact.subject, str(fact.key), None if fact.ended else value, certainty)
    subject, op, other = fact.subject, fact.op, fact.object
    if op == ">":
        subject, op, other = other, IN, subject
    slot = relation_slot(op, other)
    value = not fact.ended if slot != op else None if fact.ended else other
    return Claim(subject, slot, value, certainty)


def relation_slot(op: str, other: str) -> str:
    """Return the slot of a relation: somebody is in one place at a time, but may be associated with many."""
    is_single = op in _ONE_AT_A_TIME or (op == IN and category_of(other) != "FAC")
    return op if is_single else f"{op} {other}"


class SlotReading(NamedTuple):
    """A slot and its value in the terms of a fact: key and value, or operator and object."""

    key: str | None = None
    value: JsonValue = None
    op: str | None = None
    object: str | None = None
    ended: bool = False


_RELATIONS = ("in ", "~ ", "-> ", "<- ")


def reading_of(slot: str, value: JsonValue) -> SlotReading:
    """Return a slot and its value in the terms of a fact."""
    return _reading_of_text(slot, value) if type(value) is str else _reading(slot, value)


def _reading(slot: str, value: JsonValue) -> SlotReading:
    if slot in (AT, IN, PART_OF, SAME):
        return SlotReading(None, None, slot, None if value is None else str(value), value is None)
    if slot.startswith(_RELATIONS):
        op, _, other = slot.partition(" ")
        return SlotReading(op=op, object=other, ended=value is not True)
    return SlotReading(key=slot.removeprefix("+"), value=value, ended=value is None)


# Many people hold the same.
@lru_cache(maxsize=4_096)
def _reading_of_text(slot: str, value: str) -> SlotReading:
    return _reading(slot, value)
