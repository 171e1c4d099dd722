"""Cues in a turn for the kind of an unexplained name: a person, a place, or a faction."""

import re
from collections.abc import Iterator
from typing import Final

from dndbots.extraction.english.marked_names import Marked
from dndbots.extraction.english.word_tables import DEVOTED, FOLK, RACES, ROLES

_SAYS: Final = (
    r"(?:says?|said|nods?|smiles?|grins?|whispers?|laughs?|shrugs?|sighs?|bows?|frowns?"
    r"|replies|looks|turns|waves"
    r"|mutters?|answers?|leans|asks?|tells|wants|hopes|fears|hates|loves|promises|swears|vows"
    r"|lives|wears|smirks)"
)
_FOLK_WORD: Final = "|".join(sorted(map(re.escape, (ROLES | RACES | FOLK)), key=lambda w: (-len(w), w)))
# "The blacksmith of X" makes X a place. "The priest of X" does not: X may be a god.
_SETTLED_WORD: Final = "|".join(sorted(ROLES - DEVOTED - {"owner"}, key=lambda word: (-len(word), word)))
_CUES: Final = (
    ("P", re.compile(rf"@U(\d+)@,? (?:\w+ly )?{_SAYS}\b", re.IGNORECASE)),
    (
        "P",
        re.compile(
            r"@I(\d+)@,? (?:says|nods|smiles|grins|laughs|shrugs|sighs|bows|frowns|replies)\b", re.IGNORECASE
        ),
    ),
    (
        "P",
        re.compile(
            rf"\b(?:{_FOLK_WORD})s?,? (?:named|called|by the name of|known as) @U(\d+)@", re.IGNORECASE
        ),
    ),
    (
        "P",
        re.compile(
            r"@U(\d+)@(?:'s|\u2019s) (?:\w+ )?(?:brother|sister|wife|husband|father|mother|eyes|hand"
            r"|voice)\b"
        ),
    ),
    ("P", re.compile(rf"@[UI](\d+)@,? (?:is |was )?(?:the|an?) (?:\w+ )?(?:{_FOLK_WORD})\b", re.IGNORECASE)),
    ("P", re.compile(r"@[UI](\d+)@,? (?:who|himself|herself)\b", re.IGNORECASE)),
    ("L", re.compile(rf"\b(?:{_SETTLED_WORD}) of @U(\d+)@(?!['\u2019])", re.IGNORECASE)),
    (
        "L",
        re.compile(
            r"\b(?:village|town|city|hamlet|kingdom|land|port|region|isle|island|capital|realm|ruins"
            r"|forest"
            r"|fortress|county|duchy|province|fields|streets|gates|outskirts|people|walls) of @U(\d+)@",
            re.IGNORECASE,
        ),
    ),
    ("L", re.compile(r"\bat the @[UI](\d+)@(?!['\u2019]s? )", re.IGNORECASE)),
    (
        "L",
        re.compile(
            r"\bthe @[UI](\d+)@ (?:is|has been|lies|stands) (?:now |all but )?(?:abandoned|deserted"
            r"|flooded|quarantined|overrun"
            r"|besieged|under siege|in ruins|haunted)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "L",
        re.compile(
            r"@U(\d+)@ (?:is|has been|lies|stands) (?:now |all but )?(?:deserted|flooded|quarantined"
            r"|overrun|besieged|under siege"
            r"|in ruins|closed by order)\b",
            re.IGNORECASE,
        ),
    ),
    ("L", re.compile(r"\b(?:nobody|no one) (?:goes to|lives in|visits) (?:the )?@[UI](\d+)@", re.IGNORECASE)),
    (
        "L",
        re.compile(
            r"\b(?:hidden|hiding|staying|lodging|lives|living|waiting|waits|drinking|kept) in the "
            r"@[UI](\d+)@(?!['\u2019]s? )",
            re.IGNORECASE,
        ),
    ),
    (
        "F",
        re.compile(
            r"\b(?:members?|leader|agents?|spy|initiates?|soldiers|ranks|founder|grandmaster|one|enem"
            r"(?:y|ies)) of the "
            r"@[UI](\d+)@(?!['\u2019]s? )",
            re.IGNORECASE,
        ),
    ),
    (
        "F",
        re.compile(
            r"\b(?:joined|joins|sworn to|war on|war with) the @[UI](\d+)@(?!['\u2019]s? )", re.IGNORECASE
        ),
    ),
    (
        "F",
        re.compile(
            r"\bthe @[UI](\d+)@ (?:has|have) (?:declared|recruited|sworn|made (?:its|their))\b", re.IGNORECASE
        ),
    ),
    (
        "F",
        re.compile(r"\bthe @[UI](\d+)@ and the @[UFI]\d+@ are (?:\w+ )?(?:enemies|at war)\b", re.IGNORECASE),
    ),
    (
        "L",
        re.compile(
            r"\b(?:in|into|near|outside|throughout|road to|way to|live in|lives in|comes from|hails "
            r"from) @U(\d+)@(?!['\u2019]s? )",
            re.IGNORECASE,
        ),
    ),
)


def find_cues(marked: Marked) -> Iterator[tuple[str, str]]:
    """Yield each unexplained name for which the sentence has a cue, with its letter."""
    if "@U" in marked.text or "@I" in marked.text:
        for letter, cue in _CUES:
            for match in cue.finditer(marked.text):
                yield marked.mentions[int(match[1])].name, letter
