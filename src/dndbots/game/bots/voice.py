"""A character's voice: the house's phrases in the tone of its temper, and small talk."""

from typing import Final

from dndbots.game.acts import LONGEST_WORDS, Act
from dndbots.game.bots.mind import Mind
from dndbots.game.phrases import Phrasebook, Pick, house_phrases

STRANGER: Final = "the stranger"
FRIEND: Final = "my friend"
_TRIES: Final = 4
# Rounds after which a deed is an old story.
_OLD: Final = 15


class BotVoice:
    """A character's voice in one turn. It avoids what was said recently."""

    def __init__(self, mind: Mind, book: Phrasebook | None = None) -> None:
        self.mind = mind
        self._book = book or house_phrases()
        self._heard = {heard.event.content for heard in mind.recent}

    def say(self, key: str, **slots: str) -> str:
        """Return a phrase in the tone of this temper."""
        mind = self.mind
        count = mind.rng.randrange(1_000)
        said = ""
        for again in range(_TRIES):
            pick = Pick(f"{mind.seed}/{mind.who}", count + again)
            said = self._book.say(f"{key}.{mind.temper}" if mind.temper else key, pick=pick, **slots)
            if not any(said in heard for heard in self._heard):
                break
        return said

    def call(self, uid: str) -> str:
        """Return what it calls somebody: the name, if it knows one."""
        return self.mind.name(uid) or (FRIEND if uid.startswith("pc_") else STRANGER)


def join_words(*parts: str) -> str:
    """Join parts of a speech, within the length limit."""
    return " ".join(part for part in parts if part)[:LONGEST_WORDS]


class SmallTalk:
    """Talk to pass the time: banter, wondering and old stories."""

    def __init__(self, mind: Mind, voice: BotVoice) -> None:
        self.mind, self.voice = mind, voice

    def act(self) -> Act:
        return Act(words=self._words())

    def _words(self) -> str:
        mind = self.mind
        for odds, choose in (
            (0.4, self._promise),
            (0.15, self._mourn),
            (0.15, self._remember),
            (0.2, self._wonder),
            (0.75, self._banter),
        ):
            said = choose() if mind.chance(odds) else ""
            if said:
                return said
        return self.voice.say("idle")

    def _banter(self) -> str:
        named = [uid for uid in self.mind.able if self.mind.name(uid)]
        return self.voice.say("banter", friend=self.voice.call(self.mind.rng.choice(named))) if named else ""

    def _wonder(self) -> str:
        topics = list(self.mind.table.topics)[-6:]
        return self.voice.say("wonder", topic=self.mind.rng.choice(topics)) if topics else ""

    def _promise(self) -> str:
        """Mention an open promise, preferably in front of the person who waits for it."""
        mind = self.mind
        for quest in mind.quests.accepted:
            giver = mind.quests.giver(quest)
            name, npc = mind.name(quest), mind.name(giver) if giver is not None else None
            if not (name and npc) or mind.quests.seems_done(quest):
                continue
            spoken_of = any(name in heard.event.content for heard in mind.recent)
            if not spoken_of and mind.chance(0.6 if giver in mind.people else 0.15):
                return self.voice.say("recall_promise", npc=npc, what=name)
        return ""

    def _mourn(self) -> str:
        """Mourn a dead friend."""
        mind = self.mind
        dead = [uid for uid in mind.table.facts if uid.startswith("pc_") and not mind.table.alive(uid)]
        named = [uid for uid in dead if mind.name(uid) and uid != mind.who]
        return self.voice.say("mourn", friend=self.voice.call(mind.rng.choice(named))) if named else ""

    def _remember(self) -> str:
        """Tell an old story about a person or a place that it names."""
        mind = self.mind
        old = [deed for deed in mind.table.deeds if deed.round <= mind.round - _OLD]
        old = [deed for deed in old if not any(deed.gist in heard.event.content for heard in mind.recent)]
        if not old:
            return ""
        deed = mind.rng.choice(old)
        whom = [name for name in map(mind.name, deed.about) if name and name in deed.gist]
        where = mind.name(deed.place) if deed.place is not None and deed.place != mind.here else None
        about = next(iter(whom), where)
        return self.voice.say("callback", who=about, what=deed.gist) if about else ""
