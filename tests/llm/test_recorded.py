"""The shapes that each provider's answers have: whatever they look like, the same is read out of them."""

import pytest
from tests.llm.asked import NONE, ONE, Act, voice

from dndbots.llm.protocol import Usage
from dndbots.llm.responses.answers import CUT, EMPTY, REFUSED
from dndbots.testing import RECORDED, FakeChatModel, recorded
from dndbots.testing.recorded_answers import TEXT

EVERY = [(provider, kind) for provider, kinds in RECORDED.items() for kind in kinds]
STREAMED = [False, True]


def test_every_provider_has_the_shapes_that_matter() -> None:
    """Text, calls, nothing, thoughts, an answer that was cut off."""
    for kinds in RECORDED.values():
        assert {"text", "call", "empty", "thinking", "cut"} <= set(kinds)


@pytest.mark.parametrize("streamed", STREAMED)
@pytest.mark.parametrize(("provider", "kind"), EVERY)
def test_what_is_read_out_of_a_recorded_message(provider: str, kind: str, streamed: bool) -> None:  # noqa: FBT001
    """Words, calls and faults do not depend on who said them, nor on whether they were heard as they came."""
    told: list[str] = []
    chat = FakeChatModel(recorded(provider, kind))
    answer = voice(chat).ask(ONE, hear=told.append if streamed else None)
    if kind in ("text", "parts", "thinking"):
        assert (answer.words, answer.calls, answer.faults) == (TEXT, (), ())
    elif kind == "call":
        [call] = answer.calls
        assert (call.tool, call.form, answer.faults) == ("act", Act(verb="attack"), ())
        assert call.id
    elif kind == "cut":
        assert (answer.words, answer.faults) == ("I draw", (CUT,))
    elif kind in ("refusal", "refusal in parts", "filtered", "blocked"):
        assert (answer.words, answer.calls, answer.faults) == ("", (), (REFUSED,))
    else:
        assert answer.calls == ()
        [fault] = answer.faults
        assert fault == EMPTY or fault.startswith("act: ")
    assert "".join(told) in ("", answer.words)
    assert bool(told) is (streamed and bool(answer.words))


@pytest.mark.parametrize(("provider", "kind"), EVERY)
def test_usage_is_read_and_our_own_count_stands_beside_it(provider: str, kind: str) -> None:
    """By the metadata that LangChain has for all, or as the provider says it."""
    answer = voice(FakeChatModel(recorded(provider, kind)), clock=lambda: 0.0).ask(NONE)
    cached = 0 if provider == "ollama" else 60
    if kind == "blocked":
        assert (answer.usage.input, answer.usage.output) == (0, 0)
    else:
        assert answer.usage == Usage(input=100, output=8, cached=cached, counted=answer.usage.counted)
    assert answer.usage.counted > 5
    message = recorded(provider, kind)
    message.usage_metadata = None
    older = voice(FakeChatModel(message)).ask(NONE).usage
    if "token_usage" in message.response_metadata or provider in ("anthropic", "ollama"):
        assert (older.input, older.output, older.cached) == (100, 8, cached)


def test_a_message_is_read_by_its_fields_and_not_by_its_type() -> None:
    """Mappings, bare text, parts without a message, nothing: all of them are answers."""
    for raw, words in (
        ({"content": "Yes."}, "Yes."),
        ({"text": "Yes."}, "Yes."),
        (["Yes", {"type": "text", "text": "."}, {"type": "image"}, 3, None], "Yes."),
        ("Yes.", "Yes."),
        (None, ""),
        (17, ""),
        (object(), ""),
    ):
        assert voice(FakeChatModel(raw)).ask(NONE).words == words
