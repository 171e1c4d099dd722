"""Same log, same bytes: on another backend, in another process, after a rebuild."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from tests.logs import PCS, logs, played
from tests.postgres import PostgresServer
from tests.storage.contract import rows_of
from tests.storage.test_perspective import VIEWS
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.storage.head_state import HeadState
from dndbots.testing import as_text, memory_campaign, perceivers

# A real database is made for each case, so there are fewer of them.
FEWER = max(1, settings().max_examples // 4)


def answers(campaign: Campaign) -> str:
    viewers = [who for who in ("dm", *PCS, "npc_old_priest_001") if who in perceivers(campaign)]
    return as_text({viewer: [view(campaign, viewer) for view in VIEWS.values()] for viewer in viewers})


@settings(max_examples=FEWER)
@given(log=logs(most=20))
def test_sqlite_and_memory_are_alike(log: list[GameEvent]) -> None:
    """Every row of every view and every answer is the same; both are sound; a rebuild changes nothing."""
    twin = played(memory_campaign(), log)
    with tempfile.TemporaryDirectory() as folder, Campaign.open(Path(folder) / "c") as campaign:
        played(campaign, log)
        assert rows_of(campaign) == rows_of(twin)
        assert answers(campaign) == answers(twin)
        assert campaign.verify() == twin.verify() == []
        before = rows_of(campaign)
        campaign.rebuild()
        assert rows_of(campaign) == before


@settings(max_examples=max(1, FEWER // 4))
@given(log=logs(most=20))
def test_one_at_a_time_or_all_at_once(log: list[GameEvent]) -> None:
    """The batches in which events were recorded leave no trace."""
    kept = list(played(memory_campaign(), log).events(viewer="dm"))
    with (
        tempfile.TemporaryDirectory() as folder,
        Campaign.open(Path(folder) / "a") as single,
        Campaign.open(Path(folder) / "b") as batch,
    ):
        for one in kept:
            single.record(one)
        batch.record_many(kept)
        assert rows_of(single) == rows_of(batch)


@given(log=logs(most=20))
def test_a_log_comes_back_and_its_laws_agree_with_its_views(log: list[GameEvent]) -> None:
    """Events recorded one by one are accepted as one batch; laws and views agree on who is dead."""
    campaign = played(memory_campaign(), log)
    again = memory_campaign()
    again.import_log(campaign.export())
    assert list(again.export()) == list(campaign.export())
    standing = HeadState(campaign._store, 1, at_hand=None)
    standing.begin(campaign._log.past()[1])
    for entity in campaign.entities(viewer="dm"):
        assert standing.is_dead(entity.uid) is not entity.alive


def test_postgres_is_alike(postgres: PostgresServer) -> None:
    """The same answers from a server, over random logs."""

    @settings(max_examples=max(1, FEWER // 4))
    @given(log=logs(most=20))
    def check(log: list[GameEvent]) -> None:
        twin = played(memory_campaign(), log)
        with Campaign.open(postgres.url("alike")) as campaign:
            played(campaign, log)
            assert answers(campaign) == answers(twin)
            assert campaign.verify() == []

    check()


PROGRAM = """
import json, sys
from dndbots.events import GameEvent
from dndbots.testing import as_text, memory_campaign
campaign = memory_campaign(GameEvent.model_validate_json(line) for line in sys.stdin)
print(as_text([campaign.entities(viewer="dm"), list(campaign.export()), campaign.timeline(viewer="dm")]))
"""


def test_another_process_says_the_same() -> None:
    """No hash order, no clock, no locale is in an answer."""
    log = [
        GameEvent(
            event_id=f"e{n}",
            event_type="player_action",  # type: ignore[arg-type]
            source=PCS[n % 3],
            content=f"Line {n}",
            session_id="s",
            metadata={
                "participants": PCS,
                "facts": [{"subject": PCS[0], "key": k, "value": n} for k in "abc"],
            },
        )
        for n in range(20)
    ]
    text = "\n".join(one.model_dump_json() for one in log)
    told = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    ]
    assert told[0] == told[1]
    assert json.loads(told[0])[0]


def test_one_who_goes_by_two_uids_is_counted_together() -> None:
    """A group of twelve with two uids: a kill under the other uid leaves eleven."""
    campaign = memory_campaign(
        [
            event("e0", "dm", "You meet both.", participants=["npc_elena_001", "npc_old_priest_001"]),
            event("e1", "dm", "They are one.", same_as={"npc_old_priest_001": "npc_elena_001"}),
            event(
                "e2",
                "dm",
                "There are twelve.",
                facts=[{"subject": "npc_elena_001", "key": "number", "value": 12}],
            ),
            event("e3", "dm", "One falls.", killed=["npc_old_priest_001"]),
        ]
    )
    assert campaign.entity("npc_elena_001", viewer="dm").properties["number"] == 11
    campaign.record(event("e4", "npc_elena_001", "We are still here."))
