"""The rules of the dense spelling: what a line leaves out, and how a reader fills it in.

The dense renderer and the parser both use this module, so they cannot disagree on handles for uids, uids
from names, the next event id, and the participants.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dndbots.dcml.notation import split_count
from dndbots.dcml.tree import (
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Event,
    Properties,
    Property,
    Ref,
    Relation,
    Statement,
    Text,
    owner_of,
)

SELF = "EVT"
NO_PLACE = "-"
NOBODY = "-"
SAME = "="
COMPANY = "+"
SAME_OTHERS = "|"

_NOT_IN_HANDLE = re.compile(r"[\W_]+")
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))  # they change the look of an emoji, not a name
_HANDLE = re.compile(r"[^\W\d_][^\W_]*")
_RESERVED = frozenset({"in", *DCMLCategory.__members__})
DM = "dm"  # the only reader that is no entity; no entity gets this handle
_NUMBERED = re.compile(r"(.+)_([0-9]{3})")
_COUNTER = re.compile(r"(.*?)([0-9]{1,18})", re.DOTALL)


def handles(lexicon: Iterable[DCMLEntity]) -> list[str | None]:
    """Return a handle for each entry: its name without spaces, or None if only the uid will do.

    A handle depends on the entries before it only, so it stays the same when the lexicon grows. The second
    entity with a name gets `#2`.
    """
    bearers: dict[str, int] = {}
    made: list[str | None] = []
    for entity in lexicon:
        handle = _bare_handle(entity.name)
        if handle is None:
            made.append(None)
            continue
        folded = handle.casefold()
        bearer = bearers.get(folded, 0) + 1
        bearers[folded] = bearer
        if bearer > 1 or handle in _RESERVED or folded == DM or split_count(handle):
            handle = f"{handle}#{bearer}"
        made.append(handle)
    return made


def handle_key(name: str) -> str | None:
    """Return a key that is the same for names with the same handle; None for a name without a handle."""
    handle = _bare_handle(name)
    return None if handle is None else handle.casefold()


def _bare_handle(name: str) -> str | None:
    """Return a name without spaces and signs; None if combining marks would be lost."""
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
        if any(unicodedata.category(char) in ("Mn", "Mc") and char not in _SELECTORS for char in name):
            return None
    handle = _NOT_IN_HANDLE.sub("", name)
    return handle if _HANDLE.fullmatch(handle) else None


def name_slug(name: str) -> str:
    """Return the middle of a uid that follows from an ASCII name; empty for any other name."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") if name.isascii() else ""


def uid_parts(entity: DCMLEntity) -> tuple[str, str | None] | None:
    """Return ("grimfang", "001") for `npc_grimfang_001`; None if the uid does not start with its category."""
    prefix = f"{entity.category.value.lower()}_"
    if not entity.uid.startswith(prefix):
        return None
    middle = entity.uid.removeprefix(prefix)
    numbered = _NUMBERED.fullmatch(middle)
    return (numbered[1], numbered[2]) if numbered else (middle, None)


def join_uid(category: DCMLCategory, middle: str, number: str | None) -> str:
    """Return the uid that consists of these parts."""
    return "_".join(filter(None, (category.value.lower(), middle, number)))


def split_id(event_id: str) -> tuple[str, str] | None:
    """Return an event id and the counter at its end: ("evt_003_", "047") for `evt_003_047`."""
    match = _COUNTER.fullmatch(event_id)
    return (match[1], match[2]) if match else None


Cast = tuple[tuple[Ref, ...], ...]


@dataclass(slots=True)
class Running:
    """The state that the event lines of a group leave for the next line.

    `company` is the last group of two or more participants that was spelled out, in the order of the lexicon.
    """

    rank: dict[str, int]
    place: Ref | None = None
    cast: Cast = ()
    company: tuple[Ref, ...] = ()
    _stem: str | None = None
    _next: str = ""

    def next_id(self) -> str | None:
        """Return the event id that follows the last one; None if that had no counter."""
        return None if self._stem is None else self._stem + self._next

    def with_counter(self, digits: str) -> str | None:
        """Return the last event id with another counter; None if it had no counter."""
        return None if self._stem is None else self._stem + digits

    def shorten(self, event_id: str) -> str | None:
        """Return the part of an id to write: nothing if it is the next one, its counter, or None for all."""
        if event_id == self.next_id():
            return ""
        parts = split_id(event_id)
        return parts[1] if parts and parts[0] == self._stem else None

    def led_by(self, leads: Sequence[Ref]) -> tuple[Ref, ...]:
        """Return the company with some of its members in front."""
        in_front = set(leads)
        return (*leads, *[ref for ref in self.company if ref not in in_front])

    def happened(self, event_id: str, cast: Cast, *, spelled: bool) -> None:
        """Take note of an event line. `spelled` says that it spelled out its first group."""
        digits = self._next
        if event_id != self.next_id():
            self._stem, digits = split_id(event_id) or (None, "")
        if self._stem is not None:
            self._next = str(int(digits) + 1).zfill(len(digits))
        self.cast = cast
        if spelled and len(cast[0]) > 1:
            last = len(self.rank)
            self.company = tuple(sorted(cast[0], key=lambda ref: self.rank.get(ref.uid, last)))


def ranks(lexicon: Iterable[DCMLEntity]) -> dict[str, int]:
    """Return the position of each uid in the lexicon."""
    order: dict[str, int] = {}
    for entity in lexicon:
        order.setdefault(entity.uid, len(order))
    return order


def condense(event: Event) -> tuple[Cast, str | None, tuple[Statement, ...]]:
    """Return an event in the parts of a dense line: its cast, its summary, and the lines that remain."""
    cast: list[tuple[Ref, ...]] = []
    for line in event.lines:
        if type(line) is Relation and line.certainty is Certainty.FACT and owner_of(line) == event.id:
            cast.append(line.subjects)
        else:
            break
    rest = event.lines[len(cast) :]
    summary = _summary_in(rest[0], event.id) if rest else None
    return tuple(cast), summary, rest if summary is None else rest[1:]


def _summary_in(line: Statement, event_id: str) -> str | None:
    """Return the text of `EVT:id::summary->"…"` if a line consists of exactly that."""
    if type(line) is Properties and line.certainty is Certainty.FACT and owner_of(line) == event_id:
        prop = line.properties[0]
        value = prop.values[0]
        alone = len(line.properties) == 1 and len(prop.values) == 1
        if alone and prop.key == "summary" and type(value) is Text:
            return value.value
    return None


def expand(event_id: str, cast: Cast, summary: str | None) -> list[Statement]:
    """Return the lines that a dense event line stands for: the inverse of `condense`."""
    ref = Ref(event_id, DCMLCategory.EVT)
    lines: list[Statement] = [Relation(subjects=who, op=DCMLOp.IN, object=ref) for who in cast]
    if summary is not None:
        lines.append(Properties(subjects=(ref,), properties=(Property("summary", (Text(summary),)),)))
    return lines
