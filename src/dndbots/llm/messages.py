"""Turn a question into messages: the stable part first, then the question, then earlier answers and replies.

The instruction on how to answer never changes and stands before all, so that a provider's cache keeps it.

Messages are tuples and mappings that LangChain takes for messages; no library is imported.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dndbots.llm.protocol import Answer, Call, Question, Reply
from dndbots.llm.responses.shapes import content_of, said_in
from dndbots.llm.settings import Way
from dndbots.llm.tool_schemas import CALLS, TOOL, WORDS, has_words, instruction
from dndbots.tokens import count_many

NOTHING: Final = "(nothing)"
TAKEN: Final = "It is done."
REMINDER: Final = "Answer with one JSON object, as you were told."
# Characters kept of an earlier answer that is shown again.
_MOST_CALLS: Final = 8
_LONGEST_WORDS: Final = 1_000
_LONGEST_FIELD: Final = 300


def messages_of(question: Question, way: Way) -> list[Any]:
    """Return the messages of a question. `way` is how the answer is wanted; AUTO if there are no tools."""
    in_object = way in (Way.SCHEMA, Way.WORDS)
    system = question.system
    if in_object:
        system = "\n\n".join(part for part in (instruction(question.tools), system) if part)
    # Repeat the form: nothing else holds the model to it, and the instruction is far up.
    text = f"{question.text}\n\n{REMINDER}" if way is Way.WORDS else question.text
    messages: list[Any] = [("system", system)] if system else []
    messages.append(("human", text))
    for reply in question.so_far:
        if way is Way.TOOLS and reply.answer.calls and all(call.id for call in reply.answer.calls):
            messages += _by_tools(reply)
        else:
            told = _as_object(reply.answer, question) if in_object else _as_text(reply.answer)
            messages += [("ai", told), ("human", _told(reply))]
    return messages


def count_in(messages: Sequence[Any], encoding: str, *, beside: Iterable[object] = ()) -> int:
    """Count the tokens of messages, and of the JSON that is sent beside them."""
    texts = [text_in(message) for message in messages]
    return sum(count_many([*texts, *map(json.dumps, beside)], encoding))


def text_in(message: Any) -> str:
    """Return the text of a message that counts: a tuple, a mapping, or a library's message."""
    if isinstance(message, tuple):
        return str(message[-1])
    text = said_in(content_of(message)) or ""
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    return text + (json.dumps(calls) if calls else "")


def _by_tools(reply: Reply) -> list[Any]:
    shown = reply.answer.calls[:_MOST_CALLS]
    calls = [{"name": call.tool, "args": _args(call), "id": call.id, "type": "tool_call"} for call in shown]
    messages: list[Any] = [{"role": "assistant", "content": _words(reply.answer), "tool_calls": calls}]
    for place, call in enumerate(shown):
        result = reply.results.get(place) or TAKEN
        messages.append({"role": "tool", "content": result, "tool_call_id": call.id})
    general = reply.text or " ".join(reply.answer.faults)
    return [*messages, ("human", general)] if general else messages


def _told(reply: Reply) -> str:
    """Return the reply to an answer: each call's result and a general text, or what was wrong with it."""
    calls = dict(enumerate(reply.answer.calls[:_MOST_CALLS]))
    told = sorted((place, result) for place, result in reply.results.items() if place in calls)
    lines = [f"{calls[place].tool}: {result}" for place, result in told]
    return "\n".join(line for line in (*lines, reply.text or " ".join(reply.answer.faults)) if line) or TAKEN


def _as_text(answer: Answer) -> str:
    shown = answer.calls[:_MOST_CALLS]
    calls = [f"({call.tool}: {json.dumps(_args(call), ensure_ascii=False)})" for call in shown]
    return "\n".join(part for part in (_words(answer), *calls) if part) or NOTHING


def _as_object(answer: Answer, question: Question) -> str:
    """Return an answer in the form it should have had, even if it came in another."""
    if not (answer.words or answer.calls):
        return NOTHING
    if len(question.tools) == 1:
        [tool] = question.tools
        said = {} if has_words(tool) else {WORDS: _words(answer)}
        form = _args(answer.calls[0]) if answer.calls else {}
        return json.dumps(form | said, ensure_ascii=False)
    calls = [{TOOL: call.tool, **_args(call)} for call in answer.calls[:_MOST_CALLS]]
    return json.dumps({CALLS: calls, WORDS: _words(answer)}, ensure_ascii=False)


def _words(answer: Answer) -> str:
    return _cut(answer.words, _LONGEST_WORDS)


def _args(call: Call) -> dict[str, Any]:
    form = call.form.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        name: _cut(value, _LONGEST_FIELD) if isinstance(value, str) else value for name, value in form.items()
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
