"""The budget of a prompt: offered lines are cut to an exact number of tokens here, and become a context.

The most stable sections stand first, so that a provider's prompt cache keeps the beginning from turn to turn.
The story gets the room that the other sections leave, rounded in steps, so that it is not chosen again
whenever a fact costs a token more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from dndbots.canon.event_marks import LEFT_OPEN, OUTCOME
from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.memory.context import sections
from dndbots.memory.context.blocks import (
    Block,
    SentenceOffer,
    StatementOffer,
    StatementWriter,
    as_dropped,
    fit_sentences,
)
from dndbots.memory.context.scene import Scene, find_scene
from dndbots.memory.context.viewer_cache import NOTES, ViewerCache
from dndbots.memory.context.xray import Context, ContextItem, Section, item_of, whole_prompt
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.recall.search import LEAST_BUDGET, NO_RECORD, answer_query
from dndbots.memory.selection import choose_candidates, find_candidates, lines_of
from dndbots.memory.story import StoryLine
from dndbots.prompts import CONTEXT_GUIDE
from dndbots.storage.views.view import View
from dndbots.tokens import count_many, count_parts, count_tokens, has_token_break

# The largest share of each block. The story gets the rest: at least a quarter, or a fifth beside an answer.
_LASTING: Final = 0.25
_KNOWN: Final = 0.2
_NOTES: Final = 0.15
_OPEN, _LEAST_OPEN = 0.02, 32
_LONG_AGO: Final = 0.12
_NOW: Final = 0.08
_ASKED: Final = 0.3
# With a question, the other blocks keep this part of their shares.
_BESIDE_ASKED: Final = 0.6
# The guide to DCML is left out if it would take more than this share.
_GUIDE: Final = 0.08
# The story is chosen again only when the other blocks have grown by a 16th of the budget, or doubled.
_LEAP: Final = 16
_TITLES: Final[Mapping[Section, str]] = {
    "identity": "Identity & role",
    "quests": "Quests",
    "known": "Known",
    "deeds": "Key past events (compressed)",
}
_OUTCOMES: Final = 40
_STORY: Final = 1  # the index of the story among the blocks
THEN, KEPT, NOW, HERE, ASKED = "## THEN", "## KEPT", "## NOW", "## HERE", "## ASKED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilder:
    """A builder of one context, which fills the blocks in turn and never exceeds the budget."""

    view: View
    cache: ViewerCache
    gates: Gates
    scene: Scene
    budget: int
    encoding: str
    query: str | None

    def build(self) -> Context:
        """Build each block within its share; if the story leaves room, build them again with more."""
        asked = self._asked(frozenset())
        blocks = self._blocks(asked, spare=0)
        if asked.items:
            asked = self._asked(_told_in_full(blocks))
            blocks = self._blocks(asked, spare=0)
        if not blocks[_STORY].dropped and any(block.dropped for block in blocks):
            spare = self.budget - sum(self._count(block.text) for block in blocks)
            blocks = self._blocks(asked, spare=spare)
        return self._context(blocks)

    # Blocks.

    def _blocks(self, asked: Block, *, spare: int) -> list[Block]:
        whole = self.budget * (1.0 if self.query is None else _BESIDE_ASKED)
        lasting = self._lasting(int(whole * _LASTING) + spare // 2)
        known = self._known(int(whole * _KNOWN) + spare // 4, guide="" if lasting.text else self._guide)
        notes = self._notes(int(whole * _NOTES) + spare // 8)
        now = self._now(int(self.budget * _NOW) + spare // 8)
        passing = sum(self._count(block.text) for block in (known, notes, now))
        room = self.budget - self._in_steps(self._count(lasting.text)) - self._in_steps(passing)
        room -= self._count(asked.text)
        then, recent = self._story(max(room, 0))
        return [lasting, then, known, _without(notes, recent), recent, now, asked]

    def _in_steps(self, tokens: int) -> int:
        """Round a number of tokens up in steps; small numbers in small steps, to waste little room."""
        step = max(self.budget // _LEAP, 1)
        while step > 1 and tokens <= 2 * step:
            step //= 2
        return -(-tokens // step) * step

    def _lasting(self, room: int) -> Block:
        """Return the guide, the reader, the party and the quests."""
        lasting = self.cache.stated
        offers = [
            *sections.offer_identity(self.scene, lasting),
            *sections.offer_quests(self.scene, lasting),
        ]
        return self._written("lasting", offers, room, self._guide)

    @property
    def _guide(self) -> str:
        """Return the guide to DCML if there is room for it; it stands before the first DCML."""
        return CONTEXT_GUIDE if self._count(CONTEXT_GUIDE) <= self.budget * _GUIDE else ""

    def _known(self, room: int, *, guide: str) -> Block:
        """Return facts on the entities that matter now, and past deeds."""
        outcomes = self.cache.marked(self.view, OUTCOME, limit=_OUTCOMES)
        deeds = partial(sections.offer_deeds, self.view.viewer, outcomes, self.scene, self.gates)
        quests = tuple(quest.uid for quest in self.scene.quests)
        past = self.cache.cached("deeds", (self.cache.changes[OUTCOME], quests), deeds)
        facts = list(sections.offer_known(self.scene, self.cache.stated, self.cache.carried, self.gates))
        stated = {statement for offer in facts for statement in offer.statements}
        new = [offer for offer in past if not stated.issuperset(offer.statements)]
        return self._written("known", [*facts, *new], room, guide)

    def _written(self, name: str, offers: Sequence[StatementOffer], room: int, guide: str) -> Block:
        """Return the offers that fit as DCML; cached under `name` while nothing changes."""
        writer = StatementWriter(
            self.view.viewer,
            self.cache.session,
            named=partial(self.cache.named, self.view),
            spelled=partial(self.cache.spelled, self.view),
            titles=_TITLES,
            encoding=self.encoding,
        )
        key = (offers, room, guide, self.cache.session)
        return self.cache.cached(name, key, lambda: writer.fit(offers, room, guide=guide))

    def _notes(self, room: int) -> Block:
        """Return pinned texts, memories of the scene and open threads."""
        view, scene, gates, changes = self.view, self.scene, self.gates, self.cache.changes
        around = tuple(entity.uid for entity in (*scene.places, *scene.present))
        of_here = self.cache.cached(
            "memories", (changes[NOTES], around), partial(sections.offer_memories, view, scene, self.cache)
        )
        at_hand = tuple(entity.uid for entity in scene.at_hand if entity.category == "NPC")
        left_open = self.cache.cached(
            "open",
            (changes[LEFT_OPEN], at_hand),
            partial(sections.offer_open_threads, view, scene, gates, self.cache),
        )
        pinned = self.cache.cached(
            "pinned", (gates.pinned, room), partial(sections.offer_pinned, view, gates, room // 2)
        )
        kept = [*pinned, *(offer._replace(rank=1 + offer.rank) for offer in of_here)]
        first = self._sentences(kept, room, KEPT)
        left = room - self._count(first.text)
        rest = self._sentences(
            left_open, min(left, max(int(self.budget * _OPEN), _LEAST_OPEN)), "" if first.text else KEPT
        )
        return Block(first.text + rest.text, first.items + rest.items, first.dropped + rest.dropped)

    def _now(self, room: int) -> Block:
        return self._sentences(list(sections.offer_scene(self.scene, self.gates)), room, HERE)

    def _asked(self, told: frozenset[str]) -> Block:
        """Return the lines that answer the question, or that there is no record.

        Lines that only stand near an answer are skipped if their events are in `told`.
        """
        query, room = self.query, int(self.budget * _ASKED)
        if query is None:
            return Block()
        recall = partial(
            answer_query, self.view, query, budget=max(room, LEAST_BUDGET), encoding=self.encoding
        )
        answer = self.cache.cached("recall", (self.view.head, query, room), recall)
        if answer.no_record:
            text = f"{ASKED}\n{NO_RECORD}\n"
            return Block(text if self._count(text) <= room else "")
        best = sorted(range(len(answer.items)), key=lambda n: (-answer.items[n].score, n))
        ranks = {n: rank for rank, n in enumerate(best)}
        offers = [
            SentenceOffer(item.text, "asked", item.reason, item.sources, rank=ranks[n])
            for n, item in enumerate(answer.items)
            if item.says or item.section == "facts" or not told.issuperset(item.sources)
        ]
        return self._sentences(offers, room, ASKED)

    def _sentences(self, offers: Sequence[SentenceOffer], room: int, head: str) -> Block:
        return fit_sentences(offers, room, head=head, encoding=self.encoding)

    # The story.

    def _story(self, room: int) -> tuple[Block, Block]:
        """Return the story so far and the newest lines, as two blocks."""
        heads = self._count(f"{THEN}\n") + self._count(f"{NOW}\n")
        room = max(room - heads, 0)
        before = self._long_ago(int(room * _LONG_AGO))
        telling = self.cache.story.tell(room - self._count(before.text), of=self.budget)
        items = self._items(telling.kept)
        told = [item for item in items if item.section in ("names", "story")]
        recent = [item for item in items if item.section in ("lately", "recent")]
        dropped = tuple(self._items(telling.dropped))
        then = _headed(THEN, [*before.items, *told])._replace(dropped=(*before.dropped, *dropped))
        return then, _headed(NOW, recent)

    def _long_ago(self, room: int) -> Block:
        """Return the best lines of old summaries, on sessions that the story no longer tells."""
        key = (self.cache.changes[NOTES], self.cache.before_last)
        read = partial(sections.read_old_summaries, self.view, self.gates, self.cache.before_last)
        entries = self.cache.cached("summaries", key, read) if self.cache.before_last else []
        if not entries:
            return Block()
        return self.cache.cached(
            "long ago",
            (entries, room),
            lambda: fit_sentences(
                [
                    SentenceOffer(line.text, "story", "from a summary of earlier sessions", line.sources)
                    for line in lines_of(
                        choose_candidates(
                            find_candidates(entries, encoding=self.encoding), room, encoding=self.encoding
                        )
                    )
                ],
                room,
                encoding=self.encoding,
            ),
        )

    def _items(self, told: Sequence[StoryLine]) -> list[ContextItem]:
        counts = count_many([f"{line.text}\n" for line in told], self.encoding)
        return [
            item_of(line.text, tokens, line.part, line.reason, line.sources)
            for line, tokens in zip(told, counts, strict=True)
        ]

    # The whole text.

    def _context(self, blocks: Sequence[Block]) -> Context:
        """Join the blocks and count the whole text; drop last lines while it is over budget."""
        while (tokens := count_parts(_parts(blocks), self.encoding)) > self.budget:
            blocks = _drop_last_line(blocks)
        return Context(
            viewer=self.view.viewer,
            budget=self.budget,
            encoding=self.encoding,
            query=self.query,
            text="".join(_parts(blocks)),
            tokens=tokens,
            prompt_tokens=tokens,
            items=tuple(item for block in blocks for item in block.items),
            dropped=tuple(item for block in blocks for item in block.dropped),
        )

    def _count(self, text: str) -> int:
        return count_tokens(text, self.encoding)


def fit_context(
    view: View, cache: ViewerCache, *, budget: int, query: str | None, encoding: str, beside: str = ""
) -> Context:
    """Return the viewer's knowledge as a context that fits into the budget together with `beside`.

    `beside` is the other text of the prompt, and `cache` must be this viewer's own.
    """
    check_budget(budget)
    if query is not None and (not isinstance(query, str) or not query.strip()):
        raise InvalidSetting("query", query, reason="is no question; leave the query out to ask nothing")
    room = budget
    if beside:
        room -= count_tokens(f"{beside}\n\n", encoding)
        if room < LEAST_BUDGET:
            raise BudgetTooSmall(budget=budget, least=budget - room + LEAST_BUDGET)
    while True:
        context = _fit_alone(view, cache, budget=room, query=query, encoding=encoding)
        tokens = _prompt_tokens(beside, context, encoding)
        if tokens <= budget:
            return context.model_copy(update={"budget": budget, "beside": beside, "prompt_tokens": tokens})
        room -= 1  # two texts joined may have a token more than both of them apart


def _prompt_tokens(beside: str, context: Context, encoding: str) -> int:
    """Count the whole prompt; counts that are known already are added up where that is exact."""
    if beside and has_token_break(before := f"{beside}\n\n", context.text):
        return count_tokens(before, encoding) + context.tokens
    return count_tokens(whole_prompt(beside, context.text), encoding) if beside else context.tokens


def _fit_alone(view: View, cache: ViewerCache, *, budget: int, query: str | None, encoding: str) -> Context:
    def build() -> Context:
        gates = gates_of(view)
        cache.catch_up(view, gates)
        return ContextBuilder(
            view=view,
            cache=cache,
            gates=gates,
            scene=find_scene(view, cache, query),
            budget=budget,
            encoding=encoding,
            query=query,
        ).build()

    # A context depends on the log alone: at the same seq it is the same.
    return cache.cached("context", (view.head, budget, query), build)


def check_budget(budget: object) -> None:
    """Raise `BudgetTooSmall` unless the budget is a whole number of at least `LEAST_BUDGET`."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise BudgetTooSmall(budget=budget, least=LEAST_BUDGET)


def _told_in_full(blocks: Iterable[Block]) -> frozenset[str]:
    """Return the events whose lines stand among the newest without being cut."""
    items = (item for block in blocks for item in block.items if item.section == "recent")
    return frozenset(source for item in items if not item.text.endswith("…") for source in item.sources)


def _without(notes: Block, recent: Block) -> Block:
    """Drop the open threads from the notes whose lines stand among the newest anyway."""
    told = _told_in_full([recent])
    kept = tuple(item for item in notes.items if item.section != "open" or not told.issuperset(item.sources))
    return notes if len(kept) == len(notes.items) else _headed(KEPT, kept)._replace(dropped=notes.dropped)


def _headed(head: str, items: Sequence[ContextItem]) -> Block:
    if not items:
        return Block()
    return Block("\n".join([head, *(item.text for item in items)]) + "\n", tuple(items))


def _parts(blocks: Iterable[Block]) -> list[str]:
    """Return the texts of the blocks that have any, without the newline at the very end."""
    texts = [block.text for block in blocks if block.text]
    return [*texts[:-1], texts[-1].rstrip("\n")] if texts else []


def _drop_last_line(blocks: Sequence[Block]) -> list[Block]:
    """Drop the last line of the longest block.

    Blocks are counted line by line, and a token may reach over the end of a line.
    """
    longest = max(range(len(blocks)), key=lambda n: len(blocks[n].items))
    block = blocks[longest]
    kept, gone = block.items[:-1], block.items[-1]
    text = block.text[: -len(gone.text) - 1] if kept else ""
    shorter = Block(text, kept, (*block.dropped, as_dropped(gone)))
    return [shorter if n == longest else other for n, other in enumerate(blocks)]
