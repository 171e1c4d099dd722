"""An import looks up no more than there is to write, however many people speak in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.growth import MOST_GROWTH

from dndbots import Campaign
from dndbots.interop import transcripts
from dndbots.storage.sql.sqlite import SqliteDialect


def test_twice_the_speakers_are_twice_the_lookups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who spoke in a session before is looked up once, and not once for each of those who speak in it."""
    asked = 0
    each = SqliteDialect.each

    def counted(self: SqliteDialect, cursor: Any, sql: str, params: Sequence[tuple[Any, ...]]) -> Any:
        nonlocal asked
        asked += len(params)
        return each(self, cursor, sql, params)

    def lookups(speakers: int) -> int:
        nonlocal asked
        asked = 0
        with Campaign.open(tmp_path / str(speakers)) as campaign:
            lines = [{"speaker": f"Person {number}", "text": "Hello."} for number in range(speakers)]
            campaign.import_transcript(lines)
        return asked

    monkeypatch.setattr(SqliteDialect, "each", counted)
    monkeypatch.setattr(transcripts, "BATCH", 25)  # each batch finds in the log what those before it wrote
    assert lookups(200) <= 2 * MOST_GROWTH * lookups(100)
