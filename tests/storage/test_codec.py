"""Stored names are registered and versioned, and old events are lifted when they are read."""

from typing import Any

import pytest

from dndbots.errors import StoreTooNew
from dndbots.events import EventType
from dndbots.storage.codec import NAMES, EventNames, StoredName, from_row
from dndbots.storage.ports import EventRow


def row(name: str, version: int) -> EventRow:
    return EventRow(
        1, 1, "e1", name, version, "dm", "s01", None, None, 1, None, "x", '{"who":"pc_throk_001"}'
    )


def test_every_kind_has_a_stored_name() -> None:
    """Under one name each, for ever: renaming a member of the enum must not rename what is stored."""
    stored = [NAMES.stored(kind) for kind in EventType]
    assert len({one.name for one in stored}) == len(EventType)
    assert NAMES.stored(EventType.DM_NARRATION) == ("dm_narration", 1)
    assert {one.name for one in stored} >= {"whisper", "quest_update", "reputation_change"}


def test_old_events_are_lifted_step_by_step() -> None:
    """An event of version 1 under an old name reads like one of today."""
    names = EventNames({EventType.DAMAGE: StoredName("damage", 3)})

    @names.upcast(StoredName("wound", 1), StoredName("damage", 2))
    def _renamed(payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "metadata": {"participants": [payload["metadata"]["who"]]}}

    @names.upcast(StoredName("damage", 2), StoredName("damage", 3))
    def _louder(payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "content": payload["content"].upper()}

    lifted = from_row(row("wound", 1), names=names)
    assert (lifted.event_type, lifted.content) == (EventType.DAMAGE, "X")
    assert lifted.metadata == {"participants": ["pc_throk_001"]}
    assert from_row(row("damage", 3), names=names).content == "x"


@pytest.mark.parametrize(("name", "version"), [("damage", 4), ("teleport", 1)])
def test_what_a_newer_version_wrote_is_not_guessed_at(name: str, version: int) -> None:
    """An unknown name or version is refused, with what to do."""
    names = EventNames({EventType.DAMAGE: StoredName("damage", 3)})
    with pytest.raises(StoreTooNew, match="newer"):
        from_row(row(name, version), names=names)
