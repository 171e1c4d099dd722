"""Remarks on what just happened to a character and around it."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from dndbots.canon.claims import AT
from dndbots.events import EventType
from dndbots.game.acts import Verb
from dndbots.game.bots.mind import HeardEvent, Mind
from dndbots.game.bots.voice import BotVoice
from dndbots.text.word_forms import number_word

_DYING: Final = "dying"
_MOST_COUNTED: Final = 10


class BotReaction(NamedTuple):
    """A remark and its odds. `weight` decides between several."""

    weight: float
    odds: float
    key: str
    slots: dict[str, str]


# Words of somebody who wants something done.
_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\byou (?:should|must)\b", re.IGNORECASE
)


class Reactions:
    """Remarks a character could make on events since its last turn."""

    def __init__(self, mind: Mind, voice: BotVoice) -> None:
        self.mind, self.voice = mind, voice

    def in_fight(self) -> str:
        """Return a remark between blows, now and then."""
        return self._best([*self._of_friends(), *self._of_wounds(), *self._of_beginnings()])

    def at_peace(self) -> str:
        """Return a remark on the weightiest event, if the dice allow one."""
        mind = self.mind
        remarks = [*self._of_friends(), *self._of_wounds(), *self._of_endings(), *self._of_meetings()]
        for heard in mind.since_my_turn:
            to_me = heard.verb == Verb.WHISPER.value and heard.target == mind.who  # so they are here
            if to_me or heard.source in mind.friends:
                remarks += self.to_words(heard)
        return self._best(remarks)

    def _best(self, remarks: list[BotReaction]) -> str:
        """Return the words of the weightiest reaction whose odds come up."""
        for reaction in sorted(remarks, key=lambda reaction: -reaction.weight):
            if self.mind.chance(reaction.odds):
                return self.voice.say(reaction.key, **reaction.slots)
        return ""

    # Reactions to events.

    def _of_friends(self) -> Iterator[BotReaction]:
        """Yield reactions to friends who die or fall."""
        mind = self.mind
        for heard in mind.since_my_turn:
            for uid in heard.says("killed") or ():
                name = mind.called(uid)
                if uid.startswith("pc_") and uid != mind.who and name:
                    yield BotReaction(9, 1.0, "friend_dead", {"friend": name})
            for uid in _given(heard.says("conditions"), _DYING):
                name = mind.called(uid)
                if uid != mind.who and name and _DYING in mind.table.conditions(uid):
                    yield BotReaction(8, 0.8, "friend_down", {"friend": name})

    def _of_wounds(self) -> Iterator[BotReaction]:
        """Yield reactions to wounds and help."""
        mind = self.mind
        for heard in mind.since_my_turn:
            deltas = heard.says("hp_delta")
            change = deltas.get(mind.who, 0) if isinstance(deltas, dict) else 0
            if change < 0:
                yield BotReaction(4, 0.3, "hurt", {})
            helper = _helper(heard, mind) if heard.play.get("resolves") else None
            saved = mind.who in _given(heard.says("conditions"), f"-{_DYING}")
            if helper and (saved or change > 0):
                yield BotReaction(7, 1.0 if saved else 0.7, "thanks", {"friend": helper})

    def _of_beginnings(self) -> Iterator[BotReaction]:
        """Yield warnings when a fight begins."""
        for heard in self.mind.since_my_turn:
            fight: Any = heard.play.get("fight")
            if heard.event.event_type is EventType.COMBAT_START and fight:
                for foes in fight["foes"].values():
                    yield BotReaction(3, 0.25, "warn", {"foe": _counted(foes["number"], foes["name"])})

    def _of_endings(self) -> Iterator[BotReaction]:
        """Yield reactions to victories, finished quests and new levels."""
        mind = self.mind
        for heard in mind.since_my_turn:
            quest, name = heard.says("quest_id"), mind.name(heard.says("quest_id") or "")
            if heard.event.event_type is EventType.COMBAT_END and heard.play.get("ended") in ("won", "fled"):
                foes = [mind.name(uid) for uid in _foes_of(mind)]
                yield BotReaction(5, 0.45, "victory", {"foe": next(filter(None, foes), "the lot of them")})
            if quest and name and heard.says("quest_state") == "completed":
                yield BotReaction(6, 0.6, "done", {"quest": name})
            for fact in heard.says("facts") or ():
                if (
                    fact.get("subject") == mind.who
                    and fact.get("key") == "level"
                    and not heard.play.get("joined")
                ):
                    yield BotReaction(5, 0.9, "levelled", {})

    def _of_meetings(self) -> Iterator[BotReaction]:
        """Yield reactions to newcomers, reunions and places seen before."""
        mind = self.mind
        for heard in mind.since_my_turn:
            joined: Any = heard.play.get("joined") or {}
            if joined.get("uid") == mind.who and joined.get("temper"):
                yield BotReaction(
                    10, 1.0, "hello", {"name": mind.name(mind.who) or "nobody", "class": mind.trade}
                )
            if heard.event.event_type is not EventType.LOCATION_CHANGE or heard.place != mind.here:
                continue
            came = set(heard.says("participants") or ())
            there = {fact["subject"] for fact in heard.says("facts") or () if fact.get("op") == AT}
            met = came - {mind.who} if mind.who not in came else there
            friends = mind.names(uid for uid in mind.friends if uid in met)
            if friends:
                yield BotReaction(7, 0.9, "reunite", {"friends": friends})
            place = mind.name(mind.here)
            if mind.who in came and place and mind.table.visits.get(mind.here, 0) > 2:
                yield BotReaction(1, 0.06, "remember_place", {"place": place})
            if mind.who in came and mind.sights.dark:
                yield BotReaction(2, 0.3, "dark", {})

    def to_words(self, heard: HeardEvent) -> Iterator[BotReaction]:
        """Yield reactions to a friend's words or deeds."""
        mind = self.mind
        name = mind.called(heard.source)
        if not name:
            return
        if heard.verb == Verb.SAY.value and heard.target == mind.who:
            yield _answer(heard, {"friend": name})
        elif heard.verb == Verb.TELL.value or (heard.verb == Verb.WHISPER.value and heard.play.get("tells")):
            yield BotReaction(
                5, 0.7, "doubt" if mind.chance(self._doubt(heard.source)) else "believe", {"friend": name}
            )
        elif heard.verb == Verb.WHISPER.value and heard.target == mind.who:
            yield BotReaction(9, 1.0, "whispered_to", {"friend": name})
        elif (
            heard.verb == Verb.SAY.value
            and (name_of_me := mind.called(mind.who))
            and name_of_me in heard.event.content
        ):
            mine = next((own for own in reversed(mind.recent) if own.verb and own.source == mind.who), None)
            answered = mine is not None and name in mine.event.content
            yield BotReaction(3, 0.15 if answered else 0.7, "banter_reply", {"friend": name})
        elif heard.verb == Verb.GIVE.value and heard.target == mind.who:
            yield BotReaction(6, 1.0, "thanks", {"friend": name})

    def _doubt(self, friend: str) -> float:
        """Return the chance that it doubts a friend. Friends who went another way are trusted less."""
        odds = self.mind.by_temper(0.2, kind=0.05, brave=0.12, careful=0.3, wry=0.35, greedy=0.3)
        return min(0.8, max(0.02, odds - 0.08 * opinion(self.mind, friend)))


def _answer(heard: HeardEvent, slots: dict[str, str]) -> BotReaction:
    """Return the answer to somebody who speaks to this character and no other."""
    if _REQUEST.search(heard.event.content):
        return BotReaction(9, 1.0, "asked_to", slots)
    if heard.is_question:
        return BotReaction(9, 1.0, "asked", slots)
    return BotReaction(9, 1.0, "told", slots)


def opinion(mind: Mind, friend: str) -> int:
    """Return what it thinks of a friend from recent events: help raises it, leaving lowers it."""
    score = 0
    for heard in mind.recent:
        if heard.source != friend:
            continue
        if heard.target == mind.who and heard.verb in (Verb.BIND.value, Verb.CAST.value, Verb.GIVE.value):
            score += 2
        if heard.verb == Verb.FLEE.value:
            score -= 1
        mine = next((own for own in mind.recent if own.source == mind.who and own.round == heard.round), None)
        if heard.verb == Verb.GO.value and mine is not None and mine.verb == Verb.GO.value:
            score += 1 if mine.what == heard.what else -2
    return score


def _counted(number: int, name: str) -> str:
    """Return a group of foes with its number, as shouted."""
    if number <= 1:
        return name
    return f"{number_word(number) if number <= _MOST_COUNTED else 'many'} {name}"


def _given(conditions: Any, name: str) -> list[str]:
    """Return the uids that an event gives a condition to."""
    if not isinstance(conditions, dict):
        return []
    return [uid for uid, names in conditions.items() if name in names]


def _helper(heard: HeardEvent, mind: Mind) -> str | None:
    """Return the name of the friend who helps in an event."""
    people = [heard.source, *(heard.says("participants") or ())]
    return next((mind.called(uid) for uid in people if uid in mind.friends and mind.name(uid)), None)


def _foes_of(mind: Mind) -> list[str]:
    """Return foes seen here recently, newest first."""
    return [
        uid
        for heard in reversed(mind.recent)
        if heard.place == mind.here
        for uid in heard.says("enemies") or ()
    ]
