"""The DM's question names what the players did that only a tool decides; no player reads of it."""

from typing import Any

from tests.game.models.tables import Walker, calls, notes, run_by

from dndbots.game.acts import Act, Verb
from dndbots.game.input.act_resolver import resolve_act
from dndbots.llm.protocol import Question

HEAD = "NOT DECIDED YET"


def questions_after(act: Act, *, rounds: int = 2, **how: Any) -> tuple[list[Question], Any]:
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return f"Cart number {len(asked)} rolls by, and a dog looks after it."

    game, _ = run_by(answer, seats=1, player=Walker(Throk=act), **how)
    game.play(rounds, compact=False)
    return asked, game


def test_words_to_somebody_who_has_not_answered_call_for_an_answer() -> None:
    asked, game = questions_after(Act(words="What a wind, and nobody here to hold a hat."))
    assert HEAD not in asked[0].text
    assert "- speak_as: Pask Oldacre answers Throk" in asked[-1].text
    (who,) = game.table.living()
    assert HEAD not in game.system_message(who)


def test_something_tried_in_words_calls_for_a_roll() -> None:
    asked, _ = questions_after(Act(words="I try to climb onto the statue."))
    assert "- ask_roll: Throk tries something (" in asked[-1].text


def test_a_question_that_was_answered_calls_for_nothing() -> None:
    act = Act(verb=Verb.ASK, target=None, what="news", words="Any news?")
    asked, _ = questions_after(act)
    assert asked
    assert not any("ask_roll" in question.text for question in asked)


def test_a_model_is_not_let_back_to_where_the_party_has_just_come_from() -> None:
    """Small models take a party back through the door it has just come in by."""

    def answer(question: Question) -> Any:
        if question.so_far or "Halfbridge Square" in question.text.split("\n")[0]:
            return "The wind turns."
        return calls("move_scene", "Well.", way="out to the square")(question)

    game, _ = run_by(
        answer, seats=1, player=Walker(Throk=Act(verb=Verb.GO, what="inn sign", words="In we go."))
    )
    game.play(2, compact=False)
    (who,) = game.table.living()
    assert "Square" not in game.table.name(str(game.table.place(who)))
    assert any("they have just come from there" in fault for note in notes(game) for fault in note.faults)


def test_who_goes_where_only_one_way_leads_need_not_name_it() -> None:
    game, _ = run_by(
        "Hm.", seats=1, player=Walker(Throk=Act(verb=Verb.GO, what="inn sign", words="In we go."))
    )
    game.play(2, compact=False)
    (who,) = game.table.living()
    (way,) = game.tables[who].sights[str(game.table.place(who))].ways
    assert resolve_act(game.tables[who], who, Verb.GO, words="Out again.").what == way
