"""Finds the speaker of a quotation and the person a pronoun means, if the turn leaves no doubt."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from dndbots.extraction.english.marked_names import Marked, Mention
from dndbots.extraction.english.passages import QUOTE
from dndbots.extraction.english.word_tables import (
    FOLK,
    IRREGULAR_PASTS,
    PLACE_KINDS,
    PLACE_WORDS,
    ROLES,
    TENSES,
    either,
)

_VERBS: Final = (
    r"(?:says?|said|whispers?|whispered|replies|replied|answers?|answered|mutters?|muttered"
    r"|growls?|growled|shouts?"
    r"|shouted|cries|cried|explains?|explained|adds?|added|tells you|tells them|told (?:you"
    r"|them)|murmurs?|murmured"
    r"|continues?|continued|admits?|admitted|declares?|declared|sighs?|sighed|warns?|warned"
    r"|asks?|asked|confesses|confessed|calls out|insists|insisted|calls over|observes|announces|announced"
    r"|calls after)"
)
_PERSON: Final = r"(?:the (?:\w+ )?)?@[PU](\d+)@"
_AFTER: Final = re.compile(rf"{QUOTE},? (?:{_VERBS} {_PERSON}|{_PERSON} (?:\w+ly )?{_VERBS})", re.IGNORECASE)
_BEFORE: Final = re.compile(
    rf"{_PERSON}(?:, [^,]{{1,40}},)? (?:\w+ly )?(?:\w+s(?: \w+){{0,4}} and )?{_VERBS}(?: "
    rf"[^,:;.]{{0,40}})?[,:]? ?{QUOTE}",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(rf"^{_PERSON}: ?{QUOTE}$")
_TAG_ONLY: Final = re.compile(
    rf"^{QUOTE},? (?:{_VERBS} @[PU]\d+@|@[PU]\d+@ (?:\w+ly )?{_VERBS})[.,]? ?{QUOTE}$", re.IGNORECASE
)
_ANOTHER: Final = r"(?:he|she|they|(?:the|an?|another|one)(?: [a-z'\u2019-]+){1,3}?)"
_BY_ANOTHER: Final = re.compile(
    rf"{QUOTE},? (?:{_ANOTHER} (?:\w+ly )?{_VERBS}|{_VERBS} {_ANOTHER})\b"
    rf"|\b{_ANOTHER} (?:\w+ly )?{_VERBS}(?: [^,:;.]{{0,40}})?[,:] ?{QUOTE}",
    re.IGNORECASE,
)
_PRESENT_PEOPLE: Final = re.compile(
    r"(?<![\w'\u2019])(?:i|me|my|mine|we|us|our|you|your)(?![\w])|n't\b", re.IGNORECASE
)
_PAST: Final = re.compile(r"\b(?:was|were|had|said|told|came|went|stood|sat|knew|took|held|[a-z]{2,}ed)\b")
_HE: Final = re.compile(
    r"(?<![\w@'\u2019-])(?:(he|she)(['\u2019]s)?|(his|her)(?= (?!own\b)[a-z]))(?![\w@'\u2019])", re.IGNORECASE
)
_I: Final = re.compile(
    r"(?<![\w@'\u2019-])(?:(I)(['\u2019]m|['\u2019]ve| am| have)?|([Mm]y))(?![\w@'\u2019])"
)
_OF_MINE: Final = re.compile(r"\ban? ((?:[a-z-]+ )?[a-z-]+) of mine\b")
_IS_MINE: Final = re.compile(r"(?<=\bis )mine(?=[.,;!]|$)")
_TO_ME: Final = re.compile(
    r"(?:(?<=belongs to )|(?<=answers to )|(?<=apprenticed to )|(?<=works for )|(?<=serves "
    r"))me(?=[.,;!]|$)"
)
_IS_OF: Final = re.compile(r"@[PU]\d+@,? (?:who )?(?:is|was|became)(?: also| now)? $")
_IS_HAS: Final = r" (?:been|got|joined|vanished|disappeared|died|promised|sworn|gone|learned|lost)\b"
_STRANGER: Final = re.compile(
    r"(?<!is )(?<!was )(?<!, )(?<!@ )\b(?:an?|another|the other|some|two|the) (?:[\w-]+ "
    rf"){{0,2}}{either(ROLES | FOLK)}\b(?!,? (?:named|called|by the name of|known as) |, @[PU]\d+@,)",
    re.IGNORECASE,
)
_WHO_IS: Final = re.compile(r"\bwho['\u2019]s(?= (?:an?|the|our|one|missing|dead)\b)")
_NAME_IS: Final = re.compile(
    r"(@[A-Z]\d+@)['\u2019]s(?= (?:(?:an?|the|been|afraid|married|looking for|from|in|at|on|now|still|hiding"
    r"|up|back|over|off) |(?:dead|missing|gone|cursed|wounded|poisoned)\b))"
)
# "Marta shrugs." before a quotation without a tag: the next words are hers.
_BEAT: Final = re.compile(
    rf"^(?:then |and |but )?{_PERSON}(?:, [^,@]{{1,40}},)? (?:\w{{1,20}}ly )?"
    r"(?!falls|fell|dies|died|leaves|sleeps|listens|listened|hears|waits|waited|follows|is\b|was\b|has\b)"
    r"[a-z]{2,15}(?:s|ed)\b[^.!?]{0,80}[.!:]? ?$",
    re.IGNORECASE,
)
_OWN_NAME: Final = re.compile(
    r"(?:well met|hello|hullo|welcome|good (?:day|evening|morning)|and|but|sir|yes|no|well|oh)?,? ?"
    r"(?:my name(?: is|['\u2019]s)|I(?: am|['\u2019]m)(?: called)?|(?:they|people|folks?|friends) call me)"
    r" @[PU](\d+)@(?=[.,;!]|$)",
    re.IGNORECASE,
)
_PAST_VERB: Final = re.compile(
    rf"\b(?:was|were|had|{either(IRREGULAR_PASTS)}|[a-z]{{2,20}}ed)\b", re.IGNORECASE
)
# "She was the maid at Ashdown. She is": who is somewhere is no place.
_SOMEWHERE: Final = re.compile(
    r"\b(?:at|in|into|inside|near|outside|from) (?:the )?@U\d+@(?!['\u2019])", re.IGNORECASE
)
_TOLD_NOW: Final = re.compile(
    r"\b(?:is|are|am|has|have|do|does|can|will|says|lives|wants|knows|looks|stands|sits|stays|seems)\b|n't\b"
    r"|['\u2019](?:re|m|ve|ll)\b|\b(?:once|any ?more|no longer|used to|formerly|back then)\b",
    re.IGNORECASE,
)
_LEAST_PAST: Final = 2
_THEN: Final = re.compile(
    rf"(@[A-Z]\d+@,?(?: who)?) (?:(had)(?= (?:an?|the|two|three|no|one) )|({either(TENSES)}))(?= )"
)
_IT_IS: Final = re.compile(
    r"(?:^|(?<=[,;:] )|(?<=, and ))it(?:['\u2019]s| is| was)(?= (?:an?|the|one of the) (?:only )?"
    rf"(?:[a-z-]{{2,20}} ){{0,3}}{either(PLACE_WORDS | PLACE_KINDS)}\b)",
    re.IGNORECASE,
)


def find_speaker(marked: Marked) -> str | None:
    """Return the speaker of a sentence's quotation, if the sentence names exactly one."""
    tags = [found for tag in (_AFTER, _BEFORE, _LABEL) for found in tag.finditer(marked.text)]
    speakers = {_named(marked, next(group for group in found.groups() if group)) for found in tags}
    return next(iter(speakers)) if len(speakers) == 1 else None


def find_own_name(marked: Marked) -> str | None:
    """Return the name that a quoted sentence gives to whoever says it."""
    found = _OWN_NAME.match(marked.text)
    return _named(marked, found[1]) if found else None


def is_by_another(marked: Marked) -> bool:
    """Return whether the tag of a quotation tells that somebody without a name says it: "she said"."""
    return bool(_BY_ANOTHER.search(marked.text))


def is_told(texts: Iterable[str]) -> bool:
    """Return whether the words around quotations are a story: in the past, of nobody who is speaking."""
    around = " ".join(texts)
    return bool(_PAST.search(around)) and not _PRESENT_PEOPLE.search(around)


def is_only_tag(marked: Marked) -> bool:
    """Return whether only a tag such as "says Tom" stands between two quotations."""
    return bool(_TAG_ONLY.match(marked.text))


def find_beat(marked: Marked) -> Mention | None:
    """Return the one who does something right before a quotation that no tag gives to anybody."""
    found = _BEAT.match(marked.text)
    if not found or _STRANGER.search(marked.text):
        return None
    return marked.mentions[int(found[1])]


def is_past(texts: Iterable[str]) -> bool:
    """Return whether sentences tell everything in the past, as novels do: "was" then says what is."""
    around = " ".join(texts)
    return len(_PAST_VERB.findall(around)) >= _LEAST_PAST and not _TOLD_NOW.search(around)


def tell_now(marked: Marked) -> Marked:
    """Return a sentence told in the past with what it says of its names in the present."""
    text = _THEN.sub(
        lambda found: f"{found[1]} {'has' if found[2] else TENSES[found[3].lower()]}", marked.text
    )
    return Marked(text, marked.mentions)


def mark_it(marked: Marked, before: Sequence[Mention]) -> Marked:
    """Return the sentence with a mark for "it" where it calls the one thing named before a kind of place."""
    found = _IT_IS.search(marked.text)
    if not found:
        return marked
    earlier = _things(Marked(marked.text[: found.start()], marked.mentions)) or list(before)
    if len({mention.name for mention in earlier}) != 1 or earlier[0].letter == "P":
        return marked
    sign = f"@{earlier[0].letter}{len(marked.mentions)}@"
    text = f"{marked.text[: found.start()]}{sign} is{marked.text[found.end() :]}"
    return Marked(text, (*marked.mentions, earlier[0]))


def _things(marked: Marked) -> list[Mention]:
    return [marked.mentions[int(number)] for number in re.findall(r"@[LUI](\d+)@", marked.text)]


def things(marked: Marked) -> list[Mention]:
    """Return the names in a sentence if none of them is certainly a person's."""
    return [] if "@P" in marked.text else _things(marked)


def _named(marked: Marked, number: str) -> str:
    return marked.mentions[int(number)].name


def mark_first_person(marked: Marked, speaker: str) -> Marked:
    """Return the sentence with the speaker's mark for "I" and "my"."""
    mentions = list(marked.mentions)
    text = _TO_ME.sub("I", _IS_MINE.sub("my", _OF_MINE.sub(r"my \1", marked.text)))

    def put(found: re.Match[str]) -> str:
        mentions.append(Mention(speaker, "P", found.group()))
        sign = f"@P{len(mentions) - 1}@"
        if found[3]:
            return f"{sign}'s"
        verb = (found[2] or "").strip().strip("'\u2019")
        return sign + {"m": " is", "am": " is", "ve": " has", "have": " has"}.get(verb, "")

    return Marked(_I.sub(put, text), tuple(mentions))


def mark_pronouns(marked: Marked, before: Sequence[Mention]) -> Marked:
    """Return the sentence with marks for "he" and "her" where they can mean only one person.

    `before` are the people of the previous sentence; they count if this one names nobody earlier.
    """
    text = _WHO_IS.sub("who is", _NAME_IS.sub(r"\1 is", marked.text))
    mentions = list(marked.mentions)
    meant: dict[str, str] = {}  # "she lives with her brother Karl, and she": both are the same

    def put(found: re.Match[str]) -> str:
        pronoun = found.group().lower()[0]
        # "Harl is her brother": he is not his own.
        another = _IS_OF.search(text, 0, found.start()) if found[3] else None
        earlier = people(Marked(text[: (another or found).start()], marked.mentions))
        named = {meant[pronoun]} if pronoun in meant else {mention.name for mention in earlier or before}
        if (
            len(named) != 1
            or _STRANGER.search(text, 0, found.start())
            or (pronoun not in meant and _SOMEWHERE.search(text, 0, found.start()))
        ):
            return found.group()
        name = meant[pronoun] = next(iter(named))
        mentions.append(Mention(name, "P", found.group()))
        sign = f"@P{len(mentions) - 1}@"
        if found[3]:
            return f"{sign}'s"
        if found[2]:
            has = re.match(_IS_HAS, text[found.end() : found.end() + 20])
            return f"{sign} has" if has else f"{sign} is"
        return sign

    return Marked(_HE.sub(put, text), tuple(mentions))


def people(marked: Marked) -> list[Mention]:
    """Return the names in a sentence that may be people."""
    numbers = re.findall(r"@[PU](\d+)@", marked.text)
    return [marked.mentions[int(number)] for number in numbers]


def antecedents(marked: Marked) -> list[Mention]:
    """Return the people a pronoun in the next sentence may mean; none if it may mean a stranger, too."""
    return [] if _STRANGER.search(marked.text) or _SOMEWHERE.search(marked.text) else people(marked)
