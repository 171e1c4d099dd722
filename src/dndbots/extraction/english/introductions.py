"""Introductions: new people and places that a sentence presents by name, with the word for what they are.

"A one-eyed dwarf called Harl", "the Gilded Eel, an inn on the docks", "I moved from Lisbon to Coimbra". A
name is introduced even where the sentence is reported, doubted or quoted from a stranger; then only the name
is kept. Names that are known already are left to the other rules.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.descriptions import read_description
from dndbots.extraction.english.grammar import Rule, rule, tidy
from dndbots.extraction.english.marked_names import Lexicon, Marked, Mention
from dndbots.extraction.english.not_facts import clause_start, is_doubted
from dndbots.extraction.english.reader import is_punch_line
from dndbots.extraction.english.word_tables import (
    ANIMALS,
    KIN,
    PLACE_KINDS,
    PLACE_WORDS,
    RULERS,
    TITLES,
    either,
)
from dndbots.extraction.port import ALIAS, Kind
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.words import fold_word

KIND: Final = "kind"
_CALLED: Final = (
    r"(?:called|named|by the name of|known as|who (?:is|was) (?:called|named|known as)|going by"
    r"|who (?:goes|went) by(?: the name)?(?: of)?|who calls? (?:him|her|them)self"
    r"|who calls? @[PU]\d+@self|who (?:introduces?|introduced) (?:(?:him|her|them)self|\S{1,9}self) as"
    r"|whose name (?:is|was))"
)
_OWN: Final = r"(?:my|our|his|her|their|your|@[A-Z]\d+@'s)"
_ANY: Final = rf"(?:an?|the|this|that|one|another|some|{_OWN})"
_STOP: Final = r"(?=[,.;:!?]|$| (?:and|or|but|who|whose|that|which|is|was|has|had|with|in|at|on|from)\b)"
_NOUNS: Final = either(PLACE_WORDS | PLACE_KINDS)
_SETTLED: Final = (
    r"(?:village|town|city|hamlet|kingdom|land|port|region|isle|island|capital|realm|ruins|forest|fortress"
    r"|county|duchy|province|abbey|castle|keep|monastery|barony|settlement|valley|harbou?r|temple)"
)
_WHERE: Final = (
    r"(?=[,.;:!?]|$| (?:of|on|in|at|by|near|with|where|that|which|behind|beside|between|from|to|and|under"
    r"|above|outside|whose|you|we|i|@P\d+@)\b)"
)
_QUALIFIERS: Final = rf"(?:(?!{either(FUNCTION_WORDS)}(?![\w-]))[a-z][\w'\u2019-]*,? ){{0,4}}?"
_PLACE: Final = rf"(?P<v>{_QUALIFIERS}{_NOUNS}(?![\w-]))"
_THERE: Final = r"(?:the )?<a:LUI>(?!['\u2019])"
_NAMED: Final = r"(?:called|named|known as)"
_AT: Final = r"(?: (?:of|from|in|at|behind|by|on) [^,.;:!?@]{2,30})"
_TRAVELLED: Final = (
    r"(?:moved?|moves|moving|flew|drove|rode|came|walked|travel(?:s|l?ed)?|sail(?:s|ed)?|return(?:s|ed)?)"
)
_BOUND_FOR: Final = (
    rf"(?:(?:{either(RULERS | {'reeve', 'sheriff'})}|outskirts|gates|walls|streets|people) of"
    r"|(?:arrive[sd]?|live[sd]?|settle[sd]?|grew up|(?:was|were|is) (?:born|raised)) in|leaves? for"
    r"|left for|bound for|set(?:s|ting)? (?:out|off|sail) for"
    r"|(?:comes?|came|hails?) from|(?:road|way|journey|voyage|ship|coach) to)"
)
_STANDING_IN: Final = r"(?:in|at|into|to|from|near|inside|reach|reaches|reached|enters?|entered|through)"
_SEEN: Final = (
    r"(?:nods?|smiles?|grins?|whispers?|laughs?|shrugs?|sighs?|bows?|frowns?|says?|said|replies|replied"
    r"|mutters?|waves|smiled|nodded|grinned|laughed|shrugged|sighed|frowned|muttered|whispered)"
)


class Introduction(NamedTuple):
    """A new name with a field and a value; the field is `alias` if only the name is certain."""

    name: str
    kind: Kind
    field: str
    value: str


def _form(kind: Kind, pattern: str, *, narrated: bool = False) -> Rule:
    """Return a way to introduce somebody or something; a `narrated` one counts only in the DM's turns."""
    return rule(ALIAS, pattern, kind=kind, narrated=narrated)


_FORMS: Final = (
    _form("npc", rf"{_ANY} <being>(?:,? [^,.;:!?@]{{1,40}}?)?,? {_CALLED} (?:the )?<a:PUI>"),
    _form("npc", rf"<a:PU>, (?:an?|{_OWN}) <being>{_STOP}"),
    _form("npc", r"<a:PU>, the <being>(?=[,.;:!?]|$| (?:who|whose|of|from|with)\b)"),
    _form("npc", rf"(?:the|{_OWN}) <being>{_AT}?, <a:PU>(?=[,.;!]|$)"),
    _form("npc", rf"(?:the|{_OWN}) <being> <a:PU>(?!['\u2019]){_STOP}"),
    _form(
        "npc",
        rf"(?:the|{_OWN}) <being>(?: [^,.;:!?@]{{1,30}}?)? (?:is|was) (?:(?:called|named) )?<a:PU>"
        r"(?=[,.;!]|$| and | who )",
    ),
    _form("npc", rf"{_OWN} (?:\w+ )?{either(KIN)},? <a:PU>(?!['\u2019])(?=[,.;!]|$| [a-z])"),
    _form("npc", r"(?:(?:his|her|their|@P\d+@'s) name (?:is|was)|my name is|i am called|call me) <a:PUI>"),
    _form("npc", rf"(?:he|she|@P\d+@|they)(?:'s|\u2019s| is| was| are| were) {_NAMED} <a:PUI>"),
    _form("npc", r"meet <a:PU>(?=[,.;]|$)"),
    _form("npc", rf"(?<!of )(?<!from )<a:PU> (?:\w+ly )?{_SEEN}(?=[,.;:!]|$| )", narrated=True),
    _form("environment", rf"(?:(?:the|an?|this|our) )?<mods>(?P<v>{_SETTLED}) of {_THERE}"),
    _form(
        "environment", rf"(?:the|an?|this|our|another|one) {_PLACE},? (?:{_NAMED}|by the name of) {_THERE}"
    ),
    _form("environment", rf"{_THERE}, (?:an?|the|our|my|one of the) {_PLACE}{_WHERE}"),
    _form("environment", rf"{_THERE} (?:is|was) (?:an?|the|only an?) {_PLACE}{_WHERE}"),
    _form("environment", rf"{_TRAVELLED} from <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_TRAVELLED}(?: back)? (?:from @[LU]\d+@ )?to <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_BOUND_FOR} <a:LU>(?!['\u2019])"),
    _form("environment", r"<a:LU> (?:harbou?r|docks|village|town|city|abbey|forest|castle)(?![\w-])"),
    _form("environment", rf"{_STANDING_IN} (?:the )?<a:L>(?!['\u2019])", narrated=True),
)
_STRANGER: Final = rule(ALIAS, "an? <being>")
_NAMES_BEFORE: Final = re.compile(r"name (?:is|was) $|(?:called|named) $", re.IGNORECASE)
_TAKEN_FOR_GRANTED: Final = re.compile(rf"(?:the|{_OWN}) |@[A-Z]\d+@, ", re.IGNORECASE)
_LOOK: Final = re.compile(
    r"-(?:eyed|haired|bearded|legged|armed|faced|nosed|toothed|handed|skinned|shouldered)$"
)


def find_introductions(
    marked: Marked, before: str, lexicon: Lexicon, *, narrated: bool, firm: bool
) -> Iterator[Introduction]:
    """Yield the new names that a sentence introduces; `before` is the marked sentence before it.

    `narrated` tells that the turn is the DM's. Unless the sentence is `firm`, only names are certain.
    """
    if "@" not in marked.text:
        return
    for form in _FORMS:
        if form.narrated and not narrated:
            continue
        for match in form.pattern.finditer(marked.text):
            mention = marked.mentions[int(match["a"])]
            if not narrated and is_punch_line(match):
                continue
            if _is_new(mention, lexicon) and (form.kind == "npc" or not form.narrated or " " in mention.name):
                is_fact = firm and _is_stated(marked.text, match)
                yield from _introduced(form.kind, mention, match, marked, before, is_fact=is_fact)
    if narrated:
        for mention in marked.mentions:
            if mention.letter == "P" and _is_new(mention, lexicon) and _has_title(mention.name):
                yield Introduction(mention.name, "npc", ALIAS, mention.name)


def _is_new(mention: Mention, lexicon: Lexicon) -> bool:
    return not lexicon.category_of(mention.name)


def _has_title(name: str) -> bool:
    words = name.split()
    return len(words) > 1 and fold_word(words[0]).strip(".") in TITLES


def _is_stated(text: str, match: re.Match[str]) -> bool:
    """Return whether nothing in an introduction, or before it in its clause, doubts it.

    Who asks for the reeve, Wymond, takes for granted that Wymond is the reeve.
    """
    start = match.start() if _TAKEN_FOR_GRANTED.match(match.group()) else clause_start(text, match.start())
    return not is_doubted(text[start : match.end()])


def _introduced(
    kind: Kind, mention: Mention, match: re.Match[str], marked: Marked, before: str, *, is_fact: bool
) -> Iterator[Introduction]:
    yield Introduction(mention.name, kind, ALIAS, mention.name)
    parts = match.groupdict()
    if not is_fact:
        return
    if parts.get("v"):
        yield Introduction(mention.name, kind, KIND, marked.plain(tidy(parts["v"], whole=True)))
    being = (
        match if "np" in parts else _stranger(before) if _NAMES_BEFORE.search(_before_name(match)) else None
    )
    if being is not None:
        yield from _description(mention.name, being["np"], being["tail"] or "", marked)


def _before_name(match: re.Match[str]) -> str:
    return match.string[match.start() : match.start("a") - 2]


def _stranger(before: str) -> re.Match[str] | None:
    """Return the one stranger in the sentence before "His name was Pip"."""
    strangers = list(_STRANGER.pattern.finditer(before))
    return strangers[0] if len(strangers) == 1 else None


def _description(name: str, np: str, tail: str, marked: Marked) -> Iterator[Introduction]:
    words = np.replace(",", "").split()
    if fold_word(words[-1]) in ANIMALS:
        yield Introduction(name, "npc", "race", words[-1])
        return
    parts = [part for part in read_description(np, tail) if part.number is None]
    for part in parts:
        yield Introduction(name, "npc", part.field, marked.plain(part.value))
    looks = [word for word in words[:-1] if _LOOK.search(word)]
    if looks and not any(part.field == "description" for part in parts):
        yield Introduction(name, "npc", "description", marked.plain(tidy(np, whole=True)))
