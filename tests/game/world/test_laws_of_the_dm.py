"""Laws of the house DM that hold for any acts of the players."""

import random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.world.scenes import Bench, hero, mill

from dndbots.campaign import Campaign
from dndbots.errors import ActRefused
from dndbots.events import GameEvent, audience
from dndbots.game import referee
from dndbots.game.acts import FOR_THE_DM, Act, Verb
from dndbots.game.state.game_notes import REFEREE
from dndbots.game.state.step import Step
from dndbots.game.state.table import PLAYER
from dndbots.game.world.atlas import Atlas
from dndbots.storage.in_memory import MemoryStore

_WHATS: Final = (
    *("chute", "stone", "news", "mill", "flood", "ledger", "qst_rats_001", "silver key", "6 torches"),
    *("", "{npc}", "[a|b]", "<oath>", "no such thing", "\u202ereversed", "x" * 200),
)
_TARGETS: Final = (None, "npc_maren_001", "npc_brand_001", "mon_toll_001", "pc_zara_001", "npc_nobody_009")
_VERBS: Final = (
    *sorted(FOR_THE_DM),
    Verb.GO,
    Verb.GO,
    Verb.GO,
    Verb.SEARCH,
    Verb.ATTACK,
    Verb.GIVE,
    Verb.STAY,
)
_PEOPLE: Final = Atlas(mill(), 0)


class Fuzzed(Bench):
    """Players who do anything. A campaign records every step and refuses invalid events."""

    def __init__(self, seed: int) -> None:
        self.campaign = Campaign(MemoryStore())
        party = (hero("Throk", "Fighter", hp=24), hero("Zara", "Thief", hp=6), hero("Bram", "Elf", hp=3))
        self.whim = random.Random(seed)
        super().__init__(seed=seed, heroes=party)

    def done(self, step: Step) -> list[GameEvent]:
        self.campaign.record_many(step.events)
        for event in step.events:
            self.check_names(event)
        return super().done(step)

    def check_names(self, event: GameEvent) -> None:
        """Check that everybody who hears a person's name knows it from then on."""
        for uid, name in _PEOPLE.mentions(event.content).items():
            for who in audience(event) if uid.startswith("npc_") else ():
                if who in self.tables and event.source == "dm":
                    assert self.tables[who].names.get(uid) is not None, (name, event.content)

    def play_round(self) -> None:
        assert self.dm()
        while (due := self.table.due()) is not None:
            if due.node == PLAYER:
                self.do_anything(due.who)
            elif due.node == REFEREE:
                declared = self.table.declared is not None
                step = self.step(f"{REFEREE} {due.who}" if declared else due.who)
                referee.resolve_declared(step) if declared else referee.foes_act(step, due.who)
                self.done(step)
            else:
                self.march()

    def do_anything(self, who: str) -> None:
        step = self.step(who)
        try:
            referee.record_act(step, who, self.whatever(who))
        except ActRefused:
            referee.record_act(step, who, Act(words="I wait."))
        self.done(step)

    def whatever(self, who: str) -> Act:
        """Return mostly something that exists, sometimes anything else."""
        own, whim = self.tables[who], self.whim
        place = self.table.place(who) or ""
        fight, sights = self.table.fights.get(place), own.sights.get(place)
        if fight is not None and fight.standing and whim.random() < 0.8:
            return Act(verb=Verb.ATTACK, words="I strike.", target=next(iter(fight.standing)))
        ways, things, people = (
            ([*sights.ways], [*sights.things], [*sights.people]) if sights else ([], [], [])
        )
        verb = whim.choice(_VERBS)
        known = ways if verb in (Verb.GO, Verb.OPEN, Verb.FLEE) else things or ways
        what = whim.choice(known if known and whim.random() < 0.7 else _WHATS).strip() or None
        target = whim.choice(people if people and whim.random() < 0.7 else _TARGETS)
        return Act(verb=verb, words="I try.", what=what, target=target)


@settings(max_examples=6)
@given(seed=st.integers(min_value=0, max_value=10**6))
def test_whatever_players_do_the_story_goes_on(seed: int) -> None:
    """No act breaks a step, nothing that is drafted is refused, and names are heard before they are known."""
    bench = Fuzzed(seed)
    for _ in range(60):
        bench.play_round()
    for name, table in bench.folded().items():
        assert table.beats == bench.tables[name].beats
        assert table.names == bench.tables[name].names
        assert table.sights == bench.tables[name].sights


@settings(max_examples=4)
@given(seed=st.integers(min_value=0, max_value=10**6))
def test_beats_that_nobody_saw_stay_with_the_dm(seed: int) -> None:
    """A player's beats are a subset of the DM's and hold no secret marks."""
    bench = Fuzzed(seed)
    for _ in range(45):
        bench.play_round()
    for who, table in bench.tables.items():
        if who != "dm":
            assert table.beats <= bench.table.beats
            assert not any(beat.startswith(("mark:", "happened:captain")) for beat in table.beats)
