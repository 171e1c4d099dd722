"""Telling the others what they have not seen: only what is news to them, and not always all of it."""

from typing import Final

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.house.minds import Mind
from dndbots.game.house.voices import Voice, joined
from dndbots.game.pieces import Deed

_MOST_AT_ONCE: Final = 2
_OLDEST: Final = 120
# What one might rather keep to oneself.
_PRECIOUS: Final = (EventType.LOOT, EventType.DISCOVERY)


class Retelling:
    """One character's news."""

    def __init__(self, mind: Mind, voice: Voice) -> None:
        self.mind, self.voice = mind, voice

    def tell(self) -> Act | None:
        """News for those who are here: told to all, whispered to one, or kept."""
        mind = self.mind
        listeners = mind.able
        news = [
            deed for deed in mind.table.deeds if self._is_worth_it(deed) and self._news_to(deed, listeners)
        ]
        if not news:
            return None
        kept = [deed for deed in news if self._keeps(deed)]
        shared = [deed for deed in news if deed not in kept][:_MOST_AT_ONCE]
        if not shared:
            return self._whisper(kept[-1])
        strangers = mind.names(self._news_to(shared[0], listeners))
        intro = self.voice.say("tell_intro", friends=strangers) if strangers and not self._goes_on() else ""
        words = joined(intro, *map(self.words, shared))
        return Act(verb=Verb.TELL, words=words, tells=tuple(deed.event_id for deed in shared))

    def _is_worth_it(self, deed: Deed) -> bool:
        return deed.round >= self.mind.round - _OLDEST

    def _news_to(self, deed: Deed, listeners: list[str]) -> list[str]:
        return [uid for uid in listeners if deed.is_news_to(uid)]

    def _goes_on(self) -> bool:
        """Whether it is in the middle of telling: then it needs no introduction."""
        mine = [one for one in self.mind.recent if one.source == self.mind.who and one.verb]
        return bool(mine) and mine[-1].verb == Verb.TELL.value

    def _keeps(self, deed: Deed) -> bool:
        """What is precious is a secret of the greedy; the careful keep it from the ears of strangers."""
        mind = self.mind
        if deed.kind not in _PRECIOUS:
            return False
        overheard = mind.temper == "careful" and bool(mind.people)
        # Which of its finds a greedy one keeps must be the same each time it thinks of them.
        return overheard or (mind.temper == "greedy" and sum(map(ord, deed.event_id)) % 3 > 0)

    def _whisper(self, deed: Deed) -> Act | None:
        """A secret may go to one friend, once in a while."""
        mind = self.mind
        friends = [uid for uid in self._news_to(deed, mind.able) if mind.name(uid)]
        if not friends or not mind.chance(mind.by_temper(0.4, greedy=0.12)):
            return None
        friend = mind.rng.choice(friends)
        words = self.voice.say("whisper_secret", friend=self.voice.call(friend), what=deed.gist)
        return Act(verb=Verb.WHISPER, target=friend, words=words, tells=(deed.event_id,))

    def words(self, deed: Deed) -> str:
        """A deed in this character's own words."""
        mind = self.mind
        said_by = next((uid for uid in deed.about if uid.startswith("npc_") and mind.name(uid)), None)
        if deed.kind is EventType.DIALOGUE and said_by is not None:
            return self.voice.say("tell_heard", who=self.voice.call(said_by), what=deed.gist)
        place = mind.name(deed.place) if deed.place is not None else None
        if place is not None:
            return self.voice.say("tell_place", place=place, what=deed.gist)
        return self.voice.say("tell_plain", what=deed.gist)
