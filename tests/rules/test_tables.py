"""The tables of the rules: all of them load, agree with each other, and say who is not in them."""

from importlib import resources

import pytest
from hypothesis import given
from tests.strategies import hostile_text

from dndbots.errors import NotInRules, UnknownClass, UnknownMonster, UnknownSpell, UnknownThing
from dndbots.rules.characters.abilities import modifier, reaction_modifier
from dndbots.rules.characters.armor import armor_class, ascending, descending
from dndbots.rules.characters.classes import all_classes, char_class, find_class
from dndbots.rules.characters.equipment import Weapon, all_things, bonus_of, recognised, thing
from dndbots.rules.conditions import all_conditions, can, condition, is_helpless, sum_of
from dndbots.rules.dice import bounds
from dndbots.rules.fights.monsters import all_monsters, monster
from dndbots.rules.fights.spells import all_spells, spell, spells_for
from dndbots.rules.tables import table
from dndbots.rules.treasure import tables


def test_every_data_file_is_read_by_somebody() -> None:
    """No table lies about that nothing loads."""
    folder = resources.files("dndbots.rules").joinpath("data")
    names = {entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name != "page.md"}
    assert names == {"classes", "conditions", "equipment", "monsters", "ready_made", "spells", "treasure"}
    assert all(table(name) for name in names)


def test_the_seven_classes_are_there() -> None:
    """In any case, and by the names that others use for them."""
    names = [kind.name for kind in all_classes()]
    assert names == ["Fighter", "Cleric", "Thief", "Magic-User", "Elf", "Dwarf", "Halfling"]
    assert char_class("WIZARD") is char_class("magic user") is char_class("Magic-User")


@pytest.mark.parametrize("kind", all_classes(), ids=lambda kind: kind.name)
def test_a_class_never_gets_worse(kind) -> None:
    """From level to level saves fall, attacks and slots and skills rise; and beyond the top they stay."""
    for level in range(1, 40):
        now, then = kind.saves_at(level), kind.saves_at(level + 1)
        assert all(getattr(then, one) <= getattr(now, one) for one in type(now).model_fields)
        assert kind.attack_bonus(level) <= kind.attack_bonus(level + 1)
        for name in kind.skills:
            assert 0 < kind.skill(name, level) <= kind.skill(name, level + 1) < 100
        slots = zip(kind.slots_at(level), kind.slots_at(level + 1), strict=True)
        assert all(before <= after for before, after in slots)
    assert kind.title(40) == kind.titles[-1]


@pytest.mark.parametrize("kind", all_classes(), ids=lambda kind: kind.name)
def test_a_class_buys_what_it_can_use(kind) -> None:
    """Every thing of the outfit is for sale and allowed."""
    for name in kind.outfit:
        found = thing(name)
        if isinstance(found, Weapon):
            assert kind.may_wield(found), name
        elif hasattr(found, "weight"):
            assert kind.may_wear(found), name


@pytest.mark.parametrize("one", all_monsters(), ids=lambda one: one.name)
def test_a_monster_is_whole(one) -> None:
    """It can be hit and hit back, is worth something, and its treasure has a table."""
    assert -3 <= one.ac <= 9
    assert bounds(one.hit_dice)[1] >= 1
    assert 2 <= one.morale <= 12
    assert one.xp > 0
    assert any(strike.number for strike in one.strikes)
    assert all(strike.damage for strike in one.strikes)
    assert one.breath is None or one.breath.effect
    assert not one.treasure or one.treasure in {kind.name for kind in tables().kinds}
    assert one.saves.death <= 14
    assert one.description.endswith(".")
    assert not one.undead or {"sleep", "charm", "hold"} <= set(one.immune)


def test_there_are_monsters_of_every_kind() -> None:
    """About thirty, from rats to a young dragon."""
    assert len(all_monsters()) >= 30
    assert {"beast", "humanoid", "undead", "ooze", "giant", "dragon"} <= {one.kind for one in all_monsters()}
    assert all_monsters()[-1].name == "Young Dragon"
    assert monster("wolves").name == monster("WOLF").name == "Wolf"
    assert monster("goblin").parleys
    assert not monster("wolf").parleys


@pytest.mark.parametrize("name", ["Cleric", "Magic-User"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_list_has_spells_enough(name: str, level: int) -> None:
    """About eight of each level."""
    assert len(spells_for(name, level)) >= 8


def test_those_who_cast_nothing_have_no_spells() -> None:
    """A fighter's list is empty; an elf's is the magic-user's."""
    assert spells_for("Fighter", 1) == ()
    assert spells_for("Elf", 2) == spells_for("Wizard", 2)


@pytest.mark.parametrize("one", all_spells(), ids=lambda one: one.name)
def test_a_spell_names_what_immunity_is_against(one) -> None:
    """A spell without effects changes the scene; one with them has targets."""
    assert one.about
    assert bool(one.effects) != (one.aim == "place")
    assert all(1 <= level <= 3 for level in one.lists.values())


@pytest.mark.parametrize(
    ("look_up", "error"),
    [
        (char_class, UnknownClass),
        (monster, UnknownMonster),
        (spell, UnknownSpell),
        (thing, UnknownThing),
        (condition, UnknownThing),
    ],
)
def test_what_is_not_in_the_rules_says_what_is(look_up, error) -> None:
    """The error lists the names there are."""
    with pytest.raises(error) as missing:
        look_up("no such name")
    assert missing.value.name == "no such name"
    assert len(missing.value.known) >= 7
    assert missing.value.known[0] in str(missing.value)


@given(hostile_text)
def test_hostile_names_are_only_unknown(name: str) -> None:
    """Any text is a known name or a NotInRules error; looking at a sheet never fails."""
    for look_up in (char_class, monster, spell, thing, condition):
        try:
            assert look_up(name).name
        except NotInRules as missing:
            assert len(str(missing)) < 3_000  # noqa: PT017 - both outcomes are fine
    recognised(name)
    bonus_of(name)
    assert armor_class([name]) <= 9


@pytest.mark.parametrize(
    ("score", "worth", "liked"),
    [(1, -3, -2), (3, -3, -2), (5, -2, -1), (8, -1, -1), (9, 0, 0), (12, 0, 0), (13, 1, 1), (17, 2, 1),
     (18, 3, 2), (30, 3, 2)],
)  # fmt: skip
def test_scores_are_worth_what_the_page_says(score: int, worth: int, liked: int) -> None:
    """-3 to +3, and for charisma -2 to +2."""
    assert modifier(score) == worth
    assert reaction_modifier(score) == liked


@pytest.mark.parametrize("ac", range(-10, 20))
def test_armour_classes_convert_both_ways(ac: int) -> None:
    """Counted down or up, it is the same armour."""
    assert descending(ascending(ac)) == ac == ascending(descending(ac))
    assert ascending(9) == 10


@pytest.mark.parametrize(
    ("things", "dexterity", "ac"),
    [
        ([], 0, 9),
        (["chain mail"], 0, 5),
        (["Chain mail +1", "shield"], 1, 2),
        (["leather armor", "plate mail"], 0, 3),
        (["shield", "shield"], 0, 8),
        (["a fine hat"], -1, 10),
    ],
)
def test_the_best_armour_counts(things: list[str], dexterity: int, ac: int) -> None:
    """One suit, one shield, dexterity."""
    assert armor_class(things, dexterity=dexterity) == ac


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Longsword", "sword"),
        ("Rusty dagger", "dagger"),
        ("two-handed sword", "two-handed sword"),
        ("Chain Mail +1", "chain mail"),
        ("rope (50 ft)", "rope"),
        ("6 torches", "torch"),
        ("thieves\u2019 tools", "thieves' tools"),
        ("silver dagger", "silver dagger"),
        ("a swordfish", None),
        ("", None),
    ],
)
def test_sheets_name_things_freely(written: str, meant: str | None) -> None:
    """The longest known name in it is meant, by whole words."""
    found = recognised(written)
    assert (found.name if found else None) == meant


def test_magic_in_a_name_is_a_bonus() -> None:
    """Up to +5, as it is written."""
    assert [bonus_of(name) for name in ("sword +1", "sword + 3", "sword", "sword +15")] == [1, 3, 0, 0]


def test_conditions_add_up_and_unknown_ones_mean_nothing() -> None:
    """Each counts once."""
    assert sum_of(["blessed", "Blessed", "cursed", "hungry"], "attack") == 0
    assert sum_of(["invisible", "shielded"], "defence") == 6
    assert not can(["asleep"], "attacks")
    assert not can(["silenced"], "casts")
    assert can(["silenced", "hungry"], "acts")
    assert is_helpless(["held"])
    assert not is_helpless(["stunned"])
    assert all(one.meaning.endswith(".") for one in all_conditions())


@pytest.mark.parametrize("name", ["Bard", "ranger", "Half-Elf", "warlock", "druid"])
def test_nobody_new_is_of_a_class_that_the_rules_do_not_have(name: str) -> None:
    """No other class is taken for it; but a sheet that is there already is played on."""
    with pytest.raises(UnknownClass, match="they have Cleric, "):
        find_class(name)
    assert char_class(name) in all_classes()


def test_a_class_has_other_words_for_it() -> None:
    for word, name in (("Wizard", "Magic-User"), ("rogue", "Thief"), ("priest", "Cleric"), ("elf", "Elf")):
        assert find_class(word).name == char_class(word).name == name


def test_two_things_of_one_name_are_a_fault_of_the_table() -> None:
    """Nobody is hidden behind somebody else's alias."""
    from dndbots.rules.tables import by_name

    with pytest.raises(ValueError, match="stands for"):
        by_name([monster("wolf"), monster("wolf")])
    assert len(all_things()) == len({one.name for one in all_things()})
