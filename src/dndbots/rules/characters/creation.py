"""New characters: six scores in order, a class that fits them, and gold spent on equipment."""

from random import Random
from typing import Final

from dndbots.errors import InvalidSetting
from dndbots.models import Character, Stats
from dndbots.rules.characters import classes
from dndbots.rules.characters.abilities import Ability, modifier, score_of
from dndbots.rules.characters.armor import armor_class
from dndbots.rules.characters.classes import CharacterClass, all_classes
from dndbots.rules.characters.equipment import Armor, Weapon, recognised, thing
from dndbots.rules.dice import bounds, roll
from dndbots.rules.tables import table
from dndbots.text.labels import check_new_name

STARTING_GOLD: Final = "3d6*10"
# Torches and the like are bought by the handful.
_DOZENS: Final = {"torch": 6}
_LEATHER: Final = 20
_USELESS_WITHOUT: Final = {"quiver of arrows": "short bow", "sling stones": "sling"}


def new_character(
    name: str,
    *,
    rng: Random,
    char_class: str | None = None,
    level: int = 1,
    scores: str = "3d6",
    char_id: str | None = None,
) -> Character:
    """Roll up a character. Without a class, take the one whose prime requisites come out best.

    `scores` are the dice for each ability, such as 3d6 or 4d6kh3.
    """
    check_new_name(name)
    stats = _stats(scores, rng=rng)
    kind = classes.find_class(char_class) if char_class else best_class(stats)
    if not 1 <= level <= kind.top_level:
        raise InvalidSetting("level", level, reason=f"is not a level from 1 to {kind.top_level}")
    hp = hit_points(kind, level=level, constitution=stats.con, rng=rng)
    equipment, left = outfit(kind, gold=roll(STARTING_GOLD, rng=rng).total)
    return Character(
        name=name,
        char_class=kind.name,
        level=level,
        hp=hp,
        hp_max=hp,
        ac=armor_class(equipment, dexterity=modifier(stats.dex)),
        stats=stats,
        equipment=equipment,
        gold=left,
        char_id=char_id,
    )


def best_class(stats: Stats) -> CharacterClass:
    """Return the class for these scores: the best average of its prime requisites, among the open classes.

    A class with two prime requisites gets a small bonus, since two good scores are rarer than one.
    """
    open_to = [kind for kind in all_classes() if _open(kind, stats)]
    return max(open_to, key=lambda kind: _fit(kind, stats))


def hit_points(kind: CharacterClass, *, level: int, constitution: int, rng: Random) -> int:
    """Roll a hit die for each level, with the modifier for constitution, at least 1 each."""
    more = modifier(constitution)
    return sum(max(1, roll(f"1d{kind.hit_die}", rng=rng).total + more) for _ in range(level))


def outfit(kind: CharacterClass, *, gold: int) -> tuple[list[str], int]:
    """Return what a character of the class buys, most important first, and the gold left."""
    copper = gold * 100
    bought: list[str] = []
    for name in kind.outfit:
        number = _DOZENS.get(name, 1)
        price = round(thing(name).price * 100) * number
        if _USELESS_WITHOUT.get(name, name) not in (name, *bought):
            continue
        if price <= copper:
            copper -= price
            bought.append(f"{number} torches" if number > 1 else name)
        elif name == "chain mail" and copper >= _LEATHER * 100:
            copper -= _LEATHER * 100
            bought.append("leather armor")
    return bought, copper // 100


def unfit(character: Character) -> tuple[str, ...]:
    """Return the things on a sheet that its class cannot use: heavy armour, the wrong weapons."""
    kind = classes.char_class(character.char_class)
    found: list[str] = []
    for name in character.equipment:
        match recognised(name):
            case Armor() as armor if not kind.may_wear(armor):
                found.append(name)
            case Weapon() as weapon if not kind.may_wield(weapon):
                found.append(name)
            case _:
                pass
    return tuple(found)


def ready_made() -> tuple[Character, ...]:
    """Return a ready-made party: one of each class, at level 1."""
    return tuple(Character.model_validate(row) for row in table("ready_made")["character"])


def _fit(kind: CharacterClass, stats: Stats) -> float:
    asked = {*kind.prime, *kind.needs}
    return sum(score_of(stats, one) for one in asked) / len(asked) + len(asked) - 1


def _open(kind: CharacterClass, stats: Stats) -> bool:
    return all(score_of(stats, ability) >= least for ability, least in kind.needs.items())


def _stats(scores: str, *, rng: Random) -> Stats:
    least, most = bounds(scores)
    if least < 1 or most > 30:
        raise InvalidSetting("scores", scores, reason="must come to 1 to 30, such as 3d6 or 4d6kh3")
    return Stats(**{ability.value: roll(scores, rng=rng).total for ability in Ability})
