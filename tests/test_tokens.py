"""Token counts: the guess of the source documents, and the exact count."""

import math
import threading

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from dndbots import tokens
from dndbots.errors import InvalidSetting, UnknownEncoding
from dndbots.tokens import (
    REPORTS,
    UNKNOWN_MODEL_MARGIN,
    Report,
    TokenCounter,
    calibrated,
    count_lines,
    count_many,
    count_parts,
    count_tokens,
    counter_for,
    estimate_tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("   ", 0), ("hello", 1), ("hello world", 2), ("one two three four five six seven", 9)],
)
def test_estimate_is_one_point_three_tokens_a_word(text: str, expected: int) -> None:
    """int(words * 1.3)."""
    assert estimate_tokens(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "勇者は龍を倒した",
        "「龍」、『虎』！",
        "😈😈😈😈",
        "你好世界这是一个测试",
        "안녕하세요용사님",
        "The hero 勇者は龍を倒した won",
    ],
)
def test_estimate_counts_characters_where_there_are_no_spaces(text: str) -> None:
    """Chinese, Japanese and Korean count by characters, also mixed into English, however many words."""
    wide = sum(ord(char) > 0x1000 for char in text)
    assert estimate_tokens(text) >= wide
    assert estimate_tokens(text) >= 0.5 * count_tokens(text)


def test_estimate_of_mixed_text_is_the_sum_of_its_parts() -> None:
    """English keeps its words beside characters that have none: the rule does not depend on a word count."""
    english = "the party meets a stranger at the gate and asks the way "
    assert estimate_tokens(english + "龍" * 50) == estimate_tokens(english) + 50


def test_estimate_of_one_endless_word_is_by_characters() -> None:
    """A kilobyte without a space is not one token."""
    assert estimate_tokens("a" * 1000) == 250


@given(st.lists(st.text(max_size=60), max_size=12), st.sampled_from(tokens.ENCODINGS))
def test_exact_counts_are_the_tokenizers(texts: list[str], encoding: str) -> None:
    """Batches, repeats and the cache change nothing."""
    sendable = [text.encode("utf-8", "replace").decode() for text in texts]
    doubled = sendable + sendable[::-1]
    assert count_many(doubled, encoding) == toktok.batch_count(doubled, encoding)
    assert [count_tokens(text, encoding) for text in sendable] == toktok.batch_count(sendable, encoding)


def test_known_counts() -> None:
    """Two figures from the tokenizers' own documentation."""
    assert count_many(["hello world", "how many tokens?"], "cl100k_base") == [2, 4]


def test_special_tokens_count_as_the_text_they_are() -> None:
    """A player who types <|endoftext|> typed thirteen characters, not a control token."""
    assert count_tokens("<|endoftext|>") > 1


def test_a_lone_surrogate_is_counted_not_crashed_on() -> None:
    """Broken text from outside still has a size."""
    assert count_tokens("a\ud800b") >= 2


@given(
    st.lists(st.text(st.sampled_from("a B1/.,!'\n\r\t\x85\u00a0\u2028狼é😀#"), max_size=12), max_size=8),
    st.sampled_from(tokens.ENCODINGS),
)
def test_lines_count_as_the_text_that_they_are(lines: list[str], encoding: str) -> None:
    """Lines counted apart sum up to the whole, with any ending or beginning."""
    whole = "".join(f"{line}\n" for line in lines)
    assert count_lines(lines, encoding) == toktok.batch_count([whole], encoding)[0]


@given(
    st.lists(st.text(st.sampled_from("a B1/.,!'\n\r\t\x85\u00a0\u2028狼é😀#"), max_size=12), max_size=6),
    st.sampled_from(tokens.ENCODINGS),
)
def test_parts_count_as_the_text_that_they_are(parts: list[str], encoding: str) -> None:
    """Wherever a text is cut, the sum is that of the whole."""
    assert count_parts(parts, encoding) == toktok.batch_count(["".join(parts)], encoding)[0]


def test_the_cache_is_bounded() -> None:
    """It holds so much and drops the least recently used."""
    cache = tokens._Counts(limit=2 * (4 + tokens._Counts.ENTRY))
    for text in ("aaaa", "bbbb", "cccc"):
        cache.put("o200k_base", {text: 1})
    assert cache.get("o200k_base", ["aaaa", "bbbb"]) == [None, 1]
    cache.put("o200k_base", {"dddd": 1})
    assert cache.get("o200k_base", ["cccc"]) == [None]
    cache.put("o200k_base", {"e" * 200: 1})
    assert cache.get("o200k_base", ["e" * 200]) == [None]


def test_counting_from_many_threads() -> None:
    """Eight threads, one answer."""
    texts = [f"line {number} of the log" for number in range(200)]
    expected = toktok.batch_count(texts, "o200k_base")
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(count_many(texts))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_an_unknown_encoding_is_named() -> None:
    """The error lists the encodings that exist."""
    with pytest.raises(UnknownEncoding, match=r"'gpt2'.*cl100k_base or o200k_base"):
        count_tokens("x", "gpt2")
    with pytest.raises(UnknownEncoding):
        TokenCounter(encoding="gpt2")


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o", "o200k_base", True),
        ("openai:gpt-4o-mini", "o200k_base", True),
        ("o3-mini", "o200k_base", True),
        ("gpt-4.1", "o200k_base", True),
        ("gpt-5", "o200k_base", True),
        ("gpt-4o-2024-08-06", "o200k_base", True),
        ("OpenAI/gpt-4o", "o200k_base", True),
        ("openai:ft:gpt-4o-mini:acme::abc", "o200k_base", True),
        ("gpt-4-x-alpaca-13b", "o200k_base", False),
        ("gpt-4.2", "o200k_base", False),
        ("o1-open-7b", "o200k_base", False),
        ("gpt-4", "cl100k_base", True),
        ("openai:gpt-3.5-turbo", "cl100k_base", True),
        ("ollama:llama3.1", "o200k_base", False),
        ("some-model-nobody-knows", "o200k_base", False),
        ("ollama:gpt-4o-imitation", "o200k_base", False),
    ],
)
def test_a_model_gets_its_counter(model: str, encoding: str, exact: bool) -> None:  # noqa: FBT001 - a table
    """Counts are exact for an included tokenizer, and have a margin otherwise."""
    counter = counter_for(model)
    assert (counter.encoding, counter.exact) == (encoding, exact)


def test_a_margin_rounds_up() -> None:
    """A count with a margin is never below the exact one."""
    assert TokenCounter(margin=1.25).count("hello world") == 3
    with pytest.raises(InvalidSetting, match="margin"):
        TokenCounter(margin=0.9)


@given(st.text(max_size=80))
def test_a_margin_leaves_more_room_in_other_scripts_and_never_more_than_bytes(text: str) -> None:
    """Vocabularies differ most where letters are not Latin; a token is at least a byte."""
    exact, roomy = count_tokens(text), TokenCounter(margin=1.25).count(text)
    size = len(text.encode("utf-8", "replace"))
    assert exact <= roomy <= max(size, exact)
    foreign = "勇者は龍を倒した。" * 10
    assert TokenCounter(margin=1.25).count(foreign) >= 1.9 * count_tokens(foreign)


# What providers report

ratios = st.floats(0.5, 3)
counts = st.lists(st.integers(1, 50_000), min_size=1, max_size=60)


@given(
    ratio=ratios,
    counted=counts,
    budget=st.integers(0, 200_000),
    model=st.sampled_from(["gpt-4o", "ollama:x"]),
)
def test_what_fits_a_scaled_budget_fits_it_by_the_providers_count(
    ratio: float, counted: list[int], budget: int, model: str
) -> None:
    """A provider may count from half to three times our tokens."""
    reports = [Report(count, math.ceil(ratio * count)) for count in counted]
    calibration = calibrated(model, reports)
    scaled = calibration.scaled(budget)
    assert ratio * scaled <= budget
    assert scaled == 0 or calibration.expected(scaled) <= budget
    assert calibration.scaled(budget + 1) >= scaled


@given(
    pairs=st.lists(
        st.tuples(st.integers(1, 50_000), st.floats(0.5, 3), st.integers(0, 300)), min_size=1, max_size=60
    )
)
def test_none_of_the_newest_reports_is_underestimated(pairs: list[tuple[int, float, int]]) -> None:
    """However they differ, and whatever a chat format adds to each."""
    reports = [Report(count, math.ceil(count * ratio) + more) for count, ratio, more in pairs]
    calibration = calibrated("ollama:x", reports)
    for counted, reported in reports[-REPORTS:]:
        assert calibration.expected(counted) >= reported
    assert calibration == calibrated("ollama:x", reports[-REPORTS:])


def test_before_there_are_reports_the_margin_counts() -> None:
    """Models with an included tokenizer have no margin."""
    assert calibrated("ollama:x", []).ratio == UNKNOWN_MODEL_MARGIN
    assert calibrated("gpt-4o", [Report(0, 5), Report(5, 0), Report(-1, -1)]).ratio == 1.0
    assert calibrated("gpt-4o", []).scaled(2000) == 2000


def test_what_a_chat_format_adds_does_not_shrink_large_budgets() -> None:
    """A greeting of ten tokens is reported as forty, a prompt of four thousand as thirty more."""
    calibration = calibrated("ollama:x", [Report(10, 40), Report(4000, 4030)])
    assert calibration.ratio < 1.01
    assert calibration.expected(10) >= 40
    assert calibration.scaled(4000) > 3900


def test_reports_that_cannot_be_are_bounded() -> None:
    """A server that counts what it remembers as nothing, and one that counts something else."""
    assert calibrated("ollama:x", [Report(1000, 3)]).ratio == 1.0
    assert calibrated("ollama:x", [Report(1000, 10**9)]).ratio <= 8
    assert calibrated("ollama:x", [Report(1000, 10**9)]).scaled(8000) > 0
