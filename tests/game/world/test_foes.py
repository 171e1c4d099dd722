"""Foes: where they stand, how the party can deal with them, and how many are left."""

import pytest
from tests.game.world.scenes import MILL as MILL_TEXT
from tests.game.world.scenes import Bench, fight_on, hero, words

from dndbots.campaign import Campaign
from dndbots.canon import claims
from dndbots.game.acts import Verb
from dndbots.game.adventures import load
from dndbots.game.input.person_player import parse_line
from dndbots.game.state.options import list_options
from dndbots.game.state.pieces import FoeGroup, left_of
from dndbots.game.world.narration import first_clause
from dndbots.ids import DM
from dndbots.testing import memory_campaign

THROK, ZARA = "pc_throk_001", "pc_zara_001"
YARD, MILL = "loc_yard_001", "loc_mill_001"
TOLL = "mon_toll_001"
STRONG = (
    hero("Throk", "Fighter", hp=90, hp_max=90, level=8),
    hero("Zara", "Thief", hp=60, hp_max=60, level=8),
)


def in_the_yard(*who: str, seed: int = 1) -> Bench:
    """Bring a party, or some of it, before goblins who only watch."""
    bench = Bench(seed=seed, heroes=STRONG)
    bench.dm()
    bench.go("mill path")
    while "opened:mill/back door" not in bench.table.beats:
        bench.ask("throk", Verb.OPEN, what="back door")
    bench.go("back door", *who)
    return bench


def recorded(bench: Bench) -> Campaign:
    campaign = memory_campaign()
    campaign.record_many(bench.log)
    return campaign


def test_foes_who_only_watch_stand_where_they_were_met() -> None:
    """Canon places them for everybody who sees them, whatever their reaction."""
    bench = in_the_yard()
    assert [bench.tables[who].place(TOLL) for who in (DM, THROK, ZARA)] == [YARD] * 3
    campaign = recorded(bench)
    assert [campaign.entity(TOLL, viewer=who).location for who in (DM, THROK, ZARA)] == [YARD] * 3


def test_foes_who_only_watch_can_be_attacked() -> None:
    """An offered option is allowed: the first blow starts the fight."""
    bench = in_the_yard()
    assert any(
        one.verb is Verb.ATTACK and one.target == TOLL for one in list_options(bench.tables[THROK], THROK)
    )
    assert parse_line(bench.tables[THROK], THROK, "attack the toll goblins").target == TOLL
    told = bench.ask("throk", Verb.ATTACK, target=TOLL)
    assert YARD in bench.table.fights, words(told)
    assert bench.table.fights[YARD].foes[TOLL].number == 3


def test_who_comes_later_sees_the_foes_and_how_many_there_are() -> None:
    """A character who joins later finds the foes in place and can strike."""
    bench = in_the_yard("throk")
    bench.go("back door", "zara")
    assert bench.table.place(ZARA) == YARD
    if YARD not in bench.table.fights:
        assert bench.tables[ZARA].place(TOLL) == YARD
        bench.act("zara", Verb.ATTACK, target=TOLL)
    assert bench.tables[ZARA].fact(TOLL, claims.NUMBER) == 3
    assert recorded(bench).entity(TOLL, viewer=ZARA).location == YARD


@pytest.mark.parametrize("seed", range(1, 7))
def test_foes_who_were_settled_with_are_gone(seed: int) -> None:
    """Paid, talked to or driven off: they no longer stand there, and cannot be attacked."""
    bench = in_the_yard(seed=seed)
    for _ in range(30):
        if bench.table.beats & {"spared:toll", "killed:toll"}:
            break
        if YARD in bench.table.fights:
            fight_on(bench, YARD)
        else:
            bench.ask("throk", Verb.PARLEY, target=TOLL, words="We pay.")
    assert bench.table.beats & {"spared:toll", "killed:toll"}
    alive = bench.table.alive(TOLL)
    campaign = recorded(bench)
    for who in (DM, THROK, ZARA):
        assert bench.tables[who].place(TOLL) == (None if alive else YARD)
        assert campaign.entity(TOLL, viewer=who).location == (None if alive else YARD)
    assert not any(one.target == TOLL for one in list_options(bench.tables[THROK], THROK))


def test_a_group_that_loses_some_is_counted() -> None:
    """Who still fights is told by number: one of the three; a whole group and a single foe go by name."""
    group = FoeGroup("goblin", "rime goblins", 3)
    assert left_of(group, 3) == "the rime goblins"
    group.number = 1
    assert left_of(group, 3) == "one of the three rime goblins"
    assert left_of(FoeGroup("shadow", "the founder's shadow", 1), 1) == "the founder's shadow"


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ('Under the pints: "G. Aske, 3 barrels, NOT for here." It is underlined.', None),
        ('"Fresh grease", it says. "Who greases a wedge?"', '"Fresh grease", it says'),
        ('"I was in bed. Alone." He looks away.', "I was in bed. Alone"),
        ("A good year. Never better.", "a good year"),
    ],
)
def test_a_gist_does_not_cut_a_quotation(text: str, clause: str | None) -> None:
    """The first sentence of a text ends neither inside a quotation nor after an initial."""
    found = first_clause(text)
    assert found.count('"') % 2 == 0
    assert clause is None or found == clause


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("rime goblins of the mill", "rime goblin of the mill"),
        ("wolves", "wolf"),
        ("giant flies", "giant fly"),
        ("goblins with shopping baskets", "goblin with shopping baskets"),
        ("the founder's shadow", "the founder's shadow"),
    ],
)
def test_one_of_a_group_keeps_the_name_of_the_group(name: str, one: str) -> None:
    """A fight calls foes by the name that was heard: one of the rime goblins is a rime goblin."""
    assert FoeGroup("goblin", name, 2).one == one


def test_foes_who_make_peace_say_what_they_know() -> None:
    """What the adventure lets them say is told once, and that they leave."""
    text = MILL_TEXT.replace(
        "says: Nobody goes on without paying", "says: [Halt there, The count pays us in hay]"
    )
    for seed in range(20):
        bench = Bench(load(text), seed=seed)
        bench.dm()
        bench.go("mill path")
        bench.ask("throk", Verb.OPEN, what="back door")
        if bench.dm_bot.leads(bench.table, "loc_mill_001", "back door") is None:
            continue
        bench.go("back door")
        told = words(bench.ask("throk", Verb.PARLEY, target="mon_toll_001"))
        if "spared:toll" in bench.table.beats and "gold" not in told:
            assert "The count pays us in hay" in told
            assert any(one in told.splitlines()[-1] for one in ("gone", "turn", "leav", "out of sight"))
            assert TOLL not in bench.tables[THROK].sights[YARD].people
            return
    raise AssertionError("nobody made peace in twenty games")


def at_the_toll(seed: int) -> Bench | None:
    """A party before the toll goblins, if the door gave way at once."""
    bench = Bench(seed=seed)
    bench.dm()
    bench.go("mill path")
    bench.ask("throk", Verb.OPEN, what="back door")
    if bench.dm_bot.leads(bench.table, "loc_mill_001", "back door") is None:
        return None
    bench.go("back door")
    return bench


def test_nobody_pays_who_did_not_say_so() -> None:
    """A player who only asks is told the price; who then agrees pays it, without another roll of dice."""
    asked = 0
    for seed in range(60):
        bench = at_the_toll(seed)
        if bench is None:
            continue
        before = bench.table.fact(THROK, "gold", 0)
        bench.ask("throk", Verb.PARLEY, target="mon_toll_001", words="What do you want?")
        assert bench.table.fact(THROK, "gold", 0) == before
        if "priced:mon_toll_001" not in bench.table.beats:
            continue
        bench.ask("throk", Verb.PARLEY, target="mon_toll_001", words="Very well, here is your gold.")
        price = before - bench.table.fact(THROK, "gold", 0)
        if "friendly:toll" not in bench.table.beats:  # who took to the party meanwhile takes nothing
            assert price == 15
            assert "spared:toll" in bench.table.beats
            asked += 1
    assert asked


def test_one_of_several_is_told_as_one() -> None:
    """A group whose number comes out as one goes by the singular of its name."""
    text = MILL_TEXT.replace(
        "monster: goblin, number: 3, name: toll goblins", "monster: goblin, number: 1, name: toll goblins"
    )
    for seed in range(30):
        bench = Bench(load(text), seed=seed)
        bench.dm()
        bench.go("mill path")
        bench.ask("throk", Verb.OPEN, what="back door")
        if bench.dm_bot.leads(bench.table, "loc_mill_001", "back door") is not None:
            told = words(bench.go("back door")).casefold()
            assert "toll goblin " in told
            assert "toll goblins" not in told
            return
    raise AssertionError("no door gave way")
