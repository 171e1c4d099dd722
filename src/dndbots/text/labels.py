"""Names, ids and topics where a reader may take them for something else: before a colon, in a citation.

Anybody may choose any name. At the start of a line, before a colon, a name is read as the speaker, and
`DM` or `system` as a speaker with authority. `write_label` writes every such name safely; `check_new_name`
refuses names that would need quotes.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from dndbots.errors import InvalidName
from dndbots.ids import DM, SYSTEM, check_name, drop_accents, is_hidden
from dndbots.text.clean import drop_heading, one_line, prompt_line

ENGINE: Final = {DM: "DM", SYSTEM: "system"}
LONGEST_ID: Final = 60
LONGEST_SPEAKER: Final = 40

# Speakers of a prompt beside the characters, openings of its lines, and the categories of DCML.
_RESERVED: Final = frozenset(
    (
        *("dm", "gm", "dungeonmaster", "gamemaster", "thedm", "thegm", "narrator", "referee", "engine"),
        *("system", "systemprompt", "systemmessage", "developer", "user", "human", "assistant", "ai", "bot"),
        *("model", "tool", "function", "instruction", "instructions", "prompt"),
        *("lexicon", "memory", "pinned"),
        *("pc", "npc", "mon", "loc", "fac", "item", "qst", "evt", "you", "somebody", "everybody", "nobody"),
    )
)
# One of these words anywhere in a name is enough: `Zara (DM)` reads as the DM.
_TITLES: Final = frozenset(("dm", "gm", "system", "assistant", "narrator"))
# The characters of a name that needs no quotes. Combining marks belong to the letters before them.
_PLAIN: Final = re.compile(r"[\w '\u2019\u02bc.,&()/+~!?*@\u2010-\u2015\u00b7\u30fb-]+")
_BRACKETS: Final = str.maketrans({"[": "(", "]": ")", '"': "'", "\u201c": "'", "\u201d": "'"})
_COLON: Final = re.compile("[:\uff1a\ufe55\ufe13\u2236\ua789\u02d0\u05c3\u0589]")
_LABELLED: Final = re.compile(r"[^:]+:\s")
_MOST_HEAD_WORDS: Final = 4  # before a colon, for the head of a line to read like a speaker
# A label of a section, a role or a field: a word or four, and a colon.
_ANY_LABEL: Final = re.compile(r"[^\s:\uff1a]{1,40}(?:\s+[^\s:\uff1a]{1,40}){0,3}\s*[:\uff1a]")
_OPENING_QUOTES: Final = ('"', "\u201c", "\u00ab", "\u300c")
_WRITTEN: Final = re.compile(r'"([^":\[\]]*)"( \(a name\))?')
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_PLAIN_ID: Final = re.compile(r"\w+(?:[ .:#@/+'-]\w+)*")
# Letters that look like a letter of a reserved word, before case folding.
_LOOKALIKES: Final = str.maketrans(
    {
        # Cyrillic
        "\u0410": "a", "\u0430": "a", "\u0412": "b", "\u0415": "e", "\u0435": "e", "\u041a": "k",
        "\u043a": "k", "\u041c": "m", "\u043c": "m", "\u041d": "h", "\u041e": "o", "\u043e": "o",
        "\u0420": "p", "\u0440": "p", "\u0421": "c", "\u0441": "c", "\u0422": "t", "\u0442": "t",
        "\u0423": "y", "\u0443": "y", "\u04ae": "y", "\u04af": "y", "\u0425": "x", "\u0445": "x",
        "\u0405": "s", "\u0455": "s", "\u0406": "i", "\u0456": "i", "\u0408": "j", "\u0458": "j",
        "\u0500": "d", "\u0501": "d", "\u050c": "g", "\u04bb": "h", "\u04cf": "l", "\u0475": "v",
        "\u0474": "v", "\u051d": "w", "\u0433": "r",
        # Greek
        "\u0391": "a", "\u03b1": "a", "\u0392": "b", "\u0395": "e", "\u03b5": "e", "\u0397": "h",
        "\u03b7": "n", "\u0399": "i", "\u03b9": "i", "\u039a": "k", "\u03ba": "k", "\u039c": "m",
        "\u03bc": "m", "\u00b5": "m", "\u039d": "n", "\u03bd": "v", "\u039f": "o", "\u03bf": "o",
        "\u03a1": "p", "\u03c1": "p", "\u03a4": "t", "\u03c4": "t", "\u03a5": "y", "\u03c5": "u",
        "\u03b3": "y", "\u03a7": "x", "\u03c7": "x", "\u03f9": "c", "\u03f2": "c", "\u03fa": "m",
        # Armenian, Cherokee, Lisu, small capitals and stroked letters
        "\u0585": "o", "\u057d": "u", "\u0578": "n", "\u054f": "s", "\u0555": "o",
        "\u13a0": "d", "\u13b7": "m", "\u13da": "s", "\u13a2": "i", "\u13d4": "t", "\u13ac": "e",
        "\u13aa": "a", "\u13c0": "g", "\u13a1": "r", "\u13e2": "p", "\u13df": "c",
        "\uab70": "d", "\uab87": "m", "\uabaa": "s",
        "\ua4d3": "d", "\ua4df": "m", "\ua4e2": "s", "\ua4ec": "y", "\ua4d4": "t", "\ua4f0": "e",
        "\ua4ee": "a", "\ua4d6": "g", "\ua4d1": "p", "\ua4da": "c", "\ua4e1": "n", "\ua4f4": "u",
        "\u1d05": "d", "\u1d0d": "m", "\ua731": "s", "\u028f": "y", "\u1d1b": "t", "\u1d07": "e",
        "\u0262": "g", "\u1d00": "a", "\u0280": "r", "\u026a": "i", "\u0274": "n", "\u1d1c": "u",
        "\u1d18": "p", "\u1d04": "c", "\u0131": "i", "\u0269": "i", "\u0251": "a",
        "\u0110": "d", "\u0111": "d", "\u00d0": "d", "\u00f0": "d", "\u0189": "d", "\u0256": "d",
        "\u0257": "d", "\u018a": "d", "\u0271": "m", "\u0193": "g", "\u0261": "g",
    }
)  # fmt: skip


@lru_cache(maxsize=4096)
def write_label(name: str) -> str:
    """Return a name as it may stand at the start of a line, before a colon.

    A plain name stays as it is; any other is quoted. A word that prompts use themselves is marked as a name.
    Only the DM and the engine have the labels in `ENGINE`.
    """
    line = one_line(name)
    if _is_written(line):
        return line
    quoted = f'"{" ".join(_COLON.sub(" ", line).translate(_BRACKETS).split())}"'
    if is_reserved(name):
        return f"{quoted} (a name)"
    return line if _is_plain(line) else quoted


def write_name(name: str) -> str:
    """Return a name for a screen: as it was given, unless it would pass for another speaker."""
    return write_label(name) if is_reserved(name) or _LABELLED.match(name) else name


def label_of(uid: str, name: str) -> str:
    """Return the label before a speaker's line: the DM's or the engine's own, or else the name."""
    return ENGINE.get(uid) or write_label(name)


def short_label(who: str) -> str:
    """Return a speaker's name for a line of a summary or story: short, without markup and colons."""
    name = prompt_line(who[: 4 * LONGEST_SPEAKER]).replace(":", " ").replace("\uff1a", " ")
    return " ".join(name[:LONGEST_SPEAKER].split())


def write_telling(text: str) -> str:
    """Return a text as a line without a speaker: quoted if it begins like a line of the DM or the system."""
    line = drop_heading(one_line(text))
    head = _COLON.split(line, maxsplit=1)[0]
    if head != line and len(head.split()) <= _MOST_HEAD_WORDS and is_reserved(head):
        return f'"{line.translate(_BRACKETS)}"'
    return line


def write_unlabelled(sentence: str) -> str:
    """Return a sentence of a summary that has no speaker, so that nothing in it reads as a label.

    Stricter than `write_telling`: any few words before a colon count, not only reserved ones.
    """
    label = _ANY_LABEL.match(sentence)
    if not label:
        return sentence
    words = sentence[label.end() :].lstrip()
    if words.startswith(_OPENING_QUOTES):  # The hermit whispers: "..."
        return f"{label.group()[:-1].rstrip()}, {words}"
    head = label.group()[:-1].rstrip()
    if any(word.islower() for word in head.split()[1:]) and not is_reserved(head):
        return f"{head} \u2013 {words}"  # "A shout, a rush: six rats" names no speaker
    return '"' + sentence.replace('"', "'") + '"'


def is_reserved(name: str) -> bool:
    """Return True if a name looks like a word that prompts, chats or the engine use for their speakers."""
    letters = _skeleton(name)
    return "".join(letters) in _RESERVED or not _TITLES.isdisjoint(letters)


def check_new_name(name: str) -> str:
    """Return a name that somebody chooses, or raise `InvalidName` with the reason."""
    check_name(name)
    if any(map(is_hidden, name)) or one_line(name) != " ".join(name.split()):
        raise InvalidName(name, reason="it has invisible characters or chat markup; leave them out")
    if is_reserved(name):
        raise InvalidName(
            name, reason="it reads like the DM, the system or part of a prompt; choose another name"
        )
    if not _is_plain(one_line(name)):
        raise InvalidName(
            name, reason="use letters, digits, spaces and marks such as ' - . but no colon or square bracket"
        )
    return name


def write_id(text: str, longest: int = LONGEST_ID) -> str:
    """Return an id or a session for a citation: as it is, or in quotes that it cannot close."""
    line = one_line(text)
    shown = line if len(line) <= longest else f"{line[: longest - 1]}\u2026"
    return shown if is_plain_id(line) else f'"{shown.translate(_BRACKETS)}"'


def is_plain_id(text: str) -> bool:
    """Return True if an id needs no quotes in a citation."""
    is_seen = text.isascii() or not any(map(is_hidden, text))
    is_title = "".join(_skeleton(text)) in _TITLES
    return is_seen and not is_title and _PLAIN_ID.fullmatch(text) is not None


def _is_written(line: str) -> bool:
    """Return True if a line is a label already, so that writing it twice changes nothing."""
    written = _WRITTEN.fullmatch(line)
    return written is not None and (bool(written[2]) or not is_reserved(written[1]))


def _is_plain(line: str) -> bool:
    unmarked = "".join(char for char in line if unicodedata.category(char) not in ("Mn", "Mc", "Cf"))
    return line[:1].isalnum() and bool(_skeleton(line)) and _PLAIN.fullmatch(unmarked) is not None


def _skeleton(name: str) -> list[str]:
    """Return the words of a name as a hasty reader sees them: lower case, no accents, no look-alikes."""
    letters = drop_accents(one_line(name).translate(_LOOKALIKES)).translate(_LOOKALIKES)
    return _LETTERS.findall(letters.casefold())
