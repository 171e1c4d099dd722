"""Ability checks and saves that a DM asks for."""

from collections.abc import Mapping
from typing import Final

from dndbots.errors import ActRefused
from dndbots.events import EventType
from dndbots.game.referee.event_text import dice
from dndbots.game.state.step import Step
from dndbots.ids import DM
from dndbots.rules.characters.abilities import Ability
from dndbots.rules.checks import ability_check
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.outcomes import Check
from dndbots.rules.saves import SaveKind, save

# What a roll says by itself, if nobody said what it is for: how it ends well, and how it does not.
_ENDS: Final[Mapping[Ability, tuple[str, str]]] = {
    Ability.STRENGTH: ("is strong enough", "is not strong enough"),
    Ability.DEXTERITY: ("is quick enough", "is not quick enough"),
    Ability.CONSTITUTION: ("can bear it", "cannot bear it for long"),
    Ability.INTELLIGENCE: ("makes sense of it", "cannot make sense of it"),
    Ability.WISDOM: ("keeps eyes and ears open, and misses nothing", "misses something"),
    Ability.CHARISMA: ("leaves a good impression", "does not leave the best impression"),
}
_WITHSTANDS: Final = ("withstands it", "does not withstand it")


def roll_check(step: Step, who: str, kind: Ability | SaveKind, *, place: str, why: str = "") -> Check:
    """Roll an ability check or a save of a character in front of all who are there. Return the result."""
    sheet, conditions = step.table.character(who), step.table.conditions(who)
    if sheet is None:
        raise ActRefused(DM, verb="roll", reason=f"{step.table.name(who)} has no character sheet")
    if isinstance(kind, Ability):
        check = ability_check(sheet, kind, rng=step.rng, conditions=conditions)
    else:
        check = save(Combatant.of_character(sheet, conditions=conditions), kind, rng=step.rng)
    alone = _ENDS[kind] if isinstance(kind, Ability) else _WITHSTANDS
    well, ill = ("makes it", "does not make it") if why else alone
    outcome = f"{step.table.name(who)} {well if check.success else ill}."
    step.add(
        EventType.DICE_ROLL,
        f"{why.rstrip('.')}. {outcome}" if why else outcome,
        place=place,
        participants=[who],
        play={"rolls": dice(check)},
    )
    return check
