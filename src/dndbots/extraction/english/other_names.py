"""Other names: nicknames, full names and characters' names that a sentence gives to somebody who has a name.

"Call me Nan", "Harl Brakken, also known as the Net", "Player6 (Xiao Tang)".
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.grammar import rule
from dndbots.extraction.english.marked_names import Lexicon, Marked
from dndbots.extraction.port import ALIAS
from dndbots.text.words import fold_word

_OTHERS: Final = r"(?:everybody|everyone|people|friends|they|folk|locals|some|most(?: people)?|my friends)"
_SAME: Final = (
    r"(?:(?:who is |who's |who was )?(?:also|otherwise|better|sometimes|commonly|usually|widely) "
    r"(?:known as|called)|known as|nicknamed|alias|a\.?k\.?a\.?|who goes by|whose (?:real|full|true) name is"
    rf"|whom? {_OTHERS} calls?)"
)
_OF_SPEAKER: Final = rule(
    ALIAS,
    r"(?:my (?:full |real |true |character['\u2019]s )?name(?: is|'s|\u2019s)"
    r"|my character(?:,| is| is called| is named)"
    r"|i(?: am|'m|\u2019m| will be|'ll be|\u2019ll be) playing(?: as)?"
    r"|(?:the )?name(?:'s|\u2019s)|i go by|i am called"
    rf"|call me|{_OTHERS} calls? me"
    r"|(?:^|(?<=[,;.!] )|(?<=and )|(?<=but ))(?:i am|i'm|i\u2019m)(?= @[A-Z]\d+@(?:[,.;!]|$)))"
    r" (?:the )?<a:PUI>(?!['\u2019])",
)
_OF_NAME: Final = (
    rule(ALIAS, rf"<a:PUL>,? {_SAME} (?:the )?<b:PULI>(?!['\u2019])"),
    rule(ALIAS, r"<a:PU>['\u2019]s (?:real|full|true) name (?:is|was) <b:PUI>(?!['\u2019])"),
    rule(ALIAS, rf"{_OTHERS} calls? <a:PU> (?:only |just |simply )?(?:the )?<b:PUI>(?=[,.;!]|$)"),
    rule(ALIAS, r"<a:PU> goes by (?:the name (?:of )?)?<b:PUI>(?=[,.;!]|$)"),
)
# "Player6 (Xiao Tang)": the two names of one person. "(OOC)" and "(laughing)" are none.
_BESIDE: Final = re.compile(
    r"(?<![\w'\u2019-])([A-Z]\w{1,20}(?: [A-Z]\w{0,20}){0,2}) \((?:as |aka |a\.k\.a\. )?(?![A-Z]{2,5}\))"
    r"([A-Z][\w'\u2019-]{1,20}(?: [A-Z][\w'\u2019-]{0,20}){0,2})\)"
)


class OtherName(NamedTuple):
    """A name, and another one for the same person or place."""

    name: str
    other: str


def write_out_names(text: str) -> str:
    """Return a text with names in parentheses written out, because parentheses are not read otherwise."""
    return _BESIDE.sub(r"\1, also known as \2,", text)


def find_other_names(marked: Marked, speaker: str | None, lexicon: Lexicon) -> Iterator[OtherName]:
    """Yield the other names that a sentence gives: to its speaker, if it has one, and to people it names."""
    if speaker is not None:
        for match in _OF_SPEAKER.pattern.finditer(marked.text):
            other = marked.mentions[int(match["a"])].name
            if fold_word(other) != fold_word(speaker) and not lexicon.category.get(other):
                yield OtherName(speaker, other)
    for form in _OF_NAME if marked.text.count("@") > 2 else ():
        for match in form.pattern.finditer(marked.text):
            first, second = (marked.mentions[int(match[group])].name for group in "ab")
            if fold_word(first) != fold_word(second):
                yield OtherName(first, second)
