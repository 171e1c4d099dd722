"""The table: the state of a game as one viewer knows it, folded from the events that the viewer perceived.

The DM's table has everything. Facts come from canon's own reducers; the state of the game (turns, fights,
known ways) comes from the notes that the game left on its events.
"""

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from dndbots.canon import claims
from dndbots.canon.certainty import Effects, event_effects
from dndbots.canon.claims import CertaintyRank, Claim
from dndbots.canon.fold import value_after
from dndbots.events import EventType, GameEvent, KnownMetadata, as_perceived, audience, learners_of
from dndbots.game.acts import MOVES, Act, Verb
from dndbots.game.state.game_notes import (
    DM_STEP,
    MARCH,
    REFEREE,
    Clock,
    GameNote,
    LeadNote,
    PlayNote,
    PlotLine,
    SeatNote,
    Sights,
    played_of,
)
from dndbots.game.state.pieces import Fight, PendingAct, TellableDeed
from dndbots.game.state.scene_tags import A_NIGHT
from dndbots.game.state.sheet_facts import SPELLS
from dndbots.ids import DM, is_description, name_from_uid
from dndbots.memory.documents.builder_input import character_of
from dndbots.models import Character
from dndbots.rules import conditions

_MOST_DEEDS: Final = 60
_MOST_TOPICS: Final = 60
_MOST_NAMES: Final = 1_000
_LATELY: Final = 24
_TOLD_LATELY: Final = 80  # texts of some rounds at a full table
# Events that not everybody at their place perceives.
_APART: Final = (EventType.WHISPER, EventType.SYSTEM)


class PerceivedEvent(NamedTuple):
    """An event with its metadata read once for all who perceived it; `note` is the game's, if it has one."""

    event: GameEvent
    known: KnownMetadata
    people: frozenset[str]
    note: PlayNote | None
    effects: Effects

    @classmethod
    def of(cls, event: GameEvent) -> "PerceivedEvent":
        known, people = event.known, audience(event)
        return cls(event, known, people, played_of(event), event_effects(event))


class Due(NamedTuple):
    """The next step: its kind (`dm`, `player`, `referee` or `march`), and the uid of its actor."""

    node: str
    who: str


PLAYER: Final = "player"


class Table:
    """The game as a viewer knows it. `heard` and `take_in` add an event; everything else only reads."""

    def __init__(self, viewer: str = DM) -> None:
        self.viewer = viewer
        self.at = 0
        self.count = 0  # events of play so far
        self.round = 0
        self.session = ""
        self.sessions = 0
        self.session_since = 0
        self.ended = False  # true if the end of a session was the last event
        self.minutes = 0
        self.chapter = 0
        self.since = 0  # the round in which the chapter began
        self.game: GameNote | None = None
        self.steps: set[str] = set()
        self.seats: dict[str, SeatNote] = {}
        self.names: dict[str, str] = {}
        self.looks: dict[str, str] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.told: dict[str, dict[str, Any]] = {}
        self.sights: dict[str, Sights] = {}
        self.ways: dict[str, dict[str, str]] = {}
        self.visits: dict[str, int] = {}
        self.beats: set[str] = set()
        self.topics: dict[str, int] = {}
        self.asked: set[tuple[str, str]] = set()
        self.tried: set[tuple[str, str, str]] = set()
        self.deeds: deque[TellableDeed] = deque(maxlen=_MOST_DEEDS)
        self.lately: deque[GameEvent] = deque(maxlen=_LATELY)
        self.told_lately: deque[GameEvent] = deque(maxlen=_TOLD_LATELY)  # those with a text, further back
        self.companies: deque[frozenset[str]] = deque(
            maxlen=_LATELY
        )  # the people present at each event of `lately`
        self.fights: dict[str, Fight] = {}
        self.waiting: list[PendingAct] = []
        self.declared: PendingAct | None = None
        self.intents: dict[str, Act] = {}
        self.until: dict[str, dict[str, int]] = {}
        self.laid: dict[str, dict[str, str]] = {}
        self.clocks: dict[str, Clock] = {}
        self.plot: dict[str, PlotLine] = {}
        self.phrases: Counter[str] = Counter()  # how often each rule of the phrase book was used
        self.lead: tuple[int, LeadNote] | None = None  # the DM's latest open hint, and its round

    # Take in events.

    def heard(self, event: GameEvent) -> None:
        """Take in an event if the viewer perceived it. Notes, such as memories, are no events of play."""
        if event.seq is not None and self.viewer == DM:
            self.at = event.seq
        if not event.is_note:
            self.take_in(PerceivedEvent.of(event))

    def take_in(self, perceived: PerceivedEvent) -> None:
        """Take in an event of play if the viewer perceived it."""
        event, known, people, note, effects = perceived
        if self.viewer not in people:
            return
        if note is not None:
            self._turn(event, note)
        self._keep(as_perceived(event, self.viewer))
        self.count += 1
        if event.event_type is EventType.SESSION_START:
            self.sessions, self.session, self.session_since = self.sessions + 1, event.session_id, self.round
        self.ended = event.event_type is EventType.SESSION_END
        learners = learners_of(event)
        for uid, given in known.names.items():
            if uid not in learners or self.viewer in learners[uid]:
                self._call(uid, given if isinstance(given, str) else given[0])
        for uid in effects.seen:
            self._of(uid)[claims.AT] = known.location
        for held in effects.holdings:
            if self.viewer in held.holders:
                self._hold(held.claim, held.certainty, held.said_by)
        if note is not None:
            self._played(perceived, note)
        self.companies.append(self._company(perceived))

    def _keep(self, event: GameEvent) -> None:
        self.lately.append(event)
        if event.content:
            self.told_lately.append(event)

    def hear_otherwise(self, event: GameEvent) -> None:
        """Take in another text of an event that was heard already, with the names that it teaches."""
        for events in (self.lately, self.told_lately):
            for at, heard in enumerate(events):
                if heard.event_id == event.event_id:
                    events[at] = as_perceived(event, self.viewer)
                    for uid, given in event.known.names.items():
                        self._call(uid, given if isinstance(given, str) else given[0])

    def _company(self, perceived: PerceivedEvent) -> frozenset[str]:
        """Return who was at an event as far as the viewer can tell: those it shows, and those around.

        Only the DM knows who really perceived it: somebody may be hidden, or elsewhere than they seem.
        """
        event, known, people, _, _ = perceived
        if self.viewer == DM:
            return people
        shown = {DM, self.viewer, event.source, *known.participants, *known.told_to}
        if event.event_type in _APART or known.told_to:
            return frozenset(shown)
        around = self.living() if known.location is None else self.together(known.location)
        return frozenset((*shown, *around))

    def _of(self, uid: str) -> dict[str, Any]:
        return self.facts.setdefault(uid, {})

    def _hold(self, claim: Claim, certainty: CertaintyRank, said_by: str | None) -> None:
        if certainty is not CertaintyRank.FACT:
            self.told.setdefault(claim.subject, {})[claim.slot] = (claim.value, said_by)
            return
        # Unlike `HeadState`, a table takes every claim as news: it shows what its viewer last heard.
        facts = self._of(claim.subject)
        slot, value = value_after(claim, facts.get)
        if value is None:
            facts.pop(slot, None)
        else:
            facts[slot] = value

    def _played(self, perceived: PerceivedEvent, note: PlayNote) -> None:
        event, known = perceived.event, perceived.known
        self.minutes += note.minutes
        self.session = event.session_id
        self.game = note.game or self.game
        self._seated(note)
        self._told_topics(note)
        place = known.location
        if place is not None:
            self._placed(event, known, note, place)
        if self.declared is not None and note.resolves == self.declared.event_id:
            self.declared = None
        if note.act is not None:
            self._acted(event, note.act, place)
        if event.event_type is EventType.HEALING and note.minutes >= A_NIGHT:
            self._rested(known)
        self._made(note)
        for uid, ends in note.until.items():
            self.until.setdefault(uid, {}).update(ends)
        if note.tells:
            self._told_of(note.tells, self._company(perceived))
        if note.gist is not None:
            self._remember(event, known, note.gist, self._company(perceived))

    def _turn(self, event: GameEvent, note: PlayNote) -> None:
        if event.turn is not None and event.turn > self.round:
            self.round = event.turn
            self.steps, self.intents, self.declared = set(), {}, None
        if note.step == DM_STEP and DM_STEP not in self.steps:
            self.waiting = []
        self.steps.add(note.step)
        if note.chapter is not None:
            self._begin(note.chapter)

    def _made(self, note: PlayNote) -> None:
        for place, ways in note.laid.items():
            self.laid.setdefault(place, {}).update(ways)
        for name, clock in note.clocks.items():
            self.clocks.pop(name, None)
            if clock is not None:
                self.clocks[name] = clock
        for name, line in note.plot.items():
            if line is None:
                self.plot.pop(name, None)
            else:
                self.plot[name] = line

    def _seated(self, note: PlayNote) -> None:
        if note.joined is not None:
            self.seats[note.joined.uid] = note.joined
        if note.left is not None:
            self.seats.pop(note.left, None)

    def _told_topics(self, note: PlayNote) -> None:
        self.beats.update(note.beats)
        self.phrases.update(note.phrases)
        if note.act is not None:
            self.phrases.update(note.act.phrases)
        if note.lead is not None:
            self.lead = self.round, note.lead
        for topic in note.topics:
            self.topics.setdefault(topic, self.round)
        while len(self.topics) > _MOST_TOPICS:
            del self.topics[next(iter(self.topics))]

    def _begin(self, chapter: int) -> None:
        """Begin a new chapter: forget the old places. The log keeps them, and play does not need them."""
        self.chapter, self.since = chapter, self.round
        kept = {*self.seats}
        for known in (self.sights, self.ways, self.visits, self.topics, self.laid):
            known.clear()
        self.beats.clear()
        self.asked.clear()
        self.tried.clear()
        self.facts = {uid: facts for uid, facts in self.facts.items() if uid in kept}
        self.until = {uid: ends for uid, ends in self.until.items() if uid in kept}
        self.told.clear()
        self._forget_names()

    def _call(self, uid: str, name: str) -> None:
        """Learn a name. A description never replaces a name that was heard."""
        described = is_description(name)
        if described:
            self.looks[uid] = name
        if not described or is_description(self.names.get(uid, name)):
            self.names[uid] = name

    def _forget_names(self) -> None:
        """Forget old names, except those of characters and of deeds that may still be retold.

        Dead characters keep their names: a newcomer of the same name would be taken for the dead one.
        """
        kept = {uid for deed in self.deeds for uid in (*deed.about, deed.place)}
        kept.update(list(self.names)[-_MOST_NAMES:])
        self.names = {uid: name for uid, name in self.names.items() if uid in kept or uid.startswith("pc_")}
        self.looks = {uid: looks for uid, looks in self.looks.items() if uid in self.names}

    def _placed(self, event: GameEvent, known: KnownMetadata, note: PlayNote, place: str) -> None:
        if note.sights is not None:
            self._see(note.sights, known, place)
        if event.event_type is EventType.LOCATION_CHANGE:
            self.visits[place] = self.visits.get(place, 0) + 1
            if self.viewer in known.participants:
                # Somebody who leaves a fight does not see how it ends.
                self.fights.clear()
                self._look_around(known, place)
                self._follow_lead(Act(verb=Verb.STAY), place)
        if note.origin is not None and note.way is not None:
            self.ways.setdefault(note.origin, {})[note.way] = place
        fight = self.fights.get(place)
        if note.fight is not None and (fight is None or fight.id != note.fight.id):
            fight = self.fights[place] = Fight.of(note.fight, place, since=self.round)
        if fight is not None:
            self._fought(known, note, fight)

    def _see(self, sights: Sights, known: KnownMetadata, place: str) -> None:
        """Take in what can be seen at a place. Somebody seen there before, and not now, has left."""
        before = self.sights.get(place)
        self.sights[place] = sights
        if before is None or self.viewer == DM:
            return
        for uid in before.people:
            if uid not in sights.people and uid not in known.participants and self.place(uid) == place:
                self.facts[uid].pop(claims.AT)

    def _look_around(self, known: KnownMetadata, place: str) -> None:
        """Forget party members at a place whom a newcomer expects there but does not see."""
        met = {*known.participants, *(fact.subject for fact in known.facts if fact.op == claims.AT)}
        for uid in self.together(place):
            if uid not in met:
                self.facts[uid].pop(claims.AT)

    def _fought(self, known: KnownMetadata, note: PlayNote, fight: Fight) -> None:
        for uid, hp in note.foe_hp.items():
            if uid in fight.foes:
                fight.foes[uid].hp = hp
        for uid, group in fight.foes.items():
            group.wounded((which, points) for who, which, points in note.wounds if who == uid)
        for uid in known.killed:
            if uid in fight.foes:
                fight.foes[uid].number -= 1
        for uid, count in note.helpless.items():
            if uid in fight.foes:
                fight.foes[uid].helpless = count
        if note.ended is not None:
            del self.fights[fight.place]

    def _acted(self, event: GameEvent, act: Act, place: str | None) -> None:
        stands = PendingAct(event.event_id, event.source, act, place)
        self._follow_lead(act, place)
        for name in self.conditions(event.source):
            # Somebody who acts is up again, also for viewers who did not see how.
            if not conditions.can([name], "acts"):
                self._of(event.source).pop(f"{claims.CONDITION} {name}", None)
        if act.verb in MOVES:
            self.intents[event.source] = act
        # An attack outside a fight is for the DM to answer.
        peaceful = act.verb is Verb.ATTACK and place not in self.fights
        if act.awaits_dice and not peaceful:
            self.declared = stands
        if act.awaits_dm or peaceful:
            self.waiting.append(stands)
            if act.what is not None and act.target is not None:
                self.asked.add((act.target, act.what))
            if place is not None:
                self.tried.add((place, act.verb.value, act.what or ""))

    def _follow_lead(self, act: Act, place: str | None) -> None:
        """Drop the DM's hint once somebody has done what it says; to be at the place is to stay there."""
        if self.lead is not None:
            _, hint = self.lead
            if (hint.place, hint.act.verb, hint.act.what) == (place, act.verb, act.what):
                self.lead = None

    def _rested(self, known: KnownMetadata) -> None:
        """Forget wounds of others that a night did not heal: they had healed before, unseen."""
        healed = known.hp_delta if isinstance(known.hp_delta, dict) else {}
        for uid in known.participants:
            if uid not in healed and "hp_max" not in self._of(uid):
                self._of(uid).pop("hp", None)

    def _told_of(self, tells: Iterable[str], people: frozenset[str]) -> None:
        for deed in self.deeds:
            if deed.event_id in tells:
                deed.told |= people

    def _remember(self, event: GameEvent, known: KnownMetadata, gist: str, people: frozenset[str]) -> None:
        stated = (uid for fact in known.facts for uid in (fact.subject, fact.object) if uid is not None)
        about = tuple(dict.fromkeys((*known.names, *known.killed, *stated)))
        self.deeds.append(
            TellableDeed(
                event_id=event.event_id,
                kind=event.event_type,
                gist=gist,
                place=known.location,
                round=self.round,
                present=people,
                about=about,
                facts=tuple(known.facts),
            )
        )

    # Read.

    def name(self, uid: str) -> str:
        return self.names.get(uid) or name_from_uid(uid)

    def fact(self, uid: str, slot: str, otherwise: Any = None) -> Any:
        return self.facts.get(uid, {}).get(slot, otherwise)

    def place(self, uid: str) -> str | None:
        place: str | None = self.fact(uid, claims.AT)
        return place

    def alive(self, uid: str) -> bool:
        return int(self.fact(uid, claims.NUMBER, 1)) > 0

    def foes_at(self, place: str) -> list[str]:
        """Return the living foes whom the viewer knows to be at a place."""
        return [
            uid
            for uid in self.facts
            if uid.startswith("mon_") and self.place(uid) == place and self.alive(uid)
        ]

    def conditions(self, uid: str) -> list[str]:
        starts = f"{claims.CONDITION} "
        facts = self.facts.get(uid, {})
        return [key.removeprefix(starts) for key in facts if key.startswith(starts) and facts[key] is True]

    def items(self, uid: str) -> dict[str, int]:
        starts = f"{claims.ITEM} "
        facts = self.facts.get(uid, {})
        return {key.removeprefix(starts): n for key, n in facts.items() if key.startswith(starts) and n > 0}

    def spells(self, uid: str) -> list[str]:
        ready = self.fact(uid, SPELLS, [])
        return [str(spell) for spell in ready] if isinstance(ready, list) else []

    def character(self, uid: str) -> Character | None:
        """Return a character's sheet as far as the viewer knows it."""
        return character_of(uid, self.name(uid), self.facts.get(uid, {}), self.items(uid))

    def can_act(self, uid: str) -> bool:
        """Check that a character is alive and able to act."""
        return self.alive(uid) and conditions.can(self.conditions(uid), "acts")

    def living(self) -> list[str]:
        """Return the living characters in the order of their seats."""
        seats = sorted(self.seats.values(), key=lambda seat: (seat.seat, seat.uid))
        return [seat.uid for seat in seats if self.alive(seat.uid)]

    def together(self, place: str | None) -> list[str]:
        """Return the living characters at a place."""
        return [uid for uid in self.living() if self.place(uid) == place]

    def scenes(self) -> dict[str, list[str]]:
        """Return the living characters by place, the place of the first seat first."""
        scenes: dict[str, list[str]] = {}
        for uid in self.living():
            place = self.place(uid)
            if place is not None:
                scenes.setdefault(place, []).append(uid)
        return scenes

    def order(self) -> list[str]:
        """Return who acts in this round, scene by scene; in a fight by initiative, with the foes."""
        order: list[str] = []
        for place, here in self.scenes().items():
            fight = self.fights.get(place)
            if fight is None:
                order += here
            else:
                late = [uid for uid in here if uid not in fight.order]
                able = {*here, *fight.standing}
                order += [uid for uid in (*fight.order, *late) if uid in able]
        return order

    def due(self) -> Due | None:
        """Return the next step of the current round; None once everybody had theirs."""
        if DM_STEP not in self.steps:
            return Due(DM_STEP, DM)
        if self.declared is not None:
            return Due(REFEREE, self.declared.who)
        for uid in self.order():
            if uid not in self.steps and uid not in self.seats:
                return Due(REFEREE, uid)
            if uid not in self.steps and self.can_act(uid):
                return Due(PLAYER, uid)
        return Due(MARCH, DM) if self.intents and MARCH not in self.steps else None


def deliver_event(event: GameEvent, tables: dict[str, Table]) -> None:
    """Let every table whose viewer perceived an event take it in. New characters get a table."""
    if event.seq is not None:
        tables[DM].at = event.seq
    if event.is_note:
        return
    perceived = PerceivedEvent.of(event)
    for who in perceived.people:
        if who == DM or who.startswith("pc_"):
            if who not in tables:
                tables[who] = Table(who)
            tables[who].take_in(perceived)
