"""Rules for the status, the whereabouts and the homes of people."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import any_phrase

_STATE = (
    r"(?P<v>dead|deceased|missing|captive|a prisoner|a captive|a hostage|imprisoned|cursed|wounded"
    r"|injured|crippled"
    r"|possessed|petrified|poisoned|blind|blinded|mortally wounded|gravely wounded|badly wounded"
    r"|gravely injured"
    r"|badly injured|badly hurt|under arrest|in prison|in chains|in irons|on the run|in hiding"
    r"|gravely ill|very ill"
    r"|seriously ill|mortally ill|sick with (?:the )?\w+|dying|bedridden|enslaved|exiled|banished"
    r"|turned to stone"
    r"|in exile|undead|pregnant|with child|asleep under a spell|under a spell|under a curse|bewitched"
    r"|enchanted"
    r"|in a coma|comatose|condemned(?: to death)?|sentenced to death|outlawed"
    r"|wanted for murder|in custody"
    r"|in the stocks|in a cell|locked up|under guard|under house arrest|murdered|slain|killed"
    r"|executed|buried"
    r"|drowned|kidnapped|captured|arrested|abducted|stricken with (?:the )?\w+|disgraced|bankrupt"
    r"|ruined|lamed|maimed"
    r"|widowed|lost at sea|stranded|marooned|raving mad|out of (?:his|her) mind|mute|deaf"
    r"|paraly[sz]ed|feverish"
    r"|alive and well|back from the dead|risen from the dead)"
)
_STATE_END = (
    r"(?=[,.;:!]|$| (?:in|at|by|from|since|for|after|somewhere|and|near|with|beneath|under|inside|on"
    r"|within|now"
    r"|again|these|this|as)\b)"
)
_NOW = r"(?:now |still |already |quite |currently |once again |again )?"
_LIES: Final = any_phrase("lying_verbs")
_WENT = (
    r"(?:(?:has|is) (?:just |already |since )?(?:left|gone|moved|travell?ed|sailed|ridden|fled|set (?:out"
    r"|off|sail)|returned|headed"
    r"|departed|relocated|retired|escaped|retreated|withdrawn|come|crossed|made (?:it|for|(?:his|her"
    r"|@P\d+@'s) way)|arrived|taken ship"
    r"|slipped (?:away|off)|run off"
    r"|been (?:taken|moved|sent|brought|transferred|carried|dragged|shipped|marched|smuggled|posted"
    r"|summoned))"
    r"|(?:is|was) (?:taken|moved|sent|brought|transferred|carried|dragged|shipped|marched|smuggled"
    r"|posted|summoned)"
    r"|moved|sailed|fled|went|rode|arrived|took ship|made (?:his|her|@P\d+@'s) way|(?:rides|sails"
    r"|leaves|sets (?:out|off|sail)|departs)|set (?:out|off|sail))"
)
_ONWARD = (
    r"(?: (?:back|on|off|away|over|up|down|home|out|north|south|east|west|on foot|by \w+|at dawn"
    r"|at night|overnight))*"
)
_TAKEN: Final = any_phrase("carrying_verbs")
_STAYS = (
    r"(?:is (?:\w+ing|holed up|shut up|laid up|lodged|quartered|billeted|based|posted|kept|held"
    r"|hidden|now|back|still|off)"
    r"|can (?:usually |still |now |always )?be (?:found|seen|reached|met)|is to be found"
    r"|was (?:last )?seen|has (?:taken|found)"
    r" (?:refuge|shelter|lodgings?|rooms?|a room|work|a place|service)|has (?:holed up|turned up"
    r"|surfaced|settled in"
    r"|set up(?: shop)?|taken up residence|shown up|washed up|gone to ground|been (?:seen|spotted"
    r"|staying|hiding|living"
    r"|lying low|waiting|holed up))|is spending \w+(?: \w+)?|lies low|waits|hides|stays|sits|lodges"
    r"|keeps|drinks|shelters"
    r"|holds court|has ended up|ended up|turned up|is at work|passes (?:his|her) (?:days|nights"
    r"|evenings)|spends (?:his|her"
    r"|the|most) \w+)"
)
_AT = (
    r"(?:in|at|inside|within|beneath|under|below|on|aboard|near|outside|up at|down at|over at|over in"
    r"|up in|down in|out at|out in|back in|back at)"
)
_LIVES: Final = any_phrase("living_verbs")
_DWELLING = (
    r"(?:a house|a room|rooms|a cottage|house|a place|a home|a hut|lodgings|a family|a bed|an attic"
    r"|quarters|\w+ rooms?)"
)

WHEREABOUTS_RULES: Final[tuple[Rule, ...]] = (
    rule(
        "status",
        rf"<a:PU>,? (?:who )?(?:is|['\u2019]s|remains|stays|lies|turns out to be) {_NOW}{_STATE}{_STATE_END}",
    ),
    rule("status", rf"<a:PU> {_LIES}(?: [^,.;@]{{0,40}})?, {_NOW}{_STATE}{_STATE_END}", narrated=True),
    rule("status", rf"<a:PU>, (?:now|still|already|currently|once more|by now) {_STATE}(?=[,.;])"),
    rule(
        "status",
        rf"(?:leaves|left|leaving|put|puts|placed|find|finds|found|finding|had|has|keeps|declared"
        rf"|pronounced|rendered"
        rf"|made) <a:PU>"
        rf" {_NOW}{_STATE}{_STATE_END}",
        narrated=True,
        past=True,
    ),
    rule(
        "status",
        rf"(?:^|(?<=[.;:] ))<a:P>, you(?:['\u2019]re| are) {_NOW}{_STATE}{_STATE_END}",
        narrated=True,
    ),
    rule(
        "status",
        r"(?:so|and so|thus|here|there) (?P<v>dies|died|fell|falls) <a:PU>(?=[,.;!]|$)",
        narrated=True,
        past=True,
    ),
    rule(
        "status",
        r"(?:they|we|you|\w+) (?:have |has )?(?P<v>buried|hanged|executed|arrested|banished|exiled"
        r"|imprisoned|beheaded"
        r"|kidnapped|abducted|outlawed) <a:PU>(?=[,.;!]|$| (?:this|last|yesterday|at|in|on|for"
        r"|without|under|beside|and)\b)",
        narrated=True,
        past=True,
    ),
    rule(
        "status",
        r"<a:PU> (?:is|was) (?P<v>no more|laid to rest|lost at sea|at large|at death's door"
        r"|on trial)(?=[,.;]|$| )",
    ),
    rule(
        "status",
        r"<a:PU> has (?P<v>passed away|drowned|gone mad|gone blind|gone into hiding|gone missing"
        r"|been (?:hanged|beheaded"
        r"|condemned|outlawed|bewitched|struck blind|struck dumb|driven mad|lamed|maimed))(?=[,.;]|$| )",
        past=True,
    ),
    rule(
        "place", rf"<a:PU>,? (?:who )?{_WENT}{_ONWARD} (?:to|for|into|in|at) <loc>", past=True, narrated=True
    ),
    rule(
        "place",
        r"<a:PU>,? (?:who )?(?:has )?(?:gone|went|off|left|moved)(?: back)? (?:to|for) <loc>",
        past=True,
        narrated=True,
    ),
    rule("place", rf"{_TAKEN} <a:PU>{_ONWARD} (?:to|into) <loc>", past=True, narrated=True),
    rule(
        "place",
        rf"(?:you|the party|they|we)(?:['\u2019]ll| will| can| may)? (?:\w+ly |always |often "
        rf"|still )?(?:find|meet|spot|come upon"
        rf"|encounter|run into|catch up with|reach|track|catch|locate"
        rf"|discover) <a:PU>(?: down)?,? (?:\w+ing )?{_AT} <loc>",
        narrated=True,
        firm=True,
    ),
    rule(
        "place",
        rf"<a:PU>,? (?:who )?(?:now |still |currently |usually )?{_STAYS}(?: (?!not"
        rf"|never)[a-z]+){{0,3}}? {_AT} <loc>",
        firm=True,
    ),
    rule(
        "place",
        rf"<a:PU> (?:is|are)(?: (?:now|currently|still|back|up|down|over|safe|alone|out|off|here"
        rf"|already|somewhere))* "
        rf"{_AT} <loc>",
    ),
    rule("place", rf"(?:look|ask|search) for <a:PU> {_AT} <loc>", narrated=True),
    rule(
        "place",
        r"<loc>,? (?:is|that is|that's|is the place|and that is) where (?:you(?:['\u2019]ll| will"
        r"| can)? find )?<a:PU>"
        r"(?= (?:is|waits|hides|stays|works|went|has|can)\b|[,.;]|$)",
        narrated=True,
        firm=True,
    ),
    rule(
        "place",
        rf"(?:it is|it's|it was) {_AT} <loc> (?:that|where) (?:you (?:find|meet) )?<a:PU>",
        narrated=True,
    ),
    rule(
        "place",
        rf"(?:^|(?<=[.;:] ))(?:{_AT}) <loc>,? (?:sits|waits|stands|hides|you find|you meet|you come upon"
        rf"|lies) <a:PU>"
        r"(?=[,.;]|$)",
        narrated=True,
    ),
    rule(
        "home",
        rf"(?:it is|it's) (?:in |at )?<loc> (?:where|that) <a:PU> (?:still |now )?{_LIVES}",
        narrated=True,
    ),
    rule("home", rf"<loc>,? (?:is|that is|that's|which is) where <a:PU> (?:still |now )?{_LIVES}"),
    rule("home", r"home,? (?:for|to) <a:PU>,? (?:is|means|has always been|was always) <loc>"),
    rule("home", r"<loc> (?:is|has always been|was always) (?:home (?:to|for) <a:PU>)(?=[,.;]|$| and)"),
    rule("home", r"<loc> (?:is|has always been) <a:PU>['\u2019]s (?:\w+ )?home(?:town|land)?\b(?! of)"),
    rule(
        "home",
        r"<a:PU> (?:calls|has (?:always )?called|has made|made|makes) <loc> (?:his |her |@P\d+@'s )?home\b",
    ),
    rule(
        "home",
        rf"<a:PU> (?:keeps|has|owns|rents|shares) {_DWELLING} (?:in|at|near|outside) <loc>",
        narrated=True,
    ),
    rule(
        "home",
        rf"<a:PU>,? (?:who )?(?:now |still )?{_LIVES}(?: (?!not|never)[a-z]+){{0,4}}? (?:in|at|near"
        rf"|outside|from|beneath) <loc>",
    ),
    rule(
        "home",
        r"<a:PU>, (?:who (?:is|was) )?(?:(?:born|raised|born and (?:bred|raised)|native|bred) (?:in|to|of)"
        r"|(?:originally |lately |late )?(?:from|of)) <loc>(?=,)",
        narrated=True,
    ),
    rule("home", r"(?:^|(?<=[.;:] ))<a:P> lives in <loc>, where you live"),
    rule(
        "status",
        r"<a:PU> (?:has )?(?:fallen|falls|fell|woke up|wakes up|wakes|woke|ended up|ends up|came back"
        r"|comes back"
        rf"|returned|returns) {_NOW}{_STATE}{_STATE_END}",
        narrated=True,
        past=True,
    ),
    rule("status", rf"<a:PU>, {_STATE} (?:these|since|for|by)\b[^,.;@]{{2,30}},", narrated=True),
    rule("home", r"<a:PU>['\u2019]s (?:home|house|cottage) (?:is|stands|lies) (?:in|at|near) <loc>"),
    rule("home", rf"<a:PU>,? (?:who )?{_LIVES} (?:at|on|in|by|near) the (?:[a-z]+ ){{1,2}}of <loc>"),
    rule("home", r"<a:PU> is an? @[LU](?P<b>\d+)@ (?:man|woman|girl|boy|lad|lass|native)\b"),
    rule("home", r"where <a:PU> lives[:,] (?:in |at |it is )?<loc>", narrated=True),
)
