"""Plain logs of play: `Name: text`, Markdown, IRC, WhatsApp, and stories with the player's lines marked."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from dndbots.ids import DM
from dndbots.interop.formats.bounds import clean_name, clean_text, cut_text
from dndbots.interop.formats.dates import Sessions, parse_date
from dndbots.interop.formats.html_text import has_html, html_to_text
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, NotUnderstood, ReadFile
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage

_CODE: Final = re.compile(r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_BULLET: Final = re.compile(r"^[>*-]\s+(?=\S)")
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_STAMP: Final = re.compile(
    rf"^(?:\[((?!SPEAKER_)[^\[\]]{{4,40}})\]|((?:\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}},?\s+)?{_CLOCK})(?:\s+-)?(?=\s))\s*"
)
# "Zara", "Throk (Bob)", 'Zara "the Quick" Vel'.
_NICKNAME: Final = r" [\"\u201c][^\"\u201c\u201d:\n]{1,30}[\"\u201d](?: [^\W\d_][\w.'\u2019-]{0,39})?"
_NAME: Final = rf"[^\W\d_][\w .'\u2019()-]{{0,39}}?(?:{_NICKNAME})?"
_NAMED: Final = re.compile(
    rf"^(?:\*\*|__)?({_NAME})(?:\*\*|__)?(?::(?:\*\*|__)?\s+|\uff1a\s*)(\S.*)$"
    r"|^\[{1,2}(SPEAKER_\d+)\]{1,2}:?\s*(\S.*)$"  # as whisperX writes texts
)
_TITLED: Final = re.compile(rf"^(?:\*\*|__)?({_NAME})(?:\*\*|__)?:(?:\*\*|__)?$")
_LATE_STAMP: Final = re.compile(rf"^({_NAME})\s+({_CLOCK})$")
_ASIDE: Final = re.compile(rf"^\((From|To) ({_NAME})\):\s+(\S.*)$")
_NICK: Final = re.compile(r"^<\s?[@+%~&]?([^\s<>@+%~&][^<>]{0,39})>\s+(\S.*)$")
_ACTION: Final = re.compile(r"^\*{1,3}\s+([^\s*][^\s]{0,39})\s+(\S.*)$")
_DASHED: Final = re.compile(rf"^({_NAME})\s+[-\u2013\u2014]\s+(\S.*)$")
_HEADED: Final = re.compile(rf"^--({_NAME})$")
_MARKED: Final = re.compile(rf"^#{{1,6}}\s+(?:\*\*)?({_NAME}):?(?:\*\*)?:?$")
_TYPED: Final = re.compile(r"^>\s*(\S.*)$")
# Lines of the program, not of a person.
_NOISE: Final = re.compile(r"^(?:-!-|---|===|\*\*\*|<?(?:media|image|video|audio|sticker|gif|bild) "
                           r"(?:omitted|weggelassen)>?$)", re.IGNORECASE)  # fmt: skip
_GM_ASIDE: Final = "From"
_FEWEST: Final = 3
_FEWEST_TYPED: Final = 2
_SHARE: Final = 0.3
_STAMPED_SHARE: Final = 0.5
_LOOKED_AT: Final = 200_000
_LONGEST_TITLE: Final = 80
_PLAYER: Final = "You"
_NARRATOR: Final = "Narrator"


class _Spoken(NamedTuple):
    """A line with a speaker. `hearers` are set for a line that is not for everybody."""

    name: str
    words: str
    hearers: tuple[str, ...] | None = None
    is_dm: bool = False


_Form = Callable[[str], _Spoken | None]


def is_plain_log(path: Path, text: str) -> bool:
    """Return True for a text in which many lines say who speaks."""
    return _form_of(path, text) is not None


def read_plain_log(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return a log as a chat. A line without a name goes on with the one before."""
    chat, roles = clean_name(path.stem, "log"), SpeakerRoles(options)
    problems: list[NotUnderstood] = []
    sessions, messages = Sessions(chat, options.session), list[ChatMessage]()
    for number, spoken, when in _spoken_lines(text, _form_of(path, text) or _named):
        if not spoken.name:
            if len(spoken.words) > _LONGEST_TITLE:
                problems.append(NotUnderstood(f"line {number}", "text before the first name; it is left out"))
            continue
        plain = clean_text(html_to_text(spoken.words)) if has_html(spoken.words) else clean_text(spoken.words)
        if not plain or _NOISE.match(plain):
            continue
        time = parse_date(when) if when else None
        name, role = roles.cast(clean_name(spoken.name), DM if spoken.is_dm else "pc")
        witnesses = spoken.hearers and tuple(roles.cast(clean_name(who), "pc")[0] for who in spoken.hearers)
        messages.append(
            ChatMessage(
                name,
                cut_text(plain),
                role=role,
                session=sessions.name_at(time),
                time=time.isoformat() if time else clean_name(when) or None,
                witnesses=witnesses,
            )
        )
    return ReadFile("plain log", chats=(ImportedChat(chat, messages),) if messages else (), problems=problems)


def _form_of(path: Path, text: str) -> _Form | None:
    """Return how the lines of a log name their speakers: the way of most lines.

    In Markdown, dashes and marks of quotation have other meanings.
    """
    is_note = path.suffix.casefold() in (".md", ".markdown")
    lines = [line for line in _CODE.sub("", text[:_LOOKED_AT]).splitlines() if line.strip()]
    bare = [_split_stamp(line)[1] for line in lines]
    best: tuple[int, _Form | None] = (0, None)
    for form in (_named, _marked) if is_note else (_named, _nicked, _dashed, _headed, _titled):
        names = [spoken.name for line in bare if (spoken := form(line)) is not None]
        # Headings of a note come again, too: those of a talk nearly all do.
        fewest = 2 * len(set(names)) - 1 if form is _marked else len(set(names)) + 1
        is_talk = len(names) >= max(_FEWEST, fewest)
        if is_talk and len(names) >= _SHARE * len(lines) and len(names) > best[0]:
            best = len(names), form
    typed = sum(_TYPED.match(line) is not None for line in lines)
    is_story = not is_note and _FEWEST_TYPED <= typed < len(lines)
    return best[1] or (_story if is_story else None)


def _split_stamp(line: str) -> tuple[str, str]:
    """Return the time at the beginning of a line, and the rest."""
    bare = line.strip().lstrip("\u200e\u200f\ufeff")
    stamp = _STAMP.match(bare) or _STAMP.match(_BULLET.sub("", bare))
    if stamp is None:
        late = _LATE_STAMP.match(bare)
        return (late[2], f"{late[1]}:") if late is not None else ("", bare)
    return (stamp[1] or stamp[2]).strip(), stamp.string[stamp.end() :].lstrip("\u200e\u200f")


def _named(line: str) -> _Spoken | None:
    bare = _BULLET.sub("", line)
    aside = _ASIDE.match(bare)
    if aside is not None:  # a whisper, as Roll20 shows it to the one who got or sent it
        is_from = aside[1] == _GM_ASIDE
        return (
            _Spoken(aside[2], aside[3], ()) if is_from else _Spoken("DM", aside[3], (aside[2],), is_dm=True)
        )
    found = _NAMED.match(bare)
    return _Spoken(found[1] or found[3], found[2] or found[4]) if found else None


def _nicked(line: str) -> _Spoken | None:
    found = _NICK.match(line)
    if found is not None:
        return _Spoken(found[1].strip(), found[2])
    action = _ACTION.match(line)
    return _Spoken(action[1], f"*{action[2]}*") if action else None


def _dashed(line: str) -> _Spoken | None:
    found = _DASHED.match(line)
    return _Spoken(found[1], found[2]) if found else None


def _headed(line: str) -> _Spoken | None:
    found = _HEADED.match(line)
    return _Spoken(found[1], "") if found else None


def _marked(line: str) -> _Spoken | None:
    """Read a heading with a name, as programs that write chats as Markdown put it."""
    found = _MARKED.match(line)
    return _Spoken(found[1], "") if found else None


def _titled(line: str) -> _Spoken | None:
    """Read a name on a line of its own, as programs that write recordings down put it."""
    found = _TITLED.match(line)
    return _Spoken(found[1], "") if found else None


def _story(line: str) -> _Spoken | None:
    found = _TYPED.match(line)
    return _Spoken(_PLAYER, found[1]) if found else _Spoken(_NARRATOR, line, is_dm=True)


def _spoken_lines(text: str, form: _Form) -> Iterator[tuple[int, _Spoken, str]]:
    """Yield the utterances of a log with the number of their first line, and their time."""
    lines = text.splitlines()
    stamps = sum(bool(_split_stamp(line)[0]) for line in lines)
    is_stamped = stamps >= _STAMPED_SHARE * max(sum(bool(line.strip()) for line in lines), 1)
    start, spoken, when, said = 1, _Spoken("", ""), "", list[str]()
    for number, line in enumerate(lines, 1):
        stamp, bare = _split_stamp(line)
        if not bare or (bare.startswith("#") and form is not _marked) or set(bare) <= {"-", "*", "_", "="}:
            continue
        found = form(bare)
        if found is None:
            # In a log with times, a line with a time and no name is the program's.
            if not (is_stamped and stamp) and not (form is _nicked and _NOISE.match(bare)):
                said += [bare]
            continue
        if said:
            yield start, spoken._replace(words="\n".join(said)), when
        start, spoken, when, said = number, found, stamp, [found.words] if found.words else []
    if said:
        yield start, spoken._replace(words="\n".join(said)), when
