"""News: telling friends what they have not seen, though not always all of it."""

from typing import Final

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.voice import BotVoice, join_words
from dndbots.game.state.pieces import TellableDeed

_MOST_AT_ONCE: Final = 2
_OLDEST: Final = 120
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
        if not news:
            return None
        kept = [deed for deed in news if self._keeps(deed)]
        shared = [deed for deed in news if deed not in kept][:_MOST_AT_ONCE]
        if not shared:
            return self._whisper(kept[-1])
        strangers = mind.names(self._news_to(shared[0], listeners))
        intro = self.voice.say("tell_intro", friends=strangers) if strangers and not self._goes_on() else ""
        words = join_words(intro, *map(self.words, shared))
        return Act(verb=Verb.TELL, words=words, tells=tuple(deed.event_id for deed in shared))

    def _is_worth_it(self, deed: TellableDeed) -> bool:
        """Return whether a deed is recent enough to tell."""
        return deed.round >= self.mind.round - _OLDEST

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

    def words(self, deed: TellableDeed) -> str:
        """Return a deed in the character's own words."""
        mind = self.mind
        said_by = next((uid for uid in deed.about if uid.startswith("npc_") and mind.name(uid)), None)
        if deed.kind is EventType.DIALOGUE and said_by is not None:
            return self.voice.say("tell_heard", who=self.voice.call(said_by), what=deed.gist)
        place = mind.name(deed.place) if deed.place is not None else None
        if place is not None:
            return self.voice.say("tell_place", place=place, what=deed.gist)
        return self.voice.say("tell_plain", what=deed.gist)
