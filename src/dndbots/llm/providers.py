"""Open a chat model by name, `provider:name`, through LangChain. Only this module knows providers.

Nothing is loaded before a model is opened, and opening one uses no network. The providers' own retries are
switched off: ours are in `retry`.
"""

import importlib
import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from dndbots.errors import NoSuchPlayer
from dndbots.ids import short
from dndbots.llm.responses.answer_size import limit_answers
from dndbots.llm.settings import HOUSE, KEYS, ModelSettings
from dndbots.llm.troubles import hidden, trouble_of

# Extras that install a provider.
_EXTRAS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai": "openai",
        "azure_openai": "openai",
        "anthropic": "anthropic",
        "google_genai": "google",
        "ollama": "ollama",
    }
)
_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "langchain_openai": "openai",
        "langchain_anthropic": "anthropic",
        "langchain_google_genai": "google_genai",
        "langchain_ollama": "ollama",
    }
)
# Local servers want no key, and the library insists on one.
PLACEHOLDER: Final = "none"
_KEY_ENDINGS: Final = ("_KEY", "_TOKEN", "_SECRET")
_SHORTEST_KEY: Final = 6  # shorter values are no keys, and occur in ordinary words
_PACKAGE = re.compile(r"pip install [-U ]*([\w-]+)")
_KEY_WANTED = re.compile(r"api[_ ]?key|credential|environment variable", re.IGNORECASE)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN)\b")


def open_model(settings: ModelSettings, *, environ: Mapping[str, str] | None = None) -> Any:
    """Open the chat model of these settings. `NoSuchPlayer` says in one line what to do if that fails."""
    if settings.model == HOUSE:
        raise NoSuchPlayer(HOUSE, reason="the house plays without a model, and there is none to open")
    env = os.environ if environ is None else environ
    provider, name = _provider_of(settings)
    if not name:
        raise NoSuchPlayer(
            settings.model, reason="it has no name; write provider:name, such as openai:gpt-4o"
        )
    make = _factory(settings, provider)
    key = _key(settings, provider, env)
    fields = _fields(settings, provider, key)
    try:
        model = make(name, model_provider=provider, **fields)
    except Exception as exc:
        # Each library has its own errors for missing parts. Some repeat their input.
        reason = short(hidden(_reason(exc, provider), secrets_in(settings, env)))
        raise NoSuchPlayer(settings.model, reason=reason) from exc
    inferred = _MODULES.get(type(model).__module__.partition(".")[0])
    if provider is None and inferred in KEYS:
        _key(settings, inferred, env)
    limit_answers(model)
    return model


def list_models(settings: ModelSettings, *, environ: Mapping[str, str] | None = None) -> list[str]:
    """Ask a server for the names of its models. Raises `NoSuchPlayer` if it does not say."""
    client = open_model(settings, environ=environ).root_client
    try:
        return [str(one.id) for one in client.models.list().data]
    except Exception as exc:  # libraries raise whatever they like
        trouble = trouble_of(exc, hides=secrets_in(settings, environ))
        reason = (
            f"its list of models cannot be had ({trouble.reason}); name one with --model, or leave "
            "--base-url out, and the house plays"
        )
        raise NoSuchPlayer(settings.base_url, reason=reason) from exc


def secrets_in(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the keys in the environment that may be sent with a question, so that nothing repeats them."""
    env = os.environ if environ is None else environ
    named = (name for name in env if name == settings.key_env or name.upper().endswith(_KEY_ENDINGS))
    return tuple(env[name] for name in named if len(env[name]) >= _SHORTEST_KEY)


def _provider_of(settings: ModelSettings) -> tuple[str | None, str]:
    """Return the provider and the name it knows; None for the provider if LangChain should infer it.

    A custom server has names of its own: a name without a provider is one of those.
    """
    prefix, colon, name = settings.model.partition(":")
    if colon and prefix in _EXTRAS:
        return prefix, name
    return ("openai", settings.model) if settings.base_url else (None, settings.model)


def _factory(settings: ModelSettings, provider: str | None) -> Any:
    try:
        return importlib.import_module("langchain.chat_models").init_chat_model
    except ImportError as exc:
        extra = _EXTRAS.get(provider or "", "openai")
        raise NoSuchPlayer(
            settings.model,
            reason=f"the package langchain is not installed; pip install 'dndbots[{extra}]'",
        ) from exc


def _key(settings: ModelSettings, provider: str | None, env: Mapping[str, str]) -> str | None:
    """Return the key to pass, if the library would not find it by itself."""
    if settings.key_env:
        if not env.get(settings.key_env):
            raise NoSuchPlayer(
                settings.model, reason=f"there is no key; set {settings.key_env} in the environment"
            )
        return env[settings.key_env]
    wanted = KEYS.get(provider or "", ())
    if not wanted or any(env.get(variable) for variable in wanted):
        return next((env[variable] for variable in wanted if env.get(variable)), None)
    if settings.base_url:
        return PLACEHOLDER
    raise NoSuchPlayer(
        settings.model,
        reason=f"there is no key; set {wanted[0]} in the environment, or base_url for a server of your own",
    )


def _fields(settings: ModelSettings, provider: str | None, key: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {"temperature": settings.temperature}
    if provider == "ollama":
        # It has other names for these, and silently ignores unknown ones.
        said |= {"num_predict": settings.max_tokens, "client_kwargs": {"timeout": settings.timeout}}
    else:
        said |= {"max_tokens": settings.max_tokens, "timeout": settings.timeout, "max_retries": 0}
    if provider == "openai":
        said |= {"stream_usage": True}
        if settings.base_url:
            # Servers other than OpenAI's know the older name, and the older interface.
            said |= {"max_tokens": None, "use_responses_api": False}
            said["extra_body"] = {"max_tokens": settings.max_tokens} if settings.max_tokens else None
    said |= {"base_url": settings.base_url or None, "api_key": key}
    return {name: value for name, value in said.items() if value is not None}


def _reason(exc: Exception, provider: str | None) -> str:
    told = str(exc)
    if isinstance(exc, ImportError):
        extra = _EXTRAS.get(provider or "")
        package = _PACKAGE.search(told)
        what = f"'dndbots[{extra}]'" if extra else package.group(1) if package else exc.name or "its package"
        return f"its provider's package is not installed; pip install {what}"
    if isinstance(exc, ValueError) and ("infer" in told or "nsupported" in told) and "provider" in told:
        return "no such provider is known; write provider:name, such as openai:gpt-4o, or give a base_url"
    if _KEY_WANTED.search(told):
        variables = list(dict.fromkeys(_VARIABLE.findall(told)))
        return f"there is no key; set {variables[0] if variables else 'its key'} in the environment"
    return f"{type(exc).__name__}: {told}"
