"""Spells: whom they reach, what they do, and who cannot cast."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.loaded import Loaded
from tests.table import character

from dndbots.errors import CannotAct
from dndbots.rules import Combatant, all_monsters, all_spells, applied, cast, monster, spell

WIZARD = Combatant.of_character(character("Quillon", "Wizard", level=5))
CLERIC = Combatant.of_character(character("Maren", "Cleric"))


def foe(name: str, number: int = 1) -> Combatant:
    return Combatant.of_monster(monster(name), uid=f"mon_{name}_{number}")


@given(
    st.sampled_from(all_spells()),
    st.lists(st.sampled_from(all_monsters()), max_size=6),
    st.integers(1, 40),
    st.integers(0, 2**32),
)
def test_every_spell_can_be_cast_at_anybody(one, monsters, level: int, seed: int) -> None:
    """It touches some of its targets, leaves the rest alone, and its effects can be applied."""
    targets = {
        f"mon_{place}": Combatant.of_monster(kind, uid=f"mon_{place}") for place, kind in enumerate(monsters)
    }
    caster = replace(WIZARD, level=level)
    casting = cast(one, caster, list(targets.values()), rng=random.Random(seed))
    touched = {effect.target for effect in casting.effects}
    assert touched <= ({WIZARD.uid} if one.aim == "self" else set(targets))
    assert not touched & set(casting.untouched)
    if one.effects and one.aim != "self":
        assert touched | set(casting.untouched) == set(targets)
    for effect in casting.effects:
        after = applied(effect, targets.get(effect.target, caster))
        assert after.hp <= after.hp_max
        assert effect.condition is None or effect.condition in after.conditions


def test_sleep_takes_the_weakest_first_and_spares_the_strong() -> None:
    """As many hit dice as the roll; not the dead, not those above 4."""
    targets = [foe("ogre"), foe("goblin"), foe("skeleton"), foe("troll"), foe("goblin", 2)]
    casting = cast(spell("sleep"), WIZARD, targets, rng=Loaded(1, 3, *[1] * 8))
    assert [effect.target for effect in casting.effects] == ["mon_goblin_1", "mon_goblin_2"]
    assert set(casting.untouched) == {"mon_ogre_1", "mon_skeleton_1", "mon_troll_1"}


def test_a_fire_burst_grows_with_its_caster() -> None:
    """A d6 for each level, up to ten; half for those who save."""
    fire = spell("fireball")
    burst = cast(fire, WIZARD, [foe("ogre"), foe("orc")], rng=Loaded(2, *[3] * 5, 20, *[3] * 5))
    assert [effect.damage for effect in burst.effects] == [15, 7]
    old = cast(fire, replace(WIZARD, level=30), [foe("ogre")], rng=Loaded(2, *[3] * 10))
    assert old.effects[0].damage == 30


def test_force_darts_come_in_numbers() -> None:
    """One more at levels 5 and 9, and no more than three."""
    for level, darts in ((1, 1), (4, 1), (5, 2), (9, 3), (40, 3)):
        hit = cast(spell("force dart"), replace(WIZARD, level=level), [foe("ogre")], rng=Loaded(*[4] * darts))
        assert hit.effects[0].damage == 5 * darts


def test_a_cure_brings_back_the_dying() -> None:
    """Healing counts from 0, never goes above the most, and wakes."""
    down = replace(CLERIC, hp=-6, conditions=("dying",))
    cured = cast(spell("Cure Wounds"), CLERIC, [down], rng=Loaded(4))
    after = applied(cured.effects[0], down)
    assert (after.hp, after.conditions) == (5, ())
    scratched = replace(CLERIC, hp=CLERIC.hp_max - 1)
    assert cast(spell("Cure Wounds"), CLERIC, [scratched], rng=Loaded(4)).effects[0].healing == 1


def test_spells_undo_conditions() -> None:
    """What they cure, and nothing else."""
    bewitched = replace(CLERIC, conditions=("charmed", "poisoned"))
    undone = cast(spell("dispel magic"), WIZARD, [bewitched], rng=Loaded())
    assert applied(undone.effects[0], bewitched).conditions == ("poisoned",)


def test_a_spell_on_a_place_only_lasts() -> None:
    """Light touches nobody; the scene keeps it for twelve turns."""
    light = cast(spell("light"), WIZARD, rng=Loaded())
    assert (light.effects, light.rounds, light.text) == ((), 720, "Quillon casts Light")


def test_a_spell_on_oneself_takes_no_other() -> None:
    """Whoever else was named."""
    shield = cast(spell("shield"), WIZARD, [foe("orc")], rng=Loaded())
    assert [effect.target for effect in shield.effects] == [WIZARD.uid]


@pytest.mark.parametrize("state", [{"conditions": ("silenced",)}, {"conditions": ("asleep",)}, {"hp": 0}])
def test_the_silenced_the_sleeping_and_the_fallen_cast_nothing(state) -> None:
    """No dice are thrown for it."""
    with pytest.raises(CannotAct, match="Quillon cannot cast Sleep"):
        cast(spell("sleep"), replace(WIZARD, **state), [foe("orc")], rng=Loaded())


def test_whoever_casts_is_seen() -> None:
    """The casting names the conditions that end with it."""
    unseen = replace(WIZARD, conditions=("invisible",))
    assert cast(spell("light"), unseen, rng=Loaded()).given_away == ("invisible",)


def test_a_spell_without_anybody_to_touch_says_so() -> None:
    """Sleep on a troll."""
    casting = cast(spell("sleep"), WIZARD, [foe("troll")], rng=Loaded(1, 1))
    assert casting.text == "Quillon casts Sleep: nobody is touched by it"
