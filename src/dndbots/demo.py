"""`python -m dndbots.demo`: a short game, what two who were apart know of it, and what one is given to read.

It says which commands it runs, so that they can be run again. Nothing is left behind.
"""

import shlex
import tempfile
from contextlib import chdir
from typing import Final

from dndbots.cli import show
from dndbots.cli.app import app

_GAME: Final = "--module salt_mill --seed 7 --auto 14 --no-compact"
COMMANDS: Final = (
    ("A party plays. When it splits up, everybody knows only what they were there for.", f"play {_GAME}"),
    ("What two who were apart know, and the other does not.", "diff Zara Throk --last 3"),
    ("What a model in Zara's seat is given to read, and why each line of it.", "context Zara --xray"),
)


def main() -> None:
    """Runs the commands one after another, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for title, command in COMMANDS:
            words = f"{command} --campaign demo"
            show.say(f"{title}\n$ dndbots {words}\n")
            app(shlex.split(words), prog_name="dndbots", standalone_mode=False)
            show.say("")


if __name__ == "__main__":
    main()
