"""Checks, saves, reactions, dying, rest, light, experience, turning and treasure."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.loaded import Loaded
from tests.table import character

from dndbots.errors import InvalidSetting, UnknownThing
from dndbots.rules import (
    Attitude,
    Combatant,
    Life,
    SaveKind,
    Saves,
    ability_check,
    all_classes,
    bind_wounds,
    burn,
    death_watch,
    hoard,
    kindle,
    level_for,
    level_up,
    life,
    listen,
    lose_level,
    monster,
    open_door,
    purse,
    reaction,
    ready_made,
    regenerate,
    rest,
    save,
    search,
    share,
    skill_check,
    surprise,
    turn_undead,
    xp_for,
    xp_needed,
)
from dndbots.rules.fights.turning import needed
from dndbots.rules.reactions import attitude_at
from dndbots.rules.treasure import tables

seeds = st.integers(0, 2**32)
THROK = character("Throk", "Fighter")
ZARA = character("Zara", "Thief")


@pytest.mark.parametrize(
    ("face", "bonus", "success"),
    [(17, 0, True), (18, 0, False), (18, 1, True), (20, 9, False), (1, -30, True), (15, -3, False)],
)
def test_an_ability_is_tried_with_a_d20_at_or_under(*, face: int, bonus: int, success: bool) -> None:
    """As the players' shorthand says; a 1 always succeeds and a 20 never does."""
    check = ability_check(THROK, "str", rng=Loaded(face), bonus=bonus)
    assert check.success is success
    assert check.target == 17 + bonus


def test_conditions_make_checks_harder() -> None:
    """The poisoned are 2 worse."""
    assert ability_check(THROK, "str", rng=Loaded(16), conditions=["poisoned"]).target == 15


@given(seeds, st.integers(-9, 9))
def test_a_door_always_may_and_never_must_open(seed: int, bonus: int) -> None:
    """1 to 5 in 6."""
    check = open_door(THROK, rng=random.Random(seed), bonus=bonus)
    assert 1 <= check.target <= 5
    assert check.success == (check.total <= check.target)


def test_ears_and_eyes_are_those_of_the_class() -> None:
    """A thief hears more than a fighter, an elf sees more."""
    assert [listen(one, rng=Loaded(2)).success for one in (THROK, ZARA)] == [False, True]
    elf = character("Ilvane", "Elf")
    assert [search(one, rng=Loaded(2)).success for one in (THROK, elf)] == [False, True]


def test_a_thief_has_skills_and_others_a_small_chance() -> None:
    """In percent; a skill that nobody has is refused."""
    assert skill_check(ZARA, "Open Locks", rng=Loaded(20)).success
    assert not skill_check(ZARA, "open-locks", rng=Loaded(21)).success
    assert skill_check(THROK, "open locks", rng=Loaded(10)).target == 10
    with pytest.raises(UnknownThing, match="climb walls"):
        skill_check(ZARA, "juggling", rng=Loaded(1))


@given(seeds, st.integers(0, 6))
def test_surprise_is_a_chance_in_six(seed: int, chance: int) -> None:
    """Success means caught unawares."""
    check = surprise("the party", rng=random.Random(seed), chance=chance)
    assert check.success == (check.total <= chance)
    assert ("surprised" in check.text) == check.success


@pytest.mark.parametrize(
    ("face", "bonus", "success"),
    [(12, 0, True), (11, 0, False), (11, 1, True), (20, -30, True), (1, 30, False)],
)
def test_a_save_reaches_its_number(*, face: int, bonus: int, success: bool) -> None:
    """At the number or above; a 20 always saves, a 1 never does. By levels or by combatant alike."""
    throk = Combatant.of_character(THROK)
    assert save(throk, SaveKind.DEATH, rng=Loaded(face), bonus=bonus).success is success
    assert save(Saves(death=12), "death", rng=Loaded(face), bonus=bonus).success is success


def test_blessings_help_to_save() -> None:
    """+1, and the text says so."""
    blessed = replace(Combatant.of_character(THROK), conditions=("blessed",))
    check = save(blessed, "wands", rng=Loaded(12))
    assert check.text == "Throk saves against wands: d20 12 + 1 = 13 against 13: saved"


@pytest.mark.parametrize(
    ("total", "attitude"),
    [(-1, "attacking"), (2, "attacking"), (3, "hostile"), (6, "wary"), (9, "open"), (12, "friendly")],
)
def test_reactions_go_from_attack_to_friendship(total: int, attitude: str) -> None:
    """2d6, with charisma and what was said."""
    assert attitude_at(total) is Attitude(attitude)


def test_charisma_helps() -> None:
    """18 adds 2."""
    assert reaction(rng=Loaded(3, 4), charisma=18).attitude is Attitude.OPEN


@pytest.mark.parametrize(
    ("hp", "state"), [(5, Life.UP), (1, Life.UP), (0, Life.DYING), (-9, Life.DYING), (-10, Life.DEAD)]
)
def test_hit_points_say_who_lives(hp: int, state: Life) -> None:
    """At 0 dying, at -10 dead."""
    assert life(hp) is state


@pytest.mark.parametrize(
    ("faces", "result", "hp"),
    [((20,), "rallies", 1), ((15,), "holds on", -3), ((5, 2), "bleeds", -5), ((1,), "dies", -10)],
)
def test_each_round_of_dying_is_a_save(faces: tuple[int, ...], result: str, hp: int) -> None:
    """A 20 rallies, a save holds on, a failure bleeds, a 1 is the end."""
    dying = replace(Combatant.of_character(THROK), hp=-3, conditions=("dying",))
    watch = death_watch(dying, rng=Loaded(*faces))
    assert (watch.result, watch.hp_after, watch.target_after.hp) == (result, hp, hp)
    assert (watch.target_after.conditions == ()) is (result == "rallies")


@given(seeds)
def test_dying_ends(seed: int) -> None:
    """One way or the other, within a hundred rounds, and never by healing on its own above 1."""
    rng = random.Random(seed)
    one = replace(Combatant.of_character(THROK), hp=0)
    for _ in range(100):
        if life(one.hp) is not Life.DYING:
            break
        one = death_watch(one, rng=rng).target_after
    assert one.hp in (1, -10)


def test_bound_wounds_leave_one_hit_point() -> None:
    """And an hour's sixth of darkness. Those who are not dying need none of it."""
    bound = bind_wounds(replace(Combatant.of_character(THROK), hp=-7))
    assert (bound.hp_after, bound.condition, bound.rounds) == (1, "senseless", 60)
    for hp in (-10, 3):
        with pytest.raises(InvalidSetting, match="not dying"):
            bind_wounds(replace(Combatant.of_character(THROK), hp=hp))
        with pytest.raises(InvalidSetting, match="not dying"):
            death_watch(replace(Combatant.of_character(THROK), hp=hp), rng=Loaded())


@given(seeds, st.integers(0, 2_000))
def test_rest_heals_and_never_above_the_most(seed: int, nights: int) -> None:
    """1d3 a night."""
    slept = rest(THROK, rng=random.Random(seed), nights=nights)
    assert min(nights, THROK.hp_max - THROK.hp) <= slept.healed <= 3 * nights
    assert THROK.hp <= slept.hp_after <= THROK.hp_max


def test_trolls_close_their_wounds_and_others_do_not() -> None:
    """Three a round, never above the most; the fallen troll rises again."""
    troll = Combatant.of_monster(monster("troll"), hp=20)
    assert regenerate(replace(troll, hp=-4)).hp_after == -1
    assert regenerate(replace(troll, hp=19)).hp_after == 20
    assert regenerate(replace(Combatant.of_character(THROK), hp=2)).healed == 0


def test_the_sick_and_the_dying_do_not_mend() -> None:
    """Sickness takes the night's good, and dying is no rest."""
    assert rest(THROK, rng=Loaded(), diseased=True).healed == 0
    with pytest.raises(InvalidSetting, match="bind the wounds"):
        rest(character("Throk", "Fighter", hp=-2), rng=Loaded())


def test_torches_burn_down() -> None:
    """Six turns, then darkness; what does not burn cannot be lit."""
    torch = kindle("6 torches")
    assert (torch.radius, torch.turns) == (30, 6)
    assert not burn(torch, turns=5).out
    assert burn(torch, turns=9).text == "the torch is out"
    with pytest.raises(UnknownThing, match="lantern"):
        kindle("rope")


@given(st.sampled_from(all_classes()), st.integers(0, 10**6))
def test_levels_follow_the_table(kind, xp: int) -> None:
    """So much experience makes the highest level whose number it reaches."""
    level = level_for(kind.name, xp)
    assert xp_needed(kind.name, level) <= xp
    above = xp_needed(kind.name, level + 1)
    assert above is None or xp < above


@given(st.integers(0, 10**9), st.integers(0, 6))
def test_shares_are_equal_but_for_the_prime_requisite(total: int, number: int) -> None:
    """A strong fighter gets a tenth more, and nobody is left out."""
    party = [character(f"Throk {place}", "Fighter") for place in range(number)]
    shares = share(total, party).shares
    assert [uid for uid, _ in shares] == [one.uid for one in party]
    assert all(xp == total // number + (total // number) * 10 // 100 for _, xp in shares)


def test_monsters_are_worth_their_number() -> None:
    """Three goblins, three times."""
    assert xp_for(monster("goblin"), number=3) == 3 * monster("goblin").xp


@given(seeds)
def test_a_level_up_and_down_again_leaves_a_valid_sheet(seed: int) -> None:
    """More hit points, then fewer; never below 1, never above the most."""
    rng = random.Random(seed)
    up = level_up(THROK, rng=rng)
    assert up.character.level == 2
    assert 2 <= up.hp_change <= 9
    assert up.character.hp - THROK.hp == up.hp_change
    sheet = up.character
    for _ in range(5):
        sheet = lose_level(sheet, rng=rng).character
        assert type(sheet).model_validate(sheet.model_dump()) == sheet
    assert sheet.level == 1


def test_the_top_is_the_top() -> None:
    """A halfling goes to 8."""
    with pytest.raises(InvalidSetting, match="highest"):
        level_up(character("Pim", "Halfling", level=8), rng=Loaded())


@pytest.mark.parametrize(
    ("level", "hit_dice", "number"),
    [(1, 1, 7), (1, 2, 9), (1, 3, 11), (1, 4, None), (2, 1, 0), (4, 1, 0), (1, 0, 7)],
)
def test_turning_is_harder_against_the_stronger(level: int, hit_dice: int, number: int | None) -> None:
    """7 for equals, 2 more for each hit die above; weaker ones always turn."""
    assert needed(level, hit_dice) == number


def foes(*names: str) -> list[Combatant]:
    made = enumerate(names)
    return [Combatant.of_monster(monster(name), uid=f"mon_{name}_{place}") for place, name in made]


def test_a_cleric_turns_the_weakest_first() -> None:
    """As many hit dice as the second roll says; the living are not meant."""
    maren = ready_made()[2]
    turned = turn_undead(maren, foes("zombie", "skeleton", "goblin", "skeleton"), rng=Loaded(5, 5, 1, 1))
    assert turned.turned == ("mon_skeleton_1", "mon_skeleton_3")
    high = maren.model_copy(update={"level": 5})
    dust = turn_undead(high, foes("zombie", "skeleton", "wight"), rng=Loaded(1, 1, 6, 6))
    assert dust.destroyed == ("mon_skeleton_1", "mon_zombie_0")
    assert dust.turned == ("mon_wight_2",)


def test_at_least_one_turns_if_any_does() -> None:
    """However small the reach."""
    maren = ready_made()[2]
    assert turn_undead(maren, foes("wight"), rng=Loaded(6, 5, 1, 1)).turned == ("mon_wight_0",)
    assert turn_undead(maren, foes("wight"), rng=Loaded(5, 5, 6, 6)).turned == ()


def test_only_clerics_turn_undead() -> None:
    """A fighter's faith moves nobody."""
    assert turn_undead(THROK, foes("skeleton"), rng=Loaded()).turned == ()


@given(st.sampled_from([kind.name for kind in tables().kinds]), seeds)
def test_a_hoard_is_worth_its_parts(kind: str, seed: int) -> None:
    """Coins, gems and jewellery add up; magic is beyond price and has a power."""
    found = hoard(kind, rng=random.Random(seed))
    parts = sum(value for _, value in (*found.gems, *found.jewellery))
    assert found.value == parts + found.gold + found.silver // 10 + found.copper // 100
    powers = {item.name: item.power for item in tables().magic}
    assert all(powers[name] for name in found.magic)


def test_every_face_finds_a_gem() -> None:
    """The table of gems covers a d100 without gaps."""
    assert [gem.upto for gem in tables().gems] == sorted({gem.upto for gem in tables().gems})
    assert tables().gems[-1].upto == 100


def test_an_unknown_hoard_is_refused_and_beasts_have_no_purse() -> None:
    """Letters in any case."""
    assert hoard("a", rng=random.Random(1)).kind == "A"
    with pytest.raises(UnknownThing, match="A, B, C, D, H"):
        hoard("Z", rng=Loaded())
    assert purse(monster("wolf"), rng=Loaded()).silver == 0
    assert purse(monster("orc"), rng=Loaded(3, 4)).silver == 7
