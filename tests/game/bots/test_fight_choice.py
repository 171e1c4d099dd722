"""House players in a fight: choices by class, temper and odds."""

from collections import Counter

import pytest
from tests.game.bots.board import TEMPERS, Board, pc

from dndbots.events import EventType
from dndbots.game import referee
from dndbots.game.acts import Act, Verb
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.spell_choice import SpellChooser
from dndbots.rules.fights.spells import all_spells

WAYS = {"cave": {"out": "wood", "deeper": "pit"}, "wood": {"in": "cave"}, "pit": {"up": "cave"}}


def fighting(tempers: tuple[str, ...], *, seed: int = 0, classes: tuple[str, ...] = (), **foes: int) -> Board:
    board = Board(WAYS, tempers=tempers, classes=classes, seed=seed)
    board.round()
    board.begin_round()
    for who in board.table.living():
        board.tell("Back in the cave.", place="cave", participants=[who])
    board.begin_round()
    board.fight("cave", **foes)
    return board


def ready(board: Board, who: str, *spells: str) -> None:
    facts = [{"subject": who, "key": "spells_ready", "value": [*spells]}]
    board.tell("A spell.", place="cave", witnesses=[who], facts=facts)


def verbs(temper: str, count: int = 40, **foes: int) -> Counter[Verb]:
    """Return what the first of three does at the start of a fight."""
    boards = (fighting((temper, "wry", "wry"), seed=seed, **foes) for seed in range(count))
    return Counter(board.decide(pc(0)).verb for board in boards)


@pytest.mark.parametrize("temper", TEMPERS)
def test_a_fight_that_can_be_won_is_fought(temper: str) -> None:
    """Beasts that are no match for a party are struck, by every temper."""
    assert verbs(temper, giant_rat=2) == {Verb.ATTACK: 40}


def test_the_kind_talk_where_the_brave_strike() -> None:
    """With foes that have a language, words come first for some."""
    kind, brave = verbs("kind", goblin=3), verbs("brave", goblin=3)
    assert kind[Verb.PARLEY] > 2 * brave[Verb.PARLEY]
    assert brave[Verb.ATTACK] > kind[Verb.ATTACK]


@pytest.mark.parametrize("foes", [{"skeleton": 3}, {"wolf": 2}])
def test_nobody_talks_to_beasts_and_the_dead(foes: dict[str, int]) -> None:
    """Beasts and undead cannot be talked to."""
    for temper in TEMPERS:
        assert Verb.PARLEY not in verbs(temper, 15, **foes)


def test_nobody_talks_twice() -> None:
    """Nobody talks again while an answer is due."""
    board = fighting(("kind", "kind", "kind"), goblin=3)
    board.record(pc(0), Act(verb=Verb.PARLEY, target="mon_goblin_001", words="Peace!"))
    assert board.decide(pc(1)).verb is not Verb.PARLEY


def test_nobody_runs_who_cannot_move() -> None:
    """A character caught in a web fights and does not try what the rules refuse."""
    for seed in range(10):
        board = fighting(("careful", "wry", "wry"), seed=seed, ogre=6)
        board.tell("A web.", place="cave", participants=[pc(0)], conditions={pc(0): ["entangled"]})
        assert board.decide(pc(0)).verb is not Verb.FLEE


def test_nobody_casts_who_cannot_speak() -> None:
    """A spell that is ready waits until it can be cast."""
    board = fighting(("wry", "wry"), classes=("Magic-User", "Fighter"), wolf=3)
    ready(board, pc(0), "Sleep")
    assert board.decide(pc(0)).verb is Verb.CAST
    board.tell("A hush.", place="cave", participants=[pc(0)], conditions={pc(0): ["silenced"]})
    assert board.decide(pc(0)).verb is not Verb.CAST


def test_who_cannot_win_runs_and_the_brave_run_last() -> None:
    """Against far too many, the careful take the way out; the brave stand where others run."""
    assert verbs("careful", ogre=6)[Verb.FLEE] == 40
    assert verbs("careful", ogre=4)[Verb.FLEE] > verbs("brave", ogre=4)[Verb.FLEE]


def test_sleep_is_cast_on_many_weak_foes_and_not_on_the_dead() -> None:
    """A spell goes where it works."""
    board = fighting(("brave", "wry"), classes=("Magic-User",), kobold=5)
    ready(board, pc(0), "Sleep", "Light")
    act = board.decide(pc(0))
    assert (act.verb, act.what, act.target) == (Verb.CAST, "Sleep", "mon_kobold_001")
    dead = fighting(("brave", "wry"), classes=("Magic-User",), skeleton=5)
    ready(dead, pc(0), "Sleep")
    assert dead.decide(pc(0)).what != "Sleep"


def test_a_cleric_heals_a_friend_who_is_down() -> None:
    """A cure goes to who needs it most, in the middle of the fight."""
    board = fighting(("careful", "wry", "wry"), classes=("Cleric",), giant_rat=2)
    ready(board, pc(0), "Cure Wounds")
    board.fall(1)
    act = board.decide(pc(0))
    assert (act.verb, act.target) == (Verb.CAST, pc(1))


def test_one_friend_is_enough_to_bind_a_friend() -> None:
    """A single character helps a dying friend; the others fight."""
    board = fighting(("kind", "kind", "kind"), giant_rat=3)
    board.fall(2)
    chosen = []
    for who in (pc(0), pc(1)):
        act = board.decide(who)
        chosen.append(act.verb)
        step = board.step(who)
        referee.record_act(step, who, act)
        board.done(step)
    assert chosen.count(Verb.BIND) == 1


def test_a_group_that_is_nearly_done_is_finished() -> None:
    """Of two groups, the one with a single foe left is struck first."""
    for seed in range(10):
        board = fighting(("wry", "wry"), seed=seed, giant_rat=1, wolf=4)
        act = board.decide(pc(0))
        assert (act.verb, act.target) == (Verb.ATTACK, "mon_giant_rat_001") or act.verb is Verb.FLEE


def test_who_comes_late_joins_in() -> None:
    """A friend who walks into a fight fights, without having seen it begin."""
    board = Board(WAYS, tempers=("brave", "wry"))
    board.begin_round()
    board.record(pc(0), Act(verb=Verb.GO, what="out"))
    board.record(pc(1), Act(verb=Verb.STAY))
    board.march()
    board.begin_round()
    board.fight("cave", giant_rat=20)
    board.record(pc(0), Act(verb=Verb.GO, what="in"))
    board.record(pc(1), Act(verb=Verb.ATTACK, target="mon_giant_rat_001"))
    board.march()
    board.begin_round()
    board.record(pc(1), Act(verb=Verb.ATTACK, target="mon_giant_rat_001"))
    assert board.decide(pc(0)).verb is Verb.ATTACK


def test_a_fight_one_ran_from_is_not_fought_for_ever() -> None:
    """A character who returns to a battlefield sees that the fight is over."""
    board = fighting(("careful", "wry"), giant_rat=2)
    board.record(pc(0), Act(verb=Verb.FLEE, what="out"))
    assert board.table.place(pc(0)) == "loc_wood_001"
    board.tell("It is over.", place="cave", kind=EventType.COMBAT_END, play={"ended": "won"})
    board.begin_round()
    board.record(pc(0), Act(verb=Verb.GO, what="in"))
    board.march()
    board.begin_round()
    assert board.decide(pc(0)).verb is not Verb.ATTACK


def test_every_spell_of_the_rules_can_be_weighed() -> None:
    """The chooser handles every spell that a caster may have ready."""
    board = fighting(("brave", "wry"), classes=("Magic-User",), goblin=4)
    ready(board, pc(0), *(one.name for one in all_spells()))
    mind = Mind(board.turn(pc(0)))
    fight = mind.fight
    assert fight is not None
    cast = SpellChooser(mind).in_fight(fight, danger=2.0)
    assert cast is not None
    assert cast.worth > 1
    assert SpellChooser(mind).cure() == "Cure Wounds"
    assert SpellChooser(mind).light() == "Light"


def test_foes_whom_no_blow_harms_are_left_alone() -> None:
    """A blow that hits and does nothing is told as such, and those who saw it run, the brave ones too."""
    for seed in range(40):
        board = fighting(("brave", "brave", "brave"), seed=seed, shadow=1)
        board.record(pc(0), Act(verb=Verb.ATTACK, target="mon_shadow_001", words="Take this!"))
        blow = board.log[-1]
        if "unharmed:mon_shadow_001" in str(blow.metadata["play"]):
            break
    assert "hits, but" in str(blow.metadata["play"])
    assert not set(blow.metadata) & {"killed", "wounds"}
    assert board.decide(pc(1)).verb is Verb.FLEE
