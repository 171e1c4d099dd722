"""News: telling friends what they have not seen, though not always all of it."""

from collections.abc import Iterable
from typing import Final

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.voice import BotVoice, join_words
from dndbots.game.state.pieces import TellableDeed

_MOST_AT_ONCE: Final = 4
# Speeches in a row, then it is somebody else's turn to talk.
_MOST_SPEECHES: Final = 2
# Rounds after which news are old, by their worth: small ones soon, others later.
_OLDEST: Final = (12, 30, 120, 120)
# Whoever is at a place need not be told how it looks.
_CAME: Final = "we came to "
# Chance to let a friend who tells news go on alone.
_LISTENS: Final = 0.7
# How much a deed is worth telling, by its kind; anything else is small.
_WORTH: Final = {
    EventType.QUEST_UPDATE: 3,
    EventType.DEATH: 3,
    EventType.LOOT: 2,
    EventType.COMBAT_END: 2,
    EventType.DISCOVERY: 1,
    EventType.DIALOGUE: 1,
}
# Finds that a character may keep secret.
_PRECIOUS: Final = (EventType.LOOT, EventType.DISCOVERY)


class NewsTeller:
    """A character's news for its friends."""

    def __init__(self, mind: Mind, voice: BotVoice) -> None:
        self.mind, self.voice = mind, voice

    def tell(self) -> Act | None:
        """Tell news to everybody here, whisper it to one friend, or keep it."""
        mind = self.mind
        listeners = mind.able
        news = [
            deed for deed in mind.table.deeds if self._is_worth_it(deed) and self._news_to(deed, listeners)
        ]
        somebody_tells = mind.did(Verb.TELL, rounds=0) and mind.chance(_LISTENS)
        if not news or somebody_tells or self._has_told_enough():
            return None
        kept = [deed for deed in news if self._keeps(deed)]
        shared = [deed for deed in news if deed not in kept]
        if not shared:
            return self._whisper(kept[-1])
        weighty = sorted(shared, key=lambda deed: -_WORTH.get(deed.kind, 0))[:_MOST_AT_ONCE]
        told = [deed for deed in shared if deed in weighty]
        strangers = mind.names(self._news_to(told[0], listeners))
        intro = self.voice.say("tell_intro", friends=strangers) if strangers and not self._goes_on() else ""
        words = join_words(intro, *(self.words(*group) for group in self._by_source(told)))
        return Act(verb=Verb.TELL, words=words, tells=tuple(deed.event_id for deed in told))

    def _is_worth_it(self, deed: TellableDeed) -> bool:
        """Return whether a deed is recent enough to tell."""
        age = self.mind.round - deed.round
        is_seen = deed.place == self.mind.here and deed.gist.startswith(_CAME)
        return age <= _OLDEST[_WORTH.get(deed.kind, 0)] and not is_seen

    def _has_told_enough(self) -> bool:
        """Return whether it has made its speeches since somebody came or went."""
        speeches = 0
        for heard in reversed(self.mind.recent):
            came = {*(heard.says("participants") or ())}
            is_new = not came.issuperset((self.mind.who, *self.mind.friends))
            if heard.event.event_type is EventType.LOCATION_CHANGE and is_new:
                break
            speeches += heard.source == self.mind.who and heard.verb == Verb.TELL.value
        return speeches >= _MOST_SPEECHES

    def _news_to(self, deed: TellableDeed, listeners: list[str]) -> list[str]:
        """Return the listeners who do not know of a deed."""
        return [uid for uid in listeners if deed.is_news_to(uid)]

    def _goes_on(self) -> bool:
        """Return whether its last act was telling news: then no introduction is needed."""
        mine = [heard for heard in self.mind.recent if heard.source == self.mind.who and heard.verb]
        return bool(mine) and mine[-1].verb == Verb.TELL.value

    def _keeps(self, deed: TellableDeed) -> bool:
        """Return whether it keeps a find secret: the greedy often, the careful among strangers."""
        mind = self.mind
        if deed.kind not in _PRECIOUS:
            return False
        overheard = mind.temper == "careful" and bool(mind.people)
        # The greedy must decide the same way about a find each time.
        return overheard or (mind.temper == "greedy" and sum(map(ord, deed.event_id)) % 3 > 0)

    def _whisper(self, deed: TellableDeed) -> Act | None:
        """Whisper a secret to one friend, rarely."""
        mind = self.mind
        friends = [uid for uid in self._news_to(deed, mind.able) if mind.name(uid)]
        if not friends or not mind.chance(mind.by_temper(0.4, greedy=0.12)):
            return None
        friend = mind.rng.choice(friends)
        words = self.voice.say("whisper_secret", friend=self.voice.call(friend), what=deed.gist)
        return Act(verb=Verb.WHISPER, target=friend, words=words, tells=(deed.event_id,))

    def _by_source(self, deeds: list[TellableDeed]) -> list[list[TellableDeed]]:
        """Return deeds in groups: what one person said, and what happened at one place."""
        groups: dict[tuple[str | None, str | None], list[TellableDeed]] = {}
        for deed in deeds:
            groups.setdefault((self._speaker(deed), deed.place), []).append(deed)
        return [*groups.values()]

    def _speaker(self, deed: TellableDeed) -> str | None:
        """Return the person whose words a deed reports, if the character knows a name."""
        if deed.kind is not EventType.DIALOGUE:
            return None
        return next((uid for uid in deed.about if uid.startswith("npc_") and self.mind.name(uid)), None)

    def words(self, *deeds: TellableDeed) -> str:
        """Return deeds of one person or place in the character's own words."""
        speaker = self._speaker(deeds[0])
        place = self.mind.name(deeds[0].place) if deeds[0].place is not None else None
        if speaker is not None:
            who = self.voice.call(speaker)
            what = _sentences(_said(deed.gist, who) for deed in deeds)
            return self.voice.say("tell_heard", who=who, what=what)
        if place is not None:
            what = _sentences(_done(deed.gist, place) for deed in deeds)
            return self.voice.say("tell_place", place=place, what=what)
        return self.voice.say("tell_plain", what=_sentences(deed.gist for deed in deeds))


def _sentences(gists: Iterable[str]) -> str:
    """Join gists to sentences, each once. The first stays small, and the last gets no full stop."""
    first, *others = dict.fromkeys(gists)
    return ". ".join([first, *(f"{gist[:1].upper()}{gist[1:]}" for gist in others)])


def _said(gist: str, who: str) -> str:
    """Return what somebody said, without saying again that they did."""
    asked = f"{who} asked us to "
    if gist.startswith(asked):
        return f"we should {gist.removeprefix(asked)}"
    is_said = gist.startswith((f"{who} told us", f"{who} asks for help"))
    return gist.partition(": ")[2] or gist if is_said else gist


def _done(gist: str, place: str) -> str:
    """Return what happened at a place, without saying again where."""
    gist = gist.removeprefix(f"{_CAME}{place}: ")
    return gist.removeprefix(f"at {place} ").removesuffix(f" at {place}").removesuffix(f" in {place}")
