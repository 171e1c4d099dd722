"""Events: their kinds, their metadata, and who perceived them.

`audience` is the one filter of every view of the campaign. `as_perceived` is an event as one member of its
audience sees it.
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

from dndbots._jsontext import as_json, check_json, check_storable
from dndbots.ids import DM, LONGEST_UID, SYSTEM, check_name, check_uid

LONGEST_CONTENT: Final = 102_400
# Metadata keys of what was imported: the digest of a line, a chat and its own fields, lore, a persona.
LINE, CHAT, CHAT_FIELDS = "line", "chat", "chat_fields"
LORE, PERSONA = "lore", "persona"


def _check_someone(who: str) -> str:
    """Return a uid, or the DM or the system, which have none."""
    return who if who in (DM, SYSTEM) else check_uid(who)


class EventType(StrEnum):
    """The kind of an event."""

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


# Notes of the engine and of the people behind it. They are not play: nobody at the table perceives them, so
# they are in no buffer and no timeline, count no turn, and are not found by their words.
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
# Text in an index: short enough in any script and for any database.
LONGEST_LABEL: Final = 200
Label = Annotated[str, StringConstraints(pattern=r"\S", max_length=LONGEST_LABEL)]
# The name of a shelf or a tag; it may contain a uid.
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

    `ended` says that it is no longer true.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

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
            raise ValueError("give a fact either op and object, or key and value")
        return self


Layer = Literal["scene", "session", "arc", "campaign"]
ThreadKind = Literal["person", "item", "place", "quest", "promise", "threat", "debt", "mystery"]
Gating = Literal["pinned", "locked", "forgotten", "corrected"]


class MemoryNote(BaseModel):
    """A summary or a scoped memory: its holder, its shelf, and the part of the log that it covers.

    It was made of what its holder perceived after the event `after`, up to the event `upto`. `cursor` is the
    last event that the shelf covers with it, `follows` the note before it on the shelf, and `standing` the
    notes that count from now on, oldest first. `line_sources` has the sources of each line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

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
    """A person's decision on an event or a memory: for one holder, or for all who perceived it.

    A correction has the new text. With `on=False` a decision is taken back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    target: EventId
    what: Gating
    on: bool = True
    text: Annotated[str, StringConstraints(pattern=r"\S", max_length=LONGEST_CONTENT)] | None = None
    holder: Someone | None = None

    @model_validator(mode="after")
    def _only_corrections_have_text(self) -> Self:
        if (self.text is not None) != (self.what == "corrected" and self.on):
            raise ValueError("give a text with a correction, and with nothing else")
        return self


class ThreadNote(BaseModel):
    """A thread of the story: opened with a kind and a text, touched by its id, closed by a state."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    id: Label
    kind: ThreadKind | None = None
    text: Named | None = None
    about: list[Uid] = Field(default_factory=list)
    state: Label | None = None

    @model_validator(mode="after")
    def _is_opened_whole(self) -> Self:
        if (self.kind is None) != (self.text is None):
            raise ValueError("open a thread with both a kind and a text")
        return self


class CompactionNote(BaseModel):
    """The result of a compaction run, beside the facts that it read out of the turns.

    `rejected` counts refused updates by rule; `rejections` has the first of them, with the reason. `held` are
    proposals that wait for a person, and `decided` the decisions on them. `scenes` and `narratives` are those
    of the turns, by id.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

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
    """The tokens, time and cost of a model in one role, in one step of play.

    Tokens are as the provider counts them; `counted` is our own count. `cost` is in millionths of the
    currency of the price, and None if no price is known. `reports` has both counts of the input, answer by
    answer. `calls` counts the tools that the model called, and `faults` lists what was wrong. `cuts` counts
    the sentences that guards cut from its answers, by kind; `fallbacks` the answers that the house gave
    instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

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
    cuts: dict[Label, Count] = Field(default_factory=dict)
    fallbacks: Amount = 0
    faults: list[Label] = Field(default_factory=list, max_length=20)


class KnownMetadata(BaseModel):
    """The metadata that the engine understands. Any other key is kept as it is.

    `names` has the names of entities (the first is the name, others are aliases); `same_as` says that one
    turned out to be another; `despite_death` why a dead creature acts; `valid_from` is the earlier event that
    the facts speak of; `speakers` are heard for the first time in this session; `together` speak with one
    voice; `threads` are opened, touched or closed; `said_by` is the speaker of extracted facts;
    `introduced_to` lists who learns a name from this event, if not all do. `memory`, `gate`, `compaction` and
    `usage` belong to notes.
    """

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, defer_build=True)

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
    """An event of the log. Time and order are given, never taken from a clock here."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

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
        return check_storable(text)

    @field_validator("source")
    @classmethod
    def _a_character_goes_by_its_uid(cls, source: str) -> str:
        return check_uid(source, where="source") if source.startswith("pc_") else source

    @field_validator("metadata")
    @classmethod
    def _metadata_is_sound(cls, metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
        KnownMetadata.model_validate(metadata)
        for key, value in metadata.items():
            check_json(value, where=check_storable(key))
        return metadata

    # The metadata as checked, to notice if somebody changes the dictionary in place.
    _sealed: str = PrivateAttr(default="")
    # The metadata that were read last, and their typed value: it is needed often.
    _read: "tuple[dict[str, JsonValue], KnownMetadata] | None" = PrivateAttr(default=None)

    def model_post_init(self, _context: Any, /) -> None:
        self._sealed = as_json(self.metadata)

    def __eq__(self, other: object) -> bool:
        """Compare all fields; the order of the metadata keys does not count."""
        return isinstance(other, GameEvent) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    @property
    def known(self) -> KnownMetadata:
        """The metadata that the engine understands, as a typed value."""
        private, metadata = self.__pydantic_private__ or {}, self.metadata
        read: tuple[dict[str, JsonValue], KnownMetadata] | None = private.get("_read")
        if read is None or read[0] is not metadata:
            read = private["_read"] = metadata, _as_known(metadata)
        return read[1]

    @property
    def is_note(self) -> bool:
        """True if the event is a note of the engine, not play."""
        return self.event_type in NOTES

    @property
    def is_as_checked(self) -> bool:
        """True if nobody changed the metadata since the event was made."""
        try:
            return self.metadata_text == as_json(self.metadata)
        except (TypeError, ValueError, RecursionError):
            return False

    def placed(self, seq: int | None, metadata: dict[str, JsonValue] | None = None) -> "GameEvent":
        """Return a copy with a `seq` of the log or without, and with other metadata if given."""
        if metadata is None:
            return GameEvent.restored(
                {**self.__dict__, "seq": seq},
                self.metadata_text,
                (self.__pydantic_private__ or {}).get("_read"),
            )
        return GameEvent.restored({**self.__dict__, "seq": seq, "metadata": metadata}, as_json(metadata))

    @classmethod
    def restored(cls, fields: dict[str, Any], metadata_text: str, read: Any = None) -> "GameEvent":
        """Return an event from fields that were checked before: like `model_construct`, but faster."""
        event = cls.__new__(cls)
        _set(event, "__dict__", fields)
        _set(event, "__pydantic_fields_set__", _FIELDS)
        _set(event, "__pydantic_extra__", None)
        _set(event, "__pydantic_private__", {"_sealed": metadata_text, "_read": read})
        return event

    @property
    def metadata_text(self) -> str:
        """The metadata as JSON, as they were when the event was made."""
        # Not by pydantic's lookup of private attributes: it costs more than all the rest.
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
    """Return checked metadata as a typed value, without checking them again: views read millions."""
    fields: dict[str, Any] = _NOTHING_KNOWN.copy()
    fields.update({key: value for key, value in metadata.items() if key in _NOTHING_KNOWN})
    for key, model in _MODELS.items():
        if fields[key]:
            value = fields[key]
            is_list = isinstance(value, list)
            fields[key] = list(map(model.model_validate, value)) if is_list else model.model_validate(value)
    known = KnownMetadata.__new__(KnownMetadata)
    _set(known, "__dict__", fields)
    _set(known, "__pydantic_fields_set__", _fields_set(tuple(metadata)))
    _set(known, "__pydantic_extra__", {})
    _set(known, "__pydantic_private__", None)
    return known


# Most events have the same few keys, and a view holds many events.
@lru_cache(maxsize=256)
def _fields_set(keys: tuple[str, ...]) -> set[str]:
    return set(keys)


def audience(event: GameEvent) -> frozenset[str]:
    """Return everybody who perceived an event: source, participants, witnesses, those told, and the DM."""
    if event.event_type is EventType.EXTRACTION:
        # Its source is the engine, which is nobody at the table.
        return frozenset((DM, *_named(event.metadata)))
    return frozenset((DM, event.source, *_named(event.metadata)))


def as_perceived(event: GameEvent, viewer: str) -> GameEvent:
    """Return the event as one member of its audience sees it; the DM sees it as it is.

    The source, the participants and those told are part of the event, so the whole audience sees them. Of
    the witnesses, a viewer only sees itself.
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
            # An empty list and no list at all must look the same.
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


_KEPT_FOR_THE_DM: Final = (LINE, CHAT, CHAT_FIELDS, LORE, "introduced_to")


def learners_of(event: GameEvent) -> dict[str, frozenset[str]]:
    """Return the names in an event that only some of its audience learn, and who learns each.

    In a line of a transcript, only the DM and the witness learn the name of a mere witness.
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
