"""Names and uids: their form, their comparison, the category of a uid, and the making of new ones.

Only the engine makes uids. A uid shows the category of an entity and roughly its public name; the lexicon has
the full name. An entity whose name is secret gets an opaque uid.
"""

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable
from typing import Final

from dndbots.errors import InvalidName, InvalidUid, UnknownCategory

# DCML has its own copy of the categories and the uid pattern, since it imports nothing; a test compares them.
CATEGORIES: Final = ("PC", "NPC", "MON", "LOC", "FAC", "ITEM", "QST", "EVT")
PARTY_UID: Final = "fac_party_001"
DM: Final = "dm"
SYSTEM: Final = "system"
LONGEST_UID: Final = 200

_UID = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
# Digits, because a model reads three of them as one token.
_OPAQUE_DIGITS: Final = 12
_OPAQUE = re.compile(rf"u[0-9]{{{_OPAQUE_DIGITS}}}")
_LONGEST_SLUG = 40
# Three digits are short in a lexicon. Numbers below are for uids that are counted up.
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
# Letters, marks and symbols that show nothing: fillers, a joiner of marks, an empty Braille cell, and
# variation selectors, except the two of emoji.
_BLANK_GLYPHS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xFFF0, 0xFFF9))))
)


def is_uid(text: str) -> bool:
    """Return True if a text has the form of a uid."""
    return _UID.fullmatch(text) is not None


def check_uid(uid: object, *, where: str = "uid", category: str | None = None) -> str:
    """Return the uid, or raise `InvalidUid` that names it and `where` it stood."""
    if not (isinstance(uid, str) and is_uid(uid)):
        raise InvalidUid(uid, where=where)
    if category and not uid.startswith(f"{category.lower()}_"):
        raise InvalidUid(uid, where=where, category=category)
    return uid


def category_of(uid: str) -> str | None:
    """Return the category that a uid's prefix stands for; None for `race_elves`."""
    prefix = check_uid(uid).partition("_")[0].upper()
    return prefix if prefix in CATEGORIES else None


def check_name(name: str) -> str:
    """Return the name, or raise `InvalidName` with the reason."""
    if not name.strip():
        raise InvalidName(name)
    if len(name) > _LONGEST_NAME:
        raise InvalidName(name, reason=f"it has more than {_LONGEST_NAME} characters; shorten it")
    # Blank glyphs pass: stored campaigns have such names, and `text.labels` writes them safely.
    if any(_breaks_lines(char) for char in name):
        raise InvalidName(name, reason="it has control or invisible characters; leave them out")
    return name


def fold_case(text: str) -> str:
    """Return a text without case, its letters composed in one way. Accents stay."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def drop_accents(text: str) -> str:
    """Return a text with its letters decomposed, and without the marks on them."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def fold_name(name: str) -> str:
    """Return a name as it is compared and stored in the index of names: case folded, spaces collapsed."""
    return " ".join(fold_case(name).split())


def is_description(name: str) -> bool:
    """Return True for a description in place of a name: "a woman with tired eyes"."""
    return _DESCRIPTION.match(name) is not None


def is_hidden(char: str) -> bool:
    """Return True for a character that breaks a line, reorders it, or is seen by models but not by people."""
    return char in _BLANK_GLYPHS or _breaks_lines(char)


def _breaks_lines(char: str) -> bool:
    if "\U000e0000" <= char <= "\U000e0fff":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS


def inert(text: str) -> str:
    """Return a text that cannot control a terminal: hidden characters are spelled out, ESC as `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii") if is_hidden(char) else char for char in text
    )


def short(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return a text on one line, visible, and cut to a length that fits into a log or a prompt."""
    visible = "".join(" " if is_hidden(char) else char for char in text[: 4 * longest])
    line = " ".join(visible.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def slug(name: str) -> str:
    """Return a name as the middle of a uid: `kael_thas_stormborn` for `Kael'thas Stormborn`.

    A name without Latin letters gives a short digest, always the same one.
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
    """Return the words that a uid takes from a name."""
    # Decomposed first: a letter with an accent is among `_LETTERS` only without it.
    letters = unicodedata.normalize("NFKD", name).casefold().translate(_LETTERS)
    words: list[str] = re.findall(r"[a-z0-9]+", drop_accents(letters))
    if words:
        return words
    canonical = fold_case(name.strip())
    return ["u" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:8]]


def mint(category: str, name: str, *, taken: Container[str] = ()) -> str:
    """Return a new uid, `pc_throk_001`, with the lowest number that is not taken.

    It ends in an underscore and a number, so it can never be read as a count (`goblinx4`).
    """
    if category not in CATEGORIES:
        raise UnknownCategory(category, known=CATEGORIES)
    stem = f"{category.lower()}_{slug(name)}"
    number = 1
    while f"{stem}_{number:03d}" in taken:
        number += 1
    return f"{stem}_{number:03d}"


def opaque_slug(secret: str) -> str:
    """Return the middle of a uid that hides what it was made from; always the same one for a secret."""
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    return f"u{int.from_bytes(digest[:8]) % 10**_OPAQUE_DIGITS:0{_OPAQUE_DIGITS}d}"


def opaque_uid(uid: str) -> str:
    """Return an opaque uid of the same category, for viewers who must not learn the name in this one."""
    return f"{uid.partition('_')[0]}_{opaque_slug(uid)}_001"


def is_opaque(uid: str) -> bool:
    """Return True if a uid shows nothing but its category."""
    return _OPAQUE.fullmatch(uid.split("_")[1]) is not None


def tells_more(uid: str, names: Iterable[str]) -> bool:
    """Return True if a uid contains a word that is in none of the names. Numbers do not count."""
    if is_opaque(uid):
        return False
    known = {word for name in names for word in _words_of(name)}
    words = uid.split("_")[1 if category_of(uid) else 0 :]
    return any(word not in known and not word.isdigit() for word in words)


def mint_heard(category: str, name: str, turn: str) -> str:
    """Return a uid for a name that is new to everybody who heard the turn: `npc_joss_voss_417`.

    It follows from the name and the turn alone. A counted number would reveal other people of that name.
    """
    text = "\x1f".join((category, fold_name(name), turn))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    number = _FIRST_HEARD + int.from_bytes(digest[:8], "big") % (1000 - _FIRST_HEARD)
    return f"{mint(category, name).rpartition('_')[0]}_{number}"


def name_from_uid(uid: str) -> str:
    """Return a readable name for an entity that nobody named.

    `mon_goblin_darkwood` becomes `Goblin Darkwood`, `npc_goblin_001` becomes `Goblin`, and `npc_goblin_002`
    becomes `Goblin 2`. An opaque uid becomes "an unnamed person", "an unnamed place" and so on.
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
