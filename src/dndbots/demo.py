"""`python -m dndbots.demo`: a short game, what two who were apart know of it, and what one is given to read.

It says which commands it runs, so that they can be run again. Nothing is left behind.
"""

import shlex
import tempfile
from contextlib import chdir
from itertools import combinations
from typing import Final

from dndbots.campaign import Campaign
from dndbots.cli import show
from dndbots.cli.app import app
from dndbots.events import audience

GAME: Final = "--module apples_in_january --seed 1"
ROUNDS: Final = 14
_WHERE: Final = "demo"


def main() -> None:
    """Plays, and asks, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _run(
            "A party plays. When it splits up, everybody knows only what they were there for.",
            f"play {GAME} --auto {ROUNDS} --no-compact",
        )
        one, other = map(shlex.quote, apart(_WHERE))
        _run("Two who were apart: what one knows, and the other does not.", f"diff {one} {other} --last 3")
        _run(
            "What a model in one of their seats is given to read, and why each line of it.",
            f"context {one} --budget 400 --xray --short",
        )


def apart(where: str) -> tuple[str, str]:
    """Those two of the party who perceived the most without each other, by name."""
    with Campaign.open(where, create=False) as campaign:
        perceived = [audience(event) for event in campaign.events(viewer="dm") if not event.is_note]
        names = {one.uid: one.name for one in campaign.entities(viewer="dm", category="PC")}
    one, other = max(
        combinations(sorted(names), 2),
        key=lambda pair: sum((pair[0] in seen) != (pair[1] in seen) for seen in perceived),
    )
    return names[one], names[other]


def _run(title: str, command: str) -> None:
    words = f"{command} --campaign {_WHERE}"
    for line in (title, f"$ dndbots {words}", ""):
        show.say(line)
    app(shlex.split(words), prog_name="dndbots", standalone_mode=False)
    show.say("")


if __name__ == "__main__":
    main()
