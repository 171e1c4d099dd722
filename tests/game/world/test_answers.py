"""Answers of the house DM to the players' acts."""

import re

import pytest
from bench.laws import unshown_uids
from tests.game.world.npc_table import adventure, ask
from tests.game.world.scenes import MILL as MILL_TEXT
from tests.game.world.scenes import Bench, words

from dndbots.errors import ActRefused
from dndbots.events import EventType, GameEvent, audience
from dndbots.game import referee
from dndbots.game.acts import Act, Attempt, Verb
from dndbots.game.adventures import load
from dndbots.game.phrases import house_phrases
from dndbots.game.state.game_notes import played_of
from dndbots.game.state.options import Surroundings

MAREN, ODD = "npc_maren_001", "npc_odd_001"
FERRY, MILL = "loc_ferry_001", "loc_mill_001"
THROK, ZARA = "pc_throk_001", "pc_zara_001"


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.dm()
    return bench


def search_until_found(bench: Bench) -> list[GameEvent]:
    for _ in range(20):
        found = bench.ask("zara", Verb.SEARCH)
        if "found:stone" in bench.table.beats:
            return found
    raise AssertionError("twenty searches found nothing")


def test_the_first_words_open_the_adventure_and_tell_the_place() -> None:
    """The opening, the looks of the start, who is there, and the ways on come in one event."""
    bench = Bench()
    (opening,) = bench.dm()
    assert opening.content.startswith("A raft takes you over the black water. A landing of grey planks")
    assert "an old ferrywoman" in opening.content
    seen = bench.tables[THROK].sights[FERRY]
    assert seen.ways == ("mill path",)
    assert seen.things == {"bell": "a bronze bell", "box": "a tin box"}
    assert seen.people == (MAREN,)
    assert seen.safe


def test_somebody_gives_the_name_when_first_spoken_to(bench: Bench) -> None:
    """Until then everybody knows the person by their looks."""
    assert bench.tables[THROK].name(MAREN) == "an old ferrywoman"
    said = bench.ask("throk", Verb.ASK, target=MAREN, what="news")[0]
    assert (said.event_type, said.source) == (EventType.DIALOGUE, MAREN)
    assert "Mind the wet planks." in said.content
    assert "They say that the mill walks at night" in said.content
    assert bench.tables[ZARA].name(MAREN) == "Maren"
    assert "mill" in bench.tables[ZARA].topics


def test_a_lie_is_told_like_the_truth_and_is_only_believed(bench: Bench) -> None:
    """The facts of a lie are beliefs of its hearers and nobody's facts."""
    said = bench.ask("throk", Verb.ASK, target=MAREN, what="the mill")[0]
    assert "Nobody has been in the mill since the flood" in said.content
    assert "lie" not in str(said.metadata)
    own = bench.tables[THROK]
    assert own.told[MILL]["state_of_it"] == ("empty", MAREN)
    assert own.fact(MILL, "state_of_it") is None
    assert bench.table.fact(MILL, "state_of_it") is None


def test_what_needs_trust_is_not_told_to_strangers(bench: Bench) -> None:
    """A gift makes somebody talk who would not."""
    bench.ask("throk", Verb.ASK, target=MAREN, what="flood")
    assert "said:maren/maren_3" not in bench.table.beats
    thanks = bench.ask("throk", Verb.GIVE, target=MAREN, what="6 torches")
    assert thanks[0].source == MAREN
    told = bench.ask("throk", Verb.ASK, target=MAREN, what="flood")
    assert "My own brother was on it" in words(told)


def test_nobody_knows_what_is_not_in_the_module(bench: Bench) -> None:
    """People who know nothing about a topic say so and teach nothing."""
    said = bench.ask("throk", Verb.ASK, target=MAREN, what="turnips")[0]
    assert said.source == MAREN
    assert "turnips" in said.content
    assert "facts" not in said.metadata


def test_nothing_is_news_twice_to_the_same_ears(bench: Bench) -> None:
    """Asked again at once, nobody says it twice; later they do, and teach nothing. Nor does a second look."""
    bench.ask("throk", Verb.ASK, target=MAREN, what="mill")
    assert "Nobody has been in the mill" not in words(bench.ask("zara", Verb.ASK, target=MAREN, what="mill"))
    for _ in range(6):
        bench.dm()
    again = bench.ask("zara", Verb.ASK, target=MAREN, what="mill")
    assert "Nobody has been in the mill" in words(again)
    assert all("facts" not in said.metadata and not played_of(said).gist for said in again)
    bench.ask("throk", Verb.LOOK, what="bell")
    assert "The bell has a crack" not in words(bench.ask("zara", Verb.LOOK, what="bell"))


def test_who_looks_again_later_is_told_again(bench: Bench) -> None:
    """Who read a notice some rounds ago may want to read it once more; it is no discovery then."""
    bench.ask("throk", Verb.LOOK, what="bell")
    for _ in range(6):
        bench.ask("zara", Verb.ASK, target=MAREN, what="mill")
    again = bench.ask("throk", Verb.LOOK, what="bell", words="I look at the bell again.")
    assert "The bell has a crack" in words(again)
    assert all(event.event_type is not EventType.DISCOVERY for event in again)


def test_one_question_by_two_is_answered_once(bench: Bench) -> None:
    bench.act("throk", Verb.ASK, target=MAREN, what="mill")
    bench.act("zara", Verb.ASK, target=MAREN, what="mill")
    assert words(bench.dm()).count("Nobody has been in the mill") == 1


def test_a_close_look_tells_what_there_is_to_learn(bench: Bench) -> None:
    """The authored text, the topics it brings up, and what it teaches."""
    seen = bench.ask("zara", Verb.LOOK, what="bell")[0]
    assert seen.content == "The bell has a crack"
    assert "crack" in bench.tables[THROK].topics
    assert {"found:bell", "looked:bell"} <= bench.table.beats


def test_what_is_not_here_is_not_looked_at(bench: Bench) -> None:
    """Scenery that was told can be looked at; what was never told of this place is said not to be here."""
    plain = ("nothing to hide", "nothing that you would not expect", "no more to it")
    shown = words(bench.ask("zara", Verb.LOOK, what="the sky"))
    assert any(one in shown for one in plain)
    missing = words(bench.ask("zara", Verb.LOOK, what="golden wedge"))
    assert missing
    assert not any(one in missing for one in plain)


def test_what_is_taken_is_somebodys_and_is_gone(bench: Bench) -> None:
    """Gold is shared by those who are there; what was taken cannot be taken again."""
    before = bench.table.fact(THROK, "gold") + bench.table.fact(ZARA, "gold")
    bench.ask("zara", Verb.TAKE, what="box")
    assert bench.table.fact(THROK, "gold") + bench.table.fact(ZARA, "gold") == before + 7
    assert "box" not in bench.tables[THROK].sights[FERRY].things
    bench.ask("zara", Verb.TAKE, what="box")
    assert bench.table.fact(THROK, "gold") + bench.table.fact(ZARA, "gold") == before + 7


def test_what_is_hidden_is_found_by_searching_only(bench: Bench) -> None:
    """Neither looking, taking nor going gets at a thing or a way before it was found."""
    bench.go("mill path")
    bench.ask("zara", Verb.LOOK, what="stone")
    bench.ask("zara", Verb.TAKE, what="stone")
    assert bench.dm_bot.leads(bench.table, MILL, "chute") is None
    assert not bench.table.beats & {"found:stone", "taken:stone"}
    search_until_found(bench)
    assert "stone" in bench.tables[THROK].sights[MILL].things
    assert bench.dm_bot.leads(bench.table, MILL, "chute") == "loc_loft_001"


def test_a_key_opens_what_is_locked(bench: Bench) -> None:
    """Without it, the way stays shut; with it, it stands open."""
    bench.go("mill path")
    assert bench.dm_bot.leads(bench.table, MILL, "trapdoor") is None
    search_until_found(bench)
    taken = bench.ask("zara", Verb.TAKE, what="stone")
    assert bench.table.items(ZARA)["silver key"] == 1
    assert words(taken).endswith(" A key with a bird on it.")
    opened = bench.ask("throk", Verb.OPEN, what="trapdoor")
    assert "silver key" in words(opened)
    assert bench.dm_bot.leads(bench.table, MILL, "trapdoor") == "loc_cellar_001"


def test_what_is_stuck_is_forced_in_the_end(bench: Bench) -> None:
    bench.go("mill path")
    assert bench.dm_bot.leads(bench.table, MILL, "back door") is None
    for _ in range(30):
        bench.ask("throk", Verb.OPEN, what="back door")
        if "opened:mill/back door" in bench.table.beats:
            break
    assert bench.dm_bot.leads(bench.table, MILL, "back door") == "loc_yard_001"


@pytest.mark.parametrize("seed", range(6))
def test_a_trap_goes_off_once(seed: int) -> None:
    """It is noticed, dodged or felt, and then it is done."""
    bench = Bench(seed=seed)
    bench.dm()
    bench.go("mill path")
    first = bench.ask("throk", Verb.LOOK, what="chest")
    assert "sprung:chest" in bench.table.beats
    assert any("needle" in event.content.casefold() for event in first)
    if bench.table.can_act(THROK):
        assert "needle" not in words(bench.ask("throk", Verb.TAKE, what="chest")).casefold()


def test_a_promise_is_a_thread_until_it_is_kept(bench: Bench) -> None:
    """A quest is offered by its giver, accepted with a promise, and can be refused."""
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    assert bench.tables[ZARA].fact("qst_rats_001", "state") == "offered"
    accepted = next(one for one in bench.ask("throk", Verb.ACCEPT, what="qst_rats_001") if one.known.threads)
    (thread,) = accepted.known.threads
    assert (thread.kind, thread.state) == ("promise", None)
    assert bench.tables[ZARA].fact("qst_rats_001", "state") == "accepted"


def test_a_refused_quest_can_still_be_accepted(bench: Bench) -> None:
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    bench.ask("throk", Verb.REFUSE, what="qst_rats_001")
    assert bench.table.fact("qst_rats_001", "state") == "refused"
    bench.ask("zara", Verb.ACCEPT, what="qst_rats_001")
    assert bench.table.fact("qst_rats_001", "state") == "accepted"


def test_who_hears_a_quest_refused_is_shown_whose_it_was() -> None:
    """A bystander who never met the giver gets a name along with the id."""
    looks = "    looks: The wheel hangs in its axle, and the door is off.\n"
    boy = "people:\n  odd:\n    name: Odd\n    seen_as: a boy\n    greets: Shh.\n"
    text = MILL_TEXT.replace(looks, f"{looks}    people: [odd]\n").replace("\npeople:\n", f"\n{boy}")
    bench = Bench(load(text))
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    bench.go("mill path")
    bench.ask("throk", Verb.LOOK, target=ODD, what=ODD)
    said = bench.ask("throk", Verb.REFUSE, what="qst_rats_001")
    (refused,) = [event for event in said if event.known.quest_state == "refused"]
    assert ODD in audience(refused)
    assert refused.metadata["reputation"] == {MAREN: -1}
    assert list(unshown_uids(bench.log)) == []


def test_a_night_at_a_safe_place_is_left_in_peace(bench: Bench) -> None:
    """A rest heals wounds, and hours pass."""
    bench.act("throk", Verb.REST)
    bench.act("zara", Verb.REST)
    rested = [event for event in bench.dm() if event.event_type is EventType.HEALING]
    assert len(rested) == 1
    assert bench.table.minutes >= 8 * 60


def test_whoever_went_away_is_not_answered(bench: Bench) -> None:
    """An act belongs to the place where it was done."""
    bench.act("throk", Verb.LOOK, what="bell")
    bench.act("zara", Verb.GO, what="mill path")
    bench.march()
    assert bench.table.place(ZARA) == MILL
    bench.dm()
    assert "crack" in bench.tables[THROK].topics
    assert "crack" not in bench.tables[ZARA].topics


def test_a_way_is_there_only_while_its_condition_holds(bench: Bench) -> None:
    """The raft is neither seen nor gone before the flood, and is there after it."""
    assert bench.dm_bot.leads(bench.table, FERRY, "old raft") is None
    while bench.table.round < 41:
        bench.dm()
    assert "happened:flood" in bench.table.beats
    bench.dm()
    assert "old raft" in bench.tables[THROK].sights[FERRY].ways
    assert bench.dm_bot.leads(bench.table, FERRY, "old raft") == "loc_island_001"


def test_who_was_struck_talks_again_once_the_party_is_sorry() -> None:
    """A blow has a consequence: Wymond answers nobody until he hears an apology."""
    bench = Bench(adventure("apples_in_january"))
    bench.dm()
    wymond = "npc_wymond_001"
    bench.ask("throk", Verb.ATTACK, target=wymond)
    assert bench.table.fact(wymond, "mood") == "shaken"
    bench.round += 1
    step = bench.step("pc_throk_001")
    referee.record_act(step, "pc_throk_001", Act(verb=Verb.TELL, target=wymond, words="I am sorry."))
    bench.done(step)
    told = bench.dm()
    assert "Throk" in words(told)
    assert bench.table.fact(wymond, "mood") == "wary"
    assert "oats man" in words(bench.ask("zara", Verb.ASK, target=wymond, what="apples"))


def test_who_was_struck_answers_nobody() -> None:
    bench = Bench(adventure("apples_in_january"))
    bench.dm()
    bench.ask("throk", Verb.ATTACK, target="npc_wymond_001")
    assert "oats man" not in words(bench.ask("zara", Verb.ASK, target="npc_wymond_001", what="apples"))


def test_who_warns_of_a_drink_sells_none() -> None:
    """The reeve says "do not drink anything": that is no beer for sale."""
    bench = Bench(adventure("apples_in_january"))
    bench.dm()
    gold = bench.table.fact("pc_throk_001", "gold")
    bench.ask("throk", Verb.BUY, target="npc_wymond_001", what="beer")
    assert bench.table.fact("pc_throk_001", "gold") == gold


@pytest.mark.parametrize("question", ["do you have any work for us?", "is anybody hiring swords?"])
def test_who_has_no_work_names_somebody_who_has(question: str) -> None:
    """The clerk of the bridge wants nothing, and knows who does."""
    module = adventure("the_unpaid_bridge")
    givers = {module.people[quest.giver].name for quest in module.quests.values() if quest.giver}
    said = ask("the_unpaid_bridge", "pask", question).text
    assert any(name in said for name in givers), said


def searches(bench: Bench, *, success: bool) -> list[str]:
    """What is told of searches of the ferry, where nothing is hidden, by what the die said."""
    told = []
    for _ in range(30):
        (event,) = [
            event for event in bench.ask("zara", Verb.SEARCH) if "Zara searches" in str(event.metadata)
        ]
        if ("succeeds" in str(event.metadata)) is success:
            told.append(event.content)
    return told


def test_a_search_that_succeeds_says_for_certain_that_nothing_is_hidden(bench: Bench) -> None:
    """And what is left to do here; a search that fails is sure of nothing."""
    sure = house_phrases().alternatives("search_sure")
    told = searches(bench, success=True)
    assert "the bronze bell" in told[0]
    assert len({one.split(".")[0] for one in told}) >= min(sure, len(told)) // 2
    bench.ask("zara", Verb.LOOK, what="bell")
    assert all("bronze bell" not in one for one in searches(bench, success=True))


def test_a_search_that_fails_does_not_say_that_nothing_is_there() -> None:
    """Something may be hidden after all."""
    bench = Bench()
    bench.dm()
    bench.go("mill path")
    for _ in range(20):
        if "found:stone" in bench.table.beats:
            break
        for event in bench.ask("zara", Verb.SEARCH):
            if "fails" in str(event.metadata):
                assert not re.search(
                    r"nothing is hidden|nothing to find|certain|is nothing here", event.content
                )


def test_what_is_only_described_is_shown_and_stays(bench: Bench) -> None:
    """Who reaches for it sees what there is to see, and is told that it stays where it is."""
    first, second = bench.ask("zara", Verb.TAKE, what="bell")
    assert first.content == "The bell has a crack"
    assert "bell" in second.content
    assert "crack" in bench.tables[ZARA].topics
    (again,) = bench.ask("zara", Verb.TAKE, what="bell")
    assert "The bell has a crack" not in again.content
    assert not bench.table.items(ZARA).keys() - {"longsword", "6 torches"}


GREETED = MILL_TEXT.replace("    greets: Mind the wet planks.\n", "    greets: {hello}\n")


@pytest.mark.parametrize(
    "hello",
    ["I am Maren, and mind the planks.", "MAREN! That is what they shout.", "Maren's planks are wet."],
)
def test_who_greets_with_a_name_is_not_introduced_again(hello: str) -> None:
    """The name is said once, in the greeting."""
    bench = Bench(load(GREETED.replace("{hello}", f'"{hello}"')))
    bench.dm()
    said = bench.ask("throk", Verb.TELL, target=MAREN)[0]
    assert said.content.casefold().count("maren") - said.content.count("says Maren") <= 2
    assert hello in said.content
    assert bench.tables[THROK].name(MAREN) == "Maren"


def test_who_says_who_they_are_says_it_once() -> None:
    """Asked for a name, somebody greets and gives it in one breath, seen by their looks till then."""
    life = "    life: {self: I am Maren of the raft.}\n    greets: Mind the wet planks.\n"
    bench = Bench(load(MILL_TEXT.replace("    greets: Mind the wet planks.\n", life)))
    bench.dm()
    said = bench.ask("throk", Verb.ASK, target=MAREN, what="who are you")[0]
    assert "Mind the wet planks. I am Maren of the raft." in said.content
    assert said.content.count("Maren") == 1
    assert "old ferrywoman" in said.content
    assert bench.tables[THROK].name(MAREN) == "Maren"


def test_a_fight_with_nobody_named_is_refused() -> None:
    """An attack without a target says whom there is to attack."""
    bench = Bench()
    bench.dm()
    bench.go("mill path")
    search_until_found(bench)
    bench.ask("zara", Verb.TAKE, what="stone")
    bench.ask("throk", Verb.OPEN, what="trapdoor")
    bench.go("trapdoor")
    assert "loc_cellar_001" in bench.table.fights
    with pytest.raises(ActRefused, match="grey bones"):
        bench.act("throk", Verb.ATTACK)


def test_who_asks_the_same_in_other_words_hears_it_in_short() -> None:
    """A player who comes back to something is told its first sentence; word for word the same is not."""
    bench = Bench(load(MILL_TEXT.replace("since the flood\n", "since the flood. It is shut\n")))
    bench.dm()
    ask = {"verb": Verb.ASK, "target": MAREN, "what": "mill"}
    bench.ask("throk", words="What about the mill?", **ask)
    short = words(bench.ask("throk", words="And that mill?", **ask))
    assert "Nobody has been in the mill since the flood." in short
    assert "It is shut" not in short
    assert "Nobody has been" not in words(bench.ask("zara", words="And that mill?", **ask))


def test_no_die_takes_what_is_not_there(bench: Bench) -> None:
    """Who reaches for a thing that nobody has seen here finds none; for scenery, the die decides."""
    attempt = Attempt(approach="take", ability="dex", level="easy", effect="stolen")
    bench.act("zara", Verb.TRY, what="golden crown", attempt=attempt)
    missed = bench.log[-1]
    assert "rolls" not in str(missed.metadata)
    assert missed.metadata["attempt"]["success"] is False
    bench.act("zara", Verb.TRY, what="one of the planks", attempt=attempt)
    assert "Zara tries dexterity" in str(bench.log[-1].metadata)


def test_no_die_is_rolled_for_somebody_who_has_left(bench: Bench) -> None:
    """Who shoves somebody that is not there any more is told so, by the name that they know."""
    bench.dm()
    called = Surroundings(bench.tables["pc_zara_001"], "pc_zara_001").called(MAREN)
    bench.go("mill path")
    attempt = Attempt(approach="shove", ability="str", level="fair", effect="prone")
    bench.act("zara", Verb.TRY, target=MAREN, attempt=attempt)
    missed = bench.log[-1]
    assert "rolls" not in str(missed.metadata)
    assert called.removeprefix("the ").removeprefix("a ").removeprefix("an ") in missed.content


def test_what_is_not_there_is_named(bench: Bench) -> None:
    bench.act(
        "zara", Verb.TRY, what="golden crown", attempt=Attempt(approach="take", ability="dex", level="easy")
    )
    assert "golden crown" in bench.log[-1].content
