"""A character's voice: the house's phrases in the tone of its temper, and small talk."""

from collections import Counter
from typing import Final

from dndbots.events import EventType
from dndbots.game.acts import LONGEST_WORDS, Act
from dndbots.game.bots.mind import Mind
from dndbots.game.phrases import Phrasebook, house_phrases
from dndbots.game.state.scene_tags import setting_at

STRANGER: Final = "the stranger"
FRIEND: Final = "my friend"
# Rounds after which a deed is an old story.
_OLD: Final = 15
# Deeds that make no story: what is still to be done, and how far it has come.
_DULL: Final = (EventType.QUEST_UPDATE,)


class BotVoice:
    """A character's voice in one turn. It says what was said least, by anybody it heard."""

    def __init__(self, mind: Mind, book: Phrasebook | None = None) -> None:
        self.mind = mind
        self._book = book or house_phrases()
        self.used: Counter[str] = Counter()

    def say(self, key: str, **slots: str) -> str:
        """Return a phrase in the tone of this temper."""
        mind = self.mind
        said, used = self._book.say_next(
            f"{key}.{mind.temper}" if mind.temper else key,
            seed=str(mind.seed),
            used=mind.table.phrases + self.used,
            setting=setting_at(mind.table, mind.here),
            **slots,
        )
        self.used[used] += 1
        return said

    def call(self, uid: str) -> str:
        """Return what it calls somebody: the name, if it knows one."""
        return self.mind.called(uid) or (FRIEND if uid.startswith("pc_") else STRANGER)


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
        old = [
            deed
            for deed in mind.table.deeds
            if deed.round <= mind.round - _OLD
            and deed.kind not in _DULL
            and not deed.gist.startswith("we came to ")  # everybody was there, and it tells nothing
        ]
        old = [deed for deed in old if not any(deed.gist in heard.event.content for heard in mind.recent)]
        if not old:
            return ""
        deed = mind.rng.choice(old)
        whom = [name for name in map(mind.name, deed.about) if name and name in deed.gist]
        where = mind.name(deed.place) if deed.place is not None and deed.place != mind.here else None
        about = next(iter(whom), where)
        if not about:
            return ""
        said = deed.gist.partition(": ")[2] if deed.gist.startswith(f"{about} told us") else ""
        what = deed.gist.replace(f"{about} asked us to ", "we were asked to ", 1)
        return self.voice.say("callback_said" if said else "callback", who=about, what=said or what)
