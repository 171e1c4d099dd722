"""Notes of sessions in a vault: the DM's account of what was played, in the order of play.

A note counts as one if it says so by its front matter, its tags or its folder, and has a number or a date.
What is only planned is lore.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from dndbots.ids import DM, fold_name
from dndbots.interop.formats.bounds import as_list, clean_name, cut_text
from dndbots.interop.formats.dates import parse_date
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions
from dndbots.interop.history.messages import ChatMessage

ORDER: Final = "session_order"
_SAYS_SO: Final = re.compile(
    r"^(?:game |play )?(?:session|recap|adventure log|campaign log)s?\b", re.IGNORECASE
)
_MAY_BE: Final = re.compile(r"^(?:journal|log|diar(?:y|ies)|chronicle)s?\b", re.IGNORECASE)
_TITLE: Final = re.compile(
    r"^(?:(?:game |play )?session|recap|episode|ep|chapter|part|sitzung|sesión|séance|[se](?=\d))"
    r"[ _#.:\u2013-]*(?:no\.? ?)?(\d{1,4})\b",
    re.IGNORECASE,
)
_EPISODE: Final = re.compile(r"^s(\d{1,3})[ ._-]?e(\d{1,3})\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"^#?(\d{1,4})(?=[ ._):\u2013-]|$)")
_DATE: Final = re.compile(r"\b(\d{4})[-._](\d{1,2})[-._](\d{1,2})\b")
_PLANNED: Final = re.compile(
    r"\b(?:prep(?:aration)?|plan(?:ned|ning|s)?|upcoming|draft|template|ideas?|outline|index|todo)\b",
    re.IGNORECASE,
)
_NUMBERS: Final = (
    "session-number",
    "session_number",
    "sessionnumber",
    "session",
    "number",
    "sessionnum",
    "episode",
)
_DATES: Final = (
    "date",
    "session-date",
    "session_date",
    "played",
    "date-played",
    "real-date",
    "gamedate",
    "created",
)
_PEOPLE: Final = ("participants", "attendees", "characters", "pcs", "party", "present")
_COMMA: Final = re.compile(r"[,;](?![^()]{0,120}\))")
_AS: Final = re.compile(r"\bas ([^()]{1,80})")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+([^\n]*)$", re.MULTILINE)
_PICTURE: Final = re.compile(r"^[^\w\"'(\[]+")
# Headings that tell nothing.
_PLAIN: Final = re.compile(
    r"(?:session|recap|summary|notes?|overview|events?|what happened|log|story|play|highlights?|details?)\b",
    re.IGNORECASE,
)
_RULE: Final = re.compile(r"[\W_]+$")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_BREAK: Final = re.compile(r"\n[ \t]*\n|\n(?=(?:[-*+]|\d{1,3}[.)]) )")
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]) (?:\[[ xX]\] )?", re.MULTILINE)
_LINK: Final = re.compile(r"\[\[([^\[\]|#]{1,120})(?:[#|][^\[\]]{0,120})?\]\]")


def is_session(title: str, fields: Mapping[str, Any], kinds: Iterable[str], folders: Iterable[str]) -> bool:
    """Tell whether a note is about a session that was played.

    `kinds` are what its front matter and its tags say that it is.
    """
    states = (str(fields.get("status") or ""), str(fields.get("state") or ""))
    if any(map(_PLANNED.search, (title, *states))):
        return False
    words, places = [*kinds], [*folders]
    is_counted = _number(title, fields) is not None or _date(title, fields) is not None
    if any(map(_SAYS_SO.match, words)) or any(key in fields for key in _NUMBERS[:3]):
        return is_counted
    if any(map(_SAYS_SO.match, places)):
        return is_counted
    if any(map(_MAY_BE.match, (*words, *places))):
        return _date(title, fields) is not None or _TITLE.match(title) is not None
    found = _TITLE.match(title)
    return found is not None and title[:1].casefold() == "s" and title.casefold().startswith("session")


def read_session(
    title: str,
    fields: Mapping[str, Any],
    told: Sequence[str],
    secret: Sequence[str],
    options: ImportOptions,
) -> ImportedChat:
    """Return a note as a chat: the DM tells its paragraphs, to those whom the front matter names.

    The `secret` ones are the DM's alone.
    """
    day = _date(title, fields)
    people = {
        name: "pc" for key in _PEOPLE for value in _texts(fields.get(key)) for name in _people(value) if name
    }
    people |= {name: "pc" for name in options.known_to if fold_name(name) != "party"}
    name = next(iter(options.dm), "DM")
    session = options.session or title
    time = day.isoformat() if day else None
    messages = [
        ChatMessage(name, cut_text(text), role=DM, session=session, time=time, witnesses=witnesses)
        for texts, witnesses in ((told, None), (secret, ()))
        for text in texts
    ]
    order = (_number(title, fields) or 0, time or "")
    return ImportedChat(title, messages, people, fields={ORDER: order})


def paragraphs(body: str) -> Iterator[str]:
    """Yield the paragraphs of a note and the points of its lists.

    A list below a heading of its own stays whole: the heading tells what its points are about.
    """
    pieces = _HEADING.split(f"\n{body}")
    for heading, section in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        about = _PICTURE.sub("", heading).strip(" :*_")
        if not about or _PLAIN.match(about) or _RULE.match(about):
            blocks = _BREAK.split(section)
        else:
            blocks = [f"{about}:\n{block}" for block in _BLANK.split(section) if block.strip(" \t\n-*_")]
        yield from (_BULLET.sub("", block) for block in blocks if block.strip())


def is_session_note(chat: ImportedChat) -> bool:
    """Return True for a chat that is the DM's account of a session."""
    return ORDER in chat.fields


def order_of(chats: Sequence[ImportedChat]) -> tuple[int, str]:
    """Return where the first chat of a file stands among the sessions of a vault."""
    order = chats[0].fields.get(ORDER) if chats else None
    return order if isinstance(order, tuple) else (0, "")


def _number(title: str, fields: Mapping[str, Any]) -> int | None:
    for key, value in fields.items():
        if key.casefold() in _NUMBERS and isinstance(value, (int, str)) and not isinstance(value, bool):
            found = re.search(r"\d{1,4}", str(value))
            if found is not None:
                return int(found[0])
    episode = _EPISODE.match(title)
    if episode is not None:
        return int(episode[1]) * 1_000 + int(episode[2])
    found = _TITLE.match(title) or (None if _DATE.match(title) else _NUMBER.match(title))
    return int(found[1]) if found is not None else None


def _date(title: str, fields: Mapping[str, Any]) -> datetime | None:
    named = _DATE.search(title)
    values = [fields[key] for key in fields if key.casefold() in _DATES]
    texts = [value.isoformat() if isinstance(value, date) else str(value) for value in values if value]
    if named is not None:
        texts.insert(0, "-".join((named[1], named[2].zfill(2), named[3].zfill(2))))
    return next(filter(None, map(parse_date, texts)), None)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [part for part in _COMMA.split(value) if part.strip()]
    return [str(inner) for one in as_list(value) for inner in (as_list(one) or [one])]


def _people(text: str) -> list[str]:
    """Return the characters that an entry of a list of participants means: "Ann (as Zara)", "[[Zara]]"."""
    links, plays = _LINK.findall(text), _AS.search(text)
    if links:
        names = [link.rpartition("/")[2] for link in links]
    else:
        names = re.split(r",| and | & ", plays[1]) if plays else [re.sub(r"\([^()]*\)", "", text)]
    return [clean_name(name.strip(" -*_")) for name in names]
