"""The tables of the rules: TOML files beside the code, read once and checked when they are read."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from dndbots.errors import NotInRules
from dndbots.rules.dicetree import parsed


class Entry(BaseModel):
    """One row of a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


NamedEntry = TypeVar("NamedEntry", bound=Named)


def _rollable(expression: str) -> str:
    return parsed(expression).expression


DiceText = Annotated[str, AfterValidator(_rollable)]


@lru_cache(maxsize=16)
def table(name: str) -> Mapping[str, Any]:
    """A data file as it is written."""
    text = resources.files("dndbots.rules").joinpath("data", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def key_of(name: str) -> str:
    """A name as it is looked up: any case, any spaces, dashes and underscores alike."""
    return " ".join(re.split(r"[\s_-]+", name.casefold().replace("\u2019", "'"))).strip()


def by_name(entries: Iterable[NamedEntry]) -> dict[str, NamedEntry]:
    """Entries by their names and aliases. Two of the same name are a fault of the table."""
    found: dict[str, NamedEntry] = {}
    for entry in entries:
        for name in (entry.name, *entry.aliases):
            if key_of(name) in found:
                raise ValueError(f"{name!r} stands for {found[key_of(name)].name} and {entry.name}")
            found[key_of(name)] = entry
    return found


def unique(entries: Mapping[str, NamedEntry]) -> tuple[NamedEntry, ...]:
    """Each entry once, in the order of its table."""
    return tuple({entry.name: entry for entry in entries.values()}.values())


def find(name: object, entries: Mapping[str, NamedEntry], *, error: type[NotInRules]) -> NamedEntry:
    """The entry of that name, or an error that lists the names there are."""
    found = entries.get(key_of(name)) if isinstance(name, str) else None
    if found is None:
        raise error(name, known=sorted({entry.name for entry in entries.values()}))
    return found
