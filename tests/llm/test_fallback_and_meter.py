"""What happens when a provider is down, and what everything took."""

import json
import threading
from typing import Any

import pytest
from tests.chat import GOOD, task
from tests.llm.asked import NONE, ONE, TWO, Act, Pauses, patient

from dndbots.errors import ExtractionFailed, ModelUnavailable, NoSuchPlayer
from dndbots.extraction.model_extractor import ModelExtractor
from dndbots.extraction.port import KnownNames, Turn
from dndbots.llm.fallback import REST, FallbackModel, FallbackVoice
from dndbots.llm.meter import Meter, Metered
from dndbots.llm.protocol import Role, Usage
from dndbots.llm.settings import ModelSettings, Price, Way, read_settings
from dndbots.llm.voices import Voices
from dndbots.memory.summaries.summarizer import Summarizer
from dndbots.testing import FakeChatModel, ScriptedVoice, ServerFault, recorded

DOWN = ModelUnavailable("first", reason="cannot be reached")
OTHER = ModelUnavailable("second", reason="the key is refused")


# Falling back


def test_the_second_is_asked_while_the_first_gives_no_answer() -> None:
    """And the first again after a while, not at every question."""
    now = [0.0]
    first, second = ScriptedVoice(DOWN, "I am back."), ScriptedVoice("Here.")
    both = FallbackVoice(first, second, clock=lambda: now[0])
    assert [both.ask(NONE).words for _ in range(3)] == ["Here."] * 3
    assert len(first.questions) == 1
    now[0] = REST + 1
    assert both.ask(NONE).words == "I am back."
    assert both.ask(NONE).words == "I am back."
    assert len(second.questions) == 3


def test_where_both_give_no_answer_both_reasons_are_told_in_one_line() -> None:
    """So that one knows which of them to mend."""
    both = FallbackVoice(ScriptedVoice(DOWN), ScriptedVoice(OTHER), clock=lambda: 0.0)
    for _ in range(2):
        with pytest.raises(ModelUnavailable) as caught:
            both.ask(NONE)
        told = str(caught.value)
        assert "cannot be reached" in told
        assert "the key is refused" in told
        assert len(told.splitlines()) == 1


def test_a_first_that_comes_back_is_asked_when_the_second_fails() -> None:
    """Resting is for speed; it never leaves a question without an answer that could be had."""
    both = FallbackVoice(ScriptedVoice(DOWN, "Back."), ScriptedVoice("Here.", OTHER), clock=lambda: 0.0)
    assert [both.ask(NONE).words for _ in range(2)] == ["Here.", "Back."]


def test_faults_of_an_answer_are_no_reason_to_fall_back() -> None:
    """Whoever answers nonsense is told so; another model costs another price."""
    second = ScriptedVoice("Here.")
    assert FallbackVoice(ScriptedVoice(""), second).ask(NONE).words == ""
    assert second.questions == []


# Metering


def test_usage_is_summed_up_by_role_and_model() -> None:
    """With its cost where the price is known, and None where it is not."""
    meter = Meter({"openai:a": Price(input=1, output=2), "b": Price(input=3, output=0)})
    for role, model in ((Role.DM, "openai:a"), (Role.DM, "openai:a"), (Role.PLAYER, "ollama:b")):
        meter.heard(role, model, Usage(input=1_000_000, output=500_000, counted=900_000, seconds=2))
    dm, player = meter.spent()
    assert (dm.role, dm.answers, dm.usage.input, dm.usage.seconds, dm.cost) == (Role.DM, 2, 2_000_000, 4, 4)
    assert (player.model, player.cost) == ("ollama:b", 3)
    assert meter.cost == 7
    meter.heard(Role.NPC, "unpriced", Usage(input=1))
    assert meter.cost is None
    assert meter.spent()[1].cost is None


def test_many_threads_lose_nothing() -> None:
    """An extractor works beside the game."""
    meter = Meter()
    threads = [
        threading.Thread(
            target=lambda: [meter.heard(Role.EXTRACTOR, "m", Usage(input=1, counted=1)) for _ in range(500)]
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [spent] = meter.spent()
    assert (spent.answers, spent.usage.input) == (2000, 2000)


def test_the_meter_knows_how_a_provider_counts() -> None:
    """By the newest reports; answers without a report say nothing."""
    meter = Meter()
    assert meter.calibration("ollama:x").ratio == 1.25
    for usage in (Usage(input=1500, counted=1000), Usage(counted=1000), Usage(input=9)):
        meter.heard(Role.DM, "ollama:x", usage)
    assert meter.calibration("ollama:x").ratio == 1.5


def test_a_summarizer_is_metered() -> None:
    """It asks a plain model, and does not know that somebody listens."""
    meter = Meter()
    chat = FakeChatModel(recorded("openai", "text").model_copy(update={"content": GOOD}))
    lines = Summarizer(Metered(chat, Role.SUMMARIZER, meter.heard, name="openai:x")).condense(task())
    assert lines
    [spent] = meter.spent()
    assert (spent.role, spent.usage.input, spent.usage.cached) == (Role.SUMMARIZER, 100, 60)
    assert spent.usage.counted > 50


TURNS = [Turn("e1", "DM", "dm", "Mirela is the smith of Darkwood.")]
KNOWN = KnownNames({"Mirela": "NPC"})
UPDATES = json.dumps(
    {"updates": [{"kind": "npc", "name": "Mirela", "field": "role", "value": "smith", "turn": 1}]}
)
SMITH = recorded("openai", "text").model_copy(update={"content": UPDATES})


def steady(*chats: FakeChatModel, heard: Any, pauses: Pauses | None = None) -> FallbackModel:
    return FallbackModel(
        [
            (f"m{place}", Metered(chat, Role.EXTRACTOR, heard, name=f"m{place}"), patient(pauses))
            for place, chat in enumerate(chats)
        ]
    )


def test_an_extractor_is_metered_also_where_it_is_held_to_a_schema() -> None:
    """And in words, where the model cannot be."""
    for chat in (FakeChatModel(SMITH), FakeChatModel(SMITH, schema=False)):
        meter = Meter()
        assert ModelExtractor(steady(chat, heard=meter.heard)).extract(TURNS, KNOWN)
        [spent] = meter.spent()
        assert (spent.answers, spent.usage.output) == (1, 8)


def test_a_chat_model_that_failed_rests() -> None:
    """Summaries and extraction do not ask a dead model again and again: the same rule as at the table."""
    broken, works = FakeChatModel(ServerFault(503)), FakeChatModel(SMITH)
    model = steady(broken, works, heard=Meter().heard)
    for _ in range(3):
        model.invoke([("human", "?")])
    model.with_structured_output({"type": "object"}).invoke([("human", "?")])
    assert (len(broken.asked), len(works.asked)) == (3, 4)


def test_a_model_without_schemas_is_asked_in_words_and_does_not_rest() -> None:
    """It is up, so that no other model has to take its place."""
    plain, other = FakeChatModel(SMITH, schema=False), FakeChatModel(SMITH)
    assert ModelExtractor(steady(plain, other, heard=Meter().heard)).extract(TURNS, KNOWN)
    assert (len(plain.asked), len(other.asked)) == (1, 0)


def test_an_extractor_falls_back_and_waits() -> None:
    """The same patience as at the table."""
    meter, pauses = Meter(), Pauses()
    broken = FakeChatModel(ServerFault(503))
    assert ModelExtractor(steady(broken, FakeChatModel(SMITH), heard=meter.heard, pauses=pauses)).extract(
        TURNS, KNOWN
    )
    assert [spent.model for spent in meter.spent()] == ["m1"]
    assert len(pauses) == 2
    with pytest.raises(ExtractionFailed, match="m0 does not answer: has a fault of its own"):
        ModelExtractor(steady(broken, heard=meter.heard), attempts=1).extract(TURNS, KNOWN)


def test_a_model_without_structure_is_not_taken_for_one_with_it() -> None:
    """What a wrapped model cannot do, the wrapping cannot either."""

    class Plain:
        def invoke(self, _: Any) -> str:
            return "Yes."

    metered = Metered(Plain(), Role.SUMMARIZER, Meter().heard, name="x")
    assert not hasattr(metered, "with_structured_output")
    assert metered.invoke([("human", "Well?")]) == "Yes."
    assert metered.invoke("Well?") == "Yes."


# Put together


SETTINGS = read_settings(
    """
    model = "openai:a"
    [dm]
    fallback = "openai:b"
    [npcs]
    model = "house"
    [prices."openai:a"]
    input = 10
    output = 0
    """
)


def test_voices_are_put_together_from_settings() -> None:
    """One model opened once, a fallback, the house where it plays, and one meter for all."""
    opened: list[str] = []
    called = recorded("openai", "call")
    chats = {
        "openai:a": FakeChatModel(called, called, ServerFault(401)),
        "openai:b": FakeChatModel("From b."),
    }

    def opens(settings: ModelSettings) -> Any:
        opened.append(settings.model)
        return chats[settings.model]

    also: list[str] = []
    voices = Voices(SETTINGS, opens=opens, heard=lambda _, model, __: also.append(model), sleep=Pauses())
    assert voices.voice(Role.NPC) is None
    player, dm = voices.voice(Role.PLAYER), voices.voice(Role.DM)
    assert player is not None
    assert dm is not None
    assert player.ask(ONE).calls[0].form == Act(verb="attack")
    assert voices.ways == {"openai:a": Way.TOOLS}
    assert dm.ask(TWO).model == "openai:a"
    assert dm.ask(TWO).model == "openai:b"
    assert opened == ["openai:a", "openai:b"]
    assert also == ["openai:a", "openai:a", "openai:b"]
    assert [(one.role, one.model, one.cost) for one in voices.meter.spent()] == [
        (Role.DM, "openai:a", 0.001),
        (Role.DM, "openai:b", None),
        (Role.PLAYER, "openai:a", 0.001),
    ]
    assert voices.model(Role.NPC) is None
    assert voices.model(Role.SUMMARIZER) is not None


def test_what_cannot_be_opened_is_told_before_anybody_plays() -> None:
    """When the role is asked for, not in the middle of a round."""
    with pytest.raises(NoSuchPlayer, match="OPENAI_API_KEY"):
        Voices(SETTINGS, environ={}).voice(Role.DM)
