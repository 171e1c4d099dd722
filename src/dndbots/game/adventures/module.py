"""An adventure as plain data: a module, its places, people, items, quests and happenings.

Every field has a sensible default, so a module of twenty lines can be played. Each value validates itself;
`module_checks` checks that keys refer to something.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from dndbots.game.adventures.fields import (
    Dice,
    Gold,
    Key,
    Keys,
    Line,
    Price,
    Text,
    Texts,
    Topic,
    Topics,
    When,
    add_keys,
    number_entries,
    wrap_single,
)
from dndbots.ids import slug

Mood = Literal["hostile", "wary", "friendly", "roll"]
Save = Literal["death", "wands", "paralysis", "breath", "spells"]
VoiceStyle = Literal["plain", "gruff", "sly", "kind", "grand", "frightened"]
ONE_WAY: Final = "no"
# Fields under `module:` in a file.
HEADER: Final = (
    "key", "title", "by", "licence", "levels", "opening", "season", "weather", "hour", "start",
)  # fmt: skip


class Value(BaseModel):
    """A frozen model that refuses unknown fields: a misspelled one would be lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _blank_is_not_said(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: value for key, value in data.items() if value is not None or key not in fields}


class ModuleFact(Value):
    """A fact about an entity, learned by everybody who perceives it."""

    about: Key
    properties: Mapping[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}\z")], Line
    ] = Field(alias="is", min_length=1)


Facts = Annotated[tuple[ModuleFact, ...], BeforeValidator(wrap_single)]


class Exit(Value):
    """A way to another place. `back` names the way back if the default does not fit; `no` means none."""

    label: Line
    to: Key
    looks: Text | None = None
    hidden: bool = False
    locked: Key | None = None
    stuck: bool = False
    when: When | None = None
    back: Line | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_is_a_word(cls, data: Any) -> Any:
        one_way = isinstance(data, Mapping) and str(data.get("back", "")).casefold() in ("no", "false")
        return {**data, "back": ONE_WAY} if one_way else data


class Trap(Value):
    """A trap on a thing."""

    looks: Text = "a trap"
    damage: Dice = "1d6"
    save: Save = "death"


class Thing(Value):
    """Something to look at, search or take from. Its contents can be taken once."""

    key: Key
    looks: Line
    hidden: bool = False
    text: Text | None = None
    gold: Gold = 0
    items: Keys = ()
    trap: Trap | None = None
    teaches: Facts = ()
    topics: Topics = ()
    when: When | None = None
    once: bool = True


class Wanderers(Value):
    """Foes without a place of their own."""

    monster: Line
    number: Dice = "1"
    name: Line | None = None


class Foes(Wanderers):
    """Foes at a place, to fight or talk to. `guards` names the things and exits they block."""

    key: Key
    mood: Mood = "roll"
    when: When | None = None
    says: Texts = ()
    gold: Gold = 0
    items: Keys = ()
    guards: Annotated[tuple[Line, ...], BeforeValidator(wrap_single)] = ()
    leader: Key | None = None


class Wandering(Value):
    """Wandering monsters. The chance applies to each check."""

    chance: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]? in [1-9][0-9]?\z")] = "1 in 6"
    foes: Annotated[tuple[Wanderers, ...], BeforeValidator(wrap_single), Field(min_length=1)]

    @property
    def odds(self) -> tuple[int, int]:
        times, _, of = self.chance.partition(" in ")
        return int(times), int(of)


def _exits(value: Any) -> Any:
    """`north: mill` is short for `north: {to: mill}`."""
    if isinstance(value, Mapping):
        value = {label: {"to": way} if isinstance(way, str) else way for label, way in value.items()}
    return add_keys(value, field="label")


class Place(Value):
    key: Key
    name: Line
    looks: Texts = ()
    again: Texts = ()
    safe: bool = False
    dark: bool = False
    setting: Literal["outdoors", "indoors", "below"] | None = None
    exits: Annotated[Mapping[Line, Exit], BeforeValidator(_exits)] = {}
    things: Annotated[Mapping[Key, Thing], BeforeValidator(add_keys)] = {}
    people: Keys = ()
    foes: Annotated[Mapping[Key, Foes], BeforeValidator(add_keys)] = {}
    wandering: Wandering | None = None
    sounds: Texts = ()


class Saying(Value):
    """A person's words about a topic, for listeners they trust enough. The DM knows if it is a lie."""

    key: Key
    about: Annotated[Topics, Field(min_length=1)]
    says: Text
    when: When | None = None
    needs: int = Field(default=0, ge=0, le=10)
    lie: bool = False
    teaches: Facts = ()
    topics: Topics = ()
    once: bool = False


class PersonReaction(Value):
    """A person's one-time comment on the party's deeds, when they meet again."""

    key: Key
    when: When
    says: Text | None = None
    trust: int = Field(default=0, ge=-10, le=10)


class Person(Value):
    """A person. `seen_as` serves until the name is known; only the DM reads `wants` and `secret`.

    `role` is what the neighbors know them as; nobody speaks of a person without one. The neighbors do not
    know where a `hidden` person is. `patience` is how often they can be bargained with. `wares` have prices,
    as in `beer: 2 cp`. `life` has their own words about themselves: `self`, `work`, `home`,
    `family`, `sells`, `past`, `mood`, or any other topic.
    """

    key: Key
    name: Line
    seen_as: Line
    role: Line | None = None
    hidden: bool = False
    life: Mapping[Key, Text] = {}
    greets: Texts = ()
    wants: Text | None = None
    secret: Text | None = None
    voice: VoiceStyle = "plain"
    trust: int = Field(default=5, ge=0, le=10)
    patience: int = Field(default=2, ge=0, le=10)
    wares: Mapping[Line, Price] = {}
    knows: tuple[Saying, ...] = ()
    reacts: tuple[PersonReaction, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _number_what_it_says(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        owner = data.get("key")
        return {
            **data,
            **{field: number_entries(data[field], owner) for field in ("knows", "reacts") if field in data},
        }


class Item(Value):
    """Something to carry. Who eats or drinks it gets the condition that it `causes`, for some rounds."""

    key: Key
    name: Line
    looks: Text | None = None
    worth: Gold = 0
    use: Text | None = None
    causes: Line | None = None
    rounds: int = Field(default=3, ge=1, le=100)


class Reward(Value):
    """Gold, experience and items for an ending. A giver can be bargained up to the `most` gold."""

    gold: Gold = 0
    most: Gold | None = None
    xp: int = Field(default=0, ge=0, le=1_000_000)
    items: Keys = ()


class QuestStep(Value):
    """A step of a quest."""

    key: Key
    text: Text
    when: When


class Ending(Value):
    """An ending of a quest. The first ending whose condition holds is told."""

    key: Key
    when: When
    text: Text | None = None
    state: Key = "completed"
    reward: Reward | None = None
    by: Key | None = None
    at: Key | None = None


class ModuleQuest(Value):
    """A quest, offered by its giver or begun by itself. The story ends soon after its `main` quest."""

    key: Key
    name: Line
    main: bool = False
    giver: Key | None = None
    offer: Text | None = None
    goal: Text | None = None
    begins: When | None = None
    reward: Reward = Reward()
    steps: Annotated[Mapping[Key, QuestStep], BeforeValidator(add_keys)] = {}
    endings: Annotated[Mapping[Key, Ending], BeforeValidator(add_keys), Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _what_goes_without_saying(cls, data: Any) -> Any:
        """Fill in defaults: it begins on meeting the giver and ends when all steps are done."""
        if not isinstance(data, Mapping):
            return data
        said = dict(data)
        if isinstance(said.get("giver"), str):
            said["begins"] = said.get("begins") or f"met {said['giver']}"
        steps = said.get("steps")
        if not (isinstance(steps, Mapping) and steps):
            return said
        all_done = " and ".join(f"step {said.get('key')}.{step} done" for step in steps)
        endings = said.get("endings") or {"done": {}}
        if isinstance(endings, Mapping):
            said["endings"] = {
                key: {"when": all_done, **ending} if isinstance(ending, Mapping) else ending
                for key, ending in add_keys(endings).items()
            }
        return said

    def reward_of(self, ending: Ending) -> Reward:
        return self.reward if ending.reward is None else ending.reward

    @property
    def most(self) -> int:
        """The most gold that the giver can be bargained up to: a quarter more, if the module says nothing."""
        gold = self.reward.gold
        return max(gold, gold + gold // 4 if self.reward.most is None else self.reward.most)


class ModuleThread(Value):
    """A loose end that a happening leaves."""

    kind: Literal["promise", "threat", "debt", "mystery"]
    text: Line


class Happening(Value):
    """An event that occurs on its own, at one place or wherever the party is."""

    key: Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9_]{0,59}|[1-9][0-9]{0,3})\z")]
    when: When | None = None
    text: Text
    at: Key | None = None
    once: bool = True
    topics: Topics = ()
    teaches: Facts = ()
    moves: Mapping[Key, Key] = {}
    foes: Mapping[Key, Foes] = {}
    thread: ModuleThread | None = None

    @model_validator(mode="before")
    @classmethod
    def _foes_have_keys(cls, data: Any) -> Any:
        """Give foes without a key one made from the happening and the place."""
        foes = data.get("foes") if isinstance(data, Mapping) else None
        if not isinstance(foes, Mapping):
            return data
        made = {
            place: {"key": f"happening_{data.get('key')}_{place}", **some}
            if isinstance(some, Mapping)
            else some
            for place, some in foes.items()
        }
        return {**data, "foes": made}


class Module(Value):
    """A whole adventure. `ways`, `things` and `foes` look across places; `words` has synonyms of topics."""

    key: Key
    title: Line
    by: Line | None = None
    licence: Line | None = None
    levels: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,2}(-[0-9]{1,2})?\z")] = "1-3"
    opening: Text | None = None
    season: Literal["spring", "summer", "autumn", "winter"] | None = None
    weather: Annotated[
        tuple[Literal["snow", "rain", "wind", "fog", "sun"], ...], BeforeValidator(wrap_single)
    ] = ()
    hour: Annotated[str, StringConstraints(pattern=r"^([01]?[0-9]|2[0-3]):[0-5][0-9]\z")] = "9:00"
    start: Key
    places: Annotated[Mapping[Key, Place], BeforeValidator(add_keys), Field(min_length=1)]
    people: Annotated[Mapping[Key, Person], BeforeValidator(add_keys)] = {}
    items: Annotated[Mapping[Key, Item], BeforeValidator(add_keys)] = {}
    quests: Annotated[Mapping[Key, ModuleQuest], BeforeValidator(add_keys)] = {}
    happenings: Annotated[tuple[Happening, ...], BeforeValidator(number_entries)] = ()
    words: Mapping[Topic, Topics] = {}

    @model_validator(mode="before")
    @classmethod
    def _goes_by_its_title(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        title = data.get("title")
        name = slug(title) if isinstance(title, str) and title.strip() else "module"
        return {"key": name if name[0].isalpha() else f"module_{name}", **data}

    @property
    def level_range(self) -> tuple[int, int]:
        lowest, _, highest = self.levels.partition("-")
        return int(lowest), int(highest or lowest)

    @cached_property
    def ways(self) -> Mapping[str, Mapping[str, Exit]]:
        """Map each place to its ways out by label: the written ones and the ways back.

        A way back is never hidden, locked or stuck, even if its other side is. It exists while the way there
        does.
        """
        ways = {place.key: dict(place.exits) for place in self.places.values()}
        for place, way in self._ways_there():
            there = ways.get(way.to)
            if there is None or any(back.to == place.key for back in there.values()):
                continue
            label = way.back or place.name
            there.setdefault(label, Exit(label=label, to=place.key, when=way.when))
        return ways

    def _ways_there(self) -> Iterator[tuple[Place, Exit]]:
        for place in self.places.values():
            for way in place.exits.values():
                if way.back != ONE_WAY:
                    yield place, way

    @cached_property
    def things(self) -> Mapping[str, Thing]:
        return {key: thing for place in self.places.values() for key, thing in place.things.items()}

    @cached_property
    def foes(self) -> Mapping[str, Foes]:
        """All foes by key, those of happenings included."""
        here = {key: foes for place in self.places.values() for key, foes in place.foes.items()}
        later = {foes.key: foes for happening in self.happenings for foes in happening.foes.values()}
        return {**here, **later}

    @cached_property
    def foes_at(self) -> Mapping[str, str]:
        """Map foes to their first place; foes of happenings have none yet."""
        return {key: place.key for place in self.places.values() for key in place.foes}

    @cached_property
    def person_at(self) -> Mapping[str, str]:
        """Map people to their first place, alone or as a leader of foes."""
        led = {foes.leader: place for key, place in self.foes_at.items() if (foes := self.foes[key]).leader}
        return {
            **{key: place for key, place in led.items() if key},
            **{key: place.key for place in self.places.values() for key in place.people},
        }
