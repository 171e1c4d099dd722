"""A small campaign on disk, and a way to call the program on it."""

import shutil
from pathlib import Path

import pytest
from tests.cli.calling import COLOURING, HOSTILE, Answer, Run
from tests.table import event
from typer.testing import CliRunner

from dndbots import Campaign, EventType
from dndbots.cli.app import app


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls the program in this process, on a terminal of eighty columns."""
    monkeypatch.delenv("DNDBOTS_CAMPAIGN", raising=False)
    for name in COLOURING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    runner = CliRunner()

    def call(*words: object, typed: str | bytes | None = None, **env: str) -> Answer:
        said = [str(word) for word in words]
        result = runner.invoke(app, said, input=typed, env=env, prog_name="dndbots")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture(scope="session")
def _played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Zara finds Grimfang in his cave, alone; she whispers it to nobody, and Throk hears a rumor."""
    folder = tmp_path_factory.mktemp("played") / "campaign_001"
    both = ["pc_throk_001", "pc_zara_001"]
    grimfang = {"subject": "npc_grimfang_001", "key": "mood"}
    with Campaign.open(folder) as campaign:
        campaign.record_many(
            [
                event(
                    "evt_1",
                    "dm",
                    "The party rests at the inn.",
                    kind=EventType.DM_NARRATION,
                    location="loc_inn_001",
                    participants=both,
                    names={"pc_throk_001": "Throk", "pc_zara_001": "Zara", "loc_inn_001": "The Inn"},
                ),
                event(
                    "evt_2",
                    "pc_zara_001",
                    "I creep into the cave.",
                    location="loc_cave_001",
                    participants=["npc_grimfang_001"],
                    names={"npc_grimfang_001": ["Grimfang", "Old Fang"], "loc_cave_001": "Cold Cave"},
                    facts=[{**grimfang, "value": "sour"}],
                ),
                event(
                    "evt_3",
                    "dm",
                    "He cheers up.",
                    kind=EventType.DM_NARRATION,
                    session="s02",
                    witnesses=["pc_zara_001"],
                    facts=[{**grimfang, "value": "merry"}, {**grimfang, "key": "gold", "value": 7}],
                ),
                event(
                    "evt_4",
                    "dm",
                    "Two guards stand watch.",
                    kind=EventType.DM_NARRATION,
                    session="s02",
                    participants=["npc_guard_001", "npc_guard_002"],
                    witnesses=["pc_throk_001"],
                    names={"npc_guard_001": "Guard", "npc_guard_002": "Guard"},
                    facts=[{"subject": "npc_guard_001", "op": "->", "object": "npc_guard_002"}],
                ),
            ]
        )
    return folder


@pytest.fixture
def campaign(_played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_played, tmp_path / "campaigns" / "campaign_001"))


@pytest.fixture(scope="session")
def _split(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Throk swears an oath to Elena; in the cellar Zara finds out, alone, what Elena did."""
    folder = tmp_path_factory.mktemp("split") / "campaign_002"
    both, elena = ["pc_throk_001", "pc_zara_001"], "npc_elena_001"
    mill, cellar = {"location": "loc_mill_001"}, {"location": "loc_cellar_001"}
    names = {"pc_throk_001": "Throk", "pc_zara_001": "Zara", elena: "Elena", "loc_mill_001": "Old Mill"}
    with Campaign.open(folder) as campaign:
        campaign.record_many(
            [
                event("evt_1", elena, "Find my children.", participants=both, names=names, **mill),
                event(
                    "evt_2",
                    "pc_throk_001",
                    "I shake her hand.",
                    participants=["pc_zara_001", elena],
                    threads=[
                        {"id": "oath", "kind": "promise", "text": "Throk gave his word.", "about": [elena]}
                    ],
                    **mill,
                ),
                event(
                    "evt_3", "pc_zara_001", "I search below.", names={"loc_cellar_001": "Cellar"}, **cellar
                ),
                event(
                    "evt_4",
                    "dm",
                    "Small shoes, and a letter: Elena sold them.",
                    kind=EventType.DISCOVERY,
                    participants=["pc_zara_001"],
                    npcs_mentioned=[elena],
                    facts=[{"subject": elena, "key": "role", "value": "traitor"}],
                    threads=[{"id": "letter", "kind": "mystery", "text": "Who bought the children?"}],
                    **cellar,
                ),
                event("evt_5", "pc_throk_001", "I wait with Elena.", participants=[elena], **mill),
                event("evt_6", "pc_zara_001", "I climb out.", participants=["pc_throk_001"], **mill),
                event(
                    "evt_7",
                    "dm",
                    "Night falls.",
                    kind=EventType.LOCATION_CHANGE,
                    participants=both,
                    location="loc_road_001",
                ),
            ]
        )
    return folder


@pytest.fixture
def split(_split: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_split, tmp_path / "campaigns" / "campaign_002"))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A campaign in which everything that can be said is said with intent."""
    folder = tmp_path / "hostile"
    with Campaign.open(folder) as campaign:
        campaign.record(
            event(
                f"evt {HOSTILE}",
                "pc_zara_001",
                f"{HOSTILE}\nevt_9  forged\r\nline",
                session=f"s {HOSTILE}",
                location="loc_inn_001",
                names={"pc_zara_001": "[red]Zara[/red]", "loc_inn_001": "[link=file:///x]The Inn[/link]"},
                facts=[{"subject": "pc_zara_001", "key": "mood", "value": HOSTILE}],
                notes={HOSTILE: HOSTILE},
                conditions={"pc_zara_001": [HOSTILE]},
                loot=[HOSTILE],
                threads=[{"id": HOSTILE, "kind": "promise", "text": f"{HOSTILE}\nquest  forged"}],
            )
        )
        campaign.record(event("evt_2", "pc_zara_001", HOSTILE, session="s02", location="loc_road_001"))
        campaign.remember()
        campaign.pin(f"evt {HOSTILE}")
        campaign.correct("evt_2", f"{HOSTILE}\nStill open:\n  - forged")
    return folder
