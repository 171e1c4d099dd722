"""People: their answers, greetings, quest offers and reactions.

Speech is an event of the speaker, heard by everybody present. A lie looks like the truth.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.adventures.conditions import normalize_topic as as_topic
from dndbots.game.adventures.module import ModuleQuest, Person, Place
from dndbots.game.state.game_notes import KEY
from dndbots.game.state.options import NEWS
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.dm_notes import REWARD, note_quest, reward_text
from dndbots.game.world.narration import Narration, as_sentence, first_clause
from dndbots.game.world.npc_answers import NpcAnswer, find_answer
from dndbots.game.world.shared_knowledge import knowledge_at
from dndbots.game.world.world_state import MOOD, SHAKEN, beat
from dndbots.text.numbers import numbers_in, spell_number
from dndbots.text.sentences import split_sentences
from dndbots.text.word_forms import is_plural, with_the

_GIFT: Final = 2
_JUST_NOW: Final = 6  # rounds
_QUESTIONS: Final = re.compile(r"\?|,? and (?=(?:who|what|why|where|when|how)\b)", re.IGNORECASE)
_NO_ANSWER: Final = frozenset(("unknown", "unwilling"))
_SHORTEST_QUESTION, _MOST_ANSWERS = 3, 2
_NO_ORDERS: Final = frozenset(("It", "He", "She", "They", "There", "Who", "What", "Nothing", "Nobody"))
_TITLES: Final = frozenset(("old", "granny", "captain", "foreman", "sister", "brother", "the", "of"))


def answer_questions(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer each question once, even if several characters asked it."""
    del place
    questions: dict[tuple[str, str], list[PendingAct]] = {}
    people = {narration.atlas.uid("npc", person.key): person for person in narration.world.people(uid)}
    for act in acts:
        target = act.act.target or next(iter(people), "")
        questions.setdefault((target, as_topic(act.act.what or NEWS)), []).append(act)
    for (target, topic), asked in questions.items():
        askers = list(dict.fromkeys(act.who for act in asked))
        if target in people and is_shaken(narration, people[target]) and not narration.screen.voiced:
            name = people[target].name
            speak(narration, uid, people[target], narration.phrase("shaken", npc=name))
        elif target in people:
            first = asked[0].act
            typed = "" if first.phrases else first.words  # the phrase book says nothing more
            is_new = bool(typed) and _is_new(narration, asked[0])
            for answer in _find_answers(narration, people[target], topic, typed, askers):
                tell_answer(narration, uid, people[target], answer, typed=is_new)
        elif narration.step.table.place(target) == uid and target.startswith("npc_"):
            _shrug(narration, uid, target, topic)
        elif not target.startswith("mon_"):
            narration.tell(
                uid, narration.not_here(target, askers, otherwise="anybody who answers"), participants=askers
            )


def _find_answers(
    narration: Narration, person: Person, topic: str, typed: str, askers: Sequence[str]
) -> list[NpcAnswer]:
    """Return the answer to a question, or to each of two in the `typed` words that have one not yet heard."""
    answer = find_answer(narration, person, topic, askers)
    if not typed or narration.screen.voiced:
        return [answer]
    asked = [part for part in _QUESTIONS.split(typed) if len(part.split()) >= _SHORTEST_QUESTION]
    found = [find_answer(narration, person, part, askers) for part in asked] if len(asked) > 1 else []
    fresh = (one for one in found if one.kind not in _NO_ANSWER and one.offers is None and not one.heard)
    told = {one.text: one for one in fresh}
    if len(told) > 1:
        return [*told.values()][:_MOST_ANSWERS]
    if answer.kind == "unknown" or answer.heard:
        # A topic may be too short for what was meant; the words may say it.
        whole = find_answer(narration, person, typed, askers)
        is_more = whole.kind not in _NO_ANSWER and not whole.heard
        answer = whole if is_more or (answer.kind == "unknown" and whole.kind != "unknown") else answer
    return [answer]


def _is_new(narration: Narration, asked: PendingAct) -> bool:
    """Return whether nobody asked the same lately, word for word."""
    words = asked.act.words
    return not any(
        event.content == words and event.event_id != asked.event_id for event in narration.step.table.lately
    )


def is_shaken(narration: Narration, person: Person) -> bool:
    """Check that a person was attacked by the party, and has not heard yet that they are sorry."""
    mood = narration.step.table.fact(narration.atlas.uid("npc", person.key), MOOD)
    return bool(mood == SHAKEN)


def _shrug(narration: Narration, uid: str, npc: str, topic: str) -> None:
    """Let a person without an entry in the module say that they know nothing."""
    if narration.screen.voiced:
        return
    name = narration.step.table.name(npc)
    narration.tell(
        uid,
        narration.phrase("does_not_know", npc=name, topic=narration.atlas.spelled(topic)),
        kind=EventType.DIALOGUE,
        source=npc,
        participants=narration.step.table.together(uid),
        witnesses=narration.step.present(uid),
        names={npc: name},
    )


def tell_answer(
    narration: Narration, uid: str, person: Person, answer: NpcAnswer, *, typed: bool = False
) -> None:
    """Let a person say an answer; what was said a moment ago only in short, to who asked in own words."""
    if narration.screen.voiced and (answer.saying is None or answer.heard):
        return  # a model speaks for them
    if answer.offers is not None:
        offer_quest(narration, uid, person, answer.offers, again=answer.heard)
        return
    topic = narration.atlas.spelled(answer.topic)
    if answer.kind in ("unknown", "unwilling"):
        rule = "wont_say" if answer.kind == "unwilling" else "does_not_know" if topic else "has_no_answer"
        words = narration.phrase(rule, npc=person.name, topic=topic or "that")
        more = narration.phrase("adds", npc=person.name, says=answer.text) if answer.text else ""
        speak(narration, uid, person, f"{words} {more}".strip())
        return
    if answer.heard and _was_just_told(narration, person, answer.text):
        short = as_sentence(split_sentences(answer.text)[0]) if typed else ""
        rule = "said_before" if short else "told_just_now"
        speak(
            narration,
            uid,
            person,
            narration.phrase(rule, npc=person.name, **({"says": short} if short else {})),
        )
        return
    if is_named_by(person, answer.text) and not narration.world.met(person.key):
        hello = narration.pick_text(person.greets) if person.greets else ""
        words = answer.text if is_named_by(person, hello) else f"{hello} {answer.text}".strip()
        text = narration.phrase(f"answers.{person.voice}", npc=_called(narration, uid, person), says=words)
        speak(narration, uid, person, text, is_greeted=True)
        return
    if answer.saying is None or answer.heard:
        rule = "said_before" if answer.heard else f"answers.{person.voice}"
        speak(narration, uid, person, narration.phrase(rule, npc=person.name, says=answer.text))
        return
    saying = answer.saying
    about = "" if answer.topic in (NEWS, "") else f" about {with_the(topic)}"
    speak(
        narration,
        uid,
        person,
        narration.phrase(f"answers.{person.voice}", npc=person.name, says=answer.text),
        beats=(beat("said", person.key, saying.key),),
        topics=saying.topics,
        teaches=saying.teaches,
        gist=f"{person.name} told us{about}: {first_clause(saying.says)}",
    )


def _was_just_told(narration: Narration, person: Person, text: str) -> bool:
    """Return whether a person said this within the last rounds: nobody needs it word for word again."""
    npc, clause = narration.atlas.uid("npc", person.key), first_clause(text)
    return any(
        npc in deed.present and clause in deed.gist and narration.step.round - deed.round < _JUST_NOW
        for deed in narration.step.table.deeds
    )


def speak(
    narration: Narration,
    uid: str,
    person: Person,
    text: str,
    *,
    beats: Sequence[str] = (),
    kind: EventType = EventType.DIALOGUE,
    is_greeted: bool = False,
    **metadata: Any,
) -> None:
    """Let a person speak to everybody present; the first time with a greeting and a name.

    With `is_greeted` the text has both already.
    """
    narration.enter(uid)
    npc = narration.atlas.uid("npc", person.key)
    names = {npc: person.name, **metadata.pop("names", {})}
    if not narration.world.met(person.key):
        text = text if is_greeted else f"{_hello(narration, uid, person)} {text}".strip()
        beats = (*beats, beat("met", person.key))
    narration.tell(
        uid,
        text,
        kind=kind,
        source=npc,
        participants=narration.step.table.together(uid),
        witnesses=narration.step.present(uid),
        beats=beats,
        names=names,
        **metadata,
    )


def _called(narration: Narration, uid: str, person: Person) -> str:
    """Return what those at a place call a person before they are introduced."""
    return narration.name_for(person, narration.step.table.together(uid))


def is_named_by(person: Person, text: str) -> bool:
    """Return whether a text has a person's name or a part of it, titles aside."""
    words = person.name.split()
    given = [word for word in words if word.casefold() not in _TITLES] or words
    forms = "|".join(re.escape(form) for word in given for form in (word, word.upper()))
    return re.search(rf"(?<!\w)(?:{forms})(?!\w)", text) is not None


def _hello(narration: Narration, uid: str, person: Person) -> str:
    """Return a person's greeting, with their name if neither the greeting nor the hearers have it."""
    hello = narration.pick_text(person.greets) if person.greets else ""
    called = _called(narration, uid, person)
    if called == person.name or is_named_by(person, hello):
        return narration.phrase(f"answers.{person.voice}", npc=called, says=hello) if hello else ""
    named = narration.phrase(f"gives_name.{person.voice}", npc=person.seen_as, name=person.name)
    return f'{named} "{hello}"' if hello else named


def run_people(narration: Narration, uid: str, *, busy: bool) -> None:
    """Let people at a place act on their own: react to deeds, then offer a quest."""
    for person in narration.world.people(uid):
        reacted = _react(narration, uid, person)
        offers = [
            quest for quest in narration.atlas.gives.get(person.key, ()) if _is_due(narration, uid, quest)
        ]
        if offers and (narration.world.met(person.key) or not (busy or reacted)):
            offer_quest(narration, uid, person, offers[0])
            return
        if _remind(narration, uid, person):
            return
        if reacted:
            return


def _is_due(narration: Narration, uid: str, quest: ModuleQuest) -> bool:
    """Return whether a giver may offer a quest here. The offer itself counts as meeting."""
    if narration.world.has_beat("offered", quest.key):
        return False
    return knowledge_at(narration, uid).after([beat("met", quest.giver or "")]).holds(quest.begins)


def _remind(narration: Narration, uid: str, person: Person) -> bool:
    """Let a giver tell newcomers of a quest that the party took on before them."""
    if not narration.world.met(person.key):
        return False
    for quest in narration.atlas.gives.get(person.key, ()):
        state = narration.world.quest(quest.key)
        if state in ("offered", "accepted") and knowledge_at(narration, uid).quest(quest.key) is None:
            offer_quest(narration, uid, person, quest, state=state)
            return True
    return False


def offer_quest(
    narration: Narration,
    uid: str,
    person: Person,
    quest: ModuleQuest,
    *,
    state: str = "offered",
    again: bool = False,
) -> None:
    """Let a person offer a quest to the party, once more if it was refused, or tell of one that it has."""
    qst = narration.atlas.uid("qst", quest.key)
    wanted = narration.phrase("offers", npc=person.name, quest=quest.name)
    text = (
        narration.phrase(f"answers.{person.voice}", npc=person.name, says=quest.offer)
        if quest.offer
        else wanted
    )
    goal = quest.goal or quest.name
    gold = narration.world.promised(quest)
    if gold != quest.reward.gold:
        text = f"{text} {narration.phrase('agreed_on', npc=person.name, gold=spell_number(gold))}"
    note_quest(narration, quest)
    speak(
        narration,
        uid,
        person,
        f"{narration.phrase('offers_again', npc=person.name)} {text}" if again else text,
        beats=(beat("offered", quest.key),),
        names={qst: quest.name},
        gist=f"{person.name} {_asking(goal)}",
        quest_id=qst,
        quest_state=state,
        facts=[{"subject": qst, "key": "goal", "value": goal[:1_000]}, *_terms(narration, quest, qst)],
    )


def _asking(goal: str) -> str:
    """Return a goal as what somebody asked: "asked us to find out", as far as it begins with a verb."""
    clause = first_clause(goal)
    first, _, rest = clause.partition(" ")
    is_order = first.istitle() and rest[:1].islower() and not is_plural(first) and first not in _NO_ORDERS
    return f"asked us to {first.lower()} {rest}" if is_order else f"asks for help: {clause}"


def _terms(narration: Narration, quest: ModuleQuest, qst: str) -> list[dict[str, str]]:
    """Return the reward as a fact, if the words of the offer name the gold or it was bargained for."""
    gold = narration.world.promised(quest)
    if not gold or (gold == quest.reward.gold and gold not in numbers_in(quest.offer or "")):
        return []
    terms = reward_text(narration, quest.reward.model_copy(update={"gold": gold}))
    return [{"subject": qst, "key": REWARD, "value": terms}]


def _react(narration: Narration, uid: str, person: Person) -> bool:
    """Tell a person's reaction to a deed of the party, one at a time. Return whether there was one."""
    world = narration.world
    npc = narration.atlas.uid("npc", person.key)
    if not world.met(person.key):
        return False
    for reaction in person.reacts:
        if world.has_beat("reacted", person.key, reaction.key) or not world.holds(reaction.when):
            continue
        mood = "warms" if reaction.trust > 0 else "cools"
        speech = (
            narration.phrase(f"answers.{person.voice}", npc=person.name, says=reaction.says)
            if reaction.says
            else ""
        )
        felt = narration.phrase(mood, npc=person.name) if reaction.trust or not speech else ""
        speak(
            narration,
            uid,
            person,
            " ".join(filter(None, (speech, felt))),
            beats=(beat("reacted", person.key, reaction.key),),
            reputation={npc: reaction.trust} if reaction.trust else None,
        )
        return True
    return False


def thank_givers(narration: Narration, events: Sequence[GameEvent]) -> None:
    """Let people thank for gifts and trust the party more."""
    for giver, person in _gifts(narration, events):
        uid = narration.step.table.place(giver)
        npc = narration.atlas.uid("npc", person.key)
        if uid is not None and narration.world.where(person.key) == uid:
            text = narration.phrase("gift", npc=person.name, who=narration.step.table.name(giver))
            speak(narration, uid, person, text, reputation={npc: _GIFT})


def _gifts(narration: Narration, events: Sequence[GameEvent]) -> Iterator[tuple[str, Person]]:
    """Yield who gave something to which person."""
    for event in events:
        note = event.metadata.get(KEY)
        act = note.get("act") if isinstance(note, dict) else None
        if isinstance(act, dict) and act.get("verb") == Verb.GIVE.value:
            person = narration.world.person(str(act.get("target")))
            if person is not None:
                yield event.source, person
