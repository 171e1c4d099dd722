"""Models at the table: words as they come, told again, edited, and what they cost."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.table_site import GAME, Site, form_of, page

from dndbots.campaign import Campaign
from dndbots.game.agents import Cast
from dndbots.game.bots.house_player import HousePlayer
from dndbots.game.game import Game
from dndbots.game.live_words import LiveState, LiveWords
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.state.game_notes import GameNote
from dndbots.game.world.house_dm import HouseDM
from dndbots.ids import DM
from dndbots.server.tables.game_host import GameHost, Phase
from dndbots.server.tables.served_campaigns import HouseSeating, ServedCampaigns
from dndbots.testing import ScriptedVoice

GULL, HERON = "A gull laughs at the mill.", "A heron stands in the weir."


class ScriptedSeating(HouseSeating):
    """A seating whose DM is a model with a script."""

    dm = "scripted:dm"

    def cast(self, note: GameNote) -> Cast:  # noqa: ARG002 - the same for every game
        return Cast(dm=ModelDM(ScriptedVoice(*[GULL, HERON] * 20)), player=HousePlayer())


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Site]:
    """A site with a game that a model tells."""
    seating = ScriptedSeating()
    with Campaign.open(tmp_path / GAME) as campaign:
        Game.begin(
            campaign,
            module="the_unpaid_bridge",
            seed=1,
            dm="scripted:dm",
            cast=Cast(dm=HouseDM(), player=HousePlayer()),
        )
    site = Site(tmp_path)
    site.campaigns = ServedCampaigns(site.campaigns.shelf, site.book, casting=seating, compact=False)
    site.app.state.campaigns = site.campaigns
    yield site
    site.close()


def test_a_turn_is_told_again_edited_and_swiped(told: Site) -> None:
    """The page has the telling that counts, and no other."""
    with told.player(DM) as client:
        form = form_of(client, page(DM))
        client.post(page(DM, "go-on"), data={**form, "rounds": "1"})
        told.wait_for(phase=Phase.IDLE)
        assert GULL in client.get(page(DM)).text
        client.post(page(DM, "retell"), data={**form, "how": "retry", "text": "shorter"})
        told.wait_for(phase=Phase.IDLE)
        text = client.get(page(DM)).text
        assert HERON in text
        assert GULL not in text
        client.post(page(DM, "retell"), data={**form, "how": "next"})
        told.wait_for(phase=Phase.IDLE)
        assert GULL in client.get(page(DM)).text
        client.post(page(DM, "retell"), data={**form, "how": "edit", "text": "A <swan> sleeps."})
        told.wait_for(phase=Phase.IDLE)
        assert "A &lt;swan&gt; sleeps." in client.get(page(DM)).text
        assert client.post(page(DM, "retell"), data={**form, "how": "sing"}).status_code == 400
        assert "scripted" in client.get(page(DM, "table")).text
    seat = told.seats()[0]
    with told.player(seat) as client:
        form = form_of(client, page(seat))
        assert client.post(page(seat, "retell"), data={**form, "how": "retry"}).status_code == 403
        assert client.post(page(seat, "stop"), data=form).status_code == 403


def test_words_come_live_to_those_who_will_perceive_them(told: Site) -> None:
    """A seat that is elsewhere hears nothing of an answer that is coming."""
    here, elsewhere, *_ = told.seats()
    host = told.served.host
    assert isinstance(host, GameHost)
    words = LiveWords(
        state=LiveState.COMES, speaker=DM, place=None, viewers=frozenset((DM, here)), text="The door opens. "
    )
    host._hear(words)
    host._hear(words)
    assert host.live_words(here) == (DM, "The door opens. The door opens. ")
    assert host.live_words(elsewhere) == ("", "")
    host._hear(LiveWords(state=LiveState.OVER, speaker=DM, place=None, viewers=frozenset((DM, here))))
    assert host.live_words(here) == ("", "")


def test_nothing_to_tell_again_is_said_in_words(site: Site) -> None:
    """The house tells once; the DM reads why, and the game is not stuck."""
    with site.player(DM) as client:
        form = form_of(client, page(DM))
        client.post(page(DM, "retell"), data={**form, "how": "retry"})
        site.wait_for(phase=Phase.IDLE)
        assert "no model" in client.get(page(DM)).text
        told = site.served.story(DM).told
        client.post(page(DM, "go-on"), data={**form, "rounds": "1"})
        site.wait_for(phase=Phase.IDLE)
        assert site.served.story(DM).told > told


def test_a_world_of_ones_own_is_told_by_the_model_or_by_a_person(told: Site, tmp_path: Path) -> None:
    """With a model as DM everybody can have a seat; without one, only the DM's is offered."""
    world = "A drowned city, and thieves who dive for its bells."
    with told.owner() as client:
        form = {**form_of(client, "/begin?module=open"), "module": "open", "seed": "3", "scenario": world}
        begun = client.post("/begin", data={**form, "seat": "pc_zara_001"})
        assert begun.status_code == 303, begun.text
        host = told.campaigns.get("open").host
        assert host is not None
        assert (host.game.note.module, host.game.note.scenario, host.people) == (
            "open",
            world,
            {"pc_zara_001"},
        )
    alone = Site(tmp_path / "alone")
    with alone.owner() as client:
        offered = client.get("/begin?module=open").text
        assert 'value="dm"' in offered
        assert "pc_zara_001" not in offered
        form = {**form_of(client, "/begin?module=open"), "module": "open", "seed": "3", "scenario": world}
        assert client.post("/begin", data={**form, "seat": "pc_zara_001"}).status_code == 409
        assert client.post("/begin", data={**form, "seat": DM}).status_code == 303
    alone.close()


def test_a_story_is_played_on_beside_a_model(told: Site, tmp_path: Path) -> None:
    """A person takes a seat of an imported story, and the model is its DM."""
    with Campaign.open(tmp_path / "tale") as campaign:
        campaign.import_transcript(
            [{"speaker": "Bram", "text": "I bar the door."}, {"speaker": "Ada", "text": "Too late."}]
        )
    with told.owner() as client:
        address = "/c/tale/dm/play"
        bram = next(uid for uid, name in told.campaigns.get("tale").seats().items() if name == "Bram")
        assert "Play Bram" in client.get(address).text
        form = form_of(client, address)
        begun = client.post("/c/tale/dm/play-on", data={**form, "seat": bram})
        assert begun.headers["location"] == f"/c/tale/{bram}/play"
        host = told.campaigns.get("tale").host
        assert host is not None
        assert host.people == {bram}
        assert host.game.note.dm == "scripted:dm"
