"""Questions: the side of somebody's life, or of the neighborhood, that one asks for.

A question is read from its words alone. Which topics, people and places it means depends on the adventure
and is decided in `npc_answers`.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final

from dndbots.text.words import fold_word


class Facet(StrEnum):
    """The side of a life that a question asks for. `life` in a module has the first ten as keys."""

    SELF = "self"
    WORK = "work"
    HOME = "home"
    FAMILY = "family"
    SELLS = "sells"
    PAST = "past"
    MOOD = "mood"
    PARTING = "parting"
    LIKENESS = "likeness"
    BEGINNING = "beginning"
    REWARD = "reward"
    QUEST = "quest"
    WHOM_TO_ASK = "whom to ask"
    RUMOR = "rumor"
    NEWS = "news"
    WHERE = "where"
    WHO = "who"
    MEMORY = "memory"
    GREETING = "greeting"
    THANKS = "thanks"
    PRICE = "price"
    KEEPER = "keeper"
    KIN = "kin"
    HERE = "here"
    RULER = "ruler"
    EXCUSE = "excuse"


# A question with a known topic asks for the topic; these facets are meant even so.
FIRM: Final = frozenset(
    (
        Facet.REWARD,
        Facet.SELF,
        Facet.HOME,
        Facet.PAST,
        Facet.MEMORY,
        Facet.PRICE,
        Facet.KEEPER,
        Facet.KIN,
        Facet.HERE,
        Facet.MOOD,
        Facet.WORK,
        Facet.RULER,
        Facet.EXCUSE,
        Facet.PARTING,
        Facet.LIKENESS,
        Facet.BEGINNING,
    )
)

_KIN: Final = (
    r"famil(?:y|ies)|married|marry|wife|husband|spouse|widow(?:er)?|child(?:ren)?|kids?|sons?|daughters?"
    r"|mothers?|fathers?|brothers?|sisters?|parents?|relatives?|relations|kin|grandchildren|siblings?"
    r"|betrothed|sweetheart|lover|girlfriends?|boyfriends?|fianc[eé]e?|bride|grand(?:mothers?|fathers?|parents?|daughters?|sons?)|uncles?|aunts?|cousins?"
)
_WORDS: Final = {
    "KIN": f"(?:{_KIN})",
    "YOU": "you|it|that|this|the (?:job|work|task|village|town)",
    "MUCH": "what|how much",
}
# Each facet with the patterns that ask for it, the most telling facet first; KIN, YOU and MUCH are words.
# A pattern with a gap looks for its beginning once, from the start of the text, so that it stays linear.
_PATTERNS: Final = r"""
thanks
  ^(?:many )?(?:thanks?|thank you)\b
reward
  ^(?>.*?\b(?:MUCH) (?:do|does|will|would|are|is|can|did) (?:YOU)\b).*\b(?:pays?|paying|reward)\b(?! you)
  ^(?>.*?\b(?:MUCH) (?:do|does|will|would|are|is|can|could|did) (?:YOU)\b).*\b(?:fee|bounty|offer|offering)\b
  ^(?>.*?\b(?:MUCH) (?:do|does|will|would|are|can|shall) (?:we|i)\b).*\b(?:earn|get|paid|talking|make)\b
  \bhow much (?:gold|money|coin|silver) (?:are|do|will|would|for|is|can)\b
  \bhow much (?:do|does|is|are) (?:the|your|our) (?:pay|reward|fee|bounty)\b
  ^(?>.*?\b(?:MUCH) (?:is|are|was|about) ).*\b(?:reward|fee|bounty|pay)\b
  \b(?:the|a|any|our|your) (?:reward|pay|payment|fee|bounty)\b
  \bin it for (?:us|me)\b
  \b(?:money|gold|coin|anything) in it\b
  \bwhat (?:do|will|would|can|shall) (?:we|i) (?:get|gain|earn|receive)\b
  \bwhat (?:will|would|can|do|could) you give\b
  \bwill you pay\b
  \bdoes it pay\b
  \bworth (?:our|my) while\b
  \b(?:pay|paid|money|half|something|anything) (?:\w+ )?(?:up ?front|in advance|beforehand)\b
ruler
  \bwho(?: is|se)? (?:\w+ )?in charge\b
  \bwho (?:runs|rules|leads|governs) (?:\w+ )?(?:place|town|village|here)\b
  \bwho is (?:the|your) (?:boss|leader|chief|ruler|mayor|law|authority|lord|sheriff|head)\b
  \bwho(?: is| do) (?:you |people )?(?:answer|listen) to\b
parting
  \bwhen (?:did|have) (?:you|anyone|anybody) (?:last )?(?:see|seen) (?:her|him|them|your)\b
  \b(?:you|anyone|anybody) (?:last )?(?:saw|seen) (?:her|him|them) last\b
  \b(?:where|when|who) (?:was|were) (?:she|he|they) last seen\b
  \blast (?:time )?(?:that )?you saw (?:her|him|them|your)\b
likeness
  \bwhat (?:does|did|do) (?:she|he|they|your \w+) look like\b
  \bdescribe (?:her|him|them)\b
  \bhow (?:would|will|do|can) (?:we|i) (?:know|recogni[sz]e) (?:her|him|them)\b
beginning
  \b(?:when|how) did (?:it|this|that|all this|all of this|they|the \w+) (?:all )?(?:start|begin|happen)\b
  \bhow long (?:has|have) (?:it|this|they|the) \w+\b
  \bhow did (?:it|this) all (?:start|begin)\b
excuse
  \bwhy (?:don't|didn't|haven't|not|can't|won't) (?:you|they)(?: all| just)? (?:go|do|deal|fight|look)\b
  \bwhy (?:don't|didn't|haven't|not|can't|won't) (?:you|they)(?: all| just)? (?:solve|handle|catch|chase)\b
  \bwhy (?:don't|do not|can't) you (?:\w+ ){0,4}(?:yourself|yourselves)\b
self
  \bwho (?:are|might) you\b
  \byou(?:'re| are)? in charge\b
  \bdo you (?:own|run|rule) (?:it|this|that|all)\b
  \bdo you (?:own|run|rule) the (?:place|inn|house|ferry|boat|town|village|yard|bridge|mill)\b
  \byour name\b
  \bcalled\?
  \bare you called\b
  \babout yourself\b
  \bintroduce yourself\b
  \bwho am i (?:talking|speaking) to\b
here
  \bname of this (?:place|village|town|city|inn|house)\b
  \bwhat (?:is|do you call) this (?:place|village|town)(?: called)?\??$
  \bwhere (?:are we|am i)\b
past
  \bhow old (?:are|were|would) you\b
  \bhow long (?:have|did|were) you\b
  \bhow long (?:you've|you have)\b
  \byour age\b
  \bwere you born\b
  \bsince when (?:are|have) you\b
home
  \bwhere (?:do|are|did|does) you (?:live|sleep|stay|dwell|from|come from)\b
  \byour (?:home|house|place|room)\b
  \bdo you (?:live|sleep)\b
  \blive (?:here|nearby|around)\b
  \bwhere is home\b
  \bare you from\b
memory
  \bremember (?:me|us|what (?:i|we))\b
  \bhave we met\b
  \bdid (?:i|we) (?:tell|say|promise|give)\b
  \bwhat did (?:i|we) (?:tell|say|promise)\b
  \bseen us before\b
whom to ask
  \bwho(?:m)? else\b
  ^(?>.*?\bwho(?:m)? (?:can|could|should|might|would|may|do)\b).*\b(?:ask|talk|speak|know|tell|help|turn)\b
  \bwho (?:could|can|would|might|may|else) (?:give|offer|hire|pay|have|has)\b
  \bwho (?:knows|might know|would know|could know|can help)\b
  \banybody (?:else )?who\b
  \banyone (?:else )?who\b
  \bsomebody who\b
  \bsomeone who\b
  \bwhere (?:can|could|should|do|might|would) (?:we|i) (?:learn|find out|start|begin|look)\b
  \bwho (?:is|are) (?:worth|best)\b
rumor
  \brumou?rs?\b
  \bgossips?\b
  \b(?:hear|heard|see|seen|saw|notice|noticed) (?:anything|something|anyone|anybody|someone|somebody)\b
  \bwho do you (?:think|suspect|blame|reckon)\b
  \b(?:any|your) (?:suspects?|suspicions?|theory|theories|ideas? who)\b
  \bpeople (?:here |around here )?(?:say|talk|saying)\b(?! (?:that )?(?:you|it was you))
keeper
  \bwho (?:runs|keeps|owns|lives|sleeps|works|makes|bakes|brews|heals|treats|digs|leads|rules)\b
  \b(?:some|any)(?:one|body)(?: here| around)? who (?:looks after|cares for|takes care of|treats|heals)\b
  \b(?:some|any)(?:one|body)(?: here| around)? who (?:makes|sells|runs|keeps|bakes|brews)\b
  \bwhose (?:house|home|inn|place|shop|yard|boat|ferry|mill) is\b
kin
  \byour (?:own )?(?:KIN)\b
  \bwho is \w+(?: \w+)? to you\b
  \brelated to\b
family
  ^(?:and )?what (?:is|was) (?:his|her|their) name\b
  \bhow old (?:is|was) (?:he|she|your)\b
  ^(?>.*?\b(?:you|your|yours|yourself)\b).*\b(?:KIN)\b
  ^(?>.*?\b(?:KIN)\b).*\b(?:you|your|yours)\b
  ^(?>.*?\b(?:your|are they|is he|is she|is that|boy|girl|man|woman)\b).*\byours\b
  \brelated to\b
  \blive alone\b
price
  ^(?>.*?\b(?:MUCH) (?:does|do|is|are|would|will) ).*\b(?:cost|charge)\b
  \bhow much (?:is|are|for|does|do) (?:a|an|one|the|your|it|that|this)\b
  \bthe (?:price|fare)\b
  \bhow much (?:to|would it be to|will it be to|for you to)\b
  \bhow much\??$
  \b(?:your|what) (?:fee|price|fare|rate)s?\b
  \bwhat(?:'s| is) for (?:supper|dinner|lunch|breakfast)\b
  ^(?>.*?\b(?:have|got|are there|is there)\b).*\b(?:rooms?|beds?) (?:free|left|for|to let|available)\b
  \b(?:have you|you) got (?:a|any|some) (?:rooms?|beds?|food|beer|ale|wine|soup|bread)\b
sells
  \b(?:sell|sells|selling|buy|buys|purchase|for sale|wares|goods|price|prices|cost|costs|trade for)\b
  \b(?:you|it) charge\b
  \bwhat do you (?:serve|pour|have to offer)\b
  \bhow much (?:is|are|for|does|do)\b
  \bgot to (?:drink|eat)\b
  \bhave to (?:drink|eat)\b
  \bon the menu\b
  \bwhat(?:'s| is) good here\b
  \byou recommend\b
  \b(?:can|could|may) (?:i|we) (?:get|have|order)\b
  \bsomething to (?:eat|drink)\b
  \bto rent\b
  \b(?:some|any)(?:where|place) to (?:sleep|stay|rest|eat|drink)\b
  \bplace to (?:sleep|stay|rest|eat|drink)\b
  \b(?:get|go|take us|take me|bring us|ferry us|carry us|row us) (?:across|over)\b
work
  \bwhat do you do\b(?! (?:if|when|with|about|now))
  \byour (?:job|trade|work|business|profession|craft|calling|role|office|duty)\b
  \bwho do you work for\b
  \bwho (?:taught|trained) you\b
  \bdo you work\b
  \bfor a living\b
  \bkeeps? you busy\b
  \bwhat are you (?!(?:hid|talk|say|sell|look|think|wait|go|plan|try|mean|ask|offer|afraid)ing)[a-z]+ing\b
  \bwhat do you (?:make|bake|build|cook|brew|dig)\b
  \bare you the\b
mood
  \bhow are you\b
  \b(?:do|did|have|can) you (?:ever )?(?:sleep|slept|rest)\b(?! (?:here|in|at))
  \b(?:do|did|can) you get (?:any |some |enough )?(?:sleep|rest)\b
  \byou (?:look|seem|sound) (?:so |very |a bit |a little )?(?:tired|sad|ill|sick|pale|angry|afraid|scared)\b
  \byou (?:look|seem|sound) (?:so |very |a bit |a little )?(?:worried|cold|upset|unhappy|busy|well)\b
  \bare you (?:so |very |still )?(?:all ?right|ok|okay|well|hurt|safe|tired)\b
  \bare you (?:so |very |still )?(?:sad|afraid|scared|angry|cross|upset)\b
  \bhow do you feel\b
  \bwhy are your (?:eyes|hands|cheeks|clothes|feet|fingers)\b
  \bwhy (?:are|do|so|the) (?:you |long )?(?:so |look |be |crying|weep|sad|angry|afraid|cross|hiding|here|face)
  \bwhy aren't you\b
  \bwhat(?:'s| is) (?:wrong|the matter) with you\b
  \bhow do you do\b
  \bhow goes it\b
  \bhow is (?:business|work|trade|life)\b
quest
  \bwhat (?:exactly |precisely |else )?(?:do|did|can|could|would) you (?:want|need)\b
  \bwhat (?:exactly |else )?(?:do|should|can|could|must|shall) (?:we|i) do\b
  \bhow (?:can|may|could) (?:we|i) help\b
  \bcan (?:we|i) (?:be of )?(?:any )?help\b
  \bwhat(?:'s| is) the (?:job|task|quest|work|plan|mission)\b
  \bneed (?:some |any |our )?help\b
  \b(?:any|some|have|got|give us|give me|looking for|need) (?:\w+ )?(?:work|jobs?|quests?|errands?)\b
  \b(?:work|jobs?|quests?|errands?|tasks?) (?:for|going) (?:us|me|here|around|strangers|adventurers|people)\b
  \b(?:hire|hiring|employ|employing) (?:us|me|anyone|anybody|people|swords|help)?
  \bwant (?:from )?(?:us|me)\b
  \bhelp you\b
  \bthe (?:job|task|quest)\b
  \bwhat is it you want\b
news
  \b(?:say|says|said|think|thinks|heard|believe) (?:that )?(?:you are|you're|it was you|it is you|you did)\b
  \bwhat(?:'s| is| has| was|'d)? ?(?:happened|happening|happens|going on|wrong|the matter|up|new)\b
  \bnews\b
  \bwhat goes on\b
  \bwho (?:is |are |has |have |all )?(?:died|dead|asleep|sleeping|ill|sick|missing|dying)\b
  \bwhat is (?:all )?this\b
  \bwhy is every(?:one|body)\b
  \bhow are things\b
  \banything (?:strange|new|odd)\b
  \btell (?:me|us) (?:about )?(?:this|the) (?:place|village|town)\b
  \bwhat did we miss\b
  \b(?:call|calls|called|calling) you (?:a|an|the)\b
  \bis it true (?:that )?you\b
  \bdid you (?:really )?do it\b
  \bhow long has (?:this|it|that)\b
  \bwhat have you (?:done|tried)\b
where
  \bwhere\b(?! (?:were|was|have|did) )
  \bhow do (?:we|i) (?:get|reach|go|find)\b
  \bis there (?:a|an|any|some(?:where|place)|any(?:where|place))\b(?! (?:way|passage|path|road|door))
  \bwhich way\b
  \bthe way to\b
  \bhow far\b
  \bdirections?\b
who
  \bwho(?:'s|se)?\b
  \bwhom\b
greeting
  ^(?:hello|hi|hey|greetings|well met|hail|good (?:day|morning|evening|afternoon))\b[^?]*$
  ^(?:farewell|good ?bye|bye|good night)\b
"""


def _read_patterns() -> Iterator[tuple[Facet, re.Pattern[str]]]:
    """Yield each facet with all of its patterns as one."""
    for block in re.split(r"\n(?=\S)", _PATTERNS.strip("\n")):
        name, *patterns = block.split("\n")
        whole = "|".join(pattern.strip() for pattern in patterns)
        for word, meant in _WORDS.items():
            whole = whole.replace(word, meant)
        yield Facet(name), re.compile(whole)


_COMPILED: Final = tuple(_read_patterns())
_CONTRACTED: Final = re.compile(r"\b(what|who|where|how|that|there)'?s\b")


@lru_cache(maxsize=1_024)
def read_facets(question: str) -> tuple[Facet, ...]:
    """Return the facets that a question may ask for, the likeliest first."""
    text = _CONTRACTED.sub(r"\1 is", " ".join(fold_word(question).split()))
    return tuple(facet for facet, pattern in _COMPILED if pattern.search(text))
