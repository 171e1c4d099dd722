"""Talk when nothing has to be done: banter, wondering, and old stories."""

from typing import Final

from dndbots.game.acts import Act
from dndbots.game.house.minds import Mind
from dndbots.game.house.voices import Voice

# What happened so many rounds ago is a story.
_OLD: Final = 15


class SmallTalk:
    """What one character says to pass the time."""

    def __init__(self, mind: Mind, voice: Voice) -> None:
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
        """What was promised and is not done: above all in front of who is waiting for it."""
        mind = self.mind
        for quest in mind.quests.accepted:
            giver = mind.quests.giver(quest)
            name, npc = mind.name(quest), mind.name(giver) if giver is not None else None
            if not (name and npc) or mind.quests.seems_done(quest):
                continue
            spoken_of = any(name in one.event.content for one in mind.recent)
            if not spoken_of and mind.chance(0.6 if giver in mind.people else 0.15):
                return self.voice.say("recall_promise", npc=npc, what=name)
        return ""

    def _mourn(self) -> str:
        mind = self.mind
        dead = [uid for uid in mind.table.facts if uid.startswith("pc_") and not mind.table.alive(uid)]
        named = [uid for uid in dead if mind.name(uid) and uid != mind.who]
        return self.voice.say("mourn", friend=self.voice.call(mind.rng.choice(named))) if named else ""

    def _remember(self) -> str:
        """An old story of somebody whom it names, or of where it was."""
        mind = self.mind
        old = [deed for deed in mind.table.deeds if deed.round <= mind.round - _OLD]
        old = [deed for deed in old if not any(deed.gist in one.event.content for one in mind.recent)]
        if not old:
            return ""
        deed = mind.rng.choice(old)
        whom = [name for name in map(mind.name, deed.about) if name and name in deed.gist]
        where = mind.name(deed.place) if deed.place is not None and deed.place != mind.here else None
        about = next(iter(whom), where)
        return self.voice.say("callback", who=about, what=deed.gist) if about else ""
