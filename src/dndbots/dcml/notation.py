"""The spelling of single words of DCML: uids, names, quoted text, counts.

Text from players and models passes through `quote`, `escape_name` or `escape_title`, and then cannot end
its string, start a line or open a section.
"""

import re
from collections.abc import Container

from dndbots.errors import DCMLValueError, InvalidName, InvalidUid

UID = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
VERB = re.compile(r"[A-Z][A-Z0-9_]*")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")
COUNTED = re.compile(r"(.+)x(0*[1-9][0-9]{0,8})")
LARGEST_COUNT = 999_999_999
LARGEST_NUMBER = 10**30
LONGEST_NUMBER = 40

# Control characters, line and paragraph separators, lone surrogates, and invisible characters that reorder
# or hide text. A document never has them unescaped. (Joiners stay: emoji and several scripts need them.)
_INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef"
)
_IN_TEXT = re.compile(rf'["\\{_INVISIBLE}]')
_IN_NAME = re.compile(rf"[\\\]:{_INVISIBLE}]")
_RAW = re.compile(rf"[{_INVISIBLE}]")
_IN_TITLE = re.compile(rf"[\\{_INVISIBLE}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {'"': '"', "\\": "\\", "]": "]", ":": ":", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U(000e[0-9a-fA-F]{4})|(.?))", re.DOTALL)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char in '"\\]:':
        return "\\" + char
    return _SHORT.get(char) or (f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}")


def quote(text: str) -> str:
    """Return a text as a quoted string on one line."""
    return f'"{_IN_TEXT.sub(_escaped, text)}"'


def escape_name(name: str) -> str:
    """Return a name as written inside `[CAT:uid:Name]`."""
    return _IN_NAME.sub(_escaped, name)


def escape_title(title: str) -> str:
    """Return the title of a group as written after `# `."""
    return _IN_TITLE.sub(_escaped, title)


def is_one_line(text: str) -> bool:
    """Return True if nothing in the text starts a line or hides a part of it."""
    return _RAW.search(text) is None


class BadEscape(ValueError):
    """A backslash that escapes nothing, `offset` characters into the text."""

    def __init__(self, offset: int, found: str) -> None:
        super().__init__(found)
        self.offset, self.found = offset, found


def unescape(text: str) -> str:
    """Return the text that `quote`, `escape_name` or `escape_title` escaped; raise `BadEscape`."""
    if "\\" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        code, char = match[1] or match[2], match[3]
        if code:
            return chr(int(code, 16))
        if char not in _LONG:
            raise BadEscape(match.start(), match[0])
        return _LONG[char]

    return _ESCAPE.sub(replace, text)


def require_uid(uid: object, *, where: str = "uid") -> str:
    """Return a uid, or raise `InvalidUid` with the place that it stood in."""
    if not (isinstance(uid, str) and UID.fullmatch(uid)):
        raise InvalidUid(uid, where=where)
    return uid


def require_name(name: object, *, where: str = "name") -> str:
    """Return a name that is not blank, or raise `InvalidName`."""
    if not (isinstance(name, str) and name.strip()):
        raise InvalidName(name, where=where)
    return name


def split_count(word: str) -> tuple[str, int] | None:
    """Return ("goblin", 4) for `goblinx4`; None if the word has no count."""
    match = COUNTED.fullmatch(word)
    return (match[1], int(match[2].lstrip("0"))) if match else None


def spell_uid(uid: str, count: int, declared: Container[str]) -> str:
    """Return a uid with its count, spelled so that the lexicon cannot give it another meaning.

    A whole word of the lexicon is never read as a count. So a count that happens to spell another entry is
    padded with zeros, and a uid that looks like a count gets one, `x1`.
    """
    if count == 1 and (uid in declared or not _looks_counted(uid)):
        return uid
    digits = str(count)
    while (word := f"{uid}x{digits}") in declared:
        digits = "0" + digits
    return word


def _looks_counted(uid: str) -> bool:
    parts = split_count(uid)
    return parts is not None and UID.fullmatch(parts[0]) is not None


def spell_number(value: float) -> str:
    """Return a number as DCML writes it, or raise `DCMLValueError`."""
    if not abs(value) < LARGEST_NUMBER:  # true of NaN, too
        size = value.bit_length() if isinstance(value, int) else 0
        shown = value if size < 128 else f"a number of {size} bits"
        raise DCMLValueError(shown, where="number", reason="is not a number below 1e30")
    return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
