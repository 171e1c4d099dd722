"""Options of a character, and the acts that words for them resolve to."""

import pytest
from tests.game.bots.board import Board, pc
from tests.game.games import log, story

from dndbots.errors import ActRefused
from dndbots.game.acts import Act, Verb
from dndbots.game.input.act_resolver import resolve_act
from dndbots.game.input.person_player import parse_line
from dndbots.game.referee.actions import refusal
from dndbots.game.state.options import Option, list_options
from dndbots.game.state.table import Table, deliver_event

THROK, ZARA, BRAM = pc(0), pc(1), pc(2)
ELENA, GOBLINS = "npc_elena_001", "mon_goblin_001"
SIGHTS = {
    "mill": {
        "things": {"chest": "an iron chest", "shoe": "a small shoe"},
        "people": [ELENA],
    }
}


@pytest.fixture
def board() -> Board:
    board = Board({"mill": {"the back door": "yard", "road": "yard"}, "yard": {"in": "mill"}}, sights=SIGHTS)
    board.begin_round()
    board.tell("A woman.", place="mill", participants=[ELENA], names={ELENA: "Elena of the Mill"})
    return board


def said(board: Board, who: str = THROK) -> list[str]:
    return [one.said for one in list_options(board.tables[who], who)]


def mean(board: Board, verb: Verb, who: str = THROK, **words: str) -> Act:
    return resolve_act(board.tables[who], who, verb, **words)


def test_who_was_a_stranger_is_still_meant_by_what_they_looked_like(board: Board) -> None:
    """A man who has told his name since can still be called "the man"."""
    names = {"npc_pell_001": "a man in a fur collar"}
    board.tell("A man.", place="mill", participants=["npc_pell_001"], names=names)
    board.tell(
        "I am Pell.", place="mill", participants=["npc_pell_001"], names={"npc_pell_001": "Wymond Pell"}
    )
    assert mean(board, Verb.ASK, target="the man", what="news").target == "npc_pell_001"
    assert mean(board, Verb.ASK, target="Wymond", what="news").target == "npc_pell_001"
    asked = parse_line(board.tables[THROK], THROK, "ask the man in the fur collar about wolves")
    assert (asked.verb, asked.target, asked.what) == (Verb.ASK, "npc_pell_001", "wolves")
    with pytest.raises(ActRefused, match=r"there is no 'the woman' here; choose from .*Wymond Pell"):
        mean(board, Verb.ASK, target="the woman", what="news")


def test_what_is_around_can_be_chosen(board: Board) -> None:
    """Ways, things and people that a character sees are among what it can do."""
    assert {
        "go road",
        "look at an iron chest",
        "open the back door",
        "ask Elena of the Mill about news",
        "whisper to Zara",
        "search",
        "rest",
    } <= {*said(board)}


def test_a_fight_leaves_only_what_one_does_in_fights(board: Board) -> None:
    """With foes at one's throat there is nothing to look at."""
    board.fight("mill", goblin=3)
    assert {"attack goblins", "parley with goblins", "flee by road"} <= {*said(board)}
    assert not any(one.startswith(("go ", "look", "search", "rest")) for one in said(board))


def test_who_is_elsewhere_sees_nothing_of_it(board: Board) -> None:
    """Things at the mill are no options of somebody in the yard."""
    board.record(BRAM, Act(verb=Verb.GO, what="road"))
    for who in (THROK, ZARA):
        board.record(who, Act(verb=Verb.STAY))
    board.march()
    board.begin_round()
    board.fight("mill", goblin=1)
    there = list_options(board.tables[BRAM], BRAM)
    assert {one.what for one in there if one.verb is Verb.GO} == {"in"}
    assert not any(one.target in (THROK, ZARA, ELENA, GOBLINS) for one in there)


@pytest.mark.parametrize(
    ("verb", "words", "act"),
    [
        (Verb.GO, {"what": "Back door"}, {"what": "the back door"}),
        (Verb.GO, {"target": "the road"}, {"what": "road"}),
        (Verb.LOOK, {"what": "chest"}, {"what": "chest"}),
        (Verb.TAKE, {"what": "the small shoe"}, {"what": "shoe"}),
        (Verb.LOOK, {"what": "elena"}, {"what": ELENA, "target": ELENA}),
        (Verb.ASK, {"target": "ELENA", "what": "the children"}, {"target": ELENA, "what": "the children"}),
        (Verb.ASK, {"target": "Elena of the Mill"}, {"target": ELENA, "what": "news"}),
        (Verb.WHISPER, {"target": "zara", "words": "Now."}, {"target": ZARA, "words": "Now."}),
        (Verb.GIVE, {"target": "Bram", "what": "Dagger"}, {"target": BRAM, "what": "dagger"}),
        (Verb.SAY, {"target": "Zara", "words": "Hello."}, {"target": ZARA, "words": "Hello."}),
        (Verb.SAY, {"target": "nobody at all", "words": "Hello."}, {"words": "Hello."}),
        (Verb.SEARCH, {}, {}),
    ],
)
def test_names_find_who_and_what_is_meant(
    board: Board, verb: Verb, words: dict[str, str], act: dict[str, str]
) -> None:
    """In any case, with or without an article, by a part that only one has."""
    assert mean(board, verb, **words) == Act.model_validate({"verb": verb, **act})


@pytest.mark.parametrize(
    ("verb", "words", "reason"),
    [
        (Verb.GO, {"what": "the moon"}, "there is no 'the moon' here; choose from the back door, road"),
        (Verb.GO, {}, "say what or whom"),
        (Verb.WHISPER, {"target": "Gandalf"}, "there is no 'Gandalf' here"),
        (Verb.ATTACK, {"target": "Elena"}, "there is no foe here"),
        (Verb.CAST, {"what": "fireball"}, "there is no 'fireball' here"),
        (Verb.TAKE, {"what": "a"}, "there is no 'a' here"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    board: Board, verb: Verb, words: dict[str, str], reason: str
) -> None:
    """The reason names what was said, and what could be said instead."""
    with pytest.raises(ActRefused, match=reason):
        mean(board, verb, **words)


def test_of_two_who_fit_neither_is_taken(board: Board) -> None:
    """A name that fits two things is refused, not guessed."""
    board.more["mill"]["things"] = {"red": "a red door", "blue": "a blue door"}
    board.begin_round()
    with pytest.raises(ActRefused, match="'door' could be a red door, a blue door"):
        mean(board, Verb.LOOK, what="door")


def test_the_only_foe_need_not_be_named(board: Board) -> None:
    board.fight("mill", goblin=2)
    assert mean(board, Verb.ATTACK, words="Die!").target == GOBLINS


def test_every_option_means_what_it_says() -> None:
    """Through a whole game: whatever is offered can be said in the words that it is offered in."""
    tables: dict[str, Table] = {"dm": Table()}
    checked = 0
    for event in log(story("the_unpaid_bridge", 1)):
        deliver_event(event, tables)
        for who in sorted(tables.keys() & tables["dm"].seats.keys())[:1]:
            for one in list_options(tables[who], who):
                assert one == _again(tables[who], who, one)
                checked += 1
    assert checked > 1_000


def _again(table: Table, who: str, one: Option) -> Option:
    name = None if one.target is None else one.target
    act = resolve_act(table, who, one.verb, target=name, what=one.what)
    what = act.tells[0] if act.tells else act.what
    assert act.verb in (one.verb, Verb.SAY)
    return Option(one.verb, one.said, target=act.target, what=what)


def test_what_is_offered_is_what_the_rules_allow() -> None:
    """Seen with the character's own eyes and the referee's: what differs is only what it could not know."""
    tables: dict[str, Table] = {"dm": Table()}
    refused, checked = [], 0
    for event in log(story("apples_in_january", 1)):
        deliver_event(event, tables)
        for who in sorted(tables.keys() & tables["dm"].seats.keys())[:2]:
            for one in list_options(tables[who], who):
                act = resolve_act(tables[who], who, one.verb, target=one.target, what=one.what)
                checked += 1
                if (reason := refusal(tables["dm"], who, act)) is not None:
                    refused.append((one.said, reason))
    assert len(refused) < checked / 50, refused[:20]


def test_places_are_called_as_the_character_heard() -> None:
    """Nobody is offered by a name that its own table does not have."""
    tables: dict[str, Table] = {"dm": Table()}
    for event in log(story("apples_in_january", 1)):
        deliver_event(event, tables)
        for who in [who for who in tables if who in tables["dm"].seats]:
            own = tables[who]
            for one in list_options(own, who):
                assert one.target is None or own.name(one.target) in one.said or _is_foe_in(own, who, one)


def _is_foe_in(table: Table, who: str, one: Option) -> bool:
    fight = table.fights.get(table.place(who) or "")
    return fight is not None and one.target in fight.foes


def test_what_has_no_word_in_it_names_nothing(board: Board) -> None:
    """Signs alone are no part of a name, also where only one could be meant."""
    for said in ("🏠", "…", "--"):
        with pytest.raises(ActRefused, match="there is no"):
            mean(board, Verb.TAKE, what=said)


def test_whoever_asks_one_of_the_party_does_not_ask_the_world(board: Board) -> None:
    """A question to a friend is talk; there is nothing in it for the DM to answer."""
    words = "Zara, what did you see?"
    assert mean(board, Verb.ASK, words=words, target="Zara", what="it") == Act(words=words, target=ZARA)
    assert mean(board, Verb.ASK, words="Well?", target="Elena", what="it").verb is Verb.ASK
