"""What a DM's telling says plainly is made so by the tools, and by nothing else."""

from typing import Any

import pytest
from tests.game.models.tables import Walker, calls, notes, play, run_by

from dndbots.events import EventType
from dndbots.game.game import Game
from dndbots.game.models.said_calls import find_said_calls

PEOPLE = {"npc_1": "Pask Oldacre", "pc_1": "Throk", "pc_2": "Borra Ironkettle"}
TOOLS = ("ask_roll", "give", "pay", "hurt", "heal")


def found(words: str, *, told: str = "") -> list[dict[str, Any]]:
    said = find_said_calls(words, PEOPLE, told=told, offered=TOOLS)
    return [{"tool": call.tool, **call.form.model_dump(exclude_defaults=True)} for call in said.calls]


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (
            "Throk, make a Strength check to lift it.",
            {"tool": "ask_roll", "character": "Throk", "kind": "str"},
        ),
        (
            "Borra needs to make a Dexterity (Stealth) check.",
            {"tool": "ask_roll", "character": "Borra Ironkettle", "kind": "dex"},
        ),
        (
            "Pask hands Throk a rusty key, and sighs.",
            {"tool": "give", "item": "rusty key", "to": "Throk", "giver": "Pask Oldacre"},
        ),
        (
            "Pask Oldacre slowly passes two candles to Borra.",
            {
                "tool": "give",
                "item": "candles",
                "to": "Borra Ironkettle",
                "giver": "Pask Oldacre",
                "number": 2,
            },
        ),
        (
            "Pask pays Throk five gold pieces.",
            {"tool": "pay", "gold": 5, "payer": "Pask Oldacre", "to": "Throk"},
        ),
        ("Throk falls and takes 1d4 damage.", {"tool": "hurt", "character": "Throk", "amount": "1d4"}),
        ("Throk drinks and regains 3 hit points.", {"tool": "heal", "character": "Throk", "amount": "3"}),
    ],
)
def test_a_plain_telling_is_a_call(words: str, call: dict[str, Any]) -> None:
    assert found(words) == [call]


@pytest.mark.parametrize(
    "words",
    [
        "Throk hands Pask a coin.",  # its player decides that
        "Pask gives Throk a long hard look.",
        "Pask gives Throk an answer.",
        '"Throk, make a Strength check," says Pask.',
        "Pask could hand Throk a key.",
        "A stranger hands Throk a key.",
        "Somebody must make a Strength check.",
        "Throk and Borra make a Strength check.",
    ],
)
def test_what_is_not_plain_is_no_call(words: str) -> None:
    assert found(words) == []


def test_what_the_adventure_decided_is_not_done_again() -> None:
    assert found("Pask hands Throk a key.", told="- You get the key from Pask.") == []
    assert found("Pask pays Throk 12 gold.", told="Pask pays 12 gold for it.") == []


def on_sheet(game: Game, who: str, key: str) -> Any:
    return game.table.fact(who, key)


def test_what_is_told_is_on_the_sheet_and_told_once() -> None:
    words = "The wind drops. Pask Oldacre hands Throk a brass whistle."
    game, _ = run_by("", words, seats=1, player=Walker())
    game.play(2, compact=False)
    (who,) = game.table.living()
    assert game.table.items(who).get("brass whistle") == 1
    texts = [event.content for event in play(game)]
    assert sum("brass whistle" in text for text in texts) == 1
    assert any("The wind drops." in text for text in texts)
    assert not game.campaign.verify()


def test_a_check_that_is_told_is_rolled_and_its_result_told() -> None:
    """The rules roll; the model is asked again with the result, and the words of the rules are no story."""
    told: list[Any] = []

    def after(question: Any) -> str:
        told.append(question)
        return "The stone does not move."

    game, _ = run_by("", "Dust falls. Throk, make a Strength check.", after, seats=1, player=Walker())
    game.play(2, compact=False)
    (question,) = told
    assert question.so_far
    assert any("Throk" in result for result in question.so_far[-1].results.values())
    assert any(event.metadata.get("play", {}).get("rolls") for event in play(game))
    assert not any("Strength check" in event.content for event in play(game))


def test_a_hand_over_that_the_rules_refuse_is_not_told() -> None:
    """Gold beyond all measure is refused, and the sentence that says so is not heard."""
    game, _ = run_by("", "Pask Oldacre pays Throk 99999 gold.", seats=1, player=Walker())
    (who,) = game.table.living()
    before = game.table.fact(who, "gold")
    game.play(2, compact=False)
    gained = game.table.fact(who, "gold") - before
    told = any("99999 gold" in event.content for event in play(game))
    assert told == (gained == 99999)


def test_calls_of_the_model_itself_come_first() -> None:
    """A model that calls is not second-guessed."""
    words = "Pask Oldacre hands Throk a brass whistle."
    game, _ = run_by(
        "", calls("give", words, item="lantern", to="Throk", giver="Pask"), seats=1, player=Walker()
    )
    game.play(2, compact=False)
    (who,) = game.table.living()
    assert "lantern" in game.table.items(who)
    assert "brass whistle" not in game.table.items(who)
    assert not notes(game)[-1].faults
    assert any(event.event_type is EventType.LOOT for event in play(game))
