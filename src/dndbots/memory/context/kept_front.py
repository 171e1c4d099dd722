"""A front that is kept: what stands before the newest lines of a game's prompt, as it was when they began.

Providers cache the beginning of a prompt that stays the same. So the newest lines grow at their end, and what
stands before them is told as of a moment at which they were cut short. It stays as it is for some cuts; what
changed until the last of them, and in short the lines that left with them, stand between the two. What has
changed since stands after the newest lines. All follows from the viewer's own events alone: a game that was
resumed reads the same.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from dndbots.memory.context.blocks import Block, as_dropped, head_block
from dndbots.memory.context.remembered import OF_WORLD, fit_memories
from dndbots.memory.context.repetition import drop_told, keep_items, sentences_in
from dndbots.memory.context.scene import find_scene
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import RECENT, ContextItem
from dndbots.memory.decisions import is_correction
from dndbots.memory.story import NewestLines
from dndbots.tokens import count_tokens

if TYPE_CHECKING:
    from dndbots.memory.context.budget import ContextBuilder

CHANGED: Final = "## Changed Since"
_LEXICON: Final = "## LEXICON"
# Shares of the budget. The newest lines grow to the first and are cut to the second.
_MOST_NEWEST: Final = 0.5
_LEAST_NEWEST: Final = 0.14
# The lines that stay are this share of the budget at most, less some tokens: a small one needs room to grow.
_LONGEST_NEWEST: Final = 0.6
_LONGEST_LESS: Final = 290
_LONGEST_LEAST: Final = 0.2
# Lines beyond those that are wanted, since a DM's question may show some of them for another scene.
_MORE_LINES: Final = 2
_BETWEEN: Final = 0.06
_CHANGES: Final = 0.07
_MOST_CHANGES: Final = 0.2
_CHANGED_BEFORE: Final = 0.1
# A front stays for so many cuts of the newest lines.
_CUTS: Final = 3
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
    found = _find_window(now)
    if found is None:
        return None
    window, made, cut = found
    encoding = now.encoding
    front = _front(now, made, window.events)
    older = _changed_until(now, made, cut, window)
    current = now.all_blocks()
    fixed = [*front, older, current["pinned"], current["knowledge"], current["now"]]
    left = now.budget - sum(count_tokens(block.text, encoding) for block in fixed if block.text)
    left -= count_tokens(f"{RECENT}\n", encoding)
    needed = now.cache.story.newest_cost(now.briefing.lines, of=now.budget)
    room = max(min(left - needed, int(now.budget * _MOST_CHANGES)), int(now.budget * _CHANGES), 0)
    between = int(now.budget * _BETWEEN)
    newest = now.newest_lines(window, between, left)
    changes = _find_changes(now, current, [*front, older, newest], room)
    if changes.text:
        newest = now.newest_lines(window, between, left - count_tokens(changes.text, encoding))
    *told, left_open = front
    pinned = current["pinned"]
    if pinned.text and left_open.text.startswith("## "):
        left_open = left_open._replace(text=left_open.text.partition("\n")[2])  # one heading for both
    return [*told, pinned, left_open, older, newest, changes, current["knowledge"], current["now"]]


def _find_window(now: "ContextBuilder") -> tuple[NewestLines, int, int] | None:
    """Return the newest lines, and the seqs at which the front was made and the lines were last cut."""
    budget = now.budget
    longest = max(budget * _LONGEST_NEWEST - _LONGEST_LESS, budget * _LONGEST_LEAST)
    most, least = int(budget * _MOST_NEWEST), int(budget * _LEAST_NEWEST)
    lines = now.briefing.lines + _MORE_LINES
    story, written = now.cache.story, now.written_story()
    find = partial(story.find_window, most, least, int(longest), lines, renews=is_correction)
    window = find(fronts=_CUTS)
    if window is None:
        return None
    seqs = now.view.seqs_of([window.upto, window.cut, *([written.note] if written else [])])
    if window.upto not in seqs or window.cut not in seqs:
        return None
    made, cut = seqs[window.upto], seqs[window.cut]
    if written and seqs.get(written.note, 0) > made and (window := find(fronts=1)) is not None:
        # A summary that was written since is a reason to tell the front anew: it was paid for.
        made = max(seqs[written.note], cut)
    return (window, made, max(made, cut)) if window is not None else None


def _front(now: "ContextBuilder", seq: int, window: frozenset[str]) -> list[Block]:
    """Return what stood before the newest lines when the log ended at `seq`.

    `window` are the events of the newest lines of that moment.
    """

    def build() -> list[Block]:
        return _without_newest(_builder_at(now, seq).all_blocks(), window, now.encoding)

    return now.cache.cached("front", (seq, now.budget, now.briefing, now.gates, window), build)


def _changed_until(now: "ContextBuilder", made: int, cut: int, window: NewestLines) -> Block:
    """Return what had changed since the front was made, when the newest lines were last cut short."""
    if made >= cut:
        return Block()

    def build() -> Block:
        front, then = _front(now, made, window.events), _builder_at(now, cut)
        newest = now.newest_lines(window, int(now.budget * _BETWEEN), now.budget, end=window.end)
        room = int(now.budget * _CHANGED_BEFORE)
        # What found no room may stand among what changed since.
        return _find_changes(then, then.all_blocks(), [*front, newest], room)._replace(dropped=())

    return now.cache.cached("changed", (made, cut, now.budget, now.briefing, now.gates, window), build)


def _builder_at(now: "ContextBuilder", seq: int) -> "ContextBuilder":
    """Return the builder of a front as of the moment when the log ended at `seq`."""
    then, cache = now.view.until(seq), now.cache
    if cache.behind is None:
        cache.behind = ViewerCache(now.encoding)
    behind = cache.behind
    behind.catch_up(then, now.gates)
    return replace(
        now,
        view=then,
        cache=behind,
        scene=find_scene(then, behind, None),
        budget=int(now.budget * (1 - _MOST_NEWEST - _CHANGES)),
        briefing=replace(now.briefing, knowledge=(), lines=0),
    )


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
    # Memories that found no room are offered again with what changed since, as long as their scene lasts.
    fronts["memories"] = fronts["memories"]._replace(dropped=())
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
