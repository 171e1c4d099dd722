"""Word a line in other ways: what is named first and taken up later, what stands around it, a place alone.

A line that is not understood is read again in these words. Only a clear deed counts, and the record keeps
the line as it was typed.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_GOING: Final = frozenset(("go", "flee"))
_DOING: Final = _GOING | frozenset(
    ("take", "open", "look", "search", "use", "give", "attack", "cast", "bind", "buy", "sell", "ask")
)
_WE: Final = (
    r"(?:let'?s|let us|we|i|i'?ll|we'?ll|we should|i will|we will|shall we|time to)"
    r"(?: all| just| should| could)?"
)
_MOVE: Final = r"(?:go|head|walk|move|run|get|march|try|check|visit|explore|hit)"
_THERE: Final = r"(?: over| up| down| in| out| back| off| on| it)?(?: to)?(?: there| that| it)?"
_GO: Final = rf"(?:(?:so|then|ok|okay|now|and) )*{_WE} {_MOVE}{_THERE}(?: now| next| first| then| please)*"
_SUGGESTED: Final = (
    r"(?:(?:i am|i'?m|we are|we'?re) )?(?:thinking|how about|what about|maybe|perhaps|next stop|next up|next"
    r"|my vote is|i vote(?: for| we try)?|i say|i suggest|i pick|i choose|onwards? to|on to|destination"
    r"|first stop|straight to|directly to|right to)(?: of| about| for)?"
)
_BEHIND: Final = (
    r"(?: next| first| now| then| it is| instead| maybe| please| pls| (?:sounds|looks|seems) good"
    r"| for (?:me|us))*"
)
_PLACE_FIRST: Final = re.compile(rf"(?P<place>[^,;.!?]{{2,80}}?) ?[,;.!?\u2014-]* {_GO}\W*", re.IGNORECASE)
_PLACE_LAST: Final = re.compile(rf"{_SUGGESTED}[:,]? (?P<place>[^,;.!?]{{2,60}}?){_BEHIND}\W*", re.IGNORECASE)
_PLACE_TIME: Final = re.compile(
    r"(?:[^,;.!?]{1,20}[,;.!?] ?)?(?P<place>[^,;.!?]{3,30}?) (?:time|it is|it's time)\W*", re.IGNORECASE
)
_TAKEN_UP: Final = re.compile(
    r"(?P<named>(?:the|this|that|those|these|my|his|her|their|our|a|an|some)\b[^,;:.!?]{2,60}) ?"
    r"(?:[,;:\u2014]|\.{2,4}| -{1,4}) ?"
    r"(?P<before>.*?)\b(?:it|them|em|him|her|that|those|one|these|they)\b(?P<behind>.*)",
    re.IGNORECASE | re.DOTALL,
)
# As those write who are used to direct somebody else: "have my character wait", "You draw your sword".
_DIRECTED: Final = re.compile(
    r"(?:please )?(?:(?:have|let|make) my|(?:can|could|may|would) my) (?:character|guy|hero|pc|toon|avatar"
    r"|fighter|thief|cleric|wizard|mage|magic-user|elf|dwarf) (?:please )?(?P<deed>[^\"]{2,200}?)\??",
    re.IGNORECASE,
)
_DIRECTED_ALL: Final = re.compile(
    r"(?:please )?(?:have|let|make) (?:the|our|my) (?:whole )?(?:party|group|team) (?P<deed>[^\"?]{2,200})",
    re.IGNORECASE,
)
_NARRATED: Final = re.compile(
    r"you (?P<deed>(?:(?:draw|ready|raise|grab|light|unsheathe|sheathe|swing|nock|lift|lower) your"
    r"|(?:climb|walk|stride|sprint|step|sneak|creep|charge|swim|crawl|march|dash|stumble)"
    r" (?:up|down|out|into|in|to|towards?|over|across|through|along|back|onto|the|at)) [^\"?]{2,200})",
    re.IGNORECASE,
)
_YOUR: Final = re.compile(r"\byour\b", re.IGNORECASE)
_RUN_ON: Final = (
    r"i wanna|i want to|i'?ll|i will|can i|can we|could i|let'?s|let us|we should"
    r"|i am going to|i'?m gonna|i go"
)
_PIECES: Final = re.compile(
    rf" ?(?:[:;.!?\u2026\u2014]+| -+ |,|\bso\b|\bbecause\b|\bcos\b|\bcuz\b"
    rf"|(?<=\w) (?=(?:{_RUN_ON})\b)) ?",
    re.IGNORECASE,
)
_PREPOSITION: Final = re.compile(
    r"(?:to|into|back|up|down|through|over|inside|outside|towards?|in|out|along|via)\b", re.IGNORECASE
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|nobody|cannot|without|nor)\b|n['\u2019]t\b|\b(?:dont|wont|cant|didnt|isnt|doesnt)\b"
    r"|\bno \w+ing\b",
    re.IGNORECASE,
)
_MOST_PLACE: Final = 9
_MOST_PIECES: Final = 4
_SHORTEST_PIECE: Final = 2


class OtherWording(NamedTuple):
    """Other words for a line, and the deeds that they may turn out to be."""

    text: str
    verbs: frozenset[str]


def word_otherwise(line: str) -> Iterator[OtherWording]:
    """Yield other wordings of a line, the closest first. What somebody will not do is never among them."""
    yield from (wording for wording in _word_otherwise(line) if not denies(wording.text))


def own_deed(line: str) -> str | None:
    """Return a line that directs its own character, or tells of it as "you", as said by itself."""
    line = " ".join(line.split())
    if (directed := _DIRECTED.fullmatch(line)) is not None:
        return directed["deed"]
    if (directed := _DIRECTED_ALL.fullmatch(line)) is not None:
        return f"let's {directed['deed']}"
    told = _NARRATED.fullmatch(line)
    return None if told is None else f"I {_YOUR.sub('my', told['deed'])}"


def denies(text: str) -> bool:
    """Check for a word that denies what is said."""
    return _DENIED.search(text) is not None


def _word_otherwise(line: str) -> Iterator[OtherWording]:
    line = " ".join(line.split())
    taken_up = _TAKEN_UP.fullmatch(line)
    if taken_up is not None:
        yield OtherWording(f"{taken_up['before']}{taken_up['named']}{taken_up['behind']}", _DOING)
    for form in (_PLACE_FIRST, _PLACE_LAST, _PLACE_TIME):
        match = form.fullmatch(line)
        if match is not None and len(match["place"].split()) <= _MOST_PLACE:
            to = "" if _PREPOSITION.match(match["place"]) else "to "
            yield OtherWording(f"go {to}{match['place']}", _GOING)
    pieces = [piece for piece in _PIECES.split(line) if len(piece.split()) >= _SHORTEST_PIECE]
    for piece in reversed(pieces[-_MOST_PIECES:]) if len(pieces) > 1 else ():
        yield OtherWording(piece, _DOING)
