"""Read a clause that says what a character does: choose the sense of its verb, and fill its slots."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from dndbots.game.acts import Act, Verb
from dndbots.game.input.deeds.attempts import APPROACHING, DEFENDING, HANDLING, HIDING, read_attempt
from dndbots.game.input.deeds.described_ways import find_described
from dndbots.game.input.deeds.fight_deeds import explain_lack, read_attack, read_bind, read_cast, read_parley
from dndbots.game.input.deeds.sense_weights import weigh_sense
from dndbots.game.input.deeds.thing_deeds import (
    read_buy,
    read_give,
    read_look,
    read_open,
    read_search,
    read_sell,
    read_take,
    read_use,
)
from dndbots.game.input.deeds.way_finder import DIRECTIONS, WayFinder, read_way
from dndbots.game.input.grammar.clauses import Clause, find_verbs
from dndbots.game.input.grammar.slots import DeedSlots
from dndbots.game.input.meanings import REFUSED, Understanding, refuse
from dndbots.game.input.talk.offer_answers import answer_offer
from dndbots.game.input.talk.spoken_reader import SpokenReader
from dndbots.game.input.talk.talk_reader import SPOKEN
from dndbots.game.input.vocabulary.lexicon import VerbMatch, verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    OFFER,
    PERSON,
    PRONOUNS,
    WAY,
    SceneName,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord, read_words
from dndbots.rules.characters.equipment import Weapon, recognised

_MOST_SENSES: Final = 4
_SHORTEST_VERB: Final = 3
_MOST_BEFORE_VERB: Final = 4
_ON_THE_WAY: Final = frozenset(
    ("force", "leap", "sneak", "gesture", "perform", "handle", "heave", "hide", "climb", "swim")
)
_THERE: Final = frozenset(("there", "in", "inside", "it", "over", "that", "way", "to", "then", "now", "into"))
_DENIED: Final = frozenset(("not", "never", "without", "nobody", "no"))
_SEEKING: Final = frozenset(("find", "look", "seek", "get", "warm", "shelter"))
_NEED_GEAR: Final = frozenset(("attack", "use", "try", "give", "sell"))
_BEFORE_TOPIC: Final = frozenset(("about", "why", "what", "who", "how", "if", "whether"))
_AIMING: Final = frozenset(("at", "to", "into", "in", "through", "on"))


def read_deed(scene: SceneNames, clause: Clause) -> Understanding | None:
    """Return the deed of a clause, by the sense that fits best; None if it does not begin with a verb."""
    matches, words = find_verbs(clause)
    odd = next((text for text in clause.said if text in word_group("anachronism")), None)
    if odd is not None and matches and matches[0].sense.name not in SPOKEN:
        return refuse(clause.text, f"there is no {odd!r} in this world")
    said = clause.said
    is_way = any(way.label == " ".join(said) for way in scene.ways)  # "down the well"
    is_path = bool(matches) and (is_way or said[-1] in word_group("pathway"))
    is_bare = said[0] in DIRECTIONS and len(said) > 1 and (is_path or said[1] in word_group("preposition"))
    if not matches or is_bare:
        found = _read_bare_way(scene, clause)  # "down to the water"
        other_way = {"up", "down"} - {said[0]} if said[0] in ("up", "down") else set[str]()
        is_wrong = found is not None and bool(other_way & {*(found.what or "").split()})
        if is_path and (found is None or is_wrong):
            found = refuse(clause.text, WayFinder(scene).none_called(" ".join(said[1:])))
        if found is not None or not matches:
            return found
    senses = sorted(
        (DeedSlots(scene, clause, match, words) for match in matches), key=weigh_sense, reverse=True
    )
    if _names_spell(scene, clause, is_spoken=senses[0].sense.name in SPOKEN):
        return read_cast(senses[0])
    if senses[0].sense.verb in _NEED_GEAR and senses[0].sense.name not in SPOKEN and senses[0].lacking:
        return refuse(clause.text, explain_lack(scene, senses[0].lacking))
    stroke = next((slots for slots in senses if _is_armed_blow(slots)), None)
    plain = _read_motion(scene, clause, words) if stroke is None else read_attack(stroke)
    if plain is not None:
        return plain
    read = (_READERS[_reader_of(slots)](slots) for slots in senses[:_MOST_SENSES])
    return next((found for found in read if found is not None), None) or _read_bare_way(scene, clause)


def _read_motion(scene: SceneNames, clause: Clause, words: Sequence[TypedWord]) -> Understanding | None:
    """Return the way in "slip back out into the snow", taken in any manner; None if none is named."""
    texts = [word.text for word in words]
    manner = texts[0] in word_group("motion") or verb_lexicon().base_of(texts[0]) in word_group("motion")
    if not manner or len(texts) < 2 or texts[1] not in word_group("heading"):
        return None
    going = next(match for match in verb_lexicon().match(["go", *texts[1:]]) if match.sense.verb == "go")
    slots = DeedSlots(scene, clause, going, [words[0]._replace(text="go"), *words[1:]])
    if slots.thing is not None or slots.being is not None:
        return None
    way = WayFinder(scene).find(["go", *texts[1:]], slots, leaves=False)
    plain = word_group("heading") | word_group("outdoors") | word_group("wayless") | word_group("article")
    is_named = way is not None and any((scene.worth(way, text) or 0) > 0 for text in texts[1:])
    is_out = way is not None and all(text in plain for text in texts[1:])
    return read_way(clause, scene, way) if way is not None and (is_named or is_out) else None


def _is_armed_blow(slots: DeedSlots) -> bool:
    """Check for a weapon that is driven into somebody: "shove my sword through his belly"."""
    item = slots.find_object((ITEM,))
    if item is None or slots.sense.verb not in ("try", "use") or not isinstance(recognised(item.key), Weapon):
        return False
    if slots.match.phrase == ("use",):
        used = slots.behind("on", "against", "at")
        return bool(used) and slots.scene.find(used, (FOE,)) is not None
    behind = slots.behind("into", "through", "in", "against", "across")
    return bool(behind) and slots.scene.find(behind, (FOE, PERSON)) is not None


def _names_spell(scene: SceneNames, clause: Clause, *, is_spoken: bool) -> bool:
    """Check that a spell of the character is named in full: "put up my shield of force"."""
    said = {*clause.said}
    if is_spoken and not said & {"incantation", "words"}:
        return False
    if "spell" in said:
        return sum(bool(spell.words & said) for spell in scene.spells) == 1  # "pop my shield spell"
    return any(spell.words <= said and (len(spell.words) > 1 or "spell" in said) for spell in scene.spells)


def _read_bare_way(scene: SceneNames, clause: Clause) -> Understanding | None:
    way = WayFinder(scene).find_bare(clause.said)
    return None if way is None else read_way(clause, scene, way)


def _reader_of(slots: DeedSlots) -> str:
    return "talk" if slots.sense.name in SPOKEN else slots.sense.verb


def _read_go(slots: DeedSlots) -> Understanding | None:
    """Return the way that is taken; who or what is walked up to; or which ways there are."""
    scene, clause, sense = slots.scene, slots.clause, slots.sense
    texts = [word.text for word in slots.words]
    ways = WayFinder(scene)
    leaves = sense.name == "leave" or sense.verb == "flee"
    if leaves and slots.match.gap is not None:
        texts = texts[:1]  # "leave her in peace"
    is_taken_up = slots.being is not None and bool(PRONOUNS & {*texts})  # "…, let us pay them a visit"
    is_there = len(texts) > 1 and all(text in _THERE for text in texts[1:])
    named = _way_before(slots) if is_taken_up or is_there else None
    if not leaves and named is None and ways.is_here(texts):
        return refuse(clause.text, f"you are there already: this is {scene.table.name(scene.here.uid)}")
    way = named or ways.find(texts, slots, leaves=leaves)
    if way is None and "where" in texts:
        way = ways.find_where(texts[texts.index("where") + 1 :])
    if way is not None:
        return read_way(clause, scene, way)
    if not leaves and (slots.being is not None or slots.thing is not None or slots.crowd):
        follows = slots.being is not None and slots.being.kind == FRIEND
        return read_attempt(slots, APPROACHING) if follows else read_look(slots)
    if slots.is_empty or leaves:
        return ways.ask_which(clause.text, clause.worded)
    if slots.scenery or slots.is_commonplace:
        return read_attempt(slots, APPROACHING)
    return refuse(clause.text, ways.none_called(slots.noun or " ".join(texts[1:])))


def _way_before(slots: DeedSlots) -> SceneName | None:
    """Return the way that is named or described before "go there", "can we go in"; None if none is."""
    start = slots.words[0].start
    before = [word for word in read_words(slots.clause.line) if word.end <= start]
    texts = [word.text for word in before if not word.is_mark]
    return slots.scene.find(before, (WAY,)) or find_described(slots.scene, texts) if texts else None


def _read_stay(slots: DeedSlots) -> Understanding:
    if slots.scene.is_fight:
        return read_attempt(slots, DEFENDING)
    act = Act(verb=Verb.STAY, words=slots.clause.worded)
    return Understanding(verb="stay", words=act.words, act=act)


def _read_rest(slots: DeedSlots) -> Understanding:
    way = _way_elsewhere(slots)
    if way is None and slots.match.phrase[0] in _SEEKING:
        way = find_described(slots.scene, slots.clause.said)  # "find somewhere warm"
        way = way or find_described(slots.scene, ("warm", "roof", "bed"))
    if way is not None:
        return read_way(slots.clause, slots.scene, way)  # "warm up in the inn": go there first
    act = Act(verb=Verb.REST, words=slots.clause.worded)
    return Understanding(verb="rest", words=act.words, act=act)


def _way_elsewhere(slots: DeedSlots) -> SceneName | None:
    """Return the way behind "into the inn"; None if somebody or something here is named as well."""
    behind = slots.behind("into", "inside", "in", "at", "to", "toward", "towards", "through", "onto")
    way = slots.scene.find(behind, (WAY,)) if behind else None
    is_past = slots.sense.approach == "sneak"  # "walk past them to the cider house"
    is_here = slots.thing is not None or (slots.being is not None and not is_past)
    return None if way is None or is_here or way.label.split()[0] in word_group("preposition") else way


def _read_try(slots: DeedSlots) -> Understanding:
    """Return an attempt; a way that is taken in an odd manner is still taken: "dance into the inn"."""
    way = _way_elsewhere(slots) if slots.sense.approach in _ON_THE_WAY else None
    return read_attempt(slots) if way is None else read_way(slots.clause, slots.scene, way)


def _read_answer(slots: DeedSlots) -> Understanding | None:
    scene = slots.scene
    if not scene.offers:
        return None
    offer = scene.find(slots.all_words, (OFFER,)) or scene.offers[-1]
    return answer_offer(scene, slots.clause, offer, accepts=slots.sense.verb == "accept")


def _read_impossible(slots: DeedSlots) -> Understanding:
    return refuse(slots.clause.text, slots.sense.reason)


def _read_talk(slots: DeedSlots) -> Understanding | None:
    """Return what is said; a walk to who is meant, if they are not here and the way to them is known."""
    found = SpokenReader(slots.scene).read(slots)
    if found is None or found.verb != REFUSED or slots.sense.name != "ask":
        return found  # what is meant for one pair of ears is not said on the way
    asked = takewhile(lambda word: word.text not in _BEFORE_TOPIC, slots.words)
    way = WayFinder(slots.scene).find_toward([word.text for word in asked])
    return found if way is None else read_way(slots.clause, slots.scene, way)


def read_hidden_deed(scene: SceneNames, clause: Clause) -> Understanding | None:
    """Return a deed that its clause does not begin with: "surprise attack on them", "arrow at a rat"."""
    words = [word for word in clause.core if not word.is_mark]
    lexicon = verb_lexicon()
    for number in range(1, min(len(words) - 1, _MOST_BEFORE_VERB)):
        before = words[number - 1].text
        if (
            before in _DENIED
            or any(before in word_group(name) for name in ("subject", "auxiliary", "wh", "article"))
            or _is_called(scene, before)
        ):
            break  # somebody else does it
        if lexicon.has(words[number].text) and words[number - 1].text not in word_group("preposition"):
            found = read_deed(scene, replace(clause, core=words[number:]))
            if found is not None and found.verb == "say":
                continue  # "chat says ask him"
            if found is not None and found.act is not None and (found.target or found.what):
                return found
    at = next((n for n, word in enumerate(words) if word.text in _AIMING), 0)
    if at and scene.find(words[:at], (ITEM,)) is not None and scene.find(words[at + 1 :], (FOE,)) is not None:
        blow = next(match for match in lexicon.match(["strike"]))
        struck = [TypedWord("strike", words[0].start, words[0].start), *words]
        return read_attack(DeedSlots(scene, clause, blow, struck))
    return None


def _is_called(scene: SceneNames, word: str) -> bool:
    return any(word in name.words for name in (*scene.friends, *scene.persons))


def read_unknown_deed(scene: SceneNames, clause: Clause) -> Understanding | None:
    """Return an attempt at a deed whose verb is in no list: "I scoot my chair over", "boop the goblin"."""
    words = [word for word in clause.core if not word.is_mark and not word.is_adverb]
    sure = clause.third
    if words and words[0].text in ("i", "we"):
        words, sure = words[1:], True
    if not _may_be_verb([word.text for word in words], sure=sure):
        return None
    slots = DeedSlots(scene, clause, VerbMatch(HANDLING, (words[0].text,), 1), words)
    way = _way_elsewhere(slots)
    if way is not None:
        return read_way(clause, scene, way)
    if slots.behind("behind", "under", "beneath") and not slots.object:
        return read_attempt(slots, HIDING)  # "edge behind the nearest trunk"
    if not _is_grounded(slots):
        return None  # "yeet the moon"
    is_own = slots.object and slots.object[0].text == "my" and slots.find_object((ITEM,)) is not None
    return read_use(slots) if is_own else read_attempt(slots)


def _may_be_verb(texts: Sequence[str], *, sure: bool) -> bool:
    """Check that words may begin with a verb that is in no list."""
    if not texts or not texts[0].isalpha() or len(texts[0]) < _SHORTEST_VERB or _is_no_verb(texts[0]):
        return False
    if not sure and not (len(texts) > 1 and _begins_object(texts[1:])):
        return False
    is_sentence = len(texts) > 2 and texts[1] in word_group("subject") and texts[2] in word_group("finite")
    return not is_sentence  # "nah that is wild"


def _is_grounded(slots: DeedSlots) -> bool:
    """Check that a deed is done to something that is here, or to nothing."""
    found = slots.being or slots.thing or slots.item or slots.way or slots.scenery
    return bool(found) or slots.is_empty or slots.is_commonplace or slots.is_body or slots.crowd


def _is_no_verb(word: str) -> bool:
    groups = (
        "stative",
        "wh",
        "auxiliary",
        "article",
        "preposition",
        "subject",
        "opening",
        "hailing",
        "nonsense",
        "table_talk",
    )
    return any(
        word in word_group(name) for name in (*groups, "aside", "number", "finite", "commonplace", "body")
    )


def _begins_object(texts: Sequence[str]) -> bool:
    """Check for words that follow a verb: an article, a pronoun, or a preposition and one of these."""
    if texts[0] in word_group("preposition"):
        return len(texts) > 1 and texts[1] in word_group("article") | PRONOUNS
    return texts[0] in word_group("article") | PRONOUNS


def read_as_deed(
    scene: SceneNames, clause: Clause, verb: str, words: Sequence[TypedWord]
) -> Understanding | None:
    """Return a deed that a clause does not name, done to what `words` name; None if it cannot be done."""
    if not words or verb not in _READERS:
        return None
    start = words[0].start
    if verb == "try":
        return read_attempt(DeedSlots(scene, clause, VerbMatch(HANDLING, (words[0].text,), 1), words))
    match = next((match for match in verb_lexicon().match([verb]) if match.sense.verb == verb), None)
    if match is None:
        return None
    return _READERS[verb](DeedSlots(scene, clause, match, [TypedWord(verb, start, start), *words]))


_READERS: Final[dict[str, Callable[[DeedSlots], Understanding | None]]] = {
    "attack": read_attack,
    "take": read_take,
    "look": read_look,
    "search": read_search,
    "open": read_open,
    "go": _read_go,
    "flee": _read_go,
    "stay": _read_stay,
    "rest": _read_rest,
    "give": read_give,
    "use": read_use,
    "buy": read_buy,
    "sell": read_sell,
    "cast": read_cast,
    "bind": read_bind,
    "parley": read_parley,
    "accept": _read_answer,
    "refuse": _read_answer,
    "try": _read_try,
    "refused": _read_impossible,
    "talk": _read_talk,
}
