"""The notation of rules: short patterns over marked sentences, with a few named parts.

`<a:PU>` matches the mark of a person or an unexplained name, as group `a`. `<loc>` matches a place, `<np>` a
role or other description, `<kin>` a tie between people, and `<words>` the words of a value.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from dndbots.extraction.english.word_tables import (
    ANIMALS,
    FEATURES,
    FOLK,
    KIN,
    MUTUAL,
    RACES,
    ROLE_ENDINGS,
    ROLES,
    either,
    read_phrases,
)
from dndbots.extraction.port import Kind
from dndbots.text.english_words import FUNCTION_WORDS

MOST_WORDS: Final = 12
_SLOT = re.compile(r"<([a-z]):([A-Z]+)>")
_NO_MODIFIER: Final = either(
    FUNCTION_WORDS - {"own", "first", "last"} | {"named", "called", "next", "same", "bit", "lot", "little"}
)
# Offices only with their domain: the master of the mint, but not a master.
_OVER: Final = r"(?:master|mistress|head|keeper|speaker|voice|hand)(?= (?:of|to|for) )"
_HEAD: Final = rf"(?:(?:{either(ROLES | RACES | FOLK)}|[a-z]+{either(ROLE_ENDINGS)})(?![\w-])|{_OVER})"
_MODIFIERS: Final = rf"(?:(?!{_NO_MODIFIER}(?![\w-]))[a-z][\w'\u2019-]{{0,30}},? ){{0,4}}?"
_NARROW: Final = r"(?: (?:of|from) (?:the )?(?:@[A-Z]\d+@|[a-z]+))?"
_TAIL: Final = r"(?: (?:of|to|for|at|from|in|with|on|whose|wearing|dressed|within) [^,.;:!?]{1,80}?)?"
_LOOKS: Final = r"(?: (?:with|whose|wearing|dressed|from) [^,.;:!?]{1,80}?)"
END: Final = (
    r"(?=[,.;:!?]|$| and (?:@|he |she |is |has |wants )| but | who | that | while | as | "
    r"here\b| by (?:trade|birth|blood)\b| for (?:\w+ )?years| (?:you|everybody|everyone|they) "
    r"| now\b| again\b| these days\b)"
)
_PARTS: Final = {
    "<np>": rf"(?P<np>{_MODIFIERS}{_HEAD})(?P<tail>{_TAIL})",
    "<narrow>": rf"(?P<np>{_MODIFIERS}{_HEAD})(?P<tail>{_NARROW})",
    "<short>": rf"(?P<np>{_MODIFIERS}{_HEAD})",
    "<being>": rf"(?P<np>{_MODIFIERS}(?:{_HEAD}|{either(ANIMALS)}(?![\w-])))(?P<tail>{_LOOKS}?)",
    # Any word for somebody, if it is no everyday word: a cataloguer; and any word at all.
    "<worker>": (
        rf"{_MODIFIERS}(?P<worker>[a-z]{{2,20}}(?:er|or|ist|ian|eer|man|woman|ess))(?![\w-])(?:{_LOOKS})?"
    ),
    "<someone>": rf"{_MODIFIERS}(?P<someone>@U\d+@|[a-z][\w'\u2019-]{{0,30}})",
    "<office>": (
        rf"(?P<np>{_MODIFIERS}{_HEAD})(?P<tail>(?: (?:of|to) (?:the |an? )?[a-z][a-z'-]+(?: [a-z'-]+)??)?)"
    ),
    "<look>": (
        rf"(?P<w>(?:(?:an? |very )?[a-z-]{{3,15}}, )??(?:[^,;:.!?@]{{0,60}}[ -])??"
        rf"\b{either(FEATURES)}\b(?:[^,;:.!?@]|@P\d+@'s){{0,60}}?)"
    ),
    "<years>": (
        r"(?P<v>(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|(?:thir|four|fif|six|seven|eigh"
        r"|nine)teen|(?:an? |two |three |four |five |six )?hundred(?: and [a-z-]+)?))(?!\w|-(?!year))"
    ),
    "<loc>": (
        r"(?:the |an? )?(?:(?:[a-z-]{1,40} ){0,2}(?:village|town|city|hamlet|kingdom|land|port|region|realm"
        r"|ruins|island) (?:of|called|named) )?"
        # "In the Salted Lantern": an inn, though a lantern is a thing.
        r"(?:the )?@(?:[LU]|(?<=the @)I)(?P<b>\d+)@(?!['\u2019])"
    ),
    "<kin>": (
        r"(?:(?:[a-z]+ )?(?:older|younger|elder|little|big|late|dear|old|sworn|best|close|bitter"
        rf"|good|only|beloved|oldest|eldest|youngest) )?(?P<kin>{either(KIN)})"
    ),
    "<kins>": rf"(?P<kin>{either(MUTUAL)})",
    "<words>": r"(?P<v>[^;:!?]{2,160}?)(?=[.;:!?]|$)",
    "<few>": r"(?P<v>[^,;:!?]{2,160}?)(?=[,.;:!?]|$)",
    "<is>": (
        r"(?:is|are|'s|\u2019s)(?: (?:now|also|still|actually|currently|really|both|already|just"
        r"|indeed|no longer))?"
    ),
    "<end>": END,
    "<sure>": (
        r"(?=[,.;!]|$| (?:in|at|by|from|since|for|after|somewhere|and|near|with|beneath|under"
        r"|inside|on|within|this|last|these)\b)"
    ),
    "<mods>": _MODIFIERS,
}


class Rule(NamedTuple):
    """A way to state a fact. Group `a` is the subject; `b`, `v` or the description `np` is the value.

    A value in group `w` is kept whole. An unexplained name counts as `kind`. `narrated` rules apply only to
    the DM's narration. `past` rules state things that happened and still hold: killed, captured, forged.
    `firm` rules hold even if other words of the sentence express doubt. `over` rules end a fact.
    """

    field: str
    expression: str
    kind: Kind = "npc"
    narrated: bool = False
    past: bool = False
    firm: bool = False
    over: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made on first use."""
        return _compiled(self.expression)


# Compiling all rules takes a second, so each is compiled on first use.
@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def rule(
    field: str,
    pattern: str,
    *,
    kind: Kind = "npc",
    narrated: bool = False,
    past: bool = False,
    firm: bool = False,
    over: bool = False,
) -> Rule:
    """Return a rule from its short notation."""
    for part, meaning in _PARTS.items():
        pattern = pattern.replace(part, meaning)
    pattern = _SLOT.sub(lambda slot: rf"@[{slot[2]}](?P<{slot[1]}>\d+)@", pattern)
    return Rule(field, rf"(?<![\w@]){pattern}", kind, narrated, past, firm, over)


_CUT: Final = re.compile(
    r"[;:!?\u201c\u201d\"]|, | (?:but|because|while|whereas|although|though|which|unless|until"
    r"|since|where|when|so|as|and then)(?: |$)"
    r"| and (?=(?:he|she|it|they|you|we|is|has|was|will|there|@P\d+@|his|her|their|promises"
    r"|offers|says|gives|hands|asks|tells|begs) )",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(r"^(?:(?:the|an?|that|to|very|some|also|just|only|now) )+", re.IGNORECASE)
_TRAILING: Final = frozenset(read_phrases("trailing_words"))


_WHEN: Final = re.compile(r" (?:when|until|as|where) ", re.IGNORECASE)
_VERBS: Final = frozenset(["is", "are", "was", "were", "has", "had", "will"])


def tidy(span: str, *, whole: bool = False, timed: bool = False) -> str:
    """Return a value cut at the end of its clause, without leading articles and trailing words; "" if none.

    `whole` keeps the end that the rule found; `timed` keeps words that say when.
    """
    cut = next((at for at in _CUT.finditer(span) if not (timed and _WHEN.match(at.group()))), None)
    cut = None if whole else cut
    text = (span[: cut.start()] if cut else span).strip(" ,.'\u2019-")
    text = _without_trailing(_LEADING.sub("", text)).strip(" ,.'\u2019-")
    words = text.split()
    return "" if len(words) > MOST_WORDS or (words and words[0].lower() in _VERBS) else " ".join(words)


def _without_trailing(text: str) -> str:
    words = text.split(" ")
    while len(words) > 1 and words[-1].lower() in _TRAILING:
        words.pop()
    return " ".join(words)
