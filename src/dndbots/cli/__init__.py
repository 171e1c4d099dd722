"""The command line: parse, call, show. It has no logic of its own.

Commands load the campaign when they run, so `--help` and `--version` answer at once.
"""

import io
import os
import sys

from dndbots._garbage import spare_short_commands

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    spare_short_commands()
    # Pydantic looks through every installed package for plugins; no model here has a use for one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from dndbots.cli.app import app
    except KeyboardInterrupt:  # before any command runs; `failures` handles those that come later
        sys.exit(130)

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its number, so campaigns in any script can be read.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="dndbots")
