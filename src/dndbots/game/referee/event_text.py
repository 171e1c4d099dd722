"""Texts of the referee's events: house phrases, records of dice, and deeds that came without words."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from dndbots.game.acts import Act, Verb
from dndbots.game.phrases import house_phrases
from dndbots.game.state.options import NEWS, Surroundings
from dndbots.game.state.scene_tags import setting_at
from dndbots.game.state.step import Step
from dndbots.game.state.table import Table
from dndbots.text.word_forms import as_route, with_the

if TYPE_CHECKING:
    from dndbots.rules.outcomes import Outcome


def tell(step: Step, key: str, **slots: str) -> str:
    """Return a house phrase for an event. The alternatives of a rule take turns."""
    table = step.table
    place = table.place(step.name.rpartition(" ")[2]) or next(iter(table.fights), None)
    text, used = house_phrases().say_next(
        key,
        seed=f"{step.seed}/table",
        used=table.phrases + step.used,
        setting=setting_at(table, place),
        **slots,
    )
    step.used[used] += 1
    return text


def dice(*outcomes: "Outcome") -> list[JsonValue]:
    """Return outcomes for an event's metadata: a line to check, and every die behind it."""
    return [
        {
            "text": outcome.text,
            "rolls": [
                {"roll": roll.expression, "total": roll.total, "dice": [[*die.rolled] for die in roll.dice]}
                for roll in outcome.rolls
            ],
        }
        for outcome in outcomes
    ]


def join_names(names: Sequence[str]) -> str:
    """Return `Throk`, `Throk and Zara`, or `Throk, Zara and Bram`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nobody"


def party_names(step: Step, uids: Iterable[str]) -> str:
    """Return the names of some characters, joined with "and"."""
    return join_names([step.table.name(uid) for uid in uids])


def describe_deed(own: Table, who: str, act: Act) -> str:
    """Return a deed as a sentence of its doer, for a deed without words; only with names the doer knows."""
    write = _SENTENCES.get(act.verb)
    return write(Surroundings(own, who), act) if write is not None else "I wait."


def _whom(here: Surroundings, act: Act) -> str:
    uid = act.target or ""
    fight = here.fight
    if fight is not None and uid in fight.foes:
        return with_the(fight.foes[uid].name)
    name = here.table.names.get(uid)
    return "somebody" if name is None else with_the(name)


def _thing(here: Surroundings, act: Act) -> str:
    """Return the looks of a thing; its key must not be shown, because only the adventure knows it."""
    key = act.what or ""
    looks = here.sights.things.get(key) or (key if key in here.sights.ways else None)
    return with_the(looks) if looks is not None else "it"


def _quest(here: Surroundings, act: Act) -> str:
    name = here.table.names.get(act.what or "")
    return "that" if name is None else with_the(name)


def _ask(here: Surroundings, act: Act) -> str:
    about = "what there is to tell" if act.what in (None, NEWS) else f"about {act.what}"
    return f"I ask {_whom(here, act)} {about}."


def _look(here: Surroundings, act: Act) -> str:
    if act.target is not None and act.target == act.what:
        return f"I walk up to {_whom(here, act)}."
    return f"I look at {_thing(here, act)}."


def _cast(here: Surroundings, act: Act) -> str:
    return f"I cast {act.what}." if act.target is None else f"I cast {act.what} at {_whom(here, act)}."


_SENTENCES: Final[dict[Verb, Callable[[Surroundings, Act], str]]] = {
    Verb.GO: lambda _, act: f"I take {as_route(act.what or '')}.",
    Verb.STAY: lambda _place, _act: "I stay here.",
    Verb.SEARCH: lambda _place, _act: "I search the place.",
    Verb.LOOK: _look,
    Verb.USE: lambda _, act: f"I use {with_the(act.what or 'it')}.",
    Verb.BUY: lambda here, act: (
        f"I ask {_whom(here, act)} for {act.what or 'something'}, and reach for my purse."
    ),
    Verb.SELL: lambda here, act: f"I offer {with_the(act.what or 'it')} to {_whom(here, act)}, for money.",
    Verb.TRY: lambda _, act: (
        f"I try something with {with_the(act.what)}." if act.what else "I try something."
    ),
    Verb.TAKE: lambda here, act: f"I take {_thing(here, act)}.",
    Verb.OPEN: lambda here, act: f"I try to open {_thing(here, act)}.",
    Verb.ASK: _ask,
    Verb.GIVE: lambda here, act: f"I give {with_the(act.what or '')} to {_whom(here, act)}.",
    Verb.ACCEPT: lambda here, act: f"I take on {_quest(here, act)}.",
    Verb.REFUSE: lambda here, act: f"I do not take on {_quest(here, act)}.",
    Verb.REST: lambda _place, _act: "I lie down to rest.",
    Verb.ATTACK: lambda here, act: f"I attack {_whom(here, act)}.",
    Verb.CAST: _cast,
    Verb.BIND: lambda here, act: f"I bind the wounds of {_whom(here, act)}.",
    Verb.FLEE: lambda _, act: f"I flee by {as_route(act.what or '')}.",
    Verb.PARLEY: lambda here, act: f"I lower my weapon and talk to {_whom(here, act)}.",
}
