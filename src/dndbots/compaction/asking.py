"""The extractor that asks a chat model. Any object with `invoke(messages)` will do; none is imported here.

It needs no tool calls: answers are JSON by a schema where the model can be held to one, and else JSON as
asked for in words. What comes back is only proposed; `checking` decides.
"""

from collections.abc import Sequence
from typing import Any, Final

from dndbots.compaction.answers import updates_of
from dndbots.compaction.questions import KINDS, question, schema
from dndbots.compaction.values import Kind, Known, Turn, Update
from dndbots.errors import ExtractionFailed, InvalidSetting
from dndbots.llm.troubles import is_unsupported
from dndbots.llm.waiting import Patience, Refused
from dndbots.memory.entries import Entry
from dndbots.memory.written import ChatModel, chunked

CHUNK_TOKENS: Final = 1500
_SMALLEST_CHUNK: Final = 100


class ModelExtractor:
    """Reads facts out of turns by asking a model: once for everything, or once for each kind of update.

    Small models do better when `specialised`. `timeout` is in seconds for each question, which is asked up
    to `attempts` times; `chunk` is how many tokens of turns one question shows.
    """

    waits = True

    def __init__(
        self,
        model: ChatModel,
        *,
        specialised: bool = False,
        timeout: float | None = 60.0,
        attempts: int = 2,
        chunk: int = CHUNK_TOKENS,
    ) -> None:
        if type(chunk) is not int or chunk < _SMALLEST_CHUNK:
            raise InvalidSetting(
                "chunk", chunk, reason=f"is not a number of tokens from {_SMALLEST_CHUNK} up"
            )
        self._model, self._chunk = model, chunk
        self._kinds: Sequence[Kind | None] = KINDS if specialised else (None,)
        self._patience = Patience(timeout=timeout, attempts=attempts)
        # Whether the model can be held to a schema; None as long as nobody knows.
        self._by_schema = None if hasattr(model, "with_structured_output") else False

    def extract(self, turns: Sequence[Turn], known: Known) -> list[Update]:
        """Everything that is stated; ExtractionFailed, if a part of the turns could not be read.

        What is only partly read would count as read, so that the rest would be lost.
        """
        found: list[Update] = []
        for chunk in chunked([_entry(turn) for turn in turns if turn.text.strip()], self._chunk):
            for kind in self._kinds:
                try:
                    found += self._ask(kind, chunk, known)
                except Refused as exc:
                    raise ExtractionFailed(turns=len(chunk), reason=exc.reason) from exc
        return list(dict.fromkeys(found))

    def _ask(self, kind: Kind | None, entries: Sequence[Entry], known: Known) -> list[Update]:
        def ask(refused: str) -> object:
            return self._answer(kind, entries, known, refused)

        ids = [entry.event_id for entry in entries]
        return self._patience.ask(ask, lambda answer: updates_of(answer, ids, kind))

    def _answer(self, kind: Kind | None, entries: Sequence[Entry], known: Known, refused: str) -> object:
        # Where a schema has never worked and the first answer was no good, words may be better.
        if self._by_schema or (self._by_schema is None and not refused):
            messages = question(kind, entries, known, in_words=False, refused=refused)
            try:
                answer = self._held_to(schema(kind, len(entries))).invoke(messages)
            except Exception as exc:  # libraries and servers say it each in their own way
                if not is_unsupported(exc):
                    raise
                self._by_schema = False
            else:
                self._by_schema = self._by_schema or _was_parsed(answer) or None
                return answer
        return self._model.invoke(question(kind, entries, known, in_words=True, refused=refused))

    def _held_to(self, shape: dict[str, Any]) -> ChatModel:
        structured: Any = self._model
        held: ChatModel = structured.with_structured_output(shape, method="json_schema", include_raw=True)
        return held


def _entry(turn: Turn) -> Entry:
    return Entry(text=turn.text, who=turn.speaker, event_id=turn.id, narrated=turn.role == "dm")


def _was_parsed(answer: object) -> bool:
    return isinstance(answer, dict) and answer.get("parsed") is not None
