"""Recorded answers of four providers' chat models through LangChain: text, parts, calls, nothing.

OpenAI's are there twice, once for each of its interfaces. The fields of each message are as the provider's
own package makes them, without those that do not matter.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

TEXT: Final = "I draw my axe."
TOOL: Final = "act"
ARGS: Final[Mapping[str, Any]] = {"verb": "attack"}

_TAKEN: Final = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
_CACHED: Final = {**_TAKEN, "input_token_details": {"cache_read": 60}}


def _call(call_id: str) -> dict[str, Any]:
    return {"name": TOOL, "args": dict(ARGS), "id": call_id, "type": "tool_call"}


def _openai(finish: str = "stop", refusal: str | None = None, **fields: Any) -> dict[str, Any]:
    usage = {
        "completion_tokens": 8,
        "prompt_tokens": 100,
        "total_tokens": 108,
        "prompt_tokens_details": {"audio_tokens": None, "cached_tokens": 60},
    }
    about = {
        "token_usage": usage,
        "model_provider": "openai",
        "model_name": "gpt-4o-mini-2024-07-18",
        "system_fingerprint": "fp_1",
        "id": "chatcmpl-1",
        "finish_reason": finish,
        "logprobs": None,
    }
    common = {"content": "", "additional_kwargs": {"refusal": refusal}, "usage_metadata": _CACHED}
    return {**common, "response_metadata": about, **fields}


def _responses(reason: str | None = None, **fields: Any) -> dict[str, Any]:
    about = {
        "id": "resp_1",
        "created_at": 1.0,
        "model": "gpt-5-mini",
        "object": "response",
        "status": "incomplete" if reason else "completed",
        "model_provider": "openai",
        "model_name": "gpt-5-mini",
    }
    about |= {"incomplete_details": {"reason": reason}} if reason else {}
    usage = {**_CACHED, "output_token_details": {"reasoning": 5}}
    return {"content": [], "usage_metadata": usage, "response_metadata": about, **fields}


def _anthropic(stop: str = "end_turn", **fields: Any) -> dict[str, Any]:
    usage = {
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 60,
        "input_tokens": 40,
        "output_tokens": 8,
    }
    about = {
        "id": "msg_01",
        "model": "claude-sonnet-4-5",
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
        "model_name": "claude-sonnet-4-5",
        "model_provider": "anthropic",
    }
    return {"content": [], "usage_metadata": _CACHED, "response_metadata": about, **fields}


def _google(finish: str = "STOP", **fields: Any) -> dict[str, Any]:
    about = {
        "finish_reason": finish,
        "model_name": "gemini-2.5-flash",
        "safety_ratings": [],
        "model_provider": "google_genai",
    }
    return {"content": "", "usage_metadata": _CACHED, "response_metadata": about, **fields}


def _ollama(done: str = "stop", **fields: Any) -> dict[str, Any]:
    about = {
        "model": "llama3.1",
        "created_at": "2025-01-01T00:00:00Z",
        "done": True,
        "done_reason": done,
        "prompt_eval_count": 100,
        "eval_count": 8,
        "model_name": "llama3.1",
        "model_provider": "ollama",
    }
    return {"content": "", "usage_metadata": _TAKEN, "response_metadata": about, **fields}


_BROKEN: Final = {
    "type": "invalid_tool_call",
    "id": "call_1",
    "name": TOOL,
    "args": '{"verb": ',
    "error": "Function act arguments are not valid JSON.",
}
_USED: Final = {"id": "toolu_01", "input": dict(ARGS), "name": TOOL, "type": "tool_use"}
_SAID: Final = {"text": TEXT, "type": "text"}
_THOUGHT: Final = {
    "id": "rs_1",
    "summary": [{"text": "I am only playing.", "type": "summary_text"}],
    "type": "reasoning",
}
_MESSAGE: Final = {"type": "text", "text": TEXT, "annotations": [], "id": "msg_1"}
_FUNCTION: Final = {
    "arguments": '{"verb": "attack"}',
    "call_id": "call_1",
    "name": TOOL,
    "type": "function_call",
    "id": "fc_1",
    "status": "completed",
}
_OLD_CALL: Final = {"function_call": {"name": TOOL, "arguments": '{"verb": "attack"}'}}

# By provider, and by what it shows. Each says TEXT, calls TOOL with ARGS, or what its name says.
RECORDED: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "openai": {
        "text": _openai(content=TEXT),
        "parts": _openai(content=[{"type": "text", "text": "I draw "}, {"type": "text", "text": "my axe."}]),
        "call": _openai("tool_calls", tool_calls=[_call("call_1")]),
        "broken call": _openai("tool_calls", invalid_tool_calls=[_BROKEN]),
        "thinking": _openai(content=[{"type": "reasoning", "summary": [], "id": "rs_1"}, _SAID]),
        "empty": _openai(),
        "refusal": _openai(refusal="I can't help with that."),
        "refusal in parts": _openai(content=[{"type": "refusal", "refusal": "I can't help with that."}]),
        "filtered": _openai("content_filter"),
        "cut": _openai("length", content="I draw"),
    },
    "openai_responses": {
        "text": _responses(content=[_MESSAGE]),
        "parts": _responses(content=[{**_MESSAGE, "text": "I draw "}, {**_MESSAGE, "text": "my axe."}]),
        "call": _responses(content=[_THOUGHT, _FUNCTION], tool_calls=[_call("call_1")]),
        "thinking": _responses(content=[_THOUGHT, _MESSAGE]),
        "empty": _responses(),
        "refusal": _responses(
            content=[{"type": "refusal", "refusal": "I can't help with that.", "id": "msg_1"}]
        ),
        "filtered": _responses("content_filter"),
        "cut": _responses("max_output_tokens", content=[{**_MESSAGE, "text": "I draw"}]),
    },
    "anthropic": {
        "text": _anthropic(content=TEXT),
        "parts": _anthropic(
            content=[{"text": "I draw ", "type": "text"}, {"text": "my axe.", "type": "text"}]
        ),
        "call": _anthropic("tool_use", content=[_SAID, _USED], tool_calls=[_call("toolu_01")]),
        "thinking": _anthropic(
            content=[{"signature": "c2ln", "thinking": "I am only playing.", "type": "thinking"}, _SAID]
        ),
        "empty": _anthropic(),
        "refusal": _anthropic("refusal"),
        "cut": _anthropic("max_tokens", content="I draw"),
    },
    "google_genai": {
        "text": _google(content=TEXT),
        "parts": _google(content=["I draw ", "my axe."]),
        "call": _google(additional_kwargs=_OLD_CALL, tool_calls=[_call("ea519907-1dfc-445b")]),
        "thinking": _google(content=[{"type": "thinking", "thinking": "I am only playing."}, _SAID]),
        "empty": _google(),
        "refusal": _google("SAFETY"),
        "blocked": {
            "content": "",
            "response_metadata": {"prompt_feedback": {"block_reason": "PROHIBITED_CONTENT"}},
        },
        "cut": _google("MAX_TOKENS", content="I draw"),
        "broken call": _google("MALFORMED_FUNCTION_CALL"),
    },
    "ollama": {
        "text": _ollama(content=TEXT),
        "call": _ollama(tool_calls=[_call("59b19991-d671-4ca3")]),
        "thinking": _ollama(content=f"<think>I am only playing.</think>\n\n{TEXT}"),
        "empty": _ollama(),
        "cut": _ollama("length", content="I draw"),
    },
}


def recorded(provider: str, kind: str) -> "AIMessage":
    """Return a message as LangChain gives it: `recorded("openai", "call")`."""
    from langchain_core.messages import AIMessage

    return AIMessage(**RECORDED[provider][kind])


class ServerFault(Exception):
    """An error as the providers' libraries raise it, with its status and headers."""

    def __init__(
        self, status_code: int, message: str = "", *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message or f"Error code: {status_code}")
        self.status_code = status_code
        self.response = SimpleNamespace(status_code=status_code, headers=dict(headers or {}))
