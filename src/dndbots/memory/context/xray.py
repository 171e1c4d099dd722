"""A context and its X-ray: each line with its cost, reason and sources, and the lines that were left out."""

from collections.abc import Collection
from functools import lru_cache
from typing import Final, Literal, get_args

from pydantic import BaseModel, ConfigDict

# From the most to the least stable section; the text has the same order.
Section = Literal[
    "names",
    "identity",
    "adventure",
    "quests",
    "place",
    "people",
    "pinned",
    "memories",
    "story",
    "known",
    "deeds",
    "open",
    "knowledge",
    "lately",
    "recent",
    "scene",
    "asked",
]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
RECENT: Final = "## Recent Events"
_LONGEST_KEPT: Final = 1_000


def whole_prompt(beside: str, text: str) -> str:
    """Return a prompt: the text that stands `beside` a context, and then the context."""
    return "\n\n".join(filter(None, (beside, text)))


class ContextItem(BaseModel):
    """A line of a context.

    `tokens` is the cost of the line, newline included. `reason` says why the line is there or why it was left
    out, `sources` are the ids of the events that it comes from.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    section: Section
    reason: str
    sources: tuple[str, ...] = ()


def item_of(
    text: str, tokens: int, section: Section, reason: str, sources: tuple[str, ...] = ()
) -> ContextItem:
    """Return a line of a context, cached: most lines stay from turn to turn."""
    make = _kept_item if len(text) <= _LONGEST_KEPT else _new_item
    return make(text, tokens, section, reason, sources)


def _new_item(text: str, tokens: int, section: Section, reason: str, sources: tuple[str, ...]) -> ContextItem:
    """Make an item without validation, for speed: the engine's own values are valid."""
    item = ContextItem.__new__(ContextItem)
    fields = {"text": text, "tokens": tokens, "section": section, "reason": reason, "sources": sources}
    _set(item, "__dict__", fields)
    _set(item, "__pydantic_fields_set__", _FIELDS)
    _set(item, "__pydantic_extra__", None)
    _set(item, "__pydantic_private__", None)
    return item


_set = object.__setattr__
_FIELDS: Final = set(ContextItem.model_fields)
_kept_item = lru_cache(maxsize=1 << 12)(_new_item)


class Context(BaseModel):
    """A viewer's knowledge as text for a model: never more tokens than the budget, by exact count.

    `beside` is the other text of the prompt: rules, a sheet, secrets. With it, the budget is that of the
    whole `prompt`, which has `prompt_tokens`.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    budget: int
    encoding: str
    query: str | None = None
    text: str
    tokens: int
    items: tuple[ContextItem, ...] = ()
    dropped: tuple[ContextItem, ...] = ()
    beside: str = ""
    prompt_tokens: int

    @property
    def prompt(self) -> str:
        """Return the whole prompt: `beside` first, then the text, which changes more often."""
        return whole_prompt(self.beside, self.text)

    def prompt_without(self, told: Collection[str]) -> str:
        """Return the prompt without the newest lines whose events are in `told`: the question shows them."""
        gone = [
            item
            for item in self.items
            if item.section == "recent" and item.sources and told and set(item.sources) <= set(told)
        ]
        if not gone:
            return self.prompt
        kept, rest = self.prompt.rpartition(f"{RECENT}\n")[::2]
        lines = rest.split("\n")
        for item in gone:
            if item.text in lines:
                lines.remove(item.text)
        head = "" if not lines or lines[0].startswith("## ") or not "".join(lines) else f"{RECENT}\n"
        return f"{kept}{head}{chr(10).join(lines)}".rstrip("\n")

    @property
    def meter(self) -> dict[Section, int]:
        """Return the tokens of each section. The rest of `tokens` is headings and the guide."""
        spent = dict.fromkeys(SECTIONS, 0)
        for item in self.items:
            spent[item.section] += item.tokens
        return {section: tokens for section, tokens in spent.items() if tokens}

    def __str__(self) -> str:
        return self.text
