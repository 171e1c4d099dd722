"""What may come back: people, items, places and quests, and what was promised, threatened, owed or unsolved.

A view: when each was last touched, whether it sleeps, and how well it would do as a callback. Canon says
when it is over.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from dndbots.canon import claims
from dndbots.canon.cues import cue_in
from dndbots.canon.reducers import claims_of
from dndbots.canon.states import is_over
from dndbots.canon.values import Entity
from dndbots.events import GameEvent, ThreadKind
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.retelling import speakers_of
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line
from dndbots.text.labels import ENGINE, label_of, write_label, write_telling

DORMANT_AFTER: Final = 20
# How much a kind of thing gains by coming back.
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
# It is worth more the longer it slept, up to three times as long as it takes to fall asleep.
_LONGEST_SLEEP: Final = 3.0
_AT_HAND: Final = 2.0
_MOST_COUNTED: Final = 50
_AS_FAR_BACK: Final = 5_000
_ENTITIES: Final[Mapping[str, ThreadKind]] = {"NPC": "person", "ITEM": "item", "LOC": "place", "QST": "quest"}


class Thread(BaseModel):
    """Something that may come back. `turns` is how long ago it was last touched, in turns or events.

    The score is the kind's weight, times 1 + log2 of how often it was touched, times how long it slept
    (in units of 20 turns, at most 3), and twice that if somebody of it is here now.
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
        """Why it would be brought up, for a person to read."""
        here = ", and somebody of it is here" if self.here else ""
        ago = "1 turn ago" if self.turns == 1 else f"{self.turns} turns ago"
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"{'an' if self.kind == 'item' else 'a'} {self.kind}, last touched {ago}, {times} in all{here}"


class _Found(BaseModel):
    """A thread as it is found: by places in the log, which nobody gets to see."""

    id: str
    kind: ThreadKind
    text: str
    about: tuple[str, ...] = ()
    opened: int
    touches: list[int]
    over: bool = False


def threads_of(view: View, *, resolved: bool = False) -> list[Thread]:
    """The viewer's threads, those that would do best as a callback first; open ones, or all."""
    gates, entities = gates_of(view), view.entities(view.everybody())
    found = [*_entity_threads(view, entities), *_stated_threads(view, entities, gates)]
    return _ranked(view, found, entities, gates, resolved=resolved)


def stated_threads(view: View, entities: Mapping[str, Entity]) -> list[Thread]:
    """Only what was said or noted to be one, and is open; `entities` are all that the viewer knows."""
    gates = gates_of(view)
    return _ranked(view, [*_stated_threads(view, entities, gates)], entities, gates, resolved=False)


def _ranked(
    view: View, found: list[_Found], entities: Mapping[str, Entity], gates: Gates, *, resolved: bool
) -> list[Thread]:
    wanted = [one for one in found if resolved or not one.over]
    clock = _Clock(view, [seq for one in wanted for seq in (one.opened, one.touches[0])])
    present = _present(view, entities)
    threads = [_thread(one, clock, present) for one in wanted]
    # What is known of people, places and quests does not come from the event in which they were met.
    threads = [one for one in threads if one.id in entities or one.opened not in gates.forgotten]
    return sorted(threads, key=lambda thread: (-thread.score, thread.turns, thread.id))


def callbacks(view: View, *, limit: int = 3) -> list[Thread]:
    """What to bring up again: the best of what sleeps."""
    return [thread for thread in threads_of(view) if thread.state == "dormant"][:limit]


class LeftOpen(NamedTuple):
    """What was promised, threatened, owed or not explained, in the words of who said it."""

    kind: ThreadKind
    text: str
    opened: str


class AtHand(Protocol):
    """Where `left_open` looks up who is who, and how threads stand."""

    def entities(self, view: View, uids: Collection[str]) -> Mapping[str, Entity]: ...
    def named(self, view: View, uids: Collection[str]) -> Mapping[str, str]: ...
    def states(self, view: View, threads: Collection[str]) -> Mapping[str, JsonValue]: ...


def left_open(view: View, events: Sequence[GameEvent], gates: Gates, at_hand: AtHand) -> list[LeftOpen]:
    """What some events opened and nothing ended since, in their order. Reads no other events."""
    shown = gates.shown(events)
    opened = {thread: (event, said) for event in shown for thread, said in _opened_by(event)}
    states = at_hand.states(view, list(opened))
    about = {uid for _, said in opened.values() for uid in said.about}
    known = at_hand.entities(view, sorted(about)).values()
    gone = {uid for entity in known if _is_gone(entity) for uid in (entity.uid, *entity.merged)}
    still_open = {
        thread: (event, said)
        for thread, (event, said) in opened.items()
        if not is_over(states.get(thread)) and gone.isdisjoint(said.about)
    }
    speaking = {event.event_id: speakers_of(event, event.known) for event, _ in still_open.values()}
    named = set[str]().union(*speaking.values()) - ENGINE.keys()
    names = at_hand.named(view, sorted(named))
    who = {
        one: " and ".join(label_of(uid, names.get(uid, uid)) for uid in uids)
        for one, uids in speaking.items()
    }
    return [
        LeftOpen(said.kind, f"{who[event.event_id]}: {one_line(said.text)}", event.event_id)
        for event, said in still_open.values()
    ]


def states_of(view: View, threads: Collection[str]) -> dict[str, JsonValue]:
    """How those of some threads stand of which anybody ever said so."""
    subjects = {f"{claims.THREAD} {thread}": thread for thread in threads}
    return {subjects[one]: state for one, state in view.slots_of(subjects, claims.THREAD_STATE).items()}


class _Said(NamedTuple):
    kind: ThreadKind
    text: str
    about: tuple[str, ...]


def _opened_by(event: GameEvent) -> Iterable[tuple[str, _Said]]:
    """The threads that an event opens: by its wording, under its own id, and those that it notes."""
    for claim in claims_of(event, event.known):
        said = claim.value
        if claim.slot == claims.THREAD and isinstance(said, dict):
            thread = claim.subject.removeprefix(f"{claims.THREAD} ")
            kind = cast("ThreadKind", said.get("kind"))
            yield thread, _Said(kind, str(said.get("text")), tuple(_listed(said.get("about"))))


def _entity_threads(view: View, entities: Mapping[str, Entity]) -> Iterable[_Found]:
    for uid, entity in entities.items():
        kind = _ENTITIES.get(entity.category or "")
        touches = view.places(limit=_MOST_COUNTED, about=[uid, *entity.merged]) if kind else []
        if kind and touches:
            over = not entity.alive if kind == "person" else is_over(entity.properties.get("state"))
            about = () if kind == "quest" else (uid,)
            text = write_label(entity.name)
            yield _Found(
                id=uid, kind=kind, text=text, about=about, opened=touches[-1], touches=touches, over=over
            )


def _stated_threads(view: View, entities: Mapping[str, Entity], gates: Gates) -> Iterable[_Found]:
    """What was said or noted to be a thread. It is touched when all whom it is about come together."""
    heads = {uid: head for head, entity in entities.items() for uid in (head, *entity.merged)}
    for name, slots in view.decided(claims.THREAD).items():
        if claims.THREAD not in slots:
            continue
        said, opened = slots[claims.THREAD]
        if name in gates.corrected:
            said = _said_instead(said, gates.corrected[name])
        if not isinstance(said, dict):
            continue
        state, stated = slots.get(claims.THREAD_STATE, (None, opened))
        _, touched = slots.get(claims.THREAD_TOUCHED, (None, opened))
        about = tuple(dict.fromkeys(heads[uid] for uid in _listed(said.get("about")) if uid in heads))
        touches = {
            opened,
            stated,
            touched,
            *(seq for seq in _meetings(view, about, entities) if seq > opened),
        }
        over = is_over(state) or any(_is_gone(entities[uid]) for uid in about)
        text = write_telling(str(said.get("text")))
        yield _Found.model_validate(
            {
                "id": name,
                "kind": said.get("kind"),
                "text": text,
                "about": about,
                "opened": opened,
                "touches": sorted(touches, reverse=True),
                "over": over,
            }
        )


def _is_gone(entity: Entity) -> bool:
    """Whether nothing more can come of a matter with somebody: an NPC who is dead."""
    return entity.category == "NPC" and not entity.alive


def _said_instead(said: JsonValue, text: str) -> JsonValue:
    """What the corrected words of an event promise, threaten or owe; nothing, if they do no longer."""
    cue = cue_in(text)
    return {**said, "kind": cue.kind, "text": cue.text} if cue and isinstance(said, dict) else None


def _meetings(view: View, about: tuple[str, ...], entities: Mapping[str, Entity]) -> set[int]:
    """Where all of some people are mentioned together; one alone, or the party, may be about anything."""
    if len(about) < 2 or all(uid.startswith("pc_") for uid in about):
        return set()
    places = [set(view.places(limit=_MOST_COUNTED, about=[uid, *entities[uid].merged])) for uid in about]
    return set.intersection(*places)


def _listed(value: JsonValue) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


class _Clock:
    """How long ago something was for a viewer: in turns where they were counted, or else in events."""

    def __init__(self, view: View, places: Iterable[int]) -> None:
        self._newest = view.places(limit=_AS_FAR_BACK)
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
    """Who and what is at hand: where the viewer is, who is there, and whom the newest events are about."""
    newest = view.newest(1)
    here = {who for event in newest for who in (event.source, *event.known.participants)}
    me = entities.get(view.viewer)
    place = me.location if me else newest[-1].known.location if newest else None
    if place is not None:
        here |= {place, *(uid for uid, entity in entities.items() if entity.location == place)}
    return here


def _thread(found: _Found, clock: _Clock, present: set[str]) -> Thread:
    turns, times = clock.turns(found.touches[0]), len(found.touches)
    dormant = turns >= DORMANT_AFTER
    here = not present.isdisjoint(found.about) and found.kind not in ("person", "place")
    slept = min(turns / DORMANT_AFTER, _LONGEST_SLEEP)
    score = WEIGHTS[found.kind] * (1 + math.log2(times)) * slept * (_AT_HAND if here else 1.0)
    return Thread(
        id=found.id,
        kind=found.kind,
        text=found.text,
        about=found.about,
        state="resolved" if found.over else "dormant" if dormant else "open",
        opened=clock.event(found.opened).event_id,
        touched=clock.event(found.touches[0]).event_id,
        turns=turns,
        times=times,
        here=here,
        score=0.0 if found.over else round(score, 3),
    )
