"""Previews: the questions that models in the seats would be asked now, word for word. Nobody is asked.

The DM's step is drafted with the house DM, as in play, and thrown away; nothing is recorded.
"""

from dataclasses import dataclass, field

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting
from dndbots.game.agents import Cast, SeatTurn
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_npcs import ModelNpcs
from dndbots.game.models.model_player import ModelPlayer, question_of
from dndbots.game.state.step import seeded_rng
from dndbots.game.world.narration import Screen
from dndbots.game.world.places import events_since_dm
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question
from dndbots.memory.context import Context


@dataclass(slots=True)
class SilentVoice:
    """A voice that keeps what it is asked, and says nothing."""

    questions: list[Question] = field(default_factory=list)

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:  # noqa: ARG002
        self.questions.append(question)
        return Answer()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPreview:
    """The questions to one seat, and the context in their prompt with its X-ray; an NPC has none.

    The DM gets a question for each scene of a split party.
    """

    who: str
    questions: tuple[Question, ...]
    context: Context | None = None


def preview_seat(campaign: Campaign, who: str) -> SeatPreview:
    """Return what a model in a seat would be asked now: the DM, a character or an NPC, by name or uid.

    Raises `NoGame` if the campaign has no game.
    """
    voice = SilentVoice()
    game = Game.resume(campaign, cast=Cast(dm=ModelDM(voice), player=ModelPlayer(voice)))
    with campaign.view(who) as view:
        uid = view.viewer
    if uid == DM:
        game.draft(game.cast.dm.run)
        return SeatPreview(who=uid, questions=tuple(voice.questions), context=game.prompts[DM])
    if uid in game.tables:
        game.system_message(uid)
        turn = SeatTurn(
            who=uid,
            table=game.tables[uid],
            prompt=game.prompts[uid],
            rng=seeded_rng(game.note.seed, uid),
            seed=game.note.seed,
        )
        return SeatPreview(who=uid, questions=(question_of(turn),), context=turn.prompt)
    if uid.startswith("npc_"):
        return SeatPreview(who=uid, questions=(_ask_npc(game, uid),))
    raise InvalidSetting("who", who, reason="has no seat at this table; choose dm, a character or an NPC")


def _ask_npc(game: Game, npc: str) -> Question:
    asked: list[Question] = []

    def ask(screen: Screen) -> None:
        if screen.look is None:
            return
        narration = game.cast.dm.narration_for(screen)
        since = events_since_dm(screen.table, screen.step.round)
        people = ModelNpcs(SilentVoice(), screen.look, screen.ledger)
        asked.append(people.question(narration, npc, since=since))

    game.draft(ask)
    return asked[0]
