"""What a person behind the screen calls for in a line: the tools that a model has as DM, by short names.

A line becomes the form that a model fills in, and goes the same way from there on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from pydantic import ValidationError

from dndbots.errors import ActRefused
from dndbots.game.meaning import matching, name_words
from dndbots.game.models import forms
from dndbots.ids import DM

BAR: Final = "|"
_PROBLEMS: Final = {"missing": "is missing", "int_parsing": "is no whole number"}


class Kind(Enum):
    """How far a part of a line goes."""

    TEXT = auto()  # to the next bar
    WORD = auto()  # to the next space
    SOMEBODY = auto()  # as far as it names somebody who is here
    SEVERAL = auto()  # to the next bar, with commas between


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A tool as it is typed: the fields of its form, in order, and what is said of it to those who ask."""

    form: type[forms.Form]
    fields: Mapping[str, Kind]
    use: str
    help: str


def _command(form: type[forms.Form], use: str, help_: str, **fields: Kind) -> Command:
    return Command(form=form, fields=fields, use=use, help=help_)


_TEXT, _WORD, _SOMEBODY = Kind.TEXT, Kind.WORD, Kind.SOMEBODY
COMMANDS: Final[Mapping[str, Command]] = {
    "whisper": _command(
        forms.Whisper, "/whisper NAME TEXT", "tell something to one alone", to=_SOMEBODY, words=_TEXT
    ),
    "lookup": _command(
        forms.LookUp, "/lookup NAME", "what is so of somebody or something; nobody hears it", name=_TEXT
    ),
    "check": _command(
        forms.AskRoll,
        "/check NAME KIND [WHY]",
        "a roll of str dex con int wis cha, or a save: death wands paralysis breath spells",
        character=_SOMEBODY,
        kind=_WORD,
        why=_TEXT,
    ),
    "npc": _command(
        forms.IntroduceNpc,
        "/npc NAME | LOOKS [| ROLE [| WANTS]]",
        "somebody new is here; strangers call them by their looks",
        name=_TEXT,
        looks=_TEXT,
        role=_TEXT,
        wants=_TEXT,
    ),
    "speak": _command(
        forms.SpeakAs, "/speak NAME TEXT", "somebody who is here says it", npc=_SOMEBODY, gist=_TEXT
    ),
    "move": _command(
        forms.MoveScene, "/move WAY [| NAMES]", "takes all, or some, along a way", way=_TEXT, who=Kind.SEVERAL
    ),
    "place": _command(
        forms.MoveScene,
        "/place WAY | NAME | LOOKS [| WAY BACK]",
        "takes all along a new way, to a new place",
        way=_TEXT,
        place=_TEXT,
        looks=_TEXT,
        back=_TEXT,
    ),
    "quest": _command(
        forms.OfferQuest,
        "/quest NAME | GOAL [| GIVER]",
        "offers something to be done",
        name=_TEXT,
        goal=_TEXT,
        giver=_TEXT,
    ),
    "resolve": _command(
        forms.ResolveQuest,
        "/resolve completed|failed NAME",
        "ends a quest of yours",
        outcome=_WORD,
        name=_TEXT,
    ),
    "fight": _command(
        forms.StartFight,
        "/fight NUMBER MONSTER [| TEXT]",
        "foes attack; the rules play it",
        number=_WORD,
        monster=_TEXT,
        text=_TEXT,
    ),
    "clock": _command(
        forms.SetClock,
        "/clock ROUNDS TEXT",
        "what happens then; you are told when its time is up",
        rounds=_WORD,
        threat=_TEXT,
    ),
}


def called_for(
    line: str, here: Mapping[str, str], looks: Mapping[str, str] | None = None
) -> forms.Form | None:
    """The form that a line fills in; None if it calls for nothing.

    `here` are those who can be named; by their `looks`, too, which is what strangers call them.
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
        raise _refused(f"there is more than it takes: {command.use}")
    try:
        return command.form.model_validate(said)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        problem = _PROBLEMS.get(error["type"]) or error["msg"].lower()
        raise _refused(f"{error['loc'][0]}: {problem}: {command.use}") from exc


def _part(
    text: str, kind: Kind, here: Mapping[str, str], looks: Mapping[str, str]
) -> tuple[str | list[str], str]:
    """The next part of a line, and what comes behind it."""
    value, _, rest = text.partition(BAR)
    if kind is Kind.TEXT:
        return value.strip(), rest.strip()
    if kind is Kind.SEVERAL:
        return [name.strip() for name in value.split(",") if name.strip()], rest.strip()
    said = name = value.split(" ", 1)[0]
    if kind is Kind.SOMEBODY:
        said, name = _named(value, here, here) or _named(value, looks, here) or (said, name)
    return name.strip(" :,"), text[len(said) :].strip().removeprefix(BAR).strip()


def _named(text: str, known: Mapping[str, str], here: Mapping[str, str]) -> tuple[str, str] | None:
    """As much from the beginning as is what one of those who are here is known by, and their name."""
    words = text.split(" ")
    for end in range(len(words), 0, -1):
        said = " ".join(words[:end])
        found = matching(known, said.rstrip(":,"))
        if len(found) == 1 and set() < name_words(said) <= name_words(known[found[0]]):
            return said, here[found[0]]
    return None


def _refused(reason: str) -> ActRefused:
    return ActRefused(DM, verb="call", reason=reason)
