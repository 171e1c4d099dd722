"""What a character does in a fight: whom to strike, whom to help, when to talk, and when to run."""

from functools import cached_property

from dndbots.game.acts import Act, Verb
from dndbots.game.house.bestiary import level_of, one_of, talks
from dndbots.game.house.casting import Casting
from dndbots.game.house.exploring import Explorer
from dndbots.game.house.minds import Mind
from dndbots.game.house.reacting import Reactions
from dndbots.game.house.voices import Voice, joined
from dndbots.game.pieces import Fight


class Fighter:
    """One character's turn in a fight."""

    def __init__(self, mind: Mind, fight: Fight, voice: Voice) -> None:
        self.mind, self.fight, self.voice = mind, fight, voice
        self.foes = fight.standing

    def act(self) -> Act:
        for choose in (self._help, self._flee, self._parley, self._cast):
            found = choose()
            if found is not None:
                return found
        return self._attack()

    # How it stands.

    @cached_property
    def _danger(self) -> float:
        """How strong the foes are for those who still stand: above 1 is more than they can take."""
        mind = self.mind
        theirs = sum(group.able * (0.7 + level_of(group)) for group in self.foes.values())
        us = [mind.who, *mind.able]
        ours = sum((1.2 + mind.level(uid)) * (0.3 + 0.7 * mind.health(uid)) for uid in us)
        return theirs / max(ours * 1.5, 0.1)

    def _others_did(self, verb: Verb, target: str | None = None) -> bool:
        """Whether a friend does that in this very round."""
        return any(
            one.verb == verb.value
            and one.round == self.mind.round
            and one.source in self.mind.friends
            and target in (None, one.target)
            for one in self.mind.recent
        )

    # What to do.

    def _help(self) -> Act | None:
        """A friend who lies dying, if nobody sees to them yet."""
        mind = self.mind
        for friend in mind.dying:
            if self._others_did(Verb.BIND, friend) or self._others_did(Verb.CAST, friend):
                continue
            spell = Casting(mind).cure()
            if spell is not None:
                words = joined(self._word(), self.voice.say("heal", friend=self.voice.call(friend)))
                return Act(verb=Verb.CAST, what=spell, target=friend, words=words)
            if mind.chance(mind.by_temper(0.55, kind=0.95, careful=0.65, brave=0.4, greedy=0.35)):
                words = joined(self._word(), self.voice.say("bind", friend=self.voice.call(friend)))
                return Act(verb=Verb.BIND, target=friend, words=words)
        return None

    def _flee(self) -> Act | None:
        mind = self.mind
        ways = Explorer(mind).open_ways()
        bear = mind.by_temper(1.9, brave=3.0, careful=1.4, kind=2.2, greedy=1.6, wry=1.7)
        if mind.dying:
            bear *= mind.by_temper(1.3, kind=2.0, greedy=1.0)
        if self._others_did(Verb.FLEE):
            bear *= 0.6
        scared = mind.health(mind.who) < mind.by_temper(0.3, brave=0.15, careful=0.4)
        if not ways or not mind.can("moves") or self._danger <= bear * (0.7 if scared else 1.0):
            return None
        known = mind.table.ways.get(mind.here, {})
        visited = [way for way in ways if way in known]
        words = joined(self._word(), self.voice.say("flee", foe=self._foe_name(self._most())))
        return Act(verb=Verb.FLEE, what=mind.rng.choice(visited or ways), words=words)

    def _parley(self) -> Act | None:
        """Words first, with those who have words; but only once, and not over a friend's body."""
        mind = self.mind
        talked = (mind.here, Verb.PARLEY.value, "") in mind.table.tried or mind.did(Verb.PARLEY, rounds=9)
        if talked or mind.dying or mind.round > self.fight.since + 1:
            return None
        odds = mind.by_temper(0.25, kind=0.6, careful=0.4, curious=0.35, wry=0.3, greedy=0.3, brave=0.08)
        odds += 0.15 if mind.goal == "company" else -0.1 if mind.goal == "glory" else 0.0
        for uid, group in self.foes.items():
            if talks(group) and mind.chance(odds + 0.2 * (self._danger > 1.2)):
                words = joined(self._word(), self.voice.say("parley", foe=group.name))
                return Act(verb=Verb.PARLEY, target=uid, words=words)
        return None

    def _cast(self) -> Act | None:
        cast = Casting(self.mind).in_fight(self.fight, danger=self._danger)
        if cast is None:
            return None
        mine = cast.target in (None, self.mind.who)
        target = "" if mine else self._called(str(cast.target))
        words = self.voice.say("cast_self" if mine else "cast", spell=cast.spell, target=target)
        return Act(verb=Verb.CAST, what=cast.spell, target=cast.target, words=joined(self._word(), words))

    def _attack(self) -> Act:
        uid = self._target()
        group = self.foes[uid]
        last = len(self.foes) == 1 and group.able == 1
        words = self.voice.say("attack_last" if last else "attack", foe=one_of(group))
        return Act(verb=Verb.ATTACK, target=uid, words=joined(self._word(), words))

    def _target(self) -> str:
        """Finish what is nearly done; the brave take the strongest, the careful the weakest."""
        mind = self.mind
        struck = {one.target for one in mind.recent if one.verb == Verb.ATTACK.value}

        def worth(uid: str) -> tuple[float, str]:
            group = self.foes[uid]
            score = 3.0 / group.able + (1.0 if uid in struck else 0.0)
            score += mind.by_temper(0.0, brave=0.5, careful=-0.4, kind=-0.1) * level_of(group)
            return score + 0.3 * mind.rng.random(), uid

        return max(map(worth, self.foes))[1]

    # What to say.

    def _word(self) -> str:
        """A word on what just happened, now and then."""
        return Reactions(self.mind, self.voice).in_fight()

    def _most(self) -> str:
        return max(self.foes, key=lambda uid: (self.foes[uid].able, uid))

    def _foe_name(self, uid: str) -> str:
        return self.foes[uid].name

    def _called(self, uid: str) -> str:
        return self.foes[uid].name if uid in self.foes else self.voice.call(uid)
