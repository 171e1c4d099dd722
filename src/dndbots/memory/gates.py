"""What people decided on what is remembered: pinned, locked, corrected, or left out of every context.

Each decision is an event. Whoever perceives its target perceives it too, unless it is for one holder.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.values import Entity, Fact
from dndbots.events import EventType, GameEvent, Gating, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.reader import View
from dndbots.text.labels import write_telling

_KINDS: Final = get_args(Gating)
_LONGEST_LINE: Final = 400


class Gates(NamedTuple):
    """The decisions that hold for one viewer: what is pinned (oldest decision first), locked, and so on."""

    pinned: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    corrected: dict[str, str] = {}  # noqa: RUF012 - of a value that nobody changes

    def shown(self, events: Iterable[GameEvent]) -> list[GameEvent]:
        """Events without those to be left out, and with corrected ones in their new words."""
        return [self.as_decided(event) for event in events if event.event_id not in self.forgotten]

    def hides(self, fact: Fact) -> bool:
        """Whether it is to be left out: with what said it, or with the words that it was read out of."""
        if fact.learned_from in self.forgotten:
            return True
        extracted = fact.extracted_in
        return extracted is not None and (extracted in self.forgotten or fact.learned_from in self.corrected)

    def marks(self, target: str) -> list[str]:
        """What was decided on one event or memory, in words."""
        return [kind for kind in _KINDS if target in getattr(self, kind)]

    def as_decided(self, event: GameEvent) -> GameEvent:
        """An event in the words that count. What a memory has of others goes or changes with them."""
        text = self.corrected.get(event.event_id)
        if text is not None and event.is_note:
            text = write_telling(text)  # a memory is read line by line, and nobody says who speaks in one
        note = event.known.memory if text is None and event.is_note else None
        if note is not None:
            text = "\n".join(self._lines(event.content.split("\n"), note.line_sources))
        return event if text in (None, event.content) else event.model_copy(update={"content": text})

    def _lines(self, lines: list[str], sources: list[list[str]]) -> Iterable[str]:
        told: set[str] = set()
        for n, line in enumerate(lines):
            made_from = sources[n] if n < len(sources) else []
            if made_from and self.forgotten.issuperset(made_from):
                continue
            corrected = self.corrected.get(made_from[0]) if len(made_from) == 1 else None
            if corrected is None:
                yield line
            elif made_from[0] not in told:
                told.add(made_from[0])
                yield _as_line(corrected)


def _as_line(text: str) -> str:
    """A correction in place of a line: no longer than a line may be, or one correction fills a summary."""
    line = write_telling(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE].rsplit(' ', 1)[0]}…"


def gates_of(view: View, holder: str | None = None) -> Gates:
    """What was decided for the viewer; or for somebody else, as far as the viewer knows."""
    decided: dict[str, list[tuple[int, str, JsonValue]]] = {kind: [] for kind in _KINDS}
    for target, slots in view.decided(claims.GATE).items():
        for kind in _KINDS:
            made = [slots.get(claims.gate_slot(kind, one)) for one in (None, holder or view.viewer)]
            newest = max((one for one in made if one is not None), key=lambda one: one[1], default=None)
            if newest is not None and newest[0] not in (None, False):
                decided[kind].append((newest[1], target, newest[0]))
    return Gates(
        pinned=tuple(target for _, target, _ in sorted(decided["pinned"], key=lambda one: one[0])),
        locked=frozenset(target for _, target, _ in decided["locked"]),
        forgotten=frozenset(target for _, target, _ in decided["forgotten"]),
        corrected={target: str(text) for _, target, text in decided["corrected"]},
    )


def without_hidden(view: View, entity: Entity, gates: Gates) -> Entity:
    """Somebody without what was read out of words that are left out: what was so before it stands again."""
    gone = {fact.key for fact in entity.facts if fact.extracted_in is not None and gates.hides(fact)}
    if not gone:
        return entity
    past = view.histories({entity.uid: (entity.uid, *entity.merged)})[entity.uid]
    facts: list[Fact] = [fact for fact in entity.facts if fact.key not in gone]
    for key in sorted(map(str, gone)):
        facts += _steps([fact for fact in past if fact.key == key and not gates.hides(fact)])
    return Entity(
        uid=entity.uid,
        category=entity.category,
        name=entity.name,
        aliases=entity.aliases,
        merged=entity.merged,
        facts=tuple(facts),
    )


def _steps(past: Sequence[Fact]) -> Iterable[Fact]:
    """Of facts of one key, oldest first: the newest, then a belief if it is newer, then a rumor likewise."""
    newest = {fact.certainty: n for n, fact in enumerate(past)}
    at = -1
    for certainty in ("fact", "belief", "rumor"):
        if newest.get(certainty, -1) > at:
            at = newest[certainty]
            yield past[at]


def is_locked(slots: Mapping[str, tuple[JsonValue, int]], holder: str | None) -> bool:
    """Whether what was decided on something locks it: for one holder, or else for anybody."""
    lock = claims.gate_slot("locked", None)
    for_all = slots.get(lock, (False, 0))
    ours = [slot for slot in slots if slot.startswith(f"{lock} ")]
    if holder is not None:
        ours = [claims.gate_slot("locked", holder)]
    newest = [max(for_all, slots.get(slot, for_all), key=lambda made: made[1]) for slot in ours]
    return any(made[0] is True for made in (newest if holder is not None else [*newest, for_all]))


def gate_event(
    target: GameEvent,
    what: Gating,
    *,
    on: bool,
    text: str | None,
    holder: str | None,
    event_id: str,
) -> GameEvent:
    """The event of one decision."""
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
