"""The sheet, the scene and the options of a seat, as its player sees them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.text import Text

from dndbots.cli import console
from dndbots.game.acts import Verb
from dndbots.game.state.options import Option, Surroundings, list_options

if TYPE_CHECKING:
    from dndbots.game.agents import SeatTurn
    from dndbots.game.state.table import Table

_MARGIN: Final = 2


def say_sheet(table: "Table", who: str) -> None:
    """Print a character's sheet, as the character knows it."""
    sheet = table.character(who)
    if sheet is None:
        console.say(console.inert(f"{table.name(who)} has no sheet."))
        return
    stats = type(sheet.stats).model_fields
    scores = "  ".join(f"{name.upper()} {getattr(sheet.stats, name)}" for name in stats)
    xp, coppers = table.fact(who, "xp", 0), table.fact(who, "coppers", 0)
    change = f" and {coppers} coppers" if coppers else ""
    lines = [
        f"{sheet.name}, level {sheet.level} {sheet.char_class}",
        f"HP {sheet.hp}/{sheet.hp_max}  AC {sheet.ac}  gold {sheet.gold}{change}  XP {xp}",
        scores,
        f"carries {', '.join(sheet.equipment) or 'nothing'}",
    ]
    if spells := table.spells(who):
        lines.append(f"spells ready: {', '.join(spells)}")
    if conditions := table.conditions(who):
        lines.append(f"is {', '.join(conditions)}")
    for line in lines:
        console.say_indented(line, _MARGIN)


def say_scene(turn: "SeatTurn") -> None:
    """Print where a character is, who is with it, and what it can do."""
    place = Surroundings(turn.table, turn.who)
    console.say(console.inert(f"You are here: {turn.table.name(place.uid) if place.uid else 'nowhere'}"))
    others = [place.called(uid) for uid in (*place.friends(), *place.people())]
    if others:
        console.say_indented(f"with {', '.join(others)}", _MARGIN)
    if place.fight is not None:
        foes = place.fight.standing.values()
        counted = (f"{one.number} {one.name}" if one.number > 1 else one.name for one in foes)
        console.say_indented(f"in a fight with {', '.join(counted)}", _MARGIN)
    if looks := [*place.sights.things.values()]:
        console.say_indented(f"in sight: {', '.join(looks)}", _MARGIN)
    say_options(turn)


def say_options(turn: "SeatTurn") -> None:
    """Print what a character can do in one paragraph, each verb once with all its targets."""
    output = console.output()
    text = Text(console.inert(f"You can {'; '.join(_grouped(turn))}."), style="dim")
    for line in text.wrap(output, max(output.width - _MARGIN, 20)):
        line.rstrip()
        line.pad_left(_MARGIN)
        output.print(line, soft_wrap=True)


def _grouped(turn: "SeatTurn") -> Iterator[str]:
    place = Surroundings(turn.table, turn.who)
    named: dict[Verb, dict[str, None]] = {}
    for one in list_options(turn.table, turn.who):
        named.setdefault(one.verb, {})[_name(place, one)] = None
    for verb, words in _SAID.items():
        names = ", ".join(filter(None, named.get(verb, ())))
        if verb in named and (names or "{}" not in words):
            yield words.replace("{}", names)
    yield "or say anything (/help)"


def _name(place: Surroundings, one: Option) -> str:
    """Return the target of an option by name; nothing if another verb already names it."""
    if one.verb is Verb.TAKE:
        return place.sights.things.get(one.what or "", "")
    if one.verb in (Verb.CAST, Verb.GO, Verb.FLEE):
        return one.what or ""
    uid = one.what if one.verb is Verb.ACCEPT else one.target
    return place.called(uid) if uid is not None else ""


_SAID: Final = {
    Verb.BIND: "bind {}",
    Verb.ATTACK: "attack {}",
    Verb.PARLEY: "parley with {}",
    Verb.CAST: "cast {}",
    Verb.FLEE: "flee by {}",
    Verb.ACCEPT: "accept or refuse {}",
    Verb.ASK: "ask {} about anything",
    Verb.LOOK: "approach {}",
    Verb.TAKE: "look at, take or open {}",
    Verb.GO: "go {}",
    Verb.TELL: "tell of what others did not see",
    Verb.SEARCH: "search",
    Verb.STAY: "stay",
    Verb.REST: "rest",
}
