"""What the dense spelling leaves unsaid, and how it follows from what was said.

The dense renderer and the parser both ask this module, so that they cannot disagree: handles for
uids, uids from names, the next event id, and who is there.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dndbots.dcml.spelling import split_count
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
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))  # how an emoji looks, not what a name is
_HANDLE = re.compile(r"[^\W\d_][^\W_]*")
_RESERVED = frozenset({"in", *DCMLCategory.__members__})
DM = "dm"  # the one reader who is no entity: nobody else is ever called that in a document
_NUMBERED = re.compile(r"(.+)_([0-9]{3})")
_COUNTER = re.compile(r"(.*?)([0-9]{1,18})", re.DOTALL)


def handles(lexicon: Iterable[DCMLEntity]) -> list[str | None]:
    """A short readable word for each entry: its name without spaces, or None for the uid itself.

    A handle depends on the entries before it only, so a lexicon that grows never changes the
    handles it has. A second bearer of a name gets `#2`.
    """
    bearers: dict[str, int] = {}
    found: list[str | None] = []
    for entity in lexicon:
        handle = _bare_handle(entity.name)
        if handle is None:
            found.append(None)
            continue
        folded = handle.casefold()
        bearer = bearers.get(folded, 0) + 1
        bearers[folded] = bearer
        if bearer > 1 or handle in _RESERVED or folded == DM or split_count(handle):
            handle = f"{handle}#{bearer}"
        found.append(handle)
    return found


def handle_key(name: str) -> str | None:
    """What two names share if their handles have to be told apart; None for a name without a handle."""
    handle = _bare_handle(name)
    return None if handle is None else handle.casefold()


def _bare_handle(name: str) -> str | None:
    """A name without spaces and signs; None where that would drop more than those."""
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
        if any(unicodedata.category(char) in ("Mn", "Mc") and char not in _SELECTORS for char in name):
            return None
    handle = _NOT_IN_HANDLE.sub("", name)
    return handle if _HANDLE.fullmatch(handle) else None


def name_slug(name: str) -> str:
    """The middle of a uid as it follows from a plain ASCII name; empty where it does not."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") if name.isascii() else ""


def uid_parts(entity: DCMLEntity) -> tuple[str, str | None] | None:
    """`npc_grimfang_001` is ("grimfang", "001"); None where the uid does not start with its category."""
    prefix = f"{entity.category.value.lower()}_"
    if not entity.uid.startswith(prefix):
        return None
    middle = entity.uid.removeprefix(prefix)
    numbered = _NUMBERED.fullmatch(middle)
    return (numbered[1], numbered[2]) if numbered else (middle, None)


def join_uid(category: DCMLCategory, middle: str, number: str | None) -> str:
    return "_".join(filter(None, (category.value.lower(), middle, number)))


def split_id(event_id: str) -> tuple[str, str] | None:
    """The counter at the end of an event id: `evt_003_047` is ("evt_003_", "047")."""
    match = _COUNTER.fullmatch(event_id)
    return (match[1], match[2]) if match else None


Cast = tuple[tuple[Ref, ...], ...]


@dataclass(slots=True)
class Running:
    """What the event lines so far imply for the next one, within a group.

    `company` is the last group of two or more that was spelled out, in the order of the lexicon.
    """

    rank: dict[str, int]
    place: Ref | None = None
    cast: Cast = ()
    company: tuple[Ref, ...] = ()
    _stem: str | None = None
    _next: str = ""

    def next_id(self) -> str | None:
        return None if self._stem is None else self._stem + self._next

    def with_counter(self, digits: str) -> str | None:
        """The event id that differs from the last one in its counter."""
        return None if self._stem is None else self._stem + digits

    def shorten(self, event_id: str) -> str | None:
        """What must be said of an id: nothing if it is the next one, its counter, or None for all of it."""
        if event_id == self.next_id():
            return ""
        parts = split_id(event_id)
        return parts[1] if parts and parts[0] == self._stem else None

    def led_by(self, leads: Sequence[Ref]) -> tuple[Ref, ...]:
        """The company, with these in front."""
        in_front = set(leads)
        return (*leads, *[ref for ref in self.company if ref not in in_front])

    def happened(self, event_id: str, cast: Cast, *, spelled: bool) -> None:
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
    order: dict[str, int] = {}
    for entity in lexicon:
        order.setdefault(entity.uid, len(order))
    return order


def condense(event: Event) -> tuple[Cast, str | None, tuple[Statement, ...]]:
    """An event as one line holds it: who is in it, its summary, and the lines that remain."""
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
    """The text of `EVT:id::summary->"…"` where a line says that and nothing else."""
    if type(line) is Properties and line.certainty is Certainty.FACT and owner_of(line) == event_id:
        prop = line.properties[0]
        value = prop.values[0]
        alone = len(line.properties) == 1 and len(prop.values) == 1
        if alone and prop.key == "summary" and type(value) is Text:
            return value.value
    return None


def expand(event_id: str, cast: Cast, summary: str | None) -> list[Statement]:
    """The inverse of `condense`: the lines that one event line stands for."""
    ref = Ref(event_id, DCMLCategory.EVT)
    lines: list[Statement] = [Relation(subjects=who, op=DCMLOp.IN, object=ref) for who in cast]
    if summary is not None:
        lines.append(Properties(subjects=(ref,), properties=(Property("summary", (Text(summary),)),)))
    return lines
