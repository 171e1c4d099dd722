"""Settings: what a file says, what the command line says over it, and what is refused with its place."""

from pathlib import Path

import pytest

from dndbots.errors import InvalidSettings
from dndbots.llm.protocol import Role, Usage
from dndbots.llm.settings import (
    HOUSE,
    Price,
    Settings,
    Way,
    is_small_model,
    merged,
    read_settings,
)
from dndbots.llm.settings_files import load_settings

WHOLE = """
model = "openai:gpt-4o-mini"
timeout = 30
attempts = 5

[dm]
model = "anthropic:claude-sonnet-4-5"
temperature = 0.9
fallback = "openai:gpt-4o"
structured = "tools"

[players]
base_url = "http://127.0.0.1:8080/v1"

[prices."openai:gpt-4o-mini"]
input = 0.15
cached = 0.075
output = 0.60
"""


def test_a_role_has_what_is_said_of_it_and_for_the_rest_what_is_said_of_all() -> None:
    """The DM's own model, everybody's patience."""
    settings = read_settings(WHOLE)
    dm, fallback = settings.models_of(Role.DM)
    assert (dm.model, dm.temperature, dm.timeout, dm.attempts) == ("anthropic:claude-sonnet-4-5", 0.9, 30, 5)
    assert (fallback.model, fallback.base_url, fallback.timeout) == ("openai:gpt-4o", "", 30)
    assert (dm.structured, fallback.structured) == (Way.TOOLS, Way.AUTO)
    [player] = settings.models_of(Role.PLAYER)
    assert (player.model, player.base_url) == ("openai:gpt-4o-mini", "http://127.0.0.1:8080/v1")
    assert player.key == "openai:gpt-4o-mini@http://127.0.0.1:8080/v1"
    assert player.structured is Way.AUTO


def test_where_nothing_is_said_the_house_plays() -> None:
    """No file is no model, and `house` is the name of none."""
    assert read_settings("") == Settings()
    for role in Role:
        assert Settings().models_of(role) == ()
        assert Settings(model="openai:x", dm={"model": HOUSE}).models_of(Role.DM) == ()  # type: ignore[arg-type]


def test_the_command_line_wins_over_the_file() -> None:
    """A model for all is for all, but for whoever is named beside it."""
    settings = merged(read_settings(WHOLE), model="ollama:llama3.1", players="openai:gpt-4o", base_url="")
    assert [settings.of(role).model for role in Role] == [
        "ollama:llama3.1",
        "openai:gpt-4o",
        "ollama:llama3.1",
        "ollama:llama3.1",
        "ollama:llama3.1",
    ]
    assert settings.models_of(Role.PLAYER)[0].base_url == ""
    assert settings.of(Role.DM).temperature == 0.9
    assert settings.prices == read_settings(WHOLE).prices
    assert merged(read_settings(WHOLE)) == read_settings(WHOLE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tempratur = 1", "f.toml: tempratur: there is no such setting; there are model, base_url"),
        ("[dm]\ntempratur = 1", "f.toml: [dm] tempratur: there is no such setting"),
        ('[prices."a:b"]\ninput = 1\noutput = 1\nfree = 2', "f.toml: [prices.a:b] free: there is no"),
        ("[dm]\ntemperature = 9", "f.toml: [dm] temperature: Input should be less than or equal to 2"),
        ('[npcs]\nstructured = "magic"', "f.toml: [npcs] structured: Input should be 'auto', 'tools'"),
        ('base_url = "localhost:8080"', "f.toml: base_url: is no address such as http"),
        ('base_url = "http://me:secret@host/"', "f.toml: base_url: is no address"),
        ('model = " "', "f.toml: model: is no name of a model"),
        ('key_env = "my key"', "f.toml: key_env: is no name of an environment variable"),
        ('fallback = "house"', "f.toml: fallback: the house is no model"),
        ("model = ", "f.toml: is no TOML: "),
        ("a = " + "[" * 5000, "f.toml: is no TOML: "),
        ("dm = 3", "f.toml: dm: "),
        ("timeout = inf", "f.toml: timeout: "),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(text: str, told: str) -> None:
    """One line: the file, the place, and what is wrong."""
    with pytest.raises(InvalidSettings) as caught:
        read_settings(text, file="f.toml")
    assert told in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ('api_key = "tops3cret"', "OPENAI_API_KEY"),
        ('[dm]\nmodel = "anthropic:x"\nANTHROPIC_API_KEY = "tops3cret"', "ANTHROPIC_API_KEY"),
        ('model = "google_genai:x"\n[dm]\ntoken = "tops3cret"', "GOOGLE_API_KEY"),
        ('model = "sk-tops3cretabc"', "OPENAI_API_KEY"),
        ('[players]\nbase_url = "http://host/?k=sk-tops3cretabc"', "OPENAI_API_KEY"),
    ],
)
def test_a_key_in_a_file_is_refused_and_not_repeated(text: str, variable: str) -> None:
    """The line names the variable to use, and does not show the key."""
    with pytest.raises(InvalidSettings, match=f"put it into the environment as {variable}") as caught:
        read_settings(text)
    assert "tops3cret" not in str(caught.value)


def test_a_bad_name_on_the_command_line_says_so() -> None:
    """It is not blamed on the file."""
    with pytest.raises(InvalidSettings, match="the command line: base_url: is no address"):
        merged(Settings(), base_url="nowhere")


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """The given one, else this folder's, else the user's, else none."""
    here, home = tmp_path / "here", tmp_path / "home"
    own = home / ".config" / "dndbots"
    for folder in (here, own):
        folder.mkdir(parents=True)
    environ = {"HOME": str(home), "APPDATA": str(home / ".config")}
    assert load_settings(folder=here, environ=environ) == Settings()
    (own / "dndbots.toml").write_text('model = "a:own"')
    assert load_settings(folder=here, environ=environ).model == "a:own"
    (here / "dndbots.toml").write_text('model = "a:here"')
    assert load_settings(folder=here, environ=environ).model == "a:here"
    (tmp_path / "other.toml").write_text('model = "a:other"')
    assert load_settings(tmp_path / "other.toml", folder=here, environ=environ).model == "a:other"


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """One line, whatever the system says."""
    with pytest.raises(InvalidSettings, match="No such file"):
        load_settings(tmp_path / "none.toml")
    (tmp_path / "f.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(InvalidSettings, match="is not UTF-8 text"):
        load_settings(tmp_path / "f.toml")


def test_a_price_is_for_a_million_tokens() -> None:
    """Cached input has its own price, or the same; more cached than there was input is not believed."""
    usage = Usage(input=1_000_000, cached=400_000, output=100_000)
    assert Price(input=1, cached=0.5, output=10).of(usage) == pytest.approx(0.6 + 0.2 + 1)
    assert Price(input=1, output=10).of(usage) == pytest.approx(2)
    assert Price(input=1, cached=0, output=0).of(Usage(input=10, cached=99)) == 0


@pytest.mark.parametrize(
    ("name", "small"),
    [("llama-3.2-3b", True), ("smollm2:135m", True), ("qwen2.5:7b", False), ("gpt-4o", False), ("o1", False)],
)
def test_a_name_tells_a_small_model(name: str, small: bool) -> None:  # noqa: FBT001
    assert is_small_model(name) is small
