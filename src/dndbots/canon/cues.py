"""Cues: promises, threats, debts and mysteries in what people say, found by their wording.

The patterns are narrow on purpose. A missed promise is still in the log; a false one annoys players.
"""

import re
from typing import Final, NamedTuple, get_args

from dndbots.events import ThreadKind

LONGEST: Final = 240
_FEWEST_WORDS: Final = 3  # "I promise." has no content
_WHOM: Final = r"(?:(?:you|him|her|them|it|your|his|their|this|that|every|all|the)\b|(?-i:[A-Z]))"

_CUES: Final[dict[ThreadKind, str]] = {
    "promise": r"""
        \b(?:I|we)(?:\ will|'ll)?\ (?:solemnly\ )?(?:promise|vow)\b
      | \b(?:I|we)\ swear(?:\ (?:to\ (?!god\b|you,)|that|on|by|upon|an?\ |it\b)|[.!]*$)
      | \b(?:you\ have|gave|give\ you)\ (?:my|our|his|her|their)\ word\b
      | \b(?:has|have|had)?\ ?(?:promised|vowed|sworn|swore)\ (?:to|that|him|her|them|us|you|me|an?)\b
    """,
    "threat": rf"""
        \b(?:I|we)(?:\ will|'ll|'m\ going\ to|\ am\ going\ to|\ are\ going\ to|'re\ going\ to)
          \ (?:kill|destroy|hunt|burn|hang|gut|crush|ruin|bury|slay)\ {_WHOM}
      | \byou(?:\ will|'ll|\ shall)\ (?:pay\ for|regret|suffer|die\ for|be\ sorry)\b
      | \b(?:swears?|swore|vows?|vowed|seeks?|wants?|demands?)\ (?:revenge|vengeance)\b
      | \bthis\ is(?:n't|\ not)\ over\b
    """,
    "debt": r"""
        \b(?:I|we|you|he|she|they|(?-i:[A-Z])\w+)\ (?:still\ )?owes?
          \ (?:me|you|him|her|us|them|(?-i:[A-Z])\w+|\d+|a\ (?:favou?r|life|debt))\b
      | \bin\ (?:my|your|his|her|our|their)\ debt\b
      | \b(?:will|'ll|to)\ (?:pay|repay)\ (?:you|me|us|them|him|her)\ back\b
    """,
    "mystery": r"""
        \b(?:nobody|no\ one|none\ of\ (?:us|you|them))\ knows?\ (?:who|what|why|where|how)\b
      | \b(?:vanished|disappeared)\ (?:without|into\ thin|overnight|mysteriously)\b
      | \b(?:an?|the|this|that)\ (?:strange|unknown|cryptic|mysterious)
          \ (?:symbol|rune|sigil|mark|riddle|letter|message|voice|map|key)\b
      | \b(?:prophecy|foretold)\b
    """,
}
_ANY: Final = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _CUES.items()), re.VERBOSE | re.IGNORECASE
)
# Every cue contains one of these, and most texts contain none, so looking for them first is cheap.
_ROOTS: Final = (
    "promis", "vow", "swear", "swor", "word", "kill", "destroy", "hunt", "burn", "hang", "gut", "crush",
    "ruin", "bury", "slay", "you will", "you'll", "you shall", "veng", "not over", "n't over", "owe",
    "debt", "pay", "knows", "vanish", "disappear", "strange", "unknown", "cryptic", "mysterious",
    "prophecy", "foretold",
)  # fmt: skip
# "We'll find her. I promise." The promise is in the sentence before.
_OATH: Final = re.compile(
    r"(?:and |yes, |that )?(?:I|we)(?: will|'ll)? ?(?:do )?(?:promise|swear|vow)(?: it| you| that)?[.!]*",
    re.IGNORECASE,
)
_PLEDGED: Final = re.compile(
    r"\b(?:I|we)(?:'ll| will| won't| shall|'m going to| am going to)\b", re.IGNORECASE
)
_KINDS: Final[tuple[ThreadKind, ...]] = get_args(ThreadKind)
_END: Final = re.compile(r"(?<=[.!?…])[\"\u201d*]*+\s+|[\r\n]+")
_QUOTES: Final = ('"', "\u201c")
_AROUND: Final = ' "\u201c\u201d'
_APOSTROPHE: Final = "\u2019"


class Cue(NamedTuple):
    """A promise, threat, debt or mystery, and the sentence that contains it."""

    kind: ThreadKind
    text: str


def cue_in(text: str) -> Cue | None:
    """Return the first cue in a text; None if there is none."""
    if not _may_have_cue(text):
        return None
    text = text.replace(_APOSTROPHE, "'")
    before = ""
    for said in _END.split(text):
        sentence, before = _with_pledge(said, before), said
        match = _ANY.search(sentence) if _may_have_cue(sentence) else None
        if match is not None and len(sentence.split()) >= _FEWEST_WORDS:
            kind = next(kind for kind in _KINDS if kind == match.lastgroup)
            line = " ".join(sentence.split())
            if line.count('"') % 2:
                line = line.replace('"', "").strip()
            return Cue(kind, line if len(line) <= LONGEST else f"{line[:LONGEST].rsplit(' ', 1)[0]}…")
    return None


def _with_pledge(sentence: str, before: str) -> str:
    """Return a bare oath together with the sentence before or after it, if that says what is promised."""
    oath, pledge = (sentence, before) if _is_oath(sentence) else (before, sentence)
    if not (_is_oath(oath) and _PLEDGED.search(pledge)):
        return sentence
    # Two quotations in a row are one: half of a pair of marks between them would look torn.
    is_quoted = before.lstrip()[:1] in _QUOTES and sentence.lstrip()[:1] in _QUOTES
    whole = f"{before.strip(_AROUND)} {sentence.strip(_AROUND)}"
    return f'"{whole}"' if is_quoted else whole


def _is_oath(sentence: str) -> bool:
    return _OATH.fullmatch(sentence.strip(_AROUND)) is not None


def _may_have_cue(text: str) -> bool:
    lowered = text.lower()
    for root in _ROOTS:  # noqa: SIM110 - any() takes a third longer, and this runs for every event
        if root in lowered:
            return True
    return False
