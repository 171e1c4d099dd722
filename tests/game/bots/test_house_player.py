"""House players: each decides from its own table, within the rules, and by its temper."""

import re
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.bots.board import TEMPERS, Board, key_of, loc, pc
from tests.memory.test_laws import some

from dndbots.events import EventType, audience
from dndbots.game.acts import Act, Verb
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.bots.lore import SHUT, is_one_of
from dndbots.game.bots.mind import Mind
from dndbots.game.phrases import house_phrases
from dndbots.game.referee import refusal
from dndbots.game.state.table import Table

WAYS = {
    "inn": {"north": "mill", "a cellar door": "cellar"},
    "mill": {"south": "inn", "a trapdoor": "cellar"},
    "cellar": {"up": "inn"},
}
CLASSES = ("Fighter", "Cleric", "Magic-User", "Thief")
QUEST = "qst_bell_001"
HOB = "npc_hob_001"


def told(number: int, who: str, hp: int) -> dict[str, dict[str, Any]]:
    """Return what the DM might tell, by kind."""
    quest = {"quest_id": QUEST, "quest_state": "offered", "names": {QUEST: "Silence the bell"}}
    finding = {"kind": EventType.DISCOVERY, "witnesses": [who]}
    return {
        "topic": {"play": {"topics": [f"topic {number}"]}},
        "deed": {"play": {"gist": f"deed {number} was done"}},
        "found": {"play": {"gist": f"thing {number} was found"}, **finding},
        "person": {"participants": [HOB], "names": {HOB: "Old Hob"}},
        "offer": {"source": HOB, "kind": EventType.QUEST_UPDATE, **quest},
        "wound": {"participants": [who], "hp_delta": {who: -(number % 6)}},
        "fall": {"participants": [who], "hp_delta": {who: -hp}, "conditions": {who: ["dying"]}},
        "potion": {"participants": [who], "loot": [{"item": "potion of healing", "to": who}]},
    }


def seen(number: int) -> dict[str, dict[str, Any]]:
    """Return what there may be to see, by kind."""
    return {
        "thing": {"things": {f"thing{number}": f"an odd chest {number}"}},
        "person": {"people": [HOB]},
        "wary": {"people": ["mon_bandit_001"]},
        "safe": {"safe": True},
        "dark": {"dark": True},
    }


def happen(board: Board, what: str, number: int) -> None:
    """Let something happen that a DM might do, where the first character is."""
    where = key_of(str(board.table.place(board.table.living()[0])))
    here = board.table.together(loc(where))
    who = here[number % len(here)]
    hp = board.table.fact(who, "hp")
    board.more.setdefault(where, {}).update(seen(number).get(what, {}))
    tellable = told(number, who, hp)
    harms = what in ("fall", "wound")
    if what in tellable and not (harms and (len(here) == 1 or hp <= 5)):
        board.tell("It happens.", place=where, **tellable[what])
    if what == "fight" and loc(where) not in board.table.fights:
        board.fight(where, **{("goblin", "giant_rat", "skeleton", "wolf")[number % 4]: 1 + number % 3})


KINDS = (
    "topic",
    "deed",
    "found",
    "thing",
    "person",
    "offer",
    "wound",
    "fall",
    "safe",
    "dark",
    "potion",
    "fight",
    "wary",
)
happenings = st.lists(
    st.one_of(st.none(), st.tuples(st.sampled_from(KINDS), st.integers(0, 30))), min_size=1, max_size=14
)


def boards(seed: int, tempers: list[str]) -> Board:
    return Board(WAYS, tempers=tempers, classes=CLASSES, seed=seed, sights={"inn": {"safe": True}})


parties = st.builds(boards, st.integers(0, 20), st.lists(st.sampled_from(TEMPERS), min_size=1, max_size=4))


def play(board: Board, events: list[tuple[str, int] | None]) -> None:
    """Play rounds with something happening before each turn."""
    for event in events:
        if not board.table.living():
            return
        board.begin_round()
        if event is not None:
            happen(board, *event)
        board.play_out()


@settings(max_examples=some(40))
@given(parties, happenings)
def test_acts_are_within_the_rules(board: Board, events: list[tuple[str, int] | None]) -> None:
    """Whatever happens, no turn is lost to an act that the rules refuse."""
    play(board, events)  # which raises if an act is refused


@settings(max_examples=some(30))
@given(parties, happenings)
def test_the_same_table_gives_the_same_act(board: Board, events: list[tuple[str, int] | None]) -> None:
    """A player remembers nothing of its own: asked again, it does the same."""
    play(board, events)
    board.begin_round()
    for who in board.table.living():
        assert HousePlayer().act(board.turn(who)) == HousePlayer().act(board.turn(who))


@settings(max_examples=some(30))
@given(parties, happenings)
def test_what_a_character_did_not_perceive_changes_nothing(
    board: Board, events: list[tuple[str, int] | None]
) -> None:
    """An act is the same if all that the character never perceived is struck from the log."""
    play(board, events)
    board.begin_round()
    for who in board.table.living():
        own = Table(who)
        for event in board.log:
            if who in audience(event):
                own.heard(event)
        assert HousePlayer().act(board.turn(who, own)) == board.decide(who)


@settings(max_examples=some(30))
@given(parties, happenings)
def test_only_news_is_told_and_only_once(board: Board, events: list[tuple[str, int] | None]) -> None:
    """News goes to somebody present who has not seen it, and nobody hears it twice."""
    told: set[tuple[str, str]] = set()
    for event in events:
        if not board.table.living():
            return
        board.begin_round()
        if event is not None:
            happen(board, *event)
        while (due := board.table.due()) is not None and due.node == "player":
            act, deeds = board.decide(due.who), board.tables[due.who].deeds
            here = set(board.table.together(board.table.place(due.who))) - {due.who}
            hearers = {str(act.target)} if act.verb is Verb.WHISPER else here
            for deed in deeds:
                if deed.event_id in act.tells:
                    new = {who for who in hearers if deed.is_news_to(who)}
                    assert new
                    assert not {(who, deed.event_id) for who in new} & told
                    told |= {(who, deed.event_id) for who in hearers}
            assert set(act.tells) <= {deed.event_id for deed in deeds}
            board.record(due.who, act)
        board.play_out()


def parted() -> Board:
    """Put Throk at the mill, and Zara and Bram at the inn without a view of it."""
    board = Board(WAYS, tempers=("kind", "careful", "wry"))
    board.begin_round()
    board.record(pc(0), Act(verb=Verb.GO, what="north"))
    board.record(pc(1), Act(verb=Verb.STAY))
    board.record(pc(2), Act(verb=Verb.STAY))
    board.march()
    return board


def test_friends_who_meet_again_tell_each_other_what_they_saw() -> None:
    """What one part of the party saw reaches the other part, in words, when they meet."""
    board = parted()
    board.begin_round()
    board.tell("A key!", place="mill", play={"gist": "a silver key lies under the hearthstone"})
    board.record(pc(0), Act(verb=Verb.GO, what="south"))
    board.march()
    for _ in range(3):
        board.round()
    tells = [(who, act) for _, who, act in board.acts if act.verb is Verb.TELL]
    assert [who for who, _ in tells] == [pc(0)]
    assert "silver key lies under the hearthstone" in tells[0][1].words


def test_nobody_speaks_to_those_who_left() -> None:
    """A friend who left is gone, also for characters who did not see where they went."""
    board = parted()
    for _ in range(4):
        board.begin_round()
        for who in (pc(1), pc(2)):
            act = board.decide(who)
            assert act.target != pc(0)
            board.record(who, Act())


@pytest.mark.parametrize(
    "words", ["Zara, what do you think?", "Zara, can you keep watch?", "Zara, you snore."]
)
def test_a_friend_who_is_spoken_to_answers(words: str) -> None:
    """By the speaker's name, and at once; others are not meant."""
    board = Board(WAYS, tempers=("kind", "kind", "kind"), goals=("company", "company", "company"))
    board.begin_round()  # they introduce themselves
    for who in (pc(0), pc(1), pc(2)):
        board.record(who, board.decide(who))
    board.begin_round()
    board.record(pc(0), Act(words=words, target=pc(1)))
    assert "Throk" in board.decide(pc(1)).words
    assert "Throk" not in board.decide(pc(2)).words


def test_a_whisper_is_answered_without_a_word() -> None:
    """Who is told a secret shows that they heard it; nothing of it is said aloud."""
    board = Board(WAYS, tempers=("kind", "kind", "kind"), goals=("company", "company", "company"))
    board.begin_round()  # they introduce themselves
    for who in (pc(0), pc(1), pc(2)):
        board.record(who, board.decide(who))
    board.begin_round()
    words = "She hides something, watch her hands."
    board.record(pc(0), Act(verb=Verb.WHISPER, words=words, target=pc(1)))
    answer = board.decide(pc(1)).words
    # The gesture comes first; what else it has to say in its turn is of something else.
    assert "say nothing" in answer or any(sign in answer for sign in ("nod", "ear", "cough", "eye"))
    assert "hides" not in answer


def test_somebody_who_left_is_not_taken_to_be_where_they_were_last_seen() -> None:
    """A character who comes back sees that a person has gone, and does not ask them."""
    board = Board(WAYS, tempers=("curious", "kind"), goals=("knowledge", "company"))
    board.begin_round()
    happen(board, "person", 0)
    board.begin_round()
    assert board.tables[pc(0)].place(HOB) == loc("inn")
    board.record(pc(0), Act(verb=Verb.GO, what="north"))
    board.record(pc(1), Act(verb=Verb.STAY))
    board.march()
    board.begin_round()
    board.tell("Hob leaves.", place="cellar", participants=[HOB], witnesses=[])
    board.record(pc(0), Act(verb=Verb.GO, what="south"))
    board.record(pc(1), Act(verb=Verb.STAY))
    board.march()
    board.begin_round()
    for who in (pc(0), pc(1)):
        assert board.tables[who].place(HOB) is None
        assert board.decide(who).target != HOB


def test_the_greedy_keep_a_secret_that_others_tell() -> None:
    """A greedy finder keeps a treasure secret or whispers it to one friend; others tell everybody."""
    verbs: dict[str, set[Verb]] = {"greedy": set(), "kind": set()}
    for temper, used in verbs.items():
        for number in range(12):
            board = Board(WAYS, tempers=(temper, "wry", "wry"), seed=number)
            board.round()
            board.begin_round()
            gist = {"gist": f"a purse of {number} gold was under the bed"}
            board.tell(
                "Gold!", place="inn", kind=EventType.DISCOVERY, witnesses=[], told_to=[pc(0)], play=gist
            )
            for _ in range(6):
                used |= {act.verb for _, who, act in board.acts if who == pc(0) and act.tells}
                board.play_out()
                board.begin_round()
    assert verbs["kind"] == {Verb.TELL}
    assert Verb.WHISPER in verbs["greedy"]


def offered(temper: str, goal: str, seed: int) -> Verb:
    board = Board(WAYS, tempers=(temper,), goals=(goal,), seed=seed)
    board.begin_round()
    happen(board, "person", 0)
    happen(board, "offer", 0)
    board.begin_round()
    return board.decide(pc(0)).verb


def test_an_offer_is_answered_by_temper() -> None:
    """The kind nearly always say yes; the careful say no now and then."""
    answers = {
        temper: [offered(temper, "company", seed) for seed in range(60)] for temper in ("kind", "careful")
    }
    assert {verb for verbs in answers.values() for verb in verbs} == {Verb.ACCEPT, Verb.REFUSE}
    assert answers["kind"].count(Verb.REFUSE) < answers["careful"].count(Verb.REFUSE) < 30


def test_an_accepted_quest_is_a_promise() -> None:
    """Accepting a quest gives a promise in words that can be found again."""
    board = Board(WAYS, tempers=("brave",), goals=("glory",), seed=1)
    board.begin_round()
    happen(board, "person", 0)
    happen(board, "offer", 0)
    board.begin_round()
    act = board.decide(pc(0))
    assert act.verb is Verb.ACCEPT
    board.record(pc(0), act)
    assert any(word in act.words for word in ("promise", "word", "swear"))
    board.begin_round()
    assert board.decide(pc(0)).verb is not Verb.ACCEPT  # which waits for the DM


@pytest.mark.parametrize("hurt", ["dying", "weak"])
def test_friends_are_helped_first(hurt: str) -> None:
    """A cleric sees to the dying and the hurt before anything else."""
    board = Board(WAYS, tempers=("wry", "kind"), classes=("Cleric", "Fighter"))
    board.begin_round()
    happen(board, "thing", 1)
    spells = [{"subject": pc(0), "key": "spells_ready", "value": ["Cure Wounds"]}]
    board.tell("A prayer.", place="inn", witnesses=[pc(0)], facts=spells)
    if hurt == "dying":
        happen(board, "fall", 1)
    else:
        board.tell("Ouch.", place="inn", participants=[pc(1)], hp_delta={pc(1): -6})
    act = board.decide(pc(0))
    assert (act.verb, act.target, act.what) == (Verb.CAST, pc(1), "Cure Wounds")


def test_the_dying_are_bound_by_those_who_cannot_cast() -> None:
    board = Board(WAYS, tempers=("greedy", "kind"))
    board.begin_round()
    happen(board, "fall", 1)
    act = board.decide(pc(0))
    assert (act.verb, act.target) == (Verb.BIND, pc(1))
    assert refusal(board.table, pc(0), act) is None


def test_the_curious_look_where_the_brave_walk_on() -> None:
    """Tempers differ in what they do with the same place."""

    def searches(temper: str) -> int:
        found = 0
        for seed in range(40):
            board = Board(WAYS, tempers=(temper,), goals=("company",), seed=seed)
            board.round()
            found += any(act.verb is Verb.SEARCH for _, _, act in board.acts)
        return found

    assert searches("curious") > searches("kind") > 0
    assert searches("greedy") > searches("brave")


def test_people_are_asked_for_news_first_and_nothing_twice() -> None:
    """Whoever is met is asked how things are; a question that was put is not put again."""
    board = Board(WAYS, tempers=("curious", "brave", "wry"), goals=("knowledge",))
    board.begin_round()
    happen(board, "person", 0)
    for number in range(5):
        happen(board, "topic", number)
    for _ in range(8):
        board.play_out()
        board.begin_round()
    asked = [act.what for _, _, act in board.acts if act.verb is Verb.ASK]
    assert asked[0] == "news"
    assert len(set(asked)) == len(asked) > 3


def test_every_word_that_is_needed_is_written() -> None:
    """Each rule that a player may say from is in the house's phrases."""
    book = house_phrases()
    used: set[str] = set()
    for file in resources.files("dndbots.game.bots").iterdir():
        if file.name.endswith(".py"):
            used.update(re.findall(r'(?:say\(|Reaction\([^"]*)"([a-z_]+)"', file.read_text("utf-8")))
    assert len(used) > 20
    assert [key for key in sorted(used) if not book.has(key)] == []


def test_wounds_that_a_night_does_not_heal_are_none() -> None:
    """Who missed a friend's healing learns in the next night that there is nothing left to heal."""
    board = Board(WAYS, tempers=("wry", "kind"), sights={"inn": {"safe": True}})
    board.begin_round()
    board.tell("A blow.", place="inn", hp_delta={pc(1): -7})
    board.tell("A prayer.", place="inn", witnesses=[pc(1)], hp_delta={pc(1): 7})
    assert board.decide(pc(0)).verb is Verb.REST
    rest = {"kind": EventType.HEALING, "participants": [pc(0), pc(1)], "play": {"minutes": 480}}
    board.tell("You sleep.", place="inn", **rest)
    board.begin_round()
    assert board.decide(pc(0)).verb is not Verb.REST


def test_a_wreath_on_a_door_is_no_door() -> None:
    """What a thing is, not what it hangs on, decides whether it can be opened."""
    assert is_one_of("a heavy oak door with a grille", SHUT)
    assert not is_one_of("a straw wreath on a door", SHUT)


def test_friends_are_called_by_their_first_names() -> None:
    """Titles stay, and so does a full name that another one could be taken for."""
    board = Board(WAYS, tempers=("wry", "kind"))
    board.begin_round()
    names = {"pc_a_001": "Pim Tanglefoot", "pc_b_001": "Sister Maren", "npc_c_001": "Pip Reed"}
    board.tell("Hello.", place="inn", names=names)
    mind = Mind(board.turn(pc(0)))
    assert [mind.called(uid) for uid in names] == ["Pim", "Sister Maren", "Pip Reed"]
    board.tell("Hello.", place="inn", names={"pc_d_001": "Pim Hale"})
    assert Mind(board.turn(pc(0))).called("pc_a_001") == "Pim Tanglefoot"


def test_an_offer_is_left_to_a_person_who_is_here() -> None:
    """A companion of the house promises nothing for somebody who plays; alone, it does."""
    board = Board(WAYS, tempers=("kind", "kind"), goals=("glory", "glory"), seed=1)
    board.begin_round()
    happen(board, "person", 0)
    happen(board, "offer", 0)
    board.begin_round()
    assert board.decide(pc(0)).verb is Verb.ACCEPT
    assert board.decide(pc(0), people=frozenset({pc(1)})).verb not in (Verb.ACCEPT, Verb.REFUSE)
    assert board.decide(pc(0), people=frozenset({"pc_elsewhere_001"})).verb is Verb.ACCEPT
