"""Slash commands of a person who plays the DM: the tools a model has as DM, under short names.

A typed line becomes the same form that a model fills in, and is carried out in the same way.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from pydantic import ValidationError

from dndbots.errors import ActRefused
from dndbots.game.dm import tools
from dndbots.game.input.act_resolver import find_matches, name_words
from dndbots.ids import DM

BAR: Final = "|"
# "3 candles"
_SEVERAL_OF: Final = re.compile(r"(\d{1,3}) +([^\W\d].*)")
_PROBLEMS: Final = {"missing": "is missing", "int_parsing": "must be a whole number"}


class CommandKind(Enum):
    """The extent of one part of a typed line."""

    TEXT = auto()  # to the next bar
    WORD = auto()  # to the next space
    SOMEBODY = auto()  # as far as it names somebody who is here
    SEVERAL = auto()  # to the next bar, with commas between


@dataclass(frozen=True, slots=True, kw_only=True)
class DMCommand:
    """A tool as a command: the fields of its form in order, its usage and its help text."""

    form: type[tools.Form]
    fields: Mapping[str, CommandKind]
    use: str
    help: str


def _command(form: type[tools.Form], use: str, help_: str, **fields: CommandKind) -> DMCommand:
    return DMCommand(form=form, fields=fields, use=use, help=help_)


_TEXT, _WORD, _SOMEBODY = CommandKind.TEXT, CommandKind.WORD, CommandKind.SOMEBODY
COMMANDS: Final[Mapping[str, DMCommand]] = {
    "whisper": _command(
        tools.Whisper,
        "/whisper NAME TEXT",
        "tell one character something that only they perceive",
        to=_SOMEBODY,
        words=_TEXT,
    ),
    "lookup": _command(
        tools.LookUp, "/lookup NAME", "look up a person or thing; only you see the answer", name=_TEXT
    ),
    "check": _command(
        tools.AskRoll,
        "/check NAME KIND [WHY]",
        "roll str dex con int wis cha, or a save: death wands paralysis breath spells",
        character=_SOMEBODY,
        kind=_WORD,
        why=_TEXT,
    ),
    "npc": _command(
        tools.IntroduceNpc,
        "/npc NAME | LOOKS [| ROLE [| WANTS]]",
        "bring in a new person; strangers call them by their looks",
        name=_TEXT,
        looks=_TEXT,
        role=_TEXT,
        wants=_TEXT,
    ),
    "speak": _command(
        tools.SpeakAs, "/speak NAME TEXT", "let somebody who is here speak", npc=_SOMEBODY, gist=_TEXT
    ),
    "move": _command(
        tools.MoveScene,
        "/move WAY [| NAMES]",
        "take everybody here, or some of them, along a way",
        way=_TEXT,
        who=CommandKind.SEVERAL,
    ),
    "place": _command(
        tools.MoveScene,
        "/place WAY | NAME | LOOKS [| WAY BACK]",
        "take everybody here along a new way to a new place",
        way=_TEXT,
        place=_TEXT,
        looks=_TEXT,
        back=_TEXT,
    ),
    "quest": _command(
        tools.OfferQuest,
        "/quest NAME | GOAL [| GIVER]",
        "offer a quest",
        name=_TEXT,
        goal=_TEXT,
        giver=_TEXT,
    ),
    "resolve": _command(
        tools.ResolveQuest,
        "/resolve completed|failed NAME",
        "end a quest that you offered",
        outcome=_WORD,
        name=_TEXT,
    ),
    "fight": _command(
        tools.StartFight,
        "/fight NUMBER MONSTER [| TEXT]",
        "foes attack; the rules play the fight",
        number=_WORD,
        monster=_TEXT,
        text=_TEXT,
    ),
    "give": _command(
        tools.Give,
        "/give NAME ITEM [| NUMBER]",
        "hand somebody a thing",
        to=_SOMEBODY,
        item=_TEXT,
        number=_WORD,
    ),
    "take": _command(
        tools.TakeAway,
        "/take NAME ITEM [| NUMBER]",
        "take a thing from a character",
        character=_SOMEBODY,
        item=_TEXT,
        number=_WORD,
    ),
    "pay": _command(
        tools.Pay,
        "/pay GOLD [PAYER [| RECEIVER]]",
        "let gold change hands",
        gold=_WORD,
        payer=_TEXT,
        to=_TEXT,
    ),
    "reward": _command(tools.Pay, "/reward NAME GOLD", "give somebody gold", to=_SOMEBODY, gold=_WORD),
    "buy": _command(
        tools.BuyThing,
        "/buy NAME ITEM [| PRICE [| TRADER]]",
        "let a character buy a thing; the rules know prices",
        character=_SOMEBODY,
        item=_TEXT,
        price=_TEXT,
        trader=_TEXT,
    ),
    "sell": _command(
        tools.SellThing,
        "/sell NAME ITEM [| PRICE [| TRADER]]",
        "let a character sell a thing",
        character=_SOMEBODY,
        item=_TEXT,
        price=_TEXT,
        trader=_TEXT,
    ),
    "loot": _command(
        tools.FindLoot,
        "/loot NAME ITEMS [| GOLD]",
        "let a character find things, with commas between",
        character=_SOMEBODY,
        items=CommandKind.SEVERAL,
        gold=_WORD,
    ),
    "hurt": _command(
        tools.Hurt, "/hurt NAME DICE [WHY]", "hurt a character", character=_SOMEBODY, amount=_WORD, why=_TEXT
    ),
    "heal": _command(
        tools.Heal, "/heal NAME DICE [WHY]", "heal a character", character=_SOMEBODY, amount=_WORD, why=_TEXT
    ),
    "condition": _command(
        tools.SetCondition,
        "/condition NAME CONDITION [| ROUNDS]",
        "begin a condition of the rules",
        character=_SOMEBODY,
        condition=_TEXT,
        rounds=_WORD,
    ),
    "cure": _command(
        tools.CureCondition, "/cure NAME CONDITION", "end a condition", character=_SOMEBODY, condition=_TEXT
    ),
    "time": _command(tools.SpendTime, "/time MINUTES [TEXT]", "let time pass", minutes=_WORD, text=_TEXT),
    "attitude": _command(
        tools.ChangeAttitude,
        "/attitude NAME hostile|wary|neutral|friendly|devoted [TEXT]",
        "change how somebody stands to the party",
        npc=_SOMEBODY,
        attitude=_WORD,
        text=_TEXT,
    ),
    "reveal": _command(
        tools.RevealSecret, "/reveal SECRET [| NAME]", "let them learn a secret", secret=_TEXT, about=_TEXT
    ),
    "cleared": _command(tools.ClearPlace, "/cleared [WHY]", "mark this place as safe", text=_TEXT),
    "endscene": _command(
        tools.EndScene,
        "/endscene SUMMARY [| HOURS]",
        "close the scene in a sentence that is remembered",
        summary=_TEXT,
        hours=_WORD,
    ),
    "plot": _command(
        tools.PlotNote,
        "/plot front|secret|wish|clue NAME | TEXT",
        "write on your plot sheet; only you see it",
        kind=_WORD,
        name=_TEXT,
        text=_TEXT,
    ),
    "act": _command(
        tools.BeginAct, "/act TITLE | QUESTION", "begin an act of the story", title=_TEXT, question=_TEXT
    ),
    "clock": _command(
        tools.SetClock,
        "/clock ROUNDS TEXT",
        "note a threat; you are told when its time is up",
        rounds=_WORD,
        threat=_TEXT,
    ),
}


def parse_command(
    line: str, here: Mapping[str, str], looks: Mapping[str, str] | None = None
) -> tools.Form | None:
    """Return the form that a line fills in; None if the line is not a command.

    `here` has the names of those in the scene. `looks` are accepted as well: strangers are called by them.
    """
    name, _, rest = line.partition(" ")
    command = COMMANDS.get(name.removeprefix("/").casefold()) if name.startswith("/") else None
    if command is None:
        return None
    said: dict[str, Any] = {}
    rest = rest.strip()
    strangers = {uid: looked for uid, looked in (looks or {}).items() if uid in here}
    for field, kind in command.fields.items():
        value, rest = _part(rest, kind, here, strangers)
        if value:
            said[field] = value
    if rest:
        raise _refused(f"{rest!r} is too much; the command is {command.use}")
    several = _SEVERAL_OF.fullmatch(str(said.get("item", "")))
    if several is not None and "number" in command.form.model_fields:
        said = {"number": several[1], **said, "item": several[2]}
    try:
        return command.form.model_validate(said)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        problem = _PROBLEMS.get(error["type"]) or error["msg"].lower()
        raise _refused(f"{error['loc'][0]} {problem}; the command is {command.use}") from exc


def _part(
    text: str, kind: CommandKind, here: Mapping[str, str], looks: Mapping[str, str]
) -> tuple[str | list[str], str]:
    """Return the next part of a line, and the rest of the line."""
    value, _, rest = text.partition(BAR)
    if kind is CommandKind.TEXT:
        return value.strip(), rest.strip()
    if kind is CommandKind.SEVERAL:
        return [name.strip() for name in value.split(",") if name.strip()], rest.strip()
    said = name = value.split(" ", 1)[0]
    if kind is CommandKind.SOMEBODY:
        said, name = _named(value, here, here) or _named(value, looks, here) or (said, name)
    return name.strip(" :,"), text[len(said) :].strip().removeprefix(BAR).strip()


def _named(text: str, known: Mapping[str, str], here: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the longest beginning of a text that names one person here, and that person's name."""
    words = text.split(" ")
    for end in range(len(words), 0, -1):
        said = " ".join(words[:end])
        found = find_matches(known, said.rstrip(":,"))
        if len(found) == 1 and set() < name_words(said) <= name_words(known[found[0]]):
            return said, here[found[0]]
    return None


def _refused(reason: str) -> ActRefused:
    return ActRefused(DM, verb="call", reason=reason)
