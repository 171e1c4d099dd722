"""Rules for what people have: heirlooms, arms, instruments, tools."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import BELONGINGS, KIN, either

_THING: Final = (
    rf"(?:(?!(?:his|her|their|the)\b)[a-z][a-z-]{{1,20}},? ){{0,3}}?{either(BELONGINGS)}(?![\w'-])"
)
_OWN: Final = r"(?:his|her|their|my|@P\d+@['\u2019]s)"
_OFTEN: Final = r"(?:(?:still|always|also|now|never goes without|proudly) )?"
_TO: Final = (
    r"(?=[.,;:!]|$| (?:and|but|that|which|who|of (?:his|hers|theirs)|on|at|in|round|around|under|over"
    r"|everywhere|wherever|made|given|from|since|with|he|she|as)\b)"
)
# "Carries a sword to the table" is of the moment.
_AND_STAYS: Final = r"(?! (?:over|from|on) (?:to )?(?:the|you|your)\b)"

POSSESSION_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "item",
        rf"<a:PU>,? (?:who )?{_OFTEN}(?:carry|carries|carried|wears?|wields?|owns?|keeps?|uses?|plays?"
        rf"|treasures?|has|have|works with) (?P<w>{_OWN} (?:late |dead |old |great-)?{either(KIN)}['\u2019]s"
        rf" (?:old )?(?:[a-z-]+ )?{either(BELONGINGS)}){_TO}",
    ),
    rule(
        "item",
        rf"<a:PU>,? (?:who )?{_OFTEN}(?:carries|wears|wields|owns|keeps|plays|treasures|has)"
        rf" (?P<w>(?:an?|two|the same) {_THING}){_AND_STAYS}{_TO}",
        narrated=True,
    ),
    rule(
        "item",
        rf"<a:PU> (?:[^.,;:@]|@[LU]\d+@){{3,60}}? with (?:that|{_OWN}) (?P<w>{_THING}){_TO}",
        past=True,
    ),
)
