"""`trust`: let `play` use the addresses and keys of a settings file."""

from pathlib import Path
from typing import Annotated

import typer

from dndbots.cli import console


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("trust")(trust)


def trust(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="The settings file."),
    ] = Path("dndbots.toml"),
) -> None:
    """Trust the addresses and keys of a settings file; `play` then uses them in its folder.

    Without trust, a settings file in the current folder may name models and nothing else. Trust ends when
    the file changes.
    """
    from dndbots.llm.settings_files import trust_settings

    trusted = trust_settings(file)
    for key, value in trusted.items():
        console.say(console.inert(f"{key} = {value}"))
    done = f"{file} is trusted until it changes" if trusted else f"{file} needs no trust"
    console.say(console.inert(done))
