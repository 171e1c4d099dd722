"""Traps: noticed by the keen, and sprung by the others."""

from typing import Final

from dndbots.game.adventures.values import Thing
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import beat
from dndbots.game.referee import hurt
from dndbots.game.referee.telling import dice
from dndbots.rules.checks import skill_check
from dndbots.rules.classes import char_class
from dndbots.rules.dice import roll
from dndbots.rules.saves import save

_FIND_TRAPS: Final = "find traps"


def spring(telling: Telling, uid: str, thing: Thing, who: str) -> bool:
    """Sets off what is on a thing, unless it is noticed. False if whoever it was can no longer go on."""
    trap = thing.trap
    if trap is None or telling.world.came("sprung", thing.key):
        return True
    sheet = telling.step.table.character(who)
    name = telling.step.table.name(who)
    beats = [beat("sprung", thing.key)]
    if sheet is None:
        return True
    noticed = skill_check(sheet, _FIND_TRAPS, rng=telling.rng)
    rolls = dice(noticed)
    if noticed.success:
        text = telling.words("trap_noticed", who=name, trap=trap.looks)
        telling.tell(uid, text, participants=[who], beats=beats, play={"rolls": rolls})
        return True
    saved = save(char_class(sheet.char_class).saves_at(sheet.level), trap.save, rng=telling.rng)
    rolls += dice(saved)
    if saved.success:
        text = telling.words("trap_dodged", who=name, trap=trap.looks)
        telling.tell(uid, text, participants=[who], beats=beats, play={"rolls": rolls})
        return True
    harm = roll(trap.damage, rng=telling.rng)
    hurt(
        telling.step,
        {who: max(harm.total, 1)},
        text=telling.words("trap", who=name, trap=trap.looks),
        place=uid,
        rolls=[*rolls, harm.text],
        play={"beats": beats},
    )
    return telling.step.table.can_act(who)
