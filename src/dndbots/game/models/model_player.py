"""A model that plays characters: it sees what its character knows, and says what the character tries.

Names in its answer are looked up on the character's own table. A refused act goes back to the model once,
with the reason; after that a safe act is played.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dndbots.errors import ActRefused
from dndbots.game.acts import Act, Verb
from dndbots.game.agents import SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.input.act_resolver import resolve_act
from dndbots.game.input.answer_filter import UID, FilteredAnswer, filter_answer
from dndbots.game.models.echoes import texts_told
from dndbots.game.models.guards import guard_player
from dndbots.game.models.scene_text import WANTED_OF_PLAYER, ask_otherwise, render_surroundings
from dndbots.game.referee import refusal
from dndbots.game.state.options import Surroundings
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Question, Reply, Role, Tool, Voice
from dndbots.text.clean import one_line

ACT: Final = "act"
_TALK: Final = frozenset((Verb.SAY, Verb.WHISPER, Verb.TELL))
_OTHERWISE: Final = "something is not as you think"
_NOTHING: Final = "you said nothing that can be used; say in a few sentences what you do"
_ONE_ACT: Final = "Only the first act of a turn counts."
_MOST_FAULTS: Final = 3
_SENTENCE: Final = 3  # blanks in what is more than a name
_OF_ONESELF: Final = re.compile(r"I(?:['\u2019](?:ll|m|d|ve))?\s")
_ABOUT: Final = re.compile(r"^(?:(?:about|of|regarding|concerning)\s+)+", re.IGNORECASE)

_Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")

    target: _Name = Field(default="", description="whom it concerns, by name")
    what: _Name = Field(default="", description="the way, thing, topic, spell, item or quest, by name")
    words: str = Field(default="", description="what you say and how you do it, in the first person")


# Two fixed forms instead of one for each turn: tools stand before the prompt, and a change would break the
# provider's cache. They have no docstrings, because models would read these as part of the schema.
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
    """A first attempt of a character's model in this turn: its question and its answer."""

    question: Question
    answer: Answer
    words: str = ""
    reason: str = ""  # of the refusal, as far as the character can see it


class ModelPlayer:
    """A player that plays any characters through one voice. Implements `dndbots.game.agents.SafePlayer`."""

    attempts = 2
    retells = True

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._tried: dict[str, _Tried] = {}

    def act(self, turn: SeatTurn) -> Act:
        before = self._tried.pop(turn.who, None) if turn.refused else None
        question = question_of(turn) if before is None else _ask_again(turn, before)
        answer = self._ask(turn, question)
        tried = self._tried[turn.who] = _Tried(question, answer)
        call = next((one.form for one in answer.calls if isinstance(one.form, _Form)), None)
        said, cuts = clean_speech(turn, _words_of(call) or answer.words)
        if not said.words and call is not None and _is_told(call.what):
            said, cuts = clean_speech(turn, call.what)
        tried.words = said.words
        extra = ["more than one act; the first counts"] if len(answer.calls) > 1 else []
        if not said.words and call is None:
            extra.append("no answer")
        turn.ledger.record_answer(
            Role.PLAYER, answer, faults=(*said.faults, *extra), cuts=cuts, seat=turn.who
        )
        if answer.stopped:
            return Act(words=said.words)
        try:
            return _check_possible(turn, _act_of(turn, answer, call, said.words))
        except ActRefused as exc:
            tried.reason = exc.reason
            raise

    def _ask(self, turn: SeatTurn, question: Question) -> Answer:
        """Ask the model. Until it is known whom the words reach, only the DM and the seat hear them come."""
        place = turn.table.place(turn.who)

        def clean(begun: str) -> str:
            return clean_speech(turn, begun)[0].words

        with turn.live.coming(turn.who, place=place, viewers=(DM, turn.who), clean=clean) as hear:
            return self._voice.ask(replace(question, stop=turn.live.stop), hear=hear)

    def fallback_act(self, turn: SeatTurn) -> Act:
        """Return a safe act: the house player's choice in a fight, else only the words that were said."""
        tried = self._tried.pop(turn.who, None)
        turn.ledger.record_fallback(Role.PLAYER, f"played a safe act instead: {turn.refused}")
        if Surroundings(turn.table, turn.who).fight is not None:
            return HousePlayer().act(turn)
        return Act(words="" if tried is None else tried.words)


def _words_of(call: _Form | None) -> str:
    """Return the words of an act; what is said may stand in the wrong field."""
    if call is None:
        return ""
    is_said = getattr(call, "verb", "") in _TALK and call.what.count(" ") >= _SENTENCE
    return call.words.strip() or (call.what if is_said or _is_told(call.what) else "")


def _is_told(what: str) -> bool:
    """Check for a sentence of the speaker where a name is wanted: "I stay here and rest a while."."""
    return what.count(" ") >= _SENTENCE and _OF_ONESELF.match(what) is not None


def question_of(turn: SeatTurn) -> Question:
    """Return the question of a turn, made from the character's own prompt and table alone."""
    fight = Surroundings(turn.table, turn.who).fight
    again = "" if turn.wish is None else f"\n{ask_otherwise(turn.wish)}"
    return Question(
        role=Role.PLAYER,
        system=turn.prompt.prompt,
        text=f"{render_surroundings(turn.table, turn.who)}\n\n{WANTED_OF_PLAYER}{again}",
        tools=_AT_PEACE if fight is None else _IN_A_FIGHT,
    )


def _ask_again(turn: SeatTurn, before: _Tried) -> Question:
    """Return the same question with the refusal added, in names that the character knows."""
    why = f"Not possible: {_in_names(turn, before.reason) or _OTHERWISE}"
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


def _in_names(turn: SeatTurn, reason: str) -> str:
    here = Surroundings(turn.table, turn.who)
    named = UID.sub(lambda uid: here.called(uid[0]) if uid[0] in turn.table.names else "that", reason)
    return one_line(named)


def clean_speech(turn: SeatTurn, words: str) -> tuple[FilteredAnswer, Mapping[str, int]]:
    """Return the words without lines of other speakers, ids, engine talk and echoes; and what guards cut."""
    table, here = turn.table, Surroundings(turn.table, turn.who)
    others = dict.fromkeys((*table.seats, *here.friends(), *here.people(), *here.foes()))
    named = [here.called(uid) for uid in others if uid != turn.who]
    away = [name for uid, name in table.names.items() if uid.startswith("npc_") and uid not in others]
    own = [table.name(turn.who), table.name(turn.who).split()[0]]
    said = filter_answer(words, own=[*own, "I"], others=named, names=table.names)
    prompt = turn.prompt.prompt
    guarded = guard_player(
        said.words,
        earlier=texts_told(table),
        own=own,
        others=[*named, *away],
        prompt=prompt,
        said=texts_told(table, by=turn.who),
    )
    return FilteredAnswer(guarded.words, said.faults), guarded.cuts


def _check_possible(turn: SeatTurn, act: Act) -> Act:
    """Return the act. `ActRefused`, if the character can see that it is impossible."""
    reason = refusal(turn.table, turn.who, act)
    if reason is not None:
        raise ActRefused(turn.who, verb=act.verb.value, reason=reason)
    return act


def _act_of(turn: SeatTurn, answer: Answer, call: BaseModel | None, words: str) -> Act:
    """Return the act that was called for; words without a call are speech.

    A malformed call is refused once, so that the model can try again.
    """
    if not isinstance(call, AtPeace | InAFight):
        if answer.failed and not turn.refused:
            raise ActRefused(turn.who, verb=ACT, reason="; ".join(answer.failed[:_MOST_FAULTS]))
        if not words:
            raise ActRefused(turn.who, verb=Verb.SAY.value, reason=_NOTHING)
        return Act(words=words)
    verb = Verb(call.verb)
    if verb in _TALK and not words:
        raise ActRefused(turn.who, verb=verb.value, reason=_NOTHING)
    # A topic may be any words. Everything else must name something that is here.
    what = _topic_of(turn, call) if verb is Verb.ASK else call.what
    try:
        return resolve_act(turn.table, turn.who, verb, words=words, target=call.target, what=what)
    except ActRefused:
        # A question to nobody who is here is heard by everybody, and a sentence is no name of anything.
        if not words or not (verb is Verb.ASK or _is_told(call.what)):
            raise
        return Act(words=words)


def _topic_of(turn: SeatTurn, call: AtPeace | InAFight) -> str:
    """Return what is asked about: "Ilse about the bridge" and "about the bridge" mean "the bridge"."""
    topic = _in_names(turn, call.what)
    target = call.target or ""
    rest = topic[len(target) :]
    if target and topic.casefold().startswith(target.casefold()) and not rest[:1].isalnum():
        topic = rest.lstrip(" ,:;.-") or topic
    return _ABOUT.sub("", topic).rstrip(" .!?")
