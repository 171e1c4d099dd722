"""Outcomes of the rules: values with their dice, one line of text, and a JSON form for events."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from pydantic import BaseModel

from dndbots.rules.dice import Roll

# A field with this is for the caller only, and not part of the JSON form.
NOT_RECORDED: Final = {"recorded": False}


def as_data(value: object) -> Any:
    """Return any value of the rules as JSON: objects by their fields, tuples as lists."""
    match value:
        case Roll():
            data: Any = value.as_data()
        case Outcome():
            data = {name: inner for name, inner in value.as_data().items() if name != "rolls"}
        case BaseModel():
            data = value.model_dump(mode="json")
        case Mapping():
            data = {str(key): as_data(inner) for key, inner in value.items()}
        case list() | tuple():
            data = [as_data(inner) for inner in value]
        case _:
            data = value
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A decision of the rules. `text` is one line that a person can check against `rolls`."""

    rolls: tuple[Roll, ...]
    text: str

    def as_data(self) -> dict[str, Any]:
        """Return the outcome as JSON.

        Nested outcomes leave out their rolls, which are all in `rolls` here.
        """
        recorded = [one.name for one in fields(self) if one.metadata.get("recorded", True)]
        return {name: as_data(getattr(self, name)) for name in recorded}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Outcome):
    """A roll against a number. `total` is the roll with its bonus, `target` the number to reach."""

    total: int
    target: int
    success: bool


def signed(number: int) -> str:
    """Write a bonus as it stands in a sum: ` + 2`, ` - 1`, or nothing."""
    return f" {'-' if number < 0 else '+'} {abs(number)}" if number else ""


def with_bonus(dice: str, bonus: int) -> str:
    """Join dice and a bonus into one expression: `1d8+2`."""
    return f"{dice}{bonus:+d}" if bonus else dice
