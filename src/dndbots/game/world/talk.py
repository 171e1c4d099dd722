"""People: their answers, greetings, quest offers and reactions.

Speech is an event of the speaker, heard by everybody present. A lie looks like the truth.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.adventures.conditions import normalize_topic as as_topic
from dndbots.game.adventures.module import ModuleQuest, Person, Place, Saying
from dndbots.game.state.game_notes import KEY
from dndbots.game.state.options import NEWS
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.narration import Narration, first_clause, without_article
from dndbots.game.world.shared_knowledge import knowledge_at
from dndbots.game.world.world_state import beat

_GIFT: Final = 2


def answer_questions(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer each question once, even if several characters asked it."""
    del place
    questions: dict[tuple[str, str], list[str]] = {}
    people = {narration.atlas.uid("npc", person.key): person for person in narration.world.people(uid)}
    for act in acts:
        target = act.act.target or next(iter(people), "")
        topic = as_topic(act.act.what or NEWS)
        askers = questions.setdefault((target, topic), [])
        if act.who not in askers:
            askers.append(act.who)
    for (target, topic), askers in questions.items():
        if target in people:
            _answer(narration, uid, people[target], topic, askers)
        elif narration.step.table.place(target) == uid and target.startswith("npc_"):
            _shrug(narration, uid, target, topic)
        elif not target.startswith("mon_"):
            narration.tell(uid, narration.phrase("nothing_there"), participants=askers)


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


def _answer(narration: Narration, uid: str, person: Person, topic: str, askers: Sequence[str]) -> None:
    """Let a person answer a question about a topic."""
    saying, known = _chosen(narration, person, topic, askers)
    if narration.screen.voiced and (saying is None or _heard_by(narration, person, saying, askers)):
        return  # a model speaks for them
    if saying is None:
        rule = "wont_say" if known else "does_not_know"
        speak(
            narration,
            uid,
            person,
            narration.phrase(rule, npc=person.name, topic=narration.atlas.spelled(topic)),
        )
        return
    if _heard_by(narration, person, saying, askers):
        speak(narration, uid, person, narration.phrase("said_before", npc=person.name))
        return
    spoken = narration.phrase(f"answers.{person.voice}", npc=person.name, says=saying.says)
    about = "" if topic == NEWS else f" about {narration.atlas.spelled(topic)}"
    speak(
        narration,
        uid,
        person,
        spoken,
        beats=(beat("said", person.key, saying.key),),
        topics=saying.topics,
        teaches=saying.teaches,
        gist=f"{person.name} told us{about}: {first_clause(saying.says)}",
    )


def _chosen(
    narration: Narration, person: Person, topic: str, askers: Sequence[str]
) -> tuple[Saying | None, bool]:
    """Return a person's answer, and whether they know anything at all. Untold answers come first."""
    world = narration.world
    trust = world.trust(person)
    known = knowledge_at(narration, narration.step.table.place(askers[0]) or "")
    open_to_all = [
        saying
        for saying in person.knows
        if known.holds(saying.when) and not _spent(narration, person, saying)
    ]
    fitting = [saying for saying in open_to_all if _fits(topic, saying.about)]
    if not fitting and topic == NEWS:
        fitting = [saying for saying in open_to_all if not world.has_beat("said", person.key, saying.key)]
        fitting = [saying for saying in fitting if saying.needs <= trust][:1]
    trusted = {saying.key for saying in fitting if saying.needs <= trust}
    fresh = [
        saying
        for saying in fitting
        if saying.key in trusted and not _heard_by(narration, person, saying, askers)
    ]
    stale = [saying for saying in fitting if saying.key in trusted]
    return next(iter((*fresh, *stale)), None), bool(fitting)


def _spent(narration: Narration, person: Person, saying: Saying) -> bool:
    """Return whether a one-time saying was already told."""
    return saying.once and narration.world.has_beat("said", person.key, saying.key)


def _heard_by(narration: Narration, person: Person, saying: Saying, askers: Sequence[str]) -> bool:
    """Return whether everybody who asks has heard the saying."""
    return all(beat("said", person.key, saying.key) in narration.step.of(who).beats for who in askers)


def _fits(topic: str, about: Sequence[str]) -> bool:
    """Return whether a topic is among those of a saying, articles aside."""
    return any(without_article(topic) == without_article(word) for word in about)


def speak(
    narration: Narration,
    uid: str,
    person: Person,
    text: str,
    *,
    beats: Sequence[str] = (),
    kind: EventType = EventType.DIALOGUE,
    **metadata: Any,
) -> None:
    """Let a person speak to everybody present; the first time with a greeting and a name."""
    npc = narration.atlas.uid("npc", person.key)
    names = {npc: person.name, **metadata.pop("names", {})}
    if not narration.world.met(person.key):
        text = f"{_hello(narration, person)} {text}"
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


def _hello(narration: Narration, person: Person) -> str:
    """Return a person's greeting, with their name if the greeting lacks it."""
    hello = narration.pick_text(person.greets) if person.greets else ""
    if person.name in hello:
        return narration.phrase(f"answers.{person.voice}", npc=person.seen_as, says=hello)
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
        if reacted:
            return


def _is_due(narration: Narration, uid: str, quest: ModuleQuest) -> bool:
    """Return whether a giver may offer a quest here. The offer itself counts as meeting."""
    if narration.world.has_beat("offered", quest.key):
        return False
    return knowledge_at(narration, uid).after([beat("met", quest.giver or "")]).holds(quest.begins)


def offer_quest(narration: Narration, uid: str, person: Person, quest: ModuleQuest) -> None:
    """Let a person offer a quest to the party."""
    qst = narration.atlas.uid("qst", quest.key)
    wanted = narration.phrase("offers", npc=person.name, quest=quest.name)
    text = (
        narration.phrase(f"answers.{person.voice}", npc=person.name, says=quest.offer)
        if quest.offer
        else wanted
    )
    goal = quest.goal or quest.name
    speak(
        narration,
        uid,
        person,
        text,
        beats=(beat("offered", quest.key),),
        names={qst: quest.name},
        gist=f"{person.name} asks for help: {first_clause(goal)}",
        quest_id=qst,
        quest_state="offered",
        facts=[{"subject": qst, "key": "goal", "value": goal[:1_000]}],
    )


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
