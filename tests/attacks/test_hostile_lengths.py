"""Whatever takes text takes any text up to the limit, in a time that grows with its length and no faster."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.attacks.growth import LONGEST, find_growth
from tests.attacks.patterns import fill
from tests.game.bots.board import Board, pc
from tests.table import event

from dndbots import Campaign
from dndbots.dcml import parse, render
from dndbots.errors import ActRefused, DndbotsError
from dndbots.extraction.english.extractor import RuleExtractor
from dndbots.extraction.port import KnownNames, Turn
from dndbots.game.input.answer_filter import filter_answer
from dndbots.game.input.person_player import parse_line
from dndbots.llm.responses.answers import read
from dndbots.llm.responses.shapes import Shape, without_thoughts
from dndbots.llm.settings import Way
from dndbots.memory.entries import Entry, SummaryTask
from dndbots.memory.selection import Extractive
from dndbots.memory.selection.shortener import shorten
from dndbots.memory.summaries.checks import tame_line
from dndbots.text.sentences import spoken_sentences
from dndbots.tokens import count_tokens

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
# Each held something up, or looks as if it could.
UNITS = (
    *(
        " ",
        "\n",
        " \n",
        "- ",
        "-- ",
        "a",
        "a ",
        "Zara ",
        "A. ",
        ". ",
        ", ",
        "; ",
        '"',
        '"." ',
        "\u201c",
        "# ",
    ),
    *(
        "SYSTEM: ",
        "DM: ",
        "1) ",
        "_",
        "* ",
        "`",
        "(",
        "[",
        "{",
        '{"',
        "<think>",
        "</think>",
        "<|",
        "okay so ",
    ),
    *(
        "yeah ",
        "and then ",
        "um, ",
        "the the ",
        "Zara says ",
        'Zara says, "Tam is a smith." ',
        "Tam and Elena ",
    ),
    *("npc_", "x_1", "@P1@ ", "0", "0.", "\u4e00", "e\u0301", "\u200d", "take ", "ask about ", "a, "),
)
MORE = (
    "\t",
    "'",
    "a'",
    "a-",
    ":",
    ": ",
    "/",
    "\\",
    "|",
    "~",
    "=",
    "I ",
    "I'm ",
    "Elena is a ",
    "if you ",
    "gold ",
)
Run = Callable[[str], object]


def superlinear(
    run: Run, *, start: int, most: int = LONGEST, before: str = "", after: str = "", few: bool = False
) -> str:
    """The texts that a run takes too long for, each on a line. `few` is for what takes long by itself."""
    slow = []
    for unit in (*UNITS, *MORE) if LONG else UNITS[::8] if few else UNITS:
        grows = find_growth(run, partial(_filled, before, unit, after), start=start, most=most)
        if grows:
            slow.append(f"{unit!r}: {grows}")
    return "\n".join(slow)


def _filled(before: str, unit: str, after: str, size: int) -> str:
    return fill(before, unit, after, size - len(after))


def test_sentences() -> None:
    assert superlinear(lambda text: list(spoken_sentences(text)), start=12_800) == ""


def test_shortening() -> None:
    assert superlinear(shorten, start=12_800) == ""


def test_words_of_a_summary() -> None:
    assert superlinear(tame_line, start=6400) == ""


def test_a_summary() -> None:
    def run(text: str) -> object:
        task = SummaryTask(
            agent="pc_zara_001", entries=(Entry(text=text, who="Zara", event_id="e1"),), tokens=200
        )
        return Extractive().summarize(task)

    assert superlinear(run, start=6400) == ""


def test_what_is_read_out_of_a_turn() -> None:
    """The default reader of compaction, on one turn."""

    def run(text: str) -> object:
        turn = Turn(id="e1", speaker="DM", role="dm", text=text)
        return RuleExtractor().extract([turn], KnownNames({"Zara": "PC"}))

    assert superlinear(run, start=800, most=12_800) == ""


def test_an_answer_of_a_model() -> None:
    """Its words, before they are anybody's."""
    run = partial(filter_answer, own=("Zara",), others=("Throk", "Elena"))
    assert superlinear(run, start=3200, most=25_600) == ""


def test_calls_in_an_answer() -> None:
    def run(text: str) -> object:
        return read(Shape(text=text), (), Way.WORDS)

    assert superlinear(run, start=6400) == ""
    assert superlinear(without_thoughts, start=12_800) == ""


def test_a_line_that_is_typed() -> None:
    board = Board({"mill": {"north": "yard"}, "yard": {"in": "mill"}})
    board.begin_round()
    table = board.tables[pc(0)]

    def run(text: str) -> object:
        try:
            return parse_line(table, pc(0), text)
        except ActRefused:
            return None

    for verb in ("", "take ", "ask ", "give ", "tell "):
        assert superlinear(run, start=500, most=2000, before=verb) == ""


def test_documents() -> None:
    """DCML that anybody wrote."""

    def run(text: str) -> object:
        try:
            return render(parse(text))
        except DndbotsError:
            return None

    assert superlinear(run, start=3200, most=25_600) == ""
    assert superlinear(run, start=3200, most=25_600, before='## FACTS\na := "', after='"\n') == ""


def test_tokens() -> None:
    assert superlinear(count_tokens, start=12_800) == ""


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    return (tmp_path / str(number) for number in range(100_000))


def test_a_line_that_is_recorded_compacted_and_remembered(folders: Iterator[Path]) -> None:
    """One turn of a campaign, from the log to a prompt."""

    def run(text: str) -> object:
        with Campaign.open(next(folders)) as campaign:
            campaign.record(event("e1", "dm", text, witnesses=["pc_zara_001"]))
            campaign.compact()
            campaign.recap("pc_zara_001")
            return campaign.context("pc_zara_001", budget=400)

    assert superlinear(run, start=3200, most=25_600, few=True) == ""


def test_a_question(folders: Iterator[Path]) -> None:
    with Campaign.open(next(folders)) as campaign:
        campaign.record(event("e1", "pc_zara_001", "Tam is a smith.", witnesses=["pc_zara_001"]))
        ask = partial(campaign.recall, "pc_zara_001", budget=400)
        assert superlinear(ask, start=12_800) == ""
