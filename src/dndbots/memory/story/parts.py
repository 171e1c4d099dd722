"""The parts of a told story and their shares of the budget, from the most to the least stable part.

Providers cache the unchanged prefix of a prompt, so a part is chosen again only when its boundary moves: the
past when the run has grown fourfold, this run when it has grown by a fourth, and the lines after that when
the newest lines have filled their share.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from dndbots.memory.selection.candidates import Candidate
from dndbots.memory.selection.cover import CoverWish
from dndbots.memory.story.choice import ChosenPart, ToldBefore, choose_part
from dndbots.memory.story.lines import PreparedEntry, StoryLine, cut_line
from dndbots.memory.story.runs import CHUNK, PastRuns, SessionRun
from dndbots.text.names import Name, Spelling
from dndbots.text.words import content_stems
from dndbots.tokens import count_many


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """The shares of a budget, and the settings of the story.

    `names` and `story` are shares of the whole. `fine` is the share of the rest for the lines between the
    boundary and the newest lines, `least` the share of the rest that the newest lines keep.
    """

    narrated: bool
    names: float
    story: float
    fine: float
    least: float
    wish: CoverWish


NARRATED: Final = Shares(
    narrated=True, names=0.12, story=0.82, fine=0.4, least=0.3, wish=CoverWish(retold=1.0)
)
# In a chat without narration the last lines matter most, and of the rest each word is told once.
TALK: Final = Shares(
    narrated=False,
    names=0.0,
    story=0.8,
    fine=0.3,
    least=0.5,
    wish=CoverWish(retold=1.0, power=0.1, fragments=True),
)
_NARRATED_LEAST: Final = 0.02
_MOST_NAMES: Final = 400
# The share of the story that the past may take, by the length of the newest run.
_PAST: Final = ((0, 1.0), (64, 0.6), (256, 0.45), (1024, 0.35))
_PAST_LAST: Final = 0.3
# The newest lines get at least this much, also in a small budget.
LEAST_LINES: Final = 3
_LEAST_REST: Final = 160
# Entries before which what stands before the newest lines is told anew each time, and between two cuts.
_FIRST: Final = 4
_GROWN: Final = 7
# Beyond this many tokens, the newest lines get only half their share.
_AMPLE: Final = 2_000


class StablePart(NamedTuple):
    """The names and the story up to a boundary. `start` is the first entry that it leaves out."""

    shares: Shares
    lines: tuple[StoryLine, ...]
    story: tuple[ChosenPart, ...]
    tokens: int
    start: int
    before: ToldBefore


def tell_stable_part(
    past: PastRuns,
    run: SessionRun,
    tokens: int,
    of: int,
    encoding: str,
    *,
    lines: int = 0,
    newest: int = 0,
    has_names: bool = True,
) -> StablePart:
    """Tell the part that stays the same until the boundary of the run moves.

    `tokens` is the room for the whole story, `of` the budget of the whole text: the newest lines get a share
    of the latter, and at least `newest` tokens if some `lines` of them are wanted in full.
    """
    tally = run.tally
    shares = NARRATED if tally.narrated >= _NARRATED_LEAST * max(1, tally.entries) else TALK
    # In a game, the newest lines are wanted word for word, and people and places have lines of their own.
    if lines:
        shares = replace(shares, story=0.72, fine=0.2, least=0.65)
    if lines or not has_names:
        shares = replace(shares, wish=replace(shares.wish, whole=True))
    shares = shares if has_names else replace(shares, names=0.0)
    rest = max(int((1 - shares.story) * (min(of, _AMPLE) + max(of - _AMPLE, 0) / 2)), _LEAST_REST)
    rest = max(rest, int(newest / (1 - shares.fine)) + 1)
    room = max(tokens - rest, tokens // (5 if lines else 2))
    rest = tokens - room
    start = _back(run, run.boundary, int(rest * (1 - shares.fine)), lines or LEAST_LINES)
    most_names = min(int(tokens * shares.names), _MOST_NAMES)
    room -= most_names
    share = next((share for limit, share in _PAST if run.boundary <= limit), _PAST_LAST)
    # Before the run has a boundary, the topics of the past decide.
    now = tally.salience(run.names, narrated=shares.narrated)
    old = choose_part(
        past.pool,
        int(room * share),
        salience=now if run.boundary else past.tally.salience(past.names, narrated=shares.narrated),
        wish=replace(shares.wish, retold=1.0),
        encoding=encoding,
    )
    new = choose_part(
        run.pool(start),
        room - old.tokens,
        salience=now,
        wish=shares.wish,
        encoding=encoding,
        before=ToldBefore(old),
        beside=() if shares.narrated else run.sentences(start, run.boundary),
    )
    names = _names(past, run, most_names, encoding, (*old.sentences, *new.sentences))
    used = _cost(names, encoding) + old.tokens + new.tokens
    told = (*old.lines, *new.lines, *names)
    return StablePart(shares, told, (old, new), used, start, ToldBefore(old, new))


def _names(
    past: PastRuns, run: SessionRun, tokens: int, encoding: str, story: Iterable[Candidate]
) -> list[StoryLine]:
    """Return a line of the names that came up and are not in the story."""
    known = {word for sentence in story for word in sentence.words}
    roster = make_roster(past, run.tally.spelling, run.names)
    line = roster.line("Who else", tokens, encoding, without=known)
    return [line] if line else []


def _cost(lines: list[StoryLine], encoding: str) -> int:
    return sum(count_many([line.text + "\n" for line in lines], encoding))


def _back(
    run: SessionRun, end: int, tokens: int, lines: int = LEAST_LINES, longest: int | None = None
) -> int:
    """Return the first of the entries before `end` that fit into `tokens` together.

    At least some `lines` are taken, if a few of them do not take more than `longest` tokens; an entry that
    says nothing is none.
    """
    at, taken, used = end, 0, 0
    while at > run.first and (taken < lines or used < tokens):
        used += run.lines[at - 1 - run.first].cost
        is_enough = taken >= lines or (longest is not None and used > longest and taken >= LEAST_LINES)
        if used > tokens and is_enough:
            break
        taken += run.lines[at - 1 - run.first].cost > 0
        at -= 1
    return at


def find_newest_start(run: SessionRun, start: int, most: int, least: int, lines: int = LEAST_LINES) -> int:
    """Return the number of the entry at which the newest lines begin.

    They grow to `most` tokens; then they shrink to `least` tokens, or to some `lines` if these are more.
    """
    at, used = start, 0
    for number in range(start, run.count):
        used += run.lines[number - run.first].cost
        if used > most and number - at >= lines:
            at = max(at, _back(run, number + 1, least, lines))
            used = sum(entry.cost for entry in run.lines[at - run.first : number + 1 - run.first])
    return at


def find_last_lines(run: SessionRun, tokens: int, lines: int) -> int:
    """Return the number of the first of the last entries that fit; those that say nothing cost nothing."""
    return _back(run, run.count, tokens, lines)


class Cut(NamedTuple):
    """A moment at which the newest lines were cut short: their first entry then, and the one after them."""

    start: int
    end: int


def find_cuts(run: SessionRun, most: int, least: int, longest: int, lines: int) -> list[Cut]:
    """Return the moments at which the newest lines were cut short, at least one.

    They grow to `most` tokens, and by a few entries at least; then they are cut to `least` tokens, or to some
    `lines` if these are more, of which the first may be missing if they take more than `longest` tokens. It
    depends on the entries of the last two chunks only.
    """
    anchor = max(run.first, (run.count - 1) // CHUNK * CHUNK)
    end = max(anchor, min(run.count, run.first + _FIRST))
    cuts = [Cut(_back(run, anchor, least, lines, longest), end)]
    used = _used(run, *cuts[-1])
    for number in range(end, run.count):
        used += run.lines[number - run.first].cost
        if used > most and number - cuts[-1].end >= _GROWN:
            start = max(cuts[-1].start, _back(run, number + 1, least, lines, longest))
            cuts.append(Cut(start, number + 1))
            used = _used(run, *cuts[-1])
    return cuts


def _used(run: SessionRun, start: int, end: int) -> int:
    return sum(entry.cost for entry in run.lines[start - run.first : end - run.first])


def tell_between(run: SessionRun, part: StablePart, until: int, tokens: int, encoding: str) -> ChosenPart:
    """Tell the entries between the stable part and the newest lines, which begin at entry `until`."""
    pool = list(run.sentences(part.start, until))
    between = choose_part(
        pool,
        tokens,
        salience=run.tally.beside(pool).salience(run.names, narrated=part.shares.narrated),
        wish=replace(part.shares.wish, retold=1.0),
        encoding=encoding,
        before=part.before,
    )
    return between._replace(lines=tuple(line._replace(part="lately") for line in between.lines))


def tell_newest(entries: list[PreparedEntry], tokens: int, encoding: str) -> list[StoryLine]:
    """Tell the newest entries in full as far as they fit; cut a line that would take most of the room."""
    kept: list[StoryLine] = []
    most = max(tokens // 2, 1)
    for entry in reversed(entries):
        for line, (_, cost) in zip(reversed(entry.told_lines()), reversed(entry.lines), strict=True):
            room = tokens if cost <= tokens and not kept and len(entries) == 1 else min(tokens, most)
            if cost <= room or (cost <= tokens and cost <= most):
                kept.append(line)
                tokens -= cost
                continue
            if len(kept) >= LEAST_LINES:
                return kept[::-1]
            short = cut_line(line.text, min(tokens, most), encoding)
            if not short:
                return kept[::-1]
            kept.append(line._replace(text=short, reason="one of the newest lines, cut to fit"))
            tokens -= count_many([short + "\n"], encoding)[0]
    return kept[::-1]


_MOST: Final = 400
_NO_NAMES = (
    "mr mrs ms dr st monday tuesday wednesday thursday friday saturday sunday january february march april "
    "may june july august september october november december"
)
_NOT_NAMES: Final = frozenset(_NO_NAMES.split())


class Roster:
    """The names known at one moment, most salient first, each with an event that has it."""

    def __init__(self, salience: Mapping[str, float], names: Mapping[str, Name], spelling: Spelling) -> None:
        speaking = spelling.frequent_speakers()
        worth = [key for key in salience if key not in speaking and not _is_no_name(names[key].word)]
        worth.sort(key=lambda key: (-salience[key], key))
        self._names = {key: names[key] for key in worth[:_MOST]}
        self._longer = spelling.longer_names()
        self._said_in = spelling.said_in

    def line(
        self, opening: str, tokens: int, encoding: str, *, without: Iterable[str] = ()
    ) -> StoryLine | None:
        """Return a line of the names that fit into `tokens`, newline included; None if none fits.

        Names with a word of `without` are skipped.
        """
        names = self._each_once(set(without))
        costs = count_many([f" {name}," for name in names], encoding)
        used, taken = count_many([f"{opening}:\n"], encoding)[0], []
        for name, cost in zip(names, costs, strict=True):
            if used + cost > tokens:
                break
            used += cost
            taken.append(name)
        while taken and count_many([f"{opening}: {', '.join(taken)}.\n"], encoding)[0] > tokens:
            taken.pop()
        if not taken:
            return None
        sources = dict.fromkeys(filter(None, (self._said_in.get(tuple(name.split()), "") for name in taken)))
        return StoryLine(
            f"{opening}: {', '.join(taken)}.", tuple(sources), "names", "names that came up most often"
        )

    def _each_once(self, known: set[str]) -> list[str]:
        """Return the names that are not `known`, each once.

        A name of several words stands as a whole if its words belong together and none of them is known.
        """
        listed = []
        for key, name in self._names.items():
            if key in known:
                continue
            longer = self._longer.of(name)
            keys = content_stems(longer)
            whole = longer != name.word and all(k in self._names and k not in known for k in keys)
            listed.append(longer if whole else name.word)
            known.update(keys if whole else (key,))
        return listed


def _is_no_name(word: str) -> bool:
    """Return whether a word is an abbreviation, a title or a date, which only look like names."""
    return word.isupper() or word.rstrip(".").casefold().removesuffix("s") in _NOT_NAMES


def make_roster(past: PastRuns, spelling: Spelling, names: Mapping[str, Name]) -> Roster:
    """Return the names of all runs; those of the newest run weigh most."""
    salience: dict[str, float] = {}
    for key, name in names.items():
        before = past.names.get(key)
        new = max(0, name.times - (before.times if before else 0))
        salience[key] = past.heard.get(key, 0.0) + math.log1p(new)
    return Roster(salience, names, spelling)
