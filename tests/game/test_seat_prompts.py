"""What a model in a seat reads: the blocks of its prompt, nothing twice, nothing it must not know."""

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.adventures.library import first_chapter
from dndbots.game.game import Game
from dndbots.game.models.dm_brief import clip_text, tell_by
from dndbots.game.models.scene_text import render_surroundings
from dndbots.game.models.seat_prompts import PLAYER_BRIEFING, SeatPrompts
from dndbots.game.preview import preview_seat
from dndbots.ids import DM
from dndbots.llm.protocol import Question
from dndbots.memory.context import Briefing, Context
from dndbots.memory.context.brief import BriefLine
from dndbots.memory.context.repetition import sentences_in
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import retell_events
from dndbots.memory.selection.candidates import find_entry_candidates
from dndbots.storage.in_memory import MemoryStore
from dndbots.testing import perceived_only
from dndbots.tokens import count_tokens

MODULE, SEED, ROUNDS = "the_unpaid_bridge", 11, 14


@lru_cache(maxsize=1)
def played() -> Campaign:
    campaign = Campaign(MemoryStore())
    Game.begin(campaign, module=MODULE, seed=SEED).play(ROUNDS, compact=False)
    return campaign


@pytest.fixture(scope="module")
def game() -> Game:
    return Game.resume(played())


def context_of(game: Game, who: str) -> Context:
    game.system_message(who)
    return game.prompts[who]


def test_the_dm_reads_the_goal_giver_and_reward_of_every_open_quest(game: Game) -> None:
    """A DM who does not know what a quest is for cannot lead anybody to its end."""
    prompt = game.system_message(DM)
    quests = [line for line in prompt.split("\n") if line.startswith('- "')]
    assert quests
    for quest in (one for one in first_chapter(MODULE, SEED).quests.values() if one.name in " ".join(quests)):
        assert quest.goal is None or quest.goal in prompt


def test_secrets_are_in_the_dms_prompt_and_in_no_players(game: Game) -> None:
    """The adventure's file reaches the DM alone."""
    people = first_chapter(MODULE, SEED).people.values()
    secrets = [text.rstrip(".") for person in people for text in (person.secret, person.wants) if text]
    assert any(secret in game.system_message(DM) for secret in secrets)
    for who in game.table.living():
        assert not any(secret in game.system_message(who) for secret in secrets)
    hidden = ("## Adventure", "## Player Knowledge", "Hidden:", "Would tell of:", "Keeps back")
    for who in game.table.living():
        assert not any(head in game.system_message(who) for head in hidden)


def test_a_wound_changes_the_question_and_not_the_prompt(game: Game) -> None:
    """Providers cache the beginning of a prompt that stays the same, and a wound is no reason to lose it."""
    who = game.table.living()[0]
    sheet = game.tables[who].character(who)
    assert sheet is not None
    hurt = sheet.model_copy(
        update={"hp": sheet.hp - 1, "gold": sheet.gold + 5, "equipment": [*sheet.equipment, "rope"]}
    )
    assert SeatPrompts.beside_player(hurt) == SeatPrompts.beside_player(sheet)
    question = render_surroundings(game.tables[who], who)
    assert f"YOU CARRY: {'; '.join(sheet.equipment)}\n" in question
    assert f"{sheet.hp} of {sheet.hp_max} hit points; {sheet.gold} gold" in question


def test_longer_lines_leave_what_stands_first_as_it_is() -> None:
    """However much room the newest lines need, the adventure and the quests keep theirs."""
    campaign = Campaign(MemoryStore())
    game = Game.begin(campaign, module=MODULE, seed=SEED)
    game.play(ROUNDS, compact=False)
    who, openings = game.table.living()[0], set[str]()
    for words in ("Yes.", "I look at the gap in the bridge, and count the stones that are missing. " * 4):
        for number in range(12):
            said = GameEvent(
                event_id=f"{len(words)} {number}",
                event_type=EventType.DIALOGUE,
                source=who,
                content=f"{number}. {words}",
                session_id=game.table.session,
                metadata={"location": game.table.place(who), "witnesses": game.table.living()},
            )
            campaign.record(said)
        later = Game.resume(campaign)
        # Up to what is remembered, and who is around. A quest is in the front, or among what changed since.
        opening = re.split(r"## (?:\w+ )*Memory\n|## Place and People|## Quests", later.system_message(DM))[0]
        openings.add(opening)
        assert "(taken on), for" in later.system_message(DM)
    assert len(openings) == 1


def test_a_players_prompt_depends_on_nothing_it_did_not_perceive(game: Game) -> None:
    """Two worlds that differ only in what a seat did not perceive give the same bytes."""
    for who in game.table.living():
        own = perceived_only(game.campaign, who)
        context = context_of(game, who)
        alone = own.context(
            who,
            context.budget,
            beside=context.beside,
            briefing=PLAYER_BRIEFING,
        )
        assert alone.prompt == context.prompt
        assert [(item.text, item.reason) for item in alone.items] == [
            (item.text, item.reason) for item in context.items
        ]


@pytest.mark.parametrize("budget", [900, 1_200, 2_000, 6_000])
def test_a_prompt_never_exceeds_its_budget(budget: int) -> None:
    campaign = Campaign(MemoryStore())
    game = Game.begin(campaign, module=MODULE, seed=SEED, budget=budget)
    game.play(4, compact=False)
    for who in (DM, *game.table.living()):
        assert count_tokens(game.system_message(who)) == context_of(game, who).prompt_tokens <= budget


def test_nothing_stands_twice(game: Game) -> None:
    """A sentence of the newest lines, of a memory or of the place is told in one block only."""
    for who in (DM, *game.table.living()):
        items = context_of(game, who).items
        told = ("place", "people", "memories", "story", "open", "recent")
        blocks: dict[str, set[str]] = {
            section: set(sentences_in(item for item in items if item.section == section)) for section in told
        }
        counts = Counter(key for keys in blocks.values() for key in keys)
        assert [key for key, times in counts.items() if times > 1] == []


def test_no_room_is_kept_for_names_that_stand_elsewhere(game: Game) -> None:
    """People and places have lines of their own in a game; the newest lines get the room."""
    for who in (DM, *game.table.living()):
        context = context_of(game, who)
        # What stands first stays the same for some turns, and leaves room for the lines of those turns.
        assert not context.dropped or context.budget - context.prompt_tokens < context.budget * 0.35
        items = (*context.items, *context.dropped)
        assert not any(item.reason == "names that came up most often" for item in items)


@pytest.mark.parametrize("budget", [900, 1_200, 1_600])
def test_who_has_not_heard_what_has_a_line_in_a_small_prompt(game: Game, budget: int) -> None:
    """A DM who tells half of the party what only the others know spoils the game."""
    unheard = BriefLine(
        "[Zara has not heard this from Throk]: Throk found the bell in the old mill.", "apart"
    )
    briefing = Briefing(knowledge=(unheard,), has_sheets=True, lines=10)
    context = game.campaign.context(DM, budget, beside=context_of(game, DM).beside, briefing=briefing)
    assert f"## Player Knowledge\n- {unheard.text}" in context.prompt
    assert context.prompt_tokens <= budget


def test_ten_of_the_newest_lines_stand_word_for_word(game: Game) -> None:
    """Ten lines of talk and narration, at least, are neither cut nor retold."""
    events = [one for one in game.campaign.events(viewer=DM) if one.content and not one.is_note][-10:]
    shown = {
        source for item in context_of(game, DM).items if item.section == "recent" for source in item.sources
    }
    cut = [
        item for item in context_of(game, DM).items if item.section == "recent" and item.text.endswith("…")
    ]
    assert sum(one.event_id in shown for one in events) >= 9  # one may only mark time
    assert cut == []


def test_every_line_says_why_it_is_there(game: Game) -> None:
    for who in (DM, *game.table.living()):
        for item in context_of(game, who).items:
            assert item.reason
            assert item.sources or item.section == "adventure"


def test_a_preview_is_what_the_model_is_asked_and_records_nothing() -> None:
    """`preview_seat` shows the very question that the model in the seat gets next."""
    campaign = played()
    before = campaign.head
    for who in (DM, *Game.resume(campaign).table.living()):
        questions = preview_seat(campaign, who).questions
        assert questions
        assert all(isinstance(question, Question) and question.system for question in questions)
    assert campaign.head == before
    assert campaign.verify() == []


class WritingModel:
    """A chat model that writes a summary with a mark in it."""

    def __init__(self) -> None:
        self.asked = 0

    def invoke(self, messages: Any) -> str:
        self.asked += 1
        names = re.findall(r"Sister Maren|Throk|Borra|Pim", str(messages))
        return f"{names[0] if names else 'Somebody'} wrote chapter {self.asked} of the tale."


def test_a_models_summary_is_read_in_the_first_session_and_a_new_session_begins_with_it() -> None:
    """What was paid for is used, whole; a new session starts with summaries and an empty buffer."""
    model = WritingModel()
    campaign = Campaign(MemoryStore(), summarizer=model)
    game = Game.begin(campaign, module=MODULE, seed=SEED)
    game.play(ROUNDS, compact=False)
    assert campaign.summaries(DM)
    for block in campaign.summaries(DM):
        assert block.written
        assert block.text in game.system_message(DM)
    game.start_session()
    for who in (DM, *game.table.living()):
        assert campaign.memory(who).short_term_buffer == ["[DM]: Session 2."]
        assert campaign.summaries(who)[-1].text in game.system_message(who)


def test_a_whisper_is_kept_longer_than_small_talk() -> None:
    """Of the same words, whispered ones weigh more than those said aloud; an aside weighs least."""
    said = Entry(text="The cellar key lies under the third stone.", who="Throk", event_id="e1")
    aloud, whispered, aside = (
        find_entry_candidates(entry, False, True)[0].weight  # noqa: FBT003
        for entry in (said, replace(said, whispered=True), replace(said, aside=True))
    )
    assert aside < aloud < whispered


def test_a_whisper_and_an_aside_are_found_in_events() -> None:
    """Retelling finds out what was whispered, and what only tells the way somewhere."""
    game = Game.resume(played())
    with game.campaign.view(DM) as view:
        entries = retell_events(view, view.events(), Gates())
    assert any(entry.aside for entry in entries)
    assert not any(entry.aside and "took on" in " ".join(entry.outcomes) for entry in entries)


@pytest.mark.parametrize(
    ("gist", "line"),
    [
        ("Elena told us: the bell was sold.", "Elena told them: the bell was sold."),
        ("Elena asked us to find the bell", "Elena asked them to find the bell"),
        ("we came to the mill", "Zara came to the mill"),
        (f"Elena told us of {'bells and ' * 20}", f"Elena told them of {'bells and ' * 8}bells and bells…"),
    ],
)
def test_what_some_have_not_heard_is_told_in_the_third_person_and_ends_well(gist: str, line: str) -> None:
    """The DM reads of the players, not as one of them, and no line ends in the middle of "and"."""
    clipped = clip_text(tell_by("Zara", gist), 120)
    assert clipped.rstrip("…") == line.rstrip("…")
    assert not clipped.endswith("and…")
