"""What happened: the event, its kinds, and who perceived it.

`audience` is the one filter that every view of the campaign goes through, and `as_perceived` says what of
an event one of its audience gets.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache, partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    PrivateAttr,
    StringConstraints,
    field_validator,
    model_validator,
)

from dndbots._jsontext import as_json
from dndbots.ids import DM, LONGEST_UID, SYSTEM, check_name, check_uid

LONGEST_CONTENT: Final = 102_400
DEEPEST_METADATA: Final = 32
LARGEST_INTEGER: Final = 10**30
# What the importer of transcripts keeps in the metadata of a line: its digest.
LINE: Final = "line"


def _check_someone(who: str) -> str:
    """An entity, or one of those who sit at the table and are none."""
    return who if who in (DM, SYSTEM) else check_uid(who)


class EventType(StrEnum):
    """What kind of thing happened."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    DM_NARRATION = "dm_narration"
    PLAYER_ACTION = "player_action"
    DIALOGUE = "dialogue"
    WHISPER = "whisper"
    DICE_ROLL = "dice_roll"
    COMBAT_START = "combat_start"
    COMBAT_ROUND = "combat_round"
    COMBAT_END = "combat_end"
    DAMAGE = "damage"
    HEALING = "healing"
    CONDITION = "condition"
    DEATH = "death"
    LOCATION_CHANGE = "location_change"
    DISCOVERY = "discovery"
    LOOT = "loot"
    QUEST_UPDATE = "quest_update"
    REPUTATION_CHANGE = "reputation_change"
    SYSTEM = "system"
    SUMMARY = "summary"
    MEMORY = "memory"
    GATE = "gate"
    EXTRACTION = "extraction"
    COMPACTION = "compaction"
    USAGE = "usage"


# What the engine and the people behind it note down. Notes are no play: nobody perceives them at the
# table, so they stand in no buffer and no timeline, count no turn, and are not found by their words.
NOTES: Final = frozenset(
    (
        EventType.SUMMARY,
        EventType.MEMORY,
        EventType.GATE,
        EventType.EXTRACTION,
        EventType.COMPACTION,
        EventType.USAGE,
    )
)

Named = Annotated[str, StringConstraints(pattern=r"\S", max_length=1_000)]
# What stands in an index: short enough for one in any script and on any database.
Label = Annotated[str, StringConstraints(pattern=r"\S", max_length=200)]
# The name of a shelf or a tag, with a uid in it.
Tag = Annotated[str, StringConstraints(pattern=r"\S", max_length=LONGEST_UID + 20)]
EventId = Annotated[str, StringConstraints(pattern=r"\S", max_length=500)]
Name = Annotated[str, AfterValidator(check_name)]
_UidText = Annotated[str, StringConstraints(max_length=LONGEST_UID)]
Uid = Annotated[_UidText, AfterValidator(check_uid)]
QuestUid = Annotated[_UidText, AfterValidator(partial(check_uid, category="QST"))]
Someone = Annotated[_UidText, AfterValidator(_check_someone)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Amount = Annotated[int, Field(ge=0, le=10**12)]
Change = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
Number = Annotated[int, Field(ge=-(10**15), le=10**15)] | Annotated[float, Field(ge=-1e15, le=1e15)]


class StatedFact(BaseModel):
    """A fact that an event states: a relation (`op`, `object`) or a property (`key`, `value`).

    `ended` says that it is true no longer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    subject: Uid
    op: Literal[">", "<", "@", "in", "->", "<-", "~"] | None = None
    object: Uid | None = None
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}\z")] | None = None
    value: bool | Number | Named | Annotated[list[Number | Named], Field(min_length=1)] | None = None
    certainty: Literal["fact", "belief", "rumor"] = "fact"
    ended: bool = False

    @model_validator(mode="after")
    def _relates_or_describes(self) -> Self:
        pairs = ((self.op, self.object), (self.key, self.value))
        begun = [pair for pair in pairs if pair != (None, None)]
        if len(begun) != 1 or None in begun[0]:
            raise ValueError("a fact has either op and object, or key and value")
        return self


Layer = Literal["scene", "session", "arc", "campaign"]
ThreadKind = Literal["person", "item", "place", "quest", "promise", "threat", "debt", "mystery"]
Gating = Literal["pinned", "locked", "forgotten", "corrected"]


class MemoryNote(BaseModel):
    """What a summary or a scoped memory is: whose, on which shelf, and of what in the log.

    It was made of what its holder perceived after the event `after`, up to the event `upto`.
    `cursor` is how far the shelf has come with it, `follows` the note before it there, and `standing`
    the notes that count from now on, oldest first. `line_sources` has the sources of each line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    holder: Someone
    shelf: Tag
    layer: Layer | None = None
    after: EventId | None = None
    upto: EventId
    cursor: EventId
    follows: EventId | None = None
    standing: list[EventId] = Field(max_length=1_000)
    line_sources: list[list[EventId]] = Field(default_factory=list)
    tags: list[Tag] = Field(default_factory=list)
    related: dict[str, Named | list[Named]] = Field(default_factory=dict)


class Gate(BaseModel):
    """What a person decided on an event or a memory: for one holder, or for all who perceived it.

    A correction has the new text; without one, it is taken back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    target: EventId
    what: Gating
    on: bool = True
    text: Annotated[str, StringConstraints(pattern=r"\S", max_length=LONGEST_CONTENT)] | None = None
    holder: Someone | None = None

    @model_validator(mode="after")
    def _only_corrections_have_text(self) -> Self:
        if (self.text is not None) != (self.what == "corrected" and self.on):
            raise ValueError("a correction has a text, and nothing else has")
        return self


class ThreadNote(BaseModel):
    """Something that may come back: opened with a kind and a text, touched by its id, closed by a state."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Label
    kind: ThreadKind | None = None
    text: Named | None = None
    about: list[Uid] = Field(default_factory=list)
    state: Label | None = None

    @model_validator(mode="after")
    def _is_opened_whole(self) -> Self:
        if (self.kind is None) != (self.text is None):
            raise ValueError("a thread is opened with both a kind and a text")
        return self


class CompactionNote(BaseModel):
    """What a run of compaction did with some turns, beside the facts that it read out of them.

    `rejected` counts what was refused, by rule; `rejections` has the first of them, with the reason.
    `held` are proposals that wait for a person, `decided` what became of some, `scenes` and
    `narratives` what the turns told, each by its id.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: Label
    turns: Count = 0
    tokens: Count = 0
    kept_tokens: Count = 0
    proposed: Count = 0
    updates: Count = 0
    repeated: Count = 0
    rejected: dict[Label, Count] = Field(default_factory=dict)
    rejections: list[JsonValue] = Field(default_factory=list, max_length=200)
    milliseconds: Count = 0
    held: dict[Label, JsonValue] = Field(default_factory=dict)
    decided: dict[Label, Label] = Field(default_factory=dict)
    scenes: dict[Label, JsonValue] = Field(default_factory=dict)
    narratives: dict[Label, JsonValue] = Field(default_factory=dict)


class UsageNote(BaseModel):
    """What a model took in one role, in one step of play, and what of its answers was not used.

    Tokens are as its provider counts them; `counted` is what we had counted, `cost` is in millionths of
    whatever money its price is in, and not there where no price is known. `reports` has, answer by answer,
    both counts of the input. `calls` counts the tools that it called for, `faults` says what was wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    role: Annotated[str, StringConstraints(pattern=r"^\S{1,40}\z")]
    model: Annotated[str, StringConstraints(pattern=r"\S", max_length=120)]
    answers: Count
    input: Amount = 0
    output: Amount = 0
    cached: Amount = 0
    counted: Amount = 0
    milliseconds: Amount = 0
    cost: Amount | None = None
    reports: list[Annotated[list[Amount], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list, max_length=20
    )
    calls: dict[Label, Count] = Field(default_factory=dict)
    faults: list[Label] = Field(default_factory=list, max_length=20)


class KnownMetadata(BaseModel):
    """The metadata that the engine understands. Anything else is kept as it is.

    `names` says what entities are called (the first is the name, others are aliases); `same_as` that
    one turned out to be another; `despite_death` why a dead creature acts; `valid_from` which earlier
    event the facts speak of; `speakers` who is heard for the first time in this session; `together`
    who speaks with one voice; `threads` what may come back; `said_by` whose word extracted facts are.
    `introduced_to` says who learns a name from this event, where not all do. `memory`, `gate`,
    `compaction` and `usage` are those of notes.
    """

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    location: Uid | None = None
    participants: list[Someone] = Field(default_factory=list)
    witnesses: list[Someone] | None = None
    told_to: list[Someone] = Field(default_factory=list)
    enemies: list[Uid] = Field(default_factory=list)
    enemy_count: Count | None = None
    killed: list[Uid] = Field(default_factory=list)
    killed_by: Someone | list[Someone] | None = None
    revived: list[Uid] = Field(default_factory=list)
    despite_death: Named | None = None
    names: dict[Someone, Name | Annotated[list[Name], Field(min_length=1)]] = Field(default_factory=dict)
    introduced_to: dict[Someone, list[Someone]] = Field(default_factory=dict)
    same_as: dict[Uid, Uid] = Field(default_factory=dict)
    discovered: list[Uid] = Field(default_factory=list)
    reputation: dict[Uid, Change] = Field(default_factory=dict)
    quest_id: QuestUid | None = None
    quest_state: Named | None = None
    objective_id: Label | None = None
    objective_state: Named | None = None
    act_id: Label | None = None
    act_state: Named | None = None
    encounter_id: Label | None = None
    encounter_state: Named | None = None
    danger_level: Named | None = None
    loot: list[JsonValue] = Field(default_factory=list)
    hp_delta: Change | dict[Uid, Change] | None = None
    conditions: list[Label] | dict[Uid, list[Label]] = Field(default_factory=list)
    facts: list[StatedFact] = Field(default_factory=list)
    valid_from: EventId | None = None
    speakers: list[Someone] = Field(default_factory=list)
    together: list[Someone] = Field(default_factory=list)
    threads: list[ThreadNote] = Field(default_factory=list)
    memory: MemoryNote | None = None
    gate: Gate | None = None
    compaction: CompactionNote | None = None
    usage: UsageNote | None = None
    said_by: Someone | None = None
    npcs_mentioned: list[Named] = Field(default_factory=list)
    sources: list[Named] = Field(default_factory=list)


class GameEvent(BaseModel):
    """One thing that happened. Time and order are given, never taken from a clock here."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    event_id: EventId
    event_type: EventType
    source: Label
    content: str = Field(max_length=LONGEST_CONTENT)
    session_id: Label
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    timestamp: datetime | None = None
    turn: Annotated[int, Field(ge=0, le=2**53)] | None = None
    seq: NonNegativeInt | None = None

    @field_validator("event_id", "source", "content", "session_id")
    @classmethod
    def _can_be_stored(cls, text: str) -> str:
        return _check_storable(text)

    @field_validator("source")
    @classmethod
    def _a_character_goes_by_its_uid(cls, source: str) -> str:
        return check_uid(source, where="source") if source.startswith("pc_") else source

    @field_validator("metadata")
    @classmethod
    def _metadata_is_sound(cls, metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
        KnownMetadata.model_validate(metadata)
        for key, value in metadata.items():
            check_json(value, where=_check_storable(key))
        return metadata

    # The metadata as it was checked. A dictionary can be changed in place, and then says so.
    _sealed: str = PrivateAttr(default="")
    # The metadata that were read as a typed value, and that value: many ask for it.
    _read: "tuple[dict[str, JsonValue], KnownMetadata] | None" = PrivateAttr(default=None)

    def model_post_init(self, _context: Any, /) -> None:
        self._sealed = as_json(self.metadata)

    def __eq__(self, other: object) -> bool:
        """By what it says; in which order the metadata were written does not count."""
        return isinstance(other, GameEvent) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    @property
    def known(self) -> KnownMetadata:
        """The metadata that the engine understands, typed. It was checked when the event was made."""
        private, metadata = self.__pydantic_private__ or {}, self.metadata
        read: tuple[dict[str, JsonValue], KnownMetadata] | None = private.get("_read")
        if read is None or read[0] is not metadata:
            read = private["_read"] = metadata, _as_known(metadata)
        return read[1]

    @property
    def is_note(self) -> bool:
        """Whether it is about the memory of what was played, rather than play."""
        return self.event_type in NOTES

    @property
    def is_as_checked(self) -> bool:
        """Whether the metadata still is what it was when the event was made."""
        try:
            return self.metadata_text == as_json(self.metadata)
        except (TypeError, ValueError, RecursionError):
            return False

    def placed(self, seq: int | None, metadata: dict[str, JsonValue] | None = None) -> "GameEvent":
        """A copy with its place in the log, or without one, and other metadata if they are given."""
        if metadata is None:
            return GameEvent.restored(
                {**self.__dict__, "seq": seq},
                self.metadata_text,
                (self.__pydantic_private__ or {}).get("_read"),
            )
        return GameEvent.restored({**self.__dict__, "seq": seq, "metadata": metadata}, as_json(metadata))

    @classmethod
    def restored(cls, fields: dict[str, Any], metadata_text: str, read: Any = None) -> "GameEvent":
        """An event that was checked before, from all its fields: what `model_construct` does, but fast."""
        event = cls.__new__(cls)
        _set(event, "__dict__", fields)
        _set(event, "__pydantic_fields_set__", _FIELDS)
        _set(event, "__pydantic_extra__", None)
        _set(event, "__pydantic_private__", {"_sealed": metadata_text, "_read": read})
        return event

    @property
    def metadata_text(self) -> str:
        """The metadata as JSON, as it was when the event was made."""
        # Past pydantic's lookup of private attributes, which costs more than all the rest.
        text: str = (self.__pydantic_private__ or {}).get("_sealed", "")
        return text


_set = object.__setattr__
_FIELDS: Final = set(GameEvent.model_fields)
_MODELS: Final[dict[str, type[BaseModel]]] = {
    "facts": StatedFact,
    "threads": ThreadNote,
    "memory": MemoryNote,
    "gate": Gate,
    "compaction": CompactionNote,
    "usage": UsageNote,
}
_NOTHING_KNOWN: Final = {
    name: field.get_default(call_default_factory=True) for name, field in KnownMetadata.model_fields.items()
}


def _as_known(metadata: dict[str, JsonValue]) -> KnownMetadata:
    """Checked metadata as a typed value, without checking it again: views read it a million times over."""
    fields: dict[str, Any] = _NOTHING_KNOWN.copy()
    fields.update({key: value for key, value in metadata.items() if key in _NOTHING_KNOWN})
    for key, model in _MODELS.items():
        if fields[key]:
            given = fields[key]
            many = isinstance(given, list)
            fields[key] = (
                [model.model_validate(one) for one in given] if many else model.model_validate(given)
            )
    known = KnownMetadata.__new__(KnownMetadata)
    _set(known, "__dict__", fields)
    _set(known, "__pydantic_fields_set__", _fields_set(tuple(metadata)))
    _set(known, "__pydantic_extra__", {})
    _set(known, "__pydantic_private__", None)
    return known


# Most events have the same few keys, and a view has many events at hand.
@lru_cache(maxsize=256)
def _fields_set(keys: tuple[str, ...]) -> set[str]:
    return set(keys)


def _check_storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds a NUL character, which cannot be stored as text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, which cannot be stored as text") from None
    return text


def is_storable(text: str) -> bool:
    try:
        _check_storable(text)
    except ValueError:
        return False
    return True


def check_json(value: JsonValue, *, where: str, depth: int = 0) -> None:
    """Unknown values are kept as they are, so they must be what JSON can hold and give back."""
    if depth > DEEPEST_METADATA:
        raise ValueError(f"{where}: nested deeper than {DEEPEST_METADATA} levels")
    if isinstance(value, str):
        _check_storable(value)
    elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{where}: an integer of more than 30 digits")
    elif isinstance(value, list):
        # Thousands may have perceived an event: their uids are looked at together.
        is_words = value and all(type(inner) is str for inner in value)
        for inner in [" ".join(map(str, value))] if is_words else value:
            check_json(inner, where=where, depth=depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_json(inner, where=_check_storable(key), depth=depth + 1)


def audience(event: GameEvent) -> frozenset[str]:
    """Who perceived an event: its source, participants, witnesses, those told, and always the DM."""
    if event.event_type is EventType.EXTRACTION:
        # The engine read it out of something that these perceived, and is nobody at the table.
        return frozenset((DM, *_named(event.metadata)))
    return frozenset((DM, event.source, *_named(event.metadata)))


def as_perceived(event: GameEvent, viewer: str) -> GameEvent:
    """The event as one of its audience gets it; the DM gets it as it is.

    The source, the participants and those told are part of what happened, so all who perceive it see them.
    Who else witnessed it is not: of the witnesses, a viewer sees itself and nobody else.
    """
    if viewer == DM:
        return event
    shown = dict(event.metadata)
    witnesses = shown.get("witnesses")
    if isinstance(witnesses, list):
        own: list[JsonValue] = [viewer] if viewer in witnesses else []
        if own or not (shown.get("participants") or shown.get("told_to")):
            shown["witnesses"] = own
        else:
            # Whether nobody else was there, or it was left open, looks the same.
            del shown["witnesses"]
    learners = learners_of(event)
    if learners:
        names: dict[str, JsonValue] = {**event.metadata["names"]}  # type: ignore[dict-item]
        shown["names"] = {
            uid: name for uid, name in names.items() if uid not in learners or viewer in learners[uid]
        }
        if not shown["names"]:
            del shown["names"]
    for key in _KEPT_FOR_THE_DM:
        shown.pop(key, None)
    return event if shown == event.metadata else event.placed(event.seq, shown)


_KEPT_FOR_THE_DM: Final = (LINE, "introduced_to")


def learners_of(event: GameEvent) -> dict[str, frozenset[str]]:
    """The names in an event that not all who perceive it learn from it, and who does, beside the DM.

    The names of mere witnesses of a line of a transcript are there for the DM alone, and themselves.
    """
    metadata = event.metadata
    if "names" not in metadata or not ("introduced_to" in metadata or LINE in metadata):
        return {}
    known, people = event.known, audience(event)
    learners = {uid: people.intersection((DM, *some)) for uid, some in known.introduced_to.items()}
    if LINE in metadata:
        seen = (event.source, *known.participants, *known.told_to)
        mere = frozenset(known.witnesses or ()).difference(seen)
        learners |= {uid: frozenset((DM, uid)) for uid in mere}
    return {uid: some for uid, some in learners.items() if uid in known.names}


def _named(metadata: Mapping[str, Any]) -> list[str]:
    return [who for key in ("participants", "witnesses", "told_to") for who in metadata.get(key) or ()]
