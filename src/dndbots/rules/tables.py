"""The tables of the rules: TOML files beside the code, read once and checked when they are read."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from dndbots.errors import NotInRules
from dndbots.rules.dice_tree import parsed


class TableEntry(BaseModel):
    """A row of a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HasNames(Protocol):
    """Anything with a name and aliases."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


NamedEntry = TypeVar("NamedEntry", bound=HasNames)


def _rollable(expression: str) -> str:
    return parsed(expression).expression


DiceText = Annotated[str, AfterValidator(_rollable)]


@lru_cache(maxsize=16)
def table(name: str) -> Mapping[str, Any]:
    """Return a data file as it is written."""
    text = resources.files("dndbots.rules").joinpath("data", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def key_of(name: str) -> str:
    """Return a name as it is looked up: lower case, with spaces, dashes and underscores alike."""
    return " ".join(re.split(r"[\s_-]+", name.casefold().replace("\u2019", "'"))).strip()


def by_name(entries: Iterable[NamedEntry]) -> dict[str, NamedEntry]:
    """Return entries by their names and aliases. Raises if two share a name."""
    found: dict[str, NamedEntry] = {}
    for entry in entries:
        for name in (entry.name, *entry.aliases):
            if key_of(name) in found:
                raise ValueError(f"{name!r} stands for {found[key_of(name)].name} and {entry.name}")
            found[key_of(name)] = entry
    return found


def unique(entries: Mapping[str, NamedEntry]) -> tuple[NamedEntry, ...]:
    """Return each entry once, in the order of its table."""
    return tuple({entry.name: entry for entry in entries.values()}.values())


def find(name: object, entries: Mapping[str, NamedEntry], *, error: type[NotInRules]) -> NamedEntry:
    """Return the entry of that name, or raise an error that lists the known names."""
    found = entries.get(key_of(name)) if isinstance(name, str) else None
    if found is None:
        raise error(name, known=sorted({entry.name for entry in entries.values()}))
    return found
