"""A story that grows with play: one for each viewer and encoding, of what that viewer perceived."""

from collections.abc import Iterable, Sequence
from itertools import groupby, islice

from dndbots.memory.entries import Entry
from dndbots.memory.story.choosing import LEFT, Chosen, left_out
from dndbots.memory.story.past import Opening, Past
from dndbots.memory.story.run import Run
from dndbots.memory.story.spoken import spoken
from dndbots.memory.story.telling import Stable, fine, moved, newest, stable
from dndbots.memory.story.values import Telling, Told
from dndbots.memory.story.window import CHUNK, Part, window_start
from dndbots.tokens import DEFAULT_ENCODING, count_lines

_BUDGETS = 8


class Story:
    """What a context tells of a transcript. It depends on the entries added, and on nothing else.

    Entries are added in the order of play. `window` says how much of them a telling depends on: with
    that much, `Story.of` makes a story that tells the same as one that followed the whole.
    """

    def __init__(self, *, encoding: str = DEFAULT_ENCODING) -> None:
        self._encoding = encoding
        self._session: str | None = None
        self._past = Past()
        self._run = Run(self._past.base)
        self._stable: dict[tuple[int, int], Stable] = {}
        self._fine: dict[tuple[int, int], tuple[int, Chosen]] = {}

    @classmethod
    def of(cls, parts: Sequence[Part], *, lost: bool = False, encoding: str = DEFAULT_ENCODING) -> "Story":
        """A story made from what it needs of each run, the oldest first.

        `lost` says that there were runs before these.
        """
        story = cls(encoding=encoding)
        older = [Opening.of(part, encoding) for part in parts[:-2]]
        story._past = Past(older, lost=lost)
        story._run = Run(story._past.base)
        for part in parts[-2:]:
            story._begin_at(part)
        return story

    def add(self, entries: Iterable[Entry]) -> None:
        """What was perceived next, in the order of play."""
        for session, together in groupby(entries, key=lambda entry: entry.session):
            if session != self._session:
                self._begin(session)
            self._follow(together)

    def _begin(self, session: str) -> None:
        if self._run.count:
            self._past = self._past.followed_by(self._run.closed())
        self._run = Run(self._past.base)
        self._session = session
        self._moved()

    def _begin_at(self, part: Part) -> None:
        """A run from the start of its window, with its opening, as if it had been followed."""
        if not part.count:
            return
        session = part.opening[0].session
        self._begin(session)
        first = window_start(part.count)
        if first:
            self._run.skip(spoken(part.opening, 0, self._encoding), first)
        self._follow(part.window)

    def _follow(self, entries: Iterable[Entry]) -> None:
        coming = iter(entries)
        while some := list(islice(coming, CHUNK)):
            for said in spoken(some, self._run.count, self._encoding):
                boundary = self._run.boundary
                self._run.append(said)
                if self._run.boundary != boundary:
                    self._moved()

    def _moved(self) -> None:
        self._stable.clear()
        self._fine.clear()

    def tell(self, tokens: int, *, of: int | None = None) -> Telling:
        """Names, story and newest lines in at most `tokens` tokens, each line with its newline.

        They may be part of a larger text. The newest lines are not to suffer from what else is in it, so
        their share is one of all its tokens, `of`.
        """
        if tokens <= 0 or not self._run.count:
            return Telling((), ())
        return self._whole(tokens) or self._told(tokens, max(of or tokens, tokens))

    def _whole(self, tokens: int) -> Telling | None:
        """All of it, where all of it fits."""
        before = self._past.lines
        if self._run.first or before is None or self._run.cost + self._past.cost > tokens:
            return None
        kept = [told for said in (*before, *self._run.lines) for told in said.told()]
        return Telling(tuple(kept), ()) if self._fits(kept, tokens) else None

    def _told(self, tokens: int, of: int) -> Telling:
        part = self._stable.get((tokens, of))
        if part is None:
            if len(self._stable) >= _BUDGETS:
                self._moved()
            part = stable(self._past, self._run, tokens, of, self._encoding)
            self._stable[tokens, of] = part
        rest = tokens - part.tokens
        shares = part.shares
        room = int(rest * shares.fine)
        at = moved(self._run, part.start, rest - room, int(rest * shares.least))
        between = self._between((tokens, of), part, at, room)
        lines = self._run.lines[at - self._run.first :]
        recent = newest(lines, rest - between.tokens, self._encoding)
        kept = [*part.told, *between.told, *recent]
        left = [*between.left, *(sentence for each in reversed(part.story) for sentence in each.left)]
        return Telling(tuple(self._fitted(kept, tokens)), tuple(map(left_out, left[:LEFT])))

    def _between(self, key: tuple[int, int], part: Stable, at: int, room: int) -> Chosen:
        known = self._fine.get(key)
        if known is None or known[0] != at:
            known = self._fine[key] = (at, fine(self._run, part, at, room, self._encoding))
        return known[1]

    def _fitted(self, kept: list[Told], tokens: int) -> list[Told]:
        """The lines together, counted once more as the text that they are."""
        kept = list(kept)
        while kept and not self._fits(kept, tokens):
            kept.pop(0)
        return kept

    def _fits(self, kept: Sequence[Told], tokens: int) -> bool:
        return count_lines([told.text for told in kept], self._encoding) <= tokens
