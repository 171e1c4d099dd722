"""The whole way through langchain-openai to a server on this machine, and all that servers do wrong."""

import gzip
import json
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.llm.asked import NONE, ONE, TWO, Act, Pauses, patient, voice
from tests.llm.server import Say, Server, fault, serving
from tests.waiting import HANG

from dndbots.errors import ModelUnavailable
from dndbots.llm.chat_voice import ChatVoice
from dndbots.llm.protocol import Question, Reply, Role
from dndbots.llm.providers import open_model
from dndbots.llm.responses.answer_size import MOST_BYTES
from dndbots.llm.responses.answers import CUT, EMPTY, REFUSED
from dndbots.llm.settings import ModelSettings, Settings, Way
from dndbots.llm.voices import Voices

CALL = {"id": "call_1", "type": "function", "function": {"name": "act", "arguments": '{"verb": "attack"}'}}
CALLED = Say({"content": "Die!", "tool_calls": [CALL]}, finish="tool_calls")
OBJECT = json.dumps({"words": "Die!", "verb": "attack"})


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def at(server: Server, *says: Say, pauses: Pauses | None = None, **fields: Any) -> ChatVoice:
    server.says = list(says)
    settings = ModelSettings(model="openai:m", base_url=server.address, timeout=HANG)
    model = open_model(settings, environ={"OPENAI_API_KEY": "sk-tops3cret"})
    return voice(model, name="openai:m", **{"retry": patient(pauses, timeout=HANG), **fields})


def test_words_and_usage_come_back(server: Server) -> None:
    """One question, one request, with the key in its header."""
    answer = at(server, Say("Yes.")).ask(NONE)
    assert (answer.words, answer.faults) == ("Yes.", ())
    assert (answer.usage.input, answer.usage.output, answer.usage.cached) == (100, 8, 60)
    [request] = server.requests
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert server.keys == ["Bearer sk-tops3cret"]


@pytest.mark.parametrize("heard", [False, True])
def test_a_call_by_tools_comes_back(server: Server, heard: bool) -> None:  # noqa: FBT001
    """In one piece or streamed, and its result is sent as the API wants it."""
    told: list[str] = []
    asked = at(server, CALLED, Say("I wait."))
    answer = asked.ask(ONE, hear=told.append if heard else None)
    assert ([call.form for call in answer.calls], answer.words) == ([Act(verb="attack")], "Die!")
    assert answer.usage.input == 100
    assert told == (["Die!"] if heard else [])
    again = Question(
        role=Role.PLAYER,
        system="",
        text=ONE.text,
        tools=ONE.tools,
        so_far=(Reply(answer=answer, results={0: "No."}),),
    )
    asked.ask(again)
    _, ai, result = server.requests[-1]["messages"]
    assert ai["tool_calls"][0]["function"]["name"] == "act"
    assert (result["role"], result["content"], result["tool_call_id"]) == ("tool", "No.", "call_1")


@pytest.mark.parametrize("heard", [False, True])
def test_a_server_without_tools_is_held_to_a_schema(server: Server, heard: bool) -> None:  # noqa: FBT001
    """As llama.cpp says it, and remembered."""
    told: list[str] = []
    asked = at(server, fault(500, "tools param requires --jinja flag"), Say(OBJECT))
    answer = asked.ask(ONE, hear=told.append if heard else None)
    assert (answer.words, answer.calls[0].form) == ("Die!", Act(verb="attack"))
    assert asked.ways == {"openai:m": Way.SCHEMA}
    held = server.requests[-1]["response_format"]["json_schema"]["schema"]
    assert list(held["properties"]) == ["verb", "target", "words"]
    assert "".join(told) == ("Die!" if heard else "")


def test_a_server_with_neither_is_asked_in_words(server: Server) -> None:
    """And answers as such models do."""
    listed = json.dumps({"words": "So be it.", "calls": [{"tool": "roll", "dice": "1d6"}]})
    said = f"Sure! Here it is:\n```json\n{listed}\n```"
    asked = at(
        server, fault(400, "tools are not supported"), fault(400, "unknown field response_format"), Say(said)
    )
    answer = asked.ask(TWO)
    assert (answer.words, [call.tool for call in answer.calls]) == ("So be it.", ["roll"])
    assert asked.ways == {"openai:m": Way.WORDS}


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize(
    ("say", "told"),
    [
        (fault(401, "Incorrect API key provided: sk-tops3cret"), "the key is refused"),
        (fault(404, "The model `m` does not exist"), "there is no such model"),
        (fault(400, "This model's maximum context length is 8192 tokens"), "longer than the model reads"),
    ],
)
def test_what_will_not_pass_is_told_at_once(server: Server, say: Say, told: str, heard: bool) -> None:  # noqa: FBT001
    """One request, one line, no key in it."""
    with pytest.raises(ModelUnavailable, match=told) as caught:
        at(server, say).ask(ONE, hear=print if heard else None)
    assert "tops3cret" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize(
    "say",
    [
        fault(500, "boom"),
        fault(503, "loading model"),
        Say(drops=True),
        Say(body=b"<html>it works!</html>", headers={"Content-Type": "text/html"}),
        Say(body=b'{"choices": '),
        Say(body=b"[1, 2]"),
        Say(body=b""),
    ],
    ids=["500", "503", "dropped", "html", "half", "list", "nothing"],
)
def test_what_may_pass_is_asked_again(server: Server, say: Say, heard: bool) -> None:  # noqa: FBT001
    """Once more after a pause, and then there is an answer."""
    pauses = Pauses()
    answer = at(server, say, Say("Yes."), pauses=pauses).ask(NONE, hear=(lambda _: None) if heard else None)
    assert (answer.words, len(pauses)) == ("Yes.", 1)


def test_a_limit_is_waited_for_as_long_as_the_server_says(server: Server) -> None:
    """In its header, which the library leaves to us."""
    pauses = Pauses()
    assert (
        at(server, fault(429, "slow down", retry_after="23"), Say("Yes."), pauses=pauses).ask(NONE).words
        == "Yes."
    )
    assert pauses == [23.0]


@pytest.mark.parametrize("heard", [False, True])
def test_a_server_that_hangs_is_left(server: Server, heard: bool) -> None:  # noqa: FBT001
    """By our own clock."""
    released = threading.Event()
    try:
        with pytest.raises(ModelUnavailable, match="no answer within"):
            at(server, Say("Late.", hangs=released), retry=patient(timeout=0.2, attempts=1)).ask(
                NONE, hear=print if heard else None
            )
    finally:
        released.set()


def test_nobody_there_is_told_in_one_line() -> None:
    """A server that is not started yet is the most frequent of all faults."""
    with serving() as gone:
        pass
    pauses = Pauses()
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        at(gone, Say("Yes."), pauses=pauses).ask(NONE)
    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("say", "found"),
    [
        (Say(""), EMPTY),
        (Say("I draw", finish="length"), CUT),
        (Say({"content": None, "refusal": "I can't help with that."}), REFUSED),
        (Say("", finish="content_filter"), REFUSED),
        (
            Say({"content": None, "tool_calls": [{**CALL, "function": {"name": "act", "arguments": "{"}}]}),
            "act: ",
        ),
        (
            Say({"content": None, "tool_calls": [{**CALL, "function": {"name": "x", "arguments": "{}"}}]}),
            "no tool 'x'",
        ),
        (Say("x" * 50_000), "the answer had 50,000 characters"),
    ],
    ids=["empty", "cut", "refusal", "filtered", "broken", "unknown", "50 KB"],
)
def test_an_answer_that_is_no_good_says_why(server: Server, say: Say, found: str) -> None:
    """Nothing raises, and nothing is asked again behind the caller's back."""
    answer = at(server, say).ask(ONE)
    assert any(found in one for one in answer.faults)
    assert len(answer.words) <= 8000
    assert len(server.requests) == 1


def test_an_object_that_is_cut_off_is_no_error(server: Server) -> None:
    """The library raises for it where it is held to a schema."""
    for hear in (None, print):
        asked = at(server, Say('{"words": "I draw my', finish="length"), structured=Way.SCHEMA)
        answer = asked.ask(ONE, hear=hear)
        assert CUT in answer.faults
        assert answer.words in ("", "I draw my")


def test_a_stream_that_breaks_off_is_asked_again(server: Server) -> None:
    """What was heard stays heard; the answer is the whole one."""
    told: list[str] = []
    answer = at(server, Say("I draw my axe.", drops=True), Say("No: I wait.")).ask(NONE, hear=told.append)
    assert answer.words == "No: I wait."
    assert "".join(told) == "I"


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_a_key_that_a_server_repeats_is_not_told(server: Server, status: int) -> None:
    """Whatever it looks like, and wherever it is repeated."""
    server.says = [fault(status, "no such route for Authorization=q7Rz-plain-hunter22, sorry")]
    settings = Settings(model="m", base_url=server.address, key_env="MY_SERVER", attempts=1)
    environ = {"MY_SERVER": "q7Rz-plain-hunter22", "OTHER_API_KEY": "unused-by-this"}
    voices = Voices(settings, environ=environ)
    dm, writes = voices.voice(Role.DM), voices.model(Role.SUMMARIZER)
    assert dm is not None
    assert writes is not None
    for ask in (lambda: dm.ask(NONE), lambda: writes.invoke([("human", "Well?")])):
        with pytest.raises(ModelUnavailable) as caught:
            ask()
        assert "hunter22" not in str(caught.value)
    assert server.keys[0] == "Bearer q7Rz-plain-hunter22"


def test_a_stream_that_counts_anew_with_every_word_is_counted_once(server: Server) -> None:
    """Some servers tell in each chunk what was taken up to then, and the library adds all of it up."""
    answer = at(server, Say("I draw my axe, and wait for them.", recounts=True)).ask(
        NONE, hear=lambda _: None
    )
    assert (answer.usage.input, answer.usage.output, answer.usage.cached) == (100, 8, 60)


def test_by_settings_alone(server: Server) -> None:
    """A name, an address, no key."""
    server.says = [CALLED]
    voices = Voices(Settings(model="m", base_url=server.address), environ={})
    dm = voices.voice(Role.DM)
    assert dm is not None
    assert dm.ask(ONE).calls
    assert voices.ways == {f"m@{server.address}": Way.TOOLS}
    assert server.keys == ["Bearer none"]
    assert voices.meter.calibration("m").expected(0) >= 0


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("packing", ["gzip", "deflate", "br", ""])
def test_an_answer_that_unpacks_to_anything_is_stopped(server: Server, packing: str, heard: bool) -> None:  # noqa: FBT001
    """A few kilobytes that would fill the memory are an error of the model's, at the size of an answer."""
    pack = {"gzip": gzip.compress, "deflate": zlib.compress}.get(packing, bytes)
    body = pack(b'{"choices": "' + b" " * 3 * MOST_BYTES)
    asked = at(server, Say(body=body, headers={"Content-Encoding": packing} if packing else {}))
    tracemalloc.start()
    try:
        with pytest.raises(ModelUnavailable, match="the answer"):
            asked.ask(NONE, hear=(lambda _: None) if heard else None)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3 * MOST_BYTES
    assert len(server.requests) == 1, "what is too large will be the next time, too"


@pytest.mark.parametrize("packing", ["gzip", "deflate", "identity"])
def test_a_packed_answer_is_read(server: Server, packing: str) -> None:
    """As servers pack them, small ones are read as if they were not."""
    pack = {"gzip": gzip.compress, "deflate": zlib.compress}.get(packing, bytes)
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    said = Say(body=pack(json.dumps(body).encode()), headers={"Content-Encoding": packing})
    assert at(server, said).ask(NONE).words == "Yes."
