"""Commands for before a game: characters, adventures and dice."""

import json
import secrets
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import faults, show
from dndbots.cli.options import AsJson

if TYPE_CHECKING:
    from dndbots.models import Character
    from dndbots.rules import Roll

_SEEDS: Final = 1_000_000
_NAMES: Final = (
    *("Alrik", "Besna", "Corvin", "Dagny", "Edric", "Fenna", "Garrick", "Hilde", "Ivo", "Jorun", "Kelda"),
    *("Ludo", "Marta", "Nils", "Osric", "Petra", "Runa", "Sigrun", "Tamsin", "Ulf", "Vesna", "Wulf"),
)

Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="The same seed is the same dice; else any.")
]


def add_to(app: typer.Typer) -> None:
    characters = typer.Typer(no_args_is_help=True, help="Rolls up characters, and lists those on board.")
    characters.command("new")(new_character)
    characters.command("list")(list_characters)
    app.add_typer(characters, name="character")
    app.command("modules")(modules)
    app.command("roll")(roll)


def new_character(
    *,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What it is called.")] = None,
    char_class: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Else the one that fits the scores best.")
    ] = None,
    level: Annotated[int, typer.Option("--level", metavar="N", help="How far it has come.")] = 1,
    scores: Annotated[
        str, typer.Option("--scores", metavar="DICE", help="The dice for each score, such as 3d6 or 4d6kh3.")
    ] = "3d6",
    seed: Seed = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", dir_okay=False, help="Where the sheet is kept.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Even over a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rolls up a character, with every die shown. `dndbots play --character FILE` plays it."""
    from dndbots.rules import creation

    chosen = secrets.randbelow(_SEEDS) if seed is None else seed
    called = name or Random(f"{chosen}/name").choice(_NAMES)  # noqa: S311 - dice, which can be replayed
    made = creation.new_character(
        called,
        rng=Random(chosen),  # noqa: S311 - dice, which can be replayed
        char_class=char_class,
        level=level,
        scores=scores,
    )
    if out is not None:
        _write(made, out, force=force)
    if as_json:
        show.say_json(made)
        return
    _say_rolls(_rolls(scores, chosen))
    _say_sheet(made)
    show.say(f"seed {chosen}" if out is None else f"seed {chosen}; kept in {show.inert(str(out))}")


def _rolls(scores: str, seed: int) -> "dict[str, Roll]":
    """The dice behind the scores: they are the first that are thrown, one ability after another."""
    from dndbots.rules import Ability
    from dndbots.rules import roll as throw

    rng = Random(seed)  # noqa: S311 - dice, which can be replayed
    return {ability.value.upper(): throw(scores, rng=rng) for ability in Ability}


def _say_rolls(rolls: "dict[str, Roll]") -> None:
    for ability, rolled in rolls.items():
        show.say(show.inert(f"{ability}  {rolled.text}"))


def _say_sheet(character: "Character") -> None:
    carries = ", ".join(character.equipment) or "nothing"
    show.say(show.inert(f"{character.name}, {character.char_class} of level {character.level}"))
    show.say_indented(f"{character.hp_max} hit points, armour class {character.ac}, {character.gold} gold")
    show.say_indented(f"carries {carries}")


def _write(character: "Character", out: Path, *, force: bool) -> None:
    text = json.dumps(character.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    try:
        with out.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise faults.Refusal(f"{out} is there already; choose another name, or say --force") from None


def list_characters(*, as_json: AsJson = False) -> None:
    """Lists the ready-made characters: the party, where no other is brought along."""
    from dndbots.rules import ready_made

    found = ready_made()
    if as_json:
        show.say_json([*found])
        return
    rows = [(one.name, one.char_class, one.level, one.hp_max, one.ac, _carried(one)) for one in found]
    show.say_table(
        ["name", "class", "level", "hp", "ac", "carries"],
        rows,
        wide="carries",
        numbers=["level", "hp", "ac"],
    )


def _carried(character: "Character") -> str:
    return ", ".join(character.equipment)


def modules(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="An adventure of yours, to be checked.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Lists the adventures on board; or checks one of yours, and tells all that is wrong with it."""
    from dndbots.game import adventures

    if file is None:
        found = {name: adventures.named(name) for name in adventures.shipped()}
    else:
        found = {file: adventures.load(Path(file))}
    rows = [(name, one.title, one.levels, len(one.places), len(one.quests)) for name, one in found.items()]
    columns = ("name", "title", "levels", "places", "quests")
    if as_json:
        show.say_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    show.say_table(columns, rows, numbers=["places", "quests"])
    if file is not None:
        show.say("nothing is wrong with it")


def roll(
    dice: Annotated[str, typer.Argument(metavar="DICE", help="Such as 2d6+3, 4d6kh3 or 2d20kh1.")],
    *,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Rolls dice, and shows each of them."""
    from dndbots.rules import roll as throw

    chosen = secrets.randbelow(_SEEDS) if seed is None else seed
    rolled = throw(dice, rng=Random(chosen))  # noqa: S311 - dice, which can be replayed
    if as_json:
        show.say_json({**rolled.as_data(), "seed": chosen})
    else:
        show.say(show.inert(rolled.text))
