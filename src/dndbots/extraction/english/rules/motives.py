"""Rules for motives: wishes, fears, promises, and attitudes to others."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import TEMPERS, any_phrase, either

_DEARLY = (
    r"(?: (?:most|above all|more than anything|in (?:this|the) (?:life|world)|now|out of life"
    r"|these days)){0,2}"
)
_DESIRES = (
    r"(?:wants?|wanted|is after|longs for|dreams? of|hopes for|lives for|cares about|asks? for"
    r"|asked for|craves?"
    r"|wishes for|works for|prays for)"
)
_GOAL: Final = any_phrase("goals")
_SET = (
    r"(?:is (?:\w+ly )?(?:determined|desperate|sworn|resolved|dying|burning|longing|yearning|aching"
    r"|hoping|itching)"
    r"|longs|yearns|aches|burns|dreams of being able|has (?:always |only |ever )?(?:wanted|hoped"
    r"|dreamed)|is saving (?:up|every \w+|all \w+ \w+)"
    r"|has long (?:wanted|hoped)"
    r"|(?:dearly|badly|desperately|secretly|only|really|truly) (?:wants|hopes|wishes)|has resolved"
    r"|has made up"
    r" (?:his|her|@P\d+@'s) mind|has (?:one|a|but one|only one|a single) (?:goal|dream|wish|aim"
    r"|ambition|thought|hope)"
    r"(?: left| in life)?|lives only|hopes one day)"
)
_TEMPER = rf"(?P<v>{either(TEMPERS)})"
_MOOD = r"(?:\w+ly |now |still |quite |rather |very |more |so |even more |a little |all |always )?"
_MOOD_END = (
    r"(?=[,.;:!?]|$| (?:now|today|tonight|and|but|since|again|these days|to|toward|towards|about|at"
    r"|with|whatever"
    r"|no matter|by the|than ever|every|as|in|for|of you)\b)"
)
_STANDS: Final = any_phrase("attitude_verbs")
_SCARES = r"(?:frightens?|terrif(?:ies|y)|scares?|unnerves?|horrif(?:ies|y)|petrif(?:ies|y))"
_AFRAID = r"(?:afraid|scared|terrified|frightened|petrified|fearful)"
_TO_END = r"(?=[.;:!?]|$|, )"

MOTIVE_RULES: Final[tuple[Rule, ...]] = (
    rule("wants", rf"<a:PU>,? (?:who )?{_SET} to <words>", firm=True),
    rule(
        "wants",
        rf"(?:all|what|(?:the )?(?:one|only|only one) thing)(?: that)? <a:PU> (?:has )?(?:ever "
        rf"|really |truly |most "
        rf"|always |only )?"
        rf"{_DESIRES}{_DEARLY},? is (?:to )?<words>",
        firm=True,
    ),
    rule("wants", rf"the (?:\w+ )?{_GOAL} of (?:the )?<a:PFU> is to <words>", firm=True),
    rule(
        "wants",
        rf"<a:PU>['\u2019]s (?:[a-z]+ )?{_GOAL}(?: in life)? (?:is|has always been"
        rf"|remains) (?:to )?<words>",
        firm=True,
    ),
    rule(
        "wants",
        rf"(?:it is|it's|it has always been) <a:PU>['\u2019]s (?:[a-z]+ )?{_GOAL} to <words>",
        firm=True,
    ),
    rule(
        "wants",
        rf"to (?P<v>[a-z][^,;:.!?@]{{3,60}}?)(?:,? that)?(?: is|['\u2019]s) (?:all|what|the (?:one"
        rf"|only) thing)(?: that)?"
        rf" <a:PU> (?:has )?(?:ever |really |truly |most |always )?{_DESIRES}",
        firm=True,
    ),
    rule(
        "wants",
        r"<a:PU> (?:has (?:set|fixed) (?:his|her|@P\d+@'s) (?:heart|mind|sights) on|(?:is"
        r"|has) (?:bent|set|intent|dead"
        r" set|hell-bent|hell bent|fixed) on|lives (?:only )?for) <words>",
        firm=True,
    ),
    rule("wants", r"<a:PU>['\u2019]s (?:heart|mind) is set on <words>", firm=True),
    rule(
        "wants",
        r"(?:drives|moves|keeps) <a:PU>(?: going| on| awake)? is (?:the (?:wish|hope|need"
        r"|dream) )?to <words>",
        firm=True,
    ),
    rule("fears", rf"(?P<v>(?:the |an? )?[a-z][a-z' -]{{2,40}}?) {_SCARES} <a:PU>{_TO_END}", narrated=True),
    rule(
        "fears",
        rf"nothing (?:in the world |else )?{_SCARES} <a:PU> (?:more than|so much as|like"
        rf"|as much as) (?:the thought of )?<few>",
        firm=True,
    ),
    rule(
        "fears",
        r"<a:PU> (?:has|harbou?rs|hides|carries|nurses) an? (?:\w+ )?(?:fear|terror|dread|horror) of <few>",
    ),
    rule("fears", r"<a:PU> lives in (?:\w+ )?(?:dread|terror|fear) of <few>"),
    rule(
        "fears",
        rf"<a:PU>,? (?:who )?(?:is|has (?:always |long )?been) (?:\w+ |more )?{_AFRAID}(?: stiff"
        rf"| to death| witless| silly)? (?:of|by) <few>",
        narrated=True,
    ),
    rule(
        "fears",
        r"(?:what|the (?:one|only) thing)(?: that)? <a:PU> (?:really |truly |secretly "
        r"|most )?(?:fears|dreads|is afraid of)"
        r"(?: most| above all| more than anything)? is <few>",
        firm=True,
    ),
    rule("fears", rf"(?:what|the (?:one|only) thing that) {_SCARES} <a:PU>(?: most)? is <few>", firm=True),
    rule(
        "fears",
        r"<a:PU>['\u2019]s (?:one |only |great |one great )?(?:fear|terror|dread|nightmare) is <few>",
        firm=True,
    ),
    rule(
        "fears",
        r"(?:it is|it's) (?P<v>[a-z][a-z' -]{2,40}?) that <a:PU> (?:fears|dreads|is afraid of)",
        narrated=True,
    ),
    rule(
        "fears",
        r"<a:PU> (?:goes|turns|went) (?:\w+ )?(?:pale|white|cold|quiet) at the (?:mere )?(?:mention"
        r"|sight|thought|sound) of <few>",
        narrated=True,
    ),
    rule("fears", r"(?:of )?<a:PU> dreads? (?!that\b|to\b|you\b|this\b)<few>"),
    rule(
        "promise",
        r"<a:PU> (?:[^@,.;:!?]|@P\d+@'s){2,40},? and (?:\w+ly )?(?:promises|swears|vows|pledges"
        r"|promised|swore"
        r"|vowed|pledged)"
        r" (?:(?:you|us|them|the party) )?to <words>",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU> (?:has )?(?:gives|gave|given|makes|made|takes|took|taken|swears|swore|sworn) (?:you "
        r"|them |us |the party )?"
        r"(?:(?:his|her|a|an|@P\d+@'s) )(?:solemn )?(?:word|oath|promise|vow)(?: of honou?r"
        r"| on it)? to <words>",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU> (?:swears|swore|vows|has sworn|promises|promised)(?: (?:you|us|them))? (?:on|by"
        r"|before|upon) [^@,.;:!?]{3,40}?,?"
        r" to <words>",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU> (?:has (?:pledged|bound) (?:himself|herself)|pledges (?:himself|herself)|undertakes"
        r"|has undertaken"
        r"|is (?:bound|sworn) by (?:an? )?oath|is oath-bound|is honou?r-bound) to <words>",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU>['\u2019]s (?:promise|word|oath|vow)(?: to [^,.;:@]{2,20})? (?:is )?to <words>",
        firm=True,
    ),
    rule(
        "attitude",
        rf"<a:PU>,? (?:who )?(?:now |still |suddenly )?{_STANDS} {_MOOD}{_TEMPER}{_MOOD_END}",
        narrated=True,
        firm=True,
    ),
    rule(
        "attitude",
        rf"{_MOOD}{_TEMPER} as (?:ever|always|before|usual|you left (?:him|her)),? <a:PU>",
        narrated=True,
    ),
    rule(
        "attitude",
        rf"(?:made|makes|make|left|leave|leaves|turned|rendered|keeps|kept|find|finds|found|leaving"
        rf"|making) <a:PU> {_MOOD}{_TEMPER}"
        rf"{_MOOD_END}",
        narrated=True,
        past=True,
    ),
    rule(
        "attitude",
        r"<a:PU>['\u2019]s (?:attitude|manner|tone|mood|stance|feelings?|view of you)(?: (?:to|toward"
        r"|towards|with|about)"
        rf" [^,.;@]{{2,20}}?)? (?:is|are|has turned|has become|turned|remains|stays|has gone|has been"
        rf"|turns) {_MOOD}{_TEMPER}",
        narrated=True,
    ),
    rule(
        "attitude",
        rf"<a:PU>[,:] (?:\w+ly |now |still |ever |more )?{_TEMPER}(?=[,.;]|$| (?:now|as ever|and"
        rf"|from the)\b)",
        narrated=True,
    ),
    rule(
        "attitude",
        rf"(?:^|(?<=[;:,] ))(?:\w+ly |now |still |ever )?{_TEMPER},? (?:and [a-z]+, )?<a:PU> [a-z]+s\b",
        narrated=True,
    ),
    rule("attitude", rf"an? (?:\w+ly |now |still )?{_TEMPER} <a:P>(?= [a-z]+s\b)", narrated=True),
    rule("attitude", rf"{_TEMPER}(?: is the word for|,? that(?:'s| is)| describes) <a:PU>", narrated=True),
    rule(
        "attitude",
        rf"<a:PU> [^@.;:]{{3,40}}, (?:\w+ly )?{_TEMPER} as (?:ever|always|before)",
        narrated=True,
    ),
    rule("attitude", rf"(?:count|mark|put|note|write) <a:PU>(?: down)? as {_TEMPER}", narrated=True),
    rule("attitude", rf"<a:PU> (?:now )?counts as {_TEMPER}", narrated=True),
    rule(
        "fears",
        r"mention (?P<v>[a-z][a-z' -]{2,40}?),? and <a:PU> (?:goes|turns) (?:white|pale|quiet|cold)",
        narrated=True,
    ),
    rule("fears", r"<a:PU>['\u2019]s [a-z ]{3,20} is (?:an? |the )?(?:[a-z]+ )?fear of <few>", narrated=True),
)
