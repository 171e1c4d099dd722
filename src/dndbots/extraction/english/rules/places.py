"""Rules for places: ruler, region, fame, status and looks."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import RULERS, either

_FAME: Final = r"(?:famous|known|renowned|famed|celebrated|notorious|legendary|infamous)"
_CROWD: Final = (
    r"(?:people|travell?ers|folk|merchants|pilgrims|sailors|they|traders|visitors|everyone|half the \w+)"
)
_OBEYS: Final = (
    r"(?:answers?|bows?|kneels?|owes? allegiance|pays? (?:its )?taxes|pays? tribute|is loyal|is subject)"
)
# The look of a place from afar: a few houses, a huddle of roofs, a tower on a rock.
_SIGHT: Final = (
    r"(?:(?:[a-z-]+ )?(?:huddle|ring|cluster|handful|line|row|scatter|scattering|tangle|maze"
    r"|string|circle|heap|warren"
    r"|pile|sprawl|collection|jumble|patchwork|clutch|crowd|knot|strip|dozen|few|two"
    r"|three|four|five|six|one|half a "
    r"dozen|narrow|crooked|steep|stilt|wooden|stone|terraced|whitewashed|low|high|walled)\b[^;:!?.]{5,80}?)"
)

PLACE_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "known_for",
        r"<a:LU>(?:['\u2019]s| has always been| has long been| has been) (?:best |widely |well "
        rf")?{_FAME} for (?:its |the "
        r")?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"{_CROWD} (?:all )?(?:come|comes|travel|travels|flock|flocks|ride|go) to <a:LU> for (?:its |the )?"
        r"(?!an? |two|three|his|her|help|now|some|more|this|that)<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"(?:everyone|everybody|people|you|anyone) (?:has|have|['\u2019]ve)(?: all| surely)? "
        r"heard of <a:LU>,? because of "
        r"(?:its |the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"<a:LU> (?:owes its (?:fame|name|wealth) to|is proud of|lives off|made its name (?:with"
        r"|by|on|through)) "
        r"(?:its |the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"<a:L>['\u2019]s (?P<v>[a-z][a-z' -]{{2,40}}?) (?:is|are) (?:{_FAME}|the best|the finest)"
        r"(?=[,.;!]|$| "
        r"(?:in|across|throughout|from|all)\b)",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"what <a:LU> is {_FAME} for is (?:its |the )?<few>",
        kind="environment",
    ),
    rule("part_of", r"<a:LU> belongs to (?:the )?<b:L>(?!['\u2019])", kind="environment"),
    rule("part_of", r"<a:L> belongs to the <b:U>(?!['\u2019])", kind="environment"),
    rule(
        "part_of", r"<a:L>, (?:deep |high |far |up |down )?in (?:the )?<b:L>, (?=[a-z])", kind="environment"
    ),
    rule(
        "part_of",
        r"<a:LU>, (?:deep |high |far |up |down )?in (?:the )?<b:L>, is (?:about |only |some )?"
        r"(?:[\w-]+) (?:days?|hours?"
        r"|miles?|leagues?|weeks?)\b",
        kind="environment",
    ),
    rule(
        "part_of",
        r"of all the (?:\w+ )?(?:towns|villages|cities|places|ports|inns|castles|hamlets|keeps) "
        r"(?:of|in|on|along) (?:the )?"
        r"@[LU](?P<b>\d+)@, <a:LU> is\b",
        kind="environment",
    ),
    rule(
        "part_of",
        r"<a:LU> <is> (?:one of|the (?:\w+est|last|first|only|most \w+) (?:of )?(?:the )?)(?: "
        r"the)?(?: \w+)? ?(?:towns?"
        r"|villages?|cit(?:y|ies)|ports?|castles?|hamlets?|keeps?) (?:of|in|on) (?:the )?<b:L>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "part_of",
        r"the (?:capital|chief town|largest (?:town|city)|main port) of (?:the )?@[LU](?P<b>\d+)@ "
        r"is <a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "part_of",
        r"(?:^|[.;:,] )(?:deep |high |somewhere )?in (?:the )?<b:L>,? (?:lies|stands|sits"
        r"|nestles) (?:the )?(?:(?:town"
        r"|village|city|keep|hamlet) of )?<a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"in <a:LU>,? what <b:PU> says (?:is law|goes)\b",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<b:PU>['\u2019]s? word is law (?:in|throughout|across) (?:the )?<a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule("ruler", r"in <a:LU>,? <b:PU>['\u2019]s? word is law\b", kind="environment"),
    rule("ruler", rf"<a:L> (?:now )?(?:belongs|{_OBEYS}) to <b:P>(?!['\u2019])", kind="environment"),
    rule(
        "ruler",
        rf"the (?:new |current |rightful )?{either(RULERS)} of <a:LU> is (?:now )?<b:PU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<a:LU> (?:is|lies) under <b:PU>['\u2019]s? (?:rule|thumb)\b",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<b:PU> (?:sits on|holds|has (?:taken|seized)) the throne of (?:the )?<a:LU>(?!['\u2019])",
        kind="environment",
        past=True,
    ),
    rule(
        "ruler",
        r"<b:PU> (?:holds sway|rules|reigns) (?:over|in) (?:the )?<a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        rf"<a:LU> has (?:got )?an? (?:new )?{either(RULERS)}(?: now)?[:,;] (?:an? [^,.;@]{{2,30}} "
        r"(?:named|called) )?<b:PU>(?=[,.;!]|$)",
        kind="environment",
    ),
    rule(
        "ruler",
        r"(?:all|the whole|half|most) of <a:LU> (?:now )?(?:answers|belongs|bows) to <b:PU>"
        r"(?!['\u2019])",
        kind="environment",
    ),
    rule("ruler", rf"<b:PU> has been (?:the )?{either(RULERS)} of <a:LU>(?!['\u2019])", kind="environment"),
    rule(
        "ruler",
        r"the (?:people|folk|good people|citizens|burghers) of <a:LU> (?:are ruled by|bow to"
        r"|answer to|obey|follow|kneel to) <b:PU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<b:P> (?:rules|governs|reigns over|lords it over) (?:all of |the whole of )?<a:LU>"
        r"(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"<a:LU> is {_FAME} (?:throughout|across|all over|in) (?:the |all )?[a-z @\d]{{3,30}}? "
        r"for (?:its |the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"the (?P<v>[a-z][a-z' -]{{2,40}}?) (?:of|in|from) <a:LU> (?:is|are) (?:{_FAME})(?=[,.;!]"
        r"|$| (?:in|across|throughout|from|all|far)\b)",
        kind="environment",
    ),
    rule(
        "known_for",
        rf"{_CROWD} (?:will )?(?:talk|talks|speak|speaks) of <a:LU> (?:only |mostly )?(?:for"
        r"|because of) (?:its |the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"<a:L>, (?:home of|where they (?:make|brew|grow|sell)|which makes|which brews|famous for"
        r"|famed for|known for) (?:its |the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"nobody (?:makes|brews|bakes) (?P<v>[a-z][a-z ]{2,30}?) like (?:they do in )?<a:L>"
        r"(?=[,.;!]|$)",
        kind="environment",
    ),
    rule(
        "status",
        r"<a:L>,? (?:which )?(?:<is>|has been|was|lies|stands|remains) (?:now |all but |half "
        r"|still )?(?P<v>closed by (?:order|decree) of "
        r"[^,.;:!?]{3,30}?|closed off|closed|sealed off|walled off|snowed in|cut off|evacuated"
        r"|empty|off limits|in quarantine"
        r"|under (?:martial law|quarantine|new rule|occupation)|a ruin|burning|on fire|barricaded"
        r"|plague-ridden|at war|starving"
        r"|lawless|in mourning)(?=[,.;!]|$| since\b| for\b| these\b| after\b| until\b| now\b)",
        kind="environment",
        past=True,
    ),
    rule(
        "status",
        r"<a:L> (?:has )?(?P<v>burned to the ground|burnt to the ground|burned down|fallen to "
        r"[^,.;:!?]{3,30}|flooded)(?=[,.;!]|$| in\b| last\b)",
        kind="environment",
        narrated=True,
        past=True,
    ),
    rule(
        "status",
        r"you (?:find|found) (?:the )?<a:LU> (?P<v>in ruins|deserted|abandoned|burned to the "
        r"ground|in flames|empty|flooded|under siege|overrun (?:by|with) [^,.;:!?]{3,30})\b",
        kind="environment",
        past=True,
    ),
    rule(
        "description",
        rf"(?:^|[.;:] )(?:an? )?(?P<v>{_SIGHT}), (?:that['\u2019]s|that is|such is|this is|so much "
        r"for) (?:all there is to )?(?:the )?<a:LU>(?=[,.;!]|$)",
        kind="environment",
    ),
    rule(
        "description",
        r"<a:L>(?: is| turns out to be| proves to be|,)(?: just| only| mostly| nothing but| "
        rf"little more than| no more than)? (?:an? )?(?P<v>{_SIGHT})(?=[,.;:!?]|$)",
        kind="environment",
    ),
    rule(
        "description",
        rf"(?:before|below|ahead of|in front of) you[^.@;:]{{0,30}} (?:lies|is|stands|rises"
        rf"|sprawls) (?:the )?<a:LU>[:;,] (?:an? )?(?P<v>{_SIGHT})(?=[,.;:!?]|$)",
        kind="environment",
    ),
    rule(
        "description",
        r"<a:L>(?: comes into view| appears| lies before you| lies below(?: you)?| at last)[:;,] "
        rf"(?:an? )?(?P<v>{_SIGHT})(?=[,.;:!?]|$)",
        kind="environment",
    ),
    rule(
        "description",
        r"(?:what you (?:see|find) (?:of|in)|all there is (?:of|to)) (?:the )?<a:LU> is (?:an? )?"
        rf"(?P<v>{_SIGHT})(?=[,.;:!?]|$)",
        kind="environment",
    ),
    rule(
        "ruler",
        rf"<a:LU>['\u2019]s (?:new |current |rightful )?{either(RULERS)} is (?:now )?<b:PU>(?=[,.;!]|$)",
        kind="environment",
    ),
    rule(
        "ruler",
        rf"<b:PU> (?:has been|was) crowned {either(RULERS)} of <a:LU>(?!['\u2019])",
        kind="environment",
        past=True,
    ),
    rule("part_of", r"<a:L>, on (?:the )?<b:L>, (?=[a-z])", kind="environment"),
    rule(
        "part_of",
        r"<a:LU> lies in the (?:(?:far )?(?:north|south|east|west)|middle|heart|centre|center) of "
        r"(?:the )?<b:L>(?!['\u2019])",
        kind="environment",
    ),
)
