"""How a budget is shared, and the parts of a telling: from what moves least to what moves most.

Providers keep the prefix of a prompt that did not change. So a story is chosen anew only where a boundary
moved: of the past when the run has grown fourfold, of this run when it has grown by a fourth, of what came
after that when the newest lines have filled their room.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.cover import Wish
from dndbots.memory.story.choosing import Before, Chosen, chosen
from dndbots.memory.story.naming import names_now
from dndbots.memory.story.past import Past
from dndbots.memory.story.run import Run
from dndbots.memory.story.spoken import Spoken, cut
from dndbots.memory.story.values import Told
from dndbots.tokens import count_many


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """How a budget is shared, and what the story should be like.

    `fine` is of what names and story leave, and so is `least`, which the newest lines keep.
    """

    narrated: bool
    names: float
    story: float
    fine: float
    least: float
    wish: Wish


NARRATED: Final = Shares(narrated=True, names=0.12, story=0.82, fine=0.4, least=0.3, wish=Wish(retold=1.0))
# Where nobody tells, what was said last is what is answered next, and of the rest each word once.
TALK: Final = Shares(
    narrated=False,
    names=0.0,
    story=0.8,
    fine=0.3,
    least=0.5,
    wish=Wish(retold=1.0, power=0.1, fragments=True),
)
_NARRATED_LEAST: Final = 0.02
_MOST_NAMES: Final = 400
# What the past may take of the story, by how far the run has come.
_PAST: Final = ((0, 1.0), (64, 0.6), (256, 0.45), (1024, 0.35))
_PAST_LAST: Final = 0.3
# A few lines of play, where the budget is small.
_LEAST_LINES: Final = 3
_LEAST_REST: Final = 160
# Of what is beyond this, the newest lines need only half as much.
_AMPLE: Final = 2_000


class Stable(NamedTuple):
    """Names and story up to a boundary. `start` is where the newest lines begin that it leaves out."""

    shares: Shares
    told: tuple[Told, ...]
    story: tuple[Chosen, ...]
    tokens: int
    start: int
    before: Before


def stable(past: Past, run: Run, tokens: int, of: int, encoding: str) -> Stable:
    """What stays while the run is told up to the same boundary.

    What the newest lines may take is a share of the whole, `of`, of which `tokens` are left to tell.
    """
    tally = run.tally
    shares = NARRATED if tally.narrated >= _NARRATED_LEAST * max(1, tally.entries) else TALK
    rest = max(int((1 - shares.story) * (min(of, _AMPLE) + max(of - _AMPLE, 0) / 2)), _LEAST_REST)
    room = max(tokens - rest, tokens // 2)
    rest = tokens - room
    start = _back(run, run.boundary, int(rest * (1 - shares.fine)))
    most_names = min(int(tokens * shares.names), _MOST_NAMES)
    room -= most_names
    share = next((share for limit, share in _PAST if run.boundary <= limit), _PAST_LAST)
    # Until the run has begun, what came up before it decides.
    now = tally.salience(run.names, narrated=shares.narrated)
    old = chosen(
        past.pool,
        int(room * share),
        salience=now if run.boundary else past.tally.salience(past.names, narrated=shares.narrated),
        wish=replace(shares.wish, retold=1.0),
        encoding=encoding,
    )
    new = chosen(
        run.pool(start),
        room - old.tokens,
        salience=now,
        wish=shares.wish,
        encoding=encoding,
        before=Before(old),
        beside=() if shares.narrated else run.sentences(start, run.boundary),
    )
    names = _names(past, run, most_names, encoding, (*old.sentences, *new.sentences))
    used = _cost(names, encoding) + old.tokens + new.tokens
    return Stable(shares, (*old.told, *new.told, *names), (old, new), used, start, Before(old, new))


def _names(past: Past, run: Run, tokens: int, encoding: str, story: Iterable[Candidate]) -> list[Told]:
    """Who and what came up, beside those that the story names."""
    known = {word for sentence in story for word in sentence.words}
    line = names_now(past, run.tally.spelling, run.names).told("Who else", tokens, encoding, without=known)
    return [line] if line else []


def _cost(lines: list[Told], encoding: str) -> int:
    return sum(count_many([line.text + "\n" for line in lines], encoding))


def _back(run: Run, end: int, tokens: int) -> int:
    """From where on the entries before a number fit into so many tokens; at least the last few."""
    at = end
    while at > run.first and (end - at < _LEAST_LINES or tokens > 0):
        tokens -= run.lines[at - 1 - run.first].cost
        if tokens < 0 and end - at >= _LEAST_LINES:
            break
        at -= 1
    return at


def moved(run: Run, start: int, most: int, least: int) -> int:
    """Where the newest lines begin: they grow to the most, then all but the least join the story."""
    at, used = start, 0
    for number in range(start, run.count):
        used += run.lines[number - run.first].cost
        if used > most and number - at >= _LEAST_LINES:
            at = max(at, _back(run, number + 1, least))
            used = sum(said.cost for said in run.lines[at - run.first : number + 1 - run.first])
    return at


def fine(run: Run, part: Stable, until: int, tokens: int, encoding: str) -> Chosen:
    """The story between the boundary and the newest lines."""
    pool = list(run.sentences(part.start, until))
    found = chosen(
        pool,
        tokens,
        salience=run.tally.beside(pool).salience(run.names, narrated=part.shares.narrated),
        wish=replace(part.shares.wish, retold=1.0),
        encoding=encoding,
        before=part.before,
    )
    return found._replace(told=tuple(told._replace(part="lately") for told in found.told))


def newest(lines: list[Spoken], tokens: int, encoding: str) -> list[Told]:
    """The newest lines, in full as far as they fit; one that would take all the room is cut."""
    kept: list[Told] = []
    most = max(tokens // 2, 1)
    for said in reversed(lines):
        for told, (_, cost) in zip(reversed(said.told()), reversed(said.lines), strict=True):
            room = tokens if cost <= tokens and not kept and len(lines) == 1 else min(tokens, most)
            if cost <= room or (cost <= tokens and cost <= most):
                kept.append(told)
                tokens -= cost
                continue
            if len(kept) >= _LEAST_LINES:
                return kept[::-1]
            short = cut(told.text, min(tokens, most), encoding)
            if not short:
                return kept[::-1]
            kept.append(told._replace(text=short, reason="among the newest, cut"))
            tokens -= count_many([short + "\n"], encoding)[0]
    return kept[::-1]
