"""A small world to play in: places and ways, a referee of few words, and everybody's table."""

from collections.abc import Iterable, Mapping
from typing import Any

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import FOR_THE_DM, Act, Verb
from dndbots.game.agents import Turn
from dndbots.game.chance import chance
from dndbots.game.house.players import HousePlayer
from dndbots.game.played import DM_STEP, MARCH, Foes, Sights
from dndbots.game.steps import Step
from dndbots.game.table import Table
from dndbots.ids import DM

TEMPERS = ("brave", "careful", "curious", "greedy", "kind", "wry")
GOALS = ("treasure", "glory", "knowledge", "justice", "company")
NAMES = ("Throk", "Zara", "Bram", "Ilse", "Odo", "Mirel")


def pc(number: int) -> str:
    return f"pc_{NAMES[number].lower()}_001"


def loc(key: str) -> str:
    return f"loc_{key}_001"


class Board:
    """A game without dice. `ways` is, by place, where each label leads; `shut` are ways that do not."""

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
    ) -> None:
        self.ways, self.seed, self.more, self.shut = ways, seed, dict(sights or {}), set(shut)
        self.tables: dict[str, Table] = {DM: Table()}
        self.log: list[GameEvent] = []
        self.number = 0
        self.acts: list[tuple[int, str, Act]] = []
        self.start = next(iter(ways))
        goals, classes = [*goals], [*classes]
        step = self.step("setup")
        for number, temper in enumerate(tempers):
            goal = goals[number] if number < len(goals) else GOALS[number % len(GOALS)]
            trade = classes[number] if number < len(classes) else "Fighter"
            self.join(step, number, temper, goal, trade)
        self.done(step)

    @property
    def table(self) -> Table:
        return self.tables[DM]

    @property
    def party(self) -> list[str]:
        return self.table.living()

    # Steps.

    def step(self, name: str) -> Step:
        rng = chance(self.seed, self.number, name)
        return Step(name, seed=self.seed, round_=self.number, session="s01", tables=self.tables, rng=rng)

    def done(self, step: Step) -> None:
        self.log += step.events

    def join(self, step: Step, number: int, temper: str, goal: str, trade: str = "Fighter") -> None:
        uid, place = pc(number), loc(self.start)
        seat = {"uid": uid, "seat": number + 1}
        public: list[Any] = [
            {"subject": uid, "key": key, "value": value} for key, value in (("class", trade), ("level", 1))
        ]
        step.add(
            EventType.DM_NARRATION,
            f"{NAMES[number]} is here.",
            place=place,
            participants=[uid],
            play={"joined": seat},
            names={uid: NAMES[number]},
            facts=public,
        )
        sheet = {"hp": 8, "hp_max": 8, "ac": 5, "gold": 10} | dict.fromkeys(
            ("str", "dex", "con", "int", "wis", "cha"), 11
        )
        own: list[Any] = [{"subject": uid, "key": key, "value": value} for key, value in sheet.items()]
        step.add(
            EventType.SYSTEM,
            f"{NAMES[number]} is ready.",
            witnesses=[uid],
            play={"joined": {**seat, "temper": temper, "goal": goal}},
            facts=own,
        )

    def sights(self, place: str) -> dict[str, Any]:
        key = place.removeprefix("loc_").removesuffix("_001")
        shown = Sights.model_validate({"ways": tuple(self.ways[key]), **self.more.get(key, {})})
        return shown.model_dump(mode="json")

    def begin_round(self) -> None:
        """The DM's step: everybody is told what they see."""
        self.number += 1
        step = self.step(DM_STEP)
        for place in self.table.scenes():
            play = {"sights": self.sights(place)}
            step.add(EventType.DM_NARRATION, "You look around.", place=place, play=play)
        if not step.events:
            step.add(EventType.SYSTEM, "Nothing happens.", witnesses=[])
        self.done(step)

    def tell(self, text: str, *, place: str, **told: Any) -> GameEvent:
        """Something that the DM tells, in a step of its own."""
        step = self.step(f"more {len(self.log)}")
        event = step.add(told.pop("kind", EventType.DM_NARRATION), text, place=loc(place), **told)
        self.done(step)
        return event

    def fight(self, place: str, foes: Mapping[str, tuple[str, int]]) -> None:
        here = self.table.together(loc(place))
        groups = {uid: Foes(monster=name, name=name, number=n) for uid, (name, n) in foes.items()}
        self.tell(
            "They come!",
            place=place,
            kind=EventType.COMBAT_START,
            participants=here,
            enemies=[*foes],
            names={uid: one.name for uid, one in groups.items()},
            play={
                "fight": {
                    "id": f"fight_{self.number}",
                    "order": [*here, *foes],
                    "foes": {uid: one.model_dump() for uid, one in groups.items()},
                }
            },
        )

    def turn(self, who: str, table: Table | None = None) -> Turn:
        rng = chance(self.seed, self.number, who)
        own = table or self.tables[who]
        return Turn(who=who, table=own, prompt=None, rng=rng, seed=self.seed)  # type: ignore[arg-type]

    def decide(self, who: str) -> Act:
        return HousePlayer().act(self.turn(who))

    def record(self, who: str, act: Act) -> GameEvent:
        """What somebody says and does, in the hearing of all who are there."""
        self.acts.append((self.number, who, act))
        place = self.table.place(who)
        step = self.step(who)
        others = [uid for uid in step.present(str(place)) if uid != who]
        whisper = act.verb is Verb.WHISPER
        event = step.add(
            EventType.WHISPER if whisper else EventType.PLAYER_ACTION,
            act.words or "…",
            source=who,
            place=place,
            participants=[] if whisper else [who],
            witnesses=[str(act.target)] if whisper else others,
            play={"act": act.model_dump(mode="json", exclude_defaults=True), "tells": [*act.tells]},
        )
        self.done(step)
        return event

    def march(self) -> None:
        step = self.step(MARCH)
        for place, here in list(self.table.scenes().items()):
            if place not in self.table.fights:
                self._march_from(step, place, here)
        self.done(step)

    def _march_from(self, step: Step, place: str, here: list[str]) -> None:
        key = place.removeprefix("loc_").removesuffix("_001")
        intents = {uid: act for uid, act in self.table.intents.items() if uid in here}
        groups: dict[str, list[str]] = {}
        for uid, act in intents.items():
            if act.verb is Verb.GO:
                groups.setdefault(str(act.what), []).append(uid)
        busy = {one.who for one in self.table.waiting if one.act.verb in FOR_THE_DM}
        if groups:
            most = max(groups, key=lambda way: len(groups[way]))
            groups[most] += [uid for uid in here if uid not in intents and uid not in busy]
        for way, movers in groups.items():
            if (key, way) in self.shut:
                step.add(EventType.DM_NARRATION, f"{way} is shut.", place=place)
            else:
                self._go(step, movers, place, way, loc(self.ways[key][way]))

    def _go(self, step: Step, movers: list[str], place: str, way: str, there: str) -> None:
        staying = [uid for uid in step.present(place) if uid not in movers]
        if staying:
            gone: list[Any] = [{"subject": uid, "op": "@", "object": place, "ended": True} for uid in movers]
            step.add(EventType.DM_NARRATION, "They leave.", place=place, witnesses=staying, facts=gone)
        meets = [uid for uid in step.present(there) if uid not in movers]
        play = {"way": way, "origin": place}
        step.add(
            EventType.LOCATION_CHANGE,
            f"They take {way}.",
            place=there,
            participants=movers,
            witnesses=meets,
            play=play,
        )

    def round(self) -> None:
        """A whole round: the DM, everybody in turn, and the march."""
        self.begin_round()
        for who in self.table.order():
            if who in self.tables and self.table.can_act(who):
                self.record(who, self.decide(who))
        self.march()
