"""The law of the project, for what models are asked: it follows from what their characters perceived."""

import random
import re
from functools import cache
from typing import Any, NamedTuple

import pytest
from bench.laws import Names
from tests.game.models.tables import BUDGET

from dndbots.campaign import Campaign
from dndbots.events import GameEvent, audience
from dndbots.game.acts import Act
from dndbots.game.agents import Cast, SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.game import Game
from dndbots.game.lookups import CampaignLookup
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import question_of
from dndbots.game.models.seat_prompts import PLAYER_BRIEFING, SeatPrompts
from dndbots.game.state.step import seeded_rng
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Question
from dndbots.testing import memory_campaign, perceived_only

GAMES = [("apples_in_january", 10), ("endless", 11)]
ROUNDS = 14
EVERY = 4  # of the questions are made again from nothing, which takes its time


class Asked(NamedTuple):
    """A question, to whom, and where the log was."""

    who: str
    head: int
    question: Question
    budget: int = 0
    encoding: str = ""


class Watched(HousePlayer):
    """Plays like the house, so that there is a story; and keeps what a model in its seat would be asked."""

    def __init__(self, asked: list[Asked], campaign: Campaign) -> None:
        self._asked, self._campaign = asked, campaign

    def act(self, turn: SeatTurn) -> Act:
        prompt = turn.prompt
        self._asked.append(
            Asked(turn.who, self._campaign.head, question_of(turn), prompt.budget, prompt.encoding)
        )
        return super().act(turn)


class Telling:
    """A voice for the DM and for people, that names where it is; and keeps what it is asked."""

    def __init__(self, campaign: Campaign, voice: str) -> None:
        self.asked = list[Asked]()
        self._campaign, self._voice = campaign, voice

    def ask(self, question: Question, **_more: Any) -> Answer:
        self.asked.append(Asked("", self._campaign.head, question))
        sound = "".join(random.Random(f"{self._voice}/{len(self.asked)}").choices("aeioulmnrst", k=30))
        heard = " ".join(sound[at : at + 5] for at in range(0, 30, 5))
        return Answer(words=f"A moment passes: {heard}.", model="double")


class Played(NamedTuple):
    game: Game
    players: list[Asked]
    people: list[Asked]


@cache
def played(module: str, seed: int) -> Played:
    campaign = memory_campaign()
    asked, people = list[Asked](), Telling(campaign, "people")
    cast = Cast(dm=ModelDM(Telling(campaign, "dm"), npcs=people), player=Watched(asked, campaign))
    game = Game.begin(campaign, module=module, seed=seed, seats=4, budget=BUDGET, cast=cast)
    game.play(ROUNDS)
    return Played(game, asked, people.asked)


def cut(campaign: Campaign, head: int) -> Campaign:
    part = memory_campaign()
    part.replay(event for event in campaign.events(viewer=DM) if (event.seq or 0) <= head)
    return part


def heard_by(campaign: Campaign, who: str, head: int) -> list[GameEvent]:
    return [event for event in campaign.events(viewer=who) if (event.seq or 0) <= head]


@pytest.mark.parametrize("name", GAMES)
def test_what_a_player_is_asked_is_the_same_from_what_its_character_perceived(name: tuple[str, int]) -> None:
    """Prompt and question, byte for byte, in a campaign that holds nothing else."""
    game, asked, _ = played(*name)
    assert len(asked) > 3 * ROUNDS
    for one in asked[::EVERY]:
        own = perceived_only(cut(game.campaign, one.head), one.who)
        table = Table(one.who)
        for event in own.events(viewer=one.who):
            table.heard(event)
        sheet = table.character(one.who)
        assert sheet is not None
        prompt = own.context(
            one.who,
            one.budget,
            beside=SeatPrompts.beside_player(sheet),
            encoding=one.encoding,
            briefing=PLAYER_BRIEFING,
        )
        turn = SeatTurn(who=one.who, table=table, prompt=prompt, rng=seeded_rng(0), seed=0)
        assert question_of(turn) == one.question


@pytest.mark.parametrize("name", GAMES)
def test_no_question_to_a_player_has_a_name_that_it_never_heard(name: tuple[str, int]) -> None:
    """Neither in its prompt nor in what is around it."""
    game, asked, _ = played(*name)
    names = Names(list(game.campaign.events(viewer=DM)))
    for one in asked:
        heard = {
            words
            for event in heard_by(game.campaign, one.who, one.head)
            for text in (event.content, str(event.metadata))
            for words in names.heard_in(text)
        }
        said = names.said_in(f"{one.question.system}\n{one.question.text}")
        assert said <= heard, (one.who, said - heard)


@pytest.mark.parametrize("name", GAMES)
def test_what_a_person_is_asked_is_its_own_or_was_perceived_by_it(name: tuple[str, int]) -> None:
    """Its memory is the same from what it perceived alone; every line of the moment was said before it."""
    game, _, people = played(*name)
    assert people
    module = game._seats.module(0)
    for one in people:
        named = re.match(r"You are (.+?), somebody", one.question.system)
        assert named
        (key,) = [key for key, person in module.people.items() if person.name == named[1]]
        npc = Atlas(module, 0, uids=game.note.uids).uid("npc", key)
        beside = one.question.system.partition("\n## ")[0].partition("\n\n`a::key")[0]
        part = perceived_only(cut(game.campaign, one.head), npc)
        newest = [event for event in part.events(viewer=npc) if event.content and not event.is_note][-6:]
        # The question shows some of the newest lines, and the memory leaves these out.
        shown = " ".join(one.question.text.split())
        told = [event.event_id for event in newest if " ".join(event.content.split())[:60] in shown]
        whole = CampaignLookup(part).npc_prompt(npc, _beside(one.question.system), 900, told=told)
        assert whole == one.question.system, beside
        perceived = [event.content for event in game.campaign.events(viewer=npc)]
        for line in re.findall(r"^- (?:[^:\n]{1,40}: )?(.+)$", one.question.text, re.MULTILINE):
            assert any(line.rstrip("…")[:200] in " ".join(text.split()) for text in perceived), line


def _beside(system: str) -> str:
    """Return the text before the memory: four paragraphs at most, the last one the persona."""
    paragraphs = system.split("\n\n")
    own = next((n for n, text in enumerate(paragraphs) if text.startswith("WHO YOU ARE:")), 1)
    return "\n\n".join(paragraphs[: own + 1])


@pytest.mark.parametrize("name", GAMES)
def test_what_one_scene_is_told_no_other_perceives(name: tuple[str, int]) -> None:
    """The DM's own words, event by event."""
    game, _, _ = played(*name)
    table, narrated, split = Table(), 0, 0
    for event in game.campaign.events(viewer=DM):
        table.heard(event)
        if "A moment passes" in event.content and event.source == DM:
            narrated += 1
            split += len(table.scenes()) > 1
            here = {*table.together(event.known.location)}
            assert {who for who in audience(event) if who.startswith("pc_")} == here
    assert narrated >= ROUNDS
    assert split or name != GAMES[0], "the party of the first game splits"
