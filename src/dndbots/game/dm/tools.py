"""The tools of a DM: their purposes, and the forms that a call fills in. `tool_calls` carries them out.

The forms have no docstrings, because models would read them as part of the schema.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.llm.protocol import Tool
from dndbots.llm.settings import is_small_model

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


class TakeWay(Form):
    way: _Name = Field(description="a way that is here")
    who: tuple[_Name, ...] = Field(default=(), description="names; nobody means all who are here")


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


class Give(Form):
    item: _Name
    to: _Name
    giver: _Maybe = Field(default="", description="who hands it over; nobody means it is found or granted")
    number: int = Field(default=1, ge=1, le=100)


class TakeAway(Form):
    item: _Name
    character: _Name
    number: int = Field(default=1, ge=1, le=100)


class Pay(Form):
    gold: int = Field(ge=1, le=100_000)
    payer: _Maybe = Field(default="", description="who pays; nobody means a reward out of the world")
    to: _Maybe = Field(default="", description="who gets it; nobody means it is gone")


class Trade(Form):
    character: _Name = Field(description="who buys or sells")
    deal: Literal["buy", "sell"]
    item: _Name
    price: int | None = Field(default=None, ge=0, le=100_000, description="gold for one; else by the rules")
    number: int = Field(default=1, ge=1, le=100)
    trader: _Maybe = Field(default="", description="somebody who is here")


class BuyThing(Trade):
    deal: Literal["buy", "sell"] = "buy"


class SellThing(Trade):
    deal: Literal["buy", "sell"] = "sell"


class FindLoot(Form):
    character: _Name
    items: tuple[_Name, ...] = Field(default=(), max_length=10)
    gold: int = Field(default=0, ge=0, le=100_000)


class Hurt(Form):
    character: _Name
    amount: _Name = Field(description="hit points: a number, or dice such as 1d6")
    why: _Maybe = ""


class Heal(Form):
    character: _Name
    amount: _Name = Field(description="hit points: a number, or dice such as 1d6")
    why: _Maybe = ""


class SetCondition(Form):
    character: _Name
    condition: _Name = Field(description="as the rules call it, such as poisoned")
    rounds: int = Field(default=0, ge=0, le=100, description="how long; 0 means until it is ended")
    ends: bool = Field(default=False, description="true to end it")


class CureCondition(SetCondition):
    ends: bool = True


class SpendTime(Form):
    minutes: int = Field(default=0, ge=0, le=1_440)
    hours: int = Field(default=0, ge=0, le=24)
    text: _Text = ""


class ChangeAttitude(Form):
    npc: _Name
    attitude: Literal["hostile", "wary", "neutral", "friendly", "devoted"]
    text: _Text = Field(default="", description="how it shows")


class RevealSecret(Form):
    secret: _Line = Field(description="what they learn, in a sentence")
    about: _Maybe = Field(default="", description="somebody here; nobody means the place")


class ClearPlace(Form):
    text: _Text = Field(default="", description="why it is safe now")


class EndScene(Form):
    summary: _Line = Field(description="how it ended, in a sentence")
    hours: int = Field(default=0, ge=0, le=24, description="that pass until the next scene")


class PlotNote(Form):
    kind: Literal["front", "secret", "wish", "clue"]
    name: _Name = Field(description="a short name; the same name changes the note")
    text: _Line = Field(description="what it is now")
    over: bool = Field(default=False, description="true if it is settled")


class BeginAct(Form):
    title: _Name
    question: _Line = Field(description="what this act will decide")


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
    _tool("give", "Hands a thing to somebody here.", Give),
    _tool("take_away", "Takes a thing from a character: lost, used up or stolen.", TakeAway),
    _tool("pay", "Lets gold change hands.", Pay),
    _tool("trade", "Lets a character buy or sell a thing.", Trade),
    _tool("find_loot", "Lets a character find things and gold.", FindLoot),
    _tool("hurt", "Hurts a character: a trap, a fall, a curse.", Hurt),
    _tool("heal", "Gives a character hit points back.", Heal),
    _tool("set_condition", "Begins or ends a condition of a character.", SetCondition),
    _tool("spend_time", "Lets time pass.", SpendTime),
    _tool("change_attitude", "Changes how a person of this scene stands to the party.", ChangeAttitude),
    _tool("reveal_secret", "Lets those here learn a secret for good.", RevealSecret),
    _tool("clear_place", "Marks this place as safe.", ClearPlace),
    _tool("end_scene", "Closes the scene in a sentence that is remembered.", EndScene),
)
# Tools of a story without a module: the DM keeps its own plot sheet.
PLOT_TOOLS: Final = (
    _tool("plot_note", "Writes a front, secret, wish or clue on your plot sheet, or settles it.", PlotNote),
    _tool("begin_act", "Begins another act of the story.", BeginAct),
)
# The tools that a small model can choose from without losing its way.
_FEW: Final = frozenset(
    (
        "ask_roll",
        "introduce_npc",
        "speak_as",
        "move_scene",
        "start_fight",
        "give",
        "pay",
        "trade",
        "hurt",
        "heal",
    )
)
# In a written adventure a small model takes the ways that there are, and makes up no places beside them.
_TAKE_WAY: Final = _tool("move_scene", "Takes characters of this scene along a way.", TakeWay)
SMALL_BUDGET: Final = 1_000


def choose_tools(*, budget: int, model: str, is_open: bool) -> tuple[Tool, ...]:
    """Return the tools for a DM: fewer for a small model or a small budget, more for a story of its own."""
    small = budget <= SMALL_BUDGET or is_small_model(model)
    chosen = tuple(tool for tool in TOOLS if tool.name in _FEW) if small else TOOLS
    if is_open:
        return (*chosen, *(PLOT_TOOLS[:1] if small else PLOT_TOOLS))
    return tuple(_TAKE_WAY if small and tool.name == _TAKE_WAY.name else tool for tool in chosen)


# Tools whose result a model needs before it can narrate.
ASKING: Final = frozenset(("look_up", "recall", "ask_roll"))
