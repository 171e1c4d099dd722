"""A game in a process of its own, which prints the id of each event once it is recorded.

It says `ready`, waits for a line, and plays up to a round: a new game, or the one that is there.
"""

import sys

from dndbots.campaign import Campaign
from dndbots.errors import NoGame
from dndbots.events import GameEvent
from dndbots.game.game import Game


def main(where: str, module: str, seed: str, rounds: str, compacts: str = "") -> None:
    _say("ready")
    if not sys.stdin.readline():
        return
    with Campaign.open(where) as campaign:
        try:
            game = Game.resume(campaign)
        except NoGame:
            game = Game.begin(campaign, module=module, seed=int(seed))
        while game.round < int(rounds) or game.due() is not None:
            game.play(1, watch=_told, compact=bool(compacts))


def _told(events: list[GameEvent]) -> None:
    _say(*(event.event_id for event in events))


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
