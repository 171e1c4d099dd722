"""Which models play and write, as it is said on the command line and in a settings file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli.thinking import Watch, watched

if TYPE_CHECKING:
    from dndbots.game.agents import Cast
    from dndbots.llm.asking import Role, Usage
    from dndbots.llm.settings import Settings

_PANEL: Final = "Models"


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
    typer.Option("--base-url", metavar="URL", help="A server of your own.", rich_help_panel=_PANEL),
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
    """Who plays and writes. What is None is the house's; those who write are asked by `invoke`."""

    dm: str | None = None
    players: str | None = None
    summarizer: Any = None
    extractor: Any = None
    settings: "Settings | None" = field(default=None, compare=False)
    # What those who write took, until a game notes it.
    written: Written = field(default_factory=Written, compare=False)

    def cast(self, *, dm: str, players: str, watch: "Watch | None" = None) -> "Cast":
        """Whoever is said to play, or else those whose names are given. Models are opened right away.

        `NoSuchPlayer` says what is missing, before anything is begun.
        """
        from dndbots.game.seating import HOUSE, cast_by
        from dndbots.llm.asking import Role
        from dndbots.llm.settings import Settings, merged
        from dndbots.llm.voices import Voices

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
    from dndbots.llm.asking import Role
    from dndbots.llm.settings import load_settings, merged, settings_file
    from dndbots.llm.voices import Voices

    settings = merged(load_settings(settings_file(file)), **said)
    written = Written()
    voices = Voices(settings, heard=written.heard)
    return Models(
        dm=_player(settings, Role.DM),
        players=_player(settings, Role.PLAYER),
        summarizer=voices.model(Role.SUMMARIZER),
        extractor=voices.model(Role.EXTRACTOR),
        settings=settings,
        written=written,
    )


def _player(settings: "Settings", role: Any) -> str | None:
    found = settings.models_of(role)
    return found[0].model if found else None
