"""Slash commands of a person in a seat, answered from what that seat perceives."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from dndbots.cli import console, failures
from dndbots.errors import DndbotsError
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.game.agents import SeatTurn
    from dndbots.game.game import Game

LENGTHS: Final = ("short", "medium", "long")
# Short names that players know from other games.
_ALSO: Final = {"?": "help", "i": "sheet", "inv": "sheet", "inventory": "sheet", "q": "quit"}


@dataclass(frozen=True, slots=True)
class Undo:
    """A player wants to take back the last round in which they acted, before round `before`."""

    who: str
    before: int


@dataclass(frozen=True, slots=True)
class Retry:
    """A player wants the last turn of a model told again, or that of `teller`, perhaps with a wish."""

    who: str
    wish: str = ""
    teller: str | None = None


@dataclass(frozen=True, slots=True)
class Swipe:
    """A player wants another telling of the last turn, `by` steps on."""

    who: str
    by: int = 1


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A player wants the text of the last turn replaced."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Quit:
    """A player leaves the game."""


@dataclass(frozen=True, slots=True)
class SlashReply:
    """Words that a command hands to the game as a deed or as speech."""

    words: str


# The effect of a command on the game; None if it only printed an answer.
Outcome = Undo | Retry | Swipe | Rewrite | Quit | SlashReply | None


@dataclass(frozen=True, slots=True)
class SlashCall:
    """A call of a command in a player's turn, with the text after its name."""

    game: "Game"
    turn: "SeatTurn"
    rest: str
    where: str


class WrongUse(Exception):
    """A command that was called with wrong arguments."""


def command_in(line: str, who: str) -> str | None:
    """Return the command in a line, or None: a slash command, or one word that needs no arguments."""
    line = line.strip()
    if line.startswith("/"):
        return line
    word = line.casefold()
    command = commands_of(who).get(_ALSO.get(word, word))
    return f"/{word}" if command is not None and not command.needs_more else None


def run(game: "Game", turn: "SeatTurn", line: str, *, where: str) -> Outcome:
    """Run a slash command and return its effect. Prints what is wrong with a faulty call."""
    name, _, rest = line.removeprefix("/").partition(" ")
    commands, word = commands_of(turn.who), name.casefold()
    command = commands.get(_ALSO.get(word, word))
    if command is None:
        known = " ".join(f"/{one}" for one in commands)
        console.say_indented(f"There is no /{name}. There is {known}. Type deeds without a slash.", 0)
        return None
    if rest.strip() and command.takes_nothing:
        console.say(f"too many words: {command.use}")
        return None
    try:
        return command.run(SlashCall(game, turn, rest.strip(), where))
    except WrongUse as exc:
        console.say(f"{exc}: {command.use}")
    except DndbotsError as exc:
        console.say(console.inert(failures.without_password(str(exc))))
    return None


def commands_of(who: str) -> "Mapping[str, SlashCommand]":
    """Return the commands of a player, or of the DM."""
    return _dm_commands() if who == DM else COMMANDS


def _help(call: SlashCall) -> None:
    commands = commands_of(call.turn.who)
    if call.rest:
        name = call.rest.removeprefix("/").casefold()
        if name not in commands:
            raise WrongUse(f"there is no /{console.inert(name)}")
        commands = {name: commands[name]}
    elif call.turn.who == DM:
        console.say("Tell what happens here, as many lines as you like; an empty line continues.")
    else:
        console.say("Type what you do in plain words. Anything that is not a deed is spoken aloud.")
        console.say('A line that starts with a quotation mark is always spoken: "Go north!"')
        console.say("When the others leave, you go along unless you stay or wait for an answer.")
    width = max(len(command.use) for command in commands.values())
    for command in commands.values():
        console.say_hanging(f"  {command.use:<{width}}  ", command.help)


def _look(call: SlashCall) -> None:
    from dndbots.cli.play.sheet import say_scene

    say_scene(call.turn)


def _sheet(call: SlashCall) -> None:
    from dndbots.cli.play.sheet import say_sheet

    say_sheet(call.turn.table, call.turn.who)


def _memory(call: SlashCall) -> None:
    from dndbots.cli.inspect.memories import say_memories

    say_memories(call.game.campaign, call.turn.who)


def _recap(call: SlashCall) -> None:
    from dndbots.cli.inspect.recap import say_recap

    if call.rest and call.rest not in LENGTHS:
        raise WrongUse("choose short, medium or long")
    say_recap(call.game.campaign.recap(call.turn.who, length=call.rest or "medium"))


def _recall(call: SlashCall) -> None:
    from dndbots.cli.inspect.recall import say_recall

    if not call.rest:
        raise WrongUse("the question is missing")
    say_recall(call.game.campaign.recall(call.turn.who, call.rest))


def _whisper(call: SlashCall) -> Outcome:
    if not call.rest:
        raise WrongUse("the name and the text are missing")
    return SlashReply(f"whisper {call.rest}")


def _dm_says(word: str) -> Callable[[SlashCall], Outcome]:
    def run(call: SlashCall) -> Outcome:
        if not call.rest:
            raise WrongUse("something is missing")
        return SlashReply(f"/{word} {call.rest}")

    return run


def _undo(call: SlashCall) -> Outcome:
    # Use the game's round: a player who has perceived nothing of it yet would name an earlier one.
    return Undo(call.turn.who, call.game.round)


def _retry(call: SlashCall) -> Outcome:
    """Read `/retry`, `/retry NAME`, `/retry "a wish"` and `/retry NAME a wish`."""
    first, _, rest = call.rest.partition(" ")
    if first.casefold() == DM:
        return Retry(call.turn.who, rest, DM)
    table = call.turn.table
    for uid in table.seats:
        if first.casefold() in (table.name(uid).casefold(), table.name(uid).split()[0].casefold()):
            return Retry(call.turn.who, rest, uid)
    return Retry(call.turn.who, call.rest)


def _swipe(call: SlashCall) -> Outcome:
    if call.rest not in ("", "back"):
        raise WrongUse("it takes only the word back")
    return Swipe(call.turn.who, -1 if call.rest else 1)


def _edit(call: SlashCall) -> Outcome:
    if call.rest:
        return Rewrite(call.turn.who, call.rest)
    tellings = call.game.tellings(seen_by=call.turn.who)
    text = next((telling.text for telling in tellings if telling.is_current), "")
    console.say_indented(text)
    raise WrongUse("this is the text; write the new one after the command")


def _fork(call: SlashCall) -> None:
    if not call.rest:
        raise WrongUse("the name is missing")
    call.game.campaign.fork(call.rest).close()
    plays = f"--branch {shlex.quote(call.rest)}"
    console.say(console.inert(f"created the branch {call.rest} from here; {plays} plays it"))


def _xray(call: SlashCall) -> None:
    from dndbots.cli.inspect.context import say_xray

    if call.rest not in ("", "all"):
        raise WrongUse("it takes only the word all")
    say_xray(call.turn.prompt, short=call.rest != "all")


def _save(call: SlashCall) -> None:
    console.say(console.inert(f"Everything up to this turn is already saved in {call.where}."))


def _quit(_: SlashCall) -> Outcome:
    return Quit()


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command: how it is written, what it does, and the function that runs it."""

    use: str
    help: str
    run: Callable[[SlashCall], Outcome]

    @property
    def takes_nothing(self) -> bool:
        return " " not in self.use

    @property
    def needs_more(self) -> bool:
        return not self.takes_nothing and "[" not in self.use.split()[1]


def _answering(answer: Callable[[SlashCall], None]) -> Callable[[SlashCall], Outcome]:
    def run(call: SlashCall) -> None:
        answer(call)

    return run


COMMANDS: Final = {
    "help": SlashCommand("/help [COMMAND]", "show what you can type here", _answering(_help)),
    "look": SlashCommand("/look", "show the place, who is here, and what you can do", _answering(_look)),
    "sheet": SlashCommand("/sheet", "show your character", _answering(_sheet)),
    "memory": SlashCommand("/memory", "show what your character remembers", _answering(_memory)),
    "recap": SlashCommand("/recap [short|medium|long]", "retell this session", _answering(_recap)),
    "recall": SlashCommand("/recall QUESTION", "ask what your character knows", _answering(_recall)),
    "whisper": SlashCommand(
        "/whisper NAME TEXT", "say something that only one person hears; this takes your turn", _whisper
    ),
    "undo": SlashCommand("/undo", "take the last round back", _undo),
    "retry": SlashCommand(
        "/retry [NAME] [WISH]", "have a model tell its last turn again, as you wish", _retry
    ),
    "swipe": SlashCommand("/swipe [back]", "put another telling of the last turn in its place", _swipe),
    "edit": SlashCommand("/edit [TEXT]", "rewrite the last telling by hand", _edit),
    "fork": SlashCommand("/fork NAME", "keep this moment as a branch", _answering(_fork)),
    "xray": SlashCommand(
        "/xray [all]", "show what a model in your seat would read, and why", _answering(_xray)
    ),
    "save": SlashCommand("/save", "show where the game is saved", _answering(_save)),
    "quit": SlashCommand("/quit", "leave; you can continue later", _quit),
}


@cache
def _dm_commands() -> "Mapping[str, SlashCommand]":
    """Return the commands of the DM: no sheet and no single place, but the tools a model DM has."""
    from dndbots.game.dm import commands

    tools = {
        name: SlashCommand(command.use, command.help, _dm_says(name))
        for name, command in commands.COMMANDS.items()
    }
    kept = {name: command for name, command in COMMANDS.items() if name not in ("look", "sheet")}
    return {
        **kept,
        "memory": replace(kept["memory"], help="show what is remembered of places, people and the world"),
        "recall": replace(kept["recall"], help="ask what was recorded; no player sees it"),
        **tools,
        "roll": SlashCommand("/roll DICE [WHAT FOR]", "roll in the open: /roll 2d6 morale", _dm_says("roll")),
    }
