"""A game whose models are behind a server that does everything wrong that servers do, at random."""

import json
import random
from collections.abc import Callable
from typing import Any

from bench.faults import play_on, wrongs
from tests.game.models.tables import BUDGET
from tests.llm.server import Say, fault, serving

from dndbots.game.game import Game
from dndbots.game.setup import build_cast
from dndbots.ids import DM
from dndbots.llm.settings import read_settings
from dndbots.llm.voices import Voices
from dndbots.testing import memory_campaign
from dndbots.testing.scripted_voices import HOSTILE, filled

ROUNDS = 6
MODEL = "openai:m"
KINDS = ("said", "called", "refused", "down", "nonsense")


class Wild:
    """Answers by chance that can be replayed: words, calls, refusals, faults, and what is no answer."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.done: list[str] = []

    def __call__(self, request: dict[str, Any]) -> Say:
        kind = self._rng.choice(KINDS)
        self.done.append(kind)
        made: dict[str, Callable[[], Say]] = {
            "said": lambda: Say(
                self._rng.choice(("I look around.", "", "I go on. " * 6_000, self._hostile()))
            ),
            "called": lambda: self._called([tool["function"] for tool in request.get("tools", ())]),
            "refused": lambda: self._rng.choice(
                (
                    Say({"content": None, "refusal": "No."}),
                    Say("", finish="content_filter"),
                    fault(400, "The prompt triggered our content management policy."),
                )
            ),
            "down": lambda: self._rng.choice(
                (fault(500, "boom"), fault(429, "slow", retry_after="1"), fault(400, "no"), Say(drops=True))
            ),
            "nonsense": lambda: Say(
                body=self._rng.choice((b"null", b"<html>", b'{"choices": []}', b'{"choices": null}', b""))
            ),
        }
        return made[kind]()

    def _hostile(self) -> str:
        return self._rng.choice(HOSTILE).encode("utf-8", "replace").decode()

    def _called(self, tools: list[dict[str, Any]]) -> Say:
        if not tools:
            return Say("Hm.")
        calls = []
        for number in range(self._rng.choice((1, 2, 12))):
            tool = self._rng.choice(tools)
            args = json.dumps(filled(tool["parameters"], self._rng, ("Gandalf", "DM")))
            form = {"name": tool["name"], "arguments": self._rng.choice((args, args, args[:9]))}
            calls.append({"id": f"call_{number}", "type": "function", "function": form})
        return Say({"content": self._hostile(), "tool_calls": calls}, finish="tool_calls")


def test_whatever_a_server_does_the_game_goes_on_and_the_log_stays_true() -> None:
    """All the way from HTTP to the log: no crash, nothing false in it, and what was taken is noted."""
    wild = Wild(1)
    with serving() as server:
        server.answers = wild
        settings = read_settings(f'model = "{MODEL}"\nbase_url = "{server.address}"\nattempts = 2')
        voices = Voices(settings, environ={}, sleep=lambda _: None, rng=random.Random(1))
        campaign = memory_campaign()
        cast = build_cast(MODEL, MODEL, voices.voice)
        game = Game.begin(campaign, seed=1, seats=2, budget=BUDGET, cast=cast, dm=MODEL, players=MODEL)
        assert play_on(game, ROUNDS)
    assert game.round == ROUNDS
    assert {*wild.done} == {*KINDS}
    assert list(wrongs(list(campaign.events(viewer=DM)))) == []
    assert campaign.verify() == []
    taken = campaign.usage()
    assert {one.role for one in taken} >= {"dm", "player"}
    assert sum(one.answers for one in taken) == sum(one.answers for one in voices.meter.spent())
    assert all(one.faults for one in taken if one.role != "npc")
