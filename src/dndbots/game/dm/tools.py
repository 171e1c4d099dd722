"""The tools of a DM: their purposes, and the forms that a call fills in. `tool_calls` carries them out.

The forms have no docstrings, because models would read them as part of the schema.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.llm.protocol import Tool

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
_Maybe = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80)]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=240)]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_200)]


class Form(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class LookUp(Form):
    name: _Name = Field(description="who or what")


class RecallTool(Form):
    question: _Line


class IntroduceNpc(Form):
    name: _Name
    looks: _Name = Field(description="what strangers call them: 'a thin man with inky cuffs'")
    role: _Maybe = ""
    wants: _Text = Field(default="", description="for you and them alone")


class SpeakAs(Form):
    npc: _Name
    gist: _Line = Field(description="what they want to say")


class MoveScene(Form):
    way: _Name = Field(description="a way that is here, or a new one")
    who: tuple[_Name, ...] = Field(default=(), description="names; nobody means all who are here")
    place: _Maybe = Field(default="", description="only for a new way: the name of the new place")
    looks: _Text = Field(default="", description="of the new place")
    back: _Maybe = Field(default="", description="what the way back is called")


class OfferQuest(Form):
    name: _Name
    goal: _Line
    giver: _Maybe = Field(default="", description="somebody who is here")


class ResolveQuest(Form):
    name: _Name
    outcome: Literal["completed", "failed"]


class AskRoll(Form):
    character: _Name
    kind: Literal[
        "str", "dex", "con", "int", "wis", "cha", "death", "wands", "paralysis", "breath", "spells"
    ] = Field(description="an ability to try, or what to save against")
    why: _Maybe = ""


class StartFight(Form):
    monster: _Name = Field(description="as the rules call it, such as goblin")
    number: int = Field(default=1, ge=1, le=20)
    text: _Text = Field(default="", description="how they come")


class Whisper(Form):
    to: _Name
    words: _Text


class SetClock(Form):
    threat: _Line = Field(description="what happens when it runs out")
    rounds: int = Field(ge=1, le=100)


def _tool(name: str, purpose: str, form: type[Form]) -> Tool:
    return Tool(name=name, purpose=purpose, form=form)


TOOLS: Final = (
    _tool("look_up", "Tells you what is so of somebody or something.", LookUp),
    _tool("recall", "Tells you what happened, of a question.", RecallTool),
    _tool(
        "ask_roll",
        "Has a character of this scene roll; you get the result, and tell what comes of it.",
        AskRoll,
    ),
    _tool("introduce_npc", "Brings a new person into this scene.", IntroduceNpc),
    _tool("speak_as", "Lets a person of this scene speak, in their own words.", SpeakAs),
    _tool("move_scene", "Takes characters of this scene along a way, or to a new place.", MoveScene),
    _tool("offer_quest", "Offers a quest to those in this scene.", OfferQuest),
    _tool("resolve_quest", "Ends a quest that you offered.", ResolveQuest),
    _tool("start_fight", "Foes attack those in this scene.", StartFight),
    _tool("whisper", "Tells one character of this scene what only they perceive.", Whisper),
    _tool("set_clock", "Notes a threat for yourself; you are told when its time is up.", SetClock),
)
# Tools whose result a model needs before it can narrate.
ASKING: Final = frozenset(("look_up", "recall", "ask_roll"))
