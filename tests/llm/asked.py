"""A question to ask, and a voice that asks it without waiting."""

import random
from typing import Any, Literal

from pydantic import BaseModel, Field
from tests.waiting import HANG

from dndbots.llm.chat_voice import ChatVoice
from dndbots.llm.protocol import Question, Role, Tool
from dndbots.llm.retry import RetryPolicy


class Act(BaseModel):
    """What a character does."""

    verb: Literal["attack", "hide", "wait"] = Field(description="what to do")
    target: str | None = Field(default=None, description="to whom")


class Roll(BaseModel):
    """Dice that are rolled."""

    dice: str
    times: int = Field(default=1, ge=1, le=10)


ACT = Tool(name="act", purpose="Do something.", form=Act)
ROLL = Tool(name="roll", purpose="Roll dice.", form=Roll)
ONE = Question(role=Role.PLAYER, system="You are Throk.", text="A goblin comes.", tools=(ACT,))
TWO = Question(role=Role.DM, system="You are the DM.", text="Throk attacks.", tools=(ACT, ROLL))
NONE = Question(role=Role.NPC, system="You are Mirela.", text="Throk greets you.")


class Pauses(list[float]):
    """Sleeps that are only written down."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def patient(pauses: Pauses | None = None, **fields: Any) -> RetryPolicy:
    fields = {"timeout": HANG, "attempts": 3, "rng": random.Random(1), **fields}
    return RetryPolicy(sleep=Pauses() if pauses is None else pauses, **fields)


def voice(model: Any, **fields: Any) -> ChatVoice:
    fields = {"name": "openai:gpt-4o-mini", "retry": patient(), **fields}
    return ChatVoice(model, **fields)
