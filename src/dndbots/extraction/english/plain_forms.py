"""Rewrites figures of speech plainly before reading: "If you want Tom, he is in Ash" is "Tom is in Ash".

A rewrite keeps the meaning, and every word that a value may consist of.
"""

import re
from typing import Final

from dndbots.extraction.english.word_tables import KIN, MUTUAL, TEMPERS, either

_N: Final = r"(?:(?<![\w'\u2019-])[A-Z][\w'\u2019-]{0,20}[a-z](?: [A-Z][\w'\u2019-]{0,20}[a-z]){0,3})"
_AT: Final = r"(?:in|at|near|from)"
_QUOTES: Final = '"\u201c\u201d'
_BEARER: Final = r"(?:messenger|courier|herald|crier|runner|rider|scout|letter|report|news)"
_SO: Final = (
    (r"\b(?:In character|Out of character): ?", ""),
    (r", remember\?", ", remember."),
    # The openings of tales.
    (
        (
            r"\b(?:Once upon a time|Long,? long ago|Long ago|A long time ago|Many (?:years|winters) ago"
            r"|Once),? (?:there )?(was|lived|dwelt|ruled) (?=an? )"
        ),
        r"There \1 ",
    ),
    (r"\b([Tt]here) once (?=(?:was|lived|dwelt|ruled) an? )", r"\1 "),
    # Asides that take nothing back.
    (
        (
            r", if (?:\w{2,20} is the (?:right )?word(?: for it)?|that(?:'s| is) the (?:right )?word"
            r"|you(?:'re"
            r"| are) quick"
            r"|you hurry|you must know|you can (?:call it that|believe it)|you want (?:him|her|it|them)"
            r"|you need (?:him|her|it|them))(?=[.,;!])"
        ),
        "",
    ),
    (rf"({_N})\? (?=Gone |Off |Back )", r"\1 has "),
    (rf"({_N})\? (?=Left |Went |Moved |Fled )", r"\1 has "),
    (rf"({_N})\? (?=Dead\b|Missing\b|In |At |Still |Up |Down |Over )", r"\1 is "),
    (r"\bRumou?r is,? (?:that )?", "Rumor has it that "),
    (
        (
            r"\bIt (?:was|is|has been) (?:read out|announced|proclaimed|posted up|posted|cried|made public)"
            r"(?: [^.,;:@]{2,50})?(?:: | that )"
        ),
        "",
    ),
    (r"\bWhatever [^.,;:]{3,60}, (?=it |that )", ""),
    (
        rf"({_N}), ([^.!?@]{{3,60}})\. The ((?:[a-z]+ ){{0,2}}[a-z]+) (?:himself|herself) ",
        r"\1, \2. \1, the \3, ",
    ),
    (
        (
            rf"\bIf you(?:'re| are)? (?:want(?: to \w+(?: to| with)?)?|need|seek|seeking|after|looking for"
            rf"|are looking for|"
            rf"must (?:see|find)) ({_N}), (?:he|she|they)(?:'s| is| are| can be found| will be"
            rf"| may be found)? "
        ),
        r"\1 is ",
    ),
    (
        (
            rf"\bIf you(?:'re| are)? (?:want|need|seek|seeking|after|looking for) ({_N}), (?:then )?(?:try"
            rf"|look in|go to"
            r"|ask at|ask in|ride to|head for|look to) "
        ),
        r"\1 is in ",
    ),
    (
        (
            rf"\bIf (?:there is|there's|there was) (?:one|any) ?thing (?:that )?(?:frightens|scares"
            rf"|terrifies) ({_N}),"
            r" (?:it is|it's|that is|that's) "
        ),
        r"\1 fears ",
    ),
    (
        (
            rf"\bIf (?:there is|there's) (?:one|any) ?thing (?:that )?({_N}) (fears|dreads|wants"
            rf"|craves), (?:it is|it's"
            r"|that is|that's) "
        ),
        r"\1 \2 ",
    ),
    (
        (
            rf"\bIf ({_N}) (?:could (?:have|wish for|ask for|do)|had) (?:but |just |only )?(?:one"
            rf"|any) ?(?:thing|wish)?"
            r"(?: (?:in|before|left)[^,.;]{2,30})?, (?:it|that) (?:would|might) be (?:to )?"
        ),
        r"\1 longs to ",
    ),
    (r"\bwould (?:\w+ )?(?:give|do) (?:[a-z' ]{3,30}) to (?=[a-z])", "longs to "),
    (
        r"\bwould (?:dearly |very much |rather |so )?(?:like|love) (?:nothing (?:more|better) than )?to ",
        "wants to ",
    ),
    (r"\bwhat (he|she) wants?(?:, which is|,? and (?:it|that) is|:) to ", r"a thing; \1 wants to "),
    (r"\b(is|are) (?:simple|plain|clear|no secret|easily told)(?:,|:| and it is:?) (?=to )", r"\1 "),
    (
        (
            r"\b(one|a|his|her|single|only) (goal|dream|wish|aim|ambition|thought|hope|fear)( left"
            r"| in life)?(?:: |, and"
            r" (?:it|that) is |, which is )(?:to )?(?=[a-z])"
        ),
        r"\1 \2\3 to ",
    ),
    (
        (
            r"\b(?:can't|can\u2019t|cannot) (?:stand|bear|abide) (?=(?:the |an? )?(?:[a-z]+ )?[a-z]+"
            r"(?:s\b| at night|(?=[,.;])))"
        ),
        "dreads ",
    ),
    (r"\b(?:won't|won\u2019t|will not|refuses to) go near ", "dreads "),
    (r"\bwants? (?:only |just |but )?one thing(?: only)?(?:: |, and that is )to ", "longs to "),
    (r"\bone thing ([^.,;:]{3,40}), and (?:that|it) is to ", r"one thing \1 is to "),
    (
        r"\b(?:won't|won\u2019t|will not|cannot|can't) (?:rest|sleep|stop) until (?:he|she) (?:has |can )?",
        "longs to ",
    ),
    (r"\b(?:could not|couldn't|couldn\u2019t) be more ", "is "),
    (r"\bis, [a-z' ]{3,25}, (?=an? |the )", "is "),
    (r"\bwants? nothing (?:more|better|else) than to ", "longs to "),
    (r"\bOnce an? [^.,;:]{3,30}, (?=[A-Z])", ""),
    (rf"({_N})'s (?=been |gone )", r"\1 has "),
    (
        (
            r", (?:I'm sorry to say|I am sorry to say|I'm afraid|you learn|it turns out|sadly|alas"
            r"|as it happens), "
        ),
        " ",
    ),
    (r"\bAsk (?:anyone|anybody|around|whom you like)(?: [a-z ]{2,20})?: ", ""),
    # Words that only affirm.
    (
        (
            r"\b(?:(?:There is|There's) no doubt(?: about it)?|Make no mistake|If anything"
            r"|No two ways about it"
            r"|Truth be told|It's true|It is true|As it turns out|You (?:hear|have"
            r"|get) it [^.:;,]{2,30})[,:;] "
        ),
        "",
    ),
    (
        r"\b(?:You (?:can )?(?:see|notice|realise|learn)(?: at once| now)? that|Turns out,?) (?=[A-Z])",
        "",
    ),
    # A promise in other words.
    (rf"\bYou have ({_N})'s (?:word|promise|oath)(?: that (?:he|she) will| to) ", r"\1 promises to "),
    (
        r"\bI(?:'ll|\u2019ll| will) ([^,.;:!?\"]{3,60}), (?:that )?I (?:promise|swear|vow)\b",
        r"I promise to \1",
    ),
    (
        (
            r"\b((?:his|her|my) (?:solemn )?(?:word|oath|promise)(?: on it| of honou?r)?"
            r"|an? (?:solemn )?(?:promise|oath|vow)"
            r"|swears it|hand on it|shakes on it)(?:[:;,] | that )(?:he|she|I)(?:'ll|\u2019ll| will) "
        ),
        r"\1 to ",
    ),
    (
        (
            r"\b((?:promis|swear|swor|vow|pledg)(?:e?s|ed|e|)) (?:(you|them|us) )?(?:that )?(?:he|she"
            r"|I)(?:'ll|\u2019ll| will) "
        ),
        r"\1 to ",
    ),
    (
        (
            rf"\b(I (?:swear|promise|vow)(?: it| you| that)?|my word(?: on it)?"
            rf"|my oath)([,.!;:]*[{_QUOTES}][^{_QUOTES}]"
            rf"{{0,60}}[{_QUOTES}]|[,.;:]) ?I(?:'ll|\u2019ll| will) "
        ),
        r"\1\2I promise to ",
    ),
    # News from a nameless messenger is the DM's own word.
    (rf"\bWhat (?:the|an?) {_BEARER} [^.{_QUOTES}]{{3,60}}?,? is (?:this: |that )", ""),
    (
        (
            rf"\b(?:The|A|An) (?:[a-z]+ ){{0,2}}{_BEARER} (?:\w+s )?(?:[a-z ]{{2,20}} )?(?:brings (?:word"
            rf"|news)|says|reports"
            r"|confirms|is) that "
        ),
        "",
    ),
    (
        (
            r"\b(?:Word|News) (?:comes|arrives|reaches you|has come|has arrived"
            r"|has reached you)(?: [a-z ]{2,30})? that "
        ),
        "",
    ),
    (
        (
            r"\b(?:The|An?|Some) (?:[a-z]+ ){1,6}(?:tells you|confirms) what you(?:'d| had|'ve"
            r"| have)? (?:\w+ )?"
            r"(?:guessed|feared|suspected|known|thought|expected)(?: [a-z ]{2,20})?: "
        ),
        "",
    ),
    (
        (
            r"\b(?:and |so |then )?you (?:can|could) (?:easily |clearly |plainly )?(?:tell"
            r"|see)(?: at once)? that "
        ),
        "",
    ),
    (
        (
            rf"({_N}) (?:\w{{2,15}}s (?:[a-z]{{1,15}} ){{1,5}}to (?:say|tell you|let you know|report"
            rf"|inform you"
            rf"|warn you)|sends word"
            r"|lets (?:it )?slip|lets you know|wants you to know|brings word) that "
        ),
        r"\1 says that ",
    ),
    # The name comes last.
    (
        rf"\bLook for ([^.!?@{_QUOTES}]{{3,60}})[.;:] (?:That's|That is|That will be|It's) ({_N})",
        r"\2 has \1. It's \2",
    ),
    (
        (
            rf"\b(?:He|She) (has|wears|is) ([^.!?@{_QUOTES}]{{3,80}})\. (It's|It is|This is|That's"
            rf"|That is) ({_N})"
        ),
        r"\4 \1 \2. \3 \4",
    ),
    (r"\bI(?:'|\u2019)ll (?=(?:give|pay|grant|keep|save|hold) )", "I will "),
    # A tie in one sentence, and the name in the next: "Harl has a sister. Her name is Mirra."
    (
        (
            rf"\b(ha(?:s|d) (?:an?|one|only one) (?:[a-z]+ )?{either(KIN)})\b"
            rf"(?: {_AT} [A-Za-z' ]{{2,40}})?[.;,] "
            r"(?:(?:And|and) )?(?:(?:[Hh]er|[Hh]is|[Tt]heir) name (?:is|was)"
            rf"|(?:[Ss]he|[Hh]e)(?:'s|\u2019s| is| was) (?:called|named)) (?={_N})"
        ),
        r"\1 called ",
    ),
    (
        (
            rf"\b(ha(?:s|d) (?:an?|one|only one) (?:[a-z]+ )?{either(KIN)}) {_AT} [A-Za-z' ]{{2,30}}"
            rf" (?:named|called) (?={_N})"
        ),
        r"\1 called ",
    ),
    (
        rf"({_N}) and ({_N}) ([^.!?@{_QUOTES}]{{3,100}})\. They(?:'re|\u2019re| are) ({either(MUTUAL)})\b",
        r"\1 and \2 \3. \1 and \2 are \4",
    ),
    (rf"({_N}), you(?:'re| are) home[.,;:]+ (?:This is|Welcome to|Back in) ", r"\1 lives in "),
)
# Only in the DM's narration: "Tom? A halfling." is no question.
_TOLD: Final = re.compile(rf"({_N})\? (?=An? |The )")
_ASKED: Final = re.compile(rf"\b(The (?:[a-z]+ ){{0,2}}[a-z]+)\? (?={_N}[.,;])")
_OPENING: Final = re.compile(
    rf"(?<![\w'-])(?=[A-Z])(?:{either(word.capitalize() for word in TEMPERS)}"
    r"|(?:Twenty|Thirty|Forty|Fifty|Sixty|Seventy|Eighty|Ninety)(?:-[a-z]+)?)\b"
)
_PLAIN: Final = tuple((re.compile(pattern), plain) for pattern, plain in _SO)


# "We'll find your father, Tobin. I promise.": whoever says it promises to find Tobin's father.
_SWORN: Final = (
    r"(?i:I promise(?: you)?|I swear(?: it)?|you have my word|I give you my word|(?:you have )?my word on it"
    r"|(?:that|it)['\u2019]s a promise|on my honou?r)"
)
_PROMISED: Final = re.compile(
    r"\b(?:I|[Ww]e)(?:['\u2019]ll| will) (?!(?:be|try|do|see|never|not|think|say|have)\b)"
    r"(?P<what>[^,.!?;:\"\u201c\u201d]{3,80})"
    rf"(?:, (?P<whom>(?:(?:Mrs?|Ms|Dr)\. )?{_N}))?(?:,? and |[,.!;] ){_SWORN}(?=[,.!;]|$)"
)
_GIVEN_TO: Final = re.compile(
    r"\b(you )(?=(?:an?|the|some|my|our|his|her|this|that|more|enough|all|two|three|four|five|six|ten|fifty"
    r"|\d+) )",
    re.IGNORECASE,
)
_YOURS: Final = re.compile(r"\b(?:your|yours)\b", re.IGNORECASE)
_YOU: Final = re.compile(r"\byou\b", re.IGNORECASE)


def _promised(found: re.Match[str]) -> str:
    """Return a promise in the form in which rules read it; "your" is that of the one who is spoken to."""
    whom = found["whom"]
    what = _YOURS.sub(f"{whom}'s" if whom else "the", _GIVEN_TO.sub("", found["what"]))
    if whom:
        what = _YOU.sub(whom, what)
    return f"I promise to {what}"


def rewrite_plainly(text: str, *, narrated: bool) -> str:
    """Return the text with its figures of speech rewritten. `narrated` marks the DM's own words."""
    if narrated:
        text = _OPENING.sub(
            lambda word: word.group().lower(), _TOLD.sub(r"\1 is ", _ASKED.sub(r"\1 is ", text))
        )
    text = _PROMISED.sub(_promised, text)
    for pattern, plain in _PLAIN:
        text = pattern.sub(plain, text)
    return text
