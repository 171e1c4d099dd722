"""Guards on the answers of models: no echo, no engine talk, nobody else's words and deeds, plain prose.

`filter_answer` has cut other speakers and false memory before. What is left is looked at sentence by
sentence; quoted speech stays whole. What a guard cut is counted by its kind.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

from dndbots import prompts
from dndbots.game.dm.tools import TOOLS
from dndbots.game.models.echoes import EchoFilter
from dndbots.game.models.first_person import first_form, split_units, turn_to_first_person
from dndbots.game.models.scene_text import REQUESTS
from dndbots.text.words import content_stems, words_of

log = logging.getLogger("dndbots.game.guards")

ECHO: Final = "echo"
ENGINE: Final = "engine"
PERSON: Final = "person"
OTHERS: Final = "others"
MARKUP: Final = "markup"
UNFINISHED: Final = "unfinished"

# A shorter answer was not cut off: models forget the last full stop.
_LONG: Final = 100
_ENDS: Final = (".", "!", "?", "\u2026", '"', "\u201d", ")", "'", "\u2019")

_PARAGRAPHS: Final = re.compile(r"\n\s*\n")
# Markup of chats and documents, and the marks of lists.
_EMPHASIS: Final = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_LIST_MARK: Final = re.compile(
    r"^[ \t]*(?:[-*+>\u2022\u2013\u2014]+|\(?\d{1,2}[.)]|\(?[a-zA-Z]\))[ \t]+(?=\S)", re.MULTILINE
)
_RULE: Final = re.compile(r"^[ \t]*(?:[-*_=]{3,}|\|.*\|)[ \t]*$", re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,80})\]\([^)\n]{0,200}\)")
_ASIDE: Final = re.compile(
    r"[\[({](?:ooc|note|meta|thinking|thought|aside|system|dm|gm|roll)\b[^\])}]{0,400}[\])}]", re.IGNORECASE
)
# A quotation between single marks, which begins and ends as speech does; an apostrophe is none.
_SINGLE: Final = re.compile(r"(?<![\w'])'(?=[A-Z])([^\"\n]{1,600}?[.,!?\u2026])'(?!\w)")
_TAG: Final = re.compile(r"</?[a-z][\w-]{0,30}(?:\s[^<>\n]{0,80})?/?>", re.IGNORECASE)

_ABILITIES: Final = "strength|dexterity|constitution|intelligence|wisdom|charisma"
# Words of the engine, of its tools and errors, and of prompts. None of them belongs into a story.
_ENGINE_TALK: Final = re.compile(
    "|".join(
        (
            # Errors of forms, and results of tools.
            r"\bfield required\b|\binput should be\b|\bvalidation error|\bextra inputs?\b|\bvalue error\b",
            r"^\W*no record\b|\bnot possible:|^\W*nothing is known of\b|\bis not a name\b|\bthey said it\b",
            r"\btold to them already\b|\bdo not repeat (?:them|it|yourself)\b",
            r"\bonly they heard it\b|^\W*it is done\.?\W*$|\bthe rules play it\b|\bround \d+\b",
            r"\bthere is no ['\u2018\"][^'\u2019\"\n]{1,80}['\u2019\"] here\b|; say which one\b",
            r"\bno such tool\b|\bnobody in this scene\b|\bwas not looked at\b",
            r"\bare at [\w' ]{1,60} now\.?\W*$",
            # Dice and figures of sheets.
            r"\b\d*d(?:4|6|8|10|12|20|100)\b|\bagainst \d+|\bdc ?\d+|\b\d+/\d+\b|\bsaving throws?\b",
            r"\b(?:hit points?|hp|armou?r class|experience points?|xp|ac)\b(?=[\s:]*[-+]?\d)",
            r"\b\d+ ?(?:hp|xp|hit points?)\b",
            rf"\b(?:ability|skill|perception|{_ABILITIES}) (?:checks?|rolls?|tests?|scores?)\b",
            rf"\btries (?:{_ABILITIES})\b",
            rf"\b(?:succeed|fail)(?:s|ed)? (?:at|on|against|in|with) (?:\w+ ){{0,2}}(?:{_ABILITIES})\b",
            r"^\W*(?:[\w'\u2019-]{1,20} ){1,4}(?:succeed|fail)(?:s|ed)?\W*$",
            r"\bdice (?:come|came|turn(?:ed)?) up\b|\bdice (?:show|read|say)s? \d",
            r"\broll(?:s|ed|ing)? (?:a|an|for|the dic?e|your|\d)",
            # Tools, prompts and the chat itself.
            r"\bwhat happens now, for you to tell\b|\bsince your last word\b|\bnot decided yet\b",
            r"\b(?:would|will) tell of (?:[\w' ]{1,40}, ){1,8}\w|\bkeeps back, for want of\b",
            r"\b(?:tool|function) calls?\b|\bcalls? (?:the )?`?act`?\b|\bjson\b|\bschema\b|\bplaceholder\b",
            r"\b(?:system|user) (?:prompt|message)\b|\bthe prompt\b|\blanguage model\b",
            r"\bas an? (?:ai|assistant)\b|\b(?:my|your|the|these) instructions\b",
            r"\bthe (?:adventure|scenario|module)['\u2019]s (?:own )?(?:text|file)\b",
            r"\b(?:npcs?|pcs?)\b|\bplayer['\u2019]?s? characters?\b|\b(?:dungeon|game) master\b",
            r"\bthe dm\b|\bd&d\b|\bother players?\b|\bthis is a game\b|\bpart of the game\b|\bplay as\b",
            r"\b[a-z]+_[a-z_]+\b|\bnull\b|\bundefined\b|[{}]|\btrue\W*$|\bfalse\W*$|\boptions?:\W*$",
            r"\b(?:verb|target|what|words|who|looks|kind|gist|npc|place|way)[\"']? ?[:=] ?[\"']",
            r"[\"'](?:name|arguments|parameters|function|tool|text)[\"'] ?:",
            r"^\W*(?:sure|certainly|of course|okay)[,!:]? (?:here|let me|i (?:can|will|'ll))",
            r"^\W*here(?:'s| is| are) (?:the|a|my|your) (?:next|response|answer|scene|narration|turn|action)",
            r"\bwhat (?:would|do) you (?:like |want )?to do(?: next)?\?\W*$|\bwhat do you do(?: next)?\?\W*$",
        )
    ),
    re.IGNORECASE,
)
# Names of tools in plain words ("move scene"). Those that are plain English ("look up") may be said.
_ENGLISH: Final = frozenset(
    ("look_up", "speak_as", "take_away", "spend_time", "reveal_secret", "end_scene", "find_loot")
)
_TOOL_NAMES: Final = [tool.name for tool in TOOLS if "_" in tool.name and tool.name not in _ENGLISH]
_TOOL_WORDS: Final = re.compile(
    rf"\b(?:{'|'.join(_TOOL_NAMES).replace('_', ' ')})\b"
    r"|\b(?:call|command|tool|scene|action) (?:has |was |is )?(?:failed|rejected|invalid)\b",
    re.IGNORECASE,
)
# A heading of a prompt or of a list of choices: "WAYS:", "YOU CAN:".
_CAPITALS: Final = re.compile(
    r"^\W*[A-Z][A-Z'\u2019 ]{2,40}:|^\W*(?:Here|Options|Choices|Actions?|Response|Narration|Note)s?:"
)

# What somebody decides to do, say or think. The one who plays them says so, and nobody else.
_DECIDES: Final = """
    accept agree announce answer approach ask attack begin believe cast charge choose continue decide
    declare draw examine exclaim explain follow grab grin head inspect introduce investigate laugh lead look
    move mutter nod offer open pick point promise propose raise reach refuse reply respond run say search
    shout shrug sigh smile start step suggest swing take thank think try turn walk want whisper wonder
"""
_DECIDING: Final = frozenset(_DECIDES.split())
# What somebody looks for or tries, and then what came of it, which is not the player's to say.
_TRIES: Final = (
    "check examine feel force inspect investigate listen look open peer pull push read scan search study try"
)
_FINDS: Final = "discover find found hear learn notice realise realize saw see spot"
_RESULT: Final = re.compile(
    rf"(?<![^\s\"])(I (?:\w{{1,20}}ly )?(?:{'|'.join(_TRIES.split())})\b[^.!?,;\"\n]{{0,120}}?)"
    rf",? (?:and|but) (?:I |then ){{0,2}}(?:can(?:'t|not) )?(?:{'|'.join(_FINDS.split())})\b"
    r"[^.!?\"\n]{0,300}[.!]?"
)
_SAID_BY: Final = re.compile(
    r"[\"\u201d][,.]?\s+(?:said|says|asks?|asked|replies|replied|answers|answered|whispers|shouts|adds)\s+(\w+)"
)


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """Words that may be told, and how many sentences each guard cut or changed."""

    words: str
    cuts: Mapping[str, int] = field(default_factory=dict)


def guard_dm(
    words: str, *, earlier: Iterable[str], heroes: Mapping[str, str], prompt: str = ""
) -> GuardedAnswer:
    """Return a DM's telling. `heroes` maps the names of the characters to what they lately did and said.

    `earlier` are texts that were told; nothing may stand in an answer as it does in the `prompt`.
    """
    told = EchoFilter(earlier)
    return _guard(words, told, prompt, lambda sentence: _decides_for(sentence, heroes), short=told)


def guard_npc(
    words: str, *, earlier: Iterable[str], others: Collection[str], prompt: str = ""
) -> GuardedAnswer:
    """Return an NPC's line. `others` are the names of all others who are there."""
    told, nobody = EchoFilter(earlier), dict.fromkeys(others, "")
    return _guard(words, told, prompt, lambda sentence: _acts_for(sentence, nobody), short=told)


def guard_player(
    words: str,
    *,
    earlier: Iterable[str],
    own: Sequence[str],
    others: Collection[str],
    prompt: str = "",
    said: Iterable[str] = (),
) -> GuardedAnswer:
    """Return a player's words: in the first person, and only of what its own character says and does.

    What it `said` itself of late is not said again, however short it is.
    """
    plain, marked = clean_markup(words)
    turned = turn_to_first_person(plain, own)
    nobody = dict.fromkeys(others, "")
    names = {tuple(words_of(name)) for name in own}
    tried = _RESULT.sub(r"\1.", turned)

    def is_anothers(sentence: str) -> bool:
        return _acts_for(sentence, nobody) or is_greeting(sentence, names)

    guarded = _guard(tried, EchoFilter(earlier), prompt, is_anothers, short=EchoFilter(said))
    cuts = Counter(guarded.cuts)
    cuts[OTHERS] += tried != turned
    cuts[MARKUP] += marked
    cuts[PERSON] += turned != plain
    return GuardedAnswer(guarded.words, {kind: number for kind, number in cuts.items() if number})


def clean_markup(text: str) -> tuple[str, int]:
    """Return a text without markup, list marks, asides and tags, and how often such marks were cut."""
    count = 0

    def cut(pattern: re.Pattern[str], by: str, text: str) -> str:
        nonlocal count
        text, number = pattern.subn(by, text)
        count += number
        return text

    for pattern, by in ((_RULE, ""), (_LINK, r"\1"), (_ASIDE, ""), (_TAG, ""), (_LIST_MARK, "")):
        text = cut(pattern, by, text)
    while (plain := cut(_EMPHASIS, r"\2", text)) != text:
        text = plain
    return _SINGLE.sub(r'"\1"', text).strip(), count


def whole_sentences(text: str) -> str:
    """Return an answer that was stopped without its begun sentence; a begun one alone shows that it was."""
    units = list(split_units(text))
    if not units or units[-1].rstrip().endswith(_ENDS):
        return text
    return " ".join(units[:-1]) if len(units) > 1 else f"{text.rstrip(' ,;:')}\u2026"


def is_engine_talk(sentence: str) -> bool:
    """Check for a sentence with words of the engine, of tools, errors or prompts in it."""
    patterns = (_ENGINE_TALK, _TOOL_WORDS, _CAPITALS)
    return any(pattern.search(sentence) for pattern in patterns) or _instructions().has(sentence)


@lru_cache(maxsize=8)
def _written(prompt: str) -> EchoFilter:
    return EchoFilter(prompt.split("\n"), verbatim=True)


def _guard(
    words: str, told: EchoFilter, prompt: str, is_anothers: Callable[[str], bool], *, short: EchoFilter
) -> GuardedAnswer:
    text, marked = clean_markup(words)
    cuts: Counter[str] = Counter({MARKUP: marked})
    own = EchoFilter()
    paragraphs = []
    for paragraph in _PARAGRAPHS.split(text):
        kept = []
        for unit in split_units(paragraph):
            sentence = _LIST_MARK.sub("", unit)
            again = told.has(sentence) or own.has(sentence) or own.has_exactly(sentence)
            kind = (
                ENGINE
                if is_engine_talk(sentence) or _written(prompt).has(sentence)
                else ECHO
                if again or short.has_short(sentence)
                else OTHERS
                if is_anothers(sentence)
                else None
            )
            if kind is None:
                own.add(sentence)
                kept.append(sentence)
            else:
                cuts[kind] += 1
                log.debug("cut (%s): %s", kind, sentence)
        whole = _close_quotation(_TORN_MARK.sub("", " ".join(kept)).strip())
        if _HAS_WORD.search(whole):
            paragraphs.append(whole)
    if len(text) > _LONG and _drop_unfinished(paragraphs, alone=cuts.total() == marked):
        cuts[UNFINISHED] += 1
    return GuardedAnswer("\n\n".join(paragraphs), {kind: number for kind, number in cuts.items() if number})


# A quotation mark that stands by itself: what it quoted was cut.
_TORN_MARK: Final = re.compile(
    r"(?<=\s)['\"\u2018\u201c]$|^['\"\u2019\u201d](?:\s|$)|(?<=\s)['\"\u2018\u2019\u201c\u201d]\s"
)
_HAS_WORD: Final = re.compile(r"\w")
_OPEN_QUOTATION: Final = re.compile(r'(?:^|\s)"\w[^"]*$')
_HAILS: Final = frozenset(("ah", "good", "hail", "hello", "hey", "hi", "oh", "well", "yes"))


def _close_quotation(text: str) -> str:
    """Add the mark that ends the last quotation, if there is none."""
    return f'{text}"' if text.count('"') % 2 and _OPEN_QUOTATION.search(text) else text


def is_greeting(sentence: str, names: Collection[tuple[str, ...]]) -> bool:
    """Check for a sentence that only calls somebody by one of the names: nobody hails oneself."""
    words = tuple(word for word in words_of(sentence) if word not in _HAILS)
    return words in names


def _drop_unfinished(paragraphs: list[str], *, alone: bool) -> bool:
    """Drop a last sentence that has no end: the answer was cut off in its middle.

    If the answer was that sentence `alone`, it stays.
    """
    sentences = list(split_units(paragraphs[-1])) if paragraphs else []
    if not sentences or sentences[-1].rstrip().endswith(_ENDS):
        return False
    if alone and len(paragraphs) + len(sentences) == 2:
        return False
    kept = " ".join(sentences[:-1])
    paragraphs[-1:] = [kept] if kept else []
    return True


def _decides_for(sentence: str, heroes: Mapping[str, str]) -> bool:
    """Check for a deed, words or thoughts of a hero that its player did not give it."""
    spoken = _SAID_BY.search(sentence)
    names = {part.casefold(): did for name, did in heroes.items() for part in (name, name.split()[0])}
    if spoken is not None and spoken[1].casefold() in (*names, "you"):
        return True
    return _acts_for(sentence, heroes) or (_begins_with_deed(sentence, "you") and '"' in sentence)


def _acts_for(sentence: str, people: Mapping[str, str]) -> bool:
    """Check for a sentence about a deed of one of these people that is not among what they did."""
    for name, did in people.items():
        for called in dict.fromkeys((name, name.split()[0])):
            if _begins_with_deed(sentence, called):
                done, now = {*content_stems(did)}, {*content_stems(sentence)} - {*content_stems(name)}
                return not done & now
    return False


def _begins_with_deed(sentence: str, name: str) -> bool:
    """Check for a sentence that begins with a name and a verb of deciding: "Throk slowly draws"."""
    text = sentence.lstrip("\"“'*- ")
    if not text.casefold().startswith(f"{name.casefold()} "):
        return False
    after = re.findall(r"[\w'\u2019]+", text[len(name) :].casefold())[:3]
    return any(first_form(word) in _DECIDING for word in after)


@cache
def _instructions() -> EchoFilter:
    """Return the sentences of our own prompts: a model that says them repeats its instructions."""
    texts = (
        prompts.DM_PRINCIPLES,
        prompts.DM_TOOLS,
        prompts.PLAYER_PRINCIPLES,
        prompts.NPC_PRINCIPLES,
        prompts.RULES_SHORTHAND,
        prompts.CONTEXT_GUIDE,
        prompts.DCML_GUIDE,
        *REQUESTS,
    )
    return EchoFilter(texts)
