"""At which table a game is played: a campaign that has one, or one in which one is begun as wished for."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dndbots.cli import faults
from dndbots.cli.options import opened
from dndbots.ids import slug
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.game.playing import Game
    from dndbots.models import Character

MODULE: Final = "apples_in_january"
ENDLESS: Final = "endless"
SEATS: Final = 4
BUDGET: Final = 2_000
_FOLDER: Final = Path("campaigns")
_SEEDS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How somebody wants to play. None is what is there already, or what the house suggests."""

    module: str | None = None
    seed: int | None = None
    seats: int | None = None
    budget: int | None = None
    characters: "tuple[Character, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A game, where it is kept, and where its log was before anybody sat down."""

    game: "Game"
    where: str
    begun_at: int

    @property
    def shown(self) -> str:
        return faults.without_password(self.where)


def module_named(name: str) -> str:
    """An adventure on board by its name; a file by its whole path, so that it is found from anywhere.

    What is wrong with it is told here, before a folder is made for its game.
    """
    from dndbots.game.adventures import named, shipped

    if name == ENDLESS or name in shipped():
        return name
    named(name)
    return str(Path(name).absolute())


@contextmanager
def seated(where: str | None, branch: str, wish: Wish) -> Iterator[Seat]:
    """A game at an address; without one, in a folder of its own among the campaigns."""
    if where is not None:
        with opened(where, branch, create=branch == MAIN) as campaign:
            yield _at(campaign, where, wish)
        return
    for folder in _homes(wish.module or MODULE):
        with opened(str(folder), branch, create=branch == MAIN) as campaign:
            game = _resumed(campaign)
            if campaign.head and (game is None or game.over or _disagrees(game, wish)):
                continue
            yield _at(campaign, str(folder), wish, game)
            return


def character_from(path: Path) -> "Character":
    """A character from a file of `dndbots character new`."""
    from dndbots.models import Character

    with faults.in_file(path):
        return Character.model_validate_json(path.read_bytes())


def _homes(module: str) -> Iterator[Path]:
    """Folders for games of a module: the first has its name, others a number behind it."""
    name = slug(Path(module).stem)
    yield _FOLDER / name
    for number in count(2):
        yield _FOLDER / f"{name}_{number}"


def _at(campaign: "Campaign", where: str, wish: Wish, game: "Game | None" = None) -> Seat:
    head = campaign.head
    game = game or _resumed(campaign)
    if game is None:
        game = _begun(campaign, wish)
    elif problem := _disagrees(game, wish):
        place = faults.without_password(where)
        raise faults.Refusal(f"{place} has a game already, {problem}; or play elsewhere with --campaign")
    return Seat(game=game, where=where, begun_at=head)


def _resumed(campaign: "Campaign") -> "Game | None":
    from dndbots.errors import NoGame
    from dndbots.game.playing import Game

    try:
        return Game.resume(campaign)
    except NoGame:
        return None


def _begun(campaign: "Campaign", wish: Wish) -> "Game":
    from dndbots.game.playing import Game

    return Game.begin(
        campaign,
        module=wish.module or MODULE,
        seed=secrets.randbelow(_SEEDS) if wish.seed is None else wish.seed,
        characters=_party(wish),
        seats=wish.seats or SEATS,
        budget=wish.budget or BUDGET,
    )


def _party(wish: Wish) -> "list[Character] | None":
    """Those who were brought along, and ready-made company for the seats that are left."""
    from dndbots.rules import ready_made

    brought = len(wish.characters)
    if not brought:
        return None
    if wish.seats is not None and wish.seats < brought:
        raise faults.Refusal(f"--seats {wish.seats}: {brought} characters were brought along; have as many")
    taken = {one.uid for one in wish.characters}
    company = [one for one in ready_made() if one.uid not in taken]
    return [*wish.characters, *company[: max((wish.seats or SEATS) - brought, 0)]]


def _disagrees(game: "Game", wish: Wish) -> str | None:
    """What was wished for that the game at this table does not have."""
    note = game.note
    wished = (
        ("--module", wish.module, note.module),
        ("--seed", wish.seed, note.seed),
        ("--seats", wish.seats, note.seats),
        ("--budget", wish.budget, note.budget),
    )
    for option, value, there in wished:
        if value is not None and value != there:
            return f"with {there!r} and not {value!r} for {option}; leave {option} out"
    if wish.characters:
        return "and its characters are in it; leave --character out"
    return None
