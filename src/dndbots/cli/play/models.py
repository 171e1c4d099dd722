"""The models that play and write, as the command line and a settings file choose them."""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import console
from dndbots.errors import NoSuchPlayer

if TYPE_CHECKING:
    from dndbots.errors import UntrustedSettings
    from dndbots.game.agents import Cast
    from dndbots.llm.protocol import Role, Usage
    from dndbots.llm.settings import Settings

_PANEL: Final = "Models"
_LIST_TIMEOUT: Final = 30.0  # seconds


def _model_option(option: str, text: str) -> Any:
    return typer.Option(option, metavar="NAME", help=text, rich_help_panel=_PANEL)


AllModels = Annotated[
    str | None, _model_option("--model", "The model for every role: provider:name, or house.")
]
DmModel = Annotated[str | None, _model_option("--dm", "The model that plays the DM.")]
PlayersModel = Annotated[str | None, _model_option("--players", "The model that plays the characters.")]
NpcsModel = Annotated[str | None, _model_option("--npcs", "The model that speaks for the people they meet.")]
SummarizerModel = Annotated[str | None, _model_option("--summarizer", "The model that writes summaries.")]
ExtractorModel = Annotated[
    str | None, _model_option("--extractor", "The model that reads facts out of play.")
]
FallbackModel = Annotated[
    str | None, _model_option("--fallback", "The model to ask when another does not answer.")
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="The address of your own server. Without --model, the first model it lists plays.",
        rich_help_panel=_PANEL,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        readable=True,
        help="Model settings. dndbots.toml here or in your home if omitted.",
        rich_help_panel=_PANEL,
    ),
]


class WriterUsage:
    """Passes on the usage of summarizers and extractors to a game, from any thread."""

    def __init__(self) -> None:
        self._record: Callable[[Role, str, Usage], None] | None = None

    def pass_to(self, record: "Callable[[Role, str, Usage], None]") -> None:
        """Pass usage on to `record` from now on."""
        self._record = record

    def hear(self, role: "Role", model: str, usage: "Usage") -> None:
        """Take the usage of one answer; drop it while no game records it."""
        if self._record is not None:
            self._record(role, model, usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models that play and write. None where nothing was chosen; writers are called by `invoke`."""

    dm: str | None = None
    players: str | None = None
    summarizer: Any = None
    extractor: Any = None
    settings: "Settings | None" = field(default=None, compare=False)
    # The usage of the writers, for the game to record.
    writer_usage: WriterUsage = field(default_factory=WriterUsage, compare=False)
    # The options given on the command line, with their values.
    given: "Mapping[str, str]" = field(default_factory=dict, compare=False)
    # The result of `served`, so that a server is asked once.
    _served: "list[Models]" = field(default_factory=list, compare=False, repr=False)

    @property
    def options(self) -> tuple[str, ...]:
        """The options for models, to repeat the same choice."""
        return tuple(f"{option} {shlex.quote(value)}" for option, value in self.given.items())

    def served(self) -> "Models":
        """Return these models; with an address but no model, the server's first model for every role."""
        from dndbots.llm.protocol import Role
        from dndbots.llm.settings import Settings

        settings = self.settings or Settings()
        if "--base-url" not in self.given or any(settings.of(role).model for role in Role):
            return self
        if not self._served:
            self._served.append(_first_served(self))
        return self._served[0]

    def cast(self, *, dm: str, players: str) -> "Cast":
        """Return the cast by the chosen models, or by the names in `dm` and `players`. Opens all models.

        Raises `NoSuchPlayer` before a game begins if something is missing.
        """
        from dndbots.game.setup import build_cast
        from dndbots.game.state.game_notes import HOUSE
        from dndbots.llm.protocol import Role
        from dndbots.llm.settings import Settings, merged
        from dndbots.llm.settings_files import load_ways, remember_way
        from dndbots.llm.voices import Voices

        _refuse_servers({"--dm": dm if not self.dm else "", "--players": players if not self.players else ""})
        dm, players = self.dm or dm, self.players or players
        settings = merged(self.settings or Settings(), dm=dm, players=players)
        if settings.of(Role.NPC).model is None:
            # People in the world speak with the DM's model and its settings.
            own = settings.npcs.model_dump(exclude_none=True)
            settings = settings.model_copy(update={"npcs": settings.of(Role.DM).model_copy(update=own)})
        voices = Voices(settings, ways=load_ways(), remember=remember_way)
        for role, name in ((Role.DM, dm), (Role.NPC, dm), (Role.PLAYER, players)):
            if name != HOUSE:
                voices.voice(role)
        people = voices.settings.models_of(Role.NPC)
        return build_cast(dm, players, voices.voice, npcs=bool(people), cost=voices.meter.cost_of)


def models_from(file: Path | None, **given: str | None) -> Models:
    """Merge a settings file with the command line. Raises `NoSuchPlayer` if something is missing."""
    from dndbots.llm.settings import merged
    from dndbots.llm.settings_files import load_settings

    settings = merged(load_settings(file, confirm=_confirm_trust), **given)
    options = {f"--{name.replace('_', '-')}": value for name, value in given.items() if value is not None}
    return _models_of(settings, options if file is None else {"--settings": str(file), **options})


def _models_of(settings: "Settings", given: "Mapping[str, str]") -> Models:
    from dndbots.llm.protocol import Role
    from dndbots.llm.voices import Voices

    writer_usage = WriterUsage()
    voices = Voices(settings, heard=writer_usage.hear)
    return Models(
        dm=_player(settings, Role.DM),
        players=_player(settings, Role.PLAYER),
        summarizer=voices.model(Role.SUMMARIZER),
        extractor=voices.model(Role.EXTRACTOR),
        settings=settings,
        writer_usage=writer_usage,
        given=given,
    )


def _first_served(models: Models) -> Models:
    from dndbots.llm.providers import list_models
    from dndbots.llm.settings import ModelSettings, Settings, merged

    settings, address = models.settings or Settings(), models.given["--base-url"]
    server = ModelSettings(
        model="openai:any", base_url=address, key_env=settings.key_env, timeout=_LIST_TIMEOUT
    )
    names = list_models(server)
    if not names:
        raise NoSuchPlayer(
            address, reason="the server lists no model; load one there, or name one with --model"
        )
    console.note(f"{names[0]} at {address} plays every role; --model chooses another")
    return _models_of(merged(settings, model=f"openai:{names[0]}"), models.given)


def _confirm_trust(refusal: "UntrustedSettings") -> bool:
    """Show the settings and ask the user to trust them. Without a terminal, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    console.note(f"{refusal.file} in this folder decides where prompts and keys are sent:")
    for place, value in refusal.said.items():
        console.note(f"  {place} = {value}")
    return typer.confirm("Do you trust this file?", err=True)


def _refuse_servers(names: dict[str, str]) -> None:
    """Refuse a server that a campaign names: the campaign may have come from anywhere."""
    from dndbots.llm.settings import names_server

    for option, name in names.items():
        if names_server(name):
            reason = f"the campaign names a server; if you trust it, add {option} {shlex.quote(name)}"
            raise NoSuchPlayer(name, reason=reason)


def _player(settings: "Settings", role: Any) -> str | None:
    """Return the model chosen for a role, `house`, or None."""
    return settings.of(role).model
