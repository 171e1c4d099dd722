"""What stands before the newest lines of a seat's prompt stays until they are cut short."""

from functools import lru_cache
from itertools import pairwise, takewhile
from statistics import mean

import pytest

from dndbots.campaign import Campaign
from dndbots.game.agents import Cast
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question
from dndbots.memory.context import Context
from dndbots.memory.context.kept_front import CHANGED
from dndbots.memory.context.xray import RECENT
from dndbots.storage.in_memory import MemoryStore
from dndbots.tokens import count_tokens

ROUNDS = 10


class WatchedGame(Game):
    """A game that keeps the prompts of each seat, in the moment in which they are built."""

    asked: dict[str, list[str]]
    contexts: list[Context]

    def _prompt(self, who: str):  # type: ignore[no-untyped-def]
        context = super()._prompt(who)
        self.asked.setdefault(who, []).append(context.prompt)
        if who == DM:
            self.contexts.append(context)
        return context


class Silence:
    """A voice that says nothing, so that the adventure's own words stand."""

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002
        return Answer(model="silence")


@lru_cache(maxsize=4)
def played(budget: int, module: str = "the_unpaid_bridge") -> WatchedGame:
    game = WatchedGame.begin(Campaign(MemoryStore()), module=module, seed=3, seats=2, budget=budget)
    game.asked, game.contexts = {}, []
    game.play(ROUNDS, compact=False)
    return game


def kept(before: str, after: str) -> float:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return count_tokens("".join(one for one, _ in pairs)) / count_tokens(after)


@pytest.mark.parametrize(("budget", "dm", "player"), [(1_200, 0.5, 0.67), (2_000, 0.7, 0.75)])
def test_most_of_a_prompt_is_as_it_was_a_turn_before(budget: int, dm: float, player: float) -> None:
    """A provider reads from its cache what stands at the beginning as it stood there before.

    The house tells much in a round: in a small budget its lines are cut short after two of them.
    """
    game = played(budget)
    for who in (DM, *game.table.living()):
        least = dm if who == DM else player
        assert mean(kept(*pair) for pair in pairwise(game.asked[who])) >= least


def test_the_newest_lines_grow_at_their_end_between_two_cuts() -> None:
    game = played(2_000)
    who = game.table.living()[0]
    fronts = [prompt.partition(RECENT)[0] for prompt in game.asked[who]]
    assert len({*fronts}) <= len(fronts) // 2
    for (front, before), (other, after) in pairwise(zip(fronts, game.asked[who], strict=True)):
        if front == other:
            lines = before.partition(f"{RECENT}\n")[2].partition("\n## ")[0]
            assert after.partition(f"{RECENT}\n")[2].startswith(lines)


def test_a_front_stays_when_the_newest_lines_are_cut_short() -> None:
    """What changed until then stands after it, and in short the lines that are no longer among the newest."""
    game = played(2_000)
    for who in game.table.living():
        seen = [prompt.partition(RECENT)[0].partition(f"{CHANGED}\n") for prompt in game.asked[who]]
        fronts = [front for front, _, _ in seen]
        assert len({*fronts}) <= len(fronts) // 3
        assert any(changed for _, _, changed in seen)
    lately = [one for one in game.prompts[game.table.living()[0]].items if one.section == "lately"]
    assert lately


def test_a_resumed_game_reads_the_same() -> None:
    """What was kept follows from the log: nobody has to have followed it."""
    game = played(1_200)
    later = Game.resume(game.campaign)
    fresh = Game.resume(game.campaign.fork("fresh"))
    for who in (DM, *game.table.living()):
        assert later.system_message(who) == fresh.system_message(who) == game.system_message(who)


def test_a_new_place_is_told_after_the_newest_lines() -> None:
    """The front is as it was; what is so now is not missing."""
    game = played(2_000)
    where = {who: game.table.name(str(game.table.place(who))) for who in game.table.living()}
    after = [prompt.partition(RECENT)[2] for who in where for prompt in game.asked[who]]
    assert any(CHANGED in lines for lines in after)
    for who, place in where.items():
        assert place in game.system_message(who)


@lru_cache(maxsize=1)
def played_long() -> WatchedGame:
    cast = Cast(dm=ModelDM(Silence(), npcs=None), player=HousePlayer())
    game = WatchedGame.begin(Campaign(MemoryStore()), module="endless", seed=1, budget=2_000, cast=cast)
    game.asked, game.contexts = {}, []
    game.play(24, compact=False)
    return game


def test_what_has_not_changed_is_not_told_as_a_change() -> None:
    """Long quests leave room in the front for a line on each of the party, once all have been introduced."""
    for context in played_long().contexts[2:]:
        changed = context.prompt.partition(CHANGED)[2]
        assert "; temper: " not in changed


def test_each_heading_has_a_memory_of_a_new_scene_before_one_has_two() -> None:
    """What people there remember is not left out because the place has a second memory."""
    game = played_long()
    met_again = [context for context in game.contexts if "## NPC Memory" in context.prompt]
    assert met_again
    for context in game.contexts:
        left_out = [item for item in context.dropped if item.reason.endswith(" remembers it")]
        assert not left_out or "## NPC Memory" in context.prompt


def test_a_decision_of_a_person_shows_at_once() -> None:
    campaign = Campaign(MemoryStore())
    game = Game.begin(campaign, module="the_unpaid_bridge", seed=3, seats=2, budget=2_000)
    game.play(6, compact=False)
    who = game.table.living()[0]
    told = next(event for event in campaign.events(viewer=who) if event.known.discovered and event.content)
    sentence = told.content.split(". ")[0]
    assert sentence in game.system_message(who)
    campaign.forget(told.event_id)
    assert sentence not in game.system_message(who)
    campaign.pin(told.event_id)
    campaign.forget(told.event_id, on=False)
    assert f"Pinned: {sentence[:20]}" in game.system_message(who).replace("Pinned: DM: ", "Pinned: ")


def test_a_corrected_fact_is_no_longer_told_as_it_was() -> None:
    """What a person corrected must not stand in the front until the next cut."""
    campaign = Campaign(MemoryStore())
    game = Game.begin(campaign, module="the_unpaid_bridge", seed=3, seats=2, budget=2_000)
    game.play(6, compact=False)
    who = game.table.living()[0]
    wish = str(game.table.fact(who, "wants"))
    assert f"wants: {wish}" in game.system_message(DM)
    campaign.correct_fact(who, "wants", "a lighthouse of its own")
    prompt = game.system_message(DM).replace(f"wants: {wish}s", "")
    line = next(one for one in prompt.split("\n") if one.startswith(f"- {game.table.name(who)}: "))
    assert "wants: a lighthouse of its own" in line
    assert f"- {game.table.name(who)}: wants: {wish};" not in prompt
