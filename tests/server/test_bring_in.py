"""Files that are brought in: a preview first, then an import by the DM alone."""

import json
import tempfile

import pytest
from starlette.testclient import TestClient
from tests.server.table_site import Site, form_of, page

from dndbots.campaign import Campaign
from dndbots.errors import UnreadableFile
from dndbots.ids import DM

CHAT = "\n".join(
    map(
        json.dumps,
        (
            {"user_name": "Ann", "character_name": "Seraphina", "chat_metadata": {}},
            {
                "name": "Seraphina",
                "is_user": False,
                "mes": "You wake <b>up</b> in the glade.",
                "send_date": 1,
            },
            {"name": "Ann", "is_user": True, "mes": "Where am I?", "send_date": 2},
        ),
    )
).encode()


def look_at(site: Site, name: str, content: bytes, **fields: str) -> str:
    with site.owner() as client:
        form = form_of(client, page(DM, "bring-in")) | fields
        answer = client.post(page(DM, "bring-in"), data=form, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return answer.text


def taken_in(client: TestClient, name: str, content: bytes) -> str:
    """Bring a file in on the owner's page; return the address of the new campaign's play page."""
    form = form_of(client, "/bring-in")
    text = client.post("/bring-in", data=form, files={"file": (name, content)}).text
    key = text.partition('name="key" value="')[2].partition('"')[0]
    taken = client.post("/take-in", data={**form, "key": key, "into": "new"})
    assert taken.status_code == 303, taken.text
    return str(taken.headers["location"])


def test_the_owner_brings_a_story_in_and_plays_it_on_as_its_dm(site: Site) -> None:
    """No campaign is needed first. Its people sit down, and what was told is their memory."""
    with site.owner() as client:
        address = taken_in(client, "Seraphina.jsonl", CHAT)
        name = address.split("/")[2]
        assert "Play on from here" in client.get(address).text
        form = form_of(client, address)
        ann = next(uid for uid, called in site.campaigns.get(name).seats().items() if called == "Ann")
        # Without a model nobody but a person can be the DM of a story of its own.
        refused = client.post(f"/c/{name}/dm/play-on", data={**form, "seat": ann})
        assert refused.status_code == 409
        assert site.campaigns.get(name).host is None
        for seat in ("pc_nobody_001", "npc_seraphina_001"):
            assert client.post(f"/c/{name}/dm/play-on", data={**form, "seat": seat}).status_code == 404
        begun = client.post(f"/c/{name}/dm/play-on", data={**form, "seat": DM})
        assert begun.headers["location"] == f"/c/{name}/dm/play"
        served = site.campaigns.get(name)
        assert served.host is not None
        assert served.host.people == {DM}
        assert "Where am I?" in client.get(f"/c/{name}/{ann}/play").text
        head = served.reader.head
        # A second click changes nothing.
        client.post(f"/c/{name}/dm/play-on", data={**form, "seat": DM})
        assert served.reader.head == head


def test_a_file_that_fails_leaves_no_campaign(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new campaign is removed if its file cannot be brought in; a folder of somebody's own stays."""

    def fail(*_: object, **__: object) -> None:
        raise UnreadableFile("chat.jsonl", reason="broken")

    monkeypatch.setattr(Campaign, "import_files", fail)
    (site.folder / "kept").mkdir()
    (site.folder / "kept" / "notes.txt").write_text("mine")
    with site.owner() as client:
        form = form_of(client, "/bring-in")
        for name in ("chat.jsonl", "kept.jsonl"):
            text = client.post("/bring-in", data=form, files={"file": (name, CHAT)}).text
            key = text.partition('name="key" value="')[2].partition('"')[0]
            answer = client.post("/take-in", data={**form, "key": key})
            assert answer.status_code == 409
            assert "broken" in answer.text
    assert not (site.folder / "chat").exists()
    assert (site.folder / "kept" / "notes.txt").read_text() == "mine"


def test_a_chat_is_looked_at_and_becomes_a_campaign(site: Site) -> None:
    """The preview names speakers and counts; nothing is written until it is taken in."""
    with site.owner() as client:
        form = form_of(client, page(DM, "bring-in"))
        text = client.post(page(DM, "bring-in"), data=form, files={"file": ("Seraphina.jsonl", CHAT)}).text
        assert "Seraphina" in text
        assert "2 messages" in text
        assert [*site.campaigns.shelf.names()] == ["orchard"]
        key = text.partition('name="key" value="')[2].partition('"')[0]
        taken = client.post(page(DM, "take-in"), data={**form, "key": key, "into": "new"})
        assert taken.status_code == 303
        story = client.get(taken.headers["location"]).text
        assert "Where am I?" in story
        assert "in the glade" in story
        assert "<b>up" not in story
        again = client.post(page(DM, "take-in"), data={**form, "key": key, "into": "new"})
        assert again.status_code == 409


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", b"{"),
        ("x.png", b"\x89PNG\r\n\x1a\n broken"),
        ("../../etc/passwd", b"root:x"),
        ("\x00\n.jsonl", b"\x00" * 100),
        ("x.zip", b"PK\x03\x04 not one"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_in_words(site: Site, name: str, content: bytes) -> None:
    """The page says why, shows no path of this machine, and offers nothing to take in."""
    text = look_at(site, name, content)
    assert tempfile.gettempdir() not in text
    assert "take-in" not in text or "not understood" in text or "1 message" in text


def test_only_the_dm_brings_in_and_only_the_owner_begins(site: Site) -> None:
    """A player's form is refused; a DM brings into this campaign alone, and another's file is not theirs."""
    seat = site.seats()[0]
    with site.player(seat) as player, site.player(DM) as dm, site.owner() as owner:
        form = form_of(player, page(seat))
        for address in ("/bring-in", "/take-in"):
            assert player.post(address, data=form, files={"file": ("x", CHAT)}).status_code == 403
            assert (
                dm.post(address, data=form_of(dm, page(DM)), files={"file": ("x", CHAT)}).status_code == 403
            )
        assert player.get("/bring-in").status_code == 403
        assert player.post(page(seat, "play-on"), data={**form, "seat": seat}).status_code == 403
        assert player.get(page(seat, "bring-in")).status_code == 403
        assert player.post(page(seat, "bring-in"), data=form, files={"file": ("x", CHAT)}).status_code == 403
        assert player.post(page(seat, "take-in"), data={**form, "key": "x"}).status_code == 403
        form = form_of(dm, page(DM, "bring-in"))
        text = dm.post(page(DM, "bring-in"), data=form, files={"file": ("chat.jsonl", CHAT)}).text
        key = text.partition('name="key" value="')[2].partition('"')[0]
        assert dm.post(page(DM, "take-in"), data={**form, "key": key, "into": "new"}).status_code == 403
        theirs = {**form_of(owner, page(DM, "bring-in")), "key": key, "into": "new"}
        assert owner.post(page(DM, "take-in"), data=theirs).status_code == 409
        assert dm.post(page(DM, "bring-in"), data=form).status_code == 400
