"""Cache marks: tell a provider which part of a prompt stays the same, where it does not find out by itself.

Anthropic keeps a prompt up to a mark, and only if it is asked to. The mark stands where this prompt and the
one before it in the same seat begin to differ, so that the next one finds its beginning in the cache.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

_MARKED: Final = ("anthropic:", "claude", "bedrock:anthropic", "vertexai:claude", "google_vertexai:claude")
_MARK: Final = {"type": "ephemeral"}
_MOST_SEATS: Final = 64
# A shorter beginning is not kept by any provider: it takes 1,024 tokens.
_SHORTEST: Final = 2_000


def wants_marks(name: str) -> bool:
    """Check for a model whose provider keeps prompts only up to a mark."""
    return name.casefold().startswith(_MARKED)


class CacheMarks:
    """Marks the stable beginning of each seat's prompt. Without `wanted`, messages stay as they are."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._before: OrderedDict[str, str] = OrderedDict()

    def mark(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages, with a mark in the system prompt after what the last one had, too."""
        first, *others = messages
        is_system = isinstance(first, tuple) and first[0] == "system"
        if not self._wanted or not is_system:
            return list(messages)
        text = str(first[1])
        seat = text.partition("\n")[0]
        same = _common(self._before.pop(seat, text), text)
        self._before[seat] = text
        while len(self._before) > _MOST_SEATS:
            self._before.popitem(last=False)
        stable = text if same == text else same[: same.rfind("\n") + 1]
        if len(stable) < _SHORTEST:
            return list(messages)
        parts = [{"type": "text", "text": stable, "cache_control": _MARK}]
        if text[len(stable) :].strip():
            parts.append({"type": "text", "text": text[len(stable) :]})
        return [{"role": "system", "content": parts}, *others]


def _common(one: str, other: str) -> str:
    """Return the beginning that two texts share."""
    length = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other))] if length is None else one[:length]
