"""What comes into being in play, and is in no adventure's file: people, places and quests of a DM's own.

Their uids are minted here, under keys that the adventure does not have. What only the DM may know of them is
in events that nobody else perceives.
"""

import re
from collections.abc import Iterator
from typing import Final

from dndbots.errors import ActRefused
from dndbots.game.adventures.when import JOINING
from dndbots.game.house.telling import Telling
from dndbots.game.table import Table
from dndbots.ids import DM, folded, opaque_slug, slug

CALLED: Final = "called"
SEEN_AS: Final = "seen_as"
ROLE: Final = "role"
WANTS: Final = "wants"
_KINDS: Final = {"npc": "people", "loc": "places", "qst": "quests", "mon": "foes"}
_TOLD_BY_NAME: Final = ("loc", "qst")
_LONGEST_KEY: Final = 50


def new_uid(telling: Telling, kind: str, name: str) -> str:
    """A uid of this chapter that nobody has, neither in play nor in the adventure's file.

    Places and quests are told of by their names. What people are called is theirs to tell, and what foes are
    is for those who meet them to find out, so their uids tell nothing.
    """
    table, written = telling.step.table, getattr(telling.atlas.module, _KINDS[kind])
    is_told = kind in _TOLD_BY_NAME
    base = slug(name)[:_LONGEST_KEY] if is_told else opaque_slug(f"{kind}/{name}")
    base = base if base[0].isalpha() and base not in JOINING else f"the_{base}"
    number = 1
    while True:
        key = base if number == 1 else f"{base}_{number}" if is_told else opaque_slug(f"{base}/{number}")
        uid = telling.atlas.uid(kind, key)
        if telling.atlas.key(uid) not in written and uid not in table.names and uid not in table.facts:
            return uid
        number += 1


def refuse_known_name(telling: Telling, name: str, *, kind: str) -> None:
    """A second one of a name would be taken for the first."""
    table = telling.step.table
    kinds = ("npc_", "pc_") if kind == "npc" else (f"{kind}_",)
    taken = {one.name for one in getattr(telling.atlas.module, _KINDS[kind]).values()}
    for uid in {*table.names, *table.facts}:
        if uid.startswith(kinds):
            taken |= {table.names.get(uid, ""), str(table.fact(uid, CALLED, ""))}
    if folded(name) in map(folded, taken):
        raise ActRefused(DM, verb="make", reason=f"there is a {name} already; use another name")


def own_people(table: Table, place: str) -> list[str]:
    """People of the DM's own at a place."""
    found = (uid for uid, facts in table.facts.items() if uid.startswith("npc_") and CALLED in facts)
    return [uid for uid in found if table.place(uid) == place and table.alive(uid)]


def own_quests(telling: Telling) -> dict[str, str]:
    """Quests that the DM offered, and how they stand."""
    written = telling.atlas.module.quests
    return {
        uid: str(facts["state"])
        for uid, facts in telling.step.table.facts.items()
        if uid.startswith("qst_") and "state" in facts and telling.atlas.key(uid) not in written
    }


def called_here(telling: Telling, npc: str, place: str) -> str:
    """What somebody goes by among those at a place: the name, if any of them has heard it."""
    step, here = telling.step, telling.step.table.together(place)
    person = telling.world.person(npc)
    if person is not None:
        return telling.called(person, here)
    name = str(step.table.fact(npc, CALLED) or step.table.name(npc))
    if any(step.knows(who, npc) and step.of(who).names[npc] == name for who in here):
        return name
    return str(step.table.fact(npc, SEEN_AS) or name)


def mentioned(table: Table, text: str) -> dict[str, str]:
    """Those of the DM's own whom a text names: whoever hears it has heard of them."""
    return {uid: name for uid, name in _names(table) if _stands_in(name, text)}


def _names(table: Table) -> Iterator[tuple[str, str]]:
    for uid, facts in table.facts.items():
        if CALLED in facts:
            yield uid, str(facts[CALLED])
    for uid in table.laid:
        if uid in table.names:
            yield uid, table.names[uid]


def _stands_in(name: str, text: str) -> bool:
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
