"""The chat endpoint over HTTP: answers pass through, keys stay apart, failures of the model lose nothing."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient
from tests.server.chat.tavern import Tavern
from tests.waiting import HANG

from dndbots import Campaign
from dndbots.errors import InvalidSetting
from dndbots.ids import DM
from dndbots.server.app import build_app
from dndbots.server.chat.chat_request import MOST_MESSAGES
from dndbots.server.chat.endpoint import MOST_AT_ONCE, ChatEndpoint
from dndbots.server.chat.upstream import Upstream, UpstreamSettings
from dndbots.server.security.seat_book import SeatBook
from dndbots.server.tables.served_campaigns import CampaignShelf, ServedCampaigns

BASE = "http://127.0.0.1"
KEY = "sk-secret-of-the-model"
PATH = "/c/tavern/v1/chat/completions"
Answering = Callable[[httpx2.Request], Any]


def reply_to(request: httpx2.Request) -> httpx2.Response:
    """Answer as a model would, streamed if asked for."""
    body = json.loads(request.content)
    number = sum(message["role"] == "user" for message in body["messages"])
    text = f"Reply to turn {number}."
    if not body.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        return httpx2.Response(200, json={"choices": [choice], "usage": {"total_tokens": 7}})
    parts = [{"choices": [{"index": 0, "delta": {"content": word}}]} for word in text.split(" ")]
    lines = [f"data: {json.dumps(part)}\n\n" for part in parts]
    return httpx2.Response(
        200, headers={"content-type": "text/event-stream"}, content="".join([*lines, "data: [DONE]\n\n"])
    )


class ChatSite:
    """A server with one campaign for chats, in front of a fake model."""

    def __init__(self, folder: Path, answer: Answering = reply_to, *, model: str | None = None) -> None:
        Campaign.open(folder / "tavern").close()
        Campaign.open(folder / "other").close()
        self.asked: list[httpx2.Request] = []

        def respond(request: httpx2.Request) -> httpx2.Response:
            self.asked.append(request)
            return answer(request)

        self.book = SeatBook()
        self.campaigns = ServedCampaigns(CampaignShelf(folder=folder), self.book, compact=False)
        settings = UpstreamSettings("http://model.test/v1/", KEY, model)
        self.endpoint = ChatEndpoint(self.campaigns, Upstream(settings, httpx2.MockTransport(respond)))
        self.app = build_app(self.campaigns, more=[self.endpoint])

    def token(self, seat: str = DM, name: str = "tavern") -> str:
        return self.book.token_of(self.campaigns.get(name).key, seat)

    @contextmanager
    def client(self, token: str | None = None) -> Iterator[TestClient]:
        headers = {"authorization": f"Bearer {token or self.token()}"}
        with TestClient(self.app, base_url=BASE, headers=headers, raise_server_exceptions=False) as client:
            yield client

    def remembered(self) -> list[str]:
        with self.campaigns.get("tavern").reader.another() as campaign:
            return [event.content for event in campaign.events(viewer=DM)]

    def sent(self, number: int = -1) -> dict[str, Any]:
        return json.loads(self.asked[number].content)


def opened(turns: int = 2) -> Tavern:
    tavern = Tavern()
    tavern.hear("Seraphina", "You wake in a glade under silver leaves.")
    for number in range(turns):
        tavern.say(f"This is turn {number} of our talk.")
        tavern.hear("Seraphina", f"And this is answer {number} to you.")
    tavern.say("Where is the silver key?")
    return tavern


def test_an_answer_passes_through_and_the_chat_is_remembered(tmp_path: Path) -> None:
    site, tavern = ChatSite(tmp_path), opened()
    with site.client() as client:
        answer = client.post(PATH, json=tavern.request())
        assert answer.status_code == 200
        assert answer.json()["usage"] == {"total_tokens": 7}
        assert site.remembered() == [mes.text for mes in tavern.chat]
        tavern.hear("Seraphina", answer.json()["choices"][0]["message"]["content"])
        tavern.say("Thank you for the key.")
        assert client.post(PATH, json=tavern.request()).status_code == 200
        assert site.remembered() == [mes.text for mes in tavern.chat]
        tavern.window = 2
        assert client.post(PATH, json=tavern.request()).status_code == 200
    body = site.sent()
    assert "dndbots" not in body
    assert any("Memory of Seraphina" in message["content"] for message in body["messages"])
    assert body["temperature"] == 0.8


def test_a_stream_passes_through_unchanged(tmp_path: Path) -> None:
    site, tavern = ChatSite(tmp_path), opened()
    with site.client() as client:
        answer = client.post(PATH, json={**tavern.request(), "stream": True})
    expected = reply_to(site.asked[-1])
    assert answer.content == expected.content
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_the_keys_stay_apart_and_are_never_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    site, own = ChatSite(tmp_path), "sk-of-the-user"
    with site.client() as client:
        client.post(PATH, json=opened().request())
        client.post(PATH, json=opened().request(), headers={"x-upstream-key": own})
        client.post(PATH, content=b"{broken")
    assert [request.headers["authorization"] for request in site.asked] == [f"Bearer {KEY}", f"Bearer {own}"]
    told = caplog.text + str(capsys.readouterr()) + repr(site.endpoint.upstream.settings)
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in (KEY, own, site.token()):
        assert secret not in told
        assert secret.encode() not in stored
        assert all(secret not in str(xray.sent) for xray in site.endpoint.desk("tavern").xrays)


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("nobody", PATH, 401),
        ("player", PATH, 403),
        ("other", PATH, 403),
        ("dm", "/c/missing/v1/chat/completions", 401),
        ("owner", "/c/missing/v1/chat/completions", 401),
        ("dm", "/c/..%2Fother/v1/chat/completions", 404),
        ("owner", PATH, 200),
    ],
)
def test_only_the_dms_key_of_this_campaign_opens_it(tmp_path: Path, who: str, path: str, status: int) -> None:
    site = ChatSite(tmp_path)
    token = {
        "nobody": "wrong",
        "player": site.token("pc_zara_001"),
        "other": site.token(DM, "other"),
        "dm": site.token(),
        "owner": site.book.owner,
    }[who]
    with site.client(token) as client:
        answer = client.post(path, json=opened().request())
    assert answer.status_code == status
    assert (site.remembered() != []) is (status == 200)
    assert bool(site.asked) is (status == 200)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_model_pass_through_with_their_status(
    tmp_path: Path,
    status: int,
    stream: bool,  # noqa: FBT001
) -> None:
    error = {"error": {"message": "no", "type": "x"}}
    site = ChatSite(tmp_path, lambda _: httpx2.Response(status, json=error, headers={"retry-after": "3"}))
    with site.client() as client:
        answer = client.post(PATH, json={**opened().request(), "stream": stream})
    assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (status, error, "3")
    assert len(site.remembered()) == 6  # what the user said is on the screen, and stays


async def _dies() -> AsyncIterator[bytes]:
    yield b'data: {"choices": [{"index": 0, "delta": {"content": "Half of a se"}}]}\n\n'
    raise httpx2.ReadError("gone")


def _fail(error: Exception) -> Answering:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise error

    return answer


@pytest.mark.parametrize(
    ("answer", "status", "told"),
    [
        (_fail(httpx2.ConnectError("refused")), 502, "cannot be reached"),
        (_fail(httpx2.ReadTimeout("slow")), 504, "does not answer"),
        (lambda _: httpx2.Response(200, content=_dies()), 200, "stopped in the middle"),
        (lambda _: httpx2.Response(200, content=b"\x00\xff nonsense \n\ndata: {]\n\n"), 200, "nonsense"),
        (lambda _: httpx2.Response(200, json=["no", {"choices": 7}]), 200, "choices"),
    ],
)
def test_a_model_that_hangs_dies_or_talks_nonsense_loses_nothing(
    tmp_path: Path, answer: Answering, status: int, told: str
) -> None:
    failing = True
    site = ChatSite(tmp_path, lambda request: answer(request) if failing else reply_to(request))
    tavern = opened()
    with site.client() as client:
        answered = client.post(PATH, json={**tavern.request(), "stream": True})
        assert answered.status_code == status
        assert told in answered.text
        before = site.remembered()
        failing = False
        assert client.post(PATH, json=tavern.request("regenerate")).status_code == 200
        assert site.remembered() == before == [mes.text for mes in tavern.chat]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"messages": []}',
        b'{"messages": "hello"}',
        b'{"messages": [{"role": "wizard", "content": "x"}]}',
        b'{"messages": [7]}',
        json.dumps({"messages": [{"role": "user", "content": "x"}] * (MOST_MESSAGES + 1)}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_body_that_is_no_chat_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    site = ChatSite(tmp_path)
    with site.client() as client:
        answer = client.post(PATH, content=content)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]
    assert not site.asked


def test_a_body_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    site = ChatSite(tmp_path)
    with site.client() as client:
        assert client.post(PATH, content=b"x" * (17 << 20)).status_code == 413


def test_models_are_those_of_the_upstream_or_our_own(tmp_path: Path) -> None:
    listed = {"object": "list", "data": [{"id": "llama"}]}
    site = ChatSite(tmp_path, lambda _: httpx2.Response(200, json=listed))
    with site.client() as client:
        assert client.get("/c/tavern/v1/models").json() == listed
        assert client.get("/c/tavern/v1/models", headers={"authorization": "Bearer no"}).status_code == 401
    bare = ChatSite(tmp_path / "bare", lambda _: httpx2.Response(404), model="qwen")
    with bare.client() as client:
        assert client.get("/c/tavern/v1/models").json()["data"][0]["id"] == "qwen"
        client.post(PATH, json=opened().request())
        assert bare.sent()["model"] == "qwen"


def test_what_is_no_text_passes_through(tmp_path: Path) -> None:
    """Pictures, tools, several choices and unknown fields reach the model as they came."""
    site, tavern = ChatSite(tmp_path), opened()
    body = tavern.request()
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body["messages"][-1]["content"] = [{"type": "text", "text": "Where is the silver key?"}, picture]
    body |= {"n": 2, "tools": [{"type": "function", "function": {"name": "roll"}}], "unheard_of": {"a": 1}}
    with site.client() as client:
        client.post(PATH, json=body)
    sent = site.sent()
    assert sent["messages"][-1] == body["messages"][-1]
    assert (sent["n"], sent["tools"], sent["unheard_of"]) == (2, body["tools"], {"a": 1})
    assert site.remembered()[-1] == "Where is the silver key?"


def test_twenty_clients_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    site = ChatSite(tmp_path)
    taverns = [Tavern((f"Card {number}",), user=f"User {number}") for number in range(20)]
    with site.client() as client:

        def chat(tavern: Tavern) -> None:
            tavern.hear(tavern.members[0], f"{tavern.members[0]} greets you in the glade.")
            for turn in range(3):
                tavern.say(f"{tavern.user} says line {turn}.")
                answer = client.post(PATH, json=tavern.request())
                tavern.hear(tavern.members[0], answer.json()["choices"][0]["message"]["content"])

        threads = [threading.Thread(target=chat, args=(tavern,)) for tavern in taverns]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
    with Campaign.open(tmp_path / "tavern") as campaign:
        for tavern in taverns:
            heard = [event.content for event in campaign.events(viewer=tavern.user)]
            assert heard == [mes.text for mes in tavern.chat[:-1]]
        assert campaign.head == 20 * 6
        assert not campaign.verify()


def test_too_many_at_once_are_told_to_wait(tmp_path: Path) -> None:
    site = ChatSite(tmp_path)
    site.endpoint._running = MOST_AT_ONCE
    with site.client() as client:
        assert client.post(PATH, json=opened().request()).status_code == 429
    assert not site.asked


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/v1", "http://", "http://[::1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match="upstream"):
        Upstream(UpstreamSettings(url))


def test_the_dm_sees_the_xray_of_each_request(tmp_path: Path) -> None:
    """The page lists requests with seat and tokens; each shows lines, reasons, sources, what is not in."""
    site = ChatSite(tmp_path)
    tavern = opened(turns=30)
    with site.client() as client:
        assert "No request has come yet." in client.get("/c/tavern/dm/requests").text
        client.post(PATH, json=tavern.request())
        tavern.hear("Seraphina", "Under the altar.")
        tavern.say("<b>Is</b> it safe there?")
        body = tavern.request()
        body["dndbots"] |= {"history": 200, "budget": 400}
        client.post(PATH, json=body)
        listed = client.get("/c/tavern/dm/requests").text
        shown = client.get("/c/tavern/dm/requests/2").text
        gone = client.get("/c/tavern/dm/requests/99")
    assert listed.index("requests/2") < listed.index("requests/1")
    assert "Seraphina" in listed
    assert "goes on, 2 new" in listed
    assert "of 400" in listed
    assert "What Seraphina was given in request 2" in shown
    assert 'class="why"' in shown
    assert "/c/tavern/dm/timeline?at=" in shown
    assert "<b>left out</b>" in shown
    assert "history left out" in shown
    assert "&lt;b&gt;Is&lt;/b&gt; it safe there?" in shown
    assert gone.status_code == 404


@pytest.mark.parametrize("page", ["requests", "requests/1"])
def test_only_the_dm_and_the_owner_see_requests(tmp_path: Path, page: str) -> None:
    """A request shows what all speakers remember: no player, and no other campaign's DM, sees any of it."""
    site = ChatSite(tmp_path)
    with site.client() as client:
        client.post(PATH, json=opened().request())
        player = next(iter(site.campaigns.get("tavern").seats()))

        def get(token: str, seat: str) -> httpx2.Response:
            headers = {"authorization": f"Bearer {token}"}
            return client.get(f"/c/tavern/{seat}/{page}", headers=headers)

        for token in (site.token(), site.book.owner):
            assert "Seraphina" in get(token, DM).text
        for token in (site.token(player), site.token(DM, "other"), "wrong"):
            for seat in (DM, player):
                assert get(token, seat).status_code == 403
                assert "Seraphina" not in get(token, seat).text
        assert get(site.token(), player).status_code == 403


def test_without_an_endpoint_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    """A server that takes no chats has no requests to show."""
    site = ChatSite(tmp_path)
    site.app = build_app(site.campaigns)
    with site.client() as client:
        assert "--upstream" in client.get("/c/tavern/dm/requests").text


def test_no_word_of_a_client_leads_to_another_campaign(tmp_path: Path) -> None:
    """Hints, the model's name and headers choose a chat of this campaign at most."""
    site, tavern = ChatSite(tmp_path), opened()
    with site.campaigns.get("other").reader.another() as other:
        other.say("Seraphina", "The dragon sleeps under the hill.", role="npc")
    body = tavern.request() | {"model": "dndbots/other/dm", "campaign": "other"}
    body["dndbots"] |= {"campaign": "../other", "chat": "../../other", "seat": DM, "viewer": DM}
    headers = {"x-dndbots-chat": "../other", "x-dndbots-campaign": "other"}
    with site.client() as client:
        assert client.post(PATH, json=body, headers=headers).status_code == 200
    assert "dragon" not in str(site.sent())
    assert site.remembered() == [mes.text for mes in tavern.chat]
    with Campaign.open(tmp_path / "other") as other:
        assert other.head == 1


def test_a_client_that_hangs_up_stops_the_model_and_leaves_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SillyTavern closes the connection when somebody presses Stop."""
    stopped, kept = asyncio.Event(), list[str]()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b'data: {"choices": [{"index": 0, "delta": {"content": "and so on "}}]}\n\n'
                await asyncio.sleep(0.01)
        finally:
            stopped.set()

    site, tavern = ChatSite(tmp_path, lambda _: httpx2.Response(200, content=endless())), opened()
    monkeypatch.setattr(site.endpoint.desk("tavern"), "hear", lambda _, reply: kept.append(reply))
    body = json.dumps({**tavern.request(), "stream": True}).encode()
    asyncio.run(_hang_up(site, body, stopped))
    assert site.remembered() == [mes.text for mes in tavern.chat]
    assert not kept


async def _hang_up(site: ChatSite, body: bytes, stopped: asyncio.Event) -> None:
    """Send a request, and close the connection when the answer begins."""
    begun = asyncio.Event()
    incoming = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> MutableMapping[str, Any]:
        message = next(incoming, None)
        if message is None:
            await begun.wait()
            return {"type": "http.disconnect"}
        return message

    async def send(message: MutableMapping[str, Any]) -> None:
        if b"and so on" in message.get("body", b""):
            begun.set()

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {site.token()}".encode())]
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": PATH,
        "raw_path": PATH.encode(), "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }  # fmt: skip
    async with asyncio.timeout(HANG):
        await site.app(scope, receive, send)
        await stopped.wait()
