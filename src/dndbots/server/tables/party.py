"""The party and the sheet beside a story, as one seat knows them, and what its character can do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.state.options import Surroundings, list_options
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.models import Character
from dndbots.server.tables.story import initials_of, name_at

_OPEN_QUESTS: Final = frozenset(("offered", "accepted", "active", "open"))
_MOST_IDEAS: Final = 9
_TARGETS: Final = 3
# Deeds in the order of a player's interest, in a fight and in peace.
_IN_FIGHTS: Final = (Verb.BIND, Verb.ATTACK, Verb.CAST, Verb.PARLEY, Verb.FLEE)
_IN_PEACE: Final = (
    Verb.BIND,
    Verb.ACCEPT,
    Verb.REFUSE,
    Verb.ASK,
    Verb.LOOK,
    Verb.SEARCH,
    Verb.GO,
    Verb.TAKE,
    Verb.OPEN,
    Verb.REST,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of the party. Hit points are there for the character itself and for the DM."""

    uid: str
    name: str
    initials: str
    colour: int
    hp: int | None = None
    hp_max: int | None = None
    conditions: tuple[str, ...] = ()
    place: str = ""
    is_me: bool = False
    is_here: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPanel:
    """The panel beside the story: the place, the party, and the sheet of the seat's own character."""

    place: str
    is_dark: bool
    light: str
    members: tuple[Member, ...]
    people: tuple[str, ...]
    foes: tuple[str, ...]
    quests: tuple[tuple[str, str], ...]
    sheet: Character | None
    xp: int
    spells: tuple[str, ...]
    round: int


def read_panel(table: Table) -> SeatPanel:
    """Return the panel for the viewer of a table."""
    viewer = table.viewer
    here = Surroundings(table, viewer)
    is_dm = viewer == DM
    place = here.uid if not is_dm else ""
    fight = here.fight
    foes = (
        []
        if fight is None
        else [f"{foe.number} {foe.name}" if foe.number > 1 else foe.name for foe in fight.standing.values()]
    )
    return SeatPanel(
        place=name_at(table, place) if place else "",
        is_dark=here.sights.dark,
        light=_light(table, viewer),
        members=tuple(_members(table, place)),
        people=() if is_dm else tuple(here.called(uid) for uid in here.people() if uid.startswith("npc_")),
        foes=tuple(foes),
        quests=tuple(_quests(table)),
        sheet=None if is_dm else table.character(viewer),
        xp=int(table.fact(viewer, "xp", 0) or 0),
        spells=tuple(table.spells(viewer)),
        round=table.round,
    )


def _members(table: Table, place: str) -> Iterator[Member]:
    viewer = table.viewer
    for uid in table.living():
        name, at = name_at(table, uid), table.place(uid)
        is_known = viewer in (DM, uid)
        hp, most = table.fact(uid, "hp"), table.fact(uid, "hp_max")
        is_counted = is_known and isinstance(hp, int) and isinstance(most, int)
        yield Member(
            uid=uid,
            name=name,
            initials=initials_of(name),
            colour=table.seats[uid].seat,
            hp=max(hp, 0) if is_counted else None,
            hp_max=most if is_counted else None,
            conditions=tuple(table.conditions(uid)),
            place=name_at(table, at) if at and at != place else "",
            is_me=uid == viewer,
            is_here=viewer == DM or at == place,
        )


def _quests(table: Table) -> Iterator[tuple[str, str]]:
    for uid, facts in table.facts.items():
        state = str(facts.get("state", ""))
        if uid.startswith("qst_") and state in _OPEN_QUESTS:
            yield name_at(table, uid), state


def _light(table: Table, who: str) -> str:
    """Return the light that a character carries, in its own words."""
    carried = [item for item in table.items(who) if any(w in item for w in ("torch", "lantern", "candle"))]
    return ", ".join(carried)


@dataclass(frozen=True, slots=True)
class Idea:
    """Something that one can do now: the line to send, and whether it needs more words first."""

    line: str
    needs_words: bool = False


def list_ideas(table: Table, who: str) -> list[Idea]:
    """Return a few lines that a player could send now, at most some of each kind."""
    here = Surroundings(table, who)
    friends = here.friends()
    by_verb: dict[Verb, list[str]] = {}
    for option in list_options(table, who):
        if option.verb is not Verb.CAST or option.target not in friends:
            by_verb.setdefault(option.verb, []).append(option.said)
    wanted = _IN_PEACE if here.fight is None else _IN_FIGHTS
    lines = [line for verb in wanted for line in by_verb.get(verb, ())[:_TARGETS]]
    whispers = [Idea(f"whisper to {here.called(uid)}: ", needs_words=True) for uid in friends[:_TARGETS]]
    return [*map(Idea, lines[:_MOST_IDEAS]), *whispers]
