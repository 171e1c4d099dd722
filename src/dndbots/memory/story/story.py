"""A story that grows with play: one for each viewer and encoding, from what that viewer perceived."""

from collections.abc import Iterable, Sequence
from itertools import groupby, islice

from dndbots.memory.entries import Entry
from dndbots.memory.story.choice import LEFT, ChosenPart, line_left_out
from dndbots.memory.story.lines import StoryLine, StoryTelling, prepare_entries
from dndbots.memory.story.parts import (
    StablePart,
    find_newest_start,
    tell_between,
    tell_newest,
    tell_stable_part,
)
from dndbots.memory.story.runs import CHUNK, PastRuns, RunOpening, RunPart, SessionRun, window_start
from dndbots.tokens import DEFAULT_ENCODING, count_lines

_BUDGETS = 8


class Story:
    """The story of a transcript. It depends only on the entries, which are added in the order of play.

    `Story.of` makes the same story from the bounded window that `runs` describes, without following the
    whole transcript.
    """

    def __init__(self, *, encoding: str = DEFAULT_ENCODING) -> None:
        self._encoding = encoding
        self._session: str | None = None
        self._past = PastRuns()
        self._run = SessionRun(self._past.base)
        self._stable: dict[tuple[int, int], StablePart] = {}
        self._fine: dict[tuple[int, int], tuple[int, ChosenPart]] = {}

    @classmethod
    def of(cls, parts: Sequence[RunPart], *, lost: bool = False, encoding: str = DEFAULT_ENCODING) -> "Story":
        """Make a story from the needed entries of each run, oldest run first.

        `lost` says that there were runs before these.
        """
        story = cls(encoding=encoding)
        older = [RunOpening.of(part, encoding) for part in parts[:-2]]
        story._past = PastRuns(older, lost=lost)
        story._run = SessionRun(story._past.base)
        for part in parts[-2:]:
            story._begin_at(part)
        return story

    def add(self, entries: Iterable[Entry]) -> None:
        """Add the entries that were perceived next, in the order of play."""
        for session, together in groupby(entries, key=lambda entry: entry.session):
            if session != self._session:
                self._begin(session)
            self._follow(together)

    def _begin(self, session: str) -> None:
        if self._run.count:
            self._past = self._past.followed_by(self._run.closed())
        self._run = SessionRun(self._past.base)
        self._session = session
        self._forget_parts()

    def _begin_at(self, part: RunPart) -> None:
        """Begin a run at the start of its window, with its opening, as if it had been followed."""
        if not part.count:
            return
        session = part.opening[0].session
        self._begin(session)
        first = window_start(part.count)
        if first:
            self._run.skip(prepare_entries(part.opening, 0, self._encoding), first)
        self._follow(part.window)

    def _follow(self, entries: Iterable[Entry]) -> None:
        coming = iter(entries)
        while some := list(islice(coming, CHUNK)):
            for entry in prepare_entries(some, self._run.count, self._encoding):
                boundary = self._run.boundary
                self._run.append(entry)
                if self._run.boundary != boundary:
                    self._forget_parts()

    def _forget_parts(self) -> None:
        self._stable.clear()
        self._fine.clear()

    def tell(self, tokens: int, *, of: int | None = None) -> StoryTelling:
        """Return names, story and newest lines in at most `tokens` tokens, newlines included.

        `of` is the budget of the larger text that the story stands in, if any. The newest lines get a share
        of that budget, so that other parts of the text do not crowd them out.
        """
        if tokens <= 0 or not self._run.count:
            return StoryTelling((), ())
        return self._whole(tokens) or self._tell_parts(tokens, max(of or tokens, tokens))

    def _whole(self, tokens: int) -> StoryTelling | None:
        """Return all entries in full, or None if they do not fit."""
        before = self._past.lines
        if self._run.first or before is None or self._run.cost + self._past.cost > tokens:
            return None
        kept = [line for entry in (*before, *self._run.lines) for line in entry.story_lines()]
        return StoryTelling(tuple(kept), ()) if self._fits(kept, tokens) else None

    def _tell_parts(self, tokens: int, of: int) -> StoryTelling:
        part = self._stable.get((tokens, of))
        if part is None:
            if len(self._stable) >= _BUDGETS:
                self._forget_parts()
            part = tell_stable_part(self._past, self._run, tokens, of, self._encoding)
            self._stable[tokens, of] = part
        rest = tokens - part.tokens
        shares = part.shares
        room = int(rest * shares.fine)
        at = find_newest_start(self._run, part.start, rest - room, int(rest * shares.least))
        between = self._between((tokens, of), part, at, room)
        lines = self._run.lines[at - self._run.first :]
        recent = tell_newest(lines, rest - between.tokens, self._encoding)
        kept = [*part.lines, *between.lines, *recent]
        left = [*between.left, *(sentence for each in reversed(part.story) for sentence in each.left)]
        return StoryTelling(tuple(self._fitted(kept, tokens)), tuple(map(line_left_out, left[:LEFT])))

    def _between(self, key: tuple[int, int], part: StablePart, at: int, room: int) -> ChosenPart:
        known = self._fine.get(key)
        if known is None or known[0] != at:
            known = self._fine[key] = (at, tell_between(self._run, part, at, room, self._encoding))
        return known[1]

    def _fitted(self, kept: list[StoryLine], tokens: int) -> list[StoryLine]:
        """Return the lines without the first ones that are over budget, counted as one text."""
        kept = list(kept)
        while kept and not self._fits(kept, tokens):
            kept.pop(0)
        return kept

    def _fits(self, kept: Sequence[StoryLine], tokens: int) -> bool:
        return count_lines([line.text for line in kept], self._encoding) <= tokens
