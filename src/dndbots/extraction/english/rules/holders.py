"""Rules for the holder of a named thing."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_WORN: Final = any_phrase("places_worn")
_HANGS: Final = any_phrase("hanging_verbs")
_GONE_TO: Final = any_phrase("passing_verbs")
_GIVES: Final = any_phrase("giving_verbs")
_GETS: Final = any_phrase("taking_verbs")

HOLDER_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "holder",
        rf"@[PU]\d+@ (?:now |finally |reluctantly )?{_GIVES} (?:the |his |her )?<a:I>(?: over| back)? to "
        r"<b:PU>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:now |finally |reluctantly )?(?:sells|sold|has sold|trades|bequeaths|hands "
        r"over|has handed|has given) (?:the |his |her )?<a:IU>(?: over| back)? to "
        r"<b:PU>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        rf"<b:PU> (?:now |finally )?{_GETS} (?:the )?<a:I>(?: back)? (?:off|from) (?:the )?@[PU]\d+@"
        r"(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"<b:PU> (?:now |finally )?(?:wins|won|has won|steals|stole|has stolen|buys|bought|has "
        r"bought|inherits|inherited) (?:the )?<a:IU>(?: back)? (?:off|from) (?:the )?@[PU]\d+@"
        r"(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"<b:PU> (?:wins|won|has won|has inherited|inherits|has come into possession of|gets hold "
        r"of|has got "
        r"hold of|comes into) (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        rf"(?:the )?<a:IU> {_GONE_TO} (?:now )?from @[PU]\d+@ (?:in)?to (?:the hands of )?<b:PU>"
        r"(?!['\u2019])",
        kind="item",
        past=True,
    ),
    rule("holder", rf"(?:the )?<a:I> {_GONE_TO} to <b:PU>(?!['\u2019])", kind="item", past=True),
    rule(
        "holder",
        r"@[PU]\d+@ (?:has|have) (?:just )?(?:lost|forfeited|gambled away) (?:the )?<a:IU> to "
        r"<b:PU>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"the (?:rightful |new |true |present |current |proud )?(?:owner|bearer|holder|wielder"
        r"|keeper) of (?:the )?"
        r"<a:IU> (?:<is>|:) <b:PU>(?!['\u2019])",
        kind="item",
    ),
    rule(
        "holder",
        r"<b:PU>,? (?:<is> )?the (?:rightful |new |true |present |current |proud )?(?:owner|bearer"
        r"|holder|wielder) of "
        r"(?:the )?<a:I>(?!['\u2019])",
        kind="item",
    ),
    rule(
        "holder",
        r"(?:at|on|around|round|from|across|over|in|by) <b:PU>['\u2019]s? (?:\w+ "
        rf")?{_WORN},? {_HANGS} (?:the )?"
        r"<a:IU>(?!['\u2019])",
        kind="item",
    ),
    rule(
        "holder",
        rf"(?:the )?<a:I> (?:now )?{_HANGS} (?:at|on|around|round|from|across|over|by) "
        r"<b:PU>['\u2019]s? (?:\w+ )?"
        rf"{_WORN}\b",
        kind="item",
    ),
    rule(
        "holder",
        r"(?:the )?<a:I> <is> <b:PU>['\u2019]s?(?= now\b| alone\b|[,.;!]|$)",
        kind="item",
    ),
    rule(
        "holder",
        r"<b:PU> (?:now )?(?:carries|wears|wields|keeps) <a:U> (?:everywhere|wherever|at all times"
        r"|day and night"
        r"|under (?:his|her|the|@P\d+@'s)|in (?:his|her|@P\d+@'s)|on (?:his|her|@P\d+@'s)|at "
        r"(?:his|her|@P\d+@'s))\b",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"<b:PU> (?:picks up|takes|takes up|claims|grabs) (?:the )?<a:IU>(?= and (?:keeps|pockets"
        r"|wields|claims"
        r"|does not (?:put|let)|won't (?:let|put)|never (?:lets|puts)|will not (?:let|put|give))\b)",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"<b:P> (?:take|takes|keep|keeps|pocket|pick up) (?:the )?<a:I>(?=[.!]|$)",
        kind="item",
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:throws|tosses|lends|slips|offers up|leaves|sells|brings) <b:PU> (?:the "
        r")?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:presses|puts|drops|places|lays|slips|hangs|fastens|buckles) (?:the )?<a:I> "
        r"(?:into|in|on|around|round"
        rf"|over|about) <b:PU>['\u2019]s? (?:\w+ )?(?:{_WORN}|hands|palm|keeping)\b",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"(?:the )?<a:I> has (?:found )?an? (?:new )?(?:owner|bearer|master|keeper)[:,;]? <b:PU>"
        r"(?=[,.;!]|$)",
        kind="item",
    ),
    rule(
        "holder",
        r"(?:the )?<a:I>[^.;:@]{0,40}[;,:] (?:and |so |now )?<b:PU> (?:has|keeps|carries|wears"
        r"|owns) it(?: now)?(?=[,.;!]|$)",
        kind="item",
    ),
    rule(
        "holder",
        r"<b:PU> (?:walks off|walks away|makes off|leaves|rides off|runs off|slips away|ends up"
        r"|is left|came away|comes away"
        r"|escapes|goes home|vanishes|gets away) with (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"(?:the )?<a:I>,? (?:now )?(?:on|at|around|round|in|across) <b:PU>['\u2019]s? (?:\w+ "
        rf")?{_WORN}(?=[,.;!]|$)",
        kind="item",
    ),
    rule(
        "holder",
        r"<b:PU> (?:never goes anywhere|is never seen|is never) without (?:the )?<a:I>"
        r"(?!['\u2019])",
        kind="item",
    ),
    rule("holder", r"(?:the )?<a:I>, which (?:now )?belongs to <b:PU>(?!['\u2019])", kind="item"),
    rule("holder", r"<b:PU>(?:['\u2019]s| has) got (?:the )?<a:I>(?!['\u2019])", kind="item"),
    rule(
        "holder",
        r"<b:P> (?:now |still |always )?(?:carry|own|wear|wield|bear|keep|put on|inherited|bought"
        r"|won) (?:the )?<a:I>(?!['\u2019])"
        r"(?! (?:and|then|to|up|out|down|away|for|against)\b)",
        kind="item",
    ),
    rule(
        "holder",
        r"(?:^|[;:] )<b:P>, you(?:['\u2019]ve| have)? (?:now |all )?(?:have|got|own|hold|carry"
        r"|wear|get|keep) (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule("holder", r"(?:^|[;:] )<b:P>, (?:the )?<a:I> is (?:now )?yours\b", kind="item", narrated=True),
    rule(
        "holder", r"(?:the )?<a:I> is (?:now )?yours(?: now)?, <b:P>(?=[,.;!]|$)", kind="item", narrated=True
    ),
    rule(
        "holder",
        r"<b:P> (?:gets|now has|ends up with) (?:the )?<a:I>(?=[,.;!]|$)",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"<b:PU>,? (?:who )?(?:has (?:got )?(?:his|her|@P\d+@'s) hands on|gets (?:his|her"
        r"|@P\d+@'s) hands on|puts on|draws|leans on|comes up with"
        r"|carries|wears|wields|owns) (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"(?:the )?<a:I>,? (?:now )?(?:carried|worn|wielded|owned|held|borne) by <b:PU>(?!['\u2019])",
        kind="item",
    ),
    rule("holder", r"(?:the )?<a:I> <is> (?:safe )?with <b:PU>(?=[,.;!]|$| now\b)", kind="item"),
    rule(
        "holder",
        r"@[PU]\d+@ lets <b:PU> (?:have|keep) (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ has (?:given|handed|lent|left|sold|bequeathed) <b:PU> (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"you (?:hand|give|sell|return|pass|have given|gave)(?: over)? (?:the )?<a:I>(?: over| "
        r"back)? to <b:PU>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"you (?:hand|give|sell|lend|gave|have given) <b:PU> (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"<b:PU> (?:cuts|lifts|snatches|pulls|takes) (?:the )?<a:I> (?:from|off) "
        r"@[PU]\d+@['\u2019]s? (?:\w+ )?(?:belt|neck|finger|hand|hands|pocket|bag|pack|body|corpse"
        r"|desk|room)\b",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"<b:PU>['\u2019]s (?:latest|newest|greatest|proudest) (?:prize|treasure|possession"
        r"|acquisition|trophy) is (?:the )?<a:IU>(?!['\u2019])",
        kind="item",
    ),
    rule(
        "holder",
        r"(?:^|; )(?:and |but |so |okay,? |well,? |wait,? )*<b:PU> has (?:the )?<a:I>(?=[.!]|$)",
        kind="item",
    ),
)
