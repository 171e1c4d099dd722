"""Threads that may come back into play: people, items, places, quests, promises, threats, debts, mysteries.

A view on the log: when each thread was last touched, whether it is dormant, and how good a callback it would
be. Canon says when it is over.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from dndbots.canon import claims
from dndbots.canon.cues import cue_in
from dndbots.canon.entities import Entity
from dndbots.canon.reducers import claims_of
from dndbots.canon.states import is_over
from dndbots.events import GameEvent, ThreadKind
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.retold_events import speakers_of
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import ENGINE, label_of, write_label, write_telling

DORMANT_AFTER: Final = 20
# The weight of each kind of thread as a callback.
WEIGHTS: Final[Mapping[ThreadKind, float]] = {
    "promise": 3.0,
    "threat": 3.0,
    "debt": 3.0,
    "mystery": 2.5,
    "quest": 2.5,
    "person": 2.0,
    "item": 1.5,
    "place": 1.0,
}
# A thread is worth more the longer it was dormant, up to three times `DORMANT_AFTER`.
_LONGEST_SLEEP: Final = 3.0
_AT_HAND: Final = 2.0
_MOST_COUNTED: Final = 50
_AS_FAR_BACK: Final = 5_000
_ENTITIES: Final[Mapping[str, ThreadKind]] = {"NPC": "person", "ITEM": "item", "LOC": "place", "QST": "quest"}


class Thread(BaseModel):
    """A thread that may come back. `turns` is how long ago it was last touched, in turns or events.

    The score is the weight of the kind, times 1 + log2 of how often it was touched, times how long ago that
    was (in units of 20 turns, at most 3), and twice that if somebody involved is here now.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    kind: ThreadKind
    text: str
    about: tuple[str, ...] = ()
    state: Literal["open", "dormant", "resolved"]
    opened: str
    touched: str
    turns: int
    times: int
    here: bool = False
    score: float

    @property
    def reason(self) -> str:
        """Return, for a person to read, why the thread would make a good callback."""
        here = "; somebody involved is here" if self.here else ""
        ago = "1 turn ago" if self.turns == 1 else f"{self.turns} turns ago"
        times = "once" if self.times == 1 else f"{self.times} times"
        article = "an" if self.kind == "item" else "a"
        return f"{article} {self.kind}, came up {times}, last {ago}{here}"


class _RawThread(BaseModel):
    """A thread by its seqs in the log, which are internal: a `Thread` has event ids instead."""

    id: str
    kind: ThreadKind
    text: str
    about: tuple[str, ...] = ()
    opened: int
    touches: list[int]
    over: bool = False


def find_threads(view: View, *, resolved: bool = False) -> list[Thread]:
    """Return the viewer's open threads, best callback first; with `resolved`, all threads."""
    gates, entities = gates_of(view), view.entities(view.everybody())
    threads = [*_entity_threads(view, entities), *_stated_threads(view, entities, gates)]
    return _ranked(view, threads, entities, gates, resolved=resolved)


def find_stated_threads(view: View, entities: Mapping[str, Entity]) -> list[Thread]:
    """Return the open threads that were said or noted in play; `entities` are all that the viewer knows."""
    gates = gates_of(view)
    return _ranked(view, [*_stated_threads(view, entities, gates)], entities, gates, resolved=False)


def _ranked(
    view: View, raw: list[_RawThread], entities: Mapping[str, Entity], gates: Gates, *, resolved: bool
) -> list[Thread]:
    wanted = [thread for thread in raw if resolved or not thread.over]
    clock = _Clock(view, [seq for thread in wanted for seq in (thread.opened, thread.touches[0])])
    present = _present(view, entities)
    threads = [_thread(thread, clock, present) for thread in wanted]
    # An entity stays known even if the event in which it was met is forgotten.
    threads = [thread for thread in threads if thread.id in entities or thread.opened not in gates.forgotten]
    return sorted(threads, key=lambda thread: (-thread.score, thread.turns, thread.id))


def find_callbacks(view: View, *, limit: int = 3) -> list[Thread]:
    """Return the best dormant threads to bring up again."""
    return [thread for thread in find_threads(view) if thread.state == "dormant"][:limit]


class LeftOpen(NamedTuple):
    """An open promise, threat, debt or mystery, in the words of its speaker."""

    kind: ThreadKind
    text: str
    opened: str


class AtHand(Protocol):
    """A lookup of entities, names and thread states for `find_left_open`."""

    def entities(self, view: View, uids: Collection[str]) -> Mapping[str, Entity]: ...
    def named(self, view: View, uids: Collection[str]) -> Mapping[str, str]: ...
    def states(self, view: View, threads: Collection[str]) -> Mapping[str, JsonValue]: ...


def find_left_open(view: View, events: Sequence[GameEvent], gates: Gates, at_hand: AtHand) -> list[LeftOpen]:
    """Return the threads that some events opened and nothing ended, in their order. Reads no other events."""
    shown = gates.shown(events)
    opened = {thread: (event, opening) for event in shown for thread, opening in _opened_by(event)}
    states = at_hand.states(view, list(opened))
    about = {uid for _, opening in opened.values() for uid in opening.about}
    known = at_hand.entities(view, sorted(about)).values()
    gone = {uid for entity in known if _is_gone(entity) for uid in (entity.uid, *entity.merged)}
    still_open = {
        thread: (event, opening)
        for thread, (event, opening) in opened.items()
        if not is_over(states.get(thread)) and gone.isdisjoint(opening.about)
    }
    speaking = {event.event_id: speakers_of(event, event.known) for event, _ in still_open.values()}
    named = set[str]().union(*speaking.values()) - ENGINE.keys()
    names = at_hand.named(view, sorted(named))
    who = {
        event_id: " and ".join(label_of(uid, names.get(uid, uid)) for uid in uids)
        for event_id, uids in speaking.items()
    }
    return [
        LeftOpen(opening.kind, f"{who[event.event_id]}: {_as_said(opening.text, event)}", event.event_id)
        for event, opening in still_open.values()
    ]


def _as_said(text: str, event: GameEvent) -> str:
    """Return the words of a thread, in quotation marks if its event has them inside of some."""
    before, found, _ = event.content.partition(text)
    is_quoted = bool(found) and before.count('"') % 2 == 1 and '"' not in text
    return f'"{one_line(text)}"' if is_quoted else one_line(text)


def find_thread_states(view: View, threads: Collection[str]) -> dict[str, JsonValue]:
    """Return the states of threads by id, without threads whose state nobody ever set."""
    subjects = {f"{claims.THREAD} {thread}": thread for thread in threads}
    return {subjects[thread]: state for thread, state in view.slots_of(subjects, claims.THREAD_STATE).items()}


class _Opening(NamedTuple):
    """A thread as the event that opens it states it."""

    kind: ThreadKind
    text: str
    about: tuple[str, ...]


def _opened_by(event: GameEvent) -> Iterable[tuple[str, _Opening]]:
    """Yield the threads that an event opens, by id: one by its wording, and those that it notes."""
    for claim in claims_of(event, event.known):
        stated = claim.value
        if claim.slot == claims.THREAD and isinstance(stated, dict):
            thread = claim.subject.removeprefix(f"{claims.THREAD} ")
            kind = cast("ThreadKind", stated.get("kind"))
            yield thread, _Opening(kind, str(stated.get("text")), tuple(_listed(stated.get("about"))))


def _entity_threads(view: View, entities: Mapping[str, Entity]) -> Iterable[_RawThread]:
    for uid, entity in entities.items():
        kind = _ENTITIES.get(entity.category or "")
        touches = view.newest_seqs(limit=_MOST_COUNTED, about=[uid, *entity.merged]) if kind else []
        if kind and touches:
            over = not entity.alive if kind == "person" else is_over(entity.properties.get("state"))
            about = () if kind == "quest" else (uid,)
            text = write_label(entity.name)
            yield _RawThread(
                id=uid, kind=kind, text=text, about=about, opened=touches[-1], touches=touches, over=over
            )


def _stated_threads(view: View, entities: Mapping[str, Entity], gates: Gates) -> Iterable[_RawThread]:
    """Yield the threads that were said or noted. Events that involve everybody it is about touch a thread."""
    heads = {uid: head for head, entity in entities.items() for uid in (head, *entity.merged)}
    for name, slots in view.decided(claims.THREAD).items():
        if claims.THREAD not in slots:
            continue
        opening, opened = slots[claims.THREAD]
        if name in gates.corrected:
            opening = _opening_in(opening, gates.corrected[name])
        if not isinstance(opening, dict):
            continue
        state, stated = slots.get(claims.THREAD_STATE, (None, opened))
        _, touched = slots.get(claims.THREAD_TOUCHED, (None, opened))
        about = tuple(dict.fromkeys(heads[uid] for uid in _listed(opening.get("about")) if uid in heads))
        touches = {
            opened,
            stated,
            touched,
            *(seq for seq in _meetings(view, about, entities) if seq > opened),
        }
        over = is_over(state) or any(_is_gone(entities[uid]) for uid in about)
        text = write_telling(str(opening.get("text")))
        yield _RawThread.model_validate(
            {
                "id": name,
                "kind": opening.get("kind"),
                "text": text,
                "about": about,
                "opened": opened,
                "touches": sorted(touches, reverse=True),
                "over": over,
            }
        )


def _is_gone(entity: Entity) -> bool:
    """Return whether threads with an entity are over: it is a dead NPC."""
    return entity.category == "NPC" and not entity.alive


def _opening_in(stated: JsonValue, text: str) -> JsonValue:
    """Return the thread in the corrected words of an event; None if they have none."""
    cue = cue_in(text)
    return {**stated, "kind": cue.kind, "text": cue.text} if cue and isinstance(stated, dict) else None


def _meetings(view: View, about: tuple[str, ...], entities: Mapping[str, Entity]) -> set[int]:
    """Return the seqs of events that mention all of some people.

    A single person or party members alone count as no meeting: they appear in events about anything.
    """
    if len(about) < 2 or all(uid.startswith("pc_") for uid in about):
        return set()
    places = [set(view.newest_seqs(limit=_MOST_COUNTED, about=[uid, *entities[uid].merged])) for uid in about]
    return set.intersection(*places)


def _listed(value: JsonValue) -> list[str]:
    return [str(element) for element in value] if isinstance(value, list) else []


class _Clock:
    """A clock for a viewer: it tells how long ago an event was, in turns or, without turns, in events."""

    def __init__(self, view: View, places: Iterable[int]) -> None:
        self._newest = view.newest_seqs(limit=_AS_FAR_BACK)
        wanted = sorted({*places, *self._newest[:1]})
        self._events = {seq: event for seq in wanted for event in view.at([seq])}
        now = self._events.get(self._newest[0]) if self._newest else None
        self._turn = now.turn if now else None

    def event(self, seq: int) -> GameEvent:
        return self._events[seq]

    def turns(self, seq: int) -> int:
        turn = self._events[seq].turn
        if turn is not None and self._turn is not None:
            return max(self._turn - turn, 0)
        return sum(1 for place in self._newest if place > seq)


def _present(view: View, entities: Mapping[str, Entity]) -> set[str]:
    """Return the uids at hand: the viewer's place, everybody there, and the actors of the newest event."""
    newest = view.newest(1)
    here = {who for event in newest for who in (event.source, *event.known.participants)}
    me = entities.get(view.viewer)
    place = me.location if me else newest[-1].known.location if newest else None
    if place is not None:
        here |= {place, *(uid for uid, entity in entities.items() if entity.location == place)}
    return here


def _thread(raw: _RawThread, clock: _Clock, present: set[str]) -> Thread:
    turns, times = clock.turns(raw.touches[0]), len(raw.touches)
    dormant = turns >= DORMANT_AFTER
    here = not present.isdisjoint(raw.about) and raw.kind not in ("person", "place")
    slept = min(turns / DORMANT_AFTER, _LONGEST_SLEEP)
    score = WEIGHTS[raw.kind] * (1 + math.log2(times)) * slept * (_AT_HAND if here else 1.0)
    return Thread(
        id=raw.id,
        kind=raw.kind,
        text=raw.text,
        about=raw.about,
        state="resolved" if raw.over else "dormant" if dormant else "open",
        opened=clock.event(raw.opened).event_id,
        touched=clock.event(raw.touches[0]).event_id,
        turns=turns,
        times=times,
        here=here,
        score=0.0 if raw.over else round(score, 3),
    )
