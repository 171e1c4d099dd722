"""The traits of a line that tell which deed it is: its words, what they mean here, the scene, and the rules.

They come in blocks that count alike in the odds. Nothing is decided here.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from dndbots.game.input.grammar.clauses import Clause, find_verbs
from dndbots.game.input.meanings import META, REFUSED, UNCLEAR, Understanding
from dndbots.game.input.vocabulary.lexicon import (
    VerbMatch,
    phrase_patterns,
    verb_lexicon,
    word_group,
    word_lists,
)
from dndbots.game.input.vocabulary.scene_names import SELF, SceneNames
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.game.input.vocabulary.verb_odds import coarse_verb
from dndbots.game.input.vocabulary.word_roots import root_of

_TOKEN: Final = re.compile(r"[a-z0-9]+|[?!*\"]")
_QUOTES: Final = str.maketrans({"\u2018": None, "\u2019": None, "'": None, "\u201c": '"', "\u201d": '"'})
_SHORT_ROOT, _LONG_ROOT = 4, 5
_MOST_TOKENS: Final = 60
_LONGEST_WORD: Final = 16
_LONGEST_PHRASE: Final = 8
_KINDS: Final = ("item", "spell", "thing", "way", "friend", "person", "foe", "offer")
_GROUPS: Final = (
    "body", "commonplace", "gold", "nonsense", "table_talk", "outdoors", "heading", "motion", "pathway",
    "clothes", "thanks", "greeting", "farewell", "feeling", "anachronism",
)  # fmt: skip
_BEFORE_DEED: Final = frozenset(("i", "we", "to", "and", "then"))
_LENGTHS: Final = (2, 3, 4, 7, 13)
_QUOTED: Final = re.compile(r"'[^']*'")
_REASON_WORDS: Final = 4


def words_in(line: str) -> tuple[list[str], list[str], list[str]]:
    """Return what stands in a line: words, pairs and how it opens; how its words begin; their letters."""
    tokens = _TOKEN.findall(line.casefold().translate(_QUOTES))[:_MOST_TOKENS]
    framed = ["<", *tokens, ">"]
    pairs = [f"{first} {second}" for first, second in pairwise(framed)]
    opening = [f"1 {framed[1]}", f"2 {' '.join(framed[1:3])}"]
    letters = [token for token in tokens if token[0].isalpha()]
    roots = [root for token in letters for root in (f"{token[:_SHORT_ROOT]}-", f"{token[:_LONG_ROOT]}~")]
    marked = [f"^{token[:_LONGEST_WORD]}$" for token in letters]
    threes = [f"L{word[at : at + 3]}" for word in marked for at in range(len(word) - 2)]
    return [*framed, *pairs, *opening], roots, threes


def list_traits(scene: SceneNames, clause: Clause, found: Understanding) -> list[list[str]]:
    """Return the blocks of traits of a line: the whole of it is `clause`, and the rules found a meaning."""
    words, roots, letters = words_in(clause.line)
    texts = [word.text for word in clause.words if not word.is_mark]
    phrases = [*_phrases(" ".join(texts))]
    meanings = [*_kinds(scene, clause.words), *_senses(texts), *_groups(texts), *phrases]
    around = _scene(scene)
    rules = [*_rules(found)]
    asked = [f"Q{trait}" for trait in (*around, rules[0])] if clause.line.rstrip().endswith("?") else []
    opening = words[1] if len(words) > 1 else ""
    crossed = [f"{trait}&{other}" for trait in around for other in (opening, *phrases)]
    return [
        words,
        roots,
        letters,
        meanings,
        [*_form(clause, texts), *around, *asked, *crossed],
        [*rules, *(f"{trait}&{rules[0]}" for trait in around)],
    ]


def _kinds(scene: SceneNames, words: Sequence[TypedWord]) -> Iterator[str]:
    """Yield which kinds of things here are named, and between which words."""
    names = scene.of_kinds(reversed(_KINDS))
    named = {root: name.kind for name in names for root in name.roots}
    named |= dict.fromkeys(scene.me.roots, SELF)
    read = [(kind.upper() if (kind := named.get(root_of(word.text))) else word.text) for word in words]
    read = ["<", *read, ">"]
    for size in (1, 2, 3):
        for start in range(len(read) - size + 1):
            part = read[start : start + size]
            if any(text.isupper() for text in part):
                yield f"K{' '.join(part)}"


def _senses(texts: Sequence[str]) -> Iterator[str]:
    """Yield the verbs in a line, and the deeds that they may mean."""
    lexicon = verb_lexicon()
    for number, text in enumerate(texts):
        if not lexicon.has(text):
            continue
        yield f"B{lexicon.base_of(text)}"
        if not number or texts[number - 1] in _BEFORE_DEED:
            yield f"I{lexicon.base_of(text)}"
        for match in _likeliest(lexicon.match(texts[number : number + _LONGEST_PHRASE])):
            yield f"V{match.sense.verb}"
            yield f"S{match.sense.name}"
            if not number:
                yield f"O{match.sense.name}"


def _likeliest(matches: Sequence[VerbMatch]) -> Sequence[VerbMatch]:
    return [match for match in matches if match.weight == matches[0].weight]


def _groups(texts: Sequence[str]) -> Iterator[str]:
    """Yield the groups that the words of a line are in."""
    lists = word_lists()
    for sign, groups in (("P", lists.people), ("A", lists.alike), ("W", lists.places)):
        for name, words in groups.items():
            if not words.isdisjoint(texts):
                yield f"{sign}{name}"
    for name in _GROUPS:
        if not word_group(name).isdisjoint(texts):
            yield f"G{name}"


def _phrases(text: str) -> Iterator[str]:
    """Yield the turns of phrase in a line."""
    for name, pattern in phrase_patterns().items():
        found = pattern.search(text)
        if found is not None:
            yield f"H{name}"
            if not found.start():
                yield f"F{name}"


def _scene(scene: SceneNames) -> list[str]:
    """Return what is around the character."""
    return [
        f"Zoffer{bool(scene.offers):d}",
        f"Zfight{scene.is_fight:d}",
        f"Zfoes{bool(scene.foes):d}",
        f"Zpersons{min(len(scene.persons), 2)}",
        f"Zhost{scene.host is not None:d}",
        f"Ztalking{scene.talking_foes is not None:d}",
        f"Zspells{bool(scene.spells):d}",
        f"Zquests{bool(scene.quests):d}",
    ]


def _form(clause: Clause, texts: Sequence[str]) -> Iterator[str]:
    """Yield what is taken off a line: who is addressed, how it is meant, and what its verb is."""
    yield f"Xto {'' if clause.addressed is None else clause.addressed.kind}"
    yield f"Xas {clause.intent}"
    for name in ("hailed", "third", "to_party", "request"):
        if getattr(clause, name):
            yield f"X{name}"
    if clause.core and clause.is_question:
        yield "Xasks"
    matches = find_verbs(clause)[0] if clause.core else []
    yield f"Xverb {matches[0].sense.verb if matches else ''}"
    yield from (f"Xsense {match.sense.name}" for match in matches[:3])
    yield f"Xlong {sum(len(texts) > length for length in _LENGTHS)}"


def _rules(found: Understanding) -> Iterator[str]:
    """Yield what the rules make of a line; the deed comes first."""
    verb = f"R{coarse_verb(found.verb)}"
    yield verb
    yield f"{verb} {found.target is not None:d}{found.what is not None:d}"
    if found.check is not None:
        yield f"{verb} {found.check.approach}"
    if found.then is not None:
        yield f"{verb} then {coarse_verb(found.then.verb)}"
        yield f"Rthen {coarse_verb(found.then.verb)}"
    if found.verb == REFUSED:
        yield f"{verb} {' '.join(_QUOTED.sub('X', found.reason).split()[:_REASON_WORDS])}"
    if found.verb == UNCLEAR:
        yield f"{verb} {len(found.readings)}"
    if found.verb == META:
        yield f"{verb} {found.question}"
    if found.act is not None:
        yield f"Ract {found.act.verb.value}"
