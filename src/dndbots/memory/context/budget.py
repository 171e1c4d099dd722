"""The budget of a prompt: offered lines are cut to an exact number of tokens here, and become a context.

The most stable sections stand first, so that a provider's prompt cache keeps the beginning from turn to turn.
The story gets the room that the other sections leave, rounded in steps, so that it is not chosen again
whenever a fact costs a token more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from dndbots.canon.entities import Entity
from dndbots.canon.event_marks import LEFT_OPEN, OUTCOME
from dndbots.ids import DM
from dndbots.memory.context import sections
from dndbots.memory.context.blocks import (
    Block,
    SentenceOffer,
    StatementOffer,
    StatementWriter,
    block_texts,
    drop_last_line,
    fit_sentences,
    head_block,
)
from dndbots.memory.context.brief import NO_BRIEFING, Briefing, BriefLine
from dndbots.memory.context.kept_front import CHANGED
from dndbots.memory.context.known_lines import KnownLine
from dndbots.memory.context.remembered import HEADS, MemoryOffer, fit_memories, offer_memories
from dndbots.memory.context.repetition import (
    NOTHING_BESIDE,
    ToldBeside,
    drop_told,
    drop_told_events,
    find_newest,
    sentences_in,
    told_in_full,
)
from dndbots.memory.context.rooms import Rooms, round_down, round_up
from dndbots.memory.context.scene import Scene
from dndbots.memory.context.viewer_cache import NOTES, ViewerCache
from dndbots.memory.context.xray import RECENT, Context, ContextItem, Section, item_of
from dndbots.memory.human_gates import Gates
from dndbots.memory.recall.citations import UNCERTAIN, RecallItem, write_citations
from dndbots.memory.recall.search import LEAST_BUDGET, NO_RECORD, answer_query
from dndbots.memory.selection import choose_candidates, find_candidates, lines_of
from dndbots.memory.story import NewestLines, StoryLine
from dndbots.prompts import CONTEXT_GUIDE
from dndbots.storage.views.view import View
from dndbots.tokens import count_many, count_parts, count_tokens

# The largest share of each group of blocks. The story gets the rest: at least a fifth.
_LASTING: Final = 0.2  # the reader, the party and the quests
_LEAST_LASTING: Final = 0.12  # long quests leave room for a line on each of the party
_ADVENTURE: Final = 0.07
_AROUND: Final = 0.22  # the place and the people there, then other facts
_MEMORIES: Final = 0.16
_PINNED: Final = 0.15
_KNOWLEDGE, _LEAST_KNOWLEDGE = 0.07, 64
_OPEN, _LEAST_OPEN = 0.02, 32
_LONG_AGO: Final = 0.12
_NOW: Final = 0.08
_PASSING: Final = _AROUND + _MEMORIES + _KNOWLEDGE + _OPEN + _NOW
_LEAST_PASSING: Final = 0.17
_FIXED: Final = 0.6  # beside newest lines in full, what stands first keeps this part of its shares
_LEAST_STORY: Final = 0.16
_MOST_WRITTEN: Final = 0.25  # room that is kept for a model's summaries
_FEW_LINES: Final = 3
_ASKED: Final = 0.3
_WIDER: Final = 2
# With a question, the other blocks keep this part of their shares.
_BESIDE_ASKED: Final = 0.6
# The guide to DCML is left out if it would take more than this share.
_GUIDE: Final = 0.08
_TITLES: Final[Mapping[Section, str]] = {
    "identity": "Identity & role",
    "known": "Known",
    "deeds": "Key past events (compressed)",
}
_OUTCOMES: Final = 40
PARTY, ADVENTURE, QUESTS, AROUND = "## Party", "## Adventure", "## Quests", "## Place and People"
STORY_DM, STORY_OWN = "## Story So Far", "## What You Remember"
KEPT, KNOWLEDGE, HERE, ASKED = "## KEPT", "## Player Knowledge", "## HERE", "## ASKED"
# The headings of sentences; all others are DCML.
PROSE: Final = (
    *(PARTY, ADVENTURE, QUESTS, AROUND, *HEADS, STORY_DM, STORY_OWN),
    *(KEPT, KNOWLEDGE, RECENT, CHANGED, HERE, ASKED),
)


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
    briefing: Briefing = NO_BRIEFING
    beside: ToldBeside = NOTHING_BESIDE

    def build(self) -> Context:
        """Build the blocks and return them as a context."""
        return self.context_of(list(self.all_blocks().values()))

    def all_blocks(self) -> dict[str, Block]:
        """Build each block within its share; if the story leaves room, build them again with more.

        What is still free then goes to lines that answer the question.
        """
        asked = self._asked(frozenset())
        blocks = self._blocks(asked, spare=0)
        if asked.items:
            asked = self._asked(told_in_full(blocks.values()))
            blocks = self._blocks(asked, spare=0)
        if not blocks["story"].dropped and any(block.dropped for block in blocks.values()):
            blocks = self._blocks(asked, spare=self.budget - self._tokens(blocks))
        if asked.dropped:
            spare = max(self.budget - self._tokens(blocks), 0)
            blocks["asked"] = self._asked(told_in_full(blocks.values()), spare=spare)
        return blocks

    def newest_lines(self, window: NewestLines, between: int, room: int, *, end: int | None = None) -> Block:
        """Return the newest entries, in full as far as they fit, and in short what a kept front lacks.

        With an `end`, those before it.
        """
        story = self.cache.story
        lately = self._items(story.tell_before(window, min(between, room)))
        room -= sum(item.tokens for item in lately)
        return head_block(RECENT, [*lately, *self._items(story.tell_window(window.start, room, end=end))])

    def memory_offers(self) -> list[MemoryOffer]:
        """Return the memories that may be told here: of the place, of people present, and of the world."""
        scene = self.scene
        around = tuple(entity.uid for entity in (*scene.places, *scene.present))
        return self.cache.cached(
            "memories",
            (self.cache.changes[NOTES], around),
            partial(offer_memories, self.view, scene, self.cache),
        )

    # Blocks.

    def _blocks(self, asked: Block, *, spare: int) -> dict[str, Block]:
        """Return all blocks by name, from the most to the least stable one, which is their order."""
        # What stands first gets the same room each time: the newest lines must not push it in and out.
        fixed = self.budget * self._beside_asked * (_FIXED if self.briefing.lines else 1.0)
        brief, more = self.briefing, 0 if self.briefing.lines else spare
        lasting_room = int(fixed * _LASTING) + more // 4
        quests = self._quests(lasting_room)
        lasting = self._lasting(max(lasting_room - self._count(quests.text), int(fixed * _LEAST_LASTING)))
        room = int(fixed * _ADVENTURE) + more // 16
        adventure = self._brief(brief.adventure, "adventure", room, ADVENTURE)
        stable = (lasting, adventure, quests)
        whole = self._shared_room(asked, stable)
        around = self._around(int(whole * _AROUND) + spare // 8)
        left = int(whole * _AROUND) - self._count(around.text) + spare // 8
        known = self._known(max(left, 0), guide="" if self._guide in lasting.text else self._guide)
        pinned = self._pinned(int(whole * _PINNED) + spare // 16)
        memory_room = int(whole * _MEMORIES) - self._count(pinned.text) // 2 + spare // 8
        memories = self._memories(frozenset(), memory_room)
        left_open = self._left_open(spare // 16, "" if pinned.text else KEPT)
        knowledge_room = int(whole * _KNOWLEDGE) + spare // 16
        knowledge = self._knowledge(knowledge_room)
        now = self._now(int(self.budget * _NOW) + spare // 16)
        passing = (around, memories, pinned, known, left_open, knowledge, now)
        room = self.budget - round_up(sum(self._count(block.text) for block in stable), self.budget)
        room -= round_up(sum(self._count(block.text) for block in passing), self.budget)
        kept_free = round_up(answer := self._count(asked.text), self.budget)
        more = min(kept_free - answer, room)
        draft = {
            "lasting": lasting,
            "adventure": adventure,
            "quests": quests,
            "around": around,
            "memories": memories,
            "story": Block(),
            "known": known,
            "pinned": pinned,
            "open": left_open,
            "knowledge": knowledge,
            "recent": Block(),
            "now": now,
            "asked": asked,
        }
        rooms = Rooms(max(room - kept_free, 0), more, memory_room, knowledge_room)
        blocks = self._with_story(draft, rooms)
        # What is not told twice leaves room, which the newest lines get.
        beside = self._tokens(blocks | {"story": Block(), "recent": Block()})
        free = round_down(self.budget - beside - rooms.story, self.budget)
        if free <= more or not blocks["story"].dropped:
            return blocks
        used = (self._count(blocks[name].text) for name in ("memories", "knowledge"))
        return self._with_story(draft, Rooms(rooms.story, free, *used))

    def _with_story(self, blocks: Mapping[str, Block], rooms: Rooms) -> dict[str, Block]:
        """Return the blocks with the story and the newest lines, and without what stands in them twice."""
        then, recent = self._story(rooms.story, more=rooms.more)
        # What the newest lines tell is not told again above; then each block leaves out what one before has.
        around = drop_told(blocks["around"], sentences_in(find_newest(recent)), self.encoding)
        above = sentences_in((*blocks["adventure"].items, *blocks["quests"].items, *around.items))
        recent = drop_told(recent, above | self.beside.newest, self.encoding, keep=find_newest(recent))
        told = above | sentences_in(recent.items) | self.beside.newest
        fitted = {**blocks, "around": around, "story": then, "recent": recent, "memories": Block()}
        left = round_down(self.budget - self._tokens(fitted), self.budget)
        if blocks["knowledge"].dropped and not blocks["knowledge"].items:
            fitted["knowledge"] = self._knowledge(max(rooms.knowledge, min(left, _LEAST_KNOWLEDGE)))
            left -= self._count(fitted["knowledge"].text)
        memories = self._memories(told, max(rooms.memories, left))
        told |= sentences_in(memories.items)
        left_open = drop_told(drop_told_events(blocks["open"], recent), told, self.encoding)
        told |= sentences_in(left_open.items)
        return {
            **fitted,
            "memories": memories,
            "open": left_open,
            "story": drop_told(then, told, self.encoding),
        }

    def _tokens(self, blocks: Mapping[str, Block]) -> int:
        return sum(self._count(block.text) for block in blocks.values() if block.text)

    @property
    def _beside_asked(self) -> float:
        return 1.0 if self.query is None else _BESIDE_ASKED

    def _shared_room(self, asked: Block, stable: Iterable[Block]) -> float:
        """Return the budget that the shares of the passing blocks are taken of.

        It is smaller beside an answer, and where the newest lines need more than the blocks leave.
        """
        whole = self.budget * self._beside_asked
        newest = self.cache.story.newest_cost(self.briefing.lines, of=self.budget)
        written = self.written_story()
        told = 0 if written is None else sum(self._count(f"{line.text}\n") for line in written.lines)
        story = max(_LEAST_STORY * self.budget, min(told, _MOST_WRITTEN * self.budget))
        left = self.budget - newest - story - self._count(asked.text)
        left -= sum(self._count(block.text) for block in stable)
        return min(whole, max(left, self.budget * _LEAST_PASSING) / _PASSING)

    def _lasting(self, room: int) -> Block:
        """Return the guide, the reader and the party."""
        me, sheets = self.scene.me, self.briefing.has_sheets
        if sheets and self.view.viewer == DM:
            return self._sentences(
                list(sections.offer_party(self.scene, self.gates, self._named)), room, PARTY
            )

        def lines_of(entity: Entity) -> Iterable[KnownLine]:
            if sheets and entity is me:
                return sections.lines_beyond_sheet(entity, self.gates)
            return self.cache.stated_with_sheet(entity) if entity is me else self.cache.stated(entity)

        offers = sections.offer_identity(self.scene, lines_of)
        return self._written("lasting", list(offers), room, self._guide)

    def _quests(self, room: int) -> Block:
        offers = self.cache.cached(
            "quests",
            (self.scene.quests, self.gates),
            lambda: list(sections.offer_quests(self.scene, self.gates, self._named)),
        )
        return self._sentences(offers, room, QUESTS)

    def _around(self, room: int) -> Block:
        """Return the place and the people there."""
        offers = self.cache.cached(
            "around",
            (self.scene.places, self.scene.present, self.gates),
            lambda: list(sections.offer_surroundings(self.scene, self.gates, self._named)),
        )
        return self._sentences(offers, room, AROUND)

    def _brief(self, lines: Sequence[BriefLine], section: Section, room: int, head: str) -> Block:
        return self._sentences(sections.offer_briefing(lines, section), room, head)

    def _knowledge(self, room: int) -> Block:
        return self._brief(self.briefing.knowledge, "knowledge", room, KNOWLEDGE)

    def _named(self, uids: Sequence[str]) -> dict[str, str]:
        return self.cache.named(self.view, uids)

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
        facts = list(sections.offer_known(self.scene, self.cache.stated, self._carried, self.gates))
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

    def _carried(self, entity: Entity) -> list[KnownLine]:
        """Return what somebody carries, unless the prompt shows it on a sheet."""
        return [] if self.briefing.has_sheets and entity is self.scene.me else self.cache.carried(entity)

    def _memories(self, told: frozenset[str], room: int) -> Block:
        """Return the memories of the place, of people and of the world, each under its heading.

        Sentences in `told` are left out.
        """
        offers = [offer.without(told) for offer in self.memory_offers()]
        return fit_memories(offers, room, encoding=self.encoding)

    def _pinned(self, room: int) -> Block:
        offers = self.cache.cached(
            "pinned",
            (self.gates.pinned, room),
            partial(sections.offer_pinned, self.view, self.gates, room // 2),
        )
        return self._sentences(offers, room, KEPT)

    def _left_open(self, spare: int, head: str) -> Block:
        """Return open threads."""
        scene, changes = self.scene, self.cache.changes
        at_hand = tuple(entity.uid for entity in scene.at_hand if entity.category == "NPC")
        offers = self.cache.cached(
            "open",
            (changes[LEFT_OPEN], at_hand),
            partial(sections.offer_open_threads, self.view, scene, self.gates, self.cache),
        )
        return self._sentences(offers, max(int(self.budget * _OPEN), _LEAST_OPEN) + spare, head)

    def _now(self, room: int) -> Block:
        offers = sections.offer_scene(self.scene, self.gates, told=self.briefing.has_scene)
        return self._sentences(list(offers), room, HERE)

    def _asked(self, told: frozenset[str], *, spare: int = 0) -> Block:
        """Return the lines that answer the question, or that there is no record.

        Lines that only stand near an answer are skipped if their events are in `told`; `spare` room is not
        for them.
        """
        query, room = self.query, int(self.budget * _ASKED)
        if query is None:
            return Block()
        # What the reader has in front of it is found first, and taken out.
        wide = max(room, LEAST_BUDGET) * (_WIDER if self.beside.texts else 1)
        recall = partial(answer_query, self.view, query, budget=wide, encoding=self.encoding)
        answer = self.cache.cached("recall", (self.view.head, query, wide), recall)
        if answer.no_record:
            text = f"{ASKED}\n{NO_RECORD}\n"
            return Block(text if self._count(text) <= room else "")
        items = [
            item
            for item in answer.items
            if item.section != "lines"
            or not ((not item.says and told.issuperset(item.sources)) or self.beside.tells(item.text))
        ]
        offers = [
            SentenceOffer(text, "asked", item.reason, item.sources, rank=_rank_of_answer(item))
            for item, text in zip(items, write_citations(items), strict=True)
        ]
        head = f"{ASKED}\n{UNCERTAIN}" if answer.confidence == "weak" else ASKED
        wanted = [head, *(offer.text for offer in offers if not offer.rank)]
        room = max(room, min(room + spare, sum(self._count(f"{text}\n") for text in wanted)))
        return self._sentences(offers, room, head)

    def _sentences(self, offers: Sequence[SentenceOffer], room: int, head: str) -> Block:
        return fit_sentences(offers, room, head=head, encoding=self.encoding)

    # The story.

    def _story(self, room: int, *, more: int) -> tuple[Block, Block]:
        """Return the story so far and the newest lines, as two blocks. `more` room is for the latter."""
        head = STORY_DM if self.view.viewer == DM else STORY_OWN
        heads = self._count(f"{head}\n") + self._count(f"{RECENT}\n")
        room = max(room - heads, 0)
        written = self.written_story()
        if written is not None:
            newest = self.cache.story.newest_cost(self.briefing.lines or _FEW_LINES, of=self.budget)
            before = self._sentences(written.lines, max(room - newest, room // 2), "")
            telling = self.cache.story.tell_since(
                written.upto,
                room + more - self._count(before.text),
                lines=self.briefing.lines,
                beside=self.beside,
            )
        else:
            before = self._long_ago(int(room * _LONG_AGO))
            telling = self.cache.story.tell(
                room - self._count(before.text),
                of=self.budget,
                lines=self.briefing.lines,
                more=more,
                names=not self.briefing.has_sheets,
                beside=self.beside,
            )
        items = self._items(telling.kept)
        told = [item for item in items if item.section in ("names", "story")]
        recent = [item for item in items if item.section in ("lately", "recent")]
        dropped = self.cache.cached("left out", telling.dropped, lambda: tuple(self._items(telling.dropped)))
        then = head_block(head, [*before.items, *told])._replace(dropped=(*before.dropped, *dropped))
        return then, head_block(RECENT, recent)

    def written_story(self) -> sections.WrittenStory | None:
        key = (self.cache.changes[NOTES], self.cache.session)
        read = partial(sections.read_written_story, self.view, self.gates, self.cache.session)
        return self.cache.cached("written", key, read)

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

    def context_of(self, blocks: Sequence[Block]) -> Context:
        """Join the blocks and count the whole text; drop last lines while it is over budget."""
        while (tokens := count_parts(block_texts(blocks), self.encoding)) > self.budget:
            blocks = drop_last_line(blocks)
        return Context(
            viewer=self.view.viewer,
            budget=self.budget,
            encoding=self.encoding,
            query=self.query,
            text="".join(block_texts(blocks)),
            tokens=tokens,
            prompt_tokens=tokens,
            items=tuple(item for block in blocks for item in block.items),
            dropped=tuple(item for block in blocks for item in block.dropped),
        )

    def _count(self, text: str) -> int:
        return count_tokens(text, self.encoding)


def _rank_of_answer(item: RecallItem) -> int:
    """Return 1 for a line that only stands near an answer: a small budget is for what says the words."""
    return int(item.section == "lines" and not item.says)
