"""A fake LangChain chat model: gives prepared answers and keeps what it was asked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk


class FakeChatModel:
    """Gives answers in order, repeating the last: text, a message, an error to raise, or a callable.

    A callable gets the messages. `asked` is what it was asked, `bound` what was bound to it each time
    (`tools`, `response_format`). Without `tools` or `schema` it says that it cannot do that, as real ones do.
    """

    def __init__(self, *answers: Any, tools: bool = True, schema: bool = True) -> None:
        self._answers, self._tools, self._schema = answers, tools, schema
        self.asked: list[Any] = []
        self.bound: list[dict[str, Any]] = []
        self._now: dict[str, Any] = {}

    def bind_tools(self, tools: Any, **fields: Any) -> "FakeChatModel":
        if not self._tools:
            raise NotImplementedError
        return self.bind(tools=tools, **fields)

    def bind(self, **fields: Any) -> "FakeChatModel":
        if "response_format" in fields and not self._schema:
            raise ValueError("response_format is not supported with this model")
        held = FakeChatModel(*self._answers, tools=self._tools, schema=self._schema)
        held.asked, held.bound, held._now = self.asked, self.bound, {**self._now, **fields}
        return held

    def with_structured_output(
        self, schema: Any, *, method: str = "json_schema", include_raw: bool = False
    ) -> "_Structured":
        return _Structured(
            self.bind(response_format={"type": method, "json_schema": schema}), raw=include_raw
        )

    def invoke(self, messages: Any, *args: Any, **fields: Any) -> "AIMessage":
        del args, fields
        from langchain_core.messages import AIMessage

        answer = self._next(messages)
        return AIMessage(content=answer) if isinstance(answer, str) else answer

    def stream(self, messages: Any, *args: Any, **fields: Any) -> "Iterator[AIMessageChunk]":
        """Yield a word at a time, then the rest of the message. An error comes after the first word."""
        del args, fields
        answer = self._next(messages, streaming=True)
        if isinstance(answer, list):
            yield from _chunks(answer[0])
            raise answer[1]
        yield from _chunks(answer)

    def _next(self, messages: Any, *, streaming: bool = False) -> Any:
        self.asked.append(messages)
        self.bound.append(self._now)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if callable(answer) and not isinstance(answer, type):
            answer = answer(messages)
        if streaming and isinstance(answer, list):
            return answer
        if isinstance(answer, BaseException):
            raise answer
        return answer


class _Structured:
    """The result of `with_structured_output`: the parsed answer, beside the message if that was asked for."""

    def __init__(self, model: FakeChatModel, *, raw: bool) -> None:
        self._model, self._raw = model, raw

    def invoke(self, messages: Any, *args: Any, **fields: Any) -> Any:
        from dndbots.llm.responses.lenient_json import objects_in
        from dndbots.llm.responses.shapes import content_of, said_in

        message = self._model.invoke(messages, *args, **fields)
        parsed = next(objects_in(said_in(content_of(message)) or ""), None)
        return {"raw": message, "parsed": parsed, "parsing_error": None} if self._raw else parsed


def _chunks(answer: Any) -> "Iterator[AIMessageChunk]":
    import json

    from langchain_core.messages import AIMessageChunk

    if isinstance(answer, str):
        text, more = answer, AIMessageChunk(content="")
    else:
        text = answer.content if isinstance(answer.content, str) else ""
        made = [{**call, "args": json.dumps(call["args"])} for call in answer.tool_calls]
        calls = [
            {"name": call["name"], "args": call["args"], "id": call["id"], "index": place}
            for place, call in enumerate([*made, *answer.invalid_tool_calls])
        ]
        more = AIMessageChunk(
            content="" if text else answer.content,
            tool_call_chunks=calls,
            usage_metadata=answer.usage_metadata,
            response_metadata=answer.response_metadata,
            additional_kwargs=answer.additional_kwargs,
        )
    for place, word in enumerate(text.split(" ") if text else []):
        yield AIMessageChunk(content=word if not place else f" {word}")
    yield more
