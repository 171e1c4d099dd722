"""Speech of house players: only names they heard, answers to others, and a tone per temper."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.bots.board import TEMPERS, Board, key_of, loc, pc
from tests.memory.test_laws import some

from dndbots.events import EventType
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.reactions import Reactions, opinion
from dndbots.game.bots.voice import BotVoice

WAYS = {"inn": {"north": "mill", "a gate": "yard"}, "mill": {"south": "inn"}, "yard": {"back": "inn"}}
SECRETS = [f"qzx{letter}" for letter in "abcdefgh"]


def secret_uids(word: str) -> dict[str, str]:
    return {kind: f"{kind}_{word}_001" for kind in ("npc", "loc", "qst", "item", "mon")}


@settings(max_examples=some(30))
@given(
    st.lists(
        st.tuples(st.sampled_from(SECRETS), st.sampled_from(("npc", "loc", "qst", "mon")), st.integers(0, 3)),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 10),
    st.permutations(TEMPERS),
)
def test_nobody_says_a_name_that_they_never_heard(
    taught: list[tuple[str, str, int]], seed: int, tempers: list[str]
) -> None:
    """Everybody sees people, quests and foes; only some hear what they are called; only these say it."""
    board = Board(WAYS, tempers=tempers[:3], seed=seed)
    for word, kind, number in taught:
        uids, place = secret_uids(word), board.table.place(pc(number % 3))
        key = key_of(str(place))
        board.begin_round()
        board.more[key] = {"people": [uids["npc"], uids["mon"]]}
        step = board.step(f"settle {len(board.log)}")
        board.settle(step, key)
        board.done(step)
        offer = {"quest_id": uids["qst"], "quest_state": "offered"}
        board.tell("Somebody asks for help.", place=key, source=uids["npc"], **offer)
        hearers = [pc(number % 3)] if number < 3 else [pc(0), pc(1)]
        names = {uids[kind]: f"{word.capitalize()} of {kind}"}
        board.tell("A name is whispered.", place=key, witnesses=hearers, names=names)
        if board.table.place(pc(0)) == place:
            board.tell("It is done.", place=key, witnesses=[pc(0)], play={"gist": "somebody cried"})
        begun = len(board.acts)
        before = {who: {name.casefold() for name in board.tables[who].names.values()} for who in board.tables}
        board.play_out()
        for _, who, act in board.acts[begun:]:
            for secret in SECRETS:
                heard = any(secret in name for name in before[who])
                assert heard or secret not in act.words.casefold()


@settings(max_examples=some(30))
@given(st.text(min_size=1, max_size=400).filter(str.strip), st.sampled_from(TEMPERS), st.integers(0, 5))
def test_what_others_wrote_is_passed_on_as_it_is(gist: str, temper: str, seed: int) -> None:
    """Text from others may hold anything: it is passed on as data and fits the limit."""
    board = Board(WAYS, tempers=(temper, "kind"), seed=seed)
    board.begin_round()
    gist = gist.replace("\x00", "")
    if not gist.strip():
        return
    board.tell("Hm.", place="inn", witnesses=[], told_to=[pc(0)], play={"gist": gist})
    act = board.decide(pc(0))
    assert act.verb is Verb.TELL
    assert gist[1:] in act.words or gist[1:].strip() in act.words
    assert len(act.words) <= LONGEST_WORDS


def test_a_friend_who_speaks_to_one_is_answered() -> None:
    """Often, words get a reply that names who spoke."""
    answered = 0
    for seed in range(30):
        board = Board(WAYS, tempers=("wry", "kind"), seed=seed)
        board.round()
        board.begin_round()
        board.record(pc(0), Act(words='"Zara, do you remember the bridge?"'))
        answered += "Throk" in board.decide(pc(1)).words
    assert answered > 10


def test_who_is_told_something_believes_it_or_not() -> None:
    """News gets an answer; the kind doubt less than the wry."""

    def doubts(temper: str) -> int:
        found = 0
        for seed in range(60):
            board = Board(WAYS, tempers=("brave", temper), seed=seed)
            board.round()
            board.begin_round()
            event = board.tell("A ghost.", place="inn", witnesses=[pc(0)], play={"gist": "a ghost sat there"})
            board.record(pc(0), Act(verb=Verb.TELL, words="A ghost sat there.", tells=(event.event_id,)))
            mind = Mind(board.turn(pc(1)))
            reactions = Reactions(mind, BotVoice(mind)).to_words(mind.since_my_turn[-1])
            found += [one.key for one in reactions] == ["doubt"]
        return found

    assert doubts("kind") < doubts("wry") < 50


def test_friends_are_judged_by_what_they_did() -> None:
    """Help raises a character's opinion of a friend; leaving lowers it."""
    board = Board(WAYS, tempers=("wry", "kind", "brave"))
    board.begin_round()
    board.fall(0)
    board.record(pc(1), Act(verb=Verb.BIND, target=pc(0), words="Hold still."))
    board.record(pc(2), Act(verb=Verb.GO, what="north"))
    mind = Mind(board.turn(pc(0)))
    assert opinion(mind, pc(1)) > opinion(mind, pc(2))


def test_who_was_saved_says_thanks() -> None:
    """A character who was saved thanks the helper by name."""
    board = Board(WAYS, tempers=("wry", "kind"))
    board.round()
    board.begin_round()
    board.fall(0)
    board.record(pc(1), Act(verb=Verb.BIND, target=pc(0), words="Hold still."))
    said = board.decide(pc(0)).words
    assert "Zara" in said


def test_the_dead_are_remembered() -> None:
    """A friend's death is spoken of at once, and now and then later."""
    board = Board(WAYS, tempers=("kind", "wry", "brave"))
    board.round()
    board.begin_round()
    place = key_of(str(board.table.place(pc(0))))
    board.tell("Zara dies.", place=place, participants=[pc(1)], killed=[pc(1)])
    assert "Zara" in board.decide(pc(0)).words
    for _ in range(80):
        board.round()
    assert any("Zara" in act.words for number, _, act in board.acts if number > 20)


def test_tempers_have_their_own_words() -> None:
    """In the same place, with the same chance, two tempers do not speak alike."""
    said = set()
    for temper in TEMPERS:
        board = Board(WAYS, tempers=(temper, "kind"), goals=("company",), seed=3)
        for _ in range(12):
            board.round()
        said.add(tuple(act.words for _, who, act in board.acts if who == pc(0)))
    assert len(said) == len(TEMPERS)


def test_much_news_is_one_speech() -> None:
    """What happened at one place is told together, without naming the place in every sentence."""
    board = Board({"inn": {"north": "mill"}, "mill": {"south": "inn"}}, tempers=("kind", "wry"), seed=1)
    board.begin_round()
    gists = (
        "we came to the mill: a wheel in the ice",
        "there is a cat at the mill",
        "Throk found a key in the mill",
    )
    for gist in gists:
        told = {"witnesses": [pc(0)], "names": {loc("mill"): "the mill"}, "play": {"gist": gist}}
        board.tell("So it was.", place="mill", kind=EventType.LOOT, **told)
    board.begin_round()
    act = board.decide(pc(0))
    assert act.verb is Verb.TELL
    assert len(act.tells) == 3
    assert "a wheel in the ice. There is a cat. Throk found a key" in act.words.replace("A wheel", "a wheel")
    board.record(pc(0), act)
    assert board.decide(pc(0)).verb is not Verb.TELL
