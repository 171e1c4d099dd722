"""Whole games, played by the house: what holds in each of them, from the first round to the last."""

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from bench.laws import acts_of_the_dead, is_turn, overheard, unheard_names, unshown_uids
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.games import (
    BUDGET,
    FEW_ROUNDS,
    REFUSED,
    REMEMBERED,
    STORIES,
    Unprompted,
    log,
    played,
    remembered,
    step_of,
    story,
)

from dndbots.campaign import Campaign
from dndbots.errors import GameExists, NoGame, StoryExists, UnknownClass
from dndbots.events import EventType, GameEvent, audience
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.dnd import DnDGame
from dndbots.game.game import Game
from dndbots.game.models.seat_prompts import PLAYER_BRIEFING, SeatPrompts
from dndbots.game.referee import refusal
from dndbots.game.state.game_notes import played_of
from dndbots.game.state.step import seeded_rng
from dndbots.game.state.table import Table, deliver_event
from dndbots.game.world.narration import Screen
from dndbots.ids import DM, is_description
from dndbots.rules import ready_made
from dndbots.testing import assert_perspective, memory_campaign
from dndbots.tokens import count_tokens

stories = pytest.mark.parametrize("name", STORIES, ids=str)
short_games = pytest.mark.parametrize("name", REMEMBERED, ids=str)


def cut(campaign: Campaign, head: int) -> Campaign:
    """A newly opened campaign with the first events of another, as many as it had at some moment."""
    part = memory_campaign()
    part.replay(event for event in log(campaign) if (event.seq or 0) <= head)
    return part


def test_the_games_looked_at_have_everything_in_them() -> None:
    """Else the laws below would hold of nothing; if the house plays otherwise now, other seeds are due."""
    events = [event for name in STORIES for event in log(story(*name))]
    kinds = Counter(event.event_type for event in events)
    verbs = Counter(act_of(event).verb for event in events if is_turn(event))
    for kind in (EventType.COMBAT_START, EventType.COMBAT_END, EventType.LOOT, EventType.QUEST_UPDATE):
        assert kinds[kind], kind
    for verb in (Verb.ATTACK, Verb.ASK, Verb.GO, Verb.SEARCH, Verb.TELL, Verb.WHISPER):
        assert verbs[verb], verb
    assert any(event.metadata["play"].get("chapter") for event in events if "play" in event.metadata)
    assert any(uid.startswith("pc_") for event in events for uid in event.known.killed)
    steps = {node.split(" ")[0] for name in REMEMBERED for node in remembered(*name).nodes}
    assert {"dm", "march", "referee"} < steps
    assert sum(len(scenes) > 1 for name in STORIES for scenes in scenes_of(story(*name))) > 50


def act_of(event: GameEvent) -> Act:
    note: Any = event.metadata["play"]
    return Act.model_validate(note["act"])


def scenes_of(campaign: Campaign) -> list[dict[str, list[str]]]:
    table, found = Table(), []
    for event in log(campaign):
        table.heard(event)
        found.append(table.scenes())
    return found


@stories
def test_a_name_once_learned_is_not_lost_to_a_description(name: tuple[str, int]) -> None:
    """At every table, and in canon: who was named is not "a woman with tired eyes" for the next who come."""
    campaign = story(*name)
    events = log(campaign)
    for viewer in (DM, *Game.resume(campaign).table.seats):
        table, named = Table(viewer), dict[str, str]()
        for event in events:
            table.heard(event)
            described = {uid: called for uid, called in table.names.items() if is_description(called)}
            assert described.keys().isdisjoint(named), (viewer, event.event_id)
            named = {uid: called for uid, called in table.names.items() if uid not in described}
        with campaign.view(viewer) as view:
            called_so = view.called(sorted(table.names))
        assert {uid: one.name for uid, one in called_so.items()} == table.names


# Chance, and memory beside it.


def test_the_same_seed_is_the_same_log() -> None:
    """Byte for byte, notes of memory and all; another seed is another story."""
    one = remembered(*REMEMBERED[0])
    again = memory_campaign()
    Game.begin(again, module=REMEMBERED[0][0], seed=REMEMBERED[0][1], budget=BUDGET).play(FEW_ROUNDS)
    assert list(again.export()) == list(one.campaign.export())
    other = memory_campaign()
    Unprompted.begin(other, module=REMEMBERED[0][0], seed=REMEMBERED[0][1] + 1).play(3)
    assert {event.content for event in log(other)} != {event.content for event in log(one.campaign)}


@short_games
def test_memory_changes_nothing_of_what_is_played(name: tuple[str, int]) -> None:
    """Summaries and prompts are there to be read: the rules and the house play on without them."""
    alone = memory_campaign()
    Unprompted.begin(alone, module=name[0], seed=name[1], budget=BUDGET).play(FEW_ROUNDS)
    assert played(alone) == played(remembered(*name).campaign)


# Stopping and going on.


@settings(max_examples=settings().max_examples // 4)
@given(name=st.sampled_from(REMEMBERED), data=st.data())
def test_a_game_goes_on_from_its_log_as_if_nothing_had_been(
    name: tuple[str, int], data: st.DataObject
) -> None:
    """Cut after any step and opened anew, it comes to the same log, notes of memory and all."""
    whole = remembered(*name)
    head = data.draw(st.sampled_from(whole.heads[:-3]))
    begun = cut(whole.campaign, head)
    assert len(game_steps(Game.resume(begun), 3)) == 3
    assert log(begun)[head:] == log(whole.campaign)[head : begun.head]


def game_steps(game: Game, number: int) -> list[list[GameEvent]]:
    """The next few steps of a game."""
    found: list[list[GameEvent]] = []

    def watch(events: list[GameEvent]) -> None:
        found.append(events)
        if len(found) == number:
            game.pause()

    game.play(watch=watch)
    return found


@short_games
def test_a_pause_stops_after_the_step_under_way(name: tuple[str, int]) -> None:
    """Wherever it falls, the log ends with that step; who resumes comes to the same end."""
    whole = remembered(*name)
    campaign = memory_campaign()
    game = Game.begin(campaign, module=name[0], seed=name[1], budget=BUDGET)
    for stop in _moments(whole.nodes):
        game_steps(game, stop - len([head for head in whole.heads if head <= campaign.head]))
        assert campaign.head == whole.heads[stop - 1]
        campaign = cut(campaign, campaign.head)
        game = Game.resume(campaign)
    while game.round < FEW_ROUNDS or game.table.due() is not None:
        game.play(1)
    assert list(campaign.export()) == list(whole.campaign.export())


def _moments(nodes: list[str]) -> list[int]:
    """After how many steps to stop: once after each kind of step that there is."""
    first: dict[str, int] = {}
    for number, node in enumerate(nodes, 1):
        first.setdefault(node.replace(" ", "_").split("_")[0], number)
    return sorted(first.values())


def test_a_session_that_was_ended_is_followed_by_another() -> None:
    """Ended and gone on with, the same round is played on, in a new session."""
    campaign = cut(remembered(*REMEMBERED[0]).campaign, remembered(*REMEMBERED[0]).heads[10])
    game = Game.resume(campaign)
    round_, session = game.round, game.table.session
    game.end_session()
    again = Game.resume(cut(campaign, campaign.head))
    assert again.table.ended
    (start,), *_ = game_steps(again, 2)
    assert start.event_type is EventType.SESSION_START
    assert start.session_id != session
    assert again.round == round_


def test_what_others_record_meanwhile_is_taken_in() -> None:
    """Somebody else narrates in the middle of rounds; all the tables are those of the log in the end."""
    campaign = memory_campaign()
    other = campaign.another()
    game = Unprompted.begin(campaign, seed=1)
    numbers = itertools.count()

    def watch(_events: list[GameEvent]) -> None:
        number, who = next(numbers), game.table.living()[0]
        if number % 7 == 0:
            other.record(pebble(number, who, game.table))

    game.play(3, watch=watch)
    game.play(1)
    fell = [event for event in log(campaign) if event.event_id.startswith("stone")]
    assert len(fell) > 1
    again = Game.resume(cut(campaign, campaign.head)).tables
    assert again.keys() == game.tables.keys()
    for who, table in game.tables.items():
        assert (table.facts, table.names, table.steps) == (
            again[who].facts,
            again[who].names,
            again[who].steps,
        )


def pebble(number: int, who: str, table: Table) -> GameEvent:
    return GameEvent(
        event_id=f"stone{number}",
        event_type=EventType.DAMAGE,
        source=DM,
        content="A pebble falls.",
        session_id=table.session,
        metadata={"location": table.place(who), "participants": [who], "hp_delta": {who: -1}},
    )


def test_a_campaign_has_one_game() -> None:
    """A campaign without a game cannot be resumed; one with a game cannot begin another."""
    with pytest.raises(NoGame):
        Game.resume(memory_campaign())
    with pytest.raises(GameExists):
        Game.begin(cut(story(*STORIES[0]), 40), seed=1)


def test_nobody_begins_with_a_class_that_the_rules_do_not_have() -> None:
    """No other class is taken for it, and nothing is begun."""
    campaign = memory_campaign()
    bard = ready_made()[0].model_copy(update={"char_class": "Bard"})
    with pytest.raises(UnknownClass, match="'Bard'; they have Cleric, "):
        Game.begin(campaign, seed=1, characters=[bard])
    assert campaign.head == 0


def test_no_game_is_begun_in_a_story_that_came_from_elsewhere() -> None:
    """It says so and what to do, and records nothing; people who were only prepared are no story."""
    campaign = memory_campaign()
    campaign.introduce("NPC", "Elena")
    campaign.import_transcript([{"speaker": "Zara", "text": "Where is Elena?"}])
    before = list(campaign.export())
    with pytest.raises(StoryExists, match="another --campaign") as refused:
        Game.begin(campaign, seed=1, seats=2)
    assert refused.value.where == "this campaign"
    with pytest.raises(StoryExists):
        DnDGame("A mill.", list(ready_made()[:2]), "house", "house", campaign).play(1)
    assert list(campaign.export()) == before
    prepared = memory_campaign()
    prepared.introduce("NPC", "Elena")
    assert Game.begin(prepared, seed=1, seats=2).play(1, compact=False) == 1


# Perspective.


@stories
def test_everybody_acts_on_what_it_perceived_alone(name: tuple[str, int]) -> None:
    """Each act is the one that the character's own events lead to, and the same chance."""
    campaign, seed = story(*name), name[1]
    player = HousePlayer()
    for who in sorted({event.source for event in log(campaign) if is_turn(event)}):
        own = Table(who)
        for event in campaign.events(viewer=who):
            if event.source == who and is_turn(event):
                turn = SeatTurn(
                    who=who, table=own, prompt=None, rng=seeded_rng(seed, event.turn, who), seed=seed
                )  # type: ignore[arg-type]
                assert player.act(turn) == act_of(event), f"round {event.turn}: {event.content}"
            own.heard(event)


@short_games
def test_every_prompt_is_made_of_what_its_character_perceived(name: tuple[str, int]) -> None:
    """Sheet and memory are the same, byte for byte, in a campaign that holds nothing else."""
    whole = remembered(*name)

    def prompt(campaign: Campaign, viewer: str) -> str:
        own = Table(viewer)
        for event in campaign.events(viewer=viewer):
            own.heard(event)
        sheet = own.character(viewer)
        assert sheet is not None
        return campaign.context(
            viewer, BUDGET, beside=SeatPrompts.beside_player(sheet), briefing=PLAYER_BRIEFING
        ).prompt

    party = whole.game.table.living()
    assert_perspective(whole.campaign, prompt, viewers=party)
    for who in party:
        assert whole.game.system_message(who) == prompt(whole.campaign, who)


@stories
def test_nobody_hears_a_whisper_or_sees_a_scene_from_elsewhere(name: tuple[str, int]) -> None:
    """A whisper has two ends; what happens at a place is perceived by those who are there."""
    assert list(map(str, overheard(log(story(*name))))) == []


@stories
def test_nobody_says_a_name_that_it_never_heard(name: tuple[str, int]) -> None:
    """Every name in a character's words was told in its hearing before."""
    assert list(map(str, unheard_names(lambda: log(story(*name))))) == []


@stories
def test_nobody_learns_of_what_it_was_not_shown(name: tuple[str, int]) -> None:
    """All that is noted on an event, however deep, is of people and places that its perceivers know of."""
    assert list(map(str, unshown_uids(log(story(*name))))) == []


# Life, death, and the order of things.


@stories
def test_a_group_that_loses_one_fights_on_with_one_fewer(name: tuple[str, int]) -> None:
    """Each kill says how many there were, leaves that many fewer, and is the end only of the last."""
    campaign = story(*name)
    for event in log(campaign):
        for group, times in Counter(event.known.killed).items():
            if group.startswith("mon_"):
                assert event.known.enemies[0] == group
                left = event.known.enemy_count - times
                after = campaign.entity(group, viewer=DM, as_of=event.event_id)
                assert (after.properties["number"], after.alive) == (left, left > 0)


@stories
def test_foes_who_are_seen_and_do_not_fight_have_a_place_and_can_be_attacked(name: tuple[str, int]) -> None:
    """For everybody who sees them."""
    tables: dict[str, Table] = {DM: Table()}
    for event in log(story(*name)):
        deliver_event(event, tables)
        for foes, who in _seen_by(event, tables):
            own, place = tables[who], event.known.location
            assert own.place(foes) == place
            if who != DM and own.can_act(who) and place not in own.fights:
                assert refusal(own, who, Act(verb=Verb.ATTACK, target=foes)) is None


def _seen_by(event: GameEvent, tables: Iterable[str]) -> list[tuple[str, str]]:
    """Foes who only watch, each with those who see them."""
    note = None if event.is_note else played_of(event)
    people = note.sights.people if note is not None and note.sights is not None else ()
    who = sorted(set(tables) & audience(event))
    return [(uid, one) for uid in people if uid.startswith("mon_") for one in who]


def test_the_games_looked_at_have_groups_that_fight_on_and_foes_that_watch() -> None:
    """Or else the laws about them would say nothing."""
    games = [log(story(*name)) for name in STORIES]
    hits = [(events, n, uid) for events in games for n, one in enumerate(events) for uid in one.known.killed]
    assert any(later.source == uid for events, n, uid in hits for later in events[n:])
    assert any(_seen_by(event, [DM]) for events in games for event in events)


@stories
def test_the_dead_do_nothing(name: tuple[str, int]) -> None:
    """Neither characters nor people nor the last of a group of foes."""
    assert list(acts_of_the_dead(log(story(*name)))) == []


@stories
def test_everybody_has_one_turn_a_round(name: tuple[str, int]) -> None:
    """The DM first, then each who can act, once."""
    sessions = (EventType.SESSION_START, EventType.SESSION_END)
    events = [event for event in log(story(*name)) if event.turn and event.event_type not in sessions]
    for number, of_round in itertools.groupby(events, key=lambda event: event.turn):
        together = list(of_round)
        assert step_of(together[0]) == "dm", number
        acts = Counter(event.source for event in together if is_turn(event))
        assert max(acts.values(), default=1) == 1, f"round {number}: {acts}"


@stories
def test_no_act_of_the_house_is_refused(name: tuple[str, int]) -> None:
    """A player who decides from its own view still tries only possible deeds."""
    assert story(*name).head
    assert REFUSED[name] == []


@short_games
def test_every_prompt_is_within_its_limit(name: tuple[str, int]) -> None:
    """Counted whole, for everybody, in every turn."""
    whole = remembered(*name)
    assert {prompt.budget for prompt in whole.prompts} == {BUDGET}
    for prompt in whole.prompts:
        assert count_tokens(prompt.prompt) == prompt.prompt_tokens <= BUDGET
    acting = Counter(event.source for event in log(whole.campaign) if is_turn(event))
    assert len(whole.prompts) == FEW_ROUNDS + acting.total()


@short_games
def test_the_log_of_a_game_is_sound(name: tuple[str, int]) -> None:
    """Log, views and cursors agree, and everybody in the party perceived some of it."""
    campaign = remembered(*name).campaign
    assert campaign.verify() == []
    everybody = {who for event in log(campaign) for who in audience(event) if who.startswith("pc_")}
    assert len(everybody) == 4
    assert DM not in everybody


def test_a_step_that_breaks_leaves_the_game_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any error in the middle of a turn, the same game goes on with the same story."""
    name, seed = "endless", 3
    undisturbed, broken = memory_campaign(), memory_campaign()
    Game.begin(undisturbed, module=name, seed=seed).play(3)
    game = Game.begin(broken, module=name, seed=seed)
    game.play(1)
    run = game.cast.dm.run

    def breaks(screen: Screen) -> None:
        run(screen)
        raise ZeroDivisionError

    monkeypatch.setattr(game.cast.dm, "run", breaks)
    with pytest.raises(ZeroDivisionError):
        game.play(1)
    monkeypatch.setattr(game.cast.dm, "run", run)
    game.play(2)
    assert list(broken.export()) == list(undisturbed.export())


def test_what_is_let_go_of_somebody_comes_back_the_same() -> None:
    """To drop what is at hand of a viewer changes nothing but the time it takes."""
    campaign = memory_campaign()
    game = Game.begin(campaign, module="endless", seed=3)
    game.play(3)
    for who in (DM, *game.table.living()):
        before = campaign.context(who, 1_000)
        campaign.drop_cache(who)
        assert campaign.context(who, 1_000) == before
