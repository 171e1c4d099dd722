"""The rules as a page for players: `data/page.md`, with tables made from the engine's own data.

`python -m dndbots.rules.reference docs/rules.md` writes it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from dndbots.rules.characters.abilities import modifier
from dndbots.rules.characters.classes import CharacterClass, all_classes
from dndbots.rules.characters.equipment import Armor, Gear, Weapon, all_things
from dndbots.rules.conditions import all_conditions
from dndbots.rules.fights.monsters import Monster, all_monsters
from dndbots.rules.fights.spells import Spell, spells_for
from dndbots.rules.fights.strikes import EffectRule, Strike
from dndbots.rules.saves import SaveKind
from dndbots.rules.treasure import Chance, tables

_MARK: Final = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)
_NUMBERS: Final = ("attack", "damage", "defence", "saves", "morale", "checks")


def page() -> str:
    """Return the whole page."""
    text = resources.files("dndbots.rules").joinpath("data", "page.md").read_text("utf-8")
    return _MARK.sub(lambda mark: _TABLES[mark.group(1)](), text)


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _modifiers() -> str:
    steps: dict[int, list[int]] = {}
    for score in range(3, 19):
        steps.setdefault(modifier(score), []).append(score)
    named = [(_span(scores), f"{worth:+d}" if worth else "0") for worth, scores in steps.items()]
    return _table(["score", *(scores for scores, _ in named)], [["modifier", *(worth for _, worth in named)]])


def _span(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def _classes() -> str:
    head = ["class", "what it is", "hit die", "prime", "needs", "armour", "weapons", "listen", "search"]
    rows = _table(head, map(_class_row, all_classes()))
    return "\n".join(
        [rows, "", *(f"- **{kind.name}**: {' '.join(kind.abilities)}" for kind in all_classes())]
    )


def _class_row(kind: CharacterClass) -> list[object]:
    needs = ", ".join(f"{ability} {least}" for ability, least in kind.needs.items()) or "-"
    armor = kind.armor + (", shield" if kind.shield else "")
    prime = ", ".join(kind.prime)
    listen, search = f"{kind.listen} in 6", f"{kind.search} in 6"
    return [kind.name, kind.about, f"d{kind.hit_die}", prime, needs, armor, kind.weapons, listen, search]


def _levels(cell: Callable[[CharacterClass, int], object], kinds: Iterable[CharacterClass]) -> str:
    """Return a row for each class and a column for each level."""
    top = max(kind.top_level for kind in all_classes())
    head = ["class", *(str(level) for level in range(1, top + 1))]
    return _table(
        head, ([kind.name, *(_at(kind, level, cell) for level in range(1, top + 1))] for kind in kinds)
    )


def _at(kind: CharacterClass, level: int, cell: Callable[[CharacterClass, int], object]) -> object:
    return cell(kind, level) if level <= kind.top_level else "-"


def _slots(kind: CharacterClass, level: int) -> str:
    return "/".join(map(str, kind.slots_at(level)))


def _saves() -> str:
    rows = [[kind.name, row[0], *row[1:]] for kind in all_classes() for row in kind.saves]
    return _table(["class", "from level", *(kind.value for kind in SaveKind)], rows)


def _skills() -> str:
    top = max(kind.top_level for kind in all_classes())
    rows = [
        [kind.name, name, *(values[level] if level < len(values) else "-" for level in range(top))]
        for kind in all_classes()
        for name, values in kind.skills.items()
    ]
    return _table(["class", "skill", *(str(level) for level in range(1, top + 1))], rows)


def _conditions() -> str:
    rows = []
    for one in all_conditions():
        numbers = [f"{name} {getattr(one, name):+d}" for name in _NUMBERS if getattr(one, name)]
        rows.append([one.name, one.meaning, ", ".join(numbers) or "-"])
    return _table(["condition", "what it means", "numbers"], rows)


def _weapons() -> str:
    rows = []
    for one in all_things():
        if isinstance(one, Weapon):
            traits = [name.replace("_", "-") for name in ("two_handed", "blunt", "light", "silver", "missile")
                      if getattr(one, name)]  # fmt: skip
            rows.append([one.name, f"{one.price:g}", one.damage, one.reach or "-", ", ".join(traits) or "-"])
    return _table(["weapon", "price", "damage", "reach, feet", "traits"], rows)


def _armor() -> str:
    worn = [one for one in all_things() if isinstance(one, Armor)]
    rows = ([one.name, f"{one.price:g}", f"-{one.ac}" if one.shield else one.ac, one.weight] for one in worn)
    return _table(["armour", "price", "AC", "weight"], rows)


def _gear() -> str:
    rows = []
    for one in all_things():
        if isinstance(one, Gear):
            light = f"{one.radius} feet, {one.turns} turns" if one.turns else "-"
            rows.append([one.name, f"{one.price:g}", one.use, light])
    return _table(["gear", "price", "what it does", "light"], rows)


def _spells() -> str:
    parts = []
    head = ["spell", "reach", "at", "what it does", "in numbers"]
    for name, title in (("Cleric", "Cleric"), ("Magic-User", "Magic-User and Elf")):
        for level in (1, 2, 3):
            rows = map(_spell_row, spells_for(name, level))
            parts += [f"### {title}, level {level}", "", _table(head, rows), ""]
    return "\n".join(parts).rstrip("\n")


def _spell_row(one: Spell) -> list[object]:
    limits = [f"{one.number} targets"] if one.number else []
    limits += [f"{one.hit_dice} hit dice"] if one.hit_dice else []
    limits += [f"up to {one.up_to} hit dice each"] if one.up_to else []
    told = [*limits, *(_effect(rule) for rule in one.effects)]
    told += [f"lasts {_time(one.rounds)}"] if one.rounds else []
    return [one.name, one.reach or "touch", one.aim, one.about, "; ".join(told) or "-"]


def _time(rounds: str) -> str:
    """Write rounds as people say them: `6*60` is 6 turns."""
    turns = rounds.removesuffix("*60")
    if rounds == "60":
        return "1 turn"
    return f"{turns} turns" if turns != rounds else f"{rounds} round{'s' * (rounds != '1')}"


def _effect(rule: EffectRule) -> str:
    told = [f"{rule.damage} damage"] if rule.damage else []
    told += [f"heals {rule.healing}"] if rule.healing else []
    if rule.per_level:
        every = "level" if rule.every == 1 else f"{rule.every} levels"
        told.append(f"{rule.per_level} more for each {every} after the first, {rule.most - 1} times at most")
    if rule.condition:
        told.append(
            f"{rule.condition} for {_time(rule.rounds)}" if rule.rounds else f"{rule.condition} until cured"
        )
    told += [f"ends {', '.join(rule.cures)}"] if rule.cures else []
    told += [f"drains {rule.levels} level"] if rule.levels else []
    if rule.save:
        bonus = f" at {rule.save_bonus:+d}" if rule.save_bonus else ""
        told.append(f"save against {rule.save}{bonus}{' for half' if rule.saved == 'half' else ''}")
    return ", ".join(told)


def _monsters() -> str:
    head = [
        "monster",
        "AC",
        "HD",
        "attack",
        "strikes",
        "move",
        "morale",
        "saves as",
        "XP",
        "number",
        "treasure",
    ]
    return _table(head, map(_monster_row, all_monsters()))


def _monster_row(one: Monster) -> list[object]:
    strikes = ", ".join(_strike(strike) for strike in (*one.strikes, *([one.breath] if one.breath else [])))
    saves = f"{one.saves_as[0]} {one.saves_as[1]}"
    wealth = ", ".join(filter(None, [one.treasure, f"{one.purse} silver" if one.purse else ""])) or "-"
    return [
        one.name,
        one.ac,
        one.hit_dice,
        f"{one.attack_bonus:+d}",
        strikes,
        one.move,
        one.morale,
        saves,
        one.xp,
        one.appearing,
        wealth,
    ]


def _strike(strike: Strike) -> str:
    number = f"{strike.number} " if strike.number > 1 else "or " if strike.number == 0 else ""
    effect = f" ({_effect(strike.effect)})" if strike.effect else ""
    uses = f", {strike.uses} a day" if strike.uses else ""
    return f"{number}{strike.name}{f' {strike.damage}' if strike.damage else ''}{effect}{uses}"


def _bestiary() -> str:
    return "\n".join(f"- **{one.name}**: {one.description}{_traits(one)}" for one in all_monsters())


def _traits(one: Monster) -> str:
    told = ["undead"] if one.undead else []
    told += ["sees in the dark"] if one.infravision else []
    told += ["always last to act"] if one.initiative < -5 else []
    told += [f"speaks {', '.join(one.speaks)}"] if one.speaks else []
    told += [f"hurt only by {one.needs}{' or magic' if one.needs == 'silver' else ''}"] if one.needs else []
    told += [f"immune to {', '.join(one.immune)}"] if one.immune else []
    told += [f"takes double from {', '.join(one.weak)}"] if one.weak else []
    if one.regenerates:
        stopped = " or ".join(one.regeneration_stopped_by)
        told.append(f"heals {one.regenerates} a round, but not what {stopped} did")
    told += [f"surprises on {one.surprises} in 6"] if one.surprises > 2 else []
    text = "; ".join(told)
    return f" {text[0].upper()}{text[1:]}." if text else ""


def _hoards() -> str:
    columns = ("copper", "silver", "gold", "gems", "jewellery", "magic")
    rows = [
        [kind.name, kind.about, *(_chance(getattr(kind, column)) for column in columns)]
        for kind in tables().kinds
    ]
    return _table(["kind", "what it is", *columns], rows)


def _chance(chance: Chance | None) -> str:
    return f"{chance[0]}%: {chance[1]}" if chance else "-"


def _gems() -> str:
    gems = _table(["d100 up to", "gem", "gold"], ([gem.upto, gem.name, gem.value] for gem in tables().gems))
    jewels = enumerate(tables().jewellery, 1)
    worn = _table(
        [f"d{len(tables().jewellery)}", "jewellery", "gold"], ([n, one.name, one.value] for n, one in jewels)
    )
    return f"{gems}\n\n{worn}"


def _magic() -> str:
    items = enumerate(tables().magic, 1)
    return _table(
        [f"d{len(tables().magic)}", "magic", "power"], ([n, one.name, one.power] for n, one in items)
    )


_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "modifiers": _modifiers,
    "classes": _classes,
    "xp": lambda: _levels(lambda kind, level: kind.xp[level - 1], all_classes()),
    "attacks": lambda: _levels(lambda kind, level: f"+{kind.attack_bonus(level)}", all_classes()),
    "saves": _saves,
    "slots": lambda: _levels(_slots, (kind for kind in all_classes() if kind.slots)),
    "skills": _skills,
    "titles": lambda: _levels(lambda kind, level: kind.title(level), all_classes()),
    "conditions": _conditions,
    "weapons": _weapons,
    "armor": _armor,
    "gear": _gear,
    "spells": _spells,
    "monsters": _monsters,
    "bestiary": _bestiary,
    "hoards": _hoards,
    "gems": _gems,
    "magic": _magic,
}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8", newline="\n")
