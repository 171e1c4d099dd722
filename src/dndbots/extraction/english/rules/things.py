"""Rules for named places, factions and things: description, status, holder, maker and more."""

from typing import Final

from dndbots.extraction.english.grammar import Rule, rule
from dndbots.extraction.english.word_tables import (
    FACTION_WORDS,
    ITEM_WORDS,
    LEADERS,
    PLACE_WORDS,
    any_phrase,
    either,
)

_TAIL = (
    r"(?: (?:of|in|on|at|with|built|near|where|that|by|between|beneath|surrounded|along|under"
    r"|from|carved|full|for|made|who|dedicated|devoted|which|whose|set|perched|clinging|above"
    r"|below|beyond|overlooking|atop|against|high|deep|amid) [^,.;:!?]{2,70}?)?)(?=[,.;:!?]|$)"
)
_PLACE_NP = rf"(?P<v><mods>{either(PLACE_WORDS)}{_TAIL}"
_ITEM_NP = rf"(?P<v><mods>{either(ITEM_WORDS)}{_TAIL}"
_FACTION_NP = (
    rf"(?P<v><mods>(?:{either(FACTION_WORDS)}|group|organization|organisation|rebels"
    rf"|mercenaries|bandits|thieves|smugglers){_TAIL}"
)
_RUINED = (
    r"(?P<v>abandoned|deserted|in ruins|ruins|burned to the ground|burnt to the ground|burned "
    r"down|burned|burnt|destroyed|haunted|overrun(?: (?:by|with) [^,.;:!?]{3,30})?"
    r"|under siege|besieged|under attack|flooded|razed|sacked|quarantined|cursed|occupied by "
    r"[^,.;:!?]{3,30}|rebuilt|in flames|fallen to [^,.;:!?]{3,30}|lost|sealed|forbidden)"
)
_HOLDS: Final = any_phrase("holding_verbs")
_MADE: Final = any_phrase("made")
_WHERE = r"(?:in|beneath|under|at|within|inside|below|on|deep in|deep within|deep beneath|somewhere in)"

THING_RULES: Final[tuple[Rule, ...]] = (
    rule("description", rf"<a:LU>(?:,|,? (?:which )?<is>) (?:an?|the) {_PLACE_NP}", kind="environment"),
    rule(
        "description",
        rf"(?:the|an?|this) (?P<v><mods>{either(PLACE_WORDS)}),? (?:you see |before you )?(?:is "
        r"|that is |which is )?(?:named|called|known as) (?:the )?<a:LU>",
        kind="environment",
    ),
    rule(
        "description",
        r"(?:the|an?) (?P<v>(?!capital|nearby|other|same|whole|entire|great city)(?:[a-z][\w-]+ "
        r"){1,2}(?:village|town|city|fortress|hamlet|kingdom|island|port|ruins|realm)) of "
        r"(?:the )?<a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "part_of",
        r"(?:village|town|city|fortress|hamlet|port|temple) of <a:LU>,? (?:deep |high )?(?:in"
        r"|within) the <b:L>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "description",
        rf"(?:the|an?) (?P<v><mods>(?:{either(ITEM_WORDS)}|artifact|artefact|weapon)),? (?:named"
        r"|called|known as) (?:the )?<a:IU>",
        kind="item",
    ),
    rule(
        "description",
        rf"(?:the|an?) (?P<v><mods>(?:{either(FACTION_WORDS)}|group|organization|organisation|gang)"
        r"(?: of [a-z]+(?: [a-z]+)?)?),? (?:named|called|known as|calling themselves) (?:the "
        r")?<a:FU>",
        kind="faction",
    ),
    rule("description", rf"<a:IU>,? (?:which )?(?:<is> )an? {_ITEM_NP}", kind="item"),
    rule("description", rf"<a:I>, an? {_ITEM_NP}", kind="item"),
    rule(
        "description",
        rf"(?:the )?<a:FU>,? (?:which )?(?:is an?|is the|are an?|are the|are) {_FACTION_NP}",
        kind="faction",
    ),
    rule("description", rf"the <a:FU>, (?:an? ){_FACTION_NP}", kind="faction"),
    rule(
        "status",
        r"<a:L>,? (?:which )?(?:<is>|lies|has been|was|stands|has fallen|remains) (?:now |mostly "
        rf"|completely |long |half |in )?{_RUINED}\b",
        kind="environment",
        past=True,
    ),
    rule(
        "status",
        r"(?:village|town|city|hamlet) of <a:LU> (?:<is>|lies|has been|was|stands|remains) (?:now "
        rf"|mostly |completely |long |in )?{_RUINED}\b",
        kind="environment",
        past=True,
    ),
    rule(
        "status",
        r"<a:U> (?:<is>|lies|has been|was|stands) (?:now |completely )?(?P<v>in ruins|ruins"
        r"|burned to the ground|burnt to the ground|under siege|besieged|razed|in flames)\b",
        kind="environment",
        past=True,
    ),
    rule(
        "status",
        r"<a:U> (?:stands|lies) (?:now |completely )?(?P<v>deserted|abandoned|empty)<sure>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"(?:people|travell?ers|everyone|folk|merchants|bards|sailors) knows? <a:LU> for (?:its "
        r"|the )?<few>",
        kind="environment",
    ),
    rule(
        "known_for",
        r"<a:LU>,? (?:which )?(?:<is> )?(?:best |widely |well |well-|mostly )?(?:known|famous"
        r"|renowned|famed|celebrated|notorious) for (?:its |their |the )?<few>",
        kind="environment",
    ),
    rule(
        "part_of",
        r"<a:LU>,? (?:which )?(?:lies|is located|is situated|is nestled|nestles) (?:deep |high )?"
        r"(?:in|on|within|inside|in the heart of|in the middle of|at the heart of) (?:the )?<b:L>"
        r"(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "part_of",
        r"<a:L>,? (?:which )?(?:lies|is located|is situated|is nestled|is|sits|stands|is built|is "
        r"found) (?:deep |high )?(?:in|within|inside|in the heart of|in the middle of|at the "
        r"heart of) (?:the )?<b:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "part_of",
        r"<a:LU> <is> (?:part of|a part of|the capital(?: city)? of|a (?:\w+ )?(?:village|town"
        r"|city|district|province|region|port|quarter) (?:in|of)) (?:the )?<b:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<b:PU>,? (?:who )?(?:rules|governs|rules over|reigns over|reigns in|is the (?:ruler"
        r"|mayor|king|queen|lord|lady|governor|baron|baroness|duke|duchess) of) (?:over )?(?:the "
        r")?(?:city of |town of |village of |kingdom of |lands of )?@[LU](?P<a>\d+)@(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<b:PU>, (?:the )?(?:current )?(?:ruler|mayor|king|queen|lord|governor|sovereign) of "
        r"(?:the )?(?:city of |town of |village of )?<a:LU>(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "ruler",
        r"<a:LU>,? (?:which )?(?:<is> )(?:ruled|governed|run) by (?:the )?(?:\w+ )?<b:PU>"
        r"(?!['\u2019])",
        kind="environment",
    ),
    rule(
        "leader",
        rf"<b:PU>,? (?:who )?(?:leads|commands|heads|runs|founded|<is> (?:the )?{either(LEADERS)} "
        r"of) (?:the )?<a:F>(?!['\u2019])",
        kind="faction",
    ),
    rule("leader", rf"<b:PU>, (?:the )?{either(LEADERS)} of (?:the )?<a:F>(?!['\u2019])", kind="faction"),
    rule("leader", r"<b:P>(?:,| is) (?:the )?leader of the <a:U>(?!['\u2019])", kind="faction"),
    rule(
        "leader",
        r"(?:the )?<a:FU>,? (?:who )?(?:is|are) (?:led|commanded|headed|run) by (?:(?:the|an?) "
        r"[^,.;@]{2,40} (?:named |called )?)?<b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        r"<b:PU> (?:leads|commands|heads) the <a:U>(?=[,.;!]|$| (?:from|in|with|now)\b)",
        kind="faction",
    ),
    rule(
        "leader",
        r"the <a:FU> (?:takes?|follows?) (?:their|its) orders from <b:PU>(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "leader",
        r"the (?:leader|head|chief|boss|commander|master) of the <a:FU>(?: is|,) <b:PU>"
        r"(?!['\u2019])",
        kind="faction",
    ),
    rule(
        "place",
        r"(?:the )?<a:F>,? (?:is|are) (?:headquartered|based|gathered|camped|quartered) (?:in|at"
        r"|near|outside) <loc>",
        kind="faction",
    ),
    rule(
        "place",
        r"(?:the )?<a:F> (?:has|have|keeps?|makes?) (?:its|their) (?:seat|base|headquarters"
        r"|hideout|lair|camp|stronghold|guildhall|home) (?:in|at|near|outside|beneath) <loc>",
        kind="faction",
    ),
    rule(
        "place",
        r"the <a:U> (?:are|have) (?:headquartered|based|their (?:base|hideout|lair|headquarters)) "
        r"(?:in|at|near|outside|beneath) <loc>",
        kind="faction",
    ),
    rule(
        "enemy",
        r"the <a:FU> (?:is|are) (?:at war with|the (?:sworn )?enem(?:y|ies) of|sworn enemies of"
        r"|enemies of|opposed to) (?:the )?<b:FU>(?!['\u2019])",
        kind="faction",
    ),
    rule("enemy", r"the <a:FU> and (?:the )?<b:F> are (?:\w+ )?enemies", kind="faction"),
    rule("place", r"the <a:F> meets? in <loc>", kind="faction"),
    rule(
        "holder",
        r"(?:the )?<a:I> (?:is|lies)(?: now| safe)? in <b:PU>['\u2019]s? (?:hands?|possession"
        r"|keeping|pack|bag)",
        kind="item",
    ),
    rule("holder", r"(?:the )?<a:I> (?:passes|goes) to <b:PU>(?!['\u2019])", kind="item"),
    rule(
        "power",
        r"<a:I> (?P<v>(?:opens|heals|wards off|protects against|reveals|summons|repels|absorbs"
        r"|grants) [^,;:!?]{3,60}?)(?=[.,;:!?]|$)",
        kind="item",
    ),
    rule(
        "holder",
        rf"<b:PU> (?:now |finally |still |quickly |carefully )?{_HOLDS} (?:the )?<a:I>(?!['\u2019])"
        r"(?! (?:and|then|to) (?:\w+ly )?(?:hands|gives|throws|drops|passes|returns|puts|leaves"
        r"|sells|destroys|breaks|@|the))",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"<b:PU> (?:slips|slides|puts|tucks|stuffs|drops|places) (?:the )?<a:I> (?:on|onto|into"
        r"|in) (?:his|her|their|@P\d+@'s) ",
        kind="item",
        narrated=True,
    ),
    rule("holder", r"<b:PU> (?:now )?(?:wields|draws) the <a:U>(?!['\u2019])", kind="item", narrated=True),
    rule("leader", r"at the head of the <a:FU> (?:stands|is|sits) <b:PU>(?!['\u2019])", kind="faction"),
    rule(
        "holder",
        r"<b:P> (?:now |finally )?(?:wields|is wielding|draws) (?:the )?<a:U>(?!['\u2019])",
        kind="item",
        narrated=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:now )?(?:hands|gives|passes|entrusts|returns|presents|gave|handed) (?:the "
        r"|his |her )?<a:I>(?: over| back)? to <b:PU>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:hands|gives|passes|entrusts) the <a:U>(?: over| back)? to <b:PU>"
        r"(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"@[PU]\d+@ (?:hands|gives|passes|lends|gave|handed) <b:PU> (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "holder",
        r"(?:the )?<a:I> (?:now )?(?:belongs to|is in the (?:hands|possession) of|is (?:now "
        r")?carried by|is held by) <b:PU>(?!['\u2019])",
        kind="item",
    ),
    rule("holder", r"<a:U> belongs to <b:P>(?!['\u2019])", kind="item", narrated=True),
    rule("holder", r"the <a:U> (?:now )?belongs to <b:PU>(?!['\u2019])", kind="item", narrated=True),
    rule(
        "holder",
        r"<b:PU> (?:is|was|has been) given (?:the )?<a:I>(?!['\u2019])",
        kind="item",
        narrated=True,
        past=True,
    ),
    rule(
        "maker",
        rf"<a:IU>,? (?:which )?(?:was|is|were)?(?: |, )?(?:once |first )?{_MADE} (?:long ago "
        rf"|centuries ago )?by (?:the (?:[\w-]+ ){{0,2}})?<b:PU>(?!['\u2019])",
        kind="item",
        past=True,
    ),
    rule("maker", rf"<b:PU> {_MADE} (?:the )?<a:I>(?!['\u2019])", kind="item", past=True),
    rule(
        "power",
        r"<a:I>,? (?:which )?(?:lets|allows|grants|gives) (?:its |the |whoever |any )?(?:wearer"
        r"|bearer|wielder|owner|holder|user|wears it|holds it|bears it)(?: the (?:power|ability"
        r"|strength))?(?: to)? <words>",
        kind="item",
    ),
    rule(
        "power",
        r"<a:I>,? (?:which )?(?:can|has the power to|is able to|holds the power to) <words>",
        kind="item",
    ),
    rule(
        "place",
        r"<a:I>,? (?:which )?(?:lies|rests|is|sits|remains) (?:now |still )?(?:hidden |buried "
        rf"|kept |locked |sealed |guarded |lost |stored |held |concealed )?(?:away )?{_WHERE} <loc>",
        kind="item",
    ),
    rule(
        "status",
        r"<a:I>,? (?:which )?(?:has been|was|<is>|lies) (?:now )?(?P<v>destroyed|broken|cracked"
        r"|shattered|lost|stolen|cursed|missing|melted down|damaged|in pieces|cleansed|restored"
        r"|reforged)\b",
        kind="item",
        past=True,
    ),
)
