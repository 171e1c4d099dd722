"""A context and its X-ray: what went in, why, what it costs, where it comes from, and what was left out."""

from functools import lru_cache
from typing import Final, Literal, get_args

from pydantic import BaseModel, ConfigDict

# From the most to the least stable, which is also the order in the text.
Section = Literal[
    "names",
    "identity",
    "quests",
    "story",
    "known",
    "deeds",
    "pinned",
    "memories",
    "open",
    "lately",
    "recent",
    "scene",
    "asked",
]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
_LONGEST_KEPT: Final = 1_000


def whole_prompt(beside: str, text: str) -> str:
    return "\n\n".join(filter(None, (beside, text)))


class ContextItem(BaseModel):
    """One line. `tokens` is what it adds to the text, with the names that it newly needs.

    `reason` says why it is there, or why it was left out; `sources` are the events that it comes from.
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
    """A line of a context. Most of them stand there turn after turn."""
    make = _kept_item if len(text) <= _LONGEST_KEPT else _new_item
    return make(text, tokens, section, reason, sources)


def _new_item(text: str, tokens: int, section: Section, reason: str, sources: tuple[str, ...]) -> ContextItem:
    """Made of what the engine wrote, so that nothing is checked: a prompt has a hundred of them."""
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
    """What a viewer knows, as text for a model: never more tokens than the budget, by exact count.

    `beside` is what else stands in the prompt: rules, a sheet, secrets. If there is any, the budget is
    that of the whole `prompt`, which has `prompt_tokens`.
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
        """What stands beside, and then the text, which changes more often."""
        return whole_prompt(self.beside, self.text)

    @property
    def meter(self) -> dict[Section, int]:
        """How many tokens each section takes; the rest of `tokens` is headings, and the guide."""
        spent = dict.fromkeys(SECTIONS, 0)
        for item in self.items:
            spent[item.section] += item.tokens
        return {section: tokens for section, tokens in spent.items() if tokens}

    def __str__(self) -> str:
        return self.text
