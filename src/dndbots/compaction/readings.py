"""The turns of a run as those who heard them would read them: who speaks, and who is known by which name.

What an extractor proposes may depend on both, so nobody gets what came of a reading with another's knowledge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dndbots.compaction.turns import is_spoken, known_in, perceivers, turns_of
from dndbots.compaction.values import Known, Turn
from dndbots.events import GameEvent
from dndbots.ids import DM, SYSTEM
from dndbots.memory.gates import gates_of
from dndbots.memory.wording import words_of
from dndbots.storage.reader import View


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Turns that the same people heard, as some of them read them."""

    hearers: tuple[str, ...]
    turns: Mapping[str, Turn]
    known: Known


def readings_of(view: View, events: Iterable[GameEvent], *, turn_by_turn: bool) -> list[Reading]:
    """All readings of some events. `view` is the DM's.

    Turns are read once for all who heard them, with the names that are common to them: to read them for each
    would cost as many times more. An extractor that reads each turn on its own does so for each who heard it,
    with the names that they know; those who know the same of those in it read together.
    """
    spoken: dict[frozenset[str], list[GameEvent]] = {}
    for event in events:
        if is_spoken(event):
            spoken.setdefault(perceivers(event), []).append(event)
    read = _apart if turn_by_turn else _together
    return [reading for heard, told in spoken.items() for reading in read(view, heard, told) if reading.turns]


def view_of(view: View, hearer: str) -> View:
    return view if hearer == DM else view.of(hearer)


def _together(view: View, heard: frozenset[str], told: Sequence[GameEvent]) -> Iterator[Reading]:
    common = view.common_to(heard) if heard else view
    # What was decided for all; what only some want forgotten, they do not get to see.
    turns = turns_of(common, told, gates_of(view, SYSTEM))
    yield _reading((*sorted(heard), DM), turns, known_in(common, turns))


def _apart(view: View, heard: frozenset[str], told: Sequence[GameEvent]) -> Iterator[Reading]:
    alike: dict[tuple[Turn, tuple[tuple[str, str], ...]], list[str]] = {}
    words = {event.event_id: frozenset(words_of(event.content)) for event in told}
    for hearer in (*sorted(heard), DM):
        own = view_of(view, hearer)
        turns = turns_of(own, told, gates_of(own))
        names = [
            (frozenset(words_of(name)), (name, kind))
            for name, kind in sorted(known_in(own, turns).names.items())
        ]
        for turn in turns:
            said = words[turn.id] | {*words_of(turn.speaker)}
            known = tuple(name for parts, name in names if not said.isdisjoint(parts))
            alike.setdefault((turn, known), []).append(hearer)
    for (turn, known), hearers in alike.items():
        yield _reading(tuple(hearers), [turn], Known(dict(known)))


def _reading(hearers: tuple[str, ...], turns: Iterable[Turn], known: Known) -> Reading:
    return Reading(hearers=hearers, turns={turn.id: turn for turn in turns}, known=known)
