"""Settings: which model plays which role, and how to ask it. Read from TOML; the command line overrides.

    model = "openai:gpt-4o-mini"

    [dm]
    model = "anthropic:claude-sonnet-4-5"
    fallback = "openai:gpt-4o"

    [prices."openai:gpt-4o-mini"]
    input = 0.15
    output = 0.60

Prices are for a million tokens. None are built in: they change, and a wrong price is worse than none. Keys
belong into the environment; a file that holds one is refused.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dndbots.errors import InvalidSettings
from dndbots.llm.protocol import Role, Usage
from dndbots.llm.timeouts import ATTEMPTS, TIMEOUT

HOUSE: Final = "house"  # the name of no model
FILE: Final = "dndbots.toml"
# Environment variables of providers; for others, their libraries say what is missing.
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
    """The way a model calls tools: by its own tool calls, by a schema, or in words."""

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
    """Return whether a model's name holds an address, as in litellm:huggingface/https://…"""
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
    """The price of a million tokens, in any currency.

    Cached input costs the same as other input by default.
    """

    input: Dollars
    output: Dollars
    cached: Dollars | None = None

    def of(self, usage: Usage) -> float:
        cached = min(usage.cached, usage.input)
        rate = self.input if self.cached is None else self.cached
        cost = (usage.input - cached) * self.input + cached * rate + usage.output * self.output
        return cost / _MILLION


class RoleSettings(_Frozen):
    """Settings of one role, or of all roles. None means not set.

    An empty `base_url` is the provider's own address. `key_env` names the environment variable with the key,
    if it is not the provider's default. `max_tokens` limits an answer; `timeout` is in seconds for one
    answer.
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
    """Complete settings for asking one model. `key` identifies it in caches."""

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
    """Settings of all roles and of each role. A role's own settings win."""

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
        """Return the settings of a role, completed by those of all roles."""
        own: RoleSettings = getattr(self, _PARTS[role])
        both = {name: getattr(self, name) for name in RoleSettings.model_fields} | own.model_dump(
            exclude_none=True
        )
        return RoleSettings(**both)

    def models_of(self, role: Role) -> tuple[ModelSettings, ...]:
        """Return the model of a role, then its fallback; nothing if the house plays."""
        said = self.of(role)
        if said.model in (None, HOUSE):
            return ()
        asked = said.model_dump(exclude_none=True, exclude={"fallback", "fallback_base_url"})
        first = ModelSettings(**asked)
        if said.fallback is None:
            return (first,)
        # Another server has another key, and other abilities.
        other = {"base_url": said.fallback_base_url or "", "key_env": None, "structured": Way.AUTO}
        return first, ModelSettings(**(asked | other | {"model": said.fallback}))


# Names of roles, in a file and on the command line.
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
    """Read settings from TOML text."""
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
    """Return the file's settings with the command line's on top.

    A model or address given for all roles also replaces what the file says of single roles; a role named on
    the command line wins over both.
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


_SMALL_MODEL: Final = 4.0  # billions of parameters
_SIZE: Final = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)


def is_small_model(name: str) -> bool:
    """Check for a name that says fewer than four billion parameters: `qwen2.5-1.5b`, `smollm2-135m`."""
    sizes = [float(size) / (1_000 if unit in "mM" else 1) for size, unit in _SIZE.findall(name)]
    return bool(sizes) and max(sizes) < _SMALL_MODEL
