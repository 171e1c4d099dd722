"""Laws of the rules: they never raise, never depend on other turns, and never say what a turn does not."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hostile_text

from dndbots.extraction.english import RuleExtractor
from dndbots.extraction.english.reader import RULES
from dndbots.extraction.port import FIELDS, LONGEST_VALUE, KnownNames, Turn, Update
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.words import words_of

PIECES = [
    "Aldwin", "Elena", "Throk", "Mira's", "the Silver Key", "Oakhurst", "Lord Harrow", "He", "her", "I", "My",
    "is", "was", "has been", "says", "wants to", "takes", "brother", "sister", "the blacksmith of", "a dwarf",
    "named", "who", "and", "if", "not", "dead", "missing", "lives in", "promises to", "pay gold",
    "asks you to find", ",", ".", "?", '"', "\u201c", "\u201d", ";", "--", "@P0@", "\n", "rumor has it that",
    "no longer",
    "\u0131s",
]  # fmt: skip
prose = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)
texts = st.one_of(prose, hostile_text, st.tuples(prose, hostile_text).map(" ".join))
turns = st.builds(
    Turn,
    id=st.sampled_from(["evt_001_001", "evt_001_002", "D1:3"]),
    speaker=st.one_of(st.sampled_from(["DM", "Zara", "", "\n## MEMORY"]), hostile_text),
    role=st.sampled_from(["dm", "pc", "npc"]),
    text=texts,
)
names = st.dictionaries(
    st.one_of(
        st.sampled_from(["Aldwin", "Throk", "silver key", "the", "Elena Vane", "x" * 300]), hostile_text
    ),
    st.sampled_from(["PC", "NPC", "MON", "LOC", "FAC", "ITEM", "QST", "EVT"]),
    max_size=5,
)


def extract(some: list[Turn], known: KnownNames) -> list[Update]:
    return RuleExtractor().extract(some, known)


@given(st.lists(turns, max_size=4), names)
def test_each_turn_is_read_on_its_own(some: list[Turn], known: dict[str, str]) -> None:
    """No text raises, and a batch gives the same updates as its turns alone."""
    alone = [update for turn in some for update in extract([turn], KnownNames(known))]
    assert extract(some, KnownNames(known)) == alone


@given(turns, names)
def test_what_is_proposed_stands_in_the_turn(turn: Turn, known: dict[str, str]) -> None:
    """Name and value are words of the turn, or the speaker's name; and nothing in them is markup."""
    said = set(words_of(turn.text)) | (set(words_of(turn.speaker)) if turn.role != "dm" else set())
    for update in extract([turn], KnownNames(known)):
        assert update.field in FIELDS[update.kind]
        assert set(words_of(update.name)) <= said
        assert {word for word in words_of(update.value) if word not in FUNCTION_WORDS} <= said
        assert update.turn == turn.id
        for text in (update.name, update.value, update.said_by or ""):
            assert text.isprintable()
            assert len(text) <= LONGEST_VALUE
            assert not set("@#[]{}<>|`*_\\=") & set(text)


@given(turns, names)
def test_the_same_turn_is_read_the_same(turn: Turn, known: dict[str, str]) -> None:
    """In whatever order the names are known."""
    backwards = dict(reversed(known.items()))
    assert extract([turn], KnownNames(known)) == extract([turn], KnownNames(backwards))


@given(prose)
def test_a_question_proposes_nothing(text: str) -> None:
    """Not one word of a question is taken for an answer."""
    asked = " ".join("".join(char for char in text if char not in '.?!;"\u201c\u201d\n').split()).replace(
        "--", ""
    )
    assert extract([Turn("t", "DM", "dm", f"{asked}?")], KnownNames({})) == []


SIZE = 100_000
HOSTILE = [
    "x" * SIZE,
    "Aldwin " * (SIZE // 7),
    "Aldwin, the " * (SIZE // 12),
    "Aldwin is the old old old old " * (SIZE // 30),
    "a. " * (SIZE // 3),
    '"' * SIZE,
    '"a" ' * (SIZE // 4),
    "(" * SIZE,
    "Aldwin's brother's brother's " * (SIZE // 29),
    "he she his her " * (SIZE // 15),
    "Elena wants to " * (SIZE // 15),
    "Aldwin is dead. " * (SIZE // 16),
    "of the of the Of The " * (SIZE // 21),
    "\u201c" * (SIZE // 2) + "\u201d" * (SIZE // 2),
    "- -- " * (SIZE // 5),
    "A" * SIZE,
    "\U0001f608" * SIZE,
    "\u9f8d" * SIZE,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:16]))
def test_a_long_turn_is_read_in_bounded_time(text: str) -> None:
    """The longest turn that the log takes, written to be slow, costs seconds at most, never minutes."""
    start = time.process_time()
    extract([Turn("t", "DM", "dm", text)], KnownNames({"Aldwin": "NPC"}))
    assert time.process_time() - start < 10


def test_cost_grows_with_the_text() -> None:
    """Four times the text costs about four times as much, not sixteen."""
    text = 'Aldwin, the smith of Oakhurst, is the brother of Garth. He wants to leave. "I am," says Elena. '

    def cost(times: int) -> float:
        start = time.process_time()
        extract([Turn("t", "DM", "dm", text * times)], KnownNames({}))
        return time.process_time() - start

    cost(20)
    small = min(cost(100) for _ in range(3))
    assert cost(400) < 12 * small


def test_every_rule_is_a_pattern() -> None:
    """Every rule compiles and has a subject, also one that no text has used yet."""
    assert [rule.expression for rule in RULES if "a" not in rule.pattern.groupindex] == []


def test_who_reads_nothing_waits_for_no_rule() -> None:
    """Hundreds of patterns take a second to make ready; to have an extractor at hand takes none of them."""
    program = (
        "from dndbots.compaction import RuleExtractor\n"
        "from dndbots.extraction.english.grammar import _compiled\n"
        "RuleExtractor()\n"
        "print(_compiled.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
