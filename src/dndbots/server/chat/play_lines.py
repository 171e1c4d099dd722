"""Play in a request: which of its messages are lines of the chat, who says them, and what is instruction.

Clients send the same chat in many shapes: names in a field, as a prefix, or not at all; roles merged; notes
injected between the lines. A reading undoes that as far as there is evidence.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.ids import DM, fold_name, slug
from dndbots.interop.history.messages import plain_text
from dndbots.server.chat.chat_request import ChatPart, ChatRequest

USER: Final = "User"
# A paragraph in brackets is an instruction of the client, as [Start a new Chat].
_BRACKETED: Final = re.compile(r"\[[^\[\]]{3,2000}\]", re.DOTALL)
_NEW_CHAT: Final = re.compile(r"\[Start a new (?:group )?chat\b[^\[\]]*\]", re.IGNORECASE)
_MEMBERS: Final = re.compile(r"Group members: ([^\[\]:]{1,2000})\]", re.IGNORECASE)
_NEXT_SPEAKER: Final = re.compile(r"\[Write the next reply only as ([^\[\]]{1,120})\.\]", re.IGNORECASE)
_PREFIX: Final = re.compile(r"([^\W\d_][^\n:]{0,59}): ")
_ASIDE: Final = re.compile(
    r"[\[(*]\s*+(?:(?:whispers?|aside|privately|quietly)\s++)?to\s++([^\])*\n]{1,200})[\])*]\s*+",
    re.IGNORECASE,
)
# A name before a line that somebody else says, as `Old Hob: `; and labels that look like one.
_NAME_WORD: Final = r"[A-Z][\w'\u2019-]{0,30}"
_STRANGER: Final = re.compile(rf"({_NAME_WORD}(?: (?:of|the|von|de|{_NAME_WORD})){{0,3}}): (?=\S)")
_LABELS: Final = frozenset(
    (
        *("note", "warning", "location", "place", "time", "date", "day", "night", "scene", "chapter", "act"),
        *("status", "summary", "mood", "weather", "inventory", "quest", "system", "ooc", "hint", "setting"),
    )
)
_TASKS: Final = ("### Task:", "### task:")
_FEWEST_TOKENS: Final = 24
_NEAR: Final = 6


class PlayLine(NamedTuple):
    """A line of the chat. `position` is the message of the request that it stands in.

    `hearers` are the only ones who hear a whisper, beside its speaker. An aside stands between the lines as a
    system message: a narrator's line, or a note of the client.
    """

    speaker: str
    text: str
    is_user: bool
    position: int
    hearers: tuple[str, ...] | None = None
    is_aside: bool = False


class PlayReading(NamedTuple):
    """The play in a request: its lines in order, who speaks next, and before which message memory goes."""

    lines: list[PlayLine]
    speaker: str
    user: str
    memory_at: int
    is_merged: bool
    members: tuple[str, ...] = ()

    @property
    def last_of_user(self) -> str:
        """The newest line of the user."""
        return self.lines[self.newest_of_user].text if self.newest_of_user >= 0 else ""

    @property
    def said(self) -> int:
        """How many lines there are after the greetings: from the first one of the user on."""
        first = next((number for number, line in enumerate(self.lines) if line.is_user), len(self.lines))
        return len(self.lines) - first

    @property
    def newest_of_user(self) -> int:
        """The position of the newest line of the user; -1 if there is none."""
        return max((number for number, line in enumerate(self.lines) if line.is_user), default=-1)


def is_play(request: ChatRequest) -> bool:
    """Return False for requests that are no play by their form: summaries, titles, expressions, trackers."""
    if request.hints.kind == "quiet":
        return False
    if request.hints.kind is not None:
        return True
    form = request.body.get("response_format")
    is_formed = isinstance(form, dict) and form.get("type") not in (None, "text")
    few = request.most_tokens is not None and request.most_tokens < _FEWEST_TOKENS
    last = next((part.text for part in reversed(request.parts) if part.role == "user"), "")
    return not (is_formed or few or last.lstrip().startswith(_TASKS))


def read_play(
    request: ChatRequest,
    *,
    is_person: Callable[[Collection[str]], Collection[str]],
    speaker_of: Callable[[str], str | None] = lambda _: None,
    is_line: Callable[[str], bool] = lambda _: True,
) -> PlayReading:
    """Read the play of a request.

    `is_person` returns those of some names that the campaign knows. `speaker_of` returns who said a text
    before, for replies without a name. `is_line` tells whether a text was a line as it stands before.
    """
    hints = request.hints
    texts = [part.text for part in request.parts]
    members = hints.members or _listed_members(texts)
    user = hints.user or USER
    speaker = hints.speaker or _next_speaker(texts) or DM
    if hints.narrator:
        speaker = DM
    names = _Names(_prefixes(request.parts, (*members, user, speaker), is_person), user)
    is_merged = _is_merged(request.parts)
    reader = _Reader(
        names, user, speaker, members, speaker_of, is_line, names_user=_names_user(request.parts, names)
    )
    start = _history_start(request.parts)
    # Where the assistant tells of everybody, names stand in its text; and a greeting is as its card has it.
    reader.strangers_after = start if hints.is_told and speaker != DM else len(request.parts)
    end = max((number for number, part in enumerate(request.parts) if part.is_spoken), default=-1)
    lines = [
        line
        for position, part in enumerate(request.parts[start : end + 1], start)
        for line in reader.lines(part, position)
    ]
    is_marked = start > 0 and _NEW_CHAT.search(request.parts[start - 1].text) is not None
    at = start - 1 if is_marked else start
    return PlayReading(_with_answers(lines), speaker, user, at, is_merged, members)


def _with_answers(lines: Iterable[PlayLine]) -> list[PlayLine]:
    """Keep the answer to a whisper between the same people, unless it says to whom it speaks."""
    found: list[PlayLine] = []
    for line in lines:
        before = next((one for one in reversed(found[-_NEAR:]) if not one.is_aside), None)
        if line.hearers is None and not line.is_user and before is not None and before.hearers is not None:
            circle = {*before.hearers, before.speaker}
            if line.speaker in circle:
                line = line._replace(hearers=tuple(sorted(circle - {line.speaker})))  # noqa: PLW2901
        found.append(line)
    return found


class _Names:
    """The names that lines can begin with, compared as people write them."""

    def __init__(self, names: Iterable[str], user: str) -> None:
        self._names = {fold_name(name): name for name in names if name != DM}
        self._slugs = {slug(name): name for name in self._names.values()}
        self.user = user

    def find(self, name: str) -> str | None:
        """Return the name that is meant: `Father_Aldwin` in a name field is Father Aldwin."""
        return self._names.get(fold_name(name)) or self._slugs.get(slug(name) if name.strip() else "")

    def split(self, text: str) -> tuple[str | None, str]:
        """Return the name that a text begins with, and the rest."""
        begun = _PREFIX.match(text)
        name = self.find(begun[1]) if begun else None
        return (name, text[begun.end() :]) if begun and name else (None, text)


class _Reader:
    """Reads the lines of single messages."""

    def __init__(
        self,
        names: _Names,
        user: str,
        speaker: str,
        members: tuple[str, ...],
        speaker_of: Callable[[str], str | None],
        is_line: Callable[[str], bool],
        *,
        names_user: bool,
    ) -> None:
        self._names, self._user, self._speaker, self._members = names, user, speaker, members
        self._speaker_of, self._is_line, self._names_user = speaker_of, is_line, names_user
        self.strangers_after = 0

    def lines(self, part: ChatPart, position: int) -> Iterator[PlayLine]:
        """Yield the lines of a message; none for one of a tool."""
        if part.is_system:
            words = plain_text(_without_instructions(part.text))
            if len(self._members) > 1 and (begun := _STRANGER.match(words)) is not None:
                words = words[begun.end() :]  # in groups, narrators have a name
            if words:
                yield PlayLine(DM, words, is_user=False, position=position, is_aside=True)
        elif part.is_spoken:
            yield from self._spoken(part, position)

    def _spoken(self, part: ChatPart, position: int) -> Iterator[PlayLine]:
        is_user = part.role == "user"
        for named, text in self._pieces(part):
            name, words = named, plain_text(_without_instructions(text))
            if not words or (is_user and name is None and self._names_user):
                continue  # where the user's lines have a name, nameless text is an injected note
            if name is None and not is_user and position > self.strangers_after:
                name, words = self._split_stranger(words)
            speaker = self._who_replied(words) or name or (self._user if is_user else self._speaker)
            by_user = fold_name(speaker) == fold_name(self._user) if name else is_user
            yield self._line(speaker, words, position, is_user=by_user)

    def _pieces(self, part: ChatPart) -> Iterator[tuple[str | None, str]]:
        """Yield the named pieces of a message: roles may be merged, a paragraph after another."""
        given = self._names.find(part.name) or part.name if part.name else None
        if given is not None:
            yield given, self._names.split(part.text)[1]
            return
        name: str | None = None
        gathered: list[str] = []
        for paragraph in part.text.split("\n\n"):
            found, rest = self._names.split(paragraph)
            is_next = found is not None or self._who_replied("\n\n".join(gathered)) is not None
            if is_next and gathered:
                yield name, "\n\n".join(gathered)
                name, gathered = None, []
            name = found or name
            gathered.append(rest)
        yield name, "\n\n".join(gathered)

    def _split_stranger(self, text: str) -> tuple[str | None, str]:
        """Return the name before a line that somebody outside of the chat says, and the line."""
        begun = _STRANGER.match(text)
        if begun is None or begun[1].casefold() in _LABELS or self._is_line(text):
            return None, text
        return begun[1], text[begun.end() :]

    def _who_replied(self, text: str) -> str | None:
        """Return who gave a reply: in a group, a client may send it under no name, or under another's."""
        return self._speaker_of(text) if text and len(self._members) > 1 else None

    def _line(self, speaker: str, text: str, position: int, *, is_user: bool) -> PlayLine:
        aside = _ASIDE.match(text)
        if aside:
            wanted = re.split(r",| and |&", aside[1])
            hearers = tuple(name for one in wanted if (name := self._names.find(one.strip())) is not None)
            if hearers and text[aside.end() :].strip():
                return PlayLine(speaker, text[aside.end() :].strip(), is_user, position, hearers)
        return PlayLine(speaker, text, is_user, position)


def _without_instructions(text: str) -> str:
    """Drop paragraphs that are instructions in brackets."""
    if "[" not in text:
        return text
    return "\n\n".join(one for one in text.split("\n\n") if not _is_instruction(one))


def _is_instruction(paragraph: str) -> bool:
    return _BRACKETED.fullmatch(paragraph.strip()) is not None and not _ASIDE.match(paragraph.strip())


def _listed_members(texts: Iterable[str]) -> tuple[str, ...]:
    for text in texts:
        found = _MEMBERS.search(text) if "Group members" in text else None
        if found:
            return tuple(name for one in found[1].split(",") if (name := one.strip()))
    return ()


def _next_speaker(texts: list[str]) -> str | None:
    for text in reversed(texts[-4:]):
        found = _NEXT_SPEAKER.search(text)
        if found:
            return found[1].strip()
    return None


def _prefixes(
    parts: list[ChatPart], known: Iterable[str], is_person: Callable[[Collection[str]], Collection[str]]
) -> set[str]:
    """Return the names that lines of this request begin with."""
    found = {part.name for part in parts if part.name and not part.name.startswith("example_")}
    begun = {
        match[1].strip()
        for part in parts
        if part.is_spoken
        for paragraph in part.text.split("\n\n")
        if (match := _PREFIX.match(paragraph))
    }
    names = {name for name in known if name}
    folded = {fold_name(name) for name in names}
    asked = [name for name in sorted(begun) if fold_name(name) not in folded][:200]
    return names | found | set(is_person(asked) if asked else ())


def _names_user(parts: list[ChatPart], names: _Names) -> bool:
    return any(
        names.split(paragraph)[0] == names.user
        for part in parts
        if part.role == "user"
        for paragraph in part.text.split("\n\n")
    )


def _is_merged(parts: list[ChatPart]) -> bool:
    """Return True if no two neighbours have the same role: the client merges them."""
    return all(one.role != other.role for one, other in pairwise(parts))


def _history_start(parts: list[ChatPart]) -> int:
    """Return the message at which the history begins: after the client's prompts and examples."""
    for number in range(len(parts) - 1, -1, -1):
        if parts[number].is_system and _NEW_CHAT.search(parts[number].text):
            return number + 1
    return next((number for number, part in enumerate(parts) if not part.is_system), len(parts))
