"""Rules for what is told of people in passing: ages, ailments, moves and offers."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import ANIMALS, FOLK, LOOKS, ROLES, any_phrase, either

_SMALL: Final = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TENS: Final = r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]{3,5})?"
_AGE: Final = rf"(?P<v>{_TENS}|(?:thir|four|fif|six|seven|eigh|nine)teen|{_SMALL})"
_AGE_END: Final = (
    r"(?=[,.;!]|$| and | but | or so\b| years old\b| today\b| now\b| this \w+| last \w+| next \w+)"
)
_AILING: Final = any_phrase("ailments")
_LOOK: Final = rf"(?:very |rather |quite |so )?{either(LOOKS)}"
_BEAST: Final = either(ANIMALS)
_REPEATEDLY: Final = r"(?: here| there)?(?: every (?:night|day|week|evening|morning)| most (?:nights|days))?"
_SUMS: Final = (
    r"(?:gold|silver|copper|crowns?|coins?|pieces?|ducats?|florins?|dollars?|euros?|pounds?|credits?|shares?)"
)
_TO_WHOM: Final = r"(?:you |us |them |me |@[PU]\d+@ )?"
_SOME: Final = (
    r"(?:an?|the|his|her|my|their|half|all|one|two|three|four|five|six|ten|twenty|fifty|\d{1,6}"
    r"|@P\d+@['\u2019]s)"
)
_WATCH: Final = (
    r"(?:(?:town|city|night|harbou?r|river|royal|palace|king's|queen's) (?:watch|guard|police|patrol)"
    r"|(?:watch|guard|police))"
)

TOLD_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "age", rf"<a:PU>,? (?:who )?<is> (?:only |just |about |past |over |around |barely )?{_AGE}{_AGE_END}"
    ),
    rule("age", rf"<a:PU>,? (?:who )?(?:has |just |only ){{0,2}}turn(?:s|ed) {_AGE}{_AGE_END}", past=True),
    rule(
        "status",
        r"<a:PU>,? (?:who )?(?:<is>|has been|has gone|went|lies|remains|falls) (?:\w{1,20}ly )?"
        rf"(?P<v>{_AILING})<sure>",
        past=True,
    ),
    rule(
        "status",
        r"<a:PU> <is> (?P<v>allergic to (?!it\b|that\b|this\b|you\b)[a-z][a-z -]{1,30}?)"
        r"(?=[,.;!]|$| and | but )",
    ),
    rule(
        "status",
        r"<a:PU>,? (?:who )?(?:has )?(?P<v>drowned)(?=[,.;]|$| (?:in|with|off|at|last|years)\b)",
        past=True,
    ),
    rule(
        "status",
        r"<a:PU>,? (?:who )?(?:was|has been|had been|is) (?P<v>turned into an? [a-z][a-z -]{2,30}?)"
        r"(?=[,.;!]|$| and | by )",
        past=True,
    ),
    rule(
        "home",
        r"<a:PU> (?:has |have |just ){0,2}(?:moved?|moves|relocated) (?:away )?from <loc>",
        past=True,
        over=True,
    ),
    rule(
        "home",
        r"<a:PU> (?:has |have |just ){0,2}(?:moved?|moves|relocated) "
        r"(?:back |here |over |away )?(?:from (?:the )?@[LU]\d+@ )?to <loc>",
        past=True,
    ),
    rule("home", r"<a:PU> (?:has |have )?(?:ran|run|gone|went|returned) (?:back )?home to <loc>", past=True),
    rule("place", r"<a:PU> (?:stayed|stays|remained|remains) (?:behind |back )?(?:in|at) <loc>", past=True),
    rule(
        "place",
        r"<a:PU> (?:drinks|sings|plays|performs|works|eats|dances|gambles|teaches|serves)"
        rf"{_REPEATEDLY} (?:in|at) <loc>",
    ),
    rule("role", rf"<a:PU> of the (?P<v>{_WATCH})(?=[,.;]| [a-z]+s\b)", narrated=True),
    rule(
        "role",
        r"<a:PU> (?:work|works|is working) as an? (?P<v>[a-z][\w' -]{2,40}?)"
        r"(?=[,.;!]|$| in | at | for | and | on )",
    ),
    rule(
        "role",
        r"<a:PU> (?P<v>(?:runs|owns|keeps) (?:the |an? )(?:place|whole place|bar|house|club|bookshop"
        r"|bookstore|café|cafe|restaurant|school|farm|ranch|garage|gym|boatyard|shipyard|vineyard|orchard))"
        r"(?=[,.;!]|$| (?:in|at|on|near|with|and|by)\b)",
    ),
    rule(
        "is",
        rf"<a:PU> (?:comes?|came|walks?|walked|steps?|stepped|strides?|strode|enters?|entered|sits?|sat"
        rf"|stands?|stood|waits?|waited|arrives?|arrived|appears?|appeared)"
        rf"(?: (?!{either(FOLK | ROLES)}(?![\w-]))(?:[a-z']{{1,20}}(?![\w'])|@[LU]\d+@)){{2,10}}, an? <np>"
        r"(?=[.;!]|$)",
        narrated=True,
        past=True,
    ),
    rule("is", r"<a:PU>, (?:the|an?|our|my) [^,;:.!?@]{2,40}, (?:an?|the) <np>(?=[,.;:!?]|$)", narrated=True),
    rule(
        "description",
        rf"<a:PU>,? (?:who )?<is> (?P<w>{_LOOK}(?:, {_LOOK}){{0,2}},? (?:and|but) {_LOOK})"
        r"(?=[,.;!]|$| and | but |, who )",
    ),
    rule(
        "race",
        rf"<a:PU>,? <is> an? (?:{either(LOOKS)},? ){{1,3}}(?P<v>{_BEAST})"
        r"(?=[,.;!]|$| (?:who|that|with|and)\b)",
    ),
    rule(
        "race",
        rf"<a:PU>,? <is> an? <mods>(?P<v>{_BEAST})(?=[,.;!]|$| (?:who|that|with|and)\b)",
        narrated=True,
    ),
    rule(
        "wants",
        r"<a:PU>,? (?:who )?(?:just |only )?wants? "
        r"(?P<v>(?:that|the|his|her|my|an?|@P\d+@'s) [^,;:.!?@]{2,50}? back)(?=[,.;!]|$)",
    ),
    rule(
        "wants",
        r"<a:PU>,? (?:who )?(?:also |really )?wants? (?:an? |the )?(?P<w>[a-z][a-z' -]{2,40}?) (?:so badly"
        r"|more than anything|above all(?: else)?|most of all|with all (?:his|her|@P\d+@'s) heart)",
    ),
    rule(
        "promise",
        r"<a:PU> (?:has |have )?(?:promised|promises|offers|offered|offer) "
        r"(?:you |us |them |me |everybody |everyone |@[PU]\d+@ )?"
        rf"(?P<v>(?:[a-z-]{{1,20}} |\d{{1,6}} ){{1,4}}{_SUMS}(?: [^,;:.!?@]{{2,40}})?)(?=[.,;!]|$)",
        past=True,
    ),
    rule(
        "promise",
        rf"<a:PU>,? (?:who )?(?:has |have )?(?:promise[sd]?|offer(?:s|ed)?|will give|will pay)"
        rf" {_TO_WHOM}(?P<w>{_SOME} [^.;:!?\"]{{2,60}}? (?:for|to) (?:anyone|anybody|whoever|everyone"
        rf"|the first|(?:any|the|a) (?:man|woman|one|person|soul|fool)) [^.;:!?\"]{{3,80}}?)(?=[.,;!]|$)",
        past=True,
        firm=True,
    ),
    rule(
        "promise",
        rf"<a:PU>(?: will|['\u2019]ll) (?:give|pay|grant) (?:you|us|them|@[PU]\d+@) (?P<w>{_SOME} "
        r"[^,.;:!?\"]{2,60}?)(?=,? (?:if|when|once|as soon as) (?:you|he|she|they|@[PU]\d+@) )",
        firm=True,
    ),
    rule(
        "promise",
        r"<a:PU>(?: will|['\u2019]ll) (?P<w>(?:keep|save|hold|set aside|reserve) an? [a-z][a-z' -]{2,30}?"
        r"(?= for (?:you|us|them|@[PU]\d+@)))(?= for)",
        firm=True,
    ),
)
