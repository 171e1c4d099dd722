"""Ability checks and saves that a DM asks for."""

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


def roll_check(step: Step, who: str, kind: Ability | SaveKind, *, place: str, why: str = "") -> Check:
    """Roll an ability check or a save of a character in front of all who are there. Return the result."""
    sheet, conditions = step.table.character(who), step.table.conditions(who)
    if sheet is None:
        raise ActRefused(DM, verb="roll", reason=f"{step.table.name(who)} has no character sheet")
    if isinstance(kind, Ability):
        check = ability_check(sheet, kind, rng=step.rng, conditions=conditions)
    else:
        check = save(Combatant.of_character(sheet, conditions=conditions), kind, rng=step.rng)
    outcome = f"{step.table.name(who)} {'makes it' if check.success else 'does not make it'}."
    step.add(
        EventType.DICE_ROLL,
        f"{why.rstrip('.')}. {outcome}" if why else outcome,
        place=place,
        participants=[who],
        play={"rolls": dice(check)},
    )
    return check
