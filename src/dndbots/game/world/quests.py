"""Quests: offers accepted or refused, steps completed, endings and rewards."""

from collections.abc import Sequence
from typing import Any, Final

from dndbots.events import EventType
from dndbots.game.adventures.module import Ending, ModuleQuest, Person, Place
from dndbots.game.referee import award
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.dm_notes import note_quest, step_facts
from dndbots.game.world.narration import Narration, first_clause, join_texts, with_article
from dndbots.game.world.search import askers_of, share_gold
from dndbots.game.world.shared_knowledge import scenes_that_know
from dndbots.game.world.talk import speak
from dndbots.game.world.world_state import beat

_OPEN: Final = ("offered", "accepted")
_A_LITTLE: Final = 1  # trust won by a promise, lost by a refusal


def accept_quests(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer a yes: the first character to accept promises for the whole party."""
    del place
    for quest in _meant(narration, acts, states=("offered", "refused")):
        qst = narration.atlas.uid("qst", quest.key)
        giver = None if quest.giver is None else narration.atlas.module.people.get(quest.giver)
        about = [qst, *([narration.atlas.uid("npc", giver.key)] if giver else [])]
        names = {qst: quest.name, **({about[1]: giver.name} if giver else {})}
        who = narration.step.table.name(acts[0].who)
        to_whom = f" to {giver.name}" if giver else ""
        goal = (quest.goal or quest.name)[:400]
        narration.tell(
            uid,
            narration.phrase("accepted", who=who, quest=quest.name),
            kind=EventType.QUEST_UPDATE,
            participants=askers_of(acts),
            beats=[beat("accepted", quest.key)],
            names=names,
            gist=f"we took on {quest.name}",
            quest_id=qst,
            quest_state="accepted",
            reputation={about[1]: _A_LITTLE} if giver else None,
            threads=[
                {"id": _promise(qst), "kind": "promise", "text": f"promised{to_whom}: {goal}", "about": about}
            ],
        )


def refuse_quests(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer a no to an offered quest."""
    del place
    for quest in _meant(narration, acts, states=("offered",)):
        qst = narration.atlas.uid("qst", quest.key)
        npc = None if quest.giver is None else narration.atlas.uid("npc", quest.giver)
        narration.tell(
            uid,
            narration.phrase("refused", who=narration.step.table.name(acts[0].who), quest=quest.name),
            kind=EventType.QUEST_UPDATE,
            participants=askers_of(acts),
            beats=[beat("refused", quest.key)],
            names={qst: quest.name},
            gist=f"we turned down {quest.name}",
            quest_id=qst,
            quest_state="refused",
            reputation={npc: -_A_LITTLE} if npc else None,
        )


def _promise(qst: str) -> str:
    """Return the id of the thread that stays open while a quest does."""
    return f"promise_{qst}"


def _meant(narration: Narration, acts: Sequence[PendingAct], *, states: Sequence[str]) -> list[ModuleQuest]:
    """Return the quests an act refers to, by uid, key or name; without one, the first offered quest."""
    wanted = [act.act.what or act.act.target or "" for act in acts]
    quests = [
        quest
        for quest in narration.atlas.module.quests.values()
        if narration.world.quest(quest.key) in states
    ]
    named = [
        quest
        for quest in quests
        if not {quest.key, narration.atlas.uid("qst", quest.key), quest.name}.isdisjoint(wanted)
    ]
    unnamed = any(not act.act.what for act in acts)
    offered = [quest for quest in quests if narration.world.quest(quest.key) == "offered"]
    return named or (offered[:1] if unnamed else [])


def advance_quests(narration: Narration) -> None:
    """Begin, advance or end every quest whose conditions hold."""
    for quest in narration.atlas.module.quests.values():
        state = narration.world.quest(quest.key)
        if narration.world.is_ended(quest.key):
            continue
        if state is None:
            if quest.giver is None and narration.world.holds(quest.begins):
                _begin(narration, quest)
            continue
        if state in _OPEN:
            _steps(narration, quest)
        _end(narration, quest)


def _begin(narration: Narration, quest: ModuleQuest) -> None:
    """Begin a quest without a giver: the party takes it on by itself."""
    qst = narration.atlas.uid("qst", quest.key)
    goal = quest.goal or quest.name
    known = scenes_that_know(narration, quest.begins)
    if not known:
        return
    note_quest(narration, quest)
    narration.tell(
        known[0],
        quest.offer or narration.phrase("begins", quest=quest.name, goal=goal),
        kind=EventType.QUEST_UPDATE,
        beats=[beat("offered", quest.key)],
        names={qst: quest.name},
        gist=first_clause(goal),
        quest_id=qst,
        quest_state="accepted",
        facts=[{"subject": qst, "key": "goal", "value": goal[:1_000]}],
    )


def _steps(narration: Narration, quest: ModuleQuest) -> None:
    """Tell of every step whose condition holds."""
    qst = narration.atlas.uid("qst", quest.key)
    for step in quest.steps.values():
        if narration.world.step(quest.key, step.key) or not narration.world.holds(step.when):
            continue
        known = scenes_that_know(narration, step.when, quest=quest.key)
        if not known:
            continue
        narration.tell(
            known[0],
            narration.phrase("step", quest=quest.name, text=step.text),
            kind=EventType.QUEST_UPDATE,
            beats=[beat("step", quest.key, step.key)],
            names={qst: quest.name},
            gist=f"we came a step further with {quest.name}",
            quest_id=qst,
            objective_id=step.key,
            objective_state="completed",
            facts=step_facts(qst, step),
        )


def _end(narration: Narration, quest: ModuleQuest) -> None:
    """Tell the first ending whose condition holds, at its place and by its person."""
    for ending in quest.endings.values():
        by = None if ending.by is None else narration.atlas.module.people.get(ending.by)
        by = None if by is not None and narration.world.killed(by.key) else by
        if not narration.world.holds(ending.when):
            continue
        uid = _stage(narration, ending, by, scenes_that_know(narration, ending.when, quest=quest.key))
        if uid is not None and uid not in narration.step.table.fights:
            _pay(narration, quest, ending, by, uid)
            return


def _pay(narration: Narration, quest: ModuleQuest, ending: Ending, by: Person | None, uid: str) -> None:
    """Tell an ending and award its experience."""
    _tell_end(narration, quest, ending, by, uid)
    reward = quest.reward_of(ending)
    if reward.xp:
        here = narration.step.table.together(uid)
        award(narration.step, here, reward.xp, text=narration.phrase("learned", quest=quest.name), place=uid)


def _tell_end(narration: Narration, quest: ModuleQuest, ending: Ending, by: Person | None, uid: str) -> None:
    """Tell an ending with its reward, in the words of a person if it has one."""
    qst = narration.atlas.uid("qst", quest.key)
    here = narration.step.table.together(uid)
    reward = quest.reward_of(ending)
    gold = _gold_due(narration, quest, reward.gold)
    items = [narration.atlas.module.items[key] for key in reward.items if key in narration.atlas.module.items]
    held = [*(with_article(item.name) for item in items), *([f"{gold} gold"] if gold else [])]
    over = narration.phrase("ended", quest=quest.name)
    paid = narration.phrase("rewarded", what=join_texts(held)) if held else ""
    accepted = narration.world.has_beat("accepted", quest.key)
    metadata: dict[str, Any] = {
        "beats": (
            beat("ended", quest.key),
            beat("ending", quest.key, ending.key),
            beat("ended_in", quest.key, str(narration.step.round)),
        ),
        "gist": f"{quest.name}: {first_clause(ending.text or over)}",
        "quest_id": qst,
        "quest_state": ending.state,
        "names": {qst: quest.name, **{narration.atlas.uid("item", item.key): item.name for item in items}},
        "loot": [*({"item": item.name, "to": here[0]} for item in items), *share_gold(gold, here)],
        "threads": [{"id": _promise(qst), "state": ending.state}] if accepted else [],
        "kind": EventType.QUEST_UPDATE,
    }
    if by is None:
        narration.tell(uid, " ".join(filter(None, (ending.text or over, paid))), **metadata)
        return
    speech = narration.phrase(f"answers.{by.voice}", npc=by.name, says=ending.text) if ending.text else over
    speak(narration, uid, by, " ".join(filter(None, (speech, paid))), **metadata)


def _gold_due(narration: Narration, quest: ModuleQuest, gold: int) -> int:
    """Return the gold of an ending; one that pays in full also pays what was won by bargaining."""
    extra = narration.world.promised(quest) - quest.reward.gold
    return gold + extra if gold >= quest.reward.gold else gold


def _stage(narration: Narration, ending: Ending, by: Person | None, known: Sequence[str]) -> str | None:
    """Return the place where an ending is told; None while nobody who knows of it is there."""
    if by is not None:
        place = narration.world.where(by.key)
        return place if place in known else None
    if ending.at is not None:
        place = narration.atlas.uid("loc", ending.at)
        return place if place in known else None
    return known[0] if known else None
