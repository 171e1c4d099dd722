"""Read a line as the deed that its words make likely, where the rules find another that is very unlikely.

The odds know words only. A deed counts if its slots are filled from what is here; else the reading stands.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.attempts import AT_NOBODY
from dndbots.game.input.deeds.deed_reader import read_as_deed
from dndbots.game.input.deeds.way_finder import WayFinder, read_way
from dndbots.game.input.grammar.clause_splits import split_clauses
from dndbots.game.input.grammar.clauses import Clause, ClauseReader, find_verbs
from dndbots.game.input.grammar.other_wordings import denies
from dndbots.game.input.line_traits import list_traits
from dndbots.game.input.meanings import META, REFUSED, SAID, UNCLEAR, Understanding, reword
from dndbots.game.input.readings import NOT_UNDERSTOOD, list_readings
from dndbots.game.input.talk.offer_answers import answer_offer
from dndbots.game.input.talk.talk_reader import TalkReader, behind_about, seeks, told_to
from dndbots.game.input.vocabulary.lexicon import verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import FOE, FRIEND, PERSON, SceneName, SceneNames
from dndbots.game.input.vocabulary.typed_words import read_words
from dndbots.game.input.vocabulary.verb_odds import coarse_verb, rank_verbs

_LEAST_WORDS: Final = 3  # in which a deed that the rules find may be another one: "parley" is a command
_LIKELY, _LIKELY_INSTEAD, _MUCH_SURER = 0.12, 0.2, 5.0
_SURER: Final = 1.5  # by so much another deed must be likelier than one that the line names itself
MOST_WORDS: Final = 40
# What a question to the game is about, by the words in it; without one of them it is about the scene.
_TOPICS: Final = {
    "rules": "roll rule rules dc check turn turns round rounds die dice save action bonus initiative mean",
    "health": "hp hurt health hit hits wounded wounds heal healing bleeding dying dead",
    "me": "ac armor armour stats stat strength dexterity wisdom level class xp sheet modifier speed",
    "spells": "spell spells slots slot cast magic",
    "items": "inventory carry carrying gold coins money pack backpack gear weapon weapons equipment bag",
    "quests": "quest quests mission goal reward job task supposed promised hired",
    "foes": "enemy enemies monster monsters goblins goblin wolves wolf rats rat creatures creature",
    "party": "party friends companions everyone everybody team",
    "ways": "exit exits way ways door doors lead leads out path paths",
    "past": "happened recap remind last before said told remember story summary",
    "time": "time day night late hour evening morning",
    "options": "options choices help commands",
    "who": "who people npc npcs anyone anybody",
}
# Words that say something of a question only where nothing else does.
_VAGUE_TOPICS: Final = {
    "items": "have",
    "past": "again",
    "foes": "far away",
    "party": "others",
    "time": "long",
    "options": "do can",
}
_KEPT: Final = frozenset(("whisper",))
_GRAVE: Final = frozenset(("accept", "refuse", "attack", "give", "flee", "buy", "cast"))  # hard to take back
_READ_WHOLE: Final = frozenset((META, UNCLEAR, REFUSED, "whisper"))
_MOST_PARTS, _SEVERAL = 3, 2  # clauses of a line; with the whole of it behind them
_MOST_PLAIN: Final = 4  # words of a line that says what is done to what, and nothing else
# What a likely deed may turn out to be: in a fight, who goes flees; and a blow at a thing is tried.
_ALSO: Final[dict[str, tuple[str, ...]]] = {
    "go": ("flee",),
    "flee": ("go",),
    "attack": ("try",),
    "use": ("try",),
    "take": ("try",),
}
_MAY_STILL_BE: Final = frozenset(("go", "flee", "take"))  # though the reading was refused
_TO_ABSENT: Final = re.compile(r"\bto (?:tell|ask|whisper|say|give)\b|\bwhisper\b|\bto whom\b")
_SUGGESTS: Final = re.compile(r"\W*(?:(?:so|well|ok|hm+),? )?(?:shall|should) (?:we|i)\b", re.IGNORECASE)
_SAYS: Final = re.compile(r"\W*(?:i |we )?says?\b", re.IGNORECASE)
# What is told of beside the deed: why, when, and what others do or do not.
_BESIDE: Final = re.compile(
    r"\b(?:so(?: that)?|while|where|who|which|because|cos|until|till|before"
    r"|(?:do|does|did|is|are|was)n['\u2019]?t (?:they|it|he|she|you|we|i))\b[^,;.!?]*"
    r"|\b(?:the|that|those) (?:one )?(?:nobody|never)\b",
    re.IGNORECASE,
)
_THERE: Final = "you are there already"
_NO_WAY: Final = ("there is no way", "you are there", "nobody here can")
# Deeds that a line may still be in which a word was taken for a place that is not here.
_DONE_HERE: Final = _MAY_STILL_BE | {"look", "search", "try", "use", "stay", "rest", "attack", "open"}
# Deeds that a line may still be in which another one was found that cannot be done.
_ELSE: Final = _DONE_HERE | {"give", "ask", "buy", "cast", "bind", "accept", "refuse"}
_QUOTES: Final = tuple('"\u201c\u201d\u201e\u00ab\u00bb')


def read_likely(scene: SceneNames, line: str, found: Understanding) -> Understanding | None:
    """Return the likely deed of a line; None if its reading is likely enough, or no other can be done."""
    words = read_words(line)[:MOST_WORDS]
    size = sum(not word.is_mark for word in words)
    is_short = size < _LEAST_WORDS and found.act is not None and found.verb != "try"
    if found.verb in _KEPT or not size or is_short:
        return None
    clause = ClauseReader(scene, line).read(words)
    is_verbatim = found.verb == "say" and _SAYS.match(line) is not None  # "say The reeve lies."
    if clause.to_party or is_verbatim:
        return None
    odds = rank_verbs(list_traits(scene, clause, found))
    own, is_plain = odds.get(coarse_verb(found.verb), 0.0), _is_plain(found, clause)
    if is_plain and (size <= _MOST_PLAIN or found.verb == "open"):
        return None  # "open the chest"
    is_explained = found.verb == UNCLEAR and found.reason != NOT_UNDERSTOOD  # "nothing is offered to you"
    least = _LIKELY_INSTEAD if is_explained or size < _LEAST_WORDS else _LIKELY
    parts: list[Clause] = []
    for verb, share in odds.items():
        is_alike = found.verb in SAID and (verb in SAID or verb == META)
        if share < max(least, own) or verb == coarse_verb(found.verb):
            break
        is_grave = verb in _GRAVE and share < _LIKELY_INSTEAD
        if is_grave or ((is_plain or is_alike) and share < own * _SURER):
            continue
        parts = parts or _parts_of(scene, line, clause)
        again = _read_as(scene, parts, verb) if _may_be(verb, found, clause) else None
        if again is None or _changes_hearer(found, again):
            continue
        also = () if found.verb == REFUSED and verb == "take" else _ALSO.get(verb, ())
        if coarse_verb(again.verb) in (verb, *also):
            return _with_second(found, again, parts, is_sure=share >= own * _MUCH_SURER)
    return None


def _with_second(
    found: Understanding, again: Understanding, parts: Sequence[Clause], *, is_sure: bool
) -> Understanding | None:
    """Return a likely deed with the second one of its line; None if it is itself the second of two."""
    is_second = found.then is not None and found.then.verb == again.verb
    is_own = found.verb in SAID or found.verb in ("take", "use", "give", "buy")
    if is_second and is_own and not is_sure:
        return None  # "bow to him, then march down the lane" has both
    if is_second or again.act is None:
        return again
    return replace(again, then=found if _is_second(found, again, parts) else found.then)


def _is_second(found: Understanding, again: Understanding, parts: Sequence[Clause]) -> bool:
    """Check that the deed found by the rules stands behind the likely one: "coins in the bag, then go"."""
    if len(parts) <= _SEVERAL or found.act is None or found.then is not None or found.verb == again.verb:
        return False
    verbs = [{match.sense.verb for match in find_verbs(part)[0]} for part in parts[:-1]]
    return found.verb not in verbs[0] and any(found.verb in named for named in verbs[1:])


def _parts_of(scene: SceneNames, line: str, clause: Clause) -> list[Clause]:
    """Return the clauses of a line in which a deed is looked for, one by one; the whole of it comes last."""
    parts = split_clauses(clause.words) if clause.addressed is None else []
    reader = ClauseReader(scene, line)
    read = [reader.read(part) for part in parts[:_MOST_PARTS]] if len(parts) > 1 else []
    return [*read, clause]


def _changes_hearer(found: Understanding, again: Understanding) -> bool:
    """Check that words to one would go to another: what somebody is told is for those ears."""
    if found.verb not in SAID or found.act is None or found.act.target is None or again.act is None:
        return False
    if again.verb in ("accept", "refuse"):
        return again.target != found.target
    return again.verb in SAID and again.act.target != found.act.target


def _may_be(verb: str, found: Understanding, clause: Clause) -> bool:
    """Check that a line may be another deed than it was read as."""
    if found.verb == REFUSED:
        return _may_be_instead(verb, found, clause)
    if clause.line.startswith(_QUOTES) and verb not in SAID:
        return False
    if verb == UNCLEAR:
        return found.verb not in ("accept", "refuse") and not _is_plain(found, clause)
    is_answer = verb in ("accept", "refuse") and clause.is_question
    is_answer = is_answer or (found.verb in ("accept", "refuse") and verb == "tell")
    if is_answer or (found.verb == "ask" and seeks(clause)):
        return False  # a question answers nothing; an answer is said, too; "we are looking for Wren" asks
    if found.verb in SAID and _SUGGESTS.match(clause.line) and verb not in SAID:
        return verb == META  # what is asked of the others is not done yet
    # What is denied is not done, and a deed that is named is not another deed.
    return verb in SAID or verb == META or not denies(_BESIDE.sub("", clause.line))


def _may_be_instead(verb: str, found: Understanding, clause: Clause) -> bool:
    """Check that a line may be a deed that can be done, where another one was refused."""
    if _TO_ABSENT.search(found.reason) or found.reason.endswith((AT_NOBODY, "in this world")):
        return False
    if found.reason.startswith(_THERE):
        return verb in _DONE_HERE - {"go", "flee"}
    if verb in _MAY_STILL_BE or found.reason.startswith(_NO_WAY):
        return verb in _DONE_HERE
    named = {match.sense.verb for match in find_verbs(clause)[0]}
    is_lacking = found.reason.startswith("you have no")
    return verb in _ELSE and not is_lacking and verb not in named  # what is named cannot be done


def _read_as(scene: SceneNames, parts: Sequence[Clause], verb: str) -> Understanding | None:
    """Return a likely deed by the first part of a line that can be it; what is said is the whole line."""
    if verb in SAID or verb in _READ_WHOLE:
        return _READERS[verb](scene, parts[-1])
    read = _READERS.get(verb)
    for clause in parts:
        found = _read_deed(scene, clause, verb) if read is None else read(scene, clause)
        if found is not None and coarse_verb(found.verb) == verb:
            return found if found.act is None else reword(found, parts[-1].worded)
    return found


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
    return found if found.verb == "ask" else replace(found, verb="ask")


def _tell(scene: SceneNames, clause: Clause) -> Understanding | None:
    target = _listener(scene, clause)
    if target is None:
        return TalkReader(scene).tell_party(clause, "tell")
    return replace(told_to(target, clause.text), verb="tell")


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
    topics = (*_TOPICS.items(), *_VAGUE_TOPICS.items())
    topic = next((topic for topic, words in topics if said & {*words.split()}), "where")
    return Understanding(verb=META, question=topic)


def _go(scene: SceneNames, clause: Clause) -> Understanding | None:
    """Return the way that a line takes, wherever in it the way is named or described."""
    found = _read_deed(scene, clause, "go")
    if found is not None and found.verb in ("go", "flee"):
        return found
    way = WayFinder(scene).find_anywhere([word.text for word in clause.words if not word.is_mark])
    return None if way is None else read_way(clause, scene, way)


def _attack(scene: SceneNames, clause: Clause) -> Understanding | None:
    """Return a blow; in a fight, at the first foe if the line names none: "one good cut, then step back"."""
    found = _read_deed(scene, clause, "attack")
    is_aimed = found is not None and found.verb == "attack" and found.target is not None
    if is_aimed or not scene.is_fight or not scene.foes:
        return found
    foe = scene.foes[0]
    act = Act(verb=Verb.ATTACK, target=foe.key, words=clause.worded)
    return Understanding(verb="attack", target=foe.label, words=act.words, act=act)


def _unclear(scene: SceneNames, clause: Clause) -> Understanding:
    return list_readings(scene, clause.line, [word.text for word in clause.words if not word.is_mark])


def _nothing(_scene: SceneNames, _clause: Clause) -> None:
    return None


def _read_deed(scene: SceneNames, clause: Clause, verb: str) -> Understanding | None:
    """Return a deed with the whole line as its object; a blow or a use that nothing here fits is tried."""
    found = _read_deed_of(scene, clause, verb)
    tried = "try" in _ALSO.get(verb, ()) and found is None
    return _read_deed_of(scene, clause, "try") if tried else found


def _read_deed_of(scene: SceneNames, clause: Clause, verb: str) -> Understanding | None:
    skipped = word_group("subject") | word_group("auxiliary") | word_group("opening")
    words = [word for word in clause.core if not word.is_mark]
    words = [*dropwhile(lambda word: word.text in skipped, words)] or words
    if len(words) > 1 and verb_lexicon().has(words[0].text):
        words = words[1:]  # the verb that was typed is not what it is done to
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
    "attack": _attack,
    "go": _go,
    "flee": _go,
    UNCLEAR: _unclear,
    REFUSED: _nothing,
    "whisper": _nothing,
}
