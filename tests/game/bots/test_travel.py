"""Travel of house players: everywhere, not in circles, sometimes apart, and together again."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.bots.board import TEMPERS, Board, key_of, loc, pc
from tests.memory.test_laws import some

from dndbots.game.acts import Act, Verb
from dndbots.game.bots.journal import MapMemory

HOUSE = {
    "hall": {"north": "kitchen", "the stairs": "attic", "a low door": "cellar"},
    "kitchen": {"south": "hall", "the garden": "garden"},
    "garden": {"back inside": "kitchen"},
    "attic": {"down": "hall"},
    "cellar": {"up": "hall", "a dark tunnel": "garden"},
}
LABELS = (
    "north",
    "south",
    "up",
    "down",
    "a narrow stair",
    "the old road",
    "an iron gate",
    "a gap in the wall",
)


@st.composite
def maps(draw: st.DrawFn) -> dict[str, dict[str, str]]:
    """Draw small maps in which every place can be left and be reached from the first."""
    keys = [f"place{letter}" for letter in "abcdefgh"[: draw(st.integers(2, 8))]]
    ways: dict[str, dict[str, str]] = {key: {} for key in keys}

    def join(one: str, other: str) -> None:
        free = [label for label in LABELS if label not in ways[one]]
        ways[one][draw(st.sampled_from(free))] = other

    for number, key in enumerate(keys[1:], 1):
        other = keys[draw(st.integers(0, number - 1))]
        join(other, key)
        if draw(st.booleans()) or key == keys[-1]:
            join(key, other)
        else:
            join(key, keys[0])
    for _ in range(draw(st.integers(0, 3))):
        join(draw(st.sampled_from(keys)), draw(st.sampled_from(keys)))
    return ways


@settings(max_examples=some(12))
@given(maps(), st.sampled_from(TEMPERS), st.integers(0, 5))
def test_every_place_that_can_be_reached_is_visited(
    ways: dict[str, dict[str, str]], temper: str, seed: int
) -> None:
    """Whoever leads, and whatever the map: in time the party has seen all of it."""
    board = Board(ways, tempers=(temper, "kind"), seed=seed)
    for _ in range(12 * len(ways) + 20):
        board.round()
    assert {loc(key) for key in ways} - {loc(board.start)} <= set(board.table.visits)


@settings(max_examples=some(12))
@given(maps(), st.integers(0, 5))
def test_no_two_places_are_walked_between_for_ever(ways: dict[str, dict[str, str]], seed: int) -> None:
    """A party that has seen everything still moves about all of it, rather than to and fro."""
    board = Board(ways, tempers=("brave", "careful"), seed=seed)
    for _ in range(6 * len(ways) + 20):
        board.round()
    later: Counter[str] = Counter()
    for _ in range(10 * len(ways) + 10):
        board.round()
        later.update({str(board.table.place(pc(0)))})
    assert set(later) == {loc(key) for key in ways}


def test_a_way_that_is_shut_is_tried_and_then_left_alone() -> None:
    """A party tries a locked door and does not spend the day in front of it."""
    board = Board(HOUSE, tempers=("brave", "wry"), shut=[("hall", "a low door")])
    for _ in range(60):
        board.round()
    tries = [act for _, _, act in board.acts if act.verb is Verb.GO and act.what == "a low door"]
    assert any(act.verb is Verb.OPEN and act.what == "a low door" for _, _, act in board.acts)
    assert len(tries) < 30
    assert loc("attic") in board.table.visits


def test_the_others_come_along_as_a_rule() -> None:
    """Most of the time a party goes where the first of it says."""
    together = apart = 0
    for seed in range(8):
        board = Board(HOUSE, tempers=("wry", "kind", "careful", "brave"), seed=seed)
        for _ in range(40):
            board.round()
            if len(board.table.scenes()) == 1:
                together += 1
            else:
                apart += 1
    assert together > 2 * apart
    assert apart > 0


def test_parts_of_a_party_find_each_other_again() -> None:
    """Split parties look for each other where they parted, and meet."""
    met = 0
    for seed in range(10):
        board = Board(HOUSE, tempers=("kind", "careful", "curious"), seed=seed)
        board.round()
        board.begin_round()
        ways = list(HOUSE[board.table.place(pc(0)).removeprefix("loc_").removesuffix("_001")])  # type: ignore[union-attr]
        for number in range(3):
            way = ways[0] if number == 0 else ways[-1]
            board.record(pc(number), Act(verb=Verb.GO, what=way))
        board.march()
        for _ in range(30):
            board.round()
            if len(board.table.scenes()) == 1:
                met += 1
                break
    assert met >= 8


def test_who_is_hurt_goes_home() -> None:
    """A party in no state to go on goes back to where it is safe, and rests."""
    board = Board(HOUSE, tempers=("careful", "kind"), sights={"hall": {"safe": True}})
    while board.table.place(pc(0)) != loc("garden"):
        board.round()
    board.tell("A beam falls.", place="garden", participants=[pc(0)], hp_delta={pc(0): -6})
    for _ in range(6):
        board.round()
    assert any(act.verb is Verb.REST for _, _, act in board.acts)


@pytest.mark.parametrize("temper", TEMPERS)
def test_a_lead_is_followed(temper: str) -> None:
    """Of several ways that nobody took yet, the one that people speak of is the likeliest."""
    ways = {
        "inn": {"the old bridge": "bridge", "the mill path": "mill", "a gap in the hedge": "field"},
        "bridge": {"back": "inn"},
        "mill": {"back": "inn"},
        "field": {"back": "inn"},
    }
    taken: Counter[str] = Counter()
    for seed in range(12):
        board = Board(ways, tempers=(temper,), seed=seed)
        board.begin_round()
        board.tell("They speak of a mill.", place="inn", play={"topics": ["the mill"]})
        for _ in range(12):
            board.play_out()
            if board.table.place(pc(0)) != loc("inn"):
                break
            board.begin_round()
        taken[str(board.table.place(pc(0)))] += 1
    assert taken.most_common(1)[0][0] == loc("mill")


def test_the_way_back_is_guessed_by_its_label() -> None:
    """After going north, south is no news; and a way named after a known place leads there."""
    board = Board(HOUSE, tempers=("brave",))
    board.begin_round()
    board.tell("This is the hall.", place="hall", names={loc("hall"): "the hall"})
    board.record(pc(0), Act(verb=Verb.GO, what="north"))
    board.march()
    board.begin_round()
    chart = MapMemory(board.tables[pc(0)])
    assert chart.new(loc("kitchen")) == ["the garden"]
    assert chart.ways(loc("kitchen")) == {"south": loc("hall")}


def on_a_quest() -> Board:
    """Let somebody in the hall ask for something, and the party accept."""
    hob, quest = "npc_hob_001", "qst_bell_001"
    board = Board(HOUSE, tempers=("brave", "kind"), sights={"hall": {"people": [hob]}})
    board.begin_round()
    board.tell("Hob asks.", place="hall", participants=[hob], quest_id=quest, quest_state="offered")
    board.record(pc(0), Act(verb=Verb.ACCEPT, target=hob, what=quest))
    board.tell("Agreed.", place="hall", quest_id=quest, quest_state="accepted")
    return board


def test_a_quest_that_seems_done_is_reported_to_who_gave_it() -> None:
    """Once the last step that one knows of is done, the party goes to the giver by the shortest way."""
    board = on_a_quest()
    while board.table.place(pc(0)) != loc("garden"):
        board.round()
    board.begin_round()
    done = {"quest_id": "qst_bell_001", "objective_id": "found", "objective_state": "completed"}
    board.tell("There it is!", place="garden", **done)
    for _ in range(5):
        board.play_out()
        board.begin_round()
    assert loc("hall") in [board.table.place(pc(0)), *visited_since(board, "There it is!")]


def visited_since(board: Board, text: str) -> list[str]:
    begun = next(number for number, event in enumerate(board.log) if event.content == text)
    return [str(event.known.location) for event in board.log[begun:]]


def test_a_giver_who_wants_more_is_not_run_to_for_ever() -> None:
    """If the giver says nothing to it, the party sees to the rest of the map."""
    board = on_a_quest()
    done = {"quest_id": "qst_bell_001", "objective_id": "found", "objective_state": "completed"}
    board.tell("A step is done.", place="hall", **done)
    for _ in range(50):
        board.round()
    assert {loc(key) for key in HOUSE} - {loc("hall")} <= set(board.table.visits)


def test_a_hint_that_was_followed_is_done_with() -> None:
    """A party that was sent to a place and has been there does not go back for the same hint."""
    board = Board(HOUSE, tempers=("wry",), seed=3)
    board.round()
    board.begin_round()
    here = key_of(str(board.table.place(pc(0))))
    way, there = next(iter(HOUSE[here].items()))
    lead = {"place": loc(there), "act": {"verb": "stay"}}
    board.tell("It is time to go there.", place=here, play={"lead": lead})
    assert board.tables[pc(0)].lead is not None
    board.record(pc(0), Act(verb=Verb.GO, what=way, words="There."))
    board.march()
    assert board.tables[pc(0)].lead is None


def test_nobody_leaves_while_a_player_is_at_something() -> None:
    """The house proposes no way while a person's character is at something; it follows where they go."""
    people = frozenset((pc(1),))
    board = Board(HOUSE, tempers=("wry", "brave", "curious"))

    def play(act: Act) -> None:
        board.begin_round()
        for who in (pc(0), pc(1), pc(2)):
            board.record(who, act if who in people else board.decide(who, people=people))
        board.march()

    for number in range(12):
        play(Act(words=f"Let me think about that, and about {number} more things."))
        assert {board.table.place(pc(number)) for number in range(3)} == {loc("hall")}
    play(Act(verb=Verb.GO, what="north", words="North."))
    assert {board.table.place(pc(number)) for number in range(3)} == {loc("kitchen")}
