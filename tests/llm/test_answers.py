"""Words, calls and faults out of anything at all."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.llm.asked import ACT, ROLL, Act, Roll
from tests.strategies import hostile_text

from dndbots.ids import is_hidden
from dndbots.llm.responses.answers import LONGEST_WORDS, MOST_CALLS, NO_OBJECT, REFUSED, begun_words, read
from dndbots.llm.responses.shapes import shape_of, without_thoughts
from dndbots.llm.settings import Way

ATTACK = {"verb": "attack", "target": "goblin"}
FILLED = Act(verb="attack", target="goblin")


def calls_in(text: str, *tools: Any, way: Way = Way.TOOLS) -> list[Any]:
    return [call.form for call in read(shape_of(text), tools or (ACT, ROLL), way).calls]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"tool": "act", **ATTACK}),
        json.dumps({"name": "act", "arguments": ATTACK}),
        json.dumps({"name": "act", "parameters": ATTACK}),
        json.dumps({"name": "act", "arguments": json.dumps(ATTACK)}),
        json.dumps({"type": "function", "function": {"name": "act", "arguments": json.dumps(ATTACK)}}),
        json.dumps({"act": ATTACK}),
        json.dumps({"words": "Die!", "calls": [{"tool": "act", **ATTACK}]}),
        json.dumps({"tool_calls": [{"name": "act", "args": ATTACK}]}),
        f"<tool_call>\n{json.dumps({'name': 'act', 'arguments': ATTACK})}\n</tool_call>",
        f"[TOOL_CALLS] [{json.dumps({'name': 'act', 'arguments': ATTACK})}]",
        f"```json\n{json.dumps({'tool': 'act', **ATTACK})}\n```",
        f"<think>{{hm}}</think>I strike! {json.dumps({'tool': 'act', **ATTACK})}",
    ],
)
@pytest.mark.parametrize("way", [Way.TOOLS, Way.SCHEMA, Way.WORDS])
def test_a_call_that_is_written_as_text_is_read(text: str, way: Way) -> None:
    """In the forms that models are trained on, and in ours, with anything around it."""
    reading = read(shape_of(text), (ACT, ROLL), way)
    assert [call.form for call in reading.calls] == [FILLED]
    assert reading.faults == ()
    assert reading.fits is (way is not Way.TOOLS)
    assert not set("{}`<>[]") & set(reading.words)


@pytest.mark.parametrize("way", [Way.SCHEMA, Way.WORDS])
def test_of_an_answer_that_breaks_off_no_brackets_are_told(way: Way) -> None:
    """At whatever place: calls that were whole count, words as far as they go, and nothing else is prose."""
    whole = json.dumps(
        {"calls": [{"tool": "act", **ATTACK}, {"tool": "roll", "dice": "1d6"}], "words": "Die!"}
    )
    for before in ("", "I strike! ", "```json\n"):
        for end in range(len(whole)):
            reading = read(shape_of(before + whole[:end]), (ACT, ROLL), way)
            assert not set('{}`[]":') & set(reading.words), reading.words
            assert reading.words in ("", "I strike!", "D", "Di", "Die", "Die!"), reading.words
            assert len(reading.calls) <= 2


def test_of_a_single_tool_the_form_alone_is_a_call() -> None:
    """With words beside it; a form with words of its own keeps them."""
    reading = read(shape_of(json.dumps({"words": "Die!", **ATTACK})), (ACT,), Way.SCHEMA)
    assert (reading.words, [call.form for call in reading.calls]) == ("Die!", [FILLED])
    assert calls_in('{"nothing": "of that"}', ACT) == []


def test_words_that_hold_an_object_which_is_no_call_stay_as_they_are() -> None:
    """Somebody reads a letter in braces."""
    text = 'The rune says {"a": 1}.'
    assert read(shape_of(text), (ACT, ROLL), Way.TOOLS).words == text


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        ({}, "act: verb: Field required"),
        ({"verb": "fly"}, "act: verb: Input should be 'attack', 'hide' or 'wait'"),
        ({"verb": ["attack"]}, "act: verb: Input should be"),
        ("no", "act: what was given is no JSON object"),
        (None, "act: verb: Field required"),
        ([], "act: what was given is no JSON object"),
    ],
)
def test_a_form_that_is_not_filled_in_is_a_fault_in_words(args: Any, fault: str) -> None:
    """Which field, and what it should be; what was given is not repeated."""
    raw = {"content": "", "tool_calls": [{"name": "act", "args": args, "id": "1"}]}
    reading = read(shape_of(raw), (ACT,), Way.TOOLS)
    assert reading.calls == ()
    assert fault in reading.faults[0]
    assert reading.failed == reading.faults


def test_an_unknown_tool_is_told_which_there_are() -> None:
    """And its name, cut short: it may be anything."""
    raw = {"tool_calls": [{"name": "x" * 5000, "args": {}}, {"name": "act", "args": ATTACK}]}
    reading = read(shape_of(raw), (ACT, ROLL), Way.TOOLS)
    assert [call.form for call in reading.calls] == [FILLED]
    assert "there are act, roll" in reading.faults[0]
    assert reading.failed == reading.faults
    assert len(reading.faults[0]) < 120


def test_more_calls_than_anybody_needs_are_not_read() -> None:
    """And it is said."""
    raw = {"tool_calls": [{"name": "act", "args": ATTACK}] * 99}
    reading = read(shape_of(raw), (ACT,), Way.TOOLS)
    assert len(reading.calls) == MOST_CALLS
    assert reading.faults == ("there were 99 calls; at most 16 are read",)


def test_an_object_that_breaks_off_leaves_its_words() -> None:
    """Nobody says JSON aloud."""
    assert begun_words('{"words": "I say \\"hi\\" and\\u00e9 \\u26') == 'I say "hi" andé '
    raw = {"content": '{"words": "I draw my axe and', "response_metadata": {"finish_reason": "length"}}
    reading = read(shape_of(raw), (ACT, ROLL), Way.SCHEMA)
    assert reading.words == "I draw my axe and"
    assert reading.fits
    assert read(shape_of('{"wrds": "I draw'), (ACT,), Way.WORDS).words == ""


def test_an_object_that_breaks_off_in_its_words_has_said_what_to_do() -> None:
    """What stands before the words is whole; what breaks off itself is not taken."""
    one = read(shape_of('{"verb": "attack", "words": "I will not be de'), (ACT,), Way.SCHEMA)
    assert (one.words, [call.form for call in one.calls]) == ("I will not be de", [Act(verb="attack")])
    two = read(shape_of('{"calls": [{"tool": "roll", "dice": "1d6"}], "words": "So'), (ACT, ROLL), Way.WORDS)
    assert (two.words, [call.tool for call in two.calls]) == ("So", ["roll"])
    half = read(shape_of('{"words": "So.", "verb": "attack", "target": "the gob'), (ACT,), Way.SCHEMA)
    assert (half.words, half.calls) == ("So.", ())


def test_talk_where_an_object_was_asked_for_is_talk_with_a_fault() -> None:
    """The words are kept: they may be all that is wanted."""
    reading = read(shape_of("I draw my axe."), (ACT,), Way.WORDS)
    assert (reading.words, reading.faults, reading.fits) == ("I draw my axe.", (NO_OBJECT,), False)
    assert reading.failed == ()


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I’m sorry, but I can’t help with that.",
        "As an AI language model, I cannot pretend to be a dwarf.",
        "Sorry, I cannot create content that depicts violence.",
        "I cannot continue with this story.",
    ],
)
def test_a_refusal_is_told_by_its_wording(text: str) -> None:
    """Also where nobody marks it as one."""
    assert REFUSED in read(shape_of(text), (), Way.AUTO).faults


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, Zara. I cannot open this door.",
        '"I can\'t help you," says Mirela, and shuts the window.',
        "Sorry about the mess. I can't reach the ledge.",
        "I cannot lift it.",
    ],
)
def test_characters_who_cannot_do_something_do_not_refuse(text: str) -> None:
    """People are sorry, too."""
    assert read(shape_of(text), (), Way.AUTO).faults == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("b<think>a", "b"),
        ("<think>a</think>b<thinking>c</thinking>d", "bd"),
        ("<THINK>a</THINK> b", " b"),
        ("no thoughts < here >", "no thoughts < here >"),
        ("<think><think>a</think>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
            "b",
        ),
        ("<|channel|>analysis<|message|>a", ""),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "b"),
    ],
)
def test_thoughts_are_nobodys_words(text: str, kept: str) -> None:
    """Closed, open, begun before the answer, more than one."""
    assert without_thoughts(text) == kept


def test_thoughts_in_a_form_are_nobodys_words_either() -> None:
    """A model that is held to a form thinks where it can."""
    args = {"verb": "attack", "target": "<think>Who? Him.</think>the goblin"}
    reading = read(shape_of({"tool_calls": [{"name": "act", "args": args}]}), (ACT,), Way.TOOLS)
    assert [call.form for call in reading.calls] == [Act(verb="attack", target="the goblin")]


def test_a_call_in_a_channel_is_read() -> None:
    """Where a server leaves the marks of its model's format in the text."""
    said = (
        "<|channel|>analysis<|message|>Strike.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.act "
        '<|constrain|>json<|message|>{"verb": "attack", "target": "goblin"}<|call|>'
    )
    reading = read(shape_of(said), (ACT,), Way.TOOLS)
    assert (reading.words, [call.form for call in reading.calls]) == ("", [FILLED])


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | hostile_text
    | st.sampled_from(["act", "words", "text"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["content", "text", "type", "tool_calls", "name", "args", "words", "calls", "tool", "verb"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(raw=anything, field=anything, way=st.sampled_from(list(Way)), as_json=st.booleans())
def test_whatever_comes_back_is_read_without_an_error(raw: Any, field: Any, way: Way, as_json: bool) -> None:  # noqa: FBT001
    """And what is kept of it is visible, short, and in valid forms."""
    message = SimpleNamespace(
        content=json.dumps(raw) if as_json else raw,
        tool_calls=field,
        additional_kwargs=raw,
        response_metadata=field,
        usage_metadata=raw,
    )
    for answer in (message, raw):
        shape = shape_of(answer)
        reading = read(shape, (ACT, ROLL), way)
        assert len(reading.words) <= LONGEST_WORDS
        assert not any(is_hidden(char) for char in reading.words.replace("\n", ""))
        assert all(isinstance(call.form, Act | Roll) for call in reading.calls)
        assert all(len(fault) <= 300 and len(fault.splitlines()) == 1 for fault in reading.faults)
        assert reading.words or reading.calls or reading.faults
        assert all(type(count) is int and count >= 0 for count in shape.tokens.values())


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "<think>" * 30_000,
        "<|channel|>analysis" * 10_000,
        "<|start|>assistant " * 10_000 + "<|channel|>",
        "</think>" * 30_000,
        '{"words": "' * 20_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        "\\" * 200_000,
        "I'm sorry, but I can't " * 9000,
        "x" * 50_000,
        "[" * 200_000,
    ],
    ids=lambda text: text[:8],
)
def test_an_answer_that_is_made_to_take_for_ever_does_not(text: str) -> None:
    """Fifty thousand characters and more, of what parsers like least: this test would not end."""
    for way in Way:
        reading = read(shape_of(text), (ACT, ROLL), way)
        assert len(reading.words) <= LONGEST_WORDS
        assert reading.faults
