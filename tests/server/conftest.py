"""A game that was begun once for all tests of the server, and a site over a copy of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the web table is not installed: pip install 'dndbots[web]'")

from tests.server.table_site import Site, begin_game


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one game of two rounds."""
    folder = tmp_path_factory.mktemp("begun")
    begin_game(folder)
    return folder


@pytest.fixture
def site(begun: Path, tmp_path: Path) -> Iterator[Site]:
    """A site over a copy of the game."""
    folder = tmp_path / "campaigns"
    shutil.copytree(begun, folder)
    site = Site(folder)
    yield site
    site.close()
