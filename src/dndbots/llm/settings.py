"""Which model plays which role, and how it is asked: from a TOML file, and from the command line over it.

    model = "openai:gpt-4o-mini"

    [dm]
    model = "anthropic:claude-sonnet-4-5"
    fallback = "openai:gpt-4o"

    [prices."openai:gpt-4o-mini"]
    input = 0.15
    output = 0.60

Prices are for a million tokens. None are on board: they change, and a wrong one is worse than none. Keys
stand in the environment and nowhere else; a file that has one is refused.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dndbots.errors import InvalidSettings
from dndbots.llm.asking import Role, Usage

HOUSE: Final = "house"  # the name of no model
FILE: Final = "dndbots.toml"
TIMEOUT: Final = 120.0
ATTEMPTS: Final = 3
# What each provider looks for in the environment; others are told by their own libraries.
KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "openai": ("OPENAI_API_KEY",),
        "anthropic": ("ANTHROPIC_API_KEY",),
        "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    }
)
_KEY_NAME = re.compile(r"(^|_|-)(key|apikey|token|secret|password)$", re.IGNORECASE)
_KEY_VALUE = re.compile(r"\b(sk-[\w-]{8,}|AIza[\w-]{20,}|gsk_\w{8,}|xai-\w{8,})")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_ADDRESS = re.compile(r"https?://[^\s@/]+(/\S*)?")
_MILLION: Final = 1_000_000


class Way(StrEnum):
    """How a model is brought to call for something: by its tools, by a schema, or by words alone."""

    AUTO = "auto"
    TOOLS = "tools"
    SCHEMA = "schema"
    WORDS = "words"


def _address(value: str) -> str:
    if value and not _ADDRESS.fullmatch(value):
        raise ValueError("is no address such as http://127.0.0.1:8080/v1, without a name or a key in it")
    return value


def _name(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("is no name of a model, such as openai:gpt-4o")
    return value.strip()


def names_server(name: str) -> bool:
    """Whether a model's name has an address in it; some providers ask it: litellm:huggingface/https://…"""
    return "//" in name


def _variable(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise ValueError("is no name of an environment variable, such as MY_SERVER_KEY")
    return value


Name = Annotated[str, AfterValidator(_name)]
Address = Annotated[str, AfterValidator(_address)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Price(_Frozen):
    """What a million tokens cost, in whatever currency; cached input costs as much as other, if not said."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None

    def of(self, usage: Usage) -> float:
        cached = min(usage.cached, usage.input)
        rate = self.input if self.cached is None else self.cached
        cost = (usage.input - cached) * self.input + cached * rate + usage.output * self.output
        return cost / _MILLION


class RoleSettings(_Frozen):
    """What is said of one role, or of all. What is not said is None.

    An empty `base_url` is the provider's own address. `key_env` names the environment variable with the key,
    where it is not the provider's own. `max_tokens` is of an answer, `timeout` in seconds for one answer.
    """

    model: Name | None = None
    base_url: Address | None = None
    key_env: Annotated[str, AfterValidator(_variable)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=16, le=1_000_000)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = None
    attempts: Annotated[int, Field(ge=1, le=20)] | None = None
    fallback: Name | None = None
    fallback_base_url: Address | None = None
    structured: Way | None = None


class ModelSettings(_Frozen):
    """How one model is asked, with nothing left open. `key` is what it is remembered by."""

    model: Name
    base_url: Address = ""
    key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = TIMEOUT
    attempts: int = ATTEMPTS
    structured: Way = Way.AUTO

    @property
    def key(self) -> str:
        return f"{self.model}@{self.base_url}" if self.base_url else self.model


class Settings(RoleSettings):
    """Of all roles, and of each. What is said of a role goes before what is said of all."""

    dm: RoleSettings = RoleSettings()
    players: RoleSettings = RoleSettings()
    npcs: RoleSettings = RoleSettings()
    summarizer: RoleSettings = RoleSettings()
    extractor: RoleSettings = RoleSettings()
    prices: Mapping[str, Price] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _the_house_needs_no_help(self) -> Self:
        if any(one.fallback == HOUSE for one in (self, *(getattr(self, part) for part in _PARTS.values()))):
            raise ValueError("fallback: the house is no model; leave it out")
        return self

    def of(self, role: Role) -> RoleSettings:
        """What counts for a role: its own, and for the rest what is said of all."""
        own: RoleSettings = getattr(self, _PARTS[role])
        both = {name: getattr(self, name) for name in RoleSettings.model_fields} | own.model_dump(
            exclude_none=True
        )
        return RoleSettings(**both)

    def models_of(self, role: Role) -> tuple[ModelSettings, ...]:
        """The model of a role and the one to fall back on, in this order; none, where the house plays."""
        said = self.of(role)
        if said.model in (None, HOUSE):
            return ()
        asked = said.model_dump(exclude_none=True, exclude={"fallback", "fallback_base_url"})
        first = ModelSettings(**asked)
        if said.fallback is None:
            return (first,)
        # Another server, another key; and what the first can do says nothing of the second.
        other = {"base_url": said.fallback_base_url or "", "key_env": None, "structured": Way.AUTO}
        return first, ModelSettings(**(asked | other | {"model": said.fallback}))


# The names of roles in a file, which are also those of the command line.
_PARTS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.DM: "dm",
        Role.PLAYER: "players",
        Role.NPC: "npcs",
        Role.SUMMARIZER: "summarizer",
        Role.EXTRACTOR: "extractor",
    }
)
ROLE_TABLES: Final = tuple(_PARTS.values())


# From a text


def read_settings(text: str, *, file: str = FILE) -> Settings:
    """The settings that a text says, in TOML."""
    try:
        said = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise InvalidSettings(file, place="", reason=f"is no TOML: {exc}") from exc
    for path, value in _walk(said):
        if path[0] != "prices":
            _refuse_key(file, path, value, said)
    try:
        return Settings.model_validate(said)
    except ValidationError as exc:
        error = exc.errors(include_url=False, include_input=False)[0]
        place, reason = _place(error["loc"]), error["msg"].removeprefix("Value error, ")
        if error["type"] == "extra_forbidden":
            reason = f"there is no such setting; there are {_settings_at(error['loc'])}"
        raise InvalidSettings(file, place=place, reason=reason) from exc


def _walk(said: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in said.items():
        yield (*path, name), value
        if isinstance(value, dict):
            yield from _walk(value, (*path, name))


def _refuse_key(file: str, path: tuple[str, ...], value: object, said: Mapping[str, Any]) -> None:
    if not (_KEY_NAME.search(path[-1]) or (isinstance(value, str) and _KEY_VALUE.search(value))):
        return
    part: Any = said.get(path[0])
    model = part.get("model") if isinstance(part, dict) else None
    provider = str(model or said.get("model") or "openai").partition(":")[0]
    variable = KEYS.get(provider, KEYS["openai"])[0]
    raise InvalidSettings(
        file,
        place=_place(path),
        reason=f"keys do not belong in a file; put it into the environment as {variable}",
    )


def _place(path: tuple[int | str, ...]) -> str:
    *table, name = map(str, path or ("",))
    return f"[{'.'.join(table)}] {name}" if table else name


def _settings_at(path: tuple[int | str, ...]) -> str:
    if len(path) == 1:
        return ", ".join(Settings.model_fields)
    return ", ".join(Price.model_fields if path[0] == "prices" else RoleSettings.model_fields)


# From the command line


def merged(
    settings: Settings,
    *,
    model: str | None = None,
    base_url: str | None = None,
    dm: str | None = None,
    players: str | None = None,
    npcs: str | None = None,
    summarizer: str | None = None,
    extractor: str | None = None,
    fallback: str | None = None,
) -> Settings:
    """What is said on the command line wins over the file.

    A model or an address for all is also for those of whom the file says otherwise; a role that is named on
    the command line goes before both.
    """
    for_all = {"model": model, "base_url": base_url, "fallback": fallback}
    named = {"dm": dm, "players": players, "npcs": npcs, "summarizer": summarizer, "extractor": extractor}
    said = settings.model_dump(exclude_none=True)
    said |= {name: value for name, value in for_all.items() if value is not None}
    for part, name in named.items():
        over = for_all | ({"model": name} if name is not None else {})
        said[part] = said[part] | {key: value for key, value in over.items() if value is not None}
    try:
        return Settings.model_validate(said)
    except ValidationError as exc:
        error = exc.errors(include_url=False, include_input=False)[0]
        reason = error["msg"].removeprefix("Value error, ")
        raise InvalidSettings("the command line", place=_place(error["loc"]), reason=reason) from exc
