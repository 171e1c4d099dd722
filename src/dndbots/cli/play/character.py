"""`character`: roll up a character, or list the ready-made ones."""

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import AsJson
from dndbots.cli.play.roll import Seed, choose_seed

if TYPE_CHECKING:
    from dndbots.models import Character
    from dndbots.rules import Roll

_NAMES: Final = (
    *("Alrik", "Besna", "Corvin", "Dagny", "Edric", "Fenna", "Garrick", "Hilde", "Ivo", "Jorun", "Kelda"),
    *("Ludo", "Marta", "Nils", "Osric", "Petra", "Runa", "Sigrun", "Tamsin", "Ulf", "Vesna", "Wulf"),
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    characters = typer.Typer(no_args_is_help=True, help="Roll up a character, or list the ready-made ones.")
    characters.command("new")(new_character)
    characters.command("list")(list_characters)
    app.add_typer(characters, name="character")


def new_character(
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The character's name. Random if omitted.")
    ] = None,
    char_class: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="CLASS", help="The class. The one that fits the scores best if omitted."
        ),
    ] = None,
    level: Annotated[int, typer.Option("--level", metavar="N", help="The level.")] = 1,
    scores: Annotated[
        str, typer.Option("--scores", metavar="DICE", help="The dice for each score, such as 3d6 or 4d6kh3.")
    ] = "3d6",
    seed: Seed = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", dir_okay=False, help="Save the sheet in this file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Roll up a character and show every die. `dndbots play --character FILE` plays it."""
    from dndbots.rules.characters import creation

    chosen = choose_seed(seed)
    character_name = name or Random(f"{chosen}/name").choice(_NAMES)  # noqa: S311 - dice, which can be replayed
    made = creation.new_character(
        character_name,
        rng=Random(chosen),  # noqa: S311 - dice, which can be replayed
        char_class=char_class,
        level=level,
        scores=scores,
    )
    if out is not None:
        _write(made, out, force=force)
    if as_json:
        console.say_json(made)
        return
    _say_rolls(_rolls(scores, chosen))
    _say_sheet(made)
    console.say(f"seed {chosen}" if out is None else f"seed {chosen}; saved in {console.inert(str(out))}")


def _rolls(scores: str, seed: int) -> "dict[str, Roll]":
    """Repeat the rolls of the scores: they are the first dice of a seed, one ability after another."""
    from dndbots.rules import Ability
    from dndbots.rules import roll as roll_dice

    rng = Random(seed)  # noqa: S311 - dice, which can be replayed
    return {ability.value.upper(): roll_dice(scores, rng=rng) for ability in Ability}


def _say_rolls(rolls: "dict[str, Roll]") -> None:
    for ability, rolled in rolls.items():
        console.say(console.inert(f"{ability}  {rolled.text}"))


def _say_sheet(character: "Character") -> None:
    carries = ", ".join(character.equipment) or "nothing"
    console.say(console.inert(f"{character.name}, {character.char_class} of level {character.level}"))
    console.say_indented(f"{character.hp_max} hit points, armour class {character.ac}, {character.gold} gold")
    console.say_indented(f"carries {carries}")


def _write(character: "Character", out: Path, *, force: bool) -> None:
    text = json.dumps(character.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    try:
        with out.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise failures.Refusal(
            f"{out} already exists; choose another name, or overwrite it with --force"
        ) from None


def list_characters(*, as_json: AsJson = False) -> None:
    """List the ready-made characters. They are the party unless you bring your own."""
    from dndbots.rules import ready_made

    characters = ready_made()
    if as_json:
        console.say_json([*characters])
        return
    rows = [(one.name, one.char_class, one.level, one.hp_max, one.ac, _carried(one)) for one in characters]
    console.say_table(
        ["name", "class", "level", "hp", "ac", "carries"],
        rows,
        wide="carries",
        numbers=["level", "hp", "ac"],
    )


def _carried(character: "Character") -> str:
    return ", ".join(character.equipment)
