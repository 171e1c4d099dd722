"""Sentences that state no facts: questions, conditions, guesses, denials, dreams, and table talk."""

import re
from typing import Final

from dndbots.extraction.english.passages import QUOTE

_DREAMT = (
    r"dream(?:s|t|ed|ing)? (?:that|about|you)|your dreams?|in (?:a|the|his|her|this|your) "
    r"(?:dream|nightmare|vision|song|story|tale|legend|play)"
    r"|vision of|visions? (?:shows?|fades?)|nightmares?|once upon a time|sings? (?:of|about)"
    r"|the (?:story|tale|song|ballad|legend) of"
    r"|hallucinat\w+|illusions? of|storybook|prophecy|prophesied"
    r"|(?:a|the|this|an? old|that) (?:rhyme|riddle|poem|verse|joke|proverb|nursery rhyme|limerick|graffiti)"
    r"|as the (?:saying|joke|rhyme|song) goes|puppets?|puppet show|play-?acting|make-believe|on stage"
)
_AT_THE_TABLE = (
    r"(?:rolls?|rolled|rolling)(?! (?:into|over|past|down|through|across|along|off|onto)\b)"
    r"|d20|d\d+|natural (?:20|twenty|one|1)|nat (?:20|one|1)|initiative"
    r"|saving throws?|checks?"
    r"|hit points?|armor class|points of|proficien\w+|perception|athletics|acrobatics"
    r"|disadvantage|bonus action|spell slots?|modifier"
    r"|dungeon master|dungeons|dms?|gm|npcs?|pcs?|players?|player's|characters?"
    r"|character['\u2019]s|episodes?|streams?|streaming|twitch|subscri\w+|subs"
    r"|donat\w+|sponsors?|charity|giveaways?|hashtags?|tweet\w*|twitter|youtube|videos?"
    r"|podcast|the show|this show|chat ?room|webcam"
    r"|campaigns?|game|games|gaming|session|sessions|miniatures?|minis"
    r"|handbook|manual|homebrew|wiki|fans?|fan art|cosplay|kickstarter|(?<!you )guys"
    r"|levels? up|multiclass|feats?|statistic\w*|stats"
    r"|turn order|next turn|your turn|'s turn|feet|critters?|tabletop|role-?play\w*|backstory"
    r"|actor|actress|awesome"
    r"|rules?-wise|mechanic\w*|technically|literally|great new"
    r"|brand new|metagam\w+|spoilers?|real life|irl|headcanon|plot twist|calling it now|my theory"
    r"|my money(?:'s| is) on|in my head"
)
# Words of the present day: they are no words of a told world, but a person is still introduced beside them.
_TODAY = (
    r"movies?|films?|tv|phone|email|internet|online|website|computer|camera|birthday|accent|dollars|bucks"
    r"|\$\d+|percent"
)
_FANCIED = r"suppose|supposing|imagine|pretend(?:s|ing)?|what if|hypothetically|let's say|(?<!to )say,"
_SUPPOSED = (
    rf"if|unless|whether|maybe|perhaps|as though|assuming|{_FANCIED}"
    r"|possibly|probably|presumably|supposedly|allegedly|apparently|seemingly|could say|otherwise"
    r"|(?:when|once|as soon as|the day|until|till) i(?:'m|\u2019m| am| become| get to be)"
    r"|some ?day|one of these days"
    r"|sarcas\w+|jokingly|in jest|as a joke|just kidding|only joking"
)
_DOUBTED = (
    r"would|wouldn't|could|might|may|must|should|shall|will|can't|cannot|won't|not|never"
    r"|nobody|no one|none(?! other)|neither|nor|n't|\w+n't|no longer|hardly|barely"
    r"|almost|nearly|seems?|seemed|seeming|appears? to|looks? like|looked like|like a|like the"
    r"|like (?:he|she|they|it)|like|as if|kind of|sort of|pretends?"
    r"|claims? to|used to|was once|once|had been|formerly|former|previously|ex-|until recently"
    r"|'ll|'d|or|so-called|let's"
    r"|supposed to|about to|going to|gonna|ought|tries|trying|tried|attempts?|would-be"
    r"|instead of|rather than|without|wished?|disguised as|pos(?:es|ing) as|dressed as|passes for|such an?"
    r"|an? (?:real|absolute|total|complete|regular|bit of an?)|something of an?|practically"
    r"|basically|more or less"
    r"|as good as|in (?:his|her|@P\d+@'s) (?:dreams|imagination|head|mind)"
)
_HELD = (
    r"thinks?|thought|believes?|believed|bets?|guess(?:es)?|wonders?|wondering|doubts?|hopes? "
    r"that|wish(?:es)?|feels? (?:like|as|that)|figured?|assumes?|suspects?"
    r"|denies|denied|imagines?|expects?|fears that|claims?|claimed|asks?|asked|remembers?"
    r"|pretends?|dreams?|argues?|insists?|lies that|tells?|told|says?|said"
    r"|swears that|mentions?|mentioned|explains?|explained|whispers?|reports?|announces?"
    r"|warns?|heard|hears?|suggests?|call(?:s|ed)? (?:him|her|it|me)|jokes?|joking"
    r"|story|stories|tale|read|reads|letter|sign|note|book says|nobody|no one|know where|tell "
    r"me|according to|sure that|i mean|convinced|(?:lies|lied)(?=:)"
    r"|chant(?:s|ing)?|recites?|written|scrawled|scratched|daubed|insulted?|insults|taunts?|mocks?|teases?"
)
_BEFORE_QUOTE = re.compile(
    r"\b(?:sign|letter|note|inscription|plaque|poster|book|page|reads|written|title)\b", re.IGNORECASE
)


def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'\u2019-])(?:{words})(?![\w'\u2019])", re.IGNORECASE)


_CLOSED: Final = _any(f"{_DREAMT}|{_AT_THE_TABLE}|{_TODAY}|{_SUPPOSED}")
_UNREAL: Final = _any(f"{_DREAMT}|{_AT_THE_TABLE}|{_FANCIED}")
_DOUBT: Final = re.compile(rf"(?<![\w])(?:{_DOUBTED})(?![\w])", re.IGNORECASE)
_HOLDING: Final = _any(_HELD)
# The boundary of two clauses: a doubt in one does not touch the other.
_BOUNDARY: Final = re.compile(
    r"[;:]|,? (?:but|because|so|while|although|though|since) |, and |, (?=@[A-Z]\d+@ )", re.IGNORECASE
)
_RUMOR: Final = re.compile(
    r"^(?:and |but |so |well,? |yes,? )*(?:(?:(?:the )?rumou?rs? (?:has it|have it|say|says|claim|is|goes)"
    r"|the (?:story|tale|word|talk) (?:goes|is)|supposedly|reportedly|allegedly|by all accounts"
    r"|they say|(?:some|many|people|folk|locals|sailors|legends?) says?"
    r"|(?:it is|it's) (?:said|rumou?red|whispered)|word (?:is|has it)|word on the street is"
    r"|there (?:is|are) (?:a )?(?:rumou?rs?|talk|whispers)"
    r"|legend (?:has it|says)|(?:folk|people|villagers|locals) whisper|you(?:'ve| have)? "
    r"(?:hear|heard) (?:rumou?rs |a rumou?r |whispers )|the rumou?r is)(?: that)?,? "
    r"|according to (?:the )?[^,]{3,40}, )",
    re.IGNORECASE,
)


# "There's gold in it for you if you find her" gives a quest; its "if" is no supposition.
_BARGAIN: Final = re.compile(
    r"(?<= for you) if you |(?<=in it) if you |(?:gold|silver|platinum|coins|crowns|pieces) "
    r"if you |(?:pay|give) you [^,;:!?]{3,60} if you ",
    re.IGNORECASE,
)
# "Sure, Elena is a queen, and I'm a teapot."
_IRONY: Final = re.compile(
    r"^(?>(?:(?:oh|ah|yeah|ha|well),? )*?(?:sure|right|yeah|aye|of course|certainly|riiight|suuure"
    r"|and i suppose),? ).*"
    r"(?:,| and|;) (?:i['\u2019]m|i am|my \w+(?: \w+)? is|you['\u2019]re|we['\u2019]re|pigs|cows|goats) "
    r"|,? and i(?:['\u2019]m| am) (?:the )?(?:king|queen|pope|emperor|empress|god)\b"
    r"|^(?:oh|ah),? (?:sure|right|of course),",
    re.IGNORECASE,
)
# "Wouldn't that be great?" turns the sentence before it into a daydream.
_TAKEN_BACK: Final = re.compile(
    r"^(?:(?:and|but|oh|ha|man|no|nah|god),? )*(?:would(?:n['\u2019]t| not)? (?:that|it|you)\b"
    r"|(?:that|this|it)(?:['\u2019]d| "
    r"would| could)\b|how \w+ would\b|(?:can|could) you imagine|(?:just )?imagine\b|(?:just "
    r"|only )?(?:kidding|joking)"
    r"|i(?:['\u2019]m| am) (?:just |only )?(?:kidding|joking|messing)|(?:not really|not)[.!]?$"
    r"|i (?:wish|made that up)"
    r"|in (?:your|his|her|my) dreams|a (?:man|girl|woman|guy) can dream|one can dream|as if\b"
    r"|psych\b|that was a (?:joke|lie)"
    r"|that['\u2019]s a (?:joke|lie)|i['\u2019]d (?:love|pay|like) |said no ?(?:one|body) ever)",
    re.IGNORECASE,
)
_SUNG: Final = re.compile(r"[(\[*](?:\w+ )?(?:sing|hum|chant|rapp)(?:s|ing)", re.IGNORECASE)


def is_sung(text: str) -> bool:
    """Return whether a turn is sung: a song states no facts."""
    return bool(_SUNG.search(text))


def is_closed(sentence: str) -> bool:
    """Return whether a sentence is not read at all: a dream, a supposition, irony, or table talk."""
    words = _BARGAIN.sub(" ", sentence)
    return bool(_CLOSED.search(words, after_rumor(words)) or _IRONY.search(words))


def is_fancied(sentence: str) -> bool:
    """Return whether a sentence speaks of nobody real: a dream, a fancy, irony, or table talk."""
    return bool(_UNREAL.search(sentence) or _IRONY.search(sentence))


def takes_back(sentence: str) -> bool:
    """Return whether a sentence turns the one before it into a joke or a daydream."""
    return bool(_TAKEN_BACK.match(sentence))


def is_written(sentence: str) -> bool:
    """Return whether the quotation in a sentence is written text, which nobody says."""
    return QUOTE in sentence and bool(_BEFORE_QUOTE.search(sentence))


def after_rumor(sentence: str) -> int:
    """Return where a rumor begins, after the words that call it one; 0 if there is none."""
    found = _RUMOR.match(sentence)
    return found.end() if found else 0


def clause_start(sentence: str, at: int) -> int:
    """Return where the clause begins that contains this position."""
    start = 0
    for boundary in _BOUNDARY.finditer(sentence, 0, at):
        start = boundary.end()
    return start


def is_doubted(clause: str) -> bool:
    """Return whether a clause denies, plans or only suspects, or speaks of the past."""
    return bool(_DOUBT.search(clause))


def is_held(words: str) -> bool:
    """Return whether these words introduce what somebody only thinks or says."""
    return bool(_HOLDING.search(words))
