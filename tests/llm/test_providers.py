"""A model by its name: what is missing is told in one line, with what to do about it."""

import importlib
import sys
from typing import Any

import pytest

from dndbots.errors import NoSuchPlayer
from dndbots.llm.providers import open_model
from dndbots.llm.settings import ModelSettings

KEYED = {"OPENAI_API_KEY": "sk-tops3cret"}


def opened(model: str, environ: dict[str, str] | None = None, **fields: Any) -> Any:
    return open_model(ModelSettings(model=model, **fields), environ=KEYED if environ is None else environ)


def refused(model: str, environ: dict[str, str] | None = None, **fields: Any) -> str:
    with pytest.raises(NoSuchPlayer) as caught:
        opened(model, environ, **fields)
    told = str(caught.value)
    assert len(told.splitlines()) == 1
    assert "tops3cret" not in told
    return told


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_model_is_opened_as_it_is_set() -> None:
    """By its whole name, or by one whose provider can be told; retries are ours alone."""
    model = opened("openai:gpt-4o-mini", temperature=0.5, max_tokens=300, timeout=7)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4o-mini", 0.5, 300)
    assert (model.max_retries, model.request_timeout, model.stream_usage) == (0, 7, True)
    assert model.openai_api_key.get_secret_value() == "sk-tops3cret"


def test_a_plain_name_is_what_langchain_infers_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library finds the key by itself."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-tops3cret")
    model = opened("gpt-4o")
    assert (type(model).__name__, model.model_name) == ("ChatOpenAI", "gpt-4o")


def test_a_server_of_ones_own_needs_no_key_and_has_names_of_its_own() -> None:
    """Colons are a part of them."""
    for name, known in (
        ("openai:smollm2", "smollm2"),
        ("llama3.1:8b", "llama3.1:8b"),
        ("mistral-7b", "mistral-7b"),
    ):
        model = opened(name, {}, base_url="http://127.0.0.1:1/v1", max_tokens=99)
        assert (type(model).__name__, model.model_name) == ("ChatOpenAI", known)
        assert model.openai_api_base == "http://127.0.0.1:1/v1"
        assert model.extra_body == {"max_tokens": 99}


def test_a_key_may_stand_under_a_name_of_ones_own() -> None:
    """Nobody else's key is sent to that server."""
    model = opened("x", {**KEYED, "MY_KEY": "abc"}, base_url="http://127.0.0.1:1/v1", key_env="MY_KEY")
    assert model.openai_api_key.get_secret_value() == "abc"
    assert "set MY_KEY in the environment" in refused("x", base_url="http://127.0.0.1:1/v1", key_env="MY_KEY")


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt-4o", "OPENAI_API_KEY"),
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_API_KEY"),
    ],
)
def test_without_a_key_the_variable_is_named(name: str, variable: str) -> None:
    """Before anything of the provider is loaded, where its name says whose it is."""
    assert f"there is no key; set {variable} in the environment" in refused(name, {})
    assert variable in refused(name, dict.fromkeys((variable,), ""))


@pytest.mark.parametrize("name", ["nobody:gpt", "no-such-model", "opnai:gpt-4o"])
def test_an_unknown_provider_is_told_how_names_are_written(name: str) -> None:
    """With an example."""
    assert "write provider:name, such as openai:gpt-4o" in refused(name)


def test_the_house_is_the_name_of_no_model() -> None:
    """Whoever opens it has made a mistake."""
    assert "the house plays without a model" in refused("house")


class _Missing:
    """An import that fails, as for a package that is not installed."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    for loaded in [name for name in sys.modules if name.partition(".")[0] in packages]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(sys, "meta_path", [_Missing(*packages), *sys.meta_path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None if name in packages else True)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("openai:x", "langchain_openai", "'dndbots[openai]'"),
        ("anthropic:x", "langchain_anthropic", "'dndbots[anthropic]'"),
        ("google_genai:x", "langchain_google_genai", "'dndbots[google]'"),
        ("ollama:x", "langchain_ollama", "'dndbots[ollama]'"),
        ("mistralai:x", "langchain_mistralai", "langchain-mistralai"),
    ],
)
def test_a_package_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    """By the extra that brings it, or by its own name."""
    from langchain.chat_models import base

    if forget := getattr(getattr(base, "_get_chat_model_creator", None), "cache_clear", None):
        forget()
    without(monkeypatch, package)
    keys = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x", "GOOGLE_API_KEY": "x"}
    assert refused(name, keys).endswith(f"is not installed; pip install {extra}")


def test_without_langchain_the_extra_of_the_provider_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no part of what dndbots needs for itself."""
    without(monkeypatch, "langchain")
    assert "langchain is not installed; pip install 'dndbots[ollama]'" in refused("ollama:llama3.1")


def test_a_library_that_repeats_the_key_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some show all that they were given in what they say is wrong."""
    from langchain import chat_models

    def shows(name: str, **fields: Any) -> None:
        raise ValueError(f"{name}: cannot be made of {[*fields.values()]}")

    monkeypatch.setattr(chat_models, "init_chat_model", shows)
    assert "cannot be made of" in refused("openai:gpt-4o")


def test_what_else_goes_wrong_is_one_line() -> None:
    """Whatever the library says."""
    assert refused("openai:").endswith("it has no name; write provider:name, such as openai:gpt-4o")


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("langchain_anthropic", "anthropic:claude-sonnet-4-5"),
        ("langchain_google_genai", "google_genai:gemini-2.5-flash"),
        ("langchain_ollama", "ollama:llama3.1"),
    ],
)
def test_other_providers_are_opened_where_they_are_installed(package: str, name: str) -> None:
    """With the time-out and the limits that each calls by a name of its own."""
    pytest.importorskip(package, reason="an extra that development does not need")
    keys = {"ANTHROPIC_API_KEY": "x", "GOOGLE_API_KEY": "x"}
    model = opened(name, keys, max_tokens=99, timeout=7, temperature=0.5)
    assert model.temperature == 0.5
    if package == "langchain_ollama":
        assert (model.num_predict, model.client_kwargs) == (99, {"timeout": 7})
    else:
        assert model.max_retries == 0
