"""The ways to introduce a person or a place by name, as patterns over marked sentences."""

from typing import Final, NamedTuple

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.passages import QUOTE
from dndbots.extraction.english.word_tables import (
    IRREGULAR_PASTS,
    KIN,
    PLACE_KINDS,
    PLACE_WORDS,
    RULERS,
    either,
)
from dndbots.extraction.port import ALIAS, Kind
from dndbots.text.english_words import FUNCTION_WORDS

_CALLED: Final = (
    r"(?:called|named|by the name of|known as|who (?:is|was) (?:called|named|known as)|going by"
    r"|who (?:goes|went) by(?: the name)?(?: of)?|who calls? (?:him|her|them)self"
    r"|who calls? @[PU]\d+@self|who (?:introduces?|introduced) (?:(?:him|her|them)self|\S{1,9}self) as"
    r"|whose name (?:is|was))"
)
OWN: Final = r"(?:my|our|his|her|their|your|@[A-Z]\d+@'s)"
_ANY: Final = rf"(?:an?|the|this|that|one|another|some|{OWN})"
_STOP: Final = r"(?=[,.;:!?]|$| (?:and|or|but|who|whose|that|which|is|was|has|had|with|in|at|on|from)\b)"
# A second one after it makes a list, and no apposition: a scribe named Hotep, his bodyguard, and a boy.
_ACTS: Final = (
    rf"(?= (?:[a-z]{{2,15}}ly )?(?:[a-z]{{2,15}}(?:s|ed)|{either(IRREGULAR_PASTS)})"
    r" (?:you|your|us|the|an?|his|her|him|them|it|to|at|in|into|on|up|down|from|over|out|back|away|@))"
)
_ALONE: Final = rf"(?!,? and (?:an?|the|{OWN}) )"
# Words that are surnames as well make nobody a place, but "a moon" is one.
_ALSO_SURNAMES: Final = frozenset(["moon", "planet", "mill", "cottage", "pier"])
_NOUNS: Final = (
    rf"(?:{either(PLACE_WORDS | PLACE_KINDS | _ALSO_SURNAMES)}|[a-z]{{3,}}(?:house|yard|hall|shop|works))"
)
_SETTLED: Final = (
    r"(?:village|town|city|hamlet|kingdom|land|port|region|isle|island|capital|realm|ruins|forest|fortress"
    r"|county|duchy|province|abbey|castle|keep|monastery|barony|settlement|valley|harbou?r|temple)"
)
_WHERE: Final = (
    r"(?=[,.;:!?]|$| (?:of|on|in|at|by|near|with|where|that|which|behind|beside|between|from|to|and|under"
    r"|above|outside|whose|you|we|i|up|down|across|beyond|full|two|three|four|five|six|half|some"
    r"|an hour|a day"
    r"|@P\d+@)\b)"
)
_QUALIFIERS: Final = rf"(?:(?!{either(FUNCTION_WORDS)}(?![\w-]))[a-z][\w'\u2019-]{{0,30}},? ){{0,4}}?"
_PLACE: Final = rf"(?P<v>{_QUALIFIERS}{_NOUNS}(?![\w-]))"
_THERE: Final = r"(?:the )?<a:LUI>(?!['\u2019])"
_NAMED: Final = r"(?:called|named|known as)"
_AT: Final = r"(?: (?:of|from|in|at|behind|by|on) [^,.;:!?@]{2,30})"
_TRAVELLED: Final = (
    r"(?:moved?|moves|moving|flew|drove|rode|came|walked|travel(?:s|l?ed)?|sail(?:s|ed)?|return(?:s|ed)?)"
)
_BOUND_FOR: Final = (
    rf"(?:(?:{either(RULERS | {'reeve', 'sheriff'})}|outskirts|gates|walls|streets|people) of"
    r"|leaves? for"
    r"|left for|bound for|set(?:s|ting)? (?:out|off|sail) for"
    r"|(?:comes?|came|hails?) from)"
)
_STANDING_IN: Final = r"(?:in|at|into|to|from|near|inside|reach|reaches|reached|enters?|entered|through)"
_SPEAKS: Final = (
    r"(?:says?|said|asks?|asked|replies|replied|answers?|answered|mutters?|muttered|whispers?|whispered"
    r"|explains?|explained|tells|told|agrees|agreed|laughs?|laughed|sighs?|sighed|insists?|insisted)"
)
_SEEN: Final = (
    rf"(?:{_SPEAKS}|nods?|smiles?|grins?|shrugs?|bows?|frowns?|waves|smiled|nodded|grinned|shrugged|frowned"
    r"|bowed|waved|winces|winced|blinks|blinked|scowls|scowled)"
)
_RELATIVE: Final = (
    rf"(?:{either(KIN)}|grandson|granddaughter|grandchild|step(?:father|mother|brother|sister|son|daughter)"
    r"|foster \w+|fianc\u00e9e?|bride|(?:mother|father|brother|sister|son|daughter)-in-law)"
)
_WHO: Final = r"(?=,? (?:who|whose|whom)\b)"
# What belongs to a settlement: the north gate of Dunmarsh, two days west of it.
_PART: Final = (
    r"(?:gates?|walls?|streets?|quays?|docks?|harbou?r|waterfront|market(?:place)?|square|outskirts|suburbs"
    r"|rooftops|roofs|edge|centre|center|people|citizens|inhabitants|villagers|townsfolk|north|south|east"
    r"|west)"
)
_ROUTE: Final = (
    r"(?:road|path|track|trail|way|journey|voyage|trip|flight|pilgrimage|expedition|ship|coach|bus|train|ferry"
    r"|boat|cart)"
)
_FAR: Final = r"(?:miles?|leagues?|hours?|days?|weeks?|ride|walk|march|sail)"
_DWELLS: Final = (
    r"(?:liv(?:e|es|ed|ing)|stay(?:s|ed|ing)?|work(?:s|ed|ing)?|stud(?:y|ies|ied|ying)|born|raised|grew up"
    r"|settled?|landed|stopped|arrive[sd]?|based|house|flat|apartment|job|room|shop|office)"
)
_SEVERAL: Final = (
    r"(?:brothers|sisters|twins|siblings|cousins|friends|children|sons|daughters|men|women|boys|girls|guards"
    r"|travell?ers|strangers|companions|neighbou?rs)"
)
_BY: Final = (
    r"(?:run|owned|kept|led|ruled|governed|greeted|met|hired|sent|taught|signed|accompanied|escorted) by"
)
_MOVES: Final = (
    r"(?:go|goes|went|going|rides?|rode|riding|walk(?:s|ed|ing)?|travel(?:s|l?ed|l?ing)?|head(?:s|ed|ing)?"
    r"|march(?:es|ed|ing)?|pass(?:es|ed|ing)?|wander(?:s|ed|ing)?|drives?|drove|leads?|led|comes?|came"
    r"|sail(?:s|ed|ing)?|roll(?:s|ed|ing)?)"
)
_ONWARD: Final = r"(?: (?:up|down|on|back|out|over|north|south|east|west|straight|all the way))?"
_PLACED: Final = (
    r"(?:in|at|into|near|through|outside|inside|beyond|reach|reaches|reached|entering|enters?|entered)"
)


class IntroductionForm(NamedTuple):
    """A way to introduce somebody or something. Group `a` is the name, `np` or `v` what it is.

    A `narrated` form counts only in narration, a `quoted` one only in the words of a stranger. A form for
    people `in_full` takes only a name of two words, and a `shaped` one for places only a name that looks like
    one: Millbrook, Saltreach.
    """

    rule: Rule
    quoted: bool = False
    in_full: bool = False
    shaped: bool = False


def _form(kind: Kind, pattern: str, *, narrated: bool = False) -> IntroductionForm:
    return IntroductionForm(rule(ALIAS, pattern, kind=kind, narrated=narrated))


FORMS: Final = (
    _form("npc", rf"{_ANY} <being>(?:,? [^,.;:!?@]{{1,40}}?)?,? {_CALLED} (?:the )?<a:PUI>"),
    _form("npc", rf"<a:PU>, (?:an?|{OWN}) <being>{_STOP}{_ALONE}"),
    _form("npc", r"<a:PU>, the <being>(?=[,.;:!?]|$| (?:who|whose|of|from|with)\b)"),
    _form("npc", rf"(?:the|{OWN}) <being>{_AT}?, <a:PU>(?=[,.;!]|$)"),
    _form("npc", rf"(?:the|an?|{OWN}) <being>,? one <a:PU>(?!['\u2019])"),
    _form("npc", r"an? <being>,? <a:PU> by name\b"),
    _form("npc", r"<a:PU>, (?:\w+ ){1,3}call(?:s|ed)? (?:him|her)\b"),
    _form("npc", r"introduce[sd]? (?:him|her|them|\S{1,9})self(?: to \w+)? as <a:PU>"),
    _form("npc", rf"{_SEVERAL}(?:,|:| named| called) <a:PU>(?=(?:, @[PU]\d+@)*,? and @[PU])"),
    _form("npc", rf"{_SEVERAL}(?:,|:| named| called) @[PU]\d+@(?:, @[PU]\d+@)*,? and <a:PU>"),
    _form("npc", rf"{_BY} <a:PU>(?!['\u2019])", narrated=True),
    _form("npc", rf"(?:the|{OWN}) <being> <a:PU>(?!['\u2019]){_STOP}"),
    _form("npc", rf"the <being> <a:PU>{_ACTS}", narrated=True),
    _form(
        "npc",
        rf"(?:the|{OWN}) <being>(?: [^,.;:!?@]{{1,30}}?)? (?:is|was) (?:(?:called|named) )?<a:PU>"
        r"(?=[,.;!]|$| and | who )",
    ),
    _form("npc", rf"{OWN} (?:\w+ )?{_RELATIVE},? <a:PU>(?!['\u2019])(?=[,.;!]|$| [a-z])"),
    _form(
        "npc",
        r"(?:(?:his|her|their|@P\d+@'s) name (?:is|was)|my name(?: is|'s|\u2019s)|i am called|call me)"
        r" <a:PUI>",
    ),
    _form("npc", r"(?:^|(?<=[,;.!] ))name(?:'s|\u2019s) <a:PUI>")._replace(quoted=True),
    _form("npc", r"(?:^|(?<=[,;.!] )|(?<=and ))(?:i am|i'm|i\u2019m) <a:PU>(?=[,.;!]|$| and )")._replace(
        quoted=True
    ),
    # Somebody with any word for what they are, who is named as people are.
    _form("npc", rf"(?:{OWN}|the) <being> (?:is|was) [^,.;:!?@]{{1,30}}, <a:PU>(?=[.!;]|$)")._replace(
        in_full=True
    ),
    _form("npc", rf"{_ANY} <someone>,? (?:named|by the name of) <a:PU>"),
    _form("npc", rf"{_ANY} <someone>,? {_CALLED} <a:PU>{_WHO}"),
    _form("npc", rf"{_ANY} <someone>,? {_CALLED} <a:PU>")._replace(in_full=True),
    _form("npc", rf"<a:PU>, (?:an?|{OWN}) <worker>{_STOP}"),
    _form("npc", r"<a:PU>, the <worker>(?=[,.;:!?]|$| (?:who|whose|of|from|with)\b)"),
    _form("npc", rf"<a:PU>, (?:an?|the|{OWN}) [^,.;:!?@]{{3,60}}, (?:\w+ly )?{_SEEN}\b", narrated=True),
    _form("npc", rf"(?:this|that|here)(?: is|'s|\u2019s) <a:PU>{_WHO}"),
    _form("npc", rf"(?<!of )(?<!from )(?<!in )(?<!at )<a:PU>{_WHO}", narrated=True),
    _form("npc", rf"(?<!of )(?<!from )(?<!in )(?<!at )<a:PU>{_WHO}")._replace(in_full=True),
    _form("npc", rf"{QUOTE},? {_SPEAKS} <a:PU>(?!['\u2019])", narrated=True),
    _form("npc", r"(?:call|calls|called) (?:him|her|them) <a:PU>(?=[,.;!]|$| and )")._replace(in_full=True),
    _form("npc", rf"(?:he|she|@P\d+@|they)(?:'s|\u2019s| is| was| are| were) {_NAMED} <a:PUI>"),
    _form("npc", r"meet <a:PU>(?=[,.;]|$)"),
    _form("npc", rf"(?<!of )(?<!from )<a:PU> (?:\w+ly )?{_SEEN}(?=[,.;:!]|$| )", narrated=True),
    _form("environment", rf"(?:(?:the|an?|this|our) )?<mods>(?P<v>{_SETTLED}) of {_THERE}"),
    _form(
        "environment", rf"(?:the|an?|this|our|another|one) {_PLACE},? (?:{_NAMED}|by the name of) {_THERE}"
    ),
    _form("environment", rf"(?:the|our) {_PLACE} (?:is|was) {_NAMED} {_THERE}"),
    _form("environment", rf"an? {_PLACE}(?: [^,.;:!?@]{{2,40}})?, the <a:LUI>(?=[,.;!]|$)"),
    _form("environment", rf"an? {_NOUNS} (?:at|near|outside) <a:LU>(?!['\u2019])"),
    _form("environment", rf"(?:call|calls|called) (?:the|this|that) {_PLACE} {_THERE}"),
    _form(
        "environment",
        r"(?:people|locals|folk|villagers|sailors|they) (?:used to )?call(?:ed)? it (?:the )?<a:LU>"
        r"(?=[,.;!]|$)",
    )._replace(shaped=True),
    _form("environment", r"welcome to (?:the )?<a:LU>(?=[,.;!]|$)")._replace(quoted=True),
    _form("environment", rf"{_DWELLS}(?: \w+)? in <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_FAR} (?:out )?(?:from|to) <a:LU>(?!['\u2019])"),
    _form(
        "environment", r"(?:to|in|at|from|for|near|past|into|reached|towards?) (?:the )?<a:LU>(?=,? where\b)"
    ),
    _form("environment", rf"{_PART} of <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_MOVES}{_ONWARD} through <a:LU>(?!['\u2019])(?=[,.;!]|$| [a-z])"),
    _form("environment", rf"{_ROUTE}{_ONWARD} (?:to|from|through|for|into) <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_PLACED} <a:LU>(?!['\u2019])")._replace(shaped=True),
    _form("environment", rf"{_MOVES}{_ONWARD} (?:to|from|for|past|towards?) <a:LU>(?!['\u2019])")._replace(
        shaped=True
    ),
    _form("environment", rf"{_THERE}, (?:an?|the|the only|our|my|one of the) {_PLACE}{_WHERE}"),
    _form("environment", rf"{_THERE} (?:is|was) (?:an?|the|the only|only an?) {_PLACE}{_WHERE}"),
    _form("environment", rf"{_TRAVELLED} from <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_TRAVELLED}(?: back)? (?:from @[LU]\d+@ )?to <a:LU>(?!['\u2019])"),
    _form("environment", rf"{_BOUND_FOR} <a:LU>(?!['\u2019])"),
    _form("environment", r"<a:LU> (?:harbou?r|docks|village|town|city|abbey|forest|castle)(?![\w-])"),
    _form("environment", rf"{_STANDING_IN} (?:the )?<a:L>(?!['\u2019])", narrated=True),
)
