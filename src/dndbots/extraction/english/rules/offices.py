"""Rules for offices given and taken, and for people whose name comes late: role, race, age and looks."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import PLAYED, any_phrase, either

_PUT_IN: Final = any_phrase("appointing_verbs")
_PUT_OUT: Final = any_phrase("dismissing_verbs")
_POST: Final = any_phrase("posts")
_AS = (
    r"(?: (?:as|to|to be|to be the|as the|to the (?:post|rank|office) of|of (?:his|her) (?:post"
    r"|office) as))?"
)
_FOLLOWS: Final = any_phrase("succeeding_verbs")
_GIVEN = (
    r"(?:gives the name|gives (?:his|her|the|a) name as|answers to(?: the name)?(?: of)?"
    r"|goes by(?: the name)?(?: of)?"
    r"|introduces (?:himself|herself) as|calls (?:himself|herself)|is called|is named|turns out to be"
    r"|proves to be)"
)
_ROLE_END = (
    r"(?=[,.;:!?]|$| (?:now|again|today|here|in|at|since|these|for|by|and|from|after|instead|this"
    r"|yesterday)\b)"
)
_KNOWN = r"(?:named|called|by the name of|who goes by|who answers to|known as|whose name is|name of)"
_SOMEBODY: Final = any_phrase("somebody")
_ROUGHLY = r"(?:about |around |some |only |nearly |all of |barely |just |perhaps |a good |well past |past )?"
_NAMED_LATE = r"(?:this is|it's|it is|that's|that is|named|called|by the name of|is)"

OFFICE_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "is",
        rf"<a:PU> {_FOLLOWS} (?:old |poor )?(?:@[PU]\d+@|h(?:im|er)),? as (?:the )?<office>{_ROLE_END}",
        past=True,
    ),
    rule(
        "is",
        rf"@[PU]\d+@ {_FOLLOWS} (?:old |poor )?<a:PU>,? as (?:the )?<office>{_ROLE_END}",
        past=True,
        over=True,
    ),
    rule(
        "is",
        rf"<a:PU>,? (?:who )?(?:has (?:just |now |at last )?been|was|is|gets|got) (?:just |now "
        rf"|duly )?{_PUT_IN}{_AS}"
        rf" (?:the |an? )?(?:new )?<office>{_ROLE_END}",
        past=True,
    ),
    rule(
        "is",
        rf"(?:have|has|ve|they|council|king|queen|crown|guild|town|duke) (?:\w+ly )?(?:{_PUT_IN}|makes?"
        rf"|names?|appoints?"
        rf"|elects?|crowns?) <a:PU>{_AS} (?:the )?(?:new )?<office>{_ROLE_END}",
        past=True,
        narrated=True,
    ),
    rule(
        "is",
        rf"<a:PU> (?:has (?:now )?(?:taken|assumed)|takes|took|assumes|holds|fills|has) (?:up "
        rf"|over )?(?:the )?{_POST}"
        rf" (?:of|as) (?:the )?<office>{_ROLE_END}",
        past=True,
    ),
    rule(
        "is",
        r"<a:PU> (?:has (?:now )?become|becomes|steps up as|took over as|takes over as"
        r"|has taken over as|(?:now )?"
        r"acts as|(?:now )?serves as|earns (?:\w+ |@P\d+@'s )?(?:bread|living|keep|coin) as"
        r"|makes (?:\w+ |@P\d+@'s )?living as|is employed as"
        rf"|hires out as|(?:is|was|has been) sworn in as|(?:works|serves)(?: here| there"
        rf"| in @L\d+@) as) (?:the |an? )?(?:new )?<office>{_ROLE_END}",
        past=True,
        narrated=True,
    ),
    rule(
        "is",
        rf"the {_POST} of <office> (?:has gone|goes|went|falls|fell|passes|passed|has passed|belongs"
        rf"|now belongs) to"
        r" <a:PU>",
        past=True,
        narrated=True,
    ),
    rule(
        "is",
        r"<a:PU>(?: is|['\u2019]s)(?: now)? (?!(?:noble|elder|chief|fence|general|page|orphan|hero)"
        r" (?:now|again|here|these))<office>"
        r"(?= (?:now|again|here|these days|at last|instead)\b)",
        narrated=True,
    ),
    rule(
        "is",
        rf"{_PUT_OUT} <a:PU>,? (?:as|from (?:\w+ |@P\d+@'s )?{_POST} (?:as|of)|of (?:\w+ )?{_POST} (?:as"
        rf"|of)) (?:the )?"
        rf"<office>{_ROLE_END}",
        past=True,
        over=True,
    ),
    rule(
        "is",
        rf"<a:PU>,? (?:who )?(?:has been|was|is|has (?:just )?(?:stepped|stood) down|stepped down"
        rf"|steps down|has resigned"
        rf"|resigned|resigns|has retired|retires|(?:has )?(?:lost|quit|given up|loses) (?:the|his|her"
        rf"|@P\d+@'s) {_POST})"
        rf"(?: {_PUT_OUT})? (?:as|of|from (?:\w+ |@P\d+@'s )?{_POST} (?:as"
        rf"|of)) (?:the )?<office>{_ROLE_END}",
        past=True,
        over=True,
    ),
    rule(
        "is",
        r"(?:^|(?<=[.;:] ))as (?:the |an? )?<office>(?: (?:here|in|at|of)[^,.;@]{0,30})?, <a:PU> ",
        narrated=True,
    ),
    rule(
        "is",
        rf"(?:the|our|an?) <office>(?:, (?:an?|the) [^,.;@]{{3,60}},)? (?:\w+ly )?{_GIVEN} <a:PU>",
        narrated=True,
    ),
    rule(
        "description",
        rf"(?:the|our|an?) [a-z -]{{3,30}}, an? {_SOMEBODY} with <look>, (?:\w+ly )?(?:{_GIVEN}|is) <a:PU>",
        narrated=True,
        firm=True,
    ),
    rule(
        "is",
        r"(?:ask|asked|asking|look|looking|call|calling|send|sent) (?:around )?(?:after|for) (?:the"
        r"|an?) <office>"
        r"[^@.;]{0,80} (?:produce|bring|fetch|find|get|(?:point|lead|take|send|show|bring"
        r"|direct) you to|point at)"
        r" (?:out |up )?<a:PU>",
        narrated=True,
    ),
    rule(
        "is",
        r"there(?: is|['\u2019]s) (?:an?|one) <office>[^@.;:]{0,60}, (?:an? [^@,.;]{2,40} )?"
        rf"{_KNOWN} <a:PU>",
        narrated=True,
    ),
    rule(
        "is",
        r"(?:sits|stands|waits|is|comes|meet|see|find|know|to) the <office>, <a:PU>(?=[,.;:!]|$)",
        narrated=True,
    ),
    rule("is", r"<a:PU>: (?:the|an?|our) <office>(?=[,.;]|$)", narrated=True),
    rule(
        "is",
        r"<a:PU>, <office>(?=, (?!you|your|we|I |and |the |an? |@)| these [a-z]+ (?:years|winters)"
        r"| by trade| since"
        r"| for (?:[a-z]+ )?(?:years|winters))",
        narrated=True,
        firm=True,
    ),
    rule("is", r"(?:my |the )?name(?: is|['\u2019]s) <a:PU>[,.] (?:the |an? )?<office>(?=[,.]|$)"),
    rule(
        "is",
        r"<a:PU>,? (?:who )?(?:has been|is) (?:the |an? )?<office>(?: (?:here|in @L\d+@))? (?:since"
        r"|for|these|longer"
        r" than) ",
        narrated=True,
    ),
    rule("is", r"(?:by trade|by profession|by birth), <a:PU> is (?:the |an? )?<office>(?=[,.;]|$)"),
    rule(
        "is",
        r"(?:this|that|the one) (?:is|must be|in @L\d+@ is) <a:PU>, (?:the|our|an?) <office>(?=[,.;]|$)",
        narrated=True,
    ),
    rule(
        "race",
        rf"<a:P> is an? (?P<v>{either(PLAYED)})(?=, (?:remember|after all|you know|as you know|you see)\b)",
    ),
    rule(
        "race",
        rf"(?:^|(?<=[.;:] ))(?:being|as|for|like any) an? (?P<v>{either(PLAYED)}), <a:PU> ",
        narrated=True,
    ),
    rule(
        "is",
        r"(?:the|our) <short>['\u2019]s name(?:, [^,.;]{3,25},)? is <a:PU>",
        narrated=True,
    ),
    rule("is", r"an? <office> [^@.;:,]{2,40}, name of <a:PU>", narrated=True),
    rule("is", rf"<a:PU> is no longer (?:the )?<office>{_ROLE_END}"),
    rule(
        "is", rf"{_PUT_OUT} (?:his|her|their|the|@P\d+@'s) <office>, <a:PU>(?=[,.;]|$)", past=True, over=True
    ),
    rule(
        "description",
        rf"(?:the|an?) (?:[a-z]+ )?{_SOMEBODY} with (?:the )?<look>,? (?:\w+ly )?"
        rf"(?:{_GIVEN}|is|named|called|by the name of) <a:PU>",
        narrated=True,
    ),
    rule("is", r"<a:PU>(?: is|['\u2019]s) out as (?:the )?<office>(?=[,.;]|$)", over=True, narrated=True),
    rule(
        "age",
        r"an? (?:[a-z]+ )?<years>-year-old [a-z ]{2,30}(?:named|called|by the name of) <a:PU>",
        narrated=True,
    ),
    rule("race", rf"<a:P>,? (?:is |comes )?of (?P<v>{either(PLAYED)}) (?:blood|stock|descent|birth|kin)\b"),
    rule(
        "age",
        rf"<a:PU>, (?:aged |at |age |now |just )?{_ROUGHLY}<years>(?: years old| years of age)?(?=,)",
        narrated=True,
    ),
    rule(
        "age",
        rf"<a:PU>, (?:the |an? )?[a-z][a-z' -]{{2,40}},? (?:aged |at )?{_ROUGHLY}<years>(?: years old"
        rf"| years of age)?"
        r"(?=[,.])",
        narrated=True,
    ),
    rule(
        "age",
        rf"<a:PU> (?:has )?(?:just )?(?:turned|turns|celebrated|is turning|reached|has reached"
        rf"|is) {_ROUGHLY}<years>"
        r"(?=[,.;]|$| (?:this|last|in|today|years?|winters|summers|and|now|but|if)\b)",
        past=True,
    ),
    rule(
        "age",
        rf"<a:PU> (?:has seen|has lived|counts|carries|has|has lived through"
        rf"|is) {_ROUGHLY}<years>(?: or so)?"
        r" (?:years|winters|summers|springs|birthdays)\b",
    ),
    rule(
        "age",
        rf"an? (?:[a-z]+ )?{_SOMEBODY} of {_ROUGHLY}<years>(?: years"
        rf"| winters)?,? [^@.;]{{0,60}}?{_NAMED_LATE}"
        r" <a:PU>",
        narrated=True,
    ),
    rule("age", rf"at {_ROUGHLY}<years>,? <a:PU> (?:is|has|still|can|looks|moves|walks)\b", narrated=True),
    rule("age", r"<a:PU>['\u2019]s (?:age is|a good|all of|about|around) <years>(?=[,.;]|$| )"),
    rule("age", r"<a:PU>,? (?:is )?(?:an? )?<years>-year-old\b"),
    rule("age", rf"{_ROUGHLY}<years> years old(?: (?:now|today|this year))?, <a:PU> ", narrated=True),
)
