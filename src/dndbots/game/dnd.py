"""`DnDGame`: a scenario, characters and models, put together in one call."""

from collections.abc import Sequence

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, NoGame, UnknownViewer
from dndbots.game.adventures.library import ENDLESS
from dndbots.game.agents import Cast
from dndbots.game.game import BUDGET, Game, Watch
from dndbots.game.setup import Voices, build_cast
from dndbots.game.state.game_notes import HOUSE
from dndbots.ids import DM
from dndbots.llm.protocol import Role
from dndbots.memory import MemoryBuilder
from dndbots.models import Character
from dndbots.prompts import build_dm_prompt, build_player_prompt
from dndbots.storage.in_memory import MemoryStore
from dndbots.tokens import count_tokens


class SeatAgent:
    """A seat at the table. Its prompt is computed when it is read."""

    def __init__(self, game: "DnDGame", name: str, uid: str, character: Character | None) -> None:
        self.name, self.uid, self.character = name, uid, character
        self._game = game

    @property
    def system_message(self) -> str:
        """The prompt of this seat, with its memory at this moment."""
        return self._game.prompt_of(self)


class DnDGame:
    """A game of D&D. Building one calls no model and no network, and needs no key.

    Without a campaign the game lives in memory and ends with the program. `enable_memory=False` leaves the
    memory out of the prompts; the log is kept all the same. `voices` returns the voice for a role; without
    it, the models are opened by name when the game is first played, with keys from the environment.
    """

    def __init__(
        self,
        scenario: str,
        characters: Sequence[Character],
        dm_model: str = "gpt-4o",
        player_model: str = "gpt-4o",
        campaign: Campaign | None = None,
        enable_memory: bool = True,  # noqa: FBT001, FBT002 - the source documents fix the signature
        *,
        module: str = ENDLESS,
        seed: int = 0,
        budget: int = BUDGET,
        voices: Voices | None = None,
    ) -> None:
        if not characters:
            raise InvalidSetting("characters", [], reason="is empty; a game needs at least one")
        self.scenario, self.characters = scenario, list(characters)
        self.dm_model, self.player_model = dm_model, player_model
        self.campaign = Campaign(MemoryStore()) if campaign is None else campaign
        self.enable_memory, self.budget = enable_memory, budget
        self._module, self._seed = module, seed
        self._voices = voices
        self._game: Game | None = None
        self._dm_agent = SeatAgent(self, DM, DM, None)
        self._player_agents = [SeatAgent(self, sheet.name, sheet.uid, sheet) for sheet in self.characters]

    @property
    def players(self) -> list[SeatAgent]:
        """The seats of the characters, in order."""
        return list(self._player_agents)

    def play(self, rounds: int | None = None, *, watch: Watch | None = None) -> int:
        """Play some rounds, or until the story is over. Return how many were played."""
        return self.game.play(rounds, watch=watch)

    @property
    def game(self) -> Game:
        """The game itself. The first read begins it, or resumes it if the campaign has one."""
        if self._game is None:
            self._game = self._resumed() or self._begun()
        return self._game

    def _resumed(self) -> Game | None:
        try:
            return Game.resume(self.campaign, cast=self._cast())
        except NoGame:
            return None

    def _begun(self) -> Game:
        return Game.begin(
            self.campaign,
            module=self._module,
            seed=self._seed,
            characters=self.characters,
            seats=len(self.characters),
            budget=self.budget,
            scenario=self.scenario,
            dm=self.dm_model,
            players=self.player_model,
            cast=self._cast(),
        )

    def _cast(self) -> Cast:
        """Build the cast. A model that cannot be opened fails here, before anything is recorded."""
        voices = self._voices or self._by_name()
        for role, model in ((Role.DM, self.dm_model), (Role.PLAYER, self.player_model)):
            if model != HOUSE:
                voices(role)
        return build_cast(self.dm_model, self.player_model, voices)

    def _by_name(self) -> Voices:
        from dndbots.llm.settings import RoleSettings, Settings
        from dndbots.llm.voices import Voices as Opened

        dm, players = RoleSettings(model=self.dm_model), RoleSettings(model=self.player_model)
        return Opened(Settings(dm=dm, npcs=dm, players=players)).voice

    def prompt_of(self, agent: SeatAgent) -> str:
        """Return the prompt of a seat, with its memory unless memory is off."""
        sheet = agent.character
        if sheet is not None and self._game is not None:
            sheet = self._game.sheet(sheet.uid) or sheet
        alone = (
            build_dm_prompt(self.scenario, self.characters) if sheet is None else build_player_prompt(sheet)
        )
        if not self.enable_memory:
            return alone
        try:
            context = self.campaign.context(agent.uid, self.budget, beside=alone)
        except UnknownViewer:  # nothing was played yet
            return self._prompt_from_sheets(agent, alone)
        # A DM is known from the start, and knows nothing before the first event.
        return context.prompt if context.items else self._prompt_from_sheets(agent, alone)

    def _prompt_from_sheets(self, agent: SeatAgent, alone: str) -> str:
        """Return the prompt before the first turn: what the sheets tell of the party."""
        builder = MemoryBuilder()
        if agent.character is None:
            memory = builder.build_dm_document("s01", self.characters, [])
            whole = build_dm_prompt(self.scenario, self.characters, memory)
        else:
            memory = builder.build_memory_document(agent.uid, agent.character, self.characters, [])
            whole = build_player_prompt(agent.character, memory)
        return whole if count_tokens(whole) <= self.budget else alone
