"""A front that is kept: what stands before the newest lines of a game's prompt, as it was when they began.

Providers cache the beginning of a prompt that stays the same. So the newest lines grow at their end, and what
stands before them is told as of the moment at which they were last cut short; what has changed since stands
after them. Both follow from the viewer's own events alone: a game that was resumed reads the same.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dndbots.memory.context.blocks import Block, as_dropped, head_block
from dndbots.memory.context.remembered import OF_WORLD, fit_memories
from dndbots.memory.context.repetition import drop_told, keep_items, sentences_in
from dndbots.memory.context.scene import find_scene
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import RECENT, ContextItem
from dndbots.memory.decisions import is_correction
from dndbots.tokens import count_tokens

if TYPE_CHECKING:
    from dndbots.memory.context.budget import ContextBuilder

CHANGED: Final = "## Changed Since"
_LEXICON: Final = "## LEXICON"
# Shares of the budget. The newest lines grow to the first and are cut to the second.
_MOST_NEWEST: Final = 0.45
_LEAST_NEWEST: Final = 0.14
_CHANGES: Final = 0.07
_MOST_CHANGES: Final = 0.2
# Blocks that stand in the front, in their order: who is around changes more often than what is remembered.
_FRONT: Final = ("lasting", "adventure", "quests", "memories", "around", "story", "known", "open")
# Blocks of sentences that may have changed since.
_MAY_CHANGE: Final = ("lasting", "quests", "around")


def build_kept(now: "ContextBuilder") -> list[Block] | None:
    """Return the blocks of a seat's context: the front, the newest lines, and what changed since.

    None for a context that wants no lines in full, or that answers a question.
    """
    if not now.briefing.lines or now.query is not None:
        return None
    most, least = int(now.budget * _MOST_NEWEST), int(now.budget * _LEAST_NEWEST)
    window = now.cache.story.find_window(most, least, now.briefing.lines, renews=is_correction)
    # A summary that was written since is a reason to tell the front anew: it was paid for.
    written = now.written_story()
    ids = [] if window is None else [window.upto, *([written.note] if written else [])]
    seqs = now.view.seqs_of(ids).values()
    if window is None or not seqs:
        return None
    encoding = now.encoding
    front = _front(now, max(seqs), window.events)
    current = now.all_blocks()
    fixed = [*front, current["pinned"], current["knowledge"], current["now"]]
    left = now.budget - sum(count_tokens(block.text, encoding) for block in fixed if block.text)
    left -= count_tokens(f"{RECENT}\n", encoding)
    needed = now.cache.story.newest_cost(now.briefing.lines, of=now.budget)
    room = max(min(left - needed, int(now.budget * _MOST_CHANGES)), int(now.budget * _CHANGES), 0)
    newest = now.newest_lines(window.start, left)
    changes = _find_changes(now, current, [*front, newest], room)
    if changes.text:
        newest = now.newest_lines(window.start, left - count_tokens(changes.text, encoding))
    *told, left_open = front
    pinned = current["pinned"]
    if pinned.text and left_open.text.startswith("## "):
        left_open = left_open._replace(text=left_open.text.partition("\n")[2])  # one heading for both
    return [*told, pinned, left_open, newest, changes, current["knowledge"], current["now"]]


def _front(now: "ContextBuilder", seq: int, window: frozenset[str]) -> list[Block]:
    """Return what stood before the newest lines when the log ended at `seq`.

    `window` are the events of the newest lines of that moment.
    """
    then, cache = now.view.until(seq), now.cache
    if cache.behind is None:
        cache.behind = ViewerCache(now.encoding)
    behind = cache.behind
    room = int(now.budget * (1 - _MOST_NEWEST - _CHANGES))
    briefing = replace(now.briefing, knowledge=(), lines=0)

    def build() -> list[Block]:
        behind.catch_up(then, now.gates)
        scene = find_scene(then, behind, None)
        earlier = replace(now, view=then, cache=behind, scene=scene, budget=room, briefing=briefing)
        return _without_newest(earlier.all_blocks(), window, now.encoding)

    return cache.cached("front", (seq, room, briefing, now.gates, window), build)


def _without_newest(blocks: dict[str, Block], window: frozenset[str], encoding: str) -> list[Block]:
    """Return the blocks of a front without the lines that the newest ones tell.

    `window` are the ids of the events that the newest lines told when the front was made. The lines before
    them, which stood among the newest until then, end the story.
    """
    beyond = [item for item in blocks["recent"].items if not window.issuperset(item.sources)]
    inside = [item for item in blocks["recent"].items if window.issuperset(item.sources)]
    told = sentences_in(inside)
    fronts = {name: blocks[name] for name in _FRONT}
    for name in ("around", "memories", "story", "open"):
        fronts[name] = drop_told(fronts[name], told, encoding)
    # With less room than the context has now, the front may have put some of these events into its story.
    apart = [one for one in fronts["story"].items if not one.sources or not window.issuperset(one.sources)]
    story = fronts["story"] = keep_items(fronts["story"], apart)
    if beyond:
        head = story.text.partition("\n")[0] or RECENT
        fronts["story"] = head_block(head, [*story.items, *beyond])._replace(dropped=story.dropped)
    return [fronts[name] for name in _FRONT]


def _find_changes(
    builder: "ContextBuilder", now: dict[str, Block], shown: Iterable[Block], room: int
) -> Block:
    """Return what is so now and is not `shown`: people, places, quests, and memories of a new scene."""
    blocks, encoding = list(shown), builder.encoding
    lines = {item.text for block in blocks for item in block.items}
    told = sentences_in(item for block in blocks for item in block.items)
    changed: list[ContextItem] = []
    for name in _MAY_CHANGE:
        block = now[name]
        if _LEXICON not in block.text:
            new = keep_items(block, [item for item in block.items if item.text not in lines])
            changed += drop_told(new, told, encoding).items
    left = room - count_tokens(f"{CHANGED}\n", encoding)
    kept: list[ContextItem] = []
    dropped: list[ContextItem] = []
    for item in changed:
        (kept if item.tokens <= left else dropped).append(item)
        left -= item.tokens if item.tokens <= left else 0
    changes = head_block(CHANGED, kept)._replace(dropped=tuple(map(as_dropped, dropped)))
    told |= sentences_in(changes.items)
    # The steps of the story that found no room now need none here; who and what is at hand goes first.
    chosen = {item.sources for item in now["memories"].items}
    offers = [offer for offer in builder.memory_offers() if offer.head != OF_WORLD or offer.sources in chosen]
    memories = fit_memories([offer.without(told) for offer in offers], left, encoding=encoding)
    return Block(
        changes.text + memories.text, (*changes.items, *memories.items), (*changes.dropped, *memories.dropped)
    )
