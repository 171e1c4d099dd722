"""The doubles that ship with dndbots: they do what they are told, and the same again by the same chance."""

import random

import pytest
from tests.llm.asked import NONE, ONE, TWO, Act, Roll

from dndbots.errors import ModelUnavailable
from dndbots.ids import is_hidden
from dndbots.llm.protocol import Answer, Question
from dndbots.testing import FaultyVoice, ScriptedVoice
from dndbots.testing.scripted_voices import FAULTS


def test_a_scripted_voice_says_its_answers_in_order() -> None:
    """Text, answers, errors and callables, the last one for ever; and it keeps the questions."""
    down = ModelUnavailable("x", reason="down")
    voice = ScriptedVoice("One.", Answer(words="Two."), down, lambda question: f"You said: {question.text}")
    told: list[str] = []
    assert [voice.ask(NONE, hear=told.append).words for _ in range(2)] == ["One.", "Two."]
    assert told == ["One.", "Two."]
    with pytest.raises(ModelUnavailable):
        voice.ask(NONE)
    assert [voice.ask(ONE).words for _ in range(2)] == ["You said: A goblin comes."] * 2
    assert voice.questions == [NONE, NONE, NONE, ONE, ONE]


def played(seed: int, question: Question, fault: str | None = None) -> list[object]:
    voice = FaultyVoice(ScriptedVoice("Fine."), random.Random(seed), faults=[fault] if fault else None)
    answers: list[object] = []
    for _ in range(40):
        try:
            answers.append(voice.ask(question))
        except ModelUnavailable as exc:
            answers.append(str(exc))
    return [*voice.done, *answers]


@pytest.mark.parametrize("question", [NONE, ONE, TWO], ids=["none", "one", "two"])
@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_faulty_voice_does_wrong_and_is_read_like_any_other(fault: str, question: Question) -> None:
    """It raises nothing but `ModelUnavailable`, and what comes of it is fit to be shown."""
    found = played(1, question, fault)
    assert fault in found
    assert "" in found
    for answer in found:
        if isinstance(answer, Answer):
            assert answer.words or answer.calls or answer.faults
            assert not any(is_hidden(char) for char in answer.words.replace("\n", ""))
            assert all(isinstance(call.form, Act | Roll) for call in answer.calls)


def test_the_same_chance_does_the_same_again() -> None:
    """So that a game which broke can be played again."""
    assert played(7, TWO) == played(7, TWO)
    assert played(7, TWO) != played(8, TWO)
    assert set(played(7, TWO)[:40]) - {""} <= set(FAULTS)
