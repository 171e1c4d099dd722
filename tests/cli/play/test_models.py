"""Which models play, as it is said on the command line: what is missing is told before anything is begun."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import Run

from dndbots.cli.play import table_setup
from dndbots.cli.play.models import models_from
from dndbots.errors import InvalidSettings, ModelUnavailable, NoSuchPlayer
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.game.world.house_dm import HouseDM
from dndbots.llm.protocol import Usage

HOME = Path("campaigns") / table_setup.MODULE
QUICK = ("--seed", 1, "--seats", 2, "--no-compact")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_without_a_word_the_house_plays() -> None:
    assert models_from(None).dm is None
    assert isinstance(models_from(None).cast(dm="house", players="house").dm, HouseDM)


def test_a_role_goes_before_all_and_the_command_line_before_the_file() -> None:
    Path("dndbots.toml").write_text('[dm]\nmodel = "openai:a"\n[players]\nmodel = "openai:b"\n')
    assert (models_from(None).dm, models_from(None).players) == ("openai:a", "openai:b")
    said = models_from(None, players="openai:c")
    assert (said.dm, said.players) == ("openai:a", "openai:c")


@pytest.mark.parametrize("option", ["--summarizer", "--extractor"])
def test_what_is_missing_is_told_and_nothing_is_begun(run: Run, option: str) -> None:
    """One line that says what to do; no folder is made."""
    answer = run("play", option, "openai:gpt-4o-mini", *QUICK, "--auto", 1)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert "openai:gpt-4o-mini" in answer.err
    assert not Path("campaigns").exists()


def test_a_model_that_cannot_play_changes_nothing(run: Run) -> None:
    """Also not a game that is there already."""
    run("play", *QUICK, "--auto", 1)
    answer = run("play", "--players", "nobody:nothing", "--auto", 1, "-c", HOME)
    assert answer.code == 1
    assert "'nobody:nothing' cannot play" in answer.err


def test_settings_that_are_wrong_are_told_with_their_place(run: Run) -> None:
    Path("mine.toml").write_text("[dm]\ncolour = 'red'\n")
    answer = run("play", "--settings", "mine.toml", *QUICK, "--auto", 1)
    assert (answer.code, answer.out) == (1, "")
    assert "mine.toml" in answer.err
    assert "[dm] colour" in answer.err


def test_a_fallback_is_for_all() -> None:
    with pytest.raises(InvalidSettings, match="fallback"):
        models_from(None, fallback="house")


def test_a_model_that_gives_no_answer_loses_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line: what happened, that nothing is lost, and the command that goes on."""

    def silent(*_: Any) -> None:
        raise ModelUnavailable("openai:gpt-4o-mini", reason="it is over its limit")

    with monkeypatch.context() as patch:
        patch.setattr(HousePlayer, "act", silent)
        answer = run("play", *QUICK, "--auto", 1)
    assert answer.code == 1
    assert answer.err == (
        "error: openai:gpt-4o-mini does not answer: it is over its limit; everything is saved; "
        f"continue with: dndbots play --campaign {HOME}; "
        f"or without a model: dndbots play --campaign {HOME} --model house\n"
    )
    assert run("verify", "-c", HOME).code == 0
    assert "Round 1" in run("play", "--auto", 1, "--no-compact", "-c", HOME).out


# Who is cast.


def test_models_are_cast_by_role_and_the_rest_is_the_houses() -> None:
    """People speak by the DM's model, unless the settings have another for them, or the house."""
    at = {"base_url": "http://127.0.0.1:9/v1"}
    assert isinstance(models_from(None).cast(dm="house", players="house").dm, HouseDM)
    cast = models_from(None, dm="openai:a", **at).cast(dm="house", players="house")
    assert isinstance(cast.dm, ModelDM)
    assert isinstance(cast.player, HousePlayer)
    cast = models_from(None, players="openai:a", **at).cast(dm="house", players="house")
    assert isinstance(cast.dm, HouseDM)
    assert isinstance(cast.player, ModelPlayer)


def test_people_speak_by_the_dms_model_at_the_dms_address() -> None:
    """With all that is said of it; no key is missed for a server that needs none."""
    file = Path("mine.toml")
    file.write_text('[dm]\nmodel = "openai:a"\nbase_url = "http://127.0.0.1:9/v1"\n')
    cast = models_from(file).cast(dm="house", players="house")
    assert isinstance(cast.dm, ModelDM)
    assert cast.dm._npcs is not None


def test_people_may_be_left_to_the_house() -> None:
    """Whether the file says so, or the command line."""
    at = {"base_url": "http://127.0.0.1:9/v1"}
    cast = models_from(None, dm="openai:a", npcs="house", **at).cast(dm="house", players="house")
    assert isinstance(cast.dm, ModelDM)
    assert cast.dm._npcs is None
    Path("dndbots.toml").write_text('model = "openai:a"\n[npcs]\nmodel = "house"\n')
    cast = models_from(None, **at).cast(dm="house", players="house")
    assert isinstance(cast.dm, ModelDM)
    assert cast.dm._npcs is None


def test_a_game_goes_on_with_the_models_that_it_was_begun_with() -> None:
    """Whoever is named now goes before them."""
    at = {"base_url": "http://127.0.0.1:9/v1"}
    assert isinstance(models_from(None, **at).cast(dm="openai:a", players="house").dm, ModelDM)
    assert isinstance(models_from(None, players="openai:b", **at).cast(dm="house", players="x").dm, HouseDM)
    assert isinstance(models_from(None, model="house").cast(dm="openai:a", players="house").dm, HouseDM)


def test_what_a_cast_lacks_is_told_when_it_is_cast() -> None:
    """Not when it first has to speak, in the middle of a round."""
    with pytest.raises(NoSuchPlayer, match="OPENAI_API_KEY"):
        models_from(None).cast(dm="openai:gpt-4o-mini", players="house")
    with pytest.raises(NoSuchPlayer, match="nobody:nothing"):
        models_from(None).cast(dm="house", players="nobody:nothing")


def test_prices_of_the_settings_are_those_of_the_cast() -> None:
    Path("dndbots.toml").write_text('[prices."openai:a"]\ninput = 2.0\noutput = 4.0\n')
    cast = models_from(None, dm="openai:a", base_url="http://127.0.0.1:9/v1").cast(
        dm="house", players="house"
    )
    assert cast.cost("openai:a", Usage(input=1_000_000, output=500_000)) == pytest.approx(4.0)
    assert cast.cost("openai:b", Usage(input=1_000_000)) is None
