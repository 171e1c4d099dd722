"""A question as messages: what hardly changes first, then the question, then what was answered and replied.

How to answer never changes, and stands before all: a server that keeps what it has read reads it once.

Messages are tuples and mappings that LangChain takes for messages; no library is imported.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dndbots.llm.asking import Answer, Call, Question, Reply
from dndbots.llm.forms import CALLS, TOOL, WORDS, has_words, instruction
from dndbots.llm.settings import Way
from dndbots.llm.shapes import content_of, said_in
from dndbots.tokens import count_many

NOTHING: Final = "(nothing)"
TAKEN: Final = "It is done."
REMINDER: Final = "Answer with one JSON object, as you were told."


def messages_of(question: Question, way: Way) -> list[Any]:
    """`way` is how the answer is wanted; AUTO where there is nothing to call for."""
    in_object = way in (Way.SCHEMA, Way.WORDS)
    system = question.system
    if in_object:
        system = "\n\n".join(part for part in (instruction(question.tools), system) if part)
    # Nothing else holds it to the form, and what stood first may be far away.
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
    """How many tokens messages have by our own count, and what is sent beside them as JSON."""
    texts = [text_in(message) for message in messages]
    return sum(count_many([*texts, *map(json.dumps, beside)], encoding))


def text_in(message: Any) -> str:
    """What of a message is counted: a tuple, a mapping, or a message of a library."""
    if isinstance(message, tuple):
        return str(message[-1])
    text = said_in(content_of(message)) or ""
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    return text + (json.dumps(calls) if calls else "")


def _by_tools(reply: Reply) -> list[Any]:
    calls = [
        {"name": call.tool, "args": _args(call), "id": call.id, "type": "tool_call"}
        for call in reply.answer.calls
    ]
    messages: list[Any] = [{"role": "assistant", "content": reply.answer.words, "tool_calls": calls}]
    for place, call in enumerate(reply.answer.calls):
        result = reply.results.get(place) or TAKEN
        messages.append({"role": "tool", "content": result, "tool_call_id": call.id})
    general = reply.text or " ".join(reply.answer.faults)
    return [*messages, ("human", general)] if general else messages


def _told(reply: Reply) -> str:
    """What is said to an answer: of each call, and in general, or what was wrong with it."""
    calls = dict(enumerate(reply.answer.calls))
    told = sorted((place, result) for place, result in reply.results.items() if place in calls)
    lines = [f"{calls[place].tool}: {result}" for place, result in told]
    return "\n".join(line for line in (*lines, reply.text or " ".join(reply.answer.faults)) if line) or TAKEN


def _as_text(answer: Answer) -> str:
    calls = [f"({call.tool}: {json.dumps(_args(call), ensure_ascii=False)})" for call in answer.calls]
    return "\n".join(part for part in (answer.words, *calls) if part) or NOTHING


def _as_object(answer: Answer, question: Question) -> str:
    """An answer in the form that it should have had, also if it came in another."""
    if not (answer.words or answer.calls):
        return NOTHING
    if len(question.tools) == 1:
        [tool] = question.tools
        said = {} if has_words(tool) else {WORDS: answer.words}
        form = _args(answer.calls[0]) if answer.calls else {}
        return json.dumps(form | said, ensure_ascii=False)
    calls = [{TOOL: call.tool, **_args(call)} for call in answer.calls]
    return json.dumps({CALLS: calls, WORDS: answer.words}, ensure_ascii=False)


def _args(call: Call) -> dict[str, Any]:
    return call.form.model_dump(mode="json", by_alias=True, exclude_none=True)
