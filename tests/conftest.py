"""Hypothesis profiles: few cases by default, many with HYPOTHESIS_PROFILE=long. And a PostgreSQL server."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from tests.postgres import PostgresServer

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("default", max_examples=60, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=_SLOW)
# To find a fault fast, without looking for its simplest form.
settings.register_profile(
    "quick",
    max_examples=100,
    deadline=None,
    suppress_health_check=_SLOW,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    """A server of its own for the tests that ask for one; they are skipped where none can be had."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    from tests.postgres import NoPostgres, PostgresServer

    try:
        server = PostgresServer()
    except NoPostgres as exc:
        pytest.skip(str(exc))
    try:
        server.start()
        yield server
    finally:
        server.close()
