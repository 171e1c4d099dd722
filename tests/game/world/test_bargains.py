"""Bargains with givers and sellers, purchases, and what comes of using things of the adventure."""

import pytest
from tests.game.world.scenes import MILL, Bench, hero, words

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Attempt, Verb
from dndbots.game.adventures import load
from dndbots.game.adventures.library import load_named
from dndbots.game.input.game_answers import answer_question
from dndbots.game.input.meanings import Understanding
from dndbots.game.world.dealings.bargains import read_demand
from dndbots.game.world.dealings.trade import COPPERS, find_ware

MAREN, RATS = "npc_maren_001", "qst_rats_001"
THROK, ZARA = "pc_throk_001", "pc_zara_001"
BARGAINING = MILL.replace("reward: {gold: 30, xp: 400}", "reward: {gold: 30, most: 40, xp: 400}").replace(
    "    voice: gruff\n    trust: 3\n",
    "    voice: gruff\n    trust: 9\n    patience: 3\n    wares: {smoked eel: 3 cp, rope: 4 gp, bed: 5 cp}\n",
)


def ferry(text: str = BARGAINING, *, seed: int = 1) -> Bench:
    """A party before Maren, who has offered her quest."""
    heroes = (hero("Throk", "Fighter", gold=20), hero("Zara", "Thief"))
    bench = Bench(load(text), seed=seed, heroes=heroes)
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="work")
    return bench


def say(
    bench: Bench, text: str, *, verb: Verb = Verb.TELL, who: str = "throk", what: str | None = None
) -> list[GameEvent]:
    return bench.ask(who, verb, target=MAREN, what=what, words=text)


def bargain(bench: Bench, text: str) -> int:
    """Ask for more until somebody is lucky or patience ends. Return what is agreed."""
    for _ in range(3):
        say(bench, text)
    return agreed(bench)


def agreed(bench: Bench) -> int:
    found = [beat for beat in bench.table.beats if beat.startswith("agreed:rats/")]
    return max((int(beat.rpartition("/")[2]) for beat in found), default=30)


def lucky(text: str, *, most: int) -> Bench:
    """The first game in which a bargain is won."""
    for seed in range(20):
        bench = ferry(seed=seed)
        if bargain(bench, text) == most:
            return bench
    raise AssertionError("nobody won a bargain in twenty games")


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("Sixty is an insult. Eighty or we walk", 80),
        ("fifty is too little, make it seventy", 70),
        ("I want 80 gold", 80),
        ("sixty then?", 60),
        ("double it", 60),
    ],
)
def test_what_is_asked_for_is_read_in_any_words(said: str, gold: int) -> None:
    demand = read_demand(said)
    assert demand is not None
    assert demand.above(30) == gold


@pytest.mark.parametrize(
    "said",
    [
        "How much is the reward?",
        "I have a hundred gold, where can I buy a horse?",
        "two of them went down the well last night",
        "tell me more about the nine sleepers",
        "who are you?",
    ],
)
def test_a_question_is_no_bargain(said: str) -> None:
    assert read_demand(said) is None


def test_a_won_bargain_is_what_the_quest_pays() -> None:
    """The giver says it, canon has it, the list of quests shows it, and the purse feels it in the end."""
    bench = lucky("thirty is an insult, make it forty", most=40)
    assert bench.tables[THROK].fact(RATS, "reward") == "40 gold"
    assert "orty gold" in words(say(bench, "What will you pay us?", verb=Verb.ASK, what="the pay"))
    quests = Understanding(verb="meta", question="quests")
    assert "The reward is 40 gold." in answer_question(bench.tables[THROK], THROK, quests)
    before = sum(bench.table.fact(who, "gold") for who in (THROK, ZARA))
    step = bench.step("referee")
    step.add(EventType.LOOT, "A book.", loot=[{"item": "black ledger", "to": THROK}])
    bench.done(step)
    told = words(bench.dm())
    assert "40 gold" in told
    assert sum(bench.table.fact(who, "gold") for who in (THROK, ZARA)) == before + 40


def test_nobody_pays_more_than_they_have() -> None:
    """Who asks for the moon gets what the module sets as the most, or nothing more."""
    for seed in range(12):
        assert bargain(ferry(seed=seed), "a thousand gold, or we walk") in (30, 40)


def test_patience_ends() -> None:
    """After so many tries no dice are rolled any more, and the giver likes the party less."""
    for seed in range(20):
        bench = ferry(BARGAINING.replace("trust: 9", "trust: 1"), seed=seed)
        if bargain(bench, "make it forty") == 30:
            break
    assert bench.table.fact(MAREN, "reputation") == -1
    again = say(bench, "make it forty")
    assert not any("rolls" in str(event.metadata.get("game", "")) for event in again)
    assert agreed(bench) == 30


def test_a_word_that_was_given_holds() -> None:
    """After the promise nothing can be bargained for."""
    bench = ferry()
    bench.ask("throk", Verb.ACCEPT, what=RATS)
    told = words(say(bench, "make it forty"))
    assert agreed(bench) == 30
    assert "thirty gold" in told


def test_no_to_the_price_is_no_refusal() -> None:
    """ "No, not for thirty. Forty" leaves the quest open."""
    bench = ferry()
    say(bench, "no, not for thirty gold. forty gold", verb=Verb.REFUSE, what=RATS)
    assert bench.table.fact(RATS, "state") == "offered"


def test_who_may_pay_no_more_says_so_without_dice() -> None:
    """A check is rolled only where there is something to win."""
    bench = ferry(BARGAINING.replace("most: 40", "most: 30"))
    assert bargain(bench, "make it forty") == 30
    assert "d20" not in str([event.metadata for event in bench.log])


def test_coppers_come_out_of_a_gold_piece_once() -> None:
    """A sheet has whole gold pieces; the change of a broken one stays with its owner."""
    bench = ferry()
    gold = bench.table.fact(THROK, "gold")
    told = words(bench.ask("throk", Verb.BUY, target=MAREN, what="eel"))
    assert "three coppers" in told.casefold()
    assert bench.table.fact(THROK, "gold") == gold - 1
    assert bench.table.fact(THROK, COPPERS) == 97
    bench.ask("throk", Verb.BUY, target=MAREN, what="a bed for the night")
    assert bench.table.fact(THROK, "gold") == gold - 1
    assert bench.table.fact(THROK, COPPERS) == 92


def test_a_price_beaten_down_is_paid() -> None:
    """A quarter off, once, for what costs gold."""
    for seed in range(20):
        bench = ferry(BARGAINING.replace("    giver: maren\n", ""), seed=seed)
        for _ in range(3):
            say(bench, "that is too expensive, I offer you two gold")
        if "cheaper:maren" in bench.table.beats:
            break
    gold = bench.table.fact(THROK, "gold")
    bench.ask("throk", Verb.BUY, target=MAREN, what="rope")
    assert bench.table.fact(THROK, "gold") == gold - 3
    assert "rope" in bench.table.items(THROK)


def test_every_ware_of_the_adventures_is_sold_by_its_name() -> None:
    for name in ("apples_in_january", "the_unpaid_bridge"):
        for person in load_named(name).people.values():
            assert {found.name for ware in person.wares if (found := find_ware(person, ware))} == {
                *person.wares
            }


@pytest.mark.parametrize(
    ("wanted", "name", "price"),
    [
        ("two ales", "two beers", 4),
        ("two ales and one", "three beers", 6),
        ("beer", "beer", 2),
        ("a stew", "stew", 3),
        ("a bed for two", "bed", 5),
        ("500 beers", "beer", 2),
    ],
)
def test_so_many_are_served_as_are_ordered(wanted: str, name: str, price: int) -> None:
    """A round for all costs as much; nobody is sold two beds, or a lake of beer."""
    ware = find_ware(load_named("the_unpaid_bridge").people["marda"], wanted)
    assert ware is not None
    assert (ware.name, ware.price) == (name, price)


APPLE = BARGAINING.replace(
    "items:\n  silver",
    "items:\n  apple: {name: red apple, use: Who eats it sleeps., causes: asleep, rounds: 2}\n  silver",
)


def eat(item: str) -> tuple[Bench, str]:
    """A game in which Throk eats what he carries, and what is told of it."""
    bench = Bench(load(APPLE), heroes=(hero("Throk", "Fighter", equipment=["red apple", "black ledger"]),))
    bench.dm()
    attempt = Attempt(approach="eat", ability="dex", level="none")
    return bench, words(bench.ask("throk", Verb.USE, what=item, attempt=attempt))


def test_who_eats_what_makes_sleepy_falls_asleep() -> None:
    """What the adventure says of a thing is what happens; it is gone, and the effect ends."""
    bench, told = eat("red apple")
    assert "Who eats it sleeps." in told
    assert "red apple" not in bench.table.items(THROK)
    assert "asleep" in bench.table.conditions(THROK)
    assert bench.table.until[THROK]["asleep"] == bench.round + 2


def test_what_is_no_food_is_not_eaten() -> None:
    """A book stays on the sheet."""
    bench, _ = eat("black ledger")
    assert "black ledger" in bench.table.items(THROK)
    assert not bench.table.conditions(THROK)


@pytest.mark.parametrize("said", ["good day, one eel please", "I'd like a bed", "give us a smoked eel"])
def test_an_order_in_a_remark_is_a_purchase(said: str) -> None:
    """Who greets and orders in one breath gets what they ordered, and pays."""
    bench = ferry()
    say(bench, said)
    assert bench.table.fact(THROK, COPPERS) in (97, 95)


def test_a_polite_question_about_a_ware_is_no_order() -> None:
    bench = ferry()
    say(bench, "please tell me about the eel", verb=Verb.ASK, what="eel")
    assert bench.table.fact(THROK, COPPERS) is None


def test_a_remark_about_a_ware_is_no_order() -> None:
    """Praise costs nothing."""
    bench = ferry()
    say(bench, "that eel smells wonderful")
    assert bench.table.fact(THROK, COPPERS) is None
