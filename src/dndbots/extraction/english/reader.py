"""Reads a sentence with all rules. The words around a match decide whether it counts."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.descriptions import is_look, read_description
from dndbots.extraction.english.grammar import Rule, tidy
from dndbots.extraction.english.marked_names import Lexicon, Marked, Mention
from dndbots.extraction.english.not_facts import clause_start, is_doubted, is_held
from dndbots.extraction.english.passages import QUOTE
from dndbots.extraction.english.rules.abilities import ABILITY_RULES
from dndbots.extraction.english.rules.factions import FACTION_RULES
from dndbots.extraction.english.rules.holders import HOLDER_RULES
from dndbots.extraction.english.rules.items import ITEM_RULES
from dndbots.extraction.english.rules.looks import LOOK_RULES
from dndbots.extraction.english.rules.motives import MOTIVE_RULES
from dndbots.extraction.english.rules.offices import OFFICE_RULES
from dndbots.extraction.english.rules.people import PEOPLE_RULES
from dndbots.extraction.english.rules.places import PLACE_RULES
from dndbots.extraction.english.rules.possessions import POSSESSION_RULES
from dndbots.extraction.english.rules.quests import QuestFound, find_quests
from dndbots.extraction.english.rules.relatives import LINK_RULES
from dndbots.extraction.english.rules.things import THING_RULES
from dndbots.extraction.english.rules.told_people import TOLD_RULES
from dndbots.extraction.english.rules.whereabouts import WHEREABOUTS_RULES
from dndbots.extraction.english.word_tables import KIN, MUTUAL, either, read_phrases
from dndbots.extraction.port import FIELDS, HEARSAY, LONGEST_VALUE, Kind, Turn, Update
from dndbots.text.words import fold_word

RULES: Final[tuple[Rule, ...]] = (
    *PEOPLE_RULES,
    *OFFICE_RULES,
    *LOOK_RULES,
    *MOTIVE_RULES,
    *WHEREABOUTS_RULES,
    *LINK_RULES,
    *THING_RULES,
    *HOLDER_RULES,
    *ITEM_RULES,
    *ABILITY_RULES,
    *PLACE_RULES,
    *FACTION_RULES,
    *TOLD_RULES,
    *POSSESSION_RULES,
)
# The marks and the number of names that each rule needs: most sentences lack them, and skip the rule.
_NEEDS: Final = tuple(
    (
        rule,
        tuple({f"@{letter}" for letter in re.findall(r"@\[([A-Z])\]", rule.expression)}),
        2 if "(?P<b>" in rule.expression else 1,
    )
    for rule in RULES
)
_KIND: Final[dict[str, Kind]] = {"L": "environment", "F": "faction", "I": "item"}
_SAYS: Final = re.compile(
    r"^(?:and |but |so |then )?(?:the (?:\w+ )?)?@[PU](\d+)@(?:, [^,]{1,40},)? (?:\w+ly )?"
    r"(?:says|explains|tells (?:you|us|them|@[PU]\d+@|the party)"
    r"|claims|insists|swears|warns (?:you|them)|admits|reveals|whispers|confirms|mentions|adds"
    r"|reports|confesses|said|told (?:you|us|them))(?: that)?,? (?:the |an? )?$",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(
    r"\b(?:no longer|has left the|has quit the|has abandoned the|was expelled from)\b", re.IGNORECASE
)
_OTHERS: Final = re.compile(r"(?<![\w@'])(?:you|your|i|we|us|our|me)(?![\w@'])", re.IGNORECASE)
# Passing wishes ("wants to leave") are no motives.
_PASSING: Final = re.compile(
    r"^(?:know|talk|speak|see (?:what|if|how|you|it|the)|go|leave|ask|say|do"
    r"|be\b(?! (?:free|king|queen|left|loved|remembered|an? |the ))|get|make (?:sure|a|an|the)"
    r"|come|take (?:a|the|it|this"
    r"|that|out)|look|try|hear|sit|eat|drink"
    r"|use|move|attack|buy(?! back)|sell|cast|run|walk|check|keep (?:going|moving|it|an|the"
    r"|up)|hit|shoot|put|give|turn|start|stay|play|point|pull|push|jump|climb|swing|throw|fire"
    r"|grab|let|tell|show|thank|hold|step|head|fly"
    r"|wait|rest|sleep|follow|open|close|continue|land|aim|dodge|hide|charge|pick|stand|back"
    r"|fight|work|finish|add|mention|meet|join (?:you|us|them)|figure|feel|read|examine"
    r"|inspect|wake|call|end (?:it|this|that|up|his|her)|begin|dive|strike|slash|stab|react|respond"
    r"|listen|watch)\b",
    re.IGNORECASE,
)
# Wishes of a player character that are lasting motives.
_LASTING: Final = re.compile(
    r"^(?:avenge|restore|reclaim|redeem|prove|become|free|rescue|(?:find|kill|save|protect"
    r"|bring back) (?:the (?:man|woman|one|people|person|monster|dragon) who|@P\d+@'s (?:\w+ "
    r")?"
    r"(?:father|mother|brother|sister|son|daughter|wife|husband|family|people|village|home|clan|tribe)))\b",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\b(?:until|when|after|years ago|at the age of|as a child|back then|long ago|one day)\b", re.IGNORECASE
)
_THEN: Final = re.compile(r"\b(?:when|how|after|before|since|until|because|as) $", re.IGNORECASE)
# "When Elena is queen" is not yet.
_ONCE: Final = re.compile(
    r"(?:^|[,;:] )(?:and |but )?(?:when|once|as soon as|until|till|the day) (?:the )?$", re.IGNORECASE
)
# A tag such as "says Tom" qualifies the quotation, not the words after it.
_TAG: Final = re.compile(rf"{QUOTE},? (?:[a-z]+ @[PU]\d+@|@[PU]\d+@ [a-z]+)(?=,)")
_IT: Final = re.compile(
    r"[,;:] (?:for |because |and |since |but )?(?:it|the place)(?:['\u2019]s| is) ", re.IGNORECASE
)
_QUEST_NAME: Final = re.compile(r"@Q\d+@")
_OBJECT_OF: Final = re.compile(
    r"(?<!town )(?<!city )(?<!village )(?<!kingdom )\b(?:of|in|at|from|to|with|by|for|near"
    r"|about|like|than|toward|towards|into|behind) (?:the )?$",
    re.IGNORECASE,
)
_WHOSE: Final = re.compile(r"\bwhose [a-z -]{2,30} (?:is|was) $", re.IGNORECASE)
_OWNER: Final = re.compile(r"@[A-Z]\d+@['\u2019]")
_LOOKING_BACK: Final = re.compile(r"\b(?:was|were|died|vanished|disappeared|perished)\b", re.IGNORECASE)
_COPULA: Final = re.compile(r"(?:\bis|\bare|['\u2019]s) ", re.IGNORECASE)
_BUT: Final = re.compile(r"\b(?:but|until|escaped|recovered|healed|freed)\b", re.IGNORECASE)
# Words that do not weaken firm rules: nobody gets past Tom, the potter; you'd know him by his hat.
_NOBODY: Final = re.compile(r"\b(?:nobody|no one|asks?|remembers?)\b", re.IGNORECASE)
_FIRM: Final = re.compile(
    r"\b(?:seems|appears|could|like|'d|would|will|'ll|can't|cannot|may)\b|['\u2019](?:d|ll)\b", re.IGNORECASE
)
_OF_QUESTS: Final = Rule("goal", "", past=True)
_WILL: Final = re.compile(r" that \S+ will ", re.IGNORECASE)
_APPOSED: Final = re.compile(r"^@[A-Z]\d+@,? (?:the|an?|our|who|which)\b", re.IGNORECASE)
_ASIDE: Final = re.compile(
    r", (?:it turns out|in truth|in fact|of course|after all|however|meanwhile|it seems "
    r"clear),|(?<=@), (?:with|after|without|having|grinning|smiling|still) [^,;:.@]{2,40},(?= )",
    re.IGNORECASE,
)
_OF_SOMEWHERE: Final = re.compile(r"(@P\d+@) of (?:the )?@[A-Z]\d+@(?!['\u2019])")
_APPOSITION: Final = re.compile(
    r"(@[A-Z]\d+@)(?:, (?:the|an?|our|who is|who's) [^,;:.!?@]{2,60}(?:@[A-Z]\d+@)?(?:'s "
    r"\w+)?,(?= )|, (?:the|an?) [a-z -]{3,40}(?= who )"
    rf"|, {either(KIN)} (?:of|to) @[A-Z]\d+@,(?= )"
    rf"|, whose {either(KIN)} (?:is|was) @[A-Z]\d+@,(?= )| the [a-z-]+(?= (?:waits|can be|is|lives"
    r"|wants|has|was|stands|works|serves"
    r"|fears|asks)\b))"
)
# "I'm a baker", and nothing more; "I'm a god" is a boast.
_PLAIN_TRADE: Final = re.compile(r"^@P\d+@ is an? [a-z-]+(?: [a-z-]+)?$")
_BOASTS: Final = frozenset(read_phrases("boasts"))
_LASTS: Final = re.compile(r"(?:allergic|retired|widowed|divorced|engaged|pregnant)\b")
# "He is past seventy and has been blind": the second half is of the same one.
_SAME_SUBJECT: Final = re.compile(
    r"^(@[PU]\d+@)( (?:is|has|lives|works|comes|wears|[a-z]{2,15}s)\b[^@,;:]{2,80}),? and "
    r"(?=(?:is|has|lives|dwells|works|comes from|wears|carries|wants|fears|hates|owns|runs|keeps|serves) )",
    re.IGNORECASE,
)
# Fields that players mostly use for the moment when they speak of their own character.
_NOT_OF_ONESELF: Final = frozenset(["status", "ability", "description", "attitude", "place", "age", "item"])
_VALUED: Final = frozenset(["wants", "promise", "fears", "power", "description", "known_for", "attitude"])
_VAGUE: Final = re.compile(
    r"\b(?:this|that|these|those|it|them|something|stuff|things?|here|there|everything"
    r"|anything|nothing|(?:any|some|no|a|own) way|bit|other|worst)\b",
    re.IGNORECASE,
)


class SentenceContext(NamedTuple):
    """The context of a sentence. `rumor` is the position where a rumor begins in it, or 0.

    An `unattributed` sentence is quoted of somebody unknown: all that it states is a rumor.
    """

    turn: Turn
    lexicon: Lexicon
    said_by: str | None
    rumor: int
    unattributed: bool = False


class _Finding(NamedTuple):
    """A value that a rule found for a field of a name."""

    mention: Mention
    field: str
    value: str
    kind: Kind


def read_sentence(marked: Marked, context: SentenceContext) -> Iterator[Update]:
    """Yield all facts that the rules find in a sentence and its own words do not doubt."""
    variants = dict.fromkeys(
        [
            marked.text,
            (short := _OF_SOMEWHERE.sub(r"\1", _ASIDE.sub("", marked.text))),
            _APPOSITION.sub(r"\1", short),
            _with_place_named(marked.text),
            _SAME_SUBJECT.sub(r"\1\2 ; \1 ", marked.text),
        ]
    )
    for text in variants:
        yield from _read(Marked(text, marked.mentions), context)


def _with_place_named(text: str) -> str:
    """Return the sentence with "it" replaced by its place: nobody goes to Conyberry, it's abandoned."""
    it = _IT.search(text)
    places = set(re.findall(r"@L\d+@", text[: it.start()])) if it else set()
    return f"{text[: it.start()]} ; {places.pop()} is {text[it.end() :]}" if it and len(places) == 1 else text


def _read(marked: Marked, context: SentenceContext) -> Iterator[Update]:
    names = marked.text.count("@") // 2
    told = bool(context.said_by) or not (context.turn.role == "pc" or context.unattributed)
    for rule, marks, number in _NEEDS if names else ():
        if names < number or any(mark not in marked.text for mark in marks) or (rule.narrated and not told):
            continue
        for match in rule.pattern.finditer(marked.text):
            # A value has its own check: the "before" in "vows to return before dawn" is no doubt.
            standing = _standing(marked, match.start(), _end_of_statement(rule, match), context, rule=rule)
            if standing is None or _is_embedded(marked.text, match) or _is_undone(rule, match):
                continue
            for finding in _findings(rule, match, marked):
                if not _is_of_the_moment(finding, match, context):
                    yield from _updates(finding, context, standing)
    if not context.unattributed:
        yield from _read_quests(marked, context)


def _read_quests(marked: Marked, context: SentenceContext) -> Iterator[Update]:
    # The name of a known quest is read as plain words.
    unmarked = Marked(_QUEST_NAME.sub(lambda name: marked.plain(name.group()), marked.text), marked.mentions)
    spoken = bool(context.said_by) or context.turn.role == "npc"
    for quest in find_quests(unmarked, spoken=spoken):
        # In a request, "will" and "if" are no doubt.
        end = quest.start if quest.firm else quest.end
        standing = _standing(unmarked, quest.start, end, context, rule=_OF_QUESTS)
        if standing is not None and (context.turn.role != "pc" or context.said_by):
            yield from _quest_updates(quest, unmarked, context, standing)


def _end_of_statement(rule: Rule, match: re.Match[str]) -> int:
    """Return where the stating words end. The value after them may contain words of doubt."""
    parts = match.groupdict()
    if rule.field in _VALUED:
        return match.start("w" if parts.get("w") else "v") or match.start()
    return match.start("tail") if parts.get("tail") else match.end()


def _is_embedded(text: str, match: re.Match[str]) -> bool:
    """Return whether the first name is not the subject: "the father of Elena wants"."""
    if text[match.start()] != "@" or _OWNER.match(match.group()):
        return False
    before = text[: match.start()]
    return (
        before.endswith("@ of ")
        or bool(_WHOSE.search(before))
        or bool(_OBJECT_OF.search(before) and not _APPOSED.match(match.group()))
    )


def _is_undone(rule: Rule, match: re.Match[str]) -> bool:
    """Return whether the sentence takes the fact back: "was captured, but has escaped"."""
    return rule.field == "status" and bool(_BUT.search(match.string, match.end()))


class _Standing(NamedTuple):
    """The way a match counts: on whose word, as a rumor, or as a fact that ended."""

    said_by: str | None
    rumor: bool
    ended: bool


def _standing(
    marked: Marked, start: int, end: int, context: SentenceContext, *, rule: Rule
) -> _Standing | None:
    """Return how a match counts; None if the sentence does not state it as a fact."""
    before = marked.text[max(context.rumor, marked.text.rfind(";", 0, start) + 1) : start]
    # A "but" ends a report: "nobody told you, but Tom is dead".
    before = before[before.rfind(", but ") + 1 :]
    said_by = context.said_by
    reported = _SAYS.match(before)
    if reported:
        said_by = marked.mentions[int(reported[1])].name
        before = before[reported.end() :]
    doubted = _TAG.sub("", before)
    if is_held(_NOBODY.sub("", doubted) if rule.firm else doubted) or _ONCE.search(before):
        return None
    if rule.past and (
        _THEN.search(before) or (context.turn.role == "pc" and not said_by and _AFTER.search(before))
    ):
        return None
    clause = marked.text[max(context.rumor, clause_start(marked.text, start)) : end]
    if reported:
        clause = marked.text[start:end]
    ended = rule.over or bool(_ENDED.search(clause))
    if rule.firm:
        clause = _FIRM.sub("", marked.text[start:end])
    if is_doubted(_WILL.sub(" ", _ENDED.sub("", clause))):
        return None
    return _Standing(said_by, bool(context.rumor) or context.unattributed, ended)


def _findings(rule: Rule, match: re.Match[str], marked: Marked) -> Iterator[_Finding]:
    parts = match.groupdict()
    mention = marked.mentions[int(parts["a"])]
    kind = _kind(mention, rule.kind)
    if "np" in parts:
        for part in read_description(parts["np"], parts.get("tail") or ""):
            if part.number is None:
                yield _Finding(mention, part.field, marked.plain(part.value), kind)
            elif part.of_number:
                other = marked.mentions[part.number]
                yield _Finding(
                    other,
                    part.field,
                    mention.name,
                    _kind(other, "faction" if part.field == "leader" else "environment"),
                )
            else:
                yield _Finding(mention, part.field, marked.mentions[part.number].name, kind)
        return
    kin = fold_word(parts.get("kin") or "")
    field = KIN.get(kin) or MUTUAL.get(kin) or rule.field
    if parts.get("b"):
        other = marked.mentions[int(parts["b"])]
        yield _Finding(mention, field, other.name, kind)
        if rule.field == "kins":
            yield _Finding(other, field, mention.name, _kind(other, "npc"))
        return
    value = tidy(parts["w"], whole=True) if parts.get("w") else tidy(parts["v"], timed=field == "promise")
    if value and _lasts(field, value, firm=rule.firm):
        yield _Finding(mention, field, marked.plain(value), kind)


def _is_of_the_moment(finding: _Finding, match: re.Match[str], context: SentenceContext) -> bool:
    """Return whether a player's words are about the moment, or a joke, and not worth a record."""
    if finding.field == "friend" and ", " in match.group():
        return True  # "Sorry, my friend, Balgus" calls Balgus
    if context.turn.role != "pc" or context.said_by:
        return False
    parts = match.groupdict()
    if fold_word(finding.mention.name) == fold_word(context.turn.speaker):
        if "np" in parts:
            kinds = {part.field for part in read_description(parts["np"], parts.get("tail") or "")}
            full = {"race", "role"} <= kinds or "home" in kinds or parts.get("tail")
            return not full and not (kinds == {"role"} and _is_trade(match))
        if finding.field == "wants":
            return not parts.get("w") and not _LASTING.match(tidy(parts["v"]))
        # A player who calls the own character by name says what the character is, not what happens.
        by_name = finding.field == "ability" and finding.mention.written == finding.mention.name
        is_stated = by_name or (finding.field == "age" and finding.value[:1].isalpha())
        is_stated = is_stated or bool(finding.field == "status" and _LASTS.match(finding.value))
        is_stated = is_stated or (finding.field == "item" and " carr" in match.group())
        return finding.field in _NOT_OF_ONESELF and not is_stated
    # A player who looks back says what was, not what is.
    is_past = finding.field == "status" and finding.kind == "npc" and _LOOKING_BACK.search(match.group())
    return bool(is_past) or ("np" in parts and is_punch_line(match))


def _is_trade(match: re.Match[str]) -> bool:
    """Return whether a player says no more of the own character than a trade: "I'm a baker"."""
    return bool(_PLAIN_TRADE.search(match.group())) and fold_word(match["np"]) not in _BOASTS


def is_punch_line(match: re.Match[str]) -> bool:
    """Return whether the sentence is only a name and a role, without a verb: a joke, as players make it."""
    alone = match.start() == 0 and not match.string[match.end() :].strip(" .!")
    if is_look(match.groupdict().get("tail") or ""):
        return False
    return alone and not _COPULA.search(match.group())


def _kind(mention: Mention, default: Kind) -> Kind:
    return (
        default
        if default == "ability"
        else _KIND.get(mention.letter, "npc" if mention.letter == "P" else default)
    )


def _lasts(field: str, value: str, *, firm: bool) -> bool:
    """Return whether the value says something that lasts beyond the moment."""
    # A power may speak of the thing as "it": "drinks the blood it spills".
    vague = value.replace(" it ", " ") if field == "power" else value
    if field in ("wants", "promise", "fears", "ability", "power") and _VAGUE.search(vague):
        return False
    if field == "wants" and not firm and _PASSING.match(value):
        return False
    if field == "promise" and value.startswith(("be ", "do ", "try ")):
        return False
    return not _OTHERS.search(value)


def _updates(finding: _Finding, context: SentenceContext, standing: _Standing) -> Iterator[Update]:
    kind = finding.kind
    name = finding.mention.name
    # What a stranger says of a player's character, or of a thing, proves nothing.
    if context.unattributed and (kind not in HEARSAY or _category(finding.mention, context) == "PC"):
        return
    if kind == "npc" and _category(finding.mention, context) == "PC":
        kind = "character"
    value = finding.value.removeprefix("cast ") if finding.field == "ability" else finding.value
    if not _fits(name, value) or fold_word(value) == fold_word(name) or finding.field not in FIELDS[kind]:
        return
    yield Update(
        kind=kind,
        name=name,
        field=finding.field,
        value=value,
        turn=context.turn.id,
        said_by=standing.said_by,
        sure="rumor" if standing.rumor else "fact",
        ended=standing.ended,
    )


def _fits(name: str, value: str) -> bool:
    return 0 < len(name) <= LONGEST_VALUE and 0 < len(value) <= LONGEST_VALUE


def _category(mention: Mention, context: SentenceContext) -> str:
    """Return the category that the campaign has for a name. The speaker of a player's turn is a PC."""
    turn = context.turn
    if turn.role == "pc" and fold_word(mention.name) == fold_word(turn.speaker):
        return "PC"
    return context.lexicon.category_of(mention.name)


def _quest_updates(
    quest: QuestFound, marked: Marked, context: SentenceContext, standing: _Standing
) -> Iterator[Update]:
    links = (("giver", quest.giver), ("place", quest.place))
    values = [(field, marked.mentions[number].name) for field, number in links if number is not None]
    asks = standing.said_by or (context.turn.speaker if context.turn.role == "npc" else "")
    if quest.asked and quest.giver is None:
        values.append(("giver", asks))
    values += [("goal", quest.goal), ("reward", quest.reward), ("deadline", quest.deadline)]
    for field, value in values:
        if _fits(quest.name, value):
            yield Update(
                kind="quest",
                name=quest.name,
                field=field,
                value=value,
                turn=context.turn.id,
                said_by=standing.said_by,
                sure="rumor" if standing.rumor else "fact",
            )
