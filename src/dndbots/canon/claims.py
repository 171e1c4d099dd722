"""What an event makes true: claims about a subject, each in a slot.

A slot holds one thing at a time, so a newer claim in it supersedes the older one. A slot that begins
with `+` counts instead: its claims are changes, and add up. Claims come from the event alone, never
from what else is in the log: that is what lets a view be made from part of it.
"""

from enum import IntEnum
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
# Of a shelf of somebody's memories, of a thread, and of what a person decided: none of them entities.
MEMORY: Final = "memory"
THREAD: Final = "thread"
THREAD_STATE: Final = "thread state"
THREAD_TOUCHED: Final = "thread touched"
GATE: Final = "gate"
# Of what compaction keeps: none of them entities either.
COMPACTION: Final = "compaction"
SCENE: Final = "scene"
NARRATIVE: Final = "narrative"
PROPOSAL: Final = "proposal"
STATE: Final = "state"
# Of what models took: none of them entities either.
USAGE: Final = "usage"
REPORT: Final = "report"

_ONE_AT_A_TIME = (AT, PART_OF)


class Certainty(IntEnum):
    """How sure somebody is. A surer claim is not superseded by a less sure one."""

    RUMOR = 0
    BELIEF = 1
    FACT = 2


class Claim(NamedTuple):
    """One thing that an event makes true, or says."""

    subject: str
    slot: str
    value: JsonValue
    certainty: Certainty = Certainty.FACT


class HeldClaim(NamedTuple):
    """A claim as it is kept: who holds it, since when, learned how.

    `holders` is the number of an interned set of people, `at` the place in the log that the claim
    speaks of, `seq` the place where it was made, `n` its place among the claims of that event, and
    `total` the sum of a counting slot up to here, among claims with the same holders and certainty.
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
    """A session as the subject of claims; it is no entity, like acts and encounters."""
    return f"session {session}"


def shelf_subject(holder: str, shelf: str) -> str:
    return f"{MEMORY} {holder} {shelf}"


def usage_subject(role: str, model: str) -> str:
    return f"{USAGE} {role} {model}"


def report_subject(model: str) -> str:
    """What a model's provider reports, whatever it was asked for."""
    return f"{REPORT} {model}"


class Shelf(NamedTuple):
    """How a shelf of somebody's memories stands: its newest note, how far it has come, what counts."""

    last: str
    cursor: str
    standing: tuple[str, ...]

    @classmethod
    def of(cls, value: JsonValue) -> "Shelf | None":
        if not isinstance(value, dict) or not isinstance(standing := value.get("standing"), list):
            return None
        return cls(str(value.get("last")), str(value.get("cursor")), tuple(map(str, standing)))


def gate_slot(what: str, holder: str | None) -> str:
    return f"{GATE} {what}" if holder is None else f"{GATE} {what} {holder}"


def plain_key(key: str) -> str:
    """What a key says. One that there may be several of says which after two underscores."""
    return key.partition("__")[0] or key


def counts(slot: str) -> bool:
    return slot.startswith("+")


def change(slot: str) -> str:
    """The slot in which changes of an amount add up."""
    return f"+{slot}"


def claim_of(fact: StatedFact) -> Claim:
    """A stated fact in its one canonical form: `a > b` and `b in a` are the same claim."""
    certainty = Certainty[fact.certainty.upper()]
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
    """Where a relation stands: somebody is in one place at a time, but may have to do with many."""
    alone = op in _ONE_AT_A_TIME or (op == IN and category_of(other) != "FAC")
    return op if alone else f"{op} {other}"


class Reading(NamedTuple):
    """What a slot and its value say, in the words of a fact."""

    key: str | None = None
    value: JsonValue = None
    op: str | None = None
    object: str | None = None
    ended: bool = False


_RELATIONS = ("in ", "~ ", "-> ", "<- ")


def reading_of(slot: str, value: JsonValue) -> Reading:
    if slot in (AT, IN, PART_OF, SAME):
        return Reading(op=slot, object=None if value is None else str(value), ended=value is None)
    if slot.startswith(_RELATIONS):
        op, _, other = slot.partition(" ")
        return Reading(op=op, object=other, ended=value is not True)
    return Reading(key=slot.removeprefix("+"), value=value, ended=value is None)
