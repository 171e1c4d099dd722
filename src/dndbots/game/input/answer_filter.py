"""Filter a model's answer so that only its own speech is left.

A model may answer in another speaker's voice, write lines that look like memory, name ids, or leave marks of
a chat format. All of that is cut here, and the cuts are reported as faults. An empty rest is no answer. The
filter does not decide who may know what: that happens before a model is asked.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from dndbots.game.acts import LONGEST_WORDS
from dndbots.ids import fold_name, is_hidden

# Far more than anybody says in a turn. The rest is not even read.
_LONGEST_LOOKED_AT: Final = 24_000
_MOST_PASSES: Final = 6
_LONGEST_REFUSAL: Final = 600
# In real speech at most a tenth is neither letters nor blanks.
_SHORTEST_NOISE: Final = 24
_MOST_SIGNS: Final = 0.3

# Speakers of a chat who are no characters. No character's line begins with one of them.
_OF_THE_DM: Final = frozenset(("dm", "gm", "narrator", "dungeon master", "game master", "dungeon_master"))
_SENDERS: Final = _OF_THE_DM | {"system", "system prompt", "system message", "developer", "user", "human"}
_ROLES: Final = _SENDERS | {"assistant", "ai", "bot", "model", "tool", "function", "referee", "player"}

_ENDLESS: Final = re.compile(r"[!-~]{120,}")
_FENCE: Final = re.compile(r"^\s*+(?:```|~~~)\s*+[\w+-]*+\s*+$")
_CHAT_MARK: Final = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\||\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|user|tool|think|s)>",
    re.IGNORECASE,
)
_TURN_MARK: Final = re.compile(r"<\|(?:im_start|start_header_id)\|>[ \t]*(\w+)", re.IGNORECASE)
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}+\s*+(.*)$")
# Headings of prompts and memory documents.
_MEMORY: Final = re.compile(
    r"^\W*(?:MEMOR(?:Y|IES)\b|MEMORY_|LEXICON\b|EVENTS?\b|STATIC_|RELATIONS\b|FACTS\b|THEN\b|KEPT\b|NOW\b|HERE\b"
    r"|ASKED\b|IDENTITY\b|QUESTS\b|KNOWN\b|SYSTEM\b|BASIC RULES\b|HOW TO (?:PLAY|RUN|SPEAK)|SCENARIO\b"
    r"|YOUR (?:CHARACTER|MEMORY)\b|THE PARTY\b|INSTRUCTIONS?\b|STORY SO FAR"
    r"|WHAT YOU REMEMBER|RECENT EVENTS|PLACE AND PEOPLE|PLAYER KNOWLEDGE"
    r"|(?:RECENT LOCATION|NPC|WORLD) MEMORY)",
    re.IGNORECASE,
)
# A line of a memory document: an entity, an event, a property.
_STATED: Final = re.compile(
    r"\[(?:PC|NPC|MON|LOC|FAC|ITEM|QST|EVT):|^\W*(?:EVT|PC|NPC|MON|LOC|FAC|ITEM|QST):\S|\w::\w+\s*->|MEMORY_\w",
    re.IGNORECASE,
)
UID: Final = re.compile(r"(?<![^\W_])(?:pc|npc|mon|loc|fac|item|qst|evt)_\w+", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"^[\W_]*+([^\W\d_][\w .'\u2019-]{0,60}?)[\s*_)\]]*+(?:\([^()\n]{0,40}\))?[*_]*+\s*+:[*_]*+\s*+"
)
# Words between a name and its colon that make it a speaker's label. "Throk is right: we go" is no label: it
# only mentions Throk.
_SPEAKS: Final = re.compile(
    r"(?:the \w+|note|message|prompt|turn|narration|response|voice|to \w+"
    r"|(?:says?|said|adds?|asks?|asked|answers?|answered|replies|replied|whispers?|whispered|mutters?|shouts?"
    r"|shouted|yells?|calls?|called|cries|speaks?|narrates?|thinks?|continues)(?: \w+){0,2})"
)
_ARTICLES: Final = frozenset(("the", "a", "an"))
_INLINE: Final = re.compile(
    r"\b(?:SYSTEM|ASSISTANT|USER|DEVELOPER|DM|GM|NARRATOR)(?: (?:PROMPT|MESSAGE))?\s*:"
)
_REFUSAL: Final = re.compile(
    r"^\W*+(?:(?:i['\u2019]?m sorry|i am sorry|sorry|unfortunately|i apologi[sz]e)[\s,.!]*+)?(?:but )?"
    r"(?:as an? (?:ai|artificial|language|large)\b"
    r"|i (?:can(?:no|['\u2019])?t|am unable to|['\u2019]?m unable to|am not able to|won['\u2019]t) "
    r"(?:assist|help with|continue with|comply|fulfil|participate|provide|generate|create content|engage))",
    re.IGNORECASE,
)
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_GAPS: Final = re.compile(r"\n{3,}")
_QUOTES: Final = {'"': '"', "“": "”", "'": "'", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class FilteredAnswer:
    """Words that may be said, and the faults that were cut from them."""

    words: str
    faults: tuple[str, ...] = ()


def filter_answer(
    said: str,
    *,
    own: Collection[str],
    others: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    longest: int = LONGEST_WORDS,
) -> FilteredAnswer:
    """Return the words of a speaker with `own` names, without the voices of `others`.

    `names` maps ids to the names that the speaker knows. An id becomes its name, or is cut. The filter runs
    until nothing changes any more, because a cut may join two halves of a mark.
    """
    work = _AnswerFilter(own, others, names or {}, longest)
    words = work.shorten(said)
    for _ in range(_MOST_PASSES):
        before, words = words, work.filter_once(words)
        if words == before:
            return FilteredAnswer(words, tuple(work.faults))
    work.fault("words that do not come clean")
    return FilteredAnswer("", tuple(work.faults))


class _AnswerFilter:
    """The passes over one answer, and the faults found so far."""

    def __init__(
        self, own: Collection[str], others: Collection[str], names: Mapping[str, str], longest: int
    ) -> None:
        self._own = frozenset(map(fold_name, own))
        roles = _ROLES if self._own.isdisjoint(_OF_THE_DM) else _ROLES - _OF_THE_DM
        first = {name.split()[0] for name in others if name[:1].isupper() and " " in name}
        named = frozenset(map(fold_name, (*others, *first))) - _ARTICLES
        self._others = (named | roles) - self._own
        self._names, self._longest = names, longest
        self.faults: dict[str, None] = {}

    def fault(self, what: str) -> None:
        self.faults.setdefault(what)

    def shorten(self, said: str) -> str:
        if len(said) > self._longest:
            self.fault(f"{len(said):,} characters, of which {self._longest:,} were kept at most")
        return said[:_LONGEST_LOOKED_AT]

    def filter_once(self, text: str) -> str:
        text = self._plain(text)
        if self._is_no_speech(text):
            return ""
        text = "\n".join(self._lines(text.split("\n")))
        text = self._without_ids(text)
        text = _GAPS.sub("\n\n", _BLANKS.sub(" ", text)).strip()
        return self._capped(_unquoted(text))

    def _plain(self, text: str) -> str:
        """Return a text without invisible characters and without marks of a chat format."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
        kept = "".join(char for char in text if char == "\n" or not is_hidden(char))
        if kept != text:
            self.fault("control characters")
        if _ENDLESS.search(kept):
            self.fault("a word without an end")
            kept = _ENDLESS.sub(" ", kept)
        marked = _CHAT_MARK.sub(" ", _TURN_MARK.sub(r"\n\1:\n", kept))
        if marked != kept:
            self.fault("marks of a chat's format")
        return marked

    def _is_no_speech(self, text: str) -> bool:
        stripped = text.strip().strip("`").strip()
        if stripped[:1] in ("{", "[") and _is_json(stripped.removeprefix("json").strip()):
            self.fault("data instead of words")
            return True
        signs = sum(not (char.isalnum() or char.isspace() or _is_mark(char)) for char in stripped)
        if len(stripped) >= _SHORTEST_NOISE and signs > _MOST_SIGNS * len(stripped):
            self.fault("noise instead of words")
            return True
        if len(stripped) <= _LONGEST_REFUSAL and _REFUSAL.match(stripped):
            self.fault("a refusal")
            return True
        return False

    def _lines(self, lines: list[str]) -> list[str]:
        """Return the lines to keep. Lines under a false heading or another speaker's label are dropped."""
        kept: list[str] = []
        in_memory = in_another = False
        for raw in lines:
            line, is_memory = self._heading(raw)
            if is_memory:
                in_memory = True
                continue
            in_memory = in_memory and bool(line.strip())
            if in_memory or _FENCE.match(line):
                continue
            line, speaker = self._labelled(line)
            in_another = speaker == "another" or (in_another and speaker is None)
            if in_another:
                continue
            kept.append(self._spoken(line))
        return kept

    def _heading(self, line: str) -> tuple[str, bool]:
        found = _HEADING.match(line)
        if found is None:
            return line, False
        heading = found[1].rstrip().rstrip("#").rstrip()
        if _MEMORY.match(heading) or _STATED.search(heading):
            self.fault("a heading like those of memory")
            return "", True
        return heading, False

    def _labelled(self, line: str) -> tuple[str, str | None]:
        """Return a line without its own speaker's label, and whose label it had: "own", "another" or None."""
        found = _LABEL.match(line)
        if found is None:
            return line, None
        who = fold_name(found[1])
        if who in self._own:
            return line[found.end() :], "own"
        if self._is_another(who):
            self.fault("another's voice")
            return "", "another"
        return line, None

    def _is_another(self, who: str) -> bool:
        """Check for a label before a colon that names another speaker, with or without a verb of speech."""
        words = who.split(" ")
        heads = ((" ".join(words[:n]), " ".join(words[n:])) for n in range(1, min(len(words), 4)))
        return who in self._others or any(
            head in self._others and _SPEAKS.fullmatch(more) for head, more in heads
        )

    def _spoken(self, line: str) -> str:
        """Return a line without a false memory statement and without another voice inside it."""
        if _STATED.search(line):
            self.fault("a line like those of memory")
            return ""
        found = _INLINE.search(line)
        if found is not None:
            self.fault("another's voice")
            line = line[: found.start()]
        return line

    def _without_ids(self, text: str) -> str:
        def named(found: re.Match[str]) -> str:
            self.fault("an id")
            name = self._names.get(found[0].lower().rstrip("_"), "")
            return "" if UID.search(name) or _STATED.search(name) else name

        return UID.sub(named, text)

    def _capped(self, text: str) -> str:
        """Cut a text at its limit, if possible at the end of a sentence or a word."""
        if len(text) <= self._longest:
            return text
        self.fault("too long")
        head = text[: self._longest]
        ends = max(head.rfind(end) for end in (". ", "! ", "? ", "\n"))
        cut = ends + 1 if ends > self._longest // 2 else head.rfind(" ")
        return (head[:cut] if cut > 0 else head).strip()


def _is_mark(char: str) -> bool:
    """Check for a mark that belongs to the letter before it, such as a Hindi vowel or a lone accent."""
    return unicodedata.category(char).startswith("M")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _unquoted(text: str) -> str:
    """Drop quotes around a whole text; quotes inside it stay."""
    ends = _QUOTES.get(text[:1])
    while ends and len(text) > 1 and text[-1] == ends and not {text[0], ends} & {*text[1:-1]}:
        text = text[1:-1].strip()
        ends = _QUOTES.get(text[:1])
    return text
