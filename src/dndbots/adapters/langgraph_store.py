"""LangGraph: a store that reads the memory of seats. What is played writes the log, so `put` is refused.

graph = builder.compile(store=SeatStore(campaign))
store.search(("Throk",), query="Where is the key?")
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, UnknownEntity
from dndbots.ids import DM

_BUDGET: Final = 1_000
# Events have the time of the story, not that of a clock.
_NO_TIME: Final = datetime.fromtimestamp(0, UTC)


class SeatStore(BaseStore):
    """The memory of seats as a store: a namespace is a seat, a search is a recall, a key is an event id."""

    def __init__(self, campaign: Campaign, *, budget: int = _BUDGET) -> None:
        self._campaign, self._budget = campaign, budget

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer operations in order."""
        return [self._answer(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer operations on a worker thread."""
        return await asyncio.to_thread(self.batch, [*ops])

    def _answer(self, op: Op) -> Result:
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, GetOp):
            return self._get(_seat(op.namespace), op.key)
        if isinstance(op, ListNamespacesOp):
            return self._seats(op)
        if isinstance(op, PutOp):
            reason = "is not written by hand; record what happens with campaign.say or campaign.note"
            raise InvalidSetting("store", "/".join(op.namespace), reason=reason)
        raise InvalidSetting("op", type(op).__name__, reason="is unknown to this store")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        values = self._found(op)[op.offset : op.offset + op.limit]
        return [SearchItem(op.namespace_prefix, key, value, _NO_TIME, _NO_TIME) for key, value in values]

    def _found(self, op: SearchOp) -> list[tuple[str, dict[str, Any]]]:
        seat = _seat(op.namespace_prefix)
        if op.query:
            found = self._campaign.recall(seat, op.query, self._budget).items
            return [
                (item.sources[0], {"text": item.text, "reason": item.reason, "sources": [*item.sources]})
                for item in found
                if item.sources
            ]
        moments = self._campaign.timeline(viewer=seat, last=op.offset + op.limit)[::-1]
        return [
            (moment.event_id, {"text": moment.text, "who": moment.teller, "where": moment.where})
            for moment in moments
        ]

    def _get(self, seat: str, key: str) -> Item | None:
        with self._campaign.view(seat) as view:
            event = view.by_id([key]).get(key)
        if event is None:
            return None
        value: dict[str, Any] = {"text": event.content, "session": event.session_id}
        return Item(value=value, key=key, namespace=(seat,), created_at=_NO_TIME, updated_at=_NO_TIME)

    def _seats(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        entities = self._campaign.entities(viewer=DM, category="PC")
        return [(entity.name,) for entity in entities[op.offset : op.offset + op.limit]]


def _seat(namespace: tuple[str, ...]) -> str:
    if len(namespace) != 1:
        raise UnknownEntity("/".join(namespace) or "nobody")
    return namespace[0]
