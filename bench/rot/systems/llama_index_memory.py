"""LlamaIndex: `Memory` with a vector block for each viewer: newest lines, and older ones by similarity."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rot.memory import Line, Memory, Reply, fit, written
from bench.rot.stub_model import embed
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.memory import VectorMemoryBlock
from llama_index.core.vector_stores.simple import SimpleVectorStore

TITLE = "LlamaIndex memory"
REQUIRES = ("llama-index-core",)
ABOUT = "Memory with a VectorMemoryBlock of hashed embeddings for each viewer; nothing on disk"
# Of an answer, the share that is found by similarity; the rest are the newest lines, not in the block yet.
_OLDER = 0.7


class _Hashed(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed(query)


class _TextStore(SimpleVectorStore):
    """A vector store that keeps texts: the block asks for one, and the simple store keeps vectors alone."""

    stores_text: bool = True

    def __init__(self) -> None:
        super().__init__()
        self._nodes: dict[str, Any] = {}

    def add(self, nodes: Sequence[Any], **kwargs: Any) -> list[str]:
        self._nodes.update({node.node_id: node for node in nodes})
        return super().add(list(nodes), **kwargs)

    def query(self, query: Any, **kwargs: Any) -> Any:
        result = super().query(query, **kwargs)
        result.nodes = [self._nodes[node_id] for node_id in result.ids or []]
        return result


class _LlamaIndex:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._memories: dict[str, ChatMemory] = {}

    def _memory(self, viewer: str) -> ChatMemory:
        if viewer not in self._memories:
            block = VectorMemoryBlock(
                name="lines",
                vector_store=_TextStore(),
                embed_model=_Hashed(model_name="hashed"),
                similarity_top_k=30,
                retrieval_context_window=1,
            )
            # Few of the newest lines are kept in sight; all others go to the block, in small pieces.
            self._memories[viewer] = ChatMemory.from_defaults(
                session_id=viewer, token_limit=200, token_flush_size=40, memory_blocks=[block]
            )
        return self._memories[viewer]

    def add(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for viewer in line["witnesses"]:
                message = ChatMessage(role="user", content=written(line))
                self._loop.run_until_complete(self._memory(viewer).aput(message))

    def context(self, viewer: str, budget: int) -> str:
        return "\n".join(reversed(fit(self._newest(viewer)[::-1], budget).split("\n")))

    def _newest(self, viewer: str) -> list[str]:
        return [str(message.content) for message in self._memory(viewer).get_all()]

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        # The block is asked with the question alone: `Memory.get` would mix the newest lines into the query.
        block = self._memory(viewer).memory_blocks[0]
        asked = [ChatMessage(role="user", content=question)]
        found = self._loop.run_until_complete(block.aget(asked, session_id=viewer))
        older = fit(str(found).splitlines(), int(budget * _OLDER))
        newest = fit(self._newest(viewer)[::-1], budget - int(budget * _OLDER))
        return Reply(text=f"{older}\n{newest}".strip())

    def close(self) -> None:
        self._loop.close()


def open_memory(folder: Path) -> Memory:  # noqa: ARG001 - it keeps nothing on disk
    """A new memory for each viewer."""
    return _LlamaIndex()
