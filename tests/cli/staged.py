"""A few rounds of a game, drafted step by step: what a stage is given to tell."""

from typing import Any

from tests.table import character

from dndbots.events import EventType, GameEvent
from dndbots.game.state.sheet_facts import own_facts, public_facts
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.memory.context import Context

MILL, CELLAR = "loc_mill_001", "loc_cellar_001"
THROK, MIRA, ELENA, RATS = "pc_throk_001", "pc_mira_001", "npc_elena_001", "mon_rats_001"


class Drafted:
    """A game of which nothing is recorded: its DM's table, and steps for it."""

    def __init__(self, *names: str) -> None:
        self.tables = {DM: Table()}
        self.round = 0
        self.played: list[list[GameEvent]] = []
        for seat, name in enumerate(names or ("Throk", "Mira"), 1):
            self._seat(seat, name)

    @property
    def table(self) -> Table:
        return self.tables[DM]

    def _seat(self, seat: int, name: str) -> None:
        sheet = character(name, "Fighter", char_id=(THROK, MIRA)[seat - 1])
        joined = {"uid": sheet.uid, "seat": seat, "temper": "brave", "goal": "gold"}
        step = self.step(DM)
        step.add(
            EventType.LOCATION_CHANGE,
            f"{name} takes a seat.",
            place=MILL,
            participants=[sheet.uid],
            names={sheet.uid: name, MILL: "The Salt Mill", CELLAR: "Cellar", ELENA: "Elena", RATS: "Rats"},
            facts=[*public_facts(sheet), *own_facts(sheet)],
            play={"joined": joined},
        )
        self.tables.setdefault(sheet.uid, Table(sheet.uid))

    def step(self, who: str) -> Step:
        """A step of the round; what is drafted into it is at the end of `played`."""
        step = Step(
            who,
            seed=1,
            round_=self.round,
            session="s01",
            tables=self.tables,
            rng=seeded_rng(1, self.round, who),
        )
        self.played.append(step.events)
        return step

    def add(self, who: str, kind: EventType, content: str, **metadata: Any) -> list[GameEvent]:
        """One event of somebody in a step of its own."""
        step = self.step(who)
        step.add(kind, content, source=who, **metadata)
        return step.events


def prompt(viewer: str, tokens: int, budget: int = 2_000) -> Context:
    return Context(
        viewer=viewer, budget=budget, encoding="o200k_base", text="", tokens=tokens, prompt_tokens=tokens
    )
