"""Spoken turns as their hearers read them: the words, the speakers, and the people each hearer knows by name.

An extractor's proposals may depend on all three, so every hearer gets proposals made with that hearer's own
knowledge. What the DM or other hearers know never decides whom a name means.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.compaction.checks import NameMention
from dndbots.events import EventType, GameEvent, audience
from dndbots.extraction.port import LONGEST_PASSAGE, PEOPLE, Extractor, KnownNames, Role, Turn
from dndbots.extraction.turn_evidence import evidence_of, untitled
from dndbots.ids import CATEGORIES, DM, SYSTEM, category_of, fold_name, is_uid
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.storage.views.view import View
from dndbots.text.names import possible_names
from dndbots.text.words import words_of

# Events in somebody's own words. Events that the engine reports are structured already.
SPOKEN: Final = frozenset(
    (EventType.DM_NARRATION, EventType.PLAYER_ACTION, EventType.DIALOGUE, EventType.WHISPER)
)

# Events read to find the turns that a hearer heard before, by which new names are weighed.
_MOST_EARLIER: Final = 2 * LONGEST_PASSAGE
LikelyNames = Callable[[Sequence[str]], Sequence[Mapping[str, str]]]
_Names = tuple[tuple[str, str], ...]


def is_spoken(event: GameEvent) -> bool:
    """Return whether an event is spoken text that is not blank."""
    return event.event_type in SPOKEN and bool(event.content.strip())


def hearers_of(event: GameEvent) -> frozenset[str]:
    """Return the hearers of an event apart from the DM, who hears everything."""
    return audience(event) - {DM, SYSTEM}


def turns_of(view: View, events: Sequence[GameEvent], gates: Gates) -> list[Turn]:
    """Return the spoken events as turns, without those that people decided to forget or to correct."""
    decided = gates.forgotten | gates.corrected.keys()
    spoken = [event for event in events if is_spoken(event) and event.event_id not in decided]
    return [
        Turn(
            id=event.event_id,
            speaker=moment.who,
            role=role_of(event.source),
            text=event.content,
            session=event.session_id,
            place=moment.where,
        )
        for event, moment in zip(spoken, view.moments(spoken), strict=True)
    ]


def role_of(source: str) -> Role:
    """Return the role of an event's source: dm, pc or npc."""
    if source in (DM, SYSTEM):
        return "dm"
    return "pc" if source.startswith("pc_") else "npc"


def find_known_names(view: View, turns: Iterable[Turn]) -> KnownNames:
    """Return the names in the view that the turns may use. The cost does not grow with other names."""
    spoken = {name for turn in turns for name in (*possible_names(turn.text), fold_name(turn.speaker))}
    bearers = {uid for uids in view.given(spoken).values() for uid in uids} - {DM}
    names: dict[str, str] = {}
    for uid, called in view.called(sorted(bearers)).items():
        for name in (called.name, *called.aliases):
            names[name] = str(category_of(uid))
    return KnownNames({name: category for name, category in names.items() if category in CATEGORIES})


# Readings


@dataclass(frozen=True, kw_only=True)
class HearerReading:
    """Turns as some of their hearers read them, with the names that those hearers know."""

    hearers: tuple[str, ...]
    turns: Mapping[str, Turn]
    known: KnownNames


def readings_of(view: View, events: Sequence[GameEvent], extractor: Extractor) -> list[HearerReading]:
    """Return all readings of some events for an extractor. `view` is the DM's.

    Normally all hearers of a turn share one reading with the names that all of them know: one reading for
    each hearer would cost many times more. An extractor that reads turn by turn gets each turn with each
    hearer's own names; hearers who know the same names of a turn share a reading.
    """
    spoken = [event for event in events if is_spoken(event)]
    if getattr(extractor, "turn_by_turn", False):
        return _read_apart(view, spoken, getattr(extractor, "likely_names", None))
    together: dict[frozenset[str], list[GameEvent]] = {}
    for event in spoken:
        together.setdefault(hearers_of(event), []).append(event)
    readings = (_read_together(view, hearers, heard) for hearers, heard in together.items())
    return [reading for reading in readings if reading.turns]


def view_of(view: View, hearer: str) -> View:
    """Return the hearer's own view, given the DM's."""
    return view if hearer == DM else view.of(hearer)


def _read_together(view: View, hearers: frozenset[str], events: Sequence[GameEvent]) -> HearerReading:
    common = view.common_to(hearers) if hearers else view
    # Only decisions for everybody count here. What one hearer wants forgotten is hidden from that one later.
    turns = turns_of(common, events, gates_of(view, SYSTEM))
    return _reading((*sorted(hearers), DM), turns, find_known_names(common, turns))


def _read_apart(
    view: View, events: Sequence[GameEvent], likely_names: LikelyNames | None
) -> list[HearerReading]:
    alike: dict[tuple[Turn, _Names, _Names], list[str]] = {}
    words = {event.event_id: frozenset(words_of(event.content)) for event in events}
    passages: dict[tuple[str, ...], Sequence[Mapping[str, str]]] = {}
    for hearer in (*sorted(frozenset[str]().union(*map(hearers_of, events))), DM):
        own = view_of(view, hearer)
        gates = gates_of(own)
        heard = [event for event in events if hearer == DM or hearer in hearers_of(event)]
        turns = turns_of(own, heard, gates)
        names = [
            (frozenset(words_of(name)), (name, kind))
            for name, kind in sorted(find_known_names(own, turns).names.items())
        ]
        likely: Sequence[Mapping[str, str]] = [{}] * len(turns)
        if likely_names is not None and turns:
            earlier = _earlier_texts(own, heard[0], gates)
            passage = (*earlier.values(), *(turn.text for turn in turns))
            key = (*earlier, *(turn.id for turn in turns))
            if key not in passages:
                passages[key] = likely_names(passage)
            likely = passages[key][len(earlier) :]
        for turn, of_turn in zip(turns, likely, strict=True):
            spoken = words[turn.id] | {*words_of(turn.speaker)}
            known = tuple(name for parts, name in names if not spoken.isdisjoint(parts))
            alike.setdefault((turn, known, tuple(of_turn.items())), []).append(hearer)
    return [
        _reading(tuple(hearers), [turn], KnownNames(dict(known), dict(of_turn)))
        for (turn, known, of_turn), hearers in alike.items()
    ]


def _earlier_texts(view: View, first: GameEvent, gates: Gates) -> dict[str, str]:
    """Return what was said before an event, as far back as names are weighed, by event id, oldest first."""
    decided = gates.forgotten | gates.corrected.keys()
    events = view.until((first.seq or 1) - 1).newest(_MOST_EARLIER)
    said = [event for event in events if is_spoken(event) and event.event_id not in decided]
    return {event.event_id: event.content for event in said[-LONGEST_PASSAGE:]}


def _reading(hearers: tuple[str, ...], turns: Iterable[Turn], known: KnownNames) -> HearerReading:
    return HearerReading(hearers=hearers, turns={turn.id: turn for turn in turns}, known=known)


# Names

_NEW_PERSON: Final = "NPC"


class Hearer:
    """Resolves names by what one hearer knows. It lives for one run."""

    def __init__(self, view: View, events: Mapping[str, GameEvent]) -> None:
        self.view, self._events = view, events
        self._given: dict[str, set[str]] = {}

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:
        """Return the entity that a turn means by a name, or the reason why it can mean none."""
        wanted = fitting_categories(categories)
        if turn.role != "dm" and fold_name(name) == fold_name(turn.speaker):
            return self._speaker(name, wanted, turn)
        return self.find(name, wanted) or self._new(name, categories)

    def find(self, name: str, wanted: Sequence[str]) -> NameMention | str | None:
        """Return the known entity with a name, the reason why none fits, or None if the name is new."""
        found = self.bearers(name)
        for shorter in () if found else _shorter(name, last=set(wanted) <= set(PEOPLE)):
            bearers = self.bearers(shorter)
            if (
                bearers
                and not found
                and (shorter == untitled(name) or self._has_no_other_name(bearers, shorter))
            ):
                name, found = shorter, bearers
        if not found:
            return None
        if DM in found:
            return f"{name!r} is the DM"
        fitting = sorted(uid for uid in found if category_of(uid) in wanted)
        if not fitting:
            return f"{name!r} is the name of something else: {', '.join(sorted(found))}"
        meant = self._meant(fitting)
        if meant is None:
            return f"several entities are called {name!r}: {', '.join(fitting)}"
        return NameMention(name, str(category_of(meant)), meant)

    def knows(self, uid: str, name: str) -> bool:
        """Return whether the hearer knows an entity by this name."""
        return uid in self.bearers(name)

    def bearers(self, name: str) -> set[str]:
        """Return the uids of all entities that the hearer knows by this name."""
        key = fold_name(name)
        if key not in self._given:
            self._given[key] = self.view.bearers(name)
        return self._given[key]

    def met_since(self, name: str, wanted: Sequence[str]) -> dict[str, str]:
        """Return the people of a name who were only heard of, each with the person met since."""
        fitting = [uid for uid in self.bearers(name) if category_of(uid) in wanted]
        persons = self._persons(fitting)
        meant = self._only_met(persons) if len(persons) > 1 else None
        return {} if meant is None else dict.fromkeys(sorted(persons.keys() - {meant}), meant)

    def _meant(self, fitting: Sequence[str]) -> str | None:
        """Return the uid that is meant, or None if several people are. A main uid that fits comes first."""
        persons = self._persons(fitting)
        first = next(iter(persons)) if len(persons) == 1 else self._only_met(persons)
        return None if first is None else first if first in fitting else persons[first][0]

    def _persons(self, uids: Collection[str]) -> dict[str, list[str]]:
        """Group uids by person, under the main uid of each."""
        found: dict[str, list[str]] = {}
        for uid, same in sorted(self.view.persons_of(uids).items()):
            found.setdefault(same[0], []).append(uid)
        return found

    def _only_met(self, persons: Collection[str]) -> str | None:
        """Return the one person of a name who was met, if all others were only heard of.

        If nobody was met, return the first: one name mostly means one person. None if several were met.
        """
        seen = self.view.first_seen(persons)
        types = {
            seq: event.event_type for seq, event in self.view.events_by_seq(sorted({*seen.values()})).items()
        }
        heard_of = {uid for uid, seq in seen.items() if types.get(seq) is EventType.EXTRACTION}
        met = sorted(set(persons) - heard_of)
        if not met:
            return min(heard_of, key=lambda uid: (seen[uid], uid))
        return met[0] if len(met) == 1 else None

    def _has_no_other_name(self, uids: Iterable[str], name: str) -> bool:
        """Return whether these have no name without a title but this: a longer one may be theirs."""
        called = self.view.called(sorted(uids)).values()
        return all(
            {fold_name(untitled(form)) for form in (one.name, *one.aliases)} == {fold_name(name)}
            for one in called
        )

    def _speaker(self, name: str, wanted: Sequence[str], turn: Turn) -> NameMention | str:
        """Return the speaker. A speaker who says their own name is not known by it to every hearer."""
        uid = self._events[turn.id].source
        own = str(category_of(uid))
        if own not in wanted:
            return f"{name!r} is the speaker, a {own}"
        if evidence_of(turn.text).names(name, exactly=False) and not self.knows(uid, name):
            return f"the hearer does not know that {name!r} is the speaker"
        return NameMention(name, own, uid)

    def _new(self, name: str, categories: Sequence[str]) -> NameMention | str:
        if is_uid(name):
            return f"{name!r} is an id, not a name"
        if tuple(categories) == ("PC",):
            return f"no player character is called {name!r}"
        return NameMention(name, _NEW_PERSON if categories[0] in PEOPLE else categories[0])


def fitting_categories(categories: Sequence[str]) -> tuple[str, ...]:
    """Return the categories that a name may mean: all kinds of people, if any kind is wanted."""
    return PEOPLE if set(categories) <= set(PEOPLE) else tuple(categories)


def _shorter(name: str, *, last: bool) -> list[str]:
    """Return shorter forms of a name: without titles, its first word, and with `last` its last word."""
    plain = untitled(name)
    words = plain.split()
    forms = (plain, words[0], words[-1]) if last else (plain, words[0])
    return [form for form in dict.fromkeys(forms) if form != name]
