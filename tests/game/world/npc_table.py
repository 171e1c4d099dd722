"""A table on which the people of the house's adventures can be asked anything."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.game.world.scenes import Bench

from dndbots.events import EventType
from dndbots.game.adventures.library import find_chapter
from dndbots.game.adventures.module import Module
from dndbots.game.state.game_notes import DM_STEP
from dndbots.game.world.narration import Narration
from dndbots.game.world.npc_answers import NpcAnswer, find_answer
from dndbots.game.world.talk import offer_quest
from dndbots.game.world.world_state import beat

THROK, ZARA = "pc_throk_001", "pc_zara_001"
_HERE = Path(__file__).parent


def read_questions(part: str) -> list[dict[str, Any]]:
    """Return the questions of the part `dev`, `players` or `held_out`."""
    lines = (_HERE / f"npc_questions_{part}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def adventure(name: str) -> Module:
    module = find_chapter(name, 1, 0)
    assert module is not None
    return module


def stand_before(module: Module, npc: str) -> tuple[Bench, Narration]:
    """Return a table where the party has met a person, who has offered a quest, and stands before them."""
    bench = Bench(module)
    bench.dm()
    place = f"loc_{module.person_at.get(npc) or 'bedchamber'}_001"
    bench.round += 1
    step = bench.step(DM_STEP)
    narration = bench.dm_bot.narration_for(bench.screen(step))
    person = module.people[npc]
    uid = f"npc_{npc}_001"
    facts = [{"subject": who, "op": "@", "object": place} for who in (THROK, ZARA, uid)]
    step.add(
        EventType.LOCATION_CHANGE,
        "You come here.",
        place=place,
        participants=[THROK, ZARA, uid],
        names={place: module.places[narration.atlas.key(place) or ""].name, uid: person.name},
        facts=facts,
        play={"beats": [beat("met", npc)]},
    )
    quests = narration.atlas.gives.get(npc, ())
    for quest in quests[:1]:
        offer_quest(narration, place, person, quest)
    return bench, narration


def ask(module: str, npc: str, question: str) -> NpcAnswer:
    """Return what a person answers at first meeting."""
    found = adventure(module)
    _, narration = stand_before(found, npc)
    return find_answer(narration, found.people[npc], question, [THROK])


def is_right(row: dict[str, Any], answer: NpcAnswer) -> bool:
    """Return whether an answer has all that it must have. An echo of the question does not count."""
    said = answer.text.casefold()
    wanted = all(any(word.casefold() in said for word in must.split("|")) for must in row["must"])
    return wanted and not any(word.casefold() in said for word in row.get("never", ()))
