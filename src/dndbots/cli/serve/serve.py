"""`serve`: open the table in a browser, for yourself and for others."""

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.play import models, table_setup
from dndbots.ids import DM, slug
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from dndbots.campaign import Campaign
    from dndbots.game.agents import Cast
    from dndbots.game.game import Game
    from dndbots.game.state.game_notes import GameNote
    from dndbots.server.app import ProgramDoor
    from dndbots.server.tables.served_campaigns import ServedCampaigns

_LOOPBACK: Final = "127.0.0.1"
_FOLDER: Final = Path("campaigns")
_UPSTREAM_KEY: Final = "DNDBOTS_UPSTREAM_KEY"  # the variable with the key for the model behind --upstream
_MOST_CONNECTIONS: Final = 1_000
_MOST_WAITING: Final = 128  # connections that wait to be accepted
_LAST_WORDS: Final = 2  # seconds for open pages when the server stops


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("serve")(serve)


def serve(
    *,
    campaign: Annotated[
        str | None,
        typer.Option(
            "--campaign",
            "-c",
            metavar="PATH",
            envvar="DNDBOTS_CAMPAIGN",
            help="The campaign: a folder, or postgresql://…/database?campaign=name. "
            "All in campaigns/ if omitted.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="The port. 0 takes a free one.")
    ] = 8000,
    module: Annotated[
        str | None,
        typer.Option("--module", metavar="NAME", help="The adventure, if --campaign has no game yet."),
    ] = None,
    lan: Annotated[
        bool, typer.Option("--lan", help="Let others in your network join; prints a QR code for each seat.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before --lan.")] = False,
    model: models.AllModels = None,
    dm: models.DmModel = None,
    players: models.PlayersModel = None,
    npcs: models.NpcsModel = None,
    summarizer: models.SummarizerModel = None,
    extractor: models.ExtractorModel = None,
    fallback: models.FallbackModel = None,
    base_url: models.BaseUrl = None,
    settings: models.SettingsFile = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream",
            metavar="URL",
            help="Add memory to chats with the model at URL (OpenAI's API), for SillyTavern and others.",
        ),
    ] = None,
    upstream_model: Annotated[
        str | None,
        typer.Option("--upstream-model", metavar="NAME", help="The model to ask there, for every client."),
    ] = None,
    mcp_write: Annotated[
        bool, typer.Option("--mcp-write", help="Let assistants at /mcp record lines and decisions.")
    ] = False,
    no_compact: Annotated[
        bool, typer.Option("--no-compact", help="Do not extract facts in the background.")
    ] = False,
) -> None:
    """Open the table in a browser. Prints a link for you, for the DM and for each seat.

    A link lets its holder see what that seat perceives, and act for it; the DM's link shows everything. Links
    stay valid until they are renewed. Without --campaign, you choose or begin a game in the browser.
    """
    try:
        from dndbots.server.app import build_app
    except ImportError as exc:
        raise failures.Refusal("the web table needs more packages: pip install 'dndbots[web]'") from exc
    chosen = models.models_from(
        settings,
        model=model,
        dm=dm,
        players=players,
        npcs=npcs,
        summarizer=summarizer,
        extractor=extractor,
        fallback=fallback,
        base_url=base_url,
    ).served()
    if lan:
        _confirm_lan(yes=yes)
    if campaign is not None and upstream is not None:
        _open_empty(campaign)
    elif campaign is not None:
        _prepare(campaign, module, chosen)
    host = _own_address() if lan else _LOOPBACK
    bound = _bind("0.0.0.0" if lan else _LOOPBACK, port)  # noqa: S104 - the user asked for it
    campaigns = _campaigns(campaign, ModelSeating(chosen), compact=not no_compact)
    base = f"http://{host}:{bound.getsockname()[1]}"
    doors = _program_doors(campaigns, upstream, upstream_model, mcp_write=mcp_write)
    _say_links(campaigns, base, with_codes=lan)
    if upstream is not None:
        _say_endpoints(campaigns, base)
    _run(build_app(campaigns, hosts=(host, _LOOPBACK, "localhost", "::1"), more=doors), bound)


class ModelSeating:
    """The chosen models, for the games of the server. Implements `GameSeating` of `dndbots.server`."""

    def __init__(self, chosen: models.Models) -> None:
        self._models = chosen
        self.dm = chosen.dm or table_setup.HOUSE
        self.players = chosen.players or table_setup.HOUSE

    def cast(self, note: "GameNote") -> "Cast":
        return self._models.cast(dm=note.dm, players=note.players)

    def equip(self, campaign: "Campaign") -> None:
        campaign.summarizer, campaign.extractor = self._models.summarizer, self._models.extractor

    def hear_usage_of(self, game: "Game") -> None:
        self._models.writer_usage.pass_to(game.record_usage)


def _confirm_lan(*, yes: bool) -> None:
    if yes:
        return
    warning = "Everybody in your network who gets a link can open its seat, unencrypted."
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise failures.Refusal(f"--lan: {warning} Add --yes to allow it")
    console.say(warning)
    if not typer.confirm("Open the table to your network?"):
        raise failures.Refusal("not opened; without --lan only this machine can reach the table")


def _prepare(where: str, module: str | None, chosen: models.Models) -> None:
    """Begin a game if the campaign has nothing in it. An imported one can be read."""
    from dndbots.errors import StoryExists

    wish = table_setup.GameWish(
        module=None if module is None else table_setup.check_module(module), models=chosen
    )
    with suppress(StoryExists), table_setup.open_game(where, MAIN, wish):
        pass


def _open_empty(where: str) -> None:
    """Make a campaign for chats if there is none: no game begins in it."""
    from dndbots.campaign import Campaign

    Campaign.open(where).close()


def _program_doors(
    campaigns: "ServedCampaigns", upstream: str | None, model: str | None, *, mcp_write: bool
) -> "list[ProgramDoor]":
    """Return the doors for other programs: MCP if it is installed, and the chat endpoint if asked for."""
    doors: list[ProgramDoor] = []
    with suppress(ModuleNotFoundError):
        from dndbots.server.mcp.http_endpoint import McpEndpoint

        doors.append(McpEndpoint(campaigns, write=mcp_write))
    if upstream is not None:
        from dndbots.server.chat.endpoint import ChatEndpoint
        from dndbots.server.chat.upstream import Upstream, UpstreamSettings

        settings = UpstreamSettings(upstream, os.environ.get(_UPSTREAM_KEY), model)
        doors.append(ChatEndpoint(campaigns, Upstream(settings)))
    return doors


def _say_endpoints(campaigns: "ServedCampaigns", base: str) -> None:
    for name in campaigns.shelf.named:
        console.say(console.inert(f"Chats    {base}/c/{name}/v1"))
        console.say(f"API key  {campaigns.book.token_of(campaigns.get(name).key, DM)}")


def _campaigns(campaign: str | None, casting: ModelSeating, *, compact: bool) -> "ServedCampaigns":
    from dndbots.llm.settings_files import find_config_folder
    from dndbots.server.security.seat_book import SeatBook
    from dndbots.server.tables.served_campaigns import CampaignShelf, ServedCampaigns
    from dndbots.storage.address import address_of, is_server

    config = find_config_folder()
    book = SeatBook(None if config is None else config / "seats.json")
    if campaign is None:
        shelf = CampaignShelf(folder=_FOLDER)
    else:
        name = address_of(campaign).campaign if is_server(campaign) else Path(campaign).resolve().name
        shelf = CampaignShelf(named={slug(name or "campaign"): campaign})
    return ServedCampaigns(shelf, book, casting=casting, compact=compact)


def _own_address() -> str:
    """Return the address of this machine in its network. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError as exc:
            raise failures.Refusal("--lan: this machine is in no network") from exc
        return str(probe.getsockname()[0])


def _bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens: a link works from the moment it is printed, if only after a pause."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(_MOST_WAITING)
    except OSError as exc:
        bound.close()
        raise failures.Refusal(f"--port {port}: {exc.strerror}; choose another one") from exc
    return bound


def _say_links(campaigns: "ServedCampaigns", base: str, *, with_codes: bool) -> None:
    console.say(f"Yours    {base}/enter/{campaigns.book.owner}")
    for name in campaigns.shelf.named:
        for title, address in _links_of(campaigns, name, base).items():
            console.say(console.inert(f"{title:<8} {address}"))
            if with_codes:
                _say_code(address)
    console.say("Each link opens one seat: give it to nobody else. Ctrl-C stops; every step is saved.")


def _links_of(campaigns: "ServedCampaigns", name: str, base: str) -> Mapping[str, str]:
    served = campaigns.get(name)
    seats: Iterator[tuple[str, str]] = iter([(DM, "DM"), *served.seats().items()])
    return {title: f"{base}/enter/{campaigns.book.token_of(served.key, seat)}" for seat, title in seats}


def _say_code(address: str) -> None:
    import segno

    segno.make(address, error="l").terminal(compact=True)


def _run(app: "Starlette", bound: socket.socket) -> None:
    import uvicorn

    from dndbots.server.app import end_streams

    class Server(uvicorn.Server):
        """A server that ends its streams first, so that nobody waits for them."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            end_streams(app)
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        log_level="warning",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_LAST_WORDS,
        server_header=False,
    )
    Server(config).run(sockets=[bound])
