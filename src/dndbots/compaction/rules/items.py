"""Rules on things that have a name: who has them, who made them, where they are, and what they do."""

from typing import Final

from dndbots.compaction.rules.grammar import Rule, rule

_WORN: Final = (
    r"(?:side|hip|belt|waist|back|throat|neck|finger|wrist|brow|head|shoulder|shoulders|chest|arm"
    r"|hand|lap|saddle|bedside)"
)
_HANGS: Final = r"(?:hangs|rests|swings|gleams|dangles|glitters|glints|sits|shines|lies|is)"
_MADE: Final = (
    r"(?:forged|made|crafted|created|wrought|enchanted|carved|wrote|built|fashioned|cast|sewed|wove)"
)
_GONE_TO: Final = (
    r"(?:passes|passed|goes|went|falls|fell|comes|came|is handed|is sold|was sold|is given|was given"
    r"|was handed|has been given|has been sold|has passed|has gone|is bequeathed|is now entrusted|is "
    r"returned|is entrusted)"
)
_GIVES: Final = (
    r"(?:sells|sold|has sold|trades|traded|surrenders|surrendered|yields|bequeaths|bequeathed|entrusts"
    r"|has entrusted|leaves|has left|has given|has handed|gives up|hands over|has passed|tosses|lends"
    r"|has lent|presents)"
)
_GETS: Final = (
    r"(?:wins|won|has won|takes|took|has taken|steals|stole|has stolen|buys|bought|has bought|inherits"
    r"|inherited|has inherited|receives|received|gets|lifts|pinches|snatches|accepts|wrests)"
)
_WORKS: Final = (
    r"(?:opens|heals|wards off|protects|reveals|summons|repels|absorbs|grants|drinks|silences|shows"
    r"|freezes|turns|cuts through|commands|calls|warns|hides|stops|binds|raises|finds|points|burns|lights"
    r"|closes|locks|unlocks|kills|blinds|deafens|poisons|mends|draws|steals|breaks|keeps|makes|lets|glows"
    r"|hums|sings|screams|whispers|returns|remembers|answers|detects|senses|doubles|slows|drives|shields"
    r"|purifies|cures|cleanses|controls|banishes|curses|swallows|eats|puts|fills|knows|tells|wakes"
    r"|extinguishes|hastens|drains|feeds|bends|parts)"
)

ITEM_RULES: Final[tuple[Rule, ...]] = (
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
        "maker",
        r"(?:the )?<a:IU> <is> (?:all )?<b:PU>['\u2019]s? (?:own )?(?:work|handiwork|making"
        r"|creation|masterpiece)\b",
        kind="item",
    ),
    rule(
        "maker",
        r"(?:the )?<a:IU> <is> the (?:work|handiwork|creation|masterpiece) of (?:the (?:[a-z-]+ "
        r"){1,2})?<b:PU>"
        r"(?!['\u2019])",
        kind="item",
    ),
    rule(
        "maker",
        rf"<b:PU>,? (?:is the one )?who {_MADE} (?:the )?<a:IU>(?!['\u2019])",
        kind="item",
        past=True,
    ),
    rule(
        "maker",
        r"the (?:maker|smith|forger|creator|crafter) (?:of|behind) (?:the )?<a:IU> (?:is|was) "
        r"<b:PU>(?!['\u2019])",
        kind="item",
        past=True,
    ),
    rule(
        "maker",
        r"(?:the )?<a:I> (?:comes|came) (?:from|out of) <b:PU>['\u2019]s? (?:own )?(?:forge"
        r"|workshop|anvil|hands?"
        r"|kiln|smithy)",
        kind="item",
        past=True,
    ),
    rule(
        "power",
        rf"<a:I> (?:also )?(?P<v>{_WORKS} [^,;:!?]{{3,70}}?)(?=[.,;:!?]|$)",
        kind="item",
    ),
    rule(
        "power",
        r"(?:whoever|anyone who|he who|she who|the one who) (?:holds|wears|wields|bears|carries"
        r"|owns|drinks from) "
        r"(?:the )?<a:IU> (?:can|is able to|has the power to) <few>",
        kind="item",
    ),
    rule(
        "power",
        r"(?:the )?<a:I>['\u2019]s? (?:power|gift|curse|magic|secret) is (?:that it |to )<few>",
        kind="item",
    ),
    rule(
        "place",
        r"<a:U> (?:is|lies|was|has been|rests) (?:now |still )?(?:hidden|locked(?: up| away)|kept"
        r"|stored|buried|walled up"
        r"|sunk)(?: away)? (?:in|beneath|under|at|within|inside|below|deep in|deep beneath"
        r"|somewhere in) <loc>",
        kind="item",
        narrated=True,
    ),
    rule(
        "place",
        r"(?:the )?<a:I> (?:has been |was )(?:hidden|locked(?: up| away)?|buried|walled up|stored"
        r"|taken|brought|sunk)"
        r"(?: away)? (?:in|beneath|under|at|within|inside|below|to|deep in|somewhere in) <loc>",
        kind="item",
        past=True,
    ),
    rule(
        "place",
        r"(?:they|@[PU]\d+@) (?:have |has )?(?:taken|takes|brought|brings|moved|moves|carried"
        r"|hidden|hides|locked|buried"
        r"|buries) (?:the )?<a:I>(?: away)? (?:to|in|at|beneath|under|inside) <loc>",
        kind="item",
        past=True,
    ),
    rule(
        "place",
        r"(?:hidden|buried|locked away|kept|lost|somewhere) (?:deep )?(?:in|beneath|under|at"
        r"|within|inside|below) <loc>,? "
        r"(?:lies|rests|is|waits|sleeps) (?:the )?<a:I>(?!['\u2019])",
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
        "maker",
        r"the (?:\w+ )?(?:smith|jeweller|jeweler|mage|wizard|witch|armourer|armorer|one|man|woman"
        r"|hand|artificer|craftsman) who "
        rf"{_MADE} (?:the )?<a:IU> (?:is|was) (?:called |named )?<b:PU>(?!['\u2019])",
        kind="item",
        past=True,
    ),
    rule(
        "maker",
        r"(?:the )?<a:I> (?:bears|carries|has) (?:<b:PU>['\u2019]s? (?:mark|name|maker's mark"
        r"|stamp|signature))\b",
        kind="item",
    ),
    rule(
        "maker",
        r"(?:the )?<a:I> (?:bears|carries|has) the (?:maker's )?(?:mark|stamp|signature) of "
        r"(?:the (?:\w+ ){1,2})?<b:PU>(?!['\u2019])",
        kind="item",
    ),
    rule(
        "maker",
        r"(?:the )?<a:I>, <b:PU>['\u2019]s? (?:own )?(?:work|masterpiece|creation|handiwork)\b",
        kind="item",
    ),
    rule(
        "maker",
        rf"<b:PU> (?:herself |himself |once |alone )?{_MADE} <a:U>(?=[,.;!]|$| (?:in|for|from|with"
        r"|at|over)\b)",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "power",
        r"(?:put on|hold|wear|raise|blow|ring|touch|drink from|open|wield|carry) (?:the )?<a:I>,? "
        r"and (?:you|one|the \w+|it) "
        r"(?:can |will )?(?P<v>[a-z][^,;:!?]{3,60}?)(?=[.,;:!?]|$)",
        kind="item",
    ),
    rule("power", r"with (?:the )?<a:I>(?: in hand)?,? (?:you|one|anyone|its bearer) can <few>", kind="item"),
    rule(
        "power",
        r"(?:the power|the gift|the curse|the magic|the secret) of (?:the )?<a:IU> is (?:that it "
        r"|to )<few>",
        kind="item",
    ),
    rule("power", r"what (?:the )?<a:IU> does is (?:to )?<few>", kind="item"),
    rule(
        "power",
        r"(?:whoever|anyone who|he who|she who|the one who) (?:holds|wears|wields|bears|carries"
        r"|owns|drinks from) (?:the )?<a:IU> "
        r"(?P<v>(?:cannot|will never|never|sees|hears|feels|becomes|speaks|knows|walks|is|will) "
        r"[^,;:!?]{2,60}?)(?=[.,;:!?]|$)",
        kind="item",
    ),
    rule(
        "place",
        r"(?:the )?<a:I> (?:lies|rests|is|sleeps) (?:at the bottom of|in the depths of|in the "
        r"vaults? of|in the crypts? of|in the "
        r"cellars? of|in the ruins of|under the ruins of|in the heart of) <loc>",
        kind="item",
    ),
    rule(
        "place",
        r"(?:you find|you['\u2019]ll find|you will find|somebody (?:has )?hid(?:den)?|someone "
        r"(?:has )?hid(?:den)?) (?:the )?<a:I> (?:in|at|beneath|under|inside) <loc>",
        kind="item",
        past=True,
    ),
    rule(
        "place", r"(?:the )?<a:I> was (?:last seen|found|left) (?:in|at|near) <loc>", kind="item", past=True
    ),
)
