"""A chat model as a voice: what it is shown, in which way it is asked, how often, and what is heard of it."""

import json
import threading
from typing import Any

import pytest
from tests.llm.asked import ACT, NONE, ONE, ROLL, TWO, Act, Pauses, patient, voice
from tests.waiting import HANG, wait_until

from dndbots.errors import ModelUnavailable
from dndbots.game.dm.tools import TOOLS
from dndbots.llm.messages import REMINDER
from dndbots.llm.protocol import Answer, Call, Question, Reply, Role, Usage
from dndbots.llm.responses.answers import REFUSED
from dndbots.llm.retry import LONGEST_PAUSE
from dndbots.llm.settings import Way
from dndbots.llm.tool_schemas import answer_schema, instruction
from dndbots.testing import FakeChatModel, ServerFault, recorded
from dndbots.tokens import count_tokens

KEY = "openai:gpt-4o-mini"
CALLED = recorded("openai", "call")
OBJECT = json.dumps({"words": "Die!", "verb": "attack"})
LISTED = json.dumps({"words": "So be it.", "calls": [{"tool": "roll", "dice": "1d6"}]})


# What is shown


def test_what_hardly_changes_stands_first_and_is_the_same_for_every_question() -> None:
    """A cache keeps it. How to answer, for those who have to be told, comes first: it is the same for all."""
    for tools, schema in ((True, True), (False, True), (False, False)):
        chat = FakeChatModel(CALLED if tools else OBJECT, tools=tools, schema=schema)
        asked = voice(chat)
        for text in ("One.", "Two."):
            asked.ask(Question(role=Role.PLAYER, system="You are Throk.", text=text, tools=(ACT,)))
        first, second = chat.asked
        assert first[0] == second[0]
        assert first[0][0] == "system"
        assert first[0][1].endswith("You are Throk.")
        assert first[0][1].startswith("Answer with one JSON object") is not tools
        told = "" if tools or schema else f"\n\n{REMINDER}"
        assert [message[1] for message in (first[1], second[1])] == [f"One.{told}", f"Two.{told}"]


def test_a_tool_is_told_of_in_one_line() -> None:
    """A small model reads slowly: each tool costs a line, in which all of its fields are."""
    told = instruction((ACT, ROLL))
    assert [line.partition("(")[0] for line in told.splitlines()[-2:]] == ["- act", "- roll"]
    for tool in (ACT, ROLL):
        [line] = [one for one in told.splitlines() if one.startswith(f"- {tool.name}(")]
        assert all(field in line for field in tool.form.model_fields)
    assert count_tokens(instruction(TOOLS)) <= 1_050  # those of a DM
    assert answer_schema((ACT, ROLL))["properties"]["calls"]["maxItems"] == 4


def test_tools_are_shown_as_functions_and_a_schema_as_a_format() -> None:
    """Whichever it is; the words alone where it is neither."""
    chat = FakeChatModel(CALLED)
    voice(chat).ask(TWO)
    assert [tool["function"]["name"] for tool in chat.bound[0]["tools"]] == ["act", "roll"]
    chat = FakeChatModel(LISTED, tools=False)
    voice(chat).ask(TWO)
    held = chat.bound[0]["response_format"]["json_schema"]["schema"]
    assert set(held["properties"]) == {"words", "calls"}
    assert "$ref" not in json.dumps(held)
    chat = FakeChatModel("Yes.")
    voice(chat).ask(NONE)
    assert chat.bound == [{}]
    assert chat.asked == [[("system", "You are Mirela."), ("human", "Throk greets you.")]]


ANSWERED = Answer(words="Die!", calls=(Call(tool="act", form=Act(verb="attack"), id="call_1"),))
SO_FAR = Question(
    role=Role.PLAYER,
    system="",
    text="A goblin comes.",
    tools=(ACT,),
    so_far=(Reply(answer=ANSWERED, results={0: "There is no goblin."}, text="Try again."),),
)


def test_what_was_answered_and_replied_is_shown_as_the_provider_wants_it() -> None:
    """Tool messages for those who call by tools, text for the others."""
    chat = FakeChatModel(CALLED)
    voice(chat).ask(SO_FAR)
    human, ai, result, told = chat.asked[0]
    assert human == ("human", "A goblin comes.")
    assert (ai["role"], ai["content"], ai["tool_calls"][0]["args"]) == (
        "assistant",
        "Die!",
        {"verb": "attack"},
    )
    assert (result["role"], result["content"], result["tool_call_id"]) == (
        "tool",
        "There is no goblin.",
        "call_1",
    )
    assert told == ("human", "Try again.")
    chat = FakeChatModel(OBJECT, tools=False)
    voice(chat).ask(SO_FAR)
    _, _, ai, told = chat.asked[0]
    assert ai[0] == "ai"
    assert json.loads(ai[1]) == {"words": "Die!", "verb": "attack"}
    assert told == ("human", "act: There is no goblin.\nTry again.")


@pytest.mark.parametrize("way", [Way.TOOLS, Way.SCHEMA, Way.WORDS])
def test_of_an_answer_that_is_shown_again_only_so_much_is(way: Way) -> None:
    """A model that wrote fifty pages is not sent them back: the prompt would be longer than it reads."""
    act = Act(verb="attack", target="goblin " * 2_000)
    calls = tuple(Call(tool="act", form=act, id=f"call_{n}") for n in range(16))
    long = Reply(
        answer=Answer(words="I strike. " * 800, calls=calls), results=dict.fromkeys(range(16), "No.")
    )
    chat = FakeChatModel(LISTED)
    asked = voice(chat, structured=way)
    answer = asked.ask(Question(role=Role.DM, system="", text="Well?", tools=(ACT, ROLL), so_far=(long,)))
    bare = asked.ask(Question(role=Role.DM, system="", text="Well?", tools=(ACT, ROLL)))
    assert answer.usage.counted - bare.usage.counted < 2_000
    assert str(chat.asked[0]).count("No.") == 8


def test_langchain_takes_these_for_messages() -> None:
    """Tuples and mappings, as its own conversion reads them."""
    from langchain_core.messages import convert_to_messages

    chat = FakeChatModel(CALLED)
    voice(chat).ask(SO_FAR)
    kinds = [type(one).__name__ for one in convert_to_messages(chat.asked[0])]
    assert kinds == ["HumanMessage", "AIMessage", "ToolMessage", "HumanMessage"]


def test_an_answer_that_was_nothing_is_told_its_faults() -> None:
    """Where nobody says anything else to it, and no message is empty."""
    nothing = Reply(answer=Answer(faults=("the answer was empty",)))
    chat = FakeChatModel("Yes.")
    voice(chat).ask(Question(role=Role.NPC, system="", text="Well?", so_far=(nothing,)))
    assert chat.asked[0][1:] == [("ai", "(nothing)"), ("human", "the answer was empty")]


# Which way


def test_a_model_with_tools_is_asked_by_tools_and_that_is_remembered() -> None:
    """Once it called for something."""
    ways: dict[str, Way] = {}
    told: list[Any] = []
    asked = voice(FakeChatModel("I wait.", CALLED), ways=ways, remember=lambda *one: told.append(one))
    assert asked.ask(ONE).words == "I wait."
    assert ways == {}
    assert asked.ask(ONE).calls[0].form == Act(verb="attack")
    asked.ask(ONE)
    assert ways == {KEY: Way.TOOLS}
    assert told == [(KEY, Way.TOOLS)]


def test_a_small_model_is_held_to_a_schema_from_the_beginning() -> None:
    """Shown tools, it copies them; and without a schema it is told in words."""
    chat = FakeChatModel(OBJECT)
    asked = voice(chat, name="openai:qwen2.5-1.5b-instruct")
    assert asked.ask(ONE).calls[0].form == Act(verb="attack")
    assert ["tools" in bound for bound in chat.bound] == [False]
    assert asked.ask(TWO)
    held = chat.bound[-1]["response_format"]["json_schema"]["schema"]
    assert held["properties"]["calls"]["maxItems"] == 2  # so that words are left
    assert [*asked.ways.values()] == [Way.SCHEMA]
    plain = voice(FakeChatModel(OBJECT, schema=False), name="smollm2:135m")
    assert plain.ask(ONE).calls[0].form == Act(verb="attack")
    assert [*plain.ways.values()] == [Way.WORDS]


@pytest.mark.parametrize(
    ("chat", "way"),
    [
        (FakeChatModel(OBJECT, tools=False), Way.SCHEMA),
        (FakeChatModel(OBJECT, tools=False, schema=False), Way.WORDS),
        (FakeChatModel(ServerFault(400, "llama2 does not support tools"), OBJECT), Way.SCHEMA),
        (FakeChatModel(ServerFault(500, "tools param requires --jinja flag"), OBJECT), Way.SCHEMA),
        (
            FakeChatModel(
                ServerFault(400, "`tools` is not supported"),
                ServerFault(422, "unknown field response_format"),
                OBJECT,
            ),
            Way.WORDS,
        ),
        (FakeChatModel(ServerFault(400, "tool_use_failed: Failed to call a function."), OBJECT), Way.SCHEMA),
        (FakeChatModel(ServerFault(500, "Failed to parse input at pos 12: <tool_call>"), OBJECT), Way.SCHEMA),
        (FakeChatModel(ServerFault(404, "No endpoints found that support tool use."), OBJECT), Way.SCHEMA),
        (FakeChatModel(TypeError("invoke() got an unexpected keyword argument 'tools'"), OBJECT), Way.SCHEMA),
    ],
)
def test_what_a_model_cannot_do_is_found_out_at_once(chat: FakeChatModel, way: Way) -> None:
    """By its library or by its server, without a pause; the same question is answered in another way."""
    ways: dict[str, Way] = {}
    pauses = Pauses()
    answer = voice(chat, ways=ways, retry=patient(pauses)).ask(ONE)
    assert (answer.words, answer.calls[0].form) == ("Die!", Act(verb="attack"))
    assert ways == {KEY: way}
    assert pauses == []
    asked = len(chat.asked)
    voice(chat, ways=ways).ask(ONE)
    assert len(chat.asked) == asked + 1


def test_a_way_that_works_is_not_given_up_for_one_slip() -> None:
    """A server may fail to read one call of its model's; only if it goes on so, another way is better."""
    slip = ServerFault(400, "tool_use_failed: Failed to call a function.")
    chat = FakeChatModel(CALLED, slip, OBJECT, CALLED, slip, OBJECT, slip, OBJECT, slip, OBJECT, OBJECT)
    told: list[Any] = []
    asked = voice(chat, remember=lambda *one: told.append(one))
    for _ in range(7):
        assert asked.ask(ONE).calls[0].form == Act(verb="attack")
    by_tools = ["tools" in bound for bound in chat.bound]
    assert by_tools == [True, True, False, True, True, False, True, False, True, False, False]
    assert told == [(KEY, Way.TOOLS), (KEY, Way.SCHEMA)]


def test_a_model_that_writes_its_calls_as_text_is_held_to_a_schema_next_time() -> None:
    """What it wrote counts all the same."""
    chat = FakeChatModel(f"I strike! {OBJECT}", OBJECT)
    asked = voice(chat)
    assert asked.ask(ONE).calls[0].form == Act(verb="attack")
    asked.ask(ONE)
    assert ["tools" in bound for bound in chat.bound] == [True, False]
    assert asked.ways == {KEY: Way.SCHEMA}


def test_a_model_that_is_told_to_call_and_does_not_is_asked_in_another_way() -> None:
    """It was asked twice, and spoke twice."""
    chat = FakeChatModel("I wait.", "I still wait.", OBJECT)
    asked = voice(chat)
    asked.ask(ONE)
    asked.ask(SO_FAR)
    asked.ask(SO_FAR)
    assert ["tools" in bound for bound in chat.bound] == [True, True, False]


def test_tools_that_never_reached_the_model_are_told_by_the_count() -> None:
    """Some servers take them without a word, and count too few tokens for having shown them."""
    few = recorded("openai", "text")
    assert few.usage_metadata
    few.usage_metadata["input_tokens"] = 20
    chat = FakeChatModel(few, OBJECT)
    asked = voice(chat)
    asked.ask(ONE)
    asked.ask(ONE)
    assert ["tools" in bound for bound in chat.bound] == [True, False]


def test_an_answer_that_was_empty_or_cut_off_says_nothing_of_what_a_model_can_do() -> None:
    """It is asked in the same way again."""
    chat = FakeChatModel("", recorded("openai", "cut"), OBJECT, tools=False)
    asked = voice(chat)
    for _ in range(3):
        asked.ask(ONE)
    assert asked.ways == {KEY: Way.SCHEMA}
    assert all("response_format" in bound for bound in chat.bound)


def test_a_way_that_is_fixed_is_not_left() -> None:
    """Where it cannot be, the line says what to change."""
    chat = FakeChatModel(OBJECT)
    assert voice(chat, structured=Way.WORDS).ask(ONE).words == "Die!"
    assert chat.bound == [{}]
    with pytest.raises(ModelUnavailable, match='structured = "auto" finds another way'):
        voice(FakeChatModel(OBJECT, tools=False), structured=Way.TOOLS).ask(ONE)


def test_an_error_about_something_else_is_not_remembered_as_a_way() -> None:
    """A temperature that a model does not support makes every way fail, and none the right one."""
    ways: dict[str, Way] = {}
    fault = ServerFault(400, "Unsupported value: 'temperature' does not support 0.7 with this model.")
    with pytest.raises(ModelUnavailable, match="temperature"):
        voice(FakeChatModel(fault), ways=ways).ask(ONE)
    assert ways == {}


# Again, and in time


@pytest.mark.parametrize(
    "fault",
    [
        ServerFault(500, "boom"),
        ServerFault(503),
        ServerFault(529, "Overloaded"),
        ServerFault(429, "slow down"),
        ConnectionError("refused"),
        TimeoutError("read timed out"),
        ValueError("Expecting value: line 1 column 1"),
    ],
)
def test_what_may_pass_is_asked_again_after_pauses_that_grow(fault: Exception) -> None:
    """Two faults, two pauses, one answer."""
    pauses = Pauses()
    chat = FakeChatModel(fault, fault, "Yes.")
    assert voice(chat, retry=patient(pauses)).ask(NONE).words == "Yes."
    first, second = pauses
    assert 0.5 <= first <= 1.5
    assert 1 <= second <= 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (ServerFault(401, "Incorrect API key provided: sk-proj-abcdef123"), "the key is refused"),
        (ServerFault(403, "no"), "the key is refused"),
        (ServerFault(404, "The model `gpt-9` does not exist"), "there is no such model: The model `gpt-9`"),
        (ServerFault(429, "insufficient_quota: check your billing"), "the account has nothing left"),
        (ServerFault(402, "pay"), "the account has nothing left"),
        (ServerFault(400, "API key not valid. Please pass a valid API key."), "the key is refused"),
        (
            ServerFault(
                404, "models/gemini-0 is not found for v1beta, or is not supported for generateContent"
            ),
            "there is no such model",
        ),
        (ServerFault(400, "maximum context length is 8192 tokens"), "longer than the model reads"),
        (ServerFault(413, "request_too_large"), "longer than the model reads"),
        (
            ServerFault(400, "The input token count (9001) exceeds the maximum"),
            "or a game that is begun with a",
        ),
        (ServerFault(400, "bad\nrequest sk-abcdefgh"), "does not take the question: bad request ..."),
    ],
)
def test_what_will_not_pass_is_told_at_once_in_one_line(fault: Exception, told: str) -> None:
    """Nobody waits, and no key is repeated."""
    pauses = Pauses()
    chat = FakeChatModel(fault)
    with pytest.raises(ModelUnavailable) as caught:
        voice(chat, retry=patient(pauses)).ask(NONE)
    assert told in str(caught.value)
    assert caught.value.model == KEY
    assert len(str(caught.value).splitlines()) == 1
    assert "sk-" not in str(caught.value)
    assert (len(chat.asked), pauses) == (1, [])


def test_what_never_passes_is_told_after_the_last_attempt() -> None:
    """As often as it was said, and no pause after the last."""
    pauses = Pauses()
    chat = FakeChatModel(ServerFault(500, "boom"))
    with pytest.raises(ModelUnavailable, match="has a fault of its own: boom"):
        voice(chat, retry=patient(pauses, attempts=4)).ask(NONE)
    assert (len(chat.asked), len(pauses)) == (4, 3)


def test_a_server_that_says_when_to_come_back_is_believed() -> None:
    """In seconds or in thousandths of them; whoever says an hour is left."""
    for headers, least in (
        ({"retry-after": "17"}, 17),
        ({"retry-after-ms": "9000"}, 9),
        ({"retry-after": "?"}, 0.5),
    ):
        pauses = Pauses()
        voice(FakeChatModel(ServerFault(429, headers=headers), "Yes."), retry=patient(pauses)).ask(NONE)
        assert least <= pauses[0] < least + 2
    pauses = Pauses()
    for status in (429, 503):
        hour = ServerFault(status, headers={"retry-after": "3600"})
        with pytest.raises(ModelUnavailable, match="try again in 3600 seconds"):
            voice(FakeChatModel(hour), retry=patient(pauses)).ask(NONE)
    assert pauses == []


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Rate limit reached. Please try again in 20s.", 20),
        ("Please try again in 450ms. Visit ...", 0.5),
        ("Please try again in 1m30.5s.", None),
        ("You exceeded your current quota, please check your plan and billing details. retry in 17.5s", 17.5),
        ("{'@type': 'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '9s'}", 9),
    ],
)
def test_a_server_that_says_it_in_words_is_believed(said: str, seconds: float | None) -> None:
    """Without a header; and who speaks of billing and says when to come back has a limit, and no bill."""
    pauses = Pauses()
    chat = FakeChatModel(ServerFault(429, said), "Yes.")
    if seconds is None:
        with pytest.raises(ModelUnavailable, match="try again in 90 seconds"):
            voice(chat, retry=patient(pauses)).ask(NONE)
    else:
        assert voice(chat, retry=patient(pauses)).ask(NONE).words == "Yes."
        assert seconds <= pauses[0] < seconds + 1.5


@pytest.mark.parametrize(
    "fault",
    [
        ServerFault(400, "The response was filtered due to Azure OpenAI's content management policy."),
        ServerFault(
            400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
        ),
        ServerFault(403, "Your chosen model requires moderation and your input was flagged for violence"),
    ],
)
@pytest.mark.parametrize("heard", [False, True])
def test_a_question_that_its_provider_must_not_answer_is_a_refusal(fault: Exception, heard: bool) -> None:  # noqa: FBT001
    """And no provider that is down: the same question would never be answered, and the game stand still."""
    chat = FakeChatModel(fault)
    answer = voice(chat).ask(ONE, hear=print if heard else None)
    assert (answer.words, answer.calls, answer.faults) == ("", (), (REFUSED,))
    assert len(chat.asked) == 1


def test_pauses_have_a_limit() -> None:
    """However often it is asked."""
    pauses = Pauses()
    with pytest.raises(ModelUnavailable):
        voice(FakeChatModel(ServerFault(500)), retry=patient(pauses, attempts=12)).ask(NONE)
    assert len(pauses) == 11
    assert max(pauses) <= LONGEST_PAUSE


@pytest.mark.parametrize("heard", [False, True])
def test_a_model_that_hangs_is_left_by_our_own_clock(heard: bool) -> None:  # noqa: FBT001
    """Whether its words are heard as they come or not; its library does not even know of a time-out."""
    released = threading.Event()

    def hangs(_: Any) -> str:
        released.wait(HANG)
        return "Too late."

    told: list[str] = []
    chat = FakeChatModel(hangs)
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.05 seconds"):
        voice(chat, retry=patient(timeout=0.05, attempts=2)).ask(NONE, hear=told.append if heard else None)
    wait_until(lambda: len(chat.asked) == 2, "it is asked twice")
    released.set()
    assert told == []


def test_ctrl_c_goes_through() -> None:
    """Whoever wants to stop, stops."""
    for hear in (None, print):
        with pytest.raises(KeyboardInterrupt):
            voice(FakeChatModel(KeyboardInterrupt())).ask(NONE, hear=hear)


# Hearing


def test_words_are_heard_as_they_come() -> None:
    """A piece at a time, together exactly the words of the answer."""
    told: list[str] = []
    answer = voice(FakeChatModel("I draw my axe, and wait.")).ask(NONE, hear=told.append)
    assert len(told) > 3
    assert "".join(told) == answer.words == "I draw my axe, and wait."


def test_words_inside_an_object_are_heard_without_it() -> None:
    """A model that is held to a schema is heard, too."""
    told: list[str] = []
    said = json.dumps({"words": 'I say "no" \u2014 and wait.', "verb": "wait"})
    answer = voice(FakeChatModel(said, tools=False)).ask(ONE, hear=told.append)
    assert len(told) > 3
    assert "".join(told) == answer.words == 'I say "no" \u2014 and wait.'


@pytest.mark.parametrize(
    "said",
    [
        "<think>I am only playing.</think>I wait.",
        f"{OBJECT}",
        f"```json {OBJECT} ```",
        "\x1b[2J I wait.\u202e Still.",
        "I wait < here > and there",
        "I wait. <think>Do I?",
        "",
    ],
)
def test_what_is_not_said_is_not_heard(said: str) -> None:
    """Thoughts, calls, invisible characters: what is heard is how the answer begins."""
    told: list[str] = []
    answer = voice(FakeChatModel(said)).ask(ONE, hear=told.append)
    assert "".join(told) == answer.words


def test_after_an_answer_that_broke_off_nothing_is_heard_twice() -> None:
    """The answer counts; what was heard of the first attempt is left as it is."""
    told: list[str] = []
    chat = FakeChatModel(["I draw my", ConnectionError("reset")], "No: I wait.")
    answer = voice(chat).ask(NONE, hear=told.append)
    assert answer.words == "No: I wait."
    assert "".join(told) == "I draw my"


def test_a_listener_who_fails_does_not_ask_the_model_again() -> None:
    """It is the caller's own fault, and told as it is."""

    def broken(_: str) -> None:
        raise ZeroDivisionError

    chat = FakeChatModel("I draw my axe.")
    with pytest.raises(ZeroDivisionError):
        voice(chat).ask(NONE, hear=broken)
    assert len(chat.asked) == 1


def test_a_listener_is_told_where_the_caller_is() -> None:
    """No other thread calls into somebody's screen."""
    where: list[threading.Thread] = []
    voice(FakeChatModel("I wait.")).ask(NONE, hear=lambda _: where.append(threading.current_thread()))
    assert set(where) == {threading.current_thread()}


def test_a_model_that_cannot_stream_is_heard_at_the_end() -> None:
    """Anything with `invoke` will do."""

    class Plain:
        def invoke(self, _: Any) -> str:
            return "Yes."

    told: list[str] = []
    assert voice(Plain()).ask(NONE, hear=told.append).words == "Yes."
    assert told == ["Yes."]


# What it took


def test_what_an_answer_took_is_told_once() -> None:
    """Role, model, tokens by the provider and by us, and how long."""
    told: list[tuple[Role, str, Usage]] = []
    ticks = iter((10.0, 12.5))
    chat = FakeChatModel(recorded("anthropic", "call"))
    answer = voice(chat, heard=lambda *one: told.append(one), clock=lambda: next(ticks)).ask(TWO)
    assert told == [(Role.DM, KEY, answer.usage)]
    assert (answer.usage.input, answer.usage.cached, answer.usage.output, answer.usage.seconds) == (
        100,
        60,
        8,
        2.5,
    )


def test_our_own_count_is_of_all_that_is_sent() -> None:
    """The tools, too: they are a part of what the provider counts."""
    alone = voice(FakeChatModel(CALLED)).ask(ONE).usage.counted
    both = Question(role=ONE.role, system=ONE.system, text=ONE.text, tools=(ACT, ROLL))
    assert voice(FakeChatModel(CALLED)).ask(both).usage.counted > alone + 20
    assert voice(FakeChatModel("Yes.")).ask(NONE).usage.counted < 20
