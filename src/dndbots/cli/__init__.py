"""The command line: parse, call, show. It has no logic of its own.

Commands load the campaign when they run, so `--help` and `--version` answer at once.
"""

import atexit
import gc
import io
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    gc.set_threshold(50_000)  # loading makes many objects and hardly any garbage
    atexit.register(gc.freeze)  # nor is it worth looking for garbage when the program ends
    # Pydantic looks through every installed package for plugins; no model here has a use for one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from dndbots.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its number, so campaigns in any script can be read.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="dndbots")
