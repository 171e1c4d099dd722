"""Remarks to people: they greet back, take thanks, bristle at threats, and hold to their price."""

from collections.abc import Sequence
from typing import Final

from dndbots.game.adventures.module import Place
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.narration import Narration
from dndbots.game.world.talk import is_shaken, speak
from dndbots.game.world.world_state import MOOD
from dndbots.text.words import words_of

# The kinds of remarks, by words in them. The first that fits counts.
_KINDS: Final = {
    "threat": "kill hurt die dead throat burn blood sword regret threaten fool liar idiot scum hang",
    "price": "gold coins price pay cheap expensive more less half hundred little deal bargain haggle",
    "thanks": "thanks thank grateful cheers bless blessed",
    "sorry": "sorry condolences sad terrible pity awful apologies apologize apologise",
    "greeting": "hello hi hey greetings evening morning hail met welcome name introduce wave bow nod",
    "farewell": "bye goodbye farewell later",
    "praise": "beautiful lovely wonderful brave kind good delicious fine handsome pretty compliment",
}
_WORDS: Final = {kind: frozenset(words.split()) for kind, words in _KINDS.items()}
_REPUTATION: Final = {"threat": -1}


def answer_remarks(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Let each person who was spoken to answer once, in the spirit of what was said."""
    del place
    if narration.screen.voiced:
        return  # a model speaks for them
    people = {narration.atlas.uid("npc", person.key): person for person in narration.world.people(uid)}
    spoken_to = {act.act.target: act for act in acts if act.act.target in people}
    for npc, act in spoken_to.items():
        person = people[str(npc)]
        kind = _kind_of(act.act.words)
        if kind == "greeting" and not narration.world.met(person.key):
            speak(narration, uid, person, "")  # they introduce themselves
            continue
        if kind == "price" and person.key not in narration.atlas.gives:
            kind = "fare"  # they do not pay, they are paid
        name, who = person.name, narration.step.table.name(act.who)
        text = narration.phrase(f"remark.{kind}" if kind else "remark", npc=name, who=who)
        if kind == "sorry" and is_shaken(narration, person):
            text = narration.phrase("remark.forgiven", npc=name, who=who)
            calmed = [{"subject": str(npc), "key": MOOD, "value": "wary"}]
            narration.tell(uid, text, participants=[act.who, str(npc)], names={str(npc): name}, facts=calmed)
            continue
        lost = _REPUTATION.get(kind, 0)
        speak(narration, uid, person, text, reputation={str(npc): lost} if lost else None)


def _kind_of(said: str) -> str:
    words = {*words_of(said)}
    return next((kind for kind, wanted in _WORDS.items() if words & wanted), "")
