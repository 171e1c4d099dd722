"""Finds quests that a turn gives: giver, goal, reward, place and deadline."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.grammar import tidy
from dndbots.extraction.english.marked_names import Marked
from dndbots.extraction.english.word_tables import any_phrase, read_phrases

_DEEDS: Final = "|".join(read_phrases("quest_deeds"))
_PARTY = (
    r"(?:you(?: all| both)?|the party|us|them|the group|the adventurers|the heroes|the "
    r"companions|your party|your group|@P\d+@(?:(?:,| and|, and) @P\d+@)*)"
)
_DEED = rf"(?P<deed>{_DEEDS}) (?:me |us )?(?P<rest>[^;:!?]{{3,200}}?)(?=[.;:!?]|$)"
_GIVEN: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"@[PF](?P<giver>\d+)@,? (?:\w+ly )?(?:asks|begs|hires|tasks|charges|implores|commissions"
            r"|sends|has asked|has hired|has tasked|wants|needs|orders|pleads with|urges"
            rf"|beseeches) {_PARTY} to {_DEED}"
        ),
        (
            r"@U(?P<giver>\d+)@,? (?:\w+ly )?(?:asks|begs|hires|tasks|charges|implores|commissions"
            rf"|has asked|has hired|has tasked|beseeches) {_PARTY} to {_DEED}"
        ),
        rf"@[PFU](?P<giver>\d+)@ offers (?:you|the party|them|us) (?P<reward>[^,;@]{{3,40}}?) to {_DEED}",
        rf"@[PFU](?P<giver>\d+)@ needs (?:someone|somebody|help|heroes|adventurers) to {_DEED}",
        (
            r"(?:your|the party's|the) (?:task|mission|quest|job|charge) is (?:clear: |simple: |this: "
            rf")?(?:to )?{_DEED}"
        ),
        rf"(?:a|your|the) (?:new )?(?:quest|task|mission): (?:to )?{_DEED}",
        rf"(?:your|the party's) (?:task|mission|quest|job) from @[PU](?P<giver>\d+)@ is (?:to )?{_DEED}",
        rf"@[PU](?P<giver>\d+)@['\u2019]s (?:quest|task|mission|request|job|errand)(?: is|:)? to {_DEED}",
        (
            r"(?:you|the party|@P\d+@) (?:accepts?|takes? on|agrees? to|takes?) (?:the|a) (?:quest"
            rf"|task|mission|job) to {_DEED}"
        ),
        (
            r"(?:you|the party) (?:are|is|have been|has been) (?:hired|tasked|asked|charged|sent) by "
            rf"@[PFU](?P<giver>\d+)@ to {_DEED}"
        ),
        (
            r"@[PU](?P<giver>\d+)@ (?:gives|gave|entrusts) (?:you|the party|them) (?:a|the|with the) "
            rf"(?:quest|task|mission|job)(?: of|:| to)? {_DEED}"
        ),
        (
            r"@[PFU](?P<giver>\d+)@,? (?:\w+ly )?(?:sends|is sending|has sent|dispatches|wants) (?:you"
            r"|the party|them|us)"
            rf"(?: off| out| back)? to (?:go to )?(?:the )?@[LU](?P<place>\d+)@,? (?:to|and) {_DEED}"
        ),
        (
            r"(?:for (?P<reward>[^,;@]{3,40}?),? (?:then, )?)?(?:then )?you(?: are|['\u2019]re) "
            r"(?:now )?(?:to|supposed to|bound to) "
            rf"(?:go to (?:the )?@[LU](?P<place>\d+)@ and )?{_DEED}"
        ),
        (
            r"(?:you|the party)(?: have|['\u2019]ve| has)?(?: all| now)? (?:agreed|promised|sworn"
            r"|undertaken|been engaged"
            rf"|taken it upon yourselves) to {_DEED}"
        ),
        (
            rf"(?:^|[;:,] |\u201d )(?P<deed>{_DEEDS}) (?P<rest>[^;:!?,]{{3,80}}?), (?:that['\u2019]s"
            r"|that is) (?:the|your) (?:job"
            r"|task|quest|mission|errand|commission)(?:,? and (?:it|the job|that) pays "
            r"(?P<reward>[^,.;:!?]{3,50}))?"
        ),
        (
            r"(?:the|your) (?:job|task|quest|errand|commission) (?:@[PFU](?P<giver>\d+)@ (?:has"
            r"|offers) )?(?:for you )?is (?:this|simple)"
            rf"[:;,] (?:to )?{_DEED}"
        ),
    )
)
_AND_REWARD: Final = (
    r"(?:and|then) (?:(?:i['\u2019]ll|i will|@P\d+@ will|we['\u2019]ll|we will) (?:pay|give"
    r"|see|reward|get) (?:you )?(?:with |gets? )?"
    r"(?P<reward>[^,.;:!?]{3,60}?)|there(?:['\u2019]s| is|['\u2019]ll be| will be| are) "
    r"(?P<reward2>[^,.;:!?]{3,60}?)(?: in it)?"
    r" for you|(?P<reward3>[^,.;:!?]{3,60}?) (?:is|are) yours|you['\u2019]ll (?:have|get"
    r"|earn) (?P<reward4>[^,.;:!?]{3,60}?))"
    r"(?=[,.;:!?]|$)"
)
_WHOEVER: Final = r"(?:whoever|anyone|anybody|the one|those|the person|any who|anyone brave enough)"
_LEDGER: Final = r"(?:quest|job|task|mission|errand|commission)"
# In these, "will" and "must" are no doubt.
_FIRM: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"@[PFU](?P<giver>\d+)@ (?:will pay|pays|will give|offers|is offering|promises|has "
            r"promised|has put up) "
            rf"(?P<reward>[^,;:!?@]{{3,60}}?) (?:to|for) {_WHOEVER} (?:who )?(?:will |can |to )?"
            rf"(?P<deed>{_DEEDS})s? "
            r"(?P<rest>[^;:!?]{3,100}?)(?=[.;:!?]|$)"
        ),
        (
            r"@[PFU](?P<giver>\d+)@ (?:is looking for|seeks|needs|wants|is hiring) (?:someone|somebody"
            r"|people|adventurers|heroes|help"
            rf"|hired swords|a party)(?: \w+ enough)? (?:to|who (?:will|can)) {_DEED}"
        ),
        (
            rf"@[PFU](?P<giver>\d+)@ has (?:an? |some )?(?:new )?(?:{_LEDGER}|work|favou?r to ask)(?: "
            r"for (?:you|the party))?[:;,] (?:to )?"
            rf"{_DEED}"
        ),
        (
            rf"(?:^|[;:.] )(?:an? |your |the )?(?:new |next )?{_LEDGER}(?: (?:from|for) @[PFU]"
            rf"(?P<giver>\d+)@)?[:;] (?:to )?{_DEED}"
        ),
        (
            r"(?:you|the party) (?:take|takes|accept|accepts|have taken) (?:the|this"
            rf"|that) {_LEDGER}[:;,] (?:to )?{_DEED}"
        ),
        (
            r"you(?: have|['\u2019]ve)? (?:promise|promised|swear to|sworn to|given your word to|owe "
            r"it to) @[PFU](?P<giver>\d+)@ (?:to|that "
            rf"you will|that you['\u2019]ll|you['\u2019]ll|you will) {_DEED}"
        ),
        (
            r"you have (?P<deadline>(?:until|till) [^,;:!?@]{3,30}?|(?:only |just )?[\w-]+ (?:days?"
            r"|weeks?|months?|hours?|nights?)) to "
            rf"{_DEED}"
        ),
        rf"@[PFU](?P<giver>\d+)@ (?:begs|asks|urges|implores|orders|tells) you[:;,] (?:to )?{_DEED}",
        (
            r"(?:in return|in exchange) for (?P<reward>[^,;:!?@]{3,50}?), you (?:agree|have agreed|are"
            r"|undertake|promise|will have) to "
            rf"{_DEED}"
        ),
        rf"you (?:all )?agree to {_DEED}",
        (
            r"(?:on|at|by) (?:(?:the )?(?:order|request|behalf|command)s? of @[PFU](?P<giver>\d+)@"
            r"|@[PFU](?P<giver2>\d+)@['\u2019]s? (?:behalf"
            rf"|orders?|request|command)),? you (?:set out|are|have agreed|ride out|have set out) to {_DEED}"
        ),
    )
)
_STRONG: Final = any_phrase("strong_deeds")
_DUE: Final = r"(?:before|by|within) (?:the |an? )?[\w'\u2019 -]{3,30}?"
# These count only in direct speech to the party.
_ASKED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"(?:^|[;:] )(?:please,? |so,? |now,? )?(?P<deed>{_DEEDS}) (?:me |us )?"
            rf"(?P<rest>[^;:!?,]{{3,100}}?),? {_AND_REWARD}"
        ),
        (
            r"(?:^|[;:] )(?:please,? |so,? |now,? )?(?:go|ride|travel|sail|head|get yourselves|make "
            r"your way) (?:up |down |out |over )?to "
            rf"(?:the )?@[LU](?P<place>\d+)@ and {_DEED}"
        ),
        (
            r"(?:@P\d+@ (?:is offering|is paying|offers?|pays?|will pay|will give)|i['\u2019]ll (?:pay"
            r"|give|offer)|we['\u2019]re offering"
            r"|there is|there['\u2019]s) (?P<reward>[^,;:!?]{3,60}?) (?:to|for) (?:whoever|anyone who"
            r"|anybody who|the one who|those who"
            r"|the person who) (?:will |can |is willing to |helps to |manages to )?"
            rf"(?P<deed>{_DEEDS})s? (?P<rest>[^;:!?]{{3,100}}?)(?=[.;:!?]|$)"
        ),
        (
            r"(?P<reward>(?<![\w-])(?:[\w-]++ ){1,4}(?:gold|silver|platinum|coins|crowns|pieces)(?: \w+)?) "
            r"(?:if you(?: can| will)?|(?:to|for) "
            rf"{_WHOEVER}(?: who)?(?: will| can)?) (?P<deed>{_DEEDS})s? (?P<rest>[^;:!?]{{3,100}}?)"
            r"(?=[.;:!?]|$)"
        ),
        (
            r"(?:^|[;:,] )you (?:must|have to|need to|will have to|are to|should) (?:go to (?:the "
            rf")?@[LU](?P<place>\d+)@ and )?{_DEED}"
        ),
        (
            rf"(?:^|[;:] )(?:please,? |so,? |now,? |but )?(?P<deed>{_DEEDS}) (?P<rest>(?:the|@P\d+@'s) "
            rf"[^;:!?,]{{3,60}}?,? {_DUE})(?=[.;!]|$)"
        ),
        (
            rf"(?:^|[;:] )(?:please,? |so,? |now,? )?(?P<deed>{_STRONG}) (?P<rest>(?:the|@P\d+@'s) "
            rf"[^;:!?,]{{3,60}}?)(?=[.;!]|,?$)"
        ),
        rf"what (?:we|@P\d+@) needs? is (?:someone|somebody|people|a party) (?:to|who (?:can|will)) {_DEED}",
        (
            r"there(?:['\u2019]s| is|['\u2019]ll be| will be| are) (?P<reward>[^,;:!?]{3,60}?)(?: in "
            r"it)? for you if you(?: can| will)? "
            rf"{_DEED}"
        ),
        (
            r"(?:i['\u2019]ll|i will|@P\d+@ will|we['\u2019]ll) (?:pay|give) you "
            r"(?P<reward>[^,;:!?]{3,60}?) (?:if you(?: can| will)?|to) "
            rf"{_DEED}"
        ),
        (
            r"(?:@P\d+@ (?:need|needs|want|wants|ask|asks|beg|begs)|we (?:need|ask|beg)|i['\u2019]d "
            r"(?:ask|like)|i would (?:ask|have)) you to "
            rf"(?:go to (?:the )?@[LU](?P<place>\d+)@ and )?{_DEED}"
        ),
        (
            r"(?:@P\d+@ (?:need|needs|is looking for)|we need) (?:someone|somebody|people|brave souls"
            r"|adventurers|hired swords) (?:to|who "
            rf"(?:can|will)) {_DEED}"
        ),
    )
)
_OBJECT: Final = re.compile(
    r"^(?:(?:the|an?|his|her|their|all|@P\d+@'s) )?(?:[\w'\u2019@-]+ ){0,4}?[\w'\u2019@-]+(?: "
    r"of (?:the )?(?:[\w'\u2019@-]+))?"
    r"(?=$| (?:in|at|from|to|and|before|by|within|for|near|who|that|which|under|beneath|inside"
    r"|with|out|back|alive|into|on|through|safely|lost|hidden|against|so|until|while)\b|,)",
    re.IGNORECASE,
)
_MONEY = (
    r"(?:[\w-]+ ){0,4}(?:gold|silver|platinum|copper|coins|crowns|gp|pieces)(?: (?:pieces"
    r"|coins|crowns|each))*"
)
_REWARDS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf" for (?:a reward of |the sum of )?(?P<v>{_MONEY})",
        r"(?:in exchange for|in return for) (?P<v>[^,.;:!?]{3,60})",
        r"\b(?:reward|pay|payment|fee)(?: for [^,.;:!?]{3,40})? (?:is|of|will be) (?P<v>[^,.;:!?]{3,60})",
        (
            r"\b(?:offers|offering|promises|promising|pays|paying|will pay)(?: (?:you|them|to pay(?: "
            rf"you)?))? (?P<v>{_MONEY})"
        ),
    )
)
_DEADLINES: Final = re.compile(
    r"\b(?P<v>(?:before (?:(?:the|\w+['\u2019]s|@P\d+@['\u2019]s) (?:[\w'\u2019]+ ){0,2}?\w+"
    r"|dawn|spring|summer|autumn|midwinter|midsummer|harvest|nightfall|sunset"
    r"|sunrise|midnight|winter|\w+day)|by (?:dawn|nightfall|sunset|sunrise|midnight|tomorrow"
    r"|winter|spring|summer|autumn|midwinter|midsummer|harvest|noon"
    r"|the (?:next |new |full )?(?:moon|week|month|solstice|equinox|festival)[\w ]{0,12}?"
    r"|\w+day)|within (?:[\w-]+ )?(?:days?|weeks?|months?|hours?|fortnight|tenday)))"
    r"(?=[,.;:!?]|$| and | or | for )",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r" (?:in|at|from|to|into|beneath|under|near|inside) (?:the )?@L(?P<b>\d+)@| at @U"
    r"(?P<c>\d+)@(?=[,.;!]|$)"
)
_WEAK: Final = frozenset(read_phrases("errand_verbs"))
_LOOSE: Final = re.compile(
    r"^(?:him|her|it|them|you|us|this|that|these|those|out|up|any|some|more|one|something"
    r"|someone|what|where|how|who|your|a way|a place|a seat|me|my|for|@P\d+@'s (?:some|an?|the|more))\b",
    re.IGNORECASE,
)
# A deed on the spot is no quest: "open the door".
_AT_HAND: Final = re.compile(
    r"\b(?:doors?|windows?|lamps?|lights?|candles?|bags?|noise|shouting|curtains?|shutters?"
    r"|buckets?|tables?|pots?|chairs?"
    r"|drinks?|ale|beer|wine|cups?|plates?|seats?|horses|coats?|fire|boxe?s?|upstairs"
    r"|downstairs|floor|room|conversation|topic"
    r"|lid|hatch|drawer|eyes?|mouth|hands?)$",
    re.IGNORECASE,
)
_REWARD_KEYS: Final = ("reward", "reward2", "reward3", "reward4")
_SMALL: Final = frozenset(["of", "the", "a", "an", "and", "in", "to", "from"])


class QuestFound(NamedTuple):
    """A quest in the words of its sentence; numbers refer to the sentence's names."""

    name: str
    start: int
    end: int
    goal: str
    giver: int | None
    place: int | None
    reward: str
    deadline: str
    asked: bool  # the speaker gives the quest
    firm: bool  # "will" and "must" are no doubt


def find_quests(marked: Marked, *, spoken: bool) -> Iterator[QuestFound]:
    """Yield the quest of a sentence, by the first pattern that fits. `spoken` means direct speech."""
    ways = (*_GIVEN, *_FIRM)
    for given in (*ways, *_ASKED) if spoken else ways:
        found = given.search(marked.text)
        if found:
            quest = _quest(marked, found, asked=given in _ASKED, firm=given not in _GIVEN)
            if quest:
                yield quest
            return


def _quest(marked: Marked, found: re.Match[str], *, asked: bool, firm: bool) -> QuestFound | None:
    deed, rest = found["deed"], found["rest"]
    parts = found.groupdict()
    what = _OBJECT.match(rest)
    if (
        not what
        or _LOOSE.match(rest)
        or _AT_HAND.search(what.group())
        or (deed.lower() in _WEAK and not _definite(what.group()))
    ):
        return None
    words = marked.plain(f"{deed} {what.group()}").split()
    name = " ".join(
        w.lower() if at and w.lower() in _SMALL else w[:1].upper() + w[1:] for at, w in enumerate(words)
    )
    place = parts.get("place") or ((inside := _PLACE.search(rest)) and (inside["b"] or inside["c"]))
    deadline = _DEADLINES.search(rest)
    reward = next((parts[key] for key in _REWARD_KEYS if parts.get(key)), "") or next(
        (m["v"] for one in _REWARDS if (m := one.search(marked.text))), ""
    )
    end = min(
        (m.start() for one in (*_REWARDS[:2], _DEADLINES) if (m := one.search(rest))), default=len(rest)
    )
    goal = tidy(f"{deed} {rest[:end]}")
    giver = parts.get("giver") or parts.get("giver2")
    until = parts.get("deadline") or (deadline["v"] if deadline else "")
    return QuestFound(
        name=name,
        start=found.start(),
        end=found.end(),
        goal=marked.plain(goal),
        giver=int(giver) if giver else None,
        place=int(place) if place else None,
        reward=marked.plain(tidy(reward)),
        deadline=marked.plain(tidy(until)),
        asked=asked,
        firm=firm,
    )


def _definite(what: str) -> bool:
    return bool(re.match(r"(?:the|his|her|their|@)", what, re.IGNORECASE))
