"""The extractor that asks a chat model: any object with `invoke(messages)`; no provider is imported here.

It needs no tool calls. The answer is JSON: by a schema if the model supports one, else as described in the
prompt. Answers are only proposals; `compaction.checks` decides which of them hold.
"""

from collections.abc import Sequence
from typing import Any, Final

from dndbots.errors import ExtractionFailed, InvalidSetting
from dndbots.extraction.model_answers import updates_of
from dndbots.extraction.model_questions import KINDS, question, schema
from dndbots.extraction.port import Kind, KnownNames, Turn, Update
from dndbots.llm.retry import AnswerRefused, RetryPolicy
from dndbots.llm.troubles import is_unsupported
from dndbots.memory.entries import Entry
from dndbots.memory.summaries.model_summaries import ChatModel, split_chunks

CHUNK_TOKENS: Final = 1500
_SMALLEST_CHUNK: Final = 100


class ModelExtractor:
    """Reads facts out of turns by asking a model, once for all kinds of updates or once for each kind.

    Small models do better with `specialised`, one question for each kind. `timeout` is in seconds for each
    question, which is asked up to `attempts` times; `chunk` is how many tokens of turns one question shows.
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
                "chunk", chunk, reason=f"should be a number of tokens, at least {_SMALLEST_CHUNK}"
            )
        self._model, self._chunk = model, chunk
        self._kinds: Sequence[Kind | None] = KINDS if specialised else (None,)
        self._patience = RetryPolicy(timeout=timeout, attempts=attempts, first_pause=0.0)
        # True if the model follows a schema, None until the first answer tells.
        self._by_schema = None if hasattr(model, "with_structured_output") else False

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> list[Update]:
        """Return everything that the turns state; raise ExtractionFailed if any part cannot be read.

        A partial answer is no answer: all turns would count as read, and the rest would be lost.
        """
        found: list[Update] = []
        for chunk in split_chunks([_entry(turn) for turn in turns if turn.text.strip()], self._chunk):
            for kind in self._kinds:
                try:
                    found += self._ask(kind, chunk, known)
                except AnswerRefused as exc:
                    raise ExtractionFailed(turns=len(chunk), reason=exc.reason) from exc
        return list(dict.fromkeys(found))

    def _ask(self, kind: Kind | None, entries: Sequence[Entry], known: KnownNames) -> list[Update]:
        def ask(refused: str) -> object:
            return self._answer(kind, entries, known, refused)

        ids = [entry.event_id for entry in entries]
        return self._patience.ask(ask, lambda answer: updates_of(answer, ids, kind))

    def _answer(self, kind: Kind | None, entries: Sequence[Entry], known: KnownNames, refused: str) -> object:
        # If no schema has worked yet and the first answer was refused, ask for JSON in words.
        if self._by_schema or (self._by_schema is None and not refused):
            messages = question(kind, entries, known, in_words=False, refused=refused)
            try:
                answer = self._held_to(schema(kind, len(entries))).invoke(messages)
            except Exception as exc:  # each library and server reports it in its own way
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
