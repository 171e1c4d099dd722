"""Rules for factions: their leaders, members, seats, enemies and goals."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import LEADERS, any_phrase, either

_SEAT: Final = any_phrase("faction_seats")
_OBEYS: Final = (
    r"(?:answers?|bows?|kneels?|owes? allegiance|pays? (?:its )?taxes|pays? tribute|is loyal|is subject)"
)

FACTION_RULES: Final[tuple[Rule, ...]] = (
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
    rule(
        "leader",
        r"(?:at the (?:top|head|centre|center) of|behind|in charge of) the <a:F> (?:stands|is|sits"
        r"|sat) <b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        rf"(?:the )?<a:F> has (?:got )?an? (?:new )?{either(LEADERS)}(?: now)?[:,;] (?:an? "
        rf"[^,.;@]{{2,30}} (?:named|called) )?<b:PU>(?=[,.;!]|$)",
        kind="faction",
    ),
    rule(
        "leader",
        r"(?:the )?<a:F> (?:has|have) (?:chosen|elected|named|appointed|made|proclaimed) <b:PU> "
        rf"(?:as )?(?:its |their |the )?(?:new )?{either(LEADERS)}\b",
        kind="faction",
        past=True,
    ),
    rule(
        "leader",
        r"(?:the )?<a:F> (?:takes?|have|has) (?:its |their )?orders from <b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        r"<b:PU> (?:leads|commands|heads|runs|directs) the (?:\w+ )?<a:F>(?!['\u2019])",
        kind="faction",
    ),
    rule("place", r"you(?:['\u2019]ll| will)? find the <a:F> (?:in|at|beneath|under) <loc>", kind="faction"),
    rule("place", r"(?:the )?<a:F> (?:is|are) based out of <loc>", kind="faction"),
    rule(
        "enemy",
        r"(?:war|a feud|bad blood|open war) (?:has broken out |is raging )?between the <a:F> and "
        r"the <b:F>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "enemy",
        r"(?:the )?<a:F> (?:has|have) sworn to (?:destroy|crush|wipe out|end) the <b:F>"
        r"(?!['\u2019])",
        kind="faction",
        past=True,
    ),
    rule(
        "wants",
        r"what the <a:F> (?:wants?|is after|are after|seeks?) is (?:simple[:,;] |plain[:,;] "
        r"|this[:,;] )?(?:to )?(?!simple|plain|clear|no )<few>",
        kind="faction",
    ),
    rule(
        "wants",
        r"the <a:F> (?:wants? to|plans? to|means? to|intends? to|hopes? to|has sworn to|have "
        r"sworn to|is working to|are working to|aims? to|seeks? to"
        r"|is determined to|will stop at nothing to|would give anything to) <few>",
        kind="faction",
    ),
    rule("wants", r"the <a:F> (?:is|are) after (?P<v>(?:the )?@[IL]\d+@)(?=[,.;!]|$)", kind="faction"),
    rule("wants", r"the (?:goal|aim|purpose|mission|plan) of the <a:F> is (?:to )?<few>", kind="faction"),
    rule(
        "faction",
        r"<a:PU> of the <b:F>(?=,| (?:bows|nods|says|stands|smiles|waits|steps|enters|greets"
        r"|sits)\b)",
    ),
    rule(
        "faction",
        r"(?:the )?<b:F> counts? <a:PU> among (?:its|their) (?:members|own|number|ranks|knights"
        r"|agents)\b",
    ),
    rule(
        "faction",
        r"<a:PU> (?:swears|has sworn|takes|has taken|swore|took) the (?:oath|vows?) of the <b:F>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule("faction", r"<a:PU> (?:ride|rides|run|runs|march|marches) with the <b:F>(?!['\u2019])"),
    rule(
        "place",
        r"(?:the )?<a:F> (?:(?:has|have) set up (?:camp|shop)|(?:has|have) dug in|keeps? (?:its"
        r"|their) (?:headquarters|base|hall)) (?:in|at|under|beneath"
        r"|near|outside) <loc>",
        kind="faction",
        past=True,
    ),
    rule("wants", r"(?:the )?<a:F>['\u2019]s? (?:goal|aim|purpose|plan|mission) is to <few>", kind="faction"),
    rule("enemy", r"the <a:F> and the <b:F> have (?:long |always )?been (?:\w+ )?enemies", kind="faction"),
    rule("enemy", r"(?:the )?<a:F> has a (?:blood )?feud with the <b:F>(?!['\u2019])", kind="faction"),
)
