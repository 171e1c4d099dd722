"""Calls that a model writes into its text in other forms than JSON."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.game.dm.tools import TOOLS, AskRoll, Give, Pay
from dndbots.llm.responses.answers import read
from dndbots.llm.responses.shapes import Shape
from dndbots.llm.responses.written_calls import find_written
from dndbots.llm.settings import Way

ROPE = Give(item="rope", to="Zara")


@pytest.mark.parametrize(
    "text",
    [
        'give(item="rope", to="Zara")',
        'Here you are.\n```python\ngive(item="rope", to="Zara")\n```',
        'give("rope", "Zara")',
        "give(item='rope', to=Zara)",
        "<give><item>rope</item><to>Zara</to></give>",
        '<give item="rope" to="Zara"/>',
        "<function=give><parameter=item>rope</parameter><parameter=to>Zara</parameter></function>",
        '<invoke name="give"><parameter name="item">rope</parameter><param name="to">Zara</param></invoke>',
        '<tool_call="give">{"item": "rope", "to": "Zara"}</tool_call>',
    ],
)
@pytest.mark.parametrize("way", [Way.TOOLS, Way.SCHEMA, Way.WORDS])
def test_a_call_in_the_forms_of_other_trainings_is_read(text: str, way: Way) -> None:
    answer = read(Shape(text=text), TOOLS, way)
    assert [call.form for call in answer.calls] == [ROPE]
    assert answer.words in ("", "Here you are.")
    assert answer.fits is False


def test_words_around_calls_are_kept_and_calls_stay_in_order() -> None:
    text = 'The rope creaks.\nask_roll(character="Zara", kind="dex")\nIt holds. pay(gold=5, to="Zara")'
    answer = read(Shape(text=text), TOOLS, Way.TOOLS)
    assert [call.form for call in answer.calls] == [
        AskRoll(character="Zara", kind="dex"),
        Pay(gold=5, to="Zara"),
    ]
    assert " ".join(answer.words.split()) == "The rope creaks. It holds."


@pytest.mark.parametrize(
    "text",
    [
        "He could give(up) now.",
        "forgive(item='rope', to='Zara')",
        "give(item=open('x').read(), to='Zara')",
        "give(*['rope'], to='Zara')",
        "unknown(item='rope')",
        "give(item='rope'",
        "They give (rope and hope) to Zara.",
    ],
)
def test_what_is_no_call_stays_text(text: str) -> None:
    answer = read(Shape(text=text), TOOLS, Way.TOOLS)
    assert not answer.calls
    assert answer.words == text


@given(st.text(alphabet="give(<>/=\"'{}[]item rope, 0\n", max_size=300))
def test_any_text_is_read(text: str) -> None:
    found = find_written(text, TOOLS)
    for one, after in pairwise(found):
        assert one.start < one.end <= after.start
