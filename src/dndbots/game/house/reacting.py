"""What a character has to say to what just happened to it and around it."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from dndbots.canon.claims import AT
from dndbots.events import EventType
from dndbots.game.acts import Verb
from dndbots.game.house.minds import Heard, Mind
from dndbots.game.house.voices import Voice

_DYING: Final = "dying"
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Reaction(NamedTuple):
    """Words for something that happened, and how likely they are said. `weight` decides between several."""

    weight: float
    odds: float
    key: str
    slots: dict[str, str]


class Reactions:
    """All that one could say to what happened since one's last turn."""

    def __init__(self, mind: Mind, voice: Voice) -> None:
        self.mind, self.voice = mind, voice

    def in_fight(self) -> str:
        """A word between blows, now and then."""
        return self._best([*self._of_friends(), *self._of_wounds(), *self._of_beginnings()])

    def at_peace(self) -> str:
        """A word on the heaviest thing that happened, if there is one and the mood is right."""
        mind = self.mind
        found = [*self._of_friends(), *self._of_wounds(), *self._of_endings(), *self._of_meetings()]
        for one in mind.since_my_turn:
            if one.source in mind.friends:
                found += self.to_words(one)
        return self._best(found)

    def _best(self, found: list[Reaction]) -> str:
        for one in sorted(found, key=lambda one: -one.weight):
            if self.mind.chance(one.odds):
                return self.voice.say(one.key, **one.slots)
        return ""

    # What there is to react to.

    def _of_friends(self) -> Iterator[Reaction]:
        mind = self.mind
        for one in mind.since_my_turn:
            for uid in one.says("killed") or ():
                name = mind.name(uid)
                if uid.startswith("pc_") and uid != mind.who and name:
                    yield Reaction(9, 1.0, "friend_dead", {"friend": name})
            for uid in _given(one.says("conditions"), _DYING):
                name = mind.name(uid)
                if uid != mind.who and name and _DYING in mind.table.conditions(uid):
                    yield Reaction(8, 0.8, "friend_down", {"friend": name})

    def _of_wounds(self) -> Iterator[Reaction]:
        mind = self.mind
        for one in mind.since_my_turn:
            deltas = one.says("hp_delta")
            change = deltas.get(mind.who, 0) if isinstance(deltas, dict) else 0
            if change < 0:
                yield Reaction(4, 0.3, "hurt", {})
            helper = _helper(one, mind) if one.play.get("resolves") else None
            saved = mind.who in _given(one.says("conditions"), f"-{_DYING}")
            if helper and (saved or change > 0):
                yield Reaction(7, 1.0 if saved else 0.7, "thanks", {"friend": helper})

    def _of_beginnings(self) -> Iterator[Reaction]:
        for one in self.mind.since_my_turn:
            fight: Any = one.play.get("fight")
            if one.event.event_type is EventType.COMBAT_START and fight:
                for foes in fight["foes"].values():
                    yield Reaction(3, 0.25, "warn", {"foe": _counted(foes["number"], foes["name"])})

    def _of_endings(self) -> Iterator[Reaction]:
        mind = self.mind
        for one in mind.since_my_turn:
            quest, name = one.says("quest_id"), mind.name(one.says("quest_id") or "")
            if one.event.event_type is EventType.COMBAT_END and one.play.get("ended") in ("won", "fled"):
                foes = [mind.name(uid) for uid in _foes_of(mind)]
                yield Reaction(5, 0.45, "victory", {"foe": next(filter(None, foes), "the lot of them")})
            if quest and name and one.says("quest_state") == "completed":
                yield Reaction(6, 0.6, "done", {"quest": name})
            for fact in one.says("facts") or ():
                if (
                    fact.get("subject") == mind.who
                    and fact.get("key") == "level"
                    and not one.play.get("joined")
                ):
                    yield Reaction(5, 0.9, "levelled", {})

    def _of_meetings(self) -> Iterator[Reaction]:
        """New faces, old friends, and places seen before."""
        mind = self.mind
        for one in mind.since_my_turn:
            joined: Any = one.play.get("joined") or {}
            if joined.get("uid") == mind.who and joined.get("temper"):
                yield Reaction(
                    10, 1.0, "hello", {"name": mind.name(mind.who) or "nobody", "class": mind.trade}
                )
            if one.event.event_type is not EventType.LOCATION_CHANGE or one.place != mind.here:
                continue
            came = set(one.says("participants") or ())
            there = {fact["subject"] for fact in one.says("facts") or () if fact.get("op") == AT}
            met = came - {mind.who} if mind.who not in came else there
            friends = mind.names(uid for uid in mind.friends if uid in met)
            if friends:
                yield Reaction(7, 0.9, "reunite", {"friends": friends})
            place = mind.name(mind.here)
            if mind.who in came and place and mind.table.visits.get(mind.here, 0) > 2:
                yield Reaction(1, 0.06, "remember_place", {"place": place})
            if mind.who in came and mind.sights.dark:
                yield Reaction(2, 0.3, "dark", {})

    def to_words(self, one: Heard) -> Iterator[Reaction]:
        """What a friend just said, or means to do."""
        mind = self.mind
        name = mind.name(one.source)
        if not name:
            return
        if one.verb == Verb.TELL.value or (one.verb == Verb.WHISPER.value and one.play.get("tells")):
            yield Reaction(
                5, 0.7, "doubt" if mind.chance(self._doubt(one.source)) else "believe", {"friend": name}
            )
        elif (
            one.verb == Verb.SAY.value
            and (name_of_me := mind.name(mind.who))
            and name_of_me in one.event.content
        ):
            mine = next((own for own in reversed(mind.recent) if own.verb and own.source == mind.who), None)
            answered = mine is not None and name in mine.event.content
            yield Reaction(3, 0.15 if answered else 0.7, "banter_reply", {"friend": name})
        elif one.verb == Verb.GIVE.value and one.target == mind.who:
            yield Reaction(6, 1.0, "thanks", {"friend": name})

    def _doubt(self, friend: str) -> float:
        """How likely it does not believe a friend. One who went another way last time is trusted less."""
        odds = self.mind.by_temper(0.2, kind=0.05, brave=0.12, careful=0.3, wry=0.35, greedy=0.3)
        return min(0.8, max(0.02, odds - 0.08 * opinion(self.mind, friend)))


def opinion(mind: Mind, friend: str) -> int:
    """What it thinks of a friend, from what happened between them of late: help counts, leaving counts."""
    score = 0
    for one in mind.recent:
        if one.source != friend:
            continue
        if one.target == mind.who and one.verb in (Verb.BIND.value, Verb.CAST.value, Verb.GIVE.value):
            score += 2
        if one.verb == Verb.FLEE.value:
            score -= 1
        mine = next((own for own in mind.recent if own.source == mind.who and own.round == one.round), None)
        if one.verb == Verb.GO.value and mine is not None and mine.verb == Verb.GO.value:
            score += 1 if mine.what == one.what else -2
    return score


def _counted(number: int, name: str) -> str:
    """A group of foes as one cries it out."""
    if number <= 1:
        return name
    return f"{_NUMBERS[number]} {name}" if number < len(_NUMBERS) else f"many {name}"


def _given(conditions: Any, name: str) -> list[str]:
    """Those to whom an event gives a condition."""
    if not isinstance(conditions, dict):
        return []
    return [uid for uid, names in conditions.items() if name in names]


def _helper(one: Heard, mind: Mind) -> str | None:
    """The friend who is seen to help in an event, by name."""
    people = [one.source, *(one.says("participants") or ())]
    return next((mind.name(uid) for uid in people if uid in mind.friends and mind.name(uid)), None)


def _foes_of(mind: Mind) -> list[str]:
    """Foes seen here of late, the newest first."""
    return [
        uid for one in reversed(mind.recent) if one.place == mind.here for uid in one.says("enemies") or ()
    ]
