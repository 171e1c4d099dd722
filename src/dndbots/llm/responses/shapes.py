"""Read responses of chat models in all their shapes: text, parts, calls, refusals, usage, why they ended.

Any object or mapping with these fields will do; no library is imported. All of it is hostile data: nothing
here raises, and unreadable parts are skipped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

# Parts of a message that are not speech: thoughts, calls, pictures.
_NOT_SAID: Final = frozenset(
    ("reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call", "function_call", "refusal")
)
_MOST_PARTS: Final = 1000
_MOST_TOKENS: Final = 100_000_000
# Models that think aloud. Some start inside a thought, and some never leave it.
_THOUGHT = re.compile(
    r"<(/?)(?:seed:)?(?:think(?:ing)?|thought|reasoning)>|\[(/?)THINK\]|\u25c1(/?)think\u25b7", re.IGNORECASE
)
# Models that speak in channels, if their server leaves the marks in.
_CHANNEL: Final = "<|channel|>"
_ANALYSIS = re.compile(
    r"<\|channel\|>\s*analysis\b.*?(?:<\|end\|>|(?=<\|start\|>|<\|channel\|>)|\Z)", re.IGNORECASE | re.DOTALL
)
_HEADER = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>[^<]{0,80}(?:<\|constrain\|>[^<]{0,20})?(?:<\|message\|>|\Z)"
    r"|<\|(?:return|end|call)\|>",
    re.IGNORECASE,
)


class End(StrEnum):
    """Why an answer ended."""

    SAID = "said"
    CUT = "cut"
    REFUSED = "refused"


_REASONS: Final = ("finish_reason", "stop_reason", "done_reason", "stopReason")
_ENDS: Final[Mapping[str, End]] = {
    "length": End.CUT,
    "max_tokens": End.CUT,
    "max_output_tokens": End.CUT,
    "model_length": End.CUT,
    "model_context_window_exceeded": End.CUT,
    "content_filter": End.REFUSED,
    "content_filtered": End.REFUSED,
    "guardrail_intervened": End.REFUSED,
    "refusal": End.REFUSED,
    "safety": End.REFUSED,
    "recitation": End.REFUSED,
    "prohibited_content": End.REFUSED,
    "blocklist": End.REFUSED,
    "spii": End.REFUSED,
    "image_safety": End.REFUSED,
}


# A question that breaks the provider's policy ends in an error, not in an answer.
_REFUSING: Final = (400, 403, 422, 451)
_FLAGGED: Final = re.compile(
    r"content[_ ](?:filter|management policy|policy)|ResponsibleAIPolicy|flagged|moderation"
    r"|(?:usage|content|safety) polic|data_inspection_failed",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as it came: `args` is an object, or text that should be one."""

    name: str
    args: object
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A response in the one form that the rest of the code reads."""

    text: str = ""
    calls: tuple[RawCall, ...] = ()
    end: End = End.SAID
    refusal: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)


def shape_of(answer: object) -> Shape:
    """Return the shape of any response."""
    content = content_of(answer)
    refusal = _refusal(answer, content)
    end = _end(answer)
    return Shape(
        text=said_in(content) or "",
        calls=tuple(_calls(answer, content)),
        end=End.REFUSED if refusal else end,
        refusal=refusal,
        tokens=tokens_of(answer),
    )


def shape_in(error: Exception) -> Shape | None:
    """Return the answer inside an error, or None: libraries raise when an answer held to a schema is cut or
    refused.
    """
    if type(error).__name__ == "ContentFilterFinishReasonError" or _is_refused(error):
        return Shape(end=End.REFUSED)
    completion = getattr(error, "completion", None)
    choice = next(iter(_listed(completion, "choices")), None)
    if choice is None:
        return None
    about = {"finish_reason": _field(choice, "finish_reason"), "token_usage": _field(completion, "usage")}
    return shape_of({"content": _field(_field(choice, "message"), "content"), "response_metadata": about})


def _is_refused(error: Exception) -> bool:
    """Return whether a provider's policy rejects the question. Asking again gives the same result."""
    status = getattr(error, "status_code", None)
    return status in _REFUSING and _FLAGGED.search(str(error)[:2000]) is not None


# Text


def content_of(answer: object) -> object:
    """Return the content of a message; anything else is its own content."""
    if isinstance(answer, Mapping):
        return answer.get("content", answer.get("text"))
    if answer is None or isinstance(answer, str | list | tuple):
        return answer
    if hasattr(answer, "content"):
        return answer.content
    return getattr(answer, "text", answer)


def said_in(content: object) -> str | None:
    """Return the text of a content, which may be in parts; None if it is no text at all."""
    if isinstance(content, list | tuple):
        return "".join(part for part in map(_said_in_part, content[:_MOST_PARTS]) if part)
    return content if isinstance(content, str) else None


def _said_in_part(part: object) -> str | None:
    """Return the text of a part; None for thoughts, calls and pictures."""
    if isinstance(part, str):
        return part
    kind, text = _field(part, "type"), _field(part, "text")
    return text if isinstance(text, str) and kind not in _NOT_SAID and not _field(part, "thought") else None


def without_thoughts(text: str) -> str:
    """Return the text without the model's thoughts."""
    if _CHANNEL in text:
        text = _HEADER.sub("", _ANALYSIS.sub("", text))
    kept: list[str] = []
    at, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        ends = "/" in tag[0]
        if ends and not thinking:
            kept.clear()
        elif not ends and not thinking:
            kept.append(text[at : tag.start()])
        thinking, at = not ends, tag.end()
    return "".join(kept) if thinking else "".join((*kept, text[at:]))


# Calls


def _calls(answer: object, content: object) -> Iterator[RawCall]:
    """Yield calls as the library read them; else from the parts, or from where older servers put them."""
    found = [*_listed(answer, "tool_calls"), *_listed(answer, "invalid_tool_calls")]
    if not found:
        found = [part for part in _parts(content) if _field(part, "type") in ("tool_use", "tool_call")]
    if not found:
        more = _field(answer, "additional_kwargs")
        found = _listed(more, "tool_calls")
        old = _field(more, "function_call")
        found += [old] if isinstance(old, Mapping) else []
    for call in found[:_MOST_PARTS]:
        inner = _field(call, "function")
        named = inner if isinstance(inner, Mapping) else call
        name = _field(named, "name")
        args = _first(named, "args", "arguments", "input")
        call_id = _field(call, "id")
        yield RawCall(
            name=name if isinstance(name, str) else "",
            args={} if args is None else args,
            id=call_id if isinstance(call_id, str) else "",
        )


def _listed(value: object, name: str) -> list[Any]:
    found = _field(value, name)
    return list(found) if isinstance(found, list | tuple) else []


def _parts(content: object) -> list[object]:
    return list(content[:_MOST_PARTS]) if isinstance(content, list | tuple) else []


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


# Refusals and ends


def _refusal(answer: object, content: object) -> str:
    told = [_field(part, "refusal") for part in _parts(content) if _field(part, "type") == "refusal"]
    told.append(_field(_field(answer, "additional_kwargs"), "refusal"))
    return next((one for one in told if isinstance(one, str) and one.strip()), "")


def broke_off(answer: object) -> bool:
    """Return whether a stream broke off: the provider reports why answers end, and did not report it here."""
    about = _field(answer, "response_metadata")
    if not _field(about, "model_provider"):
        return False
    return not any(_field(about, name) for name in (*_REASONS, "status", "prompt_feedback"))


def _end(answer: object) -> End:
    about = _field(answer, "response_metadata")
    blocked = _field(_field(about, "prompt_feedback"), "block_reason")
    if blocked and str(blocked) not in ("0", "BLOCK_REASON_UNSPECIFIED"):
        return End.REFUSED
    told = [_field(about, name) for name in _REASONS]
    told.append(_field(_field(about, "incomplete_details"), "reason"))
    found = next((one for one in told if isinstance(one, str)), "")
    return _ENDS.get(found.lower(), End.SAID)


# Usage


def tokens_of(answer: object) -> dict[str, int]:
    """Return the `input`, `output` and `cached` tokens that a message reports."""
    usage = _field(answer, "usage_metadata")
    if isinstance(usage, Mapping):
        details = usage.get("input_token_details")
        return _counts(usage.get("input_tokens"), usage.get("output_tokens"), _field(details, "cache_read"))
    about = _field(answer, "response_metadata")
    told = next((one for key in ("token_usage", "usage") if (one := _field(about, key))), about)
    cached = _field(_field(told, "prompt_tokens_details"), "cached_tokens")
    given = _first(told, "prompt_tokens", "input_tokens", "prompt_eval_count")
    # Providers that count cached input apart do not count it as input.
    apart = [_field(told, name) for name in ("cache_read_input_tokens", "cache_creation_input_tokens")]
    if type(given) is int:
        given += sum(one for one in apart if type(one) is int)
    made = _first(told, "completion_tokens", "output_tokens", "eval_count")
    return _counts(given, made, cached if cached is not None else apart[0])


def tokens_of_all(chunks: Sequence[object]) -> dict[str, int] | None:
    """Return the tokens of a stream whose chunks report running totals.

    None if the chunks are to be added up.

    Libraries add them up in any case. Several chunks that report input tell the two apart.
    """
    told = [tokens for chunk in chunks if (tokens := tokens_of(chunk))]
    if sum(tokens.get("input", 0) > 0 for tokens in told) < 2:
        return None
    return {name: max(one.get(name, 0) for one in told) for tokens in told for name in tokens}


def _first(value: object, *names: str) -> object:
    return next((found for name in names if (found := _field(value, name)) is not None), None)


def _counts(given: object, made: object, cached: object) -> dict[str, int]:
    named = {"input": given, "output": made, "cached": cached}
    return {name: count for name, count in named.items() if type(count) is int and 0 <= count <= _MOST_TOKENS}
