"""mem0, open source: memories by user id in a local vector store, each line as it is (`infer=False`)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rot.memory import Line, Memory, Reply, fit, written
from bench.rot.stub_model import SIZE, embed, embed_many
from langchain_core.embeddings import Embeddings

os.environ["MEM0_TELEMETRY"] = "False"
from mem0 import Memory as Mem0

TITLE = "mem0"
REQUIRES = ("mem0ai", "langchain-core", "langchain", "faiss-cpu")
ABOUT = "Memory with FAISS, user_id is the viewer, lines as they are (infer=False), hashed embeddings"
_FOUND = 60


class _Hashed(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return embed_many(texts)

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


class _Mem0:
    def __init__(self, folder: Path) -> None:
        os.environ["MEM0_DIR"] = str(folder / "home")
        self._memory = Mem0.from_config(
            {
                "vector_store": {
                    "provider": "faiss",
                    "config": {"path": str(folder / "faiss"), "embedding_model_dims": SIZE},
                },
                "embedder": {"provider": "langchain", "config": {"model": _Hashed()}},
                "llm": {"provider": "openai", "config": {"api_key": "not used"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for viewer in line["witnesses"]:
                message = {"role": "user", "content": written(line)}
                self._memory.add([message], user_id=_user(viewer), infer=False)

    def context(self, viewer: str, budget: int) -> str:
        return self._fit(self._memory.get_all(filters={"user_id": _user(viewer)}, top_k=_FOUND), budget)

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        found = self._memory.search(question, filters={"user_id": _user(viewer)}, top_k=_FOUND)
        return Reply(text=self._fit(found, budget), refused=not found["results"])

    def _fit(self, found: dict[str, Any], budget: int) -> str:
        return fit([str(result["memory"]) for result in found["results"]], budget)

    def close(self) -> None:
        pass


def _user(viewer: str) -> str:
    """A viewer as a user id, which has no blanks."""
    return viewer.replace(" ", "_")


def open_memory(folder: Path) -> Memory:
    """A new store."""
    return _Mem0(folder)
