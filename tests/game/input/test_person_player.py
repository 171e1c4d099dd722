"""People at the table: asked until what they want can be done, and nothing is recorded before."""

from collections.abc import Iterator

import pytest
from tests.game.chair import Script

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.agents import Cast, SeatTurn
from dndbots.game.game import Game
from dndbots.game.input.person_player import PersonPlayer, reason_of
from dndbots.game.setup import cast_from_note
from dndbots.game.state.game_notes import GameNote
from dndbots.testing import memory_campaign


@pytest.fixture
def campaign() -> Iterator[Campaign]:
    with memory_campaign() as made:
        yield made


def begun(campaign: Campaign, chair: object, *, seats: int = 2, seed: int = 1) -> tuple[Game, str]:
    """A game in which a person has the first seat."""
    game = Game.begin(campaign, module="apples_in_january", seed=seed, seats=seats)
    who = game.table.living()[0]
    house = cast_from_note(game.note)
    game.cast = Cast(dm=house.dm, player=house.player, seats={who: PersonPlayer(chair)})  # type: ignore[arg-type]
    return game, who


def words_of(campaign: Campaign, who: str) -> list[str]:
    spoken = (EventType.DIALOGUE, EventType.PLAYER_ACTION, EventType.WHISPER)
    return [
        one.content for one in campaign.events(viewer="dm") if one.source == who and one.event_type in spoken
    ]


def test_a_person_plays_beside_the_house(campaign: Campaign) -> None:
    """The typed line is the act; the other seats play as before."""
    game, who = begun(campaign, Script(["Good evening to you.", "look at the wreath", "go inn door"]))
    assert game.play(3) == 3
    assert words_of(campaign, who) == [
        "Good evening to you.",
        "I look at the wreath.",
        "I go inn door.",
    ]


def test_what_cannot_be_is_asked_for_again(campaign: Campaign) -> None:
    """The reason is told, nothing is recorded, and the person is asked again."""
    script = Script(["go to the moon", "fly away", "cast fireball", "I wait."])
    game, who = begun(campaign, script)
    game.play(1)
    assert len(script.refused) == 3
    assert "inn door, chapel path" in script.refused[0]
    assert words_of(campaign, who) == ["I wait."]


def test_reasons_have_names_and_no_uids(campaign: Campaign) -> None:
    """A refusal uses the names that the character knows."""

    class Chair:
        def __init__(self) -> None:
            self.turns: list[SeatTurn] = []

        def ask(self, turn: SeatTurn) -> str:
            self.turns.append(turn)
            return "bind Borra" if len(self.turns) == 1 else "I wait."

    chair = Chair()
    game, _ = begun(campaign, chair, seats=4)
    game.play(1)

    assert "Borra" in reason_of(chair.turns[1])
    assert "pc_" not in reason_of(chair.turns[1])


def test_who_leaves_leaves_the_round_as_it_is(campaign: Campaign) -> None:
    """The round waits for them: it is gone on with from the log, by the same person or another."""
    game, who = begun(campaign, Script([]))
    steps: list[GameEvent] = []
    assert game.play(1, watch=steps.extend) == 0
    assert game.table.due() is not None
    assert game.table.due().who == who  # type: ignore[union-attr]
    again = Game.resume(campaign)
    assert again.play(1) == 1
    assert again.round == 1


def test_a_person_is_handed_only_what_its_character_perceived(campaign: Campaign) -> None:
    """The table of a turn is the character's own."""

    class Chair:
        def ask(self, turn: SeatTurn) -> str:
            assert turn.table.viewer == turn.who
            assert turn.table is not game.table
            assert turn.table.game is None or isinstance(turn.table.game, GameNote)
            return "stay here"

    game, who = begun(campaign, Chair())
    game.play(2)
    assert words_of(campaign, who) == ["I stay here.", "I stay here."]


def test_questions_and_unclear_lines_cost_no_round(campaign: Campaign) -> None:
    """The game answers, asks what was meant, and records only what is chosen."""
    answers: list[str] = []

    class Chair(Script):
        def ask(self, turn: SeatTurn) -> str | None:
            answers.append(turn.answer)
            return super().ask(turn)

    game, who = begun(campaign, Chair(["where am I?", "banana banana", "1"]))
    game.play(1)
    assert "Marrowby Green" in answers[1]
    assert '1. say "banana banana"' in answers[2]
    assert words_of(campaign, who) == ['"banana banana"']


@pytest.mark.parametrize("line", ["1", ""])
def test_a_second_deed_is_done_or_left_for_the_next_turn(campaign: Campaign, line: str) -> None:
    """Words fit into a turn beside a deed. Somebody who asks stays for the answer, and leaves after it."""
    answers: list[str] = []

    class Chair(Script):
        def ask(self, turn: SeatTurn) -> str | None:
            answers.append(turn.answer)
            return super().ask(turn)

    lines = [
        "eat some rations and whisper to Borra: he lies",
        "ask him about the apples, then go to the inn",
        line,
    ]
    game, who = begun(campaign, Chair(lines))
    game.play(3)
    assert words_of(campaign, who)[:2] == ["I eat some rations.", "he lies"]
    assert "1. go to the inn" in answers[2].casefold().replace("i go", "go")
    assert words_of(campaign, who)[2:] == ["I ask him about the apples.", "I go to the inn."]


def test_who_asks_and_sits_down_has_done_both(campaign: Campaign) -> None:
    """To stay where one is fits into any turn: nothing of the line is left to be done."""
    answers: list[str] = []

    class Chair(Script):
        def ask(self, turn: SeatTurn) -> str | None:
            answers.append(turn.answer)
            return super().ask(turn)

    game, who = begun(campaign, Chair(["ask him about the apples and sit down", "I wait."]))
    game.play(2)
    assert answers == ["", ""]
    assert words_of(campaign, who)[:2] == ["I ask him about the apples.", "I sit down."]


def test_a_second_deed_in_secret_is_not_on_the_first(campaign: Campaign) -> None:
    """A whisper in the same line reaches its two ends only."""
    game, who = begun(campaign, Script(["wave at the man and whisper to Borra: he lies"]), seats=3)
    game.play(1)
    others = [uid for uid in game.table.living() if uid != who and "borra" not in uid]
    for uid in others:
        assert not any(
            "he lies" in str(event.metadata) + event.content for event in campaign.events(viewer=uid)
        )


def test_what_comes_of_an_attempt_is_in_the_log(campaign: Campaign) -> None:
    """The consequence is structured: what was tried, whether it worked, and what it changed."""
    game, _ = begun(campaign, Script(["hide behind the well", "sing a song"]))
    game.play(2)
    notes = [
        event.metadata["attempt"] for event in campaign.events(viewer="dm") if "attempt" in event.metadata
    ]
    assert [(note["approach"], note["ability"]) for note in notes] == [("hide", "dex"), ("perform", "cha")]
    assert ("hidden" in notes[0]["effects"]) == notes[0]["success"]
    assert ("seen" in notes[0]["effects"]) != notes[0]["success"]
    assert "noise" in notes[1]["effects"]


def test_what_is_used_up_leaves_the_sheet(campaign: Campaign) -> None:
    game, who = begun(campaign, Script(["eat some rations", "light a torch", "give him 2 gold"]))
    before = dict(game.table.items(who))
    gold = game.table.fact(who, "gold")
    game.play(3)
    after = game.table.items(who)
    assert "rations" in before
    assert "rations (6 left)" in after
    assert ("6 torches" in before) == ("5 torches" in after)
    assert game.table.fact(who, "gold") == gold - 2


def test_what_is_left_over_is_read_where_one_has_come_to(campaign: Campaign) -> None:
    """The way to the orchard begins on the green, where the first deed of the line led."""
    lines = ["go to the blue shutters", "back out, then down the orchard lane", "", "I wait."]
    game, who = begun(campaign, Script(lines), seats=1)
    game.play(4)
    assert words_of(campaign, who)[1:3] == ["back out", "down the orchard lane"]
    assert "orchard" in game.table.name(game.table.place(who) or "")
