"""The contract, on each backend."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres import PostgresServer
from tests.storage.contract import CampaignContract

from dndbots.campaign import Campaign
from dndbots.testing import memory_campaign


class TestMemory(CampaignContract):
    @pytest.fixture
    def campaign(self) -> Campaign:
        return memory_campaign()

    @pytest.fixture
    def campaign_2(self) -> Campaign:
        return memory_campaign()


class TestSqlite(CampaignContract):
    @pytest.fixture
    def campaign(self, tmp_path: Path) -> Iterator[Campaign]:
        with Campaign.open(tmp_path / "campaign_001") as campaign:
            yield campaign

    @pytest.fixture
    def campaign_2(self, tmp_path: Path) -> Iterator[Campaign]:
        with Campaign.open(str(tmp_path / "campaign_002")) as campaign:
            yield campaign


class TestPostgres(CampaignContract):
    @pytest.fixture
    def campaign(self, postgres: PostgresServer) -> Iterator[Campaign]:
        with Campaign.open(postgres.url("campaign_001")) as campaign:
            yield campaign

    @pytest.fixture
    def campaign_2(self, postgres: PostgresServer) -> Iterator[Campaign]:
        with Campaign.open(postgres.url("campaign_002")) as campaign:
            yield campaign
