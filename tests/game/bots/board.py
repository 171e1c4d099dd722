"""A small world for bots: places and ways, the real referee and all tables; the test plays the DM."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.acts import Act
from dndbots.game.agents import SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.state.game_notes import DM_STEP, MARCH, REFEREE, SETUP, FoesNote, Sights
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import PLAYER, Table
from dndbots.ids import DM
from dndbots.models import Character, Stats

TEMPERS = ("brave", "careful", "curious", "greedy", "kind", "wry")
GOALS = ("treasure", "glory", "knowledge", "justice", "company")
NAMES = ("Throk", "Zara", "Bram", "Ilse", "Odo", "Mirel")


def pc(number: int) -> str:
    return f"pc_{NAMES[number].lower()}_001"


def loc(key: str) -> str:
    return f"loc_{key}_001"


def key_of(place: str) -> str:
    return place.removeprefix("loc_").removesuffix("_001")


def sheet(
    number: int, trade: str, *, hp: int = 8, equipment: Iterable[str] = ("dagger", "rations")
) -> Character:
    stats = Stats(**dict.fromkeys(("str", "dex", "con", "int", "wis", "cha"), 12))
    return Character(
        name=NAMES[number],
        char_class=trade,
        level=1,
        hp=hp,
        hp_max=hp,
        ac=5,
        stats=stats,
        equipment=[*equipment],
        gold=10,
    )


class Board:
    """A game in the making. `ways` maps each place to its labels and their ends; `shut` ways lead nowhere."""

    def __init__(
        self,
        ways: Mapping[str, Mapping[str, str]],
        *,
        tempers: Iterable[str] = ("brave", "careful", "curious"),
        goals: Iterable[str] = (),
        classes: Iterable[str] = (),
        seed: int = 0,
        sights: Mapping[str, Mapping[str, Any]] | None = None,
        shut: Iterable[tuple[str, str]] = (),
        equipment: Iterable[str] = ("dagger", "rations"),
    ) -> None:
        self.ways, self.seed, self.shut = ways, seed, set(shut)
        self.more: dict[str, dict[str, Any]] = {key: dict(told) for key, told in (sights or {}).items()}
        self.tables: dict[str, Table] = {DM: Table()}
        self.log: list[GameEvent] = []
        self.acts: list[tuple[int, str, Act]] = []
        self.number = 0
        self.start = next(iter(ways))
        given, trades, carried = [*goals], [*classes], [*equipment]
        step = self.step(SETUP)
        for number, temper in enumerate(tempers):
            referee.seat_character(
                step,
                sheet(number, trades[number] if number < len(trades) else "Fighter", equipment=carried),
                seat=number + 1,
                temper=temper,
                goal=given[number] if number < len(given) else GOALS[number % len(GOALS)],
                place=loc(self.start),
                text=f"{NAMES[number]} is here.",
            )
        for key in self.more:
            self.settle(step, key)
        self.done(step)

    @property
    def table(self) -> Table:
        return self.tables[DM]

    def step(self, name: str) -> Step:
        rng = seeded_rng(self.seed, self.number, name)
        return Step(
            name,
            seed=self.seed,
            round_=self.number,
            session="s01",
            tables=self.tables,
            rng=rng,
            leads=self.leads,
        )

    def done(self, step: Step) -> None:
        self.log += step.events

    def leads(self, _table: Table, place: str, way: str) -> str | None:
        key = key_of(place)
        to = self.ways[key].get(way)
        return None if to is None or (key, way) in self.shut else loc(to)

    # The DM.

    def settle(self, step: Step, key: str) -> None:
        """Place everybody who is in sight at a place there for the rules too."""
        people = [uid for uid in self.more[key].get("people", ()) if uid.startswith("npc_")]
        if people:
            step.add(EventType.DM_NARRATION, "…", place=loc(key), participants=people, witnesses=[])

    def begin_round(self) -> None:
        """Tell everybody what they see."""
        self.number += 1
        step = self.step(DM_STEP)
        for place in self.table.scenes():
            key = key_of(place)
            shown = {"ways": tuple(self.ways[key]), **self.more.get(key, {})}
            # Nobody is in sight at two places: the last sighting counts.
            people = [uid for uid in shown.get("people", ()) if self.table.place(uid) in (None, place)]
            sights = Sights.model_validate({**shown, "people": people})
            play = {"sights": sights.model_dump(mode="json")}
            step.add(EventType.DM_NARRATION, "You look around.", place=place, play=play)
        step.add(EventType.SYSTEM, "Time passes.", witnesses=[])
        self.done(step)

    def tell(self, text: str, *, place: str, **told: Any) -> GameEvent:
        """Record another event at a place."""
        step = self.step(f"more {len(self.log)}")
        kind = told.pop("kind", EventType.DM_NARRATION)
        event = step.add(kind, text, place=loc(place), **told)
        self.done(step)
        return event

    def fight(self, place: str, **foes: int) -> list[str]:
        """Start a fight with so many of each monster."""
        step = self.step(f"fight {len(self.log)}")
        groups = {
            f"mon_{name}_001": FoesNote(monster=name.replace("_", " "), name=f"{name}s", number=number)
            for name, number in foes.items()
        }
        referee.begin_fight(step, loc(place), groups, text="They come!")
        self.done(step)
        return [*groups]

    def fall(self, number: int) -> None:
        """Let a character drop and lie dying."""
        who = pc(number)
        place, hp = key_of(str(self.table.place(who))), self.table.fact(who, "hp")
        harm: dict[str, Any] = {"hp_delta": {who: -hp}, "conditions": {who: ["dying"]}}
        self.tell(f"{NAMES[number]} falls.", place=place, participants=[who], **harm)

    # The players.

    def turn(self, who: str, table: Table | None = None) -> SeatTurn:
        rng = seeded_rng(self.seed, self.number, who)
        own = self.tables[who] if table is None else table
        return SeatTurn(who=who, table=own, prompt=None, rng=rng, seed=self.seed)  # type: ignore[arg-type]

    def decide(self, who: str, *, people: frozenset[str] = frozenset()) -> Act:
        """Return what the house does with a character, beside `people` whom persons play."""
        return HousePlayer().act(replace(self.turn(who), people=people))

    def record(self, who: str, act: Act) -> None:
        """Record an act and its dice. A refused act fails the test."""
        self.acts.append((self.number, who, act))
        step = self.step(who)
        referee.record_act(step, who, act)
        self.done(step)
        self.resolve()

    def resolve(self) -> None:
        declared = self.table.declared
        if declared is not None:
            step = self.step(f"{REFEREE} {declared.who}")
            referee.resolve_declared(step)
            self.done(step)

    def march(self) -> None:
        step = self.step(MARCH)
        referee.march(step)
        self.done(step)

    def play_out(self) -> None:
        """Play the turn of everybody who has not acted this round, then move the party."""
        while (due := self.table.due()) is not None and due.node != MARCH:
            if due.node == PLAYER:
                self.record(due.who, self.decide(due.who))
            else:
                step = self.step(due.who)
                referee.foes_act(step, due.who)
                self.done(step)
        self.march()

    def round(self) -> None:
        self.begin_round()
        self.play_out()
