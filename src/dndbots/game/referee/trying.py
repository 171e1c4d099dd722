"""Rolls that somebody asks for: an ability that is put to the test, or a save. The event has the dice."""

from dndbots.errors import ActRefused
from dndbots.events import EventType
from dndbots.game.referee.telling import dice
from dndbots.game.steps import Step
from dndbots.ids import DM
from dndbots.rules.abilities import Ability
from dndbots.rules.checks import ability_check
from dndbots.rules.combatants import Combatant
from dndbots.rules.outcomes import Check
from dndbots.rules.saves import SaveKind, save


def put_to_the_test(step: Step, who: str, kind: Ability | SaveKind, *, place: str, why: str = "") -> Check:
    """Somebody tries, or saves; all who are there see how it goes."""
    sheet, conditions = step.table.character(who), step.table.conditions(who)
    if sheet is None:
        raise ActRefused(DM, verb="roll", reason=f"{step.table.name(who)} has no sheet")
    if isinstance(kind, Ability):
        made = ability_check(sheet, kind, rng=step.rng, conditions=conditions)
    else:
        made = save(Combatant.of_character(sheet, conditions=conditions), kind, rng=step.rng)
    step.add(
        EventType.DICE_ROLL,
        f"{why.rstrip('.')}. {made.text}." if why else f"{made.text}.",
        place=place,
        participants=[who],
        play={"rolls": dice(made)},
    )
    return made
