"""Bargains: a reward driven up, or a price down, against somebody's patience and as far as they can go.

A giver goes up to the `most` of a quest's reward, a seller down by a quarter. Each try costs patience. What
is agreed is recorded as a beat and as the reward of the quest: everybody present knows it from then on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.acts import Verb
from dndbots.game.adventures.module import ModuleQuest, Person
from dndbots.game.referee.event_text import dice
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.dm_notes import REWARD, reward_text
from dndbots.game.world.narration import Narration
from dndbots.game.world.talk import is_shaken, speak
from dndbots.game.world.world_state import AGREED, CHEAPER, World, beat
from dndbots.rules.characters.abilities import Ability
from dndbots.rules.checks import ability_check
from dndbots.text.numbers import numbers_in, spell_number

_SPOKEN: Final = (Verb.TELL, Verb.ASK, Verb.ACCEPT, Verb.REFUSE, Verb.PARLEY)
_REMARKS: Final = (Verb.TELL, Verb.PARLEY)
_TRIED: Final = "bargained"
_FAIR_TRUST: Final = 5
_MODEST, _GREEDY = 3, -4  # bonus for asking less than half of what there is to get, or more than all of it
_SHORT: Final = 3  # words
_TIMES: Final = {"double": 2, "twice": 2, "triple": 3}
_TOO_DEAR: Final = re.compile(
    r"\b(?:too (?:expensive|much|dear|steep|high)|cheaper|discount|lower|come down|robbery|less for it)\b",
    re.IGNORECASE,
)
_TOO_LITTLE: Final = re.compile(
    r"\b(?:too (?:little|low|cheap)|not enough|insult(?:ing)?|more (?:gold|money|pay)|raise (?:it|that|the)"
    r"|(?:pay|give|offer|earn|get|deserve|worth)(?: us| me)?(?: a (?:bit|little))? more|double|twice|triple"
    r"|is that all|cheapskate|stingy|(?:hardly|barely|scarcely) worth|sweeten|haggle|negotiate|halfway"
    r"|better (?:price|offer|pay|reward|deal)|do better)\b",
    re.IGNORECASE,
)
_NAMED_PRICE: Final = re.compile(
    r"\b(?:gold|gp|coins?|pieces|crowns|make (?:it|that)|or (?:we|i|no|you)|at least|no less|less than"
    r"|how about|what about|settle|meet|for|want|give|pay|offer|say|price|reward|then)\b",
    re.IGNORECASE,
)
_OWNED: Final = re.compile(r"\b(?:i|we) (?:have|had|got|carry|found)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand in a bargain: a number of gold pieces or times of them, or just better terms.

    With `is_for_less`, a price is too high; with `is_for_more`, a reward too low.
    """

    numbers: tuple[int, ...] = ()
    times: int = 1
    is_for_more: bool = False
    is_for_less: bool = False

    def above(self, gold: int) -> int | None:
        """Return the gold that is asked for, if it is more than there is now."""
        asked = max((*self.numbers, gold * self.times))
        return asked if asked > gold else None


def read_demand(words: str) -> Demand | None:
    """Return what words ask for in a bargain; None if they do not bargain."""
    dear, little = (found.search(words) is not None for found in (_TOO_DEAR, _TOO_LITTLE))
    numbers = tuple(numbers_in(words))
    is_short = len(_WORD.findall(words)) <= _SHORT
    named = bool(numbers) and (is_short or _NAMED_PRICE.search(words)) and not _OWNED.search(words)
    if not (dear or little or named):
        return None
    times = max((times for word, times in _TIMES.items() if word in words.casefold()), default=1)
    asked = numbers if named else ()
    return Demand(numbers=asked, times=times, is_for_more=little, is_for_less=dear)


def settle_bargains(narration: Narration, uid: str, acts: Sequence[PendingAct]) -> list[PendingAct]:
    """Answer what is a bargain in words to the people here. Return the acts that are still to be answered."""
    left: list[PendingAct] = []
    for act in acts:
        demand = _demand_of(act)
        if demand is None or not _settle(narration, uid, act, demand):
            left.append(act)
    return left


def _demand_of(pending: PendingAct) -> Demand | None:
    act = pending.act
    own_words = act.words if act.verb in _SPOKEN and not act.phrases else ""
    return read_demand(own_words) if own_words else None


def _settle(narration: Narration, uid: str, pending: PendingAct, demand: Demand) -> bool:
    """Answer one bargain. Return whether nothing of the act is left: a yes to the new terms still counts."""
    act, world = pending.act, narration.world
    here = world.people(uid)
    quest = None if demand.is_for_less else _quest_meant(narration, here, pending)
    if quest is not None and (demand.is_for_more or demand.above(world.promised(quest)) is not None):
        giver = world.module.people[str(quest.giver)]
        agreed = _drive_up(narration, uid, giver, quest, pending, demand)
        return not (agreed and act.verb is Verb.ACCEPT)
    seller = world.person(act.target)
    if quest is not None or act.verb not in _REMARKS or seller is None or seller not in here:
        return False
    if seller.wares:
        _beat_down(narration, uid, seller, pending)
    return bool(seller.wares)


def _quest_meant(narration: Narration, here: Sequence[Person], pending: PendingAct) -> ModuleQuest | None:
    """Return the quest whose reward is spoken of: one that its giver, who is here, has named."""
    act, world = pending.act, narration.world
    target = world.person(act.target)
    for quest in narration.atlas.module.quests.values():
        is_named = act.what in (quest.key, narration.atlas.uid("qst", quest.key))
        is_givers = target is not None and target.key == quest.giver
        asked_here = any(person.key == quest.giver for person in here)
        if (
            asked_here
            and (is_named or is_givers)
            and world.quest(quest.key)
            and not world.is_ended(quest.key)
        ):
            return quest
    return None


def _drive_up(
    narration: Narration,
    uid: str,
    giver: Person,
    quest: ModuleQuest,
    pending: PendingAct,
    demand: Demand,
) -> bool:
    """Let a giver be asked for more gold. Return whether they agreed."""
    world, name = narration.world, giver.name
    now = world.promised(quest)
    asked = demand.above(now) or quest.most
    slots = {"npc": name, "gold": spell_number(now), "asked": spell_number(asked)}
    if is_shaken(narration, giver):
        speak(narration, uid, giver, narration.phrase("shaken", npc=name))
        return False
    if world.quest(quest.key) == "accepted":
        speak(narration, uid, giver, narration.phrase("bargain.shaken", **slots))
        return False
    tries = _tries(world, giver, quest.key)
    if tries >= giver.patience:
        speak(narration, uid, giver, narration.phrase("bargain.enough", **slots))
        return False
    beats = [beat(_TRIED, giver.key, quest.key, str(tries + 1))]
    if quest.most <= now:
        speak(narration, uid, giver, narration.phrase("bargain.no_more", **slots), beats=beats)
        return False
    bonus = _GREEDY if asked > quest.most else _MODEST if 2 * (asked - now) <= quest.most - now else 0
    works, rolls = _check(narration, giver, pending.who, bonus)
    if not works:
        _refuse(narration, uid, giver, beats, rolls, slots, is_last=tries + 1 >= giver.patience)
        return False
    gold = min(asked, quest.most)
    qst = narration.atlas.uid("qst", quest.key)
    terms = reward_text(narration, quest.reward.model_copy(update={"gold": gold}))
    rule = "bargain.agreed" if gold == asked else "bargain.halfway"
    # Told by the DM: what a person says is only believed, and this is settled.
    narration.tell(
        uid,
        narration.phrase(rule, **{**slots, "gold": spell_number(gold)}),
        kind=EventType.QUEST_UPDATE,
        participants=[pending.who, narration.atlas.uid("npc", giver.key)],
        beats=[*beats, beat(AGREED, quest.key, str(gold))],
        names={qst: quest.name},
        gist=f"{name} promised us {gold} gold for {quest.name}",
        facts=[{"subject": qst, "key": REWARD, "value": terms}],
        play={"rolls": rolls},
    )
    return True


def _beat_down(narration: Narration, uid: str, seller: Person, pending: PendingAct) -> None:
    """Let a seller be asked for a better price: they come down once, by a quarter."""
    world, slots = narration.world, {"npc": seller.name, "gold": "", "asked": ""}
    tries = _tries(world, seller, "wares")
    if world.has_beat(CHEAPER, seller.key):
        speak(narration, uid, seller, narration.phrase("bargain.cheap_enough", **slots))
        return
    if tries >= seller.patience:
        speak(narration, uid, seller, narration.phrase("remark.fare", npc=seller.name, who=""))
        return
    beats = [beat(_TRIED, seller.key, "wares", str(tries + 1))]
    works, rolls = _check(narration, seller, pending.who, 0)
    if not works:
        text = narration.phrase("remark.fare", npc=seller.name, who="")
        speak(narration, uid, seller, text, beats=beats, play={"rolls": rolls})
        return
    speak(
        narration,
        uid,
        seller,
        narration.phrase("bargain.cheaper", **slots),
        beats=[*beats, beat(CHEAPER, seller.key)],
        gist=f"{seller.name} sells to us for a quarter less",
        play={"rolls": rolls},
    )


def _tries(world: World, person: Person, about: str) -> int:
    """Return how often somebody's patience was tried."""
    return sum(
        world.has_beat(_TRIED, person.key, about, str(number)) for number in range(1, person.patience + 1)
    )


def _check(narration: Narration, person: Person, who: str, bonus: int) -> tuple[bool, list[JsonValue]]:
    """Roll the charisma of a character, better the more they are trusted."""
    sheet = narration.step.table.character(who)
    if sheet is None:
        return False, []
    trusted = narration.world.trust(person) - _FAIR_TRUST
    made = ability_check(sheet, Ability.CHARISMA, rng=narration.rng, bonus=bonus + trusted)
    return made.success, dice(made)


def _refuse(
    narration: Narration,
    uid: str,
    giver: Person,
    beats: list[str],
    rolls: list[JsonValue],
    slots: dict[str, str],
    *,
    is_last: bool,
) -> None:
    """Let a giver stay with their word; they think less of who asks once too often."""
    npc = narration.atlas.uid("npc", giver.key)
    speak(
        narration,
        uid,
        giver,
        narration.phrase("bargain.last_word" if is_last else "bargain.no", **slots),
        beats=beats,
        reputation={npc: -1} if is_last else None,
        play={"rolls": rolls},
    )
