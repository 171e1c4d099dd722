"""The house's players: they choose sensibly, talk to each other, disagree, and tell what they saw.

A player decides from the table of its character alone, and has no memory of its own. So it knows what the
character knows, and goes on after a restart as if nothing had happened.
"""

from dndbots.game.acts import Act, Verb
from dndbots.game.agents import Turn
from dndbots.game.house.choosing import Chooser
from dndbots.game.house.fighting import Fighter
from dndbots.game.house.minds import Mind
from dndbots.game.house.voices import Voice


class HousePlayer:
    """Plays any character, by its class, temper and goal. Implements `dndbots.game.agents.Player`."""

    attempts = 1  # it would not think of anything else

    def act(self, turn: Turn) -> Act:
        mind = Mind(turn)
        voice = Voice(mind)
        if mind.fight is not None:
            return Fighter(mind, mind.fight, voice).act()
        if mind.fought_here:
            return _join_in(mind, voice)
        return Chooser(mind, voice).act()


def _join_in(mind: Mind, voice: Voice) -> Act:
    """Comes into a fight of which it did not see the beginning."""
    foe = mind.fought_here[-1]
    words = voice.say("attack", foe=f"the nearest of the {mind.name(foe) or 'strangers'}")
    return Act(verb=Verb.ATTACK, target=foe, words=words)
