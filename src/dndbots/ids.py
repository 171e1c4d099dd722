"""Names and uids: what is fit to be one, what a prefix stands for, how the engine mints new ones.

Only the engine mints. A uid says what an entity is and roughly what it is called by everybody; what it is
really called stands in the lexicon. Whose name is a secret gets a uid that says nothing.
"""

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable
from typing import Final

from dndbots.errors import InvalidName, InvalidUid, UnknownCategory

# The language has the same eight and the same grammar of its own, since it stands alone; a test
# keeps the two alike.
CATEGORIES: Final = ("PC", "NPC", "MON", "LOC", "FAC", "ITEM", "QST", "EVT")
PARTY_UID: Final = "fac_party_001"
DM: Final = "dm"
SYSTEM: Final = "system"
LONGEST_UID: Final = 200

_UID = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
# Digits, since a model reads three of them as one token.
_OPAQUE_DIGITS: Final = 12
_OPAQUE = re.compile(rf"u[0-9]{{{_OPAQUE_DIGITS}}}")
_LONGEST_SLUG = 40
# Numbers of three digits are short in a lexicon; those before it are for who is counted.
_FIRST_HEARD: Final = 100
# Latin letters that do not decompose into a base letter and a mark.
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ħ": "h", "ŋ": "ng"}
)
# Players choose names, and names stand in prompts.
_LONGEST_NAME = 200
_LONGEST_REASON: Final = 160
_KINDS: Final = {
    "PC": "person",
    "NPC": "person",
    "MON": "creature",
    "LOC": "place",
    "FAC": "group",
    "QST": "quest",
}
_DESCRIPTION: Final = re.compile(r"(?:an?|some)\s")
_JOINERS = frozenset("\u200c\u200d")  # several scripts and many emoji need them
# Letters, marks and symbols that leave nothing on a page: fillers, a joiner of marks, variation selectors
# but for the two of emoji, an empty cell of Braille.
_BLANK_GLYPHS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xFFF0, 0xFFF9))))
)


def is_uid(text: str) -> bool:
    return _UID.fullmatch(text) is not None


def check_uid(uid: object, *, where: str = "uid", category: str | None = None) -> str:
    """The uid itself, or an error that names it and the place it stood in."""
    if not (isinstance(uid, str) and is_uid(uid)):
        raise InvalidUid(uid, where=where)
    if category and not uid.startswith(f"{category.lower()}_"):
        raise InvalidUid(uid, where=where, category=category)
    return uid


def category_of(uid: str) -> str | None:
    """The category that a uid's prefix stands for; None where it stands for none (`race_elves`)."""
    prefix = check_uid(uid).partition("_")[0].upper()
    return prefix if prefix in CATEGORIES else None


def check_name(name: str) -> str:
    if not name.strip():
        raise InvalidName(name)
    if len(name) > _LONGEST_NAME:
        raise InvalidName(name, reason=f"it has more than {_LONGEST_NAME} characters")
    # Campaigns have names with blank glyphs, and must still be read: `text.labels` writes them safely.
    if any(_breaks_lines(char) for char in name):
        raise InvalidName(name, reason="it holds control or invisible characters")
    return name


def folded(name: str) -> str:
    """A name as it is compared: in any case, with any spaces, however its letters are composed."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def is_description(name: str) -> bool:
    """Whether it only says what somebody looks like, for want of a name: "a woman with tired eyes"."""
    return _DESCRIPTION.match(name) is not None


def is_hidden(char: str) -> bool:
    """Characters that break a line, reorder it, or speak to a model behind a person's back."""
    return char in _BLANK_GLYPHS or _breaks_lines(char)


def _breaks_lines(char: str) -> bool:
    if "\U000e0000" <= char <= "\U000e0fff":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS


def inert(text: str) -> str:
    """Text on one line, with whatever would steer a terminal spelled out: ESC is `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii") if is_hidden(char) else char for char in text
    )


def short(text: str, longest: int = _LONGEST_REASON) -> str:
    """On one line, visible, and no longer than fits into a log or a prompt."""
    seen = "".join(" " if is_hidden(char) else char for char in text[: 4 * longest])
    line = " ".join(seen.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def slug(name: str) -> str:
    """A name as the middle of a uid: `Kael'thas Stormborn` is `kael_thas_stormborn`.

    A name in a script without Latin letters gets a short digest, the same one every time.
    """
    if not (isinstance(name, str) and name.strip()):
        raise InvalidName(name)
    words = _words_of(name)
    kept = words[0][:_LONGEST_SLUG]
    for word in words[1:]:
        if len(kept) + 1 + len(word) > _LONGEST_SLUG:
            break
        kept = f"{kept}_{word}"
    return kept


def _words_of(name: str) -> list[str]:
    """The words that a uid may have from a name."""
    folded = unicodedata.normalize("NFKD", name).casefold().translate(_LETTERS)
    base = "".join(char for char in folded if not unicodedata.combining(char))
    words: list[str] = re.findall(r"[a-z0-9]+", base)
    if words:
        return words
    canonical = unicodedata.normalize("NFKC", name.strip()).casefold()
    return ["u" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:8]]


def mint(category: str, name: str, *, taken: Container[str] = ()) -> str:
    """A new uid, `pc_throk_001`, with the lowest number that is not taken.

    It ends in a number after an underscore, so it can never be read as a count (`goblinx4`).
    """
    if category not in CATEGORIES:
        raise UnknownCategory(category, known=CATEGORIES)
    stem = f"{category.lower()}_{slug(name)}"
    number = 1
    while f"{stem}_{number:03d}" in taken:
        number += 1
    return f"{stem}_{number:03d}"


def opaque_slug(secret: str) -> str:
    """The middle of a uid that tells nothing of what it was made from; the same one every time."""
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    return f"u{int.from_bytes(digest[:8]) % 10**_OPAQUE_DIGITS:0{_OPAQUE_DIGITS}d}"


def opaque_uid(uid: str) -> str:
    """A uid of the same kind that tells nothing: for those who were not told what this one tells."""
    return f"{uid.partition('_')[0]}_{opaque_slug(uid)}_001"


def is_opaque(uid: str) -> bool:
    """Whether a uid tells nothing but of what kind it is."""
    return _OPAQUE.fullmatch(uid.split("_")[1]) is not None


def tells_more(uid: str, names: Iterable[str]) -> bool:
    """Whether a uid has a word in it that is in none of some names. Numbers say nothing."""
    if is_opaque(uid):
        return False
    heard = {word for name in names for word in _words_of(name)}
    words = uid.split("_")[1 if category_of(uid) else 0 :]
    return any(word not in heard and not word.isdigit() for word in words)


def mint_heard(category: str, name: str, turn: str) -> str:
    """A uid for somebody whom a turn names and nobody who heard it knows: `npc_joss_voss_417`.

    It follows from the name and the turn alone. A count would tell of namesakes that were never heard of.
    """
    text = "\x1f".join((category, folded(name), turn))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    number = _FIRST_HEARD + int.from_bytes(digest[:8], "big") % (1000 - _FIRST_HEARD)
    return f"{mint(category, name).rpartition('_')[0]}_{number}"


def name_from_uid(uid: str) -> str:
    """A readable stand-in where nobody gave a name.

    `mon_goblin_darkwood` is `Goblin Darkwood`; `npc_goblin_001` is `Goblin`, and the next one `Goblin 2`.
    A uid that tells nothing is "an unnamed person", or whatever it is of.
    """
    words = check_uid(uid).split("_")
    if is_opaque(uid):
        return f"an unnamed {_KINDS.get(category_of(uid) or '', 'thing')}"
    if category_of(uid):
        words = words[1:]
    if len(words) > 1 and words[-1].isdigit():
        number = words.pop().lstrip("0")
        words += [number] if number not in ("", "1") else []
    return " ".join(word.capitalize() for word in words)
