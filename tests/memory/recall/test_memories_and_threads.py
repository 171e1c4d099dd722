"""Recall asks scoped memories, open threads and quests as well as lines, for those who may know them."""

from typing import Any

from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.memory import MemoryService
from dndbots.testing import assert_perspective, memory_campaign

THROK, ZARA, ELENA, INN = "pc_throk_001", "pc_zara_001", "npc_elena_001", "loc_inn_001"
QUEST = "qst_ledger_001"
QUESTIONS = (
    "What happened at the inn with the wolves?",
    "What did we promise?",
    "Who owes a debt?",
    "Which quests do we have?",
    "What is the reward for the ledger?",
)


class Retelling:
    """Makes memories in words that no line has."""

    def summarize_location_session(self, _state: Any, _location: str, _messages: list[Any]) -> str:
        return "Elena warned the travellers of a famished pack in the hills."

    def summarize_npc_interactions(self, _state: Any, _npc: Any, _messages: list[Any]) -> str:
        return "The travellers were kind to Elena."


def said(number: int, content: str, source: str = THROK, **metadata: Any) -> GameEvent:
    metadata = {"location": INN, "participants": [THROK, ZARA]} | metadata
    return event(f"m{number:03d}", source, content, kind=EventType.DIALOGUE, **metadata)


def tavern() -> Campaign:
    """Return a campaign with a promise to both, a debt that only Throk knows of, and a quest of two parts."""
    names = {ELENA: "Elena", INN: "The Inn", QUEST: "The Mill Ledger"}
    here = [{"subject": ELENA, "op": "@", "object": INN}]
    quest = [
        {"subject": QUEST, "key": "goal", "value": "bring back the ledger"},
        {"subject": QUEST, "key": "reward", "value": "ninety silver"},
    ]
    return memory_campaign(
        [
            said(0, "You enter the inn.", "dm", witnesses=[ELENA], facts=here, names=names),
            said(1, "Elena, what news?", witnesses=[ELENA]),
            said(2, "Wolves.", ELENA),
            said(3, "I promise to come back for you.", witnesses=[ELENA]),
            said(4, "I owe you twelve silver for the boots.", participants=[THROK, ELENA]),
            said(5, "You learn of some work.", "dm", facts=quest),
        ]
    )


def items(campaign: Campaign, viewer: str, question: str) -> list[tuple[str, str]]:
    return [(item.section, item.text) for item in campaign.recall(viewer, question).items]


def test_a_scoped_memory_answers_in_its_own_words() -> None:
    """Nobody said "famished": it stands in the memory of the place, which is cited."""
    with tavern() as campaign:
        assert campaign.recall(ZARA, "Was a famished pack near the Inn?").no_record
        MemoryService(Retelling()).on_location_exit(campaign)
        (found,) = [
            item
            for item in campaign.recall("dm", "Was a famished pack near the Inn?").items
            if item.section == "memories"
        ]
        assert found.text == "Elena warned the travellers of a famished pack in the hills."
        assert found.reason == "a memory of The Inn"
        assert found.sources == (campaign.location_memories[INN][0].memory_id,)


def test_an_open_thread_answers_whoever_perceived_it() -> None:
    """A debt that was whispered is no answer for others."""
    with tavern() as campaign:
        promise = ("memories", "Open promise: Throk: I promise to come back for you.")
        assert promise in items(campaign, ZARA, "What did we promise?")
        debt = ("memories", "Open debt: Throk: I owe you twelve silver for the boots.")
        assert debt in items(campaign, THROK, "Who owes a debt?")
        assert campaign.recall(ZARA, "Who owes a debt?").no_record


def test_a_quest_answers_without_its_name() -> None:
    """Its goal and its reward are found by the word quest, and by what the quest is about."""
    with tavern() as campaign:
        reward = ("facts", "The reward for The Mill Ledger is ninety silver.")
        assert reward in items(campaign, ZARA, "Which quests do we have?")
        assert reward in items(campaign, ZARA, "What reward do we get for bringing the ledger back?")
        assert reward not in items(campaign, ZARA, "What reward do we get for the dragon's head?")


def test_memories_and_threads_keep_the_perspective() -> None:
    """What a viewer reads is the same as if the log had only what the viewer perceived."""
    with tavern() as campaign:
        MemoryService().on_location_exit(campaign)
        assert_perspective(
            campaign, lambda table, viewer: [table.recall(viewer, question).text for question in QUESTIONS]
        )
