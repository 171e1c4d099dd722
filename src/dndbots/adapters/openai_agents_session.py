"""OpenAI Agents: a session that remembers in a campaign. Pass it to `Runner.run(..., session=…)`.

It implements the `Session` protocol without importing the package.
"""

import asyncio
from typing import Any, Final

from dndbots.adapters.seat_chat import SeatChat, SpokenLine, newest_of_user

NEWEST: Final = 12


class SeatSession:
    """A session of the agent in a seat: its memory first, then the newest items word for word.

    Items that are no words, such as calls of tools, are kept while the session lives. A reply is remembered
    once the user has answered it, or at `clear_session`; until then `pop_item` takes it back.
    """

    def __init__(self, chat: SeatChat, *, newest: int = NEWEST) -> None:
        self._chat, self._newest = chat, newest
        self.session_id, self.session_settings = chat.name, None
        self._items: list[Any] = []
        self._lock = asyncio.Lock()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the memory as a system message, and the newest items."""
        async with self._lock:
            newest = self._items[-min(limit or self._newest, self._newest) :] if limit != 0 else []
            memory = await asyncio.to_thread(
                self._chat.remember, newest_of_user(_lines(self._items)), shown=_lines(newest)
            )
        return [{"role": "system", "content": memory}, *newest] if memory else [*newest]

    async def add_items(self, items: list[Any]) -> None:
        """Add items, and let the campaign follow."""
        async with self._lock:
            self._items += items
            await asyncio.to_thread(self._chat.follow, _lines(self._items))

    async def pop_item(self) -> Any | None:
        """Take the newest item back and return it."""
        async with self._lock:
            if not self._items:
                return None
            return self._items.pop()

    async def clear_session(self) -> None:
        """End the conversation: its newest reply counts now. What was said stays in the campaign."""
        async with self._lock:
            if self._items:
                await asyncio.to_thread(self._chat.follow, _lines(self._items), settled=True)
            self._items.clear()


def _lines(items: list[Any]) -> list[SpokenLine]:
    """Return what user and agent said in some items."""
    lines = []
    for item in items:
        if isinstance(item, dict) and item.get("role") in ("user", "assistant"):
            text = _text(item.get("content"))
            if text:
                lines.append(SpokenLine(item["role"] == "user", text))
    return lines


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))
