"""A test bench for the DM without an engine, and a small adventure that uses every feature."""

from typing import Any

from tests.table import character

from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.acts import Act, Verb
from dndbots.game.adventures import load
from dndbots.game.adventures.module import Module
from dndbots.game.state.game_notes import DM_STEP, MARCH, SETUP, GameNote
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Table, deliver_event
from dndbots.game.world.house_dm import HouseDM
from dndbots.game.world.narration import Screen
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.models import Character

MILL = """
module:
  title: The Cold Mill
  start: ferry
  opening: A raft takes you over the black water.
places:
  ferry:
    name: Reed Ferry
    looks: A landing of grey planks, a bell, and a hut on stilts.
    again: The bell hangs still over the landing.
    safe: yes
    people: [maren]
    exits:
      mill path: mill
      old raft: {to: island, when: happened flood}
    things:
      bell: {looks: a bronze bell, text: The bell has a crack, topics: [crack]}
      box: {looks: a tin box, gold: 7}
  mill:
    name: Cold Mill
    looks: The wheel hangs in its axle, and the door is off.
    exits:
      trapdoor: {to: cellar, locked: silver_key}
      back door: {to: yard, stuck: yes}
      chute: {to: loft, hidden: yes, looks: a narrow chute behind the sacks}
    things:
      stone: {looks: a loose hearthstone, hidden: yes, items: [silver_key]}
      chest:
        looks: an iron chest
        text: The lid shows a miller with no face.
        trap: {looks: a needle in the lock, damage: 1d4, save: death}
        teaches: [{about: mill, is: {owner: a miller without a face}}]
        gold: 20
  cellar:
    name: Flour Cellar
    looks: Barrels, and a smell of wet dogs.
    dark: yes
    foes:
      pack: {monster: skeleton, name: grey bones, number: 2, mood: hostile, gold: 11, guards: [sack]}
    things:
      sack: {looks: a heavy sack, items: [ledger]}
  yard:
    name: Nettle Yard
    looks: Nettles to the hip.
    foes:
      toll:
        {monster: goblin, number: 3, name: toll goblins, mood: wary, guards: [gate],
         says: Nobody goes on without paying}
    exits:
      gate: wood
  wood:
    name: Hush Wood
    looks: No bird sings.
    wandering: {chance: 1 in 1, foes: [{monster: goblin, number: 1}]}
  loft:
    name: Mill Loft
    looks: Pigeons, and the sky through the roof.
    foes:
      ravens: {monster: goblin, number: 1, name: a goblin with a raven, mood: friendly}
  island:
    name: Gull Island
    looks: Gulls scream.
people:
  maren:
    name: Maren
    seen_as: an old ferrywoman
    greets: Mind the wet planks.
    voice: gruff
    trust: 3
    knows:
      - {about: news, says: They say that the mill walks at night, topics: [mill]}
      - about: [mill]
        says: Nobody has been in the mill since the flood
        teaches: [{about: mill, is: {state_of_it: empty}}]
        lie: yes
      - {about: [flood], says: I let the raft go. My own brother was on it, needs: 5}
    reacts:
      - {when: killed pack, says: I hear the bones lie still. Thank you, trust: 2}
  brand:
    name: Captain Brand
    seen_as: a man in a wet coat
    knows:
      - {about: ledger, says: That book is mine}
items:
  silver_key: {name: silver key, worth: 10, looks: a key with a bird on it}
  ledger: {name: black ledger, looks: Its pages stick together.}
quests:
  rats:
    name: The Miller's Book
    giver: maren
    offer: Bring me the miller's book, and you shall have my savings.
    goal: Bring the black ledger to Maren
    reward: {gold: 30, xp: 400}
    steps:
      find: {text: You hold the black ledger, when: has ledger}
    endings:
      home: {when: step rats.find done and at ferry, by: maren, text: So he did write it down}
happenings:
  - key: flood
    when: rounds 40
    text: Water comes down the valley.
    thread: {kind: threat, text: the water rises}
  - key: captain
    when: met maren
    at: island
    text: A man wades ashore on the island.
    moves: {brand: ferry}
"""


def mill() -> Module:
    return load(MILL)


def hero(name: str, char_class: str, **fields: Any) -> Character:
    sheet: dict[str, Any] = {"level": 2, "hp": 20, "equipment": ["longsword", "6 torches"], **fields}
    return character(name, char_class, **sheet)


class Bench:
    """Plays steps by hand. `log` holds every drafted event, in order."""

    def __init__(
        self, module: Module | None = None, *, seed: int = 1, heroes: tuple[Character, ...] = ()
    ) -> None:
        self.modules = [module or mill()]
        self.seed, self.round = seed, 0
        self.tables: dict[str, Table] = {DM: Table()}
        self.log: list[GameEvent] = []
        self.dm_bot = HouseDM()
        party = heroes or (hero("Throk", "Fighter"), hero("Zara", "Thief"))
        step = self.step(SETUP)
        note = GameNote(seed=seed, module="mill", dm="house", players="house", seats=len(party), budget=2_000)
        step.add(EventType.SESSION_START, "We sit down.", play={"game": note.model_dump()})
        start = f"loc_{self.modules[0].start}_001"
        for seat, one in enumerate(party, 1):
            referee.seat_character(
                step, one, seat=seat, temper="wry", goal="company", place=start, text=f"{one.name}."
            )
        self.done(step)

    def module(self, number: int) -> Module | None:
        return self.modules[number] if number < len(self.modules) else None

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self.dm_bot.leads(table, place, way)

    def step(self, name: str) -> Step:
        return Step(
            name,
            seed=self.seed,
            round_=self.round,
            session="s01",
            tables=self.tables,
            rng=seeded_rng(self.seed, self.round, name),
            leads=self.leads,
        )

    def done(self, step: Step) -> list[GameEvent]:
        self.log += step.events
        return step.events

    @property
    def table(self) -> Table:
        return self.tables[DM]

    def dm(self) -> list[GameEvent]:
        """Begin the next round with the DM's step."""
        self.round += 1
        step = self.step(DM_STEP)
        self.dm_bot.run(self.screen(step))
        return self.done(step)

    def screen(self, step: Step) -> Screen:
        nothing: Context = None  # type: ignore[assignment]  # the house needs no prompt
        return Screen(step=step, module=self.module, prompt=nothing, rng=step.rng, seed=self.seed)

    def act(self, who: str, verb: Verb, **fields: Any) -> None:
        uid = f"pc_{who}_001"
        step = self.step(uid)
        referee.record_act(step, uid, Act(verb=verb, **{"words": "I do.", **fields}))
        self.done(step)
        if self.table.declared is not None:
            step = self.step(f"referee {uid}")
            referee.resolve_declared(step)
            self.done(step)

    def march(self) -> None:
        step = self.step(MARCH)
        referee.march(step)
        self.done(step)

    def go(self, way: str, *who: str) -> list[GameEvent]:
        """Move characters along a way and let the DM tell the place. The others stay."""
        for one in ("throk", "zara"):
            uid = f"pc_{one}_001"
            if one in (who or ("throk", "zara")):
                self.act(one, Verb.GO, what=way)
            elif self.table.can_act(uid):
                self.act(one, Verb.STAY)
        self.march()
        return self.dm()

    def ask(self, who: str, verb: Verb, **fields: Any) -> list[GameEvent]:
        """Record an act and let the DM answer it."""
        self.act(who, verb, **fields)
        return self.dm()

    def folded(self) -> dict[str, Table]:
        """Fold the tables again from the whole log."""
        tables: dict[str, Table] = {DM: Table()}
        for event in self.log:
            deliver_event(event, tables)
        return tables


def words(events: list[GameEvent]) -> str:
    return " ".join(event.content for event in events)


def fight_on(bench: Bench, place: str) -> None:
    """Let everybody strike, round after round, until the fight is over."""
    for _ in range(40):
        for uid in bench.table.order():
            fight = bench.table.fights.get(place)
            if fight is None:
                return
            if uid in bench.table.seats and bench.table.can_act(uid):
                bench.act(uid.split("_")[1], Verb.ATTACK, target=next(iter(fight.standing)))
            elif uid in fight.standing:
                step = bench.step(uid)
                referee.foes_act(step, uid)
                bench.done(step)
        bench.dm()
    raise AssertionError("the fight does not end")
