"""The prompts of the seats: rules and sheets first, then the memory of the seat, within its limit.

The DM's prompt also has a briefing from the adventure's file. A character's prompt comes from its own
knowledge alone.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from dndbots.campaign import Campaign
from dndbots.game.adventures.library import OPEN, find_chapter
from dndbots.game.adventures.module import Module
from dndbots.game.agents import DungeonMaster
from dndbots.game.ledger import Budgets
from dndbots.game.models.dm_brief import LINES, brief_dm
from dndbots.game.state.game_notes import GameNote
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.world_state import World
from dndbots.ids import DM
from dndbots.memory.agents.memory_upkeep import MemoryUpkeep
from dndbots.memory.context import Briefing, Context
from dndbots.models import Character
from dndbots.prompts import build_dm_prompt, build_player_prompt
from dndbots.tokens import count_tokens

# A player's prompt has the sheet, and its question has the scene.
PLAYER_BRIEFING: Final = Briefing(has_sheets=True, has_scene=True, lines=LINES)
_MOST_CHAPTERS: Final = 4


class SeatPrompts:
    """The prompts of a game's seats at the moment of asking."""

    def __init__(self, campaign: Campaign, note: GameNote) -> None:
        self._campaign, self._note = campaign, note
        self.budgets = Budgets(campaign, note)
        self._tended: tuple[tuple[str, ...], MemoryUpkeep] | None = None
        self.module = lru_cache(maxsize=_MOST_CHAPTERS)(self._find_module)
        self._atlas = lru_cache(maxsize=_MOST_CHAPTERS)(self._make_atlas)

    def of_dm(self, table: Table, *, tools: bool) -> Context:
        """Return the DM's prompt; `table` is the DM's own."""
        return self._fitted(DM, self.beside_dm(table, tools=tools), brief_dm(self._world(table), table))

    def beside_dm(self, table: Table, *, tools: bool) -> str:
        """Return the DM's prompt without the memory."""
        party = [sheet for uid in table.living() if (sheet := table.character(uid)) is not None]
        return build_dm_prompt(self._note.scenario or self._title(table), party, tools=tools)

    def of_player(self, who: str, sheet: Character | None) -> Context:
        """Return the prompt of a character with its sheet as it knows it."""
        return self._fitted(who, self.beside_player(sheet), PLAYER_BRIEFING)

    @staticmethod
    def beside_player(sheet: Character | None) -> str:
        """Return a player's prompt without the memory."""
        return build_player_prompt(sheet, passing=False) if sheet is not None else ""

    # Upkeep of the memories behind the prompts.

    def tend(self, table: Table, sheets: Mapping[str, Character | None], dm: DungeonMaster) -> None:
        """Bring everybody's memory up to date, by the budget and the whole text of their prompts.

        The texts are made from the tables, so that a game that was resumed counts the same.
        """
        beside = {who: self.beside_player(sheet) for who, sheet in sheets.items()}
        beside[DM] = self.beside_dm(table, tools=dm.has_tools)
        self._upkeep_of(table).tend({who: count_tokens(text) for who, text in beside.items()})

    def begin_session(self, table: Table) -> None:
        """Summarise what is left of the last session: buffers begin empty."""
        self._upkeep_of(table).begin_session()

    def forget(self) -> None:
        """Read the memories anew: the log was taken back."""
        self._tended = None

    def _upkeep_of(self, table: Table) -> MemoryUpkeep:
        agents = (DM, *table.living())
        if self._tended is None or self._tended[0] != agents:
            upkeep = self._campaign.tending(agents, token_limit=self._note.budget, retain=LINES)
            self._tended = agents, upkeep
        return self._tended[1]

    def _fitted(self, who: str, beside: str, briefing: Briefing) -> Context:
        budget, encoding = self.budgets.of(who, beside)
        return self._campaign.context(who, budget, beside=beside, encoding=encoding, briefing=briefing)

    def _title(self, table: Table) -> str:
        module = self.module(table.chapter)
        return self._note.module if module is None else module.title

    def _world(self, table: Table) -> World | None:
        """Return the adventure as it stands; None in a game without one."""
        atlas = None if self._note.module == OPEN else self._atlas(table.chapter)
        return None if atlas is None else World(atlas, table)

    def _find_module(self, chapter: int) -> Module | None:
        return find_chapter(self._note.module, self._note.seed, chapter)

    def _make_atlas(self, chapter: int) -> Atlas | None:
        module = self.module(chapter)
        return None if module is None else Atlas(module, chapter, uids=self._note.uids)
