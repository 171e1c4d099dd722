"""People, places and quests that a DM invents during play and that stand in no adventure's file.

Their uids are minted here, under keys that the adventure does not use. Facts that only the DM may know go
into events that nobody else perceives.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dndbots.errors import ActRefused
from dndbots.events import EventType
from dndbots.game.acts import Verb
from dndbots.game.adventures.conditions import JOINING
from dndbots.game.state.game_notes import Clock
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.table import Table
from dndbots.game.world.narration import Narration
from dndbots.game.world.talk import speak
from dndbots.ids import DM, fold_name, opaque_slug, slug

CALLED: Final = "called"
SEEN_AS: Final = "seen_as"
ROLE: Final = "role"
WANTS: Final = "wants"
_KINDS: Final = {"npc": "people", "loc": "places", "qst": "quests", "mon": "foes"}
_TOLD_BY_NAME: Final = ("loc", "qst")
_LONGEST_KEY: Final = 50


def mint_uid(narration: Narration, kind: str, name: str) -> str:
    """Return a uid of this chapter that is used neither in play nor in the adventure's file.

    Uids of places and quests are made from their names. Uids of people and foes are opaque, because a uid
    must not tell a name that its reader has not heard.
    """
    table, written = narration.step.table, getattr(narration.atlas.module, _KINDS[kind])
    is_told = kind in _TOLD_BY_NAME
    base = slug(name)[:_LONGEST_KEY] if is_told else opaque_slug(f"{kind}/{name}")
    base = base if base[0].isalpha() and base not in JOINING else f"the_{base}"
    number = 1
    while True:
        key = base if number == 1 else f"{base}_{number}" if is_told else opaque_slug(f"{base}/{number}")
        uid = narration.atlas.uid(kind, key)
        if narration.atlas.key(uid) not in written and uid not in table.names and uid not in table.facts:
            return uid
        number += 1


def refuse_known_name(narration: Narration, name: str, *, kind: str) -> None:
    """Raise `ActRefused` if the name is taken: readers would confuse the two."""
    table = narration.step.table
    kinds = ("npc_", "pc_") if kind == "npc" else (f"{kind}_",)
    taken = {one.name for one in getattr(narration.atlas.module, _KINDS[kind]).values()}
    for uid in {*table.names, *table.facts}:
        if uid.startswith(kinds):
            taken |= {table.names.get(uid, ""), str(table.fact(uid, CALLED, ""))}
    if fold_name(name) in map(fold_name, taken):
        raise ActRefused(DM, verb="make", reason=f"there is already a {name!r}; use another name")


def invented_people(table: Table, place: str) -> list[str]:
    """Return the living people at a place whom the DM invented."""
    invented = (uid for uid, facts in table.facts.items() if uid.startswith("npc_") and CALLED in facts)
    return [uid for uid in invented if table.place(uid) == place and table.alive(uid)]


def invented_quests(narration: Narration) -> dict[str, str]:
    """Return the quests that the DM invented, with their states."""
    written = narration.atlas.module.quests
    return {
        uid: str(facts["state"])
        for uid, facts in narration.step.table.facts.items()
        if uid.startswith("qst_") and "state" in facts and narration.atlas.key(uid) not in written
    }


def name_heard_at(narration: Narration, npc: str, place: str) -> str:
    """Return what those at a place call an NPC: the name if any of them has heard it, else the looks."""
    step, here = narration.step, narration.step.table.together(place)
    person = narration.world.person(npc)
    if person is not None:
        return narration.name_for(person, here)
    name = str(step.table.fact(npc, CALLED) or step.table.name(npc))
    if any(step.knows(who, npc) and step.of(who).names[npc] == name for who in here):
        return name
    return str(step.table.fact(npc, SEEN_AS) or name)


def find_mentions(table: Table, text: str) -> dict[str, str]:
    """Return the invented people and places that a text names, so that its hearers learn these names."""
    return {uid: name for uid, name in _names(table) if _stands_in(name, text)}


def tell_npc_line(narration: Narration, place: str, npc: str, words: str) -> None:
    """Tell a line of an NPC to all who are at the place, with the names that they learn from it."""
    person, table = narration.world.person(npc), narration.step.table
    if person is not None:
        speak(narration, place, person, words, names=find_mentions(table, words))
        return
    narration.tell(
        place,
        words,
        kind=EventType.DIALOGUE,
        source=npc,
        participants=table.together(place),
        witnesses=narration.step.present(place),
        names={npc: name_heard_at(narration, npc, place), **find_mentions(table, words)},
    )


def promise_id(quest: str) -> str:
    """Return the id of the thread that is open as long as a quest is."""
    return f"promise_{quest}"


def answer_offers(narration: Narration, waiting: Sequence[PendingAct]) -> None:
    """Tell how the party answered invented quests. The first yes or no to a quest counts for all."""
    for pending in waiting:
        states = invented_quests(narration)
        quest, place, verb = str(pending.act.what), pending.place, pending.act.verb
        if verb not in (Verb.ACCEPT, Verb.REFUSE) or states.get(quest) != "offered" or place is None:
            continue
        table = narration.step.table
        name, who = table.name(quest), table.name(pending.who)
        yes = verb is Verb.ACCEPT
        goal = str(table.fact(quest, "goal") or name)[:400]
        opened = {"id": promise_id(quest), "kind": "promise", "text": f"promised: {goal}", "about": [quest]}
        narration.tell(
            place,
            f"{who} {'promises' if yes else 'turns down'} {name}.",
            kind=EventType.QUEST_UPDATE,
            participants=[pending.who],
            names={quest: name},
            gist=f"we {'took on' if yes else 'turned down'} {name}",
            quest_id=quest,
            quest_state="accepted" if yes else "refused",
            threads=[opened] if yes else [],
        )


def stop_due_clocks(narration: Narration) -> list[Clock]:
    """Stop the clocks that have run out, note each for the DM, and return them."""
    round_ = narration.step.round
    due = {name: clock for name, clock in narration.step.table.clocks.items() if clock.due <= round_}
    for name, clock in due.items():
        narration.tell_dm(
            f"Time is up: {clock.text}",
            beats=(),
            threads=[{"id": name, "state": "due"}],
            play={"clocks": {name: None}},
        )
    return list(due.values())


def _names(table: Table) -> Iterator[tuple[str, str]]:
    for uid, facts in table.facts.items():
        if CALLED in facts:
            yield uid, str(facts[CALLED])
    for uid in table.laid:
        if uid in table.names:
            yield uid, table.names[uid]


def _stands_in(name: str, text: str) -> bool:
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
