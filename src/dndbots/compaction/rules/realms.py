"""Rules on places and on the groups of people that hold them: who rules or leads, and what belongs where."""

from typing import Final

from dndbots.compaction.rules.grammar import Rule, rule
from dndbots.compaction.rules.lists import LEADERS, RULERS, either

_SEAT: Final = (
    r"(?:seat|headquarters|base|home|hideout|lair|stronghold|guildhall|meeting place|chapterhouse|hall)"
)
_FAME: Final = r"(?:famous|known|renowned|famed|celebrated|notorious|legendary|infamous)"
_CROWD: Final = (
    r"(?:people|travell?ers|folk|merchants|pilgrims|sailors|they|traders|visitors|everyone|half the \w+)"
)
_OBEYS: Final = (
    r"(?:answers?|bows?|kneels?|owes? allegiance|pays? (?:its )?taxes|pays? tribute|is loyal|is subject)"
)

REALM_RULES: Final[tuple[Rule, ...]] = (
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
        "leader",
        rf"<b:PU>,? (?:<is> )?the (?:new|current|secret|true|real|acting) {either(LEADERS)} of "
        r"(?:the )?<a:FU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        r"<b:PU> (?:has taken over|takes over|has taken command of|gives the orders in|calls the "
        r"shots in|is in charge of"
        r"|is in command of|took over) (?:the )?<a:F>(?!['\u2019])",
        kind="faction",
        past=True,
    ),
    rule(
        "leader",
        rf"the (?:new |current )?{either(LEADERS)} of (?:the )?<a:F> is (?:now )?<b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        rf"(?:the )?<a:F> (?:{_OBEYS} to|follows?|obeys?|is loyal to|are loyal to) <b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        r"in (?:the )?<a:F>,? (?:what )?<b:PU> (?:gives the orders|says goes|says is law|calls the shots)",
        kind="faction",
    ),
    rule(
        "leader",
        rf"(?:the )?<a:F>['\u2019]s? (?:new |current )?{either(LEADERS)}(?: is|,) <b:PU>(?=[,.;!]|$)",
        kind="faction",
    ),
    rule(
        "place",
        rf"the (?:secret |main |old |new )?{_SEAT} of (?:the )?<a:FU> <is> (?:in |at |beneath "
        r"|near |under )?<loc>",
        kind="faction",
    ),
    rule(
        "place",
        rf"(?:the )?<a:F>['\u2019]s? (?:secret |main |old |new )?{_SEAT} <is> (?:in |at |beneath "
        r"|near |under )?<loc>",
        kind="faction",
    ),
    rule(
        "place",
        r"(?:the )?<a:F> (?:operates?|works?|runs?) (?:out of|from) <loc>",
        kind="faction",
    ),
    rule(
        "place",
        r"(?:the )?<a:F> (?:meets?|gathers?|holds? court|sits?|shelters?) (?:in|at|beneath|under) <loc>",
        kind="faction",
    ),
    rule(
        "enemy",
        r"(?:the )?<a:F> (?:has|have) (?:declared|sworn) (?:open )?(?:war|a feud|vengeance) (?:on"
        r"|against|with) (?:the )?"
        r"<b:FU>(?!['\u2019])",
        kind="faction",
        past=True,
    ),
    rule(
        "enemy",
        r"(?:the )?<a:F>,? (?:is|are|has been|have been) (?:at war|feuding|at odds|in open war"
        r"|fighting) with (?:the )?"
        r"<b:FU>(?!['\u2019])",
        kind="faction",
    ),
    rule("enemy", r"the <a:FU> and the <b:FU> are (?:now |still )?(?:\w+ )?enemies", kind="faction"),
    rule("enemy", r"the <a:FU> and the <b:FU> are (?:now |still )?at war(?! with)", kind="faction"),
    rule("enemy", r"(?:the )?<a:F> (?:hates?|wages? war on|fights?) the <b:F>(?!['\u2019])", kind="faction"),
    rule("faction", r"<a:PU> (?:now |secretly )?belongs? to (?:the )?<b:F>(?!['\u2019])"),
    rule(
        "faction",
        r"<a:PU> <is> (?:secretly )?(?:one of|with|in|sworn to|a sworn sword of) (?:the )?<b:F>(?=[,.;!]|$)",
    ),
    rule("faction", r"<a:P> (?:now |secretly )?belongs? to the <b:U>(?!['\u2019])"),
    rule("faction", r"<a:PU>, sworn to (?:the )?<b:F>(?!['\u2019])"),
    rule(
        "faction",
        r"<a:PU> (?:wears|bears|carries) the (?:badge|colou?rs|mark|tattoo|brand|sign|ring|pin) "
        r"of (?:the )?<b:F>(?!['\u2019])",
        narrated=True,
    ),
    rule(
        "faction",
        r"(?:the )?<b:F> (?:has|have) (?:taken|accepted|admitted|recruited|sworn) (?:in )?<a:PU>"
        r"(?: in)?(?=[,.;!]|$| as | into )",
        past=True,
    ),
)
