"""What every outcome promises: its dice, one line, a JSON form, and the same for the same chance."""

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots import rules
from dndbots.rules import Combatant, Outcome, SaveKind, monster, ready_made, spell

THROK, ZARA, MAREN, QUILLON, *_ = ready_made()
OUTCOMES: dict[str, Callable[[random.Random], Outcome]] = {
    "attack": lambda rng: rules.attack(hero(THROK), foe("ghoul"), rng=rng),
    "bitten": lambda rng: rules.attack(foe("viper"), hero(THROK), rng=rng),
    "breath": lambda rng: rules.breathe(foe("dragon"), monster("dragon").breath, [hero(ZARA)], rng=rng),
    "damage": lambda rng: rules.damage(hero(ZARA), "2d6", rng=rng, reason="a fall"),
    "initiative": lambda rng: rules.initiative([hero(ZARA), hero(THROK), foe("orc")], rng=rng),
    "morale": lambda rng: rules.morale(7, rng=rng),
    "save": lambda rng: rules.save(hero(ZARA), SaveKind.SPELLS, rng=rng, bonus=1),
    "ability": lambda rng: rules.ability_check(THROK, "str", rng=rng),
    "door": lambda rng: rules.open_door(THROK, rng=rng),
    "listen": lambda rng: rules.listen(ZARA, rng=rng),
    "search": lambda rng: rules.search(ZARA, rng=rng),
    "skill": lambda rng: rules.skill_check(ZARA, "open locks", rng=rng),
    "surprise": lambda rng: rules.surprise("the party", rng=rng),
    "reaction": lambda rng: rules.reaction(rng=rng, charisma=16),
    "sleep": lambda rng: rules.cast(spell("sleep"), hero(QUILLON), [foe("orc"), foe("ogre")], rng=rng),
    "cure": lambda rng: rules.cast(spell("cure wounds"), hero(MAREN), [hero(ZARA).hurt(3)], rng=rng),
    "turning": lambda rng: rules.turn_undead(MAREN, [foe("skeleton"), foe("zombie")], rng=rng),
    "dying": lambda rng: rules.death_watch(hero(ZARA).hurt(6), rng=rng),
    "binding": lambda _rng: rules.bind_wounds(hero(ZARA).hurt(6)),
    "rest": lambda rng: rules.rest(THROK, rng=rng, nights=2),
    "level up": lambda rng: rules.level_up(THROK, rng=rng),
    "level lost": lambda rng: rules.lose_level(THROK, rng=rng),
    "hoard": lambda rng: rules.hoard("H", rng=rng),
    "purse": lambda rng: rules.purse(monster("ogre"), rng=rng),
}


def hero(sheet) -> Combatant:
    return Combatant.of_character(sheet)


def foe(name: str) -> Combatant:
    return Combatant.of_monster(monster(name))


@pytest.mark.parametrize("name", OUTCOMES)
@given(seed=st.integers(0, 2**32))
def test_an_outcome_is_told_recorded_and_repeatable(name: str, seed: int) -> None:
    """One line; JSON with every roll; the same for the same seed, and global chance untouched."""
    before = random.getstate()
    outcome = OUTCOMES[name](random.Random(seed))
    assert OUTCOMES[name](random.Random(seed)) == outcome
    assert random.getstate() == before
    assert outcome.text.strip()
    assert "\n" not in outcome.text
    data = outcome.as_data()
    assert json.loads(json.dumps(data)) == data
    assert data["text"] == outcome.text
    assert [made["total"] for made in data["rolls"]] == [made.total for made in outcome.rolls]


@pytest.mark.parametrize("name", OUTCOMES)
@given(seed=st.integers(0, 2**32))
def test_an_outcome_has_all_the_dice_that_were_thrown(name: str, seed: int) -> None:
    """Nobody rolls behind the log's back: as many dice are recorded as chance was asked for."""
    rng = _Counting(seed)
    outcome = OUTCOMES[name](rng)
    thrown = sum(len(die.rolled) for made in outcome.rolls for die in made.dice)
    assert thrown == rng.asked


class _Counting(random.Random):
    asked = 0

    def randint(self, a: int, b: int) -> int:
        self.asked += 1
        return super().randint(a, b)


def test_what_is_inside_does_not_repeat_its_rolls() -> None:
    """An event holds each roll once, and no combatant whole."""
    data = OUTCOMES["bitten"](random.Random(11)).as_data()
    assert data["effect"]["kind"] == "poison"
    assert "rolls" not in data["effect"]
    assert "target_after" not in data
    assert len(json.dumps(OUTCOMES["attack"](random.Random(1)).as_data())) < 1_500
