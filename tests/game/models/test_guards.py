"""Guards on answers: recorded slips of a model of 1.5 billion parameters, and hostile ones."""

import pytest

from dndbots.game.models.echoes import EchoFilter, share_told
from dndbots.game.models.first_person import is_third_person, turn_to_first_person
from dndbots.game.models.guards import (
    clean_markup,
    guard_dm,
    guard_npc,
    guard_player,
    is_engine_talk,
    whole_sentences,
)

THROK = ("Throk Ironfist", "Throk")


@pytest.mark.parametrize(
    "sentence",
    [
        "Field required.",
        "No record.",
        "Throk tries wisdom: d20 14 against 10: fails.",
        "Not possible: nobody in this scene matches 'Zed'.",
        "You must roll a d20 to see.",
        "Throk has 3/7 hit points.",
        "I will call introduce_npc now.",
        '{"verb": "say", "words": "Hi"}',
        '"name": "act", "target": "halfbridge square", "words": "I see the sign.',
        "Your words were told to them already; do not repeat them.",
        "WAYS: inn sign; tall house",
        "As an AI language model, I cannot do that.",
        "The NPC looks at the player characters.",
        "What would you like to do next?",
        "Speak and act as your character, in the first person, in a few sentences.",
        "Here is the next scene:",
        "Input should be a valid string",
        "Throk succeeds at strength.",
        "A wisdom check is needed here.",
        "Throk's dice come up 10 and 14.",
        "Borra Ironkettle succeeds in trying their intelligence.",
        "Borra Ironkettle succeeds.",
        "What happens now, for you to tell:",
        "I will tell of news, apprentice, builders.",
        "The move scene failed.",
        "The action was rejected.",
    ],
)
def test_engine_talk_never_reaches_the_story(sentence: str) -> None:
    assert is_engine_talk(sentence)
    guarded = guard_dm(f"The bell rings twice. {sentence}", earlier=(), heroes={})
    assert "bell rings" in guarded.words
    assert sentence.rstrip(".") not in guarded.words


@pytest.mark.parametrize(
    "sentence",
    [
        "The innkeeper rolls his eyes and pours the beer.",
        "Two coins lie against the wall.",
        "A record of debts hangs by the door.",
        "It is done with care, and the lock opens.",
        "The way is clear: a door, a stair, a cellar.",
        "He calls your name from across the square.",
        "You look up: the way you came is gone.",
        "The warden's request was refused.",
        "Her strength fails, and the rope slips.",
        "She succeeds at last, by wisdom and patience.",
        '"What do you do here at night?" asks the guard.',
    ],
)
def test_a_story_is_left_alone(sentence: str) -> None:
    assert not is_engine_talk(sentence)
    assert guard_dm(sentence, earlier=(), heroes={"Throk": ""}).words == sentence


def test_what_was_told_is_not_told_again() -> None:
    told = ["The arch of gray stone leans out over the windy gorge.", "Pask counts the tolls."]
    guarded = guard_dm(
        "An arch of gray stone leans out over the windy gorge. Rain begins. Rain begins.",
        earlier=told,
        heroes={},
    )
    assert guarded.words == "Rain begins."
    assert guarded.cuts == {"echo": 2}


def test_a_quotation_of_several_sentences_is_an_echo_of_each_of_them() -> None:
    """Also where they stood beside other words of the speaker."""
    told = (
        '"Good day," says the warden. "Mind the step. It was never mended." She sighs. "Nobody pays for it."'
    )
    again = 'The warden looks up. "Mind the step. It was never mended."'
    assert guard_dm(again, earlier=[told], heroes={}).words == "The warden looks up."
    more = '"Mind the step. Then tell me what brought you here at this hour of the night."'
    assert guard_dm(more, earlier=[told], heroes={}).words == more


def test_single_marks_are_a_quotation_too() -> None:
    """Cut whole, so that no half of it is left; an apostrophe begins none."""
    told = ['"Tea? Cake? Sit where you like. Not by the stove." The cook wipes her hands.']
    again = "The cook smiles. 'Tea? Cake? Sit where you like. Not by the stove.'"
    assert guard_dm(again, earlier=told, heroes={}).words == "The cook smiles."
    new = "The cook's brother nods. 'It's late, and the masons' gate is shut.' He's tired."
    quoted = "The cook's brother nods. \"It's late, and the masons' gate is shut.\" He's tired."
    assert guard_dm(new, earlier=told, heroes={}).words == quoted


@pytest.mark.parametrize("mark", ["'", '"', "\u201c"])
def test_a_mark_that_quotes_nothing_goes(mark: str) -> None:
    """What it quoted was cut, or never came; a line of marks alone is no line."""
    assert guard_dm(f"The stairs go down. {mark} It rains.", earlier=(), heroes={}).words == (
        "The stairs go down. It rains."
    )
    assert (
        guard_dm(f"The clerk looks you over. {mark}", earlier=(), heroes={}).words
        == "The clerk looks you over."
    )
    assert guard_dm(mark, earlier=(), heroes={}).words == ""
    assert guard_npc(f"{mark}\n\nSit down.", earlier=(), others=()).words == "Sit down."


@pytest.mark.parametrize(
    ("begun", "kept"),
    [
        ("Lamps are lit along the street. A boy", "Lamps are lit along the street."),
        ("Lamps are lit", "Lamps are lit\u2026"),
        ('The smith nods. "Come in."', 'The smith nods. "Come in."'),
    ],
)
def test_a_stopped_answer_ends_with_a_sentence(begun: str, kept: str) -> None:
    assert whole_sentences(begun) == kept


def test_short_and_common_sentences_may_come_back() -> None:
    assert guard_player("I wait.", earlier=["I wait."], own=THROK, others=()).words == "I wait."
    assert not EchoFilter(["The door is open."]).has("The door is of oak, and somebody knocks at it.")


@pytest.mark.parametrize(
    "again",
    ["It's still there.", "It is still there!", "Well, it's still there, really.", "And it's still there?"],
)
def test_a_player_does_not_say_a_short_line_over_and_over(again: str) -> None:
    """Small models play one line for rounds; somebody else may say the same once."""
    said = ["I look at the notice. It's still there."]
    guarded = guard_player(f"{again} Let us ask the clerk.", earlier=said, own=THROK, others=(), said=said)
    assert guarded.words == "Let us ask the clerk."
    assert guarded.cuts == {"echo": 1}


def test_two_players_may_say_the_same_few_words() -> None:
    guarded = guard_player("It's still there.", earlier=["It's still there."], own=THROK, others=())
    assert guarded.words == "It's still there."


def test_what_somebody_does_each_round_may_be_said_each_round() -> None:
    assert (
        guard_player("I wait.", earlier=["I wait."], own=THROK, others=(), said=["I wait."]).words
        == "I wait."
    )


def test_nobody_parrots_a_short_question() -> None:
    earlier = ["What of the bridge? And the notice?"]
    assert guard_dm("And the notice? A bell rings.", earlier=earlier, heroes={}).words == "A bell rings."
    assert guard_npc("The notice, well. Ask Hobb.", earlier=earlier, others=()).words == "Ask Hobb."


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        ("I search around and find a hidden door that leads on.", "I search around."),
        ("I look around and see that the pier door is open. Come!", "I look around. Come!"),
        (
            "I open the door with my crowbar, and I find that it is locked.",
            "I open the door with my crowbar.",
        ),
        ("I go on and see Marda.", "I go on and see Marda."),
        ('"I looked, and found nothing," I say.', '"I looked, and found nothing," I say.'),
        ("I look for the place to find Hobb.", "I look for the place to find Hobb."),
    ],
)
def test_a_player_does_not_say_what_comes_of_a_try(words: str, tried: str) -> None:
    guarded = guard_player(words, earlier=(), own=THROK, others=())
    assert guarded.words == tried
    assert guarded.cuts == ({} if words == tried else {"others": 1})


def test_nobody_hails_itself() -> None:
    guarded = guard_player("Hey, Throk! And hello, Zara!", earlier=(), own=THROK, others=("Zara",))
    assert guarded.words == "And hello, Zara!"
    assert guarded.cuts == {"others": 1}


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ('Hobb nods. "Nothing is hidden here.', 'Hobb nods. "Nothing is hidden here."'),
        ('"Nothing," says Hobb. "Not here.', '"Nothing," says Hobb. "Not here."'),
        ('"Nothing," says Hobb.', '"Nothing," says Hobb.'),
        ('The board is 9" wide.', 'The board is 9" wide.'),
    ],
)
def test_a_quotation_that_was_begun_is_ended(words: str, whole: str) -> None:
    assert guard_dm(words, earlier=(), heroes={}).words == whole


def test_a_quotation_is_cut_whole_or_kept_whole() -> None:
    words = 'The smith nods. "Come in. The fire is warm," she says.'
    assert guard_dm(words, earlier=(), heroes={}).words == words
    guarded = guard_dm(words, earlier=['"Come in. The fire is warm," says the smith.'], heroes={})
    assert guarded.words.count('"') % 2 == 0


@pytest.mark.parametrize(
    ("third", "first"),
    [
        ("Throk draws his sword and steps forward.", "I draw my sword and step forward."),
        ('Throk says, "I am Throk! Throk smash."', 'I say, "I am Throk! Throk smash."'),
        ("Throk Ironfist carefully searches the chest.", "I carefully search the chest."),
        ("Throk is ready. He tries the door.", "I am ready. I try the door."),
        ("The rat bites at Throk and Throk runs.", "The rat bites at me and I run."),
        ("Throk looks at Zara and smiles at her.", "I look at Zara and smile at her."),
    ],
)
def test_the_third_person_becomes_the_first(third: str, first: str) -> None:
    assert is_third_person(third, THROK)
    assert turn_to_first_person(third, THROK) == first
    guarded = guard_player(third, earlier=(), own=THROK, others=("Zara",))
    assert guarded.words == first
    assert guarded.cuts["person"] == 1


@pytest.mark.parametrize("own", ["I draw my sword.", '"Throk is my name," I say.', "We should go, Zara."])
def test_the_first_person_stays(own: str) -> None:
    assert turn_to_first_person(own, THROK) == own


def test_a_player_speaks_for_nobody_else() -> None:
    guarded = guard_player(
        "I open the door. Zara nods and follows me. Zara is right, we must hurry.",
        earlier=(),
        own=THROK,
        others=("Zara Moonwhisper",),
    )
    assert guarded.words == "I open the door. Zara is right, we must hurry."
    assert guarded.cuts == {"others": 1}


def test_a_dm_does_not_decide_for_the_heroes() -> None:
    heroes = {"Throk Ironfist": "I open the chest.", "Zara": ""}
    guarded = guard_dm(
        'Throk opens the chest, and dust rises. Zara decides to run away. "Stop!" says Zara. A bell rings.',
        earlier=(),
        heroes=heroes,
    )
    assert guarded.words == "Throk opens the chest, and dust rises. A bell rings."
    assert guarded.cuts == {"others": 2}


def test_markup_and_lists_become_prose() -> None:
    text, number = clean_markup(
        "## **The Hall**\n- *A rat* squeaks.\n1. `Dust` falls.\n---\n<b>Silence.</b> [OOC: ok]"
    )
    assert number
    assert not any(mark in text for mark in ("*", "`", "<", "[", "---", "1."))
    assert "A rat squeaks." in text


def test_a_sentence_without_an_end_is_cut_where_the_answer_was() -> None:
    long = "The bell rings over the mill. " + "Snow lies on every roof of the village below the hill. "
    cut = f"{long}A crow sits on the weather vane and looks down at the people who"
    guarded = guard_dm(cut, earlier=(), heroes={})
    assert guarded.words == long.strip()
    assert guarded.cuts == {"unfinished": 1}
    assert guard_player("I open the door. Then I run", earlier=(), own=THROK, others=()).words.endswith("run")
    # What was told before is cut, and then a torn sentence would stand alone.
    assert guard_dm(f"{long}{long}Wind, first of", earlier=[long], heroes={}).words == ""


def test_an_npc_speaks_for_itself() -> None:
    guarded = guard_npc(
        "Take the north road. Throk nods and pays me. No record.", earlier=(), others=("Throk Ironfist",)
    )
    assert guarded.words == "Take the north road."


def test_hostile_text_costs_little_time() -> None:
    """Patterns over a model's text must not run away."""
    for text in ("*" * 4_000, "a_" * 2_000, "(note " * 600, '"' * 3_001, "Throk " * 700, "1. " * 1_000):
        guard_player(text, earlier=[text], own=THROK, others=("Zara",))
        guard_dm(text, earlier=[text], heroes={"Throk": text})


def test_a_share_of_a_text_is_told() -> None:
    assert share_told("Brown water under a broken arch.", "The arch is broken; the water brown.") == 1.0
    assert share_told("Brown water under a broken arch.", "Nothing here.") == 0.0
