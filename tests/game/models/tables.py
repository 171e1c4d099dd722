"""Games with models in their seats, which say what they are told to."""

from collections.abc import Callable
from typing import Any

from dndbots.campaign import Campaign
from dndbots.game.acts import Act
from dndbots.game.adventures import load_named
from dndbots.game.agents import Cast, DungeonMaster, Player, SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.dm.inventions import CALLED
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.house_dm import HouseDM
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Call, Question, Usage
from dndbots.testing import ScriptedVoice, memory_campaign

BUDGET = 1_200
# The first that anybody meets in the module that is played here, and two of its places.
_BRIDGE = Atlas(load_named("the_unpaid_bridge"), 0, uids="names")
PASK = _BRIDGE.uid("npc", "pask")
SQUARE, LANDING = _BRIDGE.uid("loc", "square"), _BRIDGE.uid("loc", "landing")
Said = Answer | str | Exception | Callable[[Question], Answer | str]


def calling(question: Question, tool: str, words: str = "", /, **form: Any) -> Answer:
    """An answer that calls for a tool of the question, as it passes validation."""
    kind = next(one.form for one in question.tools if one.name == tool)
    return Answer(words=words, calls=(Call(tool=tool, form=kind.model_validate(form)),), model="double")


def does(verb: str, words: str = "", /, **form: Any) -> Callable[[Question], Answer]:
    """Return a player model's answer with one act."""
    return lambda question: calling(question, "act", verb=verb, words=words, **form)


def begun(
    *,
    player: Player | None = None,
    dm: DungeonMaster | None = None,
    module: str = "the_unpaid_bridge",
    seed: int = 1,
    seats: int = 2,
    campaign: Campaign | None = None,
    **more: Any,
) -> Game:
    cast = Cast(dm=dm or HouseDM(), player=player or HousePlayer())
    return Game.begin(
        campaign or memory_campaign(), module=module, seed=seed, seats=seats, budget=BUDGET, cast=cast, **more
    )


def played_by(*said: Said, **how: Any) -> tuple[Game, ScriptedVoice]:
    """A game whose characters are played by one voice, and the voice."""
    voice = ScriptedVoice(*said)
    return begun(player=ModelPlayer(voice), **how), voice


def uid_of(game: Game, name: str) -> str:
    """Somebody whom a DM's model brought in, by the name that only the DM knows."""
    (uid,) = [uid for uid, facts in game.table.facts.items() if facts.get(CALLED) == name]
    return uid


def turns(game: Game) -> list[Any]:
    """Return the characters' acts, in order."""
    events = [event for event in game.campaign.events(viewer=DM) if not event.is_note]
    return [event for event in events if "act" in event.metadata.get("play", {})]


def notes(game: Game) -> list[Any]:
    """Return the usage notes of the models."""
    found = (event.known.usage for event in game.campaign.events(viewer=DM))
    return [one for one in found if one is not None]


def used(answer: str = "I wait.", **usage: int) -> Answer:
    return Answer(words=answer, model="double", usage=Usage(**usage))


def calls(tool: str, words: str = "", /, **form: Any) -> Callable[[Question], Answer]:
    """Return a DM model's answer with one tool call."""
    return lambda question: calling(question, tool, words, **form)


def run_by(*said: Said, npcs: ScriptedVoice | None = None, **how: Any) -> tuple[Game, ScriptedVoice]:
    """A game whose DM is one voice, and the voice."""
    voice = ScriptedVoice(*said)
    return begun(dm=ModelDM(voice, npcs=npcs), **how), voice


def play(game: Game) -> list[Any]:
    """All that was played, in order."""
    return [event for event in game.campaign.events(viewer=DM) if not event.is_note]


class Walker:
    """Players who do one thing each round, as they are told."""

    attempts = 1

    def __init__(self, **acts: Act) -> None:
        self._acts = acts

    def act(self, turn: SeatTurn) -> Act:
        name = turn.table.name(turn.who).split()[0]
        return self._acts.get(name, Act(words="I wait."))
