"""A person behind the DM's screen: the house runs the adventure underneath, and the person tells more of it.

What a person tells is narration: heard by those who are there, and nothing that the rules decide. What it
calls for is carried out as it is for a model, or refused.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from dndbots.errors import ActRefused, InvalidDice
from dndbots.events import EventType, GameEvent
from dndbots.game.acts import LONGEST_WORDS, Verb
from dndbots.game.agents import DungeonMaster, Screen
from dndbots.game.calling import called_for
from dndbots.game.house.places import asked_in, since_the_dm
from dndbots.game.house.telling import Telling
from dndbots.game.models.deeds import Deeds
from dndbots.game.models.lasting import answer_offers, stop_clocks
from dndbots.game.models.making import mentioned
from dndbots.game.referee.telling import dice
from dndbots.game.spoken import cleaned
from dndbots.game.table import Table
from dndbots.ids import DM
from dndbots.rules.dice import roll
from dndbots.rules.outcomes import Outcome

ROLL: Final = "/roll"


class Lectern(Protocol):
    """Where the DM sits: a line at a time, for each scene."""

    def narrate(self, screen: Screen, place: str, *, refused: str, told: str) -> str | None:
        """What is told at a place; None once there is no more.

        `refused` is why the line before cannot be, `told` what came of it, for the DM alone.
        """
        ...


class PersonDM:
    """A person as the DM, over another one that runs the world. Implements `DungeonMaster`."""

    has_tools = True

    def __init__(self, world: DungeonMaster, lectern: Lectern) -> None:
        self._world, self._lectern = world, lectern

    def run(self, screen: Screen) -> None:
        table = screen.table
        since = since_the_dm(table, screen.step.round)
        waiting = list(table.waiting) or asked_in(since)
        self._world.run(screen)
        telling = self._world.telling(screen)
        answer_offers(telling, waiting)
        told = " ".join(f"Time is up: {clock.text}" for clock in stop_clocks(telling))
        refused = screen.refused
        for place in list(table.scenes()):
            if table.together(place):  # they may have been taken elsewhere meanwhile
                self._tell(screen, telling, place, since, refused=refused, told=told)
                refused = told = ""

    def telling(self, screen: Screen) -> Telling:
        return self._world.telling(screen)

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self._world.leads(table, place, way)

    def called(self, table: Table, place: str) -> str:
        return self._world.called(table, place)

    def _tell(
        self,
        screen: Screen,
        telling: Telling,
        place: str,
        since: Sequence[GameEvent],
        *,
        refused: str,
        told: str,
    ) -> None:
        deeds = Deeds(telling, place, look=screen.look, people=None, since=since)
        while True:
            line = self._lectern.narrate(screen, deeds.place, refused=refused, told=told)
            if line is None:
                return
            refused = told = ""
            try:
                told = narrate(screen, telling, deeds, line)
            except ActRefused as exc:
                refused = exc.reason
            except InvalidDice as exc:
                refused = str(exc)


def narrate(screen: Screen, telling: Telling, deeds: Deeds, line: str) -> str:
    """Drafts what a DM says in a scene: narration, dice in the open, or what a tool is called for.

    What came of it is the answer, unless all who are there are told so anyway.
    """
    text = cleaned(line)
    if not text or len(text) > LONGEST_WORDS:
        reason = f"that is {len(text)} characters; 1 to {LONGEST_WORDS} can be told at once"
        raise ActRefused(DM, verb=Verb.SAY.value, reason=reason)
    word, _, rest = text.partition(" ")
    form = called_for(text, deeds.people_here(), screen.table.looks)
    if form is not None:
        came = deeds.do(form)
        return "" if any(came in event.content for event in screen.step.events) else came
    if word == ROLL:
        _roll(screen, deeds.place, rest.strip())
    else:
        telling.tell(deeds.place, text, names=mentioned(screen.table, text))
    return ""


def _roll(screen: Screen, place: str, said: str) -> None:
    expression, _, purpose = said.partition(" ")
    rolled = roll(expression, rng=screen.rng)
    text = f"The DM rolls{f' for {purpose}' if purpose else ''}: {rolled.total}."
    outcome = Outcome(rolls=(rolled,), text=rolled.text)
    screen.step.add(EventType.DICE_ROLL, text, place=place, play={"rolls": dice(outcome)})
