"""The command line: parse, call, show. No logic of its own.

Commands load the campaign when they run, so that `--help` and `--version` answer at once.
"""

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command that the program was called with."""
    from dndbots.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its number; a campaign in any script can be read.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="dndbots")
