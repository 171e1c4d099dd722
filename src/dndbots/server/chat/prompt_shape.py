"""The shape of a prompt: where the memory goes, and which old lines are left out because of it."""

from collections.abc import Collection, Sequence
from typing import Any

from dndbots.ids import DM
from dndbots.interop.history.alignment import loose_key
from dndbots.memory.context import Context
from dndbots.server.chat.play_lines import PlayLine, PlayReading
from dndbots.tokens import count_tokens


def add_memory(
    messages: Sequence[dict[str, Any]],
    reading: PlayReading,
    context: Context | None,
    *,
    drops: Collection[int],
) -> list[dict[str, Any]]:
    """Return the messages to send on: the memory after the client's own prompt, before the history.

    A client that merges roles gets the memory inside of its first message, since its model may refuse two
    system messages. `drops` are positions to leave out.
    """
    kept = [message for position, message in enumerate(messages) if position not in drops]
    if context is None or not kept:
        return kept or [{"role": "user", "content": context.prompt if context is not None else ""}]
    text = context.prompt
    if reading.is_merged and isinstance(kept[0].get("content"), str):
        first = kept[0]
        merged = {**first, "content": f"{first['content']}\n\n{text}"}
        if first.get("role") not in ("system", "developer"):
            merged["content"] = f"{text}\n\n{first['content']}"
        return [merged, *kept[1:]]
    at = reading.memory_at - sum(position < reading.memory_at for position in drops)
    return [*kept[:at], {"role": "system", "content": text}, *kept[at:]]


def cut_lines(messages: list[dict[str, Any]], lines: Sequence[PlayLine], drops: Collection[int]) -> set[int]:
    """Cut unperceived lines out of messages that hold others too; return the positions to drop whole.

    `drops` are positions in `lines`. Messages are replaced, never changed.
    """
    whole: set[int] = set()
    for position in sorted({lines[at].position for at in drops}):
        unheard = [lines[at].text for at in drops if lines[at].position == position]
        content = messages[position].get("content")
        if sum(line.position == position for line in lines) == len(unheard) or not isinstance(content, str):
            whole.add(position)
            continue
        ends = tuple(loose_key(part) for text in unheard for part in text.split("\n\n"))
        left = [part for part in content.split("\n\n") if not loose_key(part).endswith(ends)]
        messages[position] = {**messages[position], "content": "\n\n".join(left)}
        if any(loose_key(text) in loose_key("\n\n".join(left)) for text in unheard):
            whole.add(position)
    return whole


def keep_newest(lines: Sequence[PlayLine], budget: int, *, already: Collection[int]) -> set[int]:
    """Return the positions of old lines to leave out, so that the rest fits a number of tokens.

    The newest line always stays.
    """
    drops: set[int] = set()
    total = 0
    for line in reversed(lines):
        if line.position in already:
            continue
        total += count_tokens(line.text)
        if total > budget and line is not lines[-1]:
            drops.add(line.position)
    return drops


def find_unperceived(
    lines: Sequence[PlayLine],
    viewer: str,
    perceived: Collection[str],
    heard: Sequence[Collection[str] | None],
) -> set[int]:
    """Return which lines a viewer did not perceive.

    `perceived` are the texts that it did, as far as they are recorded. The newest replies are not yet, so
    `heard` has for each line who heard it, or None for everybody.
    """
    last = max((number for number, line in enumerate(lines) if line.is_user), default=-1)
    drops = {at for at, line in enumerate(lines[: last + 1]) if loose_key(line.text) not in perceived}
    return drops | {
        at
        for at, who in enumerate(heard)
        if at > last and who is not None and viewer not in who and viewer != DM
    }
