"""A session retold to one viewer, to be read aloud: what was set out to do, done, lost and left open."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots.errors import InvalidSetting
from dndbots.ids import DM
from dndbots.memory.agents.agent_memory import pinned_texts
from dndbots.memory.deeds import PARTY, as_sentence, join_names
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import gates_of
from dndbots.memory.recaps.open_ends import find_open_ends
from dndbots.memory.recaps.sessions import read_session
from dndbots.memory.recaps.transcripts import retell_transcript
from dndbots.memory.tellings.digest import fit_passages
from dndbots.memory.tellings.passages import LastPlace, find_heroes, find_last_places, find_passages
from dndbots.memory.tellings.prose import Sentence
from dndbots.memory.tellings.quotations import find_quotations
from dndbots.memory.threads import Thread
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.word_forms import as_whereabouts
from dndbots.tokens import count_tokens

Length = Literal["short", "medium", "long"]
# Sentences to a paragraph, when a recap has several.
_PARAGRAPH: Final = 6
# A place that stands in so many last sentences need not be told again.
_LAST_SENTENCES: Final = 3
# A session with fewer decisions, such as an imported one, is told in the words of the table as well.
_FEW_PASSAGES: Final = 3
# So few lines are told as they are, and need no quotations.
_SHORT_SESSION: Final = 40


class _Size(NamedTuple):
    """The size of a recap: the tokens of its story, and how many open ends and quotations it may have."""

    tokens: int
    open_ends: int
    quotations: int


LENGTHS: Final[dict[str, _Size]] = {
    "short": _Size(120, 2, 0),
    "medium": _Size(400, 4, 2),
    "long": _Size(1000, 8, 3),
}


class RecapLine(BaseModel):
    """A line of a recap, and the ids of its source events. One that is `apart` is a paragraph of its own."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: tuple[str, ...] = ()
    apart: bool = False


class Recap(BaseModel):
    """A session retold. `text` is the whole recap, ready to be read aloud.

    `lines` are the sentences of the story; `open_ends` say what is left to do, `threads` the same as data.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    session: str | None
    length: Length
    title: str = ""
    lines: tuple[RecapLine, ...] = ()
    pinned: tuple[str, ...] = ()
    open_ends: tuple[str, ...] = ()
    threads: tuple[Thread, ...] = ()
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def heading(self) -> str:
        """The first line: the title of the session, or its name."""
        return f"Previously on {self.title or one_line(self.session or '…')}:"

    @property
    def paragraphs(self) -> list[str]:
        """The story in paragraphs."""
        paragraphs: list[str] = []
        for apart, together in groupby(self.lines, key=lambda line: line.apart):
            texts = [line.text for line in together]
            size = 1 if apart else _PARAGRAPH
            paragraphs += [" ".join(texts[start : start + size]) for start in range(0, len(texts), size)]
        return paragraphs


def write_recap(view: View, *, session: str | None, length: str) -> Recap:
    """Retell a session to the viewer; without `session`, the last one with anything to tell."""
    if length not in LENGTHS:
        raise InvalidSetting("length", length, reason=f"is no length; use one of {', '.join(LENGTHS)}")
    size = LENGTHS[length]
    gates = gates_of(view)
    played = read_session(view, session, gates)
    pinned = tuple(pinned_texts(view, gates, size.tokens).values())
    ends = find_open_ends(view)[: size.open_ends]
    recap = Recap(
        viewer=view.viewer,
        session=played.name,
        length=length,
        title=played.title,
        lines=tuple(
            RecapLine(text=sentence.text, sources=sentence.sources, apart=sentence.apart)
            for sentence in _tell(played.entries, size, _name_of(view))
        ),
        pinned=pinned,
        open_ends=tuple(end.text for end in ends),
        threads=tuple(end.thread for end in ends),
        text="",
    )
    return recap.model_copy(update={"text": _text(recap)})


def _text(recap: Recap) -> str:
    if recap.session is None:
        return "Previously on …: nothing yet."
    parts = [recap.heading, *recap.paragraphs]
    if recap.pinned:
        parts += ["", "To keep in mind:", *(f"- {text}" for text in recap.pinned)]
    if recap.open_ends:
        parts += ["", "Still open:", *(f"- {text}" for text in recap.open_ends)]
    return "\n".join(parts)


def _name_of(view: View) -> str:
    """Return the viewer's name; "" for the DM, who sees where everybody is."""
    return "" if view.viewer == DM else view.called([view.viewer])[view.viewer].name


def _tell(entries: Sequence[Entry], size: _Size, me: str) -> list[Sentence]:
    """Return the story of a session in at most `size.tokens` tokens, as `me` lived it."""
    passages = find_passages(entries)
    heroes = find_heroes(passages)
    telling = [passage for passage in passages if passage.kind != "moved"]
    eventful = len(telling) >= _FEW_PASSAGES
    quotations = [
        quotation.passage
        for quotation in find_quotations(entries, size.quotations)
        if eventful or len(entries) > _SHORT_SESSION
    ]
    places = find_last_places(entries) if passages else []
    last = _last_place(places, heroes, len(entries), me)
    fit = partial(fit_passages, heroes=heroes, place=None if eventful else "")
    room = size.tokens - sum(count_tokens(sentence.text) + 1 for sentence in last)
    story = fit(telling, room - sum(count_tokens(passage.what) + 1 for passage in quotations))
    # Nobody is quoted before the story has begun.
    begun = min((sentence.at for sentence in story), default=0)
    quoted = [passage for passage in quotations if passage.at >= begun]
    if quoted:
        story = fit([*telling, *quoted], room)
    if not eventful:
        room -= sum(count_tokens(sentence.text) + 1 for sentence in story)
        known = {source for sentence in story for source in sentence.sources}
        story += retell_transcript(entries, room, without=known)
    told = sorted(story, key=lambda sentence: sentence.at)
    return told if _tells_places(told[-_LAST_SENTENCES:], places) else [*told, *last]


def _tells_places(ending: Sequence[Sentence], places: Sequence[LastPlace]) -> bool:
    """Return whether the end of a story tells already where everybody is: at one place, which it names."""
    return len(places) == 1 and any(places[0].place in sentence.text for sentence in ending)


def _last_place(places: Sequence[LastPlace], heroes: frozenset[str], at: int, me: str) -> list[Sentence]:
    """Return a sentence on where everybody is in the end, or where `me` saw them last."""
    where = []
    for last in sorted(places, key=lambda last: me not in last.who):
        who = PARTY if heroes.issubset(last.who) else join_names(last.who)
        verb = "were" if who != PARTY and len(last.who) > 1 else "was"
        seen = " last seen" if me and me not in last.who else ""
        where.append(f"{who} {verb}{seen} {as_whereabouts(last.place)}")
    sources = tuple(dict.fromkeys(source for last in places for source in last.sources))
    return [Sentence(as_sentence(f"In the end {join_names(where)}"), sources, at)] if where else []
