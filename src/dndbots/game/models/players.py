"""A model that plays characters: it is shown what its character knows, and says what the character tries.

Names in its answer are looked up on the character's own table. What the rules refuse goes back to it once,
with the reason; then something safe is played.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.errors import ActRefused
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import Turn
from dndbots.game.house.players import HousePlayer
from dndbots.game.meaning import meant
from dndbots.game.models.around import around
from dndbots.game.models.cleaning import UID, Cleaned, cleaned
from dndbots.game.options import Place
from dndbots.game.referee import refusal
from dndbots.llm.asking import Answer, Question, Reply, Role, Tool, Voice
from dndbots.text.cleaning import one_line

ACT: Final = "act"
_TALK: Final = frozenset((Verb.SAY, Verb.WHISPER, Verb.TELL))
_WANTED: Final = "It is your turn. Call `act` once: what you try, and what you say while you do."
_OTHERWISE: Final = "something is not as you think"
_NOTHING: Final = "you said nothing that can be used; say in a few sentences what you do"
_ONE_ACT: Final = "Only the first act of a turn counts."
_MOST_FAULTS: Final = 3

_Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")

    target: _Name = Field(default="", description="whom it concerns, by name")
    what: _Name = Field(default="", description="the way, thing, topic, spell, item or quest, by name")
    words: str = Field(default="", description="what you say and how you do it, in the first person")


# The two forms hardly ever change: what comes before a prompt, as tools do, must not, or no cache keeps it.
class AtPeace(_Form):
    verb: Literal[
        "say", "whisper", "tell", "ask", "go", "stay", "search", "look", "take", "open", "give", "accept",
        "refuse", "rest", "attack", "parley", "cast", "bind",
    ] = Field(description="what you do beside talking; `say` if nothing")  # fmt: skip


class InAFight(_Form):
    verb: Literal["attack", "cast", "bind", "flee", "parley", "give", "say", "whisper", "tell"] = Field(
        description="what you do; `say` if you only talk"
    )


_PURPOSE: Final = "Does one thing as your character. Name only what is here."
_AT_PEACE: Final = (Tool(name=ACT, purpose=_PURPOSE, form=AtPeace),)
_IN_A_FIGHT: Final = (Tool(name=ACT, purpose=_PURPOSE, form=InAFight),)


@dataclass(slots=True)
class _Tried:
    """What a character's model was asked in this turn, and what it said."""

    question: Question
    answer: Answer
    words: str = ""
    reason: str = ""  # why it cannot be, as far as the character can see it


class ModelPlayer:
    """Plays any characters through one voice. Implements `dndbots.game.agents.Player`."""

    attempts = 2

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._tried: dict[str, _Tried] = {}

    def act(self, turn: Turn) -> Act:
        before = self._tried.pop(turn.who, None) if turn.refused else None
        question = question_of(turn) if before is None else _again(turn, before)
        answer = self._voice.ask(question)
        tried = self._tried[turn.who] = _Tried(question, answer)
        call = next((one.form for one in answer.calls if isinstance(one.form, _Form)), None)
        said = spoken(turn, (getattr(call, "words", "") or "").strip() or answer.words)
        tried.words = said.words
        extra = ["more than one act; the first counts"] if len(answer.calls) > 1 else []
        if not said.words and call is None:
            extra.append("no answer")
        turn.ledger.asked(Role.PLAYER, answer, faults=(*said.faults, *extra), seat=turn.who)
        try:
            return _possible(turn, _meant(turn, answer, call, said.words))
        except ActRefused as exc:
            tried.reason = exc.reason
            raise

    def otherwise(self, turn: Turn) -> Act:
        """What is played where nothing else could be: in a fight what the house would do, else mere words."""
        tried = self._tried.pop(turn.who, None)
        turn.ledger.fault(Role.PLAYER, f"a safe act instead: {turn.refused}")
        if Place(turn.table, turn.who).fight is not None:
            return HousePlayer().act(turn)
        return Act(words="" if tried is None else tried.words)


def question_of(turn: Turn) -> Question:
    """What a model is asked in a turn. It follows from the character's prompt and table, and nothing else."""
    fight = Place(turn.table, turn.who).fight
    return Question(
        role=Role.PLAYER,
        system=turn.prompt.prompt,
        text=f"{around(turn.table, turn.who)}\n\n{_WANTED}",
        tools=_AT_PEACE if fight is None else _IN_A_FIGHT,
    )


def _again(turn: Turn, before: _Tried) -> Question:
    """The same question, with what became of the answer. Why is told as far as the character can know it."""
    why = f"That cannot be: {_in_names(turn, before.reason) or _OTHERWISE}"
    calls = before.answer.calls
    wrong = [one for one in before.answer.faults[:_MOST_FAULTS] if one not in before.reason]
    parts = [*([] if calls else [why]), *wrong]
    reply = Reply(
        answer=before.answer,
        results={n: _ONE_ACT if n else why for n in range(len(calls))},
        text=" ".join((*(f"{part.rstrip('.')}." for part in parts), "Try something else.")),
    )
    question = before.question
    return Question(
        role=question.role,
        system=question.system,
        text=question.text,
        tools=question.tools,
        so_far=(*question.so_far, reply),
    )


def _in_names(turn: Turn, reason: str) -> str:
    place = Place(turn.table, turn.who)
    named = UID.sub(lambda uid: place.called(uid[0]) if uid[0] in turn.table.names else "that", reason)
    return one_line(named)


def spoken(turn: Turn, words: str) -> Cleaned:
    """Words that this character may say: its own, and nobody else's."""
    table, place = turn.table, Place(turn.table, turn.who)
    others = dict.fromkeys((*table.seats, *place.friends(), *place.people(), *place.foes()))
    return cleaned(
        words,
        own=[table.name(turn.who), table.name(turn.who).split()[0], "I"],
        others=[place.called(uid) for uid in others if uid != turn.who],
        names=table.names,
    )


def _possible(turn: Turn, act: Act) -> Act:
    """The act, if as far as the character can see nothing stands against it."""
    reason = refusal(turn.table, turn.who, act)
    if reason is not None:
        raise ActRefused(turn.who, verb=act.verb.value, reason=reason)
    return act


def _meant(turn: Turn, answer: Answer, call: BaseModel | None, words: str) -> Act:
    """What was called for; mere words are speech. A call that did not pass goes back first."""
    if not isinstance(call, AtPeace | InAFight):
        if answer.failed and not turn.refused:
            raise ActRefused(turn.who, verb=ACT, reason="; ".join(answer.failed[:_MOST_FAULTS]))
        if not words:
            raise ActRefused(turn.who, verb=Verb.SAY.value, reason=_NOTHING)
        return Act(words=words)
    verb = Verb(call.verb)
    if verb in _TALK and not words:
        raise ActRefused(turn.who, verb=verb.value, reason=_NOTHING)
    # Of what is asked, any words are kept; anything else must be the name of something that is here.
    what = _in_names(turn, call.what) if verb is Verb.ASK else call.what
    return meant(turn.table, turn.who, verb, words=words, target=call.target, what=what)
