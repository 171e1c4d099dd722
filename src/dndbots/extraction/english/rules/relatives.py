"""Rules for ties between people. In all of them, `b` is the brother (or other tie) of `a`."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_OF = r"(?:of|to)"
_STANDS: Final = any_phrase("standing_verbs")
LINK_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "kin",
        r"<a:PU>['\u2019]s? <kin>,? (?:is |is none other than |is an? [^,.;@]{2,40} (?:named "
        r"|called )|is called |is named |was called |was named |named |called |whose name is "
        r")<b:PU>(?!['\u2019])",
    ),
    rule("kin", r"<a:PU>['\u2019]s? <kin> <b:PU>(?!['\u2019])"),
    rule("kin", r"<a:PU>['\u2019]s? <kin>, <b:PU>(?=[,.;!]|$)"),
    rule("kin", r"<b:PU>,? (?:who )?(?:<is> )?<a:PU>['\u2019]s? <kin>(?=[,.;!]|$| and | who | is | has )"),
    rule(
        "kin",
        rf"<b:PU>,? (?:who )?(?:<is> )?(?:the|an?) <kin> {_OF} (?:the )?<a:PU>(?=[,.;!]|$| (?:who"
        r"|is|has|was|and|from|lives|wants|of)\b)",
    ),
    rule("kin", rf"<b:PU>, <kin> {_OF} (?:the )?<a:PU>(?=[,.;!]|$)"),
    rule("kin", r"<b:PU> is <kin> to <a:PU>(?=[,.;!]|$)"),
    rule("kin", r"<a:PU>,? whose <kin> (?:is|was) (?:called |named )?<b:PU>(?!['\u2019])"),
    rule(
        "kin",
        r"<a:PU> (?:has )?(?:raised|raises|brought up|adopted|loves|loved) <b:PU> as "
        r"(?:his|her|their|@P\d+@'s|an?) (?:own )?<kin>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "kin",
        r"<a:PU> (?:also )?has (?:an? |one |only one )<kin>,? (?:named |called |whose name is |by "
        r"the name of )?<b:PU>",
    ),
    rule(
        "kins",
        r"<a:PU> and <b:PU> (?:are|have been|have always been|have long been) (?:\w+ )?<kins>"
        r"(?=[,.;!]|$| and | since | for )",
    ),
    rule("kin", r"<a:PU> considers <b:PU> (?:an? |his |her |@P\d+@'s )<kin>(?=[,.;!]|$)"),
    rule(
        "serves",
        r"<a:PU>,? (?:who )?(?:serves|no longer serves|now serves|answers to|is in the service of"
        r"|is sworn to|is a (?:loyal )?servant of|swore fealty to|has sworn fealty to) (?:the "
        r")?<b:P>(?!['\u2019])(?! (?:an?|some|the|his|her)\b)",
        past=True,
    ),
    rule(
        "serves",
        r"<a:P>,? (?:who )?(?:serves|is in the service of) <b:U>(?!['\u2019])(?! (?:an?|some|the|his|her)\b)",
    ),
    rule(
        "employer",
        r"<a:PU>,? (?:who )?(?:works for|no longer works for|now works for|is employed by|is in "
        r"the pay of|is on the payroll of|was hired by|is working for|is paid by) <b:PU>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule(
        "apprentice",
        r"<b:PU>,? (?:who )?(?:is apprenticed to|is training under|studies under|is a student of"
        r"|is a pupil of) (?:the (?:\w+ )?)?<a:PU>(?!['\u2019])",
    ),
    rule(
        "mentor",
        r"<a:PU> (?:studied|trained|learned (?:his|her) trade) under (?:the (?:\w+ )?)?<b:PU>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule(
        "kins",
        r"<a:PU> (?:counts|numbers|reckons|names) <b:PU> (?:among|as one of) (?:his|her|their"
        r"|@P\d+@'s) (?:\w+ )?<kins>"
        r"(?=[,.;!]|$)",
    ),
    rule(
        "kins",
        r"<a:PU> stands (?:together )?with <b:PU>[^.@;]{0,30}[;,] (?:\w+ )?<kins>,? (?:the )?"
        r"(?:both|two|pair) of them",
    ),
    rule(
        "ally",
        r"<a:PU> (?:has (?:allied|sided) (?:(?:him|her)self )?|<is> allied )with <b:PU>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "kin",
        r"<a:PU> (?:has )?(?:made|found|gained) an? (?:\w+ )?<kin> (?:of|in) <b:PU>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "kin",
        r"(?:behind|beside|next to|opposite|at the side of|arm in arm with) "
        rf"<a:PU>[^.;@]{{0,60}}? {_STANDS} <b:PU>, "
        r"(?:his|her|their|@P\d+@'s) <kin>(?=[,.;!]|$)",
    ),
    rule(
        "kin",
        r"<a:PU> (?:arrives|comes|enters|appears|walks|stands|sits|travels|lives|rides"
        r"|waits)[^.;,@]{0,30} with <b:PU>, "
        r"(?:his|her|@P\d+@'s) <kin>(?=[,.;!]|$)",
    ),
    rule(
        "kin",
        r"<a:PU> introduces (?:you to |@P\d+@ to )?<b:PU>,? (?:as )?(?:his|her|@P\d+@'s) <kin>(?=[,.;!]|$)",
    ),
    rule(
        "kin",
        r"<a:PU> <is> (?:married|engaged|betrothed) to <b:PU>, (?:his|her|@P\d+@'s) <kin>(?=[,.;!]|$)",
    ),
    rule("kin", r"<a:PU>['\u2019]s? <kin> (?:goes by|answers to) (?:the name (?:of )?)?<b:PU>(?!['\u2019])"),
    rule(
        "kin",
        r"<b:PU> (?:has been|has always been|has long been|became|has become|was always) "
        r"<a:PU>['\u2019]s? <kin>"
        r"(?=[,.;!]|$| since | for | all )",
    ),
    rule("lover", r"<a:PU> <is> (?:secretly )?(?:in love|sleeping|having an affair) with <b:PU>(?=[,.;!]|$)"),
    rule(
        "serves",
        r"<a:PU>,? (?:who )?(?:has sworn|swears|swore|has pledged|pledges|owes) (?:fealty"
        r"|allegiance|loyalty|(?:his|her"
        r"|@P\d+@'s) (?:sword|life|service)) to (?:the )?<b:PU>(?!['\u2019])",
        past=True,
    ),
    rule("serves", r"<a:P> serve <b:PU>(?=[,.;!]|$| and )"),
    rule("serves", r"<a:PU>, sworn to <b:P>(?=[,.;!]|$)"),
    rule("serves", r"<a:PU> (?:takes|has (?:his|her|@P\d+@'s)) orders (?:only )?from <b:P>(?!['\u2019])"),
    rule(
        "serves",
        r"<b:P> is <a:P>['\u2019]s (?:liege|lord|lady|master|mistress|liege lord|sovereign)(?=[,.;!]|$)",
    ),
    rule("employer", r"<a:P> work for <b:PU>(?=[,.;!]|$| and )"),
    rule(
        "employer",
        r"<b:PU> (?:pays|employs|has hired|keeps) <a:P>(?=[,.;!]|$| as (?:an?|the|his|her) )",
        past=True,
    ),
    rule(
        "apprentice",
        r"<a:PU> (?:has taken on|has taken|took on|is teaching|is training|teaches) <b:PU>,? "
        r"(?:on |in )?as (?:an|his|her"
        r"|@P\d+@'s) (?:new )?(?:apprentice|pupil|student)(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "mentor",
        r"<b:PU> (?:taught|trained|has taught) <a:PU> (?:everything|all|the trade|the craft|(?:his"
        r"|her) trade)\b",
        past=True,
    ),
    rule(
        "kins",
        r"<a:PU> and <b:PU> have (?:now )?(?:become|turned|made themselves) (?:\w+ )?<kins>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "kin",
        r"<a:PU> (?:embraces|hugs|greets|kisses|helps|hushes|follows|glares at|looks at|nods at"
        r"|nods to|turns to|waves to"
        r"|waves at|points at|leans on|calls for|steps in front of|raised|raises|misses|visits"
        r"|scolds|introduces"
        r"|protects|mourns) <b:PU>, (?:his|her|@P\d+@'s) <kin>(?=[,.;!]|$)",
    ),
    rule("kin", r"<b:PU> is <a:PU>['\u2019]s? <kin> (?:on|by|through|from|in all but|and|since|in) "),
    rule(
        "enemy",
        r"<a:PU> (?:has sworn|swears|swore) (?:vengeance|revenge|bloody vengeance) (?:on|upon"
        r"|against) <b:PU>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "ally",
        r"<a:PU> (?:has )?(?:forged|made|struck|formed) an alliance with <b:PU>(?=[,.;!]|$)",
        past=True,
    ),
    rule(
        "serves",
        r"<a:PU>,? (?:who )?(?:(?:has entered|entered|is in|in) the service of|(?:take|takes"
        r"|taking) (?:his |her |my |"
        r"@P\d+@'s )?orders (?:only )?from|answer to|answers only to|is bound to|rides for|fights "
        r"for) <b:P>(?!['\u2019])",
        past=True,
    ),
    rule(
        "employer",
        r"<a:PU>,? (?:who is )?(?:in the pay of|on the payroll of|employed by|hired by) <b:P>"
        r"(?!['\u2019])",
    ),
    rule(
        "employer",
        r"<b:P> (?:has hired|has taken on|hired|employs) <a:PU> as (?:an?|the|his|her) ",
        past=True,
    ),
    rule(
        "mentor",
        r"<a:PU> (?:has )?(?:learned|learnt) (?:the|his|her|@P\d+@'s) (?:trade|craft|art) from "
        r"(?:the (?:\w+ )?)?<b:PU>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule(
        "apprentice",
        r"<b:PU> (?:is|was|has been) (?:apprenticed to|apprentice to|bound apprentice to) <a:PU>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule(
        "kin",
        r"<a:PU>['\u2019]s? <kin>, (?:an?|the) [^,.;@]{2,40} (?:named|called|by the name of) "
        r"<b:PU>(?!['\u2019])",
    ),
    rule("kins", r"<a:P> count <b:PU> among @P\d+@'s (?:\w+ )?<kins>(?=[,.;!]|$)"),
    rule("kin", r"<a:P> counts? <b:PU> (?:as|for) an? (?:\w+ )?<kin>(?=[,.;!]|$)"),
    rule("kins", r"<a:PU> and <b:PU>, (?:\w+ )?<kins>,"),
    rule("kins", r"<a:PU> and <b:PU>, are (?:\w+ )?<kins>(?=[,.;!]|$)"),
    rule("kin", r"<a:P>['\u2019]s? <kin> was <b:PU>(?=[,.;!]|$)"),
    rule("mentor", r"<b:PU> taught me (?:everything|all) <a:P> "),
    rule(
        "serves",
        r"<a:P> (?:owe|owes) <b:P> (?:@P\d+@'s|his|her) (?:allegiance|loyalty|fealty|life|sword)(?=[,.;!]|$)",
    ),
    rule(
        "serves",
        r"<a:P> is <b:P>['\u2019]s (?:man|woman|sworn (?:man|sword|woman)|servant|vassal|retainer)"
        r"(?=[,.;!]|$)",
    ),
    rule("serves", r"<a:PU> wears <b:P>['\u2019]s (?:colou?rs|livery|badge)\b"),
    rule(
        "serves",
        r"<a:PU> kneels (?:before|to|in front of) <b:P>,? and (?:swears|pledges|offers) (?:fealty|"
        r"(?:his|her|@P\d+@'s) (?:sword|service|life))\b",
    ),
)
