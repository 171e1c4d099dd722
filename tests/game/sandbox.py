"""A table to try things at: a party of the house, two places with a way between them, and no story."""

from collections.abc import Callable, Iterable

from dndbots.campaign import Campaign
from dndbots.errors import ActRefused
from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.acts import Act
from dndbots.game.setup import seat_party
from dndbots.game.state.game_notes import FoesNote
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.models import Character
from dndbots.testing import memory_campaign

MILL, ROAD = "loc_mill_001", "loc_road_001"
WAYS = {MILL: "the road", ROAD: "the mill door"}
GOBLINS = "mon_goblins_001"

Acting = Callable[["Sandbox", str], Act]


class Sandbox:
    """Rounds with a DM who says little, and players who do as they are told."""

    def __init__(
        self, seed: int = 1, *, seats: int = 4, characters: Iterable[Character] | None = None
    ) -> None:
        self.seed, self.round = seed, 0
        self.campaign: Campaign = memory_campaign()
        self.tables: dict[str, Table] = {DM: Table()}
        party = seat_party(None if characters is None else list(characters), seats=seats, seed=seed)
        self.party = [one.character.uid for one in party]
        step = self.step("setup")
        step.add(EventType.SESSION_START, "The mill.", witnesses=self.party)
        for seat, one in enumerate(party, 1):
            referee.seat_character(
                step,
                one.character,
                seat=seat,
                temper=one.temper,
                goal=one.goal,
                place=MILL,
                text=f"{one.character.name} is here.",
                witnesses=self.party,
            )
        self.commit(step)

    @property
    def table(self) -> Table:
        return self.tables[DM]

    def step(self, name: str) -> Step:
        return Step(
            name,
            seed=self.seed,
            round_=self.round,
            session="s01",
            tables=self.tables,
            rng=seeded_rng(self.seed, self.round, name),
            leads=lambda _table, place, way: {MILL: ROAD, ROAD: MILL}[place] if WAYS[place] == way else None,
        )

    def commit(self, step: Step) -> list[GameEvent]:
        return self.campaign.record_many(step.events)

    def dm(self, told: Callable[[Step], None] | None = None) -> list[GameEvent]:
        """The next round's first step."""
        self.round += 1
        step = self.step("dm")
        referee.expire_conditions(step)
        referee.roll_death_saves(step)
        for place in self.table.scenes():
            step.add(EventType.DM_NARRATION, "Rain.", place=place, play={"sights": {"ways": [WAYS[place]]}})
        if told is not None:
            told(step)
        if not step.events:
            step.add(EventType.DM_NARRATION, "Nobody is here.", witnesses=[])
        return self.commit(step)

    def fight(self, number: int = 4, monster: str = "goblin", place: str = MILL) -> list[GameEvent]:
        foes = {GOBLINS: FoesNote(monster=monster, name=f"{monster}s", number=number)}
        return self.dm(lambda step: referee.begin_fight(step, place, foes, text="They come."))

    def act(self, who: str, act: Act) -> list[GameEvent]:
        step = self.step(who)
        referee.record_act(step, who, act)
        return self.commit(step)

    def rest_of_round(self, acting: Acting) -> None:
        """Everybody else's steps, in order. What is refused passes."""
        while (due := self.table.due()) is not None:
            if due.node == "player":
                step = self.step(due.who)
                try:
                    referee.record_act(step, due.who, acting(self, due.who))
                except ActRefused:
                    referee.record_act(step, due.who, Act())
            elif due.node == "march":
                step = self.step("march")
                referee.march(step)
            elif self.table.declared is not None:
                step = self.step(f"referee {due.who}")
                referee.resolve_declared(step)
            else:
                step = self.step(due.who)
                referee.foes_act(step, due.who)
            self.commit(step)
