"""The program: its commands, gathered, and the one place where a command's errors are told."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dndbots import __version__
from dndbots.cli import (
    compacting,
    context,
    deciding,
    differing,
    faults,
    graphing,
    keeping,
    models,
    moving,
    playing,
    preparing,
    reading,
    recalling,
    remembering,
    reviewing,
    show,
    spending,
    working,
)


class _Program(TyperGroup):
    """All commands run inside `faults.told`."""

    def invoke(self, ctx: Any) -> Any:
        with faults.told(), show.warnings():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Program,
    no_args_is_help=True,
    add_completion=False,
    # A bug shows as Python shows it: the pretty form would print pieces of the campaign around it.
    pretty_exceptions_enable=False,
)
playing.add_to(app)
preparing.add_to(app)
models.add_to(app)
keeping.add_to(app)
moving.add_to(app)
reading.add_to(app)
recalling.add_to(app)
graphing.add_to(app)
context.add_to(app)
differing.add_to(app)
remembering.add_to(app)
deciding.add_to(app)
compacting.add_to(app)
reviewing.add_to(app)
spending.add_to(app)
working.add_to(app)


def _version(asked: bool) -> None:  # noqa: FBT001 - typer calls it
    if asked:
        typer.echo(f"dndbots {__version__}")
        raise typer.Exit


@app.callback()
def program(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A memory for Dungeons & Dragons campaigns: one log, and what everybody in it knows."""
