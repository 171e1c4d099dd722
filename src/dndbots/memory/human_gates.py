"""Gates: the decisions of people on memories and events (pinned, locked, forgotten, corrected).

Each decision is an event. Everybody who perceives its target perceives it, unless it is for one holder.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.events import EventType, GameEvent, Gating, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.views.view import View
from dndbots.text.labels import write_telling

_KINDS: Final = get_args(Gating)
_LONGEST_LINE: Final = 400


class Gates(NamedTuple):
    """The decisions that hold for one viewer: the ids that are pinned (oldest first), locked, and so on."""

    pinned: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    corrected: dict[str, str] = {}  # noqa: RUF012 - never changed

    def shown(self, events: Iterable[GameEvent]) -> list[GameEvent]:
        """Return the events that are not forgotten, corrected ones in their new words."""
        return [self.as_decided(event) for event in events if event.event_id not in self.forgotten]

    def hides(self, fact: Fact) -> bool:
        """Return True if a fact is left out: its event, or the text it was extracted from, is."""
        if fact.learned_from in self.forgotten:
            return True
        extracted = fact.extracted_in
        return extracted is not None and (extracted in self.forgotten or fact.learned_from in self.corrected)

    def marks(self, target: str) -> list[str]:
        """Return the names of the decisions on one event or memory."""
        return [kind for kind in _KINDS if target in getattr(self, kind)]

    def as_decided(self, event: GameEvent) -> GameEvent:
        """Return an event in the words that count.

        The lines of a memory are dropped or corrected with the events they were made from.
        """
        text = self.corrected.get(event.event_id)
        if text is not None and event.is_note:
            text = write_telling(text)  # in a memory, no line may pass for somebody's speech
        note = event.known.memory if text is None and event.is_note else None
        if note is not None:
            text = "\n".join(self._lines(event.content.split("\n"), note.line_sources))
        return event if text in (None, event.content) else event.model_copy(update={"content": text})

    def _lines(self, lines: list[str], sources: list[list[str]]) -> Iterable[str]:
        corrected_events: set[str] = set()
        for n, line in enumerate(lines):
            made_from = sources[n] if n < len(sources) else []
            if made_from and self.forgotten.issuperset(made_from):
                continue
            corrected = self.corrected.get(made_from[0]) if len(made_from) == 1 else None
            if corrected is None:
                yield line
            elif made_from[0] not in corrected_events:
                corrected_events.add(made_from[0])
                yield _as_line(corrected)


def _as_line(text: str) -> str:
    """Return a correction as one line, cut so that it cannot fill a whole summary."""
    line = write_telling(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE].rsplit(' ', 1)[0]}…"


def gates_of(view: View, holder: str | None = None) -> Gates:
    """Return the decisions for the viewer, or for another holder as far as the viewer knows."""
    decided: dict[str, list[tuple[int, str, JsonValue]]] = {kind: [] for kind in _KINDS}
    for target, slots in view.decided(claims.GATE).items():
        for kind in _KINDS:
            made = [slots.get(claims.gate_slot(kind, whose)) for whose in (None, holder or view.viewer)]
            newest = max(
                (decision for decision in made if decision is not None),
                key=lambda decision: decision[1],
                default=None,
            )
            if newest is not None and newest[0] not in (None, False):
                decided[kind].append((newest[1], target, newest[0]))
    return Gates(
        pinned=tuple(target for _, target, _ in sorted(decided["pinned"], key=lambda decision: decision[0])),
        locked=frozenset(target for _, target, _ in decided["locked"]),
        forgotten=frozenset(target for _, target, _ in decided["forgotten"]),
        corrected={target: str(text) for _, target, text in decided["corrected"]},
    )


def drop_hidden_facts(view: View, entity: Entity, gates: Gates) -> Entity:
    """Return an entity without extracted facts that gates hide; the facts before them hold again."""
    hidden = {fact.key for fact in entity.facts if fact.extracted_in is not None and gates.hides(fact)}
    if not hidden:
        return entity
    past = view.histories({entity.uid: (entity.uid, *entity.merged)})[entity.uid]
    facts: list[Fact] = [fact for fact in entity.facts if fact.key not in hidden]
    for key in sorted(map(str, hidden)):
        facts += _newest_by_certainty([fact for fact in past if fact.key == key and not gates.hides(fact)])
    return Entity(
        uid=entity.uid,
        category=entity.category,
        name=entity.name,
        aliases=entity.aliases,
        merged=entity.merged,
        facts=tuple(facts),
    )


def _newest_by_certainty(past: Sequence[Fact]) -> Iterable[Fact]:
    """Yield the newest fact of one key, then a newer belief, then a still newer rumor."""
    newest = {fact.certainty: n for n, fact in enumerate(past)}
    at = -1
    for certainty in ("fact", "belief", "rumor"):
        if newest.get(certainty, -1) > at:
            at = newest[certainty]
            yield past[at]


def is_locked(slots: Mapping[str, tuple[JsonValue, int]], holder: str | None) -> bool:
    """Return True if a target is locked: for one holder, or without one for anybody."""
    lock = claims.gate_slot("locked", None)
    for_all = slots.get(lock, (False, 0))
    ours = [slot for slot in slots if slot.startswith(f"{lock} ")]
    if holder is not None:
        ours = [claims.gate_slot("locked", holder)]
    newest = [max(for_all, slots.get(slot, for_all), key=lambda made: made[1]) for slot in ours]
    return any(made[0] is True for made in (newest if holder is not None else [*newest, for_all]))


def make_gate_event(
    target: GameEvent,
    what: Gating,
    *,
    on: bool,
    text: str | None,
    holder: str | None,
    event_id: str,
) -> GameEvent:
    """Make the event of one decision."""
    people = audience(target) - {DM, SYSTEM} if holder is None else {holder} - {DM}
    gate: dict[str, JsonValue] = {"target": target.event_id, "what": what, "on": on}
    if text is not None:
        gate["text"] = text
    if holder is not None:
        gate["holder"] = holder
    return GameEvent(
        event_id=event_id,
        event_type=EventType.GATE,
        source=SYSTEM,
        content=text or "",
        session_id=target.session_id,
        metadata={"gate": gate, "witnesses": sorted(people)},
        timestamp=target.timestamp,
    )
