"""What a character makes of its own table when its turn comes: where it is, who is there, what just happened.

It reads the table that it is given and nothing else, and keeps nothing from one turn to the next.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import Turn
from dndbots.game.house.errands import Quests
from dndbots.game.options import NEWS
from dndbots.game.pieces import Fight
from dndbots.game.played import KEY, Sights
from dndbots.rules import conditions

# For so many rounds a topic is news, which one asks everybody about.
_FRESH: Final = 12
_NOTHING: Final[Mapping[str, Any]] = {}
_BLOWS: Final = (EventType.COMBAT_START, EventType.COMBAT_ROUND, EventType.DAMAGE)
# What not everybody at a place perceives, and so does not show who is there.
_APART: Final = (EventType.WHISPER, EventType.SYSTEM)


class Heard(NamedTuple):
    """One of the newest events, as far as it matters for what to say and do next."""

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
        return self.event.metadata.get(KEY) or _NOTHING  # type: ignore[return-value]

    def says(self, key: str) -> Any:
        """What the event's metadata have under a key."""
        return self.event.metadata.get(key)


def heard(event: GameEvent, people: frozenset[str]) -> Heard:
    """An event, and who was there as far as the character knows."""
    note: Any = event.metadata.get(KEY) or _NOTHING
    act: Any = note.get("act") or _NOTHING
    return Heard(
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
    """One character at the start of its turn."""

    def __init__(self, turn: Turn) -> None:
        self.who, self.table, self.rng, self.seed = turn.who, turn.table, turn.rng, turn.seed
        self.round = self.table.round
        seat = self.table.seats.get(self.who)
        self.temper = seat.temper if seat is not None else ""
        self.goal = seat.goal if seat is not None else ""
        self.here = self.table.place(self.who) or ""

    # Where it is.

    @cached_property
    def sights(self) -> Sights:
        return self.table.sights.get(self.here) or Sights()

    @cached_property
    def fight(self) -> Fight | None:
        """The fight here, if it goes on: one that it ran from may be over by now."""
        fight = self.table.fights.get(self.here)
        if fight is None or not fight.standing:
            return None
        return fight if fight.since >= self.arrived or self.fought_here else None

    @cached_property
    def arrived(self) -> int:
        """The round in which it came here; 0 if that is long ago."""
        rounds = (
            one.round
            for one in reversed(self.recent)
            if one.event.event_type is EventType.LOCATION_CHANGE
            and one.place == self.here
            and self.who in (one.says("participants") or ())
        )
        return next(rounds, 0)

    @cached_property
    def fought_here(self) -> list[str]:
        """Foes who strike or are struck here, in whatever fight it came into."""
        found: dict[str, None] = {}
        for one in self.recent:
            if one.place != self.here or one.round < max(self.arrived, self.round - 1):
                continue
            if one.event.event_type is EventType.COMBAT_END:
                found.clear()
            elif one.event.event_type in _BLOWS:
                found.update(dict.fromkeys(one.says("enemies") or ()))
        return [uid for uid in found if self.table.alive(uid)]

    @cached_property
    def recent(self) -> list[Heard]:
        """The newest events, the oldest first."""
        return [*map(heard, self.table.lately, self.table.companies)]

    @cached_property
    def since_my_turn(self) -> list[Heard]:
        """What happened after the last thing that it did itself."""
        found: list[Heard] = []
        for one in reversed(self.recent):
            if one.verb and one.source == self.who:
                break
            found.append(one)
        return found[::-1]

    def did(self, *verbs: Verb, what: str | None = None, rounds: int = 3) -> bool:
        """Whether somebody here did one of these lately, itself or another."""
        names = {verb.value for verb in verbs}
        return any(
            one.verb in names
            and one.place == self.here
            and one.round >= self.round - rounds
            and (what is None or one.what == what)
            for one in self.recent
        )

    # Who is there.

    @cached_property
    def party(self) -> list[str]:
        """The others who play along and are alive, as far as it knows: also those who had come before it."""
        table, seats = self.table, self.table.seats
        known = dict.fromkeys((*table.living(), *(uid for uid in table.facts if uid.startswith("pc_"))))
        gone = {one.play.get("left") for one in self.recent}
        return [
            uid for uid in known if uid != self.who and table.alive(uid) and (uid in seats or uid not in gone)
        ]

    @cached_property
    def friends(self) -> list[str]:
        """The others of the party who are here."""
        found = [uid for uid in self.party if self.table.place(uid) == self.here]
        if not found:
            return []
        shown: set[str] = set()
        for one in self.recent:
            if one.place == self.here and self._is_now(one):
                shown |= one.people
        return [uid for uid in found if uid in shown or (not shown and not self._has_left(uid))]

    def _is_now(self, one: Heard) -> bool:
        kind = one.event.event_type
        arrived = kind is EventType.LOCATION_CHANGE and one.round >= self.round - 1
        return kind not in _APART and (one.round == self.round or arrived)

    def _has_left(self, uid: str) -> bool:
        """Whether the last that was seen of somebody is that they were about to go."""
        for one in reversed(self.recent):
            if uid in one.people:
                return one.source == uid and one.verb == Verb.GO.value and one.round < self.round
        return False

    @cached_property
    def able(self) -> list[str]:
        return [uid for uid in self.friends if self.table.can_act(uid)]

    @cached_property
    def apart(self) -> list[str]:
        """The others of the party who are elsewhere."""
        return [uid for uid in self.party if uid not in self.friends]

    @cached_property
    def dying(self) -> list[str]:
        return [uid for uid in self.friends if "dying" in self.table.conditions(uid)]

    @cached_property
    def people(self) -> list[str]:
        """Those of the place who are in sight."""
        return [uid for uid in self._in_sight if not uid.startswith("mon_")]

    @cached_property
    def wary(self) -> list[str]:
        """Foes who stand about and do not fight."""
        return [uid for uid in self._in_sight if uid.startswith("mon_")]

    @cached_property
    def _in_sight(self) -> list[str]:
        table, here = self.table, self.here
        return [uid for uid in self.sights.people if table.alive(uid) and table.place(uid) in (None, here)]

    @cached_property
    def leads(self) -> bool:
        """Whether it is the first of those who are here to do anything in this round."""
        return self.table.steps.isdisjoint(self.friends)

    @cached_property
    def quests(self) -> Quests:
        return Quests(self.table)

    @cached_property
    def going(self) -> dict[str, Act]:
        """Where those who are here said in this round that they go, in the order in which they spoke."""
        intents = self.table.intents
        return {uid: act for uid, act in intents.items() if uid in self.friends and act.verb is Verb.GO}

    # What there is to do.

    def topics_for(self, npc: str) -> list[str]:
        """What one could still ask somebody: news first, then what was heard of last."""
        asked, topics = self.table.asked, self.table.topics
        if (npc, NEWS) not in asked:
            return [NEWS]
        count = sum(who == npc for who, _ in asked)
        most = self.by_temper(4, curious=7, careful=5, brave=3) + 2 * (self.goal == "knowledge")
        left = [topic for topic in reversed(topics) if (npc, topic) not in asked]
        raised = {topic for one in self.recent if one.source == npc for topic in one.play.get("topics", ())}
        own = [topic for topic in left if topic in raised]
        fresh = [topic for topic in left if topics[topic] >= self.round - _FRESH]
        return own or (fresh if count < most + 3 else []) or (left if count < most else [])

    def left_undone(self, place: str) -> bool:
        """Whether there is something to go back for."""
        sights, tried = self.table.sights.get(place), self.table.tried
        if sights is None:
            return False
        if any((place, Verb.LOOK.value, thing) not in tried for thing in sights.things):
            return True
        people = [uid for uid in sights.people if uid.startswith("npc_") and self.table.alive(uid)]
        if any(self.topics_for(npc) for npc in people if self.table.place(npc) == place):
            return True
        return not sights.safe and (place, Verb.SEARCH.value, "") not in tried

    # How it is.

    def health(self, uid: str) -> float:
        """From 0 to 1. Of others one may know no more than how much they were seen to lose."""
        facts = self.table.facts.get(uid, {})
        hp, most = facts.get("hp"), facts.get("hp_max")
        if not isinstance(hp, int):
            return 1.0
        if not isinstance(most, int):
            most = 3 + 4 * self.level(uid)
            hp += most if hp <= 0 else 0
        return max(0.0, min(1.0, hp / max(most, 1)))

    def level(self, uid: str) -> int:
        level = self.table.fact(uid, "level", 1)
        return level if isinstance(level, int) and level > 0 else 1

    @cached_property
    def trade(self) -> str:
        """Its class, in small letters."""
        return str(self.table.fact(self.who, "class", "")).casefold()

    def can(self, deed: conditions.Deed) -> bool:
        """Whether its state lets it do that."""
        return conditions.can(self.table.conditions(self.who), deed)

    @cached_property
    def spells(self) -> list[str]:
        """What it could cast now."""
        return self.table.spells(self.who) if self.can("casts") else []

    def chance(self, odds: float) -> bool:
        return self.rng.random() < odds

    def by_temper(self, otherwise: float, **odds: float) -> float:
        """A number that depends on the temper."""
        return odds.get(self.temper, otherwise)

    # What things are called.

    def name(self, uid: str) -> str | None:
        """What somebody or something is called, if it ever heard that."""
        return self.table.names.get(uid)

    def names(self, uids: Iterable[str]) -> str:
        """Several by their names, as one says them; empty if none of them has one."""
        known = [name for name in map(self.name, uids) if name]
        return " and ".join([", ".join(known[:-1]), known[-1]]) if len(known) > 1 else "".join(known)
