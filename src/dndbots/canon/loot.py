"""What changes hands: the entries of an event's `loot`, and whom a bare number or list is about."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from dndbots.events import GameEvent, KnownMetadata, Label, Uid
from dndbots.ids import PARTY_UID, is_uid

_MOST = 1_000_000_000


class Loot(BaseModel):
    """`"rope"`, `{"item": "rope", "quantity": 2, "to": uid}` or `{"gold": 50}`; `from` takes away."""

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
        return self.item is None and not self.gold


def loot_of(entry: JsonValue) -> Loot:
    """An entry of `loot`, typed; pydantic's error where it is none."""
    return Loot(item=entry) if isinstance(entry, str) else Loot.model_validate(entry)


def holder_of(event: GameEvent, known: KnownMetadata) -> str:
    """Who takes what an event gives to nobody by name: its actor, its only participant, or the party."""
    if is_uid(event.source):
        return event.source
    return known.participants[0] if len(known.participants) == 1 else PARTY_UID


def sufferer_of(event: GameEvent, known: KnownMetadata) -> str | None:
    """Whom a bare `hp_delta` or `conditions` is about: the one other participant, or else the actor."""
    others = [who for who in dict.fromkeys(known.participants) if who != event.source]
    if len(others) == 1:
        return others[0]
    return event.source if not others and is_uid(event.source) else None
