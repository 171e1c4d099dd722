"""People answer about their lives, their neighbors and what they know, and keep their secrets."""

import pytest
from tests.game.world.npc_table import THROK, adventure, ask, is_right, read_questions, stand_before
from tests.game.world.scenes import MILL, Bench, words

from dndbots.events import EventType
from dndbots.game import referee
from dndbots.game.acts import Act, Verb
from dndbots.game.adventures import load
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.npc_answers import find_answer
from dndbots.game.world.talk import answer_questions

APPLES, BRIDGE = "apples_in_january", "the_unpaid_bridge"


@pytest.mark.parametrize(("part", "least"), [("dev", 0.97), ("players", 0.93), ("held_out", 0.87)])
def test_people_answer_what_they_are_asked(part: str, least: float) -> None:
    """Nearly all questions get an answer with what it must have. Half were kept back from the rules."""
    rows = read_questions(part)
    right = [row for row in rows if is_right(row, ask(row["module"], row["npc"], row["question"]))]
    assert len(right) / len(rows) >= least


@pytest.mark.parametrize(
    "question", ["where is Wren?", "where can we find the apprentice?", "have you seen the girl?"]
)
@pytest.mark.parametrize("npc", ["hobb", "marda", "pask", "odo", "philippa"])
def test_nobody_tells_where_a_hidden_person_is(npc: str, question: str) -> None:
    """The town knows Wren and does not know where she is."""
    assert "quarry" not in ask(BRIDGE, npc, question).text.casefold()


def test_a_secret_stays_one_in_any_words() -> None:
    """What needs more trust than there is, no wording gets: not by topic, not by other words."""
    for name in (APPLES, BRIDGE):
        module = adventure(name)
        for person in module.people.values():
            _, narration = stand_before(module, person.key)
            trust = narration.world.trust(person)
            for saying in person.knows:
                if saying.needs <= trust:
                    continue
                for question in (*saying.about, f"tell me about {saying.about[0]}", saying.says):
                    said = find_answer(narration, person, question, [THROK])
                    assert said.saying is None or said.saying.key != saying.key
                    assert saying.says not in said.text


def test_after_the_truth_nobody_tells_the_lie() -> None:
    """Jory, who trusts the party enough to tell of the weeping woman, does not go back to the frost."""
    module = adventure(APPLES)
    bench, narration = stand_before(module, "jory")
    step = narration.step
    step.add(EventType.SYSTEM, "He trusts you.", witnesses=[], reputation={"npc_jory_001": 5})
    jory = module.people["jory"]
    for _ in range(3):
        said = find_answer(narration, jory, "who broke the gravestone", [THROK])
        assert "weeping" in said.text or "wept" in said.text
        acts = [PendingAct("e", THROK, Act(verb=Verb.ASK, target="npc_jory_001", what="gravestone"), None)]
        answer_questions(narration, module.places["chapel"], bench.table.place(THROK) or "", acts)


def test_people_remember_only_what_they_saw() -> None:
    """A deed in front of Wymond is remembered by him and not by Maud, who was elsewhere."""
    module = adventure(APPLES)
    _, narration = stand_before(module, "wymond")
    narration.tell(
        "loc_green_001",
        "You dance.",
        participants=[THROK, "npc_wymond_001"],
        gist="we danced around the well",
    )
    said = find_answer(narration, module.people["wymond"], "do you remember us?", [THROK])
    assert "You danced around the well" in said.text
    elsewhere = find_answer(narration, module.people["maud"], "do you remember us?", [THROK])
    assert "danced" not in elsewhere.text


def test_who_does_not_know_names_somebody_who_might() -> None:
    """The healer sends those who ask for the grille to the sexton, by name and place."""
    said = ask(APPLES, "maud", "what is behind the grille?")
    assert said.kind == "unknown"
    assert "Jory" in said.text
    assert "chapel" in said.text


def test_a_typed_question_is_answered_through_its_words() -> None:
    """If the topic of an act says too little, the words of the player count."""
    bench = Bench(adventure(APPLES))
    bench.dm()
    step = bench.step(THROK)
    line = "Where do you live, friend?"
    referee.record_act(step, THROK, Act(verb=Verb.ASK, target="npc_wymond_001", what="friend", words=line))
    bench.done(step)
    assert "the tall house on the green" in words(bench.dm())


def test_nobody_is_introduced_twice() -> None:
    """A greeting with the first name in it introduces a person; nothing is put before it."""
    text = MILL.replace("name: Maren\n", "name: Maren Tull\n").replace(
        "greets: Mind the wet planks.", "greets: Mind the planks. I am Maren."
    )
    bench = Bench(load(text))
    bench.dm()
    said = words(bench.ask("throk", Verb.ASK, target="npc_maren_001", what="news"))
    assert said.partition("They say")[0].count("Maren") <= 2  # the greeting, and the speaker of what follows
    assert "Maren Tull," not in said


def test_who_has_told_all_they_know_names_somebody_else() -> None:
    """Asked who might know, a person first says what they know themselves, and then whom to ask."""
    bench, narration = stand_before(adventure(APPLES), "wymond")
    person = narration.atlas.module.people["wymond"]
    question = "who would know about the apples?"
    assert find_answer(narration, person, question, [THROK]).kind == "saying"
    for said in ("tell us about the apples", question):
        bench.ask("throk", Verb.ASK, target="npc_wymond_001", what=said, words=said)
    step = bench.step("dm")
    again = find_answer(bench.dm_bot.narration_for(bench.screen(step)), person, question, [THROK])
    assert again.kind == "neighbor"


@pytest.mark.parametrize(
    ("module", "npc", "question", "said"),
    [
        (BRIDGE, "marda", "good day, what do you sell?", "Beer"),
        (BRIDGE, "pask", "what does a bed cost?", "Marda Tolley"),
        (APPLES, "rafe", "how much is a bed?", "Bettany"),
        (APPLES, "gil", "what do you sell?", "cider"),
    ],
)
def test_who_does_not_sell_a_thing_names_who_does(module: str, npc: str, question: str, said: str) -> None:
    """A question for wares in general is for the one who is asked."""
    assert said in ask(module, npc, question).text


@pytest.mark.parametrize("question", ["did she leave a note?", "what do you know about her?"])
def test_she_is_who_they_spoke_of(question: str) -> None:
    """Marda, who has told of her girl, tells more of her. Who has told nothing yet is asked nothing new."""
    module = adventure(BRIDGE)
    bench, narration = stand_before(module, "marda")
    marda = module.people["marda"]
    assert find_answer(narration, marda, "did she leave a note?", [THROK]).saying is None
    acts = [PendingAct("e", THROK, Act(verb=Verb.ASK, target="npc_marda_001", what="news"), None)]
    answer_questions(narration, module.places["inn"], bench.table.place(THROK) or "", acts)
    said = find_answer(narration, marda, question, [THROK])
    assert "wedge" in said.text or "wrote" in said.text


def test_nobody_volunteers_a_lie() -> None:
    """Pask denies the pigs if he is asked for them, and does not bring them up himself."""
    assert "pigs" not in ask(BRIDGE, "pask", "have you seen anything suspicious?").text.casefold()


@pytest.mark.parametrize(
    ("npc", "question", "said"),
    [
        ("pask", "who's paying this tithe, and how much?", "one coin in ten"),
        ("pask", "what do you really think of Crane?", "smile once"),
        ("pask", "why does the bridge keep falling?", "pulls it"),
        ("marda", "when did you last see her?", "The evening before"),
        ("marda", "what did she look like", "chalk behind her ear"),
        ("hobb", "where do these toothmarks come from?", "Too low for a dog"),
        ("hobb", "can i help", "Find out who brings them down"),
    ],
)
def test_who_is_asked_about_one_thing_tells_of_it(npc: str, question: str, said: str) -> None:
    """People do not answer everything that touches a topic with the one thing they have to tell about it."""
    assert said in ask(BRIDGE, npc, question).text


def test_who_said_it_already_listens_to_the_whole_question() -> None:
    """What is asked may be in the words around the topic: nobody says the same again instead."""
    module = adventure(BRIDGE)
    bench, narration = stand_before(module, "pask")
    place = bench.table.place(THROK) or ""

    def answered(what: str, typed: str) -> str:
        act = Act(verb=Verb.ASK, target="npc_pask_001", what=what, words=typed)
        answer_questions(narration, module.places["square"], place, [PendingAct("e", THROK, act, None)])
        return words(narration.step.events[-1:])

    assert "Stone fell" in answered("news", "what's new?")
    typed = "is the warden in town? where would I find her"
    assert "Philippa Crane" in answered("news", typed)


def test_two_questions_in_a_line_get_two_answers() -> None:
    """Who asks two things hears of both; the same answer is not given twice."""
    module = adventure(BRIDGE)
    bench, narration = stand_before(module, "marda")
    place = bench.table.place(THROK) or ""

    def answered(typed: str) -> list[str]:
        before = len(narration.step.events)
        act = Act(verb=Verb.ASK, target="npc_marda_001", what="her", words=typed)
        answer_questions(narration, module.places["inn"], place, [PendingAct("e", THROK, act, None)])
        return [event.content for event in narration.step.events[before:]]

    told = answered("when did you last see her? what does she look like?")
    assert ["evening before" in told[0], "chalk behind her ear" in told[1]] == [True, True]
    assert len(answered("what is in the jar? really, what is in the jar?")) == 1
    assert len(answered("what does that drawing mean and who do you suspect?")) == 2
