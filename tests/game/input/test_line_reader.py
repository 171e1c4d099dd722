"""Typed lines: deeds in plain words, and speech."""

import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.game.bots.board import Board, pc
from tests.game.input.understanding_score import table_of

from dndbots.errors import ActRefused
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input import likely_deeds
from dndbots.game.input.game_answers import answer_question
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.person_player import parse_line
from dndbots.game.input.vocabulary.typed_words import clean_line
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
    ("head to the ROAD", {"verb": Verb.GO, "what": "road"}),
    ("walk through the back door", {"verb": Verb.GO, "what": "the back door"}),
    ("I go by the road.", {"verb": Verb.GO, "what": "road", "words": "I go by the road."}),
    ("run north", {"verb": Verb.GO, "what": "north"}),
    ("let's take the small shoe", {"verb": Verb.TAKE, "what": "shoe", "words": "let's take the small shoe"}),
    ("pick up the shoe", {"verb": Verb.TAKE, "what": "shoe"}),
    ("look at the chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("examine chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("Throk opens the chest.", {"verb": Verb.OPEN, "what": "chest", "words": "Throk opens the chest."}),
    ("open the chest with my dagger", {"verb": Verb.OPEN, "words": "I open the chest with my dagger."}),
    ("search", {"verb": Verb.SEARCH}),
    ("search the floor for traps", {"verb": Verb.SEARCH, "words": "I search the floor for traps."}),
    ("search the chest", {"verb": Verb.LOOK, "what": "chest"}),
    ("check the chest for traps", {"verb": Verb.LOOK, "words": "I check the chest for traps."}),
    (
        "ask Elena about the children",
        {"verb": Verb.ASK, "target": ELENA, "what": "the children"},
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
    ("whisper Zara I do not trust him.", {"target": ZARA, "words": "I do not trust him."}),
    ("whisper Zara the man is not her", {"target": ZARA, "words": "the man is not her"}),
    ("whisper Zara That man  lies", {"target": ZARA, "words": "That man  lies"}),
    ("ask Elena about The Reeve?!", {"verb": Verb.ASK, "words": "I ask Elena about The Reeve?!"}),
    ("rest", {"verb": Verb.REST}),
    ("rest until morning", {"verb": Verb.REST}),
    ("stay here", {"verb": Verb.STAY}),
    ("wait", {"verb": Verb.STAY}),
    ("pass", {"verb": Verb.STAY}),
    ("say go north", {"verb": Verb.SAY, "words": "go north"}),
    ("I say: go north", {"verb": Verb.SAY, "words": "go north"}),
]


@pytest.mark.parametrize(("text", "act"), PEACE, ids=[text for text, _ in PEACE])
def test_plain_words_are_deeds(mill: Table, text: str, act: dict[str, Any]) -> None:
    """Verbs that players use, names in any case, with or without articles."""
    found = said(mill, text)
    assert {key: getattr(found, key) for key in act} == act


FIGHT: list[tuple[str, dict[str, Any]]] = [
    ("attack the goblin", {"verb": Verb.ATTACK, "target": GOBLINS}),
    ("hit goblin with my dagger", {"verb": Verb.ATTACK, "words": "I hit goblin with my dagger."}),
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


TALK: list[tuple[str, dict[str, Any]]] = [
    ("Good evening.", {"verb": Verb.TELL, "target": ELENA}),
    ("Tell me of the children.", {"verb": Verb.ASK, "target": ELENA, "what": "the children"}),
    ("Give us the key!", {"verb": Verb.ASK, "target": ELENA}),
    ("Zara, open the chest.", {"verb": Verb.SAY, "target": ZARA}),
    ("zara what do you think", {"verb": Verb.SAY, "target": ZARA}),
    ("Tell Zara that I was wrong", {"verb": Verb.SAY, "target": ZARA}),
    ("Shall we go north?", {"verb": Verb.ASK, "target": ELENA}),
    ("who are you", {"verb": Verb.ASK, "target": ELENA, "what": "who are you"}),
    ("tell her we come in peace", {"verb": Verb.TELL, "target": ELENA}),
]


@pytest.mark.parametrize(("text", "act"), TALK, ids=[text for text, _ in TALK])
def test_what_is_addressed_is_said_to_them(mill: Table, text: str, act: dict[str, Any]) -> None:
    """A question or a greeting is to the only person here; a name calls a friend."""
    found = said(mill, text)
    assert {key: getattr(found, key) for key in act} == act
    assert text.rstrip(".!?").casefold()[1:] in found.words.casefold()


@pytest.mark.parametrize("text", ['"Go north."', "'Run!'", "\u201cGoblins everywhere\u201d", "\u2014 Away!"])
def test_speech_marks_make_speech(mill: Table, text: str) -> None:
    """It is kept as it was typed."""
    assert said(mill, text) == Act(words=text)


@pytest.mark.parametrize(
    "text", ["Goblins everywhere", "sayonara", "asdf", "\u041b\u0443\u0447\u0448\u0435 \u0431\u044b", "hm"]
)
def test_what_is_not_understood_is_not_said(mill: Table, text: str) -> None:
    """It is asked about: no round passes while nobody reacts."""
    found = understand_line(mill, THROK, text)
    assert (found.verb, found.act) == ("unclear", None)
    with pytest.raises(ActRefused, match=r"(?i)not understood"):
        said(mill, text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("where am I?", "where"),
        ("inventory", "items"),
        ("how hurt am i", "health"),
        ("what can I do", "options"),
        ("what've I got on me", "items"),
    ],
)
def test_questions_to_the_game_are_answered(mill: Table, text: str, question: str) -> None:
    found = understand_line(mill, THROK, text)
    assert (found.verb, found.question, found.act) == ("meta", question, None)
    assert answer_question(mill, THROK, found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("am i hurt? how much gold do i have", ("You are ", "You carry ")),
        ("where am I and what time is it", ("You are at ", "It is round ")),
    ],
)
def test_several_questions_to_the_game_are_all_answered(
    mill: Table, text: str, parts: tuple[str, ...]
) -> None:
    answer = answer_question(mill, THROK, understand_line(mill, THROK, text))
    assert all(any(line.startswith(part) for line in answer.splitlines()) for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "we're looking for the children, have you seen them?",
        "I am looking for my sister",
        "we're looking for the reeve - what happened that night?",
    ],
)
def test_who_says_what_they_look_for_asks_who_is_here(mill: Table, text: str) -> None:
    """Only a search of the place itself is one: who tells a person what they seek wants to know of it."""
    found = understand_line(mill, THROK, text)
    assert (found.verb, found.target) == ("ask", "Elena of the Mill")
    assert understand_line(mill, THROK, "search for traps").verb == "search"


@pytest.mark.parametrize("text", ["ask the ferryman to row us over", "ask the blacksmith about the goblins"])
def test_who_shows_another_trade_is_not_asked_for_it(text: str) -> None:
    """A reeve in a fur collar is no smith; who shows no trade at all may be one."""
    table, who = table_of("green")
    found = understand_line(table, who, text)
    assert (found.verb, found.act) == ("refused", None)


DEEDS: list[tuple[str, dict[str, Any]]] = [
    ("eat some rations", {"verb": Verb.USE, "what": "rations"}),
    ("give Zara 3 gold", {"verb": Verb.GIVE, "target": ZARA, "gold": 3}),
    ("buy a lantern", {"verb": Verb.BUY, "target": ELENA, "what": "lantern"}),
    ("punch her", {"verb": Verb.ATTACK, "target": ELENA}),
    ("intimidate her", {"verb": Verb.TRY, "target": ELENA}),
    ("hide behind the chest", {"verb": Verb.TRY, "what": "an iron chest"}),
]


@pytest.mark.parametrize(("text", "act"), DEEDS, ids=[text for text, _ in DEEDS])
def test_things_that_people_try_are_deeds(mill: Table, text: str, act: dict[str, Any]) -> None:
    found = said(mill, text)
    assert {key: getattr(found, key) for key in act} == act


def test_two_deeds_of_a_line_are_kept_in_order(mill: Table) -> None:
    found = understand_line(mill, THROK, "look at the chest and then ask her about the children")
    assert (found.verb, found.then and found.then.verb) == ("look", "ask")
    assert found.then is not None
    assert found.then.target == "Elena of the Mill"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("go to the moon", "there is no way to 'moon' here; the ways are the back door, road, north"),
        ("take the crown", "there is an iron chest, a small shoe"),
        ("kill Zara", "Zara is on your side"),
        ("s", "there is no way 's' here; the ways are the back door, road, north"),
        ("West", "there is no way 'west' here"),
        ("say", "say what to say"),
        ("ask Gandalf about the children", "there is no 'gandalf' here.*quotation marks"),
        ("cast fireball at Elena", "you cannot cast 'fireball'"),
        ("whisper Zara", "say what to whisper"),
        ("fly away", "nobody here can do that"),
        ("", "the line is empty"),
        ("\x00\x1b", "the line is empty"),
        ("x" * (LONGEST_WORDS + 1), "a turn takes at most"),
    ],
)
def test_what_is_almost_a_deed_is_refused_with_what_there_is(mill: Table, text: str, reason: str) -> None:
    """Nothing comes of it but words for the one who typed."""
    with pytest.raises(ActRefused, match=reason):
        said(mill, text)


@pytest.mark.parametrize("deed", ["go north", "tell Elena that I went", "I saw it"])
def test_a_long_line_keeps_all_its_words(mill: Table, deed: str) -> None:
    """Deeds are looked for at its beginning; what stands behind is still said, to the last word."""
    act = said(mill, f"{deed} {'near the river ' * 80}by the old bridge")
    assert act.words.rstrip(".").endswith("near the river by the old bridge")


def test_a_secret_at_the_end_of_a_long_line_is_not_said_aloud(mill: Table) -> None:
    """It is refused where a whisper can no longer be told from the words before it."""
    with pytest.raises(ActRefused, match="whisper in another"):
        said(mill, f"go north {'near the river ' * 80}. Then whisper to Zara the password")


def test_a_noun_of_any_length_is_something_to_take() -> None:
    """An object as long as the line is a deed; what it names keeps its last words."""
    board = at_the_mill()
    board.tell("A heap of gravel lies here.", place="mill")
    act = said(board.tables[THROK], f"take the {'heap of ' * 50}gravel")
    assert str(act.what).endswith("heap of gravel")


def offer_quest(board: Board) -> None:
    offer = {"subject": QUEST, "key": "state", "value": "offered"}
    board.tell("Help us.", place="mill", participants=[ELENA], names={QUEST: "the Children"}, facts=[offer])


def test_a_quest_is_answered_in_one_word() -> None:
    """The only one that is offered need not be named."""
    board = at_the_mill()
    offer_quest(board)
    table = board.tables[THROK]
    assert said(table, "I accept.").what == QUEST
    refused = said(table, "refuse the children")
    assert (refused.verb, refused.what) == (Verb.REFUSE, QUEST)
    assert said(table, "sure, we will do it").verb is Verb.ACCEPT
    assert said(table, "no thanks").verb is Verb.REFUSE


def test_news_is_told_of_by_what_it_was() -> None:
    """Events that the others did not see can be retold; without news the line is speech."""
    table = at_the_mill().tables[THROK]
    assert said(table, "tell Zara about the wreath") == Act(
        words="I tell Zara about the wreath.", target=ZARA
    )


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


@given(st.text(st.characters(exclude_characters='"\u201c\u201d\u201e\u00ab\u00bb'), min_size=1))
@example(")U:")
@example("U:0")
def test_what_is_quoted_is_said_to_the_letter(text: str) -> None:
    """Quotation marks make anything between them speech."""
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
@example(text="/,")
@example(text="B:0")
@example(text="0*0*")
@example(text="*0*")
@example(text="&I:0")
@example(";B:0")
def test_speech_is_kept_word_for_word(text: str) -> None:
    """The record has every line as it was typed; only invisible characters are dropped."""
    table = at_the_mill().tables[THROK]
    typed = clean_line(text)
    assume(typed and not typed.startswith((":", ",")))
    begins = re.sub(r"^[\W_]+", "", typed.casefold())
    assume(not begins.startswith(("to", "at", "no", "yes")))  # "say to Zara" is to Zara
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


def test_a_whisper_to_nobody_here_is_never_offered_aloud(mill: Table) -> None:
    """It is refused with the name that was typed; no reading tells the secret to everybody."""
    for line, reason in (
        ("whisper Gandalf the key is mine", "there is no 'Gandalf' here"),
        ("whisper to Gandalf: the key is mine", "there is no 'Gandalf' here"),
        ("whisper that the key is mine", "say to whom"),
        ("whisper", "say to whom"),
    ):
        found = understand_line(mill, THROK, line)
        assert (found.verb, found.act, found.readings) == ("refused", None, ()), line
        assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("whisper Old Tom: go away", "Old Tom"),
        ("whisper to Borra that the reeve lies", "Borra"),
        ("whisper borra the miller lies", "borra"),
        ('"Go away", I whisper to Borra', "Borra"),
        ("pull Borra aside and say that she lies", "Borra"),
        ("tell Borra to stand guard", "Borra"),
        ("tell borra to stand guard by the back door", "borra"),
        ("say to Borra: run", "Borra"),
        ("shout to Borra that we leave", "Borra"),
        ("Borra: run", "Borra"),
        ("tell Throk to be quiet", "'Throk' is you"),
        ('whisper "she lies" to Borra', "Borra"),
        ("secretly tell old Borra that she lies", "Borra"),
        ("tell the dwarf she lies", "dwarf"),
        ("whisper to the dwarf: she lies", "dwarf"),
        ("hey Borra, run", "Borra"),
        ("whisper her name to Zara", "a whisper is for one"),
        ("whisper to Zara and Bram: run", "a whisper is for one"),
        ('"Careful," I whisper', "say to whom"),
    ],
)
def test_what_is_for_somebody_absent_is_told_to_nobody(mill: Table, text: str, name: str) -> None:
    """The only person here is not taken for whoever was named, and no way is taken with the secret."""
    found = understand_line(mill, THROK, text)
    assert (found.verb, found.act, found.readings) == ("refused", None, ())
    assert name in found.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("whisper to Zara that the miller lies", "that the miller lies"),
        ("whisper Zara the miller lies", "the miller lies"),
        ("whisper Zara: The Miller lies; Borra knows!", "The Miller lies; Borra knows!"),
        ("quietly tell Zara the key is mine", "the key is mine"),
        ("tell Zara quietly: she lies", "she lies"),
        ("whisper Zara: give the key to Bram", "give the key to Bram"),
        ("whisper Zara give the key to Bram", "give the key to Bram"),
        ("whisper Zara: and Bram lies", "and Bram lies"),
        ('whisper "she lies" to Zara', '"she lies"'),
        ('I lean over to Zara and whisper "she lies"', '"she lies"'),
        ("I mutter to Zara: sixty is too little", "sixty is too little"),
        ("lean to Zara and mumble i bet she did it", "i bet she did it"),
        ("I cup my hand to Zara's ear: on three?", "on three?"),
        ("in Zara's ear: watch her hands", "watch her hands"),
        ("under my breath to Zara: count them", "count them"),
        ("*whispers to Zara* did you hear that", "did you hear that"),
    ],
)
def test_a_whisper_is_kept_to_the_letter(mill: Table, text: str, words: str) -> None:
    assert said(mill, text) == Act(verb=Verb.WHISPER, target=ZARA, words=words)


def test_a_whisper_between_asterisks_to_nobody_is_said_to_nobody(mill: Table) -> None:
    found = understand_line(mill, THROK, "*whispers* she lies")
    assert (found.verb, found.act, found.readings) == ("refused", None, ())


@pytest.mark.parametrize("text", ["tell stories about dragons", "Tell Me About The Children", "answer Yes"])
def test_what_is_no_name_is_told_to_who_is_here(mill: Table, text: str) -> None:
    assert said(mill, text).target == ELENA


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I swing my sword at the biggest goblin", "you have no 'sword'; your weapons are battle axe"),
        ("Throk draws his sword and glares at everyone", "you have no 'sword'"),
        ("attack her with my bow", "you have no 'bow'"),
        ("light my lantern", "you have no 'lantern'"),
        ("open my umbrella", "you have no 'umbrella'"),
        ("eat my sandwich", "you have no 'sandwich'"),
        ("use my wand", "you have no 'wand'"),
        ("give her my sword", "you have no 'sword'"),
        ("swing my axe at the ogre", "there is no ogre here to fight; here you see Elena of the Mill"),
        ("threaten the orc", "there is no 'orc' here"),
    ],
)
def test_what_is_not_carried_or_here_is_never_something_else(text: str, reason: str) -> None:
    """The steel of a tinderbox is no sword, a torch no lantern, and the miller no ogre."""
    board = Board(WAYS, sights=SIGHTS, equipment=["battle axe", "tinderbox", "6 torches", "rations"])
    board.begin_round()
    board.tell("A woman.", place="mill", participants=[ELENA], names={ELENA: "Elena of the Mill"})
    found = understand_line(board.tables[THROK], THROK, text)
    assert (found.verb, found.act) == ("refused", None)
    assert reason in found.reason


@pytest.mark.parametrize(("text", "what"), [("draw my weapon", "hand axe"), ("use my hands to dig", "dig")])
def test_hands_are_no_hand_axe_and_a_weapon_is(text: str, what: str) -> None:
    board = Board(WAYS, equipment=["rations", "hand axe"])
    board.begin_round()
    assert said(board.tables[THROK], text).what == what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("I want to know more about the nine sleepers", "the nine sleepers"),
        ("I'd love to hear about the orchard", "the orchard"),
        ("I need to learn more about the wreath", "the wreath"),
        ("we would like to know who did it", "who did it"),
        ("What's the reward?", "What's the reward"),
    ],
)
def test_what_one_wants_to_know_is_asked_of_who_is_here(mill: Table, text: str, what: str) -> None:
    act = said(mill, text)
    assert (act.verb, act.target, act.what) == (Verb.ASK, ELENA, what)


@pytest.mark.parametrize(
    "text",
    [
        "i don't trust this woman, what do you guys think?",
        "what do you all think?",
        "thoughts, anyone?",
        "guys, should we trust her?",
        "what do we think, team?",
    ],
)
def test_what_is_asked_among_companions_is_not_asked_of_a_stranger(mill: Table, text: str) -> None:
    assert said(mill, text) == Act(words=text)


@pytest.mark.parametrize("text", ["we accept", "deal", "we'll do it", "no deal", "I accept the quest"])
def test_an_answer_to_no_offer_is_told_so(mill: Table, text: str) -> None:
    found = understand_line(mill, THROK, text)
    assert (found.verb, found.reason) == ("unclear", "nobody has offered you anything yet")


def test_the_reward_of_a_known_quest_is_told_by_the_game() -> None:
    """Before anything is offered, only who is here can know; afterwards no round is spent on it."""
    board = at_the_mill()
    offer_quest(board)
    assert understand_line(board.tables[THROK], THROK, "What's the reward?").question == "quests"


@pytest.mark.parametrize(
    ("text", "deeds", "left"),
    [
        ("look at the chest, then take the shoe, then go north", ("look", "take"), "I go north."),
        ("take the shoe, open the chest, go north and search", ("take", "open"), "I go north. search"),
        ("walk up to Elena, ask her about the children and go north", ("ask", "go"), ""),
        ("look at the chest and take the shoe", ("look", "take"), ""),
        ("go north, then back through the back door", ("go", "go"), ""),
    ],
)
def test_what_a_turn_has_no_room_for_is_said(
    mill: Table, text: str, deeds: tuple[str, str], left: str
) -> None:
    """Two deeds are kept in order; no third one is lost in silence."""
    found = understand_line(mill, THROK, text)
    assert found.then is not None
    assert (found.verb, found.then.verb) == deeds
    assert found.left == left


def test_who_attacks_a_thing_tries_to_break_it(mill: Table) -> None:
    """A deed is not lost, nor taken for speech, because nobody is there to fight."""
    act = said(mill, "attack the chest")
    assert (act.verb, act.what, act.target) == (Verb.TRY, "an iron chest", None)
    assert act.attempt is not None
    assert act.attempt.approach == "force"


@pytest.mark.parametrize(
    ("text", "verb", "target"),
    [
        ("I walk over to Wymond and say good evening, sir", "tell", "Wymond Pell"),
        ("*says to the man* we are looking for work", "tell", "Wymond Pell"),
        ("lean over to Quillon and say he lies", "whisper", "Quillon Ashby"),
        ("I step closer to Quillon and quietly say he lies", "whisper", "Quillon Ashby"),
        ("*quietly says to Quillon* he is lying", "whisper", "Quillon Ashby"),
        ("*says quietly to Quillon* he is lying", "whisper", "Quillon Ashby"),
        ("*mutters to Quillon* he lies", "whisper", "Quillon Ashby"),
    ],
)
def test_who_walks_up_is_heard_and_who_leans_over_is_not(text: str, verb: str, target: str) -> None:
    """A low voice or a close gesture makes an aside; steps alone do not."""
    table, who = table_of("green")
    found = understand_line(table, who, text)
    assert (found.verb, found.target) == (verb, target)


@pytest.mark.parametrize(
    ("scene", "text", "verb"),
    [
        ("green", "i'll wait outside", "stay"),  # the giver "waits a moment", which is no wish of his
        ("green", "we'll wake them", "accept"),
        ("green", "is it still snowing", "meta"),
        ("square", "wander around the square", "search"),
        ("inn", "walk around the room", "search"),
        ("wolves", "aim for the biggest wolf", "attack"),
    ],
)
def test_words_mean_what_they_mean_here(scene: str, text: str, verb: str) -> None:
    table, who = table_of(scene)
    assert understand_line(table, who, text).verb == verb


@pytest.mark.parametrize(
    "line", ["ok deal, shake on it", "well, wait here", "um look around", "thanks love, we'll be back"]
)
def test_nobody_says_i_ok(line: str) -> None:
    """A line that opens with an interjection stays as it was typed."""
    assert not understand_line(at_the_mill().tables[THROK], THROK, line).words.startswith("I ")


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("have my character wait here", "stay"),
        ("Could my character please draw his longsword?", "use"),
        ("You draw your longsword.", "use"),
        ("have my character fly to the moon", "refused"),
    ],
)
def test_a_character_that_is_directed_does_it_itself(line: str, verb: str) -> None:
    """Some direct their character like somebody else, or tell of it as "you"; the words stay as typed."""
    table, who = table_of("stair")
    found = understand_line(table, who, line)
    assert found.verb == verb
    assert found.line == line


@pytest.mark.parametrize("scene", ["green", "inn", "stair"])
@pytest.mark.parametrize(
    "line",
    [
        "have my character whisper to Zara: the reeve lies",
        "have my character whisper to Elena: the reeve lies",
        "could my thief tell Zara quietly that the reeve lies",
        "You draw your sword and whisper to Zara the reeve lies",
        "have the party whisper to nobody the reeve lies",
        "tell Zara under my breath that the reeve lies",
        "tell Zara in a low voice that the reeve lies",
        "psst Zara, the reeve lies",
        "Zara, a word in private: the reeve lies",
        "low voice to Elena: the reeve lies",
        "tell only Zara: the reeve lies",
        "confide in Elena that the reeve lies",
        "I tell Zara, out of earshot of the others, that the reeve lies",
        "so only Zara can hear: the reeve lies",
        "just for Elena: the reeve lies",
        "to Zara only: the reeve lies",
        "(to Zara, quietly) the reeve lies",
        "I pull Elena close and say the reeve lies",
        "slip Zara a note: the reeve lies",
        "I signal to Elena silently that the reeve lies",
    ],
)
def test_a_secret_in_other_words_is_told_to_nobody_else(scene: str, line: str) -> None:
    """It is whispered, or refused: no open deed has its words."""
    found = understand_line(*table_of(scene), line)
    acts = [one.act for one in (found, found.then) if one is not None and one.act is not None]
    assert not [act for act in acts if act.verb is not Verb.WHISPER and "lies" in f"{act.words} {act.what}"]
    assert understand_line(*table_of(scene), "just for fun: I sing of lies").verb == "try"


def test_who_is_called_with_an_at_is_spoken_to() -> None:
    """As in a chat: "@Zara run" is to her, and to nobody if she is elsewhere."""
    table, who = table_of("stair")
    found = understand_line(table, who, "@Throk the stairs are wet")
    assert (found.verb, found.target, found.words) == ("tell", "Throk", "@Throk the stairs are wet")
    assert understand_line(table, who, "@Gandalf the stairs are wet").verb == "refused"


def test_who_goes_to_buy_a_drink_goes_first() -> None:
    """Nobody orders a drink of a reeve on the green on the way to the inn."""
    table, who = table_of("green")
    found = understand_line(table, who, "ok let's get a drink, I head into the inn")
    assert (found.verb, found.what, found.left) == ("go", "inn door", "ok let's get a drink")
    table, who = table_of("ladder")
    assert understand_line(table, who, "beer!").words == "beer!"


def test_what_is_called_to_a_friend_hides_no_deed_behind_it() -> None:
    """A second sentence of one's own is done; "Bram, I trust you" is still said."""
    board = at_the_mill()
    board.fight("mill", goblin=3)
    table = board.tables[THROK]
    found = understand_line(table, THROK, "Zara, take the left one. I attack the nearest goblin")
    deeds = [found.verb, found.then.verb if found.then is not None else None]
    assert "attack" in deeds
    assert understand_line(table, THROK, "Zara, I trust you. I know you can do it").verb == "tell"


@pytest.mark.parametrize(
    "line",
    [
        "I murmur in Elena's ear that the reeve lies",
        "lean to Elena and whisper that the reeve lies",
        "mumble into Borra's ear, the reeve lies",
        'I breathe into Grom\'s ear "the reeve lies"',
        "I put my mouth to Elena's ear and say the reeve lies",
        "into Elena's ear: the reeve lies",
        "I murmur in their ear that the reeve lies",
    ],
)
def test_what_is_for_the_ear_of_somebody_who_is_not_here_is_told_to_nobody(line: str) -> None:
    """Neither aloud, nor to somebody else, nor is anything else made of it."""
    found = understand_line(*table_of("green"), line)
    assert (found.verb, found.act, found.readings) == ("refused", None, ())


@pytest.mark.parametrize(
    ("scene", "line", "hearer"),
    [
        ("inn", "I murmur in the old woman's ear: the reeve lies", "an old woman who knits"),
        ("inn", "I murmur in his ear: the reeve lies", "a boy who must not sleep"),
        ("green", "I whisper in my old friend Zara's ear that the reeve lies", "Zara"),
    ],
)
def test_a_secret_is_for_the_one_whose_ear_it_is(scene: str, line: str, hearer: str) -> None:
    found = understand_line(*table_of(scene), line)
    assert (found.verb, found.target) == ("whisper", hearer)


def test_whose_ear_is_not_guessed() -> None:
    """Two women are here."""
    assert understand_line(*table_of("inn"), "I murmur in her ear: the reeve lies").verb == "refused"


def test_an_order_and_a_question_are_two_things() -> None:
    found = understand_line(*table_of("inn"), "a beer please and what do people say")
    assert (found.verb, found.what) == ("buy", "beer")
    assert found.then is not None
    assert found.then.verb == "ask"


def test_they_are_nobody_among_ones_own_party() -> None:
    """It is said so, and no round is spent."""
    found = understand_line(*table_of("roots"), "ask what they want")
    assert found.verb == "refused"
    assert "your own party" in found.reason
    assert understand_line(*table_of("roots"), "ask the others what they want").verb == "ask"


@pytest.mark.parametrize("verb", ["try", "attack", "use", "go"])
def test_nothing_is_tried_on_who_is_not_here(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """However likely another deed is."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    for scene, line in (("green", "shove the goblin"), ("goblins", "shove the reeve")):
        found = understand_line(*table_of(scene), line)
        assert found.verb == "refused"


@pytest.mark.parametrize("text", ["5 gold to Wymond", "give 5 gold to Wymond", "hand Wymond the letter"])
def test_nothing_is_given_to_who_is_elsewhere(text: str) -> None:
    """Coins for somebody who is not here go to nobody else, and are not spent."""
    table, who = table_of("ladder")
    found = understand_line(table, who, text)
    assert (found.verb, found.act) == ("refused", None)
    assert "Wymond" in found.reason
    table, who = table_of("green")
    assert understand_line(table, who, "5 gold to Wymond").verb == "give"


def test_who_is_inside_does_not_go_out_to_go_inside() -> None:
    table, who = table_of("ladder")
    assert understand_line(table, who, "go inside the inn").verb == "refused"


def test_what_stands_before_a_question_is_not_lost() -> None:
    """A greeting and a second question stay in the words, whatever the greeting is taken for."""
    table, who = table_of("green")
    line = "evening all. what's this village and why's everyone so glum?"
    found = understand_line(table, who, line)
    assert (found.verb, found.words) == ("ask", line)
    assert understand_line(table, who, "get lost in the orchard").verb != "refuse"


@pytest.mark.parametrize(
    "before", ["ok deal.", "I look around.", "thanks,", "I nod and", "look at the door, then"]
)
@pytest.mark.parametrize(
    "secret",
    ["psst Zara, the reeve lies", "tell only Elena: the reeve lies", "slip Zara a note: the reeve lies"],
)
@pytest.mark.parametrize("scene", ["green", "stair"])
def test_a_secret_behind_a_deed_is_not_in_the_words_of_the_deed(scene: str, before: str, secret: str) -> None:
    """The deed is done in its own words and the rest is whispered, or all of it is refused."""
    found = understand_line(*table_of(scene), f"{before} {secret}")
    acts = [one.act for one in (found, found.then) if one is not None and one.act is not None]
    assert not [act for act in acts if act.verb is not Verb.WHISPER and "lies" in f"{act.words} {act.what}"]
    assert found.act is not None or found.verb == "refused"
