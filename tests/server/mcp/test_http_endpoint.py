"""MCP over HTTP: the token is the seat, asked by the SDK's own client over a real connection."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.table_site import served_on_loopback

from dndbots import Campaign
from dndbots.ids import DM
from dndbots.server.app import build_app
from dndbots.server.mcp.http_endpoint import McpEndpoint
from dndbots.server.security.seat_book import SeatBook
from dndbots.server.tables.served_campaigns import CampaignShelf, ServedCampaigns

THROK, ZARA = "pc_throk_001", "pc_zara_001"


class SeatSite:
    """A server with one campaign, and MCP for its seats."""

    def __init__(self, folder: Path) -> None:
        with Campaign.open(folder / "chapel") as campaign:
            campaign.say("Zara", "I hid the silver key under the altar.", to="Finn")
            campaign.say("Throk", "I guard the door.")
        self.book = SeatBook()
        self.campaigns = ServedCampaigns(CampaignShelf(folder=folder), self.book, compact=False)
        self.app = build_app(self.campaigns, more=[McpEndpoint(self.campaigns, write=True)])

    def token(self, seat: str) -> str:
        return self.book.token_of(self.campaigns.get("chapel").key, seat)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[SeatSite, str]]:
    site = SeatSite(tmp_path)
    with served_on_loopback(site) as base:  # type: ignore[arg-type]
        yield site, base


def call(base: str, token: str, tool: str, **arguments: Any) -> str:
    async def run() -> str:
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers) as web:
            transport = streamable_http_client(f"{base}/mcp", http_client=web)
            async with Client(transport) as client:
                result = await client.call_tool(tool, arguments)
                return str(result.content[0].text)

    return asyncio.run(run())


def test_each_token_opens_its_own_seat(served: tuple[SeatSite, str]) -> None:
    site, base = served
    question = "Where is the silver key?"
    assert "under the altar" in call(base, site.token(ZARA), "recall", question=question)
    assert "altar" not in call(base, site.token(THROK), "recall", question=question)
    assert "under the altar" in call(base, site.token(DM), "recall", question=question)
    assert "Unknown tool" in call(base, site.token(THROK), "who_knows", name="Zara", key="mood")
    # The same server goes on with what others record, and after a round was taken back.
    campaign = site.campaigns.get("chapel").reader
    first = next(campaign.events(viewer=DM)).event_id
    with campaign.another() as other:
        other.undo(to=first)
    assert "guard" not in call(base, site.token(DM), "timeline")
    assert call(base, site.token(THROK), "record", text="I watch the altar.").startswith("Recorded as")
    assert "I watch the altar." in call(base, site.token(DM), "timeline")


def test_other_tokens_open_nothing(served: tuple[SeatSite, str]) -> None:
    site, base = served
    old = site.token(THROK)
    call(base, old, "timeline")
    site.book.revoke(site.campaigns.get("chapel").key, THROK)
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Bearer {site.book.owner}"},
        {"authorization": f"Bearer {old}"},
        {"cookie": f"dndbots={site.token(ZARA)}"},
    ):
        answer = httpx2.post(f"{base}/mcp", headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "x"})
        assert answer.status_code in (401, 403), headers
