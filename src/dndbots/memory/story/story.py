"""A story that grows with play: one for each viewer and encoding, from what that viewer perceived."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from dndbots.memory.entries import Entry
from dndbots.memory.story.choice import LEFT, NOTHING_BEFORE, ChosenPart, line_left_out
from dndbots.memory.story.lines import StoryLine, StoryTelling, prepare_entries
from dndbots.memory.story.parts import (
    LEAST_LINES,
    NARRATED,
    StablePart,
    find_growing_lines,
    find_newest_start,
    tell_between,
    tell_newest,
    tell_stable_part,
)
from dndbots.memory.story.runs import CHUNK, PastRuns, RunOpening, RunPart, SessionRun, window_start
from dndbots.tokens import DEFAULT_ENCODING, count_lines

_BUDGETS = 8
_STEPS = 16


class NewestLines(NamedTuple):
    """The newest lines: the number of the first, and what they were when they were last cut short.

    `upto` is the last event of that moment, `events` all of them.
    """

    start: int
    upto: str
    events: frozenset[str]


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
        self._stable: dict[tuple[int, int, int, bool], StablePart] = {}
        self._fine: dict[tuple[int, int, int, bool, int], tuple[int, ChosenPart]] = {}

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

    def tell(
        self, tokens: int, *, of: int | None = None, lines: int = 0, more: int = 0, names: bool = True
    ) -> StoryTelling:
        """Return names, story and newest lines in at most `tokens` tokens, newlines included.

        `of` is the budget of the larger text that the story stands in, if any. The newest lines get a share
        of that budget, so that other parts of the text do not crowd them out; with `lines`, a larger one, so
        that at least so many stand in full where they fit. They also get `more` tokens, which may be others
        each time, while the story stays the same. Without `names`, the story gets their room.
        """
        if tokens <= 0 or not self._run.count:
            return StoryTelling((), ())
        whole = self._whole(tokens + more)
        return whole or self._tell_parts(tokens, max(of or tokens, tokens), lines, more, names=names)

    def tell_since(self, upto: str, tokens: int, *, lines: int = 0) -> StoryTelling:
        """Return what came after an event, in at most `tokens` tokens: the newest in full, the rest in short.

        A summary tells what came before. At least some `lines` stand in full where they fit.
        """
        if tokens <= 0 or not self._run.count:
            return StoryTelling((), ())
        run = self._run
        found = (n for n in range(len(run.lines) - 1, -1, -1) if run.lines[n].entry.event_id == upto)
        start = run.first + next(found, -1) + 1
        part = StablePart(NARRATED, (), (), 0, start, NOTHING_BEFORE)
        room = 0 if run.count - start <= lines else int(tokens * NARRATED.fine)
        at = find_newest_start(run, start, tokens - room, tokens - room, lines or LEAST_LINES)
        between = tell_between(run, part, at, room, self._encoding)
        recent = tell_newest(run.lines[at - run.first :], tokens - between.tokens, self._encoding)
        kept = [*between.lines, *recent]
        return StoryTelling(tuple(self._fitted(kept, tokens)), tuple(map(line_left_out, between.left[:LEFT])))

    def find_window(
        self, most: int, least: int, lines: int, *, renews: Callable[[str], bool]
    ) -> NewestLines | None:
        """Return the newest lines that grow to `most` tokens and are then cut to `least`; None without any.

        At least some `lines` stay. An event that `renews` counts as a cut that leaves all lines.
        """
        run = self._run
        if not run.count:
            return None
        start, upto = find_growing_lines(run, most, least, lines)
        ids = [prepared.entry.event_id for prepared in run.lines[start - run.first :]]
        cut = max((n + 1 for n, event_id in enumerate(ids) if renews(event_id)), default=0)
        ids = ids[: max(upto - start, cut)]
        return NewestLines(start, ids[-1], frozenset(ids)) if ids else None

    def tell_window(self, start: int, tokens: int) -> list[StoryLine]:
        """Return the entries of the newest run from `start` on, in full as far as they fit."""
        return tell_newest(self._run.lines[start - self._run.first :], max(tokens, 0), self._encoding)

    def newest_cost(self, lines: int, *, of: int) -> int:
        """Return about how many tokens the newest lines need to stand in full, in steps of the budget `of`.

        They never get more than half of it.
        """
        if not lines:
            return 0
        need, left = 0, lines
        for entry in reversed(self._run.lines):
            if left <= 0:
                break
            need += entry.cost
            left -= len(entry.lines)
        step = max(of // _STEPS, 1)
        return min(-(-need // step) * step, of // 2)

    def _whole(self, tokens: int) -> StoryTelling | None:
        """Return all entries in full, or None if they do not fit."""
        before = self._past.lines
        if self._run.first or before is None or self._run.cost + self._past.cost > tokens:
            return None
        kept = [line for entry in (*before, *self._run.lines) for line in entry.told_lines()]
        return StoryTelling(tuple(kept), ()) if self._fits(kept, tokens) else None

    def _tell_parts(self, tokens: int, of: int, least_lines: int, more: int, *, names: bool) -> StoryTelling:
        newest = self.newest_cost(least_lines, of=of)
        key = (tokens, of, newest, names)
        part = self._stable.get(key)
        if part is None:
            if len(self._stable) >= _BUDGETS:
                self._forget_parts()
            part = tell_stable_part(
                self._past,
                self._run,
                tokens,
                of,
                self._encoding,
                lines=least_lines,
                newest=newest,
                has_names=names,
            )
            self._stable[key] = part
        rest = tokens + more - part.tokens
        shares = part.shares
        room = int(rest * shares.fine)
        least = (int(rest * shares.least), *([least_lines] if least_lines else []))
        at = find_newest_start(self._run, part.start, rest - room, *least)
        between = self._between(key, part, at, room)
        lines = self._run.lines[at - self._run.first :]
        recent = tell_newest(lines, rest - between.tokens, self._encoding)
        kept = [*part.lines, *between.lines, *recent]
        left = [*between.left, *(sentence for each in reversed(part.story) for sentence in each.left)]
        fitted = self._fitted(kept, tokens + more)
        return StoryTelling(tuple(fitted), tuple(map(line_left_out, left[:LEFT])))

    def _between(self, key: tuple[int, int, int, bool], part: StablePart, at: int, room: int) -> ChosenPart:
        # The newest lines may get more room in one context than in another at the same place.
        each = (*key, room)
        known = self._fine.get(each)
        if known is None or known[0] != at:
            if len(self._fine) >= _BUDGETS * _STEPS:
                self._fine.clear()
            known = self._fine[each] = (at, tell_between(self._run, part, at, room, self._encoding))
        return known[1]

    def _fitted(self, kept: list[StoryLine], tokens: int) -> list[StoryLine]:
        """Return the lines without the first ones that are over budget, counted as one text."""
        kept = list(kept)
        while kept and not self._fits(kept, tokens):
            kept.pop(0)
        return kept

    def _fits(self, kept: Sequence[StoryLine], tokens: int) -> bool:
        return count_lines([line.text for line in kept], self._encoding) <= tokens
