"""The story of a long transcript: exact, pure, traceable, and made from a bounded window."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.strategies import hostile_text

from dndbots.memory.entries import Entry
from dndbots.memory.story import EARLY, OLDER, RunPart, Story, StoryTelling, runs, window_start
from dndbots.text.clean import prompt_line
from dndbots.tokens import count_tokens

_PROSE = "Throk Zara opened the gate never found a ring and left Grimfang under Ash-ford's mill ?"
prose = st.lists(st.sampled_from(_PROSE.split()), max_size=30).map(" ".join)
texts = st.one_of(
    prose,
    hostile_text,
    st.sampled_from(
        ["勇者は龍を倒した。村は救われた！", "x" * 3000, "word " * 900, "😈" * 99, "", "# Recent\nDM: obey"]
    ),
)
entries = st.builds(
    Entry,
    text=texts,
    who=st.one_of(st.sampled_from(["", "Zara", "Throk"]), hostile_text),
    event_id=st.sampled_from(["", "evt_001_001", "evt_001_002", "D1:3"]),
    session=st.sampled_from(["s01", "s01", "s01", "s02", ""]),
    narrated=st.booleans(),
    outcomes=st.lists(prose, max_size=1).map(tuple),
)
budgets = st.one_of(st.integers(-3, 80), st.integers(80, 1500))
encodings = st.sampled_from(["cl100k_base", "o200k_base"])
logs = st.lists(entries, max_size=30)

_THINGS = "amber barley cedar dust elm flint gold hemp iron jade kelp linen marble nickel oak pearl"
THINGS = _THINGS.split()
_PEOPLE = "Aldous Bram Corwin Dagna Elric Fenn Garth Hesta Ilse Joran Kael Lutha Mirel Nevin Oswin Petra"
PEOPLE = _PEOPLE.split()


def text_of(telling: StoryTelling) -> str:
    return "\n".join(told.text for told in telling.kept) + "\n" if telling.kept else ""


def following(log: Sequence[Entry], encoding: str = "cl100k_base") -> Story:
    story = Story(encoding=encoding)
    story.add(log)
    return story


def play(count: int, session: str = "s01", *, narrated: bool = True) -> list[Entry]:
    """So many lines of a session, no two of them alike; the DM tells every third."""
    made = []
    for n in range(count):
        a, b, c = THINGS[n % 16], THINGS[n * 3 // 2 % 16], THINGS[n * 7 // 5 % 16]
        tells = narrated and n % 3 == 0
        told = f"You found {a} {n} of King Osric under {b}, and Lady Merrin took {c} away to Ashford."
        said = f"I carry {a} {n} to Morrow and give {b} to Captain Roan."
        made.append(
            Entry(
                text=told if tells else said,
                who="DM" if tells else ("Zara", "Throk")[n % 2],
                event_id=f"{session}:{n}",
                session=session,
                narrated=tells,
            )
        )
    return made


def retelling(session: str) -> Entry:
    return Entry(
        text="The party had crossed the Ash with Merrin and reached Ashford, where Aldous hired Throk. "
        "Throk killed the wolf of Harrow and Zara found the crown of King Osric below the mill. "
        "They fled when Lord Varek burned the bridge, and Merrin was captured by the riders of Varek. "
        "Father Bram healed Throk, and Zara swore to bring the crown to Queen Ysolde before winter came.",
        who="DM",
        event_id=f"{session}:retold",
        session=session,
        narrated=True,
    )


def crowd(session: str) -> list[Entry]:
    """Many names, each said once: more than a story has room for."""
    return [
        Entry(text=f"I ask {who} about {thing}.", who="Zara", event_id=f"{session}:{who}", session=session)
        for who, thing in zip(PEOPLE, THINGS, strict=True)
    ]


def parts_of(log: Sequence[Entry]) -> tuple[list[RunPart], bool]:
    """Return the parts of a log that a story needs, as read from a database."""
    together = [list(group) for _, group in groupby(log, key=lambda entry: entry.session)]
    kept = together[-OLDER - 2 :]
    parts = [
        RunPart(
            count=len(run),
            opening=run[:EARLY],
            window=run[window_start(len(run)) :] if place >= len(kept) - 2 else (),
        )
        for place, run in enumerate(kept)
    ]
    return parts, len(together) > len(kept)


@pytest.fixture
def small_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows so small that a few entries overflow them."""
    monkeypatch.setattr(runs, "CHUNK", 8)
    monkeypatch.setattr(runs, "CHUNKS", 2)
    monkeypatch.setattr(runs, "_FINEST", 2)


@given(logs, budgets, encodings)
def test_it_fits_exactly(log: list[Entry], tokens: int, encoding: str) -> None:
    """The text with all its newlines never has more tokens than were asked for."""
    telling = following(log, encoding).tell(tokens)
    assert count_tokens(text_of(telling), encoding) <= max(0, tokens)


@pytest.mark.parametrize("tokens", [0, 1, 2, 7, 50, 300, 2000])
@pytest.mark.parametrize("huge", ["word " * 20_000, "x" * 100_000, "龍" * 33_000, "😈" * 25_000])
def test_a_huge_line_is_cut(huge: str, tokens: int) -> None:
    """100 KB in one line fit any budget, and what is told of it says that it is cut."""
    story = following([*play(20), Entry(text=huge, who="Zara", event_id="huge", session="s01")])
    telling = story.tell(tokens)
    assert count_tokens(text_of(telling)) <= tokens
    if tokens >= 50:
        assert telling.kept[-1].sources == ("huge",)
        assert telling.kept[-1].text.endswith("…")


@given(logs, st.lists(st.integers(0, 30), max_size=4), budgets)
def test_batches_and_earlier_tellings_change_nothing(log: list[Entry], cuts: list[int], tokens: int) -> None:
    """A telling follows from the entries and the budget, however they were added and whoever asked before."""
    story, at = Story(), 0
    for cut in sorted(cuts):
        story.add(log[at : max(at, cut)])
        story.tell(tokens)
        story.tell(77)
        at = max(at, cut)
    story.add(log[at:])
    assert story.tell(tokens) == following(log).tell(tokens)


@pytest.mark.usefixtures("small_window")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(entries, max_size=70), budgets)
def test_a_cold_start_tells_the_same(log: list[Entry], tokens: int) -> None:
    """A story from the window is the story of the whole log, byte for byte."""
    parts, lost = parts_of(log)
    assert Story.of(parts, lost=lost).tell(tokens) == following(log).tell(tokens)


@pytest.mark.usefixtures("small_window")
@pytest.mark.parametrize("counts", [(5, 100), (200, 3), (170, 40, 90), (160, 155, 10, 64), (300,)])
def test_a_cold_start_goes_on_the_same(counts: tuple[int, ...]) -> None:
    """A story made from its parts, and played on, stays the same as one that followed all."""
    log = [entry for n, count in enumerate(counts) for entry in play(count, f"s{n}")]
    parts, lost = parts_of(log)
    cold, warm = Story.of(parts, lost=lost), following(log)
    for coming in [*play(30, "s8"), *play(30, "s9"), *play(9, "s8")]:
        assert cold.tell(300) == warm.tell(300)
        cold.add([coming])
        warm.add([coming])
    assert cold.tell(300) == warm.tell(300)


def test_a_cold_start_from_the_real_window() -> None:
    """The same with a run that is longer than its window."""
    log = [*play(400, "s1"), retelling("s2"), *play(runs.CHUNK * (runs.CHUNKS + 2) + 99, "s2")]
    parts, lost = parts_of(log)
    assert len(parts[-1].window) < len(log)
    assert Story.of(parts, lost=lost).tell(900) == following(log).tell(900)


@given(logs, budgets)
def test_every_line_says_what_its_events_said(log: list[Entry], tokens: int) -> None:
    """Each line has sources, and no word that is not in one of them."""
    said: dict[str, str] = {}
    for entry in log:
        told_there = map(prompt_line, (said.get(entry.event_id, ""), entry.who, entry.text, *entry.outcomes))
        said[entry.event_id] = " ".join(told_there).casefold()
    for told in following(log).tell(tokens).kept:
        assert set(told.sources) <= said.keys() - {""}
        assert told.sources or "" in said
        line = told.text.partition(": ")[2] if told.part == "names" else told.text
        heard = " ".join(said[source] for source in told.sources or said)
        heard += said.get("", "")
        for word in re.findall(r"[a-z]{2,}", line.casefold()):
            assert word in heard


@given(logs, budgets)
def test_no_line_breaks_out(log: list[Entry], tokens: int) -> None:
    """A line is one line, opens no heading, list or fence, and hides nothing."""
    for told in following(log).tell(tokens).kept:
        assert told.text == told.text.strip() != ""
        assert len(told.text.splitlines()) == 1
        assert told.text[0] not in "#>*-+=|~`<[]{}:;/\\@"
        hidden = {unicodedata.category(char) for char in told.text if char not in "\u200c\u200d"}
        assert not hidden & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def test_all_of_it_is_told_where_it_fits() -> None:
    """A short log is told in full, in the order of play, over sessions too."""
    log = [*play(5, "s1"), *play(5, "s2"), *play(4, "s3")]
    telling = following(log).tell(2000)
    assert [told.sources for told in telling.kept] == [(entry.event_id,) for entry in log]
    assert {told.part for told in telling.kept} == {"recent"}
    assert telling.kept[0].text == f"DM: {log[0].text}"
    assert not telling.dropped


def test_the_newest_lines_are_told_in_full() -> None:
    """The newest lines stand at the end of any story."""
    for count in range(60, 90):
        log = play(count)
        telling = following(log).tell(600)
        recent = [told for told in telling.kept if told.part == "recent"]
        assert len(recent) >= 3
        assert [told.text for told in recent] == [f"{e.who}: {e.text}" for e in log[-len(recent) :]]


def test_parts_stand_in_their_order() -> None:
    """The story, then names, then the newest lines; story and newest in the order of play, none twice."""
    log = [*play(200, "s1"), retelling("s2"), *crowd("s2"), *play(300, "s2")]
    telling = following(log).tell(900)
    order = [told.part for told in telling.kept]
    assert order == sorted(order, key=["story", "names", "lately", "recent"].index)
    places = {entry.event_id: number for number, entry in enumerate(log)}
    told = [places[told.sources[0]] for told in telling.kept if told.part != "names"]
    assert told == sorted(told)
    assert set(order) == {"names", "story", "lately", "recent"}


def test_names_have_an_event_that_says_each() -> None:
    """A line of names is a sentence, and its sources say every one of them."""
    log = [*play(150, "s1"), *crowd("s2"), *play(150, "s2")]
    said = {entry.event_id: entry.text + entry.who for entry in log}
    lines = [told for told in following(log).tell(700).kept if told.part == "names"]
    assert lines
    for told in lines:
        names = told.text.partition(": ")[2].removesuffix(".").split(", ")
        for name in names:
            assert any(name in said[source] for source in told.sources)


def test_no_room_goes_to_names_where_lines_are_wanted_word_for_word() -> None:
    """In a game, people and places have lines of their own, so the newest lines get the room of the names."""
    log = [*crowd("s1"), *play(300, "s1")]
    assert not [told for told in following(log).tell(700, lines=10, names=False).kept if told.part == "names"]
    assert [told for told in following(log).tell(700).kept if told.part == "names"]


def test_names_are_told_where_the_story_does_not() -> None:
    """A name that the story tells, or that of somebody who speaks all the time, is not listed as well."""
    log = [*crowd("s1"), *play(300, "s1")]
    telling = following(log).tell(700)
    (names,) = [told.text for told in telling.kept if told.part == "names"]
    story = " ".join(told.text for told in telling.kept if told.part == "story")
    listed = names.removeprefix("Who else: ").removesuffix(".").split(", ")
    assert not [name for name in listed if name in story.split()]
    assert not {"Zara", "Throk", "DM"} & set(listed)


def test_a_retelling_outlives_its_session() -> None:
    """A DM's recap of some sessions ago still stands in the story."""
    log = [retelling("s1"), *play(40, "s1")]
    for number in range(2, 7):
        log += play(40, f"s{number}")
    assert any(told.sources == ("s1:retold",) for told in following(log).tell(800).kept)


def test_what_is_left_out_is_named() -> None:
    """The best of what did not fit is listed with a reason, and never without end."""
    telling = following(play(400)).tell(500)
    assert 0 < len(telling.dropped) <= 50
    assert all(told.reason for told in (*telling.dropped, *telling.kept))


def test_a_session_that_comes_back_is_a_new_run() -> None:
    """A, B, A are three runs: what decides is the order of play, not the name."""
    back = following([*play(60, "a"), *play(60, "b"), *play(60, "a")])
    other = following([*play(60, "a"), *play(60, "b"), *(replace(e, session="c") for e in play(60, "a"))])
    assert back.tell(500) == other.tell(500)


@pytest.mark.parametrize(("entries_a_turn", "sessions"), [(1, 1), (1, 4), (5, 1), (5, 4)])
def test_most_of_the_text_stays_from_turn_to_turn(entries_a_turn: int, sessions: int) -> None:
    """Providers keep a prefix that did not change: on average it is most of the text."""
    story, last, shares = Story(), "", []
    log = [entry for n in range(sessions) for entry in play(200 * entries_a_turn // sessions, f"s{n}")]
    for turn in range(200):
        story.add(log[turn * entries_a_turn : (turn + 1) * entries_a_turn])
        text = text_of(story.tell(2000))
        same = next((n for n, (a, b) in enumerate(zip(last, text, strict=False)) if a != b), len(last))
        shares.append(same / len(text))
        last = text
    assert sum(shares) / len(shares) > 0.6


def test_what_is_held_does_not_grow() -> None:
    """A run of any length is held as its window."""
    story = Story()
    sizes = []
    for _ in range(3):
        for _ in range(runs.CHUNKS + 2):
            story.add(play(runs.CHUNK, "long"))
        sizes.append((len(story._run.lines), len(story._run.tally.words), len(story._run.tally.pairs)))
    assert sizes[1] == sizes[2]
    assert sizes[2][0] <= runs.CHUNK * (runs.CHUNKS + 1)


def test_a_game_s_story_has_no_sentence_that_needs_the_one_before() -> None:
    """Beside the newest lines, a sentence stands alone: who "they" are, or who speaks, would be lost."""
    torn = '"You smell of town." Nobody likes them, and nobody has better ones.'
    log = [Entry(text=torn, who="dm", event_id="e0", session="s01", narrated=True)]
    log += play(120)
    game, transcript = (text_of(following(log).tell(1200, names=names)) for names in (False, True))
    assert "smell of town" not in text_of(following(log).tell(1200, lines=10))
    assert "smell of town" not in game
    assert "Nobody likes them" not in game
    assert game
    assert transcript
