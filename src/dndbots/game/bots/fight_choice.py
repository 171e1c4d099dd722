"""Choices in a fight: help, flee, talk, cast or strike."""

from functools import cached_property

from dndbots.game.acts import Act, Verb
from dndbots.game.bots.exploration import Explorer
from dndbots.game.bots.lore import can_talk, level_of
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.reactions import Reactions
from dndbots.game.bots.spell_choice import SpellChooser
from dndbots.game.bots.voice import BotVoice, join_words
from dndbots.game.state.pieces import Fight


class FightChooser:
    """A character's turn in a fight."""

    def __init__(self, mind: Mind, fight: Fight, voice: BotVoice) -> None:
        self.mind, self.fight, self.voice = mind, fight, voice
        self.foes = fight.standing

    def act(self) -> Act:
        """Return the first choice that applies; strike if none does."""
        for choose in (self._help, self._flee, self._parley, self._cast, self._give_up):
            found = choose()
            if found is not None:
                return found
        return self._attack()

    # The odds.

    @cached_property
    def _danger(self) -> float:
        """Strength of the foes against the characters who still stand; above 1 they are stronger."""
        mind = self.mind
        theirs = sum(group.able * (0.7 + level_of(group)) for group in self.foes.values())
        us = [mind.who, *mind.able]
        ours = sum((1.2 + mind.level(uid)) * (0.3 + 0.7 * mind.health(uid)) for uid in us)
        return theirs / max(ours * 1.5, 0.1)

    def _others_did(self, verb: Verb, target: str | None = None) -> bool:
        """Return whether a friend does this in the same round."""
        return any(
            heard.verb == verb.value
            and heard.round == self.mind.round
            and heard.source in self.mind.friends
            and target in (None, heard.target)
            for heard in self.mind.recent
        )

    # Choices.

    def _help(self) -> Act | None:
        """Help a dying friend whom nobody helps yet."""
        mind = self.mind
        for friend in mind.dying:
            if self._others_did(Verb.BIND, friend) or self._others_did(Verb.CAST, friend):
                continue
            spell = SpellChooser(mind).cure()
            if spell is not None:
                words = join_words(self._word(), self.voice.say("heal", friend=self.voice.call(friend)))
                return Act(verb=Verb.CAST, what=spell, target=friend, words=words)
            if mind.chance(mind.by_temper(0.55, kind=0.95, careful=0.65, brave=0.4, greedy=0.35)):
                words = join_words(self._word(), self.voice.say("bind", friend=self.voice.call(friend)))
                return Act(verb=Verb.BIND, target=friend, words=words)
        return None

    def _flee(self) -> Act | None:
        """Flee if the danger is more than this temper bears."""
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
        return self._run(ways, "flee")

    def _give_up(self) -> Act | None:
        """Run from foes whom no blow has harmed."""
        ways = Explorer(self.mind).open_ways()
        if not ways or not self.mind.can("moves") or not all(map(self.mind.is_unharmed, self.foes)):
            return None
        return self._run(ways, "flee_unharmed")

    def _run(self, ways: list[str], rule: str) -> Act:
        """Run by a way, preferably a known one."""
        mind = self.mind
        visited = [way for way in ways if way in mind.table.ways.get(mind.here, {})]
        words = join_words(self._word(), self.voice.say(rule, foe=self._foe_name(self._most())))
        return Act(verb=Verb.FLEE, what=mind.rng.choice(visited or ways), words=words)

    def _parley(self) -> Act | None:
        """Talk once to foes who can, early in the fight and with no friend dying."""
        mind = self.mind
        talked = (mind.here, Verb.PARLEY.value, "") in mind.table.tried or mind.did(Verb.PARLEY, rounds=9)
        if talked or mind.dying or mind.round > self.fight.since + 1:
            return None
        odds = mind.by_temper(0.25, kind=0.6, careful=0.4, curious=0.35, wry=0.3, greedy=0.3, brave=0.08)
        odds += 0.15 if mind.goal == "company" else -0.1 if mind.goal == "glory" else 0.0
        for uid, group in self.foes.items():
            if can_talk(group) and mind.chance(odds + 0.2 * (self._danger > 1.2)):
                words = join_words(self._word(), self.voice.say("parley", foe=group.name))
                return Act(verb=Verb.PARLEY, target=uid, words=words)
        return None

    def _cast(self) -> Act | None:
        """Cast a spell if one is worth it."""
        cast = SpellChooser(self.mind).in_fight(self.fight, danger=self._danger)
        if cast is None:
            return None
        mine = cast.target in (None, self.mind.who)
        target = "" if mine else self._called(str(cast.target))
        words = self.voice.say("cast_self" if mine else "cast", spell=cast.spell, target=target)
        return Act(verb=Verb.CAST, what=cast.spell, target=cast.target, words=join_words(self._word(), words))

    def _attack(self) -> Act:
        """Strike a foe."""
        uid = self._target()
        group = self.foes[uid]
        last = len(self.foes) == 1 and group.able == 1
        words = self.voice.say("attack_last" if last else "attack", foe=group.one)
        return Act(verb=Verb.ATTACK, target=uid, words=join_words(self._word(), words))

    def _target(self) -> str:
        """Choose a group: nearly beaten ones first; the brave prefer strong ones, the careful weak ones."""
        mind = self.mind
        struck = {heard.target for heard in mind.recent if heard.verb == Verb.ATTACK.value}

        def worth(uid: str) -> tuple[float, str]:
            group = self.foes[uid]
            score = 3.0 / group.able + (1.0 if uid in struck else 0.0)
            score += mind.by_temper(0.0, brave=0.5, careful=-0.4, kind=-0.1) * level_of(group)
            return score + 0.3 * mind.rng.random(), uid

        return max(map(worth, self.foes))[1]

    # Words.

    def _word(self) -> str:
        """Return a remark on recent events, now and then."""
        return Reactions(self.mind, self.voice).in_fight()

    def _most(self) -> str:
        """Return the largest group."""
        return max(self.foes, key=lambda uid: (self.foes[uid].able, uid))

    def _foe_name(self, uid: str) -> str:
        return self.foes[uid].name

    def _called(self, uid: str) -> str:
        return self.foes[uid].name if uid in self.foes else self.voice.call(uid)
