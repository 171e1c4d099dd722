"""A person who plays a character: the person types a line, and the line becomes an act.

The lines come from a `PlayerInput`, such as a terminal. It may only show what is in the turn it is given, so
a person sees only what the character perceived. Questions to the game are answered at once, and what is not
understood is asked about; neither costs a round, and nothing is recorded.
"""

import re
from dataclasses import replace
from typing import Final, Protocol

from dndbots.errors import ActRefused
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import SeatTurn
from dndbots.game.input.game_answers import answer_question
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.meanings import META, REFUSED, UNCLEAR, Reading, Understanding
from dndbots.game.referee import can_follow
from dndbots.game.state.options import Surroundings
from dndbots.game.state.table import Table

_UID: Final = re.compile(r"\b(?:pc|npc|mon|loc|fac|item|qst)(?:_[a-z0-9]+)+\b")
TO_SAY: Final = "to say it aloud, put it in quotation marks"


class PlayerInput(Protocol):
    """The source of a person's lines, such as a terminal."""

    def ask(self, turn: SeatTurn) -> str | None:
        """Return the next line; None once the person leaves.

        `turn.refused` is why the last one failed, `turn.answer` what the game answers to it.
        """
        ...


class PersonPlayer:
    """A player who is asked until an act is possible. Implements `dndbots.game.agents.Player`."""

    attempts: Final = 1_000_000  # a person may try as often as they like
    is_person: Final = True

    def __init__(self, lines: PlayerInput) -> None:
        self._lines = lines
        self._choices: dict[str, tuple[Reading, ...]] = {}  # what a number stands for
        self._left: dict[str, Reading] = {}  # what a turn had no room for
        self._untold: dict[str, str] = {}  # the words of a line behind its second deed

    def act(self, turn: SeatTurn) -> Act | None:
        left = self._left.pop(turn.who, None) if not turn.refused else None
        if left is not None:
            self._choices[turn.who] = (left,)
            told = f"Still to do from your last line:\n  1. {left.said}"
            turn = replace(turn, answer=told, waiting=left.said)
        untold = self._untold.pop(turn.who, "") if not turn.refused else ""
        if untold:
            told = f"A turn takes two deeds; type the rest of your last line again to do it: {untold}"
            turn = replace(turn, answer=f"{turn.answer}\n{told}".lstrip())
        while True:
            line = self._lines.ask(turn)
            if line is None:
                return None
            line = "1" if turn.waiting and not line.strip() else line
            found = self._chosen(turn, line) or understand_line(turn.table, turn.who, line)
            act = act_of(found, free=turn.free)
            if act is not None:
                self._choices.pop(turn.who, None)
                return self._with_second(turn.who, act, found)
            self._choices[turn.who] = found.readings
            turn = replace(turn, refused="", answer="", waiting="")
            if found.verb == REFUSED:
                turn = replace(turn, refused=f"{found.reason}; {TO_SAY}")
            else:
                turn = replace(turn, answer=render_answer(turn.table, turn.who, found))

    def _chosen(self, turn: SeatTurn, line: str) -> Understanding | None:
        """Return the reading that a number stands for. What was left over is read again where one is now."""
        choices = self._choices.get(turn.who, ())
        number = line.strip(" .)")
        if not number.isascii() or not number.isdigit() or not 0 < int(number) <= len(choices):
            return None
        reading = choices[int(number) - 1]
        if turn.waiting:
            again = understand_line(turn.table, turn.who, reading.said)
            if again.verb == reading.act.verb.value:
                return again
        return Understanding(verb=reading.act.verb.value, words=reading.said, act=reading.act)

    def _with_second(self, who: str, act: Act, found: Understanding) -> Act:
        """Return an act with the second deed of its line; what the turn has no room for is left for later."""
        then = found.then
        self._untold[who] = found.left
        second = None if then is None else then.act
        if then is None or second is None:
            return act
        if can_follow(act, second):
            return act.model_copy(update={"then": second})
        self._left[who] = Reading(then.words or then.verb, second)
        return act


def act_of(found: Understanding, *, free: bool = False) -> Act | None:
    """Return the act of a line; None if it is none. A DM who is `free` judges what is not understood."""
    if free and found.verb == UNCLEAR and found.line:
        return Act(verb=Verb.TRY, words=found.line)
    return found.act


def parse_line(table: Table, who: str, text: str) -> Act:
    """Return the act of a typed line. `ActRefused` says what is wrong with it, or answers it."""
    found = understand_line(table, who, text)
    if found.act is not None:
        return found.act
    reason = f"{found.reason}; {TO_SAY}" if found.verb == REFUSED else render_answer(table, who, found)
    raise ActRefused(who, verb=Verb.SAY.value, reason=reason)


def render_answer(table: Table, who: str, found: Understanding) -> str:
    """Return what the game answers to a question, or to a line that it did not understand."""
    if found.verb == META:
        return answer_question(table, who, found)
    choices = [f"  {number}. {reading.said}" for number, reading in enumerate(found.readings, start=1)]
    if not choices:
        return "That was not understood. Type what you do, or put what you say in quotation marks."
    reason = found.reason[:1].upper() + found.reason[1:]
    return "\n".join((f"{reason}. Type a number, or say it in other words:", *choices))


def reason_of(turn: SeatTurn) -> str:
    """Return why the last act was refused, with names that the character knows instead of uids."""
    here = Surroundings(turn.table, turn.who)
    return _UID.sub(lambda match: here.called(match.group()), turn.refused or turn.answer)
