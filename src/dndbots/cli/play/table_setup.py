"""Find the game to play: resume the one of a campaign, or begin a new one."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import open_campaign
from dndbots.cli.play.models import Models
from dndbots.errors import DndbotsError
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


def guide(wish: GameWish) -> GameWish:
    """Ask the person at the terminal which story to play and who they are."""
    seed = secrets.randbelow(_SEEDS) if wish.seed is None else wish.seed
    choice = choose_game(seed=seed)
    you = () if choice.character is None else (choice.character,)
    return replace(
        wish,
        module=choice.module,
        scenario=choice.scenario,
        seed=seed,
        characters=you,
        people=tuple(one.name for one in you),
    )


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
        begin = _go_on if head and wish.module is None and _has_told(campaign) else _begin
        game = begin(campaign, replace(wish, models=models))
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
    return _models(wish, dm, players).cast(dm=dm, players=players)


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


def _has_told(campaign: "Campaign") -> bool:
    from dndbots.game.state.campaign_tables import has_story

    return has_story(campaign)


def _go_on(campaign: "Campaign", wish: GameWish) -> "Game":
    """Play an imported story on: its people take the seats, and somebody must be its DM."""
    from dndbots.errors import StoryExists
    from dndbots.game.game import Game
    from dndbots.game.story_seats import StoryWish, find_people

    if wish.models.dm in (None, HOUSE) and DM not in map(str.casefold, wish.people):
        raise StoryExists(failures.without_password(campaign.address or "this campaign"))
    names = [person.name for person in find_people(campaign)]
    own = [sheet.name for sheet in wish.characters]
    for name in wish.people:
        if name.casefold() != DM and not any(_is_called(known, name) for known in (*names, *own)):
            raise failures.Refusal(
                f"--human {name}: nobody in this story has that name; choose from "
                f"{', '.join((*names, *own)) or 'nobody'} and dm, or bring a sheet with --character"
            )
    seed = secrets.randbelow(_SEEDS) if wish.seed is None else wish.seed
    story = StoryWish(
        seed=seed,
        sheets=wish.characters,
        wanted=[name for name in wish.people if name.casefold() != DM],
        seats=wish.seats,
        budget=wish.budget or BUDGET,
        scenario=wish.scenario,
        dm=wish.models.dm or HOUSE,
        players=wish.models.players or HOUSE,
    )
    return Game.go_on(campaign, story, cast=_cast(wish, HOUSE, HOUSE))


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


# A guided start, for people at a terminal with a model.

# Asks a question and returns the answer; raises `typer.Abort` at the end of the input.
Ask = Callable[[str], str]

_LONGEST_WORLD: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidedChoice:
    """The chosen story and character; None where the default is wanted."""

    module: str | None = None
    scenario: str = ""
    character: "Character | None" = None


def _ask_line(question: str) -> str:
    return str(typer.prompt(question, default="", show_default=False, prompt_suffix=" ")).strip()


def choose_game(*, seed: int, ask: Ask = _ask_line) -> GuidedChoice:
    """Ask for a story and a character. Enter takes what is offered first."""
    console.say("A model is set up. Two questions before it begins; Enter takes the first choice.")
    module, scenario = _choose_story(ask)
    return GuidedChoice(module=module, scenario=scenario, character=_choose_character(ask, seed))


def _choose_story(ask: Ask) -> tuple[str | None, str]:
    from dndbots.game.adventures import list_shipped

    shipped = list_shipped()
    for number, title in enumerate(shipped.values(), 1):
        console.say(console.inert(f"  {number}  {title}"))
    console.say(f"  {len(shipped) + 1}  a world of your own, which the model makes up with you")
    while True:
        answer = ask(f"Which story? [1-{len(shipped) + 1}]")
        if not answer:
            return next(iter(shipped)), ""
        if answer.isdigit() and 1 <= int(answer) <= len(shipped):
            return list(shipped)[int(answer) - 1], ""
        if answer.isdigit() and int(answer) == len(shipped) + 1:
            return OPEN, _choose_world(ask)
        console.say(f"Type a number from 1 to {len(shipped) + 1}.")


def _choose_world(ask: Ask) -> str:
    while True:
        world = ask("Describe your world in a sentence or two:")
        if world:
            return world[:_LONGEST_WORLD]
        console.say("A few words are enough: a drowned city, and thieves who dive for its bells.")


def _choose_character(ask: Ask, seed: int) -> "Character | None":
    """Return a character that is rolled up for a name; None to watch."""
    from dndbots.errors import UnknownClass
    from dndbots.game.state.step import seeded_rng
    from dndbots.rules.characters.classes import all_classes
    from dndbots.rules.characters.creation import new_character

    name = ""
    while True:
        name = name or ask("Who are you? A name, or Enter to watch:")
        if not name:
            return None
        kinds = ", ".join(kind.name for kind in all_classes())
        kind = ask(f"What are you? One of {kinds}; Enter lets the dice choose:")
        try:
            return new_character(
                name, rng=seeded_rng(seed, "you", name), char_class=kind or None, scores="4d6kh3"
            )
        except DndbotsError as exc:
            console.say(console.inert(f"{exc}."))
            if not isinstance(exc, UnknownClass):
                name = ""  # it is the name that cannot be
