"""Rules for looks: a voice like gravel, rings on every finger, a limp."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule

_TO = r"(?=[.;:!?]|$|, | before | and (?:you|he|she|the|that|it|@))"
_SEE = r"(?:notices?|sees?|remembers?|recalls?|looks? at|recognises?|recognizes?)"
_FOLK = r"(?:you|anyone|anybody|everyone|everybody|people|folk|most people|one)"

LOOK_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "description",
        rf"(?:first|only|one|main) thing (?:that )?{_FOLK} (?:always |ever |will )?{_SEE}"
        rf" (?:about|of|on|in) <a:PU> (?:is|are) <look>{_TO}",
        firm=True,
        narrated=True,
    ),
    rule(
        "description",
        rf"what {_FOLK} (?:\w+ )?{_SEE} (?:first |most )?(?:about|of|on|in) <a:PU>(?: first"
        rf"| most)? (?:is|are) <look>{_TO}",
        firm=True,
        narrated=True,
    ),
    rule(
        "description",
        rf"you(?:['\u2019]d| would| can|['\u2019]ll| will)? (?:know|recognise|recognize|tell|pick out"
        rf"|spot) <a:PU>"
        rf"(?: at once| anywhere| from afar)? (?:by|from) (?:the |his |her |@P\d+@'s )?<look>{_TO}",
        firm=True,
        narrated=True,
    ),
    rule(
        "description",
        rf"<a:PU> [^@.;:]{{3,40}},? (?:and|so that|where) you (?:can )?(?:see|notice|make out"
        rf"|catch sight of) <look>{_TO}",
        narrated=True,
    ),
    rule(
        "description",
        rf"<a:PU>(?: anywhere)?: (?:with )?<look>{_TO}",
        firm=True,
        narrated=True,
    ),
    rule(
        "description",
        rf"<a:PU> [a-z]+s\b[^@.;:]{{4,60}}: <look>{_TO}",
        firm=True,
        narrated=True,
    ),
    rule(
        "description",
        r"(?<=[:;] )<a:PU>, (?!(?:his|her|the|and|who|whose|with|you|your|their|while|as|is|has"
        r"|was) ?)<look>(?=\.|$|, (?:the|is|has|and)\b)",
        narrated=True,
    ),
    rule(
        "description",
        r"<a:PU>,? (?:who )?(?:has|sports|bears|wears|boasts|walks with|speaks with|goes about with"
        r"|is marked by|is known by)"
        r" (?!got |this |(?:but )?(?:one|an?|only one) (?:goal|dream|wish|aim|ambition|thought|hope"
        r"|fear)\b|to |had |been |\w+ed[ ,]|(?:his|her|their|your|my|its|both|one|no|all|some|any"
        r"|the|@P\d+@'s|an? (?:hand"
        rf"|eye|arm|leg|head|face|good|look|hold|better)|an?) (?:eyes?|hands?|arms?|head|face|legs?"
        rf"|back)\b)<look>{_TO}",
        narrated=True,
    ),
    rule(
        "description",
        r"with (?:his|her|@P\d+@'s) <look>, <a:P> (?:is hard to miss|stands out|is easy to spot)",
        narrated=True,
    ),
    rule(
        "description",
        r"(?:^|(?<=[;:] ))<look>,? (?:that|this)(?: is|['\u2019]s) <a:P>(?=[,.;]|$)",
        narrated=True,
    ),
    rule(
        "description",
        rf"<a:PU>, an? (?:\w+ )?(?:man|woman|boy|girl|fellow|youth|lad|lass|dwarf|elf|gnome"
        rf"|halfling) with <look>{_TO}",
        narrated=True,
        firm=True,
    ),
    rule(
        "description",
        rf"<a:PU>['\u2019]s (?:one|most) [^@.;:,]{{3,30}} (?:is|are) <look>{_TO}",
        narrated=True,
    ),
    rule(
        "description",
        rf"(?:there(?: is|['\u2019]s)|it's|it is|this is|that's|that is) <a:PU>, (?:with )?<look>{_TO}",
        narrated=True,
    ),
    rule(
        "description",
        rf"<a:PU> is (?:easy|hard|not hard|impossible|difficult) to [a-z ]{{3,20}},? with (?:(?:his"
        rf"|her) )?<look>{_TO}",
        narrated=True,
        firm=True,
    ),
    rule(
        "description",
        r"(?:^|(?<=[.;:] ))<look>,? (?:that is|that's|and that's|this is) how you(?:['\u2019]ll| will"
        r"|['\u2019]d)? (?:know|recognise|recognize|spot)"
        r" <a:PU>",
        narrated=True,
        firm=True,
    ),
)
