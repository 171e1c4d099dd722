"""What a DM does to sheets and to the world: on the sheet, in the log, and refused where the rules say no."""

from typing import Any

import pytest
from bench.laws import overheard, unshown_uids
from tests.game.models.tables import PASK, Walker, begun, calls, play

from dndbots.campaign import Campaign
from dndbots.errors import ActRefused
from dndbots.game.dm.commands import COMMANDS, parse_command
from dndbots.game.dm.person_dm import PersonDM
from dndbots.game.dm.tools import PLOT_TOOLS, TOOLS, Give, TakeWay, choose_tools
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.world.house_dm import HouseDM
from dndbots.testing import ScriptedVoice


class Lines:
    """A DM's lines of the first round; what was refused, and what only the DM was told."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.refused: list[str] = []
        self.told: list[str] = []

    def narrate(self, _screen: Any, _place: str, *, refused: str, told: str) -> str | None:
        self.refused += [refused] if refused else []
        self.told += [told] if told else []
        return self._lines.pop(0) if self._lines else None


def told_by(*lines: str, seats: int = 2, **how: Any) -> tuple[Game, Lines]:
    """A game after one round in which a person as DM typed these lines."""
    typed = Lines(*lines)
    game = begun(dm=PersonDM(HouseDM(), typed), seats=seats, player=Walker(), **how)
    game.play(1, compact=False)
    return game, typed


def hero(game: Game, number: int = 0) -> str:
    return game.table.living()[number]


def names(seats: int = 2) -> list[str]:
    game = begun(seats=seats)
    return [game.table.name(uid) for uid in game.table.living()]


ONE, OTHER = names()


def test_things_and_gold_are_on_the_sheet() -> None:
    game, typed = told_by(
        f"/give {ONE} silver bell", f"/reward {ONE} 50", f"/give {ONE} torch | 3", f"/take {ONE} silver bell"
    )
    assert typed.refused == []
    before = begun(seats=2)
    who = hero(game)
    sheet, own = game.table.character(who), game.sheet(who)
    old = before.table.character(who)
    assert own is not None
    assert sheet == own
    assert old is not None
    assert own.gold == old.gold + 50
    assert game.table.items(who).get("silver bell") is None
    assert game.table.items(who)["torch"] == before.table.items(who).get("torch", 0) + 3
    assert game.campaign.verify() == []
    assert list(overheard(play(game))) == list(unshown_uids(play(game))) == []
    resumed = Game.resume(game.campaign, cast=game.cast)
    assert resumed.table.character(who) == sheet


def test_a_purchase_takes_gold_and_gives_the_thing_at_the_price_of_the_rules() -> None:
    game, typed = told_by(f"/reward {ONE} 100", f"/buy {ONE} rope | 7 | Pask", f"/buy {ONE} lantern")
    assert typed.refused == []
    who, before = hero(game), begun(seats=2)
    assert game.table.items(who)["rope"] == before.table.items(who).get("rope", 0) + 1
    assert game.table.items(PASK).get("rope", 0) == -1 or "rope" not in game.table.items(PASK)
    spent = int(before.table.fact(who, "gold", 0)) + 100 - int(game.table.fact(who, "gold"))
    assert spent > 7
    texts = [event.content for event in play(game)]
    assert any(text.startswith(f"{ONE} buys a rope from") and "7 gold" in text for text in texts)


def test_what_nobody_has_is_neither_paid_nor_sold() -> None:
    _, typed = told_by(
        f"/pay 99999 {ONE}",
        f"/sell {ONE} crown of kings",
        f"/take {ONE} moon",
        f"/buy {ONE} moonbeam",
        f"/give {ONE} x | 1000",
        "/give Nobody rope",
    )
    assert len(typed.refused) == 6
    reasons = " ".join(typed.refused)
    assert "gold, not 99999" in reasons
    assert "has no 'crown of kings'" in reasons
    assert "say a price" in reasons
    assert "less than or equal to 100" in reasons
    assert "nobody in this scene" in reasons


def test_wounds_conditions_and_time() -> None:
    game, typed = told_by(
        f"/hurt {ONE} 2 A slate falls.",
        f"/heal {ONE} 1",
        f"/condition {OTHER} blinded | 2",
        "/time 90 You wait for the ferry.",
    )
    assert typed.refused == []
    who, other = game.table.living()
    before = begun(seats=2)
    assert game.table.fact(who, "hp") == before.table.fact(who, "hp") - 1
    assert "blinded" in game.table.conditions(other)
    assert game.table.minutes >= 90
    assert any("A slate falls." in event.content for event in play(game))


def test_a_fallen_hero_is_dying_by_the_rules() -> None:
    game, typed = told_by(f"/hurt {ONE} 30", seats=2)
    assert typed.refused == []
    assert ONE not in [game.table.name(uid) for uid in game.table.living() if game.table.can_act(uid)]


def test_attitudes_secrets_and_cleared_places_are_canon() -> None:
    game, typed = told_by(
        "/attitude Pask friendly He laughs at last.",
        "/reveal Pask counts the bridge's debts at night. | Pask",
        "/cleared The dogs are gone.",
        "/endscene They made a friend at the bridge. | 2",
    )
    assert typed.refused == []
    who = hero(game)
    assert game.tables[who].fact(PASK, "attitude") == "friendly"
    assert "debts" in str(game.tables[who].fact(PASK, "secret"))
    assert any(event.known.danger_level == "cleared" for event in play(game))
    assert int(game.table.fact(PASK, "reputation", 0)) > 0


def test_the_plot_sheet_is_the_dms_alone() -> None:
    plot = calls("plot_note", kind="front", name="The Drowned Guild", text="wants the bell")
    voice = ScriptedVoice(plot, "Rain falls.", "More rain falls on the roofs.")
    game = begun(dm=ModelDM(voice), module="open", seats=1, player=Walker(), scenario="A town in the rain.")
    game.play(2, compact=False)
    assert "FRONTS: The Drowned Guild: wants the bell" in voice.questions[-1].text
    who = hero(game)
    assert "Drowned" not in str([event.model_dump() for event in game.campaign.events(viewer=who)])
    assert Game.resume(game.campaign, cast=game.cast).table.plot == game.table.plot


def test_an_act_is_heard_and_its_question_is_not() -> None:
    game, typed = told_by("/act The Flood | Will the bridge stand?", module="open", scenario="Rain.")
    assert typed.refused == []
    who = hero(game)
    heard = " ".join(event.content for event in game.campaign.events(viewer=who))
    assert "Act 1: The Flood." in heard
    assert "Will the bridge stand" not in heard


def test_small_models_and_budgets_get_fewer_tools() -> None:
    many = choose_tools(budget=2_000, model="openai:gpt-4o", is_open=False)
    few = choose_tools(budget=900, model="openai:gpt-4o", is_open=False)
    assert many == TOOLS
    names = {tool.name: tool.form for tool in few}
    assert names.keys() < {tool.name for tool in TOOLS}
    assert names["move_scene"] is TakeWay  # it makes up no places beside those of the adventure
    alone = choose_tools(budget=900, model="openai:gpt-4o", is_open=True)
    assert next(tool.form for tool in alone if tool.name == "move_scene") is not TakeWay
    assert choose_tools(budget=4_000, model="openai:qwen2.5-1.5b-instruct", is_open=False) == few
    assert {*PLOT_TOOLS} <= {*choose_tools(budget=2_000, model="openai:gpt-4o", is_open=True)}


def test_every_tool_has_a_command_for_a_person() -> None:
    forms = {command.form for command in COMMANDS.values()}
    for tool in (*TOOLS, *PLOT_TOOLS):
        assert any(issubclass(form, tool.form) for form in forms) or tool.name == "recall"


def test_several_things_are_given_by_their_number() -> None:
    here = {"pc_throk_001": "Throk"}
    assert parse_command("/give Throk 3 candles", here) == Give(item="candles", to="Throk", number=3)
    assert parse_command("/give Throk 3 candles | 2", here) == Give(item="candles", to="Throk", number=2)
    assert parse_command("/give Throk 10-foot pole", here) == Give(item="10-foot pole", to="Throk")


def test_points_that_are_no_dice_show_no_dice() -> None:
    game, _ = told_by(f"/hurt {ONE} 2 a slate falls", f"/heal {ONE} 1d4")
    hurt, healed = [
        event for event in play(game) if "is hurt" in event.content or "feels better" in event.content
    ]
    assert not hurt.metadata["play"].get("rolls")
    assert healed.metadata["play"]["rolls"]


@pytest.mark.parametrize("line", ["/give", "/hurt Throk", "/time soon", "/attitude Pask lovely"])
def test_a_wrong_command_says_how_it_is_written(line: str) -> None:
    with pytest.raises(ActRefused, match="the command is /"):
        parse_command(line, {"pc_throk_001": "Throk", PASK: "Pask"})


def test_a_purchase_is_known_three_sessions_later(tmp_path: Any) -> None:
    with Campaign.open(tmp_path / "c") as campaign:
        game, _ = told_by(f"/reward {ONE} 100", f"/buy {ONE} lantern | 12 | Pask", campaign=campaign)
        who = hero(game)
        for _ in range(3):
            game.end_session()
            game.play(2, compact=False)
        assert "lantern" in game.table.items(who)
        assert "lantern" in campaign.context(who, budget=1_200).text
        assert campaign.recall(who, "Where does the lantern come from?").items
