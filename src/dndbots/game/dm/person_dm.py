"""A person who plays the DM, on top of another DM that runs the adventure.

The person's lines are narration: those at the place hear them, and they decide nothing that the rules decide.
Commands are carried out or refused in the same way as a model's tool calls.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from dndbots.errors import ActRefused, InvalidDice
from dndbots.events import EventType, GameEvent
from dndbots.game.acts import LONGEST_WORDS, Verb
from dndbots.game.agents import DungeonMaster
from dndbots.game.dm.commands import parse_command
from dndbots.game.dm.inventions import answer_offers, find_mentions, stop_due_clocks
from dndbots.game.dm.tool_calls import ToolCalls
from dndbots.game.input.vocabulary.typed_words import clean_line
from dndbots.game.referee.event_text import dice
from dndbots.game.state.game_notes import KEY
from dndbots.game.state.table import Table
from dndbots.game.world.narration import Narration, Screen
from dndbots.game.world.places import events_since_dm, find_waiting_acts
from dndbots.ids import DM
from dndbots.rules.dice import roll
from dndbots.rules.outcomes import Outcome

ROLL: Final = "/roll"


class DMInput(Protocol):
    """The source of a person's lines as DM, such as a terminal."""

    def narrate(self, screen: Screen, place: str, *, refused: str, told: str) -> str | None:
        """Return the next line for a place; None when the person has no more to tell there.

        `refused` is why the line before was not possible, `told` its result for the DM alone.
        """
        ...


class PersonDM:
    """A person as DM, over a `world` DM that runs the adventure. Implements `DungeonMaster`."""

    has_tools = True

    @property
    def retells(self) -> bool:
        return bool(getattr(self._world, "retells", False))

    def __init__(self, world: DungeonMaster, lines: DMInput) -> None:
        self._world, self._lines = world, lines

    def run(self, screen: Screen) -> None:
        table = screen.table
        since = events_since_dm(table, screen.step.round)
        waiting = list(table.waiting) or find_waiting_acts(since)
        self._world.run(screen)
        narration = self._world.narration_for(screen)
        answer_offers(narration, waiting)
        told = " ".join(f"Time is up: {clock.text}" for clock in stop_due_clocks(narration))
        refused = screen.refused
        for place in list(table.scenes()):
            if table.together(place):  # a command may have moved them away
                self._tell(screen, narration, place, since, refused=refused, told=told)
                refused = told = ""

    def narration_for(self, screen: Screen) -> Narration:
        return self._world.narration_for(screen)

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self._world.leads(table, place, way)

    def called(self, table: Table, place: str) -> str:
        return self._world.called(table, place)

    def _tell(
        self,
        screen: Screen,
        narration: Narration,
        place: str,
        since: Sequence[GameEvent],
        *,
        refused: str,
        told: str,
    ) -> None:
        calls = ToolCalls(narration, place, look=screen.look, people=None, since=since)
        while True:
            line = self._lines.narrate(screen, calls.place, refused=refused, told=told)
            if line is None:
                return
            refused = told = ""
            try:
                told = narrate_line(screen, narration, calls, line)
            except ActRefused as exc:
                refused = exc.reason
            except InvalidDice as exc:
                refused = str(exc)


def narrate_line(screen: Screen, narration: Narration, calls: ToolCalls, line: str) -> str:
    """Draft one line of a DM in a scene: narration, an open dice roll, or a command.

    Return the result of a command, or "" if all who are there were told it anyway.
    """
    text = clean_line(line)
    if not text or len(text) > LONGEST_WORDS:
        reason = f"the line has {len(text)} characters; tell 1 to {LONGEST_WORDS} at once"
        raise ActRefused(DM, verb=Verb.SAY.value, reason=reason)
    word, _, rest = text.partition(" ")
    form = parse_command(text, calls.people_here(), screen.table.looks)
    if form is not None:
        result = calls.do(form)
        return "" if any(_is_told(result, event) for event in screen.step.events) else result
    if word == ROLL:
        _roll(screen, calls.place, rest.strip())
    else:
        narration.tell(calls.place, text, names=find_mentions(screen.table, text))
    return ""


def _is_told(result: str, event: GameEvent) -> bool:
    """Check that all who are there read a result: in the text of an event, or in its dice."""
    return result in event.content or result in str(event.metadata.get(KEY, ""))


def _roll(screen: Screen, place: str, said: str) -> None:
    expression, _, purpose = said.partition(" ")
    rolled = roll(expression, rng=screen.rng)
    text = f"The DM rolls{f' for {purpose}' if purpose else ''}: {rolled.total}."
    outcome = Outcome(rolls=(rolled,), text=rolled.text)
    screen.step.add(EventType.DICE_ROLL, text, place=place, play={"rolls": dice(outcome)})
