"""A person behind the DM's screen: what it calls for goes the way of a model's calls, and no other."""

from collections.abc import Iterator

import pytest
from bench.laws import overheard, unheard_names, unshown_uids
from hypothesis import given
from hypothesis import strategies as st
from tests.game.models.tables import LANDING, SQUARE, Walker, begun, play, uid_of

from dndbots.errors import ActRefused, EventRefused
from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.dm.commands import COMMANDS, parse_command
from dndbots.game.dm.person_dm import PersonDM
from dndbots.game.dm.tools import TOOLS
from dndbots.game.game import Game
from dndbots.game.world.house_dm import HouseDM
from dndbots.game.world.narration import Screen


class Desk:
    """A lectern whose lines are known beforehand: an empty one goes on, as at the end."""

    def __init__(self, *lines: str) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.told: list[str] = []
        self.refused: list[str] = []
        self.places: list[str] = []

    def narrate(self, screen: Screen, place: str, *, refused: str, told: str) -> str | None:
        self.places.append(screen.table.name(place))
        self.told += filter(None, [told])
        self.refused += filter(None, [refused])
        return next(self._lines, "") or None


def run_by(*lines: str, rounds: int = 1, **how: object) -> tuple[Game, Desk]:
    desk = Desk(*lines)
    game = begun(dm=PersonDM(HouseDM(), desk), **{"seats": 2, "player": Walker(), **how})  # type: ignore[arg-type]
    game.play(rounds)
    return game, desk


def sound(game: Game) -> bool:
    log = play(game)
    broken = [*overheard(log), *unshown_uids(log), *unheard_names(lambda: log), *game.campaign.verify()]
    return not broken


def test_every_tool_of_a_model_is_there_for_a_person() -> None:
    """All but the question of the record, which /recall asks for every seat."""
    forms = {command.form for command in COMMANDS.values()}
    assert {tool.name for tool in TOOLS if not any(issubclass(form, tool.form) for form in forms)} == {
        "recall"
    }
    for name, command in COMMANDS.items():
        assert command.use.startswith(f"/{name} ")
        assert {*command.fields} <= {*command.form.model_fields}


def test_somebody_new_is_known_by_looks_until_the_name_is_said() -> None:
    game, desk = run_by(
        "/npc Odo Fenn | a man with a crate | smuggler | to sell the crate",
        "/speak Odo Fenn Good evening.",
        "",
        "Odo Fenn waves.",
        rounds=2,
    )
    who = game.table.living()[0]
    uid = uid_of(game, "Odo Fenn")
    assert "wants" not in game.tables[who].facts[uid]
    assert game.table.fact(uid, "wants") == "to sell the crate"
    (spoken,) = [event for event in play(game) if event.content == "Good evening."]
    assert (spoken.source, spoken.event_type) == (uid, EventType.DIALOGUE)
    assert game.tables[who].names[uid] == "Odo Fenn"
    assert desk.refused == []
    assert sound(game)


def test_strangers_can_be_called_by_what_the_screen_shows() -> None:
    """Their looks stand there until the name is said; quotation marks around a name are none of its words."""
    game, desk = run_by(
        "/npc Odo Fenn | a man with one ear",
        "/speak the man with one ear: Good evening.",
        '/speak "Odo Fenn" I am off.',
    )
    said = [event.content for event in play(game) if event.source == uid_of(game, "Odo Fenn")]
    assert said == ["Good evening.", "I am off."]
    assert desk.refused == []
    assert sound(game)


def test_the_scene_moves_to_a_new_place_and_the_person_tells_on_there() -> None:
    game, desk = run_by(
        "/place a hole in the wall | The Owl Room | Owls, and a desk. | the hole", "They hoot."
    )
    room = "loc_the_owl_room_001"
    assert {game.table.place(who) for who in game.table.living()} == {room}
    assert desk.places[-2:] == ["The Owl Room", "The Owl Room"]
    (hoot,) = [event for event in play(game) if event.content == "They hoot."]
    assert hoot.known.location == room
    assert sound(game)


def test_some_go_along_a_way_and_the_others_stay() -> None:
    """The scene they come to is nobody's who stayed behind."""
    game = begun(seats=2)
    name = game.table.name(game.table.living()[0])
    game, desk = run_by(f"/move river stairs | {name}", "Only here it rains.")
    one, other = game.table.living()
    assert (game.table.place(one), game.table.place(other)) == (LANDING, SQUARE)
    (rain,) = [event for event in play(game) if "rains" in event.content]
    assert rain.known.location == SQUARE
    assert one not in (rain.known.witnesses or [])
    assert desk.refused == []
    assert sound(game)


def test_a_quest_is_offered_accepted_and_resolved_over_the_house() -> None:
    """A character who accepts a quest is answered, though the house DM does not know it."""
    game, desk = run_by("/quest The Lost Crate | Find the crate. | Pask", seats=1)
    who = game.table.living()[0]
    (quest,) = [uid for uid in game.tables[who].facts if uid.startswith("qst_the_lost")]
    yes = Walker(**{game.table.name(who).split()[0]: Act(verb=Verb.ACCEPT, what=quest, words="Yes.")})
    game.cast = type(game.cast)(dm=game.cast.dm, player=yes)
    game.play(2)
    desk = Desk("/resolve done The Lost Crate", "/resolve completed the lost crate")
    game.cast = type(game.cast)(dm=PersonDM(HouseDM(), desk), player=Walker())
    game.play(1)
    states = [event.known.quest_state for event in play(game) if event.known.quest_id == quest]
    assert states == ["offered", "accepted", "completed"]
    assert "outcome input should be 'completed' or 'failed'" in desk.refused[0]
    assert sound(game)


def test_a_clock_runs_for_the_dm_alone_and_is_told_when_its_time_is_up() -> None:
    game, desk = run_by("/clock 2 The dam breaks.", rounds=4)
    assert [one for one in desk.told if one.startswith("Time is up")] == ["Time is up: The dam breaks."]
    for who in game.table.living():
        assert not any("dam" in event.content for event in game.campaign.events(viewer=who))


def test_what_is_looked_up_is_told_to_the_dm_and_recorded_nowhere() -> None:
    game, desk = run_by("/lookup Pask", "/lookup the king of nowhere")
    assert "Pask" in desk.told[0]
    assert desk.told[1] == "Nothing is known of the king of nowhere."
    assert not any("king of nowhere" in event.content for event in play(game))


def test_a_roll_and_a_fight_are_the_referees() -> None:
    game = begun(seats=1)
    name = game.table.name(game.table.living()[0])
    game, desk = run_by(f"/check {name} dex the stairs are wet", "/fight 1 goblin | It drops down.", seats=1)
    kinds = [event.event_type for event in play(game)]
    assert EventType.DICE_ROLL in kinds
    assert any("It drops down." in event.content for event in play(game))
    assert desk.refused == []
    assert not any("dexterity" in one for one in desk.told)  # all were told so
    assert game.campaign.verify() == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/npc Odo", "looks is missing; the command is /npc NAME"),
        ("/npc Odo | a man | b | c | d", "is too much; the command is"),
        ("/npc Pask Oldacre | a man", "there is already a 'Pask Oldacre'"),
        ("/npc ## MEMORY_dm | a man", "is not a name"),
        ("/npc npc_odo_001 | a man", "is not a name"),
        ("/move the moon", "there is no way 'the moon' here"),
        ("/move river stairs | Nobody", "nobody in this scene matches"),
        ("/whisper Nobody at all", "nobody in this scene matches"),
        ("/speak Nobody Hello.", "nobody in this scene matches"),
        ("/check Nobody dex", "nobody in this scene matches"),
        ("/fight many goblins", "number must be a whole number; the command is /fight NUMBER"),
        ("/fight 1 gooblin", "the rules have no 'gooblin'"),
        ("/clock 0 It rains.", "rounds input should be greater than"),
        ("/resolve completed Nothing", "none of your quests is open"),
        ("x" * 5_000, "the line has 5000 characters"),
    ],
)
def test_what_cannot_be_is_told_and_leaves_nothing(line: str, why: str) -> None:
    """The person is asked again; the log is the one of a game in which it was never typed."""
    game, desk = run_by(line)
    silent, _ = run_by()
    assert [reason for reason in desk.refused if why in reason], desk.refused
    assert [event.content for event in play(game)] == [event.content for event in play(silent)]


def test_what_the_log_refuses_is_told_and_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The round is played, and nothing of what was refused is in it."""
    game = begun(seats=2, player=Walker())
    desk = Desk("A raven.", "", "A crow.")
    game.cast = type(game.cast)(dm=PersonDM(HouseDM(), desk), player=Walker())
    record = game.campaign.record_many

    def once(events: list[object]) -> object:
        if any("raven" in event.content for event in events):  # type: ignore[attr-defined]
            raise EventRefused("evt", field="content", reason="it has a raven in it")
        return record(events)  # type: ignore[arg-type]

    monkeypatch.setattr(game.campaign, "record_many", once)
    assert game.play(1) == 1
    assert "raven" in desk.refused[0]
    told = [event.content for event in play(game) if event.content in ("A raven.", "A crow.")]
    assert told == ["A crow."]


@given(st.sampled_from([*COMMANDS]), st.text(max_size=120))
def test_whatever_is_typed_is_a_form_or_refused(name: str, rest: str) -> None:
    """No line breaks the table."""
    here = {"pc_throk_001": "Throk", "npc_pask_001": "Pask"}
    try:
        form = parse_command(f"/{name} {rest}", here)
    except ActRefused:
        return
    assert isinstance(form, COMMANDS[name].form)


def test_names_of_several_words_need_no_bar() -> None:
    here = {"pc_pell_001": "Pell Underbough", "pc_throk_001": "Throk"}
    for line in (
        "/whisper Pell Underbough You feel watched.",
        "/whisper Pell: You feel watched.",
        "/whisper Pell Underbough | You feel watched.",
    ):
        form = parse_command(line, here)
        assert form is not None
        assert form.model_dump()["words"] == "You feel watched.", line
        assert form.model_dump()["to"] in ("Pell Underbough", "Pell")
    assert parse_command("Tell them /whisper is a word.", here) is None
    assert parse_command("/unknown thing", here) is None
