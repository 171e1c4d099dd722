"""The command line: parse, call, show. It has no logic of its own.

Commands load the campaign when they run, so `--help` and `--version` answer at once.
"""

import gc
import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    gc.set_threshold(50_000)  # loading makes many objects and hardly any garbage
    from dndbots.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its number, so campaigns in any script can be read.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="dndbots")
