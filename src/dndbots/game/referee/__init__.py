"""The referee: the rules at the table. It decides by dice, and drafts what comes of it into a step."""

from dndbots.game.referee.acting import decide, player_acts, refusal
from dndbots.game.referee.blows import foes_act
from dndbots.game.referee.fights import begin_fight, end_fight
from dndbots.game.referee.growing import award, join, rest
from dndbots.game.referee.harm import dies, dying, heal, hurt
from dndbots.game.referee.marching import march
from dndbots.game.referee.passing import time_passes
from dndbots.game.referee.trying import put_to_the_test

__all__ = [
    "award",
    "begin_fight",
    "decide",
    "dies",
    "dying",
    "end_fight",
    "foes_act",
    "heal",
    "hurt",
    "join",
    "march",
    "player_acts",
    "put_to_the_test",
    "refusal",
    "rest",
    "time_passes",
]
