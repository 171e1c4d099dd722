"""LangMem: its store manager writes memories into a LangGraph store, its search finds them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rot.memory import Line, Memory, Reply, fit, written
from bench.rot.stub_model import CALLS, SIZE, embed_many
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

TITLE = "LangMem"
REQUIRES = ("langmem", "langgraph", "numpy")
ABOUT = (
    "memory store manager for each viewer; the stub model keeps every line as a memory, word for word:"
    " the best that an extracting model can do for these questions; nothing on disk"
)
_FOUND = 60
_LINE = re.compile(r"^«(.*)»$", re.MULTILINE)


class _Verbatim(BaseChatModel):
    """A model that calls the memory tool once for each line that it is shown."""

    @property
    def _llm_type(self) -> str:
        return "verbatim"

    def bind_tools(self, *_: Any, **__: Any) -> "BaseChatModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        CALLS["chat"] += 1
        shown = "\n".join(str(message.content) for message in messages)
        conversation = shown.partition("<conversation>")[2] or shown
        calls = [
            {"name": "Memory", "args": {"content": line}, "id": f"call_{number}"}
            for number, line in enumerate(dict.fromkeys(_LINE.findall(conversation)))
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])


class _LangMem:
    def __init__(self) -> None:
        self._store = InMemoryStore(index={"dims": SIZE, "embed": embed_many, "fields": ["content"]})
        self._managers: dict[str, Any] = {}

    def add(self, lines: Sequence[Line]) -> None:
        for viewer in sorted({viewer for line in lines for viewer in line["witnesses"]}):
            if viewer not in self._managers:
                self._managers[viewer] = create_memory_store_manager(
                    _Verbatim(), namespace=("memories", _slug(viewer)), store=self._store
                )
            heard = [f"«{written(line)}»" for line in lines if viewer in line["witnesses"]]
            self._managers[viewer].invoke({"messages": [{"role": "user", "content": "\n".join(heard)}]})

    def context(self, viewer: str, budget: int) -> str:
        return fit(_texts(self._store.search(("memories", _slug(viewer)), limit=_FOUND)), budget)

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        found = self._store.search(("memories", _slug(viewer)), query=question, limit=_FOUND)
        return Reply(text=fit(_texts(found), budget), refused=not found)

    def close(self) -> None:
        pass


def _slug(viewer: str) -> str:
    return viewer.replace(".", "_")


def _texts(items: Sequence[Any]) -> list[str]:
    return [str(item.value["content"]["content"]) for item in items]


def open_memory(folder: Path) -> Memory:  # noqa: ARG001 - its store here keeps nothing on disk
    """A new store with its managers."""
    return _LangMem()
