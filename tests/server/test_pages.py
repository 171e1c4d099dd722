"""The pages beside the story: each shows what its seat may know, and refuses what makes no sense."""

import io
import json
import re
import zipfile
from hashlib import sha256
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.server.table_site import GAME, Site, form_of, page

import dndbots.server
from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM

STATIC = Path(dndbots.server.__file__).parent / "static"


def secret(site: Site, seat: str, text: str = "The mayor is a doppelganger.") -> str:
    """Record something that one seat alone perceives, and return its event id."""
    site.served.reader.record(
        GameEvent(
            event_id="the_secret",
            event_type=EventType.DM_NARRATION,
            source=DM,
            content=text,
            session_id="s01",
            turn=2,
            metadata={
                "witnesses": [seat],
                "names": {"npc_mayor_hob_001": "Mayor Hob"},
                "facts": [{"subject": "npc_mayor_hob_001", "key": "nature", "value": "doppelganger"}],
            },
        )
    )
    return "the_secret"


def test_the_xray_has_every_line_with_its_cost_and_reason(site: Site) -> None:
    """The page shows the prompt that the game itself would send, word for word and in its budget."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        text = client.get(page(seat, "xray")).text
    host = site.served.host
    assert host is not None
    prompt = host.game.system_message(seat)
    parts = [unescape(part) for part in re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)]
    assert len(parts) == 2
    assert all(part in prompt for part in parts)
    shown = [
        unescape(line) for line in re.findall(r'class="xray-line">\s*<code>(.*?)</code>', text, re.DOTALL)
    ]
    assert len(shown) == len(host.game.prompts[seat].items)
    assert f"{host.game.prompts[seat].prompt_tokens} of {host.game.note.budget} tokens" in text


def test_the_xray_looks_back_and_compares_two_turns(site: Site) -> None:
    """An earlier turn has no line of a later one; the comparison marks what is new."""
    seat = site.seats()[0]
    secret(site, seat)
    with site.player(seat) as client:
        now = client.get(page(seat, "xray")).text
        then = client.get(page(seat, "xray?turn=1")).text
        both = client.get(page(seat, "xray?turn=2&with=1")).text
        assert client.get(page(seat, "xray?turn=x")).status_code == 400
    assert "doppelganger" in now
    assert "doppelganger" not in then
    assert re.search(r'class="xray-line new">\s*<code>[^<]*(doppelganger|Hob)', both)


def test_a_person_has_been_what_they_are_no_longer(site: Site) -> None:
    """What was said twice is not over; what is over is told once, and as over."""
    seat = site.seats()[0]
    for number, mood in enumerate(("calm", "calm", "angry", "angry", "calm", "afraid")):
        site.served.reader.record(
            GameEvent(
                event_id=f"mood_{number}",
                event_type=EventType.DM_NARRATION,
                source=DM,
                content=f"Mayor Hob seems {mood}.",
                session_id="s01",
                metadata={
                    "witnesses": [seat],
                    "names": {"npc_mayor_hob_001": "Mayor Hob"},
                    "facts": [{"subject": "npc_mayor_hob_001", "key": "mood", "value": mood}],
                },
            )
        )
    with site.player(seat) as client:
        text = client.get(page(seat, "people/npc_mayor_hob_001")).text
    assert [text.count(f"Mayor Hob is {mood}. (no longer so)") for mood in ("calm", "angry")] == [1, 1]
    assert "Mayor Hob is afraid. (no longer so)" not in text
    assert "Mayor Hob is afraid." in text


def test_a_decision_on_a_memory_is_made_and_taken_back(site: Site) -> None:
    """A player pins a line for its own seat; another seat's memory stays as it is."""
    seat, other, *_ = site.seats()
    event_id = site.served.story(seat).lines[-1].event_id
    with site.player(seat) as client:
        form = {**form_of(client, page(seat, "memory")), "target": event_id, "what": "pin"}
        assert client.post(page(seat, "decide"), data=form).status_code == 303
        assert event_id in site.served.reader.gates(seat).pinned
        assert event_id not in site.served.reader.gates(other).pinned
        client.post(
            page(seat, "decide"), data={**form, "what": "correct", "text": "It was <i>otherwise</i>."}
        )
        assert "It was &lt;i&gt;otherwise&lt;/i&gt;." in client.get(page(seat, "memory")).text
        for what in ("pin", "correct"):
            client.post(page(seat, "decide"), data={**form, "what": what, "on": "no"})
        gates = site.served.reader.gates(seat)
        assert not gates.pinned
        assert not gates.corrected
        assert client.post(page(seat, "decide"), data={**form, "what": "burn"}).status_code == 400


def test_nobody_decides_on_what_they_did_not_perceive(site: Site) -> None:
    """An id that another seat perceived is as unknown as one that does not exist."""
    seat, other, *_ = site.seats()
    event_id = secret(site, other)
    with site.player(seat) as client:
        form = {**form_of(client, page(seat, "memory")), "what": "forget"}
        answers = [
            client.post(page(seat, "decide"), data={**form, "target": one}) for one in (event_id, "nothing")
        ]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].text == answers[1].text


def test_pages_about_somebody_are_for_those_who_know_them(site: Site) -> None:
    """A person whom a seat never met has no page there, and the list does not name them."""
    seat, other, *_ = site.seats()
    secret(site, other)
    with site.client(site.token(seat), site.token(other)) as client:
        assert "Mayor Hob" in client.get(page(other, "people")).text
        assert "doppelganger" in client.get(page(other, "people/npc_mayor_hob_001")).text
        assert "Mayor Hob" not in client.get(page(seat, "people")).text
        unknown = client.get(page(seat, "people/npc_mayor_hob_001"))
        assert unknown.status_code == 404
        assert "Hob" not in unknown.text


def test_the_graph_has_what_the_seat_knows(site: Site) -> None:
    """Nodes have names, edges connect nodes that are shown."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        data = client.get(page(seat, "graph.json")).json()
        assert client.get(page(seat, "graph")).status_code == 200
        assert client.get(page(seat, "graph.json?about=npc_nobody_001")).status_code == 404
    nodes = {node["id"] for node in data["nodes"]}
    assert seat in nodes
    assert data["edges"]
    assert all({edge["source"], edge["target"]} <= nodes for edge in data["edges"])


def test_recall_cites_and_leads_to_the_scene(site: Site) -> None:
    """An answer has sources; each leads to the line in its scene."""
    seat = site.seats()[0]
    secret(site, seat)
    with site.player(seat) as client:
        text = client.get(page(seat, "recall?q=Who is the doppelganger?")).text
        assert "doppelganger" in text
        assert "timeline?at=the_secret#at" in text
        scene = client.get(page(seat, "timeline?at=the_secret")).text
        assert re.search(r'id="at">.*The mayor is a doppelganger', scene, re.DOTALL)
        nothing = client.get(page(seat, "recall?q=Who built the pyramids of Egypt?")).text
        assert "No record answers this" in nothing
        assert client.get(page(seat, f"recall?q={'x' * 600}")).status_code == 400
        assert client.get(page(seat, "timeline?at=nothing")).status_code == 404


def test_two_characters_side_by_side_and_who_knows(site: Site) -> None:
    """The DM sees what one knows and the other does not, and from where."""
    seat, other, *_ = site.seats()
    secret(site, other)
    fact = quote(json.dumps({"subject": "npc_mayor_hob_001", "key": "nature", "value": None}))
    with site.player(DM) as client:
        text = client.get(page(DM, f"compare?a={seat}&b={other}")).text
        assert "Mayor Hob" in text
        assert client.get(page(DM, "compare?a=nobody")).status_code == 404
        answer = client.get(page(DM, f"who-knows?fact={fact}")).text
        assert site.served.seats()[other] in answer
        assert client.get(page(DM, "who-knows?fact=[]")).status_code == 400
        assert client.get(page(DM, "who-knows?fact=%7B")).status_code == 400
    with site.player(seat) as client:
        assert client.get(page(seat, f"who-knows?fact={fact}")).status_code == 403
        assert client.get(page(seat, "compare")).status_code == 403
        assert client.get(page(seat, "table")).status_code == 403


def test_the_dm_forks_and_plays_the_branch(site: Site) -> None:
    """A fork is a page of its own; players of the main branch have no seat there."""
    seat = site.seats()[0]
    event_id = site.served.story(DM).lines[-1].event_id
    with site.player(DM) as client, site.player(seat) as player:
        form = {**form_of(client, page(DM, "timeline")), "at": event_id, "name": "What if?"}
        answer = client.post(page(DM, "fork"), data=form)
        assert answer.headers["location"] == f"/c/{GAME}~what-if/dm/play"
        assert client.get(answer.headers["location"]).status_code == 200
        assert "what-if" in client.get(page(DM, "timeline")).text
        assert player.get(f"/c/{GAME}~what-if/{seat}/play").status_code == 403
        assert client.post(page(DM, "fork"), data={**form, "name": "//"}).status_code == 400
        assert client.post(page(DM, "fork"), data=form).status_code == 409


def test_links_are_shown_to_the_dm_and_renewed(site: Site) -> None:
    """The DM renews a player's link; only the owner renews the DM's."""
    seat = site.seats()[0]
    old = site.token(seat)
    with site.player(DM) as client, site.owner() as owner:
        assert old in client.get(page(DM, "table")).text
        form = form_of(client, page(DM, "table"))
        assert client.post(page(DM, "renew"), data={**form, "seat": seat}).status_code == 303
        assert site.token(seat) != old
        assert client.post(page(DM, "renew"), data={**form, "seat": DM}).status_code == 403
        assert client.post(page(DM, "renew"), data={**form, "seat": "pc_x_001"}).status_code == 404
        form = form_of(owner, page(DM, "table"))
        assert owner.post(page(DM, "renew"), data={**form, "seat": DM}).status_code == 303
        assert client.get(page(DM)).status_code == 403


def test_a_seat_takes_out_its_own_log_alone(site: Site, tmp_path: Path) -> None:
    """The DM's file has everything and comes back; a player's has no event that the seat did not perceive."""
    seat, other, *_ = site.seats()
    secret(site, other)
    with site.player(seat) as client, site.player(DM) as dm:
        own, whole = client.get(page(seat, "log.jsonl")).text, dm.get(page(DM, "log.jsonl")).text
    assert "doppelganger" in whole
    assert "doppelganger" not in own
    with Campaign.open(tmp_path / "again") as again:
        assert again.import_log(whole.splitlines()) == site.served.reader.head


def test_a_campaign_is_taken_out_for_other_programs(site: Site, tmp_path: Path) -> None:
    """Each file is what its program opens: a book, a chat, a vault; a player has no file of the DM's seat."""
    seat, *_ = site.seats()
    with site.player(DM) as dm:
        table = dm.get(page(DM, "table")).text
        assert f'href="{page(DM, "take-out/obsidian")}"' in table
        assert f'{page(DM, "take-out/card")}"' not in table
        assert dm.get(page(DM, "take-out/card")).status_code == 404
        vault = zipfile.ZipFile(io.BytesIO(dm.get(page(DM, "take-out/obsidian")).content))
        assert vault.testzip() is None
        assert any(name.startswith("Places/") for name in vault.namelist())
        assert json.loads(dm.get(page(DM, "take-out/lorebook")).text)["entries"]
        chat = tmp_path / "chat.jsonl"
        chat.write_bytes(dm.get(page(DM, "take-out/chat")).content)
    with Campaign.open(tmp_path / "again") as again:
        (read,) = again.import_files([chat])
        assert read.family == "SillyTavern chat"
        assert again.head > 5
    with site.player(seat) as client:
        assert client.get(page(DM, "take-out/notes")).status_code == 403
        assert client.get(page(seat, "take-out/card")).content.startswith(b"\x89PNG")
        assert client.get(page(seat, "take-out/secrets")).status_code == 404


def test_review_is_the_dms(site: Site) -> None:
    """A player cannot approve facts; an unknown proposal is refused in words."""
    seat = site.seats()[0]
    with site.player(seat) as client, site.player(DM) as dm:
        form = form_of(client, page(seat, "memory"))
        assert (
            client.post(page(seat, "review"), data={**form, "proposal": "x", "do": "accept"}).status_code
            == 403
        )
        form = form_of(dm, page(DM, "play"))
        assert dm.post(page(DM, "review"), data={**form, "proposal": "x", "do": "accept"}).status_code == 409


@pytest.mark.parametrize("name", ["htmx.min.js", "cytoscape.min.js"])
def test_vendored_scripts_are_the_ones_that_were_looked_at(name: str) -> None:
    """The file has the hash that stands in the list beside it, and its licence stands there too."""
    readme = (STATIC / "vendor" / "README.md").read_text("utf-8")
    assert sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() in readme
    assert (STATIC / "vendor" / f"{name.partition('.')[0]}.LICENSE").is_file()


def test_pictures_of_the_docs_are_there_and_small() -> None:
    """Every picture that a page shows exists, and loads fast."""
    root = Path(__file__).parents[2]
    for document in (root / "README.md", root / "docs" / "web.md"):
        for name in re.findall(r"!\[[^]]*\]\(([^)]+\.png)\)", document.read_text("utf-8")):
            picture = document.parent / name
            assert picture.stat().st_size <= 120 * 1024, name
