"""Rules for abilities: what people can do."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_DAILY: Final = any_phrase("everyday_verbs")
_WONDERS: Final = (
    r"(?:fire|flames?|lightning|ghosts|spirits|shadows|storms|the dead|the undead|animals"
    r"|beasts|birds|ravens|magic"
    r"|the weather|the wind|the future|minds|dreams|underwater|under water|unseen|through "
    r"walls|by touch|at will|with a "
    r"touch|with a word|bare hands|blindfolded|in the dark|without a sound|poison|illusions|the sick|wounds)"
)
_GIFTS: Final = (
    r"(?:call (?:down )?(?:lightning|storms?|thunder|the \w+|rain|wolves|birds|spirits)|walk "
    r"(?:through|on water|unseen"
    r"|up walls|in shadows)|pick (?:locks|pockets)|hear (?:thoughts|the dead|lies"
    r"|heartbeats)|smell (?:magic"
    r"|lies|fear|gold|death)|see (?:ghosts|the dead|auras|magic|in total darkness|into the "
    r"future)|speak (?:with|to"
    r"|in) (?:the |any |every )?(?:dead|animals|spirits|plants|birds|beasts|stones?|trees"
    r"|wolves|horses|tongues"
    r"|language)|sense (?:magic|evil|the undead|danger|lies)|vanish at will|command (?:the"
    r"|fire|beasts|birds|shadows)"
    r"|bend (?:fire|water|metal|steel|light|shadows)|stop time|find water|read (?:the stars"
    r"|palms|omens|tracks|any"
    r"|old \w+)|hold (?:his|her|@P\d+@'s) breath|charm (?:snakes|animals|birds"
    r"|anyone)|forge (?:any"
    r"|signatures)|breathe water|shape (?:stone|fire|wood|water|metal)|move (?:objects"
    r"|things) with|light (?:fires"
    r"|candles)|throw (?:\w+ )?voice|walk unharmed|turn (?:into|to|invisible|stone|water)"
    rf"|(?!(?:{_DAILY}|see|hear|feel|find|call)\b)[a-z]+(?: [a-z]+)? (?:any|every) (?!of\b)[a-z]+"
    rf"|(?!(?:{_DAILY}|see|hear|feel|smell|find|reach|kill|fight|hit)\b)[a-z]+ (?:[a-z]+ "
    rf"){{0,2}}?{_WONDERS}\b)"
)
_GIFTED: Final = (
    r"(?:cast|speak (?:with|to) (?:the dead|animals|spirits|plants|birds|beasts)|see (?:the "
    r"future|in the dark|the past|spirits|through walls)|shapeshift|breathe (?:under water"
    r"|underwater|fire)|summon|conjure|read (?:minds|thoughts|lips|runes)|teleport|turn "
    r"(?:into|invisible|undead|to mist)|become invisible|raise the dead|control (?:minds|the "
    r"weather|fire|water)|talk to (?:animals|spirits|the dead)|heal|transform into|change "
    r"(?:shape|form))"
)

ABILITY_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "ability",
        r"<a:PU> (?:can|knows how to|is able to|has the (?:power|ability|gift) to|has learned "
        rf"(?:how )?to|learns (?:how )?to) (?P<v>{_GIFTED}\b[^,;:!?]{{0,40}}?)(?=[.,;:!?]|$| and )",
        kind="ability",
    ),
    rule("ability", r"<a:PU> knows how to <few>", kind="ability"),
    rule(
        "ability",
        r"<a:PU> (?:learns|learned|has learned|has mastered|masters|now knows) (?:the )?(?:spell"
        r"|cantrip|art of|secret of|technique)?:? ?(?P<v>(?:@[UIL]\d+@(?: of @U\d+@)?))(?=[,.;!]|$"
        r"| from | and | spell| cantrip)",
        kind="ability",
    ),
    rule(
        "ability",
        r"<a:PU> (?:can|can now|now can|is able to|is now able to|has the (?:power|ability|gift) to) "
        rf"(?P<v>{_GIFTS}\b[^,;:!?]{{0,40}}?)(?=[.,;:!?]|$| and )",
        kind="ability",
    ),
    rule(
        "ability",
        r"<a:PU> (?:has (?:now |finally |at last )?(?:learned|learnt|been taught|mastered how"
        r"|taught (?:him|her)self)"
        r"|finally learns|learns at last) (?:how )?to <few>",
        kind="ability",
        narrated=True,
        past=True,
    ),
    rule(
        "ability",
        r"(?:^|[;:] )<a:P>, you(?:['\u2019]ve| have)? (?:now )?(?:learned|learnt|been taught|know"
        r"|know now) (?:how )?to <few>",
        kind="ability",
        narrated=True,
    ),
    rule(
        "ability",
        rf"(?:^|[;:] )<a:P>, you can (?:now )?(?P<v>{_GIFTS}\b[^,;:!?]{{0,40}}?)(?=[.,;:!?]|$| and )",
        kind="ability",
        narrated=True,
    ),
    rule(
        "ability",
        r"<a:PU> has (?:the (?:gift|power|knack) of|a gift for|a knack for) (?!it\b|the\b|this\b)<few>",
        kind="ability",
        narrated=True,
    ),
    rule(
        "ability",
        r"(?:@[PU]\d+@|the [a-z-]+(?: [a-z-]+)?) (?:teaches|has taught|taught) <a:PU> (?:how )?to <few>",
        kind="ability",
        narrated=True,
        past=True,
    ),
    rule("ability", r"<a:PU> now knows how to <few>", kind="ability", narrated=True),
    rule(
        "ability",
        r"<a:PU> has mastered (?P<v>the (?:art|craft|secret) of [^,;:!?]{3,40}?)(?=[.,;:!?]|$)",
        kind="ability",
        narrated=True,
        past=True,
    ),
    rule(
        "ability",
        r"<a:PU> can (?P<v>talk (?:to|with) (?:the )?(?:dead|animals|horses|birds|wolves|trees"
        r"|spirits|stones|rats|fish|beasts))(?=[.,;:!?]|$| and )",
        kind="ability",
    ),
)
