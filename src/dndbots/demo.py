"""`python -m dndbots.demo`: play a short game, compare two characters, and show the context of one.

It prints the commands that it runs, so that you can run them yourself. It leaves no files behind.
"""

import shlex
import tempfile
from contextlib import chdir
from itertools import combinations
from typing import Final

from dndbots.campaign import Campaign
from dndbots.cli import console
from dndbots.cli.app import app
from dndbots.events import audience

GAME: Final = "--module apples_in_january --seed 44"
ROUNDS: Final = 14
_WHERE: Final = "demo"


def main() -> None:
    """Run the demo in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _run(
            "A party plays. When it splits up, each character knows only what it perceived.",
            f"play {GAME} --auto {ROUNDS} --no-compact",
        )
        first, second = map(shlex.quote, find_separated_pair(_WHERE))
        _run("Two characters were apart: what only one of them knows.", f"diff {first} {second} --last 3")
        _run(
            "The context that a model in one of their seats reads, with the reason for each line.",
            f"context --as {first} --budget 400 --xray --short",
        )


def find_separated_pair(where: str) -> tuple[str, str]:
    """Return the names of the two characters who perceived the most without each other."""
    with Campaign.open(where, create=False) as campaign:
        perceived = [audience(event) for event in campaign.events(viewer="dm") if not event.is_note]
        names = {entity.uid: entity.name for entity in campaign.entities(viewer="dm", category="PC")}
    first, second = max(
        combinations(sorted(names), 2),
        key=lambda pair: sum((pair[0] in seen) != (pair[1] in seen) for seen in perceived),
    )
    return names[first], names[second]


def _run(title: str, command: str) -> None:
    words = f"{command} --campaign {_WHERE}"
    for line in (title, f"$ dndbots {words}", ""):
        console.say(line)
    app(shlex.split(words), prog_name="dndbots", standalone_mode=False)
    console.say("")


if __name__ == "__main__":
    main()
