"""Names and uids: what is fit to be one, what a prefix stands for, how the engine mints new ones.

Only the engine mints. A uid says what an entity is and roughly what it is called; what it is
really called stands in the lexicon.
"""

import hashlib
import re
import unicodedata
from collections.abc import Container
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
_LONGEST_SLUG = 40
# Latin letters that do not decompose into a base letter and a mark.
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ħ": "h", "ŋ": "ng"}
)
# Players choose names, and names stand in prompts.
_LONGEST_NAME = 200
_LONGEST_REASON: Final = 160
_DESCRIPTION: Final = re.compile(r"(?:an?|some)\s")
_JOINERS = frozenset("\u200c\u200d")  # several scripts and many emoji need them


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
    if any(is_hidden(char) for char in name):
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
    if "\U000e0000" <= char <= "\U000e01ef":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS


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
    folded = unicodedata.normalize("NFKD", name).casefold().translate(_LETTERS)
    base = "".join(char for char in folded if not unicodedata.combining(char))
    words: list[str] = re.findall(r"[a-z0-9]+", base)
    if not words:
        canonical = unicodedata.normalize("NFKC", name.strip()).casefold()
        return "u" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    kept = words[0][:_LONGEST_SLUG]
    for word in words[1:]:
        if len(kept) + 1 + len(word) > _LONGEST_SLUG:
            break
        kept = f"{kept}_{word}"
    return kept


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


def name_from_uid(uid: str) -> str:
    """A readable stand-in where nobody gave a name.

    `mon_goblin_darkwood` is `Goblin Darkwood`; `npc_goblin_001` is `Goblin`, and the next one `Goblin 2`.
    """
    words = check_uid(uid).split("_")
    if category_of(uid):
        words = words[1:]
    if len(words) > 1 and words[-1].isdigit():
        number = words.pop().lstrip("0")
        words += [number] if number not in ("", "1") else []
    return " ".join(word.capitalize() for word in words)
