"""Quests from offer to end: taken on, refused, brought a step further, over."""

from collections.abc import Sequence
from typing import Any, Final

from dndbots.events import EventType
from dndbots.game.adventures.values import Ending, Person, Place, Quest
from dndbots.game.house.places import a, listed
from dndbots.game.house.searching import people_of, shares
from dndbots.game.house.shared import known_at
from dndbots.game.house.talking import speak
from dndbots.game.house.telling import Telling, clause
from dndbots.game.house.world import beat
from dndbots.game.pieces import Waiting
from dndbots.game.referee import award

_OPEN: Final = ("offered", "accepted")
_A_LITTLE: Final = 1  # trust, for a promise given or kept back


def accept(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Whoever says yes first promises for all."""
    del place
    for quest in _meant(telling, asked, states=("offered", "refused")):
        qst = telling.atlas.uid("qst", quest.key)
        giver = None if quest.giver is None else telling.atlas.module.people.get(quest.giver)
        about = [qst, *([telling.atlas.uid("npc", giver.key)] if giver else [])]
        names = {qst: quest.name, **({about[1]: giver.name} if giver else {})}
        who = telling.step.table.name(asked[0].who)
        to_whom = f" to {giver.name}" if giver else ""
        goal = (quest.goal or quest.name)[:400]
        telling.tell(
            uid,
            telling.words("accepted", who=who, quest=quest.name),
            kind=EventType.QUEST_UPDATE,
            participants=people_of(asked),
            beats=[beat("accepted", quest.key)],
            names=names,
            gist=f"we gave our word on {quest.name}",
            quest_id=qst,
            quest_state="accepted",
            reputation={about[1]: _A_LITTLE} if giver else None,
            threads=[
                {"id": _promise(qst), "kind": "promise", "text": f"promised{to_whom}: {goal}", "about": about}
            ],
        )


def refuse(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    del place
    for quest in _meant(telling, asked, states=("offered",)):
        qst = telling.atlas.uid("qst", quest.key)
        npc = None if quest.giver is None else telling.atlas.uid("npc", quest.giver)
        telling.tell(
            uid,
            telling.words("refused", who=telling.step.table.name(asked[0].who), quest=quest.name),
            kind=EventType.QUEST_UPDATE,
            participants=people_of(asked),
            beats=[beat("refused", quest.key)],
            names={qst: quest.name},
            gist=f"we turned down {quest.name}",
            quest_id=qst,
            quest_state="refused",
            reputation={npc: -_A_LITTLE} if npc else None,
        )


def _promise(qst: str) -> str:
    return f"promise_{qst}"


def _meant(telling: Telling, asked: Sequence[Waiting], *, states: Sequence[str]) -> list[Quest]:
    """The quests that are spoken of: by uid, key or name; without one, whatever was offered."""
    wanted = [one.act.what or one.act.target or "" for one in asked]
    quests = [
        quest for quest in telling.atlas.module.quests.values() if telling.world.quest(quest.key) in states
    ]
    named = [
        quest
        for quest in quests
        if not {quest.key, telling.atlas.uid("qst", quest.key), quest.name}.isdisjoint(wanted)
    ]
    unnamed = any(not one.act.what for one in asked)
    offered = [quest for quest in quests if telling.world.quest(quest.key) == "offered"]
    return named or (offered[:1] if unnamed else [])


def advance(telling: Telling) -> None:
    """Brings every quest to where the story has come: begun, a step further, or over."""
    for quest in telling.atlas.module.quests.values():
        state = telling.world.quest(quest.key)
        if telling.world.is_ended(quest.key):
            continue
        if state is None:
            if quest.giver is None and telling.world.true(quest.begins):
                _begin(telling, quest)
            continue
        if state in _OPEN:
            _steps(telling, quest)
        _end(telling, quest)


def _begin(telling: Telling, quest: Quest) -> None:
    """A quest that nobody gives is the party's own from the start."""
    qst = telling.atlas.uid("qst", quest.key)
    goal = quest.goal or quest.name
    known = known_at(telling, quest.begins)
    if not known:
        return
    telling.tell(
        known[0],
        quest.offer or telling.words("begins", quest=quest.name, goal=goal),
        kind=EventType.QUEST_UPDATE,
        beats=[beat("offered", quest.key)],
        names={qst: quest.name},
        gist=clause(goal),
        quest_id=qst,
        quest_state="accepted",
        facts=[{"subject": qst, "key": "goal", "value": goal[:1_000]}],
    )


def _steps(telling: Telling, quest: Quest) -> None:
    qst = telling.atlas.uid("qst", quest.key)
    for step in quest.steps.values():
        if telling.world.step(quest.key, step.key) or not telling.world.true(step.when):
            continue
        known = known_at(telling, step.when, quest=quest.key)
        if not known:
            continue
        telling.tell(
            known[0],
            telling.words("step", quest=quest.name, text=step.text),
            kind=EventType.QUEST_UPDATE,
            beats=[beat("step", quest.key, step.key)],
            names={qst: quest.name},
            gist=f"we came a step further with {quest.name}",
            quest_id=qst,
            objective_id=step.key,
            objective_state="completed",
        )


def _end(telling: Telling, quest: Quest) -> None:
    """The first ending whose condition holds, where it is to be told and by whom."""
    for ending in quest.endings.values():
        by = None if ending.by is None else telling.atlas.module.people.get(ending.by)
        by = None if by is not None and telling.world.killed(by.key) else by
        if not telling.world.true(ending.when):
            continue
        uid = _stage(telling, ending, by, known_at(telling, ending.when, quest=quest.key))
        if uid is not None and uid not in telling.step.table.fights:
            _pay(telling, quest, ending, by, uid)
            return


def _pay(telling: Telling, quest: Quest, ending: Ending, by: Person | None, uid: str) -> None:
    _tell_end(telling, quest, ending, by, uid)
    reward = quest.reward_of(ending)
    if reward.xp:
        here = telling.step.table.together(uid)
        award(telling.step, here, reward.xp, text=telling.words("learned", quest=quest.name), place=uid)


def _tell_end(telling: Telling, quest: Quest, ending: Ending, by: Person | None, uid: str) -> None:
    qst = telling.atlas.uid("qst", quest.key)
    here = telling.step.table.together(uid)
    reward = quest.reward_of(ending)
    items = [telling.atlas.module.items[key] for key in reward.items if key in telling.atlas.module.items]
    held = [*(a(item.name) for item in items), *([f"{reward.gold} gold"] if reward.gold else [])]
    over = telling.words("ended", quest=quest.name)
    paid = telling.words("rewarded", what=listed(held)) if held else ""
    accepted = telling.world.came("accepted", quest.key)
    told: dict[str, Any] = {
        "beats": (beat("ended", quest.key), beat("ending", quest.key, ending.key)),
        "gist": f"{quest.name}: {clause(ending.text or over)}",
        "quest_id": qst,
        "quest_state": ending.state,
        "names": {qst: quest.name, **{telling.atlas.uid("item", one.key): one.name for one in items}},
        "loot": [*({"item": one.name, "to": here[0]} for one in items), *shares(reward.gold, here)],
        "threads": [{"id": _promise(qst), "state": ending.state}] if accepted else [],
        "kind": EventType.QUEST_UPDATE,
    }
    if by is None:
        telling.tell(uid, " ".join(filter(None, (ending.text or over, paid))), **told)
        return
    said = telling.words(f"answers.{by.voice}", npc=by.name, says=ending.text) if ending.text else over
    speak(telling, uid, by, " ".join(filter(None, (said, paid))), **told)


def _stage(telling: Telling, ending: Ending, by: Person | None, known: Sequence[str]) -> str | None:
    """Where an ending is told; None while nobody who knows of it is where it has to be."""
    if by is not None:
        place = telling.world.where(by.key)
        return place if place in known else None
    if ending.at is not None:
        place = telling.atlas.uid("loc", ending.at)
        return place if place in known else None
    return known[0] if known else None
