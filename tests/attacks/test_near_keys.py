"""A metadata key that is almost a known one is refused: else nobody remembers what it says."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.table import event

from dndbots import Campaign
from dndbots.canon.near_keys import find_meant_key
from dndbots.errors import EventRefused
from dndbots.events import GameEvent, KnownMetadata
from dndbots.interop.log_lines import to_lines
from dndbots.storage.in_memory import MemoryStore
from dndbots.storage.sql.sqlite import FILE

KNOWN = sorted(KnownMetadata.model_fields)
LONG = [key for key in KNOWN if len(key) > 9]
SLIPS = {
    "participant": "participants",
    "Participants": "participants",
    "PARTICIPANTS": "participants",
    "partcipants": "participants",
    "participnats": "participants",
    "participants\u200b": "participants",
    "ｐarticipants": "participants",
    "witness": "witnesses",
    "witneses": "witnesses",
    "told-to": "told_to",
    "toldTo": "told_to",
    " told to ": "told_to",
    "npc_mentioned": "npcs_mentioned",
    "enemy": "enemies",
    "fact": "facts",
    "killedBy": "killed_by",
    "memories": "memory",
}
# What the engine, its tests and others' tools put beside what is known.
OTHERS = [
    *("play", "told", "mood", "notes", "date", "rate", "vocation", "weather", "turn", "tags", "speech"),
    *("language", "emotion", "channel", "message_id", "author", "kill", "count", "quest", "act", "part"),
    *("name", "source", "speaker", "thread", "rolls", "xp"),
]


@pytest.fixture
def campaign() -> Iterator[Campaign]:
    with Campaign(MemoryStore()) as made:
        yield made


@pytest.mark.parametrize(("key", "meant"), SLIPS.items())
def test_a_slip_is_refused_with_the_key_that_is_meant(campaign: Campaign, key: str, meant: str) -> None:
    """Whether it is recorded or imported; nothing of it is kept."""
    slip = event("evt_1", "dm", "They meet.", **{key: ["pc_zara_001"]})
    with pytest.raises(EventRefused, match=f"write {meant}") as caught:
        campaign.record(slip)
    assert repr(key.replace("\u200b", " ").strip())[1:-1] in str(caught.value)
    with pytest.raises(EventRefused, match=f"write {meant}"):
        campaign.import_log(to_lines([slip]))
    assert campaign.head == 0


@pytest.mark.parametrize("key", OTHERS)
def test_other_keys_are_kept(campaign: Campaign, key: str) -> None:
    plain = event("evt_1", "dm", "They meet.").model_dump()
    stored = campaign.record(GameEvent(**plain | {"metadata": {"witnesses": [], key: "x"}}))
    assert stored.metadata[key] == "x"


def test_no_known_key_is_a_slip_of_another() -> None:
    assert not [key for key in KNOWN if find_meant_key(key)]


@given(key=st.sampled_from(KNOWN), data=st.data())
def test_case_and_signs_make_no_other_key(key: str, data: st.DataObject) -> None:
    """However it is spelled, it is a slip of that key."""
    spelled = "".join(data.draw(st.sampled_from([char, char.upper()])) for char in key)
    spelled = spelled.replace("_", data.draw(st.sampled_from(["_", "-", " ", "", "__", "."])))
    assert spelled == key or find_meant_key(spelled) == key


@given(key=st.sampled_from(LONG), data=st.data())
def test_one_letter_makes_no_other_key(key: str, data: st.DataObject) -> None:
    """One that is missing, doubled, another, or exchanged with the next; the first one is right."""
    at = data.draw(st.integers(1, len(key) - 2))
    letter = data.draw(st.sampled_from("aeioust"))
    slip = data.draw(
        st.sampled_from(
            [
                key[:at] + key[at + 1 :],
                key[:at] + letter + key[at:],
                key[:at] + letter + key[at + 1 :],
                key[:at] + key[at + 1] + key[at] + key[at + 2 :],
            ]
        )
    )
    assert slip == key or find_meant_key(slip) is not None


@given(st.text(max_size=40))
def test_any_key_can_be_looked_at(key: str) -> None:
    assert find_meant_key(key) in (None, *KNOWN)


def test_a_log_that_has_such_a_key_already_is_still_read(tmp_path: Path) -> None:
    """It was recorded before there was this law: it opens, verifies, and can be rebuilt and played on."""
    old = event("evt_1", "dm", "They meet.", participant=["pc_zara_001"], witnesses=[])
    with Campaign.open(tmp_path) as campaign:
        campaign.replay([old])
        assert campaign.verify() == []
        assert campaign.rebuild() == 1
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        assert "participant" in database.execute("SELECT metadata FROM events").fetchone()[0]
    with Campaign.open(tmp_path) as campaign:
        [found] = campaign.events(viewer="dm")
        assert found.metadata["participant"] == ["pc_zara_001"]
        campaign.record(event("evt_2", "dm", "They part.", witnesses=[]))
        assert campaign.verify() == []
