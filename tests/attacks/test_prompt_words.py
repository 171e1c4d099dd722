"""Every word of every prompt against what its seat perceived: no prompt tells a name that nobody told.

Uids count as words: what is between their underscores is read like everything else.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.game.models.tables import calling
from tests.storage.writers import IS_LONG

from dndbots.campaign import Campaign
from dndbots.errors import AmbiguousName
from dndbots.events import EventType, GameEvent
from dndbots.game.adventures import Module
from dndbots.game.agents import Cast, DungeonMaster, SeatTurn
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import question_of
from dndbots.game.state.game_notes import GameNote
from dndbots.game.world.house_dm import HouseDM
from dndbots.ids import DM, category_of, is_opaque, opaque_uid
from dndbots.llm.protocol import Answer, Question
from dndbots.llm.tool_schemas import schema_of
from dndbots.testing import ScriptedVoice, as_text, assert_perspective, memory_campaign

MODULES = ("the_unpaid_bridge", "apples_in_january", "endless")
SEEDS = range(1, 13) if IS_LONG else range(1, 2)
ROUNDS = 60 if IS_LONG else 14
BUDGET = 1_000

_WORD = re.compile(r"[^\W_]+")
_CUT = re.compile(r"[^\W_]+…")  # a word of which a line has only the beginning
_UID = re.compile(r"(?:pc|npc|mon|loc|fac|item|qst)(?:_[a-z0-9]+)+")
_SHORTEST = 3
# Headings, labels and sentences of the engine's own, which any prompt may have.
_OF_EVERY_PROMPT = (
    "Key past events (compressed) FOES: THINGS: SPELLS READY: OFFERED: NEWS WAYS QST MON LOC KEPT "
    "It was found. Act is begun. They were killed by Done so far: Place and People; "
    "trusts the party a little; (taken on)"
)


def words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def secrets_of(module: Module) -> dict[str, str]:
    """Each word that a module's names and keys have, with whose it is."""
    found: dict[str, str] = {}
    for kind in ("people", "places", "items", "quests", "foes", "things"):
        for key, value in getattr(module, kind).items():
            for word in words(key) | words(getattr(value, "name", None) or ""):
                if len(word) >= _SHORTEST and not word.isdigit():
                    found.setdefault(word, f"{kind}.{key}")
    return found


def told_by(event: GameEvent) -> Iterator[str]:
    """All that an event tells those who perceive it, in words: neither uids nor keys are any."""
    note = event.metadata.get("play") or {}
    sights = note.get("sights") or {}
    yield event.content
    yield from (note.get("gist") or "", *note.get("topics", ()), *sights.get("ways", ()))
    yield from sights.get("things", {}).values()
    for key in ("names", "facts", "threads", "loot", "quest_state"):
        yield from (text for text in _values(event.metadata.get(key)) if not _UID.fullmatch(text))


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _values(one)


class Audited(Game):
    """A game in which every prompt is read before it is sent."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.leaks: list[str] = []
        self.read = 0
        self.asked: dict[str, str] = {}  # the newest of each seat
        self._read_of: dict[int, dict[str, str]] = {}
        self._heard: dict[str, set[str]] = {}
        self._at: dict[str, int] = {}

    def player(self, who: str) -> None:
        self.audit(who)
        super().player(who)

    def audit(self, who: str) -> None:
        """What a model in this seat is asked: system message, question, and its tools."""
        prompt = self._prompt(who)
        turn = SeatTurn(
            who=who, table=self.tables[who], prompt=prompt, rng=self._step(who).rng, seed=self.note.seed
        )
        question = question_of(turn)
        tools = as_text([[one.name, one.purpose, schema_of(one.form)] for one in question.tools])
        heard = self.heard(who) | words(prompt.beside) | words(tools) | words(_OF_EVERY_PROMPT)
        text = f"{question.system}\n{question.text}\n{tools}"
        found = words(_CUT.sub("…", text))
        secrets = {word: of for word, of in self.secrets().items() if word in found - heard}
        self.read += 1
        self.asked[who] = text
        for word, of in sorted(secrets.items()):
            line = next(one for one in text.split("\n") if word in words(one))
            self.leaks.append(f"round {self.round}, {who}: {word!r} ({of}) in {line!r}")
        assert "an unnamed" not in text, text

    def secrets(self) -> dict[str, str]:
        """The words of all names that there are: those of the adventure, and those that its DM made up."""
        for number in range(self.table.chapter + 2):
            if number not in self._read_of and (module := self._seats.module(number)) is not None:
                self._read_of[number] = secrets_of(module)
        found = {word: of for secrets in self._read_of.values() for word, of in secrets.items()}
        own = {uid: str(facts["called"]) for uid, facts in self.table.facts.items() if "called" in facts}
        return found | {word: uid for uid, name in own.items() for word in words(name)}

    def heard(self, who: str) -> set[str]:
        """The words of all that a seat perceived so far."""
        heard = self._heard.setdefault(who, set())
        with self.campaign.view(who) as view:
            for event in view.events(after=self._at.get(who, 0)):
                heard.update(word for text in told_by(event) for word in words(text))
            self._at[who] = view.head
        return heard


def audited(module: str, seed: int, *, dm: DungeonMaster | None = None, rounds: int = ROUNDS) -> Audited:
    cast = Cast(dm=dm or HouseDM(), player=HousePlayer())
    game = Audited.begin(memory_campaign(), module=module, seed=seed, budget=BUDGET, cast=cast)
    game.play(rounds)
    assert game.read > rounds
    return game


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("module", MODULES)
def test_no_prompt_has_a_name_that_its_seat_did_not_hear(module: str, seed: int) -> None:
    """No word of an adventure's names and keys is in a prompt before its seat was told it."""
    assert audited(module, seed).leaks == []


@pytest.mark.parametrize("module", MODULES)
def test_games_with_keys_in_their_uids_are_no_exception(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that was begun when uids were made from keys tells no more in its prompts and answers."""

    def older(**fields: Any) -> GameNote:
        return GameNote(**{**fields, "uids": "keys"})

    monkeypatch.setattr("dndbots.game.game.GameNote", older)
    game = audited(module, SEEDS[0])
    assert game.leaks == []
    spelled = {uid for event in game.campaign.events(viewer=DM) for uid in event.known.names}
    assert any(not is_opaque(uid) for uid in spelled if category_of(uid) == "NPC")
    for who in game.table.living():
        assert told_in_answers(game, who) == []


def told_in_answers(game: Audited, who: str) -> list[str]:
    """Secret words in what the campaign answers a seat with. The game's own notes on events are not read."""
    secrets, heard = game.secrets(), game.heard(who)
    found = []
    for name, answer in ANSWERS.items():
        for uid in _UID.findall(as_text(answer(game.campaign, who))):
            told = (words(uid) & secrets.keys()) - heard
            found += [f"{name}: {word!r} in {uid}" for word in sorted(told)]
    return found


ANSWERS: dict[str, Callable[[Campaign, str], Any]] = {
    "events": lambda campaign, who: [
        (event.source, {**event.metadata, "play": {}}) for event in campaign.events(viewer=who)
    ],
    "entities": lambda campaign, who: campaign.entities(viewer=who),
    "history": lambda campaign, who: [
        campaign.history(one.uid, viewer=who) for one in campaign.entities(viewer=who)
    ],
    "threads": lambda campaign, who: campaign.threads(who, resolved=True),
    "memories": lambda campaign, who: campaign.memories(who),
    "near": lambda campaign, who: campaign.graph(viewer=who).about(who, steps=3),
}


def introducing(name: str, looks: str) -> Callable[[Question], Answer | str]:
    """A DM's model that brings somebody in under a description, and tells the name to nobody."""
    introduced: list[str] = []

    def answer(question: Question) -> Answer | str:
        if introduced or not any(tool.name == "introduce_npc" for tool in question.tools):
            return "The wind turns."
        introduced.append(name)
        return calling(
            question, "introduce_npc", name=name, looks=looks, role="spy", wants=f"{name} wants gold"
        )

    return answer


@pytest.mark.parametrize("module", MODULES)
def test_a_model_that_brings_somebody_in_tells_no_name(module: str) -> None:
    """Whom a DM's model introduces under a description has no name in any prompt until it is told."""
    voice = ScriptedVoice(introducing("Ysolde Quillfeather", "a woman with a wooden hand"))
    game = audited(module, SEEDS[0], dm=ModelDM(voice), rounds=4)
    assert "Ysolde Quillfeather" in as_text(game.campaign.entities(viewer=DM))
    for who in game.table.living():
        assert any("wooden hand" in event.content for event in game.campaign.events(viewer=who))
    assert game.leaks == []
    for who in game.table.living():
        assert told_in_answers(game, who) == []


LADY = "npc_philippa_001"
SEEN_AS = "a lady with a long neck"


def met(**more: Any) -> list[GameEvent]:
    """Zara meets somebody under a description, and hears the name later. The DM knew it from the first."""
    more.setdefault("facts", [{"subject": LADY, "key": "friend_of", "value": "pc_zara_001"}])
    given = [
        ("Philippa Crane lives here.", {"witnesses": [], "names": {LADY: "Philippa Crane"}}),
        ("Zara comes in.", {"participants": ["pc_zara_001"], "names": {"pc_zara_001": "Zara"}}),
        ("A lady greets you.", {"participants": ["pc_zara_001", LADY], "names": {LADY: SEEN_AS}, **more}),
        ("I am Philippa.", {"participants": ["pc_zara_001", LADY], "names": {LADY: "Philippa"}}),
    ]
    return [
        GameEvent(
            event_id=f"e{number}",
            event_type=EventType.DM_NARRATION,
            source=DM,
            content=content,
            session_id="s01",
            metadata=metadata,
        )
        for number, (content, metadata) in enumerate(given, 1)
    ]


def test_a_uid_that_somebody_made_from_a_secret_name_is_opaque_to_who_met_a_description() -> None:
    """Whoever recorded it, a uid tells no viewer a name it did not hear; and the viewer's uid finds them."""
    campaign = memory_campaign(met()[:3])
    answers: dict[str, Any] = {**ANSWERS, "context": lambda campaign, who: campaign.context(who, 600).text}
    for name, answer in answers.items():
        assert "philippa" not in as_text(answer(campaign, "Zara")).casefold(), name
    assert "philippa" not in "\n".join(campaign.export(viewer="Zara")).casefold()
    assert f"{SEEN_AS}={opaque_uid(LADY).split('_')[1]}" in campaign.context("Zara", 600).text
    shown = campaign.entity(SEEN_AS, viewer="Zara")
    assert shown.uid == opaque_uid(LADY)
    assert campaign.entity(shown.uid, viewer="Zara") == shown == campaign.entity(LADY, viewer="Zara")
    assert campaign.entity("Philippa Crane", viewer=DM).uid == LADY


def test_a_uid_is_spelled_alike_before_and_after_the_name_is_heard() -> None:
    """A name that is heard later does not change the uid under which somebody is known."""
    before, after = memory_campaign(met()[:3]), memory_campaign(met())
    assert after.entity("Philippa", viewer="Zara").uid == before.entity(SEEN_AS, viewer="Zara").uid
    assert opaque_uid(LADY).split("_")[1] in after.context("Zara", 600).text
    for name, answer in ANSWERS.items():
        assert LADY not in as_text(answer(after, "Zara")), name
        assert_perspective(after, answer)


def test_two_of_whom_one_name_is_told_are_told_apart_by_opaque_uids() -> None:
    """An error that lists uids lists them as the viewer may see them."""
    twins = {LADY: "Crane", "npc_wren_001": "Crane"}
    campaign = memory_campaign(met(names=twins)[:3])
    with pytest.raises(AmbiguousName) as refused:
        campaign.entity("Crane", viewer="Zara")
    assert not words(str(refused.value)) & {"philippa", "wren"}
    for uid in refused.value.candidates:
        assert campaign.entity(uid, viewer="Zara").uid == uid
