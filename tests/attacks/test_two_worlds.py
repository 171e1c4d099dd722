"""Two worlds, the same questions: what a viewer did not perceive changes no byte of any answer to it."""

import inspect
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.worlds import (
    COMMON,
    ELENA,
    LISTENERS,
    MILL,
    SECRETS,
    THROK,
    VIEWERS,
    VIPER,
    ZARA,
    Secret,
    build,
)
from tests.game.models.tables import begun, calling
from tests.storage.writers import IS_LONG
from tests.table import event
from typer.testing import CliRunner

from dndbots.campaign import Campaign
from dndbots.cli.app import app, load_program
from dndbots.errors import DndbotsError
from dndbots.events import EventType
from dndbots.game.acts import Act
from dndbots.game.agents import SeatTurn
from dndbots.game.game import Game
from dndbots.game.models.model_player import ModelPlayer
from dndbots.llm.protocol import Answer, Question, Usage
from dndbots.testing import FaultyVoice, as_text, memory_campaign

View = Callable[[Campaign, str], Any]
Speaks = Callable[[str], Callable[[Question], Answer]]
SOMEBODY = (ZARA, THROK, ELENA, VIPER, "Elena", "Viper", "Zara", "Mira", MILL, "The Bell", "Nobody")


def _each(ask: Callable[[Campaign, str, str], Any]) -> View:
    """A question about somebody, asked about everybody. A refusal is an answer."""

    def answer(campaign: Campaign, viewer: str) -> list[str]:
        return [_answer(lambda: ask(campaign, viewer, who)) for who in SOMEBODY]  # noqa: B023

    return answer


def _answer(ask: Callable[[], Any]) -> str:
    try:
        return as_text(ask())
    except DndbotsError as exc:
        return f"{type(exc).__name__}: {exc} {as_text(sorted(vars(exc).items(), key=str))}"


ASKED: dict[str, View] = {
    "acts": lambda campaign, viewer: campaign.acts(viewer=viewer),
    "calibration": lambda campaign, viewer: vars(campaign.calibration("gpt-4o", viewer=viewer)),
    "callbacks": lambda campaign, viewer: campaign.callbacks(viewer),
    "carried": lambda campaign, viewer: campaign.carried(viewer),
    "context": lambda campaign, viewer: [
        campaign.context(viewer, 400),
        campaign.context(viewer, 2_000, query="Who is Elena, and where is Viper?", beside="You are Zara."),
    ],
    "encounters": lambda campaign, viewer: campaign.encounters(viewer=viewer),
    "entities": lambda campaign, viewer: campaign.entities(viewer=viewer),
    "entity": _each(lambda campaign, viewer, who: campaign.entity(who, viewer=viewer)),
    "events": lambda campaign, viewer: campaign.events(viewer=viewer),
    "export": lambda campaign, viewer: campaign.export(viewer=viewer),
    "game_state": lambda campaign, viewer: campaign.game_state()["agent_memories"].get(
        campaign.entity(viewer, viewer=viewer).name.casefold()
    ),
    "gates": lambda campaign, viewer: campaign.gates(viewer)._asdict(),
    "graph": _each(
        lambda campaign, viewer, who: [
            campaign.graph(viewer=viewer).near(who),
            campaign.graph(viewer=viewer).about(who),
            campaign.graph(viewer=viewer).path(who, "Elena"),
        ]
    ),
    "history": _each(lambda campaign, viewer, who: campaign.history(who, viewer=viewer)),
    "memories": lambda campaign, viewer: campaign.memories(viewer),
    "memory": lambda campaign, viewer: campaign.memory(viewer),
    "recall": lambda campaign, viewer: [
        campaign.recall(viewer, "Who is Viper?"),
        campaign.recall(viewer, "What does Elena want, and how is her mood?"),
    ],
    "recap": lambda campaign, viewer: [campaign.recap(viewer), campaign.recap(viewer, "s01")],
    "summaries": lambda campaign, viewer: campaign.summaries(viewer),
    "threads": lambda campaign, viewer: campaign.threads(viewer, resolved=True),
    "timeline": lambda campaign, viewer: campaign.timeline(viewer=viewer, last=50),
    "usage": lambda campaign, viewer: campaign.usage(viewer=viewer),
    # It writes what it answers, so it is asked last.
    "compress": lambda campaign, viewer: campaign.compress(viewer),
}
# What answers to the DM or to nobody, and is no view.
OF_THE_DM = frozenset(
    ("accept", "another", "another_branch", "branch", "branches", "chat", "close", "compact",
     "compacting", "compaction", "data", "drop_cache", "diff", "export_data", "extractor", "fork", "head",
     "import_files", "import_log", "import_transcript", "importer", "introduce",
     "last_location_message_index",
     "last_npc_message_index", "last_world_message_index", "listen",
     "location_memories", "memory_service", "narrate", "note", "npc_memories", "open", "persona",
     "projection",
     "proposals", "rebuild", "record", "record_many", "reject", "rejections", "remember", "remembered",
     "replay", "save_data", "say", "start_session", "summarizer", "tending", "undo", "verify", "who_knows",
     "world_memories")
)  # fmt: skip
# They decide for a viewer or for all, which the worlds do; or give the view that all the others read.
DECIDE = frozenset(("correct", "correct_fact", "forget", "lock", "pin", "view"))

secrets = st.lists(
    st.builds(Secret, st.sampled_from(sorted(SECRETS)), st.integers(1, COMMON)),
    min_size=1,
    max_size=6,
    unique_by=lambda secret: secret.name,
)
listeners = st.sets(st.sampled_from(LISTENERS))


def answers(campaign: Campaign, viewer: str) -> dict[str, str]:
    return {name: _answer(lambda: view(campaign, viewer)) for name, view in ASKED.items()}  # noqa: B023


@cache
def plain_answers(viewer: str) -> dict[str, str]:
    """The answers in the world without secrets."""
    return answers(build(memory_campaign()), viewer)


def test_every_method_of_a_campaign_is_asked() -> None:
    """A new one that takes a viewer is asked in both worlds; a new one that takes none is named here."""
    public = {name for name, _ in inspect.getmembers(Campaign) if not name.startswith("_")}
    assert public == {*ASKED, *OF_THE_DM, *DECIDE}


@settings(max_examples=max(3, settings().max_examples // 20))
@given(secrets=secrets, listeners=listeners, viewer=st.sampled_from(VIEWERS))
def test_what_was_not_perceived_changes_no_answer(
    secrets: list[Secret], listeners: set[str], viewer: str
) -> None:
    """Whispers, deaths, listeners, namesakes, notes and decisions of others: all answers are the same."""
    other = build(memory_campaign(), secrets, listeners)
    assert answers(other, viewer) == plain_answers(viewer)


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_no_secret_shows_alone(name: str) -> None:
    """Each by itself, at the first moment at which it may be: what it would show is shown by nothing else."""
    for viewer in VIEWERS:
        other = build(memory_campaign(), [Secret(name, 1)], LISTENERS)
        assert answers(other, viewer) == plain_answers(viewer)


# Commands.

OF_THE_PROGRAM = frozenset(
    # What answers to no viewer: it is the DM's, or somebody's who keeps campaigns, rules and models.
    ("branches", "character list", "character new", "compact", "compaction", "diff", "export data", "fork",
     "graph follow", "graph query", "graph rebuild", "graph sync", "graph verify", "import", "import-log",
     "jobs", "list", "mcp", "models", "modules", "new", "play", "rebuild", "review accept", "review edit",
     "review list", "review reject", "roll", "serve", "trust", "undo", "usage", "verify", "who-knows",
     "worker")
)  # fmt: skip
COMMANDS: dict[str, list[list[str]]] = {
    "context": [
        ["--as", "Zara"],
        ["--as", "Zara", "--budget", "400", "--xray"],
        ["Zara", "--query", "Viper", "--json"],
    ],
    "entity": [
        ["--as", "Zara"],
        ["--as", "Zara", "Elena", "--history"],
        ["--as", "Zara", "Viper"],
        # Suggestions come from what Zara knows.
        ["--as", "Zara", "Vipper"],
        ["--as", "Zara", "Elenna"],
    ],
    "export card": [["--as", "Zara", "--out", "zara.png"]],
    "export chat": [["--as", "Zara", "--out", "chat.jsonl"]],
    "export log": [["--as", "Zara"]],
    "export lorebook": [["--as", "Zara", "--out", "world.json"]],
    "export notes": [["--as", "Zara", "--out", "notes.md"]],
    "export vault": [["--as", "Zara", "--out", "vault"]],
    "graph about": [["Elena", "--as", "Zara"], ["Viper", "--as", "Zara"]],
    "graph common": [["Throk", "Mira", "--as", "Zara"]],
    "graph links": [["Elena", "Zara", "--as", "Zara"]],
    "graph near": [["Elena", "--as", "Zara"], ["Viperr", "--as", "Zara"]],
    "graph path": [["Mira", "Elena", "--as", "Zara"]],
    "log": [["--as", "Zara"], ["--as", "Zara", "--json"], ["--as", "Elena"]],
    "memories": [["--as", "Zara"], ["--as", "Zara", "--summary"]],
    "prompt": [["Zara"], ["Zara", "--json"]],
    "recall": [["Who is Viper?", "--as", "Zara"], ["Zara", "Who weeps?", "--json"]],
    "recap": [["--as", "Zara"], ["--as", "Zara", "--session", "s01", "--length", "long"]],
    "threads": [["--as", "Zara", "--all"]],
    "timeline": [
        ["--as", "Zara"],
        ["--as", "Zara", "--about", "Elena"],
        ["--as", "Zara", "--about", "Vipers"],
    ],
    "understand": [["ask Elena about Viper", "--as", "Zara"], ["hide", "--as", "Zara", "--json"]],
    # They write, and what they wrote is asked for afterwards.
    "pin": [
        ["c7"],
        ["c4", "--as", "Zara"],
        ["c7", "--undo"],
        ["s_crypt", "--as", "Zara"],
        ["Viper", "--as", "Zara"],
    ],
    "lock": [["c5", "--as", "Zara"]],
    "forget": [["c5", "--as", "Zara"], ["c10"]],
    "correct": [["c9", "The wheel stands.", "--as", "Zara"], ["npc_elena_001", "mood=bold"]],
    "remember": [[]],
    "session start": [["s03", "--title", "The end"]],
}
AFTERWARDS = ("log", "context", "timeline", "recap", "memories", "export log")


def _programs(group: Any, *before: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _programs(command, *before, name)
        else:
            yield " ".join((*before, name))


def test_every_command_is_asked() -> None:
    """A new command is asked in both worlds, or named as one that answers to no viewer."""
    assert set(_programs(load_program())) == {*COMMANDS, *OF_THE_PROGRAM}


def _outputs(folder: Path) -> list[tuple[str, int, str]]:
    """Return the output of every command, in order."""
    runner, found = CliRunner(), []
    for name in (*COMMANDS, *AFTERWARDS):
        for words in COMMANDS[name]:
            said = [*name.split(), *words, "--campaign", "campaign"]
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                patch.setenv("COLUMNS", "80")
                result = runner.invoke(app, said, prog_name="dndbots")
            assert result.exception is None or isinstance(result.exception, SystemExit), said
            # These two answer to the DM. What they wrote is asked for afterwards.
            output = "" if name == "remember" or ELENA in words else result.output
            found.append((" ".join(said), result.exit_code, output))
    return found


@pytest.mark.parametrize("after", [1, COMMON // 2, COMMON] if IS_LONG else [1])
def test_what_was_not_perceived_changes_no_output(after: int, tmp_path: Path) -> None:
    """Every command that takes a viewer says the same, and writes the same."""
    secrets = [Secret(name, after) for name in sorted(SECRETS)]
    for name, kept, heard in (("plain", [], []), ("other", secrets, LISTENERS)):
        (tmp_path / name).mkdir()
        with Campaign.open(tmp_path / name / "campaign") as campaign:
            build(campaign, kept, heard)
    assert _outputs(tmp_path / "other") == _outputs(tmp_path / "plain")


# Whole prompts.

ROUNDS = 4


class Kept:
    """Players by a voice of each seat's own, so that what one is asked moves nobody else's chance."""

    attempts = ModelPlayer.attempts

    def __init__(self, voice: Speaks) -> None:
        self._voice, self._players = voice, dict[str, ModelPlayer]()
        self.asked: dict[str, list[Question]] = {}

    def _of(self, who: str) -> ModelPlayer:
        if who not in self._players:
            answer, asked = self._voice(who), self.asked.setdefault(who, [])

            class _Voice:
                def ask(self, question: Question, **_more: Any) -> Answer:
                    asked.append(question)
                    return answer(question)

            self._players[who] = ModelPlayer(_Voice())
        return self._players[who]

    def act(self, turn: SeatTurn) -> Act:
        return self._of(turn.who).act(turn)

    def fallback_act(self, turn: SeatTurn) -> Act:
        return self._of(turn.who).fallback_act(turn)


def _polite(who: str) -> Callable[[Question], Answer]:
    """Says and does what it has in mind, whatever it is told. Its provider counts more than we do."""
    rng = random.Random(who)

    def answer(question: Question) -> Answer:
        verb = rng.choice(("say", "look", "search", "stay"))
        said = calling(question, "act", verb=verb, words=f"I {verb}, and wait.")
        return said.__class__(words=said.words, calls=said.calls, model="double",
                              usage=Usage(input=1_300, counted=1_000))  # fmt: skip

    return answer


def _hostile(who: str) -> Callable[[Question], Answer]:
    """Does in most of its answers what models do wrong; it is never down, which would end the game."""
    faults = ("nothing", "garbage", "another's voice", "refusal", "cut", "writes memory", "wrong form",
              "unknown tool", "hostile form", "many calls")  # fmt: skip
    return FaultyVoice(_polite(who), random.Random(who), share=0.7, faults=faults).ask


def _played(voice: Speaks, secret: "Callable[[Game], None]") -> Kept:
    player = Kept(voice)
    game = begun(player=player, seats=3, players="gpt-4o")
    for _ in range(ROUNDS):
        secret(game)
        game.play(1, compact=False)
    return player


def _nothing(_game: Game) -> None:
    """A world without secrets."""


def _behind_the_back(game: Game) -> None:
    """Add what the first seat misses: a thief, a poison, listeners, namesakes, notes, whispers."""
    first, second, *_ = game.table.living()
    number, place = game.round, game.table.place(first)
    note = {"role": "player", "model": "gpt-4o", "answers": 1, "reports": [[1_000, 1_900]]}
    hidden = {"witnesses": [], "session": game.table.session, "kind": EventType.DM_NARRATION}
    game.campaign.record_many(
        [
            event(f"x{number}_note", "system", "", witnesses=[], kind=EventType.USAGE, usage=note),
            event(f"x{number}_thief", "dm", "A thief.", loot=[{"gold": 1, "from": first}], **hidden),
            event(f"x{number}_ill", "dm", "Poison.", hp_delta={first: -1}, conditions={first: ["marked"]},
                  **hidden),
            event(f"x{number}_ear", "dm", "Viper hides.", location=place, participants=[VIPER],
                  names={VIPER: game.table.name(first)}, **hidden),
            event(f"x{number}_told", "dm", "Trust nobody.", told_to=[second],
                  **{**hidden, "kind": EventType.WHISPER}),
        ]
    )  # fmt: skip


@pytest.mark.parametrize("voice", [_polite, _hostile])
def test_what_was_not_perceived_changes_no_prompt(
    voice: Speaks,
) -> None:
    """System message, memory, question, tools and what came of the last answer: all are the same."""
    plain, other = _played(voice, _nothing), _played(voice, _behind_the_back)
    first = next(iter(plain.asked))
    assert len(plain.asked[first]) >= ROUNDS
    assert [repr(one) for one in other.asked[first]] == [repr(one) for one in plain.asked[first]]


# Each leak by itself.


def test_a_hidden_listener_is_in_no_view() -> None:
    """The audience of an event is hidden from those who perceived it."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "Rain.", location=MILL, witnesses=[ZARA, VIPER], names={ZARA: "Zara"}),
            event("e2", "dm", "Nobody sees Viper.", witnesses=[], names={VIPER: "Viper"}),
            event("e3", ZARA, "Who is there?", witnesses=[VIPER]),
        ]
    )
    assert VIPER not in as_text([campaign.events(viewer=ZARA), campaign.export(viewer=ZARA)])
    assert VIPER not in as_text(campaign.entities(viewer=ZARA))
    with pytest.raises(LookupError):
        campaign.entity("Viper", viewer=ZARA)
    with pytest.raises(LookupError):
        campaign.entity(VIPER, viewer=ZARA)
    assert [one.known.witnesses for one in campaign.events(viewer=ZARA)] == [[ZARA], []]
    assert [one.known.witnesses for one in campaign.events(viewer="dm")] == [[ZARA, VIPER], [], [VIPER]]
    assert campaign.entity("Viper", viewer="dm").uid == VIPER
    assert campaign.entity(VIPER, viewer=VIPER).uid == VIPER


def test_a_listener_of_a_transcript_is_in_no_view() -> None:
    """Nor is its name, which the importer writes down for the DM."""
    campaign = memory_campaign()
    campaign.import_transcript(
        [
            {"speaker": "Zara", "text": "We are alone.", "witnesses": ["Zara", "Throk", "Viper"]},
            {"speaker": "Throk", "text": "So we are.", "witnesses": ["Zara", "Throk"]},
        ]
    )
    assert "iper" not in as_text([campaign.export(viewer="Zara"), campaign.entities(viewer="Zara")])
    assert [one.name for one in campaign.entities(viewer="Throk")] == ["Throk", "Zara"]
    assert campaign.entity("Viper", viewer="dm").name == "Viper"
    assert [one.name for one in campaign.entities(viewer="Viper")] == ["Viper", "Zara"]


def test_a_sheet_shows_what_its_character_noticed() -> None:
    """An unseen theft or poison is on no sheet, until something of it is perceived."""
    game = begun(seats=2)
    first = game.table.living()[0]
    before = game.system_message(first)
    gold, hp = game.table.fact(first, "gold"), game.table.fact(first, "hp")
    unseen = {"loot": [{"gold": 3, "from": first}], "hp_delta": {first: -1}, "witnesses": []}
    game.campaign.record(event("x1", "dm", "A cut purse.", **unseen))
    game = Game.resume(game.campaign, cast=game.cast)
    assert game.system_message(first) == before
    assert game.table.fact(first, "gold") == gold - 3
    left = {"gold": gold - 3, "hp": hp - 1}
    noticed = [{"subject": first, "key": key, "value": value} for key, value in left.items()]
    game.campaign.record(event("x2", "dm", "Your purse is light.", facts=noticed, witnesses=[first]))
    game = Game.resume(game.campaign, cast=game.cast)
    sheet = game.sheet(first)
    assert sheet is not None
    assert {"gold": sheet.gold, "hp": sheet.hp} == left


def test_ids_of_decisions_do_not_count_the_log() -> None:
    """Each decision has its own id, which is the same whatever else was recorded meanwhile."""

    def decided(*, unseen: bool) -> list[str]:
        campaign = memory_campaign([event("e1", "dm", "Rain.", witnesses=[ZARA, THROK])])
        made = []
        for on in (True, False, True):
            if unseen:
                campaign.record(event(f"x{len(made)}", "dm", "Elsewhere.", witnesses=[]))
                campaign.pin("e1", viewer=THROK)
            made.append(campaign.pin("e1", on=on).event_id)
        return made

    assert decided(unseen=True) == decided(unseen=False)
    assert len({*decided(unseen=True)}) == 3


def test_notes_on_what_others_took_change_no_budget() -> None:
    """A seat's prompt is fitted by what its own model reported."""
    game = begun(seats=2, players="gpt-4o")
    first = game.table.living()[0]
    before = game.budgets.of(first, "")
    note = {"role": "player", "model": "gpt-4o", "answers": 1, "reports": [[1_000, 1_900]]}
    kind = EventType.USAGE
    game.campaign.record(event("u1", "system", "", kind=kind, usage=note, witnesses=[]))
    game.budgets.forget()
    assert game.budgets.of(first, "") == before
    game.campaign.record(event("u2", "system", "", kind=kind, usage=note, witnesses=[first]))
    game.budgets.forget()
    assert game.budgets.of(first, "")[0] < before[0]


def test_a_name_that_only_the_dm_knows_makes_no_character_ambiguous() -> None:
    """Characters are found first; an error about a viewer tells no secret uid."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "Rain.", participants=[ZARA, ELENA], names={ZARA: "Zara"}),
            event("e2", "dm", "Unseen.", witnesses=[], names={ELENA: "Zara", THROK: "Zara"}),
        ]
    )
    with campaign.view("zara") as view:
        assert view.viewer == ZARA
