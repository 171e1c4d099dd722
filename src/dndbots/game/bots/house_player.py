"""House players: they choose sensibly, talk to each other, disagree, and share news.

A player decides from its character's table alone and has no memory of its own. It knows what the character
knows, and plays on after a restart as before.
"""

from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.agents import SeatTurn
from dndbots.game.bots.fight_choice import FightChooser
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.peace_choice import PeaceChooser
from dndbots.game.bots.voice import BotVoice

_MOST_PHRASES: Final = 12


class HousePlayer:
    """Plays any character by class, temper and goal. Implements `dndbots.game.agents.Player`."""

    attempts = 1  # it would only repeat itself

    def act(self, turn: SeatTurn) -> Act:
        """Return what the character does in this turn."""
        mind = Mind(turn)
        voice = BotVoice(mind)
        act = self._choose(mind, voice)
        return act.model_copy(update={"phrases": tuple(voice.used.elements())[:_MOST_PHRASES]})

    @staticmethod
    def _choose(mind: Mind, voice: BotVoice) -> Act:
        if mind.fight is not None:
            return FightChooser(mind, mind.fight, voice).act()
        if mind.fought_here:
            return _join_in(mind, voice)
        return PeaceChooser(mind, voice).act()


def _join_in(mind: Mind, voice: BotVoice) -> Act:
    """Join a fight whose beginning it did not see."""
    foe = mind.fought_here[-1]
    words = voice.say("attack", foe=f"the nearest of the {mind.name(foe) or 'strangers'}")
    return Act(verb=Verb.ATTACK, target=foe, words=words)
