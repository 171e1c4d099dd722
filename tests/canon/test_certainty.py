"""Certainty: how sure people are of what an event says, by how they came to know it."""

from typing import Any

import pytest

from dndbots.canon.certainty import OVERHEARD, PERCEIVED, TOLD, Holding, event_effects
from dndbots.canon.claims import CertaintyRank
from dndbots.events import EventType, GameEvent

ZARA, THROK, MIRA, HOB = "pc_zara_001", "pc_throk_001", "pc_mira_001", "npc_hob_001"
FACT = {"subject": "npc_elena_001", "key": "role", "value": "traitor"}


def holdings(kind: EventType, source: str, **metadata: Any) -> dict[str, Holding]:
    """The holding of the stated fact, by holder."""
    event = GameEvent(
        event_id="evt_1", event_type=kind, source=source, content="…", session_id="s01", metadata=metadata
    )
    return {
        who: held
        for held in event_effects(event).holdings
        if held.claim.slot == "role"
        for who in held.holders
    }


def test_people_who_were_there_hold_a_fact() -> None:
    """The DM tells what happens; everybody present perceives it, and nobody else learns of it."""
    held = holdings(EventType.DISCOVERY, "dm", participants=[ZARA], witnesses=[HOB], facts=[FACT])
    assert set(held) == {"dm", ZARA, HOB}
    assert {(one.certainty, one.how) for one in held.values()} == {(CertaintyRank.FACT, PERCEIVED)}


def test_people_who_are_told_believe_and_bystanders_have_a_rumor() -> None:
    """Words of a character are no fact: those addressed believe them, others only overheard them."""
    held = holdings(EventType.DIALOGUE, ZARA, participants=[THROK], witnesses=[MIRA], facts=[FACT])
    assert {who: (one.certainty, one.how, one.said_by) for who, one in held.items()} == {
        THROK: (CertaintyRank.BELIEF, TOLD, ZARA),
        MIRA: (CertaintyRank.RUMOR, OVERHEARD, ZARA),
    }


def test_the_speaker_and_the_dm_learn_nothing_from_words() -> None:
    """A lie does not become true by being said."""
    held = holdings(EventType.WHISPER, ZARA, told_to=[THROK], facts=[FACT])
    assert set(held) == {THROK}


@pytest.mark.parametrize(
    ("certainty", "rank"), [("belief", CertaintyRank.BELIEF), ("rumor", CertaintyRank.RUMOR)]
)
def test_a_belief_that_the_dm_states_is_the_peoples_own(certainty: str, rank: CertaintyRank) -> None:
    """Everybody present holds it as no more than that; the DM knows better."""
    held = holdings(
        EventType.DM_NARRATION, "dm", witnesses=[ZARA, MIRA], facts=[{**FACT, "certainty": certainty}]
    )
    assert {who: one.certainty for who, one in held.items()} == {ZARA: rank, MIRA: rank}


def test_news_of_a_deed_is_believed_on_the_word_of_its_source() -> None:
    """Somebody who is told of what others see believes a character, and knows it from the DM."""
    for source, sure in ((ZARA, CertaintyRank.BELIEF), ("dm", CertaintyRank.FACT)):
        held = holdings(EventType.DISCOVERY, source, participants=[THROK], told_to=[MIRA], facts=[FACT])
        assert (held[THROK].certainty, held[MIRA].certainty) == (CertaintyRank.FACT, sure)
