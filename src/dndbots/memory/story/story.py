"""A story that grows with play: one for each viewer and encoding, from what that viewer perceived."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby, islice
from typing import NamedTuple, Protocol

from dndbots.memory.entries import Entry
from dndbots.memory.story.choice import LEFT, NOTHING_BEFORE, ChosenPart
from dndbots.memory.story.lines import PreparedEntry, StoryLine, StoryTelling, prepare_entries
from dndbots.memory.story.parts import (
    LEAST_LINES,
    NARRATED,
    StablePart,
    find_cuts,
    find_last_lines,
    find_newest_start,
    tell_between,
    tell_newest,
    tell_stable_part,
)
from dndbots.memory.story.runs import CHUNK, PastRuns, RunOpening, RunPart, SessionRun, window_start
from dndbots.tokens import DEFAULT_ENCODING, count_lines, count_many

_BUDGETS = 8
_STEPS = 16
_BESIDE = 200  # entries that may stand between texts that the reader has in front of it
_WHISPER = re.compile(r"^\(whispers to [^()]*\) ")


class TextsBeside(Protocol):
    """Texts that the reader has in front of it beside the story."""

    @property
    def texts(self) -> Collection[str]: ...
    def has(self, text: str) -> bool: ...


class NewestLines(NamedTuple):
    """The newest lines: the number of the first, and what a front that stands before them was made of.

    The front knew all until the event `upto`. It left out the `events` from the entry `since` on, which stood
    among the newest lines at that moment: those before `start` do so no longer. `cut` is the last event that
    was known when the newest lines were last cut short, and `end` the number of the entry after it.
    """

    start: int
    since: int
    upto: str
    cut: str
    end: int
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
        self._rest: tuple[object, SessionRun, frozenset[str]] | None = None

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
        self,
        tokens: int,
        *,
        of: int | None = None,
        lines: int = 0,
        more: int = 0,
        names: bool = True,
        beside: TextsBeside | None = None,
    ) -> StoryTelling:
        """Return names, story and newest lines in at most `tokens` tokens, newlines included.

        `of` is the budget of the larger text that the story stands in, if any. The newest lines get a share
        of that budget, so that other parts of the text do not crowd them out; with `lines`, a larger one, so
        that at least so many stand in full where they fit. They also get `more` tokens, which may be others
        each time, while the story stays the same. Without `names`, the story gets their room. Entries whose
        texts stand `beside` it are not told: what came before them gets their room.
        """
        if tokens <= 0 or not self._run.count:
            return StoryTelling((), ())
        run, told = self._without(beside)
        whole = self._whole(run, tokens + more, beside)
        return whole or self._tell_parts(
            tokens, max(of or tokens, tokens), lines, more, names=names, rest=run, told=told
        )

    def tell_since(
        self, upto: str, tokens: int, *, lines: int = 0, beside: TextsBeside | None = None
    ) -> StoryTelling:
        """Return what came after an event, in at most `tokens` tokens: the newest in full, the rest in short.

        A summary tells what came before. At least some `lines` stand in full where they fit. Entries whose
        texts stand `beside` the story are not told.
        """
        if tokens <= 0 or not self._run.count:
            return StoryTelling((), ())
        run, _ = self._without(beside)
        found = (n for n in range(len(run.lines) - 1, -1, -1) if run.lines[n].entry.event_id == upto)
        start = run.first + next(found, -1) + 1
        part = StablePart(NARRATED, (), (), 0, start, NOTHING_BEFORE)
        room = 0 if run.count - start <= lines else int(tokens * NARRATED.fine)
        at = find_newest_start(run, start, tokens - room, tokens - room, lines or LEAST_LINES)
        between = tell_between(run, part, at, room, self._encoding)
        recent = tell_newest(run.lines[at - run.first :], tokens - between.tokens, self._encoding)
        kept = [*between.lines, *recent]
        return StoryTelling(tuple(self._fitted(kept, tokens)), between.left[:LEFT])

    def find_window(
        self,
        most: int,
        least: int,
        longest: int,
        lines: int,
        *,
        renews: Callable[[str], bool],
        fronts: int = 1,
    ) -> NewestLines | None:
        """Return the newest lines that grow to `most` tokens and are then cut to `least`; None without any.

        At least some `lines` stay if they do not take more than `longest` tokens. A front lasts for some cuts
        (the first one, with little in it, for one), or until an event that `renews` it.
        """
        run = self._run
        if not run.count:
            return None
        cuts = find_cuts(run, most, least, longest, lines)
        since, end = cuts[(len(cuts) - 2) // fronts * fronts + 1] if len(cuts) > 1 else cuts[0]
        ids = [prepared.entry.event_id for prepared in run.lines[end - run.first :]]
        renewed = max((end + n + 1 for n, event_id in enumerate(ids) if renews(event_id)), default=0)
        if renewed:
            since, end = cuts[-1].start, max(renewed, cuts[-1].end)
        told = [one.entry.event_id for one in run.lines[since - run.first : end - run.first]]
        start, last = cuts[-1]
        cut = run.lines[last - 1 - run.first].entry.event_id
        return NewestLines(start, since, told[-1], cut, last, frozenset(told)) if told else None

    def tell_window(self, start: int, tokens: int, *, end: int | None = None) -> list[StoryLine]:
        """Return the entries of the newest run from `start` on, up to `end`, in full as far as they fit."""
        first, last = start - self._run.first, self._run.count if end is None else end
        entries = self._run.lines[first : last - self._run.first]
        return tell_newest(entries, max(tokens, 0), self._encoding)

    def tell_before(self, window: NewestLines, tokens: int) -> list[StoryLine]:
        """Return in short what stands neither in the front nor among the newest lines."""
        part = StablePart(NARRATED, (), (), 0, window.since, NOTHING_BEFORE)
        if window.since >= window.start or tokens <= 0:
            return []
        return list(tell_between(self._run, part, window.start, tokens, self._encoding).lines)

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

    def _without(self, beside: TextsBeside | None) -> tuple[SessionRun, frozenset[str]]:
        """Return the newest run with nothing in the entries that stand beside it, and their events."""
        if beside is None or not beside.texts:
            return self._run, frozenset()
        key = (beside, self._session, self._run.count)
        if self._rest is None or self._rest[0] != key:
            at = max(0, len(self._run.lines) - 2 * len(beside.texts) - _BESIDE)
            lines = [*self._run.lines[:at], *(_silent(one, beside) for one in self._run.lines[at:])]
            told = (
                one.entry.event_id for one, was in zip(lines, self._run.lines, strict=True) if one is not was
            )
            self._rest = (key, self._run.with_lines(lines), frozenset(told))
        return self._rest[1:]

    def _whole(self, run: SessionRun, tokens: int, beside: TextsBeside | None) -> StoryTelling | None:
        """Return all entries in full, or None if they do not fit."""
        before = self._past.lines
        if run.first or before is None or run.cost + self._past.cost > tokens:
            return None
        if beside is not None:
            before = tuple(_silent(one, beside) for one in before)
        kept = [line for entry in (*before, *run.lines) for line in entry.told_lines()]
        return StoryTelling(tuple(kept), ()) if self._fits(kept, tokens) else None

    def _tell_parts(
        self,
        tokens: int,
        of: int,
        least_lines: int,
        more: int,
        *,
        names: bool,
        rest: SessionRun,
        told: frozenset[str],
    ) -> StoryTelling:
        """Return the parts of the story. What stands in the events of `told` is left out of all of them.

        `rest` is the newest run without those. What is chosen for the story does not depend on them.
        """
        key, part = self._stable_part(tokens, of, least_lines, names=names)
        before = _without_events(part.lines, told)
        left = tokens + more - part.tokens + self._saved(part.lines, before)
        shares = part.shares
        room = int(left * shares.fine)
        least = (int(left * shares.least), *([least_lines] if least_lines else []))
        at = find_newest_start(rest, part.start, left - room, *least)
        if told and at == part.start:
            at = find_last_lines(rest, left - room, least_lines or LEAST_LINES)
        between = self._between(key, part, at, room) if at > part.start else ChosenPart()
        lately = _without_events(between.lines, told)
        newest = rest.lines[at - rest.first :]
        recent = tell_newest(
            newest, left - between.tokens + self._saved(between.lines, lately), self._encoding
        )
        if told:
            before = _without_events(before, frozenset(one.entry.event_id for one in newest))
        kept = [*before, *lately, *recent]
        unsaid = (*between.left, *(line for each in reversed(part.story) for line in each.left))
        fitted = self._fitted(kept, tokens + more)
        return StoryTelling(tuple(fitted), unsaid[:LEFT])

    def _stable_part(
        self, tokens: int, of: int, least_lines: int, *, names: bool
    ) -> tuple[tuple[int, int, int, bool], StablePart]:
        """Return the part that stays the same until the boundary of the run moves, and its key."""
        newest = self.newest_cost(least_lines, of=of)
        key = (tokens, of, newest, names)
        part = self._stable.get(key)
        if part is None:
            if len(self._stable) >= _BUDGETS:
                self._forget_parts()
            part = self._stable[key] = tell_stable_part(
                self._past,
                self._run,
                tokens,
                of,
                self._encoding,
                lines=least_lines,
                newest=newest,
                has_names=names,
            )
        return key, part

    def _saved(self, lines: Sequence[StoryLine], kept: Sequence[StoryLine]) -> int:
        """Return the tokens of the lines that are not kept."""
        if len(kept) == len(lines):
            return 0
        gone = [line.text + "\n" for line in lines if line not in kept]
        return sum(count_many(gone, self._encoding))

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


def _silent(prepared: PreparedEntry, beside: TextsBeside) -> PreparedEntry:
    """Return an entry without its words, if they stand beside the story."""
    text = _WHISPER.sub("", prepared.entry.text)
    if not prepared.lines or prepared.entry.outcomes or not beside.has(text):
        return prepared
    return prepared._replace(lines=(), cost=0, sentences=())


def _without_events(lines: Sequence[StoryLine], events: frozenset[str]) -> Sequence[StoryLine]:
    """Return the lines without those that some events say; a line of names says nothing of them."""
    if not events:
        return lines
    return [
        line
        for line in lines
        if line.part == "names" or not line.sources or not events.issuperset(line.sources)
    ]
