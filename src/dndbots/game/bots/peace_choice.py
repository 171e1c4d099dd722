"""Choices outside fights: help, answer, investigate and move on."""

from collections.abc import Callable
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.bots.exploration import Explorer
from dndbots.game.bots.lore import FIXED, SHUT, hint_words, is_one_of
from dndbots.game.bots.mind import Mind
from dndbots.game.bots.news import NewsTeller
from dndbots.game.bots.reactions import Reactions
from dndbots.game.bots.spell_choice import SpellChooser
from dndbots.game.bots.travel import TravelChooser
from dndbots.game.bots.voice import BotVoice, SmallTalk, join_words
from dndbots.game.state.options import NEWS

# Accepted quests before anybody thinks of refusing one.
_ENOUGH_WORK: Final = 2
_EAGER: Final = 0.4
# Health from which everybody follows a hint without a rest before.
_RESTED: Final = 0.6
# Health below which one night is not enough.
_WEAK: Final = 0.5
# Health below which a friend's rest is welcome.
_HURT: Final = 0.9
_POTION: Final = "potion of healing"
# Attempts at a door in a row.
_ENOUGH: Final = 6
_STRONG: Final = ("fighter", "dwarf", "thief", "halfling")

Choice = Callable[[], Act | None]


class PeaceChooser:
    """A character's turn outside a fight."""

    def __init__(self, mind: Mind, voice: BotVoice) -> None:
        self.mind, self.voice = mind, voice
        self.explorer = Explorer(mind)
        self.marching = TravelChooser(mind, voice, self.explorer)
        self.retelling = NewsTeller(mind, voice)
        self.talk = SmallTalk(mind, voice)

    def act(self) -> Act:
        """Return the first choice that applies, with a remark on recent events."""
        before = Reactions(self.mind, self.voice).at_peace()
        urgent: list[Choice] = [self._help, self._cure, self._answer_offer]
        if self.mind.going:
            choices = [*urgent, self.marching.answer]
        else:
            choices = [*urgent, self._hand_over, self.retelling.tell, self._follow_lead]
            choices += [*self._business(), self.marching.wait]
            choices += [self.marching.propose] if self.mind.leads else []
        for choose in choices:
            found = choose()
            if found is not None:
                return (
                    found.model_copy(update={"words": join_words(before, found.words)}) if before else found
                )
        return Act(words=before) if before else self.talk.act()

    def _business(self) -> list[Choice]:
        """Return the choices that a place offers, in the order of this temper."""
        mind = self.mind
        people: list[Choice] = [self._approach, self._ask, self._parley]
        things: list[Choice] = [self._look, self._take, self._search, self._open]
        first = mind.temper in ("greedy", "curious") or mind.goal == "treasure"
        chat = mind.by_temper(0.12, wry=0.18, kind=0.18, careful=0.08)
        if mind.friends and mind.chance(chat / 2 if mind.leads else chat):
            return [self.talk.act]
        return [self._light, self._rest, *(things + people if first else people + things)]

    # Help.

    def _help(self) -> Act | None:
        """Help a dying friend whom nobody helps yet."""
        mind = self.mind
        for friend in mind.dying:
            if self._seen_to(friend):
                continue
            spell = SpellChooser(mind).cure()
            name = self.voice.call(friend)
            if spell is not None:
                return Act(
                    verb=Verb.CAST, what=spell, target=friend, words=self.voice.say("heal", friend=name)
                )
            return Act(verb=Verb.BIND, target=friend, words=self.voice.say("bind", friend=name))
        return None

    def _seen_to(self, friend: str) -> bool:
        """Return whether somebody helps a friend in this round."""
        helping = (Verb.BIND.value, Verb.CAST.value)
        return any(
            heard.target == friend and heard.verb in helping and heard.round == self.mind.round
            for heard in self.mind.recent
        )

    def _cure(self) -> Act | None:
        """Cast a cure on the worst wounded: spells come back with a night's rest."""
        mind, spell = self.mind, SpellChooser(self.mind).cure()
        if spell is None:
            return None
        hurt = [uid for uid in (*mind.friends, mind.who) if mind.health(uid) < 0.5 and not self._seen_to(uid)]
        if not hurt:
            return None
        worst = min(hurt, key=lambda uid: (mind.health(uid), uid))
        key, slots = ("cast_self", {"spell": spell}) if worst == mind.who else ("heal", {})
        words = self.voice.say(key, friend=self.voice.call(worst), **slots)
        return Act(verb=Verb.CAST, what=spell, target=worst, words=words)

    def _hand_over(self) -> Act | None:
        """Give a healing potion to a friend who needs it more."""
        mind = self.mind
        mine = next((item for item in mind.table.items(mind.who) if item.casefold() == _POTION), None)
        if mine is None or mind.health(mind.who) < 0.6 or mind.temper == "greedy":
            return None
        for friend in mind.able:
            if mind.health(friend) < 0.35:
                words = self.voice.say("share", what=mine)
                return Act(verb=Verb.GIVE, what=mine, target=friend, words=words)
        return None

    # Quests.

    def _answer_offer(self) -> Act | None:
        """Accept or refuse an offered quest, unless a person is here who can."""
        mind = self.mind
        if mind.is_with_people:
            return None
        for quest in mind.quests.offered:
            giver = mind.quests.giver(quest)
            if (giver is not None and giver not in mind.people) or self._is_answered(quest):
                continue
            name = mind.name(quest) or "it"
            npc = self.voice.call(giver) if giver is not None else "Everybody here"
            if mind.chance(self._reluctance()):
                words = self.voice.say("refuse", npc=npc, quest=name)
                return Act(verb=Verb.REFUSE, what=quest, target=giver, words=words)
            promise = self.voice.say("promise", npc=npc, what=f"{name}, and we do not rest until it is done")
            words = join_words(self.voice.say("accept", npc=npc, quest=name), promise)
            return Act(verb=Verb.ACCEPT, what=quest, target=giver, words=words)
        return None

    def _is_answered(self, quest: str) -> bool:
        """Return whether somebody has just answered the offer of a quest."""
        return self.mind.did(Verb.ACCEPT, Verb.REFUSE, what=quest, rounds=1)

    def _follow_lead(self) -> Act | None:
        """Do what the DM hinted at; on the way there, do nothing else."""
        mind, lead = self.mind, self.mind.lead
        worst = min(map(mind.health, (mind.who, *mind.friends)))
        if lead is None or (mind.sights.safe and worst < _RESTED):
            return None  # one should rest where one can
        if lead.place != mind.here or lead.act.verb is Verb.GO:
            return self.marching.propose() if mind.leads else None
        return self._do_here(lead.act)

    def _do_here(self, act: Act) -> Act | None:
        """Return a deed with words, if it can be done here."""
        mind, what, target = self.mind, act.what or "", act.target or ""
        if act.verb is Verb.ASK and target in mind.people:
            return self._ask_about(target, act.what or NEWS)
        if act.verb is Verb.SEARCH:
            words = self.voice.say("search")
        elif act.verb in (Verb.PARLEY, Verb.ATTACK) and target in mind.wary:
            words = self.voice.say(act.verb.value, foe=mind.name(target) or "them")
        elif act.verb in (Verb.LOOK, Verb.TAKE, Verb.OPEN) and what in (
            *mind.sights.things,
            *mind.sights.ways,
        ):
            words = self.voice.say(act.verb.value, thing=mind.sights.things.get(what, what))
        else:
            return None
        return act.model_copy(update={"words": words})

    def _reluctance(self) -> float:
        """Return the chance of a refusal: higher with many quests or wounds, low with little work."""
        mind = self.mind
        eager = _EAGER if len(mind.quests.accepted) < _ENOUGH_WORK else 1.0
        odds = mind.by_temper(0.06, careful=0.15, greedy=0.12, wry=0.1, kind=0.01, brave=0.02)
        odds += 0.1 * max(0, len(mind.quests.accepted) - 1)
        odds -= 0.05 if mind.goal in ("justice", "glory") else 0.0
        return eager * (max(odds, 0.0) + (0.1 if mind.health(mind.who) < 0.4 else 0.0))

    # Places and people.

    def _ask(self) -> Act | None:
        """Ask a person about a topic."""
        mind = self.mind
        for npc in mind.people:
            if mind.table.place(npc) is None:
                continue  # seen from afar; one has to come closer first
            topics = mind.topics_for(npc)
            in_talk = any(pending.act.target == npc for pending in mind.table.waiting)
            if not topics or (in_talk and mind.chance(0.6)) or self._has_heard_enough(npc):
                continue
            return self._ask_about(npc, topics[0])
        return None

    def _has_heard_enough(self, npc: str) -> bool:
        """Return whether a person has just had nothing new to say; the curious may try once more."""
        mind = self.mind
        answers = [heard for heard in mind.recent if heard.source == npc and heard.place == mind.here]
        dry = [heard for heard in answers[-2:] if not heard.play.get("gist")]
        return bool(dry) and not mind.chance(mind.by_temper(0.2, curious=0.5) / len(dry))

    def _ask_about(self, npc: str, topic: str) -> Act:
        """Ask a person about a topic, with a greeting at first."""
        called = self.voice.call(npc)
        met = any(who == npc for who, _ in self.mind.table.asked)
        greeting = "" if met else self.voice.say("greet", npc=called)
        key = "ask_news" if topic == NEWS else "ask"
        words = join_words(greeting, self.voice.say(key, npc=called, topic=topic))
        return Act(verb=Verb.ASK, target=npc, what=topic, words=words)

    def _approach(self) -> Act | None:
        """Walk up to a person who is in sight and not met yet."""
        mind = self.mind
        for npc in mind.people:
            seen = (mind.here, Verb.LOOK.value, npc) in mind.table.tried
            if mind.table.place(npc) is None and not seen:
                words = self.voice.say("greet", npc=self.voice.call(npc))
                return Act(verb=Verb.LOOK, what=npc, target=npc, words=words)
        return None

    def _parley(self) -> Act | None:
        """Talk to foes who stand about without fighting."""
        mind = self.mind
        talked = (mind.here, Verb.PARLEY.value, "") in mind.table.tried
        for foes in mind.wary:
            if not talked and mind.chance(mind.by_temper(0.4, kind=0.8, curious=0.7, brave=0.25)):
                words = self.voice.say("parley", foe=mind.name(foes) or "them")
                return Act(verb=Verb.PARLEY, target=foes, words=words)
        return None

    def _look(self) -> Act | None:
        """Look at a thing nobody looked at yet."""
        mind = self.mind
        for key, looks in mind.sights.things.items():
            if (mind.here, Verb.LOOK.value, key) not in mind.table.tried:
                return Act(verb=Verb.LOOK, what=key, words=self.voice.say("look", thing=looks))
        return None

    def _take(self) -> Act | None:
        """Take or open a thing that was looked at."""
        mind, tried = self.mind, self.mind.table.tried
        being_seen = {pending.act.what for pending in mind.table.waiting if pending.place == mind.here}
        for key, looks in mind.sights.things.items():
            seen = (mind.here, Verb.LOOK.value, key) in tried and key not in being_seen
            if not seen or (mind.here, Verb.TAKE.value, key) in tried:
                continue
            if is_one_of(looks, SHUT) and (mind.here, Verb.OPEN.value, key) not in tried:
                return Act(verb=Verb.OPEN, what=key, words=self.voice.say("open", thing=looks))
            wants = 1.0 if mind.temper == "greedy" or mind.goal == "treasure" else 0.8
            if mind.chance(0.04 if is_one_of(looks, FIXED) else wants):
                return Act(verb=Verb.TAKE, what=key, words=self.voice.say("take", thing=looks))
        return None

    def _search(self) -> Act | None:
        """Search a place once; the curious may come back to it."""
        mind, sights = self.mind, self.mind.sights
        if mind.did(Verb.SEARCH, rounds=6) or not self.mind.here:
            return None
        done = (mind.here, Verb.SEARCH.value, "") in mind.table.tried
        odds = mind.by_temper(0.45, curious=0.8, greedy=0.85, careful=0.6, brave=0.25, kind=0.35)
        odds += 0.15 if mind.goal in ("treasure", "knowledge") else 0.0
        odds *= 0.06 if done else 0.35 if sights.safe and mind.people else 1.0
        if not sights.safe and self.explorer.seen_it_all:
            odds = 0.25 if done else 1.0
        return Act(verb=Verb.SEARCH, words=self.voice.say("search")) if mind.chance(odds) else None

    def _open(self) -> Act | None:
        """Open a way that was shut when somebody wanted to go."""
        mind, chart = self.mind, self.explorer.chart
        for label in self.explorer.balked:
            if not chart.shut(mind.here, label) and not mind.did(Verb.OPEN, what=label):
                return Act(verb=Verb.OPEN, what=label, words=self.voice.say("open", thing=label))
        hope = 0.9 if self.explorer.tries_doors else 0.3 if self._may_open() else 0.05
        for label in mind.sights.ways:
            again = chart.shut(mind.here, label) and self.explorer.tries(label) < _ENOUGH
            if again and mind.chance(hope):
                return Act(verb=Verb.OPEN, what=label, words=self.voice.say("open", thing=label))
        return None

    def _may_open(self) -> bool:
        """Return whether another attempt has a chance: a key, strength or skill."""
        keys = any("key" in hint_words(item) for item in self.mind.table.items(self.mind.who))
        return keys or self.mind.trade in _STRONG

    def _light(self) -> Act | None:
        """Cast light in a dark place."""
        mind, spell = self.mind, SpellChooser(self.mind).light()
        if spell is None or not mind.sights.dark or mind.did(Verb.CAST, what=spell):
            return None
        words = self.voice.say("cast_self", spell=spell)
        return Act(verb=Verb.CAST, what=spell, target=mind.who, words=words)

    def _rest(self) -> Act | None:
        """Rest in a safe place if somebody needs it."""
        mind = self.mind
        worst = min(map(mind.health, (mind.who, *mind.friends)))
        if worst < _HURT and any(pending.act.verb is Verb.REST for pending in mind.table.waiting):
            return Act(verb=Verb.REST, words=self.voice.say("rest"))  # a friend lies down, and is not alone
        if not mind.sights.safe or mind.did(Verb.REST, rounds=4 if worst > _WEAK else 0):
            return None
        if worst < mind.by_temper(0.7, brave=0.5, careful=0.85, kind=0.8):
            return Act(verb=Verb.REST, words=self.voice.say("rest"))
        return None
