"""What a person in a seat can ask of the table, beside playing. It is answered for that seat alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from dndbots.cli import faults, show
from dndbots.errors import DndbotsError
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.game.agents import Turn
    from dndbots.game.playing import Game

LENGTHS: Final = ("short", "medium", "long")


@dataclass(frozen=True, slots=True)
class Undo:
    """Somebody who is asked in a round wants to have the one back in which it acted last."""

    who: str
    before: int


@dataclass(frozen=True, slots=True)
class Quit:
    """Somebody leaves the table."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something to do or to say, in words."""

    words: str


# What a command comes to for the game; None if it only answered.
Outcome = Undo | Quit | Said | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with what stood behind it, in somebody's turn."""

    game: "Game"
    turn: "Turn"
    rest: str
    where: str


class WrongUse(Exception):
    """A command that was called with something it does not take."""


def run(game: "Game", turn: "Turn", line: str, *, where: str) -> Outcome:
    """Does what a line that begins with a slash asks for. If something is wrong with it, that is said."""
    name, _, rest = line.removeprefix("/").partition(" ")
    commands = commands_of(turn.who)
    command = commands.get(name.casefold())
    if command is None:
        known = " ".join(f"/{one}" for one in commands)
        show.say(f"There is no /{show.inert(name)}. There is {known}")
        return None
    try:
        return command.run(Asked(game, turn, rest.strip(), where))
    except WrongUse as exc:
        show.say(f"{exc}: {command.use}")
    except DndbotsError as exc:
        show.say(show.inert(faults.without_password(str(exc))))
    return None


def commands_of(who: str) -> "Mapping[str, Command]":
    """What somebody in a seat can ask for; the DM's is another one."""
    return _dm_commands() if who == DM else COMMANDS


def _help(asked: Asked) -> None:
    if asked.turn.who == DM:
        show.say("Tell what happens here, as many lines as you like; an empty line goes on.")
    else:
        show.say("Say what you do in plain words, or say anything: what is no deed is said aloud.")
        show.say('What begins with a quotation mark is always said: "Go north!"')
    commands = commands_of(asked.turn.who)
    width = max(len(command.use) for command in commands.values())
    for command in commands.values():
        show.say(f"  {command.use:<{width}}  {command.help}")


def _look(asked: Asked) -> None:
    from dndbots.cli.sheets import say_scene

    say_scene(asked.turn)


def _sheet(asked: Asked) -> None:
    from dndbots.cli.sheets import say_sheet

    say_sheet(asked.turn.table, asked.turn.who)


def _memory(asked: Asked) -> None:
    from dndbots.cli.remembering import say_memories

    say_memories(asked.game.campaign, asked.turn.who)


def _recap(asked: Asked) -> None:
    from dndbots.cli.remembering import say_recap

    if asked.rest and asked.rest not in LENGTHS:
        raise WrongUse("a recap is short, medium or long")
    say_recap(asked.game.campaign.recap(asked.turn.who, length=asked.rest or "medium"))


def _recall(asked: Asked) -> None:
    from dndbots.cli.recalling import say_recall

    if not asked.rest:
        raise WrongUse("there is no question")
    say_recall(asked.game.campaign.recall(asked.turn.who, asked.rest))


def _whisper(asked: Asked) -> Outcome:
    if not asked.rest:
        raise WrongUse("it is not said to whom, and what")
    return Said(f"whisper {asked.rest}")


def _dm_says(word: str) -> Callable[[Asked], Outcome]:
    def run(asked: Asked) -> Outcome:
        if not asked.rest:
            raise WrongUse("there is something missing")
        return Said(f"/{word} {asked.rest}")

    return run


def _undo(asked: Asked) -> Outcome:
    return Undo(asked.turn.who, asked.turn.table.round)


def _fork(asked: Asked) -> None:
    if not asked.rest:
        raise WrongUse("it has no name yet")
    asked.game.campaign.fork(asked.rest).close()
    show.say(show.inert(f"made the branch {asked.rest} from here; --branch {asked.rest} plays it"))


def _xray(asked: Asked) -> None:
    from dndbots.cli.context import say_xray

    if asked.rest not in ("", "all"):
        raise WrongUse("it takes nothing, or all")
    say_xray(asked.turn.prompt, short=asked.rest != "all")


def _save(asked: Asked) -> None:
    show.say(show.inert(f"Everything up to this turn is saved already, in {asked.where}."))


def _quit(_: Asked) -> Outcome:
    return Quit()


@dataclass(frozen=True, slots=True)
class Command:
    use: str
    help: str
    run: Callable[[Asked], Outcome]


def _answering(answer: Callable[[Asked], None]) -> Callable[[Asked], Outcome]:
    def run(asked: Asked) -> None:
        answer(asked)

    return run


COMMANDS: Final = {
    "help": Command("/help", "what can be typed here", _answering(_help)),
    "look": Command("/look", "the place, who is here, and what you may do", _answering(_look)),
    "sheet": Command("/sheet", "your character", _answering(_sheet)),
    "memory": Command("/memory", "what your character remembers", _answering(_memory)),
    "recap": Command("/recap [short|medium|long]", "what happened in this session", _answering(_recap)),
    "recall": Command("/recall QUESTION", "what your character can know of something", _answering(_recall)),
    "whisper": Command("/whisper NAME TEXT", "say something that only one hears; it is your turn", _whisper),
    "undo": Command("/undo", "take the last round back", _undo),
    "fork": Command("/fork NAME", "keep this moment as a branch to go on from", _answering(_fork)),
    "xray": Command("/xray [all]", "what a model in your seat would read, and why", _answering(_xray)),
    "save": Command("/save", "says where the game is kept", _answering(_save)),
    "quit": Command("/quit", "leave; the game waits for you", _quit),
}


@cache
def _dm_commands() -> "Mapping[str, Command]":
    """Behind the screen there is no sheet and no single place; there is what a model has for tools."""
    from dndbots.game import calling

    tools = {name: Command(one.use, one.help, _dm_says(name)) for name, one in calling.COMMANDS.items()}
    return {
        **{name: command for name, command in COMMANDS.items() if name not in ("look", "sheet")},
        **tools,
        "roll": Command("/roll DICE [WHAT FOR]", "roll in the open: /roll 2d6 morale", _dm_says("roll")),
    }
