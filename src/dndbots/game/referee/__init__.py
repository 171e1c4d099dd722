"""The referee: the rules at the table. It rolls the dice and drafts the results into a step."""

from dndbots.game.referee.ability_tests import roll_check
from dndbots.game.referee.actions import can_follow, record_act, refusal, resolve_declared
from dndbots.game.referee.blows import foes_act
from dndbots.game.referee.fights import begin_fight, end_fight
from dndbots.game.referee.growth import award, rest_party, seat_character
from dndbots.game.referee.harm import expire_conditions, heal, hurt, record_death, roll_death_saves
from dndbots.game.referee.movement import march

__all__ = [
    "award",
    "begin_fight",
    "can_follow",
    "end_fight",
    "expire_conditions",
    "foes_act",
    "heal",
    "hurt",
    "march",
    "record_act",
    "record_death",
    "refusal",
    "resolve_declared",
    "rest_party",
    "roll_check",
    "roll_death_saves",
    "seat_character",
]
