"""How summaries are layered, so that they stay bounded however long a campaign is.

Scenes become a session once it is over (or has too many), sessions an arc, arcs the campaign. Each
layer is made from the events of its span. This module only says which summaries are to become one.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

from dndbots.events import LONGEST_CONTENT, GameEvent, Layer

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
SUMMARY: Final = "summary"

MOST_SCENES: Final = 8
MOST_SESSIONS: Final = 6
MOST_ARCS: Final = 4
# How much of each layer becomes one of the next; the newest of it stays, to be read in more detail.
_SESSIONS_IN_AN_ARC: Final = 5
_ARCS_AT_ONCE: Final = 3

# Shares of an agent's limit: all summaries together may have so much of it, and each so many parts.
SUMMARY_SHARE: Final = 0.4
_PARTS: Final[dict[Layer, float]] = {"scene": 1.0, "session": 1.5, "arc": 2.0, "campaign": 4.0}
_ALL_PARTS: Final = (
    _PARTS["scene"] * MOST_SCENES
    + _PARTS["session"] * (MOST_SESSIONS + 1)
    + _PARTS["arc"] * MOST_ARCS
    + _PARTS["campaign"]
)
_SHORTEST: Final = 40
# However large a limit is, a summary is an event, with at most so many characters: 32 to a token.
_LONGEST: Final = LONGEST_CONTENT // 32


def room_for(layer: Layer, token_limit: int) -> int:
    """How many tokens a summary of a layer may have."""
    room = int(token_limit * SUMMARY_SHARE * _PARTS[layer] / _ALL_PARTS)
    return min(max(room, _SHORTEST), _LONGEST)


class Block(NamedTuple):
    """A summary that stands, and the span of events that it was made from."""

    id: str
    layer: Layer
    session: str
    after: str | None
    upto: str
    text: str
    locked: bool = False

    @classmethod
    def of(cls, event: GameEvent, *, locked: bool) -> "Block | None":
        note = event.known.memory
        if note is None or note.layer is None:
            return None
        return cls(event.event_id, note.layer, event.session_id, note.after, note.upto, event.content, locked)


class Merge(NamedTuple):
    """Summaries that become one of a higher layer."""

    layer: Layer
    blocks: tuple[Block, ...]


def next_merge(blocks: Sequence[Block], session: str) -> Merge | None:
    """What is to become one, if anything. `session` is the one that is being played.

    A locked summary stays as it is, beside the one that covers its span.
    """
    free = [block for block in blocks if not block.locked]
    closed = next((one.session for one in free if one.layer == "scene" and one.session != session), None)
    if closed is not None:
        of_it = [one for one in free if one.session == closed and one.layer in ("scene", "session")]
        return Merge("session", _run(free, of_it))
    scenes, sessions, arcs, _ = (_of(free, layer) for layer in LAYERS)
    if len(scenes) > MOST_SCENES:
        return Merge("session", _run(free, scenes[:MOST_SCENES]))
    if len(sessions) > MOST_SESSIONS:
        return Merge("arc", _run(free, sessions[:_SESSIONS_IN_AN_ARC]))
    if len(arcs) > MOST_ARCS:
        return Merge("campaign", _run(free, [*_of(free, "campaign"), *arcs[:_ARCS_AT_ONCE]]))
    return None


def shorter(blocks: Sequence[Block]) -> Merge | None:
    """What to make one of when all summaries together are too long: the oldest ones."""
    free = [block for block in blocks if not block.locked]
    if not free:
        return None
    oldest = _of(free, free[0].layer)
    if len(oldest) == 1:
        oldest = free[:2]
    layer = max((one.layer for one in oldest), key=LAYERS.index)
    return Merge(layer, _run(free, oldest))


def _of(blocks: Sequence[Block], layer: Layer) -> list[Block]:
    return [block for block in blocks if block.layer == layer]


def _run(blocks: Sequence[Block], wanted: Sequence[Block]) -> tuple[Block, ...]:
    """Some blocks and whatever lies between them: a span has no holes."""
    places = [blocks.index(block) for block in wanted]
    return tuple(blocks[min(places) : max(places) + 1])
