"""Travel: proposing a way, following, turning off, and waiting for others."""

from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.bots.exploration import Course, Explorer
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.reactions import opinion
from dndbots.game.bots.voice import BotVoice, SmallTalk, join_words

# Rounds before the party may part.
_TOGETHER: Final = 4
# Chance to idle instead of wandering.
_IDLES: Final = 0.3


class TravelChooser:
    """A character's choices about where to go."""

    def __init__(self, mind: Mind, voice: BotVoice, explorer: Explorer) -> None:
        self.mind, self.voice, self.explorer = mind, voice, explorer

    def wait(self) -> Act | None:
        """Wait a little where the party parted."""
        if not self.explorer.waits():
            return None
        missing = self.mind.names(self.mind.apart)
        words = self.voice.say("stay") if not missing else self.voice.say("await", friends=missing)
        return Act(verb=Verb.STAY, words=words)

    def propose(self) -> Act | None:
        """Propose a way; the first to speak does so for everybody who comes along."""
        if not self.mind.can("moves"):
            return None
        course = self.explorer.course()
        if course is not None and course.why != "home" and self.mind.is_waited_for:
            return None
        if course is None or (course.why == "wander" and self.mind.friends and self.mind.chance(_IDLES)):
            return None
        return self._go(course)

    def _go(self, course: Course) -> Act:
        key = "plan" if self.mind.friends and self.mind.chance(0.15) else "go"
        return Act(verb=Verb.GO, what=course.way, words=self.voice.say(key, way=course.way))

    def answer(self) -> Act | None:
        """Follow the leader, as a rule. Sometimes a character prefers another way and the party parts."""
        mind = self.mind
        leader, act = next(iter(mind.going.items()))
        if self._stays():
            return Act(verb=Verb.STAY, words=self.voice.say("stay"))
        ways = {went.what: uid for uid, went in reversed(mind.going.items()) if went.what}
        if len(ways) > 1:
            return self._side(ways)
        way = str(act.what)
        other = self._better(way, leader)
        if other is not None:
            return self._part(other, way, leader)
        return self._follow(way, leader)

    def _follow(self, way: str, leader: str) -> Act:
        """Come along, with few words on a way that it knows; or talk of something else on the way."""
        mind = self.mind
        is_known = way in mind.table.ways.get(mind.here, {})
        if mind.chance(0.6 if is_known else 0.4):
            return SmallTalk(mind, self.voice).act()
        if is_known:
            return Act(verb=Verb.GO, what=way, words=self.voice.say("nod", leader=self.voice.call(leader)))
        if mind.chance(0.1 - 0.03 * opinion(mind, leader)):
            return Act(verb=Verb.GO, what=way, words=self.voice.say("grumble", way=way))
        return self._agree(way, leader)

    def _stays(self) -> bool:
        """Return whether it is in no state to travel."""
        mind = self.mind
        rests = mind.health(mind.who) < 0.25 and mind.sights.safe
        return not mind.can("moves") or (rests and mind.chance(mind.by_temper(0.4, brave=0.1)))

    def _agree(self, way: str, leader: str) -> Act:
        words = self.voice.say("agree", way=way, leader=self.voice.call(leader))
        return Act(verb=Verb.GO, what=way, words=words)

    def _part(self, way: str, other: str, leader: str) -> Act:
        """Take another way, with a farewell at times."""
        words = self.voice.say("disagree", way=way, other=other, leader=self.voice.call(leader))
        farewell = ""
        if self.mind.name(leader) and self.mind.chance(0.4):
            farewell = self.voice.say("part", friend=self.voice.call(leader))
        return Act(verb=Verb.GO, what=way, words=join_words(words, farewell))

    def _side(self, ways: dict[str, str]) -> Act:
        """Choose a side when the party already parts."""
        mind = self.mind
        drawn = {
            way: self.explorer.weighed(way).score + 0.7 * opinion(mind, uid) for way, uid in ways.items()
        }
        way = max(drawn, key=lambda way_label: (drawn[way_label], way_label))
        return self._agree(way, ways[way])

    def _better(self, way: str, leader: str) -> str | None:
        """Return a way it prefers, if this is no time to stay together."""
        mind = self.mind
        is_early = mind.round - mind.table.since < _TOGETHER
        if mind.apart or mind.dying or mind.lead is not None or len(mind.sights.ways) < 2 or is_early:
            return None
        if mind.health(mind.who) < 0.5 and mind.temper != "careful":
            return None
        odds = mind.by_temper(
            0.024, brave=0.038, curious=0.045, greedy=0.038, wry=0.024, kind=0.012, careful=0.016
        )
        odds += 0.005 if mind.goal in ("glory", "knowledge", "treasure") else -0.003
        odds -= 0.004 * opinion(mind, leader)
        if len(mind.able) < 2:
            odds /= 3
        if not mind.chance(odds):
            return None
        fresh = [label for label in self.explorer.chart.new(mind.here) if label in self.explorer.open_ways()]
        others = [label for label in fresh or self.explorer.open_ways() if label != way]
        if not others:
            return None
        return max(map(self.explorer.weighed, others), key=lambda course: course.score).way
