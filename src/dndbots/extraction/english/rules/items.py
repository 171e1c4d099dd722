"""Rules for named things: their makers, places and powers."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_MADE: Final = any_phrase("making_verbs")
_WORKS: Final = any_phrase("item_powers")

ITEM_RULES: Final[tuple[Rule, ...]] = (
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
    rule("power", r"<a:I> (?:lets|allows) (?:you|one|anyone|whoever \w+ it)(?: to)? <few>", kind="item"),
    rule(
        "power",
        r"<a:I> (?P<v>(?:cannot be|can only be|never|always) [^,;:!?]{3,60}?)(?=[.,;:!?]|$)",
        kind="item",
    ),
)
