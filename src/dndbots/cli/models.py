"""Which models play and write, as it is said on the command line and in a settings file; and which file
of a folder is trusted with that.
"""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import show
from dndbots.cli.thinking import Watch, watched
from dndbots.errors import NoSuchPlayer

if TYPE_CHECKING:
    from dndbots.errors import UntrustedSettings
    from dndbots.game.agents import Cast
    from dndbots.llm.asking import Role, Usage
    from dndbots.llm.settings import Settings

_PANEL: Final = "Models"
_PATIENCE: Final = 30.0  # seconds for a list of models


def _named(option: str, text: str) -> Any:
    return typer.Option(option, metavar="NAME", help=text, rich_help_panel=_PANEL)


AllModels = Annotated[str | None, _named("--model", "The model of every role: provider:name, or house.")]
DmModel = Annotated[str | None, _named("--dm", "The model of the DM.")]
PlayersModel = Annotated[str | None, _named("--players", "The model of the characters.")]
NpcsModel = Annotated[str | None, _named("--npcs", "The model of the people they meet.")]
SummarizerModel = Annotated[str | None, _named("--summarizer", "The model that writes summaries.")]
ExtractorModel = Annotated[str | None, _named("--extractor", "The model that reads facts out of play.")]
FallbackModel = Annotated[str | None, _named("--fallback", "The model to ask if another gives no answer.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="A server of your own; without a model, the first that it has plays.",
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
        help="Settings of models; else dndbots.toml here, or the user's own.",
        rich_help_panel=_PANEL,
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command("trust")(trust)


def trust(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="The settings file."),
    ] = Path("dndbots.toml"),
) -> None:
    """Trusts a settings file with addresses and keys, as it is now; `play` then uses it in its folder.

    Without that, a file of the current folder names models and no more. Another content is not trusted.
    """
    from dndbots.llm.settings_files import trust_settings

    said = trust_settings(file)
    for place, value in said.items():
        show.say(show.inert(f"{place} = {value}"))
    show.say(show.inert(f"{file} is trusted, as it is now" if said else f"{file} needs no trust"))


class Written:
    """Hears what summarizers and extractors take, from whatever thread, and hands it on to a game."""

    def __init__(self) -> None:
        self._hand_on: Callable[[Role, str, Usage], None] | None = None

    def to(self, hand_on: "Callable[[Role, str, Usage], None]") -> None:
        self._hand_on = hand_on

    def heard(self, role: "Role", model: str, usage: "Usage") -> None:
        if self._hand_on is not None:
            self._hand_on(role, model, usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Who plays and writes. What is None was not said; those who write are asked by `invoke`."""

    dm: str | None = None
    players: str | None = None
    summarizer: Any = None
    extractor: Any = None
    settings: "Settings | None" = field(default=None, compare=False)
    # What those who write took, until a game notes it.
    written: Written = field(default_factory=Written, compare=False)
    # What was said on the command line: option and value.
    said: "Mapping[str, str]" = field(default_factory=dict, compare=False)
    # What `served` found, so that a server is asked once.
    _served: "list[Models]" = field(default_factory=list, compare=False, repr=False)

    @property
    def options(self) -> tuple[str, ...]:
        """What was said of models, as it is said again."""
        return tuple(f"{option} {shlex.quote(value)}" for option, value in self.said.items())

    def served(self) -> "Models":
        """These models; or where an address was said and no model, the first one that is served there."""
        from dndbots.llm.asking import Role
        from dndbots.llm.settings import Settings

        settings = self.settings or Settings()
        if "--base-url" not in self.said or any(settings.of(role).model for role in Role):
            return self
        if not self._served:
            self._served.append(_first_served(self))
        return self._served[0]

    def cast(self, *, dm: str, players: str, watch: "Watch | None" = None) -> "Cast":
        """Whoever is said to play, or else those whose names are given. Models are opened right away.

        `NoSuchPlayer` says what is missing, before anything is begun.
        """
        from dndbots.game.seating import HOUSE, cast_by
        from dndbots.llm.asking import Role
        from dndbots.llm.settings import Settings, merged
        from dndbots.llm.voices import Voices

        _refuse_servers({"--dm": dm if not self.dm else "", "--players": players if not self.players else ""})
        dm, players = self.dm or dm, self.players or players
        settings = merged(self.settings or Settings(), dm=dm, players=players)
        if settings.of(Role.NPC).model is None:
            # People speak by the DM's model, wherever that is and however it is asked.
            own = settings.npcs.model_dump(exclude_none=True)
            settings = settings.model_copy(update={"npcs": settings.of(Role.DM).model_copy(update=own)})
        voices = Voices(settings)
        for role, name in ((Role.DM, dm), (Role.NPC, dm), (Role.PLAYER, players)):
            if name != HOUSE:
                voices.voice(role)
        asked = voices.voice if watch is None else watched(voices.voice, watch)
        people = voices.settings.models_of(Role.NPC)
        return cast_by(dm, players, asked, npcs=bool(people), cost=voices.meter.cost_of)


def models_from(file: Path | None, **said: str | None) -> Models:
    """What a settings file says, and the command line over it. `NoSuchPlayer` says what is missing."""
    from dndbots.llm.settings import merged
    from dndbots.llm.settings_files import load_settings

    settings = merged(load_settings(file, confirm=_trusts), **said)
    words = {f"--{name.replace('_', '-')}": value for name, value in said.items() if value is not None}
    return _models_of(settings, words if file is None else {"--settings": str(file), **words})


def _models_of(settings: "Settings", said: "Mapping[str, str]") -> Models:
    from dndbots.llm.asking import Role
    from dndbots.llm.voices import Voices

    written = Written()
    voices = Voices(settings, heard=written.heard)
    return Models(
        dm=_player(settings, Role.DM),
        players=_player(settings, Role.PLAYER),
        summarizer=voices.model(Role.SUMMARIZER),
        extractor=voices.model(Role.EXTRACTOR),
        settings=settings,
        written=written,
        said=said,
    )


def _first_served(models: Models) -> Models:
    from dndbots.llm.opening import list_models
    from dndbots.llm.settings import ModelSettings, Settings, merged

    settings, address = models.settings or Settings(), models.said["--base-url"]
    asked = ModelSettings(model="openai:any", base_url=address, key_env=settings.key_env, timeout=_PATIENCE)
    names = list_models(asked)
    if not names:
        raise NoSuchPlayer(address, reason="it has no model; load one there, or name one with --model")
    show.note(f"{address} has {names[0]}, which plays every role; --model chooses another")
    return _models_of(merged(settings, model=f"openai:{names[0]}"), models.said)


def _trusts(refusal: "UntrustedSettings") -> bool:
    """Ask the user, who is shown what a settings file says, on a terminal. Without one, it is a no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    show.note(f"{refusal.file} of this folder says where questions are sent, and which key goes along:")
    for place, value in refusal.said.items():
        show.note(f"  {place} = {value}")
    return typer.confirm("Do you trust it, as it is now?", err=True)


def _refuse_servers(names: dict[str, str]) -> None:
    """A campaign may have come from anywhere; its models are asked again, but no server that it names."""
    from dndbots.llm.settings import names_server

    for option, name in names.items():
        if names_server(name):
            reason = (
                f"the campaign names a server; if you trust it, say {option} {shlex.quote(name)} yourself"
            )
            raise NoSuchPlayer(name, reason=reason)


def _player(settings: "Settings", role: Any) -> str | None:
    """Who plays a role, if anybody is said to: a model, or the house."""
    return settings.of(role).model
