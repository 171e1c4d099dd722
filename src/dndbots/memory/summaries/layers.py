"""The layers of an agent's summary, which keep it bounded however long a campaign is.

Scenes become a session once it is over (or has too many), sessions become an arc, arcs the campaign. Each
layer is made from the events of its span. This module only decides which summaries to merge.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

from dndbots.events import LONGEST_CONTENT, GameEvent, Layer

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
SUMMARY: Final = "summary"
# The tag of a summary that a model wrote, rather than one that quotes.
WRITTEN: Final = "written"

MOST_SCENES: Final = 8
MOST_SESSIONS: Final = 6
MOST_ARCS: Final = 4
# How many summaries of a layer become one of the next; the newest stay, in more detail.
_SESSIONS_IN_AN_ARC: Final = 5
_ARCS_AT_ONCE: Final = 3

# The share of an agent's limit for all summaries together, and the parts of it for each layer.
SUMMARY_SHARE: Final = 0.4
_PARTS: Final[dict[Layer, float]] = {"scene": 1.0, "session": 1.5, "arc": 2.0, "campaign": 4.0}
_ALL_PARTS: Final = (
    _PARTS["scene"] * MOST_SCENES
    + _PARTS["session"] * (MOST_SESSIONS + 1)
    + _PARTS["arc"] * MOST_ARCS
    + _PARTS["campaign"]
)
_SHORTEST: Final = 40
# A summary is an event, whose content is limited: 32 characters to a token.
_LONGEST: Final = LONGEST_CONTENT // 32


def room_for(layer: Layer, token_limit: int) -> int:
    """Return how many tokens a summary of a layer may have."""
    room = int(token_limit * SUMMARY_SHARE * _PARTS[layer] / _ALL_PARTS)
    return min(max(room, _SHORTEST), _LONGEST)


class SummaryBlock(NamedTuple):
    """A current summary, with the span of events it was made from. `written` ones are in a model's words."""

    id: str
    layer: Layer
    session: str
    after: str | None
    upto: str
    text: str
    locked: bool = False
    written: bool = False

    @classmethod
    def of(cls, event: GameEvent, *, locked: bool) -> "SummaryBlock | None":
        """Return the block of an event, or None if it is not a summary."""
        note = event.known.memory
        if note is None or note.layer is None:
            return None
        return cls(
            id=event.event_id,
            layer=note.layer,
            session=event.session_id,
            after=note.after,
            upto=note.upto,
            text=event.content,
            locked=locked,
            written=WRITTEN in note.tags,
        )


class Merge(NamedTuple):
    """Summaries to merge into one of a higher layer."""

    layer: Layer
    blocks: tuple[SummaryBlock, ...]


def find_full_layer(blocks: Sequence[SummaryBlock], session: str) -> Merge | None:
    """Return the next merge of a layer that is full, or None. `session` is the current one.

    A locked summary stays as it is, beside the one that covers its span.
    """
    free = [block for block in blocks if not block.locked]
    closed = next(
        (block.session for block in free if block.layer == "scene" and block.session != session), None
    )
    if closed is not None:
        of_it = [block for block in free if block.session == closed and block.layer in ("scene", "session")]
        return Merge("session", _run(free, of_it))
    scenes, sessions, arcs, _ = (_of(free, layer) for layer in LAYERS)
    if len(scenes) > MOST_SCENES:
        return Merge("session", _run(free, scenes[:MOST_SCENES]))
    if len(sessions) > MOST_SESSIONS:
        return Merge("arc", _run(free, sessions[:_SESSIONS_IN_AN_ARC]))
    if len(arcs) > MOST_ARCS:
        return Merge("campaign", _run(free, [*_of(free, "campaign"), *arcs[:_ARCS_AT_ONCE]]))
    return None


def find_oldest_merge(blocks: Sequence[SummaryBlock]) -> Merge | None:
    """Return a merge of the oldest summaries, for when the total is too long; None if all are locked."""
    free = [block for block in blocks if not block.locked]
    if not free:
        return None
    oldest = _of(free, free[0].layer)
    if len(oldest) == 1:
        oldest = free[:2]
    layer = max((block.layer for block in oldest), key=LAYERS.index)
    return Merge(layer, _run(free, oldest))


def _of(blocks: Sequence[SummaryBlock], layer: Layer) -> list[SummaryBlock]:
    return [block for block in blocks if block.layer == layer]


def _run(blocks: Sequence[SummaryBlock], wanted: Sequence[SummaryBlock]) -> tuple[SummaryBlock, ...]:
    """Return the wanted blocks and all between them: a span has no holes."""
    places = [blocks.index(block) for block in wanted]
    return tuple(blocks[min(places) : max(places) + 1])
