"""LangChain: a middleware that gives an agent the memory of a seat, and a retriever over it.

agent = create_agent(model, tools, middleware=[SeatMiddleware(SeatChat(campaign, "Elena", "Ann"))])
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from dndbots.adapters.seat_chat import SeatChat, SpokenLine, newest_of_user
from dndbots.campaign import Campaign


class SeatMiddleware(AgentMiddleware[Any, Any]):
    """Follows the conversation of an agent, and puts the memory of its seat behind the system prompt."""

    def __init__(self, chat: SeatChat) -> None:
        super().__init__()
        self._chat = chat

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        return handler(self._with_memory(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        return await handler(await asyncio.to_thread(self._with_memory, request))

    def _with_memory(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        lines = lines_of(request.messages)
        self._chat.follow(lines)
        memory = self._chat.remember(newest_of_user(lines), shown=lines)
        if not memory:
            return request
        own = request.system_message.text if request.system_message is not None else ""
        return request.override(system_message=SystemMessage(f"{own}\n\n{memory}" if own else memory))


def lines_of(messages: Sequence[BaseMessage]) -> list[SpokenLine]:
    """Return what user and agent said. Calls and results of tools are no words."""
    spoken = (message for message in messages if isinstance(message, (HumanMessage, AIMessage)))
    return [SpokenLine(isinstance(one, HumanMessage), one.text) for one in spoken if one.text]


class SeatRetriever(BaseRetriever):
    """Finds what a seat perceived about a question: a document for each line, with its sources."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    campaign: Campaign
    seat: str
    budget: int = 500

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it
    ) -> list[Document]:
        found = self.campaign.recall(self.seat, query, self.budget)
        return [
            Document(
                item.text,
                metadata={"sources": [*item.sources], "reason": item.reason, "tokens": item.tokens},
            )
            for item in found.items
        ]
