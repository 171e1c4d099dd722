"""Entities, facts and timeline entries as the campaign returns them: values without a link to the store."""

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, computed_field, field_validator

from dndbots.canon import claims

CertaintyName = Literal["fact", "belief", "rumor"]
_Model = TypeVar("_Model", bound=BaseModel)
_new, _set = object.__new__, object.__setattr__


def restore_model(kind: type[_Model], fields: dict[str, Any]) -> _Model:
    """Return a frozen model from all its fields, without checking them again."""
    model = _new(kind)
    _set(model, "__dict__", fields)
    _set(model, "__pydantic_fields_set__", _fields_of(kind))
    _set(model, "__pydantic_extra__", None)
    _set(model, "__pydantic_private__", None)
    return model


@cache
def _fields_of(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


class Fact(BaseModel):
    """A fact about a subject: a relation (`op`, `object`) or a property (`key`, `value`).

    `valid_from` is the event since which it is true, `learned_from` the event that said so, and
    `superseded_by` the one that ended it; the viewer perceived all three. For a fact that was extracted from
    the words of an event, `learned_from` is that event, and `extracted_in` is the extraction note.
    """

    model_config = ConfigDict(frozen=True)

    subject: str
    key: str | None = None
    value: JsonValue = None
    op: str | None = None
    object: str | None = None
    ended: bool = False
    certainty: CertaintyName = "fact"
    how: str = "perceived"
    said_by: str | None = None
    valid_from: str
    learned_from: str
    superseded_by: str | None = None
    extracted_in: str | None = None

    @classmethod
    def restored(cls, **fields: Any) -> "Fact":
        """Return a fact from stored fields, without checking them again."""
        return restore_model(cls, fields)


class HeldFact(BaseModel):
    """A fact and somebody who holds it."""

    model_config = ConfigDict(frozen=True)

    holder: str
    fact: Fact


class Entity(BaseModel):
    """An entity as one viewer knows it now, or knew it as of an event."""

    model_config = ConfigDict(frozen=True)

    uid: str
    category: str | None
    name: str
    aliases: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    @field_validator("facts", mode="after")
    @classmethod
    def _no_killer_of_the_living(cls, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Drop `killed_by` while somebody of the group lives, or after a revival."""
        if not any(fact.key == "killed_by" for fact in facts) or not _is_alive(facts):
            return facts
        return tuple(fact for fact in facts if fact.key != "killed_by")

    @cached_property
    def _surest(self) -> dict[str, Fact]:
        return _surest_of(self.facts)

    def _related(self, op: str) -> str | None:
        found = [
            fact
            for fact in self.facts
            if fact.op == op and fact.object and not fact.ended and not fact.object.startswith("fac_")
        ]
        return min(found, key=lambda fact: fact.certainty != "fact").object if found else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def alive(self) -> bool:
        """True unless the entity, or everybody in the group, is dead."""
        return _is_alive(self.facts)

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def location(self) -> str | None:
        """The uid of the place where the entity is, as far as known."""
        return self._related(claims.AT) or self._related(claims.IN)

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def properties(self) -> dict[str, JsonValue]:
        """Values by plain keys: hp, gold, state, danger and any other stated key."""
        return {key: fact.value for key, fact in sorted(self._surest.items()) if " " not in key}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that last, such as `poisoned`."""
        return tuple(name for name, value in self._listed(claims.CONDITION).items() if value is True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def inventory(self) -> dict[str, int]:
        """The items that the entity has, with their number."""
        items = self._listed(claims.ITEM).items()
        return {name: number for name, number in items if isinstance(number, int) and number > 0}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def objectives(self) -> dict[str, JsonValue]:
        """The objectives of a quest, with their state."""
        return self._listed(claims.OBJECTIVE)

    def _listed(self, kind: str) -> dict[str, JsonValue]:
        starts = f"{kind} "
        return {
            key.removeprefix(starts): fact.value
            for key, fact in sorted(self._surest.items())
            if key.startswith(starts)
        }


def _surest_of(facts: Iterable[Fact]) -> dict[str, Fact]:
    """Return for each key the newest fact, or else the newest belief or rumor."""
    rank = {"fact": 0, "belief": 1, "rumor": 2}
    found: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda fact: rank[fact.certainty]):
        if fact.key is not None and not fact.ended:
            found.setdefault(fact.key, fact)
    return found


def _is_alive(facts: Iterable[Fact]) -> bool:
    """Return True if anybody is left, of one creature or of a group under one uid."""
    number = _surest_of(fact for fact in facts if fact.key == claims.NUMBER).get(claims.NUMBER)
    return number is None or not isinstance(number.value, int) or number.value > 0


class Moment(BaseModel):
    """An entry of a timeline, with the names that the viewer knows. `to` are those whom a whisper is for."""

    model_config = ConfigDict(frozen=True)

    event_id: str
    kind: str
    session: str
    turn: int | None = None
    time: str | None = None
    who: str
    where: str | None = None
    text: str
    to: tuple[str, ...] = ()

    @property
    def teller(self) -> str:
        """Return who speaks or acts, and to whom if it is a whisper."""
        return f"{self.who} (whispers to {' and '.join(self.to)})" if self.to else self.who


class Milestone(BaseModel):
    """An act or an encounter, and its state."""

    model_config = ConfigDict(frozen=True)

    id: str
    state: str
    since: str
