"""LangGraph's store with its semantic index: a namespace for each viewer, as its documentation proposes."""

from collections.abc import Sequence
from pathlib import Path

from bench.rot.memory import Line, Memory, Reply, fit, written
from bench.rot.stub_model import SIZE, embed_many
from langgraph.store.memory import InMemoryStore

TITLE = "LangGraph store"
REQUIRES = ("langgraph", "numpy")
ABOUT = "InMemoryStore with an index of hashed embeddings, a namespace for each viewer; nothing on disk"
_FOUND = 60


class _Store:
    def __init__(self) -> None:
        self._store = InMemoryStore(index={"dims": SIZE, "embed": embed_many, "fields": ["text"]})

    def add(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for viewer in line["witnesses"]:
                self._store.put(("campaign", viewer), line["id"], {"text": written(line)})

    def context(self, viewer: str, budget: int) -> str:
        newest = self._store.search(("campaign", viewer), limit=_FOUND)
        return fit([str(item.value["text"]) for item in newest], budget)

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        found = self._store.search(("campaign", viewer), query=question, limit=_FOUND)
        return Reply(text=fit([str(item.value["text"]) for item in found], budget), refused=not found)

    def close(self) -> None:
        pass


def open_memory(folder: Path) -> Memory:  # noqa: ARG001 - it keeps nothing on disk
    """A new store."""
    return _Store()
