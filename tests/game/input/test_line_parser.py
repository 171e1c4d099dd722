"""Typed lines: deeds in plain words, and speech."""

import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.game.bots.board import Board, pc

from dndbots.errors import ActRefused
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.line_parser import clean_line, parse_line
from dndbots.game.referee.event_text import describe_deed
from dndbots.game.state.options import list_options
from dndbots.game.state.table import Table
from dndbots.ids import is_hidden

THROK, ZARA, BRAM = pc(0), pc(1), pc(2)
ELENA, GOBLINS, QUEST = "npc_elena_001", "mon_goblin_001", "qst_children_001"
SIGHTS = {"mill": {"things": {"chest": "an iron chest", "shoe": "a small shoe"}, "people": [ELENA]}}
WAYS = {"mill": {"the back door": "yard", "road": "yard", "north": "yard"}, "yard": {"in": "mill"}}


def at_the_mill() -> Board:
    board = Board(WAYS, sights=SIGHTS)
    board.begin_round()
    board.tell("A woman.", place="mill", participants=[ELENA], names={ELENA: "Elena of the Mill"})
    return board


@pytest.fixture(scope="module")
def mill() -> Table:
    return at_the_mill().tables[THROK]


@pytest.fixture(scope="module")
def fight() -> Table:
    board = at_the_mill()
    board.fight("mill", goblin=3)
    return board.tables[THROK]


def is_seen(char: str) -> bool:
    return not is_hidden(char)


def said(table: Table, text: str) -> Act:
    return parse_line(table, THROK, text)


PEACE: list[tuple[str, dict[str, Any]]] = [
    ("go north", {"verb": Verb.GO, "what": "north"}),
    ("north", {"verb": Verb.GO, "what": "north"}),
    ("n", {"verb": Verb.GO, "what": "north"}),
    ("N", {"verb": Verb.GO, "what": "north"}),
    ("head to the ROAD", {"verb": Verb.GO, "what": "road", "words": ""}),
    ("walk through the back door", {"verb": Verb.GO, "what": "the back door"}),
    ("I go by the road.", {"verb": Verb.GO, "what": "road", "words": "I go by the road."}),
    ("run north", {"verb": Verb.GO, "what": "north"}),
    ("let's take the small shoe", {"verb": Verb.TAKE, "what": "shoe", "words": "let's take the small shoe"}),
    ("pick up the shoe", {"verb": Verb.TAKE, "what": "shoe"}),
    ("look at the chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("examine chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("Throk opens the chest.", {"verb": Verb.OPEN, "what": "chest", "words": "Throk opens the chest."}),
    ("open the chest with my dagger", {"verb": Verb.OPEN, "words": "I open the chest with my dagger."}),
    ("search", {"verb": Verb.SEARCH, "words": ""}),
    ("search the floor for traps", {"verb": Verb.SEARCH, "words": "I search the floor for traps."}),
    ("search the chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("check the chest for traps", {"verb": Verb.LOOK, "words": "I check the chest for traps."}),
    (
        "ask Elena about the children",
        {"verb": Verb.ASK, "target": ELENA, "what": "the children", "words": ""},
    ),
    ("ask elena of the mill", {"verb": Verb.ASK, "target": ELENA, "what": "news"}),
    ("talk to Elena", {"verb": Verb.ASK, "target": ELENA, "what": "news"}),
    ("ask about the wreath", {"verb": Verb.ASK, "target": ELENA, "what": "the wreath"}),
    ("ask Elena where the road leads?", {"verb": Verb.ASK, "what": "where the road leads"}),
    ("ask what happened", {"verb": Verb.ASK, "target": ELENA, "what": "what happened"}),
    ("ask if there is a mill", {"verb": Verb.ASK, "target": ELENA, "what": "if there is a mill"}),
    ("give the dagger to Zara", {"verb": Verb.GIVE, "what": "dagger", "target": ZARA}),
    ("give Zara the dagger", {"verb": Verb.GIVE, "what": "dagger", "target": ZARA}),
    ("whisper Zara: run", {"verb": Verb.WHISPER, "target": ZARA, "words": "run"}),
    ("whisper to zara that we leave", {"verb": Verb.WHISPER, "target": ZARA, "words": "that we leave"}),
    ("whisper Zara The reeve lies.", {"verb": Verb.WHISPER, "target": ZARA, "words": "The reeve lies."}),
    ("whisper to the Elena The mill, now", {"target": ELENA, "words": "The mill, now"}),
    ("whisper Elena: Mill of the dead", {"target": ELENA, "words": "Mill of the dead"}),
    ("whisper Zara That man  lies", {"target": ZARA, "words": "That man  lies"}),
    ("ask Elena about The Reeve?!", {"verb": Verb.ASK, "words": "I ask Elena about The Reeve?!"}),
    ("rest", {"verb": Verb.REST, "words": ""}),
    ("rest until morning", {"verb": Verb.REST}),
    ("stay here", {"verb": Verb.STAY}),
    ("wait", {"verb": Verb.STAY, "words": ""}),
    ("pass", {"verb": Verb.STAY, "words": ""}),
    ("say go north", {"verb": Verb.SAY, "words": "go north"}),
    ("I say: go north", {"verb": Verb.SAY, "words": "go north"}),
]


@pytest.mark.parametrize(("text", "act"), PEACE, ids=[text for text, _ in PEACE])
def test_plain_words_are_deeds(mill: Table, text: str, act: dict[str, Any]) -> None:
    """Verbs that players use, names in any case, with or without articles."""
    found = said(mill, text)
    assert {key: getattr(found, key) for key in act} == act


FIGHT: list[tuple[str, dict[str, Any]]] = [
    ("attack the goblin", {"verb": Verb.ATTACK, "target": GOBLINS, "words": ""}),
    ("hit goblin with my axe", {"verb": Verb.ATTACK, "words": "I hit goblin with my axe."}),
    ("attack", {"verb": Verb.ATTACK, "target": GOBLINS}),
    ("I strike the goblins, screaming!", {"verb": Verb.ATTACK, "words": "I strike the goblins, screaming!"}),
    ("flee by the road", {"verb": Verb.FLEE, "what": "road"}),
    ("run north", {"verb": Verb.FLEE, "what": "north"}),
    ("parley", {"verb": Verb.PARLEY, "target": GOBLINS}),
    ("talk to the goblins", {"verb": Verb.PARLEY, "target": GOBLINS}),
    ("bind Bram", {"verb": Verb.BIND, "target": BRAM}),
    ("bandage Zara", {"verb": Verb.BIND, "target": ZARA}),
]


@pytest.mark.parametrize(("text", "act"), FIGHT, ids=[text for text, _ in FIGHT])
def test_plain_words_are_deeds_in_a_fight(fight: Table, text: str, act: dict[str, Any]) -> None:
    found = said(fight, text)
    assert {key: getattr(found, key) for key in act} == act


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ask Zara about the wreath", "I ask Zara about the wreath."),
        ("talk to zara", "I talk to zara."),
        ("I ask Zara where she was", "I ask Zara where she was"),
        ("look at Zara", "I look at Zara."),
        ("study Zara with some doubt", "I study Zara with some doubt."),
    ],
)
def test_what_concerns_one_of_the_party_is_between_the_two(mill: Table, text: str, words: str) -> None:
    """It is said to them; the world has no answer to it, and is not asked for one."""
    assert said(mill, text) == Act(words=words, target=ZARA)


@pytest.mark.parametrize(
    "text",
    [
        "Good evening.",
        "Look, a wolf!",
        "Run!",
        "Wait! I know that shoe.",
        "Shall we go north?",
        "Go north?",
        '"Go north."',
        "Take me to the mill.",
        "Tell me of the children.",
        "Give us the key!",
        "Stay behind me.",
        "I think we should go north.",
        "Zara, open the chest.",
        "Tell Zara that I was wrong",
        "*shrugs*",
        "Лучше бы мы остались дома…",
        "sayonara",
        "Goblins everywhere",
    ],
)
def test_the_rest_is_speech(mill: Table, text: str) -> None:
    """It is kept as it was typed."""
    assert said(mill, text) == Act(words=text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("go to the moon", "there is no 'the moon' here; choose from the back door, road, north"),
        ("go", "say what or whom"),
        ("take the crown", "choose from an iron chest, a small shoe"),
        ("look", "/look shows what is here"),
        ("attack Elena", "there is no foe here"),
        ("kill Zara", "there is no foe here"),
        ("parley", "there is no foe here"),
        ("s", "there is no 'south' here; choose from the back door, road, north"),
        ("West", "there is no 'west' here"),
        ("go 🏠", "there is no '🏠' here"),
        ("say", "say what to say"),
        ("ask the healer about the children", "there is no 'the healer' here.*quotation marks"),
        ("give dagger", "give THING to NAME"),
        ("give up", "give THING to NAME"),
        ("cast fireball at Elena", "there is no 'fireball' here"),
        ("accept", "no quest is on offer"),
        ("whisper Zara", "say what to whisper"),
        ("whisper Gandalf hello", "there is no 'Gandalf' here"),
        ("give the moon to Zara", "there is no 'the moon' here; choose from dagger, rations"),
        ("", "the line is empty"),
        ("\x00\x1b", "the line is empty"),
        ("x" * (LONGEST_WORDS + 1), "a turn takes at most"),
    ],
)
def test_what_is_almost_a_deed_is_refused_with_what_there_is(mill: Table, text: str, reason: str) -> None:
    """Nothing comes of it but words for the one who typed."""
    with pytest.raises(ActRefused, match=reason):
        said(mill, text)


def test_a_quest_is_answered_in_one_word() -> None:
    """The only one that is offered need not be named."""
    board = at_the_mill()
    offer = {"subject": QUEST, "key": "state", "value": "offered"}
    board.tell("Help us.", place="mill", participants=[ELENA], names={QUEST: "the Children"}, facts=[offer])
    table = board.tables[THROK]
    assert said(table, "I accept.").what == QUEST
    assert said(table, "refuse the children") == Act(verb=Verb.REFUSE, what=QUEST)


def test_news_is_told_of_by_what_it_was() -> None:
    """Events that the others did not see can be retold; without news the line is speech."""
    table = at_the_mill().tables[THROK]
    assert said(table, "tell Zara about the wreath") == Act(words="tell Zara about the wreath")


def test_what_is_offered_can_be_typed(mill: Table, fight: Table) -> None:
    """Every option in the words that it is offered in, which are those that are completed."""
    for table in (mill, fight):
        for one in list_options(table, THROK):
            if one.verb in (Verb.SAY, Verb.WHISPER, Verb.TELL):
                continue  # those need words of one's own
            found = said(table, one.said)
            assert (found.verb, found.target, found.what) == (one.verb, one.target, one.what), one.said


TYPED = (
    "go attack the Elena chest north whisper cast sleep Zara tell about to I we let's give Throk takes of "
    'with and say accept look at me ß İ ſ : , ! ? " \x00 \ud800 \u202e \u2028'
)
WORDS = st.sampled_from(TYPED.split(" "))


@pytest.mark.parametrize("where", ["peace", "fight"])
@given(text=st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=12).map(" ".join)))
@example(text="I " * 50)
@example(text="give to ")
@example(text="whisper :")
@example(text="TELL:OF 0")
@example(text="AND SAY:")
def test_any_text_is_an_act_or_a_clear_refusal(text: str, where: str) -> None:
    """Never a crash; and what is speech is what was typed, to the letter."""
    table = _FIGHT if where == "fight" else _PEACE
    try:
        act = parse_line(table, THROK, text)
    except ActRefused:
        return
    assert Act.model_validate_json(act.model_dump_json()) == act
    assert not act.words or act.words.encode()
    if act.verb is Verb.SAY and act.target is not None:
        assert clean_line(text)[1:] in act.words  # what is between two: with a subject, if it has none
    elif act.verb is Verb.SAY:
        # Of "and say: hello", what is behind it.
        assert act.words == clean_line(text) or (
            re.search(r"\bsays?\b", text, re.IGNORECASE) and clean_line(text).endswith(act.words)
        )


@given(st.text(min_size=1))
def test_what_is_quoted_is_said_to_the_letter(text: str) -> None:
    """Quotation marks make anything speech."""
    line = f'"{text}"'
    if len(clean_line(line)) <= LONGEST_WORDS:
        assert parse_line(_PEACE, THROK, line) == Act(words=clean_line(line))


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Mn", "Zl", "Zp"]).filter(is_seen)))
def test_cleaning_leaves_text_alone(text: str) -> None:
    """Only what is no text is taken out."""
    assert clean_line(text) == text.strip()


_PEACE = at_the_mill().tables[THROK]
_BOARD = at_the_mill()
_BOARD.fight("mill", goblin=3)
_FIGHT = _BOARD.tables[THROK]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ({"verb": Verb.GO, "what": "north"}, "I take the way north."),
        ({"verb": Verb.GO, "what": "the back door"}, "I take the back door."),
        ({"verb": Verb.LOOK, "what": "chest"}, "I look at the iron chest."),
        ({"verb": Verb.LOOK, "what": ELENA, "target": ELENA}, "I walk up to Elena of the Mill."),
        ({"verb": Verb.ASK, "what": "the children", "target": ELENA}, "I ask Elena of the Mill about the"),
        ({"verb": Verb.GIVE, "what": "dagger", "target": ZARA}, "I give the dagger to Zara."),
        ({"verb": Verb.ATTACK, "target": "mon_secret_king_001"}, "I attack somebody."),
        ({"verb": Verb.TAKE, "what": "secret_key"}, "I take it."),
        ({"verb": Verb.SAY}, "I wait."),
    ],
)
def test_a_bare_deed_is_told_in_a_sentence(mill: Table, act: dict[str, Any], words: str) -> None:
    """In names that the doer knows; keys and uids of the adventure are none."""
    assert describe_deed(mill, THROK, Act.model_validate(act)).startswith(words)


def test_every_verb_can_be_told_without_words(mill: Table) -> None:
    for verb in Verb:
        told = describe_deed(mill, THROK, Act(verb=verb, what="road", target=ZARA))
        assert told.startswith("I ")
        assert told.endswith(".")


SAID = ["The", "the", "a", "That", "that", "my", "to", "Zara", "Elena", "lies.", "reeve,", "of", ":", "?"]


@given(
    text=st.one_of(
        st.text(max_size=60),
        st.lists(st.sampled_from((*SAID, "", "...")), min_size=1, max_size=8).map(" ".join),
    )
)
@example(text="The reeve lies.")
@example(text="That  man, the reeve: he lies")
@example(text='"Run!" he said')
def test_speech_is_kept_word_for_word(text: str) -> None:
    """The record has every line as it was typed; only invisible characters are dropped."""
    table = at_the_mill().tables[THROK]
    typed = clean_line(text)
    assume(typed and not typed.startswith((":", ",")))
    for line, words in (
        (f"whisper Zara: {typed}", typed),
        (f"whisper to Elena, {typed}", typed),
        (f"say {typed}", typed),
        (f"say: {typed}", typed),
        (f'"{typed}"', f'"{typed}"'),
    ):
        assert said(table, line).words == words
    bare = said(table, f"whisper Bram {typed}")
    assert bare.words == typed or typed.casefold().startswith("bram")
