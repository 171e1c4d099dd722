"""People: what they say when they are asked, what they offer, and how they take what was done.

What somebody says is an event of theirs, in the hearing of all who are there. A lie is told like the truth.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.adventures.values import Person, Place, Quest, Saying
from dndbots.game.adventures.when import topic as as_topic
from dndbots.game.house.shared import shared_at
from dndbots.game.house.telling import Telling, clause
from dndbots.game.house.world import beat
from dndbots.game.options import NEWS
from dndbots.game.pieces import Waiting
from dndbots.game.played import KEY

_GIFT: Final = 2
_ARTICLES: Final = ("the ", "a ", "an ", "some ")


def ask(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Each question is answered once, whoever asked it."""
    del place
    questions: dict[tuple[str, str], list[str]] = {}
    people = {telling.atlas.uid("npc", one.key): one for one in telling.world.people(uid)}
    for one in asked:
        target = one.act.target or next(iter(people), "")
        topic = as_topic(one.act.what or NEWS)
        askers = questions.setdefault((target, topic), [])
        if one.who not in askers:
            askers.append(one.who)
    for (target, topic), askers in questions.items():
        if target in people:
            _answer(telling, uid, people[target], topic, askers)
        elif telling.step.table.place(target) == uid and target.startswith("npc_"):
            _shrug(telling, uid, target, topic)
        elif not target.startswith("mon_"):
            telling.tell(uid, telling.words("nothing_there"), participants=askers)


def _shrug(telling: Telling, uid: str, npc: str, topic: str) -> None:
    """Somebody who is in no file, and has nothing to say if nobody speaks for them."""
    if telling.screen.voiced:
        return
    name = telling.step.table.name(npc)
    telling.tell(
        uid,
        telling.words("does_not_know", npc=name, topic=telling.atlas.spelled(topic)),
        kind=EventType.DIALOGUE,
        source=npc,
        participants=telling.step.table.together(uid),
        witnesses=telling.step.present(uid),
        names={npc: name},
    )


def _answer(telling: Telling, uid: str, person: Person, topic: str, askers: Sequence[str]) -> None:
    saying, known = _chosen(telling, person, topic, askers)
    if telling.screen.voiced and (saying is None or _heard_by(telling, person, saying, askers)):
        return  # they have words of their own
    if saying is None:
        rule = "wont_say" if known else "does_not_know"
        speak(telling, uid, person, telling.words(rule, npc=person.name, topic=telling.atlas.spelled(topic)))
        return
    if _heard_by(telling, person, saying, askers):
        speak(telling, uid, person, telling.words("said_before", npc=person.name))
        return
    spoken = telling.words(f"answers.{person.voice}", npc=person.name, says=saying.says)
    about = "" if topic == NEWS else f" about {telling.atlas.spelled(topic)}"
    speak(
        telling,
        uid,
        person,
        spoken,
        beats=(beat("said", person.key, saying.key),),
        topics=saying.topics,
        teaches=saying.teaches,
        gist=f"{person.name} told us{about}: {clause(saying.says)}",
    )


def _chosen(
    telling: Telling, person: Person, topic: str, askers: Sequence[str]
) -> tuple[Saying | None, bool]:
    """What somebody answers, and whether there was anything to say at all. The untold comes first."""
    world = telling.world
    trust = world.trust(person)
    known = shared_at(telling, telling.step.table.place(askers[0]) or "")
    open_to_all = [one for one in person.knows if known.true(one.when) and not _spent(telling, person, one)]
    fitting = [one for one in open_to_all if _fits(topic, one.about)]
    if not fitting and topic == NEWS:
        fitting = [one for one in open_to_all if not world.came("said", person.key, one.key)]
        fitting = [one for one in fitting if one.needs <= trust][:1]
    told = {one.key for one in fitting if one.needs <= trust}
    fresh = [one for one in fitting if one.key in told and not _heard_by(telling, person, one, askers)]
    stale = [one for one in fitting if one.key in told]
    return next(iter((*fresh, *stale)), None), bool(fitting)


def _spent(telling: Telling, person: Person, saying: Saying) -> bool:
    return saying.once and telling.world.came("said", person.key, saying.key)


def _heard_by(telling: Telling, person: Person, saying: Saying, askers: Sequence[str]) -> bool:
    return all(beat("said", person.key, saying.key) in telling.step.of(who).beats for who in askers)


def _fits(topic: str, about: Sequence[str]) -> bool:
    return any(_bare(topic) == _bare(one) for one in about)


def _bare(topic: str) -> str:
    return next((topic.removeprefix(one) for one in _ARTICLES if topic.startswith(one)), topic)


def speak(
    telling: Telling,
    uid: str,
    person: Person,
    text: str,
    *,
    beats: Sequence[str] = (),
    kind: EventType = EventType.DIALOGUE,
    **told: Any,
) -> None:
    """Somebody speaks to all who are there, and by that is met: the first time with a greeting and a name."""
    npc = telling.atlas.uid("npc", person.key)
    names = {npc: person.name, **told.pop("names", {})}
    if not telling.world.met(person.key):
        text = f"{_hello(telling, person)} {text}"
        beats = (*beats, beat("met", person.key))
    telling.tell(
        uid,
        text,
        kind=kind,
        source=npc,
        participants=telling.step.table.together(uid),
        witnesses=telling.step.present(uid),
        beats=beats,
        names=names,
        **told,
    )


def _hello(telling: Telling, person: Person) -> str:
    """The first words of somebody, and the name, unless it is in them anyway."""
    hello = telling.one_of(person.greets) if person.greets else ""
    if person.name in hello:
        return telling.words(f"answers.{person.voice}", npc=person.seen_as, says=hello)
    named = telling.words(f"gives_name.{person.voice}", npc=person.seen_as, name=person.name)
    return f'{named} "{hello}"' if hello else named


def tend(telling: Telling, uid: str, *, busy: bool) -> None:
    """What people at a place do of their own accord: thank, remember, offer what they have to ask for."""
    for person in telling.world.people(uid):
        told = _react(telling, uid, person)
        offers = [quest for quest in telling.atlas.gives.get(person.key, ()) if _is_due(telling, uid, quest)]
        if offers and (telling.world.met(person.key) or not (busy or told)):
            offer(telling, uid, person, offers[0])
            return
        if told:
            return


def _is_due(telling: Telling, uid: str, quest: Quest) -> bool:
    """Whether a giver is ready to ask those who are there. That they meet is brought about by asking."""
    if telling.world.came("offered", quest.key):
        return False
    return shared_at(telling, uid).after([beat("met", quest.giver or "")]).true(quest.begins)


def offer(telling: Telling, uid: str, person: Person, quest: Quest) -> None:
    """Somebody asks the party to do something."""
    qst = telling.atlas.uid("qst", quest.key)
    wanted = telling.words("offers", npc=person.name, quest=quest.name)
    text = (
        telling.words(f"answers.{person.voice}", npc=person.name, says=quest.offer) if quest.offer else wanted
    )
    goal = quest.goal or quest.name
    speak(
        telling,
        uid,
        person,
        text,
        beats=(beat("offered", quest.key),),
        names={qst: quest.name},
        gist=f"{person.name} asks for help: {clause(goal)}",
        quest_id=qst,
        quest_state="offered",
        facts=[{"subject": qst, "key": "goal", "value": goal[:1_000]}],
    )


def _react(telling: Telling, uid: str, person: Person) -> bool:
    """Tells what somebody makes of the party's deeds: once each, and one at a time."""
    world = telling.world
    npc = telling.atlas.uid("npc", person.key)
    if not world.met(person.key):
        return False
    for one in person.reacts:
        if world.came("reacted", person.key, one.key) or not world.true(one.when):
            continue
        mood = "warms" if one.trust > 0 else "cools"
        said = telling.words(f"answers.{person.voice}", npc=person.name, says=one.says) if one.says else ""
        felt = telling.words(mood, npc=person.name) if one.trust or not said else ""
        speak(
            telling,
            uid,
            person,
            " ".join(filter(None, (said, felt))),
            beats=(beat("reacted", person.key, one.key),),
            reputation={npc: one.trust} if one.trust else None,
        )
        return True
    return False


def thank(telling: Telling, events: Sequence[GameEvent]) -> None:
    """Who was given something thanks for it, and trusts the giver more."""
    for giver, person in _gifts(telling, events):
        uid = telling.step.table.place(giver)
        npc = telling.atlas.uid("npc", person.key)
        if uid is not None and telling.world.where(person.key) == uid:
            text = telling.words("gift", npc=person.name, who=telling.step.table.name(giver))
            speak(telling, uid, person, text, reputation={npc: _GIFT})


def _gifts(telling: Telling, events: Sequence[GameEvent]) -> Iterator[tuple[str, Person]]:
    for event in events:
        note = event.metadata.get(KEY)
        act = note.get("act") if isinstance(note, dict) else None
        if isinstance(act, dict) and act.get("verb") == Verb.GIVE.value:
            person = telling.world.person(str(act.get("target")))
            if person is not None:
                yield event.source, person
