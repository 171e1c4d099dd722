"""The values of a module: frozen, strict and documented."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from dndbots.game import adventures
from dndbots.game.adventures import Module, load, module

FERRY = Path(__file__).parent / "ferry.yaml"
PAGE = Path(__file__).parents[3] / "docs" / "modules.md"
KINDS = [
    kind
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, module.Value) and kind is not module.Value
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_page_tells_of_every_field(kind: type[module.Value]) -> None:
    """docs/modules.md names every field."""
    said = set(re.findall(r"`(\w+)`", PAGE.read_text("utf-8")))
    fields = {field.alias or name for name, field in kind.model_fields.items()} - {"label"}
    assert fields <= said


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_value_is_frozen_and_strict(kind: type[module.Value]) -> None:
    """Values do not change during play, and misspelled fields are refused."""
    assert kind.model_config.get("frozen")
    assert kind.model_config.get("extra") == "forbid"


def test_a_module_cannot_be_changed() -> None:
    """A module stays what its file says."""
    module = load(FERRY)
    with pytest.raises(ValidationError):
        module.title = "Another"  # type: ignore[misc]


def test_a_module_survives_a_dump() -> None:
    """As plain data, and as JSON."""
    module = load(FERRY)
    assert Module.model_validate(module.model_dump(by_alias=True)) == module
    assert Module.model_validate_json(module.model_dump_json(by_alias=True)) == module


def test_an_entry_that_claims_another_key_is_refused() -> None:
    """An entry cannot have a key other than its own."""
    with pytest.raises(ValidationError, match="'yard' has another key, 'cell', inside"):
        Module.model_validate(
            {"title": "A", "start": "yard", "places": {"yard": {"name": "Y", "key": "cell"}}}
        )


@pytest.mark.parametrize(("title", "key"), [("The Old Mill", "the_old_mill"), ("3 Kings", "module_3_kings")])
def test_a_module_goes_by_its_title(title: str, key: str) -> None:
    """The module's key is made from its title and is always a valid key."""
    assert Module(title=title, start="yard", places={"yard": {"name": "Y"}}).key == key  # type: ignore[call-arg]


def test_odds_are_two_numbers() -> None:
    """`1 in 6` becomes two numbers."""
    wandering = load(FERRY).places["reeds"].wandering
    assert wandering
    assert wandering.odds == (1, 6)


def test_every_exported_name_is_there() -> None:
    """Every exported name can be imported."""
    assert all(getattr(adventures, name) is not None for name in adventures.__all__)
