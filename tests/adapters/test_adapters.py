"""Adapters against the real packages, with fake models: each agent is told what its seat perceived."""

import asyncio
from typing import Any

import pytest

from dndbots import Campaign
from dndbots.adapters.openai_agents_session import SeatSession
from dndbots.adapters.pydantic_ai_history import seat_history
from dndbots.adapters.seat_chat import HEADING, SeatChat, SpokenLine
from dndbots.errors import InvalidSetting
from dndbots.ids import DM
from dndbots.testing import memory_campaign

TOLD = "I hid the silver key under the altar."
QUESTION = "Where is the silver key?"


@pytest.fixture
def campaign() -> Campaign:
    campaign = memory_campaign()
    campaign.say("Zara", TOLD, to="Throk")
    campaign.say("Elena", "Soup is ready.", role="npc")
    return campaign


def said(campaign: Campaign) -> list[str]:
    return [event.content for event in campaign.events(viewer=DM)][2:]


def test_a_conversation_is_followed_and_a_rerolled_reply_is_not_remembered(campaign: Campaign) -> None:
    chat = SeatChat(campaign, "Throk", "Ann")
    lines = [SpokenLine(is_user=True, text=QUESTION), SpokenLine(is_user=False, text="I do not know.")]
    chat.follow(lines)
    assert said(campaign) == [QUESTION]
    lines[1] = SpokenLine(is_user=False, text="Ask Zara.")
    chat.follow([*lines, SpokenLine(is_user=True, text="Why Zara?")])
    assert said(campaign) == [QUESTION, "Ask Zara.", "Why Zara?"]
    assert TOLD in chat.remember(QUESTION)
    assert TOLD not in SeatChat(campaign, "Elena", "Ann").remember(QUESTION)
    assert SeatChat(campaign, "Nobody yet", "Ann").remember(QUESTION) == ""


@pytest.mark.parametrize("seat", ["Throk", "Elena"])
def test_langchain_middleware(campaign: Campaign, seat: str) -> None:
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    from dndbots.adapters.langchain_memory import SeatMiddleware

    asked: list[Any] = []

    class Fake(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            asked.append(messages)
            return super()._generate(messages, *args, **kwargs)

    model = Fake(messages=iter([AIMessage("First."), AIMessage("Second.")]))
    agent = agents.create_agent(
        model, [], system_prompt="Stay calm.", middleware=[SeatMiddleware(SeatChat(campaign, seat, "Ann"))]
    )
    done = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    assert isinstance(done["messages"][-1], AIMessage)
    prompt = asked[-1][0].text
    assert prompt.startswith("Stay calm.\n\n" + HEADING)
    assert (TOLD in prompt) is (seat == "Throk")
    asyncio.run(agent.ainvoke({"messages": [*done["messages"], {"role": "user", "content": "Thank you."}]}))
    assert said(campaign) == [QUESTION, "First.", "Thank you."]
    # The memory is for the model only: it is not kept among the agent's own messages.
    assert all(HEADING not in message.text for message in done["messages"])


def test_langchain_retriever(campaign: Campaign) -> None:
    pytest.importorskip("langchain.agents")
    from dndbots.adapters.langchain_memory import SeatRetriever

    found = SeatRetriever(campaign=campaign, seat="Throk").invoke(QUESTION)
    assert any(TOLD in document.page_content for document in found)
    assert all(document.metadata["sources"] for document in found)
    elena = SeatRetriever(campaign=campaign, seat="Elena").invoke(QUESTION)
    assert not any("altar" in document.page_content for document in elena)


def test_langgraph_store(campaign: Campaign) -> None:
    pytest.importorskip("langgraph.store.base")
    from langgraph.graph import END, START, StateGraph
    from langgraph.store.base import BaseStore

    from dndbots.adapters.langgraph_store import SeatStore

    store = SeatStore(campaign)

    def recall(state: dict[str, Any], *, store: BaseStore) -> dict[str, Any]:
        found = store.search((state["seat"],), query=QUESTION)
        return {"seat": state["seat"], "told": [item.value["text"] for item in found]}

    graph = StateGraph(dict)
    graph.add_node("recall", recall)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", END)
    app = graph.compile(store=store)
    assert any(TOLD in text for text in app.invoke({"seat": "Throk"})["told"])
    assert not any("altar" in text for text in app.invoke({"seat": "Elena"})["told"])
    first = next(campaign.events(viewer=DM)).event_id
    assert store.get(("Throk",), first).value["text"] == TOLD
    assert store.get(("Elena",), first) is None
    assert store.search(("Elena",))[0].value["text"] == "Soup is ready."
    assert ("Zara",) in asyncio.run(store.alist_namespaces())
    with pytest.raises(InvalidSetting, match="not written by hand"):
        store.put(("Throk",), "x", {"text": "I am the king."})
    assert said(campaign) == []


def test_openai_agents_session(campaign: Campaign) -> None:
    memory = pytest.importorskip("agents.memory", reason="make adapters installs it")
    session = SeatSession(SeatChat(campaign, "Throk", "Ann"))
    assert isinstance(session, memory.Session)

    async def talk() -> None:
        await session.add_items([{"role": "user", "content": QUESTION}])
        items = await session.get_items()
        assert items[0]["role"] == "system"
        assert TOLD in items[0]["content"]
        assert items[1:] == [{"role": "user", "content": QUESTION}]
        reply = {"role": "assistant", "content": [{"type": "output_text", "text": "Wrong answer."}]}
        await session.add_items([{"type": "function_call", "name": "x"}, reply])
        assert await session.pop_item() == reply
        assert len(await session.get_items(limit=1)) == 2
        await session.add_items([{"role": "assistant", "content": "Under the altar."}])
        assert said(campaign) == [QUESTION]
        await session.clear_session()
        assert await session.pop_item() is None
        assert said(campaign) == [QUESTION, "Under the altar."]

    asyncio.run(talk())


def test_openai_agents_runner(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = pytest.importorskip("agents", reason="make adapters installs it")
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    seen: list[Any] = []

    class Fake(Model):  # type: ignore[misc, unused-ignore]
        async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
            seen.append(kwargs.get("input", args[1] if len(args) > 1 else None))
            text = ResponseOutputText(
                annotations=[], text="Under the altar.", type="output_text", logprobs=[]
            )
            message = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    session = SeatSession(SeatChat(campaign, "Throk", "Ann"))
    agent = agents.Agent(name="Throk", instructions="Stay calm.", model=Fake())
    asyncio.run(agents.Runner.run(agent, QUESTION, session=session))
    assert TOLD in str(seen[-1])
    asyncio.run(agents.Runner.run(agent, "Thank you.", session=session))
    assert said(campaign) == [QUESTION, "Under the altar.", "Thank you."]


def test_pydantic_ai(campaign: Campaign) -> None:
    pytest.importorskip("pydantic_ai", reason="make adapters installs it")
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    seen: list[Any] = []

    def answer(messages: list[Any], _info: Any) -> ModelResponse:
        seen.append(messages)
        return ModelResponse(parts=[TextPart(f"Answer {len(seen)}.")])

    chat = SeatChat(campaign, "Throk", "Ann")
    agent = Agent(FunctionModel(answer), capabilities=[ProcessHistory(seat_history(chat))])
    first = asyncio.run(agent.run(QUESTION))
    assert TOLD in str(seen[0])
    asyncio.run(agent.run("Thank you.", message_history=first.all_messages()))
    assert said(campaign) == [QUESTION, "Answer 1.", "Thank you."]
    assert str(seen[1]).count(HEADING) == 1


def test_llama_index_recipe(campaign: Campaign) -> None:
    """The recipe of the docs: a memory block that reads a seat."""
    memory = pytest.importorskip("llama_index.core.memory", reason="make adapters installs it")
    from llama_index.core.llms import ChatMessage

    class SeatBlock(memory.BaseMemoryBlock[str]):  # type: ignore[name-defined, misc, unused-ignore]
        chat: Any = None

        async def _aget(self, messages: Any = None, **_: Any) -> str:
            lines = [SpokenLine(str(one.role.value) == "user", one.content or "") for one in messages or ()]
            await asyncio.to_thread(self.chat.follow, lines)
            return await asyncio.to_thread(self.chat.remember, lines[-1].text if lines else None)

        async def _aput(self, messages: Any) -> None: ...

    block = SeatBlock(name="memory", chat=SeatChat(campaign, "Throk", "Ann"))
    text = asyncio.run(block.aget([ChatMessage(role="user", content=QUESTION)]))
    assert TOLD in text
    assert said(campaign) == [QUESTION]
