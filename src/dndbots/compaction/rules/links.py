"""Rules on what people are to each other. In all of them it is `a` whose brother, say, `b` is."""

from typing import Final

from dndbots.compaction.rules.grammar import Rule, rule

_OF = r"(?:of|to)"
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
)
