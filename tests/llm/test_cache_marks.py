"""Cache marks: only for providers that need them, and where the next prompt begins in the same way."""

from typing import Any

from dndbots.llm.cache_marks import CacheMarks, wants_marks
from dndbots.llm.chat_voice import ChatVoice
from dndbots.llm.protocol import Question, Role
from dndbots.testing import FakeChatModel

RULES = "You are Throk.\n" + "A rule of the game that never changes.\n" * 80


def mark(marks: CacheMarks, memory: str) -> list[Any]:
    return marks.mark([("system", RULES + memory), ("human", "Well?")])


def test_only_those_who_need_marks_get_them() -> None:
    assert all(map(wants_marks, ("anthropic:claude-sonnet-4-5", "claude-3-haiku")))
    assert not wants_marks("openai:gpt-4o")
    plain = [("system", RULES), ("human", "Well?")]
    assert CacheMarks(wanted=False).mark(plain) == plain


def test_the_mark_stands_before_what_changed() -> None:
    marks = CacheMarks(wanted=True)
    first, second = mark(marks, "Yesterday it rained."), mark(marks, "Today the sun shines.")
    assert [part["text"] for part in first[0]["content"]] == [RULES + "Yesterday it rained."]
    stable, rest = second[0]["content"]
    assert stable["text"] == RULES
    assert stable["cache_control"] == {"type": "ephemeral"}
    assert rest == {"type": "text", "text": "Today the sun shines."}
    assert second[1:] == [("human", "Well?")]


def test_each_seat_has_its_own_mark_and_short_prompts_have_none() -> None:
    marks = CacheMarks(wanted=True)
    mark(marks, "One.")
    other = marks.mark([("system", RULES.replace("Throk", "Zara") + "Two."), ("human", "Well?")])
    assert len(other[0]["content"]) == 1
    short = [("system", "You are Throk.\nShort."), ("human", "Well?")]
    assert marks.mark(short) == short


def test_a_voice_sends_marks_to_anthropic_alone() -> None:
    for name, marked in (("anthropic:claude-sonnet-4-5", True), ("openai:gpt-4o", False)):
        model = FakeChatModel("Yes.")
        ChatVoice(model, name=name).ask(Question(role=Role.PLAYER, system=RULES, text="Well?"))
        assert ("cache_control" in str(model.asked[0])) is marked
