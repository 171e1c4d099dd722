"""Loot: the entries of an event's `loot`, and the person that a bare number or list is about."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from dndbots.events import GameEvent, KnownMetadata, Label, Uid
from dndbots.ids import PARTY_UID, is_uid

_MOST = 1_000_000_000


class Loot(BaseModel):
    """An item or gold: `"rope"`, `{"item": "rope", "quantity": 2, "to": uid}` or `{"gold": 50}`.

    `from` takes it from somebody.
    """

    model_config = ConfigDict(frozen=True, strict=True, populate_by_name=True)

    item: Annotated[Label | None, Field(validation_alias=AliasChoices("item", "name"))] = None
    quantity: Annotated[
        int, Field(ge=-_MOST, le=_MOST, validation_alias=AliasChoices("quantity", "count"))
    ] = 1
    gold: Annotated[int, Field(ge=-_MOST, le=_MOST)] = 0
    to: Uid | None = None
    giver: Annotated[Uid | None, Field(validation_alias="from")] = None

    @property
    def is_empty(self) -> bool:
        """True if it names neither an item nor gold."""
        return self.item is None and not self.gold


def loot_of(entry: JsonValue) -> Loot:
    """Return an entry of `loot` as a typed value, or raise pydantic's ValidationError."""
    return Loot(item=entry) if isinstance(entry, str) else Loot.model_validate(entry)


def holder_of(event: GameEvent, known: KnownMetadata) -> str:
    """Return who takes loot without a `to`: the actor, the only participant, or the party."""
    if is_uid(event.source):
        return event.source
    return known.participants[0] if len(known.participants) == 1 else PARTY_UID


def sufferer_of(event: GameEvent, known: KnownMetadata) -> str | None:
    """Return whom a bare `hp_delta` or `conditions` is about: the only other participant, or the actor."""
    others = [who for who in dict.fromkeys(known.participants) if who != event.source]
    if len(others) == 1:
        return others[0]
    return event.source if not others and is_uid(event.source) else None
