"""Hints at tools: what the players did that only a call of the DM makes so, in the DM's question.

A model that is told "call what is needed" calls little. So words of a player that nobody has answered and
nothing has decided yet are named, with the tool that would.
"""

from collections.abc import Collection, Sequence
from typing import Final

from dndbots.events import GameEvent
from dndbots.game.acts import Act, Verb
from dndbots.game.dm.inventions import CALLED
from dndbots.game.input.line_reader import understand_line
from dndbots.game.state.game_notes import played_of
from dndbots.game.world.narration import Narration, join_texts
from dndbots.text.labels import write_label

_MOST: Final = 3
_LONGEST_READ: Final = 400  # characters of a player's words that are read
_ALOUD: Final = (Verb.SAY, Verb.TELL, Verb.ASK)
_OPEN: Final = ("easy", "fair", "hard", "heroic")


def find_hints(
    narration: Narration, place: str, since: Sequence[GameEvent], offered: Collection[str]
) -> list[str]:
    """Return a line for each thing at a place that a tool of those `offered` should record or decide."""
    if place in narration.step.table.fights:
        return []
    answered = {event.source for event in narration.step.events if event.content}
    found: dict[str, None] = {}
    waiting: dict[str, list[str]] = {}  # who spoke to each NPC that has not answered
    for event in since:
        note = played_of(event)
        act = None if note is None else note.act
        if act is None or event.known.location != place or act.verb not in _ALOUD:
            continue
        hint = _hint_of(narration, event.source, act)
        if hint is not None and hint[0] in offered:
            found.setdefault(": ".join(hint))
        npc = _hearer(narration, place, act)
        if npc is not None and npc not in answered and "speak_as" in offered:
            waiting.setdefault(npc, []).append(write_label(narration.step.table.name(event.source)))
    for npc, names in waiting.items():
        found.setdefault(
            f"speak_as: {_npc_name(narration, npc)} answers {join_texts([*dict.fromkeys(names)])}"
        )
    return list(found)[-_MOST:]


def _hint_of(narration: Narration, who: str, act: Act) -> tuple[str, str] | None:
    """Return a tool and what it would decide of a character's words; None if they are no deed."""
    table, name = narration.step.table, write_label(narration.step.table.name(who))
    deed = _deed_in(narration, who, act)
    if deed is None:
        return None
    if deed.attempt is not None and deed.attempt.level in _OPEN:
        return "ask_roll", f"{name} tries something ({deed.attempt.ability})"
    if deed.verb in (Verb.BUY, Verb.SELL) and deed.what:
        return "trade", f"{name} wants to {deed.verb.value} {write_label(deed.what)}"
    if deed.verb is Verb.GIVE and deed.what and deed.target:
        return "give", f"{name} gives {write_label(table.name(deed.target))} {write_label(deed.what)}"
    return None


def _deed_in(narration: Narration, who: str, act: Act) -> Act | None:
    """Return the deed in words that were only said; None if they are no deed of this character."""
    if act.verb is not Verb.SAY or not act.words or len(act.words) > _LONGEST_READ:
        return None
    if not narration.step.sits(who):
        return None
    found = understand_line(narration.step.of(who), who, act.words)
    return found.act


def _hearer(narration: Narration, place: str, act: Act) -> str | None:
    """Return the NPC who would answer words: the one they are to, or the only one who hears them."""
    npcs = [uid for uid in narration.step.present(place) if uid.startswith("npc_")]
    if act.target in npcs:
        return act.target
    return npcs[0] if len(npcs) == 1 and act.target is None and act.words else None


def _npc_name(narration: Narration, npc: str) -> str:
    """Return the real name of an NPC, by which the DM calls it."""
    person, table = narration.world.person(npc), narration.step.table
    return write_label(person.name if person is not None else str(table.fact(npc, CALLED) or table.name(npc)))
