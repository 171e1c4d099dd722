"""A voice with the faults of a small model: it repeats, talks engine, and is no first person."""

import random
import re
from typing import Any

from bench.model_play import measured
from tests.game.models.tables import begun

from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question, Role

SLIPS = (
    "Field required.",
    "No record.",
    "Throk tries wisdom: d20 14 against 10: fails.",
    "WAYS: inn sign; tall house",
    "**What would you like to do next?**",
    "I will call introduce_npc with npc_pask_001.",
)
WORDS = ("amber", "bell", "cloud", "dust", "ember", "fog", "gate", "harp", "iron", "jar", "lamp", "moss")


class Parrot:
    """Says one thing of its own, and much that was said before or does not belong to a story."""

    def __init__(self) -> None:
        self._rng = random.Random(7)

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        del hear
        shown = re.findall(r"[^.!?\n]{25,160}[.!?]", f"{question.system}\n{question.text}")
        old = self._rng.sample(shown, k=min(3, len(shown)))
        new = f"The {self._rng.choice(WORDS)} {self._rng.choice(('creaks', 'glows', 'falls'))} near the "
        new += f"{self._rng.choice(WORDS)} of the {self._rng.choice(WORDS)}."
        own = re.match(r"You are (\w+)", question.system)
        third = f"{own[1]} draws his sword and looks at the {self._rng.choice(WORDS)}." if own else ""
        said = [*old, self._rng.choice(SLIPS), new, third, new]
        self._rng.shuffle(said)
        words = " ".join(filter(None, said))
        return Answer(words=f"- {words}" if question.role is Role.DM else words, model="parrot")


def test_a_parrot_tells_a_story_without_echo_and_engine_talk() -> None:
    voice: Any = Parrot()
    game = begun(dm=ModelDM(voice, npcs=voice), player=ModelPlayer(voice), seats=2, seed=3)
    game.play(6, compact=False)
    figures = measured(game, list(game.campaign.events(viewer=DM)))
    assert figures.sentences >= 25
    assert figures.engine == 0
    assert figures.third == 0
    assert figures.echoes == 0
    assert figures.unsound == []
    assert {"echo", "engine", "person"} <= {*figures.cuts}
    told = " ".join(event.content for event in game.campaign.events(viewer=game.table.living()[0]))
    assert "winning side" not in told  # a wish of somebody in the DM's question
