"""A character's view of its table at the start of its turn: place, company and recent events.

It reads only the table and keeps nothing between turns.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import SeatTurn
from dndbots.game.bots.journal import QuestLog
from dndbots.game.state.game_notes import KEY, LeadNote, Sights
from dndbots.game.state.options import NEWS
from dndbots.game.state.pieces import Fight, unharmed_beat
from dndbots.rules import conditions

# Rounds for which a topic counts as news to ask everybody about.
_FRESH: Final = 12
# Rounds for which a hint of the DM is followed.
_LEADS_FOR: Final = 9
_TITLES: Final = frozenset(("sister", "brother", "old", "granny", "captain", "sir", "lady", "master", "the"))
_NOTHING: Final[Mapping[str, Any]] = {}
_LEAVING: Final = ("", Verb.GO.value, Verb.STAY.value, Verb.FLEE.value)
_BLOWS: Final = (EventType.COMBAT_START, EventType.COMBAT_ROUND, EventType.DAMAGE)
# Events that not everybody present perceives: they do not show who is there.
_APART: Final = (EventType.WHISPER, EventType.SYSTEM)


class HeardEvent(NamedTuple):
    """A recent event, reduced to what matters for the next choice."""

    event: GameEvent
    round: int
    source: str
    place: str | None
    verb: str
    target: str | None
    what: str | None
    people: frozenset[str]

    @property
    def play(self) -> Mapping[str, Any]:
        """The game's own note on the event."""
        return self.event.metadata.get(KEY) or _NOTHING  # type: ignore[return-value]

    @property
    def is_question(self) -> bool:
        """True if its words ask something."""
        return self.event.content.rstrip(' ".!').endswith("?") or " ask " in self.event.content

    def says(self, key: str) -> Any:
        """Return a metadata value of the event."""
        return self.event.metadata.get(key)


def read_event(event: GameEvent, people: frozenset[str]) -> HeardEvent:
    """Return an event with its act and the people who were there, as far as known."""
    note: Any = event.metadata.get(KEY) or _NOTHING
    act: Any = note.get("act") or _NOTHING
    return HeardEvent(
        event=event,
        round=event.turn or 0,
        source=event.source,
        place=event.metadata.get("location"),  # type: ignore[arg-type]
        verb=act.get("verb", Verb.SAY.value) if act else "",
        target=act.get("target"),
        what=act.get("what"),
        people=people,
    )


class Mind:
    """A character at the start of its turn."""

    def __init__(self, turn: SeatTurn) -> None:
        self.who, self.table, self.rng, self.seed = turn.who, turn.table, turn.rng, turn.seed
        self.round, self._people = self.table.round, turn.people
        seat = self.table.seats.get(self.who)
        self.temper = seat.temper if seat is not None else ""
        self.goal = seat.goal if seat is not None else ""
        self.here = self.table.place(self.who) or ""

    # Place.

    @cached_property
    def sights(self) -> Sights:
        return self.table.sights.get(self.here) or Sights()

    @cached_property
    def fight(self) -> Fight | None:
        """The fight here, if it still goes on; one it fled from may be over."""
        fight = self.table.fights.get(self.here)
        if fight is None or not fight.standing:
            return None
        return fight if fight.since >= self.arrived or self.fought_here else None

    @cached_property
    def arrived(self) -> int:
        """The round in which it came here; 0 if that is long ago."""
        rounds = (
            heard.round
            for heard in reversed(self.recent)
            if heard.event.event_type is EventType.LOCATION_CHANGE
            and heard.place == self.here
            and self.who in (heard.says("participants") or ())
        )
        return next(rounds, 0)

    @cached_property
    def fought_here(self) -> list[str]:
        """Foes in recent blows here, in a fight that began without this character."""
        found: dict[str, None] = {}
        for heard in self.recent:
            if heard.place != self.here or heard.round < max(self.arrived, self.round - 1):
                continue
            if heard.event.event_type is EventType.COMBAT_END:
                found.clear()
            elif heard.event.event_type in _BLOWS:
                found.update(dict.fromkeys(heard.says("enemies") or ()))
        return [uid for uid in found if self.table.alive(uid)]

    @cached_property
    def recent(self) -> list[HeardEvent]:
        """Recent events, oldest first."""
        return [*map(read_event, self.table.lately, self.table.companies)]

    @cached_property
    def since_my_turn(self) -> list[HeardEvent]:
        """Events after its own last act."""
        events: list[HeardEvent] = []
        for heard in reversed(self.recent):
            if heard.verb and heard.source == self.who:
                break
            events.append(heard)
        return events[::-1]

    def did(self, *verbs: Verb, what: str | None = None, rounds: int = 3) -> bool:
        """Return whether somebody here recently did one of these, itself included."""
        names = {verb.value for verb in verbs}
        return any(
            heard.verb in names
            and heard.place == self.here
            and heard.round >= self.round - rounds
            and (what is None or heard.what == what)
            for heard in self.recent
        )

    # Company.

    @cached_property
    def party(self) -> list[str]:
        """The other living characters it knows of, newcomers and veterans alike."""
        table, seats = self.table, self.table.seats
        known = dict.fromkeys((*table.living(), *(uid for uid in table.facts if uid.startswith("pc_"))))
        gone = {heard.play.get("left") for heard in self.recent}
        return [
            uid for uid in known if uid != self.who and table.alive(uid) and (uid in seats or uid not in gone)
        ]

    @property
    def is_with_people(self) -> bool:
        """True if a person plays somebody here: what is decided for the party is theirs to decide."""
        return not self._people.isdisjoint(self.friends)

    @cached_property
    def friends(self) -> list[str]:
        """The other characters who are here."""
        found = [uid for uid in self.party if self.table.place(uid) == self.here]
        if not found:
            return []
        shown: set[str] = set()
        for heard in self.recent:
            if heard.place == self.here and self._is_now(heard):
                shown |= heard.people
        return [uid for uid in found if uid in shown or (not shown and not self._has_left(uid))]

    def _is_now(self, heard: HeardEvent) -> bool:
        """Return whether an event shows who is here in this round."""
        kind = heard.event.event_type
        arrived = kind is EventType.LOCATION_CHANGE and heard.round >= self.round - 1
        return kind not in _APART and (heard.round == self.round or arrived)

    def _has_left(self, uid: str) -> bool:
        """Return whether somebody was last seen leaving."""
        for heard in reversed(self.recent):
            if uid in heard.people:
                return heard.source == uid and heard.verb == Verb.GO.value and heard.round < self.round
        return False

    @cached_property
    def able(self) -> list[str]:
        return [uid for uid in self.friends if self.table.can_act(uid)]

    @cached_property
    def apart(self) -> list[str]:
        """The other characters who are elsewhere."""
        return [uid for uid in self.party if uid not in self.friends]

    @cached_property
    def dying(self) -> list[str]:
        return [uid for uid in self.friends if "dying" in self.table.conditions(uid)]

    @cached_property
    def people(self) -> list[str]:
        """NPCs in sight."""
        return [uid for uid in self._in_sight if not uid.startswith("mon_")]

    @cached_property
    def wary(self) -> list[str]:
        """Foes in sight who do not fight."""
        return [uid for uid in self._in_sight if uid.startswith("mon_")]

    @cached_property
    def _in_sight(self) -> list[str]:
        table, here = self.table, self.here
        return [uid for uid in self.sights.people if table.alive(uid) and table.place(uid) in (None, here)]

    @cached_property
    def leads(self) -> bool:
        """True if nobody else here has acted in this round."""
        return self.table.steps.isdisjoint(self.friends)

    @cached_property
    def quests(self) -> QuestLog:
        return QuestLog(self.table)

    @cached_property
    def lead(self) -> LeadNote | None:
        """The DM's latest hint that nobody has followed yet, for a while."""
        if self.table.lead is None:
            return None
        since, lead = self.table.lead
        return None if self.round - since > _LEADS_FOR else lead

    @cached_property
    def going(self) -> dict[str, Act]:
        """Moves that others here announced this round, in the order they spoke."""
        intents = self.table.intents
        return {uid: act for uid, act in intents.items() if uid in self.friends and act.verb is Verb.GO}

    @property
    def is_waited_for(self) -> bool:
        """True if a person's character is at something here: the house lets them finish."""
        return any(
            heard.source in self._people
            and heard.place == self.here
            and heard.round >= self.round - 1
            and heard.verb not in _LEAVING
            for heard in self.recent
        )

    def is_unharmed(self, foes: str) -> bool:
        """Return whether it saw that blows do no harm to these foes."""
        return unharmed_beat(foes) in self.table.beats

    # Things to do.

    def topics_for(self, npc: str) -> list[str]:
        """Return the topics left to ask a person about: news first, then the latest."""
        asked, topics = self.table.asked, self.table.topics
        if (npc, NEWS) not in asked:
            return [NEWS]
        count = sum(who == npc for who, _ in asked)
        most = self.by_temper(4, curious=7, careful=5, brave=3) + 2 * (self.goal == "knowledge")
        left = [topic for topic in reversed(topics) if (npc, topic) not in asked]
        raised = {
            topic for heard in self.recent if heard.source == npc for topic in heard.play.get("topics", ())
        }
        own = [topic for topic in left if topic in raised]
        fresh = [topic for topic in left if topics[topic] >= self.round - _FRESH]
        return own or (fresh if count < most + 3 else []) or (left if count < most else [])

    def left_undone(self, place: str) -> bool:
        """Return whether a place has something to come back for."""
        sights, tried = self.table.sights.get(place), self.table.tried
        if sights is None or any(map(self.is_unharmed, self.table.foes_at(place))):
            return False
        if any((place, Verb.LOOK.value, thing) not in tried for thing in sights.things):
            return True
        people = [uid for uid in sights.people if uid.startswith("npc_") and self.table.alive(uid)]
        if any(self.topics_for(npc) for npc in people if self.table.place(npc) == place):
            return True
        return not sights.safe and (place, Verb.SEARCH.value, "") not in tried

    # Condition.

    def health(self, uid: str) -> float:
        """Return health from 0 to 1. For others it may know only the damage it saw."""
        facts = self.table.facts.get(uid, {})
        hp, most = facts.get("hp"), facts.get("hp_max")
        if not isinstance(hp, int):
            return 1.0
        if not isinstance(most, int):
            # Without the sheet, `hp` is the sum of the wounds and the healing that it saw.
            most = 3 + 4 * self.level(uid)
            hp = most + min(hp, 0)
        return max(0.0, min(1.0, hp / max(most, 1)))

    def level(self, uid: str) -> int:
        """Return a character's level; 1 if unknown."""
        level = self.table.fact(uid, "level", 1)
        return level if isinstance(level, int) and level > 0 else 1

    @cached_property
    def trade(self) -> str:
        """Its class in lower case."""
        return str(self.table.fact(self.who, "class", "")).casefold()

    def can(self, deed: conditions.Deed) -> bool:
        """Return whether its conditions let it do this."""
        return conditions.can(self.table.conditions(self.who), deed)

    @cached_property
    def spells(self) -> list[str]:
        """Spells it can cast now."""
        return self.table.spells(self.who) if self.can("casts") else []

    def chance(self, odds: float) -> bool:
        """Return true with this probability."""
        return self.rng.random() < odds

    def by_temper(self, otherwise: float, **odds: float) -> float:
        """Return the number for its temper, or `otherwise`."""
        return odds.get(self.temper, otherwise)

    # Names.

    def name(self, uid: str) -> str | None:
        """Return a name if the character ever heard it."""
        return self.table.names.get(uid)

    def called(self, uid: str) -> str | None:
        """Return what it calls somebody: party members by their first name, if that says who is meant."""
        name = self.name(uid)
        if name is None or not uid.startswith("pc_"):
            return name
        first = name.split(" ", 1)[0]
        others = (self.name(other) or "" for other in self.table.names if other != uid)
        is_clear = first.casefold() not in _TITLES and not any(first in other.split() for other in others)
        return first if is_clear else name

    def names(self, uids: Iterable[str]) -> str:
        """Return several names joined for speech; empty if none is known."""
        known = [name for name in map(self.called, uids) if name]
        return " and ".join([", ".join(known[:-1]), known[-1]]) if len(known) > 1 else "".join(known)
