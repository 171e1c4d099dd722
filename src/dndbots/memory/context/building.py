"""A context: everything that may go in, fitted into an exact budget, from the most to the least stable.

What changes least stands first, so that a provider's cache keeps the beginning from turn to turn. The
story gets all that the rest leaves, in steps: it is not chosen anew for every token that a fact costs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from dndbots.canon.marks import LEFT_OPEN, OUTCOME
from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.memory.context import offers
from dndbots.memory.context.blocks import Block, Offer, Statements, Writer, left_out, sentences
from dndbots.memory.context.following import NOTES, Following
from dndbots.memory.context.scene import Scene, scene_of
from dndbots.memory.context.values import Context, ContextItem, Section, item_of, whole_prompt
from dndbots.memory.extract import candidates, choose, lines_of
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.recalling import LEAST_BUDGET, NO_RECORD, recall_of
from dndbots.memory.story import Told
from dndbots.prompts import CONTEXT_GUIDE
from dndbots.storage.reader import View
from dndbots.tokens import count_many, count_parts, count_tokens, goes_on_apart

# The most that each part may take. The story gets the rest: a quarter at least, or a fifth beside an answer.
_LASTING: Final = 0.25
_KNOWN: Final = 0.2
_NOTES: Final = 0.15
_OPEN, _LEAST_OPEN = 0.02, 32
_LONG_AGO: Final = 0.12
_NOW: Final = 0.08
_ASKED: Final = 0.3
# What the other parts keep of their shares where there is a question.
_BESIDE_ASKED: Final = 0.6
# A guide is worth having where it does not take the room of what it explains.
_GUIDE: Final = 0.08
# The story is not chosen anew until what stands beside it has grown by so much of the budget, or doubled.
_LEAP: Final = 16
_TITLES: Final[Mapping[Section, str]] = {
    "identity": "Identity & role",
    "quests": "Quests",
    "known": "Known",
    "deeds": "Key past events (compressed)",
}
_OUTCOMES: Final = 40
_STORY: Final = 1  # where the story is among the parts
THEN, KEPT, NOW, HERE, ASKED = "## THEN", "## KEPT", "## NOW", "## HERE", "## ASKED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """One context in the making."""

    view: View
    following: Following
    gates: Gates
    scene: Scene
    budget: int
    encoding: str
    query: str | None

    def build(self) -> Context:
        """First everything within its share, then once more with what the story does not need."""
        asked = self._asked(frozenset())
        blocks = self._blocks(asked, spare=0)
        if asked.items:
            asked = self._asked(_told_in_full(blocks))
            blocks = self._blocks(asked, spare=0)
        if not blocks[_STORY].dropped and any(block.dropped for block in blocks):
            spare = self.budget - sum(self._count(block.text) for block in blocks)
            blocks = self._blocks(asked, spare=spare)
        return self._context(blocks)

    # The parts.

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
        """Rounded up: by a little where it is little, since that would be lost to the story."""
        step = max(self.budget // _LEAP, 1)
        while step > 1 and tokens <= 2 * step:
            step //= 2
        return -(-tokens // step) * step

    def _lasting(self, room: int) -> Block:
        """Who the reader is, with whom, and to what end; how to read it goes first."""
        lasting = self.following.stated
        found = [*offers.identity(self.scene, lasting), *offers.quests(self.scene, lasting)]
        return self._written("lasting", found, room, self._guide)

    @property
    def _guide(self) -> str:
        """How to read DCML, where there is room to say so; it goes before the first of it."""
        return CONTEXT_GUIDE if self._count(CONTEXT_GUIDE) <= self.budget * _GUIDE else ""

    def _known(self, room: int, *, guide: str) -> Block:
        """Of whom there is talk, and what came of it all so far."""
        outcomes = self.following.marked(self.view, OUTCOME, limit=_OUTCOMES)
        deeds = partial(offers.deeds, self.view.viewer, outcomes, self.scene, self.gates)
        quests = tuple(quest.uid for quest in self.scene.quests)
        done = self.following.kept("deeds", (self.following.changes[OUTCOME], quests), deeds)
        of_whom = (self.following.stated, self.following.carried)
        told = list(offers.known(self.scene, *of_whom, self.gates))
        said = {statement for offer in told for statement in offer.statements}
        new = [offer for offer in done if not said.issuperset(offer.statements)]
        return self._written("known", [*told, *new], room, guide)

    def _written(self, name: str, found: Sequence[Statements], room: int, guide: str) -> Block:
        writer = Writer(
            self.view.viewer,
            self.following.session,
            named=partial(self.following.named, self.view),
            spelled=partial(self.following.spelled, self.view),
            titles=_TITLES,
            encoding=self.encoding,
        )
        key = (found, room, guide, self.following.session)
        return self.following.kept(name, key, lambda: writer.fitted(found, room, guide=guide))

    def _notes(self, room: int) -> Block:
        """What is remembered of here, what was left open, and what people want to be kept."""
        view, scene, gates, changes = self.view, self.scene, self.gates, self.following.changes
        around = tuple(one.uid for one in (*scene.places, *scene.present))
        of_here = self.following.kept(
            "memories", (changes[NOTES], around), partial(offers.memories, view, scene, self.following)
        )
        at_hand = tuple(one.uid for one in scene.at_hand if one.category == "NPC")
        left_open = self.following.kept(
            "open",
            (changes[LEFT_OPEN], at_hand),
            partial(offers.unfinished, view, scene, gates, self.following),
        )
        pinned = self.following.kept(
            "pinned", (gates.pinned, room), partial(offers.pinned, view, gates, room // 2)
        )
        kept = [*pinned, *(offer._replace(rank=1 + offer.rank) for offer in of_here)]
        first = self._sentences(kept, room, KEPT)
        left = room - self._count(first.text)
        rest = self._sentences(
            left_open, min(left, max(int(self.budget * _OPEN), _LEAST_OPEN)), "" if first.text else KEPT
        )
        return Block(first.text + rest.text, first.items + rest.items, first.dropped + rest.dropped)

    def _now(self, room: int) -> Block:
        return self._sentences(list(offers.now(self.scene, self.gates)), room, HERE)

    def _asked(self, told: frozenset[str]) -> Block:
        """What answers the question, or that nothing does. What only stands near it is not told twice."""
        query, room = self.query, int(self.budget * _ASKED)
        if query is None:
            return Block()
        recall = partial(recall_of, self.view, query, budget=max(room, LEAST_BUDGET), encoding=self.encoding)
        found = self.following.kept("recall", (self.view.head, query, room), recall)
        if found.no_record:
            said = f"{ASKED}\n{NO_RECORD}\n"
            return Block(said if self._count(said) <= room else "")
        best = sorted(range(len(found.items)), key=lambda n: (-found.items[n].score, n))
        ranks = {n: rank for rank, n in enumerate(best)}
        offered = [
            Offer(item.text, "asked", item.reason, item.sources, rank=ranks[n])
            for n, item in enumerate(found.items)
            if item.says or item.section == "facts" or not told.issuperset(item.sources)
        ]
        return self._sentences(offered, room, ASKED)

    def _sentences(self, found: Sequence[Offer], room: int, head: str) -> Block:
        return sentences(found, room, head=head, encoding=self.encoding)

    # The story.

    def _story(self, room: int) -> tuple[Block, Block]:
        """The story so far, and the newest lines."""
        heads = self._count(f"{THEN}\n") + self._count(f"{NOW}\n")
        room = max(room - heads, 0)
        before = self._long_ago(int(room * _LONG_AGO))
        telling = self.following.story.tell(room - self._count(before.text), of=self.budget)
        items = self._items(telling.kept)
        told = [item for item in items if item.section in ("names", "story")]
        recent = [item for item in items if item.section in ("lately", "recent")]
        dropped = tuple(self._items(telling.dropped))
        then = _headed(THEN, [*before.items, *told])._replace(dropped=(*before.dropped, *dropped))
        return then, _headed(NOW, recent)

    def _long_ago(self, room: int) -> Block:
        """What summaries keep of the sessions that the story no longer tells."""
        key = (self.following.changes[NOTES], self.following.before_last)
        find = partial(offers.long_ago, self.view, self.gates, self.following.before_last)
        entries = self.following.kept("summaries", key, find) if self.following.before_last else []
        if not entries:
            return Block()
        return self.following.kept(
            "long ago",
            (entries, room),
            lambda: sentences(
                [
                    Offer(line.text, "story", "from a summary of long ago", line.sources)
                    for line in lines_of(
                        choose(candidates(entries, encoding=self.encoding), room, encoding=self.encoding)
                    )
                ],
                room,
                encoding=self.encoding,
            ),
        )

    def _items(self, told: Sequence[Told]) -> list[ContextItem]:
        counts = count_many([f"{line.text}\n" for line in told], self.encoding)
        return [
            item_of(line.text, tokens, line.part, line.reason, line.sources)
            for line, tokens in zip(told, counts, strict=True)
        ]

    # The whole.

    def _context(self, blocks: Sequence[Block]) -> Context:
        """The parts as one text, counted whole. Should it be too long after all, the end of parts goes."""
        while (tokens := count_parts(_parts(blocks), self.encoding)) > self.budget:
            blocks = _shorter(blocks)
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


def context_of(
    view: View, following: Following, *, budget: int, query: str | None, encoding: str, beside: str = ""
) -> Context:
    """What the viewer knows, for a model to read, with what stands beside it in the prompt.

    `following` must be this viewer's.
    """
    check_budget(budget)
    if query is not None and (not isinstance(query, str) or not query.strip()):
        raise InvalidSetting("query", query, reason="is no question; leave it out for none")
    room = budget
    if beside:
        room -= count_tokens(f"{beside}\n\n", encoding)
        if room < LEAST_BUDGET:
            raise BudgetTooSmall(budget=budget, least=budget - room + LEAST_BUDGET)
    while True:
        found = _context_of(view, following, budget=room, query=query, encoding=encoding)
        tokens = _prompt_tokens(beside, found, encoding)
        if tokens <= budget:
            return found.model_copy(update={"budget": budget, "beside": beside, "prompt_tokens": tokens})
        room -= 1  # where two texts meet, there may be a token more than both have


def _prompt_tokens(beside: str, found: Context, encoding: str) -> int:
    """The tokens of a context with what stands beside it, which changes less and was counted before."""
    if beside and goes_on_apart(before := f"{beside}\n\n", found.text):
        return count_tokens(before, encoding) + found.tokens
    return count_tokens(whole_prompt(beside, found.text), encoding) if beside else found.tokens


def _context_of(
    view: View, following: Following, *, budget: int, query: str | None, encoding: str
) -> Context:
    def build() -> Context:
        gates = gates_of(view)
        following.catch_up(view, gates)
        return Builder(
            view=view,
            following=following,
            gates=gates,
            scene=scene_of(view, following, query),
            budget=budget,
            encoding=encoding,
            query=query,
        ).build()

    # The log says all there is to say, so that up to one place it says the same.
    return following.kept("context", (view.head, budget, query), build)


def check_budget(budget: object) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise BudgetTooSmall(budget=budget, least=LEAST_BUDGET)


def _told_in_full(blocks: Iterable[Block]) -> frozenset[str]:
    """The events whose lines are among the newest, uncut."""
    items = (item for block in blocks for item in block.items if item.section == "recent")
    return frozenset(source for item in items if not item.text.endswith("…") for source in item.sources)


def _without(notes: Block, recent: Block) -> Block:
    """Notes without what was left open in a line that is among the newest anyway."""
    told = _told_in_full([recent])
    kept = tuple(item for item in notes.items if item.section != "open" or not told.issuperset(item.sources))
    return notes if len(kept) == len(notes.items) else _headed(KEPT, kept)._replace(dropped=notes.dropped)


def _headed(head: str, items: Sequence[ContextItem]) -> Block:
    if not items:
        return Block()
    return Block("\n".join([head, *(item.text for item in items)]) + "\n", tuple(items))


def _parts(blocks: Iterable[Block]) -> list[str]:
    """The texts of the parts that have any, without the newline at the very end."""
    texts = [block.text for block in blocks if block.text]
    return [*texts[:-1], texts[-1].rstrip("\n")] if texts else []


def _shorter(blocks: Sequence[Block]) -> list[Block]:
    """Without the last line of the longest part: a token may reach over the end of a line."""
    longest = max(range(len(blocks)), key=lambda n: len(blocks[n].items))
    block = blocks[longest]
    kept, gone = block.items[:-1], block.items[-1]
    text = block.text[: -len(gone.text) - 1] if kept else ""
    shorter = Block(text, kept, (*block.dropped, left_out(gone)))
    return [shorter if n == longest else other for n, other in enumerate(blocks)]
