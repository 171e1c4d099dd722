"""What a person in a seat can ask of the table, beside playing. It is answered for that seat alone."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from dndbots.cli import faults, show
from dndbots.errors import DndbotsError
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.game.agents import Turn
    from dndbots.game.playing import Game

LENGTHS: Final = ("short", "medium", "long")
# As other games have it.
_ALSO: Final = {"?": "help", "i": "sheet", "inv": "sheet", "inventory": "sheet", "q": "quit"}


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


def asked_in(line: str, who: str) -> str | None:
    """The command that a line is: it begins with a slash, or is one word that needs nothing behind it."""
    line = line.strip()
    if line.startswith("/"):
        return line
    word = line.casefold()
    command = commands_of(who).get(_ALSO.get(word, word))
    return f"/{word}" if command is not None and not command.needs_more else None


def run(game: "Game", turn: "Turn", line: str, *, where: str) -> Outcome:
    """Does what a line that begins with a slash asks for. If something is wrong with it, that is said."""
    name, _, rest = line.removeprefix("/").partition(" ")
    commands, called = commands_of(turn.who), name.casefold()
    command = commands.get(_ALSO.get(called, called))
    if command is None:
        known = " ".join(f"/{one}" for one in commands)
        show.say_indented(f"There is no /{name}. There is {known}. Deeds have no slash before them.", 0)
        return None
    if rest.strip() and command.takes_nothing:
        show.say(f"there is more than it takes: {command.use}")
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
    commands = commands_of(asked.turn.who)
    if asked.rest:
        name = asked.rest.removeprefix("/").casefold()
        if name not in commands:
            raise WrongUse(f"there is no /{show.inert(name)}")
        commands = {name: commands[name]}
    elif asked.turn.who == DM:
        show.say("Tell what happens here, as many lines as you like; an empty line goes on.")
    else:
        show.say("Say what you do in plain words, or say anything: what is no deed is said aloud.")
        show.say('What begins with a quotation mark is always said: "Go north!"')
        show.say("When others go, you go along, unless you stay or wait for an answer.")
    width = max(len(command.use) for command in commands.values())
    for command in commands.values():
        show.say_hanging(f"  {command.use:<{width}}  ", command.help)


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
    # Somebody who has perceived nothing of this round yet would count from an earlier one.
    return Undo(asked.turn.who, asked.game.round)


def _fork(asked: Asked) -> None:
    if not asked.rest:
        raise WrongUse("it has no name yet")
    asked.game.campaign.fork(asked.rest).close()
    plays = f"--branch {shlex.quote(asked.rest)}"
    show.say(show.inert(f"made the branch {asked.rest} from here; {plays} plays it"))


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

    @property
    def takes_nothing(self) -> bool:
        return " " not in self.use

    @property
    def needs_more(self) -> bool:
        return not self.takes_nothing and "[" not in self.use.split()[1]


def _answering(answer: Callable[[Asked], None]) -> Callable[[Asked], Outcome]:
    def run(asked: Asked) -> None:
        answer(asked)

    return run


COMMANDS: Final = {
    "help": Command("/help [COMMAND]", "what can be typed here", _answering(_help)),
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
    kept = {name: command for name, command in COMMANDS.items() if name not in ("look", "sheet")}
    return {
        **kept,
        "memory": replace(kept["memory"], help="what is remembered of places, people and the world"),
        "recall": replace(kept["recall"], help="what was recorded of something; nobody hears it"),
        **tools,
        "roll": Command("/roll DICE [WHAT FOR]", "roll in the open: /roll 2d6 morale", _dm_says("roll")),
    }
