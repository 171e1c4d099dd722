"""Fights: who hits, how much it hurts, who goes first, who runs."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.loaded import Loaded
from tests.table import character

from dndbots.errors import CannotAct, UnknownThing
from dndbots.rules.dice import bounds
from dndbots.rules.fights.attacks import attack, attack_all, breathe, damage, initiative, morale
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.monsters import all_monsters, monster
from dndbots.rules.fights.strikes import EffectRule, Strike

seeds = st.integers(0, 2**32)
monsters = st.sampled_from(all_monsters())


def fighter(**changes) -> Combatant:
    return replace(Combatant.of_character(character("Throk", "Fighter", equipment=["longsword"])), **changes)


def foe(name: str = "goblin", **changes) -> Combatant:
    return replace(Combatant.of_monster(monster(name)), **changes)


def test_an_attack_reads_as_its_numbers() -> None:
    """The d20, the bonus, what was needed, and the wound."""
    blow = attack(fighter(), foe(), rng=Loaded(14, 5))
    assert blow.text == (
        "Throk attacks Goblin (longsword): d20 14 + 2 = 16 against 13: hits; 1d8 (5) + 2 = 7 damage"
    )
    assert (blow.natural, blow.total, blow.needed, blow.hit, blow.damage) == (14, 16, 13, True, 7)
    assert blow.hp_after == blow.target_after.hp == foe().hp - 7
    assert [made.total for made in blow.rolls] == [14, 7]


@pytest.mark.parametrize(
    ("face", "ac", "hit"), [(11, 6, True), (10, 6, False), (20, -50, True), (1, 50, False), (2, 50, True)]
)
def test_the_number_decides_but_for_20_and_1(*, face: int, ac: int, hit: bool) -> None:
    """At the armour class or above; a 20 always hits, a 1 never does."""
    assert attack(fighter(), foe(ac=ac, hp=50), rng=Loaded(face, 3)).hit is hit


@given(monsters, monsters, seeds, st.integers(-5, 5))
def test_a_hit_does_damage_and_a_miss_does_none(attacker, target, seed: int, bonus: int) -> None:
    """At least 1, at most what the dice allow; and the target is changed by just that."""
    one, other = Combatant.of_monster(attacker), Combatant.of_monster(target)
    blow = attack(one, other, rng=random.Random(seed), bonus=bonus)
    taken = blow.damage + (blow.effect.damage if blow.effect else 0)
    assert blow.total == blow.natural + bonus + attacker.attack_bonus + attacker.strikes[0].bonus
    assert blow.hit == (blow.natural == 20 or (blow.natural > 1 and blow.total >= blow.needed))
    if blow.hit and not blow.harmless:
        assert 1 <= blow.damage <= max(1, bounds(attacker.strikes[0].damage)[1])
        assert blow.hp_after == other.hp - taken
    else:
        assert taken == 0
        assert blow.target_after == other


@given(monsters, seeds)
def test_a_round_stops_when_its_target_is_down(attacker, seed: int) -> None:
    """No blow falls on somebody whom the one before felled, and each starts where the last one ended."""
    target = fighter(hp=5)
    blows = attack_all(Combatant.of_monster(attacker), target, rng=random.Random(seed))
    assert 1 <= len(blows) <= sum(strike.number for strike in attacker.strikes)
    assert all(blow.hp_after > 0 for blow in blows[:-1])


def test_those_who_cannot_defend_themselves_are_hit() -> None:
    """Unless the d20 shows a 1; and pain wakes sleepers."""
    asleep = foe(ac=-50, hp=20, conditions=("asleep",))
    blow = attack(fighter(), asleep, rng=Loaded(2, 3))
    assert blow.hit
    assert blow.target_after.conditions == ()
    assert not attack(fighter(), asleep, rng=Loaded(1)).hit


def test_the_fallen_are_hit_like_the_sleeping() -> None:
    """Nobody at 0 hit points dodges."""
    assert attack(fighter(), foe(ac=-50, hp=0), rng=Loaded(2, 3)).hit


@pytest.mark.parametrize("state", [{"hp": 0}, {"conditions": ("held",)}, {"conditions": ("turned",)}])
def test_the_dead_do_not_act(state) -> None:
    """Nor those who are held or driven off; nothing is rolled for them."""
    with pytest.raises(CannotAct, match="Goblin cannot attack"):
        attack(foe(**state), fighter(), rng=Loaded())
    with pytest.raises(CannotAct, match="cannot use fiery breath"):
        breathe(foe("dragon", **state), monster("dragon").breath, [fighter()], rng=Loaded())


def test_whoever_strikes_is_seen() -> None:
    """The attack names the conditions that end with it."""
    assert attack(fighter(conditions=("invisible", "blessed")), foe(), rng=Loaded(2)).given_away == (
        "invisible",
    )


def test_conditions_bear_on_the_blow() -> None:
    """Blessed attackers hit more, invisible targets are hit less, the mighty hit harder."""
    plain = attack(fighter(), foe(), rng=Loaded(14, 5))
    blessed = attack(fighter(conditions=("blessed", "mighty")), foe(), rng=Loaded(14, 5))
    assert blessed.total == plain.total + 3
    assert blessed.damage == plain.damage + 2
    assert attack(fighter(), foe(conditions=("invisible",)), rng=Loaded(14)).needed == plain.needed + 4


def test_a_thief_strikes_from_behind() -> None:
    """+4 and double; for others it is a blow like any other."""
    zara = Combatant.of_character(character("Zara", "Thief", equipment=["dagger"]))
    behind = attack(zara, foe(), rng=Loaded(10, 4), backstab=True)
    before = attack(zara, foe(), rng=Loaded(14, 4))
    assert behind.total == before.total
    assert behind.damage == 2 * before.damage
    assert "times 2" in behind.text
    assert attack(fighter(), foe(), rng=Loaded(10, 4), backstab=True).total == 12


def test_some_are_hurt_by_silver_or_magic_only() -> None:
    """Plain steel hits and does nothing; what is asked for, or better, wounds."""
    for weapon, hurts in {"longsword": False, "silver dagger": True, "longsword +1": True}.items():
        throk = Combatant.of_character(character("Throk", "Fighter", equipment=[weapon]))
        blow = attack(throk, foe("werewolf"), rng=Loaded(19, *([3] if hurts else [])))
        assert blow.hit
        assert (blow.damage > 0) is hurts
        assert blow.harmless is not hurts
    silver = Combatant.of_character(character("Throk", "Fighter", equipment=["silver dagger"]))
    assert attack(silver, foe("shadow"), rng=Loaded(19)).harmless


def test_poison_comes_with_the_bite_and_is_saved_against() -> None:
    """A failed save adds the harm and the condition with its length; a save adds nothing."""
    spider = foe("giant spider")
    bitten = attack(spider, fighter(hp=20), rng=Loaded(18, 4, 2, 1, 2, 3))
    assert bitten.effect.condition == "poisoned"
    assert bitten.effect.rounds == 3 * 60
    assert bitten.hp_after == 20 - 4 - 3
    assert bitten.target_after.conditions == ("poisoned",)
    spared = attack(spider, fighter(hp=20), rng=Loaded(18, 4, 19))
    assert spared.effect.result == "saved"
    assert spared.hp_after == 16


def test_an_elf_is_immune_to_a_ghoul() -> None:
    """And a fighter is not."""
    elf = Combatant.of_character(character("Ilvane", "Elf"))
    assert attack(foe("ghoul"), elf, rng=Loaded(19, 2)).effect.result == "immune"
    assert attack(foe("ghoul"), fighter(), rng=Loaded(19, 2, 2, 3, 3)).target_after.conditions == ("held",)


def test_a_breath_takes_everyone_and_each_saves_alone() -> None:
    """Half for those who save, at least 1."""
    dragon = monster("dragon")
    fire = breathe(foe("dragon"), dragon.breath, [fighter(), foe()], rng=Loaded(20, *[2] * 7, 2, *[4] * 7))
    assert [effect.damage for effect in fire.effects] == [7, 28]
    assert fire.text.startswith("Young Dragon (fiery breath): ")


def test_weakness_doubles_and_immunity_stops() -> None:
    """Fire on a vine, fire on a dragon."""
    assert damage(foe("vine"), "1d6", rng=Loaded(4), kind="fire").amount == 8
    burned = damage(foe("dragon"), "1d6", rng=Loaded(4), kind="fire", reason="a torch")
    assert burned.amount == 0
    fallen = damage(fighter(hp=8), "2d6", rng=Loaded(4, 5), reason="a fall")
    assert fallen.text == "Throk takes 9 damage from a fall (2d6 (4, 5) = 9): 8 to -1 hp"


def test_a_strike_can_be_chosen() -> None:
    """By its name in any case; one that nobody has is refused with those there are."""
    archer = Combatant.of_character(character("Zara", "Thief", equipment=["short bow", "dagger"]))
    assert [strike.name for strike in archer.routine] == ["dagger", "short bow"]
    assert attack(archer, foe(), rng=Loaded(2), strike="Short Bow").strike == "short bow"
    with pytest.raises(UnknownThing, match="dagger, short bow"):
        attack(archer, foe(), rng=Loaded(2), strike="cannon")


def test_bare_hands_are_a_weapon() -> None:
    """Somebody without arms still fights."""
    strike = Combatant.of_character(character("Throk", "Fighter", equipment=["rope"])).routine[0]
    assert (strike.name, strike.damage) == ("bare hands", "1d2+2")


@given(st.lists(st.integers(-3, 4), max_size=8), seeds)
def test_initiative_goes_from_the_highest_down(modifiers: list[int], seed: int) -> None:
    """Everyone once; of equals the nimbler first, then as they were named."""
    those = [foe(uid=f"mon_goblin_{place}", dexterity=value) for place, value in enumerate(modifiers)]
    rolled = initiative(those, rng=random.Random(seed))
    assert sorted(rolled.order) == sorted(one.uid for one in those)
    nimble = {one.uid: one.dexterity for one in those}
    keys = [(-score, -nimble[uid], int(uid.rsplit("_", 1)[1])) for uid, score in rolled.scores]
    assert keys == sorted(keys)
    for made, (uid, score) in zip(rolled.rolls, rolled.scores, strict=True):
        assert made.total + nimble[uid] == score


@pytest.mark.parametrize(
    ("score", "faces", "stands"),
    [(7, (3, 4), True), (7, (4, 4), False), (12, (6, 6), True), (2, (1, 2), False)],
)
def test_morale_holds_at_the_score_or_under(*, score: int, faces: tuple[int, int], stands: bool) -> None:
    """Twelve never breaks."""
    assert morale(score, rng=Loaded(*faces)).success is stands


def test_a_combatant_can_be_made_by_hand() -> None:
    """Without strikes, the damage is a plain attack."""
    thug = Combatant(uid="npc_thug_001", name="Thug", ac=7, hp=4, hp_max=4, attack_bonus=1, damage="1d6+1")
    assert attack(thug, fighter(), rng=Loaded(18, 6)).damage == 7


def test_any_level_that_a_sheet_may_have_can_fight() -> None:
    """Beyond the tables, the last row counts."""
    legend = Combatant.of_character(character("Throk", "Fighter", level=1000))
    assert legend.attack_bonus == 7
    assert legend.saves.death == 6


def test_an_effect_that_does_nothing_is_refused() -> None:
    """A table cannot hold an empty effect, or a condition that nobody knows."""
    with pytest.raises(ValueError, match="does nothing"):
        EffectRule(kind="air")
    with pytest.raises(LookupError, match="no thing 'bored'"):
        Strike(name="sermon", effect=EffectRule(kind="words", condition="bored"))
