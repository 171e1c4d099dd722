"""At which table a game is played: a campaign that has one, or one in which one is begun as wished for."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dndbots.cli import faults
from dndbots.cli.models import Models
from dndbots.cli.options import opened
from dndbots.cli.thinking import Watch
from dndbots.ids import DM, slug
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.game.agents import Cast
    from dndbots.game.playing import Game
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
class Wish:
    """How somebody wants to play. None is what is there already, or what the house suggests."""

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
class Seat:
    """A game, where it is kept, and where its log was before anybody sat down.

    `people` are whose seats are taken by somebody at this terminal, `options` what was said of models.
    """

    game: "Game"
    where: str
    begun_at: int
    people: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return faults.without_password(self.where)


def module_named(name: str) -> str:
    """An adventure on board by its name; a file by its whole path, so that it is found from anywhere.

    What is wrong with it is told here, before a folder is made for its game.
    """
    from dndbots.game.adventures import named, shipped

    if name in (ENDLESS, OPEN) or name in shipped():
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
            game = _resumed(campaign, wish)
            if campaign.head and (game is None or game.over or _disagrees(game, wish)):
                continue
            yield _at(campaign, str(folder), wish, game)
            return


def character_from(path: Path) -> "Character":
    """A character from a file of `dndbots character new`."""
    from dndbots.models import Character
    from dndbots.rules.classes import find_class

    with faults.in_file(path):
        character = Character.model_validate_json(path.read_bytes())
        find_class(character.char_class)
    return character


def _homes(module: str) -> Iterator[Path]:
    """Folders for games of a module: the first has its name, others a number behind it."""
    name = slug(Path(module).stem)
    yield _FOLDER / name
    for number in count(2):
        yield _FOLDER / f"{name}_{number}"


def _at(campaign: "Campaign", where: str, wish: Wish, game: "Game | None" = None) -> Seat:
    head = campaign.head
    if game is None and not head:
        wish = replace(wish, models=wish.models.served())
        _refuse_a_story_of_nobodys(wish)
    game = game or _resumed(campaign, wish)
    played_by = (HOUSE, HOUSE) if game is None else (game.note.dm, game.note.players)
    models = _models(wish, *played_by)
    campaign.summarizer, campaign.extractor = models.summarizer, models.extractor
    if game is None:
        game = _begun(campaign, replace(wish, models=models))
    elif problem := _disagrees(game, wish):
        place = faults.without_password(where)
        raise faults.Refusal(f"{place} has a game already, {problem}; or play elsewhere with --campaign")
    models.written.to(game.took)
    people = tuple(dict.fromkeys(_seat_of(game, name) for name in wish.people))
    return Seat(game=game, where=where, begun_at=head, people=people, options=wish.models.options)


def _refuse_a_story_of_nobodys(wish: Wish) -> None:
    """The house can keep the rules of an open game, but it makes nothing up."""
    if wish.module == OPEN and wish.models.dm in (None, HOUSE) and DM not in map(str.casefold, wish.people):
        raise faults.Refusal(
            f"--module {OPEN} has no story of its own: somebody has to make it up; "
            "say --dm and a model, or --human dm"
        )


def _seat_of(game: "Game", name: str) -> str:
    """The seat that somebody wants, by uid, name or first name."""
    if name.casefold() == DM:
        return DM
    table = game.table
    names = {uid: table.name(uid) for uid in table.living()}
    found = [uid for uid, called in names.items() if uid == name or _is_called(called, name)]
    if len(found) != 1:
        problem = "several are called so" if found else "there is no such seat"
        raise faults.Refusal(
            f"--human {name}: {problem}; there are {', '.join(names.values())} and dm; "
            "or begin another game elsewhere with --campaign"
        )
    return found[0]


def _is_called(called: str, name: str) -> bool:
    return name.casefold() in (called.casefold(), called.split(maxsplit=1)[0].casefold())


def _resumed(campaign: "Campaign", wish: Wish) -> "Game | None":
    """The game of a campaign. It may be gone on with by others than those who began it."""
    from dndbots.errors import NoGame
    from dndbots.game.playing import Game

    try:
        return Game.resume(campaign, casting=lambda note: _cast(wish, note.dm, note.players))
    except NoGame:
        return None


def _models(wish: Wish, dm: str, players: str) -> Models:
    """Choose the models wished for; or the server's first, for the house and an address alone."""
    return wish.models.served() if dm == players == HOUSE else wish.models


def _cast(wish: Wish, dm: str, players: str) -> "Cast":
    return _models(wish, dm, players).cast(dm=dm, players=players, watch=wish.watch)


def _begun(campaign: "Campaign", wish: Wish) -> "Game":
    from dndbots.game.playing import Game

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


def _party(wish: Wish, seed: int) -> "list[Character] | None":
    """Those who were brought along or asked for, and ready-made company for the seats that are left."""
    from dndbots.rules import ready_made

    brought = [*wish.characters, *_asked_for(wish, seed)]
    if not brought:
        return None
    if wish.seats is not None and wish.seats < len(brought):
        problem = f"{len(brought)} characters were brought along; have as many"
        raise faults.Refusal(f"--seats {wish.seats}: {problem}")
    taken = {one.uid for one in brought}
    company = [one for one in ready_made() if one.uid not in taken]
    return [*brought, *company[: max((wish.seats or SEATS) - len(brought), 0)]]


def _asked_for(wish: Wish, seed: int) -> "list[Character]":
    """Ready-made characters in whose seats people want to sit, unless they are in the party anyway."""
    from dndbots.game.seating import seated as party_of
    from dndbots.rules import ready_made

    wanted = [name for name in wish.people if name.casefold() != DM]
    there = wish.characters or tuple(
        one.character for one in party_of(None, seats=wish.seats or SEATS, seed=seed) if wanted
    )
    found = []
    for name in wanted:
        if any(_is_called(one.name, name) or one.uid == name for one in there):
            continue
        ready = [one for one in ready_made() if _is_called(one.name, name) or one.uid == name]
        if not ready:
            known = ", ".join(one.name for one in (*wish.characters, *ready_made()))
            raise faults.Refusal(f"--human {name}: nobody is called so; there are {known} and dm")
        found.append(ready[0])
    return found


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
