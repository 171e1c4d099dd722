"""Answers of a person to a question, be it a player's line, a house bot's or a model's.

People answer from the module (what they know, their own lives, their quests, their neighbors) and from what
they perceived. `find_answer` decides what is said; `talk` lets them say it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from dndbots.canon.states import REFUSED
from dndbots.game.adventures.conditions import normalize_topic
from dndbots.game.adventures.module import ModuleQuest, Person, Saying
from dndbots.game.state.options import NEWS
from dndbots.game.world.lore.local_lore import BY_WORD, LocalLore
from dndbots.game.world.lore.neighbors import Neighbors
from dndbots.game.world.lore.question_words import (
    KIN_STEMS,
    QUESTION_FIRST,
    all_stems,
    question_stems,
    with_synonyms,
    with_workers,
)
from dndbots.game.world.lore.questions import FIRM, Facet, read_facets
from dndbots.game.world.narration import (
    Narration,
    as_sentence,
    join_texts,
    to_the_party,
    with_article,
)
from dndbots.game.world.shared_knowledge import knowledge_at
from dndbots.game.world.world_state import beat
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.numbers import spell_number
from dndbots.text.sentences import split_sentences
from dndbots.text.word_forms import without_article
from dndbots.text.words import words_of

AnswerKind = Literal["saying", "life", "neighbor", "quest", "memory", "unwilling", "unknown"]
_RAISED: Final = 0.6  # weight of a topic that a saying only brings up
_PAYING: Final = frozenset(all_stems("pay gold coin coins silver purse jar room eat pot brooch have give"))
_COINS: Final = frozenset(all_stems("copper gold silver coin coins"))
_OFFERED: Final = "offered"
_SHORT: Final = 3  # words of a topic that is repeated
_ENOUGH: Final = 3  # one word in so many has to agree
_PLAIN: Final = (Facet.SELLS, Facet.MOOD, Facet.PAST, Facet.EXCUSE)
_PRONOUNS: Final = frozenset(("she", "her", "hers", "he", "him", "his", "they", "them", "it"))
_PLEASANTRIES: Final = (Facet.GREETING, Facet.THANKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NpcAnswer:
    """Words of a person: a `saying` of the module, or others. `offers` is a quest to be offered now."""

    kind: AnswerKind
    text: str = ""
    saying: Saying | None = None
    heard: bool = False
    topic: str = ""
    offers: ModuleQuest | None = None


class NpcKnowledge:
    """A person who is asked something by some characters."""

    def __init__(self, narration: Narration, person: Person, askers: Sequence[str]) -> None:
        self._narration, self._person, self._askers = narration, person, askers
        self._world, self._atlas = narration.world, narration.atlas
        self._module = narration.atlas.module
        self._lore: LocalLore = narration.atlas.lore
        self._place = narration.step.table.place(askers[0]) or ""
        self._neighbors = Neighbors(narration, person, self._place)

    def answer(self, question: str) -> NpcAnswer:
        """Return the answer to a question in any words."""
        topic = normalize_topic(question)
        again = self._again() if topic == NEWS else None
        if again is not None:
            return again
        known = [saying for saying in self._open if _is_about(saying, topic)]
        if known:
            return self._tell(known, topic)
        if topic == NEWS:
            return self._news()
        facets, stems = read_facets(question), frozenset(question_stems(question))
        wide = with_synonyms(all_stems(question))
        stems = stems or all_stems(question)  # "who knows about the lady?" has no other words
        firm = [facet for facet in facets if facet in FIRM]
        loose = [facet for facet in facets if facet not in FIRM]
        subject = self._subject(question, stems)
        for found in (
            *(self._facet(facet, stems) for facet in firm[:2]),
            self._located(facets, stems),
            None if Facet.WHO in facets else self._by_life(wide if "your" in words_of(question) else stems),
            self._by_detail(stems, subject),
            self._by_topic(stems, subject, least=BY_WORD),
            *(self._facet(facet, stems) for facet in loose),
            self._neighbor(stems, wide),
            self._by_topic(stems, subject),
            self._by_words(stems, subject),
            self._by_life_words(wide, stems),
            self._by_topic(wide, subject),
            self._by_pronoun(question),
        ):
            if found is None:
                continue
            # Who has said all they know names somebody else, if that is what they are asked for.
            other = self._refer(stems) if found.heard and Facet.WHOM_TO_ASK in facets else None
            return other or found
        return self._unknown(wide, subject)

    # What the module lets them say.

    @property
    def _open(self) -> list[Saying]:
        """The sayings whose conditions hold and that are not used up."""
        known = knowledge_at(self._narration, self._place)
        spent = self._world.has_beat
        return [
            saying
            for saying in self._person.knows
            if known.holds(saying.when) and not (saying.once and spent("said", self._person.key, saying.key))
        ]

    def _is_heard(self, saying: Saying) -> bool:
        """Return whether everybody who asks has heard the saying."""
        told = beat("said", self._person.key, saying.key)
        return all(told in self._narration.step.of(who).beats for who in self._askers)

    def _tell(self, sayings: Sequence[Saying], topic: str) -> NpcAnswer:
        """Return the first saying that they trust the askers with; those not yet heard first."""
        trust = self._world.trust(self._person)
        trusted = [saying for saying in sayings if saying.needs <= trust]
        if not trusted:
            return NpcAnswer(kind="unwilling", topic=topic)
        # Who tells the truth about something does not lie about it afterward.
        best = [saying for saying in trusted if not saying.lie] or trusted
        chosen = next((saying for saying in best if not self._is_heard(saying)), best[0])
        return NpcAnswer(
            kind="saying", text=chosen.says, saying=chosen, heard=self._is_heard(chosen), topic=topic
        )

    def _news(self) -> NpcAnswer:
        """Return the news; then whatever they have not told yet, as far as they trust the askers."""
        trust = self._world.trust(self._person)
        told = [saying for saying in self._open if NEWS in saying.about]
        fresh = [
            saying for saying in (*told, *self._open) if saying.needs <= trust and not self._is_heard(saying)
        ]
        for saying in (*fresh[:1], *told[:1]):
            return self._of_itself(saying)
        return NpcAnswer(kind="unknown", topic=NEWS)

    def _by_topic(self, stems: frozenset[str], subject: str, *, least: float = 0.0) -> NpcAnswer | None:
        """Return what they say about a topic that the question speaks of, by name or by other words."""
        ranked = [(self._strength(saying, stems), number, saying) for number, saying in enumerate(self._open)]
        best = max((strength for strength, _, _ in ranked), default=0.0)
        if not best or best < least:
            return None
        # Words of the saying itself count too: of several things known about a topic, one is asked for.
        about = [
            (strength + _overlap(saying, stems) / 2, -number, saying)
            for strength, number, saying in ranked
            if strength > best - 1
        ]
        about.sort(key=lambda found: (-found[0], -found[1]))
        top, _, first = about[0]
        subjects = {*first.about} - {NEWS}
        meant = [
            saying for score, _, saying in about if score == top or not subjects.isdisjoint(saying.about)
        ]
        answer = self._tell(meant, subject)
        # Who keeps a secret about a neighbor may still say who that is.
        return (self._neighbor(stems, stems) or answer) if answer.kind == "unwilling" else answer

    def _by_detail(self, stems: frozenset[str], subject: str) -> NpcAnswer | None:
        """Return the one thing they say that has the detail which a question asks for, beside its topics."""
        asked = self._lore.beyond_topics(stems)
        if not asked or asked == stems:
            return None
        trust = self._world.trust(self._person)
        having = [saying for saying in self._open if saying.needs <= trust and all_stems(saying.says) & asked]
        if len(having) != 1 or 2 * _overlap(having[0], asked) < len(asked):
            return None
        # What they say truly about the same comes before a lie.
        subjects = {*having[0].about} - {NEWS}
        true = [saying for saying in self._open if not saying.lie and not subjects.isdisjoint(saying.about)]
        return self._tell([*true, *having] if having[0].lie else having, subject)

    def _strength(self, saying: Saying, stems: frozenset[str]) -> float:
        """Return how strongly words speak of what a saying is about, or at least of what it brings up."""
        about = max(self._lore.topic_strength(topic, stems) for topic in saying.about)
        raised = max((self._lore.topic_strength(topic, stems) for topic in saying.topics), default=0.0)
        return max(about, _RAISED * raised)

    def _by_words(self, stems: frozenset[str], subject: str) -> NpcAnswer | None:
        """Return the saying that shares most words with the question, if it shares enough."""
        shared = {saying.key: _overlap(saying, stems) for saying in self._open}
        most = max(shared.values(), default=0)
        if not most or _ENOUGH * most < len(stems):
            return None
        return self._tell([saying for saying in self._open if shared[saying.key] == most], subject)

    def _by_pronoun(self, question: str) -> NpcAnswer | None:
        """Return more of what they spoke of before, if the question says "she" or "it" and names nothing."""
        if _PRONOUNS.isdisjoint(words_of(question)):
            return None
        heard = [saying for saying in self._open if self._is_heard(saying)]
        spoken = {topic for saying in heard for topic in (*saying.about, *saying.topics)} - {NEWS}
        more = [saying for saying in self._open if not spoken.isdisjoint(saying.about)]
        return self._tell(more, "") if more else None

    # Their own life.

    def _by_life(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return their own words on a topic of their life that is none of the usual ones."""
        usual = {facet.value for facet in Facet}
        life = self._person.life.items()
        asked = {key: self._lore.topic_strength(key, stems) for key, _ in life if key not in usual}
        best = max(asked, key=lambda key: asked[key], default="")
        if not best or not asked[best]:
            return None
        return NpcAnswer(kind="life", text=self._person.life[best], topic=best.replace("_", " "))

    def _by_life_words(self, wide: frozenset[str], stems: frozenset[str]) -> NpcAnswer | None:
        """Return their words on their life, or to greet people, that share enough with the question."""
        texts = (*self._person.life.values(), *self._person.greets)
        shared = {text: len(all_stems(text) & wide) for text in texts}
        best = max(shared, key=lambda text: shared[text], default="")
        if not best or not shared[best] or _ENOUGH * shared[best] < len(stems):
            return None
        return NpcAnswer(kind="life", text=best)

    def _kin_of(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return their words on a relative whom the question names, unless the adventure knows more."""
        family = self._person.life.get(Facet.FAMILY.value, "")
        neighbors = [self._module.people[key].name for key in self._lore.people_in(stems)]
        named = all_stems(family) & stems & KIN_STEMS.union(*map(all_stems, neighbors))
        if not named or self._by_topic(named & KIN_STEMS, "", least=BY_WORD) is not None:
            return None
        return NpcAnswer(kind="life", text=family, topic=Facet.FAMILY.value)

    def _keeper(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return who lives at a place or does some work."""
        place = self._lore.place_in(stems)
        by_work = [self._module.people[key] for key in self._lore.people_in(with_workers(stems))]
        keeper = None if place is None else self._lore.keeper_of(place.key)
        for other in (keeper, *by_work):
            if other is not None and other.key == self._person.key:
                return self._facet(Facet.SELF, stems)
            if other is not None and (told := self._neighbors.introduce(other)):
                return NpcAnswer(kind="neighbor", text=told, topic=other.name)
        return None

    def _ruler(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return who has the say in the neighborhood, be it themselves."""
        ruler = self._lore.ruler
        if ruler is None or ruler.key == self._person.key:
            return self._facet(Facet.SELF, stems) if ruler is not None else None
        told = self._neighbors.introduce(ruler)
        return NpcAnswer(kind="neighbor", text=told, topic=ruler.name) if told else None

    def _price(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return what their wares cost, or who sells what is asked for. A tithe is no ware."""
        wares = " ".join((*self._person.wares, self._person.life.get(Facet.SELLS.value, "")))
        known = self._by_topic(stems, "", least=BY_WORD)
        if known is not None and not self._lore.sells(wares, stems):
            return self._by_life(stems) or known
        if told := self._neighbors.seller_of(stems):
            return NpcAnswer(kind="neighbor", text=told)
        greeted = (one for greeting in self._person.greets for one in split_sentences(greeting))
        named = (one for one in greeted if _COINS & all_stems(one))
        text = self._person.life.get(Facet.SELLS.value) or " ".join(named)
        return NpcAnswer(kind="life", text=text, topic=Facet.SELLS.value) if text else None

    def _facet(self, facet: Facet, stems: frozenset[str]) -> NpcAnswer | None:
        """Return the answer to a question for one side of their life; None if it says nothing."""
        asked: dict[Facet, Callable[[], NpcAnswer | None]] = {
            Facet.REWARD: self._reward,
            Facet.QUEST: self._quest,
            Facet.NEWS: self._news,
            Facet.RUMOR: self._rumor,
            Facet.MEMORY: lambda: self._memory(stems),
            Facet.WHOM_TO_ASK: lambda: self._refer(stems),
            Facet.PRICE: lambda: self._price(stems),
            Facet.HERE: lambda: self._told_way(self._atlas.key(self._place) or ""),
            Facet.KEEPER: lambda: self._keeper(stems),
            Facet.KIN: lambda: self._kin_of(stems),
            Facet.RULER: lambda: self._ruler(stems),
        }
        if facet in asked:
            return asked[facet]()
        if facet is Facet.SELLS and (told := self._neighbors.seller_of(stems)):
            return NpcAnswer(kind="neighbor", text=told)
        if facet in _PLEASANTRIES:
            return NpcAnswer(kind="life", text=self._phrase(f"replies.{facet.value}"), topic=facet.value)
        text = self._person.life.get(facet.value) or self._plain_life(facet)
        return NpcAnswer(kind="life", text=text, topic=facet.value) if text else None

    def _plain_life(self, facet: Facet) -> str:
        """Return what follows from the module about a person's life, where it has no words of theirs."""
        person, module = self._person, self._module
        role = person.role or without_article(person.seen_as)
        if facet is Facet.SELF:
            return self._phrase("life_self", name=person.name, role=role)
        if facet is Facet.WORK:
            return self._phrase("life_work", role=role)
        if facet is Facet.HOME:
            home = module.places.get(module.person_at.get(person.key, ""))
            return self._phrase("life_home", place=home.name) if home is not None else ""
        if facet is Facet.FAMILY:
            kin = [other.name for other in self._lore.kin_of(person)]
            return self._phrase("life_family", kin=join_texts(kin)) if kin else self._phrase("life_alone")
        return self._phrase(f"life_{facet.value}") if facet in _PLAIN else ""

    # Quests.

    def _quests(self) -> list[ModuleQuest]:
        return [*self._atlas.gives.get(self._person.key, ())]

    def _quest(self) -> NpcAnswer | None:
        """Return what they want done; a quest that is due or was refused is offered now."""
        if (again := self._again()) is not None:
            return again
        for quest in self._quests():
            if self._world.is_ended(quest.key):
                continue
            if self._world.has_beat(_OFFERED, quest.key):
                said = quest.offer or as_sentence(quest.goal or quest.name)
                return NpcAnswer(kind="quest", text=f"{said.strip()} {self._terms(quest)}".strip())
            if (
                knowledge_at(self._narration, self._place)
                .after([beat("met", self._person.key)])
                .holds(quest.begins)
            ):
                return NpcAnswer(kind="quest", offers=quest)
        if not self._quests():
            giver = self._lore.giver_beside(self._person, self._atlas.gives)
            slots = {} if giver is None else {"name": giver.name, "role": str(giver.role)}
            other = self._phrase("ask_for_work", **slots) if slots else ""
            return NpcAnswer(kind="life", text=f"{self._phrase('wants_nothing')} {other}".strip())
        return None

    def _again(self) -> NpcAnswer | None:
        """Return the offer of a quest that was refused: who comes back may have thought better of it."""
        refused = (quest for quest in self._quests() if self._world.quest(quest.key) == REFUSED)
        return next((NpcAnswer(kind="quest", offers=quest, heard=True) for quest in refused), None)

    def _terms(self, quest: ModuleQuest) -> str:
        """Return what was agreed on, where it is not what the offer says."""
        gold = self._world.promised(quest)
        return (
            ""
            if gold == quest.reward.gold
            else self._phrase("pays_agreed", what=f"{spell_number(gold)} gold pieces")
        )

    def _reward(self) -> NpcAnswer | None:
        """Return what they pay, in the words of their offer where these name it."""
        for quest in self._quests():
            if self._world.is_ended(quest.key):
                continue
            if not self._world.has_beat(_OFFERED, quest.key):
                return self._quest()
            gold = self._world.promised(quest)
            promised = [one for one in split_sentences(quest.offer or "") if _PAYING & all_stems(one)]
            items = [self._module.items[key].name for key in quest.reward.items if key in self._module.items]
            held = [
                *map(with_article, items),
                *([f"{spell_number(gold)} gold pieces"] if gold else []),
            ]
            if gold != quest.reward.gold:
                return NpcAnswer(kind="quest", text=self._phrase("pays_agreed", what=join_texts(held)))
            if promised:
                return NpcAnswer(kind="quest", text=" ".join(promised))
            rule = "pays_you" if held else "pays_nothing"
            return NpcAnswer(kind="quest", text=self._phrase(rule, what=join_texts(held) or "nothing"))
        return None

    # Neighbors, places and rumors.

    def _neighbor(self, stems: frozenset[str], wide: frozenset[str]) -> NpcAnswer | None:
        """Return what they say of another person: what they know, and where to find them.

        `wide` are all words of the question: who is only described may be described by common ones.
        """
        known = [person for person in self._module.people.values() if person.role is not None]
        topics = [topic for topic, strength in self._lore.topics_in(stems).items() if strength >= BY_WORD]
        meant = stems.union(*map(all_stems, topics))
        named = self._lore.people_in(stems)
        looks = {key: 0.0 for key in self._lore.people_in(wide, looks=known) if key not in named}
        for key in {**named, **looks, **self._lore.people_in(meant)}:
            other = self._module.people[key]
            if key == self._person.key and key in named:
                return self._facet(Facet.SELF, stems)
            if key == self._person.key:
                continue
            told = self._neighbors.introduce(other)
            if told:
                return NpcAnswer(kind="neighbor", text=told, topic=other.name)
        return None

    def _located(self, facets: Sequence[Facet], stems: frozenset[str]) -> NpcAnswer | None:
        """Return where somebody or something is to be found."""
        if Facet.WHERE not in facets or facets[0] not in (Facet.WHERE, Facet.HOME, Facet.SELLS):
            return None
        for key in self._lore.people_in(stems):
            other = self._module.people[key]
            if key != self._person.key and (told := self._neighbors.introduce(other)):
                return NpcAnswer(kind="neighbor", text=told, topic=other.name)
        place = self._lore.place_in(stems)
        if place is not None and (way := self._told_way(place.key)) is not None:
            return way
        workers = self._lore.people_in(with_workers(stems)) if Facet.SELLS in facets else ()
        seller = self._lore.seller_of(stems) or next((self._module.people[key] for key in workers), None)
        if (
            seller is not None
            and seller.key != self._person.key
            and (told := self._neighbors.introduce(seller))
        ):
            return NpcAnswer(kind="neighbor", text=told, topic=seller.name)
        return None

    def _told_way(self, place: str) -> NpcAnswer | None:
        """Return the way to a place as an answer."""
        text = self._neighbors.way_to(place) if place in self._module.places else ""
        return NpcAnswer(kind="neighbor", text=text, topic=self._module.places[place].name) if text else None

    def _rumor(self) -> NpcAnswer:
        """Return something they have not told yet, about anything but themselves."""
        trust = self._world.trust(self._person)
        fresh = [
            saying
            for saying in self._open
            if saying.needs <= trust and not (NEWS in saying.about or saying.lie or self._is_heard(saying))
        ]
        return self._of_itself(fresh[0]) if fresh else self._news()

    def _of_itself(self, saying: Saying) -> NpcAnswer:
        """Return a saying that nobody asked for: it begins with what it is about, unless it is news."""
        answer = self._tell([saying], NEWS)
        if NEWS in saying.about or answer.heard:
            return answer
        topic = self._atlas.spelled(saying.about[0])
        return replace(
            answer, text=self._phrase("as_for", topic=topic, says=saying.says), topic=saying.about[0]
        )

    def _refer(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return who might know more about what the question speaks of, or who knows most."""
        text, name = self._neighbors.refer(stems)
        return NpcAnswer(kind="neighbor", text=text, topic=name) if text else None

    # Memory.

    def _memory(self, stems: frozenset[str]) -> NpcAnswer | None:
        """Return the newest deed that they saw themselves, of those that the question may mean."""
        npc = self._atlas.uid("npc", self._person.key)
        seen = [deed for deed in self._narration.step.table.deeds if npc in deed.present]
        meant = [deed for deed in seen if all_stems(deed.gist) & stems] or seen
        if not meant:
            return NpcAnswer(kind="memory", text=self._phrase("remembers_nothing"))
        return NpcAnswer(kind="memory", text=self._phrase("remembers", deed=to_the_party(meant[-1].gist)))

    # Nothing to say.

    def _unknown(self, stems: frozenset[str], subject: str) -> NpcAnswer:
        """Return that they do not know, and who might."""
        is_known = bool(self._lore.topics_in(stems) or self._lore.people_in(stems))
        other = self._refer(stems) if is_known else None
        return NpcAnswer(kind="unknown", text=other.text if other is not None else "", topic=subject)

    def _subject(self, question: str, stems: frozenset[str]) -> str:
        """Return the subject of a question: a topic of the module, or the asker's own few words."""
        for topic in self._lore.topics_in(stems):
            return topic
        words = [word for word in without_article(normalize_topic(question)).split() if len(word) > 1]
        # "Who died" and "come in" are none.
        is_asking = QUESTION_FIRST & {*words[:1]} or FUNCTION_WORDS & {*words}
        is_topic = len(words) <= _SHORT and not is_asking
        return " ".join(words) if is_topic else ""

    def _phrase(self, rule: str, **slots: str) -> str:
        return self._narration.phrase(rule, **slots)


def find_answer(narration: Narration, person: Person, question: str, askers: Sequence[str]) -> NpcAnswer:
    """Return what a person answers to a question, in any words, of characters who stand before them."""
    return NpcKnowledge(narration, person, askers).answer(question)


def _is_about(saying: Saying, topic: str) -> bool:
    """Return whether a topic is among those of a saying, articles aside."""
    return any(without_article(topic) == without_article(word) for word in saying.about)


def _overlap(saying: Saying, stems: frozenset[str]) -> int:
    return len(all_stems(saying.says) & stems)
