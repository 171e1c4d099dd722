"""Read a line as the deed that its words make likely, where the rules find another that is very unlikely.

The odds know words only. A deed counts if its slots are filled from what is here; else the reading stands.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import dropwhile
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.deed_reader import read_as_deed
from dndbots.game.input.grammar.clauses import Clause, ClauseReader, find_verbs
from dndbots.game.input.grammar.other_wordings import denies
from dndbots.game.input.meanings import META, REFUSED, SAID, UNCLEAR, Understanding
from dndbots.game.input.talk.offer_answers import answer_offer
from dndbots.game.input.talk.talk_reader import TalkReader, behind_about, told_to
from dndbots.game.input.vocabulary.lexicon import word_group
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import read_words
from dndbots.game.input.vocabulary.verb_odds import coarse_verb, rank_verbs

_UNLIKELY: Final = 0.06
_LIKELY: Final = 0.3
_MOST_WORDS: Final = 40
# What a question to the game is about, by the words in it; without one of them it is about the scene.
_TOPICS: Final = {
    "rules": "roll rule rules dc check turn turns round rounds die dice save action bonus initiative mean",
    "health": "hp hurt health hit hits wounded wounds heal healing bleeding dying dead",
    "me": "ac armor armour stats stat strength dexterity wisdom level class xp sheet modifier speed",
    "spells": "spell spells slots slot cast magic",
    "items": "inventory carry carrying gold coins money pack backpack gear weapon weapons equipment have bag",
    "quests": "quest quests mission goal reward job task supposed promised hired",
    "foes": "enemy enemies monster monsters goblins goblin wolves wolf rats rat creatures creature far away",
    "party": "party friends companions everyone everybody team others",
    "ways": "exit exits way ways door doors lead leads out path paths",
    "past": "happened recap remind last before said told remember again story summary",
    "time": "time day night late hour evening morning long",
    "options": "options do choices help commands can",
    "who": "who people npc npcs anyone anybody",
}
_KEPT: Final = frozenset(("whisper", META))
_LEAST_WORDS: Final = 3
_MAY_STILL_BE: Final = frozenset(("go", "take"))  # though the reading was refused


def read_likely(scene: SceneNames, line: str, found: Understanding) -> Understanding | None:
    """Return the likely deed of a line; None if its reading is likely enough, or no other can be done."""
    words = read_words(line)[:_MOST_WORDS]
    if found.verb in _KEPT or sum(not word.is_mark for word in words) < _LEAST_WORDS:
        return None
    odds = rank_verbs(line)
    clause = ClauseReader(scene, line).read(words)
    if odds.get(coarse_verb(found.verb), 0.0) > _UNLIKELY or clause.to_party:
        return None
    for verb, share in odds.items():
        again = _read_as(scene, clause, verb) if share >= _LIKELY and _may_be(verb, found, clause) else None
        if again is not None and coarse_verb(again.verb) == verb and not _changes_hearer(found, again):
            is_second = found.then is not None and found.then.verb == again.verb
            return again if is_second else replace(again, then=found.then)
    return None


def _changes_hearer(found: Understanding, again: Understanding) -> bool:
    """Check that words to one would go to another: what somebody is told is for those ears."""
    if found.verb not in SAID or found.act is None or found.act.target is None or again.act is None:
        return False
    return again.verb in SAID and again.act.target != found.act.target


def _may_be(verb: str, found: Understanding, clause: Clause) -> bool:
    """Check that a line may be another deed than it was read as."""
    if found.verb == REFUSED:
        return verb in _MAY_STILL_BE
    if found.verb in ("accept", "refuse") and verb == "tell":
        return False  # an answer to an offer is said, too
    # What is denied is not done, and a deed that is named is not another deed.
    return verb in SAID or verb == META or not (denies(clause.line) or _is_plain(found, clause))


def _read_as(scene: SceneNames, clause: Clause, verb: str) -> Understanding | None:
    read = _READERS.get(verb)
    return _read_deed(scene, clause, verb) if read is None else read(scene, clause)


def _is_plain(found: Understanding, clause: Clause) -> bool:
    """Check that the clause begins with a verb of its deed, and names what or whom it is done to."""
    matches, _ = find_verbs(clause)
    is_named = any(match.sense.verb == found.verb for match in matches)
    return is_named and found.verb != "try" and (found.what or found.target) is not None


def _listener(scene: SceneNames, clause: Clause) -> SceneName | None:
    """Return who is spoken to: by name, by what they are called in the line, or who is near."""
    texts = [word.text for word in clause.words if not word.is_mark]
    named = scene.find_all(texts, (PERSON, FOE, FRIEND))
    return clause.addressed or (named[0] if named else None) or scene.listener


def _ask(scene: SceneNames, clause: Clause) -> Understanding | None:
    target = _listener(scene, clause)
    talk = TalkReader(scene)
    if target is None:
        return talk.tell_party(clause, "ask")
    about = [
        *dropwhile(lambda word: word.text not in ("about", "of", "why", "how", "what", "who"), clause.core)
    ]
    topic = behind_about(clause.line, about or clause.core)
    found = talk.ask(target, topic, words=clause.text)
    return found if found.verb == "ask" else None


def _tell(scene: SceneNames, clause: Clause) -> Understanding | None:
    target = _listener(scene, clause)
    return TalkReader(scene).tell_party(clause, "tell") if target is None else told_to(target, clause.text)


def _parley(scene: SceneNames, clause: Clause) -> Understanding | None:
    target = clause.addressed or scene.talking_foes or next(iter(scene.foes), None)
    if target is None:
        target = scene.speaker
        if target is None or target.kind != PERSON:
            return None
        act = Act(verb=Verb.TELL, target=target.key, words=clause.text)
        return Understanding(verb="parley", target=target.label, words=act.words, act=act)
    return told_to(target, clause.text)


def _say(scene: SceneNames, clause: Clause) -> Understanding | None:
    return TalkReader(scene).say(clause)


def _answer(*, accepts: bool) -> Callable[[SceneNames, Clause], Understanding | None]:
    def read(scene: SceneNames, clause: Clause) -> Understanding | None:
        return answer_offer(scene, clause, scene.offers[-1], accepts=accepts) if scene.offers else None

    return read


def _question(_scene: SceneNames, clause: Clause) -> Understanding:
    said = {word.text for word in clause.words}
    topic = next((topic for topic, words in _TOPICS.items() if said & {*words.split()}), "where")
    return Understanding(verb=META, question=topic)


def _nothing(_scene: SceneNames, _clause: Clause) -> None:
    return None


def _read_deed(scene: SceneNames, clause: Clause, verb: str) -> Understanding | None:
    """Return a deed with the whole line as its object."""
    skipped = word_group("subject") | word_group("auxiliary") | word_group("opening")
    words = [word for word in clause.core if not word.is_mark]
    words = [*dropwhile(lambda word: word.text in skipped, words)] or words
    found = read_as_deed(scene, clause, verb, words)
    if found is None or found.act is None:
        return None
    return found if found.target or found.what or verb in ("try", "rest", "search", "look", "stay") else None


_READERS: Final[dict[str, Callable[[SceneNames, Clause], Understanding | None]]] = {
    "ask": _ask,
    "tell": _tell,
    "parley": _parley,
    "say": _say,
    "accept": _answer(accepts=True),
    "refuse": _answer(accepts=False),
    META: _question,
    UNCLEAR: _nothing,
    REFUSED: _nothing,
    "whisper": _nothing,
    "stay": _nothing,
}
