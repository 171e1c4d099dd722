"""pydantic-ai: a history processor that follows the conversation and adds the memory of a seat.

agent = Agent(model, capabilities=[ProcessHistory(seat_history(chat))])
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from dndbots.adapters.seat_chat import HEADING, SeatChat, SpokenLine, newest_of_user

Processor = Callable[[list[Any]], Awaitable[list[Any]]]


def seat_history(chat: SeatChat) -> Processor:
    """Return a history processor: the messages with the memory of the seat in front."""

    async def process(messages: list[Any]) -> list[Any]:
        from pydantic_ai.messages import ModelRequest, SystemPromptPart

        # Earlier memories are among the messages of later runs.
        messages = [own for message in messages if (own := _without_memory(message)).parts]
        lines = _lines(messages)
        await asyncio.to_thread(chat.follow, lines)
        memory = await asyncio.to_thread(chat.remember, newest_of_user(lines), shown=lines)
        return [ModelRequest(parts=[SystemPromptPart(memory)]), *messages] if memory else messages

    return process


def _without_memory(message: Any) -> Any:
    kept = [part for part in message.parts if not _is_memory(part)]
    return message if len(kept) == len(message.parts) else replace(message, parts=kept)


def _is_memory(part: Any) -> bool:
    return part.part_kind == "system-prompt" and str(part.content).startswith(HEADING)


def _lines(messages: Sequence[Any]) -> list[SpokenLine]:
    """Return what user and agent said. Calls and results of tools are no words."""
    spoken = {"user-prompt": True, "text": False}
    return [
        SpokenLine(spoken[part.part_kind], part.content)
        for message in messages
        for part in message.parts
        if part.part_kind in spoken and isinstance(part.content, str) and part.content.strip()
    ]
