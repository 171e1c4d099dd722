"""Damage is what is wrong with stored rows; a misuse, a typo or a bug is told as what it is."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.table import event

from dndbots import Campaign
from dndbots.errors import DndbotsError, InvalidSetting, StoreDamaged
from dndbots.events import EventType
from dndbots.storage.in_memory import MemoryStore
from dndbots.storage.sql.sqlite import FILE
from dndbots.storage.views.view import View

SECRET = "the abbot is the murderer"  # noqa: S105 - only the DM knows it
ZARA, THROK = "pc_zara_001", "pc_throk_001"


def play(campaign: Campaign) -> None:
    names = {ZARA: "Zara", THROK: "Throk", "loc_inn_001": "The Inn"}
    campaign.record_many(
        [
            event("evt_1", "dm", "They meet.", participants=[ZARA, THROK], names=names),
            event("evt_2", ZARA, "I sit down.", location="loc_inn_001", participants=[THROK]),
            event(
                "evt_3",
                "dm",
                SECRET,
                kind=EventType.DM_NARRATION,
                witnesses=[],
                facts=[{"subject": THROK, "key": "guilt", "value": SECRET}],
                notes=SECRET,
            ),
            event("evt_4", THROK, "Ale!", location="loc_inn_001", participants=[ZARA]),
        ]
    )


@pytest.fixture
def campaign() -> Iterator[Campaign]:
    with Campaign(MemoryStore()) as made:
        play(made)
        yield made


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    with Campaign.open(folder) as campaign:
        play(campaign)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "campaign"))


# Misuse.


@pytest.mark.parametrize("given_", [{"content": "hi"}, "hi", None, 7, ("evt", "x"), object()])
def test_what_is_no_event_is_said_to_be_none(campaign: Campaign, given_: Any) -> None:
    """With what it was, and what to do; nothing is recorded, and nothing is called damaged."""
    head = campaign.head
    for record in (
        campaign.record,
        lambda one: campaign.record_many([one]),
        lambda one: campaign.replay([one]),
    ):
        with pytest.raises(InvalidSetting, match=f"{type(given_).__name__}.* is not a GameEvent"):
            record(given_)
    assert campaign.head == head


def test_an_event_is_not_many(campaign: Campaign) -> None:
    with pytest.raises(InvalidSetting, match="is not a GameEvent"):
        campaign.record_many(event("evt_9", ZARA, "Hm."))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not iterable"):
        campaign.record_many(7)  # type: ignore[arg-type]


# What others do inside of a call.

ERRORS = [TypeError, KeyError, ValueError, AttributeError, IndexError, RecursionError]


@pytest.mark.parametrize("kind", ERRORS)
def test_the_error_of_a_caller_is_the_callers(campaign: Campaign, kind: type[Exception]) -> None:
    """Behind a view, among events, in a listener or a progress bar: the very same comes out."""
    raised = kind("a typo")

    def fail(*_: object) -> Any:
        raise raised

    def events() -> Iterator[Any]:
        yield event("evt_5", ZARA, "Hm.")
        fail()

    def look() -> None:
        with campaign.view("dm") as view:
            view.entity(ZARA)
            fail()

    def listen() -> None:
        campaign.listen(fail)
        campaign.record(event("evt_6", ZARA, "Hm."))

    for call in (
        look,
        lambda: campaign.record_many(events()),
        lambda: campaign.rebuild(fail),
        lambda: campaign.verify(fail),
        listen,
    ):
        with pytest.raises(kind) as caught:
            call()
        assert caught.value is raised


@pytest.mark.parametrize("kind", ERRORS)
def test_a_bug_of_ours_is_told_as_itself(
    folder: Path, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is sent to look for a copy of a campaign that is sound."""

    def fail(*_: object, **__: object) -> Any:
        raise kind("a bug")

    with Campaign.open(folder) as campaign:
        for name, call in (
            ("entity", lambda: campaign.entity(ZARA, viewer="dm")),
            ("newest", lambda: campaign.timeline(viewer=ZARA)),
            ("events", lambda: list(campaign.events(viewer=ZARA))),
            ("perceiver", lambda: campaign.acts(viewer=ZARA)),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(View, name, fail)
                with pytest.raises(kind, match="a bug"):
                    call()
        with monkeypatch.context() as patch:
            patch.setattr("dndbots.storage.recorder.event_effects", fail)
            with pytest.raises(kind, match="a bug"):
                campaign.record(event("evt_7", ZARA, "Hm."))


# Damage.

HEX = SECRET.encode().hex()
WRONG = (
    *("x'ff00'", "5", "'x'", "'[]'", "'{\"facts\": 7}'", "NULL", "-1", "1.5"),
    *(f"'{SECRET} '", f"'[\"{SECRET}\"]'", f"CAST(x'ff{HEX}' AS TEXT)", f"CAST(x'{HEX}ff' AS BLOB)"),
    f"'{json.dumps({'facts': [{'subject': SECRET}], 'names': {SECRET: SECRET}})}'",
)
COLUMNS = [
    *(
        f"events {name}"
        for name in ("content", "metadata", "timestamp", "source", "session_id", "seq", "turn")
    ),
    *("claims value", "claims total", "claims subject", "claims seq", "truth value", "mentions place"),
    *("names name", "names uid", "cursors seq", "branches head", "members member", "events audience"),
    *("sightings uid", "lines ordinal", "postings hits", "slots slot", "links object", "identities same_as"),
]


def uses(folder: Path) -> Iterator[Callable[[], object]]:
    with Campaign.open(folder) as campaign:
        yield lambda: campaign.timeline(viewer=ZARA)
        yield lambda: campaign.entity(THROK, viewer=ZARA)
        yield lambda: campaign.context(ZARA)
        yield lambda: list(campaign.events(viewer=ZARA))
        yield lambda: campaign.record(event("evt_8", ZARA, "Hm.", location="loc_inn_001"))
        yield lambda: campaign.recap(ZARA)
        yield campaign.rebuild
        yield campaign.verify


def errors_of(folder: Path) -> Iterator[DndbotsError]:
    """What goes wrong in the hands of a user. Any error but our own goes through."""
    try:
        for use in uses(folder):
            try:
                use()
            except DndbotsError as exc:
                yield exc
    except DndbotsError as exc:
        yield exc


@given(column=st.sampled_from(COLUMNS), value=st.sampled_from(WRONG))
def test_an_error_about_damage_tells_no_row_of_others(
    played: Path, tmp_path_factory: pytest.TempPathFactory, column: str, value: str
) -> None:
    """Whatever was written over: an error of ours, and not a word of what only the DM knows."""
    folder = Path(shutil.copytree(played, tmp_path_factory.mktemp("damaged") / "campaign"))
    table, name = column.split()
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        try:
            database.execute(f"UPDATE OR IGNORE {table} SET {name} = {value}")  # noqa: S608 - our own words
        except sqlite3.IntegrityError:
            return  # the database itself refuses it
    for error in errors_of(folder):
        assert SECRET not in str(error)


def test_damage_is_still_damage(folder: Path) -> None:
    """In the log and in the views, told with a remedy."""
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute("UPDATE claims SET value = 'x'")
    with Campaign.open(folder) as campaign, pytest.raises(StoreDamaged, match="restore"):
        campaign.entity(THROK, viewer="dm")
