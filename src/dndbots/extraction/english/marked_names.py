"""Finds the names in a sentence, and replaces each by a short mark, so that patterns stay readable.

A mark is a letter and a number between two signs: `@P0@` is a person, `L` a place, `F` a faction, `I` an
item, and `U` a name of unknown kind.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from dndbots.extraction.english.word_tables import (
    ASKING,
    FACTION_WORDS,
    FOLK,
    ITEM_ENDINGS,
    ITEM_WORDS,
    NICKNAMES,
    OPENERS,
    PLACE_OPENERS,
    PLACE_WORDS,
    RACES,
    REAL_WORLD,
    ROLES,
    SURNAMES,
    TITLES,
    read_phrases,
)
from dndbots.text.english_words import EVERYDAY_WORDS, FUNCTION_WORDS
from dndbots.text.words import fold_word, stem

LONGEST_NAME: Final = 6  # words
LETTERS: Final[Mapping[str, str]] = {"PC": "P", "NPC": "P", "MON": "P", "LOC": "L", "FAC": "F", "ITEM": "I"}
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*['\u2019]?")
_ABBREVIATION = re.compile(r"(?<![^\W_])(?:[MD]rs?|Ms|St|Sgt|Lt|Capt|Prof)\. $")
_POSSESSIVE = re.compile(r"['\u2019]s?$", re.IGNORECASE)
_JOINS: Final = frozenset(["of", "the", "de", "von", "van", "du", "la", "al"])
_OPENING: Final = FUNCTION_WORDS | OPENERS | ASKING
_HEADS: Final = PLACE_WORDS | FACTION_WORDS | ITEM_WORDS
_ARTICLES: Final = frozenset(["the", "a", "an"])
_COMMON_STEMS: Final = frozenset(map(stem, EVERYDAY_WORDS))
_PLAIN: Final = (
    ROLES | RACES | FOLK | PLACE_WORDS | FACTION_WORDS | ITEM_WORDS | OPENERS | TITLES | REAL_WORLD
)
# Titles only before a name without other cues: Old Tam, but Old Owl Well.
_WEAK_TITLES: Final = frozenset(
    ["old", "high", "master", "elder", "saint", "ranger", "mother", "father", "brother", "sister"]
)
# Everyday words that end no name after a genitive: Aldwin's Captain, Tom's Sunday.
_NO_ENDING: Final = ROLES | RACES | FOLK | TITLES | OPENERS | REAL_WORLD | FUNCTION_WORDS
_CROWNED: Final = frozenset(["king", "queen", "emperor", "empress", "prince", "pope"])
_LONGEST_WORD: Final = 30
_NO_NAME: Final = read_phrases("no_name_endings")


class Mention(NamedTuple):
    """A name in a sentence: the name for updates, the letter of its kind, and how it is written."""

    name: str
    letter: str
    written: str


class Marked(NamedTuple):
    """A sentence with its names replaced by marks."""

    text: str
    mentions: tuple[Mention, ...]

    def plain(self, span: str) -> str:
        """Return a part of the sentence as it was written."""
        return _MARK.sub(self._written, span)

    def renamed(self, names: Mapping[str, str]) -> "Marked":
        """Return the sentence with some of its people under another name."""
        if names.keys().isdisjoint(mention.name for mention in self.mentions):
            return self
        mentions = (mention._replace(name=names.get(mention.name, mention.name)) for mention in self.mentions)
        return Marked(self.text, tuple(mentions))

    def _written(self, mark: re.Match[str]) -> str:
        written = self.mentions[int(mark[2])].written
        return written if mark[3] is None or written.lower() in _OWNING else written + mark[3]


_MARK = re.compile(r"@([A-Z])(\d+)@('s)?")
_OWNING: Final = frozenset(["my", "his", "her"])


def is_plain(word: str) -> bool:
    """Return whether a word is an everyday word, not a name."""
    bare = fold_word(word)
    return bare in EVERYDAY_WORDS or bare in _PLAIN or stem(bare) in _COMMON_STEMS


class Lexicon:
    """The known names, indexed by their words."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._folded = {fold_word(name): category for name, category in sorted(names.items())}
        self.category: dict[str, str] = {}
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        shorter: dict[str, set[str]] = {}
        for name, category in sorted(names.items()):
            words = tuple(_bare(word).low for word in _WORD.finditer(name))
            words = words[1:] if len(words) > 1 and words[0] in _ARTICLES else words
            alone = len(words) == 1 and (not name[:1].isupper() or words[0] in FUNCTION_WORDS)
            if not 0 < len(words) <= 2 * LONGEST_NAME or alone:
                continue
            self.category[name] = category
            self._by_first.setdefault(words[0], []).append((words, name))
            if len(words) > 1 and category in LETTERS:
                for word in _WORD.finditer(name):
                    if word.group()[:1].isupper() and not is_plain(word.group()):
                        shorter.setdefault(fold_word(word.group()), set()).add(name)
        for found in self._by_first.values():
            found.sort(key=lambda entry: (-len(entry[0]), entry[1]))
        self._shorter = {word: next(iter(whole)) for word, whole in shorter.items() if len(whole) == 1}

    def longest(self, words: "list[_Word]", index: int) -> tuple[int, str] | None:
        """Return the longest known name that begins at this word: its number of words, and the name."""
        for known, name in self._by_first.get(words[index].low, ()):
            here = words[index : index + len(known)]
            if tuple(word.low for word in here) == known and all(word.joined for word in here[1:]):
                return len(known), name
        return None

    def whole(self, word: str) -> str | None:
        """Return the only known name that contains this word, or None."""
        return self._shorter.get(fold_word(word))

    def category_of(self, name: str) -> str:
        """Return the category of a name, or of the only longer name that contains it; "" if it is new."""
        known = self.category.get(name) or self._folded.get(fold_word(name))
        known = known or self.category.get(self.whole(name) or "", "")
        title, _, rest = name.partition(" ")
        # Mr. Carver is the player's Jack Carver, and nobody new.
        is_played = (
            fold_word(title.strip(".")) in TITLES and self.category.get(self.whole(rest) or "") == "PC"
        )
        return known or ("PC" if is_played else "")

    def letter(self, name: str) -> str:
        """Return the letter of a known name's kind; `Q` for kinds without one."""
        return LETTERS.get(self.category.get(name, ""), "Q")


class _Word(NamedTuple):
    text: str
    low: str
    start: int
    end: int
    possessive: bool
    joined: bool  # only a blank, or a genitive and a blank, comes before it


def mark_names(sentence: str, lexicon: Lexicon, letters: Mapping[str, str] | None = None) -> Marked:
    """Return the sentence with a mark for each name. `letters` gives the kinds that the turn explains."""
    sentence = sentence.replace("@", " ")
    words = [_bare(match) for match in _WORD.finditer(sentence)]
    out: list[str] = []
    mentions: list[Mention] = []
    at, index = 0, 0
    while index < len(words):
        found = _mention(sentence, words, index, lexicon)
        if found is None:
            index += 1
            continue
        first, count, mention = found
        if mention.name not in lexicon.category:
            mention = mention._replace(letter=(letters or {}).get(mention.name, mention.letter))
        last = words[first + count - 1]
        out += [sentence[at : words[first].start], f"@{mention.letter}{len(mentions)}@"]
        mentions.append(mention)
        at, index = last.end, first + count
    out.append(sentence[at:])
    return Marked("".join(out), tuple(mentions))


def _bare(match: re.Match[str]) -> _Word:
    text = match.group()
    end = _POSSESSIVE.search(text)
    bare = text[: end.start()] if end else text
    joined = match.string[max(0, match.start() - 1) : match.start()] == " " and _is_word_end(match)
    return _Word(bare, fold_word(bare), match.start(), match.start() + len(bare), bool(end), joined)


def _is_word_end(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 2) : match.start() - 1]
    return before.isalnum() or before in ("'", "\u2019") or (before == "." and _is_abbreviated(match))


def _is_abbreviated(match: re.Match[str]) -> bool:
    """Return whether a short title stands before a word: Mr. Almeida."""
    return bool(_ABBREVIATION.search(match.string, max(0, match.start() - 7), match.start()))


def _mention(
    sentence: str, words: list[_Word], index: int, lexicon: Lexicon
) -> tuple[int, int, Mention] | None:
    known = lexicon.longest(words, index)
    capital = words[index].text[:1].isupper()
    if known and (capital or known[0] > 1):
        return _known(sentence, words, index, known, lexicon)
    if not capital:
        return None
    run = _before_thing(_run(words, index), words, index, lexicon)
    return _new(sentence, run, index, lexicon) if run else None


def _known(
    sentence: str, words: list[_Word], index: int, known: tuple[int, str], lexicon: Lexicon
) -> tuple[int, int, Mention]:
    """Return a known name, or a longer one that begins with it: Garth Stonehand may be another Garth."""
    count, name = known
    after = index + count
    while (
        lexicon.letter(name) == "P"
        and after < len(words)
        and words[after].joined
        and not words[after - 1].possessive
        and _is_capital(words[after].text)
        and not is_plain(words[after].text)
        and not lexicon.longest(words, after)
    ):
        after += 1
    written = sentence[words[index].start : words[after - 1].end]
    return index, after - index, Mention(" ".join(written.split()), lexicon.letter(name), written)


def _run(words: list[_Word], index: int) -> list[_Word]:
    """Return the capitalised words from here on that may be one name."""
    run: list[_Word] = []
    for word in words[index : index + 2 * LONGEST_NAME]:
        if run and not word.joined:
            break
        if run and run[-1].possessive and not _goes_on(word):
            break
        joins = word.text in _JOINS and bool(run)
        if not joins and not _is_capital(word.text):
            break
        run.append(word)
    # "In the Silent Tower I want to rest", but "King Aldous I".
    if len(run) > 1 and run[-1].text == "I" and fold_word(run[0].text) not in _CROWNED:
        run.pop()
    while run and run[-1].text in _JOINS:
        run.pop()
    return run[:LONGEST_NAME]


def _before_thing(run: list[_Word], words: list[_Word], index: int, lexicon: Lexicon) -> list[_Word]:
    """Cut a name where a known thing begins: hands Elena Brightwater | Moonblade."""
    for at in range(1, len(run)):
        known = lexicon.longest(words, index + at)
        if known and lexicon.letter(known[1]) == "I" and run[at - 1].text not in _JOINS:
            return run[:at]
    return run


def _goes_on(word: _Word) -> bool:
    """Return whether a name continues after a genitive: Hobb's End is one name, Aldwin's Garth two."""
    low = fold_word(word.text)
    return _is_capital(word.text) and (low in _HEADS or (is_plain(low) and low not in _NO_ENDING))


def _is_capital(word: str) -> bool:
    return word[:1].isupper() and len(word) <= _LONGEST_WORD and (len(word) == 1 or not word.isupper())


def _new(sentence: str, run: list[_Word], index: int, lexicon: Lexicon) -> tuple[int, int, Mention] | None:
    opens = not sentence[: run[0].start].strip(" \"'\u2018\u2019\u201c\u201d(-*_")
    skipped = 0
    if opens or fold_word(run[0].text) in _OPENING:
        skipped = _opening(run)
    run = _whole_name(sentence, run[skipped:])
    while run and run[-1].text in _JOINS:
        run.pop()
    if not run or not _is_name(sentence, run):
        return None
    written = sentence[run[0].start : run[-1].end]
    name = " ".join(written.split())
    known = next(
        (word.text for word in run if lexicon.whole(word.text) or word.text in lexicon.category), None
    )
    if known and (len(run) == 1 or fold_word(run[0].text) in TITLES):
        whole = lexicon.whole(known) or known
        name = known if len(run) > 1 and known in lexicon.category else name
        return index + skipped, len(run), Mention(name, lexicon.letter(whole), written)
    letter = _letter([word.text for word in run])
    after_the = sentence[: run[0].start].rstrip().lower().endswith("the")
    # Corwin Vale may be a person; the Silver Vale is a place.
    if len(run) == 2 and fold_word(run[1].text) in SURNAMES and not after_the and not is_plain(run[0].text):
        letter = "U"
    return index + skipped, len(run), Mention(name, letter, written)


def _opening(run: list[_Word]) -> int:
    """Return how many words of a run only open the sentence."""
    skipped = 0
    low = [fold_word(word.text) for word in run]
    if len(low) > 1 and low[0] in NICKNAMES and not is_plain(low[1]):
        return 0
    while skipped < len(run) and low[skipped] in _OPENING:
        skipped += 1
    rest = low[skipped:]
    # Skip the first word of "Yesterday Aldwin", but not of Captain Voss, Silver Key and Ghost Fist.
    if skipped == 0 and rest and is_plain(rest[0]) and rest[0] not in TITLES and rest[-1] not in _HEADS:
        skipped += len(rest) == 1 or not all(map(is_plain, rest))
    return skipped


def _whole_name(sentence: str, run: list[_Word]) -> list[_Word]:
    """Cut a name where another begins: Aldwin | of Oakhurst, but Spine of the World."""
    for at, word in enumerate(run):
        if word.text == "of" and at:
            head = fold_word(run[at - 1].text)
            thing = head in _HEADS
            after_the = sentence[: run[0].start].rstrip().lower().endswith("the")
            if not thing and not (after_the and at == 1 and head not in ROLES | TITLES):
                return run[:at]
        if word.text == "the" and at and run[at - 1].text != "of":
            epithet = fold_word(run[at + 1].text) if at + 1 < len(run) else ""
            if epithet in (ROLES | RACES | _HEADS) - {"elder"} or is_plain(run[at - 1].text) or at > 1:
                return run[:at]
    return run


def _is_name(sentence: str, run: list[_Word]) -> bool:
    words = [fold_word(word.text) for word in run if word.text not in _JOINS]
    if any(len(word) < 2 or word in REAL_WORLD or any(map(str.isdigit, word)) for word in words[:1]):
        return False
    if words[0] in OPENERS:
        return False
    if len(words) == 1:
        if not sentence[: run[0].start].strip() and words[0].endswith(_NO_NAME):
            return False
        called = sentence[: run[0].start].rstrip().lower().endswith(("named", "called", "name is", "name of"))
        return (called and words[0] not in FUNCTION_WORDS) or not is_plain(words[0])
    # City Watch and Silver Key are names; Mayor Captain is none.
    return any(word not in TITLES | ROLES | RACES | FOLK for word in words)


def _letter(words: list[str]) -> str:
    low = [fold_word(word) for word in words]
    head = low[low.index("of") - 1] if "of" in low[1:] else low[-1]
    if len(low) > 1:
        if low[0] in TITLES and low[0] not in _WEAK_TITLES:
            return "P"
        for letter, heads in (("L", PLACE_WORDS), ("F", FACTION_WORDS), ("I", ITEM_WORDS)):
            if head in heads:
                return letter
        opens = {"L": PLACE_OPENERS, "F": {"house"}, "P": TITLES}
        return next((letter for letter, openers in opens.items() if low[0] in openers), "U")
    # Frostbrand.
    return "I" if low[0].endswith(ITEM_ENDINGS) and low[0] not in ITEM_ENDINGS else "U"
