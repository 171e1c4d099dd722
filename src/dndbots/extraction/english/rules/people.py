"""Rules for people: role, age, wishes, fears, promises, status, home and place."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_ADVERB = r"(?:\w+ly |now |still |also |has long |has always )?"
_FATE: Final = any_phrase("fates")
_SUFFERED = (
    r"(?:killed|murdered|slain|assassinated|executed|captured|kidnapped|abducted|taken "
    r"prisoner|taken captive|taken hostage|taken|imprisoned"
    r"|cursed|poisoned|wounded|exiled|banished|arrested|jailed|turned to stone|petrified"
    r"|enslaved|thrown in prison|thrown in jail|sentenced to death"
    r"|held captive|held prisoner|held hostage|transformed into [\w -]{3,30}|buried|crippled"
    r"|resurrected|possessed|freed|released)"
)
_STAYS = (
    r"(?:is (?:being )?(?:held|kept|imprisoned|locked up|locked|hiding|hidden|waiting|staying"
    r"|stationed|camped|trapped|resting|buried)(?: captive| prisoner| hostage| out)?"
    r"|waits|awaits you|hides|stays|stands guard|keeps watch|can be found|is to be found|may "
    r"be found|now resides|is working|works|is tending bar|tends bar)"
)
_PLACED = r"(?:in|at|inside|within|beneath|under|below|on|aboard|outside|near)"
_AIM: Final = any_phrase("aims")

PEOPLE_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "is",
        r"<a:PU>,? (?:who )?(?:<is>|has been|has long been|serves as|works as|acts as) (?:the|an?"
        r"|our|one of the|one of) <np><end>(?!, @[A-Z]\d+@(?! [a-z]))",
    ),
    rule("is", r"<a:PU>, (?:the|an?|our|your|my) <np>(?=[,.;:!?]|$| by (?:trade|birth)\b| who )"),
    rule(
        "is",
        r"<a:PU> the <short>(?=[,.;:!?]|$| (?:who|can|is|was|has|and|in|at|of|from|with|waits"
        r"|[a-z]+s)\b)",
    ),
    rule(
        "is",
        r"(?:the|an?|this|our|another|one|some) <narrow>(?: who (?:has|is) [^,.;@]{3,40})?,? "
        r"(?:who is |who's |whose name is |is )?"
        r"(?:named|called|by the name of|known as|whose name is) <a:PU>",
    ),
    rule("is", r"(?:the|our) <short>, (?:an?|the) [^,.;]{3,60} (?:named|called|by the name of) <a:PU>"),
    rule("is", r"(?:the|our|an?) <short>, <a:PU>(?=[,.])(?!['\u2019])"),
    rule(
        "is",
        r"(?:the|our) <short> <a:PU>(?=[,.;!]|$| (?:in|at|from|and|who|with|for|nods|says|smiles"
        r"|runs|stands|waits)\b)",
    ),
    rule("is", r"<a:PU>, (?=[\w' -]+ (?:of|at|in|from|to) )<np>(?=,)", narrated=True),
    rule("is", r"(?:the|our) <short>['\u2019]s name is <a:PU>"),
    rule(
        "is",
        r"(?:the|our) <short>(?: here| (?:in|at|behind|by|on) the [a-z]+)? is (?:(?:an?|the) "
        r"[^,.;@]{2,40} (?:named|called) )?<a:PU>(?=[,.;!]|$)",
        narrated=True,
    ),
    rule("role", r"<a:PU>, (?:the )?(?P<v>head of (?:the )?[^,.;:!?@]{3,30})(?=,)"),
    rule("is", r"<a:PU> (?:turns out|turned out|is revealed) to be (?:the|an?) <np><end>", past=True),
    rule(
        "role",
        r"<a:PU> (?:has become|becomes|has been (?:named|made|appointed|elected|crowned)|is now"
        r"|was (?:named|made|appointed|elected|crowned)) (?:the )?(?:new )?(?P<v>(?:captain|mayor"
        r"|king|queen|leader|heir|ruler|steward|warden|chief|commander|high priest|high priestess"
        r"|guildmaster|governor|sheriff|regent|head)(?: (?:of|to) [^,.;:!?]{3,40}?)?)<end>",
        past=True,
    ),
    rule("is", r"the (?:new )?<np> is <a:PU>(?=[,.;!]|$)", narrated=True),
    rule(
        "role",
        r"<a:PU> <is> (?P<v>(?:captain|mayor|king|queen|leader|head|heir|ruler|master|steward"
        r"|warden|chief|commander|high priest|high priestess|guildmaster|governor)(?: (?:of|to) "
        r"[^,.;:!?]{3,40}?)?)<end>",
    ),
    rule(
        "role",
        r"<a:PU> (?:works|serves|is working|is employed) as (?:the |an? )?(?P<v>[a-z][\w' "
        r"-]{3,40}?)(?=[,.;!]|$| in | at | for | and | on )",
    ),
    rule(
        "role",
        r"<a:PU> (?P<v>(?:runs|owns|keeps|manages|tends) (?:the |an? )?(?:@[LUF]\d+@(?: (?:inn"
        r"|tavern|forge|shop|mill|bar))?|(?:[a-z]+ )?(?:inn|tavern|forge|smithy|shop|mill|bakery"
        r"|stables|brewery|store|alehouse|library|orphanage|infirmary|apothecary)))(?=[,.;!]|$| "
        r"(?:in|at|on|near|with|and|by|here)\b)",
    ),
    rule(
        "age",
        r"<a:PU> <is> (?:about |around |some |only |nearly )?(?P<v>(?:[a-z]+(?:-[a-z]+)?|\d{1,4})"
        r"(?: hundred| thousand)?(?: and [a-z-]+)? (?:years|winters|summers)(?: old| of age)?)",
    ),
    rule(
        "age",
        r"<a:PU>,? (?:<is> )?(?:an? |the )?(?:[a-z]+ )?(?:boy|girl|man|woman|child|lad|elf|dwarf"
        r"|gnome|halfling) of (?:about |around |some |perhaps )?(?P<v>(?:[a-z]+(?:-[a-z]+)?"
        r"|\d{1,4})(?: (?:years|winters|summers))?)<end>",
    ),
    rule("age", r"<a:PU>,? (?:<is> |aged )(?:about |around )?(?P<v>\d{1,4})(?=[,.;]|$)"),
    rule(
        "age",
        r"<a:PU>,? (?:<is> )?[^,.;]{0,40}?in (?:his|her|their|@P\d+@'s) (?:early |late |mid "
        r"|mid-)?(?P<v>(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties"
        r"|nineties))",
    ),
    rule(
        "description",
        r"<a:P>,? (?:who )?(?:has|wears) (?!got |this |to |\w+ed )(?P<v>(?:an? |the )?(?:[\w-]+ "
        r"){0,4}(?:hair|eyes?|beard|scars?|braids?|mustache|moustache|tattoos?|face|teeth|skin"
        r"|horns|spectacles|eyepatch|patch|limp|hood|robes?|cloak|coat|armor|armour)(?: "
        r"[^,.;:!?]{2,60}?)?)(?=[,.;:!?]|$)",
    ),
    rule("description", r"<a:PU> (?P<v>walks with an? (?:\w+ )?(?:limp|cane|stick|crutch|staff))"),
    rule("wants", rf"<a:PFU>,? (?:who )?{_ADVERB}{_AIM} (?:more than anything )?to (?!the |an? |@)<words>"),
    rule("wants", r"<a:P> want to (?!the |an? |@)<words>"),
    rule(
        "wants",
        r"(?:what )?<a:PFU> (?:really |most |truly )?wants (?:most |more than anything )?is (?:to "
        r")?<words>",
    ),
    rule("wants", r"<a:PU> is (?:bent|set|intent) on <words>"),
    rule("wants", r"<a:PU> is after (?P<v>the @[IUL]\d+@)(?=[,.;!]|$)"),
    rule(
        "wants",
        r"<a:PU> (?:needs|must) to (?P<v>(?:find|save|cure|rescue|avenge|restore|recover|free) "
        r"[^,;:!?]{2,80}?)(?=[.,;:!?]|$)",
        narrated=True,
    ),
    rule(
        "wants",
        r"<a:PU> (?:is looking|is searching|searches|is hunting|is on the hunt) for (?P<v>(?:the"
        r"|his|her|an?|@)[^,;:!?]{2,80}?)(?=[.,;:!?]|$)",
    ),
    rule(
        "wants",
        r"<a:PU> (?:dreams of|longs for|yearns for|thirsts for|craves|covets|hungers for|lusts "
        r"after|is obsessed with) <words>",
    ),
    rule(
        "wants",
        r"<a:PU> (?:wants|seeks|desires) (?P<v>(?:revenge|vengeance|justice|power|freedom"
        r"|redemption|peace|immortality|forgiveness|glory|the (?:throne|crown|truth))(?: "
        r"[^,;:!?]{2,60}?)?)(?=[.,;:!?]|$)",
    ),
    rule(
        "wants",
        r"<a:PU>['\u2019]s (?:goal|aim|dream|wish|one wish|desire|greatest wish|greatest desire"
        r"|only wish|ambition|motive) is (?:to )?<words>",
    ),
    rule("wants", r"the <a:FU> (?:want|seek|hope|plan|aim|intend) to <words>", kind="faction"),
    rule(
        "fears",
        rf"<a:PU> {_ADVERB}(?:fears?|dreads?|is (?:deathly |mortally |truly |terribly |secretly )?"
        r"(?:afraid|scared|terrified|frightened) of|lives in fear of|has a fear of) (?!that\b"
        r"|for\b|to\b|you\b)<few>",
    ),
    rule(
        "fears",
        r"<a:PU> (?:has always been|has long been|has been) (?:afraid|scared|terrified"
        r"|frightened) of <few>",
    ),
    rule("fears", r"<a:PU> has an? (?:deep |great |mortal |terrible )?fear of <few>"),
    rule("fears", r"<a:PU>['\u2019]s (?:greatest|worst|deepest|secret) fear is (?:that )?<few>"),
    rule(
        "promise",
        rf"<a:PU> {_ADVERB}(?:promises?|swears?(?: an oath)?|swore an oath|has sworn an oath|vows?"
        r"|pledges?|has promised|has sworn|has vowed|has pledged|swore|vowed|promised|pledged) (?:"
        r"(?:you|us|them|@P\d+@|the party|the group) )?(?:that (?:he|she|@P\d+@) will |to )<words>",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU> (?:promises|promised|has promised) (?:@[PU]\d+@|the party|them) "
        r"(?P<v>(?!to |that )[^,;:!?]{3,60}?)(?=[.,;:!?]|$)",
        past=True,
    ),
    rule(
        "promise",
        r"<a:PU> (?:gives|gave|has given) (?:you |them )?(?:his|her|@P\d+@'s) (?:word|oath"
        r"|promise) (?:that (?:he|she|@P\d+@) will |to )<words>",
        past=True,
    ),
    rule(
        "attitude",
        r"<a:PU> (?:is (?:now |very |deeply )?|no longer |has come to |now |still )?(?P<v>"
        r"(?:deeply |openly |secretly |utterly )?(?:distrusts?|mistrusts?|trusts?|hates?|despises?"
        r"|loathes?|admires?|respects?|resents?|adores?|(?:friendly|hostile|loyal|grateful"
        r"|indebted|devoted|sympathetic|cold|kind) (?:toward|towards|to)|(?:suspicious|wary"
        r"|jealous|envious|fond|protective|contemptuous) of|in love with|furious (?:with|at)"
        r"|angry (?:with|at)|holds a grudge against|bears a grudge against|looks down on|looks up "
        r"to) (?!it\b|that\b|this\b|how\b)[^,;:!?]{2,60}?)(?=[.,;:!?]|$)",
    ),
    rule("status", rf"<a:PU>,? (?:who )?(?:<is>|lies|remains|falls) (?P<v>{_FATE})<sure>"),
    rule(
        "status",
        rf"<a:PU>,? (?:who )?(?:is being|was|has been|were|is) (?:\w+ly )?(?P<v>{_SUFFERED})<sure>"
        r"(?! by surprise)",
        past=True,
    ),
    rule(
        "status", r"<a:PU>,? (?:who )?(?:was|is|has been) found (?P<v>dead|murdered|slain)<sure>", past=True
    ),
    rule(
        "status",
        r"(?:holds?|are holding|is holding|keeps?|have taken|has taken|took) <a:PU> (?P<v>captive"
        r"|prisoner|hostage)<sure>",
        past=True,
    ),
    rule(
        "place",
        r"(?:holds?|are holding|is holding|keeps?) <a:PU> (?:captive|prisoner|hostage) (?:in|at"
        r"|inside|beneath) <loc>",
    ),
    rule("status", r"<a:PU>,? (?:who )?(?:has been|has gone|went|goes|is) (?P<v>missing)<sure>", past=True),
    rule(
        "status",
        r"<a:PU>,? (?:who )?(?:has )?(?P<v>died|dies|vanished|disappeared|perished|lost (?:an?|his"
        r"|her|@P\d+@'s) (?:arm|leg|hand|eye|mind))(?=[,.;]|$| (?:of|in|without|three|two|last"
        r"|years|from|at|a|during)\b)",
        past=True,
    ),
    rule(
        "home",
        r"<a:PU>,? (?:who )?(?:now |still )?(?:lives|dwells|resides|makes (?:his|her|@P\d+@'s) "
        r"home|lived all (?:his|her|@P\d+@'s) life|grew up|was born|was raised|has lived|has "
        r"settled|settled|no longer lives|has moved) (?:alone |quietly |now |back |with (?:his|her"
        r"|@P\d+@'s|the|an?) \w+ )?"
        r"(?:in|at|near"
        r"|on|to) (?:the (?:outskirts|edge|docks|slums|streets) of )?<loc>",
        past=True,
    ),
    rule(
        "home",
        r"<a:PU>,? (?:who )?(?:comes?|hails?|is (?:originally )?|came (?:originally )?) ?from "
        r"<loc>",
        past=True,
    ),
    rule(
        "home",
        r"(?:originally from|born and raised in|a native of) <loc>, <a:PU> (?:came|moved|left|has"
        r"|is|now|was)\b",
        narrated=True,
        past=True,
    ),
    rule("home", r"<a:PU>['\u2019]s (?:home|hometown|home village|home town|homeland) is <loc>"),
    rule("place", r"<a:P> (?:sits|stands) (?:in|at|inside) (?:the )?<b:L>(?!['\u2019])"),
    rule("home", r"<a:PU>,? (?:is )?a native of <loc>"),
    rule("home", r"<a:PU> (?:lives?|live|comes?|dwells?) (?:in|from) <loc>"),
    rule("home", r"<a:P> of <b:L>(?=[,.; ]|$)", narrated=True),
    rule(
        "place",
        r"<a:PU> (?:has gone to|has arrived (?:in|at)|arrives (?:in|at)|has travell?ed to|has "
        r"fled to|has returned to|returns to|has come to) <loc>",
        past=True,
    ),
    rule(
        "place",
        rf"<a:PU>,? (?:who )?(?:now |still |currently |usually )?{_STAYS} (?:for (?:you|the party"
        rf"|them|@P\d+@) |most nights |most days |\w+ly )?{_PLACED} (?:"
        rf"(?:the|an?) (?:\w+ ){{1,2}}(?:of|below|beneath|under|outside|in|near) )?<loc>",
    ),
    rule(
        "place",
        r"<a:PU> (?:is|are) (?:now |currently |still )?(?:in|at|inside|within|beneath) (?:the "
        r")?<b:L>(?!['\u2019])",
    ),
    rule(
        "place",
        r"(?:you|the party|they) (?:will |can )?(?:usually |always |often )?(?:find|meet|spot"
        r"|come upon|encounter) <a:PU>,? (?:\w+ing )?(?:in|at|inside) (?:the )?<b:L>(?!['\u2019])",
        narrated=True,
    ),
    rule(
        "faction",
        r"<a:PU>,? (?:who )?(?:<is> )?(?:secretly )?(?:an? |one of the )?(?:\w+ )?(?:(?:member"
        r"|agent|spy|soldier|officer|knight|captain|leader|servant|enforcer|operative|follower"
        r"|lieutenant) (?:of|for)|belongs to|has joined|joins|joined|works for|has been working "
        r"for|has been secretly working for|secretly works for|serves|is sworn to"
        r"|leads|fights for|spies for|is part of|rides with|runs with) (?:the )?<b:F>",
        past=True,
    ),
    rule(
        "faction",
        r"<a:PU>,? (?:who )?(?:<is> )?(?:an? )?(?:\w+ )?(?:member of|agent of|has joined|joined"
        r"|spy for|rides with|runs with|works for|fights for|is sworn to|one of) the <b:U>"
        r"(?!['\u2019])",
        past=True,
    ),
    rule(
        "faction",
        r"<a:PU> (?:has sworn allegiance to|swears allegiance to|has pledged (?:himself|herself) "
        r"to|no longer belongs to|has left|has quit|has abandoned|was expelled from) (?:the "
        r")?<b:F>(?!['\u2019])",
        past=True,
    ),
    rule(
        "faction",
        r"<a:PU> (?:has sworn allegiance to|swears allegiance to) the <b:U>(?!['\u2019])",
        past=True,
    ),
    rule("faction", r"<a:P> of the <b:F>(?!['\u2019])", narrated=True),
)
