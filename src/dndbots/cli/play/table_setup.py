"""Find the game to play: resume the one of a campaign, or begin a new one."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dndbots.cli import failures
from dndbots.cli.options import open_campaign
from dndbots.cli.play.models import Models
from dndbots.cli.play.thinking_line import Watch
from dndbots.ids import DM, slug
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.game.agents import Cast
    from dndbots.game.game import Game
    from dndbots.models import Character

MODULE: Final = "apples_in_january"
ENDLESS: Final = "endless"
OPEN: Final = "open"
HOUSE: Final = "house"
SEATS: Final = 4
BUDGET: Final = 2_000
_FOLDER: Final = Path("campaigns")
_SEEDS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GameWish:
    """The game somebody asks for. None means the value of the existing game, or the default."""

    module: str | None = None
    seed: int | None = None
    seats: int | None = None
    budget: int | None = None
    characters: "tuple[Character, ...]" = ()
    people: tuple[str, ...] = ()
    models: Models = field(default_factory=Models)
    scenario: str = ""
    watch: Watch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGame:
    """A game to play, its address, and the seq its log had before.

    `people` are the seats taken at this terminal, `options` the command-line options for models.
    """

    game: "Game"
    where: str
    begun_at: int
    people: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The address without a password."""
        return failures.without_password(self.where)


def check_module(name: str) -> str:
    """Return the name of a shipped adventure, or the whole path of a file so that it is found from anywhere.

    Raises the errors of a faulty file here, before a folder is made for its game.
    """
    from dndbots.game.adventures import list_shipped, load_named

    if name in (ENDLESS, OPEN) or name in list_shipped():
        return name
    load_named(name)
    return str(Path(name).absolute())


@contextmanager
def open_game(where: str | None, branch: str, wish: GameWish) -> Iterator[OpenGame]:
    """Open the game at an address; without one, a game in a folder of its own under campaigns/."""
    if where is not None:
        with open_campaign(where, branch, create=branch == MAIN) as campaign:
            yield _open_at(campaign, where, wish)
        return
    for folder in _folders_for(wish.module or MODULE):
        with open_campaign(str(folder), branch, create=branch == MAIN) as campaign:
            game = _resume(campaign, wish)
            if campaign.head and (game is None or game.over or _find_conflict(game, wish)):
                continue
            yield _open_at(campaign, str(folder), wish, game)
            return


def read_character(path: Path) -> "Character":
    """Read a character from a file of `dndbots character new`."""
    from dndbots.models import Character
    from dndbots.rules.characters.classes import find_class

    with failures.in_file(path):
        character = Character.model_validate_json(path.read_bytes())
        find_class(character.char_class)
    return character


def _folders_for(module: str) -> Iterator[Path]:
    """Yield folders for games of a module: its name, then its name with a number."""
    name = slug(Path(module).stem)
    yield _FOLDER / name
    for number in count(2):
        yield _FOLDER / f"{name}_{number}"


def _open_at(campaign: "Campaign", where: str, wish: GameWish, game: "Game | None" = None) -> OpenGame:
    head = campaign.head
    if game is None and not head:
        wish = replace(wish, models=wish.models.served())
        _refuse_open_module_without_dm(wish)
    game = game or _resume(campaign, wish)
    played_by = (HOUSE, HOUSE) if game is None else (game.note.dm, game.note.players)
    models = _models(wish, *played_by)
    campaign.summarizer, campaign.extractor = models.summarizer, models.extractor
    if game is None:
        game = _begin(campaign, replace(wish, models=models))
    elif problem := _find_conflict(game, wish):
        place = failures.without_password(where)
        raise failures.Refusal(f"{place} already has a game {problem}, or play elsewhere with --campaign")
    models.writer_usage.pass_to(game.record_usage)
    people = tuple(dict.fromkeys(_seat_of(game, name) for name in wish.people))
    return OpenGame(game=game, where=where, begun_at=head, people=people, options=wish.models.options)


def _refuse_open_module_without_dm(wish: GameWish) -> None:
    """Refuse an open game without a DM: the house keeps the rules but invents no story."""
    if wish.module == OPEN and wish.models.dm in (None, HOUSE) and DM not in map(str.casefold, wish.people):
        raise failures.Refusal(
            f"--module {OPEN} has no story of its own; choose a model with --dm, or play it with --human dm"
        )


def _seat_of(game: "Game", name: str) -> str:
    """Return the uid of a seat, found by uid, name or first name."""
    if name.casefold() == DM:
        return DM
    table = game.table
    names = {uid: table.name(uid) for uid in table.living()}
    found = [uid for uid, full_name in names.items() if uid == name or _is_called(full_name, name)]
    if len(found) != 1:
        problem = "several characters have that name" if found else "no character has that name"
        raise failures.Refusal(
            f"--human {name}: {problem}; choose from {', '.join(names.values())} and dm, "
            "or begin another game with --campaign"
        )
    return found[0]


def _is_called(full_name: str, name: str) -> bool:
    return name.casefold() in (full_name.casefold(), full_name.split(maxsplit=1)[0].casefold())


def _resume(campaign: "Campaign", wish: GameWish) -> "Game | None":
    """Resume the game of a campaign, perhaps with other models; return None if it has none."""
    from dndbots.errors import NoGame
    from dndbots.game.game import Game

    try:
        return Game.resume(campaign, casting=lambda note: _cast(wish, note.dm, note.players))
    except NoGame:
        return None


def _models(wish: GameWish, dm: str, players: str) -> Models:
    """Return the chosen models. With an address alone, a server's first model replaces the house."""
    return wish.models.served() if dm == players == HOUSE else wish.models


def _cast(wish: GameWish, dm: str, players: str) -> "Cast":
    return _models(wish, dm, players).cast(dm=dm, players=players, watch=wish.watch)


def _begin(campaign: "Campaign", wish: GameWish) -> "Game":
    from dndbots.game.game import Game

    seed = secrets.randbelow(_SEEDS) if wish.seed is None else wish.seed
    return Game.begin(
        campaign,
        module=wish.module or MODULE,
        seed=seed,
        characters=_party(wish, seed),
        seats=wish.seats or SEATS,
        budget=wish.budget or BUDGET,
        scenario=wish.scenario,
        dm=wish.models.dm or HOUSE,
        players=wish.models.players or HOUSE,
        cast=_cast(wish, HOUSE, HOUSE),
    )


def _party(wish: GameWish, seed: int) -> "list[Character] | None":
    """Return the characters brought along or asked for, with ready-made ones in the seats left."""
    from dndbots.rules import ready_made

    brought = [*wish.characters, *_wanted_ready_made(wish, seed)]
    if not brought:
        return None
    if wish.seats is not None and wish.seats < len(brought):
        problem = f"too few for the {len(brought)} characters you bring"
        raise failures.Refusal(f"--seats {wish.seats}: {problem}; use --seats {len(brought)} or more")
    taken = {one.uid for one in brought}
    company = [one for one in ready_made() if one.uid not in taken]
    return [*brought, *company[: max((wish.seats or SEATS) - len(brought), 0)]]


def _wanted_ready_made(wish: GameWish, seed: int) -> "list[Character]":
    """Return the ready-made characters people want to play, unless they are in the party anyway."""
    from dndbots.game.setup import seat_party
    from dndbots.rules import ready_made

    wanted = [name for name in wish.people if name.casefold() != DM]
    there = wish.characters or tuple(
        one.character for one in seat_party(None, seats=wish.seats or SEATS, seed=seed) if wanted
    )
    found = []
    for name in wanted:
        if any(_is_called(one.name, name) or one.uid == name for one in there):
            continue
        ready = [one for one in ready_made() if _is_called(one.name, name) or one.uid == name]
        if not ready:
            known = ", ".join(one.name for one in (*wish.characters, *ready_made()))
            raise failures.Refusal(f"--human {name}: no character has that name; choose from {known} and dm")
        found.append(ready[0])
    return found


def _find_conflict(game: "Game", wish: GameWish) -> str | None:
    """Say which wish the existing game does not meet; None if it meets all."""
    note = game.note
    wished = (
        ("--module", wish.module, note.module),
        ("--seed", wish.seed, note.seed),
        ("--seats", wish.seats, note.seats),
        ("--budget", wish.budget, note.budget),
    )
    for option, value, there in wished:
        if value is not None and value != there:
            return f"with {option} {there}, not {value}; omit {option}"
    if wish.characters:
        return "with its own characters; omit --character"
    return None
