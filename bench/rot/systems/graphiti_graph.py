"""Graphiti: episodes become a graph in an embedded Kuzu, a group for each viewer; search finds facts."""

import asyncio
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": "512"}

from bench.rot.memory import Line, Memory, Reply, fit, written
from bench.rot.stub_model import CALLS, embed
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig

TITLE = "Graphiti"
REQUIRES = ("graphiti-core[kuzu]", "numpy", "httpx")
ABOUT = (
    "episodes of up to 50 lines in Kuzu, a group for each viewer; the stub model makes every line a fact"
    " between its speaker and a name in it, word for word, and finds no duplicates or contradictions"
)
_FOUND = 60
_LINE = re.compile(r"«(.*?)»")
_NAME = re.compile(r"(?<![.!?\"“] )(?<!^)\b[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
_PARTY = "the party"
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)


def _read(line: str) -> tuple[str, str]:
    """The two names that a line ties: its speaker, and the first name in it, or the party."""
    speaker, _, text = line.partition(": ")
    names = [name for name in _NAME.findall(text) if name != speaker]
    return speaker, names[0] if names else _PARTY


class _Verbatim(LLMClient):
    """A model that answers each of Graphiti's prompts from the lines in it."""

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none", model="verbatim"))

    async def _generate_response(
        self,
        messages: list[Any],
        response_model: Any = None,
        *_: Any,
        **__: Any,
    ) -> dict[str, Any]:
        CALLS["chat"] += 1
        shown = "\n".join(message.content for message in messages)
        current = re.split(r"<CURRENT[ _]MESSAGE>", shown)[-1]
        current = re.split(r"</CURRENT[ _]MESSAGE>", current)[0]
        lines = list(dict.fromkeys(_LINE.findall(current)))
        names = dict.fromkeys(name for line in lines for name in _read(line))
        answers: dict[str, dict[str, Any]] = {
            "ExtractedEntities": {
                "extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]
            },
            "ExtractedEdges": {"edges": list(map(_edge, lines))},
            "NodeResolutions": {"entity_resolutions": []},
            "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
            "SummarizedEntities": {"summaries": []},
            "BatchEdgeTimestamps": {"timestamps": []},
        }
        return answers.get(getattr(response_model, "__name__", ""), {})


def _edge(line: str) -> dict[str, Any]:
    source, target = _read(line)
    return {
        "source_entity_name": source,
        "target_entity_name": target,
        "relation_type": "SAYS",
        "fact": line,
    }


class _Hashed(EmbedderClient):
    async def create(self, input_data: Any) -> list[float]:
        return embed(input_data if isinstance(input_data, str) else " ".join(map(str, input_data)))

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [embed(text) for text in input_data_list]


class _NoRanking(CrossEncoderClient):
    """`search` ranks by reciprocal ranks, and asks for no encoder; one must be given all the same."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002 - the same
        return [(passage, 0.0) for passage in passages]


class _Graphiti:
    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        driver = KuzuDriver(str(folder / "graph.kuzu"))
        driver._database = ""  # the driver of Kuzu forgets to set it, and a group is compared with it
        self._graph = Graphiti(
            graph_driver=driver, llm_client=_Verbatim(), embedder=_Hashed(), cross_encoder=_NoRanking()
        )
        for query in get_fulltext_indices(driver.provider):
            self._loop.run_until_complete(driver.execute_query(query))
        self._lines = 0

    def add(self, lines: Sequence[Line]) -> None:
        self._lines += len(lines)
        for viewer in sorted({viewer for line in lines for viewer in line["witnesses"]}):
            heard = [f"«{written(line)}»" for line in lines if viewer in line["witnesses"]]
            self._loop.run_until_complete(
                self._graph.add_episode(
                    name=str(self._lines),
                    episode_body="\n".join(heard),
                    source_description="play",
                    reference_time=_BEGIN + timedelta(minutes=self._lines),
                    group_id=_group(viewer),
                )
            )

    def context(self, viewer: str, budget: int) -> str:
        """The newest episode, as `retrieve_episodes` gives it; it has no other text without a question."""
        episodes = self._loop.run_until_complete(
            self._graph.retrieve_episodes(datetime.now(UTC), last_n=1, group_ids=[_group(viewer)])
        )
        lines = [line for episode in episodes for line in _LINE.findall(episode.content)]
        return "\n".join(reversed(fit(lines[::-1], budget).split("\n")))

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        found = self._loop.run_until_complete(
            self._graph.search(question, group_ids=[_group(viewer)], num_results=_FOUND)
        )
        return Reply(text=fit([edge.fact for edge in found], budget), refused=not found)

    def close(self) -> None:
        self._loop.run_until_complete(self._graph.close())
        self._loop.close()


def _group(viewer: str) -> str:
    return re.sub(r"\W", "_", viewer)


def open_memory(folder: Path) -> Memory:
    """A new graph."""
    return _Graphiti(folder)
